/* since.c - a time in the past, as people write it */
#include "since.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_DIGITS = 6, DAY_S = 86400 };

static int64_t unit_ms(char unit)
{
  switch (unit) {
  case 's': return 1000;
  case 'm': return 60 * 1000;
  case 'h': return 3600 * 1000;
  case 'd': return DAY_S * INT64_C(1000);
  case 'w': return 7 * DAY_S * INT64_C(1000);
  default: return 0;
  }
}

static bool read_age(int64_t *ms, const char *word)
{
  *ms = 0;
  do {
    size_t digits = strspn(word, "0123456789");
    int64_t number = 0, unit = unit_ms(word[digits]);

    if (digits == 0 || digits > MOST_DIGITS || unit == 0)
      return false;
    for (size_t i = 0; i < digits; i++)
      number = number * 10 + (word[i] - '0');
    *ms -= number * unit;
    word += digits + 1;
  } while (*word != '\0');
  return true;
}

/* Days from 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day)
{
  int64_t era, of_era, of_year;

  year -= month <= 2;
  era = year / 400;
  of_era = year - era * 400;
  of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
         719468;
}

/* So many digits at most, and at least one; *at goes behind them. */
static bool read_digits(const char **at, int most, int *out)
{
  int n = 0;

  *out = 0;
  for (; n < most && **at >= '0' && **at <= '9'; n++, (*at)++)
    *out = *out * 10 + (**at - '0');
  return n > 0;
}

/* The same behind this character. */
static bool read_part(const char **at, char before, int *out)
{
  if (**at != before)
    return false;
  (*at)++;
  return read_digits(at, 2, out);
}

/* "Z", "+02:00", or "": this machine's. */
static bool read_zone(int64_t *seconds, const char *zone, struct tm *tm)
{
  const char *rest;
  int hours, minutes;

  if (zone[0] == '\0') {
    tm->tm_isdst = -1;
    *seconds = (int64_t)mktime(tm);
    return *seconds != -1;
  }
  *seconds = days_of(tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday) * DAY_S +
             tm->tm_hour * 3600 + tm->tm_min * 60 + tm->tm_sec;
  if (strcmp(zone, "Z") == 0)
    return true;
  rest = zone + 1;
  if ((zone[0] != '+' && zone[0] != '-') || strlen(zone) != 6 ||
      !read_digits(&rest, 2, &hours) || !read_part(&rest, ':', &minutes))
    return false;
  *seconds -= (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

/* Nothing, "T10:30" or "T10:30:00"; the rest is the zone. */
static bool read_clock(struct tm *tm, const char **at)
{
  if (**at == '\0')
    return true;
  if (!(read_part(at, **at == ' ' ? ' ' : 'T', &tm->tm_hour) &&
        read_part(at, ':', &tm->tm_min)) ||
      (**at == ':' && !read_part(at, ':', &tm->tm_sec)))
    return false;
  return tm->tm_hour >= 0 && tm->tm_hour < 24 && tm->tm_min >= 0 &&
         tm->tm_min < 60 && tm->tm_sec >= 0 && tm->tm_sec < 61;
}

static bool read_date(int64_t *ms, const char *word)
{
  struct tm tm = { 0 };

  if (!read_digits(&word, 4, &tm.tm_year) ||
      !read_part(&word, '-', &tm.tm_mon) ||
      !read_part(&word, '-', &tm.tm_mday) || tm.tm_year < 1971 ||
      tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31)
    return false;
  tm.tm_year -= 1900;
  tm.tm_mon--;
  if (!read_clock(&tm, &word) || !read_zone(ms, word, &tm))
    return false;
  *ms *= 1000;
  return *ms > 0;
}

bool cli_read_since(int64_t *ms, const char *word)
{
  return read_age(ms, word) || read_date(ms, word);
}
