/* what_if.h - internal: two futures side by side */
#ifndef PAI_SRC_SIM_WHAT_IF_H
#define PAI_SRC_SIM_WHAT_IF_H

#include "sim/future.h"

/* What becomes of an instance at once. */
enum pai__turn { PAI__STARTS = 1, PAI__STOPS, PAI__MOVES };

typedef struct pai__turned {
  uint64_t id;
  uint32_t instance;
  uint8_t what; /* enum pai__turn */
  bool asked;   /* somebody cancelled it */
  bool node;    /* its node is gone, or sick */
  const char *name, *user;
} pai__turned;

struct pai_what_if {
  pai_alloc alloc;
  pai__arena arena;
  pai_forecast *before, *after;
  pai_time *longer; /* by how much each of those before waits longer */
  pai__turned *turned;
  size_t nturned, turned_cap;
  pai_what_if_view view;
};

/* By how much each request waits longer, before its waits are sorted.  PAI_OK
 * or PAI_ENOMEM. */
int pai__pair_waits(pai_what_if *w);
/* Less than 0: it is sooner.  Both forecasts start it some day. */
pai_time pai__waits_longer(const pai_what_if *w, const pai__fwait *before);
/* Starts that are as good as equal: a second, or a hundredth of the wait. */
int pai__compare_starts(const pai_what_if *w, const pai__fwait *before,
                        const pai__fwait *after);
/* Those of the view that are of requests that wait. */
void pai__count_waits(pai_what_if *w);

#endif
