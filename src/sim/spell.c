/* spell.c - times for people */
#include "sim/spell.h"

#include <inttypes.h>

#define SECOND INT64_C(1000000)
#define DAY 86400

static void put(pai__buf *out, int64_t n, const char *unit, int64_t more,
                const char *smaller)
{
  pai__buf_printf(out, "%" PRId64 " %s", n, unit);
  if (more != 0)
    pai__buf_printf(out, " %" PRId64 " %s", more, smaller);
}

void pai__spell_span(pai__buf *out, pai_time span)
{
  int64_t s = span / SECOND + (span % SECOND >= SECOND / 2), minutes;

  if (s < 180) {
    put(out, s, "s", 0, "");
    return;
  }
  minutes = (s + 30) / 60;
  if (minutes < 60)
    put(out, minutes, "min", 0, "");
  else if (minutes < 48 * 60)
    put(out, minutes / 60, "h", minutes % 60, "min");
  else
    put(out, minutes / 1440, "d", minutes % 1440 / 60, "h");
}

/* Days since 1970 as a date of the Gregorian calendar: years begin in March,
 * so that leap days come last. */
static void put_date(pai__buf *out, int64_t days)
{
  int64_t z = days + 719468, era = z / 146097, doe = z % 146097;
  int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  int64_t mp = (5 * doy + 2) / 153, month = mp < 10 ? mp + 3 : mp - 9;

  pai__buf_printf(out, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 " ",
                  yoe + era * 400 + (month <= 2), month,
                  doy - (153 * mp + 2) / 5 + 1);
}

/* From the year 2000 on. */
bool pai__spell_is_date(pai_time now)
{
  return now >= INT64_C(946684800) * SECOND;
}

void pai__spell_at(pai__buf *out, pai_time now, pai_time t)
{
  pai__buf_str(out, pai__spell_is_date(now) ? "at " : "in ");
  pai__spell_time(out, now, t);
}

void pai__spell_time(pai__buf *out, pai_time now, pai_time t)
{
  int64_t s = t / SECOND;

  if (!pai__spell_is_date(now)) {
    pai__spell_span(out, t - now);
    return;
  }
  if (s / DAY != now / SECOND / DAY)
    put_date(out, s / DAY);
  pai__buf_printf(out, "%02" PRId64 ":%02" PRId64, s % DAY / 3600,
                  s % 3600 / 60);
}

void pai__spell_count(pai__buf *out, uint64_t n, const char *thing)
{
  pai__buf_printf(out, "%" PRIu64 " %s%s", n, thing, n != 1 ? "s" : "");
}
