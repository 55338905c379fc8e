/* public.c - public interface of the fold (openpai/job.h) */
#include "job/public.h"

#include "job/form.h"

/* The public numbers are those of the fold. */
_Static_assert((int)PAI_JOB_PLACED == (int)PAI__EV_PLACED + 1 &&
                 (int)PAI_JOB_DUE == (int)PAI__EV_DUE + 1,
               "events");
_Static_assert((int)PAI_JOB_DO_QUEUE == (int)PAI__DO_QUEUE &&
                 (int)PAI_JOB_DO_KILL == (int)PAI__DO_KILL,
               "actions");
_Static_assert((int)PAI_CODE_STOPPED == (int)PAI__CODE_STOPPED &&
                 (int)PAI_CODE_REMOVED == (int)PAI__CODE_REMOVED &&
                 PAI_NO_TASK == PAI__NO_TASK,
               "codes");

pai_job *pai__job_blank(const pai_alloc *alloc, pai_error **err)
{
  pai_job *job;

  alloc = pai__alloc_or_libc(alloc);
  job = pai__zalloc(alloc, sizeof(*job));
  if (job == NULL)
    (void)pai__oom(err);
  else
    job->alloc = *alloc;
  return job;
}

int pai_job_new(pai_job **out, const pai_spec *spec,
                const pai_job_options *opts, pai_error **err)
{
  pai_job_options o;
  pai_job *job;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(spec != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_job_options, raw);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_job_options");
  job = pai__job_blank(o.alloc, err);
  if (job == NULL)
    return PAI_ENOMEM;
  if (pai__form_make(&job->form, &job->alloc, spec,
                     (o.gang ? PAI__FORM_GANG : 0u) |
                       (o.raw ? PAI__FORM_RAW : 0u) |
                       (o.own_signals ? PAI__FORM_OWN_SIGNALS : 0u)) < 0 ||
      pai__job_init(&job->job, &job->alloc, &job->form, o.seed) < 0) {
    pai_job_free(job);
    return pai__oom(err);
  }
  *out = job;
  return PAI_OK;
}

void pai_job_free(pai_job *job)
{
  pai_alloc alloc;

  if (job == NULL)
    return;
  alloc = job->alloc;
  pai__job_dispose(&job->job);
  pai__form_dispose(&job->form, &alloc);
  pai__free(&alloc, job, sizeof(*job));
}

/* --- events and actions -------------------------------------------------- */

int pai_job_send(pai_job *job, const pai_job_event *event, pai_error **err)
{
  pai_job_event e;
  int rc;

  PAI__CHECK_ARG_ERR(job != NULL && event != NULL, err);
  rc = PAI__COPY_IN(&e, event, pai_job_event, time);
  if (rc < 0)
    return pai__fail_struct(err, rc, event, "pai_job_event");
  if (e.kind < PAI_JOB_PLACED || e.kind > PAI_JOB_DUE)
    return pai__fail(err, PAI_EINVAL, "there is no event %d", e.kind);
  if (!pai__is_time(e.time))
    return pai__fail(err, PAI_EINVAL, "there is no time %lld",
                     (long long)e.time);
  rc = pai__job_handle(&job->job,
                       &(pai__job_event){ (enum pai__event_kind)(e.kind - 1),
                                          e.task, e.count, e.code, e.time });
  if (rc < 0)
    return pai__fail(err, rc,
                     "event %d of tasks %u to %u is impossible: the job is %s",
                     e.kind, e.task, e.task + (e.count > 0 ? e.count - 1 : 0),
                     pai__job_contract_state(&job->job));
  return PAI_OK;
}

int pai_job_rescale(pai_job *job, uint32_t role, uint32_t tasks, pai_time time,
                    pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(job != NULL, err);
  if (!pai__is_time(time))
    return pai__fail(err, PAI_EINVAL, "there is no time %lld",
                     (long long)time);
  if (tasks > PAI_JOB_MAX_TASKS)
    return pai__fail(err, PAI_EINVAL, "a role has at most %d tasks",
                     PAI_JOB_MAX_TASKS);
  if (role >= job->form.nroles)
    return pai__fail(err, PAI_EINVAL, "there is no role %u", role);
  rc = pai__job_rescale(&job->job, role, tasks, time);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  if (rc == PAI_EBUSY) {
    (void)pai__fail(err, rc, "the job is being stopped or preempted");
    pai__error_retriable(err);
  } else if (rc < 0) {
    (void)pai__fail(err, rc, "the job has ended");
  }
  return rc;
}

int pai_job_next(pai_job *job, uint32_t most, pai_job_action *action)
{
  pai__action a;
  pai_job_action full = { .struct_size = sizeof(full) };
  int rc;

  PAI__CHECK_ARG(job != NULL && action != NULL);
  rc = PAI__FILL_VIEW(action, full, pai_job_action, until);
  if (rc < 0 || !pai__job_next(&job->job, most, &a))
    return rc;
  full.kind = (int)a.kind;
  full.whole = a.whole;
  full.task = a.task;
  full.count = a.count;
  full.until = a.until;
  (void)PAI__FILL_VIEW(action, full, pai_job_action, until);
  return 1;
}

/* --- queries ------------------------------------------------------------- */

int pai_job_look(const pai_job *job, pai_job_status *status)
{
  const pai__job *j;

  PAI__CHECK_ARG(job != NULL && status != NULL);
  j = &job->job;
  pai_job_status full = { .struct_size = sizeof(full),
                          .state = pai__job_public_state(j),
                          .substate = pai__job_contract_state(j),
                          .code = j->code,
                          .attempt = j->attempt,
                          .retries = j->retries,
                          .counted = j->counted,
                          .preempted = j->preempted,
                          .roles = j->form->nroles,
                          .tasks = j->ntasks,
                          .alive = j->alive,
                          .trigger = j->trigger };
  return PAI__FILL_VIEW(status, full, pai_job_status, trigger);
}

int pai_job_look_task(const pai_job *job, uint32_t task,
                      pai_job_task_status *status)
{
  pai_job_task_status full = { .struct_size = sizeof(full) };
  const pai__task *t;

  PAI__CHECK_ARG(job != NULL && status != NULL);
  if (task >= job->job.ntasks)
    return PAI_ENOTFOUND;
  t = &pai__job_tasks(&job->job)[task];
  full.state = pai__job_task_state(&job->job, task);
  full.substate = pai__job_task_contract_state(&job->job, task);
  full.code = t->code;
  full.role = t->role;
  full.index = t->index;
  full.retries = t->retries;
  full.counted = t->counted;
  full.removed = t->state == PAI__TASK_GONE;
  return PAI__FILL_VIEW(status, full, pai_job_task_status, removed);
}

int pai_job_look_role(const pai_job *job, uint32_t role,
                      pai_job_role_status *status)
{
  pai_job_role_status full = { .struct_size = sizeof(full) };
  const pai__job_role *r;

  PAI__CHECK_ARG(job != NULL && status != NULL);
  if (role >= job->form.nroles)
    return PAI_ENOTFOUND;
  r = &pai__job_roles(&job->job)[role];
  full.tasks = r->tasks;
  full.succeeded = r->well;
  full.failed = r->badly;
  return PAI__FILL_VIEW(status, full, pai_job_role_status, failed);
}
