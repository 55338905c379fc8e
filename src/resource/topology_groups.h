/*
 * topology_groups.h - the GPUs of a machine in nested groups: what cells of a
 * cluster are made of
 */
#ifndef PAI_SRC_RESOURCE_TOPOLOGY_GROUPS_H
#define PAI_SRC_RESOURCE_TOPOLOGY_GROUPS_H

#include "resource/topology.h"

enum { PAI__TOPO_LEVELS = 8 };

typedef struct pai__topo_level {
  const char *name; /* "switch", "switches", "nvlink", "xgmi", "xelink",
                       "numa", "package", "machine" */
  uint32_t groups;  /* how many */
  uint32_t most;    /* GPUs in the largest */
  bool equal;       /* all groups have as many GPUs */
  uint32_t *group;  /* of each GPU, from 0, in the order of first GPUs */
} pai__topo_level;

/* Levels from the smallest groups to the machine.  Each group lies within one
 * of the next level, and no two levels are the same. */
typedef struct pai__topo_levels {
  const pai_alloc *alloc; /* borrowed from the topology */
  size_t count;
  pai__topo_level level[PAI__TOPO_LEVELS];
  /* Levels that were left out because they cut across one that was kept. */
  size_t refused_count;
  struct {
    const char *name, *kept;
  } refused[PAI__TOPO_LEVELS];
  size_t gpus;
} pai__topo_levels;

/* Without GPUs there is no level.  PAI_OK or PAI_ENOMEM, and then there is
 * nothing to dispose. */
int pai__topo_levels_init(pai__topo_levels *l, const pai_topology *t);
void pai__topo_levels_dispose(pai__topo_levels *l);

#endif
