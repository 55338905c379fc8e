/* start.h - internal: instances get, claim and give back their places */
#ifndef PAI_SRC_SCHED_START_H
#define PAI_SRC_SCHED_START_H

#include "sched/fit.h"
#include "sched/core.h"
#include "sched/queue.h"

/* Starts the next instance of a request at the first n of s->slots, which are
 * counted.  Returns PAI_OK; or PAI_ENOMEM, with the slots uncounted. */
int pai__start(pai_sched *s, uint32_t req, uint32_t n);

/* As pai__start(), at places that others may still hold: the instance starts
 * when all of its place is free.  Returns 1 if it started; 0 if it waits; or
 * PAI_ENOMEM. */
int pai__claim(pai_sched *s, uint32_t req, uint32_t n);

/* Both also return PAI_EINTERNAL, with the error that check.c found. */

/* Starts the claimed runs whose places are free by now.  Sets those aside that
 * check.c refuses.  Returns PAI_OK or PAI_ENOMEM. */
int pai__start_claimed(pai_sched *s);

/* Makes a request wait on which the scheduler or a policy failed with `rc`, so
 * that others need not wait.  Its reason says so.  Returns 0; PAI_ENOMEM if
 * `rc` is that, or for lack of memory; or `rc` if it is no failure. */
int pai__set_aside(pai_sched *s, uint32_t req, int rc);

/* Decides to stop a run, unless it stops already.  A claim is given up at once.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__stop(pai_sched *s, uint32_t run, int cause, uint64_t by);

/* Gives back what a run holds; its instance waits again. */
void pai__release(pai_sched *s, uint32_t run);

/* Adds what a run holds to the amounts used of the shares of its virtual
 * cluster (sign 1), or subtracts it (-1). */
void pai__shares_count(pai_sched *s, const pai__run *run, int sign);
void pai__shares_recount(pai_sched *s);

/* Frees what a run holds (`up`), or takes it again, on a copy of the free
 * capacity. */
void pai__run_lift(pai_sched *s, uint32_t run, bool up);

/* Adds a decision about a run.  Memory must be reserved. */
void pai__decide(pai_sched *s, const pai__run *run, int kind);

/* Returns how many tasks of a want a run has.  *first is the first of them:
 * tasks are in the order of wants. */
uint32_t pai__run_tasks(const pai_sched *s, const pai__run *run, uint32_t want,
                        uint32_t *first);

/* Returns the number of GPUs of a run. */
uint64_t pai__run_gpus(const pai_sched *s, const pai__run *run);

static inline bool pai__run_holds(const pai__run *run)
{
  return run->req != PAI__NONE && run->state != PAI__RUN_RETURNED;
}

/* Returns the size of check.c's own records, in words. */
uint32_t pai__check_words(const pai__sched_cluster *cluster);

/* Returns which GPUs of a node are in use, according to these records. */
uint64_t pai__check_gpus(const pai_sched *s, uint32_t node);

/* Checks a run that is to start. check.c keeps its own records of who has
 * which GPUs, CPUs and ports.  It checks that none is given twice, also within
 * the run, that the gang is whole, and that no node gives more than it has.
 * Returns NULL, with the run recorded; or the error: then the run must not
 * start. */
const char *pai__check_start(pai_sched *s, const pai__run *run);
/* As pai__check_start(), for tasks that are added to a gang.  `run` has only
 * these tasks. */
const char *pai__check_more(pai_sched *s, const pai__run *run);
/* Returns whether the virtual cluster of a run keeps to its share, with this
 * run.  It may not, if the share became smaller since the run was claimed. */
bool pai__check_share(const pai_sched *s, const pai__run *run);
/* Removes some tasks of a run from the records. */
void pai__check_given(pai_sched *s, const pai__run *run, uint32_t from,
                      uint32_t n);
/* Writes the records anew, of all runs.  Memory must be reserved. */
void pai__check_again(pai_sched *s);

/* The runs in the order of their expected ends.  The list is built when it is
 * first used, and then kept up to date.  Without memory it is built again at
 * the next use. */

typedef struct pai__end {
  pai_time at;
  uint64_t order;
  uint32_t run;
} pai__end;

/* Returns start + limit, or start + duration; or INT64_MAX if neither is
 * known. */
pai_time pai__run_expected(const pai_sched *s, const pai__run *run);

/* Builds the list, if necessary.  Returns false without memory.  Runs without
 * an expected end are not in it. */
bool pai__ends_ready(pai_sched *s);
/* Add a run that has its place, start and order; or remove it before it loses
 * one of them. */
void pai__ends_add(pai_sched *s, uint32_t run);
void pai__ends_remove(pai_sched *s, uint32_t run);
/* Drops the list, after an expected length has changed. */
static inline void pai__ends_drop(pai_sched *s)
{
  s->ends_known = false;
}

static inline const pai__end *pai__end_at(const pai_sched *s, uint32_t i)
{
  return (const pai__end *)s->ends.data + i;
}

#endif
