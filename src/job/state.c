/*
 * state.c - names of job and task states for the API and FrameworkController
 *
 * FrameworkController's nine names (job-spec 5.3) show the progress of its
 * objects in Kubernetes.  Here requesting a place and waiting for it are one
 * step, so nothing is ever AttemptCreationRequested.
 */
#include "job/inside.h"

#include <openpai/job.h>

static int final_state(int code)
{
  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER ||
      code == PAI__CODE_REMOVED)
    return PAI_STATE_STOPPED;
  return code == 0 ? PAI_STATE_SUCCEEDED : PAI_STATE_FAILED;
}

int pai__job_public_state(const pai__job *job)
{
  switch (job->state) {
  case PAI__JOB_RUNNING: return PAI_STATE_RUNNING;
  case PAI__JOB_ENDING:
    return job->stop_asked ? PAI_STATE_STOPPING : PAI_STATE_RUNNING;
  case PAI__JOB_DONE: return final_state(job->code);
  default: return PAI_STATE_WAITING;
  }
}

int pai__job_task_state(const pai__job *job, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(job)[task];

  switch (t->state) {
  case PAI__TASK_RUNNING: return PAI_STATE_RUNNING;
  case PAI__TASK_ENDING: return PAI_STATE_STOPPING;
  case PAI__TASK_DONE:
  case PAI__TASK_GONE: return final_state(t->code);
  default: return PAI_STATE_WAITING;
  }
}

static const char creation_pending[] = "AttemptCreationPending";
static const char preparing[] = "AttemptPreparing";
static const char running[] = "AttemptRunning";
static const char deletion_pending[] = "AttemptDeletionPending";
static const char deletion_requested[] = "AttemptDeletionRequested";
static const char deleting[] = "AttemptDeleting";
static const char attempt_completed[] = "AttemptCompleted";
static const char completed[] = "Completed";

/* Returns whether a place was requested, for all or some tasks. */
static bool is_asked(const pai__job *job)
{
  const pai__task *tasks = pai__job_tasks(job);
  bool asked = job->asked;

  for (uint32_t i = 0; !asked && i < job->ntasks; i++)
    asked = (tasks[i].flags & PAI__TASK_ROOM) != 0;
  return asked;
}

const char *pai__job_contract_state(const pai__job *job)
{
  if (job->preempting) /* shown like a deletion by others */
    return deleting;
  switch (job->state) {
  case PAI__JOB_QUEUED:
    if (pai__job_is_to(job, PAI__DO_RETURN))
      return attempt_completed;
    return is_asked(job) ? preparing : creation_pending;
  case PAI__JOB_STARTING: return preparing;
  case PAI__JOB_RUNNING: return running;
  case PAI__JOB_ENDING:
    return job->busy != 0 ? deletion_pending : deletion_requested;
  case PAI__JOB_BACKOFF: return attempt_completed;
  default: return job->todo != 0 ? attempt_completed : completed;
  }
}

const char *pai__job_task_contract_state(const pai__job *job, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(job)[task];

  switch (t->state) {
  case PAI__TASK_WAITING:
    if (t->todo == PAI__DO_RETURN)
      return attempt_completed;
    return job->asked || (t->flags & PAI__TASK_ROOM) != 0 ? preparing
                                                          : creation_pending;
  case PAI__TASK_PLACED:
  case PAI__TASK_STARTING: return preparing;
  case PAI__TASK_RUNNING: return running;
  case PAI__TASK_ENDING:
    if ((t->flags & (PAI__TASK_KILLED | PAI__TASK_RETURNS)) != 0)
      return deleting;
    return t->todo == PAI__DO_STOP ? deletion_pending : deletion_requested;
  case PAI__TASK_BACKOFF: return attempt_completed;
  default: return completed;
  }
}

/* --- states of the API --------------------------------------------------- */

static const char *api_final(int code)
{
  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER)
    return "STOPPED";
  return code == 0 ? "SUCCEEDED" : "FAILED";
}

const char *pai__api_state(const char *state, int code)
{
  if (strcmp(state, completed) == 0)
    return api_final(code);
  if (strcmp(state, running) == 0)
    return "RUNNING";
  if (strcmp(state, creation_pending) == 0 || strcmp(state, preparing) == 0 ||
      strcmp(state, "AttemptCreationRequested") == 0)
    return "WAITING";
  if (strcmp(state, deletion_pending) == 0 ||
      strcmp(state, deletion_requested) == 0 || strcmp(state, deleting) == 0 ||
      strcmp(state, attempt_completed) == 0)
    return code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER ? "STOPPING"
                                                                   : "RUNNING";
  return "UNKNOWN";
}

const char *pai__api_attempt_state(const char *state, int code)
{
  return strcmp(state, attempt_completed) == 0 ? api_final(code)
                                               : pai__api_state(state, code);
}

/* --- why an attempt was decided ------------------------------------------ */

void pai__job_trigger_message(pai__buf *out, const pai__job *job)
{
  const pai__task *t = pai__job_trigger(job);
  const pai__job_role *role;
  const pai__form_role *rule;

  if (t == NULL)
    return;
  role = &pai__job_roles(job)[t->role];
  rule = &job->form->roles[t->role];
  if (job->code != 0)
    pai__buf_printf(out,
                    "FailedTaskCount %u has reached MinFailedTaskCount %d in "
                    "the TaskRole",
                    role->badly, rule->min_failed);
  else if (t->code == 0 && rule->min_succeeded >= 1 &&
           role->well >= (uint32_t)rule->min_succeeded)
    pai__buf_printf(out,
                    "SucceededTaskCount %u has reached "
                    "MinSucceededTaskCount %d in the TaskRole",
                    role->well, rule->min_succeeded);
  else
    pai__buf_printf(out,
                    "CompletedTaskCount %u has reached TotalTaskCount %u in "
                    "the Framework",
                    job->done, job->wanted);
}
