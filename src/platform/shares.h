/* shares.h - internal to the room: jobs that have a part of a GPU each */
#ifndef PAI_SRC_PLATFORM_SHARES_H
#define PAI_SRC_PLATFORM_SHARES_H

#include "platform/platform.h"

/* Ids of the scheduler's that are no job's: GPUs that are shared. */
#define PAI__SHARE_ID (UINT64_C(1) << 63)

/* Reads what a job says of its share.  PAI_EINVAL: it cannot be; PAI_ENOROOM:
 * no GPU is so large. */
int pai__share_read(pai__pjob *j, pai_error **err);
/* Before the scheduler decides: who waits is given a share, or a GPU to be
 * shared is asked for; what nobody shares any more is given back. */
void pai__shares_settle(pai_platform *p);
/* A GPU that was asked for is there. */
void pai__shares_placed(pai_platform *p, uint64_t id);
/* Others are to have it: who shares it stops, and waits again. */
void pai__shares_preempted(pai_platform *p, uint64_t id);
/* Those that waited for a look at them have had it. */
void pai__shares_go_on(pai_platform *p);
/* A job needs its shares no more. */
void pai__share_give(pai__pjob *j);
/* A task that has room of its own does. */
void pai__share_give_task(pai__pjob *j, uint32_t task);
/* Those that the platform before had. */
void pai__shares_restore(pai_platform *p);
void pai__share_restore(pai__pjob *j);
/* When all jobs have theirs: others are given back. */
void pai__shares_restored(pai_platform *p);

#endif
