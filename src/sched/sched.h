/* sched.h - internal: making, copying, logging and saving a scheduler */
#ifndef PAI_SRC_SCHED_SCHED_H
#define PAI_SRC_SCHED_SCHED_H

#include "sched/free_capacity.h"

/* The tables of a scheduler that depend on its cluster. */
typedef struct pai__cluster_parts {
  pai__flat free_capacity, cpus, used, lent;
} pai__cluster_parts;

/* Makes the tables for a cluster: all is free, and sick nodes and GPUs are
 * marked.  Reserves memory for pai__parts_use().  Returns PAI_OK; or a code,
 * with nothing to dispose of. */
int pai__parts_make(pai_sched *s, const pai__sched_cluster *cluster,
                    const pai_cluster *c, pai__cluster_parts *p,
                    pai_error **err);
/* Makes these tables the scheduler's.  Its model must be of the same
 * cluster. */
void pai__parts_use(pai_sched *s, pai__cluster_parts *p);

/* Forks a scheduler without opening a policy.  Returns PAI_OK or PAI_ENOMEM. */
int pai__fork_without_policy(pai_sched **out, const pai_sched *s,
                             const pai_alloc *alloc);
/* As pai_sched_fork(), with memory from `alloc`, which its own forks use,
 * too. */
int pai__fork_in(pai_sched **out, const pai_sched *s, const pai_alloc *alloc,
                 pai_error **err);

/* Passes a handled event to the policy and writes it to the log.  Returns the
 * codes of pai_sched_send(). */
int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* Prepare a log line, if there is a log (log.c).  It is prepared before the
 * state changes, so that lack of memory changes nothing.  Return the codes of
 * pai_sched_send(). */
int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__log_decide(pai_sched *s, pai_time now, pai_error **err);
/* Writes the prepared line.  `rc` is the result of handling the event:
 * returned if it is a failure, else the result of writing is returned. */
int pai__log_taken(pai_sched *s, int rc, pai_error **err);

/* Writes a snapshot to `out` (save.c).  Returns PAI_OK; PAI_ENOTSUP;
 * PAI_ENOMEM; or the code of the policy. */
int pai__save(const pai_sched *s, pai__buf *out, pai_error **err);
/* Writes a snapshot in the short form for the middle of a log. */
int pai__save_lean(const pai_sched *s, pai__buf *out, pai_error **err);

/* Makes a new scheduler without a policy.  Returns the codes of
 * pai_sched_new(). */
int pai__sched_make(pai_sched **out, const pai_cluster *cluster,
                    const pai_sched_options *o, pai_error **err);

/* Updates next_limit after a run has started or its limit has changed. */
void pai__limit_set(pai_sched *s, const pai__run *run);

#endif
