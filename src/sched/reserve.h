/*
 * reserve.h - internal: nodes are kept free for a request that waits for long
 *
 * Small requests that come later fill what a large one waits for, again and
 * again.  So the oldest one that waits for longer than the policy's terms allow
 * gets nodes kept for it while the policy decides: nothing less important
 * starts there.  After twice that time they are the same nodes at each decision, and after
 * four times all nodes that it could be on.
 * A request that keeps to the part of its virtual cluster, and finds no place
 * though its part has enough, gets nodes at once.
 *
 * Nothing is remembered: the nodes are chosen anew in each decision, from what
 * runs.
 */
#ifndef PAI_SRC_SCHED_RESERVE_H
#define PAI_SRC_SCHED_RESERVE_H

#include "sched/core.h"

/* Keeps nodes for one request, unless some are kept; `owed`: only for one that
 * keeps to its part.  PAI_OK or PAI_ENOMEM. */
int pai__reserve_begin(pai_sched *s, bool owed);
/* May a request use what is kept for another one, which has waited for long? */
bool pai__kept_lets(const pai_sched *s, const pai__kept *k, const pai__req *r);
/* They are not kept any more. */
void pai__reserve_end(pai_sched *s);

#endif
