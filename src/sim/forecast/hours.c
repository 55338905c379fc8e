/*
 * hours.c - arrivals by hour of the week, and simulated arrivals
 *
 * The rate of an hour of the week is the product of the rate of its hour of
 * the day and of its day: a week has too many hours to measure each.
 *
 * Simulated arrivals repeat sequences of recorded arrivals with their gaps,
 * since jobs come in bursts; then another sequence is chosen.  Gaps are in
 * even time, so they are longer at night.
 */
#include "sim/forecast/forecast.h"

enum {
  DAYS = 7,
  DAY_HOURS = 24,
  DOUBT = 16, /* arrivals at the mean rate that are added to each part */
  LEAST = PAI__USUAL / 32,
  MOST = PAI__USUAL * 32
};

#define SECOND INT64_C(1000000)
#define HOUR (INT64_C(3600) * SECOND)
#define WEEK (PAI__HOURS * HOUR)

/* Rates need two days of observation. */
#define ENOUGH (UINT64_C(2) * DAY_HOURS * 3600)

/* Observation time at which the counts are halved: 16 weeks. */
#define REMEMBERED (UINT64_C(16) * PAI__HOURS * 3600)

/* For times below 0, too. */
static uint32_t hour_of(pai_time t)
{
  int64_t hour = t / HOUR - (t % HOUR < 0);

  return (uint32_t)((hour % PAI__HOURS + PAI__HOURS) % PAI__HOURS);
}

/* Returns the time left in the hour. */
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
    hours->arrivals[i] /= 2;
    hours->seconds[i] /= 2;
  }
}

/* Keeps fractions of seconds until they add up. */
static void look(pai__hours *hours, uint32_t hour, pai_time span)
{
  uint64_t us = hours->rest + (uint64_t)span;

  hours->seconds[hour] += us / (uint64_t)SECOND;
  hours->rest = us % (uint64_t)SECOND;
}

void pai__hours_note(pai__hours *hours, pai_time last, pai_time now)
{
  pai_time weeks;

  hours->arrivals[hour_of(now)]++;
  if (now <= last || last < now - INT64_MAX / 2)
    return;
  weeks = (now - last) / WEEK;
  last += weeks * WEEK;
  if (weeks > 100) /* more weeks would not change the rates */
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

/* --- rates --------------------------------------------------------------- */

typedef struct part {
  uint64_t arrivals, expected;
} part;

static uint32_t weight_of(const part *p)
{
  return (uint32_t)((p->arrivals + DOUBT) * PAI__USUAL /
                    (p->expected + DOUBT));
}

/* Returns the number of arrivals expected in an hour at a constant rate. */
static uint64_t expected(const pai__hours *hours, int i, uint64_t arrivals,
                         uint64_t seconds)
{
  return seconds != 0 ? arrivals * hours->seconds[i] / seconds : 0;
}

static uint32_t bounded(uint64_t weight)
{
  return (uint32_t)(weight < LEAST ? LEAST : weight > MOST ? MOST : weight);
}

void pai__hours_rhythm(const pai__hours *hours, pai__rhythm *out)
{
  part hour[DAY_HOURS] = { { 0, 0 } }, day[DAYS] = { { 0, 0 } };
  uint64_t arrivals = 0, seconds = pai__hours_seen(hours);

  for (int i = 0; i < PAI__HOURS; i++) {
    arrivals += hours->arrivals[i];
    out->weights[i] = PAI__USUAL;
  }
  if (seconds < ENOUGH)
    return;
  for (int i = 0; i < PAI__HOURS; i++) {
    hour[i % DAY_HOURS].arrivals += hours->arrivals[i];
    hour[i % DAY_HOURS].expected += expected(hours, i, arrivals, seconds);
  }
  for (int i = 0; i < PAI__HOURS; i++) {
    uint64_t n = expected(hours, i, arrivals, seconds);

    day[i / DAY_HOURS].arrivals += hours->arrivals[i];
    day[i / DAY_HOURS].expected +=
      n * weight_of(&hour[i % DAY_HOURS]) / PAI__USUAL;
  }
  for (int i = 0; i < PAI__HOURS; i++)
    out->weights[i] = bounded((uint64_t)weight_of(&hour[i % DAY_HOURS]) *
                              weight_of(&day[i / DAY_HOURS]) / PAI__USUAL);
}

/* --- even time ----------------------------------------------------------- */

/* The factor is at most MOST / PAI__USUAL. */
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

/* --- simulated arrivals -------------------------------------------------- */

enum { CROWD = 16, KNOWN = 64 };

/* Least observation time in seconds; with less, a burst would count as the
 * usual rate. */
#define LOOKED (UINT64_C(24) * 3600)

bool pai__arrivals_known(const pai_history *h)
{
  return h != NULL && h->narrivals >= KNOWN &&
         pai__hours_seen(&h->hours) >= LOOKED;
}

/* --- pattern ------------------------------------------------------------- */

/* Adds the time since the last arrival as a gap if it is longer than the
 * mean. */
static void add_silence(pai__arrival_pattern *c, pai_time now)
{
  uint32_t last = c->h->narrivals - 1;
  pai_time silence = pai__rhythm_even(
    &c->rhythm, pai__recorded_arrival_at(c->h, last)->time, now);
  pai_time sum = 0;

  for (uint32_t i = 0; i < c->n; i++)
    sum += c->gaps[i] / c->n;
  if (silence > sum)
    c->gaps[c->n++] = silence;
}

void pai__arrival_pattern_init(pai__arrival_pattern *c, const pai_history *h,
                               pai_time now)
{
  c->h = h;
  c->n = 0;
  c->like = h != NULL ? h->narrivals : 0;
  if (h == NULL || h->narrivals < PAI__ENOUGH)
    return;
  pai__hours_rhythm(&h->hours, &c->rhythm);
  for (uint32_t i = 1; i < h->narrivals; i++)
    c->gaps[c->n++] =
      pai__rhythm_even(&c->rhythm, pai__recorded_arrival_at(h, i - 1)->time,
                       pai__recorded_arrival_at(h, i)->time);
  add_silence(c, now);
}

/* --- arrivals of one future ---------------------------------------------- */

static void choose(pai__arrivals *a)
{
  uint32_t n = a->pattern->n;

  if (a->left == 0 || a->at + 1 >= n) {
    a->at = (uint32_t)pai__prng_below(&a->prng, n);
    a->left = CROWD;
  } else {
    a->at++;
  }
  a->left--;
}

static void wait_for_it(pai__arrivals *a, pai_time now)
{
  choose(a);
  a->next =
    a->count < PAI__MOST_ARRIVALS
      ? pai__rhythm_after(&a->pattern->rhythm, now, a->pattern->gaps[a->at])
      : INT64_MAX;
}

void pai__arrivals_init(pai__arrivals *a, const pai__arrival_pattern *c,
                        pai_time now, uint64_t seed)
{
  *a = (pai__arrivals){ .pattern = c, .prng = { seed }, .next = INT64_MAX };
  if (c != NULL && c->n != 0)
    wait_for_it(a, now);
}

void pai__arrivals_take(pai__arrivals *a, pai_request *out)
{
  const pai__arrival_pattern *c = a->pattern;

  *out = pai__recorded_arrival_at(c->h, (a->at + 1) % c->like)->request;
  out->id = PAI__UNBORN + a->count++;
  wait_for_it(a, a->next);
}
