/* hours.c - in which hours of the week how many come, and time that goes by it
 *
 * An hour's part is that of its hour of the day, times that of its day: a week
 * has too many hours to know each of them.
 */
#include "sim/hours.h"

enum {
  DAYS = 7,
  DAY_HOURS = 24,
  DOUBT = 16, /* so many that came as in the mean are added to each part */
  LEAST = PAI__USUAL / 32,
  MOST = PAI__USUAL * 32
};

#define SECOND INT64_C(1000000)
#define HOUR (INT64_C(3600) * SECOND)
#define WEEK (PAI__HOURS * HOUR)

/* Of less than two days nothing is known of hours. */
#define ENOUGH (UINT64_C(2) * DAY_HOURS * 3600)

/* What is older than about so long is half forgotten: 16 weeks. */
#define REMEMBERED (UINT64_C(16) * PAI__HOURS * 3600)

/* Also of what is less than 0. */
static uint32_t hour_of(pai_time t)
{
  int64_t hour = t / HOUR - (t % HOUR < 0);

  return (uint32_t)((hour % PAI__HOURS + PAI__HOURS) % PAI__HOURS);
}

/* The time that is left of the hour. */
static pai_time left_of(pai_time t)
{
  int64_t into = t % HOUR;

  return HOUR - (into < 0 ? into + HOUR : into);
}

uint64_t pai__hours_seen(const pai__hours *hours)
{
  uint64_t n = 0;

  for (int i = 0; i < PAI__HOURS; i++)
    n += hours->seconds[i];
  return n;
}

static void forget_half(pai__hours *hours)
{
  for (int i = 0; i < PAI__HOURS; i++) {
    hours->came[i] /= 2;
    hours->seconds[i] /= 2;
  }
}

/* Parts of seconds are kept until they are one. */
static void look(pai__hours *hours, uint32_t hour, pai_time span)
{
  uint64_t us = hours->rest + (uint64_t)span;

  hours->seconds[hour] += us / (uint64_t)SECOND;
  hours->rest = us % (uint64_t)SECOND;
}

void pai__hours_note(pai__hours *hours, pai_time last, pai_time now)
{
  pai_time weeks;

  hours->came[hour_of(now)]++;
  if (now <= last || last < now - INT64_MAX / 2)
    return;
  weeks = (now - last) / WEEK;
  last += weeks * WEEK;
  if (weeks > 100) /* more say no more: they are forgotten */
    weeks = 100;
  for (int i = 0; i < PAI__HOURS; i++)
    hours->seconds[i] += 3600 * (uint64_t)weeks;
  while (last < now) {
    pai_time span = left_of(last) < now - last ? left_of(last) : now - last;

    look(hours, hour_of(last), span);
    last += span;
  }
  while (pai__hours_seen(hours) > REMEMBERED)
    forget_half(hours);
}

/* --- parts ---------------------------------------------------------------- */

typedef struct part {
  uint64_t came, expected;
} part;

static uint32_t weight_of(const part *p)
{
  return (uint32_t)((p->came + DOUBT) * PAI__USUAL / (p->expected + DOUBT));
}

/* How many were to be expected in an hour if all are alike. */
static uint64_t expected(const pai__hours *hours, int i, uint64_t came,
                         uint64_t seconds)
{
  return seconds != 0 ? came * hours->seconds[i] / seconds : 0;
}

static uint32_t bounded(uint64_t weight)
{
  return (uint32_t)(weight < LEAST ? LEAST : weight > MOST ? MOST : weight);
}

void pai__hours_rhythm(const pai__hours *hours, pai__rhythm *out)
{
  part hour[DAY_HOURS] = { { 0, 0 } }, day[DAYS] = { { 0, 0 } };
  uint64_t came = 0, seconds = pai__hours_seen(hours);

  for (int i = 0; i < PAI__HOURS; i++) {
    came += hours->came[i];
    out->weights[i] = PAI__USUAL;
  }
  if (seconds < ENOUGH)
    return;
  for (int i = 0; i < PAI__HOURS; i++) {
    hour[i % DAY_HOURS].came += hours->came[i];
    hour[i % DAY_HOURS].expected += expected(hours, i, came, seconds);
  }
  for (int i = 0; i < PAI__HOURS; i++) {
    uint64_t n = expected(hours, i, came, seconds);

    day[i / DAY_HOURS].came += hours->came[i];
    day[i / DAY_HOURS].expected +=
      n * weight_of(&hour[i % DAY_HOURS]) / PAI__USUAL;
  }
  for (int i = 0; i < PAI__HOURS; i++)
    out->weights[i] = bounded((uint64_t)weight_of(&hour[i % DAY_HOURS]) *
                              weight_of(&day[i / DAY_HOURS]) / PAI__USUAL);
}

/* --- time ----------------------------------------------------------------- */

/* No hour is longer than MOST / PAI__USUAL of them. */
static pai_time evened(pai_time span, uint32_t weight)
{
  return span * weight / PAI__USUAL;
}

static pai_time week_of(const pai__rhythm *r)
{
  pai_time week = 0;

  for (int i = 0; i < PAI__HOURS; i++)
    week += evened(HOUR, r->weights[i]);
  return week;
}

pai_time pai__rhythm_even(const pai__rhythm *r, pai_time from, pai_time to)
{
  pai_time even = 0, weeks;

  if (to <= from)
    return 0;
  if (from < to - INT64_MAX / 64)
    return INT64_MAX;
  weeks = (to - from) / WEEK;
  even = weeks * week_of(r);
  from += weeks * WEEK;
  while (from < to) {
    pai_time span = left_of(from) < to - from ? left_of(from) : to - from;

    even += evened(span, r->weights[hour_of(from)]);
    from += span;
  }
  return even;
}

pai_time pai__rhythm_after(const pai__rhythm *r, pai_time from, pai_time even)
{
  pai_time week = week_of(r), weeks = even / week;

  if (weeks > INT64_MAX / WEEK / 4 || from > INT64_MAX / 4)
    return INT64_MAX;
  from += weeks * WEEK;
  even -= weeks * week;
  for (;;) {
    uint32_t weight = r->weights[hour_of(from)];
    pai_time whole = evened(left_of(from), weight);

    if (even < whole || even == 0)
      return from + even * PAI__USUAL / weight;
    even -= whole;
    from += left_of(from);
  }
}
