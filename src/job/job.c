/*
 * job.c - the fold of a job: applies events to its state
 *
 * An event is checked completely before anything changes, and needs no memory:
 * it is applied completely, or refused.
 */
#include "job/inside.h"

/* --- events of tasks ----------------------------------------------------- */

/* Returns whether the event's tasks exist, each in a state of the mask. */
static bool tasks_are(pai__job *job, const pai__job_event *e, unsigned states)
{
  if (e->count == 0 || e->task >= job->ntasks ||
      e->count > job->ntasks - e->task)
    return false;
  for (uint32_t i = e->task; i < e->task + e->count; i++)
    if ((states >> pai__job_task_at(job, i)->state & 1) == 0)
      return false;
  return true;
}

enum {
  WAITING = 1 << PAI__TASK_WAITING,
  PLACED = 1 << PAI__TASK_PLACED,
  STARTING = 1 << PAI__TASK_STARTING,
  RUNNING = 1 << PAI__TASK_RUNNING,
  ENDING = 1 << PAI__TASK_ENDING
};

static bool is_whole(const pai__job *job, const pai__job_event *e)
{
  return e->count == 0 || (e->task == 0 && e->count == job->ntasks);
}

static int gang_placed(pai__job *job, const pai__job_event *e)
{
  if (job->todo != 0 || !is_whole(job, e))
    return PAI_EINVAL;
  pai__job_renew(job);
  job->state = PAI__JOB_STARTING;
  job->began = e->time;
  for (uint32_t i = 0; i < job->ntasks; i++)
    if (pai__job_task_at(job, i)->state != PAI__TASK_GONE)
      pai__job_start_task(job, i, e->time);
  return PAI_OK;
}

/* A place was requested for the task, and the host was told. */
static bool waits_for_room(const pai__task *t)
{
  return t->state == PAI__TASK_WAITING && t->todo == PAI__DO_NOTHING &&
         (t->flags & PAI__TASK_ROOM) != 0;
}

static int tasks_placed(pai__job *job, const pai__job_event *e)
{
  uint32_t first = e->count == 0 ? 0 : e->task, found = 0;
  uint32_t end = e->count == 0 ? job->ntasks : e->task + e->count;

  if (job->state > PAI__JOB_RUNNING || job->preempting ||
      pai__job_is_to(job, PAI__DO_RETURN) ||
      (e->count != 0 && !tasks_are(job, e, WAITING)))
    return PAI_EINVAL;
  for (uint32_t i = first; i < end; i++)
    found += waits_for_room(pai__job_task_at(job, i));
  if (found == 0 || (e->count != 0 && found != e->count))
    return PAI_EINVAL;
  for (uint32_t i = first; i < end; i++)
    if (waits_for_room(pai__job_task_at(job, i)))
      pai__job_start_task(job, i, e->time);
  if (job->state == PAI__JOB_QUEUED) {
    job->state = PAI__JOB_STARTING;
    job->began = e->time;
  }
  return PAI_OK;
}

static int on_placed(pai__job *job, const pai__job_event *e)
{
  return job->state == PAI__JOB_QUEUED && !job->form->partial
           ? gang_placed(job, e)
           : tasks_placed(job, e);
}

static int on_started(pai__job *job, const pai__job_event *e)
{
  if (!tasks_are(job, e, STARTING | ENDING))
    return PAI_EINVAL;
  for (uint32_t i = e->task; i < e->task + e->count; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (t->state == PAI__TASK_ENDING)
      continue; /* it was asked to stop while it started */
    t->state = PAI__TASK_RUNNING;
    t->time = e->time;
    if (job->state == PAI__JOB_STARTING)
      job->state = PAI__JOB_RUNNING;
  }
  return PAI_OK;
}

/* Returns whether no task of the attempt has run yet. */
static bool is_untouched(pai__job *job)
{
  bool is = job->done == 0;

  for (uint32_t i = 0; is && i < job->ntasks; i++) {
    const pai__task *t = pai__job_task_at(job, i);

    is = t->state <= PAI__TASK_STARTING && t->retries == 0;
  }
  return is;
}

static int on_undone(pai__job *job, const pai__job_event *e)
{
  if (!tasks_are(job, e, RUNNING))
    return PAI_EINVAL;
  for (uint32_t i = e->task; i < e->task + e->count; i++)
    pai__job_task_at(job, i)->state = PAI__TASK_STARTING;
  if (job->state == PAI__JOB_RUNNING && is_untouched(job))
    job->state = PAI__JOB_STARTING;
  return PAI_OK;
}

/* The task was stopped because rescaling removed it; the role may have grown
 * again since. */
static void removed_ended(pai__job *job, uint32_t task, pai_time time)
{
  pai__task *t = pai__job_task_at(job, task);
  bool returns = (t->flags & PAI__TASK_RETURNS) != 0;

  t->code = PAI__CODE_REMOVED;
  if (t->index >= pai__job_role_of(job, t)->tasks) {
    t->state = PAI__TASK_GONE;
    pai__job_release(job, task);
    return;
  }
  pai__task_reset(t);
  if (job->preempting)
    return;
  if (returns)
    pai__job_do_task(job, task, PAI__DO_RETURN);
  else
    pai__job_start_task(job, task, time);
}

/* The task ended by itself.  Returns true if that completes a rule. */
static bool task_over(pai__job *job, uint32_t task, pai_time time)
{
  pai__task *t = pai__job_task_at(job, task);
  pai__tries tries = { t->counted, t->retries - t->counted, &t->hasty,
                       time - t->time };
  pai__retry retry = pai__retry_decide(job->form->roles[t->role].retry,
                                       job->form, t->code, &tries, NULL);
  bool partial = job->form->partial;

  t->flags &= (uint8_t)~PAI__TASK_RETURNS;
  t->time = time + retry.delay;
  if (!retry.again) {
    t->state = PAI__TASK_DONE;
    if (partial)
      pai__job_release(job, task);
    return pai__job_count(job, t, 1);
  }
  t->retries++;
  t->counted += retry.counts;
  t->state = PAI__TASK_WAITING;
  if (partial)
    pai__job_do_task(job, task, PAI__DO_RETURN);
  if (job->preempting)
    return false;
  if (retry.delay > 0) {
    t->state = PAI__TASK_BACKOFF;
    pai__job_wait_until(job, t->time);
  } else if (!partial) {
    pai__job_start_task(job, task, time);
  }
  return false;
}

static bool end_task(pai__job *job, uint32_t task, int code, pai_time time)
{
  pai__task *t = pai__job_task_at(job, task);
  bool told = t->state == PAI__TASK_ENDING && t->todo != PAI__DO_STOP;

  job->alive--;
  pai__job_do_task(job, task, PAI__DO_NOTHING);
  if (job->decided) { /* the job's decision ended it, so its code does not
                         count */
    t->code =
      job->code == PAI__CODE_STOPPED ? PAI__CODE_STOPPED : PAI__CODE_JOB_OVER;
    t->state = PAI__TASK_DONE;
    if (t->index >= pai__job_role_of(job, t)->tasks) {
      t->code = PAI__CODE_REMOVED;
      t->state = PAI__TASK_GONE;
    }
    t->time = time;
    if (job->form->partial)
      pai__job_release(job, task);
    return false;
  }
  if ((t->flags & PAI__TASK_REMOVED) != 0) {
    removed_ended(job, task, time);
    return false;
  }
  if (told && (t->flags & PAI__TASK_RETURNS) != 0) {
    t->flags &= PAI__TASK_ROOM;
    t->state = PAI__TASK_WAITING;
    if (job->form->partial)
      pai__job_do_task(job, task, PAI__DO_RETURN);
    return false;
  }
  t->code = code;
  return task_over(job, task, time);
}

static int on_ended(pai__job *job, const pai__job_event *e)
{
  bool decided = job->decided, rule = false;

  if (!tasks_are(job, e, STARTING | RUNNING | ENDING))
    return PAI_EINVAL;
  for (uint32_t i = e->task; i < e->task + e->count; i++)
    rule |= end_task(job, i, e->code, e->time);
  if (rule || (!decided && job->done >= job->wanted))
    pai__job_check(job, e->time);
  if (job->alive == 0 && decided)
    pai__job_attempt_over(job, e->time);
  else if (job->alive == 0 && job->preempting)
    pai__job_give_back(job);
  return PAI_OK;
}

/* --- preemption ---------------------------------------------------------- */

static int gang_preempted(pai__job *job, const pai__job_event *e)
{
  if (!is_whole(job, e) || job->preempting)
    return PAI_EINVAL;
  job->preempting = true;
  pai__job_wait_no_more(job);
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (pai__task_is_alive(t) && t->state != PAI__TASK_ENDING) {
      t->flags |= PAI__TASK_RETURNS;
      pai__job_stop_task(job, i);
    } else if (t->state < PAI__TASK_DONE && !pai__task_is_alive(t)) {
      t->state = PAI__TASK_WAITING;
      pai__job_do_task(job, i, PAI__DO_NOTHING);
    }
  }
  if (job->alive == 0)
    pai__job_give_back(job);
  return PAI_OK;
}

static bool has_room(const pai__task *t)
{
  return t->state == PAI__TASK_PLACED || pai__task_is_alive(t);
}

static int tasks_preempted(pai__job *job, const pai__job_event *e)
{
  uint32_t first = e->count == 0 ? 0 : e->task, found = 0;
  uint32_t end = e->count == 0 ? job->ntasks : e->task + e->count;

  if (e->count != 0 &&
      !tasks_are(job, e, PLACED | STARTING | RUNNING | ENDING))
    return PAI_EINVAL;
  for (uint32_t i = first; i < end; i++)
    found += has_room(pai__job_task_at(job, i));
  if (found == 0)
    return PAI_EINVAL;
  job->preempted++;
  for (uint32_t i = first; i < end; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (t->state == PAI__TASK_PLACED) {
      t->state = PAI__TASK_WAITING;
      pai__job_do_task(job, i, PAI__DO_RETURN);
    } else if (pai__task_is_alive(t)) {
      t->flags |= PAI__TASK_RETURNS;
      if (t->state != PAI__TASK_ENDING)
        pai__job_stop_task(job, i);
    }
  }
  return PAI_OK;
}

static int on_preempted(pai__job *job, const pai__job_event *e)
{
  switch (job->state) {
  case PAI__JOB_STARTING:
  case PAI__JOB_RUNNING:
    return job->form->partial ? tasks_preempted(job, e)
                              : gang_preempted(job, e);
  case PAI__JOB_ENDING: return PAI_OK; /* it gives its place back anyway */
  default: return PAI_EINVAL;
  }
}

/* --- stop and time ------------------------------------------------------- */

/* Kills tasks that are being ended; with `at_once` also those not asked to
 * stop yet. */
static void kill_tasks(pai__job *job, bool at_once)
{
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (t->state != PAI__TASK_ENDING || (t->flags & PAI__TASK_KILLED) != 0 ||
        (!at_once && t->todo == PAI__DO_STOP))
      continue;
    t->flags |= PAI__TASK_KILLED;
    pai__job_do_task(job, i, PAI__DO_KILL);
  }
}

static int on_stop(pai__job *job, const pai__job_event *e)
{
  if (job->state == PAI__JOB_DONE)
    return PAI_EINVAL;
  if (job->stop_asked) { /* the second stop: kill */
    kill_tasks(job, true);
    return PAI_OK;
  }
  job->stop_asked = true; /* no retry; an existing result stays */
  if (job->state == PAI__JOB_QUEUED || job->state == PAI__JOB_BACKOFF)
    pai__job_renew(job); /* the stop applies to the next attempt */
  if (!job->decided) {
    job->trigger = PAI__NO_TASK;
    pai__job_fix(job, e->code != 0 ? e->code : PAI__CODE_STOPPED, e->time);
  }
  return PAI_OK;
}

static void job_due(pai__job *job)
{
  job->state = PAI__JOB_QUEUED;
  if (job->form->partial)
    pai__job_do(job, PAI__DO_RETURN);
  else if (!pai__job_is_to(job, PAI__DO_RETURN)) /* with RETURN the host was
                                                    told the time */
    pai__job_do(job, PAI__DO_RESUME);
}

static void tasks_due(pai__job *job, pai_time time)
{
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__task *t = pai__job_task_at(job, i);

    if (t->state != PAI__TASK_BACKOFF)
      continue;
    if (t->time > time) {
      pai__job_wait_until(job, t->time);
    } else if (!job->form->partial) {
      pai__job_start_task(job, i, time);
    } else {
      t->state = PAI__TASK_WAITING;
      if (t->todo == PAI__DO_NOTHING)
        pai__job_do_task(job, i, PAI__DO_RESUME);
    }
  }
}

/* A host's clock may be early: then it is told to wait again. */
static int on_due(pai__job *job, pai_time time)
{
  if (job->due == INT64_MAX)
    return PAI_EINVAL;
  if (time < job->due) {
    pai__job_do(job, PAI__DO_WAIT);
    return PAI_OK;
  }
  pai__job_wait_no_more(job);
  if (job->state == PAI__JOB_BACKOFF)
    job_due(job);
  else
    tasks_due(job, time);
  return PAI_OK;
}

int pai__job_handle(pai__job *job, const pai__job_event *event)
{
  switch (event->kind) {
  case PAI__EV_PLACED: return on_placed(job, event);
  case PAI__EV_TASK_STARTED: return on_started(job, event);
  case PAI__EV_TASK_ENDED: return on_ended(job, event);
  case PAI__EV_PREEMPTED: return on_preempted(job, event);
  case PAI__EV_STOP: return on_stop(job, event);
  case PAI__EV_IMPATIENT: kill_tasks(job, false); return PAI_OK;
  case PAI__EV_DUE: return on_due(job, event->time);
  case PAI__EV_TASK_UNDONE: return on_undone(job, event);
  }
  return PAI_EINVAL;
}

/* --- creation ------------------------------------------------------------ */

static int make_tasks(pai__job *job)
{
  const pai__job_form *form = job->form;
  uint32_t t = 0;

  job->at.many.tasks = pai__realloc(
    job->alloc, NULL, 0, job->ntasks > 0 ? job->ntasks : 1, sizeof(pai__task));
  if (form->nroles > 1)
    job->at.many.roles =
      pai__realloc(job->alloc, NULL, 0, form->nroles, sizeof(pai__job_role));
  if (job->at.many.tasks == NULL ||
      (form->nroles > 1 && job->at.many.roles == NULL))
    return PAI_ENOMEM;
  for (uint32_t r = 0; r < form->nroles; r++) {
    *pai__job_role_at(job, r) =
      (pai__job_role){ .tasks = form->roles[r].tasks };
    for (uint32_t i = 0; i < form->roles[r].tasks; i++, t++)
      job->at.many.tasks[t] = (pai__task){ .role = r, .index = i };
  }
  return PAI_OK;
}

int pai__job_init(pai__job *job, const pai_alloc *alloc,
                  const pai__job_form *form, uint64_t seed)
{
  *job = (pai__job){ .form = form,
                     .alloc = alloc,
                     .prng = { seed },
                     .due = INT64_MAX,
                     .trigger = PAI__NO_TASK };
  for (uint32_t r = 0; r < form->nroles; r++)
    job->wanted += form->roles[r].tasks;
  job->ntasks = job->wanted;
  job->inside = form->nroles == 1 && job->ntasks == 1;
  if (job->inside)
    job->role.tasks = 1;
  else if (make_tasks(job) < 0)
    return PAI_ENOMEM;
  if (form->partial) {
    pai__job_queue_tasks(job);
    return PAI_OK;
  }
  pai__job_renew(job);
  job->state = PAI__JOB_QUEUED;
  pai__job_do(job, PAI__DO_QUEUE);
  return PAI_OK;
}

void pai__job_dispose(pai__job *job)
{
  if (job->form == NULL || job->inside)
    return;
  pai__free(job->alloc, job->at.many.tasks,
            (job->ntasks > 0 ? job->ntasks : 1) * sizeof(pai__task));
  if (job->form->nroles > 1)
    pai__free(job->alloc, job->at.many.roles,
              job->form->nroles * sizeof(pai__job_role));
  job->form = NULL;
}
