/*
 * arrivals.c - jobs that might come, like those that came
 *
 * Some that came one after the other come so again, with the times between
 * them, since jobs come in crowds; then some others do.
 */
#include "sim/arrivals.h"

enum { CROWD = 16 };

static void choose(pai__arrivals *a)
{
  uint32_t n = a->h->ncame;

  if (a->left == 0 || a->at + 1 >= n) {
    a->at = 1 + (uint32_t)pai__prng_below(&a->prng, n - 1);
    a->left = CROWD;
  } else {
    a->at++;
  }
  a->left--;
}

static void wait_for_it(pai__arrivals *a, pai_time now)
{
  pai_time gap;

  choose(a);
  gap = pai__came_at(a->h, a->at)->time - pai__came_at(a->h, a->at - 1)->time;
  a->next = a->count < PAI__MOST_ARRIVALS && gap < INT64_MAX - now
              ? now + (gap > 0 ? gap : 0)
              : INT64_MAX;
}

void pai__arrivals_init(pai__arrivals *a, const pai_history *h, pai_time now,
                        uint64_t seed)
{
  *a = (pai__arrivals){ .h = h, .prng = { seed }, .next = INT64_MAX };
  if (h == NULL || h->ncame < PAI__ENOUGH)
    return;
  wait_for_it(a, now);
  /* The last one came some time ago, nobody knows how much of the gap. */
  if (a->next != INT64_MAX && a->next > now)
    a->next =
      now + (pai_time)pai__prng_below(&a->prng, (uint64_t)(a->next - now));
}

void pai__arrivals_take(pai__arrivals *a, pai_request *out)
{
  *out = pai__came_at(a->h, a->at)->request;
  out->id = PAI__UNBORN + a->count++;
  wait_for_it(a, a->next);
}
