/*
 * job.h - internal: the life of one job as a fold over events
 *
 * pai__job_handle(job, event) changes the state; pai__job_next() hands out, in
 * order, what the host is to do about it.  No clock, no I/O: the same code
 * runs live and in a simulation.
 */
#ifndef PAI_SRC_JOB_JOB_H
#define PAI_SRC_JOB_JOB_H

#include "base/base.h"
#include "base/prng.h"
#include "spec/spec.h"

/* Completion codes that the platform itself gives (job-spec 5.6). */
enum {
  PAI__CODE_NOT_STARTED = -200, /* the back end could not start the task */
  PAI__CODE_STOPPED = -210,     /* the user asked */
  PAI__CODE_JOB_OVER = -220     /* the job was decided without this task */
};

enum pai__job_state {
  PAI__JOB_QUEUED = 1, /* waits for a place */
  PAI__JOB_STARTING,   /* placed, no task runs yet */
  PAI__JOB_RUNNING,
  PAI__JOB_ENDING,  /* decided; tasks are being stopped */
  PAI__JOB_BACKOFF, /* waits for its retry's time */
  PAI__JOB_DONE
};

enum pai__task_state {
  PAI__TASK_PENDING = 1, /* not started in this attempt */
  PAI__TASK_STARTING,    /* handed out to be started */
  PAI__TASK_RUNNING,
  PAI__TASK_ENDING, /* asked to stop */
  PAI__TASK_DONE
};

typedef struct pai__task {
  enum pai__task_state state;
  uint32_t role;  /* index in the spec */
  uint32_t index; /* in the role */
  int code;       /* when done */
} pai__task;

/* How many tasks of a role ended how. */
typedef struct pai__ended {
  int32_t well, badly;
} pai__ended;

enum pai__event_kind {
  PAI__EV_PLACED,       /* the scheduler found room */
  PAI__EV_TASK_STARTED, /* task */
  PAI__EV_TASK_ENDED,   /* task, code */
  PAI__EV_STOP,         /* the user asked; a second time: at once */
  PAI__EV_RETRY_DUE     /* the delay of PAI__DO_WAIT is over */
};

typedef struct pai__job_event {
  enum pai__event_kind kind;
  uint32_t task;
  int code;
} pai__job_event;

enum pai__action_kind {
  PAI__DO_QUEUE,   /* ask the scheduler for room */
  PAI__DO_WAIT,    /* feed PAI__EV_RETRY_DUE after `delay` */
  PAI__DO_START,   /* start task */
  PAI__DO_STOP,    /* ask task to end */
  PAI__DO_KILL,    /* end task now */
  PAI__DO_RELEASE, /* give the room back */
  PAI__DO_FINISH   /* the job is over: state and code are final */
};

typedef struct pai__action {
  enum pai__action_kind kind;
  uint32_t task;
  pai_time delay;
} pai__action;

typedef struct pai__job {
  pai_alloc alloc;
  pai_spec *spec;
  enum pai__job_state state;
  uint32_t attempt; /* from 0; changes when the retry is placed */
  uint32_t retries; /* decided so far */
  uint32_t counted; /* those that count against the limit */
  bool decided;     /* this attempt's code is fixed */
  int code;
  const pai__task *trigger; /* the task that decided, or NULL */
  bool stop_asked;
  pai__task *tasks; /* role by role, index by index */
  size_t ntasks;
  pai__ended *ended; /* of each role, in this attempt */
  size_t done;       /* tasks of this attempt that have ended */
  pai__prng prng;
  pai__action *actions; /* [head, tail) are to be handed out */
  size_t head, tail, cap;
} pai__job;

int pai__job_new(pai__job **out, const pai_alloc *alloc, pai_spec *spec,
                 uint64_t seed);
void pai__job_free(pai__job *job);

/* PAI_EINVAL: the event does not belong here; nothing has changed. */
int pai__job_handle(pai__job *job, const pai__job_event *event);
/* The next thing to do; false when there is none.  A host need not take all
 * at once: a START that has become pointless is left out. */
bool pai__job_next(pai__job *job, pai__action *out);
bool pai__job_has_next(const pai__job *job);

/* PAI_STATE_* of <openpai/platform.h>, for the job and for one task. */
int pai__job_public_state(const pai__job *job);
int pai__job_task_state(const pai__job *job, uint32_t task);

#endif
