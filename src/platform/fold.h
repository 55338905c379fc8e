/* fold.h - internal to the room: folds as bytes in rows, and back */
#ifndef PAI_SRC_PLATFORM_FOLD_H
#define PAI_SRC_PLATFORM_FOLD_H

#include "platform/platform.h"

#include "job/save.h"

/* With what of a job stands in no other column. */
void pai__fold_save_job(pai__buf *out, const pai__pjob *j);
void pai__fold_save_task(pai__buf *out, const pai__pjob *j, uint32_t task);
/* Where the commands of a job begin, as it stands there, or NULL. */
const char *pai__fold_work_dir(pai__bytes head);
/* The CPUs that stand before a task's fold, which is shortened by them, or
 * NULL. */
const char *pai__fold_cpus(pai__bytes *fold);

/* The number of a task that came later than its job, likewise; false: it is
 * told by its role and index. */
bool pai__fold_number(pai__bytes *fold, uint32_t *task);
/* How many tasks the job had, by what stands before them; 0: nobody knows. */
uint32_t pai__fold_tasks(pai__bytes head);

/* The fold again, of a job that has its form. */
int pai__fold_load(pai__pjob *j, pai__bytes head, const pai__bytes *tasks,
                   uint32_t ntasks, pai_error **err);

#endif
