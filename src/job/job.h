/*
 * job.h - internal: the life of one job as a fold over events
 *
 * pai__job_handle(job, event) changes the state; pai__job_next() tells, one
 * after the other, what the host is to do about it.  No clock, no I/O: the
 * same code runs live and in a simulation.
 *
 * There is no queue of actions: what is to be done stands in the states, so
 * that events need no memory, and fail only when they cannot be true.  A job
 * of one task needs no memory but its own.
 */
#ifndef PAI_SRC_JOB_JOB_H
#define PAI_SRC_JOB_JOB_H

#include "base/buf.h"
#include "base/prng.h"

/* Completion codes that the platform itself gives (job-spec 5.6). */
enum {
  PAI__CODE_NOT_STARTED = -200, /* the back end could not start the task */
  PAI__CODE_STOPPED = -210,     /* the user asked */
  PAI__CODE_JOB_OVER = -220,    /* the job was decided without this task */
  PAI__CODE_REMOVED = -230,     /* its role has fewer tasks now */
  PAI__CODE_TIME_LIMIT = -240,  /* the job has run as long as it may */
  PAI__CODE_DEPENDENCY = -250   /* a job before it ended otherwise than it
                                   waited for */
};

/* --- what a job is to be ---------------------------------------------------- */

enum { PAI__RETRY_FAILED = -1, PAI__RETRY_ALWAYS = -2 }; /* of `max` */

/* FrameworkController's (job-spec 5.4). */
typedef struct pai__retry_policy {
  bool fancy;  /* what is transient is tried again and does not count, what is
                  permanent is not */
  int32_t max; /* retries that count; or PAI__RETRY_FAILED, _ALWAYS: up to
                  PAI_JOB_MAX_RETRIES */
} pai__retry_policy;

typedef struct pai__form_role {
  uint32_t tasks;
  int32_t min_failed, min_succeeded; /* completion policy; below 1: never */
  pai__retry_policy retry;           /* of each task */
} pai__form_role;

/* Constant; jobs borrow it, and many may share one. */
typedef struct pai__job_form {
  const pai__form_role *roles;
  uint32_t nroles; /* at least 1 */
  pai__retry_policy retry;
  bool partial; /* tasks have rooms of their own; else all have one together,
                   and start together */
  bool raw;     /* codes above 0 are what commands ended with, and nobody has
                   looked into why: of them only FrameworkController's own
                   mean something */
  bool
    own_signals; /* a signal that ended a command was not the platform's, which
                   reports what it ends itself by codes of its own */
} pai__job_form;

/* --- states ----------------------------------------------------------------- */

enum pai__job_state {
  PAI__JOB_QUEUED = 1, /* waits for a place */
  PAI__JOB_STARTING,   /* placed, no task has run yet in this attempt */
  PAI__JOB_RUNNING,
  PAI__JOB_ENDING,  /* decided; tasks are being stopped */
  PAI__JOB_BACKOFF, /* waits for its retry's time */
  PAI__JOB_DONE
};

enum pai__task_state {
  PAI__TASK_WAITING = 1, /* for a place */
  PAI__TASK_PLACED,      /* to be started */
  PAI__TASK_STARTING,    /* handed out to be started */
  PAI__TASK_RUNNING,
  PAI__TASK_ENDING,  /* to be stopped, or asked to stop */
  PAI__TASK_BACKOFF, /* waits for its retry's time */
  PAI__TASK_DONE,
  PAI__TASK_GONE /* its role has fewer tasks now; its number may be used anew */
};

/* In the order in which those for the whole job are handed out. */
enum pai__action_kind {
  PAI__DO_NOTHING = 0,
  PAI__DO_QUEUE,   /* ask for room */
  PAI__DO_RETURN,  /* give the room back, and wait for it again in the same
                      turn; not before `until`, if that is not 0 */
  PAI__DO_RELEASE, /* give the room back, or ask for it no more */
  PAI__DO_RESUME,  /* what was returned may have room again */
  PAI__DO_WAIT,    /* feed PAI__EV_DUE at `until`, and not before */
  PAI__DO_FINISH,  /* the job is over: state and code are final */
  PAI__DO_START,   /* start tasks */
  PAI__DO_STOP,    /* ask tasks to end */
  PAI__DO_KILL     /* end tasks now */
};

/* What is to be done with `count` tasks from `task` on; or with the whole job.
 * A gang is queued, returned, resumed and released as a whole; only tasks that
 * it gets or loses while it runs are queued and released alone.  That a partial
 * job is tried again is RETURN of the whole, after which its tasks are queued or
 * returned alone. */
typedef struct pai__action {
  enum pai__action_kind kind;
  bool whole;
  uint32_t task, count;
  pai_time until;
} pai__action;

typedef struct pai__task {
  uint8_t state; /* enum pai__task_state */
  uint8_t todo;  /* enum pai__action_kind */
  uint8_t flags; /* the room's own */
  uint8_t hasty; /* unlimited retries in a row that soon ended */
  uint32_t role;
  uint32_t index;   /* in the role */
  int code;         /* of the last time it ended */
  uint32_t retries; /* in this attempt; */
  uint32_t counted; /* of them, those that count against the limit */
  pai_time time;    /* since when it runs; when it ended; when it is due */
} pai__task;

/* How many tasks a role has, and how many of them ended how. */
typedef struct pai__job_role {
  uint32_t tasks;
  uint32_t well, badly;
} pai__job_role;

/* Can be moved in memory. */
typedef struct pai__job {
  const pai__job_form *form;
  const pai_alloc *alloc;
  pai__prng prng;
  pai_time began; /* when it was placed last */
  pai_time due;   /* the first of the times it waits for */
  union {
    pai__task one; /* the task of a job that begins with one */
    struct {
      pai__task *tasks;
      pai__job_role *roles; /* NULL if there is only one */
    } many;
  } at;
  pai__job_role role; /* if it is the only one */
  uint32_t ntasks;    /* with those that are gone */
  uint32_t wanted;    /* as the roles say */
  uint32_t alive;     /* tasks that hold something on a machine */
  uint32_t done;      /* tasks that count as completed */
  uint32_t busy;      /* tasks with something to do; */
  uint32_t cursor;    /* none of them is before this one */
  uint32_t attempt;   /* from 0; changes when it is placed again */
  uint32_t retries;   /* decided so far, */
  uint32_t counted;   /* those that count against the limit, */
  uint32_t preempted; /* and how often it lost its room */
  uint32_t trigger;   /* the task that decided, or PAI__NO_TASK */
  int code;
  uint8_t todo;  /* a bit for each enum pai__action_kind of whole jobs */
  uint8_t state; /* enum pai__job_state */
  uint8_t hasty;
  bool inside : 1;     /* its task is at.one */
  bool asked : 1;      /* the scheduler knows of it */
  bool decided : 1;    /* this attempt's code is fixed */
  bool stop_asked : 1; /* not to be tried again */
  bool preempting : 1; /* when all tasks have ended, it waits again */
} pai__job;

#define PAI__NO_TASK UINT32_MAX

/* --- events ----------------------------------------------------------------- */

enum pai__event_kind {
  PAI__EV_PLACED,       /* tasks have room; count 0: all that wait for it */
  PAI__EV_TASK_STARTED, /* tasks */
  PAI__EV_TASK_ENDED,   /* tasks, code */
  PAI__EV_PREEMPTED,    /* the room of tasks is wanted back; count 0: of all */
  PAI__EV_STOP,         /* the user asked; a second time: at once.  code: what
                           the job is to end with; 0: PAI__CODE_STOPPED */
  PAI__EV_IMPATIENT,    /* what was asked to stop took too long */
  PAI__EV_DUE,          /* the time of PAI__DO_WAIT has come */
  PAI__EV_TASK_UNDONE   /* tasks that were told to have started did not: the
                           host starts them again by itself */
};

typedef struct pai__job_event {
  enum pai__event_kind kind;
  uint32_t task, count; /* tasks [task, task + count) */
  int code;
  pai_time time;
} pai__job_event;

/* `alloc` and `form` must outlive the job.  PAI_OK or PAI_ENOMEM; that only if
 * it has more than one task. */
int pai__job_init(pai__job *job, const pai_alloc *alloc,
                  const pai__job_form *form, uint64_t seed);
/* Also of one that could not be made, or is all zeros. */
void pai__job_dispose(pai__job *job);

/* PAI_EINVAL: the event cannot be true; nothing has changed. */
int pai__job_handle(pai__job *job, const pai__job_event *event);

/*
 * From now on a role has so many tasks.  New ones are to be queued alone; but
 * a gang that waits for room waits for all of its tasks, and its host asks
 * for as many as there are now.  Of those that are too many, the last ones,
 * what is alive is stopped, and their room is released.
 *
 * PAI_OK; PAI_EINVAL: no such role, or the job is over; PAI_EBUSY: it is being
 * stopped or preempted, and that can be done when it waits again; PAI_ENOMEM,
 * and nothing has changed.
 */
int pai__job_rescale(pai__job *job, uint32_t role, uint32_t tasks,
                     pai_time time);

/* The next thing to do, for so many tasks at most; false when there is none.
 * A host need not take all at once: what has become pointless is left out. */
bool pai__job_next(pai__job *job, uint32_t most, pai__action *out);

static inline bool pai__job_has_next(const pai__job *job)
{
  return job->todo != 0 || job->busy != 0;
}

/* --- looking ---------------------------------------------------------------- */

static inline const pai__task *pai__job_tasks(const pai__job *job)
{
  return job->inside ? &job->at.one : job->at.many.tasks;
}

static inline const pai__job_role *pai__job_roles(const pai__job *job)
{
  return job->form->nroles == 1 ? &job->role : job->at.many.roles;
}

/* The task that decided, or NULL. */
static inline const pai__task *pai__job_trigger(const pai__job *job)
{
  return job->trigger != PAI__NO_TASK ? &pai__job_tasks(job)[job->trigger]
                                      : NULL;
}

/* PAI_STATE_* of <openpai/job.h>, for the job and for one task. */
int pai__job_public_state(const pai__job *job);
int pai__job_task_state(const pai__job *job, uint32_t task);

/* The same in FrameworkController's words: one of nine (job-spec 5.3). */
const char *pai__job_contract_state(const pai__job *job);
const char *pai__job_task_contract_state(const pai__job *job, uint32_t task);

/* What the API makes of that and of a completion code, 0 if there is none
 * (rest-api 4.1); of a job or task, and of an attempt of it.  Static. */
const char *pai__api_state(const char *contract_state, int code);
const char *pai__api_attempt_state(const char *contract_state, int code);

/* Retries of what ended last with `code`: how many there were of its kind, and
 * how many there may be.  Of the job; of a task of it. */
typedef struct pai__retries {
  uint32_t done, most;
} pai__retries;

pai__retries pai__job_retries(const pai__job *job);
pai__retries pai__job_task_retries(const pai__job *job, uint32_t task);

/* Adds why the attempt was decided, in FrameworkController's way; nothing if no
 * task did it. */
void pai__job_trigger_message(pai__buf *out, const pai__job *job);

#endif
