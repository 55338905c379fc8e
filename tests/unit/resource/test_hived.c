/* test_hived.c - HiveD's configuration, read and written again */
#include "resource/hived.h"
#include "rows.h"

#include "base/buf.h"
#include "resource/read.h"

#include <stdio.h>
#include <stdlib.h>

static bool skipped;

/* --- HiveD's own examples and answers ------------------------------------- */

static const struct {
  const char *name, *list, *says, *help;
} answers[] = {
  { "err-chain-not-in-physical",
    "unknown-chain /virtualClusters/a/virtualCells/1/cellType 9:63\n",
    "no cell of type 'R'", "types of cells at the top: N" },
  { "err-chain-without-vc",
    "?unused-chain /physicalCluster/physicalCells/1 9:5\n",
    "no virtual cluster has anything of 'M'", "does not start" },
  { "err-index-not-int",
    "bad-device /physicalCluster/physicalCells/0/cellChildren/0 7:20\n",
    "'x' is not the number of a device", "0 to 65535" },
  { "err-insufficient",
    "not-enough-cells /virtualClusters/b/virtualCells/0/cellType 10:33\n",
    "of 'R', virtual clusters want 1 'G', 'b' the last of them, and 0 are",
    "give away less" },
  { "err-leaf-as-top",
    "leaf-at-top /physicalCluster/physicalCells/0/cellType 5:15\n",
    "'G' is a leaf cell", "isNodeLevel" },
  { "err-pinned-not-found",
    "unknown-pin /virtualClusters/a/pinnedCells/0/pinnedCellId 8:36\n",
    "is pinned as 'P'", "none" },
  { "err-top-below-node",
    "below-node /physicalCluster/physicalCells/0/cellType 6:15\n",
    "'S' is a part of a node", "isNodeLevel" },
  { "err-unknown-type",
    "unknown-cell-type /physicalCluster/physicalCells/0/cellType 5:15\n",
    "no type of cell 'M'", "cellTypes of this file: N" },
  { "err-vc-type-unknown",
    "unknown-cell-type /virtualClusters/a/virtualCells/0/cellType 8:33\n",
    "there is no type 'Z'", "N, G" },
  { "design-invalid",
    "not-enough-cells /virtualClusters/VC1/pinnedCells/0/pinnedCellId "
    "174:21\n",
    "of 'CT1-NODE', virtual clusters want 3 'CT1', 'VC1' the last of them",
    "larger cells" },
};

static char *config_text(const char *path)
{
  size_t len;

  return test_shared_text(path, &len);
}

static void known_errors_are_found(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(answers) && !skipped; i++) {
    char path[128], *text;

    (void)snprintf(path, sizeof(path), "hived/config/%s.yaml",
                   answers[i].name);
    text = config_text(path);
    skipped |= text == NULL;
    if (text == NULL)
      break;
    test_cluster_found(text, NULL, answers[i].list, answers[i].says,
                       answers[i].help);
    free(text);
  }
}

/* Each that HiveD starts with is valid; each other is not, but for one. */
static void check_start(const pai__tree *row)
{
  pai__node expect = pai__tree_get(row, 0, "expect");
  const char *name = test_row_text(row, "config", NULL);
  char path[128], *text;
  pai_report *r;

  if (name == NULL)
    return;
  (void)snprintf(path, sizeof(path), "hived/config/%s", name);
  text = config_text(path);
  assert_non_null(text);
  assert_int_equal(pai_cluster_check(&r, NULL, text, strlen(text), NULL, NULL),
                   PAI_OK);
  if (strcmp(name, "err-chain-without-vc.yaml") != 0 &&
      pai_report_valid(r) != (expect == PAI__NO_NODE))
    fail_msg("%s: valid is %d", name, (int)pai_report_valid(r));
  pai_report_free(r);
  free(text);
}

static void what_starts_is_valid(void **state)
{
  (void)state;
  skipped |= test_each_line("hived/cases.jsonl", check_start) < 0;
}

static void what_is_written_is_read_again(void **state)
{
  static const char *const paths[] = {
    "config/backtrack",       "config/basic",
    "config/cfg-infer",       "config/design",
    "config/design-reconfig", "config/design-relaxed",
    "config/design-v2",       "config/design-v3",
    "config/dgx16",           "config/dgx16-v2",
    "config/dgx16-v3",        "config/feature-1",
    "config/feature-2",       "config/feature-33",
    "config/feature-8",       "config/large128",
    "config/large128-v2",     "config/missing-node",
    "config/relaxed2",        "config/unsafe-1",
    "config/unsafe-4",        "config/design-badnodes",
    "bench/cluster-16",       "bench/cluster-128",
    "bench/cluster-1024",
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(paths) && !skipped; i++) {
    char path[128], *text;

    (void)snprintf(path, sizeof(path), "hived/%s.yaml", paths[i]);
    text = config_text(path);
    skipped |= text == NULL;
    if (text != NULL)
      test_hived_round_trip(text);
    free(text);
  }
}

/* --- what follows from the cells ------------------------------------------ */

static const char odd[] =
  "kubeApiServerAddress: http://k\n"
  "forcePodBindThreshold: 5\n"
  "somethingElse: [1]\n"
  "physicalCluster:\n"
  "  skuTypes:\n"
  "    G: {gpu: 1, cpu: 4, memory: 8192Mi}\n"
  "    H: {gpu: 1, cpu: 3, memory: 1536Ki, gpuType: hot}\n" TYPES
  "  physicalCells:\n"
  "  - cellType: R\n"
  "    cellAddress: 7\n"
  "    cellChildren: [{cellAddress: a}, {cellAddress: b, cellChildren:\n"
  "      [{cellAddress: 6}, {cellAddress: 03, pinnedCellId: p}]}]\n"
  "  - {cellType: M, cellAddress: a, cellChildren: [{cellAddress: 9},\n"
  "                                                 {cellAddress: 8}]}\n"
  "  - {cellType: N, cellAddress: 1.50, cellChildren: null}\n"
  "  - {cellType: N, cellAddress: e, cellChildren: []}\n"
  "virtualClusters:\n"
  "  v: {virtualCells: [{cellType: R.N, cellNumber: 1},\n"
  "                     {cellType: N, cellNumber: 0},\n"
  "                     {cellType: M.H, cellNumber: 2}],\n"
  "      pinnedCells: [{pinnedCellId: p}]}\n"
  "  w:\n";

static void nodes_follow_from_cells(void **state)
{
  pai_cluster *c = test_cluster(odd, NULL);
  pai_cluster_view v = { .struct_size = sizeof(v) };
  pai_node_view n = { .struct_size = sizeof(n) };
  pai_node_gpu_view g = { .struct_size = sizeof(g) };
  pai_sku_view s = { .struct_size = sizeof(s) };

  (void)state;
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_string_equal(v.form, "hived");
  assert_int_equal(v.nodes, 4);
  assert_int_equal(v.gpus, 10);
  assert_int_equal(v.racks, 1);
  assert_int_equal(v.cpus, 4 * 8 + 2 * 3);
  assert_int_equal(pai_cluster_view_node(c, 0, &n), PAI_OK);
  assert_string_equal(n.name, "a");
  assert_string_equal(n.rack, "7");
  assert_int_equal(n.gpus, 4);
  assert_int_equal(pai_cluster_view_gpu(c, 0, 3, &g), PAI_OK);
  assert_string_equal(g.kind, "H");
  assert_int_equal(g.number, 9);
  assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
  assert_string_equal(s.name, "N+M");
  assert_int_equal(s.memory, (UINT64_C(16) << 30) + (3 << 20));
  assert_int_equal(pai_cluster_view_gpu(c, 1, 0, &g), PAI_OK);
  assert_int_equal(g.number, 3);
  assert_int_equal(pai_cluster_view_node(c, 2, &n), PAI_OK);
  assert_string_equal(n.name, "1.50");
  assert_null(n.rack);
  pai_cluster_free(c);
}

static void what_follows_is_not_written(void **state)
{
  pai_cluster *c = test_cluster(odd, NULL);
  char *text = test_hived_text(c, 0);

  (void)state;
  assert_string_equal(
    text, "# HiveD's configuration, written by libopenpai.\n"
          "# What is not written follows from the rest: the children of a "
          "cell from\n"
          "# its type, addresses and GPUs from their order.\n"
          "kubeApiServerAddress: http://k\n"
          "forcePodBindThreshold: 5\n"
          "physicalCluster:\n"
          "  skuTypes:\n"
          "    G:\n"
          "      gpu: 1\n"
          "      cpu: 4\n"
          "      memory: 8192Mi\n"
          "    H:\n"
          "      gpu: 1\n"
          "      cpu: 3\n"
          "      memory: 1536Ki\n"
          "      gpuType: hot\n"
          "  cellTypes:\n"
          "    R:\n"
          "      childCellType: 'N'\n"
          "      childCellNumber: 2\n"
          "    'N':\n"
          "      childCellType: G\n"
          "      childCellNumber: 2\n"
          "      isNodeLevel: true\n"
          "    M:\n"
          "      childCellType: H\n"
          "      childCellNumber: 2\n"
          "      isNodeLevel: true\n"
          "  physicalCells:\n"
          "    - cellType: R\n"
          "      cellAddress: '7'\n"
          "      cellChildren:\n"
          "        - cellAddress: a\n"
          "        - cellAddress: b\n"
          "          cellChildren:\n"
          "            - cellAddress: '6'\n"
          "            - cellAddress: '03'\n"
          "              pinnedCellId: p\n"
          "    - cellType: M\n"
          "      cellAddress: a\n"
          "      cellChildren:\n"
          "        - cellAddress: '9'\n"
          "        - cellAddress: '8'\n"
          "    - cellType: 'N'\n"
          "      cellAddress: '1.50'\n"
          "    - cellType: 'N'\n"
          "      cellAddress: e\n"
          "virtualClusters:\n"
          "  v:\n"
          "    virtualCells:\n"
          "      - cellType: R.N\n"
          "        cellNumber: 1\n"
          "      - cellType: 'N'\n"
          "        cellNumber: 0\n"
          "      - cellType: M.H\n"
          "        cellNumber: 2\n"
          "    pinnedCells:\n"
          "      - pinnedCellId: p\n"
          "  w: {}\n");
  free(text);
  pai_cluster_free(c);
  test_hived_round_trip(odd);
}

/* Two shapes of one type get SKUs of two names. */
static void skus_have_names_of_their_own(void **state)
{
  static const char text[] =
    "physicalCluster:\n" TYPES "  physicalCells:\n"
    "  - {cellType: N, cellAddress: a}\n"
    "  - {cellType: N, cellAddress: b, cellChildren: [{}]}\n"
    "  - {cellType: N, cellAddress: c, cellChildren: [{}, {}, {}]}\n"
    "  - {cellType: N, cellAddress: d, cellChildren: [{}]}\n"
    "virtualClusters: {v: {virtualCells: [{cellType: N, cellNumber: 1}]}}\n";
  pai_cluster *c = test_cluster(text, NULL);

  (void)state;
  assert_int_equal(c->nskus, 3);
  assert_string_equal(c->skus[0].name, "N");
  assert_string_equal(c->skus[1].name, "N-2");
  assert_string_equal(c->skus[2].name, "N-3");
  assert_int_equal(c->nodes[3].sku, 1);
  pai_cluster_free(c);
  test_hived_round_trip(text);
}

/* What is special deep in a cell makes all above it be written. */
static void special_cells_are_written(void **state)
{
  static const char text[] =
    "physicalCluster:\n" TYPES "  physicalCells:\n"
    "  - {cellType: R, cellChildren: [{}, {cellChildren: [{}]}]}\n"
    "  - {cellType: R, cellChildren: [{cellChildren: [{}, {pinnedCellId: q}]},"
    " {}]}\n"
    "virtualClusters: {v: {virtualCells: [{cellType: R, cellNumber: 1}]}}\n";

  (void)state;
  test_hived_round_trip(text);
}

/* What comes with its GPUs may be more than one machine can have. */
static void memory_has_a_limit(void **state)
{
  static const char text[] =
    "physicalCluster:\n"
    "  skuTypes: {H: {gpu: 1, memory: 1024T}}\n" TYPES
    "  physicalCells: [{cellType: M, cellAddress: a}]\n"
    "virtualClusters: {v: {virtualCells: [{cellType: M, cellNumber: 1}]}}\n";
  pai_cluster *c = test_cluster(text, NULL);

  (void)state;
  assert_int_equal(c->skus[0].memory, UINT64_C(1) << 50);
  pai_cluster_free(c);
  test_hived_round_trip(text);
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(test_hived_memory, (void *)(uintptr_t)odd);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_errors_are_found),
    cmocka_unit_test(what_starts_is_valid),
    cmocka_unit_test(what_is_written_is_read_again),
    cmocka_unit_test(nodes_follow_from_cells),
    cmocka_unit_test(what_follows_is_not_written),
    cmocka_unit_test(skus_have_names_of_their_own),
    cmocka_unit_test(special_cells_are_written),
    cmocka_unit_test(memory_has_a_limit),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
