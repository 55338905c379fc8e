/* backfill.h - internal: state of the policy `backfill` */
#ifndef PAI_SRC_SCHED_POLICY_BACKFILL_H
#define PAI_SRC_SCHED_POLICY_BACKFILL_H

#include "sched/policy/waiters.h"
#include "sched/policy/plan.h"

/* The simple case of EASY backfill: one promise, to the first request of the
 * queue, without a plan.  What the promise takes, and no run gives back in
 * time, is counted as taken from the free capacity.  A request that then still
 * fits may go before the promised one.  The promise stays until a run ends
 * early or is overdue, or another kind of event comes. */

typedef struct pai__easy {
  pai__flat needs; /* what the promise takes of each node */
  pai__flat at;    /* for each node: 1 + the index of its need, or 0; all 0
                      between calls */
  bool known;      /* needs are up to date */
  pai__flat sides; /* easy_move.c: free capacity of each node now and when the
                      promise begins */
  pai__flat costs, choices;
  bool counted; /* sides are up to date */
  pai__waiters waiters;
} pai__easy;

void pai__easy_init(pai__easy *e);
void pai__easy_dispose(pai__easy *e, const pai_alloc *alloc);

/* True if the simple case applies: all waiting requests belong to one virtual
 * cluster, no virtual cluster has shares, nothing is reserved, pinned or
 * claimed, and the GPUs of each node are alike. */
bool pai__easy_is_enough(const pai_sched *s);

/* Decides for all waiting requests.  The promise is kept in `x` until an event
 * invalidates it.  Returns PAI_OK or a code. */
int pai__easy_decide(pai__easy *e, pai_sched *s, int place, pai__promises *x);
/* For a request that would still run when the promise begins and found no room
 * beside it: starts an instance where it leaves the promised request enough
 * room at its time, maybe on other nodes.  Returns 1 if it started and the
 * promise must be made anew; 0; or a code. */
int pai__easy_start_moving(pai__easy *e, pai_sched *s, uint32_t req,
                           uint32_t head, const pai__promise *p);
/* Updates the waiters and the promise after an event. */
void pai__easy_event(pai__easy *e, const pai_sched *s, pai__promises *x,
                     const pai_sched_event *event);

enum { PAI__BACKFILL_EASY, PAI__BACKFILL_CONSERVATIVE };

typedef struct pai__backfill {
  pai__plain plain;
  /* Options. */
  int mode;
  int64_t depth;  /* requests planned for each virtual cluster; 0: all */
  int64_t assume; /* assumed seconds of a request with no expected length; 0:
                     for ever */

  pai__promises old, new;
  pai__easy easy;
  /* Valid during one decision. */
  pai__plan plan;
  pai__flat queue;    /* of pai__entry */
  pai__flat first_of; /* index of the old promises by request */
  pai__flat promised; /* requests promised, for each virtual cluster */
  /* Of requests: 1 if fresh.  Of virtual clusters: 1 if their further requests
   * come later.  Of old promises: 1 if kept in the plan. */
  pai__flat marks;
  pai__lookup roomy;   /* by class: a request that would fit now */
  pai__lookup unmoved; /* by class: a request for which no promise can move */
  pai__promises moved; /* promises planned again: backfill_move.c */
  uint32_t moves;      /* requests for which moving promises was tried */
  uint32_t npromised;  /* requests with a promise, in all virtual clusters */
  uint64_t head;       /* id of the first of them */
} pai__backfill;

/* Starts an instance of a request that has no room beside the promises, if the
 * promises can be kept on other nodes.  Returns 1; 0, with the result of the
 * last search unchanged; or PAI_ENOMEM. */
int pai__backfill_move(pai__backfill *b, pai_sched *s, uint32_t req);

#endif
