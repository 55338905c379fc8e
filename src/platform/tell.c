/*
 * tell.c - events of jobs and tasks for listeners, and their texts
 *
 * Events report the states that were noted when a step's changes were recorded,
 * because later changes may not be durable yet.
 */
#include "platform/restore/keep.h"
#include "platform/listen.h"
#include "platform/records/record.h"
#include "platform/place/single.h"
#include "platform/shortage.h"
#include "platform/place/vcs.h"

#include "job/end/end.h"
#include "sched/inspect.h"

#include <inttypes.h>
#include <stdio.h>

static void emit(pai__pjob *j, pai_event *event)
{
  pai_platform *p = j->platform;

  event->job = j->id;
  event->time = pai__loop_wall_time();
  event->attempt = j->job.attempt;
  if (p->on_event != NULL && p->on_event(p->user_data, event) < 0 &&
      j->job.state != PAI__JOB_DONE && !j->job.stop_asked)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
  pai__listeners_hear(p, event);
}

/* --- noting --------------------------------------------------------------- */

/* Returns the code that is reported for a task's end. */
static int told_code(const pai__pjob *j, uint32_t task)
{
  return pai__result_code(pai__job_tasks(&j->job)[task].code,
                          j->tasks[task].user_code);
}

/* Returns the code reported for the job: that of the task that ended it. */
static int told_job_code(const pai__pjob *j)
{
  const pai__task *t = pai__job_trigger(&j->job);

  return t != NULL && t->code == j->job.code ? told_code(j, j->job.trigger)
                                             : j->job.code;
}

/* A placed job whose tasks are about to start is not reported as waiting. */
void pai__platform_note(pai__pjob *j)
{
  if (j->job.state != PAI__JOB_STARTING || pai__shortage_text(j) != NULL) {
    j->recorded = (uint8_t)pai__job_public_state(&j->job);
    j->code = told_job_code(j);
  }
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    j->tasks[t].recorded = (uint8_t)pai__job_task_state(&j->job, t);
    j->tasks[t].retries = pai__job_tasks(&j->job)[t].retries;
    j->tasks[t].code = told_code(j, t);
  }
}

bool pai__platform_is_noted(const pai__pjob *j)
{
  bool noted = j->told != j->recorded;

  for (uint32_t t = 0; !noted && t < j->job.ntasks; t++)
    noted = j->tasks[t].told != j->tasks[t].recorded ||
            j->tasks[t].retries > j->tasks[t].retries_told;
  return noted;
}

/* --- reporting ------------------------------------------------------------ */

/* Writes which request is in front: one of a job or task, or the platform's own
 * for a GPU to share. */
static void put_behind(pai__buf *out, const pai__pjob *j, uint64_t id)
{
  uint32_t task;
  const pai__pjob *other = pai__single_find(j->platform, id, &task);

  if (other == NULL)
    pai__buf_str(out, "waits behind jobs that share GPUs");
  else if (other == j)
    pai__buf_str(out, "waits behind other tasks of it");
  else if (strcmp(other->user, j->user) == 0)
    pai__buf_printf(out, "waits behind job %s", other->name);
  else
    pai__buf_printf(out, "waits behind job %s~%s", other->user, other->name);
}

/* Writes how many tasks of a partly placed job are placed and wait. */
static void put_counts(pai__buf *out, const pai__pjob *j)
{
  uint32_t have, wait;

  pai__single_counts(j, &have, &wait);
  if (have > 0 && wait > 0)
    pai__buf_printf(out, "%u of %u tasks have room, %u %s: ", have,
                    j->job.wanted, wait, wait == 1 ? "waits" : "wait");
}

static bool waits_for_share(const pai__pjob *j)
{
  bool waits = j->share_wanted;

  for (uint32_t t = 0; !waits && j->share != 0 && t < j->job.ntasks; t++)
    waits = j->tasks[t].share_wanted;
  return waits;
}

/* Writes a lack of quota: of GPUs, unless the reason names another resource. */
static void put_quota(pai__buf *out, const pai__pjob *j, const pai_reason *r)
{
  uint32_t of = (uint32_t)r->of;
  const char *vc = pai__vcs_of(j);
  char wanted[PAI__MILLI_TEXT], found[PAI__MILLI_TEXT];

  pai__buf_printf(
    out, "quota: it takes %s %s, and virtual cluster %s has %s left",
    pai__lack_amount(wanted, of, pai__reason_wanted(r)),
    *pai__lack_things(of) != '\0' ? pai__lack_things(of) : "GPUs",
    vc != NULL ? vc : "default",
    pai__lack_amount(found, of, pai__reason_found(r)));
}

static void put_lack(pai__buf *out, const pai_reason *r)
{
  uint32_t lack = (uint32_t)r->of;
  char wanted[PAI__MILLI_TEXT], found[PAI__MILLI_TEXT];

  pai__buf_printf(out, "waits for %s %s, %s are free",
                  pai__lack_amount(wanted, lack, pai__reason_wanted(r)),
                  pai__lack_things(lack),
                  pai__lack_amount(found, lack, pai__reason_found(r)));
}

static void put_drained(pai__buf *out, const pai_platform *p)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };

  (void)pai_sched_view_node(p->sched, 0, &node);
  if (node.state == PAI_NODE_DRAIN)
    pai__buf_printf(out, "%s is drained%s%s", p->here.name,
                    node.why != NULL ? ": " : "",
                    node.why != NULL ? node.why : "");
}

void pai__platform_waiting_text(const pai__pjob *j, pai__buf *out)
{
  pai_reason r = { .struct_size = sizeof(r) };
  uint32_t lack;
  const char *lacks = pai__shortage_text(j);

  if (j->impossible != NULL) {
    pai__buf_str(out, j->impossible);
    return;
  }
  put_counts(out, j);
  if (lacks != NULL) {
    pai__buf_printf(out, "this machine is short of resources: %s", lacks);
    return;
  }
  if (waits_for_share(j)) {
    pai__buf_printf(out, "waits for %" PRIu64 " MiB of a GPU", j->share >> 20);
    return;
  }
  if (pai_sched_reason(j->platform->sched, pai__single_waiting(j), &r) < 0) {
    if (pai__single_is_looked_at(j))
      pai__buf_str(out, "its GPUs are looked at: others may use them");
    return;
  }
  lack = (uint32_t)r.of;
  if (r.lack == PAI_LACK_TURN)
    put_behind(out, j, r.behind);
  else if (r.lack == PAI_LACK_STOPPED)
    pai__buf_printf(out, "its virtual cluster %s is stopped", j->vc);
  else if (r.lack == PAI_LACK_QUOTA && r.text == NULL)
    put_quota(out, j, &r);
  else if (r.lack == PAI_LACK_HEALTH)
    put_drained(out, j->platform);
  else if (*pai__lack_things(lack) != '\0')
    put_lack(out, &r);
}

static void put_end(const pai__pjob *j, uint32_t task, pai__buf *out)
{
  static const char *const memory[] = { "", ": out of memory",
                                        ": killed; out of memory?" };
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  uint8_t oom = j->tasks[task].oom;

  pai__buf_printf(out, "task %s[%u] exited with code %d%s",
                  j->spec->roles[t->role].name, t->index, told_code(j, task),
                  oom <= 2 ? memory[oom] : "");
}

void pai__platform_retry_text(const pai__pjob *j, uint32_t task, pai__buf *out)
{
  pai__retries r = task != PAI__NO_TASK ? pai__job_task_retries(&j->job, task)
                                        : pai__job_retries(&j->job);
  uint32_t trigger = task != PAI__NO_TASK ? task : j->job.trigger;

  if (task != PAI__NO_TASK) { /* the fold may be ahead of the noted state */
    int64_t ahead =
      (int64_t)pai__job_tasks(&j->job)[task].retries - j->tasks[task].retries;

    r.done = r.done > ahead ? (uint32_t)(r.done - ahead) : 1;
  }
  if (trigger != PAI__NO_TASK)
    put_end(j, trigger, out);
  pai__buf_printf(out, "%sretry %u of at most %u",
                  trigger != PAI__NO_TASK ? "; " : "", r.done, r.most);
}

/* Writes why the job waits: a failure before, or the scheduler's reason. */
static void waiting_text(const pai__pjob *j, char *text, size_t size)
{
  pai__buf b;

  pai__buf_init(&b, &j->platform->alloc);
  if (pai__job_trigger(&j->job) != NULL && pai__shortage_text(j) == NULL)
    pai__platform_retry_text(j, PAI__NO_TASK, &b);
  else
    pai__platform_waiting_text(j, &b);
  (void)snprintf(text, size, "%s", pai__buf_text(&b));
  pai__buf_dispose(&b);
}

/* Writes why the job failed, with the number of retries. */
static void failed_text(const pai__pjob *j, char *text, size_t size)
{
  pai__buf b;

  pai__buf_init(&b, &j->platform->alloc);
  if (j->why != NULL)
    pai__buf_str(&b, j->why);
  else if (j->job.trigger != PAI__NO_TASK)
    put_end(j, j->job.trigger, &b);
  if (j->job.retries > 0 && b.len > 0)
    pai__buf_printf(&b, ", after %u %s", j->job.retries,
                    j->job.retries > 1 ? "retries" : "retry");
  (void)snprintf(text, size, "%s", pai__buf_text(&b));
  pai__buf_dispose(&b);
}

static void job_text(const pai__pjob *j, int state, char *text, size_t size)
{
  text[0] = '\0';
  if (state == PAI_STATE_WAITING)
    waiting_text(j, text, size);
  else if (state == PAI_STATE_FAILED)
    failed_text(j, text, size);
}

/* It ran, and ended before its state `running` was reported. */
static bool has_run(int told, int recorded, pai_time since)
{
  return told < PAI_STATE_RUNNING && recorded > PAI_STATE_RUNNING &&
         since != 0;
}

static void tell_job(pai__pjob *j)
{
  int state = j->recorded;
  char text[512];

  if (j->told == state && !(j->short_news && state == PAI_STATE_WAITING))
    return;
  j->told = (uint8_t)state;
  j->short_news = false;
  job_text(j, state, text, sizeof(text));
  if (state == PAI_STATE_WAITING && pai__job_trigger(&j->job) == NULL &&
      text[0] != '\0')
    pai__happened(j, PAI__NO_TASK, "Warning", "FailedScheduling", "%s", text);
  if (state >= PAI_STATE_SUCCEEDED)
    pai__keep_job_ended(j->platform);
  emit(j, &(pai_event){ .type = PAI_EVENT_JOB,
                        .state = state,
                        .code = j->code,
                        .text = text,
                        .len = strlen(text) });
}

static void emit_task(pai__pjob *j, uint32_t task, int state, int code)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  const char *about = state == PAI_STATE_RUNNING ? j->tasks[task].about : NULL;

  if (about == NULL)
    about = "";
  emit(j, &(pai_event){ .type = PAI_EVENT_TASK,
                        .state = state,
                        .code = code,
                        .role = j->spec->roles[t->role].name,
                        .index = t->index,
                        .text = about,
                        .len = strlen(about) });
}

static void emit_retry(pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  pai__buf text;

  pai__buf_init(&text, &j->platform->alloc);
  pai__platform_retry_text(j, task, &text);
  emit(j, &(pai_event){ .type = PAI_EVENT_TASK,
                        .state = PAI_STATE_WAITING,
                        .role = j->spec->roles[t->role].name,
                        .index = t->index,
                        .text = pai__buf_text(&text),
                        .len = text.len });
  pai__buf_dispose(&text);
}

/* A task is reported as waiting if it is tried again within its job's attempt,
 * even if it has begun again by now. */
static void tell_task(pai__pjob *j, uint32_t task)
{
  pai__ptask *pt = &j->tasks[task];
  bool again = pt->retries > pt->retries_told; /* less: in another attempt */

  pt->retries_told = pt->retries;
  if (again) {
    emit_retry(j, task);
    pt->told = PAI_STATE_WAITING;
  }
  if (pt->told == pt->recorded)
    return;
  if (has_run(pt->told, pt->recorded, pt->ran))
    emit_task(j, task, PAI_STATE_RUNNING, 0);
  pt->told = pt->recorded;
  if (pt->told != PAI_STATE_WAITING)
    emit_task(j, task, pt->told, pt->code);
}

/* Reports the job before its tasks when it starts, and after them otherwise. */
void pai__platform_tell(pai__pjob *j)
{
  bool up = j->recorded == PAI_STATE_RUNNING;

  if (has_run(j->told, j->recorded, j->latest.launched))
    emit(j, &(pai_event){
              .type = PAI_EVENT_JOB, .state = PAI_STATE_RUNNING, .text = "" });
  if (up)
    tell_job(j);
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    tell_task(j, t);
  if (!up)
    tell_job(j);
}

void pai__platform_output(void *user_data, uint64_t id, int stream,
                          const char *data, size_t len)
{
  uint32_t task;
  pai__pjob *j = pai__platform_find_task(user_data, id, &task);
  const pai__task *t = &pai__job_tasks(&j->job)[task];

  emit(j, &(pai_event){ .type = PAI_EVENT_OUTPUT,
                        .role = j->spec->roles[t->role].name,
                        .index = t->index,
                        .stream = stream,
                        .text = data,
                        .len = len });
}
