/* test_topology.c - machines as hwloc reads them */
#include "made.h"

#include <stdio.h>
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

TEST(descriptions_make_machines)
{
  pai_topology *t =
    synthetic("pack:2 [numa(memory=1073741824)] l3:2 core:4 pu:2");
  pai_topology_summary s = test_sum(t);

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

TEST(views_have_ages)
{
  pai_topology *t = synthetic("core:2 pu:1");
  struct {
    pai_topology_summary s;
    uint64_t newer;
  } wide = { { .struct_size = sizeof(wide) }, 7 };
  pai_topology_object o = { .struct_size = sizeof(o) };
  pai_topology_gpu g = { .struct_size = sizeof(g) };

  assert_ok(pai_topology_summarize(t, &wide.s));
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

TEST(this_machine_is_read)
{
  pai_error *err = NULL;
  pai_topology *t;

  if (pai_topology_discover(&t, NULL, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  assert_true(test_sum(t).pus >= 1);
  assert_true(test_sum(t).numa_nodes >= 1);
  assert_true(test_sum(t).bytes > 0);
  test_tree_holds(t);
  pai_topology_unref(t);
}

/* --- real machines -------------------------------------------------------- */

/* Devices, and one of the GPUs.  RSMI's numbers are not in the order of the
 * buses, and the screen of a management board is no GPU. */
static const struct {
  const char *file;
  uint32_t gpu;
  const char *text;
} real[] = {
  { "nvidiaDGX2.xml", 10,
    ": 16 GPUs, PCI 12, net 0, InfiniBand 0, disks 0\n"
    "10 '0000:bc:00.0' NVIDIA 'Tesla V100-SXM3-32GB-H' "
    "'GPU-c6564b02-e380-0fc2-5578-3343846a933e' '0321019030523' 'nvml10' 0 "
    "numa 1 15754 MB/s\n" }, /* 12 NVSwitches */
  { "flux-corona-8xMI50.xml", 0,
    "corona263: 8 GPUs, PCI 4, net 3, InfiniBand 1, disks 3\n"
    "0 '0000:63:00.0' AMD 'deon Instinct MI50 32GB' 'GPU-3b72598172e626c4' "
    "'20080000770c' 'rsmi0' 34342961152 numa 0 31000 MB/s\n" },
  { "flux-corona-8xMI50.xml", 7,
    "corona263: 8 GPUs, PCI 4, net 3, InfiniBand 1, disks 3\n"
    "7 '0000:a3:00.0' AMD 'deon Instinct MI50 32GB' 'GPU-6fe2214172e626c3' "
    "'20170007010c' 'rsmi7' 34342961152 numa 1 31000 MB/s\n" },
  { "power8gpudistances.xml", 2,
    "drac-12.grenoble.grid5000.fr: 4 GPUs, PCI 0, net 0, InfiniBand 0, disks "
    "0\n"
    "2 '000a:01:00.0' NVIDIA 'Tesla P100-SXM2-16GB' "
    "'GPU-ea919830-8251-6a30-e379-daeb01448779' '0322716104229' 'cuda2 "
    "opencl0d2 nvml2' 17071734784 numa 1 15754 MB/s\n" },
  { "flux-chimera-multi.xml", 0,
    "chimera: 2 GPUs, PCI 5, net 3, InfiniBand 0, disks 2\n"
    "0 '0000:08:00.0' NVIDIA 'GeForce GTX 1070' "
    "'GPU-4568d7d2-6f64-5ae3-e3c9-a95f595c6082' '' 'renderD128 card0 cuda0 "
    "nvml0' 8513978368 numa 0 15754 MB/s\n" },
  { "flux-chimera-multi.xml", 1,
    "chimera: 2 GPUs, PCI 5, net 3, InfiniBand 0, disks 2\n"
    "-1 '0000:44:00.0' AMD 'Vega 10 XTX [Radeon Vega Frontier Edition]' '' '' "
    "'card1 renderD129 controlD65 opencl0d0' 17163091968 numa 2 15754 "
    "MB/s\n" },
};

TEST(real_machines_are_read)
{
  for (size_t i = 0; i < PAI__LEN(real); i++) {
    pai_topology *t = test_real(real[i].file);
    char text[512], *line;

    if (t == NULL)
      skip();
    test_tree_holds(t);
    line = test_gpu_line(t, real[i].gpu);
    (void)snprintf(
      text, sizeof(text),
      "%s: %u GPUs, PCI %u, net %u, InfiniBand %u, disks %u\n%s\n",
      test_sum(t).name, test_sum(t).gpus,
      pai__topo_count(t, 0, PAI_OBJECT_PCI),
      pai__topo_count(t, 0, PAI_OBJECT_NETWORK),
      pai__topo_count(t, 0, PAI_OBJECT_INFINIBAND),
      pai__topo_count(t, 0, PAI_OBJECT_STORAGE), line);
    assert_string_equal(text, real[i].text);
    free(line);
    pai_topology_unref(t);
  }
}
