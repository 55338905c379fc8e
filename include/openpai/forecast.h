/**
 * @file openpai/forecast.h
 * What will be: when a job starts, what a change would do, in which shape a
 * job would start sooner.
 *
 *   pai_forecast_new(&f, sched, history, NULL, &err);
 *   pai_forecast_when(f, id, &when);      what waits, as a band
 *
 * Nobody knows how long jobs take.  So forks of the scheduler are driven into
 * the future many times, with durations drawn from what similar jobs took, and
 * what comes out is counted.  The same scheduler, history and seed give the
 * same answer.
 *
 * Threads: SERIAL for a history; IMMUTABLE for the rest.
 */
#ifndef OPENPAI_FORECAST_H
#define OPENPAI_FORECAST_H

#include <openpai/sched.h>

PAI_BEGIN_DECLS

/* --- history ---------------------------------------------------------------- */

typedef struct pai_history pai_history; /**< opaque; pai_history_free() */

/** A job that has ended, or one to be guessed at. */
typedef struct pai_past {
  size_t struct_size;
  const char *user, *vc, *name; /**< or NULL */
  uint64_t gpus;                /**< of all its tasks */
  pai_time estimate;            /**< what its owner believed; 0: nothing */
  pai_time limit;               /**< 0: none */
  pai_time duration;            /**< how long it ran */
  pai_time ended; /**< when that was, by the scheduler's clock; 0: not known.
                       Jobs that run count with those that ended since it began
                       to be known of jobs alike */
} pai_past;

/** How a guess was made: from jobs that have this in common, and that their
 *  owners believed to take about as long, if they told. */
enum {
  PAI_ALIKE_NONE = 0,      /**< too few jobs have ended: its estimate or limit,
                                or what there is, or an hour */
  PAI_ALIKE_ANY = 1,       /**< nothing; if its owner has told how long it
                                takes, how wrong all who told were */
  PAI_ALIKE_SIZE = 2,      /**< about as many GPUs */
  PAI_ALIKE_VC_SIZE = 3,   /**< also the virtual cluster */
  PAI_ALIKE_USER = 4,      /**< the user */
  PAI_ALIKE_USER_SIZE = 5, /**< the user, about as many GPUs */
  PAI_ALIKE_NAME = 6       /**< the user and the name but for its numbers */
};

typedef struct pai_guess {
  size_t struct_size;
  int alike;        /**< PAI_ALIKE_NAME, ... */
  uint32_t samples; /**< how many jobs */
  pai_time p10, p50, p90;
  int
    unknown; /**< 1: no job has ended yet that it could be told by, nor has it
                    a limit, so the times are not worth telling.  @since 0.1 */
} pai_guess;

/** @param alloc  NULL: malloc; copied
 *  @return PAI_OK; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_new(pai_history **out,
                                          const pai_alloc *alloc,
                                          pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_history_free(pai_history *history);

/** A job has ended by itself.  Of jobs alike the last ones are kept, so that
 *  memory grows with users and names, not with jobs.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_add(pai_history *history,
                                          const pai_past *past,
                                          pai_error **err);

/** A request has come: further ones come like those that came last.  It is
 *  copied.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_came(pai_history *history,
                                           const pai_request *request,
                                           pai_time time, pai_error **err);

/**
 * Learns from a line of a scheduler's log, before it is sent: what comes and
 * what ends.  Other lines, and what cannot be true, teach nothing.
 *
 * @param sched  that will be given the line
 * @return PAI_OK; PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_history_line(pai_history *history,
                                           const pai_sched *sched,
                                           const char *line, size_t len,
                                           pai_error **err);

/** How long a job takes that has run for @p ran.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API int pai_history_guess(const pai_history *history, const pai_past *like,
                              pai_time ran, pai_guess *guess);

/** Writes it as one line of JSON.
 *  @return PAI_OK; PAI_ENOMEM; or what @p write answered  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_write(const pai_history *history,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** Reads what pai_history_write() wrote.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_history_read(pai_history **out, const char *text,
                                           size_t len, const pai_alloc *alloc,
                                           pai_error **err);

/* --- when ------------------------------------------------------------------- */

typedef struct pai_forecast pai_forecast; /**< opaque; pai_forecast_free() */

/** Whether jobs come that are not there yet.  They come as often as the last
 *  ones did in such hours of the week, and are like these: with `fifo` nobody
 *  waits for them, but with other policies. */
enum {
  PAI_ARRIVALS_KNOWN = 0, /**< if the history has seen 64 in a day or more */
  PAI_ARRIVALS_ALL = 1,   /**< if it has seen eight */
  PAI_ARRIVALS_NONE = 2   /**< only those count that are there */
};

/** Options; zero-fill, or use PAI_FORECAST_OPTIONS_INIT. */
typedef struct pai_forecast_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: as the scheduler's */
  uint32_t runs; /**< how many futures; 0: 100, and fewer, but at least
                               12, if very many wait */
  uint64_t seed;
  pai_time horizon; /**< no further than so long from now; 0: 90 days */
  int arrivals;     /**< PAI_ARRIVALS_* */
  uint64_t only;    /**< stop as soon as this request has started; 0: all */
  /** NULL, or asked before each future: non-zero gives up, with PAI_ECANCELED */
  int (*stop)(void *user_data);
  void *user_data; /**< for stop() */
} pai_forecast_options;

#define PAI_FORECAST_OPTIONS_INIT                        \
  {                                                      \
    sizeof(pai_forecast_options), 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** When a request starts, or its next instance. */
typedef struct pai_when {
  size_t struct_size;
  uint64_t id;
  pai_time p10, p50, p90; /**< with so many chances of a hundred it has started
                               by then; INT64_MAX: not within the horizon */
  uint32_t runs, started; /**< futures; those in which it started */
  int alike;              /**< the worst guess among those that ended before it
                         started */
  uint32_t guessed; /**< how many of these were guessed, and not told by their
                         owners or limits; mean */
  int unlike;  /**< 1: the present is unlike the past, so these times are less
                   certain: five jobs or more, and a third of those with a
                   past, have run for longer than all like them that ended */
  int unknown; /**< 1: no job has ended yet that those before it could be told
                    by, nor have they limits, so the times are not worth telling.
                    @since 0.1 */
} pai_when;

/**
 * Looks into the future of a scheduler.
 *
 * @param sched    its policy must have clone(); not kept
 * @param history  NULL: owners' estimates and limits are believed
 * @return PAI_OK; PAI_ENOTSUP: no forks; PAI_EINVAL; PAI_ENOMEM; PAI_ECANCELED;
 *         or what the policy answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_forecast_new(pai_forecast **out,
                                           const pai_sched *sched,
                                           const pai_history *history,
                                           const pai_forecast_options *opts,
                                           pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_forecast_free(pai_forecast *forecast);

/** @return PAI_OK; PAI_ENOTFOUND: it does not wait, or was not asked for;
 *  PAI_EINVAL  @since 0.1 */
PAI_API int pai_forecast_when(const pai_forecast *forecast, uint64_t id,
                              pai_when *when);

/** The request behind @p id of those that wait, 0: the first; 0 at the end.
 *  @since 0.1 */
PAI_API uint64_t pai_forecast_next(const pai_forecast *forecast, uint64_t id);

/**
 * One of those that waited has started: how good the forecast was is kept in
 * the history, and further ones are made wider or narrower by it.  The goal is
 * that nine of ten start before what is told as P90; docs/guide/forecasts.md
 * has how often that holds.
 *
 * @param started  not before the forecast was made
 * @return PAI_OK; PAI_ENOTFOUND: it was not forecast; PAI_EINVAL
 * @since 0.1
 */
PAI_API int pai_forecast_met(const pai_forecast *forecast, uint64_t id,
                             pai_time started, pai_history *history);

/** Writes it: PAI_FORMAT_TEXT, with what was assumed, or PAI_FORMAT_JSON.
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOMEM; or what @p write answered
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_forecast_write(const pai_forecast *forecast,
                                             int format, pai_write_cb write,
                                             void *user_data, pai_error **err);

/* --- what if ---------------------------------------------------------------- */

typedef struct pai_what_if pai_what_if; /**< opaque; pai_what_if_free() */

/**
 * Compares the future as it is with one after some changes: the same jobs take
 * as long in both.
 *
 * @param events  what is changed, at the scheduler's time: submissions,
 *                cancellations, nodes, a cluster, a policy, ...; a submission
 *                without a request has it in `text`, in the log's form
 * @return as pai_forecast_new(); or as pai_sched_send(), with the number of
 *         the event
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_new(
  pai_what_if **out, const pai_sched *sched, const pai_history *history,
  const pai_sched_event *events, size_t n, const pai_forecast_options *opts,
  pai_error **err);

/**
 * As pai_what_if_new(), of events as lines of JSON: docs/internals/sched-log.md
 * has the form.  Their times do not count.
 *
 * @param text  not kept
 * @return as pai_what_if_new(); PAI_EINVAL: a line is no event
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_json(pai_what_if **out,
                                           const pai_sched *sched,
                                           const pai_history *history,
                                           const char *text, size_t len,
                                           const pai_forecast_options *opts,
                                           pai_error **err);

/**
 * Makes a cluster for PAI_SCHED_CLUSTER: as the scheduler has it, but for
 * nodes that are added, or another share of a virtual cluster.
 *
 * @param[out] out  owned by the caller
 * @param from   one that was changed already; NULL: the scheduler's own
 * @param nodes  "2x gpu:8:h100", a description as of pai_cluster_synthetic(),
 *               or "2x dgx", a SKU that is there; NULL: none
 * @param vc     which virtual cluster; NULL: none
 * @param share  cells, as "dgx:12", or "12" where it has but one type
 * @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND: no such virtual cluster;
 *         PAI_ENOTSUP: its nodes are not told by SKUs; PAI_ENOMEM; or as
 *         pai_cluster_parse()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_cluster(
  pai_cluster **out, const pai_sched *sched, const pai_cluster *from,
  const char *nodes, const char *vc, const char *share, pai_error **err);

/** One change of a cluster; members that are NULL change nothing. */
typedef struct pai_cluster_change {
  size_t struct_size;
  const char *nodes; /**< nodes that are added, as for pai_what_if_cluster() */
  const char *vc;    /**< a virtual cluster that gets another share */
  const char *share; /**< which one; not NULL where there is a vc */
} pai_cluster_change;

/**
 * Makes a cluster with several changes, as pai_what_if_cluster() with one.  Only
 * the cluster after the last change has to be valid: so a share can move from
 * one virtual cluster to another, in any order.
 *
 * @param[out] out  owned by the caller
 * @param from      one that was changed already; NULL: the scheduler's own
 * @param changes   n of them, applied one after the other
 * @return as pai_what_if_cluster()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_what_if_cluster_changes(
  pai_cluster **out, const pai_sched *sched, const pai_cluster *from,
  const pai_cluster_change *changes, size_t n, pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_what_if_free(pai_what_if *what_if);

/** Both futures.  @since 0.1 */
PAI_API const pai_forecast *pai_what_if_before(const pai_what_if *what_if);
/** @since 0.1 */
PAI_API const pai_forecast *pai_what_if_after(const pai_what_if *what_if);

/** What the changes do at once, and then. */
typedef struct pai_what_if_view {
  size_t struct_size;
  uint32_t start_now; /**< instances that start at once, and would not */
  uint32_t stop_now;  /**< that run, and are stopped or lose their node */
  uint32_t move;      /**< that are stopped and start elsewhere */
  uint32_t sooner, later, same; /**< waiting requests, by their median start */
  uint32_t never;               /**< that do not start any more */
  /** Mean of what waits, a wait beyond the horizon as long as that; before the
   *  change of the medians, and after it with what differs within the futures. */
  pai_time wait_before, wait_after;
  uint32_t preempted_before, preempted_after; /**< mean, in hundredths */
  uint32_t used_before, used_after; /**< millionths of GPU time until all that
                                         waits has started */
  int unsafe;                       /**< 1: something that runs is lost */
  int unlike;                       /**< 1: as in pai_when */
} pai_what_if_view;

/** @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API int pai_what_if_look(const pai_what_if *what_if,
                             pai_what_if_view *view);

/** As pai_forecast_write(): which requests start, stop, move, are sooner or
 *  later.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_what_if_write(const pai_what_if *what_if,
                                            int format, pai_write_cb write,
                                            void *user_data, pai_error **err);

/* --- make it fit ------------------------------------------------------------ */

typedef struct pai_shapes pai_shapes; /**< opaque; pai_shapes_free() */

/** Another shape of a request that waits; strings belong to the shapes. */
typedef struct pai_shape {
  size_t struct_size;
  const char *what;      /**< for people, as "4 GPUs for each task rather than
                             8" */
  const char *vc, *type; /**< another one, or NULL: as it is */
  uint32_t want;         /**< that is changed */
  uint32_t tasks, gpus;  /**< of that want */
  pai_time p50, p90;     /**< when it would start */
  uint32_t share;        /**< thousandths of the GPUs that it wanted */
} pai_shape;

/**
 * Tries cheaper shapes of a request on forks, the best first: who starts sooner
 * with more of what was wanted.
 *
 * @param vcs  virtual clusters that its user may use besides; NULL with 0
 * @return PAI_OK; PAI_ENOTFOUND: it does not wait; as pai_forecast_new()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_shapes_new(
  pai_shapes **out, const pai_sched *sched, const pai_history *history,
  uint64_t id, const char *const *vcs, size_t nvcs,
  const pai_forecast_options *opts, pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_shapes_free(pai_shapes *shapes);

/** Shape @p i, from 0: the request as it is comes first.
 *  @return PAI_OK; PAI_ENOTFOUND: there are fewer; PAI_EINVAL  @since 0.1 */
PAI_API int pai_shapes_get(const pai_shapes *shapes, size_t i,
                           pai_shape *shape);

/** As pai_forecast_write().  @since 0.1 */
PAI_API PAI_NODISCARD int pai_shapes_write(const pai_shapes *shapes,
                                           int format, pai_write_cb write,
                                           void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_FORECAST_H */
