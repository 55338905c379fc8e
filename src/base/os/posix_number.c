/* posix_number.c - strtod() in the C locale */
#include "base/text/number.h"

#include <locale.h>
#include <stdlib.h>

int pai__strtod_c(double *out, const char *s)
{
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t host;

  if (c == (locale_t)0)
    return PAI_ENOMEM;
  host = uselocale(c); /* for this thread only */
  *out = strtod(s, NULL);
  (void)uselocale(host);
  freelocale(c);
  return PAI_OK;
}
