/* reuse.c - memory that is taken and given back again and again */
#include "sched/reuse.h"

#include <string.h>

enum { LEAST = 1 << 14 }; /* bytes of a block that is kept */

void pai__reuse_init(pai__reuse *r, const pai_alloc *from)
{
  *r = (pai__reuse){ .from = *from };
}

void pai__reuse_dispose(pai__reuse *r)
{
  for (uint32_t i = 0; i < PAI__REUSE_BLOCKS; i++)
    pai__free(&r->from, r->kept[i].block, r->kept[i].size);
}

/* Blocks are somewhat larger than they are to be, so that many are of one size:
 * an eighth at the most. */
static size_t rounded(size_t size)
{
  size_t step = LEAST / 8;

  if (size < LEAST || size > SIZE_MAX / 2)
    return size;
  while (size / step >= 16)
    step *= 2;
  return (size + step - 1) / step * step;
}

static void *find(pai__reuse *r, size_t size)
{
  for (uint32_t i = 0; i < PAI__REUSE_BLOCKS; i++)
    if (r->kept[i].block != NULL && r->kept[i].size == size) {
      void *block = r->kept[i].block;

      r->kept[i].block = NULL;
      return block;
    }
  return NULL;
}

/* In the place of none, or of another one. */
static void keep(pai__reuse *r, void *block, size_t size)
{
  uint32_t i = 0;

  while (i < PAI__REUSE_BLOCKS && r->kept[i].block != NULL)
    i++;
  if (i == PAI__REUSE_BLOCKS) {
    i = r->next;
    r->next = (i + 1) % PAI__REUSE_BLOCKS;
  }
  pai__free(&r->from, r->kept[i].block, r->kept[i].size);
  r->kept[i].block = block;
  r->kept[i].size = size;
}

static void *reallocate(void *ctx, void *block, size_t old_size,
                        size_t new_size);

/* A block of another size takes over what is in one. */
static void *move(pai__reuse *r, void *block, size_t old_size, size_t new_size)
{
  void *other = find(r, new_size);

  if (other == NULL)
    return r->from.realloc_fn(r->from.ctx, block, old_size, new_size);
  if (block == NULL)
    return other;
  memcpy(other, block, old_size < new_size ? old_size : new_size);
  (void)reallocate(r, block, old_size, 0);
  return other;
}

static void *reallocate(void *ctx, void *block, size_t old_size,
                        size_t new_size)
{
  pai__reuse *r = ctx;

  old_size = rounded(old_size);
  new_size = rounded(new_size);
  if (new_size >= LEAST)
    return move(r, block, old_size, new_size);
  if (block == NULL || new_size != 0 || old_size < LEAST)
    return r->from.realloc_fn(r->from.ctx, block, old_size, new_size);
  keep(r, block, old_size);
  return NULL;
}

pai_alloc pai__reuse_alloc(pai__reuse *r)
{
  return (pai_alloc){ r, reallocate };
}
