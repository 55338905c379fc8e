/* format.c - formats numbers, times and names for reports */
#include "sim/report/format.h"

#include "base/text/utf8.h"
#include "resource/svg.h"

#include <stdio.h>

#define THIN "\xe2\x80\xaf" /* U+202F, narrow no-break space */

static uint64_t absolute(int64_t n)
{
  return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* --- numbers ------------------------------------------------------------- */

/* Appends to a text of PAI__CELL bytes; the rest is cut off. */
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

/* Writes the sign; returns the absolute value. */
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
  if (n >= 99950) /* without decimals, as rounding would give 100.0 */
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

/* Writes n in two units, as "3 d 4 h"; a second part of 0 is left out. */
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

/* A unit is used only if rounding to it does not reach the next unit. */
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
    tenths = -999; /* not -100 %, as the value is not 0 */
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

/* --- axes ---------------------------------------------------------------- */

static int64_t tick_step(int64_t end, int most)
{
  static const int parts[] = { 1, 2, 5 };

  for (int64_t unit = 1;; unit *= 10) /* ends: 5 * 10^18 suits any `end` */
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
    return tick_step(end, most);
  for (size_t i = 0; i < PAI__LEN(steps); i++)
    if (end / steps[i] <= most)
      return steps[i];
  if (end < 10000 * PAI__DAY)
    return PAI__DAY * tick_step(end / PAI__DAY, most);
  return PAI__YEAR * tick_step(end / PAI__YEAR, most);
}

/* --- names --------------------------------------------------------------- */

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

/* --- output -------------------------------------------------------------- */

int pai__text_write(pai__buf *text, int rc, pai_write_cb write,
                    void *user_data, pai_error **err)
{
  if (rc < 0 || !pai__buf_ok(text))
    rc = pai__oom(err);
  else if ((rc = write(user_data, pai__buf_text(text), text->len)) < 0)
    (void)pai__fail(err, rc, "the output could not be written");
  pai__buf_dispose(text);
  return rc < 0 ? rc : PAI_OK;
}

/* --- JSON ---------------------------------------------------------------- */

void pai__sim_put_decimal(pai__json_writer *w, int64_t value, unsigned digits)
{
  char text[PAI__CELL];

  (void)pai__show_decimal(text, value, digits);
  pai__json_ready(w, text, strlen(text));
}
