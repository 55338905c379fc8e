/* sched.h - internal: a scheduler as a whole */
#ifndef PAI_SRC_SCHED_SCHED_H
#define PAI_SRC_SCHED_SCHED_H

#include "sched/node.h"

/* The nodes of a cluster, free, with what is sick of them.  PAI_OK or
 * PAI_ENOMEM. */
int pai__nodes_of_cluster(pai_sched *s, const pai__park *park,
                          const pai_cluster *c, pai__node *nodes,
                          pai_error **err);

/* What tenants use, counted anew. */
void pai__tally_again(pai_sched *s);

/* An event was taken: the policy is told, and the log. */
int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err);

#endif
