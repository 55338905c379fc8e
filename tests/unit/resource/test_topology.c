/* test_topology.c - machines as hwloc reads them */
#include "made.h"

#include <stdlib.h>

static pai_topology *synthetic(const char *description)
{
  pai_error *err = NULL;
  pai_topology *t;

  if (pai_topology_synthetic(&t, description, NULL, &err) < 0)
    fail_msg("%s: %s", description, pai_error_message(err));
  assert_null(err);
  return t;
}

/* --- made up by hwloc ------------------------------------------------------------ */

static void descriptions_make_machines(void **state)
{
  pai_topology *t =
    synthetic("pack:2 [numa(memory=1073741824)] l3:2 core:4 pu:2");
  pai_topology_summary s = test_sum(t);

  (void)state;
  assert_int_equal(s.packages, 2);
  assert_int_equal(s.numa_nodes, 2);
  assert_int_equal(s.cores, 16);
  assert_int_equal(s.pus, 32);
  assert_int_equal(s.gpus, 0);
  assert_int_equal(s.bytes, (uint64_t)2 << 30);
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_CACHE), 4);
  test_tree_holds(t);
  assert_ptr_equal(pai_topology_ref(t), t);
  pai_topology_unref(t);
  assert_int_equal(test_sum(t).pus, 32);
  pai_topology_unref(t);
  t = synthetic("2 4 2"); /* without types */
  assert_int_equal(test_sum(t).pus, 16);
  pai_topology_unref(t);
  t = synthetic("pack:16 core:256 pu:2"); /* the most there may be */
  assert_int_equal(test_sum(t).pus, 8192);
  pai_topology_unref(t);
}

static void views_have_ages(void **state)
{
  pai_topology *t = synthetic("core:2 pu:1");
  struct {
    pai_topology_summary s;
    uint64_t newer;
  } wide = { { .struct_size = sizeof(wide) }, 7 };
  pai_topology_object o = { .struct_size = sizeof(o) };
  pai_topology_gpu g = { .struct_size = sizeof(g) };

  (void)state;
  assert_int_equal(pai_topology_summarize(t, &wide.s), PAI_OK);
  assert_int_equal(wide.newer, 0);
  assert_int_equal(wide.s.struct_size, sizeof(wide));
  wide.s.struct_size = 8;
  assert_int_equal(pai_topology_summarize(t, &wide.s), PAI_EINVAL);
  assert_int_equal(pai_topology_view_object(t, 10000, &o), PAI_ENOTFOUND);
  assert_int_equal(pai_topology_view_gpu(t, 0, &g), PAI_ENOTFOUND);
  assert_int_equal(pai_topology_view_gpu(NULL, 0, &g), PAI_EINVAL);
  pai_topology_unref(t);
  pai_topology_unref(NULL);
}

/* --- this machine ----------------------------------------------------------------- */

static void this_machine_is_read(void **state)
{
  pai_error *err = NULL;
  pai_topology *t;

  (void)state;
  if (pai_topology_discover(&t, NULL, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  assert_true(test_sum(t).pus >= 1);
  assert_true(test_sum(t).numa_nodes >= 1);
  assert_true(test_sum(t).bytes > 0);
  test_tree_holds(t);
  pai_topology_unref(t);
}

/* --- real machines ---------------------------------------------------------------- */

static void a_dgx2(void **state)
{
  pai_topology *t = test_real("nvidiaDGX2.xml");

  (void)state;
  if (t == NULL)
    skip();
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 16);
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_PCI), 12); /* NVSwitches */
  assert_string_equal(test_gpu(t, 10).model, "Tesla V100-SXM3-32GB-H");
  assert_string_equal(test_gpu(t, 10).vendor, "NVIDIA");
  assert_string_equal(test_gpu(t, 10).uuid,
                      "GPU-c6564b02-e380-0fc2-5578-3343846a933e");
  assert_string_equal(test_gpu(t, 10).serial, "0321019030523");
  assert_string_equal(test_gpu(t, 10).pci, "0000:bc:00.0");
  assert_string_equal(test_gpu(t, 10).backends, "nvml10");
  assert_int_equal(test_gpu(t, 10).index, 10);
  assert_int_equal(test_gpu(t, 10).numa_node, 1);
  assert_int_equal(test_gpu(t, 10).link_mbps, 15754);
  pai_topology_unref(t);
}

/* RSMI's numbers are not in the order of the buses; the screen of the
 * management board is no GPU. */
static void an_mi50_node(void **state)
{
  pai_topology *t = test_real("flux-corona-8xMI50.xml");

  (void)state;
  if (t == NULL)
    skip();
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 8);
  assert_string_equal(test_sum(t).name, "corona263");
  assert_string_equal(test_gpu(t, 0).pci, "0000:63:00.0");
  assert_string_equal(test_gpu(t, 7).pci, "0000:a3:00.0");
  assert_string_equal(test_gpu(t, 0).vendor, "AMD");
  assert_int_equal(test_gpu(t, 0).bytes, (uint64_t)33538048 << 10);
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_NETWORK), 3);
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_INFINIBAND), 1);
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_STORAGE), 3);
  pai_topology_unref(t);
}

static void interfaces_of_one_gpu_are_one(void **state)
{
  pai_topology *t = test_real("power8gpudistances.xml");

  (void)state;
  if (t == NULL)
    skip();
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 4);
  assert_string_equal(test_gpu(t, 2).backends, "cuda2 opencl0d2 nvml2");
  assert_int_equal(test_gpu(t, 2).bytes, (uint64_t)16671616 << 10);
  assert_int_equal(test_gpu(t, 2).numa_node, 1);
  pai_topology_unref(t);
}

static void vendors_are_told_apart(void **state)
{
  pai_topology *t = test_real("flux-chimera-multi.xml");

  (void)state;
  if (t == NULL)
    skip();
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 2);
  assert_string_equal(test_gpu(t, 0).vendor, "NVIDIA");
  assert_string_equal(test_gpu(t, 0).backends, "renderD128 card0 cuda0 nvml0");
  assert_int_equal(test_gpu(t, 0).index, 0);
  assert_string_equal(test_gpu(t, 1).vendor, "AMD");
  assert_string_equal(test_gpu(t, 1).model,
                      "Vega 10 XTX [Radeon Vega Frontier Edition]");
  assert_int_equal(test_gpu(t, 1).index, PAI_NONE);
  assert_int_equal(test_gpu(t, 1).numa_node, 2);
  pai_topology_unref(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(descriptions_make_machines),
    cmocka_unit_test(views_have_ages),
    cmocka_unit_test(this_machine_is_read),
    cmocka_unit_test(a_dgx2),
    cmocka_unit_test(an_mi50_node),
    cmocka_unit_test(interfaces_of_one_gpu_are_one),
    cmocka_unit_test(vendors_are_told_apart),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
