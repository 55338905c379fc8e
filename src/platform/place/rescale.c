/*
 * rescale.c - rescaling: a role of a live job gets more tasks, or fewer
 *
 * The fold decides which tasks come and go; this file reallocates what belongs
 * to them.  A waiting gang requests all its tasks; tasks that are added to a
 * running gang are placed alone, until it waits again.
 */
#include "platform/place/impossible.h"
#include "platform/place/placing.h"
#include "platform/records/record.h"

/* New arrays for the job's tasks, with room for the added ones. */
typedef struct longer {
  uint32_t tasks; /* old and new ones */
  size_t nports;
  pai__ptask *own;
  pai__task_place *places;
  uint32_t *ports;
} longer;

static void drop(longer *l, const pai_alloc *alloc)
{
  pai__free(alloc, l->own, l->tasks * sizeof(*l->own));
  pai__free(alloc, l->places, l->tasks * sizeof(*l->places));
  pai__free(alloc, l->ports, l->nports * sizeof(*l->ports));
}

static int make(longer *l, const pai__pjob *j, uint32_t role, uint32_t more)
{
  const pai_alloc *alloc = &j->platform->alloc;
  uint32_t each = pai__platform_role_ports(&j->spec->roles[role]);

  l->tasks = j->job.ntasks + more;
  l->nports = j->nports + (size_t)each * more;
  l->own = pai__zalloc(alloc, l->tasks * sizeof(*l->own));
  l->places = pai__zalloc(alloc, l->tasks * sizeof(*l->places));
  if (l->nports > 0)
    l->ports = pai__zalloc(alloc, l->nports * sizeof(*l->ports));
  if (l->own == NULL || l->places == NULL ||
      (l->ports == NULL && l->nports > 0)) {
    drop(l, alloc);
    return PAI_ENOMEM;
  }
  memcpy(l->own, j->tasks, j->job.ntasks * sizeof(*l->own));
  memcpy(l->places, j->places, j->job.ntasks * sizeof(*l->places));
  if (j->ports != NULL && l->ports != NULL)
    memcpy(l->ports, j->ports, j->nports * sizeof(*l->ports));
  for (uint32_t t = j->job.ntasks; t < l->tasks; t++) {
    l->own[t] =
      (pai__ptask){ .told = PAI_STATE_WAITING,
                    .recorded = PAI_STATE_WAITING,
                    .changed = true,
                    .share = -1,
                    .port = (uint32_t)j->nports + (t - j->job.ntasks) * each };
    l->places[t].ip = j->platform->here.ip;
  }
  return PAI_OK;
}

/* Replaces the job's arrays of `old` tasks by the new ones. */
static void take(pai__pjob *j, const longer *l, uint32_t old)
{
  longer before = { old, j->nports, j->tasks, j->places, j->ports };

  j->tasks = l->own;
  j->places = l->places;
  j->ports = l->ports;
  j->nports = l->nports;
  for (uint32_t t = 0; t < l->tasks; t++)
    if (j->places[t].ports != NULL)
      j->places[t].ports = j->ports + j->tasks[t].port;
  drop(&before, &j->platform->alloc);
  j->replan = true;
}

static uint32_t count_tasks(const pai__pjob *j, uint32_t role)
{
  uint32_t n = 0;

  for (uint32_t t = 0; t < j->job.ntasks; t++)
    n += pai__job_tasks(&j->job)[t].role == role;
  return n;
}

/* Changes the gang's request, which a partial or running job does not have. */
static int ask(pai__pjob *j, uint32_t role, uint32_t tasks, pai_error **err)
{
  return j->form.partial || j->placed
           ? PAI_OK
           : pai__placing_resize(j, role, tasks, err);
}

static int rescale(pai__pjob *j, uint32_t role, uint32_t tasks,
                   pai_error **err)
{
  uint32_t had = count_tasks(j, role), old = j->job.ntasks;
  uint32_t before = pai__job_roles(&j->job)[role].tasks;
  longer l = { 0 };
  int rc = make(&l, j, role, tasks > had ? tasks - had : 0);

  if (rc < 0)
    return pai__oom(err);
  rc = ask(j, role, tasks, err);
  pai__form_rescale(&j->form, j->spec, role, tasks);
  if (rc == PAI_OK &&
      pai__job_rescale(&j->job, role, tasks, pai__platform_now(j->platform)) <
        0) { /* only for lack of memory by now */
    (void)!ask(j, role, before, NULL);
    rc = pai__oom(err);
  }
  if (rc < 0) {
    pai__form_rescale(&j->form, j->spec, role, before);
    drop(&l, &j->platform->alloc);
    return rc;
  }
  take(j, &l, old);
  pai__impossible_try(j);
  return PAI_OK;
}

static int find_role(uint32_t *role, const pai__pjob *j, const char *name,
                     pai_error **err)
{
  for (*role = 0; *role < j->spec->nroles; (*role)++)
    if (strcmp(j->spec->roles[*role].name, name) == 0)
      return PAI_OK;
  return pai__fail(err, PAI_ENOTFOUND, "%s has no task role \"%.64s\"",
                   j->name, name);
}

static int check(const pai__pjob *j, uint32_t tasks, pai_error **err)
{
  if (tasks < 1 || tasks > PAI_JOB_MAX_TASKS) {
    (void)pai__fail(err, PAI_EINVAL, "a task role cannot have %u tasks",
                    tasks);
    pai__error_help(err, "1 to %d; a job that is to have none is stopped",
                    PAI_JOB_MAX_TASKS);
    return PAI_EINVAL;
  }
  if (j->job.state == PAI__JOB_ENDING || j->job.preempting) {
    (void)pai__fail(err, PAI_EBUSY, "the job's tasks are being stopped");
    pai__error_retriable(err);
    return PAI_EBUSY;
  }
  return PAI_OK;
}

int pai_platform_rescale(pai_platform *p, pai_job_id job, const char *role,
                         uint32_t tasks, pai_error **err)
{
  pai__pjob *j;
  uint32_t r, before;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(role != NULL, err);
  j = pai__platform_find_job(p, job);
  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return pai__fail(err, PAI_ENOTFOUND,
                     "there is no such job, or it is over");
  rc = find_role(&r, j, role, err);
  if (rc == PAI_OK)
    rc = check(j, tasks, err);
  if (rc < 0)
    return rc;
  before = pai__job_roles(&j->job)[r].tasks;
  rc = rescale(j, r, tasks, err);
  if (rc < 0)
    return rc;
  pai__happened(j, PAI__NO_TASK, "Normal", "Rescaled",
                "%s has %u tasks now, and had %u", role, tasks, before);
  pai__platform_put(j, PAI__CHANGED);
  return PAI_OK;
}
