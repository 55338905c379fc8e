/**
 * @file openpai/records.h
 * What a durable platform knows of its jobs, including finished ones: as the
 * JSON objects of OpenPAI's REST API, from its database alone, so that a crash
 * cannot take back anything written here.
 *
 * A job is named "user~name"; every function here takes that, or the job's id.
 * All functions return PAI_ENOTSUP on a platform that is not durable.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_RECORDS_H
#define OPENPAI_RECORDS_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

/**
 * Which jobs to list, and in what order.  Texts are lists, separated by commas,
 * of which one entry must match; NULL: any.
 */
typedef struct pai_job_query {
  size_t struct_size;
  const char *users;
  const char *virtual_clusters;
  const char *states;     /**< "WAITING,RUNNING", as the API names them */
  const char *priorities; /**< "default": those without one */
  const char *tags;       /**< has any of them */
  const char *not_tags;   /**< has none of them */
  const char *keyword;    /**< in user, name or virtual cluster */
  const char *order;      /**< "submissionTime,DESC", which also replaces an
                               unknown order */
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
 * @param[out] job  its id; 0 on failure
 * @return PAI_OK; PAI_ENOTFOUND
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_find(pai_job_id *job,
                                            pai_platform *platform,
                                            const char *name, pai_error **err);

/**
 * Writes the jobs that a query wants, each as an item of `GET /jobs`.  The
 * first list begins to bring all jobs into memory, some 250 bytes each, from
 * which those by submission are answered as soon as all are there.
 * @param query  NULL: all, newest first
 * @return PAI_OK; PAI_EINVAL: a limit above 50000; PAI_EIO; PAI_ENOMEM; what
 *         @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_list(pai_platform *platform,
                                            const pai_job_query *query,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/**
 * Writes all about a job, as `GET /jobs/NAME/attempts/N` does.
 * @param attempt  of its attempts; -1: the latest
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
 * Writes the job's file as it was submitted, secrets masked.
 * @param format  PAI_FORMAT_YAML: as it was written; PAI_FORMAT_JSON
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_config(pai_platform *platform,
                                              pai_job_id job, int format,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

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
 * Writes why a job waits: {"state", "reasons": [{"code", "text", "nodes"}],
 * "line", "change"}; for a job that does not wait, its state and the reason of
 * its end.  "line" is {"virtualCluster", "order", "place", "waiting"}: the
 * place of the job among the waiting jobs of its virtual cluster, in the order in
 * which the policy considers them: by "arrival", or by "priority" and then
 * arrival.  A later job may start first if only that job fits.  "order" and
 * "place" are null under a policy without such an order ("fair", and policies
 * that are not built in); "line" is null while the job may not start yet.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_why(pai_platform *platform,
                                           pai_job_id job, pai_write_cb write,
                                           void *user_data, pai_error **err);

/** One that is being made; borrowed until it has called back. */
typedef struct pai_answer pai_answer;

/** @param status  PAI_OK, and then @p json, of @p len bytes, is what
 *                 pai_platform_why() writes; PAI_ECANCELED; or its codes
 *  @param json, err  borrowed for the call */
typedef void (*pai_answer_cb)(void *user_data, int status, const char *json,
                              size_t len, const pai_error *err);

/**
 * As pai_platform_why(), for which the loop stands still for milliseconds where
 * thousands wait, beside the loop: all who ask at a state share a copy of the
 * scheduler, on which another thread explains one request after the other.
 * Where few wait, or the policy is not built in, it is asked in the loop's
 * thread.  Calls back once, from the loop, at the latest when the platform
 * closes.
 * @return PAI_OK; PAI_EBUSY: 256 are being made or wait for it, or the platform
 *         is closing; PAI_ENOTSUP: it is not durable; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_why_beside(
  pai_answer **out, pai_platform *platform, pai_job_id job, pai_answer_cb cb,
  void *user_data, pai_error **err);

/** Nobody wants to know any more: it calls back soon, with PAI_ECANCELED unless
 *  it is done.  NULL is allowed.  @since 0.1 */
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
 * Writes the platform's scheduler as it is now, as pai_sched_save() does: for
 * pai_sched_load(), and so for forecasts and what-ifs that cost the platform
 * nothing.  Its requests have their jobs' ids or names, its times are
 * microseconds of a clock of the platform's own.
 * @return PAI_OK; PAI_ENOTSUP: its policy cannot be copied or saved;
 *         PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_snapshot(pai_platform *platform,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/**
 * Gives a job a tag, or takes it away.  Told durable by pai_platform_sync().
 * @return PAI_OK; PAI_EINVAL: a tag is 1 to 512 bytes without a comma;
 *         PAI_ENOTFOUND: no such job, or it has no such tag; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_tag(pai_platform *platform,
                                           pai_job_id job, const char *tag,
                                           pai_error **err);
/** See pai_platform_tag().  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_untag(pai_platform *platform,
                                             pai_job_id job, const char *tag,
                                             pai_error **err);

/* --- what runs ------------------------------------------------------------- */

/** A task of a job that is not over.  Texts live as long as the call. */
typedef struct pai_task_view {
  size_t struct_size;
  pai_job_id job;
  const char *user, *name;     /**< the job's */
  const char *framework;       /**< the job's debugId */
  const char *virtual_cluster; /**< "default" if it has not said */
  const char *role;            /**< as the API spells it */
  uint32_t index;
  uint32_t attempt;       /**< of the job */
  const char *attempt_id; /**< of that attempt: the API's appId */
  const char *id;         /**< of its latest start: the API's containerId;
                               NULL: it was not started in this attempt */
  int state;              /**< PAI_STATE_* */
  const char *node, *ip;  /**< where it is; NULL: it has no place */
  const char *image;      /**< NULL: none */
  uint64_t gpus;          /**< a mask of those it has */
  uint32_t wants_gpus;    /**< how many it asks for, */
  uint32_t cpus;          /**< CPUs, */
  uint64_t memory;        /**< and bytes */
  pai_time created;   /**< when the job was submitted; the wall's, as all */
  pai_time started;   /**< when it began to run; 0: it does not */
  int code;           /**< of one that is over: its completion code */
  int64_t session;    /**< of this machine, in which its processes are; 0:
                               not known, or it does not run */
  const char *cgroup; /**< in which they are, as pai_sampler_watch_cgroup()
                               takes it; NULL: none of its own */
} pai_task_view;

/** Receives a task; a negative answer ends it, and is what is returned. */
typedef int (*pai_task_cb)(void *user_data, const pai_task_view *task);

/**
 * Tells all tasks of jobs that are not over, by their jobs' ids.  As they are
 * now: what is told here may not be in the database yet.
 * @return PAI_OK; PAI_ENOMEM; what @p cb answered
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
  uint64_t succeeded, failed, stopped; /**< jobs that ended so */
  uint64_t commits;                    /**< of its database that succeeded, */
  uint64_t commit_failures;            /**< and that did not; */
  uint64_t commit_us; /**< microseconds that all of them took */
} pai_platform_counts;

/** @return PAI_OK; PAI_EINVAL: struct_size is not set  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_count(const pai_platform *platform,
                                             pai_platform_counts *counts);

/** Use of a user's quotas (openpai/account.h). */
typedef struct pai_usage {
  size_t struct_size;
  uint64_t jobs;  /**< that are not over */
  uint64_t tasks; /**< of those, also tasks that are over */
} pai_usage;

/** Fills in as much as the caller's struct_size holds.  Jobs that were handed
 *  to the user count.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_usage(const pai_platform *platform,
                                             const char *user,
                                             pai_usage *usage);

/**
 * Writes an estimate of the start of a waiting job, from the durations of jobs
 * that ended here: {"state", "now", "start": {"p10", "p50", "p90"}, "runs",
 * "started", "guessed", "alike", "unlike"}; for a running job "startedAt" and "end"; for a
 * finished one only the state.  Times are milliseconds, or null if not within 90
 * days.  "alike" names the jobs that the estimate is based on; null: no similar
 * job has ended, so running jobs are assumed to take as long again as they have
 * run, or an hour.  "unlike" is true if the present is unlike the past, as in
 * pai_when.  The call blocks the loop: for hundredths of a second, and
 * longer if thousands of jobs wait; pai_platform_estimate_beside() does not.
 * @return PAI_OK; PAI_ENOTFOUND: no such job; PAI_ENOTSUP: the scheduler's
 *         policy cannot be asked; else as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_estimate(pai_platform *platform,
                                                pai_job_id job,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/** One that is being made; borrowed until it has called back. */
typedef struct pai_estimate pai_estimate;

/** @param status  PAI_OK, and then @p json, of @p len bytes, is what
 *                 pai_platform_estimate() writes; PAI_ECANCELED; or its codes
 *  @param json, err  borrowed for the call */
typedef void (*pai_estimate_cb)(void *user_data, int status, const char *json,
                                size_t len, const pai_error *err);

/**
 * As pai_platform_estimate(), beside the loop: a copy of the scheduler, as it
 * is when this one's turn comes, is looked at in another thread, one at a time.
 * All that wait for their turn then share one look, and so does whoever asks
 * within five seconds while nothing has happened since.
 * A policy that is not built in is asked in the loop's thread.  Calls back
 * once, from the loop, at the latest when the platform closes.
 * @return PAI_OK; PAI_EBUSY: 64 are being made or wait for it, or the platform
 *         is closing; PAI_ENOTSUP: it is not durable; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_estimate_beside(
  pai_estimate **out, pai_platform *platform, pai_job_id job,
  pai_estimate_cb cb, void *user_data, pai_error **err);

/** Cancels an estimate: it calls back soon, with PAI_ECANCELED unless it is
 *  done.  NULL is allowed.  @since 0.1 */
PAI_API void pai_estimate_cancel(pai_estimate *estimate);

/**
 * Writes the attempts of a job as `GET /jobs/NAME/job-attempts` does: the
 * latest one first, then those before it, the oldest first.
 * @param attempt  -1: a list of all; else that one alone
 * @return PAI_OK; PAI_ENOTFOUND: no such job or attempt; else as
 *         pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_attempts(pai_platform *platform,
                                                pai_job_id job, int attempt,
                                                pai_write_cb write,
                                                void *user_data,
                                                pai_error **err);

/* --- care ------------------------------------------------------------------ */

/**
 * Copies the database to a new file while the platform works; it is a root's
 * `openpai.db` again.  Secrets of live jobs need the root's `key`, too, which is
 * not copied.
 *
 * @param cb  called once, from the loop: PAI_OK, or why there is no copy
 * @return PAI_OK: it will call; PAI_EBUSY: the platform is closing; PAI_ENOTSUP;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_backup(pai_platform *platform,
                                              const char *path, pai_sync_cb cb,
                                              void *user_data,
                                              pai_error **err);

/**
 * Writes all that is on record, jobs with what belongs to them, as JSON, a line
 * each, by their ids; no secrets.
 * @param after  the id of the last line before, to go on behind it; 0: from
 *               the first job on
 * @param limit  at most so many; 0: all
 * @return as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_export(pai_platform *platform,
                                              pai_job_id after, uint64_t limit,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Makes a new database of what can be read in a root's broken one, which is
 * kept beside it, and writes what came of it: {"jobs", "rows", "refused",
 * "holes", "scheduler", "aside"}.  Threads: SERIAL.
 *
 * @param root  NULL: this user's own, as in pai_platform_options
 * @return PAI_OK; PAI_EBUSY: a platform has it; PAI_ENOTFOUND: there is none;
 *         PAI_EIO: nothing could be read, and nothing has changed; PAI_ENOMEM;
 *         what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_repair(const char *root,
                                              pai_write_cb write,
                                              void *user_data,
                                              pai_error **err);

/**
 * Whether the key of a root is there and opens all that is secret in its
 * database, where anything is.  Changes nothing, and may be asked while a
 * platform has the root.  Threads: SERIAL.
 *
 * @param root  NULL: this user's own, as in pai_platform_options
 * @return PAI_OK, also where there is no database; PAI_EIO: the key is gone,
 *         or it is another one, and @p err has help; PAI_EPERM: others may
 *         read it; PAI_EINVAL: it is none; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_check_key(const char *root,
                                                 pai_error **err);

/** Tells of a copy of a job's code: where it is, or why there is none. */
typedef void (*pai_copy_cb)(void *user_data, int status, const char *dir,
                            const pai_error *err);

/**
 * Copies a job's copy of its user's code, as it is now, for another job, as
 * its pai_submit_options.code_dir.  One that no job gets is removed after an
 * hour.
 *
 * @param cb  called once, from the loop
 * @return PAI_OK: it will call; PAI_ENOTFOUND: no such job, or it has no code;
 *         PAI_EBUSY: the platform is closing; PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_copy_code(pai_platform *platform,
                                                 pai_job_id job,
                                                 pai_copy_cb cb,
                                                 void *user_data,
                                                 pai_error **err);

/**
 * Removes a folder of code that no job is to get, as one that
 * pai_platform_copy_code() has made or whose upload is given up.  It is gone
 * at once; its files are removed in another thread, those that a stop leaves
 * after the next start.
 *
 * @param dir  ROOT/code/new-*; one that is not there is allowed
 * @return PAI_OK; PAI_EINVAL: another folder; PAI_ENOTSUP
 * @since 0.1
 */
PAI_API int pai_platform_remove_code(pai_platform *platform, const char *dir,
                                     pai_error **err);

/* --- logs ------------------------------------------------------------------ */

typedef struct pai_log_reader pai_log_reader; /**< pai_log_close() */

/** Which log of which task, and from where. */
typedef struct pai_log_options {
  size_t struct_size;
  int attempt;      /**< of the job; -1: the latest */
  const char *role; /**< NULL: the job's first */
  uint32_t index;
  int retry;        /**< of the task in that attempt; -1: the latest */
  const char *name; /**< "stdout", "stderr", "all", "runtime"; NULL: "all" */
  int64_t offset;   /**< from which byte on, of all that were ever written; the
                          first that is kept, if that one is gone; negative:
                          so many before the end; INT64_MAX: from its end on */
  int follow;       /**< 1: goes on until the task has ended */
  int timed;        /**< 1: pai_log_time() tells when bytes were written */
  uint64_t tail; /**< the last lines, so many; 0: all.  Of those, of offset and
                         of since the latest counts; lines are searched in the
                         last 256 MiB */
  pai_time since; /**< what was written then or later, right to about a second;
                         0: all */
} pai_log_options;

#define PAI_LOG_OPTIONS_INIT                                \
  {                                                         \
    sizeof(pai_log_options), -1, 0, 0, -1, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Receives the next bytes of a log, and where in it they begin; last of all,
 * with len 0, that it is over: status PAI_OK, or why it broke off.
 */
typedef void (*pai_log_data_cb)(void *user_data, int status, uint64_t offset,
                                const char *bytes, size_t len);

/**
 * Begins to read a log.  A task that has not started yet is waited for, if
 * followed; a task that is tried again is not: its next start has a log of
 * its own.
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
 * In a callback of a reader with `timed`: when its bytes were written, up to a
 * second before that; in logs of which more than three days are kept, up to a few
 * seconds.  0: it is not known, as of the log "runtime".
 * @since 0.1
 */
PAI_API pai_time pai_log_time(const pai_log_reader *reader);

/** Stops reading for a while; or goes on.  @since 0.1 */
PAI_API void pai_log_pause(pai_log_reader *reader, int paused);

/** Ends it; no callback comes after this.  NULL is allowed.  @since 0.1 */
PAI_API void pai_log_close(pai_log_reader *reader);

/* --- into a task ----------------------------------------------------------- */

/**
 * Opens a stream that leads into a running task: a command may be run there,
 * or its standard input be written.  pai_session_new() speaks on it.
 *
 * @param[out] fd   a connected socket, owned by the caller; -1 on failure
 * @param role      NULL: the job's first
 * @return PAI_OK; PAI_ENOTFOUND: no such job or task; PAI_EINVAL: the task
 *         does not run; PAI_EBUSY: too many wait there; PAI_ENOTSUP: its back
 *         end has no such streams; PAI_EPERM; PAI_EIO; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_enter(int *fd, pai_platform *platform,
                                             pai_job_id job, const char *role,
                                             uint32_t index, pai_error **err);

/**
 * Writes how the running tasks of a job are reached by ssh, if it has the
 * runtime plugin ssh: {"containers": [{"taskRole", "taskIndex", "sshUser",
 * "sshIp", "sshPort", "hostKey"}], "publicKey"}.  The host key is a line as of
 * ssh_known_hosts, without names; the public key is the job's own, or null: it
 * has none.  Nothing in it is secret.
 * @return PAI_OK; PAI_ENOTFOUND: no such job, it is over, or no task of it has
 *         a sshd yet; else as pai_platform_list()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_ssh(pai_platform *platform,
                                           pai_job_id job, pai_write_cb write,
                                           void *user_data, pai_error **err);

/**
 * Writes the private key that opens the tasks of a job with `jobssh`, as
 * OpenSSH has it: {"privateKey"}.  It is good as long as the attempt runs.
 * Who asks is the caller's to know: it is for the job's user alone.
 * @return as pai_platform_ssh(); PAI_ENOTFOUND also if it has no such key
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_ssh_key(pai_platform *platform,
                                               pai_job_id job,
                                               pai_write_cb write,
                                               void *user_data,
                                               pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_RECORDS_H */
