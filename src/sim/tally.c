/* tally.c - how often which value came */
#include "sim/tally.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 16, FEWEST_BITS = 10 };

void pai__tally_init(pai__tally *t, uint32_t most, uint64_t common)
{
  *t = (pai__tally){ .most = most, .bits = 64, .common = common };
}

enum { SLOT = sizeof(uint64_t) + sizeof(uint32_t) };

void pai__tally_dispose(pai__tally *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->keys, (size_t)t->nslots * SLOT);
  t->keys = NULL;
  t->counts = NULL;
  t->nslots = 0;
}

/* The leading bits of a value. */
static uint64_t leading(uint64_t value, uint32_t bits)
{
  uint32_t width = 0;

  if (bits == 64 || value >> bits == 0)
    return value;
  for (uint64_t v = value; v != 0; v >>= 1)
    width++;
  return value >> (width - bits) << (width - bits);
}

/* Where a key is, or is to be. */
static uint32_t find(const pai__tally *t, uint64_t key)
{
  uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  uint32_t i = (uint32_t)(h * t->nslots >> 32);

  while (t->keys[i] != 0 && t->keys[i] != key)
    i = i + 1 < t->nslots ? i + 1 : 0;
  return i;
}

static void count(pai__tally *t, uint64_t value, uint32_t times)
{
  uint64_t key = leading(value, t->bits) + 1;
  uint32_t i = find(t, key);

  t->live += t->keys[i] == 0;
  t->keys[i] = key;
  t->counts[i] += times;
}

/* All anew, in so many slots, with so many bits of each. */
static int refill(pai__tally *t, const pai_alloc *alloc, uint32_t nslots,
                  uint32_t bits)
{
  pai__tally old = *t;

  t->keys = pai__zalloc(alloc, (size_t)nslots * SLOT);
  if (t->keys == NULL) {
    *t = old;
    return PAI_ENOMEM;
  }
  t->counts = (uint32_t *)(void *)(t->keys + nslots);
  t->nslots = nslots;
  t->bits = bits;
  t->live = 0;
  for (uint32_t i = 0; i < old.nslots; i++)
    if (old.keys[i] != 0)
      count(t, old.keys[i] - 1, old.counts[i]);
  pai__tally_dispose(&old, alloc);
  return PAI_OK;
}

/* Of five slots one is free. */
static bool is_full(const pai__tally *t)
{
  return t->live >= t->nslots / 5 * 4;
}

/* Room for one value more; or of each value fewer bits. */
static int make_room(pai__tally *t, const pai_alloc *alloc)
{
  int rc = PAI_OK;

  if (t->nslots == 0)
    return refill(t, alloc, FIRST_SLOTS, t->bits);
  if (t->live >= t->most && t->bits > FEWEST_BITS) {
    uint32_t bits = t->bits == 64 ? 20 : t->bits - 2;

    rc = refill(t, alloc, t->nslots, bits);
  }
  if (rc == PAI_OK && is_full(t))
    rc = refill(t, alloc, t->nslots + t->nslots / 4 + 4, t->bits);
  return rc;
}

static int put(pai__tally *t, const pai_alloc *alloc, uint64_t value)
{
  if (t->nslots != 0) {
    uint32_t i = find(t, leading(value, t->bits) + 1);

    if (t->keys[i] != 0) {
      t->counts[i]++;
      return PAI_OK;
    }
  }
  if ((is_full(t) || t->live >= t->most) && make_room(t, alloc) < 0)
    return PAI_ENOMEM;
  count(t, value, 1);
  return PAI_OK;
}

int pai__tally_add(pai__tally *t, const pai_alloc *alloc, int64_t value)
{
  if (value < 0)
    value = 0;
  if ((uint64_t)value == t->common)
    t->ncommon++;
  else if (put(t, alloc, (uint64_t)value) < 0)
    return PAI_ENOMEM;
  if (t->count++ == 0)
    t->least = t->greatest = value;
  t->least = value < t->least ? value : t->least;
  t->greatest = value > t->greatest ? value : t->greatest;
  pai__wide_add(&t->sum, (uint64_t)value);
  return PAI_OK;
}

/* --- asking --------------------------------------------------------------- */

typedef struct counted {
  uint64_t key, count;
} counted;

static int by_key(const void *a, const void *b)
{
  const counted *x = a, *y = b;

  return x->key < y->key ? -1 : x->key > y->key;
}

/* All values, sorted; as many as *n.  NULL without memory. */
static counted *sorted(const pai__tally *t, const pai_alloc *alloc,
                       uint32_t *n)
{
  counted *list =
    pai__zalloc(alloc, (t->live + 1) * sizeof(*list)); /* and the common one */

  *n = 0;
  if (list == NULL)
    return NULL;
  for (uint32_t i = 0; i < t->nslots; i++)
    if (t->keys[i] != 0)
      list[(*n)++] = (counted){ t->keys[i], t->counts[i] };
  if (t->ncommon != 0)
    list[(*n)++] = (counted){ t->common + 1, t->ncommon };
  qsort(list, *n, sizeof(*list), by_key);
  return list;
}

/* Whose leading bits alone are known does not leave the bounds. */
static int64_t within(const pai__tally *t, uint64_t value)
{
  int64_t v = (int64_t)value;

  return v < t->least ? t->least : v > t->greatest ? t->greatest : v;
}

int pai__tally_at(const pai__tally *t, const pai_alloc *alloc,
                  const uint32_t *thousandths, size_t n, int64_t *values)
{
  counted *list;
  uint64_t below = 0;
  uint32_t count, i = 0;

  memset(values, 0, n * sizeof(*values));
  if (t->count == 0)
    return PAI_OK;
  list = sorted(t, alloc, &count);
  if (list == NULL)
    return PAI_ENOMEM;
  for (size_t k = 0; k < n; k++) {
    uint64_t rank =
      pai__wide_quotient(pai__wide_product(t->count, thousandths[k]), 1000);

    /* The rank is rounded up, and there is no first but the first. */
    rank += rank * 1000 != t->count * thousandths[k];
    rank = rank == 0 ? 1 : rank;
    while (below + list[i].count < rank)
      below += list[i++].count;
    values[k] = thousandths[k] == 1000 ? t->greatest
                : thousandths[k] == 0  ? t->least
                                       : within(t, list[i].key - 1);
  }
  pai__free(alloc, list, (t->live + 1) * sizeof(*list));
  return PAI_OK;
}

int64_t pai__tally_mean(const pai__tally *t)
{
  return t->count != 0 ? (int64_t)pai__wide_quotient(t->sum, t->count) : 0;
}
