/**
 * @file openpai/platform.h
 * The platform on one machine: accepts jobs, schedules them, runs their tasks
 * as processes, in a sandbox or in containers, and reports events.
 *
 * Signals: the platform learns of the end of a task from a pidfd (from a timer
 * if the kernel has no pidfds), not from SIGCHLD, so the host may handle,
 * ignore or block SIGCHLD.  libuv installs its own SIGCHLD handler in
 * pai_loop_new(): a handler that was set before is no longer called; a handler
 * that is set afterwards is called.  A host that limits the size of files must
 * ignore SIGXFSZ.  Threads that libraries start (libuv's pool, and libcurl's
 * during a name lookup) block all signals except those that a thread itself
 * causes.
 *
 * Tasks run in their own sessions: Ctrl-C on a terminal does not reach them,
 * and they outlive a host that dies without closing its platform.  The next
 * platform of the same root adopts them if it is durable.  Each task takes up
 * to three descriptors of the host.
 *
 * Threads: LOOP.  Callbacks are called from the loop, on its thread, never
 * from inside a function of this header.  A callback may call every function
 * except those that run the loop.
 */
#ifndef OPENPAI_PLATFORM_H
#define OPENPAI_PLATFORM_H

#include <openpai/job.h>
#include <openpai/loop.h>

PAI_BEGIN_DECLS

typedef struct pai_platform pai_platform; /**< opaque; pai_platform_close() */
typedef struct pai_event pai_event;       /**< valid during the callback */
typedef uint64_t pai_job_id;              /**< never 0, never reused */

/** Types of a pai_event. */
enum {
  PAI_EVENT_JOB = 1,   /**< the job's state changed */
  PAI_EVENT_TASK = 2,  /**< a task's state changed */
  PAI_EVENT_OUTPUT = 3 /**< a task wrote output */
};

/**
 * Receives every event, in order.  Returns 0 to continue.  A negative number,
 * such as PAI_EUSER, stops the job of the event gracefully; pai_run() then
 * returns this number.
 */
typedef int (*pai_event_cb)(void *user_data, const pai_event *event);

/** Called once, after all other callbacks. */
typedef void (*pai_closed_cb)(void *user_data);

/** Options of pai_platform_new(); or use PAI_PLATFORM_OPTIONS_INIT. */
typedef struct pai_platform_options {
  size_t struct_size;
  const pai_alloc *alloc;   /**< NULL: malloc; copied */
  const char *root;         /**< folder of all jobs, created if missing; NULL:
                                 $XDG_STATE_HOME/openpai or, if that is not
                                 set, ~/.local/state/openpai */
  pai_event_cb on_event;    /**< NULL: no events */
  pai_log_cb on_log;        /**< NULL: no log lines */
  void *user_data;          /**< passed to both callbacks */
  uint64_t seed;            /**< seed of ports and random delays; 0: a new one
                                 each time */
  int durable;              /**< 1: jobs are kept in the root's database and
                                 outlive this process: the next platform of the
                                 same root continues them */
  const char *user;         /**< owner of the jobs; NULL: the user of this
                                 process */
  const char *runtime;      /**< runtime of tasks whose job names none: "auto",
                                 "process", "bwrap", "podman" or "docker";
                                 NULL: "auto" */
  const char *task_program; /**< path of the supervisor, openpai-task; NULL:
                                 search for it */
  pai_time keep_time;       /**< jobs that ended longer ago are removed with
                                 their logs; 0: never */
  uint64_t keep_bytes;      /**< most bytes of all logs; above this, the jobs
                                 that ended first are removed, but no job
                                 within the minute after its end; 0: no
                                 limit */
  const char *policy;       /**< name of a built-in policy (openpai/policy.h);
                                 NULL: "fifo".  All policies except "fifo" use
                                 priorities, from jobPriorityClass of
                                 hivedScheduler */
  int system;               /**< 1: a durable platform for all users of this
                                 machine, which must run as root: a job runs as
                                 its user (pai_submit_options.user) with only
                                 that user's rights */
  void (*on_gone)(void *user_data); /**< called once, from the loop, when the
                                         root of a durable platform was
                                         deleted: clients cannot find the
                                         platform any more, and jobs do not
                                         outlive this process.  The watch keeps
                                         the loop alive.  NULL: the root is not
                                         watched */
  int wait_impossible;  /**< 1: a job that asks for more than the machine or
                             its virtual cluster has is accepted, and waits
                             with that reason until there is enough; 0: such a
                             job is refused with PAI_ENOROOM */
  const char *address;  /**< address of this machine's tasks for other
                             machines, shown as containerIp; at most 45 bytes.
                             NULL: 127.0.0.1 */
  const char *pass_env; /**< names of further environment variables of this
                             process that are passed to tasks, as
                             pai_backend_host.pass_env.  NULL:
                             $OPENPAI_PASS_ENV */
  uint64_t keep_jobs;   /**< number of finished jobs to keep: the jobs that
                             ended last.  Every job is kept for a minute after
                             its end; 0: any number */
} pai_platform_options;

#define PAI_PLATFORM_OPTIONS_INIT                                           \
  {                                                                         \
    sizeof(pai_platform_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0                                                         \
  }

/** Handling of a job that asks for more than the total capacity. */
enum {
  PAI_IMPOSSIBLE_AS_PLATFORM = 0, /**< as
                                       pai_platform_options.wait_impossible */
  PAI_IMPOSSIBLE_REFUSED = 1,     /**< refused with PAI_ENOROOM */
  PAI_IMPOSSIBLE_WAITS = 2        /**< the job waits */
};

/** Options of pai_platform_submit_as(). */
typedef struct pai_submit_options {
  size_t struct_size;
  const char *user;     /**< owner of the job; NULL: the platform's user */
  const char *name;     /**< name of the job; NULL: as in its file */
  const char *text;     /**< the job's file, stored with secrets masked; NULL:
                             the text of pai_spec_write() */
  const char *code_dir; /**< the job's own copy of the user's code, the working
                             folder of its commands.  The platform takes it
                             over, and moves it if it lies in the root.  NULL:
                             none */
  const char *work_dir; /**< working folder of the commands if there is no
                             code; NULL: that of this process.  On a platform
                             for all users: an absolute path, or NULL for / */
  pai_job_id like;      /**< durable platforms only: an existing job to clone.
                             The new job uses its working folder if neither
                             code_dir nor work_dir is set; the code of a job
                             with code must be copied first, see
                             pai_platform_copy_code().  As long as the existing
                             job is live, its secrets replace those masked in
                             the new job's file.  0: none */
  int impossible;       /**< PAI_IMPOSSIBLE_* */
} pai_submit_options;

#define PAI_SUBMIT_OPTIONS_INIT                     \
  {                                                 \
    sizeof(pai_submit_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/** Called with PAI_OK when all earlier changes are in the database, or with
 *  the error of the commit.  After an error, jobs submitted since the last
 *  commit are not accepted; all other changes are written as soon as the
 *  database can be written again. */
typedef void (*pai_sync_cb)(void *user_data, int status, const pai_error *err);

/** A listener of pai_platform_listen(). */
typedef struct pai_listener pai_listener;

/** A follower of pai_platform_follow(). */
typedef struct pai_follower pai_follower;

/**
 * Starts a platform on @p loop.
 *
 * @param[out] out  the platform, owned by the caller; NULL on failure
 * @param loop      must outlive the platform
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for a bad or newer struct_size, an
 *         empty root or an unknown runtime; PAI_EIO, PAI_EPERM, PAI_ENOTFOUND
 *         or PAI_EEXISTS: the root cannot be created, or is not a folder;
 *         PAI_ENOTFOUND: no such policy; PAI_ENOMEM.  If durable: PAI_EBUSY:
 *         another process, named in the message, uses the root; PAI_EIO: the
 *         database is damaged, and was not changed; PAI_ENOTSUP: a newer
 *         version wrote the database
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_new(pai_platform **out, pai_loop *loop,
                                           const pai_platform_options *opts,
                                           pai_error **err);

/**
 * Closes a platform: kills all tasks with SIGKILL, waits for them, calls
 * @p closed, and frees the platform.  Until @p closed is called, events are
 * delivered, and all functions except pai_platform_submit() may be called;
 * afterwards none.  To end tasks gracefully, stop their jobs first.  NULL is
 * allowed.
 * @param closed  NULL, or called once, last, from the loop.  If the function
 *                is called several times, the first @p closed that is not NULL
 *                is used
 * @since 0.1
 */
PAI_API void pai_platform_close(pai_platform *platform, pai_closed_cb closed,
                                void *user_data);

/**
 * Closes a platform as pai_platform_close(), but leaves the tasks of a durable
 * platform running: the next platform of the same root adopts them, with their
 * output and their results.
 * @since 0.1
 */
PAI_API void pai_platform_leave(pai_platform *platform, pai_closed_cb closed,
                                void *user_data);

/**
 * Submits a job.  It starts from the loop when there is free capacity.  Its
 * tasks start one after the other, without blocking the loop.
 *
 * @param[out] job   its id; 0 on failure
 * @param spec       the job; the platform keeps a reference
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: the job is valid but cannot be run, such as one
 *         that asks for -1 GPUs; PAI_ENOROOM: it asks for more than this
 *         machine has, and wait_impossible is not set; PAI_EIO or PAI_EPERM:
 *         its folder cannot be created, or the database cannot be written now;
 *         PAI_ENOMEM; PAI_EBUSY: the platform is closing
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_submit(pai_job_id *job,
                                              pai_platform *platform,
                                              pai_spec *spec, pai_error **err);

/**
 * Submits a job with options.  On a durable platform, the job is accepted, and
 * may start, when a following pai_platform_sync() calls back with PAI_OK; from
 * then on it survives a crash.
 * @return as pai_platform_submit(); PAI_EEXISTS: the user has a job of that
 *         name; PAI_EINVAL: an invalid user or job name, or a masked secret
 *         whose value is not known; PAI_ENOTFOUND: no such folder, or the job
 *         `like` cannot be cloned
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_submit_as(
  pai_job_id *job, pai_platform *platform, pai_spec *spec,
  const pai_submit_options *opts, pai_error **err);

/**
 * Calls @p cb from the loop when all changes and events so far are in the
 * database, and, if the disk is full, the files of jobs that were removed are
 * deleted.  Without a database it is called from the loop at once.
 * @return PAI_OK; PAI_ENOMEM: @p cb will not be called
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_sync(pai_platform *platform,
                                            pai_sync_cb cb, void *user_data);

/**
 * Keeps a text in the platform's database, e.g. the state of a host that must
 * survive a restart; it replaces an earlier text of that name.  The change is
 * durable when pai_platform_sync() calls back with PAI_OK.
 * @param name  1 to 64 of a-z 0-9 _ - .
 * @param text  NULL: forget it
 * @return PAI_OK; PAI_EINVAL: invalid name; PAI_ENOTSUP: the platform has no
 *         database; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_keep_text(pai_platform *platform,
                                                 const char *name,
                                                 const char *text,
                                                 pai_error **err);
/** Writes the durable text of that name.
 *  @return PAI_OK; PAI_EINVAL: invalid name; PAI_ENOTFOUND: there is none;
 *          PAI_ENOTSUP; PAI_EIO; PAI_ENOMEM; the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_kept_text(pai_platform *platform,
                                                 const char *name,
                                                 pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/**
 * Registers a callback for the events of one job, or of all jobs with job 0,
 * in addition to pai_platform_options.on_event.  The return value of @p cb is
 * ignored.  Events are delivered when they are durable.  A durable platform
 * has no events for output; see pai_log_open().
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_listen(pai_listener **out,
                                              pai_platform *platform,
                                              pai_job_id job, pai_event_cb cb,
                                              void *user_data,
                                              pai_error **err);

/** Frees a listener.  NULL is allowed.  @since 0.1 */
PAI_API void pai_platform_unlisten(pai_listener *listener);

/**
 * Follows the log of the platform's scheduler: its events and decisions are
 * queued for the follower as lines of JSON (docs/internals/sched-log.md).  The
 * first line is a snapshot.  A scheduler that pai_sched_load() makes from it,
 * and that receives the other lines by pai_sched_send_json(), makes the same
 * decisions.  A shadow policy can be tried on it (PAI_SCHED_SHADOW,
 * pai_sched_shadow()) without effect on the platform.
 *
 * @param[out] out  the follower, owned by the caller; it may outlive the
 *                  platform; NULL on failure
 * @return PAI_OK; PAI_ENOTSUP: the policy has no log; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_follow(pai_follower **out,
                                              pai_platform *platform,
                                              pai_error **err);

/**
 * Writes the lines since the previous call, complete and without waiting.  If
 * more than 64 MiB are unread, or memory runs out, lines are dropped; the next
 * line is then a new snapshot, and the log continues from it.
 * @param write  receives the lines; must not unfollow; if it fails, the lines
 *               are lost
 * @return 1: more lines may come; 0: the platform is closed, and these were
 *         the last lines; PAI_ENOMEM; the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_follower_read(pai_follower *follower,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** Frees a follower.  NULL is allowed.  @since 0.1 */
PAI_API void pai_platform_unfollow(pai_follower *follower);

/**
 * Stops a job: its tasks get SIGTERM, and SIGKILL after a grace period of five
 * seconds, or immediately on a second call.
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it is over
 * @since 0.1
 */
PAI_API int pai_platform_stop(pai_platform *platform, pai_job_id job);

/**
 * Changes the number of tasks of a role of a live job.  Each new task starts
 * when there is free capacity for it.  Excess tasks, the last ones, are
 * stopped; they are not retried and do not count for the completion policy.  A
 * waiting gang is placed with its new number of tasks; tasks added to a
 * running gang are placed alone.  If the completion policy required all tasks
 * of the role to succeed, it requires all of the new number.
 *
 * @param role      name of the task role in the job's file
 * @param tasks     1 to PAI_JOB_MAX_TASKS
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: no such job or role, or the job is over;
 *         PAI_EINVAL: invalid number of tasks; PAI_EBUSY: the job's tasks are
 *         being stopped; PAI_ENOROOM: a gang of that size cannot run here;
 *         PAI_ENOMEM.  After a failure nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_rescale(pai_platform *platform,
                                               pai_job_id job,
                                               const char *role,
                                               uint32_t tasks,
                                               pai_error **err);

/**
 * Removes a finished job from memory; otherwise it is kept as long as the
 * platform.  A durable platform also removes the job's folder and its rows in
 * the database; other platforms leave the folder.
 * @return PAI_OK; PAI_ENOTFOUND: no such job; PAI_EBUSY: it is not over, or
 *         the event of its end was not delivered yet
 * @since 0.1
 */
PAI_API int pai_platform_forget(pai_platform *platform, pai_job_id job);

/**
 * Returns the state of a job.
 *
 * @param[out] code  its completion code in a final state, as pai_event_code():
 *                   0: success; negative: set by the platform; positive: exit
 *                   code of the deciding task, or, on a durable platform, the
 *                   code of OpenPAI's exit spec for it, if there is one; NULL
 *                   is allowed
 * @return PAI_STATE_*; PAI_ENOTFOUND: no such job
 * @since 0.1
 */
PAI_API int pai_platform_job_state(int *code, const pai_platform *platform,
                                   pai_job_id job);

/** The folder of the job's logs, or NULL.  A durable platform creates it with
 *  the job's first task.  @since 0.1 */
PAI_API const char *pai_platform_job_dir(const pai_platform *platform,
                                         pai_job_id job);

/** PAI_EVENT_*.  @since 0.1 */
PAI_API int pai_event_type(const pai_event *event);

/** The job of the event.  @since 0.1 */
PAI_API pai_job_id pai_event_job(const pai_event *event);

/** Time of the event, by the platform's clock.  @since 0.1 */
PAI_API pai_time pai_event_time(const pai_event *event);

/** PAI_STATE_* of the job or task; 0 for output.  @since 0.1 */
PAI_API int pai_event_state(const pai_event *event);

/** Completion code in a final state.  If it is 255, which stands for codes
 *  that the exit spec does not know, the exit code of the task is returned
 *  instead.  @since 0.1 */
PAI_API int pai_event_code(const pai_event *event);

/** Role of the task; NULL for a job's event.  @since 0.1 */
PAI_API const char *pai_event_role(const pai_event *event);

/** Index of the task in its role.  @since 0.1 */
PAI_API uint32_t pai_event_index(const pai_event *event);

/** Number of the job's attempt, from 0.  @since 0.1 */
PAI_API uint32_t pai_event_attempt(const pai_event *event);

/** 1: standard output; 2: standard error; 0: not an output event.
 *  @since 0.1 */
PAI_API int pai_event_stream(const pai_event *event);

/** The bytes of an output event, which may begin or end anywhere in a line.
 *  For other events, a line for people with the reason of the state, or "".
 *  @p len may be NULL.  @since 0.1 */
PAI_API const char *pai_event_text(const pai_event *event, size_t *len);

/** The name of a state: "waiting", "running", "stopping", "succeeded",
 *  "failed", "stopped"; "?" for any other value.  @since 0.1 */
PAI_API const char *pai_state_name(int state);

/**
 * Runs one job to its end on a new loop, and blocks until then.  The job can
 * be stopped only by on_event; use the functions above to stop it at other
 * times.
 *
 * @param[out] code  the job's completion code; NULL is allowed
 * @param spec       the job
 * @param opts       options, or NULL for defaults; not kept
 * @param[out] err   NULL, or receives the error of a failure
 * @return the final PAI_STATE_*; the return value of on_event if that was
 *         negative; errors as of pai_loop_new(), pai_platform_new() and
 *         pai_platform_submit()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_run(int *code, pai_spec *spec,
                                  const pai_platform_options *opts,
                                  pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_PLATFORM_H */
