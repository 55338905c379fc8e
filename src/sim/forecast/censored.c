/* censored.c - survival curves from ended and running jobs (Kaplan-Meier) */
#include "sim/forecast/forecast.h"

#include <stdlib.h>

#define ONE (UINT64_C(1) << 32)

void pai__curves_init(pai__curves *c, const pai_alloc *alloc)
{
  *c = (pai__curves){ .alloc = *alloc };
  pai__map_init(&c->by_ring, &c->alloc);
}

void pai__curves_dispose(pai__curves *c)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&c->by_ring, &i)) != NULL;)
    pai__free(&c->alloc, e->value, sizeof(pai__curve));
  pai__map_dispose(&c->by_ring);
}

/* --- curves -------------------------------------------------------------- */

static pai__curve *find(const pai__curves *c, const pai__ring *ring)
{
  return pai__map_get(&c->by_ring, (const char *)&ring, sizeof(ring));
}

static pai__curve *find_or_make(pai__curves *c, const pai__ring *ring)
{
  pai__curve *x = find(c, ring);

  if (x != NULL)
    return x;
  x = pai__zalloc(&c->alloc, sizeof(*x));
  if (x == NULL)
    return NULL;
  x->count = ring->count;
  if (pai__map_set(&c->by_ring, (const char *)&ring, sizeof(ring), x) < 0) {
    pai__free(&c->alloc, x, sizeof(*x));
    return NULL;
  }
  return x;
}

/* A full ring has forgotten the jobs that ended before its oldest one.  A job
 * that started before that is left out: the jobs that started with it are not
 * known. */
static bool belongs(const pai__ring *r, pai_time since)
{
  return r->count < PAI__RING || (pai__ring_ended(r, 0) != PAI__UNKNOWN &&
                                  since >= pai__ring_ended(r, 0));
}

/* Keeps a sample in which each age has the same probability. */
static void add_age(pai__curve *x, pai_time age)
{
  uint64_t at = x->seen++;

  if (x->running < PAI__MOST_RUNNING) {
    x->ages[x->running++] = age;
    return;
  }
  at = pai__draw_random(0, 0, at, 0) % x->seen;
  if (at < PAI__MOST_RUNNING)
    x->ages[at] = age;
}

int pai__curves_add(pai__curves *c, const pai__levels *levels, pai_time since,
                    pai_time now)
{
  pai_time age = now > since ? now - since : 0;
  bool believed = false;

  if (age > PAI__LONGEST)
    age = PAI__LONGEST;
  for (int i = PAI_ALIKE_NAME; i >= PAI_ALIKE_ANY; i--) {
    const pai__ring *r = levels->rings[i];
    pai_time as = i == PAI_ALIKE_ANY && levels->estimate > 0
                    ? pai__part_of(age, levels->estimate)
                    : age;
    pai__curve *x;

    if (r == NULL || r->count < PAI__ENOUGH)
      continue;
    if (!believed) {
      believed = true;
      c->running++;
      c->outlast += pai__ring_beyond(r, as) == r->count;
    }
    if (!belongs(r, since))
      continue;
    x = find_or_make(c, r);
    if (x == NULL)
      return PAI_ENOMEM;
    add_age(x, as);
  }
  return PAI_OK;
}

/* One more job with an unlimited duration is added: so without running jobs
 * each of n durations has a probability of 1 / (n + 1). */
static void make(pai__curve *x, const pai__ring *r)
{
  uint64_t longer = ONE;
  uint32_t younger = 0;

  qsort(x->ages, x->running, sizeof(*x->ages), pai__by_time);
  for (uint32_t i = 0; i < r->count; i++) {
    uint64_t at_risk;

    while (younger < x->running && x->ages[younger] < r->sorted[i])
      younger++;
    at_risk = (uint64_t)(r->count - i) + (x->running - younger) + 1;
    longer = longer * (at_risk - 1) / at_risk;
    x->longer[i] = longer;
  }
}

void pai__curves_make(pai__curves *c)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&c->by_ring, &i)) != NULL;) {
    const pai__ring *r;

    memcpy(&r, e->key, sizeof(r));
    make(e->value, r);
  }
}

void pai__curves_find(const pai__curves *c, pai__levels *levels)
{
  for (int i = PAI_ALIKE_ANY; i <= PAI_ALIKE_NAME; i++)
    levels->curves[i] =
      levels->rings[i] != NULL ? find(c, levels->rings[i]) : NULL;
}

/* --- drawing ------------------------------------------------------------- */

/* Draws a time longer than all ended jobs: from a running job that is older
 * (twice its age in the median), or from the longest duration. */
static pai_time pick_beyond(const pai__curve *c, pai_time last, pai_time ran,
                            uint64_t part)
{
  uint32_t n = c->running, older = 0, i, fraction;
  uint64_t at;
  pai_time base;

  if (last < ran)
    last = ran;
  while (older < n && c->ages[n - 1 - older] > last)
    older++;
  at = part * (older + 1);
  i = (uint32_t)(at >> 32);
  fraction = (uint32_t)at;
  if (i < older) {
    base = c->ages[n - older + i];
    return pai__far_beyond(base, fraction);
  }
  return fraction < UINT32_C(0x80000000)
           ? last
           : pai__far_beyond(last, (fraction - UINT32_C(0x80000000)) * 2);
}

pai_time pai__curve_pick(const pai__curve *c, const pai_time *list,
                         uint32_t count, pai_time ran, uint32_t random)
{
  uint32_t from = c->count - count, i = from;
  uint64_t all = from > 0 ? c->longer[from - 1] : ONE, above = all;
  uint64_t at = all * (UINT32_MAX - random) >> 32;

  for (; i < c->count && c->longer[i] > at; i++)
    above = c->longer[i];
  if (i == c->count)
    return pick_beyond(c, list[count - 1], ran,
                       above != 0 ? ((above - at) << 32) / (above + 1) : 0);
  /* the range between two durations is split between them */
  if (above - at > (above - c->longer[i]) / 2)
    return list[i - from];
  if (i > from)
    return list[i - from - 1];
  {
    uint64_t half = (above - c->longer[i]) / 2 + 1;
    pai_time span = list[0] - ran;

    return ran + (pai_time)((above - at) * 65536 / half) * (span >> 16);
  }
}
