/*
 * ids.h - internal: jobs of a trace by what it calls them
 *
 * Of each job that is there, and of some that ended badly lately: the memory of
 * a simulation does not grow with those that are over.  What is not known
 * counts as having ended well.
 */
#ifndef PAI_SRC_SIM_IDS_H
#define PAI_SRC_SIM_IDS_H

#include "sched/flat.h"

enum { PAI__LATELY = 1 << 16 };

typedef struct pai__ids {
  pai__lookup there; /* to numbers */
  pai__lookup bad;
  uint64_t *ring; /* of keys in `bad`, the oldest at `next`; or NULL */
  uint32_t next;
} pai__ids;

void pai__ids_init(pai__ids *ids);
void pai__ids_dispose(pai__ids *ids, const pai_alloc *alloc);

/* What stands for an id; never 0. */
uint64_t pai__id_key(const char *id);

/* A later job of the same id takes its place.  PAI_OK or PAI_ENOMEM. */
int pai__ids_add(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number);
/* It is over.  PAI_OK or PAI_ENOMEM. */
int pai__ids_end(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number, bool badly);

#endif
