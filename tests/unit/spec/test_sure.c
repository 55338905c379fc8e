/*
 * Fixes that are sure: applied without asking, so that nothing else can have been
 * meant, and no comment and no text of the file is touched.
 */
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

/* A text, what becomes of it (NULL: it stays), the title of a fix that a person
 * may choose (NULL: all are sure), and a part of a help (NULL: any). */
typedef struct sure_row {
  const char *text, *fixed, *title, *help;
} sure_row;

static const sure_row tabs[] = {
  /* whatever a tab stands for, it means the same */
  { "a:\n\tb:\n\t\t- c: 1\n\t\t  d: 1\n\t\t- e: 1\n",
    "a:\n    b:\n        - c: 1\n          d: 1\n        - e: 1\n", NULL,
    NULL },
  { "a:\n  b: 1\n\tc: 2\n  d: 3\n", "a:\n  b: 1\n  c: 2\n  d: 3\n", NULL,
    NULL },
  /* the line may belong to one mapping, or to another */
  { "a:\n  b:\n    c: 1\n\td: 2\n  e: 3\n", NULL, "indent with spaces", NULL },
  { "a:\n  b:\n    c: 1\n\t  d: 2\n  e: 3\n", NULL, "indent with spaces",
    NULL },
  { "a:\n  b:\n\tc: 1\n  d: 3\n", NULL, "indent with spaces", NULL },
  { "a:\n  b:\n\tc: 1\n\td: 1\n  e: 3\n", NULL, "indent with spaces", NULL },
  /* tabs that are text stay */
  { "a:\n\tb: 1\n\tc: |\n\t  x\ne:\n  f: |\n    x\n    \ty\n  g: '\n\tz'\n",
    NULL, "indent with spaces", NULL },
  { "a:\n  b: 1\n\tc: 2\n  f: |\n    x\n    \ty\n  g: '\n\tit''s'\n  h: [\n"
    "\t1]\n  i: \"x\n\tit's\\\"\"\n",
    "a:\n  b: 1\n  c: 2\n  f: |\n    x\n    \ty\n  g: '\n\tit''s'\n  h: [\n"
    "\t1]\n  i: \"x\n\tit's\\\"\"\n",
    NULL, NULL },
  { "a:\n  b: it's\n\tc: 2 # isn't\n  d:\n  - |2-\n     \tx\n  - >\n\n    "
    "\tx\n"
    "  e: 'x'\n",
    "a:\n  b: it's\n  c: 2 # isn't\n  d:\n  - |2-\n     \tx\n  - >\n\n"
    "    \tx\n  e: 'x'\n",
    NULL, NULL },
  /* something else is wrong, too: nobody can tell what was read */
  { "a:\n  b: 1\n\tc: 2\n  d: 3\ne: @\n", NULL, "indent with spaces", NULL },
};

static const sure_row no_break_spaces[] = {
  { "a:\n  b:\xc2\xa0"
    "1\n  c: 'x\xc2\xa0y'\n  d: x\xc2\xa0y # \xc2\xa0\n",
    "a:\n  b: 1\n  c: 'x\xc2\xa0y'\n  d: x\xc2\xa0y # \xc2\xa0\n", NULL,
    NULL },
  { "a:\n\xc2\xa0 b: |\n    x:\xc2\xa0y\n  c: {d:\xc2\xa0"
    "1, e: f:\xc2\xa0g}\n",
    "a:\n  b: |\n    x:\xc2\xa0y\n  c: {d: 1, e: f:\xc2\xa0g}\n", NULL, NULL },
  { "a:\n - c\n -\xc2\xa0 b: x:\xc2\xa0y\n", "a:\n - c\n -  b: x:\xc2\xa0y\n",
    NULL, NULL },
};

#define TWO_IMAGES(first, second)                           \
  JOB_HEAD "prerequisites:\n- {name: " first                \
           ", type: dockerimage, uri: x}\n- {name: " second \
           ", type: dockerimage, uri: x}\n"
#define ROLE_OF(image) \
  "taskRoles: {a: {dockerImage: " image ", " ROLE_SIZES ", commands: [c]}}\n"
#define ROLE_SIZED(fields)                                             \
  JOB_HEAD JOB_IMAGE "taskRoles: {a: {dockerImage: x, commands: [c], " \
                     "resourcePerInstance: {" fields "}}}\n"
#define COMMANDS(text)                                                       \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES \
                     "\n    commands:\n" text

static const sure_row names[] = {
  /* two are as like */
  { TWO_IMAGES("image_0", "image_1") ROLE_OF("image_2"), NULL,
    "write 'image_1'", "did you mean 'image_0' or 'image_1'?" },
  { TWO_IMAGES("prod1", "prod3") ROLE_OF("prod2"), NULL, "write 'prod3'",
    "did you mean 'prod1' or 'prod3'?" },
  { ROLE_SIZED("xpu: 1, ypu: 4, memoryMB: 1"), NULL, "write 'gpu'",
    "did you mean 'cpu' or 'gpu'?" },
  /* digits are no slip, and a name may be one that is still to come */
  { TWO_IMAGES("image_0", "other") ROLE_OF("image_10"), NULL,
    "write 'image_0'", "did you mean 'image_0'?" },
  { TWO_IMAGES("trainer", "other") ROLE_OF("trainr"), NULL, "write 'trainer'",
    "did you mean 'trainer'?" },
  { JOB_WITH("protocolVersion2: 2"), JOB_WITH("protocolVersion2: 2"), NULL,
    NULL },
  /* case is */
  { TWO_IMAGES("Image_1", "other") ROLE_OF("image_1"),
    TWO_IMAGES("Image_1", "other") ROLE_OF("Image_1"), NULL, NULL },
  { TWO_IMAGES("Image", "IMAGE") ROLE_OF("image"), NULL, "write 'IMAGE'",
    "did you mean 'Image' or 'IMAGE'?" },
  { TWO_IMAGES("ab1",
               "ab2") "- {name: ab3, type: dockerimage, uri: x}\n"
                      "- {name: ab4, type: dockerimage, uri: x}\n" ROLE_OF(
                        "ab5"),
    NULL, NULL, "did you mean 'ab1', 'ab2' or 'ab3'?" },
  { ROLE_SIZED("cpu: 1, xpu: 4, memoryMB: 1"),
    ROLE_SIZED("cpu: 1, gpu: 4, memoryMB: 1"), NULL, NULL },
};

static const sure_row values[] = {
  /* what is written as a mapping was meant as one, but for a line of a list */
  { JOB_HEAD "prerequisites:\n- name: x\n  type: dockerimage\n  uri:\n    "
             "path: a/b:1\n" JOB_ROLES,
    NULL, NULL, NULL },
  { COMMANDS("    - name: ls\n"), NULL, "put it in quotes", "in quotes" },
  { COMMANDS("    - echo a: b\n"), COMMANDS("    - 'echo a: b'\n"), NULL,
    "in quotes" },
  { COMMANDS("    -\n      echo a: b\n"), NULL, NULL, NULL },
  /* an item must be a mapping */
  { JOB_HEAD "prerequisites: x\n" JOB_ROLES, NULL, NULL, NULL },
  { ROLE_WITH("prerequisites: x"), ROLE_WITH("prerequisites: ['x']"), NULL,
    "write it as a list: ['x']" },
};

static const sure_row removed[] = {
  { JOB_WITH("name: n"),
    "protocolVersion: 2\ntype: job\n" JOB_IMAGE JOB_ROLES "name: n\n", NULL,
    NULL },
  { JOB_WITH("extras:\n  a: 1 # why\n  a: 1\n"),
    JOB_WITH("extras:\n  a: 1 # why\n"), NULL, NULL },
  { JOB_WITH("extras:\n  a: 1 # why\n  a: 1 # not\n"), NULL,
    "remove the one at line 7", NULL },
  { JOB_WITH("extras:\n  a: # why\n    b: 1\n  a:\n    b: 1\n"),
    JOB_WITH("extras:\n  a: # why\n    b: 1\n"), NULL, NULL },
  { JOB_WITH("extras:\n  a: | # why\n    b\n  a: |\n    b\n"),
    JOB_WITH("extras:\n  a: | # why\n    b\n"), NULL, NULL },
  { JOB_WITH("extras:\n  a:\n  - b # why\n  # c\n  - d\n  a: [b, d]\n"),
    JOB_WITH("extras:\n  a:\n  - b # why\n  # c\n  - d\n"), NULL, NULL },
  { JOB_WITH("extras: {a: [1], # why\n b: 2, a: [1]}\n"),
    JOB_WITH("extras: {a: [1], # why\n b: 2}\n"), NULL, NULL },
  { JOB_WITH("extras:\n  a: '# b'\n  a: '# b'\n"),
    JOB_WITH("extras:\n  a: '# b'\n"), NULL, NULL },
  /* of job config v1 the last one counts */
  { "{\"jobName\": \"a\", // why\n \"jobName\": \"b\", \"image\": \"i\",\n"
    "\"taskRoles\": [{\"name\": \"r\", \"command\": \"c\"}]}",
    NULL, "remove the one at line 1", NULL },
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
  const char *fixed = r->fixed != NULL ? r->fixed : r->text;
  pai_report *report;
  pai__buf text;

  assert_int_equal(
    pai_spec_check(&report, NULL, r->text, strlen(r->text), NULL, NULL),
    PAI_OK);
  (void)apply_sure(&text, report, r->text, strlen(r->text));
  if (strcmp(pai__buf_text(&text), fixed) != 0)
    fail_msg("%s\nbecomes:\n%s\nnot:\n%s", r->text, pai__buf_text(&text),
             fixed);
  if (r->title != NULL && find_title(report, r->title) == NULL)
    fail_msg("%s\nhas no fix \"%s\" to choose", r->text, r->title);
  if (r->help != NULL && !helps(report, r->help))
    fail_msg("%s\nis not helped with \"%s\"", r->text, r->help);
  pai__buf_dispose(&text);
  pai_report_free(report);
}

#define CHECK_ROWS(rows)                      \
  for (size_t i = 0; i < PAI__LEN(rows); i++) \
  check_row(&(rows)[i])

static void tabs_that_indent(void **state)
{
  (void)state;
  CHECK_ROWS(tabs);
}

static void spaces_that_do_not_break(void **state)
{
  (void)state;
  CHECK_ROWS(no_break_spaces);
}

static void names_that_are_alike(void **state)
{
  (void)state;
  CHECK_ROWS(names);
}

static void values_of_another_type(void **state)
{
  (void)state;
  CHECK_ROWS(values);
}

static void comments_of_what_is_removed(void **state)
{
  (void)state;
  CHECK_ROWS(removed);
}

/* A template so far behind that nobody knows where it is written. */
static void templates_far_behind(void **state)
{
  static const char head[] = COMMANDS("    - |\n");
  static const char *const lines[] = {
    "      echo x.lr <% $parameters.lrr %>\n", "      <% $parameters.lrr %>\n"
  };
  const pai_diagnostic *d;
  pai_report *report;
  pai__buf text;

  (void)state;
  for (size_t k = 0; k < 2 * PAI__LEN(lines); k++) {
    pai__buf_init(&text, &pai__libc_alloc);
    pai__buf_str(&text, head);
    for (int i = 0; k >= PAI__LEN(lines) && i < 4000; i++)
      pai__buf_str(&text, "      echo one more.lrr\n");
    pai__buf_str(&text, lines[k % PAI__LEN(lines)]);
    pai__buf_str(&text, "parameters: {lr: 1}\n");
    assert_int_equal(pai_spec_check(&report, NULL, pai__buf_text(&text),
                                    text.len, NULL, NULL),
                     PAI_OK);
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
  pai_report *report;
  pai__buf out;

  assert_int_equal(pai_spec_check(&report, NULL, text, len, NULL, NULL),
                   PAI_OK);
  d = pai_report_get(report, 0);
  if (d != NULL && strcmp(d->code, "syntax") == 0) {
    wrong++;
    if (apply_sure(&out, report, text, len) > 0) {
      mended++;
      assert_int_equal(pai__yaml_parse(&a, right, right_len, NULL, NULL),
                       PAI_OK);
      assert_int_equal(
        pai__yaml_parse(&b, pai__buf_text(&out), out.len, NULL, NULL), PAI_OK);
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

/* The spaces before some line become tabs, or one of its spaces becomes one that
 * does not break. */
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
  pai__buf b;

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") != 0)
    return;
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 10; i++) {
    slip(&b, text, len);
    check_same(text, len, pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
}

static void space_of_files_that_were_right(void **state)
{
  (void)state;
  seeded.state = 26;
  if (test_each_row("v2-cases.jsonl", check_case) < 0)
    return; /* it says so */
  printf("%zu of %zu mended\n", mended, wrong);
  assert_true(mended > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tabs_that_indent),
    cmocka_unit_test(spaces_that_do_not_break),
    cmocka_unit_test(names_that_are_alike),
    cmocka_unit_test(values_of_another_type),
    cmocka_unit_test(comments_of_what_is_removed),
    cmocka_unit_test(templates_far_behind),
    cmocka_unit_test(space_of_files_that_were_right),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
