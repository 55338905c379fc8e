/* test_machines.c - clusters made of machines as they are */
#include "resource/clusters.h"
#include "resource/made.h"

#include "resource/cluster/derive.h"
#include "resource/cluster/read.h"

#include <stdlib.h>

enum { MOST = 4 };

/* Machines called m0, m1, ... in racks r0, r0, r1, r1. */
typedef struct machines {
  pai_topology *t[MOST];
  size_t n;
} machines;

/* From lines for test_machine(), of which those not there are NULL. */
static machines made_of(const char *const lines[MOST])
{
  machines m = { .n = 0 };

  for (; m.n < MOST && lines[m.n] != NULL; m.n++)
    m.t[m.n] = test_machine(lines[m.n]);
  return m;
}

static void dispose(machines *m)
{
  while (m->n > 0)
    pai_topology_unref(m->t[--m->n]);
}

static int cluster_of(pai_cluster **out, const machines *m,
                      const pai_alloc *alloc)
{
  static const char *const names[] = { "m0", "m1", "m2", "m3" };
  static const char *const racks[] = { "r0", "r0", "r1", "r1" };
  pai_cluster_machine list[MOST];
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;

  opts.alloc = alloc;
  for (size_t i = 0; i < m->n; i++)
    list[i] =
      (pai_cluster_machine){ sizeof(list[i]), names[i], racks[i], m->t[i] };
  return pai_cluster_from_machines(out, list, m->n, &opts, NULL);
}

/* The part between the lines of kinds and of GPUs' UUIDs is what counts: SKUs
 * and nodes. */
static void expect_lines(pai_cluster *c, const char *want)
{
  char *lines = test_cluster_lines(c), *sku = strstr(lines, "sku ");
  pai__buf b = test_buf();

  for (char *line = sku, *end; *line != '\0'; line = end + 1) {
    end = strchr(line, '\n');
    if (strncmp(line, "  gpu", 5) != 0)
      pai__buf_add(&b, line, (size_t)(end + 1 - line));
  }
  assert_string_equal(pai__buf_text(&b), want);
  pai__buf_dispose(&b);
  free(lines);
}

static const struct {
  const char *machines[MOST], *lines;
} made[] = {
  /* equal machines are one SKU */
  { { "p(ncc h(b(gg) b(gg))) p(ncc h(b(gg) b(gg)))",
      "p(ncc h(b(gg) b(gg))) p(ncc h(b(gg) b(gg)))",
      "p(ncc h(b(gggg))) p(ncc)", "p(ncc) p(ncc)" },
    "sku v100-8: 8 v100 numa=2 switch=2 numa=4 8 cpus 128G, 2 nodes\n"
    "sku v100-4: 4 v100 numa=2 machine=4 8 cpus 128G, 1 nodes\n"
    "sku cpu-8: numa=2 8 cpus 128G, 1 nodes\n"
    "m0: v100-8 rack=r0\n"
    "m1: v100-8 rack=r0\n"
    "m2: v100-4 rack=r1\n"
    "m3: cpu-8 rack=r1\n" },
  /* what GPUs share makes a SKU */
  { { "p(ncc h(b(gggg) b(gggg)))", "p(ncc h(b(gg) b(gg) b(gg) b(gg)))",
      "p(ncc h(b(gggg) b(gggg)))" },
    "sku v100-8: 8 v100 switch=4 4 cpus 64G, 2 nodes\n"
    "sku v100-8-2: 8 v100 switch=2 4 cpus 64G, 1 nodes\n"
    "m0: v100-8 rack=r0\n"
    "m1: v100-8-2 rack=r0\n"
    "m2: v100-8 rack=r1\n" },
  { { "p(ncc h(b(aa)))", "p(ncc h(b(gga)))" },
    "sku mi50-2: 2 mi50 4 cpus 64G, 1 nodes\n"
    "sku mixed-3: 1 mi50 2 v100 4 cpus 64G, 1 nodes\n"
    "m0: mi50-2 rack=r0\n"
    "m1: mixed-3 rack=r0\n" },
  { { "p(ncc h(b(ag) b(ga)))" },
    "sku mixed-4: 2 v100 2 mi50 4 cpus 64G, 1 nodes\n"
    "m0: mixed-4 rack=r0\n" },
};

TEST(machines_make_skus)
{
  for (size_t i = 0; i < PAI__LEN(made); i++) {
    machines m = made_of(made[i].machines);
    pai_cluster *c;

    assert_ok(cluster_of(&c, &m, NULL));
    expect_lines(c, made[i].lines);
    pai_cluster_free(c);
    dispose(&m);
  }
}

/* Numbers go across the switches: 0 and 2 are neighbours. */
TEST(neighbours_stand_together)
{
  enum { W = 50000 };
  static const uint64_t links[16] = { 0, 0, W, 0, 0, 0, 0, W,
                                      W, 0, 0, 0, 0, W, 0, 0 };
  static const uint32_t numbers[] = { 0, 2, 1, 3 };
  machines m = { { test_machine("p(ncc h(gggg))") }, 1 };
  pai_cluster *c;

  assert_ok(test_matrix(m.t[0], "NVLinkBandwidth", 4, links));
  assert_ok(cluster_of(&c, &m, NULL));
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(test_node_gpu(c, 0, i).number, numbers[i]);
  assert_ok(pai__cells_derive(c));
  assert_string_equal(c->cells[2].address, "m0/0/0");
  pai_cluster_free(c);
  dispose(&m);
}

/* Kinds are numbered as machines bring them, and each machine's own order is
 * another: each GPU keeps what is its own. */
TEST(kinds_are_kept_apart)
{
  static const char *const lines[MOST] = { "p(ncc h(b(aa)))",
                                           "p(ncc h(b(gga)))",
                                           "p(ncc h(b(ag) b(ga)))" };
  machines m = made_of(lines);
  pai_cluster *c;

  assert_ok(cluster_of(&c, &m, NULL));
  for (size_t i = 0; i < m.n; i++)
    for (size_t k = 0; k < test_node(c, i).gpus; k++) {
      pai_node_gpu_view g = test_node_gpu(c, i, k);
      pai_topology_gpu own = test_gpu(m.t[i], g.number);

      assert_string_equal(g.kind,
                          strcmp(own.vendor, "AMD") == 0 ? "mi50" : "v100");
      assert_string_equal(g.uuid, own.uuid);
    }
  pai_cluster_free(c);
  dispose(&m);
}

TEST(names_of_kinds_are_plain)
{
  static const char *const names[][2] = {
    { "Tesla V100-SXM3-32GB-H", "tesla-v100-sxm3-32gb-h" },
    { "NVIDIA A100 80GB PCIe", "nvidia-a100-80gb-pcie" },
    { "Vega 10 XTX [Radeon Vega Frontier Edition]",
      "vega-10-xtx-radeon-vega-frontier-edition" },
    { "mig-1g.10gb+me", "mig-1g-10gb+me" },
    { "--[]", "" },
  };
  char out[64];

  for (size_t i = 0; i < PAI__LEN(names); i++) {
    size_t n =
      pai__kind_text(out, sizeof(out), names[i][0], strlen(names[i][0]));

    assert_string_equal(out, names[i][1]);
    assert_int_equal(n, strlen(names[i][1]));
  }
  assert_int_equal(pai__kind_text(out, 5, "abcdefgh", 8), 4);
  assert_string_equal(out, "abcd");
}

TEST(real_machines_have_their_levels)
{
  static const struct {
    const char *file, *lines;
  } real[] = {
    { "nvidiaDGX2.xml",
      "sku tesla-v100-sxm3-32gb-h-16: 16 tesla-v100-sxm3-32gb-h numa=2 "
      "switch=2 switches=4 nvlink=8 4 cpus 1583957300K, 1 nodes\n"
      "m0: tesla-v100-sxm3-32gb-h-16 rack=r0\n" },
    { "flux-corona-8xMI50.xml",
      "sku deon-instinct-mi50-32gb-8: 8 deon-instinct-mi50-32gb numa=2 numa=4 "
      "96 cpus 263645540K, 1 nodes\n"
      "m0: deon-instinct-mi50-32gb-8 rack=r0\n" },
    { "power8gpudistances.xml",
      "sku tesla-p100-sxm2-16gb-4: 4 tesla-p100-sxm2-16gb numa=2 nvlink=2 16 "
      "cpus 133796416K, 1 nodes\n"
      "m0: tesla-p100-sxm2-16gb-4 rack=r0\n" },
    { "flux-chimera-multi.xml", "sku mixed-2: 1 geforce-gtx-1070 1 "
                                "vega-10-xtx-radeon-vega-frontier-edition "
                                "numa=2 64 cpus 131947660K, 1 nodes\n"
                                "m0: mixed-2 rack=r0\n" },
  };

  for (size_t i = 0; i < PAI__LEN(real); i++) {
    machines m = { { test_real(real[i].file) }, 1 };
    pai_cluster *c;

    if (m.t[0] == NULL)
      skip();
    assert_ok(cluster_of(&c, &m, NULL));
    expect_lines(c, real[i].lines);
    pai_cluster_free(c);
    dispose(&m);
  }
}

static void expect_refusal(const pai_cluster_machine *m, size_t n,
                           uint32_t max, int code, const char *part)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  opts.max_nodes = max;
  assert_int_equal(pai_cluster_from_machines(&c, m, n, &opts, &err), code);
  assert_null(c);
  test_expect_error(err, code, part);
}

TEST(what_cannot_be_is_refused)
{
  pai_topology *t = test_machine("p(nc)"), *nameless;
  pai_cluster_machine m[2] = { { sizeof(m[0]), "a", NULL, t },
                               { sizeof(m[0]), "a", NULL, t } };

  expect_refusal(m, 2, 0, PAI_EINVAL, "machines 0 and 1 are both called 'a'");
  expect_refusal(m, 0, 0, PAI_EINVAL, "1 to 100000 machines");
  expect_refusal(m, 2, 1, PAI_ELIMIT, "1 to 1 machines");
  m[1].name = "a[1]";
  expect_refusal(m, 2, 0, PAI_EINVAL, "without / and brackets");
  m[1].name = "b";
  m[1].rack = "";
  expect_refusal(m, 2, 0, PAI_EINVAL, "rack of machine 1");
  m[1].topology = NULL;
  expect_refusal(m, 2, 0, PAI_EINVAL, "machine 1 has no topology");
  assert_ok(pai_topology_synthetic(&nameless, "pu:2", NULL, NULL));
  m[0].name = NULL;
  m[0].topology = nameless;
  expect_refusal(m, 1, 0, PAI_EINVAL, "machine 0 has no name");
  pai_topology_unref(nameless);
  pai_topology_unref(t);
}

static int make_all(const pai_alloc *alloc, void *user_data)
{
  pai_cluster *c;
  int rc = cluster_of(&c, user_data, alloc);

  if (rc == PAI_OK)
    assert_int_equal(test_sums(c).skus, 2);
  pai_cluster_free(c);
  return rc;
}

TEST(no_memory_is_survived)
{
  static const char *const lines[MOST] = { "p(ncc h(b(gg)))", "p(nc)" };
  machines m = made_of(lines);

  test_faults(make_all, &m);
  dispose(&m);
}
