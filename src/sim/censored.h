/*
 * censored.h - internal: jobs that run still tell how long jobs take
 *
 * Those that ended are not all: of a crowd that came together the short ones end
 * first.  How many of all take longer than a time is estimated from both, as by
 * Kaplan and Meier: one that runs counts among those that might have ended until
 * the time that it has run.
 */
#ifndef PAI_SRC_SIM_CENSORED_H
#define PAI_SRC_SIM_CENSORED_H

#include "sim/history.h"

enum { PAI__MOST_RUNNING = 128 }; /* of a ring; of more, some */

/* What is known of a ring with those that run. */
typedef struct pai__curve {
  uint32_t running; /* how many, */
  uint32_t seen;    /* and of how many they were chosen */
  /* How long these have run, ascending once it is made. */
  pai_time ages[PAI__MOST_RUNNING];
  /* How many of 2^32 take longer than the i-th of the ring, ascending. */
  uint64_t longer[PAI__RING];
  uint32_t count; /* of the ring */
} pai__curve;

/* Curves by the ring that they are of. */
typedef struct pai__curves {
  pai_alloc alloc;
  pai__map by_ring; /* keys are pointers: nothing is done in their order */
  uint32_t running; /* jobs with others alike that have ended, */
  uint32_t outlast; /* and those that have run for longer than all of them */
} pai__curves;

void pai__curves_init(pai__curves *c, const pai_alloc *alloc);
void pai__curves_dispose(pai__curves *c);
/* One runs since a time.  PAI_OK or PAI_ENOMEM. */
int pai__curves_add(pai__curves *c, const pai__levels *levels, pai_time since,
                    pai_time now);
/* All that run were added. */
void pai__curves_make(pai__curves *c);
/* The curves of a job's levels. */
void pai__curves_find(const pai__curves *c, pai__levels *levels);

/* Do so many outlast all that ended like them that the past says little? */
static inline bool pai__curves_unlike(const pai__curves *c)
{
  return c->outlast >= 5 && c->outlast >= c->running / 3;
}

/* Of the `count` last ones of a ring, all longer than `ran`. */
pai_time pai__curve_pick(const pai__curve *c, const pai_time *list,
                         uint32_t count, pai_time ran, uint32_t random);

#endif
