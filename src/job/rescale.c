/*
 * rescale.c - rescaling: changes the number of tasks of a role of a live job
 *
 * Tasks keep their numbers: new ones get the next numbers, and the number of a
 * removed task is reused when its index is wanted again (job-spec 5.8).
 */
#include "job/inside.h"

/* The job is in an attempt, so completed tasks count. */
static bool is_up(const pai__job *job)
{
  return job->state == PAI__JOB_STARTING || job->state == PAI__JOB_RUNNING;
}

/* Allocates space for more tasks. */
static int grow(pai__job *job, uint32_t more)
{
  size_t old = job->ntasks > 0 ? job->ntasks : 1, n = job->ntasks + more;
  pai__task *tasks;

  if (more == 0)
    return PAI_OK;
  tasks = pai__realloc(job->alloc, job->inside ? NULL : job->at.many.tasks,
                       job->inside ? 0 : old, n, sizeof(*tasks));
  if (tasks == NULL)
    return PAI_ENOMEM;
  if (job->inside) {
    tasks[0] = job->at.one;
    job->at.many.roles = NULL; /* there is only one role */
    job->inside = false;
  }
  job->at.many.tasks = tasks;
  return PAI_OK;
}

/* Adds a new task.  A waiting gang requests all its tasks at once, a running
 * gang this one alone. */
static void come(pai__job *job, uint32_t task)
{
  pai__task_reset(pai__job_task_at(job, task));
  if (is_up(job) || (job->form->partial && job->state == PAI__JOB_QUEUED))
    pai__job_queue(job, task);
}

static int more_tasks(pai__job *job, uint32_t role, uint32_t want)
{
  uint32_t first = job->ntasks, had = 0;

  for (uint32_t i = 0; i < job->ntasks; i++)
    had += pai__job_task_at(job, i)->role == role;
  if (grow(job, want > had ? want - had : 0) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < first; i++) {
    const pai__task *t = pai__job_task_at(job, i);

    if (t->role == role && t->index < want && t->state == PAI__TASK_GONE)
      come(job, i);
  } /* a task being removed returns when it has ended */
  for (; had < want; had++) {
    job->at.many.tasks[job->ntasks] =
      (pai__task){ .role = role, .index = had };
    come(job, job->ntasks++);
  }
  return PAI_OK;
}

static void remove_task(pai__job *job, uint32_t task)
{
  pai__task *t = pai__job_task_at(job, task);

  if (pai__task_is_alive(t)) {
    t->flags |= PAI__TASK_REMOVED;
    if (t->state != PAI__TASK_ENDING)
      pai__job_stop_task(job, task);
    return;
  }
  if (t->state == PAI__TASK_DONE && is_up(job))
    (void)pai__job_count(job, t, -1);
  t->state = PAI__TASK_GONE;
  t->code = PAI__CODE_REMOVED;
  pai__job_release(job, task);
}

int pai__job_rescale(pai__job *job, uint32_t role, uint32_t tasks,
                     pai_time time)
{
  uint32_t old;

  if (role >= job->form->nroles || job->state == PAI__JOB_DONE)
    return PAI_EINVAL;
  if (job->state == PAI__JOB_ENDING || job->preempting)
    return PAI_EBUSY;
  old = pai__job_roles(job)[role].tasks;
  if (tasks > old && more_tasks(job, role, tasks) < 0)
    return PAI_ENOMEM;
  pai__job_role_at(job, role)->tasks = tasks;
  job->wanted += tasks - old;
  for (uint32_t i = 0; tasks < old && i < job->ntasks; i++) {
    const pai__task *t = pai__job_task_at(job, i);

    if (t->role == role && t->index >= tasks && t->state != PAI__TASK_GONE)
      remove_task(job, i);
  }
  if (is_up(job))
    pai__job_check(job, time);
  return PAI_OK;
}
