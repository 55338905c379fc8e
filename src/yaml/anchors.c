/* anchors.c - crit-bit tree of anchor names, after D. J. Bernstein */
#include "yaml/anchors.h"

void pai__anchors_init(pai__anchors *a, const pai_alloc *alloc)
{
  *a = (pai__anchors){ .alloc = alloc };
}

void pai__anchors_dispose(pai__anchors *a)
{
  for (size_t i = 0; i < a->len; i++)
    pai__free(a->alloc, a->all[i].name, a->all[i].len + 1);
  pai__free(a->alloc, a->all, a->cap * sizeof(*a->all));
  pai__free(a->alloc, a->branches, a->branch_cap * sizeof(*a->branches));
  pai__anchors_init(a, a->alloc);
}

/* Returns a byte of a name, or 0 after its end; no name contains 0. */
static uint8_t byte_at(const char *name, size_t len, size_t i)
{
  return i < len ? (uint8_t)name[i] : 0;
}

/* Returns which child a byte selects: 1 if the tested bit is set. */
static unsigned direction(uint8_t mask, uint8_t byte)
{
  return (1u + (unsigned)(mask | byte)) >> 8;
}

/* Returns the only anchor that can have this name.  There must be an
 * anchor. */
static int32_t best(const pai__anchors *a, const char *name, size_t len)
{
  int32_t at = a->root;

  while (at < 0) {
    const pai__anchor_branch *b = &a->branches[~at];
    at = b->child[direction(b->mask, byte_at(name, len, b->byte))];
  }
  return at;
}

static bool is_name(const pai__anchor *a, const char *name, size_t len)
{
  return a->len == len && memcmp(a->name, name, len) == 0;
}

int32_t pai__anchors_find(const pai__anchors *a, const char *name, size_t len)
{
  int32_t at;

  if (a->len == 0)
    return -1;
  at = best(a, name, len);
  return is_name(&a->all[at], name, len) ? at : -1;
}

/* Inserts anchor `fresh` at the first bit where its name differs from that of
 * `near`. */
static void insert(pai__anchors *a, int32_t fresh, int32_t near)
{
  const pai__anchor *p = &a->all[fresh], *q = &a->all[near];
  int32_t branch = (int32_t)a->nbranches++, *at = &a->root;
  pai__anchor_branch *b = &a->branches[branch];
  unsigned dir;
  uint8_t diff, other;

  b->byte = 0;
  while (byte_at(p->name, p->len, b->byte) ==
         byte_at(q->name, q->len, b->byte))
    b->byte++;
  other = byte_at(q->name, q->len, b->byte);
  diff = byte_at(p->name, p->len, b->byte) ^ other;
  diff |= (uint8_t)(diff >> 1); /* set all bits below the highest one */
  diff |= (uint8_t)(diff >> 2);
  diff |= (uint8_t)(diff >> 4);
  b->mask = (uint8_t) ~(diff & ~(diff >> 1));
  dir = direction(b->mask, other);
  b->child[1 - dir] = fresh;
  while (*at < 0) {
    pai__anchor_branch *c = &a->branches[~*at];
    if (c->byte > b->byte || (c->byte == b->byte && c->mask > b->mask))
      break;
    at = &c->child[direction(c->mask, byte_at(p->name, p->len, c->byte))];
  }
  b->child[dir] = *at;
  *at = ~branch;
}

int32_t pai__anchors_add(pai__anchors *a, const char *name, size_t len)
{
  int32_t near = a->len != 0 ? best(a, name, len) : -1;
  pai__anchor *fresh;

  if (near >= 0 && is_name(&a->all[near], name, len))
    return near;
  if (a->len == INT32_MAX ||
      PAI__VEC_ROOM(a->alloc, a->all, a->len, a->cap) < 0 ||
      PAI__VEC_ROOM(a->alloc, a->branches, a->nbranches, a->branch_cap) < 0)
    return -1;
  fresh = &a->all[a->len];
  *fresh = (pai__anchor){ .len = len };
  fresh->name = pai__strndup(a->alloc, name, len);
  if (fresh->name == NULL)
    return -1;
  if (near >= 0)
    insert(a, (int32_t)a->len, near);
  else
    a->root = 0;
  return (int32_t)a->len++;
}
