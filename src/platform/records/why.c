/* why.c - explanations of why a job waits, or how it ended */
#include "platform/records/why.h"

#include "platform/place/gpus.h"
#include "platform/records/line.h"
#include "platform/records/record.h"
#include "platform/records/records.h"
#include "platform/place/single.h"
#include "platform/shortage.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the scheduler's explanation ------------------------------------------ */

/* Removes the numbers of tasks' requests, which mean nothing to a user. */
static void hide_numbers(pai__buf *text)
{
  static const char before[] = " (request ";
  char *from = text->data, *to = from;

  while (*from != '\0') {
    char *end = from;

    if (strncmp(from, before, sizeof(before) - 1) == 0 &&
        (strtoull(from + sizeof(before) - 1, &end, 10) & PAI__SINGLE_ID) !=
          0 &&
        *end == ')')
      from = end + 1;
    else
      *to++ = *from++;
  }
  *to = '\0';
  text->len = (size_t)(to - text->data);
}

/* Writes the explanation that was made in another thread, or makes one now. */
static bool explain(const pai_platform *p, uint64_t id, int format,
                    const pai__request_explanation *explanation,
                    pai__buf *text)
{
  if (explanation != NULL && explanation->request == id)
    pai__buf_str(text, format == PAI_FORMAT_JSON ? explanation->json
                                                 : explanation->text);
  else if (pai_sched_explain(p->sched, id, format, pai__buf_write, text,
                             NULL) < 0)
    return false;
  return pai__buf_ok(text) && text->len > 0;
}

/* Writes the scheduler's explanation: as text, or as JSON with the suggested
 * change. */
static void write_explanation(pai__reply *a, uint64_t id, int format,
                              const pai__request_explanation *explanation)
{
  pai__buf text;

  pai__buf_init(&text, &a->p->alloc);
  if (!explain(a->p, id, format, explanation, &text))
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

/* --- reasons -------------------------------------------------------------- */

static void write_reason(pai__reply *a, const char *code, const char *text,
                         uint32_t nodes)
{
  const pai__wait_reason_row row = { code, text, nodes };

  (void)pai__api_object(&a->w, &pai__api_WaitReason, &row, NULL, NULL);
}

/* Writes the failure before, and the time left until the retry. */
static void put_delay(pai__buf *text, const pai__pjob *j, uint32_t task)
{
  pai_time due =
    task != PAI__NO_TASK ? pai__job_tasks(&j->job)[task].time : j->job.due;
  pai_time left = due - pai__platform_now(j->platform);

  pai__platform_retry_text(j, task, text);
  pai__buf_printf(text, ", in %d s",
                  (int)(left > 0 ? (left + 999999) / 1000000 : 0));
}

/* The first task that waits for its next start, or PAI__NO_TASK. */
static uint32_t delayed_task(const pai__pjob *j)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (pai__job_tasks(&j->job)[t].state == PAI__TASK_BACKOFF)
      return t;
  return PAI__NO_TASK;
}

const char *pai__waiting_code(const pai__pjob *j)
{
  pai_reason r = { .struct_size = sizeof(r) };

  if (j->impossible != NULL)
    return "impossible";
  if (pai__shortage_text(j) != NULL)
    return "shortage";
  if (j->job.state == PAI__JOB_BACKOFF || delayed_task(j) != PAI__NO_TASK)
    return "retry";
  if (pai_sched_reason(j->platform->sched, pai__single_waiting(j), &r) ==
      PAI_OK)
    return pai_lack_name(r.lack);
  return pai__single_is_looked_at(j) ? "health" : NULL;
}

/* Returns how many nodes were refused for the request's lack. */
static uint32_t refused_nodes(const pai__pjob *j)
{
  const pai_sched *sched = j->platform->sched;
  uint64_t id = pai__single_waiting(j);
  pai_reason r = { .struct_size = sizeof(r) };

  if (j->impossible != NULL)
    return 0;
  return pai_sched_reason(sched, id, &r) == PAI_OK
           ? pai_sched_failed(sched, id, r.lack)
           : 1; /* this machine, whose GPUs are being checked */
}

static void write_waiting_reason(pai__reply *a, const pai__pjob *j)
{
  const char *code = pai__waiting_code(j);
  uint32_t nodes = 0;
  pai__buf text;

  if (code == NULL)
    return;
  pai__buf_init(&text, &a->p->alloc);
  if (strcmp(code, "shortage") == 0)
    pai__buf_str(&text, pai__shortage_text(j));
  else if (strcmp(code, "retry") == 0)
    put_delay(&text, j,
              j->job.state == PAI__JOB_BACKOFF ? PAI__NO_TASK
                                               : delayed_task(j));
  else {
    pai__platform_waiting_text(j, &text);
    nodes = refused_nodes(j);
  }
  write_reason(a, code, pai__buf_text(&text), nodes);
  pai__buf_dispose(&text);
}

/* Writes the GPUs that are not given out, if the job asks for GPUs. */
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

/* Writes the job's place in the queue, or null. */
static void write_line(pai__reply *a, const pai__pjob *j)
{
  pai__wait_line_row line;

  if (pai__platform_line(&line, j))
    (void)pai__api_object(&a->w, &pai__api_WaitLine, &line, NULL, NULL);
  else
    pai__json_null(&a->w);
}

static bool waits(const pai__pjob *j)
{
  return pai__job_public_state(&j->job) == PAI_STATE_WAITING;
}

/* --- ends ----------------------------------------------------------------- */

static int end_value(void *user_data, unsigned field, const void *of)
{
  const pai__attempt_row *row = of;

  return field == PAI__WhyEnd_exitSpec
           ? pai__reply_exit(user_data, row->exit_code)
           : pai__reply_summary(user_data, row->diagnostics);
}

static int write_attempt(pai__reply *a, const pai__attempt_row *row)
{
  return pai__api_write(&a->w, &pai__api_WhyEnd, row, end_value, a);
}

static int no_reasons(void *user_data, unsigned field, const void *row)
{
  pai__reply *a = user_data;

  (void)field;
  (void)row;
  pai__json_begin_array(&a->w);
  pai__json_end_array(&a->w);
  return PAI_OK;
}

static int on_row(void *user_data, const pai__job_row *row)
{
  const pai__wait_row why = { .state = row->state };
  pai__reply *a = user_data;

  (void)pai__api_write(&a->w, &pai__api_WhyState, &why, no_reasons, a);
  (void)pai__api_write(&a->w, &pai__api_WhyCode, row, NULL, NULL);
  return write_attempt(a, &row->now);
}

/* Writes the end of the latest attempt, even if it is not in the database. */
static int write_latest(pai__reply *a, const pai__pjob *j)
{
  const pai__pattempt *l = &j->latest;
  const pai__task *task =
    l->trigger != PAI__NO_TASK ? &pai__job_tasks(&j->job)[l->trigger] : NULL;
  pai__attempt_row row = { .exit_code = { true, l->code },
                           .failure = l->failure,
                           .diagnostics = l->diagnostics };
  if (task != NULL) {
    row.trigger = l->message;
    row.trigger_role = j->spec->roles[task->role].name;
    row.trigger_index = (pai__maybe){ true, task->index };
  }
  return write_attempt(a, &row);
}

typedef struct last_attempt {
  pai__reply *a;
  bool written;
} last_attempt;

static int on_attempt(void *user_data, const pai__attempt_row *row)
{
  last_attempt *l = user_data;

  if (l->written)
    return PAI_OK;
  l->written = true;
  return write_attempt(l->a, row);
}

static bool write_task_end(pai__reply *a, const pai__pjob *j)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    const pai__task *task = &pai__job_tasks(&j->job)[t];

    if (task->state != PAI__TASK_BACKOFF)
      continue;

    pai__attempt_row row = { .failure = j->tasks[t].failure,
                             .trigger_role = j->spec->roles[task->role].name,
                             .diagnostics = j->tasks[t].diagnostics };
    row.exit_code = (pai__maybe){ true, task->code };
    row.trigger_index = (pai__maybe){ true, task->index };
    (void)write_attempt(a, &row);
    return true;
  }
  return false;
}

/* Of a job that is tried again: writes how its last attempt ended, or the last
 * start of a task that waits for its next one. */
static int write_last(pai__reply *a, pai__pjob *j, pai_error **err)
{
  last_attempt last = { a, false };

  pai__record_result(j);
  if (j->latest.over)
    return write_latest(a, j);
  if (!write_task_end(a, j) && waits(j) && j->latest.number > 0)
    return pai__store_attempts(a->p->store, j->id, on_attempt, &last, err);
  return PAI_OK;
}

/* --- waiting jobs --------------------------------------------------------- */

typedef struct waiting {
  pai__reply *a;
  const pai__pjob *j;
  const pai__request_explanation *explanation;
} waiting;

static void write_reasons(pai__reply *a, const pai__pjob *j)
{
  pai__json_begin_array(&a->w);
  write_waiting_reason(a, j);
  write_gpus(a, j);
  if (a->p->failing)
    write_reason(a, "database", pai_error_message(a->p->trouble), 0);
  pai__json_end_array(&a->w);
}

static int waiting_value(void *user_data, unsigned field, const void *row)
{
  const waiting *x = user_data;

  (void)row;
  switch (field) {
  case PAI__WhyState_reasons: write_reasons(x->a, x->j); break;
  case PAI__WhyWaiting_line: write_line(x->a, x->j); break;
  default:
    write_explanation(x->a, pai__single_waiting(x->j),
                      field == PAI__WhyWaiting_change ? PAI_FORMAT_JSON
                                                      : PAI_FORMAT_TEXT,
                      x->explanation);
  }
  return PAI_OK;
}

/* Writes why a job waits, or some tasks of a running one.  False: none do. */
static bool write_waiting(pai__reply *a, const pai__pjob *j,
                          const pai__request_explanation *explanation)
{
  waiting x = { a, j, explanation };
  pai__wait_row row = { .state = "WAITING" };
  uint32_t running, left;

  if (j == NULL || (!waits(j) && j->job.state != PAI__JOB_RUNNING))
    return false;
  if (!waits(j)) {
    pai__single_counts(j, &running, &left);
    if (left == 0)
      return false;
    row = (pai__wait_row){ .state = "RUNNING",
                           .tasks_running = { true, running },
                           .tasks_waiting = { true, left } };
  }
  (void)pai__api_write(&a->w, &pai__api_WhyState, &row, waiting_value, &x);
  (void)pai__api_write(&a->w, &pai__api_WhyWaiting, &row, waiting_value, &x);
  return true;
}

/* --- the call ------------------------------------------------------------- */

uint64_t pai__platform_why_request(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  return j != NULL && (waits(j) || j->job.state == PAI__JOB_RUNNING)
           ? pai__single_waiting(j)
           : 0;
}

int pai__platform_why_write(pai_platform *p, pai_job_id job,
                            const pai__request_explanation *explanation,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  pai__pjob *j;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  j = pai__platform_find_job(p, job);
  pai__json_begin_object(&a.w);
  if (write_waiting(&a, j, explanation))
    rc = write_last(&a, j, err);
  else
    rc = pai__store_job(p->store, job, on_row, &a, err);
  pai__json_end_object(&a.w);
  return pai__reply_end(&a, rc);
}

int pai_platform_why(pai_platform *p, pai_job_id job, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  return pai__platform_why_write(p, job, NULL, write, user_data, err);
}
