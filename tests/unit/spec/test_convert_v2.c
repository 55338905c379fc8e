/*
 * Conversion from v2: what v1 can say of it, and what is noted.  And of both
 * versions: every valid file of the corpora goes there and back, and no tree
 * does harm.
 */
#include "converted.h"
#include "rows.h"

#include <stdio.h>

#define RES "resourcePerInstance: {cpu: 1, memoryMB: 1000, gpu: 0}"
#define JOB(root, prerequisites, role)                                    \
  "{protocolVersion: 2, name: n, type: job, " root " prerequisites: ["    \
  "{name: i, type: dockerimage, uri: u} " prerequisites "], taskRoles: {" \
  "r: {dockerImage: i, " role "}}}"
#define ROOT(fields) JOB(fields, "", RES ", commands: [x]")
#define ROLE(fields) JOB("", "", RES ", commands: [x], " fields)

static const struct {
  const char *v2, *has, *lacks, *notes;
} back[] = {
  { ROOT(""), "\"command\": \"set -o errexit -o nounset -o pipefail\\nx\"",
    "jobEnvs", "" },
  { ROOT(""), "\"shmMB\": 512", "extras", "" },
  { ROOT(""), "\"minSucceededTaskCount\": 1", "minFailed", "" },
  { ROOT("version: 1, contributor: c, description: d, secrets: {a: b},"), "",
    NULL,
    "version /version 2\ncontributor /contributor 2\n"
    "description /description 2\nsecrets /secrets 2\n" },
  { ROOT("parameters: {a: 1, b: 2},"), "", "jobEnvs",
    "parameters /parameters 2\n" },
  { ROOT("defaults: {virtualCluster: 1.0, x: 1},"),
    "\"virtualCluster\": \"1\"", NULL, "defaults /defaults/x 2\n" },
  { ROOT("jobRetryCount: 3,"), "\"retryCount\": 3", NULL, "" },
  { ROOT("jobRetryCount: 3, extras: {openpai: {v1: {retryCount: -2}}},"),
    "\"retryCount\": 3", "-2", "" },
  { ROOT("extras: {openpai: {v1: {jobName: m.n}}},"), "\"jobName\": \"n\"",
    "m.n", "" },
  { ROOT("extras: {gangAllocation: false, d: 2020-01-01, o: [null, 1.5]},"),
    "\"d\": \"2020-01-01T00:00:00.000Z\"", NULL,
    "extras /extras/gangAllocation 1\n" },
  { ROOT("deployments: [{name: d, x: 1, taskRoles: {r: {preCommands: [a], "
         "postCommands: [b]}}}, {name: e, taskRoles: {r: {}}}], "
         "defaults: {deployment: d},"),
    "pipefail\\na\\nx\\nb\"", NULL,
    "deployment-commands /deployments/0/taskRoles/r/preCommands 0\n"
    "deployment-commands /deployments/0/taskRoles/r/postCommands 0\n"
    "deployment /deployments/1 2\ndeployment-field /deployments/0/x 2\n" },
  { ROOT("parameters: {A: 1}, deployments: [{name: d, taskRoles: {r: "
         "{preCommands: [\"export A='1'\", \"export B='2'\", "
         "\"export B='3'\", c, \"export D='4'\"]}}}], "
         "defaults: {deployment: d},"),
    "\"jobEnvs\": {\n    \"A\": 1,\n    \"B\": \"3\"\n  }", "parameters",
    "deployment-commands /deployments/0/taskRoles/r/preCommands 0\n" },
  { ROOT("parameters: {A: 2}, deployments: [{name: d, taskRoles: {r: "
         "{preCommands: [\"export A='1'\"]}}}], defaults: {deployment: d},"),
    "\"A\": \"1\"", NULL, "" },
  { ROOT("deployments: [{name: d, taskRoles: {r: {preCommands: ["
         "\"export A='a'b'\"]}}}], defaults: {deployment: d},"),
    "pipefail\\nexport A='a'b'\\nx\"", "jobEnvs",
    "deployment-commands /deployments/0/taskRoles/r/preCommands 0\n" },
  { ROOT("deployments: [{name: d, taskRoles: {r: {preCommands: ["
         "\"export A='x'\\\\''\"]}}}], defaults: {deployment: d},"),
    "pipefail\\nexport A='x'\\\\''\\nx\"", "jobEnvs",
    "deployment-commands /deployments/0/taskRoles/r/preCommands 0\n" },
  { JOB("deployments: [{name: d, taskRoles: {r: {preCommands: ["
        "set +o errexit +o nounset +o pipefail]}}}], "
        "defaults: {deployment: d},",
        "", RES ", commands: ['']"),
    "\"command\": \":\"", NULL, "" },
  { JOB("deployments: [{name: d, taskRoles: {r: {preCommands: ["
        "\"export A='1'\"]}, s: {preCommands: [\"export A='2'\"]}}}], "
        "defaults: {deployment: d},",
        "", RES ", commands: [x]}, s: {dockerImage: i, commands: [y], " RES),
    "pipefail\\nexport A='2'\\ny\"", "jobEnvs",
    "deployment-commands /deployments/0/taskRoles/r/preCommands 0\n"
    "deployment-commands /deployments/0/taskRoles/s/preCommands 0\n" },
  { JOB("parameters: {lt: '<%', v: 1},", "",
        RES ", commands: ['<% $parameters.lt %> <%  $parameters.v %>', <%]"),
    "\\n<% <%  $parameters.v %>\\n<%\"", NULL,
    "template /taskRoles/r/commands/0 2\n"
    "template /taskRoles/r/commands/1 2\nparameters /parameters 2\n" },
  { JOB("", "", RES ", commands: ['', ' ']"), "pipefail\\n\"", NULL, "" },
  { JOB("", ", {name: p, type: script, plugin: x}",
        RES ", commands: [x], prerequisites: [p]"),
    "", "codeDir",
    "prerequisite-unused /prerequisites/1 2\n"
    "role-prerequisites /taskRoles/r/prerequisites 2\n" },
  { JOB("", ", {name: d, type: data, uri: [a, b], require: [x]}",
        RES ", commands: [x], data: d"),
    "\"dataDir\": \"a\"", NULL,
    "data-uris /prerequisites/1/uri 2\n"
    "prerequisite-field /prerequisites/1/require 2\n" },
  { "{protocolVersion: 2, name: n, type: job, prerequisites: [{name: i, type: "
    "dockerimage, uri: u, auth: {username: a}}, {name: j, type: dockerimage, "
    "uri: v}, {name: d, type: output, uri: o}], taskRoles: {r: {dockerImage: "
    "i, output: d, commands: [x], " RES "}, s: {dockerImage: j, commands: "
    "[x], " RES "}, t: {dockerImage: i, commands: [x], " RES "}}}",
    "\"image\": \"u\"", NULL,
    "role-image /taskRoles/s/dockerImage 2\nrole-folder /taskRoles/s 1\n"
    "role-folder /taskRoles/t 1\nimage-auth /prerequisites/0/auth 2\n" },
  { ROLE("taskRetryCount: 1, extraContainerOptions: {infiniband: true, x: 1}"),
    "", NULL,
    "task-retries /taskRoles/r/taskRetryCount 2\n"
    "infiniband /taskRoles/r/extraContainerOptions/infiniband 2\n"
    "container-option /taskRoles/r/extraContainerOptions/x 2\n" },
  { ROLE("taskRetryCount: 0, prerequisites: [], extraContainerOptions: "
         "{infiniband: false, shmMB: 64}"),
    "", "shmMB", "" },
  { ROLE("extraContainerOptions: {shmMB: 2000}"), "\"shmMB\": 1000", NULL,
    "shm-size /taskRoles/r/extraContainerOptions/shmMB 1\n" },
  { ROLE("instances: 2, completion: {minFailedInstances: -1, "
         "minSucceededInstances: -1}"),
    "\"minFailedTaskCount\": null", "minSucceeded", "" },
  { ROLE("instances: 2, completion: {minFailedInstances: 3, "
         "minSucceededInstances: -5}"),
    "\"minFailedTaskCount\": null", "minSucceeded",
    "completion /taskRoles/r/completion/minFailedInstances 0\n"
    "completion /taskRoles/r/completion/minSucceededInstances 1\n" },
  { ROLE("instances: 2, completion: {minFailedInstances: null}"),
    "\"minSucceededTaskCount\": 2", "minFailed", "" },
  { JOB("extras: {openpai: {v1: {taskRoles: {r: {taskNumber: 0}}}}},", "",
        RES ", commands: [x], completion: {minSucceededInstances: -1}"),
    "\"taskNumber\": 1", "minFailed", "" },
  { JOB("extras: {openpai: {v1: {taskRoles: {r: {taskNumber: 0}}}}},", "",
        RES ", commands: [x], completion: {minFailedInstances: -1}"),
    "\"taskNumber\": 1", NULL, "" },
  { JOB("extras: {openpai: {v1: {taskRoles: {r: {name: r.1, taskNumber: 0, "
        "shmMB: 0, portList: [{label: a, beginAt: 5, portNumber: 2}]}}}}},",
        "",
        "commands: [x], resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 1, "
        "ports: {a: 3}}, extraContainerOptions: {shmMB: 32}"),
    "\"name\": \"r.1\",\n      \"taskNumber\": 1", "\"beginAt\": 5", "" },
};

static void what_v1_cannot_say_is_noted_once(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(back); i++) {
    char *v1 = test_to_v1(back[i].v2);

    if (strstr(v1, back[i].has) == NULL)
      fail_msg("no \"%s\" in:\n%s", back[i].has, v1);
    if (back[i].lacks != NULL && strstr(v1, back[i].lacks) != NULL)
      fail_msg("\"%s\" in:\n%s", back[i].lacks, v1);
    assert_string_equal(test_noted(), back[i].notes);
    test_text_free(v1);
    test_v1_is_stable(back[i].v2);
  }
}

/* --- the corpora -------------------------------------------------------- */

static int converted; /* valid files of the corpus at hand */

static bool is_valid(const pai__tree *row)
{
  const char *verdict = test_row_text(row, "verdict", NULL);

  assert_non_null(verdict);
  return strcmp(verdict, "valid") == 0;
}

static void check_v1_row(const pai__tree *row)
{
  pai__node n = pai__tree_get(row, 0, "value");
  char *value;

  if (!is_valid(row))
    return;
  assert_true(n != PAI__NO_NODE);
  value = pai__strndup(&pai__libc_alloc, row->text + row->nodes[n].start,
                       row->nodes[n].end - row->nodes[n].start);
  test_there_and_back(test_row_text(row, "text", NULL), value);
  test_text_free(value);
  converted++;
}

/* The original took a list for taskRoles, and then had none. */
static void check_v2_row(const pai__tree *row)
{
  const char *text = test_row_text(row, "text", NULL);
  pai__tree *t;
  pai__node n;

  if (!is_valid(row))
    return;
  t = test_yaml_parse(text, NULL);
  n = pai__tree_get(t, 0, "taskRoles");
  if (n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__MAPPING)
    test_v1_is_stable(text);
  pai__tree_free(t);
  converted++;
}

/* How many valid files there are, all of which are checked; or -1. */
static int each_valid(const char *name, void (*check)(const pai__tree *row))
{
  converted = 0;
  return test_each_row(name, check) < 0 ? -1 : converted;
}

static bool skipped;

static void valid_files_go_there_and_back(void **state)
{
  int v1 = each_valid("v1-cases.jsonl", check_v1_row);
  int v2 = each_valid("v2-cases.jsonl", check_v2_row);

  (void)state;
  skipped = v1 < 0 || v2 < 0;
  if (skipped)
    return;
  printf("%d job files of version 1, %d of version 2\n", v1, v2);
  assert_true(v1 > 100 && v2 > 300);
}

/* --- failing ------------------------------------------------------------ */

/* No valid file, but nothing that may crash; as text and as each value. */
static void trees_that_are_not_valid_do_no_harm(void **state)
{
  static const char *const texts[] = {
    "null",
    "[]",
    "{}",
    "1",
    "{\"taskRoles\": 1}",
    "{\"taskRoles\": [1]}",
    "{\"taskRoles\": {\"a\": [], \"b\": 1}, \"extras\": [1], "
    "\"prerequisites\": [1, {}], \"parameters\": [1], \"defaults\": "
    "{\"deployment\": 1}, \"deployments\": [1, {\"taskRoles\": 1}]}",
    "{\"jobEnvs\": [1], \"extras\": \"x\", \"jobName\": 1, \"taskRoles\": "
    "[{\"portList\": {\"a\": 1}, \"taskNumber\": \"1e\", \"cpuNumber\": "
    "\".\", \"memoryMB\": \"9e99\", \"gpuNumber\": \"-\"}]}",
    ("{\"extras\": {\"openpai\": {\"v1\": {\"taskRoles\": {\"a\": 1}, "
     "\"extras\": 1, \"jobEnvs\": 2}}}, \"taskRoles\": {\"a\": {}}}"),
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai__tree *t = test_v1_parse(texts[i]);

    test_text_free(test_convert(pai__convert_v1_to_v2, t));
    test_text_free(test_convert(pai__convert_v2_to_v1, t));
    pai__tree_free(t);
  }
}

static int stop(void *user_data, const pai__convert_note *note)
{
  (void)note;
  ++*(int *)user_data;
  return PAI_ECANCELED;
}

static void a_note_can_end_the_conversion(void **state)
{
  pai__tree *t = test_yaml_parse(ROOT("version: 1, description: d,"), NULL);
  int calls = 0;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__convert_v2_to_v1(&b, t, stop, &calls), PAI_ECANCELED);
  assert_int_equal(calls, 1);
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

static void memory_may_run_short(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(back); i++) {
    pai__tree *t;
    char *v1;

    if (back[i].notes[0] == '\0')
      continue;
    t = test_yaml_parse(back[i].v2, NULL);
    v1 = test_convert(pai__convert_v2_to_v1, t);
    test_convert_faults(pai__convert_v2_to_v1, t, v1);
    test_text_free(v1);
    pai__tree_free(t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_v1_cannot_say_is_noted_once),
    cmocka_unit_test(valid_files_go_there_and_back),
    cmocka_unit_test(trees_that_are_not_valid_do_no_harm),
    cmocka_unit_test(a_note_can_end_the_conversion),
    cmocka_unit_test(memory_may_run_short),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
