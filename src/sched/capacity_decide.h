/* capacity_decide.h - internal: while the policy `capacity` decides */
#ifndef PAI_SRC_SCHED_CAPACITY_DECIDE_H
#define PAI_SRC_SCHED_CAPACITY_DECIDE_H

#include "sched/capacity.h"
#include "sched/waiters.h"
#include "sched/walk.h"

typedef struct pai__capacity {
  pai_alloc alloc;
  char *options;
  pai__queues q;
  pai__waiters waiters;
  bool stale; /* the cluster is another one than the queues were made for */
} pai__capacity;

/* One that runs, and might be stopped. */
typedef struct pai__runner {
  uint64_t order, gpus;
  int32_t priority;
  uint32_t leaf, run;
} pai__runner;

typedef struct pai__deciding {
  pai__capacity *c;
  pai_sched *s;
  const pai__waiters *lines; /* of leaves; or NULL: all are listed */
  pai__flat waiting;         /* pai__entry, of which group is the leaf */
  pai__flat runners;         /* by leaf, who is stopped first first */
  pai__flat victims;         /* runs */
} pai__deciding;

/* Is a used of b a smaller part than c used of d?  What is guaranteed nothing
 * comes last. */
static inline bool pai__is_less_used(uint64_t a, uint64_t b, uint64_t c,
                                     uint64_t d)
{
  if (b == 0 || d == 0)
    return b == d ? a < c : b != 0;
  return a * d < c * b;
}

/* In lines: which of a leaf's goes first. */
static inline uint32_t *pai__line_of(pai__queue *leaf)
{
  return leaf->at != PAI__NONE ? &leaf->at : &leaf->end;
}

/* The request that is next of a leaf. */
static inline uint32_t pai__head_of(const pai__deciding *d, uint32_t leaf)
{
  pai__queue *x = &d->c->q.list[leaf];

  return d->lines != NULL ? pai__waiter_at(d->lines, *pai__line_of(x))->req
                          : pai__entry_at(&d->waiting, x->at)->req;
}

/* Has a queue as much of its own as is guaranteed to it, with the request? */
static inline bool pai__keeps_to_guaranteed(const pai__deciding *d,
                                            const pai__queue *x, uint32_t req)
{
  return pai__req_at(d->s, req)->priority >= 0 &&
         x->own + pai__gpus_wanted(d->s, req) <= x->guaranteed;
}

/* As many as may be stopped, until `enough` GPUs below `within` are free of
 * them, are d->victims.  PAI_OK or PAI_ENOMEM. */
int pai__capacity_victims(pai__deciding *d, uint32_t leaf, uint32_t within,
                          uint64_t enough);

#endif
