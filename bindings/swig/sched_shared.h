/* sched_shared.h - what the facade's files of schedulers have in common */
#ifndef OPENPAI_BINDINGS_SCHED_SHARED_H
#define OPENPAI_BINDINGS_SCHED_SHARED_H

#include "facade.h"

#include <pthread.h>
#include <stdatomic.h>

/* A policy of the language, of a scheduler and its forks. */
typedef struct script {
  pai_policy table; /* its name is allocated */
  void *object;
  atomic_int refs;
} script;

struct Scheduler {
  pai_sched *sched; /* NULL: a host whose call is over, an empty view */
  const pai_policy_host *host; /* NULL: no host */
  script **scripts;            /* its policies of the language, so far */
  size_t nscripts;
  void *log;             /* or NULL */
  bool inside;           /* a call that may call back */
  bool view;             /* of another's scheduler, to look at */
  bool deciding;         /* a host that may act */
  pthread_mutex_t owner; /* recursive: a policy calls from its thread */
};

/* One that has nothing yet. */
Scheduler *sched_make(failure *f);

/* For a call that looks; give it back. */
bool sched_take(Scheduler *s, failure *f);
void sched_give(Scheduler *s);

/* The same for calls that may call back, on what may only be looked at. */
bool sched_enter(Scheduler *s, failure *f);
void sched_leave(Scheduler *s, failure *f);
/* What a script has raised becomes the call's failure. */
void sched_settle(failure *f);

/* Its policy's table, which lives as long as the scheduler; NULL: it is a
 * built-in one, or that failed.  Takes the policy. */
const pai_policy *sched_keep(Scheduler *s, policy_ref policy, failure *f);

/*
 * A view is its owner's lock, too: nobody looks between begin and end, which
 * sets what is seen from then on, or NULL.  end() settles, too, if there are
 * scripts, of the view's or others.
 */
Scheduler *view_make(failure *f);
bool view_begin(Scheduler *view, failure *f);
void view_end(Scheduler *view, const pai_sched *seen, bool others, failure *f);

/* A list of all decisions, or of none. */
listing sched_put_decisions(const pai_sched *sched, bool all, failure *f);

/* A policy is made, and held once; NULL after a failure. */
script *script_make(policy_ref policy, failure *f);
void script_release(script *p);

#endif /* OPENPAI_BINDINGS_SCHED_SHARED_H */
