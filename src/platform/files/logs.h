/* logs.h - internal to the room: readers of tasks' logs */
#ifndef PAI_SRC_PLATFORM_FILES_LOGS_H
#define PAI_SRC_PLATFORM_FILES_LOGS_H

#include "platform/platform.h"

#include "backend/task_log.h"

#include <openpai/records.h>

/* --- logs_find.c ---------------------------------------------------------- */

/* A start of a task, of a live or ended job. */
typedef struct pai__log_place {
  char *dir;      /* of the start, or NULL: it has none yet */
  pai__user *who; /* user for access to it; NULL: this process' */
  uint32_t task;  /* number in its job, if that is live */
  uint32_t start; /* number of the task's start, from 0 */
  uint32_t attempt;
  bool over; /* nothing more is written */
} pai__log_place;

/* Finds a task of a live job by its role's name (NULL: any) and index;
 * UINT32_MAX: there is none. */
uint32_t pai__log_find_task(const pai__pjob *j, const char *role,
                            uint32_t index);
int pai__log_find(pai__log_place *out, pai_platform *p, pai_job_id job,
                  const pai_log_options *o, pai_error **err);
/* Finds the same start again, after a change of the job. */
int pai__log_look(pai__log_place *place, pai_platform *p, pai_job_id job);

/* --- logs.c --------------------------------------------------------------- */

/* A job has changed: wakes the readers of its logs. */
void pai__logs_wake(pai_platform *p, pai_job_id job);
void pai__logs_free(pai_platform *p);

#endif
