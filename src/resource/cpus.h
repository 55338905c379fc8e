/*
 * cpus.h - internal: CPUs for one task, of those that are free
 *
 * Pure: who has which is the caller's matter.
 */
#ifndef PAI_SRC_RESOURCE_CPUS_H
#define PAI_SRC_RESOURCE_CPUS_H

#include "resource/bits.h"

#include <openpai/topology.h>

enum { PAI__MAX_CPUS = 4096 }; /* as launch plans take them */

/* By the operating system's numbers. */
typedef struct pai__cpus {
  uint64_t at[PAI__BITS_WORDS(PAI__MAX_CPUS)];
} pai__cpus;

/* Chooses n of the free ones: near the GPUs, which are a mask of the topology's
 * by their places there, as many for each of them, or else
 * all of one NUMA node if one has as many; whole cores as long as they are
 * wanted, the rest of cores that others have a part of before.  Without a
 * topology the lowest ones.  False: there are not as many. */
bool pai__cpus_choose(pai__cpus *out, const pai_topology *t, uint64_t gpus,
                      const pai__cpus *free, uint32_t n);

/* The NUMA nodes of some CPUs as a list; nothing where there is only one. */
void pai__cpus_nodes(pai__buf *out, const pai_topology *t,
                     const pai__cpus *cpus);

#endif
