/* What is legal and surely not meant: every warning, and none where all is
 * well. */
#include "rows.h"
#include "spec/found.h"

#include "base/posix_fs.h"

#include <stdio.h>

#define ROLE_OF(name, command)                                \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  " name                    \
                     ":\n    dockerImage: x\n    " ROLE_SIZES \
                     "\n    commands:\n    - " command "\n"
#define DEPLOYED(hooks)                                 \
  JOB_WITH("deployments: [{name: d, taskRoles: {" hooks \
           "}}]\ndefaults: {deployment: d}")

static const found of_roles[] = {
  { ROLE_OF("worker_1", "c"), "?role-name /taskRoles/worker_1 6:3-6:11",
    "cannot start a task role 'worker_1'", "call it 'worker1'" },
  { ROLE_OF("Worker", "c"), "?role-name /taskRoles/Worker 6:3-6:9",
    "cannot start a task role 'Worker'", "call it 'worker'" },
  { ROLE_OF("_", "c"), "?role-name /taskRoles/_ 6:3-6:4",
    "cannot start a task role '_'", NULL },
  { ROLE_OF("a23456789012345678901234567890123456789012345678901234567890123",
            "c"),
    "", NULL, NULL },
  { ROLE_OF("a234567890123456789012345678901234567890123456789012345678901234",
            "c"),
    "?role-name "
    "/taskRoles/"
    "a234567890123456789012345678901234567890123456789012345678901234 "
    "6:3-6:67",
    "cannot start", "call it" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  ab: {" ROLE_FIELDS
                       "}\n  a_b: {" ROLE_FIELDS "}\n  Ab: {" ROLE_FIELDS
                       "}\n",
    "?role-name /taskRoles/a_b 7:3-7:6\n"
    "?role-collision /taskRoles/a_b 7:3-7:6\n"
    "?role-name /taskRoles/Ab 8:3-8:5\n"
    "?role-collision /taskRoles/Ab 8:3-8:5",
    "cannot start a task role 'a_b'", "call it 'ab'" },
  { ROLE_WITH("completion: {minFailedInstances: 2}"),
    "?out-of-reach /taskRoles/a/completion/minFailedInstances 10:38-10:39",
    "minFailedInstances is 2, and the role has 1 instances", "-1 says never" },
  { ROLE_WITH("completion: {minFailedInstances: 1, minSucceededInstances: 1}"),
    "", NULL, NULL },
  { ROLE_WITH("completion: {minSucceededInstances: -2}"),
    "?out-of-range /taskRoles/a/completion/minSucceededInstances 10:41-10:43",
    "-2, with which no task starts", "-1 says never" },
  { ROLE_WITH("completion: {minSucceededInstances: 1e30}"), "", NULL, NULL },
  { ROLE_WITH("taskRetryCount: 1"),
    "?no-effect /taskRoles/a/taskRetryCount 10:21-10:22",
    "only without gang allocation", "gangAllocation to false" },
  { ROLE_WITH("taskRetryCount: 0"), "", NULL, NULL },
  { ROLE_WITH("taskRetryCount: 1\nextras: {gangAllocation: false}"), "", NULL,
    NULL },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: {cpu: -1, memoryMB: 0, "
                       "gpu: -2.0, ports: {a: 0, b: -1, c: 1}}\n",
    "?negative /taskRoles/a/resourcePerInstance/cpu 9:32-9:34\n"
    "?zero /taskRoles/a/resourcePerInstance/memoryMB 9:46-9:47\n"
    "?negative /taskRoles/a/resourcePerInstance/gpu 9:54-9:58\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/a 9:71-9:72\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/b 9:77-9:79",
    "cpu is -1, with which no task starts", NULL },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    commands: [c]\n    "
    "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: [ssh, 1]}\n",
    "?no-effect /taskRoles/a/resourcePerInstance/ports 9:63-9:71",
    "ports is no mapping", "write LABEL: COUNT" },
};

static const found of_the_rest[] = {
  { JOB_WITH("extras: {gangAllocation: 0}"),
    "?no-effect /extras/gangAllocation 6:26-6:27", "neither true nor false",
    NULL },
  { JOB_WITH("extras: {gangAllocation: 'false'}"),
    "?no-effect /extras/gangAllocation 6:26-6:33", "and so is true", NULL },
  { JOB_WITH("extras: {gangAllocation: true}"), "", NULL, NULL },
  { JOB_WITH("extras: {gangAllocation: false, "
             "com.microsoft.pai.runtimeplugin: [{plugin: ssh}]}"),
    "?ssh-without-gang /extras/gangAllocation 6:26-6:31",
    "the ssh plugin is off", "drop one" },
  { JOB_WITH(
      "extras: {gangAllocation: false, com.microsoft.pai.runtimeplugin: [1, "
      "{plugin: cmd}, {plugin: 2}]}"),
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/0 6:67-6:68\n"
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/2/plugin 6:94-6:95",
    "needs its name", "write - plugin: NAME" },
  { JOB_WITH("extras: {gangAllocation: false, "
             "com.microsoft.pai.runtimeplugin: {plugin: ssh}}"),
    "?no-effect /extras/com.microsoft.pai.runtimeplugin 6:66-6:79",
    "are no list", "dash" },
  { JOB_WITH("extras: {hivedscheduler: {}}"),
    "?no-effect /extras/hivedscheduler 6:10-6:24",
    "hivedscheduler has no effect", "'hivedScheduler'?" },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x, auth: "
             "{username: u, password: p, registryuri: r}}]\n" JOB_ROLES,
    "", NULL, NULL },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x, auth: "
             "{}}]\n" JOB_ROLES,
    "?auth-incomplete /prerequisites/0/auth 4:60-4:62\n"
    "?auth-incomplete /prerequisites/0/auth 4:60-4:62\n"
    "?auth-registry /prerequisites/0/auth 4:60-4:62",
    "has no password", NULL },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x}, {name: x, "
             "type: data}, {name: y, type: data}]\n" JOB_ROLES,
    "?shared-name /prerequisites/1/name 4:62-4:63",
    "a dockerimage is called 'x', too", "of its own" },
  { JOB_WITH("deployments: [{name: d, taskRoles: {a: {}, b: {}}}]\ndefaults: "
             "{deployment: d}"),
    "?no-effect /deployments/0/taskRoles/b 6:44-6:45",
    "there is no task role 'b'", NULL },
  { JOB_WITH("deployments: [{name: d, taskRoles: {b: {}}}]"), "", NULL, NULL },
};

#define SIZES_OF(sizes)                                                     \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: " \
                     "[c]\n    resourcePerInstance: {" sizes "}\n"
#define PLUGINS_OF(list) \
  JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: " list "}")

/* What is written to no effect, and sizes beyond belief. */
static const found of_fields[] = {
  { SIZES_OF("cpu: 0, memoryMB: 1, gpu: 0"),
    "?zero /taskRoles/a/resourcePerInstance/cpu 9:32-9:33",
    "cpu is 0, and no task runs without", "give 1 or more" },
  { SIZES_OF("cpu: 1, memoryMB: 99999999999999999999, gpu: 4294967295"),
    "?out-of-range /taskRoles/a/resourcePerInstance/memoryMB 9:45-9:65",
    "memoryMB is 99999999999999999999, more than any machine has", NULL },
  { SIZES_OF("cpu: 1, memoryMB: 1, gpu: 4294967296"),
    "?out-of-range /taskRoles/a/resourcePerInstance/gpu 9:53-9:63",
    "gpu is 4294967296", NULL },
  { SIZES_OF("cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 1023, b: 1024, ssh: 22, "
             "http: 80, https: 443, mpi: 22}"),
    "?port-count /taskRoles/a/resourcePerInstance/ports/b 9:76-9:80\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/ssh 9:87-9:89\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/http 9:97-9:99\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/https 9:108-9:111",
    "port b has count 1024", "how many ports, not which: mostly 1" },
  { ROLE_WITH("extraContainerOptions: {shmMb: 1, x: 1}"),
    "?no-effect /taskRoles/a/extraContainerOptions/shmMb 10:29-10:34", "shmMb",
    "did you mean 'shmMB'?" },
  { ROLE_WITH("extraContainerOptions: {shmMB: 1, shmGB: 1}"), "", NULL, NULL },
  { JOB_WITH("defaults: {virtualcluster: a}"),
    "?no-effect /defaults/virtualcluster 6:12-6:26", "virtualcluster",
    "'virtualCluster'?" },
  { JOB_WITH("extras: {gangAlocation: false, mine: 1, storage: 2}"),
    "?no-effect /extras/gangAlocation 6:10-6:23\n"
    "?no-effect /extras/storage 6:41-6:48",
    "gangAlocation", "did you mean 'gangAllocation'?" },
  { PLUGINS_OF("[{plugin: shh}, {plugin: mine}, 1, {plugins: ssh}, {plugin: "
               "2}]"),
    "?unknown-plugin "
    "/extras/com.microsoft.pai.runtimeplugin/0/plugin 6:53-6:56\n"
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/2 6:75-6:76\n"
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/3 6:78-6:92\n"
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/4/plugin 6:103-6:104",
    "OpenPAI brings no plugin 'shh'", "did you mean 'ssh'?" },
  { PLUGINS_OF("[{plugin: ssh, parametrs: {jobssh: true}}, {plugin: cmd, "
               "parameters: {preCommand: [], other: 1}, failurePolicy: "
               "ignore, taskroles: [a]}, {plugin: mine, parameters: {x: 1}}]"),
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/0/parametrs "
    "6:58-6:67\n"
    "?no-effect "
    "/extras/com.microsoft.pai.runtimeplugin/1/parameters/preCommand "
    "6:113-6:123\n"
    "?no-effect /extras/com.microsoft.pai.runtimeplugin/1/parameters/other "
    "6:129-6:134",
    "a runtime plugin has no such key", "did you mean 'parameters'?" },
  { JOB_WITH("extras: {openpai: {timelimit: 1h, mine: 2}}"),
    "?no-effect /extras/openpai/timelimit 6:20-6:29", "timelimit",
    "did you mean 'timeLimit'?" },
  { PLUGINS_OF("{plugin: ssh}"),
    "?no-effect /extras/com.microsoft.pai.runtimeplugin 6:43-6:56",
    "are no list", "dash" },
  { JOB_WITH("extras: {storages: [{name: a}, {nam: b}]}"),
    "?no-effect /extras/storages/1 6:32-6:40", "without a name",
    "write - name: STORAGE" },
  { JOB_WITH("extras: {storages: }"), "", NULL, NULL },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: <% "
             "$parameters.i %>}]\n" JOB_ROLES "parameters: {i: 1}\n",
    "?no-effect /prerequisites/0/uri 4:51-4:70",
    "templates in a uri are not filled in",
    "the text that they should produce" },
  { JOB_HEAD
    "prerequisites: [{name: x, type: dockerimage, uri: x}, {name: d, "
    "type: data, uri: [a, <% b %>]}, {name: e, type: data, plugin: p, "
    "uri: [<% b %>]}, {name: f, type: data, Uri: []}]\n" JOB_ROLES,
    "?no-effect /prerequisites/1/uri/1 4:86-4:93\n"
    "?no-effect /prerequisites/3/Uri 4:169-4:172",
    "in a uri", "should produce" },
};

static const found of_templates[] = {
  { ROLE_OF("a", "x <% $parameters.p %>\n    - y <% $parameters.p.q %>\n"
                 "    - '[object Object]'\nparameters: {p: {q: 1}}"),
    "?object-text /taskRoles/a/commands/0 10:7-10:28",
    "filled in here as [object Object]", "one of its values" },

  { ROLE_OF("a", "<% $parameters.p %>"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:26",
    "nothing stands for <% $parameters.p %>", "declare it under parameters" },
  { ROLE_OF("a", "<% $secrets.p %>"),
    "?unknown-secret /taskRoles/a/commands/0 10:7-10:23",
    "nothing stands for <% $secrets.p %>", "declare it under secrets" },
  { ROLE_OF("a", "<% $secrets.p %>\nsecrets: {p: 1}"), "", NULL, NULL },
  { ROLE_OF("a", "<% $data.uri[0] %>"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:25", "<% $data.uri.0 %>",
    "no such data, or" },
  { ROLE_OF("a", "<% $script.name %>"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:25", "$script.name",
    "no such script, or" },
  { ROLE_OF("a", "<% $output.x %>"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:22", "$output.x",
    "no such output, or" },
  { ROLE_OF("a", "<% p %>"), "?unresolved /taskRoles/a/commands/0 10:7-10:14",
    "<% p %>", "names begin with" },
  { ROLE_OF("a", "\"<% a\\nb %>\""),
    "?unresolved /taskRoles/a/commands/0 10:8-10:18", "<% a?b %>",
    "names begin with" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {}}"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:28", "$parameters.p.q",
    "under parameters" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {q: 1}, pq: 1}"),
    "?unused-parameter /parameters/pq 11:25-11:27",
    "nothing uses parameter 'pq'", "write <% $parameters.pq %>" },
  { ROLE_OF("a", "<% $parameters %>\nparameters: {p: {q: 1}, pq: 1}"),
    "?object-text /taskRoles/a/commands/0 10:7-10:24", "[object Object]",
    "one of its values" },
  { ROLE_OF("a", "c\nparameters: {\"a\\x7f\": 1}"),
    "?unused-parameter /parameters/a 11:14-11:21", "parameter 'a?'",
    "drop it" },
  { ROLE_OF("a",
            "c\nextras: {x: [\"<% $parameters.p %>\"]}\nparameters: {p: 1}"),
    "", NULL, NULL },
  { JOB_HEAD "prerequisites: [{name: x, type: dockerimage, uri: x, auth: "
             "{username: u, password: <% $secrets.p %>, registryuri: <% "
             "$parameters.r %>}}]\n" JOB_ROLES "parameters: {r: 1}\n",
    "?unknown-secret /prerequisites/0/auth/password 4:84-4:100\n"
    "?unresolved /prerequisites/0/auth/registryuri 4:115-4:134",
    "nothing stands for <% $secrets.p %>", "under secrets" },
  { DEPLOYED("a: {preCommands: [<% $parameters.p %>], postCommands: [c, <% "
             "$parameters.q %>]}"),
    "?unresolved /deployments/0/taskRoles/a/preCommands/0 6:55-6:74\n"
    "?unresolved /deployments/0/taskRoles/a/postCommands/1 6:95-6:114",
    "parameters.p", "declare" },
  { JOB_WITH("deployments: [{name: d, taskRoles: {a: {preCommands: [<% "
             "$parameters.p %>]}}}]"),
    "", NULL, NULL },
  { JOB_WITH("extras: {k: &k {p: 1, q: 2}}\nparameters: {<<: *k, q: 3}"),
    "?unused-parameter /parameters/p 6:17-6:18\n"
    "?unused-parameter /parameters/q 7:22-7:23",
    "nothing uses", "drop it" },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    commands: [c]\n    "
    "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0, ports: []}\n",
    "?no-effect /taskRoles/a/resourcePerInstance/ports 9:63-9:65",
    "ports is no mapping", "write LABEL: COUNT" },
};

static void each_warning(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(of_roles); i++)
    test_found(&of_roles[i], NULL);
  for (size_t i = 0; i < PAI__LEN(of_the_rest); i++)
    test_found(&of_the_rest[i], NULL);
  for (size_t i = 0; i < PAI__LEN(of_fields); i++)
    test_found(&of_fields[i], NULL);
  for (size_t i = 0; i < PAI__LEN(of_templates); i++)
    test_found(&of_templates[i], NULL);
}

static void invalid_files_have_them_too(void **state)
{
  static const found want = { ROLE_OF("a_b", "<% p %>\nextra: 1"),
                              "?role-name /taskRoles/a_b 6:3-6:6\n"
                              "?unresolved /taskRoles/a_b/commands/0 "
                              "10:7-10:14\n"
                              "unknown-key /extra 11:1-11:6",
                              "cannot start", "call it 'ab'" };

  (void)state;
  test_found(&want, NULL);
}

static void the_example_has_none(void **state)
{
  found want = { NULL, "", NULL, NULL };
  pai__buf text;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  assert_int_equal(pai__fs_read(&text, HELLO_YAML, 65536, NULL), PAI_OK);
  want.text = pai__buf_text(&text);
  test_found(&want, NULL);
  pai__buf_dispose(&text);
}

/* --- files that people wrote ----------------------------------------------- */

static const char *const known[] = {
  "role-name",      "role-collision",   "out-of-reach",
  "out-of-range",   "negative",         "port-count",
  "no-effect",      "auth-registry",    "auth-incomplete",
  "shared-name",    "ssh-without-gang", "unknown-secret",
  "unresolved",     "unused-parameter", "zero",
  "unknown-plugin", "object-text"
};

static size_t warned[PAI__LEN(known)], silent;

static void count_warnings(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  const pai_diagnostic *d;
  pai_report *report;

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") != 0)
    return;
  assert_int_equal(pai_spec_check(&report, NULL, text, len, NULL, NULL),
                   PAI_OK);
  /* There are exceptions: see test_cases.c. */
  silent += pai_report_count(report) == 0;
  for (size_t i = 0;
       pai_report_valid(report) && (d = pai_report_get(report, i)) != NULL;
       i++) {
    size_t k = 0;

    assert_int_equal(d->severity, PAI_SEVERITY_WARNING);
    while (k < PAI__LEN(known) && strcmp(known[k], d->code) != 0)
      k++;
    if (k == PAI__LEN(known))
      fail_msg("%s is a warning that nobody knows", d->code);
    warned[k]++;
  }
  pai_report_free(report);
}

static void most_files_have_none(void **state)
{
  int rows = test_each_row("v2-cases.jsonl", count_warnings);

  (void)state;
  if (rows < 0)
    return; /* it says so */
  printf("%zu files without a warning", silent);
  for (size_t i = 0; i < PAI__LEN(known); i++)
    printf(", %s %zu", known[i], warned[i]);
  printf("\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_warning),
    cmocka_unit_test(invalid_files_have_them_too),
    cmocka_unit_test(the_example_has_none),
    cmocka_unit_test(most_files_have_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
