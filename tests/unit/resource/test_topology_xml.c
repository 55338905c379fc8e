/* test_topology_xml.c - what hwloc wrote, and what it is not given to read */
#include "fake.h"
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
#define TAIL "</object>\n</topology>\n"

static void add_device(pai__buf *b, const char *line, int index)
{
  char bus[8], class[8], id[16], type[4], name[16], more[200];

  if (sscanf(line, "pci %7s %7s %15s", bus, class, id) == 3) {
    pai__buf_printf(b,
                    "<object type=\"PCIDev\" gp_index=\"%d\" "
                    "pci_busid=\"0000:%s:00.0\" pci_type=\"%s [%s] "
                    "[0000:0000] 00\" pci_link_speed=\"1.5\">\n</object>\n",
                    index, bus, class, id);
    return;
  }
  more[0] = '\0';
  assert_true(sscanf(line, "os %3s %15s %199[^\n]", type, name, more) >= 2);
  pai__buf_printf(b,
                  "<object type=\"OSDev\" gp_index=\"%d\" name=\"%s\" "
                  "osdev_type=\"%s\">\n",
                  index, name, type);
  for (char *key = strtok(more, ";"); key != NULL; key = strtok(NULL, ";")) {
    char *value = strchr(key, '=');

    *value = '\0';
    pai__buf_printf(b, "<info name=\"%s\" value=\"%s\"/>\n", key, value + 1);
  }
  pai__buf_str(b, "</object>\n");
}

/* A machine as Debian's hwloc writes it, which its own reader needs; with
 * devices, a line each: "pci BUS CLASS VENDOR:DEVICE" behind a bridge, or "os
 * TYPE NAME KEY=VALUE;..." for what a driver tells.  Freed with free(). */
static char *xml_of(const char *devices)
{
  bool bridge = strncmp(devices, "pci", 3) == 0;
  pai__buf b = test_buf();
  int index = 20;

  pai__buf_str(&b, HEAD CPU);
  if (bridge)
    pai__buf_str(&b, "<object type=\"Bridge\" gp_index=\"10\" "
                     "bridge_type=\"0-1\" depth=\"0\" "
                     "bridge_pci=\"0000:[00-ff]\">\n");
  for (const char *line = devices; *line != '\0';
       line = strchr(line, '\n') + 1)
    add_device(&b, line, index++);
  pai__buf_str(&b, bridge ? "</object>\n" TAIL : TAIL);
  return pai__buf_take(&b);
}

static void expect_gpus(const pai_topology *t, const char *want)
{
  pai__buf b = test_buf();

  for (uint32_t i = 0; i < test_sum(t).gpus; i++) {
    char *line = test_gpu_line(t, i);

    pai__buf_printf(&b, "%s\n", line);
    free(line);
  }
  assert_string_equal(pai__buf_text(&b), want);
  pai__buf_dispose(&b);
}

/* The GPUs of a machine with these devices, and how many of a kind besides. */
static const struct {
  const char *devices, *gpus;
  int kind;
  uint32_t others;
} machines[] = {
  /* which PCI devices are GPUs without anybody's word, and in what order */
  { "pci 50 0380 1002:66a1\n"
    "pci 40 0302 10de:1db8\n"
    "pci 30 0300 10de:1db8\n"
    "pci 10 1200 8086:0bd5\n"
    "pci 20 1200 1002:74a1\n"
    "pci 60 0300 1a03:2000\n" /* ASPEED's management board */
    "pci 61 0300 1002:515e\n" /* ES1000, the same */
    "pci 62 0300 102b:0522\n" /* Matrox, the same */
    "pci 63 0403 10de:10f0\n" /* sound */
    "pci 64 0200 8086:1521\n",
    "-1 '0000:30:00.0' NVIDIA '' '' '' '' 0 numa 0 1500 MB/s\n"
    "-1 '0000:40:00.0' NVIDIA '' '' '' '' 0 numa 0 1500 MB/s\n"
    "-1 '0000:20:00.0' AMD '' '' '' '' 0 numa 0 1500 MB/s\n"
    "-1 '0000:50:00.0' AMD '' '' '' '' 0 numa 0 1500 MB/s\n"
    "-1 '0000:10:00.0' Intel '' '' '' '' 0 numa 0 1500 MB/s\n",
    PAI_OBJECT_PCI, 1 }, /* the network card */
  /* Without PCI an interface is a GPU; two interfaces that agree are one; CPUs
   * in OpenCL, screens, and a screen's files are none. */
  { "os 5 cuda0 Backend=CUDA;GPUModel=T4;CUDAGlobalMemorySize=1048576\n"
    "os 1 nvml0 Backend=NVML;GPUModel=T4;NVIDIAUUID=GPU-7\n"
    "os 1 nvml1 Backend=NVML;GPUModel=T4\n"
    "os 5 opencl0d0 Backend=OpenCL;OpenCLDeviceType=CPU\n"
    "os 5 opencl1d0 Backend=OpenCL;OpenCLDeviceType=GPU;GPUVendor=Someone;"
    "GPUModel=  A\tB  \n"
    "os 1 :0.0 Backend=GL\n"
    "os 1 card0\n",
    "0 ''  'T4' 'GPU-7' '' 'cuda0 nvml0' 1073741824 numa 0 0 MB/s\n"
    "1 ''  'T4' '' '' 'nvml1' 0 numa 0 0 MB/s\n"
    "-1 '' Someone 'A B' '' '' 'opencl1d0' 0 numa 0 0 MB/s\n",
    PAI_OBJECT_OTHER, 2 },
  /* Some drivers give 0 where they know none; more bytes than there can be. */
  { "os 5 rsmi0 Backend=RSMI;GPUModel=A;AMDUUID=0\n"
    "os 5 rsmi1 Backend=RSMI;GPUModel=A;AMDUUID=7;RSMIVRAMSize=1099511627777\n"
    "os 5 rsmi2 Backend=RSMI;GPUModel=A;AMDUUID=0\n",
    "0 ''  'A' '' '' 'rsmi0' 0 numa 0 0 MB/s\n"
    "1 ''  'A' 'GPU-7' '' 'rsmi1' 0 numa 0 0 MB/s\n"
    "2 ''  'A' '' '' 'rsmi2' 0 numa 0 0 MB/s\n",
    PAI_OBJECT_OTHER, 0 },
};

TEST(gpus_are_found)
{
  for (size_t i = 0; i < PAI__LEN(machines); i++) {
    char *xml = xml_of(machines[i].devices);
    pai_topology *t = test_xml(xml);

    test_tree_holds(t);
    expect_gpus(t, machines[i].gpus);
    assert_int_equal(pai__topo_count(t, 0, machines[i].kind),
                     machines[i].others);
    pai_topology_unref(t);
    free(xml);
  }
}

/* Drivers name what PCI knows; a GPU that the driver does not know is last. */
TEST(drivers_add_to_what_is_written)
{
  pai_topology_options o = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_gpus_options list = PAI_GPUS_OPTIONS_INIT;
  char *xml = xml_of("pci 05 0302 10de:2330\npci 10 0302 10de:2330\n");
  fake_nvml fake;
  pai_topology *t;
  pai_gpus *gpus;

  fake_open(&fake, FAKE_NEW);
  fake.machine("1");
  list.nvml = FAKE_NEW;
  list.root = made_root();
  assert_ok(pai_gpus_new(&gpus, &list, NULL));
  o.gpus = gpus;
  assert_ok(pai_topology_parse_xml(&t, xml, strlen(xml), &o, NULL));
  pai_gpus_free(gpus); /* not kept */
  expect_gpus(t, "0 '0000:10:00.0' NVIDIA 'NVIDIA A100-SXM4-40GB' "
                 "'GPU-00000000-0000-0000-0000-000000000000' '' 'nvml0' "
                 "42949672960 numa 0 1500 MB/s\n"
                 "-1 '0000:05:00.0' NVIDIA '' '' '' '' 0 numa 0 1500 MB/s\n");
  pai_topology_unref(t);
  fake_close(&fake);
  free(xml);
}

/* What other versions and programs write, and what the machine is called. */
static const struct {
  const char *xml, *name, *gpus;
} layouts[] = {
  /* The os_index of a PCI device holds its domain, and may be any number; on
   * POWER9 GPUs are in domains 4 and 53. */
  { HEAD CPU
    "<object type=\"Bridge\" gp_index=\"10\" bridge_type=\"0-1\" "
    "depth=\"0\" bridge_pci=\"0000:[00-ff]\">\n<object type=\"PCIDev\" "
    "os_index=\"219152384\" gp_index=\"20\" "
    "pci_busid=\"0035:04:00.0\" pci_type=\"0302 [10de:1db1] [0000:0000] 00\" "
    "pci_link_speed=\"1.5\"/>\n</object>\n" TAIL,
    "", "-1 '0035:04:00.0' NVIDIA '' '' '' '' 0 numa 0 1500 MB/s\n" },
  /* hwloc 1 could write its only NUMA node as the outermost object. */
  { "<topology><object type=\"NUMANode\" os_index=\"0\" " SETS(
      "0x1") " local_memory=\"1073741824\"><object type=\"PU\" "
             "os_index=\"0\" " SETS("0x1") "/></object></topology>",
    "", "" },
  /* What another program has laid out anew, and elements that are not used. */
  { "<?xml version='1.0'?><!-- a -->\n<topology\n version='2.0' ><object\n"
    "type = 'Machine' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' "
    "complete_nodeset='0x1' gp_index='1' é='1'><info name='HostName' "
    "value='a&apos;&lt;&amp;>\"b'/><banana><object/></banana>"
    "<object type='NUMANode' os_index='0' cpuset='0x1' complete_cpuset='0x1' "
    "nodeset='0x1' complete_nodeset='0x1' gp_index='2'/>"
    "<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' "
    "nodeset='0x1' complete_nodeset='0x1' gp_index='3' ></object >"
    "<!-- b --></object></topology>",
    "a'<&>\"b", "" },
};

TEST(other_layouts_are_read)
{
  for (size_t i = 0; i < PAI__LEN(layouts); i++) {
    pai_topology *t = test_xml(layouts[i].xml);

    assert_string_equal(test_object(t, 0).name, layouts[i].name);
    assert_int_equal(test_sum(t).pus, 1);
    assert_int_equal(test_sum(t).numa_nodes, 1);
    expect_gpus(t, layouts[i].gpus);
    pai_topology_unref(t);
  }
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

TEST(wrong_xml_is_told)
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

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect_wrong(rows[i].text, strlen(rows[i].text), rows[i].code,
                 rows[i].line, rows[i].column, rows[i].part);
  expect_wrong("<topology>\n\0</topology>", 23, PAI_EINVAL, 2, 1, "a NUL");
}

/* Texts that grow: what one more of is refused. */
TEST(xml_that_explodes_is_refused)
{
  pai__buf b = test_buf();

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
TEST(truncated_files_are_told)
{
  char *text = xml_of("pci 50 0380 1002:66a1\n");

  pai_topology_unref(test_xml(text));
  for (size_t len = 0; len + 1 < strlen(text); len++) {
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
  free(text);
}

TEST(wrong_descriptions_are_told)
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

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai_topology *t;
    if (pai_topology_synthetic(&t, rows[i].text, NULL, &err) != rows[i].code)
      fail_msg("%s: %s", rows[i].text, pai_error_message(err));
    assert_null(t);
    test_expect_error(err, rows[i].code, rows[i].part);
  }
}

TEST(options_and_files_are_checked)
{
  pai_topology_options o = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_topology *t;

  o.struct_size = 3;
  assert_fails(pai_topology_discover(&t, &o, &err), err, PAI_EINVAL,
               "struct_size");
  o.struct_size = sizeof(o);
  o.max_bytes = 100;
  assert_fails(
    pai_topology_parse_xml(&t, HEAD CPU TAIL, strlen(HEAD CPU TAIL), &o, &err),
    err, PAI_ELIMIT, "the limit is 100");
  assert_fails(pai_topology_load(&t, "/nowhere/at.xml", NULL, &err), err,
               PAI_ENOTFOUND, "/nowhere/at.xml");
  assert_fails(pai_topology_load(&t, NULL, NULL, &err), err, PAI_EINVAL,
               "without");
  assert_fails(pai_topology_parse_xml(&t, NULL, 0, NULL, &err), err,
               PAI_EINVAL, "without");
  assert_fails(pai_topology_synthetic(&t, NULL, NULL, &err), err, PAI_EINVAL,
               "without");
}

/* hwloc may not write to the host's terminal: all of the above, with standard
 * error in a file. */
TEST(nothing_is_printed)
{
  char path[] = "/tmp/openpai-test-XXXXXX";
  int file = mkstemp(path), kept = dup(2);
  off_t written;

  assert_true(file >= 0 && kept >= 0);
  assert_true(dup2(file, 2) >= 0);
  wrong_xml_is_told();
  wrong_descriptions_are_told();
  truncated_files_are_told();
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
  pai_topology_options o = { .struct_size = sizeof(o), .alloc = alloc };
  const char *text = user_data;
  pai_topology *t = NULL, *u = NULL;
  int rc = pai_topology_parse_xml(&t, text, strlen(text), &o, NULL);

  if (rc == PAI_OK) {
    assert_string_equal(test_gpu(t, 0).uuid, "GPU-12");
    rc = pai_topology_synthetic(&u, "pack:2 core:2 pu:2", &o, NULL);
  }
  assert_true((rc == PAI_OK) == (u != NULL));
  pai_topology_unref(t);
  pai_topology_unref(u);
  return rc;
}

TEST(no_memory_is_survived)
{
  char *text = xml_of("pci 50 0380 1002:66a1\n"
                      "os 1 rsmi0 Backend=RSMI;GPUModel=MI50;AMDUUID=12\n");

  test_faults(read_both, text);
  free(text);
}
