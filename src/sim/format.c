/* format.c - numbers and names, as pages show them */
#include "sim/format.h"

#include "base/utf8.h"
#include "resource/svg.h"

#include <stdio.h>

#define THIN "\xe2\x80\xaf" /* U+202F, narrow and not to be broken */

/* --- arithmetic ------------------------------------------------------------ */

/* rest * by / whole for rest < whole, digit by binary digit. */
static uint64_t long_portion(uint64_t rest, uint64_t by, uint64_t whole,
                             uint64_t *left)
{
  uint64_t quotient = 0, carry = 0;

  for (int bit = 62; bit >= 0; bit--) {
    quotient *= 2;
    carry *= 2;
    if (carry >= whole) {
      carry -= whole;
      quotient++;
    }
    if (by >> bit & 1)
      carry += rest;
    if (carry >= whole) {
      carry -= whole;
      quotient++;
    }
  }
  *left = carry;
  return quotient;
}

/* Of numbers that are not negative. */
static uint64_t portion(uint64_t part, uint64_t by, uint64_t whole)
{
  uint64_t times = part / whole, rest = part % whole, quotient, left;

  if (times > 0 && by > INT64_MAX / times)
    return INT64_MAX;
  if (by == 0 || rest <= UINT64_MAX / by) {
    quotient = rest * by / whole;
    left = rest * by % whole;
  } else {
    quotient = long_portion(rest, by, whole, &left);
  }
  quotient += times * by;
  quotient += left >= whole - left;
  return quotient < INT64_MAX ? quotient : INT64_MAX;
}

static uint64_t absolute(int64_t n)
{
  return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

int64_t pai__portion(int64_t part, int64_t by, int64_t whole)
{
  uint64_t n;

  if (whole <= 0 || by <= 0)
    return 0;
  n = portion(absolute(part), (uint64_t)by, (uint64_t)whole);
  return part < 0 ? -(int64_t)n : (int64_t)n;
}

/* --- numbers ---------------------------------------------------------------- */

/* Appends to a text of PAI__CELL bytes; what has no room is left out. */
static void add(char *out, const char *fmt, ...) PAI__PRINTF(2, 3);

static void add(char *out, const char *fmt, ...)
{
  size_t len = strlen(out);
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(out + len, PAI__CELL - len, fmt, ap);
  va_end(ap);
}

static void add_count(char *out, uint64_t n)
{
  uint64_t unit = 1;

  while (n / unit >= 1000)
    unit *= 1000;
  add(out, "%u", (unsigned)(n / unit));
  for (unit /= 1000; unit > 0; unit /= 1000)
    add(out, THIN "%03u", (unsigned)(n / unit % 1000));
}

/* Begins with the sign; returns the number without it. */
static uint64_t begin(char out[PAI__CELL], int64_t n)
{
  (void)snprintf(out, PAI__CELL, "%s", n < 0 ? "-" : "");
  return absolute(n);
}

const char *pai__show_count(char out[PAI__CELL], int64_t n)
{
  add_count(out, begin(out, n));
  return out;
}

static void add_short(char *out, uint64_t n)
{
  static const char *const units[] = { "k", "M", "G", "T", "P", "E" };
  size_t u = 0;

  if (n < 100000) {
    add_count(out, n);
    return;
  }
  for (; n >= 999500; u++)
    n = (n + 500) / 1000;
  if (n >= 99950) /* by itself, rounding does not make it 100.0 */
    add(out, "%u %s", (unsigned)((n + 500) / 1000), units[u]);
  else
    add(out, "%u.%u %s", (unsigned)((n + 50) / 1000),
        (unsigned)((n + 50) / 100 % 10), units[u]);
}

const char *pai__show_short(char out[PAI__CELL], int64_t n)
{
  add_short(out, begin(out, n));
  return out;
}

/* "3 d 4 h" of hours and 24; a second part that is 0 is left out. */
static void add_two(char *out, uint64_t n, unsigned per, const char *large,
                    const char *small)
{
  add_count(out, n / per);
  add(out, " %s", large);
  if (n % per > 0)
    add(out, " %u %s", (unsigned)(n % per), small);
}

static uint64_t round_to(uint64_t n, int64_t unit)
{
  return (n + (uint64_t)unit / 2) / (uint64_t)unit;
}

/* Each unit only where rounding to it does not reach the next one. */
const char *pai__show_time(char out[PAI__CELL], int64_t us)
{
  uint64_t n = begin(out, us);
  uint64_t tenths = round_to(n, 100000), seconds = round_to(n, PAI__SECOND);
  uint64_t minutes = round_to(n, PAI__MINUTE), hours = round_to(n, PAI__HOUR);
  uint64_t days = round_to(n, PAI__DAY);

  if (n == 0)
    add(out, "0 s");
  else if (n < 1000)
    add(out, "%u µs", (unsigned)n);
  else if (n < 999500)
    add(out, "%u ms", (unsigned)((n + 500) / 1000));
  else if (tenths < 100)
    add(out, tenths % 10 > 0 ? "%u.%u s" : "%u s", (unsigned)(tenths / 10),
        (unsigned)(tenths % 10));
  else if (seconds < 60)
    add(out, "%u s", (unsigned)seconds);
  else if (seconds < 3600)
    add_two(out, seconds, 60, "min", "s");
  else if (minutes < 1440)
    add_two(out, minutes, 60, "h", "min");
  else if (hours < 2400)
    add_two(out, hours, 24, "d", "h");
  else if (days < 10000)
    add_two(out, days, 1, "d", "");
  else if (days < 365000)
    add_two(out, days, 365, "y", "d");
  else
    add_two(out, round_to(n, PAI__YEAR), 1, "y", "");
  return out;
}

const char *pai__show_hours(char out[PAI__CELL], int64_t us)
{
  uint64_t n = begin(out, us);
  uint64_t tenths = (n + 180 * 1000000) / (360 * 1000000);

  if (tenths >= 1000)
    add_short(out, (tenths + 5) / 10);
  else if (tenths == 0 && n > 0)
    add(out, "<0.1");
  else
    add(out, tenths % 10 > 0 ? "%u.%u" : "%u", (unsigned)(tenths / 10),
        (unsigned)(tenths % 10));
  return out;
}

const char *pai__show_percent(char out[PAI__CELL], int64_t millionths)
{
  uint64_t tenths = (begin(out, millionths) + 500) / 1000;

  add_count(out, tenths / 10);
  add(out, ".%u %%", (unsigned)(tenths % 10));
  return out;
}

const char *pai__show_round_percent(char out[PAI__CELL], int64_t millionths)
{
  uint64_t tenths = (begin(out, millionths) + 500) / 1000;

  add_count(out, tenths / 10);
  add(out, tenths % 10 > 0 ? ".%u %%" : " %%", (unsigned)(tenths % 10));
  return out;
}

const char *pai__show_times(char out[PAI__CELL], int64_t thousandths)
{
  uint64_t n = begin(out, thousandths);
  uint64_t hundredths = (n + 5) / 10, tenths = (n + 50) / 100;

  if (hundredths < 1000)
    add(out, "%u.%02u", (unsigned)(hundredths / 100),
        (unsigned)(hundredths % 100));
  else if (tenths < 1000)
    add(out, "%u.%u", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
  else
    add_count(out, (n + 500) / 1000);
  return out;
}

const char *pai__show_index(char out[PAI__CELL], int64_t millionths)
{
  uint64_t n = (begin(out, millionths) + 500) / 1000;

  add_count(out, n / 1000);
  add(out, ".%03u", (unsigned)(n % 1000));
  return out;
}

const char *pai__show_change(char out[PAI__CELL], int64_t value, int64_t from)
{
  int64_t more = value - from, tenths;

  out[0] = '\0';
  if (value == from || from <= 0 || value < 0)
    return out;
  tenths = pai__portion(more, 1000, from);
  if (tenths <= -1000 && value > 0)
    tenths = -999; /* a little is left */
  if (tenths >= 9000) {
    add(out, "×");
    add_count(out, ((uint64_t)tenths + 1000) / 1000);
  } else if (tenths != 0) {
    add(out, "%s%u.%u %%", more < 0 ? "-" : "+",
        (unsigned)(absolute(tenths) / 10), (unsigned)(absolute(tenths) % 10));
  }
  return out;
}

const char *pai__show_decimal(char out[PAI__CELL], int64_t value,
                              unsigned digits)
{
  uint64_t n = begin(out, value), unit = 1, rest;

  for (unsigned i = 0; i < digits; i++)
    unit *= 10;
  add(out, "%llu", (unsigned long long)(n / unit));
  rest = n % unit;
  if (rest == 0)
    return out;
  for (; rest % 10 == 0; rest /= 10)
    digits--;
  add(out, ".%0*llu", (int)digits, (unsigned long long)rest);
  return out;
}

/* --- axes ------------------------------------------------------------------- */

int64_t pai__tick_step(int64_t end, int most)
{
  static const int parts[] = { 1, 2, 5 };

  for (int64_t unit = 1;; unit *= 10) /* 5 * 10^18 is enough for any */
    for (size_t i = 0; i < PAI__LEN(parts); i++) {
      int64_t step = unit * parts[i];

      if (end / step < most || (end / step == most && end % step == 0))
        return step;
    }
}

int64_t pai__tick_time(int64_t end, int most)
{
  static const int64_t steps[] = {
    PAI__SECOND,      2 * PAI__SECOND,  5 * PAI__SECOND,  10 * PAI__SECOND,
    15 * PAI__SECOND, 30 * PAI__SECOND, PAI__MINUTE,      2 * PAI__MINUTE,
    5 * PAI__MINUTE,  10 * PAI__MINUTE, 15 * PAI__MINUTE, 30 * PAI__MINUTE,
    PAI__HOUR,        2 * PAI__HOUR,    3 * PAI__HOUR,    6 * PAI__HOUR,
    12 * PAI__HOUR,
  };

  if (end < PAI__SECOND)
    return pai__tick_step(end, most);
  for (size_t i = 0; i < PAI__LEN(steps); i++)
    if (end / steps[i] <= most)
      return steps[i];
  if (end < 10000 * PAI__DAY)
    return PAI__DAY * pai__tick_step(end / PAI__DAY, most);
  return PAI__YEAR * pai__tick_step(end / PAI__YEAR, most);
}

int pai__log2(int64_t n)
{
  uint64_t mantissa;
  int bits = 0, log;

  if (n < 1)
    return 0;
  for (uint64_t m = (uint64_t)n; m > 1; m /= 2)
    bits++;
  log = bits * 1024;
  mantissa = bits > 31 ? (uint64_t)n >> (bits - 31)
                       : (uint64_t)n << (31 - bits); /* [2^31, 2^32) */
  for (int bit = 512; bit > 0; bit /= 2) {
    mantissa = mantissa * mantissa >> 31;
    if (mantissa >> 32) {
      mantissa >>= 1;
      log += bit;
    }
  }
  return log;
}

/* --- names ------------------------------------------------------------------ */

size_t pai__put_name(pai__buf *out, const char *name, size_t most)
{
  size_t left = strlen(name), columns = 0;
  bool cut = pai__svg_columns(name) > most;
  char one[5] = { 0 };

  while (left > 0) {
    size_t n = pai__utf8_len(name, left), step = n > 0 ? n : 1, wide = 1;
    bool bad = n == 0 || pai__is_control(name, n);

    if (n > 0) {
      memcpy(one, name, n);
      one[n] = '\0';
      wide = pai__svg_columns(one);
    }
    if (cut && columns + wide >= most)
      break;
    pai__buf_add(out, bad ? "?" : name, bad ? 1 : n);
    columns += wide;
    name += step;
    left -= step;
  }
  if (cut)
    pai__buf_str(out, "…");
  return columns + cut;
}
