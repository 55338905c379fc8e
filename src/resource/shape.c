/* shape.c - types of machines from what single machines have */
#include "resource/import.h"

enum {
  MOST_LOOKS = 64,   /* at SKUs that differ in nothing but their memory */
  LONGEST_NAME = 200 /* before "-2" and the like */
};

void pai__shapes_init(pai__shapes *s, const pai__reader *r)
{
  *s = (pai__shapes){ .skus = NULL };
  pai__map_init(&s->by_key, &r->c->alloc);
  pai__map_init(&s->names, &r->c->alloc);
  pai__buf_init(&s->text, &r->c->alloc);
}

void pai__shapes_dispose(pai__shapes *s, const pai__reader *r)
{
  pai__free(&r->c->alloc, s->skus, s->cap * sizeof(*s->skus));
  pai__map_dispose(&s->by_key);
  pai__map_dispose(&s->names);
  pai__buf_dispose(&s->text);
}

void pai__shape_add(pai__reader *r, pai__node at, pai__shape *shape,
                    uint32_t kind, uint32_t count, uint32_t sick)
{
  uint32_t i = 0;
  uint64_t all = count;

  for (uint32_t k = 0; k < shape->ngroups; k++)
    all += shape->groups[k].count;
  while (i < shape->ngroups && shape->groups[i].kind != kind)
    i++;
  if (all > PAI__NODE_MAX_GPUS || i == PAI__SHAPE_KINDS) {
    (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", at,
                    "a node cannot have more than %d GPUs of %d kinds",
                    PAI__NODE_MAX_GPUS, PAI__SHAPE_KINDS);
    return;
  }
  if (count == 0)
    return;
  if (i == shape->ngroups)
    shape->groups[shape->ngroups++] = (pai__gpu_group){ kind, 0 };
  shape->groups[i].count += count;
  shape->sick[i] += sick;
}

/* --- its key -------------------------------------------------------------- */

/* Of all but the memory. */
static void put_key(pai__buf *b, const pai__shape *shape)
{
  pai__buf_clear(b);
  pai__buf_printf(b, "%u %u %u", shape->cpus, shape->used_cpus, shape->numa);
  for (uint32_t i = 0; i < shape->ngroups; i++)
    pai__buf_printf(b, " %u:%u", shape->groups[i].kind,
                    shape->groups[i].count);
  pai__buf_char(b, '\n');
  pai__buf_add(b, shape->name.s, shape->name.len);
}

static bool is_near(uint64_t a, uint64_t b, uint64_t whole)
{
  return (a > b ? a - b : b - a) <= whole / 64;
}

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* The first node is the measure: what is near to what is near could go on for
 * ever. */
static bool takes(const pai__shape_sku *first, pai__sku *sku,
                  const pai__shape *shape)
{
  uint64_t left = shape->memory - shape->used_memory;

  if (!is_near(first->memory, shape->memory, first->memory) ||
      !is_near(first->left, left, first->memory))
    return false;
  left = least(left, sku->memory - sku->used_memory);
  sku->memory = least(sku->memory, shape->memory);
  sku->used_memory = sku->memory - least(sku->memory, left);
  return true;
}

/* --- its name ------------------------------------------------------------- */

/* The one it should have, if that leaves room; else what it has: "h100-8",
 * "cpu-64". */
static void put_name(pai__buf *b, const pai_cluster *c,
                     const pai__shape *shape)
{
  pai__buf_clear(b);
  if (shape->name.len > 0 && shape->name.len <= LONGEST_NAME) {
    pai__buf_add(b, shape->name.s, shape->name.len);
    return;
  }
  for (uint32_t i = 0; i < shape->ngroups; i++) {
    const char *kind = c->kinds[shape->groups[i].kind].name;

    if (i > 0 && b->len + strlen(kind) > LONGEST_NAME)
      return;
    pai__buf_printf(b, "%s%s-%u", i > 0 ? "-" : "", kind,
                    shape->groups[i].count);
  }
  if (b->len == 0 && shape->cpus > 0)
    pai__buf_printf(b, "cpu-%u", shape->cpus);
  else if (b->len == 0)
    pai__buf_str(b, "node");
}

/* Makes it one that no other SKU has: "h100-8", "h100-8-2". */
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

static int fill_sku(pai__sku *sku, pai_cluster *c, const pai__shape *shape,
                    const char *name, size_t len)
{
  pai__gpu_group *groups =
    pai__arena_zalloc(&c->arena, shape->ngroups + 1, sizeof(*groups));

  *sku = (pai__sku){ .name = pai__cluster_text(c, name, len),
                     .groups = groups,
                     .ngroups = shape->ngroups,
                     .numa = shape->numa,
                     .cpus = shape->cpus,
                     .used_cpus = shape->used_cpus,
                     .memory = shape->memory,
                     .used_memory = shape->used_memory };
  if (groups == NULL || sku->name == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < shape->ngroups; i++)
    groups[i] = shape->groups[i];
  return PAI_OK;
}

static uint32_t add(pai__shapes *s, pai_cluster *c, const pai__shape *shape,
                    uint32_t before)
{
  pai__sku sku;
  uint32_t index;

  if (PAI__VEC_ROOM(&c->alloc, s->skus, c->nskus, s->cap) < 0)
    return PAI__NOTHING;
  s->skus[c->nskus] =
    (pai__shape_sku){ shape->memory, shape->memory - shape->used_memory,
                      before };
  put_key(&s->text, shape);
  if (!pai__buf_ok(&s->text) ||
      pai__map_set(&s->by_key, s->text.data, s->text.len,
                   (void *)(uintptr_t)(c->nskus + 1)) < 0)
    return PAI__NOTHING;
  put_name(&s->text, c, shape);
  if (make_unique(s) < 0 ||
      fill_sku(&sku, c, shape, s->text.data, s->text.len) < 0 ||
      pai__cluster_add_sku(c, &sku, &index) < 0)
    return PAI__NOTHING;
  return index;
}

uint32_t pai__shapes_sku(pai__shapes *s, pai__reader *r,
                         const pai__shape *shape)
{
  uint32_t first, sku;

  put_key(&s->text, shape);
  if (!pai__buf_ok(&s->text)) {
    r->f->failed = true;
    return PAI__NOTHING;
  }
  first =
    (uint32_t)(uintptr_t)pai__map_get(&s->by_key, s->text.data, s->text.len);
  sku = first;
  for (int looks = 0; sku != 0 && looks < MOST_LOOKS; looks++) {
    if (takes(&s->skus[sku - 1], &r->c->skus[sku - 1], shape))
      return sku - 1;
    sku = s->skus[sku - 1].before;
  }
  sku = add(s, r->c, shape, first);
  r->f->failed |= sku == PAI__NOTHING;
  return sku;
}
