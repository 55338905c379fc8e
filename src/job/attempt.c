/*
 * attempt.c - the fold: a job's attempts, from placement to end
 *
 * These functions change a job after an event was accepted; none of them
 * fails.
 */
#include "job/inside.h"

/* --- tasks and their places ---------------------------------------------- */

void pai__task_reset(pai__task *t)
{
  t->state = PAI__TASK_WAITING;
  t->flags &= PAI__TASK_ROOM;
  t->hasty = 0;
  t->code = 0;
  t->retries = t->counted = 0;
}

void pai__job_release(pai__job *job, uint32_t task)
{
  bool has = (pai__job_task_at(job, task)->flags & PAI__TASK_ROOM) != 0;

  pai__job_do_task(job, task, has ? PAI__DO_RELEASE : PAI__DO_NOTHING);
}

void pai__job_queue(pai__job *job, uint32_t task)
{
  pai__task *t = pai__job_task_at(job, task);
  bool leaves = t->todo == PAI__DO_RELEASE; /* it can wait at its old turn */

  t->state = PAI__TASK_WAITING;
  pai__job_do_task(job, task, leaves ? PAI__DO_RETURN : PAI__DO_QUEUE);
}

void pai__job_start_task(pai__job *job, uint32_t task, pai_time time)
{
  pai__task *t = pai__job_task_at(job, task);

  t->state = PAI__TASK_PLACED;
  t->time = time;
  t->flags |= PAI__TASK_ROOM;
  pai__job_do_task(job, task, PAI__DO_START);
}

void pai__job_stop_task(pai__job *job, uint32_t task)
{
  pai__job_task_at(job, task)->state = PAI__TASK_ENDING;
  pai__job_do_task(job, task, PAI__DO_STOP);
}

void pai__job_wait_until(pai__job *job, pai_time time)
{
  if (time < job->due) {
    job->due = time;
    pai__job_do(job, PAI__DO_WAIT);
  }
}

void pai__job_wait_no_more(pai__job *job)
{
  job->due = INT64_MAX;
  pai__job_do_not(job, PAI__DO_WAIT);
}

/* The gang's place is given back as a whole, with those of all tasks. */
static void drop_rooms(pai__job *job)
{
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__job_task_at(job, i)->flags &= (uint8_t)~PAI__TASK_ROOM;
    pai__job_do_task(job, i, PAI__DO_NOTHING);
  }
}

/* --- attempts ------------------------------------------------------------ */

void pai__job_renew(pai__job *job)
{
  job->attempt = job->retries + (job->form->partial ? 0 : job->preempted);
  job->trigger = PAI__NO_TASK;
  job->done = 0;
  for (uint32_t r = 0; r < job->form->nroles; r++) {
    pai__job_role *role = pai__job_role_at(job, r);

    role->well = role->badly = 0;
  }
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (t->state != PAI__TASK_GONE)
      pai__task_reset(t);
  }
}

void pai__job_queue_tasks(pai__job *job)
{
  pai__job_renew(job);
  job->state = PAI__JOB_QUEUED;
  for (uint32_t i = 0; i < job->ntasks; i++)
    if (pai__job_task_at(job, i)->state != PAI__TASK_GONE)
      pai__job_queue(job, i);
}

static void finish(pai__job *job)
{
  job->state = PAI__JOB_DONE;
  if (job->asked)
    pai__job_do(job, PAI__DO_RELEASE);
  pai__job_do(job, PAI__DO_FINISH);
}

void pai__job_attempt_over(pai__job *job, pai_time time)
{
  const pai__task *t = pai__job_trigger(job);
  uint32_t of_task = t != NULL ? t->retries - t->counted : 0;
  pai__tries tries = { job->counted, job->retries - job->counted + of_task,
                       &job->hasty, time - job->began };
  pai__retry retry = { 0 };

  if (!job->stop_asked)
    retry = pai__retry_decide(job->form->retry, job->form, job->code, &tries,
                              &job->prng);
  if (!job->form->partial)
    drop_rooms(job);
  pai__job_do_not(job, PAI__DO_QUEUE);
  pai__job_do_not(job, PAI__DO_RETURN);
  pai__job_do_not(job, PAI__DO_RESUME);
  if (!retry.again) {
    finish(job);
    return;
  }
  job->retries++;
  job->counted += retry.counts;
  job->decided = false;
  job->state = retry.delay > 0 ? PAI__JOB_BACKOFF : PAI__JOB_QUEUED;
  if (retry.delay > 0)
    pai__job_wait_until(job, time + retry.delay);
  if (!job->form->partial || retry.delay == 0)
    pai__job_do(job, PAI__DO_RETURN);
}

void pai__job_fix(pai__job *job, int code, pai_time time)
{
  job->decided = true;
  job->preempting = false;
  job->code = code;
  job->state = PAI__JOB_ENDING;
  pai__job_wait_no_more(job);
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (pai__task_is_alive(t)) {
      t->flags &= (uint8_t)~PAI__TASK_RETURNS;
      if (t->state != PAI__TASK_ENDING)
        pai__job_stop_task(job, i);
    } else if (t->state < PAI__TASK_DONE) {
      t->state = PAI__TASK_DONE;
      t->code = PAI__CODE_JOB_OVER;
      t->time = time;
      if (job->form->partial)
        pai__job_release(job, i);
      else
        pai__job_do_task(job, i, PAI__DO_NOTHING);
    }
  }
  if (job->alive == 0)
    pai__job_attempt_over(job, time);
}

void pai__job_check(pai__job *job, pai_time time)
{
  int code;

  if (!job->decided && pai__job_decide(job, &job->trigger, &code))
    pai__job_fix(job, code, time);
}

void pai__job_give_back(pai__job *job)
{
  job->preempting = false;
  job->preempted++;
  job->state = PAI__JOB_QUEUED;
  drop_rooms(job);
  pai__job_do(job, PAI__DO_RETURN);
}
