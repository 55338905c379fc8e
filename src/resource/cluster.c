/* cluster.c - fill a cluster, end it, and the public views of it */
#include "base/text/utf8.h"
#include "resource/cluster.h"

#include <stdlib.h>

/* --- beginning and end ---------------------------------------------------- */

int pai__cluster_new(pai_cluster **out, const pai_alloc *alloc)
{
  pai_cluster *c = pai__zalloc(alloc, sizeof(*c));

  *out = c;
  if (c == NULL)
    return PAI_ENOMEM;
  c->alloc = *alloc;
  c->name = c->form = "";
  pai__arena_init(&c->arena, &c->alloc);
  pai__map_init(&c->rack_index, &c->alloc);
  pai__map_init(&c->sku_index, &c->alloc);
  return PAI_OK;
}

void pai_cluster_free(pai_cluster *c)
{
  pai_alloc alloc;

  if (c == NULL)
    return;
  alloc = c->alloc;
  for (size_t i = 0; i < c->nnodes && c->nsick > 0; i++)
    (void)pai__cluster_set_sick(c, &c->nodes[i].sick, NULL);
  for (size_t i = 0; i < c->ngpus && c->nsick > 0; i++)
    (void)pai__cluster_set_sick(c, &c->gpus[i].sick, NULL);
  pai__free(&alloc, c->by_name, c->nnodes * sizeof(*c->by_name));
  pai__free(&alloc, c->kinds, c->kind_cap * sizeof(*c->kinds));
  pai__free(&alloc, c->skus, c->sku_cap * sizeof(*c->skus));
  pai__free(&alloc, (void *)c->racks, c->rack_cap * sizeof(*c->racks));
  pai__free(&alloc, c->nodes, c->node_cap * sizeof(*c->nodes));
  pai__free(&alloc, c->gpus, c->gpu_cap * sizeof(*c->gpus));
  pai__free(&alloc, c->vcs, c->vc_cap * sizeof(*c->vcs));
  pai__free(&alloc, c->types, c->type_cap * sizeof(*c->types));
  pai__free(&alloc, c->cells, c->cell_cap * sizeof(*c->cells));
  pai__map_dispose(&c->rack_index);
  pai__map_dispose(&c->sku_index);
  pai__arena_dispose(&c->arena);
  pai__free(&alloc, c, sizeof(*c));
}

const char *pai__cluster_text(pai_cluster *c, const char *s, size_t len)
{
  return pai__arena_strndup(&c->arena, s, len);
}

/* --- finding -------------------------------------------------------------- */

static bool is_called(const char *name, const char *s, size_t len)
{
  return strlen(name) == len && memcmp(name, s, len) == 0;
}

/* These lists are short, so a linear search is enough. */
uint32_t pai__cluster_find_kind(const pai_cluster *c, const char *name,
                                size_t len)
{
  for (size_t i = 0; i < c->nkinds; i++)
    if (is_called(c->kinds[i].name, name, len))
      return (uint32_t)i;
  return PAI__NOTHING;
}

uint32_t pai__cluster_find_sku(const pai_cluster *c, const char *name,
                               size_t len)
{
  uintptr_t known = (uintptr_t)pai__map_get(&c->sku_index, name, len);

  return known != 0 ? (uint32_t)known - 1 : PAI__NOTHING;
}

uint32_t pai__cluster_find_type(const pai_cluster *c, const char *name,
                                size_t len)
{
  for (size_t i = 0; i < c->ntypes; i++)
    if (is_called(c->types[i].name, name, len))
      return (uint32_t)i;
  return PAI__NOTHING;
}

static const char *name_at(const pai_cluster *c, size_t place)
{
  return c->nodes[c->by_name != NULL ? c->by_name[place] : place].name;
}

int pai_cluster_find_node(const pai_cluster *c, const char *name, size_t *node)
{
  size_t from = 0, to;

  PAI__CHECK_ARG(c != NULL && name != NULL && node != NULL);
  to = c->nnodes;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    int order = strcmp(name_at(c, middle), name);

    if (order == 0) {
      *node = c->by_name != NULL ? c->by_name[middle] : middle;
      return PAI_OK;
    }
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return PAI_ENOTFOUND;
}

/* --- filling -------------------------------------------------------------- */

int pai__cluster_add_kind(pai_cluster *c, const pai__gpu_kind *kind,
                          uint32_t *index)
{
  if (PAI__VEC_ROOM(&c->alloc, c->kinds, c->nkinds, c->kind_cap) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->nkinds;
  c->kinds[c->nkinds++] = *kind;
  return PAI_OK;
}

/* Makes the template for the GPUs of a new node of a SKU. */
static const pai__gpu *make_fresh(pai_cluster *c, const pai__sku *s)
{
  pai__gpu *fresh = pai__arena_zalloc(&c->arena, s->gpus + 1, sizeof(*fresh)),
           *g = fresh;

  for (uint32_t i = 0; fresh != NULL && i < s->ngroups; i++)
    for (uint32_t k = 0; k < s->groups[i].count; k++, g++) {
      g->number = (uint16_t)(g - fresh);
      g->kind = (uint16_t)s->groups[i].kind;
    }
  return fresh;
}

/* Appends a number to a name that another SKU has; returns NULL if memory is
 * short. */
static const char *free_name(pai_cluster *c, pai__buf *name)
{
  const char *copy = NULL;
  size_t len = name->len;

  for (unsigned n = 2;
       pai__buf_ok(name) && pai__cluster_find_sku(c, pai__buf_text(name),
                                                  name->len) != PAI__NOTHING;
       n++) {
    pai__buf_cut(name, len);
    pai__buf_printf(name, "-%u", n);
  }
  if (pai__buf_ok(name))
    copy = pai__cluster_text(c, pai__buf_text(name), name->len);
  return copy;
}

/* Names of cells contain names of SKUs, where a '.' or '/' would be a
 * separator.  Replaces both by '-', and makes the name unique. */
static const char *plain_name(pai_cluster *c, const char *name)
{
  pai__buf b;

  if (strpbrk(name, "./") == NULL &&
      pai__cluster_find_sku(c, name, strlen(name)) == PAI__NOTHING)
    return name;
  pai__buf_init(&b, &c->alloc);
  for (; *name != '\0'; name++)
    pai__buf_char(&b, *name == '.' || *name == '/' ? '-' : *name);
  name = free_name(c, &b);
  pai__buf_dispose(&b);
  return name;
}

int pai__cluster_add_sku(pai_cluster *c, const pai__sku *sku, uint32_t *index)
{
  pai__sku *added;

  if (PAI__VEC_ROOM(&c->alloc, c->skus, c->nskus, c->sku_cap) < 0)
    return PAI_ENOMEM;
  added = &c->skus[c->nskus];
  *added = *sku;
  added->gpus = 0;
  for (uint32_t i = 0; i < sku->ngroups; i++)
    added->gpus += sku->groups[i].count;
  if (added->numa == 0)
    added->numa = 1;
  added->name = plain_name(c, sku->name);
  added->fresh = make_fresh(c, added);
  if (added->name == NULL || added->fresh == NULL ||
      pai__map_set(&c->sku_index, added->name, strlen(added->name),
                   (void *)(uintptr_t)(c->nskus + 1)) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->nskus++;
  return PAI_OK;
}

int pai__cluster_add_vc(pai_cluster *c, const pai__vc *vc)
{
  if (PAI__VEC_ROOM(&c->alloc, c->vcs, c->nvcs, c->vc_cap) < 0)
    return PAI_ENOMEM;
  c->vcs[c->nvcs++] = *vc;
  return PAI_OK;
}

int pai__cluster_add_type(pai_cluster *c, const pai__cell_type *type)
{
  if (PAI__VEC_ROOM(&c->alloc, c->types, c->ntypes, c->type_cap) < 0)
    return PAI_ENOMEM;
  c->types[c->ntypes++] = *type;
  return PAI_OK;
}

int pai__cluster_add_cell(pai_cluster *c, const pai__cell *cell)
{
  if (PAI__VEC_ROOM(&c->alloc, c->cells, c->ncells, c->cell_cap) < 0)
    return PAI_ENOMEM;
  c->cells[c->ncells++] = *cell;
  return PAI_OK;
}

int pai__cluster_rack(pai_cluster *c, const char *name, size_t len,
                      uint32_t *index)
{
  void *known;
  const char *copy;

  if (c->nracks > 0 && is_called(c->racks[c->nracks - 1], name, len)) {
    *index = (uint32_t)c->nracks - 1; /* nodes usually come rack by rack */
    return PAI_OK;
  }
  known = pai__map_get(&c->rack_index, name, len);
  if (known != NULL) {
    *index = (uint32_t)(uintptr_t)known - 1;
    return PAI_OK;
  }
  copy = pai__cluster_text(c, name, len);
  if (copy == NULL ||
      PAI__VEC_ROOM(&c->alloc, c->racks, c->nracks, c->rack_cap) < 0 ||
      pai__map_set(&c->rack_index, name, len,
                   (void *)(uintptr_t)(c->nracks + 1)) < 0)
    return PAI_ENOMEM;
  *index = (uint32_t)c->nracks;
  c->racks[c->nracks++] = copy;
  return PAI_OK;
}

/* Reserves memory for n elements; never shrinks. */
static int reserve(const pai_alloc *a, void *vec, size_t *cap, size_t n,
                   size_t size)
{
  void **p = vec, *more;

  if (n <= *cap)
    return PAI_OK;
  more = pai__realloc(a, *p, *cap, n, size);
  if (more == NULL)
    return PAI_ENOMEM;
  *p = more;
  *cap = n;
  return PAI_OK;
}

int pai__cluster_reserve(pai_cluster *c, size_t nodes, size_t gpus)
{
  if (reserve(&c->alloc, (void *)&c->nodes, &c->node_cap, nodes,
              sizeof(*c->nodes)) < 0)
    return PAI_ENOMEM;
  return reserve(&c->alloc, (void *)&c->gpus, &c->gpu_cap, gpus,
                 sizeof(*c->gpus));
}

/* Grows by half, so that adding one does not copy each time. */
static int grow_gpus(pai_cluster *c, size_t more)
{
  size_t need = c->ngpus + more;

  if (need <= c->gpu_cap)
    return PAI_OK;
  if (need < c->gpu_cap + c->gpu_cap / 2)
    need = c->gpu_cap + c->gpu_cap / 2;
  return reserve(&c->alloc, (void *)&c->gpus, &c->gpu_cap, need,
                 sizeof(*c->gpus));
}

int pai__cluster_add_node(pai_cluster *c, const char *name, uint32_t sku,
                          pai__member **node)
{
  const pai__sku *s = &c->skus[sku];

  if (PAI__VEC_ROOM(&c->alloc, c->nodes, c->nnodes, c->node_cap) < 0 ||
      grow_gpus(c, s->gpus) < 0)
    return PAI_ENOMEM;
  *node = &c->nodes[c->nnodes++];
  **node = (pai__member){ .name = name,
                          .sku = sku,
                          .rack = PAI__NOTHING,
                          .first_gpu = (uint32_t)c->ngpus };
  if (s->gpus > 0)
    memcpy(c->gpus + c->ngpus, s->fresh, s->gpus * sizeof(*c->gpus));
  c->ngpus += s->gpus;
  return PAI_OK;
}

/* Copies a text as one line that every form of a cluster can hold. */
static char *one_line(const pai_alloc *a, const char *s)
{
  size_t len = strlen(s);
  char *copy;

  if (len > PAI__LONGEST_REASON)
    for (len = PAI__LONGEST_REASON; len > 0 && !pai__utf8_first(s[len]);)
      len--;
  copy = pai__strndup(a, s, len);
  for (size_t i = 0; copy != NULL && i < len; i++)
    if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
      copy[i] = ' ';
  return copy;
}

int pai__cluster_set_sick(pai_cluster *c, char **sick, const char *why)
{
  char *copy = NULL;

  if (why != NULL && *why != '\0') {
    copy = one_line(&c->alloc, why);
    if (copy == NULL)
      return PAI_ENOMEM;
  }
  c->nsick += copy != NULL;
  c->nsick -= *sick != NULL;
  pai__strfree(&c->alloc, *sick);
  *sick = copy;
  return PAI_OK;
}

int pai_cluster_set_sick(pai_cluster *c, size_t node, long gpu,
                         const char *why)
{
  pai__member *m;

  PAI__CHECK_ARG(c != NULL);
  if (node >= c->nnodes || gpu < -1)
    return PAI_ENOTFOUND;
  m = &c->nodes[node];
  if (gpu < 0)
    return pai__cluster_set_sick(c, &m->sick, why);
  if ((unsigned long)gpu >= pai__sku_of(c, m)->gpus)
    return PAI_ENOTFOUND;
  return pai__cluster_set_sick(c, &c->gpus[m->first_gpu + (size_t)gpu].sick,
                               why);
}

/* --- the order of names --------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  const pai__named *x = a, *y = b;
  int order = strcmp(x->name, y->name);

  if (order != 0)
    return order;
  return x->index < y->index ? -1 : x->index > y->index;
}

void pai__sort_names(pai__named *list, size_t n)
{
  if (n > 1)
    qsort(list, n, sizeof(*list), by_name);
}

static bool is_sorted(const pai_cluster *c)
{
  for (size_t i = 1; i < c->nnodes; i++)
    if (strcmp(c->nodes[i - 1].name, c->nodes[i].name) >= 0)
      return false;
  return true;
}

static int find_same(const pai__named *list, size_t n, uint32_t same[2])
{
  for (size_t i = 1; i < n; i++)
    if (strcmp(list[i - 1].name, list[i].name) == 0) {
      same[0] = list[i - 1].index;
      same[1] = list[i].index;
      return PAI_EEXISTS;
    }
  return PAI_OK;
}

int pai__cluster_end(pai_cluster *c, uint32_t same[2])
{
  size_t n = c->nnodes;
  pai__named *list;
  int rc = PAI_ENOMEM;

  pai__map_dispose(&c->rack_index);
  pai__map_init(&c->rack_index, &c->alloc);
  if (is_sorted(c))
    return PAI_OK;
  list = pai__realloc(&c->alloc, NULL, 0, n, sizeof(*list));
  c->by_name = pai__realloc(&c->alloc, NULL, 0, n, sizeof(*c->by_name));
  if (list != NULL && c->by_name != NULL) {
    for (size_t i = 0; i < n; i++)
      list[i] = (pai__named){ c->nodes[i].name, (uint32_t)i };
    pai__sort_names(list, n);
    for (size_t i = 0; i < n; i++)
      c->by_name[i] = list[i].index;
    rc = find_same(list, n, same);
  }
  pai__free(&c->alloc, list, n * sizeof(*list));
  return rc;
}

/* --- public views -------------------------------------------------------- */

int pai_cluster_view_sums(const pai_cluster *c, pai_cluster_view *view)
{
  pai_cluster_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  v = (pai_cluster_view){ .name = c->name,
                          .form = c->form,
                          .nodes = c->nnodes,
                          .gpus = c->ngpus,
                          .racks = c->nracks,
                          .skus = c->nskus,
                          .virtual_clusters = c->nvcs };
  for (size_t i = 0; i < c->nnodes; i++) {
    const pai__member *m = &c->nodes[i];
    const pai__sku *s = pai__sku_of(c, m);

    v.cpus += s->cpus;
    v.memory +=
      s->memory < INT64_MAX - v.memory ? s->memory : INT64_MAX - v.memory;
    v.sick_nodes += m->sick != NULL;
    for (uint32_t k = 0; k < s->gpus; k++)
      v.sick_gpus += m->sick != NULL || c->gpus[m->first_gpu + k].sick != NULL;
  }
  return PAI__FILL_VIEW(view, v, pai_cluster_view, memory);
}

int pai_cluster_view_node(const pai_cluster *c, size_t node,
                          pai_node_view *view)
{
  const pai__member *m;
  pai_node_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (node >= c->nnodes)
    return PAI_ENOTFOUND;
  m = &c->nodes[node];
  v = (pai_node_view){ .name = m->name,
                       .address = m->address != NULL ? m->address : m->name,
                       .rack =
                         m->rack != PAI__NOTHING ? c->racks[m->rack] : NULL,
                       .sick = m->sick,
                       .pin = m->pin,
                       .sku = m->sku,
                       .gpus = pai__sku_of(c, m)->gpus,
                       .labels = m->nlabels };
  return PAI__FILL_VIEW(view, v, pai_node_view, labels);
}

int pai_cluster_view_gpu(const pai_cluster *c, size_t node, size_t gpu,
                         pai_node_gpu_view *view)
{
  const pai__member *m;
  const pai__gpu *g;
  pai_node_gpu_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (node >= c->nnodes)
    return PAI_ENOTFOUND;
  m = &c->nodes[node];
  if (gpu >= pai__sku_of(c, m)->gpus)
    return PAI_ENOTFOUND;
  g = &c->gpus[m->first_gpu + gpu];
  v = (pai_node_gpu_view){ .kind = c->kinds[g->kind].name,
                           .uuid = g->uuid,
                           .sick = m->sick != NULL ? m->sick : g->sick,
                           .number = g->number };
  return PAI__FILL_VIEW(view, v, pai_node_gpu_view, number);
}

int pai_cluster_view_sku(const pai_cluster *c, size_t sku, pai_sku_view *view)
{
  const pai__sku *s;
  pai_sku_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (sku >= c->nskus)
    return PAI_ENOTFOUND;
  s = &c->skus[sku];
  v = (pai_sku_view){ .name = s->name,
                      .gpus = s->gpus,
                      .numa = s->numa,
                      .near = s->nnear,
                      .cpus = s->cpus,
                      .memory = s->memory,
                      .used_cpus = s->used_cpus,
                      .used_memory = s->used_memory };
  if (s->ngroups == 1) {
    v.gpu = c->kinds[s->groups[0].kind].name;
    v.gpu_memory = c->kinds[s->groups[0].kind].memory;
  }
  for (size_t i = 0; i < c->nnodes; i++)
    v.nodes += c->nodes[i].sku == sku;
  return PAI__FILL_VIEW(view, v, pai_sku_view, used_memory);
}

int pai_cluster_view_vc(const pai_cluster *c, size_t vc, pai_vc_view *view)
{
  pai_vc_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (vc >= c->nvcs)
    return PAI_ENOTFOUND;
  v = (pai_vc_view){ .name = c->vcs[vc].name,
                     .shares = c->vcs[vc].parted ? 0 : c->vcs[vc].nshares,
                     .part = c->vcs[vc].part,
                     .most = c->vcs[vc].most,
                     .parted = c->vcs[vc].parted,
                     .rest = c->vcs[vc].rest,
                     .stopped = c->vcs[vc].stopped };
  return PAI__FILL_VIEW(view, v, pai_vc_view, shares);
}

int pai_cluster_view_share(const pai_cluster *c, size_t vc, size_t share,
                           pai_share_view *view)
{
  const pai__share *s;
  pai_share_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (vc >= c->nvcs || share >= c->vcs[vc].nshares)
    return PAI_ENOTFOUND;
  s = &c->vcs[vc].shares[share];
  v = (pai_share_view){ .cells = s->path, .pin = s->pin, .count = s->count };
  return PAI__FILL_VIEW(view, v, pai_share_view, count);
}

int pai_cluster_sku_near(const pai_cluster *c, size_t sku, size_t i,
                         const char **name, uint32_t *gpus)
{
  PAI__CHECK_ARG(c != NULL && name != NULL && gpus != NULL);
  if (sku >= c->nskus || i >= c->skus[sku].nnear)
    return PAI_ENOTFOUND;
  *name = c->skus[sku].near[i].name;
  *gpus = c->skus[sku].near[i].gpus;
  return PAI_OK;
}

int pai_cluster_node_label(const pai_cluster *c, size_t node, size_t i,
                           const char **key, const char **value)
{
  PAI__CHECK_ARG(c != NULL && key != NULL && value != NULL);
  if (node >= c->nnodes || i >= c->nodes[node].nlabels)
    return PAI_ENOTFOUND;
  *key = c->nodes[node].labels[i].key;
  *value = c->nodes[node].labels[i].value;
  return PAI_OK;
}
