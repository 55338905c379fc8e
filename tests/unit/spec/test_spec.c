/* Job files: what is read, and the calls that read.  What is refused, and
 * where, is in test_check.c. */
#include "cases.h"
#include "spec/found.h"

#include "base/buf.h"
#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char full[] =
  "protocolVersion: \"2\"\nname: train-1\ntype: job\nversion: "
  "1.0\njobRetryCount: 3\nprerequisites:\n- {name: img, type: dockerimage, "
  "uri: x/y}\ntaskRoles:\n  worker:\n    instances: 4\n    completion:\n      "
  "minFailedInstances: 2\n      minSucceededInstances: null\n    dockerImage: "
  "img\n    extraContainerOptions: {shmMB: 256}\n    resourcePerInstance:\n   "
  "   cpu: 4\n      memoryMB: 1e3\n      gpu: 0x2\n      ports: {mpi: 2, ssh: "
  "3}\n    commands:\n    - '  echo one  '\n    - |\n      echo two\n      "
  "echo three\n  ps:\n    completion: {minSucceededInstances: -1}\n    "
  "dockerImage: img\n    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: "
  "0}\n    commands: [serve]\n";

/* The same, as the views and the other calls tell it: counts, then a line for
 * the job, for each prerequisite, and some for each role. */
static const char full_shown[] =
  "job train-1 by - (-) retries 3 cluster default deployment - gang "
  "1\ndockerimage img: x/y plugin - auth 0\nrole worker x 4 fails 2 succeeds "
  "4 retries 0 needs\n  cpus 4 of 4000 memory 1000 gpus 2 shm 256 ib 0\n  "
  "image img data - output - script -\n  ports mpi 2 ssh 3 http 1\necho "
  "one\necho two\necho three\nrole ps x 1 fails 1 succeeds -1 retries 0 "
  "needs\n  cpus 1 of 1000 memory 64 gpus 0 shm 512 ib 0\n  image img data - "
  "output - script -\n  ports ssh 1 http 1\nserve\n";

static const char other[] =
  "protocolVersion: 2\nname: n\ntype: job\ncontributor: me\ndescription: "
  "what\njobRetryCount: 3\nprerequisites:\n- {name: i, type: dockerimage, "
  "uri: image, auth: {password: p}}\n- {name: d, type: data, uri: [one, two], "
  "plugin: some.plugin}\n- {name: s, type: script}\ntaskRoles:\n  b:\n    "
  "instances: 2\n    taskRetryCount: 4\n    completion: {minFailedInstances: "
  "null, minSucceededInstances: -1}\n    dockerImage: i\n    data: d\n    "
  "script: s\n    prerequisites: [s, d]\n    extraContainerOptions: {shmMB: "
  "64, infiniband: 1}\n    resourcePerInstance: {cpu: 1, memoryMB: 2, gpu: 3, "
  "ports: {p: 5}}\n    commands: ['run <% $data.uri[1] %>']\n  a:\n    "
  "dockerImage: i\n    resourcePerInstance: {cpu: 1.25, memoryMB: 2, gpu: "
  "0}\n    commands: [x]\ndeployments: [{name: dep, taskRoles: {b: "
  "{preCommands: [pre]}}}]\ndefaults: {deployment: dep, virtualCluster: "
  "vc}\nextras: {gangAllocation: false}\n";

static const char other_shown[] =
  "job n by me (what) retries 3 cluster vc deployment dep gang 0\ndockerimage "
  "i: image plugin - auth 1\ndata d: one two plugin some.plugin auth "
  "0\nscript s: plugin - auth 0\nrole b x 2 fails 1 succeeds -1 retries 4 "
  "needs s d\n  cpus 1 of 1000 memory 2 gpus 3 shm 64 ib 1\n  image i data d "
  "output - script s\n  ports p 5 ssh 1 http 1\npre\nrun two\nrole a x 1 "
  "fails 1 succeeds 1 retries 0 needs\n  cpus 2 of 1250 memory 2 gpus 0 shm "
  "512 ib 0\n  image i data - output - script -\n  ports ssh 1 http 1\nx\n";

static const char *or_none(const char *s)
{
  return s != NULL ? s : "-";
}

static void show_prerequisite(pai__buf *b, const pai_spec *spec, size_t i)
{
  pai_prerequisite_view v = { .struct_size = sizeof(v) };
  const char *uri;

  assert_ok(pai_spec_view_prerequisite(spec, i, &v));
  pai__buf_printf(b, "%s %s:", v.type, v.name);
  for (size_t k = 0; (uri = pai_spec_prerequisite_uri(spec, i, k)) != NULL;
       k++)
    pai__buf_printf(b, " %s", uri);
  pai__buf_printf(b, " plugin %s auth %d\n", or_none(v.plugin), v.has_auth);
  assert_null(pai_spec_prerequisite_uri(spec, i, v.uris));
  if (v.uris > 0)
    assert_string_equal(v.uri, pai_spec_prerequisite_uri(spec, i, 0));
  else
    assert_null(v.uri);
}

/* The calls for one field of a role tell what the view does. */
static void check_role(const pai_spec *spec, size_t i, const pai_role_view *v)
{
  assert_string_equal(pai_spec_role_name(spec, i), v->name);
  assert_string_equal(pai_spec_role_script(spec, i), v->script);
  assert_int_equal(pai_spec_role_instances(spec, i), v->instances);
  assert_int_equal(pai_spec_role_cpus(spec, i), v->cpus);
  assert_int_equal(pai_spec_role_milli_cpus(spec, i), v->milli_cpus);
  assert_int_equal(pai_spec_role_memory_mb(spec, i), v->memory_mb);
  assert_int_equal(pai_spec_role_gpus(spec, i), v->gpus);
  assert_null(pai_spec_role_prerequisite(spec, i, v->prerequisites));
}

static void show_role(pai__buf *b, const pai_spec *spec, size_t i)
{
  pai_role_view v = { .struct_size = sizeof(v) };
  pai_port_view port = { .struct_size = sizeof(port) };
  const char *name;

  assert_ok(pai_spec_view_role(spec, i, &v));
  check_role(spec, i, &v);
  pai__buf_printf(b, "role %s x %u fails %d succeeds %d retries %u needs",
                  v.name, v.instances, v.min_failed, v.min_succeeded,
                  v.task_retry_count);
  for (size_t k = 0; (name = pai_spec_role_prerequisite(spec, i, k)) != NULL;
       k++)
    pai__buf_printf(b, " %s", name);
  pai__buf_printf(b, "\n  cpus %u of %llu memory %u gpus %u shm %u ib %d\n",
                  v.cpus, (unsigned long long)v.milli_cpus, v.memory_mb,
                  v.gpus, v.shm_mb, v.infiniband);
  pai__buf_printf(b, "  image %s data %s output %s script %s\n  ports",
                  v.image, or_none(v.data), or_none(v.output),
                  or_none(v.script_name));
  for (size_t k = 0; k < v.ports; k++) {
    assert_ok(pai_spec_view_port(spec, i, k, &port));
    pai__buf_printf(b, " %s %u", port.label, port.count);
  }
  assert_int_equal(pai_spec_view_port(spec, i, v.ports, &port), PAI_ENOTFOUND);
  pai__buf_printf(b, "\n%s\n", v.script);
}

static void expect_spec(const pai_spec *spec, const char *want)
{
  pai_job_view v = { .struct_size = sizeof(v) };
  pai_role_view role = { .struct_size = sizeof(role) };
  pai_prerequisite_view p = { .struct_size = sizeof(p) };
  uint32_t tasks = 0;
  pai__buf b = test_buf();

  assert_ok(pai_spec_view_job(spec, &v));
  assert_string_equal(pai_spec_name(spec), v.name);
  assert_int_equal(pai_spec_retry_count(spec), v.retry_count);
  assert_int_equal(pai_spec_role_count(spec), v.roles);
  assert_int_equal(pai_spec_task_count(spec), v.tasks);
  pai__buf_printf(
    &b, "job %s by %s (%s) retries %u cluster %s deployment %s gang %d\n",
    v.name, or_none(v.contributor), or_none(v.description), v.retry_count,
    v.virtual_cluster, or_none(v.deployment), v.gang);
  for (size_t i = 0; i < v.prerequisites; i++)
    show_prerequisite(&b, spec, i);
  for (size_t i = 0; i < v.roles; i++) {
    show_role(&b, spec, i);
    tasks += pai_spec_role_instances(spec, i);
  }
  assert_int_equal(tasks, v.tasks);
  assert_string_equal(pai__buf_text(&b), want);
  assert_int_equal(pai_spec_view_role(spec, v.roles, &role), PAI_ENOTFOUND);
  assert_int_equal(pai_spec_view_prerequisite(spec, v.prerequisites, &p),
                   PAI_ENOTFOUND);
  pai__buf_dispose(&b);
}

TEST(every_field_is_read)
{
  pai_spec *spec = test_spec(full, NULL);

  expect_spec(spec, full_shown);
  assert_ptr_equal(pai_spec_ref(spec), spec);
  pai_spec_unref(spec);
  expect_spec(spec, full_shown); /* one owner is left */
  assert_null(pai_spec_role_name(spec, 2));
  assert_null(pai_spec_role_script(spec, 2));
  assert_null(pai_spec_role_prerequisite(spec, 2, 0));
  assert_int_equal(pai_spec_role_instances(spec, 2), 0);
  assert_int_equal(pai_spec_role_milli_cpus(spec, 2), 0);
  assert_null(pai_spec_note(spec, 0));
  pai_spec_unref(spec);
  spec = test_spec(other, NULL);
  expect_spec(spec, other_shown);
  pai_spec_unref(spec);
  pai_spec_unref(NULL);
}

TEST(fields_have_defaults)
{
  pai_spec *spec = test_spec(JOB_HEAD JOB_IMAGE JOB_ROLES, NULL);

  expect_spec(
    spec, "job n by - (-) retries 0 cluster default deployment - gang "
          "1\ndockerimage x: x plugin - auth 0\nrole a x 1 fails 1 succeeds 1 "
          "retries 0 needs\n  cpus 1 of 1000 memory 1 gpus 0 shm 512 ib 0\n  "
          "image x data - output - script -\n  ports ssh 1 http 1\nc\n");
  assert_int_equal(spec->roles->shm_mb, 0); /* not given */
  assert_null(pai_spec_unresolved(spec, 0));
  assert_null(spec->obstacle);
  pai_spec_unref(spec);
}

/* Of an older header, and of a newer one. */
TEST(structs_of_any_age_are_filled)
{
  struct {
    pai_port_view view;
    char newer[8];
  } newer = { .view = { .struct_size = sizeof(newer) }, .newer = "unknown" };
  pai_port_view older = { .struct_size = sizeof(size_t) };
  pai_spec *spec = test_spec(other, NULL);

  assert_ok(pai_spec_view_port(spec, 0, 0, &newer.view));
  assert_string_equal(newer.view.label, "p");
  assert_int_equal(newer.view.struct_size, sizeof(newer));
  assert_string_equal(newer.newer, "");
  assert_int_equal(pai_spec_view_port(spec, 0, 0, &older), PAI_EINVAL);
  assert_null(older.label);
  pai_spec_unref(spec);
}

/* The same file in another spelling. */
static const char *const same[] = {
  "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": "
  "\"job\",\n\t\"prerequisites\": [{\"name\": \"x\", \"type\": "
  "\"dockerimage\",\n\"uri\": \"x\"}], \"taskRoles\": {\"w\": "
  "{\"dockerImage\": \"x\",\n\t\"resourcePerInstance\": {\"cpu\": 1, "
  "\"memoryMB\": 1.0, \"gpu\": 0},\n\t\"commands\": [\"echo "
  "\\ud83d\\ude00\"]}}}\n",
  "{protocolVersion: 2, name: n, type: job, prerequisites: [{name: x, type: "
  "dockerimage, uri: x}], taskRoles: {w: {dockerImage: x, "
  "resourcePerInstance: {cpu: 0x1, memoryMB: 1e0, gpu: 0}, commands: [\"echo "
  "\\U0001F600\"]}}}",
  "\xef\xbb\xbf" JOB_HEAD
  "prerequisites:\r\n- name: x\r\n  type: dockerimage\r\n  uri: x\r\nextras: "
  "{sizes: &s {cpu: 1, memoryMB: 1}}\r\ntaskRoles:\r\n  ? w\r\n  : "
  "dockerImage: x\r\n    resourcePerInstance: {<<: *s, gpu: 0}\r\n    "
  "commands: [!!str \"echo \xf0\x9f\x98\x80\"]\r\n",
};

TEST(json_and_yaml_are_read)
{
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
TEST(job_configs_are_imported)
{
  static const char v1[] =
    "// said\n{\"jobName\": \"a.b\", \"image\": \"i\", \"retryCount\": "
    "\"2\",\"taskRoles\": [{\"name\": \"r\", \"taskNumber\": 3, "
    "\"cpuNumber\": 2,\"memoryMB\": 7, \"gpuNumber\": 1, \"command\": \"run "
    "<% x\",\"minFailedTaskCount\": null, \"portList\": [{\"label\": "
    "\"p\",\"portNumber\": 4}]}]}";
  pai_spec *spec = test_spec(v1, NULL);

  expect_spec(
    spec,
    "job a_b by - (-) retries 2 cluster default deployment default gang "
    "1\ndockerimage default_image: i plugin - auth 0\nrole r x 3 fails -1 "
    "succeeds -1 retries 0 needs\n  cpus 2 of 2000 memory 7 gpus 1 shm 64 ib "
    "0\n  image default_image data - output - script -\n  ports p 4 ssh 1 "
    "http 1\nset +o errexit +o nounset +o pipefail\nrun <% x\n");
  assert_null(pai_spec_unresolved(spec, 0));
  pai_spec_unref(spec);
}

/* Trees that are odd and legal. */
TEST(odd_files)
{
  static const char *const odd[] = {
    ROLE_WITH("extraContainerOptions: {infiniband: [], x: 2000-01-01}"),
    ROLE_WITH("prerequisites: []"),
    JOB_WITH("defaults: {virtualCluster: {}}\nparameters: {1: 2, null: ~}"),
    JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: 1, storages: x, "
             "gangAllocation: [], hivedScheduler: 2, "
             "jobStatusChangeNotification: 3}"),
    JOB_SIZED("cpu: .inf, memoryMB: 1e300, gpu: 99999999999999999999, ports: "
              "[1, 1234567890123]"),
    JOB_SIZED("cpu: -.inf, memoryMB: 0, gpu: 0, ports: '-1'"),
    JOB_SIZED("cpu: 0, memoryMB: 0, gpu: 0, ports: 2000-01-01"),
  };

  for (size_t i = 0; i < PAI__LEN(odd); i++) {
    pai_spec *spec = test_spec(odd[i], NULL);

    assert_true(spec->roles[0].nports == 2);
    pai_spec_unref(spec);
  }
}

/* The error of a call is the report's first; but what lacks is mostly what was
 * misspelt. */
TEST(parse_tells_the_telling_error)
{
  static const struct {
    const char *text;
    uint32_t line, column;
    const char *pointer, *help, *message;
  } rows[] = {
    { ROLE_WITH("instances: 0\n    x: 1"), 10, 16, "/taskRoles/a/instances",
      "use 1 or more", "instances cannot be 0" },
    { JOB_HEAD JOB_IMAGE "taskRole: {}\n", 5, 1, "/taskRole",
      "did you mean 'taskRoles'?", "no field 'taskRole'" },
    { JOB_HEAD JOB_IMAGE, 1, 1, "", "add taskRoles: task roles",
      "lacks the field 'taskRoles'" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    size_t len = strlen(rows[i].text);
    pai_error *err;
    pai_spec *spec;

    assert_int_equal(pai_spec_parse(&spec, rows[i].text, len, NULL, &err),
                     PAI_EINVAL);
    assert_null(spec);
    assert_int_equal(pai_error_line(err), rows[i].line);
    assert_int_equal(pai_error_column(err), rows[i].column);
    assert_string_equal(pai_error_pointer(err), rows[i].pointer);
    assert_string_equal(pai_error_help(err), rows[i].help);
    test_expect_error(err, PAI_EINVAL, rows[i].message);
    assert_int_equal(pai_spec_parse(&spec, rows[i].text, len, NULL, NULL),
                     PAI_EINVAL);
  }
}

TEST(beyond_the_end_is_nothing)
{
  pai_report *report;

  assert_ok(pai_spec_check(&report, NULL, "", 0, NULL, NULL));
  assert_int_equal(pai_report_count(report), 1);
  assert_non_null(pai_report_get(report, 0));
  assert_null(pai_report_get(report, 1));
  assert_null(pai_report_get(report, SIZE_MAX));
  pai_report_free(report);
  pai_report_free(NULL);
}

TEST(bad_arguments_are_refused)
{
  pai_spec_options o = { .struct_size = 3 };
  pai_report *report;
  pai_spec *spec;
  pai_error *err;

  assert_fails(pai_spec_parse(&spec, full, 1, &o, &err), err, PAI_EINVAL,
               "struct_size");
  assert_int_equal(pai_spec_parse(NULL, full, 1, NULL, NULL), PAI_EINVAL);
  assert_fails(pai_spec_parse(&spec, NULL, 0, NULL, &err), err, PAI_EINVAL,
               "pai_spec_parse()");
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

TEST(files_are_loaded_and_named_in_errors)
{
  char path[] = "/tmp/openpai-spec-XXXXXX";
  int fd = mkstemp(path);
  pai_error *err;
  pai_spec *spec;

  assert_true(fd >= 0);
  assert_int_equal(write(fd, full, sizeof(full) - 1), sizeof(full) - 1);
  (void)close(fd);
  assert_ok(pai_spec_load(&spec, path, NULL, NULL));
  expect_spec(spec, full_shown);
  pai_spec_unref(spec);
  (void)unlink(path);
  assert_fails(pai_spec_load(&spec, path, NULL, &err), err, PAI_ENOTFOUND,
               path);
  assert_fails(pai_spec_load(&spec, "/", NULL, &err), err, PAI_EIO,
               "cannot read /");
}

/* --- failing memory -------------------------------------------------------- */

/* Everything there is, and much of it wrong or doubtful. */
static const char *const everything[] = {
  full,
  JOB_HEAD
  "version: 1\njobRetryCount: 1\nprerequisites:\n- {name: x, type: "
  "dockerimage, uri: x, auth: {username: u, password: <% $secrets.p %>}}\n- "
  "{name: d, type: data, uri: [u]}\n- {name: d, type: script, uri: "
  "s}\nparameters: {p: 1, q: [a, {b: c}]}\nsecrets: {p: hush}\ndeployments: "
  "[{name: e, taskRoles: {a: {preCommands: ['<% $parameters.q[1].b %>']}, z: "
  "{postCommands: [x]}}}]\ndefaults: {deployment: e}\nextras: {storages: [], "
  "gangAllocation: 1}\ntaskRoles:\n  a: {instances: 2, completion: "
  "{minFailedInstances: 3}, taskRetryCount: 1, data: d, dockerImage: x, "
  "resourcePerInstance: &s {cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 2, b: "
  "0}}, commands: ['<% $data.uri[0] %>', '<% nothing %> <% $secrets.p %> <% "
  "$secrets.q %>']}\n  B_b: {dockerImage: x, resourcePerInstance: *s, "
  "commands: [c]}\n",
  "name: 1\ntype: jib\nextrsa: 1\nprerequisites: [1, {}, {type: x}, {type: "
  "data, name: d, uri: u}, {type: data, name: d}]\nsecrets: s\ndeployments: "
  "[{name: d, taskRoles: {a: {preCommands: []}}}]\ndefaults: {deployment: "
  "e}\ntaskRoles: {1: {}, a: {dockerImage: x, instances: 0, commands: [1], "
  "prerequisites: [y], resourcePerInstance: {cpu: 1e9}}}\n",
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

TEST(failing_memory)
{
  for (size_t i = 0; i < PAI__LEN(everything); i++) {
    test_spec_faults(everything[i], NULL);
    test_faults(parse_body, (void *)(uintptr_t)everything[i]);
  }
}

TEST(nothing_has_nothing)
{
  pai_job_view job = { .struct_size = sizeof(job) };
  pai_role_view role = { .struct_size = sizeof(role) };
  pai_port_view port = { .struct_size = sizeof(port) };
  pai_prerequisite_view prerequisite = { .struct_size = sizeof(prerequisite) };
  int masked = 1;

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
  assert_int_equal(pai_spec_view_job(NULL, &job), PAI_EINVAL);
  assert_int_equal(pai_spec_view_role(NULL, 0, &role), PAI_EINVAL);
  assert_int_equal(pai_spec_view_port(NULL, 0, 0, &port), PAI_EINVAL);
  assert_int_equal(pai_spec_view_prerequisite(NULL, 0, &prerequisite),
                   PAI_EINVAL);
  assert_null(pai_spec_role_prerequisite(NULL, 0, 0));
}
