/* capacity.h - internal: queues of the policy `capacity` */
#ifndef PAI_SRC_SCHED_POLICY_CAPACITY_H
#define PAI_SRC_SCHED_POLICY_CAPACITY_H

#include "sched/policy/policy.h"
#include "sched/policy/waiters.h"

#include "base/arena.h"

enum { PAI__QUEUE_DEPTH = 16 }; /* levels below the root */

/* An amount of GPUs as given in the options. */
typedef struct pai__amount {
  uint64_t n;
  enum { PAI__AMOUNT_OPEN, PAI__AMOUNT_GPUS, PAI__AMOUNT_PART } kind;
} pai__amount; /* PART: n thousandths of the parent's amount */

typedef struct pai__queue {
  const char *name;
  uint32_t parent, depth;   /* parent is PAI__NONE for the root, queue 0 */
  uint32_t child, sibling;  /* first child; next child of the same parent */
  uint32_t vc_index;        /* the virtual cluster of a leaf, or PAI__NONE */
  pai__amount asked, most;  /* guaranteed and max, as given in the options */
  uint64_t guaranteed, max; /* GPUs */
  bool known_guaranteed, known_max; /* set once computed */
  /* Valid during one decision. */
  uint64_t used; /* GPUs held, including claims and runs that are stopping */
  uint64_t own;  /* the part of `used` that is not opportunistic */
  uint64_t staying;   /* the part of `used` whose runs are not stopping */
  pai__pending waits; /* a leaf: its waiting requests */
  uint32_t pending;  /* number of lines (pai__pending_count()) of its leaves */
  uint32_t next_run; /* a leaf: range in `runners` not yet chosen */
  uint32_t last_run;
  uint32_t text; /* name for reasons; PAI__NONE: not made yet */
} pai__queue;

/* Queue 0 is the root; the leaf of a virtual cluster is queue 1 + its
 * index. */
typedef struct pai__queues {
  pai__queue *list;
  uint32_t n;
  pai__arena arena;
} pai__queues;

/* Builds the queues from the options.  With `strict`, options that do not suit
 * the cluster are an error; else they are applied as far as possible.  Returns
 * PAI_OK; or a code after host->give_up(), with no queues. */
int pai__queues_make(pai__queues *q, const pai_policy_host *host,
                     const char *options, bool strict);
void pai__queues_dispose(pai__queues *q);

typedef struct pai__capacity {
  pai__plain plain;
  char *options;
  pai__node queues; /* option "queues", which capacity_queues.c reads */
  bool asks_back;   /* option "reclaim" */
  bool greedy;
  pai__queues q;
  bool stale; /* the cluster has changed since the queues were built */
} pai__capacity;

/* A run that might be stopped. */
typedef struct pai__runner {
  uint64_t order, gpus;
  int32_t priority;
  uint32_t leaf, run;
} pai__runner;

typedef struct pai__deciding {
  pai__capacity *c;
  pai_sched *s;
  pai__backlog waits; /* by leaf */
  pai__flat runners;  /* by leaf, then in the order of stopping */
  pai__flat victims;  /* runs */
} pai__deciding;

/* True if a used of b guaranteed is a smaller part than c of d.  A queue that
 * is guaranteed nothing comes last. */
static inline bool pai__is_less_used(uint64_t a, uint64_t b, uint64_t c,
                                     uint64_t d)
{
  if (b == 0 || d == 0)
    return b == d ? a < c : b != 0;
  return a * d < c * b;
}

/* The request that is next in a leaf. */
static inline uint32_t pai__head_of(const pai__deciding *d, uint32_t leaf)
{
  return pai__backlog_head(&d->waits, &d->c->q.list[leaf].waits)->req;
}

/* True if the queue, with the request, holds no more than is guaranteed to it;
 * opportunistic runs do not count.  False for an opportunistic request. */
static inline bool pai__keeps_to_guaranteed(const pai__deciding *d,
                                            const pai__queue *x, uint32_t req)
{
  return pai__req_at(d->s, req)->priority >= 0 &&
         x->own + pai__gpus_wanted(d->s, req) <= x->guaranteed;
}

/* Fills d->victims with runs that may be stopped, until no more than `enough`
 * GPUs of queue `within` stay in use, or no further run may be stopped.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__capacity_victims(pai__deciding *d, uint32_t leaf, uint32_t within,
                          uint64_t enough);

#endif
