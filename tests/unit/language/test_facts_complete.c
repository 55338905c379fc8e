/*
 * What may be inserted at the cursor: keys, values, names, whole pieces; in
 * files that are right, and while somebody types.
 */
#include "cases.h"
#include "language/cursor.h"

#include <openpai/spec.h>

/* A text with a ^ where the cursor is.  `has` are lines of the completions
 * that must be there, `not` labels that must not; each list ends with NULL. */
typedef struct row {
  const char *name, *text;
  const char *has[5], *not [4];
} row;

#define JOB                                      \
  "protocolVersion: 2\n"                         \
  "name: n\n"                                    \
  "type: job\n"                                  \
  "prerequisites:\n"                             \
  "  - name: img\n"                              \
  "    type: dockerimage\n"                      \
  "    uri: u\n"                                 \
  "  - name: d\n"                                \
  "    type: data\n"                             \
  "parameters: { lr: 1, model: { depth: 4 } }\n" \
  "secrets: { token: hunter2 }\n"
#define ROLE                                                 \
  "taskRoles:\n"                                             \
  "  w:\n"                                                   \
  "    instances: 2\n"                                       \
  "    dockerImage: img\n"                                   \
  "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n" \
  "    commands:\n"                                          \
  "      - a\n"

static const row keys[] = {
  { "an empty file has all fields, and a whole job",
    "^",
    { "*protocolVersion -> protocolVersion: 2 (2)",
      "*name -> name: ${1:my-job} (the job's name)",
      "jobRetryCount -> jobRetryCount: ${1:0}",
      "job file -> protocolVersion: 2\nname: ${1:my-job}\ntype: job\n" },
    { NULL } },
  { "a word in a role is a key",
    JOB "taskRoles:\n  w:\n    ins^\n    dockerImage: img\n",
    { "instances -> instances: ${1:1} (number of tasks)",
      "*resourcePerInstance -> resourcePerInstance:\n      cpu: ${1:4}\n"
      "      memoryMB: ${2:8192}\n      gpu: ${3:1} (" },
    { "dockerImage", "jobRetryCount" } },
  { "a key with a colon is replaced alone",
    JOB "taskRoles:\n  w:\n    ins^: 3\n",
    { "instances (number of tasks)" },
    { NULL } },
  { "an unfinished key among broken lines",
    JOB "taskRoles:\n  w:\n    dockerImage: img\n    @bad\n    ins^\n    "
        "data: d\n",
    { "instances -> instances: ${1:1}" },
    { "dockerImage", "data" } },
  { "a broken line far away costs nothing",
    "name: [\n" JOB "taskRoles:\n  w:\n    dockerImage: ^\n",
    { "img (dockerimage)" },
    { NULL } },
  { "a task role",
    JOB "taskRoles:\n  ^\n",
    { "task role -> ${1:worker}:\n    instances: ${2:1}\n    dockerImage: "
      "${3:image}\n    resourcePerInstance:\n      cpu: ${4:4}\n" },
    { "name" } },
  { "fields of a prerequisite without a type are those of all types",
    JOB "  # no\nextras: {}\ndeployments:\n  - ^\n",
    { "*name -> name: ${1:usual}", "*taskRoles -> taskRoles:\n" },
    { NULL } },
  { "fields of a prerequisite by its type",
    "prerequisites:\n  - name: s\n    type: script\n    ^\n",
    { "plugin -> plugin: ${1}" },
    { "auth", "name", "type" } },
  { "an account",
    "prerequisites:\n  - type: dockerimage\n    auth:\n      ^\n",
    { "username -> username: ${1} (user name at the registry)" },
    { "uri" } },
  { "what programs read in extras",
    JOB ROLE "extras:\n  ^\n",
    { "hivedScheduler -> hivedScheduler:",
      "gangAllocation -> gangAllocation: "
      "${1:false}",
      "com.microsoft.pai.runtimeplugin -> com.microsoft.pai.runtimeplugin:\n"
      "    - plugin: ssh\n      parameters:\n        jobssh: ${1:true}" },
    { "protocolVersion" } },
  { "parameters of a plugin",
    JOB ROLE "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: "
             "tensorboard\n      parameters:\n        ^\n",
    { "*port -> port: ${1:10234}",
      "*logdir -> logdir:\n          ${1:path}: ${2:/mnt/tensorboard}" },
    { "jobssh" } },
  { "options of this platform",
    JOB ROLE "extras:\n  openpai:\n    ^\n",
    { "timeLimit -> timeLimit: ${1:2h} (time limit of an attempt" },
    { NULL } },
  { "task roles in a deployment, without those that are there",
    JOB "taskRoles:\n  w: {}\n  v: {}\ndeployments:\n  - taskRoles:\n      "
        "w: {}\n      ^\n",
    { "v -> v:\n        ${1} (task role)" },
    { "w" } },
  { "keys in brackets",
    JOB "taskRoles:\n  w: { resourcePerInstance: { cpu: 1, ^ } }\n",
    { "*gpu -> gpu: ${1:1}" },
    { "cpu" } },
  { "keys in JSON",
    "{\n  \"protocolVersion\": 2,\n  \"na^\"\n}\n",
    { "*name -> \"name\": ${1:\"my-job\"}",
      "*taskRoles -> \"taskRoles\": {\n    \"${1:worker}\": {\n      "
      "\"instances\": ${2:1},\n" },
    { "protocolVersion" } },
  { "keys in JSON before another key",
    "{\n  ^\n  \"protocolVersion\": 2\n}\n",
    { "*name -> \"name\": ${1:\"my-job\"}," },
    { NULL } },
  { "keys of job config v1",
    "// v1\n{\n  \"jobName\": \"n\",\n  \"taskRoles\": [ {\n    ^\n    "
    "\"name\": \"w\"\n  } ]\n}\n",
    { "*command -> \"command\": ${1:\"python train.py\"},",
      "gpuNumber -> \"gpuNumber\": ${1:0}," },
    { "name", "commands" } },
  { "nothing in a comment", JOB "# ^\n", { NULL }, { "name", "type" } },
};

static const row values[] = {
  { "prerequisites by type",
    JOB "taskRoles:\n  w:\n    dockerImage: ^\n    data: d\n",
    { "img (dockerimage)" },
    { "d", "image" } },
  { "the word being typed is replaced",
    JOB "taskRoles:\n  w:\n    data: xy^z\n",
    { "d (data)" },
    { "img" } },
  { "prerequisites of all types in a list",
    JOB "taskRoles:\n  w:\n    prerequisites:\n      - ^\n",
    { "img (dockerimage)", "d (data)" },
    { NULL } },
  { "items of a list that has none yet",
    JOB "taskRoles:\n  w:\n    prerequisites:\n      ^\n",
    { "img -> - img (dockerimage)" },
    { NULL } },
  { "types of a prerequisite",
    "prerequisites:\n  - type: ^\n",
    { "dockerimage (image of a task role)", "data (input data)" },
    { NULL } },
  { "types in quotes of JSON",
    "{\"prerequisites\": [{\"type\": \"^\"}]}",
    { "script -> \"script\" (code)" },
    { NULL } },
  { "prerequisites as pieces",
    "prerequisites:\n  ^\n",
    { "dockerimage -> - name: ${1:image}\n    type: dockerimage\n    uri: "
      "${2:python:3-slim} (image of a task role)",
      "data -> - name: ${1:image}\n    type: data (input data)" },
    { NULL } },
  { "plugins as pieces",
    "extras:\n  com.microsoft.pai.runtimeplugin:\n    - ^\nprotocolVersion: "
    "2\n",
    { "tensorboard -> plugin: tensorboard\n      parameters:\n        port: "
      "${1:10234}\n        logdir:\n" },
    { NULL } },
  { "allowed words", "type: ^\nprotocolVersion: 2\n", { "job" }, { NULL } },
  { "a default", "jobRetryCount: ^\n", { "0 (default)" }, { NULL } },
  { "booleans and the default",
    "extras:\n  openpai:\n    tty: ^\n",
    { "true", "false (default)" },
    { NULL } },
  { "a value of any type with a default",
    "taskRoles:\n  w:\n    extraContainerOptions:\n      infiniband: ^\n",
    { "false (default)", "true (for example)" },
    { NULL } },
  { "virtual clusters of the cluster",
    JOB ROLE "defaults:\n  virtualCluster: ^\n",
    { "default (default)", "vc1 (virtual cluster)" },
    { NULL } },
  { "SKUs",
    "extras:\n  hivedScheduler:\n    taskRoles:\n      w:\n        skuType: "
    "^\n",
    { "V100 (SKU)" },
    { NULL } },
  { "storages",
    "extras:\n  storages:\n    - name: ^\n",
    { "nfs (storage)" },
    { "storage" } },
  { "images",
    "prerequisites:\n  - type: dockerimage\n    uri: ^\n",
    { "ubuntu:22.04 (image)" },
    { NULL } },
  { "priority classes",
    "extras:\n  hivedScheduler:\n    jobPriorityClass: ^\n",
    { "prod", "oppo" },
    { NULL } },
  { "deployments",
    "deployments:\n  - name: x\n    taskRoles: {}\ndefaults:\n  deployment: "
    "^\n",
    { "x (deployment)" },
    { NULL } },
  { "secrets of a variable",
    JOB "extras: { openpai: { environment: { X: { secret: ^ } } } }\n",
    { "token (secret)" },
    { "lr" } },
  { "fields of a variable",
    JOB "extras:\n  openpai:\n    environment:\n      X:\n        ^\n",
    { "secret -> secret: ${1}", "container -> container: ${1:false}" },
    { NULL } },
  { "a mapping is no value",
    JOB "taskRoles:\n  w:\n    resourcePerInstance: ^\n",
    { NULL },
    { "worker", "{" } },
};

static const row texts[] = {
  { "template names",
    JOB ROLE "      - echo <% ^\n",
    { "$parameters.lr -> $parameters.lr %>",
      "$parameters.model -> $parameters.model %>",
      "$secrets.token -> $secrets.token %>" },
    { "$data", "PAI_JOB_NAME" } },
  { "a tag that is closed",
    JOB ROLE "      - echo <% $par^ %> b\n",
    { "$parameters.lr\n" },
    { NULL } },
  { "keys below a parameter",
    JOB ROLE "      - echo <%$parameters.model.^%>\n",
    { "$parameters.model.depth" },
    { "$parameters.lr", "$secrets.token" } },
  { "the data of the role",
    JOB "taskRoles:\n  w:\n    data: d\n    commands: [ 'ls <% ^' ]\n",
    { "$data.name -> $data.name %>" },
    { "$script.name" } },
  { "accounts have secrets only",
    JOB "  # \nextras: {}\ndeployments: []\n" ROLE "x: 1\n"
        "prerequisites:\n  - "
        "type: dockerimage\n    auth: { password: '<% ^' }\n",
    { "$secrets.token -> $secrets.token %>" },
    { "$parameters.lr" } },
  { "variables after a dollar sign",
    JOB ROLE "      - echo $^\n",
    { "PAI_JOB_NAME (name of the job, as USER~JOB)",
      "PAI_HOST_IP_w_1 (address of a task)",
      "PAI_PORT_LIST_w_0_ssh (ports of a task with that label",
      "PAI_TASK_ROLE_w_HOST_LIST (" },
    { "PAI_HOST_IP_w_2", "PAI_DATA_DIR", "$parameters.lr" } },
  { "variables by their beginning, in a program",
    JOB ROLE "      - python -c 'os.environ[\"PAI_^\"]'\n",
    { "PAI_TASK_INDEX (index of this task in its role, from 0)" },
    { NULL } },
  { "variables that the job sets",
    JOB ROLE
    "      - echo ${^}\nextras: { openpai: { environment: { LR: 1 } } }\n",
    { "LR (variable of this job)" },
    { NULL } },
  { "variables of a role with ports",
    JOB
    "taskRoles:\n  a_b:\n    resourcePerInstance: { ports: { x: 1 } }\n    "
    "commands: [ '$^' ]\n",
    { "PAI_a_b_0_x_PORT (", "PAI_CONTAINER_HOST_x_PORT_LIST (" },
    { NULL } },
  { "variables of job config v1",
    "{\"jobName\": \"n\", \"taskRoles\": [{\"name\": \"w\", \"command\": "
    "\"ls $PAI_^\"}]}",
    { "PAI_DATA_DIR (dataDir)", "PAI_HOST_IP_w_0 (" },
    { "$parameters.lr" } },
  { "nothing else in a command",
    JOB ROLE "      - echo a^b\n",
    { NULL },
    { "python train.py", "PAI_JOB_NAME" } },
  { "block scalars",
    JOB "taskRoles:\n  w:\n    commands:\n      - |\n        ls\n        echo "
        "$PAI_^\n        x\n",
    { "PAI_HOST_IP_w_0 (" },
    { "PAI_HOST_IP_w_1" } },
};

/* Files of clusters, by the tables that read them. */
static const row clusters[] = {
  { "a node, by its needed fields first",
    "nodes:\n  - name: a\n    ^\nskus: {}\n",
    { "*sku -> sku: ${1} (its type of machine, of skus)", "rack -> rack: " },
    { "name", "protocolVersion" } },
  { "a new SKU",
    "skus:\n  ^\nnodes: []\n",
    { "SKU -> ${1:name}:\n    ${2} (new entry)" },
    { "gpu" } },
  { "fields of a SKU",
    "skus:\n  x:\n    used: { ^ }\nnodes: []\n",
    { "cpus -> cpus: ", "memory -> memory: " },
    { "gpu" } },
  { "a flag",
    "virtualClusters: { a: { stopped: ^ } }\nnodes: []\n",
    { "true", "false" },
    { NULL } },
  { "HiveD",
    "physicalCluster:\n  cellTypes:\n    a:\n      ^\n",
    { "*childCellType -> childCellType: ${1} (type of the cells in it)" },
    { "skuTypes" } },
  { "shares of HiveD",
    "physicalCluster: {}\nvirtualClusters:\n  a:\n    virtualCells:\n    - "
    "cellType: x\n      ^\n",
    { "cellNumber -> cellNumber: ${1:0} (number of these cells)" },
    { "cellType" } },
};

/* A line of the completions begins with a label. */
static bool has_label(const char *all, const char *label)
{
  size_t len = strlen(label);

  for (const char *s = all; (s = strstr(s, label)) != NULL; s++)
    if ((s == all || s[-1] == '\n' || s[-1] == '*') &&
        (s[len] == '\n' || strncmp(s + len, " (", 2) == 0 ||
         strncmp(s + len, " -> ", 4) == 0))
      return true;
  return false;
}

static void check_row(const void *of)
{
  const row *r = of;
  cursor_text c = cursor_open(r->text, NULL);
  int rc;
  pai__buf all = cursor_completions(&c, &rc);

  assert_ok(rc);
  for (size_t i = 0; i < PAI__LEN(r->has) && r->has[i] != NULL; i++)
    assert_has(pai__buf_text(&all), r->has[i]);
  for (size_t i = 0; i < PAI__LEN(r->not ) && r->not [i] != NULL; i++)
    if (has_label(pai__buf_text(&all), r->not [i]))
      fail_msg("'%s' is among\n%s", r->not [i], pai__buf_text(&all));
  pai__buf_dispose(&all);
  cursor_close(&c);
}

TEST_TABLE(check_row, keys);
TEST_TABLE(check_row, values);
TEST_TABLE(check_row, texts);
TEST_TABLE(check_row, clusters);

/* The whole piece is a valid job, once its places are filled in. */
static int on_piece(void *user_data, const pai__completion *c)
{
  pai__buf *out = user_data;

  if (strcmp(c->label, "job file") != 0)
    return PAI_OK;
  for (const char *s = c->insert; *s != '\0'; s++)
    if (s[0] == '$' && s[1] == '{')
      s += strcspn(s, ":"); /* ${1:VALUE} */
    else if (*s == '\\')
      pai__buf_char(out, *++s);
    else if (*s != '}')
      pai__buf_char(out, *s);
  return 1;
}

TEST(whole_job_is_valid)
{
  const pai__language_text t = { "", 0, PAI__LANGUAGE_JOB, &pai__libc_alloc };
  pai__buf text = test_buf();
  pai_spec *spec;

  assert_int_equal(pai__complete(&t, 0, NULL, on_piece, &text, NULL), 1);
  assert_ok(pai_spec_parse(&spec, pai__buf_text(&text), text.len, NULL, NULL));
  assert_string_equal(pai_spec_role_name(spec, 0), "worker");
  pai_spec_unref(spec);
  pai__buf_dispose(&text);
}

static int on_unused(void *user_data, const pai__completion *c)
{
  int *seen = user_data;

  assert_int_equal(c->deprecated, strcmp(c->label, "require") == 0);
  *seen += c->deprecated;
  return PAI_OK;
}

TEST(unused_fields_are_marked)
{
  cursor_text c =
    cursor_open("prerequisites:\n  - type: script\n    ^\n", NULL);
  int seen = 0;

  assert_ok(pai__complete(&c.t, c.at, NULL, on_unused, &seen, NULL));
  assert_int_equal(seen, 1);
  cursor_close(&c);
}

static int on_secret(void *user_data, const pai__completion *c)
{
  (void)user_data;
  assert_null(strstr(c->insert, "hunter2"));
  if (c->documentation != NULL)
    assert_null(strstr(c->documentation, "hunter2"));
  return PAI_OK;
}

TEST(secrets_are_not_shown)
{
  cursor_text c = cursor_open(JOB ROLE "      - <% ^\n", NULL);

  assert_ok(pai__complete(&c.t, c.at, NULL, on_secret, NULL, NULL));
  cursor_close(&c);
}

TEST(beyond_the_text)
{
  const pai__language_text t = { "a: 1", 4, PAI__LANGUAGE_JOB,
                                 &pai__libc_alloc };
  pai_error *err;

  assert_fails(pai__complete(&t, 5, NULL, on_secret, NULL, &err), err,
               PAI_EINVAL, "no byte 5");
}

TEST_FAULTS(without_memory)
{
  static const char *const at[] = { JOB "taskRoles:\n  w:\n    ins^\n",
                                    JOB ROLE "      - <% ^\n",
                                    JOB ROLE "      - $PAI_^\n",
                                    "prerequisites:\n  ^\n", "{\"a\": [^" };
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(at) && rc == PAI_OK; i++) {
    cursor_text c = cursor_open(at[i], alloc);
    pai__buf all = cursor_completions(&c, &rc);

    pai__buf_dispose(&all);
    cursor_close(&c);
  }
  return rc;
}
