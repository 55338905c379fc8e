/*
 * cores_shared.h - internal to the room: CPUs of tasks that ask for fractions
 *
 * Such tasks share some CPUs, which no task has for itself meanwhile.  Each is
 * bound to as many of them as it needs, two for 1.5, with free capacity for its
 * part on each; without such CPUs, to all shared ones.  No more CPUs are shared
 * than the tasks need together.
 */
#ifndef PAI_SRC_PLATFORM_PLACE_CORES_SHARED_H
#define PAI_SRC_PLATFORM_PLACE_CORES_SHARED_H

#include "resource/cpus.h"

typedef struct pai__shared_cpus {
  pai__cpus set;
  uint32_t load[PAI__MAX_CPUS];  /* thousandths of a CPU asked for on each */
  uint32_t tasks[PAI__MAX_CPUS]; /* tasks on each; 0: it is not shared */
  uint64_t millis;               /* thousandths of a CPU of all tasks */
} pai__shared_cpus;

/* Returns how many more CPUs must be shared for a task of `millis`. */
uint32_t pai__shared_more(const pai__shared_cpus *s, uint64_t millis);

/* Chooses a task's CPUs among the shared ones and `more`.  False: there are
 * none. */
bool pai__shared_choose(pai__cpus *out, const pai__shared_cpus *s,
                        const pai__cpus *more, uint64_t millis);

/* Adds a task of `millis` to its CPUs, or drops it.  A drop leaves in `cpus`
 * those that no task shares any more. */
void pai__shared_add(pai__shared_cpus *s, const pai__cpus *cpus,
                     uint64_t millis);
void pai__shared_drop(pai__shared_cpus *s, pai__cpus *cpus, uint64_t millis);

#endif
