/* records_task.c - tasks and their starts (rest-api 2.9) */
#include "platform/records.h"

/* The objects of a role's tasks, role after role. */
typedef struct tasks {
  pai__reply *a;
  const pai__job_part *job;
  char role[PAI__MAX_ROLE_NAME * 4 + 1]; /* the one that is being written, */
  pai__buf logs;                         /* and where its logs are */
} tasks;

static void add_role(pai__buf *out, const char *role)
{
  pai__name_role(out, role);
  if (out->len == 0) /* nothing of it is left */
    pai__buf_str(out, role);
}

/* Without a key the name is one. */
void pai__member_role(pai__reply *a, const char *key, const char *role)
{
  pai__buf name;

  pai__buf_init(&name, &a->p->alloc);
  add_role(&name, role);
  if (key == NULL)
    pai__member(a, pai__buf_text(&name));
  else
    pai__member_text(a, key, pai__buf_text(&name));
  pai__buf_dispose(&name);
}

/* What the paths of all logs of a role begin with. */
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

static void member_log(pai__reply *a, pai__buf *logs, uint32_t index,
                       uint32_t start)
{
  size_t len = logs->len;

  pai__buf_printf(logs, "%u/attempts/%u/logs", index, start);
  pai__member_text(a, "containerLog", pai__buf_text(logs));
  if (pai__buf_ok(logs))
    pai__buf_cut(logs, len);
}

void pai__member_log(pai__reply *a, const pai__job_part *job, const char *role,
                     uint32_t index, uint32_t start)
{
  pai__buf logs;

  pai__buf_init(&logs, &a->p->alloc);
  make_logs(&logs, &a->p->alloc, job, role);
  member_log(a, &logs, index, start);
  pai__buf_dispose(&logs);
}

static void write_place(pai__reply *a, pai__buf *logs,
                        const pai__task_row *task, const pai__start_row *row)
{
  pai__member_text(a, "containerId", row->uid);
  pai__member_text(a, "containerIp", pai__shown_ip(a->p, row->ip));
  pai__member_text(a, "containerNodeName", row->node);
  pai__member(a, "containerPorts");
  if (row->ports != NULL)
    pai__json_ready(&a->w, row->ports, strlen(row->ports));
  else {
    pai__json_begin_object(&a->w);
    pai__json_end_object(&a->w);
  }
  pai__member_text(a, "containerGpus", NULL);
  member_log(a, logs, task->index, row->number);
  pai__member_maybe(a, "containerExitCode", row->exit_code);
  pai__member_exit(a, "containerExitSpec", row->exit_code);
  pai__member_summary(a, "containerExitDiagnostics", row->diagnostics);
  pai__member_maybe(a, "originUserExitCode", row->user_code);
  pai__member_text(a, "exitReason", row->why);
  pai__member_failure(a, row->failure);
  pai__member_bool(a, "outputLost", row->output_lost);
  pai__member_text(a, "runtime", row->runtime);
}

static void write_start(pai__reply *a, const pai__start_row *row)
{
  pai__member_int(a, "attemptId", row->number);
  pai__member_text(
    a, "attemptState",
    pai__api_attempt_state(row->state, (int)row->exit_code.value));
  pai__member_time(a, "currentAttemptCreatedTime", row->created);
  pai__member_time(a, "currentAttemptLaunchedTime", row->launched);
  pai__member_time(a, "currentAttemptCompletedTime", row->completed);
}

static void write_times(pai__reply *a, const pai__task_row *row)
{
  pai__member_int(a, "retries", row->retries);
  pai__member_int(a, "accountableRetries", row->counted);
  pai__member_time(a, "createdTime", row->created);
  pai__member_time(a, "launchedTime", row->launched);
  pai__member_time(a, "completedTime", row->completed);
}

static void member_task_uid(pai__reply *a, const pai__job_part *job,
                            const pai__task_row *row)
{
  char uid[PAI__UID];

  pai__member_text(a, "taskUid",
                   pai__platform_uid(uid, a->p, job->id,
                                     (pai__uid_of){ .kind = PAI__UID_TASK,
                                                    .attempt = row->attempt,
                                                    .role = row->role,
                                                    .index = row->index }));
}

static void end_role(tasks *t)
{
  if (t->role[0] == '\0')
    return;
  pai__json_end_array(&t->a->w);
  pai__json_end_object(&t->a->w);
}

static void begin_role(tasks *t, const char *role)
{
  pai__reply *a = t->a;

  end_role(t);
  t->role[0] = '\0';
  strncat(t->role, role, sizeof(t->role) - 1);
  pai__member_role(a, NULL, role);
  pai__json_begin_object(&a->w);
  pai__member(a, "taskRoleStatus");
  pai__json_begin_object(&a->w);
  pai__member_role(a, "name", role);
  pai__json_end_object(&a->w);
  pai__member(a, "taskStatuses");
  pai__json_begin_array(&a->w);
  make_logs(&t->logs, &a->p->alloc, t->job, role);
}

static int on_task(void *user_data, const pai__task_row *row)
{
  tasks *t = user_data;
  pai__reply *a = t->a;

  if (row->exit_code.there && row->exit_code.value == PAI__CODE_REMOVED)
    return PAI_OK; /* its role has fewer tasks */
  if (strcmp(t->role, row->role) != 0)
    begin_role(t, row->role);
  pai__json_begin_object(&a->w);
  pai__member_int(a, "taskIndex", row->index);
  member_task_uid(a, t->job, row);
  pai__member_text(a, "taskState", row->state);
  write_place(a, &t->logs, row, &row->now);
  write_times(a, row);
  write_start(a, &row->now);
  pai__json_end_object(&a->w);
  return PAI_OK;
}

int pai__write_roles(pai__reply *a, const pai__job_part *job)
{
  tasks t = { .a = a, .job = job };
  int rc;

  pai__buf_init(&t.logs, &a->p->alloc);
  pai__member(a, "taskRoles");
  pai__json_begin_object(&a->w);
  rc = pai__store_tasks(a->p->store, job->id, job->attempt, NULL, on_task, &t,
                        a->err);
  end_role(&t);
  if (rc == PAI_OK && !pai__buf_ok(&t.logs))
    rc = pai__oom(a->err);
  pai__buf_dispose(&t.logs);
  pai__json_end_object(&a->w);
  return rc;
}

/* --- the starts of one -------------------------------------------------------------- */

typedef struct starts {
  pai__reply *a;
  pai__job_part job;
  int attempt;
  const char *role; /* as the file or as the API spells it */
  uint32_t index;
  const pai__task_row *task;
  bool found;
} starts;

static int on_start(void *user_data, const pai__start_row *row)
{
  starts *s = user_data;
  pai__buf logs;
  bool ok;

  pai__buf_init(&logs, &s->a->p->alloc);
  make_logs(&logs, &s->a->p->alloc, &s->job, s->task->role);
  pai__json_begin_object(&s->a->w);
  write_start(s->a, row);
  write_place(s->a, &logs, s->task, row);
  pai__json_end_object(&s->a->w);
  ok = pai__buf_ok(&logs);
  pai__buf_dispose(&logs);
  return ok ? PAI_OK : pai__oom(s->a->err);
}

static int write_starts(starts *s, const pai__task_row *row)
{
  pai__reply *a = s->a;
  int rc;

  s->task = row;
  pai__json_begin_object(&a->w);
  pai__member_text(a, "username", s->job.user);
  pai__member_text(a, "jobName", s->job.name);
  pai__member_int(a, "jobAttemptId", s->job.attempt);
  pai__member_text(a, "taskRoleName", s->role);
  pai__member_int(a, "taskIndex", row->index);
  member_task_uid(a, &s->job, row);
  pai__member_text(a, "taskState", row->state);
  write_times(a, row);
  pai__member(a, "attempts");
  pai__json_begin_array(&a->w);
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
