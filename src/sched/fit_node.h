/* fit_node.h - internal to fit*.c: while a gang is placed */
#ifndef PAI_SRC_SCHED_FIT_NODE_H
#define PAI_SRC_SCHED_FIT_NODE_H

#include "sched/fit.h"
#include "sched/shelf.h"

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

/* Where a gang may be. */
typedef struct pai__area {
  const uint32_t *nodes; /* NULL: the first n of all */
  uint32_t n;
  uint64_t mask; /* of the GPUs on each */
} pai__area;

static inline uint32_t pai__area_node(const pai__area *a, uint32_t i)
{
  return a->nodes != NULL ? a->nodes[i] : i;
}

/* A walk through the nodes of an area, or through one of each shelf of them: the
 * first of those that are alike. */
typedef struct pai__walk {
  uint32_t node;
  uint32_t alike; /* nodes as this one, itself included */
  uint32_t ones;  /* free GPUs of it, the sick included */
  uint32_t at;    /* the next, in the area or a shelf */
  bool shelves;
} pai__walk;

/* Without shelves it begins at `from`. */
pai__walk pai__walk_begin(const pai__fitting *f, const pai__area *a,
                          uint32_t from);
bool pai__walk_next(const pai__fitting *f, const pai__area *a, pai__walk *x);

/* How many tasks of a want a node has room for, which of the GPUs in `mask` they
 * may have, and what the next one lacks. */
uint32_t pai__fit_room(const pai__fitting *f, const pai__want *w,
                       uint32_t node, uint64_t mask, uint64_t *free,
                       uint32_t *lack);

/* Of two nodes, the one with the higher score is taken, the first of equals. */
uint64_t pai__fit_score(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free, uint32_t fits,
                        uint32_t left);

/* Places tasks of a want behind those that are placed; false: not all of them
 * have room (fit_want.c). */
bool pai__fit_want(pai__fitting *f, const pai__area *a, uint32_t want,
                   uint32_t tasks);

/* Why the next task of a want has no place: called with all that was placed
 * before it still there (fit_lack.c). */
void pai__fit_blame(pai__fitting *f, const pai__area *a, uint32_t want);
/* Of two kinds of GPUs, did the first come nearer? */
bool pai__fit_nearer(const pai__why *a, const pai__why *b);
/* A node without GPUs of one kind may have lacked something with those of
 * another: it is counted once, for that.  `failed`: of all kinds. */
void pai__fit_count_kinds(const pai__fitting *f, pai__why *why,
                          const uint32_t *failed);

#endif
