/**
 * @file openpai/records.h
 * Records of the jobs of a durable platform, including finished jobs, as the
 * JSON objects of OpenPAI's REST API; also logs, backup and repair.  Records
 * come from the database only, so a crash does not revert a shown record.
 *
 * A job is named "user~name"; pai_platform_find() finds its id.  All functions
 * return PAI_ENOTSUP on a platform that is not durable.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_RECORDS_H
#define OPENPAI_RECORDS_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

/**
 * Filter and order of a list of jobs.  Texts are lists separated by commas, of
 * which one entry must match; NULL: any.
 */
typedef struct pai_job_query {
  size_t struct_size;
  const char *users;
  const char *virtual_clusters;
  const char *states;     /**< states as in the API, such as
                               "WAITING,RUNNING" */
  const char *priorities; /**< "default" means jobs without a priority class */
  const char *tags;       /**< jobs with any of these tags */
  const char *not_tags;   /**< jobs with none of these tags */
  const char *keyword;    /**< part of the user, name or virtual cluster */
  const char *order;      /**< such as "submissionTime,DESC", which is also
                               used for an unknown order */
  uint64_t offset;        /**< number of jobs to skip */
  uint64_t limit;         /**< most jobs; 0: 5000; at most 50000 */
  int with_total;         /**< 1: {"totalCount", "data"} instead of a list */
} pai_job_query;

#define PAI_JOB_QUERY_INIT                                 \
  {                                                        \
    sizeof(pai_job_query), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Finds a job by its name.
 * @param[out] job  id of the job; 0 on failure
 * @return PAI_OK; PAI_ENOTFOUND
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_find(pai_job_id *job,
                                            pai_platform *platform,
                                            const char *name, pai_error **err);

/**
 * Writes the jobs that match a query, each as an item of `GET /jobs`.  The
 * first list starts loading all jobs into the job index in memory, about 250
 * bytes each; once it is complete, lists ordered by submission use the index.
 * @param query  NULL: all, newest first
 * @return PAI_OK; PAI_EINVAL: a limit above 50000; PAI_EIO; PAI_ENOMEM; the
 *         return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_list(pai_platform *platform,
                                            const pai_job_query *query,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/**
 * Writes the details of a job, as `GET /jobs/NAME/attempts/N`.
 * @param attempt  number of the attempt; -1: the latest
 * @return PAI_OK; PAI_ENOTFOUND: no such job or attempt; else as
 *         pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_show(pai_platform *platform,
                                            pai_job_id job, int attempt,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/**
 * Writes the starts of one task, newest first, as `GET .../attempts` does.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_show_task(
  pai_platform *platform, pai_job_id job, int attempt, const char *role,
  uint32_t index, pai_write_cb write, void *user_data, pai_error **err);

/**
 * Writes the job's file as it was submitted, with secrets masked.
 * @param format  PAI_FORMAT_YAML: the original text; PAI_FORMAT_JSON
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_config(pai_platform *platform,
                                              pai_job_id job, int format,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Writes the environment of the commands of a job, as `GET
 * /jobs/NAME/environment`: their working folder, the parameters of the job,
 * and the command and variables of each role, with secrets masked.
 * @param with_folder  0: the folder is null
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it has no file; else as
 *         pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_environment(
  pai_platform *platform, pai_job_id job, int with_folder, pai_write_cb write,
  void *user_data, pai_error **err);

/**
 * Writes the events of a job, newest first, as `GET /jobs/NAME/events`.
 * @param type  "Normal", "Warning", or NULL for both
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_events(pai_platform *platform,
                                              pai_job_id job, const char *type,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Adds an event that the host observed to those of a job.  It is durable when
 * pai_platform_sync() calls back with PAI_OK; a platform that is not durable
 * keeps no events.
 * @param type     "Normal" or "Warning"
 * @param reason   a name in CamelCase; @p message: a sentence
 * @return PAI_OK; PAI_ENOTFOUND: no such live job; PAI_EINVAL: another type
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_add_event(
  pai_platform *platform, pai_job_id job, const char *type, const char *reason,
  const char *message, pai_error **err);

/**
 * Writes why a job waits: {"state", "reasons": [{"code", "text", "nodes"}],
 * "line", "change"}; for a job that does not wait, its state and the reason of
 * its end.  "line" is {"virtualCluster", "order", "place", "waiting"}: the
 * position of the job among the waiting jobs of its virtual cluster, in the
 * order in which the policy considers them: by "arrival", or by "priority" and
 * then arrival.  A later job may start first if it fits and the earlier jobs
 * do not.  "order" and "place" are null under a policy without such an order
 * ("fair", and policies that are not built in); "line" is null while the job
 * may not start yet.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_why(pai_platform *platform,
                                           pai_job_id job, pai_write_cb write,
                                           void *user_data, pai_error **err);

/** A pending operation; valid until it has called back. */
typedef struct pai_answer pai_answer;

/** @param status  PAI_OK: @p json has @p len bytes, as written by
 *                 pai_platform_why(); PAI_ECANCELED; or an error of that
 *                 function
 *  @param json, err valid during the call */
typedef void (*pai_answer_cb)(void *user_data, int status, const char *json,
                              size_t len, const pai_error *err);

/**
 * As pai_platform_why(), but without blocking the loop.  pai_platform_why()
 * blocks it for milliseconds if thousands of requests wait.  Another thread
 * explains the requests, one after the other, on a copy of the scheduler that
 * all calls at the same state share.  If few requests wait, or the policy is
 * not built in, the loop's thread is used.  Calls back once, from the loop, at
 * the latest when the platform closes.
 * @return PAI_OK; PAI_EBUSY: 256 explanations are pending, or the platform is
 *         closing; PAI_ENOTSUP: the platform is not durable; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_why_beside(
  pai_answer **out, pai_platform *platform, pai_job_id job, pai_answer_cb cb,
  void *user_data, pai_error **err);

/** Cancels an explanation.  It calls back soon: with PAI_ECANCELED, unless it
 *  was complete already.  NULL is allowed.  @since 0.1 */
PAI_API void pai_answer_cancel(pai_answer *answer);

/**
 * Writes the status of the platform: pid, root, jobs by state, use of the
 * machine, how limits are enforced, and the runtime of tasks.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_status(pai_platform *platform,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Writes a snapshot of the platform's scheduler, as pai_sched_save(), e.g. for
 * forecasts and what-ifs on a copy made by pai_sched_load().  Requests have
 * the ids and names of their jobs; times are microseconds of the platform's
 * own clock.
 * @return PAI_OK; PAI_ENOTSUP: its policy cannot be copied or saved;
 *         PAI_ENOMEM; the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_snapshot(pai_platform *platform,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/**
 * Adds a tag to a job.  The change is durable when pai_platform_sync() calls
 * back with PAI_OK.
 * @return PAI_OK; PAI_EINVAL: a tag is 1 to 512 bytes without a comma;
 *         PAI_ENOTFOUND: no such job, or (pai_platform_untag()) no such tag;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_tag(pai_platform *platform,
                                           pai_job_id job, const char *tag,
                                           pai_error **err);
/** Removes a tag from a job.  Everything else as pai_platform_tag().
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_untag(pai_platform *platform,
                                             pai_job_id job, const char *tag,
                                             pai_error **err);

/* --- tasks and counters -------------------------------------------------- */

/** A task of a live job.  Texts are valid during the call. */
typedef struct pai_task_view {
  size_t struct_size;
  pai_job_id job;
  const char *user, *name;     /**< the job's */
  const char *framework;       /**< the job's debugId */
  const char *virtual_cluster; /**< "default" if the job names none */
  const char *role;            /**< name of the task role as in the API */
  uint32_t index;
  uint32_t attempt;       /**< attempt of the job */
  const char *attempt_id; /**< id of that attempt: appId of the API */
  const char *id;         /**< id of its latest start: containerId of the API;
                               NULL: not started in this attempt */
  int state;              /**< PAI_STATE_* */
  const char *node, *ip;  /**< its node; NULL: it has no place */
  const char *image;      /**< NULL: none */
  uint64_t gpus;          /**< mask of its GPUs */
  uint32_t wants_gpus;    /**< number of GPUs that it asks for */
  uint32_t cpus;          /**< CPUs that it asks for, rounded up */
  uint64_t memory;        /**< memory that it asks for, in bytes */
  pai_time created;    /**< time of the job's submission; wall-clock time, as
                            all times here */
  pai_time started;    /**< time of its start; 0: it does not run */
  int code;            /**< completion code, if it is over */
  int64_t session;     /**< session id of its processes on this machine; 0: not
                            known, or it does not run */
  const char *cgroup;  /**< cgroup of its processes, for
                            pai_sampler_watch_cgroup(); NULL: none of its
                            own */
  uint64_t milli_cpus; /**< CPUs that it asks for, in thousandths
                            @since 0.1 */
} pai_task_view;

/** Receives a task.  A negative return value aborts pai_platform_tasks(),
 *  which returns that value. */
typedef int (*pai_task_cb)(void *user_data, const pai_task_view *task);

/**
 * Reports all tasks of live jobs, ordered by job id, in their current state,
 * which may not be in the database yet.
 * @return PAI_OK; PAI_ENOMEM; the return value of @p cb
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_tasks(pai_platform *platform,
                                             pai_task_cb cb, void *user_data,
                                             pai_error **err);

/** Counters of a platform, since it was made unless stated otherwise. */
typedef struct pai_platform_counts {
  size_t struct_size;
  uint64_t waiting, running, stopping; /**< jobs, now */
  uint64_t queued;    /**< requests that wait in the scheduler, now */
  uint64_t submitted; /**< jobs that were accepted */
  uint64_t succeeded, failed, stopped; /**< jobs that ended in this state */
  uint64_t commits;                    /**< successful commits of the
                                            database */
  uint64_t commit_failures;            /**< failed commits of the database */
  uint64_t commit_us;                  /**< microseconds of all commits */
} pai_platform_counts;

/** @return PAI_OK; PAI_EINVAL: struct_size is not set  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_count(const pai_platform *platform,
                                             pai_platform_counts *counts);

/** Use of a user's quotas (openpai/account.h). */
typedef struct pai_usage {
  size_t struct_size;
  uint64_t jobs;  /**< live jobs */
  uint64_t tasks; /**< tasks of live jobs, including tasks that are over */
} pai_usage;

/** Fills @p usage, up to its struct_size.  Includes jobs that the user got as
 *  an heir.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_usage(const pai_platform *platform,
                                             const char *user,
                                             pai_usage *usage);

/**
 * Writes an estimate of the start of a waiting job, from the durations of jobs
 * that ended here: {"state", "now", "start": {"p10", "p50", "p90"}, "runs",
 * "started", "guessed", "alike", "unlike"}; for a running job "startedAt" and
 * "end"; for a finished job only the state.  Times are milliseconds, or null
 * if not within 90 days.  "alike" names the jobs that the estimate is based
 * on; null: no similar job has ended, so running jobs are assumed to run as
 * long again as they have run, or an hour.  "unlike" is true if the present is
 * unlike the past, as in pai_when.  The call blocks the loop: for hundredths
 * of a second, and longer if thousands of jobs wait;
 * pai_platform_estimate_beside() does not.
 * @return PAI_OK; PAI_ENOTFOUND: no such job; PAI_ENOTSUP: the scheduler's
 *         policy cannot predict starts; else as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_estimate(pai_platform *platform,
                                                pai_job_id job,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/** A pending operation; valid until it has called back. */
typedef struct pai_estimate pai_estimate;

/** @param status  PAI_OK: @p json has @p len bytes, as written by
 *                 pai_platform_estimate(); PAI_ECANCELED; or an error of that
 *                 function
 *  @param json, err valid during the call */
typedef void (*pai_estimate_cb)(void *user_data, int status, const char *json,
                                size_t len, const pai_error *err);

/**
 * As pai_platform_estimate(), but without blocking the loop: another thread
 * simulates on a copy of the scheduler, one simulation at a time.  All calls
 * that wait when a simulation begins share its result.  Calls in the following
 * five seconds share it, too, if nothing has happened since.  If the policy is
 * not built in, the loop's thread is used.  Calls back once, from the loop, at
 * the latest when the platform closes.
 * @return PAI_OK; PAI_EBUSY: 64 estimates are pending, or the platform is
 *         closing; PAI_ENOTSUP: it is not durable; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_estimate_beside(
  pai_estimate **out, pai_platform *platform, pai_job_id job,
  pai_estimate_cb cb, void *user_data, pai_error **err);

/** Cancels an estimate.  It calls back soon: with PAI_ECANCELED, unless it was
 *  complete already.  NULL is allowed.  @since 0.1 */
PAI_API void pai_estimate_cancel(pai_estimate *estimate);

/**
 * Writes the attempts of a job as `GET /jobs/NAME/job-attempts` does: the
 * latest attempt first, then the earlier attempts, oldest first.
 * @param attempt  -1: a list of all attempts; else only this attempt
 * @return PAI_OK; PAI_ENOTFOUND: no such job or attempt; else as
 *         pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_attempts(pai_platform *platform,
                                                pai_job_id job, int attempt,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/* --- maintenance --------------------------------------------------------- */

/**
 * Copies the database to a new file while the platform runs.  The copy can be
 * used as `openpai.db` of a root.  Secrets of live jobs also need the root's
 * `key`, which is not copied.
 *
 * @param cb  called once, from the loop, with PAI_OK or an error
 * @return PAI_OK: @p cb will be called; PAI_EBUSY: the platform is closing;
 *         PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_backup(pai_platform *platform,
                                              const char *path, pai_sync_cb cb,
                                              void *user_data,
                                              pai_error **err);

/**
 * Exports all jobs with their records as JSON, one line for each job, ordered
 * by id, without secrets.
 * @param after  id of the last exported job, to continue after it; 0: from the
 *               first job
 * @param limit  most jobs; 0: all
 * @return as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_export(pai_platform *platform,
                                              pai_job_id after, uint64_t limit,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Creates a new database from the readable parts of a damaged one, which is
 * kept next to it, and writes a summary: {"jobs", "rows", "refused", "holes",
 * "scheduler", "aside"}.  Threads: SERIAL.
 *
 * @param root  NULL: the default of pai_platform_options
 * @return PAI_OK; PAI_EBUSY: a platform uses the root; PAI_ENOTFOUND: there is
 *         no database; PAI_EIO: nothing could be read, and nothing has
 *         changed; PAI_ENOMEM; the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_repair(const char *root,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Checks that the key of a root exists and decrypts the secrets in its
 * database, if there are any.  Changes nothing, and may be called while a
 * platform uses the root.  Threads: SERIAL.
 *
 * @param root  NULL: the default of pai_platform_options
 * @return PAI_OK, also if there is no database; PAI_EIO: the key is missing or
 *         is a different key, and @p err has help; PAI_EPERM: other users may
 *         read the key; PAI_EINVAL: the file is not a key; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_check_key(const char *root,
                                                 pai_error **err);

/**
 * Checks the file of known failures (failures.yaml) of a root, which a
 * platform reads at its start.  Threads: SERIAL.
 *
 * @param root  NULL: the default of pai_platform_options
 * @return PAI_OK, also if there is no such file; PAI_EINVAL or PAI_ELIMIT:
 *         pai_platform_new() would fail; @p err has the place in the file, and
 *         help; PAI_EIO; PAI_EPERM; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_check_failures(const char *root,
                                                      pai_error **err);

/** Receives the folder of a copy of a job's code, or an error. */
typedef void (*pai_copy_cb)(void *user_data, int status, const char *dir,
                            const pai_error *err);

/**
 * Copies the current code folder of a job, for pai_submit_options.code_dir of
 * another job.  A copy that no job uses is removed after an hour.
 *
 * @param cb  called once, from the loop
 * @return PAI_OK: @p cb will be called; PAI_ENOTFOUND: no such job, or it has
 *         no code; PAI_EBUSY: the platform is closing; PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_copy_code(pai_platform *platform,
                                                 pai_job_id job,
                                                 pai_copy_cb cb,
                                                 void *user_data,
                                                 pai_error **err);

/**
 * Removes a code folder that no job will use, such as one of
 * pai_platform_copy_code() or of an abandoned upload.  The folder disappears
 * at once; its files are deleted in another thread and, if the platform stops
 * before that is done, after its next start.
 *
 * @param dir  ROOT/code/new-*; it need not exist
 * @return PAI_OK; PAI_EINVAL: another folder; PAI_ENOTSUP
 * @since 0.1
 */
PAI_API int pai_platform_remove_code(pai_platform *platform, const char *dir,
                                     pai_error **err);

/* --- logs ------------------------------------------------------------------ */

typedef struct pai_log_reader pai_log_reader; /**< pai_log_close() */

/** Options of pai_log_open(): the log to read, and the position. */
typedef struct pai_log_options {
  size_t struct_size;
  int attempt;      /**< attempt of the job; -1: the latest */
  const char *role; /**< NULL: the first role of the job */
  uint32_t index;
  int retry;        /**< start of the task in that attempt; -1: the latest */
  const char *name; /**< "stdout", "stderr", "all", "runtime"; NULL: "all" */
  int64_t offset;   /**< first byte to read, counted over everything ever
                         written; if that byte was deleted, the first stored
                         byte; negative: relative to the end; INT64_MAX: the
                         end */
  int follow;       /**< 1: continue until the task has ended */
  int timed;        /**< 1: pai_log_time() returns the time at which bytes were
                         written */
  uint64_t tail;    /**< number of last lines, searched in the last 256 MiB; 0:
                         all.  Of tail, offset and since, the latest position
                         applies */
  pai_time since;   /**< only output written at this time or later, to about a
                         second; 0: all */
} pai_log_options;

#define PAI_LOG_OPTIONS_INIT                                \
  {                                                         \
    sizeof(pai_log_options), -1, 0, 0, -1, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Receives the next bytes of a log and their offset.  The last call, with len
 * 0, reports the end: status PAI_OK, or an error.
 */
typedef void (*pai_log_data_cb)(void *user_data, int status, uint64_t offset,
                                const char *bytes, size_t len);

/**
 * Begins to read a log.  With `follow`, a reader waits for a task that has not
 * started yet.  A reader does not continue after a retry of the task: each
 * start has its own log.
 *
 * @param[out] out  the reader, owned by the caller; NULL on failure
 * @return PAI_OK; PAI_ENOTFOUND: no such job, attempt, task or log;
 *         PAI_EINVAL; PAI_EIO; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_log_open(pai_log_reader **out,
                                       pai_platform *platform, pai_job_id job,
                                       const pai_log_options *opts,
                                       pai_log_data_cb cb, void *user_data,
                                       pai_error **err);

/**
 * In a callback of a reader with `timed`: the time at which its bytes were
 * written, early by up to a second, or by a few seconds in logs of more than
 * three days.  0: not known, e.g. for the log "runtime".
 * @since 0.1
 */
PAI_API pai_time pai_log_time(const pai_log_reader *reader);

/**
 * Offset of the next byte, counted over everything ever written.  For a reader
 * that was just opened, the position where it begins.
 * @since 0.1
 */
PAI_API uint64_t pai_log_offset(const pai_log_reader *reader);

/** Pauses or resumes a reader.  @since 0.1 */
PAI_API void pai_log_pause(pai_log_reader *reader, int paused);

/** Closes a reader; no callback is called after this.  NULL is allowed.
 *  @since 0.1 */
PAI_API void pai_log_close(pai_log_reader *reader);

/* --- entering a task ----------------------------------------------------- */

/**
 * Opens a stream into a running task, to run a command there or to write its
 * standard input.  Pass it to pai_session_new().
 *
 * @param[out] fd   a connected socket, owned by the caller; -1 on failure
 * @param role      NULL: the first role of the job
 * @return PAI_OK; PAI_ENOTFOUND: no such job or task; PAI_EINVAL: the task
 *         does not run; PAI_EBUSY: too many connections are pending;
 *         PAI_ENOTSUP: its back end has no such streams; PAI_EPERM; PAI_EIO;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_enter(int *fd, pai_platform *platform,
                                             pai_job_id job, const char *role,
                                             uint32_t index, pai_error **err);

/**
 * Writes the ssh addresses of the running tasks of a job with the runtime
 * plugin ssh: {"containers": [{"taskRole", "taskIndex", "sshUser", "sshIp",
 * "sshPort", "hostKey"}], "publicKey"}.  The host key is a line of
 * ssh_known_hosts without names; the public key is that of the job, or null.
 * The output contains no secrets.
 * @return PAI_OK; PAI_ENOTFOUND: no such job, it is over, or none of its tasks
 *         has an sshd yet; else as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_ssh(pai_platform *platform,
                                           pai_job_id job, pai_write_cb write,
                                           void *user_data, pai_error **err);

/**
 * Writes the private key for the tasks of a job with `jobssh`, in OpenSSH's
 * format: {"privateKey"}.  The key is valid as long as the attempt runs.  The
 * caller must make sure that only the job's user gets the key.
 * @return as pai_platform_ssh(); PAI_ENOTFOUND also if the job has no such key
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_ssh_key(pai_platform *platform,
                                               pai_job_id job,
                                               pai_write_cb write,
                                               void *user_data,
                                               pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_RECORDS_H */
