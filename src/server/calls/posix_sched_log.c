/*
 * posix_sched_log.c - GET /scheduler/log: the log of scheduling decisions
 *
 * A platform appends whole lines to ROOT/scheduler.log on this loop, and
 * renames the file to scheduler.log.1 when it is large.  So the present
 * contents end with a line and do not change, even if the files are renamed
 * meanwhile.  They are sent from open descriptors as fast as the client reads,
 * and are not kept in memory.
 */
#define _XOPEN_SOURCE 700 /* pread() */

#include "server/server.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns false with errno if the file exists and cannot be read. */
static bool open_file(pai__sent_file *f, const pai_server *s, const char *name)
{
  size_t root = (size_t)(strrchr(s->uploads, '/') - s->uploads);
  struct stat st;
  pai__buf path;

  pai__buf_init(&path, &s->alloc);
  pai__buf_printf(&path, "%.*s/%s", (int)root, s->uploads, name);
  errno = ENOMEM;
  if (pai__buf_ok(&path))
    f->fd = open(pai__buf_text(&path),
                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  pai__buf_dispose(&path);
  if (f->fd < 0)
    return errno == ENOENT;
  if (fstat(f->fd, &st) < 0)
    return false;
  errno = EISDIR;
  f->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
  return !S_ISDIR(st.st_mode);
}

/* Returns the time at which a file begins.  Its first line is a snapshot, with
 * the time before anything long.  INT64_MAX: unknown. */
static pai_time begin_of(int fd)
{
  char text[128];
  ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
  const char *time;

  text[n > 0 ? n : 0] = '\0';
  time = strstr(text, "\"time\":");
  return time != NULL ? strtoll(time + 7, NULL, 10) : INT64_MAX;
}

void pai__do_scheduler_log(pai__request *r)
{
  pai_time since = pai__request_number(r, "since") * 1000;
  pai__sent_file *old = &r->files[0], *now = &r->files[1];

  if (!open_file(old, r->server, "scheduler.log.1") ||
      !open_file(now, r->server, "scheduler.log"))
    pai__answer_error(r, 500, "UnknownError",
                      "Cannot read the scheduler's log: %s",
                      PAI__ERRNO_TEXT(errno));
  else if (old->size + now->size == 0)
    pai__answer_error(r, 404, "NoSchedulerLogError",
                      "This platform has no scheduler log.");
  else {
    if (old->size != 0 && now->size != 0 && begin_of(now->fd) <= since)
      old->size = 0;
    pai__answer_ready(r, 200, "application/x-ndjson");
    return;
  }
  pai__sent_files_close(r);
}
