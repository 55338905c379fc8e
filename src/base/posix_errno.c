/* posix_errno.c - strerror_r() as POSIX has it: in a file that asks for GNU's
 * names the same call is another one, whose answer looks like a failure. */
#include "base/posix_errno.h"

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
