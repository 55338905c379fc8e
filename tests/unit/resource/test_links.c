/* How near GPUs are to one another, and the groups that makes. */
#include "made.h"

#include "resource/topology_groups.h"

#include <stdio.h>

static pai_topology_link between(const pai_topology *t, uint32_t a, uint32_t b)
{
  pai_topology_link link = { .struct_size = sizeof(link) };

  assert_int_equal(pai_topology_between(t, a, b, &link), PAI_OK);
  return link;
}

static void expect(const pai_topology *t, uint32_t a, uint32_t b,
                   pai_topology_link want)
{
  for (int turn = 0; turn < 2; turn++) {
    pai_topology_link got = turn ? between(t, b, a) : between(t, a, b);
    if (got.closeness != want.closeness || got.kind != want.kind ||
        got.direct != want.direct || got.hops != want.hops ||
        got.mbps != want.mbps)
      fail_msg("%u to %u: near %d, %s, direct %d, %u hops, %u MB/s", a, b,
               got.closeness, pai_link_name(got.kind), got.direct, got.hops,
               got.mbps);
  }
}

#define LINK(near, kind, direct, hops, mbps) \
  ((pai_topology_link){ 0, near, kind, direct, hops, mbps })

/* Levels on one line: "switch 2x2 | machine 1x4"; uneven ones have a star. */
static void expect_levels(const pai_topology *t, const char *want)
{
  pai__topo_levels l;
  char got[512] = "";
  size_t n = 0;

  assert_int_equal(pai__topo_levels_init(&l, t), PAI_OK);
  for (size_t i = 0; i < l.count; i++)
    n +=
      (size_t)snprintf(got + n, sizeof(got) - n, "%s%s %ux%u%s",
                       i > 0 ? " | " : "", l.level[i].name, l.level[i].groups,
                       l.level[i].most, l.level[i].equal ? "" : "*");
  for (size_t i = 0; i < l.refused_count; i++)
    n += (size_t)snprintf(got + n, sizeof(got) - n, "; %s cuts %s",
                          l.refused[i].name, l.refused[i].kept);
  assert_string_equal(got, want);
  /* Groups are numbered in the order of their first GPUs, and they nest. */
  for (size_t i = 0; i < l.count; i++) {
    uint32_t next = 0;
    for (size_t g = 0; g < t->ngpus; g++) {
      assert_true(l.level[i].group[g] <= next);
      next += l.level[i].group[g] == next;
    }
    assert_int_equal(next, l.level[i].groups);
  }
  pai__topo_levels_dispose(&l);
}

/* --- made up ------------------------------------------------------------------ */

static void places_tell_how_near(void **state)
{
  /* GPUs 0 and 1 share a switch, 2 the NUMA node, 3 the package, 4 nothing. */
  pai_topology *t = test_machine("p(r(ncc h(b(b(g)b(g)) b(g))) r(ncc h(b(g))))"
                                 "p(r(ncc h(b(g))))");

  (void)state;
  expect(t, 0, 1, LINK(PAI_NEAR_SWITCH, PAI_LINK_PCI, 0, 0, 15998));
  expect(t, 0, 2, LINK(PAI_NEAR_NUMA, PAI_LINK_PCI, 0, 0, 15997));
  expect(t, 0, 3, LINK(PAI_NEAR_PACKAGE, PAI_LINK_PCI, 0, 0, 15996));
  expect(t, 0, 4, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 15995));
  expect(t, 2, 2, LINK(PAI_NEAR_SAME, PAI_LINK_UNKNOWN, 0, 0, 0));
  expect_levels(t, "switch 4x2* | numa 3x3* | package 2x4* | machine 1x5");
  pai_topology_unref(t);
}

/* As CXL's and HBM's: the nearest counts. */
static void memory_may_be_around_all(void **state)
{
  pai_topology *t = test_machine("n p(ncc h(gg)) p(ncc h(g))");

  (void)state;
  assert_int_equal(between(t, 0, 1).closeness, PAI_NEAR_NUMA);
  assert_int_equal(between(t, 0, 2).closeness, PAI_NEAR_MACHINE);
  expect_levels(t, "numa 2x2* | machine 1x3");
  pai_topology_unref(t);
}

static void boards_are_known_by_their_number(void **state)
{
  pai_topology *t = test_machine("p(ncc h(b(g)b(g)b(a)))");

  (void)state;
  assert_int_equal(between(t, 0, 1).closeness, PAI_NEAR_NUMA);
  t->gpus[1].serial = t->gpus[0].serial;
  assert_int_equal(between(t, 0, 1).closeness, PAI_NEAR_BOARD);
  /* Makers number independently. */
  assert_string_equal(pai__topo_text(t, t->gpus[0].serial),
                      pai__topo_text(t, t->gpus[2].serial));
  assert_int_equal(between(t, 0, 2).closeness, PAI_NEAR_NUMA);
  pai_topology_unref(t);
}

/* A DGX-1 in small: pairs joined, and one pair twice as wide; one value told
 * from one side only; the diagonal means nothing. */
static void nvlink_is_direct(void **state)
{
  static const uint64_t values[] = { 1000000, 50000, 0, 25000, 50000, 0, 25000,
                                     0,       0,     9, 7,     50000, 0, 0,
                                     50000,   0 };
  pai_topology *t = test_machine("p(ncc h(gg)) p(ncc h(gg))");

  (void)state;
  assert_int_equal(test_matrix(t, "NVLinkBandwidth", 4, values), PAI_OK);
  expect(t, 0, 1, LINK(PAI_NEAR_NUMA, PAI_LINK_NVLINK, 1, 1, 50000));
  expect(t, 0, 3, LINK(PAI_NEAR_MACHINE, PAI_LINK_NVLINK, 1, 1, 25000));
  expect(t, 0, 2, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 15997));
  assert_int_equal(between(t, 1, 2).mbps, 25000);
  expect_levels(t, "numa 2x2 | machine 1x4");
  pai_topology_unref(t);
}

static void matrices_may_be_of_a_few(void **state)
{
  static const uint64_t values[] = { 0, 40000, 40000, 0 };
  static const uint64_t other[] = { 10, 20, 20, 10 };
  pai_topology *t = test_machine("p(ncc h(ggg))");

  (void)state;
  assert_int_equal(test_matrix(t, "NUMALatency", 2, other), PAI_OK);
  assert_null(t->links);
  assert_int_equal(test_matrix(t, "NVLinkBandwidth", 2, values), PAI_OK);
  assert_int_equal(between(t, 0, 1).kind, PAI_LINK_NVLINK);
  assert_int_equal(between(t, 0, 2).kind, PAI_LINK_PCI);
  expect_levels(t, "nvlink 2x2* | machine 1x3");
  pai_topology_unref(t);
}

/* Objects that were left out, and the package, are in hwloc's matrices too. */
static void switches_carry_what_their_links_do(void **state)
{
  enum { N = 6 };
  pai_topology *t = test_machine("p(ncc h(gg dd))");
  uint32_t objects[N] = { t->gpus[0].object, 0,        PAI_NONE,
                          t->gpus[1].object, PAI_NONE, PAI_NONE };
  uint64_t values[N * N] = { 0 };
  pai__topo_matrix m = { "NVLinkBandwidth", N, objects, values };

  (void)state;
  for (uint32_t i = 0, s = 4; i < t->count; i++)
    if (t->objects[i].is_switch)
      objects[s++] = i;
  values[0 * N + 1] = values[3 * N + 1] = 70000; /* to the CPUs: no path */
  values[0 * N + 2] = values[3 * N + 2] = 70000; /* to what is not known */
  values[0 * N + 4] = 25000;
  values[4 * N + 3] = 20000;
  values[0 * N + 5] = 25000;
  values[3 * N + 5] = 25000; /* told by the GPU only */
  assert_int_equal(pai__topo_add_matrix(t, &m), PAI_OK);
  pai__topo_end_matrices(t);
  expect(t, 0, 1, LINK(PAI_NEAR_NUMA, PAI_LINK_NVSWITCH, 0, 2, 45000));
  pai_topology_unref(t);
}

static void xgmi_is_known_by_hops_or_hive(void **state)
{
  static const uint64_t hops[] = { 0, 1, 2, 1, 0, 1, 2, 1, 0 };
  static const uint64_t bandwidth[] = { 0,      100000, 50000,  100000, 0,
                                        100000, 50000,  100000, 0 };
  pai_topology *t = test_machine("p(ncc h(aaa)) p(ncc h(aa))");

  (void)state;
  assert_int_equal(test_matrix(t, "XGMIHops", 3, hops), PAI_OK);
  expect(t, 0, 1, LINK(PAI_NEAR_NUMA, PAI_LINK_XGMI, 1, 1, 0));
  assert_int_equal(test_matrix(t, "XGMIBandwidth", 3, bandwidth), PAI_OK);
  expect(t, 0, 1, LINK(PAI_NEAR_NUMA, PAI_LINK_XGMI, 1, 1, 100000));
  expect(t, 0, 2, LINK(PAI_NEAR_NUMA, PAI_LINK_XGMI, 0, 2, 50000));
  t->gpus[3].hive = t->gpus[4].hive = 0x1234;
  expect(t, 3, 4, LINK(PAI_NEAR_NUMA, PAI_LINK_XGMI, 0, 0, 0));
  t->gpus[0].hive = 0x77; /* another one */
  expect(t, 0, 4, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 15995));
  expect_levels(t, "xgmi 2x3* | machine 1x5");
  pai_topology_unref(t);
}

/* --- groups ------------------------------------------------------------------- */

static void levels_that_say_nothing_are_left_out(void **state)
{
  static const struct {
    const char *line, *want;
  } rows[] = {
    { "p(ncc)", "" },
    { "p(ncc h(b(g)))", "machine 1x1" },
    { "p(ncc h(b(g)b(g)))", "machine 1x2" },
    { "p(ncc h(b(gg)))", "machine 1x2" },
    { "p(ncc h(b(g))) p(ncc h(b(g)))", "machine 1x2" },
    { "p(ncc h(b(gg)b(gg))) p(ncc h(b(gg)b(gg)))",
      "switch 4x2 | numa 2x4 | machine 1x8" },
    { "p(ncc h(b(b(gg)b(gg)))) p(ncc h(b(b(gg)b(gg))))",
      "switch 4x2 | numa 2x4 | machine 1x8" },
    { "p(ncc h(b(b(gg)b(gg))b(gg))) p(ncc h(b(gg)b(gg)))",
      "switch 5x2 | switches 4x4* | numa 2x6* | machine 1x10" },
    { "p(r(ncc h(gg)) r(ncc h(gg))) p(r(ncc h(gg)) r(ncc h(gg)))",
      "numa 4x2 | package 2x4 | machine 1x8" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_topology *t = test_machine(rows[i].line);
    expect_levels(t, rows[i].want);
    pai_topology_unref(t);
  }
}

/* NVLink joins 0 with 2 and 1 with 3, across both NUMA nodes. */
static void levels_that_cut_across_are_refused(void **state)
{
  static const uint64_t values[] = { 0, 0, 5000, 0, 0, 0, 0, 5000,
                                     0, 0, 0,    0, 0, 0, 0, 0 };
  pai_topology *t = test_machine("p(ncc h(b(gg))) p(ncc h(b(gg)))");

  (void)state;
  assert_int_equal(test_matrix(t, "NVLinkBandwidth", 4, values), PAI_OK);
  expect_levels(t, "nvlink 2x2 | machine 1x4; numa cuts nvlink; package cuts "
                   "nvlink; switch cuts nvlink; switches cuts nvlink");
  pai_topology_unref(t);
}

/* --- real ---------------------------------------------------------------------- */

/* Sixteen V100 on two boards of six NVSwitches, each link of 25 GB/s. */
static void a_dgx2(void **state)
{
  pai_topology *t = test_real("nvidiaDGX2.xml");

  (void)state;
  if (t == NULL)
    skip();
  assert_int_equal(t->ngpus, 16);
  expect(t, 8, 9, LINK(PAI_NEAR_SWITCH, PAI_LINK_NVSWITCH, 0, 2, 150000));
  expect(t, 8, 11, LINK(PAI_NEAR_SWITCH, PAI_LINK_NVSWITCH, 0, 2, 150000));
  expect(t, 0, 7, LINK(PAI_NEAR_NUMA, PAI_LINK_NVSWITCH, 0, 2, 150000));
  expect(t, 7, 8, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 15754));
  expect_levels(t, "switch 8x2 | switches 4x4 | nvlink 2x8 | machine 1x16");
  pai_topology_unref(t);
}

/* Eight MI50 without bridges between them: hive 0 is no hive. */
static void an_mi50_node(void **state)
{
  pai_topology *t = test_real("flux-corona-8xMI50.xml");

  (void)state;
  if (t == NULL)
    skip();
  assert_int_equal(t->ngpus, 8);
  expect(t, 0, 3, LINK(PAI_NEAR_NUMA, PAI_LINK_PCI, 0, 0, 31000));
  expect(t, 3, 4, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 31000));
  expect_levels(t, "numa 2x4 | machine 1x8");
  pai_topology_unref(t);
}

/* Two P100 to each POWER8, all joined by NVLink; what goes to the processor
 * joins no GPUs. */
static void a_power8(void **state)
{
  pai_topology *t = test_real("power8gpudistances.xml");

  (void)state;
  if (t == NULL)
    skip();
  assert_int_equal(t->ngpus, 4);
  expect(t, 0, 1, LINK(PAI_NEAR_NUMA, PAI_LINK_NVLINK, 1, 1, 40000));
  expect(t, 2, 3, LINK(PAI_NEAR_NUMA, PAI_LINK_NVLINK, 1, 1, 40000));
  expect(t, 1, 2, LINK(PAI_NEAR_MACHINE, PAI_LINK_PCI, 0, 0, 15754));
  expect_levels(t, "nvlink 2x2 | machine 1x4");
  pai_topology_unref(t);
}

static void a_mixed_machine(void **state)
{
  pai_topology *t = test_real("flux-chimera-multi.xml");

  (void)state;
  if (t == NULL)
    skip();
  assert_int_equal(t->ngpus, 2);
  expect(t, 0, 1, LINK(PAI_NEAR_PACKAGE, PAI_LINK_PCI, 0, 0, 15754));
  expect_levels(t, "machine 1x2");
  pai_topology_unref(t);
}

/* --- contracts -------------------------------------------------------------------- */

static void broken_calls_are_refused(void **state)
{
  pai_topology *t = test_machine("p(ncc h(gg))");
  pai_topology_link link = { .struct_size = 4 };

  (void)state;
  assert_int_equal(pai_topology_between(t, 0, 1, &link), PAI_EINVAL);
  link.struct_size = sizeof(link);
  assert_int_equal(pai_topology_between(t, 0, 2, &link), PAI_ENOTFOUND);
  assert_int_equal(pai_topology_between(t, 2, 0, &link), PAI_ENOTFOUND);
  assert_int_equal(pai_topology_between(NULL, 0, 0, &link), PAI_EINVAL);
  assert_string_equal(pai_link_name(PAI_LINK_XELINK), "Xe Link");
  assert_string_equal(pai_link_name(PAI_LINK_XELINK + 1), "unknown");
  assert_string_equal(pai_link_name(-1), "unknown");
  pai_topology_unref(t);
}

static int make_levels(const pai_alloc *alloc, void *user_data)
{
  static const uint64_t values[] = { 0, 5, 5, 0 };
  pai__topo_levels l;
  pai_topology *t;
  int rc = test_make(&t, "p(ncc h(b(gg)b(gg))) p(ncc h(b(aa)))", alloc);

  (void)user_data;
  if (rc == PAI_OK)
    rc = test_matrix(t, "NVLinkBandwidth", 2, values);
  if (rc == PAI_OK)
    rc = pai__topo_levels_init(&l, t);
  if (rc == PAI_OK) {
    assert_int_equal(l.count, 4);
    pai__topo_levels_dispose(&l);
  }
  pai_topology_unref(t);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(make_levels, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(places_tell_how_near),
    cmocka_unit_test(memory_may_be_around_all),
    cmocka_unit_test(boards_are_known_by_their_number),
    cmocka_unit_test(nvlink_is_direct),
    cmocka_unit_test(matrices_may_be_of_a_few),
    cmocka_unit_test(switches_carry_what_their_links_do),
    cmocka_unit_test(xgmi_is_known_by_hops_or_hive),
    cmocka_unit_test(levels_that_say_nothing_are_left_out),
    cmocka_unit_test(levels_that_cut_across_are_refused),
    cmocka_unit_test(a_dgx2),
    cmocka_unit_test(an_mi50_node),
    cmocka_unit_test(a_power8),
    cmocka_unit_test(a_mixed_machine),
    cmocka_unit_test(broken_calls_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
