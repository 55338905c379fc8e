/* items.h - internal to the room: cache of list entries of jobs */
#ifndef PAI_SRC_PLATFORM_RECORDS_ITEMS_H
#define PAI_SRC_PLATFORM_RECORDS_ITEMS_H

#include "platform/platform.h"

/* Finds a job's entry.  No bytes: it is not in the cache, or the job has
 * changed since.  Valid until the next pai__items_keep(). */
pai__bytes pai__items_find(const pai_platform *p, const pai__job_row *job);
/* Keeps a copy of an entry, if memory allows. */
void pai__items_keep(pai_platform *p, const pai__job_row *job,
                     const pai__buf *written);
void pai__items_free(pai_platform *p);

#endif
