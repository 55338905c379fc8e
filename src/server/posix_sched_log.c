/*
 * posix_sched_log.c - GET /scheduler/log: what was decided, for who looks back
 *
 * A platform appends whole lines to ROOT/scheduler.log on this very loop, and
 * puts it aside as scheduler.log.1 when it is large.  So what is there now ends
 * with a line and stays as it is, whatever becomes of the names meanwhile: it
 * is sent from its descriptors as fast as somebody reads, and nothing of it is
 * kept here.
 */
#define _XOPEN_SOURCE 700 /* pread() */

#include "server/server.h"

#include "base/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 32 << 10 };

/* Files that are an answer's body, one behind the other. */
struct pai__files {
  pai_alloc alloc;
  int fd[2];
  uint64_t size[2]; /* 0: it is not sent */
};

void pai__files_free(struct pai__files *f)
{
  pai_alloc alloc;

  if (f == NULL)
    return;
  alloc = f->alloc;
  for (size_t i = 0; i < PAI__LEN(f->fd); i++)
    if (f->fd[i] >= 0)
      (void)close(f->fd[i]);
  pai__free(&alloc, f, sizeof(*f));
}

static ssize_t read_at(int fd, char *to, size_t size, uint64_t at)
{
  ssize_t n;

  do
    n = pread(fd, to, size, (off_t)at);
  while (n < 0 && errno == EINTR);
  return n;
}

/* The connection wants bytes.  A disk that has none any more ends the connection
 * before its length: the client sees it. */
static long on_room(void *user_data, uint64_t at, char *to, size_t max)
{
  const struct pai__files *f = user_data;
  size_t i = at >= f->size[0];
  uint64_t from = i != 0 ? at - f->size[0] : at, left = f->size[i] - from;
  ssize_t n = read_at(f->fd[i], to, left < max ? (size_t)left : max, from);

  return n > 0 ? (long)n : PAI__READ_BROKEN;
}

pai__payload pai__files_payload(const pai__request *r)
{
  const struct pai__files *f = r->files;

  return (pai__payload){ .size = (int64_t)(f->size[0] + f->size[1]),
                         .read = on_room,
                         .user_data = r->files };
}

/* --- which files ----------------------------------------------------------------- */

/* False: it is there, and cannot be read, which errno tells. */
static bool open_file(struct pai__files *f, size_t i, const pai_server *s,
                      const char *name)
{
  size_t root = (size_t)(strrchr(s->uploads, '/') - s->uploads);
  struct stat st;
  pai__buf path;

  pai__buf_init(&path, &s->alloc);
  pai__buf_printf(&path, "%.*s/%s", (int)root, s->uploads, name);
  errno = ENOMEM;
  if (pai__buf_ok(&path))
    f->fd[i] = open(pai__buf_text(&path),
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  pai__buf_dispose(&path);
  if (f->fd[i] < 0)
    return errno == ENOENT;
  if (fstat(f->fd[i], &st) < 0)
    return false;
  errno = EISDIR;
  f->size[i] = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
  return !S_ISDIR(st.st_mode);
}

/* When a file begins: its first line is a snapshot, which tells its time before
 * all that may be long.  INT64_MAX: nobody knows. */
static pai_time begin_of(int fd)
{
  char text[128];
  ssize_t n = read_at(fd, text, sizeof(text) - 1, 0);
  const char *time;

  text[n > 0 ? n : 0] = '\0';
  time = strstr(text, "\"time\":");
  return time != NULL ? strtoll(time + 7, NULL, 10) : INT64_MAX;
}

/* NULL: why not is the answer. */
static struct pai__files *open_log(pai__request *r)
{
  pai_time since = pai__request_number(r, "since") * 1000;
  struct pai__files *f = pai__zalloc(&r->server->alloc, sizeof(*f));

  if (f == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return NULL;
  }
  *f = (struct pai__files){ .alloc = r->server->alloc, .fd = { -1, -1 } };
  if (!open_file(f, 0, r->server, "scheduler.log.1") ||
      !open_file(f, 1, r->server, "scheduler.log"))
    pai__answer_error(r, 500, "UnknownError",
                      "The scheduler's log cannot be read: %s",
                      PAI__ERRNO_TEXT(errno));
  else if (f->size[0] + f->size[1] == 0)
    pai__answer_error(r, 404, "NoSchedulerLogError",
                      "This platform keeps no log of its scheduler.");
  else {
    if (f->size[0] != 0 && f->size[1] != 0 && begin_of(f->fd[1]) <= since)
      f->size[0] = 0;
    return f;
  }
  pai__files_free(f);
  return NULL;
}

static void do_log(pai__request *r)
{
  r->files = open_log(r);
  if (r->files != NULL)
    pai__answer_ready(r, 200, "application/x-ndjson");
}

/* --- answers --- */

static const pai__result lines = { .type = "application/x-ndjson" };

/* --- queries --- */

static const pai__field queries[] = {
  { .name = "since",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .missing = "0",
    .what = "start time, in milliseconds since 1970; only files of the log "
            "that end before it are left out" },
  { 0 }
};

/* --- routes --- */

/* As GET /scheduler is: who may see all that wait and run may see who did. */
static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/scheduler/log",
    .handle = do_log,
    .right = PAI__OF_USERS,
    .result = &lines,
    .queries = queries,
    .summary = "Get the scheduler's log, as lines of JSON",
    .errors = "404 NoSchedulerLogError" },
};

const pai__routes pai__sched_log_routes = { routes, PAI__LEN(routes) };
