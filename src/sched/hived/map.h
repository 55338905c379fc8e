/* map.h - internal: shared by the files that map virtual to physical cells,
 * map.c and map_free.c */
#ifndef PAI_SRC_SCHED_HIVED_MAP_H
#define PAI_SRC_SCHED_HIVED_MAP_H

#include "sched/hived/engine.h"

typedef struct pai__mapping {
  pai__hived *h;
  const pai__hived_chain *chain;
  const uint64_t *suggested;
  int32_t wanted[PAI__CELLS_MAX_LEVELS + 1]; /* by level */
  bool failed;                               /* out of memory */
} pai__mapping;

/* --- map.c ---------------------------------------------------------------- */

/* Pushes onto the scratch stack.  Returns false if memory is short. */
bool pai__map_push(pai__mapping *m, uint32_t word);
/* True if a cell may be bound: unbound, not on a sick node, and suggested. */
bool pai__map_is_usable(const pai__mapping *m, uint32_t cell);
/* Stable sort by opportunistic use, least first. */
void pai__map_sort(const pai__hived *h, uint32_t *cells, uint32_t n);
/* True if a vertex and its children can be mapped to a cell.  Sets `to` of its
 * leaves. */
bool pai__map_fits(pai__mapping *m, uint32_t vertex, uint32_t cell);

/* --- map_free.c ----------------------------------------------------------- */

/* Finds a free cell for a vertex and takes it out of the free list. */
bool pai__map_find_free(pai__mapping *m, uint32_t vertex);
/* Restores the free list. */
void pai__map_undo(pai__hived *h);

#endif
