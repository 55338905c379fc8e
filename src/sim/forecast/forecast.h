/*
 * forecast.h - internal: forecasts: ensembles of futures of a scheduler
 *
 * A future is a fork of the scheduler that is driven on with drawn durations.
 * An ensemble is many futures, and a forecast is what an ensemble says.
 * What-ifs and shapes compare several forecasts.
 *
 * Jobs that still run count in the draws too: of jobs that began together, the
 * short ones end first, so durations of ended jobs alone are too short.  The
 * share of jobs that take longer than a time is estimated from both, by the
 * Kaplan-Meier estimator: a running job counts among the jobs that might have
 * ended, up to the time that it has run.
 */
#ifndef PAI_SRC_SIM_FORECAST_FORECAST_H
#define PAI_SRC_SIM_FORECAST_FORECAST_H

#include "base/arena.h"
#include "base/prng.h"
#include "sched/inspect.h"
#include "sim/forecast/history.h"
#include "json/writer.h"

/* --- running jobs (censored.c) ------------------------------------------- */

enum { PAI__MOST_RUNNING = 128 }; /* of a ring; of more, a sample is kept */

/* Survival curve of a ring and of the running jobs that are like it. */
typedef struct pai__curve {
  uint32_t running; /* number of ages */
  uint32_t seen;    /* running jobs, of which the ages are a sample */
  /* Run times so far; ascending after pai__curves_make(). */
  pai_time ages[PAI__MOST_RUNNING];
  /* Share of jobs that take longer than the i-th duration of the ring,
   * ascending, in units of 2^-32. */
  uint64_t longer[PAI__RING];
  uint32_t count; /* durations of the ring */
} pai__curve;

/* Curves by the ring that they are of. */
typedef struct pai__curves {
  pai_alloc alloc;
  pai__map by_ring; /* keys are pointers, so their order must not matter */
  uint32_t running; /* running jobs of which similar jobs have ended */
  uint32_t outlast; /* those that have run longer than all similar jobs */
} pai__curves;

void pai__curves_init(pai__curves *c, const pai_alloc *alloc);
void pai__curves_dispose(pai__curves *c);
/* Adds a job that runs since a time.  Returns PAI_OK or PAI_ENOMEM. */
int pai__curves_add(pai__curves *c, const pai__levels *levels, pai_time since,
                    pai_time now);
/* Computes the curves when all running jobs were added. */
void pai__curves_make(pai__curves *c);
/* Looks up the curves of a job's levels. */
void pai__curves_find(const pai__curves *c, pai__levels *levels);

/* Returns whether so many running jobs have outlasted all similar jobs that
 * the history says little about them. */
static inline bool pai__curves_unlike(const pai__curves *c)
{
  return c->outlast >= 5 && c->outlast >= c->running / 3;
}

/* Draws a duration from the last `count` durations of a ring, all longer than
 * `ran`. */
pai_time pai__curve_pick(const pai__curve *c, const pai_time *list,
                         uint32_t count, pai_time ran, uint32_t random);

/* --- simulated arrivals (hours.c) ---------------------------------------- */

/* Limit for one future, so that it ends even if queues only grow. */
enum { PAI__MOST_ARRIVALS = 2000 };

/* First id of simulated jobs. */
#define PAI__UNBORN (UINT64_C(1) << 62)

/* Pattern of simulated arrivals, the same in all futures. */
typedef struct pai__arrival_pattern {
  const pai_history *h; /* must stay valid while futures run */
  uint32_t like;        /* recorded arrivals */
  pai__rhythm rhythm;
  uint32_t n; /* number of gaps; 0: no arrivals */
  /* Gaps before the second arrival, the third, ..., in even time. */
  pai_time gaps[PAI__RECORDED_ARRIVALS];
} pai__arrival_pattern;

typedef struct pai__arrivals {
  const pai__arrival_pattern *pattern;
  pai__prng prng;
  pai_time next; /* time of the next arrival; INT64_MAX: never */
  uint32_t at;   /* index of the gap before it */
  uint32_t left; /* arrivals left of the repeated sequence */
  uint64_t count;
} pai__arrivals;

/* Returns whether enough is known of past arrivals to simulate more. */
bool pai__arrivals_known(const pai_history *h);

/* Makes the pattern; it has no arrivals if too few are recorded.  `h` may be
 * NULL, and must outlive it. */
void pai__arrival_pattern_init(pai__arrival_pattern *c, const pai_history *h,
                               pai_time now);

void pai__arrivals_init(pai__arrivals *a, const pai__arrival_pattern *c,
                        pai_time now, uint64_t seed);
/* Returns the job that comes at `next`, with an id of its own, and draws the
 * time of the one after it. */
void pai__arrivals_take(pai__arrivals *a, pai_request *out);

/* --- ensembles (future.c, forecast.c) ------------------------------------ */

/* A request of the scheduler. */
typedef struct pai__future_job {
  uint64_t id;
  uint64_t gpus; /* of all tasks of an instance */
  uint32_t wait; /* index in `waits`, or PAI__NONE */
  pai__levels levels;
} pai__future_job;

/* A request that waits. */
typedef struct pai__future_wait {
  uint64_t id;
  const char *name, *user, *vc; /* in the forecast's arena */
  bool stuck;                   /* held, or its dependency has failed */
  uint32_t started;             /* number of futures in which it started */
  int alike;                    /* least specific guess before its start */
  uint64_t guessed;             /* number of guesses, summed over futures */
  bool blind;                   /* a guess was made without any similar job */
  pai_time p10, p50, p90;       /* times; INT64_MAX: never */
  pai_time *waits;              /* for each future; ascending in the end */
} pai__future_wait;

/* What happens to an instance in the first moment, which is the same in all
 * futures. */
typedef struct pai__future_now {
  uint64_t id;
  uint32_t instance;
  bool stopped; /* it ran, and is stopped */
  bool started; /* it is placed */
} pai__future_now;

struct pai_forecast {
  pai_alloc alloc;
  pai__arena arena;
  pai_time now, horizon;
  uint64_t seed, only;
  int (*stop)(void *user_data); /* or NULL */
  void *stop_data;
  uint64_t work;                /* since `stop` was called */
  uint32_t runs;                /* futures that have run */
  uint32_t room;                /* length of each request's list of waits */
  uint64_t spent;               /* waiting requests, summed over decisions */
  bool fixed;                   /* the caller has set the number of futures */
  bool arrivals;                /* new jobs arrive */
  pai__arrival_pattern pattern; /* in this pattern */
  bool believed;                /* no history: uses estimates */
  uint32_t calibrated;          /* number of forecasts used for it */
  pai__future_job *jobs;
  uint32_t njobs;
  pai__lookup index;  /* of jobs, by id */
  pai__curves curves; /* of the running jobs */
  pai__future_wait *waits;
  uint32_t nwaits;
  pai_time *block; /* memory of all lists of waits */
  pai__future_now *first;
  size_t nfirst, first_cap;
  uint64_t preempted; /* summed over futures */
  uint64_t used;      /* millionths of GPU time, summed over futures */
  uint64_t gpus;
};

/* Nodes that fail in the first moment, with the runs on them; NULL: none. */
typedef struct pai__first_failures {
  const uint32_t *sick;
  size_t nsick;
} pai__first_failures;

/* Lists the waiting requests and runs all futures. waits[i] of a request
 * belongs to future i until pai__forecast_count() sorts them.  Returns as
 * pai_forecast_new(). */
int pai__forecast_run(pai_forecast **out, const pai_sched *sched,
                      const pai_history *history,
                      const pai_forecast_options *opts,
                      const pai__first_failures *failures, pai_error **err);
int pai__forecast_count(pai_forecast *f, const pai_history *h,
                        pai_error **err);
/* Calls pai__forecast_run() and pai__forecast_count(). */
int pai__forecast_make(pai_forecast **out, const pai_sched *sched,
                       const pai_history *history,
                       const pai_forecast_options *opts, pai_error **err);

/* Counts work, in looks at a wait or a waiting request, and asks now and then
 * whether the caller wants to stop.  Returns PAI_OK, or PAI_ECANCELED with an
 * error. */
int pai__forecast_go_on(pai_forecast *f, uint64_t work, pai_error **err);

/* Runs one future. */
int pai__future_run(pai_forecast *f, const pai_sched *sched,
                    const pai_history *history,
                    const pai__first_failures *failures, uint32_t run,
                    pai_error **err);

pai__future_wait *pai__forecast_find(const pai_forecast *f, uint64_t id);

/* Copies the options in the layout of this version; NULL: defaults.  Returns
 * PAI_OK or PAI_EINVAL. */
int pai__forecast_options(pai_forecast_options *out,
                          const pai_forecast_options *opts, pai_error **err);

/* Compares times, for qsort(). */
int pai__by_time(const void *a, const void *b);

/* --- what-ifs: two forecasts compared (what_if.c) ------------------------ */

/* What happens to an instance at once. */
enum pai__sim_turn { PAI__STARTS = 1, PAI__STOPS, PAI__MOVES };

typedef struct pai__turned {
  uint64_t id;
  uint32_t instance;
  uint8_t what; /* enum pai__sim_turn */
  bool asked;   /* it was cancelled by one of the changes */
  bool node;    /* its node was removed or is sick */
  const char *name, *user;
} pai__turned;

struct pai_what_if {
  pai_alloc alloc;
  pai__arena arena;
  pai_forecast *before, *after;
  pai_time *longer; /* for each request in `before` */
  pai__turned *turned;
  size_t nturned, turned_cap;
  pai_what_if_view view;
};

/* Returns how much longer a request waits; negative: it starts sooner.  Both
 * forecasts must start it. */
pai_time pai__waits_longer(const pai_what_if *w,
                           const pai__future_wait *before);
/* Adds the number of the change that failed, if there are n > 1, in place of
 * the scheduler's number of the event.  Returns `rc`. */
int pai__change_blame(pai_error **err, size_t i, size_t n, int rc);
/* Compares starts: 0 if they are nearly equal, within a second or a hundredth
 * of the wait; 1: later; -1: sooner. */
int pai__compare_starts(const pai_what_if *w, const pai__future_wait *before,
                        const pai__future_wait *after);

/* --- shapes (shapes.c) --------------------------------------------------- */

enum { PAI__SHAPE_ASKS = 4 };

/* A change of the request, as members of pai_sched_event. */
typedef struct pai__shape_change {
  const char *key, *text;
  uint32_t want;
  int64_t number;
} pai__shape_change;

typedef struct pai__sim_trial {
  pai_shape view;
  pai__shape_change changes[PAI__SHAPE_ASKS];
  uint32_t nchanges;
  uint64_t score; /* the higher, the better */
} pai__sim_trial;

struct pai_shapes {
  pai_alloc alloc;
  pai__arena arena;
  pai_forecast *as_is;
  uint64_t gpus;        /* of the request as it is */
  pai__sim_trial *list; /* first the request as it is, then the best shapes */
  size_t n, cap;
};

/* --- text and JSON (forecast_text.c) ------------------------------------- */

/* "40 s", "35 min", "2 h 10 min", "3 d 4 h": two units at most. */
void pai__spell_span(pai__buf *out, pai_time span);

/* "at 14:05", or "in 2 h 10 min". */
void pai__spell_at(pai__buf *out, pai_time now, pai_time t);

/* "train (request 17) of ann". */
void pai__say_who(pai__buf *out, uint64_t id, const char *name,
                  const char *user);
/* "between 14:05 and 17:30, most likely about 15:10". */
void pai__say_band(pai__buf *out, const pai_forecast *f,
                   const pai__future_wait *w);
/* Adds a sentence about the assumptions of a forecast, for the request `w` or,
 * if NULL, for all. */
void pai__say_assumed(pai__buf *out, const pai_forecast *f,
                      const pai__future_wait *w);

/* Writes the members of an object that has begun. */
void pai__put_forecast(pai__json_writer *w, const pai_forecast *f);
/* Writes a key with a time; null for INT64_MAX. */
void pai__put_time(pai__json_writer *w, const char *key, pai_time t);

/* Writes the text that `say` makes, or the JSON that `put` makes.  Returns as
 * pai_forecast_write(). */
int pai__say_or_put(const pai_alloc *alloc, int format,
                    void (*say)(pai__buf *out, const void *what),
                    void (*put)(pai__json_writer *w, const void *what),
                    const void *what, pai_write_cb write, void *user_data,
                    pai_error **err);

#endif
