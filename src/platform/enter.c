/* enter.c - sessions: a stream into a running task */
#include "platform/platform.h"

#include "platform/files/logs.h"

/* Sets the error for a task that does not run. */
static int not_running(const pai__pjob *j, uint32_t task, pai_error **err)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];
  const char *role = j->spec->roles[t->role].name;

  if (t->state == PAI__TASK_DONE || t->state == PAI__TASK_GONE)
    return pai__fail(err, PAI_EINVAL, "task %s/%u of %s is over", role,
                     t->index, j->name);
  (void)pai__fail(err, PAI_EINVAL, "task %s/%u of %s waits, it does not run",
                  role, t->index, j->name);
  pai__error_help(err, "openpai why shows what it waits for");
  return PAI_EINVAL;
}

static bool runs(const pai__pjob *j, uint32_t task)
{
  int state = pai__job_tasks(&j->job)[task].state;

  return state == PAI__TASK_RUNNING || state == PAI__TASK_ENDING;
}

int pai_platform_enter(int *fd, pai_platform *p, pai_job_id job,
                       const char *role, uint32_t index, pai_error **err)
{
  pai__pjob *j;
  uint32_t task;

  PAI__CHECK_ARG_ERR(fd != NULL && p != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  *fd = -1;
  j = pai__platform_find_job(p, job);
  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return pai__fail(err, j == NULL ? PAI_ENOTFOUND : PAI_EINVAL,
                     "the job is over");
  task = pai__log_find_task(j, role, index);
  if (task == UINT32_MAX)
    return pai__fail(err, PAI_ENOTFOUND, "the job has no such task");
  if (p->backend_closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (!runs(j, task))
    return not_running(j, task, err);
  if (p->ops->struct_size <
        offsetof(pai_backend_ops, enter) + sizeof(p->ops->enter) ||
      p->ops->enter == NULL)
    return pai__fail(err, PAI_ENOTSUP,
                     "the back end %s does not support entering tasks",
                     p->ops->name);
  return p->ops->enter(p->backend, pai__platform_task_id(j, task), fd, err);
}
