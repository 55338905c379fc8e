/* posix_trace.c - opens a trace file, or standard input */
#include "sim/trace/trace.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct pai__trace_file {
  pai_alloc alloc;
  int fd;
} pai__trace_file;

static ptrdiff_t read_file(void *user_data, char *buffer, size_t size)
{
  const pai__trace_file *file = user_data;
  ssize_t got;

  do
    got = read(file->fd, buffer, size);
  while (got < 0 && errno == EINTR);
  return got < 0 ? PAI_EIO : (ptrdiff_t)got;
}

static void close_file(void *user_data)
{
  pai__trace_file *file = user_data;
  pai_alloc alloc = file->alloc;

  if (file->fd > STDIN_FILENO)
    (void)close(file->fd);
  pai__free(&alloc, file, sizeof(*file));
}

static int sys_fail(pai_error **err, int sys_errno, const char *path)
{
  int code = PAI_EIO;

  if (sys_errno == ENOENT || sys_errno == ENOTDIR)
    code = PAI_ENOTFOUND;
  else if (sys_errno == EACCES || sys_errno == EPERM)
    code = PAI_EPERM;
  return pai__fail(err, code, "cannot read %s: %s", path,
                   PAI__ERRNO_TEXT(sys_errno));
}

int pai_trace_load(pai_trace **out, const char *path,
                   const pai_trace_options *opts, pai_error **err)
{
  const pai_alloc *alloc;
  pai__trace_file *file;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  alloc = pai__alloc_or_libc(
    opts != NULL && opts->struct_size >= sizeof(*opts) ? opts->alloc : NULL);
  file = pai__zalloc(alloc, sizeof(*file));
  if (file == NULL)
    return pai__oom(err);
  file->alloc = *alloc;
  file->fd = STDIN_FILENO;
  if (strcmp(path, "-") != 0)
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (file->fd < 0)
    rc = sys_fail(err, errno, path);
  else
    rc = pai_trace_new(out, read_file, file, opts, err);
  if (*out != NULL)
    (*out)->close = close_file;
  else
    close_file(file);
  return rc;
}
