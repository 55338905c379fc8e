/* test_hived.c - HiveD's configuration, read and written again */
#include "resource/clusters.h"
#include "rows.h"

#include "base/buf.h"
#include "resource/cluster/read.h"

#include <stdio.h>
#include <stdlib.h>

/* --- HiveD's own examples and answers ------------------------------------- */

static const struct {
  const char *text, *list, *says, *help;
} answers[] = {
  { "err-chain-not-in-physical",
    "unknown-chain /virtualClusters/a/virtualCells/1/cellType 9:63\n",
    "no cell of type 'R'", "types of cells at the top: N" },
  { "err-chain-without-vc",
    "?unused-chain /physicalCluster/physicalCells/1 9:5\n",
    "no virtual cluster has a share of 'M'", "does not start" },
  { "err-index-not-int",
    "bad-device /physicalCluster/physicalCells/0/cellChildren/0 7:20\n",
    "'x' is not the number of a device", "0 to 65535" },
  { "err-insufficient",
    "not-enough-cells /virtualClusters/b/virtualCells/0/cellType 10:33\n",
    "in 'R', virtual clusters need 1 'G' ('b' is the first",
    "reduce a share" },
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
    "in 'CT1-NODE', virtual clusters need 3 'CT1' ('VC1' is the first",
    "larger cells" },
};

static char *config_text(const char *path)
{
  size_t len;

  return test_shared_text(path, &len);
}

TEST(known_errors_are_found)
{
  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    char path[128], *text;

    (void)snprintf(path, sizeof(path), "hived/config/%s.yaml",
                   answers[i].text);
    text = config_text(path);
    if (text == NULL)
      break;
    test_cluster_found(text, NULL, answers[i].list, answers[i].says,
                       answers[i].help);
    free(text);
  }
}

/* Each that HiveD starts with is valid, and written to be read again; each
 * other is not, but for one. */
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
  assert_ok(pai_cluster_check(&r, NULL, text, strlen(text), NULL, NULL));
  if (strcmp(name, "err-chain-without-vc.yaml") != 0 &&
      pai_report_valid(r) != (expect == PAI__NO_NODE))
    fail_msg("%s: valid is %d", name, (int)pai_report_valid(r));
  if (expect == PAI__NO_NODE)
    test_hived_round_trip(text);
  pai_report_free(r);
  free(text);
}

TEST(what_starts_is_valid)
{
  (void)test_each_line("hived/cases.jsonl", check_start);
}

TEST(what_is_written_is_read_again)
{
  static const char *const paths[] = {
    "config/design-v2", "config/design-v3",  "config/dgx16-v2",
    "config/dgx16-v3",  "config/large128",   "config/large128-v2",
    "bench/cluster-16", "bench/cluster-128", "bench/cluster-1024",
  };

  for (size_t i = 0; i < PAI__LEN(paths); i++) {
    char path[128], *text;

    (void)snprintf(path, sizeof(path), "hived/%s.yaml", paths[i]);
    text = config_text(path);
    if (text != NULL)
      test_hived_round_trip(text);
    free(text);
  }
}

/* --- limits --------------------------------------------------------------- */

#define N_TYPE \
  "    N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"

/* So many cells that they must not be made first and counted then. */
TEST(many_cells_are_refused)
{
  static const char text[] =
    "physicalCluster:\n"
    "  cellTypes:\n" N_TYPE
    "    R: {childCellType: N, childCellNumber: 349525}\n"
    "  physicalCells:\n"
    "  - {cellType: N}\n"
    "  - {cellType: R}\n";
  static const char four[] =
    "physicalCluster:\n"
    "  cellTypes:\n" N_TYPE "    R: {childCellType: N, childCellNumber: 2}\n"
    "  physicalCells: [{cellType: R}, {cellType: R}]\n";
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  test_tally tally;
  pai_cluster *c;
  pai_error *err;

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
  assert_fails(pai_cluster_parse(&c, four, strlen(four), &opts, &err), err,
               PAI_ELIMIT, "more than 3 nodes");
}

/* Types T0 to Tn-1, each of which contains one of the type before it; and a
 * cell of the last with something special at the bottom. */
static char *tower(int n)
{
  pai__buf b = test_buf();

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

TEST(high_towers_are_refused)
{
  char *text = tower(22); /* with nodes and GPUs, 24 levels */

  test_cluster_found(text, NULL,
                     "?unused-chain /physicalCluster/physicalCells/0 25:18\n",
                     "'T21'", "virtual cluster");
  test_hived_round_trip(text);
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

/* --- what cannot be written ------------------------------------------------ */

TEST(what_has_no_cells_is_not_written)
{
  pai_cluster *c = test_synthetic("nodes:2 cpus:8");
  pai_error *err;

  assert_int_equal(
    pai_cluster_write_hived(c, 0, test_cluster_refuse, NULL, &err),
    PAI_ENOTSUP);
  assert_has(pai_error_help(err), "gpu: cpu");
  test_expect_error(err, PAI_ENOTSUP, "no GPUs");
  pai_cluster_free(c);
  c = test_synthetic("nodes:2 gpu:2");
  assert_int_equal(
    pai_cluster_write_hived(c, 0, test_cluster_refuse, NULL, &err), PAI_EUSER);
  pai_error_free(err);
  assert_fails(pai_cluster_write_hived(c, 99, test_cluster_refuse, NULL, &err),
               err, PAI_EINVAL, "YAML or JSON");
  assert_int_equal(
    pai_cluster_write_hived(NULL, 0, test_cluster_refuse, NULL, &err),
    PAI_EINVAL);
  pai_error_free(err);
  pai_cluster_free(c);
}
