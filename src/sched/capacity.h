/* capacity.h - internal: the queues of the policy `capacity` */
#ifndef PAI_SRC_SCHED_CAPACITY_H
#define PAI_SRC_SCHED_CAPACITY_H

#include "sched/policy.h"

#include "base/arena.h"

enum { PAI__QUEUE_DEPTH = 16 }; /* levels below the root */

/* What options say of an amount of GPUs. */
typedef struct pai__amount {
  uint64_t n;
  enum { PAI__AMOUNT_OPEN, PAI__AMOUNT_GPUS, PAI__AMOUNT_PART } kind;
} pai__amount; /* PART: n thousandths of the parent's */

typedef struct pai__queue {
  const char *name;
  uint32_t parent, depth;  /* PAI__NONE: the root, which is the first */
  uint32_t child, sibling; /* the first one below it; and the next beside it */
  uint32_t tenant;         /* whose leaf it is, or PAI__NONE */
  pai__amount asked, most; /* as the options have them */
  uint64_t guaranteed, max;         /* GPUs */
  bool known_guaranteed, known_max; /* while they are found */
  /* While it is decided: */
  uint64_t used;    /* GPUs, also those that are claimed or being left */
  uint64_t own;     /* of them those that are not opportunistic */
  uint64_t staying; /* those whose runs were not asked to stop */
  /* A leaf: what waits of it, in the list; or the first of its two lines, the
     second being of those that are opportunistic. */
  uint32_t at, end;
  uint32_t pending;  /* requests, or lines, in it and below it */
  uint32_t next_run; /* a leaf: of its runs that may be stopped */
  uint32_t last_run;
  uint32_t text; /* its name for reasons; PAI__NONE: not needed yet */
} pai__queue;

/* The leaf of a tenant is queue 1 + its index. */
typedef struct pai__queues {
  pai__queue *list;
  uint32_t n;
  pai__arena arena;
  int place;
  bool reclaim, greedy;
  int64_t reserve_after;
} pai__queues;

/* As the options have them.  `strict`: what cannot be is refused; else it is as
 * near to them as the cluster allows.  PAI_OK; or a code after host->give_up(),
 * and there are none. */
int pai__queues_make(pai__queues *q, const pai_policy_host *host,
                     const char *options, bool strict);
void pai__queues_dispose(pai__queues *q);

#endif
