/* fit_node.h - internal to fit.c: one node, while a gang is placed */
#ifndef PAI_SRC_SCHED_FIT_NODE_H
#define PAI_SRC_SCHED_FIT_NODE_H

#include "sched/fit.h"

/* A gang that is being placed. */
typedef struct pai__fitting {
  pai_sched *s;
  const pai__ask *ask;
  const pai__req *req;
  const pai__want *wants;
  uint32_t pin;   /* of the park, or PAI__NONE */
  uint32_t node;  /* where some of it is already, or PAI__NONE; */
  uint64_t gpus;  /* and what it has there */
  uint32_t kind;  /* what wants without a type get; PAI__NONE: anything */
  uint32_t total; /* tasks */
  uint32_t placed;
  pai__why *why;
  pai__why of_kind;
} pai__fitting;

/* How many tasks of a want a node has room for, which of the GPUs in `mask` they
 * may have, and what the next one lacks. */
uint32_t pai__fit_room(const pai__fitting *f, const pai__want *w,
                       uint32_t node, uint64_t mask, uint64_t *free,
                       uint32_t *lack);

/* Of two nodes, the one with the higher score is taken, the first of equals. */
uint64_t pai__fit_score(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free, uint32_t fits,
                        uint32_t left);

#endif
