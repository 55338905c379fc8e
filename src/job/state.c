/* state.c - the states as others call them */
#include "job/inside.h"

#include <openpai/platform.h>

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
