/* after.h - internal to the room: jobs that wait for others to end */
#ifndef PAI_SRC_PLATFORM_AFTER_H
#define PAI_SRC_PLATFORM_AFTER_H

#include "platform/platform.h"

/* The requests that the job's is to come after, for pai__free(): *n of them;
 * those of jobs that have ended as it wants are left out.  PAI_OK; PAI_ENOTFOUND:
 * no such job; PAI_EINVAL: one has ended otherwise, or cannot be waited for;
 * PAI_ENOMEM. */
int pai__after_make(pai_after **out, size_t *n, const pai__pjob *j,
                    pai_error **err);

/* A job that it is to come after has not ended. */
bool pai__after_waits(const pai__pjob *j);

/* The job is over: what waits for another end of it never starts, and ends. */
void pai__after_ended(pai__pjob *done);

/* The same of what ended, or was lost, while there was no platform. */
void pai__after_restored(pai_platform *p);

/* The time that an attempt may take is over. */
void pai__time_is_over(pai__pjob *j);

#endif
