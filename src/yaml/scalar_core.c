/* scalar_core.c - numbers of YAML 1.2's core schema */
#include "yaml/scalar.h"
#include "base/text/number.h"

#include <math.h>

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static size_t span(const char *s, const char *digits)
{
  return strspn(s, digits);
}

/* Reads the digits of 0o17 or 0x1f. */
static int read_bits(pai__scalar *out, const char *s, size_t len,
                     unsigned bits)
{
  int64_t v = 0;

  out->type = PAI__INT;
  for (size_t i = 0; i < len; i++) {
    if (v > INT64_MAX >> bits) {
      out->type = PAI__FLOAT;
      out->u.f = pai__parse_bits(s, len, bits);
      return PAI_OK;
    }
    v = v << bits | (is_digit(s[i]) ? s[i] - '0' : (s[i] | 0x20) - 'a' + 10);
  }
  out->u.i = v;
  return PAI_OK;
}

int pai__yaml_core_int(pai__scalar *out, const char *s, size_t len,
                       const pai_alloc *alloc)
{
  bool minus = s[0] == '-';
  size_t sign = minus || s[0] == '+';
  uint64_t m = 0, limit = (uint64_t)INT64_MAX + minus;
  bool fits = true;

  (void)alloc;
  if (len > 2 && s[0] == '0' && s[1] == 'o' &&
      span(s + 2, "01234567") == len - 2)
    return read_bits(out, s + 2, len - 2, 3);
  if (len > 2 && s[0] == '0' && s[1] == 'x' &&
      span(s + 2, "0123456789abcdefABCDEF") == len - 2)
    return read_bits(out, s + 2, len - 2, 4);
  for (size_t i = sign; i < len; i++) {
    if (!is_digit(s[i]))
      return PAI_ENOTFOUND;
    fits = fits && m <= (UINT64_MAX - 9) / 10;
    m = m * 10 + (uint64_t)(s[i] - '0');
  }
  if (len == sign)
    return PAI_ENOTFOUND;
  out->type = fits && m <= limit ? PAI__INT : PAI__FLOAT;
  if (out->type == PAI__INT) {
    out->u.i = (int64_t)(minus ? 0 - m : m);
    return PAI_OK;
  }
  if (pai__parse_double(&out->u.f, s + sign, len - sign) < 0)
    return PAI_ENOMEM;
  if (minus)
    out->u.f = -out->u.f;
  return PAI_OK;
}

static bool is_any(const char *s, size_t len, const char *a, const char *b,
                   const char *c)
{
  return len == 4 && (memcmp(s, a, 4) == 0 || memcmp(s, b, 4) == 0 ||
                      memcmp(s, c, 4) == 0);
}

int pai__yaml_core_float(pai__scalar *out, const char *s, size_t len,
                         const pai_alloc *alloc)
{
  bool minus = s[0] == '-';
  size_t sign = minus || s[0] == '+', at, digits;

  (void)alloc;
  out->type = PAI__FLOAT;
  if (is_any(s + sign, len - sign, ".inf", ".Inf", ".INF")) {
    out->u.f = minus ? -(double)INFINITY : (double)INFINITY;
    return PAI_OK;
  }
  if (is_any(s, len, ".nan", ".NaN", ".NAN")) {
    out->u.f = (double)NAN;
    return PAI_OK;
  }
  at = sign;
  digits = span(s + at, "0123456789");
  at += digits;
  if (s[at] == '.') {
    size_t more = span(s + at + 1, "0123456789");
    at += 1 + more;
    digits += more;
  }
  if (digits == 0)
    return PAI_ENOTFOUND;
  if (s[at] == 'e' || s[at] == 'E') {
    at++;
    if (s[at] == '-' || s[at] == '+')
      at++;
    digits = span(s + at, "0123456789");
    at += digits;
  }
  if (digits == 0 || at != len)
    return PAI_ENOTFOUND;
  if (pai__parse_double(&out->u.f, s + sign, len - sign) < 0)
    return PAI_ENOMEM;
  if (minus)
    out->u.f = -out->u.f;
  return PAI_OK;
}
