/*
 * records_attempts.c - the attempts of a job in the form of OpenPAI's older
 * route (rest-api 2.10)
 */
#include "platform/records/records.h"

#include <openpai/job.h>

typedef struct history {
  pai__reply *a;
  const pai__job_row *job;
  int attempt; /* wanted one; -1: all */
  bool found;
  bool one_of_all;
  uint32_t *past; /* numbers of the past attempts, newest first */
  size_t n, cap;
} history;

/* --- values --------------------------------------------------------------- */

static int value_phrase(pai__reply *a, pai__maybe code)
{
  pai_exit_view exit = { .struct_size = sizeof(exit) };
  bool known = code.there && pai_exit_find(&exit, (int)code.value) == PAI_OK;

  return pai__reply_text(a, known ? exit.phrase : NULL);
}

static int attempt_value(void *user_data, unsigned field, const void *of)
{
  const pai__attempt_row *row = of;
  pai__reply *a = user_data;

  switch (field) {
  case PAI__AttemptState_state: /* by the rules of jobs, not of attempts */
    return pai__reply_text(
      a, pai__api_state(row->state, (int)row->exit_code.value));
  case PAI__AttemptEnd_exitPhrase: return value_phrase(a, row->exit_code);
  case PAI__AttemptEnd_exitType:
    return pai__reply_text(a, !row->exit_code.there       ? NULL
                              : row->exit_code.value == 0 ? "Succeeded"
                                                          : "Failed");
  case PAI__AttemptEnd_exitDiagnostics:
    return pai__reply_messages(a, row->diagnostics, true);
  case PAI__AttemptEnd_appExitSpec: return pai__reply_exit(a, row->exit_code);
  case PAI__AttemptEnd_appExitDiagnostics:
    return pai__reply_summary(a, row->diagnostics);
  default: /* PAI__AttemptEnd_appExitMessages */
    return pai__reply_messages(a, row->diagnostics, false);
  }
}

static int job_value(void *user_data, unsigned field, const void *of)
{
  const pai__job_row *row = of;
  pai__reply *a = user_data;
  char uid[PAI__UID];

  if (field == PAI__AttemptOfJob_frameworkName)
    return pai__reply_debug_id(a, row->user, row->name);
  return pai__reply_text(
    a, pai__platform_uid(uid, a->p, row->id,
                         (pai__uid_of){ .kind = PAI__UID_FRAMEWORK }));
}

/* --- tasks ---------------------------------------------------------------- */

typedef struct roles {
  history *h;
  uint32_t attempt;
  pai__buf name; /* of the role that is being written */
} roles;

static int task_value(void *user_data, unsigned field, const void *of)
{
  const pai__task_row *row = of;
  const roles *t = user_data;
  const pai__job_row *job = t->h->job;
  pai__job_part part = { job->user, job->name, job->id, t->attempt };
  pai__reply *a = t->h->a;

  switch (field) {
  case PAI__JobAttemptTask_containerIp:
    return pai__reply_text(a, pai__shown_ip(a->p, row->now.ip));
  case PAI__JobAttemptTask_containerLog:
    return pai__reply_log(a, &part, row->role, row->index, row->now.number);
  default: /* PAI__JobAttemptTask_containerGpus */
    return pai__reply_text(a, NULL);
  }
}

static int on_task(void *user_data, const pai__task_row *row)
{
  roles *t = user_data;
  pai__reply *a = t->h->a;

  if (strcmp(pai__buf_text(&t->name), row->role) != 0) {
    if (t->name.len > 0)
      pai__end_role(a);
    pai__buf_cut(&t->name, 0);
    pai__buf_str(&t->name, row->role);
    pai__begin_role(a, row->role);
  }
  (void)pai__api_object(&a->w, &pai__api_JobAttemptTask, row, task_value, t);
  return PAI_OK;
}

static int write_roles(history *h, uint32_t attempt)
{
  roles t = { .h = h, .attempt = attempt };
  int rc;

  pai__buf_init(&t.name, &h->a->p->alloc);
  pai__json_member(&h->a->w, "taskRoles");
  pai__json_begin_object(&h->a->w);
  rc = pai__store_tasks(h->a->p->store, h->job->id, attempt, NULL, on_task, &t,
                        h->a->err);
  if (t.name.len > 0)
    pai__end_role(h->a);
  pai__json_end_object(&h->a->w);
  pai__buf_dispose(&t.name);
  return rc;
}

/* --- attempts ------------------------------------------------------------- */

static int write_one(history *h, const pai__attempt_row *row, bool latest)
{
  pai__reply *a = h->a;
  int rc;

  pai__json_begin_object(&a->w);
  (void)pai__api_write(&a->w, &pai__api_AttemptOfJob, h->job, job_value, a);
  (void)pai__api_write(&a->w, &pai__api_AttemptState, row, attempt_value, a);
  pai__member_time(a, "jobStartedTime", h->job->created);
  (void)pai__api_write(&a->w, &pai__api_AttemptEnd, row, attempt_value, a);
  (void)pai__api_write(&a->w, &pai__api_JobTotals, h->job, NULL, NULL);
  rc = write_roles(h, row->number);
  pai__json_put_bool(&a->w, "isLatest", latest);
  pai__json_end_object(&a->w);
  return rc;
}

/* The database lists attempts newest first, the reply oldest first. */
static int on_number(void *user_data, const pai__attempt_row *row)
{
  history *h = user_data;

  if (PAI__VEC_ROOM(&h->a->p->alloc, h->past, h->n, h->cap) < 0)
    return pai__oom(h->a->err);
  h->past[h->n++] = row->number;
  return PAI_OK;
}

static int on_wanted(void *user_data, const pai__attempt_row *row)
{
  history *h = user_data;

  if ((int64_t)row->number != h->attempt)
    return PAI_OK;
  h->found = true;
  /* As in OpenPAI, a single requested attempt has isLatest = true. */
  return write_one(h, row, !h->one_of_all);
}

static int write_all(history *h)
{
  pai__store *store = h->a->p->store;
  int rc;

  h->found = true;
  pai__json_begin_array(&h->a->w);
  rc = write_one(h, &h->job->now, true);
  if (rc == PAI_OK)
    rc = pai__store_attempts(store, h->job->id, on_number, h, h->a->err);
  while (rc == PAI_OK && h->n > 0) {
    h->attempt = (int)h->past[--h->n];
    h->one_of_all = true;
    rc = pai__store_attempts(store, h->job->id, on_wanted, h, h->a->err);
  }
  pai__json_end_array(&h->a->w);
  return rc;
}

static int on_job(void *user_data, const pai__job_row *row)
{
  history *h = user_data;

  h->job = row;
  if (h->attempt < 0)
    return write_all(h);
  if ((uint32_t)h->attempt != row->now.number)
    return pai__store_attempts(h->a->p->store, row->id, on_wanted, h,
                               h->a->err);
  h->found = true;
  return write_one(h, &row->now, true);
}

int pai_platform_attempts(pai_platform *p, pai_job_id job, int attempt,
                          pai_write_cb write, void *user_data, pai_error **err)
{
  pai__reply a;
  history h = { .a = &a, .attempt = attempt };
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  rc = pai__store_job(p->store, job, on_job, &h, err);
  if (rc == PAI_OK && !h.found)
    rc = pai__fail(err, PAI_ENOTFOUND, "the job has no attempt %d", attempt);
  pai__free(&p->alloc, h.past, h.cap * sizeof(*h.past));
  return pai__reply_end(&a, rc);
}
