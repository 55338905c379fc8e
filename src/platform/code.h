/* code.h - internal to the room: copies of users' code, and what is left of
 * them */
#ifndef PAI_SRC_PLATFORM_CODE_H
#define PAI_SRC_PLATFORM_CODE_H

#include "platform/platform.h"

int pai__code_open(pai_platform *p, pai_error **err);
void pai__code_close(pai_platform *p);
/* Ends what removes; what is left is removed after the next start. */
void pai__code_stop(pai_platform *p);
/* Nothing is copied or removed: it may be closed. */
bool pai__code_is_idle(const pai_platform *p);
/* Removes a folder, if there is one, in another thread: it is no longer there,
 * or, where it cannot be moved away, leaving.  NULL is allowed. */
void pai__code_remove(pai_platform *p, const char *path);
bool pai__code_is_leaving(const pai_platform *p, const char *path);

/* posix_code.c, for any thread. */
/* Copies a folder to a new one in `folder`: *out, of `alloc`.  Files of the
 * same blocks, where the file system can have such. */
int pai__code_copy(char **out, const pai_alloc *alloc, const char *from,
                   const char *folder, pai_error **err);
/* Removes what was left in `folder` for jobs that never came, and has not
 * changed for so long.  How many. */
unsigned pai__code_sweep(const char *folder, const pai_alloc *alloc,
                         pai_time age, const atomic_bool *stop);

#endif
