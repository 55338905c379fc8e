/* tally.c - how often which value came */
#include "sim/tally.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 16, FEWEST_BITS = 10 };

void pai__tally_init(pai__tally *t, uint32_t most, uint64_t common)
{
  *t = (pai__tally){ .most = most, .bits = 64, .common = common };
}

void pai__tally_dispose(pai__tally *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->slots, t->nslots * sizeof(*t->slots));
  t->slots = NULL;
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
static pai__tally_slot *find(pai__tally_slot *slots, uint32_t nslots,
                             uint64_t key)
{
  uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t i = (uint32_t)(h >> 32) & (nslots - 1);

  while (slots[i].key != 0 && slots[i].key != key)
    i = (i + 1) & (nslots - 1);
  return &slots[i];
}

/* All anew, in so many slots, with so many bits of each. */
static int refill(pai__tally *t, const pai_alloc *alloc, uint32_t nslots,
                  uint32_t bits)
{
  pai__tally_slot *slots = pai__zalloc(alloc, nslots * sizeof(*slots));
  uint32_t live = 0;

  if (slots == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < t->nslots; i++) {
    const pai__tally_slot *from = &t->slots[i];
    pai__tally_slot *to;

    if (from->key == 0)
      continue;
    to = find(slots, nslots, leading(from->key - 1, bits) + 1);
    live += to->key == 0;
    to->key = leading(from->key - 1, bits) + 1;
    to->count += from->count;
  }
  pai__tally_dispose(t, alloc);
  t->slots = slots;
  t->nslots = nslots;
  t->live = live;
  t->bits = bits;
  return PAI_OK;
}

/* Room for one value more: as many slots as are there, and half of them free;
 * or of each value fewer bits. */
static int make_room(pai__tally *t, const pai_alloc *alloc)
{
  int rc = PAI_OK;

  if (t->nslots == 0)
    return refill(t, alloc, FIRST_SLOTS, t->bits);
  if (t->live >= t->most && t->bits > FEWEST_BITS) {
    uint32_t bits = t->bits == 64 ? 20 : t->bits - 2;

    rc = refill(t, alloc, t->nslots, bits);
  }
  if (rc == PAI_OK && t->live >= t->nslots / 2)
    rc = refill(t, alloc, t->nslots * 2, t->bits);
  return rc;
}

static int put(pai__tally *t, const pai_alloc *alloc, uint64_t value)
{
  pai__tally_slot *slot;

  if (t->nslots != 0) {
    slot = find(t->slots, t->nslots, leading(value, t->bits) + 1);
    if (slot->key != 0) {
      slot->count++;
      return PAI_OK;
    }
  }
  if ((t->nslots == 0 || t->live >= t->nslots / 2 || t->live >= t->most) &&
      make_room(t, alloc) < 0)
    return PAI_ENOMEM;
  slot = find(t->slots, t->nslots, leading(value, t->bits) + 1);
  t->live += slot->key == 0;
  slot->key = leading(value, t->bits) + 1;
  slot->count++;
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

static int by_key(const void *a, const void *b)
{
  const pai__tally_slot *x = a, *y = b;

  return x->key < y->key ? -1 : x->key > y->key;
}

/* All values, sorted; as many as *n.  NULL without memory. */
static pai__tally_slot *sorted(const pai__tally *t, const pai_alloc *alloc,
                               uint32_t *n)
{
  pai__tally_slot *list =
    pai__zalloc(alloc, (t->live + 1) * sizeof(*list)); /* and the common one */

  *n = 0;
  if (list == NULL)
    return NULL;
  for (uint32_t i = 0; i < t->nslots; i++)
    if (t->slots[i].key != 0)
      list[(*n)++] = t->slots[i];
  if (t->ncommon != 0)
    list[(*n)++] = (pai__tally_slot){ t->common + 1, t->ncommon };
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
  pai__tally_slot *list;
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
