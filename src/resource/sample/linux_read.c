/* linux_read.c - read small files of /proc and /sys */
#define _XOPEN_SOURCE 700 /* pread() */

#include "resource/sample/linux_read.h"
#include "resource/sample/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_READ = 4000 };

static int open_path(const char *root, const char *fmt, va_list ap)
{
  char path[PAI__PATH];
  size_t len = strlen(root);
  int rest;

  while (len > 0 && root[len - 1] == '/')
    len--;
  if (len + 2 > sizeof(path))
    return -1;
  memcpy(path, root, len);
  path[len++] = '/';
  rest = vsnprintf(path + len, sizeof(path) - len, fmt, ap);
  if (rest < 0 || (size_t)rest >= sizeof(path) - len)
    return -1;
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int pai__open_under(const char *root, const char *fmt, ...)
{
  va_list ap;
  int fd;

  va_start(ap, fmt);
  fd = open_path(root, fmt, ap);
  va_end(ap);
  return fd;
}

int pai__reread(int fd, pai__buf *out)
{
  pai__buf_clear(out);
  for (;;) {
    ssize_t n;

    if (out->len > PAI__FILE_MOST)
      return PAI_ELIMIT;
    if (!pai__buf_reserve(out, FIRST_READ))
      return PAI_ENOMEM;
    /* Read up to the buffer's end: a file that fitted before takes one
     * read. */
    do
      n = pread(fd, out->data + out->len, out->cap - out->len - 1,
                (off_t)out->len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
      return PAI_EIO;
    if (n == 0)
      return PAI_OK;
    out->len += (size_t)n;
    out->data[out->len] = '\0';
  }
}

/* Reads the start of a file, with a NUL; returns the length. */
static size_t read_short(int fd, char *out, size_t size)
{
  ssize_t n;

  do
    n = pread(fd, out, size - 1, 0);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    n = 0;
  out[n] = '\0';
  return (size_t)n;
}

int64_t pai__reread_number(int fd)
{
  char text[PAI__LINE];
  size_t len;

  if (fd < 0)
    return -1;
  len = read_short(fd, text, sizeof(text));
  return pai__proc_number(text, len);
}

int64_t pai__reread_limit(int fd)
{
  char text[PAI__LINE];
  size_t len;

  if (fd < 0)
    return -1;
  len = read_short(fd, text, sizeof(text));
  return pai__proc_limit(text, len);
}

int64_t pai__linux_number(const char *root, const char *fmt, ...)
{
  int64_t n;
  va_list ap;
  int fd;

  va_start(ap, fmt);
  fd = open_path(root, fmt, ap);
  va_end(ap);
  n = pai__reread_number(fd);
  if (fd >= 0)
    (void)close(fd);
  return n;
}

static size_t read_path(char *out, size_t size, const char *root,
                        const char *fmt, va_list ap)
{
  int fd = open_path(root, fmt, ap);
  size_t len = 0;

  out[0] = '\0';
  if (fd >= 0) {
    len = read_short(fd, out, size);
    (void)close(fd);
  }
  return len;
}

size_t pai__read_short(char *out, size_t size, const char *root,
                       const char *fmt, ...)
{
  size_t len;
  va_list ap;

  va_start(ap, fmt);
  len = read_path(out, size, root, fmt, ap);
  va_end(ap);
  return len;
}

void pai__read_line(char out[PAI__LINE], const char *root, const char *fmt,
                    ...)
{
  va_list ap;

  va_start(ap, fmt);
  (void)read_path(out, PAI__LINE, root, fmt, ap);
  va_end(ap);
  out[strcspn(out, "\n")] = '\0';
}
