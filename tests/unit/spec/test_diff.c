/* What differs between two specs, by what they mean. */
#include "cases.h"
#include "rows.h"
#include "spec/found.h"

#include "base/buf.h"
#include "spec/diff/diff.h"

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

/* --- two jobs --------------------------------------------------------------- */

#define HEAD "{protocolVersion: 2, name: n, type: job, "
#define SIZE "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}"
#define ROLE "{dockerImage: i, commands: [x], " SIZE "}"
#define W "taskRoles: {w: " ROLE "}"
#define IMAGE "{name: i, type: dockerimage, uri: u}"

/* What may be in a job, at the $: fields of its root, of its role, or of the
 * sizes of that; prerequisites after the image, fields of the image; commands;
 * or all but the head. */
enum place { ROOT, OF_ROLE, SIZES, MORE, OF_IMAGE, COMMANDS, ALL };

static const char *const jobs[] = {
  [ROOT] = HEAD "prerequisites: [" IMAGE "], $ " W "}",
  [OF_ROLE] =
    HEAD "prerequisites: [" IMAGE "], taskRoles: {w: {$ dockerImage: "
         "i, commands: [x], " SIZE "}}}",
  [SIZES] = HEAD "prerequisites: [" IMAGE "], taskRoles: {w: {dockerImage: i, "
                 "commands: [x], resourcePerInstance: {cpu: 1, memoryMB: 64, "
                 "gpu: 0$}}}}",
  [MORE] = HEAD "prerequisites: [" IMAGE "$], " W "}",
  [OF_IMAGE] =
    HEAD "secrets: {}, prerequisites: [{name: i, type: dockerimage, "
         "uri: u$}], " W "}",
  [COMMANDS] = HEAD "prerequisites: [" IMAGE "], taskRoles: {w: {dockerImage: "
                    "i, commands: [$], " SIZE "}}}",
  [ALL] = HEAD "$}",
};

static pai_spec *job(enum place place, const char *what)
{
  const char *at = strchr(jobs[place], '$');
  pai_spec *spec;
  pai__buf text = test_buf();

  pai__buf_add(&text, jobs[place], (size_t)(at - jobs[place]));
  pai__buf_str(&text, what);
  pai__buf_str(&text, at + 1);
  spec = test_spec(pai__buf_text(&text), NULL);
  pai__buf_dispose(&text);
  return spec;
}

typedef struct difference {
  enum place place;
  const char *a, *b, *want;
} difference;

static void check_difference(const difference *d)
{
  pai_spec *a = job(d->place, d->a), *b = job(d->place, d->b);
  int lines = 0, count;
  pai__buf out = test_buf();

  count = pai_spec_diff(a, b, show, &out, NULL);
  if (strcmp(pai__buf_text(&out), d->want) != 0)
    fail_msg("%s\n%s\ndiffer by\n%snot by\n%s", d->a, d->b,
             pai__buf_text(&out), d->want);
  for (const char *p = d->want; *p != '\0'; p++)
    lines += *p == '\n';
  assert_int_equal(count, lines);
  pai__buf_dispose(&out);
  pai_spec_unref(a);
  pai_spec_unref(b);
}

#define IMAGES "prerequisites: [" IMAGE "], "
#define ROLES_OF(a, b, c, d)                                                 \
  IMAGES "taskRoles: {" a ": " ROLE ", " b ": " ROLE ", " c ": " ROLE ", " d \
         ": " ROLE "}"

static const difference differences[] = {
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
  { OF_ROLE, "", "instances: 1,", "" },
  { OF_ROLE, "", "protocolVersion: '2', taskRetryCount: 0,", "" },
  { OF_ROLE, "", "completion: {},", "" },
  { OF_ROLE, "completion: {minFailedInstances: null},",
    "completion: {minFailedInstances: 0, minSucceededInstances: 0},", "" },
  { OF_ROLE, "instances: 4,",
    "instances: 4, completion: {minFailedInstances: 1, "
    "minSucceededInstances: 4},",
    "" },
  { OF_ROLE, "", "prerequisites: [],", "" },
  { OF_ROLE, "", "extraContainerOptions: {},", "" },
  { OF_ROLE, "extraContainerOptions: {shmMB: 512, infiniband: false},",
    "extraContainerOptions: {shmMB: 0, infiniband: null},", "" },
  { OF_ROLE, "extraContainerOptions: {infiniband: true},",
    "extraContainerOptions: {infiniband: 1},", "" },
  { OF_ROLE, "extraContainerOptions: {infiniband: ''},", "", "" },
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
  { OF_ROLE, "", "instances: 2,", "+ /taskRoles/w/instances 2\n" },
  { OF_ROLE, "instances: 4,",
    "instances: 2, completion: {minSucceededInstances: 2},",
    "= /taskRoles/w/instances 4 2\n"
    "+ /taskRoles/w/completion/minSucceededInstances 2\n" },
  { OF_ROLE, "completion: {minFailedInstances: -1},", "",
    "- /taskRoles/w/completion/minFailedInstances -1\n" },
  { OF_ROLE, "extraContainerOptions: {shmMB: 64, infiniband: yes},", "",
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
  /* prerequisites by type and name */
  { ALL,
    "prerequisites: [" IMAGE ", {name: d, type: data, uri: [a, b]}, {name: "
    "gone, type: script, plugin: p}], " W,
    "prerequisites: [{name: d, type: data, protocolVersion: 2, uri: [a, c]}, "
    "{name: i, type: script}, " IMAGE "], " W,
    "- /prerequisites/2 "
    "{\"name\":\"gone\",\"type\":\"script\",\"plugin\":\"p\"}\n"
    "= /prerequisites/0/uri/1 \"b\" \"c\"\n"
    "+ /prerequisites/1 {\"name\":\"i\",\"type\":\"script\"}\n" },
  /* deployments by name */
  { ROOT,
    "deployments: [{name: a, taskRoles: {w: {preCommands: [x]}}}, {name: b, "
    "taskRoles: {w: {}}}],",
    "deployments: [{name: b, taskRoles: {w: {}, v: {}}}, {name: a, taskRoles: "
    "{w: {preCommands: [y]}}}],",
    "= /deployments/1/taskRoles/w/preCommands/0 \"x\" \"y\"\n" },
  /* task roles can move */
  { ALL, ROLES_OF("a", "b", "c", "d"), ROLES_OF("a", "b", "c", "d"), "" },
  { ALL, ROLES_OF("a", "b", "c", "d"), ROLES_OF("b", "c", "d", "a"),
    "^ /taskRoles/a 0 3\n" },
  { ALL, ROLES_OF("a", "b", "c", "d"), ROLES_OF("d", "a", "b", "c"),
    "^ /taskRoles/d 3 0\n" },
  { ALL, ROLES_OF("a", "b", "c", "d"), ROLES_OF("a", "d", "c", "b"),
    "^ /taskRoles/b 1 3\n^ /taskRoles/c 2 2\n" },
  { ALL, ROLES_OF("a", "b", "c", "d"), ROLES_OF("x", "b", "c", "d"),
    "- /taskRoles/a {\"dockerImage\":\"i\",\"commands\":[\"x\"],"
    "\"resourcePerInstance\":{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}}\n"
    "+ /taskRoles/x {\"dockerImage\":\"i\",\"commands\":[\"x\"],"
    "\"resourcePerInstance\":{\"cpu\":1,\"memoryMB\":1,\"gpu\":0}}\n" },
  /* aliases and merge keys make no difference */
  { ALL,
    IMAGES "taskRoles: {a: &a " ROLE ", b: *a, c: {<<: *a, instances: 2}}",
    IMAGES "taskRoles: {c: {dockerImage: i, commands: [x], " SIZE
           ", instances: 2}, a: " ROLE
           ", b: {dockerImage: i, commands: [y], " SIZE "}}",
    "= /taskRoles/b/commands/0 \"x\" \"y\"\n^ /taskRoles/c 2 0\n" },
  /* commands by lines */
  { COMMANDS, "a, b", "\"a\\nb\"", "" },
  { COMMANDS, "\" a  \", \"b\\n\"", "\"a\\nb \"", "" },
  { COMMANDS, "a, b, c", "a, c", "- /taskRoles/w/commands/1 \"b\"\n" },
  { COMMANDS, "a, c", "a, \"b\\nc\"", "+ /taskRoles/w/commands/1 \"b\"\n" },
  { COMMANDS, "\"a\\nb\\nc\", d", "\"a\\nB\\nc\", d",
    "= /taskRoles/w/commands/0 \"b\" \"B\"\n" },
  { COMMANDS, "a, b, c, d, e", "x, a, c, d, y, z",
    "+ /taskRoles/w/commands/0 \"x\"\n- /taskRoles/w/commands/1 \"b\"\n"
    "= /taskRoles/w/commands/4 \"e\" \"y\"\n"
    "+ /taskRoles/w/commands/5 \"z\"\n" },
  { COMMANDS, "a", "''", "= /taskRoles/w/commands/0 \"a\" \"\"\n" },
  /* secrets are not shown */
  { ROOT, "secrets: {a: one},", "secrets: {a: one},", "" },
  { ROOT, "secrets: {a: one},", "secrets: {a: two},",
    "= /secrets \"******\" \"******\"\n" },
  { ROOT, "secrets: {a: one},", "secrets: {},",
    "= /secrets \"******\" \"******\"\n" },
  { ROOT, "", "secrets: {a: one},", "+ /secrets \"******\"\n" },
  { OF_IMAGE, ", auth: {username: a, password: b}",
    ", auth: {username: a, password: c, registryuri: "
    "'https://index.docker.io/v1/'}",
    "= /prerequisites/0/auth/password \"******\" \"******\"\n" },
  { OF_IMAGE, ", auth: {password: '<% $secrets.a %>'}",
    ", auth: {password: 'x<% $secrets.a %>', username: ''}",
    "= /prerequisites/0/auth/password \"<% $secrets.a %>\" \"******\"\n" },
  { OF_IMAGE, "",
    ", auth: {password: one, x: '<% $secrets.a %>', y: '<% a %> two %>', z: "
    "'<% a %>b'}",
    "+ /prerequisites/0/auth {\"password\":\"******\",\"x\":\"<% $secrets.a "
    "%>\",\"y\":\"******\",\"z\":\"******\"}\n" },
  { MORE, "",
    ", {name: j, type: dockerimage, uri: u, auth: {password: one}}, {name: s, "
    "type: script, auth: two, x: {auth: [3]}}",
    "+ /prerequisites/1 "
    "{\"name\":\"j\",\"type\":\"dockerimage\",\"uri\":\"u\",\"auth\":{"
    "\"password\":\"******\"}}\n"
    "+ /prerequisites/2 "
    "{\"name\":\"s\",\"type\":\"script\",\"auth\":\"******\",\"x\":{\"auth\":["
    "3]}}\n" },
  { MORE,
    ", {name: s, type: script, auth: {x: {y: one}, z: [two, {w: three}]}}",
    ", {name: s, type: script, auth: {x: {y: ONE}, z: [TWO, {w: THREE}]}}",
    "= /prerequisites/1/auth/x/y \"******\" \"******\"\n"
    "= /prerequisites/1/auth/z/0 \"******\" \"******\"\n"
    "= /prerequisites/1/auth/z/1/w \"******\" \"******\"\n" },
  { MORE, ", {name: s, type: script, auth: [one, two]}",
    ", {name: s, type: script, auth: [one, TWO]}",
    "= /prerequisites/1/auth/1 \"******\" \"******\"\n" },
  /* nor where aliases lead to them */
  { ROOT, "parameters: {p: &s one}, secrets: {a: *s},",
    "parameters: {p: &s two}, secrets: {a: *s},",
    "= /parameters/p \"******\" \"******\"\n= /secrets \"******\" "
    "\"******\"\n" },
  { ALL,
    IMAGES
    "secrets: {a: &s one, b: &t two}, taskRoles: {w: {dockerImage: i, " SIZE
    ", commands: [a, *s, c]}}",
    IMAGES
    "secrets: {a: &s one, b: &t two}, taskRoles: {w: {dockerImage: i, " SIZE
    ", commands: [a, *t, c]}}",
    "= /taskRoles/w/commands/1 \"******\" \"******\"\n" },
};

TEST(fields_go_by_what_they_mean)
{
  for (size_t i = 0; i < PAI__LEN(differences); i++)
    check_difference(&differences[i]);
}

/* --- long lists ------------------------------------------------------------ */

static pai_spec *long_job(size_t n, size_t skip, const char *first)
{
  pai_spec *spec;
  pai__buf b = test_buf();

  pai__buf_str(&b, first);
  for (size_t i = 0; i < n; i++)
    if (i != skip)
      pai__buf_printf(&b, ", c%zu", i % 1000);
  pai__buf_str(&b, ", last");
  spec = job(COMMANDS, pai__buf_text(&b));
  pai__buf_dispose(&b);
  return spec;
}

static int count_only(void *user_data, const pai_spec_change *change)
{
  int *kinds = user_data;

  kinds[change->kind]++;
  return 0;
}

TEST(long_lists_are_no_trouble)
{
  pai_spec *a = long_job(100000, SIZE_MAX, "a");
  pai_spec *b = long_job(100000, 50000, "a"), *c = long_job(99990, 1, "b");
  int kinds[5] = { 0 };

  assert_int_equal(pai_spec_diff(a, b, count_only, kinds, NULL), 1);
  assert_int_equal(kinds[PAI_CHANGE_REMOVED], 1);
  /* Too far apart for the table: line against line. */
  assert_true(pai_spec_diff(a, c, count_only, kinds, NULL) > 1000);
  pai_spec_unref(a);
  pai_spec_unref(b);
  pai_spec_unref(c);
}

TEST(many_tables_have_one_budget)
{
  size_t budget = 5;
  pai__pieces a = { .alloc = &pai__libc_alloc }, b = a;
  const char *words = "abxcdxcda";

  for (size_t i = 0; i < 4; i++) {
    pai__spec_piece x = { .s = words + i, .len = 1 };
    pai__spec_piece y = { .s = words + 1 + i, .len = 1 };
    assert_ok(pai__pieces_add(&a, x));
    assert_ok(pai__pieces_add(&b, y));
  }
  assert_ok(pai__pieces_match(&a, &b, &budget));
  assert_int_equal(budget, 5);
  assert_int_equal(a.list[1].mate, 0);
  budget = 17;
  assert_ok(pai__pieces_match(&a, &b, &budget));
  assert_int_equal(budget, 1);
  assert_int_equal(a.list[0].mate, 0);
  assert_int_equal(a.list[1].mate, 1);
  assert_int_equal(a.list[3].mate, 3);
  assert_int_equal(b.list[3].mate, 0);
  /* Of a table alone, too. */
  for (size_t i = 0; i < 1100; i++) {
    pai__spec_piece x = { .s = "x", .len = 1 }, y = { .s = "y", .len = 1 };
    assert_ok(pai__pieces_add(&a, x));
    assert_ok(pai__pieces_add(&b, y));
  }
  budget = SIZE_MAX;
  assert_ok(pai__pieces_match(&a, &b, &budget));
  assert_true(budget == SIZE_MAX);
  pai__pieces_dispose(&a);
  pai__pieces_dispose(&b);
}

/* --- real files ------------------------------------------------------------ */

static pai_spec *last;

static void check_row(const pai__tree *row)
{
  const char *text = test_row_text(row, "text", NULL);
  int kinds[5] = { 0 }, forth, back;
  pai_spec *a, *b;

  if (pai_spec_parse(&a, text, strlen(text), NULL, NULL) < 0)
    return;
  b = test_spec(text, NULL);
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

TEST(real_files_do_not_differ_from_themselves)
{
  if (test_each_row("v2-cases.jsonl", check_row) >= 0)
    assert_non_null(last);
  pai_spec_unref(last);
}

/* --- failures -------------------------------------------------------------- */

static int refuse(void *user_data, const pai_spec_change *change)
{
  int *calls = user_data;

  (void)change;
  return ++*calls == 2 ? PAI_EUSER : 1;
}

TEST(failures_are_told)
{
  pai_spec *a = job(COMMANDS, "a, b, c"), *b = job(COMMANDS, "d, e, f");
  pai_error *err;
  int calls = 0;

  assert_fails(pai_spec_diff(a, b, refuse, &calls, &err), err, PAI_EUSER,
               "difference");
  assert_int_equal(calls, 2);
  assert_fails(pai_spec_diff(NULL, b, refuse, &calls, &err), err, PAI_EINVAL,
               "without a");
  assert_fails(pai_spec_diff(a, NULL, refuse, &calls, &err), err, PAI_EINVAL,
               "without b");
  assert_fails(pai_spec_diff(a, b, NULL, &calls, &err), err, PAI_EINVAL,
               "without cb");
  pai_spec_unref(a);
  pai_spec_unref(b);
}

/* There and back: each spec's memory may be the one that is used. */
static int diff_from(const pai_spec *spec)
{
  pai_spec *other =
    job(ALL, IMAGES "taskRoles: {w: " ROLE ", v: "
                    "{dockerImage: i, commands: [b, c, d], " SIZE "}}");
  int rc = PAI_OK;

  for (int back = 0; back < 2 && rc == PAI_OK; back++) {
    pai_error *err = NULL;
    int kinds[5] = { 0 };

    rc = pai_spec_diff(back ? other : spec, back ? spec : other, count_only,
                       kinds, &err);
    if (rc < 0) {
      test_expect_error(err, PAI_ENOMEM, "memory");
    } else {
      assert_int_equal(rc, 5);
      assert_int_equal(kinds[PAI_CHANGE_MOVED], 1);
      rc = PAI_OK;
    }
  }
  pai_spec_unref(other);
  return rc;
}

TEST(memory_may_run_out)
{
  test_spec_faults(HEAD IMAGES "parameters: {a: [1, 2]}, secrets: {a: 1}, "
                               "taskRoles: {v: {dockerImage: i, "
                               "commands: [a, b, c], " SIZE "}, w: " ROLE "}}",
                   diff_from);
}
