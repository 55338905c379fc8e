/*
 * allocation_ops.c - union, sum, intersection and difference of allocation
 * sets
 *
 * Each operation has two passes.  The first computes the memory that the
 * result needs, and reserves it; the second changes the set and cannot fail.
 * Nodes that only the set has are not visited, except by INTERSECT, so taking
 * a job of few nodes from a large cluster is fast.
 */
#include "resource/allocation/allocation.h"
#include "resource/allocation/ports.h"

/* --- ports: operations on sorted ranges ---------------------------------- */

static size_t ports_unite(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t i = 0, j = 0, n = 0;

  while (i < a.n || j < b.n) {
    bool from_a = j == b.n || (i < a.n && a.ranges[i] <= b.ranges[j]);
    uint32_t next = from_a ? a.ranges[i++] : b.ranges[j++];

    if (n == 0 || pai__port_first(next) > pai__port_last(out[n - 1]) + 1)
      out[n++] = next;
    else if (pai__port_last(next) > pai__port_last(out[n - 1]))
      out[n - 1] =
        pai__port_range(pai__port_first(out[n - 1]), pai__port_last(next));
  }
  return n;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static size_t ports_intersect(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t i = 0, j = 0, n = 0;

  while (i < a.n && j < b.n) {
    uint32_t x = a.ranges[i], y = b.ranges[j];
    uint32_t first = larger(pai__port_first(x), pai__port_first(y));
    uint32_t last = smaller(pai__port_last(x), pai__port_last(y));

    if (first <= last)
      out[n++] = pai__port_range(first, last);
    if (pai__port_last(x) == last)
      i++;
    else
      j++;
  }
  return n;
}

/* Each function writes at most a.n + b.n ranges to `out`, which must not
 * overlap a or b, and returns their number. */
static size_t ports_subtract(uint32_t *out, pai__ports a, pai__ports b)
{
  size_t j = 0, n = 0;

  for (size_t i = 0; i < a.n; i++) {
    uint32_t first = pai__port_first(a.ranges[i]);
    uint32_t last = pai__port_last(a.ranges[i]);

    while (j < b.n && pai__port_last(b.ranges[j]) < first)
      j++;
    /* A range of b that ends after this range may also cut the next one. */
    for (size_t k = j; k < b.n && pai__port_first(b.ranges[k]) <= last; k++) {
      if (pai__port_first(b.ranges[k]) > first)
        out[n++] = pai__port_range(first, pai__port_first(b.ranges[k]) - 1);
      first = pai__port_last(b.ranges[k]) + 1;
    }
    if (first <= last)
      out[n++] = pai__port_range(first, last);
  }
  return n;
}

uint32_t pai__ports_count(pai__ports a)
{
  uint32_t count = 0;

  for (size_t i = 0; i < a.n; i++)
    count += pai__port_last(a.ranges[i]) - pai__port_first(a.ranges[i]) + 1;
  return count;
}

size_t pai__ports_find(pai__ports a, uint32_t port)
{
  size_t low = 0, high = a.n;

  while (low < high) {
    size_t mid = low + (high - low) / 2;

    if (pai__port_last(a.ranges[mid]) < port)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* --- ports of a share ---------------------------------------------------- */

typedef size_t (*port_fn)(uint32_t *out, pai__ports a, pai__ports b);

/* Replaces the ports of s by fn(ports of s, q). */
static void change_ports(pai_allocation *set, pai__set_share *s, pai__ports q,
                         port_fn fn)
{
  pai__ports p = pai__share_ports(set, s);
  uint32_t here[PAI__RANGES_HERE] = { 0, 0 }, *out = here;
  size_t n;

  if (p.n + q.n > PAI__RANGES_HERE)
    out = (uint32_t *)(void *)(set->pool + set->pool_len);
  n = fn(out, p, q);
  if (n > PAI__RANGES_HERE) {
    s->ports[0] = (uint32_t)pai__allocation_block(set, pai__range_words(n));
    s->ports[1] = 0;
  } else {
    if (out != here && n != 0)
      memcpy(here, out, n * sizeof(*out));
    memcpy(s->ports, here, sizeof(here));
  }
  s->ranges = (uint16_t)n;
}

/* --- bits --------------------------------------------------------------- */

static uint64_t *words_of(pai_allocation *set, pai__set_share *s,
                          unsigned kind)
{
  return s->words[kind] <= 1 ? &s->bits[kind] : set->pool + s->bits[kind];
}

/* Brings a kind with at most n words into its canonical form. */
static void settle(pai_allocation *set, pai__set_share *s, unsigned kind,
                   size_t n)
{
  const uint64_t *words = words_of(set, s, kind);

  n = pai__bits_trim(words, n);
  if (n <= 1)
    s->bits[kind] = n == 1 ? words[0] : 0;
  s->words[kind] = (uint8_t)n;
}

static void unite_words(pai_allocation *set, pai__set_share *s,
                        const pai_allocation *other, const pai__set_share *t,
                        unsigned kind)
{
  const uint64_t *from = pai__share_words(other, t, kind);
  uint64_t *to = words_of(set, s, kind);
  size_t had = s->words[kind], n = t->words[kind];

  if (n > had && n > 1) {
    size_t at = pai__allocation_block(set, n);

    memcpy(set->pool + at, to, had * sizeof(*to));
    memset(set->pool + at + had, 0, (n - had) * sizeof(*to));
    to = set->pool + at;
    s->bits[kind] = at;
  }
  if (n > had)
    s->words[kind] = (uint8_t)n;
  for (size_t i = 0; i < n; i++)
    to[i] |= from[i];
}

/* Keeps the bits that t has, or those that t lacks. */
static void narrow_words(pai_allocation *set, pai__set_share *s,
                         const pai_allocation *other, const pai__set_share *t,
                         unsigned kind, bool has)
{
  const uint64_t *from = pai__share_words(other, t, kind);
  uint64_t *to = words_of(set, s, kind);
  size_t all = s->words[kind], n = all < t->words[kind] ? all : t->words[kind];

  for (size_t i = 0; i < n; i++)
    to[i] &= has ? from[i] : ~from[i];
  settle(set, s, kind, has ? n : all);
}

/* --- shares of the same node -------------------------------------------- */

static void set_word(pai__set_share *s, unsigned kind, uint64_t word)
{
  s->bits[kind] = word;
  s->words[kind] = word != 0;
}

static void unite_share(pai_allocation *set, pai__set_share *s,
                        const pai_allocation *other, const pai__set_share *t,
                        bool give)
{
  if (give)
    s->memory += t->memory;
  else if (s->memory < t->memory)
    s->memory = t->memory;
  if (pai__are_words(s, t)) {
    for (unsigned k = 0; k < PAI__KINDS; k++)
      set_word(s, k, s->bits[k] | t->bits[k]);
    return;
  }
  for (unsigned k = 0; k < PAI__KINDS; k++)
    unite_words(set, s, other, t, k);
  if (t->ranges != 0)
    change_ports(set, s, pai__share_ports(other, t), ports_unite);
}

static void narrow_share(pai_allocation *set, pai__set_share *s,
                         const pai_allocation *other, const pai__set_share *t,
                         bool has)
{
  uint64_t both = s->memory < t->memory ? s->memory : t->memory;

  s->memory = has ? both : s->memory - both;
  if (pai__are_words(s, t)) {
    for (unsigned k = 0; k < PAI__KINDS; k++)
      set_word(s, k, s->bits[k] & (has ? t->bits[k] : ~t->bits[k]));
    return;
  }
  for (unsigned k = 0; k < PAI__KINDS; k++)
    narrow_words(set, s, other, t, k, has);
  if (s->ranges != 0 && (has || t->ranges != 0))
    change_ports(set, s, pai__share_ports(other, t),
                 has ? ports_intersect : ports_subtract);
}

/* --- room --------------------------------------------------------------- */

/* Returns the words of the pool that s may need to be changed by t. */
static size_t words_for(const pai__set_share *s, const pai__set_share *t,
                        bool grows)
{
  size_t words = 0;

  for (unsigned k = 0; grows && k < PAI__KINDS; k++)
    if (t->words[k] > 1 && t->words[k] > s->words[k])
      words += t->words[k];
  if (t->ranges != 0 && (grows || s->ranges != 0))
    words += pai__range_words((size_t)s->ranges + t->ranges);
  return words;
}

static pai__set_room room_for(const pai_allocation *set,
                              const pai_allocation *other, bool grows)
{
  static const pai__set_share nothing = { 0 };
  pai__set_room room = { 0, 0 };
  size_t i = 0, j = 0;

  if (!grows) {
    for (; pai__next_pair(set, &i, other, &j); i++, j++)
      if (set->shares[i].ranges != 0)
        room.words += words_for(&set->shares[i], &other->shares[j], grows);
    return room;
  }
  for (; j < other->len; j++) {
    const pai__set_share *t = &other->shares[j], *s = &nothing;

    i = pai__allocation_seek(set, i, t->node);
    if (i < set->len && set->shares[i].node == t->node)
      s = &set->shares[i++];
    else
      room.shares++;
    if (!pai__are_words(s, t))
      room.words += words_for(s, t, grows);
  }
  return room;
}

/* --- sets --------------------------------------------------------------- */

/* Unites the shares of the first n nodes of `other`; the set has all these
 * nodes. */
static void unite_shares(pai_allocation *set, const pai_allocation *other,
                         size_t n, bool give)
{
  size_t i = 0;

  for (size_t j = 0; j < n; j++, i++) {
    i = pai__allocation_seek(set, i, other->shares[j].node);
    unite_share(set, &set->shares[i], other, &other->shares[j], give);
  }
}

/* Works from the end, so that shares that move up overwrite nothing; `missing`
 * nodes of `other` are not in the set. */
static void unite(pai_allocation *set, const pai_allocation *other,
                  size_t missing, bool give)
{
  size_t from = set->len, to = set->len + missing, j = other->len;

  set->len = to;
  while (to > from) {
    const pai__set_share *t = &other->shares[j - 1];

    if (from > 0 && set->shares[from - 1].node > t->node) {
      set->shares[--to] = set->shares[--from];
      continue;
    }
    if (from > 0 && set->shares[from - 1].node == t->node)
      set->shares[--to] = set->shares[--from];
    else
      set->shares[--to] = (pai__set_share){ .node = t->node };
    unite_share(set, &set->shares[to], other, t, give);
    j--;
  }
  unite_shares(set, other, j, give);
}

static void intersect(pai_allocation *set, const pai_allocation *other)
{
  size_t i = 0, j = 0, n = 0;

  for (; pai__next_pair(set, &i, other, &j); i++, j++) {
    narrow_share(set, &set->shares[i], other, &other->shares[j], true);
    if (pai__share_is_empty(&set->shares[i]))
      continue;
    if (n != i)
      set->shares[n] = set->shares[i];
    n++;
  }
  set->len = n;
}

/* Removes empty shares from index `at` on. */
static void drop_empty(pai_allocation *set, size_t at)
{
  size_t n = at;

  for (; at < set->len; at++)
    if (!pai__share_is_empty(&set->shares[at]))
      set->shares[n++] = set->shares[at];
  set->len = n;
}

static void subtract(pai_allocation *set, const pai_allocation *other)
{
  size_t i = 0, j = 0, first = set->len;

  for (; pai__next_pair(set, &i, other, &j); i++, j++) {
    narrow_share(set, &set->shares[i], other, &other->shares[j], false);
    if (i < first && pai__share_is_empty(&set->shares[i]))
      first = i;
  }
  drop_empty(set, first);
}

int pai__allocation_apply(pai_allocation *set, const pai_allocation *other,
                          enum pai__operation operation)
{
  bool grows = operation == PAI__UNITE || operation == PAI__GIVE;
  pai__set_room room = room_for(set, other, grows);

  if (pai__allocation_reserve(set, room) < 0)
    return PAI_ENOMEM;
  if (operation == PAI__INTERSECT)
    intersect(set, other);
  else if (operation == PAI__SUBTRACT)
    subtract(set, other);
  else
    unite(set, other, room.shares, operation == PAI__GIVE);
  return PAI_OK;
}

/* --- the public ones ---------------------------------------------------- */

static int change(pai_allocation *set, const pai_allocation *other,
                  enum pai__operation operation, pai_error **err)
{
  return pai__allocation_apply(set, other, operation) < 0 ? pai__oom(err)
                                                          : PAI_OK;
}

int pai_allocation_unite(pai_allocation *set, const pai_allocation *other,
                         pai_error **err)
{
  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  return change(set, other, PAI__UNITE, err);
}

int pai_allocation_intersect(pai_allocation *set, const pai_allocation *other,
                             pai_error **err)
{
  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  return change(set, other, PAI__INTERSECT, err);
}

int pai_allocation_subtract(pai_allocation *set, const pai_allocation *other,
                            pai_error **err)
{
  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  return change(set, other, PAI__SUBTRACT, err);
}

static int combine(pai_allocation **out, const pai_allocation *a,
                   const pai_allocation *b, enum pai__operation operation,
                   pai_error **err)
{
  int rc = pai_allocation_copy(out, a, err);

  if (rc == PAI_OK)
    rc = change(*out, b, operation, err);
  if (rc < 0) {
    pai_allocation_free(*out);
    *out = NULL;
  }
  return rc;
}

int pai_allocation_union(pai_allocation **out, const pai_allocation *a,
                         const pai_allocation *b, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(a != NULL && b != NULL, err);
  return combine(out, a, b, PAI__UNITE, err);
}

int pai_allocation_intersection(pai_allocation **out, const pai_allocation *a,
                                const pai_allocation *b, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(a != NULL && b != NULL, err);
  return combine(out, a, b, PAI__INTERSECT, err);
}

int pai_allocation_difference(pai_allocation **out, const pai_allocation *a,
                              const pai_allocation *b, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(a != NULL && b != NULL, err);
  return combine(out, a, b, PAI__SUBTRACT, err);
}
