/* after.h - internal to the room: jobs that wait for others to end */
#ifndef PAI_SRC_PLATFORM_PLACE_AFTER_H
#define PAI_SRC_PLATFORM_PLACE_AFTER_H

#include "platform/platform.h"

/* Makes the list of requests that the job waits for: *n of them, for
 * pai__free().  Jobs that have ended as required are left out.  PAI_ENOTFOUND:
 * no such job; PAI_EINVAL: one has ended otherwise, or cannot be waited for;
 * PAI_ENOMEM. */
int pai__after_make(pai_after **out, size_t *n, const pai__pjob *j,
                    pai_error **err);

/* Tells whether a job that `j` waits for has not ended. */
bool pai__after_waits(const pai__pjob *j);

/* A job has ended: ends jobs that wait for it to end otherwise. */
void pai__after_ended(pai__pjob *done);

/* The same for jobs that ended, or were lost, while no platform ran. */
void pai__after_restored(pai_platform *p);

/* Stops a job whose attempt has reached its time limit. */
void pai__time_is_over(pai__pjob *j);

#endif
