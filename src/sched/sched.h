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
int pai__fork_without_policy(pai_sched **out, const pai_sched *s);

/* An event was taken: the policy is told, and the log.  The codes of
 * pai_sched_send(). */
int pai__event_taken(pai_sched *s, const pai_sched_event *e, pai_error **err);

struct pai__json_writer;

/* An event as a JSON object (log.c). */
void pai__log_write(struct pai__json_writer *w, const pai_sched *s,
                    const pai_sched_event *e);
/* Lines of the log, if there is one (log.c). */
int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err);
int pai__log_decide(pai_sched *s, pai_error **err);

/* The limit of a run was set, or it began. */
void pai__limit_set(pai_sched *s, const pai__run *run);

#endif
