/* test_kubernetes.c - clusters from Kubernetes' lists of nodes */
#include "resource/clusters.h"

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
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(limits_hold),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
