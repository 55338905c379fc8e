/*
 * virtual_cells.h - internal: HiveD's virtual cells, the cells of a virtual
 * cluster that a scheduler binds to physical cells
 *
 * Pure.  Threads: IMMUTABLE once made.
 */
#ifndef PAI_SRC_RESOURCE_VIRTUAL_CELLS_H
#define PAI_SRC_RESOURCE_VIRTUAL_CELLS_H

#include "resource/cells.h"

/* A virtual cell.  Virtual cells are stored depth first, as pai__cell is. */
typedef struct pai__virtual_cell {
  /* "vc/0/1": number of the root, then numbers within it */
  const char *address;
  uint32_t type;
  uint32_t chain;  /* in pai__cells.chains */
  uint32_t parent; /* PAI__NOTHING for a root */
  uint32_t root;   /* the cell at the top of its tree */
  uint32_t skip;
  /* pinned cell to which its root is bound, or PAI__NOTHING */
  uint32_t pinned;
  uint32_t number; /* the last part of its address */
} pai__virtual_cell;

typedef struct pai__virtual_cells {
  pai_alloc alloc;
  pai__arena arena; /* owns the addresses */
  pai__virtual_cell *list;
  size_t count, cap;
} pai__virtual_cells;

/* Returns the type, chain and pinned cell of the roots that a share gives. */
pai__virtual_cell pai__share_root(const pai_cluster *c,
                                  const pai__cells *cells,
                                  const pai__share *s);

/* Makes the virtual cells of one virtual cluster, for each share in order as
 * many trees as its count.  Returns PAI_OK, PAI_ENOMEM, or PAI_ELIMIT for more
 * than PAI__CLUSTER_MAX_GPUS cells; call pai__virtual_cells_dispose() in any
 * case. */
int pai__virtual_cells_init(pai__virtual_cells *v, const pai_cluster *c,
                            const pai__cells *cells, const pai__vc *vc,
                            const pai_alloc *alloc);
void pai__virtual_cells_dispose(pai__virtual_cells *v);

#endif
