/**
 * @file openpai/job.h
 * The life of a job: what happens goes in, what is to be done comes out, and
 * the state is there to be looked at.  It is what a platform drives each of
 * its jobs with; a program that starts tasks in a way of its own can do so,
 * too.
 *
 *   pai_job_new(&job, spec, NULL, &err);
 *   do {
 *     while (pai_job_next(job, 1, &action) == 1)
 *       ...                                  the caller does it
 *     ...                                    and waits for what happens
 *   } while (pai_job_send(job, &event, &err) == PAI_OK);
 *
 * Whether a job is decided, what is tried again and when, what is stopped
 * meanwhile, is OpenPAI's: the completion policy of its task roles, the table
 * of retries, the exit spec.
 *
 * It reads no clock, opens no file and starts nothing: times are the caller's,
 * in the order of events; delays that are drawn at random depend on the seed.
 * The same events give the same actions on every machine.
 *
 * Tasks are numbered from 0, role by role, those that come by a change of size
 * behind all others; a task keeps its number.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_JOB_H
#define OPENPAI_JOB_H

#include <openpai/spec.h>

PAI_BEGIN_DECLS

typedef struct pai_job pai_job; /**< opaque; pai_job_free() */

/** State of a job, or of one task of it. */
enum {
  PAI_STATE_WAITING = 1, /**< not placed, or placed and not yet running */
  PAI_STATE_RUNNING = 2,
  PAI_STATE_STOPPING = 3,
  PAI_STATE_SUCCEEDED = 4, /**< this and the following are final */
  PAI_STATE_FAILED = 5,
  PAI_STATE_STOPPED = 6 /**< ended on request, or because the job was over */
};

/** Completion codes that a job gives its tasks itself. */
enum {
  PAI_CODE_NOT_STARTED = -200, /**< for callers: the task cannot be started */
  PAI_CODE_STOPPED = -210,     /**< the job was stopped */
  PAI_CODE_JOB_OVER = -220,    /**< it was decided without this task */
  PAI_CODE_REMOVED = -230,     /**< its role has fewer tasks now */
  PAI_CODE_TIME_LIMIT = -240,  /**< it ran for its time limit.  @since 0.1 */
  PAI_CODE_DEPENDENCY = -250   /**< a job that it waited for ended in another
                                    way than it wanted.  @since 0.1 */
};

enum { PAI_JOB_MAX_TASKS = 1 << 20 /**< of one task role */ };

/** Retries that no retry count limits, of one job or of one task in an attempt:
 *  those after a failure that OpenPAI calls transient, and those of the retry
 *  counts -1 and -2.  After so many the failure is final. */
enum { PAI_JOB_MAX_RETRIES = 100 };

/** Number of no task. */
#define PAI_NO_TASK UINT32_MAX

/** Options; zero-fill, or use PAI_JOB_OPTIONS_INIT. */
typedef struct pai_job_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  uint64_t seed;          /**< of delays */
  int gang; /**< 1: all tasks start together, whatever the file says */
  int raw;  /**< 1: codes above 0 are what commands ended with, and nobody has
                 looked into why (pai_exit_find()): they mean nothing but
                 failure, so that none of them is always tried again, or
                 never */
  int
    own_signals; /**< 1: a signal that ended a command (codes 130, 131, 137 and 143)
                  was not the platform's, which reports what it ends itself by
                  codes below 0: such a failure is retried as jobRetryCount
                  says, and not as a transient one */
} pai_job_options;

#define PAI_JOB_OPTIONS_INIT                  \
  {                                           \
    sizeof(pai_job_options), NULL, 0, 0, 0, 0 \
  }

/**
 * Makes a job that waits for room.
 *
 * @param[out] out  the job, owned by the caller; NULL on failure
 * @param spec      what it is to be; not kept
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

/* --- what happens --------------------------------------------------------- */

enum {
  PAI_JOB_PLACED = 1,       /**< tasks have room; count 0: all that wait */
  PAI_JOB_TASK_STARTED = 2, /**< tasks */
  PAI_JOB_TASK_ENDED = 3,   /**< tasks, code */
  PAI_JOB_PREEMPTED = 4,    /**< the room of tasks is wanted back; count 0: of
                                 all.  It costs no retry */
  PAI_JOB_STOP = 5,         /**< the user asked; a second time: at once */
  PAI_JOB_IMPATIENT = 6,    /**< what was asked to stop took too long */
  PAI_JOB_DUE = 7           /**< the time of PAI_JOB_DO_WAIT has come */
};

typedef struct pai_job_event {
  size_t struct_size;
  int kind;             /**< PAI_JOB_* */
  uint32_t task, count; /**< tasks [task, task + count) */
  int code; /**< of an end: its completion code, 0 if it went well; of a stop:
                 what the job is to end with, 0: PAI_CODE_STOPPED */
  pai_time time; /**< from -INT64_MAX / 4 to INT64_MAX / 4 */
} pai_job_event;

/**
 * Tells what has happened.
 * @return PAI_OK; PAI_EINVAL: that cannot be, as the end of a task that was
 *         not started; nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_send(pai_job *job,
                                       const pai_job_event *event,
                                       pai_error **err);

/**
 * From now on role @p role has @p tasks tasks.  New ones ask for room alone,
 * unless all of them wait for it together; of too many the last ones are
 * stopped, and end with PAI_CODE_REMOVED.
 *
 * @return PAI_OK; PAI_EINVAL: no such role, or the job is over; PAI_EBUSY: it
 *         is being stopped or preempted, and this can be done when it waits
 *         again; PAI_ENOMEM; then nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_rescale(pai_job *job, uint32_t role,
                                          uint32_t tasks, pai_time time,
                                          pai_error **err);

/* --- what is to be done ---------------------------------------------------- */

enum {
  PAI_JOB_DO_QUEUE = 1,   /**< ask for room */
  PAI_JOB_DO_RETURN = 2,  /**< give the room back, and wait for it again; not
                               before `until`, if that is not 0 */
  PAI_JOB_DO_RELEASE = 3, /**< give the room back, or ask for it no more */
  PAI_JOB_DO_RESUME = 4,  /**< what was returned may have room again */
  PAI_JOB_DO_WAIT = 5,    /**< send PAI_JOB_DUE at `until`; a later one counts
                               instead of those before */
  PAI_JOB_DO_FINISH = 6,  /**< the job is over: state and code are final */
  PAI_JOB_DO_START = 7,   /**< start tasks */
  PAI_JOB_DO_STOP = 8,    /**< ask tasks to end */
  PAI_JOB_DO_KILL = 9     /**< end tasks now */
};

/** Of tasks [task, task + count), or of the whole job.  A gang is queued,
 *  returned, resumed and released as a whole.  A partial job that is tried
 *  again is returned as a whole, too; what is to be done about its tasks'
 *  rooms follows, one by one. */
typedef struct pai_job_action {
  size_t struct_size;
  int kind;  /**< PAI_JOB_DO_* */
  int whole; /**< 1: the whole job */
  uint32_t task, count;
  pai_time until;
} pai_job_action;

/**
 * The next thing to do.  All of them need not be taken at once: what has
 * become pointless meanwhile is left out.
 *
 * @param most  for so many tasks at most; at least 1
 * @return 1; 0: there is nothing; PAI_EINVAL: bad struct_size
 * @since 0.1
 */
PAI_API int pai_job_next(pai_job *job, uint32_t most, pai_job_action *action);

/* --- looking --------------------------------------------------------------- */

/** How a job is.  Strings are static. */
typedef struct pai_job_status {
  size_t struct_size;
  int state;            /**< PAI_STATE_* */
  const char *substate; /**< one of FrameworkController's nine */
  int code;             /**< meaningful in a final state */
  uint32_t attempt;     /**< from 0 */
  uint32_t retries;     /**< decided so far, */
  uint32_t counted;     /**< of them those that count against the limit, */
  uint32_t preempted;   /**< and how often its room was taken */
  uint32_t roles, tasks;
  uint32_t alive;   /**< tasks that were handed out to be started, and have not
                         ended */
  uint32_t trigger; /**< the task that decided, or PAI_NO_TASK */
} pai_job_status;

typedef struct pai_job_task_status {
  size_t struct_size;
  int state;            /**< PAI_STATE_* */
  const char *substate; /**< one of FrameworkController's nine */
  int code;             /**< of the last time it ended */
  uint32_t role, index;
  uint32_t retries; /**< in this attempt, */
  uint32_t counted; /**< of them those that count against the limit */
  int removed;      /**< 1: its role has fewer tasks now */
} pai_job_task_status;

typedef struct pai_job_role_status {
  size_t struct_size;
  uint32_t tasks; /**< as it is to be */
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

/* --- keeping ----------------------------------------------------------------- */

/** Writes all of a job's state as bytes, which are the same on every machine.
 *  @return PAI_OK; PAI_ENOMEM; or what @p write answered  @since 0.1 */
PAI_API PAI_NODISCARD int pai_job_save(const pai_job *job, pai_write_cb write,
                                       void *user_data, pai_error **err);

/**
 * Makes a job of what pai_job_save() has written; it goes on exactly as that
 * one would have.  What was handed out and not carried out is lost with the
 * process that was to do it: who saves a job takes all its actions first, or
 * keeps book of them.
 *
 * @param alloc  NULL: malloc; copied
 * @return PAI_OK; PAI_EINVAL: not such bytes; PAI_ENOTSUP: a newer version
 *         wrote them; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_job_load(pai_job **out, const void *bytes,
                                       size_t len, const pai_alloc *alloc,
                                       pai_error **err);

/* --- the exit spec ------------------------------------------------------------- */

/** What a completion code means.  Strings are static. */
typedef struct pai_exit_view {
  size_t struct_size;
  int code;           /**< of the entry: 256, -8000 stand for all that have
                           none, above and below 0 */
  const char *phrase; /**< "ContainerSigKillReceived" */
  const char *issuer, *causer, *type, *stage;
  const char *behavior; /**< "TRANSIENT", "TRANSIENT_CONFLICT", "PERMANENT",
                             "UNKNOWN" */
  const char *reaction; /**< "ALWAYS_RETRY", ... */
  const char *reason;   /**< a sentence for people */
  const char *solution; /**< likewise; or NULL */
} pai_exit_view;

/** The entry of a code, or the one for codes of its sign that have none.
 *  @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_exit_find(pai_exit_view *view, int code);

/** Entry @p i, from 0, in the order in which they are tried on a failure.
 *  @return PAI_OK; PAI_ENOTFOUND: no more; PAI_EINVAL: bad struct_size
 *  @since 0.1 */
PAI_API int pai_exit_at(pai_exit_view *view, size_t i);

/**
 * Writes the entry of a code as OpenPAI's REST API has it, `pattern` included:
 * an object on one line, with the code that was asked for.
 * @return PAI_OK; PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_exit_write(int code, pai_write_cb write,
                                         void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_JOB_H */
