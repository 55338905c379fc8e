/* shrink.h - internal: gangs that run with more tasks than they need */
#ifndef PAI_SRC_SCHED_SHRINK_H
#define PAI_SRC_SCHED_SHRINK_H

#include "sched/policy.h"

/* Whose tasks may be asked for. */
enum pai__givers {
  PAI__GIVERS_LOWER,   /* of no higher priority */
  PAI__GIVERS_BORROWED /* what is marked as borrowed: guarantee.h */
};

/* Has gangs give up tasks that they can do without, until there is room, and
 * claims it.  1: it was started; 0: it waits for them if `claimed`, else they
 * do not help, and nothing was done; or a code. */
int pai__shrink_for(pai_sched *s, const pai__ask *ask, enum pai__givers who,
                    bool *claimed);

#endif
