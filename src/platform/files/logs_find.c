/* logs_find.c - finding the log of a task's start, and whether it has ended */
#include "platform/files/logs.h"

#include "platform/records/record.h"

#include "base/os/posix_fs.h"

static bool role_matches(const pai_platform *p, const char *role,
                         const char *wanted)
{
  pai__buf name;
  bool same;

  if (wanted == NULL)
    return true;
  pai__buf_init(&name, &p->alloc);
  pai__name_role(&name, role);
  same =
    strcmp(role, wanted) == 0 || strcmp(pai__buf_text(&name), wanted) == 0;
  pai__buf_dispose(&name);
  return same;
}

/* --- live jobs ------------------------------------------------------------ */

uint32_t pai__log_find_task(const pai__pjob *j, const char *role,
                            uint32_t index)
{
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    const pai__task *task = &pai__job_tasks(&j->job)[t];

    if (task->index == index &&
        role_matches(j->platform, j->spec->roles[task->role].name, role))
      return t;
  }
  return UINT32_MAX;
}

static int look_at(pai__log_place *place, const pai__pjob *j)
{
  const pai__ptask *t = &j->tasks[place->task];

  place->over = j->job.state == PAI__JOB_DONE ||
                place->attempt != j->latest.number ||
                t->starts > place->start + 1 ||
                (t->starts == place->start + 1 && t->ended != 0);
  if (place->dir == NULL && t->dir != NULL &&
      place->attempt == j->latest.number && t->starts == place->start + 1 &&
      (t->ran != 0 || t->ended != 0)) {
    place->dir = pai__fs_join(j->dir, t->dir, &j->platform->alloc);
    if (place->dir == NULL)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

int pai__log_look(pai__log_place *place, pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  if (j != NULL && !place->over)
    return look_at(place, j);
  place->over = true;
  return PAI_OK;
}

/* Tells whether the options ask for the latest or next start of a task in the
 * latest attempt. */
static bool is_latest(const pai__pjob *j, const pai_log_options *o,
                      uint32_t task)
{
  uint32_t starts = j->tasks[task].starts;

  return (o->attempt < 0 || (uint32_t)o->attempt == j->latest.number) &&
         (o->retry < 0 || (uint32_t)o->retry + 1 == starts ||
          (starts == 0 && o->retry == 0));
}

/* --- in the database ------------------------------------------------------ */

typedef struct search {
  pai_platform *p;
  const pai_log_options *o;
  pai__log_place *out;
  char *job_dir;
  bool found;
  pai_error **err;
} search;

static int take(search *s, const pai__start_row *row)
{
  s->found = true;
  s->out->over = true;
  s->out->start = row->number;
  if (row->dir != NULL)
    s->out->dir = pai__fs_join(s->job_dir, row->dir, &s->p->alloc);
  return s->out->dir != NULL || row->dir == NULL ? PAI_OK : pai__oom(s->err);
}

static int on_start(void *user_data, const pai__start_row *row)
{
  search *s = user_data;

  return !s->found && row->number == (uint32_t)s->o->retry ? take(s, row)
                                                           : PAI_OK;
}

static int on_task(void *user_data, const pai__task_row *row)
{
  search *s = user_data;

  if (s->found || row->index != s->o->index ||
      !role_matches(s->p, row->role, s->o->role))
    return PAI_OK;
  if (s->o->retry < 0 || (uint32_t)s->o->retry == row->now.number)
    return take(s, &row->now);
  return pai__store_task_attempts(s->p->store, row, on_start, s, s->err);
}

static int on_job(void *user_data, const pai__job_row *row)
{
  search *s = user_data;
  uint32_t attempt =
    s->o->attempt >= 0 ? (uint32_t)s->o->attempt : row->now.number;
  int rc;

  s->out->attempt = attempt;
  s->job_dir = pai__platform_path(s->p, "jobs", row->user, row->name);
  if (s->job_dir == NULL)
    return pai__oom(s->err);
  rc = pai__system_find(&s->out->who, s->p, row->user, s->err);
  if (rc < 0)
    return rc;
  return pai__store_tasks(s->p->store, row->id, attempt, NULL, on_task, s,
                          s->err);
}

static int find_past(search *s, pai_job_id job)
{
  int rc;

  if (s->p->store == NULL)
    return pai__fail(s->err, PAI_ENOTFOUND, "there is no such log");
  rc = pai__store_job(s->p->store, job, on_job, s, s->err);
  if (rc == PAI_OK && (!s->found || s->out->dir == NULL))
    rc = pai__fail(s->err, PAI_ENOTFOUND, "there is no such log");
  pai__strfree(&s->p->alloc, s->job_dir);
  if (rc < 0) {
    pai__strfree(&s->p->alloc, s->out->dir);
    s->out->dir = NULL;
  }
  return rc;
}

int pai__log_find(pai__log_place *out, pai_platform *p, pai_job_id job,
                  const pai_log_options *o, pai_error **err)
{
  const pai__pjob *j = pai__platform_find_job(p, job);
  search s = { .p = p, .o = o, .out = out, .err = err };
  uint32_t task;
  int rc;

  *out = (pai__log_place){ 0 };
  if (j == NULL)
    return find_past(&s, job);
  task = pai__log_find_task(j, o->role, o->index);
  if (task == UINT32_MAX)
    return pai__fail(err, PAI_ENOTFOUND, "the job has no such task");
  if (!is_latest(j, o, task))
    return find_past(&s, job);
  out->task = task;
  out->attempt = j->latest.number;
  out->start = j->tasks[task].starts > 0 ? j->tasks[task].starts - 1 : 0;
  if (look_at(out, j) < 0)
    return pai__oom(err);
  if (out->who == NULL &&
      (rc = pai__system_find(&out->who, p, j->user, err)) < 0)
    return rc;
  if (out->dir == NULL && (out->over || o->follow == 0))
    return pai__fail(err, PAI_ENOTFOUND, "the task has not been started");
  return PAI_OK;
}
