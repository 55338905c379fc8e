/* cluster_model.c - building and searching the model of a cluster */
#include "sched/cluster_model.h"

#include "resource/bits.h"
#include "resource/cells.h"

#include <stdlib.h>

typedef struct making {
  pai__sched_cluster *cluster;
  const pai_cluster *c;
  pai_error **err;
} making;

static void *take(making *m, size_t n, size_t size)
{
  return pai__arena_zalloc(&m->cluster->arena, n != 0 ? n : 1, size);
}

static const char *keep(making *m, const char *s)
{
  return pai__arena_strndup(&m->cluster->arena, s, strlen(s));
}

/* --- nodes ---------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
  const pai__sched_locality *x = a, *y = b;

  return x->gpus < y->gpus ? -1 : x->gpus > y->gpus;
}

/* Returns whether equal groups of the GPUs belong to NUMA nodes, and no level
 * is named so. */
static bool has_numa(const pai__sku *sku)
{
  for (uint32_t i = 0; i < sku->nnear; i++)
    if (strcmp(sku->near[i].name, "numa") == 0)
      return false;
  return sku->numa > 1 && sku->gpus > sku->numa && sku->gpus % sku->numa == 0;
}

static int make_sku(making *m, const pai__sku *sku, pai__sched_sku *b)
{
  uint64_t *kinds = take(m, m->c->nkinds, sizeof(*kinds));
  pai__sched_locality *localities =
    take(m, sku->nnear + 1, sizeof(*localities));
  uint32_t at = 0, n = 0;

  b->name = keep(m, sku->name);
  if (kinds == NULL || localities == NULL || b->name == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < sku->ngroups; i++)
    for (uint32_t k = 0; k < sku->groups[i].count; k++)
      kinds[sku->groups[i].kind] |= UINT64_C(1) << at++;
  for (; n < sku->nnear; n++) {
    localities[n] =
      (pai__sched_locality){ keep(m, sku->near[n].name), sku->near[n].gpus };
    if (localities[n].name == NULL)
      return PAI_ENOMEM;
  }
  if (has_numa(sku))
    localities[n++] = (pai__sched_locality){ "numa", sku->gpus / sku->numa };
  qsort(localities, n, sizeof(*localities), by_size);
  b->kinds = kinds;
  b->localities = localities;
  b->nlocalities = n;
  b->gpus = sku->gpus;
  b->all = at == 64 ? UINT64_MAX : (UINT64_C(1) << at) - 1;
  b->numa = sku->numa;
  b->cpus = sku->cpus;
  b->first_cpu = sku->used_cpus < sku->cpus ? sku->used_cpus : 0;
  b->cpu_words = (sku->cpus + 63) / 64;
  b->memory = sku->memory > sku->used_memory ? sku->memory - sku->used_memory
                                             : sku->memory;
  return PAI_OK;
}

static int make_skus(making *m)
{
  const pai_cluster *c = m->c;
  pai__sched_sku *skus = take(m, c->nskus, sizeof(*skus));
  int rc = skus != NULL ? PAI_OK : PAI_ENOMEM;

  for (size_t i = 0; i < c->nskus && rc == PAI_OK; i++) {
    if (c->skus[i].gpus > 64 || c->skus[i].cpus > PAI_ALLOCATION_CPUS)
      return pai__fail(m->err, PAI_ELIMIT,
                       "a scheduler takes nodes of up to 64 GPUs and %d CPUs, "
                       "and those of SKU '%s' have %u and %u",
                       (int)PAI_ALLOCATION_CPUS, c->skus[i].name,
                       c->skus[i].gpus, c->skus[i].cpus);
    rc = make_sku(m, &c->skus[i], &skus[i]);
  }
  m->cluster->skus = skus;
  m->cluster->nskus = (uint32_t)c->nskus;
  return rc;
}

static int make_nodes(making *m)
{
  const pai_cluster *c = m->c;
  pai__sched_cluster *cluster = m->cluster;
  pai__sched_node *nodes = take(m, c->nnodes, sizeof(*nodes));
  uint16_t *numbers = take(m, c->ngpus, sizeof(*numbers));
  uint32_t *by_name = take(m, c->nnodes, sizeof(*by_name));

  if (nodes == NULL || numbers == NULL || by_name == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->nnodes; i++) {
    nodes[i] = (pai__sched_node){ keep(m, c->nodes[i].name), c->nodes[i].sku,
                                  c->nodes[i].rack, cluster->cpu_words,
                                  c->nodes[i].first_gpu };
    if (nodes[i].name == NULL)
      return PAI_ENOMEM;
    cluster->cpu_words += cluster->skus[c->nodes[i].sku].cpu_words;
    by_name[i] = c->by_name != NULL ? c->by_name[i] : (uint32_t)i;
  }
  for (size_t i = 0; i < c->ngpus; i++)
    numbers[i] = c->gpus[i].number;
  cluster->nodes = nodes;
  cluster->numbers = numbers;
  cluster->by_name = by_name;
  cluster->nnodes = (uint32_t)c->nnodes;
  return PAI_OK;
}

/* A counting sort, so that nodes of a rack keep their order. */
static int make_racks(making *m)
{
  const pai_cluster *c = m->c;
  uint32_t *first = take(m, c->nracks + 2, sizeof(*first));
  uint32_t *by_rack = take(m, c->nnodes, sizeof(*by_rack));

  if (first == NULL || by_rack == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].rack != PAI__NOTHING)
      first[c->nodes[i].rack + 2]++;
  for (size_t i = 2; i < c->nracks + 2; i++)
    first[i] += first[i - 1];
  for (uint32_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].rack != PAI__NOTHING)
      by_rack[first[c->nodes[i].rack + 1]++] = i;
  for (uint32_t i = 0, at = first[c->nracks]; i < c->nnodes; i++)
    if (c->nodes[i].rack == PAI__NOTHING)
      by_rack[at++] = i;
  m->cluster->by_rack = by_rack;
  m->cluster->rack_first = first;
  return PAI_OK;
}

static int make_names(making *m)
{
  const char **kinds = take(m, m->c->nkinds, sizeof(*kinds));
  const char **racks = take(m, m->c->nracks, sizeof(*racks));

  if (kinds == NULL || racks == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < m->c->nkinds; i++)
    if ((kinds[i] = keep(m, m->c->kinds[i].name)) == NULL)
      return PAI_ENOMEM;
  for (size_t i = 0; i < m->c->nracks; i++)
    if ((racks[i] = keep(m, m->c->racks[i])) == NULL)
      return PAI_ENOMEM;
  m->cluster->kinds = kinds;
  m->cluster->racks = racks;
  m->cluster->nkinds = (uint32_t)m->c->nkinds;
  m->cluster->nracks = (uint32_t)m->c->nracks;
  return PAI_OK;
}

/* --- pins ----------------------------------------------------------------- */

static pai__part part_of(const pai_cluster *c, const pai__cell *leaf)
{
  uint32_t bit = leaf->gpu - c->nodes[leaf->node].first_gpu;

  return (pai__part){ leaf->node, UINT64_C(1) << bit };
}

static bool is_leaf(const pai_cluster *c, size_t cell)
{
  return c->cells[cell].gpu != PAI__NOTHING;
}

/* Collects the GPUs of a cell, merged by node.  Returns the number of parts.
 * Within a cell the GPUs of a node are together, though a node may occur again
 * in another chain. */
static uint32_t find_parts(const pai_cluster *c, size_t cell, pai__part *parts)
{
  uint32_t n = 0;

  for (size_t i = cell; i < c->cells[cell].skip; i++) {
    pai__part part;

    if (!is_leaf(c, i))
      continue;
    part = part_of(c, &c->cells[i]);
    if (n != 0 && parts[n - 1].node == part.node)
      parts[n - 1].gpus |= part.gpus;
    else
      parts[n++] = part;
  }
  return n;
}

static int by_node(const void *a, const void *b)
{
  const pai__part *x = a, *y = b;

  return x->node < y->node ? -1 : x->node > y->node;
}

static size_t count_leaves(const pai_cluster *c, size_t cell)
{
  size_t n = 0;

  for (size_t i = cell; i < c->cells[cell].skip; i++)
    n += is_leaf(c, i);
  return n;
}

/* Makes pins of pinned cells, and of the pinned nodes of a cluster without
 * cells. */
static int make_pins(making *m)
{
  const pai_cluster *c = m->c;
  pai__sched_cluster *cluster = m->cluster;
  size_t npins = 0, nparts = 0;
  pai__sched_pin *pins;
  pai__part *parts;

  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL) {
      npins++;
      nparts += count_leaves(c, i);
    }
  for (size_t i = 0; i < c->nnodes; i++)
    npins += c->nodes[i].pin != NULL;
  pins = take(m, npins, sizeof(*pins));
  parts = take(m, nparts + c->nnodes, sizeof(*parts));
  if (pins == NULL || parts == NULL)
    return PAI_ENOMEM;
  cluster->pins = pins;
  cluster->parts = parts;
  nparts = 0;
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL) {
      pai__sched_pin *p = &pins[cluster->npins++];
      *p = (pai__sched_pin){ keep(m, c->cells[i].pin), (uint32_t)nparts, 0 };
      p->count = find_parts(c, i, &parts[nparts]);
      qsort(&parts[nparts], p->count, sizeof(*parts), by_node);
      nparts += p->count;
    }
  for (size_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].pin != NULL &&
        pai__sched_cluster_pin(cluster, c->nodes[i].pin) == PAI__NONE) {
      parts[nparts] =
        (pai__part){ (uint32_t)i, cluster->skus[c->nodes[i].sku].all };
      pins[cluster->npins++] =
        (pai__sched_pin){ keep(m, c->nodes[i].pin), (uint32_t)nparts++, 1 };
    }
  for (uint32_t i = 0; i < cluster->npins; i++)
    if (pins[i].name == NULL)
      return PAI_ENOMEM;
  return PAI_OK;
}

/* --- virtual clusters ----------------------------------------------------- */

static void add_share(const making *m, const pai__type_facts *facts,
                      const pai__share *s, uint64_t *gpus)
{
  const pai_cluster *c = m->c;
  const char *dot;
  uint32_t type, kind;
  size_t cell = 0;

  if (s->pin != NULL) {
    while (cell < c->ncells && (c->cells[cell].pin == NULL ||
                                strcmp(c->cells[cell].pin, s->pin) != 0))
      cell++;
    if (cell == c->ncells)
      return;
    type = c->cells[cell].type;
  } else {
    dot = strrchr(s->path, '.');
    dot = dot != NULL ? dot + 1 : s->path;
    type = pai__cluster_find_type(c, dot, strlen(dot));
    if (type == PAI__NOTHING)
      return;
  }
  dot = c->types[facts[type].leaf].name;
  kind = pai__cluster_find_kind(c, dot, strlen(dot));
  if (kind != PAI__NOTHING)
    gpus[kind] += facts[type].leaves * (s->pin != NULL ? 1 : s->count);
}

static int count_cells(making *m, const pai__type_facts *facts, size_t vc,
                       pai__sched_vc *t)
{
  const pai__vc *v = &m->c->vcs[vc];
  uint64_t *gpus = take(m, m->c->nkinds, sizeof(*gpus));

  if (gpus == NULL)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < v->nshares; k++)
    add_share(m, facts, &v->shares[k], gpus);
  t->shares = t->own = gpus;
  t->nshares = (uint32_t)m->c->nkinds;
  return PAI_OK;
}

static void add_amount(uint64_t *sum, uint64_t n)
{
  *sum = n < PAI__NO_LIMIT - *sum ? *sum + n : PAI__NO_LIMIT;
}

/* Returns what all nodes have, in the order of shares. */
static const uint64_t *sum_up(making *m)
{
  const pai__sched_cluster *cluster = m->cluster;
  uint64_t *sums = take(m, pai__sched_cluster_shares(cluster), sizeof(*sums));

  for (uint32_t i = 0; sums != NULL && i < cluster->nnodes; i++) {
    const pai__sched_sku *b = pai__sched_sku_of(cluster, i);

    for (uint32_t k = 0; k < cluster->nkinds; k++)
      sums[k] += pai__bits_ones(b->kinds[k]);
    if (b->cpus > b->first_cpu)
      add_amount(&sums[cluster->nkinds + PAI__SHARE_CPUS],
                 b->cpus - b->first_cpu);
    add_amount(&sums[cluster->nkinds + PAI__SHARE_MEMORY], b->memory);
  }
  return sums;
}

static uint64_t cpu_millis(uint64_t cpus)
{
  return cpus < PAI__NO_LIMIT / PAI__CPU ? cpus * PAI__CPU : PAI__NO_LIMIT;
}

static int count_part(making *m, const uint64_t *sums, size_t vc,
                      pai__sched_vc *t)
{
  uint32_t n = pai__sched_cluster_shares(m->cluster);
  uint64_t *own = take(m, n, sizeof(*own)), *most = take(m, n, sizeof(*most));

  if (own == NULL || most == NULL || sums == NULL)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < n; k++) {
    own[k] = pai__part_amount(m->c, vc, sums[k], false);
    most[k] = pai__part_amount(m->c, vc, sums[k], true);
    if (k ==
        m->cluster->nkinds + PAI__SHARE_CPUS) { /* parts are of whole CPUs */
      own[k] = cpu_millis(own[k]);
      most[k] = cpu_millis(most[k]);
    }
    if (sums[k] == 0 && k >= m->cluster->nkinds)
      own[k] = most[k] = PAI__NO_LIMIT;
  }
  t->own = own;
  t->shares = most;
  t->nshares = n;
  t->parted = true;
  return PAI_OK;
}

static int make_vcs(making *m)
{
  const pai_cluster *c = m->c;
  size_t n = c->nvcs != 0 ? c->nvcs : 1;
  pai__sched_vc *vcs = take(m, n, sizeof(*vcs));
  pai__type_facts *facts = take(m, c->ntypes, sizeof(*facts));
  const uint64_t *sums = sum_up(m);
  int rc = PAI_OK;

  if (vcs == NULL || facts == NULL)
    return PAI_ENOMEM;
  m->cluster->vcs = vcs;
  m->cluster->nvcs = (uint32_t)n;
  if (c->nvcs == 0) {
    vcs[0].name = "default";
    return PAI_OK;
  }
  pai__cells_facts(c, facts);
  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    vcs[i] = (pai__sched_vc){ .name = keep(m, c->vcs[i].name),
                              .stopped = c->vcs[i].stopped };
    if (vcs[i].name == NULL)
      return PAI_ENOMEM;
    rc = c->vcs[i].parted ? count_part(m, sums, i, &vcs[i])
                          : count_cells(m, facts, i, &vcs[i]);
  }
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

int pai__collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

static int make(making *m)
{
  int rc = make_skus(m);

  if (rc == PAI_OK)
    rc = make_nodes(m);
  if (rc == PAI_OK)
    rc = make_racks(m);
  if (rc == PAI_OK)
    rc = make_names(m);
  if (rc == PAI_OK)
    rc = make_pins(m);
  return rc == PAI_OK ? make_vcs(m) : rc;
}

int pai__sched_cluster_new(pai__sched_cluster **out, const pai_cluster *c,
                           const pai_alloc *alloc, pai_error **err)
{
  pai__sched_cluster *cluster = pai__zalloc(alloc, sizeof(*cluster));
  making m = { cluster, c, err };
  pai__buf text;
  int rc;

  *out = NULL;
  if (cluster == NULL)
    return pai__oom(err);
  cluster->alloc = *alloc;
  atomic_init(&cluster->owners, 1);
  pai__arena_init(&cluster->arena, &cluster->alloc);
  rc = make(&m);
  if (rc == PAI_OK) {
    pai__buf_init(&text, &cluster->alloc);
    rc = pai_cluster_write(c, PAI_FORMAT_JSON, pai__collect, &text, err);
    cluster->text_len = text.len;
    cluster->text = pai__buf_take(&text);
    if (cluster->text == NULL)
      rc = PAI_ENOMEM;
  }
  if (rc < 0) {
    pai__sched_cluster_unref(cluster);
    return rc == PAI_ENOMEM ? pai__oom(err) : rc;
  }
  *out = cluster;
  return PAI_OK;
}

pai__sched_cluster *pai__sched_cluster_ref(pai__sched_cluster *cluster)
{
  atomic_fetch_add_explicit(&cluster->owners, 1, memory_order_relaxed);
  return cluster;
}

void pai__sched_cluster_unref(pai__sched_cluster *cluster)
{
  pai_alloc alloc;

  if (cluster == NULL || atomic_fetch_sub_explicit(&cluster->owners, 1,
                                                   memory_order_acq_rel) != 1)
    return;
  alloc = cluster->alloc;
  pai__strfree(&alloc, cluster->text);
  pai__arena_dispose(&cluster->arena);
  pai__free(&alloc, cluster, sizeof(*cluster));
}

/* --- searching ------------------------------------------------------------ */

uint32_t pai__sched_cluster_node(const pai__sched_cluster *cluster,
                                 const char *name)
{
  uint32_t low = 0, high = cluster->nnodes;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2, node = cluster->by_name[middle];
    int order = strcmp(cluster->nodes[node].name, name);

    if (order == 0)
      return node;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return PAI__NONE;
}

uint32_t pai__sched_cluster_vc(const pai__sched_cluster *cluster,
                               const char *name)
{
  for (uint32_t i = 0; i < cluster->nvcs; i++)
    if (strcmp(cluster->vcs[i].name, name) == 0)
      return i;
  return PAI__NONE;
}

uint32_t pai__sched_cluster_default(const pai__sched_cluster *cluster,
                                    const char *vc)
{
  uint32_t vc_index =
    pai__sched_cluster_vc(cluster, vc != NULL ? vc : "default");

  return vc_index == PAI__NONE && vc == NULL && cluster->nvcs == 1 ? 0
                                                                   : vc_index;
}

uint32_t pai__sched_cluster_pin(const pai__sched_cluster *cluster,
                                const char *name)
{
  for (uint32_t i = 0; i < cluster->npins; i++)
    if (strcmp(cluster->pins[i].name, name) == 0)
      return i;
  return PAI__NONE;
}

uint32_t pai__sched_cluster_type(const pai__sched_cluster *cluster,
                                 const char *name)
{
  for (uint32_t i = 0; i < cluster->nkinds; i++)
    if (strcmp(cluster->kinds[i], name) == 0)
      return i;
  for (uint32_t i = 0; i < cluster->nskus; i++)
    if (strcmp(cluster->skus[i].name, name) == 0)
      return cluster->nkinds + i;
  return PAI__NONE;
}

uint64_t pai__sched_cluster_pinned(const pai__sched_cluster *cluster,
                                   uint32_t pin, uint32_t node)
{
  const pai__sched_pin *p = &cluster->pins[pin];
  uint32_t low = p->first, high = p->first + p->count;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (cluster->parts[middle].node == node)
      return cluster->parts[middle].gpus;
    if (cluster->parts[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

bool pai__sched_sku_is_plain(const pai__sched_cluster *cluster,
                             const pai__sched_sku *b)
{
  uint32_t k = 0;

  while (k < cluster->nkinds && b->kinds[k] != b->all)
    k++;
  return k < cluster->nkinds || b->all == 0;
}
