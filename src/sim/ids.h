/*
 * ids.h - internal: jobs of a trace by what it calls them
 *
 * Of each job that is there, and of some that ended badly lately: the memory of
 * a simulation does not grow with those that are over.  What is not known
 * counts as having ended well.
 *
 * A job that is there costs eight bytes in a table that is three quarters full
 * at most: its number, and half of its key; the whole key is its owner's.
 */
#ifndef PAI_SRC_SIM_IDS_H
#define PAI_SRC_SIM_IDS_H

#include "sched/flat.h"

enum { PAI__LATELY = 1 << 16 };

/* The key of a job that is there. */
typedef uint64_t (*pai__key_of)(const void *data, uint32_t number);

typedef struct pai__id_slot {
  uint32_t half;   /* of the key */
  uint32_t number; /* 0: nothing */
} pai__id_slot;

typedef struct pai__ids {
  pai__key_of key_of;
  const void *data;
  pai__id_slot *there;
  uint32_t nslots, live;
  pai__lookup bad;
  uint64_t *ring; /* of keys in `bad`, the oldest at `next`; or NULL */
  uint32_t next;
} pai__ids;

void pai__ids_init(pai__ids *ids, pai__key_of key_of, const void *data);
void pai__ids_dispose(pai__ids *ids, const pai_alloc *alloc);

/* What stands for an id; never 0. */
uint64_t pai__id_key(const char *id);

/* The number of the job that is there and has that key, or PAI__NONE. */
uint32_t pai__ids_find(const pai__ids *ids, uint64_t key);
/* A later job of the same id takes its place; it need not be known yet.  PAI_OK or PAI_ENOMEM. */
int pai__ids_add(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number);
/* It is over.  PAI_OK or PAI_ENOMEM. */
int pai__ids_end(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number, bool badly);

#endif
