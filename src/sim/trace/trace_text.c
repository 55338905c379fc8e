/* trace_text.c - parses and formats times: decimal seconds, and dates (UTC
 * without a zone) */
#include "sim/trace/trace.h"

#include "base/date.h"

/* --- decimals ------------------------------------------------------------ */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* A decimal number: digits * 10^shift.  Digits after the 19th are dropped. */
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

/* --- dates --------------------------------------------------------------- */

typedef struct pai__date {
  const char *s, *end;
  bool failed;
} pai__date;

/* Reads `count` digits. */
static int64_t digits(pai__date *d, unsigned count)
{
  int64_t value = 0;

  for (; count > 0 && d->s < d->end && is_digit(*d->s); count--)
    value = value * 10 + (*d->s++ - '0');
  d->failed |= count > 0;
  return value;
}

static bool take(pai__date *d, const char *signs)
{
  if (d->s == d->end || *d->s == '\0' || strchr(signs, *d->s) == NULL)
    return false;
  d->s++;
  return true;
}

static int64_t below(pai__date *d, int64_t value, int64_t low, int64_t high)
{
  d->failed |= value < low || value > high;
  return value;
}

static pai_time read_clock(pai__date *d)
{
  int64_t seconds = below(d, digits(d, 2), 0, 23) * 3600;
  pai_time us = 0, worth = 100000;

  d->failed |= !take(d, ":");
  seconds += below(d, digits(d, 2), 0, 59) * 60;
  if (take(d, ":"))
    seconds += below(d, digits(d, 2), 0, 60);
  if (take(d, ".,"))
    for (; d->s < d->end && is_digit(*d->s); worth /= 10)
      us += (*d->s++ - '0') * worth;
  return seconds * 1000000 + us;
}

static pai_time read_zone(pai__date *d)
{
  bool west;
  int64_t minutes;

  while (take(d, " "))
    continue;
  if (d->s == d->end || take(d, "Zz"))
    return 0;
  if (d->end - d->s == 3 && memcmp(d->s, "UTC", 3) == 0) {
    d->s += 3;
    return 0;
  }
  west = *d->s == '-';
  d->failed |= !take(d, "+-");
  minutes = below(d, digits(d, 2), 0, 14) * 60;
  (void)take(d, ":");
  if (d->s < d->end)
    minutes += below(d, digits(d, 2), 0, 59);
  return (west ? -minutes : minutes) * 60000000;
}

bool pai__date_read(const char *s, size_t len, pai_time *out)
{
  pai__date d = { s, s + len, false };
  int64_t year = digits(&d, 4), month, day, days = 0;

  d.failed |= !take(&d, "-/");
  month = digits(&d, 2);
  d.failed |= !take(&d, "-/");
  day = digits(&d, 2);
  if (d.failed || !pai__date_days(year, month, day, &days))
    return false;
  *out = days * INT64_C(86400000000);
  if (take(&d, "Tt "))
    *out += read_clock(&d);
  *out -= read_zone(&d);
  return !d.failed && d.s == d.end;
}
