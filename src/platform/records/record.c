/* record.c - a job and its tasks as rows of the database */
#include "platform/records/record.h"

#include "platform/records/fold.h"
#include "platform/place/placing.h"
#include "platform/records/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *pai__platform_job_uid(char *out, const pai_platform *p,
                                  pai_job_id job)
{
  (void)snprintf(out, PAI__JOB_UID, "%" PRIx64 "-%" PRIu64, p->uid_seed, job);
  return out;
}

const char *pai__platform_uid(char out[PAI__UID], const pai_platform *p,
                              pai_job_id job, pai__uid_of of)
{
  char own[PAI__JOB_UID];

  of.job = pai__platform_job_uid(own, p, job);
  return pai__uid(out, &p->alloc, &of);
}

/* --- times ---------------------------------------------------------------- */

/* Returns the number of the attempt in the job's row.  For a job that waits to
 * be placed again that is the next attempt. */
static uint32_t attempt_number(const pai__job *job)
{
  if (job->form->partial || job->state != PAI__JOB_QUEUED ||
      (job->todo >> PAI__DO_RETURN & 1) != 0)
    return job->attempt;
  return job->retries + job->preempted;
}

static void stamp_task(pai__pjob *j, uint32_t task, pai_time now)
{
  pai__ptask *t = &j->tasks[task];
  enum pai__task_state state =
    (enum pai__task_state)pai__job_tasks(&j->job)[task].state;

  if (t->created == 0)
    t->created = now;
  if (state == PAI__TASK_RUNNING && t->launched == 0)
    t->launched = t->ran != 0 ? t->ran : now;
  if (state >= PAI__TASK_DONE && t->completed == 0)
    t->completed = t->ended != 0 ? t->ended : now;
}

enum {
  PREEMPTED = -1003
}; /* PodPreemptedForCriticalPod, which is no counted retry */

/* Returns why a task ended the attempt; NULL: none did, or without memory. */
static char *trigger_message(const pai__pjob *j)
{
  pai__buf text;

  pai__buf_init(&text, &j->platform->alloc);
  pai__job_trigger_message(&text, &j->job);
  if (text.len > 0)
    return pai__buf_take(&text);
  pai__buf_dispose(&text);
  return NULL;
}

static const char stopped[] = "User has requested to stop the Framework";

/* Copies the end of the task that ended the attempt. */
static void stamp_trigger(pai__pattempt *a, const pai__ptask *t,
                          const pai_alloc *alloc)
{
  a->user_code = t->user_code;
  a->why = t->why != NULL ? pai__strdup(alloc, t->why) : NULL;
  a->diagnostics = pai__strdup(alloc, t->diagnostics);
  a->failure = t->failure != NULL ? pai__strdup(alloc, t->failure) : NULL;
}

/* Copies the attempt's result, which the fold has only until the next one. */
static void stamp_attempt(pai__pjob *j, pai_time now)
{
  const pai__job *job = &j->job;
  pai__pattempt *a = &j->latest;

  if (a->over || attempt_number(job) != job->attempt ||
      (job->state != PAI__JOB_DONE && job->state != PAI__JOB_BACKOFF &&
       job->state != PAI__JOB_QUEUED) ||
      (job->state == PAI__JOB_QUEUED &&
       (job->todo >> PAI__DO_RETURN & 1) == 0))
    return;
  a->over = true;
  a->completed = now;
  a->code = j->preempted && job->trigger == PAI__NO_TASK && !job->stop_asked
              ? PREEMPTED
              : job->code;
  a->trigger = job->trigger;
  a->message = trigger_message(j);
  if (a->trigger != PAI__NO_TASK && j->tasks[a->trigger].diagnostics != NULL)
    stamp_trigger(a, &j->tasks[a->trigger], &j->platform->alloc);
  else if (a->code == PAI__CODE_DEPENDENCY && j->why != NULL)
    a->why = pai__strdup(&j->platform->alloc, j->why);
  else if (a->code == PAI__CODE_STOPPED)
    a->diagnostics = pai__strdup(&j->platform->alloc, stopped);
}

void pai__record_result(pai__pjob *j)
{
  stamp_attempt(j, pai__loop_wall_time());
}

static void stamp(pai__pjob *j)
{
  pai_time now = pai__loop_wall_time();

  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].changed)
      stamp_task(j, t, now);
  stamp_attempt(j, now);
  if (j->job.state == PAI__JOB_DONE && j->completed == 0) {
    j->completed = now;
    pai__count_end(j->platform, j->job.code);
  }
}

/* --- rows ----------------------------------------------------------------- */

static void fill_attempt(pai__attempt_row *row, char *uid, const pai__pjob *j,
                         const char *state)
{
  const pai__pattempt *a = &j->latest;

  *row = (pai__attempt_row){ .number = a->number,
                             .uid = pai__platform_uid(
                               uid, j->platform, j->id,
                               (pai__uid_of){ .kind = PAI__UID_ATTEMPT,
                                              .attempt = a->number }),
                             .state = state,
                             .created = a->created,
                             .launched = a->launched,
                             .completed = a->completed };
  if (!a->over)
    return;
  row->exit_code = (pai__maybe){ true, a->code };
  row->user_code = (pai__maybe){ a->user_code != 0, a->user_code };
  row->why = a->why;
  row->diagnostics = a->diagnostics;
  row->failure = a->failure;
  if (a->trigger == PAI__NO_TASK)
    return;
  row->trigger = a->message;
  row->trigger_role =
    j->spec->roles[pai__job_tasks(&j->job)[a->trigger].role].name;
  row->trigger_index =
    (pai__maybe){ true, pai__job_tasks(&j->job)[a->trigger].index };
}

/* Puts a job's row.  `config`: the file of a new job.  A new job's row has no
 * attempt and fold yet, because pai__record_job() follows in the same
 * commit. */
static int put_job(pai__pjob *j, const char *config)
{
  const pai__job *job = &j->job;
  const char *sub_state = pai__job_contract_state(job);
  bool decided = job->decided || job->state == PAI__JOB_DONE;
  char uid[PAI__UID];
  pai__job_row row = { .id = j->id,
                       .user = j->user,
                       .name = j->name,
                       .submitted = j->submitted,
                       .vc = j->vc,
                       .priority = pai__placing_class(j),
                       .state =
                         pai__api_state(sub_state, decided ? job->code : 0),
                       .sub_state = sub_state,
                       .execution = job->stop_asked ? "STOP" : "START",
                       .live = job->state != PAI__JOB_DONE,
                       .created = j->created,
                       .launched = j->launched,
                       .completed = j->completed,
                       .user_retries = job->counted,
                       .platform_retries = job->retries - job->counted,
                       .tasks = job->wanted,
                       .roles = job->form->nroles,
                       .output_lost = j->output_lost,
                       .config = config };
  pai__buf fold;
  int rc;

  for (size_t r = 0; r < j->spec->nroles; r++)
    row.gpus += j->spec->roles[r].gpus * pai__job_roles(job)[r].tasks;
  if (job->state == PAI__JOB_DONE)
    row.exit_code = (pai__maybe){ true, job->code };
  if (pai__job_public_state(job) == PAI_STATE_WAITING)
    row.queued_reason = pai__waiting_code(j);
  if (job->state == PAI__JOB_BACKOFF)
    row.retry_delay =
      (pai__maybe){ true,
                    (job->due - pai__platform_now(j->platform)) / 1000000 };
  pai__buf_init(&fold, &j->platform->alloc);
  if (config == NULL) {
    fill_attempt(&row.now, uid, j, sub_state);
    pai__fold_save_job(&fold, j);
  }
  row.fold = (pai__bytes){ fold.data, fold.len };
  rc = pai__buf_ok(&fold) ? pai__batch_put_job(j->platform->batch, &row)
                          : PAI_ENOMEM;
  pai__buf_dispose(&fold);
  return rc;
}

static void add_ports(pai__buf *out, const pai__role *role,
                      const uint32_t *ports)
{
  pai__buf_char(out, '{');
  for (size_t l = 0; ports != NULL && l < role->nports; l++) {
    pai__buf_printf(out, "%s\"%s\":\"", l > 0 ? "," : "",
                    role->ports[l].label);
    for (uint32_t i = 0; i < role->ports[l].count; i++)
      pai__buf_printf(out, "%s%u", i > 0 ? "," : "", *ports++);
    pai__buf_char(out, '"');
  }
  pai__buf_str(out, "}");
}

static void add_gpus(pai__buf *out, uint64_t gpus)
{
  const char *comma = "";

  for (unsigned i = 0; i < 64; i++)
    if ((gpus >> i & 1) != 0) {
      pai__buf_printf(out, "%s%u", comma, i);
      comma = ",";
    }
}

/* Texts of a task's row, behind each other in one buffer. */
typedef struct task_texts {
  pai__buf buf;
  char uid[PAI__UID];
} task_texts;

/* Fills in the task's present or last place. */
static void fill_place(pai__task_row *row, task_texts *texts,
                       const pai__pjob *j, uint32_t task)
{
  const pai__role *role = &j->spec->roles[pai__job_tasks(&j->job)[task].role];
  const pai__task_place *place = &j->places[task];
  size_t gpus;

  row->now.uid = pai__platform_uid(texts->uid, j->platform, j->id,
                                   (pai__uid_of){ .kind = PAI__UID_POD,
                                                  .attempt = row->attempt,
                                                  .role = row->role,
                                                  .index = row->index,
                                                  .retry = row->now.number });
  add_ports(&texts->buf, role, place->ports);
  pai__buf_char(&texts->buf, '\0');
  gpus = texts->buf.len;
  add_gpus(&texts->buf, place->gpus);
  row->now.node = j->platform->here.name;
  row->now.ip = place->ip;
  row->now.ports = pai__buf_text(&texts->buf);
  row->now.gpus = texts->buf.data != NULL ? texts->buf.data + gpus : "";
  row->now.dir = j->tasks[task].dir;
}

static void fill_task(pai__task_row *row, task_texts *texts,
                      const pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  const pai__ptask *pt = &j->tasks[task];
  const char *sub_state = pai__job_task_contract_state(&j->job, task);

  *row = (pai__task_row){ .job = j->id,
                          .attempt = j->latest.number,
                          .role = j->spec->roles[t->role].name,
                          .index = t->index,
                          .sub_state = sub_state,
                          .state = pai__api_state(sub_state, t->code),
                          .retries = t->retries,
                          .counted = t->counted,
                          .created = pt->created,
                          .launched = pt->launched,
                          .completed = pt->completed };
  row->now =
    (pai__start_row){ .number = pt->starts - (pt->begun != 0),
                      .state = sub_state,
                      .created = pt->begun,
                      .launched = pt->ran,
                      .completed = pt->ended,
                      .user_code = { pt->user_code != 0, pt->user_code },
                      .output_lost = pt->output_lost,
                      .runtime = pt->about,
                      .why = pt->why,
                      .diagnostics = pt->diagnostics,
                      .failure = pt->failure };
  if (pt->begun != 0)
    fill_place(row, texts, j, task);
  if (t->state >= PAI__TASK_DONE || pt->ended != 0)
    row->now.exit_code = (pai__maybe){ true, t->code };
  if (t->state >= PAI__TASK_DONE)
    row->exit_code = row->now.exit_code;
}

static int put_task(pai__pjob *j, uint32_t task)
{
  task_texts texts;
  pai__task_row row;
  pai__buf fold;
  int rc;

  pai__buf_init(&texts.buf, &j->platform->alloc);
  pai__buf_init(&fold, &j->platform->alloc);
  fill_task(&row, &texts, j, task);
  pai__fold_save_task(&fold, j, task);
  row.fold = (pai__bytes){ fold.data, fold.len };
  rc = pai__buf_ok(&fold) && pai__buf_ok(&texts.buf)
         ? pai__batch_put_task(j->platform->batch, &row)
         : PAI_ENOMEM;
  if (rc == PAI_OK)
    j->tasks[task].written = pai__job_tasks(&j->job)[task].state;
  pai__buf_dispose(&fold);
  pai__buf_dispose(&texts.buf);
  return rc;
}

/* --- attempts and starts -------------------------------------------------- */

static void lost(const pai__pjob *j, int rc)
{
  if (rc < 0)
    pai__log_line(&j->platform->log, PAI_LOG_WARNING,
                  "out of memory: an attempt of %s~%s is not stored", j->user,
                  j->name);
}

static void put_latest(pai__pjob *j)
{
  char uid[PAI__UID];
  pai__attempt_row row;

  fill_attempt(&row, uid, j, "AttemptCompleted");
  lost(j, pai__batch_put_attempt(j->platform->batch, j->id, &row));
}

static void forget_start(pai__pjob *j, uint32_t task)
{
  const pai_alloc *alloc = &j->platform->alloc;
  pai__ptask *t = &j->tasks[task];

  t->begun = t->ran = t->ended = 0;
  pai__strfree(alloc, t->dir);
  pai__strfree(alloc, t->diagnostics);
  pai__strfree(alloc, t->failure);
  pai__strfree(alloc, t->why);
  pai__strfree(alloc, t->about);
  t->dir = t->diagnostics = t->failure = t->why = t->about = NULL;
  t->user_code = 0;
  t->output_lost = false;
}

/* When the job begins its next attempt, writes the last one as a past one. */
static void record_attempt(pai__pjob *j)
{
  uint32_t number = attempt_number(&j->job);

  if (number == j->latest.number)
    return;
  if (j->platform->store != NULL)
    put_latest(j);
  pai__strfree(&j->platform->alloc, j->latest.diagnostics);
  pai__strfree(&j->platform->alloc, j->latest.failure);
  pai__strfree(&j->platform->alloc, j->latest.why);
  pai__strfree(&j->platform->alloc, j->latest.message);
  j->latest = (pai__pattempt){ .number = number,
                               .created = pai__loop_wall_time(),
                               .trigger = PAI__NO_TASK };
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    forget_start(j, t);
    j->tasks[t].created = j->tasks[t].launched = j->tasks[t].completed = 0;
    j->tasks[t].starts = 0;
    j->tasks[t].changed = true;
  }
}

static void put_start(pai__pjob *j, uint32_t task)
{
  task_texts texts;
  pai__task_row row;

  pai__buf_init(&texts.buf, &j->platform->alloc);
  fill_task(&row, &texts, j, task);
  row.now.state = "Completed";
  row.now.exit_code = (pai__maybe){ true, pai__job_tasks(&j->job)[task].code };
  lost(j, pai__buf_ok(&texts.buf)
            ? pai__batch_put_task_attempt(j->platform->batch, &row, &row.now)
            : PAI_ENOMEM);
  pai__buf_dispose(&texts.buf);
}

void pai__record_past(pai__pjob *j, uint32_t task)
{
  record_attempt(j);
  if (j->tasks[task].begun != 0 && j->platform->store != NULL)
    put_start(j, task);
  forget_start(j, task);
}

void pai__record_name(pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  pai__ptask *pt = &j->tasks[task];
  pai__buf dir;

  if (pt->dir != NULL)
    return;
  pai__buf_init(&dir, &j->platform->alloc);
  pai__buf_printf(&dir, "%u/%s-%u", j->job.attempt,
                  j->spec->roles[t->role].name, t->index);
  if (pt->starts > 1)
    pai__buf_printf(&dir, ".%u", pt->starts - 1);
  pt->dir = pai__buf_take(&dir);
  pt->changed = true;
}

void pai__record_start(pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  pai__ptask *pt = &j->tasks[task];

  pai__record_past(j, task);
  pt->starts++;
  pai__record_name(j, task); /* without memory: named before it starts */
  pt->begun = pai__loop_wall_time();
  pai__happened(j, task, "Normal", "Scheduled", "%s[%u] has a place on %s",
                j->spec->roles[t->role].name, t->index,
                j->platform->here.name);
}

void pai__record_restart(pai__pjob *j, uint32_t task)
{
  pai__ptask *pt = &j->tasks[task];
  const char *was = pt->dir != NULL ? pt->dir : "";
  const char *plus = strrchr(was, '+'); /* role names have no '+' */
  size_t len = plus != NULL ? (size_t)(plus - was) : strlen(was);
  unsigned long n = plus != NULL ? strtoul(plus + 1, NULL, 10) + 1 : 1;
  pai__buf dir;

  pai__buf_init(&dir, &j->platform->alloc);
  if (len > 0) {
    pai__buf_add(&dir, was, len);
    pai__buf_printf(&dir, "+%lu", n);
  }
  pai__strfree(&j->platform->alloc, pt->dir);
  pt->dir = len > 0 ? pai__buf_take(&dir) : NULL;
  pai__buf_dispose(&dir);
  pt->ran = pt->ended = 0;
}

int pai__record_job(pai__pjob *j)
{
  int rc;

  record_attempt(j);
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    j->tasks[t].changed |=
      pai__job_tasks(&j->job)[t].state != j->tasks[t].written;
  stamp(j);
  rc = put_job(j, NULL);
  if (rc == PAI_OK && j->secret && j->job.state == PAI__JOB_DONE) {
    rc = pai__batch_drop_secrets(j->platform->batch, j->id);
    j->secret = rc < 0;
    j->platform->untidy = true;
  }
  for (uint32_t t = 0; rc == PAI_OK && t < j->job.ntasks; t++)
    if (j->tasks[t].changed) {
      rc = put_task(j, t);
      j->tasks[t].changed = rc < 0;
    }
  return rc;
}

int pai__record_new_job(pai__pjob *j, const char *text, size_t len,
                        const char *masked, pai_error **err)
{
  pai__batch *batch = j->platform->batch;
  pai__batch_mark mark = pai__batch_here(batch);
  int rc;

  stamp(j);
  rc = put_job(j, masked);
  if (rc < 0) {
    rc = pai__oom(err);
  } else if (strlen(masked) != len || memcmp(text, masked, len) != 0) {
    j->secret = true;
    rc = pai__batch_put_secret(batch, j->id, PAI__SECRET_FILE, text, len, err);
  }
  if (rc < 0) /* the next job gets this id: undo all of this one */
    pai__batch_back(batch, mark);
  return rc;
}
