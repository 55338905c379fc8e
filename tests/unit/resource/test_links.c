/* How near GPUs are to one another, and the groups that makes. */
#include "made.h"

#include "resource/topology/topology_groups.h"

#include <stdio.h>
#include <stdlib.h>

static pai_topology_link between(const pai_topology *t, uint32_t a, uint32_t b)
{
  pai_topology_link link = { .struct_size = sizeof(link) };

  assert_ok(pai_topology_between(t, a, b, &link));
  return link;
}

/* A line for each pair, as "0-1 switch PCI direct 0 hops 0 15998 MB/s", for
 * both directions; what is wanted may end before the end of one. */
static void expect_links(const pai_topology *t, const char *want)
{
  static const char *const near[] = { "unknown", "machine", "package", "numa",
                                      "switch",  "board",   "same" };

  for (const char *line = want; *line != '\0'; line = strchr(line, '\n') + 1) {
    int len = (int)(strchr(line, '\n') - line);
    char *end;
    uint32_t a = (uint32_t)strtoul(line, &end, 10);
    uint32_t b = (uint32_t)strtoul(end + 1, &end, 10);

    assert_int_equal(*end, ' ');
    for (int turn = 0; turn < 2; turn++) {
      pai_topology_link l = turn ? between(t, b, a) : between(t, a, b);
      char got[128];

      (void)snprintf(got, sizeof(got), "%u-%u %s %s direct %d hops %u %u MB/s",
                     a, b, near[l.closeness], pai_link_name(l.kind), l.direct,
                     l.hops, l.mbps);
      if (strncmp(got, line, (size_t)len) != 0)
        fail_msg("want %.*s, got %s", len, line, got);
    }
  }
}

/* Levels on one line: "switch 2x2 | machine 1x4"; uneven ones have a star. */
static void expect_levels(const pai_topology *t, const char *want)
{
  pai__topo_levels l;
  char got[512] = "";
  size_t n = 0;

  assert_ok(pai__topo_levels_init(&l, t));
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

/* --- made up, and real ----------------------------------------------------- */

/* A DGX-1 in small: pairs joined, and one pair twice as wide; one value told
 * from one side only; the diagonal means nothing. */
static const uint64_t a_dgx1[] = { 1000000, 50000, 0,     25000, 50000, 0,
                                   25000,   0,     0,     9,     7,     50000,
                                   0,       0,     50000, 0 };
/* 0 with 2 and 1 with 3, across both NUMA nodes */
static const uint64_t across[16] = { [2] = 5000, [7] = 5000 };

static const struct {
  const char *machine; /* made up, or a file of a real one */
  const char *links, *levels;
  const uint64_t *nvlink; /* between four GPUs, or NULL */
} machines[] = {
  /* GPUs 0 and 1 share a switch, 2 the NUMA node, 3 the package, 4 nothing */
  { "p(r(ncc h(b(b(g)b(g)) b(g))) r(ncc h(b(g))))"
    "p(r(ncc h(b(g))))",
    "0-1 switch PCI direct 0 hops 0 15998 MB/s\n"
    "0-2 numa PCI direct 0 hops 0 15997 MB/s\n"
    "0-3 package PCI direct 0 hops 0 15996 MB/s\n"
    "0-4 machine PCI direct 0 hops 0 15995 MB/s\n"
    "2-2 same unknown direct 0 hops 0 0 MB/s\n",
    "switch 4x2* | numa 3x3* | package 2x4* | machine 1x5", NULL },
  /* memory around all, as CXL's and HBM's: the nearest counts */
  { "n p(ncc h(gg)) p(ncc h(g))", "0-1 numa\n0-2 machine\n",
    "numa 2x2* | machine 1x3", NULL },
  { "p(ncc h(gg)) p(ncc h(gg))",
    "0-1 numa NVLink direct 1 hops 1 50000 MB/s\n"
    "0-3 machine NVLink direct 1 hops 1 25000 MB/s\n"
    "0-2 machine PCI direct 0 hops 0 15997 MB/s\n"
    "1-2 machine NVLink direct 1 hops 1 9 MB/s\n",
    "numa 2x2 | machine 1x4", a_dgx1 },
  { "p(ncc h(b(gg))) p(ncc h(b(gg)))", "",
    "nvlink 2x2 | machine 1x4; numa cuts nvlink; package cuts nvlink; switch "
    "cuts nvlink; switches cuts nvlink",
    across },
  /* levels that say nothing are left out */
  { "p(ncc)", "", "", NULL },
  { "p(ncc h(b(g)))", "", "machine 1x1", NULL },
  { "p(ncc h(b(g)b(g)))", "", "machine 1x2", NULL },
  { "p(ncc h(b(gg)))", "", "machine 1x2", NULL },
  { "p(ncc h(b(g))) p(ncc h(b(g)))", "", "machine 1x2", NULL },
  { "p(ncc h(b(gg)b(gg))) p(ncc h(b(gg)b(gg)))", "",
    "switch 4x2 | numa 2x4 | machine 1x8", NULL },
  { "p(ncc h(b(b(gg)b(gg)))) p(ncc h(b(b(gg)b(gg))))", "",
    "switch 4x2 | numa 2x4 | machine 1x8", NULL },
  { "p(ncc h(b(b(gg)b(gg))b(gg))) p(ncc h(b(gg)b(gg)))", "",
    "switch 5x2 | switches 4x4* | numa 2x6* | machine 1x10", NULL },
  { "p(r(ncc h(gg)) r(ncc h(gg))) p(r(ncc h(gg)) r(ncc h(gg)))", "",
    "numa 4x2 | package 2x4 | machine 1x8", NULL },
  /* sixteen V100 on two boards of six NVSwitches, each link of 25 GB/s */
  { "nvidiaDGX2.xml",
    "8-9 switch NVSwitch direct 0 hops 2 150000 MB/s\n"
    "8-11 switch NVSwitch direct 0 hops 2 150000 MB/s\n"
    "0-7 numa NVSwitch direct 0 hops 2 150000 MB/s\n"
    "7-8 machine PCI direct 0 hops 0 15754 MB/s\n",
    "switch 8x2 | switches 4x4 | nvlink 2x8 | machine 1x16", NULL },
  /* eight MI50 without bridges between them: hive 0 is no hive */
  { "flux-corona-8xMI50.xml",
    "0-3 numa PCI direct 0 hops 0 31000 MB/s\n"
    "3-4 machine PCI direct 0 hops 0 31000 MB/s\n",
    "numa 2x4 | machine 1x8", NULL },
  /* two P100 to each POWER8, joined by NVLink; what goes to the processor
   * joins no GPUs */
  { "power8gpudistances.xml",
    "0-1 numa NVLink direct 1 hops 1 40000 MB/s\n"
    "2-3 numa NVLink direct 1 hops 1 40000 MB/s\n"
    "1-2 machine PCI direct 0 hops 0 15754 MB/s\n",
    "nvlink 2x2 | machine 1x4", NULL },
  { "flux-chimera-multi.xml", "0-1 package PCI direct 0 hops 0 15754 MB/s\n",
    "machine 1x2", NULL },
};

TEST(places_and_links_tell_how_near)
{
  for (size_t i = 0; i < PAI__LEN(machines); i++) {
    const char *line = machines[i].machine;
    pai_topology *t =
      strstr(line, ".xml") != NULL ? test_real(line) : test_machine(line);

    if (t == NULL)
      skip();
    if (machines[i].nvlink != NULL)
      assert_ok(test_matrix(t, "NVLinkBandwidth", 4, machines[i].nvlink));
    expect_links(t, machines[i].links);
    expect_levels(t, machines[i].levels);
    pai_topology_unref(t);
  }
}

/* --- more of links -------------------------------------------------------- */

TEST(matrices_may_be_of_a_few)
{
  static const uint64_t values[] = { 0, 40000, 40000, 0 };
  static const uint64_t other[] = { 10, 20, 20, 10 };
  pai_topology *t = test_machine("p(ncc h(ggg))");

  assert_ok(test_matrix(t, "NUMALatency", 2, other));
  assert_null(t->links);
  assert_ok(test_matrix(t, "NVLinkBandwidth", 2, values));
  expect_links(t, "0-1 numa NVLink\n0-2 numa PCI\n");
  expect_levels(t, "nvlink 2x2* | machine 1x3");
  pai_topology_unref(t);
}

TEST(boards_are_known_by_their_number)
{
  pai_topology *t = test_machine("p(ncc h(b(g)b(g)b(a)))");

  assert_int_equal(between(t, 0, 1).closeness, PAI_NEAR_NUMA);
  t->gpus[1].serial = t->gpus[0].serial;
  assert_int_equal(between(t, 0, 1).closeness, PAI_NEAR_BOARD);
  /* Makers number independently. */
  assert_string_equal(pai__topo_text(t, t->gpus[0].serial),
                      pai__topo_text(t, t->gpus[2].serial));
  assert_int_equal(between(t, 0, 2).closeness, PAI_NEAR_NUMA);
  pai_topology_unref(t);
}

/* Objects that were left out, and the package, are in hwloc's matrices too. */
TEST(switches_carry_what_their_links_do)
{
  enum { N = 6 };
  pai_topology *t = test_machine("p(ncc h(gg dd))");
  uint32_t objects[N] = { t->gpus[0].object, 0,        PAI_NONE,
                          t->gpus[1].object, PAI_NONE, PAI_NONE };
  uint64_t values[N * N] = { 0 };
  pai__topo_matrix m = { "NVLinkBandwidth", N, objects, values };

  for (uint32_t i = 0, s = 4; i < t->count; i++)
    if (t->objects[i].is_switch)
      objects[s++] = i;
  values[0 * N + 1] = values[3 * N + 1] = 70000; /* to the CPUs: no path */
  values[0 * N + 2] = values[3 * N + 2] = 70000; /* to what is not known */
  values[0 * N + 4] = 25000;
  values[4 * N + 3] = 20000;
  values[0 * N + 5] = 25000;
  values[3 * N + 5] = 25000; /* told by the GPU only */
  assert_ok(pai__topo_add_matrix(t, &m));
  pai__topo_end_matrices(t);
  expect_links(t, "0-1 numa NVSwitch direct 0 hops 2 45000 MB/s\n");
  pai_topology_unref(t);
}

TEST(xgmi_is_known_by_hops_or_hive)
{
  static const uint64_t hops[] = { 0, 1, 2, 1, 0, 1, 2, 1, 0 };
  static const uint64_t bandwidth[] = { 0,      100000, 50000,  100000, 0,
                                        100000, 50000,  100000, 0 };
  pai_topology *t = test_machine("p(ncc h(aaa)) p(ncc h(aa))");

  assert_ok(test_matrix(t, "XGMIHops", 3, hops));
  expect_links(t, "0-1 numa xGMI direct 1 hops 1 0 MB/s\n");
  assert_ok(test_matrix(t, "XGMIBandwidth", 3, bandwidth));
  expect_links(t, "0-1 numa xGMI direct 1 hops 1 100000 MB/s\n");
  expect_links(t, "0-2 numa xGMI direct 0 hops 2 50000 MB/s\n");
  t->gpus[3].hive = t->gpus[4].hive = 0x1234;
  expect_links(t, "3-4 numa xGMI direct 0 hops 0 0 MB/s\n");
  t->gpus[0].hive = 0x77; /* another one */
  expect_links(t, "0-4 machine PCI direct 0 hops 0 15995 MB/s\n");
  expect_levels(t, "xgmi 2x3* | machine 1x5");
  pai_topology_unref(t);
}

/* --- contracts -------------------------------------------------------------------- */

TEST(broken_calls_are_refused)
{
  pai_topology *t = test_machine("p(ncc h(gg))");
  pai_topology_link link = { .struct_size = 4 };

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

TEST_FAULTS(no_memory_is_survived)
{
  static const uint64_t values[] = { 0, 5, 5, 0 };
  pai__topo_levels l;
  pai_topology *t;
  int rc = test_make(&t, "p(ncc h(b(gg)b(gg))) p(ncc h(b(aa)))", alloc);

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
