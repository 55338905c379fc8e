/* timers.c - what is to happen when */
#include "sim/timers.h"

void pai__timers_dispose(pai__timers *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->heap, t->cap * sizeof(*t->heap));
  *t = (pai__timers){ 0 };
}

static bool is_before(const pai__timer *a, const pai__timer *b)
{
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put(pai__timers *t, size_t i, const pai__timer *x)
{
  t->heap[i] = *x;
  *x->at = (uint32_t)i;
}

static void rise(pai__timers *t, size_t i, const pai__timer *x)
{
  while (i > 0 && is_before(x, &t->heap[(i - 1) / 4])) {
    put(t, i, &t->heap[(i - 1) / 4]);
    i = (i - 1) / 4;
  }
  put(t, i, x);
}

/* The first of the entries below i, or len. */
static size_t first_below(const pai__timers *t, size_t i)
{
  size_t first = 4 * i + 1, end = first + 4;

  end = end < t->len ? end : t->len;
  for (size_t k = first + 1; k < end; k++)
    if (is_before(&t->heap[k], &t->heap[first]))
      first = k;
  return first < t->len ? first : t->len;
}

static void sink(pai__timers *t, size_t i, const pai__timer *x)
{
  size_t below = first_below(t, i);

  while (below < t->len && is_before(&t->heap[below], x)) {
    put(t, i, &t->heap[below]);
    i = below;
    below = first_below(t, i);
  }
  put(t, i, x);
}

void pai__timer_drop(pai__timers *t, uint32_t *at)
{
  size_t i = *at;
  pai__timer last;

  if (*at == PAI__NO_TIMER)
    return;
  t->nodes -= pai__timer_kind_of(&t->heap[i]) == PAI__TIMER_NODE;
  *at = PAI__NO_TIMER;
  last = t->heap[--t->len];
  if (i == t->len)
    return;
  if (i > 0 && is_before(&last, &t->heap[(i - 1) / 4]))
    rise(t, i, &last);
  else
    sink(t, i, &last);
}

int pai__timer_set(pai__timers *t, const pai_alloc *alloc, uint32_t *at,
                   enum pai__timer_kind kind, uint32_t who, pai_time time)
{
  pai__timer x = { time, (uint64_t)kind << 56 | ++t->numbers, at, who };

  pai__timer_drop(t, at);
  if (PAI__VEC_ROOM(alloc, t->heap, t->len, t->cap) < 0)
    return PAI_ENOMEM;
  t->nodes += kind == PAI__TIMER_NODE;
  rise(t, t->len++, &x);
  return PAI_OK;
}
