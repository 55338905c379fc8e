/* code.h - internal to the room: copies of users' code, and their removal */
#ifndef PAI_SRC_PLATFORM_FILES_CODE_H
#define PAI_SRC_PLATFORM_FILES_CODE_H

#include "platform/platform.h"

int pai__code_open(pai_platform *p, pai_error **err);
void pai__code_close(pai_platform *p);
/* Ends removals; the rest is removed after the next start. */
void pai__code_stop(pai_platform *p);
/* No copy or removal is under way: it may be closed. */
bool pai__code_is_idle(const pai_platform *p);
bool pai__code_is_removing(const pai_platform *p);
/* Removes a folder, if there is one, in another thread.  It is moved away at
 * once; where that fails, pai__code_is_leaving() is true until it is removed.
 * NULL is allowed. */
void pai__code_remove(pai_platform *p, const char *path);
bool pai__code_is_leaving(const pai_platform *p, const char *path);

/* posix_code.c, for any thread. */
/* Copies a folder to a new one in `folder`: *out, of `alloc`.  Files share
 * their blocks (reflinks) where the file system supports that. */
int pai__code_copy(char **out, const pai_alloc *alloc, const char *from,
                   const char *folder, pai_error **err);
/* Removes copies in `folder` whose jobs were never submitted, and which have
 * not changed for `age`.  Returns how many. */
unsigned pai__code_sweep(const char *folder, const pai_alloc *alloc,
                         pai_time age, const atomic_bool *stop);

#endif
