/* posix_errno.c - strerror_r() as POSIX has it: in a file that asks for GNU's
 * names the same call is another one, whose answer looks like a failure. */
#include "base/posix_errno.h"

#include <stdio.h>
#include <string.h>

const char *pai__errno_text(int number, char *text, size_t size)
{
  if (strerror_r(number, text, size) != 0)
    (void)snprintf(text, size, "error %d", number);
  return text;
}
