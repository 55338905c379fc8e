/*
 * Conversion of job config v1 into protocol v2: where each field goes, that the
 * result is valid, what is warned of, and what may end it.
 */
#include "cases.h"
#include "documents.h"
#include "rows.h"

#include "spec/convert/convert.h"

#include <openpai/spec.h>

#include <stdio.h>

#define V1(fields) \
  "{jobName: j, image: i, " fields " taskRoles: [{name: r, command: c}]}"
#define V1_ROLE(fields) \
  "{jobName: j, image: i, taskRoles: [{name: r, " fields " command: c}]}"

static const char whole_v1[] =
  "{ // a comment\n"
  "  \"jobName\": \"my.job\", \"image\": \"img\", \"retryCount\": \"-2\",\n"
  "  \"dataDir\": \"hdfs://d/$PAI_USERNAME\", \"codeDir\": \"a\\\"b\",\n"
  "  \"jobEnvs\": {\"A\": 1.5, \"B\": \"it's <% x\", \"a-b\": null},\n"
  "  \"extras\": {\"tags\": [\"t\"]},\n"
  "  \"taskRoles\": [{\"name\": \"ps.1\", \"taskNumber\": \"2\",\n"
  "    \"minFailedTaskCount\": null, \"command\": \"echo '<% $x %>'\",\n"
  "    \"portList\": [{\"label\": \"1.a\", \"beginAt\": 80}]}]\n"
  "}";

static const char whole_v2[] =
  "protocolVersion: '2'\n"
  "name: my_job\n"
  "type: job\n"
  "prerequisites:\n"
  "  - name: default_image\n"
  "    type: dockerimage\n"
  "    uri: img\n"
  "  - name: default_data\n"
  "    type: data\n"
  "    uri:\n"
  "      - hdfs://d/$PAI_USERNAME\n"
  "  - name: default_script\n"
  "    type: script\n"
  "    uri: a\"b\n"
  "jobRetryCount: 2147483647\n"
  "taskRoles:\n"
  "  ps_1:\n"
  "    instances: 2\n"
  "    completion:\n"
  "      minFailedInstances: -1\n"
  "      minSucceededInstances: -1\n"
  "    dockerImage: default_image\n"
  "    data: default_data\n"
  "    script: default_script\n"
  "    extraContainerOptions:\n"
  "      shmMB: 64\n"
  "    resourcePerInstance:\n"
  "      cpu: 1\n"
  "      memoryMB: 100\n"
  "      gpu: 0\n"
  "      ports:\n"
  "        _1_a: 1\n"
  "    commands:\n"
  "      - echo '<% $parameters.template_open %> $x %>'\n"
  "deployments:\n"
  "  - name: default\n"
  "    taskRoles:\n"
  "      ps_1:\n"
  "        preCommands:\n"
  "          - set +o errexit +o nounset +o pipefail\n"
  "          - export PAI_DATA_DIR=\"<% $data.uri[0] %>\"\n"
  "          - export PAI_CODE_DIR=\"a\\\"b\"\n"
  "          - export A='1.5'\n"
  "          - export B='it'\\''s <% $parameters.template_open %> x'\n"
  "defaults:\n"
  "  virtualCluster: default\n"
  "  deployment: default\n"
  "parameters:\n"
  "  A: 1.5\n"
  "  B: it's <% x\n"
  "  template_open: <%\n"
  "extras:\n"
  "  tags:\n"
  "    - t\n"
  "  openpai:\n"
  "    v1:\n"
  "      jobName: my.job\n"
  "      retryCount: -2\n"
  "      jobEnvs:\n"
  "        a-b: null\n"
  "      taskRoles:\n"
  "        ps_1:\n"
  "          name: ps.1\n"
  "          portList:\n"
  "            - label: '1.a'\n"
  "              beginAt: 80\n"
  "              portNumber: 1\n";

/* A v1 file: JSON, which may have comments, or YAML. */
static pai__tree *parse_v1(const char *text)
{
  pai__json_options opts = { .flags =
                               PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES };

  return strncmp(text, "{jobName", 8) == 0 ? test_yaml_parse(text, NULL)
                                           : test_json_parse(text, &opts);
}

static char warned[16384]; /* "CODE POINTER", a line each */

/* Converts what may be no valid file; the text is the caller's. */
static char *convert(const pai__tree *t)
{
  pai__arena arena;
  pai__findings f;
  size_t len = 0;
  pai__buf b = test_buf();

  pai__arena_init(&arena, &pai__libc_alloc);
  pai__findings_init(&f, &arena, t);
  assert_ok(pai__convert_v1_to_v2(&b, &f));
  assert_ok(pai__findings_end(&f));
  assert_int_equal(f.errors, 0);
  warned[0] = '\0';
  for (size_t i = 0; i < f.len; i++)
    len += (size_t)snprintf(warned + len, sizeof(warned) - len, "%s %s\n",
                            f.list[i].code, f.list[i].pointer);
  pai__findings_dispose(&f);
  pai__arena_dispose(&arena);
  return pai__buf_take(&b);
}

static void free_text(char *text)
{
  pai__strfree(&pai__libc_alloc, text);
}

/* The same of a valid file, and the result must be one, too. */
static char *to_v2(const char *v1)
{
  pai__tree *t = parse_v1(v1);
  char *v2 = convert(t);
  pai_report *report;

  assert_ok(pai_spec_check(&report, NULL, v2, strlen(v2), NULL, NULL));
  assert_int_equal(pai_report_version(report), 2);
  if (!pai_report_valid(report))
    fail_msg("%s in:\n%s", pai_report_get(report, 0)->message, v2);
  pai_report_free(report);
  pai__tree_free(t);
  return v2;
}

TEST(bytes_are_as_promised)
{
  char *v2 = to_v2(whole_v1);

  assert_string_equal(v2, whole_v2);
  free_text(v2);
}

/* A v1 file; what its result contains, and must not; what is
 * warned of. */
static const struct {
  const char *v1, *has, *lacks, *notes;
} forward[] = {
  { V1(""), "jobRetryCount: 0\n", "extras", "" },
  { V1(""), "defaults:\n  virtualCluster: default\n", "parameters", "" },
  { V1("virtualCluster: '',"), "virtualCluster: ''\n", NULL, "" },
  { V1("authFile: f,"), "v1:\n      authFile: f\n", NULL,
    "auth-file /authFile\n" },
  { V1("gpuType: K80,"), "gpuType: K80\n", NULL, "gpu-type /gpuType\n" },
  { V1("gpuType: '',"), "", "extras", "" },
  { V1("killAllOnCompletedTaskNumber: 1,"),
    "killAllOnCompletedTaskNumber: 1\n", NULL, "" },
  { V1("retryCount: -1,"), "retryCount: -1\n", "jobRetryCount: -",
    "retry-count /retryCount\n" },
  { V1("outputDir: \"/o$HOME`x`\\\\\","),
    "export PAI_OUTPUT_DIR=\"/o\\$HOME\\`x\\`\\\\\"\n", NULL, "" },
  { V1("outputDir: '$PAI_DEFAULT_FS_URI/$PAI_JOB_NAME',"),
    "export PAI_OUTPUT_DIR=\"<% $output.uri %>\"\n", NULL,
    "folder-variables /outputDir\n" },
  { V1("outputDir: '$PAI_USERNAMES <%',"),
    "\"\\$PAI_USERNAMES <% $parameters.template_open %>\"\n", NULL, "" },
  { V1("codeDir: c,"), "script: default_script\n", NULL,
    "code-dir /codeDir\n" },
  { V1("jobEnvs: {N: null, L: [1, [null, true], {}], O: {a: 1}, I: "
       "9007199254740993},"),
    "export N='null'\n          - export L='1,,true,[object Object]'\n        "
    "  - export O='[object Object]'\n          - export "
    "I='9007199254740992'\n",
    "extras", "" },
  { V1("jobEnvs: {1a: 1, b: \"x\\0\"},"),
    "jobEnvs:\n        '1a': 1\n        b: \"x\\x00\"\n", "parameters",
    "env-name /jobEnvs/1a\nenv-name /jobEnvs/b\n" },
  { V1("jobEnvs: {isDebug: true, paiAzRDMA: 1},"), "export isDebug='true'\n",
    "extras", "env-acted-on /jobEnvs/isDebug\n" },
  { V1("jobEnvs: {template_open: '<%'},"),
    "export template_open='<% $parameters.template_open_2 %>'\n", NULL, "" },
  { V1("jobEnvs: {},"), "jobEnvs: {}\n", "parameters", "" },
  { V1("extras: {},"), "extras: {}\n", "v1:", "" },
  { V1("extras: {}, gpuType: x,"), "extras: {}\n", NULL,
    "gpu-type /gpuType\n" },
  { V1("extras: {openpai: 1},"), "v1:\n      extras:\n        openpai: 1\n",
    NULL, "" },
  { V1("extras: {openpai: {v1: {jobName: x}}},"),
    "extras:\n        openpai:\n          v1:\n            jobName: x\n", NULL,
    "" },
  { V1("extras: {openpai: {}},"), "extras:\n        openpai: {}\n", NULL, "" },
  { V1("extras: {openpai: {a: 1}},"), "openpai:\n    a: 1\n", "v1:", "" },
  { V1("extras: {openpai: {a: 1}}, gpuType: x,"),
    "openpai:\n    a: 1\n    v1:\n      gpuType: x\n", NULL,
    "gpu-type /gpuType\n" },
  { V1("extras: {storages: []},"), "storages: []\n", NULL,
    "extras /extras/storages\n" },
  { V1_ROLE("minFailedTaskCount: null,"), "minFailedInstances: -1\n", "extras",
    "" },
  { V1_ROLE("minSucceededTaskCount: 1,"), "minSucceededInstances: 1\n",
    "extras", "" },
  { V1_ROLE("taskNumber: 0, minFailedTaskCount: null,"),
    "r:\n          taskNumber: 0\n", NULL,
    "no-tasks /taskRoles/0/taskNumber\n" },
  { V1_ROLE("shmMB: 0,"), "r:\n          shmMB: 0\n", "  shmMB: 0\n  ", "" },
  { V1_ROLE("shmMB: 32,"), "shmMB: 32\n", "extras", "" },
  { V1_ROLE("portList: [],"), "", "ports", "" },
  { V1_ROLE("portList: [{label: a, beginAt: 0, portNumber: -1}, {label: b, "
            "beginAt: 0, portNumber: 2}],"),
    "ports:\n        b: 2\n    commands", NULL,
    "port-count /taskRoles/0/portList/0\n" },
  { V1("jobEnvs: {A: '<%<% %> <<%%'},"),
    "'<% $parameters.template_open %><% $parameters.template_open %> %> <<% "
    "$parameters.template_open %>%'\n",
    NULL, "" },
  { V1_ROLE("portList: [{label: a, beginAt: 0, portNumber: 0}],"),
    "portNumber: 0\n", "ports:", "port-count /taskRoles/0/portList/0\n" },
  { V1_ROLE(
      "portList: [{label: a, beginAt: 0, portNumber: 1}, {label: a.b, "
      "beginAt: 0, portNumber: 1}, {label: a, beginAt: 0, portNumber: 3}],"),
    "ports:\n        a_2: 1\n        a_b: 1\n        a: 3\n", NULL,
    "port-label /taskRoles/0/portList/0/label\nport-label "
    "/taskRoles/0/portList/1/label\n" },
  { V1_ROLE("portList: [{label: a, beginAt: 5, portNumber: 1}],"), "a: 1\n",
    NULL, "port-begin /taskRoles/0/portList/0/beginAt\n" },
  { "{jobName: j, image: i, taskRoles: [{name: a.b, command: c},{name: a_b, "
    "command: c},{name: 'a~b', command: c},{name: a_b, command: \" d "
    "\\n\"},{name: '9', command: ' '}]}",
    "v1:\n      taskRoles:\n        a_b_2:\n          name: a.b\n        "
    "a_b_3:\n          name: a_b\n        a_b_4:\n          name: a~b\n       "
    " _9:\n          name: '9'\n",
    NULL,
    "role-name /taskRoles/0/name\nrole-name /taskRoles/1/name\nrole-name "
    "/taskRoles/2/name\nrole-name /taskRoles/4/name\n" },
  { V1("retryCount: ' +3.0e0 ',"), "jobRetryCount: 3\n", "extras", "" },
  { V1("retryCount: '-1',"), "v1:\n      retryCount: -1\n", NULL,
    "retry-count /retryCount\n" },
  { V1_ROLE("taskNumber: -3,"), "taskNumber: -3\n", NULL,
    "no-tasks /taskRoles/0/taskNumber\n" },
  { V1_ROLE("minFailedTaskCount: 2,"), "r:\n          minFailedTaskCount: 2\n",
    NULL, "" },
  { V1_ROLE("taskNumber: 0, minSucceededTaskCount: 1,"),
    "          minSucceededTaskCount: 1\n", NULL,
    "no-tasks /taskRoles/0/taskNumber\n" },
};

TEST(each_field_of_v1_has_its_place)
{
  for (size_t i = 0; i < PAI__LEN(forward); i++) {
    char *v2 = to_v2(forward[i].v1);

    if (strstr(v2, forward[i].has) == NULL)
      fail_msg("no \"%s\" in:\n%s", forward[i].has, v2);
    if (forward[i].lacks != NULL && strstr(v2, forward[i].lacks) != NULL)
      fail_msg("\"%s\" in:\n%s", forward[i].lacks, v2);
    assert_string_equal(warned, forward[i].notes);
    free_text(v2);
  }
}

/* --- the corpus --------------------------------------------------------- */

#define CORPUS_SUM UINT64_C(0xb0a5a5c64c06f673)

static int converted;
static uint64_t sum; /* of all results, and of what was warned of */

static void add_to_sum(const char *s)
{
  for (; *s != '\0'; s++)
    sum = (sum ^ (unsigned char)*s) * 0x100000001b3;
}

static void convert_row(const pai__tree *row)
{
  char *v2;

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") != 0)
    return;
  v2 = to_v2(test_row_text(row, "text", NULL));
  add_to_sum(v2);
  add_to_sum(warned);
  free_text(v2);
  converted++;
}

/* Each becomes a valid file.  The sum may only change when the conversion is
 * meant to: then read the results. */
TEST(valid_files_of_the_corpus_stay_as_they_are)
{
  if (test_each_row("v1-cases.jsonl", convert_row) < 0)
    return;
  printf("%d job files of version 1: %016llx\n", converted,
         (unsigned long long)sum);
  assert_true(converted > 100);
  assert_true(sum == CORPUS_SUM);
}

/* --- failing ------------------------------------------------------------ */

/* No valid file, but nothing that may crash; as text and as each value. */
TEST(trees_that_are_not_valid_do_no_harm)
{
  static const char *const texts[] = {
    "null",
    "[]",
    "{}",
    "1",
    "{\"taskRoles\": 1}",
    "{\"taskRoles\": [1]}",
    "{\"taskRoles\": {\"a\": [], \"b\": 1}, \"extras\": [1]}",
    "{\"jobEnvs\": [1], \"extras\": \"x\", \"jobName\": 1, \"taskRoles\": "
    "[{\"portList\": {\"a\": 1}, \"taskNumber\": \"1e\", \"cpuNumber\": "
    "\".\", \"memoryMB\": \"9e99\", \"gpuNumber\": \"-\"}]}",
  };

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai__tree *t = parse_v1(texts[i]);

    free_text(convert(t));
    pai__tree_free(t);
  }
}

/* Every role times every variable: an end is set to what that can make. */
TEST(results_have_an_end)
{
  pai__arena arena;
  pai__findings f;
  pai__buf b = test_buf(), out = test_buf();
  pai__tree *t;

  pai__buf_str(&b, "{\"jobName\": \"j\", \"image\": \"i\", \"jobEnvs\": {");
  for (int i = 0; i < 2000; i++)
    pai__buf_printf(&b, "%s\"long_name_of_a_variable_%d\": 1",
                    i == 0 ? "" : ",", i);
  pai__buf_str(&b, "}, \"taskRoles\": [");
  for (int i = 0; i < 2000; i++)
    pai__buf_printf(&b, "%s{\"name\": \"x\", \"command\": \"c\"}",
                    i == 0 ? "" : ",");
  pai__buf_str(&b, "]}");
  t = parse_v1(pai__buf_text(&b));
  pai__arena_init(&arena, &pai__libc_alloc);
  pai__findings_init(&f, &arena, t);
  assert_int_equal(pai__convert_v1_to_v2(&out, &f), PAI_ELIMIT);
  pai__findings_dispose(&f);
  pai__arena_dispose(&arena);
  pai__buf_dispose(&out);
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

static int convert_under_faults(const pai_alloc *alloc, void *user_data)
{
  pai__arena arena;
  pai__findings f;
  pai__buf b;
  int rc;

  pai__arena_init(&arena, alloc);
  pai__findings_init(&f, &arena, user_data);
  pai__buf_init(&b, alloc);
  rc = pai__convert_v1_to_v2(&b, &f);
  if (rc == PAI_OK)
    rc = pai__findings_end(&f);
  if (rc == PAI_OK) {
    assert_string_equal(pai__buf_text(&b), whole_v2);
    assert_true(f.len > 0);
  }
  pai__buf_dispose(&b);
  pai__findings_dispose(&f);
  pai__arena_dispose(&arena);
  return rc;
}

TEST(memory_may_run_short)
{
  pai__tree *t = parse_v1(whole_v1);

  test_faults(convert_under_faults, t);
  pai__tree_free(t);
}
