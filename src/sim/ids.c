/* ids.c - jobs of a trace by what it calls them */
#include "sim/ids.h"

void pai__ids_init(pai__ids *ids)
{
  *ids = (pai__ids){ 0 };
  pai__lookup_init(&ids->there);
  pai__lookup_init(&ids->bad);
}

void pai__ids_dispose(pai__ids *ids, const pai_alloc *alloc)
{
  pai__flat_dispose(&ids->there.slots, alloc);
  pai__flat_dispose(&ids->bad.slots, alloc);
  pai__free(alloc, ids->ring, PAI__LATELY * sizeof(*ids->ring));
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

int pai__ids_add(pai__ids *ids, const pai_alloc *alloc, uint64_t key,
                 uint32_t number)
{
  if (pai__lookup_get(&ids->there, key) != PAI__NONE)
    pai__lookup_remove(&ids->there, key);
  if (pai__lookup_reserve(&ids->there, alloc) < 0)
    return PAI_ENOMEM;
  pai__lookup_add(&ids->there, key, number);
  return PAI_OK;
}

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
  if (pai__lookup_get(&ids->there, key) == number)
    pai__lookup_remove(&ids->there, key);
  return badly ? remember(ids, alloc, key) : PAI_OK;
}
