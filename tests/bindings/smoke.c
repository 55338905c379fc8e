/*
 * smoke.c - the same steps in C, Python and Lua: smoke.c, smoke.py, smoke.lua
 *
 * Usage: smoke ROOT.  Links the installed interface only.
 */
#include "check.h"

#include <openpai/openpai.h>

#include <string.h>

static const char good[] = "protocolVersion: 2\n"
                           "name: smoke\n"
                           "type: job\n"
                           "jobRetryCount: 0\n"
                           "prerequisites:\n"
                           "  - name: none\n"
                           "    type: dockerimage\n"
                           "    uri: none\n"
                           "taskRoles:\n"
                           "  worker:\n"
                           "    instances: 2\n"
                           "    dockerImage: none\n"
                           "    resourcePerInstance:\n"
                           "      cpu: 1\n"
                           "      memoryMB: 16\n"
                           "      gpu: 0\n"
                           "    commands:\n"
                           "      - echo hello\n";

/* The same, but for one word; the same, but for its command. */
static const char *const bad[] = { "instances: 2", "instances: many" };
static const char *const failing[] = { "echo hello", "echo hello; exit 3" };

static char *edit(const char *text, const char *const change[2])
{
  const char *at = strstr(text, change[0]);
  size_t size = strlen(text) + strlen(change[1]) + 1;
  char *edited = malloc(size);

  CHECK(at != NULL && edited != NULL);
  (void)snprintf(edited, size, "%.*s%s%s", (int)(at - text), text, change[1],
                 at + strlen(change[0]));
  return edited;
}

static const char place[] = "taskRoles.worker.instances";

static char written[1000];

static int on_write(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  CHECK(strlen(written) + len < sizeof(written));
  (void)strncat(written, bytes, len);
  return 0;
}

static char output[1000]; /* what both tasks wrote */

static int on_event(void *user_data, const pai_event *event)
{
  size_t len;
  const char *text = pai_event_text(event, &len);

  (void)user_data;
  CHECK(pai_event_job(event) != 0);
  if (pai_event_type(event) == PAI_EVENT_OUTPUT) {
    CHECK(strlen(output) + len < sizeof(output));
    (void)strncat(output, text, len);
  }
  return 0;
}

static int count_bytes(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return 0;
}

/* 11. a machine, a cluster, what is free of it */
static void resources(const char *root)
{
  pai_cluster_draw_options draw = PAI_CLUSTER_DRAW_OPTIONS_INIT;
  pai_topology_summary sums = { .struct_size = sizeof(sums) };
  pai_node_gpu_view gpu = { .struct_size = sizeof(gpu) };
  pai_gpus_options asked = PAI_GPUS_OPTIONS_INIT;
  pai_gpu_mark marks[8] = { { 0, NULL } };
  pai_allocation *free_ones, *mine;
  size_t node, len = 0;
  pai_affinity *near_by;
  pai_topology *machine;
  pai_cluster *cluster;
  pai_gpus *gpus;

  CHECK(pai_topology_synthetic(&machine, "pack:2 core:4 pu:2", NULL, NULL) ==
        PAI_OK);
  CHECK(pai_topology_summarize(machine, &sums) == PAI_OK);
  CHECK(sums.pus == 16 && sums.gpus == 0);
  CHECK(pai_topology_affinity(&near_by, machine, NULL, 0, 1, NULL) == PAI_OK);
  CHECK(strcmp(pai_affinity_get(near_by)->cpus, "0-1") == 0);
  pai_affinity_free(near_by);
  pai_topology_unref(machine);

  CHECK(pai_cluster_synthetic(&cluster, "nodes:2 gpu:4:h100", NULL, NULL) ==
        PAI_OK);
  CHECK(pai_cluster_find_node(cluster, "node0002", &node) == PAI_OK);
  CHECK(pai_cluster_view_gpu(cluster, node, 3, &gpu) == PAI_OK);
  CHECK(strcmp(gpu.kind, "h100") == 0);
  marks[7] = (pai_gpu_mark){ PAI_MARK_USED, "me" };
  draw.format = PAI_FORMAT_SVG;
  draw.marks = marks;
  draw.mark_count = 8;
  CHECK(pai_cluster_draw(cluster, &draw, count_bytes, &len, NULL) == PAI_OK);
  CHECK(len > 0);
  pai_cluster_free(cluster);

  CHECK(pai_allocation_parse(&free_ones, "node 0: gpu 0-3", 15, NULL, NULL) ==
        PAI_OK);
  CHECK(pai_allocation_parse(&mine, "node 0: gpu 1", 13, NULL, NULL) ==
        PAI_OK);
  CHECK(pai_allocation_take(free_ones, mine, NULL) == PAI_OK);
  CHECK(pai_allocation_total(free_ones, PAI_ALLOCATION_GPU) == 3);
  pai_allocation_free(free_ones);
  pai_allocation_free(mine);

  asked.nvml = "";
  asked.root = root;
  CHECK(pai_gpus_new(&gpus, &asked, NULL) == PAI_OK);
  CHECK(pai_gpus_count(gpus) == 0);
  pai_gpus_free(gpus);
}

int main(int argc, char **argv)
{
  pai_platform_options options = PAI_PLATFORM_OPTIONS_INIT;
  pai_report *report;
  pai_draft *draft;
  pai_error *err;
  pai_spec *job;
  int code;
  char *text;

  CHECK(argc == 2);
  options.root = argv[1];
  options.on_event = on_event;

  /* 1. the version */
  CHECK(strchr(pai_version(), '.') != NULL);
  CHECK(pai_version_number() >= PAI_VERSION_NUMBER);

  /* 2. a good job */
  CHECK(pai_spec_parse(&job, good, strlen(good), NULL, &err) == PAI_OK);

  /* 3. what it says */
  CHECK(strcmp(pai_spec_name(job), "smoke") == 0);
  CHECK(pai_spec_retry_count(job) == 0);
  CHECK(pai_spec_task_count(job) == 2);
  CHECK(pai_spec_role_count(job) == 1);
  CHECK(strcmp(pai_spec_role_name(job, 0), "worker") == 0);
  CHECK(pai_spec_role_instances(job, 0) == 2);
  CHECK(pai_spec_role_memory_mb(job, 0) == 16);
  CHECK(strcmp(pai_spec_role_script(job, 0), "echo hello") == 0);

  /* 4. it runs */
  CHECK(pai_run(&code, job, &options, &err) == PAI_STATE_SUCCEEDED);
  CHECK(code == 0);
  CHECK(strcmp(output, "hello\nhello\n") == 0);
  pai_spec_unref(job);

  /* 5. a bad job */
  text = edit(good, bad);
  CHECK(pai_spec_parse(&job, text, strlen(text), NULL, &err) == PAI_EINVAL);
  CHECK(job == NULL);
  CHECK(pai_error_code(err) == PAI_EINVAL);
  CHECK(pai_error_line(err) == 11);
  CHECK(pai_error_column(err) == 16);
  CHECK(strcmp(pai_error_pointer(err), "/taskRoles/worker/instances") == 0);
  CHECK(pai_error_message(err)[0] != '\0');
  pai_error_free(err);

  /* 6. all that is wrong with it */
  CHECK(pai_spec_check(&report, NULL, text, strlen(text), NULL, &err) ==
        PAI_OK);
  CHECK(!pai_report_valid(report));
  CHECK(pai_report_version(report) == 2);
  CHECK(pai_report_count(report) == 1);
  CHECK(pai_report_get(report, 0)->severity == PAI_SEVERITY_ERROR);
  CHECK(strcmp(pai_report_get(report, 0)->code, "wrong-type") == 0);
  CHECK(pai_report_get(report, 0)->line == 11);
  CHECK(pai_report_get(report, 0)->end_column == 20);
  CHECK(strcmp(pai_report_get(report, 0)->source, "    instances: many") == 0);
  pai_report_free(report);

  /* 7. it is mended */
  CHECK(pai_draft_new(&draft, text, strlen(text), NULL, &err) == PAI_OK);
  CHECK(pai_draft_set(draft, place, "2", &err) == PAI_OK);
  CHECK(strcmp(pai_draft_text(draft, NULL), good) == 0);
  CHECK(pai_draft_get(draft, place, on_write, NULL, &err) == PAI_OK);
  CHECK(strcmp(written, "2") == 0);
  CHECK(pai_draft_unset(draft, "jobRetryCount", &err) == PAI_OK);
  CHECK(pai_draft_unset(draft, "jobRetryCount", &err) == PAI_ENOTFOUND);
  pai_error_free(err);
  pai_draft_free(draft);
  free(text);

  /* 8. it is written */
  CHECK(pai_spec_parse(&job, good, strlen(good), NULL, &err) == PAI_OK);
  written[0] = '\0';
  CHECK(pai_spec_write(job, NULL, on_write, NULL, &err) == PAI_OK);
  CHECK(strcmp(written, good) == 0);
  CHECK(pai_spec_unresolved(job, 0) == NULL);
  pai_spec_unref(job);

  /* 9. a job that fails */
  text = edit(good, failing);
  CHECK(pai_spec_parse(&job, text, strlen(text), NULL, &err) == PAI_OK);
  CHECK(pai_run(&code, job, &options, &err) == PAI_STATE_FAILED);
  CHECK(code == 3);
  pai_spec_unref(job);
  free(text);

  /* 10. an error in the callback: C has none */
  resources(argv[1]);
  (void)puts("smoke: good");
  return 0;
}
