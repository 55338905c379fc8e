/*
 * What may be inserted at the cursor: keys, values, names, whole pieces; in
 * files that are right, and while somebody types.
 */
#include "cases.h"
#include "language/cursor.h"

#include <openpai/spec.h>

static const cursor_row keys[] = {
  { "an empty file has all fields, and a whole job",
    "^",
    { "*protocolVersion -> protocolVersion: 2 (2)",
      "*name -> name: ${1:my-job} (the job's name)",
      "jobRetryCount -> jobRetryCount: ${1:0}",
      "job file -> protocolVersion: 2\nname: ${1:my-job}\ntype: job\n" },
    { NULL } },
  { "a word in a role is a key",
    CURSOR_JOB "taskRoles:\n  w:\n    ins^\n    dockerImage: img\n",
    { "instances -> instances: ${1:1} (number of tasks)",
      "*resourcePerInstance -> resourcePerInstance:\n      cpu: ${1:4}\n"
      "      memoryMB: ${2:8192}\n      gpu: ${3:1} (" },
    { "dockerImage", "jobRetryCount" } },
  { "a key with a colon is replaced alone",
    CURSOR_JOB "taskRoles:\n  w:\n    ins^: 3\n",
    { "instances (number of tasks)" },
    { NULL } },
  { "an unfinished key among broken lines",
    CURSOR_JOB
    "taskRoles:\n  w:\n    dockerImage: img\n    @bad\n    ins^\n    "
    "data: d\n",
    { "instances -> instances: ${1:1}" },
    { "dockerImage", "data" } },
  { "a broken line far away costs nothing",
    "name: [\n" CURSOR_JOB "taskRoles:\n  w:\n    dockerImage: ^\n",
    { "img (dockerimage)" },
    { NULL } },
  { "a task role",
    CURSOR_JOB "taskRoles:\n  ^\n",
    { "task role -> ${1:worker}:\n    instances: ${2:1}\n    dockerImage: "
      "${3:image}\n    resourcePerInstance:\n      cpu: ${4:4}\n" },
    { "name" } },
  { "fields of a prerequisite without a type are those of all types",
    CURSOR_JOB "  # no\nextras: {}\ndeployments:\n  - ^\n",
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
    CURSOR_JOB CURSOR_ROLE "extras:\n  ^\n",
    { "hivedScheduler -> hivedScheduler:",
      "gangAllocation -> gangAllocation: "
      "${1:false}",
      "com.microsoft.pai.runtimeplugin -> com.microsoft.pai.runtimeplugin:\n"
      "    - plugin: ssh\n      parameters:\n        jobssh: ${1:true}" },
    { "protocolVersion" } },
  { "parameters of a plugin",
    CURSOR_JOB CURSOR_ROLE
    "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: "
    "tensorboard\n      parameters:\n        ^\n",
    { "*port -> port: ${1:10234}",
      "*logdir -> logdir:\n          ${1:path}: ${2:/mnt/tensorboard}" },
    { "jobssh" } },
  { "options of this platform",
    CURSOR_JOB CURSOR_ROLE "extras:\n  openpai:\n    ^\n",
    { "timeLimit -> timeLimit: ${1:2h} (time limit of an attempt" },
    { NULL } },
  { "task roles in a deployment, without those that are there",
    CURSOR_JOB
    "taskRoles:\n  w: {}\n  v: {}\ndeployments:\n  - taskRoles:\n      "
    "w: {}\n      ^\n",
    { "v -> v:\n        ${1} (task role)" },
    { "w" } },
  { "keys in brackets",
    CURSOR_JOB "taskRoles:\n  w: { resourcePerInstance: { cpu: 1, ^ } }\n",
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
  { "nothing in a comment", CURSOR_JOB "# ^\n", { NULL }, { "name", "type" } },
};

static const cursor_row values[] = {
  { "prerequisites by type",
    CURSOR_JOB "taskRoles:\n  w:\n    dockerImage: ^\n    data: d\n",
    { "img (dockerimage)" },
    { "d", "image" } },
  { "a value just after a colon",
    CURSOR_JOB "taskRoles:\n  w:\n    dockerImage:^\n",
    { "img ->  img (dockerimage)" },
    { NULL } },
  { "an item just after a dash",
    CURSOR_JOB "taskRoles:\n  w:\n    prerequisites:\n      -^\n",
    { "img ->  img (dockerimage)" },
    { NULL } },
  { "lines that end with CR LF",
    "protocolVersion: 2\r\ntaskRoles:\r\n  w:\r\n    ins^\r\n    data: d\r\n",
    { "instances -> instances: ${1:1} (number of tasks)" },
    { "data" } },
  { "the word being typed is replaced",
    CURSOR_JOB "taskRoles:\n  w:\n    data: xy^z\n",
    { "d (data)" },
    { "img" } },
  { "prerequisites of all types in a list",
    CURSOR_JOB "taskRoles:\n  w:\n    prerequisites:\n      - ^\n",
    { "img (dockerimage)", "d (data)" },
    { NULL } },
  { "items of a list that has none yet",
    CURSOR_JOB "taskRoles:\n  w:\n    prerequisites:\n      ^\n",
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
    CURSOR_JOB CURSOR_ROLE "defaults:\n  virtualCluster: ^\n",
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
    CURSOR_JOB "extras: { openpai: { environment: { X: { secret: ^ } } } }\n",
    { "token (secret)" },
    { "lr" } },
  { "fields of a variable",
    CURSOR_JOB "extras:\n  openpai:\n    environment:\n      X:\n        ^\n",
    { "secret -> secret: ${1}", "container -> container: ${1:false}" },
    { NULL } },
  { "a mapping is no value",
    CURSOR_JOB "taskRoles:\n  w:\n    resourcePerInstance: ^\n",
    { NULL },
    { "worker", "{" } },
};

/* Files of clusters, by the tables that read them. */
static const cursor_row clusters[] = {
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

TEST_TABLE(cursor_check_row, keys);
TEST_TABLE(cursor_check_row, values);
TEST_TABLE(cursor_check_row, clusters);

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

static int on_none(void *user_data, const pai__completion *c)
{
  (void)user_data, (void)c;
  return PAI_OK;
}

TEST(beyond_the_text)
{
  const pai__language_text t = { "a: 1", 4, PAI__LANGUAGE_JOB,
                                 &pai__libc_alloc };
  pai_error *err;

  assert_fails(pai__complete(&t, 5, NULL, on_none, NULL, &err), err,
               PAI_EINVAL, "no byte 5");
}

TEST_FAULTS(without_memory)
{
  static const char *const at[] = { CURSOR_JOB "taskRoles:\n  w:\n    ins^\n",
                                    CURSOR_JOB CURSOR_ROLE "      - <% ^\n",
                                    CURSOR_JOB CURSOR_ROLE "      - $PAI_^\n",
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
