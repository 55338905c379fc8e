/* victims.h - internal: choosing runs to stop, and trying placements without
 * them */
#ifndef PAI_SRC_SCHED_POLICY_VICTIMS_H
#define PAI_SRC_SCHED_POLICY_VICTIMS_H

#include "sched/policy/policy.h"
#include "sched/core.h"

/* The real counts, while the scheduler uses copies. */
typedef struct pai__trial {
  pai__flat free_capacity, used, lent;
} pai__trial;

/* Makes the scheduler count on copies until pai__trial_end(), which is needed
 * also after a failure.  Returns PAI_OK or PAI_ENOMEM. */
int pai__trial_begin(pai__trial *t, pai_sched *s);
/* Resets the copies to the real counts. */
void pai__trial_again(const pai__trial *t, pai_sched *s);
void pai__trial_end(pai__trial *t, pai_sched *s);

typedef struct pai__victim {
  uint64_t order;
  int32_t priority;
  uint32_t run;
  uint32_t gpus;
  uint32_t node; /* used while sorting by node */
  uint64_t cost;
  bool spared;
} pai__victim;

/* qsort() order: lowest priority first, then youngest first. */
int pai__victims_order(const void *a, const void *b);
/* qsort() order: lowest priority first, then largest first. */
int pai__victims_by_size(const void *a, const void *b);
/* On a trial: sorts victims so that those come first on whose node few and
 * unimportant runs have to stop for a task.  The `first` entries, which stop
 * anyway, are lifted and stay in front.  Returns PAI_OK or PAI_ENOMEM. */
int pai__victims_by_node(pai_sched *s, const pai__req *r, pai__victim *list,
                         uint32_t first, uint32_t n);

/* On a trial from which the run is removed: puts it back if nothing would be
 * missing then.  Returns true if it stays. */
bool pai__victim_may_stay(pai_sched *s, uint32_t run);

/* True if the first n of s->slots keep to the share of their virtual
 * cluster. */
bool pai__victims_keep_share(const pai_sched *s, const pai__req *r,
                             uint32_t n);

/* Runs that may be asked to give up tasks. */
enum pai__givers {
  PAI__GIVERS_LOWER,   /* of no higher priority */
  PAI__GIVERS_BORROWED /* runs marked as borrowed: guarantee.h */
};

/* Lets gangs give up tasks that they can do without until there is room, and
 * claims it.  Returns 1 if the request started; 0 if it waits for them
 * (`*claimed`), or if they do not help and nothing was done; or a code. */
int pai__shrink_for(pai_sched *s, const pai__ask *ask, enum pai__givers who,
                    bool *claimed);

#endif
