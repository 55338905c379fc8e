/* test_slurm.c - clusters from Slurm's lists of nodes */
#include "resource/clusters.h"

#include "base/buf.h"

#include <stdlib.h>

/* Of Slurm 22.05: states are small letters with flags beside them, features a text. */
static const char v22[] =
  "{\n"
  " \"meta\": {\"plugin\": {\"type\": \"openapi\\/v0.0.38\", \"name\": "
  "\"Slurm OpenAPI v0.0.38\"}, \"Slurm\": {\"version\": {\"major\": 22, "
  "\"micro\": 8, \"minor\": 5}, \"release\": \"22.05.8\"}},\n"
  " \"errors\": [],\n"
  " \"nodes\": [\n"
  "  {\"comment\": \"\", \"cpus\": 32, \"features\": \"h100,ib\",\n"
  "   \"active_features\": \"h100,ib\",\n"
  "   \"gres\": \"gpu:h100:8(S:0-1)\",\n"
  "   \"gres_used\": \"gpu:h100:0(IDX:N\\/A)\", \"name\": \"n1\",\n"
  "   \"address\": \"10.1.0.1\", \"hostname\": \"n1\",\n"
  "   \"state\": \"idle\", \"state_flags\": [],\n"
  "   \"partitions\": [\"batch\"], \"real_memory\": 515000,\n"
  "   \"reason\": \"\", \"reason_set_by_user\": null,\n"
  "   \"sockets\": 2, \"tres\": \"cpu=28,mem=515000M,billing=28\"},\n"
  "  {\"comment\": \"\", \"cpus\": 32, \"features\": \"h100,ib\",\n"
  "   \"active_features\": \"h100,ib,h100\",\n"
  "   \"gres\": \"gpu:h100:8(S:0-1)\",\n"
  "   \"gres_used\": \"gpu:h100:0(IDX:N\\/A)\", \"name\": \"n2\",\n"
  "   \"address\": \"10.1.0.2\", \"hostname\": \"n2\",\n"
  "   \"state\": \"idle\", \"state_flags\": [\"DRAIN\"],\n"
  "   \"partitions\": [\"batch\"], \"real_memory\": 515000,\n"
  "   \"reason\": \"ECC errors on GPU 3\",\n"
  "   \"reason_set_by_user\": \"admin\", \"sockets\": 2,\n"
  "   \"tres\": \"cpu=28,mem=515000M,billing=28\"},\n"
  "  {\"comment\": \"\", \"cpus\": 16, \"features\": \"\",\n"
  "   \"active_features\": \"\", \"gres\": \"gpu:a100:4\",\n"
  "   \"gres_used\": \"gpu:a100:0(IDX:N\\/A)\", \"name\": \"n3\",\n"
  "   \"address\": \"10.1.0.3\", \"hostname\": \"n3\",\n"
  "   \"state\": \"down\", \"state_flags\": [],\n"
  "   \"partitions\": [\"batch\", \"cpu\"], \"real_memory\": 64000,\n"
  "   \"reason\": \"PSU 2 dead\", \"reason_set_by_user\": \"admin\",\n"
  "   \"sockets\": 1, \"tres\": \"cpu=16,mem=62.50G,billing=16\"},\n"
  "  {\"comment\": \"\", \"cpus\": 16, \"features\": \"\",\n"
  "   \"active_features\": \"\", \"gres\": \"\",\n"
  "   \"gres_used\": \"gpu:0\", \"name\": \"n4\",\n"
  "   \"address\": \"10.1.0.4\", \"hostname\": \"n4\",\n"
  "   \"state\": \"unknown\", \"state_flags\": [\"NOT_RESPONDING\"],\n"
  "   \"partitions\": [\"cpu\"], \"real_memory\": 64000,\n"
  "   \"reason\": \"\", \"reason_set_by_user\": \"admin\",\n"
  "   \"sockets\": 1, \"tres\": \"cpu=16,mem=62.50G,billing=16\"}\n"
  " ]}\n";

static const char v22_as_ours[] = "gpus:\n"
                                  "  h100:\n"
                                  "    resource: gres/gpu:h100\n"
                                  "  a100:\n"
                                  "    resource: gres/gpu:a100\n"
                                  "skus:\n"
                                  "  h100-8:\n"
                                  "    gpu: h100\n"
                                  "    gpus: 8\n"
                                  "    numa: 2\n"
                                  "    cpus: 32\n"
                                  "    memory: 515000M\n"
                                  "    used:\n"
                                  "      cpus: 4\n"
                                  "  a100-4:\n"
                                  "    gpu: a100\n"
                                  "    gpus: 4\n"
                                  "    cpus: 16\n"
                                  "    memory: 64000M\n"
                                  "  cpu-16:\n"
                                  "    cpus: 16\n"
                                  "    memory: 64000M\n"
                                  "nodes:\n"
                                  "  - name: n1\n"
                                  "    sku: h100-8\n"
                                  "    address: '10.1.0.1'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      feature/h100: 'true'\n"
                                  "      feature/ib: 'true'\n"
                                  "  - name: n2\n"
                                  "    sku: h100-8\n"
                                  "    address: '10.1.0.2'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      feature/h100: 'true'\n"
                                  "      feature/ib: 'true'\n"
                                  "    sick: 'drained: ECC errors on GPU 3'\n"
                                  "  - name: n3\n"
                                  "    sku: a100-4\n"
                                  "    address: '10.1.0.3'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      partition/cpu: 'true'\n"
                                  "    sick: 'down: PSU 2 dead'\n"
                                  "  - name: n4\n"
                                  "    sku: cpu-16\n"
                                  "    address: '10.1.0.4'\n"
                                  "    labels:\n"
                                  "      partition/cpu: 'true'\n"
                                  "    sick: not responding\n";

/* Of 23.02: states are lists, and what jobs do not get is told. */
static const char v23[] =
  "{\n"
  " \"meta\": {\"plugin\": {\"type\": \"openapi\\/v0.0.39\", \"name\": "
  "\"Slurm OpenAPI v0.0.39\", \"data_parser\": \"v0.0.39\"}, \"Slurm\": "
  "{\"version\": {\"major\": 23, \"micro\": 3, \"minor\": 2}, \"release\": "
  "\"23.02.3\"}},\n"
  " \"errors\": [],\n"
  " \"warnings\": [],\n"
  " \"nodes\": [\n"
  "  {\"name\": \"n1\", \"hostname\": \"n1\", \"address\": \"10.1.0.1\",\n"
  "   \"state\": [\"MIXED\"], \"cpus\": 32, \"effective_cpus\": 28,\n"
  "   \"real_memory\": 515000, \"specialized_memory\": 4096,\n"
  "   \"sockets\": 2,\n"
  "   \"free_mem\": {\"set\": true, \"infinite\": false, \"number\": 187},\n"
  "   \"comment\": \"rack=r7 built 2023\",\n"
  "   \"active_features\": [\"h100\", \"ib\"],\n"
  "   \"gres\": \"gpu:h100:4(S:0),gpu:h100:4(S:1),shard:16\",\n"
  "   \"tres\": \"cpu=28,mem=515000M,billing=28,gres\\/gpu=8\",\n"
  "   \"partitions\": [\"batch\"], \"reason\": \"\"},\n"
  "  {\"name\": \"n2\", \"hostname\": \"n2\", \"address\": \"n2\",\n"
  "   \"state\": [\"IDLE\", \"MAINTENANCE\", \"RESERVED\"],\n"
  "   \"cpus\": 32, \"effective_cpus\": 28,\n"
  "   \"real_memory\": 515000, \"specialized_memory\": 4096,\n"
  "   \"sockets\": 2, \"comment\": \"\", \"extra\": \"switch=s3\",\n"
  "   \"active_features\": [], \"gres\": \"gpu:h100:8(S:0-1)\",\n"
  "   \"tres\": \"cpu=28,mem=515000M,billing=28,gres\\/gpu=8\",\n"
  "   \"partitions\": [\"batch\", \"debug\"], \"reason\": \"\"},\n"
  "  {\"name\": \"n3\", \"hostname\": \"n3\", \"address\": \"10.1.0.3\",\n"
  "   \"state\": [\"IDLE\", \"CLOUD\", \"POWERED_DOWN\"],\n"
  "   \"comment\": \"offrack=r9\", \"cpus\": 16,\n"
  "   \"effective_cpus\": 16, \"real_memory\": 64000,\n"
  "   \"specialized_memory\": 0, \"sockets\": 1,\n"
  "   \"gres\": \"gpu:4\", \"tres\": \"cpu=16\", \"partitions\": [],\n"
  "   \"reason\": \"\"}\n"
  " ]}\n";

static const char v23_as_ours[] = "gpus:\n"
                                  "  h100:\n"
                                  "    resource: gres/gpu:h100\n"
                                  "  gpu:\n"
                                  "    resource: gres/gpu\n"
                                  "skus:\n"
                                  "  h100-8:\n"
                                  "    gpu: h100\n"
                                  "    gpus: 8\n"
                                  "    numa: 2\n"
                                  "    cpus: 32\n"
                                  "    memory: 515000M\n"
                                  "    used:\n"
                                  "      cpus: 4\n"
                                  "      memory: 4G\n"
                                  "  gpu-4:\n"
                                  "    gpu: gpu\n"
                                  "    gpus: 4\n"
                                  "    cpus: 16\n"
                                  "    memory: 64000M\n"
                                  "nodes:\n"
                                  "  - name: n1\n"
                                  "    sku: h100-8\n"
                                  "    rack: r7\n"
                                  "    address: '10.1.0.1'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      feature/h100: 'true'\n"
                                  "      feature/ib: 'true'\n"
                                  "  - name: n2\n"
                                  "    sku: h100-8\n"
                                  "    rack: s3\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      partition/debug: 'true'\n"
                                  "    sick: in maintenance\n"
                                  "  - name: n3\n"
                                  "    sku: gpu-4\n"
                                  "    address: '10.1.0.3'\n"
                                  "    sick: powered down\n";

/* Of 25.11: numbers say whether they are set, and a node knows its switch. */
static const char v25[] =
  "{\n"
  " \"last_update\": {\"set\": true, \"infinite\": false, \"number\": "
  "1769557962},\n"
  " \"meta\": {\"plugin\": {\"type\": \"\", \"name\": \"\", \"data_parser\": "
  "\"data_parser\\/v0.0.44\"}, \"command\": [\"show\", \"nodes\"], \"slurm\": "
  "{\"version\": {\"major\": \"25\", \"micro\": \"0\", \"minor\": \"11\"}, "
  "\"release\": \"25.11.0\", \"cluster\": \"lab\"}},\n"
  " \"errors\": [],\n"
  " \"warnings\": [],\n"
  " \"nodes\": [\n"
  "  {\"name\": \"n1\", \"hostname\": \"n1\", \"address\": \"10.1.0.1\",\n"
  "   \"state\": [\"IDLE\", \"DYNAMIC_NORM\"],\n"
  "   \"cpus\": {\"set\": true, \"infinite\": false, \"number\": 32},\n"
  "   \"effective_cpus\": {\"set\": true, \"infinite\": false, \"number\": "
  "28},\n"
  "   \"real_memory\": {\"set\": true, \"infinite\": false, \"number\": "
  "515000},\n"
  "   \"specialized_memory\": {\"set\": true, \"infinite\": false, "
  "\"number\": 4096},\n"
  "   \"sockets\": 2,\n"
  "   \"topology\": \"tree:spine1:leaf3,block:b1\",\n"
  "   \"instance_type\": \"p5.48xlarge\",\n"
  "   \"active_features\": [\"h100\"],\n"
  "   \"gres\": \"gpu:H100:8(S:0-1)\", \"partitions\": [\"batch\"]},\n"
  "  {\"name\": \"n2\", \"hostname\": \"n2\", \"address\": \"10.1.0.2\",\n"
  "   \"state\": [\"DOWN\", \"DRAIN\", \"NOT_RESPONDING\"],\n"
  "   \"cpus\": 32, \"effective_cpus\": 28,\n"
  "   \"real_memory\": 515000, \"specialized_memory\": 4096,\n"
  "   \"sockets\": 2, \"topology\": \"\", \"comment\": \"\",\n"
  "   \"instance_type\": \"p5.48xlarge\",\n"
  "   \"gres\": \"gpu:a100_3g.20gb:4(S:0,1),gpu:a100:2\",\n"
  "   \"partitions\": [\"batch\"], \"reason\": \"Not responding\",\n"
  "   \"reason_set_by_user\": \"slurm\"},\n"
  "  {\"name\": \"n3\", \"hostname\": \"n3\", \"address\": \"10.1.0.3\",\n"
  "   \"state\": [\"IDLE\"], \"cpus\": 16,\n"
  "   \"real_memory\": {\"set\": false, \"infinite\": false, \"number\": 7},\n"
  "   \"effective_cpus\": {\"set\": true, \"infinite\": true, \"number\": "
  "7},\n"
  "   \"sockets\": 1, \"gres\": \"\",\n"
  "   \"tres\": \"cpu=16,gres\\/gpu=4,gres\\/gpu:t4=4\",\n"
  "   \"partitions\": [\"cpu\"]}\n"
  " ]}\n";

static const char v25_as_ours[] = "gpus:\n"
                                  "  h100:\n"
                                  "    resource: gres/gpu:H100\n"
                                  "  a100-3g-20gb:\n"
                                  "    resource: gres/gpu:a100_3g.20gb\n"
                                  "  a100:\n"
                                  "    resource: gres/gpu:a100\n"
                                  "  t4:\n"
                                  "    resource: gres/gpu:t4\n"
                                  "skus:\n"
                                  "  p5-48xlarge:\n"
                                  "    gpu: h100\n"
                                  "    gpus: 8\n"
                                  "    numa: 2\n"
                                  "    cpus: 32\n"
                                  "    memory: 515000M\n"
                                  "    used:\n"
                                  "      cpus: 4\n"
                                  "      memory: 4G\n"
                                  "  p5-48xlarge-2:\n"
                                  "    gpu:\n"
                                  "      a100-3g-20gb: 4\n"
                                  "      a100: 2\n"
                                  "    numa: 2\n"
                                  "    cpus: 32\n"
                                  "    memory: 515000M\n"
                                  "    used:\n"
                                  "      cpus: 4\n"
                                  "      memory: 4G\n"
                                  "  t4-4:\n"
                                  "    gpu: t4\n"
                                  "    gpus: 4\n"
                                  "    cpus: 16\n"
                                  "nodes:\n"
                                  "  - name: n1\n"
                                  "    sku: p5-48xlarge\n"
                                  "    rack: leaf3\n"
                                  "    address: '10.1.0.1'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "      feature/h100: 'true'\n"
                                  "  - name: n2\n"
                                  "    sku: p5-48xlarge-2\n"
                                  "    address: '10.1.0.2'\n"
                                  "    labels:\n"
                                  "      partition/batch: 'true'\n"
                                  "    sick: 'down: Not responding'\n"
                                  "  - name: n3\n"
                                  "    sku: t4-4\n"
                                  "    address: '10.1.0.3'\n"
                                  "    labels:\n"
                                  "      partition/cpu: 'true'\n";

/* --- what is read --------------------------------------------------------- */

static void versions_are_read(void **state)
{
  static const struct {
    const char *text, *ours;
  } versions[] = { { v22, v22_as_ours },
                   { v23, v23_as_ours },
                   { v25, v25_as_ours } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(versions); i++) {
    pai_cluster *c = test_cluster(versions[i].text, NULL), *again;
    char *text = test_cluster_text(c, 0), *twice;
    pai_cluster_view v = { .struct_size = sizeof(v) };

    assert_string_equal(text, versions[i].ours);
    assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
    assert_string_equal(v.form, "slurm");
    again = test_cluster(text, "openpai");
    twice = test_cluster_text(again, 0);
    assert_string_equal(twice, text);
    pai_cluster_free(again);
    pai_cluster_free(c);
    free(twice);
    free(text);
  }
}

#define META "{\"meta\": {\"slurm\": {}}, \"errors\": [], \"nodes\": ["
#define NODE META "{\"name\": \"a\", \"cpus\": 8, "

static void states_are_read(void **state)
{
  static const struct {
    const char *state, *sick;
  } states[] = {
    { "\"idle\"", NULL },
    { "\"IDLE\"", NULL },
    { "\"ALLOCATED\"", NULL },
    { "\"mixed\"", NULL },
    { "[\"MIXED\", \"COMPLETING\"]", NULL },
    { "[\"IDLE\", \"PLANNED\"]", NULL },
    { "[\"IDLE\", \"RESERVED\"]", NULL },
    { "[\"IDLE\", \"CLOUD\", \"DYNAMIC_NORM\"]", NULL },
    { "\"IDLE+DRAIN\"", "drained: fan" },
    { "\"DOWN*\"", "down: fan" },
    { "\"IDLE*\"", "not responding: fan" },
    { "\"idle~\"", "powered down: fan" },
    { "\"DOWN*+DRAIN\"", "down: fan" },
    { "\"draining\"", "drained: fan" },
    { "[\"ALLOCATED\", \"FAIL\"]", "failed: fan" },
    { "[\"IDLE\", \"DRAIN\"]", "drained: fan" },
    { "[\"IDLE\", \"NOT_RESPONDING\"]", "not responding: fan" },
    { "[\"IDLE\", \"INVALID_REG\"]",
      "registered with less than is configured: fan" },
    { "[\"IDLE\", \"MAINTENANCE\"]", "in maintenance: fan" },
    { "[\"IDLE\", \"REBOOT_ISSUED\"]", "rebooting: fan" },
    { "[\"IDLE\", \"POWERED_DOWN\"]", "powered down: fan" },
    { "[\"IDLE\", \"POWERING_DOWN\"]", "powering down: fan" },
    { "[\"IDLE\", \"POWERING_UP\"]", "powering up: fan" },
    { "\"FUTURE\"", "not there yet: fan" },
    { "\"UNKNOWN\"", "in an unknown state: fan" },
    { "\"ERROR\"", "in error: fan" },
    { "[]", NULL },
    { "null", NULL },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(states); i++) {
    pai_node_view n = { .struct_size = sizeof(n) };
    pai_cluster *c;
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__buf_printf(&b, NODE "\"reason\": \"fan\", \"state\": %s}]}",
                    states[i].state);
    c = test_cluster(pai__buf_text(&b), NULL);
    assert_int_equal(pai_cluster_view_node(c, 0, &n), PAI_OK);
    if ((n.sick == NULL) != (states[i].sick == NULL))
      fail_msg("%s", states[i].state);
    if (n.sick != NULL)
      assert_string_equal(n.sick, states[i].sick);
    pai_cluster_free(c);
    pai__buf_dispose(&b);
  }
}

static void resources_are_read(void **state)
{
  static const struct {
    const char *gres;
    size_t gpus, numa;
    const char *kind;
  } rows[] = {
    { "gpu", 1, 1, "gpu" },
    { "gpu:8", 8, 1, "gpu" },
    { "gpu:h100", 1, 1, "h100" },
    { "gpu:h100:8", 8, 1, "h100" },
    { "gpu:h100:no_consume:8", 8, 1, "h100" },
    { "gpu:no_consume:2", 2, 1, "gpu" },
    { "gpu:Tesla_T4:2(S:1)", 2, 1, "tesla-t4" },
    { "gpu:h100:8(S:0-3)", 8, 4, "h100" },
    { "gpu:h100:8(S:0,2-3)", 8, 3, "h100" },
    { "gpu:h100:8(S:0-99)", 8, 1, "h100" },
    { "gpu:h100:8(S:x)", 8, 1, "h100" },
    { "gpu:h100:8(CNT:8)", 8, 1, "h100" },
    { "nic:2,gpu:h100:4(S:0),mps:400,gpu:h100:4(S:1)", 8, 2, "h100" },
    { "gpu:h100:0", 0, 2, NULL },
    { "shard:16,gpux:4", 0, 2, NULL },
    { "(null)", 0, 2, NULL },
    { "gpu:h100:4(S:0", 4, 1, "h100" },
    { ",,", 0, 2, NULL },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_sku_view s = { .struct_size = sizeof(s) };
    pai_cluster *c;
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__buf_printf(&b, NODE "\"sockets\": 2, \"gres\": \"%s\"}]}",
                    rows[i].gres);
    c = test_cluster(pai__buf_text(&b), NULL);
    assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
    if (s.gpus != rows[i].gpus || s.numa != rows[i].numa)
      fail_msg("%s: %zu, %u", rows[i].gres, s.gpus, s.numa);
    assert_int_equal(s.gpu == NULL, rows[i].kind == NULL);
    if (s.gpu != NULL)
      assert_string_equal(s.gpu, rows[i].kind);
    pai_cluster_free(c);
    pai__buf_dispose(&b);
  }
}

/* --- what is wrong -------------------------------------------------------- */

static const struct {
  const char *text, *list, *says, *help;
} faults[] = {
  /* as slurmrestd of 22.05 answers */
  { "{\"meta\": {\"plugin\": {\"type\": \"openapi\\/v0.0.38\"}, \"Slurm\": "
    "{}},\n"
    "\"errors\": [{\"error\": \"Invalid node name specified\", \"errno\": "
    "2018}], \"nodes\": []}",
    "refused /errors/0 2:12\n", "Slurm says: Invalid node name", NULL },
  /* and of newer versions */
  { "{\"meta\": {\"slurm\": {}}, \"errors\": [{\"description\": "
    "\"slurm_load_node() failed\", \"error_number\": 5}]}",
    "refused /errors/0 1:36\n", "slurm_load_node() failed", NULL },
  { "{\"meta\": {\"slurm\": {}}, \"errors\": [7]}", "refused /errors/0 1:36\n",
    "Slurm says: an error", NULL },
  { "{\"meta\": {\"slurm\": {}}, \"errors\": [{\"error\": \"half of it\"}], "
    "\"nodes\": [{\"name\": \"a\"}]}",
    "?refused /errors/0 1:36\n", "half of it", NULL },
  { "{\"meta\": {\"slurm\": {}}, \"errors\": [], \"sinfo\": []}",
    "missing-key  1:1\n", "no 'nodes'", "scontrol show nodes --json" },
  { META "{\"name\": \"a]\"}]}", "bad-name /nodes/0/name 1:58\n",
    "cannot have brackets", NULL },
  { META "]}", "no-nodes  1:1\n", "no node", NULL },
  { META "7]}", "wrong-type /nodes/0 1:49\n", "must be a mapping, not 7",
    NULL },
  { META "{\"cpus\": 3}]}", "missing-key /nodes/0 1:49\n", "needs 'name'",
    NULL },
  { META "{\"name\": \"\"}]}", "bad-name /nodes/0/name 1:58\n", "one line",
    NULL },
  { META "{\"name\": \"a\"}, {\"name\": \"a\"}]}", "duplicate /nodes/1 1:64\n",
    "'a' is there already", "rename" },
  { META "{\"name\": \"a\", \"cpus\": \"8\"}]}",
    "wrong-type /nodes/0/cpus 1:71\n", "a whole number, not '8'", NULL },
  { META "{\"name\": \"a\", \"cpus\": -2}]}", "too-small /nodes/0/cpus 1:71\n",
    "cpus cannot be -2", NULL },
  { META "{\"name\": \"a\", \"cpus\": {\"set\": true, \"infinite\": false, "
         "\"number\": 9999999}}]}",
    "too-large /nodes/0/cpus/number 1:114\n", "cpus cannot be 9999999", NULL },
  { META "{\"name\": \"a\", \"real_memory\": 9999999999999}]}",
    "too-large /nodes/0/real_memory 1:78\n", "cannot be 9999999999999", NULL },
  { META "{\"name\": \"a\", \"gres\": \"gpu:4097\"}]}",
    "too-large /nodes/0/gres 1:71\n", "more than 4096 GPUs", NULL },
  { META "{\"name\": \"a\", \"gres\": \"gpu:a:4000,gpu:b:97\"}]}",
    "too-large /nodes/0/gres 1:71\n", "more than 4096 GPUs", NULL },
  /* what looks like it and is our own */
  { "{\"nodes\": [{\"name\": \"a\", \"sku\": \"s\", \"state\": \"x\", "
    "\"gres\": 1}]}",
    "unknown-sku /nodes/0/sku 1:33\nunknown-key /nodes/0/state 1:38\n"
    "unknown-key /nodes/0/gres 1:52\n",
    NULL, "the SKUs of this file" },
  { "{\"nodes\": [{\"name\": \"a\", \"state\": \"x\"}]}",
    "missing-key /nodes/0 1:12\nunknown-key /nodes/0/state 1:26\n", NULL,
    NULL },
};

static void what_is_wrong_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(faults); i++)
    test_cluster_found(faults[i].text, NULL, faults[i].list, faults[i].says,
                       faults[i].help);
}

/* Also what was cut out of Slurm's answer. */
static void the_form_is_found(void **state)
{
  pai_cluster *c = test_cluster("{\"nodes\": [{\"name\": \"a\", \"state\": "
                                "\"idle\", \"real_memory\": 512}]}",
                                NULL);
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_string_equal(v.form, "slurm");
  assert_int_equal(v.memory, UINT64_C(512) << 20);
  pai_cluster_free(c);
}

static void limits_hold(void **state)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  opts.max_nodes = 2;
  assert_int_equal(pai_cluster_parse(&c, v23, strlen(v23), &opts, &err),
                   PAI_ELIMIT);
  assert_null(c);
  test_expect_error(err, PAI_ELIMIT, "more than 2 nodes");
}

/* --- short memory --------------------------------------------------------- */

static int read_version(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_node_view n = { .struct_size = sizeof(n) };
  pai_cluster *c;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_parse(&c, text, strlen(text), &opts, NULL);
  if (rc == PAI_OK) {
    assert_int_equal(pai_cluster_view_node(c, 1, &n), PAI_OK);
    assert_string_equal(n.name, "n2");
    assert_non_null(n.sick);
  }
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_version, (void *)(uintptr_t)v22);
  test_faults(read_version, (void *)(uintptr_t)v25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(versions_are_read),
    cmocka_unit_test(states_are_read),
    cmocka_unit_test(resources_are_read),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(the_form_is_found),
    cmocka_unit_test(limits_hold),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
