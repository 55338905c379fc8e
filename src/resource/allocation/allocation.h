/*
 * allocation.h - memory layout of an allocation set
 *
 * A set is an array of shares, one for each node, in ascending order of nodes,
 * 40 bytes each.  The share holds the first 64 numbers of each kind as one
 * word, and up to two ranges of ports.  Larger content is in a block of the
 * set's pool, and the share holds the offset of the block instead.  The form
 * is canonical: no share is empty, no block ends with a word 0, and there is
 * no block for content that fits into the share.
 *
 * Blocks that have become too small stay in the pool until it has to grow;
 * then the blocks in use move to a new pool.
 */
#ifndef PAI_SRC_RESOURCE_ALLOCATION_H
#define PAI_SRC_RESOURCE_ALLOCATION_H

#include <openpai/allocation.h>

#include "resource/bits.h"
#include "resource/allocation/ports.h"

enum { PAI__GPUS, PAI__CPUS, PAI__KINDS }; /* kinds of bit sets */

enum { PAI__RANGES_HERE = 2 };

typedef struct pai__set_share {
  uint32_t node;
  /* number of words; 2 and more are in the pool */
  uint8_t words[PAI__KINDS];
  /* number of ranges; 3 and more are in the pool */
  uint16_t ranges;
  uint64_t bits[PAI__KINDS]; /* the word, or the offset of the block */
  /* the ranges, or in [0] the offset of the block */
  uint32_t ports[PAI__RANGES_HERE];
  uint64_t memory;
} pai__set_share;

struct pai_allocation {
  pai_alloc alloc;
  pai__set_share *shares;
  size_t len, cap;
  uint64_t *pool;
  size_t pool_len, pool_cap; /* in words */
};

/* --- one share ---------------------------------------------------------- */

static inline const uint64_t *pai__share_words(const pai_allocation *set,
                                               const pai__set_share *s,
                                               unsigned kind)
{
  return s->words[kind] <= 1 ? &s->bits[kind] : set->pool + s->bits[kind];
}

static inline pai__ports pai__share_ports(const pai_allocation *set,
                                          const pai__set_share *s)
{
  pai__ports p = { s->ports, s->ranges };

  if (p.n > PAI__RANGES_HERE)
    p.ranges = (const uint32_t *)(const void *)(set->pool + s->ports[0]);
  return p;
}

/* Returns the sizes of a share's content as one number; this is called for
 * every node. */
static inline uint32_t pai__share_shape(const pai__set_share *s)
{
  uint32_t shape;

  memcpy(&shape, (const char *)s + offsetof(pai__set_share, words),
         sizeof(shape));
  return shape;
}

/* Whether neither share has a block or ports, so that each kind is one word;
 * most shares are like that. */
static inline bool pai__are_words(const pai__set_share *s,
                                  const pai__set_share *t)
{
  static const pai__set_share more = { .words = { 0xfe, 0xfe },
                                       .ranges = 0xffff };

  return ((pai__share_shape(s) | pai__share_shape(t)) &
          pai__share_shape(&more)) == 0;
}

static inline uint32_t pai__share_count(const pai_allocation *set,
                                        const pai__set_share *s, unsigned kind)
{
  if (s->words[kind] <= 1)
    return pai__bits_ones(s->bits[kind]);
  return pai__bits_count(set->pool + s->bits[kind], s->words[kind]);
}

static inline bool pai__share_is_empty(const pai__set_share *s)
{
  return (s->words[PAI__GPUS] | s->words[PAI__CPUS] | s->ranges) == 0 &&
         s->memory == 0;
}

/* --- finding shares ----------------------------------------------------- */

/* Returns the index of the first share at or after index `at` whose node is
 * not below `node`, or len. */
size_t pai__allocation_search(const pai_allocation *set, size_t at,
                              uint32_t node);

static inline size_t pai__allocation_seek(const pai_allocation *set, size_t at,
                                          uint32_t node)
{
  if (at >= set->len || set->shares[at].node >= node)
    return at;
  return pai__allocation_search(set, at, node);
}

/* Returns the share of a node, or NULL. */
static inline const pai__set_share *pai__allocation_at(
  const pai_allocation *set, uint32_t node)
{
  size_t i = pai__allocation_seek(set, 0, node);

  return i < set->len && set->shares[i].node == node ? &set->shares[i] : NULL;
}

/* Moves *i and *j forward to the next node that both sets have.  Returns false
 * if there is none. */
static inline bool pai__next_pair(const pai_allocation *a, size_t *i,
                                  const pai_allocation *b, size_t *j)
{
  while (*i < a->len && *j < b->len) {
    uint32_t x = a->shares[*i].node, y = b->shares[*j].node;

    if (x == y)
      return true;
    if (x < y)
      *i = pai__allocation_seek(a, *i, y);
    else
      *j = pai__allocation_seek(b, *j, x);
  }
  return false;
}

/* --- making room (allocation.c) ----------------------------------------- */

/* How much memory a change may need. */
typedef struct pai__set_room {
  size_t shares;
  size_t words; /* of the pool */
} pai__set_room;

/* Returns the words of the pool that ranges take. */
static inline size_t pai__range_words(size_t ranges)
{
  return ranges > PAI__RANGES_HERE ? (ranges + 1) / 2 : 0;
}

/* Reserves memory; shares and pool may move, and nothing else changes.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__allocation_reserve(pai_allocation *set, pai__set_room room);
/* Allocates a block that pai__allocation_reserve() made room for, and returns
 * its offset. */
size_t pai__allocation_block(pai_allocation *set, size_t words);

/* --- two sets (allocation_ops.c) ---------------------------------------- */

enum pai__operation {
  PAI__UNITE, /* memory: the larger */
  PAI__GIVE,  /* memory: the sum */
  PAI__INTERSECT,
  PAI__SUBTRACT
};

/* Changes `set` by `other`.  Returns PAI_OK, or PAI_ENOMEM with `set`
 * unchanged. */
int pai__allocation_apply(pai_allocation *set, const pai_allocation *other,
                          enum pai__operation operation);

/* --- checks (allocation.c) ---------------------------------------------- */

/* Returns "gpu", "cpu" or "port" and sets *limit to the number of possible
 * numbers; NULL and 0 for an unknown kind. */
const char *pai__allocation_kind(int kind, uint32_t *limit);

#endif
