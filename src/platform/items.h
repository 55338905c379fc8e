/* items.h - internal to the room: jobs as lists show them, kept ready */
#ifndef PAI_SRC_PLATFORM_ITEMS_H
#define PAI_SRC_PLATFORM_ITEMS_H

#include "platform/platform.h"

/* No bytes: it was not written, or has changed since.  They are there until
 * another one is kept. */
pai__bytes pai__items_find(const pai_platform *p, const pai__job_row *job);
/* Keeps a copy, if there is room. */
void pai__items_keep(pai_platform *p, const pai__job_row *job,
                     const pai__buf *written);
void pai__items_free(pai_platform *p);

#endif
