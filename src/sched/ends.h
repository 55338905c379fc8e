/*
 * ends.h - internal: what runs, in the order in which it is expected to end
 *
 * Made when somebody first asks, and kept from then on.  Without memory it is
 * made anew the next time.
 */
#ifndef PAI_SRC_SCHED_ENDS_H
#define PAI_SRC_SCHED_ENDS_H

#include "sched/core.h"

typedef struct pai__end {
  pai_time at;
  uint64_t order;
  uint32_t run;
} pai__end;

/* Start + limit, or else + duration, or else never: INT64_MAX. */
pai_time pai__run_expected(const pai_sched *s, const pai__run *run);

/* Is the list to be had?  Those that never end are not in it. */
bool pai__ends_ready(pai_sched *s);
/* A run has its place, with its beginning and order; or is about to lose it, or
 * them. */
void pai__ends_add(pai_sched *s, uint32_t run);
void pai__ends_remove(pai_sched *s, uint32_t run);
/* Some other length is expected. */
static inline void pai__ends_drop(pai_sched *s)
{
  s->ends_known = false;
}

static inline const pai__end *pai__end_at(const pai_sched *s, uint32_t i)
{
  return (const pai__end *)s->ends.data + i;
}

#endif
