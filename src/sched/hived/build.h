/* build.h - internal to the making of an engine: build.c, build_vcs.c */
#ifndef PAI_SRC_SCHED_HIVED_BUILD_H
#define PAI_SRC_SCHED_HIVED_BUILD_H

#include "sched/hived/engine.h"

typedef struct pai__building {
  pai__hived *h;
  pai__cells cells;
  uint32_t *vc_of;     /* of each virtual cluster by name: in the cluster */
  uint64_t *owns;      /* of each share: chain and virtual cluster, sorted */
  uint32_t *pin_cells; /* cells with a name */
  size_t npin_cells;
  size_t npins; /* that are made */
} pai__building;

/* In this order: virtual clusters by their names, and cells that have one; who
 * has anything of which chain; what they want of each level; their cells.
 * PAI_OK, PAI_ENOMEM, or PAI_ELIMIT for too many cells. */
int pai__build_names(pai__building *b);
int pai__build_pairs(pai__building *b);
int pai__build_roots(pai__building *b);
int pai__build_vcs(pai__building *b);

#endif
