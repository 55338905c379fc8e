/* quantity.c - parsing numbers, durations, sizes and dates of options */
#include "quantity.h"

#include "base/date.h"

#include <string.h>
#include <time.h>

enum { DAY_S = 86400 };

const char *cli_read_decimal(const char *text, unsigned digits, int64_t *out)
{
  bool point = false;

  *out = 0;
  if (*text < '0' || *text > '9')
    return NULL;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
    if (*text == '.') {
      point = true;
      continue;
    }
    if ((point && digits-- == 0) || *out > (INT64_MAX - 9) / 10)
      return NULL;
    *out = *out * 10 + (*text - '0');
  }
  for (; digits > 0; digits--) {
    if (*out > INT64_MAX / 10)
      return NULL;
    *out *= 10;
  }
  return text[-1] != '.' ? text : NULL;
}

bool cli_read_span(const char *text, int64_t *us)
{
  static const char units[] = "smhdw";
  static const int64_t seconds[] = { 1, 60, 3600, DAY_S, 7 * DAY_S };
  int64_t part;

  *us = 0;
  do {
    const char *rest = cli_read_decimal(text, 6, &part), *unit = units;

    if (rest == NULL ||
        (*rest == '\0' ? *us != 0 : (unit = strchr(units, *rest)) == NULL) ||
        part > INT64_MAX / 8 / seconds[unit - units])
      return false;
    *us += part * seconds[unit - units];
    if (*us > INT64_MAX / 4)
      return false;
    text = rest + (*rest != '\0');
  } while (*text != '\0');
  return true;
}

bool cli_read_bytes(const char *text, size_t len, int64_t *out)
{
  static const char units[] = "KMGT";
  const char *rest = cli_read_decimal(text, 0, out), *unit;

  if (rest == NULL || rest > text + len)
    return false;
  if (rest == text + len)
    return true;
  unit = strchr(units, *rest);
  if (unit == NULL || rest + 1 != text + len || *out > INT64_C(1) << 20)
    return false;
  *out <<= 10 * (unit - units + 1);
  return true;
}

/* --- times in the past --------------------------------------------------- */

/* Reads one to `most` digits and advances *at behind them. */
static bool read_digits(const char **at, int most, int *out)
{
  int n = 0;

  *out = 0;
  for (; n < most && **at >= '0' && **at <= '9'; n++, (*at)++)
    *out = *out * 10 + (**at - '0');
  return n > 0;
}

/* The same after the character `before`. */
static bool read_part(const char **at, char before, int *out)
{
  if (**at != before)
    return false;
  (*at)++;
  return read_digits(at, 2, out);
}

/* Parses "Z", "+02:00", or "" for this machine's zone. */
static bool read_zone(int64_t *seconds, const char *zone, struct tm *tm)
{
  const char *rest;
  int hours, minutes;

  if (zone[0] == '\0') {
    tm->tm_isdst = -1;
    *seconds = (int64_t)mktime(tm);
    return *seconds != -1;
  }
  *seconds =
    pai__date_number(tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday) * DAY_S +
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

/* Parses "", "T10:30" or "T10:30:00"; the rest is the zone. */
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
  size_t len = strlen(word);
  int64_t us;

  if (len > 0 && (word[len - 1] < '0' || word[len - 1] > '9') &&
      cli_read_span(word, &us)) {
    *ms = -us / 1000;
    return true;
  }
  return read_date(ms, word);
}
