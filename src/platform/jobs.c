/*
 * jobs.c - making, finding and freeing jobs, and public calls about live jobs
 *
 * Public calls change state and ask for a step; none of them calls back.
 */
#include "platform/files/logs.h"
#include "platform/records/record.h"
#include "platform/shortage.h"

#include "base/os/posix_fs.h"

#include <stdio.h>

pai__pjob *pai__platform_find_job(const pai_platform *p, pai_job_id id)
{
  return pai__map_get(&p->jobs, &id, sizeof(id));
}

/* Bytes of USER~NAME, which is unique on a durable platform. */
enum { KEY = 256 };

static size_t make_key(char out[KEY], const char *user, const char *name)
{
  (void)snprintf(out, KEY, "%s~%s", user, name);
  return strlen(out);
}

pai__pjob *pai__platform_find_named(const pai_platform *p, const char *user,
                                    const char *name)
{
  char key[KEY];
  size_t len = make_key(key, user, name);

  return pai__map_get(&p->names, key, len);
}

int pai__platform_add(pai__pjob *j)
{
  pai_platform *p = j->platform;
  char key[KEY];
  size_t len = make_key(key, j->user, j->name);

  if (pai__map_set(&p->jobs, &j->id, sizeof(j->id), j) < 0)
    return PAI_ENOMEM;
  if (p->store == NULL || pai__map_set(&p->names, key, len, j) == PAI_OK) {
    p->dependent += j->spec->nafter != 0;
    return PAI_OK;
  }
  (void)pai__map_remove(&p->jobs, &j->id, sizeof(j->id));
  return PAI_ENOMEM;
}

void pai__platform_remove(const pai__pjob *j)
{
  pai_platform *p = j->platform;
  char key[KEY];
  size_t len = make_key(key, j->user, j->name);

  if (pai__map_get(&p->jobs, &j->id, sizeof(j->id)) == j)
    p->dependent -= j->spec->nafter != 0;
  (void)pai__map_remove(&p->jobs, &j->id, sizeof(j->id));
  if (pai__map_get(&p->names, key, len) == j)
    (void)pai__map_remove(&p->names, key, len);
}

static void free_tasks(pai__pjob *j)
{
  const pai_alloc *alloc = &j->platform->alloc;
  size_t ntasks = j->job.ntasks;

  for (size_t t = 0; j->tasks != NULL && t < ntasks; t++) {
    pai__strfree(alloc, j->tasks[t].dir);
    pai__strfree(alloc, j->tasks[t].diagnostics);
    pai__strfree(alloc, j->tasks[t].failure);
    pai__strfree(alloc, j->tasks[t].why);
    pai__strfree(alloc, j->tasks[t].cpus);
    pai__strfree(alloc, j->tasks[t].about);
  }
  pai__free(alloc, j->tasks, ntasks * sizeof(*j->tasks));
  pai__free(alloc, j->places, ntasks * sizeof(*j->places));
  pai__free(alloc, j->ports, j->nports * sizeof(*j->ports));
}

void pai__platform_free_job(pai__pjob *j)
{
  const pai_alloc *alloc = &j->platform->alloc;

  pai__timer_close(j->grace);
  pai__timer_close(j->retry);
  pai__arena_dispose(&j->attempt);
  free_tasks(j);
  pai__strfree(alloc, j->latest.diagnostics);
  pai__strfree(alloc, j->latest.failure);
  pai__strfree(alloc, j->latest.why);
  pai__strfree(alloc, j->latest.message);
  pai__strfree(alloc, j->why);
  pai__strfree(alloc, j->impossible);
  pai__shortage_end(j);
  pai__strfree(alloc, j->dir);
  pai__strfree(alloc, j->work_dir);
  pai__strfree(alloc, j->user);
  pai__strfree(alloc, j->name);
  pai__strfree(alloc, j->vc);
  pai__job_dispose(&j->job);
  if (j->spec != NULL)
    pai__free(alloc, j->gang, j->spec->nroles * sizeof(*j->gang));
  pai__form_dispose(&j->form, alloc);
  pai_spec_unref(j->spec);
  pai__free(alloc, j, sizeof(*j));
}

static void on_grace_over(void *user_data)
{
  pai__platform_event(user_data, PAI__EV_IMPATIENT, 0, 0);
}

static void on_retry_due(void *user_data)
{
  pai__platform_event(user_data, PAI__EV_DUE, 0, 0);
}

static uint32_t ports_of(const pai__pjob *j, uint32_t task)
{
  return pai__platform_role_ports(
    &j->spec->roles[pai__job_tasks(&j->job)[task].role]);
}

int pai__platform_make_tasks(pai__pjob *j, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  uint32_t port = 0;

  for (uint32_t t = 0; t < j->job.ntasks; t++)
    j->nports += ports_of(j, t);
  j->tasks = pai__zalloc(alloc, j->job.ntasks * sizeof(*j->tasks));
  j->places = pai__zalloc(alloc, j->job.ntasks * sizeof(*j->places));
  if (j->nports != 0)
    j->ports = pai__zalloc(alloc, j->nports * sizeof(*j->ports));
  if (j->tasks == NULL || j->places == NULL ||
      (j->ports == NULL && j->nports != 0))
    return pai__oom(err);
  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    j->tasks[t] =
      (pai__ptask){ .told = PAI_STATE_WAITING, .share = -1, .port = port };
    j->places[t].ip = j->platform->here.ip;
    port += ports_of(j, t);
  }
  return PAI_OK;
}

static char *vc_of(const pai_spec *spec, const pai_alloc *alloc)
{
  pai_job_view view = { .struct_size = sizeof(view) };

  (void)pai_spec_view_job(spec, &view);
  return pai__strdup(alloc, view.virtual_cluster);
}

/* A partial job has no gang. */
static int make_gang(pai__pjob *j)
{
  j->gang =
    pai__zalloc(&j->platform->alloc, j->spec->nroles * sizeof(*j->gang));
  if (j->gang == NULL)
    return PAI_ENOMEM;
  for (size_t r = 0; !j->form.partial && r < j->spec->nroles; r++)
    j->gang[r] = j->spec->roles[r].instances;
  return PAI_OK;
}

int pai__platform_make_job(pai__pjob **out, pai_platform *p, pai_spec *spec,
                           const char *user, const char *name, pai_job_id id,
                           pai_error **err)
{
  pai__pjob *j = pai__zalloc(&p->alloc, sizeof(*j));

  *out = j;
  if (j == NULL)
    return pai__oom(err);
  j->platform = p;
  j->id = id;
  j->latest.trigger = PAI__NO_TASK;
  pai__arena_init(&j->attempt, &p->alloc);
  j->spec = pai_spec_ref(spec);
  j->user = pai__strdup(&p->alloc, user);
  j->name = pai__strdup(&p->alloc, name);
  j->vc = vc_of(spec, &p->alloc);
  if (j->user == NULL || j->name == NULL || j->vc == NULL ||
      pai__form_make(&j->form, &p->alloc, spec,
                     p->store != NULL ? PAI__FORM_OWN_SIGNALS
                                      : PAI__FORM_RAW) < 0 ||
      make_gang(j) < 0 ||
      pai__timer_new(&j->grace, &p->alloc, p->loop, on_grace_over, j) < 0 ||
      pai__timer_new(&j->retry, &p->alloc, p->loop, on_retry_due, j) < 0)
    return pai__oom(err);
  j->runtime = pai__plan_runtime_of(spec);
  return PAI_OK;
}

/* --- public --------------------------------------------------------------- */

/* While the database cannot be written, a stop is done unrecorded. */
static void stop_now(pai__pjob *j)
{
  pai_platform *p = j->platform;
  bool now = j->stop_now;

  for (uint32_t t = 0; t < j->job.ntasks; t++)
    p->ops->stop(p->backend, pai__platform_task_id(j, t),
                 now ? PAI_STOP_NOW : PAI_STOP_ASK);
  j->stop_now = true;
}

int pai_platform_stop(pai_platform *p, pai_job_id job)
{
  pai__pjob *j;

  PAI__CHECK_PROCESS(p, NULL);
  j = pai__platform_find_job(p, job);
  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return PAI_ENOTFOUND;
  pai__platform_event(j, PAI__EV_STOP, 0, 0);
  if (p->failing && !p->backend_closing)
    stop_now(j);
  return PAI_OK;
}

/* The job is freed later, because this may run in its own callback. */
void pai__platform_let_go(pai__pjob *j)
{
  pai_platform *p = j->platform;

  pai__platform_remove(j);
  j->forgotten = true;
  pai__platform_put(j, PAI__GONE);
  pai__logs_wake(p, j->id);
}

int pai_platform_job_state(int *code, const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);
  /* The reported state is durable. */
  bool told = j != NULL && p->store != NULL && j->told != 0;

  if (code != NULL)
    *code = told ? j->code : j != NULL ? j->job.code : 0;
  if (j != NULL)
    return told ? j->told : pai__job_public_state(&j->job);
  return p->store != NULL ? pai__past_state(code, p, job) : PAI_ENOTFOUND;
}

const char *pai_platform_job_dir(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  if (j != NULL)
    return j->dir;
  return p->store != NULL ? pai__past_dir(p, job) : NULL;
}
