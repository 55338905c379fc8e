/* database_copies.h - internal to the room: copies of the database */
#ifndef PAI_SRC_PLATFORM_RESTORE_DATABASE_COPIES_H
#define PAI_SRC_PLATFORM_RESTORE_DATABASE_COPIES_H

#include "platform/platform.h"

/* No copy is being made: it may be closed. */
bool pai__care_is_idle(const pai_platform *p);

#endif
