/*
 * Places of what is found: through aliases and merge keys, behind escapes, in
 * files with all kinds of line ends, in a text of many lines; in job config v1
 * and the fields of HiveD; several in one report; and texts that are no
 * documents, whether the line is shown.
 */
#include "cases.h"
#include "spec/found.h"

static const found paths[] = {
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a: &r {dockerImage: y, " ROLE_SIZES
    ", commands: [1]}\n  b: *r\n  c: {<<: *r, instances: 0}\n",
    "unknown-name role/dockerImage 6:23-24\nunknown-name "
    "/taskRoles/b/dockerImage 6:23-24\nunknown-name /taskRoles/c/dockerImage "
    "6:23-24\nwrong-type role/commands/0 6:89-90\nwrong-type "
    "/taskRoles/b/commands/0 6:89-90\nwrong-type /taskRoles/c/commands/0 "
    "6:89-90\ntoo-small /taskRoles/c/instances 8:26-27",
    "no dockerimage prerequisite 'y'", "there are: x" },
  { JOB_HEAD JOB_IMAGE
    "parameters: {list: &l [1]}\ntaskRoles:\n  a: {dockerImage: x, " ROLE_SIZES
    ", commands: *l}\n",
    "?unused-parameter /parameters/list 5:14-18\nwrong-type role/commands/0 "
    "5:24-25",
    "nothing uses parameter 'list'", "remove it" },
  { JOB_HEAD JOB_IMAGE
    "extras: &n {k: 0}\ntaskRoles:\n  a: {dockerImage: x, " ROLE_SIZES
    ", commands: [c], completion: {<<: [*n]}}\n",
    "unknown-key role/completion/k 5:13-14", "completion has no field 'k'",
    "minFailedInstances" },
  { "{\"protocolVersion\": 2, \"name\": \"a\\u0020b\", \"type\": \"job\",\n "
    "\"na\\u006de2\": \"\\ud83d\\ude00\", \"extr\\u0061s\": 1}",
    "missing-key  1:1-2:49\nbad-name /name 1:32-42\nunknown-key /name2 "
    "2:2-14\nwrong-type /extras 2:47-48",
    "lacks the field 'taskRoles'", "add" },
  { "\xef\xbb\xbfprotocolVersion: 2\r\nname: \xc3\xa9 "
    "\xf0\x9f\x98\x80\r\ntype: jib\r\n" JOB_IMAGE "\r\n" JOB_ROLES,
    "bad-name /name 2:7-10\nnot-allowed /type 3:7-10", "name cannot be",
    "letters" },
  { "protocolVersion: 2\rname: \xc3\xa9\rtype: \"\xc3\xa9\" # "
    "\xc3\xa9\r" JOB_IMAGE JOB_ROLES,
    "bad-name /name 2:7-8\nnot-allowed /type 3:7-10", "name", "letters" },
  { "// c\n{\"protocolVersion\": 2}\n", "syntax  1:1-1",
    "expected a value, not '/'", "remove the comment" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", // c\n\"type\": \"job\",}\n",
    "syntax  1:37-37", "expected a key in double quotes, not '/'",
    "remove the comment" },
  { "{ // c\n\"name\": \"n\"\n\"type\": 1}\n", "syntax  3:1-1",
    "expected ',' or '}' after the value", NULL },
  { "/ c", "wrong-type  1:1-4", "must be a mapping, not a text", NULL },
  { JOB_HEAD JOB_IMAGE JOB_ROLES "\tw: 1\n", "unknown-key /w 6:2-3",
    "has no field 'w'", "this line is indented with a tab" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", "
    "\"prerequisites\": [{\"type\": \"dockerimage\", \"name\": \"x\", "
    "\"uri\": \"y\"}], \"taskRoles\": {\"a\": {\"dockerImage\": \"x\", "
    "\"resourcePerInstance\": {\"gpu\": 0, \"cpu\": 1, \"memoryMB\": 1}, "
    "\"commands\": [\"c\"]}},\n\t\"w\": 1}",
    "unknown-key /w 2:2-5", "has no field 'w'", "unused fields are" },
  /* keys that are there twice, and all else */
  { JOB_WITH("name: m"), "duplicate-key /name 6:1-5",
    "key 'name' already exists at line 2, column 1", "remove one" },
  { JOB_WITH("extras: {a: 1, a: {b: 1, b: 2}, c: 1, c: 1, c: 2}\nx: 1"),
    "duplicate-key /extras/a 6:16-17\nduplicate-key /extras/a/b "
    "6:26-27\nduplicate-key /extras/c 6:45-46\nduplicate-key /extras/c "
    "6:45-46\nunknown-key /x 7:1-2",
    "line 6, column 10", "remove one" },
  { JOB_WITH("extras: {m: &m {a: 1, b: 1}, n: {<<: *m, a: 2, b: 3, a: 4}}"),
    "duplicate-key /extras/n/a 6:54-55", "column 42", "remove one" },
  { JOB_WITH("secrets: {a: 1, a: 2}"), "duplicate-key /secrets 6:17-18",
    "this key already exists at line 6, column 11", "remove one" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\", \"name\": "
    "\"n\",\n\"taskRoles\": {}}",
    "duplicate-key /name 1:52-58\ntoo-few /taskRoles 2:14-16", "column 24",
    "remove one" },
  { "a: 1\na: 2\nb: [", "syntax  3:5-5", "did not find", NULL },
  { "[{a: 1, a: 2}]", "syntax  1:9-9", "already exists", "remove one" },
  { "a: 1\n---\nb: 2\n", "syntax  2:1-1", "a second document", "remove" },
  { "a: *x\n", "syntax  1:4-4", "has no anchor", "quote" },
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
    "?duplicate-key /image 1:32-39\nempty /image 1:41-43",
    "key 'image' already exists",
    "remove the others: only the last key takes effect" },
  { "{\"jobName\": \"a\", \"jobName\": \"b\", \"image\": "
    "\"i\",\n\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    "?duplicate-key /jobName 1:18-27", "line 1, column 2", "the last key" },
  { "{\"image\": \"i\"}", "missing-key  1:1-15\nmissing-key  1:1-15",
    "a job config lacks the field 'jobName'", "add jobName" },
  { "{\"jobName\": \"a b\", \"image\": \"i\", \"taskRoles\": []}",
    "bad-name /jobName 1:13-18\ntoo-few /taskRoles 1:47-49",
    "jobName cannot be 'a b'", "'.', _ and -" },
  { V1("\"extra\": {}", ""), "unknown-key /extra 1:32-39", "no field 'extra'",
    "did you mean 'extras'" },
  { V1("\"gpuType\": null", ""), "wrong-type /gpuType 1:43-47",
    "gpuType must be a text, not null", NULL },
  { V1("\"retryCount\": -3", ""), "too-small /retryCount 1:46-48",
    "retryCount cannot be -3", "use -2 or more" },
  { V1("\"retryCount\": \" -2 \"", ""), "?retry-count /retryCount 1:46-52",
    NULL, NULL },
  { V1("\"retryCount\": \"x\"", ""), "wrong-type /retryCount 1:46-49",
    "must be a whole number, not 'x'", NULL },
  { V1("\"jobEnvs\": {\"-\": 1, \"isDebug\": 1, \"paiAzRDMA\": true}", ""),
    "bad-name /jobEnvs/- 1:44-47\nnot-allowed /jobEnvs/isDebug 1:63-64",
    "'-' cannot be a key of jobEnvs", "a letter" },
  { V1("\"killAllOnCompletedTaskNumber\": 1.5", ""),
    "wrong-type /killAllOnCompletedTaskNumber 1:64-67", "whole number",
    "write a whole number such as 2" },
  { V1("\"extras\": []", ""), "wrong-type /extras 1:42-44",
    "must be a mapping", NULL },
  { V1("\"codeDir\": 1", ", \"taskNumber\": \"two\""),
    "wrong-type /codeDir 1:43-44\nwrong-type /taskRoles/0/taskNumber 2:59-64",
    "codeDir must be a text, not 1", "quotes" },
  { V1("\"codeDir\": \"c\"",
       ", \"taskNumber\": \"2\", \"memoryMB\": \"1e3\", \"shmMB\": 1000"),
    "?code-dir /codeDir 1:43-46", "does not copy", "fetch the code" },
  { V1("\"codeDir\": \"c\"", ", \"shmMB\": 101"),
    "too-large /taskRoles/0/shmMB 2:54-57",
    "shmMB is 101, and memoryMB is 100", "request less" },
  { V1("\"codeDir\": \"c\"",
       ", \"minFailedTaskCount\": 0, \"minSucceededTaskCount\": null"),
    "too-small /taskRoles/0/minFailedTaskCount 2:67-68", "cannot be 0",
    "use 1" },
  { V1("\"codeDir\": \"c\"", ", \"minFailedTaskCount\": 2"),
    "?code-dir /codeDir 1:43-46\n?out-of-reach "
    "/taskRoles/0/minFailedTaskCount 2:67-68",
    "does not copy", "fetch" },
  { V1("\"codeDir\": \"c\"", ", \"portList\": [{}, {\"label\": \"a b\", "
                             "\"beginAt\": \"x\", \"port\": 1}, 1]"),
    "missing-key /taskRoles/0/portList/0 2:58-60\nbad-name "
    "/taskRoles/0/portList/1/label 2:72-77\nwrong-type "
    "/taskRoles/0/portList/1/beginAt 2:90-93\nunknown-key "
    "/taskRoles/0/portList/1/port 2:95-101\nwrong-type "
    "/taskRoles/0/portList/2 2:107-108",
    "a port lacks the field 'label'", "add label" },
  { V1("\"extras\": {}",
       ", \"portList\": [{\"label\": \"p\", \"beginAt\": 8080, "
       "\"portNumber\": 3}, {\"label\": \"q\", \"beginAt\": \"8081\"}, "
       "{\"label\": \"r\", \"beginAt\": 8083}, {\"label\": \"s\", "
       "\"beginAt\": 0}, {\"label\": \"t\"}]"),
    "?port-begin /taskRoles/0/portList/0/beginAt 2:84-88\n?port-collision "
    "/taskRoles/0/portList/1/label 2:118-121\n?port-begin "
    "/taskRoles/0/portList/1/beginAt 2:134-140\n?port-begin "
    "/taskRoles/0/portList/2/beginAt 2:169-173",
    "chooses port numbers", NULL },
  { V1("\"extras\": {}",
       ", \"portList\": [{\"label\": \"q\", \"beginAt\": 8081}, {\"label\": "
       "\"p\", \"beginAt\": 8080, \"portNumber\": 2}, {\"label\": \"a b\"}]"),
    "?port-collision /taskRoles/0/portList/1/label 2:101-104\nbad-name "
    "/taskRoles/0/portList/2/label 2:151-156",
    "ports q and p overlap at 8081", "further apart" },
  { V1("\"codeDir\": \"c\"", ", \"instances\": 1"),
    "unknown-key /taskRoles/0/instances 2:45-56",
    "a task role has no field 'instances'", "unused fields" },
  { "// c\n{\"jobName\": 1}\n{}", "syntax  3:1-1", "expected nothing more",
    NULL },
  { "// c\n{\"jobName\": \"a\", \"image\": \"i\",}\n", "missing-key  2:1-32",
    "lacks the field 'taskRoles'", "add taskRoles" },
  { "{\"jobName\": \"a\", // c\n\"image\": \"i\",,}\n", "syntax  2:14-14",
    "expected a key in double quotes, not ','", NULL },
};

static const found of_hived[] = {
  { JOB_WITH("extras: {hivedScheduler: 1}"), "wrong-type hived 6:26-27",
    "hivedScheduler must be a mapping", NULL },
  { JOB_WITH("extras: {hivedScheduler: {jobPriorityClass: crit}}"),
    "not-allowed hived/jobPriorityClass 6:45-49", "cannot be 'crit'",
    "it can be: prod, test, oppo" },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {}, more: 1}}"),
    "too-few hived/taskRoles 6:38-40", "taskRoles is empty", "entry" },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {'a b': {}, a: {skuType: "
             "1, pinnedCellId: null, more: 1}}}}"),
    "bad-name hived/taskRoles/a b 6:39-44\nwrong-type "
    "hived/taskRoles/a/skuType 6:63-64",
    "'a b' cannot be a key", "and ~" },
  { JOB_WITH("extras: &e {hivedScheduler: {taskRoles: {a: {skuType: "
             "[]}}}}\ndefaults: *e"),
    "wrong-type hived/taskRoles/a/skuType 6:55-57",
    "a text or null, not an empty list", NULL },
};

/* Which our own platform acts on. */
static const found of_openpai[] = {
  { JOB_WITH("extras: {openpai: {runtime: podmn, stdin: 3, tty: null}}"),
    "not-allowed /extras/openpai/runtime 6:29-34\nwrong-type "
    "/extras/openpai/stdin 6:43-44",
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
    "bad-name /extras/openpai/folders/0 6:30-34\nbad-name "
    "/extras/openpai/folders/1 6:36-41\nbad-name /extras/openpai/folders/2 "
    "6:43-54\nbad-name /extras/openpai/folders/3 6:56-62\nbad-name "
    "/extras/openpai/folders/4 6:64-73\nbad-name /extras/openpai/folders/5 "
    "6:75-80",
    "cannot be '/tmp'", "use a path below /tmp" },
  { JOB_WITH("extras: {openpai: {timeLimit: 2 hours}}"),
    "bad-name /extras/openpai/timeLimit 6:31-38", "cannot be '2 hours'",
    "use a time such as 90s" },
  { JOB_WITH("extras: {openpai: {timeLimit: 0}}"),
    "too-small /extras/openpai/timeLimit 6:31-32", "timeLimit cannot be 0",
    "use 1 or more" },
  { JOB_WITH("extras: {openpai: {timeLimit: 0s}}"),
    "bad-name /extras/openpai/timeLimit 6:31-33", "cannot be '0s'",
    "use a time" },
  { JOB_WITH("extras: {openpai: {after: [a:maybe, ':ok', 'a:ok:ok', 3]}}"),
    "bad-name /extras/openpai/after/0 6:28-35\nbad-name "
    "/extras/openpai/after/1 6:37-42\nbad-name /extras/openpai/after/2 "
    "6:44-53\nwrong-type /extras/openpai/after/3 6:55-56",
    "cannot be 'a:maybe'", "NAME:ended" },
  { JOB_WITH("extras: {openpai: 1}"), "wrong-type /extras/openpai 6:19-20",
    "openpai must be a mapping", NULL },
};

#define HIVED(roles) \
  ROLE_WITH("instances: 1\nextras:\n hivedScheduler:\n  taskRoles:\n" roles)

/* Which need no cluster to be told. */
static const found of_hived_roles[] = {
  { HIVED("   a: {skuType: S, pinnedCellId: P}"),
    "not-allowed hived/taskRoles/a/pinnedCellId 14:34-35",
    "cannot be given together", "remove skuType" },
  { HIVED("   a: {skuType: '', pinnedCellId: P}\n"), "", NULL, NULL },
  { HIVED("   a: {skuType: S}\n   b: {skuType: S}"),
    "unknown-name hived/taskRoles/b 15:4-5", "there is no task role 'b'",
    "a role of taskRoles" },
  { HIVED("   a: {skuType: S, affinityGroupName: g}\n   b: {skuType: T, "
          "affinityGroupName: g}\n   c: {skuType: S, affinityGroupName: g, "
          "pinnedCellId: null}\n   d: {affinityGroupName: g}\n   e: "
          "{affinityGroupName: ''}"),
    "unknown-name hived/taskRoles/b 15:4-5\ngroup-mismatch "
    "hived/taskRoles/b/affinityGroupName 15:39-40\nunknown-name "
    "hived/taskRoles/c 16:4-5\nunknown-name hived/taskRoles/d "
    "17:4-5\ngroup-mismatch hived/taskRoles/d/affinityGroupName "
    "17:27-28\nunknown-name hived/taskRoles/e 18:4-5",
    "no task role 'b'", "a role of" },
  { JOB_WITH("extras: {hivedScheduler: {}}"), "?hived-instances role 5:13-14",
    "no default for instances", "instances: 1" },
};

TEST(the_way_a_reader_goes)
{
  test_found_each(paths, PAI__LEN(paths), NULL);
}

TEST(job_configs_of_version_1)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;

  test_found_each(of_v1, PAI__LEN(of_v1), NULL);
  o.version = 1;
  test_found_each(of_v1, PAI__LEN(of_v1), &o);
}

TEST(hived_where_the_cluster_has_it)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  found good = { NULL, "", NULL, NULL };

  o.hived = 1;
  for (size_t i = 0; i < PAI__LEN(of_hived); i++) {
    test_found(&of_hived[i], &o);
    good.text = of_hived[i].text;
    test_found(&good, NULL); /* elsewhere nobody reads it */
  }
  test_found_each(of_hived_roles, PAI__LEN(of_hived_roles), &o);
}

TEST(what_our_own_platform_acts_on)
{
  test_found_each(of_openpai, PAI__LEN(of_openpai), NULL);
}

static void check_version(const char *text, int insist, int want, int valid)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;

  o.version = insist;
  report = test_report(text, strlen(text), &o);
  assert_int_equal(pai_report_version(report), want);
  assert_int_equal(pai_report_valid(report), valid);
  pai_report_free(report);
}

TEST(the_version_is_told_by_the_content)
{
  static const char v1[] = V1("\"retryCount\": 1", "");
  static const char v2[] = JOB_HEAD JOB_IMAGE JOB_ROLES;

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

/* Nothing hides anything else. */
static const found all_classes[] = {
  { JOB_COMMANDS(
      "    - <% $parameters.p %> <% $secrets.s %>\n    - 1\nextra: 1\n"),
    "?unresolved role/commands/0 10:7-26\n?unknown-secret role/commands/0 "
    "10:27-43\nwrong-type role/commands/1 11:7-8\nunknown-key /extra 12:1-6",
    "<% $parameters.p %> has no value", "declare it" },
  { JOB_COMMANDS("    - <% $p\nextra: 1\n"),
    "bad-template role/commands/0 10:7-12\nunknown-key /extra 11:1-6",
    "never closed", "close each" },
  { JOB_COMMANDS("    - c\nparameters: {used: 1, not: 2}\nextra: ['<% "
                 "$parameters.used %>']\n"),
    "?unused-parameter /parameters/not 11:23-26\nunknown-key /extra 12:1-6",
    "nothing uses", "remove it" },
  /* what follows from another finding is not told again */
  { JOB_COMMANDS("    - <% $parameters.p %>\nparameter: {p: 1}\n"),
    "unknown-key /parameter 11:1-10", "no field 'parameter'", "'parameters'" },
  { JOB_COMMANDS("    - <% $data.uri %>\n    data: y\n"),
    "unknown-name role/data 11:11-12", "no data prerequisite", "none" },
  { JOB_COMMANDS("      {c: <% p %>}\ntaskRole: 1\n"),
    "wrong-type role/commands 10:7-19\nunknown-key /taskRole 11:1-9",
    "must be a list", NULL },
  /* whatever the types are */
  { JOB_HEAD "prerequisites: {auth: [<%]}\ntaskRoles: [<%, {commands: "
             "<%}]\nparameters: 1\nsecrets: [1]\nextras: 1\ndeployments: {a: "
             "1}\ndefaults: [1]\n",
    "wrong-type /prerequisites 4:16-28\nwrong-type /taskRoles "
    "5:12-32\nwrong-type /parameters 6:13-14\nwrong-type /secrets "
    "7:10-13\nwrong-type /extras 8:9-10\nwrong-type /deployments "
    "9:14-20\nwrong-type /defaults 10:11-14",
    NULL, NULL },
  { JOB_HEAD "prerequisites: [{type: data, name: [1], auth: [<%], uri: 1}, "
             "1]\ntaskRoles: {a: [<%], b: 1, c: {commands: [1, [<%], {a: "
             "<%}]}}\ndeployments: [{name: d, taskRoles: [<%]}]\ndefaults: "
             "{deployment: d}\n",
    "bad-item /prerequisites/0 4:17-17\nwrong-type /prerequisites/0/name "
    "4:36-39\nwrong-type /prerequisites/0/uri 4:58-59\nwrong-type "
    "/prerequisites/1 4:62-63\nwrong-type role 5:16-20\nwrong-type "
    "/taskRoles/b 5:25-26\nmissing-key /taskRoles/c 5:28-29\nmissing-key "
    "/taskRoles/c 5:28-29\nwrong-type /taskRoles/c/commands/0 "
    "5:43-44\nwrong-type /taskRoles/c/commands/1 5:46-50\nwrong-type "
    "/taskRoles/c/commands/2 5:52-59\nwrong-type /deployments/0/taskRoles "
    "6:36-40",
    NULL, "the fields of its type data" },
};

/* The line inside, and the column. */
static const found inside[] = {
  { JOB_COMMANDS("    - |\n      one\n\n        two <% p %>\n      <% q %>\n"),
    "?unresolved role/commands/0 13:13-20\n?unresolved role/commands/0 "
    "14:7-14",
    "<% p %>", "use a name that begins" },
  { JOB_COMMANDS("    - |2-\n\n        one\n        \xc3\xa9 <% p %>\n"),
    "?unresolved role/commands/0 13:11-18", NULL, "use a name" },
  { JOB_COMMANDS("    -   >  # c\n\n\n       one\n       two\n\n       <% p "
                 "%>\n         more\n       <% q\n       r %> x\n"),
    "?unresolved role/commands/0 16:8-15\n?unresolved role/commands/0 "
    "18:8-19:12",
    NULL, "use a name" },
  { JOB_COMMANDS("    - one\n      two  \n\n       three <% p %>  x\n"),
    "?unresolved role/commands/0 13:14-21", NULL, "use a name" },
  { JOB_COMMANDS("    - 'it''s\n      two <% p %>'\n"),
    "?unresolved role/commands/0 11:11-18", NULL, "use a name" },
  { JOB_COMMANDS(
      "    - \"\\x41\\u00e9\\t\\\n      \\\\ \\\n\n      two <% p %>\"\n"),
    "?unresolved role/commands/0 13:11-18", NULL, "use a name" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": "
    "\"job\",\n\"prerequisites\": [{\"name\": \"x\", \"type\": "
    "\"dockerimage\", \"uri\": \"x\"}],\n\"taskRoles\": {\"a\": "
    "{\"dockerImage\": \"x\", \"resourcePerInstance\": {\"cpu\": 1, "
    "\"memoryMB\": 1, \"gpu\": 0},\n\"commands\": [\"\\ud83d\\ude00\\n \\\"<% "
    "p %>\\\"\"]}}}",
    "?unresolved role/commands/0 4:32-39", NULL, "use a name" },
  { JOB_COMMANDS("    - |\r\n      one\r\n      <% p\r\n"),
    "bad-template role/commands/0 12:7-11", "never closed", "close each" },
  /* an alias is shown where it stands */
  { JOB_COMMANDS("    - &c |\n      <% p %>\n    - *c\n"),
    "?unresolved role/commands/0 11:7-14\n?unresolved role/commands/1 12:7-9",
    NULL, "use a name" },
  { JOB_HEAD
    "prerequisites:\n- {name: x, type: dockerimage, uri: x, auth: {username: "
    "u, registryuri: r, password: \"\\t <% $secrets.s %>\"}}\n" JOB_ROLES,
    "?unknown-secret /prerequisites/0/auth/password 5:90-106", NULL,
    "declare" },
};

TEST(nothing_hides)
{
  test_found_each(all_classes, PAI__LEN(all_classes), NULL);
}

TEST(lines_inside)
{
  test_found_each(inside, PAI__LEN(inside), NULL);
}

#define HEAD_ONLY "protocolVersion: 2\nname: n\n"
#define IMAGE_AUTH "prerequisites:\n- name: i\n  auth: {username: u}\n"

static const struct {
  const char *text;
  uint32_t line, column;
  const char *message, *help, *source;
} unreadable[] = {
  /* what is certain */
  { HEAD_ONLY "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n", 6, 1,
    "this line is indented with a tab", "indent with spaces only",
    "\tcpu: 1" },
  { HEAD_ONLY "taskRoles:\n\ta: 1\n    b:\n\t\tx: 1\n", 4, 1,
    "this line is indented with a tab", "indent with spaces only", "\ta: 1" },
  { HEAD_ONLY "extras:\n  a: |\n    x\n\ty\n  b: 1\n", 6, 1,
    "this line is indented with a tab", "indent with spaces only", "\ty" },
  { HEAD_ONLY "extras:\n  a: >\n  \tx\n", 5, 3,
    "this line is indented with a tab", "indent with spaces only", "  \tx" },
  { HEAD_ONLY "a:\r\n  instances:\xc2\xa0"
              "2\r\n  b: 1\r\n",
    4, 13, "a no-break space (U+00A0)", "replace it with a space", NULL },
  { HEAD_ONLY "extras:\n  a:\xc2\xa0"
              "2\n  b: 1\n",
    4, 5, "a no-break space (U+00A0)", "replace it with a space",
    "  a:\xc2\xa0"
    "2" },
  { "name: \"n\ntype: job\nx: \"y\"\n", 1, 7, "this quote is not closed",
    "close the quote", "name: \"n" },
  { "protocolVersion: 2\nname: \xc3\xa9 'n # c\n---\n", 3, 1,
    "second document", "remove", "---" },
  { HEAD_ONLY "extras:\n  - ['a', \"\xc3\xa9\"]\n  - 'b\n  - 'c'\n", 5, 5,
    "this quote is not closed", "close the quote", "  - 'b" },
  /* what is not */
  { HEAD_ONLY "extras:\n  a: |\n    x\n    \ty\n  b: [\nname: n\n", 9, 1,
    "did not find expected", "closing bracket", NULL },
  { HEAD_ONLY "extras:\n  a: x\xc2\xa0y\n  b: @\n", 5, 6, "cannot start",
    "quotes", "  b: @" },
  { HEAD_ONLY "extras:\n  a: 'x\n    y'\n  b: @\n", 6, 6, "cannot start",
    "quotes", "  b: @" },
  /* what may not be shown, but for what is behind it */
  { "secrets:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "secrets:\n  a: 1\nname: @\n", 3, 7, "cannot start", "quotes", "name: @" },
  { "secretz:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "unknown:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "# a\n- a\n- @\n", 3, 3, "cannot start", "quotes", "- @" },
  { "taskRoles:\n  a: 1\n  Secrets:\n    a: @\n", 4, 8, "cannot start",
    "quotes", NULL },
  { "taskRoles:\n  ? 'a'\n  : @\n", 3, 5, "cannot start", "quotes", "  : @" },
  { "taskRoles:\n  ? 'pasword'\n  : @\n", 3, 5, "cannot start", "quotes",
    NULL },
  { IMAGE_AUTH "  x: @\n", 4, 6, "cannot start", "quotes", NULL },
  { IMAGE_AUTH "extras: {a: @}\n", 4, 13, "cannot start", "quotes",
    "extras: {a: @}" },
  { "extras: {\"s\\u0065crets\": {a: @}}\n", 1, 30, "cannot start", "quotes",
    NULL },
  { "extras: {'x_token': {a: @}}\n", 1, 25, "cannot start", "quotes", NULL },
  { "{\"a\": 1, // c\n\"b\": 2 \"c\"}\n", 2, 8, "after the value", NULL,
    "\"b\": 2 \"c\"}" },
  { "{\"secrets\": {}, // c\n\"b\": 2 \"c\"}\n", 2, 8, "after the value", NULL,
    NULL },
  { "name: \xff\n", 1, 7, "not UTF-8", NULL, NULL },
};

TEST(lines_and_causes)
{
  for (size_t i = 0; i < PAI__LEN(unreadable); i++) {
    pai_report *r =
      test_report(unreadable[i].text, strlen(unreadable[i].text), NULL);
    const pai_diagnostic *d = pai_report_get(r, 0);

    if (d == NULL || strcmp(d->code, "syntax") != 0 ||
        d->line != unreadable[i].line || d->column != unreadable[i].column ||
        strstr(d->message, unreadable[i].message) == NULL ||
        (unreadable[i].help != NULL &&
         (d->help == NULL || strstr(d->help, unreadable[i].help) == NULL)) ||
        (d->source != NULL) != (unreadable[i].source != NULL) ||
        (d->source != NULL && strcmp(d->source, unreadable[i].source) != 0))
      fail_msg("%s\n%u:%u %s\n%s\n%s", unreadable[i].text,
               d != NULL ? d->line : 0, d != NULL ? d->column : 0,
               d != NULL ? d->message : "",
               d != NULL && d->help != NULL ? d->help : "",
               d != NULL && d->source != NULL ? d->source : "(not shown)");
    if (d->source != NULL)
      assert_int_equal(d->source_column, d->column);
    pai_report_free(r);
  }
}

TEST(no_memory_is_survived)
{
  static const size_t which[] = { 0, 2, 6, 8 };

  for (size_t i = 0; i < PAI__LEN(which); i++)
    test_spec_faults(unreadable[which[i]].text, NULL);
}
