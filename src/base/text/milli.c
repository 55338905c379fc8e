/* milli.c - amounts of CPUs in thousandths, as decimal text */
#include "base/text/milli.h"

#include <inttypes.h>
#include <stdio.h>

/* Returns the number of leading digits. */
static size_t digits(const char *s, size_t len)
{
  size_t n = 0;

  while (n < len && s[n] >= '0' && s[n] <= '9')
    n++;
  return n;
}

/* Parses the digits after the point.  PAI_ENOTSUP: too many digits. */
static int read_part(uint64_t *milli, const char *s, size_t len)
{
  uint64_t unit = 1000;

  for (size_t i = 0; i < len; i++) {
    unit /= 10;
    if (unit == 0 && s[i] != '0')
      return PAI_ENOTSUP;
    *milli += unit * (uint64_t)(s[i] - '0');
  }
  return PAI_OK;
}

int pai__milli_read(uint64_t *out, const char *s, size_t len, uint64_t most)
{
  size_t n = digits(s, len), behind = n < len ? len - n - 1 : 0;
  uint64_t whole = 0, part = 0;

  *out = 0;
  if (n + behind == 0 || (n < len && (s[n] != '.' || behind == 0 ||
                                      digits(s + n + 1, behind) != behind)))
    return PAI_EINVAL;
  if (read_part(&part, s + n + 1, behind) < 0)
    return PAI_ENOTSUP;
  for (size_t i = 0; i < n; i++) {
    whole = whole * 10 + (uint64_t)(s[i] - '0');
    if (whole > most / 1000)
      return PAI_ELIMIT;
  }
  if (part > most - whole * 1000)
    return PAI_ELIMIT;
  *out = whole * 1000 + part;
  return PAI_OK;
}

/* Converts a number with an exponent, as 5e-1.  It has at most three decimals
 * if some number of thousandths is the same double: division rounds as reading
 * does. */
static int read_exponent(uint64_t *out, double number)
{
  if (!(number >= 0 && number <= UINT32_MAX))
    return number != number ? PAI_EINVAL : PAI_ELIMIT;
  *out = (uint64_t)(number * 1000 + 0.5);
  return (double)*out / 1000 == number ? PAI_OK : PAI_ENOTSUP;
}

static int read_number(uint64_t *out, const pai__tree *t, pai__node n)
{
  const uint64_t most = (uint64_t)UINT32_MAX * 1000 + 999;
  const pai__tree_node *at = pai__tree_at(t, n);
  const char *s = t->text + at->start;
  size_t len = at->end - at->start;
  int rc;

  if (memchr(s, 'e', len) != NULL || memchr(s, 'E', len) != NULL)
    return read_exponent(out, pai__tree_float(t, n));
  if (len == 0 || (*s != '-' && *s != '+'))
    return pai__milli_read(out, s, len, most);
  rc = pai__milli_read(out, s + 1, len - 1, most);
  return rc == PAI_OK && *s == '-' ? PAI_ELIMIT : rc;
}

int pai__milli_of(uint64_t *out, const pai__tree *t, pai__node n)
{
  const double large = 9007199254740992.0; /* 2^53: doubles above it are
                                              whole */
  int type = pai__tree_type(t, n);
  int64_t whole;
  double d;

  *out = 0;
  if (type != PAI__INT && type != PAI__FLOAT)
    return PAI_EINVAL;
  d = pai__tree_float(t, n);
  if (!pai__tree_whole(t, n, &whole))
    return d >= large || d <= -large ? PAI_ELIMIT : read_number(out, t, n);
  if (whole < 0 || whole > UINT32_MAX)
    return PAI_ELIMIT;
  *out = (uint64_t)whole * 1000;
  return PAI_OK;
}

const char *pai__milli_text(char out[PAI__MILLI_TEXT], uint64_t milli)
{
  int n = snprintf(out, PAI__MILLI_TEXT, "%" PRIu64 ".%03" PRIu64,
                   milli / 1000, milli % 1000);

  while (out[n - 1] == '0')
    n--;
  if (out[n - 1] == '.')
    n--;
  out[n] = '\0';
  return out;
}

/* --- public functions ---------------------------------------------------- */

int pai_cpus_parse(uint64_t *milli, const char *text, pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(milli != NULL, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__milli_read(milli, text, strlen(text), PAI__MOST_MILLI);
  if (rc == PAI_OK)
    return PAI_OK;
  if (rc == PAI_ELIMIT)
    return pai__fail(err, rc, "'%.40s' is too many CPUs: the limit is %d",
                     text, PAI__MOST_CPUS);
  (void)pai__fail(err, PAI_EINVAL, "'%.40s' is not an amount of CPUs", text);
  pai__error_help(err, rc == PAI_ENOTSUP ? "use at most three decimals: 1.234"
                                         : "write a number such as 2 or 0.5");
  return PAI_EINVAL;
}

const char *pai_cpus_text(char out[PAI_CPUS_TEXT], uint64_t milli)
{
  return pai__milli_text(out, milli);
}
