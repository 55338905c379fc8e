/*
 * posix_sched_file.c - the scheduler's log as files of the root
 *
 * ROOT/scheduler.log, and the one before it as ROOT/scheduler.log.1.  Each file
 * begins with a snapshot.  Another one follows each gap: a failed write, or the
 * end of a platform.  A snapshot behind a gap is marked, because the lines
 * before it do not lead to it.  The files are never synced to disk.
 */
#include "platform/sched_file.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "sched/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 20 }; /* bytes after which the next snapshot ends a file */

static void fail(pai_platform *p, const char *what)
{
  pai__log_line(&p->log, PAI_LOG_WARNING,
                "cannot %s %s/scheduler.log: %s; the present decisions will "
                "be missing from the log",
                what, p->root, PAI__ERRNO_TEXT(errno));
}

static char *path_of(const pai_platform *p, const char *name)
{
  return pai__fs_join(p->root, name, &p->alloc);
}

/* Returns the size without an incomplete last line, as after a crash. */
static off_t whole_lines(int fd, off_t size)
{
  char some[4096];

  while (size > 0) {
    size_t want = size < (off_t)sizeof(some) ? (size_t)size : sizeof(some);
    ssize_t got = pread(fd, some, want, size - (off_t)want);
    const char *newline = NULL;

    if (got != (ssize_t)want)
      return -1;
    for (size_t i = want; i > 0 && newline == NULL; i--)
      if (some[i - 1] == '\n')
        newline = &some[i - 1];
    size -= (off_t)want;
    if (newline != NULL)
      return size + (newline - some) + 1;
  }
  return 0;
}

static int open_file(pai_platform *p, const char *path)
{
  struct stat st;
  off_t end;

  p->sched_file_fd =
    open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (p->sched_file_fd < 0 || fstat(p->sched_file_fd, &st) < 0)
    return -1;
  end = whole_lines(p->sched_file_fd, st.st_size);
  if (end < 0 || (end != st.st_size && ftruncate(p->sched_file_fd, end) < 0))
    return -1;
  p->sched_file_size = (uint64_t)end;
  return 0;
}

static void close_file(pai_platform *p)
{
  if (p->sched_file_fd >= 0)
    (void)close(p->sched_file_fd);
  p->sched_file_fd = -1;
}

void pai__sched_file_open(pai_platform *p)
{
  char *path = path_of(p, "scheduler.log");

  if (path == NULL || open_file(p, path) < 0) {
    fail(p, "open");
    close_file(p);
  }
  p->sched_file_gap = true; /* changes while no log was open are missing */
  pai__strfree(&p->alloc, path);
}

void pai__sched_file_close(pai_platform *p)
{
  close_file(p);
}

static void turn_over(pai_platform *p)
{
  char *path = path_of(p, "scheduler.log"),
       *before = path_of(p, "scheduler.log.1");

  close_file(p);
  if (path == NULL || before == NULL || rename(path, before) < 0 ||
      open_file(p, path) < 0) {
    fail(p, "begin a new");
    close_file(p);
  }
  pai__strfree(&p->alloc, path);
  pai__strfree(&p->alloc, before);
}

/* All of it or nothing: half of a line would spoil those behind it.  A failure
 * is logged once, until a write succeeds again. */
static void append(pai_platform *p, const char *text, size_t len)
{
  size_t done = 0;

  while (done < len) {
    ssize_t n = write(p->sched_file_fd, text + done, len - done);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      if (!p->sched_file_told)
        fail(p, "write");
      p->sched_file_told = true;
      if (ftruncate(p->sched_file_fd, (off_t)p->sched_file_size) < 0)
        close_file(p);
      p->sched_file_gap = true;
      return;
    }
    done += (size_t)n;
  }
  p->sched_file_size += len;
  p->sched_file_told = false;
}

void pai__sched_file_add(pai_platform *p, const char *lines, size_t len)
{
  if (p->sched_file_fd >= 0 && !p->sched_file_gap && len > 0)
    append(p, lines, len);
}

/* Appends a snapshot with the mark of a gap before it. */
static void append_behind_gap(pai_platform *p, const char *line, size_t len)
{
  pai__buf b;

  pai__buf_init(&b, &p->alloc);
  pai__buf_add(&b, line, len - 2); /* its last brace, and the newline */
  pai__buf_str(&b, PAI__SNAPSHOT_GAP "\n");
  if (pai__buf_ok(&b))
    append(p, b.data, b.len);
  else
    p->sched_file_gap = true;
  pai__buf_dispose(&b);
}

void pai__sched_file_snapshot(pai_platform *p, const char *line, size_t len)
{
  if (p->sched_file_fd >= 0 && p->sched_file_size > MOST)
    turn_over(p);
  if (p->sched_file_fd < 0)
    return;
  if (!p->sched_file_gap) {
    append(p, line, len);
    return;
  }
  p->sched_file_gap = false;
  append_behind_gap(p, line, len);
}
