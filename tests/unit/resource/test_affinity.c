/* What is near GPUs, and how it is written for cpusets, hwloc, taskset; which
 * CPUs a task is given, of those that are free. */
#include "made.h"

#include "resource/cpus.h"

#include <hwloc.h>
#include <stdlib.h>

static pai_affinity *near(const pai_topology *t, const uint32_t *gpus,
                          size_t count, uint32_t cores)
{
  pai_error *err = NULL;
  pai_affinity *a;

  if (pai_topology_affinity(&a, t, gpus, count, cores, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  return a;
}

/* The CPUs and NUMA nodes of one or two GPUs (of none: PAI_NONE). */
static const struct {
  const char *machine;
  uint32_t a, b, cores;
  const char *cpus, *nodes;
} places[] = {
  { "p(ncc h(b(gg))) p(ncc h(b(g)))", 0, PAI_NONE, 0, "0-3", "0" },
  { "p(ncc h(b(gg))) p(ncc h(b(g)))", 0, 1, 0, "0-3", "0" },
  { "p(ncc h(b(gg))) p(ncc h(b(g)))", 1, 2, 0, "0-7", "0-1" },
  { "p(ncc h(b(gg))) p(ncc h(b(g)))", 2, PAI_NONE, 0, "4-7", "1" },
  /* two GPUs of a node begin at different cores; who wants more goes on */
  { "p(ncccc h(gg)) p(ncccc h(g))", 0, PAI_NONE, 1, "0-1", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 0, PAI_NONE, 2, "0-3", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 1, PAI_NONE, 2, "4-7", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 1, PAI_NONE, 3, "0-1,4-7", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 1, PAI_NONE, 4, "0-7", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 1, PAI_NONE, 5, "0-9", "0" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 0, 2, 2, "0-1,8-9", "0-1" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 0, 2, 3, "0-3,8-9", "0-1" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 2, PAI_NONE, 5, "0-1,8-15", "1" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 2, 0, 3, "0-1,8-11", "0-1" },
  { "p(ncccc h(gg)) p(ncccc h(g))", 0, 2, 8, "0-15", "0-1" },
  /* no place is any place */
  { "p(ncc) p(ncc) h(g)", 0, PAI_NONE, 0, "0-7", "0-1" },
  { "p(ncc) p(ncc) h(g)", PAI_NONE, PAI_NONE, 0, "0-7", "0-1" },
  { "p(ncc) p(ncc) h(g)", PAI_NONE, PAI_NONE, 3, "0-5", "0-1" },
  /* memory further out, for CPUs that have none of their own */
  { "p(r(ncc) r(cc h(g)))", 0, PAI_NONE, 0, "4-7", "0" },
  { "p(nncc h(g))", 0, PAI_NONE, 0, "0-3", "0-1" }, /* two kinds of it */
};

TEST(cpus_are_near)
{
  for (size_t i = 0; i < PAI__LEN(places); i++) {
    pai_topology *t = test_machine(places[i].machine);
    uint32_t gpus[] = { places[i].a, places[i].b };
    size_t n = (size_t)(gpus[0] != PAI_NONE) + (gpus[1] != PAI_NONE);
    pai_affinity *got = near(t, n > 0 ? gpus : NULL, n, places[i].cores);
    const pai_affinity_view *v = pai_affinity_get(got);

    if (strcmp(v->cpus, places[i].cpus) != 0 ||
        strcmp(v->numa_nodes, places[i].nodes) != 0)
      fail_msg("row %zu: CPUs %s, nodes %s", i, v->cpus, v->numa_nodes);
    if (places[i].cores > 0)
      assert_int_equal(v->cores, places[i].cores);
    assert_int_equal(v->pus, v->cores * 2);
    assert_int_equal(pai_affinity_variable(got, 0) != NULL, n > 0);
    pai_affinity_free(got);
    pai_topology_unref(t);
  }
}

/* --- forms ---------------------------------------------------------------------- */

/* The processing units of a core, by the operating system's numbers, are
 * written as hwloc and taskset write them. */
TEST(forms_are_as_others_write_them)
{
  static const unsigned pairs[][2] = { { 0, 1 },   { 0, 31 }, { 31, 32 },
                                       { 40, 41 }, { 0, 96 }, { 64, 100 } };

  for (size_t i = 0; i < PAI__LEN(pairs); i++) {
    pai_topology *t = test_machine("p(nc h(g))");
    uint32_t gpu = 0;
    pai_affinity *got;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char *list, *bitmap, *mask;

    for (size_t k = 0; k < 2; k++) {
      t->pus[k] = pairs[i][k];
      hwloc_bitmap_set(set, pairs[i][k]);
    }
    assert_true(hwloc_bitmap_list_asprintf(&list, set) > 0);
    assert_true(hwloc_bitmap_asprintf(&bitmap, set) > 0);
    assert_true(hwloc_bitmap_taskset_asprintf(&mask, set) > 0);
    got = near(t, &gpu, 1, 0);
    assert_string_equal(pai_affinity_get(got)->cpus, list);
    assert_string_equal(pai_affinity_get(got)->bitmap, bitmap);
    assert_string_equal(pai_affinity_get(got)->mask, mask + strlen("0x"));
    free(list);
    free(bitmap);
    free(mask);
    hwloc_bitmap_free(set);
    pai_affinity_free(got);
    pai_topology_unref(t);
  }
}

/* --- variables ------------------------------------------------------------------ */

/* CPUs, nodes, and a line for each variable: NAME, by index and by UUID. */
static void expect_all(const pai_topology *t, const uint32_t *gpus, size_t n,
                       uint32_t cores, const char *want)
{
  pai_affinity *a = near(t, gpus, n, cores);
  const pai_affinity_view *v = pai_affinity_get(a);
  const pai_affinity_variable_view *var;
  size_t i = 0;
  pai__buf b = test_buf();

  pai__buf_printf(&b, "%s of %s, %s, %s\n", v->cpus, v->numa_nodes, v->bitmap,
                  v->mask);
  for (; (var = pai_affinity_variable(a, i)) != NULL; i++)
    pai__buf_printf(&b, "%s %s %s\n", var->name, var->by_index, var->by_uuid);
  assert_int_equal(i, v->variables);
  assert_string_equal(pai__buf_text(&b), want);
  pai__buf_dispose(&b);
  pai_affinity_free(a);
}

/* Each vendor has its own, with its own numbers, in the order asked for. */
TEST(variables_are_the_vendors)
{
  static const uint32_t gpus[] = { 3, 1, 0 };
  pai_topology *t = test_machine("p(ncc h(agag))");

  expect_all(t, gpus, 3, 0,
             "0-3 of 0, 0x0000000f, f\n"
             "CUDA_VISIBLE_DEVICES 1,0 GPU-1n,GPU-0n\n"
             "ROCR_VISIBLE_DEVICES 1 GPU-1a\n");
  t->gpus[1].uuid = 0;
  t->gpus[3].index = PAI_NONE;
  expect_all(t, gpus, 3, 0,
             "0-3 of 0, 0x0000000f, f\n"
             "CUDA_VISIBLE_DEVICES 1,0 \n"
             "ROCR_VISIBLE_DEVICES  GPU-1a\n");
  t->gpus[3].vendor = PAI__VENDOR_INTEL;
  t->gpus[3].index = 2;
  expect_all(t, gpus, 1, 0,
             "0-3 of 0, 0x0000000f, f\n"
             "ZE_AFFINITY_MASK 2 \n");
  pai_topology_unref(t);
}

TEST(real_machines)
{
  static const uint32_t gpus[] = { 1, 5 };
  pai_topology *t = test_real("flux-corona-8xMI50.xml");

  if (t == NULL)
    skip();
  expect_all(
    t, gpus, 2, 4,
    "6-7,30-31,54-55,78-79 of 0-1, 0x0000c000,0x00c00000,0xc00000c0, "
    "c00000c00000c00000c0\n"
    "ROCR_VISIBLE_DEVICES 1,5 GPU-cb88208172edb14d,GPU-d06230a172e620ce\n");
  expect_all(
    t, gpus, 1, 0,
    "0-23,48-71 of 0, 0x000000ff,0xffff0000,0x00ffffff, ffffff000000ffffff\n"
    "ROCR_VISIBLE_DEVICES 1 GPU-cb88208172edb14d\n");
  pai_topology_unref(t);
}

/* --- of those that are free ----------------------------------------------- */

static pai__cpus set_of(const char *list)
{
  pai__cpus cpus = { { 0 } };
  pai__bits_fault fault;
  size_t n;

  assert_ok(pai__bits_read_list(cpus.at, &n, PAI__MAX_CPUS, list, strlen(list),
                                &fault));
  return cpus;
}

#define TWO_NODES "p(ncc h(b(gg))) p(ncc h(b(g)))"

/* Of a machine or of none: GPUs as bits, the free CPUs, and how many a task
 * wants; which it gets ("": none), and the nodes next to them. */
static const struct {
  const char *machine;
  uint64_t gpus;
  const char *free;
  uint32_t n;
  const char *cpus, *nodes;
} choices[] = {
  /* next to GPUs */
  { TWO_NODES, 1, "0-7", 2, "0-1", "0" },
  { TWO_NODES, 4, "0-7", 2, "4-5", "1" },
  { TWO_NODES, 4, "0-7", 4, "4-7", "1" },
  { TWO_NODES, 4, "0-7", 5, "0,4-7", "0-1" }, /* more than are there */
  { TWO_NODES, 4, "0-5", 2, "4-5", "1" },
  { TWO_NODES, 4, "0-3", 2, "0-1", "0" },
  { TWO_NODES, 5, "0-7", 4, "0-1,4-5", "0-1" }, /* as many for each */
  { TWO_NODES, 1u << 9, "0-7", 2, "0-1", "0" }, /* nobody knows that one */
  /* whole cores */
  { "p(ncc) p(ncc)", 0, "0-7", 2, "0-1", "0" },
  { "p(ncc) p(ncc)", 0, "1-3", 2, "2-3", "0" },
  { "p(ncc) p(ncc)", 0, "0-1,3", 1, "3", "0" }, /* of a core that is begun */
  { "p(ncc) p(ncc)", 0, "1-3", 3, "1-3", "0" },
  { "p(ncc) p(ncc)", 0, "1,3", 2, "1,3", "0" },
  { "p(ncc) p(ncc)", 0, "1,3-7", 4, "4-7", "1" }, /* of one node */
  { "p(ncc) p(ncc)", 0, "0-5", 2, "4-5", "1" },
  { "p(ncc) p(ncc)", 0, "0-2,4-6", 4, "0-1,4-5", "0-1" },
  /* odd machines */
  { NULL, 1, "3,9-11", 3, "3,9-10", "" },
  { NULL, 0, "3", 2, "", "" },
  { "p(ncc)", 0, "3,900", 2, "3,900", "" }, /* more than the topology knows */
};

TEST(free_cpus_are_chosen)
{
  for (size_t i = 0; i < PAI__LEN(choices); i++) {
    pai_topology *t =
      choices[i].machine != NULL ? test_machine(choices[i].machine) : NULL;
    pai__cpus from = set_of(choices[i].free), got;
    pai__buf text = test_buf(), near = test_buf();

    if (pai__cpus_choose(&got, t, choices[i].gpus, &from, choices[i].n)) {
      pai__bits_write_list(&text, got.at, PAI__LEN(got.at));
      pai__cpus_nodes(&near, t, &got);
    }
    if (strcmp(pai__buf_text(&text), choices[i].cpus) != 0 ||
        strcmp(pai__buf_text(&near), choices[i].nodes) != 0)
      fail_msg("row %zu: %s, nodes %s", i, pai__buf_text(&text),
               pai__buf_text(&near));
    pai__buf_dispose(&text);
    pai__buf_dispose(&near);
    pai_topology_unref(t);
  }
}

/* --- what cannot be --------------------------------------------------------------- */

static void expect_failure(const pai_topology *t, const uint32_t *gpus,
                           size_t count, uint32_t cores, int code,
                           const char *part)
{
  pai_affinity *a = (pai_affinity *)&code;
  pai_error *err = NULL;

  assert_int_equal(pai_topology_affinity(&a, t, gpus, count, cores, &err),
                   code);
  assert_null(a);
  test_expect_error(err, code, part);
}

TEST(what_cannot_be_is_told)
{
  static const uint32_t twice[] = { 1, 0, 1 }, beyond[] = { 0, 2 };
  pai_topology *t = test_machine("p(ncc h(gg))");

  expect_failure(t, twice, 3, 0, PAI_EINVAL, "GPU 1 is named twice");
  expect_failure(t, beyond, 2, 0, PAI_ENOTFOUND, "no GPU 2, of 2");
  expect_failure(t, twice, 2, 3, PAI_ENOROOM, "3 cores requested");
  expect_failure(t, NULL, 1, 0, PAI_EINVAL, "without");
  expect_failure(NULL, twice, 1, 0, PAI_EINVAL, "without");
  pai_affinity_free(NULL);
  pai_topology_unref(t);
}

TEST_FAULTS(no_memory_is_survived)
{
  static const uint32_t gpus[] = { 0, 2, 1 };
  pai_topology *t;
  pai_affinity *a = NULL;
  int rc = test_make(&t, "p(ncc h(ga)) p(ncc h(g))", alloc);

  if (rc == PAI_OK)
    rc = pai_topology_affinity(&a, t, gpus, 3, 2, NULL);
  if (rc == PAI_OK)
    assert_string_equal(pai_affinity_get(a)->cpus, "0-3");
  assert_true(rc == PAI_OK || a == NULL);
  pai_affinity_free(a);
  pai_topology_unref(t);
  return rc;
}
