/* allocation_ask.c - queries of allocation sets: counts, comparisons,
 * iteration, what one set lacks of another; and giving and taking, which check
 * that first */
#include "resource/allocation/allocation.h"

#include <inttypes.h>

/* Returns the index of a kind of bits; false for ports and unknown kinds. */
static bool is_bits(int kind, unsigned *k)
{
  *k = kind == PAI_ALLOCATION_GPU ? PAI__GPUS : PAI__CPUS;
  return kind == PAI_ALLOCATION_GPU || kind == PAI_ALLOCATION_CPU;
}

int pai_allocation_is_empty(const pai_allocation *set)
{
  return set->len == 0;
}

int pai_allocation_has(const pai_allocation *set, uint32_t node, int kind,
                       uint32_t number)
{
  const pai__set_share *s = pai__allocation_at(set, node);
  unsigned k;
  pai__ports p;
  size_t i;

  if (s == NULL)
    return 0;
  if (is_bits(kind, &k))
    return pai__bits_has(pai__share_words(set, s, k), s->words[k], number);
  if (kind != PAI_ALLOCATION_PORT)
    return 0;
  p = pai__share_ports(set, s);
  i = pai__ports_find(p, number);
  return i < p.n && pai__port_first(p.ranges[i]) <= number;
}

uint64_t pai_allocation_memory(const pai_allocation *set, uint32_t node)
{
  const pai__set_share *s = pai__allocation_at(set, node);

  return s != NULL ? s->memory : 0;
}

uint64_t pai_allocation_total_memory(const pai_allocation *set)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < set->len; i++)
    sum += set->shares[i].memory;
  return sum;
}

uint32_t pai_allocation_nodes(const pai_allocation *set)
{
  return (uint32_t)set->len;
}

uint32_t pai_allocation_count(const pai_allocation *set, uint32_t node,
                              int kind)
{
  const pai__set_share *s = set != NULL ? pai__allocation_at(set, node) : NULL;
  unsigned k;

  if (s == NULL)
    return 0;
  if (is_bits(kind, &k))
    return pai__share_count(set, s, k);
  return kind == PAI_ALLOCATION_PORT
           ? pai__ports_count(pai__share_ports(set, s))
           : 0;
}

uint64_t pai_allocation_total(const pai_allocation *set, int kind)
{
  uint64_t sum = 0;
  unsigned k;

  if (is_bits(kind, &k)) {
    for (size_t i = 0; i < set->len; i++)
      sum += pai__share_count(set, &set->shares[i], k);
  } else if (kind == PAI_ALLOCATION_PORT) {
    for (size_t i = 0; i < set->len; i++)
      sum += pai__ports_count(pai__share_ports(set, &set->shares[i]));
  }
  return sum;
}

/* --- comparing ---------------------------------------------------------- */

/* Negative, 0 or positive; cannot overflow. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_words(const pai_allocation *a, const pai__set_share *s,
                         const pai_allocation *b, const pai__set_share *t,
                         unsigned k)
{
  const uint64_t *x = pai__share_words(a, s, k);
  const uint64_t *y = pai__share_words(b, t, k);
  int order = ORDER(s->words[k], t->words[k]);

  for (size_t i = 0; order == 0 && i < s->words[k]; i++)
    order = ORDER(x[i], y[i]);
  return order;
}

static int compare_shares(const pai_allocation *a, const pai__set_share *s,
                          const pai_allocation *b, const pai__set_share *t)
{
  pai__ports p = pai__share_ports(a, s), q = pai__share_ports(b, t);
  int order = ORDER(s->node, t->node);

  for (unsigned k = 0; order == 0 && k < PAI__KINDS; k++)
    order = compare_words(a, s, b, t, k);
  if (order == 0)
    order = ORDER(p.n, q.n);
  for (size_t i = 0; order == 0 && i < p.n; i++)
    order = ORDER(p.ranges[i], q.ranges[i]);
  return order != 0 ? order : ORDER(s->memory, t->memory);
}

int pai_allocation_compare(const pai_allocation *a, const pai_allocation *b)
{
  int order = ORDER(a->len, b->len);

  for (size_t i = 0; order == 0 && i < a->len; i++)
    order = compare_shares(a, &a->shares[i], b, &b->shares[i]);
  return order;
}

int pai_allocation_equal(const pai_allocation *a, const pai_allocation *b)
{
  return pai_allocation_compare(a, b) == 0;
}

/* Mixes a value into a hash with SplitMix64's function. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
  uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint64_t pai_allocation_hash(const pai_allocation *set)
{
  uint64_t hash = set->len;

  for (size_t i = 0; i < set->len; i++) {
    const pai__set_share *s = &set->shares[i];
    pai__ports p = pai__share_ports(set, s);

    hash = mix(hash, (uint64_t)s->node << 32 | (uint64_t)s->ranges << 16 |
                       (uint64_t)s->words[0] << 8 | s->words[1]);
    hash = mix(hash, s->memory);
    for (unsigned k = 0; k < PAI__KINDS; k++)
      for (size_t w = 0; w < s->words[k]; w++)
        hash = mix(hash, pai__share_words(set, s, k)[w]);
    for (size_t r = 0; r < p.n; r++)
      hash = mix(hash, p.ranges[r]);
  }
  return hash;
}

/* --- walking ------------------------------------------------------------ */

int pai_allocation_next_node(const pai_allocation *set,
                             pai_allocation_iter *it)
{
  /* next[0]: lowest node that may come next; next[1]: index where it was
   * looked for.  The index is only a hint, because the set may have
   * changed. */
  size_t i = it->next[1];

  if (i > set->len || (i > 0 && set->shares[i - 1].node >= it->next[0]))
    i = 0;
  i = pai__allocation_seek(set, i, it->next[0]);
  if (i == set->len)
    return 0;
  *it = (pai_allocation_iter){ .node = set->shares[i].node };
  it->next[0] = it->node + 1;
  it->next[1] = (uint32_t)i + 1;
  return 1;
}

/* Returns the share at an iterator, or NULL. */
static const pai__set_share *share_of(const pai_allocation *set,
                                      const pai_allocation_iter *it)
{
  size_t i = it->next[1];

  if (i > 0 && i <= set->len && set->shares[i - 1].node == it->node)
    return &set->shares[i - 1];
  return i > 0 ? pai__allocation_at(set, it->node) : NULL;
}

/* Finds the first range of ports at or after `from`. */
static bool port_run(pai__ports p, uint32_t from, uint32_t *first,
                     uint32_t *last)
{
  size_t i = pai__ports_find(p, from);

  if (i == p.n)
    return false;
  *first = pai__port_first(p.ranges[i]);
  *last = pai__port_last(p.ranges[i]);
  if (*first < from)
    *first = from;
  return true;
}

int pai_allocation_next_range(const pai_allocation *set,
                              pai_allocation_iter *it, int kind)
{
  const pai__set_share *s = share_of(set, it);
  uint32_t from = kind == it->kind ? it->last + 1 : 0;
  bool found = false;
  unsigned k;

  if (s == NULL)
    return 0;
  if (is_bits(kind, &k))
    found = pai__bits_run(pai__share_words(set, s, k), s->words[k], from,
                          &it->first, &it->last);
  else if (kind == PAI_ALLOCATION_PORT)
    found = port_run(pai__share_ports(set, s), from, &it->first, &it->last);
  if (found)
    it->kind = kind;
  return found;
}

int pai_allocation_next_item(const pai_allocation *set,
                             pai_allocation_iter *it, int kind)
{
  int found = pai_allocation_next_range(set, it, kind);

  if (found)
    it->last = it->first;
  return found;
}

/* --- two sets: missing and common content -------------------------------- */

enum { MEMORY = PAI_ALLOCATION_PORT + 1 }; /* an additional kind */

/* The first match. */
typedef struct finding {
  uint32_t node;
  int kind;        /* PAI_ALLOCATION_*, or MEMORY */
  uint32_t number; /* unused for MEMORY */
} finding;

static const pai__set_share nothing = { 0 };

static const int public_kind[PAI__KINDS] = { PAI_ALLOCATION_GPU,
                                             PAI_ALLOCATION_CPU };

/* Finds the first number of a kind that is in t, and also in s if `in_both`,
 * else not in s. */
static bool find_bit(const pai_allocation *a, const pai__set_share *s,
                     const pai_allocation *b, const pai__set_share *t,
                     unsigned k, bool in_both, uint32_t *number)
{
  const uint64_t *x = pai__share_words(a, s, k);
  const uint64_t *y = pai__share_words(b, t, k);

  for (size_t i = 0; i < t->words[k]; i++) {
    uint64_t mine = i < s->words[k] ? x[i] : 0;
    uint64_t left = y[i] & (in_both ? mine : ~mine);

    if (left != 0) {
      *number = (uint32_t)i * 64 + pai__bits_ones(~left & (left - 1));
      return true;
    }
  }
  return false;
}

/* Finds the first port of q that is not in p. */
static bool find_missing_port(pai__ports p, pai__ports q, uint32_t *port)
{
  for (size_t i = 0, j = 0; j < q.n; j++) {
    uint32_t first = pai__port_first(q.ranges[j]);

    while (i < p.n && pai__port_last(p.ranges[i]) < first)
      i++;
    *port = first;
    if (i == p.n || pai__port_first(p.ranges[i]) > first)
      return true;
    *port = pai__port_last(p.ranges[i]) + 1;
    if (*port <= pai__port_last(q.ranges[j]))
      return true;
  }
  return false;
}

static bool find_common_port(pai__ports p, pai__ports q, uint32_t *port)
{
  for (size_t i = 0, j = 0; i < p.n && j < q.n;) {
    uint32_t x = p.ranges[i], y = q.ranges[j];

    if (pai__port_last(x) < pai__port_first(y)) {
      i++;
    } else if (pai__port_last(y) < pai__port_first(x)) {
      j++;
    } else {
      *port = pai__port_first(x > y ? x : y);
      return true;
    }
  }
  return false;
}

/* Compares two shares of a node; sets kind and number. */
static bool find_in_shares(const pai_allocation *a, const pai__set_share *s,
                           const pai_allocation *b, const pai__set_share *t,
                           bool in_both, finding *f)
{
  for (unsigned k = 0; k < PAI__KINDS; k++) {
    f->kind = public_kind[k];
    if (find_bit(a, s, b, t, k, in_both, &f->number))
      return true;
  }
  f->kind = PAI_ALLOCATION_PORT;
  if (t->ranges == 0)
    return false;
  return (in_both ? find_common_port : find_missing_port)(
    pai__share_ports(a, s), pai__share_ports(b, t), &f->number);
}

/* Whether both shares are plain words and s contains t. */
static bool has_words(const pai__set_share *s, const pai__set_share *t)
{
  return pai__are_words(s, t) && (t->bits[0] & ~s->bits[0]) == 0 &&
         (t->bits[1] & ~s->bits[1]) == 0 && s->memory >= t->memory;
}

static bool find_lack(const pai_allocation *set, const pai_allocation *part,
                      finding *f)
{
  size_t i = 0;

  for (size_t j = 0; j < part->len; j++) {
    const pai__set_share *t = &part->shares[j], *s = &nothing;

    f->node = t->node;
    i = pai__allocation_seek(set, i, t->node);
    if (i < set->len && set->shares[i].node == t->node)
      s = &set->shares[i];
    if (has_words(s, t))
      continue;
    if (find_in_shares(set, s, part, t, false, f))
      return true;
    f->kind = MEMORY;
    if (s->memory < t->memory)
      return true;
  }
  return false;
}

static bool find_common(const pai_allocation *a, const pai_allocation *b,
                        finding *f)
{
  size_t i = 0, j = 0;

  for (; pai__next_pair(a, &i, b, &j); i++, j++) {
    f->node = a->shares[i].node;
    if (find_in_shares(a, &a->shares[i], b, &b->shares[j], true, f))
      return true;
  }
  return false;
}

int pai_allocation_contains(const pai_allocation *set,
                            const pai_allocation *part)
{
  finding f;

  return !find_lack(set, part, &f);
}

int pai_allocation_overlaps(const pai_allocation *a, const pai_allocation *b)
{
  finding f;

  return find_common(a, b, &f);
}

/* --- giving and taking -------------------------------------------------- */

/* Whether a node would get more memory than the limit. */
static bool is_too_much(const pai_allocation *a, const pai_allocation *b,
                        uint32_t *node)
{
  size_t i = 0, j = 0;

  for (; pai__next_pair(a, &i, b, &j); i++, j++) {
    *node = a->shares[i].node;
    if (a->shares[i].memory > PAI_ALLOCATION_MAX_MEMORY - b->shares[j].memory)
      return true;
  }
  return false;
}

int pai_allocation_give(pai_allocation *set, const pai_allocation *other,
                        pai_error **err)
{
  uint32_t limit;
  finding f;

  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  if (find_common(set, other, &f)) {
    (void)pai__fail(err, PAI_EEXISTS,
                    "%s %" PRIu32 " of node %" PRIu32 " already exists",
                    pai__allocation_kind(f.kind, &limit), f.number, f.node);
    pai__error_help(err, "give back only what was taken, and only once");
    return PAI_EEXISTS;
  }
  if (is_too_much(set, other, &f.node))
    return pai__fail(err, PAI_ELIMIT,
                     "node %" PRIu32 " would get more memory than the most "
                     "that can be, 128T",
                     f.node);
  return pai__allocation_apply(set, other, PAI__GIVE) < 0 ? pai__oom(err)
                                                          : PAI_OK;
}

static uint64_t memory_at(const pai_allocation *set, uint32_t node)
{
  const pai__set_share *s = pai__allocation_at(set, node);

  return s != NULL ? s->memory : 0;
}

int pai_allocation_take(pai_allocation *set, const pai_allocation *other,
                        pai_error **err)
{
  uint32_t limit;
  finding f;

  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  if (!find_lack(set, other, &f))
    return pai__allocation_apply(set, other, PAI__SUBTRACT) < 0 ? pai__oom(err)
                                                                : PAI_OK;
  if (f.kind == MEMORY)
    return pai__fail(err, PAI_ENOTFOUND,
                     "node %" PRIu32 " has %" PRIu64
                     " bytes of memory, not %" PRIu64,
                     f.node, memory_at(set, f.node), memory_at(other, f.node));
  return pai__fail(err, PAI_ENOTFOUND,
                   "%s %" PRIu32 " of node %" PRIu32 " is not there",
                   pai__allocation_kind(f.kind, &limit), f.number, f.node);
}
