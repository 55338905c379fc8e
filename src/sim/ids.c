/* ids.c - finds jobs of a simulation by their ids in the trace */
#include "sim/ids.h"

enum { FIRST = 64 };

void pai__ids_init(pai__ids *ids, const pai_alloc *alloc, pai__id_of id_of,
                   const void *data)
{
  *ids = (pai__ids){ .id_of = id_of, .data = data };
  pai__map_init(&ids->bad, alloc);
  pai__map_init(&ids->older, alloc);
}

void pai__ids_dispose(pai__ids *ids)
{
  pai__free(ids->bad.alloc, ids->there, ids->nslots * sizeof(*ids->there));
  pai__map_dispose(&ids->bad);
  pai__map_dispose(&ids->older);
  ids->there = NULL;
  ids->nslots = ids->live = 0;
}

/* --- jobs that are present ----------------------------------------------- */

static uint32_t hash_of(const char *id)
{
  return (uint32_t)pai__map_hash(id, strlen(id));
}

static uint32_t home(const pai__ids *ids, uint32_t hash)
{
  return (hash * UINT32_C(0x9e3779b1) >> 7) & (ids->nslots - 1);
}

/* Returns the slot of an id, or the empty slot where it belongs. */
static uint32_t find(const pai__ids *ids, const char *id, uint32_t hash)
{
  uint32_t mask = ids->nslots - 1, i = home(ids, hash);

  for (; ids->there[i].number != 0; i = (i + 1) & mask)
    if (ids->there[i].hash == hash &&
        strcmp(ids->id_of(ids->data, ids->there[i].number), id) == 0)
      break;
  return i;
}

uint32_t pai__ids_find(const pai__ids *ids, const char *id)
{
  uint32_t number =
    ids->nslots != 0 ? ids->there[find(ids, id, hash_of(id))].number : 0;

  return number != 0 ? number : PAI__NONE;
}

static void put(pai__ids *ids, pai__id_slot x)
{
  uint32_t i = home(ids, x.hash);

  while (ids->there[i].number != 0)
    i = (i + 1) & (ids->nslots - 1);
  ids->there[i] = x;
}

static int reserve(pai__ids *ids)
{
  const pai_alloc *alloc = ids->bad.alloc;
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

/* Removes a slot and moves later ones up, so that linear probing finds
 * them. */
static void drop(pai__ids *ids, uint32_t gap)
{
  uint32_t mask = ids->nslots - 1;

  for (uint32_t i = (gap + 1) & mask; ids->there[i].number != 0;
       i = (i + 1) & mask)
    if (((i - home(ids, ids->there[i].hash)) & mask) >= ((i - gap) & mask)) {
      ids->there[gap] = ids->there[i];
      gap = i;
    }
  ids->there[gap] = (pai__id_slot){ 0, 0 };
  ids->live--;
}

int pai__ids_add(pai__ids *ids, const char *id, uint32_t number)
{
  uint32_t i, hash = hash_of(id);

  if (reserve(ids) < 0)
    return PAI_ENOMEM;
  i = find(ids, id, hash);
  ids->live += ids->there[i].number == 0;
  ids->there[i] = (pai__id_slot){ hash, number };
  return PAI_OK;
}

/* Removes a job unless a later one has taken its slot. */
static void leave(pai__ids *ids, const char *id, uint32_t number)
{
  uint32_t mask = ids->nslots - 1, i = home(ids, hash_of(id));

  while (ids->there[i].number != 0 && ids->there[i].number != number)
    i = (i + 1) & mask;
  if (ids->there[i].number != 0)
    drop(ids, i);
}

/* --- jobs that ended badly ----------------------------------------------- */

bool pai__ids_failed(const pai__ids *ids, const char *id)
{
  size_t len = strlen(id);

  return pai__map_get(&ids->bad, id, len) != NULL ||
         pai__map_get(&ids->older, id, len) != NULL;
}

int pai__ids_end(pai__ids *ids, const char *id, uint32_t number, bool badly)
{
  if (ids->nslots != 0)
    leave(ids, id, number);
  if (!badly)
    return PAI_OK;
  if (ids->bad.live == PAI__LATELY) {
    pai__map_dispose(&ids->older);
    ids->older = ids->bad;
    pai__map_init(&ids->bad, ids->older.alloc);
  }
  return pai__map_set(&ids->bad, id, strlen(id), ids);
}
