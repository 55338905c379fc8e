/* Two NUMA nodes with a GPU each, whose device files are numbered the other way
 * round than the driver numbers them: CPUs of a task are near its own. */
#include "cases.h"
#include "durable.h"

#include "platform/place/cores.h"
#include "platform/place/gpus.h"

#include "resource/machine.h"

#include <dlfcn.h>
#include <stdio.h>

void __real_pai__machine_discover(pai__machine *out);
void __wrap_pai__machine_discover(pai__machine *out);
int __real_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
int __wrap_pai_topology_discover(pai_topology **out,
                                 const pai_topology_options *opts,
                                 pai_error **err);
bool __wrap_pai__cpus_allowed(pai__cpus *out);
bool __real_pai__cpus_choose(pai__cpus *out, const pai_topology *t,
                             uint64_t gpus, const pai__cpus *free, uint32_t n);
bool __wrap_pai__cpus_choose(pai__cpus *out, const pai_topology *t,
                             uint64_t gpus, const pai__cpus *free, uint32_t n);

/* --- the machine ------------------------------------------------------------- */

#define SETS(cpus, nodes)                                                   \
  "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" allowed_cpuset=\"" cpus \
  "\" nodeset=\"" nodes "\" complete_nodeset=\"" nodes                      \
  "\" allowed_nodeset=\"" nodes "\" "
#define PU(n, cpus, nodes)                                                \
  "<object type=\"PU\" os_index=\"" n "\" " SETS(cpus, nodes) "gp_index=" \
                                                              "\"1" n     \
                                                              "\"/>\n"
#define NODE(n, cpus, nodes, bus, pus)                                      \
  "<object type=\"Package\" os_index=\"" n "\" " SETS(                      \
    cpus, nodes) "gp_index="                                                \
                 "\"2" n "\">\n<object type=\"NUMANode\" os_index=\"" n     \
                 "\" " SETS(cpus,                                           \
                            nodes) "gp_index=\"3" n                         \
                                   "\" local_memory=\"1073741824\"/>\n" pus \
                                   "<object type=\"Bridge\" gp_index=\"4" n \
                                   "\" bridge_type=\"0-1\" "                \
                                   "depth=\"0\" bridge_pci=\"0000:[" bus    \
                                   "-" bus "]\">\n<object type=\""          \
                                   "PCIDev\" gp_index=\"5" n                \
                                   "\" pci_busid=\"0000:" bus               \
                                   ":00.0\" pci_type=\""                    \
                                   "0302 [10de:1db8] [0000:0000] 00\" "     \
                                   "pci_link_speed=\"1.5\"/>\n</object>\n"  \
                                   "</object>\n"

static const char xml[] =
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
  "<object type=\"Machine\" os_index=\"0\" " SETS(
    "0xf", "0x3") "gp_index=\"1\">\n" NODE("0", "0x3", "0x1", "10",
                                           PU("0", "0x1", "0x1")
                                             PU("1", "0x2", "0x1"))
    NODE("1", "0xc", "0x2", "11",
         PU("2", "0x4", "0x2")
           PU("3", "0x8", "0x2")) "</object>\n</topology>\n";

static char chosen[64]; /* the CPUs of the tasks that were started */

void __wrap_pai__machine_discover(pai__machine *out)
{
  __real_pai__machine_discover(out);
  out->cpus = 4;
  out->gpus = 2;
}

int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err)
{
  pai_gpus_options o = *opts;

  o.nvml = FAKE_NVML;
  return __real_pai_gpus_new(out, &o, err);
}

int __wrap_pai_topology_discover(pai_topology **out,
                                 const pai_topology_options *opts,
                                 pai_error **err)
{
  return pai_topology_parse_xml(out, xml, strlen(xml), opts, err);
}

bool __wrap_pai__cpus_allowed(pai__cpus *out)
{
  memset(out, 0, sizeof(*out));
  out->at[0] = 0xf;
  return true;
}

/* The real machine may not have them: so tasks are bound to none. */
bool __wrap_pai__cpus_choose(pai__cpus *out, const pai_topology *t,
                             uint64_t gpus, const pai__cpus *free, uint32_t n)
{
  pai__buf text = test_buf();

  assert_non_null(t);
  assert_true(__real_pai__cpus_choose(out, t, gpus, free, n));
  pai__bits_write_list(&text, out->at, PAI__LEN(out->at));
  (void)snprintf(chosen, sizeof(chosen), "%s", pai__buf_text(&text));
  pai__buf_dispose(&text);
  return false;
}

static void driver_tells(const char *machine)
{
  void (*set)(const char *);
  void *library = dlopen(FAKE_NVML, RTLD_NOW);

  assert_non_null(library);
  *(void **)&set = dlsym(library, "fake_nvml_machine");
  assert_non_null(set);
  set(machine);
}

/* --- what tasks get ----------------------------------------------------------- */

static void expect(const char *machine, const char *near_first)
{
  pai_job_id id;
  durable d;

  driver_tells(machine);
  durable_open(&d, story_in(machine));
  id = durable_submit_text(
    &d, test_string("{protocolVersion: 2, name: near, type: job, " STORY_IMAGE
                    ", taskRoles: {a: {dockerImage: x, resourcePerInstance: "
                    "{cpu: 2, memoryMB: 64, gpu: 1}, commands: ['echo "
                    "$CUDA_VISIBLE_DEVICES']}}}"));
  assert_int_not_equal(id, 0);
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "0\n");
  assert_string_equal(chosen, near_first);
  durable_close(&d);
}

TEST(cpus_are_near_the_gpu_s_own_bus)
{
  expect("2 idle", "0-1");
  expect("2 swapped", "2-3");
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
