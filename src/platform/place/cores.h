/* cores.h - internal to the room: CPUs of tasks */
#ifndef PAI_SRC_PLATFORM_PLACE_CORES_H
#define PAI_SRC_PLATFORM_PLACE_CORES_H

#include "platform/platform.h"

#include "resource/cpus.h"

int pai__cores_open(pai_platform *p, pai_error **err);
void pai__cores_close(pai_platform *p);
/* Reads the machine's topology in another thread; the platform's end waits. */
void pai__cores_begin(pai_platform *p);
bool pai__cores_is_idle(const pai_platform *p);

/* Gives a task that is to be started as many free CPUs as it asks for.  Without
 * so many, or without memory, it gets none of its own and may use all.  A task
 * that asks for a fraction gets CPUs that only such tasks share. */
void pai__cores_take(pai__pjob *j, uint32_t task);
/* Takes the CPUs that the task's row names. */
void pai__cores_keep(pai__pjob *j, uint32_t task);
/* Gives back the CPUs of a task that has ended. */
void pai__cores_give(pai__pjob *j, uint32_t task);
/* Writes the NUMA nodes of its CPUs, as for a launch plan; nothing: any. */
void pai__cores_nodes(pai__buf *out, const pai__pjob *j, uint32_t task);

/* --- posix_cpus.c --------------------------------------------------------- */

/* Opens the file with whose locks platforms agree: a descriptor, or -1. */
int pai__cpus_open(void);
void pai__cpus_close(int fd);
/* False: another platform has it. */
bool pai__cpu_lock(int fd, uint32_t cpu);
void pai__cpu_unlock(int fd, uint32_t cpu);

#endif
