/* placing.h - internal to the room: events and requests of jobs for the
 * scheduler */
#ifndef PAI_SRC_PLATFORM_PLACE_PLACING_H
#define PAI_SRC_PLATFORM_PLACE_PLACING_H

#include "platform/platform.h"

/* Sends an event to the scheduler, after filling in its size and time. */
int pai__placing_tell(pai_platform *p, pai_sched_event *event,
                      pai_error **err);
/* Removes a request; a run of it finishes with this code. */
void pai__placing_remove(pai_platform *p, uint64_t id, int code);
/* Replaces the error of a refused event by its cause, for the user. */
int pai__placing_refused(int rc, pai_error **err);
/* Returns the resource request of `tasks` tasks of a role. */
pai_want pai__placing_want(const pai__pjob *j, uint32_t role, uint32_t tasks);
int pai__placing_priority(const pai__pjob *j);
/* Returns the priority class of the job's file, or NULL. */
const char *pai__placing_class(const pai__pjob *j);
/* Changes a waiting gang's number of tasks of a role.  After a failure, such as
 * that it can never have so many, its request is unchanged. */
int pai__placing_resize(pai__pjob *j, uint32_t role, uint32_t tasks,
                        pai_error **err);
int pai__placing_hold(pai_platform *p, uint64_t id, bool held);

/* Goes on with placed jobs that waited for a check of their GPUs. */
void pai__placing_go_on(pai_platform *p);
/* Notes a task's place. */
void pai__placing_note(pai__pjob *j, uint32_t task,
                       const pai_task_place *place);
/* Removes those ports of a task from the scheduler that other programs use.
 * Returns how many, or a code. */
int pai__placing_lose_ports(pai__pjob *j, uint32_t task);

/* Returns the scheduler's name of a job's user: "NAME~2" for a user with the
 * name of a removed user. */
enum { PAI__SCHED_USER = 320 };
const char *pai__placing_user(char out[PAI__SCHED_USER], const pai__pjob *j);

#endif
