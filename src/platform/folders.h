/* folders.h - internal to the room: under which names folders of jobs lie */
#ifndef PAI_SRC_PLATFORM_FOLDERS_H
#define PAI_SRC_PLATFORM_FOLDERS_H

#include "platform/platform.h"

/* True if the store knows of each folder's name that it is used
 * (pai__store_use_name()).  The first call has them listed beside the loop;
 * where that fails, it is false for ever. */
bool pai__folders_are_known(pai_platform *p);
/* Nothing is listed now: it may be closed. */
bool pai__folders_are_idle(const pai_platform *p);
void pai__folders_close(pai_platform *p);

#endif
