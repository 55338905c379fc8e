/*
 * arrivals.c - jobs that might come, like those that came
 *
 * Some that came one after the other come so again, with the times between
 * them, since jobs come in crowds; then some others do.  Those times are as if
 * all hours were alike: at night they are longer.
 */
#include "sim/arrivals.h"

enum { CROWD = 16, KNOWN = 64 };

/* Seconds that somebody looked; with less, a crowd is taken for a habit. */
#define LOOKED (UINT64_C(24) * 3600)

bool pai__arrivals_known(const pai_history *h)
{
  return h != NULL && h->ncame >= KNOWN &&
         pai__hours_seen(&h->hours) >= LOOKED;
}

/* --- what they are like --------------------------------------------------- */

/* Nothing has come for longer than usual: that is a gap, too, before one that
 * came long ago. */
static void add_silence(pai__coming *c, pai_time now)
{
  uint32_t last = c->h->ncame - 1;
  pai_time silence =
    pai__rhythm_even(&c->rhythm, pai__came_at(c->h, last)->time, now);
  pai_time sum = 0;

  for (uint32_t i = 0; i < c->n; i++)
    sum += c->gaps[i] / c->n;
  if (silence > sum)
    c->gaps[c->n++] = silence;
}

void pai__coming_init(pai__coming *c, const pai_history *h, pai_time now)
{
  c->h = h;
  c->n = 0;
  c->like = h != NULL ? h->ncame : 0;
  if (h == NULL || h->ncame < PAI__ENOUGH)
    return;
  pai__hours_rhythm(&h->hours, &c->rhythm);
  for (uint32_t i = 1; i < h->ncame; i++)
    c->gaps[c->n++] = pai__rhythm_even(
      &c->rhythm, pai__came_at(h, i - 1)->time, pai__came_at(h, i)->time);
  add_silence(c, now);
}

/* --- one future ----------------------------------------------------------- */

static void choose(pai__arrivals *a)
{
  uint32_t n = a->coming->n;

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
      ? pai__rhythm_after(&a->coming->rhythm, now, a->coming->gaps[a->at])
      : INT64_MAX;
}

void pai__arrivals_init(pai__arrivals *a, const pai__coming *c, pai_time now,
                        uint64_t seed)
{
  *a = (pai__arrivals){ .coming = c, .prng = { seed }, .next = INT64_MAX };
  if (c != NULL && c->n != 0)
    wait_for_it(a, now);
}

void pai__arrivals_take(pai__arrivals *a, pai_request *out)
{
  const pai__coming *c = a->coming;

  *out = pai__came_at(c->h, (a->at + 1) % c->like)->request;
  out->id = PAI__UNBORN + a->count++;
  wait_for_it(a, a->next);
}
