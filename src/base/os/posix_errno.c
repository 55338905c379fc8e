/* posix_errno.c - POSIX' strerror_r(): with _GNU_SOURCE that name is another
 * function, whose result looks like a failure */
#include "base/os/posix_errno.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *pai__errno_text(int number, char *text, size_t size)
{
  if (strerror_r(number, text, size) != 0)
    (void)snprintf(text, size, "error %d", number);
  return text;
}

bool pai__errno_is_shortage(int number)
{
  switch (number) {
  case ENOSPC:
  case EDQUOT:
  case ENOMEM:
  case ENOBUFS:
  case EMFILE:
  case ENFILE:
  case EAGAIN: return true;
  default: return false;
  }
}
