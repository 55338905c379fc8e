/*
 * drive.c - between the folds, the scheduler and the back end
 *
 * Nothing here calls the user back: callers ask for a kick of the loop, which
 * tells what has changed.
 */
#include "platform/platform.h"

enum {
  TASK_BITS = 20, /* of a back end's task number */
  SECOND = 1000000,
  GRACE = 5 * SECOND
};

static uint64_t task_id(const pai__pjob *j, uint32_t task)
{
  return j->id << TASK_BITS | task;
}

pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task)
{
  *task = (uint32_t)(id & ((1u << TASK_BITS) - 1));
  return pai__platform_find_job(p, id >> TASK_BITS);
}

void pai__platform_changed(pai__pjob *j)
{
  pai__pjob_list *list = &j->platform->changed;

  if (!j->changed) {
    j->changed = true;
    j->next_changed = NULL;
    if (list->first != NULL)
      list->last->next_changed = j;
    else
      list->first = j;
    list->last = j;
  }
  pai__turn_ask(j->platform->kick);
}

static void feed(pai__pjob *j, enum pai__event_kind kind, uint32_t task,
                 int code)
{
  pai__job_event event = { kind, task, 1, code, pai__loop_time() };
  int rc;

  if (kind == PAI__EV_PLACED)
    event.count = 0; /* all of it */
  rc = pai__job_handle(&j->job, &event);
  if (rc < 0)
    pai__log_line(
      &j->platform->log, PAI_LOG_ERROR, "job %llu: event %d of task %u: %s",
      (unsigned long long)j->id, (int)kind, task, pai_code_name(rc));
}

/* What is the same for all tasks is made once, for the first of them. */
static int share_plan(pai__pjob *j, const pai__plan_context *context)
{
  pai__plan_shared *shared;

  if (j->shared != NULL)
    return PAI_OK;
  shared = pai__arena_zalloc(&j->attempt, 1, sizeof(*shared));
  if (shared == NULL || pai__plan_share(shared, &j->attempt, context) < 0)
    return PAI_ENOMEM;
  j->shared = shared;
  return PAI_OK;
}

static int start_task(pai__pjob *j, uint32_t task, pai_error **err)
{
  pai_platform *p = j->platform;
  pai__plan_context context = { .spec = j->spec,
                                .tasks = pai__job_tasks(&j->job),
                                .places = j->places,
                                .user = p->user,
                                .job_dir = j->dir,
                                .attempt = j->job.attempt };
  pai__arena arena;
  pai__plan plan;
  int rc;

  if (share_plan(j, &context) < 0)
    return pai__oom(err);
  pai__arena_init(&arena, &p->alloc);
  rc = pai__plan_make(&plan, &arena, &context, j->shared, task) == PAI_OK
         ? p->ops->start(p->backend, task_id(j, task), &plan, err)
         : pai__oom(err);
  pai__arena_dispose(&arena);
  return rc;
}

static void do_start(pai__pjob *j, uint32_t task)
{
  pai_error *err = NULL;

  if (start_task(j, task, &err) == PAI_OK) {
    feed(j, PAI__EV_TASK_STARTED, task, 0);
    return;
  }
  pai__strfree(&j->platform->alloc, j->why);
  j->why = pai__strdup(&j->platform->alloc, pai_error_message(err));
  pai_error_free(err);
  feed(j, PAI__EV_TASK_ENDED, task, PAI__CODE_NOT_STARTED);
}

/* Only memory can lack, and then the job ends rather than waits for ever. */
static void waits_again(pai__pjob *j, int rc)
{
  if (rc < 0)
    feed(j, PAI__EV_STOP, 0, 0);
}

/* What the attempt had goes. */
static void end_attempt(pai__pjob *j)
{
  pai__timer_stop(j->grace);
  pai__timer_stop(j->retry); /* which a stop may overtake */
  j->shared = NULL;
  pai__arena_dispose(&j->attempt);
  pai__arena_init(&j->attempt, &j->platform->alloc);
}

static void stop_task(pai__pjob *j, uint32_t task, bool now)
{
  pai_platform *p = j->platform;

  p->ops->stop(p->backend, task_id(j, task), now);
}

static void wait_until(pai__pjob *j, pai_time due)
{
  pai__timer_start(j->retry, due - pai__loop_time());
}

/* One task at most is started at a time, for the loop has more to do: the
 * rest is left to the next kick. */
void pai__platform_drive(pai__pjob *j)
{
  bool started = false;
  pai__action a;

  while (!started && pai__job_next(&j->job, 1, &a))
    switch (a.kind) {
    case PAI__DO_NOTHING:
    case PAI__DO_QUEUE: /* done before it was accepted */
    case PAI__DO_FINISH: break;
    case PAI__DO_RETURN:
      end_attempt(j);
      waits_again(j, pai__platform_return(j, a.until != 0));
      break;
    case PAI__DO_RELEASE:
      pai__platform_unqueue(j);
      end_attempt(j);
      break;
    case PAI__DO_RESUME: waits_again(j, pai__platform_resume(j)); break;
    case PAI__DO_WAIT: wait_until(j, a.until); break;
    case PAI__DO_START:
      do_start(j, a.task);
      started = true;
      break;
    case PAI__DO_STOP:
      stop_task(j, a.task, false);
      pai__timer_start(j->grace, GRACE);
      break;
    case PAI__DO_KILL: stop_task(j, a.task, true); break;
    }
  pai__platform_changed(j);
}

void pai__platform_event(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code)
{
  feed(j, kind, task, code);
  pai__platform_drive(j);
}

void pai__platform_task_ended(void *user_data, uint64_t id, int code,
                              const char *text)
{
  uint32_t task;
  pai__pjob *j = pai__platform_find_task(user_data, id, &task);

  (void)text;
  pai__platform_event(j, PAI__EV_TASK_ENDED, task, code);
}
