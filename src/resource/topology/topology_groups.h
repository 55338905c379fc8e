/*
 * topology_groups.h - nested groups of a machine's GPUs, from which the cells
 * of a cluster are made
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_GROUPS_H
#define PAI_SRC_RESOURCE_TOPOLOGY_GROUPS_H

#include "resource/topology/topology.h"

enum { PAI__TOPO_LEVELS = 8 };

typedef struct pai__topo_level {
  const char *name; /* "switch", "switches", "nvlink", "xgmi", "xelink",
                       "numa", "package", "machine" */
  uint32_t groups;  /* number of groups */
  uint32_t most;    /* GPUs in the largest group */
  bool equal;       /* all groups have the same number of GPUs */
  /* group of each GPU; groups are numbered from 0 by their first GPU */
  uint32_t *group;
} pai__topo_level;

/* Levels from the smallest groups to the machine.  Each group lies within one
 * of the next level, and no two levels are the same. */
typedef struct pai__topo_levels {
  const pai_alloc *alloc; /* borrowed from the topology */
  size_t count;
  pai__topo_level level[PAI__TOPO_LEVELS];
  /* Levels that were left out because they cut across a level that was
   * kept. */
  size_t refused_count;
  struct {
    const char *name, *kept;
  } refused[PAI__TOPO_LEVELS];
  size_t gpus;
} pai__topo_levels;

/* Returns PAI_OK or PAI_ENOMEM; after PAI_ENOMEM there is nothing to dispose.
 * A machine without GPUs has no levels. */
int pai__topo_levels_init(pai__topo_levels *l, const pai_topology *t);
void pai__topo_levels_dispose(pai__topo_levels *l);

#endif
