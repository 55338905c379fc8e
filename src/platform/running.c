/* running.c - live tasks, and counters of a platform */
#include "platform/records/record.h"

#include <openpai/records.h>

enum { CGROUP = 512 };

/* Texts of a task's view; those of the job are the same for all its tasks. */
typedef struct texts {
  char attempt_id[PAI__UID], id[PAI__UID], cgroup[CGROUP];
  pai__buf framework, role;
} texts;

/* The address of the image that a role names, or NULL. */
static const char *image_of(const pai_spec *spec, size_t role)
{
  pai_prerequisite_view p = { .struct_size = sizeof(p) };
  pai_role_view r = { .struct_size = sizeof(r) };

  if (pai_spec_view_role(spec, role, &r) < 0 || r.image == NULL)
    return NULL;
  for (size_t i = 0; pai_spec_view_prerequisite(spec, i, &p) == PAI_OK; i++)
    if (strcmp(p.type, "dockerimage") == 0 && strcmp(p.name, r.image) == 0)
      return p.uri;
  return NULL;
}

/* Tells whether the back end reports processes of tasks. */
static bool tells_processes(const pai_platform *p)
{
  return p->ops->struct_size >=
           offsetof(pai_backend_ops, processes) + sizeof(p->ops->processes) &&
         p->ops->processes != NULL && !p->backend_closing;
}

static void fill_processes(pai_task_view *v, texts *t, const pai__pjob *j,
                           uint32_t task)
{
  const pai_platform *p = j->platform;

  if ((v->state != PAI_STATE_RUNNING && v->state != PAI_STATE_STOPPING) ||
      !tells_processes(p) ||
      p->ops->processes(p->backend, pai__platform_task_id(j, task),
                        &v->session, t->cgroup, CGROUP) < 0)
    return;
  if (t->cgroup[0] != '\0')
    v->cgroup = t->cgroup;
}

/* Fills in the place of a task that was started. */
static void fill_place(pai_task_view *v, texts *t, const pai__pjob *j,
                       uint32_t task)
{
  const pai__ptask *own = &j->tasks[task];
  const pai__role *role = &j->spec->roles[pai__job_tasks(&j->job)[task].role];

  if (own->begun == 0)
    return;
  v->id = pai__platform_uid(t->id, j->platform, j->id,
                            (pai__uid_of){ .kind = PAI__UID_POD,
                                           .attempt = v->attempt,
                                           .role = role->name,
                                           .index = v->index,
                                           .retry = own->starts - 1 });
  v->node = j->platform->here.name;
  v->ip = j->places[task].ip;
  v->started = own->ran;
  if (own->ended == 0)
    v->gpus = j->places[task].gpus;
}

static int tell_task(pai_task_view *v, texts *t, const pai__pjob *j,
                     uint32_t task, pai_task_cb cb, void *user_data)
{
  const pai__task *now = &pai__job_tasks(&j->job)[task];
  const pai__role *role = &j->spec->roles[now->role];

  pai__buf_cut(&t->role, 0);
  pai__name_role(&t->role, role->name);
  if (t->role.len == 0)
    pai__buf_str(&t->role, role->name);
  if (!pai__buf_ok(&t->role))
    return PAI_ENOMEM;
  v->role = pai__buf_text(&t->role);
  v->index = now->index;
  v->state = pai__job_task_state(&j->job, task);
  v->image = image_of(j->spec, now->role);
  v->wants_gpus = role->gpus;
  v->cpus = role->cpus;
  v->milli_cpus = role->cpu_millis;
  v->memory = (uint64_t)role->memory_mb << 20;
  v->code = j->tasks[task].code;
  v->id = v->node = v->ip = v->cgroup = NULL;
  v->gpus = 0;
  v->session = 0;
  v->started = 0;
  fill_place(v, t, j, task);
  fill_processes(v, t, j, task);
  return cb(user_data, v);
}

static int tell_job(const pai__pjob *j, texts *t, pai_task_cb cb,
                    void *user_data)
{
  pai_task_view v = { .struct_size = sizeof(v),
                      .job = j->id,
                      .user = j->user,
                      .name = j->name,
                      .virtual_cluster = j->vc,
                      .attempt = j->latest.number,
                      .created = j->submitted };
  pai__buf whole;
  int rc = PAI_OK;

  pai__buf_init(&whole, &j->platform->alloc);
  pai__buf_printf(&whole, "%s~%s", j->user, j->name);
  pai__buf_cut(&t->framework, 0);
  pai__name_encode(&t->framework, pai__buf_text(&whole));
  if (!pai__buf_ok(&whole) || !pai__buf_ok(&t->framework))
    rc = PAI_ENOMEM;
  pai__buf_dispose(&whole);
  v.framework = pai__buf_text(&t->framework);
  v.attempt_id = pai__platform_uid(
    t->attempt_id, j->platform, j->id,
    (pai__uid_of){ .kind = PAI__UID_ATTEMPT, .attempt = v.attempt });
  for (uint32_t i = 0; rc >= 0 && i < j->job.ntasks; i++)
    rc = tell_task(&v, t, j, i, cb, user_data);
  return rc;
}

int pai_platform_tasks(pai_platform *p, pai_task_cb cb, void *user_data,
                       pai_error **err)
{
  const pai__map_entry *e;
  int rc = PAI_OK;
  texts t;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  pai__buf_init(&t.framework, &p->alloc);
  pai__buf_init(&t.role, &p->alloc);
  for (size_t i = 0; rc >= 0 && (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;
    if (j->job.state != PAI__JOB_DONE)
      rc = tell_job(j, &t, cb, user_data);
  }
  pai__buf_dispose(&t.framework);
  pai__buf_dispose(&t.role);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "whoever was told of tasks has ended it")
                : PAI_OK;
}

/* --- counters ------------------------------------------------------------- */

int pai_platform_count(const pai_platform *p, pai_platform_counts *out)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai_platform_counts c = { .struct_size = sizeof(c) };
  const pai__map_entry *e;

  PAI__CHECK_ARG(p != NULL && out != NULL);
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    int state = pai__job_public_state(&((pai__pjob *)e->value)->job);
    c.waiting += state == PAI_STATE_WAITING;
    c.running += state == PAI_STATE_RUNNING;
    c.stopping += state == PAI_STATE_STOPPING;
  }
  if (pai_sched_view_sums(p->sched, &sums) == PAI_OK)
    c.queued = sums.waiting;
  c.submitted = p->counts.submitted;
  c.succeeded = p->counts.succeeded;
  c.failed = p->counts.failed;
  c.stopped = p->counts.stopped;
  c.commits = p->counts.commits;
  c.commit_failures = p->counts.commit_failures;
  c.commit_us = (uint64_t)p->counts.commit_us;
  return PAI__FILL_VIEW(out, c, pai_platform_counts, commit_us);
}

void pai__count_end(pai_platform *p, int code)
{
  if (code == 0)
    p->counts.succeeded++;
  else if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER)
    p->counts.stopped++;
  else
    p->counts.failed++;
}
