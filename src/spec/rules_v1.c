/*
 * rules_v1.c - job config v1: job-spec 2.1
 *
 * What Joi 13 does is kept: a text that is a number counts as one, and null
 * is no value but where it says so.
 */
#include "spec/rules.h"

static const pai__rule full_text = { .what = "this",
                                     .types = PAI__T_STRING,
                                     .not_empty = true };
static const pai__rule text = { .what = "this", .types = PAI__T_STRING };
static const pai__rule job_name = { .what = "the name of a job",
                                    .types = PAI__T_STRING,
                                    .not_empty = true,
                                    .form = PAI__FORM_V1_JOB };
static const pai__rule name = { .what = "a name",
                                .types = PAI__T_STRING,
                                .not_empty = true,
                                .form = PAI__FORM_SKU };
static const pai__rule integer = { .what = "this",
                                   .types = PAI__T_INT,
                                   .coerced = true };
static const pai__rule minimum = { .what = "a minimum of tasks",
                                   .types = PAI__T_INT | PAI__T_NULL,
                                   .coerced = true,
                                   .has_min = true,
                                   .min = 1 };
static const pai__rule retries = { .what = "retryCount",
                                   .types = PAI__T_INT,
                                   .coerced = true,
                                   .has_min = true,
                                   .min = -2 };
static const pai__rule any = { .what = "a value", .types = PAI__T_ANY };
static const pai__rule envs = { .what = "jobEnvs",
                                .types = PAI__T_MAPPING,
                                .keys = PAI__FORM_HAS_WORD,
                                .values = &any };
static const pai__rule free_mapping = { .what = "extras",
                                        .types = PAI__T_MAPPING,
                                        .open = true };

static const pai__field port_fields[] = {
  { "label", &name, PAI__NEEDED, "what the port is for" },
  { "beginAt", &integer, "0", "the first port; 0: any" },
  { "portNumber", &integer, "1", "how many" },
  { 0 }
};
static const pai__rule port = { .what = "a port",
                                .types = PAI__T_MAPPING,
                                .fields = port_fields };
static const pai__rule ports = { .what = "portList",
                                 .types = PAI__T_LIST,
                                 .values = &port };

static const pai__field role_fields[] = {
  { "name", &name, PAI__NEEDED, "the role's name" },
  { "taskNumber", &integer, "1", "how many tasks" },
  { "cpuNumber", &integer, "1", "CPUs of each task" },
  { "memoryMB", &integer, "100", "memory of each task in MiB" },
  { "shmMB", &integer, "64", "size of /dev/shm in MiB" },
  { "gpuNumber", &integer, "0", "GPUs of each task" },
  { "portList", &ports, NULL, "ports of each task" },
  { "command", &full_text, PAI__NEEDED, "what each task runs" },
  { "minFailedTaskCount", &minimum, "1",
    "so many failed tasks fail the job; null: never" },
  { "minSucceededTaskCount", &minimum, NULL,
    "so many succeeded tasks end the job well; null: all" },
  { 0 }
};
static const pai__rule role = { .what = "a task role",
                                .types = PAI__T_MAPPING,
                                .fields = role_fields };
static const pai__rule roles = {
  .what = "taskRoles", .types = PAI__T_LIST, .least = 1, .values = &role
};

static const pai__field job_fields[] = {
  { "jobName", &job_name, PAI__NEEDED, "the job's name" },
  { "image", &full_text, PAI__NEEDED, "the docker image of all tasks" },
  { "authFile", &text, NULL, "file with registry, user name, password" },
  { "dataDir", &text, NULL, "folder of the data" },
  { "outputDir", &text, NULL, "folder for results" },
  { "codeDir", &text, NULL, "folder of the code" },
  { "virtualCluster", &text, "default", "where it queues" },
  { "taskRoles", &roles, PAI__NEEDED, "the tasks, by role" },
  { "gpuType", &text, NULL, "kind of GPU of all tasks" },
  { "killAllOnCompletedTaskNumber", &integer, NULL, "not acted on" },
  { "retryCount", &retries, "0",
    "how often a failed job is tried again; -1, -2: always" },
  { "jobEnvs", &envs, NULL, "variables for all tasks" },
  { "extras", &free_mapping, NULL, "for other programs" },
  { 0 }
};
const pai__rule pai__rules_v1 = { .what = "a job config",
                                  .types = PAI__T_MAPPING,
                                  .fields = job_fields };
