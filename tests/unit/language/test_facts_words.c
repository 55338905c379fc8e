/* Completion in commands: template names and environment variables. */
#include "cases.h"
#include "language/cursor.h"

static const cursor_row texts[] = {
  { "template names",
    CURSOR_JOB CURSOR_ROLE "      - echo <% ^\n",
    { "$parameters.lr -> $parameters.lr %> (1)",
      "$parameters.model -> $parameters.model %> ({\"depth\":4})",
      "$secrets.token -> $secrets.token %> (\"******\")" },
    { "$data", "PAI_JOB_NAME" } },
  { "a tag that is closed",
    CURSOR_JOB CURSOR_ROLE "      - echo <% $par^ %> b\n",
    { "$parameters.lr (1)\n" },
    { NULL } },
  { "keys below a parameter",
    CURSOR_JOB CURSOR_ROLE "      - echo <%$parameters.model.^%>\n",
    { "$parameters.model.depth" },
    { "$parameters.lr", "$secrets.token" } },
  { "the data of the role",
    CURSOR_JOB "taskRoles:\n  w:\n    data: d\n    commands: [ 'ls <% ^' ]\n",
    { "$data.name -> $data.name %>" },
    { "$script.name" } },
  { "accounts have secrets only",
    CURSOR_JOB "  # \nextras: {}\ndeployments: []\n" CURSOR_ROLE "x: 1\n"
               "prerequisites:\n  - "
               "type: dockerimage\n    auth: { password: '<% ^' }\n",
    { "$secrets.token -> $secrets.token %>" },
    { "$parameters.lr" } },
  { "variables after a dollar sign",
    CURSOR_JOB CURSOR_ROLE "      - echo $^\n",
    { "PAI_JOB_NAME (name of the job, as USER~JOB)",
      "PAI_HOST_IP_w_1 (address of a task)",
      "PAI_PORT_LIST_w_0_ssh (ports of a task with that label",
      "PAI_TASK_ROLE_w_HOST_LIST (" },
    { "PAI_HOST_IP_w_2", "PAI_DATA_DIR", "$parameters.lr" } },
  { "variables by their beginning, in a program",
    CURSOR_JOB CURSOR_ROLE "      - python -c 'os.environ[\"PAI_^\"]'\n",
    { "PAI_TASK_INDEX (index of this task in its role, from 0 (0, 1))" },
    { NULL } },
  { "variables that the job sets",
    CURSOR_JOB CURSOR_ROLE
    "      - echo ${^}\nextras: { openpai: { environment: { LR: 1 } } }\n",
    { "LR (variable of this job (1))" },
    { NULL } },
  { "values that the file says",
    CURSOR_JOB CURSOR_ROLE "      - echo $^\n",
    { "PAI_TASK_ROLE_TASK_COUNT_w (number of tasks of a role (2))",
      "PAI_CURRENT_TASK_ROLE_NAME (task role of this task (w))",
      "PAI_RESOURCE_w (resources of each task of a role: GPUs,CPUs,MEMORY,SHM "
      "in MiB (0,1,1,0))",
      "PAI_DEFAULT_FS_URI (empty; for old jobs)\n" },
    { NULL } },
  { "values of some tasks of many, in spite of a broken line",
    CURSOR_JOB "@\ntaskRoles:\n  w:\n    instances: 9\n    dockerImage: img\n"
               "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n"
               "    commands: [ 'echo $^' ]\n",
    { "PAI_TASK_INDEX (index of this task in its role, from 0 (0, 1, 2, 3, "
      "...))" },
    { NULL } },
  { "values of job config v1",
    "{\"jobName\": \"n\", \"image\": \"i\", \"taskRoles\": [{\"name\": \"w\", "
    "\"taskNumber\": 3, \"minSucceededTaskCount\": 2, \"command\": \"ls "
    "$PAI_^\"}]}",
    { "PAI_TASK_ROLE_NUM (number of tasks of this role (3))",
      "PAI_TASK_ROLE_INDEX (index of this task in its role, from 0 (0, 1, "
      "2))",
      "PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT (number of succeeded "
      "tasks of this role that completes the job (2))" },
    { NULL } },
  { "variables of a role with ports",
    CURSOR_JOB
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
    CURSOR_JOB CURSOR_ROLE "      - echo a^b\n",
    { NULL },
    { "python train.py", "PAI_JOB_NAME" } },
  { "block scalars",
    CURSOR_JOB
    "taskRoles:\n  w:\n    commands:\n      - |\n        ls\n        echo "
    "$PAI_^\n        x\n",
    { "PAI_HOST_IP_w_0 (" },
    { "PAI_HOST_IP_w_1" } },
};

TEST_TABLE(cursor_check_row, texts);

/* Ends the call at the variable that the job sets. */
static int on_own(void *user_data, const pai__completion *c)
{
  ++*(int *)user_data;
  return strcmp(c->label, "LR") == 0 ? 77 : PAI_OK;
}

TEST(a_callback_ends_the_call)
{
  cursor_text c =
    cursor_open(CURSOR_JOB CURSOR_ROLE "      - echo ${^}\nextras: { openpai: "
                                       "{ environment: { LR: 1 } } }\n",
                NULL);
  int calls = 0;

  assert_int_equal(pai__complete(&c.t, c.at, NULL, on_own, &calls, NULL), 77);
  assert_int_equal(calls, 1);
  cursor_close(&c);
}

static int on_secret(void *user_data, const pai__completion *c)
{
  (void)user_data;
  assert_null(strstr(c->insert, "hunter2"));
  if (c->detail != NULL)
    assert_null(strstr(c->detail, "hunter2"));
  if (c->documentation != NULL)
    assert_null(strstr(c->documentation, "hunter2"));
  return PAI_OK;
}

TEST(secrets_are_not_shown)
{
  cursor_text c = cursor_open(CURSOR_JOB CURSOR_ROLE "      - <% ^\n", NULL);

  assert_ok(pai__complete(&c.t, c.at, NULL, on_secret, NULL, NULL));
  cursor_close(&c);
}
