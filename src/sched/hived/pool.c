/* pool.c - memory that groups come and go in, and their names */
#include "sched/hived/engine.h"

enum { SMALLEST = 2 }; /* blocks have 4 words, or more */

static unsigned size_class(size_t words)
{
  unsigned k = SMALLEST;

  while (((size_t)1 << k) < words)
    k++;
  return k;
}

int pai__make(const pai_alloc *a, void *where, size_t n, size_t size)
{
  void *p = NULL;

  if (n > 0) {
    p = pai__realloc(a, NULL, 0, n, size);
    if (p == NULL)
      return PAI_ENOMEM;
    memset(p, 0, n * size);
  }
  memcpy(where, &p, sizeof(p));
  return PAI_OK;
}

int pai__hived_pool_reserve(pai__hived *h, size_t words, size_t blocks)
{
  pai__hived_pool *p = &h->pool;
  size_t need = p->used + 2 * words + (blocks << SMALLEST), cap;
  uint32_t *grown;

  if (need <= p->cap)
    return PAI_OK;
  cap = p->cap + p->cap / 2;
  if (cap < need + 1024)
    cap = need + 1024;
  if (cap >= PAI__NOTHING)
    return PAI_ENOMEM;
  grown = pai__realloc(&h->alloc, p->words, p->cap, cap, sizeof(*p->words));
  if (grown == NULL)
    return PAI_ENOMEM;
  p->words = grown;
  p->cap = cap;
  return PAI_OK;
}

uint32_t pai__hived_pool_take(pai__hived_pool *p, size_t words)
{
  unsigned k = size_class(words);
  uint32_t at = p->free[k];

  if (at != PAI__NOTHING) {
    p->free[k] = p->words[at];
    return at;
  }
  at = (uint32_t)p->used;
  p->used += (size_t)1 << k;
  return at;
}

void pai__hived_pool_give(pai__hived_pool *p, uint32_t at, size_t words)
{
  unsigned k = size_class(words);

  p->words[at] = p->free[k];
  p->free[k] = at;
}

/* --- names ---------------------------------------------------------------- */

static uint32_t hash_of(const char *s, size_t len)
{
  uint64_t hash = 0xcbf29ce484222325u;

  for (size_t i = 0; i < len; i++)
    hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3u;
  return (uint32_t)(hash ^ hash >> 32);
}

static size_t words_for(size_t len)
{
  return (len + 1 + sizeof(uint32_t) - 1) / sizeof(uint32_t);
}

static int grow_slots(pai__hived *h, size_t n)
{
  uint32_t *slots = pai__realloc(&h->alloc, NULL, 0, n, sizeof(*slots));

  if (slots == NULL)
    return PAI_ENOMEM;
  memset(slots, 0, n * sizeof(*slots));
  for (uint32_t i = 0; i < h->nnames; i++) {
    size_t at = h->names[i].hash & (n - 1);

    if (h->names[i].uses == 0)
      continue;
    while (slots[at] != 0)
      at = (at + 1) & (n - 1);
    slots[at] = i + 1;
  }
  pai__free(&h->alloc, h->name_slots, h->nname_slots * sizeof(*slots));
  h->name_slots = slots;
  h->nname_slots = n;
  return PAI_OK;
}

int pai__names_reserve(pai__hived *h, size_t more)
{
  size_t n = h->nname_slots > 0 ? h->nname_slots : 64;

  while ((h->live_names + more) * 2 > n)
    n *= 2;
  if (n != h->nname_slots && grow_slots(h, n) < 0)
    return PAI_ENOMEM;
  n = h->nnames + more;
  if (n > h->names_cap) {
    pai__hived_text *grown = pai__realloc(&h->alloc, h->names, h->names_cap,
                                          n + n / 2, sizeof(*grown));

    if (grown == NULL)
      return PAI_ENOMEM;
    h->names = grown;
    h->names_cap = n + n / 2;
  }
  return PAI_OK;
}

/* The slot of a name, or that it would be put into. */
static size_t slot_of(const pai__hived *h, uint32_t hash, const char *s,
                      size_t len)
{
  size_t mask = h->nname_slots - 1, at = hash & mask;

  for (; h->name_slots[at] != 0; at = (at + 1) & mask) {
    const pai__hived_text *t = &h->names[h->name_slots[at] - 1];

    if (t->hash == hash && t->len == len &&
        memcmp(h->pool.words + t->at, s, len) == 0)
      break;
  }
  return at;
}

uint32_t pai__name_find(const pai__hived *h, const char *s, size_t len)
{
  if (h->nname_slots == 0)
    return PAI__NOTHING;
  return h->name_slots[slot_of(h, hash_of(s, len), s, len)] - 1;
}

uint32_t pai__name_use(pai__hived *h, const char *s, size_t len)
{
  uint32_t hash = hash_of(s, len), name;
  size_t at = slot_of(h, hash, s, len);
  pai__hived_text *t;

  if (h->name_slots[at] != 0) {
    name = h->name_slots[at] - 1;
    h->names[name].uses++;
    return name;
  }
  name = h->free_name;
  if (name != PAI__NOTHING)
    h->free_name = h->names[name].group;
  else
    name = (uint32_t)h->nnames++;
  t = &h->names[name];
  *t = (pai__hived_text){
    .len = (uint32_t)len, .hash = hash, .group = PAI__NOTHING, .uses = 1
  };
  t->at = pai__hived_pool_take(&h->pool, words_for(len));
  memcpy(h->pool.words + t->at, s, len);
  ((char *)(h->pool.words + t->at))[len] = '\0';
  h->name_slots[at] = name + 1;
  h->live_names++;
  return name;
}

/* Takes a slot out, and moves back those behind it that belong before. */
static void close_slot(pai__hived *h, size_t at)
{
  size_t mask = h->nname_slots - 1, next = at;

  for (;;) {
    size_t home;

    next = (next + 1) & mask;
    if (h->name_slots[next] == 0)
      break;
    home = h->names[h->name_slots[next] - 1].hash & mask;
    if (((next - home) & mask) < ((next - at) & mask))
      continue;
    h->name_slots[at] = h->name_slots[next];
    at = next;
  }
  h->name_slots[at] = 0;
}

void pai__name_drop(pai__hived *h, uint32_t name)
{
  pai__hived_text *t = &h->names[name];

  if (--t->uses > 0)
    return;
  close_slot(h, slot_of(h, t->hash, pai__name_text(h, name), t->len));
  pai__hived_pool_give(&h->pool, t->at, words_for(t->len));
  t->group = h->free_name;
  h->free_name = name;
  h->live_names--;
}

int pai__hived_name(pai__hived *h, const char *s, size_t len, uint32_t *name)
{
  if (pai__names_reserve(h, 1) < 0 ||
      pai__hived_pool_reserve(h, words_for(len), 1) < 0)
    return PAI_ENOMEM;
  *name = pai__name_use(h, s, len) | PAI__HIVED_NAME;
  return PAI_OK;
}

const char *pai__hived_name_text(const pai__hived *h, uint32_t name)
{
  return pai__name_text(h, name & ~PAI__HIVED_NAME);
}

/* --- scratch -------------------------------------------------------------- */

int pai__scratch_grow(pai__hived *h, void *vec, size_t *cap, size_t n,
                      size_t size)
{
  void *old, *grown;

  memcpy(&old, vec, sizeof(old));
  n += n / 2;
  grown = pai__realloc(&h->alloc, old, *cap, n, size);
  if (grown == NULL)
    return PAI_ENOMEM;
  memcpy(vec, &grown, sizeof(grown));
  *cap = n;
  return PAI_OK;
}

/* All that a placement of so many may need, but for candidates and undoing. */
int pai__scratch_reserve(pai__hived *h, size_t pods, size_t leaves)
{
  size_t all = leaves * PAI__CELLS_MAX_LEVELS;

  if (all > h->nvcells * 2)
    all = h->nvcells * 2;
  if (PAI__SCRATCH(h, pods, pods) < 0 || PAI__SCRATCH(h, nodes, pods) < 0 ||
      PAI__SCRATCH(h, vcell, leaves) < 0 ||
      PAI__SCRATCH(h, physical, leaves) < 0 ||
      PAI__SCRATCH(h, types, leaves) < 0 ||
      PAI__SCRATCH(h, preempted, 2 * leaves) < 0 ||
      PAI__SCRATCH(h, groups, leaves) < 0 ||
      PAI__SCRATCH(h, others, leaves) < 0 ||
      PAI__SCRATCH(h, vertices, all) < 0 || PAI__SCRATCH(h, tops, all) < 0)
    return PAI_ENOMEM;
  return PAI_OK;
}
