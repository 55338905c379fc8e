/*
 * drive.h - internal: driver of virtual time, the loop that makes the events
 * of a simulation happen at their times
 *
 * The driver stands between a scheduler and the folds of the jobs, like the
 * platform, but runs no tasks.  Callbacks (pai__drive_ops) tell it how long
 * each attempt takes, and it reports what happens to them.  It counts nothing
 * itself.
 *
 * One moment of time has these steps, in this order: ends of runs, failures
 * and repairs of nodes, jobs that are killed because their patience is over,
 * retries that are due; then what the caller adds between pai__drive_begin()
 * and pai__drive_end(); then one decision of the policy, which is carried out.
 * If part of it takes no time, another moment follows at the same time.
 *
 * A job that waits for its first place needs only a small record
 * (pai__waiting_job).  Its fold is made when it starts or is killed.
 */
#ifndef PAI_SRC_SIM_DRIVE_H
#define PAI_SRC_SIM_DRIVE_H

#include "job/job.h"
#include "sched/inspect.h"

#include <openpai/sched.h>

/* --- timers (drive_jobs.c) ----------------------------------------------- */

/* A heap ordered by time, kind and order of creation.  Each timer's owner
 * keeps the timer's index, so it can remove the timer. */

#define PAI__NO_TIMER UINT32_MAX

/* Kinds of timers; at the same time the lower kind comes first. */
enum pai__timer_kind {
  PAI__TIMER_END = 1, /* end of a run's work, or of its time to stop */
  PAI__TIMER_WORK,    /* a run begins its work */
  PAI__TIMER_NODE,
  PAI__TIMER_PATIENCE,
  PAI__TIMER_DUE /* a retry is due */
};

typedef struct pai__sim_timer {
  pai_time time;
  uint64_t order; /* kind in the top 8 bits, number of creation below */
  uint32_t *at;   /* the owner's copy of the index in the heap */
  uint32_t who;
} pai__sim_timer;

typedef struct pai__timers {
  pai__sim_timer *heap;
  size_t len, cap;
  uint64_t numbers;
  size_t nodes; /* number of PAI__TIMER_NODE timers */
} pai__timers;

void pai__timers_dispose(pai__timers *t, const pai_alloc *alloc);

static inline enum pai__timer_kind pai__timer_kind_of(const pai__sim_timer *x)
{
  return (enum pai__timer_kind)(x->order >> 56);
}

/* Sets or moves a timer.  *at is its index in the heap, or PAI__NO_TIMER if it
 * is not set.  Returns PAI_OK or PAI_ENOMEM; on PAI_ENOMEM the timer is not
 * set. */
int pai__timer_set(pai__timers *t, const pai_alloc *alloc, uint32_t *at,
                   enum pai__timer_kind kind, uint32_t who, pai_time time);
/* Removes the timer if it is set. */
void pai__timer_drop(pai__timers *t, uint32_t *at);

/* --- driver -------------------------------------------------------------- */

enum { PAI__CODE_NODE_LOST = -1001 }; /* job-spec 5.7 */

/* State of a job. */
enum pai__doing {
  PAI__WAITS = 0,
  PAI__PREPARES, /* it has a place, and does not work yet */
  PAI__WORKS,
  PAI__LEAVES /* it is being stopped */
};

/* A job that waits for its first place.  The caller's data may follow it
 * (wait_size). */
typedef struct pai__waiting_job {
  uint64_t id;    /* in the scheduler; 0: record not in use */
  uint32_t slot;  /* of this record */
  uint32_t timer; /* of its patience */
} pai__waiting_job;

/* A job that has started or was killed: a gang that starts and ends together,
 * so one task stands for all in its fold.  The caller's data may follow it
 * (job_size). */
typedef struct pai__driven_job {
  pai__job life;
  uint64_t id; /* in the scheduler; 0: record not in use */
  uint32_t instance;
  uint32_t slot;    /* of this record */
  uint32_t timer;   /* index in pai__timers */
  uint32_t tasks;   /* running tasks of the gang; 0: it has no place */
  uint32_t attempt; /* not changed by preemption and node failures */
  uint32_t runs;    /* number of starts */
  uint32_t preemptions;
  uint8_t doing; /* enum pai__doing */
  uint8_t stop;  /* PAI_STOP_*: cause of the last stop; 0: none */
  bool returns;  /* at the end of its work it waits again, as if preempted */
  int code;      /* completion code of this attempt */
  pai_time submitted;
  pai_time started; /* first start; -1: never */
  pai_time since;   /* start of the last run */
  pai_time works;   /* start of the current run's work */
  pai_time lasts;   /* duration of this attempt's work; -1: not known yet */
  pai_time saved;   /* part of `lasts` that is saved */
  pai_time ran;     /* total time of its runs */
} pai__driven_job;

/* How a run ended, for the callback `stopped`. */
enum pai__left {
  PAI__LEFT_OVER = 1,  /* the job is over */
  PAI__LEFT_AGAIN,     /* the attempt failed and is retried */
  PAI__LEFT_PREEMPTED, /* it was preempted and waits again */
  PAI__LEFT_NODE       /* a node of the run failed; the job is retried */
};

/* Callbacks.  All but `lasts` may be NULL.  A negative result ends the call
 * that is being made, which returns it. */
typedef struct pai__drive_ops {
  /* Sets job->lasts and job->code: how long the attempt takes without
   * interruption, and its completion code.  For a run that was adopted, the
   * duration counts from the start of the run. */
  int (*lasts)(void *data, pai__driven_job *job);
  /* `prepares`: time between placement and work.  `leaves`: time that a job
   * works on after it is asked to stop; -1: it ignores the request and ends by
   * itself.  NULL: as the options say. */
  pai_time (*prepares)(void *data, const pai__driven_job *job);
  pai_time (*leaves)(void *data, const pai__driven_job *job);
  /* Called when the fold of a waiting job is made.  Copies the caller's data
   * from `wait` to `job` and sets *form, which must outlive the job.  Jobs
   * that were submitted to the scheduler by others do not get this call: their
   * data is zeroed.  NULL: all jobs are handled like those. */
  int (*begins)(void *data, const pai__waiting_job *wait, pai__driven_job *job,
                const pai__job_form **form);
  /* The job has been placed. */
  int (*started)(void *data, pai__driven_job *job);
  /* Called before and after the number of tasks changes. */
  int (*resized)(void *data, pai__driven_job *job);
  /* A run is about to give up its place.  `in_vain` is the work that is
   * lost. */
  int (*stopped)(void *data, pai__driven_job *job, enum pai__left how,
                 pai_time in_vain);
  /* The job is over.  It is freed when the call returns. */
  int (*ended)(void *data, pai__driven_job *job);
  /* A timer of a node is due. */
  int (*node)(void *data, uint32_t node);
  /* Called at the end of a moment, when all decisions are carried out. */
  int (*decided)(void *data);
  /* For pai__drive_run().  `next`: when the caller adds something next,
   * INT64_MAX: never.  `add`: adds it.  `passes`: time is about to become
   * `now`.  `is_over`: whether to stop. */
  pai_time (*next)(void *data);
  int (*add)(void *data);
  void (*passes)(void *data, pai_time now);
  bool (*is_over)(void *data);
} pai__drive_ops;

typedef struct pai__drive_options {
  const pai__drive_ops *ops;
  void *data;
  size_t job_size;  /* of pai__driven_job and the caller's data */
  size_t wait_size; /* the same for pai__waiting_job; 0: no data */
  uint64_t seed;    /* for the folds */
  pai_time start_cost, restart_cost, stop_cost, checkpoint; /* see
                                                               openpai/sim.h */
} pai__drive_options;

/* Pool of records with fixed addresses. */
typedef struct pai__drive_places {
  char **chunks;
  uint32_t nchunks, cap;
  uint32_t free; /* first record of the free list */
  size_t size;   /* of a record */
  size_t timer;  /* offset of the member that links the free list */
} pai__drive_places;

typedef struct pai__drive {
  pai_alloc alloc;
  pai_sched *sched; /* borrowed */
  pai__drive_options o;
  pai_time now;
  bool due;          /* the policy must decide again */
  pai_time stops_at; /* time of the preemptions counted in `stops` */
  uint64_t stops;
  pai__timers timers;
  pai_decision *decisions; /* of the last call of pai_sched_decide() */
  size_t decision_cap;
  pai__drive_places jobs, waits;
  uint32_t njobs;  /* all jobs of the driver */
  uint32_t nwaits; /* number of pai__waiting_job among them */
  uint32_t *index; /* hash table: slot + 1, with a bit for waiting jobs */
  uint32_t nindex;
} pai__drive;

/* Makes a driver for a scheduler, which must outlive it.  It begins at the
 * scheduler's time.  Returns PAI_OK or PAI_ENOMEM; the driver can be disposed
 * of in any case. */
int pai__drive_init(pai__drive *d, const pai_alloc *alloc, pai_sched *sched,
                    const pai__drive_options *o);
void pai__drive_dispose(pai__drive *d);

/* Adopts the runs of a scheduler that was driven by others, without calling
 * `started`.  Requests that wait there become jobs of the driver when they
 * start, without retries.  Returns PAI_OK, PAI_ENOMEM, or what `lasts`
 * returned. */
int pai__drive_adopt(pai__drive *d, pai_error **err);

/* Returns the time of the next event; INT64_MAX: none. */
pai_time pai__drive_next(const pai__drive *d);
/* Returns whether a timer of a job is set: its work, a stop, a retry or its
 * patience. */
bool pai__drive_is_busy(const pai__drive *d);

/* Advances time until the next event would be later than `until` (returns 1),
 * or until the caller stops it or no event is left (returns 0).  On failure
 * returns a code as below. */
int pai__drive_run(pai__drive *d, pai_time until, pai_error **err);
/* Runs one moment. */
int pai__drive_moment(pai__drive *d, pai_time now, pai_error **err);

/* The first half of a moment: sets the time to `now` and handles all timers
 * that are due.  This function and those that follow return PAI_OK, or what
 * pai_sched_send() or a callback returned. */
int pai__drive_begin(pai__drive *d, pai_time now, pai_error **err);
/* Submits a job.  *out is its record, or NULL if the scheduler refused it. */
int pai__drive_come(pai__drive *d, const pai_request *request,
                    pai__waiting_job **out, pai_error **err);
/* Kills a waiting job at the time `until` if it has not started by then.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__drive_patience(pai__drive *d, pai__waiting_job *wait, pai_time until);
/* Kills a job for its owner; does nothing if there is no such job. */
int pai__drive_kill(pai__drive *d, uint64_t id, pai_error **err);
/* Changes a node's state; if it becomes sick, its runs end with
 * PAI__CODE_NODE_LOST. */
int pai__drive_node(pai__drive *d, uint32_t node, int state, const char *why,
                    pai_error **err);
/* Calls the callback `node` at a time; INT64_MAX: cancels it.  *at belongs to
 * the driver, and is PAI__NO_TIMER at first.  Returns PAI_OK or PAI_ENOMEM. */
int pai__drive_node_timer(pai__drive *d, uint32_t *at, uint32_t node,
                          pai_time time);
/* Applies a line of a scheduler's log.  Returns as pai_sched_send_json(). */
int pai__drive_line(pai__drive *d, const char *line, size_t len,
                    pai_error **err);
/* The second half of a moment: lets the policy decide, and carries it out. */
int pai__drive_end(pai__drive *d, pai_error **err);

/* Returns the job with a fold, or NULL. */
pai__driven_job *pai__drive_find(const pai__drive *d, uint64_t id,
                                 uint32_t instance);
/* Returns the job that waits for its first place, or NULL. */
pai__waiting_job *pai__drive_find_wait(const pai__drive *d, uint64_t id);
/* Iterates over records: sets *slot behind the one returned; begin with 0.
 * Returns NULL at the end. */
pai__driven_job *pai__drive_each(const pai__drive *d, uint32_t *slot);
pai__waiting_job *pai__drive_each_wait(const pai__drive *d, uint32_t *slot);
/* Returns when the job was submitted to the scheduler. */
pai_time pai__drive_submitted(const pai__drive *d, uint64_t id);

/* --- between the files of the driver ------------------------------------- */

void pai__drive_open_jobs(pai__drive *d);
/* Adds a waiting job, to be found by its id.  Returns PAI_OK or PAI_ENOMEM. */
int pai__drive_await(pai__drive *d, pai__waiting_job **out, uint64_t id);
void pai__drive_unawait(pai__drive *d, pai__waiting_job *wait);
/* Finds a job, or makes one with a new fold, from a waiting job or from a
 * request that others submitted.  Returns PAI_OK, PAI_ENOMEM, or what `begins`
 * returned. */
int pai__drive_born(pai__drive *d, pai__driven_job **out, uint64_t id,
                    uint32_t instance);
void pai__drive_unmake(pai__drive *d, pai__driven_job *job);
/* Frees all jobs. */
void pai__drive_forget(pai__drive *d);
pai__driven_job *pai__drive_job(const pai__drive *d, uint32_t slot);
pai__waiting_job *pai__drive_wait_at(const pai__drive *d, uint32_t slot);

/* Feeds an event to a job's fold and carries out its actions.  The job may be
 * freed afterwards.  Returns PAI_OK, PAI_ENOMEM, or a code of the scheduler or
 * of a callback. */
int pai__drive_feed(pai__drive *d, pai__driven_job *job,
                    enum pai__event_kind kind, int code, pai_error **err);

/* Sends an event to the scheduler; fills in its size and time. */
int pai__drive_tell(pai__drive *d, pai_sched_event *event, pai_error **err);

/* Ends a run: its work is done, it was stopped, or a node failed
 * (`disturbed`). */
int pai__drive_run_over(pai__drive *d, pai__driven_job *job, bool disturbed,
                        pai_error **err);

/* Kills the job for its owner. */
int pai__drive_kill_job(pai__drive *d, pai__driven_job *job, pai_error **err);
/* Stops the job for the policy.  `cause`: PAI_STOP_*. */
int pai__drive_stop(pai__drive *d, pai__driven_job *job, int cause,
                    pai_error **err);

/* Ends the run; the job waits again. */
int pai__drive_return(pai__drive *d, pai__driven_job *job, pai_error **err);

/* Starts a run that has been placed. */
int pai__drive_begin_run(pai__drive *d, pai__driven_job *job, pai_error **err);
/* Resumes a run that has worked since job->works.  If `stopping`, it was asked
 * to stop already, for `cause`. */
int pai__drive_resume(pai__drive *d, pai__driven_job *job, bool stopping,
                      int cause, pai_error **err);

int pai__drive_timer(pai__drive *d, pai__driven_job *job,
                     enum pai__timer_kind kind, pai_time at, pai_error **err);

/* Reads the run of the job.  Returns false if it has no place. */
static inline bool pai__drive_place(const pai__drive *d,
                                    const pai__driven_job *job,
                                    pai__run_info *run)
{
  return pai__inspect_run(d->sched, job->id, job->instance, run);
}

#endif
