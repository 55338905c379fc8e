/* build.c - builds the HiveD engine: cells, levels and the initial state */
#include "sched/hived/build.h"

/* --- cells ---------------------------------------------------------------- */

static int make_cells(pai__hived_building *b)
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

/* Makes chains and levels; top cells are free. */
static int make_levels(pai__hived_building *b)
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

static int make_nodes(pai__hived_building *b)
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
  /* Filling from the end moves the start of each node to its place... */
  for (size_t i = h->nchains; i-- > 0;) {
    uint32_t count;
    const uint32_t *list = pai__cells_of(cells, &cells->chains[i], 1, &count);

    while (count-- > 0) {
      const pai__pcell *cell = &h->pcells[list[count]];

      h->node_leaves[--h->node_first[cell->node + 1]] = cell->leaf;
    }
  }
  /* ... which was one index higher. */
  for (size_t i = 0; i < h->nnodes; i++)
    h->node_first[i] = h->node_first[i + 1];
  h->node_first[h->nnodes] = (uint32_t)h->npleaves;
  return PAI_OK;
}

static int make_leaf_types(pai__hived_building *b)
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
  pai__sort_names(names, h->nchains);
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

/* --- the whole ------------------------------------------------------------ */

/* Checks each chain from the top: what is left for virtual clusters that want
 * smaller cells. */
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

/* True if there are enough free cells: whole ones, and those that larger cells
 * nobody was promised can be split into. */
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

/* Pinned cells are taken first.  Even if the counts of each level are enough,
 * they may leave too few whole cells above them. */
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

/* Sets the initial state: pinned cells are taken, all nodes are sick. */
static int begin(pai__hived_building *b, pai_error **err)
{
  pai__hived *h = b->h;

  for (uint32_t i = 0; i < h->npcells; i = h->pcells[i].skip) {
    pai__hived_level *l = pai__level_of(h, &h->pcells[i]);

    pai__list_add(h, PAI__LIST_FREE, l->free, &l->nfree, i);
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

static int sku(pai__hived_building *b, pai_error **err)
{
  pai__hived *h = b->h;
  int rc = pai__cells_init(&b->cells, h->cluster, &h->alloc);

  if (rc < 0 || make_cells(b) < 0 || make_levels(b) < 0 || make_nodes(b) < 0 ||
      make_leaf_types(b) < 0 || pai__hived_build_names(b) < 0 ||
      pai__hived_build_pairs(b) < 0 || pai__hived_build_roots(b) < 0)
    return pai__oom(err);
  rc = pai__hived_build_vcs(b);
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
  pai__hived_building b = { .h = NULL };
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
  pai__pool_init(&b.h->pool);
  pai__lookup_init(&b.h->name_index);
  rc = sku(&b, err);
  pai__cells_dispose(&b.cells);
  if (rc < 0)
    pai__hived_free(b.h);
  else
    *out = b.h;
  return rc;
}
