/* date.c - dates as JavaScript writes them */
#include "yaml/scalar.h"

#include "base/date.h"

enum { DAY_MS = 86400000 };

static int64_t days_from(int64_t year, int64_t month)
{
  return pai__date_number(year, month, 1);
}

int64_t pai__date_ms(int64_t year, int64_t month, int64_t day)
{
  return pai__date_number(year, month, day) * DAY_MS;
}

/* A time in UTC, as calendar fields. */
typedef struct moment {
  int year, month, day, weekday; /* month from 1, weekday from 0 for Sunday */
  int hour, minute, second, ms;
} moment;

static moment split(int64_t ms)
{
  int64_t days = pai__floor_div(ms, DAY_MS), rest = ms - days * DAY_MS;
  int64_t year = 1970 + (days < 0 ? days / 365 - 1 : days / 366), month = 1;
  moment m;

  while (days_from(year + 1, 1) <= days)
    year++;
  while (month < 12 && days_from(year, month + 1) <= days)
    month++;
  m.year = (int)year;
  m.month = (int)month;
  m.day = (int)(days - days_from(year, month)) + 1;
  m.weekday = (int)(days + 4 - pai__floor_div(days + 4, 7) * 7);
  m.hour = (int)(rest / 3600000);
  m.minute = (int)(rest / 60000 % 60);
  m.second = (int)(rest / 1000 % 60);
  m.ms = (int)(rest % 1000);
  return m;
}

void pai__date_string(pai__buf *out, int64_t ms)
{
  static const char days[] = "SunMonTueWedThuFriSat";
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  moment m = split(ms);

  pai__buf_printf(out,
                  "%.3s %.3s %02d %04d %02d:%02d:%02d GMT+0000 "
                  "(Coordinated Universal Time)",
                  days + 3 * m.weekday, months + 3 * (m.month - 1), m.day,
                  m.year, m.hour, m.minute, m.second);
}

void pai__date_iso(pai__buf *out, int64_t ms)
{
  moment m = split(ms);

  pai__buf_printf(out, m.year > 9999 ? "+%06d" : "%04d", m.year);
  pai__buf_printf(out, "-%02d-%02dT%02d:%02d:%02d.%03dZ", m.month, m.day,
                  m.hour, m.minute, m.second, m.ms);
}
