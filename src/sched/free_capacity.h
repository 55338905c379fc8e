/*
 * free_capacity.h - internal: what tasks take of nodes, and give back
 *
 * Taking has two steps.  First the resources are counted: GPUs by their mask,
 * others by amounts.  This can be undone.  Then CPUs and ports get their
 * numbers.
 */
#ifndef PAI_SRC_SCHED_FREE_CAPACITY_H
#define PAI_SRC_SCHED_FREE_CAPACITY_H

#include "resource/bits.h"
#include "sched/core.h"

/* Initializes the free capacity of all nodes of the cluster model: all is
 * free. */
void pai__free_capacity_init(const pai_sched *s,
                             const pai__sched_cluster *cluster,
                             pai__free_capacity *nodes);
/* Initializes the CPU masks of all nodes: all are free. */
void pai__cpus_init(const pai__sched_cluster *cluster, uint64_t *words);

static inline void pai__free_capacity_count(pai__free_capacity *n,
                                            const pai__want *w, uint64_t gpus)
{
  n->promised |= gpus & ~n->gpus;
  n->gpus &= ~gpus;
  n->memory -= (int64_t)w->memory;
  n->cpu_millis -= w->cpu_millis;
  n->ports -= (int32_t)w->ports;
}

/* Undoes pai__free_capacity_count().  Claimed GPUs that other runs still hold
 * stay with these. */
static inline void pai__free_capacity_uncount(pai__free_capacity *n,
                                              const pai__want *w,
                                              uint64_t gpus)
{
  uint64_t held = gpus & n->promised;

  n->promised &= ~held;
  n->gpus |= gpus & ~held;
  n->memory += (int64_t)w->memory;
  n->cpu_millis += w->cpu_millis;
  n->ports += (int32_t)w->ports;
}

/* Gives back what a run held.  GPUs that another run has claimed go to that
 * run. */
static inline void pai__free_capacity_return(pai__free_capacity *n,
                                             const pai__want *w, uint64_t gpus)
{
  n->gpus |= gpus & ~n->promised;
  n->promised &= ~gpus;
  n->memory += (int64_t)w->memory;
  n->cpu_millis += w->cpu_millis;
  n->ports += (int32_t)w->ports;
}

/* Returns whether no other run holds what the claimant of these GPUs needs of
 * the node. */
static inline bool pai__free_capacity_settled(const pai__free_capacity *n,
                                              uint64_t gpus)
{
  return (gpus & n->promised) == 0 && n->memory >= 0 && n->cpu_millis >= 0 &&
         n->ports >= 0;
}

/* Amounts that are free on a node, or that tasks take.  GPUs are counted, not
 * identified. */
typedef struct pai__amounts {
  int64_t gpus, cpu_millis, ports, memory;
} pai__amounts;

pai__amounts pai__free_capacity_amounts(const pai__free_capacity *n);
/* Adds what `tasks` tasks of a want take, and `gpus` GPUs.  Negative numbers
 * subtract. */
void pai__amounts_add(pai__amounts *a, const pai__want *w, int64_t tasks,
                      int64_t gpus);
/* Adds what one task takes, with the GPUs that it has. */
static inline void pai__amounts_add_slot(pai__amounts *a, const pai__want *w,
                                         uint64_t gpus)
{
  pai__amounts_add(a, w, 1, pai__bits_ones(gpus));
}
/* Returns how many tasks of a want fit into the amounts, up to `most`. */
uint32_t pai__amounts_tasks(const pai__amounts *a, const pai__want *w,
                            uint32_t most);

/* Copies the first n of s->slots, which are counted, into the run.  Returns
 * PAI_OK, or PAI_ENOMEM with nothing changed. */
int pai__slots_keep(pai_sched *s, const pai__req *r, pai__run *run,
                    uint32_t n);
/* Checks that each want has an allowed number of tasks, in the order of wants.
 * If so, sets *want to nwants and returns 0.  Otherwise *want is the first
 * wrong want, and the number of its tasks is returned.  If *want is nwants,
 * the result is the number of slots left over. */
uint32_t pai__slots_whole(const pai_sched *s, const pai__req *r,
                          const pai__slot *slots, uint32_t n, uint32_t *want);
/* Assigns CPUs and ports to the slots of a run.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__slots_number(pai_sched *s, const pai__req *r, const pai__run *run);
/* Marks CPUs and ports as used that the slots of a run already have, from a
 * snapshot.  Returns PAI_OK, PAI_ENOMEM, or PAI_EEXISTS if one is not free on
 * node *node. */
int pai__slots_renumber(pai_sched *s, const pai__req *r, const pai__run *run,
                        uint32_t *node);
/* Gives back the slots of a run.  `numbered`: they have CPUs and ports. */
void pai__slots_give(pai_sched *s, const pai__req *r, pai__run *run,
                     bool numbered);

/* Undoes pai__slots_number(). */
void pai__slots_unnumber(pai_sched *s, const pai__req *r, const pai__run *run);
/* Gives back one slot of a run whose slots begin at `first`. */
void pai__slot_give(pai_sched *s, const pai__req *r, const pai__slot *first,
                    const pai__slot *slot);
/* pai__slots_joined() returns the words that the slots of both runs need, with
 * their CPUs and ports.  pai__slots_join() writes them to the block of `all`:
 * the slots of `more` are inserted before slot `at` of `old`. */
uint32_t pai__slots_joined(const pai_sched *s, const pai__run *a,
                           const pai__run *b);
void pai__slots_join(pai_sched *s, const pai__req *r, const pai__run *all,
                     const pai__run *old, const pai__run *more, uint32_t at);

/* Returns whether a port is in use on a node, by one task only. */
bool pai__port_is_single(const pai_sched *s, uint32_t node, uint32_t port);
/* Mark a port as used by others than the scheduler; or unmark all such ports.
 * pai__port_lose() returns PAI_OK or PAI_ENOMEM. */
int pai__port_lose(pai_sched *s, uint32_t node, uint32_t port);
void pai__ports_regain(pai_sched *s);

#endif
