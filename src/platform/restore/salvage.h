/* salvage.h - internal to the room: recovery of jobs after database repair */
#ifndef PAI_SRC_PLATFORM_RESTORE_SALVAGE_H
#define PAI_SRC_PLATFORM_RESTORE_SALVAGE_H

#include "base/buf.h"
#include "store/store.h"

typedef struct pai__salvaged {
  pai__buf again;   /* "user~name", each with a NUL: jobs whose rows were made
                     again from their folders */
  pai__buf lost;    /* the same: jobs of which only the name is known */
  pai__buf stopped; /* the same: jobs that were stopped before they started */
} pai__salvaged;

/* Salvages a root that the caller has locked.  The caller owns both buffers. */
int pai__salvage(pai__salvaged *out, const char *root, const pai_alloc *alloc,
                 pai_error **err);

#endif
