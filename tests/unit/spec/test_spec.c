/* Job files: what is read, what is refused and where, what is noted. */
#include "testing.h"

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
  assert_non_null(pai_spec_note(spec, 0));
  assert_null(pai_spec_note(spec, 1));
  pai_spec_unref(spec);
  pai_spec_unref(NULL);
}

#define HEAD "protocolVersion: 2\nname: n\ntype: job\n"
#define ROLE(instances, resources, commands)                       \
  HEAD "taskRoles:\n  w:\n    " instances "\n    dockerImage: x\n" \
       "    resourcePerInstance: " resources "\n    commands: " commands "\n"
#define GOOD "{cpu: 1, memoryMB: 1, gpu: 0}"

/* What is wrong with a text, where, and what is said of it. */
static const struct {
  const char *text;
  int code;
  uint32_t line, column;
  const char *pointer;
  const char *says, *help; /* parts of it */
} wrong[] = {
  { "", PAI_EINVAL, 1, 1, "", "must be a mapping", NULL },
  { "- 1\n", PAI_EINVAL, 1, 1, "", "must be a mapping", NULL },
  { "a: [1,\n", PAI_EINVAL, 2, 1, NULL, "", NULL },
  { "nam: x\n", PAI_EINVAL, 1, 1, "/nam", "no field 'nam'", "name, type" },
  { "name: x\n", PAI_EINVAL, 1, 1, "", "'protocolVersion' is missing", NULL },
  { "protocolVersion: 3\n", PAI_EINVAL, 1, 18, "/protocolVersion", "must be 2",
    NULL },
  { "protocolVersion: 2\nname: 12\n", PAI_EINVAL, 2, 7, "/name",
    "name must be a string", "quotes" },
  { "protocolVersion: 2\nname: a b\n", PAI_EINVAL, 2, 7, "/name",
    "'a b' cannot name a job", "letters" },
  { "protocolVersion: 2\nname: a\ntype: jib\n", PAI_EINVAL, 3, 7, "/type",
    "type must be job", NULL },
  { HEAD "jobRetryCount: -1\ntaskRoles: {}\n", PAI_EINVAL, 4, 16,
    "/jobRetryCount", "jobRetryCount is -1", "from 0" },
  { HEAD "taskRoles: {}\n", PAI_EINVAL, 4, 12, "/taskRoles", "is empty",
    NULL },
  { HEAD "taskRoles: []\n", PAI_EINVAL, 4, 12, "/taskRoles",
    "must be a mapping", NULL },
  { HEAD "taskRoles:\n  1w: {}\n", PAI_EINVAL, 5, 3, "/taskRoles/1w",
    "'1w' cannot name a task role", "letters" },
  { ROLE("instances: 0", GOOD, "[x]"), PAI_EINVAL, 6, 16,
    "/taskRoles/w/instances", "instances is 0", "from 1 to 10000" },
  { ROLE("instances: 10001", GOOD, "[x]"), PAI_EINVAL, 6, 16,
    "/taskRoles/w/instances", "instances is 10001", "from 1 to 10000" },
  { ROLE("instances: 1.5", GOOD, "[x]"), PAI_EINVAL, 6, 16,
    "/taskRoles/w/instances", "must be a whole number", NULL },
  { ROLE("instances: '2'", GOOD, "[x]"), PAI_EINVAL, 6, 16,
    "/taskRoles/w/instances", "must be a whole number", NULL },
  { ROLE("instances: 2000-01-01", GOOD, "[x]"), PAI_EINVAL, 6, 16,
    "/taskRoles/w/instances", "must be a whole number", NULL },
  { ROLE("completion: {minFailed: 1}", GOOD, "[x]"), PAI_EINVAL, 6, 18,
    "/taskRoles/w/completion/minFailed", "no field 'minFailed'",
    "minFailedInstances" },
  { ROLE("completion: {minFailedInstances: -2}", GOOD, "[x]"), PAI_EINVAL, 6,
    38, "/taskRoles/w/completion/minFailedInstances", "is -2", NULL },
  { ROLE("instances: 1", "{cpu: 1, gpu: 0}", "[x]"), PAI_EINVAL, 8, 26,
    "/taskRoles/w/resourcePerInstance", "'memoryMB' is missing", NULL },
  { ROLE("instances: 1", "{cpu: 1, memoryMB: 1, gpu: -1}", "[x]"), PAI_EINVAL,
    8, 53, "/taskRoles/w/resourcePerInstance/gpu", "gpu is -1", NULL },
  { ROLE("instances: 1", "{cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 0}}",
         "[x]"),
    PAI_EINVAL, 8, 67, "/taskRoles/w/resourcePerInstance/ports/a",
    "count is 0", NULL },
  { ROLE("instances: 1", GOOD, "[]"), PAI_EINVAL, 9, 15,
    "/taskRoles/w/commands", "at least one command", NULL },
  { ROLE("instances: 1", GOOD, "[1]"), PAI_EINVAL, 9, 16,
    "/taskRoles/w/commands/0", "must be a string", "quotes" },
  { ROLE("instances: 1", GOOD, "[a, 'b <% $p %>']"), PAI_ENOTSUP, 9, 19,
    "/taskRoles/w/commands/1", "templates", NULL },
  { ROLE("instances: 1", GOOD, "[\"a\\0b\"]"), PAI_EINVAL, 9, 16,
    "/taskRoles/w/commands/0", "NUL", NULL },
  { HEAD "defaults: {deployment: d}\ntaskRoles: {}\n", PAI_ENOTSUP, 4, 24,
    "/defaults/deployment", "deployments", "task roles" },
  { ROLE("instances: 10000", "{cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 200}}",
         "[x]"),
    PAI_ELIMIT, 5, 3, "/taskRoles/w", "more than 1000000 ports", NULL },
  { HEAD
    "extras: []\ntaskRoles: {w: {dockerImage: x, resourcePerInstance: " GOOD
    ", commands: [x]}}\n",
    PAI_EINVAL, 4, 9, "/extras", "must be a mapping", NULL },
};

static void json_is_read_as_json(void **state)
{
  static const char text[] =
    "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\",\n"
    "\t\"taskRoles\": {\"w\": {\"dockerImage\": \"x\",\n"
    "\t\"resourcePerInstance\": {\"cpu\": 1, \"memoryMB\": 1, \"gpu\": 0},\n"
    "\t\"commands\": [\"echo \\ud83d\\ude00\"]}}}\n";
  char flow[] = "{protocolVersion: 2, name: n, type: jib}";
  pai_spec *spec;
  pai_error *err;

  (void)state;
  assert_int_equal(parse(&spec, text, NULL), PAI_OK);
  assert_string_equal(pai_spec_role_script(spec, 0), "echo \xf0\x9f\x98\x80");
  pai_spec_unref(spec);
  assert_int_equal(parse(&spec, flow, &err), PAI_EINVAL); /* or as YAML */
  assert_int_equal(pai_error_column(err), 37);
  pai_error_free(err);
}

static void errors_name_the_place_and_the_cure(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    const char *pointer, *help;
    pai_spec *spec;
    pai_error *err;
    int rc = parse(&spec, wrong[i].text, &err);

    assert_null(spec);
    assert_non_null(err);
    pointer = pai_error_pointer(err);
    help = pai_error_help(err);
    if (rc != wrong[i].code || pai_error_line(err) != wrong[i].line ||
        pai_error_column(err) != wrong[i].column ||
        strstr(pai_error_message(err), wrong[i].says) == NULL ||
        (wrong[i].pointer != NULL &&
         (pointer == NULL || strcmp(pointer, wrong[i].pointer) != 0)) ||
        (wrong[i].help != NULL &&
         (help == NULL || strstr(help, wrong[i].help) == NULL)))
      fail_msg("row %zu: %s at %u:%u %s: %s; help: %s", i, pai_code_name(rc),
               pai_error_line(err), pai_error_column(err),
               pointer != NULL ? pointer : "(none)", pai_error_message(err),
               help != NULL ? help : "(none)");
    pai_error_free(err);
    assert_int_equal(parse(&spec, wrong[i].text, NULL), rc);
  }
}

#define NAMED_ROLE                                                       \
  HEAD "taskRoles:\n  %s%s: {dockerImage: x, resourcePerInstance: " GOOD \
       ", commands: [x]}\n"

static void limits_hold_at_the_limit_and_one_over(void **state)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  char many[] = ROLE("instances: 10000", GOOD, "[x]");
  char longest[201], role[1024];
  pai_error *err;
  pai_spec *spec;

  (void)state;
  o.max_bytes = strlen(full);
  assert_int_equal(pai_spec_parse(&spec, full, strlen(full), &o, NULL),
                   PAI_OK);
  pai_spec_unref(spec);
  o.max_bytes--;
  assert_int_equal(pai_spec_parse(&spec, full, strlen(full), &o, &err),
                   PAI_ELIMIT);
  pai_error_free(err);
  assert_int_equal(parse(&spec, many, NULL), PAI_OK);
  assert_int_equal(pai_spec_task_count(spec), 10000);
  pai_spec_unref(spec);
  memset(longest, 'r', sizeof(longest) - 1);
  longest[sizeof(longest) - 1] = '\0';
  (void)snprintf(role, sizeof(role), NAMED_ROLE, longest, "");
  assert_int_equal(parse(&spec, role, NULL), PAI_OK);
  assert_string_equal(pai_spec_role_name(spec, 0), longest);
  pai_spec_unref(spec);
  (void)snprintf(role, sizeof(role), NAMED_ROLE, longest, "r");
  assert_int_equal(parse(&spec, role, &err), PAI_ELIMIT);
  assert_int_equal(pai_error_line(err), 5);
  assert_int_equal(pai_error_column(err), 3);
  assert_non_null(strstr(pai_error_help(err), "shorten"));
  assert_memory_equal(pai_error_pointer(err), "/taskRoles/rrr", 14);
  test_expect_error(err, PAI_ELIMIT, "longer than 200 characters");
}

static void bad_arguments_are_refused(void **state)
{
  pai_spec_options o = { 3, NULL, 0 };
  pai_spec *spec;
  pai_error *err;

  (void)state;
  assert_int_equal(pai_spec_parse(&spec, full, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_int_equal(pai_spec_parse(NULL, full, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_parse(&spec, NULL, 0, NULL, NULL), PAI_EINVAL);
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

static int body(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const char *text = user_data;
  pai_spec *spec;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_parse(&spec, text, strlen(text), &o, NULL);
  if (rc == PAI_OK)
    check_full(spec);
  pai_spec_unref(spec);
  return rc == PAI_ENOTSUP ? PAI_OK : rc;
}

static void failing_memory(void **state)
{
  static char refused[] = ROLE("instances: 1", GOOD, "['<% x %>']");
  static char good[sizeof(full)];

  (void)state;
  memcpy(good, full, sizeof(full));
  test_faults(body, good);
  test_faults(body, refused); /* memory may lack while failing, too */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_field_is_read),
    cmocka_unit_test(json_is_read_as_json),
    cmocka_unit_test(errors_name_the_place_and_the_cure),
    cmocka_unit_test(limits_hold_at_the_limit_and_one_over),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(files_are_loaded_and_named_in_errors),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
