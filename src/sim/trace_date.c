/* trace_date.c - dates; what names no zone is taken for UTC */
#include "sim/trace.h"

typedef struct pai__date {
  const char *s, *end;
  bool failed;
} pai__date;

/* So many digits. */
static int64_t digits(pai__date *d, unsigned count)
{
  int64_t value = 0;

  for (; count > 0 && d->s < d->end && *d->s >= '0' && *d->s <= '9'; count--)
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

/* Days since 1970-01-01: years begin in March, so that the leap day is the
 * last one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
  int64_t y = month <= 2 ? year - 1 : year;
  int64_t m = (month + 9) % 12;
  int64_t leaps = y / 4 - y / 100 + y / 400;

  return 365 * y + leaps + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
  static const int64_t days[] = { 31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31 };
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

  return days[month - 1] + (month == 2 && leap);
}

static pai_time read_clock(pai__date *d)
{
  int64_t seconds = below(d, digits(d, 2), 0, 24) * 3600;
  pai_time us = 0, worth = 100000;

  d->failed |= !take(d, ":");
  seconds += below(d, digits(d, 2), 0, 59) * 60;
  if (take(d, ":"))
    seconds += below(d, digits(d, 2), 0, 60);
  if (take(d, ".,"))
    for (; d->s < d->end && *d->s >= '0' && *d->s <= '9'; worth /= 10)
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
  int64_t year = digits(&d, 4), month, day;
  pai_time us;

  d.failed |= !take(&d, "-/");
  month = below(&d, digits(&d, 2), 1, 12);
  d.failed |= !take(&d, "-/");
  day = digits(&d, 2);
  if (d.failed || month < 1 || month > 12)
    return false;
  (void)below(&d, day, 1, month_days(year, month));
  us = days_of(year, month, day) * INT64_C(86400000000);
  if (take(&d, "T ")) {
    us += read_clock(&d);
    us -= read_zone(&d);
  }
  if (d.failed || d.s != d.end)
    return false;
  *out = us;
  return true;
}
