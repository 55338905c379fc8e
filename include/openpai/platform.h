/**
 * @file openpai/platform.h
 * The platform on one machine: takes job specs, finds each job its place,
 * runs its tasks as processes of this user, and tells what happens.
 *
 * Tasks' ends are learnt through libuv, which handles SIGCHLD: a handler that
 * the host had is not called any more, one that it sets later keeps jobs from
 * ending, and so does blocking the signal in all threads.  Tasks have sessions
 * of their own: Ctrl-C on a terminal does not reach them, and they outlive a
 * host that dies without closing its platform.  Each takes three descriptors
 * of the host's.  A host that limits the size of files ignores SIGXFSZ.
 *
 * Threads: LOOP.  Callbacks come on the loop's thread, from the loop, never
 * from inside a call of this header; in them anything may be called here but
 * running the loop.
 */
#ifndef OPENPAI_PLATFORM_H
#define OPENPAI_PLATFORM_H

#include <openpai/loop.h>
#include <openpai/spec.h>

PAI_BEGIN_DECLS

typedef struct pai_platform pai_platform; /**< opaque; pai_platform_close() */
typedef struct pai_event pai_event;       /**< borrowed during a callback */
typedef uint64_t pai_job_id;              /**< never 0, never used twice */

/** State of a job, or of one task of it. */
enum {
  PAI_STATE_WAITING = 1, /**< not placed, or placed and not yet running */
  PAI_STATE_RUNNING = 2,
  PAI_STATE_STOPPING = 3,
  PAI_STATE_SUCCEEDED = 4, /**< this and the following are final */
  PAI_STATE_FAILED = 5,
  PAI_STATE_STOPPED = 6 /**< ended on request, or because the job was over */
};

/** What a pai_event tells. */
enum {
  PAI_EVENT_JOB = 1,   /**< the job's state changed */
  PAI_EVENT_TASK = 2,  /**< a task's state changed */
  PAI_EVENT_OUTPUT = 3 /**< a task wrote something */
};

/**
 * Receives every event, in order.  Answers 0 to go on; a negative number, as
 * PAI_EUSER, stops the job that the event is of, once and gracefully, and is
 * what pai_run() returns.
 */
typedef int (*pai_event_cb)(void *user_data, const pai_event *event);

/** Called once, last of all. */
typedef void (*pai_closed_cb)(void *user_data);

/** Options of pai_platform_new(); or use PAI_PLATFORM_OPTIONS_INIT. */
typedef struct pai_platform_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *root;       /**< folder of all jobs; NULL: this user's own,
                               $XDG_STATE_HOME/openpai or, without that,
                               ~/.local/state/openpai; made if missing */
  pai_event_cb on_event;  /**< NULL: nobody listens */
  pai_log_cb on_log;      /**< NULL: no log lines */
  void *user_data;        /**< of both callbacks */
  uint64_t seed;          /**< of ports and of delays drawn at random; 0:
                               another one each time */
} pai_platform_options;

#define PAI_PLATFORM_OPTIONS_INIT                  \
  {                                                \
    sizeof(pai_platform_options), 0, 0, 0, 0, 0, 0 \
  }

/**
 * Starts a platform on @p loop.
 *
 * @param[out] out  the platform, owned by the caller; NULL on failure
 * @param loop      must outlive the platform
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for a bad or newer struct_size,
 *         or an empty root; PAI_EIO, PAI_EPERM, PAI_ENOTFOUND or PAI_EEXISTS: the root cannot be
 *         made, or is no folder; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_new(pai_platform **out, pai_loop *loop,
                                           const pai_platform_options *opts,
                                           pai_error **err);

/**
 * Ends a platform: ends all tasks at once, with SIGKILL, waits for them, calls
 * @p closed, and frees itself.  Until then events are told, and everything but
 * pai_platform_submit() may be called; afterwards nothing.  Who wants tasks to
 * end gracefully stops their jobs first.  NULL is allowed.
 * @param closed  NULL, or called once, last, from the loop.  Of several calls
 *                the first that has one counts
 * @since 0.1
 */
PAI_API void pai_platform_close(pai_platform *platform, pai_closed_cb closed,
                                void *user_data);

/**
 * Takes a job.  It starts when the loop runs and there is room; its tasks
 * start one after the other, and the loop goes on meanwhile.
 *
 * @param[out] job   its id; 0 on failure
 * @param spec       the platform keeps a reference
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: the job is valid and yet cannot be run, as one
 *         that asks for -1 GPUs; PAI_ENOROOM: it asks for more than this
 *         machine has;
 *         PAI_EIO or PAI_EPERM: its folder cannot be made; PAI_ENOMEM;
 *         PAI_EBUSY: the platform is closing
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_submit(pai_job_id *job,
                                              pai_platform *platform,
                                              pai_spec *spec, pai_error **err);

/**
 * Asks a job to end: its tasks get SIGTERM, and SIGKILL after a grace time of
 * five seconds, or at once when asked a second time.
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it is over
 * @since 0.1
 */
PAI_API int pai_platform_stop(pai_platform *platform, pai_job_id job);

/**
 * Frees what the platform knows of a job that is over, which is otherwise
 * kept as long as the platform.  Its folder stays.
 * @return PAI_OK; PAI_ENOTFOUND: no such job; PAI_EBUSY: it is not over, or
 *         that was not told yet
 * @since 0.1
 */
PAI_API int pai_platform_forget(pai_platform *platform, pai_job_id job);

/**
 * The job's state.
 *
 * @param[out] code  its completion code, meaningful in a final state: 0
 *                   success, 1..255 the deciding task's exit code, negative
 *                   the platform's; NULL is allowed
 * @return its PAI_STATE_*; PAI_ENOTFOUND: no such job
 * @since 0.1
 */
PAI_API int pai_platform_job_state(int *code, const pai_platform *platform,
                                   pai_job_id job);

/** The folder with the job's logs, or NULL.  @since 0.1 */
PAI_API const char *pai_platform_job_dir(const pai_platform *platform,
                                         pai_job_id job);

/** PAI_EVENT_*.  @since 0.1 */
PAI_API int pai_event_type(const pai_event *event);

/** The job it belongs to.  @since 0.1 */
PAI_API pai_job_id pai_event_job(const pai_event *event);

/** The platform's time of it.  @since 0.1 */
PAI_API pai_time pai_event_time(const pai_event *event);

/** PAI_STATE_* of the job or task; 0 for output.  @since 0.1 */
PAI_API int pai_event_state(const pai_event *event);

/** Completion code, in final states.  @since 0.1 */
PAI_API int pai_event_code(const pai_event *event);

/** Role of the task; NULL for a job's event.  @since 0.1 */
PAI_API const char *pai_event_role(const pai_event *event);

/** Index of the task in its role.  @since 0.1 */
PAI_API uint32_t pai_event_index(const pai_event *event);

/** Which attempt of the job, from 0.  @since 0.1 */
PAI_API uint32_t pai_event_attempt(const pai_event *event);

/** 1 standard output, 2 standard error; 0 unless output.  @since 0.1 */
PAI_API int pai_event_stream(const pai_event *event);

/** Output: its bytes, any cut of the stream.  Else: one line for a person,
 *  the reason of a state, or "".  @p len may be NULL.  @since 0.1 */
PAI_API const char *pai_event_text(const pai_event *event, size_t *len);

/** "waiting", "running", "stopping", "succeeded", "failed", "stopped"; "?" for
 *  any other.  @since 0.1 */
PAI_API const char *pai_state_name(int state);

/**
 * Runs one job to its end, on a loop of its own: the blocking form of all of
 * the above.  To stop it while it says nothing, use those instead.
 *
 * @param[out] code  the job's completion code; NULL is allowed
 * @param spec       the job
 * @param opts       options, or NULL for defaults; not kept
 * @param[out] err   NULL, or receives the error of a failure
 * @return the final PAI_STATE_*; what on_event answered, when that was
 *         negative and the job is over; else as pai_loop_new(),
 *         pai_platform_new() and pai_platform_submit()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_run(int *code, pai_spec *spec,
                                  const pai_platform_options *opts,
                                  pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_PLATFORM_H */
