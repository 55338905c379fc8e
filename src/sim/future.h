/*
 * future.h - internal: what may become of a scheduler
 *
 * A future is a fork that is driven on, with durations drawn.  Many of them
 * are an ensemble; a forecast is what an ensemble is told as.
 */
#ifndef PAI_SRC_SIM_FUTURE_H
#define PAI_SRC_SIM_FUTURE_H

#include "base/arena.h"
#include "sched/flat.h"
#include "sim/arrivals.h"
#include "sim/censored.h"

/* A request that is there. */
typedef struct pai__fjob {
  uint64_t id;
  uint64_t gpus; /* of all tasks of an instance */
  uint32_t wait; /* of those that wait, or PAI__NONE */
  pai__levels levels;
} pai__fjob;

/* One that waits. */
typedef struct pai__fwait {
  uint64_t id;
  const char *name, *user, *vc; /* the forecast's arena's */
  bool stuck;                   /* it is held, or comes after what cannot be */
  uint32_t started;             /* futures */
  int alike;                    /* the worst that it waited for */
  uint64_t guessed;             /* sum over futures */
  bool blind;             /* one before it was guessed of nothing at all */
  pai_time p10, p50, p90; /* times, INT64_MAX: never */
  pai_time *waits;        /* one for each future, ascending in the end */
} pai__fwait;

/* What happens to an instance in the first moment, which is the same in all
 * futures. */
typedef struct pai__fnow {
  uint64_t id;
  uint32_t instance;
  bool stopped; /* it ran, and does no more */
  bool started; /* it has a place that it had not */
} pai__fnow;

struct pai_forecast {
  pai_alloc alloc;
  pai__arena arena;
  pai_time now, horizon;
  uint64_t seed, only;
  int (*stop)(void *user_data); /* or NULL */
  void *stop_data;
  uint32_t runs;       /* that were driven, */
  uint32_t room;       /* and that there is room for, of each wait's list */
  uint64_t spent;      /* requests that waited, over all decisions */
  bool fixed;          /* the caller said how many */
  bool arrivals;       /* jobs go on coming, */
  pai__coming coming;  /* like these */
  bool believed;       /* without a history */
  uint32_t calibrated; /* by so many that came true */
  pai__fjob *jobs;
  uint32_t njobs;
  pai__lookup index;  /* of jobs, by id */
  pai__curves curves; /* of those that run */
  pai__fwait *waits;
  uint32_t nwaits;
  pai_time *block; /* all waits' lists */
  pai__fnow *first;
  size_t nfirst, first_cap;
  uint64_t preempted; /* sums over futures */
  uint64_t used;      /* of millionths of GPU time */
  uint64_t gpus;
};

/* Nodes that fail in the first moment, with what runs there; NULL: none. */
typedef struct pai__twist {
  const uint32_t *sick;
  size_t nsick;
} pai__twist;

/* Lists what waits, and runs all futures: the i-th of a request's waits is of
 * future i until pai__forecast_count() sorts them.  The codes of
 * pai_forecast_new(). */
int pai__forecast_run(pai_forecast **out, const pai_sched *sched,
                      const pai_history *history,
                      const pai_forecast_options *opts,
                      const pai__twist *twist, pai_error **err);
void pai__forecast_count(pai_forecast *f, const pai_history *h);
/* Both of them. */
int pai__forecast_make(pai_forecast **out, const pai_sched *sched,
                       const pai_history *history,
                       const pai_forecast_options *opts, pai_error **err);

/* One future. */
int pai__future_run(pai_forecast *f, const pai_sched *sched,
                    const pai_history *history, const pai__twist *twist,
                    uint32_t run, pai_error **err);

pai__fwait *pai__forecast_find(const pai_forecast *f, uint64_t id);

#endif
