/* apart.h - internal to the room: what keeps jobs of several accounts apart on
 * a platform of one user */
#ifndef PAI_SRC_PLATFORM_APART_H
#define PAI_SRC_PLATFORM_APART_H

#include "platform/platform.h"

/* Why jobs of other accounts can reach the root, and what helps; NULL: they
 * cannot, or there are no others. */
const char *pai__apart_hole(const pai_platform *p);
/* Says so, unless that was said last: when the platform begins, and when its
 * accounts have changed. */
void pai__apart_tell(pai_platform *p);

/* Is it a job of an account that is neither an administrator's nor its whose
 * platform this is, and yet runs as that user? */
bool pai__apart_is_another(const pai__pjob *j);

/* A job that asks for what would lead to the root, by its runtime, by where it
 * begins or by folders of /tmp: PAI_EPERM, PAI_EINVAL. */
int pai__apart_check_runtime(const pai__pjob *j, pai_error **err);
int pai__apart_check_work_dir(const pai__pjob *j, pai_error **err);
int pai__apart_check_folders(const pai__pjob *j, pai_error **err);

#endif
