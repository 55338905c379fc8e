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
  pai_sched *sched;            /* NULL: a host whose call is over */
  const pai_policy_host *host; /* NULL: no host */
  script **scripts;            /* its policies of the language, so far */
  size_t nscripts;
  void *log;             /* or NULL */
  bool inside;           /* a call that may call back */
  bool deciding;         /* a host that may act */
  pthread_mutex_t owner; /* recursive: a policy calls from its thread */
};

/* One that has nothing yet. */
Scheduler *sched_make(failure *f);

/* For a call that looks; give it back. */
bool sched_take(Scheduler *s, failure *f);
void sched_give(Scheduler *s);

/* A policy is made, and held once; NULL after a failure. */
script *script_make(policy_ref policy, failure *f);
void script_release(script *p);

#endif /* OPENPAI_BINDINGS_SCHED_SHARED_H */
