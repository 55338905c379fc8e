/* fair.h - internal: the policy `fair`, and what it decides */
#ifndef PAI_SRC_SCHED_FAIR_H
#define PAI_SRC_SCHED_FAIR_H

#include "sched/usage.h"
#include "sched/waiters.h"
#include "sched/walk.h"

enum { PAI__FAIR_DRF, PAI__FAIR_DECAY };

typedef struct pai__fair {
  pai_alloc alloc;
  const pai_sched *s;
  int place, mode;
  bool shares, greedy, reclaim;
  int64_t reserve_after;
  int64_t half_life, user_max_gpus,
    user_max_jobs; /* 0: as many as there are */
  pai__usage usage;
  pai__waiters waiters;
} pai__fair;

/* Whoever has least goes first.  PAI_OK or a code. */
int pai__fair_decide(pai__fair *f, pai_sched *s);
/* Does a request ask for more than its user may ever have? */
bool pai__fair_is_beyond(const pai__fair *f, const pai_sched *s, uint32_t req);

#endif
