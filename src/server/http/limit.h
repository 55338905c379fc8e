/*
 * limit.h - rate limits in a table of fixed size
 *
 * A window begins with a client's first request; until it ends, a fixed number
 * of requests is allowed.  The table has slots for some thousands of clients.
 * A new client replaces one whose window is over, or the one with the fewest
 * requests.
 */
#ifndef PAI_SRC_SERVER_HTTP_LIMIT_H
#define PAI_SRC_SERVER_HTTP_LIMIT_H

#include "base/base.h"

typedef struct pai__limit {
  const pai_alloc *alloc; /* borrowed */
  unsigned most;          /* 0: no limit */
  pai_time window;
  uint64_t seed; /* so that clients cannot predict their slots */
  struct pai__limit_slot {
    uint64_t who; /* hash of the client; 0: free */
    pai_time end;
    uint32_t n;
  } * slots; /* NULL: no limit */
} pai__limit;

/* What a client has left. */
typedef struct pai__allowance {
  unsigned most; /* 0: nothing is counted */
  unsigned left;
  pai_time end; /* end of the window */
  bool over;    /* this request was one too many */
} pai__allowance;

int pai__limit_init(pai__limit *limit, const pai_alloc *alloc, unsigned most,
                    pai_time window, uint64_t seed);
void pai__limit_dispose(pai__limit *limit);
/* Counts one request of `who`.  Returns false if it is one too many. */
bool pai__limit_take(pai__limit *limit, const void *who, size_t len,
                     pai_time now, pai__allowance *allowance);

#endif
