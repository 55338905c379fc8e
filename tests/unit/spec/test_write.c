/* Trees written without comments: what they mean, in canonical bytes. */
#include "documents.h"

#include "spec/write.h"

static const char text[] = "# gone\n"
                           "b: &x {t: 1.0, s: \"it's\", n: ~}\n"
                           "a: *x\n"
                           "m: {<<: *x, t: 2}\n"
                           "d: 2020-01-02\n"
                           "y: [!!binary aGk=, !!binary '', 'a: b', yes]\n"
                           "l: \"p\\nq\\n\"\n"
                           "e: [{}, []]\n";

static pai__tree *parse(const char *s)
{
  pai__tree *t = NULL;

  assert_int_equal(pai__yaml_parse(&t, s, strlen(s), NULL, NULL), PAI_OK);
  return t;
}

static void yaml_is_canonical(void **state)
{
  static const char want[] = "b:\n  t: 1.0\n  s: it's\n  'n': null\n"
                             "a:\n  t: 1.0\n  s: it's\n  'n': null\n"
                             "m:\n  t: 2\n  s: it's\n  'n': null\n"
                             "d: 2020-01-02T00:00:00.000Z\n"
                             "'y':\n  - !!binary aGk=\n  - !!binary ''\n"
                             "  - 'a: b'\n  - 'yes'\n"
                             "l: |\n  p\n  q\ne:\n  - {}\n  - []\n";
  pai__tree *t = parse(text), *back;
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai__write_yaml(&out, t, 0), PAI_OK);
  assert_string_equal(pai__buf_text(&out), want);
  back = parse(want);
  assert_true(pai__tree_same(t, 0, back, 0));
  assert_false(pai__tree_same(t, 0, back, pai__tree_get(back, 0, "a")));
  pai__buf_clear(&out);
  assert_int_equal(pai__write_yaml(&out, t, pai__tree_get(t, 0, "e")), PAI_OK);
  assert_string_equal(pai__buf_text(&out), "- {}\n- []\n");
  pai__buf_dispose(&out);
  pai__tree_free(back);
  pai__tree_free(t);
}

static void json_is_canonical(void **state)
{
  static const char want[] = "{\"b\":{\"t\":1,\"s\":\"it's\",\"n\":null},"
                             "\"a\":{\"t\":1,\"s\":\"it's\",\"n\":null},"
                             "\"m\":{\"t\":2,\"s\":\"it's\",\"n\":null},"
                             "\"d\":\"2020-01-02T00:00:00.000Z\","
                             "\"y\":[\"aGk=\",\"\",\"a: b\",\"yes\"],"
                             "\"l\":\"p\\nq\\n\",\"e\":[{},[]]}";
  pai__tree *t = parse(text);
  pai__json_writer w;
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__json_writer_init(&w, &out, false);
  pai__write_json(&w, t, 0);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
  pai__tree_free(t);
}

static void brackets_need_more_quotes(void **state)
{
  static const struct {
    const char *text, *plain, *quoted;
  } rows[] = {
    { "[a, 'b,c', 'd: e', 'f]', 'g:h', \"i\\nj\", 1, {k l: ~}]",
      "[a, 'b,c', 'd: e', 'f]', 'g:h', \"i\\nj\", 1, {k l: null}]",
      "[\"a\",\"b,c\",\"d: e\",\"f]\",\"g:h\",\"i\\nj\",1,{\"k l\":null}]" },
    { "[]", "[]", "[]" },
    { "'{}'", "'{}'", "\"{}\"" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__tree *t = parse(rows[i].text);
    pai__buf out;

    pai__buf_init(&out, &pai__libc_alloc);
    pai__write_flow(&out, t, 0, (pai__flow){ 0 });
    assert_string_equal(pai__buf_text(&out), rows[i].plain);
    pai__buf_clear(&out);
    pai__write_flow(&out, t, 0, (pai__flow){ true, true });
    assert_string_equal(pai__buf_text(&out), rows[i].quoted);
    pai__buf_dispose(&out);
    pai__tree_free(t);
  }
}

static void sameness_is_of_values(void **state)
{
  static const struct {
    const char *a, *b;
    bool same;
  } rows[] = {
    { "ab", "'ab'", true },
    { "ab", "ac", false },
    { "ab", "abc", false },
    { "1", "1.0", true },
    { "1", "'1'", false },
    { ".nan", ".NaN", true },
    { "9007199254740993", "9007199254740992", true }, /* doubles, in js */
    { "true", "false", false },
    { "2020-01-01", "2020-01-01T00:00:00Z", true },
    { "2020-01-01", "2020-01-02", false },
    { "!!binary aGk=", "hi", false },
    { "[1, 2]", "- 1\n- 2\n", true },
    { "[1, 2]", "[1]", false },
    { "[1]", "[1, 2]", false },
    { "{a: 1, b: 2}", "{b: 2, a: 1}", false },
    { "{a: &x {b: 1}, c: *x}", "{a: {b: 1}, c: {b: 1}}", true },
    { "{a: 1}", "{a: 2}", false },
    { "[]", "{}", false },
    { "", "null", true },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__tree *a = parse(rows[i].a), *b = parse(rows[i].b);

    if (pai__tree_same(a, 0, b, 0) != rows[i].same)
      fail_msg("%s and %s", rows[i].a, rows[i].b);
    pai__tree_free(a);
    pai__tree_free(b);
  }
}

static int write_both(const pai_alloc *alloc, void *user_data)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  pai__buf_init(&out, alloc);
  rc = pai__write_yaml(&out, user_data, 0);
  if (rc == PAI_OK) {
    pai__json_writer_init(&w, &out, true);
    pai__write_json(&w, user_data, 0);
    rc = pai__json_finish(&w);
  }
  if (rc == PAI_OK) {
    pai__write_flow(&out, user_data, 0, (pai__flow){ 0 });
    rc = pai__buf_ok(&out) ? PAI_OK : PAI_ENOMEM;
  }
  pai__buf_dispose(&out);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  pai__tree *t = parse(text);

  (void)state;
  test_faults(write_both, t);
  pai__tree_free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(yaml_is_canonical),
    cmocka_unit_test(json_is_canonical),
    cmocka_unit_test(brackets_need_more_quotes),
    cmocka_unit_test(sameness_is_of_values),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
