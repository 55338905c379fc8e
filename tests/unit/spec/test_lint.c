/* What is legal and surely not meant: every warning, and none where all is
 * well. */
#include "cases.h"
#include "rows.h"
#include "spec/found.h"

#include "base/os/posix_fs.h"

#include <stdio.h>

#define ROLE_OF(name, command)                                \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  " name                    \
                     ":\n    dockerImage: x\n    " ROLE_SIZES \
                     "\n    commands:\n    - " command "\n"
#define DEPLOYED(hooks)                                 \
  JOB_WITH("deployments: [{name: d, taskRoles: {" hooks \
           "}}]\ndefaults: {deployment: d}")

static const found of_roles[] = {
  { ROLE_OF("worker_1", "c"), "?role-name /taskRoles/worker_1 6:3-11",
    "cannot start a task role 'worker_1'", "rename it to 'worker1'" },
  { ROLE_OF("Worker", "c"), "?role-name /taskRoles/Worker 6:3-9",
    "cannot start a task role 'Worker'", "rename it to 'worker'" },
  { ROLE_OF("_", "c"), "?role-name /taskRoles/_ 6:3-4",
    "cannot start a task role '_'", NULL },

  { ROLE_OF("a234567890123456789012345678901234567890123456789012345678901234",
            "c"),
    "?role-name "
    "/taskRoles/"
    "a234567890123456789012345678901234567890123456789012345678901234 6:3-67",
    "cannot start", "rename it to" },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  ab: {" ROLE_FIELDS
                       "}\n  a_b: {" ROLE_FIELDS "}\n  Ab: {" ROLE_FIELDS
                       "}\n",
    "?role-name /taskRoles/a_b 7:3-6\n?role-collision /taskRoles/a_b "
    "7:3-6\n?role-name /taskRoles/Ab 8:3-5\n?role-collision /taskRoles/Ab "
    "8:3-5",
    "cannot start a task role 'a_b'", "rename it to 'ab'" },
  { ROLE_WITH("completion: {minFailedInstances: 2}"),
    "?out-of-reach role/completion/minFailedInstances 10:38-39",
    "minFailedInstances is 2, but the role has 1 instances",
    "use -1 for never" },

  { ROLE_WITH("completion: {minSucceededInstances: -2}"),
    "?out-of-range role/completion/minSucceededInstances 10:41-43",
    "-2: no task can start", "use -1 for never" },

  { ROLE_WITH("taskRetryCount: 1"), "?no-effect role/taskRetryCount 10:21-22",
    "only without gang allocation", "gangAllocation to false" },

  { JOB_SIZED("cpu: -1, memoryMB: 0, gpu: -2.0, ports: {a: 0, b: -1, c: 1}"),
    "?negative sizes/cpu 9:32-34\n?zero sizes/memoryMB 9:46-47\n?negative "
    "sizes/gpu 9:54-58\n?port-count sizes/ports/a 9:71-72\n?port-count "
    "sizes/ports/b 9:77-79",
    "cpu is -1: no task can start", NULL },
  { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 0, ports: [ssh, 1]"),
    "?no-effect sizes/ports 9:63-71", "ports is not a mapping",
    "write LABEL: COUNT" },
};

static const found of_the_rest[] = {
  { JOB_WITH("extras: {gangAllocation: 0}"),
    "?no-effect /extras/gangAllocation 6:26-27", "neither true nor false",
    NULL },
  { JOB_WITH("extras: {gangAllocation: 'false'}"),
    "?no-effect /extras/gangAllocation 6:26-33", "counts as true", NULL },

  { JOB_WITH("extras: {gangAllocation: false, "
             "com.microsoft.pai.runtimeplugin: [{plugin: ssh}]}"),
    "?ssh-without-gang /extras/gangAllocation 6:26-31",
    "the ssh plugin is off", "remove one" },
  { JOB_WITH(
      "extras: {gangAllocation: false, com.microsoft.pai.runtimeplugin: [1, "
      "{plugin: cmd}, {plugin: 2}]}"),
    "?no-effect plugins/0 6:67-68\n?no-effect plugins/2/plugin 6:94-95",
    "needs its name", "write - plugin: NAME" },
  { JOB_WITH("extras: {gangAllocation: false, "
             "com.microsoft.pai.runtimeplugin: {plugin: ssh}}"),
    "?no-effect plugins 6:66-79", "are not a list", "dash" },
  { JOB_WITH("extras: {hivedscheduler: {}}"),
    "?no-effect /extras/hivedscheduler 6:10-24",
    "hivedscheduler has no effect", "'hivedScheduler'?" },

  { JOB_AUTH(""),
    "?auth-registry /prerequisites/0/auth 4:60-62\n?auth-incomplete "
    "/prerequisites/0/auth 4:60-62\n?auth-incomplete /prerequisites/0/auth "
    "4:60-62",
    "registryuri is missing", "registry of the account" },
  { JOB_PREREQUISITES("{name: x, type: dockerimage, uri: x}, {name: x, type: "
                      "data}, {name: y, type: data}"),
    "?shared-name /prerequisites/1/name 4:62-63",
    "a dockerimage has the name 'x', too", "a different name" },
  { JOB_WITH("deployments: [{name: d, taskRoles: {a: {}, b: {}}}]\ndefaults: "
             "{deployment: d}"),
    "?no-effect /deployments/0/taskRoles/b 6:44-45",
    "there is no task role 'b'", NULL },

};

#define PLUGINS_OF(list) \
  JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: " list "}")

/* What is written to no effect, and sizes beyond belief. */
static const found of_fields[] = {
  { JOB_SIZED("cpu: 0, memoryMB: 1, gpu: 0"), "?zero sizes/cpu 9:32-33",
    "cpu is 0: no task can run", "use more than 0, such as 0.5 or 1" },

  { JOB_SIZED("cpu: -0.5, memoryMB: 1, gpu: 0"), "?negative sizes/cpu 9:32-36",
    "cpu is -0.5: no task can start", NULL },
  { JOB_SIZED("cpu: 1, memoryMB: 99999999999999999999, gpu: 4294967295"),
    "?out-of-range sizes/memoryMB 9:45-65",
    "memoryMB is 99999999999999999999, more than any node has", NULL },
  { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 4294967296"),
    "?out-of-range sizes/gpu 9:53-63", "gpu is 4294967296", NULL },
  { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 0, ports: {a: 1023, b: 1024, ssh: "
              "22, http: 80, https: 443, mpi: 22}"),
    "?port-count sizes/ports/b 9:76-80\n?port-count sizes/ports/ssh "
    "9:87-89\n?port-count sizes/ports/http 9:97-99\n?port-count "
    "sizes/ports/https 9:108-111",
    "port b has count 1024",
    "the number of ports, not the port number: usually 1" },
  { ROLE_WITH("extraContainerOptions: {shmMb: 1, x: 1}"),
    "?no-effect role/extraContainerOptions/shmMb 10:29-34", "shmMb",
    "did you mean 'shmMB'?" },

  { JOB_WITH("defaults: {virtualcluster: a}"),
    "?no-effect /defaults/virtualcluster 6:12-26", "virtualcluster",
    "'virtualCluster'?" },
  { JOB_WITH("extras: {gangAlocation: false, mine: 1, storage: 2}"),
    "?no-effect /extras/gangAlocation 6:10-23\n?no-effect /extras/storage "
    "6:41-48",
    "gangAlocation", "did you mean 'gangAllocation'?" },
  { PLUGINS_OF(
      "[{plugin: shh}, {plugin: mine}, 1, {plugins: ssh}, {plugin: 2}]"),
    "?unknown-plugin plugins/0/plugin 6:53-56\n?no-effect plugins/2 "
    "6:75-76\n?no-effect plugins/3 6:78-92\n?no-effect plugins/4/plugin "
    "6:103-104",
    "OpenPAI has no plugin 'shh'", "did you mean 'ssh'?" },
  { PLUGINS_OF("[{plugin: ssh, parametrs: {jobssh: true}}, {plugin: cmd, "
               "parameters: {preCommand: [], other: 1}, failurePolicy: "
               "ignore, taskroles: [a]}, {plugin: mine, parameters: {x: 1}}]"),
    "?no-effect plugins/0/parametrs 6:58-67\n?no-effect "
    "plugins/1/parameters/preCommand 6:113-123\n?no-effect "
    "plugins/1/parameters/other 6:129-134",
    "a runtime plugin has no such key", "did you mean 'parameters'?" },
  { JOB_WITH("extras: {openpai: {timelimit: 1h, mine: 2}}"),
    "?no-effect /extras/openpai/timelimit 6:20-29", "timelimit",
    "did you mean 'timeLimit'?" },
  { PLUGINS_OF("{plugin: ssh}"), "?no-effect plugins 6:43-56",
    "are not a list", "dash" },
  { JOB_WITH("extras: {storages: [{name: a}, {nam: b}]}"),
    "?no-effect /extras/storages/1 6:32-40", "without a name",
    "write - name: STORAGE" },

  { JOB_PREREQUISITES(
      "{name: x, type: dockerimage, uri: <% $parameters.i %>}") "parameters: "
                                                                "{i: 1}\n",
    "?no-effect /prerequisites/0/uri 4:51-70",
    "templates in a uri are not replaced", "write the final text" },
  { JOB_PREREQUISITES(
      "{name: x, type: dockerimage, uri: x}, {name: d, type: data, uri: [a, "
      "<% b %>]}, {name: e, type: data, plugin: p, uri: [<% b %>]}, {name: f, "
      "type: data, Uri: []}"),
    "?no-effect /prerequisites/1/uri/1 4:86-93\n?no-effect "
    "/prerequisites/3/Uri 4:169-172",
    "in a uri", "the final text" },
};

static const found of_templates[] = {
  { ROLE_OF("a", "x <% $parameters.p %>\n    - y <% $parameters.p.q %>\n    - "
                 "'[object Object]'\nparameters: {p: {q: 1}}"),
    "?object-text role/commands/0 10:7-28", "inserted here as [object Object]",
    "one of its values" },

  { ROLE_OF("a", "<% $parameters.p %>"), "?unresolved role/commands/0 10:7-26",
    "<% $parameters.p %> has no value", "declare it under parameters" },
  { ROLE_OF("a", "<% $secrets.p %>"),
    "?unknown-secret role/commands/0 10:7-23", "<% $secrets.p %> has no value",
    "declare it under secrets" },

  { ROLE_OF("a", "<% $data.uri[0] %>"), "?unresolved role/commands/0 10:7-25",
    "<% $data.uri.0 %>", "no such data, or" },
  { ROLE_OF("a", "<% $script.name %>"), "?unresolved role/commands/0 10:7-25",
    "$script.name", "no such script, or" },
  { ROLE_OF("a", "<% $output.x %>"), "?unresolved role/commands/0 10:7-22",
    "$output.x", "no such output, or" },
  { ROLE_OF("a", "<% p %>"), "?unresolved role/commands/0 10:7-14", "<% p %>",
    "use a name that begins with" },
  { ROLE_OF("a", "\"<% a\\nb %>\""), "?unresolved role/commands/0 10:8-18",
    "<% a?b %>", "use a name that begins with" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {}}"),
    "?unresolved role/commands/0 10:7-28", "$parameters.p.q",
    "under parameters" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {q: 1}, pq: 1}"),
    "?unused-parameter /parameters/pq 11:25-27", "nothing uses parameter 'pq'",
    "use <% $parameters.pq %>" },
  { ROLE_OF("a", "<% $parameters %>\nparameters: {p: {q: 1}, pq: 1}"),
    "?object-text role/commands/0 10:7-24", "[object Object]",
    "one of its values" },
  { ROLE_OF("a", "c\nparameters: {\"a\\x7f\": 1}"),
    "?unused-parameter /parameters/a 11:14-21", "parameter 'a?'",
    "remove it" },

  { JOB_AUTH("username: u, password: <% $secrets.p %>, registryuri: <% "
             "$parameters.r %>") "parameters: {r: 1}\n",
    "?unknown-secret /prerequisites/0/auth/password 4:84-100\n?unresolved "
    "/prerequisites/0/auth/registryuri 4:115-134",
    "<% $secrets.p %> has no value", "under secrets" },
  { DEPLOYED("a: {preCommands: [<% $parameters.p %>], postCommands: [c, <% "
             "$parameters.q %>]}"),
    "?unresolved /deployments/0/taskRoles/a/preCommands/0 "
    "6:55-74\n?unresolved /deployments/0/taskRoles/a/postCommands/1 6:95-114",
    "parameters.p", "declare" },

  { JOB_WITH("extras: {k: &k {p: 1, q: 2}}\nparameters: {<<: *k, q: 3}"),
    "?unused-parameter /parameters/p 6:17-18\n?unused-parameter /parameters/q "
    "7:22-23",
    "nothing uses", "remove it" },
  { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 0, ports: []"),
    "?no-effect sizes/ports 9:63-65", "ports is not a mapping",
    "write LABEL: COUNT" },
};

/* Files of which there is nothing to tell. */
static const char *const fine[] = {
  ROLE_OF("a23456789012345678901234567890123456789012345678901234567890123",
          "c"),
  ROLE_WITH("completion: {minFailedInstances: 1, minSucceededInstances: 1}"),
  ROLE_WITH("completion: {minSucceededInstances: 1e30}"),
  ROLE_WITH("taskRetryCount: 0"),
  ROLE_WITH("taskRetryCount: 1\nextras: {gangAllocation: false}"),
  JOB_WITH("extras: {gangAllocation: true}"),
  JOB_AUTH("username: u, password: p, registryuri: r"),
  JOB_WITH("deployments: [{name: d, taskRoles: {b: {}}}]"),
  JOB_SIZED("cpu: 0.001, memoryMB: 1, gpu: 0"),
  ROLE_WITH("extraContainerOptions: {shmMB: 1, shmGB: 1}"),
  JOB_WITH("extras: {storages: }"),
  ROLE_OF("a", "<% $secrets.p %>\nsecrets: {p: 1}"),
  ROLE_OF("a",
          "c\nextras: {x: [\"<% $parameters.p %>\"]}\nparameters: {p: 1}"),
  JOB_WITH("deployments: [{name: d, taskRoles: {a: {preCommands: [<% "
           "$parameters.p %>]}}}]"),
};

TEST(each_warning)
{
  test_found_each(of_roles, PAI__LEN(of_roles), NULL);
  test_found_none(fine, PAI__LEN(fine));
  test_found_each(of_the_rest, PAI__LEN(of_the_rest), NULL);
  test_found_each(of_fields, PAI__LEN(of_fields), NULL);
  test_found_each(of_templates, PAI__LEN(of_templates), NULL);
}

TEST(invalid_files_have_them_too)
{
  static const found want = {
    ROLE_OF("a_b", "<% p %>\nextra: 1"),
    "?role-name /taskRoles/a_b 6:3-6\n?unresolved /taskRoles/a_b/commands/0 "
    "10:7-14\nunknown-key /extra 11:1-6",
    "cannot start", "rename it to 'ab'"
  };

  test_found(&want, NULL);
}

TEST(the_example_has_none)
{
  found want = { NULL, "", NULL, NULL };
  pai__buf text = test_buf();

  assert_ok(pai__fs_read(&text, HELLO_YAML, 65536, NULL));
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

static size_t silent;

static void check_warning(const pai_diagnostic *d)
{
  assert_int_equal(d->severity, PAI_SEVERITY_WARNING);
  for (size_t i = 0; i < PAI__LEN(known); i++)
    if (strcmp(known[i], d->code) == 0)
      return;
  fail_msg("%s is a warning that nobody knows", d->code);
}

/* What is found of a valid file is a warning. */
static void check_warnings(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  const pai_diagnostic *d;
  pai_report *report;

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") != 0)
    return;
  report = test_report(text, len, NULL);
  silent += pai_report_count(report) == 0;
  /* There are exceptions: see test_cases.c. */
  for (size_t i = 0;
       pai_report_valid(report) && (d = pai_report_get(report, i)) != NULL;
       i++)
    check_warning(d);
  pai_report_free(report);
}

TEST(most_files_have_none)
{
  if (test_each_row("v2-cases.jsonl", check_warnings) < 0)
    return; /* it says so */
  printf("%zu files without a warning\n", silent);
  assert_true(silent > 250);
}
