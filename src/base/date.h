/* date.h - internal: converts days since 1970-01-01 to Gregorian dates and
 * back */
#ifndef PAI_SRC_BASE_DATE_H
#define PAI_SRC_BASE_DATE_H

#include "base/base.h"

/* Division that rounds down, where / rounds to 0. */
static inline int64_t pai__floor_div(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

/* Returns the days from 1970-01-01 to a date; month may be outside of 1 to 12.
 * Years begin in March here, so that the leap day is the last one. */
static inline int64_t pai__date_number(int64_t year, int64_t month,
                                       int64_t day)
{
  int64_t m = month - 3, years = pai__floor_div(m, 12);

  year += years;
  m -= years * 12;
  return year * 365 + pai__floor_div(year, 4) - pai__floor_div(year, 100) +
         pai__floor_div(year, 400) + (m * 153 + 2) / 5 + day - 1 - 719468;
}

/* The same with a check: month and day count from 1.  False: no such day. */
bool pai__date_days(int64_t year, int64_t month, int64_t day, int64_t *days);
void pai__date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day);

/* Writes seconds since the epoch, as "2026-01-02T03:04:05" and `end`. */
enum { PAI__TIME_TEXT = 48 };
const char *pai__time_text(char out[PAI__TIME_TEXT], int64_t seconds,
                           const char *end);

#endif
