/*
 * virtual_cells.h - internal: the cells that a virtual cluster believes to
 * have, of which a scheduler binds some to cells that are there
 *
 * Pure.  Threads: IMMUTABLE once made.
 */
#ifndef PAI_SRC_RESOURCE_VIRTUAL_CELLS_H
#define PAI_SRC_RESOURCE_VIRTUAL_CELLS_H

#include "resource/cells.h"

/* They lie depth first, as pai__cell does. */
typedef struct pai__virtual_cell {
  const char *address; /* "vc/0/1": its root's number, then its own in there */
  uint32_t type;
  uint32_t chain;  /* in pai__cells.chains */
  uint32_t parent; /* PAI__NOTHING for a root */
  uint32_t root;   /* what was given to the virtual cluster */
  uint32_t skip;
  uint32_t pinned; /* the cell its root is, or PAI__NOTHING */
} pai__virtual_cell;

typedef struct pai__virtual_cells {
  pai_alloc alloc;
  pai__arena arena; /* of the addresses */
  pai__virtual_cell *list;
  size_t count, cap;
} pai__virtual_cells;

/* Those of one virtual cluster: of its shares in their order, and so many
 * copies of each.  PAI_OK, PAI_ENOMEM, or PAI_ELIMIT for more than
 * PAI__CLUSTER_MAX_GPUS cells; dispose it in any case. */
int pai__virtual_cells_init(pai__virtual_cells *v, const pai_cluster *c,
                            const pai__cells *cells, const pai__vc *vc,
                            const pai_alloc *alloc);
void pai__virtual_cells_dispose(pai__virtual_cells *v);

#endif
