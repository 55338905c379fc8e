/*
 * date.c - converts days since 1970-01-01 to Gregorian dates
 *
 * Years begin in March, so that a leap day is the last day of its year.
 */
#include "base/date.h"

#include <stdio.h>

enum {
  CYCLE = 146097, /* days of 400 years */
  FIRST = 719468  /* days from 0000-03-01 to 1970-01-01 */
};

void pai__date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
  int64_t z = days + FIRST, era = pai__floor_div(z, CYCLE),
          of_era = z - era * CYCLE;
  int64_t y =
    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
  int64_t m = (5 * of_year + 2) / 153;

  *day = of_year - (153 * m + 2) / 5 + 1;
  *month = m < 10 ? m + 3 : m - 9;
  *year = y + era * 400 + (*month <= 2);
}

bool pai__date_days(int64_t year, int64_t month, int64_t day, int64_t *days)
{
  int64_t y, m, d;

  if (month < 1 || month > 12 || day < 1 || day > 31)
    return false;
  *days = pai__date_number(year, month, day);
  pai__date_of(*days, &y, &m, &d);
  return d == day;
}

const char *pai__time_text(char out[PAI__TIME_TEXT], int64_t seconds,
                           const char *end)
{
  int64_t days = pai__floor_div(seconds, 86400), year, month, day;
  int of_day = (int)(seconds - days * 86400);

  pai__date_of(days, &year, &month, &day);
  (void)snprintf(out, PAI__TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d%s",
                 (int)year, (int)month, (int)day, of_day / 3600,
                 of_day / 60 % 60, of_day % 60, end);
  return out;
}
