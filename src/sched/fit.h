/* fit.h - internal: finding places for a gang, or what it lacks */
#ifndef PAI_SRC_SCHED_FIT_H
#define PAI_SRC_SCHED_FIT_H

#include "resource/bits.h"
#include "sched/free_capacity.h"

/* What to find places for. */
typedef struct pai__ask {
  uint32_t req;
  const uint32_t *tasks; /* tasks to place for each want; NULL: all */
  int strategy;          /* PAI_PLACE_... */
  bool beyond_share;
  const pai__run *beside; /* the run that is to grow by these tasks; or NULL */
  bool ideal;             /* as if all nodes were up, unreserved and unused */
  const uint64_t *part;   /* limit for each share; or NULL: none */
} pai__ask;

/* Finds places for a gang in s->free_capacity.  Returns 1 if there are places:
 * the first *n of s->slots, which are counted as taken until pai__unfit().
 * Returns 0 if there are none, with what lacks in *reason; or PAI_ENOMEM. */
int pai__fit_gang(pai_sched *s, const pai__ask *ask, uint32_t *n,
                  pai__sched_reason *reason);
/* As pai__fit_gang().  If ask->tasks is NULL, an elastic gang gets as many
 * tasks as there is room for (fit_elastic.c). */
int pai__fit_elastic(pai_sched *s, const pai__ask *ask, uint32_t *n,
                     pai__sched_reason *reason);
/* Uncount the first n of s->slots; or count them again, after they were found
 * on a copy of the free capacity. */
void pai__unfit(pai_sched *s, const pai__req *r, uint32_t n);
void pai__fit_again(pai_sched *s, const pai__req *r, uint32_t n);

/* Returns what keeps a request off a node, as far as reservations and the
 * node's health go; or PAI_LACK_NOTHING. */
uint32_t pai__req_node_lack(const pai_sched *s, const pai__req *r,
                            uint32_t node);

/* Returns the GPUs of a node that a want may have, free or not.  A want
 * without a type gets `kind`.  `pin` is an index of the cluster model.  *lack
 * is why the want may not be on the node. */
uint64_t pai__want_gpus(const pai_sched *s, const pai__want *w, uint32_t kind,
                        uint32_t pin, uint32_t node, uint32_t *lack);

/* Returns when the reservation ends that keeps a request off a node at some
 * time between `from` and `to`; 0: there is none. */
pai_time pai__sched_reservation_until(const pai_sched *s, const pai__req *r,
                                      uint32_t node, pai_time from,
                                      pai_time to);

/* Returns what the place of a task takes of a share. */
static inline uint64_t pai__slot_share(const pai_sched *s,
                                       const pai__slot *slot,
                                       const pai__want *w, uint32_t share)
{
  uint32_t nkinds = s->cluster->nkinds;

  if (share < nkinds)
    return pai__bits_ones(
      slot->gpus & pai__sched_sku_of(s->cluster, slot->node)->kinds[share]);
  return share == nkinds + PAI__SHARE_CPUS ? w->cpu_millis : w->memory;
}

/* Returns what a virtual cluster has left of a share, such as a kind of GPU;
 * UINT64_MAX if it is not limited. */
uint64_t pai__share_left(const pai_sched *s, uint32_t vc_index,
                         uint32_t share);
/* Returns what the first n of s->slots take of a share. */
uint64_t pai__share_taken(const pai_sched *s, const pai__req *r, uint32_t n,
                          uint32_t share);
/* Returns the least that a request takes of a share, wherever it is placed. */
uint64_t pai__share_least(const pai_sched *s, const pai__req *r,
                          uint32_t share);
/* Returns whether a virtual cluster with a part of the whole has enough left
 * for all tasks of a request, as far as this is known before placing.  If not,
 * *reason says which share lacks. */
bool pai__share_suffices(const pai_sched *s, const pai__req *r,
                         pai__sched_reason *reason);

#endif
