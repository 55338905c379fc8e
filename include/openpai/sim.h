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
  uint64_t id;   /**< id in the scheduler: number of the job in the trace, from
                      1 */
  uint64_t line; /**< line of the trace */
  const char *name, *user, *vc; /**< or NULL; valid until the callback
                                     returns */
  pai_time submitted;
  pai_time started;     /**< time of the first start; -1: never */
  pai_time ended;       /**< -1: the job has not ended */
  int state;            /**< PAI_STATE_SUCCEEDED, ...; 0: the job was
                             rejected */
  int code;             /**< completion code of the job */
  uint32_t tasks, gpus; /**< of all its tasks */
  uint32_t attempts, preemptions;
  pai_time lost; /**< lost work: time multiplied by GPUs */
} pai_sim_job;

typedef void (*pai_sim_job_cb)(void *user_data, const pai_sim_job *job);

/** Called for a job of the trace that is rejected, or changed before it is
 *  used.
 *  @param used  as in pai_trace_cb */
typedef pai_trace_cb pai_sim_line_cb;

/**
 * Options; zero-fill, or use PAI_SIM_OPTIONS_INIT.  Mean times are means of
 * exponential distributions.  Random numbers depend on `seed`.
 */
typedef struct pai_sim_options {
  size_t struct_size;
  const pai_alloc *alloc;     /**< NULL: malloc; copied */
  const char *policy;         /**< name of a built-in policy; NULL: "fifo" */
  const pai_policy *table;    /**< a policy of the caller instead */
  const char *policy_options; /**< a JSON object, or NULL */
  uint64_t seed;
  int strict;     /**< 1: a job with an unknown virtual cluster or SKU, or a
                       job that could never start, is an error.  0: an unknown
                       virtual cluster is replaced by `default`, an unknown SKU
                       by any; a job that could never start is rejected; such
                       jobs are counted */
  int estimates;  /**< 1: tell the policy the run time of jobs for which the
                       trace has no estimate */
  pai_time until; /**< time at which to stop; 0: when all jobs have ended */

  pai_time start_cost;   /**< delay between placement and work, e.g. for images
                              and data */
  pai_time restart_cost; /**< the same for a job that ran before; 0:
                              start_cost */
  pai_time stop_cost;    /**< delay between a stop request and the free node */
  pai_time checkpoint;   /**< run time after which a job saves its work; 0:
                              never, so a preempted job starts from the
                              beginning */
  pai_time node_up;      /**< mean time between failures of a node; 0: never */
  pai_time node_down;    /**< mean time to repair it; 0: four hours */
  uint32_t fail;     /**< probability, in thousandths, that an attempt fails,
                          at a random time and with code 1 */
  pai_time patience; /**< mean time after which the owner kills a job that has
                          not started; 0: never */
  uint32_t stretch;  /**< factor for durations, in thousandths; 0: 1000 */
  uint32_t spread;   /**< variation of durations in both directions, in
                          thousandths */

  pai_write_cb log;      /**< receives the scheduler's log, or NULL */
  pai_write_cb events;   /**< receives the events of jobs as lines of JSON, or
                              NULL */
  pai_sim_job_cb on_job; /**< receives each job when it has ended, or NULL */
  pai_sim_line_cb on_line;
  void *user_data; /**< passed to all callbacks */
  uint32_t bars;   /**< most runs that are kept for the chart of placements; 0:
                        4000 */
} pai_sim_options;

#define PAI_SIM_OPTIONS_INIT                                                 \
  {                                                                          \
    sizeof(pai_sim_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0                                                 \
  }

/**
 * Creates a simulation.  Its position is before the first record of the trace.
 *
 * @param[out] out  owned by the caller; NULL on failure
 * @param cluster   copied
 * @param trace     read while the simulation runs; must outlive it
 * @param opts      options, or NULL for defaults; a table must outlive the
 *                  simulation
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
 * @return 1: the simulation is not over; 0: it is over; PAI_EINVAL: a job is
 *         an error with the option `strict`; PAI_ELIMIT: the policy preempts
 *         runs at one time without end; as pai_trace_next(), pai_sched_send()
 *         and pai_sched_decide(); or the return value of a callback.  A failed
 *         simulation cannot continue, but its results so far can be reported.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sim_step(pai_sim *sim, pai_time until,
                                       pai_error **err);

/** The scheduler of the simulation, for reading only.  Valid until the next
 *  step.  @since 0.1 */
PAI_API const pai_sched *pai_sim_sched(const pai_sim *sim);

/** Creates a report of the results so far, owned by the caller.
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_report_of(pai_sim_report **out,
                                            const pai_sim *sim,
                                            pai_error **err);

/** Runs a whole simulation: pai_sim_new(), pai_sim_step() to the end,
 *  pai_sim_report_of().
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_run(pai_sim_report **out,
                                      const pai_cluster *cluster,
                                      pai_trace *trace,
                                      const pai_sim_options *opts,
                                      pai_error **err);

/* --- reports ---------------------------------------------------------------- */

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_sim_report_free(pai_sim_report *report);

/** Results of a simulation; all times are microseconds. */
typedef struct pai_sim_view {
  size_t struct_size;
  const char *policy;
  uint64_t seed;
  uint64_t lines_skipped; /**< unusable lines of the trace */
  uint64_t jobs;          /**< jobs that arrived */
  uint64_t rejected;      /**< jobs that could never start */
  uint64_t started;       /**< jobs that started at least once */
  uint64_t finished;      /**< jobs that ended by themselves, with success or
                               failure */
  uint64_t failed;        /**< finished jobs that failed */
  uint64_t killed;        /**< jobs killed by their owner or at their limit */
  uint64_t left;          /**< jobs that have not ended */
  uint64_t mapped_vcs, mapped_types; /**< jobs with an unknown virtual cluster;
                                          with an unknown SKU */
  uint64_t preemptions, retries;
  pai_time begin, makespan; /**< time of the first submission; time from it to
                                 the last end */
  /** Times from submission to the first start, of started jobs. */
  pai_time wait_mean, wait_p50, wait_p90, wait_p99, wait_max;
  /** Thousandths: time in the system divided by run time (at least 10 s), of
   *  finished jobs. */
  uint64_t slowdown_mean, slowdown_p50, slowdown_p90;
  uint32_t utilization;   /**< used GPU time, or CPU time in a cluster without
                               GPUs, in millionths */
  uint32_t fragmentation; /**< millionths of the GPUs: free GPUs of nodes with
                               fewer than eight free GPUs and not all of
                               theirs free; mean over time */
  uint32_t fairness;      /**< millionths: Jain's index over users of received
                               divided by entitled resources */
  pai_time lost;          /**< lost work: time multiplied by GPUs */
} pai_sim_view;

/** @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_sim_look(const pai_sim_report *report, pai_sim_view *view);

/**
 * Writes one report, or several side by side.
 *
 * @param reports  reports of simulations of one trace on one cluster; not NULL
 * @param format   PAI_FORMAT_JSON: an object for one report, an object with
 *                 "runs" for several; PAI_FORMAT_TEXT: a page for a terminal;
 *                 PAI_FORMAT_CSV: a row for each report; PAI_FORMAT_HTML: one
 *                 self-contained file with pictures
 * @return PAI_OK; PAI_EINVAL; PAI_ENOMEM; or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sim_write(const pai_sim_report *const *reports,
                                        size_t n, int format,
                                        pai_write_cb write, void *user_data,
                                        pai_error **err);

/** Reads a report that pai_sim_write() wrote as JSON; owned by the caller.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sim_read(pai_sim_report **out, const char *text,
                                       size_t len, const pai_alloc *alloc,
                                       pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_SIM_H */
