/*
 * What is found of templates and of the language in one report, and where in a
 * text of many lines it is.
 */
#include "spec/found.h"

#define COMMANDS(text)                                                       \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES \
                     "\n    commands:\n" text

/* Nothing hides anything else. */
static const found all_classes[] = {
  { COMMANDS(
      "    - <% $parameters.p %> <% $secrets.s %>\n    - 1\nextra: 1\n"),
    "?unresolved /taskRoles/a/commands/0 10:7-10:26\n"
    "?unknown-secret /taskRoles/a/commands/0 10:27-10:43\n"
    "wrong-type /taskRoles/a/commands/1 11:7-11:8\n"
    "unknown-key /extra 12:1-12:6",
    "nothing stands for <% $parameters.p %>", "declare it" },
  { COMMANDS("    - <% $p\nextra: 1\n"),
    "bad-template /taskRoles/a/commands/0 10:7-10:12\n"
    "unknown-key /extra 11:1-11:6",
    "never closed", "end each" },
  { COMMANDS("    - c\nparameters: {used: 1, not: 2}\nextra: ['<% "
             "$parameters.used %>']\n"),
    "?unused-parameter /parameters/not 11:23-11:26\n"
    "unknown-key /extra 12:1-12:6",
    "nothing uses", "drop it" },
  /* what follows from another finding is not told again */
  { COMMANDS("    - <% $parameters.p %>\nparameter: {p: 1}\n"),
    "unknown-key /parameter 11:1-11:10", "no field 'parameter'",
    "'parameters'" },
  { COMMANDS("    - <% $data.uri %>\n    data: y\n"),
    "unknown-name /taskRoles/a/data 11:11-11:12", "no data prerequisite",
    "none" },
  { COMMANDS("      {c: <% p %>}\ntaskRole: 1\n"),
    "wrong-type /taskRoles/a/commands 10:7-10:19\n"
    "unknown-key /taskRole 11:1-11:9",
    "must be a list", NULL },
  /* whatever the types are */
  { JOB_HEAD "prerequisites: {auth: [<%]}\ntaskRoles: [<%, {commands: <%}]\n"
             "parameters: 1\nsecrets: [1]\nextras: 1\ndeployments: {a: 1}\n"
             "defaults: [1]\n",
    "wrong-type /prerequisites 4:16-4:28\n"
    "wrong-type /taskRoles 5:12-5:32\n"
    "wrong-type /parameters 6:13-6:14\n"
    "wrong-type /secrets 7:10-7:13\n"
    "wrong-type /extras 8:9-8:10\n"
    "wrong-type /deployments 9:14-9:20\n"
    "wrong-type /defaults 10:11-10:14",
    NULL, NULL },
  { JOB_HEAD
    "prerequisites: [{type: data, name: [1], auth: [<%], uri: 1}, 1]\n"
    "taskRoles: {a: [<%], b: 1, c: {commands: [1, [<%], {a: <%}]}}\n"
    "deployments: [{name: d, taskRoles: [<%]}]\n"
    "defaults: {deployment: d}\n",
    "bad-item /prerequisites/0 4:17-4:17\n"
    "wrong-type /prerequisites/0/name 4:36-4:39\n"
    "wrong-type /prerequisites/0/uri 4:58-4:59\n"
    "wrong-type /prerequisites/1 4:62-4:63\n"
    "wrong-type /taskRoles/a 5:16-5:20\n"
    "wrong-type /taskRoles/b 5:25-5:26\n"
    "missing-key /taskRoles/c 5:28-5:29\n"
    "missing-key /taskRoles/c 5:28-5:29\n"
    "wrong-type /taskRoles/c/commands/0 5:43-5:44\n"
    "wrong-type /taskRoles/c/commands/1 5:46-5:50\n"
    "wrong-type /taskRoles/c/commands/2 5:52-5:59\n"
    "wrong-type /deployments/0/taskRoles 6:36-6:40",
    NULL, "as its type data asks" },
};

/* The line inside, and the column. */
static const found inside[] = {
  { COMMANDS("    - |\n      one\n\n        two <% p %>\n      <% q %>\n"),
    "?unresolved /taskRoles/a/commands/0 13:13-13:20\n"
    "?unresolved /taskRoles/a/commands/0 14:7-14:14",
    "<% p %>", "names begin" },
  { COMMANDS("    - |2-\n\n        one\n        \xc3\xa9 <% p %>\n"),
    "?unresolved /taskRoles/a/commands/0 13:11-13:18", NULL, "names" },
  { COMMANDS("    -   >  # c\n\n\n       one\n       two\n\n       <% p %>\n"
             "         more\n       <% q\n       r %> x\n"),
    "?unresolved /taskRoles/a/commands/0 16:8-16:15\n"
    "?unresolved /taskRoles/a/commands/0 18:8-19:12",
    NULL, "names" },
  { COMMANDS("    - one\n      two  \n\n       three <% p %>  x\n"),
    "?unresolved /taskRoles/a/commands/0 13:14-13:21", NULL, "names" },
  { COMMANDS("    - 'it''s\n      two <% p %>'\n"),
    "?unresolved /taskRoles/a/commands/0 11:11-11:18", NULL, "names" },
  { COMMANDS(
      "    - \"\\x41\\u00e9\\t\\\n      \\\\ \\\n\n      two <% p %>\"\n"),
    "?unresolved /taskRoles/a/commands/0 13:11-13:18", NULL, "names" },
  { "{\"protocolVersion\": 2, \"name\": \"n\", \"type\": \"job\",\n"
    "\"prerequisites\": [{\"name\": \"x\", \"type\": \"dockerimage\", "
    "\"uri\": "
    "\"x\"}],\n\"taskRoles\": {\"a\": {\"dockerImage\": \"x\", "
    "\"resourcePerInstance\": {\"cpu\": 1, \"memoryMB\": 1, \"gpu\": 0},\n"
    "\"commands\": [\"\\ud83d\\ude00\\n \\\"<% p %>\\\"\"]}}}",
    "?unresolved /taskRoles/a/commands/0 4:32-4:39", NULL, "names" },
  { COMMANDS("    - |\r\n      one\r\n      <% p\r\n"),
    "bad-template /taskRoles/a/commands/0 12:7-12:11", "never closed",
    "end each" },
  /* an alias is shown where it stands */
  { COMMANDS("    - &c |\n      <% p %>\n    - *c\n"),
    "?unresolved /taskRoles/a/commands/0 11:7-11:14\n"
    "?unresolved /taskRoles/a/commands/1 12:7-12:9",
    NULL, "names" },
  { JOB_HEAD "prerequisites:\n- {name: x, type: dockerimage, uri: x, auth: "
             "{username: u, registryuri: r, password: \"\\t <% "
             "$secrets.s %>\"}}\n" JOB_ROLES,
    "?unknown-secret /prerequisites/0/auth/password 5:90-5:106", NULL,
    "declare" },
};

static void nothing_hides(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(all_classes); i++)
    test_found(&all_classes[i], NULL);
}

static void lines_inside(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(inside); i++)
    test_found(&inside[i], NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_hides),
    cmocka_unit_test(lines_inside),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
