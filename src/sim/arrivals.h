/* arrivals.h - internal: jobs that might come, like those that came */
#ifndef PAI_SRC_SIM_ARRIVALS_H
#define PAI_SRC_SIM_ARRIVALS_H

#include "base/prng.h"
#include "sim/history.h"

/* So many come in one future: futures end, even if queues only grow. */
enum { PAI__MOST_ARRIVALS = 2000 };

/* Ids of jobs that do not exist. */
#define PAI__UNBORN (UINT64_C(1) << 62)

typedef struct pai__arrivals {
  const pai_history *h;
  pai__prng prng;
  pai_time next; /* when the next one comes; INT64_MAX: never */
  uint32_t at;   /* which of those that came it is like */
  uint32_t left; /* of those that come as they came, one after the other */
  uint64_t count;
} pai__arrivals;

/* None if there are too few to be like. */
void pai__arrivals_init(pai__arrivals *a, const pai_history *h, pai_time now,
                        uint64_t seed);
/* The one that comes at `next`, under an id of its own; then the next one. */
void pai__arrivals_take(pai__arrivals *a, pai_request *out);

#endif
