/*
 * deferred.c - events of jobs for the scheduler, deferred while out of memory
 *
 * An accepted job does not end because there is no memory to send its event to
 * the scheduler.  Such events are kept, and sent before jobs are placed.
 */
#include "platform/place/impossible.h"
#include "platform/place/single.h"
#include "platform/shortage.h"

static uint8_t *deferred_of(pai__pjob *j, uint32_t task, bool **held)
{
  *held =
    task == PAI__NO_TASK ? &j->deferred_held : &j->tasks[task].deferred_held;
  return task == PAI__NO_TASK ? &j->deferred : &j->tasks[task].deferred;
}

static int queue(pai__pjob *j, uint32_t task)
{
  pai_error *err = NULL;
  int rc = task == PAI__NO_TASK ? pai__platform_queue(j, &err)
                                : pai__single_queue(j, task, &err);

  if (rc == PAI_ENOROOM && j->job.state == PAI__JOB_QUEUED)
    rc = pai__impossible_note(j, &err);
  pai_error_free(err);
  return rc;
}

static int tell(pai__pjob *j, uint32_t task, int what, bool held)
{
  bool whole = task == PAI__NO_TASK;

  switch (what) {
  case PAI__DO_QUEUE: return queue(j, task);
  case PAI__DO_RETURN:
    return whole ? pai__platform_return(j, held)
                 : pai__single_return(j, task, held);
  default:
    return whole ? pai__platform_resume(j) : pai__single_resume(j, task);
  }
}

/* Without a database the job may end: it was not accepted for good. */
static bool may_wait(const pai__pjob *j, int rc)
{
  return rc == PAI_ENOMEM && j->platform->store != NULL;
}

void pai__deferred_add(pai__pjob *j, uint32_t task, int what, bool held)
{
  bool *its_held;
  uint8_t *deferred = deferred_of(j, task, &its_held);

  *deferred = (uint8_t)what;
  *its_held = held;
  j->platform->deferring = j->platform->schedule_due = true;
  pai__shortage_begin(j, task == PAI__NO_TASK ? 0 : task, "memory");
}

void pai__deferred_drop(pai__pjob *j, uint32_t task)
{
  bool *held;

  *deferred_of(j, task, &held) = PAI__DO_NOTHING;
}

void pai__tell_scheduler(pai__pjob *j, uint32_t task, int what, bool held)
{
  bool *its_held;
  uint8_t *deferred = deferred_of(j, task, &its_held);
  int rc;

  if (*deferred != PAI__DO_NOTHING && what == PAI__DO_RESUME) {
    *its_held = false; /* the deferred action is sent, not held */
    return;
  }
  *deferred = PAI__DO_NOTHING;
  rc = tell(j, task, what, held);
  if (may_wait(j, rc))
    pai__deferred_add(j, task, what, held);
  else if (rc < 0)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
}

static void settle(pai__pjob *j)
{
  if (j->deferred != PAI__DO_NOTHING)
    pai__tell_scheduler(j, PAI__NO_TASK, j->deferred, j->deferred_held);
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].deferred != PAI__DO_NOTHING)
      pai__tell_scheduler(j, t, j->tasks[t].deferred,
                          j->tasks[t].deferred_held);
}

bool pai__deferred_settle(pai_platform *p)
{
  const pai__map_entry *e;

  if (!p->deferring)
    return true;
  p->deferring = false;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    settle(e->value);
  return !p->deferring;
}
