/* keep.h - internal to the room: removal of old ended jobs */
#ifndef PAI_SRC_PLATFORM_RESTORE_KEEP_H
#define PAI_SRC_PLATFORM_RESTORE_KEEP_H

#include "platform/platform.h"

int pai__keep_open(pai_platform *p, pai_error **err);
/* A job has ended: if their number or the size of their logs is limited, the
 * limits are checked soon. */
void pai__keep_job_ended(pai_platform *p);
void pai__keep_close(pai_platform *p);
/* No count is under way: it may be closed. */
bool pai__keep_is_idle(const pai_platform *p);

#endif
