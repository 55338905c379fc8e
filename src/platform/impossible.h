/* impossible.h - internal to the room: jobs that ask for more than there is */
#ifndef PAI_SRC_PLATFORM_IMPOSSIBLE_H
#define PAI_SRC_PLATFORM_IMPOSSIBLE_H

#include "platform/platform.h"

/* The scheduler refused the job's requests: it has none from now on, and waits.
 * Takes the error.  PAI_OK or PAI_ENOMEM. */
int pai__impossible_note(pai__pjob *j, pai_error **err);
/* The cluster or the job has changed: its requests are sent again. */
void pai__impossible_try(pai__pjob *j);
void pai__impossible_try_all(pai_platform *p);

#endif
