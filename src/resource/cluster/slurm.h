/* slurm.h - internal to the room: parse the `gres` and `tres` fields of a
 * Slurm node */
#ifndef PAI_SRC_RESOURCE_CLUSTER_SLURM_H
#define PAI_SRC_RESOURCE_CLUSTER_SLURM_H

#include "resource/cluster/import.h"

/* Adds the GPUs and NUMA nodes of `gres` to the shape, or the GPUs of `tres`
 * if `gres` has none. */
void pai__slurm_gpus(pai__reader *r, pai__node gres, pai__node tres,
                     pai__import_shape *shape);
/* Reads the amount of a resource, such as cpu, in `tres`; false if absent. */
bool pai__slurm_tres(const pai__reader *r, pai__node tres, const char *name,
                     uint64_t *out);

#endif
