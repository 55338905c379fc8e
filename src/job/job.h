/*
 * job.h - internal: the fold of one job: state + event -> state + actions
 *
 * pai__job_handle(job, event) changes the state; pai__job_next() returns what
 * the host must do about it, one action after the other.  No clock, no I/O:
 * the same code runs live and in a simulation.
 *
 * There is no queue of actions: pending actions are kept in the states.  So
 * events need no memory, and fail only if they contradict the state.  A job of
 * one task allocates nothing.
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
  PAI__CODE_DEPENDENCY = -250   /* a job it depends on ended otherwise than
                                   required */
};

/* --- the form of a job --------------------------------------------------- */

enum { PAI__RETRY_FAILED = -1, PAI__RETRY_ALWAYS = -2 }; /* of `max` */

/* A retry policy as FrameworkController's (job-spec 5.4). */
typedef struct pai__retry_policy {
  bool fancy;  /* transient failures are retried without counting, permanent
                  ones are not retried */
  int32_t max; /* retries that count; or PAI__RETRY_FAILED, _ALWAYS: up to
                  PAI_JOB_MAX_RETRIES */
} pai__retry_policy;

typedef struct pai__form_role {
  uint32_t tasks;
  int32_t min_failed, min_succeeded; /* completion policy; below 1: never */
  pai__retry_policy retry;           /* of each task */
} pai__form_role;

/* Constant.  Jobs borrow it, and may share it. */
typedef struct pai__job_form {
  const pai__form_role *roles;
  uint32_t nroles; /* at least 1 */
  pai__retry_policy retry;
  bool partial; /* each task has its own place; else all share one and start
                   together */
  bool raw;     /* codes above 0 are plain exit codes of commands, not
                   classified: only FrameworkController's own have a meaning */
  bool own_signals; /* a signal that ended a command did not come from the
                       platform, which has codes of its own */
} pai__job_form;

/* --- states -------------------------------------------------------------- */

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
  PAI__TASK_GONE /* removed by rescaling; its number may be reused */
};

/* In the order in which actions of the whole job are returned. */
enum pai__action_kind {
  PAI__DO_NOTHING = 0,
  PAI__DO_QUEUE,   /* request a place */
  PAI__DO_RETURN,  /* give the place back and request it again in the same
                      turn; not before `until`, if not 0 */
  PAI__DO_RELEASE, /* give the place back, or withdraw the request */
  PAI__DO_RESUME,  /* a returned place may be given again */
  PAI__DO_WAIT,    /* send PAI__EV_DUE at `until`, not before */
  PAI__DO_FINISH,  /* the job is over: state and code are final */
  PAI__DO_START,   /* start tasks */
  PAI__DO_STOP,    /* ask tasks to end */
  PAI__DO_KILL     /* end tasks now */
};

/* An action for tasks [task, task + count), or for the whole job.  A gang is
 * queued, returned, resumed and released as a whole; only tasks that rescaling
 * adds or removes are queued and released alone.  A retry of a partial job is
 * RETURN of the whole, after which its tasks are queued or returned alone. */
typedef struct pai__action {
  enum pai__action_kind kind;
  bool whole;
  uint32_t task, count;
  pai_time until;
} pai__action;

typedef struct pai__task {
  uint8_t state; /* enum pai__task_state */
  uint8_t todo;  /* enum pai__action_kind */
  uint8_t flags; /* internal to src/job */
  uint8_t hasty; /* consecutive short runs under unlimited retries */
  uint32_t role;
  uint32_t index;   /* in the role */
  int code;         /* of the last time it ended */
  uint32_t retries; /* in this attempt */
  uint32_t counted; /* of these, the ones that count against the limit */
  pai_time time;    /* start of the run; its end; or when a retry is due */
} pai__task;

/* Number of tasks of a role, and how many succeeded and failed. */
typedef struct pai__job_role {
  uint32_t tasks;
  uint32_t well, badly;
} pai__job_role;

/* Can be moved in memory. */
typedef struct pai__job {
  const pai__job_form *form;
  const pai_alloc *alloc;
  pai__prng prng;
  pai_time began; /* when it was last placed */
  pai_time due;   /* earliest time it waits for */
  union {
    pai__task one; /* if the job began with one task */
    struct {
      pai__task *tasks;
      pai__job_role *roles; /* NULL if there is only one role */
    } many;
  } at;
  pai__job_role role; /* if there is only one role */
  uint32_t ntasks;    /* including removed ones */
  uint32_t wanted;    /* by the roles */
  uint32_t alive;     /* tasks that hold resources on a machine */
  uint32_t done;      /* tasks that count as completed */
  uint32_t busy;      /* tasks with a pending action */
  uint32_t cursor;    /* no task before this one is busy */
  uint32_t attempt;   /* from 0; increases when it is placed again */
  uint32_t retries;   /* retries decided so far */
  uint32_t counted;   /* of these, the ones that count against the limit */
  uint32_t preempted; /* how often it was preempted */
  uint32_t trigger;   /* the task that decided, or PAI__NO_TASK */
  int code;
  uint8_t todo;  /* bit set of enum pai__action_kind, for the whole job */
  uint8_t state; /* enum pai__job_state */
  uint8_t hasty;
  bool inside : 1;     /* its task is at.one */
  bool asked : 1;      /* the scheduler has its request */
  bool decided : 1;    /* this attempt's code is fixed */
  bool stop_asked : 1; /* not to be retried */
  bool preempting : 1; /* waits again when all tasks have ended */
} pai__job;

#define PAI__NO_TASK UINT32_MAX

/* --- events -------------------------------------------------------------- */

enum pai__event_kind {
  PAI__EV_PLACED,       /* tasks have a place; count 0: all waiting tasks */
  PAI__EV_TASK_STARTED, /* tasks have started */
  PAI__EV_TASK_ENDED,   /* tasks have ended with `code` */
  PAI__EV_PREEMPTED,    /* the place of tasks is wanted back; count 0: of
                           all */
  PAI__EV_STOP,         /* the user asked to stop; the second time: kill.
                           code: the job's final code; 0: PAI__CODE_STOPPED */
  PAI__EV_IMPATIENT,    /* tasks asked to stop took too long */
  PAI__EV_DUE,          /* the time of PAI__DO_WAIT has come */
  PAI__EV_TASK_UNDONE   /* tasks reported as started did not start; the host
                           starts them again itself */
};

typedef struct pai__job_event {
  enum pai__event_kind kind;
  uint32_t task, count; /* tasks [task, task + count) */
  int code;
  pai_time time;
} pai__job_event;

/* `alloc` and `form` must outlive the job.  PAI_OK, or PAI_ENOMEM for more
 * than one task. */
int pai__job_init(pai__job *job, const pai_alloc *alloc,
                  const pai__job_form *form, uint64_t seed);
/* Also for a zeroed job or one whose pai__job_init() failed. */
void pai__job_dispose(pai__job *job);

/* Applies an event.  PAI_EINVAL: it contradicts the state; nothing has
 * changed. */
int pai__job_handle(pai__job *job, const pai__job_event *event);

/*
 * Changes the number of tasks of a role.  New tasks are queued alone; but a
 * waiting gang waits for all of its tasks, and the host requests a place for
 * the new number.  Surplus tasks, the last ones, are stopped, and their places
 * released.
 *
 * PAI_OK; PAI_EINVAL: no such role, or the job is over; PAI_EBUSY: it is being
 * stopped or preempted, and can be rescaled when it waits again; PAI_ENOMEM,
 * and nothing has changed.
 */
int pai__job_rescale(pai__job *job, uint32_t role, uint32_t tasks,
                     pai_time time);

/* Returns the next action, for at most `most` tasks; false when there is none.
 * A host need not take all at once: actions that became pointless are left
 * out. */
bool pai__job_next(pai__job *job, uint32_t most, pai__action *out);

static inline bool pai__job_has_next(const pai__job *job)
{
  return job->todo != 0 || job->busy != 0;
}

/* --- queries ------------------------------------------------------------- */

static inline const pai__task *pai__job_tasks(const pai__job *job)
{
  return job->inside ? &job->at.one : job->at.many.tasks;
}

static inline const pai__job_role *pai__job_roles(const pai__job *job)
{
  return job->form->nroles == 1 ? &job->role : job->at.many.roles;
}

/* Returns the deciding task, or NULL. */
static inline const pai__task *pai__job_trigger(const pai__job *job)
{
  return job->trigger != PAI__NO_TASK ? &pai__job_tasks(job)[job->trigger]
                                      : NULL;
}

/* PAI_STATE_* of <openpai/job.h>, for the job and for one task. */
int pai__job_public_state(const pai__job *job);
int pai__job_task_state(const pai__job *job, uint32_t task);

/* Returns the state's name of FrameworkController, one of nine (job-spec
 * 5.3). */
const char *pai__job_contract_state(const pai__job *job);
const char *pai__job_task_contract_state(const pai__job *job, uint32_t task);

/* Returns the API's state for that state and a completion code, 0 if there is
 * none (rest-api 4.1); of a job or task, and of one of its attempts.
 * Static. */
const char *pai__api_state(const char *contract_state, int code);
const char *pai__api_attempt_state(const char *contract_state, int code);

/* Retries after an end with `code`: how many of that kind were made, and how
 * many are allowed.  Of the job; of a task. */
typedef struct pai__retries {
  uint32_t done, most;
} pai__retries;

pai__retries pai__job_retries(const pai__job *job);
pai__retries pai__job_task_retries(const pai__job *job, uint32_t task);

/* Appends why the attempt was decided, in FrameworkController's format;
 * nothing if no task decided it. */
void pai__job_trigger_message(pai__buf *out, const pai__job *job);

#endif
