/* gpus.h - internal to the room: checks and leases of this machine's GPUs */
#ifndef PAI_SRC_PLATFORM_PLACE_GPUS_H
#define PAI_SRC_PLATFORM_PLACE_GPUS_H

#include "platform/platform.h"

#include <openpai/gpu.h>

int pai__gpus_open(pai_platform *p, pai_error **err);
/* To be called when restored jobs have their GPUs: other use is foreign. */
void pai__gpus_begin(pai_platform *p);
void pai__gpus_close(pai_platform *p);
/* No other thread works for it: it may be closed. */
bool pai__gpus_is_idle(const pai_platform *p);
/* Returns why a GPU is not given out; NULL: it is. */
const char *pai__gpus_why(const pai_platform *p, uint32_t gpu);
/* Jobs wait: checks later whether GPUs in foreign use are free again. */
void pai__gpus_watch(pai_platform *p);
/* Returns the result of the last check; NULL: none, or one is under way. */
const pai_gpus *pai__gpus_found(const pai_platform *p);

/* Tells whether the GPUs were checked recently.  If not, begins a check;
 * pai__placing_go_on() is called when that is done. */
bool pai__gpus_are_known(pai_platform *p, uint64_t gpus);
bool pai__gpus_of_are_known(const pai__pjob *j);
/* Returns a GPU's number here, that of its device file; -1: it is not given
 * out. */
int pai__gpus_number(const pai_platform *p, const pai_gpu_view *v);
/* Leases all GPUs that a job was placed on.  Returns how many others use, of
 * which the scheduler is notified; unless that is 0, none is leased. */
int pai__gpus_take(pai__pjob *j);
void pai__gpus_give(pai__pjob *j);
int pai__gpus_take_mask(pai_platform *p, uint64_t gpus);
/* Take GPUs of a task that still runs, even if another platform has a lease. */
void pai__gpus_keep(pai__pjob *j);
void pai__gpus_keep_mask(pai_platform *p, uint64_t gpus);
void pai__gpus_give_mask(pai_platform *p, uint64_t gpus);
/* Returns a GPU's memory in bytes; 0: unknown. */
uint64_t pai__gpus_memory(const pai_platform *p, uint32_t gpu);

/* --- posix_lease.c -------------------------------------------------------- */

/* Opens a file that platforms of all users lock; makes it with this mode. */
int pai__lock_file_open(const char *name, int flags, unsigned mode);
/* Takes the lease of GPU number `gpu` of this machine.  Returns a descriptor;
 * -1: another process has it; -2: leases do not work here. */
int pai__lease_take(uint32_t gpu);
void pai__lease_give(int fd);

#endif
