/**
 * @file openpai/forecast.h
 * Forecasts: when a job starts, the effect of a change (what-if), and which
 * smaller shapes of a job would start sooner.
 *
 *   pai_forecast_new(&f, sched, history, NULL, &err);
 *   pai_forecast_when(f, id, &when);      a range of start times
 *
 * Durations of jobs are not known.  A forecast simulates many futures on forks
 * of the scheduler, with durations drawn from the durations of similar jobs,
 * and evaluates the results.  The same scheduler, history and seed give the
 * same forecast.
 *
 * Threads: SERIAL for a history; IMMUTABLE for the rest.
 */
#ifndef OPENPAI_FORECAST_H
#define OPENPAI_FORECAST_H

#include <openpai/sched.h>

PAI_BEGIN_DECLS

/* --- history ---------------------------------------------------------------- */

typedef struct pai_history pai_history; /**< opaque; pai_history_free() */

/** A job that has ended, or a job whose duration is to be estimated. */
typedef struct pai_past {
  size_t struct_size;
  const char *user, *vc, *name; /**< or NULL */
  uint64_t gpus;                /**< of all its tasks */
  pai_time estimate;            /**< duration estimated by its owner; 0:
                                     none */
  pai_time limit;               /**< 0: none */
  pai_time duration;            /**< how long it ran */
  pai_time ended; /**< time of its end, by the scheduler's clock; 0: not known.
                       With these times, jobs that still run are counted, too,
                       when durations of similar jobs are estimated */
} pai_past;

/** Basis of a guess: jobs that have these properties in common and, if
 *  estimated by their owners, a similar estimate. */
enum {
  PAI_ALIKE_NONE = 0,      /**< too few jobs have ended: the guess uses the
                                job's estimate or limit, the few jobs, or an
                                hour */
  PAI_ALIKE_ANY = 1,       /**< all jobs; for a job with an estimate, the
                                errors of all estimates */
  PAI_ALIKE_SIZE = 2,      /**< a similar number of GPUs */
  PAI_ALIKE_VC_SIZE = 3,   /**< also the virtual cluster */
  PAI_ALIKE_USER = 4,      /**< the user */
  PAI_ALIKE_USER_SIZE = 5, /**< the user and a similar number of GPUs */
  PAI_ALIKE_NAME = 6       /**< the user and the name without its digits */
};

typedef struct pai_guess {
  size_t struct_size;
  int alike;        /**< PAI_ALIKE_NAME, ... */
  uint32_t samples; /**< number of jobs that the guess is based on */
  pai_time p10, p50, p90;
  int unknown; /**< 1: the times are meaningless, because no similar job has
                    ended and the job has no limit.  @since 0.1 */
} pai_guess;

/** @param alloc  NULL: malloc; copied
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_new(pai_history **out,
                                          const pai_alloc *alloc,
                                          pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_history_free(pai_history *history);

/** Adds a job that has ended by itself.  Only the last ones of similar jobs
 *  are kept, so memory grows with users and names, not with jobs.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_add(pai_history *history,
                                          const pai_past *past,
                                          pai_error **err);

/** Adds an arrival.  Simulated arrivals are modelled after the last arrivals.
 *  The request is copied.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_came(pai_history *history,
                                           const pai_request *request,
                                           pai_time time, pai_error **err);

/**
 * Adds arrivals and ends of jobs from a line of a scheduler's log, before the
 * line is sent to the scheduler.  Other lines and impossible events are
 * ignored.
 *
 * @param sched  the scheduler that will receive the line
 * @return PAI_OK; PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_history_line(pai_history *history,
                                           const pai_sched *sched,
                                           const char *line, size_t len,
                                           pai_error **err);

/** Estimates the duration of a job that has run for @p ran.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API int pai_history_guess(const pai_history *history, const pai_past *like,
                              pai_time ran, pai_guess *guess);

/** Writes a history as one line of JSON.
 *  @return PAI_OK; PAI_ENOMEM; or the return value of @p write  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_write(const pai_history *history,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** Reads a history that pai_history_write() wrote.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_read(pai_history **out, const char *text,
                                           size_t len, const pai_alloc *alloc,
                                           pai_error **err);

/* --- forecasts ----------------------------------------------------------- */

typedef struct pai_forecast pai_forecast; /**< opaque; pai_forecast_free() */

/** Whether to simulate arrivals of further jobs.  They arrive as often as
 *  recent jobs did in the same hours of the week, and resemble them.  Under
 *  `fifo` they delay no waiting request, under other policies they may. */
enum {
  PAI_ARRIVALS_KNOWN = 0, /**< if the history has 64 arrivals over a day or
                               more */
  PAI_ARRIVALS_ALL = 1,   /**< if the history has eight arrivals */
  PAI_ARRIVALS_NONE = 2   /**< no further arrivals */
};

/** Options; zero-fill, or use PAI_FORECAST_OPTIONS_INIT. */
typedef struct pai_forecast_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: as the scheduler's */
  uint32_t runs; /**< number of futures; 0: 100, or fewer, at least 12, if very
                      many requests wait */
  uint64_t seed;
  pai_time horizon; /**< length of the simulated future; 0: 90 days */
  int arrivals;     /**< PAI_ARRIVALS_* */
  uint64_t only;    /**< stop as soon as this request has started; 0: all */
  /** NULL, or called before each future, and several times in long ones;
      non-zero aborts with PAI_ECANCELED */
  int (*stop)(void *user_data);
  void *user_data; /**< for stop() */
} pai_forecast_options;

#define PAI_FORECAST_OPTIONS_INIT                        \
  {                                                      \
    sizeof(pai_forecast_options), 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** Forecast start of a request, or of its next instance. */
typedef struct pai_when {
  size_t struct_size;
  uint64_t id;
  pai_time p10, p50, p90; /**< times by which it starts with 10, 50 and 90
                               percent probability; INT64_MAX: not within the
                               horizon */
  uint32_t runs, started; /**< number of futures; number in which it started */
  int alike;              /**< worst PAI_ALIKE_* of the jobs that ended before
                               it started */
  uint32_t guessed; /**< mean number of these jobs whose duration was guessed,
                         not given by an estimate or limit */
  int unlike;  /**< 1: the present is unlike the past, so these times are less
                    certain: at least five running jobs, and a third of the
                    running jobs with similar past jobs, have run longer than
                    all similar jobs that ended */
  int unknown; /**< 1: the times are meaningless, because the jobs before this
                    request have no limits, and no similar job has ended.
                    @since 0.1 */
} pai_when;

/**
 * Makes a forecast for the waiting requests of a scheduler.
 *
 * @param sched    its policy must have clone(); not kept
 * @param history  NULL: use the owners' estimates and limits
 * @return PAI_OK; PAI_ENOTSUP: the scheduler cannot be forked; PAI_EINVAL;
 *         PAI_ENOMEM; PAI_ECANCELED; or the return value of the policy
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_forecast_new(pai_forecast **out,
                                           const pai_sched *sched,
                                           const pai_history *history,
                                           const pai_forecast_options *opts,
                                           pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_forecast_free(pai_forecast *forecast);

/** @return PAI_OK; PAI_ENOTFOUND: the request does not wait, or was excluded
 *          by `only`; PAI_EINVAL  @since 0.1 */
PAI_API int pai_forecast_when(const pai_forecast *forecast, uint64_t id,
                              pai_when *when);

/** Returns the waiting request that follows @p id; the first for 0; 0 at the
 *  end.  @since 0.1 */
PAI_API uint64_t pai_forecast_next(const pai_forecast *forecast, uint64_t id);

/**
 * Records the actual start of a request in the history.  This calibrates later
 * forecasts: their bands become wider or narrower.  The goal is that nine of
 * ten requests start before P90; docs/guide/forecasts.md says how often that
 * holds.
 *
 * @param started  not before the forecast was made
 * @return PAI_OK; PAI_ENOTFOUND: the request has no forecast; PAI_EINVAL
 * @since 0.1
 */
PAI_API int pai_forecast_met(const pai_forecast *forecast, uint64_t id,
                             pai_time started, pai_history *history);

/** Writes a forecast: PAI_FORMAT_TEXT, with its assumptions, or
 *  PAI_FORMAT_JSON.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM; or the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_forecast_write(const pai_forecast *forecast,
                                             int format, pai_write_cb write,
                                             void *user_data, pai_error **err);

/* --- what-ifs ------------------------------------------------------------ */

typedef struct pai_what_if pai_what_if; /**< opaque; pai_what_if_free() */

/**
 * Compares the futures with and without changes.  A job has the same duration
 * in both.
 *
 * @param events  the changes, at the scheduler's current time: submissions,
 *                cancellations, nodes, a cluster, a policy, ...; a submission
 *                without `request` has the request in `text`, in the format of
 *                the log
 * @return as pai_forecast_new(); or as pai_sched_send(), with the number of
 *         the event
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_new(
  pai_what_if **out, const pai_sched *sched, const pai_history *history,
  const pai_sched_event *events, size_t n, const pai_forecast_options *opts,
  pai_error **err);

/**
 * As pai_what_if_new(), with events as lines of JSON, in the format of
 * docs/internals/sched-log.md.  Their times are ignored.
 *
 * @param text  not kept
 * @return as pai_what_if_new(); PAI_EINVAL: a line is not an event
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_json(pai_what_if **out,
                                           const pai_sched *sched,
                                           const pai_history *history,
                                           const char *text, size_t len,
                                           const pai_forecast_options *opts,
                                           pai_error **err);

/**
 * Creates a cluster for PAI_SCHED_CLUSTER: a copy of the scheduler's cluster
 * with additional nodes, or with another share of a virtual cluster.
 *
 * @param[out] out  owned by the caller
 * @param from   a cluster to change further; NULL: the scheduler's
 * @param nodes  "2x gpu:8:h100", a description for pai_cluster_synthetic(), or
 *               "2x dgx", an existing SKU; NULL: none
 * @param vc     virtual cluster to change; NULL: none
 * @param share  new share in cells, "dgx:12", or "12" if it has only one type
 * @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND: no such virtual cluster;
 *         PAI_ENOTSUP: the cluster's nodes are not described by SKUs;
 *         PAI_ENOMEM; or as pai_cluster_parse()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_cluster(
  pai_cluster **out, const pai_sched *sched, const pai_cluster *from,
  const char *nodes, const char *vc, const char *share, pai_error **err);

/** One change of a cluster; members that are NULL change nothing. */
typedef struct pai_cluster_change {
  size_t struct_size;
  const char *nodes; /**< nodes to add, as for pai_what_if_cluster() */
  const char *vc;    /**< virtual cluster to change */
  const char *share; /**< its new share; required if vc is set */
} pai_cluster_change;

/**
 * Creates a cluster with several changes.  Only the cluster after the last
 * change has to be valid, so a share can be moved between virtual clusters by
 * two changes in any order.
 *
 * @param[out] out  owned by the caller
 * @param from      a cluster to change further; NULL: the scheduler's
 * @param changes   n changes, applied one after the other
 * @return as pai_what_if_cluster()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_cluster_changes(
  pai_cluster **out, const pai_sched *sched, const pai_cluster *from,
  const pai_cluster_change *changes, size_t n, pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_what_if_free(pai_what_if *what_if);

/** The forecast without the changes.  @since 0.1 */
PAI_API const pai_forecast *pai_what_if_before(const pai_what_if *what_if);
/** @since 0.1 */
PAI_API const pai_forecast *pai_what_if_after(const pai_what_if *what_if);

/** Effects of the changes, at once and later. */
typedef struct pai_what_if_view {
  size_t struct_size;
  uint32_t start_now; /**< instances that start at once only with the
                           changes */
  uint32_t stop_now;  /**< running instances that are stopped or lose their
                           node */
  uint32_t move;      /**< running instances that are stopped and start
                           elsewhere */
  uint32_t sooner, later, same; /**< waiting requests, by their median start */
  uint32_t never;               /**< requests that no longer start */
  /** Mean wait of the waiting requests that start in some futures both with
   *  and without the changes; a wait beyond the horizon counts as the horizon.
   *  wait_before is computed from the medians, wait_after adds the mean
   *  difference within the futures. */
  pai_time wait_before, wait_after;
  uint32_t preempted_before, preempted_after; /**< mean, in hundredths */
  uint32_t used_before, used_after; /**< used GPU time until all waiting
                                         requests have started, in
                                         millionths */
  int unsafe;                       /**< 1: a running instance is lost */
  int unlike;                       /**< 1: as in pai_when */
} pai_what_if_view;

/** @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API int pai_what_if_look(const pai_what_if *what_if,
                             pai_what_if_view *view);

/** Writes the requests that start, stop, move, or start sooner or later.
 *  @return as pai_forecast_write()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_what_if_write(const pai_what_if *what_if,
                                            int format, pai_write_cb write,
                                            void *user_data, pai_error **err);

/* --- shapes -------------------------------------------------------------- */

typedef struct pai_shapes pai_shapes; /**< opaque; pai_shapes_free() */

/** A shape of a waiting request; strings belong to the pai_shapes. */
typedef struct pai_shape {
  size_t struct_size;
  const char *what;      /**< text for people, such as "4 GPUs for each task
                              rather than 8" */
  const char *vc, *type; /**< new value; NULL: unchanged */
  uint32_t want;         /**< index of the changed resource request */
  uint32_t tasks, gpus;  /**< of that resource request */
  pai_time p50, p90;     /**< start of this shape */
  uint32_t share;        /**< GPUs relative to the original request, in
                              thousandths */
} pai_shape;

/**
 * Simulates smaller shapes of a waiting request on forks of the scheduler.
 * Shapes are sorted, best first: earlier starts with more of the requested
 * GPUs.
 *
 * @param vcs  further virtual clusters that its user may use; NULL with 0
 * @return PAI_OK; PAI_ENOTFOUND: the request does not wait; as
 *         pai_forecast_new()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_shapes_new(
  pai_shapes **out, const pai_sched *sched, const pai_history *history,
  uint64_t id, const char *const *vcs, size_t nvcs,
  const pai_forecast_options *opts, pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_shapes_free(pai_shapes *shapes);

/** Gets shape @p i, from 0.  The first is the original request.
 *  @return PAI_OK; PAI_ENOTFOUND: no such shape; PAI_EINVAL  @since 0.1 */
PAI_API int pai_shapes_get(const pai_shapes *shapes, size_t i,
                           pai_shape *shape);

/** Writes the shapes.  @return as pai_forecast_write()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_shapes_write(const pai_shapes *shapes,
                                           int format, pai_write_cb write,
                                           void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_FORECAST_H */
