/* walk.h - internal: what policies have in common: whom they try, in which
 * order, and how much of each starts */
#ifndef PAI_SRC_SCHED_WALK_H
#define PAI_SRC_SCHED_WALK_H

#include "sched/policy.h"

/* How requests are placed. */
typedef struct pai__how {
  int strategy;
  bool beyond_share;
  bool over; /* less important ones are stopped for it */
} pai__how;

/* All instances of a request that may begin and for which there is room.  1:
 * none is left that may; 0: one had no room, and the reason is kept; or a
 * code. */
int pai__start_all(pai_sched *s, uint32_t req, const pai__how *how);

/* A request that may begin.  `group` is the policy's own. */
typedef struct pai__entry {
  uint64_t turn;
  int32_t priority;
  uint32_t group;
  uint32_t req;
} pai__entry;

/* All of them, in the order of their turns; `list` is of pai__entry, and
 * initialised.  PAI_OK or PAI_ENOMEM. */
int pai__list_waiting(const pai_sched *s, pai__flat *list);
/* By group, in it the most important first, and then by turn. */
void pai__sort_waiting(pai__flat *list);

static inline pai__entry *pai__entry_at(const pai__flat *list, uint32_t i)
{
  return (pai__entry *)list->data + i;
}

/* An entry could not start: those of its group behind it, up to `end`, do not
 * overtake it, but opportunistic ones, who are content with what is left.  The
 * index of the first of these, or `end`. */
uint32_t pai__refuse_behind(pai_sched *s, const pai__flat *list, uint32_t at,
                            uint32_t end);

/* May another instance of it begin? */
static inline bool pai__may_begin(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return pai__req_waiting(r) != 0 && pai__req_lack(s, r) == PAI_LACK_NOTHING;
}

/* GPUs that an instance of it wants, with all its tasks. */
uint64_t pai__gpus_wanted(const pai_sched *s, uint32_t req);

/* Tasks of what runs with fewer than it would like, as far as there is room,
 * the one that was placed first first; none while somebody waits who may
 * begin.  PAI_OK or a code. */
int pai__grow_all(pai_sched *s);

#endif
