/* text.c - lines and small files without allocation */
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void line_add(line *l, const char *text)
{
  size_t n = strlen(text), room = sizeof(l->text) - 1 - l->len;

  n = n < room ? n : room;
  memcpy(l->text + l->len, text, n);
  l->len += n;
}

void line_number(line *l, int64_t number)
{
  char digits[24], *at = digits + sizeof(digits);
  uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

  *--at = '\0';
  do
    *--at = (char)('0' + left % 10);
  while ((left /= 10) > 0);
  if (number < 0)
    *--at = '-';
  line_add(l, at);
}

/* Writes it at once: a reader sees a whole line or nothing. */
bool line_write(line *l, int fd)
{
  size_t len = l->len + 1;

  l->text[l->len] = '\n';
  l->len = 0;
  return write(fd, l->text, len) == (ssize_t)len;
}

ssize_t read_small(int dir, const char *path, char *text, size_t size)
{
  int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (fd < 0)
    return -1;
  n = read(fd, text, size - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n;
}

/* The kernel looks for output first, then whether the other end is closed: what
 * was written last, in between, comes only with another read. */
ssize_t output_read(int fd, char *bytes, size_t size)
{
  ssize_t n = read(fd, bytes, size);

  return n < 0 && errno == EIO ? read(fd, bytes, size) : n;
}

static int64_t clock_us(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t wall_time(void)
{
  return clock_us(CLOCK_REALTIME);
}

int64_t monotonic_ms(void)
{
  return clock_us(CLOCK_MONOTONIC) / 1000;
}
