/* allocation_pair.c - what one set lacks of another, and has in common with
 * it; giving and taking, which ask that first */
#include "resource/allocation.h"

#include <inttypes.h>

enum { MEMORY = PAI_ALLOCATION_PORT + 1 }; /* one more kind */

/* What was found first. */
typedef struct finding {
  uint32_t node;
  int kind;        /* PAI_ALLOCATION_*, or MEMORY */
  uint32_t number; /* not of MEMORY */
} finding;

static const pai__share nothing = { 0 };

static const int public_kind[PAI__KINDS] = { PAI_ALLOCATION_GPU,
                                             PAI_ALLOCATION_CPU };

/* The first number of a kind in t whose bit in s is as wanted. */
static bool find_bit(const pai_allocation *a, const pai__share *s,
                     const pai_allocation *b, const pai__share *t, unsigned k,
                     bool in_both, uint32_t *number)
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

/* The first port of q that is not in p. */
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

/* Looks at two shares of a node; fills kind and number. */
static bool find_in_shares(const pai_allocation *a, const pai__share *s,
                           const pai_allocation *b, const pai__share *t,
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

/* Whether s has all of t, if both are but words. */
static bool has_words(const pai__share *s, const pai__share *t)
{
  return pai__are_words(s, t) && (t->bits[0] & ~s->bits[0]) == 0 &&
         (t->bits[1] & ~s->bits[1]) == 0 && s->memory >= t->memory;
}

static bool find_lack(const pai_allocation *set, const pai_allocation *part,
                      finding *f)
{
  size_t i = 0;

  for (size_t j = 0; j < part->len; j++) {
    const pai__share *t = &part->shares[j], *s = &nothing;

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

/* Whether a node would get more memory than there can be. */
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

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(set != NULL && other != NULL, err);
  if (find_common(set, other, &f)) {
    (void)pai__fail(err, PAI_EEXISTS,
                    "%s %" PRIu32 " of node %" PRIu32 " is there already",
                    pai__allocation_kind(f.kind, &limit), f.number, f.node);
    pai__error_help(err, "give back what was taken, and once");
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
  const pai__share *s = pai__allocation_at(set, node);

  return s != NULL ? s->memory : 0;
}

int pai_allocation_take(pai_allocation *set, const pai_allocation *other,
                        pai_error **err)
{
  uint32_t limit;
  finding f;

  if (err != NULL)
    *err = NULL;
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
