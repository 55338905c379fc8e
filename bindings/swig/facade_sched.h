/*
 * facade_sched.h - schedulers, and policies of scripts, for facade.h, which
 * includes this
 *
 * A Scheduler is also what a policy is handed to look and to act: then it
 * lives for the call only, and all fails later.  Times are microseconds.
 */
#ifndef OPENPAI_BINDINGS_FACADE_SCHED_H
#define OPENPAI_BINDINGS_FACADE_SCHED_H

#include "facade.h"

typedef struct Scheduler Scheduler;

/* A policy: a built-in one's name, or an object of the language. */
typedef struct policy_ref {
  const char *name; /* NULL, without an object: the default */
  void *object;     /* see below; taken */
  bool lends;
  bool hears; /* it has event() */
} policy_ref;

/* Where a log goes, an object with write(); taken.  NULL: no more. */
typedef struct log_ref {
  void *object;
} log_ref;

/* --- what each language defines -------------------------------------------- */

/*
 * Calls a method of an object: with a host, which is taken, if that is not
 * NULL, and with a text likewise.  What it answers is written to *answer if
 * that is not NULL.  PAI_EUSER: it has raised, and the first error is kept.
 */
int script_ask(void *object, const char *method, Scheduler *host,
               const char *text, size_t len, job_text *answer);
void *script_hold(void *object);  /* the same once more */
void *script_clone(void *object); /* what its clone() makes, or NULL */
void script_drop(void *object);   /* NULL is allowed */

/* The call is over: true if an error is kept, which is the call's then.  One
 * of a call that has not failed is forgotten, unless it is to end the
 * program. */
bool script_settle(bool failed);

/* The language is done with a host: all calls fail from now on. */
void facade_host_end(Scheduler *host);

/* --- life (facade_sched.c) ------------------------------------------------- */

/* These take the policy, also when they fail.  Ports may be 0. */
Scheduler *facade_sched(const Cluster *cluster, const char *options,
                        uint32_t first_port, uint32_t last_port,
                        bool unchecked, policy_ref policy, failure *f);
/* Of what is loaded, `policy` decides if it has a name; else it and `shadow`
 * are what the text names. */
Scheduler *facade_sched_load(const char *text, size_t len, policy_ref policy,
                             policy_ref shadow, failure *f);
Scheduler *facade_sched_fork(Scheduler *s, failure *f);
void facade_sched_free(Scheduler *s);

/* An event or "decide", or, in a log, a snapshot, which begins it anew; how
 * many decisions there are. */
int facade_sched_send(Scheduler *s, draft_value line, failure *f);
void facade_sched_cluster(Scheduler *s, const Cluster *cluster, int64_t time,
                          failure *f);
/* From now on it decides, or, `beside`, is the shadow: without a name and an
 * object, nobody.  Takes the policy. */
void facade_sched_policy(Scheduler *s, int64_t time, bool beside,
                         const char *options, policy_ref policy, failure *f);
listing facade_sched_decide(Scheduler *s, int64_t now, failure *f);
listing facade_sched_decisions(Scheduler *s, failure *f);
/* What the shadow would have decided; "null": there is none, it has failed, or
 * something was sent since. */
listing facade_sched_beside(Scheduler *s, failure *f);
job_text facade_sched_save(Scheduler *s, failure *f);
void facade_sched_log(Scheduler *s, log_ref log, failure *f);
void facade_sched_log_options(Scheduler *s, bool snapshots, uint64_t every,
                              failure *f);
/* In PAI_FORMAT_TEXT or _JSON. */
job_text facade_sched_explain(Scheduler *s, uint64_t id, int format,
                              failure *f);
Allocation *facade_sched_allocation(Scheduler *s, uint64_t id,
                                    uint32_t instance, failure *f);
int64_t facade_sched_now(Scheduler *s, failure *f);
int64_t facade_sched_next_time(Scheduler *s, failure *f); /* or INT64_MAX */
listing facade_policies(failure *f);

/* --- looking (facade_queue.c) ---------------------------------------------- */

listing facade_sched_sums(Scheduler *s, failure *f);
listing facade_sched_requests(Scheduler *s, failure *f); /* by turn */
listing facade_sched_request(Scheduler *s, uint64_t id, failure *f);
listing facade_sched_nodes(Scheduler *s, failure *f);
listing facade_sched_node(Scheduler *s, uint32_t node, failure *f);
listing facade_sched_vcs(Scheduler *s, failure *f);
listing facade_sched_running(Scheduler *s, failure *f);
listing facade_sched_places(Scheduler *s, uint64_t id, uint32_t instance,
                            failure *f);

/* --- acting, for a policy (facade_policy.c) -------------------------------- */

uint64_t facade_host_next(Scheduler *s, uint64_t id, failure *f);
listing facade_host_placed(Scheduler *s, failure *f);
bool facade_host_start(Scheduler *s, uint64_t id, const char *strategy,
                       bool beyond_share, bool over, failure *f);
/* `places` has three words a task: its node's name, or nothing; its node's
 * number; numbers of GPUs with commas. */
bool facade_host_start_at(Scheduler *s, uint64_t id, words places, bool over,
                          failure *f);
void facade_host_preempt(Scheduler *s, uint64_t id, uint32_t instance,
                         uint64_t by, failure *f);
bool facade_host_resize(Scheduler *s, uint64_t id, uint32_t instance,
                        uint32_t want, uint32_t tasks, failure *f);
/* `node` and `why` may be NULL; 0: none. */
void facade_host_refuse(Scheduler *s, uint64_t id, const char *lack,
                        const char *why, const char *node, uint64_t behind,
                        int64_t until, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_SCHED_H */
