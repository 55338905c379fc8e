/* allocation_ask.c - counts, comparisons, walks */
#include "resource/allocation.h"

/* The index of a kind of bits; false for ports and for no kind. */
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
  const pai__share *s = pai__allocation_at(set, node);
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
  const pai__share *s = pai__allocation_at(set, node);

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
  const pai__share *s = set != NULL ? pai__allocation_at(set, node) : NULL;
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

/* Negative, 0 or positive, without an overflow. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_words(const pai_allocation *a, const pai__share *s,
                         const pai_allocation *b, const pai__share *t,
                         unsigned k)
{
  const uint64_t *x = pai__share_words(a, s, k);
  const uint64_t *y = pai__share_words(b, t, k);
  int order = ORDER(s->words[k], t->words[k]);

  for (size_t i = 0; order == 0 && i < s->words[k]; i++)
    order = ORDER(x[i], y[i]);
  return order;
}

static int compare_shares(const pai_allocation *a, const pai__share *s,
                          const pai_allocation *b, const pai__share *t)
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

/* SplitMix64's mixing, over all that went before. */
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
    const pai__share *s = &set->shares[i];
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
  /* next[0]: the least node that may come, next[1]: where it was looked for.
   * The latter is only a hint: the set may have changed. */
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

/* The share where a walk is, or NULL. */
static const pai__share *share_of(const pai_allocation *set,
                                  const pai_allocation_iter *it)
{
  size_t i = it->next[1];

  if (i > 0 && i <= set->len && set->shares[i - 1].node == it->node)
    return &set->shares[i - 1];
  return i > 0 ? pai__allocation_at(set, it->node) : NULL;
}

/* The ports from `from` on. */
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
  const pai__share *s = share_of(set, it);
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
