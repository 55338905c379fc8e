/* Texts that are no documents: where and why, and whether the line is shown */
#include "testing.h"

#include "base/buf.h"

#include <openpai/spec.h>

#define HEAD "protocolVersion: 2\nname: n\n"
#define AUTH "prerequisites:\n- name: i\n  auth: {username: u}\n"

static const struct {
  const char *text;
  uint32_t line, column;
  const char *message, *help, *source;
} rows[] = {
  /* what is certain */
  { HEAD "taskRoles:\n  a:\n    x:\n\tcpu: 1\n      gpu: 0\n", 6, 1,
    "a tab indents this line", "indent with spaces only", "\tcpu: 1" },
  { HEAD "taskRoles:\n\ta: 1\n    b:\n\t\tx: 1\n", 4, 1,
    "a tab indents this line", "indent with spaces only", "\ta: 1" },
  { HEAD "a:\r\n  instances:\xc2\xa0"
         "2\r\n  b: 1\r\n",
    4, 13, "a no-break space (U+00A0)", "put a space", NULL },
  { HEAD "extras:\n  a:\xc2\xa0"
         "2\n  b: 1\n",
    4, 5, "a no-break space (U+00A0)", "put a space",
    "  a:\xc2\xa0"
    "2" },
  { "name: \"n\ntype: job\nx: \"y\"\n", 1, 7, "this quote has no end",
    "put one", "name: \"n" },
  { "protocolVersion: 2\nname: \xc3\xa9 'n # c\n---\n", 3, 1,
    "second document", "remove", "---" },
  { HEAD "extras:\n  - ['a', \"\xc3\xa9\"]\n  - 'b\n  - 'c'\n", 5, 5,
    "this quote has no end", "put one", "  - 'b" },
  /* what is not */
  { HEAD "extras:\n  a: |\n    x\n    \ty\n  b: [\nname: n\n", 9, 1,
    "did not find expected", "closing bracket", NULL },
  { HEAD "extras:\n  a: x\xc2\xa0y\n  b: @\n", 5, 6, "cannot start", "quotes",
    "  b: @" },
  { HEAD "extras:\n  a: 'x\n    y'\n  b: @\n", 6, 6, "cannot start", "quotes",
    "  b: @" },
  /* what may not be shown, but for what is behind it */
  { "secrets:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "secrets:\n  a: 1\nname: @\n", 3, 7, "cannot start", "quotes", "name: @" },
  { "secretz:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "unknown:\n  a: @\n", 2, 6, "cannot start", "quotes", NULL },
  { "# a\n- a\n- @\n", 3, 3, "cannot start", "quotes", "- @" },
  { "taskRoles:\n  a: 1\n  Secrets:\n    a: @\n", 4, 8, "cannot start",
    "quotes", NULL },
  { "taskRoles:\n  ? 'a'\n  : @\n", 3, 5, "cannot start", "quotes", "  : @" },
  { "taskRoles:\n  ? 'pasword'\n  : @\n", 3, 5, "cannot start", "quotes",
    NULL },
  { AUTH "  x: @\n", 4, 6, "cannot start", "quotes", NULL },
  { AUTH "extras: {a: @}\n", 4, 13, "cannot start", "quotes",
    "extras: {a: @}" },
  { "extras: {\"s\\u0065crets\": {a: @}}\n", 1, 30, "cannot start", "quotes",
    NULL },
  { "extras: {'x_token': {a: @}}\n", 1, 25, "cannot start", "quotes", NULL },
  { "{\"a\": 1, // c\n\"b\": 2 \"c\"}\n", 2, 8, "after the value", NULL,
    "\"b\": 2 \"c\"}" },
  { "{\"secrets\": {}, // c\n\"b\": 2 \"c\"}\n", 2, 8, "after the value", NULL,
    NULL },
  { "name: \xff\n", 1, 7, "not UTF-8", NULL, NULL },
};

static void lines_and_causes(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const pai_diagnostic *d;
    pai_report *r;

    assert_int_equal(
      pai_spec_check(&r, NULL, rows[i].text, strlen(rows[i].text), NULL, NULL),
      PAI_OK);
    d = pai_report_get(r, 0);
    if (d == NULL || strcmp(d->code, "syntax") != 0 ||
        d->line != rows[i].line || d->column != rows[i].column ||
        strstr(d->message, rows[i].message) == NULL ||
        (rows[i].help != NULL &&
         (d->help == NULL || strstr(d->help, rows[i].help) == NULL)) ||
        (d->source != NULL) != (rows[i].source != NULL) ||
        (d->source != NULL && strcmp(d->source, rows[i].source) != 0))
      fail_msg("%s\n%u:%u %s\n%s\n%s", rows[i].text, d != NULL ? d->line : 0,
               d != NULL ? d->column : 0, d != NULL ? d->message : "",
               d != NULL && d->help != NULL ? d->help : "",
               d != NULL && d->source != NULL ? d->source : "(not shown)");
    if (d->source != NULL)
      assert_int_equal(d->source_column, d->column);
    pai_report_free(r);
  }
}

static int body(const pai_alloc *alloc, void *user_data)
{
  static const size_t which[] = { 0, 2, 6, 8 };
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  int rc = PAI_OK;

  (void)user_data;
  o.alloc = alloc;
  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(which); i++) {
    const char *text = rows[which[i]].text;
    pai_report *r;

    rc = pai_spec_check(&r, NULL, text, strlen(text), &o, NULL);
    if (rc == PAI_OK)
      assert_int_equal(pai_report_get(r, 0)->line, rows[which[i]].line);
    pai_report_free(r);
  }
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_and_causes),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
