/* perform.c - starting, stopping, adopting and ending tasks in the back end */
#include "platform/apart.h"
#include "platform/accounts.h"
#include "platform/place/cores.h"
#include "platform/records/record.h"
#include "platform/restore/restore.h"
#include "platform/shortage.h"
#include "platform/files/storages.h"

#include "base/os/posix_fs.h"
#include "job/end/end.h"
#include "job/end/exit.h"
#include "job/end/failure.h"

enum { GRACE = 5000000, AT_ONCE = 4 /* most starts of a job in a step */ };

void pai__platform_forget_plan(pai__pjob *j)
{
  j->shared = NULL;
  pai__arena_dispose(&j->attempt);
  pai__arena_init(&j->attempt, &j->platform->alloc);
}

/* Makes the part of launch plans that all tasks share, with the first task, and
 * anew after tasks were placed. */
static int share_plan(pai__pjob *j, const pai__plan_context *context)
{
  pai__plan_context c = *context;
  pai__plan_shared *shared;

  if (j->replan)
    pai__platform_forget_plan(j);
  j->replan = false;
  if (j->shared != NULL)
    return PAI_OK;
  shared = pai__arena_zalloc(&j->attempt, 1, sizeof(*shared));
  if (shared == NULL ||
      pai__storages_find(&c.storages, &c.nstorages, &j->attempt, j->platform,
                         j->spec, j->user, j->id) < 0 ||
      pai__plan_share(shared, &j->attempt, &c) < 0)
    return PAI_ENOMEM;
  j->shared = shared;
  return PAI_OK;
}

/* A failure is only logged: the task runs without its output. */
static void follow(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  pai_error *err = NULL;

  if (p->ops->follow(p->backend, pai__platform_task_id(j, task),
                     PAI_FOLLOW_ALL, &err) < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING, "%s", pai_error_message(err));
  pai_error_free(err);
}

static int start_task(pai__pjob *j, uint32_t task, pai_error **err)
{
  pai_platform *p = j->platform;
  char uid[PAI__JOB_UID];
  pai__plan_context context = {
    .spec = j->spec,
    .tasks = pai__job_tasks(&j->job),
    .places = j->places,
    .roles = pai__job_roles(&j->job),
    .ntasks = j->job.ntasks,
    .user = j->user,
    .name = j->name,
    .vc = j->vc,
    .uid = p->store != NULL ? pai__platform_job_uid(uid, p, j->id) : NULL,
    .job_dir = j->dir,
    .workdir = j->work_dir,
    .runtime = j->runtime >= 0 ? j->runtime : p->runtime,
    .attempt = j->job.attempt
  };
  char *dir;
  pai__arena arena;
  pai_launch_plan plan;
  pai__buf nodes, owner;
  int rc;

  pai__record_name(j, task);
  dir = j->tasks[task].dir;
  dir = dir != NULL ? pai__fs_join(j->dir, dir, &p->alloc) : NULL;
  context.task_dir = dir;
  pai__arena_init(&arena, &p->alloc);
  pai__buf_init(&nodes, &p->alloc);
  pai__buf_init(&owner, &p->alloc);
  pai__cores_nodes(&nodes, j, task);
  pai__platform_owner(&owner, j);
  if (dir == NULL || share_plan(j, &context) < 0 ||
      pai__plan_make(&plan, &arena, &context, j->shared, task) < 0)
    rc = pai__oom(err);
  else if ((rc = pai__system_make_attempt(j, err)) == PAI_OK) {
    plan.cpu_list = j->tasks[task].cpus;
    plan.processes = plan.owner_processes = pai__platform_processes(j);
    plan.owner = pai__buf_ok(&owner) ? pai__buf_text(&owner) : NULL;
    plan.flags |= pai__apart_is_another(j) ? PAI_LAUNCH_APART : 0;
    plan.numa_nodes = nodes.len > 0 ? pai__buf_text(&nodes) : NULL;
    rc = p->ops->start(p->backend, pai__platform_task_id(j, task), &plan, err);
  }
  pai__buf_dispose(&nodes);
  pai__buf_dispose(&owner);
  pai__arena_dispose(&arena);
  pai__strfree(&p->alloc, dir);
  if (rc == PAI_OK && p->store == NULL &&
      (p->on_event != NULL || p->listeners != NULL))
    follow(j, task);
  return rc;
}

/* Sets the launch times of a task, its job and its attempt. */
void pai__platform_ran(pai__pjob *j, uint32_t task, pai_time since)
{
  j->tasks[task].ran = since;
  if (j->launched == 0)
    j->launched = since;
  if (j->latest.launched == 0)
    j->latest.launched = since;
}

/* An unusual runtime is reported with the task's state, and by an event with
 * nothing else in its message. */
static void note_start(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  const char *about = NULL;

  if (p->ops->task_runtime != NULL)
    about = p->ops->task_runtime(p->backend, pai__platform_task_id(j, task));
  pai__strfree(&p->alloc, j->tasks[task].about);
  j->tasks[task].about = about != NULL ? pai__strdup(&p->alloc, about) : NULL;
  if (about != NULL)
    pai__happened(j, task, "Normal", "Runtime", "%s", about);
  pai__happened(j, task, "Normal", "Started",
                "the task runs; its folder is %s", j->tasks[task].dir);
}

/* Keeps the start of a task for later, in a shortage. */
static void delay_start(pai__pjob *j, uint32_t task, const char *text)
{
  j->tasks[task].todo |= PAI__TODO_START;
  j->starting++;
  pai__shortage_begin(j, task, text);
}

/* Keeps the start of a task until the back end is ready. */
static void hold(pai__pjob *j, uint32_t task)
{
  j->tasks[task].todo |= PAI__TODO_START;
  j->starting++;
  j->held = true;
}

void pai__platform_ready(void *user_data)
{
  pai_platform *p = user_data;
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;

    if (j->held)
      pai__platform_put(j, PAI__READY);
    j->held = false;
  }
}

/* Notes the exit code of a task's command, or why it did not run (NULL: it
 * did). */
static void keep_end(pai__pjob *j, uint32_t task, int user_code,
                     const char *why)
{
  const pai_alloc *alloc = &j->platform->alloc;
  pai__ptask *t = &j->tasks[task];

  t->user_code = user_code;
  pai__strfree(alloc, t->why);
  t->why = why != NULL && *why != '\0' ? pai__strdup(alloc, why) : NULL;
}

static void start(pai__pjob *j, uint32_t task)
{
  pai_error *err = NULL;
  int rc = start_task(j, task, &err);

  if (rc == PAI_EBUSY) {
    pai_error_free(err);
    hold(j, task);
    return;
  }
  if (pai__shortage_is(j->platform, rc, err)) {
    delay_start(j, task, pai_error_message(err));
    pai_error_free(err);
    return;
  }
  if (rc == PAI_OK) {
    pai__shortage_started(j);
    pai__platform_ran(j, task, pai__loop_wall_time());
    note_start(j, task);
    pai__platform_event(j, PAI__EV_TASK_STARTED, task, 0);
    return;
  }
  pai__shortage_end(j);
  j->tasks[task].ended = pai__loop_wall_time();
  pai__happened(j, task, "Warning", "Failed", "cannot start the task: %s",
                pai_error_message(err));
  pai__strfree(&j->platform->alloc, j->why);
  j->why = pai__strdup(&j->platform->alloc, pai_error_message(err));
  pai__strfree(&j->platform->alloc, j->tasks[task].diagnostics);
  j->tasks[task].diagnostics =
    pai__strdup(&j->platform->alloc, pai_error_message(err));
  keep_end(j, task, 0, pai_error_message(err));
  pai_error_free(err);
  pai__platform_event(j, PAI__EV_TASK_ENDED, task, PAI__CODE_NOT_STARTED);
}

static void perform_task(pai__pjob *j, uint32_t task, unsigned todo)
{
  pai_platform *p = j->platform;
  uint64_t id = pai__platform_task_id(j, task);

  if ((todo & PAI__TODO_START) != 0) {
    j->starting--;
    if (!p->closing &&
        pai__job_tasks(&j->job)[task].state == PAI__TASK_STARTING)
      start(j, task);
    else /* stopped before it was started */
      pai__platform_event(j, PAI__EV_TASK_ENDED, task, PAI__CODE_NOT_STARTED);
    return;
  }
  if (p->backend_closing)
    return; /* the back end has ended all tasks, or lets them go on */
  pai__happened(j, task, "Normal", "Killing",
                (todo & PAI__TODO_KILL) != 0 ? "the task is killed"
                                             : "the task is asked to end");
  p->ops->stop(p->backend, id,
               (todo & PAI__TODO_KILL) != 0 ? PAI_STOP_NOW : PAI_STOP_ASK);
  if ((todo & PAI__TODO_KILL) == 0)
    pai__timer_start(j->grace, GRACE);
}

/* A start that was stopped meanwhile is not delayed: it only has to end. */
static bool is_delayed(const pai__pjob *j, uint32_t task, unsigned todo)
{
  return (todo & PAI__TODO_START) != 0 && pai__shortage_delays(j) &&
         !j->platform->closing &&
         pai__job_tasks(&j->job)[task].state == PAI__TASK_STARTING;
}

void pai__platform_perform(pai__pjob *j)
{
  uint32_t started = 0;
  bool more = false;

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    unsigned todo = j->tasks[t].todo & PAI__TODO_ALL;

    if (j->tasks[t].adopt &&
        (j->platform->closing || !pai__shortage_delays(j)))
      pai__restore_task(j, t);
    if (todo == 0 || is_delayed(j, t, todo))
      continue;
    if ((todo & PAI__TODO_START) != 0 && started++ >= AT_ONCE) {
      more = true;
      continue;
    }
    j->tasks[t].todo &= (uint8_t)~PAI__TODO_ALL;
    perform_task(j, t, todo);
  }
  if (more)
    pai__platform_put(j, PAI__READY);
}

/* --- ends ----------------------------------------------------------------- */

/* Finds the known failure of a task's end.  The output of a task that was asked
 * to end does not show the cause. */
static void explain(pai__pjob *j, uint32_t task, const pai__end_facts *facts,
                    bool stopped)
{
  const pai_alloc *alloc = &j->platform->alloc;
  pai__buf text;

  pai__buf_init(&text, alloc);
  if (!stopped)
    (void)pai__failure_explain(&text, facts, j->platform->failures);
  pai__strfree(alloc, j->tasks[task].failure);
  j->tasks[task].failure = text.len != 0 ? pai__buf_take(&text) : NULL;
  pai__buf_dispose(&text);
}

/* Returns the completion code, and keeps exit code, cause and diagnostics. */
static int judge(pai__pjob *j, uint32_t task, const pai_task_end *end)
{
  const pai_alloc *alloc = &j->platform->alloc;
  pai__end_facts facts = pai__end_told(end);
  pai__buf text;
  int code = end->code;

  if (facts.how == PAI__END_LOST && j->platform->rebooted)
    facts.how = PAI__END_NODE_LOST;

  pai__buf_init(&text, alloc);
  if (pai__end_judge(&code, &text, &facts) < 0)
    pai__log_line(
      &j->platform->log, PAI_LOG_WARNING,
      "out of memory: the reason why a task of %s ended is not stored",
      j->name);
  keep_end(j, task, pai__end_user_code(&facts),
           facts.how == PAI__END_FAILED ? facts.why : NULL);
  pai__strfree(alloc, j->tasks[task].diagnostics);
  j->tasks[task].diagnostics = text.len != 0 ? pai__buf_take(&text) : NULL;
  pai__buf_dispose(&text);
  explain(j, task, &facts, end->stopped != 0);
  return code;
}

static void tell_end(pai__pjob *j, uint32_t task, const pai_task_end *end,
                     int code)
{
  if (end->output_lost != 0)
    pai__happened(j, task, "Warning", "OutputLost",
                  "some of the task's output is in no log, because the disk "
                  "was full");
  if (end->oom == 1)
    pai__happened(j, task, "Warning", "OOMKilling",
                  "the task used more memory than it asked for");
  else if (end->oom == 2)
    pai__happened(j, task, "Warning", "OOMKilling",
                  "the task was killed while memory was short");
  if (end->how == PAI_END_LOST)
    pai__happened(j, task, "Warning", "NodeLost",
                  "the end of the task was not observed");
  else if (code == 0)
    pai__happened(j, task, "Normal", "Completed", "the task ended well");
  else
    pai__happened(j, task, "Warning", "Failed",
                  "the task exited with code %d: %s", code,
                  pai__exit_find(code)->phrase);
}

static void reset_time(pai_time *time, pai_time since)
{
  if (*time == since)
    *time = 0;
}

/* The supervisor lacked resources to start the task: it is started again, in
 * the same folder. */
static bool was_short(pai__pjob *j, uint32_t task, const pai_task_end *end)
{
  pai__ptask *t = &j->tasks[task];

  if (end->how != PAI_END_SHORT || j->platform->store == NULL ||
      j->platform->closing ||
      pai__job_tasks(&j->job)[task].state != PAI__TASK_RUNNING)
    return false;
  reset_time(&j->launched, t->ran);
  reset_time(&j->latest.launched, t->ran);
  reset_time(&t->launched, t->ran);
  t->ran = t->ended = 0;
  pai__platform_event(j, PAI__EV_TASK_UNDONE, task, 0);
  t->todo |= PAI__TODO_START << PAI__TODO_NEXT;
  j->starting++;
  pai__shortage_begin(j, task, end->text);
  return true;
}

void pai__platform_task_ended(void *user_data, uint64_t id,
                              const pai_task_end *end)
{
  uint32_t task;
  pai__pjob *j = pai__platform_find_task(user_data, id, &task);
  int code = end->code;

  if (was_short(j, task, end))
    return;
  if (end->started != 0)
    j->tasks[task].ran = end->started;
  j->tasks[task].ended = end->ended;
  j->tasks[task].oom = (uint8_t)end->oom;
  j->tasks[task].output_lost = end->output_lost != 0;
  j->output_lost |= end->output_lost != 0;
  if (end->how == PAI_END_FAILED && end->text[0] != '\0') {
    pai__strfree(&j->platform->alloc, j->why);
    j->why = pai__strdup(&j->platform->alloc, end->text);
  }
  if (j->platform->store != NULL) {
    code = judge(j, task, end);
    tell_end(j, task, end, code);
  }
  pai__platform_event(j, PAI__EV_TASK_ENDED, task, code);
}

int pai__platform_adopt(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  const char *dir = j->tasks[task].dir;
  char *path = dir != NULL ? pai__fs_join(j->dir, dir, &p->alloc) : NULL;
  pai_error *err = NULL;
  int rc = path != NULL ? pai__system_make_attempt(j, &err) : pai__oom(&err);

  if (rc == PAI_OK)
    rc = p->ops->adopt(p->backend, pai__platform_task_id(j, task), path, &err);
  j->tasks[task].adopt = pai__shortage_is(p, rc, err) && !p->closing;
  if (j->tasks[task].adopt)
    pai__shortage_begin(j, task, pai_error_message(err));
  else if (rc < 0)
    pai__log_line(&p->log, PAI_LOG_ERROR,
                  "the result of task %u of %s~%s is unknown: %s", task,
                  j->user, j->name, pai_error_message(err));
  pai__strfree(&p->alloc, path);
  pai_error_free(err);
  return rc;
}
