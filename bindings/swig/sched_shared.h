/* sched_shared.h - schedulers, views and script policies, for the facade's own
 * files */
#ifndef OPENPAI_BINDINGS_SCHED_SHARED_H
#define OPENPAI_BINDINGS_SCHED_SHARED_H

#include "facade.h"

#include <pthread.h>
#include <stdatomic.h>

/* A policy written in the script language, shared by a scheduler and its
 * forks. */
typedef struct script {
  pai_policy table; /* its name is allocated */
  void *object;
  atomic_int refs;
} script;

struct Scheduler {
  pai_sched *sched; /* NULL: a host after its call, or an empty view */
  const pai_policy_host *host; /* NULL: no host */
  script **scripts;            /* its script policies, which it keeps */
  size_t nscripts;
  void *log;             /* script object with write(), or NULL */
  bool inside;           /* in a call that may run callbacks */
  bool view;             /* read-only view, for a simulation or replay */
  bool deciding;         /* a host in decide(), which may act */
  pthread_mutex_t owner; /* recursive: a policy calls from its thread */
};

/* Makes an empty Scheduler. */
Scheduler *sched_make(failure *f);

/* Locks a scheduler for reading. Returns false after a failure. Ends with
 * sched_give(). */
bool sched_take(Scheduler *s, failure *f);
void sched_give(Scheduler *s);

/* The same for calls that may run callbacks, also on a read-only view. */
bool sched_enter(Scheduler *s, failure *f);
void sched_leave(Scheduler *s, failure *f);
/* Turns an error that a script raised into the failure of the call. */
void sched_settle(failure *f);

/* Keeps the policy, which it takes, as long as the scheduler. Returns its
 * table; NULL for a built-in policy, and after a failure. */
const pai_policy *sched_keep(Scheduler *s, policy_ref policy, failure *f);

/*
 * The lock of a view is also the lock of its owner. Between view_begin() and
 * view_end() nobody reads the view. view_end() sets the scheduler that is seen
 * afterwards, or NULL. It calls sched_settle() if scripts may have raised an
 * error: those of the view, or `others`.
 */
Scheduler *view_make(failure *f);
bool view_begin(Scheduler *view, failure *f);
void view_end(Scheduler *view, const pai_sched *seen, bool others, failure *f);

/* Returns a list of all decisions; an empty one if not `all`. */
listing sched_put_decisions(const pai_sched *sched, bool all, failure *f);

/* Makes a policy with one reference, and takes `policy.object`. Returns NULL
 * after a failure. */
script *script_make(policy_ref policy, failure *f);
void script_release(script *p);

#endif /* OPENPAI_BINDINGS_SCHED_SHARED_H */
