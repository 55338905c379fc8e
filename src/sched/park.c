/* park.c - what follows from a cluster, for a scheduler */
#include "sched/park.h"

#include "resource/bits.h"
#include "resource/cells.h"

#include <stdlib.h>

typedef struct making {
  pai__park *park;
  const pai_cluster *c;
  pai_error **err;
} making;

static void *take(making *m, size_t n, size_t size)
{
  return pai__arena_zalloc(&m->park->arena, n != 0 ? n : 1, size);
}

static const char *keep(making *m, const char *s)
{
  return pai__arena_strndup(&m->park->arena, s, strlen(s));
}

/* --- nodes ---------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
  const pai__near *x = a, *y = b;

  return x->gpus < y->gpus ? -1 : x->gpus > y->gpus;
}

/* Do equal groups of its GPUs belong to NUMA nodes? */
static bool has_numa(const pai__sku *sku)
{
  for (uint32_t i = 0; i < sku->nnear; i++)
    if (strcmp(sku->near[i].name, "numa") == 0)
      return false;
  return sku->numa > 1 && sku->gpus > sku->numa && sku->gpus % sku->numa == 0;
}

static int make_build(making *m, const pai__sku *sku, pai__build *b)
{
  uint64_t *kinds = take(m, m->c->nkinds, sizeof(*kinds));
  pai__near *near = take(m, sku->nnear + 1, sizeof(*near));
  uint32_t at = 0, n = 0;

  b->name = keep(m, sku->name);
  if (kinds == NULL || near == NULL || b->name == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < sku->ngroups; i++)
    for (uint32_t k = 0; k < sku->groups[i].count; k++)
      kinds[sku->groups[i].kind] |= UINT64_C(1) << at++;
  for (; n < sku->nnear; n++) {
    near[n] = (pai__near){ keep(m, sku->near[n].name), sku->near[n].gpus };
    if (near[n].name == NULL)
      return PAI_ENOMEM;
  }
  if (has_numa(sku))
    near[n++] = (pai__near){ "numa", sku->gpus / sku->numa };
  qsort(near, n, sizeof(*near), by_size);
  b->kinds = kinds;
  b->near = near;
  b->nnear = n;
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

static int make_builds(making *m)
{
  const pai_cluster *c = m->c;
  pai__build *builds = take(m, c->nskus, sizeof(*builds));
  int rc = builds != NULL ? PAI_OK : PAI_ENOMEM;

  for (size_t i = 0; i < c->nskus && rc == PAI_OK; i++) {
    if (c->skus[i].gpus > 64 || c->skus[i].cpus > PAI_ALLOCATION_CPUS)
      return pai__fail(m->err, PAI_ELIMIT,
                       "a scheduler takes nodes of up to 64 GPUs and %d CPUs, "
                       "and those of SKU '%s' have %u and %u",
                       (int)PAI_ALLOCATION_CPUS, c->skus[i].name,
                       c->skus[i].gpus, c->skus[i].cpus);
    rc = make_build(m, &c->skus[i], &builds[i]);
  }
  m->park->builds = builds;
  m->park->nbuilds = (uint32_t)c->nskus;
  return rc;
}

static int make_spots(making *m)
{
  const pai_cluster *c = m->c;
  pai__park *park = m->park;
  pai__spot *spots = take(m, c->nnodes, sizeof(*spots));
  uint16_t *numbers = take(m, c->ngpus, sizeof(*numbers));
  uint32_t *by_name = take(m, c->nnodes, sizeof(*by_name));

  if (spots == NULL || numbers == NULL || by_name == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < c->nnodes; i++) {
    spots[i] =
      (pai__spot){ keep(m, c->nodes[i].name), c->nodes[i].sku,
                   c->nodes[i].rack, park->cpu_words, c->nodes[i].first_gpu };
    if (spots[i].name == NULL)
      return PAI_ENOMEM;
    park->cpu_words += park->builds[c->nodes[i].sku].cpu_words;
    by_name[i] = c->by_name != NULL ? c->by_name[i] : (uint32_t)i;
  }
  for (size_t i = 0; i < c->ngpus; i++)
    numbers[i] = c->gpus[i].number;
  park->spots = spots;
  park->numbers = numbers;
  park->by_name = by_name;
  park->nspots = (uint32_t)c->nnodes;
  return PAI_OK;
}

/* Counted, so that each rack's nodes keep their order. */
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
  m->park->by_rack = by_rack;
  m->park->rack_first = first;
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
  m->park->kinds = kinds;
  m->park->racks = racks;
  m->park->nkinds = (uint32_t)m->c->nkinds;
  m->park->nracks = (uint32_t)m->c->nracks;
  return PAI_OK;
}

/* --- pins ----------------------------------------------------------------- */

/* The node that a leaf is in, and its bit. */
static pai__part part_of(const pai_cluster *c, const pai__cell *leaf)
{
  uint32_t bit = leaf->gpu - c->nodes[leaf->node].first_gpu;

  return (pai__part){ leaf->node, UINT64_C(1) << bit };
}

static bool is_leaf(const pai_cluster *c, size_t cell)
{
  return c->cells[cell].gpu != PAI__NOTHING;
}

/* Leaves of a cell, those of one node together; how many parts.  Nodes may
 * come again in another chain, not within a cell. */
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

/* Pinned cells, and pinned nodes of a cluster without cells. */
static int make_pins(making *m)
{
  const pai_cluster *c = m->c;
  pai__park *park = m->park;
  size_t npins = 0, nparts = 0;
  pai__pin *pins;
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
  park->pins = pins;
  park->parts = parts;
  nparts = 0;
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL) {
      pai__pin *p = &pins[park->npins++];
      *p = (pai__pin){ keep(m, c->cells[i].pin), (uint32_t)nparts, 0 };
      p->count = find_parts(c, i, &parts[nparts]);
      qsort(&parts[nparts], p->count, sizeof(*parts), by_node);
      nparts += p->count;
    }
  for (size_t i = 0; i < c->nnodes; i++)
    if (c->nodes[i].pin != NULL &&
        pai__park_pin(park, c->nodes[i].pin) == PAI__NONE) {
      parts[nparts] =
        (pai__part){ (uint32_t)i, park->builds[c->nodes[i].sku].all };
      pins[park->npins++] =
        (pai__pin){ keep(m, c->nodes[i].pin), (uint32_t)nparts++, 1 };
    }
  for (uint32_t i = 0; i < park->npins; i++)
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

/* Of cells, which are GPUs alone. */
static int count_cells(making *m, const pai__type_facts *facts, size_t vc,
                       pai__tenant *t)
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

/* What all nodes have, as the shares of a tenant stand. */
static const uint64_t *sum_up(making *m)
{
  const pai__park *park = m->park;
  uint64_t *sums = take(m, pai__park_shares(park), sizeof(*sums));

  for (uint32_t i = 0; sums != NULL && i < park->nspots; i++) {
    const pai__build *b = pai__build_of(park, i);

    for (uint32_t k = 0; k < park->nkinds; k++)
      sums[k] += pai__bits_ones(b->kinds[k]);
    if (b->cpus > b->first_cpu)
      add_amount(&sums[park->nkinds + PAI__SHARE_CPUS],
                 b->cpus - b->first_cpu);
    add_amount(&sums[park->nkinds + PAI__SHARE_MEMORY], b->memory);
  }
  return sums;
}

static int count_part(making *m, const uint64_t *sums, size_t vc,
                      pai__tenant *t)
{
  uint32_t n = pai__park_shares(m->park);
  uint64_t *own = take(m, n, sizeof(*own)), *most = take(m, n, sizeof(*most));

  if (own == NULL || most == NULL || sums == NULL)
    return PAI_ENOMEM;
  for (uint32_t k = 0; k < n; k++) {
    own[k] = pai__part_amount(m->c, vc, sums[k], false);
    most[k] = pai__part_amount(m->c, vc, sums[k], true);
    if (sums[k] == 0 && k >= m->park->nkinds)
      own[k] = most[k] = PAI__NO_LIMIT;
  }
  t->own = own;
  t->shares = most;
  t->nshares = n;
  t->parted = true;
  return PAI_OK;
}

static int make_tenants(making *m)
{
  const pai_cluster *c = m->c;
  size_t n = c->nvcs != 0 ? c->nvcs : 1;
  pai__tenant *tenants = take(m, n, sizeof(*tenants));
  pai__type_facts *facts = take(m, c->ntypes, sizeof(*facts));
  const uint64_t *sums = sum_up(m);
  int rc = PAI_OK;

  if (tenants == NULL || facts == NULL)
    return PAI_ENOMEM;
  m->park->tenants = tenants;
  m->park->ntenants = (uint32_t)n;
  if (c->nvcs == 0) {
    tenants[0].name = "default";
    return PAI_OK;
  }
  pai__cells_facts(c, facts);
  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    tenants[i] = (pai__tenant){ .name = keep(m, c->vcs[i].name),
                                .stopped = c->vcs[i].stopped };
    if (tenants[i].name == NULL)
      return PAI_ENOMEM;
    rc = c->vcs[i].parted ? count_part(m, sums, i, &tenants[i])
                          : count_cells(m, facts, i, &tenants[i]);
  }
  return rc;
}

/* --- the whole ------------------------------------------------------------ */

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

static int make(making *m)
{
  int rc = make_builds(m);

  if (rc == PAI_OK)
    rc = make_spots(m);
  if (rc == PAI_OK)
    rc = make_racks(m);
  if (rc == PAI_OK)
    rc = make_names(m);
  if (rc == PAI_OK)
    rc = make_pins(m);
  return rc == PAI_OK ? make_tenants(m) : rc;
}

int pai__park_new(pai__park **out, const pai_cluster *c,
                  const pai_alloc *alloc, pai_error **err)
{
  pai__park *park = pai__zalloc(alloc, sizeof(*park));
  making m = { park, c, err };
  pai__buf text;
  int rc;

  *out = NULL;
  if (park == NULL)
    return pai__oom(err);
  park->alloc = *alloc;
  atomic_init(&park->owners, 1);
  pai__arena_init(&park->arena, &park->alloc);
  rc = make(&m);
  if (rc == PAI_OK) {
    pai__buf_init(&text, &park->alloc);
    rc = pai_cluster_write(c, PAI_FORMAT_JSON, collect, &text, err);
    park->text_len = text.len;
    park->text = pai__buf_take(&text);
    if (park->text == NULL)
      rc = PAI_ENOMEM;
  }
  if (rc < 0) {
    pai__park_unref(park);
    return rc == PAI_ENOMEM ? pai__oom(err) : rc;
  }
  *out = park;
  return PAI_OK;
}

pai__park *pai__park_ref(pai__park *park)
{
  atomic_fetch_add_explicit(&park->owners, 1, memory_order_relaxed);
  return park;
}

void pai__park_unref(pai__park *park)
{
  pai_alloc alloc;

  if (park == NULL ||
      atomic_fetch_sub_explicit(&park->owners, 1, memory_order_acq_rel) != 1)
    return;
  alloc = park->alloc;
  pai__strfree(&alloc, park->text);
  pai__arena_dispose(&park->arena);
  pai__free(&alloc, park, sizeof(*park));
}

/* --- asking --------------------------------------------------------------- */

uint32_t pai__park_node(const pai__park *park, const char *name)
{
  uint32_t low = 0, high = park->nspots;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2, node = park->by_name[middle];
    int order = strcmp(park->spots[node].name, name);

    if (order == 0)
      return node;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return PAI__NONE;
}

uint32_t pai__park_tenant(const pai__park *park, const char *name)
{
  for (uint32_t i = 0; i < park->ntenants; i++)
    if (strcmp(park->tenants[i].name, name) == 0)
      return i;
  return PAI__NONE;
}

uint32_t pai__park_pin(const pai__park *park, const char *name)
{
  for (uint32_t i = 0; i < park->npins; i++)
    if (strcmp(park->pins[i].name, name) == 0)
      return i;
  return PAI__NONE;
}

uint32_t pai__park_type(const pai__park *park, const char *name)
{
  for (uint32_t i = 0; i < park->nkinds; i++)
    if (strcmp(park->kinds[i], name) == 0)
      return i;
  for (uint32_t i = 0; i < park->nbuilds; i++)
    if (strcmp(park->builds[i].name, name) == 0)
      return park->nkinds + i;
  return PAI__NONE;
}

uint64_t pai__park_pinned(const pai__park *park, uint32_t pin, uint32_t node)
{
  const pai__pin *p = &park->pins[pin];
  uint32_t low = p->first, high = p->first + p->count;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (park->parts[middle].node == node)
      return park->parts[middle].gpus;
    if (park->parts[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

bool pai__build_is_plain(const pai__park *park, const pai__build *b)
{
  uint32_t k = 0;

  while (k < park->nkinds && b->kinds[k] != b->all)
    k++;
  return k < park->nkinds || b->all == 0;
}
