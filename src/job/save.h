/*
 * save.h - internal: saves a job's state as bytes and restores it
 *
 * The format is the same on every machine.  The head and each task are
 * separate pieces, so a store writes only changed ones.  Totals are not saved
 * but counted from the tasks.  Impossible states are refused.
 */
#ifndef PAI_SRC_JOB_SAVE_H
#define PAI_SRC_JOB_SAVE_H

#include "base/buf.h"
#include "job/job.h"

/* These append to `out`, which records a lack of memory. */
void pai__job_save_head(pai__buf *out, const pai__job *job);
/* Returns the number of tasks by a head; 0: not a head. */
uint32_t pai__job_saved_tasks(pai__bytes head);
void pai__job_save_task(pai__buf *out, const pai__job *job, uint32_t task);

/*
 * Restores a job.  `tasks` are all of its tasks, by number.  `form` is the
 * form that the job had.  PAI_OK; PAI_EINVAL: invalid bytes; PAI_ENOTSUP:
 * written by a newer version; PAI_ENOMEM.
 */
int pai__job_restore(pai__job *job, const pai_alloc *alloc,
                     const pai__job_form *form, pai__bytes head,
                     const pai__bytes *tasks, uint32_t ntasks,
                     pai_error **err);

/* --- little-endian numbers ----------------------------------------------- */

void pai__put_u8(pai__buf *out, uint8_t v);
void pai__put_u32(pai__buf *out, uint32_t v);

/* Reads numbers from the front of bytes.  After a failure `bad` stays true and
 * all results are 0. */
typedef struct pai__taker {
  const uint8_t *at;
  size_t left;
  bool bad;
} pai__taker;

uint8_t pai__take_u8(pai__taker *t);
uint32_t pai__take_u32(pai__taker *t);

#endif
