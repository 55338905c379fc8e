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
    "?negative /taskRoles/a/resourcePerInstance/gpu 9:54-9:58\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/a 9:71-9:72\n"
    "?port-count /taskRoles/a/resourcePerInstance/ports/b 9:77-9:79",
    "cpu is -1, with which no task starts", NULL },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    commands: [c]\n    "
    "resourcePerInstance: {cpu: 1, memoryMB: 0, gpu: 0, ports: [ssh, 1]}\n",
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
    "", NULL, NULL },
  { JOB_WITH("extras: {gangAllocation: false, "
             "com.microsoft.pai.runtimeplugin: {plugin: ssh}}"),
    "", NULL, NULL },
  { JOB_WITH("extras: {hivedscheduler: {}}"),
    "?no-effect /extras/hivedscheduler 6:10-6:24",
    "nobody reads hivedscheduler", "'hivedScheduler'?" },
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

static const found of_templates[] = {
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
    "?unresolved /taskRoles/a/commands/0 10:7-10:19", "<% a?b %>",
    "names begin with" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {}}"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:28", "$parameters.p.q",
    "under parameters" },
  { ROLE_OF("a", "<% $parameters.p.q %>\nparameters: {p: {q: 1}, pq: 1}"),
    "?unused-parameter /parameters/pq 11:25-11:27",
    "nothing uses parameter 'pq'", "write <% $parameters.pq %>" },
  { ROLE_OF("a", "<% $parameters %>\nparameters: {p: {q: 1}, pq: 1}"), "",
    NULL, NULL },
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
    "resourcePerInstance: {cpu: 1, memoryMB: 0, gpu: 0, ports: []}\n",
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
  for (size_t i = 0; i < PAI__LEN(of_templates); i++)
    test_found(&of_templates[i], NULL);
}

static void invalid_files_have_errors_only(void **state)
{
  static const found want = { ROLE_OF("a_b", "<% p %>\nextra: 1"),
                              "unknown-key /extra 11:1-11:6",
                              "no field 'extra'", "did you mean 'extras'?" };

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
  "role-name",       "role-collision",  "out-of-reach",     "out-of-range",
  "negative",        "port-count",      "no-effect",        "auth-registry",
  "auth-incomplete", "shared-name",     "ssh-without-gang", "unknown-secret",
  "unresolved",      "unused-parameter"
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
    cmocka_unit_test(invalid_files_have_errors_only),
    cmocka_unit_test(the_example_has_none),
    cmocka_unit_test(most_files_have_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
