/* shrink.h - internal: gangs that run with more tasks than they need */
#ifndef PAI_SRC_SCHED_SHRINK_H
#define PAI_SRC_SCHED_SHRINK_H

#include "sched/policy.h"

/* Has gangs of no higher priority give up tasks that they can do without, until
 * there is room, and claims it.  1: it was started; 0: it waits for them if
 * `claimed`, else they do not help, and nothing was done; or a code. */
int pai__shrink_for(pai_sched *s, const pai__ask *ask, bool *claimed);

#endif
