/* test_machines.c - clusters made of machines as they are */
#include "resource/clusters.h"
#include "resource/made.h"

#include "resource/derive.h"
#include "resource/read.h"

#include <stdlib.h>

enum { MOST = 8 };

/* A cluster of machines called m0, m1, ... in racks r0, r0, r1, r1, ... */
static int cluster_of(pai_cluster **out, pai_topology *const *t, size_t n,
                      const pai_alloc *alloc, pai_error **err)
{
  static const char *const names[] = { "m0", "m1", "m2", "m3" };
  static const char *const racks[] = { "r0", "r0", "r1", "r1" };
  pai_cluster_machine m[4];
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;

  opts.alloc = alloc;
  for (size_t i = 0; i < n; i++)
    m[i] = (pai_cluster_machine){ sizeof(m[i]), names[i], racks[i], t[i] };
  return pai_cluster_from_machines(out, m, n, &opts, err);
}

/* "NAME: N of KINDS; near NAME=N ..." of all SKUs, a line each. */
static char *skus_of(const pai_cluster *c)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  for (size_t i = 0; i < c->nskus; i++) {
    const pai__sku *s = &c->skus[i];

    pai__buf_printf(&b, "%s:", s->name);
    for (uint32_t k = 0; k < s->ngroups; k++)
      pai__buf_printf(&b, " %u %s", s->groups[k].count,
                      c->kinds[s->groups[k].kind].name);
    for (uint32_t k = 0; k < s->nnear; k++)
      pai__buf_printf(&b, " %s=%u", s->near[k].name, s->near[k].gpus);
    pai__buf_char(&b, '\n');
  }
  return pai__buf_take(&b);
}

static void expect_skus(pai_topology *const *t, size_t n, const char *want)
{
  pai_cluster *c;
  pai_error *err;
  char *skus;

  assert_int_equal(cluster_of(&c, t, n, NULL, &err), PAI_OK);
  skus = skus_of(c);
  assert_string_equal(skus, want);
  free(skus);
  pai_cluster_free(c);
}

static void equal_machines_are_one_sku(void **state)
{
  pai_topology *t[] = {
    test_machine("p(ncc h(b(gg) b(gg))) p(ncc h(b(gg) b(gg)))"),
    test_machine("p(ncc h(b(gg) b(gg))) p(ncc h(b(gg) b(gg)))"),
    test_machine("p(ncc h(b(gggg))) p(ncc)"),
    test_machine("p(ncc) p(ncc)"),
  };
  pai_cluster *c;
  pai_error *err;
  pai_node_view n = { .struct_size = sizeof(n) };

  (void)state;
  expect_skus(t, 4,
              "v100-8: 8 v100 switch=2 numa=4\n"
              "v100-4: 4 v100 machine=4\n"
              "cpu-8:\n");
  assert_int_equal(cluster_of(&c, t, 4, NULL, &err), PAI_OK);
  assert_int_equal(pai_cluster_view_node(c, 1, &n), PAI_OK);
  assert_string_equal(n.name, "m1");
  assert_string_equal(n.rack, "r0");
  assert_int_equal(n.sku, 0);
  assert_int_equal(pai_cluster_view_node(c, 3, &n), PAI_OK);
  assert_int_equal(n.sku, 2);
  assert_int_equal(c->skus[0].cpus, 8);
  assert_int_equal(c->skus[0].numa, 2);
  assert_int_equal(c->skus[0].memory, UINT64_C(128) << 30);
  pai_cluster_free(c);
  for (size_t i = 0; i < 4; i++)
    pai_topology_unref(t[i]);
}

static void what_gpus_share_makes_a_sku(void **state)
{
  pai_topology *t[] = {
    test_machine("p(ncc h(b(gggg) b(gggg)))"),
    test_machine("p(ncc h(b(gg) b(gg) b(gg) b(gg)))"),
    test_machine("p(ncc h(b(gggg) b(gggg)))"),
  };

  (void)state;
  expect_skus(t, 3,
              "v100-8: 8 v100 switch=4\n"
              "v100-8-2: 8 v100 switch=2\n");
  for (size_t i = 0; i < 3; i++)
    pai_topology_unref(t[i]);
}

/* Numbers go across the switches: 0 and 2 are neighbours. */
static void neighbours_stand_together(void **state)
{
  enum { W = 50000 };
  static const uint64_t links[16] = { 0, 0, W, 0, 0, 0, 0, W,
                                      W, 0, 0, 0, 0, W, 0, 0 };
  pai_topology *t = test_machine("p(ncc h(gggg))");
  pai_cluster *c;
  pai_error *err;

  (void)state;
  assert_int_equal(test_matrix(t, "NVLinkBandwidth", 4, links), PAI_OK);
  assert_int_equal(cluster_of(&c, &t, 1, NULL, &err), PAI_OK);
  assert_int_equal(c->gpus[0].number, 0);
  assert_int_equal(c->gpus[1].number, 2);
  assert_int_equal(c->gpus[2].number, 1);
  assert_int_equal(c->gpus[3].number, 3);
  assert_int_equal(pai__cells_derive(c), PAI_OK);
  assert_string_equal(c->cells[2].address, "m0/0/0");
  pai_cluster_free(c);
  pai_topology_unref(t);
}

static void kinds_are_kept_apart(void **state)
{
  pai_topology *t = test_machine("p(ncc h(b(ag) b(ga)))");
  pai_cluster *c;
  pai_error *err;

  (void)state;
  assert_int_equal(cluster_of(&c, &t, 1, NULL, &err), PAI_OK);
  assert_int_equal(c->nskus, 1);
  assert_int_equal(c->ngpus, 4);
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(c->gpus[i].number, i); /* NVIDIA's come first */
  pai_cluster_free(c);
  pai_topology_unref(t);
}

/* Kinds are numbered as machines bring them, and this one's own order is
 * another: each GPU keeps what is its own. */
static void kinds_may_be_known_already(void **state)
{
  pai_topology *t[] = { test_machine("p(ncc h(b(aa)))"),
                        test_machine("p(ncc h(b(gga)))") };
  pai_cluster *c;
  pai_error *err;

  (void)state;
  expect_skus(t, 2, "mi50-2: 2 mi50\nmixed-3: 1 mi50 2 v100\n");
  assert_int_equal(cluster_of(&c, t, 2, NULL, &err), PAI_OK);
  assert_int_equal(c->ngpus, 5);
  for (size_t i = 0; i < 5; i++) {
    pai_topology_gpu own = { .struct_size = sizeof(own) };

    assert_int_equal(pai_topology_view_gpu(t[i >= 2], c->gpus[i].number, &own),
                     PAI_OK);
    assert_string_equal(c->kinds[c->gpus[i].kind].name,
                        strcmp(own.vendor, "AMD") == 0 ? "mi50" : "v100");
  }
  pai_cluster_free(c);
  for (size_t i = 0; i < 2; i++)
    pai_topology_unref(t[i]);
}

static void names_of_kinds_are_plain(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    size_t n =
      pai__kind_text(out, sizeof(out), names[i][0], strlen(names[i][0]));

    assert_string_equal(out, names[i][1]);
    assert_int_equal(n, strlen(names[i][1]));
  }
  assert_int_equal(pai__kind_text(out, 5, "abcdefgh", 8), 4);
  assert_string_equal(out, "abcd");
}

static void real_machines_have_their_levels(void **state)
{
  static const struct {
    const char *file, *skus;
  } real[] = {
    { "nvidiaDGX2.xml",
      "tesla-v100-sxm3-32gb-h-16: 16 tesla-v100-sxm3-32gb-h switch=2 "
      "switches=4 nvlink=8\n" },
    { "flux-corona-8xMI50.xml",
      "deon-instinct-mi50-32gb-8: 8 deon-instinct-mi50-32gb numa=4\n" },
    { "power8gpudistances.xml",
      "tesla-p100-sxm2-16gb-4: 4 tesla-p100-sxm2-16gb nvlink=2\n" },
    { "flux-chimera-multi.xml", "mixed-2: 1 geforce-gtx-1070 1 "
                                "vega-10-xtx-radeon-vega-frontier-edition\n" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(real); i++) {
    pai_topology *t = test_real(real[i].file);

    if (t == NULL)
      skip();
    expect_skus(&t, 1, real[i].skus);
    pai_topology_unref(t);
  }
}

static void what_cannot_be_is_refused(void **state)
{
  pai_topology *t = test_machine("p(nc)"), *nameless;
  pai_cluster_machine m[2] = { { sizeof(m[0]), "a", NULL, t },
                               { sizeof(m[0]), "a", NULL, t } };
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  assert_int_equal(pai_cluster_from_machines(&c, m, 2, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "machines 0 and 1 are both called 'a'");
  assert_int_equal(pai_cluster_from_machines(&c, m, 0, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "1 to 100000 machines");
  opts.max_nodes = 1;
  assert_int_equal(pai_cluster_from_machines(&c, m, 2, &opts, &err),
                   PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "1 to 1 machines");
  m[1].name = "a[1]";
  assert_int_equal(pai_cluster_from_machines(&c, m, 2, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without / and brackets");
  m[1].name = "b";
  m[1].rack = "";
  assert_int_equal(pai_cluster_from_machines(&c, m, 2, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "rack of machine 1");
  m[1].topology = NULL;
  assert_int_equal(pai_cluster_from_machines(&c, m, 2, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "machine 1 has no topology");
  assert_int_equal(pai_topology_synthetic(&nameless, "pu:2", NULL, NULL),
                   PAI_OK);
  m[0].name = NULL;
  m[0].topology = nameless;
  assert_int_equal(pai_cluster_from_machines(&c, m, 1, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "machine 0 has no name");
  assert_null(c);
  pai_topology_unref(nameless);
  pai_topology_unref(t);
}

static int make_all(const pai_alloc *alloc, void *user_data)
{
  pai_topology **t = user_data;
  pai_cluster *c;
  int rc = cluster_of(&c, t, 2, alloc, NULL);

  if (rc == PAI_OK)
    assert_int_equal(c->nskus, 2);
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  pai_topology *t[] = { test_machine("p(ncc h(b(gg)))"),
                        test_machine("p(nc)") };

  (void)state;
  test_faults(make_all, t);
  pai_topology_unref(t[0]);
  pai_topology_unref(t[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_machines_are_one_sku),
    cmocka_unit_test(what_gpus_share_makes_a_sku),
    cmocka_unit_test(neighbours_stand_together),
    cmocka_unit_test(kinds_are_kept_apart),
    cmocka_unit_test(kinds_may_be_known_already),
    cmocka_unit_test(names_of_kinds_are_plain),
    cmocka_unit_test(real_machines_have_their_levels),
    cmocka_unit_test(what_cannot_be_is_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
