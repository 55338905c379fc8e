/*
 * allocation.h - how an allocation set lies in memory
 *
 * Shares of nodes in ascending order, 40 bytes each.  Of a kind, the first 64
 * numbers are a word in the share, and so are two ranges of ports; more lies
 * in a block of the set's pool, whose place is in the share instead.  The form
 * is canonical: no share without content, no word 0 at the end of a block, and
 * a block only for what does not fit into the share.
 *
 * Blocks that are outgrown stay in the pool until it has to grow; then the
 * live ones move to a new pool.
 */
#ifndef PAI_SRC_RESOURCE_ALLOCATION_H
#define PAI_SRC_RESOURCE_ALLOCATION_H

#include <openpai/allocation.h>

#include "resource/bits.h"
#include "resource/ports.h"

enum { PAI__GPUS, PAI__CPUS, PAI__KINDS }; /* of bits */

enum { PAI__RANGES_HERE = 2 };

typedef struct pai__share {
  uint32_t node;
  uint8_t words[PAI__KINDS];        /* 0, 1; from 2 on they are in the pool */
  uint16_t ranges;                  /* from 3 on they are in the pool */
  uint64_t bits[PAI__KINDS];        /* the word, or where the words are */
  uint32_t ports[PAI__RANGES_HERE]; /* the ranges; or [0]: where they are */
  uint64_t memory;
} pai__share;

struct pai_allocation {
  pai_alloc alloc;
  pai__share *shares;
  size_t len, cap;
  uint64_t *pool;
  size_t pool_len, pool_cap; /* in words */
};

/* --- one share ---------------------------------------------------------- */

static inline const uint64_t *pai__share_words(const pai_allocation *set,
                                               const pai__share *s,
                                               unsigned kind)
{
  return s->words[kind] <= 1 ? &s->bits[kind] : set->pool + s->bits[kind];
}

static inline pai__ports pai__share_ports(const pai_allocation *set,
                                          const pai__share *s)
{
  pai__ports p = { s->ports, s->ranges };

  if (p.n > PAI__RANGES_HERE)
    p.ranges = (const uint32_t *)(const void *)(set->pool + s->ports[0]);
  return p;
}

/* What a share says about where its content lies, in one piece: this is asked
 * for every node. */
static inline uint32_t pai__share_shape(const pai__share *s)
{
  uint32_t shape;

  memcpy(&shape, (const char *)s + offsetof(pai__share, words), sizeof(shape));
  return shape;
}

/* Most shares have no block and no ports: for them a kind is a word. */
static inline bool pai__are_words(const pai__share *s, const pai__share *t)
{
  static const pai__share more = { .words = { 0xfe, 0xfe }, .ranges = 0xffff };

  return ((pai__share_shape(s) | pai__share_shape(t)) &
          pai__share_shape(&more)) == 0;
}

static inline uint32_t pai__share_count(const pai_allocation *set,
                                        const pai__share *s, unsigned kind)
{
  if (s->words[kind] <= 1)
    return pai__bits_ones(s->bits[kind]);
  return pai__bits_count(set->pool + s->bits[kind], s->words[kind]);
}

static inline bool pai__share_is_empty(const pai__share *s)
{
  return (s->words[PAI__GPUS] | s->words[PAI__CPUS] | s->ranges) == 0 &&
         s->memory == 0;
}

/* --- finding shares ----------------------------------------------------- */

/* The first share at or behind index `at` whose node is not below, or len. */
size_t pai__allocation_search(const pai_allocation *set, size_t at,
                              uint32_t node);

static inline size_t pai__allocation_seek(const pai_allocation *set, size_t at,
                                          uint32_t node)
{
  if (at >= set->len || set->shares[at].node >= node)
    return at;
  return pai__allocation_search(set, at, node);
}

/* The share of a node, or NULL. */
static inline const pai__share *pai__allocation_at(const pai_allocation *set,
                                                   uint32_t node)
{
  size_t i = pai__allocation_seek(set, 0, node);

  return i < set->len && set->shares[i].node == node ? &set->shares[i] : NULL;
}

/* From indices *i and *j on, goes to the next node that both have. */
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

/* What a change may need. */
typedef struct pai__room {
  size_t shares;
  size_t words; /* of the pool */
} pai__room;

/* Words of the pool that ranges take. */
static inline size_t pai__range_words(size_t ranges)
{
  return ranges > PAI__RANGES_HERE ? (ranges + 1) / 2 : 0;
}

/* Room for more; moves shares and pool, changes nothing else.  PAI_ENOMEM. */
int pai__allocation_reserve(pai_allocation *set, pai__room room);
/* A new block, after pai__allocation_reserve(). */
size_t pai__allocation_block(pai_allocation *set, size_t words);

/* --- two sets (allocation_ops.c) ---------------------------------------- */

enum pai__operation {
  PAI__UNITE, /* memory: the larger */
  PAI__GIVE,  /* memory: the sum */
  PAI__INTERSECT,
  PAI__SUBTRACT
};

/* Changes `set` by `other`.  PAI_OK, or PAI_ENOMEM and nothing is changed. */
int pai__allocation_apply(pai_allocation *set, const pai_allocation *other,
                          enum pai__operation operation);

/* --- checks (allocation.c) ---------------------------------------------- */

/* "gpu", "cpu", "port", and how many there can be; NULL, 0 for no kind. */
const char *pai__allocation_kind(int kind, uint32_t *limit);

#endif
