/* map.c - hash map: open addressing over an insertion-ordered array of
 * entries */
#include "base/map.h"

#include "base/hash.h"

enum { FEWEST_SLOTS = 16 };

uint64_t pai__map_hash(const void *key, size_t len)
{
  uint64_t h = pai__hash(PAI__HASH_SEED, key, len);

  h ^= h >> 32; /* finalizer, to spread the bits */
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

void pai__map_init(pai__map *m, const pai_alloc *alloc)
{
  *m = (pai__map){ .alloc = alloc };
}

void pai__map_dispose(pai__map *m)
{
  for (size_t i = 0; i < m->len; i++)
    if (m->entries[i].key != NULL)
      pai__free(m->alloc, m->entries[i].key, m->entries[i].len + 1);
  pai__free(m->alloc, m->entries, m->cap * sizeof(*m->entries));
  pai__free(m->alloc, m->slots, m->nslots * sizeof(*m->slots));
  pai__map_init(m, m->alloc);
}

/* Returns the entry of this key, or NULL. */
static pai__map_entry *find(const pai__map *m, const void *key, size_t len,
                            uint64_t hash)
{
  size_t mask = m->nslots - 1;

  if (m->nslots == 0)
    return NULL;
  for (size_t s = hash & mask; m->slots[s] != 0; s = (s + 1) & mask) {
    pai__map_entry *e = &m->entries[m->slots[s] - 1];
    if (e->key != NULL && e->hash == hash && e->len == len &&
        memcmp(e->key, key, len) == 0)
      return e;
  }
  return NULL;
}

static void place(pai__map *m, size_t entry)
{
  size_t mask = m->nslots - 1;
  size_t s = m->entries[entry].hash & mask;

  while (m->slots[s] != 0)
    s = (s + 1) & mask;
  m->slots[s] = (uint32_t)entry + 1;
}

/* Drops removed entries and rebuilds the slots, at most half full. */
static int rebuild(pai__map *m)
{
  size_t nslots = FEWEST_SLOTS, kept = 0;
  uint32_t *slots;

  while (nslots < (m->live + 1) * 3)
    nslots *= 2;
  slots = pai__zalloc(m->alloc, nslots * sizeof(*slots));
  if (slots == NULL)
    return PAI_ENOMEM;
  pai__free(m->alloc, m->slots, m->nslots * sizeof(*m->slots));
  m->slots = slots;
  m->nslots = nslots;
  for (size_t i = 0; i < m->len; i++)
    if (m->entries[i].key != NULL)
      m->entries[kept++] = m->entries[i];
  m->len = kept;
  for (size_t i = 0; i < kept; i++)
    place(m, i);
  return PAI_OK;
}

int pai__map_set(pai__map *m, const void *key, size_t len, void *value)
{
  uint64_t hash = pai__map_hash(key, len);
  pai__map_entry *e = find(m, key, len, hash);
  char *copy;

  if (e != NULL) {
    e->value = value;
    return PAI_OK;
  }
  if ((m->len + 1) * 2 > m->nslots && rebuild(m) < 0)
    return PAI_ENOMEM;
  if (PAI__VEC_ROOM(m->alloc, m->entries, m->len, m->cap) < 0)
    return PAI_ENOMEM;
  copy = pai__strndup(m->alloc, key, len);
  if (copy == NULL)
    return PAI_ENOMEM;
  m->entries[m->len] = (pai__map_entry){ copy, len, value, hash };
  place(m, m->len++);
  m->live++;
  return PAI_OK;
}

void *pai__map_get(const pai__map *m, const void *key, size_t len)
{
  const pai__map_entry *e = find(m, key, len, pai__map_hash(key, len));

  return e != NULL ? e->value : NULL;
}

void *pai__map_remove(pai__map *m, const void *key, size_t len)
{
  pai__map_entry *e = find(m, key, len, pai__map_hash(key, len));
  void *value;

  if (e == NULL)
    return NULL;
  value = e->value;
  pai__free(m->alloc, e->key, e->len + 1);
  e->key = NULL; /* its slot stays in use until the next rebuild */
  m->live--;
  return value;
}

const pai__map_entry *pai__map_next(const pai__map *m, size_t *i)
{
  while (*i < m->len) {
    const pai__map_entry *e = &m->entries[(*i)++];
    if (e->key != NULL)
      return e;
  }
  return NULL;
}
