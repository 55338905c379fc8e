/* restore.h - internal to the room: the platform that was here before */
#ifndef PAI_SRC_PLATFORM_RESTORE_H
#define PAI_SRC_PLATFORM_RESTORE_H

#include "platform/platform.h"

/* Its scheduler, clock and ids.  No scheduler is made if there was none. */
int pai__restore_begin(pai_platform *p, pai_error **err);
/* Its jobs go on.  Those that cannot be read are told of, and ended. */
void pai__restore_jobs(pai_platform *p);
/* Removes the requests of the scheduler that no job has. */
void pai__platform_drop_strays(pai_platform *p);

/* perform.c: finds a task that another process started.  PAI_ADOPT_*, or a
 * code: what became of it is not known, and will not be; or, where the task's
 * `adopt` is set, is to be asked again later. */
int pai__platform_adopt(pai__pjob *j, uint32_t task);

void pai__platform_ran(pai__pjob *j, uint32_t task, pai_time since);

/* restore_job.c: one of them. */
void pai__restore_job(pai_platform *p, pai_job_id id);
/* A task of it that was to be started, ran, or was asked to end. */
void pai__restore_task(pai__pjob *j, uint32_t task);

#endif
