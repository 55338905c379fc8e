/* times.c - writes the times of a task's output (times.h)
 *
 * If they cannot be written, the times are not known, and everything else
 * works. */
#define _GNU_SOURCE
#include "times.h"
#include "task.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_DOUBLINGS = 20,
  HALF = PAI_TIMES_HEAD + (PAI_TIMES_MOST - PAI_TIMES_HEAD) / 2
};

static struct {
  int fd; /* -1: times cannot be written */
  uint64_t inode, step;
  uint64_t size;
  uint64_t last; /* time of the last entry; 0: none yet */
} noted = { .fd = -1 };

static int make(const char *name, int flags)
{
  return openat(PAI_ORDER_DIR_FD, name,
                O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static bool put_head(int fd, uint64_t step)
{
  unsigned char head[PAI_TIMES_HEAD];

  pai_streams_put(head, PAI_TIMES_MAGIC);
  pai_streams_put(head + 8, noted.inode);
  pai_streams_put(head + 16, step);
  return pwrite(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head);
}

/* Continues the file of an earlier start for the same output file. */
static bool take_up(int fd)
{
  unsigned char head[PAI_TIMES_HEAD];
  struct stat info;

  if (fstat(fd, &info) < 0 ||
      (uint64_t)info.st_size > 2 * (uint64_t)PAI_TIMES_MOST ||
      pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
      pai_streams_get(head) != PAI_TIMES_MAGIC ||
      pai_streams_get(head + 8) != noted.inode ||
      pai_streams_get(head + 16) < PAI_TIMES_STEP ||
      pai_streams_get(head + 16) > (uint64_t)PAI_TIMES_STEP << MOST_DOUBLINGS)
    return false;
  noted.step = pai_streams_get(head + 16);
  noted.size = PAI_TIMES_HEAD + ((uint64_t)info.st_size - PAI_TIMES_HEAD) /
                                  PAI_TIMES_ENTRY * PAI_TIMES_ENTRY;
  return true;
}

static void stop(void)
{
  if (noted.fd >= 0)
    (void)close(noted.fd);
  noted.fd = -1;
}

static bool begin(int data, const char *name, int flags)
{
  struct stat info;
  int fd = make(name, flags);

  stop();
  if (fd < 0 || fstat(data, &info) < 0) {
    if (fd >= 0)
      (void)close(fd);
    return false;
  }
  noted.fd = fd;
  noted.inode = (uint64_t)info.st_ino;
  noted.last = 0;
  if (take_up(fd))
    return true;
  noted.step = PAI_TIMES_STEP;
  noted.size = PAI_TIMES_HEAD;
  if (ftruncate(fd, 0) == 0 && put_head(fd, noted.step))
    return true;
  stop();
  return false;
}

void times_open(int data)
{
  (void)begin(data, PAI_TIMES_FILE, 0);
}

void times_rotate(int data)
{
  bool good;

  (void)unlinkat(PAI_ORDER_DIR_FD, "times.new", 0);
  good = begin(data, "times.new", O_EXCL);
  (void)renameat(PAI_ORDER_DIR_FD, PAI_TIMES_FILE, PAI_ORDER_DIR_FD,
                 PAI_TIMES_FILE ".1");
  if (good)
    (void)renameat(PAI_ORDER_DIR_FD, "times.new", PAI_ORDER_DIR_FD,
                   PAI_TIMES_FILE);
}

/* --- a longer step ------------------------------------------------------- */

/* Copies entries that are at least a step apart; returns the copy's length, or
 * 0. */
static uint64_t copy(int to, uint64_t step)
{
  unsigned char bytes[PAI_TIMES_ENTRY];
  uint64_t size = PAI_TIMES_HEAD, kept = 0;

  if (!put_head(to, step))
    return 0;
  for (uint64_t at = PAI_TIMES_HEAD; at < noted.size; at += sizeof(bytes)) {
    uint64_t when;

    if (pread(noted.fd, bytes, sizeof(bytes), (off_t)at) !=
        (ssize_t)sizeof(bytes))
      return 0;
    when = pai_streams_get(bytes + 8);
    if (kept != 0 && when >= kept && when - kept < step)
      continue;
    kept = when;
    if (pwrite(to, bytes, sizeof(bytes), (off_t)size) !=
        (ssize_t)sizeof(bytes))
      return 0;
    size += sizeof(bytes);
  }
  return size;
}

/* Doubles the step until half of the file is free, which may fail if the task
 * wrote there.  Readers open the new file by its name. */
static void thin(void)
{
  uint64_t size = noted.size;
  int fd;

  (void)unlinkat(PAI_ORDER_DIR_FD, "times.new", 0);
  fd = make("times.new", O_EXCL);
  for (int i = 0; fd >= 0 && size > HALF; i++) {
    noted.step *= 2;
    size = i == MOST_DOUBLINGS     ? 0
           : ftruncate(fd, 0) == 0 ? copy(fd, noted.step)
                                   : 0;
  }
  stop();
  if (fd < 0)
    return;
  if (size == 0 || renameat(PAI_ORDER_DIR_FD, "times.new", PAI_ORDER_DIR_FD,
                            PAI_TIMES_FILE) < 0) {
    (void)close(fd);
    return;
  }
  noted.fd = fd;
  noted.size = size;
}

/* --- new entries --------------------------------------------------------- */

void times_note(uint64_t at)
{
  unsigned char bytes[PAI_TIMES_ENTRY];
  struct timespec clock;
  uint64_t now;

  if (noted.fd < 0 || clock_gettime(CLOCK_REALTIME, &clock) < 0)
    return;
  now = (uint64_t)clock.tv_sec * 1000000 + (uint64_t)clock.tv_nsec / 1000;
  if (noted.last != 0 && now >= noted.last && now - noted.last < noted.step)
    return;
  if (noted.size + PAI_TIMES_ENTRY > PAI_TIMES_MOST)
    thin();
  pai_streams_put(bytes, at);
  pai_streams_put(bytes + 8, now);
  if (noted.fd < 0 || pwrite(noted.fd, bytes, sizeof(bytes),
                             (off_t)noted.size) != (ssize_t)sizeof(bytes))
    return;
  noted.size += sizeof(bytes);
  noted.last = now;
}
