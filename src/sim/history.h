/*
 * history.h - internal: how long jobs took, and how good forecasts were
 *
 * Of jobs that have something in common the last durations are kept, under a
 * key that says what: from the user and the name down to nothing at all.  A
 * guess is made from the first of these levels that has enough of them.
 */
#ifndef PAI_SRC_SIM_HISTORY_H
#define PAI_SRC_SIM_HISTORY_H

#include "base/map.h"
#include "sim/hours.h"

#include <openpai/forecast.h>

enum {
  PAI__RING = 64,       /* durations of a level */
  PAI__ENOUGH = 8,      /* fewer are not believed */
  PAI__SCORES = 512,    /* forecasts that met what they were of */
  PAI__LEVELS = 3,      /* of a band */
  PAI__CAME = 512,      /* requests */
  PAI__ALIKES = 7,      /* PAI_ALIKE_*, from 0 */
  PAI__KEY_BYTES = 512, /* most of a key */
  PAI__KEY_PARTS = 4
};

/* No job takes longer, so that sums stay numbers: a hundred years. */
#define PAI__LONGEST (INT64_C(100) * 366 * 86400 * 1000000)

/* The last durations of jobs alike. */
typedef struct pai__ring {
  uint64_t mark;       /* of its key */
  uint32_t count, cap; /* a power of two up to PAI__RING */
  uint32_t next;       /* where the next one goes, once it is full */
  pai_time *took;      /* as they ended, from `next` on when it is full */
  pai_time *sorted;    /* behind them, in the same block */
  pai_time *ended;     /* likewise: when, PAI__UNKNOWN: nobody said */
} pai__ring;

/* A time that nobody said. */
#define PAI__UNKNOWN INT64_MIN

/* A request that came; it lies in one block. */
typedef struct pai__came {
  size_t bytes; /* of the block */
  pai_time time;
  pai_request request;
} pai__came;

struct pai_history {
  pai_alloc alloc;
  pai__map rings; /* by key, to pai__ring */
  pai__came *came[PAI__CAME];
  uint32_t ncame, next_came;
  pai__hours hours;            /* in which they came */
  int32_t scores[PAI__SCORES]; /* see calibrate.c */
  uint32_t nscores, next_score;
  int32_t levels[PAI__LEVELS]; /* likewise */
};

/* The levels of one job, to be drawn from many times; the history's. */
typedef struct pai__levels {
  const pai__ring *rings[PAI__ALIKES];          /* or NULL */
  const struct pai__curve *curves[PAI__ALIKES]; /* of those rings, or NULL */
  pai_time estimate, limit;
} pai__levels;

/* From what a duration is drawn. */
typedef struct pai__source {
  const pai_time *list; /* ascending; NULL: `told`, or a multiple of `ran` */
  uint32_t count;
  const struct pai__curve
    *curve; /* how likely each of these is; NULL: alike */
  int alike;
  uint64_t mark;    /* of the ring */
  uint32_t samples; /* in it */
  bool guessed;     /* its end is told neither by its owner nor by a limit, */
  bool blind;       /* and no job at all has ended that it could be told by */
  pai_time ran, limit;
  pai_time unit; /* the list is of parts of so much, in 2^16ths; 0: of times */
  pai_time told; /* what its owner believes, or usual; 0: nothing that is
                    longer than it has run already */
} pai__source;

void pai__history_levels(const pai_history *h, const pai_past *like,
                         pai__levels *out);
/* h may be NULL: then its owner is believed. */
void pai__history_source(const pai__levels *levels, pai_time ran,
                         pai__source *out);
/* How long it runs in all, longer than it has run; `random` are 64 bits. */
pai_time pai__source_draw(const pai__source *source, uint64_t random);

/* A request of a scheduler as the history knows it; its view is the
 * scheduler's. */
void pai__past_of(const pai_sched *s, const pai_request_view *v,
                  pai_past *out);

/* Numbers that depend on these alone: so all futures of a seed agree on how
 * long a job takes. */
uint64_t pai__draw_random(uint64_t seed, uint64_t run, uint64_t id,
                          uint64_t instance);

void pai__came_free(const pai_alloc *alloc, pai__came *came);
/* The i-th of those that came last, in their order. */
const pai__came *pai__came_at(const pai_history *h, uint32_t i);

/* Where in its band something came to lie, as calibrate.h tells. */
void pai__history_score(pai_history *h, int32_t score);

/* A ring for a key, made if there is none; NULL without memory. */
pai__ring *pai__history_ring(pai_history *h, const char *key, size_t len);
/* Room for one more, and then one more. */
int pai__ring_room(pai__ring *r, const pai_alloc *alloc);
void pai__ring_push(pai__ring *r, pai_time took, pai_time ended);
/* The i-th, in the order in which they ended; and when that was. */
pai_time pai__ring_at(const pai__ring *r, uint32_t i);
pai_time pai__ring_ended(const pai__ring *r, uint32_t i);
/* How many of a ring are not longer. */
uint32_t pai__ring_beyond(const pai__ring *r, pai_time t);

/* Longer than all that is known, by a factor that is seldom large. */
pai_time pai__far_beyond(pai_time t, uint32_t fraction);
/* A time in the unit of the ring of PAI_ALIKE_ANY: of an estimate, if there is
 * one. */
pai_time pai__part_of(pai_time t, pai_time estimate);

#endif
