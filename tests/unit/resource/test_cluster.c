/* test_cluster.c - our own form of clusters, descriptions, and the model */
#include "resource/clusters.h"

#include "resource/read.h"

#include <stdio.h>
#include <stdlib.h>

static const char lab[] =
  "name: lab\n"
  "gpus:\n"
  "  h100: {memory: 80G, resource: nvidia.com/gpu}\n"
  "skus:\n"
  "  dgx: {gpu: h100, gpus: 8, numa: 2, near: {nvlink: 8}, cpus: 128, memory: "
  "2T,\n"
  "        used: {cpus: 4, memory: 32G}}\n"
  "  mix: {gpu: {v100: 2, mi50: 4}, near: {switch: 2}}\n"
  "  cpu: {cpus: 64}\n"
  "nodes:\n"
  "  - {name: \"dgx[09-10,2]\", sku: dgx, rack: r1, labels: {zone: a}}\n"
  "  - {name: 7, sku: mix, address: 10.0.0.7, rack: r2, pin: p1,\n"
  "     gpus: {3: {sick: hot, uuid: GPU-3}, 5: {number: 9, uuid: GPU-5}}}\n"
  "  - {name: c1, sku: cpu, sick: fan broken, rack: r1}\n"
  "virtualClusters:\n"
  "  a: {cells: {dgx: 1}, pins: [p1]}\n"
  "  b: {cells: [{dgx: 1}, {h100: 2}, {dgx: 0}]}\n"
  "  c:\n";

/* --- reading -------------------------------------------------------------- */

static void nodes_are_read(void **state)
{
  pai_cluster *c = test_cluster(lab, NULL);
  pai_node_view n = { .struct_size = sizeof(n) };
  pai_node_gpu_view g = { .struct_size = sizeof(g) };
  const char *key, *value;
  size_t i;

  (void)state;
  assert_int_equal(pai_cluster_view_node(c, 0, &n), PAI_OK);
  assert_string_equal(n.name, "dgx09");
  assert_string_equal(n.address, "dgx09");
  assert_string_equal(n.rack, "r1");
  assert_null(n.sick);
  assert_int_equal(n.gpus, 8);
  assert_int_equal(n.labels, 1);
  assert_int_equal(pai_cluster_node_label(c, 0, 0, &key, &value), PAI_OK);
  assert_string_equal(key, "zone");
  assert_string_equal(value, "a");
  assert_int_equal(pai_cluster_view_node(c, 2, &n), PAI_OK);
  assert_string_equal(n.name, "dgx2");
  assert_int_equal(pai_cluster_view_node(c, 3, &n), PAI_OK);
  assert_string_equal(n.name, "7");
  assert_string_equal(n.address, "10.0.0.7");
  assert_string_equal(n.rack, "r2");
  assert_string_equal(n.pin, "p1");
  assert_int_equal(pai_cluster_view_gpu(c, 3, 1, &g), PAI_OK);
  assert_string_equal(g.kind, "v100");
  assert_int_equal(pai_cluster_view_gpu(c, 3, 3, &g), PAI_OK);
  assert_string_equal(g.kind, "mi50");
  assert_string_equal(g.uuid, "GPU-3");
  assert_string_equal(g.sick, "hot");
  assert_int_equal(g.number, 3);
  assert_int_equal(pai_cluster_view_gpu(c, 3, 5, &g), PAI_OK);
  assert_int_equal(g.number, 9);
  assert_int_equal(pai_cluster_view_gpu(c, 3, 6, &g), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_node(c, 5, &n), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_find_node(c, "c1", &i), PAI_OK);
  assert_int_equal(i, 4);
  assert_int_equal(pai_cluster_find_node(c, "dgx10", &i), PAI_OK);
  assert_int_equal(i, 1);
  assert_int_equal(pai_cluster_find_node(c, "dgx", &i), PAI_ENOTFOUND);
  pai_cluster_free(c);
}

static void skus_and_sums_are_read(void **state)
{
  pai_cluster *c = test_cluster(lab, "openpai");
  pai_sku_view s = { .struct_size = sizeof(s) };
  const char *name;
  uint32_t gpus;
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(pai_cluster_view_sku(c, 0, &s), PAI_OK);
  assert_string_equal(s.name, "dgx");
  assert_int_equal(s.nodes, 3);
  assert_int_equal(s.gpus, 8);
  assert_string_equal(s.gpu, "h100");
  assert_int_equal(s.gpu_memory, UINT64_C(80) << 30);
  assert_int_equal(s.numa, 2);
  assert_int_equal(s.near, 1);
  assert_int_equal(pai_cluster_sku_near(c, 0, 0, &name, &gpus), PAI_OK);
  assert_string_equal(name, "nvlink");
  assert_int_equal(gpus, 8);
  assert_int_equal(pai_cluster_sku_near(c, 0, 1, &name, &gpus), PAI_ENOTFOUND);
  assert_int_equal(s.memory, UINT64_C(2) << 40);
  assert_int_equal(s.used_cpus, 4);
  assert_int_equal(s.used_memory, UINT64_C(32) << 30);
  assert_int_equal(pai_cluster_view_sku(c, 1, &s), PAI_OK);
  assert_int_equal(s.gpus, 6);
  assert_null(s.gpu);
  assert_int_equal(s.near, 1);
  assert_int_equal(s.numa, 1);
  assert_int_equal(pai_cluster_view_sku(c, 3, &s), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_string_equal(v.name, "lab");
  assert_string_equal(v.form, "openpai");
  assert_int_equal(v.nodes, 5);
  assert_int_equal(v.gpus, 30);
  assert_int_equal(v.racks, 2);
  assert_int_equal(v.skus, 3);
  assert_int_equal(v.virtual_clusters, 3);
  assert_int_equal(v.sick_nodes, 1);
  assert_int_equal(v.sick_gpus, 1);
  assert_int_equal(v.cpus, 3 * 128 + 64);
  assert_int_equal(v.memory, UINT64_C(6) << 40);
  v.struct_size = 8;
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_EINVAL);
  pai_cluster_free(c);
}

static void shares_keep_their_order(void **state)
{
  static const struct {
    const char *cells, *pin;
    size_t vc, share, count;
  } want[] = {
    { "dgx-rack.dgx", NULL, 0, 0, 1 }, { NULL, "p1", 0, 1, 1 },
    { "dgx-rack.dgx", NULL, 1, 0, 1 }, { "dgx-rack.h100", NULL, 1, 1, 2 },
    { "dgx-rack.dgx", NULL, 1, 2, 0 },
  };
  pai_cluster *c = test_cluster(lab, NULL);
  pai_vc_view vc = { .struct_size = sizeof(vc) };
  pai_share_view s = { .struct_size = sizeof(s) };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(want); i++) {
    assert_int_equal(pai_cluster_view_share(c, want[i].vc, want[i].share, &s),
                     PAI_OK);
    assert_int_equal(s.count, want[i].count);
    assert_int_equal(s.cells == NULL, want[i].cells == NULL);
    assert_int_equal(s.pin == NULL, want[i].pin == NULL);
    assert_string_equal(s.cells != NULL ? s.cells : s.pin,
                        want[i].cells != NULL ? want[i].cells : want[i].pin);
  }
  assert_int_equal(pai_cluster_view_vc(c, 2, &vc), PAI_OK);
  assert_string_equal(vc.name, "c");
  assert_int_equal(vc.shares, 0);
  assert_int_equal(pai_cluster_view_vc(c, 3, &vc), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_share(c, 0, 2, &s), PAI_ENOTFOUND);
  pai_cluster_free(c);
}

static void what_is_written_is_read_again(void **state)
{
  pai_cluster *c = test_cluster(lab, NULL), *again;
  char *yaml = test_cluster_text(c, PAI_FORMAT_YAML), *json, *twice;

  (void)state;
  again = test_cluster(yaml, NULL);
  json = test_cluster_text(again, PAI_FORMAT_JSON);
  pai_cluster_free(again);
  again = test_cluster(json, NULL);
  twice = test_cluster_text(again, 0);
  assert_string_equal(yaml, twice);
  assert_non_null(strstr(yaml, "sick: fan broken"));
  pai_cluster_free(again);
  pai_cluster_free(c);
  free(yaml);
  free(json);
  free(twice);
}

static void the_sick_get_well(void **state)
{
  pai_cluster *c = test_synthetic("nodes:2 gpu:4");
  pai_cluster_view v = { .struct_size = sizeof(v) };
  pai_node_gpu_view g = { .struct_size = sizeof(g) };
  char long_one[256];

  (void)state;
  assert_int_equal(pai_cluster_set_sick(c, 1, 2, "ECC"), PAI_OK);
  assert_int_equal(pai_cluster_set_sick(c, 0, -1, "fan"), PAI_OK);
  assert_int_equal(pai_cluster_set_sick(c, 0, -1, "power"), PAI_OK);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_int_equal(v.sick_nodes, 1);
  assert_int_equal(v.sick_gpus, 5);
  assert_int_equal(pai_cluster_view_gpu(c, 0, 0, &g), PAI_OK);
  assert_string_equal(g.sick, "power");
  assert_int_equal(pai_cluster_set_sick(c, 0, -1, NULL), PAI_OK);
  assert_int_equal(pai_cluster_set_sick(c, 1, 2, ""), PAI_OK);
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_int_equal(v.sick_nodes + v.sick_gpus, 0);
  assert_int_equal(pai_cluster_set_sick(c, 0, -1, "a\nb\033[31m"), PAI_OK);
  assert_int_equal(pai_cluster_view_gpu(c, 0, 0, &g), PAI_OK);
  assert_string_equal(g.sick, "a b [31m");
  memset(long_one, 'x', sizeof(long_one));
  memcpy(long_one + 252, "\u00e9", 3);
  assert_int_equal(pai_cluster_set_sick(c, 0, -1, long_one), PAI_OK);
  assert_int_equal(pai_cluster_view_gpu(c, 0, 0, &g), PAI_OK);
  assert_int_equal(strlen(g.sick), 252); /* not half a character */
  assert_int_equal(pai_cluster_set_sick(c, 0, -2, "x"), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_set_sick(NULL, 0, -1, "x"), PAI_EINVAL);
  assert_int_equal(pai_cluster_view_sums(NULL, &v), PAI_EINVAL);
  assert_int_equal(pai_cluster_view_node(c, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_cluster_find_node(c, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_cluster_set_sick(c, 2, -1, "x"), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_set_sick(c, 1, 4, "x"), PAI_ENOTFOUND);
  pai_cluster_free(c);
}

static void sums_do_not_wrap(void **state)
{
  pai_cluster *c = test_synthetic("nodes:20000 mem:1024T");
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(pai_cluster_view_sums(c, &v), PAI_OK);
  assert_true(v.memory == INT64_MAX);
  pai_cluster_free(c);
}

/* --- what is wrong -------------------------------------------------------- */

#define SKU "skus: {s: {gpu: x, gpus: 2}}\n"

static const struct {
  const char *text, *list, *says, *help;
} faults[] = {
  { SKU "nodes: [{name: a, sku: s}, {name: a, sku: s}]\n",
    "duplicate /nodes/1 2:28\n", "node 'a' is there already, at line 2",
    "rename" },
  { SKU "nodes: [{name: b, sku: s}, {name: a, sku: s}, {name: b, sku: s},\n"
        "  {name: 'a', sku: s}, {name: a, sku: s}]\n",
    "duplicate /nodes/2 2:47\nduplicate /nodes/3 3:3\n"
    "duplicate /nodes/4 3:24\n",
    "node 'b' is there already, at line 2", "rename" },
  { SKU "nodes: [{name: a, sku: s, address: x}, {name: b, sku: s, address: y}"
        ",\n  {name: c, sku: s, address: x}, {name: d, sku: s, address: x},\n"
        "  {name: y, sku: s}]\n",
    "?same-address /nodes/2 3:3\n?same-address /nodes/4 4:3\n",
    "node 'c' has the address 'x' of 'a', at line 2, and 1 more", "twice" },
  { SKU "nodes: [{name: 'a[1-9]', sku: s, address: x}]\n",
    "?same-address /nodes/0 2:9\n",
    "node 'a2' has the address 'x' of 'a1', at line 2, and 7 more", "twice" },
  { SKU "nodes: [{name: b, sku: s, gpus: {0: {uuid: U}, 1: {uuid: V}}},\n"
        "  {name: a, sku: s, gpus: {0: {uuid: V}, 1: {uuid: U}}}]\n",
    "?same-uuid /nodes/1 3:3\n",
    "GPU 1 of 'a' has the UUID 'U' of GPU 0 of 'b', at line 2", "twice" },
  { SKU "nodes: [{name: b, sku: s},\n"
        "  {name: a, sku: s, gpus: {0: {uuid: V}, 1: {uuid: V}}}]\n",
    "duplicate /nodes/1 3:3\n", "GPUs 0 and 1 of 'a' have the same UUID 'V'",
    "two jobs" },
  { SKU "nodes: [{name: a, sku: t}]\n", "unknown-sku /nodes/0/sku 2:24\n",
    "no SKU 't'", "the SKUs of this file: s" },
  { SKU "nodes: [{nam: a, sku: s}]\n",
    "missing-key /nodes/0 2:9\nunknown-key /nodes/0/nam 2:10\n",
    "a node needs 'name'", NULL },
  { SKU "nodes: [{name: a, sku: s, skuu: s}]\n",
    "unknown-key /nodes/0/skuu 2:27\n", "a node has no field 'skuu'",
    "did you mean 'sku'?" },
  { SKU "nodes: [{name: 'a[1-', sku: s}]\n", "bad-range /nodes/0/name 2:16\n",
    "brackets", "node[01-16,20]" },
  { SKU "nodes: [{name: 'a[3-1]', sku: s}]\n",
    "bad-range /nodes/0/name 2:16\n", NULL, "node[01-16,20]" },
  { SKU "nodes: [{name: a, sku: s, gpus: {2: {}}}]\n",
    "unknown-gpu /nodes/0/gpus/2 2:34\n", "no such GPU", "0 to 1" },
  { "skus: {c: {}}\nnodes: [{name: a, sku: c, gpus: {0: {}}}]\n",
    "unknown-gpu /nodes/0/gpus/0 2:34\n", "no such GPU", "it has none" },
  { SKU "nodes: {a: 1}\n", "wrong-type /nodes 2:8\n",
    "nodes must be a list, not a mapping", NULL },
  { SKU "nodes: [1]\n", "wrong-type /nodes/0 2:9\n",
    "a node must be a mapping, not 1", NULL },
  { SKU "nodes: []\n", "no-nodes  1:1\n", "no node", NULL },
  { "skus: {s: {gpu: x, gpus: 5000}}\nnodes: [{name: a, sku: s}]\n",
    "too-large /skus/s/gpus 1:26\n", "gpus cannot be 5000", "from 0 to 4096" },
  { "skus: {s: {memory: 8Q}}\nnodes: [{name: a, sku: s}]\n",
    "bad-size /skus/s/memory 1:20\n", "memory cannot be '8Q'", "64G" },
  { "skus: {s: {memory: 1025T}}\nnodes: [{name: a, sku: s}]\n",
    "too-large /skus/s/memory 1:20\n", "more memory than any machine", NULL },
  { "skus: {s: {cpus: 1.5}}\nnodes: [{name: a, sku: s}]\n",
    "wrong-type /skus/s/cpus 1:18\n", "a whole number, not 1.5", NULL },
  { SKU "nodes: [{name: \"a\\nb\", sku: s}]\n",
    "bad-name /nodes/0/name 2:16\n", "one line", NULL },
  { SKU "nodes: [{name: a, sku: s}]\nvirtualClusters: {v: {cells: [3]}}\n",
    "wrong-type /virtualClusters/v/cells/0 3:31\n", "must be a mapping",
    NULL },
  { SKU "nodes: [{name: a, sku: s}]\nvirtualClusters: {v: {cells: {s: -1}}}\n",
    "too-small /virtualClusters/v/cells/s 3:34\n", "cannot be -1", "from 0" },
  { SKU "nodes: [{name: a/b, sku: s}]\n", "bad-name /nodes/0 2:9\n",
    "cannot be called 'a/b'", "no /" },
  { SKU "nodes: [{name: a, sku: s, gpus: {0: {number: 1}}}]\n",
    "duplicate /nodes/0/gpus 2:33\n", "two GPUs of 'a' have number 1",
    "that of its place" },
  { SKU "nodes: [{name: a, sku: s, gpus: {\"\": {}, \"00\": {}}}]\n",
    "unknown-gpu /nodes/0/gpus/ 2:34\nunknown-gpu /nodes/0/gpus/00 2:42\n",
    "no such GPU", "0 to 1" },
  { "skus: {p4d.24xlarge: {gpu: x, gpus: 2}}\nnodes: [{name: a, sku: s}]\n",
    "bad-name /skus/p4d.24xlarge 1:8\nunknown-sku /nodes/0/sku 2:24\n",
    "cannot have '.' or '/'", "write - instead" },
  { "skus: {s: {gpu: x}}\nnodes: [{name: a, sku: s}]\n",
    "missing-key /skus/s/gpu 1:17\n", "needs 'gpus'", "gpus: 8" },
  { "skus: {s: {gpu: {x: 1}, gpus: 2}}\nnodes: [{name: a, sku: s}]\n",
    "wrong-type /skus/s/gpus 1:31\n", "of one kind", NULL },
  { "skus: {s: {gpu: {x: 4000, y: 97}}}\nnodes: [{name: a, sku: s}]\n",
    "too-large /skus/s/gpu/y 1:27\n", "more than 4096 GPUs", NULL },
  { "skus: {s: {cpus: 8, used: {cpus: 9}}}\nnodes: [{name: a, sku: s}]\n",
    "too-large /skus/s/used 1:27\n", "more is used", NULL },
  { "skus: {s: {gpu: x, gpus: 8, numa: 3, near: {switch: 3, nvlink: 8}}}\n"
    "nodes: [{name: a, sku: s}]\n",
    "?odd-group /skus/s/numa 1:35\n?odd-group /skus/s/near 1:44\n",
    "over 3 NUMA nodes", "will not tell" },
  { "a: 1\n", "unknown-form  1:1\n", "no cluster that we know", "'nodes'" },
  { "", "unknown-form  1:1\n", "the text is empty", "'nodes'" },
  { "nodes: [", "syntax  1:9\n", NULL, NULL },
  { "{\"nodes\": [}", "syntax  1:12\n", NULL, "a value" },
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
  static const char text[] = SKU "nodes: [{name: 'a[1-10]', sku: s}]\n";
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  (void)state;
  opts.max_nodes = 10;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), &opts, &err),
                   PAI_OK);
  pai_cluster_free(c);
  opts.max_nodes = 9;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), &opts, &err),
                   PAI_ELIMIT);
  assert_null(c);
  test_expect_error(err, PAI_ELIMIT, "more than 9 nodes");
  opts.max_bytes = strlen(text) - 1;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), &opts, &err),
                   PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "bytes");
  opts.form = "yaml";
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), &opts, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "no form 'yaml'");
}

static void kinds_have_a_limit(void **state)
{
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_str(&text, SKU "nodes: [{name: a, sku: s}]\ngpus:\n");
  for (int i = 1; i < PAI__MAX_KINDS; i++) /* and x */
    pai__buf_printf(&text, "  k%d: {}\n", i);
  test_cluster_found(pai__buf_text(&text), NULL, "", NULL, NULL);
  pai__buf_str(&text, "  last: {}\n");
  test_cluster_found(pai__buf_text(&text), NULL, "limit /skus/s/gpu 1:17\n",
                     "more than 4096 kinds", NULL);
  pai__buf_dispose(&text);
}

/* --- descriptions --------------------------------------------------------- */

static void descriptions_make_clusters(void **state)
{
  pai_cluster *c =
    test_synthetic("racks:2 nodes:5 gpu:8:h100 numa:2 mem:1T cpus:96 link:8");
  pai_cluster *small = test_synthetic("nodes:4 gpu:8");
  char *text = test_cluster_text(c, 0);
  pai_cluster_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_string_equal(text, "skus:\n"
                            "  h100-node:\n"
                            "    gpu: h100\n"
                            "    gpus: 8\n"
                            "    numa: 2\n"
                            "    near:\n"
                            "      link: 8\n"
                            "    cpus: 96\n"
                            "    memory: '1T'\n"
                            "nodes:\n"
                            "  - name: node0001\n"
                            "    sku: h100-node\n"
                            "    rack: rack01\n"
                            "  - name: node0002\n"
                            "    sku: h100-node\n"
                            "    rack: rack01\n"
                            "  - name: node0003\n"
                            "    sku: h100-node\n"
                            "    rack: rack01\n"
                            "  - name: node0004\n"
                            "    sku: h100-node\n"
                            "    rack: rack02\n"
                            "  - name: node0005\n"
                            "    sku: h100-node\n"
                            "    rack: rack02\n");
  assert_int_equal(pai_cluster_view_sums(small, &v), PAI_OK);
  assert_int_equal(v.gpus, 32);
  assert_int_equal(v.racks, 0);
  free(text);
  pai_cluster_free(small);
  pai_cluster_free(c);
}

static const struct {
  const char *text;
  int code;
  uint32_t column;
  const char *says;
} bad_descriptions[] = {
  { "nodes:0", PAI_EINVAL, 1, "cannot be 0" },
  { "nods:3", PAI_EINVAL, 1, "'nods:3' is no word" },
  { "nodes:3 gpu:x", PAI_EINVAL, 9, "has no number, or no kind" },
  { "nodes:3 gpu:8:", PAI_EINVAL, 9, "has no number" },
  { "nodes:3 gpu:8:a:b", PAI_EINVAL, 9, "has no number" },
  { "nodes:3 gpu:8:a.b", PAI_EINVAL, 9, "number, or no kind" },
  { "nodes:3 gpu:8:\xff", PAI_EINVAL, 9, "number, or no kind" },
  { "nodes:3x", PAI_EINVAL, 1, "has no number" },
  { "nodes:", PAI_EINVAL, 1, "has no number" },
  { "gpu:8", PAI_EINVAL, 1, "how many nodes" },
  { "", PAI_EINVAL, 1, "how many nodes" },
  { "nodes:2 mem:1X", PAI_EINVAL, 9, "amount of memory" },
  { "nodes:2 mem:1025T", PAI_EINVAL, 9, "amount of memory" },
  { "nodes:2 nodes:3", PAI_EINVAL, 9, "twice" },
  { "nodes:100001", PAI_ELIMIT, 1, "more than 100000" },
  { "nodes:99999999999999999999", PAI_ELIMIT, 1,
    "'nodes:99999999999999999999' is more than 100000" },
  { "nodes:1, cpus:4294967297", PAI_ELIMIT, 10, "more than 1048576" },
  { "nodes:4 racks:5", PAI_EINVAL, 9, "'racks:5' is more than there are" },
  { "link:2 nodes:4 gpu:8,,switch:3", PAI_EINVAL, 23, "'switch:3' does not" },
  { "nodes:4\tlink:16 gpu:8", PAI_EINVAL, 9, "'link:16' does not part" },
  { "switch:4 nodes:4", PAI_EINVAL, 1, "'switch:4' does not part" },
  { "nodes:100000 gpu:4096", PAI_ELIMIT, 0, "more than 1048576 GPUs" },
};

static void bad_descriptions_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(bad_descriptions); i++) {
    pai_error *err;
    pai_cluster *c;
    int rc = pai_cluster_synthetic(&c, bad_descriptions[i].text, NULL, &err);

    assert_int_equal(rc, bad_descriptions[i].code);
    assert_null(c);
    assert_int_equal(pai_error_column(err), bad_descriptions[i].column);
    test_expect_error(err, rc, bad_descriptions[i].says);
  }
}

/* --- sizes ---------------------------------------------------------------- */

static void sizes_are_read_and_written(void **state)
{
  static const struct {
    const char *text;
    uint64_t size;
    const char *shown; /* NULL: it is none */
  } sizes[] = {
    { "0", 0, "0" },
    { "1023", 1023, "1023" },
    { "1K", 1024, "1K" },
    { "64G", UINT64_C(64) << 30, "64G" },
    { "64GiB", UINT64_C(64) << 30, "64G" },
    { "64 GB", UINT64_C(64) << 30, "64G" },
    { "1.5T", UINT64_C(3) << 39, "1536G" },
    { "1025B", 1025, "1025" },
    { "2048M", UINT64_C(2) << 30, "2G" },
    { "8191P", UINT64_C(8191) << 50, "8191P" },
    { "8192P", 0, NULL },
    { "99999999999999999999", 0, NULL },
    { "", 0, NULL },
    { "G", 0, NULL },
    { "1.5", 0, NULL },
    { "1Gx", 0, NULL },
    { "-1", 0, NULL },
    { "1 ", 0, NULL },
  };
  char text[PAI__SIZE_TEXT];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(sizes); i++) {
    uint64_t size = 7;
    bool good = pai__size_parse(&size, sizes[i].text, strlen(sizes[i].text));

    assert_int_equal(good, sizes[i].shown != NULL);
    if (!good)
      continue;
    assert_int_equal(size, sizes[i].size);
    assert_string_equal(pai__size_text(text, size), sizes[i].shown);
  }
}

/* --- short memory --------------------------------------------------------- */

static int read_and_write(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_cluster *c;
  int rc;

  opts.alloc = alloc;
  rc = strncmp(text, "nodes:", 6) == 0
         ? pai_cluster_synthetic(&c, text, &opts, NULL)
         : pai_cluster_parse(&c, text, strlen(text), &opts, NULL);
  if (rc < 0) {
    assert_null(c);
    return rc;
  }
  rc = pai_cluster_set_sick(c, 0, 0, "hot");
  if (rc == PAI_OK) {
    pai_node_gpu_view g = { .struct_size = sizeof(g) };

    assert_int_equal(pai_cluster_view_gpu(c, 0, 0, &g), PAI_OK);
    assert_string_equal(g.sick, "hot");
  }
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  char synthetic[] = "nodes:5 racks:2 gpu:2:h100";

  (void)state;
  test_faults(read_and_write, (void *)(uintptr_t)lab);
  test_faults(read_and_write, synthetic);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nodes_are_read),
    cmocka_unit_test(skus_and_sums_are_read),
    cmocka_unit_test(shares_keep_their_order),
    cmocka_unit_test(what_is_written_is_read_again),
    cmocka_unit_test(the_sick_get_well),
    cmocka_unit_test(sums_do_not_wrap),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(limits_hold),
    cmocka_unit_test(kinds_have_a_limit),
    cmocka_unit_test(descriptions_make_clusters),
    cmocka_unit_test(bad_descriptions_are_refused),
    cmocka_unit_test(sizes_are_read_and_written),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
