/* follow.h - internal to the room: followers of the scheduler's log */
#ifndef PAI_SRC_PLATFORM_FOLLOW_H
#define PAI_SRC_PLATFORM_FOLLOW_H

#include "platform/platform.h"

/* Passes on a line of the scheduler's log. */
void pai__followers_line(pai_platform *p, const char *bytes, size_t len);
/* Lines are missing: each follower gets a snapshot next. */
void pai__followers_miss(pai_platform *p);
/* The platform ends: followers keep what they have read. */
void pai__followers_leave(pai_platform *p);

#endif
