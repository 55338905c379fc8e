/*
 * machine.h - internal: CPUs, memory, GPUs and ports of this machine, without
 * its topology
 */
#ifndef PAI_SRC_RESOURCE_MACHINE_H
#define PAI_SRC_RESOURCE_MACHINE_H

#include "base/base.h"

#include <openpai/cluster.h>

enum { PAI__MAX_GPUS = 64 }; /* per node: device sets are 64-bit masks */

typedef struct pai__machine {
  char name[64];
  char ip[46]; /* address by which tasks of a job reach each other */
  uint32_t cpus;
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t port_first; /* first port that tasks may get */
  uint32_t port_last;  /* last port that tasks may get */
} pai__machine;

/* Finds out what this process may use (posix_machine.c).  CPUs and memory are
 * limited by its affinity and its control groups. */
void pai__machine_discover(pai__machine *out);
/* Returns all memory of the machine; 0: unknown. */
uint32_t pai__machine_memory_mb(void);
/* linux_machine.c: pai__machine_limit_here() lowers CPUs and memory to the
 * affinity and the control groups of this process; pai__machine_limit() lowers
 * them to the control groups in a directory tree like the system's. */
void pai__machine_limit_here(pai__machine *m);
void pai__machine_limit(pai__machine *m, const char *root);

/* linux_machine.c: keeps loaded the libraries that hwloc's plug-ins load and
 * that lose memory when they are unloaded.  Call it before the topology is
 * freed. */
void pai__keep_libraries(void);

/* Makes a cluster of this machine alone, with GPUs of the kind "gpu"; the
 * caller owns it.  Returns PAI_OK or PAI_ENOMEM. */
int pai__machine_cluster(pai_cluster **out, const pai__machine *from,
                         const pai_alloc *alloc);

#endif
