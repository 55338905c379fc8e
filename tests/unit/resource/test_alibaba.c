/* test_alibaba.c - clusters from the lists of nodes of Alibaba's traces */
#include "resource/clusters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char openb[] = "sn,cpu_milli,memory_mib,gpu,model\r\n"
                            "n-0,32000,262144,0,\r\n"
                            "n-1,96000,393216,8,V100M32\r\n"
                            "\r\n"
                            "n-2,96000,393216,8,V100M32\r\n";
static const char spec[] = "82e5af3c,T4,96,512,2\n"
                           "92e5af3c,CPU,96,512.0,0\n";

static void node_lists_are_read(void **state)
{
  static const char machines[] =
    "skus:\n  v100m32-8:\n    gpu: v100m32\n    gpus: 8\n    cpus: 96\n"
    "    memory: 384G\n";
  static const struct {
    const char *text, *yaml;
  } cases[] = {
    { openb, "  cpu-32:\n    cpus: 32\n    memory: 256G\n" },
    { openb, machines + 6 },
    { openb, "  - name: n-2\n    sku: v100m32-8\n" },
    { spec, "  t4-2:\n    gpu: t4\n    gpus: 2\n    cpus: 96\n"
            "    memory: 512G\n" },
    { spec, "  cpu-96:\n    cpus: 96\n    memory: 512G\n" },
    { "machine,gpu_type,cap_cpu,cap_mem,cap_gpu\na,T4,1,2,3\n",
      "  t4-3:\n    gpu: t4\n    gpus: 3\n    cpus: 1\n    memory: 2G\n" },
    { "sn,model,gpu,memory_mib,cpu_milli\na,T4,1,1024,1500\n",
      "  t4-1:\n    gpu: t4\n    gpus: 1\n    cpus: 1\n    memory: 1G\n" },
  };

  (void)state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    pai_cluster_view view = { .struct_size = sizeof(view) };
    pai_cluster *c;
    char *text;

    c = test_cluster(cases[i].text, "alibaba");
    text = test_cluster_text(c, 0);
    if (strstr(text, cases[i].yaml) == NULL)
      fail_msg("%s", text);
    assert_int_equal(pai_cluster_view_sums(c, &view), PAI_OK);
    assert_string_equal(view.form, "alibaba");
    free(text);
    pai_cluster_free(c);
  }
}

static void what_is_wrong_is_told(void **state)
{
  (void)state;
  test_cluster_found("sn,cpu_milli,memory_mib,gpu,model\n"
                     "a,1000,1,x,T4\n"
                     "a[1],1000,1,1,T4\n"
                     "b,1000,1\n"
                     "c,1000,1,1,\n",
                     NULL,
                     "wrong-type /1/3 2:10\n"
                     "bad-name /2/0 3:1\n"
                     "wrong-type /3 4:1\n"
                     "bad-name /4/4 5:12\n",
                     "gpu must be a whole number, not 'x'", NULL);
  test_cluster_found("sn,cpu_milli,memory_mib,gpu\na,1,2,3\n", NULL,
                     "missing-key /0 1:1\n", "there is no column 'model'",
                     NULL);
  test_cluster_found("sn,cpu_milli,memory_mib,gpu,model\n"
                     "a,1000,1024,0,\na,1000,1024,0,\n",
                     NULL, "duplicate /2 3:1\n", NULL,
                     "rename one of them, or take it out");
  test_cluster_found("sn,cpu_milli,memory_mib,gpu,model\n", NULL,
                     "no-nodes  1:1\n", "there is no node in it", NULL);
}

static void real_lists_load(void **state)
{
  static const struct {
    const char *file;
    size_t nodes;
  } real[] = { { "openb_node_list_gpu_node.csv", 1213 },
               { "openb_node_list_all_node.csv", 1523 } };
  const char *shared = getenv("OPENPAI_SHARED");
  char path[1024];

  (void)state;
  for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
    pai_cluster_view view = { .struct_size = sizeof(view) };
    pai_cluster *c;

    (void)snprintf(path, sizeof(path), "%s/data/traces/%s",
                   shared != NULL ? shared : SOURCE_DIR "/../shared",
                   real[i].file);
    if (access(path, R_OK) != 0) {
      print_message("SKIPPED: there is no %s\n", path);
      skip();
    }
    assert_int_equal(pai_cluster_load(&c, path, NULL, NULL), PAI_OK);
    assert_int_equal(pai_cluster_view_sums(c, &view), PAI_OK);
    assert_int_equal(view.nodes, real[i].nodes);
    assert_int_equal(view.gpus, 6212);
    pai_cluster_free(c);
  }
}

static int read_list(const pai_alloc *alloc, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *report;
  pai_cluster *c;
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_check(&report, &c, text, strlen(text), &opts, NULL);
  if (rc == PAI_OK)
    assert_non_null(c);
  pai_report_free(report);
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(read_list, (void *)(uintptr_t)openb);
  test_faults(read_list, (void *)(uintptr_t)spec);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(node_lists_are_read),
    cmocka_unit_test(what_is_wrong_is_told),
    cmocka_unit_test(real_lists_load),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
