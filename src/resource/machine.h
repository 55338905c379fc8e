/*
 * machine.h - internal: a machine as the scheduler sees it, and this machine
 */
#ifndef PAI_SRC_RESOURCE_MACHINE_H
#define PAI_SRC_RESOURCE_MACHINE_H

#include "base/base.h"

enum { PAI__MAX_GPUS = 64 }; /* per node: device sets are 64-bit masks */

typedef struct pai__machine {
  char name[64];
  char ip[46]; /* what tasks of one job call each other by */
  uint32_t cpus;
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t port_first; /* ports tasks may be given, */
  uint32_t port_last;  /* both ends included */
  uint32_t port_seed;  /* where in the range to begin: any number, another
                          one for each platform, for none sees what others
                          have not opened yet */
} pai__machine;

/* Asks the operating system; the room's one window (posix_machine.c). */
void pai__machine_discover(pai__machine *out);

#endif
