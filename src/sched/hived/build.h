/* build.h - internal: shared by the files that build an engine, build.c and
 * build_vcs.c */
#ifndef PAI_SRC_SCHED_HIVED_BUILD_H
#define PAI_SRC_SCHED_HIVED_BUILD_H

#include "sched/hived/engine.h"

typedef struct pai__hived_building {
  pai__hived *h;
  pai__cells cells;
  pai__named *vcs; /* virtual clusters, sorted by name */
  uint64_t *owns;  /* chain << 32 | virtual cluster, of each share; sorted */
  size_t npins;    /* pins made so far */
} pai__hived_building;

/* Steps, in this order: sort virtual clusters by name; find which have cells
 * of which chain; count what they want of each level; make their virtual
 * cells.  Each returns PAI_OK or PAI_ENOMEM; the last one also PAI_ELIMIT for
 * too many cells. */
int pai__hived_build_names(pai__hived_building *b);
int pai__hived_build_pairs(pai__hived_building *b);
int pai__hived_build_roots(pai__hived_building *b);
int pai__hived_build_vcs(pai__hived_building *b);

#endif
