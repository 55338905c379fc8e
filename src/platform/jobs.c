/*
 * jobs.c - the public calls about jobs
 *
 * They change state and ask for a kick; none of them calls back.
 */
#include "platform/platform.h"

#include "base/posix_fs.h"

pai__pjob *pai__platform_find_job(const pai_platform *p, pai_job_id id)
{
  return pai__map_get(&p->jobs, &id, sizeof(id));
}

void pai__platform_free_job(pai__pjob *j)
{
  const pai_alloc *alloc = &j->platform->alloc;
  size_t ntasks = j->job.ntasks;

  pai__timer_close(j->grace);
  pai__timer_close(j->retry);
  pai__arena_dispose(&j->attempt);
  pai__free(alloc, j->told, ntasks + 1);
  pai__free(alloc, j->places, ntasks * sizeof(*j->places));
  pai__free(alloc, j->ports, j->nports * sizeof(*j->ports));
  pai__strfree(alloc, j->why);
  pai__strfree(alloc, j->dir);
  pai__job_dispose(&j->job);
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

static int make_job_dir(pai__pjob *j, const char *name, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  char *path = pai__fs_join(j->platform->jobs_dir, name, alloc);
  int rc = path != NULL ? pai__fs_make_new_dir(&j->dir, path, alloc, err)
                        : pai__oom(err);

  pai__strfree(alloc, path);
  return rc;
}

/* Room for the places of its tasks, so that placing it cannot fail. */
static int make_places(pai__pjob *j, const pai_spec *spec)
{
  const pai_alloc *alloc = &j->platform->alloc;

  for (size_t r = 0; r < spec->nroles; r++)
    j->nports += (size_t)spec->roles[r].instances *
                 pai__platform_role_ports(&spec->roles[r]);
  j->places = pai__zalloc(alloc, j->job.ntasks * sizeof(*j->places));
  if (j->nports != 0)
    j->ports = pai__zalloc(alloc, j->nports * sizeof(*j->ports));
  return j->places != NULL && (j->ports != NULL || j->nports == 0)
           ? PAI_OK
           : PAI_ENOMEM;
}

static int make_job(pai__pjob *j, pai_spec *spec, pai_error **err)
{
  pai_platform *p = j->platform;

  pai__arena_init(&j->attempt, &p->alloc);
  j->spec = pai_spec_ref(spec);
  if (pai__form_make(&j->form, &p->alloc, spec) < 0 ||
      pai__job_init(&j->job, &p->alloc, &j->form, p->seed + j->id) < 0)
    return pai__oom(err);
  j->told = pai__zalloc(&p->alloc, j->job.ntasks + 1);
  if (j->told == NULL || make_places(j, spec) < 0 ||
      pai__timer_new(&j->grace, &p->alloc, p->loop, on_grace_over, j) < 0 ||
      pai__timer_new(&j->retry, &p->alloc, p->loop, on_retry_due, j) < 0)
    return pai__oom(err);
  memset(j->told + 1, PAI_STATE_WAITING, j->job.ntasks);
  return PAI_OK;
}

int pai_platform_submit(pai_job_id *job, pai_platform *p, pai_spec *spec,
                        pai_error **err)
{
  pai__pjob *j;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(job != NULL, err);
  *job = 0;
  PAI__CHECK_ARG_ERR(p != NULL && spec != NULL, err);
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (spec->obstacle != NULL)
    return pai__fail(err, PAI_EINVAL, "the job cannot be run: %s",
                     spec->obstacle);
  j = pai__zalloc(&p->alloc, sizeof(*j));
  if (j == NULL)
    return pai__oom(err);
  j->platform = p;
  j->id = p->last_id + 1;
  rc = make_job(j, spec, err);
  if (rc == PAI_OK)
    rc = pai__platform_queue(j, err);
  if (rc == PAI_OK && pai__map_set(&p->jobs, &j->id, sizeof(j->id), j) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK) /* last: a refused job leaves no folder behind */
    rc = make_job_dir(j, pai_spec_name(spec), err);
  if (rc < 0) {
    pai__platform_unqueue(j);
    (void)pai__map_remove(&p->jobs, &j->id, sizeof(j->id));
    pai__platform_free_job(j);
    return rc;
  }
  p->last_id = j->id;
  pai__platform_drive(j);
  *job = j->id;
  return PAI_OK;
}

int pai_platform_stop(pai_platform *p, pai_job_id job)
{
  pai__pjob *j = pai__platform_find_job(p, job);

  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return PAI_ENOTFOUND;
  pai__platform_event(j, PAI__EV_STOP, 0, 0);
  return PAI_OK;
}

int pai_platform_forget(pai_platform *p, pai_job_id job)
{
  pai__pjob *j = pai__platform_find_job(p, job);

  if (j == NULL)
    return PAI_ENOTFOUND;
  if (j->told[0] < PAI_STATE_SUCCEEDED)
    return PAI_EBUSY;
  (void)pai__map_remove(&p->jobs, &j->id, sizeof(j->id));
  j->forgotten = true; /* and freed later: this may be its own callback */
  pai__platform_changed(j);
  return PAI_OK;
}

int pai_platform_job_state(int *code, const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  if (code != NULL)
    *code = j != NULL ? j->job.code : 0;
  return j != NULL ? pai__job_public_state(&j->job) : PAI_ENOTFOUND;
}

const char *pai_platform_job_dir(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  return j != NULL ? j->dir : NULL;
}
