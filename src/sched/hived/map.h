/* map.h - internal to the mapping of virtual cells: map.c, map_free.c */
#ifndef PAI_SRC_SCHED_HIVED_MAP_H
#define PAI_SRC_SCHED_HIVED_MAP_H

#include "sched/hived/engine.h"

typedef struct pai__mapping {
  pai__hived *h;
  const pai__hived_chain *chain;
  const uint64_t *suggested;
  int32_t wanted[PAI__CELLS_MAX_LEVELS + 1]; /* of each level */
  bool failed;                               /* memory was short */
} pai__mapping;

/* --- map.c ---------------------------------------------------------------- */

/* Onto the scratch's stack; false without memory. */
bool pai__map_push(pai__mapping *m, uint32_t word);
/* Whether a cell may be bound at all. */
bool pai__map_is_usable(const pai__mapping *m, uint32_t cell);
/* Cells that are less used opportunistically first, else as they are. */
void pai__map_sort(const pai__hived *h, uint32_t *cells, uint32_t n);
/* Whether a vertex, with all in it, can be a cell; then its leaves know which
 * they are. */
bool pai__map_fits(pai__mapping *m, uint32_t vertex, uint32_t cell);

/* --- map_free.c ----------------------------------------------------------- */

/* Finds a free cell for a vertex, which is out of the free list then. */
bool pai__map_find_free(pai__mapping *m, uint32_t vertex);
/* Puts the free list back. */
void pai__map_undo(pai__hived *h);

#endif
