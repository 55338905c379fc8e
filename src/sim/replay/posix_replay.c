/* posix_replay.c - opens a log file for a replay */
#define _XOPEN_SOURCE 700 /* pread() */

#include "sim/replay/replay.h"

#include "base/os/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PIPED = 1 << 30 };

/* A file; or the whole text if the file cannot be read at offsets. */
typedef struct source {
  pai_alloc alloc;
  int fd; /* -1: none */
  pai__buf text;
} source;

static void close_source(void *user_data)
{
  source *s = user_data;
  pai_alloc alloc = s->alloc;

  if (s->fd >= 0)
    (void)close(s->fd);
  pai__buf_dispose(&s->text);
  pai__free(&alloc, s, sizeof(*s));
}

static ptrdiff_t read_file(void *user_data, uint64_t offset, char *buffer,
                           size_t size)
{
  const source *s = user_data;
  ssize_t n;

  do
    n = pread(s->fd, buffer, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n > 0 ? n : PAI_EIO;
}

static ptrdiff_t read_text(void *user_data, uint64_t offset, char *buffer,
                           size_t size)
{
  const source *s = user_data;

  memcpy(buffer, s->text.data + offset, size);
  return (ptrdiff_t)size;
}

/* Opens a regular file.  All other files, and errors, are left to the read as
 * a whole. */
static void try_file(source *s, const char *path, uint64_t *size)
{
  struct stat st;

  if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
    return;
  s->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (s->fd >= 0 && fstat(s->fd, &st) == 0)
    *size = (uint64_t)st.st_size;
}

static int open_source(source *s, const char *path, uint64_t *size,
                       pai_error **err)
{
  int rc;

  try_file(s, path, size);
  if (s->fd >= 0)
    return PAI_OK;
  rc = pai__fs_read(&s->text, path, MOST_PIPED, err);
  *size = s->text.len;
  return rc;
}

int pai_replay_open(pai_replay **out, const char *path,
                    const pai_replay_options *opts, pai_error **err)
{
  pai_replay_options o;
  source *s;
  uint64_t size = 0;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  rc = pai__replay_options(&o, opts, err);
  if (rc < 0)
    return rc;
  s = pai__zalloc(o.alloc, sizeof(*s));
  if (s == NULL)
    return pai__oom(err);
  *s = (source){ .alloc = *o.alloc, .fd = -1 };
  pai__buf_init(&s->text, &s->alloc);
  rc = open_source(s, path, &size, err);
  if (rc == PAI_OK)
    rc = pai_replay_new(out, s->fd >= 0 ? read_file : read_text, s, size, opts,
                        err);
  if (rc == PAI_OK && *out != NULL)
    (*out)->close = close_source;
  else
    close_source(s);
  return rc;
}
