/*
 * drive.c - events for folds, and their actions
 *
 * Actions are taken in the step in which the fold is recorded.  Those for the
 * scheduler are done at once, because its log is in the same commit; those on
 * tasks wait for that commit.
 */
#include "platform/place/after.h"
#include "platform/place/cores.h"
#include "platform/files/logs.h"
#include "platform/records/record.h"
#include "platform/place/single.h"

enum { AT_ONCE = 16 }; /* most tasks of a job that one commit starts */

pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task)
{
  *task = (uint32_t)(id & ((1u << PAI__TASK_BITS) - 1));
  return pai__platform_find_job(p, id >> PAI__TASK_BITS);
}

static void feed(pai__pjob *j, enum pai__event_kind kind, uint32_t task,
                 int code)
{
  pai__job_event event = { kind, task, 1, code,
                           pai__platform_now(j->platform) };
  int rc;

  if (task == PAI__NO_TASK)
    event.task = event.count = 0; /* the whole job */
  rc = pai__job_handle(&j->job, &event);
  if (rc < 0)
    pai__log_line(
      &j->platform->log, PAI_LOG_ERROR, "job %llu: event %d of task %u: %s",
      (unsigned long long)j->id, (int)kind, task, pai_code_name(rc));
}

void pai__platform_event(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code)
{
  bool urgent = j->platform->urgent;

  feed(j, kind, task, code);
  if (kind == PAI__EV_TASK_ENDED)
    pai__cores_give(j, task);
  if (kind == PAI__EV_TASK_STARTED || kind == PAI__EV_TASK_ENDED ||
      kind == PAI__EV_TASK_UNDONE) {
    j->tasks[task].changed = true;
    pai__logs_wake(j->platform, j->id);
  }
  pai__platform_put(j, PAI__CHANGED);
  /* The start of a task need not be committed at once. */
  if (kind == PAI__EV_TASK_STARTED && !pai__job_has_next(&j->job))
    j->platform->urgent = urgent;
}

/* Stops the timers of an attempt, and drops its plan. */
static void end_attempt(pai__pjob *j)
{
  pai__timer_stop(j->grace);
  pai__timer_stop(j->retry); /* it runs if the job is stopped */
  pai__platform_forget_plan(j);
  j->preempted = false;
}

static void for_tasks(pai__pjob *j, const pai__action *a, unsigned todo)
{
  for (uint32_t t = a->task; t < a->task + a->count; t++) {
    if (todo == PAI__TODO_START) {
      pai__record_start(j, t);
      pai__cores_take(j, t);
    }
    j->tasks[t].todo |= (uint8_t)(todo << PAI__TODO_NEXT);
    j->tasks[t].changed = true;
  }
  if (todo == PAI__TODO_START)
    j->starting += a->count;
}

static void tell_return(pai__pjob *j, const pai__action *a)
{
  pai_time left = a->until - pai__platform_now(j->platform);

  if (j->preempted && j->job.trigger == PAI__NO_TASK)
    return; /* the preemption has its own event */
  if (a->until != 0)
    pai__happened(j, PAI__NO_TASK, "Warning", "BackOff",
                  "the job is tried again in %d seconds",
                  (int)(left > 0 ? left / 1000000 : 0));
  else
    pai__happened(j, PAI__NO_TASK, "Warning", "Retrying",
                  "the job is tried again");
}

/* A failed attempt is reported before the next one begins.  Tasks are started a
 * few at a time, so that events meanwhile count. */
static bool may_go_on(pai__pjob *j)
{
  if ((j->job.todo >> PAI__DO_RETURN & 1) != 0) {
    pai__platform_note(j);
    return !pai__platform_is_noted(j);
  }
  return j->starting == 0 || j->job.state == PAI__JOB_ENDING;
}

/* Gives up the places of the whole job. */
static void return_whole(pai__pjob *j, const pai__action *a)
{
  tell_return(j, a);
  end_attempt(j);
  if (!j->form.partial) /* else each task follows alone */
    pai__tell_scheduler(j, PAI__NO_TASK, PAI__DO_RETURN, a->until != 0);
}

/* Does actions on the places of some tasks. */
static void do_single(pai__pjob *j, const pai__action *a)
{
  for (uint32_t t = a->task; t < a->task + a->count; t++)
    switch (a->kind) {
    case PAI__DO_QUEUE:
    case PAI__DO_RETURN:
    case PAI__DO_RESUME:
      pai__tell_scheduler(j, t, (int)a->kind, a->until != 0);
      break;
    default: pai__single_release(j, t); break;
    }
}

static void do_whole(pai__pjob *j, const pai__action *a)
{
  switch (a->kind) {
  case PAI__DO_RETURN: return_whole(j, a); break;
  case PAI__DO_RELEASE:
    pai__platform_unqueue(j);
    end_attempt(j);
    break;
  case PAI__DO_RESUME:
    pai__tell_scheduler(j, PAI__NO_TASK, PAI__DO_RESUME, false);
    break;
  case PAI__DO_WAIT:
    pai__timer_start(j->retry, a->until - pai__platform_now(j->platform));
    break;
  case PAI__DO_FINISH:
    end_attempt(j);
    pai__after_ended(j);
    break;
  default: break; /* QUEUE: pai__platform_ask() took it */
  }
}

/* A job is refused if the scheduler refuses it, so its first request is sent
 * before the job is accepted.  The actions are taken from the fold here: it
 * releases only what it has handed out. */
int pai__platform_ask(pai__pjob *j, pai_error **err)
{
  pai__action a;
  int rc = PAI_OK;

  while (rc == PAI_OK && pai__job_next(&j->job, j->job.ntasks, &a)) {
    if (a.whole)
      rc = pai__platform_queue(j, err);
    for (uint32_t t = a.task; !a.whole && rc == PAI_OK && t < a.task + a.count;
         t++)
      rc = pai__single_queue(j, t, err);
  }
  return rc;
}

void pai__platform_drive(pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint32_t most = p->store != NULL ? AT_ONCE : 1;
  pai__action a;

  while (may_go_on(j) && pai__job_next(&j->job, most, &a))
    if (a.whole)
      do_whole(j, &a);
    else
      switch (a.kind) {
      case PAI__DO_START: for_tasks(j, &a, PAI__TODO_START); break;
      case PAI__DO_STOP: for_tasks(j, &a, PAI__TODO_STOP); break;
      case PAI__DO_KILL: for_tasks(j, &a, PAI__TODO_KILL); break;
      default: do_single(j, &a); break;
      }
}
