/* Output of a task: none of it is missed at its end. */
#define _XOPEN_SOURCE 700
#include "task/task.h"

#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);

/* The end of a terminal at which somebody writes, and closes it, between the
 * kernel's two looks. */
static int writes_late = -1;

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
  if (writes_late < 0)
    return __real_read(fd, bytes, size);
  assert_int_equal(write(writes_late, "last", 4), 4);
  assert_int_equal(close(writes_late), 0);
  writes_late = -1;
  errno = EIO;
  return -1;
}

TEST(the_last_words_on_a_terminal)
{
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  char bytes[16];

  assert_true(fd >= 0);
  assert_int_equal(grantpt(fd), 0);
  assert_int_equal(unlockpt(fd), 0);
  writes_late = open(ptsname(fd), O_RDWR | O_NOCTTY);
  assert_true(writes_late >= 0);
  assert_int_equal(output_read(fd, bytes, sizeof(bytes)), 4);
  assert_memory_equal(bytes, "last", 4);
  assert_int_equal(output_read(fd, bytes, sizeof(bytes)), -1);
  assert_int_equal(errno, EIO);
  assert_int_equal(close(fd), 0);
}
