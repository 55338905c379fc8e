/*
 * flat.h - internal: memory without pointers inside
 *
 * The whole state of a scheduler lies in a few of these, and what it says of
 * itself are numbers: a copy of them is a copy of it.
 */
#ifndef PAI_SRC_SCHED_FLAT_H
#define PAI_SRC_SCHED_FLAT_H

#include "base/base.h"

#define PAI__NONE UINT32_MAX /* as an index */

/* A vector of elements that are copied as bytes. */
typedef struct pai__flat {
  void *data;
  uint32_t len;
  uint32_t cap;  /* 0 with elements: they lie in somebody else's block */
  uint32_t size; /* of an element */
} pai__flat;

static inline void pai__flat_init(pai__flat *f, size_t size)
{
  *f = (pai__flat){ .size = (uint32_t)size };
}

void pai__flat_dispose(pai__flat *f, const pai_alloc *alloc);

/* Room for `more` elements behind the last; PAI_OK or PAI_ENOMEM. */
int pai__flat_reserve(pai__flat *f, const pai_alloc *alloc, uint32_t more);

/* `n` zeroed elements more, for which there is room; the first one's index. */
uint32_t pai__flat_push(pai__flat *f, uint32_t n);

/* What `from` has; `f` is initialised and empty.  PAI_OK or PAI_ENOMEM. */
int pai__flat_copy(pai__flat *f, const pai__flat *from,
                   const pai_alloc *alloc);
/* Likewise, in a block of which *at bytes are used: it has to be large enough,
 * and stay as long. */
void pai__flat_copy_in(pai__flat *f, const pai__flat *from, void *block,
                       size_t *at);
/* How many bytes that takes. */
static inline size_t pai__flat_bytes(const pai__flat *f)
{
  return ((size_t)f->len * f->size + 15) & ~(size_t)15;
}

/* --- pool ----------------------------------------------------------------- */

/* Blocks of words of 64 bits, by the index of their first; what is given back
 * is given out again. */
typedef struct pai__pool {
  pai__flat words;
  uint32_t free[36]; /* by size: the first of a list through the blocks */
  uint32_t live;     /* words given out */
} pai__pool;

void pai__pool_init(pai__pool *p);
/* Empty again, memory kept. */
void pai__pool_clear(pai__pool *p);

/* A block of n >= 1 words, of any content; PAI__NONE without memory, or for
 * more than 2^24 words. */
uint32_t pai__pool_take(pai__pool *p, const pai_alloc *alloc, uint32_t n);
/* Room for so many blocks of n words: taking them will not fail. */
int pai__pool_reserve(pai__pool *p, const pai_alloc *alloc, uint32_t blocks,
                      uint32_t n);
/* Of as many words as were asked for. */
void pai__pool_give(pai__pool *p, uint32_t at, uint32_t n);

/* Also of a pool of which nothing was ever taken, for lists of no length: to
 * NULL nothing may be added, not even 0, but to an index. */
static inline void *pai__pool_at(const pai__pool *p, uint32_t at)
{
  return at != 0 ? (uint64_t *)p->words.data + at : p->words.data;
}

/* Words that hold so many bytes. */
static inline uint32_t pai__words_of(size_t bytes)
{
  return (uint32_t)((bytes + 7) / 8);
}

/* Of a hash and a number another hash. */
static inline uint64_t pai__mix(uint64_t h, uint64_t v)
{
  h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
  return h ^ h >> 32;
}

/* --- index ---------------------------------------------------------------- */

/* From numbers that are not 0 to numbers: open addressing, no order. */
typedef struct pai__lookup {
  pai__flat slots; /* pairs of words: key, value */
  uint32_t live;
} pai__lookup;

void pai__lookup_init(pai__lookup *x);
/* As pai__flat_copy(). */
int pai__lookup_copy(pai__lookup *x, const pai__lookup *from,
                     const pai_alloc *alloc);
/* Room for one more key; PAI_OK or PAI_ENOMEM. */
int pai__lookup_reserve(pai__lookup *x, const pai_alloc *alloc);
/* A key that is not there yet, for which there is room. */
void pai__lookup_add(pai__lookup *x, uint64_t key, uint32_t value);
/* The value, or PAI__NONE. */
uint32_t pai__lookup_get(const pai__lookup *x, uint64_t key);
void pai__lookup_remove(pai__lookup *x, uint64_t key);
/* Empty again, memory kept. */
void pai__lookup_clear(pai__lookup *x);

#endif
