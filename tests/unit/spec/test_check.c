/* The language of protocol v2: each rule broken, and where that is found. */
#include "cases.h"
#include "spec/found.h"

#include "base/buf.h"

static const found of_the_root[] = {
  { "", "wrong-type  1:1-1", "the file is empty", NULL },
  { "# c\n", "wrong-type  1:1-1", "the file is empty", NULL },
  { JOB_WITH("secrets: '******'"), "wrong-type /secrets 6:10-18",
    "secrets must be a mapping", "masked copy" },
  { "~", "wrong-type  1:1-2", "must be a mapping, not null", NULL },
  { "- 1\n", "wrong-type  1:1-4", "must be a mapping, not a list", NULL },
  { "a: [1,\n", "syntax  2:1-1", NULL, NULL },
  { JOB_HEAD JOB_IMAGE, "missing-key  1:1-4:54", "lacks the field 'taskRoles'",
    "add taskRoles" },
  { JOB_HEADED("3", "n", "job"), "not-allowed /protocolVersion 1:18-19",
    "protocolVersion cannot be 3", "it can be: 2" },
  { JOB_HEADED("2.5", "n", "job"), "wrong-type /protocolVersion 1:18-21",
    "must be a text or a whole number, not 2.5", NULL },

  { JOB_HEADED("2", "12", "job"), "wrong-type /name 2:7-9",
    "name must be a text, not 12", "quotes" },
  { JOB_HEADED("2", "a b", "job"), "bad-name /name 2:7-10",
    "name cannot be 'a b'", "use letters, digits, _ and -" },
  { JOB_HEADED("2", "''", "job"), "bad-name /name 2:7-9", "name cannot be ''",
    "use letters" },
  { JOB_HEADED("2", "\"n\\n\"", "job"), "bad-name /name 2:7-12",
    "cannot be 'n?'", "letters" },
  { JOB_HEADED("2", "n", "jobs"), "not-allowed /type 3:7-11",
    "type cannot be 'jobs'", "did you mean 'job'?" },
  { JOB_HEADED("2", "n", "x"), "not-allowed /type 3:7-8", "type cannot be 'x'",
    "it can be: job" },
  { JOB_HEADED("2", "n", "[job]"), "wrong-type /type 3:7-12",
    "type must be a text, not a list", NULL },
  { JOB_WITH("version: null"), "wrong-type /version 6:10-14",
    "version must be a text or a number, not null", NULL },
  { JOB_WITH("version: 2020-01-01"), "wrong-type /version 6:10-20",
    "not a date", NULL },

  { JOB_WITH("contributor: 1"), "wrong-type /contributor 6:14-15",
    "contributor must be a text, not 1", "quotes" },
  { JOB_WITH("description: {}"), "wrong-type /description 6:14-16",
    "not an empty mapping", NULL },
  { JOB_WITH("parameters: []"), "wrong-type /parameters 6:13-15",
    "parameters must be a mapping, not an empty list", NULL },
  { JOB_WITH("secrets: s3cret"), "wrong-type /secrets 6:10-16",
    "secrets must be a mapping, not what is there", NULL },
  { JOB_WITH("extras: x"), "wrong-type /extras 6:9-10",
    "extras must be a mapping, not 'x'", NULL },
  { JOB_WITH("jobRetryCount: -1"), "too-small /jobRetryCount 6:16-18",
    "jobRetryCount cannot be -1", "use 0 or more" },
  { JOB_WITH("jobRetryCount: '1'"), "wrong-type /jobRetryCount 6:16-19",
    "must be a whole number, not '1'", "write 1, without quotes" },
  { JOB_WITH("jobRetryCount: 1.5"), "wrong-type /jobRetryCount 6:16-19",
    "must be a whole number, not 1.5", "write a whole number such as 2" },

  { JOB_WITH("jobRetryCount: .nan"), "wrong-type /jobRetryCount 6:16-20",
    "not .nan", NULL },
  { JOB_WITH("nam: x"), "unknown-key /nam 6:1-4",
    "a job file has no field 'nam'",
    "unused fields are: version, contributor" },
  { JOB_WITH("jobretrycount: 1"), "unknown-key /jobretrycount 6:1-14",
    "no field 'jobretrycount'", "did you mean 'jobRetryCount'?" },
  { JOB_WITH("extrsa: {}"), "unknown-key /extrsa 6:1-7", "no field 'extrsa'",
    "did you mean 'extras'?" },
  { JOB_WITH("1: x"), "unknown-key /1 6:1-2", "no field '1'",
    "unused fields" },
};

static const found of_its_parts[] = {
  { JOB_HEAD JOB_ROLES "prerequisites: {}\n",
    "wrong-type /prerequisites 5:16-18",
    "prerequisites must be a list, not an empty mapping", NULL },
  { JOB_TASK_ROLES("null"), "wrong-type /taskRoles 5:12-16",
    "taskRoles must be a mapping, not null", NULL },
  { JOB_TASK_ROLES("[]"), "wrong-type /taskRoles 5:12-14",
    "taskRoles must be a mapping, not an empty list", NULL },
  { JOB_TASK_ROLES("[{}, {instances: 2}]"), "wrong-type /taskRoles 5:12-32",
    "taskRoles must be a mapping, not a list", NULL },
  { JOB_TASK_ROLES("{}"), "too-few /taskRoles 5:12-14", "taskRoles is empty",
    "add an entry" },
  { JOB_TASK_ROLES("{a-b: {}}"), "bad-name /taskRoles/a-b 5:13-16",
    "'a-b' cannot be a key of taskRoles", "not beginning with a digit" },
  { JOB_TASK_ROLES("{1a: {}}"), "bad-name /taskRoles/1a 5:13-15",
    "'1a' cannot", "not beginning with a digit" },
  { JOB_TASK_ROLES("{a: 1}"), "wrong-type role 5:16-17",
    "a must be a mapping, not 1", NULL },
  { JOB_TASK_ROLES("{a: {}}"),
    "missing-key role 5:13-14\nmissing-key role 5:13-14\nmissing-key role "
    "5:13-14",
    "a task role lacks the field", "add" },
  { JOB_HEAD "prerequisites: []\n",
    "missing-key  1:1-4:18\ntoo-few /prerequisites 4:16-18",
    "lacks the field 'taskRoles'", "add" },
  { JOB_PREREQUISITES("1"),
    "wrong-type /prerequisites/0 4:17-18\nunknown-name role/dockerImage "
    "5:30-31",
    "a prerequisite must be a mapping, not 1", NULL },
  { JOB_PREREQUISITES("{name: x}"), "missing-key /prerequisites/0 4:17-26",
    "lacks the field 'type'", "types are: dockerimage, script, output, data" },
  { JOB_PREREQUISITES("{name: x, type: dockerImage}"),
    "not-allowed /prerequisites/0 4:17-45", "cannot be 'dockerImage'",
    "did you mean 'dockerimage'?" },
  { JOB_PREREQUISITES("{name: x, type: 1}"),
    "not-allowed /prerequisites/0 4:17-35", "cannot be 1", "types are" },
  { JOB_PREREQUISITES("{name: x, type: dockerimage}"),
    "bad-item /prerequisites/0 4:17-17\nmissing-key /prerequisites/0 4:17-45",
    "this is not a valid prerequisite", "the fields of its type dockerimage" },
  { JOB_PREREQUISITES("{name: x, type: dockerimage, uri: u, uro: 1}"),
    "bad-item /prerequisites/0 4:17-17\nunknown-key /prerequisites/0/uro "
    "4:54-57",
    "not a valid prerequisite", "dockerimage" },
  { JOB_PREREQUISITES("{name: x, type: dockerimage, uri: x}, {name: x, type: "
                      "dockerimage, uri: x}"),
    "duplicate-name /prerequisites/1/name 4:62-63",
    "the dockerimage 'x' already exists", "use a different name for each" },
  { JOB_PREREQUISITES(
      "{name: x, type: dockerimage, uri: x}, {name: d, type: data, uri: u}"),
    "bad-item /prerequisites/1 4:55-55\nwrong-type /prerequisites/1/uri "
    "4:82-83",
    "not a valid prerequisite", "type data" },
  { JOB_AUTH("password: [p]"),
    "bad-item /prerequisites/0 4:17-17\n?auth-registry "
    "/prerequisites/0/auth 4:60-75\n?auth-incomplete /prerequisites/0/auth "
    "4:60-75\nwrong-type /prerequisites/0/auth/password 4:71-74",
    "not a valid", "dockerimage" },
  { JOB_WITH("deployments: []"), "too-few /deployments 6:14-16",
    "deployments is empty", "add an item" },
  { JOB_WITH("deployments: {}"), "wrong-type /deployments 6:14-16",
    "deployments must be a list", NULL },
  { JOB_WITH("deployments: [{name: d}]"), "missing-key /deployments/0 6:15-24",
    "a deployment lacks the field 'taskRoles'", "add taskRoles" },
  { JOB_WITH(
      "deployments: [{name: d, taskRoles: {a: {preCommands: [], x: 1}}}]"),
    "too-few /deployments/0/taskRoles/a/preCommands 6:54-56\nunknown-key "
    "/deployments/0/taskRoles/a/x 6:58-59",
    "preCommands is empty", "add an item" },
  { JOB_WITH("deployments: [{name: d, taskRoles: {a: {}}}, {name: d, "
             "taskRoles: {a: {}}}]"),
    "duplicate-name /deployments/1/name 6:53-54",
    "the deployment 'd' already exists", "different name" },
  { JOB_WITH("deployments: [{name: d, more: 1, taskRoles: {a: "
             "{}}}]\ndefaults: {deployment: e}"),
    "unknown-name /defaults/deployment 7:24-25", "there is no deployment 'e'",
    "there are: d" },
  { JOB_WITH("deployments: [{name: dee, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: dea}"),
    "unknown-name /defaults/deployment 7:24-27",
    "there is no deployment 'dea'", "did you mean 'dee'?" },
  { JOB_WITH("deployments: [{name: abc, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: acb}"),
    "unknown-name /defaults/deployment 7:24-27",
    "there is no deployment 'acb'", "did you mean 'abc'?" },
  { JOB_WITH("defaults: {deployment: 1, virtualCluster: [], more: 1}"),
    "wrong-type /defaults/deployment 6:24-25",
    "deployment must be a text, not 1", "quotes" },
  { JOB_WITH("defaults: {deployment: d}"),
    "unknown-name /defaults/deployment 6:24-25", "there is no deployment 'd'",
    "there are: none" },
};

static const found of_roles[] = {
  { ROLE_WITH("instances: 0"), "too-small role/instances 10:16-17",
    "instances cannot be 0", "use 1 or more" },
  { ROLE_WITH("instances: 1.5"), "wrong-type role/instances 10:16-19",
    "a whole number, not 1.5", "write a whole number such as 2" },
  { ROLE_WITH("instances: '2'"), "wrong-type role/instances 10:16-19",
    "a whole number, not '2'", "write 2, without quotes" },
  { ROLE_WITH("instances: 2020-01-01"), "wrong-type role/instances 10:16-26",
    "not a date", NULL },
  { ROLE_WITH("instances: null"), "wrong-type role/instances 10:16-20",
    "not null", NULL },
  { ROLE_WITH("instances: .nan"), "wrong-type role/instances 10:16-20",
    "not .nan", NULL },
  { ROLE_WITH("completion: 1"), "wrong-type role/completion 10:17-18",
    "completion must be a mapping", NULL },
  { ROLE_WITH("completion: {minFailed: 1}"),
    "unknown-key role/completion/minFailed 10:18-27",
    "completion has no field 'minFailed'", "minFailedInstances" },
  { ROLE_WITH("completion: {minFailedInstances: x}"),
    "wrong-type role/completion/minFailedInstances 10:38-39",
    "must be a whole number or null, not 'x'", NULL },

  { ROLE_WITH("taskRetryCount: x"), "wrong-type role/taskRetryCount 10:21-22",
    "taskRetryCount must be", NULL },
  { ROLE_WITH("prerequisites: x"), "wrong-type role/prerequisites 10:20-21",
    "must be a list, not 'x'", "write it as a list: ['x']" },
  { ROLE_WITH("prerequisites: [x, y, 1]"),
    "unknown-name role/prerequisites/1 10:24-25\nwrong-type "
    "role/prerequisites/2 10:27-28",
    "there is no prerequisite 'y'", "there are: x" },
  { ROLE_WITH("data: x"), "unknown-name role/data 10:11-12",
    "there is no data prerequisite 'x'", "there are: none" },
  { ROLE_WITH("output: [x]"), "wrong-type role/output 10:13-16",
    "output must be a text, not a list", NULL },
  { ROLE_WITH("script: \"a\\nb\\0c\""), "unknown-name role/script 10:13-22",
    "there is no script prerequisite 'a?b?c'", "none" },
  { ROLE_WITH(
      "extraContainerOptions: {shmMB: x, additionalProperties: 1, more: 1}"),
    "wrong-type role/extraContainerOptions/shmMB 10:36-37\nunknown-key "
    "role/extraContainerOptions/additionalProperties 10:39-59",
    "shmMB must be", NULL },
  { ROLE_WITH("extraContainerOptions: []"),
    "wrong-type role/extraContainerOptions 10:28-30", "must be a mapping",
    NULL },
  { ROLE_WITH("dockerImages: x"), "unknown-key role/dockerImages 10:5-17",
    "a task role has no field 'dockerImages'",
    "unused fields are: protocolVersion, instances" },
  { ROLE_WITH("'a/b~c': 1"), "unknown-key role/a~1b~0c 10:5-12",
    "no field 'a/b~c'", "unused fields" },
  { ROLE_WITH("protocolVersion: 1"),
    "not-allowed role/protocolVersion 10:22-23", "protocolVersion cannot be 1",
    "it can be: 2" },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: 1\n    resourcePerInstance: {cpu: x, "
    "memoryMB: 1.5, ports: {}, disk: 1}\n    commands: [1, true, [x], {}, "
    "null, 2020-01-01, '']\n",
    "wrong-type role/dockerImage 7:18-19\nmissing-key sizes "
    "8:5-24\nwrong-type sizes/cpu 8:32-33\nwrong-type sizes/memoryMB "
    "8:45-48\ntoo-few sizes/ports 8:57-59\nunknown-key sizes/disk "
    "8:61-65\nwrong-type role/commands/0 9:16-17\nwrong-type role/commands/1 "
    "9:19-23\nwrong-type role/commands/2 9:25-28\nwrong-type role/commands/3 "
    "9:30-32\nwrong-type role/commands/4 9:34-38\nwrong-type role/commands/5 "
    "9:40-50",
    "dockerImage must be a text, not 1", "quotes" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    "
                       "resourcePerInstance: [1]\n    commands: []\n",
    "wrong-type sizes 8:26-29\ntoo-few role/commands 9:15-17",
    "resourcePerInstance must be a mapping, not a list", NULL },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    resourcePerInstance: {cpu: 1, "
    "memoryMB: 1, gpu: 0, ports: {1a: 1, b: x, c: 1}}\n    commands: c\n",
    "bad-name sizes/ports/1a 8:64-66\nwrong-type sizes/ports/b "
    "8:74-75\nwrong-type role/commands 9:15-16",
    "'1a' cannot be a key of ports", "beginning with a digit" },
  { JOB_COMMANDS("    - fine\n    - 'a <% $p'\n"),
    "bad-template role/commands/1 11:10-15",
    "this is not a template: the tag is never closed",
    "close each <% with %>" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: ['<%#s%>', '<%/t%>']\n",
    "bad-template role/commands/1 9:27-33", "another section is open here",
    "end" },
  { JOB_HEAD "prerequisites:\n- {name: x, type: dockerimage, uri: x, auth: "
             "{password: '<% p'}}\n" JOB_ROLES,
    "?auth-registry /prerequisites/0/auth 5:46-64\n?auth-incomplete "
    "/prerequisites/0/auth 5:46-64\nbad-template "
    "/prerequisites/0/auth/password 5:58-62",
    "registryuri is missing", "registry of the account" },
};

#define ROLE_OF(sizes, commands)                                        \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " sizes \
                     "\n    commands:\n" commands "\n"

#define SIZED(sizes) ROLE_OF("resourcePerInstance: {" sizes "}", "    - c")

/* Mistakes that many make, and what they are told. */
static const found classic[] = {
  { JOB_COMMANDS("    - echo foo: bar\n"),
    "wrong-type role/commands/0 10:7-20", "must be a text, not a mapping",
    "a colon followed by a space" },
  { JOB_COMMANDS("    - {echo foo: bar}\n"),
    "wrong-type role/commands/0 10:7-22", "not a mapping", NULL },
  { SIZED("cpu: 1, memoryMB: 0.5, gpu: 0"),
    "wrong-type sizes/memoryMB 8:45-48", "not 0.5",
    "write a whole number such as 1" },
  { SIZED("cpu: 0.0005, memoryMB: 1, gpu: 0"), "too-fine sizes/cpu 8:32-38",
    "cpu cannot be 0.0005", "use at most three decimals: 1.234" },
  { SIZED("cpu: 1.2345, memoryMB: 1, gpu: 0"), "too-fine sizes/cpu 8:32-38",
    "cpu cannot be 1.2345", "use at most three decimals: 1.234" },
  { SIZED("cpu: 5e-4, memoryMB: 1, gpu: 0"), "too-fine sizes/cpu 8:32-36",
    "cpu cannot be", "use at most three decimals" },
  { SIZED("cpu: .nan, memoryMB: 1, gpu: 0"), "too-fine sizes/cpu 8:32-36",
    "cpu cannot be", "a decimal number" },
  { SIZED("cpu: '0.5', memoryMB: 1, gpu: 0"), "wrong-type sizes/cpu 8:32-37",
    "cpu must be a number, not '0.5'", "write 0.5, without quotes" },
  { SIZED("cpu: '2', memoryMB: 1, gpu: 0"), "wrong-type sizes/cpu 8:32-35",
    "not '2'", "write 2, without quotes" },
  { SIZED("cpu: 1, memoryMB: 2Gi, gpu: 0"),
    "wrong-type sizes/memoryMB 8:45-48", "not '2Gi'",
    "the unit is MiB: write 2048" },
  { SIZED("cpu: 1, memoryMB: 512 MB, gpu: 0"),
    "wrong-type sizes/memoryMB 8:45-51", "not '512 MB'", "write 512" },
  { SIZED("cpu: 1, memoryMB: 2Gis, gpu: 0"),
    "wrong-type sizes/memoryMB 8:45-49", "not '2Gis'", NULL },
  { SIZED("cpu: 2Gi, memoryMB: 1, gpu: 0"), "wrong-type sizes/cpu 8:32-35",
    "not '2Gi'", NULL },
  { ROLE_OF("resourcePerInstance:\n    cpu: 1\n    memoryMB: 1\n    gpu: 0",
            "    - c"),
    "wrong-type sizes 8:25-25\nunknown-key role/cpu 9:5-8\nunknown-key "
    "role/memoryMB 10:5-13\nunknown-key role/gpu 11:5-8",
    "must be a mapping, not null", "indent its fields" },
  { ROLE_WITH("instances: 1e6"), "limit role/instances 10:16-19",
    "the job has 1000000 tasks; the limit is 100000", NULL },
  { ROLE_WITH("gpu: 1"), "unknown-key role/gpu 10:5-8", "no field 'gpu'",
    "move it to resourcePerInstance" },
  { JOB_HEAD
    "prerequisites:\n  name: x\n  type: dockerimage\n  uri: x\n" JOB_ROLES,
    "wrong-type /prerequisites 5:3-7:9", "a list, not a mapping",
    "begin each item with a dash" },
  { JOB_HEAD "prerequisites:\n- {name: x, type: docker, uri: x}\n" JOB_ROLES,
    "not-allowed /prerequisites/0 5:3-34", "cannot be 'docker'",
    "types are: dockerimage" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n- a: 1\n", "wrong-type /taskRoles 6:1-7",
    "a mapping, not a list", "without a dash" },
};

/* Files of which there is nothing to tell. */
static const char *const fine[] = {
  JOB_HEADED("'2'", "n", "job"),
  JOB_HEADED("2.0", "n", "job"),
  JOB_WITH("version: 1.5"),
  JOB_WITH("jobRetryCount: 1e3"),
  ROLE_WITH(
    "completion: {minFailedInstances: null, minSucceededInstances: -1}"),
};

TEST(each_rule)
{
  test_found_none(fine, PAI__LEN(fine));
  test_found_each(of_the_root, PAI__LEN(of_the_root), NULL);
  test_found_each(of_its_parts, PAI__LEN(of_its_parts), NULL);
  test_found_each(of_roles, PAI__LEN(of_roles), NULL);
  test_found_each(classic, PAI__LEN(classic), NULL);
}

/* A name of so many characters, each of two bytes in the second. */
static void check_name(int characters, const char *one, const char *list)
{
  char text[2048] = "name: ";
  found want = { text, list, NULL, NULL };

  for (int i = 0; i < characters; i++)
    strcat(text, one);
  strcat(text, "\nprotocolVersion: 2\ntype: job\n" JOB_IMAGE JOB_ROLES);
  if (*list != '\0')
    want.help = strstr(list, "bad-name") == list ? "letters" : "shorten it";
  test_found(&want, NULL);
}

TEST(names_have_255_characters)
{
  check_name(255, "n", "");
  check_name(256, "n", "too-long /name 1:7-263");
  check_name(255, "\xc3\xa9", "bad-name /name 1:7-262");
  check_name(256, "\xc3\xa9",
             "bad-name /name 1:7-263\ntoo-long /name 1:7-263");
}

/* All that is wrong is told at once, in the order of the file, however the
 * checker came to it. */
TEST(all_of_it_in_the_order_of_the_file)
{
  static const found want = {
    "taskRoles: {a: {dockerImage: y, script: z, commands: [c], "
    "resourcePerInstance: {cpu: c, memoryMB: 1, gpu: 0}}}\ndefaults: "
    "{deployment: d}\nprerequisites: [{type: data, name: x}, {type: data, "
    "name: x}]\nprotocolVersion: 2\nname: n m\nextra: {}\n",
    "missing-key  1:1-6:10\nunknown-name role/dockerImage "
    "1:30-31\nunknown-name role/script 1:41-42\nwrong-type sizes/cpu "
    "1:86-87\nunknown-name /defaults/deployment 2:24-25\nduplicate-name "
    "/prerequisites/1/name 3:59-60\nbad-name /name 5:7-10\nunknown-key /extra "
    "6:1-6",
    "a job file lacks the field 'type'", "add type: job"
  };

  test_found(&want, NULL);
}

/* So many commands that are no texts, in a role of such a name. */
static pai_report *report_of(size_t commands, size_t name)
{
  pai_report *report;
  pai__buf b = test_buf();

  pai__buf_str(&b, JOB_HEAD JOB_IMAGE "taskRoles: {? ");
  for (size_t i = 0; i < name; i++)
    pai__buf_char(&b, 'n');
  pai__buf_str(&b, " : {dockerImage: x, " ROLE_SIZES ", commands: [1");
  for (size_t i = 1; i < commands; i++)
    pai__buf_str(&b, ",1");
  pai__buf_str(&b, "]}}");
  assert_ok(
    pai_spec_check(&report, NULL, pai__buf_text(&b), b.len, NULL, NULL));
  pai__buf_dispose(&b);
  return report;
}

static void check_more(size_t commands, size_t name, size_t most,
                       const char *more)
{
  pai_report *report = report_of(commands, name);
  size_t count = pai_report_count(report);
  const pai_diagnostic *last = pai_report_get(report, count - 1);

  assert_false(pai_report_valid(report));
  assert_true(count <= most);
  if (more != NULL) {
    assert_string_equal(last->code, "more");
    assert_int_equal(last->severity, PAI_SEVERITY_ERROR);
    assert_string_equal(last->pointer, "");
    assert_string_equal(last->message, more);
  } else {
    assert_int_equal(count, most);
    assert_string_equal(last->code, "wrong-type");
  }
  assert_string_equal(pai_report_get(report, 0)->code, "wrong-type");
  pai_report_free(report);
}

TEST(there_is_an_end_to_it)
{
  check_more(1000, 1, 1000, NULL);
  check_more(1001, 1, 1001, "and 1 more");
  check_more(200000, 1, 1001, "and 199000 more");
  check_more(200000, 600000, 3, "and 199999 more"); /* its name is bad, too */
}
