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
  { "extras: {com.microsoft.pai.runtimeplugin: []},", "", "plugins" },
  { "extras: {storages: []},", "", "storages" },
  { "extras: {gangAllocation: false},", "", "gangAllocation" },
  { "extras: {gangAllocation: true},", "", NULL },
  { "extras: {gangAllocation: 0},", "", NULL }, /* OpenPAI: only `false` */
  { "extras: {hivedScheduler: {jobPriorityClass: prod}},", "", "priorities" },
  { "extras: {jobStatusChangeNotification: {running: false, failed: true}},",
    "", "notified" },
  { "extras: {jobStatusChangeNotification: {failed: false}},", "", NULL },
  { "extras: {jobStatusChangeNotification: x},", "", NULL },
  { "extras: {submitFrom: x, tags: [a], tensorBoard: {}},", "", NULL },
  { "defaults: {virtualCluster: vc1},", "", "virtualCluster" },
  { "defaults: {virtualCluster: 1},", "", "virtualCluster" },
  { "defaults: {virtualCluster: default},", "", NULL },
  { "defaults: {virtualCluster: null, other: 1},", "", NULL },
  { "version: 1, contributor: c, description: d,", "", NULL },
  { "parameters: {a: 1}, secrets: {b: 2},", "", NULL },
  { "deployments: [{name: d, taskRoles: {a: {}}}],", "", NULL },
  { "", "protocolVersion: 2, instances: 2,", NULL },
  { "", "taskRetryCount: 1,", "taskRetryCount" },
  { "", "taskRetryCount: 0,", NULL },
  { "", "taskRetryCount: -1,", NULL },
  { "", "prerequisites: [d],", "prerequisites" },
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

    assert_non_null(strstr(pai_spec_note(spec, 0), "image"));
    note = pai_spec_note(spec, 1);
    if (ignored[i].note == NULL
          ? note != NULL
          : note == NULL || strstr(note, ignored[i].note) == NULL)
      fail_msg("row %zu: %s", i, note != NULL ? note : "no note");
    if (note != NULL && pai_spec_note(spec, 2) != NULL)
      fail_msg("row %zu: also %s", i, pai_spec_note(spec, 2));
    pai_spec_unref(spec);
  }
}

static void each_ignored_field_has_its_note(void **state)
{
  pai_spec *spec =
    parse(job_with("extras: {gangAllocation: false, storages: [a]},",
                   "taskRetryCount: 2, data: d, output: o,"));
  size_t n = 0;

  (void)state;
  while (pai_spec_note(spec, n) != NULL)
    n++;
  assert_int_equal(n, 1 + 2 + 3);
  pai_spec_unref(spec);
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
    assert_non_null(pai_spec_note(spec, 2));
    assert_non_null(strstr(pai_spec_note(spec, 2), "taskRetryCount"));
  }
  pai_spec_unref(spec);
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, job_with("extras: {storages: []},", "taskRetryCount: 1,"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_not_acted_on_is_noted_once),
    cmocka_unit_test(each_ignored_field_has_its_note),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
