/*
 * ids.h - internal: finds jobs of a simulation by their ids in the trace
 *
 * It holds the jobs that are present, and at least the last PAI__LATELY jobs
 * that ended badly, so memory does not grow with the number of jobs that are
 * over.  A job that is not found counts as having ended well.
 *
 * A job that is present costs eight bytes, in a hash table that is at most
 * three quarters full: its number, and a hash.  The id itself is kept by the
 * job's owner.
 */
#ifndef PAI_SRC_SIM_IDS_H
#define PAI_SRC_SIM_IDS_H

#include "base/flat.h"
#include "base/map.h"

enum { PAI__LATELY = 1 << 16 };

/* Returns the id of a job that is present. */
typedef const char *(*pai__id_of)(const void *data, uint32_t number);

typedef struct pai__id_slot {
  uint32_t hash;
  uint32_t number; /* 0: empty */
} pai__id_slot;

typedef struct pai__ids {
  pai__id_of id_of;
  const void *data;
  pai__id_slot *there;
  uint32_t nslots, live;
  pai__map bad, older; /* ids that ended badly: the last ones, and up to
                          PAI__LATELY before them */
} pai__ids;

void pai__ids_init(pai__ids *ids, const pai_alloc *alloc, pai__id_of id_of,
                   const void *data);
void pai__ids_dispose(pai__ids *ids);

/* Returns the number of the job with that id, or PAI__NONE. */
uint32_t pai__ids_find(const pai__ids *ids, const char *id);
/* Returns whether a job with that id has lately ended badly. */
bool pai__ids_failed(const pai__ids *ids, const char *id);
/* Adds a job, which replaces an earlier one of the same id.  `id_of` need not
 * know the new number yet.  Returns PAI_OK or PAI_ENOMEM. */
int pai__ids_add(pai__ids *ids, const char *id, uint32_t number);
/* Removes a job that is over.  Returns PAI_OK or PAI_ENOMEM. */
int pai__ids_end(pai__ids *ids, const char *id, uint32_t number, bool badly);

#endif
