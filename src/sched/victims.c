/* victims.c - those who may have to make room, and what would be without them */
#include "sched/victims.h"

#include "resource/bits.h"

int pai__victims_order(const void *a, const void *b)
{
  const pai__victim *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

int pai__victims_by_size(const void *a, const void *b)
{
  const pai__victim *x = a, *y = b;

  if (x->priority == y->priority && x->gpus != y->gpus)
    return x->gpus > y->gpus ? -1 : 1;
  return pai__victims_order(a, b);
}

bool pai__victim_may_stay(pai_sched *s, uint32_t run)
{
  const pai__run *x = pai__run_at(s, run);
  const pai__slot *slots = pai__slots_of(s, x);

  pai__run_lift(s, run, false);
  for (uint32_t i = 0; i < x->tasks; i++)
    if (!pai__room_settled(pai__room_at(s, slots[i].node), slots[i].gpus)) {
      pai__run_lift(s, run, true);
      return false;
    }
  return true;
}

bool pai__victims_keep_share(const pai_sched *s, const pai__req *r, uint32_t n)
{
  for (uint32_t k = 0; k < pai__tenant_at(s, r->tenant)->nshares; k++)
    if (pai__share_taken(s, r, n, k) > pai__share_left(s, r->tenant, k))
      return false;
  return true;
}
