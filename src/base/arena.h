/*
 * arena.h - memory arena: many allocations, freed all at once
 *
 * For the many small pieces of one immutable object: a spec, a plan.  Blocks
 * double in size; nothing is ever moved.
 */
#ifndef PAI_SRC_BASE_ARENA_H
#define PAI_SRC_BASE_ARENA_H

#include "base/base.h"

typedef struct pai__arena_block pai__arena_block;

typedef struct pai__arena {
  const pai_alloc *alloc;  /* borrowed */
  pai__arena_block *block; /* newest first */
} pai__arena;

void pai__arena_init(pai__arena *a, const pai_alloc *alloc);
void pai__arena_dispose(pai__arena *a);
/* Frees everything but one block of up to 256 KiB, which is reused. */
void pai__arena_clear(pai__arena *a);

/* Returns n zeroed elements, aligned for any type; NULL when out of memory. */
void *pai__arena_zalloc(pai__arena *a, size_t n, size_t size);
char *pai__arena_strndup(pai__arena *a, const char *s, size_t len);

#endif
