/* build.c - the cells of a cluster and of its virtual clusters, in flat arrays
 */
#include "resource/virtual_cells.h"
#include "sched/hived/engine.h"

#include <stdlib.h>

typedef struct building {
  pai__hived *h;
  pai__cells cells;
  uint32_t *vc_of;     /* of each virtual cluster by name: in the cluster */
  uint64_t *owns;      /* of each share: chain and virtual cluster, sorted */
  uint32_t *pin_cells; /* cells with a name */
  size_t npin_cells;
  size_t npins; /* that are made */
} building;

/* --- cells ---------------------------------------------------------------- */

static uint32_t chain_of_cell(const building *b, uint32_t cell)
{
  const pai_cluster *c = b->h->cluster;

  while (c->cells[cell].parent != PAI__NOTHING)
    cell = c->cells[cell].parent;
  return b->cells.chain_of[c->cells[cell].type];
}

static int make_cells(building *b)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  uint32_t chain = 0, leaf = 0;

  for (size_t i = 0; i < c->ncells; i++)
    h->npleaves += c->types[c->cells[i].type].child == PAI__NOTHING;
  h->npcells = c->ncells;
  if (PAI__MAKE(h, pcells, c->ncells) < 0 ||
      PAI__MAKE(h, pleaves, h->npleaves) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->ncells; i++) {
    const pai__cell *from = &c->cells[i];
    pai__pcell *to = &h->pcells[i];

    if (from->parent == PAI__NOTHING)
      chain = b->cells.chain_of[from->type];
    *to = (pai__pcell){ .parent = from->parent,
                        .skip = from->skip,
                        .bound = PAI__NOTHING,
                        .at_free = PAI__NOTHING,
                        .at_sick = PAI__NOTHING,
                        .at_doomed = PAI__NOTHING,
                        .leaf = leaf,
                        .node = from->node,
                        .priority = PAI__FREE_PRIORITY,
                        .chain = (uint16_t)chain,
                        .level = (uint8_t)b->cells.types[from->type].level };
    if (to->level == 1)
      h->pleaves[leaf++] =
        (pai__pleaf){ i, PAI__NOTHING, PAI__NOTHING, PAI__NOTHING, 0, false };
  }
  return PAI_OK;
}

/* Lists of chains and levels; the top cells are free. */
static int make_levels(building *b)
{
  pai__hived *h = b->h;
  const pai__cells *cells = &b->cells;
  uint32_t at = 0;

  h->nchains = cells->nchains;
  for (size_t i = 0; i < h->nchains; i++)
    h->nlevels += cells->chains[i].levels;
  if (PAI__MAKE(h, chains, h->nchains) < 0 ||
      PAI__MAKE(h, levels, h->nlevels) < 0)
    return PAI_ENOMEM;
  h->nlevels = 0;
  for (size_t i = 0; i < h->nchains; i++) {
    const pai__chain *from = &cells->chains[i];

    h->chains[i] = (pai__hived_chain){ .type = from->type,
                                       .levels = from->levels,
                                       .level = (uint32_t)h->nlevels };
    for (uint32_t l = 1; l <= from->levels; l++) {
      pai__hived_level *to = &h->levels[h->nlevels++];
      const uint32_t *list = pai__cells_of(cells, from, l, &to->cap);
      uint32_t first = to->cap > 0 ? list[0] : PAI__NOTHING;

      to->type = from->types[l - 1];
      to->leaves = (uint32_t)cells->types[to->type].leaves;
      to->first = first;
      to->free = at;
      to->sick_free = at + to->cap;
      at += 2 * to->cap;
      if (first == PAI__NOTHING)
        continue;
      for (uint32_t k = first + 1; k < h->pcells[first].skip;
           k = h->pcells[k].skip)
        to->children++;
    }
  }
  h->nlists = at;
  return PAI_OK;
}

static int make_nodes(building *b)
{
  pai__hived *h = b->h;
  const pai__cells *cells = &b->cells;

  h->nnodes = h->cluster->nnodes;
  h->nnode_leaves = h->npleaves;
  if (PAI__MAKE(h, node_first, h->nnodes + 1) < 0 ||
      PAI__MAKE(h, node_leaves, h->npleaves) < 0 ||
      PAI__MAKE(h, node_sick, h->nnodes) < 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < h->npleaves; i++)
    h->node_first[h->pcells[h->pleaves[i].cell].node + 1]++;
  for (size_t i = 0; i < h->nnodes; i++)
    h->node_first[i + 1] += h->node_first[i];
  /* Filled from the end, each node's begin moves to where it belongs. */
  for (size_t i = h->nchains; i-- > 0;) {
    uint32_t count;
    const uint32_t *list = pai__cells_of(cells, &cells->chains[i], 1, &count);

    while (count-- > 0) {
      const pai__pcell *cell = &h->pcells[list[count]];

      h->node_leaves[--h->node_first[cell->node + 1]] = cell->leaf;
    }
  }
  /* ... which was one place to the right. */
  for (size_t i = 0; i < h->nnodes; i++)
    h->node_first[i] = h->node_first[i + 1];
  h->node_first[h->nnodes] = (uint32_t)h->npleaves;
  return PAI_OK;
}

static int by_leaf_name(const void *a, const void *b)
{
  return strcmp(((const pai__named *)a)->name, ((const pai__named *)b)->name);
}

static int make_leaf_types(building *b)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  pai__named *names =
    pai__arena_zalloc(&b->cells.arena, h->nchains + 1, sizeof(*names));
  size_t n = 0;

  h->nleaf_types = h->ntype_chains = h->nchains;
  if (names == NULL || PAI__MAKE(h, leaf_types, h->nchains) < 0 ||
      PAI__MAKE(h, type_chains, h->nchains) < 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < h->nchains; i++) {
    uint32_t type = h->levels[h->chains[i].level].type;

    names[i] = (pai__named){ c->types[type].name, type };
  }
  qsort(names, h->nchains, sizeof(*names), by_leaf_name);
  h->ntype_chains = 0;
  for (size_t i = 0; i < h->nchains; i++) {
    if (i > 0 && names[i].index == names[i - 1].index)
      continue;
    h->leaf_types[n] = (pai__leaf_type){ .type = names[i].index,
                                         .first = (uint32_t)h->ntype_chains };
    for (size_t k = h->nchains; k-- > 0;)
      if (h->levels[h->chains[k].level].type == names[i].index)
        h->type_chains[h->ntype_chains++] = (uint32_t)k;
    h->leaf_types[n].count =
      (uint32_t)h->ntype_chains - h->leaf_types[n].first;
    n++;
  }
  for (; n < h->nleaf_types; n++)
    h->leaf_types[n].type = PAI__NOTHING;
  return PAI_OK;
}

/* --- what virtual clusters have ------------------------------------------- */

static uint32_t share_type(const building *b, const pai__share *s,
                           uint32_t *chain, uint32_t *pinned)
{
  const pai_cluster *c = b->h->cluster;
  const char *dot;
  uint32_t top;

  *pinned = PAI__NOTHING;
  if (s->pin != NULL) {
    for (size_t i = 0; i < b->npin_cells; i++)
      if (strcmp(c->cells[b->pin_cells[i]].pin, s->pin) == 0)
        *pinned = b->pin_cells[i];
    *chain = chain_of_cell(b, *pinned);
    return c->cells[*pinned].type;
  }
  top = pai__cluster_find_type(c, s->path, strcspn(s->path, "."));
  dot = strrchr(s->path, '.');
  dot = dot != NULL ? dot + 1 : s->path;
  *chain = b->cells.chain_of[top];
  return pai__cluster_find_type(c, dot, strlen(dot));
}

static int by_number(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

/* Which virtual clusters have anything of which chain, by chain. */
static int make_pairs(building *b)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  size_t n = 0, shares = 0;
  uint32_t chain, pinned;

  for (size_t i = 0; i < c->nvcs; i++)
    shares += c->vcs[i].nshares;
  b->owns = pai__arena_zalloc(&b->cells.arena, shares + 1, sizeof(*b->owns));
  if (b->owns == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->nvcs; i++)
    for (uint32_t k = 0; k < c->vcs[b->vc_of[i]].nshares; k++) {
      (void)share_type(b, &c->vcs[b->vc_of[i]].shares[k], &chain, &pinned);
      b->owns[n++] = (uint64_t)chain << 32 | i;
    }
  qsort(b->owns, n, sizeof(*b->owns), by_number);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && b->owns[i] == b->owns[i - 1])
      continue;
    b->owns[h->npairs++] = b->owns[i];
    h->npair_levels += h->chains[b->owns[i] >> 32].levels;
  }
  if (PAI__MAKE(h, pairs, h->npairs) < 0 ||
      PAI__MAKE(h, pair_levels, h->npair_levels) < 0)
    return PAI_ENOMEM;
  h->npair_levels = 0;
  for (uint32_t i = 0; i < h->npairs; i++) {
    pai__hived_chain *at = &h->chains[b->owns[i] >> 32];

    if (at->npairs++ == 0)
      at->pair = i;
    h->pairs[i] = (pai__hived_pair){ .vc = (uint32_t)b->owns[i],
                                     .chain = (uint32_t)(b->owns[i] >> 32),
                                     .level = (uint32_t)h->npair_levels,
                                     .view = PAI__NOTHING };
    h->npair_levels += at->levels;
  }
  return PAI_OK;
}

/* What is wanted, and how many roots and pins there are to be. */
static void count_shares(building *b)
{
  pai__hived *h = b->h;
  uint32_t chain, pinned;

  for (uint32_t i = 0; i < h->nvcs; i++) {
    const pai__vc *vc = &h->cluster->vcs[b->vc_of[i]];

    for (uint32_t k = 0; k < vc->nshares; k++) {
      uint32_t type = share_type(b, &vc->shares[k], &chain, &pinned);
      uint32_t at = b->cells.types[type].level - 1;
      pai__pair_level *l =
        &h->pair_levels[h->pairs[pai__pair_of(h, i, chain)].level + at];
      int32_t count = (int32_t)vc->shares[k].count;

      l->free += count;
      h->levels[h->chains[chain].level + at].wanted += count;
      if (pinned != PAI__NOTHING)
        h->npins++;
      else
        l->nroots += vc->shares[k].count;
    }
  }
}

static int make_roots(building *b)
{
  pai__hived *h = b->h;

  count_shares(b);
  for (size_t i = 0; i < h->npair_levels; i++) {
    pai__pair_level *l = &h->pair_levels[i];

    l->roots = (uint32_t)h->nroots;
    l->doomed = (uint32_t)h->nlists;
    h->nroots += l->nroots;
    h->nlists += l->nroots;
    l->nroots = 0;
  }
  h->nunbound = h->nroots / 64 + 1;
  h->nunbound_sums = h->nunbound / 64 + 1;
  if (PAI__MAKE(h, lists, h->nlists) < 0 ||
      PAI__MAKE(h, roots, h->nroots) < 0 || PAI__MAKE(h, pins, h->npins) < 0 ||
      PAI__MAKE(h, unbound, h->nunbound) < 0 ||
      PAI__MAKE(h, unbound_sums, h->nunbound_sums) < 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < h->nroots; i++) {
    h->unbound[i / 64] |= (uint64_t)1 << i % 64;
    h->unbound_sums[i / 4096] |= (uint64_t)1 << i / 64 % 64;
  }
  return PAI_OK;
}

static void add_root(building *b, uint32_t root, uint32_t vc, uint32_t pinned)
{
  pai__hived *h = b->h;
  pai__vcell *v = &h->vcells[root];
  pai__pair_level *l = &h->pair_levels[h->pairs[v->pair].level + v->level - 1];

  if (pinned == PAI__NOTHING) {
    v->at = l->roots + l->nroots++;
    h->roots[v->at] = root;
    return;
  }
  h->pcells[pinned].flags |= PAI__CELL_PINNED;
  h->pins[b->npins++] = (pai__hived_pin){ vc, pinned, root, PAI__NOTHING };
}

/* All cells of a virtual cluster; its roots, and its pins by their names. */
static int add_vc(building *b, uint32_t vc)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  pai__hived_vc *to = &h->vcs[vc];
  uint32_t base = (uint32_t)h->nvcells;
  pai__virtual_cells v;
  pai__vcell *grown;
  int rc = pai__virtual_cells_init(&v, c, &b->cells, &c->vcs[b->vc_of[vc]],
                                   &h->alloc);

  *to = (pai__hived_vc){ .name = c->vcs[b->vc_of[vc]].name,
                         .pin = (uint32_t)b->npins,
                         .first = base,
                         .ncells = (uint32_t)v.count };
  grown = NULL;
  if (rc == PAI_OK && v.count > 0) {
    grown =
      pai__realloc(&h->alloc, h->vcells, base, base + v.count, sizeof(*grown));
    rc = grown != NULL ? PAI_OK : PAI_ENOMEM;
  }
  if (grown != NULL) {
    h->vcells = grown;
    h->nvcells = base + v.count;
  }
  for (uint32_t i = 0; grown != NULL && i < v.count; i++) {
    const pai__virtual_cell *from = &v.list[i];
    pai__vcell *cell = &grown[base + i];

    *cell = (pai__vcell){ .parent = from->parent,
                          .skip = base + from->skip,
                          .bound = PAI__NOTHING,
                          .root = base + from->root,
                          .leaf = (uint32_t)h->nvleaves,
                          .pair = pai__pair_of(h, vc, from->chain),
                          .at = PAI__NOTHING,
                          .priority = PAI__FREE_PRIORITY,
                          .level = (uint8_t)b->cells.types[from->type].level,
                          .pinned = from->pinned != PAI__NOTHING };
    cell->number =
      (uint32_t)strtoul(strrchr(from->address, '/') + 1, NULL, 10);
    if (from->parent != PAI__NOTHING)
      cell->parent = base + from->parent;
    else
      add_root(b, base + i, vc, from->pinned);
    h->nvleaves += cell->level == 1;
  }
  pai__virtual_cells_dispose(&v);
  to->npins = (uint32_t)b->npins - to->pin;
  return rc;
}

static void sort_pins(pai__hived *h, const pai__hived_vc *vc)
{
  for (uint32_t i = vc->pin + 1; i < vc->pin + vc->npins; i++) {
    pai__hived_pin pin = h->pins[i];
    uint32_t k = i;

    for (; k > vc->pin && strcmp(h->cluster->cells[h->pins[k - 1].cell].pin,
                                 h->cluster->cells[pin.cell].pin) > 0;
         k--)
      h->pins[k] = h->pins[k - 1];
    h->pins[k] = pin;
  }
}

static int make_vcs(building *b)
{
  pai__hived *h = b->h;
  uint32_t leaf = 0;

  for (uint32_t i = 0; i < h->nvcs; i++) {
    int rc = add_vc(b, i);

    if (rc < 0)
      return rc;
    sort_pins(h, &h->vcs[i]);
  }
  if (PAI__MAKE(h, vleaves, h->nvleaves) < 0 ||
      PAI__MAKE(h, vpriority, h->nvleaves) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < h->nvcells; i++) {
    if (h->vcells[i].level != 1)
      continue;
    h->vleaves[leaf] = (pai__vleaf){ i, PAI__NOTHING, PAI__LEAF_FREE };
    h->vpriority[leaf++] = PAI__FREE_PRIORITY;
  }
  return PAI_OK;
}

/* --- the whole ------------------------------------------------------------ */

/* Those with their names sorted; and the cells that have one. */
static int list_names(building *b)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  pai__arena *a = &b->cells.arena;
  pai__named *names = pai__arena_zalloc(a, c->nvcs + 1, sizeof(*names));

  for (size_t i = 0; i < c->ncells; i++)
    b->npin_cells += c->cells[i].pin != NULL;
  b->vc_of = pai__arena_zalloc(a, c->nvcs + 1, sizeof(*b->vc_of));
  b->pin_cells =
    pai__arena_zalloc(a, b->npin_cells + 1, sizeof(*b->pin_cells));
  if (names == NULL || b->vc_of == NULL || b->pin_cells == NULL ||
      PAI__MAKE(h, vcs, c->nvcs) < 0)
    return PAI_ENOMEM;
  h->nvcs = c->nvcs;
  b->npin_cells = 0;
  for (uint32_t i = 0; i < c->ncells; i++)
    if (c->cells[i].pin != NULL)
      b->pin_cells[b->npin_cells++] = i;
  for (uint32_t i = 0; i < c->nvcs; i++)
    names[i] = (pai__named){ c->vcs[i].name, i };
  pai__sort_names(names, c->nvcs);
  for (size_t i = 0; i < c->nvcs; i++)
    b->vc_of[i] = names[i].index;
  return PAI_OK;
}

/* From the top of each chain down: what is left for those who want less. */
static int check_shares(pai__hived *h, pai_error **err)
{
  const pai__cell_type *types = h->cluster->types;

  for (size_t i = 0; i < h->nchains; i++) {
    const pai__hived_chain *chain = &h->chains[i];
    pai__hived_level *top = &h->levels[chain->level + chain->levels - 1];
    int64_t free = top->cap;

    top->left = (int32_t)top->cap;
    for (uint32_t l = chain->levels; l-- > 0;) {
      pai__hived_level *at = &h->levels[chain->level + l];

      if (at->wanted > free)
        return pai__fail(err, PAI_EINVAL,
                         "virtual clusters want %ld cells '%s' of '%s', and "
                         "%ld are left for them",
                         (long)at->wanted, types[at->type].name,
                         types[chain->type].name, (long)free);
      free = (free - at->wanted) * at->children;
      if (l > 0)
        at[-1].left = at->left * (int32_t)at->children;
    }
  }
  return PAI_OK;
}

/* Whether what is free is enough: whole cells, and what larger ones that nobody
 * was promised can be divided into. */
static bool is_enough(const pai__hived *h, uint32_t chain)
{
  const pai__hived_chain *c = &h->chains[chain];
  int64_t left = 0;

  for (uint32_t l = c->levels; l-- > 0;) {
    const pai__hived_level *at = &h->levels[c->level + l];

    left += (int64_t)at->nfree - at->wanted;
    if (left < 0)
      return false;
    left *= at->children;
  }
  return true;
}

/* Pinned cells are taken before anything else.  What is counted level by level
 * may be enough, and yet they leave too few whole cells above them. */
static int take_pins(pai__hived *h, pai_error **err)
{
  for (size_t i = 0; i < h->npins; i++) {
    const pai__hived_pin *pin = &h->pins[i];

    (void)pai__preassigned_take(h, pin->cell, h->vcells[pin->root].pair,
                                false);
    pai__bind(h, pin->cell, pin->root);
    if (is_enough(h, h->pcells[pin->cell].chain))
      continue;
    pai__fail(err, PAI_EINVAL,
              "the pinned cell '%s' of virtual cluster '%s' leaves too few "
              "whole cells for what virtual clusters are given",
              h->cluster->cells[pin->cell].pin, h->vcs[pin->vc].name);
    pai__error_help(err, "pin a cell beside one that is pinned, or give away "
                         "fewer large cells");
    return PAI_EINVAL;
  }
  return PAI_OK;
}

/* The state HiveD starts with: pinned cells are taken, all nodes are sick. */
static int begin(building *b, pai_error **err)
{
  pai__hived *h = b->h;

  for (uint32_t i = 0; i < h->npcells; i = h->pcells[i].skip) {
    pai__hived_level *l = pai__level_of(h, &h->pcells[i]);

    h->pcells[i].at_free = l->nfree;
    h->lists[l->free + l->nfree++] = i;
  }
  if (take_pins(h, err) < 0)
    return PAI_EINVAL;
  for (size_t i = 0; i < h->nchains; i++) {
    uint32_t count;
    const uint32_t *leaves =
      pai__cells_of(&b->cells, &b->cells.chains[i], 1, &count);

    for (uint32_t k = 0; k < count; k++)
      pai__hived_set_node(h, h->pcells[leaves[k]].node, false);
  }
  return PAI_OK;
}

static int build(building *b, pai_error **err)
{
  pai__hived *h = b->h;
  int rc = pai__cells_init(&b->cells, h->cluster, &h->alloc);

  if (rc < 0 || make_cells(b) < 0 || make_levels(b) < 0 || make_nodes(b) < 0 ||
      make_leaf_types(b) < 0 || list_names(b) < 0 || make_pairs(b) < 0 ||
      make_roots(b) < 0)
    return pai__oom(err);
  rc = make_vcs(b);
  if (rc == PAI_ELIMIT)
    return pai__fail(err, rc, "the virtual clusters have too many cells");
  if (rc < 0 || pai__hived_make_views(h, &b->cells) < 0 ||
      pai__scratch_init(h) < 0)
    return pai__oom(err);
  rc = check_shares(h, err);
  return rc == PAI_OK ? begin(b, err) : rc;
}

int pai__hived_new(pai__hived **out, const pai_cluster *cluster,
                   const pai_alloc *alloc, pai_error **err)
{
  building b = { .h = NULL };
  int rc;

  PAI__CLEAR_OUT(out, err);
  if (cluster->ncells == 0)
    return pai__fail(err, PAI_ENOTSUP, "the cluster has no cells");
  b.h = pai__zalloc(alloc, sizeof(*b.h));
  if (b.h == NULL)
    return pai__oom(err);
  b.h->alloc = *alloc;
  b.h->cluster = cluster;
  b.h->free_group = b.h->free_name = PAI__NOTHING;
  memset(b.h->pool.free, 0xff, sizeof(b.h->pool.free));
  rc = build(&b, err);
  pai__cells_dispose(&b.cells);
  if (rc < 0)
    pai__hived_free(b.h);
  else
    *out = b.h;
  return rc;
}
