/* restore.h - internal to the room: restoring a platform from its database */
#ifndef PAI_SRC_PLATFORM_RESTORE_RESTORE_H
#define PAI_SRC_PLATFORM_RESTORE_RESTORE_H

#include "platform/platform.h"

/* Restores scheduler, clock and ids.  Makes no scheduler if there was none. */
int pai__restore_begin(pai_platform *p, pai_error **err);
/* Restores all live jobs.  Unreadable ones are logged and ended. */
void pai__restore_jobs(pai_platform *p);
/* Removes the requests of the scheduler that no job has. */
void pai__platform_drop_strays(pai_platform *p);

/* perform.c: adopts a task that another process started.  PAI_ADOPT_*, or a
 * code: its result is unknown for good, or, if the task's `adopt` is set, the
 * call must be repeated later. */
int pai__platform_adopt(pai__pjob *j, uint32_t task);

void pai__platform_ran(pai__pjob *j, uint32_t task, pai_time since);

/* restore_job.c: restores one job. */
void pai__restore_job(pai_platform *p, pai_job_id id);
/* Restores a task that was to be started, ran, or was asked to end. */
void pai__restore_task(pai__pjob *j, uint32_t task);

#endif
