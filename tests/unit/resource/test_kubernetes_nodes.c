/* test_kubernetes_nodes.c - what is read of each node of Kubernetes: its GPUs,
 * rack and health, and which are alike */
#include "resource/clusters.h"

#include "resource/import.h"

#include <stdlib.h>

/* The cluster of one node, and parts of it in our own form. */
static void expect(const char *node, const char *const parts[4])
{
  pai_cluster *c = test_cluster(node, "kubernetes");
  char *text = test_cluster_text(c, 0);

  for (size_t i = 0; i < 4 && parts[i] != NULL; i++)
    if (strstr(text, parts[i]) == NULL)
      fail_msg("want \"%s\" in:\n%s", parts[i], text);
  free(text);
  pai_cluster_free(c);
}

#define NODE "kind: Node\napiVersion: v1\n"
#define CAPACITY(what) "status: {capacity: {cpu: 8, memory: 1Gi, " what "}}\n"

static const struct {
  const char *node;
  const char *parts[4];
} single[] = {
  /* one node, in YAML, with numbers that lack their quotes */
  { NODE "metadata: {name: a}\nstatus: {capacity: {cpu: 8, memory: 1e3}}\n",
    { "  cpu-8:\n    cpus: 8\n    memory: '1000'\n", "name: a\n" } },
  /* kinds without labels are named after the vendor */
  { NODE "metadata: {name: a}\n" CAPACITY("nvidia.com/gpu: 2"),
    { "  nvidia-gpu-2:\n    gpu: nvidia-gpu\n    gpus: 2\n",
      "    resource: nvidia.com/gpu\n" } },
  { NODE "metadata: {name: a}\n" CAPACITY(
      "gpu.intel.com/i915: 1, gpu.intel.com/i915_monitoring: 1"),
    { "    gpu: intel-gpu\n    gpus: 1\n" } },
  { NODE "metadata: {name: a}\n" CAPACITY("example.com/gpu: 1"),
    { "    gpu: example-gpu\n    gpus: 1\n" } },
  { NODE "metadata: {name: a}\n" CAPACITY("enflame.com/dtu: 8"),
    { "    gpu: enflame-gpu\n    gpus: 8\n" } },
  { NODE "metadata: {name: a, labels: {cloud.google.com/gke-accelerator: "
         "nvidia-tesla-v100}}\n" CAPACITY("nvidia.com/gpu: 2"),
    { "    gpu: nvidia-tesla-v100\n" } },
  /* parts of GPUs */
  { NODE "metadata: {name: a}\n" CAPACITY("nvidia.com/mig-2g.20gb: 3"),
    { "    gpu: nvidia-gpu-mig-2g-20gb\n    gpus: 3\n" } },
  { NODE "metadata: {name: a, labels: {nvidia.com/gpu.product: Tesla T4}}\n" //
    CAPACITY("nvidia.com/gpu.shared: 4"),
    { "    gpu: tesla-t4-shared\n    gpus: 4\n" } },
  { NODE "metadata: {name: a, labels: {nvidia.com/gpu.product: "
         "T4-SHARED}}\n" CAPACITY("nvidia.com/gpu.shared: 4"),
    { "    gpu: t4-shared\n    gpus: 4\n" } },
  { NODE "metadata: {name: a, labels: {beta.amd.com/gpu.product-name: "
         "MI300X}}\n" CAPACITY("amd.com/cpx_nps4: 64"),
    { "    gpu: mi300x-cpx-nps4\n    gpus: 64\n" } },
  /* racks: the nearest label counts */
  { NODE "metadata: {name: a, labels: {topology.kubernetes.io/zone: z, "
         "network.topology.nvidia.com/leaf: s7}}\n" CAPACITY("pods: 1"),
    { "    rack: s7\n" } },
  { NODE "metadata: {name: a, labels: {"
         "failure-domain.beta.kubernetes.io/zone: z}}\n" CAPACITY("pods: 1"),
    { "    rack: z\n" } },
  /* health */
  { NODE "metadata: {name: a, deletionTimestamp: '2024-01-01T00:00:00Z'}\n" //
    CAPACITY("pods: 1"),
    { "    sick: being deleted\n" } },
  { NODE "metadata: {name: a}\nspec: {taints: [{key: team, value: x, effect: "
         "NoExecute}]}\n" CAPACITY("pods: 1"),
    { "    sick: taint team=x:NoExecute\n" } },
  { NODE "metadata: {name: a}\nspec: {taints: [{key: "
         "node.kubernetes.io/not-ready, effect: NoSchedule}]}\n" //
    CAPACITY("pods: 1"),
    { "    sick: taint node.kubernetes.io/not-ready:NoSchedule\n" } },
  { NODE "metadata: {name: a}\nspec: {taints: [{key: nvidia.com/gpu, effect: "
         "NoSchedule}]}\n" CAPACITY("pods: 1"),
    { "    sick: taint nvidia.com/gpu:NoSchedule\n" } }, /* it has none */
  { NODE "metadata: {name: a}\nstatus: {capacity: {cpu: 1}, conditions: ["
         "{type: AcceleratedHardwareReady, status: 'False', reason: XID}, "
         "{type: KernelDeadlock, status: 'True'}, "
         "{type: NetworkUnavailable, status: 'False'}]}\n",
    { "    sick: 'not AcceleratedHardwareReady: XID; KernelDeadlock'\n" } },
  /* reasons are one line of bounded length */
  { NODE "metadata: {name: a}\nstatus: {capacity: {cpu: 1}, conditions: ["
         "{type: Ready, status: 'False', message: \"a\\nb\"}]}\n",
    { "    sick: 'not ready: a b'\n" } },
};

static void single_nodes_are_read(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(single); i++)
    expect(single[i].node, single[i].parts);
}

static void well_nodes_are_not_sick(void **state)
{
  static const char text[] = NODE
    "metadata: {name: a}\n"
    "spec: {unschedulable: false, taints: [{key: x, effect: "
    "PreferNoSchedule}, {key: nvidia.com/gpu, effect: NoSchedule}]}\n"
    "status: {capacity: {cpu: 1, nvidia.com/gpu: 1}, conditions: [{type: "
    "Ready, status: 'True'}, {type: PIDPressure, status: 'False'}, {type: "
    "GpuHealthy, status: 'True'}]}\n";
  pai_cluster *c = test_cluster(text, NULL);
  pai_node_view n = { .struct_size = sizeof(n) };

  (void)state;
  assert_int_equal(pai_cluster_view_node(c, 0, &n), PAI_OK);
  assert_null(n.sick);
  assert_string_equal(n.address, "a");
  assert_null(n.rack);
  pai_cluster_free(c);
}

static void long_reasons_are_cut(void **state)
{
  pai_cluster *c;
  pai_node_view n = { .struct_size = sizeof(n) };
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, NODE "metadata: {name: a}\nstatus: {capacity: {cpu: 1}, "
                        "conditions: [{type: Ready, status: 'False', message: "
                        "'x");
  for (size_t i = 0; i < 300; i++)
    pai__buf_str(&b, "\xc3\xa9");
  pai__buf_str(&b, "'}]}\n");
  c = test_cluster(pai__buf_text(&b), NULL);
  assert_int_equal(pai_cluster_view_node(c, 0, &n), PAI_OK);
  assert_int_equal(strlen(n.sick), 252); /* 12 and whole characters */
  pai_cluster_free(c);
  pai__buf_dispose(&b);
}

/* --- nodes of one shape --------------------------------------------------- */

/* Types of instances have points, and SKUs cannot: two become one name. */
static void skus_have_names_of_their_own(void **state)
{
  static const char text[] =
    "{apiVersion: v1, kind: NodeList, items: [\n"
    "{metadata: {name: a, labels: {node.kubernetes.io/instance-type: m5.l}},\n"
    " status: {capacity: {cpu: 4}}},\n"
    "{metadata: {name: b, labels: {node.kubernetes.io/instance-type: m5-l}},\n"
    " status: {capacity: {cpu: 8}}}]}\n";
  pai_cluster *c = test_cluster(text, NULL);
  pai_sku_view s = { .struct_size = sizeof(s) };
  char *own = test_cluster_text(c, 0);

  (void)state;
  assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
  assert_string_equal(s.name, "m5-l");
  assert_int_equal(pai_cluster_view_sku(c, 1, &s), PAI_OK);
  assert_string_equal(s.name, "m5-l-2");
  pai_cluster_free(c);
  pai_cluster_free(test_cluster(own, "openpai"));
  free(own);
}

static void nodes_of_one_shape_share_a_sku(void **state)
{
  static const struct {
    const char *memory;
    size_t sku;
  } nodes[] = { { "1000000Ki", 0 },
                { "990000Ki", 0 },
                { "1010000Ki", 0 },
                { "980000Ki", 1 },
                { "2000000Ki", 2 } };
  pai_cluster *c;
  pai_node_view n = { .struct_size = sizeof(n) };
  pai_sku_view s = { .struct_size = sizeof(s) };
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "{apiVersion: v1, kind: NodeList, items: [");
  for (size_t i = 0; i < PAI__LEN(nodes); i++)
    pai__buf_printf(&b,
                    "{metadata: {name: n%zu}, status: {capacity: {cpu: 4, "
                    "memory: %s}}}, ",
                    i, nodes[i].memory);
  pai__buf_str(&b, "]}");
  c = test_cluster(pai__buf_text(&b), NULL);
  for (size_t i = 0; i < PAI__LEN(nodes); i++) {
    assert_int_equal(pai_cluster_view_node(c, i, &n), PAI_OK);
    assert_int_equal(n.sku, nodes[i].sku);
  }
  assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
  assert_string_equal(s.name, "cpu-4");
  assert_int_equal(s.memory, UINT64_C(990000) << 10); /* the least */
  assert_int_equal(pai_cluster_view_sku(c, 2, &s), PAI_OK);
  assert_string_equal(s.name, "cpu-4-3");
  pai_cluster_free(c);
  pai__buf_dispose(&b);
}

/* --- quantities ----------------------------------------------------------- */

static void quantities_are_read(void **state)
{
  static const struct {
    const char *text;
    bool milli, good;
    uint64_t value;
  } rows[] = {
    { "0", false, true, 0 },
    { "64", false, true, 64 },
    { "+64", false, true, 64 },
    { "64", true, true, 64000 },
    { "63900m", true, true, 63900 },
    { "63900m", false, true, 64 }, /* up, as Kubernetes does */
    { "0.5", true, true, 500 },
    { "1.0000000000001", false, true, 2 },
    { ".5", true, true, 500 },
    { "5.", false, true, 5 },
    { "1.5Gi", false, true, UINT64_C(3) << 29 },
    { "0.1Gi", false, true, 107374183 },
    { "1056308Ki", false, true, UINT64_C(1056308) << 10 },
    { "512Mi", false, true, UINT64_C(512) << 20 },
    { "2Ti", false, true, UINT64_C(2) << 40 },
    { "1Pi", false, true, UINT64_C(1) << 50 },
    { "1Ei", false, true, UINT64_C(1) << 60 },
    { "7k", false, true, 7000 },
    { "7M", false, true, 7000000 },
    { "500G", false, true, UINT64_C(500000000000) },
    { "1E", false, true, UINT64_C(1000000000000000000) },
    { "1e3", false, true, 1000 },
    { "1E3", false, true, 1000 },
    { "1e+3", false, true, 1000 },
    { "12e-1", false, true, 2 },
    { "1e-30", false, true, 1 },
    { "128974848000m", false, true, 128974848 },
    { "5n", true, true, 1 },
    { "5u", true, true, 1 },
    { "9223372036854775807", false, true, INT64_MAX },
    { "9223372036854775808", false, false, 0 },
    { "8Ei", false, false, 0 },
    { "1e99", false, false, 0 },
    { "1e999999999999", false, false, 0 },
    { "99999999999999999999", false, false, 0 },
    { "", false, false, 0 },
    { "+", false, false, 0 },
    { ".", false, false, 0 },
    { "-1", false, false, 0 },
    { "1e", false, false, 0 },
    { "1e+", false, false, 0 },
    { "1 ", false, false, 0 },
    { "1K", false, false, 0 },
    { "1ki", false, false, 0 },
    { "1GB", false, false, 0 },
    { "1Gib", false, false, 0 },
    { "0x10", false, false, 0 },
    { "Gi", false, false, 0 },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    uint64_t value = 7;
    bool good = pai__quantity_parse(&value, rows[i].text, strlen(rows[i].text),
                                    rows[i].milli);

    if (good != rows[i].good || (good && value != rows[i].value))
      fail_msg("%s: %d, %llu", rows[i].text, good, (unsigned long long)value);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(single_nodes_are_read),
    cmocka_unit_test(well_nodes_are_not_sick),
    cmocka_unit_test(long_reasons_are_cut),
    cmocka_unit_test(skus_have_names_of_their_own),
    cmocka_unit_test(nodes_of_one_shape_share_a_sku),
    cmocka_unit_test(quantities_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
