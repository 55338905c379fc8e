/*
 * scalar_js.c - numbers and dates by the rules of js-yaml 3.13
 *
 * The rules are those of its type/int.js, float.js and timestamp.js, with
 * their quirks: "0_7" is octal, "-.5" is a string, "1:30" is 90.
 */
#include "yaml/scalar.h"
#include "base/text/number.h"

#include <math.h>

enum { STACK_TEXT = 128 };

/* Whole numbers up to this one are exact in JavaScript. */
#define SAFE_INTEGER (INT64_C(1) << 53)

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Stores a number as JavaScript would: an exact whole number, or a double. */
static int set_number(pai__scalar *out, double v, bool minus)
{
  if (v <= (double)SAFE_INTEGER) {
    out->type = PAI__INT;
    out->u.i = minus ? -(int64_t)v : (int64_t)v;
    return PAI_OK;
  }
  out->type = PAI__FLOAT;
  out->u.f = minus ? -v : v;
  return PAI_OK;
}

/* --- whole numbers ------------------------------------------------------ */

/* Returns whether s consists of digits of one radix and '_', has a digit, and
 * does not end with '_'. */
static bool is_radix(const char *s, size_t len, const char *digits)
{
  bool any = false;

  for (size_t i = 0; i < len; i++) {
    if (s[i] == '_')
      continue;
    if (s[i] == '\0' || strchr(digits, s[i]) == NULL)
      return false;
    any = true;
  }
  return any && s[len - 1] != '_';
}

/* Returns whether s matches (:[0-5]?[0-9])+ */
static bool is_sexagesimal(const char *s, size_t len)
{
  size_t i = 0;

  while (i < len) {
    if (s[i++] != ':' || i == len || !is_digit(s[i]))
      return false;
    if (i + 1 < len && is_digit(s[i + 1])) {
      if (s[i] > '5')
        return false;
      i++;
    }
    i++;
  }
  return len != 0;
}

/* Copies s without '_', NUL-terminated, into buf or, if it does not fit, into
 * an allocated block. */
static char *without_underscores(const char *s, size_t *len, char *buf,
                                 const pai_alloc *alloc)
{
  char *to = buf;
  size_t n = 0;

  if (*len >= STACK_TEXT)
    to = pai__realloc(alloc, NULL, 0, *len + 1, 1);
  if (to == NULL)
    return NULL;
  for (size_t i = 0; i < *len; i++)
    if (s[i] != '_')
      to[n++] = s[i];
  to[n] = '\0';
  *len = n;
  return to;
}

/* Reads the sum of parts between colons, each worth 60 times the next one.
 * Only the last part may have a point. */
static int read_base60(double *out, const char *s, size_t len)
{
  double part;

  *out = 0;
  while (len != 0) {
    const char *colon = memchr(s, ':', len);
    size_t n = colon != NULL ? (size_t)(colon - s) : len;

    if (pai__parse_double(&part, s, n) < 0)
      return PAI_ENOMEM;
    *out = *out * 60 + part;
    n += colon != NULL;
    s += n;
    len -= n;
  }
  return PAI_OK;
}

/* Returns the radix of the whole number s without its sign: 60 for base 60, 0
 * if s is no whole number.  *skip is the length of its prefix. */
static unsigned int_radix(const char *s, size_t len, size_t *skip)
{
  const char *colon;

  *skip = 0;
  if (len == 0)
    return 0;
  if (s[0] == '0' && len > 1) {
    *skip = s[1] == 'b' || s[1] == 'x' ? 2 : 1;
    if (s[1] == 'b')
      return is_radix(s + 2, len - 2, "01") ? 2 : 0;
    if (s[1] == 'x')
      return is_radix(s + 2, len - 2, "0123456789abcdefABCDEF") ? 16 : 0;
    return is_radix(s + 1, len - 1, "01234567") ? 8 : 0;
  }
  if (s[0] == '_')
    return 0;
  colon = memchr(s, ':', len);
  if (colon == NULL)
    return is_radix(s, len, "0123456789") ? 10 : 0;
  for (const char *p = s; p < colon; p++)
    if (!is_digit(*p) && *p != '_')
      return 0;
  return is_digit(s[0]) && is_sexagesimal(colon, len - (size_t)(colon - s))
           ? 60
           : 0;
}

int pai__yaml_js_int(pai__scalar *out, const char *s, size_t len,
                     const pai_alloc *alloc)
{
  char buf[STACK_TEXT], *text;
  bool minus = len > 0 && s[0] == '-';
  size_t sign = len > 0 && (minus || s[0] == '+'), skip, size, n;
  unsigned radix = int_radix(s + sign, len - sign, &skip);
  double v = 0;
  int rc = PAI_OK;

  if (radix == 0)
    return PAI_ENOTFOUND;
  s += sign + skip;
  size = n = len - sign - skip;
  text = without_underscores(s, &n, buf, alloc);
  if (text == NULL)
    return PAI_ENOMEM;
  if (radix == 60)
    rc = read_base60(&v, text, n);
  else if (radix == 10)
    rc = pai__parse_double(&v, text, n);
  else
    v = pai__parse_bits(text, n, radix == 2 ? 1 : radix == 8 ? 3 : 4);
  if (text != buf)
    pai__free(alloc, text, size + 1);
  return rc < 0 ? rc : set_number(out, v, minus);
}

/* --- floating point ----------------------------------------------------- */

static size_t skip_digits(const char *s, size_t i)
{
  while (is_digit(s[i]) || s[i] == '_')
    i++;
  return i;
}

/* Returns whether a float ends at len, with an optional exponent at i. */
static bool ends_float(const char *s, size_t len, size_t i)
{
  size_t digits;

  if (i < len && (s[i] == 'e' || s[i] == 'E')) {
    i++;
    i += s[i] == '-' || s[i] == '+';
    digits = i;
    while (is_digit(s[i]))
      i++;
    if (i == digits)
      return false;
  }
  return i == len;
}

static bool is_word(const char *s, size_t len, const char *lower,
                    const char *mixed, const char *upper)
{
  return len == 4 && (memcmp(s, lower, 4) == 0 || memcmp(s, mixed, 4) == 0 ||
                      memcmp(s, upper, 4) == 0);
}

/* Matches js-yaml's pattern for floats that have digits.  s is
 * NUL-terminated. */
static bool is_float(const char *s, size_t len, bool *base60)
{
  size_t sign = s[0] == '-' || s[0] == '+', i;

  *base60 = false;
  if (len == 0 || s[len - 1] == '_')
    return false;
  if (s[0] == '.') {
    i = skip_digits(s, 1);
    return i > 1 && ends_float(s, len, i);
  }
  if (!is_digit(s[sign]))
    return false;
  i = skip_digits(s, sign);
  if (s[i] == ':') {
    size_t colon = i;
    while (s[i] == ':' || is_digit(s[i]))
      i++;
    *base60 = true;
    return s[i] == '.' && is_sexagesimal(s + colon, i - colon) &&
           skip_digits(s, i + 1) == len;
  }
  if (s[sign] == '0' && i > sign + 1)
    return false;
  if (s[i] == '.')
    i = skip_digits(s, i + 1);
  return ends_float(s, len, i);
}

/* Reads s, which is_float() accepts, without its sign. */
static int read_float(double *out, const char *s, size_t len, bool base60,
                      const pai_alloc *alloc)
{
  char buf[STACK_TEXT], *text;
  size_t size = len;
  int rc = PAI_OK;

  text = without_underscores(s, &len, buf, alloc);
  if (text == NULL)
    return PAI_ENOMEM;
  if (base60)
    rc = read_base60(out, text, len);
  else if (text[0] == '.' && !is_digit(text[1]))
    *out = (double)NAN; /* "._e1" has no digits left */
  else
    rc = pai__parse_double(out, text, len);
  if (text != buf)
    pai__free(alloc, text, size + 1);
  return rc;
}

int pai__yaml_js_float(pai__scalar *out, const char *s, size_t len,
                       const pai_alloc *alloc)
{
  bool minus = len > 0 && s[0] == '-', base60;
  size_t sign = len > 0 && (minus || s[0] == '+');
  int rc = PAI_OK;

  out->type = PAI__FLOAT;
  if (is_word(s + sign, len - sign, ".inf", ".Inf", ".INF"))
    out->u.f = (double)INFINITY;
  else if (is_word(s, len, ".nan", ".NaN", ".NAN"))
    out->u.f = (double)NAN;
  else if (is_float(s, len, &base60))
    rc = read_float(&out->u.f, s + sign, len - sign, base60, alloc);
  else
    rc = PAI_ENOTFOUND;
  if (rc == PAI_OK && minus)
    out->u.f = -out->u.f;
  return rc;
}

/* --- dates -------------------------------------------------------------- */

/* Reads from min to max digits.  Returns -1 if there are fewer than min. */
static int64_t number(const char **s, size_t min, size_t max)
{
  int64_t v = 0;
  size_t n = 0;

  for (; n < max && is_digit(**s); n++)
    v = v * 10 + (*(*s)++ - '0');
  return n >= min ? v : -1;
}

static bool take(const char **s, char c)
{
  if (**s != c)
    return false;
  ++*s;
  return true;
}

static void skip_blanks(const char **s)
{
  while (**s == ' ' || **s == '\t')
    ++*s;
}

/* Reads a fraction of a second in milliseconds; further digits are ignored. */
static int64_t read_fraction(const char **s)
{
  int64_t ms = 0;
  size_t n = 0;

  for (; is_digit(**s); ++*s, n++)
    if (n < 3)
      ms = ms * 10 + (**s - '0');
  for (; n < 3; n++)
    ms *= 10;
  return ms;
}

/* Reads "Z", "+1" or "-08:30" as minutes to subtract.  Returns false if there
 * is no zone. */
static bool read_zone(const char **s, int64_t *minutes)
{
  bool minus = **s == '-';
  int64_t hours, rest = 0;

  *minutes = 0;
  if (take(s, 'Z'))
    return true;
  if (!take(s, '+') && !take(s, '-'))
    return false;
  hours = number(s, 1, 2);
  if (hours < 0 || (take(s, ':') && (rest = number(s, 2, 2)) < 0))
    return false;
  *minutes = (hours * 60 + rest) * (minus ? -1 : 1);
  return true;
}

/* Reads the time of day after a date, in milliseconds.  Returns false if it is
 * malformed. */
static bool read_clock(const char **s, int64_t *ms)
{
  int64_t hour, minute, second, zone = 0;
  const char *blank;

  if (!take(s, 'T') && !take(s, 't')) {
    blank = *s;
    skip_blanks(s);
    if (*s == blank)
      return false;
  }
  hour = number(s, 1, 2);
  if (hour < 0 || !take(s, ':') || (minute = number(s, 2, 2)) < 0 ||
      !take(s, ':') || (second = number(s, 2, 2)) < 0)
    return false;
  *ms = ((hour * 60 + minute) * 60 + second) * 1000;
  if (take(s, '.'))
    *ms += read_fraction(s);
  blank = *s;
  skip_blanks(s);
  if (*s == blank && **s == '\0')
    return true;
  if (!read_zone(s, &zone))
    return false;
  *ms -= zone * 60000;
  return true;
}

int pai__yaml_js_timestamp(pai__scalar *out, const char *s, size_t len,
                           const pai_alloc *alloc)
{
  const char *p = s, *two;
  int64_t year, month, day, ms = 0;
  bool strict;

  (void)alloc;
  year = number(&p, 4, 4);
  if (year < 0 || !take(&p, '-'))
    return PAI_ENOTFOUND;
  two = p;
  month = number(&p, 1, 2);
  strict = p - two == 2;
  if (month < 0 || !take(&p, '-'))
    return PAI_ENOTFOUND;
  two = p;
  day = number(&p, 1, 2);
  strict = strict && p - two == 2;
  if (day < 0)
    return PAI_ENOTFOUND;
  if (p == s + len ? !strict : !read_clock(&p, &ms) || p != s + len)
    return PAI_ENOTFOUND;
  out->type = PAI__TIMESTAMP;
  if (year < 100)
    year += 1900; /* as Date.UTC() does */
  out->u.i = pai__date_ms(year, month, day) + ms;
  return PAI_OK;
}
