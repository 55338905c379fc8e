/*
 * cpus.h - internal: choose CPUs for one task from those that are free
 *
 * Pure: the caller tracks which task has which CPU.
 */
#ifndef PAI_SRC_RESOURCE_CPUS_H
#define PAI_SRC_RESOURCE_CPUS_H

#include "resource/bits.h"

#include <openpai/topology.h>

enum { PAI__MAX_CPUS = 4096 }; /* limit of launch plans too */

/* A set of CPUs, by the operating system's numbers. */
typedef struct pai__cpus {
  uint64_t at[PAI__BITS_WORDS(PAI__MAX_CPUS)];
} pai__cpus;

/* Finds the CPUs that this process may run on; false: unknown
 * (linux_machine.c). */
bool pai__cpus_allowed(pai__cpus *out);

/* Sets *cpu to the first CPU of the set at or after *cpu.  Returns false if
 * there is none. */
static inline bool pai__cpus_next(const pai__cpus *cpus, uint32_t *cpu)
{
  uint32_t last;

  return pai__bits_run(cpus->at, PAI__LEN(cpus->at), *cpu, cpu, &last);
}

/* Chooses n of the free CPUs.  With GPUs, a mask of the topology's GPU
 * indices, it takes CPUs near to them, the same number for each GPU; without,
 * all CPUs of one NUMA node if one has enough.  It takes whole cores while n
 * allows, and then prefers the rest of cores that are partly in use.  Without
 * a topology it takes the lowest CPUs.  Returns false if fewer than n are
 * free. */
bool pai__cpus_choose(pai__cpus *out, const pai_topology *t, uint64_t gpus,
                      const pai__cpus *free, uint32_t n);

/* Writes the NUMA nodes of the CPUs as a list; writes nothing if the machine
 * has only one. */
void pai__cpus_nodes(pai__buf *out, const pai_topology *t,
                     const pai__cpus *cpus);

#endif
