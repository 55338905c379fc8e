/* test_layout.c - clusters from OpenPAI's layout.yaml */
#include "resource/clusters.h"

#include "base/buf.h"

#include <stdlib.h>

static const char layout[] = "# OpenPAI's layout\n"
                             "machine-sku:\n"
                             "  master-machine:\n"
                             "    mem: 60Gi\n"
                             "    cpu:\n"
                             "      vcore: 24\n"
                             "  gpu-machine:\n"
                             "    computing-device:\n"
                             "      type: nvidia.com/gpu\n"
                             "      model: K80\n"
                             "      count: 4\n"
                             "    mem: 220Gi\n"
                             "    cpu:\n"
                             "      vcore: 24\n"
                             "  cpu-machine:\n"
                             "    mem: 500G\n"
                             "    cpu: {vcore: 64}\n"
                             "\n"
                             "machine-list:\n"
                             "  - hostname: pai-master\n"
                             "    hostip: 10.0.0.1\n"
                             "    machine-type: master-machine\n"
                             "    pai-master: \"true\"\n"
                             "  - hostname: pai-storage\n"
                             "    hostip: 10.0.0.9\n"
                             "    machine-type: master-machine\n"
                             "    pai-storage: \"true\"\n"
                             "  - hostname: pai-worker2\n"
                             "    hostip: 10.0.0.3\n"
                             "    machine-type: cpu-machine\n"
                             "    pai-worker: \"true\"\n"
                             "    pai-storage: \"true\"\n"
                             "  - hostname: pai-worker1\n"
                             "    hostip: 10.0.0.2\n"
                             "    machine-type: gpu-machine\n"
                             "    pai-worker: \"true\"\n"
                             "    pai-master: \"false\"\n";

static const char layout_as_ours[] = "gpus:\n"
                                     "  k80:\n"
                                     "    resource: nvidia.com/gpu\n"
                                     "skus:\n"
                                     "  gpu-machine:\n"
                                     "    gpu: k80\n"
                                     "    gpus: 4\n"
                                     "    cpus: 24\n"
                                     "    memory: 220G\n"
                                     "  cpu-machine:\n"
                                     "    cpus: 64\n"
                                     "    memory: 488281250K\n"
                                     "nodes:\n"
                                     "  - name: pai-worker2\n"
                                     "    sku: cpu-machine\n"
                                     "    address: '10.0.0.3'\n"
                                     "    labels:\n"
                                     "      pai-storage: 'true'\n"
                                     "  - name: pai-worker1\n"
                                     "    sku: gpu-machine\n"
                                     "    address: '10.0.0.2'\n";

/* --- what is read --------------------------------------------------------- */

static void workers_are_read(void **state)
{
  pai_cluster *c = test_cluster(layout, NULL), *again;
  char *text = test_cluster_text(c, 0), *twice;
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_string_equal(text, layout_as_ours);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_string_equal(v.form, "layout");
  assert_int_equal(v.nodes, 2);
  assert_int_equal(v.gpus, 4);
  again = test_cluster(text, "openpai");
  twice = test_cluster_text(again, 0);
  assert_string_equal(twice, text);
  pai_cluster_free(again);
  pai_cluster_free(c);
  free(twice);
  free(text);
}

/* --- what is wrong -------------------------------------------------------- */

#define SKU                                                                \
  "machine-sku: {g: {mem: 1Gi, cpu: {vcore: 8}, computing-device: {type: " \
  "nvidia.com/gpu, model: V100, count: 4}}}\n"
#define MASTER \
  "- {hostname: m, hostip: 10.0.0.1, machine-type: g, pai-master: "
#define WORKER \
  "- {hostname: w, hostip: 10.0.0.2, machine-type: g, pai-worker: "
#define YES "\"true\"}\n"
#define LIST SKU "machine-list:\n"
#define BOTH LIST MASTER YES WORKER YES

static const struct {
  const char *text, *list, *says, *help;
} faults[] = {
  { BOTH, "", NULL, NULL },
  { BOTH "- {hostname: w, hostip: 10.0.0.3, machine-type: g, pai-worker: " YES,
    "duplicate /machine-list/2/hostname 5:14\n",
    "line 4 has hostname 'w' already", "its own" },
  { BOTH "- {hostname: x, hostip: 10.0.0.1, machine-type: g}\n",
    "duplicate /machine-list/2/hostip 5:25\n",
    "line 3 has hostip '10.0.0.1' already", "its own" },
  { "machine-sku: {gpus: {mem: 1Gi, cpu: {vcore: 8}}}\nmachine-list:\n"
    "- {hostname: m, hostip: 10.0.0.1, machine-type: gpus, pai-master: " YES
    "- {hostname: x, hostip: 10.0.0.3, machine-type: gpu, pai-worker: " YES,
    "unknown-sku /machine-list/1/machine-type 4:49\n", "no machine type 'gpu'",
    "did you mean 'gpus'?" },
  { BOTH "- {hostname: x, hostip: 10.0.0.3, machine-type: gpu-machine}\n",
    "unknown-sku /machine-list/2/machine-type 5:49\n", NULL,
    "machine-sku has: g" },
  { BOTH "- {hostname: x, hostip: 10.0.0.3}\n",
    "missing-key /machine-list/2 5:3\n", "needs 'machine-type'", NULL },
  { BOTH "- {hostname: x, hostip: 10.0.0.3, machine-typ: g}\n",
    "missing-key /machine-list/2 5:3\n"
    "unknown-key /machine-list/2/machine-typ 5:35\n",
    NULL, NULL },
  { BOTH "- {hostname: Big_One, hostip: 10.0.0.3, machine-type: g}\n",
    "bad-hostname /machine-list/2/hostname 5:14\n",
    "'Big_One' cannot be the name", "small letters" },
  { BOTH "- {hostname: a-.b, hostip: 10.0.0.3, machine-type: g}\n",
    "bad-hostname /machine-list/2/hostname 5:14\n", NULL, "small letters" },
  { BOTH "- {hostname: a-1.b, hostip: 10.0.0.256, machine-type: g}\n",
    "bad-address /machine-list/2/hostip 5:29\n", "'10.0.0.256' is no address",
    "10.0.0.1" },
  { BOTH "- {hostname: a, hostip: 10.0.0, machine-type: g}\n",
    "bad-address /machine-list/2/hostip 5:25\n", NULL, "10.0.0.1" },
  { BOTH "- {hostname: a, hostip: 10.0.0.1.2, machine-type: g}\n",
    "bad-address /machine-list/2/hostip 5:25\n", NULL, "10.0.0.1" },
  { BOTH "- {hostname: a, hostip: gpu, machine-type: g}\n",
    "bad-address /machine-list/2/hostip 5:25\n", NULL, "10.0.0.1" },
  { LIST MASTER "true}\n" WORKER YES,
    "unquoted /machine-list/0/pai-master 3:64\n",
    "pai-master must be a text: true without quotes is none",
    "write pai-master: \"true\"" },
  { LIST MASTER "yes}\n" WORKER YES,
    "no-master /machine-list 3:1\nbad-role /machine-list/0/pai-master 3:64\n",
    NULL, "pai-master: \"true\"" },
  { LIST WORKER YES, "no-master /machine-list 3:1\n", "no machine is pai-m",
    "pai-master: \"true\"" },
  { LIST MASTER YES, "no-worker /machine-list 3:1\n", "no machine is pai-w",
    "pai-worker: \"true\"" },
  { BOTH "- {hostname: x, hostip: 10.0.0.3, machine-type: g, pai-master: " YES,
    "two-masters /machine-list/2 5:3\n", "line 3 is pai-master already",
    "exactly one" },
  { LIST "- {hostname: m, hostip: 10.0.0.1, machine-type: g, pai-worker: "
         "\"true\", pai-master: " YES,
    "two-roles /machine-list/0/pai-worker 3:64\n", "cannot be both",
    "one of them" },
  { LIST "- m\n" MASTER YES WORKER YES, "wrong-type /machine-list/0 3:3\n",
    "a machine must be a mapping, not 'm'", NULL },
  { SKU "machine-list: {a: 1}\n", "wrong-type /machine-list 2:15\n",
    "must be a list", NULL },
  { SKU, "missing-key  1:1\n", "a layout needs 'machine-list'", NULL },
  { "machine-list: []\n",
    "missing-key  1:1\nno-master /machine-list 1:15\n"
    "no-worker /machine-list 1:15\n",
    "a layout needs 'machine-sku'", NULL },
  { "machine-sku: []\nmachine-list:\n" MASTER YES,
    "wrong-type /machine-sku 1:14\nno-worker /machine-list 3:1\n"
    "unknown-sku /machine-list/0/machine-type 3:49\n",
    "must be a mapping", NULL },
};

/* One machine type, with something wrong. */
static const struct {
  const char *type, *list, *says, *help;
} types[] = {
  { "mem: 500G, cpu: {vcore: 8}", "", NULL, NULL },
  { "mem: 60GB, cpu: {vcore: 8}", "?old-unit /machine-sku/g/mem 1:24\n",
    "'60GB' is how old layouts write it",
    "write '60G', as it is read here, "
    "or '60Gi'" },
  { "mem: 60, cpu: {vcore: 8}", "wrong-type /machine-sku/g/mem 1:24\n",
    "mem must be a text with a unit, not 60", "512Gi" },
  { "mem: 60X, cpu: {vcore: 8}", "bad-quantity /machine-sku/g/mem 1:24\n",
    "mem cannot be '60X'", "512Gi" },
  { "mem: 60Pi, cpu: {vcore: 8}", "too-large /machine-sku/g/mem 1:24\n",
    "mem cannot be '60Pi'", NULL },
  { "cpu: {vcore: 8}", "missing-key /machine-sku/g 1:18\n", "needs 'mem'",
    NULL },
  { "mem: 1Gi", "missing-key /machine-sku/g 1:18\n", "needs 'cpu'", NULL },
  { "mem: 1Gi, cpu: {}", "missing-key /machine-sku/g/cpu 1:34\n",
    "needs 'vcore'", NULL },
  { "mem: 1Gi, cpu: 8", "wrong-type /machine-sku/g/cpu 1:34\n",
    "cpu must be a mapping, not 8", NULL },
  { "mem: 1Gi, cpu: {vcore: 0}", "too-small /machine-sku/g/cpu/vcore 1:42\n",
    "vcore cannot be 0", "from 1" },
  { "mem: 1Gi, cpu: {vcore: '8'}",
    "wrong-type /machine-sku/g/cpu/vcore 1:42\n", "a whole number, not '8'",
    NULL },
  { "mem: 1Gi, cpu: {vcore: 8}, gpu: {type: K80, count: 4}",
    "?old-layout /machine-sku/g/gpu 1:51\n", "OpenPAI before 1.0",
    "write computing-device" },
  { "mem: 0, cpu: {vcore: 8}, os: ubuntu16.04",
    "too-small /machine-sku/g/mem 1:24\n?old-layout /machine-sku/g/os 1:48\n",
    "mem cannot be 0", "from 1" },
  { "mem: 1Gi, cpu: {vcore: 8}, gpu: {type: K80, count: 5000}",
    "?old-layout /machine-sku/g/gpu 1:51\n"
    "too-large /machine-sku/g/gpu/count 1:70\n",
    "OpenPAI before 1.0", "write computing-device" },
  { "mem: 1Gi, cpu: {vcore: 8}, computing-device: {type: nvidia.com/gpu, "
    "model: K80}",
    "missing-key /machine-sku/g/computing-device 1:64\n", "needs 'count'",
    NULL },
  { "mem: 1Gi, cpu: {vcore: 8}, computing-device: {type: nvidia.com/gpu, "
    "model: K80, count: 9999}",
    "too-large /machine-sku/g/computing-device/count 1:106\n",
    "count cannot be 9999", "from 1 to 4096" },
};

/* As OpenPAI 0.14 made them: other keys, and more. */
static void old_layouts_are_read(void **state)
{
  static const char text[] =
    "machine-sku:\n"
    "  A: {mem: 62, gpu: {type: Tesla P100, count: 2}, cpu: {vcore: 16}, os: "
    "u}\n"
    "  B: {mem: 62G, gpu: {type: generic, count: 0}, cpu: {vcore: 8}}\n"
    "machine-list:\n"
    "  - {dashboard: \"true\", etcdid: e1, hostip: 10.0.0.1, hostname: m,\n"
    "     machine-type: B, nodename: 10.0.0.1, pai-master: \"true\",\n"
    "     password: x, username: y, zkid: \"1\"}\n"
    "  - {docker-data: /d, hostip: 10.0.0.2, hostname: w, k8s-role: worker,\n"
    "     machine-type: A, nodename: 10.0.0.2, pai-worker: \"true\"}\n"
    "  - {hostip: 10.0.0.3, hostname: v, machine-type: B,\n"
    "     pai-worker: \"true\"}\n";
  pai_cluster *c = test_cluster(text, NULL);
  pai_sku_view s = { .struct_size = sizeof(s) };

  (void)state;
  test_cluster_found(text, NULL, "?old-layout /machine-sku/A/gpu 2:21\n",
                     "OpenPAI before 1.0", "read all the same");
  assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
  assert_string_equal(s.gpu, "tesla-p100");
  assert_int_equal(s.gpus, 2);
  assert_int_equal(s.memory, UINT64_C(62) << 30);
  assert_int_equal(pai_cluster_view_sku(c, 1, &s), PAI_OK);
  assert_int_equal(s.gpus, 0);
  pai_cluster_free(c);
}

static void what_is_wrong_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(faults); i++)
    test_cluster_found(faults[i].text, NULL, faults[i].list, faults[i].says,
                       faults[i].help);
  for (size_t i = 0; i < PAI__LEN(types); i++) {
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__buf_printf(&b, "machine-sku: {g: {%s}}\nmachine-list:\n%s",
                    types[i].type, MASTER YES WORKER YES);
    test_cluster_found(pai__buf_text(&b), NULL, types[i].list, types[i].says,
                       types[i].help);
    pai__buf_dispose(&b);
  }
}

static void limits_hold(void **state)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  opts.max_nodes = 1;
  assert_int_equal(pai_cluster_parse(&c, layout, strlen(layout), &opts, &err),
                   PAI_ELIMIT);
  assert_null(c);
  test_expect_error(err, PAI_ELIMIT, "more than 1 nodes");
}

/* --- short memory --------------------------------------------------------- */

static int read_layout(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_cluster *c;
  pai_report *report;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&report, &c, text, strlen(text), &opts, NULL);
  if (rc == PAI_OK)
    assert_int_equal(c != NULL, text == layout);
  pai_report_free(report);
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_layout, (void *)(uintptr_t)layout);
  test_faults(read_layout, (void *)(uintptr_t)faults[3].text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(workers_are_read),
    cmocka_unit_test(old_layouts_are_read),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(limits_hold),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
