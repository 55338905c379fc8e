/* test_hived_faults.c - what is wrong with HiveD's configuration, and what is
 * legal and surely not meant */
#include "resource/hived.h"

#include "base/buf.h"
#include "resource/read.h"

#include <stdlib.h>

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
  /* what is surely not meant */
  { ONE("    N: {childCellType: G, childCellNumber: 4, isNodeLevel: true}\n" R,
        CELL, VC),
    "?flat-node " TYPE "N 3:5\n", "all 4 'G' of a 'N' seem equally near",
    "'G-SWITCH' of 2" },
  { ONE("    S: {childCellType: G, childCellNumber: 8}\n"
        "    N: {childCellType: S, childCellNumber: 1, isNodeLevel: true}\n",
        CELL, VC),
    "", NULL, NULL }, /* as over NVSwitches: that can be said */
  { ONE("    S: {childCellType: G, childCellNumber: 4}\n"
        "    N: {childCellType: S, childCellNumber: 2, isNodeLevel: true}\n",
        CELL, VC),
    "", NULL, NULL },
  { ONE("    N: {childCellType: cpu, childCellNumber: 8, isNodeLevel: true}\n",
        CELL, VC),
    "", NULL, NULL },
  { "physicalCluster:\n  skuTypes: {E: {cpu: 1}, e: {cpu: 2}, N: {gpu: 1}}\n"
    "  cellTypes:\n"
    "    N: {childCellType: E, childCellNumber: 8, isNodeLevel: true}\n"
    "  physicalCells:\n" CELL VC,
    "?unused-sku /physicalCluster/skuTypes/e 2:27\n"
    "?unused-sku /physicalCluster/skuTypes/N 2:40\n",
    "no leaf cell is of type 'e'", "did you mean 'E'?" },
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
  static const char four[] =
    ONE(N R, "  - {cellType: R}\n  - {cellType: R}\n", "");
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
  assert_int_equal(pai_cluster_parse(&c, four, strlen(four), &opts, &err),
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

static void no_memory_is_survived(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(faults); i++)
    test_faults(test_hived_memory, (void *)(uintptr_t)faults[i].text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(many_cells_are_refused),
    cmocka_unit_test(high_towers_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
