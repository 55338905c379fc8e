/* start.h - internal: instances get their places, claim those of others, and
 * give them back */
#ifndef PAI_SRC_SCHED_START_H
#define PAI_SRC_SCHED_START_H

#include "sched/fit.h"
#include "sched/queue.h"

/* The next instance of a request gets the first n of s->slots, which are
 * counted: it starts.  PAI_OK; PAI_ENOMEM, and they are uncounted. */
int pai__start(pai_sched *s, uint32_t req, uint32_t n);

/* Likewise, where others are: it starts when all it has is settled.  1: it
 * did; 0: it waits for that; or PAI_ENOMEM. */
int pai__claim(pai_sched *s, uint32_t req, uint32_t n);

/* Both answer PAI_EINTERNAL with what check.c found. */

/* Starts what was claimed and is free by now; what check.c refuses is set
 * aside.  PAI_OK or PAI_ENOMEM. */
int pai__start_claimed(pai_sched *s);

/* A code with which the scheduler, or a policy, failed on one request is no
 * reason for the others to wait: the request waits, and its reason says so.
 * 0; PAI_ENOMEM, which is nobody's failure; or `rc` if it is none. */
int pai__set_aside(pai_sched *s, uint32_t req, int rc);

/* An instance is asked to stop; nothing if it was before.  PAI_OK or
 * PAI_ENOMEM. */
int pai__stop(pai_sched *s, uint32_t run, int cause, uint64_t by);

/* It holds nothing any more, and waits again. */
void pai__release(pai_sched *s, uint32_t run);

/* What a run has of each kind is counted as its tenant's, or not any more. */
void pai__tally(pai_sched *s, const pai__run *run, int sign);
void pai__tally_again(pai_sched *s);

/* On rooms that will be as before: it holds nothing, or holds it again. */
void pai__run_lift(pai_sched *s, uint32_t run, bool up);

/* A decision about it; there is room for one. */
void pai__decide(pai_sched *s, const pai__run *run, int kind);

static inline bool pai__run_holds(const pai__run *run)
{
  return run->req != PAI__NONE && run->state != PAI__RUN_RETURNED;
}

#endif
