/* What is near GPUs, and how it is written for cpusets, hwloc, taskset. */
#include "made.h"

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

/* The CPUs of one or two GPUs; b is PAI_NONE for one. */
static void expect(const pai_topology *t, uint32_t a, uint32_t b,
                   uint32_t cores, const char *cpus, const char *nodes)
{
  uint32_t gpus[] = { a, b };
  pai_affinity *got = near(t, gpus, b == PAI_NONE ? 1 : 2, cores);
  const pai_affinity_view *v = pai_affinity_get(got);

  if (strcmp(v->cpus, cpus) != 0 || strcmp(v->numa_nodes, nodes) != 0)
    fail_msg("%u, %u with %u cores: CPUs %s, nodes %s", a, b, cores, v->cpus,
             v->numa_nodes);
  if (cores > 0)
    assert_int_equal(v->cores, cores);
  assert_int_equal(v->pus, v->cores * 2);
  pai_affinity_free(got);
}

static void all_that_is_near(void **state)
{
  pai_topology *t = test_machine("p(ncc h(b(gg))) p(ncc h(b(g)))");

  (void)state;
  expect(t, 0, PAI_NONE, 0, "0-3", "0");
  expect(t, 0, 1, 0, "0-3", "0");
  expect(t, 1, 2, 0, "0-7", "0-1");
  expect(t, 2, PAI_NONE, 0, "4-7", "1");
  pai_topology_unref(t);
}

/* Two GPUs of a node begin at different cores; who wants more goes on. */
static void cores_are_shared_out(void **state)
{
  pai_topology *t = test_machine("p(ncccc h(gg)) p(ncccc h(g))");

  (void)state;
  expect(t, 0, PAI_NONE, 1, "0-1", "0");
  expect(t, 0, PAI_NONE, 2, "0-3", "0");
  expect(t, 1, PAI_NONE, 2, "4-7", "0");
  expect(t, 1, PAI_NONE, 3, "0-1,4-7", "0");
  expect(t, 1, PAI_NONE, 4, "0-7", "0");
  expect(t, 1, PAI_NONE, 5, "0-9", "0");
  expect(t, 0, 2, 2, "0-1,8-9", "0-1");
  expect(t, 0, 2, 3, "0-3,8-9", "0-1");
  expect(t, 2, PAI_NONE, 5, "0-1,8-15", "1");
  expect(t, 2, 0, 3, "0-1,8-11", "0-1");
  expect(t, 0, 2, 8, "0-15", "0-1");
  pai_topology_unref(t);
}

static void no_place_is_any_place(void **state)
{
  pai_topology *t = test_machine("p(ncc) p(ncc) h(g)");
  pai_affinity *a;

  (void)state;
  expect(t, 0, PAI_NONE, 0, "0-7", "0-1");
  a = near(t, NULL, 0, 0);
  assert_string_equal(pai_affinity_get(a)->cpus, "0-7");
  assert_null(pai_affinity_variable(a, 0));
  pai_affinity_free(a);
  a = near(t, NULL, 0, 3);
  assert_string_equal(pai_affinity_get(a)->cpus, "0-5");
  pai_affinity_free(a);
  pai_topology_unref(t);
}

/* Memory further out, for CPUs that have none of their own. */
static void memory_may_be_further_away(void **state)
{
  pai_topology *t = test_machine("p(r(ncc) r(cc h(g)))");

  (void)state;
  expect(t, 0, PAI_NONE, 0, "4-7", "0");
  pai_topology_unref(t);
  t = test_machine("p(nncc h(g))"); /* two kinds of it */
  expect(t, 0, PAI_NONE, 0, "0-3", "0-1");
  pai_topology_unref(t);
}

/* --- forms ---------------------------------------------------------------------- */

/* The processing units of a core, by the operating system's numbers. */
static void expect_forms(uint32_t a, uint32_t b, const char *cpus,
                         const char *bitmap, const char *mask)
{
  pai_topology *t = test_machine("p(nc h(g))");
  uint32_t gpu = 0;
  pai_affinity *got;
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  char *theirs;

  t->pus[0] = a;
  t->pus[1] = b;
  got = near(t, &gpu, 1, 0);
  assert_string_equal(pai_affinity_get(got)->cpus, cpus);
  assert_string_equal(pai_affinity_get(got)->bitmap, bitmap);
  assert_string_equal(pai_affinity_get(got)->mask, mask);
  hwloc_bitmap_set(set, a);
  hwloc_bitmap_set(set, b);
  assert_true(hwloc_bitmap_asprintf(&theirs, set) > 0);
  assert_string_equal(bitmap, theirs);
  free(theirs);
  assert_true(hwloc_bitmap_list_asprintf(&theirs, set) > 0);
  assert_string_equal(cpus, theirs);
  free(theirs);
  assert_true(hwloc_bitmap_taskset_asprintf(&theirs, set) > 0);
  assert_string_equal(mask, theirs + strlen("0x"));
  free(theirs);
  hwloc_bitmap_free(set);
  pai_affinity_free(got);
  pai_topology_unref(t);
}

static void forms_are_as_others_write_them(void **state)
{
  (void)state;
  expect_forms(0, 1, "0-1", "0x00000003", "3");
  expect_forms(0, 31, "0,31", "0x80000001", "80000001");
  expect_forms(31, 32, "31-32", "0x00000001,0x80000000", "180000000");
  expect_forms(40, 41, "40-41", "0x00000300,0x0", "30000000000");
  expect_forms(0, 96, "0,96", "0x00000001,,,0x00000001",
               "1000000000000000000000001");
  expect_forms(64, 100, "64,100", "0x00000010,0x00000001,,0x0",
               "1000000001"
               "0000000000000000");
}

/* --- variables ------------------------------------------------------------------ */

static void expect_variable(const pai_affinity *a, size_t i, const char *name,
                            const char *by_index, const char *by_uuid)
{
  const pai_affinity_variable_view *v = pai_affinity_variable(a, i);

  assert_non_null(v);
  assert_string_equal(v->name, name);
  assert_string_equal(v->by_index, by_index);
  assert_string_equal(v->by_uuid, by_uuid);
}

/* Each vendor has its own, with its own numbers, in the order asked for. */
static void variables_are_the_vendors(void **state)
{
  static const uint32_t gpus[] = { 3, 1, 0 };
  pai_topology *t = test_machine("p(ncc h(agag))");
  pai_affinity *a = near(t, gpus, 3, 0);

  (void)state;
  assert_int_equal(pai_affinity_get(a)->variables, 2);
  expect_variable(a, 0, "CUDA_VISIBLE_DEVICES", "1,0", "GPU-1n,GPU-0n");
  expect_variable(a, 1, "ROCR_VISIBLE_DEVICES", "1", "GPU-1a");
  assert_null(pai_affinity_variable(a, 2));
  pai_affinity_free(a);
  t->gpus[1].uuid = 0;
  t->gpus[3].index = PAI_NONE;
  a = near(t, gpus, 3, 0);
  expect_variable(a, 0, "CUDA_VISIBLE_DEVICES", "1,0", "");
  expect_variable(a, 1, "ROCR_VISIBLE_DEVICES", "", "GPU-1a");
  pai_affinity_free(a);
  t->gpus[3].vendor = PAI__VENDOR_INTEL;
  t->gpus[3].index = 2;
  a = near(t, gpus, 1, 0);
  expect_variable(a, 0, "ZE_AFFINITY_MASK", "2", "");
  pai_affinity_free(a);
  pai_topology_unref(t);
}

static void real_machines(void **state)
{
  static const uint32_t gpus[] = { 1, 5 };
  pai_topology *t = test_real("flux-corona-8xMI50.xml");
  pai_affinity *a;

  (void)state;
  if (t == NULL)
    skip();
  a = near(t, gpus, 2, 4);
  assert_string_equal(pai_affinity_get(a)->cpus, "6-7,30-31,54-55,78-79");
  assert_string_equal(pai_affinity_get(a)->numa_nodes, "0-1");
  expect_variable(a, 0, "ROCR_VISIBLE_DEVICES", "1,5",
                  "GPU-cb88208172edb14d,GPU-d06230a172e620ce");
  pai_affinity_free(a);
  a = near(t, gpus, 1, 0);
  assert_string_equal(pai_affinity_get(a)->cpus, "0-23,48-71");
  assert_string_equal(pai_affinity_get(a)->bitmap,
                      "0x000000ff,0xffff0000,0x00ffffff");
  assert_string_equal(pai_affinity_get(a)->mask, "ffffff000000ffffff");
  pai_affinity_free(a);
  pai_topology_unref(t);
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

static void what_cannot_be_is_told(void **state)
{
  static const uint32_t twice[] = { 1, 0, 1 }, beyond[] = { 0, 2 };
  pai_topology *t = test_machine("p(ncc h(gg))");

  (void)state;
  expect_failure(t, twice, 3, 0, PAI_EINVAL, "GPU 1 is named twice");
  expect_failure(t, beyond, 2, 0, PAI_ENOTFOUND, "no GPU 2, of 2");
  expect_failure(t, twice, 2, 3, PAI_ENOROOM, "3 cores are wanted");
  expect_failure(t, NULL, 1, 0, PAI_EINVAL, "without");
  expect_failure(NULL, twice, 1, 0, PAI_EINVAL, "without");
  pai_affinity_free(NULL);
  pai_topology_unref(t);
}

static int find(const pai_alloc *alloc, void *user_data)
{
  static const uint32_t gpus[] = { 0, 2, 1 };
  pai_topology *t;
  pai_affinity *a = NULL;
  int rc = test_make(&t, "p(ncc h(ga)) p(ncc h(g))", alloc);

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai_topology_affinity(&a, t, gpus, 3, 2, NULL);
  if (rc == PAI_OK)
    assert_string_equal(pai_affinity_get(a)->cpus, "0-3");
  assert_true(rc == PAI_OK || a == NULL);
  pai_affinity_free(a);
  pai_topology_unref(t);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(find, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_that_is_near),
    cmocka_unit_test(cores_are_shared_out),
    cmocka_unit_test(no_place_is_any_place),
    cmocka_unit_test(memory_may_be_further_away),
    cmocka_unit_test(forms_are_as_others_write_them),
    cmocka_unit_test(variables_are_the_vendors),
    cmocka_unit_test(real_machines),
    cmocka_unit_test(what_cannot_be_is_told),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
