/* test_hived_write.c - clusters of our own form, and machines, written as
 * HiveD's configuration */
#include "resource/hived.h"

#include "base/buf.h"
#include "resource/read.h"

#include <stdlib.h>

/* --- cells of our own form ------------------------------------------------ */

static const char ours[] =
  "skus:\n"
  "  dgx: {gpu: G, gpus: 2, cpus: 32, memory: 66G, used: {memory: 2G}}\n"
  "  mix: {gpu: {H: 2, G: 2}, cpus: 6}\n"
  "nodes:\n"
  "  - {name: z, sku: dgx, gpus: {0: {number: 1}, 1: {number: 0}}}\n"
  "  - {name: a, sku: mix, sick: fan}\n"
  "  - {name: spare, sku: dgx}\n"
  "physicalCluster:\n" TYPES "  physicalCells:\n"
  "  - {cellType: M, cellAddress: a}\n"
  "  - {cellType: N, cellAddress: z}\n"
  "  - {cellType: N, cellAddress: a, cellChildren: [{cellAddress: 3},\n"
  "                                                 {cellAddress: 2}]}\n"
  "virtualClusters:\n"
  "  v: {cells: {N: 1, M.H: 1}}\n";

static void cells_of_our_form_find_their_nodes(void **state)
{
  static const uint32_t gpus[] = { 2, 3, 1, 0, 5, 4 };
  pai_cluster *c = test_cluster(ours, NULL);
  char *text;
  size_t n = 0;

  (void)state;
  assert_int_equal(c->ncells, 9);
  for (size_t i = 0; i < c->ncells; i++)
    if (c->cells[i].gpu != PAI__NOTHING)
      assert_int_equal(c->cells[i].gpu, gpus[n++]);
  assert_int_equal(n, PAI__LEN(gpus));
  assert_int_equal(c->cells[3].node, 0);
  text = test_hived_text(c, 0);
  assert_non_null(strstr(text, "  skuTypes:\n"
                               "    G:\n"
                               "      gpu: 1\n"
                               "      cpu: 1\n"
                               "      memory: 32768Mi\n"
                               "    H:\n"
                               "      gpu: 1\n"
                               "      cpu: 1\n"
                               "  cellTypes:\n"));
  free(text);
  text = test_cluster_text(c, 0);
  pai_cluster_free(c);
  c = test_cluster(text, NULL);
  assert_int_equal(c->cells[8].gpu, 4);
  pai_cluster_free(c);
  free(text);
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EUSER;
}

static void machines_are_written(void **state)
{
  pai_cluster *c = test_synthetic("nodes:2 racks:1 gpu:4:x numa:2 cpus:8 "
                                  "mem:64G");
  char *text = test_hived_text(c, 0);

  (void)state;
  assert_non_null(strstr(text, "  cellTypes:\n"
                               "    x-node-numa:\n"
                               "      childCellType: x\n"
                               "      childCellNumber: 2\n"
                               "    x-node:\n"
                               "      childCellType: x-node-numa\n"
                               "      childCellNumber: 2\n"
                               "      isNodeLevel: true\n"
                               "    x-node-rack:\n"
                               "      childCellType: x-node\n"
                               "      childCellNumber: 2\n"
                               "  physicalCells:\n"
                               "    - cellType: x-node-rack\n"
                               "      cellAddress: rack01\n"
                               "      cellChildren:\n"
                               "        - cellAddress: node0001\n"
                               "        - cellAddress: node0002\n"
                               "virtualClusters:\n"
                               "  default:\n"
                               "    virtualCells:\n"
                               "      - cellType: x-node-rack\n"
                               "        cellNumber: 1\n"));
  test_cluster_found(text, "hived", "", NULL, NULL);
  free(text);
  pai_cluster_free(c);
}

#define THREE                                                                \
  "skus: {a: {gpu: x, gpus: 2}, b: {gpu: y, gpus: 2}, d: {gpu: z, gpus: "    \
  "1}}\n"                                                                    \
  "nodes: [{name: a1, sku: a}, {name: b1, sku: b, pin: p}, {name: d1, sku: " \
  "d}, {name: a2, sku: a}]\n"

/* What HiveD needs is in its configuration, and not in the cluster. */
static void default_is_only_written(void **state)
{
  pai_cluster *c = test_cluster(THREE, NULL);
  char *before = test_cluster_text(c, 0), *hived = test_hived_text(c, 0);
  char *after = test_cluster_text(c, 0);
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_string_equal(before, after);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_int_equal(v.virtual_clusters, 0);
  assert_non_null(strstr(hived, "virtualClusters:\n"
                                "  default:\n"
                                "    virtualCells:\n"
                                "      - cellType: a\n"
                                "        cellNumber: 2\n"
                                "      - cellType: b\n"
                                "        cellNumber: 1\n"
                                "      - cellType: d\n"
                                "        cellNumber: 1\n"));
  test_cluster_found(hived, "hived", "", NULL, NULL);
  free(before);
  free(hived);
  free(after);
  pai_cluster_free(c);
}

/* HiveD does not start with a chain that no virtual cluster names. */
static void each_chain_is_named(void **state)
{
  pai_cluster *c = test_cluster(
    THREE "virtualClusters: {v: {pins: [p]}, w: {cells: {a.x: 1}}}\n", NULL);
  char *before = test_cluster_text(c, 0), *hived = test_hived_text(c, 0);
  char *after = test_cluster_text(c, 0);

  (void)state;
  assert_string_equal(before, after);
  assert_non_null(strstr(hived, "virtualClusters:\n"
                                "  v:\n"
                                "    virtualCells:\n"
                                "      - cellType: d\n"
                                "        cellNumber: 0\n"
                                "    pinnedCells:\n"
                                "      - pinnedCellId: p\n"
                                "  w:\n"
                                "    virtualCells:\n"
                                "      - cellType: a.x\n"
                                "        cellNumber: 1\n"));
  test_cluster_ignore("unshared");
  test_cluster_found(hived, "hived", "", NULL, NULL);
  test_cluster_ignore(NULL);
  free(before);
  free(hived);
  free(after);
  pai_cluster_free(c);
}

/* A GPU comes with what it can have on each machine that has its kind. */
static void units_fit_on_each_machine(void **state)
{
  static const char text[] =
    "skus:\n"
    "  big: {gpu: x, gpus: 2, cpus: 64, memory: 64G, used: {cpus: 2}}\n"
    "  dark: {gpu: x, gpus: 2}\n"
    "  none: {gpu: x, gpus: 2, cpus: 2, memory: 1G}\n"
    "  mix: {gpu: {x: 1, y: 3}, cpus: 40, memory: 32G}\n"
    "nodes: [{name: b, sku: big}, {name: d, sku: dark}, {name: m, sku: mix}]"
    "\n";
  pai_cluster *c = test_cluster(text, NULL);
  char *hived = test_hived_text(c, 0);

  (void)state;
  assert_non_null(strstr(hived, "  skuTypes:\n"
                                "    x:\n"
                                "      gpu: 1\n"
                                "      cpu: 10\n"
                                "      memory: 8192Mi\n"
                                "    'y':\n"
                                "      gpu: 1\n"
                                "      cpu: 10\n"
                                "      memory: 8192Mi\n"
                                "  cellTypes:\n"));
  free(hived);
  pai_cluster_free(c);
}

static void what_has_no_cells_is_not_written(void **state)
{
  pai_cluster *c = test_synthetic("nodes:2 cpus:8");
  pai_error *err;

  (void)state;
  assert_int_equal(pai_cluster_write_hived(c, 0, refuse, NULL, &err),
                   PAI_ENOTSUP);
  assert_non_null(strstr(pai_error_help(err), "gpu: cpu"));
  test_expect_error(err, PAI_ENOTSUP, "no GPUs");
  pai_cluster_free(c);
  c = test_cluster(ours, NULL);
  assert_int_equal(pai_cluster_write_hived(c, 0, refuse, NULL, &err),
                   PAI_EUSER);
  pai_error_free(err);
  assert_int_equal(pai_cluster_write_hived(c, 99, refuse, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "YAML or JSON");
  assert_int_equal(pai_cluster_write_hived(NULL, 0, refuse, NULL, &err),
                   PAI_EINVAL);
  pai_error_free(err);
  pai_cluster_free(c);
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(test_hived_memory, (void *)(uintptr_t)ours);
  test_faults(test_hived_memory, (void *)(uintptr_t)THREE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_of_our_form_find_their_nodes),
    cmocka_unit_test(machines_are_written),
    cmocka_unit_test(default_is_only_written),
    cmocka_unit_test(each_chain_is_named),
    cmocka_unit_test(units_fit_on_each_machine),
    cmocka_unit_test(what_has_no_cells_is_not_written),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
