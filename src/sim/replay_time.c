/* replay_time.c - times of a log as people write and read them */
#include "base/duration.h"
#include "sim/replay.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

/* --- dates ---------------------------------------------------------------- */

/* Days from 1970-01-01 to a day of the proleptic Gregorian calendar: years are
 * counted from March, so that what leap years add is at their end. */
static int64_t days_of(int64_t year, int month, int day)
{
  int64_t y = month > 2 ? year : year - 1, era = (y >= 0 ? y : y - 399) / 400;
  int64_t of_era = y - era * 400;
  int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day;

  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
         719469;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day)
{
  int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  int64_t of_era = z - era * 146097;
  int64_t y =
    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
  int64_t m = (5 * of_year + 2) / 153;

  *day = (int)(of_year - (153 * m + 2) / 5) + 1;
  *month = (int)(m < 10 ? m + 3 : m - 9);
  *year = y + era * 400 + (*month <= 2);
}

/* Seconds, rounded down, and what is left of them. */
static int64_t parted(pai_time t, int64_t by, int64_t *rest)
{
  int64_t n = t / by;

  *rest = t % by;
  if (*rest < 0) {
    *rest += by;
    n--;
  }
  return n;
}

const char *pai__replay_show(bool dated, pai_time t, char *out)
{
  int64_t year, rest, days;
  int month, day;

  if (!dated) {
    (void)snprintf(out, PAI_REPLAY_TIME, "@%s%" PRIu64 ".%06" PRIu64,
                   t < 0 ? "-" : "",
                   (t < 0 ? 0 - (uint64_t)t : (uint64_t)t) / SECOND,
                   (t < 0 ? 0 - (uint64_t)t : (uint64_t)t) % SECOND);
    return out;
  }
  days = parted(t, DAY, &rest);
  date_of(days, &year, &month, &day);
  rest /= SECOND;
  (void)snprintf(out, PAI_REPLAY_TIME,
                 "%04" PRId64 "-%02d-%02d %02d:%02d:%02d", year, month, day,
                 (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
  return out;
}

const char *pai_replay_show_time(pai_replay *r, pai_time t, char *out)
{
  pai_time begin, end;

  if (out == NULL)
    return "";
  return pai__replay_show(
    pai_replay_range(r, &begin, &end, NULL) == PAI_OK && r->dated, t, out);
}

/* --- reading -------------------------------------------------------------- */

/* Just `n` digits; NULL: there are not. */
static const char *digits(const char *at, int n, int *out)
{
  *out = 0;
  for (; n > 0; n--, at++) {
    if (*at < '0' || *at > '9')
      return NULL;
    *out = *out * 10 + (*at - '0');
  }
  return at;
}

/* "Z", "+02:00", "+0200", "+02" or nothing. */
static const char *zone(const char *at, pai_time *out)
{
  int hours, minutes = 0, sign = *at == '-' ? -1 : 1;

  *out = 0;
  if (*at == '\0')
    return at;
  if (*at == 'Z' || *at == 'z')
    return at + 1;
  if (*at != '+' && *at != '-')
    return NULL;
  at = digits(at + 1, 2, &hours);
  if (at != NULL && *at == ':')
    at++;
  if (at != NULL && *at != '\0')
    at = digits(at, 2, &minutes);
  if (at == NULL || hours > 23 || minutes > 59)
    return NULL;
  *out = sign * (hours * 3600 + minutes * 60) * SECOND;
  return at;
}

static const char *clock_time(const char *at, pai_time *out)
{
  int hours, minutes;
  pai_time rest = 0;

  at = digits(at, 2, &hours);
  if (at == NULL || *at != ':')
    return NULL;
  at = digits(at + 1, 2, &minutes);
  if (at != NULL && *at == ':') {
    const char *begin = at + 1;

    at = pai__duration_seconds(begin, &rest);
    if (at != NULL && (at - begin < 2 || (begin[2] != '.' && at != begin + 2)))
      at = NULL;
  }
  if (at == NULL || hours > 23 || minutes > 59 || rest >= 61 * SECOND)
    return NULL;
  *out = (hours * 3600 + minutes * 60) * SECOND + rest;
  return at;
}

static bool date(const char *at, pai_time *out)
{
  static const int lengths[] = {
    31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
  };
  int year, month, day;
  int64_t y;
  int m, d;
  pai_time of_day = 0, east = 0;

  at = digits(at, 4, &year);
  at = at != NULL && *at == '-' ? digits(at + 1, 2, &month) : NULL;
  at = at != NULL && *at == '-' ? digits(at + 1, 2, &day) : NULL;
  if (at == NULL || month < 1 || month > 12 || day < 1 ||
      day > lengths[month - 1])
    return false;
  date_of(days_of(year, month, day), &y, &m, &d);
  if (d != day) /* 29 February of a year that has none */
    return false;
  if (*at == ' ' || *at == 'T' || *at == 't')
    at = clock_time(at + 1, &of_day);
  if (at != NULL && *at == ' ')
    at++;
  at = at != NULL ? zone(at, &east) : NULL;
  *out = days_of(year, month, day) * DAY + of_day - east;
  return at != NULL && *at == '\0';
}

static bool read_time(const pai_replay *r, const char *text, pai_time *out)
{
  bool minus;
  const char *end = NULL;

  if (strcmp(text, "begin") == 0 || strcmp(text, "end") == 0) {
    *out = text[0] == 'b' ? r->begin : r->end;
    return true;
  }
  minus = text[0] == '-' || (text[0] == '@' && text[1] == '-');
  if (text[0] == '@')
    end = pai__duration_seconds(text + 1 + minus, out);
  else if (text[0] == '+' || minus)
    end = pai__duration_read(text + 1, out);
  else
    return date(text, out);
  if (end == NULL || *end != '\0')
    return false;
  if (text[0] == '@')
    *out = minus ? -*out : *out;
  else
    *out = minus ? r->end - *out : r->begin + *out;
  return true;
}

int pai_replay_time(pai_replay *r, const char *text, pai_time *time,
                    pai_error **err)
{
  pai_time begin, end;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(text != NULL && time != NULL, err);
  *time = 0;
  rc = pai_replay_range(r, &begin, &end, err);
  if (rc < 0 || read_time(r, text, time))
    return rc;
  *time = 0;
  rc = pai__fail(err, PAI_EINVAL, "'%s' is no time", text);
  pai__error_help(err, "as 2026-05-01 14:05, @SECONDS, +2h behind the log's "
                       "beginning, or -30m before its end");
  return rc;
}
