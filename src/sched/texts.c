/* texts.c - strings as numbers */
#include "sched/texts.h"

typedef struct name {
  uint32_t at;    /* in chars */
  uint32_t older; /* of the same hash, or PAI__NONE */
} name;

void pai__texts_init(pai__texts *n)
{
  pai__flat_init(&n->list, sizeof(name));
  pai__flat_init(&n->chars, 1);
  pai__lookup_init(&n->index);
}

void pai__texts_dispose(pai__texts *n, const pai_alloc *alloc)
{
  pai__flat_dispose(&n->list, alloc);
  pai__flat_dispose(&n->chars, alloc);
  pai__flat_dispose(&n->index.slots, alloc);
}

static uint64_t hash_of(const char *s)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (; *s != '\0'; s++)
    h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
  return h | 1;
}

const char *pai__texts_text(const pai__texts *n, uint32_t i)
{
  return i == PAI__NONE ? NULL
                        : (char *)n->chars.data + ((name *)n->list.data)[i].at;
}

static uint32_t find(const pai__texts *n, const char *s, uint64_t hash)
{
  uint32_t i = pai__lookup_get(&n->index, hash);

  while (i != PAI__NONE && strcmp(pai__texts_text(n, i), s) != 0)
    i = ((name *)n->list.data)[i].older;
  return i;
}

uint32_t pai__texts_find(const pai__texts *n, const char *s)
{
  return find(n, s, hash_of(s));
}

int pai__texts_add(pai__texts *n, const pai_alloc *alloc, const char *s,
                   uint32_t *out)
{
  uint64_t hash;
  uint32_t size, older;

  *out = PAI__NONE;
  if (s == NULL)
    return PAI_OK;
  hash = hash_of(s);
  *out = find(n, s, hash);
  if (*out != PAI__NONE)
    return PAI_OK;
  size = (uint32_t)strlen(s) + 1;
  if (pai__flat_reserve(&n->list, alloc, 1) < 0 ||
      pai__flat_reserve(&n->chars, alloc, size) < 0 ||
      pai__lookup_reserve(&n->index, alloc) < 0)
    return PAI_ENOMEM;
  older = pai__lookup_get(&n->index, hash);
  if (older != PAI__NONE)
    pai__lookup_remove(&n->index, hash);
  *out = pai__flat_push(&n->list, 1);
  ((name *)n->list.data)[*out] =
    (name){ pai__flat_push(&n->chars, size), older };
  memcpy((char *)n->chars.data + ((name *)n->list.data)[*out].at, s, size);
  pai__lookup_add(&n->index, hash, *out);
  return PAI_OK;
}
