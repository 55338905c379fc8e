/* What a file asks for and this version does not act on: one note each. */
#include "testing.h"

#include <openpai/spec.h>

#include <stdio.h>

#define GOOD "{cpu: 1, memoryMB: 1, gpu: 0}"
#define PREREQUISITES                                      \
  "prerequisites: [{name: x, type: dockerimage, uri: u}, " \
  "{name: d, type: data}, {name: o, type: output}, {name: s, type: script}]"

/* A job with these fields at its root and in both of its roles. */
static char *job_with(const char *root, const char *role)
{
  static const char pattern[] =
    "{protocolVersion: 2, name: n, type: job, " PREREQUISITES
    ", %s taskRoles: {"
    "a: {dockerImage: x, %s resourcePerInstance: " GOOD ", commands: [x]}, "
    "b: {dockerImage: x, %s resourcePerInstance: " GOOD ", commands: [x]}}}";
  static char text[2048];

  (void)snprintf(text, sizeof(text), pattern, root, role, role);
  return text;
}

static pai_spec *parse(const char *text)
{
  pai_spec *spec;

  assert_int_equal(pai_spec_parse(&spec, text, strlen(text), NULL, NULL),
                   PAI_OK);
  return spec;
}

/* A field, and a part of its note; NULL when there is none. */
static const struct {
  const char *root, *role;
  const char *note;
} ignored[] = {
  { "extras: {com.microsoft.pai.runtimeplugin: []},", "", NULL },
  { "extras: {storages: []},", "", NULL },
  { "extras: {gangAllocation: false},", "", NULL },
  { "extras: {gangAllocation: false},", "taskRetryCount: 1,", NULL },
  { "extras: {gangAllocation: true},", "taskRetryCount: 1,",
    "taskRetryCount" },
  { "extras: {gangAllocation: 0},", "taskRetryCount: 1,",
    "taskRetryCount" }, /* OpenPAI: only `false` */
  { "extras: {hivedScheduler: {jobPriorityClass: prod}},", "",
    "jobPriorityClass" },
  { "extras: {jobStatusChangeNotification: {running: false, failed: true}},",
    "", "no notifications" },
  { "extras: {jobStatusChangeNotification: {failed: false}},", "", NULL },
  { "extras: {jobStatusChangeNotification: x},", "", NULL },
  { "extras: {submitFrom: x, tags: [a], tensorBoard: {}},", "", NULL },
  { "defaults: {virtualCluster: vc1},", "", NULL },
  { "defaults: {virtualCluster: 1},", "", NULL },
  { "defaults: {virtualCluster: default},", "", NULL },
  { "defaults: {virtualCluster: null, other: 1},", "", NULL },
  { "version: 1, contributor: c, description: d,", "", NULL },
  { "parameters: {a: 1}, secrets: {b: 2},", "", NULL },
  { "deployments: [{name: d, taskRoles: {a: {}}}],", "", NULL },
  { "", "protocolVersion: 2, instances: 2,", NULL },
  { "", "taskRetryCount: 1,", "taskRetryCount" },
  { "", "taskRetryCount: 0,", NULL },
  { "", "taskRetryCount: -1,", NULL },
  { "", "prerequisites: [d],", NULL },
  { "", "data: d,", "data" },
  { "", "output: o,", "output" },
  { "", "script: s,", "script" },
  { "", "extraContainerOptions: {infiniband: true},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: 1.5},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: 'no'},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: []},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: false},", NULL },
  { "", "extraContainerOptions: {infiniband: null},", NULL },
  { "", "extraContainerOptions: {infiniband: ''},", NULL },
  { "", "extraContainerOptions: {infiniband: 0, shmMB: 5},", NULL },
};

static void what_is_not_acted_on_is_noted_once(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(ignored); i++) {
    pai_spec *spec = parse(job_with(ignored[i].root, ignored[i].role));
    const char *note;

    note = pai_spec_note(spec, 0);
    if (ignored[i].note == NULL
          ? note != NULL
          : note == NULL || strstr(note, ignored[i].note) == NULL)
      fail_msg("row %zu: %s", i, note != NULL ? note : "no note");
    if (note != NULL && pai_spec_note(spec, 1) != NULL)
      fail_msg("row %zu: also %s", i, pai_spec_note(spec, 1));
    pai_spec_unref(spec);
  }
}

static void each_ignored_field_has_its_note(void **state)
{
  pai_spec *spec =
    parse(job_with("extras: {gangAllocation: true, hivedScheduler: {}},",
                   "taskRetryCount: 2, data: d, output: o,"));
  size_t n = 0;

  (void)state;
  while (pai_spec_note(spec, n) != NULL)
    n++;
  assert_int_equal(n, 1 + 3);
  pai_spec_unref(spec);
}

/* Of version 1: its folders, if they are addresses. */
static void folders_of_version_1(void **state)
{
  static const struct {
    const char *fields, *note;
  } rows[] = {
    { "", NULL },
    { "\"dataDir\": \"/d\", \"outputDir\": \"o\", \"codeDir\": "
      "\"$PAI_DEFAULT_FS_URI/c\",",
      NULL },
    { "\"codeDir\": \"file:///c\",", NULL },
    { "\"dataDir\": \"hdfs://h:9000/d\",", "dataDir is an address" },
    { "\"outputDir\": \"hdfs://h:9000/d\",", "outputDir is an address" },
    { "\"codeDir\": \"webhdfs://h/c\",",
      "codeDir is an address, which is not" },
  };
  char text[512];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_spec *spec, *masked;

    (void)snprintf(text, sizeof(text),
                   "{\"jobName\": \"a\", \"image\": \"i\", %s \"taskRoles\": "
                   "[{\"name\": \"w\", \"command\": \"x\"}]}",
                   rows[i].fields);
    spec = parse(text);
    assert_int_equal(pai_spec_masked(&masked, spec, NULL), PAI_OK);
    for (int of = 0; of < 2; of++) {
      const char *note = pai_spec_note(of == 0 ? spec : masked, 0);

      if (rows[i].note == NULL)
        assert_null(note);
      else
        assert_memory_equal(note, rows[i].note, strlen(rows[i].note));
      assert_null(note != NULL ? pai_spec_note(spec, 1) : NULL);
    }
    pai_spec_unref(masked);
    pai_spec_unref(spec);
  }
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const char *text = user_data;
  pai_spec *spec;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_parse(&spec, text, strlen(text), &o, NULL);
  if (rc == PAI_OK) {
    assert_non_null(pai_spec_note(spec, 1));
    assert_non_null(strstr(pai_spec_note(spec, 1), "taskRetryCount"));
  }
  pai_spec_unref(spec);
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body,
              job_with("extras: {hivedScheduler: {}},", "taskRetryCount: 1,"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_not_acted_on_is_noted_once),
    cmocka_unit_test(each_ignored_field_has_its_note),
    cmocka_unit_test(folders_of_version_1),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
