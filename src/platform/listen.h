/* listen.h - internal to the room: listeners of a platform's events */
#ifndef PAI_SRC_PLATFORM_LISTEN_H
#define PAI_SRC_PLATFORM_LISTEN_H

#include "platform/platform.h"

/* Calls all listeners.  A listener may end itself or others meanwhile. */
void pai__listeners_hear(pai_platform *p, const pai_event *event);
void pai__listeners_free(pai_platform *p);

#endif
