/* why.c - why a job waits, or how it ended */
#include "platform/why.h"

#include "platform/gpus.h"
#include "platform/line.h"
#include "platform/records.h"
#include "platform/rooms.h"
#include "platform/shortage.h"

#include <stdio.h>
#include <stdlib.h>

/* --- as the scheduler explains it --------------------------------------------------- */

static int add_bytes(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

/* Numbers of tasks' requests tell nobody anything: their names do. */
static void hide_numbers(pai__buf *text)
{
  static const char before[] = " (request ";
  char *from = text->data, *to = from;

  while (*from != '\0') {
    char *end = from;

    if (strncmp(from, before, sizeof(before) - 1) == 0 &&
        (strtoull(from + sizeof(before) - 1, &end, 10) & PAI__ALONE_ID) != 0 &&
        *end == ')')
      from = end + 1;
    else
      *to++ = *from++;
  }
  *to = '\0';
  text->len = (size_t)(to - text->data);
}

/* By what was found beside the loop, or by the scheduler now. */
static bool explain(const pai_platform *p, uint64_t id, int format,
                    const pai__told *told, pai__buf *text)
{
  if (told != NULL && told->request == id)
    pai__buf_str(text, format == PAI_FORMAT_JSON ? told->json : told->text);
  else if (pai_sched_explain(p->sched, id, format, add_bytes, text, NULL) < 0)
    return false;
  return pai__buf_ok(text) && text->len > 0;
}

/* The first paragraph says why, and behind "would start now" the change: both
 * as the scheduler tells them. */
static void write_explanation(pai__reply *a, uint64_t id, int format,
                              const pai__told *told)
{
  pai__buf text;

  pai__buf_init(&text, &a->p->alloc);
  if (!explain(a->p, id, format, told, &text))
    pai__json_null(&a->w);
  else if (format == PAI_FORMAT_JSON)
    pai__json_ready(&a->w, text.data, text.len);
  else {
    hide_numbers(&text);
    while (text.len > 0 && text.data[text.len - 1] == '\n')
      text.len--;
    pai__json_text(&a->w, text.data, text.len);
  }
  pai__buf_dispose(&text);
}

/* --- reasons ------------------------------------------------------------------------ */

static void write_reason(pai__reply *a, const char *code, const char *text,
                         uint32_t nodes)
{
  pai__json_begin_object(&a->w);
  pai__member_text(a, "code", code);
  pai__member_text(a, "text", text);
  pai__member_int(a, "nodes", nodes);
  pai__json_end_object(&a->w);
}

/* It failed before and waits for its time. */
static void write_delay(pai__reply *a, const pai__pjob *j, uint32_t task)
{
  pai_time due =
    task != PAI__NO_TASK ? pai__job_tasks(&j->job)[task].time : j->job.due;
  pai_time left = due - pai__platform_now(a->p);
  pai__buf text;

  pai__buf_init(&text, &a->p->alloc);
  pai__platform_retry_text(j, task, &text);
  pai__buf_printf(&text, ", in %d s",
                  (int)(left > 0 ? (left + 999999) / 1000000 : 0));
  write_reason(a, "retry", pai__buf_text(&text), 0);
  pai__buf_dispose(&text);
}

/* Of tasks in this state the first one is told of. */
static bool write_task_delay(pai__reply *a, const pai__pjob *j)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (pai__job_tasks(&j->job)[t].state == PAI__TASK_BACKOFF) {
      write_delay(a, j, t);
      return true;
    }
  return false;
}

/* GPUs that others have, if it wants any. */
static void write_gpus(pai__reply *a, const pai__pjob *j)
{
  char text[200];
  bool wants = false;

  for (size_t r = 0; r < j->spec->nroles; r++)
    wants |= j->spec->roles[r].gpus > 0;
  for (uint32_t i = 0; wants && i < a->p->here.gpus; i++) {
    const char *why = pai__gpus_why(a->p, i);

    if (why == NULL)
      continue;
    (void)snprintf(text, sizeof(text), "GPU %u: %s", i, why);
    write_reason(a, "health", text, 1);
  }
}

/* Null where it does not stand in one. */
static void write_line(pai__reply *a, const pai__pjob *j)
{
  pai__in_line line;

  pai__member(a, "line");
  if (!pai__platform_line(&line, j)) {
    pai__json_null(&a->w);
    return;
  }
  pai__json_begin_object(&a->w);
  pai__member_text(a, "virtualCluster", line.vc);
  pai__member_text(a, "order", line.order);
  pai__member_maybe(a, "place", (pai__maybe){ line.place != 0, line.place });
  pai__member_int(a, "waiting", line.waiting);
  pai__json_end_object(&a->w);
}

static void write_waiting(pai__reply *a, const pai__pjob *j,
                          const pai__told *told)
{
  pai_reason r = { .struct_size = sizeof(r) };
  uint64_t id = pai__room_waiting(j);
  pai__buf text;

  pai__member(a, "reasons");
  pai__json_begin_array(&a->w);
  if (j->impossible != NULL)
    write_reason(a, "impossible", j->impossible, 0);
  else if (pai__shortage_text(j) != NULL)
    write_reason(a, "shortage", pai__shortage_text(j), 0);
  else if (j->job.state == PAI__JOB_BACKOFF)
    write_delay(a, j, PAI__NO_TASK);
  else if (write_task_delay(a, j))
    ;
  else if (pai_sched_reason(a->p->sched, id, &r) == PAI_OK) {
    pai__buf_init(&text, &a->p->alloc);
    pai__platform_waiting_text(j, &text);
    write_reason(a, pai_lack_name(r.lack), pai__buf_text(&text),
                 pai_sched_failed(a->p->sched, id, r.lack));
    pai__buf_dispose(&text);
  } else if (pai__room_is_looked_at(j))
    write_reason(a, "health", "its GPUs are looked at: others may use them",
                 1);
  write_gpus(a, j);
  if (a->p->failing)
    write_reason(a, "database", pai_error_message(a->p->trouble), 0);
  pai__json_end_array(&a->w);
  write_line(a, j);
  pai__member(a, "explanation");
  write_explanation(a, id, PAI_FORMAT_TEXT, told);
  pai__member(a, "change");
  write_explanation(a, id, PAI_FORMAT_JSON, told);
}

static int on_row(void *user_data, const pai__job_row *row)
{
  pai__reply *a = user_data;

  pai__member_text(a, "state", row->state);
  pai__member(a, "reasons");
  pai__json_begin_array(&a->w);
  pai__json_end_array(&a->w);
  pai__member_maybe(a, "code", row->exit_code);
  pai__member_exit(a, "exitSpec", row->exit_code);
  pai__member_failure(a, row->now.failure);
  pai__member_text(a, "trigger", row->now.trigger);
  pai__member_text(a, "role", row->now.trigger_role);
  pai__member_maybe(a, "index", row->now.trigger_index);
  pai__member_summary(a, "diagnostics", row->now.diagnostics);
  return PAI_OK;
}

/* It runs, and yet not all of its tasks do. */
static bool some_wait(pai__reply *a, const pai__pjob *j)
{
  uint32_t have, wait;

  pai__room_counts(j, &have, &wait);
  if (wait == 0)
    return false;
  pai__member_text(a, "state", "RUNNING");
  pai__member_int(a, "tasksRunning", have);
  pai__member_int(a, "tasksWaiting", wait);
  return true;
}

/* --- the call ----------------------------------------------------------------------- */

static bool waits(const pai__pjob *j)
{
  return pai__job_public_state(&j->job) == PAI_STATE_WAITING;
}

uint64_t pai__why_request(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  return j != NULL && (waits(j) || j->job.state == PAI__JOB_RUNNING)
           ? pai__room_waiting(j)
           : 0;
}

int pai__why_write(pai_platform *p, pai_job_id job, const pai__told *told,
                   pai_write_cb write, void *user_data, pai_error **err)
{
  const pai__pjob *j;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  j = pai__platform_find_job(p, job);
  pai__json_begin_object(&a.w);
  if (j != NULL && waits(j)) {
    pai__member_text(&a, "state", "WAITING");
    write_waiting(&a, j, told);
  } else if (j != NULL && j->job.state == PAI__JOB_RUNNING && some_wait(&a, j))
    write_waiting(&a, j, told);
  else
    rc = pai__store_job(p->store, job, on_row, &a, err);
  pai__json_end_object(&a.w);
  return pai__reply_end(&a, rc);
}

int pai_platform_why(pai_platform *p, pai_job_id job, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  return pai__why_write(p, job, NULL, write, user_data, err);
}
