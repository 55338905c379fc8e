/**
 * @file openpai/job.h
 * The state machine of a job: events go in, actions come out, and the state
 * can be read.  A platform uses it for each of its jobs; a program that starts
 * tasks in its own way can use it, too.
 *
 *   pai_job_new(&job, spec, NULL, &err);
 *   do {
 *     while (pai_job_next(job, 1, &action) == 1)
 *       ...                                  carry out the action
 *     ...                                    wait for the next event
 *   } while (pai_job_send(job, &event, &err) == PAI_OK);
 *
 * The rules are OpenPAI's: the completion policy of the task roles decides
 * when a job is over.  The retry policy and the exit spec decide which jobs
 * and tasks are retried, and when.
 *
 * A pai_job reads no clock, opens no file and starts no process.  The caller
 * passes the times, which must not decrease; random delays depend on the seed.
 * The same events give the same actions on every machine.
 *
 * Tasks are numbered from 0, role by role.  Tasks added by pai_job_rescale()
 * follow all others.  A task keeps its number.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_JOB_H
#define OPENPAI_JOB_H

#include <openpai/spec.h>

PAI_BEGIN_DECLS

typedef struct pai_job pai_job; /**< opaque; pai_job_free() */

/** State of a job or a task. */
enum {
  PAI_STATE_WAITING = 1, /**< without a place, or placed but not yet running */
  PAI_STATE_RUNNING = 2,
  PAI_STATE_STOPPING = 3,
  PAI_STATE_SUCCEEDED = 4, /**< this and the following are final */
  PAI_STATE_FAILED = 5,
  PAI_STATE_STOPPED = 6 /**< stopped on request, or because the job was over */
};

/** Completion codes of events that are not exits of a program. */
enum {
  PAI_CODE_NOT_STARTED = -200, /**< for callers: the task could not be
                                    started */
  PAI_CODE_STOPPED = -210,     /**< the job was stopped */
  PAI_CODE_JOB_OVER = -220,    /**< the result of the job was decided before
                                    this task ended */
  PAI_CODE_REMOVED = -230,     /**< its role was rescaled to fewer tasks */
  PAI_CODE_TIME_LIMIT = -240,  /**< the job reached its time limit.
                                    @since 0.1 */
  PAI_CODE_DEPENDENCY = -250   /**< a job that it depends on did not end as
                                    required.  @since 0.1 */
};

enum { PAI_JOB_MAX_TASKS = 1 << 20 /**< of one task role */ };

/** Most retries that do not count against a retry count, for a job or for a
 *  task in an attempt: retries after a transient failure, and retries by the
 *  retry counts -1 and -2.  After this number a failure is final. */
enum { PAI_JOB_MAX_RETRIES = 100 };

/** Task number that means "no task". */
#define PAI_NO_TASK UINT32_MAX

/** Options; zero-fill, or use PAI_JOB_OPTIONS_INIT. */
typedef struct pai_job_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  uint64_t seed;          /**< seed of random delays */
  int gang; /**< 1: all tasks start together, even if the file says
                 otherwise */
  int raw;  /**< 1: codes above 0 are exit codes of the commands, without an
                 analysis of their cause: the exit spec (pai_exit_find()) does
                 not apply, so they count as unknown failures; except
                 FrameworkController's own codes 200, 201 and 210 */
  int own_signals; /**< 1: signals that end commands (codes 130, 131, 137 and
                        143) are never sent by the platform, which reports its
                        own stops by codes below 0: such failures count against
                        jobRetryCount and are not transient */
} pai_job_options;

#define PAI_JOB_OPTIONS_INIT                  \
  {                                           \
    sizeof(pai_job_options), NULL, 0, 0, 0, 0 \
  }

/**
 * Creates a job that waits for a place.
 *
 * @param[out] out  the job, owned by the caller; NULL on failure
 * @param spec      the job; not kept
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: bad options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_new(pai_job **out, const pai_spec *spec,
                                      const pai_job_options *opts,
                                      pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_job_free(pai_job *job);

/* --- events -------------------------------------------------------------- */

enum {
  PAI_JOB_PLACED = 1,       /**< tasks have a place; count 0: all that wait */
  PAI_JOB_TASK_STARTED = 2, /**< tasks have started */
  PAI_JOB_TASK_ENDED = 3,   /**< tasks have ended, with code */
  PAI_JOB_PREEMPTED = 4,    /**< tasks must leave their place; count 0: all
                                 tasks.  This does not count as a retry */
  PAI_JOB_STOP = 5,         /**< the user asked to stop; a second time: at
                                 once */
  PAI_JOB_IMPATIENT = 6,    /**< the tasks asked to stop took too long */
  PAI_JOB_DUE = 7           /**< the time of PAI_JOB_DO_WAIT has come */
};

typedef struct pai_job_event {
  size_t struct_size;
  int kind;             /**< PAI_JOB_* */
  uint32_t task, count; /**< tasks [task, task + count) */
  int code;      /**< PAI_JOB_TASK_ENDED: completion code, 0 for success;
                      PAI_JOB_STOP: completion code of the job, 0:
                      PAI_CODE_STOPPED */
  pai_time time; /**< from -INT64_MAX / 4 to INT64_MAX / 4 */
} pai_job_event;

/**
 * Passes an event to the job.
 * @return PAI_OK; PAI_EINVAL: an impossible event, such as the end of a task
 *         that was not started; nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_send(pai_job *job,
                                       const pai_job_event *event,
                                       pai_error **err);

/**
 * Changes the number of tasks of a role.  New tasks are placed alone, unless
 * the whole gang still waits.  Excess tasks, the last ones, are stopped and
 * end with PAI_CODE_REMOVED.
 *
 * @return PAI_OK; PAI_EINVAL: no such role, or the job is over; PAI_EBUSY: the
 *         job is being stopped or preempted; try again when it waits;
 *         PAI_ENOMEM.  After a failure nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_rescale(pai_job *job, uint32_t role,
                                          uint32_t tasks, pai_time time,
                                          pai_error **err);

/* --- actions ------------------------------------------------------------- */

enum {
  PAI_JOB_DO_QUEUE = 1,   /**< ask for a place */
  PAI_JOB_DO_RETURN = 2,  /**< give the place back, and ask for a new place,
                               not before `until` if `until` is not 0 */
  PAI_JOB_DO_RELEASE = 3, /**< give the place back, or cancel the request for a
                               place */
  PAI_JOB_DO_RESUME = 4,  /**< end the hold of the request for a place */
  PAI_JOB_DO_WAIT = 5,    /**< send PAI_JOB_DUE at `until`; replaces earlier
                               actions of this kind */
  PAI_JOB_DO_FINISH = 6,  /**< the job is over: state and code are final */
  PAI_JOB_DO_START = 7,   /**< start tasks */
  PAI_JOB_DO_STOP = 8,    /**< ask tasks to end */
  PAI_JOB_DO_KILL = 9     /**< end tasks now */
};

/** An action for tasks [task, task + count), or for the whole job.  A gang is
 *  queued, returned, resumed and released as a whole.  A partial job that is
 *  retried is returned as a whole, too; actions for the places of its tasks
 *  follow one by one. */
typedef struct pai_job_action {
  size_t struct_size;
  int kind;  /**< PAI_JOB_DO_* */
  int whole; /**< 1: the whole job */
  uint32_t task, count;
  pai_time until;
} pai_job_action;

/**
 * Fetches the next action.  The caller need not fetch all actions at once:
 * actions that later events make obsolete are dropped.
 *
 * @param most  most tasks in one action; at least 1
 * @return 1; 0: no action; PAI_EINVAL: bad struct_size
 * @since 0.1
 */
PAI_API int pai_job_next(pai_job *job, uint32_t most, pai_job_action *action);

/* --- status -------------------------------------------------------------- */

/** Status of a job.  Strings are static. */
typedef struct pai_job_status {
  size_t struct_size;
  int state;            /**< PAI_STATE_* */
  const char *substate; /**< one of FrameworkController's nine states */
  int code;             /**< meaningful in a final state */
  uint32_t attempt;     /**< from 0 */
  uint32_t retries;     /**< retries so far */
  uint32_t counted;     /**< retries that count against the limit */
  uint32_t preempted;   /**< number of preemptions */
  uint32_t roles, tasks;
  uint32_t alive;   /**< tasks with a PAI_JOB_DO_START that have not ended */
  uint32_t trigger; /**< the task that decided the job, or PAI_NO_TASK */
} pai_job_status;

typedef struct pai_job_task_status {
  size_t struct_size;
  int state;            /**< PAI_STATE_* */
  const char *substate; /**< one of FrameworkController's nine states */
  int code;             /**< completion code of its last end */
  uint32_t role, index;
  uint32_t retries; /**< retries in this attempt */
  uint32_t counted; /**< retries that count against the limit */
  int removed;      /**< 1: removed by rescaling */
} pai_job_task_status;

typedef struct pai_job_role_status {
  size_t struct_size;
  uint32_t tasks; /**< current number of tasks */
  uint32_t succeeded, failed;
} pai_job_role_status;

/** @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_job_look(const pai_job *job, pai_job_status *status);
/** @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_job_look_task(const pai_job *job, uint32_t task,
                              pai_job_task_status *status);
/** @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_job_look_role(const pai_job *job, uint32_t role,
                              pai_job_role_status *status);

/* --- saving -------------------------------------------------------------- */

/** Writes the state of a job as bytes, in a format that does not depend on the
 *  machine.
 *  @return PAI_OK; PAI_ENOMEM; or the return value of @p write  @since 0.1 */
PAI_API PAI_NODISCARD int pai_job_save(const pai_job *job, pai_write_cb write,
                                       void *user_data, pai_error **err);

/**
 * Creates a job from the bytes of pai_job_save().  It continues exactly as the
 * saved job would have.  Actions that were fetched before the save are not
 * repeated: carry them out before saving, or record them.
 *
 * @param alloc  NULL: malloc; copied
 * @return PAI_OK; PAI_EINVAL: not the bytes of a job; PAI_ENOTSUP: written by
 *         a newer version; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_load(pai_job **out, const void *bytes,
                                       size_t len, const pai_alloc *alloc,
                                       pai_error **err);

/* --- the exit spec ------------------------------------------------------------- */

/** Meaning of a completion code.  Strings are static. */
typedef struct pai_exit_view {
  size_t struct_size;
  int code;           /**< code of the entry; 256 and -8000 are the entries for
                           unknown codes above and below 0 */
  const char *phrase; /**< such as "ContainerSigKillReceived" */
  const char *issuer, *causer, *type, *stage;
  const char *behavior; /**< "TRANSIENT", "TRANSIENT_CONFLICT", "PERMANENT",
                             "UNKNOWN" */
  const char *reaction; /**< "ALWAYS_RETRY", ... */
  const char *reason;   /**< a sentence for people */
  const char *solution; /**< a sentence for people, or NULL */
} pai_exit_view;

/** Finds the entry of a code, or the entry for unknown codes of its sign.
 *  @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_exit_find(pai_exit_view *view, int code);

/** Gets entry @p i, from 0, in the order in which entries are tried on a
 *  failure.
 *  @return PAI_OK; PAI_ENOTFOUND: no more; PAI_EINVAL: bad struct_size
 *  @since 0.1 */
PAI_API int pai_exit_at(pai_exit_view *view, size_t i);

/**
 * Writes the entry of a code as in OpenPAI's REST API, including `pattern`: an
 * object on one line, with @p code as its code.
 * @return PAI_OK; PAI_ENOMEM; or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_exit_write(int code, pai_write_cb write,
                                         void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_JOB_H */
