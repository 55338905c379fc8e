/*
 * shelf.h - internal: nodes that no task can tell apart
 *
 * Nodes of one build with as much left of everything lie on one shelf, in the
 * order of the cluster.  Who looks for a place asks each shelf once and not
 * each node: on a large cluster nearly all nodes are full, or empty.
 *
 * Rooms that change are marked (pai__room_touch() in core.h), and moved when
 * somebody looks.  Without memory there are no shelves, and all nodes are
 * asked: the answer is the same.
 */
#ifndef PAI_SRC_SCHED_SHELF_H
#define PAI_SRC_SCHED_SHELF_H

#include "sched/core.h"

/* What tells nodes apart. */
typedef struct pai__shelf_key {
  uint64_t
    gpus; /* free ones: which, or, where that is all the same, how many */
  int64_t memory;
  int32_t cpus, ports;
  uint32_t build, state;
  uint32_t alone; /* a reservation may name it: the node and one, else 0 */
  uint32_t ones;  /* free GPUs, the sick included */
} pai__shelf_key;

typedef struct pai__shelf {
  pai__shelf_key key;
  uint32_t first; /* of its nodes, in the cluster's order */
  uint32_t count;
  uint32_t next, before; /* of those in use */
  uint32_t chain;        /* of one hash; of those that are free */
} pai__shelf;

/* Are shelves of s->rooms to be had, all of them true?  Else nodes have to be
 * asked themselves. */
bool pai__shelves_ready(pai_sched *s);

/* A copy of the rooms, or other ones, take the place of s->rooms for a while:
 * there are no shelves of these. */
static inline void pai__shelves_leave(pai_sched *s)
{
  s->shelves.away++;
}

static inline void pai__shelves_return(pai_sched *s)
{
  s->shelves.away--;
}

/* There are other rooms from now on. */
static inline void pai__shelves_drop(pai_sched *s)
{
  s->shelves.built = false;
}

void pai__shelves_init(pai_sched *s);
void pai__shelves_dispose(pai_sched *s);

/* All that have nodes: from s->shelves.first by `next`. */
static inline const pai__shelf *pai__shelf_at(const pai_sched *s, uint32_t i)
{
  return (pai__shelf *)s->shelves.list.data + i;
}

#endif
