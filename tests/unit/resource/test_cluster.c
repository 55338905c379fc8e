/* test_cluster.c - views of clusters, limits, descriptions, amounts of memory */
#include "resource/clusters.h"

#include "resource/cluster/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

TEST(views_have_bounds)
{
  pai_cluster *c = test_cluster(lab, "openpai");
  pai_cluster_view sums = { .struct_size = 8 };
  pai_node_view node = { .struct_size = sizeof(node) };
  pai_node_gpu_view gpu = { .struct_size = sizeof(gpu) };
  pai_sku_view sku = { .struct_size = sizeof(sku) };
  pai_vc_view vc = { .struct_size = sizeof(vc) };
  size_t i;

  assert_string_equal(test_node_gpu(c, 3, 1).kind, "v100");
  assert_string_equal(test_node_gpu(c, 3, 3).kind, "mi50");
  assert_ok(pai_cluster_find_node(c, "c1", &i));
  assert_int_equal(i, 4);
  assert_ok(pai_cluster_find_node(c, "dgx10", &i));
  assert_int_equal(i, 1);
  assert_int_equal(pai_cluster_find_node(c, "dgx", &i), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_gpu(c, 3, 6, &gpu), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_node(c, 5, &node), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_sku(c, 3, &sku), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_vc(c, 3, &vc), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_view_sums(c, &sums), PAI_EINVAL);
  pai_cluster_free(c);
}

static void expect_sick(const pai_cluster *c, size_t nodes, size_t gpus,
                        const char *first)
{
  assert_int_equal(test_sums(c).sick_nodes, nodes);
  assert_int_equal(test_sums(c).sick_gpus, gpus);
  if (first != NULL)
    assert_string_equal(test_node_gpu(c, 0, 0).sick, first);
}

TEST(the_sick_get_well)
{
  static const struct {
    size_t node;
    long gpu;
    const char *why;
    size_t nodes, gpus; /* that are sick then */
    const char *first;  /* why the first GPU is */
  } steps[] = {
    { 1, 2, "ECC", 0, 1, NULL },
    { 0, -1, "fan", 1, 5, "fan" },
    { 0, -1, "power", 1, 5, "power" },
    { 0, -1, NULL, 0, 1, NULL },
    { 1, 2, "", 0, 0, NULL },
    { 0, -1, "a\nb\033[31m", 1, 4, "a b [31m" },
  };
  pai_cluster *c = test_synthetic("nodes:2 gpu:4");
  pai_cluster_view v = { .struct_size = sizeof(v) };
  char long_one[256];

  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    assert_ok(
      pai_cluster_set_sick(c, steps[i].node, steps[i].gpu, steps[i].why));
    expect_sick(c, steps[i].nodes, steps[i].gpus, steps[i].first);
  }
  memset(long_one, 'x', sizeof(long_one));
  memcpy(long_one + 252, "\u00e9", 3);
  assert_ok(pai_cluster_set_sick(c, 0, -1, long_one));
  long_one[252] = '\0'; /* not half a character */
  expect_sick(c, 1, 4, long_one);
  assert_int_equal(pai_cluster_set_sick(c, 0, -2, "x"), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_set_sick(c, 2, -1, "x"), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_set_sick(c, 1, 4, "x"), PAI_ENOTFOUND);
  assert_int_equal(pai_cluster_set_sick(NULL, 0, -1, "x"), PAI_EINVAL);
  assert_int_equal(pai_cluster_view_sums(NULL, &v), PAI_EINVAL);
  assert_int_equal(pai_cluster_view_node(c, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_cluster_find_node(c, NULL, NULL), PAI_EINVAL);
  pai_cluster_free(c);
}

TEST(sums_do_not_wrap)
{
  pai_cluster *c = test_synthetic("nodes:20000 mem:1024T");

  assert_true(test_sums(c).memory == INT64_MAX);
  pai_cluster_free(c);
}

/* --- limits --------------------------------------------------------------- */

#define SKU "skus: {s: {gpu: x, gpus: 2}}\n"

TEST(limits_hold)
{
  static const char text[] = SKU "nodes: [{name: 'a[1-10]', sku: s}]\n";
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai_error *err;

  opts.max_bytes = strlen(text) - 1;
  assert_fails(pai_cluster_parse(&c, text, strlen(text), &opts, &err), err,
               PAI_ELIMIT, "bytes");
  opts.form = "yaml";
  assert_fails(pai_cluster_parse(&c, text, strlen(text), &opts, &err), err,
               PAI_EINVAL, "format of clusters 'yaml'");
}

TEST(kinds_have_a_limit)
{
  pai__buf text = test_buf();

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

TEST(bad_descriptions_are_refused)
{
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

TEST(sizes_are_read_and_written)
{
  static const struct {
    const char *text;
    uint64_t size;
    const char *shown;
  } sizes[] = {
    { "0", 0, "0" },
    { "1023", 1023, "1023" },
    { "1K", 1024, "1K" },
    { "64GiB", UINT64_C(64) << 30, "64G" },
    { "64 GB", UINT64_C(64) << 30, "64G" },
    { "1.5T", UINT64_C(3) << 39, "1536G" },
    { "1025B", 1025, "1025" },
    { "2048M", UINT64_C(2) << 30, "2G" },
    { "8191P", UINT64_C(8191) << 50, "8191P" },
  };
  static const char *const none[] = {
    "8192P", "99999999999999999999", "", "G", "1.5", "1Gx", "-1", "1 "
  };
  char text[PAI__SIZE_TEXT];
  uint64_t size;

  for (size_t i = 0; i < PAI__LEN(sizes); i++) {
    assert_true(pai__size_parse(&size, sizes[i].text, strlen(sizes[i].text)));
    assert_int_equal(size, sizes[i].size);
    assert_string_equal(pai__size_text(text, size), sizes[i].shown);
  }
  for (size_t i = 0; i < PAI__LEN(none); i++)
    assert_false(pai__size_parse(&size, none[i], strlen(none[i])));
}

/* --- Alibaba's lists of nodes --------------------------------------------- */

TEST(real_lists_load)
{
  static const struct {
    const char *file;
    size_t nodes;
  } real[] = { { "openb_node_list_gpu_node.csv", 1213 },
               { "openb_node_list_all_node.csv", 1523 } };
  const char *shared = getenv("OPENPAI_SHARED");
  char path[1024];

  for (size_t i = 0; i < PAI__LEN(real); i++) {
    pai_cluster *c;

    (void)snprintf(path, sizeof(path), "%s/data/traces/%s",
                   shared != NULL ? shared : SOURCE_DIR "/../shared",
                   real[i].file);
    if (access(path, R_OK) != 0) {
      print_message("SKIPPED: there is no %s\n", path);
      skip();
    }
    assert_ok(pai_cluster_load(&c, path, NULL, NULL));
    assert_int_equal(test_sums(c).nodes, real[i].nodes);
    assert_int_equal(test_sums(c).gpus, 6212);
    pai_cluster_free(c);
  }
}

/* --- short memory --------------------------------------------------------- */

static int describe(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_synthetic(&c, user_data, &opts, NULL);
  assert_int_equal(c != NULL, rc == PAI_OK);
  pai_cluster_free(c);
  return rc;
}

TEST(no_memory_is_survived)
{
  char synthetic[] = "nodes:5 racks:2 gpu:2:h100";

  test_faults(describe, synthetic);
}
