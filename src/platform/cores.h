/* cores.h - internal to the room: which task has which CPUs */
#ifndef PAI_SRC_PLATFORM_CORES_H
#define PAI_SRC_PLATFORM_CORES_H

#include "platform/platform.h"

#include "resource/cpus.h"

int pai__cores_open(pai_platform *p, pai_error **err);
void pai__cores_close(pai_platform *p);
/* Looks how the machine is made, beside the loop; the platform's end waits. */
void pai__cores_begin(pai_platform *p);
bool pai__cores_is_idle(const pai_platform *p);

/* A task that is to be started gets as many as it asks for and nobody has; if
 * there are not as many, or no memory, it has none of its own: all. */
void pai__cores_take(pai__pjob *j, uint32_t task);
/* It has those that its row said. */
void pai__cores_keep(pai__pjob *j, uint32_t task);
/* It has ended. */
void pai__cores_give(pai__pjob *j, uint32_t task);
/* The memory next to them, as plans take it; nothing: any. */
void pai__cores_nodes(pai__buf *out, const pai__pjob *j, uint32_t task);

/* --- posix_cpus.c ---------------------------------------------------------------- */

/* What this process may run on; false: nobody knows. */
bool pai__cpus_allowed(pai__cpus *out);
/* Platforms agree by locks in a file: a descriptor, or -1. */
int pai__cpus_open(void);
void pai__cpus_close(int fd);
/* False: another platform has it. */
bool pai__cpu_lock(int fd, uint32_t cpu);
void pai__cpu_unlock(int fd, uint32_t cpu);

#endif
