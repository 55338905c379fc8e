/* records_task.c - tasks and their starts (rest-api 2.9) */
#include "platform/records/records.h"

/* The objects of a role's tasks, role after role. */
typedef struct tasks {
  pai__reply *a;
  const pai__job_part *job;
  char role[PAI__MAX_ROLE_NAME * 4 + 1]; /* role that is being written */
  pai__buf logs;                         /* URL prefix of its logs */
} tasks;

static void add_role(pai__buf *out, const char *role)
{
  pai__name_role(out, role);
  if (out->len == 0) /* no character is left */
    pai__buf_str(out, role);
}

int pai__reply_role(pai__reply *a, const char *role)
{
  pai__buf name;

  pai__buf_init(&name, &a->p->alloc);
  add_role(&name, role);
  (void)pai__reply_text(a, pai__buf_text(&name));
  pai__buf_dispose(&name);
  return PAI_OK;
}

void pai__begin_role(pai__reply *a, const char *role)
{
  pai__buf name;

  pai__buf_init(&name, &a->p->alloc);
  add_role(&name, role);
  pai__json_member(&a->w, pai__buf_text(&name));
  pai__json_begin_object(&a->w);
  pai__json_put_object(&a->w, "taskRoleStatus");
  pai__json_put_text(&a->w, "name", pai__buf_text(&name));
  pai__json_end_object(&a->w);
  pai__json_put_array(&a->w, "taskStatuses");
  pai__buf_dispose(&name);
}

void pai__end_role(pai__reply *a)
{
  pai__json_end_array(&a->w);
  pai__json_end_object(&a->w);
}

/* Writes the URL prefix of all logs of a role. */
static void make_logs(pai__buf *out, const pai_alloc *alloc,
                      const pai__job_part *job, const char *role)
{
  pai__buf name;

  pai__buf_init(&name, alloc);
  add_role(&name, role);
  pai__buf_cut(out, 0);
  pai__buf_printf(out,
                  "/api/v2/jobs/%s~%s/attempts/%u/taskRoles/%s/taskIndex/",
                  job->user, job->name, job->attempt, pai__buf_text(&name));
  pai__buf_dispose(&name);
}

static int value_log(pai__reply *a, pai__buf *logs, uint32_t index,
                     uint32_t start)
{
  size_t len = logs->len;

  pai__buf_printf(logs, "%u/attempts/%u/logs", index, start);
  (void)pai__reply_text(a, pai__buf_text(logs));
  if (pai__buf_ok(logs))
    pai__buf_cut(logs, len);
  return PAI_OK;
}

int pai__reply_log(pai__reply *a, const pai__job_part *job, const char *role,
                   uint32_t index, uint32_t start)
{
  pai__buf logs;

  pai__buf_init(&logs, &a->p->alloc);
  make_logs(&logs, &a->p->alloc, job, role);
  (void)value_log(a, &logs, index, start);
  pai__buf_dispose(&logs);
  return PAI_OK;
}

/* A start that is written, with its job, index and URL prefix of logs. */
typedef struct writing {
  pai__reply *a;
  const pai__job_part *job;
  pai__buf *logs;
  uint32_t index;
} writing;

static int start_value(void *user_data, unsigned field, const void *of)
{
  const pai__start_row *row = of;
  const writing *v = user_data;
  pai__reply *a = v->a;

  switch (field) {
  case PAI__TaskPlace_containerIp:
    return pai__reply_text(a, pai__shown_ip(a->p, row->ip));
  case PAI__TaskPlace_containerLog:
    return value_log(a, v->logs, v->index, row->number);
  case PAI__TaskPlace_containerExitSpec:
    return pai__reply_exit(a, row->exit_code);
  case PAI__TaskPlace_containerExitDiagnostics:
    return pai__reply_summary(a, row->diagnostics);
  case PAI__TaskStart_attemptState:
    return pai__reply_text(
      a, pai__api_attempt_state(row->state, (int)row->exit_code.value));
  default: /* PAI__TaskPlace_containerGpus */ return pai__reply_text(a, NULL);
  }
}

static int uid_value(void *user_data, unsigned field, const void *of)
{
  const pai__task_row *row = of;
  const writing *v = user_data;
  char uid[PAI__UID];

  (void)field; /* PAI__TaskName_taskUid */
  return pai__reply_text(
    v->a, pai__platform_uid(uid, v->a->p, v->job->id,
                            (pai__uid_of){ .kind = PAI__UID_TASK,
                                           .attempt = row->attempt,
                                           .role = row->role,
                                           .index = row->index }));
}

static void begin_role(tasks *t, const char *role)
{
  if (t->role[0] != '\0')
    pai__end_role(t->a);
  t->role[0] = '\0';
  strncat(t->role, role, sizeof(t->role) - 1);
  pai__begin_role(t->a, role);
  make_logs(&t->logs, &t->a->p->alloc, t->job, role);
}

static int on_task(void *user_data, const pai__task_row *row)
{
  tasks *t = user_data;
  pai__json_writer *w = &t->a->w;
  writing v = { t->a, t->job, &t->logs, row->index };

  if (row->exit_code.there && row->exit_code.value == PAI__CODE_REMOVED)
    return PAI_OK; /* its role has fewer tasks */
  if (strcmp(t->role, row->role) != 0)
    begin_role(t, row->role);
  pai__json_begin_object(w);
  (void)pai__api_write(w, &pai__api_TaskName, row, uid_value, &v);
  (void)pai__api_write(w, &pai__api_TaskPlace, &row->now, start_value, &v);
  (void)pai__api_write(w, &pai__api_TaskTimes, row, NULL, NULL);
  (void)pai__api_write(w, &pai__api_TaskStart, &row->now, start_value, &v);
  pai__json_end_object(w);
  return PAI_OK;
}

int pai__write_roles(pai__reply *a, const pai__job_part *job)
{
  tasks t = { .a = a, .job = job };
  int rc;

  pai__buf_init(&t.logs, &a->p->alloc);
  pai__json_put_object(&a->w, "taskRoles");
  rc = pai__store_tasks(a->p->store, job->id, job->attempt, NULL, on_task, &t,
                        a->err);
  if (t.role[0] != '\0')
    pai__end_role(a);
  if (rc == PAI_OK && !pai__buf_ok(&t.logs))
    rc = pai__oom(a->err);
  pai__buf_dispose(&t.logs);
  pai__json_end_object(&a->w);
  return rc;
}

/* --- the starts of one task ----------------------------------------------- */

typedef struct starts {
  pai__reply *a;
  pai__job_part job;
  int attempt;
  const char *role; /* in the spelling of the file or of the API */
  uint32_t index;
  const pai__task_row *task;
  bool found;
} starts;

static int on_start(void *user_data, const pai__start_row *row)
{
  starts *s = user_data;
  pai__json_writer *w = &s->a->w;
  pai__buf logs;
  writing v = { s->a, &s->job, &logs, s->task->index };
  bool ok;

  pai__buf_init(&logs, &s->a->p->alloc);
  make_logs(&logs, &s->a->p->alloc, &s->job, s->task->role);
  pai__json_begin_object(w);
  (void)pai__api_write(w, &pai__api_TaskStart, row, start_value, &v);
  (void)pai__api_write(w, &pai__api_TaskPlace, row, start_value, &v);
  pai__json_end_object(w);
  ok = pai__buf_ok(&logs);
  pai__buf_dispose(&logs);
  return ok ? PAI_OK : pai__oom(s->a->err);
}

static int write_starts(starts *s, const pai__task_row *row)
{
  pai__reply *a = s->a;
  writing v = { a, &s->job, NULL, row->index };
  int rc;

  s->task = row;
  pai__json_begin_object(&a->w);
  pai__json_put_text(&a->w, "username", s->job.user);
  pai__json_put_text(&a->w, "jobName", s->job.name);
  pai__json_put_int(&a->w, "jobAttemptId", s->job.attempt);
  pai__json_put_text(&a->w, "taskRoleName", s->role);
  (void)pai__api_write(&a->w, &pai__api_TaskName, row, uid_value, &v);
  (void)pai__api_write(&a->w, &pai__api_TaskTimes, row, NULL, NULL);
  pai__json_put_array(&a->w, "attempts");
  rc = on_start(s, &row->now);
  if (rc == PAI_OK)
    rc = pai__store_task_attempts(a->p->store, row, on_start, s, a->err);
  pai__json_end_array(&a->w);
  pai__json_end_object(&a->w);
  return rc;
}

static bool role_matches(const pai_platform *p, const char *role,
                         const char *wanted)
{
  pai__buf name;
  bool same;

  pai__buf_init(&name, &p->alloc);
  add_role(&name, role);
  same =
    strcmp(role, wanted) == 0 || strcmp(pai__buf_text(&name), wanted) == 0;
  pai__buf_dispose(&name);
  return same;
}

static int on_one_task(void *user_data, const pai__task_row *row)
{
  starts *s = user_data;

  if (s->found || row->index != s->index ||
      !role_matches(s->a->p, row->role, s->role))
    return PAI_OK;
  s->found = true;
  return write_starts(s, row);
}

static int on_job(void *user_data, const pai__job_row *row)
{
  starts *s = user_data;
  uint32_t attempt = s->attempt < 0 ? row->now.number : (uint32_t)s->attempt;

  s->job = (pai__job_part){ row->user, row->name, row->id, attempt };
  return pai__store_tasks(s->a->p->store, row->id, attempt, NULL, on_one_task,
                          s, s->a->err);
}

int pai_platform_show_task(pai_platform *p, pai_job_id job, int attempt,
                           const char *role, uint32_t index,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  pai__reply a;
  starts s = { .a = &a, .attempt = attempt, .role = role, .index = index };
  int rc;

  if (role == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_platform_show_task() was called without role");
  rc = pai__reply_begin(&a, p, write, user_data, err);
  if (rc < 0)
    return rc;
  rc = pai__store_job(p->store, job, on_job, &s, err);
  if (rc == PAI_OK && !s.found)
    rc =
      pai__fail(err, PAI_ENOTFOUND, "the job has no task %s[%u]", role, index);
  return pai__reply_end(&a, rc);
}
