/* placing.h - internal to the room: what the scheduler is told of jobs, and of
 * tasks that have room of their own */
#ifndef PAI_SRC_PLATFORM_PLACING_H
#define PAI_SRC_PLATFORM_PLACING_H

#include "platform/platform.h"

/* Something happened just now; size and time of the event are filled in. */
int pai__placing_tell(pai_platform *p, pai_sched_event *event,
                      pai_error **err);
/* Removes a request, which ends with this code if it has a place. */
void pai__placing_remove(pai_platform *p, uint64_t id, int code);
/* The user knows of no events: what is said is the error below. */
int pai__placing_refused(int rc, pai_error **err);
/* So many tasks of a role. */
pai_want pai__placing_want(const pai__pjob *j, uint32_t role, uint32_t tasks);
int pai__placing_priority(const pai__pjob *j);
/* The class that its file asks for, or NULL. */
const char *pai__placing_class(const pai__pjob *j);
/* A gang that waits asks for so many tasks of a role from now on.  PAI_OK; or a
 * code, as that it can never have so many, and then it asks for what it did. */
int pai__placing_resize(pai__pjob *j, uint32_t role, uint32_t tasks,
                        pai_error **err);
int pai__placing_hold(pai_platform *p, uint64_t id, bool held);

/* What was decided, and waited for a look at its GPUs, is looked at again. */
void pai__placing_go_on(pai_platform *p);
/* Where a task is to be. */
void pai__placing_note(pai__pjob *j, uint32_t task,
                       const pai_task_place *place);
/* Takes the ports of a task that others use from the scheduler.  How many; or
 * a code. */
int pai__placing_lose_ports(pai__pjob *j, uint32_t task);

/* As whom the scheduler knows a job's user: one who has the name of a user who
 * was removed is another one, "NAME~2". */
enum { PAI__SCHED_USER = 320 };
const char *pai__placing_user(char out[PAI__SCHED_USER], const pai__pjob *j);

#endif
