/* sched.h - internal: a scheduler as a whole */
#ifndef PAI_SRC_SCHED_SCHED_H
#define PAI_SRC_SCHED_SCHED_H

#include "sched/room.h"

/* The nodes of a cluster, free, with what is sick of them.  PAI_OK or
 * PAI_ENOMEM. */
int pai__rooms_of_cluster(pai_sched *s, const pai__park *park,
                          const pai_cluster *c, pai__room *nodes,
                          pai_error **err);

/* A fork that nobody decides for yet.  PAI_OK or PAI_ENOMEM. */
int pai__fork_without_policy(pai_sched **out, const pai_sched *s,
                             const pai_alloc *alloc);
/* As pai_sched_fork(), in memory of which its own forks are made, too. */
int pai__fork_in(pai_sched **out, const pai_sched *s, const pai_alloc *alloc,
                 pai_error **err);

/* An event was taken: the policy is told, and the log.  The codes of
 * pai_sched_send(). */
int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err);

/* Lines of the log, if there is one (log.c): first made, so that nothing is
 * changed without memory for them.  The codes of pai_sched_send(). */
int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__log_decide(pai_sched *s, pai_time now, pai_error **err);
/* And then written: that was taken, with `rc`, which is returned if it is a
 * failure, or else what became of the writing. */
int pai__log_taken(pai_sched *s, int rc, pai_error **err);

/* Snapshots (save.c), into `out`.  PAI_OK; PAI_ENOTSUP; PAI_ENOMEM; or what
 * the policy answered. */
int pai__save(const pai_sched *s, pai__buf *out, pai_error **err);
/* How a snapshot ends that stands behind a gap of its log: the lines before it
 * do not make it. */
#define PAI__SNAPSHOT_GAP ",\"gap\":true}"
/* As it stands in the middle of a log: short, and quick to read. */
int pai__save_lean(const pai_sched *s, pai__buf *out, pai_error **err);
/* In the form of another one. */
int pai__save_like(const pai_sched *s, const char *like, size_t len,
                   pai__buf *out, pai_error **err);

/* All of a new scheduler but its policy.  The codes of pai_sched_new(). */
int pai__sched_make(pai_sched **out, const pai_cluster *cluster,
                    const pai_sched_options *o, pai_error **err);

/* The limit of a run was set, or it began. */
void pai__limit_set(pai_sched *s, const pai__run *run);

#endif
