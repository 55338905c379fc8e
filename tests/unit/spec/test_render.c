/* Commands: those of deployments around those of roles, templates filled in,
 * secrets only in what runs; and what a file asks for and this version does not
 * act on: one note each. */
#include "cases.h"
#include "spec/found.h"

#include "spec/spec.h"

#include <stdio.h>

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
  /* white space as JavaScript has it; U+00E0 ends like a no-break space */
  { NAMES ROLE(
      "", "[\"\\uFEFF\\u00A0\\u1680\\u2000\\u200A\\u2028 a\\u2029\\u202F\\v"
          "\\u205F\\u3000\", \"\\u200B \\x85\\u180E\", \u00e0]"),
    "a\n\u200b \xc2\x85\u180e\n\u00e0", NULL, "" },
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
               "['<% $data.uri[1] %> <% $data.more.k %> <% $output.uri %> <% "
               "$script.uri %>']"),
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

TEST(each_text)
{
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
TEST(roles_do_not_mix)
{
  pai_spec *spec = test_spec(
    JOB_HEAD
    "prerequisites:\n- {name: x, type: dockerimage, uri: x}\n- {name: d, "
    "type: data, uri: [one]}\n- {name: e, type: data, uri: "
    "[two]}\ndeployments: [{name: f, taskRoles: {b: {preCommands: "
    "[b]}}}]\ndefaults: {deployment: f}\ntaskRoles:\n  a: {dockerImage: x, "
    "data: d, " ROLE_SIZES ", commands: &c ['<% $data.uri[0] %>']}\n  b: "
    "{dockerImage: x, data: e, " ROLE_SIZES
    ", commands: *c}\n  c: {dockerImage: x, " ROLE_SIZES ", commands: *c}\n",
    NULL);

  assert_string_equal(pai_spec_role_script(spec, 0), "one");
  assert_string_equal(pai_spec_role_script(spec, 1), "b\ntwo");
  assert_string_equal(pai_spec_role_script(spec, 2), "<% $data.uri.0 %>");
  assert_null(pai_spec_role_script(spec, 3));
  check_unresolved(spec, "$data.uri.0");
  pai_spec_unref(spec);
}

/* What is valid and no shell can run; the script ends where it must. */
TEST(what_cannot_run)
{
  static const struct {
    const char *text, *obstacle;
  } rows[] = {
    { JOB_HEAD JOB_IMAGE "taskRoles: {a: {dockerImage: x, " ROLE_SIZES
                         ", commands: [\"a\\0b\"]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE
      "parameters: {p: \"\\0\"}\ntaskRoles: {a: {dockerImage: x, " ROLE_SIZES
      ", commands: [<% $parameters.p %>]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE
      "secrets: {p: \"\\0\"}\ntaskRoles: {a: {dockerImage: x, " ROLE_SIZES
      ", commands: [<% $secrets.p %>]}}\n",
      "a NUL character" },
    { JOB_HEAD JOB_IMAGE
      "parameters: {p: '<% open'}\nsecrets: {s: x}\ntaskRoles: {a: "
      "{dockerImage: x, " ROLE_SIZES
      ", commands: ['<% $secrets.s %> <% $parameters.p %>']}}\n",
      "its secrets cannot be inserted" },
    { ROLE_WITH("instances: 10001"), "more than 10000 instances" },
    { ROLE_WITH("completion: {minFailedInstances: -2}"),
      "minFailedInstances is -2" },
    { ROLE_WITH("completion: {minFailedInstances: -1e30}"),
      "minFailedInstances is -2147483648" },
    { ROLE_WITH("extraContainerOptions: {shmMB: -1}"), "the shared memory" },
    { JOB_SIZED("cpu: -1e30, memoryMB: 1, gpu: 0"), " CPUs" },
    { JOB_SIZED("cpu: -0.5, memoryMB: 1, gpu: 0"), " CPUs" },
    { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 0, ports: {p: 0}"),
      "port p of a has count 0" },
    { JOB_SIZED("cpu: 1, memoryMB: 99999999999999999999, gpu: 0"),
      "more than 4294967295 of the memory" },
    { JOB_SIZED("cpu: 1, memoryMB: 1, gpu: 0, ports: {p: 1000000}"),
      "more than 1000000 ports" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_spec *spec = test_spec(rows[i].text, NULL);

    if (spec->obstacle == NULL ||
        strstr(spec->obstacle, rows[i].obstacle) == NULL)
      fail_msg("%s\nobstacle: %s", rows[i].text,
               spec->obstacle != NULL ? spec->obstacle : "none");
    pai_spec_unref(spec);
  }
}

#define GOOD "{cpu: 1, memoryMB: 1, gpu: 0}"
#define PREREQUISITES                                      \
  "prerequisites: [{name: x, type: dockerimage, uri: u}, " \
  "{name: d, type: data}, {name: o, type: output}, {name: s, type: script}]"

/* A job with these fields at its root and in both of its roles. */
static char *job_with(const char *root, const char *role)
{
  static const char pattern[] =
    "{protocolVersion: 2, name: n, type: job, " PREREQUISITES
    ", %s taskRoles: {a: {dockerImage: x, %s resourcePerInstance: " GOOD
    ", commands: [x]}, b: {dockerImage: x, %s resourcePerInstance: " GOOD
    ", commands: [x]}}}";
  static char text[2048];

  (void)snprintf(text, sizeof(text), pattern, root, role, role);
  return text;
}

/* A field, and a part of its note; NULL when there is none. */
static const struct {
  const char *root, *role;
  const char *note;
} ignored[] = {
  { "extras: {com.microsoft.pai.runtimeplugin: []},", "", NULL },
  { "extras: {storages: []},", "", NULL },
  { "extras: {gangAllocation: false},", "", NULL },
  { "extras: {gangAllocation: false},", "taskRetryCount: 1,", NULL },
  { "extras: {gangAllocation: true},", "taskRetryCount: 1,",
    "taskRetryCount" },
  { "extras: {gangAllocation: 0},", "taskRetryCount: 1,",
    "taskRetryCount" }, /* OpenPAI: only `false` */
  { "extras: {hivedScheduler: {jobPriorityClass: prod}},", "",
    "jobPriorityClass" },
  { "extras: {jobStatusChangeNotification: {running: false, failed: true}},",
    "", "no notifications" },
  { "extras: {jobStatusChangeNotification: {failed: false}},", "", NULL },
  { "extras: {jobStatusChangeNotification: x},", "", NULL },
  { "extras: {submitFrom: x, tags: [a], tensorBoard: {}},", "", NULL },
  { "defaults: {virtualCluster: vc1},", "", NULL },
  { "defaults: {virtualCluster: 1},", "", NULL },
  { "defaults: {virtualCluster: default},", "", NULL },
  { "defaults: {virtualCluster: null, other: 1},", "", NULL },
  { "version: 1, contributor: c, description: d,", "", NULL },
  { "parameters: {a: 1}, secrets: {b: 2},", "", NULL },
  { "deployments: [{name: d, taskRoles: {a: {}}}],", "", NULL },
  { "", "protocolVersion: 2, instances: 2,", NULL },
  { "", "taskRetryCount: 1,", "taskRetryCount" },
  { "", "taskRetryCount: 0,", NULL },
  { "", "taskRetryCount: -1,", NULL },
  { "", "prerequisites: [d],", NULL },
  { "", "data: d,", "data" },
  { "", "output: o,", "output" },
  { "", "script: s,", "script" },
  { "", "extraContainerOptions: {infiniband: true},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: 1.5},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: 'no'},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: []},", "InfiniBand" },
  { "", "extraContainerOptions: {infiniband: false},", NULL },
  { "", "extraContainerOptions: {infiniband: null},", NULL },
  { "", "extraContainerOptions: {infiniband: ''},", NULL },
  { "", "extraContainerOptions: {infiniband: 0, shmMB: 5},", NULL },
};

TEST(what_is_not_acted_on_is_noted_once)
{
  for (size_t i = 0; i < PAI__LEN(ignored); i++) {
    pai_spec *spec =
      test_spec(job_with(ignored[i].root, ignored[i].role), NULL);
    const char *note;

    note = pai_spec_note(spec, 0);
    if (ignored[i].note == NULL
          ? note != NULL
          : note == NULL || strstr(note, ignored[i].note) == NULL)
      fail_msg("row %zu: %s", i, note != NULL ? note : "no note");
    if (note != NULL && pai_spec_note(spec, 1) != NULL)
      fail_msg("row %zu: also %s", i, pai_spec_note(spec, 1));
    pai_spec_unref(spec);
  }
}

TEST(each_ignored_field_has_its_note)
{
  pai_spec *spec =
    test_spec(job_with("extras: {gangAllocation: true, hivedScheduler: {}},",
                       "taskRetryCount: 2, data: d, output: o,"),
              NULL);
  size_t n = 0;

  while (pai_spec_note(spec, n) != NULL)
    n++;
  assert_int_equal(n, 1 + 3);
  pai_spec_unref(spec);
}

/* Of version 1: its folders, if they are addresses. */
TEST(folders_of_version_1)
{
  static const struct {
    const char *fields, *note;
  } rows[] = {
    { "", NULL },
    { "\"dataDir\": \"/d\", \"outputDir\": \"o\", \"codeDir\": "
      "\"$PAI_DEFAULT_FS_URI/c\",",
      NULL },
    { "\"codeDir\": \"file:///c\",", NULL },
    { "\"dataDir\": \"hdfs://h:9000/d\",", "dataDir is an address" },
    { "\"outputDir\": \"hdfs://h:9000/d\",", "outputDir is an address" },
    { "\"codeDir\": \"webhdfs://h/c\",",
      "codeDir is an address, which is not" },
  };
  char text[512];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_spec *spec, *masked;

    (void)snprintf(text, sizeof(text),
                   "{\"jobName\": \"a\", \"image\": \"i\", %s \"taskRoles\": "
                   "[{\"name\": \"w\", \"command\": \"x\"}]}",
                   rows[i].fields);
    spec = test_spec(text, NULL);
    assert_ok(pai_spec_masked(&masked, spec, NULL));
    for (int of = 0; of < 2; of++) {
      const char *note = pai_spec_note(of == 0 ? spec : masked, 0);

      if (rows[i].note == NULL)
        assert_null(note);
      else
        assert_memory_equal(note, rows[i].note, strlen(rows[i].note));
      assert_null(note != NULL ? pai_spec_note(spec, 1) : NULL);
    }
    pai_spec_unref(masked);
    pai_spec_unref(spec);
  }
}

static int find_notes(const pai_spec *spec)
{
  assert_has(pai_spec_note(spec, 1), "taskRetryCount");
  return PAI_OK;
}

TEST(failing_memory)
{
  test_spec_faults(
    job_with("extras: {hivedScheduler: {}},", "taskRetryCount: 1,"),
    find_notes);
}
