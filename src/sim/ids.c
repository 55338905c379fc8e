/* ids.c - jobs of a trace by what it calls them */
#include "sim/ids.h"

enum { FIRST = 64 };

void pai__ids_init(pai__ids *ids, pai__key_of key_of, const void *data)
{
  *ids = (pai__ids){ .key_of = key_of, .data = data };
  pai__lookup_init(&ids->bad);
}

void pai__ids_dispose(pai__ids *ids, const pai_alloc *alloc)
{
  pai__free(alloc, ids->there, ids->nslots * sizeof(*ids->there));
  pai__flat_dispose(&ids->bad.slots, alloc);
  pai__free(alloc, ids->ring, PAI__LATELY * sizeof(*ids->ring));
  ids->there = NULL;
  ids->nslots = ids->live = 0;
  ids->ring = NULL;
}

uint64_t pai__id_key(const char *id)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (; *id != '\0'; id++)
    h = (h ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
  h ^= h >> 32;
  return h != 0 ? h : 1;
}

/* --- those that are there ------------------------------------------------- */

static uint32_t half_of(uint64_t key)
{
  return (uint32_t)key;
}

static uint32_t home(const pai__ids *ids, uint32_t half)
{
  return (half * UINT32_C(0x9e3779b1) >> 7) & (ids->nslots - 1);
}

/* Its slot, or the one that is empty where it would be. */
static uint32_t find(const pai__ids *ids, uint64_t key)
{
  uint32_t mask = ids->nslots - 1, half = half_of(key), i = home(ids, half);

  for (; ids->there[i].number != 0; i = (i + 1) & mask)
    if (ids->there[i].half == half &&
        ids->key_of(ids->data, ids->there[i].number) == key)
      break;
  return i;
}

uint32_t pai__ids_find(const pai__ids *ids, uint64_t key)
{
  uint32_t number = ids->nslots != 0 ? ids->there[find(ids, key)].number : 0;

  return number != 0 ? number : PAI__NONE;
}

static void put(pai__ids *ids, pai__id_slot x)
{
  uint32_t i = home(ids, x.half);

  while (ids->there[i].number != 0)
    i = (i + 1) & (ids->nslots - 1);
  ids->there[i] = x;
}

static int reserve(pai__ids *ids, const pai_alloc *alloc)
{
  uint32_t n = ids->nslots;
  pai__id_slot *from = ids->there, *bigger;

  if (ids->live + 1 <= n / 4 * 3)
    return PAI_OK;
  bigger = pai__zalloc(alloc, (n != 0 ? 2 * n : FIRST) * sizeof(*bigger));
  if (bigger == NULL)
    return PAI_ENOMEM;
  ids->there = bigger;
  ids->nslots = n != 0 ? 2 * n : FIRST;
  for (uint32_t i = 0; i < n; i++)
    if (from[i].number != 0)
      put(ids, from[i]);
  pai__free(alloc, from, n * sizeof(*from));
  return PAI_OK;
}

/* What stands behind it moves up, so that nothing is hidden behind a gap. */
static void drop(pai__ids *ids, uint32_t gap)
{
  uint32_t mask = ids->nslots - 1;

  for (uint32_t i = (gap + 1) & mask; ids->there[i].number != 0;
       i = (i + 1) & mask)
    if (((i - home(ids, ids->there[i].half)) & mask) >= ((i - gap) & mask)) {
      ids->there[gap] = ids->there[i];
      gap = i;
    }
  ids->there[gap] = (pai__id_slot){ 0, 0 };
  ids->live--;
}

int pai__ids_add(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number)
{
  uint32_t i;

  if (reserve(ids, alloc) < 0)
    return PAI_ENOMEM;
  i = find(ids, key);
  ids->live += ids->there[i].number == 0;
  ids->there[i] = (pai__id_slot){ half_of(key), number };
  return PAI_OK;
}

/* If it is not another's by now. */
static void leave(pai__ids *ids, uint64_t key, uint32_t number)
{
  uint32_t mask = ids->nslots - 1, i = home(ids, half_of(key));

  while (ids->there[i].number != 0 && ids->there[i].number != number)
    i = (i + 1) & mask;
  if (ids->there[i].number != 0)
    drop(ids, i);
}

/* --- those that ended badly ----------------------------------------------- */

static int remember(pai__ids *ids, const pai_alloc *alloc, uint64_t key)
{
  if (ids->ring == NULL) {
    ids->ring = pai__zalloc(alloc, PAI__LATELY * sizeof(*ids->ring));
    if (ids->ring == NULL)
      return PAI_ENOMEM;
  }
  if (pai__lookup_get(&ids->bad, key) != PAI__NONE)
    return PAI_OK;
  if (ids->ring[ids->next] != 0)
    pai__lookup_remove(&ids->bad, ids->ring[ids->next]);
  ids->ring[ids->next] = 0;
  if (pai__lookup_reserve(&ids->bad, alloc) < 0)
    return PAI_ENOMEM;
  pai__lookup_add(&ids->bad, key, 1);
  ids->ring[ids->next] = key;
  ids->next = (ids->next + 1) % PAI__LATELY;
  return PAI_OK;
}

int pai__ids_end(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number, bool badly)
{
  if (ids->nslots != 0)
    leave(ids, key, number);
  return badly ? remember(ids, alloc, key) : PAI_OK;
}
