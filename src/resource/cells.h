/*
 * cells.h - internal: levels and chains of cells, derived from the cell types
 * and cells of a cluster
 *
 * Levels count from 1, the leaf cells.  A chain is all top cells of one type
 * with everything in them, and has the name of that type.
 *
 * Pure.  Threads: IMMUTABLE once made.
 */
#ifndef PAI_SRC_RESOURCE_CELLS_H
#define PAI_SRC_RESOURCE_CELLS_H

#include "resource/cluster.h"

/* What a cell type contains, derived from its child types. */
typedef struct pai__type_facts {
  uint32_t level;  /* 0: it contains itself; then no other field is set */
  uint32_t leaf;   /* type index of its leaf cells */
  uint64_t leaves; /* leaf cells of one cell, capped at UINT32_MAX */
  uint64_t cells;  /* all cells of one cell, itself included, capped */
  bool has_node;   /* it is a node or contains nodes */
  bool multi_node; /* it contains nodes */
} pai__type_facts;

typedef struct pai__chain {
  uint32_t type; /* type of its top cells */
  uint32_t levels;
  const uint32_t *types; /* type of each level: [level - 1] */
  /* Its cells of a level are pai__cells.list[first[level - 1]] to
   * list[first[level] - 1], in the order of the cluster. */
  const uint32_t *first;
} pai__chain;

typedef struct pai__cells {
  pai__arena arena;
  const pai__type_facts *types; /* one for each type of the cluster */
  const pai__chain *chains;     /* sorted by name */
  /* for each type, the chain whose top it is, or PAI__NOTHING */
  const uint32_t *chain_of;
  const uint32_t *list;
  size_t nchains;
} pai__cells;

/* Fills in one entry of `facts` for each type of the cluster. */
void pai__cells_facts(const pai_cluster *c, pai__type_facts *facts);

/* Sorts the cells of a cluster into chains and levels; the cluster's types
 * must be valid.  Returns PAI_OK or PAI_ENOMEM; call pai__cells_dispose() in
 * either case.  The allocator must outlive `cells`. */
int pai__cells_init(pai__cells *cells, const pai_cluster *c,
                    const pai_alloc *alloc);
void pai__cells_dispose(pai__cells *cells);

/* Returns the cells of one level of a chain, and their number in *count. */
static inline const uint32_t *pai__cells_of(const pai__cells *cells,
                                            const pai__chain *chain,
                                            uint32_t level, uint32_t *count)
{
  *count = chain->first[level] - chain->first[level - 1];
  return cells->list + chain->first[level - 1];
}

#endif
