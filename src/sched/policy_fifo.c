/*
 * policy_fifo.c - first come, first served, with no backfill
 *
 * The first request that does not fit holds up all behind it: that is what
 * users of this policy ask for.
 */
#include "sched/core.h"

static void decide(pai__sched *s)
{
  pai__queued *q, *next = pai__sched_next_waiting(s, NULL);

  while ((q = next) != NULL) {
    next = pai__sched_next_waiting(s, q);
    if (!pai__sched_try(s, q)) {
      pai__sched_block(s, q);
      return;
    }
  }
}

const pai__policy pai__policy_fifo = { "fifo", decide };
