/*
 * history.h - internal: history of job durations and arrivals, and accuracy of
 * past forecasts
 *
 * The last durations of similar jobs are kept in a ring, under a key that says
 * what the jobs have in common: from user and name down to nothing.  A guess
 * is made from the most specific level that has enough durations.
 */
#ifndef PAI_SRC_SIM_FORECAST_HISTORY_H
#define PAI_SRC_SIM_FORECAST_HISTORY_H

#include "base/map.h"

#include <openpai/forecast.h>

/* --- arrivals by hour of the week (hours.c) ------------------------------ */

enum { PAI__HOURS = 7 * 24, PAI__USUAL = 1024 };

/* A week begins at time 0 of the clock, whatever day that was. */
typedef struct pai__hours {
  uint64_t arrivals[PAI__HOURS];
  uint64_t seconds[PAI__HOURS]; /* observed seconds of that hour */
  uint64_t rest;                /* microseconds of a part of a second */
} pai__hours;

/* Rate of arrivals in each hour of the week; PAI__USUAL is the mean. */
typedef struct pai__rhythm {
  uint32_t weights[PAI__HOURS];
} pai__rhythm;

/* Counts an arrival at `now`; the one before it was at `last`. */
void pai__hours_note(pai__hours *hours, pai_time last, pai_time now);
/* Returns the observed time in seconds. */
uint64_t pai__hours_seen(const pai__hours *hours);
/* Computes the rates.  Differences from the mean that few arrivals support
 * count little. */
void pai__hours_rhythm(const pai__hours *hours, pai__rhythm *out);

/* Returns the even time between two times: time multiplied by the rate of its
 * hour; INT64_MAX at most. */
pai_time pai__rhythm_even(const pai__rhythm *r, pai_time from, pai_time to);
/* Returns the time that is `even` of even time after `from`; INT64_MAX:
 * never. */
pai_time pai__rhythm_after(const pai__rhythm *r, pai_time from, pai_time even);

/* --- durations ----------------------------------------------------------- */

enum {
  PAI__RING = 64,               /* durations of a ring */
  PAI__ENOUGH = 8,              /* fewest durations for a guess */
  PAI__SCORES = 512,            /* scores of forecasts that are kept */
  PAI__LEVELS = 3,              /* P10, P50, P90 */
  PAI__RECORDED_ARRIVALS = 512, /* requests that are kept */
  PAI__ALIKES = 7,              /* PAI_ALIKE_*, from 0 */
  PAI__KEY_BYTES = 512,         /* longest key */
  PAI__KEY_PARTS = 4
};

/* Longest duration, a hundred years, so that sums do not overflow. */
#define PAI__LONGEST (INT64_C(100) * 366 * 86400 * 1000000)

/* The last durations of similar jobs. */
typedef struct pai__ring {
  uint64_t mark;       /* hash of its key */
  uint32_t count, cap; /* cap: a power of two up to PAI__RING */
  uint32_t next;       /* index of the next one, once the ring is full */
  pai_time *took;      /* in the order of their ends, from `next` on if full */
  pai_time *sorted;    /* sorted durations, same block */
  pai_time *ended;     /* end times or PAI__UNKNOWN, same block */
} pai__ring;

/* A time that was not given. */
#define PAI__UNKNOWN INT64_MIN

/* A recorded arrival of a request, in one block of memory. */
typedef struct pai__recorded_arrival {
  size_t bytes; /* size of the block */
  pai_time time;
  pai_request request;
} pai__recorded_arrival;

struct pai_history {
  pai_alloc alloc;
  pai__map rings; /* by key, to pai__ring */
  pai__recorded_arrival *arrivals[PAI__RECORDED_ARRIVALS];
  uint32_t narrivals, next_arrival;
  pai__hours hours;            /* of the arrivals */
  int32_t scores[PAI__SCORES]; /* see calibrate.c */
  uint32_t nscores, next_score;
  int32_t levels[PAI__LEVELS]; /* corrections of the levels; see calibrate.c */
};

/* The rings of the levels of one job, looked up once for many draws; owned by
 * the history. */
typedef struct pai__levels {
  const pai__ring *rings[PAI__ALIKES];          /* or NULL */
  const struct pai__curve *curves[PAI__ALIKES]; /* of the rings; or NULL */
  pai_time estimate, limit;
} pai__levels;

/* What a duration is drawn from. */
typedef struct pai__draw_source {
  const pai_time *list; /* ascending; NULL: `told`, or a multiple of `ran` */
  uint32_t count;
  const struct pai__curve *curve; /* probabilities of the list; NULL: equal */
  int alike;
  uint64_t mark;    /* of the ring */
  uint32_t samples; /* durations in the ring */
  bool guessed;     /* drawn from other jobs, not from an estimate or limit */
  bool blind;       /* and no similar job has ended at all */
  pai_time ran, limit;
  pai_time unit; /* list: in units of 2^-16 of this; 0: times */
  pai_time told; /* estimate, limit or default; 0: none above `ran` */
} pai__draw_source;

void pai__history_levels(const pai_history *h, const pai_past *like,
                         pai__levels *out);
/* Chooses what to draw from.  Without rings that have enough durations, the
 * job's estimate or limit is used. */
void pai__history_source(const pai__levels *levels, pai_time ran,
                         pai__draw_source *out);
/* Draws a total run time, longer than the job has run; `random` has 64 random
 * bits. */
pai_time pai__source_draw(const pai__draw_source *source, uint64_t random);

/* Fills in what the history needs of a request; `v` is the scheduler's view of
 * it. */
void pai__past_of(const pai_sched *s, const pai_request_view *v,
                  pai_past *out);

/* Returns a random number that depends on the arguments only, so that all
 * ensembles with a seed draw the same durations. */
uint64_t pai__draw_random(uint64_t seed, uint64_t run, uint64_t id,
                          uint64_t instance);

void pai__recorded_arrival_free(const pai_alloc *alloc,
                                pai__recorded_arrival *arrivals);
/* Returns the i-th of the last arrivals, in their order. */
const pai__recorded_arrival *pai__recorded_arrival_at(const pai_history *h,
                                                      uint32_t i);

/* Returns the ring of a key, which is made if there is none; NULL without
 * memory. */
pai__ring *pai__history_ring(pai_history *h, const char *key, size_t len);
/* Reserve space for one more duration, and add it. */
int pai__ring_room(pai__ring *r, const pai_alloc *alloc);
void pai__ring_push(pai__ring *r, pai_time took, pai_time ended);
/* Return the i-th duration in the order of their ends, and the time of its
 * end. */
pai_time pai__ring_at(const pai__ring *r, uint32_t i);
pai_time pai__ring_ended(const pai__ring *r, uint32_t i);
/* Returns the number of durations that are not longer than `t`. */
uint32_t pai__ring_beyond(const pai__ring *r, pai_time t);

/* Returns a time beyond `t`, by a factor that is rarely large. */
pai_time pai__far_beyond(pai_time t, uint32_t fraction);
/* Returns `t` as a part of an estimate, in the unit of rings of
 * PAI_ALIKE_ANY. */
pai_time pai__part_of(pai_time t, pai_time estimate);

/* --- calibration: scores of forecasts that came true (calibrate.c) ------- */

/* A score is a position among the waits of an ensemble, in thousandths: 0 is
 * the shortest wait, 1000 the longest.  A wait longer than all has a larger
 * score, in thousandths of the longest wait.  A wait shorter than all has a
 * negative score; -1000 is no wait. */

/* Returns the score of a wait; `waits` is ascending, with INT64_MAX for those
 * that do not end. */
int32_t pai__score_of(const pai_time *waits, uint32_t n, pai_time wait);
/* Returns the wait of a score; INT64_MAX: never. */
pai_time pai__score_wait(const pai_time *waits, uint32_t n, int32_t score);

/* Levels of a band. */
enum pai__level { PAI__P10, PAI__P50, PAI__P90 };

/* Returns the score at which a level has to be reported so that it holds; h
 * may be NULL. */
int32_t pai__score_for(const pai_history *h, enum pai__level which);
/* Keeps the score of a forecast that came true. */
void pai__history_score(pai_history *h, int32_t score);
/* Corrects a level by a forecast that came true; `later`: the start was later
 * than the level. */
void pai__history_level(pai_history *h, enum pai__level which, bool later);

#endif
