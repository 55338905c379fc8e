/*
 * room.h - internal: what tasks take of nodes, and give back
 *
 * Taking has two steps.  First it is counted: GPUs by their mask, all else by
 * amounts, and this may be undone.  Then CPUs and ports get their numbers.
 */
#ifndef PAI_SRC_SCHED_ROOM_H
#define PAI_SRC_SCHED_ROOM_H

#include "sched/core.h"

/* Nodes as the park has them, all free. */
void pai__rooms_init(const pai_sched *s, const pai__park *park,
                     pai__room *nodes);
/* The masks of CPUs of all nodes, all free. */
void pai__cpus_init(const pai__park *park, uint64_t *words);

static inline void pai__room_count(pai__room *n, const pai__want *w,
                                   uint64_t gpus)
{
  n->promised |= gpus & ~n->gpus;
  n->gpus &= ~gpus;
  n->memory -= (int64_t)w->memory;
  n->cpus -= (int32_t)w->cpus;
  n->ports -= (int32_t)w->ports;
}

/* Claimed GPUs that others hold go back to them. */
static inline void pai__room_uncount(pai__room *n, const pai__want *w,
                                     uint64_t gpus)
{
  uint64_t held = gpus & n->promised;

  n->promised &= ~held;
  n->gpus |= gpus & ~held;
  n->memory += (int64_t)w->memory;
  n->cpus += (int32_t)w->cpus;
  n->ports += (int32_t)w->ports;
}

/* What it held, some of which others may have claimed. */
static inline void pai__room_return(pai__room *n, const pai__want *w,
                                    uint64_t gpus)
{
  n->gpus |= gpus & ~n->promised;
  n->promised &= ~gpus;
  n->memory += (int64_t)w->memory;
  n->cpus += (int32_t)w->cpus;
  n->ports += (int32_t)w->ports;
}

/* Nobody else holds what these GPUs' claimant needs of the node. */
static inline bool pai__room_settled(const pai__room *n, uint64_t gpus)
{
  return (gpus & n->promised) == 0 && n->memory >= 0 && n->cpus >= 0 &&
         n->ports >= 0;
}

/* Makes the run's slots of those that are counted: n of s->slots.  PAI_OK or
 * PAI_ENOMEM, and then nothing is changed. */
int pai__slots_keep(pai_sched *s, const pai__req *r, pai__run *run,
                    uint32_t n);
/* Numbers for CPUs and ports of kept slots.  PAI_OK or PAI_ENOMEM. */
int pai__slots_number(pai_sched *s, const pai__req *r, const pai__run *run);
/* Likewise, but they have their numbers already, in a snapshot.  PAI_EEXISTS:
 * one of them is not free, at node *node. */
int pai__slots_renumber(pai_sched *s, const pai__req *r, const pai__run *run,
                        uint32_t *node);
/* A run's slots are given back; `numbered`: they had been. */
void pai__slots_give(pai_sched *s, const pai__req *r, pai__run *run,
                     bool numbered);

/* What pai__slots_number() did, undone. */
void pai__slots_unnumber(pai_sched *s, const pai__req *r, const pai__run *run);
/* One of a run's slots, which begin at `first`, is given back. */
void pai__slot_give(pai_sched *s, const pai__req *r, const pai__slot *first,
                    const pai__slot *slot);
/* Slots and numbers of two runs in the block of `all`, which has as many words
 * as they need; those of `more` before what is slot `at` of the old ones. */
uint32_t pai__slots_joined(const pai_sched *s, const pai__run *a,
                           const pai__run *b);
void pai__slots_join(pai_sched *s, const pai__req *r, const pai__run *all,
                     const pai__run *old, const pai__run *more, uint32_t at);

/* Is a port in use on a node, and counted once? */
bool pai__port_is_single(const pai_sched *s, uint32_t node, uint32_t port);
/* Ports that are somebody else's.  PAI_OK or PAI_ENOMEM. */
int pai__port_lose(pai_sched *s, uint32_t node, uint32_t port);
void pai__ports_regain(pai_sched *s);

/* Has a group of that size n free GPUs?  n is not 0. */
bool pai__has_group(const pai__build *b, uint64_t free, uint32_t size,
                    uint32_t n);
/* `n` of the free GPUs, there must be so many: the nearest to one another. */
uint64_t pai__pick_gpus(const pai__build *b, uint64_t free, uint32_t n);

#endif
