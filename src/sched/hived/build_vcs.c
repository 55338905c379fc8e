/* build_vcs.c - builds the cells, roots and pins of virtual clusters */
#include "resource/virtual_cells.h"
#include "sched/hived/build.h"

#include <stdlib.h>

int pai__hived_build_names(pai__hived_building *b)
{
  const pai_cluster *c = b->h->cluster;
  pai__named *names =
    pai__arena_zalloc(&b->cells.arena, c->nvcs + 1, sizeof(*names));

  b->vcs = names;
  if (names == NULL || PAI__MAKE(b->h, vcs, c->nvcs) < 0)
    return PAI_ENOMEM;
  b->h->nvcs = c->nvcs;
  for (uint32_t i = 0; i < c->nvcs; i++)
    names[i] = (pai__named){ c->vcs[i].name, i };
  pai__sort_names(names, c->nvcs);
  return PAI_OK;
}

/* Returns virtual cluster i, by name order, of the cluster. */
static const pai__vc *vc_of(const pai__hived_building *b, size_t i)
{
  return &b->h->cluster->vcs[b->vcs[i].index];
}

/* --- shares --------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

/* Finds which virtual clusters have cells of which chain, sorted by chain. */
int pai__hived_build_pairs(pai__hived_building *b)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  size_t n = 0, shares = 0;

  for (size_t i = 0; i < c->nvcs; i++)
    shares += c->vcs[i].nshares;
  b->owns = pai__arena_zalloc(&b->cells.arena, shares + 1, sizeof(*b->owns));
  if (b->owns == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->nvcs; i++)
    for (uint32_t k = 0; k < vc_of(b, i)->nshares; k++)
      b->owns[n++] =
        (uint64_t)pai__share_root(c, &b->cells, &vc_of(b, i)->shares[k]).chain
          << 32 |
        i;
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

/* Counts wanted cells, roots and pins. */
static void count_shares(pai__hived_building *b)
{
  pai__hived *h = b->h;

  for (uint32_t i = 0; i < h->nvcs; i++) {
    const pai__vc *vc = vc_of(b, i);

    for (uint32_t k = 0; k < vc->nshares; k++) {
      pai__virtual_cell root =
        pai__share_root(h->cluster, &b->cells, &vc->shares[k]);
      uint32_t at = b->cells.types[root.type].level - 1;
      pai__pair_level *l =
        &h->pair_levels[h->pairs[pai__pair_of(h, i, root.chain)].level + at];
      int32_t count = (int32_t)vc->shares[k].count;

      l->free += count;
      h->levels[h->chains[root.chain].level + at].wanted += count;
      if (root.pinned != PAI__NOTHING)
        h->npins++;
      else
        l->nroots += vc->shares[k].count;
    }
  }
}

int pai__hived_build_roots(pai__hived_building *b)
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

static void add_root(pai__hived_building *b, uint32_t root, uint32_t vc,
                     uint32_t pinned)
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

/* Adds the cells of a virtual cluster, its roots and its pins. */
static int add_vc(pai__hived_building *b, uint32_t vc)
{
  pai__hived *h = b->h;
  const pai_cluster *c = h->cluster;
  pai__hived_vc *to = &h->vcs[vc];
  uint32_t base = (uint32_t)h->nvcells;
  pai__virtual_cells v;
  pai__vcell *grown;
  int rc = pai__virtual_cells_init(&v, c, &b->cells, vc_of(b, vc), &h->alloc);

  *to = (pai__hived_vc){ .name = vc_of(b, vc)->name,
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
                          .number = from->number,
                          .pinned = from->pinned != PAI__NOTHING };
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

int pai__hived_build_vcs(pai__hived_building *b)
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
