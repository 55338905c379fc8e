/* trace_time.c - times as decimals of seconds, without floating point */
#include "sim/trace.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* A decimal: its digits as a number, and how many places they are to be moved
 * to the left.  What is behind the 19th digit is dropped. */
typedef struct pai__decimal {
  uint64_t digits;
  int shift;
  bool negative;
} pai__decimal;

static const char *read_digits(pai__decimal *d, const char *s, const char *end,
                               int each)
{
  for (; s < end && is_digit(*s); s++) {
    if (d->digits > (UINT64_MAX - 9) / 10) {
      d->shift += 1 + each;
      continue;
    }
    d->digits = d->digits * 10 + (uint64_t)(*s - '0');
    d->shift += each;
  }
  return s;
}

static const char *read_exponent(pai__decimal *d, const char *s,
                                 const char *end)
{
  bool negative = false;
  int e = 0;

  if (s < end && (*s == '+' || *s == '-'))
    negative = *s++ == '-';
  if (s == end || !is_digit(*s))
    return NULL;
  for (; s < end && is_digit(*s); s++)
    if (e < 10000)
      e = e * 10 + (*s - '0');
  d->shift += negative ? -e : e;
  return s;
}

static bool read_decimal(pai__decimal *d, const char *s, size_t len)
{
  const char *end = s + len, *from;

  memset(d, 0, sizeof(*d));
  if (s < end && *s == '-') {
    d->negative = true;
    s++;
  }
  from = s;
  s = read_digits(d, s, end, 0);
  if (s == from)
    return false;
  if (s < end && *s == '.') {
    from = ++s;
    s = read_digits(d, s, end, -1);
    if (s == from)
      return false;
  }
  if (s < end && (*s == 'e' || *s == 'E'))
    s = read_exponent(d, s + 1, end);
  return s == end;
}

bool pai__decimal_read(const char *s, size_t len, int places, int64_t *out)
{
  pai__decimal d;
  int shift;

  if (!read_decimal(&d, s, len))
    return false;
  for (shift = d.shift + places; shift > 0 && d.digits != 0; shift--) {
    if (d.digits > UINT64_MAX / 10)
      return false;
    d.digits *= 10;
  }
  for (; shift < 0 && d.digits != 0; shift++)
    d.digits /= 10;
  if (d.digits > (uint64_t)PAI__MOST_TIME)
    return false;
  *out = d.negative ? -(pai_time)d.digits : (pai_time)d.digits;
  return true;
}

bool pai__seconds_read(const char *s, size_t len, pai_time *out)
{
  return pai__decimal_read(s, len, 6, out);
}

size_t pai__seconds_write(char out[PAI__SECONDS_TEXT], pai_time time)
{
  uint64_t us = time < 0 ? 0 - (uint64_t)time : (uint64_t)time;
  int len =
    snprintf(out, PAI__SECONDS_TEXT, "%s%" PRIu64 ".%06u", time < 0 ? "-" : "",
             us / 1000000, (unsigned)(us % 1000000));

  while (out[len - 1] == '0')
    len--;
  if (out[len - 1] == '.')
    len--;
  out[len] = '\0';
  return (size_t)len;
}

const char *pai__span_text(char out[PAI__SECONDS_TEXT], pai_time span)
{
  static const struct {
    pai_time us;
    const char *unit;
  } units[] = { { INT64_C(86400000000), "d" },
                { INT64_C(3600000000), "h" },
                { 60000000, "min" },
                { 1000000, "s" },
                { 1000, "ms" },
                { 1, "us" } };
  uint64_t us = span < 0 ? 0 - (uint64_t)span : (uint64_t)span;
  size_t i = 0;

  while (i + 1 < PAI__LEN(units) && us < (uint64_t)units[i].us)
    i++;
  (void)snprintf(out, PAI__SECONDS_TEXT, "%" PRIu64 " %s",
                 us / (uint64_t)units[i].us, units[i].unit);
  return out;
}
