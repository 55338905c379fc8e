/* test_kubernetes.c - clusters from Kubernetes' lists of nodes */
#include "resource/clusters.h"

#include "resource/import.h"

#include <stdlib.h>

/* As kubectl writes it, less what nobody reads. */
static const char list[] =
  "{\n"
  "  \"apiVersion\": \"v1\",\n"
  "  \"kind\": \"List\",\n"
  "  \"metadata\": {\"resourceVersion\": \"\"},\n"
  "  \"items\": [\n"
  "    {\"apiVersion\": \"v1\", \"kind\": \"Node\",\n"
  "     \"metadata\": {\n"
  "       \"name\": \"gpu-1\", \"uid\": \"5f0c\",\n"
  "       \"annotations\": {\"node.alpha.kubernetes.io/ttl\": \"0\"},\n"
  "       \"labels\": {\n"
  "         \"kubernetes.io/hostname\": \"gpu-1\",\n"
  "         \"node-role.kubernetes.io/worker\": \"\",\n"
  "         \"nvidia.com/gpu.count\": \"8\",\n"
  "         \"nvidia.com/gpu.memory\": \"81559\",\n"
  "         \"nvidia.com/gpu.product\": \"NVIDIA-H100-80GB-HBM3\",\n"
  "         \"topology.kubernetes.io/rack\": \"r1\",\n"
  "         \"topology.kubernetes.io/zone\": \"z1\"}},\n"
  "     \"spec\": {\"taints\": [\n"
  "       {\"effect\": \"NoSchedule\", \"key\": \"nvidia.com/gpu\", "
  "\"value\": \"present\"}]},\n"
  "     \"status\": {\n"
  "       \"addresses\": [{\"address\": \"gpu-1\", \"type\": \"Hostname\"},\n"
  "                     {\"address\": \"10.0.0.11\", \"type\": "
  "\"InternalIP\"},\n"
  "                     {\"address\": \"fd00::11\", \"type\": "
  "\"InternalIP\"}],\n"
  "       \"allocatable\": {\"cpu\": \"127500m\", \"memory\": "
  "\"2113000000Ki\",\n"
  "                       \"nvidia.com/gpu\": \"8\", \"pods\": \"110\"},\n"
  "       \"capacity\": {\"cpu\": \"128\", \"memory\": \"2113929216Ki\",\n"
  "                    \"nvidia.com/gpu\": \"8\", \"pods\": \"110\"},\n"
  "       \"conditions\": [\n"
  "         {\"type\": \"MemoryPressure\", \"status\": \"False\"},\n"
  "         {\"type\": \"Ready\", \"status\": \"True\", \"reason\": "
  "\"KubeletReady\",\n"
  "          \"message\": \"kubelet is posting ready status\"}],\n"
  "       \"nodeInfo\": {\"kubeletVersion\": \"v1.29.4\"}}},\n"
  "    {\"kind\": \"Node\",\n"
  "     \"metadata\": {\n"
  "       \"name\": \"gpu-2\",\n"
  "       \"labels\": {\n"
  "         \"kubernetes.io/hostname\": \"gpu-2\",\n"
  "         \"nvidia.com/gpu.memory\": \"81559\",\n"
  "         \"nvidia.com/gpu.product\": \"NVIDIA-H100-80GB-HBM3\",\n"
  "         \"topology.kubernetes.io/zone\": \"z1\"}},\n"
  "     \"spec\": {\"unschedulable\": true, \"taints\": [\n"
  "       {\"effect\": \"NoSchedule\", \"key\": "
  "\"node.kubernetes.io/unschedulable\"}]},\n"
  "     \"status\": {\n"
  "       \"allocatable\": {\"cpu\": \"127500m\", \"memory\": "
  "\"2112000000Ki\",\n"
  "                       \"nvidia.com/gpu\": \"7\"},\n"
  "       \"capacity\": {\"cpu\": \"128\", \"memory\": \"2113900000Ki\",\n"
  "                    \"nvidia.com/gpu\": \"8\"},\n"
  "       \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}},\n"
  "    {\"kind\": \"Node\",\n"
  "     \"metadata\": {\n"
  "       \"name\": \"mig-1\",\n"
  "       \"labels\": {\n"
  "         \"node.kubernetes.io/instance-type\": \"a100x2\",\n"
  "         \"nvidia.com/gpu.product\": \"NVIDIA-A100-80GB-PCIe\",\n"
  "         \"nvidia.com/mig-1g.10gb.memory\": \"9728\",\n"
  "         \"nvidia.com/mig-1g.10gb.product\":\n"
  "           \"NVIDIA-A100-80GB-PCIe-MIG-1g.10gb\"}},\n"
  "     \"status\": {\n"
  "       \"capacity\": {\"cpu\": \"32\", \"memory\": \"256Gi\",\n"
  "                    \"nvidia.com/gpu\": \"1\", \"nvidia.com/mig-1g.10gb\": "
  "\"4\",\n"
  "                    \"nvidia.com/mig-3g.40gb\": \"1\"},\n"
  "       \"conditions\": [\n"
  "         {\"type\": \"Ready\", \"status\": \"Unknown\",\n"
  "          \"message\": \"Kubelet stopped posting node status.\"}]}},\n"
  "    {\"kind\": \"Node\",\n"
  "     \"metadata\": {\n"
  "       \"name\": \"amd-1\",\n"
  "       \"labels\": {\n"
  "         \"amd.com/gpu.product-name\": \"AMD_Instinct_MI300X_OAM\",\n"
  "         \"amd.com/gpu.vram\": \"192G\"}},\n"
  "     \"status\": {\n"
  "       \"allocatable\": {\"cpu\": \"190\", \"memory\": \"1e12\", "
  "\"amd.com/gpu\": \"8\"},\n"
  "       \"capacity\": {\"cpu\": \"192\", \"memory\": \"1500G\", "
  "\"amd.com/gpu\": \"8\"},\n"
  "       \"conditions\": [\n"
  "         {\"type\": \"DiskPressure\", \"status\": \"True\",\n"
  "          \"reason\": \"KubeletHasDiskPressure\"},\n"
  "         {\"type\": \"Ready\", \"status\": \"True\"}]}},\n"
  "    {\"kind\": \"Node\",\n"
  "     \"metadata\": {\n"
  "       \"name\": \"master-1\",\n"
  "       \"labels\": {\"node-role.kubernetes.io/control-plane\": \"\"}},\n"
  "     \"spec\": {\"taints\": [\n"
  "       {\"effect\": \"NoSchedule\",\n"
  "        \"key\": \"node-role.kubernetes.io/control-plane\"},\n"
  "       {\"effect\": \"PreferNoSchedule\", \"key\": \"slow\"}]},\n"
  "     \"status\": {\n"
  "       \"allocatable\": {\"cpu\": \"4\", \"memory\": \"16Gi\"},\n"
  "       \"capacity\": {\"cpu\": \"4\", \"memory\": \"16Gi\"},\n"
  "       \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}\n"
  "  ]\n"
  "}\n";

static const char list_as_ours[] =
  "gpus:\n"
  "  nvidia-h100-80gb-hbm3:\n"
  "    resource: nvidia.com/gpu\n"
  "    memory: 81559M\n"
  "  nvidia-a100-80gb-pcie:\n"
  "    resource: nvidia.com/gpu\n"
  "  nvidia-a100-80gb-pcie-mig-1g-10gb:\n"
  "    resource: nvidia.com/mig-1g.10gb\n"
  "    memory: 9728M\n"
  "  nvidia-a100-80gb-pcie-mig-3g-40gb:\n"
  "    resource: nvidia.com/mig-3g.40gb\n"
  "  amd-instinct-mi300x-oam:\n"
  "    resource: amd.com/gpu\n"
  "    memory: 192G\n"
  "skus:\n"
  "  nvidia-h100-80gb-hbm3-8:\n"
  "    gpu: nvidia-h100-80gb-hbm3\n"
  "    gpus: 8\n"
  "    cpus: 128\n"
  "    memory: 2113900000K\n"
  "    used:\n"
  "      cpus: 1\n"
  "      memory: 1900000K\n"
  "  a100x2:\n"
  "    gpu:\n"
  "      nvidia-a100-80gb-pcie: 1\n"
  "      nvidia-a100-80gb-pcie-mig-1g-10gb: 4\n"
  "      nvidia-a100-80gb-pcie-mig-3g-40gb: 1\n"
  "    cpus: 32\n"
  "    memory: 256G\n"
  "  amd-instinct-mi300x-oam-8:\n"
  "    gpu: amd-instinct-mi300x-oam\n"
  "    gpus: 8\n"
  "    cpus: 192\n"
  "    memory: 1464843750K\n"
  "    used:\n"
  "      cpus: 2\n"
  "      memory: 488281250K\n"
  "  cpu-4:\n"
  "    cpus: 4\n"
  "    memory: 16G\n"
  "nodes:\n"
  "  - name: gpu-1\n"
  "    sku: nvidia-h100-80gb-hbm3-8\n"
  "    rack: r1\n"
  "    address: '10.0.0.11'\n"
  "    labels:\n"
  "      kubernetes.io/hostname: gpu-1\n"
  "      node-role.kubernetes.io/worker: ''\n"
  "      nvidia.com/gpu.count: '8'\n"
  "      nvidia.com/gpu.memory: '81559'\n"
  "      nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\n"
  "      topology.kubernetes.io/rack: r1\n"
  "      topology.kubernetes.io/zone: z1\n"
  "  - name: gpu-2\n"
  "    sku: nvidia-h100-80gb-hbm3-8\n"
  "    rack: z1\n"
  "    labels:\n"
  "      kubernetes.io/hostname: gpu-2\n"
  "      nvidia.com/gpu.memory: '81559'\n"
  "      nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\n"
  "      topology.kubernetes.io/zone: z1\n"
  "    sick: cordoned\n"
  "    gpus:\n"
  "      '7':\n"
  "        sick: not offered by its device plugin\n"
  "  - name: mig-1\n"
  "    sku: a100x2\n"
  "    labels:\n"
  "      node.kubernetes.io/instance-type: a100x2\n"
  "      nvidia.com/gpu.product: NVIDIA-A100-80GB-PCIe\n"
  "      nvidia.com/mig-1g.10gb.memory: '9728'\n"
  "      nvidia.com/mig-1g.10gb.product: NVIDIA-A100-80GB-PCIe-MIG-1g.10gb\n"
  "    sick: 'not ready: Kubelet stopped posting node status'\n"
  "  - name: amd-1\n"
  "    sku: amd-instinct-mi300x-oam-8\n"
  "    labels:\n"
  "      amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM\n"
  "      amd.com/gpu.vram: 192G\n"
  "    sick: 'DiskPressure: KubeletHasDiskPressure'\n"
  "  - name: master-1\n"
  "    sku: cpu-4\n"
  "    labels:\n"
  "      node-role.kubernetes.io/control-plane: ''\n"
  "    sick: kept for the control plane (taint "
  "node-role.kubernetes.io/control-plane:NoSchedule)\n";

/* --- what is read --------------------------------------------------------- */

static void nodes_are_read(void **state)
{
  pai_cluster *c = test_cluster(list, NULL), *again;
  char *text = test_cluster_text(c, 0), *twice;
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_string_equal(text, list_as_ours);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_string_equal(v.form, "kubernetes");
  assert_int_equal(v.nodes, 5);
  assert_int_equal(v.sick_nodes, 4);
  again = test_cluster(text, "openpai");
  twice = test_cluster_text(again, 0);
  assert_string_equal(twice, text);
  pai_cluster_free(again);
  pai_cluster_free(c);
  free(twice);
  free(text);
}

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

/* --- what is wrong -------------------------------------------------------- */

#define LIST "apiVersion: v1\nkind: List\n"

static const struct {
  const char *text, *list, *says, *help;
} faults[] = {
  { LIST "items: [{kind: Pod, metadata: {name: a}}]\n",
    "wrong-kind /items/0 3:9\n", "no node but a Pod", "kubectl get nodes" },
  { LIST "items: [{kind: Node, metadata: {}}]\n",
    "missing-key /items/0/metadata 3:32\n", "needs 'name'", NULL },
  { LIST "items: [{kind: Node}]\n", "missing-key /items/0 3:9\n",
    "needs 'metadata.name'", NULL },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {cpu: x}}}]\n",
    "bad-quantity /items/0/status/capacity/cpu 3:56\n", "cpu cannot be 'x'",
    "512Gi" },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {memory: -1}}}]\n",
    "bad-quantity /items/0/status/capacity/memory 3:59\n",
    "memory cannot be -1", "512Gi" },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {memory: 2Pi}}}]"
         "\n",
    "too-large /items/0/status/capacity/memory 3:59\n",
    "memory cannot be '2Pi'", NULL },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {nvidia.com/gpu: "
         "4097}}}]\n",
    "too-large /items/0/status/capacity/nvidia.com~1gpu 3:67\n",
    "a number of GPUs cannot be 4097", NULL },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {nvidia.com/gpu: "
         "4000, amd.com/gpu: 97}}}]\n",
    "too-large /items/0/status/capacity/amd.com~1gpu 3:86\n",
    "more than 4096 GPUs", NULL },
  { LIST "items: [{metadata: {name: a}}]\n", "?no-capacity /items/0 3:9\n",
    "'a' does not say what it has", "status.capacity" },
  { LIST "items: [{metadata: {name: a, labels: {nvidia.com/gpu.count: '8'}}, "
         "status: {capacity: {nvidia.com/gpu: '0'}}}]\n",
    "?no-gpus /items/0 3:9\n", "has 8 GPUs by its label", "device plugin" },
  { LIST "items: {a: 1}\n", "wrong-type /items 3:8\n",
    "items must be a list, not a mapping", NULL },
  { LIST "items: [7]\n", "wrong-type /items/0 3:9\n",
    "a node must be a mapping, not 7", NULL },
  { LIST "items: [{metadata: {name: a, labels: [b]}, status: {capacity: {}}}]"
         "\n",
    "wrong-type /items/0/metadata/labels 3:38\n", "labels must be a mapping",
    NULL },
  { LIST "items: [{metadata: {name: a, labels: {x: \"b\\n\"}}, status: "
         "{capacity: {}}}]\n",
    "bad-name /items/0/metadata/labels/x 3:42\n", "a label must be one line",
    NULL },
  { LIST "items: [{metadata: {name: a}, status: {capacity: {}}}, {metadata: "
         "{name: a}, status: {capacity: {}}}]\n",
    "duplicate /items/1 3:56\n", "'a' is there already", "rename" },
  { LIST "items: [{metadata: {name: 'a[1-2]'}, status: {capacity: {}}}]\n",
    "bad-name /items/0/metadata/name 3:27\n", "cannot have brackets", NULL },
  { LIST "items: []\n", "no-nodes  1:1\n", "no node", NULL },
  { "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"message\":\n"
    "\"nodes is forbidden\"}",
    "refused /message 2:1\n", "no nodes: nodes is forbidden",
    "may this account" },
  { "kind: Pod\napiVersion: v1\n", "unknown-form  1:1\n", NULL, "'items'" },
  { "kind: Node\n", "unknown-form  1:1\n", NULL, "'items'" },
};

static void what_is_wrong_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(faults); i++)
    test_cluster_found(faults[i].text, NULL, faults[i].list, faults[i].says,
                       faults[i].help);
}

static void limits_hold(void **state)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  opts.max_nodes = 4;
  assert_int_equal(pai_cluster_parse(&c, list, strlen(list), &opts, &err),
                   PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "more than 4 nodes");
  assert_null(c);
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

/* --- short memory --------------------------------------------------------- */

static int read_list(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  int rc;

  (void)user_data;
  opts.alloc = alloc;
  rc = pai_cluster_parse(&c, list, strlen(list), &opts, NULL);
  if (rc == PAI_OK) {
    pai_node_view n = { .struct_size = sizeof(n) };

    assert_int_equal(pai_cluster_view_node(c, 4, &n), PAI_OK);
    assert_string_equal(n.name, "master-1");
    assert_non_null(n.sick);
  }
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_list, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nodes_are_read),
    cmocka_unit_test(single_nodes_are_read),
    cmocka_unit_test(well_nodes_are_not_sick),
    cmocka_unit_test(long_reasons_are_cut),
    cmocka_unit_test(skus_have_names_of_their_own),
    cmocka_unit_test(nodes_of_one_shape_share_a_sku),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(limits_hold),
    cmocka_unit_test(quantities_are_read),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
