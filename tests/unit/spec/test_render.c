/* Commands: those of deployments around those of roles, templates filled in,
 * secrets only in what runs. */
#include "spec/found.h"

#include "spec/spec.h"

/* A role `a` with these commands, whose templates may name much. */
#define ROLE(more, commands) \
  "  a: {dockerImage: x, " ROLE_SIZES ", " more " commands: " commands "}\n"
#define NAMES                                                    \
  "protocolVersion: 2\nname: n\ntype: job\nprerequisites:\n"     \
  "- {name: x, type: dockerimage, uri: image}\n"                 \
  "- {name: d, type: data, uri: [one, two], more: {k: v}}\n"     \
  "- {name: o, type: output, uri: out}\n"                        \
  "- {name: s, type: script, uri: here}\n"                       \
  "- {name: x, type: script, uri: there}\n"                      \
  "parameters: {p: 1.0, q: [a, b], r: <% $secrets.t %>, s: '<% " \
  "$parameters.p "                                               \
  "%>', n: null, t: '<% open'}\n"                                \
  "secrets: {t: s3cret, u: '<% $secrets.t %>', v: {w: 7}}\n"     \
  "taskRoles:\n"
#define DEPLOYED(list)                                                     \
  JOB_WITH(                                                                \
    "deployments:\n- {name: other, taskRoles: {a: {preCommands: [no]}}}\n" \
    "- {name: d, taskRoles: {" list "}}\ndefaults: {deployment: d}")

/* A file with a role, its script, what runs, and the names that stand for
 * nothing. */
static const struct {
  const char *text;
  const char *script, *command;
  const char *unresolved;
} rendered[] = {
  { NAMES ROLE("", "[a, ' b ', \"\\tc \\n\", '', d]"), "a\nb\nc\n\nd", NULL,
    "" },
  { NAMES ROLE("", "['', '']"), "", NULL, "" },
  { NAMES ROLE("", "['  <% $parameters.p %>  ', '<% $parameters.q %>']"),
    "1\na,b", NULL, "" },
  { NAMES ROLE("", "['<% $parameters.q[1] %><%$parameters.q.length%>']"), "b2",
    NULL, "" },
  { NAMES ROLE("", "['<% $parameters.n %>', '<%$parameters.nope%>']"),
    "<% $parameters.n %>\n<% $parameters.nope %>", NULL,
    "$parameters.n $parameters.nope" },
  /* a value is not read again for what anybody may see */
  { NAMES ROLE("", "['<% $parameters.s %>']"), "<% $parameters.p %>", NULL,
    "$parameters.p" },
  /* scopes are those of the role */
  { NAMES ROLE("data: d, output: o, script: s,",
               "['<% $data.uri[1] %> <% $data.more.k %> <% $output.uri %> "
               "<% $script.uri %>']"),
    "two v out here", NULL, "" },
  { NAMES ROLE("script: x,", "['<% $script.uri %> <% $data.uri[0] %>']"),
    "there <% $data.uri.0 %>", NULL, "$data.uri.0" },
  { NAMES ROLE("", "['<% $script.name %>']"), "<% $script.name %>", NULL,
    "$script.name" },
  /* secrets: in the command, not in the script; once */
  { NAMES ROLE("", "['x <%$secrets.t%> y']"), "x <% $secrets.t %> y",
    "x s3cret y", "" },
  { NAMES ROLE("", "['<% $parameters.r %>']"), "<% $secrets.t %>", "s3cret",
    "" },
  { NAMES ROLE("", "['<% $secrets.u %> <% $secrets.v.w %>']"),
    "<% $secrets.u %> <% $secrets.v.w %>", "<% $secrets.t %> 7", "" },
  { NAMES ROLE("", "['<% $secrets.no %> <% p %> <% $secrets.no %>']"),
    "<% $secrets.no %> <% p %> <% $secrets.no %>", NULL, "$secrets.no p" },
  /* sections and comments give nothing */
  { NAMES ROLE("", "['a<%! b %>c<%#d%>e<%/d%>']"), "ac", NULL, "" },
  { NAMES ROLE("", "['<%{ $parameters.p }%><%& $parameters.p %>z']"), "z",
    NULL, "" },
  /* deployments: only the one that is used, and only for its roles */
  { DEPLOYED("a: {preCommands: [' b'], postCommands: ['d ', e]}"),
    "b\nc\nd\ne", NULL, "" },
  { DEPLOYED("a: {preCommands: [b]}"), "b\nc", NULL, "" },
  { DEPLOYED("a: {postCommands: [b]}"), "c\nb", NULL, "" },
  { DEPLOYED("a: {}"), "c", NULL, "" },
  { DEPLOYED("z: {preCommands: [b]}"), "c", NULL, "" },
  { DEPLOYED("a: {preCommands: [<% $parameters.p %>]}") "parameters: {p: 5}",
    "5\nc", NULL, "" },
};

static void check_unresolved(const pai_spec *spec, const char *want)
{
  char names[200] = "";

  for (size_t i = 0; pai_spec_unresolved(spec, i) != NULL; i++) {
    if (i > 0)
      strcat(names, " ");
    strcat(names, pai_spec_unresolved(spec, i));
  }
  assert_string_equal(names, want);
}

static void each_text(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rendered); i++) {
    const char *command = rendered[i].command;
    pai_spec *spec = test_spec(rendered[i].text, NULL);

    if (command == NULL)
      command = rendered[i].script;
    if (strcmp(pai_spec_role_script(spec, 0), rendered[i].script) != 0)
      fail_msg("%s\nscript: %s", rendered[i].text,
               pai_spec_role_script(spec, 0));
    if (strcmp(spec->roles[0].command, command) != 0)
      fail_msg("%s\ncommand: %s", rendered[i].text, spec->roles[0].command);
    check_unresolved(spec, rendered[i].unresolved);
    assert_null(spec->obstacle);
    pai_spec_unref(spec);
  }
}

/* Each role has scopes, and hooks, of its own. */
static void roles_do_not_mix(void **state)
{
  pai_spec *spec = test_spec(
    JOB_HEAD "prerequisites:\n- {name: x, type: dockerimage, uri: x}\n"
             "- {name: d, type: data, uri: [one]}\n- {name: e, type: data, "
             "uri: [two]}\n"
             "deployments: [{name: f, taskRoles: {b: {preCommands: [b]}}}]\n"
             "defaults: {deployment: f}\ntaskRoles:\n"
             "  a: {dockerImage: x, data: d, " ROLE_SIZES ", commands: &c "
             "['<% $data.uri[0] %>']}\n"
             "  b: {dockerImage: x, data: e, " ROLE_SIZES ", commands: *c}\n"
             "  c: {dockerImage: x, " ROLE_SIZES ", commands: *c}\n",
    NULL);

  (void)state;
  assert_string_equal(pai_spec_role_script(spec, 0), "one");
  assert_string_equal(pai_spec_role_script(spec, 1), "b\ntwo");
  assert_string_equal(pai_spec_role_script(spec, 2), "<% $data.uri.0 %>");
  assert_null(pai_spec_role_script(spec, 3));
  check_unresolved(spec, "$data.uri.0");
  pai_spec_unref(spec);
}

/* What is valid and no shell can run; the script ends where it must. */
static void what_cannot_run(void **state)
{
  static const struct {
    const char *text, *obstacle;
  } rows[] = {
    { JOB_HEAD JOB_IMAGE "taskRoles: {a: {dockerImage: x, " ROLE_SIZES
                         ", commands: [\"a\\0b\"]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE "parameters: {p: \"\\0\"}\ntaskRoles: {a: "
                         "{dockerImage: x, " ROLE_SIZES
                         ", commands: [<% $parameters.p %>]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE "secrets: {p: \"\\0\"}\ntaskRoles: {a: "
                         "{dockerImage: x, " ROLE_SIZES
                         ", commands: [<% $secrets.p %>]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE
      "parameters: {p: '<% open'}\nsecrets: {s: x}\ntaskRoles: {a: "
      "{dockerImage: x, " ROLE_SIZES
      ", commands: ['<% $secrets.s %> <% $parameters.p %>']}}\n",
      "its secrets cannot be filled in" },
    { ROLE_WITH("instances: 10001"), "more than 10000 instances" },
    { ROLE_WITH("completion: {minFailedInstances: -2}"),
      "minFailedInstances is -2" },
    { ROLE_WITH("completion: {minFailedInstances: -1e30}"),
      "minFailedInstances is -2147483648" },
    { ROLE_WITH("extraContainerOptions: {shmMB: -1}"), "the shared memory" },
    { JOB_HEAD JOB_IMAGE
      "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
      "{cpu: -1e30, memoryMB: 1, gpu: 0}}}\n",
      "of the CPUs" },
    { JOB_HEAD JOB_IMAGE
      "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
      "{cpu: 1, memoryMB: 1, gpu: 0, ports: {p: 0}}}}\n",
      "port p of a has count 0" },
    { JOB_HEAD JOB_IMAGE
      "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
      "{cpu: 1, memoryMB: 99999999999999999999, gpu: 0}}}\n",
      "more than 4294967295 of the memory" },
    { JOB_HEAD JOB_IMAGE
      "taskRoles: {a: {dockerImage: x, commands: [c], resourcePerInstance: "
      "{cpu: 1, memoryMB: 1, gpu: 0, ports: {p: 1000000}}}}\n",
      "more than 1000000 ports" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_spec *spec = test_spec(rows[i].text, NULL);

    if (spec->obstacle == NULL ||
        strstr(spec->obstacle, rows[i].obstacle) == NULL)
      fail_msg("%s\nobstacle: %s", rows[i].text,
               spec->obstacle != NULL ? spec->obstacle : "none");
    pai_spec_unref(spec);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_text),
    cmocka_unit_test(roles_do_not_mix),
    cmocka_unit_test(what_cannot_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
