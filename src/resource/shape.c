/* shape.c - make SKUs from what single nodes have */
#include "resource/shape.h"

enum { MOST_LOOKS = 64 }; /* compared SKUs that differ only in memory */

void pai__shapes_init(pai__shapes *s, pai_cluster *c)
{
  *s = (pai__shapes){ .c = c };
  pai__map_init(&s->by_key, &c->alloc);
  pai__map_init(&s->names, &c->alloc);
  pai__buf_init(&s->text, &c->alloc);
}

void pai__shapes_dispose(pai__shapes *s)
{
  pai__free(&s->c->alloc, s->skus, s->cap * sizeof(*s->skus));
  pai__map_dispose(&s->by_key);
  pai__map_dispose(&s->names);
  pai__buf_dispose(&s->text);
}

/* --- its key -------------------------------------------------------------- */

/* Writes a key of all fields but the memory. */
static void put_key(pai__buf *b, pai__piece name, const pai__sku *has)
{
  pai__buf_clear(b);
  pai__buf_printf(b, "%u %u %u", has->cpus, has->used_cpus, has->numa);
  for (uint32_t i = 0; i < has->ngroups; i++)
    pai__buf_printf(b, " %u:%u", has->groups[i].kind, has->groups[i].count);
  for (uint32_t i = 0; i < has->nnear; i++)
    pai__buf_printf(b, " %s:%u", has->near[i].name, has->near[i].gpus);
  pai__buf_char(b, '\n');
  if (name.s != NULL)
    pai__buf_add(b, name.s, name.len);
}

static bool is_near(uint64_t a, uint64_t b, uint64_t whole)
{
  return (a > b ? a - b : b - a) <= whole / 64;
}

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* Compares with the SKU's first node only, because a chain of small
 * differences could go on without end. */
static bool takes(const pai__shape_sku *first, pai__sku *sku,
                  const pai__sku *has)
{
  uint64_t left = has->memory - has->used_memory;

  if (!is_near(first->memory, has->memory, first->memory) ||
      !is_near(first->left, left, first->memory))
    return false;
  left = least(left, sku->memory - sku->used_memory);
  sku->memory = least(sku->memory, has->memory);
  sku->used_memory = sku->memory - least(sku->memory, left);
  return true;
}

/* --- its name ------------------------------------------------------------- */

/* Writes the requested name, if it is not too long; else one made from the
 * hardware: "h100-8", "cpu-64". */
static void put_name(pai__buf *b, const pai_cluster *c, pai__piece name,
                     const pai__sku *has)
{
  pai__buf_clear(b);
  if (name.s != NULL && name.len > 0 && name.len <= PAI__SHAPE_NAME) {
    pai__buf_add(b, name.s, name.len);
    return;
  }
  for (uint32_t i = 0; i < has->ngroups; i++) {
    const char *kind = c->kinds[has->groups[i].kind].name;

    if (i > 0 && b->len + strlen(kind) > PAI__SHAPE_NAME)
      return;
    pai__buf_printf(b, "%s%s-%u", i > 0 ? "-" : "", kind,
                    has->groups[i].count);
  }
  if (b->len == 0 && has->cpus > 0)
    pai__buf_printf(b, "cpu-%u", has->cpus);
  else if (b->len == 0)
    pai__buf_str(b, "node");
}

/* Makes the name unique among SKUs: "h100-8", "h100-8-2". */
static int make_unique(pai__shapes *s)
{
  size_t len = s->text.len;
  uintptr_t wanted =
    (uintptr_t)pai__map_get(&s->names, pai__buf_text(&s->text), len);

  if (!pai__buf_ok(&s->text))
    return PAI_ENOMEM;
  if (wanted > 0) {
    do {
      pai__buf_cut(&s->text, len);
      pai__buf_printf(&s->text, "-%u", (unsigned)++wanted);
    } while (pai__buf_ok(&s->text) &&
             pai__map_get(&s->names, s->text.data, s->text.len) != NULL);
    if (!pai__buf_ok(&s->text) ||
        pai__map_set(&s->names, s->text.data, len, (void *)wanted) < 0)
      return PAI_ENOMEM;
  }
  return pai__map_set(&s->names, s->text.data, s->text.len,
                      (void *)(uintptr_t)1);
}

/* --- making one ----------------------------------------------------------- */

static int fill_sku(pai__sku *sku, pai_cluster *c, const pai__sku *has,
                    const pai__buf *name)
{
  pai__gpu_group *groups =
    pai__arena_zalloc(&c->arena, has->ngroups + 1, sizeof(*groups));
  pai__gpu_locality *near =
    pai__arena_zalloc(&c->arena, has->nnear + 1, sizeof(*near));

  *sku = *has;
  sku->name = pai__cluster_text(c, name->data, name->len);
  sku->groups = groups;
  sku->near = near;
  if (groups == NULL || near == NULL || sku->name == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < has->ngroups; i++)
    groups[i] = has->groups[i];
  for (uint32_t i = 0; i < has->nnear; i++)
    near[i] = has->near[i];
  return PAI_OK;
}

static uint32_t add(pai__shapes *s, pai__piece name, const pai__sku *has,
                    uint32_t before)
{
  pai_cluster *c = s->c;
  pai__sku sku;
  uint32_t index;

  if (PAI__VEC_ROOM(&c->alloc, s->skus, c->nskus, s->cap) < 0)
    return PAI__NOTHING;
  s->skus[c->nskus] =
    (pai__shape_sku){ has->memory, has->memory - has->used_memory, before };
  put_key(&s->text, name, has);
  if (!pai__buf_ok(&s->text) ||
      pai__map_set(&s->by_key, s->text.data, s->text.len,
                   (void *)(uintptr_t)(c->nskus + 1)) < 0)
    return PAI__NOTHING;
  put_name(&s->text, c, name, has);
  if (make_unique(s) < 0 || fill_sku(&sku, c, has, &s->text) < 0 ||
      pai__cluster_add_sku(c, &sku, &index) < 0)
    return PAI__NOTHING;
  return index;
}

uint32_t pai__shapes_sku(pai__shapes *s, pai__piece name, const pai__sku *has)
{
  uint32_t first, sku;

  put_key(&s->text, name, has);
  if (!pai__buf_ok(&s->text))
    return PAI__NOTHING;
  first =
    (uint32_t)(uintptr_t)pai__map_get(&s->by_key, s->text.data, s->text.len);
  sku = first;
  for (int looks = 0; sku != 0 && looks < MOST_LOOKS; looks++) {
    if (takes(&s->skus[sku - 1], &s->c->skus[sku - 1], has))
      return sku - 1;
    sku = s->skus[sku - 1].before;
  }
  return add(s, name, has, first);
}
