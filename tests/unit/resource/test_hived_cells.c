/*
 * test_hived_cells.c - levels, chains and the cells of virtual clusters, compared
 * with what HiveD itself made of the same configurations
 */
#include "documents.h"
#include "resource/clusters.h"
#include "rows.h"

#include "base/buf.h"
#include "resource/cells.h"
#include "resource/virtual_cells.h"

#include <stdio.h>
#include <stdlib.h>

static char config[64]; /* the one of the last "init" */
static int dumps;

/* --- our dump ------------------------------------------------------------- */

/* YAML in brackets, where a comma may be last. */
typedef struct dumper {
  pai__buf out;
  const pai_cluster *c;
  pai__cells cells;
} dumper;

static const char *type_name(const dumper *d, uint32_t type)
{
  return d->c->types[type].name;
}

/* Of each chain what its levels are. */
static void put_levels(dumper *d, bool names)
{
  pai__buf_str(&d->out,
               names ? "chainLevelTypes: {" : "chainLevelLeafNums: {");
  for (size_t i = 0; i < d->cells.nchains; i++) {
    const pai__chain *chain = &d->cells.chains[i];

    pai__buf_printf(&d->out, "\"%s\": [", type_name(d, chain->type));
    for (uint32_t l = 0; l < chain->levels; l++)
      if (names)
        pai__buf_printf(&d->out, "\"%s\", ", type_name(d, chain->types[l]));
      else
        pai__buf_printf(
          &d->out, "%llu, ",
          (unsigned long long)d->cells.types[chain->types[l]].leaves);
    pai__buf_str(&d->out, "], ");
  }
  pai__buf_str(&d->out, "},\n");
}

static int by_text(const void *a, const void *b)
{
  const char *const *x = a, *const *y = b;

  return strcmp(*x, *y);
}

/* Chains go backwards here, as in what was recorded. */
static void put_leaf_types(dumper *d)
{
  const char *leaves[16];
  size_t n = 0;

  for (size_t i = 0; i < d->cells.nchains; i++) {
    const char *leaf = type_name(d, d->cells.chains[i].types[0]);
    size_t k = 0;

    while (k < n && strcmp(leaves[k], leaf) != 0)
      k++;
    leaves[k] = leaf;
    n += k == n;
  }
  qsort(leaves, n, sizeof(*leaves), by_text);
  pai__buf_str(&d->out, "leafTypeToChains: {");
  for (size_t i = 0; i < n; i++) {
    pai__buf_printf(&d->out, "\"%s\": [", leaves[i]);
    for (size_t k = d->cells.nchains; k-- > 0;)
      if (strcmp(type_name(d, d->cells.chains[k].types[0]), leaves[i]) == 0)
        pai__buf_printf(&d->out, "\"%s\", ",
                        type_name(d, d->cells.chains[k].type));
    pai__buf_str(&d->out, "], ");
  }
  pai__buf_str(&d->out, "},\n");
}

static void put_cell(dumper *d, uint32_t cell)
{
  const pai_cluster *c = d->c;
  const pai__cell *self = &c->cells[cell];
  bool above = self->node == PAI__NOTHING;

  pai__buf_printf(
    &d->out, "{address: \"%s\", level: %u, type: \"%s\", nodes: [",
    self->address, d->cells.types[self->type].level, type_name(d, self->type));
  for (uint32_t i = cell; i < (above ? self->skip : cell + 1); i++)
    if (!above || c->types[c->cells[i].type].is_node)
      pai__buf_printf(&d->out, "\"%s\", ", c->nodes[c->cells[i].node].name);
  pai__buf_str(&d->out, above ? "], indices: [-1, " : "], indices: [");
  for (uint32_t i = cell; !above && i < self->skip; i++)
    if (c->cells[i].gpu != PAI__NOTHING)
      pai__buf_printf(&d->out, "%u, ", c->gpus[c->cells[i].gpu].number);
  pai__buf_str(&d->out, self->pin != NULL ? "], pinned: true, " : "], ");
  if (c->types[self->type].is_node)
    pai__buf_str(&d->out, "isNodeLevel: true, ");
  if (self->parent != PAI__NOTHING)
    pai__buf_printf(&d->out, "parent: \"%s\"", c->cells[self->parent].address);
  pai__buf_str(&d->out, "},\n");
}

static void put_physical(dumper *d)
{
  pai__buf_str(&d->out, "physical: {");
  for (size_t i = 0; i < d->cells.nchains; i++) {
    const pai__chain *chain = &d->cells.chains[i];

    pai__buf_printf(&d->out, "\"%s\": [", type_name(d, chain->type));
    for (uint32_t level = chain->levels; level > 0; level--) {
      uint32_t n;
      const uint32_t *list = pai__cells_of(&d->cells, chain, level, &n);

      for (uint32_t k = 0; k < n; k++)
        put_cell(d, list[k]);
    }
    pai__buf_str(&d->out, "], ");
  }
  pai__buf_str(&d->out, "},\n");
}

/* Those of a chain which are not pinned, or of a pinned cell; nothing where
 * there are none. */
static void put_virtual(dumper *d, const pai__virtual_cells *v,
                        const char *name, uint32_t chain, uint32_t pinned)
{
  bool any = false;

  for (uint32_t level = PAI__CELLS_MAX_LEVELS; level > 0; level--)
    for (size_t i = 0; i < v->count; i++) {
      const pai__virtual_cell *self = &v->list[i];

      if (self->pinned != pinned ||
          (pinned == PAI__NOTHING && self->chain != chain) ||
          d->cells.types[self->type].level != level)
        continue;
      if (!any)
        pai__buf_printf(&d->out, "\"%s\": [", name);
      any = true;
      pai__buf_printf(&d->out, "{address: \"%s\", level: %u, type: \"%s\", ",
                      self->address, level, type_name(d, self->type));
      if (d->c->types[self->type].is_node)
        pai__buf_str(&d->out, "isNodeLevel: true, ");
      if (self->parent != PAI__NOTHING)
        pai__buf_printf(&d->out, "parent: \"%s\", ",
                        v->list[self->parent].address);
      pai__buf_printf(&d->out, "preassigned: \"%s\"},\n",
                      v->list[self->root].address);
    }
  if (any)
    pai__buf_str(&d->out, "], ");
}

static void put_vc(dumper *d, const pai__vc *vc, bool pinned)
{
  pai__virtual_cells v;
  const char *pins[16];
  size_t n = 0;

  assert_ok(
    pai__virtual_cells_init(&v, d->c, &d->cells, vc, &pai__libc_alloc));
  pai__buf_printf(&d->out, "\"%s\": {", vc->name);
  for (uint32_t i = 0; !pinned && i < d->cells.nchains; i++)
    put_virtual(d, &v, type_name(d, d->cells.chains[i].type), i, PAI__NOTHING);
  for (uint32_t i = 0; pinned && i < vc->nshares; i++)
    if (vc->shares[i].pin != NULL)
      pins[n++] = vc->shares[i].pin;
  qsort(pins, n, sizeof(*pins), by_text);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < v.count; k++)
      if (v.list[k].parent == PAI__NOTHING &&
          v.list[k].pinned != PAI__NOTHING &&
          strcmp(d->c->cells[v.list[k].pinned].pin, pins[i]) == 0)
        put_virtual(d, &v, pins[i], 0, v.list[k].pinned);
  pai__buf_str(&d->out, "}, ");
  pai__virtual_cells_dispose(&v);
}

static int by_vc(const void *a, const void *b)
{
  return strcmp(((const pai__vc *)a)->name, ((const pai__vc *)b)->name);
}

static void put_vcs(dumper *d, bool pinned)
{
  pai__vc vcs[16];

  assert_true(d->c->nvcs <= PAI__LEN(vcs));
  memcpy(vcs, d->c->vcs, d->c->nvcs * sizeof(*vcs));
  qsort(vcs, d->c->nvcs, sizeof(*vcs), by_vc);
  pai__buf_str(&d->out, pinned ? "virtualPinned: {" : "virtualNonPinned: {");
  for (size_t i = 0; i < d->c->nvcs; i++)
    put_vc(d, &vcs[i], pinned);
  pai__buf_str(&d->out, "},\n");
}

/* Freed with free(). */
static char *dump(const pai_cluster *c)
{
  dumper d = { .c = c };

  assert_ok(pai__cells_init(&d.cells, c, &pai__libc_alloc));
  pai__buf_init(&d.out, &pai__libc_alloc);
  pai__buf_str(&d.out, "{");
  put_levels(&d, true);
  put_levels(&d, false);
  put_leaf_types(&d);
  put_physical(&d);
  put_vcs(&d, false);
  put_vcs(&d, true);
  pai__buf_str(&d.out, "}");
  pai__cells_dispose(&d.cells);
  return pai__buf_take(&d.out);
}

/* --- and the recorded one ------------------------------------------------- */

static void check_dump(const pai__tree *row)
{
  static const char *const keys[] = {
    "chainLevelTypes", "chainLevelLeafNums", "leafTypeToChains",
    "physical",        "virtualNonPinned",   "virtualPinned",
  };
  pai__node want = pai__tree_get(row, 0, "parsed");
  char path[128], *text, *dumped;
  pai_cluster *c;
  pai__tree *ours;
  size_t len;

  (void)snprintf(path, sizeof(path), "hived/config/%s", config);
  text = test_shared_text(path, &len);
  assert_non_null(text);
  c = test_cluster(text, NULL);
  dumped = dump(c);
  ours = test_yaml_parse(dumped, NULL);
  for (size_t i = 0; i < PAI__LEN(keys); i++)
    if (!pai__tree_same(row, pai__tree_get(row, want, keys[i]), ours,
                        pai__tree_get(ours, 0, keys[i])))
      fail_msg("%s: other %s:\n%s", config, keys[i], dumped);
  dumps++;
  pai__tree_free(ours);
  pai_cluster_free(c);
  free(dumped);
  free(text);
}

static void check_line(const pai__tree *row)
{
  const char *op = test_row_text(row, "op", NULL);

  if (strcmp(op, "init") == 0)
    (void)snprintf(config, sizeof(config), "%s",
                   test_row_text(row, "config", NULL));
  else if (strcmp(op, "config_dump") == 0)
    check_dump(row);
}

TEST(cells_are_hiveds)
{
  if (test_each_line("hived/cases.jsonl", check_line) >= 0)
    assert_int_equal(dumps, 7);
}

/* --- without shared data -------------------------------------------------- */

static const char small[] =
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    R: {childCellType: N, childCellNumber: 2}\n"
  "    N: {childCellType: S, childCellNumber: 2, isNodeLevel: true}\n"
  "    S: {childCellType: G, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - {cellType: R, cellChildren: [{cellAddress: a}, {cellAddress: b}]}\n"
  "  - {cellType: N, cellAddress: c}\n"
  "  - {cellType: R, cellChildren: [{cellAddress: d, pinnedCellId: P},\n"
  "                                 {cellAddress: e}]}\n"
  "virtualClusters:\n"
  "  v: {virtualCells: [{cellType: R.S, cellNumber: 2},\n"
  "                     {cellType: N, cellNumber: 1}],\n"
  "      pinnedCells: [{pinnedCellId: P}]}\n";

/* What the dump does not tell. */
TEST(types_have_facts)
{
  pai_cluster *c = test_cluster(small, NULL);
  pai__cells cells;

  assert_ok(pai__cells_init(&cells, c, &pai__libc_alloc));
  assert_int_equal(cells.chain_of[0], 1);
  assert_int_equal(cells.chain_of[2], PAI__NOTHING);
  assert_int_equal(cells.types[0].cells, 15);
  assert_true(cells.types[0].multi_node);
  assert_true(cells.types[1].has_node && !cells.types[1].multi_node);
  assert_false(cells.types[2].has_node);
  pai__cells_dispose(&cells);
  pai_cluster_free(c);
}

TEST(virtual_cells_are_numbered_through)
{
  static const char *const addresses[] = {
    "v/0",   "v/0/0",   "v/0/1",   "v/1",   "v/1/0",   "v/1/1",   "v/2",
    "v/2/0", "v/2/0/0", "v/2/0/1", "v/2/1", "v/2/1/2", "v/2/1/3", "v/3",
    "v/3/0", "v/3/0/0", "v/3/0/1", "v/3/1", "v/3/1/2", "v/3/1/3",
  };
  pai_cluster *c = test_cluster(small, NULL);
  pai__virtual_cells v;
  pai__cells cells;
  pai__share share = { .path = "R", .count = 1 << 20 };
  pai__vc large = { .name = "l", .shares = &share, .nshares = 1 };

  assert_ok(pai__cells_init(&cells, c, &pai__libc_alloc));
  assert_ok(
    pai__virtual_cells_init(&v, c, &cells, &c->vcs[0], &pai__libc_alloc));
  assert_int_equal(v.count, PAI__LEN(addresses));
  for (size_t i = 0; i < v.count; i++)
    assert_string_equal(v.list[i].address, addresses[i]);
  assert_int_equal(v.list[13].skip, 20);
  pai__virtual_cells_dispose(&v);
  assert_int_equal(
    pai__virtual_cells_init(&v, c, &cells, &large, &pai__libc_alloc),
    PAI_ELIMIT);
  pai__virtual_cells_dispose(&v);
  pai__cells_dispose(&cells);
  pai_cluster_free(c);
}

static int make_all(const pai_alloc *alloc, void *user_data)
{
  const pai_cluster *c = user_data;
  pai__virtual_cells v;
  pai__cells cells;
  int rc = pai__cells_init(&cells, c, alloc);

  if (rc == PAI_OK) {
    rc = pai__virtual_cells_init(&v, c, &cells, &c->vcs[0], alloc);
    pai__virtual_cells_dispose(&v);
  }
  pai__cells_dispose(&cells);
  return rc;
}

TEST(no_memory_is_survived)
{
  pai_cluster *c = test_cluster(small, NULL);

  test_faults(make_all, c);
  pai_cluster_free(c);
}
