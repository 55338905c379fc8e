/*
 * machine.h - internal: what is known of a machine without its topology, and of this
 * one
 */
#ifndef PAI_SRC_RESOURCE_MACHINE_H
#define PAI_SRC_RESOURCE_MACHINE_H

#include "base/base.h"

#include <openpai/cluster.h>

enum { PAI__MAX_GPUS = 64 }; /* per node: device sets are 64-bit masks */

typedef struct pai__machine {
  char name[64];
  char ip[46]; /* what tasks of one job call each other by */
  uint32_t cpus;
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t port_first; /* ports tasks may be given, */
  uint32_t port_last;  /* both ends included */
} pai__machine;

/* Asks the operating system (posix_machine.c) what this process may use: of
 * CPUs and memory no more than its affinity and its control group let it. */
void pai__machine_discover(pai__machine *out);
/* All of the machine's; 0: not known. */
uint32_t pai__machine_memory_mb(void);
/* linux_machine.c: no more than that; of control groups alone, as a tree that
 * is like the system's tells them. */
void pai__machine_limit_here(pai__machine *m);
void pai__machine_limit(pai__machine *m, const char *root);

/* linux_libraries.c: those that a topology has brought and that lose memory when
 * they are closed stay.  Before the topology goes. */
void pai__keep_libraries(void);

/* A cluster of it alone, whose GPUs are of the kind "gpu", owned by the
 * caller.  PAI_OK or PAI_ENOMEM. */
int pai__machine_cluster(pai_cluster **out, const pai__machine *from,
                         const pai_alloc *alloc);

#endif
