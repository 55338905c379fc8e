/* test_topology_xml.c - what hwloc wrote, and what it is not given to read */
#include "made.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- XML ------------------------------------------------------------------------ */

#define SETS(n)                                                          \
  "cpuset=\"" n "\" complete_cpuset=\"" n "\" allowed_cpuset=\"" n "\" " \
  "nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\""
#define HEAD                                     \
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" \
  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"  \
  "<topology version=\"2.0\">\n"                 \
  "<object type=\"Machine\" os_index=\"0\" " SETS("0x1") " gp_index=\"1\">\n"
#define CPU                                                          \
  "<object type=\"NUMANode\" os_index=\"0\" " SETS(                  \
    "0x1") " gp_index=\"2\" local_memory=\"1073741824\"></object>\n" \
           "<object type=\"PU\" os_index=\"0\" " SETS(               \
             "0x1") " gp_index=\"3\">"                               \
                    "</object>\n"
#define BRIDGE                                                               \
  "<object type=\"Bridge\" gp_index=\"10\" bridge_type=\"0-1\" depth=\"0\" " \
  "bridge_pci=\"0000:[00-ff]\">\n"
#define PCI(n, bus, class, id)                                       \
  "<object type=\"PCIDev\" gp_index=\"" n "\" pci_busid=\"0000:" bus \
  ":00.0\" pci_type=\"" class " [" id "] [0000:0000] 00\" "          \
                              "pci_link_speed=\"1.5\">\n"
#define END "</object>\n"
#define TAIL "</object>\n</topology>\n"

/* Which PCI devices are GPUs without anybody's word, and in what order. */
static void the_pci_bus_is_enough(void **state)
{
  pai_topology *t = test_xml(
    HEAD CPU BRIDGE PCI("20", "50", "0380", "1002:66a1") END PCI(
      "21", "40", "0302", "10de:1db8") END PCI("22", "30", "0300", "10de:1db8")
      END PCI("23", "10", "1200", "8086:0bd5")
        END PCI("24", "20", "1200", "1002:74a1")
          END PCI("25", "60", "0300", "1a03:2000")
            END /* ASPEED's management board */
              PCI("26", "61", "0300", "1002:515e") END   /* ES1000, the same */
                PCI("27", "62", "0300", "102b:0522") END /* Matrox, the same */
                  PCI("28", "63", "0403", "10de:10f0") END /* sound */
                    PCI("29", "64", "0200", "8086:1521") END END TAIL);
  static const char *const pci[] = { "0000:30:00.0", "0000:40:00.0",
                                     "0000:20:00.0", "0000:50:00.0",
                                     "0000:10:00.0" };

  (void)state;
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 5);
  for (uint32_t i = 0; i < 5; i++)
    assert_string_equal(test_gpu(t, i).pci, pci[i]);
  assert_int_equal(test_gpu(t, 0).index, PAI_NONE);
  assert_int_equal(test_gpu(t, 0).link_mbps, 1500);
  assert_string_equal(test_gpu(t, 4).vendor, "Intel");
  assert_string_equal(test_gpu(t, 0).backends, "");
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_PCI),
                   1); /* the network card */
  pai_topology_unref(t);
}

#define OS(n, type, name, backend, more)                              \
  "<object type=\"OSDev\" gp_index=\"" n "\" name=\"" name "\" "      \
  "osdev_type=\"" type "\">\n<info name=\"Backend\" value=\"" backend \
  "\"/>\n" more END
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>\n"

/* Without PCI an interface is a GPU; two interfaces that agree are one; CPUs
 * in OpenCL, screens, and a screen's files are none. */
static void interfaces_are_enough(void **state)
{
  pai_topology *t = test_xml(
    HEAD CPU OS("30", "5", "cuda0", "CUDA",
                INFO("GPUModel", "T4") INFO("CUDAGlobalMemorySize", "1048576"))
      OS("31", "1", "nvml0", "NVML",
         INFO("GPUModel", "T4") INFO("NVIDIAUUID", "GPU-7"))
        OS("32", "1", "nvml1", "NVML", INFO("GPUModel", "T4"))
          OS("33", "5", "opencl0d0", "OpenCL", INFO("OpenCLDeviceType", "CPU"))
            OS("34", "5", "opencl1d0", "OpenCL",
               INFO("OpenCLDeviceType", "GPU") INFO("GPUVendor", "Someone")
                 INFO("GPUModel", "  A\tB  "))
              OS("35", "1", ":0.0", "GL",
                 "") "<object type=\"OSDev\" gp_index=\"36\" name=\"card0\" "
                     "osdev_type=\"1\"/>" TAIL);

  (void)state;
  test_tree_holds(t);
  assert_int_equal(test_sum(t).gpus, 3);
  assert_string_equal(test_gpu(t, 0).backends, "cuda0 nvml0");
  assert_string_equal(test_gpu(t, 0).uuid, "GPU-7");
  assert_int_equal(test_gpu(t, 0).bytes, 1 << 30);
  assert_int_equal(test_gpu(t, 0).numa_node, 0);
  assert_string_equal(test_gpu(t, 1).backends, "nvml1");
  assert_string_equal(test_gpu(t, 2).vendor, "Someone");
  assert_string_equal(test_gpu(t, 2).model, "A B");
  assert_int_equal(pai__topo_count(t, 0, PAI_OBJECT_OTHER), 2);
  pai_topology_unref(t);
}

/* Some drivers give 0 where they know none. */
static void shared_uuids_are_none(void **state)
{
  pai_topology *t =
    test_xml(HEAD CPU OS("30", "5", "rsmi0", "RSMI",
                         INFO("GPUModel", "A") INFO("AMDUUID", "0"))
               OS("31", "5", "rsmi1", "RSMI",
                  INFO("GPUModel", "A") INFO("AMDUUID", "7")
                    INFO("RSMIVRAMSize", "1099511627777"))
                 OS("32", "5", "rsmi2", "RSMI",
                    INFO("GPUModel", "A") INFO("AMDUUID", "0")) TAIL);

  (void)state;
  assert_int_equal(test_sum(t).gpus, 3);
  assert_int_equal(test_gpu(t, 1).bytes, 0); /* more than there can be */
  assert_string_equal(test_gpu(t, 0).uuid, "");
  assert_string_equal(test_gpu(t, 1).uuid, "GPU-7");
  assert_string_equal(test_gpu(t, 2).uuid, "");
  pai_topology_unref(t);
}

/* The os_index of a PCI device holds its domain, and may be any number; on
 * POWER9 GPUs are in domains 4 and 53. */
static void devices_in_any_domain_are_read(void **state)
{
  pai_topology *t = test_xml(
    HEAD CPU BRIDGE
    "<object type=\"PCIDev\" os_index=\"219152384\" gp_index=\"20\" "
    "pci_busid=\"0035:04:00.0\" pci_type=\"0302 [10de:1db1] [0000:0000] 00\" "
    "pci_link_speed=\"1.5\"/>\n" END TAIL);

  (void)state;
  assert_int_equal(test_sum(t).gpus, 1);
  assert_string_equal(test_gpu(t, 0).pci, "0035:04:00.0");
  pai_topology_unref(t);
}

/* hwloc 1 could write its only NUMA node as the outermost object. */
static void a_numa_node_is_the_outermost_object(void **state)
{
  static const char whole[] =
    "<topology><object type=\"NUMANode\" os_index=\"0\" " SETS(
      "0x1") " local_memory=\"1073741824\"><object type=\"PU\" "
             "os_index=\"0\" " SETS("0x1") "/></object></topology>";
  pai_topology *t = test_xml(whole);

  (void)state;
  assert_int_equal(test_sum(t).pus, 1);
  assert_int_equal(test_sum(t).numa_nodes, 1);
  pai_topology_unref(t);
}

/* What another program has laid out anew, and elements that are not used. */
static void other_layouts_are_read(void **state)
{
  pai_topology *t = test_xml(
    "<?xml version='1.0'?><!-- a -->\n<topology\n version='2.0' ><object\n"
    "type = 'Machine' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' "
    "complete_nodeset='0x1' gp_index='1' é='1'><info name='HostName' "
    "value='a&apos;&lt;&amp;>\"b'/><banana><object/></banana>"
    "<object type='NUMANode' os_index='0' cpuset='0x1' complete_cpuset='0x1' "
    "nodeset='0x1' complete_nodeset='0x1' gp_index='2'/>"
    "<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' "
    "nodeset='0x1' complete_nodeset='0x1' gp_index='3' ></object >"
    "<!-- b --></object></topology>");
  pai_topology_object o = { .struct_size = sizeof(o) };

  (void)state;
  assert_int_equal(pai_topology_view_object(t, 0, &o), PAI_OK);
  assert_string_equal(o.name, "a'<&>\"b");
  assert_int_equal(test_sum(t).pus, 1);
  pai_topology_unref(t);
}

/* --- bad input -------------------------------------------------------------------- */

static void expect_wrong(const char *text, size_t len, int code, uint32_t line,
                         uint32_t column, const char *part)
{
  pai_topology *t = (pai_topology *)&code;
  pai_error *err = NULL;
  int rc = pai_topology_parse_xml(&t, text, len, NULL, &err);

  if (rc != code || pai_error_line(err) != line ||
      pai_error_column(err) != column)
    fail_msg("%.200s\ngives %s at %u:%u: %s", text, pai_code_name(rc),
             pai_error_line(err), pai_error_column(err),
             pai_error_message(err));
  assert_null(t);
  test_expect_error(err, code, part);
}

static void wrong_xml_is_told(void **state)
{
  static const struct {
    const char *text;
    int code;
    uint32_t line, column;
    const char *part;
  } rows[] = {
    { "", PAI_EINVAL, 1, 1, "it is empty" },
    { "  \n<!-- c -->", PAI_EINVAL, 2, 11, "it is empty" },
    { "pack:2", PAI_EINVAL, 1, 1, "outside of all elements" },
    { "{\"a\": 1}", PAI_EINVAL, 1, 1, "outside of all elements" },
    { "<html></html>", PAI_EINVAL, 1, 1, "not one element named topology" },
    { "<topology/>\n<topology/>", PAI_EINVAL, 2, 1, "not one element" },
    { "<topology>\n <object type='Machine'>\n", PAI_EINVAL, 3, 1,
      "ends before" },
    { "<topology>\n <object type='Machine'></topology>", PAI_EINVAL, 2, 25,
      "did not begin" },
    { "<topology><info", PAI_EINVAL, 1, 11, "does not end" },
    { "<topology a=>", PAI_EINVAL, 1, 13, "in quotes" },
    { "<topology a>", PAI_EINVAL, 1, 12, "name=\"value\"" },
    { "<topology é=\"x></topology>", PAI_EINVAL, 1, 14, "does not end" },
    { "<topology a=\"<\">", PAI_EINVAL, 1, 14, "does not end" },
    { "<topology></topology", PAI_EINVAL, 1, 11, "does not end" },
    { "<topology>< /topology>", PAI_EINVAL, 1, 11, "begins no element" },
    { "<?xml", PAI_EINVAL, 1, 1, "<? without ?>" },
    { "<!-- -", PAI_EINVAL, 1, 1, "<!-- without -->" },
    { "<!DOCTYPE t", PAI_EINVAL, 1, 1, "does not end" },
    { "<!DOCTYPE t [<!ENTITY a \"b\">]><topology/>", PAI_EINVAL, 1, 1,
      "a DTD of its own" },
    { "<!DOCTYPE topology>\n<topology/>", PAI_EINVAL, 1, 1, "not hwloc's" },
    { "<topology><object cpuset=\"0x1\"/></topology>", PAI_EINVAL, 1, 11,
      "without the complete one" },
    { "<topology><![CDATA[x]]></topology>", PAI_EINVAL, 1, 11,
      "does not write" },
    { "<topology><object type='PU' os_index=\"1048577\"/></topology>",
      PAI_ELIMIT, 1, 39, "os_index of a PU or NUMA node" },
    { "<topology><object type='node' os_index=\"-1\"/></topology>", PAI_ELIMIT,
      1, 41, "os_index of a PU or NUMA node" },
    { HEAD "<object type=\"NUMANode\" local_memory=\"1125899906842625\">",
      PAI_ELIMIT, 5, 39, "more memory than any machine" },
    { "<topology>\n<distances2 nbobjs=\"99999999999999999999999\"/>",
      PAI_ELIMIT, 2, 21, "a matrix of too many" },
    /* hwloc aborts on the first two, and leaves out the set of the third and
     * all that stands behind it. */
    { "<topology><object type=\"PU\" cpuset=\",0x2\"/></topology>", PAI_EINVAL,
      1, 37, "a set is 0x" },
    { "<topology><object type=\"PU\" cpuset=\"0xf...f,,\"/></topology>",
      PAI_EINVAL, 1, 37, "a set is 0x" },
    { "<topology><object type=\"Machine\" name=\"a&b;\"/></topology>",
      PAI_EINVAL, 1, 41, "an entity" },
    { "<topology><object type=\"Machine\" cpuset=\"0x1\" cpuset=\"0x1\"/>"
      "</topology>",
      PAI_EINVAL, 1, 55, "an attribute twice" },
    { "<topology></topology>", PAI_EINVAL, 1, 22, "no object of type PU" },
    { "<topology version=\"2.0\"><object type=\"Machine\"><object "
      "type=\"PU\" os_index=\"0\"/></object></topology>",
      PAI_EINVAL, 1, 100, "no object of type NUMANode" },
    { "<topology><object type=\"PU\"/></topology>", PAI_EINVAL, 1, 11,
      "the outermost object is not a Machine" },
    { "<topology><object type=\"Machine\"><object type=\"PU\"/></object>"
      "</topology>",
      PAI_EINVAL, 1, 34, "has no os_index" },
    { "<topology><object type=\"Machine\"><object type=\"PU\" "
      "os_index=\"0\"/></object></topology>",
      PAI_EINVAL, 0, 0, "hwloc does not understand" },
    { HEAD CPU "<object type=\"Banana\"/>" TAIL, PAI_EINVAL, 0, 0,
      "hwloc does not understand" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect_wrong(rows[i].text, strlen(rows[i].text), rows[i].code,
                 rows[i].line, rows[i].column, rows[i].part);
  expect_wrong("<topology>\n\0</topology>", 23, PAI_EINVAL, 2, 1, "a NUL");
}

/* Texts that grow: what one more of is refused. */
static void xml_that_explodes_is_refused(void **state)
{
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "<topology><object type='Machine'>");
  for (int i = 0; i < 200; i++)
    pai__buf_str(&b, "<object>");
  expect_wrong(pai__buf_text(&b), b.len, PAI_ELIMIT, 1, 34 + 126 * 8,
               "nested too deep");
  pai__buf_clear(&b);
  pai__buf_str(&b, "<topology>\n<object type='Machine'>");
  for (int i = 0; i <= 65536; i++)
    pai__buf_str(&b, "<object/>");
  expect_wrong(pai__buf_text(&b), b.len, PAI_ELIMIT, 2, 24 + 65535 * 9,
               "too many objects");
  pai__buf_clear(&b);
  pai__buf_str(&b, "<topology><object cpuset=\"");
  for (int i = 0; i < 500; i++)
    pai__buf_str(&b, "0xffffffff,");
  pai__buf_str(&b, "\"/></topology>");
  expect_wrong(pai__buf_text(&b), b.len, PAI_ELIMIT, 1, 27, "too many CPUs");
  pai__buf_dispose(&b);
}

/* Any beginning of a file is an error with a place, and never a crash. */
static void truncated_files_are_told(void **state)
{
  static const char text[] =
    HEAD CPU BRIDGE PCI("20", "50", "0380", "1002:66a1") END END TAIL;

  (void)state;
  pai_topology_unref(test_xml(text));
  for (size_t len = 0; len + 1 < sizeof(text) - 1; len++) {
    char *exact = malloc(len + 1);
    pai_error *err = NULL;
    pai_topology *t;

    assert_non_null(exact);
    memcpy(exact, text, len);
    assert_int_equal(pai_topology_parse_xml(&t, exact, len, NULL, &err),
                     PAI_EINVAL);
    assert_true(pai_error_line(err) > 0);
    test_expect_error(err, PAI_EINVAL, "this XML cannot be read");
    free(exact);
  }
}

static void wrong_descriptions_are_told(void **state)
{
  static const struct {
    const char *text;
    int code;
    const char *part;
  } rows[] = {
    { "", PAI_EINVAL, "no level at column 1" },
    { "nonsense", PAI_EINVAL, "without its count at column 9" },
    { "core:0 pu:1", PAI_EINVAL, "no count" },
    { "core:010", PAI_EINVAL, "no count" },
    { "core:-1", PAI_EINVAL, "no count at column 6" },
    { "core:x", PAI_EINVAL, "no count" },
    { "core:2;pu:1", PAI_EINVAL, "something between" },
    { "pack:2 [numa core:2", PAI_EINVAL, "a [ without ]" },
    { "pack:2 [] core:2", PAI_EINVAL, "no type" },
    { "pu:2(foo=1)", PAI_EINVAL, "an attribute other than" },
    { "pu:2(indexes=core:pack)", PAI_EINVAL, "no number" },
    { "pu:2(indexes=1,1)", PAI_EINVAL, "for the second time" },
    { "pu:2(indexes=0,1,2)", PAI_EINVAL, "not as many indexes" },
    { "pu:2(indexes=0,9000)", PAI_ELIMIT, "8192" },
    { "numa:2(memory=99999999999999GB) pu:1", PAI_EINVAL, "no size" },
    { "numa:2(memory=1GB", PAI_EINVAL, "does not end" },
    { "numa:2(memory=1025TiB) pu:1", PAI_EINVAL, "more memory than any" },
    { "numa:2(memory=2000000GB) pu:1", PAI_EINVAL, "more memory than any" },
    { "pack:2 banana:3", PAI_EINVAL, "does not understand" },
    { "core:1025", PAI_ELIMIT, "1024 of a kind" },
    { "pack:9 core:1000", PAI_ELIMIT, "8192" },
    { "pack:1024 core:9", PAI_ELIMIT, "8192" },
    { "1000 9", PAI_ELIMIT, "8192" },
    { "pu:99999999999999999999999999", PAI_ELIMIT, "1024" },
    { "pack:8 die:1024 l3:1 l2:1 l1:1 group:1 group:1 core:1 pu:1", PAI_ELIMIT,
      "65536 objects" },
    { "pack:8 die:1024 [numa] [numa] [numa] [numa] [numa] [numa] [numa]",
      PAI_ELIMIT, "65536 objects" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai_topology *t;
    if (pai_topology_synthetic(&t, rows[i].text, NULL, &err) != rows[i].code)
      fail_msg("%s: %s", rows[i].text, pai_error_message(err));
    assert_null(t);
    test_expect_error(err, rows[i].code, rows[i].part);
  }
}

static void options_and_files_are_checked(void **state)
{
  pai_topology_options o = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_topology *t;

  (void)state;
  o.struct_size = 3;
  assert_int_equal(pai_topology_discover(&t, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  o.struct_size = sizeof(o);
  o.max_bytes = 100;
  assert_int_equal(
    pai_topology_parse_xml(&t, HEAD CPU TAIL, strlen(HEAD CPU TAIL), &o, &err),
    PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "100 are read");
  assert_int_equal(pai_topology_load(&t, "/nowhere/at.xml", NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "/nowhere/at.xml");
  assert_int_equal(pai_topology_load(&t, NULL, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without");
  assert_int_equal(pai_topology_parse_xml(&t, NULL, 0, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without");
  assert_int_equal(pai_topology_synthetic(&t, NULL, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without");
}

/* hwloc may not write to the host's terminal: all of the above, with standard
 * error in a file. */
static void nothing_is_printed(void **state)
{
  char path[] = "/tmp/openpai-test-XXXXXX";
  int file = mkstemp(path), kept = dup(2);
  off_t written;

  assert_true(file >= 0 && kept >= 0);
  assert_true(dup2(file, 2) >= 0);
  wrong_xml_is_told(state);
  wrong_descriptions_are_told(state);
  truncated_files_are_told(state);
  written = lseek(file, 0, SEEK_END);
  assert_true(dup2(kept, 2) >= 0);
  (void)close(kept);
  (void)close(file);
  (void)unlink(path);
  assert_int_equal(written, 0);
}

/* --- memory ------------------------------------------------------------------------- */

static int read_both(const pai_alloc *alloc, void *user_data)
{
  static const char text[] =
    HEAD CPU BRIDGE PCI("20", "50", "0380", "1002:66a1")
      OS("31", "1", "rsmi0", "RSMI",
         INFO("GPUModel", "MI50") INFO("AMDUUID", "12")) END END TAIL;
  pai_topology_options o = { .struct_size = sizeof(o), .alloc = alloc };
  pai_topology *t = NULL, *u = NULL;
  int rc = pai_topology_parse_xml(&t, text, sizeof(text) - 1, &o, NULL);

  (void)user_data;
  if (rc == PAI_OK) {
    assert_string_equal(test_gpu(t, 0).uuid, "GPU-12");
    rc = pai_topology_synthetic(&u, "pack:2 core:2 pu:2", &o, NULL);
  }
  assert_true((rc == PAI_OK) == (u != NULL));
  pai_topology_unref(t);
  pai_topology_unref(u);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_both, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_pci_bus_is_enough),
    cmocka_unit_test(interfaces_are_enough),
    cmocka_unit_test(shared_uuids_are_none),
    cmocka_unit_test(devices_in_any_domain_are_read),
    cmocka_unit_test(a_numa_node_is_the_outermost_object),
    cmocka_unit_test(other_layouts_are_read),
    cmocka_unit_test(wrong_xml_is_told),
    cmocka_unit_test(xml_that_explodes_is_refused),
    cmocka_unit_test(truncated_files_are_told),
    cmocka_unit_test(wrong_descriptions_are_told),
    cmocka_unit_test(options_and_files_are_checked),
    cmocka_unit_test(nothing_is_printed),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
