/*
 * Paths and places of what is found: through aliases and merge keys, behind
 * escapes, in files with all kinds of line ends; and in job config v1 and the
 * fields of HiveD.
 */
#include "spec/found.h"

static const found paths[] = {
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a: &r {dockerImage: y, " ROLE_SIZES
    ", commands: [1]}\n  b: *r\n  c: {<<: *r, instances: 0}\n",
    "unknown-name /taskRoles/a/dockerImage 6:23-6:24\n"
    "unknown-name /taskRoles/b/dockerImage 6:23-6:24\n"
    "unknown-name /taskRoles/c/dockerImage 6:23-6:24\n"
    "wrong-type /taskRoles/a/commands/0 6:89-6:90\n"
    "wrong-type /taskRoles/b/commands/0 6:89-6:90\n"
    "wrong-type /taskRoles/c/commands/0 6:89-6:90\n"
    "too-small /taskRoles/c/instances 8:26-8:27",
    "no dockerimage prerequisite 'y'", "there are: x" },
  { JOB_HEAD JOB_IMAGE
    "parameters: {list: &l [1]}\ntaskRoles:\n  a: {dockerImage: x, " ROLE_SIZES
    ", commands: *l}\n",
    "?unused-parameter /parameters/list 5:14-5:18\n"
    "wrong-type /taskRoles/a/commands/0 5:24-5:25",
    "nothing uses parameter 'list'", "drop it" },
  { JOB_HEAD JOB_IMAGE
    "extras: &n {k: 0}\ntaskRoles:\n  a: {dockerImage: x, " ROLE_SIZES
    ", commands: [c], completion: {<<: [*n]}}\n",
    "unknown-key /taskRoles/a/completion/k 5:13-5:14",
    "completion has no field 'k'", "minFailedInstances" },
  { "{\"protocolVersion\": 2, \"name\": \"a\\u0020b\", \"type\": \"job\",\n "
    "\"na\\u006de2\": \"\\ud83d\\ude00\", \"extr\\u0061s\": 1}",
    "missing-key  1:1-2:49\n"
    "bad-name /name 1:32-1:42\n"
    "unknown-key /name2 2:2-2:14\n"
    "wrong-type /extras 2:47-2:48",
    "lacks the field 'taskRoles'", "add" },
  { "\xef\xbb\xbfprotocolVersion: 2\r\nname: \xc3\xa9 "
    "\xf0\x9f\x98\x80\r\ntype: jib\r\n" JOB_IMAGE "\r\n" JOB_ROLES,
    "bad-name /name 2:7-2:10\n"
    "not-allowed /type 3:7-3:10",
    "name cannot be", "letters" },
  { "protocolVersion: 2\rname: \xc3\xa9\rtype: \"\xc3\xa9\" # "
    "\xc3\xa9\r" JOB_IMAGE JOB_ROLES,
    "bad-name /name 2:7-2:8\n"
    "not-allowed /type 3:7-3:10",
    "name", "letters" },
  { "// c\n{\"protocolVersion\": 2}\n", "syntax  1:1-1:1",
    "expected a value, not '/'", "remove the comment" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", // c\n\"type\": \"job\",}\n",
    "syntax  1:37-1:37", "expected a key in double quotes, not '/'",
    "remove the comment" },
  { "{ // c\n\"name\": \"n\"\n\"type\": 1}\n", "syntax  3:1-3:1",
    "expected ',' or '}' after the value", NULL },
  { "/ c", "wrong-type  1:1-1:4", "must be a mapping, not a text", NULL },
  { JOB_HEAD JOB_IMAGE JOB_ROLES "\tw: 1\n", "unknown-key /w 6:2-6:3",
    "has no field 'w'", "a tab indents this line" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", "
    "\"prerequisites\": [{\"type\": \"dockerimage\", \"name\": \"x\", "
    "\"uri\": \"y\"}], \"taskRoles\": {\"a\": {\"dockerImage\": \"x\", "
    "\"resourcePerInstance\": {\"gpu\": 0, \"cpu\": 1, \"memoryMB\": 1}, "
    "\"commands\": [\"c\"]}},\n\t\"w\": 1}",
    "unknown-key /w 2:2-2:5", "has no field 'w'",
    "what could still be given" },
  /* keys that are there twice, and all else */
  { JOB_WITH("name: m"), "duplicate-key /name 6:1-6:5",
    "key 'name' is there already, at line 2, column 1", "remove one" },
  { JOB_WITH("extras: {a: 1, a: {b: 1, b: 2}, c: 1, c: 1, c: 2}\nx: 1"),
    "duplicate-key /extras/a 6:16-6:17\n"
    "duplicate-key /extras/a/b 6:26-6:27\n"
    "duplicate-key /extras/c 6:45-6:46\n"
    "duplicate-key /extras/c 6:45-6:46\n"
    "unknown-key /x 7:1-7:2",
    "line 6, column 10", "remove one" },
  { JOB_WITH("extras: {m: &m {a: 1, b: 1}, n: {<<: *m, a: 2, b: 3, a: 4}}"),
    "duplicate-key /extras/n/a 6:54-6:55", "column 42", "remove one" },
  { JOB_WITH("secrets: {a: 1, a: 2}"), "duplicate-key /secrets 6:17-6:18",
    "this key is there already, at line 6, column 11", "remove one" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", "
    "\"name\": \"n\",\n\"taskRoles\": {}}",
    "duplicate-key /name 1:52-1:58\n"
    "too-few /taskRoles 2:14-2:16",
    "column 24", "remove one" },
  { "a: 1\na: 2\nb: [", "syntax  3:5-3:5", "did not find", NULL },
  { "[{a: 1, a: 2}]", "syntax  1:9-1:9", "there already", "remove one" },
  { "a: 1\n---\nb: 2\n", "syntax  2:1-2:1", "a second document", "remove" },
  { "a: *x\n", "syntax  1:4-1:4", "has no anchor", "quote" },
};

#define V1(root, role)                           \
  "{\"jobName\": \"a\", \"image\": \"i\", " root \
  ",\n\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"" role "}]}"

static const found of_v1[] = {
  { "{\"jobName\": \"a\", \"image\": \"i\", \"taskRoles\": [{\"name\": \"r\", "
    "\"command\": \"c\"}]}",
    "", NULL, NULL },
  { "// said\n{\"jobName\": \"a\", /* x */ \"image\": \"i\",\n\"taskRoles\": "
    "[{\"name\": \"r\", \"command\": \"c\"}]}\n",
    "", NULL, NULL },
  { "{\"jobName\": \"a\", \"image\": \"i\", \"image\": \"\",\n\"taskRoles\": "
    "[{\"name\": \"r\", \"command\": \"c\"}]}",
    "?duplicate-key /image 1:32-1:39\n"
    "empty /image 1:41-1:43",
    "key 'image' is there already", "the last one counts" },
  { "{\"jobName\": \"a\", \"jobName\": \"b\", \"image\": "
    "\"i\",\n\"taskRoles\": "
    "[{\"name\": \"r\", \"command\": \"c\"}]}",
    "?duplicate-key /jobName 1:18-1:27", "line 1, column 2", "the last one" },
  { "{\"image\": \"i\"}",
    "missing-key  1:1-1:15\n"
    "missing-key  1:1-1:15",
    "a job config lacks the field 'jobName'", "add jobName" },
  { "{\"jobName\": \"a b\", \"image\": \"i\", \"taskRoles\": []}",
    "bad-name /jobName 1:13-1:18\n"
    "too-few /taskRoles 1:47-1:49",
    "jobName cannot be 'a b'", "'.', _ and -" },
  { V1("\"extra\": {}", ""), "unknown-key /extra 1:32-1:39",
    "no field 'extra'", "did you mean 'extras'" },
  { V1("\"gpuType\": null", ""), "wrong-type /gpuType 1:43-1:47",
    "gpuType must be a text, not null", NULL },
  { V1("\"retryCount\": -3", ""), "too-small /retryCount 1:46-1:48",
    "retryCount cannot be -3", "give -2 or more" },
  { V1("\"retryCount\": \" -2 \"", ""), "?retry-count /retryCount 1:46-1:52",
    NULL, NULL },
  { V1("\"retryCount\": \"x\"", ""), "wrong-type /retryCount 1:46-1:49",
    "must be a whole number, not 'x'", NULL },
  { V1("\"jobEnvs\": {\"-\": 1, \"isDebug\": 1, \"paiAzRDMA\": true}", ""),
    "bad-name /jobEnvs/- 1:44-1:47\n"
    "not-allowed /jobEnvs/isDebug 1:63-1:64",
    "'-' cannot be a key of jobEnvs", "a letter" },
  { V1("\"killAllOnCompletedTaskNumber\": 1.5", ""),
    "wrong-type /killAllOnCompletedTaskNumber 1:64-1:67", "whole number",
    "give a whole number, as 2" },
  { V1("\"extras\": []", ""), "wrong-type /extras 1:42-1:44",
    "must be a mapping", NULL },
  { V1("\"codeDir\": 1", ", \"taskNumber\": \"two\""),
    "wrong-type /codeDir 1:43-1:44\n"
    "wrong-type /taskRoles/0/taskNumber 2:59-2:64",
    "codeDir must be a text, not 1", "quotes" },
  { V1("\"codeDir\": \"c\"",
       ", \"taskNumber\": \"2\", \"memoryMB\": \"1e3\", \"shmMB\": 1000"),
    "?code-dir /codeDir 1:43-1:46", "does not copy", "fetch it" },
  { V1("\"codeDir\": \"c\"", ", \"shmMB\": 101"),
    "too-large /taskRoles/0/shmMB 2:54-2:57",
    "shmMB is 101, and memoryMB is 100", "ask for less" },
  { V1("\"codeDir\": \"c\"",
       ", \"minFailedTaskCount\": 0, \"minSucceededTaskCount\": null"),
    "too-small /taskRoles/0/minFailedTaskCount 2:67-2:68", "cannot be 0",
    "give 1" },
  { V1("\"codeDir\": \"c\"", ", \"minFailedTaskCount\": 2"),
    "?code-dir /codeDir 1:43-1:46\n"
    "?out-of-reach /taskRoles/0/minFailedTaskCount 2:67-2:68",
    "does not copy", "fetch" },
  { V1("\"codeDir\": \"c\"", ", \"portList\": [{}, {\"label\": \"a b\", "
                             "\"beginAt\": \"x\", \"port\": 1}, 1]"),
    "missing-key /taskRoles/0/portList/0 2:58-2:60\n"
    "bad-name /taskRoles/0/portList/1/label 2:72-2:77\n"
    "wrong-type /taskRoles/0/portList/1/beginAt 2:90-2:93\n"
    "unknown-key /taskRoles/0/portList/1/port 2:95-2:101\n"
    "wrong-type /taskRoles/0/portList/2 2:107-2:108",
    "a port lacks the field 'label'", "add label" },
  { V1("\"extras\": {}",
       ", \"portList\": [{\"label\": \"p\", \"beginAt\": 8080, "
       "\"portNumber\": 3}, {\"label\": \"q\", \"beginAt\": \"8081\"}, "
       "{\"label\": \"r\", \"beginAt\": 8083}, {\"label\": \"s\", "
       "\"beginAt\": 0}, {\"label\": \"t\"}]"),
    "?port-begin /taskRoles/0/portList/0/beginAt 2:84-2:88\n"
    "?port-collision /taskRoles/0/portList/1/label 2:118-2:121\n"
    "?port-begin /taskRoles/0/portList/1/beginAt 2:134-2:140\n"
    "?port-begin /taskRoles/0/portList/2/beginAt 2:169-2:173",
    "chooses the numbers", NULL },
  { V1("\"extras\": {}", ", \"portList\": [{\"label\": \"q\", "
                         "\"beginAt\": 8081}, {\"label\": \"p\", "
                         "\"beginAt\": 8080, \"portNumber\": 2}, "
                         "{\"label\": \"a b\"}]"),
    "?port-collision /taskRoles/0/portList/1/label 2:101-2:104\n"
    "bad-name /taskRoles/0/portList/2/label 2:151-2:156",
    "ports q and p overlap at 8081", "further apart" },
  { V1("\"codeDir\": \"c\"", ", \"instances\": 1"),
    "unknown-key /taskRoles/0/instances 2:45-2:56",
    "a task role has no field 'instances'", "what could still" },
  { "// c\n{\"jobName\": 1}\n{}", "syntax  3:1-3:1", "expected nothing more",
    NULL },
  { "// c\n{\"jobName\": \"a\", \"image\": \"i\",}\n", "missing-key  2:1-2:32",
    "lacks the field 'taskRoles'", "add taskRoles" },
  { "{\"jobName\": \"a\", // c\n\"image\": \"i\",,}\n", "syntax  2:14-2:14",
    "expected a key in double quotes, not ','", NULL },
};

static const found of_hived[] = {
  { JOB_WITH("extras: {hivedScheduler: 1}"),
    "wrong-type /extras/hivedScheduler 6:26-6:27",
    "hivedScheduler must be a mapping", NULL },
  { JOB_WITH("extras: {hivedScheduler: {jobPriorityClass: crit}}"),
    "not-allowed /extras/hivedScheduler/jobPriorityClass 6:45-6:49",
    "cannot be 'crit'", "it can be: prod, test, oppo" },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {}, more: 1}}"),
    "too-few /extras/hivedScheduler/taskRoles 6:38-6:40", "taskRoles is empty",
    "entry" },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {'a b': {}, a: {skuType: "
             "1, pinnedCellId: null, more: 1}}}}"),
    "bad-name /extras/hivedScheduler/taskRoles/a b 6:39-6:44\n"
    "wrong-type /extras/hivedScheduler/taskRoles/a/skuType 6:63-6:64",
    "'a b' cannot be a key", "and ~" },
  { JOB_WITH("extras: &e {hivedScheduler: {taskRoles: {a: {skuType: "
             "[]}}}}\ndefaults: *e"),
    "wrong-type /extras/hivedScheduler/taskRoles/a/skuType 6:55-6:57",
    "a text or null, not an empty list", NULL },
};

/* Which our own platform acts on. */
static const found of_openpai[] = {
  { JOB_WITH("extras: {openpai: {runtime: podmn, stdin: 3, tty: null}}"),
    "not-allowed /extras/openpai/runtime 6:29-6:34\n"
    "wrong-type /extras/openpai/stdin 6:43-6:44",
    "cannot be 'podmn'", "did you mean 'podman'" },
  { JOB_WITH("extras: {openpai: {timeLimit: 1h30m, after: a~b.c:ended}}"), "",
    NULL, NULL },
  { JOB_WITH("extras: {openpai: {timeLimit: 90, after: [a, b:ok, c:failed], "
             "more: 1}}"),
    "", NULL, NULL },
  { JOB_WITH("extras: {openpai: {folders: [/tmp/a, /tmp/a.b/..c]}}"), "", NULL,
    NULL },
  { JOB_WITH("extras: {openpai: {folders: [/tmp, /tmp/, /tmp/../etc, /etc/a, "
             "/tmp/a//b, /tmpa]}}"),
    "bad-name /extras/openpai/folders/0 6:30-6:34\n"
    "bad-name /extras/openpai/folders/1 6:36-6:41\n"
    "bad-name /extras/openpai/folders/2 6:43-6:54\n"
    "bad-name /extras/openpai/folders/3 6:56-6:62\n"
    "bad-name /extras/openpai/folders/4 6:64-6:73\n"
    "bad-name /extras/openpai/folders/5 6:75-6:80",
    "cannot be '/tmp'", "use a path below /tmp" },
  { JOB_WITH("extras: {openpai: {timeLimit: 2 hours}}"),
    "bad-name /extras/openpai/timeLimit 6:31-6:38", "cannot be '2 hours'",
    "use a time, as 90s" },
  { JOB_WITH("extras: {openpai: {timeLimit: 0}}"),
    "too-small /extras/openpai/timeLimit 6:31-6:32", "timeLimit cannot be 0",
    "give 1 or more" },
  { JOB_WITH("extras: {openpai: {timeLimit: 0s}}"),
    "bad-name /extras/openpai/timeLimit 6:31-6:33", "cannot be '0s'",
    "use a time" },
  { JOB_WITH("extras: {openpai: {after: [a:maybe, ':ok', 'a:ok:ok', 3]}}"),
    "bad-name /extras/openpai/after/0 6:28-6:35\n"
    "bad-name /extras/openpai/after/1 6:37-6:42\n"
    "bad-name /extras/openpai/after/2 6:44-6:53\n"
    "wrong-type /extras/openpai/after/3 6:55-6:56",
    "cannot be 'a:maybe'", "NAME:ended" },
  { JOB_WITH("extras: {openpai: 1}"), "wrong-type /extras/openpai 6:19-6:20",
    "openpai must be a mapping", NULL },
};

#define HIVED(roles) \
  ROLE_WITH("instances: 1\nextras:\n hivedScheduler:\n  taskRoles:\n" roles)

/* Which need no cluster to be told. */
static const found of_hived_roles[] = {
  { HIVED("   a: {skuType: S, pinnedCellId: P}"),
    "not-allowed /extras/hivedScheduler/taskRoles/a/pinnedCellId 14:34-14:35",
    "cannot be given together", "drop skuType" },
  { HIVED("   a: {skuType: '', pinnedCellId: P}\n"), "", NULL, NULL },
  { HIVED("   a: {skuType: S}\n   b: {skuType: S}"),
    "unknown-name /extras/hivedScheduler/taskRoles/b 15:4-15:5",
    "there is no task role 'b'", "a role of taskRoles" },
  { HIVED("   a: {skuType: S, affinityGroupName: g}\n"
          "   b: {skuType: T, affinityGroupName: g}\n"
          "   c: {skuType: S, affinityGroupName: g, pinnedCellId: null}\n"
          "   d: {affinityGroupName: g}\n   e: {affinityGroupName: ''}"),
    "unknown-name /extras/hivedScheduler/taskRoles/b 15:4-15:5\n"
    "group-mismatch /extras/hivedScheduler/taskRoles/b/affinityGroupName "
    "15:39-15:40\n"
    "unknown-name /extras/hivedScheduler/taskRoles/c 16:4-16:5\n"
    "unknown-name /extras/hivedScheduler/taskRoles/d 17:4-17:5\n"
    "group-mismatch /extras/hivedScheduler/taskRoles/d/affinityGroupName "
    "17:27-17:28\n"
    "unknown-name /extras/hivedScheduler/taskRoles/e 18:4-18:5",
    "no task role 'b'", "a role of" },
  { JOB_WITH("extras: {hivedScheduler: {}}"),
    "?hived-instances /taskRoles/a 5:13-5:14", "no default for instances",
    "instances: 1" },
};

static void the_way_a_reader_goes(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(paths); i++)
    test_found(&paths[i], NULL);
}

static void job_configs_of_version_1(void **state)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(of_v1); i++)
    test_found(&of_v1[i], NULL);
  o.version = 1;
  for (size_t i = 0; i < PAI__LEN(of_v1); i++)
    test_found(&of_v1[i], &o);
}

static void hived_where_the_cluster_has_it(void **state)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  found good = { NULL, "", NULL, NULL };

  (void)state;
  o.hived = 1;
  for (size_t i = 0; i < PAI__LEN(of_hived); i++) {
    test_found(&of_hived[i], &o);
    good.text = of_hived[i].text;
    test_found(&good, NULL); /* elsewhere nobody reads it */
  }
  for (size_t i = 0; i < PAI__LEN(of_hived_roles); i++)
    test_found(&of_hived_roles[i], &o);
}

static void what_our_own_platform_acts_on(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(of_openpai); i++)
    test_found(&of_openpai[i], NULL);
}

static void check_version(const char *text, int insist, int want, int valid)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;

  o.version = insist;
  assert_int_equal(pai_spec_check(&report, NULL, text, strlen(text), &o, NULL),
                   PAI_OK);
  assert_int_equal(pai_report_version(report), want);
  assert_int_equal(pai_report_valid(report), valid);
  pai_report_free(report);
}

static void the_version_is_told_by_the_content(void **state)
{
  static const char v1[] = V1("\"retryCount\": 1", "");
  static const char v2[] = JOB_HEAD JOB_IMAGE JOB_ROLES;

  (void)state;
  check_version(v1, 0, 1, 1);
  check_version(v2, 0, 2, 1);
  check_version(v1, 1, 1, 1);
  check_version(v2, 2, 2, 1);
  check_version(v1, 2, 2, 0);
  check_version(v2, 1, 1, 0);
  check_version("jobName: a", 0, 1, 0); /* as YAML */
  check_version("image: a", 0, 1, 0);
  check_version("taskRoles: []", 0, 1, 0);
  check_version("taskRoles: {}", 0, 2, 0);
  check_version("{jobName: a, protocolVersion: 2}", 0, 2, 0);
  check_version("{}", 0, 2, 0);
  check_version("[]", 0, 0, 0);
  check_version("[", 0, 0, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_way_a_reader_goes),
    cmocka_unit_test(job_configs_of_version_1),
    cmocka_unit_test(hived_where_the_cluster_has_it),
    cmocka_unit_test(what_our_own_platform_acts_on),
    cmocka_unit_test(the_version_is_told_by_the_content),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
