/* arena.c - memory arena: a list of blocks, filled from the front */
#include "base/arena.h"

#include <stdalign.h>

struct pai__arena_block {
  pai__arena_block *next;
  size_t used, size; /* of data[] */
  alignas(max_align_t) unsigned char data[];
};

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 256 * 1024 };

void pai__arena_init(pai__arena *a, const pai_alloc *alloc)
{
  *a = (pai__arena){ .alloc = alloc };
}

void pai__arena_dispose(pai__arena *a)
{
  while (a->block != NULL) {
    pai__arena_block *next = a->block->next;
    pai__free(a->alloc, a->block, sizeof(*a->block) + a->block->size);
    a->block = next;
  }
}

void pai__arena_clear(pai__arena *a)
{
  pai__arena rest = { .alloc = a->alloc };

  if (a->block == NULL)
    return;
  if (a->block->size > LARGEST_BLOCK) {
    pai__arena_dispose(a);
    return;
  }
  rest.block = a->block->next;
  pai__arena_dispose(&rest);
  a->block->next = NULL;
  a->block->used = 0;
}

static pai__arena_block *add_block(pai__arena *a, size_t bytes)
{
  size_t size = a->block == NULL ? FIRST_BLOCK : a->block->size * 2;
  pai__arena_block *b;

  if (size > LARGEST_BLOCK)
    size = LARGEST_BLOCK;
  if (size < bytes)
    size = bytes;
  if (size > SIZE_MAX - sizeof(*b))
    return NULL;
  b = pai__realloc(a->alloc, NULL, 0, sizeof(*b) + size, 1);
  if (b == NULL)
    return NULL;
  b->next = a->block;
  b->used = 0;
  b->size = size;
  a->block = b;
  return b;
}

/* Takes bytes from the newest block; `align` is a power of two. */
static void *take(pai__arena *a, size_t bytes, size_t align)
{
  pai__arena_block *b = a->block;
  size_t at = b == NULL ? 0 : (b->used + align - 1) & ~(align - 1);

  if (b == NULL || at > b->size || bytes > b->size - at) {
    b = add_block(a, bytes);
    at = 0;
  }
  if (b == NULL)
    return NULL;
  b->used = at + bytes;
  return b->data + at;
}

void *pai__arena_zalloc(pai__arena *a, size_t n, size_t size)
{
  void *p;

  if (size != 0 && n > SIZE_MAX / size)
    return NULL;
  p = take(a, n * size, alignof(max_align_t));
  if (p != NULL)
    memset(p, 0, n * size);
  return p;
}

char *pai__arena_strndup(pai__arena *a, const char *s, size_t len)
{
  char *copy = len < SIZE_MAX ? take(a, len + 1, 1) : NULL;

  if (copy == NULL)
    return NULL;
  if (len != 0)
    memcpy(copy, s, len);
  copy[len] = '\0';
  return copy;
}
