/* ends.c - runs in the order of their expected ends */
#include "sched/start.h"

#include <stdlib.h>

pai_time pai__run_expected(const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  pai_time length = pai__req_length(r);

  return length == 0 || run->since > INT64_MAX - length ? INT64_MAX
                                                        : run->since + length;
}

static int by_time(const void *a, const void *b)
{
  const pai__end *x = a, *y = b;

  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static pai__end end_of(const pai_sched *s, uint32_t run)
{
  const pai__run *x = pai__run_at(s, run);

  return (pai__end){ pai__run_expected(s, x), x->order, run };
}

bool pai__ends_ready(pai_sched *s)
{
  if (s->ends_known)
    return true;
  s->ends.len = 0;
  if (pai__flat_reserve(&s->ends, &s->alloc, s->runs.len) < 0)
    return false;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    pai__end end;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    end = end_of(s, i);
    if (end.at != INT64_MAX)
      ((pai__end *)s->ends.data)[pai__flat_push(&s->ends, 1)] = end;
  }
  if (s->ends.len != 0)
    qsort(s->ends.data, s->ends.len, sizeof(pai__end), by_time);
  s->ends_known = true;
  return true;
}

static uint32_t place_of(const pai_sched *s, const pai__end *end)
{
  uint32_t low = 0, high = s->ends.len;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (by_time(pai__end_at(s, middle), end) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void pai__ends_add(pai_sched *s, uint32_t run)
{
  pai__end end, *list;
  uint32_t i;

  if (!s->ends_known)
    return;
  end = end_of(s, run);
  if (end.at == INT64_MAX)
    return;
  if (pai__flat_reserve(&s->ends, &s->alloc, 1) < 0) {
    pai__ends_drop(s);
    return;
  }
  i = place_of(s, &end);
  list = s->ends.data;
  memmove(list + i + 1, list + i, (s->ends.len - i) * sizeof(*list));
  list[i] = end;
  s->ends.len++;
}

void pai__ends_remove(pai_sched *s, uint32_t run)
{
  pai__end end, *list;
  uint32_t i;

  if (!s->ends_known)
    return;
  end = end_of(s, run);
  if (end.at == INT64_MAX)
    return;
  i = place_of(s, &end);
  list = s->ends.data;
  s->ends.len--;
  memmove(list + i, list + i + 1, (s->ends.len - i) * sizeof(*list));
}
