/* rules_v2.c - tables of job protocol v2: job-spec 1.2 to 1.6, 1.8 */
#include "spec/rules.h"

const char pai__needed[] = "";

static const char *const version_words[] = { "2", NULL };
static const char *const job_words[] = { "job", NULL };
static const char *const class_words[] = { "prod", "test", "oppo", NULL };

static const pai__spec_rule never = { .what = "this", .never = true };
static const pai__spec_rule text = { .what = "this", .types = PAI__T_STRING };
static const pai__spec_rule texts = { .what = "this",
                                      .types = PAI__T_LIST,
                                      .values = &text };
static const pai__spec_rule unused_texts = {
  .what = "this", .types = PAI__T_LIST, .values = &text, .unused = true
};
#define FREE_RULE .what = "this", .types = PAI__T_MAPPING, .open = true
static const pai__spec_rule parameters = { FREE_RULE,
                                           .key_names = PAI__NAMES_PARAMETER,
                                           .declares = true };
static const pai__spec_rule secrets = { FREE_RULE,
                                        .key_names = PAI__NAMES_SECRET,
                                        .declares = true };
static const pai__spec_rule extras = { FREE_RULE,
                                       .known = &pai__rules_extras };
static const pai__spec_rule version = { .what = "the protocol's version",
                                        .types = PAI__T_STRING | PAI__T_INT,
                                        .words = version_words };
static const pai__spec_rule any_version = { .what = "a version",
                                            .types =
                                              PAI__T_STRING | PAI__T_NUMBER };
#define NAME_RULE                                                  \
  .what = "a name", .types = PAI__T_STRING, .form = PAI__FORM_JOB, \
  .longest = 255
static const pai__spec_rule job_name = { NAME_RULE, .example = "my-job" };
static const pai__spec_rule prerequisite_name = {
  NAME_RULE, .names = PAI__NAMES_PREREQUISITE, .declares = true,
  .example = "image"
};
static const pai__spec_rule deployment_name = { NAME_RULE,
                                                .names = PAI__NAMES_DEPLOYMENT,
                                                .declares = true,
                                                .example = "usual" };
static const pai__spec_rule integer = { .what = "this", .types = PAI__T_INT };
static const pai__spec_rule memory = { .what = "this",
                                       .types = PAI__T_INT,
                                       .example = "8192" };
static const pai__spec_rule gpus = { .what = "this",
                                     .types = PAI__T_INT,
                                     .example = "1" };
static const pai__spec_rule port_count = { .what = "this",
                                           .types = PAI__T_INT,
                                           .example = "1" };
static const pai__spec_rule count = { .what = "a count",
                                      .types = PAI__T_INT,
                                      .has_min = true };
static const pai__spec_rule positive = { .what = "a count",
                                         .types = PAI__T_INT,
                                         .has_min = true,
                                         .min = 1,
                                         .example = "1",
                                         .usual = true };
static const pai__spec_rule minimum = { .what = "a minimum of instances",
                                        .types = PAI__T_INT | PAI__T_NULL };
static const pai__spec_rule yes_no = { .what = "this",
                                       .types = PAI__T_ANY,
                                       .example = "true" };

/* --- prerequisites ------------------------------------------------------ */

static const pai__spec_rule account_text = {
  .what = "this", .types = PAI__T_STRING, .templates = PAI__TEMPLATES_ACCOUNT
};
static const pai__spec_field auth_fields[] = {
  { "username", &account_text, NULL, "user name at the registry" },
  { "password", &account_text, NULL, "its password: use <% $secrets.NAME %>" },
  { "registryuri", &account_text, "https://index.docker.io/v1/",
    "the registry" },
  { 0 }
};
static const pai__spec_rule auth = { .what = "the account of a registry",
                                     .types = PAI__T_MAPPING,
                                     .open = true,
                                     .fields = auth_fields,
                                     .values = &account_text };

#define COMMON_FIELDS(type_rule)                                       \
  { "protocolVersion", &version, NULL, "2" },                          \
    { "name", &prerequisite_name, PAI__NEEDED, "name in task roles" }, \
    { "type", (type_rule), PAI__NEEDED,                                \
      "dockerimage, script, output or data" },                         \
    { "version", &any_version, NULL, "version" },                      \
    { "contributor", &text, NULL, "author" },                          \
  {                                                                    \
    "description", &text, NULL, "description"                          \
  }

static const pai__spec_rule image_uri = { .what = "this",
                                          .types = PAI__T_STRING,
                                          .names = PAI__NAMES_IMAGE,
                                          .example = "python:3-slim" };
static const pai__spec_field image_fields[] = {
  COMMON_FIELDS(&text),
  { "uri", &image_uri, PAI__NEEDED, "the image, as docker pull takes it" },
  { "auth", &auth, NULL, "login at the image's registry" },
  { 0 }
};
#define PLUGIN_FIELDS                                                   \
  { "plugin", &text, NULL, "runtime plugin that fetches it" },          \
  {                                                                     \
    "require", &unused_texts, NULL, "other prerequisites; not acted on" \
  }

static const pai__spec_field script_fields[] = { COMMON_FIELDS(&text),
                                                 { "uri", &text, NULL,
                                                   "location" },
                                                 PLUGIN_FIELDS,
                                                 { 0 } };
static const pai__spec_field data_fields[] = { COMMON_FIELDS(&text),
                                               { "uri", &texts, NULL,
                                                 "locations, as a list" },
                                               PLUGIN_FIELDS,
                                               { 0 } };
static const pai__spec_rule image = { .what = "a docker image",
                                      .types = PAI__T_MAPPING,
                                      .fields = image_fields };
static const pai__spec_rule script = { .what = "a script or output",
                                       .types = PAI__T_MAPPING,
                                       .open = true,
                                       .fields = script_fields };
static const pai__spec_rule data = { .what = "a set of data",
                                     .types = PAI__T_MAPPING,
                                     .open = true,
                                     .fields = data_fields };
static const pai__spec_shape shapes[] = {
  { "dockerimage", &image, "image of a task role" },
  { "script", &script, "code" },
  { "output", &script, "place for results" },
  { "data", &data, "input data" },
  { 0 }
};
static const pai__spec_rule prerequisite = { .what = "a prerequisite",
                                             .types = PAI__T_MAPPING,
                                             .shapes = shapes };
static const pai__spec_rule prerequisites = { .what = "prerequisites",
                                              .types = PAI__T_LIST,
                                              .least = 1,
                                              .values = &prerequisite,
                                              .usual = true };

/* --- task roles --------------------------------------------------------- */

static const pai__spec_field completion_fields[] = {
  { "minFailedInstances", &minimum, "1",
    "number of failed tasks that fails the job; -1: never" },
  { "minSucceededInstances", &minimum, NULL,
    "number of succeeded tasks that completes the job; -1: all tasks of the "
    "job (default: all tasks of the role)" },
  { 0 }
};
static const pai__spec_rule completion = { .what = "completion",
                                           .types = PAI__T_MAPPING,
                                           .fields = completion_fields };

static const pai__spec_field container_fields[] = {
  { "shmMB", &integer, "512", "size of /dev/shm in MiB" },
  { "infiniband", &yes_no, "false", "true: with an InfiniBand adapter" },
  /* a mistake in OpenPAI's schema, which forbids this key */
  { "additionalProperties", &never, NULL, NULL },
  { 0 }
};
static const pai__spec_rule container = { .what = "extraContainerOptions",
                                          .types = PAI__T_MAPPING,
                                          .open = true,
                                          .fields = container_fields };

/* A value that is not a mapping is accepted, but ignored. */
static const pai__spec_rule ports = { .what = "ports",
                                      .types = PAI__T_ANY,
                                      .keys = PAI__FORM_IDENT,
                                      .least = 1,
                                      .values = &port_count,
                                      .key_names = PAI__NAMES_PORT,
                                      .declares = true };
static const pai__spec_rule cpus = { .what = "a number of CPUs",
                                     .types = PAI__T_NUMBER,
                                     .fine = true,
                                     .example = "4" };
static const pai__spec_field resource_fields[] = {
  { "cpu", &cpus, PAI__NEEDED, "CPUs of each task, as 2 or 0.5" },
  { "memoryMB", &memory, PAI__NEEDED, "memory of each task in MiB" },
  { "gpu", &gpus, PAI__NEEDED, "GPUs of each task" },
  { "ports", &ports, NULL,
    "label: number of ports; ssh and http always exist" },
  { 0 }
};
static const pai__spec_rule resource = { .what = "resourcePerInstance",
                                         .types = PAI__T_MAPPING,
                                         .fields = resource_fields };

static const pai__spec_rule command = { .what = "this",
                                        .types = PAI__T_STRING,
                                        .templates = PAI__TEMPLATES_COMMAND,
                                        .example = "python train.py" };
static const pai__spec_rule commands = { .what = "a list of commands",
                                         .types = PAI__T_LIST,
                                         .least = 1,
                                         .values = &command };

#define NAMES_RULE(type, ...)                                                 \
  {                                                                           \
    .what = "this", .types = PAI__T_STRING, .names = PAI__NAMES_PREREQUISITE, \
    .name_type = (type), __VA_ARGS__                                          \
  }
static const pai__spec_rule of_image =
  NAMES_RULE("dockerimage", .example = "image");
static const pai__spec_rule of_data = NAMES_RULE("data", .example = "data");
static const pai__spec_rule of_output =
  NAMES_RULE("output", .example = "output");
static const pai__spec_rule of_script =
  NAMES_RULE("script", .example = "script");
static const pai__spec_rule of_any = NAMES_RULE(NULL, .example = "image");
static const pai__spec_rule of_all = { .what = "this",
                                       .types = PAI__T_LIST,
                                       .values = &of_any };

static const pai__spec_field role_fields[] = {
  { "protocolVersion", &version, NULL, "2" },
  { "instances", &positive, "1", "number of tasks" },
  { "completion", &completion, NULL, "when the job ends" },
  { "taskRetryCount", &integer, "0",
    "number of retries of a failed task, without gangAllocation" },
  { "prerequisites", &of_all, NULL, "names of prerequisites, in order" },
  { "dockerImage", &of_image, PAI__NEEDED,
    "name of a dockerimage prerequisite" },
  { "data", &of_data, NULL, "name of a data prerequisite" },
  { "output", &of_output, NULL, "name of an output prerequisite" },
  { "script", &of_script, NULL, "name of a script prerequisite" },
  { "extraContainerOptions", &container, NULL, "of its containers" },
  { "resourcePerInstance", &resource, PAI__NEEDED, "resources of each task" },
  { "commands", &commands, PAI__NEEDED,
    "commands of each task, in one shell" },
  { 0 }
};
static const pai__spec_rule role = { .what = "a task role",
                                     .types = PAI__T_MAPPING,
                                     .fields = role_fields };
static const pai__spec_rule roles = { .what = "taskRoles",
                                      .types = PAI__T_MAPPING,
                                      .keys = PAI__FORM_IDENT,
                                      .least = 1,
                                      .values = &role,
                                      .key_names = PAI__NAMES_ROLE,
                                      .declares = true,
                                      .example = "worker" };

/* --- deployments, defaults, extras -------------------------------------- */

static const pai__spec_field hook_fields[] = {
  { "preCommands", &commands, NULL,
    "commands to run before the role's commands" },
  { "postCommands", &commands, NULL,
    "commands to run after the role's commands" },
  { 0 }
};
static const pai__spec_rule hooks = { .what = "a deployment's role",
                                      .types = PAI__T_MAPPING,
                                      .fields = hook_fields };
static const pai__spec_rule hook_roles = { .what = "taskRoles",
                                           .types = PAI__T_MAPPING,
                                           .keys = PAI__FORM_IDENT,
                                           .least = 1,
                                           .values = &hooks,
                                           .key_names = PAI__NAMES_ROLE,
                                           .example = "worker" };
static const pai__spec_field deployment_fields[] = {
  { "protocolVersion", &version, NULL, "2" },
  { "name", &deployment_name, PAI__NEEDED, "name for defaults.deployment" },
  { "taskRoles", &hook_roles, PAI__NEEDED,
    "commands around those of task roles" },
  { 0 }
};
static const pai__spec_rule deployment = { .what = "a deployment",
                                           .types = PAI__T_MAPPING,
                                           .open = true,
                                           .fields = deployment_fields };
static const pai__spec_rule deployments = { .what = "deployments",
                                            .types = PAI__T_LIST,
                                            .least = 1,
                                            .values = &deployment };
static const pai__spec_rule of_deployment = { .what = "this",
                                              .types = PAI__T_STRING,
                                              .names = PAI__NAMES_DEPLOYMENT };
static const pai__spec_rule virtual_cluster = { .what = "a value",
                                                .types = PAI__T_ANY,
                                                .names = PAI__NAMES_VC };
static const pai__spec_field default_fields[] = {
  { "deployment", &of_deployment, NULL, "deployment to use" },
  { "virtualCluster", &virtual_cluster, "default",
    "virtual cluster of the job" },
  { 0 }
};
static const pai__spec_rule defaults = { .what = "defaults",
                                         .types = PAI__T_MAPPING,
                                         .open = true,
                                         .fields = default_fields };

/* --- HiveD: checked only if the cluster has it -------------------------- */

static const pai__spec_rule text_or_null = { .what = "this",
                                             .types =
                                               PAI__T_STRING | PAI__T_NULL };
static const pai__spec_rule priority = { .what = "a priority class",
                                         .types = PAI__T_STRING,
                                         .words = class_words };
static const pai__spec_rule sku = { .what = "this",
                                    .types = PAI__T_STRING | PAI__T_NULL,
                                    .names = PAI__NAMES_SKU };
static const pai__spec_field hived_role_fields[] = {
  { "skuType", &sku, NULL, "kind of machine" },
  { "pinnedCellId", &text_or_null, NULL, "a reserved part of the cluster" },
  { "affinityGroupName", &text_or_null, NULL, "roles placed together" },
  { 0 }
};
static const pai__spec_rule hived_role = { .what = "a role of hivedScheduler",
                                           .types = PAI__T_MAPPING,
                                           .open = true,
                                           .fields = hived_role_fields };
static const pai__spec_rule hived_roles = { .what = "taskRoles",
                                            .types = PAI__T_MAPPING,
                                            .keys = PAI__FORM_SKU,
                                            .least = 1,
                                            .values = &hived_role,
                                            .key_names = PAI__NAMES_ROLE,
                                            .example = "worker" };
static const pai__spec_field hived_fields[] = {
  { "jobPriorityClass", &priority, NULL, "prod, test or oppo" },
  { "taskRoles", &hived_roles, NULL, "HiveD request of each role" },
  { 0 }
};
const pai__spec_rule pai__rules_hived = { .what = "hivedScheduler",
                                          .types = PAI__T_MAPPING,
                                          .open = true,
                                          .fields = hived_fields };

/* --- extras.openpai, which other OpenPAI servers ignore ----------------- */

static const char *const runtime_words[] = { "auto",   "process", "bwrap",
                                             "podman", "docker",  NULL };
static const pai__spec_rule boolean = { .what = "this",
                                        .types = PAI__T_BOOL | PAI__T_NULL };
static const pai__spec_rule runtime = { .what = "a runtime",
                                        .types = PAI__T_STRING | PAI__T_NULL,
                                        .words = runtime_words };
static const pai__spec_rule of_secret = { .what = "this",
                                          .types = PAI__T_STRING,
                                          .names = PAI__NAMES_SECRET };
static const pai__spec_rule anywhere = { .what = "this",
                                         .types = PAI__T_BOOL,
                                         .example = "false" };
static const pai__spec_field variable_fields[] = {
  { "secret", &of_secret, NULL, "name of the secret with its value" },
  { "value", &text, NULL, "its value" },
  { "container", &anywhere, "true",
    "false: not set in a container, where paths differ" },
  { 0 }
};
static const pai__spec_rule variable = { .what = "a variable",
                                         .types =
                                           PAI__T_STRING | PAI__T_MAPPING,
                                         .fields = variable_fields };
static const pai__spec_rule known_variables = { .what = "variables",
                                                .types = PAI__T_MAPPING,
                                                .values = &variable };
static const pai__spec_rule variables = { .what = "variables",
                                          .types = PAI__T_MAPPING |
                                                   PAI__T_INT | PAI__T_NULL,
                                          .open = true,
                                          .known = &known_variables };
static const pai__spec_rule gpu_memory = { .what = "an amount of memory",
                                           .types = PAI__T_INT | PAI__T_NULL,
                                           .has_min = true };
static const pai__spec_rule time_limit = { .what = "a time limit",
                                           .types = PAI__T_STRING |
                                                    PAI__T_INT | PAI__T_NULL,
                                           .form = PAI__FORM_TIME,
                                           .has_min = true,
                                           .min = 1,
                                           .example = "2h" };
static const pai__spec_rule dependency = { .what = "a job to wait for",
                                           .types = PAI__T_STRING,
                                           .form = PAI__FORM_AFTER };
static const pai__spec_rule dependencies = { .what = "jobs to wait for",
                                             .types = PAI__T_STRING |
                                                      PAI__T_LIST |
                                                      PAI__T_NULL,
                                             .form = PAI__FORM_AFTER,
                                             .values = &dependency };
static const pai__spec_rule folder = { .what = "a folder below /tmp",
                                       .types = PAI__T_STRING,
                                       .form = PAI__FORM_TMP };
static const pai__spec_rule folders = { .what = "folders below /tmp",
                                        .types = PAI__T_LIST | PAI__T_NULL,
                                        .values = &folder };
static const pai__spec_field openpai_fields[] = {
  { "runtime", &runtime, "the platform's setting",
    "runtime of tasks: auto, process, bwrap, podman or docker" },
  { "environment", &variables, NULL, "variables for the commands" },
  { "timeLimit", &time_limit, NULL,
    "time limit of an attempt, such as 90s, 30m, 2h or 1d" },
  { "after", &dependencies, NULL,
    "jobs to wait for: NAME, NAME:ok, NAME:failed, NAME:ended" },
  { "folders", &folders, NULL,
    "folders below this machine's /tmp that tasks see in their own /tmp" },
  { "stdin", &boolean, "false", "keep standard input open for attach" },
  { "tty", &boolean, "false", "keep standard input open, with a terminal" },
  { "gpuMemoryMB", &gpu_memory, NULL,
    "GPU memory of each task, which then shares a GPU" },
  { 0 }
};
const pai__spec_rule pai__rules_openpai = { .what = "openpai",
                                            .types =
                                              PAI__T_MAPPING | PAI__T_NULL,
                                            .open = true,
                                            .fields = openpai_fields };

/* --- the job ------------------------------------------------------------ */

static const pai__spec_rule job_type = { .what = "the type of a job file",
                                         .types = PAI__T_STRING,
                                         .words = job_words };
static const pai__spec_field job_fields[] = {
  { "protocolVersion", &version, PAI__NEEDED, "2" },
  { "name", &job_name, PAI__NEEDED, "the job's name" },
  { "type", &job_type, PAI__NEEDED, "job" },
  { "version", &any_version, NULL, "version of this file" },
  { "contributor", &text, NULL, "author" },
  { "description", &text, NULL, "description" },
  { "prerequisites", &prerequisites, NULL, "images, data, scripts, outputs" },
  { "parameters", &parameters, NULL, "values for <% $parameters.NAME %>" },
  { "secrets", &secrets, NULL, "values for <% $secrets.NAME %>" },
  { "jobRetryCount", &count, "0", "number of retries of a failed job" },
  { "taskRoles", &roles, PAI__NEEDED, "task roles" },
  { "deployments", &deployments, NULL, "commands around those of task roles" },
  { "defaults", &defaults, NULL, "virtualCluster, deployment" },
  { "extras", &extras, NULL, "for schedulers, plugins and programs" },
  { 0 }
};
const pai__spec_rule pai__rules_v2 = { .what = "a job file",
                                       .types = PAI__T_MAPPING,
                                       .fields = job_fields };
