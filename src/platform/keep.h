/* keep.h - internal to the room: how long jobs that are over are kept */
#ifndef PAI_SRC_PLATFORM_KEEP_H
#define PAI_SRC_PLATFORM_KEEP_H

#include "platform/platform.h"

int pai__keep_open(pai_platform *p, pai_error **err);
void pai__keep_close(pai_platform *p);
/* Nothing is counted now: it may be closed. */
bool pai__keep_is_idle(const pai_platform *p);

#endif
