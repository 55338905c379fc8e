/*
 * logs.c - the files of the task folder that the supervisor writes
 *
 * A log that is full becomes NAME.1, in the place of the one before, and a new
 * one begins.  A byte is in one file only; a cut may be anywhere in a line.
 * With which byte of all a file begins is in the file `begins`, by its inode,
 * before the file has its name: so nobody finds one of which that is not said.
 */
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct log {
  const char *name, *old;
  int fd;
  uint64_t size;  /* towards the limit */
  uint64_t total; /* bytes so far, in all of its files */
  bool failed;    /* and that was said */
  struct {
    uint64_t inode, offset; /* of its first byte; inode 0: none */
  } files[2];               /* the present one, and the one before */
} log;

static log logs[LOG_COUNT] = {
  { .name = "stdout", .old = "stdout.1", .fd = -1 },
  { .name = "stderr", .old = "stderr.1", .fd = -1 },
  { .name = "all", .old = "all.1", .fd = -1 },
};
static uint64_t limit;

static int make(const char *name)
{
  return openat(PAI_ORDER_DIR_FD, name,
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int logs_open(uint64_t most)
{
  limit = most;
  for (int i = 0; i < LOG_COUNT; i++) {
    logs[i].fd = make(logs[i].name);
    if (logs[i].fd < 0)
      return errno;
  }
  return 0;
}

static void tell_begins(void)
{
  int fd = openat(PAI_ORDER_DIR_FD, "begins.new",
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool good = fd >= 0;

  for (int i = 0; good && i < 2 * LOG_COUNT; i++) {
    const log *l = &logs[i / 2];
    line text = { .len = 0 };

    line_number(&text, (int64_t)l->files[i % 2].inode);
    line_add(&text, " ");
    line_number(&text, (int64_t)l->files[i % 2].offset);
    good = l->files[i % 2].inode == 0 || line_write(&text, fd);
  }
  if (fd >= 0)
    (void)close(fd);
  if (good)
    (void)renameat(PAI_ORDER_DIR_FD, "begins.new", PAI_ORDER_DIR_FD, "begins");
}

/* Without a new file the old one goes on. */
static void rotate(log *l)
{
  struct stat info;
  int fd;

  l->size = 0;
  (void)unlinkat(PAI_ORDER_DIR_FD, "log.new", 0);
  fd = make("log.new");
  if (fd < 0 || fstat(fd, &info) < 0) {
    if (fd >= 0)
      (void)close(fd);
    return;
  }
  l->files[1] = l->files[0];
  l->files[0].inode = (uint64_t)info.st_ino;
  l->files[0].offset = l->total;
  tell_begins();
  (void)renameat(PAI_ORDER_DIR_FD, l->name, PAI_ORDER_DIR_FD, l->old);
  (void)renameat(PAI_ORDER_DIR_FD, "log.new", PAI_ORDER_DIR_FD, l->name);
  (void)close(l->fd);
  l->fd = fd;
}

/* A full disk does not end the task, but it is said, once. */
static void add(log *l, const char *bytes, size_t n)
{
  while (n > 0) {
    size_t room = l->size < limit ? limit - l->size : 0;
    ssize_t done;

    if (room == 0) {
      rotate(l);
      room = limit;
    }
    done = write(l->fd, bytes, n < room ? n : room);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      int why = errno;
      if (!l->failed) {
        l->failed = true;
        status_cut(l->name);
        logs_say("output is missing in the log ", l->name, why);
      }
      return;
    }
    l->size += (uint64_t)done;
    l->total += (uint64_t)done;
    bytes += done;
    n -= (size_t)done;
  }
}

void logs_add(int which, const char *bytes, size_t n)
{
  add(&logs[LOG_ALL], bytes, n);
  add(&logs[which], bytes, n);
}

/* Opened each time: others, as the script, write there too. */
void logs_say(const char *text, const char *more, int error)
{
  int fd = make("runtime");
  line l = { .len = 0 };

  if (fd < 0)
    return;
  line_add(&l, text);
  line_add(&l, more);
  if (error != 0) {
    line_add(&l, ": ");
    line_add(&l, strerror(error));
  }
  (void)line_write(&l, fd);
  (void)close(fd);
}
