/*
 * posix_series_file.c - the files of series
 *
 * Nothing is synced: the kernel has what was written when the process is
 * killed, and a power failure may cost what it had not written yet.
 */
#include "series/inside.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int pai__series_folder(const char *path)
{
  return mkdir(path, 0700) == 0 || errno == EEXIST ? PAI_OK : -errno;
}

int pai__series_file_open(pai__series_file *f, const char *folder,
                          const char *name, bool create)
{
  int at = open(folder, O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  struct stat st = { .st_mode = 0 };
  int rc = -errno;

  f->fd = -1;
  if (at < 0)
    return rc;
  f->fd = openat(at, name,
                 O_RDWR | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW |
                   O_NONBLOCK,
                 0600);
  rc = f->fd < 0 ? -errno : fstat(f->fd, &st) < 0 ? -errno : PAI_OK;
  (void)close(at);
  if (rc == PAI_OK && !S_ISREG(st.st_mode))
    rc = -EINVAL;
  if (rc < 0)
    pai__series_file_close(f);
  return rc;
}

void pai__series_file_close(pai__series_file *f)
{
  if (f->fd >= 0)
    (void)close(f->fd);
  f->fd = -1;
}

int pai__series_file_read(const pai__series_file *f, uint64_t at, void *to,
                          size_t size)
{
  char *next = to;

  while (size > 0) {
    ssize_t n = pread(f->fd, next, size, (off_t)at);

    if (n < 0 && errno != EINTR)
      return -errno;
    if (n == 0)
      break;
    if (n < 0)
      continue;
    next += n;
    at += (uint64_t)n;
    size -= (size_t)n;
  }
  return PAI_OK;
}

int pai__series_file_write(const pai__series_file *f, uint64_t at,
                           const void *bytes, size_t size)
{
  const char *next = bytes;

  while (size > 0) {
    ssize_t n = pwrite(f->fd, next, size, (off_t)at);

    if (n < 0 && errno != EINTR)
      return -errno;
    if (n < 0)
      continue;
    next += n;
    at += (uint64_t)n;
    size -= (size_t)n;
  }
  return PAI_OK;
}

int pai__series_file_empty(const pai__series_file *f)
{
  return ftruncate(f->fd, 0) == 0 ? PAI_OK : -errno;
}

const char *pai__series_file_why(int error, char *text, size_t size)
{
  return pai__errno_text(-error, text, size);
}
