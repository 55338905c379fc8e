/*
 * next.c - pai__job_next(): finds the next action in the states
 *
 * Actions of tasks come first, the lowest task first, and neighbours with the
 * same action as one; then actions of the whole job.  Only a retried partial
 * job comes before its tasks, so tasks whose place was not yet given back keep
 * their turn.
 */
#include "job/inside.h"

/* A task becomes STARTING only here: if its attempt was decided before, it is
 * already over and is not started. */
static void hand_out(pai__job *job, pai__task *t)
{
  switch ((enum pai__action_kind)t->todo) {
  case PAI__DO_START:
    t->state = PAI__TASK_STARTING;
    job->alive++;
    break;
  case PAI__DO_QUEUE: t->flags |= PAI__TASK_ROOM; break;
  case PAI__DO_RELEASE: t->flags &= (uint8_t)~PAI__TASK_ROOM; break;
  default: break;
  }
  t->todo = PAI__DO_NOTHING;
  job->busy--;
}

/* Returns the time before which a returned task must not be placed; 0:
 * none. */
static pai_time returns_until(const pai__task *t)
{
  return t->todo == PAI__DO_RETURN && t->state == PAI__TASK_BACKOFF ? t->time
                                                                    : 0;
}

static void next_of_tasks(pai__job *job, uint32_t most, pai__action *out)
{
  uint32_t i = job->cursor;
  pai__task *t = pai__job_task_at(job, i);

  while (t->todo == PAI__DO_NOTHING)
    t = pai__job_task_at(job, ++i);
  *out = (pai__action){ (enum pai__action_kind)t->todo, false, i, 0,
                        returns_until(t) };
  do {
    hand_out(job, t);
    out->count++;
    if (++i == job->ntasks || out->count == most)
      break;
    t = pai__job_task_at(job, i);
  } while (t->todo == out->kind && returns_until(t) == out->until);
  job->cursor = i;
}

static void next_of_job(pai__job *job, pai__action *out)
{
  enum pai__action_kind kind = PAI__DO_QUEUE;

  while (!pai__job_is_to(job, kind))
    kind++;
  pai__job_do_not(job, kind);
  *out = (pai__action){ kind, true, 0, job->ntasks, 0 };
  if (kind == PAI__DO_WAIT ||
      (kind == PAI__DO_RETURN && job->state == PAI__JOB_BACKOFF))
    out->until = job->due;
  if (kind == PAI__DO_QUEUE)
    job->asked = true;
  else if (kind == PAI__DO_RELEASE)
    job->asked = false;
  else if (kind == PAI__DO_RETURN && job->form->partial)
    pai__job_queue_tasks(job); /* the end of the attempt before has been handed
                                  out */
}

bool pai__job_next(pai__job *job, uint32_t most, pai__action *out)
{
  if (job->busy != 0 &&
      (!job->form->partial || !pai__job_is_to(job, PAI__DO_RETURN)))
    next_of_tasks(job, most > 0 ? most : 1, out);
  else if (job->todo != 0)
    next_of_job(job, out);
  else
    return false;
  return true;
}
