/* What a spec will do, in words and as JSON. */
#include "cases.h"
#include "documents.h"
#include "spec/found.h"

#include <stdio.h>

#define SIZES "resourcePerInstance: {cpu: 2, memoryMB: 1536, gpu: 1}"

static void explain(pai__buf *b, const char *text, int format)
{
  pai_spec *spec = test_spec(text, NULL);

  pai__buf_init(b, &pai__libc_alloc);
  assert_ok(pai_spec_explain(spec, format, test_collect, b, NULL));
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

TEST(it_reads_well)
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
    "succeeds     when the task of ps succeeds (running tasks are then "
    "stopped), or when all tasks are over before the job fails\n"
    "retries      up to 3 times\n"
    "starts       each task as soon as it can\n"
    "queues in    virtual cluster vc1\n"
    "deployment   prod\n"
    "storages     nfs, blob\n"
    "plugins      ssh, git\n"
    "no value for $parameters.lr\n";
  pai__buf b;

  explain(&b, whole, 0);
  if (strncmp(pai__buf_text(&b), want, strlen(want)) != 0)
    fail_msg("%s\nis not\n%s", pai__buf_text(&b), want);
  assert_null(strstr(pai__buf_text(&b), "virtualCluster is not used"));
  assert_null(strstr(pai__buf_text(&b), "cannot run"));
  assert_null(strstr(pai__buf_text(&b), "hunter2"));
  assert_null(strstr(pai__buf_text(&b), "swordfish"));
  pai__buf_dispose(&b);
}

/* The same as JSON, with the secrets of neither. */
static const char whole_shown[] =
  "{name: \"all_of_it\", tasks: 13, cpus: 121, memoryMB: 101264, gpus: 96, "
  "taskRoles: [{name: \"ps\", instances: 1, cpus: 1, memoryMB: 512, "
  "gpus: 0, shmMB: 512, image: \"s\", ports: {a: 1, b: 2, c: 1, d: 1, "
  "e: 1, ssh: 1, http: 2}, minFailedInstances: 1, "
  "minSucceededInstances: 1}, {name: \"worker\", instances: 12, cpus: 10, "
  "memoryMB: 8396, gpus: 8, shmMB: 512, image: \"tf:1\\x1b[1m\", "
  "ports: {ssh: 1, http: 1}, minFailedInstances: 2, "
  "minSucceededInstances: -1}], "
  "fails: \"when the task of ps fails or 2 tasks of worker fail\", "
  "succeeds: \"when the task of ps succeeds (running tasks are then stopped), "
  "or when all tasks are over before the job fails\", retries: 3, "
  "gangAllocation: false, virtualCluster: \"vc1\", deployment: \"prod\", "
  "storages: [\"nfs\", \"blob\"], plugins: [\"ssh\", \"git\"], "
  "unresolved: [\"$parameters.lr\"], notes: [], obstacle: null}";

TEST(the_same_is_there_as_json)
{
  pai__buf b;

  explain(&b, whole, PAI_FORMAT_JSON);
  test_json_shows(pai__buf_text(&b), whole_shown);
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
    "when its task succeeds, or when its task is over, successfully or not" },
  { "completion: {minFailedInstances: -1, minSucceededInstances: -1},", NULL,
    "never", "when its task is over, successfully or not" },
  { "completion: {minFailedInstances: 2},", NULL, "never",
    "when its task succeeds, or when its task is over, successfully or not" },
  { "instances: 2,", NULL, "when any task fails",
    "when both tasks of a succeed" },
  { "instances: 4,", NULL, "when any task fails",
    "when all 4 tasks of a succeed" },
  { "instances: 4, completion: {minSucceededInstances: 1},", NULL,
    "when any task fails",
    "when a task of a succeeds (running tasks are then stopped)" },
  { "instances: 4, completion: {minSucceededInstances: 9},", NULL,
    "when any task fails", "when all tasks succeed" },
  { "instances: 4, completion: {minFailedInstances: 4},", NULL,
    "when all 4 tasks of a fail",
    "when all 4 tasks of a succeed, or when all tasks are over before the job "
    "fails" },
  { "", "", "when any task fails",
    "when the task of a succeeds or the task of b succeeds (running tasks are "
    "then stopped)" },
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

TEST(the_end_is_told_in_words)
{
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

TEST(many_roles_are_told_in_short)
{
  pai__buf text = test_buf(), b;

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

TEST(fractions_of_cpus_are_as_written)
{
  static const char job[] =
    "{protocolVersion: 2, name: n, type: job, "
    "prerequisites: [{name: i, type: dockerimage, uri: u}], taskRoles: "
    "{a: {instances: 3, dockerImage: i, commands: [x], resourcePerInstance: "
    "{cpu: 0.5, memoryMB: 2048, gpu: 0}}, b: {dockerImage: i, commands: [x], "
    "resourcePerInstance: {cpu: 0.125, memoryMB: 1024, gpu: 0}}}}";
  pai__buf b;

  explain(&b, job, PAI_FORMAT_JSON);
  assert_has(pai__buf_text(&b), "\"cpus\": 1.625,");
  assert_has(pai__buf_text(&b), "\"cpus\": 0.5,");
  pai__buf_dispose(&b);
  explain(&b, job, 0);
  assert_has(pai__buf_text(&b), " 1.625 ");
  assert_has(pai__buf_text(&b), " 0.125 ");
  pai__buf_dispose(&b);
}

TEST(odd_fields_are_no_trouble)
{
  pai__buf b;

  explain(&b,
          "{protocolVersion: 2, name: n, type: job, jobRetryCount: 1, "
          "prerequisites: [{name: i, type: dockerimage, uri: u}], taskRoles: "
          "{a: {dockerImage: i, commands: [x], resourcePerInstance: "
          "{cpu: -1, memoryMB: 2048, gpu: 0}}}, "
          "defaults: {virtualCluster: [1, {b: \"\\n\"}]}, "
          "extras: {storages: x, com.microsoft.pai.runtimeplugin: [1, {}]}}",
          0);
  has_line(pai__buf_text(&b), "retries", "once");
  has_line(pai__buf_text(&b), "queues in",
           "virtual cluster [1,{\"b\":\"\\n\"}]");
  assert_null(strstr(pai__buf_text(&b), "\nplugins"));
  assert_null(strstr(pai__buf_text(&b), "\nstorages"));
  assert_null(strstr(pai__buf_text(&b), "\nstarts"));
  assert_null(strstr(pai__buf_text(&b), "in all"));
  assert_has(pai__buf_text(&b), "   2 GiB     0  -      u\n");
  assert_has(pai__buf_text(&b),
             "\nIt cannot run: a task of a requests -1 CPUs.\n");
  pai__buf_dispose(&b);
}

/* --- failures -------------------------------------------------------------- */

TEST(failures_are_told)
{
  pai_spec *spec = test_spec(whole, NULL);
  pai_error *err;

  assert_fails(
    pai_spec_explain(spec, PAI_FORMAT_YAML, test_refuse, NULL, &err), err,
    PAI_EINVAL, "format 1");
  assert_fails(pai_spec_explain(spec, 0, NULL, NULL, &err), err, PAI_EINVAL,
               "write");
  assert_fails(pai_spec_explain(NULL, 0, test_refuse, NULL, &err), err,
               PAI_EINVAL, "spec");
  assert_fails(pai_spec_explain(spec, 0, test_refuse, NULL, &err), err,
               PAI_EUSER, "explanation");
  assert_fails(
    pai_spec_explain(spec, PAI_FORMAT_JSON, test_refuse, NULL, &err), err,
    PAI_EUSER, "explanation");
  pai_spec_unref(spec);
}

static int explain_both(const pai_spec *spec)
{
  pai_error *err = NULL;
  pai__buf b = test_buf();
  int rc;

  rc = pai_spec_explain(spec, PAI_FORMAT_TEXT, test_collect, &b, &err);
  if (rc == PAI_OK)
    rc = pai_spec_explain(spec, PAI_FORMAT_JSON, test_collect, &b, &err);
  if (rc < 0)
    test_expect_error(err, PAI_ENOMEM, "memory");
  else
    assert_true(b.len > 200);
  pai__buf_dispose(&b);
  return rc;
}

TEST(memory_may_run_out)
{
  test_spec_faults(whole, explain_both);
}
