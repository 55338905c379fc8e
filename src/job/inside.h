/* inside.h - internal to the room: what the parts of the fold share */
#ifndef PAI_SRC_JOB_INSIDE_H
#define PAI_SRC_JOB_INSIDE_H

#include "job/job.h"

/* Flags of a task. */
enum {
  PAI__TASK_KILLED = 1,  /* asked to be killed */
  PAI__TASK_RETURNS = 2, /* it is stopped because its room is wanted back */
  PAI__TASK_REMOVED = 4, /* its role has fewer tasks now */
  PAI__TASK_ROOM = 8     /* it has room, or one was asked for it alone */
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

/* What is to be done with a task from now on: this alone, or nothing. */
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

/* --- attempt.c ------------------------------------------------------------ */

/* Has what it is to be decided by now: if so, it is. */
void pai__job_check(pai__job *job, pai_time time);
/* The attempt's result is fixed: what still runs is stopped. */
void pai__job_fix(pai__job *job, int code, pai_time time);
/* The last task of a decided attempt has ended: again, or over.  What the
 * tasks came to stays to be seen until the next attempt. */
void pai__job_attempt_over(pai__job *job, pai_time time);
/* All tasks of a gang that is preempted have ended. */
void pai__job_give_back(pai__job *job);
/* A new attempt begins with tasks that nothing has happened to; */
void pai__job_renew(pai__job *job);
/* and a partial job asks for room for each of them. */
void pai__job_queue_tasks(pai__job *job);
/* One more thing waits for its time, or nothing does. */
void pai__job_wait_until(pai__job *job, pai_time time);
void pai__job_wait_no_more(pai__job *job);
/* A task as it is before an attempt; what was asked for it stays. */
void pai__task_reset(pai__task *t);
/* It has room, and is to be started. */
void pai__job_start_task(pai__job *job, uint32_t task, pai_time time);
/* Its room is needed no more. */
void pai__job_release(pai__job *job, uint32_t task);
/* What is alive is asked to end. */
void pai__job_stop_task(pai__job *job, uint32_t task);
/* A task that waits asks for room. */
void pai__job_queue(pai__job *job, uint32_t task);

/* --- complete.c ----------------------------------------------------------- */

/* Counts a task that has completed, or, by -1, does so no more.  True when a
 * rule of its role holds: pai__job_decide() is to be asked. */
bool pai__job_count(pai__job *job, const pai__task *t, int by);
/* The completion policy: is the attempt decided?  Then *trigger is the task
 * that did it, and *code its result. */
bool pai__job_decide(const pai__job *job, uint32_t *trigger, int *code);

/* --- retry.c -------------------------------------------------------------- */

/* What was tried before. */
typedef struct pai__tries {
  uint32_t counted; /* against the limit */
  uint32_t free;    /* not against it */
  uint8_t *hasty;   /* changed when it is tried again */
  pai_time lasted;  /* this time */
} pai__tries;

typedef struct pai__retry {
  bool again;
  bool counts; /* against the limit */
  pai_time delay;
} pai__retry;

/* The retry table.  A prng: conflicts wait for a time drawn from it; NULL:
 * they do not wait. */
pai__retry pai__retry_decide(pai__retry_policy policy,
                             const pai__job_form *form, int code,
                             const pai__tries *tries, pai__prng *prng);

#endif
