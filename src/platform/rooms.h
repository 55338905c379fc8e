/* rooms.h - internal to the room: tasks that have room of their own, each asked
 * for by a request of its own */
#ifndef PAI_SRC_PLATFORM_ROOMS_H
#define PAI_SRC_PLATFORM_ROOMS_H

#include "platform/platform.h"

/* Ids of the scheduler's that are tasks': this bit, and the back end's number
 * of the task. */
#define PAI__ALONE_ID (UINT64_C(1) << 62)

static inline uint64_t pai__room_id(const pai__pjob *j, uint32_t task)
{
  return PAI__ALONE_ID | pai__platform_task_id(j, task);
}

/* Has it room of its own?  All of a partial job; of a gang those that came
 * while it ran. */
static inline bool pai__room_is_alone(const pai__pjob *j, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&j->job)[task];

  return t->index >= j->gang[t->role];
}

/* The job of a request, and its task; or PAI__NO_TASK: the request is all of
 * the gang's.  NULL: it is nobody's. */
pai__pjob *pai__room_find(pai_platform *p, uint64_t id, uint32_t *task);
/* The request that tells why the job waits; 0: none of it waits. */
uint64_t pai__room_waiting(const pai__pjob *j);
/* Was some of it placed, and waits for a look at its GPUs? */
bool pai__room_is_looked_at(const pai__pjob *j);
/* How many tasks have room, and how many wait for it. */
void pai__room_counts(const pai__pjob *j, uint32_t *have, uint32_t *wait);

/* As pai__platform_queue() and so on, of one task.  To queue one that was
 * asked for already, or is part of a gang that holds its room, is no error. */
int pai__room_queue(pai__pjob *j, uint32_t task, pai_error **err);
int pai__room_return(pai__pjob *j, uint32_t task, bool held);
int pai__room_resume(pai__pjob *j, uint32_t task);
void pai__room_release(pai__pjob *j, uint32_t task);
void pai__rooms_release(pai__pjob *j); /* of all */
/* A held one may be placed. */
int pai__room_hold(pai__pjob *j, uint32_t task, bool held);

/* owed.c: has the scheduler do what the fold asks for (PAI__DO_QUEUE, RETURN or
 * RESUME), of a task or, with PAI__NO_TASK, of the gang.  For want of memory that
 * is done later, and nothing is placed before. */
void pai__tell_scheduler(pai__pjob *j, uint32_t task, int what, bool held);
/* It could not be told that. */
void pai__owe(pai__pjob *j, uint32_t task, int what, bool held);
/* It needs not be told any more. */
void pai__owe_nothing(pai__pjob *j, uint32_t task);
/* Tells all that is owed; false: memory is short still. */
bool pai__owed_settle(pai_platform *p);

/* It was decided: where it is to be is noted. */
void pai__room_decided(pai__pjob *j, uint32_t task);
/* Those that were decided have begun, or are to be placed anew: as
 * start_placed() in placing.c. */
int pai__rooms_start(pai__pjob *j);
/* Its room is wanted back for another. */
void pai__room_preempted(pai__pjob *j, uint32_t task);

/* Has the gang its room since the platform before?  One that had not begun is
 * returned. */
bool pai__rooms_restore_gang(pai__pjob *j);
/* What the scheduler of that has of a job's tasks. */
void pai__rooms_restore(pai__pjob *j);

#endif
