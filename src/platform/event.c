/* event.c - what the user is told, and the parts of it */
#include "platform/platform.h"
#include "sched/queue.h"

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
}

/* Why the job waits, from the scheduler's reason. */
static void waiting_text(const pai__pjob *j, char *text, size_t size)
{
  pai_reason r = { .struct_size = sizeof(r) };
  const pai__task *t = pai__job_trigger(&j->job);
  uint32_t lack;

  if (t != NULL)
    (void)snprintf(text, size, "task %s[%u] ended with code %d; trying again",
                   j->spec->roles[t->role].name, t->index, t->code);
  if (t != NULL || pai_sched_reason(j->platform->sched, j->id, &r) < 0)
    return;
  lack = (uint32_t)r.of;
  if (r.lack == PAI_LACK_TURN)
    (void)snprintf(text, size, "waits behind job %" PRIu64, r.behind);
  else if (*pai__lack_things(lack) != '\0')
    (void)snprintf(text, size,
                   "waits for %" PRIu64 " %s, %" PRIu64 " are free",
                   pai__lack_amount(lack, r.wanted), pai__lack_things(lack),
                   pai__lack_amount(lack, r.found));
}

static void job_text(const pai__pjob *j, int state, char *text, size_t size)
{
  const pai__task *t = pai__job_trigger(&j->job);

  text[0] = '\0';
  if (state == PAI_STATE_WAITING)
    waiting_text(j, text, size);
  else if (state != PAI_STATE_FAILED)
    return;
  else if (j->why != NULL)
    (void)snprintf(text, size, "%s", j->why);
  else if (t != NULL)
    (void)snprintf(text, size, "task %s[%u] ended with code %d",
                   j->spec->roles[t->role].name, t->index, t->code);
}

static void tell_job(pai__pjob *j)
{
  int state = pai__job_public_state(&j->job);
  char text[512];

  if (j->told[0] == state)
    return;
  j->told[0] = (uint8_t)state;
  job_text(j, state, text, sizeof(text));
  emit(j, &(pai_event){ .type = PAI_EVENT_JOB,
                        .state = state,
                        .code = j->job.code,
                        .text = text,
                        .len = strlen(text) });
}

static void tell_task(pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  int state = pai__job_task_state(&j->job, task);

  if (j->told[task + 1] == state)
    return;
  j->told[task + 1] = (uint8_t)state;
  emit(j, &(pai_event){ .type = PAI_EVENT_TASK,
                        .state = state,
                        .code = t->code,
                        .role = j->spec->roles[t->role].name,
                        .index = t->index,
                        .text = "" });
}

/* The job before its tasks on the way up, after them on the way down. */
void pai__platform_tell(pai__pjob *j)
{
  bool up = pai__job_public_state(&j->job) == PAI_STATE_RUNNING;

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

int pai_event_type(const pai_event *event)
{
  return event->type;
}

pai_job_id pai_event_job(const pai_event *event)
{
  return event->job;
}

pai_time pai_event_time(const pai_event *event)
{
  return event->time;
}

int pai_event_state(const pai_event *event)
{
  return event->state;
}

int pai_event_code(const pai_event *event)
{
  return event->code;
}

const char *pai_event_role(const pai_event *event)
{
  return event->role;
}

uint32_t pai_event_index(const pai_event *event)
{
  return event->index;
}

uint32_t pai_event_attempt(const pai_event *event)
{
  return event->attempt;
}

int pai_event_stream(const pai_event *event)
{
  return event->stream;
}

const char *pai_event_text(const pai_event *event, size_t *len)
{
  if (len != NULL)
    *len = event->len;
  return event->text;
}

const char *pai_state_name(int state)
{
  switch (state) {
  case PAI_STATE_WAITING: return "waiting";
  case PAI_STATE_RUNNING: return "running";
  case PAI_STATE_STOPPING: return "stopping";
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "stopped";
  default: return "?";
  }
}
