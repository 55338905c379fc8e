/*
 * test_hived_cells.c - levels, chains and the cells of virtual clusters, compared
 * with what HiveD itself made of the same configurations
 */
#include "resource/clusters.h"
#include "rows.h"

#include "json/json.h"
#include "json/writer.h"
#include "resource/cells.h"
#include "resource/virtual_cells.h"

#include <stdio.h>
#include <stdlib.h>

static char config[64]; /* the one of the last "init" */
static int dumps;

/* --- our dump ------------------------------------------------------------- */

static void put_text(pai__json_writer *w, const char *key, const char *s)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, s, strlen(s));
}

static void put_number(pai__json_writer *w, const char *key, int64_t v)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, v);
}

static void put_true(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
  pai__json_bool(w, true);
}

static void begin(pai__json_writer *w, const char *key, bool list)
{
  pai__json_key(w, key, strlen(key));
  (list ? pai__json_begin_array : pai__json_begin_object)(w);
}

static const char *chain_name(const pai_cluster *c, const pai__chain *chain)
{
  return c->types[chain->type].name;
}

static void put_levels(pai__json_writer *w, const pai_cluster *c,
                       const pai__cells *cells)
{
  begin(w, "chainLevelTypes", false);
  for (size_t i = 0; i < cells->nchains; i++) {
    const pai__chain *chain = &cells->chains[i];

    begin(w, chain_name(c, chain), true);
    for (uint32_t l = 0; l < chain->levels; l++)
      pai__json_text(w, c->types[chain->types[l]].name,
                     strlen(c->types[chain->types[l]].name));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
  begin(w, "chainLevelLeafNums", false);
  for (size_t i = 0; i < cells->nchains; i++) {
    const pai__chain *chain = &cells->chains[i];

    begin(w, chain_name(c, chain), true);
    for (uint32_t l = 0; l < chain->levels; l++)
      pai__json_int(w, (int64_t)cells->types[chain->types[l]].leaves);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static int by_text(const void *a, const void *b)
{
  const char *const *x = a, *const *y = b;

  return strcmp(*x, *y);
}

/* Chains go backwards here, as in what was recorded. */
static void put_leaf_types(pai__json_writer *w, const pai_cluster *c,
                           const pai__cells *cells)
{
  const char *leaves[16];
  size_t n = 0;

  for (size_t i = 0; i < c->ntypes; i++)
    for (size_t k = 0; k < cells->nchains; k++)
      if (cells->chains[k].types[0] == i) {
        leaves[n++] = c->types[i].name;
        break;
      }
  qsort(leaves, n, sizeof(*leaves), by_text);
  begin(w, "leafTypeToChains", false);
  for (size_t i = 0; i < n; i++) {
    begin(w, leaves[i], true);
    for (size_t k = cells->nchains; k-- > 0;)
      if (strcmp(c->types[cells->chains[k].types[0]].name, leaves[i]) == 0)
        pai__json_text(w, chain_name(c, &cells->chains[k]),
                       strlen(chain_name(c, &cells->chains[k])));
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static void put_nodes(pai__json_writer *w, const pai_cluster *c, uint32_t cell)
{
  const pai__cell *self = &c->cells[cell];

  begin(w, "nodes", true);
  if (self->node != PAI__NOTHING)
    pai__json_text(w, c->nodes[self->node].name,
                   strlen(c->nodes[self->node].name));
  else
    for (uint32_t i = cell; i < self->skip; i++)
      if (c->types[c->cells[i].type].is_node)
        pai__json_text(w, c->nodes[c->cells[i].node].name,
                       strlen(c->nodes[c->cells[i].node].name));
  pai__json_end_array(w);
  begin(w, "indices", true);
  if (self->node == PAI__NOTHING)
    pai__json_int(w, -1);
  else
    for (uint32_t i = cell; i < self->skip; i++)
      if (c->cells[i].gpu != PAI__NOTHING)
        pai__json_int(w, c->gpus[c->cells[i].gpu].number);
  pai__json_end_array(w);
}

static void put_cell(pai__json_writer *w, const pai_cluster *c,
                     const pai__cells *cells, uint32_t cell)
{
  const pai__cell *self = &c->cells[cell];
  const pai__cell_type *type = &c->types[self->type];

  pai__json_begin_object(w);
  put_text(w, "address", self->address);
  put_number(w, "level", cells->types[self->type].level);
  put_text(w, "type", type->name);
  put_nodes(w, c, cell);
  if (self->pin != NULL)
    put_true(w, "pinned");
  if (type->is_node)
    put_true(w, "isNodeLevel");
  if (self->parent != PAI__NOTHING)
    put_text(w, "parent", c->cells[self->parent].address);
  pai__json_end_object(w);
}

static void put_physical(pai__json_writer *w, const pai_cluster *c,
                         const pai__cells *cells)
{
  begin(w, "physical", false);
  for (size_t i = 0; i < cells->nchains; i++) {
    const pai__chain *chain = &cells->chains[i];

    begin(w, chain_name(c, chain), true);
    for (uint32_t level = chain->levels; level > 0; level--) {
      uint32_t n;
      const uint32_t *list = pai__cells_of(cells, chain, level, &n);

      for (uint32_t k = 0; k < n; k++)
        put_cell(w, c, cells, list[k]);
    }
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* Those of a chain which are not pinned, or of a pinned cell. */
static void put_virtual(pai__json_writer *w, const pai_cluster *c,
                        const pai__cells *cells, const pai__virtual_cells *v,
                        uint32_t chain, uint32_t pinned)
{
  for (uint32_t level = PAI__CELLS_MAX_LEVELS; level > 0; level--)
    for (size_t i = 0; i < v->count; i++) {
      const pai__virtual_cell *self = &v->list[i];

      if (self->pinned != pinned ||
          (pinned == PAI__NOTHING && self->chain != chain) ||
          cells->types[self->type].level != level)
        continue;
      pai__json_begin_object(w);
      put_text(w, "address", self->address);
      put_number(w, "level", level);
      put_text(w, "type", c->types[self->type].name);
      if (c->types[self->type].is_node)
        put_true(w, "isNodeLevel");
      if (self->parent != PAI__NOTHING)
        put_text(w, "parent", v->list[self->parent].address);
      put_text(w, "preassigned", v->list[self->root].address);
      pai__json_end_object(w);
    }
}

static bool has_chain(const pai__virtual_cells *v, size_t chain)
{
  for (size_t i = 0; i < v->count; i++)
    if (v->list[i].pinned == PAI__NOTHING && v->list[i].chain == chain)
      return true;
  return false;
}

static void put_vc(pai__json_writer *w, const pai_cluster *c,
                   const pai__cells *cells, const pai__vc *vc, bool pinned)
{
  pai__virtual_cells v;
  const char *pins[16];
  size_t n = 0;

  assert_int_equal(pai__virtual_cells_init(&v, c, cells, vc, &pai__libc_alloc),
                   PAI_OK);
  begin(w, vc->name, false);
  for (size_t i = 0; !pinned && i < cells->nchains; i++) {
    if (!has_chain(&v, i))
      continue;
    begin(w, chain_name(c, &cells->chains[i]), true);
    put_virtual(w, c, cells, &v, (uint32_t)i, PAI__NOTHING);
    pai__json_end_array(w);
  }
  for (uint32_t i = 0; pinned && i < vc->nshares; i++)
    if (vc->shares[i].pin != NULL)
      pins[n++] = vc->shares[i].pin;
  qsort(pins, n, sizeof(*pins), by_text);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < v.count; k++)
      if (v.list[k].parent == PAI__NOTHING &&
          v.list[k].pinned != PAI__NOTHING &&
          strcmp(c->cells[v.list[k].pinned].pin, pins[i]) == 0) {
        begin(w, pins[i], true);
        put_virtual(w, c, cells, &v, 0, v.list[k].pinned);
        pai__json_end_array(w);
      }
  pai__json_end_object(w);
  pai__virtual_cells_dispose(&v);
}

static int by_vc(const void *a, const void *b)
{
  return strcmp(((const pai__vc *)a)->name, ((const pai__vc *)b)->name);
}

static void put_vcs(pai__json_writer *w, const pai_cluster *c,
                    const pai__cells *cells, const char *key, bool pinned)
{
  pai__vc vcs[16];

  assert_true(c->nvcs <= PAI__LEN(vcs));
  memcpy(vcs, c->vcs, c->nvcs * sizeof(*vcs));
  qsort(vcs, c->nvcs, sizeof(*vcs), by_vc);
  begin(w, key, false);
  for (size_t i = 0; i < c->nvcs; i++)
    put_vc(w, c, cells, &vcs[i], pinned);
  pai__json_end_object(w);
}

static void dump(pai__buf *out, const pai_cluster *c)
{
  pai__json_writer w;
  pai__cells cells;

  assert_int_equal(pai__cells_init(&cells, c, &pai__libc_alloc), PAI_OK);
  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  put_levels(&w, c, &cells);
  put_leaf_types(&w, c, &cells);
  put_physical(&w, c, &cells);
  put_vcs(&w, c, &cells, "virtualNonPinned", false);
  put_vcs(&w, c, &cells, "virtualPinned", true);
  pai__json_end_object(&w);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  pai__cells_dispose(&cells);
}

/* --- and the recorded one ------------------------------------------------- */

static void check_dump(const pai__tree *row)
{
  static const char *const keys[] = {
    "chainLevelTypes", "chainLevelLeafNums", "leafTypeToChains",
    "physical",        "virtualNonPinned",   "virtualPinned",
  };
  pai__node want = pai__tree_get(row, 0, "parsed");
  char path[128], *text;
  pai_cluster *c;
  pai__tree *ours;
  pai__buf b;
  size_t len;

  (void)snprintf(path, sizeof(path), "hived/config/%s", config);
  text = test_shared_text(path, &len);
  assert_non_null(text);
  c = test_cluster(text, NULL);
  pai__buf_init(&b, &pai__libc_alloc);
  dump(&b, c);
  assert_int_equal(
    pai__json_parse(&ours, pai__buf_text(&b), b.len, NULL, NULL), PAI_OK);
  for (size_t i = 0; i < PAI__LEN(keys); i++)
    if (!pai__tree_same(row, pai__tree_get(row, want, keys[i]), ours,
                        pai__tree_get(ours, 0, keys[i])))
      fail_msg("%s: other %s:\n%s", config, keys[i], pai__buf_text(&b));
  dumps++;
  pai__tree_free(ours);
  pai__buf_dispose(&b);
  pai_cluster_free(c);
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

static bool skipped;

static void cells_are_hiveds(void **state)
{
  (void)state;
  skipped = test_each_line("hived/cases.jsonl", check_line) < 0;
  if (!skipped)
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

static void levels_are_in_the_order_of_the_cluster(void **state)
{
  static const char *const nodes[] = { "0/a", "0/b", "2/d", "2/e" };
  pai_cluster *c = test_cluster(small, NULL);
  pai__cells cells;
  const uint32_t *list;
  uint32_t n;

  (void)state;
  assert_int_equal(pai__cells_init(&cells, c, &pai__libc_alloc), PAI_OK);
  assert_int_equal(cells.nchains, 2);
  assert_string_equal(c->types[cells.chains[0].type].name, "N");
  assert_string_equal(c->types[cells.chains[1].type].name, "R");
  assert_int_equal(cells.chain_of[0], 1);
  assert_int_equal(cells.chain_of[2], PAI__NOTHING);
  list = pai__cells_of(&cells, &cells.chains[1], 3, &n);
  assert_int_equal(n, PAI__LEN(nodes));
  for (uint32_t i = 0; i < n; i++)
    assert_string_equal(c->cells[list[i]].address, nodes[i]);
  (void)pai__cells_of(&cells, &cells.chains[1], 1, &n);
  assert_int_equal(n, 16);
  (void)pai__cells_of(&cells, &cells.chains[0], 1, &n);
  assert_int_equal(n, 4);
  assert_int_equal(cells.types[0].cells, 15);
  assert_true(cells.types[0].multi_node);
  assert_true(cells.types[1].has_node && !cells.types[1].multi_node);
  assert_false(cells.types[2].has_node);
  assert_int_equal(cells.types[3].level, 1);
  pai__cells_dispose(&cells);
  pai_cluster_free(c);
}

static void virtual_cells_are_numbered_through(void **state)
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

  (void)state;
  assert_int_equal(pai__cells_init(&cells, c, &pai__libc_alloc), PAI_OK);
  assert_int_equal(
    pai__virtual_cells_init(&v, c, &cells, &c->vcs[0], &pai__libc_alloc),
    PAI_OK);
  assert_int_equal(v.count, PAI__LEN(addresses));
  for (size_t i = 0; i < v.count; i++)
    assert_string_equal(v.list[i].address, addresses[i]);
  assert_int_equal(v.list[12].root, 6);
  assert_int_equal(v.list[12].chain, 0);
  assert_int_equal(v.list[12].pinned, PAI__NOTHING);
  assert_int_equal(v.list[13].chain, 1);
  assert_string_equal(c->cells[v.list[19].pinned].pin, "P");
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

static void no_memory_is_survived(void **state)
{
  pai_cluster *c = test_cluster(small, NULL);

  (void)state;
  test_faults(make_all, c);
  pai_cluster_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_are_hiveds),
    cmocka_unit_test(levels_are_in_the_order_of_the_cluster),
    cmocka_unit_test(virtual_cells_are_numbered_through),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
