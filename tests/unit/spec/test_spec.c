/* Job files: what is read, and the calls that read.  What is refused, and
 * where, is in test_check.c. */
#include "spec/found.h"

#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char full[] = "protocolVersion: \"2\"\n"
                           "name: train-1\n"
                           "type: job\n"
                           "version: 1.0\n"
                           "jobRetryCount: 3\n"
                           "prerequisites:\n"
                           "- {name: img, type: dockerimage, uri: x/y}\n"
                           "taskRoles:\n"
                           "  worker:\n"
                           "    instances: 4\n"
                           "    completion:\n"
                           "      minFailedInstances: 2\n"
                           "      minSucceededInstances: null\n"
                           "    dockerImage: img\n"
                           "    extraContainerOptions: {shmMB: 256}\n"
                           "    resourcePerInstance:\n"
                           "      cpu: 4\n"
                           "      memoryMB: 1e3\n"
                           "      gpu: 0x2\n"
                           "      ports: {mpi: 2, ssh: 3}\n"
                           "    commands:\n"
                           "    - '  echo one  '\n"
                           "    - |\n"
                           "      echo two\n"
                           "      echo three\n"
                           "  ps:\n"
                           "    completion: {minSucceededInstances: -1}\n"
                           "    dockerImage: img\n"
                           "    resourcePerInstance: {cpu: 1, memoryMB: 64, "
                           "gpu: 0}\n"
                           "    commands: [serve]\n";

static int parse(pai_spec **out, const char *text, pai_error **err)
{
  return pai_spec_parse(out, text, strlen(text), NULL, err);
}

static void check_full(const pai_spec *spec)
{
  const pai__role *r = spec->roles;

  assert_string_equal(pai_spec_name(spec), "train-1");
  assert_int_equal(pai_spec_retry_count(spec), 3);
  assert_int_equal(pai_spec_role_count(spec), 2);
  assert_int_equal(pai_spec_task_count(spec), 5);
  assert_string_equal(pai_spec_role_name(spec, 0), "worker");
  assert_string_equal(pai_spec_role_name(spec, 1), "ps");
  assert_int_equal(pai_spec_role_instances(spec, 0), 4);
  assert_int_equal(pai_spec_role_instances(spec, 1), 1); /* default */
  assert_int_equal(pai_spec_role_cpus(spec, 0), 4);
  assert_int_equal(pai_spec_role_memory_mb(spec, 0), 1000);
  assert_int_equal(pai_spec_role_gpus(spec, 0), 2);
  assert_string_equal(pai_spec_role_script(spec, 0),
                      "echo one\necho two\necho three");
  assert_int_equal(r[0].shm_mb, 256);
  assert_int_equal(r[0].min_failed, 2);
  assert_int_equal(r[0].min_succeeded, 4); /* null: all of them */
  assert_int_equal(r[1].min_failed, 1);
  assert_int_equal(r[1].min_succeeded, -1);
  assert_int_equal(r[0].nports, 3);
  assert_string_equal(r[0].ports[0].label, "mpi");
  assert_int_equal(r[0].ports[0].count, 2);
  assert_string_equal(r[0].ports[1].label, "ssh");
  assert_int_equal(r[0].ports[1].count, 3); /* as given */
  assert_string_equal(r[0].ports[2].label, "http");
  assert_int_equal(r[0].ports[2].count, 1); /* always there */
  assert_int_equal(r[1].nports, 2);
}

static void every_field_is_read(void **state)
{
  pai_spec *spec;

  (void)state;
  assert_int_equal(parse(&spec, full, NULL), PAI_OK);
  check_full(spec);
  assert_ptr_equal(pai_spec_ref(spec), spec);
  pai_spec_unref(spec);
  check_full(spec); /* one owner is left */
  assert_null(pai_spec_role_name(spec, 2));
  assert_null(pai_spec_role_script(spec, 2));
  assert_int_equal(pai_spec_role_instances(spec, 2), 0);
  assert_null(pai_spec_note(spec, 0));
  pai_spec_unref(spec);
  pai_spec_unref(NULL);
}

static void defaults(void **state)
{
  pai_spec *spec = test_spec(JOB_HEAD JOB_IMAGE JOB_ROLES, NULL);
  const pai__role *r = spec->roles;

  (void)state;
  assert_int_equal(pai_spec_retry_count(spec), 0);
  assert_int_equal(pai_spec_task_count(spec), 1);
  assert_int_equal(r->instances, 1);
  assert_int_equal(r->min_failed, 1);
  assert_int_equal(r->min_succeeded, 1);
  assert_int_equal(r->shm_mb, 0); /* not given */
  assert_int_equal(r->nports, 2);
  assert_string_equal(r->ports[0].label, "ssh");
  assert_string_equal(r->ports[1].label, "http");
  assert_null(pai_spec_unresolved(spec, 0));
  assert_null(spec->obstacle);
  pai_spec_unref(spec);
}

/* The same file in another spelling. */
static const char *const same[] = {
  "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\",\n"
  "\t\"prerequisites\": [{\"name\": \"x\", \"type\": \"dockerimage\",\n"
  "\"uri\": \"x\"}], \"taskRoles\": {\"w\": {\"dockerImage\": \"x\",\n"
  "\t\"resourcePerInstance\": {\"cpu\": 1, \"memoryMB\": 1.0, \"gpu\": 0},\n"
  "\t\"commands\": [\"echo \\ud83d\\ude00\"]}}}\n",
  "{protocolVersion: 2, name: n, type: job, prerequisites: [{name: x, type: "
  "dockerimage, uri: x}], taskRoles: {w: {dockerImage: x, "
  "resourcePerInstance: {cpu: 0x1, memoryMB: 1e0, gpu: 0}, commands: "
  "[\"echo \\U0001F600\"]}}}",
  "\xef\xbb\xbf" JOB_HEAD "prerequisites:\r\n- name: x\r\n  type: "
  "dockerimage\r\n  uri: x\r\nextras: {sizes: &s {cpu: 1, memoryMB: 1}}\r\n"
  "taskRoles:\r\n  ? w\r\n  : dockerImage: x\r\n    resourcePerInstance: "
  "{<<: *s, gpu: 0}\r\n    commands: [!!str \"echo \xf0\x9f\x98\x80\"]\r\n",
};

static void json_and_yaml_are_read(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(same); i++) {
    pai_spec *spec = test_spec(same[i], NULL);

    assert_string_equal(pai_spec_role_name(spec, 0), "w");
    assert_string_equal(pai_spec_role_script(spec, 0),
                        "echo \xf0\x9f\x98\x80");
    assert_int_equal(pai_spec_role_memory_mb(spec, 0), 1);
    pai_spec_unref(spec);
  }
}

/* A file of version 1 is one of version 2 from there on. */
static void job_configs_are_imported(void **state)
{
  static const char v1[] =
    "// said\n{\"jobName\": \"a.b\", \"image\": \"i\", \"retryCount\": \"2\","
    "\"taskRoles\": [{\"name\": \"r\", \"taskNumber\": 3, \"cpuNumber\": 2,"
    "\"memoryMB\": 7, \"gpuNumber\": 1, \"command\": \"run <% x\","
    "\"minFailedTaskCount\": null, \"portList\": [{\"label\": \"p\","
    "\"portNumber\": 4}]}]}";
  pai_spec *spec = test_spec(v1, NULL);
  const pai__role *r = spec->roles;

  (void)state;
  assert_int_equal(pai_spec_retry_count(spec), 2);
  assert_int_equal(pai_spec_role_count(spec), 1);
  assert_string_equal(r->name, "r");
  assert_int_equal(r->instances, 3);
  assert_int_equal(r->cpus, 2);
  assert_int_equal(r->memory_mb, 7);
  assert_int_equal(r->gpus, 1);
  assert_int_equal(r->min_failed, -1);
  assert_string_equal(r->ports[0].label, "p");
  assert_int_equal(r->ports[0].count, 4);
  assert_non_null(strstr(r->script, "run <% x"));
  assert_null(pai_spec_unresolved(spec, 0));
  pai_spec_unref(spec);
}

/* Trees that are odd and legal. */
static void odd_files(void **state)
{
  static const char *const odd[] = {
    ROLE_WITH("extraContainerOptions: {infiniband: [], x: 2000-01-01}"),
    ROLE_WITH("prerequisites: []"),
    JOB_WITH("defaults: {virtualCluster: {}}\nparameters: {1: 2, null: ~}"),
    JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: 1, storages: x, "
             "gangAllocation: [], hivedScheduler: 2, "
             "jobStatusChangeNotification: 3}"),
    JOB_HEAD JOB_IMAGE
    "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
    "{cpu: .inf, memoryMB: 1e300, gpu: 99999999999999999999, ports: "
    "[1, 1234567890123]}}}\n",
    JOB_HEAD JOB_IMAGE
    "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
    "{cpu: -.inf, memoryMB: 0, gpu: 0, ports: '-1'}}}\n",
    JOB_HEAD JOB_IMAGE
    "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
    "{cpu: 0, memoryMB: 0, gpu: 0, ports: 2000-01-01}}}\n",
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(odd); i++) {
    pai_spec *spec = test_spec(odd[i], NULL);

    assert_true(spec->roles[0].nports == 2);
    pai_spec_unref(spec);
  }
}

/* The error of a call is the report's first. */
static void parse_tells_the_first_error(void **state)
{
  static const char text[] = ROLE_WITH("instances: 0\n    x: 1");
  pai_error *err;
  pai_spec *spec;

  (void)state;
  assert_int_equal(parse(&spec, text, &err), PAI_EINVAL);
  assert_null(spec);
  assert_int_equal(pai_error_line(err), 10);
  assert_int_equal(pai_error_column(err), 16);
  assert_string_equal(pai_error_pointer(err), "/taskRoles/a/instances");
  assert_string_equal(pai_error_help(err), "give 1 or more");
  test_expect_error(err, PAI_EINVAL, "instances cannot be 0");
  assert_int_equal(parse(&spec, text, NULL), PAI_EINVAL);
}

/* What lacks is mostly what was misspelt. */
static void parse_tells_the_telling_error(void **state)
{
  static const char misspelt[] = JOB_HEAD JOB_IMAGE "taskRole: {}\n";
  static const char lacking[] = JOB_HEAD JOB_IMAGE;
  pai_spec *spec;
  pai_error *err;

  (void)state;
  assert_int_equal(
    pai_spec_parse(&spec, misspelt, sizeof(misspelt) - 1, NULL, &err),
    PAI_EINVAL);
  assert_string_equal(pai_error_help(err), "did you mean 'taskRoles'?");
  test_expect_error(err, PAI_EINVAL, "no field 'taskRole'");
  assert_int_equal(
    pai_spec_parse(&spec, lacking, sizeof(lacking) - 1, NULL, &err),
    PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "lacks the field 'taskRoles'");
}

static void beyond_the_end_is_nothing(void **state)
{
  pai_report *report;

  (void)state;
  assert_int_equal(pai_spec_check(&report, NULL, "", 0, NULL, NULL), PAI_OK);
  assert_int_equal(pai_report_count(report), 1);
  assert_non_null(pai_report_get(report, 0));
  assert_null(pai_report_get(report, 1));
  assert_null(pai_report_get(report, SIZE_MAX));
  pai_report_free(report);
  pai_report_free(NULL);
}

static void bad_arguments_are_refused(void **state)
{
  pai_spec_options o = { .struct_size = 3 };
  pai_report *report;
  pai_spec *spec;
  pai_error *err;

  (void)state;
  assert_int_equal(pai_spec_parse(&spec, full, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_int_equal(pai_spec_parse(NULL, full, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_parse(&spec, NULL, 0, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "pai_spec_parse()");
  assert_int_equal(pai_spec_check(&report, &spec, full, 1, &o, &err),
                   PAI_EINVAL);
  assert_null(report);
  assert_null(spec);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_int_equal(pai_spec_check(NULL, NULL, full, 1, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_spec_check(&report, NULL, NULL, 0, NULL, NULL),
                   PAI_EINVAL);
}

static void files_are_loaded_and_named_in_errors(void **state)
{
  char path[] = "/tmp/openpai-spec-XXXXXX";
  int fd = mkstemp(path);
  pai_error *err;
  pai_spec *spec;

  (void)state;
  assert_true(fd >= 0);
  assert_int_equal(write(fd, full, sizeof(full) - 1), sizeof(full) - 1);
  (void)close(fd);
  assert_int_equal(pai_spec_load(&spec, path, NULL, NULL), PAI_OK);
  check_full(spec);
  pai_spec_unref(spec);
  (void)unlink(path);
  assert_int_equal(pai_spec_load(&spec, path, NULL, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, path);
  assert_int_equal(pai_spec_load(&spec, "/", NULL, &err), PAI_EIO);
  test_expect_error(err, PAI_EIO, "cannot read /");
}

/* --- failing memory -------------------------------------------------------- */

/* Everything there is, and much of it wrong or doubtful. */
static const char *const everything[] = {
  full,
  JOB_HEAD
  "version: 1\njobRetryCount: 1\nprerequisites:\n"
  "- {name: x, type: dockerimage, uri: x, auth: {username: u, password: "
  "<% $secrets.p %>}}\n- {name: d, type: data, uri: [u]}\n"
  "- {name: d, type: script, uri: s}\nparameters: {p: 1, q: [a, {b: c}]}\n"
  "secrets: {p: hush}\ndeployments: [{name: e, taskRoles: {a: {preCommands: "
  "['<% $parameters.q[1].b %>']}, z: {postCommands: [x]}}}]\n"
  "defaults: {deployment: e}\nextras: {storages: [], gangAllocation: 1}\n"
  "taskRoles:\n  a: {instances: 2, completion: {minFailedInstances: 3}, "
  "taskRetryCount: 1, data: d, dockerImage: x, resourcePerInstance: &s {cpu: "
  "1, memoryMB: 1, gpu: 0, ports: {a: 2, b: 0}}, commands: ['<% $data.uri[0] "
  "%>', '<% nothing %> <% $secrets.p %> <% $secrets.q %>']}\n"
  "  B_b: {dockerImage: x, resourcePerInstance: *s, commands: [c]}\n",
  "name: 1\ntype: jib\nextrsa: 1\nprerequisites: [1, {}, {type: x}, {type: "
  "data, name: d, uri: u}, {type: data, name: d}]\nsecrets: s\n"
  "deployments: [{name: d, taskRoles: {a: {preCommands: []}}}]\n"
  "defaults: {deployment: e}\ntaskRoles: {1: {}, a: {dockerImage: x, "
  "instances: 0, commands: [1], prerequisites: [y], resourcePerInstance: "
  "{cpu: 1e9}}}\n",
  JOB_HEAD JOB_IMAGE "taskRoles: {a: {" ROLE_FIELDS ", instances: 100001}}",
  "{\"jobName\": \"a b\", \"image\": \"\", \"taskRoles\": [{\"name\": "
  "\"r\"}]}",
  "{\"jobName\": \"a\", \"image\": \"i\", \"retryCount\": -2, \"dataDir\": "
  "\"d\", \"jobEnvs\": {\"A\": \"b c\"}, \"taskRoles\": [{\"name\": \"r.s\", "
  "\"command\": \"<% a\", \"minFailedTaskCount\": 2, \"portList\": "
  "[{\"label\": \"l\"}]}]}",
  "// x\n{\"a\": 1,}",
  "a: [1,\n",
};

static int check_body(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const char *text = user_data;
  pai_report *report = NULL;
  pai_spec *spec = NULL;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_check(&report, &spec, text, strlen(text), &o, NULL);
  assert_int_equal(rc == PAI_OK, report != NULL);
  if (rc == PAI_OK)
    assert_int_equal(spec != NULL, pai_report_valid(report));
  if (spec != NULL && text == full)
    check_full(spec);
  pai_spec_unref(spec);
  pai_report_free(report);
  return rc;
}

static int parse_body(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const char *text = user_data;
  pai_error *err;
  pai_spec *spec;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_parse(&spec, text, strlen(text), &o, &err);
  assert_int_equal(rc < 0, err != NULL);
  pai_spec_unref(spec);
  pai_error_free(err);
  return rc == PAI_EINVAL || rc == PAI_ELIMIT ? PAI_OK : rc;
}

static void failing_memory(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(everything); i++) {
    test_faults(check_body, (void *)(uintptr_t)everything[i]);
    test_faults(parse_body, (void *)(uintptr_t)everything[i]);
  }
}

static void nothing_has_nothing(void **state)
{
  int masked = 1;

  (void)state;
  assert_null(pai_spec_name(NULL));
  assert_int_equal(pai_spec_retry_count(NULL), 0);
  assert_int_equal(pai_spec_role_count(NULL), 0);
  assert_int_equal(pai_spec_task_count(NULL), 0);
  assert_null(pai_spec_role_name(NULL, 0));
  assert_int_equal(pai_spec_role_gpus(NULL, 0), 0);
  assert_null(pai_spec_note(NULL, 0));
  assert_null(pai_spec_unresolved(NULL, 0));
  assert_null(pai_spec_missing_secret(NULL, 0, &masked));
  assert_int_equal(masked, 0);
  assert_int_equal(pai_report_count(NULL), 0);
  assert_int_equal(pai_report_valid(NULL), 0);
  assert_null(pai_report_get(NULL, 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_field_is_read),
    cmocka_unit_test(defaults),
    cmocka_unit_test(json_and_yaml_are_read),
    cmocka_unit_test(job_configs_are_imported),
    cmocka_unit_test(odd_files),
    cmocka_unit_test(parse_tells_the_first_error),
    cmocka_unit_test(parse_tells_the_telling_error),
    cmocka_unit_test(beyond_the_end_is_nothing),
    cmocka_unit_test(nothing_has_nothing),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(files_are_loaded_and_named_in_errors),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
