/* build_views.c - builds the views: the nodes that placement sees, in order */
#include "sched/hived/engine.h"

/* Physical views with larger nodes have no ranks: see view.c. */
enum { MOST_LEAVES = 64 };

typedef struct making {
  pai__hived *h;
  const pai__cells *cells;
  pai__hived_view v;
  uint32_t index; /* of the view */
  bool counting;  /* first pass: only count */
} making;

/* Level of a chain whose cells are nodes. */
static uint32_t node_level(const making *m, uint32_t chain)
{
  const pai__hived_chain *c = &m->h->chains[chain];
  uint32_t level = 1;

  while (level < c->levels &&
         !m->cells->types[m->h->levels[c->level + level - 1].type].has_node)
    level++;
  return level;
}

static void add_node(making *m, uint32_t cell, uint32_t total)
{
  pai__hived *h = m->h;

  if (!m->counting) {
    h->vnodes[m->v.first + m->v.count] =
      (pai__vnode){ .cell = cell, .view = m->index, .total = total };
    h->order[m->v.first + m->v.count] = m->v.first + m->v.count;
  }
  m->v.count++;
  if (total > m->v.total)
    m->v.total = total;
}

static void add_physical(making *m, uint32_t cell)
{
  pai__hived *h = m->h;
  const pai__pcell *c = &h->pcells[cell];

  if (!m->counting)
    for (uint32_t i = cell; i < c->skip; i++)
      if (h->pcells[i].level == 1)
        h->pleaves[h->pcells[i].leaf].vnode = m->v.first + m->v.count;
  add_node(m, cell, pai__level_of(h, c)->leaves);
}

static void add_virtual(making *m, uint32_t cell)
{
  pai__hived *h = m->h;
  const pai__vcell *c = &h->vcells[cell];
  uint32_t chain = h->pairs[c->pair].chain;

  if (!m->counting)
    for (uint32_t i = cell; i < c->skip; i++)
      if (h->vcells[i].level == 1)
        h->vleaves[h->vcells[i].leaf].vnode = m->v.first + m->v.count;
  add_node(m, cell, h->levels[h->chains[chain].level + c->level - 1].leaves);
}

static void fill_physical(making *m, uint32_t chain)
{
  uint32_t count;
  const uint32_t *list = pai__cells_of(m->cells, &m->cells->chains[chain],
                                       node_level(m, chain), &count);

  m->v.physical = true;
  for (uint32_t i = 0; i < count; i++)
    add_physical(m, list[i]);
}

/* Nodes first, then smaller roots, the larger ones first. */
static void fill_pair(making *m, const pai__hived_pair *pair)
{
  pai__hived *h = m->h;
  const pai__hived_vc *vc = &h->vcs[pair->vc];
  uint32_t node = node_level(m, pair->chain);

  for (uint32_t i = vc->first; i < vc->first + vc->ncells; i++)
    if (!h->vcells[i].pinned && &h->pairs[h->vcells[i].pair] == pair &&
        h->vcells[i].level == node)
      add_virtual(m, i);
  for (uint32_t level = node; --level > 0;) {
    const pai__pair_level *l = &h->pair_levels[pair->level + level - 1];

    for (uint32_t i = 0; i < l->nroots; i++)
      add_virtual(m, h->roots[l->roots + i]);
  }
}

static void fill_pin(making *m, const pai__hived_pin *pin)
{
  pai__hived *h = m->h;
  const pai__vcell *root = &h->vcells[pin->root];
  uint32_t node = node_level(m, h->pairs[root->pair].chain);

  if (root->level < node)
    add_virtual(m, pin->root);
  for (uint32_t i = pin->root; i < root->skip; i++)
    if (h->vcells[i].level == node)
      add_virtual(m, i);
}

/* --- sizes ---------------------------------------------------------------- */

static void end_view(making *m)
{
  pai__hived *h = m->h;
  pai__hived_view *v = &m->v;
  uint32_t n = v->total + 1;

  v->rank = (uint32_t)h->nranks;
  v->words = (uint32_t)h->nrank_words;
  v->nranks = 2 * n;
  if (v->physical)
    v->nranks = v->total <= MOST_LEAVES ? 2 * n * n : 0;
  h->nvnodes += v->count;
  h->nranks += v->nranks;
  h->nrank_words += v->nranks / 64 + 1;
  if (v->total > h->largest)
    h->largest = v->total;
}

/* Fills all views, or counts their elements. */
static void fill_views(making *m)
{
  pai__hived *h = m->h;
  size_t n = 0;

  h->nvnodes = h->nranks = h->nrank_words = 0;
  for (uint32_t i = 0; i < h->nchains + h->npairs + h->npins; i++) {
    m->index = (uint32_t)n;
    m->v = (pai__hived_view){ .first = (uint32_t)h->nvnodes };
    if (i < h->nchains) {
      h->chains[i].view = (uint32_t)n;
      fill_physical(m, i);
    } else if (i < h->nchains + h->npairs) {
      pai__hived_pair *pair = &h->pairs[i - h->nchains];

      fill_pair(m, pair);
      if (m->v.count == 0)
        continue;
      pair->view = (uint32_t)n;
    } else {
      h->pins[i - h->nchains - h->npairs].view = (uint32_t)n;
      fill_pin(m, &h->pins[i - h->nchains - h->npairs]);
    }
    end_view(m);
    if (!m->counting)
      h->views[n] = m->v;
    n++;
  }
  h->nviews = n;
}

int pai__hived_make_views(pai__hived *h, const pai__cells *cells)
{
  making m = { .h = h, .cells = cells, .counting = true };

  fill_views(&m);
  if (PAI__MAKE(h, views, h->nviews) < 0 ||
      PAI__MAKE(h, vnodes, h->nvnodes) < 0 ||
      PAI__MAKE(h, order, h->nvnodes) < 0 ||
      PAI__MAKE(h, dirty, h->nvnodes) < 0 ||
      PAI__MAKE(h, ranks, h->nranks) < 0 ||
      PAI__MAKE(h, rank_bits, h->nrank_words) < 0)
    return PAI_ENOMEM;
  m.counting = false;
  fill_views(&m);
  return PAI_OK;
}
