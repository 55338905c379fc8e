/**
 * @file openpai/sim.h
 * Simulations: a cluster, a trace and a policy, in virtual time.
 *
 *   pai_sim_run(&report, cluster, trace, &options, &err);
 *   pai_sim_write(&report, 1, PAI_FORMAT_TEXT, write, NULL, &err);
 *
 * A simulation uses the scheduler and the job states of the live platform;
 * only the machines are simulated.  The same cluster, trace and options give
 * the same bytes on any machine.
 *
 * Threads: SERIAL for a simulation; IMMUTABLE for a report.
 */
#ifndef OPENPAI_SIM_H
#define OPENPAI_SIM_H

#include <openpai/policy.h>
#include <openpai/trace.h>

PAI_BEGIN_DECLS

typedef struct pai_sim pai_sim;               /**< opaque; pai_sim_free() */
typedef struct pai_sim_report pai_sim_report; /**< opaque;
                                                   pai_sim_report_free() */

/** A job that has ended, or that had not ended at the end of the trace. */
typedef struct pai_sim_job {
  size_t struct_size;
  uint64_t id;   /**< in the scheduler: the job's number in the trace,
                            from 1 */
  uint64_t line; /**< in the trace */
  const char *name, *user, *vc; /**< or NULL; until the callback returns */
  pai_time submitted;
  pai_time started;     /**< for the first time; -1: never */
  pai_time ended;       /**< -1: it has not */
  int state;            /**< PAI_STATE_SUCCEEDED, ...; 0: it was rejected */
  int code;             /**< its completion code */
  uint32_t tasks, gpus; /**< of all its tasks */
  uint32_t attempts, preemptions;
  pai_time lost; /**< lost work: time multiplied by GPUs */
} pai_sim_job;

typedef void (*pai_sim_job_cb)(void *user_data, const pai_sim_job *job);

/** Told of a job of the trace that is not taken as it is.  @param used as in
 *  pai_trace_cb */
typedef pai_trace_cb pai_sim_line_cb;

/**
 * Options; zero-fill, or use PAI_SIM_OPTIONS_INIT.  Means are of exponential
 * distributions, drawn from `seed`; "of a thousand" are chances.
 */
typedef struct pai_sim_options {
  size_t struct_size;
  const pai_alloc *alloc;     /**< NULL: malloc; copied */
  const char *policy;         /**< a built-in one; NULL: "fifo" */
  const pai_policy *table;    /**< one of the caller's instead */
  const char *policy_options; /**< a JSON object, or NULL */
  uint64_t seed;
  int strict;     /**< 1: a job of an unknown virtual cluster or SKU, or that
                      could never start, is an error; else the first two are
                      mapped, the last one is rejected, and both are counted */
  int estimates;  /**< 1: tell the policy how long each job will take, for jobs
                      without a user's estimate in the trace */
  pai_time until; /**< time at which to stop; 0: when all jobs have ended */

  pai_time start_cost; /**< delay between placement and work: images, data */
  pai_time
    restart_cost;     /**< the same for a job that ran before; 0: start_cost */
  pai_time stop_cost; /**< delay between a stop request and the free node */
  pai_time
    checkpoint;       /**< interval at which a job saves its work, in time that
                              it ran; 0: never: a preempted job starts from the
                              beginning */
  pai_time node_up;   /**< mean time between failures of a node; 0: never */
  pai_time node_down; /**< mean time to repair it; 0: four hours */
  uint32_t fail;      /**< attempts of a thousand that fail, at a random time,
                           with code 1 */
  pai_time patience;  /**< mean time after which the owner kills a job that has
                           not started; 0: never */
  uint32_t stretch;   /**< factor for durations, in thousandths; 0: 1000 */
  uint32_t spread;    /**< variation of durations in both directions, in
                           thousandths */

  pai_write_cb log;    /**< the scheduler's log, or NULL */
  pai_write_cb events; /**< what happens to jobs, as lines of JSON, or NULL */
  pai_sim_job_cb on_job; /**< each job as it has ended, or NULL */
  pai_sim_line_cb on_line;
  void *user_data; /**< of all callbacks */
  uint32_t bars;   /**< most runs that are kept for the chart of placements; 0:
                              4000 */
} pai_sim_options;

#define PAI_SIM_OPTIONS_INIT                                                 \
  {                                                                          \
    sizeof(pai_sim_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0                                                 \
  }

/**
 * Makes a simulation, before the first record of the trace.
 *
 * @param[out] out  owned by the caller; NULL on failure
 * @param cluster   copied
 * @param trace     read while it runs; must outlive it
 * @param opts      options, or NULL for defaults; a table must outlive it
 * @return PAI_OK; as pai_sched_new(); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sim_new(pai_sim **out,
                                      const pai_cluster *cluster,
                                      pai_trace *trace,
                                      const pai_sim_options *opts,
                                      pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_sim_free(pai_sim *sim);

/**
 * Advances the simulation to the time @p until, inclusive.
 *
 * @param until  INT64_MAX: to the end
 * @return 1: there is more to come; 0: it is over; PAI_EINVAL: strict, and a
 *         job cannot be taken; PAI_ELIMIT: the policy preempts runs at one time
 *         without an end; or as pai_trace_next(), pai_sched_send(),
 *         pai_sched_decide() or a callback answered.  A failed simulation goes
 *         no further; what it has found can be reported.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sim_step(pai_sim *sim, pai_time until,
                                       pai_error **err);

/** Its scheduler, to look at, until the next step.  @since 0.1 */
PAI_API const pai_sched *pai_sim_sched(const pai_sim *sim);

/** What was found so far, owned by the caller.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_report_of(pai_sim_report **out,
                                            const pai_sim *sim,
                                            pai_error **err);

/** pai_sim_new(), pai_sim_step() to the end, pai_sim_report_of().
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_run(pai_sim_report **out,
                                      const pai_cluster *cluster,
                                      pai_trace *trace,
                                      const pai_sim_options *opts,
                                      pai_error **err);

/* --- reports ---------------------------------------------------------------- */

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_sim_report_free(pai_sim_report *report);

/** The numbers that people compare; all times are microseconds. */
typedef struct pai_sim_view {
  size_t struct_size;
  const char *policy;
  uint64_t seed;
  uint64_t lines_skipped; /**< of the trace, that could not be used */
  uint64_t jobs;          /**< that came */
  uint64_t rejected;      /**< that could never start */
  uint64_t started;       /**< at least once */
  uint64_t finished;      /**< that have ended well or badly by themselves */
  uint64_t failed;        /**< of them, badly */
  uint64_t killed;        /**< by their owner, or at their limit */
  uint64_t left;          /**< that have not ended */
  uint64_t mapped_vcs, mapped_types; /**< jobs that asked for unknown ones */
  uint64_t preemptions, retries;
  pai_time begin, makespan; /**< the first submission; to the last end */
  pai_time wait_mean, wait_p50, wait_p90, wait_p99, wait_max; /**< from
                 submission to the first start, of those that started */
  uint64_t slowdown_mean, slowdown_p50, slowdown_p90; /**< thousandths: time in
                 the system by time at work, at least 10 s, of those that
                 finished */
  uint32_t utilization; /**< millionths of GPU time, or of CPU time where there
                             are no GPUs, that were in use */
  uint32_t fragmentation; /**< millionths of the GPUs that were free, on nodes
                               that could not give what a task of eight or
                               all of theirs wants; mean over time */
  uint32_t fairness; /**< millionths: Jain's index over users, of what they
                               got by what they were entitled to */
  pai_time lost;     /**< lost work: time multiplied by GPUs */
} pai_sim_view;

/** @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_sim_look(const pai_sim_report *report, pai_sim_view *view);

/**
 * Writes one report, or several side by side.
 *
 * @param reports  of simulations of one trace on one cluster; not NULL
 * @param format   PAI_FORMAT_JSON: of one an object, of several an object with
 *                 "runs"; PAI_FORMAT_TEXT: a page for a terminal;
 *                 PAI_FORMAT_CSV: a row for each; PAI_FORMAT_HTML: one file
 *                 with pictures, that needs no other
 * @return PAI_OK; PAI_EINVAL; PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sim_write(const pai_sim_report *const *reports,
                                        size_t n, int format,
                                        pai_write_cb write, void *user_data,
                                        pai_error **err);

/** Reads what pai_sim_write() wrote of one report as JSON, owned by the
 *  caller.  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_read(pai_sim_report **out, const char *text,
                                       size_t len, const pai_alloc *alloc,
                                       pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_SIM_H */
