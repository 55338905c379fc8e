/* save.c - writes a job's state as bytes */
#include "job/save.h"

#include "job/inside.h"
#include "job/save_form.h"

void pai__put_u8(pai__buf *out, uint8_t v)
{
  pai__buf_add(out, &v, 1);
}

void pai__put_u32(pai__buf *out, uint32_t v)
{
  uint8_t b[4];

  for (int i = 0; i < 4; i++)
    b[i] = (uint8_t)(v >> (8 * i));
  pai__buf_add(out, b, sizeof(b));
}

static void put_u64(pai__buf *out, uint64_t v)
{
  pai__put_u32(out, (uint32_t)v);
  pai__put_u32(out, (uint32_t)(v >> 32));
}

void pai__job_save_head(pai__buf *out, const pai__job *job)
{
  const pai__job_role *roles = pai__job_roles(job);

  pai__put_u8(out, PAI__SAVED_VERSION);
  pai__put_u8(out, job->state);
  pai__put_u8(out, job->todo);
  pai__put_u8(out, job->hasty);
  pai__put_u8(out, (uint8_t)((job->asked ? PAI__SAVED_ASKED : 0) |
                             (job->decided ? PAI__SAVED_DECIDED : 0) |
                             (job->stop_asked ? PAI__SAVED_STOP : 0) |
                             (job->preempting ? PAI__SAVED_PREEMPTING : 0)));
  pai__put_u32(out, job->form->nroles);
  pai__put_u32(out, job->ntasks);
  pai__put_u32(out, job->attempt);
  pai__put_u32(out, job->retries);
  pai__put_u32(out, job->counted);
  pai__put_u32(out, job->preempted);
  pai__put_u32(out, job->trigger);
  pai__put_u32(out, (uint32_t)job->code);
  put_u64(out, job->prng.state);
  put_u64(out, (uint64_t)job->began);
  put_u64(out, (uint64_t)job->due);
  for (uint32_t r = 0; r < job->form->nroles; r++) {
    pai__put_u32(out, roles[r].tasks);
    pai__put_u32(out, roles[r].well);
    pai__put_u32(out, roles[r].badly);
  }
}

void pai__job_save_task(pai__buf *out, const pai__job *job, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(job)[task];

  pai__put_u8(out, PAI__SAVED_VERSION);
  pai__put_u8(out, t->state);
  pai__put_u8(out, t->todo);
  pai__put_u8(out, t->flags);
  pai__put_u8(out, t->hasty);
  pai__put_u32(out, t->role);
  pai__put_u32(out, t->index);
  pai__put_u32(out, (uint32_t)t->code);
  pai__put_u32(out, t->retries);
  pai__put_u32(out, t->counted);
  put_u64(out, (uint64_t)t->time);
}
