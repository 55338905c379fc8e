/* inside.h - internal to src/job: helpers that the parts of the fold share */
#ifndef PAI_SRC_JOB_INSIDE_H
#define PAI_SRC_JOB_INSIDE_H

#include "job/job.h"

/* Flags of a task. */
enum {
  PAI__TASK_KILLED = 1,  /* asked to be killed */
  PAI__TASK_RETURNS = 2, /* stopped because its place is wanted back */
  PAI__TASK_REMOVED = 4, /* removed by rescaling */
  PAI__TASK_ROOM = 8     /* has a place, or one was requested for it alone */
};

static inline pai__task *pai__job_task_at(pai__job *job, uint32_t task)
{
  return job->inside ? &job->at.one : &job->at.many.tasks[task];
}

static inline pai__job_role *pai__job_role_at(pai__job *job, uint32_t role)
{
  return job->form->nroles == 1 ? &job->role : &job->at.many.roles[role];
}

static inline pai__job_role *pai__job_role_of(pai__job *job,
                                              const pai__task *t)
{
  return pai__job_role_at(job, t->role);
}

static inline bool pai__task_is_alive(const pai__task *t)
{
  return t->state >= PAI__TASK_STARTING && t->state <= PAI__TASK_ENDING;
}

static inline bool pai__job_is_to(const pai__job *job,
                                  enum pai__action_kind kind)
{
  return (job->todo >> kind & 1) != 0;
}

static inline void pai__job_do(pai__job *job, enum pai__action_kind kind)
{
  job->todo |= (uint8_t)(1u << kind);
}

static inline void pai__job_do_not(pai__job *job, enum pai__action_kind kind)
{
  job->todo &= (uint8_t) ~(1u << kind);
}

/* Sets the one pending action of a task, or none. */
static inline void pai__job_do_task(pai__job *job, uint32_t task,
                                    enum pai__action_kind kind)
{
  pai__task *t = pai__job_task_at(job, task);

  job->busy += (uint32_t)(kind != PAI__DO_NOTHING);
  job->busy -= (uint32_t)(t->todo != PAI__DO_NOTHING);
  t->todo = (uint8_t)kind;
  if (kind != PAI__DO_NOTHING && task < job->cursor)
    job->cursor = task;
}

/* --- attempt.c ----------------------------------------------------------- */

/* Decides the attempt if the job's state says so. */
void pai__job_check(pai__job *job, pai_time time);
/* Fixes the attempt's result and stops the tasks that still run. */
void pai__job_fix(pai__job *job, int code, pai_time time);
/* The last task of a decided attempt has ended: retries or ends the job.  The
 * tasks' results stay visible until the next attempt. */
void pai__job_attempt_over(pai__job *job, pai_time time);
/* All tasks of a preempted gang have ended. */
void pai__job_give_back(pai__job *job);
/* Begins a new attempt with reset tasks. */
void pai__job_renew(pai__job *job);
/* Requests a place for each task of a partial job. */
void pai__job_queue_tasks(pai__job *job);
/* Adds a time to wait for, or clears all. */
void pai__job_wait_until(pai__job *job, pai_time time);
void pai__job_wait_no_more(pai__job *job);
/* Resets a task for a new attempt; what was requested for it stays. */
void pai__task_reset(pai__task *t);
/* The task has a place: starts it. */
void pai__job_start_task(pai__job *job, uint32_t task, pai_time time);
/* Releases the task's place. */
void pai__job_release(pai__job *job, uint32_t task);
/* Asks the task to end if it is alive. */
void pai__job_stop_task(pai__job *job, uint32_t task);
/* Requests a place for a waiting task. */
void pai__job_queue(pai__job *job, uint32_t task);

/* --- complete.c ---------------------------------------------------------- */

/* Counts a completed task, or uncounts it by -1.  Returns true when a rule of
 * its role holds: then call pai__job_decide(). */
bool pai__job_count(pai__job *job, const pai__task *t, int by);
/* Applies the completion policy.  Returns whether the attempt is decided; then
 * *trigger is the deciding task, and *code its result. */
bool pai__job_decide(const pai__job *job, uint32_t *trigger, int *code);

/* --- retry.c ------------------------------------------------------------- */

/* Earlier tries. */
typedef struct pai__tries {
  uint32_t counted; /* retries that count against the limit */
  uint32_t free;    /* retries that do not */
  uint8_t *hasty;   /* updated on a retry */
  pai_time lasted;  /* duration of the last try */
} pai__tries;

typedef struct pai__retry {
  bool again;
  bool counts; /* against the limit */
  pai_time delay;
} pai__retry;

/* Decides about a retry.  prng: conflicts wait for a random time; NULL: they
 * do not wait. */
pai__retry pai__retry_decide(pai__retry_policy policy,
                             const pai__job_form *form, int code,
                             const pai__tries *tries, pai__prng *prng);

#endif
