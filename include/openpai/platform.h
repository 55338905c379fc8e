/**
 * @file openpai/platform.h
 * The platform on one machine: takes job specs, finds each job its place, runs
 * its tasks as processes, in a sandbox or in containers, and tells what happens.
 *
 * Tasks' ends are told by descriptors (pidfd; a timer where the kernel has
 * none), not by SIGCHLD: a host may handle, ignore or block that as it likes.
 * libuv takes the signal when a loop of its own is made (pai_loop_new()): a
 * handler set before that is not called any more, one set after it is.  Tasks
 * have sessions of their own: Ctrl-C on a
 * terminal does not reach them, and they outlive a host that dies without
 * closing its platform; the next platform of the same root adopts them if it is
 * durable.  Each takes up to three descriptors of the host's.  A host that
 * limits the size of files ignores SIGXFSZ.  Threads beside the host's (libuv's
 * pool, and one of libcurl's while it looks a name up) have all signals blocked
 * but those that a thread itself causes.
 *
 * Threads: LOOP.  Callbacks come on the loop's thread, from the loop, never
 * from inside a call of this header; in them anything may be called here but
 * running the loop.
 */
#ifndef OPENPAI_PLATFORM_H
#define OPENPAI_PLATFORM_H

#include <openpai/job.h>
#include <openpai/loop.h>

PAI_BEGIN_DECLS

typedef struct pai_platform pai_platform; /**< opaque; pai_platform_close() */
typedef struct pai_event pai_event;       /**< borrowed during a callback */
typedef uint64_t pai_job_id;              /**< never 0, never used twice */

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
  const pai_alloc *alloc;   /**< NULL: malloc; copied */
  const char *root;         /**< folder of all jobs; NULL: this user's own,
                               $XDG_STATE_HOME/openpai or, without that,
                               ~/.local/state/openpai; made if missing */
  pai_event_cb on_event;    /**< NULL: nobody listens */
  pai_log_cb on_log;        /**< NULL: no log lines */
  void *user_data;          /**< of both callbacks */
  uint64_t seed;            /**< of ports and of delays drawn at random; 0:
                               another one each time */
  int durable;              /**< 1: jobs are kept in the root's database, and
                                 outlive this process: the next platform of
                                 the same root goes on with them */
  const char *user;         /**< whose jobs they are; NULL: this process's */
  const char *runtime;      /**< what tasks run in, unless their job says:
                                 "auto", "process", "bwrap", "podman" or
                                 "docker"; NULL: "auto" */
  const char *task_program; /**< the supervisor, openpai-task; NULL: it is
                                 looked for */
  pai_time keep_time;       /**< jobs that ended so long ago are forgotten
                                 with their logs; 0: never */
  uint64_t keep_bytes;      /**< the oldest of them are forgotten when all
                                 logs are larger; 0: never */
  const char *policy;       /**< a built-in one (openpai/policy.h) that says
                                 who is next; NULL: "fifo".  All but "fifo"
                                 are told priorities, by jobPriorityClass of
                                 hivedScheduler */
  int system;               /**< 1: a durable platform of all users of this
                                 machine, which only root may have: a job runs
                                 as its user (pai_submit_options.user) and
                                 with that user's rights alone */
  void (*on_gone)(void *user_data); /**< a durable platform's root was deleted:
                                 nobody finds it any more, and nothing outlives
                                 this process.  Called once, from the loop; who
                                 sets it keeps the loop alive.  NULL: nobody
                                 looks */
  int wait_impossible;  /**< 1: a job that asks for more than the machine
                                 has waits, with the reason, until the machine
                                 or its virtual cluster has that much; 0: it is
                                 refused with PAI_ENOROOM */
  const char *address;  /**< where others reach the tasks of this machine,
                                 as answers tell it (containerIp); at most 45
                                 bytes.  NULL: 127.0.0.1 */
  const char *pass_env; /**< names of variables of this process that tasks
                                 get beside the usual ones, as
                                 pai_backend_host.pass_env.  NULL:
                                 $OPENPAI_PASS_ENV */
  uint64_t keep_jobs;   /**< so many jobs that are over are kept, those that
                                 ended last; 0: any number */
} pai_platform_options;

#define PAI_PLATFORM_OPTIONS_INIT                                           \
  {                                                                         \
    sizeof(pai_platform_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0                                                         \
  }

/** What becomes of a job that asks for more than there is. */
enum {
  PAI_IMPOSSIBLE_AS_PLATFORM = 0, /**< as the platform's options say */
  PAI_IMPOSSIBLE_REFUSED = 1,     /**< it is refused with PAI_ENOROOM */
  PAI_IMPOSSIBLE_WAITS = 2        /**< it waits */
};

/** Options of pai_platform_submit_as(). */
typedef struct pai_submit_options {
  size_t struct_size;
  const char *user;     /**< NULL: the platform's */
  const char *name;     /**< NULL: as the job's file says */
  const char *text;     /**< the file, kept with secrets masked; NULL: as the
                             spec is written */
  const char *code_dir; /**< its own copy of the user's code, in which its
                             commands begin; it becomes the platform's: moved
                             if it lies in the root.  NULL: none */
  const char *work_dir; /**< where commands begin without code; NULL: this
                             process's working folder.  On a platform of all
                             users an absolute path, or NULL: / */
  pai_job_id like;      /**< of a durable platform: a job that this one is to
                             be like.  Its commands begin where that one's do,
                             if neither code nor folder is named; but of a job
                             with code that has to be copied before, see
                             pai_platform_copy_code().  While that one is not
                             over, its secrets take the place of those that are
                             masked in this one's file.  0: none */
  int impossible;       /**< PAI_IMPOSSIBLE_* */
} pai_submit_options;

#define PAI_SUBMIT_OPTIONS_INIT                     \
  {                                                 \
    sizeof(pai_submit_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/** Says that all that was asked for before is in the database: PAI_OK; or why
 *  it is not.  Then jobs that were submitted since the last commit are not
 *  taken after all; all else is done as soon as the database can be written
 *  again. */
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
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for a bad or newer struct_size,
 *         an empty root or a runtime that is none; PAI_EIO, PAI_EPERM,
 *         PAI_ENOTFOUND or PAI_EEXISTS: the root cannot be made, or is no
 *         folder; PAI_ENOTFOUND: there is no such policy; PAI_ENOMEM.  Of a durable one PAI_EBUSY: another process
 *         has the root, which the message names; PAI_EIO: the database is
 *         broken, and was left as it is; PAI_ENOTSUP: a newer version wrote it
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
 * As pai_platform_close(), but leaves the tasks of a durable platform running:
 * the next one of its root adopts them, with their output and their results.
 * @since 0.1
 */
PAI_API void pai_platform_leave(pai_platform *platform, pai_closed_cb closed,
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
 *         machine has, and is not to wait for that (wait_impossible);
 *         PAI_EIO or PAI_EPERM: its folder cannot be made, or the database
 *         cannot be written now; PAI_ENOMEM; PAI_EBUSY: the platform is
 *         closing
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_submit(pai_job_id *job,
                                              pai_platform *platform,
                                              pai_spec *spec, pai_error **err);

/**
 * As pai_platform_submit(), and says more.  Of a durable platform, the job is
 * accepted when pai_platform_sync() says so: then a crash does not lose it,
 * and it starts.
 * @return as pai_platform_submit(); PAI_EEXISTS: the user has a job of that
 *         name; PAI_EINVAL: a user or a job cannot have such a name, or
 *         secrets are masked that are not known; PAI_ENOTFOUND: there is no
 *         such folder, or no job that it can be like
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_submit_as(
  pai_job_id *job, pai_platform *platform, pai_spec *spec,
  const pai_submit_options *opts, pai_error **err);

/**
 * Calls back when all that this platform was asked for so far, and all that
 * has happened, is in the database; at once, from the loop, if it has none.
 * @return PAI_OK; PAI_ENOMEM: it will not call
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_sync(pai_platform *platform,
                                            pai_sync_cb cb, void *user_data);

/**
 * Receives the events of one job, or with job 0 of all, beside
 * pai_platform_options.on_event; its answer stops nothing.  Events are told
 * when they are durable; output is no event of a durable platform, see
 * pai_log_open().
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_listen(pai_listener **out,
                                              pai_platform *platform,
                                              pai_job_id job, pai_event_cb cb,
                                              void *user_data,
                                              pai_error **err);

/** Ends it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_platform_unlisten(pai_listener *listener);

/**
 * Follows the platform's scheduler: what it is told and when it decides is kept
 * for the follower, as lines of its log (docs/internals/sched-log.md).  The first
 * one is the scheduler as it is now.  So a scheduler of pai_sched_load() that is
 * told the others by pai_sched_send_json() decides as this one does, and another
 * policy may decide beside it (PAI_SCHED_SHADOW, pai_sched_shadow()): the
 * platform knows nothing of that.
 *
 * @param[out] out  owned by the caller, who may keep it longer than the platform;
 *                  NULL on failure
 * @return PAI_OK; PAI_ENOTSUP: the policy has no log; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_follow(pai_follower **out,
                                              pai_platform *platform,
                                              pai_error **err);

/**
 * Writes the lines that have come since the last time, at once and whole.  Of
 * 64 MiB that nobody reads, and without memory, lines are missed: then comes the
 * scheduler as it is by now, and lines from there on.
 * @param write  must not end the follower; if it fails, the lines are missed
 * @return 1: more may come; 0: the platform is gone, and these were the last
 *         ones; PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_follower_read(pai_follower *follower,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** Ends it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_platform_unfollow(pai_follower *follower);

/**
 * Asks a job to end: its tasks get SIGTERM, and SIGKILL after a grace time of
 * five seconds, or at once when asked a second time.
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it is over
 * @since 0.1
 */
PAI_API int pai_platform_stop(pai_platform *platform, pai_job_id job);

/**
 * From now on a task role of a live job has so many tasks.  New ones start as
 * there is room for each; of too many the last ones are asked to end, count no
 * more, and are tried no more.  A gang that waits is placed with as many as it
 * has then; what one gets while it runs is placed alone.  If all tasks of the
 * role were to succeed, all that it has are.
 *
 * @param role      by its name in the job's file
 * @param tasks     1 to PAI_JOB_MAX_TASKS
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: no such job or role, or the job is over;
 *         PAI_EINVAL: it cannot have so many; PAI_EBUSY: its tasks are being
 *         stopped; PAI_ENOROOM: a gang of that size cannot run here;
 *         PAI_ENOMEM.  Then nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_rescale(pai_platform *platform,
                                               pai_job_id job,
                                               const char *role,
                                               uint32_t tasks,
                                               pai_error **err);

/**
 * Frees what the platform knows of a job that is over, which is otherwise
 * kept as long as the platform.  Its folder stays; of a durable platform, it
 * goes, and so does the job in the database.
 * @return PAI_OK; PAI_ENOTFOUND: no such job; PAI_EBUSY: it is not over, or
 *         that was not told yet
 * @since 0.1
 */
PAI_API int pai_platform_forget(pai_platform *platform, pai_job_id job);

/**
 * The job's state.
 *
 * @param[out] code  its completion code, meaningful in a final state: 0
 *                   success; negative: the platform's; above 0 what the
 *                   deciding task ended with, or, of a durable platform, what
 *                   OpenPAI's exit spec makes of that where it knows it: as
 *                   pai_event_code(); NULL is allowed
 * @return its PAI_STATE_*; PAI_ENOTFOUND: no such job
 * @since 0.1
 */
PAI_API int pai_platform_job_state(int *code, const pai_platform *platform,
                                   pai_job_id job);

/** The folder with the job's logs, or NULL.  A durable platform makes it with
 *  the job's first task.  @since 0.1 */
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

/** Completion code, in final states; where that is 255 for the exit spec knows
 * nothing of it, what the task itself ended with.  @since 0.1 */
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
