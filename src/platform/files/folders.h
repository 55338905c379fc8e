/* folders.h - internal to the room: names of existing job folders */
#ifndef PAI_SRC_PLATFORM_FILES_FOLDERS_H
#define PAI_SRC_PLATFORM_FILES_FOLDERS_H

#include "platform/platform.h"

/* Tells whether the store knows all names of folders that exist
 * (pai__store_use_name()).  The first call has another thread list them; if
 * that fails, it stays false. */
bool pai__folders_are_known(pai_platform *p);
/* No folder is being listed: it may be closed. */
bool pai__folders_are_idle(const pai_platform *p);
void pai__folders_close(pai_platform *p);

#endif
