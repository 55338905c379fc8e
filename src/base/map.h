/*
 * map.h - hash map from byte strings to pointers, in order of insertion
 *
 * Iteration (entries 0 .. count-1) never depends on the hash, so output made
 * from a map is the same everywhere.  Keys are copied.  Integer keys are
 * passed as their bytes.  Not for keys that an attacker chooses in bulk: sort
 * those.
 */
#ifndef PAI_SRC_BASE_MAP_H
#define PAI_SRC_BASE_MAP_H

#include "base/base.h"

typedef struct pai__map_entry {
  char *key; /* NUL-terminated copy; NULL once removed */
  size_t len;
  void *value;
  uint64_t hash;
} pai__map_entry;

typedef struct pai__map {
  const pai_alloc *alloc; /* borrowed */
  pai__map_entry *entries;
  size_t len, cap; /* entries, removed ones included */
  size_t live;
  uint32_t *slots; /* 0 empty, else entry + 1 */
  size_t nslots;   /* 0 or a power of two */
} pai__map;

/* Returns the hash of bytes that maps use. */
uint64_t pai__map_hash(const void *key, size_t len);

void pai__map_init(pai__map *m, const pai_alloc *alloc);
void pai__map_dispose(pai__map *m); /* values are the caller's */

/* Adds or replaces.  PAI_OK, or PAI_ENOMEM and the map is unchanged. */
int pai__map_set(pai__map *m, const void *key, size_t len, void *value);
/* Returns the value, or NULL. */
void *pai__map_get(const pai__map *m, const void *key, size_t len);
/* Removes the key and returns its value, or NULL. */
void *pai__map_remove(pai__map *m, const void *key, size_t len);

/* Iterates live entries: for (i = 0; (e = pai__map_next(m, &i)) != NULL;) */
const pai__map_entry *pai__map_next(const pai__map *m, size_t *i);

#endif
