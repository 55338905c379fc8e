/* hived_world.c - random clusters, and gangs for them */
#include "sched/hived/hived_world.h"

#include <stdio.h>
#include <stdlib.h>

/* --- clusters ------------------------------------------------------------- */

typedef struct chain {
  unsigned levels, node; /* the level that is a node */
  unsigned children[8];  /* of a cell of each level, from 1 */
  unsigned tops;
} chain;

static void draw_chain(world *w, chain *c)
{
  static const unsigned nodes[][4] = { { 1 },       { 2 },    { 4 },
                                       { 8 },       { 2, 2 }, { 2, 4 },
                                       { 2, 2, 2 }, { 3 },    { 9, 8 } };
  static const unsigned racks[][3] = { { 0 }, { 2 }, { 3 }, { 2, 2 }, { 4 } };
  const unsigned *node = nodes[below(w, PAI__LEN(nodes))];
  const unsigned *rack = racks[below(w, PAI__LEN(racks))];

  c->levels = 1;
  while (*node != 0)
    c->children[++c->levels] = *node++;
  c->node = c->levels;
  while (*rack != 0)
    c->children[++c->levels] = *rack++;
  c->tops = 1 + below(w, 4);
}

/* A cell above nodes, or a node, with names for some. */
static void put_cell(world *w, pai__buf *b, const chain *c, unsigned level,
                     unsigned which, unsigned *nodes, unsigned *pins)
{
  pai__buf_char(b, '{');
  if (*pins < 3 && chance(w, 8))
    pai__buf_printf(b, "pinnedCellId: P%u, ", (*pins)++);
  if (level == c->node) {
    pai__buf_printf(b, "cellAddress: c%u-n%u", which, (*nodes)++);
    if (level == 2 && c->children[2] == 2 && *pins < 3 && chance(w, 10))
      pai__buf_printf(b,
                      ", cellChildren: [{pinnedCellId: P%u, cellAddress: 0}, "
                      "{cellAddress: 1}]",
                      (*pins)++);
  } else {
    pai__buf_str(b, "cellChildren: [");
    for (unsigned i = 0; i < c->children[level]; i++) {
      put_cell(w, b, c, level - 1, which, nodes, pins);
      pai__buf_str(b, ", ");
    }
    pai__buf_char(b, ']');
  }
  pai__buf_char(b, '}');
}

static void put_physical(world *w, pai__buf *b, const chain *chains,
                         unsigned n, unsigned *pins)
{
  pai__buf_str(b, "physicalCluster:\n  cellTypes:\n");
  for (unsigned i = 0; i < n; i++)
    for (unsigned l = 2; l <= chains[i].levels; l++) {
      if (l == 2)
        pai__buf_printf(b, "    C%uL2: {childCellType: G%u, ", i, i / 2);
      else
        pai__buf_printf(b, "    C%uL%u: {childCellType: C%uL%u, ", i, l, i,
                        l - 1);
      pai__buf_printf(b, "childCellNumber: %u%s}\n", chains[i].children[l],
                      l == chains[i].node ? ", isNodeLevel: true" : "");
    }
  pai__buf_str(b, "  physicalCells:\n");
  for (unsigned i = 0; i < n; i++) {
    unsigned nodes = 0;

    for (unsigned k = 0; k < chains[i].tops; k++) {
      size_t before = b->len;

      pai__buf_str(b, "  - ");
      put_cell(w, b, &chains[i], chains[i].levels, i, &nodes, pins);
      pai__buf_cut(b, b->len - 1);
      pai__buf_printf(b, ", cellType: C%uL%u}\n", i, chains[i].levels);
      assert_true(b->len > before);
    }
  }
}

static void put_vcs(world *w, pai__buf *b, const chain *chains, unsigned n,
                    unsigned pins)
{
  unsigned vcs = 1 + below(w, 4), given = 0;

  pai__buf_str(b, "virtualClusters:\n");
  for (unsigned i = 0; i < vcs; i++) {
    pai__buf_printf(b, "  v%u:\n    virtualCells:\n", i);
    for (unsigned k = 0; k < n; k++)
      for (unsigned s = below(w, 3); s > 0; s--)
        pai__buf_printf(b, "    - {cellType: C%uL%u.C%uL%u, cellNumber: %u}\n",
                        k, chains[k].levels, k,
                        2 + below(w, chains[k].levels - 1), below(w, 4));
    pai__buf_str(b, "    pinnedCells:\n");
    for (; given < pins && chance(w, 70); given++)
      pai__buf_printf(b, "    - {pinnedCellId: P%u}\n", given);
  }
}

void world_make_engine(world *w, const pai_alloc *alloc)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai__buf b = test_buf();

  opts.alloc = alloc;
  opts.form = "hived";
  for (w->h = NULL; w->h == NULL;) {
    chain chains[3];
    unsigned n = 1 + below(w, 3), pins = 0;

    pai__buf_clear(&b);
    for (unsigned i = 0; i < n; i++)
      draw_chain(w, &chains[i]);
    put_physical(w, &b, chains, n, &pins);
    put_vcs(w, &b, chains, n, pins);
    if (pai_cluster_parse(&w->cluster, pai__buf_text(&b), b.len, &opts, NULL) <
        0)
      continue;
    if (pai__hived_new(&w->h, w->cluster, alloc, NULL) < 0)
      pai_cluster_free(w->cluster);
  }
  pai__buf_dispose(&b);
}

/* --- gangs ---------------------------------------------------------------- */

gang *world_draw_gang(world *w)
{
  return &w->gangs[below(w, GANGS)];
}

void world_make_gang(world *w, gang *g)
{
  static const uint32_t sizes[] = { 1, 1, 1, 2, 2, 3, 4, 8 };

  *g = (gang){ .live = true };
  (void)snprintf(g->name, sizeof(g->name), "g%lu", w->names++);
  g->members[0].leaves = sizes[below(w, 8)];
  g->members[0].pods = 1 + below(w, 3);
  g->members[1].leaves = g->members[0].leaves + 1 + below(w, 3);
  g->members[1].pods = 1 + below(w, 2);
  g->r = (pai__hived_request){ .group = g->name,
                               .group_len = strlen(g->name),
                               .members = g->members,
                               .nmembers = chance(w, 20) ? 2 : 1,
                               .vc = below(w, (unsigned)w->h->nvcs),
                               .pin = PAI__NOTHING,
                               .leaf_type = PAI__NOTHING,
                               .priority = (int32_t)below(w, 5) - 1,
                               .lazy = chance(w, 50),
                               .ignores_suggested = chance(w, 60) };
  if (chance(w, 15) && w->h->vcs[g->r.vc].npins > 0)
    g->r.pin = w->h->vcs[g->r.vc].pin + below(w, w->h->vcs[g->r.vc].npins);
  if (chance(w, 60))
    g->r.leaf_type = 0;
  for (uint32_t i = 0; i < g->r.nmembers; i++) {
    g->npods += g->members[i].pods;
    g->nleaves += g->members[i].pods * g->members[i].leaves;
  }
}

uint32_t gang_pod_of(const gang *g, uint32_t pod, uint32_t *index)
{
  uint32_t m = 0;

  for (*index = pod; *index >= g->members[m].pods; m++)
    *index -= g->members[m].pods;
  return g->members[m].leaves;
}

uint64_t world_pod_number(const world *w, const gang *g, uint32_t pod)
{
  return (uint64_t)(g - w->gangs + 1) << 32 | (pod + 1);
}

const uint64_t *world_draw_suggested(world *w)
{
  if (chance(w, 70))
    return NULL;
  for (size_t i = 0; i < PAI__LEN(w->suggested); i++)
    w->suggested[i] =
      pai__prng_next(&w->r) | pai__prng_next(&w->r) | pai__prng_next(&w->r);
  return w->suggested;
}

gang *world_find_gang(world *w, const char *name)
{
  for (int i = 0; i < GANGS; i++)
    if (w->gangs[i].live && strcmp(w->gangs[i].name, name) == 0)
      return &w->gangs[i];
  return NULL;
}
