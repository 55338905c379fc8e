/* slurm.h - internal to the room: the parts of a Slurm node's fields */
#ifndef PAI_SRC_RESOURCE_SLURM_H
#define PAI_SRC_RESOURCE_SLURM_H

#include "resource/import.h"

/* A number as Slurm writes it since 22.05: 8, or {"set": true, "infinite":
 * false, "number": 8}.  False: it is not there, not set, or wrong, which is
 * told. */
bool pai__slurm_number(pai__reader *r, pai__node n, const char *what,
                       uint64_t most, uint64_t *out);

/* Walks through names that are a list, or one text with commas (or + for
 * states, or none). */
typedef struct pai__slurm_names {
  const pai__reader *r;
  pai__tree_walk walk;
  pai__piece left; /* of the text */
} pai__slurm_names;

void pai__slurm_names_begin(pai__slurm_names *s, const pai__reader *r,
                            pai__node n);
bool pai__slurm_names_next(pai__slurm_names *s, pai__piece *name);

/* The GPUs and NUMA nodes of `gres`, or of `tres` where that has none. */
void pai__slurm_gpus(pai__reader *r, pai__node gres, pai__node tres,
                     pai__shape *shape);
/* The number of a resource in `tres`, as cpu; false if there is none. */
bool pai__slurm_tres(const pai__reader *r, pai__node tres, const char *name,
                     uint64_t *out);

/* Why no job can run there, of its state and its reason. */
void pai__slurm_health(const pai__reader *r, pai__node node, pai__buf *why);

#endif
