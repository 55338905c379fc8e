/* test_cells.c - cells made of machines, and what checking says of shares */
#include "resource/clusters.h"

#include "base/buf.h"
#include "resource/derive.h"

#include <stdlib.h>

/* --- cells ---------------------------------------------------------------- */

/* Types as "name=2xchild ", then the addresses of nodes and of all cells of
 * the first node. */
static void show(pai__buf *out, const pai_cluster *c)
{
  uint32_t first = PAI__NOTHING;

  for (size_t i = 0; i < c->ntypes; i++) {
    const pai__cell_type *t = &c->types[i];

    if (t->child != PAI__NOTHING)
      pai__buf_printf(out, "%s=%ux%s%s ", t->name, t->children,
                      c->types[t->child].name, t->is_node ? "!" : "");
  }
  for (uint32_t i = 0; i < c->ncells; i++) {
    const pai__cell *cell = &c->cells[i];

    if (!c->types[cell->type].is_node && cell->node == PAI__NOTHING)
      pai__buf_printf(out, "[%s]", cell->address);
    else if (c->types[cell->type].is_node || cell->node == first)
      pai__buf_printf(out, " %s", cell->address);
    if (first == PAI__NOTHING)
      first = cell->node;
  }
}

static const struct {
  const char *what, *cells;
} made[] = {
  { "nodes:2 gpu:2:t4",
    "t4-node=2xt4!  node0001 node0001/0 node0001/1 node0002" },
  { "nodes:1 gpu:8:a numa:2 switch:2 link:8",
    "a-node-switch=2xa a-node-numa=2xa-node-switch a-node=2xa-node-numa! "
    " node0001 node0001/0 node0001/0/0 node0001/0/0/0 node0001/0/0/1"
    " node0001/0/1 node0001/0/1/2 node0001/0/1/3"
    " node0001/1 node0001/1/2 node0001/1/2/4 node0001/1/2/5"
    " node0001/1/3 node0001/1/3/6 node0001/1/3/7" },
  /* Levels that cut through others, or say nothing. */
  { "nodes:1 gpu:6:a numa:2 switch:2",
    "a-node-switch=2xa a-node=3xa-node-switch!  node0001 node0001/0"
    " node0001/0/0 node0001/0/1 node0001/1 node0001/1/2 node0001/1/3"
    " node0001/2 node0001/2/4 node0001/2/5" },
  { "nodes:1 gpu:3:a numa:2 switch:3 link:1",
    "a-node=3xa!  node0001 node0001/0 node0001/1 node0001/2" },
  { "nodes:4 gpu:1:a racks:2",
    "a-node=1xa! a-node-rack=2xa-node [rack01] rack01/node0001"
    " rack01/node0001/0 rack01/node0002[rack02] rack02/node0003"
    " rack02/node0004" },
  /* Racks that differ are no cells. */
  { "nodes:3 gpu:1:a racks:2",
    "a-node=1xa!  node0001 node0001/0 node0002 node0003" },
};

static void machines_become_cells(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(made); i++) {
    pai_cluster *c = test_synthetic(made[i].what);
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    assert_int_equal(pai__cells_derive(c), PAI_OK);
    show(&b, c);
    assert_string_equal(pai__buf_text(&b), made[i].cells);
    assert_int_equal(pai__cells_derive(c), PAI_OK); /* once is enough */
    assert_true(c->derived);
    pai__buf_dispose(&b);
    pai_cluster_free(c);
  }
}

static void each_kind_has_its_chain(void **state)
{
  static const char text[] =
    "skus:\n  mix: {gpu: {v100: 2, mi50: 1}}\n  t4: {gpu: t4, gpus: 1}\n"
    "  cpu: {}\n"
    "nodes: [{name: m, sku: mix, pin: p}, {name: t, sku: t4}, {name: c, sku: "
    "cpu}]\n";
  pai_cluster *c = test_cluster(text, NULL);
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  show(&b, c);
  assert_string_equal(pai__buf_text(&b),
                      "mix-v100=2xv100! mix-mi50=1xmi50! t4-node=1xt4!  "
                      "m m/0 m/1 m m/2 t");
  assert_string_equal(c->cells[0].pin, "p");
  assert_null(c->cells[3].pin);
  assert_int_equal(c->nvcs, 0);
  pai__buf_dispose(&b);
  pai_cluster_free(c);
}

/* Two SKUs in the same racks, and a rack that is called as a node is. */
static void addresses_are_unique(void **state)
{
  static const char text[] =
    "skus: {a: {gpu: x, gpus: 1}, b: {gpu: x, gpus: 1}}\n"
    "nodes:\n"
    "  - {name: \"n[1-2]\", sku: a, rack: n1}\n"
    "  - {name: \"m[1-2]\", sku: b, rack: n1}\n";
  pai_cluster *c = test_cluster(text, NULL);

  (void)state;
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  assert_int_equal(c->ncells, 10);
  for (size_t i = 0; i < c->ncells; i++)
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(c->cells[i].address, c->cells[k].address);
  assert_string_equal(c->cells[0].address, "a-n1"); /* n1 is a node */
  assert_string_equal(c->cells[5].address, "b-n1");
  pai_cluster_free(c);
}

static void without_gpus_there_are_no_cells(void **state)
{
  pai_cluster *c = test_synthetic("nodes:2 cpus:8");

  (void)state;
  assert_int_equal(pai__cells_derive(c), PAI_ENOTFOUND);
  assert_int_equal(c->ntypes + c->ncells + c->nvcs, 0);
  pai_cluster_free(c);
}

/* --- checking ------------------------------------------------------------- */

/* Looking whether racks are cells leaves the nodes in their order. */
static void nodes_without_racks_keep_their_order(void **state)
{
  static const char text[] =
    "skus: {s: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s, rack: r}, {name: b, sku: s, rack: q},\n"
    "  {name: c, sku: s, rack: r}, {name: d, sku: s}]\n";
  static const char *const want[] = { "a", "b", "c", "d" };
  pai_cluster *c = test_cluster(text, NULL);

  (void)state;
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  assert_int_equal(c->ncells, 8);
  for (size_t i = 0; i < 4; i++)
    assert_string_equal(c->cells[2 * i].address, want[i]);
  pai_cluster_free(c);
}

/* From line 3 on virtual clusters; 4 nodes of 2 GPUs, in 2 racks. */
#define NODES                                                            \
  "skus: {s: {gpu: x, gpus: 2, cpus: 8, used: {cpus: 1}}}\n"             \
  "nodes: [{name: 'a[1-2]', sku: s, rack: r}, {name: 'b[1-2]', sku: s, " \
  "rack: "                                                               \
  "q}]\n"
#define VCS(vcs) NODES "virtualClusters: {" vcs "}\n"

static const struct {
  const char *text, *list, *says, *help;
} found[] = {
  { VCS("v: {cells: {s-rack: 2}}"), "", NULL, NULL },
  { VCS("v: {cells: {s: 4}}"), "", NULL, NULL },
  { VCS("v: {cells: {x: 8}}"), "", NULL, NULL },
  { VCS("v: {cells: {s-rack.x: 8}}"), "", NULL, NULL },
  { VCS("v: {cells: {s-rack: 1}}, w: {cells: {s: 1, x: 2}}"), "", NULL, NULL },
  { VCS("v: {cells: {s: 3}}"), "?unshared /virtualClusters/v 3:19\n",
    "2 'x' of 's-rack' belong to no", "preempted" },
  { VCS("v: {cells: {s: 3}}, w: {cells: {s: 2}}"),
    "not-enough-cells /virtualClusters/w/cells/s 3:51\n",
    "of 's-rack', virtual clusters want 5 's', 'w' the last of them, and 4",
    "give away less" },
  { VCS("v: {cells: {s-rack: 1, s: 2, x: 1}}"),
    "not-enough-cells /virtualClusters/v/cells/x 3:48\n",
    "want 1 'x', 'v' the last of them, and 0 are there", "larger cells" },
  { VCS("v: {cells: {s: 4}, pins: [p]}"),
    "unknown-pin /virtualClusters/v/pins/0 3:45\n", "no cell is pinned as 'p'",
    "none" },
  { VCS("v: {cells: {t: 1}}"),
    "unknown-chain /virtualClusters/v/cells/t 3:31\n", "no cell of type 't'",
    "types of cells: x, s, s-rack" },
  { VCS("v: {cells: {s.s-rack: 1}}"),
    "unknown-chain /virtualClusters/v/cells/s.s-rack 3:31\n", "'s'",
    "did you mean 's'?" },
  { "skus: {s: {gpu: x, gpus: 2}, t: {}}\nnodes: [{name: a, sku: s}]\n",
    "?unused-sku /skus/t 1:30\n", "SKU 't'", "missing" },
  { "skus: {s: {gpu: x, gpus: 2, memory: 8G}}\nnodes: [{name: a, sku: s}]\n",
    "?no-reserve /skus/s 1:8\n", "leaves nothing", "used: {cpus: 2" },
  { "skus: {s: {gpu: x, gpus: 4}, c: {}}\n"
    "nodes: [{name: a, sku: s}, {name: 'b[1-4]', sku: c}]\n"
    "virtualClusters: {v: {cells: {s: 1}}}\n",
    "?flat-node /skus/s 1:8\n?cpu-only /nodes/1 2:28\n", "equally near",
    "near: {switch" },
  { "skus: {s: {gpu: x, gpus: 1}, t: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s}, {name: b, sku: t}]\n"
    "virtualClusters: {v: {cells: {x: 2}}}\n",
    "unclear-cell /virtualClusters/v/cells/x 3:31\n",
    "cells of several types contain 'x'", "CELL.x" },
  { "skus: {s: {gpu: x, gpus: 1}, t: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s}, {name: b, sku: t}]\n"
    "virtualClusters: {v: {cells: {s: 1}}}\n",
    "?unused-chain /nodes/1 2:28\n", "of 't'", "HiveD itself" },
  { "skus: {s: {gpu: {x: 1, y: 2}}, c: {}}\n"
    "nodes: [{name: a, sku: s, pin: p}, {name: b, sku: c, pin: q}]\n",
    "?pin-of-part /nodes/0/pin 2:32\n?no-effect /nodes/1/pin 2:59\n",
    "of node 'a' is of its 1 'x' only", "pinnedCellId" },
  /* A pin is one cell, shared or not. */
  { "skus: {s: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s, pin: p}, {name: b, sku: s, pin: p}]\n",
    "duplicate /nodes/1 2:36\n", "the pin 'p' is given already, at line 2",
    "one cell" },
  { "skus: {s: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s, pin: p}, {name: b, sku: s, pin: q}]\n",
    "", NULL, NULL },
  { "skus: {s: {gpu: x, gpus: 1}}\n"
    "nodes: [{name: a, sku: s, rack: r}, {name: 'b[1-2]', sku: s, rack: q}]\n"
    "virtualClusters: {v: {cells: {s-rack.x: 1}}}\n",
    "unknown-chain /virtualClusters/v/cells/s-rack.x 3:31\n", "'s-rack'",
    "equally many machines of SKU 's'" },
};

static void shares_are_checked(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(found); i++)
    test_cluster_found(found[i].text, NULL, found[i].list, found[i].says,
                       found[i].help);
}

/* --- limits --------------------------------------------------------------- */

static void cells_have_a_limit(void **state)
{
  pai_cluster *c = test_synthetic("nodes:65536 gpu:15"); /* 2^20 cells */
  pai_error *err;
  pai__buf out;

  (void)state;
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  assert_int_equal(c->ncells, 1 << 20);
  pai_cluster_free(c);
  c = test_synthetic("nodes:65537 gpu:15");
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai_cluster_write_hived(c, 0, test_collect, &out, &err),
                   PAI_ELIMIT);
  assert_non_null(strstr(pai_error_message(err), "more than 1048576 cells"));
  assert_non_null(strstr(pai_error_help(err), "several clusters"));
  assert_int_equal(out.len, 0);
  assert_int_equal(c->ncells + c->ntypes, 0);
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai_cluster_free(c);
}

/* Without levels between, racks are as many cells as nodes. */
static void racks_and_levels_count(void **state)
{
  pai_cluster *c = test_synthetic("racks:1 nodes:52428 gpu:16 switch:8");

  (void)state; /* 52428 * (16 + 2 + 1) + 1 */
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  assert_int_equal(c->ncells, 52428 * 19 + 1);
  pai_cluster_free(c);
  c = test_synthetic("racks:27594 nodes:55188 gpu:16 switch:8");
  assert_int_equal(pai__cells_derive(c), PAI_ELIMIT); /* by racks alone */
  pai_cluster_free(c);
  test_cluster_found("skus: {s: {gpu: x, gpus: 15}}\n"
                     "nodes: [{name: 'n[1-65537]', sku: s}]\n"
                     "virtualClusters: {v: {cells: {s: 1}}}\n",
                     NULL, "?flat-node /skus/s 1:8\nlimit /nodes/0 2:9\n",
                     NULL, "near");
}

static void addresses_have_a_limit(void **state)
{
  pai__buf text;
  pai_cluster *c;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_str(&text, "skus: {s: {gpu: x, gpus: 4000}}\nnodes: [{name: '");
  for (int i = 0; i < 240; i++)
    pai__buf_char(&text, 'n');
  pai__buf_str(&text, "[1-150]', sku: s}]\n");
  c = test_cluster(pai__buf_text(&text), NULL);
  assert_int_equal(pai__cells_derive(c), PAI_ELIMIT);
  assert_int_equal(c->ncells + c->ntypes, 0);
  pai_cluster_free(c);
  pai__buf_dispose(&text);
}

/* One type for each SKU, and one for their GPUs, which are not counted. */
static void types_have_a_limit(void **state)
{
  (void)state;
  for (unsigned n = PAI__CELLS_MAX_TYPES; n <= PAI__CELLS_MAX_TYPES + 1; n++) {
    pai__buf text, out;
    pai_cluster *c;
    pai_error *err;
    int rc;

    pai__buf_init(&text, &pai__libc_alloc);
    pai__buf_init(&out, &pai__libc_alloc);
    pai__buf_str(&text, "skus:\n");
    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&text, "  s%u: {gpu: x, gpus: 1}\n", i);
    pai__buf_str(&text, "nodes:\n");
    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&text, "  - {name: n%u, sku: s%u}\n", i, i);
    c = test_cluster(pai__buf_text(&text), NULL);
    rc = pai_cluster_write_hived(c, 0, test_collect, &out, &err);
    pai_cluster_free(c);
    if (n == PAI__CELLS_MAX_TYPES) {
      assert_int_equal(rc, PAI_OK);
      pai_cluster_free(test_cluster(pai__buf_text(&out), "hived"));
    } else {
      assert_int_equal(rc, PAI_ELIMIT);
      assert_non_null(strstr(pai_error_message(err), "4097 types of cells"));
      assert_non_null(strstr(pai_error_help(err), "one SKU"));
    }
    pai_error_free(err);
    pai__buf_dispose(&text);
    pai__buf_dispose(&out);
  }
}

/* Cells of a kind that cannot be in a path are called otherwise, and have what
 * comes with the kind all the same. */
static void kinds_with_points_become_cells(void **state)
{
  pai_cluster *c =
    test_cluster("skus: {x-y: {gpu: x.y, gpus: 2, cpus: 8, used: {cpus: 2}}}\n"
                 "nodes: [{name: a, sku: x-y}]\n",
                 NULL);
  char *text = test_hived_text(c, 0);

  (void)state;
  assert_non_null(strstr(text, "    x-y:\n      gpu: 1\n      cpu: 3\n"));
  assert_non_null(strstr(text, "    x-y-node:\n      childCellType: x-y\n"));
  free(text);
  pai_cluster_free(c);
  c = test_cluster("skus: {s: {gpu: {x.y: 1, z: 1}}}\n"
                   "nodes: [{name: a, sku: s}]\n",
                   NULL);
  text = test_hived_text(c, 0);
  assert_non_null(strstr(text, "    s-x-y:\n      childCellType: x-y\n"));
  pai_cluster_free(c);
  pai_cluster_free(test_cluster(text, "hived"));
  free(text);
}

/* Names are offered for the first ones only, and not of very many. */
static void names_are_not_offered_forever(void **state)
{
  pai_report *r;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, NODES "virtualClusters: {v: {cells: {");
  for (int i = 0; i < 30; i++)
    pai__buf_printf(&b, "t%d: 1, ", i);
  pai__buf_str(&b, "}}}\n");
  assert_int_equal(
    pai_cluster_check(&r, NULL, pai__buf_text(&b), b.len, NULL, NULL), PAI_OK);
  assert_int_equal(pai_report_count(r), 30);
  for (size_t i = 0; i < 30; i++)
    assert_int_equal(pai_report_get(r, i)->help != NULL, i < 20);
  pai_report_free(r);
  pai__buf_dispose(&b);
}

/* --- short memory --------------------------------------------------------- */

static int derive(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  int rc;

  (void)user_data;
  opts.alloc = alloc;
  rc = pai_cluster_synthetic(&c, "nodes:4 gpu:4 numa:2 racks:2", &opts, NULL);
  if (rc < 0)
    return rc;
  rc = pai__cells_derive(c);
  if (rc == PAI_OK)
    assert_int_equal(c->ncells, 4 * 7 + 2);
  else
    assert_int_equal(c->ncells, 0);
  pai_cluster_free(c);
  return rc;
}

static int check(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *r;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&r, NULL, text, strlen(text), &opts, NULL);
  if (rc == PAI_OK)
    assert_int_equal(pai_report_count(r), 1);
  pai_report_free(r);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  static char unshared[] = VCS("v: {cells: {s: 3}}");
  static char unknown[] = VCS("v: {cells: {t: 1}}");

  (void)state;
  test_faults(derive, NULL);
  test_faults(check, unshared);
  test_faults(check, unknown);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(machines_become_cells),
    cmocka_unit_test(each_kind_has_its_chain),
    cmocka_unit_test(addresses_are_unique),
    cmocka_unit_test(without_gpus_there_are_no_cells),
    cmocka_unit_test(shares_are_checked),
    cmocka_unit_test(names_are_not_offered_forever),
    cmocka_unit_test(nodes_without_racks_keep_their_order),
    cmocka_unit_test(cells_have_a_limit),
    cmocka_unit_test(racks_and_levels_count),
    cmocka_unit_test(addresses_have_a_limit),
    cmocka_unit_test(types_have_a_limit),
    cmocka_unit_test(kinds_with_points_become_cells),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
