/*
 * Fixes that are sure: applied without asking, so that nothing else can have
 * been meant, and no comment and no text of the file is touched.
 */
#include "cases.h"
#include "rows.h"
#include "spec/found.h"

#include "base/buf.h"
#include "base/prng.h"
#include "yaml/yaml.h"

#include <stdio.h>

static int gather(void *user_data, const char *data, size_t len)
{
  pai__buf_add(user_data, data, len);
  return PAI_OK;
}

/* What all sure fixes make of a text; how many. */
static int apply_sure(pai__buf *out, const pai_report *report,
                      const char *text, size_t len)
{
  int count;

  pai__buf_init(out, &pai__libc_alloc);
  count = pai_report_fix(report, text, len, NULL, gather, out, NULL);
  assert_true(count >= 0);
  return count;
}

/* A text, a part of it and what that becomes (NULL: it stays), the title of
 * a fix that a person may choose (NULL: all are sure), and a part of a help
 * (NULL: any). */
typedef struct sure_row {
  const char *text, *from, *to, *title, *help;
} sure_row;

static const sure_row tabs[] = {
  /* whatever a tab stands for, it means the same */
  { "a:\n\tb:\n\t\t- c: 1\n\t\t  d: 1\n\t\t- e: 1\n",
    "\tb:\n\t\t- c: 1\n\t\t  d: 1\n\t\t-",
    "    b:\n        - c: 1\n          d: 1\n        -", NULL, NULL },
  { "a:\n  b: 1\n\tc: 2\n  d: 3\n", "\tc", "  c", NULL, NULL },
  /* the line may belong to one mapping, or to another */
  { "a:\n  b:\n    c: 1\n\td: 2\n  e: 3\n", NULL, NULL, "indent with spaces",
    NULL },
  { "a:\n  b:\n    c: 1\n\t  d: 2\n  e: 3\n", NULL, NULL, "indent with spaces",
    NULL },
  { "a:\n  b:\n\tc: 1\n  d: 3\n", NULL, NULL, "indent with spaces", NULL },
  { "a:\n  b:\n\tc: 1\n\td: 1\n  e: 3\n", NULL, NULL, "indent with spaces",
    NULL },
  /* tabs that are text stay */
  { "a:\n\tb: 1\n\tc: |\n\t  x\ne:\n  f: |\n    x\n    \ty\n  g: '\n\tz'\n",
    NULL, NULL, "indent with spaces", NULL },
  { "a:\n  b: 1\n\tc: 2\n  f: |\n    x\n    \ty\n  g: '\n\tit''s'\n  h: "
    "[\n\t1]\n  i: \"x\n\tit's\\\"\"\n",
    "\tc", "  c", NULL, NULL },
  { "a:\n  b: it's\n\tc: 2 # isn't\n  d:\n  - |2-\n     \tx\n  - >\n\n    "
    "\tx\n  e: 'x'\n",
    "\tc", "  c", NULL, NULL },
  /* nor does anybody know how much of them is text */
  { "a:\n  b: |\n    x\n\ty\n  c: 1\n", NULL, NULL, "indent with spaces",
    NULL },
  { "a:\n  b: |\n\tx\n\ty\n", NULL, NULL, "indent with spaces", NULL },
  /* something else is wrong, too: nobody can tell what was read */
  { "a:\n  b: 1\n\tc: 2\n  d: 3\ne: @\n", NULL, NULL, "indent with spaces",
    NULL },
};

static const sure_row no_break_spaces[] = {
  { "a:\n  b:\xc2\xa0"
    "1\n  c: 'x\xc2\xa0y'\n  d: x\xc2\xa0y # \xc2\xa0\n",
    "\u00a01", " 1", NULL, NULL },
  { "a:\n\xc2\xa0 b: |\n    x:\xc2\xa0y\n  c: {d:\xc2\xa0"
    "1, e: f:\xc2\xa0g}\n",
    "\u00a0 b: |\n    x:\u00a0y\n  c: {d:\u00a01",
    "  b: |\n    x:\u00a0y\n  c: {d: 1", NULL, NULL },
  { "a:\n - c\n -\xc2\xa0 b: x:\xc2\xa0y\n", "-\u00a0", "- ", NULL, NULL },
};

#define TWO_IMAGES(first, second)                           \
  JOB_HEAD "prerequisites:\n- {name: " first                \
           ", type: dockerimage, uri: x}\n- {name: " second \
           ", type: dockerimage, uri: x}\n"
#define ROLE_OF(image) \
  "taskRoles: {a: {dockerImage: " image ", " ROLE_SIZES ", commands: [c]}}\n"
static const sure_row names[] = {
  /* two are as like */
  { TWO_IMAGES("image_0", "image_1") ROLE_OF("image_2"), NULL, NULL,
    "write 'image_1'", "did you mean 'image_0' or 'image_1'?" },
  { TWO_IMAGES("prod1", "prod3") ROLE_OF("prod2"), NULL, NULL, "write 'prod3'",
    "did you mean 'prod1' or 'prod3'?" },
  { JOB_SIZED("xpu: 1, ypu: 4, memoryMB: 1"), NULL, NULL, "write 'gpu'",
    "did you mean 'cpu' or 'gpu'?" },
  /* digits are no slip, and a name may be one that is still to come */
  { TWO_IMAGES("image_0", "other") ROLE_OF("image_10"), NULL, NULL,
    "write 'image_0'", "did you mean 'image_0'?" },
  { TWO_IMAGES("trainer", "other") ROLE_OF("trainr"), NULL, NULL,
    "write 'trainer'", "did you mean 'trainer'?" },
  { JOB_WITH("protocolVersion2: 2"), NULL, NULL, NULL, NULL },
  /* case is */
  { TWO_IMAGES("Image_1", "other") ROLE_OF("image_1"), "image_1", "Image_1",
    NULL, NULL },
  { TWO_IMAGES("Image", "IMAGE") ROLE_OF("image"), NULL, NULL, "write 'IMAGE'",
    "did you mean 'Image' or 'IMAGE'?" },
  { TWO_IMAGES("ab1",
               "ab2") "- {name: ab3, type: dockerimage, uri: x}\n- {name: "
                      "ab4, type: dockerimage, uri: x}\n" ROLE_OF("ab5"),
    NULL, NULL, NULL, "did you mean 'ab1', 'ab2' or 'ab3'?" },
  { JOB_SIZED("cpu: 1, xpu: 4, memoryMB: 1"), "xpu", "gpu", NULL, NULL },
};

static const sure_row values[] = {
  /* what is written as a mapping was meant as one, but for a line of a list */
  { JOB_HEAD "prerequisites:\n- name: x\n  type: dockerimage\n  uri:\n    "
             "path: a/b:1\n" JOB_ROLES,
    NULL, NULL, NULL, NULL },
  { JOB_COMMANDS("    - name: ls\n"), NULL, NULL, "put it in quotes",
    "quote the whole text" },
  { JOB_COMMANDS("    - echo a: b\n"), "echo a: b", "'echo a: b'", NULL,
    "quote the whole text" },
  { JOB_COMMANDS("    -\n      echo a: b\n"), NULL, NULL, NULL, NULL },
  /* an item must be a mapping */
  { JOB_HEAD "prerequisites: x\n" JOB_ROLES, NULL, NULL, NULL, NULL },
  { ROLE_WITH("prerequisites: x"), "prerequisites: x", "prerequisites: ['x']",
    NULL, "write it as a list: ['x']" },
};

static const sure_row removed[] = {
  { JOB_WITH("name: n"), "name: n\ntype", "type", NULL, NULL },
  { JOB_WITH("extras:\n  a: 1 # why\n  a: 1\n"), "  a: 1\n", "", NULL, NULL },
  { JOB_WITH("extras:\n  a: 1 # why\n  a: 1 # not\n"), NULL, NULL,
    "remove the one at line 7", NULL },
  { JOB_WITH("extras:\n  a: # why\n    b: 1\n  a:\n    b: 1\n"),
    "  a:\n    b: 1\n", "", NULL, NULL },
  { JOB_WITH("extras:\n  a: | # why\n    b\n  a: |\n    b\n"),
    "  a: |\n    b\n", "", NULL, NULL },
  { JOB_WITH("extras:\n  a:\n  - b # why\n  # c\n  - d\n  a: [b, d]\n"),
    "  a: [b, d]\n", "", NULL, NULL },
  { JOB_WITH("extras: {a: [1], # why\n b: 2, a: [1]}\n"), "2, a: [1]", "2",
    NULL, NULL },
  { JOB_WITH("extras:\n  a: '# b'\n  a: '# b'\n"), "b'\n  a: '# b'\n", "b'\n",
    NULL, NULL },
  /* of job config v1 the last one counts */
  { "{\"jobName\": \"a\", // why\n \"jobName\": \"b\", \"image\": "
    "\"i\",\n\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    NULL, NULL, "remove the one at line 1", NULL },
};

static const pai_diagnostic *find_title(const pai_report *report,
                                        const char *title)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    for (size_t k = 0; k < d->fix_count; k++)
      if (strcmp(d->fixes[k]->title, title) == 0 && !d->fixes[k]->sure)
        return d;
  return NULL;
}

static bool helps(const pai_report *report, const char *help)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    if (d->help != NULL && strstr(d->help, help) != NULL)
      return true;
  return false;
}

static void check_row(const sure_row *r)
{
  pai_report *report = test_report(r->text, strlen(r->text), NULL);
  pai__buf text;

  (void)apply_sure(&text, report, r->text, strlen(r->text));
  test_replaced(pai__buf_text(&text), r->text, r->from, r->to);
  if (r->title != NULL && find_title(report, r->title) == NULL)
    fail_msg("%s\nhas no fix \"%s\" to choose", r->text, r->title);
  if (r->help != NULL && !helps(report, r->help))
    fail_msg("%s\nis not helped with \"%s\"", r->text, r->help);
  pai__buf_dispose(&text);
  pai_report_free(report);
}

TEST(each_text_is_mended_or_stays)
{
  static const struct {
    const sure_row *rows;
    size_t n;
  } tables[] = {
    { tabs, PAI__LEN(tabs) },
    { no_break_spaces, PAI__LEN(no_break_spaces) },
    { names, PAI__LEN(names) },
    { values, PAI__LEN(values) },
    { removed, PAI__LEN(removed) },
  };

  for (size_t i = 0; i < PAI__LEN(tables); i++)
    for (size_t k = 0; k < tables[i].n; k++)
      check_row(&tables[i].rows[k]);
}

/* A template so far behind that nobody knows where it is written. */
TEST(templates_far_behind)
{
  static const char head[] = JOB_COMMANDS("    - |\n");
  static const char *const lines[] = {
    "      echo x.lr <% $parameters.lrr %>\n", "      <% $parameters.lrr %>\n"
  };
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf text;

  for (size_t k = 0; k < 2 * PAI__LEN(lines); k++) {
    pai__buf_init(&text, &pai__libc_alloc);
    pai__buf_str(&text, head);
    for (int i = 0; k >= PAI__LEN(lines) && i < 4000; i++)
      pai__buf_str(&text, "      echo one more.lrr\n");
    pai__buf_str(&text, lines[k % PAI__LEN(lines)]);
    pai__buf_str(&text, "parameters: {lr: 1}\n");
    report = test_report(pai__buf_text(&text), text.len, NULL);
    d = pai_report_get(report, 0);
    assert_string_equal(d->code, "unresolved");
    assert_string_equal(d->help, "did you mean 'lr'?");
    assert_int_equal(d->fix_count, k < PAI__LEN(lines));
    pai_report_free(report);
    pai__buf_dispose(&text);
  }
}

/* --- files that people wrote ------------------------------------------------ */

static pai__prng seeded;
static size_t wrong, mended;

/* What is mended surely of a file that was right says what that said. */
static void check_same(const char *right, size_t right_len, const char *text,
                       size_t len)
{
  const pai_diagnostic *d;
  pai__tree *a, *b;
  pai_report *report = test_report(text, len, NULL);
  pai__buf out;

  d = pai_report_get(report, 0);
  if (d != NULL && strcmp(d->code, "syntax") == 0) {
    wrong++;
    if (apply_sure(&out, report, text, len) > 0) {
      mended++;
      assert_ok(pai__yaml_parse(&a, right, right_len, NULL, NULL));
      assert_ok(pai__yaml_parse(&b, pai__buf_text(&out), out.len, NULL, NULL));
      if (!pai__tree_same(a, 0, b, 0))
        fail_msg("%.*s\nwas:\n%s\nand becomes:\n%s", (int)len, text, right,
                 pai__buf_text(&out));
      pai__tree_free(a);
      pai__tree_free(b);
    }
    pai__buf_dispose(&out);
  }
  pai_report_free(report);
}

/* The spaces before some line become tabs, or one of its spaces becomes one
 * that does not break. */
static void slip(pai__buf *out, const char *text, size_t len)
{
  size_t at = (size_t)pai__prng_below(&seeded, len + 1), line, end;

  while (at > 0 && text[at - 1] != '\n')
    at--;
  line = end = at;
  while (end < len && text[end] == ' ')
    end++;
  pai__buf_clear(out);
  pai__buf_add(out, text, line);
  if (pai__prng_below(&seeded, 3) > 0) {
    for (size_t i = pai__prng_below(&seeded, 2) > 0 ? end - line : 1;
         i > 0 && end > line; i -= i < 4 ? i : 4)
      pai__buf_char(out, '\t');
    line = end;
  } else {
    while (end < len && text[end] != '\n' && text[end] != ' ')
      end++;
    pai__buf_add(out, text + line, end - line);
    line = end + (end < len && text[end] == ' ');
    if (line > end)
      pai__buf_str(out, "\xc2\xa0");
  }
  pai__buf_add(out, text + line, len - line);
}

static void check_case(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  pai__buf b = test_buf();

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") != 0)
    return;
  for (int i = 0; i < 10; i++) {
    slip(&b, text, len);
    check_same(text, len, pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
}

TEST(space_of_files_that_were_right)
{
  seeded.state = 26;
  if (test_each_row("v2-cases.jsonl", check_case) < 0)
    return; /* it says so */
  printf("%zu of %zu mended\n", mended, wrong);
  assert_true(mended > 100);
}
