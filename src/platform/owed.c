/*
 * owed.c - what the scheduler is to be told of jobs, now or when there is memory
 *
 * A job was accepted, so that the scheduler cannot be told of it for want of
 * memory is never its end: that is told before anything else is placed.
 */
#include "platform/impossible.h"
#include "platform/rooms.h"
#include "platform/shortage.h"

static uint8_t *owed_by(pai__pjob *j, uint32_t task, bool **held)
{
  *held = task == PAI__NO_TASK ? &j->owed_held : &j->tasks[task].owed_held;
  return task == PAI__NO_TASK ? &j->owed : &j->tasks[task].owed;
}

static int queue(pai__pjob *j, uint32_t task)
{
  pai_error *err = NULL;
  int rc = task == PAI__NO_TASK ? pai__platform_queue(j, &err)
                                : pai__room_queue(j, task, &err);

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
                 : pai__room_return(j, task, held);
  default: return whole ? pai__platform_resume(j) : pai__room_resume(j, task);
  }
}

/* Without a database no job was accepted for good. */
static bool may_wait(const pai__pjob *j, int rc)
{
  return rc == PAI_ENOMEM && j->platform->store != NULL;
}

void pai__owe(pai__pjob *j, uint32_t task, int what, bool held)
{
  bool *its_held;
  uint8_t *owed = owed_by(j, task, &its_held);

  *owed = (uint8_t)what;
  *its_held = held;
  j->platform->owing = j->platform->schedule_due = true;
  pai__shortage_begin(j, task == PAI__NO_TASK ? 0 : task, "memory");
}

void pai__owe_nothing(pai__pjob *j, uint32_t task)
{
  bool *held;

  *owed_by(j, task, &held) = PAI__DO_NOTHING;
}

void pai__tell_scheduler(pai__pjob *j, uint32_t task, int what, bool held)
{
  bool *its_held;
  uint8_t *owed = owed_by(j, task, &its_held);
  int rc;

  if (*owed != PAI__DO_NOTHING && what == PAI__DO_RESUME) {
    *its_held = false; /* of what comes before that */
    return;
  }
  *owed = PAI__DO_NOTHING;
  rc = tell(j, task, what, held);
  if (may_wait(j, rc))
    pai__owe(j, task, what, held);
  else if (rc < 0)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
}

static void settle(pai__pjob *j)
{
  if (j->owed != PAI__DO_NOTHING)
    pai__tell_scheduler(j, PAI__NO_TASK, j->owed, j->owed_held);
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].owed != PAI__DO_NOTHING)
      pai__tell_scheduler(j, t, j->tasks[t].owed, j->tasks[t].owed_held);
}

bool pai__owed_settle(pai_platform *p)
{
  const pai__map_entry *e;

  if (!p->owing)
    return true;
  p->owing = false;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    settle(e->value);
  return !p->owing;
}
