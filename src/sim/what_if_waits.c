/*
 * what_if_waits.c - how much longer requests wait after some changes
 *
 * Future i before the changes and future i after them have the same jobs, which
 * take as long.  So each request is compared within each future, and the mean of
 * the middle half of these differences is told.  The difference of two medians is
 * another thing: they may be of futures that have nothing in common.  A mean of
 * all is mostly of the few futures in which queues grow for weeks.
 */
#include "sim/what_if.h"

#include <stdlib.h>

/* --- pairs ---------------------------------------------------------------- */

/* What does not start within the horizon counts as long as that, in both. */
static pai_time within(const pai_forecast *f, pai_time wait)
{
  return wait < f->horizon ? wait : f->horizon;
}

static int by_time(const void *a, const void *b)
{
  pai_time x = *(const pai_time *)a, y = *(const pai_time *)b;

  return (x > y) - (x < y);
}

static pai_time middle(pai_time *list, uint32_t n)
{
  uint32_t from = n / 4;
  pai_time count = n - 2 * from, mean = 0, rest = 0;

  if (count <= 0)
    return 0;
  qsort(list, n, sizeof(*list), by_time);
  for (uint32_t i = from; i < n - from; i++) {
    mean += list[i] / count;
    rest += list[i] % count;
  }
  return mean + rest / count;
}

int pai__pair_waits(pai_what_if *w)
{
  const pai_forecast *f = w->before;
  pai_time *pairs;

  if (f->nwaits == 0)
    return PAI_OK;
  w->longer = pai__zalloc(&w->alloc, f->nwaits * sizeof(*w->longer));
  pairs = pai__zalloc(&w->alloc, f->runs * sizeof(*pairs));
  for (uint32_t i = 0; w->longer != NULL && pairs != NULL && i < f->nwaits;
       i++) {
    const pai__fwait *a = &f->waits[i];
    const pai__fwait *b = pai__forecast_find(w->after, a->id);

    if (b == NULL)
      continue;
    for (uint32_t k = 0; k < f->runs; k++)
      pairs[k] = within(f, b->waits[k]) - within(f, a->waits[k]);
    w->longer[i] = middle(pairs, f->runs);
  }
  if (pairs != NULL)
    pai__free(&w->alloc, pairs, f->runs * sizeof(*pairs));
  return w->longer != NULL && pairs != NULL ? PAI_OK : PAI_ENOMEM;
}

/* --- counts --------------------------------------------------------------- */

static pai_time wait_of(const pai_forecast *f, const pai__fwait *w)
{
  return w->p50 != INT64_MAX ? within(f, w->p50 - f->now) : f->horizon;
}

pai_time pai__waits_longer(const pai_what_if *w, const pai__fwait *before)
{
  pai_time longer = w->longer[before - w->before->waits];
  pai_time wait = wait_of(w->before, before);

  return longer > -wait ? longer : -wait;
}

int pai__compare_starts(const pai_what_if *w, const pai__fwait *before,
                        const pai__fwait *after)
{
  pai_time a = before->p50, b = after->p50, least = 1000000;
  pai_time longer = pai__waits_longer(w, before);

  if (a == INT64_MAX || b == INT64_MAX)
    return (b == INT64_MAX) - (a == INT64_MAX);
  if ((a - w->before->now) / 100 > least)
    least = (a - w->before->now) / 100;
  return longer > least ? 1 : longer < -least ? -1 : 0;
}

/* Does it start some day in both?  Then it counts in both. */
static bool in_both(const pai__fwait *a, const pai__fwait *b)
{
  return b != NULL && a->started != 0 && b->started != 0;
}

static void add_wait(pai_what_if *w, const pai__fwait *a, int64_t n,
                     pai_time *rest)
{
  pai_time before = wait_of(w->before, a);
  pai_time after = before + pai__waits_longer(w, a);

  w->view.wait_before += before / n;
  w->view.wait_after += after / n;
  rest[0] += before % n;
  rest[1] += after % n;
}

/* Sums of waits cannot overflow: they are divided before. */
static void count_means(pai_what_if *w)
{
  const pai_forecast *f = w->before;
  pai_time rest[2] = { 0, 0 };
  int64_t n = 0;

  for (uint32_t i = 0; i < f->nwaits; i++)
    n += in_both(&f->waits[i], pai__forecast_find(w->after, f->waits[i].id));
  if (n == 0)
    return;
  for (uint32_t i = 0; i < f->nwaits; i++)
    if (in_both(&f->waits[i], pai__forecast_find(w->after, f->waits[i].id)))
      add_wait(w, &f->waits[i], n, rest);
  w->view.wait_before += rest[0] / n;
  w->view.wait_after += rest[1] / n;
}

void pai__count_waits(pai_what_if *w)
{
  pai_what_if_view *v = &w->view;

  for (uint32_t i = 0; i < w->before->nwaits; i++) {
    const pai__fwait *a = &w->before->waits[i];
    const pai__fwait *b = pai__forecast_find(w->after, a->id);
    int order = b != NULL ? pai__compare_starts(w, a, b) : 0;

    if (b == NULL)
      continue;
    v->sooner += order < 0;
    v->same += order == 0;
    v->never += order > 0 && b->p50 == INT64_MAX;
    v->later += order > 0 && b->p50 != INT64_MAX;
  }
  count_means(w);
}
