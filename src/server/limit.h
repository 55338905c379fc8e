/*
 * limit.h - how often somebody may ask, in memory that does not grow
 *
 * A window begins with the first request, and so many are taken until it is
 * over.  There is room for some thousands who ask; one more takes the place of
 * somebody whose window is over, or who has asked least.
 */
#ifndef PAI_SRC_SERVER_LIMIT_H
#define PAI_SRC_SERVER_LIMIT_H

#include "base/base.h"

typedef struct pai__limit {
  const pai_alloc *alloc; /* borrowed */
  unsigned most;          /* 0: no limit */
  pai_time window;
  uint64_t seed; /* nobody can foretell whose place is whose */
  struct pai__limit_slot {
    uint64_t who; /* a hash; 0: nobody */
    pai_time end;
    uint32_t n;
  } * slots; /* NULL: no limit */
} pai__limit;

/* What somebody has left. */
typedef struct pai__allowance {
  unsigned most; /* 0: nothing is counted */
  unsigned left;
  pai_time end; /* then it begins anew */
  bool over;    /* this one was too many */
} pai__allowance;

int pai__limit_init(pai__limit *limit, const pai_alloc *alloc, unsigned most,
                    pai_time window, uint64_t seed);
void pai__limit_dispose(pai__limit *limit);
/* Counts one request of `who`, now.  False: it is one too many. */
bool pai__limit_take(pai__limit *limit, const void *who, size_t len,
                     pai_time now, pai__allowance *allowance);

#endif
