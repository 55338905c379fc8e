/* What differs between two specs, by what they mean. */
#include "rows.h"

#include "base/buf.h"
#include "spec/diff.h"

#include <openpai/spec.h>

#include <stdio.h>

static pai_spec *parse(const char *text, const pai_alloc *alloc)
{
  pai_spec_options opts = PAI_SPEC_OPTIONS_INIT;
  pai_error *err;
  pai_spec *spec;
  int rc;

  opts.alloc = alloc;
  rc = pai_spec_parse(&spec, text, strlen(text), &opts, &err);
  if (rc < 0 && rc != PAI_ENOMEM)
    fail_msg("%s\n%s: %s", text, pai_error_pointer(err),
             pai_error_message(err));
  pai_error_free(err);
  return spec;
}

/* "+ /a 1\n" and so on. */
static int show(void *user_data, const pai_spec_change *change)
{
  pai__buf *b = user_data;
  const char *old_value = change->old_value, *new_value = change->new_value;

  assert_int_equal(change->struct_size, sizeof(*change));
  assert_int_equal(old_value == NULL, change->kind == PAI_CHANGE_ADDED);
  assert_int_equal(new_value == NULL, change->kind == PAI_CHANGE_REMOVED);
  pai__buf_printf(
    b, "%c %s%s%s%s%s\n", "?+-=^"[change->kind], change -> pointer,
    old_value != NULL ? " " : "", old_value != NULL ? old_value : "",
    new_value != NULL ? " " : "", new_value != NULL ? new_value : "");
  return PAI_OK;
}

static void differ(const char *old_text, const char *new_text,
                   const char *want)
{
  pai_spec *a = parse(old_text, NULL), *b = parse(new_text, NULL);
  int lines = 0, count;
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  count = pai_spec_diff(a, b, show, &out, NULL);
  if (strcmp(pai__buf_text(&out), want) != 0)
    fail_msg("%s\n%s\ndiffer by\n%snot by\n%s", old_text, new_text,
             pai__buf_text(&out), want);
  for (const char *p = want; *p != '\0'; p++)
    lines += *p == '\n';
  assert_int_equal(count, lines);
  pai__buf_dispose(&out);
  pai_spec_unref(a);
  pai_spec_unref(b);
}

/* --- one field ------------------------------------------------------------- */

static const char *job(char out[2048], const char *root, const char *role,
                       const char *sizes)
{
  (void)snprintf(out, 2048,
                 "{protocolVersion: 2, name: n, type: job, prerequisites: "
                 "[{name: i, type: dockerimage, uri: u}], %s taskRoles: {w: "
                 "{dockerImage: i, commands: [x], %s resourcePerInstance: "
                 "{cpu: 1, memoryMB: 64, gpu: 0%s}}}}",
                 root, role, sizes);
  return out;
}

enum place { ROOT, ROLE, SIZES };

static const struct {
  enum place place;
  const char *a, *b, *want;
} fields[] = {
  /* what means the same */
  { ROOT, "", "jobRetryCount: 0,", "" },
  { ROOT, "version: 2,", "version: 2.0,", "" },
  { ROOT, "version: 2, description: d,", "description: d, version: 2,", "" },
  { ROOT, "", "parameters: {}, secrets: {}, defaults: {}, extras: {},", "" },
  { ROOT, "", "defaults: {virtualCluster: default},", "" },
  { ROOT, "defaults: {virtualCluster: null},", "", "" },
  { ROOT, "", "extras: {gangAllocation: true},", "" },
  { ROOT, "extras: {gangAllocation: 0},", "", "" },
  { ROOT, "parameters: {a: {x: 1, y: [1, {p: 1, q: 2}]}},",
    "parameters: {a: {y: [1.0, {q: 2, p: 1}], x: 1}},", "" },
  { ROOT, "parameters: {a: .nan},", "parameters: {a: -.inf},",
    "= /parameters/a \".nan\" \"-.inf\"\n" },
  { ROOT, "parameters: {a: .nan, b: -0.0},", "parameters: {a: .NaN, b: 0},",
    "" },
  { ROOT, "parameters: {a: 2020-01-01},", "parameters: {a: 2020-01-01},", "" },
  { ROLE, "", "instances: 1,", "" },
  { ROLE, "", "protocolVersion: '2', taskRetryCount: 0,", "" },
  { ROLE, "", "completion: {},", "" },
  { ROLE, "completion: {minFailedInstances: null},",
    "completion: {minFailedInstances: 0, minSucceededInstances: 0},", "" },
  { ROLE, "instances: 4,",
    "instances: 4, completion: {minFailedInstances: 1, "
    "minSucceededInstances: 4},",
    "" },
  { ROLE, "", "prerequisites: [],", "" },
  { ROLE, "", "extraContainerOptions: {},", "" },
  { ROLE, "extraContainerOptions: {shmMB: 512, infiniband: false},",
    "extraContainerOptions: {shmMB: 0, infiniband: null},", "" },
  { ROLE, "extraContainerOptions: {infiniband: true},",
    "extraContainerOptions: {infiniband: 1},", "" },
  { ROLE, "extraContainerOptions: {infiniband: ''},", "", "" },
  { SIZES, "", ", ports: {ssh: 1, http: 1}", "" },
  { SIZES, ", ports: {a: 1, b: 2}", ", ports: {b: 2, a: 1}", "" },
  /* what does not */
  { ROOT, "", "jobRetryCount: 2,", "+ /jobRetryCount 2\n" },
  { ROOT, "jobRetryCount: 1,", "jobRetryCount: 2.0,",
    "= /jobRetryCount 1 2\n" },
  { ROOT, "description: d,", "", "- /description \"d\"\n" },
  { ROOT, "version: 2,", "version: '2',", "= /version 2 \"2\"\n" },
  { ROOT, "", "parameters: {a: 1, \"b/~\": {c: [null]}},",
    "+ /parameters/a 1\n+ /parameters/b~1~0 {\"c\":[null]}\n" },
  { ROOT, "parameters: {a: 1, b: 2},", "parameters: {b: 3},",
    "- /parameters/a 1\n= /parameters/b 2 3\n" },
  { ROOT, "parameters: {a: {}},", "parameters: {},", "- /parameters/a {}\n" },
  { ROOT, "parameters: {a: [1]},", "parameters: {a: {b: 1}},",
    "= /parameters/a [1] {\"b\":1}\n" },
  { ROOT, "parameters: {a: 2020-01-01},", "parameters: {a: 2020-01-02},",
    "= /parameters/a \"2020-01-01\" \"2020-01-02\"\n" },
  { ROOT, "defaults: {virtualCluster: a},", "",
    "- /defaults/virtualCluster \"a\"\n" },
  { ROOT, "extras: {gangAllocation: false},", "",
    "- /extras/gangAllocation false\n" },
  { ROOT, "extras: {gangAllocation: false},",
    "extras: {gangAllocation: true},",
    "= /extras/gangAllocation false true\n" },
  { ROOT, "", "extras: {storages: []},", "+ /extras/storages []\n" },
  { ROLE, "", "instances: 2,", "+ /taskRoles/w/instances 2\n" },
  { ROLE, "instances: 4,",
    "instances: 2, completion: {minSucceededInstances: 2},",
    "= /taskRoles/w/instances 4 2\n"
    "+ /taskRoles/w/completion/minSucceededInstances 2\n" },
  { ROLE, "completion: {minFailedInstances: -1},", "",
    "- /taskRoles/w/completion/minFailedInstances -1\n" },
  { ROLE, "extraContainerOptions: {shmMB: 64, infiniband: yes},", "",
    "- /taskRoles/w/extraContainerOptions/shmMB 64\n"
    "- /taskRoles/w/extraContainerOptions/infiniband \"yes\"\n" },
  { SIZES, "", ", ports: {a: 1}",
    "+ /taskRoles/w/resourcePerInstance/ports/a 1\n" },
  { SIZES, ", ports: {ssh: 2}", "",
    "- /taskRoles/w/resourcePerInstance/ports/ssh 2\n" },
  /* lists of anything */
  { ROOT, "parameters: {a: [1, 2, 3]},", "parameters: {a: [1, 3]},",
    "- /parameters/a/1 2\n" },
  { ROOT, "parameters: {a: [1, 3]},", "parameters: {a: [0, 1, 2.5, 3, 4]},",
    "+ /parameters/a/0 0\n+ /parameters/a/2 2.5\n+ /parameters/a/4 4\n" },
  { ROOT, "parameters: {a: [{x: 1, y: 2}]},",
    "parameters: {a: [{x: 3, y: 2}]},", "= /parameters/a/0/x 1 3\n" },
  { ROOT, "parameters: {a: [x, 0]},", "parameters: {a: [-0.0, y]},",
    "- /parameters/a/0 \"x\"\n+ /parameters/a/1 \"y\"\n" },
  { ROOT, "parameters: {a: [x, {p: 1, q: 2}]},",
    "parameters: {a: [{q: 2, p: 1}]},", "- /parameters/a/0 \"x\"\n" },
  { ROOT, "parameters: {a: [a, b, c, d]},", "parameters: {a: [c, d, a, b]},",
    "- /parameters/a/0 \"a\"\n- /parameters/a/1 \"b\"\n"
    "+ /parameters/a/2 \"a\"\n+ /parameters/a/3 \"b\"\n" },
};

static void fields_go_by_what_they_mean(void **state)
{
  char a[2048], b[2048];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    bool root = fields[i].place == ROOT, role = fields[i].place == ROLE;
    bool sizes = fields[i].place == SIZES;

    differ(job(a, root ? fields[i].a : "", role ? fields[i].a : "",
               sizes ? fields[i].a : ""),
           job(b, root ? fields[i].b : "", role ? fields[i].b : "",
               sizes ? fields[i].b : ""),
           fields[i].want);
  }
}

/* --- things with names ----------------------------------------------------- */

#define HEAD "{protocolVersion: 2, name: n, type: job, "
#define SIZE "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}"
#define W "taskRoles: {w: {dockerImage: i, commands: [x], " SIZE "}}"
#define IMAGE "{name: i, type: dockerimage, uri: u}"

static void prerequisites_go_by_type_and_name(void **state)
{
  (void)state;
  differ(HEAD "prerequisites: [" IMAGE ", {name: d, type: data, uri: [a, b]}, "
              "{name: gone, type: script, plugin: p}], " W "}",
         HEAD "prerequisites: [{name: d, type: data, protocolVersion: 2, uri: "
              "[a, c]}, {name: i, type: script}, " IMAGE "], " W "}",
         "- /prerequisites/2 "
         "{\"name\":\"gone\",\"type\":\"script\",\"plugin\":\"p\"}\n"
         "= /prerequisites/0/uri/1 \"b\" \"c\"\n"
         "+ /prerequisites/1 {\"name\":\"i\",\"type\":\"script\"}\n");
}

static void deployments_go_by_name(void **state)
{
  (void)state;
  differ(HEAD "prerequisites: [" IMAGE "], " W ", deployments: [{name: a, "
              "taskRoles: {w: {preCommands: [x]}}}, {name: b, taskRoles: {w: "
              "{}}}]}",
         HEAD "prerequisites: [" IMAGE "], " W ", deployments: [{name: b, "
              "taskRoles: {w: {}, v: {}}}, {name: a, taskRoles: {w: "
              "{preCommands: [y]}}}]}",
         "= /deployments/1/taskRoles/w/preCommands/0 \"x\" \"y\"\n");
}

static char *roles(char out[2048], const char *names)
{
  size_t len = (size_t)snprintf(
    out, 2048, HEAD "prerequisites: [" IMAGE "], taskRoles: {");

  for (; *names != '\0'; names++)
    len += (size_t)snprintf(out + len, 2048 - len,
                            "%c: {dockerImage: i, commands: [x], " SIZE "},",
                            *names);
  (void)snprintf(out + len, 2048 - len, "}}");
  return out;
}

static void roles_can_move(void **state)
{
  char a[2048], b[2048];

  (void)state;
  differ(roles(a, "abcd"), roles(b, "abcd"), "");
  differ(roles(a, "abcd"), roles(b, "bcda"), "^ /taskRoles/a 0 3\n");
  differ(roles(a, "abcd"), roles(b, "dabc"), "^ /taskRoles/d 3 0\n");
  differ(roles(a, "ab"), roles(b, "ba"), "^ /taskRoles/a 0 1\n");
  differ(roles(a, "abcde"), roles(b, "aedcb"),
         "^ /taskRoles/b 1 4\n^ /taskRoles/c 2 3\n^ /taskRoles/d 3 2\n");
  differ(roles(a, "abc"), roles(b, "xbc"),
         "- /taskRoles/a {\"dockerImage\":\"i\",\"commands\":[\"x\"],"
         "\"resourcePerInstance\":{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}}\n"
         "+ /taskRoles/x {\"dockerImage\":\"i\",\"commands\":[\"x\"],"
         "\"resourcePerInstance\":{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}}\n");
}

static void aliases_and_merges_make_no_difference(void **state)
{
  (void)state;
  differ(HEAD "prerequisites: [" IMAGE "], taskRoles: {a: &a {dockerImage: i, "
              "commands: [x], " SIZE "}, b: *a, c: {<<: *a, instances: 2}}}",
         HEAD "prerequisites: [" IMAGE "], taskRoles: {c: {dockerImage: i, "
              "commands: [x], " SIZE ", instances: 2}, a: {dockerImage: i, "
              "commands: [x], " SIZE
              "}, b: {dockerImage: i, commands: [y], " SIZE "}}}",
         "= /taskRoles/b/commands/0 \"x\" \"y\"\n^ /taskRoles/c 2 0\n");
}

/* --- commands -------------------------------------------------------------- */

static char *commands(char out[2048], const char *list)
{
  (void)snprintf(out, 2048,
                 HEAD "prerequisites: [" IMAGE "], taskRoles: {w: "
                      "{dockerImage: i, commands: [%s], " SIZE "}}}",
                 list);
  return out;
}

static const struct {
  const char *a, *b, *want;
} scripts[] = {
  { "a, b", "\"a\\nb\"", "" },
  { "\" a  \", \"b\\n\"", "\"a\\nb \"", "" },
  { "a, b, c", "a, c", "- /taskRoles/w/commands/1 \"b\"\n" },
  { "a, c", "a, \"b\\nc\"", "+ /taskRoles/w/commands/1 \"b\"\n" },
  { "\"a\\nb\\nc\", d", "\"a\\nB\\nc\", d",
    "= /taskRoles/w/commands/0 \"b\" \"B\"\n" },
  { "a, b, c, d, e", "x, a, c, d, y, z",
    "+ /taskRoles/w/commands/0 \"x\"\n- /taskRoles/w/commands/1 \"b\"\n"
    "= /taskRoles/w/commands/4 \"e\" \"y\"\n"
    "+ /taskRoles/w/commands/5 \"z\"\n" },
  { "a", "''", "= /taskRoles/w/commands/0 \"a\" \"\"\n" },
};

static void commands_go_by_lines(void **state)
{
  char a[2048], b[2048];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(scripts); i++)
    differ(commands(a, scripts[i].a), commands(b, scripts[i].b),
           scripts[i].want);
}

/* --- secrets --------------------------------------------------------------- */

#define SECRET(value, auth)                                                  \
  HEAD "secrets: " value                                                     \
       ", prerequisites: [{name: i, type: dockerimage, uri: u" auth "}], " W \
       "}"

static void secrets_are_not_shown(void **state)
{
  (void)state;
  differ(SECRET("{a: one}", ""), SECRET("{a: one}", ""), "");
  differ(SECRET("{a: one}", ""), SECRET("{a: two}", ""),
         "= /secrets \"******\" \"******\"\n");
  differ(SECRET("{a: one}", ""), SECRET("{}", ""),
         "= /secrets \"******\" \"******\"\n");
  differ(HEAD "prerequisites: [" IMAGE "], " W "}", SECRET("{a: one}", ""),
         "+ /secrets \"******\"\n");
  differ(SECRET("{}", ", auth: {username: a, password: b}"),
         SECRET("{}", ", auth: {username: a, password: c, registryuri: "
                      "'https://index.docker.io/v1/'}"),
         "= /prerequisites/0/auth/password \"******\" \"******\"\n");
  differ(SECRET("{}", ", auth: {password: '<% $secrets.a %>'}"),
         SECRET("{}", ", auth: {password: 'x<% $secrets.a %>', username: ''}"),
         "= /prerequisites/0/auth/password \"<% $secrets.a %>\" "
         "\"******\"\n");
  differ(SECRET("{}", ""),
         SECRET("{}", ", auth: {password: one, x: '<% $secrets.a %>', y: "
                      "'<% a %> two %>', z: '<% a %>b'}"),
         "+ /prerequisites/0/auth "
         "{\"password\":\"******\",\"x\":\"<% $secrets.a %>\",\"y\":"
         "\"******\",\"z\":\"******\"}\n");
  differ(HEAD "prerequisites: [" IMAGE "], " W "}",
         HEAD "prerequisites: [" IMAGE ", {name: j, type: dockerimage, uri: "
              "u, auth: {password: one}}, {name: s, type: script, auth: two, "
              "x: {auth: [3]}}], " W "}",
         "+ /prerequisites/1 {\"name\":\"j\",\"type\":\"dockerimage\","
         "\"uri\":\"u\",\"auth\":{\"password\":\"******\"}}\n"
         "+ /prerequisites/2 {\"name\":\"s\",\"type\":\"script\","
         "\"auth\":\"******\",\"x\":{\"auth\":[3]}}\n");
}

static void accounts_are_not_shown_wherever(void **state)
{
  (void)state;
  differ(HEAD "prerequisites: [" IMAGE ", {name: s, type: script, auth: {x: "
              "{y: one}, z: [two, {w: three}]}}], " W "}",
         HEAD "prerequisites: [" IMAGE ", {name: s, type: script, auth: {x: "
              "{y: ONE}, z: [TWO, {w: THREE}]}}], " W "}",
         "= /prerequisites/1/auth/x/y \"******\" \"******\"\n"
         "= /prerequisites/1/auth/z/0 \"******\" \"******\"\n"
         "= /prerequisites/1/auth/z/1/w \"******\" \"******\"\n");
  differ(HEAD "prerequisites: [" IMAGE ", {name: s, type: script, auth: "
              "[one, two]}], " W "}",
         HEAD "prerequisites: [" IMAGE ", {name: s, type: script, auth: "
              "[one, TWO]}], " W "}",
         "= /prerequisites/1/auth/1 \"******\" \"******\"\n");
}

static void nor_where_aliases_lead(void **state)
{
  (void)state;
  differ(HEAD "parameters: {p: &s one}, secrets: {a: *s}, prerequisites: "
              "[" IMAGE "], " W "}",
         HEAD "parameters: {p: &s two}, secrets: {a: *s}, prerequisites: "
              "[" IMAGE "], " W "}",
         "= /parameters/p \"******\" \"******\"\n"
         "= /secrets \"******\" \"******\"\n");
  differ(HEAD "secrets: {a: &s one, b: &t two}, prerequisites: [" IMAGE
              "], taskRoles: {w: {dockerImage: i, " SIZE
              ", commands: [a, *s, c]}}}",
         HEAD "secrets: {a: &s one, b: &t two}, prerequisites: [" IMAGE
              "], taskRoles: {w: {dockerImage: i, " SIZE
              ", commands: [a, *t, c]}}}",
         "= /taskRoles/w/commands/1 \"******\" \"******\"\n");
}

/* --- long lists ------------------------------------------------------------ */

static pai_spec *long_job(size_t n, size_t skip, const char *first)
{
  pai_spec *spec;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_printf(&b,
                  HEAD "prerequisites: [" IMAGE "], taskRoles: {w: "
                       "{dockerImage: i, " SIZE ", commands: [%s",
                  first);
  for (size_t i = 0; i < n; i++)
    if (i != skip)
      pai__buf_printf(&b, ", c%zu", i % 1000);
  pai__buf_str(&b, ", last]}}}");
  spec = parse(pai__buf_text(&b), NULL);
  pai__buf_dispose(&b);
  return spec;
}

static int count_only(void *user_data, const pai_spec_change *change)
{
  int *kinds = user_data;

  kinds[change->kind]++;
  return 0;
}

static void long_lists_are_no_trouble(void **state)
{
  pai_spec *a = long_job(100000, SIZE_MAX, "a");
  pai_spec *b = long_job(100000, 50000, "a"), *c = long_job(99990, 1, "b");
  int kinds[5] = { 0 };

  (void)state;
  assert_int_equal(pai_spec_diff(a, b, count_only, kinds, NULL), 1);
  assert_int_equal(kinds[PAI_CHANGE_REMOVED], 1);
  /* Too far apart for the table: line against line. */
  assert_true(pai_spec_diff(a, c, count_only, kinds, NULL) > 1000);
  pai_spec_unref(a);
  pai_spec_unref(b);
  pai_spec_unref(c);
}

static void many_tables_have_one_budget(void **state)
{
  size_t budget = 5;
  pai__pieces a = { .alloc = &pai__libc_alloc }, b = a;
  const char *words = "abxcdxcda";

  (void)state;
  for (size_t i = 0; i < 4; i++) {
    pai__piece x = { .s = words + i, .len = 1 };
    pai__piece y = { .s = words + 1 + i, .len = 1 };
    assert_int_equal(pai__pieces_add(&a, x), PAI_OK);
    assert_int_equal(pai__pieces_add(&b, y), PAI_OK);
  }
  assert_int_equal(pai__pieces_match(&a, &b, &budget), PAI_OK);
  assert_int_equal(budget, 5);
  assert_int_equal(a.list[1].mate, 0);
  budget = 17;
  assert_int_equal(pai__pieces_match(&a, &b, &budget), PAI_OK);
  assert_int_equal(budget, 1);
  assert_int_equal(a.list[0].mate, 0);
  assert_int_equal(a.list[1].mate, 1);
  assert_int_equal(a.list[3].mate, 3);
  assert_int_equal(b.list[3].mate, 0);
  /* Of a table alone, too. */
  for (size_t i = 0; i < 1100; i++) {
    pai__piece x = { .s = "x", .len = 1 }, y = { .s = "y", .len = 1 };
    assert_int_equal(pai__pieces_add(&a, x), PAI_OK);
    assert_int_equal(pai__pieces_add(&b, y), PAI_OK);
  }
  budget = SIZE_MAX;
  assert_int_equal(pai__pieces_match(&a, &b, &budget), PAI_OK);
  assert_true(budget == SIZE_MAX);
  pai__pieces_dispose(&a);
  pai__pieces_dispose(&b);
}

/* --- real files ------------------------------------------------------------ */

static pai_spec *last;
static bool skipped;

static void check_row(const pai__tree *row)
{
  const char *text = test_row_text(row, "text", NULL);
  int kinds[5] = { 0 }, forth, back;
  pai_spec *a, *b;

  if (pai_spec_parse(&a, text, strlen(text), NULL, NULL) < 0)
    return;
  b = parse(text, NULL);
  if (pai_spec_diff(a, b, count_only, kinds, NULL) != 0)
    fail_msg("%s differs from itself", test_row_text(row, "id", NULL));
  if (last != NULL) {
    forth = pai_spec_diff(last, a, count_only, kinds, NULL);
    back = pai_spec_diff(a, last, count_only, kinds, NULL);
    assert_true((forth == 0) == (back == 0) && forth >= 0);
  }
  pai_spec_unref(last);
  last = a;
  pai_spec_unref(b);
}

static void real_files_do_not_differ_from_themselves(void **state)
{
  (void)state;
  skipped = test_each_row("v2-cases.jsonl", check_row) < 0;
  assert_true(skipped || last != NULL);
  pai_spec_unref(last);
}

/* --- failures -------------------------------------------------------------- */

static int refuse(void *user_data, const pai_spec_change *change)
{
  int *calls = user_data;

  (void)change;
  return ++*calls == 2 ? PAI_EUSER : 1;
}

static void failures_are_told(void **state)
{
  char x[2048], y[2048];
  pai_spec *a = parse(commands(x, "a, b, c"), NULL);
  pai_spec *b = parse(commands(y, "d, e, f"), NULL);
  pai_error *err;
  int calls = 0;

  (void)state;
  assert_int_equal(pai_spec_diff(a, b, refuse, &calls, &err), PAI_EUSER);
  test_expect_error(err, PAI_EUSER, "difference");
  assert_int_equal(calls, 2);
  assert_int_equal(pai_spec_diff(NULL, b, refuse, &calls, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without a");
  assert_int_equal(pai_spec_diff(a, NULL, refuse, &calls, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without b");
  assert_int_equal(pai_spec_diff(a, b, NULL, &calls, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without cb");
  pai_spec_unref(a);
  pai_spec_unref(b);
}

static int diff_two(const pai_alloc *alloc, void *user_data)
{
  static const char a[] = HEAD
    "prerequisites: [" IMAGE "], parameters: {a: [1, 2]}, taskRoles: {v: "
    "{dockerImage: i, commands: [a, b, c], " SIZE "}, w: {dockerImage: i, "
    "commands: [x], " SIZE "}}}";
  static const char b[] =
    HEAD "prerequisites: [" IMAGE "], secrets: {a: 1}, taskRoles: {w: "
         "{dockerImage: i, commands: [x], " SIZE "}, v: {dockerImage: i, "
         "commands: [b, c, d], " SIZE "}}}";
  pai_spec *old_spec = parse(a, alloc), *new_spec = NULL;
  pai_error *err = NULL;
  int rc = PAI_ENOMEM, kinds[5] = { 0 };

  (void)user_data;
  if (old_spec != NULL)
    new_spec = parse(b, alloc);
  if (new_spec != NULL) {
    rc = pai_spec_diff(old_spec, new_spec, count_only, kinds, &err);
    if (rc < 0) {
      test_expect_error(err, PAI_ENOMEM, "memory");
    } else {
      assert_int_equal(rc, 5);
      assert_int_equal(kinds[PAI_CHANGE_MOVED], 1);
      rc = PAI_OK;
    }
  }
  pai_spec_unref(old_spec);
  pai_spec_unref(new_spec);
  return rc;
}

static void memory_may_run_out(void **state)
{
  (void)state;
  test_faults(diff_two, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_go_by_what_they_mean),
    cmocka_unit_test(prerequisites_go_by_type_and_name),
    cmocka_unit_test(deployments_go_by_name),
    cmocka_unit_test(roles_can_move),
    cmocka_unit_test(aliases_and_merges_make_no_difference),
    cmocka_unit_test(commands_go_by_lines),
    cmocka_unit_test(secrets_are_not_shown),
    cmocka_unit_test(accounts_are_not_shown_wherever),
    cmocka_unit_test(nor_where_aliases_lead),
    cmocka_unit_test(long_lists_are_no_trouble),
    cmocka_unit_test(many_tables_have_one_budget),
    cmocka_unit_test(real_files_do_not_differ_from_themselves),
    cmocka_unit_test(failures_are_told),
    cmocka_unit_test(memory_may_run_out),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
