/* size.c - amounts of memory as people write them */
#include "resource/read.h"

#include "base/number.h"

static const char units[] = "KMGTP";

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Up to three digits behind a point, in thousandths. */
static const char *read_fraction(const char *s, const char *end,
                                 uint64_t *thousandths)
{
  uint64_t worth = 100;

  for (*thousandths = 0; s < end && is_digit(*s) && worth > 0; s++) {
    *thousandths += (uint64_t)(*s - '0') * worth;
    worth /= 10;
  }
  return s;
}

/* Shift of the unit at s: K, Ki, KB and KiB are the same; -1: no unit. */
static int read_unit(const char *s, const char *end)
{
  const char *unit;

  if (s == end || (end - s == 1 && *s == 'B'))
    return 0;
  unit = strchr(units, *s);
  if (unit == NULL || *unit == '\0')
    return -1;
  s++;
  if (s < end && *s == 'i')
    s++;
  if (s < end && *s == 'B')
    s++;
  return s == end ? 10 * (int)(unit - units + 1) : -1;
}

bool pai__size_parse(uint64_t *out, const char *s, size_t len)
{
  const char *end = s + len;
  uint64_t value = 0, thousandths = 0;
  int shift;

  if (len == 0 || !is_digit(*s))
    return false;
  for (; s < end && is_digit(*s); s++) {
    if (value > UINT64_MAX / 16)
      return false;
    value = value * 10 + (uint64_t)(*s - '0');
  }
  if (s < end && *s == '.')
    s = read_fraction(s + 1, end, &thousandths);
  if (s + 1 < end && *s == ' ')
    s++;
  shift = read_unit(s, end);
  if (shift < 0 || (shift == 0 && thousandths != 0) ||
      value > (uint64_t)INT64_MAX >> shift)
    return false;
  *out = (value << shift) + ((thousandths << shift) + 500) / 1000;
  return true;
}

const char *pai__size_text(char out[PAI__SIZE_TEXT], uint64_t size)
{
  size_t unit = 0, len;

  while (size != 0 && size % 1024 == 0 && unit < sizeof(units) - 1) {
    size /= 1024;
    unit++;
  }
  len = pai__format_int(out, (int64_t)size);
  if (unit > 0)
    out[len++] = units[unit - 1];
  out[len] = '\0';
  return out;
}
