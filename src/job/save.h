/*
 * save.h - internal: a job's state as bytes, and back
 *
 * The same on every machine.  A head and each task are small texts of their
 * own, so that a store writes only those that have changed; what follows from
 * the tasks is counted anew.  Bytes that no job can have come to are refused.
 */
#ifndef PAI_SRC_JOB_SAVE_H
#define PAI_SRC_JOB_SAVE_H

#include "base/buf.h"
#include "job/job.h"

/* Add to `out`, which tells whether there was memory. */
void pai__job_save_head(pai__buf *out, const pai__job *job);
/* How many tasks a head tells of; 0: it is none. */
uint32_t pai__job_saved_tasks(pai__bytes head);
void pai__job_save_task(pai__buf *out, const pai__job *job, uint32_t task);

/*
 * The job again: `tasks` are all of it, by their numbers.  `form` is the one
 * that it had.  PAI_OK; PAI_EINVAL: these are no such bytes; PAI_ENOTSUP: a
 * newer version wrote them; PAI_ENOMEM.
 */
int pai__job_restore(pai__job *job, const pai_alloc *alloc,
                     const pai__job_form *form, pai__bytes head,
                     const pai__bytes *tasks, uint32_t ntasks,
                     pai_error **err);

/* --- numbers, the lowest byte first ------------------------------------------- */

void pai__put_u8(pai__buf *out, uint8_t v);
void pai__put_u32(pai__buf *out, uint32_t v);

/* Takes them away in front; `bad` sticks, and then all are 0. */
typedef struct pai__taker {
  const uint8_t *at;
  size_t left;
  bool bad;
} pai__taker;

uint8_t pai__take_u8(pai__taker *t);
uint32_t pai__take_u32(pai__taker *t);

#endif
