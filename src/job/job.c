/*
 * job.c - the fold: what each event makes of a job
 *
 * Memory for a whole round of actions is made before anything changes, so an
 * event is either taken completely or not at all.
 */
#include "job/job.h"

#include "job/complete.h"

#include <openpai/platform.h>

static void reset_tasks(pai__job *job)
{
  for (size_t i = 0; i < job->ntasks; i++) {
    job->tasks[i].state = PAI__TASK_PENDING;
    job->tasks[i].code = 0;
  }
  memset(job->ended, 0, job->spec->nroles * sizeof(*job->ended));
  job->done = 0;
  job->trigger = NULL;
}

/* Room for the most actions one event can cause: one per task and a few; and
 * for as many that were not taken yet. */
static int reserve_actions(pai__job *job)
{
  size_t most = job->ntasks + 4, pending = job->tail - job->head;
  size_t want = most + (pending > most ? pending : most);
  pai__action *grown;

  if (job->cap - job->tail >= most)
    return PAI_OK;
  if (job->head != 0 && pending != 0)
    memmove(job->actions, job->actions + job->head,
            pending * sizeof(*job->actions));
  job->head = 0;
  job->tail = pending;
  if (want <= job->cap)
    return PAI_OK;
  grown = pai__realloc(&job->alloc, job->actions, job->cap, want,
                       sizeof(*job->actions));
  if (grown == NULL)
    return PAI_ENOMEM;
  job->actions = grown;
  job->cap = want;
  return PAI_OK;
}

static void act(pai__job *job, enum pai__action_kind kind, uint32_t task,
                pai_time delay)
{
  job->actions[job->tail++] = (pai__action){ kind, task, delay };
}

int pai__job_new(pai__job **out, const pai_alloc *alloc, pai_spec *spec,
                 uint64_t seed)
{
  pai__job *job = pai__zalloc(alloc, sizeof(*job));
  size_t t = 0;

  *out = NULL;
  if (job == NULL)
    return PAI_ENOMEM;
  job->alloc = *alloc;
  job->spec = pai_spec_ref(spec);
  job->state = PAI__JOB_QUEUED;
  job->prng.state = seed;
  job->ntasks = spec->ntasks;
  job->tasks = pai__zalloc(alloc, job->ntasks * sizeof(*job->tasks));
  job->ended = pai__zalloc(alloc, spec->nroles * sizeof(*job->ended));
  if (job->tasks == NULL || job->ended == NULL || reserve_actions(job) < 0) {
    pai__job_free(job);
    return PAI_ENOMEM;
  }
  for (uint32_t r = 0; r < spec->nroles; r++)
    for (uint32_t i = 0; i < spec->roles[r].instances; i++, t++) {
      job->tasks[t].role = r;
      job->tasks[t].index = i;
    }
  reset_tasks(job);
  act(job, PAI__DO_QUEUE, 0, 0);
  *out = job;
  return PAI_OK;
}

void pai__job_free(pai__job *job)
{
  pai_alloc alloc;

  if (job == NULL)
    return;
  pai__free(&job->alloc, job->ended, job->spec->nroles * sizeof(*job->ended));
  pai_spec_unref(job->spec);
  pai__free(&job->alloc, job->tasks, job->ntasks * sizeof(*job->tasks));
  pai__free(&job->alloc, job->actions, job->cap * sizeof(*job->actions));
  alloc = job->alloc;
  pai__free(&alloc, job, sizeof(*job));
}

static bool is_alive(const pai__task *t)
{
  return t->state == PAI__TASK_STARTING || t->state == PAI__TASK_RUNNING ||
         t->state == PAI__TASK_ENDING;
}

static void finish(pai__job *job)
{
  job->state = PAI__JOB_DONE;
  act(job, PAI__DO_FINISH, 0, 0);
}

/* The last task of a decided attempt has ended: again, or over. */
static void attempt_over(pai__job *job)
{
  pai__retry retry = pai__job_retry(job, job->code);

  act(job, PAI__DO_RELEASE, 0, 0);
  if (!retry.again || job->stop_asked) {
    finish(job);
    return;
  }
  /* What the tasks came to stays to be seen until the next attempt. */
  job->retries++;
  job->counted += retry.counts;
  job->decided = false;
  job->state = retry.delay > 0 ? PAI__JOB_BACKOFF : PAI__JOB_QUEUED;
  act(job, retry.delay > 0 ? PAI__DO_WAIT : PAI__DO_QUEUE, 0, retry.delay);
}

/* The attempt's result is fixed: stop what still runs. */
static void decide(pai__job *job, int code)
{
  bool alive = false;

  job->decided = true;
  job->code = code;
  job->state = PAI__JOB_ENDING;
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = &job->tasks[i];
    if (is_alive(t)) {
      alive = true;
      t->state = PAI__TASK_ENDING;
      act(job, PAI__DO_STOP, i, 0);
    } else if (t->state == PAI__TASK_PENDING) {
      t->state = PAI__TASK_DONE;
      t->code = PAI__CODE_JOB_OVER;
    }
  }
  if (!alive)
    attempt_over(job);
}

static int on_placed(pai__job *job)
{
  if (job->state != PAI__JOB_QUEUED)
    return PAI_EINVAL;
  job->state = PAI__JOB_STARTING;
  job->attempt = job->retries;
  reset_tasks(job);
  for (uint32_t i = 0; i < job->ntasks; i++)
    act(job, PAI__DO_START, i, 0);
  return PAI_OK;
}

static int on_task_started(pai__job *job, uint32_t task)
{
  pai__task *t = &job->tasks[task];

  if (t->state == PAI__TASK_ENDING)
    return PAI_OK; /* it was asked to stop while it came up */
  if (t->state != PAI__TASK_STARTING)
    return PAI_EINVAL;
  t->state = PAI__TASK_RUNNING;
  if (job->state == PAI__JOB_STARTING)
    job->state = PAI__JOB_RUNNING;
  return PAI_OK;
}

static int on_task_ended(pai__job *job, uint32_t task, int code)
{
  pai__task *t = &job->tasks[task];
  const pai__task *trigger;
  size_t alive = 0;

  if (!is_alive(t))
    return PAI_EINVAL;
  if (t->state == PAI__TASK_ENDING) /* how it died says nothing about it */
    code =
      job->code == PAI__CODE_STOPPED ? PAI__CODE_STOPPED : PAI__CODE_JOB_OVER;
  t->code = code;
  t->state = PAI__TASK_DONE;
  job->done++;
  if (code == 0)
    job->ended[t->role].well++;
  else
    job->ended[t->role].badly++;
  if (!job->decided && pai__job_decide(job, t, &trigger)) {
    job->trigger = trigger;
    decide(job, trigger != NULL ? trigger->code : 0);
    return PAI_OK;
  }
  for (size_t i = 0; i < job->ntasks; i++)
    alive += is_alive(&job->tasks[i]);
  if (job->decided && alive == 0)
    attempt_over(job);
  return PAI_OK;
}

static int on_stop(pai__job *job)
{
  if (job->state == PAI__JOB_DONE)
    return PAI_EINVAL;
  if (job->stop_asked) { /* again: no more patience */
    for (uint32_t i = 0; i < job->ntasks; i++)
      if (is_alive(&job->tasks[i]))
        act(job, PAI__DO_KILL, i, 0);
    return PAI_OK;
  }
  job->stop_asked = true; /* no retry; a result that is there stands */
  if (!job->decided)
    decide(job, PAI__CODE_STOPPED);
  return PAI_OK;
}

static int on_retry_due(pai__job *job)
{
  if (job->state != PAI__JOB_BACKOFF)
    return PAI_EINVAL;
  job->state = PAI__JOB_QUEUED;
  act(job, PAI__DO_QUEUE, 0, 0);
  return PAI_OK;
}

int pai__job_handle(pai__job *job, const pai__job_event *event)
{
  if (event->task >= job->ntasks)
    return PAI_EINVAL;
  if (reserve_actions(job) < 0)
    return PAI_ENOMEM;
  switch (event->kind) {
  case PAI__EV_PLACED: return on_placed(job);
  case PAI__EV_TASK_STARTED: return on_task_started(job, event->task);
  case PAI__EV_TASK_ENDED: return on_task_ended(job, event->task, event->code);
  case PAI__EV_STOP: return on_stop(job);
  case PAI__EV_RETRY_DUE: return on_retry_due(job);
  }
  return PAI_EINVAL;
}

/* A task becomes STARTING only here: one whose attempt was decided before its
 * turn came is over already, and is not started. */
bool pai__job_next(pai__job *job, pai__action *out)
{
  while (job->head < job->tail) {
    *out = job->actions[job->head++];
    if (out->kind != PAI__DO_START)
      return true;
    if (job->tasks[out->task].state == PAI__TASK_PENDING) {
      job->tasks[out->task].state = PAI__TASK_STARTING;
      return true;
    }
  }
  return false;
}

bool pai__job_has_next(const pai__job *job)
{
  return job->head < job->tail;
}

static int final_state(int code)
{
  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER)
    return PAI_STATE_STOPPED;
  return code == 0 ? PAI_STATE_SUCCEEDED : PAI_STATE_FAILED;
}

int pai__job_public_state(const pai__job *job)
{
  switch (job->state) {
  case PAI__JOB_RUNNING: return PAI_STATE_RUNNING;
  case PAI__JOB_ENDING:
    return job->stop_asked ? PAI_STATE_STOPPING : PAI_STATE_RUNNING;
  case PAI__JOB_DONE: return final_state(job->code);
  default: return PAI_STATE_WAITING;
  }
}

int pai__job_task_state(const pai__job *job, uint32_t task)
{
  const pai__task *t = &job->tasks[task];

  switch (t->state) {
  case PAI__TASK_RUNNING: return PAI_STATE_RUNNING;
  case PAI__TASK_ENDING: return PAI_STATE_STOPPING;
  case PAI__TASK_DONE: return final_state(t->code);
  default: return PAI_STATE_WAITING;
  }
}
