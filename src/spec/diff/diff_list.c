/* diff_list.c - matches the items of two lists */
#include "spec/diff/diff.h"

#include "base/hash.h"

#include <stdlib.h>

enum { MAX_CELLS = 1 << 20 }; /* of one table */

/* --- values ------------------------------------------------------------- */

static bool is_number(int type)
{
  return type == PAI__INT || type == PAI__FLOAT;
}

/* Compares as JavaScript does, whose exact integers end at 2^53. */
static bool same_numbers(const pai__tree *t, pai__node m, const pai__tree *u,
                         pai__node n)
{
  double x = pai__tree_float(t, m), y = pai__tree_float(u, n);

  return x == y || (x != x && y != y);
}

static bool same_texts(const char *s, size_t len, const char *other,
                       size_t other_len)
{
  return len == other_len && memcmp(s, other, len) == 0;
}

static bool same_mappings(const pai__tree *t, pai__node m, const pai__tree *u,
                          pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, m);
  pai__node key, other;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);

    other = pai__tree_find(u, n, s, len);
    if (other == PAI__NO_NODE ||
        !pai__value_same(t, pai__tree_value(t, key), u,
                         pai__tree_value(u, other)))
      return false;
  }
  return true;
}

static bool same_lists(const pai__tree *t, pai__node m, const pai__tree *u,
                       pai__node n)
{
  pai__tree_walk v = pai__tree_iter(t, m), w = pai__tree_iter(u, n);
  pai__node item;

  while ((item = pai__tree_next(&v)) != PAI__NO_NODE)
    if (!pai__value_same(t, item, u, pai__tree_next(&w)))
      return false;
  return true;
}

bool pai__value_same(const pai__tree *t, pai__node m, const pai__tree *u,
                     pai__node n)
{
  int type = pai__tree_type(t, m);
  size_t len, other_len;
  const char *s, *other;

  if (is_number(type) && is_number(pai__tree_type(u, n)))
    return same_numbers(t, m, u, n);
  if (type != pai__tree_type(u, n))
    return false;
  if (type >= PAI__SEQUENCE && pai__tree_count(t, m) != pai__tree_count(u, n))
    return false;
  switch (type) {
  case PAI__BOOL: return pai__tree_bool(t, m) == pai__tree_bool(u, n);
  case PAI__TIMESTAMP: return pai__tree_int(t, m) == pai__tree_int(u, n);
  case PAI__STRING:
  case PAI__BINARY:
    s = pai__tree_str(t, m, &len);
    other = pai__tree_str(u, n, &other_len);
    return same_texts(s, len, other, other_len);
  case PAI__SEQUENCE: return same_lists(t, m, u, n);
  case PAI__MAPPING: return same_mappings(t, m, u, n);
  default: return true;
  }
}

/* --- hashes: equal for values that mean the same ------------------------ */

static uint64_t mix(uint64_t a, uint64_t b)
{
  uint64_t h = (a ^ (b + (a << 6) + (a >> 2))) * UINT64_C(0x9e3779b97f4a7c15);

  return h ^ (h >> 32);
}

static uint64_t hash_value(const pai__tree *t, pai__node n);

static uint64_t hash_collection(const pai__tree *t, pai__node n)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  uint64_t h = mapping ? 1 : 2;
  pai__node child;

  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *key;

    if (!mapping) {
      h = mix(h, hash_value(t, child));
      continue;
    }
    key = pai__tree_str(t, child, &len); /* a sum: any order */
    h += mix(pai__hash(PAI__HASH_SEED, key, len),
             hash_value(t, pai__tree_value(t, child)));
  }
  return h;
}

static uint64_t hash_value(const pai__tree *t, pai__node n)
{
  int type = pai__tree_type(t, n);
  const char *s;
  double d;
  size_t len;

  if (type >= PAI__SEQUENCE)
    return hash_collection(t, n);
  if (is_number(type)) {
    d = pai__tree_float(t, n) + 0.0; /* makes -0 equal to 0 */
    return d != d ? 3 : pai__hash(PAI__HASH_SEED, &d, sizeof(d));
  }
  if (type != PAI__STRING && type != PAI__BINARY)
    return (uint64_t)type;
  s = pai__tree_str(t, n, &len);
  return pai__hash(PAI__HASH_SEED, s, len);
}

/* --- pieces ------------------------------------------------------------- */

int pai__pieces_add(pai__pieces *p, pai__spec_piece piece)
{
  if (PAI__VEC_ROOM(p->alloc, p->list, p->len, p->cap) < 0)
    return PAI_ENOMEM;
  piece.hash = piece.s != NULL ? pai__hash(PAI__HASH_SEED, piece.s, piece.len)
                               : hash_value(piece.tree, piece.node);
  p->list[p->len++] = piece;
  return PAI_OK;
}

void pai__pieces_dispose(pai__pieces *p)
{
  pai__free(p->alloc, p->list, p->cap * sizeof(*p->list));
  *p = (pai__pieces){ .alloc = p->alloc };
}

static bool same(const pai__spec_piece *a, const pai__spec_piece *b)
{
  if (a->hash != b->hash)
    return false;
  return a->s != NULL ? same_texts(a->s, a->len, b->s, b->len)
                      : pai__value_same(a->tree, a->node, b->tree, b->node);
}

/* The parts of two lists that are still to be matched. */
typedef struct middle {
  const pai_alloc *alloc;
  pai__spec_piece *a, *b;
  size_t n, m;
  size_t first; /* index of both in their lists */
} middle;

static int by_hash(const void *x, const void *y)
{
  const pai__spec_piece *a = *(pai__spec_piece *const *)x;
  const pai__spec_piece *b = *(pai__spec_piece *const *)y;

  return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Gives equal pieces the same id.  If different pieces have one hash, some
 * equal ones may get different ids, and are then not matched. */
static int number(const middle *part)
{
  size_t count = part->n + part->m;
  pai__spec_piece **all =
    pai__realloc(part->alloc, NULL, 0, count, sizeof(pai__spec_piece *));

  if (all == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < part->n; i++)
    all[i] = &part->a[i];
  for (size_t i = 0; i < part->m; i++)
    all[part->n + i] = &part->b[i];
  qsort(all, count, sizeof(*all), by_hash);
  all[0]->id = 0;
  for (size_t i = 1; i < count; i++)
    all[i]->id = all[i - 1]->id + !same(all[i], all[i - 1]);
  pai__free(part->alloc, all, count * sizeof(*all));
  return PAI_OK;
}

/* cell(i, j) is the length of the longest common subsequence of a from i on
 * and b from j on. */
static int fill_and_walk(const middle *part)
{
  size_t wide = part->m + 1, count = (part->n + 1) * wide;
  uint32_t *cells = pai__realloc(part->alloc, NULL, 0, count, sizeof(*cells));

  if (cells == NULL)
    return PAI_ENOMEM;
  memset(cells, 0, count * sizeof(*cells));
  for (size_t i = part->n; i-- > 0;)
    for (size_t j = part->m; j-- > 0;) {
      uint32_t *cell = &cells[i * wide + j];
      if (part->a[i].id == part->b[j].id)
        *cell = cell[wide + 1] + 1;
      else
        *cell = cell[wide] > cell[1] ? cell[wide] : cell[1];
    }
  for (size_t i = 0, j = 0; i < part->n && j < part->m;) {
    const uint32_t *cell = &cells[i * wide + j];
    if (part->a[i].id == part->b[j].id) {
      part->a[i].mate = (uint32_t)(part->first + j + 1);
      part->b[j].mate = (uint32_t)(part->first + i + 1);
      i++;
      j++;
    } else if (cell[wide] >= cell[1]) {
      i++;
    } else {
      j++;
    }
  }
  pai__free(part->alloc, cells, count * sizeof(*cells));
  return PAI_OK;
}

int pai__pieces_match(pai__pieces *a, pai__pieces *b, size_t *budget)
{
  size_t less = a->len < b->len ? a->len : b->len, head = 0, tail = 0;
  middle part = { .alloc = a->alloc };
  int rc;

  for (; head < less && same(&a->list[head], &b->list[head]); head++)
    a->list[head].mate = b->list[head].mate = (uint32_t)head + 1;
  for (; head + tail < less; tail++) {
    size_t i = a->len - tail - 1, j = b->len - tail - 1;
    if (!same(&a->list[i], &b->list[j]))
      break;
    a->list[i].mate = (uint32_t)j + 1;
    b->list[j].mate = (uint32_t)i + 1;
  }
  part.n = a->len - head - tail;
  part.m = b->len - head - tail;
  if (part.n == 0 || part.m == 0 || part.n > MAX_CELLS / part.m ||
      part.n * part.m > *budget)
    return PAI_OK;
  *budget -= part.n * part.m;
  part.a = a->list + head;
  part.b = b->list + head;
  part.first = head;
  rc = number(&part);
  return rc == PAI_OK ? fill_and_walk(&part) : rc;
}

/* --- order -------------------------------------------------------------- */

/* ends[k] is the index of the lowest end of all increasing subsequences of
 * length k + 1. */
static void find_rise(const uint32_t *list, size_t n, bool *keep,
                      uint32_t *ends, uint32_t *before)
{
  size_t longest = 0;
  uint32_t at;

  for (size_t i = 0; i < n; i++) {
    size_t low = 0, high = longest;

    while (low < high) {
      size_t mid = (low + high) / 2;
      if (list[ends[mid]] < list[i])
        low = mid + 1;
      else
        high = mid;
    }
    before[i] = low > 0 ? ends[low - 1] : UINT32_MAX;
    ends[low] = (uint32_t)i;
    longest += low == longest;
    keep[i] = false;
  }
  at = longest > 0 ? ends[longest - 1] : UINT32_MAX;
  for (; at != UINT32_MAX; at = before[at])
    keep[at] = true;
}

int pai__longest_rise(const pai_alloc *alloc, const uint32_t *list, size_t n,
                      bool *keep)
{
  uint32_t *room = pai__realloc(alloc, NULL, 0, 2 * n + 1, sizeof(*room));

  if (room == NULL)
    return PAI_ENOMEM;
  find_rise(list, n, keep, room, room + n);
  pai__free(alloc, room, (2 * n + 1) * sizeof(*room));
  return PAI_OK;
}
