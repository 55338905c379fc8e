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
  { "label", &name, true, "what the port is for" },
  { "beginAt", &integer, false, "the first port; 0: any; default 0" },
  { "portNumber", &integer, false, "how many; default 1" },
  { 0 }
};
static const pai__rule port = { .what = "a port",
                                .types = PAI__T_MAPPING,
                                .fields = port_fields };
static const pai__rule ports = { .what = "portList",
                                 .types = PAI__T_LIST,
                                 .values = &port };

static const pai__field role_fields[] = {
  { "name", &name, true, "the role's name" },
  { "taskNumber", &integer, false, "how many tasks; default 1" },
  { "cpuNumber", &integer, false, "CPUs of each task; default 1" },
  { "memoryMB", &integer, false, "memory of each task in MiB; default 100" },
  { "shmMB", &integer, false, "size of /dev/shm in MiB; default 64" },
  { "gpuNumber", &integer, false, "GPUs of each task; default 0" },
  { "portList", &ports, false, "ports of each task" },
  { "command", &full_text, true, "what each task runs" },
  { "minFailedTaskCount", &minimum, false,
    "so many failed tasks fail the job; null: never; default 1" },
  { "minSucceededTaskCount", &minimum, false,
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
  { "jobName", &job_name, true, "the job's name" },
  { "image", &full_text, true, "the docker image of all tasks" },
  { "authFile", &text, false, "file with registry, user name, password" },
  { "dataDir", &text, false, "folder of the data" },
  { "outputDir", &text, false, "folder for results" },
  { "codeDir", &text, false, "folder of the code" },
  { "virtualCluster", &text, false, "where it queues; default default" },
  { "taskRoles", &roles, true, "the tasks, by role" },
  { "gpuType", &text, false, "kind of GPU of all tasks" },
  { "killAllOnCompletedTaskNumber", &integer, false, "not acted on" },
  { "retryCount", &retries, false,
    "how often a failed job is tried again; -1, -2: always; default 0" },
  { "jobEnvs", &envs, false, "variables for all tasks" },
  { "extras", &free_mapping, false, "for other programs" },
  { 0 }
};
const pai__rule pai__rules_v1 = { .what = "a job config",
                                  .types = PAI__T_MAPPING,
                                  .fields = job_fields };
