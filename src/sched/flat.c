/* flat.c - vectors, pools and indices that are copied as bytes */
#include "sched/flat.h"

void pai__flat_dispose(pai__flat *f, const pai_alloc *alloc)
{
  if (f->cap != 0)
    pai__free(alloc, f->data, (size_t)f->cap * f->size);
  pai__flat_init(f, f->size);
}

int pai__flat_reserve(pai__flat *f, const pai_alloc *alloc, uint32_t more)
{
  uint64_t need = (uint64_t)f->len + more, cap = f->cap;
  void *data;

  if (need <= cap)
    return PAI_OK;
  cap += cap / 2;
  if (cap < need)
    cap = need;
  if (cap < 8)
    cap = 8;
  if (cap >= PAI__NONE)
    return PAI_ENOMEM;
  if (f->len < f->cap / 2) { /* what is not used is not to be copied */
    data = pai__realloc(alloc, NULL, 0, (size_t)cap, f->size);
    if (data == NULL)
      return PAI_ENOMEM;
    memcpy(data, f->data, (size_t)f->len * f->size);
    pai__free(alloc, f->data, (size_t)f->cap * f->size);
  } else {
    data = pai__realloc(alloc, f->cap != 0 ? f->data : NULL, f->cap,
                        (size_t)cap, f->size);
    if (data == NULL)
      return PAI_ENOMEM;
    if (f->cap == 0 && f->len != 0)
      memcpy(data, f->data, (size_t)f->len * f->size);
  }
  f->data = data;
  f->cap = (uint32_t)cap;
  return PAI_OK;
}

uint32_t pai__flat_push(pai__flat *f, uint32_t n)
{
  uint32_t first = f->len;

  if (n != 0)
    memset((char *)f->data + (size_t)first * f->size, 0, (size_t)n * f->size);
  f->len += n;
  return first;
}

int pai__flat_copy(pai__flat *f, const pai__flat *from, const pai_alloc *alloc)
{
  if (pai__flat_reserve(f, alloc, from->len) < 0)
    return PAI_ENOMEM;
  if (from->len != 0)
    memcpy(f->data, from->data, (size_t)from->len * from->size);
  f->len = from->len;
  return PAI_OK;
}

void pai__flat_copy_in(pai__flat *f, const pai__flat *from, void *block,
                       size_t *at)
{
  f->data = from->len != 0 ? (char *)block + *at : NULL;
  f->len = from->len;
  if (from->len != 0)
    memcpy(f->data, from->data, (size_t)from->len * from->size);
  *at += pai__flat_bytes(from);
}

/* --- pool ----------------------------------------------------------------- */

/* Blocks of up to 16 words are of just their size, larger ones of the next
 * power of two: jobs of one shape leave blocks for each other. */
static uint32_t class_of(uint32_t n)
{
  uint32_t c = 16;

  if (n <= 16)
    return n != 0 ? n - 1 : 0;
  while (n > 1u << (c - 11))
    c++;
  return c;
}

static uint32_t words_of_class(uint32_t c)
{
  return c < 16 ? c + 1 : 1u << (c - 11);
}

void pai__pool_init(pai__pool *p)
{
  pai__flat_init(&p->words, sizeof(uint64_t));
  for (size_t i = 0; i < PAI__LEN(p->free); i++)
    p->free[i] = PAI__NONE;
  p->live = 0;
}

void pai__pool_clear(pai__pool *p)
{
  for (size_t i = 0; i < PAI__LEN(p->free); i++)
    p->free[i] = PAI__NONE;
  p->words.len = p->live = 0;
}

uint32_t pai__pool_take(pai__pool *p, const pai_alloc *alloc, uint32_t n)
{
  uint32_t c, words, at;

  if (n > 1u << 24)
    return PAI__NONE;
  c = class_of(n);
  words = words_of_class(c);
  at = p->free[c];
  if (at != PAI__NONE) {
    p->free[c] = (uint32_t) * (uint64_t *)pai__pool_at(p, at);
  } else {
    if (pai__flat_reserve(&p->words, alloc, words) < 0)
      return PAI__NONE;
    at = pai__flat_push(&p->words, words);
  }
  p->live += words;
  return at;
}

int pai__pool_reserve(pai__pool *p, const pai_alloc *alloc, uint32_t blocks,
                      uint32_t n)
{
  uint64_t words = n == 0 ? 0 : (uint64_t)words_of_class(class_of(n)) * blocks;

  return words > UINT32_MAX
           ? PAI_ENOMEM
           : pai__flat_reserve(&p->words, alloc, (uint32_t)words);
}

void pai__pool_give(pai__pool *p, uint32_t at, uint32_t n)
{
  uint32_t c = class_of(n);

  *(uint64_t *)pai__pool_at(p, at) = p->free[c];
  p->free[c] = at;
  p->live -= words_of_class(c);
}

/* --- index ---------------------------------------------------------------- */

typedef struct entry {
  uint64_t key; /* 0: nothing */
  uint64_t value;
} entry;

void pai__lookup_init(pai__lookup *x)
{
  pai__flat_init(&x->slots, sizeof(entry));
  x->live = 0;
}

int pai__lookup_copy(pai__lookup *x, const pai__lookup *from,
                     const pai_alloc *alloc)
{
  x->live = from->live;
  return pai__flat_copy(&x->slots, &from->slots, alloc);
}

static uint32_t home(const pai__lookup *x, uint64_t key)
{
  return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
         (x->slots.len - 1);
}

static void put(pai__lookup *x, uint64_t key, uint64_t value)
{
  entry *list = x->slots.data;
  uint32_t i = home(x, key);

  while (list[i].key != 0)
    i = (i + 1) & (x->slots.len - 1);
  list[i] = (entry){ key, value };
}

int pai__lookup_reserve(pai__lookup *x, const pai_alloc *alloc)
{
  pai__lookup bigger;
  const entry *old = x->slots.data;
  uint32_t n = x->slots.len < 16 ? 16 : x->slots.len * 2;

  if (x->slots.len != 0 && (x->live + 1) * 2 <= x->slots.len)
    return PAI_OK;
  pai__lookup_init(&bigger);
  if (pai__flat_reserve(&bigger.slots, alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&bigger.slots, n);
  for (uint32_t i = 0; i < x->slots.len; i++)
    if (old[i].key != 0)
      put(&bigger, old[i].key, old[i].value);
  bigger.live = x->live;
  pai__flat_dispose(&x->slots, alloc);
  *x = bigger;
  return PAI_OK;
}

void pai__lookup_add(pai__lookup *x, uint64_t key, uint32_t value)
{
  put(x, key, value);
  x->live++;
}

static uint32_t find(const pai__lookup *x, uint64_t key)
{
  const entry *list = x->slots.data;

  if (x->slots.len == 0)
    return PAI__NONE;
  for (uint32_t i = home(x, key); list[i].key != 0;
       i = (i + 1) & (x->slots.len - 1))
    if (list[i].key == key)
      return i;
  return PAI__NONE;
}

uint32_t pai__lookup_get(const pai__lookup *x, uint64_t key)
{
  uint32_t i = find(x, key);

  return i == PAI__NONE ? PAI__NONE
                        : (uint32_t)((entry *)x->slots.data)[i].value;
}

/* What follows moves up, so that no mark is left behind. */
void pai__lookup_remove(pai__lookup *x, uint64_t key)
{
  entry *list = x->slots.data;
  uint32_t mask = x->slots.len - 1, hole = find(x, key), i;

  if (hole == PAI__NONE)
    return;
  for (i = (hole + 1) & mask; list[i].key != 0; i = (i + 1) & mask)
    if (((i - home(x, list[i].key)) & mask) >= ((i - hole) & mask)) {
      list[hole] = list[i];
      hole = i;
    }
  list[hole] = (entry){ 0, 0 };
  x->live--;
}

void pai__lookup_clear(pai__lookup *x)
{
  if (x->slots.len != 0)
    memset(x->slots.data, 0, (size_t)x->slots.len * sizeof(entry));
  x->live = 0;
}
