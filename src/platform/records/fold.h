/* fold.h - internal to the room: folds as bytes in rows, and back */
#ifndef PAI_SRC_PLATFORM_RECORDS_FOLD_H
#define PAI_SRC_PLATFORM_RECORDS_FOLD_H

#include "platform/platform.h"

#include "job/save.h"

/* Save the fold, with facts of the job or task that have no column. */
void pai__fold_save_job(pai__buf *out, const pai__pjob *j);
void pai__fold_save_task(pai__buf *out, const pai__pjob *j, uint32_t task);
/* Returns the working folder saved with a job's fold, or NULL. */
const char *pai__fold_work_dir(pai__bytes head);
/* Takes the list of CPUs from the front of a task's fold; NULL: there is
 * none. */
const char *pai__fold_cpus(pai__bytes *fold);

/* Takes the number of a task that was added later from the front of its fold;
 * false: none, the task is found by its role and index. */
bool pai__fold_number(pai__bytes *fold, uint32_t *task);
/* Returns the number of tasks in a job's saved head; 0: unknown. */
uint32_t pai__fold_tasks(pai__bytes head);

/* Restores the fold of a job whose form is set. */
int pai__fold_load(pai__pjob *j, pai__bytes head, const pai__bytes *tasks,
                   uint32_t ntasks, pai_error **err);

#endif
