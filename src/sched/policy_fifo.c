/*
 * policy_fifo.c - first come, first served, with no backfill
 *
 * The first request that does not fit holds up all behind it: that is what
 * users of this policy ask for.
 */
#include "sched/core.h"

static void decide(pai__sched *s)
{
  pai__queued *q = NULL, *behind;

  while ((q = pai__sched_next_waiting(s, q)) != NULL)
    if (!pai__sched_try(s, q))
      break;
  if (q == NULL)
    return;
  behind = q;
  while ((q = pai__sched_next_waiting(s, q)) != NULL)
    q->reason = (pai__reason){ .lack = PAI__LACK_TURN, .behind = behind->id };
}

const pai__policy pai__policy_fifo = { "fifo", decide };
