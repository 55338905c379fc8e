/*
 * cells.h - internal: what follows from the types and cells of a cluster
 *
 * Levels count from 1, the leaf cells.  A chain is all top cells of one type
 * with what is in them; it is called by that type's name.
 *
 * Pure.  Threads: IMMUTABLE once made.
 */
#ifndef PAI_SRC_RESOURCE_CELLS_H
#define PAI_SRC_RESOURCE_CELLS_H

#include "resource/cluster.h"

/* What follows from a type and those below it. */
typedef struct pai__type_facts {
  uint32_t level;  /* 0: it contains itself, and the rest is not known */
  uint32_t leaf;   /* the type of its leaf cells */
  uint64_t leaves; /* in a whole cell; UINT32_MAX for that many and more */
  uint64_t cells;  /* likewise, itself included */
  bool has_node;   /* it is a node, or contains some */
  bool multi_node; /* it contains nodes */
} pai__type_facts;

typedef struct pai__chain {
  uint32_t type; /* of its top cells */
  uint32_t levels;
  const uint32_t *types; /* of each level: [level - 1] */
  /* Its cells of a level, in pai__cells.list, in the order of the cluster:
   * from first[level - 1] to before first[level]. */
  const uint32_t *first;
} pai__chain;

typedef struct pai__cells {
  pai__arena arena;
  const pai__type_facts *types; /* as many as the cluster has */
  const pai__chain *chains;     /* by their names */
  const uint32_t *chain_of;     /* of each type: the chain that it tops, or
                                   PAI__NOTHING */
  const uint32_t *list;
  size_t nchains;
} pai__cells;

/* Facts of a cluster's types, written to as many. */
void pai__cells_facts(const pai_cluster *c, pai__type_facts *facts);

/* The cells of a cluster whose types are right.  PAI_OK or PAI_ENOMEM; dispose
 * it in either case.  The allocator must outlive it. */
int pai__cells_init(pai__cells *cells, const pai_cluster *c,
                    const pai_alloc *alloc);
void pai__cells_dispose(pai__cells *cells);

/* The cells of a level of a chain. */
static inline const uint32_t *pai__cells_of(const pai__cells *cells,
                                            const pai__chain *chain,
                                            uint32_t level, uint32_t *count)
{
  *count = chain->first[level] - chain->first[level - 1];
  return cells->list + chain->first[level - 1];
}

#endif
