/* apart.h - internal to the room: isolation of jobs of several accounts on
 * a platform of one user */
#ifndef PAI_SRC_PLATFORM_APART_H
#define PAI_SRC_PLATFORM_APART_H

#include "platform/platform.h"

/* Returns why jobs of other accounts can reach the root, and what helps; NULL:
 * they cannot, or there are no other accounts. */
const char *pai__apart_hole(const pai_platform *p);
/* Logs that as a warning, unless it was the last one.  To be called when the
 * platform begins and when its accounts have changed. */
void pai__apart_tell(pai_platform *p);

/* Tells whether a job's account is neither an administrator's nor that of the
 * platform's user, while the job runs as the platform's user. */
bool pai__apart_is_another(const pai__pjob *j);

/* Refuse a job that could reach the root by its runtime, its working folder or
 * folders that it names: PAI_EPERM, PAI_EINVAL. */
int pai__apart_check_runtime(const pai__pjob *j, pai_error **err);
int pai__apart_check_work_dir(const pai__pjob *j, pai_error **err);
int pai__apart_check_folders(const pai__pjob *j, pai_error **err);

#endif
