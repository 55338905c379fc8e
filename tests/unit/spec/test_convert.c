/*
 * Conversion from v1: where each field goes, that it all comes back, and what
 * may end it.
 */
#include "converted.h"

#define V1(fields)                                \
  "{\"jobName\": \"j\", \"image\": \"i\"," fields \
  "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}"
#define V1_ROLE(fields)                    \
  "{\"jobName\": \"j\", \"image\": \"i\"," \
  "\"taskRoles\": [{\"name\": \"r\"," fields " \"command\": \"c\"}]}"

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

static void bytes_are_as_promised(void **state)
{
  pai__tree *t = test_v1_parse(whole_v1);
  char *v2 = test_to_v2(t);

  (void)state;
  assert_string_equal(v2, whole_v2);
  test_text_free(v2);
  pai__tree_free(t);
}

/* A v1 file; what its result contains, and must not; what is noted. */
static const struct {
  const char *v1, *has, *lacks, *notes;
} forward[] = {
  { V1(""), "jobRetryCount: 0\n", "extras", "" },
  { V1(""), "defaults:\n  virtualCluster: default\n", "parameters", "" },
  { V1("\"virtualCluster\": \"\","), "virtualCluster: ''\n", NULL, "" },
  { V1("\"authFile\": \"f\","), "v1:\n      authFile: f\n", NULL,
    "auth-file /authFile 1\n" },
  { V1("\"gpuType\": \"K80\","), "gpuType: K80\n", NULL,
    "gpu-type /gpuType 1\n" },
  { V1("\"gpuType\": \"\","), "", "extras", "" },
  { V1("\"killAllOnCompletedTaskNumber\": 1,"),
    "killAllOnCompletedTaskNumber: 1\n", NULL,
    "kill-all /killAllOnCompletedTaskNumber 0\n" },
  { V1("\"retryCount\": -1,"), "retryCount: -1\n", "jobRetryCount: -",
    "retry-count /retryCount 1\n" },
  { V1("\"outputDir\": \"/o$HOME`x`\\\\\","),
    "export PAI_OUTPUT_DIR=\"/o\\$HOME\\`x\\`\\\\\"\n", NULL,
    "folder-literal /outputDir 0\n" },
  { V1("\"outputDir\": \"$PAI_DEFAULT_FS_URI/$PAI_JOB_NAME\","),
    "export PAI_OUTPUT_DIR=\"<% $output.uri %>\"\n", NULL,
    "folder-variables /outputDir 1\n" },
  { V1("\"outputDir\": \"$PAI_USERNAMES <%\","),
    "\"\\$PAI_USERNAMES <% $parameters.template_open %>\"\n", NULL,
    "folder-literal /outputDir 0\n" },
  { V1("\"codeDir\": \"c\","), "script: default_script\n", NULL,
    "code-dir /codeDir 1\n" },
  { V1("\"jobEnvs\": {\"N\": null, \"L\": [1, [null, true], {}], "
       "\"O\": {\"a\": 1}, \"I\": 9007199254740993},"),
    "export N='null'\n          - export L='1,,true,[object Object]'\n"
    "          - export O='[object Object]'\n"
    "          - export I='9007199254740992'\n",
    "extras", "" },
  { V1("\"jobEnvs\": {\"1a\": 1, \"b\": \"x\\u0000\"},"),
    "jobEnvs:\n        '1a': 1\n        b: \"x\\x00\"\n", "parameters",
    "env-name /jobEnvs/1a 1\nenv-name /jobEnvs/b 1\n" },
  { V1("\"jobEnvs\": {\"isDebug\": true, \"paiAzRDMA\": 1},"),
    "export isDebug='true'\n", "extras", "env-acted-on /jobEnvs/isDebug 1\n" },
  { V1("\"jobEnvs\": {\"template_open\": \"<%\"},"),
    "export template_open='<% $parameters.template_open_2 %>'\n", NULL, "" },
  { V1("\"jobEnvs\": {},"), "jobEnvs: {}\n", "parameters", "" },
  { V1("\"extras\": {},"), "extras: {}\n", "v1:", "" },
  { V1("\"extras\": {}, \"gpuType\": \"x\","), "extras: {}\n", NULL,
    "gpu-type /gpuType 1\n" },
  { V1("\"extras\": {\"openpai\": 1},"),
    "v1:\n      extras:\n        openpai: 1\n", NULL, "" },
  { V1("\"extras\": {\"openpai\": {\"v1\": {\"jobName\": \"x\"}}},"),
    "extras:\n        openpai:\n          v1:\n            jobName: x\n", NULL,
    "" },
  { V1("\"extras\": {\"openpai\": {}},"), "extras:\n        openpai: {}\n",
    NULL, "" },
  { V1("\"extras\": {\"openpai\": {\"a\": 1}},"), "openpai:\n    a: 1\n",
    "v1:", "" },
  { V1("\"extras\": {\"openpai\": {\"a\": 1}}, \"gpuType\": \"x\","),
    "openpai:\n    a: 1\n    v1:\n      gpuType: x\n", NULL,
    "gpu-type /gpuType 1\n" },
  { V1("\"extras\": {\"storages\": []},"), "storages: []\n", NULL,
    "extras /extras/storages 1\n" },
  { V1_ROLE("\"minFailedTaskCount\": null,"), "minFailedInstances: -1\n",
    "extras", "" },
  { V1_ROLE("\"minSucceededTaskCount\": 1,"), "minSucceededInstances: 1\n",
    "extras", "" },
  { V1_ROLE("\"taskNumber\": 0, \"minFailedTaskCount\": null,"),
    "r:\n          taskNumber: 0\n", NULL,
    "no-tasks /taskRoles/0/taskNumber 1\n" },
  { V1_ROLE("\"shmMB\": 0,"), "r:\n          shmMB: 0\n", "  shmMB: 0\n  ",
    "" },
  { V1_ROLE("\"shmMB\": 32,"), "shmMB: 32\n", "extras", "" },
  { V1_ROLE("\"portList\": [],"), "", "ports", "" },
  { V1_ROLE("\"portList\": [{\"label\": \"a\", \"beginAt\": 0, "
            "\"portNumber\": -1}, {\"label\": \"b\", \"beginAt\": 0, "
            "\"portNumber\": 2}],"),
    "ports:\n        b: 2\n    commands", NULL,
    "port-count /taskRoles/0/portList/0 1\n" },
  { V1("\"jobEnvs\": {\"A\": \"<%<% %> <<%%\"},"),
    "'<% $parameters.template_open %><% $parameters.template_open %> %> "
    "<<% $parameters.template_open %>%'\n",
    NULL, "" },
  { V1_ROLE("\"portList\": [{\"label\": \"a\", \"beginAt\": 0, "
            "\"portNumber\": 0}],"),
    "portNumber: 0\n", "ports:", "port-count /taskRoles/0/portList/0 1\n" },
  { V1_ROLE(
      "\"portList\": [{\"label\": \"a\", \"beginAt\": 0, \"portNumber\": 1}, "
      "{\"label\": \"a.b\", \"beginAt\": 0, \"portNumber\": 1}, "
      "{\"label\": \"a\", \"beginAt\": 0, \"portNumber\": 3}],"),
    "ports:\n        a_2: 1\n        a_b: 1\n        a: 3\n", NULL,
    "port-label /taskRoles/0/portList/0/label 1\n"
    "port-label /taskRoles/0/portList/1/label 1\n" },
  { V1_ROLE("\"portList\": [{\"label\": \"a\", \"beginAt\": 5, "
            "\"portNumber\": 1}],"),
    "a: 1\n", NULL, "port-begin /taskRoles/0/portList/0/beginAt 1\n" },
  { "{\"jobName\": \"j\", \"image\": \"i\", \"taskRoles\": ["
    "{\"name\": \"a.b\", \"command\": \"c\"},"
    "{\"name\": \"a_b\", \"command\": \"c\"},"
    "{\"name\": \"a~b\", \"command\": \"c\"},"
    "{\"name\": \"a_b\", \"command\": \" d \\n\"},"
    "{\"name\": \"9\", \"command\": \" \"}]}",
    "v1:\n      taskRoles:\n        a_b_2:\n          name: a.b\n"
    "        a_b_3:\n          name: a_b\n        a_b_4:\n"
    "          name: a~b\n        _9:\n          name: '9'\n",
    NULL,
    "role-name /taskRoles/0/name 1\nrole-name /taskRoles/1/name 1\n"
    "role-name /taskRoles/2/name 1\nrole-name /taskRoles/4/name 1\n" },
};

static void each_field_of_v1_has_its_place(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(forward); i++) {
    pai__tree *t = test_v1_parse(forward[i].v1);
    char *v2 = test_to_v2(t);

    if (strstr(v2, forward[i].has) == NULL)
      fail_msg("no \"%s\" in:\n%s", forward[i].has, v2);
    if (forward[i].lacks != NULL && strstr(v2, forward[i].lacks) != NULL)
      fail_msg("\"%s\" in:\n%s", forward[i].lacks, v2);
    assert_string_equal(test_noted(), forward[i].notes);
    test_there_and_back(forward[i].v1, forward[i].v1);
    test_text_free(v2);
    pai__tree_free(t);
  }
}

/* Ports and numbers with their defaults, which the table leaves out. */
static void what_v1_says_in_full_comes_back(void **state)
{
  (void)state;
  test_there_and_back(V1("\"retryCount\": \" +3.0e0 \","),
                      V1("\"retryCount\": 3,"));
  test_there_and_back(V1("\"retryCount\": \"-1\","),
                      V1("\"retryCount\": -1,"));
  test_there_and_back(V1_ROLE("\"taskNumber\": -3,"),
                      V1_ROLE("\"taskNumber\": -3,"));
  test_there_and_back(V1_ROLE("\"minFailedTaskCount\": 2,"),
                      V1_ROLE("\"minFailedTaskCount\": 2,"));
  test_there_and_back(
    V1_ROLE("\"taskNumber\": 0, \"minSucceededTaskCount\": 1,"),
    V1_ROLE("\"taskNumber\": 0, \"minSucceededTaskCount\": 1,"));
  test_there_and_back(
    whole_v1, "{\"jobName\": \"my.job\", \"image\": \"img\", "
              "\"retryCount\": -2, \"dataDir\": \"hdfs://d/$PAI_USERNAME\","
              "\"codeDir\": \"a\\\"b\", \"jobEnvs\": {\"A\": 1.5, "
              "\"B\": \"it's <% x\", \"a-b\": null}, "
              "\"extras\": {\"tags\": [\"t\"]}, \"taskRoles\": [{"
              "\"name\": \"ps.1\", \"taskNumber\": 2, "
              "\"minFailedTaskCount\": null, "
              "\"command\": \"echo '<% $x %>'\", \"portList\": [{"
              "\"label\": \"1.a\", \"beginAt\": 80, \"portNumber\": 1}]}]"
              "}");
}

/* --- failing ------------------------------------------------------------ */

static int stop(void *user_data, const pai__convert_note *note)
{
  (void)note;
  ++*(int *)user_data;
  return PAI_ECANCELED;
}

static void a_note_can_end_the_conversion(void **state)
{
  pai__tree *t = test_v1_parse(whole_v1);
  int calls = 0;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__convert_v1_to_v2(&b, t, stop, &calls), PAI_ECANCELED);
  assert_int_equal(calls, 1);
  assert_int_equal(pai__convert_v1_to_v2(&b, t, NULL, NULL), PAI_OK);
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

/* Every role times every variable: an end is set to what that can make. */
static void results_have_an_end(void **state)
{
  pai__buf b, out;
  pai__tree *t;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_str(&b, "{\"jobName\": \"j\", \"image\": \"i\", \"jobEnvs\": {");
  for (int i = 0; i < 2000; i++)
    pai__buf_printf(&b, "%s\"long_name_of_a_variable_%d\": 1",
                    i == 0 ? "" : ",", i);
  pai__buf_str(&b, "}, \"taskRoles\": [");
  for (int i = 0; i < 2000; i++)
    pai__buf_printf(&b, "%s{\"name\": \"x\", \"command\": \"c\"}",
                    i == 0 ? "" : ",");
  pai__buf_str(&b, "]}");
  t = test_v1_parse(pai__buf_text(&b));
  assert_int_equal(pai__convert_v1_to_v2(&out, t, NULL, NULL), PAI_ELIMIT);
  pai__buf_dispose(&out);
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

static void memory_may_run_short(void **state)
{
  pai__tree *t = test_v1_parse(whole_v1);

  (void)state;
  test_convert_faults(pai__convert_v1_to_v2, t, whole_v2);
  pai__tree_free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_as_promised),
    cmocka_unit_test(each_field_of_v1_has_its_place),
    cmocka_unit_test(what_v1_says_in_full_comes_back),
    cmocka_unit_test(a_note_can_end_the_conversion),
    cmocka_unit_test(results_have_an_end),
    cmocka_unit_test(memory_may_run_short),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
