/* flat.c - vectors, pools and indices that are copied as bytes */

#include "base/flat.h"

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
  if (f->len < f->cap / 2) { /* copy only what is used */
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

int pai__flat_add(pai__flat *f, const pai_alloc *alloc, const void *element)
{
  if (pai__flat_reserve(f, alloc, 1) < 0)
    return PAI_ENOMEM;
  memcpy((char *)f->data + (size_t)f->len++ * f->size, element, f->size);
  return PAI_OK;
}

int pai__flat_reset(pai__flat *f, const pai_alloc *alloc, uint32_t n)
{
  f->len = 0;
  if (pai__flat_reserve(f, alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(f, n);
  return PAI_OK;
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

/* Returns the size class of a block.  Blocks of up to 16 words have their
 * exact size, larger ones the next power of two, so that blocks can be
 * reused. */
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
  uint64_t key; /* 0: empty */
  uint64_t value;
} entry;

_Static_assert(sizeof(entry) == 2 * sizeof(uint64_t), "as sched.c makes them");

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
  if (pai__flat_reserve(&bigger.slots, alloc, n) < 0 ||
      bigger.slots.data == NULL) /* n overflowed to 0 */
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

/* Later entries move up, so that no tombstone is needed. */
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

uint32_t pai__lookup_push(pai__lookup *x, pai__flat *list,
                          const pai_alloc *alloc, uint64_t key)
{
  uint32_t known = pai__lookup_get(x, key);

  if (known != PAI__NONE)
    return known;
  if (pai__flat_reserve(list, alloc, 1) < 0 ||
      pai__lookup_reserve(x, alloc) < 0)
    return PAI__NONE;
  pai__lookup_add(x, key, list->len);
  return pai__flat_push(list, 1);
}

uint32_t pai__lookup_intern(pai__lookup *x, pai__flat *list,
                            const pai_alloc *alloc, const void *element,
                            size_t words)
{
  uint64_t hash = 1, key, word, n = 0;
  uint32_t i;

  for (size_t k = 0; k < words; k++) {
    memcpy(&word, (const char *)element + k * sizeof(word), sizeof(word));
    hash = pai__mix(hash, word);
  }
  /* Anybody may forge a hash, so equal ones have different keys. */
  for (key = hash | 1;; key = pai__mix(hash, ++n) | 1) {
    i = pai__lookup_get(x, key);
    if (i == PAI__NONE)
      break;
    if (memcmp((char *)list->data + (size_t)i * list->size, element,
               words * sizeof(word)) == 0)
      return i;
  }
  i = pai__lookup_push(x, list, alloc, key);
  if (i != PAI__NONE)
    memcpy((char *)list->data + (size_t)i * list->size, element, list->size);
  return i;
}

void pai__lookup_clear(pai__lookup *x)
{
  if (x->slots.len != 0)
    memset(x->slots.data, 0, (size_t)x->slots.len * sizeof(entry));
  x->live = 0;
}

/* --- names ---------------------------------------------------------------- */

typedef struct text_entry {
  uint32_t at;    /* index in `chars` */
  uint32_t older; /* next string with the same hash, or PAI__NONE */
} text_entry;

_Static_assert(sizeof(text_entry) == 2 * sizeof(uint32_t),
               "as sched.c makes them");

void pai__texts_init(pai__texts *n)
{
  pai__flat_init(&n->list, sizeof(text_entry));
  pai__flat_init(&n->chars, 1);
  pai__lookup_init(&n->index);
}

void pai__texts_dispose(pai__texts *n, const pai_alloc *alloc)
{
  pai__flat_dispose(&n->list, alloc);
  pai__flat_dispose(&n->chars, alloc);
  pai__flat_dispose(&n->index.slots, alloc);
}

static uint64_t hash_of_text(const char *s)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);

  for (; *s != '\0'; s++)
    h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
  return h | 1;
}

const char *pai__texts_text(const pai__texts *n, uint32_t i)
{
  return i == PAI__NONE
           ? NULL
           : (char *)n->chars.data + ((text_entry *)n->list.data)[i].at;
}

static uint32_t find_text(const pai__texts *n, const char *s, uint64_t hash)
{
  uint32_t i = pai__lookup_get(&n->index, hash);

  while (i != PAI__NONE && strcmp(pai__texts_text(n, i), s) != 0)
    i = ((text_entry *)n->list.data)[i].older;
  return i;
}

uint32_t pai__texts_find(const pai__texts *n, const char *s)
{
  return find_text(n, s, hash_of_text(s));
}

int pai__texts_add(pai__texts *n, const pai_alloc *alloc, const char *s,
                   uint32_t *out)
{
  uint64_t hash;
  uint32_t size, older;

  *out = PAI__NONE;
  if (s == NULL)
    return PAI_OK;
  hash = hash_of_text(s);
  *out = find_text(n, s, hash);
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
  ((text_entry *)n->list.data)[*out] =
    (text_entry){ pai__flat_push(&n->chars, size), older };
  memcpy((char *)n->chars.data + ((text_entry *)n->list.data)[*out].at, s,
         size);
  pai__lookup_add(&n->index, hash, *out);
  return PAI_OK;
}
