/*
 * Fixes: each kind, applied alone, takes its finding away and does no harm; the
 * same for files that people wrote, with slips made by a seed.
 */
#include "rows.h"
#include "spec/found.h"

#include "base/buf.h"
#include "base/prng.h"

#include <stdio.h>

/* --- applying one ---------------------------------------------------------- */

typedef struct applied {
  const pai_fix *fix; /* NULL: the sure ones */
  pai__buf text;
} applied;

static int choose(void *user_data, const pai_diagnostic *d, const pai_fix *fix)
{
  const applied *a = user_data;

  (void)d;
  return a->fix == fix;
}

static int gather(void *user_data, const char *data, size_t len)
{
  applied *a = user_data;

  pai__buf_add(&a->text, data, len);
  return PAI_OK;
}

static pai_report *report_of(const char *text, size_t len)
{
  pai_report *report;

  assert_int_equal(pai_spec_check(&report, NULL, text, len, NULL, NULL),
                   PAI_OK);
  return report;
}

static void apply(applied *a, const pai_report *report, const char *text,
                  size_t len, int count)
{
  pai__buf_init(&a->text, &pai__libc_alloc);
  assert_int_equal(pai_report_fix(report, text, len,
                                  a->fix != NULL ? choose : NULL, gather, a,
                                  NULL),
                   count);
}

/* --- each kind ------------------------------------------------------------- */

typedef struct fixed_row {
  const char *text, *code, *title, *fixed;
  int hived, sure;
} fixed_row;

#define V1(envs)                                                      \
  "{\"jobName\": \"a\", \"image\": \"i\", \"jobEnvs\": {" envs "},\n" \
  "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}"
static const fixed_row rows[] = {
  { JOB_WITH("extrsa: {}"), "unknown-key", "write 'extras'",
    JOB_WITH("extras: {}"), 0, 1 },
  { JOB_WITH("\"extrsa\": {}"), "unknown-key", "write 'extras'",
    JOB_WITH("\"extras\": {}"), 0, 1 },
  { JOB_WITH("'extrsa': {}"), "unknown-key", "write 'extras'",
    JOB_WITH("'extras': {}"), 0, 1 },
  { "protocolVersion: 2\nname: n\ntype: jobs\n" JOB_IMAGE JOB_ROLES,
    "not-allowed", "write 'job'", JOB_HEAD JOB_IMAGE JOB_ROLES, 0, 1 },
  { "protocolVersion: 3\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "not-allowed", "write 2", JOB_HEAD JOB_IMAGE JOB_ROLES, 0, 0 },
  { "protocolVersion: '3'\nname: n\ntype: x\n" JOB_IMAGE JOB_ROLES,
    "not-allowed", "write '2'",
    "protocolVersion: '2'\nname: n\ntype: x\n" JOB_IMAGE JOB_ROLES, 0, 0 },
  { "protocolVersion: 2\nname: 12\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "wrong-type", "put it in quotes",
    "protocolVersion: 2\nname: \"12\"\ntype: job\n" JOB_IMAGE JOB_ROLES, 0,
    1 },
  { "protocolVersion: 2\nname: a b\ntype: job\n" JOB_IMAGE JOB_ROLES,
    "bad-name", "write 'a_b'",
    "protocolVersion: 2\nname: a_b\ntype: job\n" JOB_IMAGE JOB_ROLES, 0, 0 },
  { "name: n\ntype: job\n" JOB_IMAGE JOB_ROLES, "missing-key",
    "add protocolVersion: 2",
    "protocolVersion: 2\nname: n\ntype: job\n" JOB_IMAGE JOB_ROLES, 0, 1 },
  { "protocolVersion: 2\r\nname: n\r\n" JOB_IMAGE JOB_ROLES, "missing-key",
    "add type: job",
    "type: job\r\nprotocolVersion: 2\r\nname: n\r\n" JOB_IMAGE JOB_ROLES, 0,
    1 },
  { ROLE_WITH("gpu: 1  # c\n    instances: 1"), "unknown-key", NULL, NULL, 0,
    0 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    gpu: 1\n    resourcePerInstance: {cpu: "
                       "1, memoryMB: 1}\n",
    "unknown-key", "move it into resourcePerInstance",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: {gpu: 1, cpu: 1, "
                       "memoryMB: 1}\n",
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance:\n      cpu: 1\n      "
                       "memoryMB: 1\n    gpu: 1 # why \n",
    "unknown-key", "move it into resourcePerInstance",
    JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
    "[c]\n    resourcePerInstance:\n      gpu: 1 # why\n      "
    "cpu: 1\n      memoryMB: 1\n",
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: # c\n    cpu: 1\n",
    "unknown-key", "move it into resourcePerInstance",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: # c\n      cpu: 1\n",
    0, 1 },
  { JOB_WITH("jobRetryCount: '1'"), "wrong-type", "write 1",
    JOB_WITH("jobRetryCount: 1"), 0, 1 },
  { JOB_WITH("jobRetryCount: 1.5"), "wrong-type", "write 2",
    JOB_WITH("jobRetryCount: 2"), 0, 0 },
  { JOB_WITH("jobRetryCount: -1"), "too-small", "write 0",
    JOB_WITH("jobRetryCount: 0"), 0, 0 },
  { JOB_WITH("name: n"), "duplicate-key", "remove the one at line 2",
    "protocolVersion: 2\ntype: job\n" JOB_IMAGE JOB_ROLES "name: n\n", 0, 1 },
  { JOB_WITH("name: m"), "duplicate-key", "remove the one at line 2",
    "protocolVersion: 2\ntype: job\n" JOB_IMAGE JOB_ROLES "name: m\n", 0, 0 },
  { JOB_WITH("extras: {a: 1, b: 2, b: 2}"), "duplicate-key",
    "remove the one at line 6", JOB_WITH("extras: {a: 1, b: 2}"), 0, 1 },
  { JOB_WITH("extras:\n- a: 1 # c\n  a: 1\n"), "duplicate-key",
    "remove this one", JOB_WITH("extras:\n- a: 1 # c\n"), 0, 1 },
  { JOB_HEAD "prerequisites:\n  type: dockerimage\n\n  # c\n  name: x\n  uri: "
             ">\n    x\n" JOB_ROLES,
    "wrong-type", "begin it with a dash",
    JOB_HEAD "prerequisites:\n  - type: dockerimage\n\n    # c\n    name: x\n"
             "    uri: >\n      x\n" JOB_ROLES,
    0, 1 },
  { JOB_HEAD
    "prerequisites: [{name: x, type: dockerImage, uri: x}]\n" JOB_ROLES,
    "not-allowed", "write 'dockerimage'",
    JOB_HEAD
    "prerequisites: [{name: x, type: dockerimage, uri: x}]\n" JOB_ROLES,
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: echo a, 'b'\n",
    "wrong-type", "write it as a list",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: ['echo a, ''b''']\n",
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: |  # c\n      one\n      two\n",
    "wrong-type", "write it as a list",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - |  # c\n      one\n      two\n",
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - echo it's: b # c\n",
    "wrong-type", "put it in quotes",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - 'echo it''s: b' # c\n",
    0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: {cpu: 1, memoryMB: 2Gi, "
                       "gpu: 0}\n",
    "wrong-type", "write 2048",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: {cpu: 1, memoryMB: "
                       "2048, gpu: 0}\n",
    0, 1 },
  { JOB_WITH("deployments: [{name: dee, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: dea}"),
    "unknown-name", "write 'dee'",
    JOB_WITH("deployments: [{name: dee, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: dee}"),
    0, 0 },
  { ROLE_WITH("extraContainerOptions: {shmMb: 1}"), "no-effect",
    "write 'shmMB'", ROLE_WITH("extraContainerOptions: {shmMB: 1}"), 0, 1 },
  { JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: [{plugin: shh}]}"),
    "unknown-plugin", "write 'ssh'",
    JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: [{plugin: ssh}]}"), 0,
    1 },
  { ROLE_WITH("completion: {minFailedInstances: 2}"), "out-of-reach",
    "write -1", ROLE_WITH("completion: {minFailedInstances: -1}"), 0, 0 },
  { JOB_HEAD JOB_IMAGE "taskRoles: {a_b: {" ROLE_FIELDS "}}\n", "role-name",
    "write 'ab'", JOB_HEAD JOB_IMAGE "taskRoles: {ab: {" ROLE_FIELDS "}}\n", 0,
    0 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - |\n      c <% "
                       "$parameters.leraning.rate %>\nparameters: {learning: "
                       "{rate: 1}}\n",
    "unresolved", "write 'learning'",
    JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands:\n    - |\n      c <% "
                       "$parameters.learning.rate %>\nparameters: {learning: "
                       "{rate: 1}}\n",
    0, 0 },
  { JOB_WITH("parameters: {a: 1, b: 2}\n# <% $parameters.a %>"),
    "unused-parameter", "drop it",
    JOB_WITH("parameters: {b: 2}\n# <% $parameters.a %>"), 0, 0 },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {a: {skuType: s}}}}"),
    "hived-instances", "add instances: 1",
    JOB_HEAD JOB_IMAGE "taskRoles: {a: {instances: 1, " ROLE_FIELDS "}}\n"
                       "extras: {hivedScheduler: {taskRoles: {a: {skuType: "
                       "s}}}}\n",
    1, 1 },
  { V1("\"paiAzRDMA\": false, \"x\": 1"), "not-allowed", "leave it out",
    V1("\"x\": 1"), 0, 1 },
  { V1("\"x\": 1, \"isDebug\": \"y\""), "not-allowed", "leave it out",
    V1("\"x\": 1"), 0, 0 },
  { "{\"jobName\": \"a\", \"jobName\": \"b\", \"image\": \"i\",\n"
    "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    "duplicate-key", "remove the one at line 1",
    "{\"jobName\": \"b\", \"image\": \"i\",\n"
    "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    0, 1 },
  { "{\"protocolVersion\": 2, \"name\": \"n\"}", "missing-key",
    "add type: job",
    "{\"type\": \"job\", \"protocolVersion\": 2, \"name\": \"n\"}", 0, 1 },
  { "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n", "syntax",
    "indent with spaces",
    "taskRoles:\n  a:\n    x:\n      cpu: 1\n      gpu: 0\n", 0, 1 },
  { "taskRoles:\n\ta: 1\n    b:\n\t\tx: 1\n", "syntax", "indent with spaces",
    "taskRoles:\n    a: 1\n    b:\n        x: 1\n", 0, 1 },
  { "extras:\n  a:\xc2\xa0x\xc2\xa0y\n  b: 1\n", "syntax",
    "put a space in its place", "extras:\n  a: x\xc2\xa0y\n  b: 1\n", 0, 1 },
  { "extras:\n  a:\xc2\xa0"
    "2\n  b: 1\n",
    "syntax", "put a space in its place", "extras:\n  a: 2\n  b: 1\n", 0, 1 },
  { "a: \"b\nc: 1\nd: \"e\"\n", "syntax", "put a quote at the end of the line",
    "a: \"b\"\nc: 1\nd: \"e\"\n", 0, 0 },
};

static const pai_fix *find_fix(const pai_report *report, const fixed_row *r)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    for (size_t k = 0; strcmp(d->code, r->code) == 0 && k < d->fix_count; k++)
      if (strcmp(d->fixes[k]->title, r->title) == 0)
        return d->fixes[k];
  return NULL;
}

/* A file that has no fix of that code. */
static void check_none(const pai_report *report, const fixed_row *r)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    if (strcmp(d->code, r->code) == 0 && d->fix_count > 0)
      fail_msg("%s\nhas a fix \"%s\"", r->text, d->fixes[0]->title);
}

static void check_row(const fixed_row *r)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  applied a = { .fix = NULL };
  pai_report *report;

  o.hived = r->hived;
  assert_int_equal(
    pai_spec_check(&report, NULL, r->text, strlen(r->text), &o, NULL), PAI_OK);
  if (r->title == NULL) {
    check_none(report, r);
  } else {
    a.fix = find_fix(report, r);
    if (a.fix == NULL) {
      fail_msg("%s\nhas no fix \"%s\" of %s", r->text, r->title, r->code);
      return;
    }
    assert_int_equal(a.fix->sure, r->sure);
    assert_int_equal(a.fix->struct_size, sizeof(pai_fix));
    apply(&a, report, r->text, strlen(r->text), 1);
    assert_string_equal(pai__buf_text(&a.text), r->fixed);
    pai__buf_dispose(&a.text);
  }
  pai_report_free(report);
}

static void each_kind(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    check_row(&rows[i]);
}

/* Where a change would be one of other places, or a guess, there is none. */
static void some_have_none(void **state)
{
  static const char *const texts[] = {
    JOB_WITH("jobretrycount: 1\njobRetrycount: 1"), /* one of them only */
    JOB_WITH("extras: &e {minFailedInstance: 1}\ndeployments: *e"),
    JOB_HEAD JOB_IMAGE
    "extras: &e {minFailedInstance: 1}\ntaskRoles: {a: {" ROLE_FIELDS
    ", completion: *e}}\n",
    JOB_WITH("secrets: {a: 1, a: 2}\nx: 1"),
    "protocolVersion: 2\nname: n\ntyp: job\n" JOB_IMAGE JOB_ROLES,
  };
  static const size_t most[] = { 1, 0, 0, 2, 1 };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai_report *report = report_of(texts[i], strlen(texts[i]));
    const pai_diagnostic *d;
    size_t fixes = 0;

    for (size_t k = 0; (d = pai_report_get(report, k)) != NULL; k++)
      if (strcmp(d->code, "unused-parameter") != 0)
        fixes += d->fix_count;
    if (fixes != most[i])
      fail_msg("%s\nhas %zu fixes, not %zu", texts[i], fixes, most[i]);
    pai_report_free(report);
  }
}

static void calls_are_checked(void **state)
{
  pai_report *report = report_of("a: 1", 4);
  applied a = { .fix = NULL };

  (void)state;
  assert_int_equal(pai_report_fix(NULL, "", 0, NULL, gather, &a, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_report_fix(report, NULL, 0, NULL, gather, &a, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_report_fix(report, "", 0, NULL, NULL, &a, NULL),
                   PAI_EINVAL);
  pai_report_free(report);
}

/* --- files that people wrote ------------------------------------------------ */

static size_t tried, sure_ones;

static size_t count_same(const pai_report *report, const pai_diagnostic *want)
{
  const pai_diagnostic *d;
  size_t n = 0;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    n += strcmp(d->code, want->code) == 0 &&
         strcmp(d->pointer, want->pointer) == 0 &&
         strcmp(d->message, want->message) == 0;
  return n;
}

static size_t count_errors(const pai_report *report, const char *code)
{
  const pai_diagnostic *d;
  size_t n = 0;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    n += d->severity == PAI_SEVERITY_ERROR &&
         (code == NULL || strcmp(d->code, code) == 0);
  return n;
}

static void check_fix(const pai_report *report, const pai_diagnostic *d,
                      const pai_fix *fix, const char *text, size_t len)
{
  applied a = { .fix = fix };
  pai_report *after;

  apply(&a, report, text, len, 1);
  after = report_of(pai__buf_text(&a.text), a.text.len);
  if (count_same(after, d) >= count_same(report, d) ||
      count_errors(after, "syntax") > count_errors(report, "syntax") ||
      (pai_report_valid(report) && !pai_report_valid(after)))
    fail_msg("%.*s\n%u:%u: %s [%s]\nfix \"%s\" makes of it:\n%s\nand %s",
             (int)len, text, d->line, d->column, d->message, d->code,
             fix->title, pai__buf_text(&a.text),
             pai_report_count(after) > 0 ? pai_report_get(after, 0)->message
                                         : "nothing");
  tried++;
  sure_ones += fix->sure != 0;
  pai_report_free(after);
  pai__buf_dispose(&a.text);
}

/* All that is sure, again and again: that ends, and the text can be read as far
 * as before. */
static void check_sure(const char *text, size_t len)
{
  pai__buf now;
  int count = 1;

  pai__buf_init(&now, &pai__libc_alloc);
  pai__buf_add(&now, text, len);
  for (int i = 0; count > 0; i++) {
    pai_report *report = report_of(pai__buf_text(&now), now.len), *after;
    applied a = { .fix = NULL };

    assert_true(i < 30);
    pai__buf_init(&a.text, &pai__libc_alloc);
    count = pai_report_fix(report, pai__buf_text(&now), now.len, NULL, gather,
                           &a, NULL);
    assert_true(count >= 0);
    after = report_of(pai__buf_text(&a.text), a.text.len);
    if (count_errors(after, "syntax") > count_errors(report, "syntax"))
      fail_msg("%s\nbecomes:\n%s\nand %s", pai__buf_text(&now),
               pai__buf_text(&a.text), pai_report_get(after, 0)->message);
    pai__buf_dispose(&now);
    now = a.text;
    pai_report_free(after);
    pai_report_free(report);
  }
  pai__buf_dispose(&now);
}

static void check_fixes(const char *text, size_t len)
{
  pai_report *report = report_of(text, len);
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL && i < 30; i++)
    for (size_t k = 0; k < d->fix_count; k++)
      check_fix(report, d, d->fixes[k], text, len);
  pai_report_free(report);
  check_sure(text, len);
}

/* Slips as people make them, at some place of the text. */
static void slip(pai__buf *out, const char *text, size_t len,
                 pai__prng *random)
{
  size_t at = (size_t)pai__prng_below(random, len + 1);
  size_t line = at, eol = at;

  while (line > 0 && text[line - 1] != '\n')
    line--;
  while (eol < len && text[eol] != '\n')
    eol++;
  pai__buf_clear(out);
  switch (pai__prng_below(random, 6)) {
  case 0: /* a letter is missing */
    pai__buf_add(out, text, at);
    pai__buf_add(out, text + at + (at < len), len - at - (at < len));
    return;
  case 1: /* or one too many */
    pai__buf_add(out, text, at);
    pai__buf_char(out, "x: '\"-\t0[{"[pai__prng_below(random, 10)]);
    pai__buf_add(out, text + at, len - at);
    return;
  case 2: /* a line is there twice */
    pai__buf_add(out, text, eol);
    pai__buf_char(out, '\n');
    pai__buf_add(out, text + line, len - line);
    return;
  case 3: /* or not at all */
    pai__buf_add(out, text, line);
    pai__buf_add(out, text + eol, len - eol);
    return;
  case 4: /* a number is a text */
    while (at < len && !(text[at] >= '0' && text[at] <= '9'))
      at++;
    pai__buf_add(out, text, at);
    if (at < len)
      pai__buf_printf(out, "'%c'", text[at++]);
    pai__buf_add(out, text + at, len - at);
    return;
  default: /* the case is wrong */
    pai__buf_add(out, text, len);
    for (size_t i = line; i < eol && out->data[i] != ':'; i++)
      if (out->data[i] >= 'A' && out->data[i] <= 'Z')
        out->data[i] = (char)(out->data[i] + 32);
    return;
  }
}

static pai__prng seeded;

static void check_case(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  pai__buf b;

  check_fixes(text, len);
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 6; i++) {
    slip(&b, text, len, &seeded);
    check_fixes(pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
}

static void files_with_slips(void **state)
{
  (void)state;
  seeded.state = 24;
  if (test_each_row("v2-cases.jsonl", check_case) < 0)
    return; /* it says so */
  (void)test_each_row("v1-cases.jsonl", check_case);
  printf("%zu fixes, %zu of them sure\n", tried, sure_ones);
  assert_true(tried > 1000);
}

/* --- failing memory --------------------------------------------------------- */

static int body(const pai_alloc *alloc, void *user_data)
{
  const char *text = user_data;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  applied a = { .fix = NULL };
  pai_report *report;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_check(&report, NULL, text, strlen(text), &o, NULL);
  if (rc < 0)
    return rc;
  pai__buf_init(&a.text, &pai__libc_alloc);
  rc = pai_report_fix(report, text, strlen(text), NULL, gather, &a, NULL);
  if (rc >= 0)
    assert_int_not_equal(rc, 0);
  pai__buf_dispose(&a.text);
  pai_report_free(report);
  return rc < 0 ? rc : PAI_OK;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, (void *)(uintptr_t)rows[0].text);
  test_faults(
    body,
    (void *)(uintptr_t) "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n");
  test_faults(body, (void *)(uintptr_t)JOB_WITH(
                      "name: n\nextrsa: 1\nextras: {storages: [1]}"));
  test_faults(body, (void *)(uintptr_t) "prerequisites:\n  type: dat\n  x: "
                                        "1\ntaskRoles: {a b: 1, a: "
                                        "{commands: c, instances: '1'}}\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_kind),         cmocka_unit_test(some_have_none),
    cmocka_unit_test(calls_are_checked), cmocka_unit_test(files_with_slips),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
