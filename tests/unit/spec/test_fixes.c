/*
 * Fixes: each kind, applied alone, takes its finding away and does no harm; the
 * same for files that people wrote, with slips made by a seed.
 */
#include "cases.h"
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
  const char *text, *code, *title; /* title NULL: none of that code */
  const char *from, *to;           /* what is another part then */
  int hived, sure;
} fixed_row;

#define V1(envs)                                                      \
  "{\"jobName\": \"a\", \"image\": \"i\", \"jobEnvs\": {" envs "},\n" \
  "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}"
static const fixed_row rows[] = {
  { JOB_WITH("extrsa: {}"), "unknown-key", "write 'extras'", "extrsa",
    "extras", 0, 1 },
  { JOB_WITH("\"extrsa\": {}"), "unknown-key", "write 'extras'", "\"extrsa\"",
    "\"extras\"", 0, 1 },
  { JOB_WITH("'extrsa': {}"), "unknown-key", "write 'extras'", "'extrsa'",
    "'extras'", 0, 1 },
  { JOB_HEADED("2", "n", "jobs"), "not-allowed", "write 'job'", "jobs", "job",
    0, 1 },
  { JOB_HEADED("3", "n", "job"), "not-allowed", "write 2", "3", "2", 0, 0 },
  { JOB_HEADED("'3'", "n", "x"), "not-allowed", "write '2'", "'3'", "'2'", 0,
    0 },
  { JOB_HEADED("2", "12", "job"), "wrong-type", "put it in quotes", "12",
    "\"12\"", 0, 1 },
  { JOB_HEADED("2", "a b", "job"), "bad-name", "write 'a_b'", "a b", "a_b", 0,
    0 },
  { "name: n\ntype: job\n" JOB_IMAGE JOB_ROLES, "missing-key",
    "add protocolVersion: 2", "name", "protocolVersion: 2\nname", 0, 1 },
  { "protocolVersion: 2\r\nname: n\r\n" JOB_IMAGE JOB_ROLES, "missing-key",
    "add type: job", "protocolVersion", "type: job\r\nprotocolVersion", 0, 1 },
  { ROLE_WITH("gpu: 1  # c\n    instances: 1"), "unknown-key", NULL, NULL,
    NULL, 0, 0 },
  { JOB_HEAD JOB_IMAGE
    "taskRoles:\n  a:\n    dockerImage: x\n    commands: [c]\n    gpu: 1\n    "
    "resourcePerInstance: {cpu: 1, memoryMB: 1}\n",
    "unknown-key", "move it into resourcePerInstance",
    "gpu: 1\n    resourcePerInstance: {cpu",
    "resourcePerInstance: {gpu: 1, cpu", 0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance:\n      cpu: 1\n      "
                       "memoryMB: 1\n    gpu: 1 # why \n",
    "unknown-key", "move it into resourcePerInstance",
    "cpu: 1\n      memoryMB: 1\n    gpu: 1 # why ",
    "gpu: 1 # why\n      cpu: 1\n      memoryMB: 1", 0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: "
                       "[c]\n    resourcePerInstance: # c\n    cpu: 1\n",
    "unknown-key", "move it into resourcePerInstance", "cpu", "  cpu", 0, 1 },
  { JOB_WITH("jobRetryCount: '1'"), "wrong-type", "write 1", "'1'", "1", 0,
    1 },
  { JOB_WITH("jobRetryCount: 1.5"), "wrong-type", "write 2", "1.5", "2", 0,
    0 },
  { JOB_WITH("jobRetryCount: -1"), "too-small", "write 0", "-1", "0", 0, 0 },
  { JOB_WITH("name: n"), "duplicate-key", "remove the one at line 2",
    "name: n\ntype", "type", 0, 1 },
  { JOB_WITH("name: m"), "duplicate-key", "remove the one at line 2",
    "name: n\ntype", "type", 0, 0 },
  { JOB_WITH("extras: {a: 1, b: 2, b: 2}"), "duplicate-key",
    "remove the one at line 6", "2, b: 2", "2", 0, 1 },
  { JOB_WITH("extras:\n- a: 1 # c\n  a: 1\n"), "duplicate-key",
    "remove this one", "  a: 1\n", "", 0, 1 },
  { JOB_HEAD "prerequisites:\n  type: dockerimage\n\n  # c\n  name: x\n  uri: "
             ">\n    x\n" JOB_ROLES,
    "wrong-type", "begin it with a dash",
    "type: dockerimage\n\n  # c\n  name: x\n  uri: >\n",
    "- type: dockerimage\n\n    # c\n    name: x\n    uri: >\n  ", 0, 1 },
  { JOB_PREREQUISITES("{name: x, type: dockerImage, uri: x}"), "not-allowed",
    "write 'dockerimage'", "dockerImage", "dockerimage", 0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: echo a, 'b'\n",
    "wrong-type", "write a list", "echo a, 'b'", "['echo a, ''b''']", 0, 1 },
  { JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES
                       "\n    commands: |  # c\n      one\n      two\n",
    "wrong-type", "write a list", "commands:", "commands:\n    -", 0, 1 },
  { JOB_COMMANDS("    - echo it's: b # c\n"), "wrong-type", "put it in quotes",
    "echo it's: b", "'echo it''s: b'", 0, 1 },
  { JOB_SIZED("cpu: 1, memoryMB: 2Gi, gpu: 0"), "wrong-type", "write 2048",
    "2Gi", "2048", 0, 1 },
  { JOB_WITH("deployments: [{name: dee, taskRoles: {a: {}}}]\ndefaults: "
             "{deployment: dea}"),
    "unknown-name", "write 'dee'", "dea", "dee", 0, 0 },
  { ROLE_WITH("extraContainerOptions: {shmMb: 1}"), "no-effect",
    "write 'shmMB'", "shmMb", "shmMB", 0, 1 },
  { JOB_WITH("extras: {com.microsoft.pai.runtimeplugin: [{plugin: shh}]}"),
    "unknown-plugin", "write 'ssh'", "shh", "ssh", 0, 1 },
  { ROLE_WITH("completion: {minFailedInstances: 2}"), "out-of-reach",
    "write -1", "minFailedInstances: 2", "minFailedInstances: -1", 0, 0 },
  { JOB_HEAD JOB_IMAGE "taskRoles: {a_b: {" ROLE_FIELDS "}}\n", "role-name",
    "write 'ab'", "a_b", "ab", 0, 0 },
  { JOB_COMMANDS("    - |\n      c <% $parameters.leraning.rate "
                 "%>\nparameters: {learning: {rate: 1}}\n"),
    "unresolved", "write 'learning'", "parameters.leraning.rate",
    "parameters.learning.rate", 0, 0 },
  { JOB_WITH("parameters: {a: 1, b: 2}\n# <% $parameters.a %>"),
    "unused-parameter", "remove it", "a: 1, b", "b", 0, 0 },
  { JOB_WITH("extras: {hivedScheduler: {taskRoles: {a: {skuType: s}}}}"),
    "hived-instances", "add instances: 1", "dockerImage",
    "instances: 1, dockerImage", 1, 1 },
  { V1("\"paiAzRDMA\": false, \"x\": 1"), "not-allowed", "remove it",
    "\"paiAzRDMA\": false, \"x\"", "\"x\"", 0, 1 },
  { V1("\"x\": 1, \"isDebug\": \"y\""), "not-allowed", "remove it",
    "1, \"isDebug\": \"y\"", "1", 0, 0 },
  { "{\"jobName\": \"a\", \"jobName\": \"b\", \"image\": "
    "\"i\",\n\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    "duplicate-key", "remove the one at line 1", "\"a\", \"jobName\": \"b\"",
    "\"b\"", 0, 1 },
  { "{\"protocolVersion\": 2, \"name\": \"n\"}", "missing-key",
    "add type: job", "\"protocolVersion\"",
    "\"type\": \"job\", \"protocolVersion\"", 0, 1 },
  { "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n", "syntax",
    "indent with spaces", "\tcpu", "      cpu", 0, 1 },
  { "taskRoles:\n\ta: 1\n    b:\n\t\tx: 1\n", "syntax", "indent with spaces",
    "\ta: 1\n    b:\n\t\tx", "    a: 1\n    b:\n        x", 0, 1 },
  { "extras:\n  a:\xc2\xa0x\xc2\xa0y\n  b: 1\n", "syntax",
    "replace it with a space", "\u00a0x\u00a0y", " x\u00a0y", 0, 1 },
  { "extras:\n  a:\xc2\xa0"
    "2\n  b: 1\n",
    "syntax", "replace it with a space", "\u00a02", " 2", 0, 1 },
  { "a: \"b\nc: 1\nd: \"e\"\n", "syntax",
    "close the quote at the end of the line", "\"b", "\"b\"", 0, 0 },
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
  report = test_report(r->text, strlen(r->text), &o);
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
    test_replaced(pai__buf_text(&a.text), r->text, r->from, r->to);
    pai__buf_dispose(&a.text);
  }
  pai_report_free(report);
}

TEST(each_kind)
{
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    check_row(&rows[i]);
}

/* Where a change would be one of other places, or a guess, there is none. */
TEST(some_have_none)
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

  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    pai_report *report = test_report(texts[i], strlen(texts[i]), NULL);
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

TEST(calls_are_checked)
{
  pai_report *report = test_report("a: 1", 4, NULL);
  applied a = { .fix = NULL };

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
  after = test_report(pai__buf_text(&a.text), a.text.len, NULL);
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
  pai__buf now = test_buf();
  int count = 1;

  pai__buf_add(&now, text, len);
  for (int i = 0; count > 0; i++) {
    pai_report *report = test_report(pai__buf_text(&now), now.len, NULL),
               *after;
    applied a = { .fix = NULL };

    assert_true(i < 30);
    pai__buf_init(&a.text, &pai__libc_alloc);
    count = pai_report_fix(report, pai__buf_text(&now), now.len, NULL, gather,
                           &a, NULL);
    assert_true(count >= 0);
    after = test_report(pai__buf_text(&a.text), a.text.len, NULL);
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
  pai_report *report = test_report(text, len, NULL);
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL && i < 30; i++)
    for (size_t k = 0; k < d->fix_count; k++)
      check_fix(report, d, d->fixes[k], text, len);
  pai_report_free(report);
  check_sure(text, len);
}

/* Slips as people make them, at some place of the text: a part of it is left
 * out or is there twice, and something else is written there. */
static void slip(pai__buf *out, const char *text, size_t len,
                 pai__prng *random)
{
  size_t at = (size_t)pai__prng_below(random, len + 1), line = at, eol = at;
  char written[4] = "";

  while (line > 0 && text[line - 1] != '\n')
    line--;
  eol += strcspn(text + eol, "\n");
  pai__buf_clear(out);
  switch (pai__prng_below(random, 6)) {
  case 0: line = at++; break; /* a letter is missing */
  case 1:                     /* or one too many */
    written[0] = "x: '\"-\t0[{"[pai__prng_below(random, 10)];
    line = at;
    break;
  case 2: /* a line is there twice */
    written[0] = '\n';
    at = line;
    line = eol;
    break;
  case 3: at = eol; break; /* or not at all */
  case 4:                  /* a number is a text */
    line = at += strcspn(text + at, "0123456789");
    if (at < len)
      (void)snprintf(written, sizeof(written), "'%c'", text[at++]);
    break;
  default: /* the case is wrong */
    pai__buf_add(out, text, len);
    for (size_t i = line; i < eol && out->data[i] != ':'; i++)
      if (out->data[i] >= 'A' && out->data[i] <= 'Z')
        out->data[i] = (char)(out->data[i] + 32);
    return;
  }
  at = at < len ? at : len;
  pai__buf_add(out, text, line);
  pai__buf_str(out, written);
  pai__buf_add(out, text + at, len - at);
}

static pai__prng seeded;

static void check_case(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  pai__buf b = test_buf();

  check_fixes(text, len);
  for (int i = 0; i < 6; i++) {
    slip(&b, text, len, &seeded);
    check_fixes(pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
}

TEST(files_with_slips)
{
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

TEST(failing_memory)
{
  test_faults(body, (void *)(uintptr_t)rows[0].text);
  test_faults(
    body,
    (void *)(uintptr_t) "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n");
  test_faults(body, (void *)(uintptr_t)JOB_WITH(
                      "name: n\nextrsa: 1\nextras: {storages: [1]}"));
  test_faults(
    body,
    (void *)(uintptr_t) "prerequisites:\n  type: dat\n  x: 1\ntaskRoles: {a "
                        "b: 1, a: {commands: c, instances: '1'}}\n");
}
