/* arrivals.h - internal: jobs that might come, like those that came */
#ifndef PAI_SRC_SIM_ARRIVALS_H
#define PAI_SRC_SIM_ARRIVALS_H

#include "base/prng.h"
#include "sim/history.h"

/* So many come in one future: futures end, even if queues only grow. */
enum { PAI__MOST_ARRIVALS = 2000 };

/* Ids of jobs that do not exist. */
#define PAI__UNBORN (UINT64_C(1) << 62)

/* What they are like: the same in all futures. */
typedef struct pai__coming {
  const pai_history *h; /* valid while the futures are driven */
  uint32_t like;        /* how many came */
  pai__rhythm rhythm;
  uint32_t n; /* how many gaps; 0: none come */
  /* Before the one that came second, ...; as if all hours were alike. */
  pai_time gaps[PAI__CAME];
} pai__coming;

typedef struct pai__arrivals {
  const pai__coming *coming;
  pai__prng prng;
  pai_time next; /* when the next one comes; INT64_MAX: never */
  uint32_t at;   /* which of the gaps it is behind */
  uint32_t left; /* of those that come as they came, one after the other */
  uint64_t count;
} pai__arrivals;

/* Is enough known of what came, so that it may be thought to go on? */
bool pai__arrivals_known(const pai_history *h);

/* None if there are too few to be like; h may be NULL, and outlives it. */
void pai__coming_init(pai__coming *c, const pai_history *h, pai_time now);

void pai__arrivals_init(pai__arrivals *a, const pai__coming *c, pai_time now,
                        uint64_t seed);
/* The one that comes at `next`, under an id of its own; then the next one. */
void pai__arrivals_take(pai__arrivals *a, pai_request *out);

#endif
