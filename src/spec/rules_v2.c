/* rules_v2.c - job protocol v2: job-spec 1.2 to 1.6, 1.8 */
#include "spec/rules.h"

static const char *const version_words[] = { "2", NULL };
static const char *const job_words[] = { "job", NULL };
static const char *const class_words[] = { "prod", "test", "oppo", NULL };

static const pai__rule any = { .what = "a value", .types = PAI__T_ANY };
static const pai__rule never = { .what = "this", .never = true };
static const pai__rule text = { .what = "this", .types = PAI__T_STRING };
static const pai__rule texts = { .what = "this",
                                 .types = PAI__T_LIST,
                                 .values = &text };
static const pai__rule free_mapping = { .what = "this",
                                        .types = PAI__T_MAPPING,
                                        .open = true };
static const pai__rule version = { .what = "the protocol's version",
                                   .types = PAI__T_STRING | PAI__T_INT,
                                   .words = version_words };
static const pai__rule any_version = { .what = "a version",
                                       .types =
                                         PAI__T_STRING | PAI__T_NUMBER };
static const pai__rule name = { .what = "a name",
                                .types = PAI__T_STRING,
                                .form = PAI__FORM_JOB,
                                .longest = 255 };
static const pai__rule integer = { .what = "this", .types = PAI__T_INT };
static const pai__rule count = { .what = "a count",
                                 .types = PAI__T_INT,
                                 .has_min = true };
static const pai__rule positive = {
  .what = "a count", .types = PAI__T_INT, .has_min = true, .min = 1
};
static const pai__rule minimum = { .what = "a minimum of instances",
                                   .types = PAI__T_INT | PAI__T_NULL };
static const pai__rule yes_no = { .what = "this", .types = PAI__T_ANY };

/* --- prerequisites -------------------------------------------------------- */

static const pai__field auth_fields[] = {
  { "username", &text, false, "user name at the registry" },
  { "password", &text, false, "its password: use <% $secrets.NAME %>" },
  { "registryuri", &text, false,
    "the registry; Docker Hub when it is missing" },
  { 0 }
};
static const pai__rule auth = { .what = "the account of a registry",
                                .types = PAI__T_MAPPING,
                                .open = true,
                                .fields = auth_fields,
                                .values = &text };

#define COMMON_FIELDS(type_rule)                                          \
  { "protocolVersion", &version, false, "2" },                            \
    { "name", &name, true, "what task roles call it" },                   \
    { "type", (type_rule), true, "dockerimage, script, output or data" }, \
    { "version", &any_version, false, "any version of it" },              \
    { "contributor", &text, false, "who made it" },                       \
  {                                                                       \
    "description", &text, false, "what it is"                             \
  }

static const pai__field image_fields[] = {
  COMMON_FIELDS(&text),
  { "uri", &text, true, "the image, as docker pull takes it" },
  { "auth", &auth, false, "how to log in where the image is" },
  { 0 }
};
#define PLUGIN_FIELDS                                             \
  { "plugin", &text, false, "runtime plugin that fetches it" },   \
  {                                                               \
    "require", &texts, false, "other prerequisites; not acted on" \
  }

static const pai__field script_fields[] = { COMMON_FIELDS(&text),
                                            { "uri", &text, false,
                                              "where it is" },
                                            PLUGIN_FIELDS,
                                            { 0 } };
static const pai__field data_fields[] = { COMMON_FIELDS(&text),
                                          { "uri", &texts, false,
                                            "where it is: a list" },
                                          PLUGIN_FIELDS,
                                          { 0 } };
static const pai__rule image = { .what = "a docker image",
                                 .types = PAI__T_MAPPING,
                                 .fields = image_fields };
static const pai__rule script = { .what = "a script or output",
                                  .types = PAI__T_MAPPING,
                                  .open = true,
                                  .fields = script_fields };
static const pai__rule data = { .what = "a set of data",
                                .types = PAI__T_MAPPING,
                                .open = true,
                                .fields = data_fields };
static const pai__shape shapes[] = { { "dockerimage", &image },
                                     { "script", &script },
                                     { "output", &script },
                                     { "data", &data },
                                     { 0 } };
static const pai__rule prerequisite = { .what = "a prerequisite",
                                        .types = PAI__T_MAPPING,
                                        .shapes = shapes };
static const pai__rule prerequisites = { .what = "prerequisites",
                                         .types = PAI__T_LIST,
                                         .least = 1,
                                         .values = &prerequisite };

/* --- task roles ------------------------------------------------------------ */

static const pai__field completion_fields[] = {
  { "minFailedInstances", &minimum, false,
    "so many failed tasks fail the job; -1: never; default 1" },
  { "minSucceededInstances", &minimum, false,
    "so many succeeded tasks end the job well; -1: all of the job; default "
    "all of the role" },
  { 0 }
};
static const pai__rule completion = { .what = "completion",
                                      .types = PAI__T_MAPPING,
                                      .fields = completion_fields };

static const pai__field container_fields[] = {
  { "shmMB", &integer, false, "size of /dev/shm in MiB; default 512" },
  { "infiniband", &yes_no, false, "true: with an InfiniBand adapter" },
  { "additionalProperties", &never, false, NULL }, /* a slip that is law */
  { 0 }
};
static const pai__rule container = { .what = "extraContainerOptions",
                                     .types = PAI__T_MAPPING,
                                     .open = true,
                                     .fields = container_fields };

/* Whatever is no mapping is accepted, and is no port. */
static const pai__rule ports = { .what = "ports",
                                 .types = PAI__T_ANY,
                                 .keys = PAI__FORM_IDENT,
                                 .least = 1,
                                 .values = &integer };
static const pai__field resource_fields[] = {
  { "cpu", &integer, true, "CPUs of each task" },
  { "memoryMB", &integer, true, "memory of each task in MiB" },
  { "gpu", &integer, true, "GPUs of each task" },
  { "ports", &ports, false,
    "label: how many ports; ssh and http come by "
    "themselves" },
  { 0 }
};
static const pai__rule resource = { .what = "resourcePerInstance",
                                    .types = PAI__T_MAPPING,
                                    .fields = resource_fields };

static const pai__rule commands = { .what = "a list of commands",
                                    .types = PAI__T_LIST,
                                    .least = 1,
                                    .values = &text };

static const pai__field role_fields[] = {
  { "protocolVersion", &version, false, "2" },
  { "instances", &positive, false, "how many tasks; default 1" },
  { "completion", &completion, false, "when the job is over" },
  { "taskRetryCount", &integer, false,
    "how often a failed task is tried again, without gangAllocation" },
  { "prerequisites", &texts, false, "names of prerequisites, in order" },
  { "dockerImage", &text, true, "name of a dockerimage prerequisite" },
  { "data", &text, false, "name of a data prerequisite" },
  { "output", &text, false, "name of an output prerequisite" },
  { "script", &text, false, "name of a script prerequisite" },
  { "extraContainerOptions", &container, false, "of its containers" },
  { "resourcePerInstance", &resource, true, "what each task gets" },
  { "commands", &commands, true, "what each task runs, in one shell" },
  { 0 }
};
static const pai__rule role = { .what = "a task role",
                                .types = PAI__T_MAPPING,
                                .fields = role_fields };
static const pai__rule roles = { .what = "taskRoles",
                                 .types = PAI__T_MAPPING,
                                 .keys = PAI__FORM_IDENT,
                                 .least = 1,
                                 .values = &role };

/* --- deployments, defaults, extras ---------------------------------------- */

static const pai__field hook_fields[] = {
  { "preCommands", &commands, false, "run before the role's commands" },
  { "postCommands", &commands, false, "run after them" },
  { 0 }
};
static const pai__rule hooks = { .what = "a deployment's role",
                                 .types = PAI__T_MAPPING,
                                 .fields = hook_fields };
static const pai__rule hook_roles = { .what = "taskRoles",
                                      .types = PAI__T_MAPPING,
                                      .keys = PAI__FORM_IDENT,
                                      .least = 1,
                                      .values = &hooks };
static const pai__field deployment_fields[] = {
  { "protocolVersion", &version, false, "2" },
  { "name", &name, true, "what defaults.deployment names" },
  { "taskRoles", &hook_roles, true, "commands around those of task roles" },
  { 0 }
};
static const pai__rule deployment = { .what = "a deployment",
                                      .types = PAI__T_MAPPING,
                                      .open = true,
                                      .fields = deployment_fields };
static const pai__rule deployments = { .what = "deployments",
                                       .types = PAI__T_LIST,
                                       .least = 1,
                                       .values = &deployment };
static const pai__field default_fields[] = {
  { "deployment", &text, false, "the deployment that is used" },
  { "virtualCluster", &any, false, "where it queues; default default" },
  { 0 }
};
static const pai__rule defaults = { .what = "defaults",
                                    .types = PAI__T_MAPPING,
                                    .open = true,
                                    .fields = default_fields };

/* --- HiveD: checked only where the cluster has it -------------------------- */

static const pai__rule text_or_null = { .what = "this",
                                        .types = PAI__T_STRING | PAI__T_NULL };
static const pai__rule priority = { .what = "a priority class",
                                    .types = PAI__T_STRING,
                                    .words = class_words };
static const pai__field hived_role_fields[] = {
  { "skuType", &text_or_null, false, "kind of machine" },
  { "pinnedCellId", &text_or_null, false, "a reserved part of the cluster" },
  { "affinityGroupName", &text_or_null, false, "roles placed together" },
  { 0 }
};
static const pai__rule hived_role = { .what = "a role of hivedScheduler",
                                      .types = PAI__T_MAPPING,
                                      .open = true,
                                      .fields = hived_role_fields };
static const pai__rule hived_roles = { .what = "taskRoles",
                                       .types = PAI__T_MAPPING,
                                       .keys = PAI__FORM_SKU,
                                       .least = 1,
                                       .values = &hived_role };
static const pai__field hived_fields[] = {
  { "jobPriorityClass", &priority, false, "prod, test or oppo" },
  { "taskRoles", &hived_roles, false, "what each role asks HiveD for" },
  { 0 }
};
const pai__rule pai__rules_hived = { .what = "hivedScheduler",
                                     .types = PAI__T_MAPPING,
                                     .open = true,
                                     .fields = hived_fields };

/* --- the job --------------------------------------------------------------- */

static const pai__rule job_type = { .what = "the type of a job file",
                                    .types = PAI__T_STRING,
                                    .words = job_words };
static const pai__field job_fields[] = {
  { "protocolVersion", &version, true, "2" },
  { "name", &name, true, "the job's name" },
  { "type", &job_type, true, "job" },
  { "version", &any_version, false, "any version of this file" },
  { "contributor", &text, false, "who made it" },
  { "description", &text, false, "what it does" },
  { "prerequisites", &prerequisites, false, "images, data, scripts, outputs" },
  { "parameters", &free_mapping, false, "values for <% $parameters.NAME %>" },
  { "secrets", &free_mapping, false, "values for <% $secrets.NAME %>" },
  { "jobRetryCount", &count, false,
    "how often a failed job is tried again; default 0" },
  { "taskRoles", &roles, true, "the tasks, by role" },
  { "deployments", &deployments, false,
    "commands around those of task roles" },
  { "defaults", &defaults, false, "virtualCluster, deployment" },
  { "extras", &free_mapping, false, "for schedulers, plugins and programs" },
  { 0 }
};
const pai__rule pai__rules_v2 = { .what = "a job file",
                                  .types = PAI__T_MAPPING,
                                  .fields = job_fields };
