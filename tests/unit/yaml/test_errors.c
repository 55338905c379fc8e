/* What the YAML reader refuses and what it takes: errors, limits, memory. */
#include "documents.h"

/* --- errors ------------------------------------------------------------- */

static void errors_name_the_place_and_the_thing(void **state)
{
  static const struct {
    const char *text;
    uint32_t line, column;
    const char *part;
  } rows[] = {
    { "a: b: c", 1, 5, "mapping values are not allowed" },
    { "a: 1\n  b: 2", 2, 4, "mapping values are not allowed" },
    { "a:\n  b: 1\n c: 2", 3, 2, "did not find expected key" },
    { "a: [1, 2", 1, 9, "did not find expected ',' or ']'" },
    { "é: \"x", 1, 6,
      "while scanning a quoted scalar that starts at line 1, "
      "column 4" },
    { "a: @x", 1, 4, "cannot start any token" },
    { "a: \"\\q\"", 1, 5, "unknown escape" },
    { "a\n---\nb", 2, 1, "a second document starts here" },
    { "--- a\n--- b", 2, 1, "a second document starts here" },
    { "a: 1\nb: 2\na: 3", 3, 1,
      "key \"a\" is there already, at line 1, "
      "column 1" },
    { "1: x\n'1': y", 2, 1, "key \"1\" is there already" },
    { "{a: 1, é: 2, a: 3}", 1, 14, "at line 1, column 2" },
    { "<<: {a: 1}\na: 2\n<<: {a: 3}\na: 4", 4, 1,
      "key \"a\" is there already, at line 2" },
    { "x: *nope", 1, 4, "this alias has no anchor" },
    { "&a [1, *a]", 1, 8, "alias *a is inside what it stands for" },
    { "a: &a {b: {c: *a}}", 1, 15, "alias *a is inside" },
    { "<<: 1", 1, 5, "cannot merge this" },
    { "<<:\n- {}\n- x", 3, 3, "cannot merge this" },
    { "a: \xff", 1, 4, "byte 0xff is not UTF-8" },
    { "é\n日\xe6\x97", 2, 2, "byte 0xe6 is not UTF-8" },
    { "a: \x07", 1, 4, "character U+0007 is not allowed" },
    { "%YAML 2.0\n---\na", 1, 1, "incompatible YAML" },
    { "%TAG ! tag:x\n%TAG ! tag:x\n---\na", 2, 1, "duplicate %TAG" },
    { "\t- x\n\ty: z", 2, 2, "did not find expected '-' indicator" },
    { "a: 'x\n---\n'", 2, 1, "unexpected document indicator" },
    { "a:\n\tb: 1\n \tc: 2", 3, 4, "mapping values are not allowed" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_yaml_fails(rows[i].text, PAI_EINVAL, rows[i].line, rows[i].column,
                    rows[i].part);
}

static void help_says_how_to_mend_it(void **state)
{
  static const struct {
    const char *text, *help;
  } rows[] = {
    { "a: b: c", "quotes" },
    { "a: @x", "put the text in quotes" },
    { "a: \"\\q\"", "write a backslash as \\\\" },
    { "x: *nope", "quote a text that begins with *" },
    { "a: 1\na: 2", "remove one of the two" },
    { "a: \"x", "add the closing quote" },
    { "!foo a", "remove the tag" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai__tree *t;

    assert_true(
      pai__yaml_parse(&t, rows[i].text, strlen(rows[i].text), NULL, &err) < 0);
    assert_non_null(pai_error_help(err));
    assert_non_null(strstr(pai_error_help(err), rows[i].help));
    pai_error_free(err);
  }
}

static void long_names_make_short_messages(void **state)
{
  pai_error *err = NULL;
  pai__tree *t;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 2; i++) {
    pai__buf_str(&b, "? \"a\\n");
    for (int j = 0; j < 500; j++)
      pai__buf_str(&b, "é");
    pai__buf_str(&b, "\"\n: 1\n");
  }
  assert_int_equal(pai__yaml_parse(&t, b.data, b.len, NULL, &err), PAI_EINVAL);
  assert_true(strlen(pai_error_message(err)) < 160);
  assert_null(strchr(pai_error_message(err), '\n'));
  test_expect_error(err, PAI_EINVAL, "key \"a?éé");
  pai__buf_dispose(&b);
}

/* --- limits ------------------------------------------------------------- */

static int parse_nested(unsigned n, bool block, uint32_t max_depth)
{
  pai__yaml_options opts = { .max_depth = max_depth };
  pai__buf b;
  int rc;

  pai__buf_init(&b, &pai__libc_alloc);
  for (unsigned i = 0; i < n; i++)
    pai__buf_str(&b, block ? "- " : "[");
  for (unsigned i = 0; i < n && !block; i++)
    pai__buf_char(&b, ']');
  rc = test_yaml_try(b.data, &opts, "nested more than");
  pai__buf_dispose(&b);
  return rc;
}

static void depth_is_limited(void **state)
{
  pai__yaml_options opts = { .max_depth = 4 };

  (void)state;
  for (int block = 0; block <= 1; block++) {
    assert_int_equal(parse_nested(64, block != 0, 0), PAI_OK);
    assert_int_equal(parse_nested(65, block != 0, 0), PAI_ELIMIT);
    assert_int_equal(parse_nested(3, block != 0, 3), PAI_OK);
    assert_int_equal(parse_nested(4, block != 0, 3), PAI_ELIMIT);
    assert_int_equal(parse_nested(100000, block != 0, 0), PAI_ELIMIT);
  }
  /* through aliases: 1 + 1 + 2, and one more */
  assert_int_equal(test_yaml_try("- &a [[]]\n- [*a]", &opts, ""), PAI_OK);
  assert_int_equal(
    test_yaml_try("- &a [[]]\n- &b [*a]\n- [*b]", &opts, "nested too deep"),
    PAI_ELIMIT);
}

/* A mebibyte of text, which aliases repeat so many times. */
static int repeat_text(int times, const char *says)
{
  pai__buf b;
  int rc;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "- &a [");
  for (int i = 0; i < 1 << 20; i++)
    pai__buf_char(&b, 'x');
  pai__buf_str(&b, "]\n- &b [*a]\n");
  for (int i = 1; i < times; i++)
    pai__buf_str(&b, "- *b\n");
  rc = test_yaml_try(b.data, NULL, says);
  pai__buf_dispose(&b);
  return rc;
}

static void aliases_repeat_a_text_ten_times(void **state)
{
  (void)state;
  assert_int_equal(repeat_text(10, ""), PAI_OK);
  assert_int_equal(repeat_text(12, "*b the document grows too much"),
                   PAI_ELIMIT);
}

static void alias_expansion_is_limited(void **state)
{
  pai__yaml_options small = { .alias_floor = 16, .alias_factor = 2 };
  pai__buf b;

  (void)state;
  /* 1 + 4 + 4 aliases of 1 + 2: 17 nodes in 9; then 20 in 10, and 23 in 11 */
  assert_int_equal(
    test_yaml_try("- &a [1, 2]\n- *a\n- *a\n- *a\n", &small, ""), PAI_OK);
  assert_int_equal(test_yaml_try("- &a [1, 2]\n- *a\n- *a\n- *a\n- *a\n- *a\n"
                                 "- *a\n- *a\n",
                                 &small, "*a the document grows too much"),
                   PAI_ELIMIT);
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "- &a0 [x, x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 40; i++)
    pai__buf_printf(&b, "- &a%d [*a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1);
  assert_int_equal(test_yaml_try(b.data, NULL, "the document grows too much"),
                   PAI_ELIMIT);
  pai__buf_dispose(&b);
  /* a small document may repeat itself a lot: under 10,000 nodes */
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "- &a\n");
  for (int i = 0; i < 90; i++)
    pai__buf_str(&b, "  - x\n");
  for (int i = 0; i < 100; i++)
    pai__buf_str(&b, "- *a\n");
  assert_int_equal(test_yaml_try(b.data, NULL, ""), PAI_OK);
  pai__buf_dispose(&b);
}

static void made_up_keys_are_limited(void **state)
{
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "- &a ");
  for (int i = 0; i < 5000; i++)
    pai__buf_char(&b, 'x');
  pai__buf_char(&b, '\n');
  for (int i = 0; i < 100; i++)
    pai__buf_printf(&b, "- ? [*a, *a, *a, *a]\n  : 1\n");
  assert_int_equal(test_yaml_try(b.data, NULL, "keys that are no scalars"),
                   PAI_ELIMIT);
  pai__buf_dispose(&b);
}

static void bytes_and_directives_are_limited(void **state)
{
  pai__yaml_options opts = { .max_bytes = 6 };
  pai__buf b;

  (void)state;
  assert_int_equal(test_yaml_try("a: 123", &opts, ""), PAI_OK);
  assert_int_equal(test_yaml_try("a: 1234", &opts, "more than 6 bytes"),
                   PAI_ELIMIT);
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 1001; i++)
    pai__buf_printf(&b, "%%TAG !t%d! tag:x\n", i);
  pai__buf_str(&b, "---\na");
  assert_int_equal(test_yaml_try(b.data, NULL, "more than 1000 %TAG"),
                   PAI_ELIMIT);
  assert_int_equal(test_yaml_try(strchr(b.data, '\n') + 1, NULL, ""), PAI_OK);
  pai__buf_dispose(&b);
}

static void ordered_maps_are_limited(void **state)
{
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "!!omap\n");
  for (int i = 0; i < 256; i++)
    pai__buf_printf(&b, "- k%d: 1\n", i);
  assert_int_equal(test_yaml_try(b.data, NULL, ""), PAI_OK);
  pai__buf_str(&b, "- more: 1\n");
  assert_int_equal(test_yaml_try(b.data, NULL, "more than 256 entries"),
                   PAI_ELIMIT);
  pai__buf_dispose(&b);
}

/* --- memory ------------------------------------------------------------- */

static int parse_body(const pai_alloc *alloc, void *user_data)
{
  pai__yaml_options opts = { .alloc = alloc };

  return test_yaml_try(user_data, &opts, "out of memory");
}

static void reader_survives_failing_memory(void **state)
{
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "a: &a {x: 1}\nb: &b [!!binary aGk=, 2020-01-01, 1.5]\n"
                   "c:\n\t? [*a, y]\n\t: {<<: *a, z: *b}\n"
                   "d: \"x\xe2\x80\xa8y\"\ne: |\n  \tx\n\t\n");
  for (int i = 0; i < 60; i++)
    pai__buf_printf(&b, "k%d: &n%d [v%d]\n", i, i, i);
  test_faults(parse_body, b.data);
  pai__buf_dispose(&b);
}

static void memory_is_bounded(void **state)
{
  test_tally tally;
  pai__yaml_options opts = { .alloc = &tally.alloc };
  pai__tree *t;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- name: job_%d\n  gpus: %d\n", i, i % 8);
  test_tally_init(&tally);
  assert_int_equal(pai__yaml_parse(&t, b.data, b.len, &opts, NULL), PAI_OK);
  assert_in_range(tally.peak, 1, b.len * 12 + 256 * 1024);
  pai__tree_free(t);
  assert_int_equal(tally.live, 0);
  pai__buf_dispose(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_name_the_place_and_the_thing),
    cmocka_unit_test(help_says_how_to_mend_it),
    cmocka_unit_test(long_names_make_short_messages),
    cmocka_unit_test(depth_is_limited),
    cmocka_unit_test(alias_expansion_is_limited),
    cmocka_unit_test(aliases_repeat_a_text_ten_times),
    cmocka_unit_test(made_up_keys_are_limited),
    cmocka_unit_test(bytes_and_directives_are_limited),
    cmocka_unit_test(ordered_maps_are_limited),
    cmocka_unit_test(reader_survives_failing_memory),
    cmocka_unit_test(memory_is_bounded),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
