/* listen.h - internal to the room: who hears what is told */
#ifndef PAI_SRC_PLATFORM_LISTEN_H
#define PAI_SRC_PLATFORM_LISTEN_H

#include "platform/platform.h"

/* One of them may end any of them meanwhile. */
void pai__listeners_hear(pai_platform *p, const pai_event *event);
void pai__listeners_free(pai_platform *p);

#endif
