/*
 * flat.h - internal: vectors, pools and indices without pointers inside
 *
 * The state of a scheduler lies in a few of these, and refers to itself by
 * index.  So copying the vectors copies the state.
 */
#ifndef PAI_SRC_BASE_FLAT_H
#define PAI_SRC_BASE_FLAT_H

#include "base/base.h"

#define PAI__NONE UINT32_MAX /* no index */

/* A vector of elements that are copied as bytes. */
typedef struct pai__flat {
  void *data;
  uint32_t len;
  uint32_t cap;  /* 0 with elements: `data` is part of another block */
  uint32_t size; /* bytes of an element */
} pai__flat;

static inline void pai__flat_init(pai__flat *f, size_t size)
{
  *f = (pai__flat){ .size = (uint32_t)size };
}

void pai__flat_dispose(pai__flat *f, const pai_alloc *alloc);

/* Reserves memory for `more` elements.  Returns PAI_OK or PAI_ENOMEM. */
int pai__flat_reserve(pai__flat *f, const pai_alloc *alloc, uint32_t more);

/* Appends n zeroed elements, for which memory is reserved.  Returns the index
 * of the first. */
uint32_t pai__flat_push(pai__flat *f, uint32_t n);
/* Appends a copy of an element.  Returns PAI_OK or PAI_ENOMEM. */
int pai__flat_add(pai__flat *f, const pai_alloc *alloc, const void *element);
/* Replaces all elements by n zeroed ones.  Returns PAI_OK or PAI_ENOMEM. */
int pai__flat_reset(pai__flat *f, const pai_alloc *alloc, uint32_t n);

/* Copies a vector.  `f` must be initialized and empty.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__flat_copy(pai__flat *f, const pai__flat *from,
                   const pai_alloc *alloc);
/* Copies a vector into a block, of which *at bytes are in use.  The block must
 * be large enough and outlive `f`. */
void pai__flat_copy_in(pai__flat *f, const pai__flat *from, void *block,
                       size_t *at);
/* Returns how many bytes pai__flat_copy_in() takes. */
static inline size_t pai__flat_bytes(const pai__flat *f)
{
  return ((size_t)f->len * f->size + 15) & ~(size_t)15;
}

/* --- pool ----------------------------------------------------------------- */

/* An allocator of blocks of 64-bit words.  A block is identified by the index
 * of its first word.  Blocks that were given back are reused. */
typedef struct pai__pool {
  pai__flat words;
  uint32_t free[36]; /* free lists by size class, linked through the blocks */
  uint32_t live;     /* words in use */
} pai__pool;

void pai__pool_init(pai__pool *p);
/* Empties the pool, and keeps its memory. */
void pai__pool_clear(pai__pool *p);

/* Allocates a block of n >= 1 words, with arbitrary content.  Returns
 * PAI__NONE without memory, or for more than 2^24 words. */
uint32_t pai__pool_take(pai__pool *p, const pai_alloc *alloc, uint32_t n);
/* Reserves memory for `blocks` blocks of n words: allocating them will not
 * fail.  Returns PAI_OK or PAI_ENOMEM. */
int pai__pool_reserve(pai__pool *p, const pai_alloc *alloc, uint32_t blocks,
                      uint32_t n);
/* Gives back a block.  `n` is the number of words that were asked for. */
void pai__pool_give(pai__pool *p, uint32_t at, uint32_t n);

/* Returns the address of a word.  Index 0 of an empty pool gives NULL, for
 * lists without items: adding to NULL would be undefined, even 0. */
static inline void *pai__pool_at(const pai__pool *p, uint32_t at)
{
  return at != 0 ? (uint64_t *)p->words.data + at : p->words.data;
}

/* Returns how many words hold so many bytes. */
static inline uint32_t pai__words_of(size_t bytes)
{
  return (uint32_t)((bytes + 7) / 8);
}

/* Mixes a number into a hash. */
static inline uint64_t pai__mix(uint64_t h, uint64_t v)
{
  h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
  return h ^ h >> 32;
}

/* --- index ---------------------------------------------------------------- */

/* A hash table from numbers that are not 0 to numbers, with open addressing.
 * It has no order. */
typedef struct pai__lookup {
  pai__flat slots; /* pairs of words: key, value */
  uint32_t live;
} pai__lookup;

void pai__lookup_init(pai__lookup *x);
/* Copies a table, as pai__flat_copy(). */
int pai__lookup_copy(pai__lookup *x, const pai__lookup *from,
                     const pai_alloc *alloc);
/* Reserves memory for one more key.  Returns PAI_OK or PAI_ENOMEM. */
int pai__lookup_reserve(pai__lookup *x, const pai_alloc *alloc);
/* Adds a key that is not in the table.  Memory must be reserved. */
void pai__lookup_add(pai__lookup *x, uint64_t key, uint32_t value);
/* Returns the value of a key, or PAI__NONE. */
uint32_t pai__lookup_get(const pai__lookup *x, uint64_t key);
void pai__lookup_remove(pai__lookup *x, uint64_t key);
/* Empties the table, and keeps its memory. */
void pai__lookup_clear(pai__lookup *x);
/* Returns the index that the table has for a key.  If it has none, appends a
 * zeroed element to the list, and adds its index.  Returns PAI__NONE without
 * memory. */
uint32_t pai__lookup_push(pai__lookup *x, pai__flat *list,
                          const pai_alloc *alloc, uint64_t key);

/* Returns the index of the element of a list whose first `words` words of 64
 * bits equal those of `element`; or appends a copy of that.  The table has an
 * entry for each element, and no other.  Returns PAI__NONE without memory. */
uint32_t pai__lookup_intern(pai__lookup *x, pai__flat *list,
                            const pai_alloc *alloc, const void *element,
                            size_t words);

typedef struct pai__texts {
  pai__flat list;    /* an entry for each string */
  pai__flat chars;   /* the strings, each with its NUL */
  pai__lookup index; /* by hash: the last string with that hash */
} pai__texts;

void pai__texts_init(pai__texts *n);
void pai__texts_dispose(pai__texts *n, const pai_alloc *alloc);
/* Gets the number of a string, and adds the string if it is new; PAI__NONE for
 * NULL.  Returns PAI_OK or PAI_ENOMEM. */
int pai__texts_add(pai__texts *n, const pai_alloc *alloc, const char *s,
                   uint32_t *out);
/* Returns the number of a string, or PAI__NONE if it was not added. */
uint32_t pai__texts_find(const pai__texts *n, const char *s);
/* Returns a string by its number; NULL for PAI__NONE.  It is valid until the
 * next string is added. */
const char *pai__texts_text(const pai__texts *n, uint32_t i);

#endif
