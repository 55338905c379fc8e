/* bars.c - who was where, for a picture */
#include "sim/bars.h"

#include <stdlib.h>

void pai__bars_dispose(pai__bars *b, const pai_alloc *alloc)
{
  pai__free(alloc, b->list, b->cap * sizeof(*b->list));
  b->list = NULL;
  b->len = b->cap = 0;
}

bool pai__bars_want(pai__bars *b, uint32_t tasks)
{
  b->cut |= tasks > b->most - b->promised;
  if (b->cut)
    return false;
  b->promised += tasks;
  return true;
}

int pai__bars_add(pai__bars *b, const pai_alloc *alloc, const pai_sched *s,
                  const pai__run *run, const pai__bar *like)
{
  const pai__slot *slots = pai__slots_of(s, run);
  size_t first = b->len;

  for (uint32_t i = 0; i < run->tasks; i++) {
    size_t k = first;

    while (k < b->len && b->list[k].node != slots[i].node)
      k++;
    if (k == b->len) {
      if (PAI__VEC_ROOM(alloc, b->list, b->len, b->cap) < 0) {
        b->len = first;
        return PAI_ENOMEM;
      }
      b->list[b->len] = *like;
      b->list[b->len++].node = slots[i].node;
    }
    b->list[k].gpus |= slots[i].gpus;
  }
  return PAI_OK;
}

static int by_time(const void *a, const void *b)
{
  const pai__bar *x = a, *y = b;

  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->job != y->job)
    return x->job < y->job ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

void pai__bars_sort(pai__bar *list, size_t n)
{
  if (n != 0)
    qsort(list, n, sizeof(*list), by_time);
}
