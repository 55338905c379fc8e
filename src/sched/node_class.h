/*
 * node_class.h - internal: classes of nodes that no task can tell apart
 *
 * Nodes of one SKU with the same free capacity form one class, in the order of
 * the cluster.  A search for a place looks at each class once instead of at
 * each node: on a large cluster nearly all nodes are full, or empty.
 *
 * Nodes whose free capacity changes are marked (pai__free_capacity_touch() in
 * core.h), and moved to their class at the next search.  Without memory there
 * are no classes, and the search looks at all nodes, with the same result.
 */
#ifndef PAI_SRC_SCHED_NODE_CLASS_H
#define PAI_SRC_SCHED_NODE_CLASS_H

#include "sched/core.h"

/* What the nodes of a class have in common. */
typedef struct pai__node_class_key {
  uint64_t
    gpus; /* mask of healthy free GPUs; their number, if only that matters */
  int64_t memory, cpu_millis;
  int32_t ports;
  uint32_t sku, state;
  uint32_t alone; /* index + 1 of a node that reservations name; else 0 */
  uint32_t ones;  /* number of free GPUs, sick ones included */
} pai__node_class_key;

typedef struct pai__node_class {
  pai__node_class_key key;
  uint32_t first; /* its first node, in the order of the cluster */
  uint32_t count;
  uint32_t next, before; /* in the list of used classes */
  uint32_t chain;        /* next class with the same hash, or next free
                            record */
} pai__node_class;

/* Brings the classes up to date.  Returns false if there are none: then each
 * node has to be looked at. */
bool pai__node_classes_ready(pai_sched *s);

/* Suspends the classes while a copy takes the place of s->free_capacity. */
static inline void pai__node_classes_leave(pai_sched *s)
{
  s->node_classes.away++;
}

static inline void pai__node_classes_return(pai_sched *s)
{
  s->node_classes.away--;
}

/* Drops the classes, after the nodes of the cluster have changed. */
static inline void pai__node_classes_drop(pai_sched *s)
{
  s->node_classes.built = false;
}

/* Returns a node class.  All classes with nodes are linked from
 * s->node_classes.first by `next`. */
static inline const pai__node_class *pai__node_class_at(const pai_sched *s,
                                                        uint32_t i)
{
  return (pai__node_class *)s->node_classes.list.data + i;
}

#endif
