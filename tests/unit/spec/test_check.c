/* The language of protocol v2: each rule broken, and where that is found. */
#include "spec/found.h"

#include "base/buf.h"

static const found of_the_root[] = {
  { "", "wrong-type  1:1-1:1", "the file is empty", NULL },
  { "# c\n", "wrong-type  1:1-1:1", "the file is empty", NULL },
  { JOB_WITH("secrets: '******'"), "wrong-type /secrets 6:10-6:18",
    "secrets must be a mapping", "masked copy" },
  { "~", "wrong-type  1:1-1:2", "must be a mapping, not null", NULL },
  { "- 1\n", "wrong-type  1:1-1:4", "must be a mapping, not a list", NULL },
  { "a: [1,\n", "syntax  2:1-2:1", NULL, NULL },
  { JOB_HEAD JOB_IMAGE, "missing-key  1:1-4:54", "lacks the field 'taskRoles'",
    "add taskRoles" },
  { "protocolVersion: 3\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "not-allowed /protocolVersion 1:18-1:19", "protocolVersion cannot be 3",
    "it can be: 2" },
  { "protocolVersion: 2.5\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "wrong-type /protocolVersion 1:18-1:21",
    "must be a text or a whole number, not 2.5", NULL },
  { "protocolVersion: '2'\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES, "", NULL,
    NULL },
  { "protocolVersion: 2.0\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES, "", NULL,
    NULL },
  { "protocolVersion: 2\nname: 12\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "wrong-type /name 2:7-2:9", "name must be a text, not 12", "quotes" },
  { "protocolVersion: 2\nname: a b\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "bad-name /name 2:7-2:10", "name cannot be 'a b'",
    "use letters, digits, _ and -" },
  { "protocolVersion: 2\nname: ''\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "bad-name /name 2:7-2:9", "name cannot be ''", "use letters" },
  { "protocolVersion: 2\nname: \"n\\n\"\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "bad-name /name 2:7-2:12", "cannot be 'n?'", "letters" },
  { "protocolVersion: 2\nname: n\ntype: jobs\n" JOB_IMAGE JOB_ROLES,
    "not-allowed /type 3:7-3:11", "type cannot be 'jobs'",
    "did you mean 'job'?" },
  { "protocolVersion: 2\nname: n\ntype: x\n" JOB_IMAGE JOB_ROLES,
    "not-allowed /type 3:7-3:8", "type cannot be 'x'", "it can be: job" },
  { "protocolVersion: 2\nname: n\ntype: [job]\n" JOB_IMAGE JOB_ROLES,
    "wrong-type /type 3:7-3:12", "type must be a text, not a list", NULL },
  { JOB_WITH("version: null"), "wrong-type /version 6:10-6:14",
    "version must be a text or a number, not null", NULL },
  { JOB_WITH("version: 2020-01-01"), "wrong-type /version 6:10-6:20",
    "not a date", NULL },
  { JOB_WITH("version: 1.5"), "", NULL, NULL },
  { JOB_WITH("contributor: 1"), "wrong-type /contributor 6:14-6:15",
    "contributor must be a text, not 1", "quotes" },
  { JOB_WITH("description: {}"), "wrong-type /description 6:14-6:16",
    "not an empty mapping", NULL },
  { JOB_WITH("parameters: []"), "wrong-type /parameters 6:13-6:15",
    "parameters must be a mapping, not an empty list", NULL },
  { JOB_WITH("secrets: s3cret"), "wrong-type /secrets 6:10-6:16",
    "secrets must be a mapping, not what is there", NULL },
  { JOB_WITH("extras: x"), "wrong-type /extras 6:9-6:10",
    "extras must be a mapping, not 'x'", NULL },
  { JOB_WITH("jobRetryCount: -1"), "too-small /jobRetryCount 6:16-6:18",
    "jobRetryCount cannot be -1", "give 0 or more" },
  { JOB_WITH("jobRetryCount: '1'"), "wrong-type /jobRetryCount 6:16-6:19",
    "must be a whole number, not '1'", "write 1, without quotes" },
  { JOB_WITH("jobRetryCount: 1.5"), "wrong-type /jobRetryCount 6:16-6:19",
    "must be a whole number, not 1.5", "give a whole number, as 2" },
  { JOB_WITH("jobRetryCount: 1e3"), "", NULL, NULL },
  { JOB_WITH("jobRetryCount: .nan"), "wrong-type /jobRetryCount 6:16-6:20",
    "not .nan", NULL },
  { JOB_WITH("nam: x"), "unknown-key /nam 6:1-6:4",
    "a job file has no field 'nam'",
    "what could still be given: version, contributor" },
  { JOB_WITH("jobretrycount: 1"), "unknown-key /jobretrycount 6:1-6:14",
    "no field 'jobretrycount'", "did you mean 'jobRetryCount'?" },
  { JOB_WITH("extrsa: {}"), "unknown-key /extrsa 6:1-6:7", "no field 'extrsa'",
    "did you mean 'extras'?" },
  { JOB_WITH("1: x"), "unknown-key /1 6:1-6:2", "no field '1'", "what could" },
};

static const found of_its_parts[] = {
  { JOB_HEAD JOB_ROLES "prerequisites: {}\n",
    "wrong-type /prerequisites 5:16-5:18",
    "prerequisites must be a list, not an empty mapping", NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles: null\n", "wrong-type /taskRoles 5:12-5:16",
    "taskRoles must be a mapping, not null", NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles: []\n", "wrong-type /taskRoles 5:12-5:14",
    "taskRoles must be a mapping, not an empty list", NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles: [{}, {instances: 2}]\n",
    "wrong-type /taskRoles 5:12-5:32",
    "taskRoles must be a mapping, not a list", NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles: {}\n", "too-few /taskRoles 5:12-5:14",
    "taskRoles is empty", "add an entry" },
  { JOB_HEAD JOB_IMAGE "taskRoles: {a-b: {}}\n",
    "bad-name /taskRoles/a-b 5:13-5:16", "'a-b' cannot be a key of taskRoles",
    "no digit first" },
  { JOB_HEAD JOB_IMAGE "taskRoles: {1a: {}}\n",
    "bad-name /taskRoles/1a 5:13-5:15", "'1a' cannot", "no digit first" },
  { JOB_HEAD JOB_IMAGE "taskRoles: {a: 1}\n",
    "wrong-type /taskRoles/a 5:16-5:17", "a must be a mapping, not 1", NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles: {a: {}}\n",
    "missing-key /taskRoles/a 5:13-5:14\n"
    "missing-key /taskRoles/a 5:13-5:14\n"
    "missing-key /taskRoles/a 5:13-5:14",
    "a task role lacks the field", "add" },
  { JOB_HEAD "prerequisites: []\n",
    "missing-key  1:1-4:18\n"
    "too-few /prerequisites 4:16-4:18",
    "lacks the field 'taskRoles'", "add" },
  { JOB_HEAD "prerequisites: [1]\n" JOB_ROLES,
    "wrong-type /prerequisites/0 4:17-4:18\n"
    "unknown-name /taskRoles/a/dockerImage 5:30-5:31",
    "a prerequisite must be a mapping, not 1", NULL },
  { JOB_HEAD "prerequisites: [{name: x}]\n" JOB_ROLES,
    "missing-key /prerequisites/0 4:17-4:26", "lacks the field 'type'",
    "types are: dockerimage, script, output, data" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerImage}]\n" JOB_ROLES,
    "not-allowed /prerequisites/0 4:17-4:45", "cannot be 'dockerImage'",
    "did you mean 'dockerimage'?" },
  { JOB_HEAD "prerequisites: [{name: x, type: 1}]\n" JOB_ROLES,
    "not-allowed /prerequisites/0 4:17-4:35", "cannot be 1", "types are" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage}]\n" JOB_ROLES,
    "bad-item /prerequisites/0 4:17-4:17\n"
    "missing-key /prerequisites/0 4:17-4:45",
    "this is no valid prerequisite", "as its type dockerimage asks" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: u, uro: "
             "1}]\n" JOB_ROLES,
    "bad-item /prerequisites/0 4:17-4:17\n"
    "unknown-key /prerequisites/0/uro 4:54-4:57",
    "no valid prerequisite", "dockerimage" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x}, {name: x, "
             "type: dockerimage, uri: x}]\n" JOB_ROLES,
    "duplicate-name /prerequisites/1/name 4:62-4:63",
    "there is a dockerimage 'x' already", "a name of its own" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x}, {name: d, "
             "type: data, uri: u}]\n" JOB_ROLES,
    "bad-item /prerequisites/1 4:55-4:55\n"
    "wrong-type /prerequisites/1/uri 4:82-4:83",
    "no valid prerequisite", "type data" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x, auth: "
             "{password: [p]}}]\n" JOB_ROLES,
    "bad-item /prerequisites/0 4:17-4:17\n"
    "?auth-incomplete /prerequisites/0/auth 4:60-4:75\n"
    "?auth-registry /prerequisites/0/auth 4:60-4:75\n"
    "wrong-type /prerequisites/0/auth/password 4:71-4:74",
    "no valid", "dockerimage" },
  { JOB_WITH("deployments: []"), "too-few /deployments 6:14-6:16",
    "deployments is empty", "add an item" },
  { JOB_WITH("deployments: {}"), "wrong-type /deployments 6:14-6:16",
    "deployments must be a list", NULL },
  { JOB_WITH("deployments: [{name: d}]"),
    "missing-key /deployments/0 6:15-6:24",
    "a deployment lacks the field 'taskRoles'", "add taskRoles" },
  { JOB_WITH(
      "deployments: [{name: d, taskRoles: {a: {preCommands: [], x: 1}}}]"),
    "too-few /deployments/0/taskRoles/a/preCommands 6:54-6:56\n"
    "unknown-key /deployments/0/taskRoles/a/x 6:58-6:59",
    "preCommands is empty", "add an item" },
  { JOB_WITH("deployments: [{name: d, taskRoles: {a: {}}}, {name: d, "
             "taskRoles: {a: {}}}]"),
    "duplicate-name /deployments/1/name 6:53-6:54",
    "there is a deployment 'd' already", "own" },
  { JOB_WITH("deployments: [{name: d, more: 1, taskRoles: {a: "
             "{}}}]\ndefaults: {deployment: e}"),
    "unknown-name /defaults/deployment 7:24-7:25",
    "there is no deployment 'e'", "there are: d" },
  { JOB_WITH("deployments: [{name: dee, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: dea}"),
    "unknown-name /defaults/deployment 7:24-7:27",
    "there is no deployment 'dea'", "did you mean 'dee'?" },
  { JOB_WITH("deployments: [{name: abc, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: acb}"),
    "unknown-name /defaults/deployment 7:24-7:27",
    "there is no deployment 'acb'", "did you mean 'abc'?" },
  { JOB_WITH("defaults: {deployment: 1, virtualCluster: [], more: 1}"),
    "wrong-type /defaults/deployment 6:24-6:25",
    "deployment must be a text, not 1", "quotes" },
  { JOB_WITH("defaults: {deployment: d}"),
    "unknown-name /defaults/deployment 6:24-6:25",
    "there is no deployment 'd'", "there are: none" },
};

static const found of_roles[] = {
  { ROLE_WITH("instances: 0"), "too-small /taskRoles/a/instances 10:16-10:17",
    "instances cannot be 0", "give 1 or more" },
  { ROLE_WITH("instances: 1.5"),
    "wrong-type /taskRoles/a/instances 10:16-10:19", "a whole number, not 1.5",
    "give a whole number, as 2" },
  { ROLE_WITH("instances: '2'"),
    "wrong-type /taskRoles/a/instances 10:16-10:19", "a whole number, not '2'",
    "write 2, without quotes" },
  { ROLE_WITH("instances: 2020-01-01"),
    "wrong-type /taskRoles/a/instances 10:16-10:26", "not a date", NULL },
  { ROLE_WITH("instances: null"),
    "wrong-type /taskRoles/a/instances 10:16-10:20", "not null", NULL },
  { ROLE_WITH("instances: .nan"),
    "wrong-type /taskRoles/a/instances 10:16-10:20", "not .nan", NULL },
  { ROLE_WITH("completion: 1"),
    "wrong-type /taskRoles/a/completion 10:17-10:18",
    "completion must be a mapping", NULL },
  { ROLE_WITH("completion: {minFailed: 1}"),
    "unknown-key /taskRoles/a/completion/minFailed 10:18-10:27",
    "completion has no field 'minFailed'", "minFailedInstances" },
  { ROLE_WITH("completion: {minFailedInstances: x}"),
    "wrong-type /taskRoles/a/completion/minFailedInstances 10:38-10:39",
    "must be a whole number or null, not 'x'", NULL },
  { ROLE_WITH(
      "completion: {minFailedInstances: null, minSucceededInstances: -1}"),
    "", NULL, NULL },
  { ROLE_WITH("taskRetryCount: x"),
    "wrong-type /taskRoles/a/taskRetryCount 10:21-10:22",
    "taskRetryCount must be", NULL },
  { ROLE_WITH("prerequisites: x"),
    "wrong-type /taskRoles/a/prerequisites 10:20-10:21",
    "must be a list, not 'x'", "write it as a list: ['x']" },
  { ROLE_WITH("prerequisites: [x, y, 1]"),
    "unknown-name /taskRoles/a/prerequisites/1 10:24-10:25\n"
    "wrong-type /taskRoles/a/prerequisites/2 10:27-10:28",
    "there is no prerequisite 'y'", "there are: x" },
  { ROLE_WITH("data: x"), "unknown-name /taskRoles/a/data 10:11-10:12",
    "there is no data prerequisite 'x'", "there are: none" },
  { ROLE_WITH("output: [x]"), "wrong-type /taskRoles/a/output 10:13-10:16",
    "output must be a text, not a list", NULL },
  { ROLE_WITH("script: \"a\\nb\\0c\""),
    "unknown-name /taskRoles/a/script 10:13-10:22",
    "there is no script prerequisite 'a?b?c'", "none" },
  { ROLE_WITH(
      "extraContainerOptions: {shmMB: x, additionalProperties: 1, more: 1}"),
    "wrong-type /taskRoles/a/extraContainerOptions/shmMB 10:36-10:37\n"
    "unknown-key /taskRoles/a/extraContainerOptions/additionalProperties "
    "10:39-10:59",
    "shmMB must be", NULL },
  { ROLE_WITH("extraContainerOptions: []"),
    "wrong-type /taskRoles/a/extraContainerOptions 10:28-10:30",
    "must be a mapping", NULL },
  { ROLE_WITH("dockerImages: x"),
    "unknown-key /taskRoles/a/dockerImages 10:5-10:17",
    "a task role has no field 'dockerImages'",
    "what could still be given: protocolVersion, instances" },
  { ROLE_WITH("'a/b~c': 1"), "unknown-key /taskRoles/a/a~1b~0c 10:5-10:12",
    "no field 'a/b~c'", "what" },
  { ROLE_WITH("protocolVersion: 1"),
    "not-allowed /taskRoles/a/protocolVersion 10:22-10:23",
    "protocolVersion cannot be 1", "it can be: 2" },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: 1\n    resourcePerInstance: {cpu: x, "
    "memoryMB: 1.5, ports: {}, disk: 1}\n    commands: [1, true, [x], {}, "
    "null, 2020-01-01, '']\n",
    "wrong-type /taskRoles/a/dockerImage 7:18-7:19\n"
    "missing-key /taskRoles/a/resourcePerInstance 8:5-8:24\n"
    "wrong-type /taskRoles/a/resourcePerInstance/cpu 8:32-8:33\n"
    "wrong-type /taskRoles/a/resourcePerInstance/memoryMB 8:45-8:48\n"
    "too-few /taskRoles/a/resourcePerInstance/ports 8:57-8:59\n"
    "unknown-key /taskRoles/a/resourcePerInstance/disk 8:61-8:65\n"
    "wrong-type /taskRoles/a/commands/0 9:16-9:17\n"
    "wrong-type /taskRoles/a/commands/1 9:19-9:23\n"
    "wrong-type /taskRoles/a/commands/2 9:25-9:28\n"
    "wrong-type /taskRoles/a/commands/3 9:30-9:32\n"
    "wrong-type /taskRoles/a/commands/4 9:34-9:38\n"
    "wrong-type /taskRoles/a/commands/5 9:40-9:50",
    "dockerImage must be a text, not 1", "quotes" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    "
                       "resourcePerInstance: [1]\n    commands: []\n",
    "wrong-type /taskRoles/a/resourcePerInstance 8:26-8:29\n"
    "too-few /taskRoles/a/commands 9:15-9:17",
    "resourcePerInstance must be a mapping, not a list", NULL },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    resourcePerInstance: {cpu: 1, "
    "memoryMB: 1, gpu: 0, ports: {1a: 1, b: x, c: 1}}\n    commands: c\n",
    "bad-name /taskRoles/a/resourcePerInstance/ports/1a 8:64-8:66\n"
    "wrong-type /taskRoles/a/resourcePerInstance/ports/b 8:74-8:75\n"
    "wrong-type /taskRoles/a/commands 9:15-9:16",
    "'1a' cannot be a key of ports", "digit first" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - fine\n    - 'a <% $p'\n",
    "bad-template /taskRoles/a/commands/1 11:10-11:15",
    "this is no template: the tag is never closed", "end each <% with %>" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: ['<%#s%>', '<%/t%>']\n",
    "bad-template /taskRoles/a/commands/1 9:27-9:33",
    "another section is open here", "end" },
  { JOB_HEAD "prerequisites:\n- {name: x, type: dockerimage, uri: x, auth: "
             "{password: '<% p'}}\n" JOB_ROLES,
    "?auth-incomplete /prerequisites/0/auth 5:46-5:64\n"
    "?auth-registry /prerequisites/0/auth 5:46-5:64\n"
    "bad-template /prerequisites/0/auth/password 5:58-5:62",
    "no username", NULL },
};

#define ROLE_OF(sizes, commands)                                        \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " sizes \
                     "\n    commands:\n" commands "\n"

/* Mistakes that many make, and what they are told. */
static const found classic[] = {
  { ROLE_OF(ROLE_SIZES, "    - echo foo: bar"),
    "wrong-type /taskRoles/a/commands/0 10:7-10:20",
    "must be a text, not a mapping", "in quotes: a colon with a space" },
  { ROLE_OF(ROLE_SIZES, "    - {echo foo: bar}"),
    "wrong-type /taskRoles/a/commands/0 10:7-10:22", "not a mapping", NULL },
  { ROLE_OF("resourcePerInstance: {cpu: 0.5, memoryMB: 1, gpu: 0}", "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance/cpu 8:32-8:35", "not 0.5",
    "give a whole number, as 1" },
  { ROLE_OF("resourcePerInstance: {cpu: 1, memoryMB: 2Gi, gpu: 0}", "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance/memoryMB 8:45-8:48",
    "not '2Gi'", "a number of MiB: write 2048" },
  { ROLE_OF("resourcePerInstance: {cpu: 1, memoryMB: 512 MB, gpu: 0}",
            "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance/memoryMB 8:45-8:51",
    "not '512 MB'", "write 512" },
  { ROLE_OF("resourcePerInstance: {cpu: 1, memoryMB: 2Gis, gpu: 0}",
            "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance/memoryMB 8:45-8:49",
    "not '2Gis'", NULL },
  { ROLE_OF("resourcePerInstance: {cpu: 2Gi, memoryMB: 1, gpu: 0}", "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance/cpu 8:32-8:35", "not '2Gi'",
    NULL },
  { ROLE_OF("resourcePerInstance:\n    cpu: 1\n    memoryMB: 1\n    gpu: 0",
            "    - c"),
    "wrong-type /taskRoles/a/resourcePerInstance 8:25-8:25\n"
    "unknown-key /taskRoles/a/cpu 9:5-9:8\n"
    "unknown-key /taskRoles/a/memoryMB 10:5-10:13\n"
    "unknown-key /taskRoles/a/gpu 11:5-11:8",
    "must be a mapping, not null", "indent what belongs to it" },
  { ROLE_WITH("instances: 1e6"), "limit /taskRoles/a/instances 10:16-10:19",
    "the job has 1000000 tasks, 100000 are allowed", NULL },
  { ROLE_WITH("gpu: 1"), "unknown-key /taskRoles/a/gpu 10:5-10:8",
    "no field 'gpu'", "it belongs into resourcePerInstance" },
  { JOB_HEAD "prerequisites:\n  name: x\n  type: dockerimage\n  uri: "
             "x\n" JOB_ROLES,
    "wrong-type /prerequisites 5:3-7:9", "a list, not a mapping",
    "begin each item with a dash" },
  { JOB_HEAD "prerequisites:\n- {name: x, type: docker, uri: x}\n" JOB_ROLES,
    "not-allowed /prerequisites/0 5:3-5:34", "cannot be 'docker'",
    "types are: dockerimage" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n- a: 1\n", "wrong-type /taskRoles 6:1-6:7",
    "a mapping, not a list", "without a dash" },
};

static void each_rule(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(of_the_root); i++)
    test_found(&of_the_root[i], NULL);
  for (size_t i = 0; i < PAI__LEN(of_its_parts); i++)
    test_found(&of_its_parts[i], NULL);
  for (size_t i = 0; i < PAI__LEN(of_roles); i++)
    test_found(&of_roles[i], NULL);
  for (size_t i = 0; i < PAI__LEN(classic); i++)
    test_found(&classic[i], NULL);
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

static void names_have_255_characters(void **state)
{
  (void)state;
  check_name(255, "n", "");
  check_name(256, "n", "too-long /name 1:7-1:263");
  check_name(255, "\xc3\xa9", "bad-name /name 1:7-1:262");
  check_name(256, "\xc3\xa9",
             "bad-name /name 1:7-1:263\ntoo-long /name 1:7-1:263");
}

/* All that is wrong is told at once, in the order of the file, however the
 * checker came to it. */
static void all_of_it_in_the_order_of_the_file(void **state)
{
  static const found want = {
    "taskRoles: {a: {dockerImage: y, script: z, commands: [c], "
    "resourcePerInstance: {cpu: c, memoryMB: 1, gpu: 0}}}\n"
    "defaults: {deployment: d}\n"
    "prerequisites: [{type: data, name: x}, {type: data, name: x}]\n"
    "protocolVersion: 2\nname: n m\nextra: {}\n",
    "missing-key  1:1-6:10\n"
    "unknown-name /taskRoles/a/dockerImage 1:30-1:31\n"
    "unknown-name /taskRoles/a/script 1:41-1:42\n"
    "wrong-type /taskRoles/a/resourcePerInstance/cpu 1:86-1:87\n"
    "unknown-name /defaults/deployment 2:24-2:25\n"
    "duplicate-name /prerequisites/1/name 3:59-3:60\n"
    "bad-name /name 5:7-5:10\n"
    "unknown-key /extra 6:1-6:6",
    "a job file lacks the field 'type'", "add type: job"
  };

  (void)state;
  test_found(&want, NULL);
}

/* So many commands that are no texts, in a role of such a name. */
static pai_report *report_of(size_t commands, size_t name)
{
  pai_report *report;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, JOB_HEAD JOB_IMAGE "taskRoles: {? ");
  for (size_t i = 0; i < name; i++)
    pai__buf_char(&b, 'n');
  pai__buf_str(&b, " : {dockerImage: x, " ROLE_SIZES ", commands: [1");
  for (size_t i = 1; i < commands; i++)
    pai__buf_str(&b, ",1");
  pai__buf_str(&b, "]}}");
  assert_int_equal(
    pai_spec_check(&report, NULL, pai__buf_text(&b), b.len, NULL, NULL),
    PAI_OK);
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

static void there_is_an_end_to_it(void **state)
{
  (void)state;
  check_more(1000, 1, 1000, NULL);
  check_more(1001, 1, 1001, "and 1 more");
  check_more(200000, 1, 1001, "and 199000 more");
  check_more(200000, 600000, 3, "and 199999 more"); /* its name is bad, too */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_rule),
    cmocka_unit_test(names_have_255_characters),
    cmocka_unit_test(all_of_it_in_the_order_of_the_file),
    cmocka_unit_test(there_is_an_end_to_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
