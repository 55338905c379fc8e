/*
 * rules_v1.c - tables of job config v1: job-spec 2.1
 *
 * As in Joi 13, a text that is a number counts as one, and null is allowed
 * only where a rule says so.
 */
#include "spec/rules.h"

static const pai__spec_rule text = { .what = "this", .types = PAI__T_STRING };
static const pai__spec_rule image = { .what = "this",
                                      .types = PAI__T_STRING,
                                      .not_empty = true,
                                      .names = PAI__NAMES_IMAGE,
                                      .example = "python:3-slim" };
static const pai__spec_rule command = { .what = "this",
                                        .types = PAI__T_STRING,
                                        .not_empty = true,
                                        .templates = PAI__TEMPLATES_COMMAND,
                                        .example = "python train.py" };
static const pai__spec_rule virtual_cluster = { .what = "this",
                                                .types = PAI__T_STRING,
                                                .names = PAI__NAMES_VC };
static const pai__spec_rule job_name = { .what = "the name of a job",
                                         .types = PAI__T_STRING,
                                         .not_empty = true,
                                         .form = PAI__FORM_V1_JOB,
                                         .example = "my-job" };
static const pai__spec_rule role_name = { .what = "a name",
                                          .types = PAI__T_STRING,
                                          .not_empty = true,
                                          .form = PAI__FORM_SKU,
                                          .names = PAI__NAMES_ROLE,
                                          .declares = true,
                                          .example = "worker" };
static const pai__spec_rule label = { .what = "a name",
                                      .types = PAI__T_STRING,
                                      .not_empty = true,
                                      .form = PAI__FORM_SKU,
                                      .names = PAI__NAMES_PORT,
                                      .declares = true,
                                      .example = "http" };
static const pai__spec_rule integer = { .what = "this",
                                        .types = PAI__T_INT,
                                        .coerced = true };
static const pai__spec_rule unused = {
  .what = "this", .types = PAI__T_INT, .coerced = true, .unused = true
};
static const pai__spec_rule minimum = { .what = "a minimum of tasks",
                                        .types = PAI__T_INT | PAI__T_NULL,
                                        .coerced = true,
                                        .has_min = true,
                                        .min = 1 };
static const pai__spec_rule retries = { .what = "retryCount",
                                        .types = PAI__T_INT,
                                        .coerced = true,
                                        .has_min = true,
                                        .min = -2 };
static const pai__spec_rule any = { .what = "a value", .types = PAI__T_ANY };
static const pai__spec_rule envs = { .what = "jobEnvs",
                                     .types = PAI__T_MAPPING,
                                     .keys = PAI__FORM_HAS_WORD,
                                     .values = &any };
static const pai__spec_rule free_mapping = { .what = "extras",
                                             .types = PAI__T_MAPPING,
                                             .open = true };

static const pai__spec_field port_fields[] = {
  { "label", &label, PAI__NEEDED, "label of the port" },
  { "beginAt", &integer, "0", "first port number; 0: any" },
  { "portNumber", &integer, "1", "how many" },
  { 0 }
};
static const pai__spec_rule port = { .what = "a port",
                                     .types = PAI__T_MAPPING,
                                     .fields = port_fields };
static const pai__spec_rule ports = { .what = "portList",
                                      .types = PAI__T_LIST,
                                      .values = &port };

static const pai__spec_field role_fields[] = {
  { "name", &role_name, PAI__NEEDED, "the role's name" },
  { "taskNumber", &integer, "1", "number of tasks" },
  { "cpuNumber", &integer, "1", "CPUs of each task" },
  { "memoryMB", &integer, "100", "memory of each task in MiB" },
  { "shmMB", &integer, "64", "size of /dev/shm in MiB" },
  { "gpuNumber", &integer, "0", "GPUs of each task" },
  { "portList", &ports, NULL, "ports of each task" },
  { "command", &command, PAI__NEEDED, "command of each task" },
  { "minFailedTaskCount", &minimum, "1",
    "number of failed tasks that fails the job; null: never" },
  { "minSucceededTaskCount", &minimum, NULL,
    "number of succeeded tasks that completes the job; null: all" },
  { 0 }
};
static const pai__spec_rule role = { .what = "a task role",
                                     .types = PAI__T_MAPPING,
                                     .fields = role_fields };
static const pai__spec_rule roles = {
  .what = "taskRoles", .types = PAI__T_LIST, .least = 1, .values = &role
};

static const pai__spec_field job_fields[] = {
  { "jobName", &job_name, PAI__NEEDED, "the job's name" },
  { "image", &image, PAI__NEEDED, "the docker image of all tasks" },
  { "authFile", &text, NULL, "file with registry, user name and password" },
  { "dataDir", &text, NULL, "folder of the data" },
  { "outputDir", &text, NULL, "folder for results" },
  { "codeDir", &text, NULL, "folder of the code" },
  { "virtualCluster", &virtual_cluster, "default",
    "virtual cluster of the job" },
  { "taskRoles", &roles, PAI__NEEDED, "task roles" },
  { "gpuType", &text, NULL, "GPU type of all tasks" },
  { "killAllOnCompletedTaskNumber", &unused, NULL, "not used" },
  { "retryCount", &retries, "0",
    "number of retries of a failed job; -1, -2: unlimited" },
  { "jobEnvs", &envs, NULL, "variables for all tasks" },
  { "extras", &free_mapping, NULL, "for other programs" },
  { 0 }
};
const pai__spec_rule pai__rules_v1 = { .what = "a job config",
                                       .types = PAI__T_MAPPING,
                                       .fields = job_fields };
