/* What is told of the key, value or name at the cursor. */
#include "cases.h"
#include "language/cursor.h"

#define JOB                                          \
  "protocolVersion: 2\n"                             \
  "parameters: { lr: 0.1, model: { depth: 4 } }\n"   \
  "secrets: { token: hunter2 }\n"                    \
  "prerequisites:\n"                                 \
  "  - { name: img, type: dockerimage, uri: u:1 }\n" \
  "  - { name: d, type: data, uri: [ x ] }\n"
#define ROLE               \
  "taskRoles:\n"           \
  "  w:\n"                 \
  "    instances: 4\n"     \
  "    dockerImage: img\n" \
  "    data: d\n"          \
  "    resourcePerInstance: { cpu: 16, memoryMB: 65536, gpu: 2 }\n"

/* The marked text, the range that is described, and parts of the text; NULL as
 * the range: there is nothing to say. */
typedef struct row {
  const char *name, *text, *range;
  const char *has[4];
} row;

static const row rows[] = {
  { "a field",
    "taskRoles:\n  w:\n    inst^ances: 3\n",
    "instances",
    { "**instances**: whole number, default `1`", "number of tasks",
      "At least 1", "Value: `3`" } },
  { "a field on its value",
    "taskRoles:\n  w:\n    instances: 3^\n",
    "3",
    { "**instances**: whole number" } },
  { "a field that is needed, with words",
    "type: ^job\nprotocolVersion: 2\n",
    "job",
    { "required", "Allowed: `job`" } },
  { "a form",
    JOB "na^me: x\n",
    "name",
    { "Form: letters, digits, _ and -; at most 255 characters" } },
  { "null that means a default",
    JOB ROLE "    completion: { minSucceededInstances: n^ull }\n",
    "null",
    { "Value: `null`, which means `4`" } },
  { "shapes", "prere^quisites: []\n", "prerequisites", { "list" } },
  { "a prerequisite by its name",
    "prerequisites: [ { name: i, type: dockerimage, uri: 'u:1' } ]\n"
    "taskRoles: { w: { dockerImage: ^i } }\n",
    "i",
    { "Uri: `\"u:1\"`" } },
  { "a prerequisite that is missing",
    JOB "taskRoles: { w: { dockerImage: ^j } }\n",
    "j",
    { "no such dockerimage" } },
  { "a task role",
    "taskRoles:\n  ^w:\n    instances: 4\n    resourcePerInstance: { cpu: "
    "0.5, "
    "memoryMB: 1000, gpu: 1 }\n",
    "w",
    { "**w**: a task role", "Each task: 1 GPU, 0.5 CPUs, 1000 MiB",
      "4 tasks: 4 GPUs, 2 CPUs, 4000 MiB" } },
  { "the resources of a role",
    "taskRoles:\n  w:\n    instances: 4\n    re^sourcePerInstance: { cpu: 16, "
    "memoryMB: 65536, gpu: 2 }\n",
    "resourcePerInstance",
    { "4 tasks: 8 GPUs, 64 CPUs, 256 GiB" } },
  { "all roles",
    "task^Roles:\n  a: { instances: 2, resourcePerInstance: { cpu: 1, gpu: 1, "
    "memoryMB: 1024 } }\n  b: { resourcePerInstance: { cpu: 1, gpu: 0, "
    "memoryMB: 0 } }\n",
    "taskRoles",
    { "3 tasks: 2 GPUs, 3 CPUs, 2 GiB" } },
  { "a command as it runs",
    JOB ROLE "    commands:\n      - tr^ain <% $parameters.lr %> <% "
             "$secrets.token %>\n",
    "train <% $parameters.lr %> <% $secrets.token %>",
    { "Runs:\n\n~~~~sh\ntrain 0.1 <% $secrets.token %>\n~~~~" } },
  { "all commands, with the deployment's",
    JOB ROLE
    "    com^mands: [ a, b ]\n"
    "deployments:\n  - name: x\n    taskRoles: { w: { preCommands: [ p ] } }\n"
    "defaults: { deployment: x }\n",
    "commands",
    { "~~~~sh\np\na\nb\n~~~~" } },
  { "a template",
    JOB ROLE "    commands: [ 'a <% $par^ameters.model.depth %> b' ]\n",
    "<% $parameters.model.depth %>",
    { "**$parameters.model.depth**: `4`" } },
  { "a template with an index",
    JOB ROLE "    commands: [ 'a <% $data.uri[0^] %> b' ]\n",
    "<% $data.uri[0] %>",
    { "`\"x\"`" } },
  { "a template without a value",
    JOB ROLE "    commands: [ 'a <% $parameters.^x %> b' ]\n",
    "<% $parameters.x %>",
    { "has no value here" } },
  { "a secret is masked",
    JOB ROLE "    commands: [ 'a <% $secrets.^token %> b' ]\n",
    "<% $secrets.token %>",
    { "`\"******\"`" } },
  { "a secret's own value is masked",
    "secrets: { token: hun^ter2 }\nprotocolVersion: 2\n",
    "hunter2",
    { "Value: `\"******\"`" } },
  { "a variable",
    JOB ROLE "    commands: [ 'a $PAI_HOST_IP_^w_0 b' ]\n",
    "PAI_HOST_IP_w_0",
    { "**PAI_HOST_IP_w_0**: address of a task" } },
  { "a variable whose value the file says",
    CURSOR_JOB ROLE "    commands: [ 'a $PAI_RESOURCE_^w b' ]\n",
    "PAI_RESOURCE_w",
    { "resources of each task of a role", "\n\nValue: `2,16,65536,0`" } },
  { "a variable that differs by task",
    CURSOR_JOB ROLE "    commands: [ 'a $PAI_TASK_^INDEX b' ]\n",
    "PAI_TASK_INDEX",
    { "\n\nValue of tasks 0 to 3: `0, 1, 2, 3`" } },
  { "a variable that does not exist",
    JOB ROLE "    commands: [ 'a $PAI_HOST_IP_^v_0 b' ]\n",
    "PAI_HOST_IP_v_0",
    { "sets no such variable" } },
  { "a parameter",
    "parameters:\n  l^r: 0.1\nprotocolVersion: 2\n",
    "lr",
    { "**lr**: a parameter", "Value: `0.1`" } },
  { "a plugin's parameter",
    "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: ssh\n      "
    "parameters: { job^ssh: true }\nprotocolVersion: 2\n",
    "jobssh",
    { "log in to each other" } },
  { "job config v1",
    "{\"jobName\": \"n\", \"taskRoles\": [{\"name\": \"w\", \"task^Number\": "
    "2}]}",
    "\"taskNumber\"",
    { "whole number, default `1`" } },
  { "in a broken file",
    "name: [\n"
    "taskRoles:\n  w:\n    inst^ances: 3\n",
    "instances",
    { "number of tasks" } },
  { "a field of a cluster",
    "nodes: [ { na^me: n } ]\n",
    "name",
    { "**name**: text, required\n\nits name; gpu[01-16] for many" } },
  { "nothing in a comment", JOB "# ^\n", NULL, { NULL } },
  { "nothing for a field that is unknown", JOB "x^y: 1\n", NULL, { NULL } },
};

static void check_row(const void *of)
{
  const row *r = of;
  cursor_text c = cursor_open(r->text, NULL);
  pai__buf text = test_buf();
  pai__span range;
  int rc = pai__hover(&c.t, c.at, &range, &text);

  if (r->range == NULL) {
    assert_int_equal(rc, PAI_ENOTFOUND);
    assert_int_equal(text.len, 0);
  } else {
    assert_ok(rc);
    assert_string_equal(cursor_part(&c, range), r->range);
  }
  assert_null(strstr(pai__buf_text(&text), "hunter2"));
  for (size_t i = 0; i < PAI__LEN(r->has) && r->has[i] != NULL; i++)
    assert_has(pai__buf_text(&text), r->has[i]);
  pai__buf_dispose(&text);
  cursor_close(&c);
}

TEST_TABLE(check_row, rows);

TEST_FAULTS(without_memory)
{
  static const char *const at[] = {
    JOB ROLE "    com^mands: [ 'a <% $parameters.lr %>' ]\n",
    JOB ROLE "    commands: [ 'a <% $parameters.l^r %>' ]\n",
    CURSOR_JOB ROLE "    commands: [ 'a $PAI_TASK_IN^DEX' ]\n",
    "@\n" JOB ROLE "    instan^ces: 3\n"
  };
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__LEN(at) && rc == PAI_OK; i++) {
    cursor_text c = cursor_open(at[i], alloc);
    pai__buf text;
    pai__span range;

    pai__buf_init(&text, alloc);
    rc = pai__hover(&c.t, c.at, &range, &text);
    pai__buf_dispose(&text);
    cursor_close(&c);
  }
  return rc;
}
