/* fit_node.h - internal to fit*.c: state and steps of placing a gang */
#ifndef PAI_SRC_SCHED_FIT_NODE_H
#define PAI_SRC_SCHED_FIT_NODE_H

#include "sched/fit.h"
#include "sched/node_class.h"

/* A gang that is being placed. */
typedef struct pai__fitting {
  pai_sched *s;
  const pai__ask *ask;
  const pai__req *req;
  const pai__want *wants;
  uint32_t pin;   /* index in the cluster model, or PAI__NONE */
  uint32_t node;  /* where the gang has tasks already, or PAI__NONE */
  uint64_t gpus;  /* GPUs that it has on `node` */
  uint32_t kind;  /* for wants without a type; PAI__NONE: any kind */
  uint32_t total; /* number of tasks */
  uint32_t placed;
  pai__sched_reason *reason;
  pai__sched_reason of_kind;
} pai__fitting;

/* Nodes and GPUs where a gang may be placed. */
typedef struct pai__area {
  const uint32_t *nodes; /* NULL: the first n nodes of the cluster */
  uint32_t n;
  uint64_t mask; /* GPUs allowed on each node */
} pai__area;

static inline uint32_t pai__area_node(const pai__area *a, uint32_t i)
{
  return a->nodes != NULL ? a->nodes[i] : i;
}

/* Iterates over the nodes of an area, or, for all nodes of the cluster, over
 * the first node of each node class. */
typedef struct pai__walk {
  uint32_t node;
  uint32_t alike; /* number of nodes that it stands for, itself included */
  uint32_t ones;  /* its free GPUs, sick ones included */
  uint32_t at;    /* next index in the area, or next node class */
  bool node_classes;
} pai__walk;

/* Starts a walk.  `from` is the first index, if node classes are not used. */
pai__walk pai__walk_begin(const pai__fitting *f, const pai__area *a,
                          uint32_t from);
/* Goes to the next node; false after the last one.  Inline, as it is called for
 * each node of each place that is tried. */
static inline bool pai__walk_next(const pai__fitting *f, const pai__area *a,
                                  pai__walk *x)
{
  const pai__node_class *class;

  if (!x->node_classes) {
    if (x->at == a->n)
      return false;
    x->node = pai__area_node(a, x->at++);
    x->ones = pai__bits_ones(pai__free_capacity_at(f->s, x->node)->gpus);
    return true;
  }
  if (x->at == PAI__NONE)
    return false;
  class = pai__node_class_at(f->s, x->at);
  x->node = class->first;
  x->alike = class->count;
  x->ones = class->key.ones;
  x->at = class->next;
  return true;
}

/* Returns how many tasks of a want a node has room for.  *free gets the GPUs
 * of `mask` that they may have, *lack what the next task lacks. */
uint32_t pai__fit_capacity(const pai__fitting *f, const pai__want *w,
                           uint32_t node, uint64_t mask, uint64_t *free,
                           uint32_t *lack);

/* Returns the score of a node.  The node with the highest score is taken; of
 * equal ones the first. */
uint64_t pai__fit_score(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free, uint32_t fits,
                        uint32_t left);

/* Places tasks of a want, in addition to those placed so far.  Returns false
 * if there is no room for all of them (fit_want.c). */
bool pai__fit_want(pai__fitting *f, const pai__area *a, uint32_t want,
                   uint32_t tasks);

/* Sets the reason why the next task of a want has no place.  All tasks placed
 * before it must still be counted (fit_reason.c). */
void pai__fit_reason(pai__fitting *f, const pai__area *a, uint32_t want);
/* Compares the reasons of two kinds of GPUs.  Returns whether `a` is nearer to
 * fitting. */
bool pai__fit_nearer(const pai__sched_reason *a, const pai__sched_reason *b);
/* Corrects reason->failed after several kinds of GPUs were tried.  `failed`
 * has the sums over all kinds.  A node that lacks one kind and something else
 * of another kind is counted only for the latter. */
void pai__fit_count_kinds(const pai__fitting *f, pai__sched_reason *reason,
                          const uint32_t *failed);

#endif
