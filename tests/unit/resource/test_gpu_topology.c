/* What a topology learns of a machine's GPUs from their driver. */
#include "fake.h"

#include <openpai/topology.h>

static fake_nvml fake;

#define SETS                                                       \
  "cpuset=\"0x1\" complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" " \
  "nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\""
#define NVIDIA(n, bus)                                               \
  "<object type=\"PCIDev\" gp_index=\"" n "\" pci_busid=\"0000:" bus \
  ":00.0\" pci_type=\"0302 [10de:2330] [0000:0000] 00\" "            \
  "pci_link_speed=\"1.5\">\n</object>\n"

/* A machine as Debian's hwloc writes it, line by line, which its own reader
 * needs: the PCI bus knows two GPUs. */
static const char two_by_pci[] =
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
  "<object type=\"Machine\" os_index=\"0\" " SETS " gp_index=\"1\">\n"
  "<object type=\"NUMANode\" os_index=\"0\" " SETS " gp_index=\"2\" "
  "local_memory=\"1073741824\"></object>\n"
  "<object type=\"PU\" os_index=\"0\" " SETS " gp_index=\"3\"></object>\n"
  "<object type=\"Bridge\" gp_index=\"10\" bridge_type=\"0-1\" depth=\"0\" "
  "bridge_pci=\"0000:[00-ff]\">\n" NVIDIA("20", "05")
    NVIDIA("21", "10") "</object>\n</object>\n</topology>\n";

static void drivers_name_what_pci_knows(void **state)
{
  pai_topology_options o = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_topology_gpu v = { .struct_size = sizeof(v) };
  pai_topology *t = NULL;
  pai_gpus *gpus;

  (void)state;
  fake.machine("1");
  assert_int_equal(
    pai_gpus_new(&gpus,
                 &(pai_gpus_options){ .struct_size = sizeof(pai_gpus_options),
                                      .nvml = FAKE_NEW,
                                      .root = made_root() },
                 NULL),
    PAI_OK);
  o.gpus = gpus;
  assert_int_equal(
    pai_topology_parse_xml(&t, two_by_pci, strlen(two_by_pci), &o, NULL),
    PAI_OK);
  pai_gpus_free(gpus); /* not kept */
  assert_int_equal(pai_topology_view_gpu(t, 0, &v), PAI_OK);
  assert_string_equal(v.pci, "0000:10:00.0"); /* has a number, so is first */
  assert_string_equal(v.model, "NVIDIA A100-SXM4-40GB");
  assert_string_equal(v.uuid, "GPU-00000000-0000-0000-0000-000000000000");
  assert_string_equal(v.backends, "nvml0");
  assert_int_equal(v.bytes, 40ll << 30);
  assert_int_equal(v.index, 0);
  assert_int_equal(pai_topology_view_gpu(t, 1, &v), PAI_OK);
  assert_string_equal(v.pci, "0000:05:00.0"); /* the driver does not know it */
  assert_string_equal(v.model, "");
  assert_int_equal(pai_topology_view_gpu(t, 2, &v), PAI_ENOTFOUND);
  pai_topology_unref(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(drivers_name_what_pci_knows),
  };
  int failed;

  fake_open(&fake, FAKE_NEW);
  failed = cmocka_run_group_tests(tests, NULL, NULL);
  fake_close(&fake);
  return failed;
}
