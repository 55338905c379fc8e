/* impossible.h - internal to the room: jobs that ask for more than there is */
#ifndef PAI_SRC_PLATFORM_PLACE_IMPOSSIBLE_H
#define PAI_SRC_PLATFORM_PLACE_IMPOSSIBLE_H

#include "platform/platform.h"

/* Notes that the scheduler refused the job's requests: the job waits without
 * any.  Takes the error.  PAI_OK or PAI_ENOMEM. */
int pai__impossible_note(pai__pjob *j, pai_error **err);
/* Sends the requests again, after the cluster or the job has changed. */
void pai__impossible_try(pai__pjob *j);
void pai__impossible_try_all(pai_platform *p);

#endif
