/* test_hived.c - HiveD's configuration, read, checked and written */
#include "resource/clusters.h"
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
    "of 'R', virtual clusters want 1 'G', and 0 are there", "give away less" },
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
    "of 'CT1-NODE', virtual clusters want 3 'CT1', and 0 are there",
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

/* --- round trips ---------------------------------------------------------- */

static void same_text(const char *a, const char *b)
{
  assert_int_equal(a == NULL, b == NULL);
  if (a != NULL)
    assert_string_equal(a, b);
}

static void same_cells(const pai_cluster *a, const pai_cluster *b)
{
  assert_int_equal(a->ntypes, b->ntypes);
  for (size_t i = 0; i < a->ntypes; i++) {
    assert_string_equal(a->types[i].name, b->types[i].name);
    assert_int_equal(a->types[i].child, b->types[i].child);
    assert_int_equal(a->types[i].children, b->types[i].children);
    assert_int_equal(a->types[i].is_node, b->types[i].is_node);
    assert_int_equal(a->types[i].in_node, b->types[i].in_node);
  }
  assert_int_equal(a->ncells, b->ncells);
  for (size_t i = 0; i < a->ncells; i++) {
    const pai__cell *x = &a->cells[i], *y = &b->cells[i];

    assert_string_equal(x->address, y->address);
    same_text(x->pin, y->pin);
    assert_int_equal(x->type, y->type);
    assert_int_equal(x->parent, y->parent);
    assert_int_equal(x->skip, y->skip);
    assert_int_equal(x->node, y->node);
    assert_int_equal(x->gpu, y->gpu);
    if (x->gpu != PAI__NOTHING)
      assert_int_equal(a->gpus[x->gpu].number, b->gpus[y->gpu].number);
  }
}

static void same_shares(const pai_cluster *a, const pai_cluster *b)
{
  assert_int_equal(a->nvcs, b->nvcs);
  for (size_t i = 0; i < a->nvcs; i++) {
    assert_string_equal(a->vcs[i].name, b->vcs[i].name);
    assert_int_equal(a->vcs[i].nshares, b->vcs[i].nshares);
    for (uint32_t k = 0; k < a->vcs[i].nshares; k++) {
      same_text(a->vcs[i].shares[k].path, b->vcs[i].shares[k].path);
      same_text(a->vcs[i].shares[k].pin, b->vcs[i].shares[k].pin);
      assert_int_equal(a->vcs[i].shares[k].count, b->vcs[i].shares[k].count);
    }
  }
}

/* Through both forms, in both syntaxes; and each writes the same again.  HiveD
 * needs a virtual cluster, and is given one where there is none. */
static void round_trip(const char *text)
{
  pai_cluster *c = test_cluster(text, NULL), *again;
  char *before, *after;

  for (int i = 0; i < 4; i++) {
    int format = i % 2 == 0 ? PAI_FORMAT_YAML : PAI_FORMAT_JSON;

    before = i < 2 ? test_hived_text(c, format) : test_cluster_text(c, format);
    again = test_cluster(before, i < 2 ? "hived" : "openpai");
    same_cells(c, again);
    if (c->nvcs > 0 || i >= 2)
      same_shares(c, again);
    after = i < 2 ? test_hived_text(again, format)
                  : test_cluster_text(again, format);
    assert_string_equal(before, after);
    free(before);
    free(after);
    pai_cluster_free(again);
  }
  pai_cluster_free(c);
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
      round_trip(text);
    free(text);
  }
}

/* --- what follows from the cells ------------------------------------------ */

#define TYPES                                                          \
  "  cellTypes:\n"                                                     \
  "    R: {childCellType: N, childCellNumber: 2}\n"                    \
  "    N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n" \
  "    M: {childCellType: H, childCellNumber: 2, isNodeLevel: yes}\n"

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
  round_trip(odd);
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
  round_trip(text);
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
  round_trip(text);
}

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

/* --- what is wrong -------------------------------------------------------- */

#define VC \
  "virtualClusters: {v: {virtualCells: [{cellType: N, cellNumber: 1}]}}\n"
#define ONE(types, cells, vcs) \
  "physicalCluster:\n"         \
  "  cellTypes:\n" types "  physicalCells:\n" cells vcs
#define N "    N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"
#define R "    R: {childCellType: N, childCellNumber: 2}\n"
#define CELL "  - {cellType: N, cellAddress: a}\n"
#define TYPE "/physicalCluster/cellTypes/"
#define CELLS "/physicalCluster/physicalCells/"

static const struct {
  const char *text, *list, *says, *help;
} faults[] = {
  /* types */
  { ONE("    N: {childCellType: N, childCellNumber: 2}\n", CELL, VC),
    "cycle " TYPE "N 3:5\n", "'N' would contain itself", "childCellType" },
  { ONE(N "    A: {childCellType: B, childCellNumber: 2}\n"
          "    B: {childCellType: A, childCellNumber: 2}\n"
          "    C: {childCellType: A, childCellNumber: 2}\n",
        CELL, VC),
    "cycle " TYPE "A 4:5\n", "would contain itself, in a 'B'",
    "another childCellType" },
  { ONE("    N: {childCellType: G, childCellNumber: 0}\n", CELL, VC),
    "too-small " TYPE "N/childCellNumber 3:44\n", "cannot be 0", "from 1" },
  { ONE("    N: {childCellType: G, childCellNumber: -2}\n", CELL, VC),
    "too-small " TYPE "N/childCellNumber 3:44\n", "cannot be -2", "from 1" },
  { ONE("    N: {childCellType: G, childCellNumber: 2000000}\n", CELL, VC),
    "too-large " TYPE "N/childCellNumber 3:44\n", "cannot be 2000000",
    "1048576" },
  { ONE("    N: {childCellType: G, childCellNumber: two}\n", CELL, VC),
    "wrong-type " TYPE "N/childCellNumber 3:44\n", "not 'two'", NULL },
  { ONE(
      "    N: {childCellType: G, childCellNumber: 5000, isNodeLevel: true}\n",
      CELL, VC),
    "limit " TYPE "N 3:5\n", "more than 4096 leaf cells in a node",
    "childCellNumber" },
  { ONE(N "    A: {childCellType: N, childCellNumber: 1000000}\n"
          "    B: {childCellType: A, childCellNumber: 1000000}\n",
        CELL, VC),
    "limit " TYPE "A 4:5\n", "more than 1048576 cells", "childCellNumber" },
  { ONE("    N: {childCellNumber: 2, isNodeLevel: true}\n", CELL, VC),
    "missing-key " TYPE "N 3:8\n", "needs 'childCellType'", NULL },
  { ONE("    N: {childCellType: G, isNodeLevel: true}\n", CELL, VC),
    "missing-key " TYPE "N 3:8\n", "needs 'childCellNumber'", NULL },
  { ONE("    N: 2\n", CELL, VC), "wrong-type " TYPE "N 3:8\n",
    "must be a mapping, not 2", NULL },
  { ONE("    N: {childCellType: G, childCellNumber: 2, isNodeLevel: 1}\n",
        CELL, VC),
    "wrong-type " TYPE "N/isNodeLevel 3:60\nbelow-node " CELLS
    "0/cellType 5:16\n",
    "true or false, not 1", NULL },
  { ONE(N "    R: {childCellType: N, childCellNumber: 2, isNodeLevel: true}\n",
        CELL, VC),
    "two-nodes " TYPE "R 4:5\n", "is a node, and contains nodes", "only one" },
  { ONE("    N: {childCellType: G, childCelNumber: 2, childCellNumber: 2,\n"
        "        isNodeLevel: true, isFast: true}\n",
        CELL, VC),
    "?unknown-key " TYPE "N/childCelNumber 3:27\n", "no field",
    "did you mean 'childCellNumber'?" },
  /* cells */
  { ONE(N, "  - {cellAddress: a}\n", VC), "missing-key " CELLS "0 5:5\n",
    "needs 'cellType'", NULL },
  { ONE(N, "  - N\n", VC), "wrong-type " CELLS "0 5:5\n", "must be a mapping",
    NULL },
  { ONE(N, "  - {cellType: n, cellAddress: a}\n", VC),
    "unknown-cell-type " CELLS "0/cellType 5:16\n", "no type of cell 'n'",
    "did you mean 'N'?" },
  { ONE(N, CELL CELL, VC), "duplicate " CELLS "1 6:5\n",
    "the cell at line 5 has the address 'a', too", "another cellAddress" },
  { ONE(N R,
        CELL "  - {cellType: R, cellChildren: [{cellAddress: b},\n"
             "     {cellAddress: b}]}\n",
        VC),
    "duplicate " CELLS "1/cellChildren/1 8:6\n", "address '1/b', too",
    "another" },
  { ONE(N, "  - {cellType: N, cellAddress: a/b}\n", VC),
    "bad-name " CELLS "0/cellAddress 5:32\n", "cannot have a '/'", NULL },
  { ONE(N, "  - {cellType: N, cellAddress: 'a['}\n", VC),
    "bad-name " CELLS "0 5:5\n", "cannot be called 'a['", "brackets" },
  { ONE(N, "  - {cellType: N, cellAddress: [a]}\n", VC),
    "wrong-type " CELLS "0/cellAddress 5:32\n", "not a list", NULL },
  { ONE(N, "  - {cellType: N, cellAddress: a, cellChildren: {}}\n", VC),
    "wrong-type " CELLS "0/cellChildren 5:49\n", "must be a list", NULL },
  { ONE(N,
        "  - {cellType: N, cellAddress: a, cellChildren: [{}, {cellAddress: "
        "-1}]}\n",
        VC),
    "bad-device " CELLS "0/cellChildren/1 5:54\n", "'-1'", "0 to 65535" },
  { ONE(N,
        "  - {cellType: N, cellAddress: a, cellChildren: [{}, {cellAddress: "
        "65536}]}\n",
        VC),
    "bad-device " CELLS "0/cellChildren/1 5:54\n", "'65536'", "0 to 65535" },
  { ONE(N, "  - {cellType: N, cellAddress: a, cellChildren: [{}]}\n", VC),
    "?child-count " CELLS "0/cellChildren 5:49\n",
    "this cell has 1 cells in it, and one of type 'N' has 2",
    "give all of them" },
  { ONE(N,
        "  - {cellType: N, cellAddress: a, cellChildren: [{cellType: H}, "
        "{}]}\n",
        VC),
    "?no-effect " CELLS "0/cellChildren/0/cellType 5:61\n", "of type 'G'",
    "follows" },
  { ONE(N R,
        CELL "  - {cellType: R, cellChildren: [{cellAddress: a}, "
             "{cellAddress: b}]}\n",
        "virtualClusters: {v: {virtualCells: [{cellType: R.N, cellNumber: 1},"
        "\n  {cellType: N, cellNumber: 1}]}}\n"),
    "?shared-gpu " CELLS "0 6:5\n", "two cells of node 'a' are its GPU 0",
    "two jobs" },
  { ONE(N, "  - {cellType: N}\n", VC), "?node-without-name " CELLS "0 5:5\n",
    "is '0'", "Kubernetes" },
  { ONE(N,
        "  - {cellType: N, cellAddress: a, pinnedCellId: p}\n"
        "  - {cellType: N, cellAddress: b, pinnedCellId: p}\n",
        VC),
    "duplicate " CELLS "1 6:5\n", "'p' is given already, at line 5",
    "a pin is one cell" },
  { "physicalCluster: {physicalCells: [], cellTypes: {}}\n", "no-nodes  1:1\n",
    "no node", NULL },
  { "physicalCluster:\n", "wrong-type /physicalCluster 1:17\n",
    "must be a mapping", NULL },
  { "physicalCluster: {skuTypes: {G: {cpu: 1.5}}}\n",
    "wrong-type /physicalCluster/skuTypes/G/cpu 1:39\n", "whole number",
    NULL },
  { "physicalCluster: {skuTypes: {G: {memory: 2048T}}}\n",
    "too-large /physicalCluster/skuTypes/G/memory 1:42\n", "any machine",
    NULL },
  /* shares */
  { ONE(N R,
        CELL "  - {cellType: R, cellChildren: [{cellAddress: b}, "
             "{cellAddress: c}]}\n",
        "virtualClusters: {v: {virtualCells: [{cellType: N.R, cellNumber: 1}"
        "]}}\n"),
    "not-in-chain /virtualClusters/v/virtualCells/0/cellType 8:49\n",
    "'N' contains no 'R'", "what it contains: N, G" },
  { ONE(N, CELL,
        "virtualClusters: {v: {virtualCells: [{cellType: N.X.G, cellNumber: "
        "1}]}}\n"),
    "?odd-path /virtualClusters/v/virtualCells/0/cellType 6:49\n",
    "no 'X' at this place between 'N' and 'G'", "take it out" },
  { ONE(N, CELL,
        "virtualClusters: {v: {virtualCells: [{cellType: N, cellNumber: -1}"
        "]}}\n"),
    "too-small /virtualClusters/v/virtualCells/0/cellNumber 6:64\n",
    "cannot be -1", "from 0" },
  { ONE(N, CELL, "virtualClusters: {v: {virtualCells: [{cellType: N}]}}\n"),
    "missing-key /virtualClusters/v/virtualCells/0 6:38\n",
    "needs 'cellNumber'", NULL },
  { ONE(N, CELL, "virtualClusters: {v: {virtualCells: [{cellNumber: 1}]}}\n"),
    "missing-key /virtualClusters/v/virtualCells/0 6:38\n", "needs 'cellType'",
    NULL },
  { ONE(N, CELL, "virtualClusters: {v: {virtualCells: {N: 1}}}\n"),
    "wrong-type /virtualClusters/v/virtualCells 6:37\n", "must be a list",
    NULL },
  { ONE(N, CELL, "virtualClusters: {v: {pinnedCells: [{id: p}]}}\n"),
    "missing-key /virtualClusters/v/pinnedCells/0 6:37\n",
    "needs 'pinnedCellId'", NULL },
  { ONE(N, CELL,
        "virtualClusters: {a/b: {virtualCells: [{cellType: N, cellNumber: "
        "1}]}}\n"),
    "bad-name /virtualClusters/a~1b 6:19\n", "cannot have a '/'", NULL },
  { ONE(N, "  - {cellType: N, cellAddress: a, pinnedCellId: p}\n",
        "virtualClusters: {v: {pinnedCells: [{pinnedCellId: p}]},\n"
        "  w: {pinnedCells: [{pinnedCellId: p}]}}\n"),
    "duplicate /virtualClusters/w/pinnedCells/0/pinnedCellId 7:36\n",
    "'p' is given away already, at line 6", "one virtual cluster" },
  { ONE(N,
        "  - {cellType: N, cellAddress: a, pinnedCellId: p, cellChildren:\n"
        "     [{pinnedCellId: q}, {}]}\n"
        "  - {cellType: N, cellAddress: b}\n",
        "virtualClusters: {v: {pinnedCells: [{pinnedCellId: p}]},\n"
        "  w: {pinnedCells: [{pinnedCellId: q}]}}\n"),
    "pin-in-pin /virtualClusters/w/pinnedCells/0/pinnedCellId 9:36\n",
    "'q' is in the pinned cell 'p'", "only one" },
  { ONE(N, CELL,
        "virtualClusters: {v: {virtualCells: [{cellType: N, cellNumber: 0}"
        "]}}\n"),
    "", NULL, NULL },
  { ONE(N R,
        "  - {cellType: R, cellChildren: [{cellAddress: b}, "
        "{cellAddress: c}]}\n",
        "virtualClusters: {v: {virtualCells: [\n"
        "  {cellType: R.N.G, cellNumber: 1}, {cellType: R.G, cellNumber: 1},\n"
        "  {cellType: R.X.G, cellNumber: 1}, {cellType: R.N.N.G, cellNumber: "
        "1}]}}\n"),
    "?odd-path /virtualClusters/v/virtualCells/2/cellType 9:14\n"
    "?odd-path /virtualClusters/v/virtualCells/3/cellType 9:48\n",
    "no 'X' at this place between 'R' and 'G'", "take it out" },
  /* cells of our own form */
  { "skus: {s: {gpu: G, gpus: 2}}\n"
    "nodes: [{name: a, sku: s}, {name: b, sku: s}]\n" ONE(
      N R,
      "  - {cellType: R, cellChildren: [{cellAddress: a}, {cellAddress: "
      "b}]}\n" CELL,
      ""),
    "unknown-gpu " CELLS "1 9:5\nunknown-gpu " CELLS "1 9:5\n",
    "has no GPU 0 of kind 'G'", "in no other cell" },
  { "skus: {s: {gpu: G, gpus: 2}}\nnodes: [{name: ab1, sku: s}]\n" ONE(
      N, "  - {cellType: N, cellAddress: ab2}\n", ""),
    "unknown-node " CELLS "0 7:5\n", "no node 'ab2'", "did you mean 'ab1'?" },
  { "skus: {s: {gpu: G, gpus: 1}}\nnodes: [{name: a, sku: s}]\n" ONE(N, CELL,
                                                                     ""),
    "unknown-gpu " CELLS "0 7:5\n", "has no GPU 1 of kind 'G'", "it has 1" },
  { "skus: {s: {gpu: H, gpus: 2}}\nnodes: [{name: a, sku: s}]\n" ONE(N, CELL,
                                                                     ""),
    "unknown-gpu " CELLS "0 7:5\nunknown-gpu " CELLS "0 7:5\n",
    "has no GPU 0 of kind 'G'", "it has 2" },
  /* nodes that no cell covers */
  { "skus: {s: {gpu: G, gpus: 2}, c: {}}\nnodes: [{name: a, sku: s}, "
    "{name: 'b[1-4]', sku: s}, {name: c, sku: c}]\n" ONE(N, CELL, ""),
    "?in-no-cell /nodes/1 2:28\n?unused-chain " CELLS "0 7:5\n",
    "nodes 'b1', 'b2', 'b3', … are in no cell: no job can get them",
    "add a cell" },
  { "skus: {s: {gpu: G, gpus: 3}}\nnodes: [{name: a, sku: s}]\n" ONE(N, CELL,
                                                                     ""),
    "?in-no-cell /nodes/0 2:9\n?unused-chain " CELLS "0 7:5\n",
    "some GPUs of node 'a' are in no cell", "as many leaf cells" },
  { "skus: {s: {gpu: G, gpus: 2}}\nnodes: [{name: a, sku: s, pin: p}]\n" ONE(
      N, CELL, ""),
    "?no-effect /nodes/0 2:9\n?unused-chain " CELLS "0 7:5\n",
    "the pin of node 'a' has no effect", "pinnedCellId" },
};

static void what_is_wrong_is_told(void **state)
{
  (void)state;
  test_cluster_ignore("unshared"); /* small things are given away here */
  for (size_t i = 0; i < PAI__LEN(faults); i++)
    test_cluster_found(faults[i].text, NULL, faults[i].list, faults[i].says,
                       faults[i].help);
  test_cluster_ignore(NULL);
}

/* So many cells that they must not be made first and counted then. */
static void many_cells_are_refused(void **state)
{
  static const char text[] =
    "physicalCluster:\n"
    "  cellTypes:\n" N "    R: {childCellType: N, childCellNumber: 349525}\n"
    "  physicalCells:\n"
    "  - {cellType: N}\n"
    "  - {cellType: R}\n";
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  test_tally tally;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  test_tally_init(&tally);
  opts.alloc = &tally.alloc;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), &opts, &err),
                   PAI_ELIMIT);
  assert_null(c);
  test_expect_error(err, PAI_ELIMIT, "more than 1048576 cells");
  assert_true(tally.peak < 100000);
  assert_int_equal(tally.live, 0);
  opts.alloc = NULL;
  opts.max_nodes = 3;
  assert_int_equal(pai_cluster_parse(&c, odd, strlen(odd), &opts, &err),
                   PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "more than 3 nodes");
}

/* Types T0 to Tn-1, each of which contains one of the type before it; and a
 * cell of the last with something special at the bottom. */
static char *tower(int n)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "physicalCluster: {cellTypes: {\n"
                   "N: {childCellType: G, childCellNumber: 1, isNodeLevel: "
                   "true},\n"
                   "T0: {childCellType: N, childCellNumber: 1}");
  for (int i = 1; i < n; i++)
    pai__buf_printf(&b, ",\nT%d: {childCellType: T%d, childCellNumber: 1}", i,
                    i - 1);
  pai__buf_printf(&b, "},\n physicalCells: [{cellType: T%d", n - 1);
  for (int i = 0; i < n && n < 25; i++)
    pai__buf_str(&b, ", cellChildren: [{cellAddress: a");
  pai__buf_str(&b, ", cellChildren: [{cellAddress: 9}]}");
  for (int i = 0; i < n && n < 25; i++)
    pai__buf_str(&b, "]}");
  pai__buf_str(&b, "]}");
  return pai__buf_take(&b);
}

static void high_towers_are_refused(void **state)
{
  char *text = tower(22); /* with nodes and GPUs, 24 levels */

  (void)state;
  test_cluster_found(text, NULL,
                     "?unused-chain /physicalCluster/physicalCells/0 25:18\n",
                     "'T21'", "virtual cluster");
  round_trip(text);
  free(text);
  text = tower(25);
  test_cluster_found(text, NULL, "limit /physicalCluster/cellTypes/T22 25:1\n",
                     "more than 24 levels", "childCellNumber");
  free(text);
  text = tower(PAI__CELLS_MAX_TYPES);
  test_cluster_found(text, NULL, "limit /physicalCluster/cellTypes 1:30\n",
                     "more than 4096 types", NULL);
  free(text);
}

/* --- short memory --------------------------------------------------------- */

static int read_and_write(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *report;
  pai_cluster *c;
  pai__buf b;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&report, &c, text, strlen(text), &opts, NULL);
  if (rc < 0)
    return rc;
  pai_report_free(report);
  if (c == NULL)
    return PAI_OK;
  pai__buf_init(&b, &pai__libc_alloc);
  rc = pai_cluster_write_hived(c, 0, test_collect, &b, NULL);
  if (rc == PAI_OK) {
    assert_non_null(strstr(pai__buf_text(&b), "physicalCells"));
    rc = pai_cluster_write(c, PAI_FORMAT_JSON, test_collect, &b, NULL);
  }
  pai__buf_dispose(&b);
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_and_write, (void *)(uintptr_t)odd);
  test_faults(read_and_write, (void *)(uintptr_t)ours);
  test_faults(read_and_write, (void *)(uintptr_t)faults[1].text);
  test_faults(read_and_write, (void *)(uintptr_t)THREE);
  for (size_t i = PAI__LEN(faults) - 19; i < PAI__LEN(faults); i++)
    test_faults(read_and_write, (void *)(uintptr_t)faults[i].text);
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
    cmocka_unit_test(cells_of_our_form_find_their_nodes),
    cmocka_unit_test(machines_are_written),
    cmocka_unit_test(default_is_only_written),
    cmocka_unit_test(each_chain_is_named),
    cmocka_unit_test(units_fit_on_each_machine),
    cmocka_unit_test(what_has_no_cells_is_not_written),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(many_cells_are_refused),
    cmocka_unit_test(high_towers_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
