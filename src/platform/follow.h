/* follow.h - internal to the room: who follows what the scheduler is told */
#ifndef PAI_SRC_PLATFORM_FOLLOW_H
#define PAI_SRC_PLATFORM_FOLLOW_H

#include "platform/platform.h"

/* A line of the scheduler's log. */
void pai__followers_line(pai_platform *p, const char *bytes, size_t len);
/* Lines are missing: each reads the whole scheduler next. */
void pai__followers_miss(pai_platform *p);
/* The platform ends: they keep what they have. */
void pai__followers_leave(pai_platform *p);

#endif
