/*
 * rules_extras.c - tables of what programs read in `extras`: job-spec 1.6, 4.4
 *
 * OpenPAI checks none of it, except hivedScheduler and openpai, which have
 * rules of their own.  Lint and editors use these tables.
 */
#include "spec/rules.h"

static const char *const policies[] = { "fail", "ignore", NULL };

static const pai__spec_rule any = { .what = "this", .types = PAI__T_ANY };
static const pai__spec_rule text = { .what = "this",
                                     .types = PAI__T_STRING,
                                     .templates = PAI__TEMPLATES_PLUGIN };
static const pai__spec_rule texts = { .what = "this",
                                      .types = PAI__T_LIST,
                                      .values = &text };
static const pai__spec_rule yes_no = { .what = "this",
                                       .types = PAI__T_BOOL,
                                       .example = "true" };
static const pai__spec_rule number = { .what = "this", .types = PAI__T_INT };
static const pai__spec_rule command = { .what = "this",
                                        .types = PAI__T_STRING,
                                        .templates = PAI__TEMPLATES_COMMAND };
static const pai__spec_rule commands = { .what = "a list of commands",
                                         .types = PAI__T_LIST,
                                         .values = &command };

/* --- plugins ------------------------------------------------------------ */

static const char *const key_words[] = { "custom", "system", NULL };
static const pai__spec_rule key_type = { .what = "this",
                                         .types = PAI__T_STRING,
                                         .words = key_words };
static const pai__spec_rule key_text = { .what = "this",
                                         .types = PAI__T_STRING,
                                         .example = "ssh-ed25519 KEY" };
static const pai__spec_field user_ssh_fields[] = {
  { "type", &key_type, PAI__NEEDED, "custom: the key in value" },
  { "value", &key_text, PAI__NEEDED, "public key that may log in" },
  { 0 }
};
static const pai__spec_rule user_ssh = { .what = "userssh",
                                         .types = PAI__T_MAPPING,
                                         .fields = user_ssh_fields };
static const pai__spec_rule job_ssh = {
  .what = "this", .types = PAI__T_BOOL, .example = "true", .usual = true
};
static const pai__spec_field ssh_fields[] = {
  { "jobssh", &job_ssh, "false", "tasks of the job can log in to each other" },
  { "userssh", &user_ssh, NULL, "public key of a user who may log in" },
  { "sshbarrier", &yes_no, "false",
    "wait until all tasks can be reached before the commands begin" },
  { "sshbarrierTimeout", &number, "300", "longest wait, in minutes" },
  { 0 }
};
static const pai__spec_field cmd_fields[] = {
  { "preCommands", &commands, NULL, "commands to run before the role's" },
  { "postCommands", &commands, NULL, "commands to run after the role's" },
  { "callbacks", &any, NULL,
    "commands for the events taskStarts and taskSucceeds" },
  { 0 }
};
static const pai__spec_rule repository = { .what = "this",
                                           .types = PAI__T_STRING,
                                           .templates = PAI__TEMPLATES_PLUGIN,
                                           .example =
                                             "https://example.org/code.git" };
static const pai__spec_field git_fields[] = {
  { "repo_uri", &repository, PAI__NEEDED, "repository to clone" },
  { "options", &texts, NULL, "options of git clone" },
  { "clone_dir", &text, NULL, "folder for the clone" },
  { 0 }
};
static const pai__spec_rule tensorboard_port = { .what = "this",
                                                 .types = PAI__T_INT,
                                                 .example = "10234" };
static const pai__spec_rule path = { .what = "this",
                                     .types = PAI__T_STRING,
                                     .templates = PAI__TEMPLATES_PLUGIN,
                                     .example = "/mnt/tensorboard" };
static const pai__spec_rule paths = {
  .what = "this", .types = PAI__T_MAPPING, .values = &path, .example = "path"
};
static const pai__spec_field tensorboard_fields[] = {
  { "port", &tensorboard_port, PAI__NEEDED, "port of TensorBoard" },
  { "logdir", &paths, PAI__NEEDED, "folders with logs, each with its name" },
  { 0 }
};
static const pai__spec_rule storage = { .what = "this",
                                        .types = PAI__T_STRING,
                                        .names = PAI__NAMES_STORAGE,
                                        .example = "storage" };
static const pai__spec_rule storage_names = { .what = "this",
                                              .types = PAI__T_LIST,
                                              .values = &storage };
static const pai__spec_field teamwise_storage_fields[] = {
  { "storageConfigNames", &storage_names, PAI__NEEDED,
    "names of storages; without them the default ones" },
  { 0 }
};

static const pai__spec_rule of_role = { .what = "this",
                                        .types = PAI__T_STRING,
                                        .names = PAI__NAMES_ROLE };
static const pai__spec_rule of_roles = { .what = "this",
                                         .types = PAI__T_LIST,
                                         .values = &of_role };
static const pai__spec_rule policy = { .what = "this",
                                       .types = PAI__T_STRING,
                                       .words = policies };
static const pai__spec_rule plugin_name = { .what = "the name of a plugin",
                                            .types = PAI__T_STRING };

/* The plugin NAME, with the fields NAME_fields in its parameters. */
#define PLUGIN(name)                                                         \
  static const pai__spec_rule name##_parameters = { .what =                  \
                                                      "the plugin " #name,   \
                                                    .types = PAI__T_MAPPING, \
                                                    .fields =                \
                                                      name##_fields };       \
  static const pai__spec_field name##_item[] = {                             \
    { "plugin", &plugin_name, PAI__NEEDED, "name of the plugin" },           \
    { "parameters", &name##_parameters, PAI__NEEDED,                         \
      "what the plugin does" },                                              \
    { "taskroles", &of_roles, NULL, "task roles; without it all" },          \
    { "failurePolicy", &policy, "fail",                                      \
      "whether its failure fails the job" },                                 \
    { 0 }                                                                    \
  };                                                                         \
  static const pai__spec_rule name##_plugin = { .what = "a runtime plugin",  \
                                                .types = PAI__T_MAPPING,     \
                                                .fields = name##_item }

PLUGIN(ssh);
PLUGIN(cmd);
PLUGIN(git);
PLUGIN(tensorboard);
PLUGIN(teamwise_storage);

static const pai__spec_shape plugin_shapes[] = {
  { "ssh", &ssh_plugin, "log in to tasks by ssh" },
  { "cmd", &cmd_plugin, "run commands around those of task roles" },
  { "git", &git_plugin, "clone a repository" },
  { "tensorboard", &tensorboard_plugin,
    "start TensorBoard in the first task" },
  { "teamwise_storage", &teamwise_storage_plugin,
    "storages, as old versions of OpenPAI name them" },
  { 0 }
};
const pai__spec_rule pai__rules_plugin = { .what = "a runtime plugin",
                                           .types = PAI__T_MAPPING,
                                           .shapes = plugin_shapes,
                                           .shape_key = "plugin" };
static const pai__spec_rule plugins = { .what = "runtime plugins",
                                        .types = PAI__T_LIST,
                                        .values = &pai__rules_plugin };

/* --- others ------------------------------------------------------------- */

static const pai__spec_rule mount_path = { .what = "this",
                                           .types = PAI__T_STRING,
                                           .example = "/mnt/storage" };
static const pai__spec_field storage_fields[] = {
  { "name", &storage, PAI__NEEDED, "name of the storage" },
  { "mountPath", &mount_path, "/mnt/NAME", "its folder in tasks" },
  { 0 }
};
static const pai__spec_rule storage_item = { .what = "a storage",
                                             .types = PAI__T_MAPPING,
                                             .fields = storage_fields };
static const pai__spec_rule storages = { .what = "storages",
                                         .types = PAI__T_LIST,
                                         .values = &storage_item };
static const pai__spec_field notification_fields[] = {
  { "running", &yes_no, "false", "when it starts" },
  { "succeeded", &yes_no, "false", "when it succeeds" },
  { "stopped", &yes_no, "false", "when it is stopped" },
  { "failed", &yes_no, "false", "when it fails" },
  { "retried", &yes_no, "false", "when it is retried" },
  { 0 }
};
static const pai__spec_rule notification = { .what = "notifications",
                                             .types = PAI__T_MAPPING,
                                             .fields = notification_fields };
static const pai__spec_rule gang = { .what = "this",
                                     .types = PAI__T_BOOL,
                                     .example = "false" };
static const pai__spec_field extras_fields[] = {
  { "gangAllocation", &gang, "true",
    "true: all tasks start together; false: each when it can" },
  { "hivedScheduler", &pai__rules_hived, NULL, "request to HiveD" },
  { "storages", &storages, NULL, "storages that tasks see" },
  { "jobStatusChangeNotification", &notification, NULL,
    "when to send a mail about the job" },
  { "submitFrom", &any, NULL, "the page that submitted the job" },
  { "tensorBoard", &any, NULL, "of an old page for submitting jobs" },
  { "com.microsoft.pai.runtimeplugin", &plugins, NULL, "runtime plugins" },
  { "openpai", &pai__rules_openpai, NULL, "options of this platform" },
  { 0 }
};
const pai__spec_rule pai__rules_extras = { .what = "extras",
                                           .types = PAI__T_MAPPING,
                                           .open = true,
                                           .fields = extras_fields };
