/* salvage.h - internal to the room: jobs that a repaired database lacks */
#ifndef PAI_SRC_PLATFORM_SALVAGE_H
#define PAI_SRC_PLATFORM_SALVAGE_H

#include "base/buf.h"
#include "store/store.h"

typedef struct pai__salvaged {
  pai__buf again; /* "user~name", with a zero behind each: jobs that have rows
                     again, made from their folders; */
  pai__buf lost;  /* and those of which there is only the name */
} pai__salvaged;

/* Of a root whose platform is locked out.  Both buffers are the caller's. */
int pai__salvage(pai__salvaged *out, const char *root, const pai_alloc *alloc,
                 pai_error **err);

#endif
