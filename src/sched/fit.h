/* fit.h - internal: a place for a gang, or what it lacks */
#ifndef PAI_SRC_SCHED_FIT_H
#define PAI_SRC_SCHED_FIT_H

#include "resource/bits.h"
#include "sched/room.h"

/* Of a scheduler that has no memory yet. */
void pai__fit_init(pai_sched *s);

/* What is looked for. */
typedef struct pai__ask {
  uint32_t req;
  const uint32_t *tasks; /* of each want; NULL: all of them */
  int strategy;          /* PAI_PLACE_... */
  bool beyond_share;
  const pai__run *beside; /* what it is for is there in part; or NULL */
  bool ideal;             /* as if each node was up, and kept for nobody */
  const uint64_t *part;   /* it takes no more of each share; or NULL */
} pai__ask;

/*
 * Looks for places in s->rooms.  1: there are, they are the first *n of
 * s->slots and counted, and pai__unfit() undoes that; 0: there are none, and
 * *why says what lacks; or PAI_ENOMEM.
 */
int pai__fit_gang(pai_sched *s, const pai__ask *ask, uint32_t *n,
                  pai__why *why);
/* Likewise; a gang that is willing to be smaller, and for which no tasks are
 * said, gets as many as there is room for (elastic.c). */
int pai__fit(pai_sched *s, const pai__ask *ask, uint32_t *n, pai__why *why);
void pai__unfit(pai_sched *s, const pai__req *r, uint32_t n);

/* May a request be on a node, as far as reservations and health go?  Else what
 * lacks. */
uint32_t pai__req_node_lack(const pai_sched *s, const pai__req *r,
                            uint32_t node);

/* GPUs of a node that a want may have, free or not; what leaves its type open
 * gets the kind, and `pin` is the park's.  *lack says why it may not be there. */
uint64_t pai__want_gpus(const pai_sched *s, const pai__want *w, uint32_t kind,
                        uint32_t pin, uint32_t node, uint32_t *lack);

/* When a reservation ends that keeps a request from being on a node at some
 * time from `from` to `to`; 0: there is none. */
pai_time pai__kept_until(const pai_sched *s, const pai__req *r, uint32_t node,
                         pai_time from, pai_time to);

/* What a task's place takes of a share. */
static inline uint64_t pai__slot_share(const pai_sched *s,
                                       const pai__slot *slot,
                                       const pai__want *w, uint32_t share)
{
  uint32_t nkinds = s->park->nkinds;

  if (share < nkinds)
    return pai__bits_ones(slot->gpus &
                          pai__build_of(s->park, slot->node)->kinds[share]);
  return share == nkinds + PAI__SHARE_CPUS ? w->cpus : w->memory;
}

/* What a tenant has left of a share, as of a kind of GPU; UINT64_MAX: it has
 * none to keep to. */
uint64_t pai__share_left(const pai_sched *s, uint32_t tenant, uint32_t share);
/* What the first n of s->slots take of it. */
uint64_t pai__share_taken(const pai_sched *s, const pai__req *r, uint32_t n,
                          uint32_t share);
/* The least that a request takes of it, wherever it is. */
uint64_t pai__share_least(const pai_sched *s, const pai__req *r,
                          uint32_t share);
/* Has a tenant with a part enough left for all of a request, as far as that is
 * known before it has a place?  Else what of it lacks is told. */
bool pai__share_suffices(const pai_sched *s, const pai__req *r, pai__why *why);

#endif
