/* build_vcs.c - what virtual clusters are given: their cells, roots and pins */
#include "resource/virtual_cells.h"
#include "sched/hived/build.h"

#include <stdlib.h>

/* Those with their names sorted; and the cells that have one. */
int pai__build_names(pai__building *b)
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

/* --- what they have -------------------------------------------------------- */

static uint32_t chain_of_cell(const pai__building *b, uint32_t cell)
{
  const pai_cluster *c = b->h->cluster;

  while (c->cells[cell].parent != PAI__NOTHING)
    cell = c->cells[cell].parent;
  return b->cells.chain_of[c->cells[cell].type];
}

static uint32_t share_type(const pai__building *b, const pai__share *s,
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
int pai__build_pairs(pai__building *b)
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
static void count_shares(pai__building *b)
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

int pai__build_roots(pai__building *b)
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

static void add_root(pai__building *b, uint32_t root, uint32_t vc,
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

/* All cells of a virtual cluster; its roots, and its pins by their names. */
static int add_vc(pai__building *b, uint32_t vc)
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

int pai__build_vcs(pai__building *b)
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
