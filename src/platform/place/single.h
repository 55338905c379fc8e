/* single.h - internal to the room: tasks that are placed alone, each by a
 * request of its own */
#ifndef PAI_SRC_PLATFORM_PLACE_SINGLE_H
#define PAI_SRC_PLATFORM_PLACE_SINGLE_H

#include "platform/platform.h"

/* Bit of the ids of tasks' own requests; the other bits are the back end's
 * number of the task. */
#define PAI__SINGLE_ID (UINT64_C(1) << 62)

static inline uint64_t pai__single_id(const pai__pjob *j, uint32_t task)
{
  return PAI__SINGLE_ID | pai__platform_task_id(j, task);
}

/* Tells whether a task is placed alone, as all tasks of a partial job and those
 * that were added to a gang while it ran. */
static inline bool pai__is_single(const pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];

  return t->index >= j->gang[t->role];
}

/* Finds the job of a request, and its task; PAI__NO_TASK: the request is that
 * of the gang.  NULL: no job has this request. */
pai__pjob *pai__single_find(pai_platform *p, uint64_t id, uint32_t *task);
/* Returns the request whose reason tells why the job waits; 0: none waits. */
uint64_t pai__single_waiting(const pai__pjob *j);
/* Tells whether a part of it is placed and waits for a check of its GPUs. */
bool pai__single_is_looked_at(const pai__pjob *j);
/* Counts the tasks that are placed, and those that wait to be placed. */
void pai__single_counts(const pai__pjob *j, uint32_t *have, uint32_t *wait);

/* The same as pai__platform_queue() and so on, for one task.  To queue a task
 * that is queued already, or whose gang holds its place, is no error. */
int pai__single_queue(pai__pjob *j, uint32_t task, pai_error **err);
int pai__single_return(pai__pjob *j, uint32_t task, bool held);
int pai__single_resume(pai__pjob *j, uint32_t task);
void pai__single_release(pai__pjob *j, uint32_t task);
void pai__single_release_all(pai__pjob *j); /* all tasks of a job */
/* Holds a task's request, or releases it to be placed. */
int pai__single_hold(pai__pjob *j, uint32_t task, bool held);

/* deferred.c: sends an action of the fold (PAI__DO_QUEUE, RETURN or RESUME) to
 * the scheduler, for a task or, with PAI__NO_TASK, the gang.  Without memory it
 * is deferred, and nothing is placed before it was sent. */
void pai__tell_scheduler(pai__pjob *j, uint32_t task, int what, bool held);
/* Defers an action that could not be sent. */
void pai__deferred_add(pai__pjob *j, uint32_t task, int what, bool held);
/* Drops a deferred action that is obsolete. */
void pai__deferred_drop(pai__pjob *j, uint32_t task);
/* Sends all deferred actions; false: out of memory again. */
bool pai__deferred_settle(pai_platform *p);

/* The task was placed: notes its place. */
void pai__single_decided(pai__pjob *j, uint32_t task);
/* Starts the job's placed tasks.  Returns as start_placed() in placing.c. */
int pai__single_start(pai__pjob *j);
/* A task, or with PAI__NO_TASK the gang, was preempted by another request. */
void pai__single_preempted(pai__pjob *j, uint32_t task);

/* Tells whether a restored gang still holds its place.  The place of a gang
 * that had not begun is given up. */
bool pai__single_restore_gang(pai__pjob *j);
/* Restores the requests and places of a job's single tasks. */
void pai__single_restore(pai__pjob *j);

#endif
