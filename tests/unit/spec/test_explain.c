/* What a spec will do, in words and as JSON. */
#include "documents.h"

#include <openpai/spec.h>

#include <stdio.h>

#define SIZES "resourcePerInstance: {cpu: 2, memoryMB: 1536, gpu: 1}"

static pai_spec *parse(const char *text)
{
  pai_error *err;
  pai_spec *spec;

  if (pai_spec_parse(&spec, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s: %s", text, pai_error_message(err));
  return spec;
}

static void explain(pai__buf *b, const char *text, int format)
{
  pai_spec *spec = parse(text);

  pai__buf_init(b, &pai__libc_alloc);
  assert_int_equal(pai_spec_explain(spec, format, test_collect, b, NULL),
                   PAI_OK);
  pai_spec_unref(spec);
}

/* --- whole ----------------------------------------------------------------- */

static const char whole[] =
  "protocolVersion: 2\n"
  "name: all_of_it\n"
  "type: job\n"
  "jobRetryCount: 3\n"
  "secrets: {token: hunter2}\n"
  "prerequisites:\n"
  "- {name: tf, type: dockerimage, uri: \"tf:1\\e[1m\",\n"
  "   auth: {username: anna, password: swordfish}}\n"
  "- {name: small, type: dockerimage, uri: s}\n"
  "taskRoles:\n"
  "  ps:\n"
  "    dockerImage: small\n"
  "    resourcePerInstance: {cpu: 1, memoryMB: 512, gpu: 0,\n"
  "      ports: {a: 1, b: 2, c: 1, d: 1, e: 1, ssh: 1, http: 2}}\n"
  "    commands: ['x <% $secrets.token %> <% $parameters.lr %>']\n"
  "  worker:\n"
  "    instances: 12\n"
  "    dockerImage: tf\n"
  "    completion: {minFailedInstances: 2, minSucceededInstances: -1}\n"
  "    resourcePerInstance: {cpu: 10, memoryMB: 8396, gpu: 8}\n"
  "    commands: [x]\n"
  "deployments:\n"
  "- {name: prod, taskRoles: {ps: {preCommands: [y]}}}\n"
  "defaults: {deployment: prod, virtualCluster: vc1}\n"
  "extras:\n"
  "  gangAllocation: false\n"
  "  storages: [{name: nfs}, {}, {name: blob, mountPath: /b}]\n"
  "  com.microsoft.pai.runtimeplugin: [{plugin: ssh}, {plugin: git}]\n";

static void it_reads_well(void **state)
{
  static const char want[] =
    "all_of_it: 13 tasks in 2 roles\n"
    "\n"
    "role    tasks  CPUs    memory  GPUs  ports                   image\n"
    "ps        1 x     1   512 MiB     0  a, b x 2, c, d, 2 more  s\n"
    "worker   12 x    10   8.2 GiB     8  -                       tf:1?[1m\n"
    "in all   13     121  98.9 GiB    96\n"
    "\n"
    "fails        when the task of ps fails or 2 tasks of worker fail\n"
    "succeeds     when the task of ps succeeds (what still runs is then "
    "stopped), or when all tasks are over before it has failed\n"
    "tried again  up to 3 times\n"
    "starts       each task as soon as it can\n"
    "queues in    virtual cluster vc1\n"
    "deployment   prod\n"
    "storages     nfs, blob\n"
    "plugins      ssh, git\n"
    "no value for $parameters.lr\n";
  pai__buf b;

  (void)state;
  explain(&b, whole, 0);
  if (strncmp(pai__buf_text(&b), want, strlen(want)) != 0)
    fail_msg("%s\nis not\n%s", pai__buf_text(&b), want);
  assert_null(strstr(pai__buf_text(&b), "virtualCluster is not used"));
  assert_null(strstr(pai__buf_text(&b), "cannot run"));
  assert_null(strstr(pai__buf_text(&b), "hunter2"));
  assert_null(strstr(pai__buf_text(&b), "swordfish"));
  pai__buf_dispose(&b);
}

static const struct {
  const char *pointer, *want;
} places[] = {
  { "/name", "all_of_it" },
  { "/tasks", "13" },
  { "/cpus", "121" },
  { "/memoryMB", "101264" },
  { "/gpus", "96" },
  { "/taskRoles/0/ports/http", "2" },
  { "/taskRoles/0/minSucceededInstances", "1" },
  { "/taskRoles/1/name", "worker" },
  { "/taskRoles/1/instances", "12" },
  { "/taskRoles/1/image", "tf:1\x1b[1m" },
  { "/taskRoles/1/shmMB", "512" },
  { "/taskRoles/1/minFailedInstances", "2" },
  { "/taskRoles/1/minSucceededInstances", "-1" },
  { "/fails", "when the task of ps fails or 2 tasks of worker fail" },
  { "/retries", "3" },
  { "/virtualCluster", "vc1" },
  { "/deployment", "prod" },
  { "/storages/1", "blob" },
  { "/plugins/1", "git" },
  { "/unresolved/0", "$parameters.lr" },
};

static void the_same_is_there_as_json(void **state)
{
  pai__tree *t;
  pai__buf b;

  (void)state;
  explain(&b, whole, PAI_FORMAT_JSON);
  t = test_json_parse(pai__buf_text(&b), NULL);
  for (size_t i = 0; i < PAI__LEN(places); i++) {
    pai__node n = pai__tree_resolve(t, places[i].pointer);
    char number[32];
    const char *got = number;

    if (n == PAI__NO_NODE)
      fail_msg("nothing at %s", places[i].pointer);
    if (pai__tree_type(t, n) == PAI__STRING)
      got = pai__tree_str(t, n, NULL);
    else
      (void)snprintf(number, sizeof(number), "%lld",
                     (long long)pai__tree_int(t, n));
    if (strcmp(got, places[i].want) != 0)
      fail_msg("%s: %s, not %s", places[i].pointer, got, places[i].want);
  }
  assert_false(pai__tree_bool(t, pai__tree_get(t, 0, "gangAllocation")));
  assert_int_equal(pai__tree_type(t, pai__tree_get(t, 0, "obstacle")),
                   PAI__NULL);
  assert_null(strstr(pai__buf_text(&b), "hunter2"));
  assert_null(strstr(pai__buf_text(&b), "swordfish"));
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* --- when it is over ------------------------------------------------------- */

static const struct {
  const char *a, *b; /* fields of two roles; b may be NULL */
  const char *fails, *succeeds;
} ends[] = {
  { "", NULL, "when its task fails", "when its task succeeds" },
  { "completion: {minSucceededInstances: -1},", NULL, "when its task fails",
    "when its task succeeds" },
  { "completion: {minFailedInstances: -1},", NULL, "never",
    "when its task succeeds, or when its task is over, well or not" },
  { "completion: {minFailedInstances: -1, minSucceededInstances: -1},", NULL,
    "never", "when its task is over, well or not" },
  { "completion: {minFailedInstances: 2},", NULL, "never",
    "when its task succeeds, or when its task is over, well or not" },
  { "instances: 2,", NULL, "when any task fails",
    "when both tasks of a succeed" },
  { "instances: 4,", NULL, "when any task fails",
    "when all 4 tasks of a succeed" },
  { "instances: 4, completion: {minSucceededInstances: 1},", NULL,
    "when any task fails",
    "when a task of a succeeds (what still runs is then stopped)" },
  { "instances: 4, completion: {minSucceededInstances: 9},", NULL,
    "when any task fails", "when all tasks succeed" },
  { "instances: 4, completion: {minFailedInstances: 4},", NULL,
    "when all 4 tasks of a fail",
    "when all 4 tasks of a succeed, or when all tasks are over before it has "
    "failed" },
  { "", "", "when any task fails",
    "when the task of a succeeds or the task of b succeeds (what still runs "
    "is then stopped)" },
  { "completion: {minSucceededInstances: -1},",
    "completion: {minSucceededInstances: -1},", "when any task fails",
    "when both tasks succeed" },
};

/* A line that begins with `head`, in a column of 13. */
static void has_line(const char *text, const char *head, const char *want)
{
  char line[512];

  (void)snprintf(line, sizeof(line), "\n%-13s%s\n", head, want);
  if (strstr(text, line) == NULL)
    fail_msg("%s\nhas no line\n%s", text, line + 1);
}

static void the_end_is_told_in_words(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(ends); i++) {
    char text[1024];
    pai__buf b;

    (void)snprintf(
      text, sizeof(text),
      "{protocolVersion: 2, name: n, type: job, prerequisites: [{name: i, "
      "type: dockerimage, uri: u}], taskRoles: {a: {%s dockerImage: i, "
      "commands: [x], " SIZES "}%s%s%s}}",
      ends[i].a, ends[i].b != NULL ? ", b: {" : "",
      ends[i].b != NULL ? ends[i].b : "",
      ends[i].b != NULL ? "dockerImage: i, commands: [x], " SIZES "}" : "");
    explain(&b, text, PAI_FORMAT_TEXT);
    has_line(pai__buf_text(&b), "fails", ends[i].fails);
    has_line(pai__buf_text(&b), "succeeds", ends[i].succeeds);
    pai__buf_dispose(&b);
  }
}

static void many_roles_are_told_in_short(void **state)
{
  pai__buf text, b;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_str(&text,
               "{protocolVersion: 2, name: n, type: job, prerequisites: "
               "[{name: i, type: dockerimage, uri: u}], taskRoles: {");
  for (int i = 0; i < 9; i++)
    pai__buf_printf(&text,
                    "r%d: {completion: {minFailedInstances: %d}, dockerImage: "
                    "i, instances: 2, commands: [x], " SIZES "},",
                    i, i == 0 ? 2 : 1);
  pai__buf_str(&text, "}}");
  explain(&b, pai__buf_text(&text), 0);
  has_line(pai__buf_text(&b), "fails",
           "when both tasks of r0 fail or a task of r1 fails or a task of r2 "
           "fails or a task of r3 fails or a task of r4 fails or a task of r5 "
           "fails or enough of 3 other roles");
  pai__buf_dispose(&b);
  pai__buf_dispose(&text);
}

/* --- odd fields ------------------------------------------------------------ */

static void odd_fields_are_no_trouble(void **state)
{
  pai__buf b;

  (void)state;
  explain(&b,
          "{protocolVersion: 2, name: n, type: job, jobRetryCount: 1, "
          "prerequisites: [{name: i, type: dockerimage, uri: u}], taskRoles: "
          "{a: {dockerImage: i, commands: [x], resourcePerInstance: "
          "{cpu: -1, memoryMB: 2048, gpu: 0}}}, "
          "defaults: {virtualCluster: [1, {b: \"\\n\"}]}, "
          "extras: {storages: x, com.microsoft.pai.runtimeplugin: [1, {}]}}",
          0);
  has_line(pai__buf_text(&b), "tried again", "once");
  has_line(pai__buf_text(&b), "queues in",
           "virtual cluster [1,{\"b\":\"\\n\"}]");
  assert_null(strstr(pai__buf_text(&b), "\nplugins"));
  assert_null(strstr(pai__buf_text(&b), "\nstorages"));
  assert_null(strstr(pai__buf_text(&b), "\nstarts"));
  assert_null(strstr(pai__buf_text(&b), "in all"));
  assert_non_null(strstr(pai__buf_text(&b), "   2 GiB     0  -      u\n"));
  assert_non_null(strstr(pai__buf_text(&b),
                         "\nIt cannot run: a task of a asks for -1 of the "
                         "CPUs.\n"));
  pai__buf_dispose(&b);
}

/* --- failures -------------------------------------------------------------- */

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data, (void)bytes, (void)len;
  return PAI_EUSER;
}

static void failures_are_told(void **state)
{
  pai_spec *spec = parse(whole);
  pai_error *err;

  (void)state;
  assert_int_equal(pai_spec_explain(spec, PAI_FORMAT_YAML, refuse, NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "format 1");
  assert_int_equal(pai_spec_explain(spec, 0, NULL, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "write");
  assert_int_equal(pai_spec_explain(NULL, 0, refuse, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "spec");
  assert_int_equal(pai_spec_explain(spec, 0, refuse, NULL, &err), PAI_EUSER);
  test_expect_error(err, PAI_EUSER, "explanation");
  assert_int_equal(pai_spec_explain(spec, PAI_FORMAT_JSON, refuse, NULL, &err),
                   PAI_EUSER);
  test_expect_error(err, PAI_EUSER, "explanation");
  pai_spec_unref(spec);
}

static int explain_one(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT;
  const int *format = user_data;
  pai_error *err = NULL;
  pai_spec *spec;
  pai__buf b;
  int rc;

  opts.alloc = alloc;
  rc = pai_spec_parse(&spec, whole, sizeof(whole) - 1, &opts, NULL);
  if (rc < 0)
    return rc;
  pai__buf_init(&b, &pai__libc_alloc);
  rc = pai_spec_explain(spec, *format, test_collect, &b, &err);
  if (rc < 0)
    test_expect_error(err, PAI_ENOMEM, "memory");
  else
    assert_true(b.len > 100);
  pai__buf_dispose(&b);
  pai_spec_unref(spec);
  return rc;
}

static void memory_may_run_out(void **state)
{
  int formats[] = { PAI_FORMAT_TEXT, PAI_FORMAT_JSON };

  (void)state;
  test_faults(explain_one, &formats[0]);
  test_faults(explain_one, &formats[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_reads_well),
    cmocka_unit_test(the_same_is_there_as_json),
    cmocka_unit_test(the_end_is_told_in_words),
    cmocka_unit_test(many_roles_are_told_in_short),
    cmocka_unit_test(odd_fields_are_no_trouble),
    cmocka_unit_test(failures_are_told),
    cmocka_unit_test(memory_may_run_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
