/*
 * records_attempts.c - the attempts of a job as OpenPAI's older route tells
 * them (rest-api 2.10)
 */
#include "platform/records.h"

#include <openpai/job.h>

typedef struct history {
  pai__reply *a;
  const pai__job_row *job;
  int attempt; /* wanted, or -1: all */
  bool found;
  bool one_of_all;
  uint32_t *past; /* numbers of those before the latest, newest first */
  size_t n, cap;
} history;

/* --- one ------------------------------------------------------------------------ */

static void member_phrase(pai__reply *a, pai__maybe code)
{
  pai_exit_view exit = { .struct_size = sizeof(exit) };
  bool known = code.there && pai_exit_find(&exit, (int)code.value) == PAI_OK;

  pai__member_text(a, "exitPhrase", known ? exit.phrase : NULL);
}

static void write_end(pai__reply *a, const pai__attempt_row *row)
{
  const char *type = !row->exit_code.there       ? NULL
                     : row->exit_code.value == 0 ? "Succeeded"
                                                 : "Failed";

  pai__member_maybe(a, "exitCode", row->exit_code);
  member_phrase(a, row->exit_code);
  pai__member_text(a, "exitType", type);
  pai__member_messages(a, "exitDiagnostics", row->diagnostics, true);
  pai__member_text(a, "appExitTriggerMessage", row->trigger);
  pai__member_text(a, "appExitTriggerTaskRoleName", row->trigger_role);
  pai__member_maybe(a, "appExitTriggerTaskIndex", row->trigger_index);
  pai__member_exit(a, "appExitSpec", row->exit_code);
  pai__member_summary(a, "appExitDiagnostics", row->diagnostics);
  pai__member_messages(a, "appExitMessages", row->diagnostics, false);
}

/* --- its tasks -------------------------------------------------------------------- */

typedef struct roles {
  history *h;
  uint32_t attempt;
  pai__buf name; /* of the role that is being written */
} roles;

static void end_role(roles *t)
{
  if (t->name.len == 0)
    return;
  pai__json_end_array(&t->h->a->w);
  pai__json_end_object(&t->h->a->w);
}

static void begin_role(roles *t, const char *role)
{
  pai__reply *a = t->h->a;

  end_role(t);
  pai__buf_cut(&t->name, 0);
  pai__buf_str(&t->name, role);
  pai__member_role(a, NULL, role);
  pai__json_begin_object(&a->w);
  pai__member(a, "taskRoleStatus");
  pai__json_begin_object(&a->w);
  pai__member_role(a, "name", role);
  pai__json_end_object(&a->w);
  pai__member(a, "taskStatuses");
  pai__json_begin_array(&a->w);
}

static int on_task(void *user_data, const pai__task_row *row)
{
  roles *t = user_data;
  pai__reply *a = t->h->a;
  pai__job_part part = { t->h->job->user, t->h->job->name, t->h->job->id,
                         t->attempt };

  if (strcmp(pai__buf_text(&t->name), row->role) != 0)
    begin_role(t, row->role);
  pai__json_begin_object(&a->w);
  pai__member_int(a, "taskIndex", row->index);
  pai__member_text(a, "taskState", row->state);
  pai__member_text(a, "containerId", row->now.uid);
  pai__member_text(a, "containerIp", pai__shown_ip(a->p, row->now.ip));
  pai__member_text(a, "containerGpus", NULL);
  pai__member_log(a, &part, row->role, row->index, row->now.number);
  pai__member_maybe(a, "containerExitCode", row->now.exit_code);
  pai__json_end_object(&a->w);
  return PAI_OK;
}

static int write_roles(history *h, uint32_t attempt)
{
  roles t = { .h = h, .attempt = attempt };
  int rc;

  pai__buf_init(&t.name, &h->a->p->alloc);
  pai__member(h->a, "taskRoles");
  pai__json_begin_object(&h->a->w);
  rc = pai__store_tasks(h->a->p->store, h->job->id, attempt, NULL, on_task, &t,
                        h->a->err);
  end_role(&t);
  pai__json_end_object(&h->a->w);
  pai__buf_dispose(&t.name);
  return rc;
}

/* --- one, and all ----------------------------------------------------------------- */

/* `state` follows the rules of jobs, not those of attempts. */
static void write_head(history *h, const pai__attempt_row *row)
{
  const pai__job_row *job = h->job;
  char uid[PAI__UID];
  pai__reply *a = h->a;

  pai__member_text(a, "jobName", job->name);
  pai__member_debug_id(a, "frameworkName", job->user, job->name);
  pai__member_text(
    a, "uid",
    pai__platform_uid(uid, a->p, job->id,
                      (pai__uid_of){ .kind = PAI__UID_FRAMEWORK }));
  pai__member_text(a, "userName", job->user);
  pai__member_text(a, "state",
                   pai__api_state(row->state, (int)row->exit_code.value));
  pai__member_text(a, "originState", row->state);
  pai__member_int(a, "attemptIndex", row->number);
  pai__member_time(a, "jobStartedTime", job->created);
  pai__member_time(a, "attemptStartedTime", row->created);
  pai__member_time(a, "attemptCompletedTime", row->completed);
}

static int write_one(history *h, const pai__attempt_row *row, bool latest)
{
  pai__reply *a = h->a;
  int rc;

  pai__json_begin_object(&a->w);
  write_head(h, row);
  write_end(a, row);
  pai__member_int(a, "totalGpuNumber", h->job->gpus);
  pai__member_int(a, "totalTaskNumber", h->job->tasks);
  pai__member_int(a, "totalTaskRoleNumber", h->job->roles);
  pai__member_text(a, "jobPriority", h->job->priority);
  rc = write_roles(h, row->number);
  pai__member_bool(a, "isLatest", latest);
  pai__json_end_object(&a->w);
  return rc;
}

/* The database has them newest first; here they come oldest first. */
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
  /* As OpenPAI does it: what is asked for alone is told to be the latest. */
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
