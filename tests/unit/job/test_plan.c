/* The launch plan: every variable of a small job, and failing memory; names and
 * identifiers, the reference's own. */
#include "cases.h"

#include "job/plan/names.h"
#include "job/plan/plan.h"
#include "spec/variables.h"

#include <stdio.h>
#include <stdlib.h>

static pai__port worker_ports[] = { { "mpi", 2 },
                                    { "ssh", 1 },
                                    { "http", 1 } };
static pai__port ps_ports[] = { { "ssh", 1 }, { "http", 1 } };

static pai__role roles[] = {
  { .name = "Worker_A",
    .command = "echo one\necho two",
    .instances = 2,
    .min_failed = 1,
    .min_succeeded = 2,
    .cpus = 4,
    .memory_mb = 8192,
    .gpus = 2,
    .shm_mb = 256,
    .ports = worker_ports,
    .nports = 3 },
  { .name = "ps",
    .command = "serve",
    .instances = 1,
    .min_failed = 1,
    .min_succeeded = -1,
    .cpus = 1,
    .memory_mb = 512,
    .ports = ps_ports,
    .nports = 2 },
};

static const pai_spec spec = {
  .name = "train", .roles = roles, .nroles = 2, .ntasks = 3
};

static const pai__task tasks[] = { { .role = 0, .index = 0 },
                                   { .role = 0, .index = 1 },
                                   { .role = 1, .index = 0 } };

static const uint32_t ports[][4] = { { 20000, 20001, 20002, 20003 },
                                     { 20004, 20005, 20006, 20007 },
                                     { 20008, 20009 } };

static const pai__task_place places[] = { { "10.0.0.1", 0x3, ports[0] },
                                          { "10.0.0.2", 0x5, ports[1] },
                                          { "10.0.0.2", 0, ports[2] } };

static const pai__plan_context context = { .spec = &spec,
                                           .tasks = tasks,
                                           .places = places,
                                           .user = "ada",
                                           .job_dir = "/jobs/train",
                                           .attempt = 1 };

/* What task Worker_A[1] must see, name by name and in no order. */
static const char *const wanted[] = {
  "PAI_JOB_NAME=ada~train",
  "PAI_FRAMEWORK_NAME=ada~train",
  "PAI_USER_NAME=ada",
  "PAI_USERNAME=ada",
  "PAI_DEFAULT_FS_URI=",
  "PAI_VIRTUAL_CLUSTER=default",
  "PAI_TASK_ROLE_COUNT=2",
  "PAI_TASK_ROLES_NUM=2",
  "PAI_JOB_TASK_ROLE_COUNT=2",
  "PAI_TASKS_NUM=3",
  "PAI_JOB_TASK_COUNT=3",
  "PAI_TASK_ROLE_LIST=Worker_A,ps",
  "PAI_JOB_TASK_ROLE_LIST=Worker_A,ps",
  "PAI_TASK_ROLE_TASK_COUNT_Worker_A=2",
  "PAI_TASK_ROLE_TASK_COUNT_ps=1",
  "PAI_RESOURCE_Worker_A=2,4,8192,256",
  "PAI_RESOURCE_ps=0,1,512,0",
  "PAI_MIN_FAILED_TASK_COUNT_Worker_A=1",
  "PAI_MIN_SUCCEEDED_TASK_COUNT_Worker_A=2",
  "PAI_MIN_FAILED_TASK_COUNT_ps=1",
  "PAI_MIN_SUCCEEDED_TASK_COUNT_ps=-1",
  "PAI_HOST_IP_Worker_A_0=10.0.0.1",
  "PAI_HOST_IP_Worker_A_1=10.0.0.2",
  "PAI_HOST_IP_workera_0=10.0.0.1", /* as the old runtime spelt it */
  "PAI_HOST_IP_workera_1=10.0.0.2",
  "PAI_HOST_IP_ps_0=10.0.0.2",
  "PAI_PORT_LIST_Worker_A_0_mpi=20000,20001",
  "PAI_PORT_LIST_Worker_A_1_mpi=20004,20005",
  "PAI_PORT_LIST_Worker_A_0_ssh=20002",
  "PAI_PORT_LIST_Worker_A_1_ssh=20006",
  "PAI_PORT_LIST_Worker_A_0_http=20003",
  "PAI_PORT_LIST_Worker_A_1_http=20007",
  "PAI_PORT_LIST_workera_0_mpi=20000,20001",
  "PAI_PORT_LIST_workera_1_mpi=20004,20005",
  "PAI_PORT_LIST_workera_0_ssh=20002",
  "PAI_PORT_LIST_workera_1_ssh=20006",
  "PAI_PORT_LIST_workera_0_http=20003",
  "PAI_PORT_LIST_workera_1_http=20007",
  "PAI_PORT_LIST_ps_0_ssh=20008",
  "PAI_PORT_LIST_ps_0_http=20009",
  "PAI_Worker_A_0_mpi_PORT=20000,20001",
  "PAI_Worker_A_1_mpi_PORT=20004,20005",
  "PAI_Worker_A_0_ssh_PORT=20002",
  "PAI_Worker_A_1_ssh_PORT=20006",
  "PAI_Worker_A_0_http_PORT=20003",
  "PAI_Worker_A_1_http_PORT=20007",
  "PAI_workera_0_mpi_PORT=20000,20001",
  "PAI_workera_1_mpi_PORT=20004,20005",
  "PAI_workera_0_ssh_PORT=20002",
  "PAI_workera_1_ssh_PORT=20006",
  "PAI_workera_0_http_PORT=20003",
  "PAI_workera_1_http_PORT=20007",
  "PAI_ps_0_ssh_PORT=20008",
  "PAI_ps_0_http_PORT=20009",
  "PAI_TASK_ROLE_Worker_A_HOST_LIST=10.0.0.1:20003,10.0.0.2:20007",
  "PAI_TASK_ROLE_workera_HOST_LIST=10.0.0.1:20003,10.0.0.2:20007",
  "PAI_TASK_ROLE_ps_HOST_LIST=10.0.0.2:20009",
  "PAI_TASK_ROLE_INSTANCES=Worker_A:0,Worker_A:1,ps:0",
  "PAI_CURRENT_TASK_ROLE_NAME=Worker_A",
  "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX=1",
  "PAI_TASK_INDEX=1",
  "PAI_CURRENT_CONTAINER_IP=10.0.0.2",
  "PAI_CONTAINER_HOST_IP=10.0.0.2",
  "PAI_CURRENT_CONTAINER_PORT=20007",
  "PAI_CONTAINER_HOST_PORT=20007",
  "PAI_CONTAINER_SSH_PORT=20006",
  "PAI_CONTAINER_HOST_mpi_PORT_LIST=20004,20005",
  "PAI_CONTAINER_HOST_ssh_PORT_LIST=20006",
  "PAI_CONTAINER_HOST_http_PORT_LIST=20007",
  "PAI_CONTAINER_HOST_PORT_LIST=mpi:20004,20005;ssh:20006;http:20007;",
  "FC_FRAMEWORK_NAMESPACE=default",
  "FC_FRAMEWORK_NAME=4b163cfaafb40baed5f2bd7450c4e8db",
  "FC_CONFIGMAP_NAME=4b163cfaafb40baed5f2bd7450c4e8db-attempt",
  "FC_POD_NAME=4b163cfaafb40baed5f2bd7450c4e8db-workera-1",
  "FC_FRAMEWORK_UID=99824f20-ffe1-2aed-6e50-43808b9ac530",
  "FC_FRAMEWORK_ATTEMPT_ID=1",
  "FC_FRAMEWORK_ATTEMPT_INSTANCE_UID=1_6d13dcd0-4e2d-4874-4bd3-5af4e01bbbe9",
  "FC_CONFIGMAP_UID=6d13dcd0-4e2d-4874-4bd3-5af4e01bbbe9",
  "FC_TASKROLE_NAME=workera",
  "FC_TASK_INDEX=1",
  "FC_TASKROLE_UID=b6a75439-d190-6427-472b-71541ef3da01",
  "FC_TASK_UID=2133c3f4-36d1-e8fb-684c-fe50a582547f",
  "FC_TASK_ATTEMPT_ID=0",
  "FC_POD_UID=54f4738c-5a87-b2a8-de70-24c1c5b8f5d1",
  "FC_TASK_ATTEMPT_INSTANCE_UID=0_54f4738c-5a87-b2a8-de70-24c1c5b8f5d1",
  "RUNTIME_LOG_PIPE=/jobs/train/1/Worker_A-1/runtime",
  "NVIDIA_VISIBLE_DEVICES=0,2",
  "CUDA_VISIBLE_DEVICES=0,2",
};

static bool has(const char *const *env, const char *var)
{
  for (size_t i = 0; env[i] != NULL; i++)
    if (strcmp(env[i], var) == 0)
      return true;
  return false;
}

TEST_FAULTS(environment_is_complete)
{
  pai__plan_shared shared;
  pai__arena arena;
  pai_launch_plan plan;
  size_t count = 0;
  int rc;

  pai__arena_init(&arena, alloc);
  rc = pai__plan_share(&shared, &arena, &context);
  if (rc == PAI_OK)
    rc = pai__plan_make(&plan, &arena, &context, &shared, 1);
  if (rc == PAI_OK) {
    assert_string_equal(plan.dir, "/jobs/train/1/Worker_A-1");
    assert_string_equal(plan.script, "set -o errexit -o nounset -o pipefail\n"
                                     "export PAI_WORK_DIR=\"$PWD\"\n"
                                     "echo one\necho two\n");
    for (size_t i = 0; i < PAI__LEN(wanted); i++)
      if (!has(plan.env, wanted[i]))
        fail_msg("%s is missing", wanted[i]);
    while (plan.env[count] != NULL)
      count++;
    assert_int_equal(count, PAI__LEN(wanted)); /* and nothing else */
  }
  pai__arena_dispose(&arena);
  return rc;
}

/* --- the list of variables -------------------------------------------------- */

/* Returns whether "NAME=value" is the variable, for one of the roles. */
static bool is_variable(const pai__platform_variable *v, const char *line)
{
  static const char *const names[] = { "Worker_A", "workera", "ps" };
  size_t len = strcspn(line, "=");

  for (size_t i = 0; i < PAI__LEN(names); i++) {
    pai__variable_parts parts = { 0 };

    parts.part[PAI__VARIABLE_ROLE].fixed = names[i];
    parts.part[PAI__VARIABLE_ROLE].len = strlen(names[i]);
    if (pai__variable_fits(v, line, len, &parts))
      return true;
  }
  return false;
}

static void check_variables(const char *const *env, bool v1)
{
  bool seen[128] = { false };
  size_t i, row;

  for (i = 0; env[i] != NULL; i++) {
    for (row = 0; pai__platform_variables[row].name != NULL; row++)
      if (is_variable(&pai__platform_variables[row], env[i]))
        break;
    if (pai__platform_variables[row].name == NULL)
      fail_msg("%s is not among pai__platform_variables", env[i]);
    assert_true(v1 || !pai__platform_variables[row].v1);
    seen[row] = true;
  }
  for (row = 0; pai__platform_variables[row].name != NULL; row++)
    if (!seen[row] && (v1 || !pai__platform_variables[row].v1) &&
        strcmp(pai__platform_variables[row].name, "PAI_WORK_DIR") != 0)
      fail_msg("no plan sets %s", pai__platform_variables[row].name);
}

/* What editors offer is what a task sees, in both versions.  The script sets
 * PAI_WORK_DIR. */
TEST(editors_know_each_variable)
{
  for (int v1 = 0; v1 < 2; v1++) {
    pai_spec job = spec;
    pai__plan_context c = context;
    pai__plan_shared shared;
    pai_launch_plan plan;
    pai__arena arena;

    job.was_v1 = v1 == 1;
    c.spec = &job;
    pai__arena_init(&arena, &pai__libc_alloc);
    assert_ok(pai__plan_share(&shared, &arena, &c));
    assert_ok(pai__plan_make(&plan, &arena, &c, &shared, 1));
    check_variables(plan.env, v1 == 1);
    pai__arena_dispose(&arena);
  }
}

TEST(a_task_without_gpus_sees_none)
{
  pai__plan_shared shared;
  pai__arena arena;
  pai_launch_plan plan;

  pai__arena_init(&arena, &pai__libc_alloc);
  assert_ok(pai__plan_share(&shared, &arena, &context));
  assert_ok(pai__plan_make(&plan, &arena, &context, &shared, 2));
  assert_true(has(plan.env, "NVIDIA_VISIBLE_DEVICES=none"));
  assert_true(has(plan.env, "CUDA_VISIBLE_DEVICES="));
  pai__arena_dispose(&arena);
}

/* --- other jobs ---------------------------------------------------------- */

enum { MANY = 3000 };

/* A job whose n-th task runs at 10.0.n/256.n%256 with ports of its own. */
typedef struct job {
  pai__role roles[8];
  pai_spec spec;
  pai__task tasks[MANY];
  pai__task_place places[MANY];
  uint32_t ports[MANY][2];
  char ips[MANY][48];
  pai__plan_context context;
} job;

static void add_tasks(job *j, const char *role, uint32_t instances)
{
  j->roles[j->spec.nroles] = (pai__role){ .name = role,
                                          .command = "x",
                                          .instances = instances,
                                          .ports = ps_ports,
                                          .nports = 2 };
  for (uint32_t i = 0; i < instances; i++) {
    size_t t = j->spec.ntasks++;

    j->tasks[t] = (pai__task){ .role = (uint32_t)j->spec.nroles, .index = i };
    j->ports[t][0] = 10000 + 2 * (uint32_t)t;
    j->ports[t][1] = j->ports[t][0] + 1;
    (void)snprintf(j->ips[t], sizeof(j->ips[t]), "10.0.%zu.%zu", t / 256,
                   t % 256);
    j->places[t] = (pai__task_place){ .ip = j->ips[t], .ports = j->ports[t] };
  }
  j->spec.nroles++;
}

static job *new_job(void)
{
  job *j = calloc(1, sizeof(*j));

  assert_non_null(j);
  j->spec.name = "job";
  j->spec.roles = j->roles;
  j->context = (pai__plan_context){ .spec = &j->spec,
                                    .tasks = j->tasks,
                                    .places = j->places,
                                    .user = "ada",
                                    .job_dir = "/jobs" };
  return j;
}

/* Allocations for the plan of one task of a job of `instances` equal ones. */
static size_t cost_of_one_plan(uint32_t instances)
{
  job *j = new_job();
  pai__plan_shared shared;
  pai__arena all, one;
  test_tally tally;
  pai_launch_plan plan;

  add_tasks(j, "worker", instances);
  pai__arena_init(&all, &pai__libc_alloc);
  assert_ok(pai__plan_share(&shared, &all, &j->context));
  test_tally_init(&tally);
  pai__arena_init(&one, &tally.alloc);
  assert_ok(pai__plan_make(&plan, &one, &j->context, &shared, 9));
  assert_true(has(plan.env, "PAI_HOST_IP_worker_0=10.0.0.0"));
  assert_true(has(plan.env, "PAI_TASK_INDEX=9"));
  pai__arena_dispose(&one);
  pai__arena_dispose(&all);
  free(j);
  return tally.calls;
}

TEST(a_plan_costs_the_same_in_a_large_job)
{
  assert_in_range(cost_of_one_plan(MANY), 1, cost_of_one_plan(10) + 1);
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void expect_each_name_once(const char *const *env)
{
  const char *names[MANY];
  size_t n = 0;

  for (; env[n] != NULL; n++)
    names[n] = env[n];
  qsort(names, n, sizeof(*names), by_text);
  for (size_t i = 1; i < n; i++) {
    size_t len = strcspn(names[i], "=");
    if (strncmp(names[i - 1], names[i], len + 1) == 0)
      fail_msg("%s and %s", names[i - 1], names[i]);
  }
}

static int spellings_body(const pai_alloc *alloc, void *user_data)
{
  job *j = user_data;
  pai__plan_shared shared;
  pai__arena arena;
  pai_launch_plan plan;
  int rc;

  pai__arena_init(&arena, alloc);
  rc = pai__plan_share(&shared, &arena, &j->context);
  if (rc == PAI_OK)
    rc = pai__plan_make(&plan, &arena, &j->context, &shared, 0);
  if (rc == PAI_OK) {
    expect_each_name_once(plan.env);
    assert_true(has(plan.env, "PAI_HOST_IP_worker_1_0=10.0.0.0"));
    assert_true(has(plan.env, "PAI_HOST_IP_worker1_0=10.0.0.1"));
    assert_true(has(plan.env, "PAI_HOST_IP_worker_0=10.0.0.2"));
    assert_true(has(plan.env, "PAI_HOST_IP_Worker_0=10.0.0.3"));
    assert_true(has(plan.env, "PAI_HOST_IP_A_b_0=10.0.0.4"));
    assert_true(has(plan.env, "PAI_HOST_IP_a_B_0=10.0.0.5"));
    assert_true(has(plan.env, "PAI_HOST_IP_ab_0=10.0.0.4")); /* A_b's */
    assert_true(has(plan.env, "PAI_TASK_ROLE_ab_HOST_LIST=10.0.0.4:10009"));
    assert_true(has(plan.env, "PAI_HOST_IP____0=10.0.0.6"));
    assert_false(has(plan.env, "PAI_HOST_IP__0=10.0.0.6")); /* no spelling */
  }
  pai__arena_dispose(&arena);
  return rc;
}

TEST(no_role_overwrites_another)
{
  static const char *const names[] = { "worker_1", "worker1", "worker",
                                       "Worker",   "A_b",     "a_B",
                                       "__" };
  job *j = new_job();

  for (size_t i = 0; i < PAI__LEN(names); i++)
    add_tasks(j, names[i], 1);
  test_faults(spellings_body, j);
  free(j);
}

/* --- a job with all there is --------------------------------------------------- */

static const char rich[] =
  "protocolVersion: 2\nname: rich\ntype: job\nprerequisites:\n"
  "  - {name: i, type: dockerimage, uri: 'python:3'}\n"
  "  - {name: pre, type: script, postCommands: [echo after],\n"
  "     plugin: com.microsoft.pai.runtimeplugin.cmd,\n"
  "     callbacks: [{event: taskStarts, commands: [\"echo it's\"]}]}\n"
  "  - {name: late, type: output,\n"
  "     plugin: com.microsoft.pai.runtimeplugin.cmd,\n"
  "     preCommands: [echo <% $secrets.key %>], postCommands: [x, y]}\n"
  "secrets: {key: s3cret}\n"
  "taskRoles:\n"
  "  Worker_A: {instances: 2, dockerImage: i, prerequisites: [pre, late],\n"
  "      resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0},\n"
  "      commands: [run]}\n"
  "extras:\n"
  "  storages: [{name: d}, {name: d, mountPath: /there}]\n"
  "  com.microsoft.pai.runtimeplugin:\n"
  "    - {plugin: ssh, parameters: {jobssh: true, sshbarrier: true,\n"
  "       userssh: {type: custom, value: own}}}\n"
  "    - {plugin: git, parameters: {repo_uri: <% $secrets.key %>,\n"
  "       options: [-q]}}\n"
  "    - {plugin: tensorboard, parameters: {port: 1, logdir: {a: /b}}}\n"
  "    - {plugin: teamwise_storage}\n";

static int rich_body(const pai_alloc *alloc, void *user_data)
{
  static const pai__storage storage = { .name = "d", .path = "/data" };
  static const char *const keys[] = { "key of the user" };
  pai__plan_context c = context;
  pai__plan_shared shared;
  pai_launch_plan plan;
  pai__arena arena;
  int rc;

  c.spec = user_data;
  c.storages = &storage;
  c.nstorages = 1;
  c.user_keys = keys;
  c.nuser_keys = 1;
  pai__arena_init(&arena, alloc);
  rc = pai__plan_share(&shared, &arena, &c);
  if (rc == PAI_OK)
    rc = pai__plan_make(&plan, &arena, &c, &shared, 1);
  if (rc == PAI_OK) {
    assert_string_equal(plan.image, "python:3");
    assert_int_equal(plan.nmounts, 2);
    assert_string_equal(plan.mounts[0].source, "/data/ada");
    assert_string_equal(plan.mounts[0].target, "/mnt/d");
    assert_string_equal(plan.mounts[1].target, "/there");
    assert_int_equal(plan.flags, PAI_LAUNCH_SHARE_PIDS);
    assert_has(plan.script, "cmd: callbacks and preCommands");
    assert_has(plan.script, "eval 'echo s3cret\n'");
    assert_has(plan.script, "pai__git 's3cret' ");
    assert_has(plan.script, "Host Worker_A-1 workera-1\n"
                            "  HostName 10.0.0.2\n  Port 20004\n");
    assert_has(plan.script, "'key of the user\nown\n'");
    assert_has(plan.script, "pai__tensorboard 1 'a' '/b'");
    assert_has(plan.script, "eval 'run'");
    assert_has(plan.script, "eval 'x\ny\n'");
  }
  pai__arena_dispose(&arena);
  return rc;
}

TEST(failing_memory)
{
  pai_spec *all;

  assert_ok(pai_spec_parse(&all, rich, strlen(rich), NULL, NULL));
  test_faults(rich_body, all);
  pai_spec_unref(all);
}

/* --- names ---------------------------------------------------------------- */

TEST(sums)
{
  static const struct {
    const char *text, *sum;
  } rows[] = {
    { "", "d41d8cd98f00b204e9800998ecf8427e" },
    { "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f" },
    { "12345678901234567890123456789012345678901234567890123456789012345678901"
      "234567890",
      "57edf4a22be3c955ac49da2e2107b67a" },
    { "1234567890123456789012345678901234567890123456789012345",
      "c9ccf168914a1bcfc3229f1948e67da0" }, /* 55 and 56 bytes: one block, two */
    { "12345678901234567890123456789012345678901234567890123456",
      "49f193adce178490e34d1b3a4ec0064c" },
    { "admin~job1+t1", "74dfd517ccab704041320c650556e21f" },
  };
  char hex[PAI__MD5_HEX];

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_string_equal(pai__md5_hex(hex, rows[i].text, strlen(rows[i].text)),
                        rows[i].sum);
}

static void expect_name(void (*put)(pai__buf *, const char *),
                        const char *name, const char *is)
{
  pai__buf b = test_buf();

  put(&b, name);
  assert_string_equal(pai__buf_text(&b), is);
  pai__buf_dispose(&b);
}

TEST(names)
{
  expect_name(pai__name_encode, "admin~job1",
              "2f38ed41a21c61d954f1247914fa6c5d");
  expect_name(pai__name_encode, "Job_1", "job1");
  expect_name(pai__name_encode, "unknown~Job-1", "unknownjob1");
  expect_name(pai__name_role, "worker_A", "workera");
  expect_name(pai__name_role, "__", "");
}

/* Each part counts, and none runs into the next. */
TEST(identifiers)
{
  static const pai__uid_of rows[] = {
    { "j", PAI__UID_POD, 1, "a", 2, 3 },  { "k", PAI__UID_POD, 1, "a", 2, 3 },
    { "j", PAI__UID_TASK, 1, "a", 2, 3 }, { "j", PAI__UID_POD, 2, "a", 2, 3 },
    { "j", PAI__UID_POD, 1, "b", 2, 3 },  { "j", PAI__UID_POD, 1, "a", 3, 3 },
    { "j", PAI__UID_POD, 1, "a", 2, 4 },  { "j", PAI__UID_POD, 1, "a1", 2, 3 },
    { "j", PAI__UID_POD, 1, NULL, 2, 3 },
  };
  char uids[PAI__LEN(rows)][PAI__UID], again[PAI__UID];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_int_equal(strlen(pai__uid(uids[i], &pai__libc_alloc, &rows[i])),
                     36);
    for (size_t k = 0; k < 36; k++)
      assert_int_equal(uids[i][k] == '-',
                       k == 8 || k == 13 || k == 18 || k == 23);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(uids[i], uids[k]);
  }
  assert_string_equal(pai__uid(again, &pai__libc_alloc, &rows[0]), uids[0]);
}

/* Those that a database holds are made anew: they never change. */
TEST(identifiers_stay)
{
  char uid[PAI__UID];

  assert_string_equal(
    pai__uid(uid, &pai__libc_alloc, &(pai__uid_of){ "j", "k", 0, NULL, 0, 0 }),
    "5838f1cb-9a91-fc0d-d56f-c541d3a981b4");
  assert_string_equal(
    pai__uid(uid, &pai__libc_alloc,
             &(pai__uid_of){ "1a-7", "pod", UINT32_MAX, "worker", 31, 2 }),
    "af74abbb-7e49-e14e-aa21-e3a5b9481ee0");
}

/* --- ports --------------------------------------------------------------------- */

TEST_FAULTS(failing_memory_of_identifiers)
{
  char uid[PAI__UID];

  return *pai__uid(uid, alloc, &(pai__uid_of){ "j", "k", 0, NULL, 0, 0 }) ==
             '\0'
           ? PAI_ENOMEM
           : PAI_OK;
}
