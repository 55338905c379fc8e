/* shares.h - internal to the room: jobs that share GPUs */
#ifndef PAI_SRC_PLATFORM_PLACE_SHARES_H
#define PAI_SRC_PLATFORM_PLACE_SHARES_H

#include "platform/platform.h"

/* Bit of the ids of the platform's own requests, for GPUs to share. */
#define PAI__SHARE_ID (UINT64_C(1) << 63)

/* Reads the share that a job asks for.  PAI_EINVAL: not a valid one;
 * PAI_ENOROOM: no GPU is so large. */
int pai__share_read(pai__pjob *j, pai_error **err);
/* To be called before the scheduler decides: gives shares to waiting jobs, or
 * requests another GPU to share; gives back GPUs that no job shares. */
void pai__shares_settle(pai_platform *p);
/* The request for a GPU to share was placed. */
void pai__shares_placed(pai_platform *p, uint64_t id);
/* The GPU was preempted: jobs that share it stop, and wait again. */
void pai__shares_preempted(pai_platform *p, uint64_t id);
/* Goes on with requests whose GPUs were checked. */
void pai__shares_go_on(pai_platform *p);
/* Gives back the shares of a gang. */
void pai__share_give(pai__pjob *j);
/* Gives back the share of a task that is placed alone. */
void pai__share_give_task(pai__pjob *j, uint32_t task);
/* Restore the shared GPUs, and a job's shares. */
void pai__shares_restore(pai_platform *p);
void pai__share_restore(pai__pjob *j);
/* To be called when all jobs are restored: gives back unused GPUs. */
void pai__shares_restored(pai_platform *p);

#endif
