/* The JSON reader: values, places, errors, limits; jansson as a witness. */
#include "documents.h"

#include "base/prng.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#include <stdio.h>

static void values_are_read(void **state)
{
  static const struct {
    const char *text, *shown;
  } rows[] = {
    { "null", "null" },
    { " true ", "true" },
    { "false", "false" },
    { "0", "0" },
    { "-0", "0" },
    { "-0.0", "0.0" },
    { "9223372036854775807", "9223372036854775807" },
    { "-9223372036854775808", "-9223372036854775808" },
    { "9223372036854775808", "9223372036854776000.0" },
    { "-9223372036854775809", "-9223372036854776000.0" },
    { "18446744073709551616", "18446744073709552000.0" },
    { "1.5", "1.5" },
    { "1e3", "1000.0" },
    { "1E+2", "100.0" },
    { "25e-1", "2.5" },
    { "0.1e1", "1.0" },
    { "1e400", "Infinity" },
    { "0.30000000000000004", "0.30000000000000004" },
    { "123456789012345678901234567890e-10", "12345678901234567000.0" },
    { "\"\"", "\"\"" },
    { "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
      "\"a\\\"\\\\/\\x08\\x0c\\n\\x0d\\t\"" },
    { "\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\"é€😀\"" },
    { "\"é€😀 and a long tail of plain text\"",
      "\"é€😀 and a long tail of plain text\"" },
    { "\"\\u0000\"", "\"\\x00\"" },
    { "\"\x7f\"", "\"\\x7f\"" },
    { "[]", "[]" },
    { "{}", "{}" },
    { "[[],{},[{}]]", "[[], {}, [{}]]" },
    { "{\"a\":{\"b\":[1,\"x\"]},\"\":null}", "{a: {b: [1, \"x\"]}, : null}" },
    { "\xef\xbb\xbf{}", "{}" },
    { "\r\n\t [ \n 1 \r , \t 2 ] \n", "[1, 2]" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_json_shows(rows[i].text, rows[i].shown);
}

static void errors_name_the_place_and_the_thing(void **state)
{
  static const struct {
    const char *text;
    uint32_t line, column;
    const char *part;
  } rows[] = {
    { "", 1, 1, "expected a value, not the end" },
    { "  \n ", 2, 2, "expected a value, not the end" },
    { "[1,]", 1, 4, "expected a value, not ']'" },
    { "{\"a\":1,}", 1, 8, "expected a key in double quotes, not '}'" },
    { "{a:1}", 1, 2, "expected a key in double quotes, not 'a'" },
    { "{\"a\" 1}", 1, 6, "expected ':' after the key, not '1'" },
    { "{\"a\":}", 1, 6, "expected a value, not '}'" },
    { "{\"a\":1 \"b\"", 1, 8, "expected ',' or '}' after the value" },
    { "[1 2]", 1, 4, "expected ',' or ']' after the value, not '2'" },
    { "[1", 1, 3, "not the end of the text" },
    { "[1}", 1, 3, "expected ',' or ']'" },
    { "'x'", 1, 1, "not '''" },
    { "nul", 1, 1, "expected a value, not 'n'" },
    { "[\n  1,\n  é]", 3, 3, "not 'é'" },
    { "\"é\" x", 1, 5, "expected nothing more" },
    { "1 2", 1, 3, "expected nothing more after the value, not '2'" },
    { "01", 1, 2, "no digit may follow a leading 0" },
    { "-01", 1, 3, "no digit may follow a leading 0" },
    { "-", 1, 2, "expected a digit, not the end" },
    { "-x", 1, 2, "expected a digit, not 'x'" },
    { "1.", 1, 3, "expected a digit" },
    { ".5", 1, 1, "expected a value" },
    { "+1", 1, 1, "expected a value" },
    { "1.e3", 1, 3, "expected a digit" },
    { "1e", 1, 3, "expected a digit" },
    { "1e+", 1, 4, "expected a digit" },
    { "[NaN]", 1, 2, "expected a value" },
    { "\"abc", 1, 1, "the string has no end" },
    { "[\"a\nb\"]", 1, 4, "control character U+000A in a string" },
    { "\"a\tb\"", 1, 3, "control character U+0009" },
    { "\"\\x\"", 1, 2, "unknown escape" },
    { "\"\\", 1, 2, "unknown escape" },
    { "\"\\u12g4\"", 1, 2, "four hexadecimal digits" },
    { "\"\\ud800\"", 1, 2, "half of a surrogate pair" },
    { "\"\\ud800\\u0041\"", 1, 2, "half of a surrogate pair" },
    { "\"\\udc00\"", 1, 2, "half of a surrogate pair" },
    { "\"ab\xff\"", 1, 4, "byte 0xff is not UTF-8" },
    { "\"\xed\xa0\x80\"", 1, 2, "byte 0xed is not UTF-8" },
    { "\xff", 1, 1, "byte 0xff is not UTF-8" },
    { "[\x01]", 1, 2, "control character U+0001" },
    { "// x\n1", 1, 1, "expected a value, not '/'" },
    { "{\"a\":1,\"b\":2,\n\"a\":3}", 2, 1,
      "key \"a\" is there already, at line 1, column 2" },
    { "{\"\\u0061\":1,\"a\":3}", 1, 13, "key \"a\" is there already" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_json_fails(rows[i].text, PAI_EINVAL, rows[i].line, rows[i].column,
                    rows[i].part);
}

static void help_says_how_to_mend_it(void **state)
{
  pai_error *err = NULL;
  pai__tree *t;

  (void)state;
  assert_int_equal(pai__json_parse(&t, "[1,]", 4, NULL, &err), PAI_EINVAL);
  assert_string_equal(pai_error_help(err),
                      "remove the comma before it, or add a value");
  pai_error_free(err);
}

static void embedded_nul_is_refused(void **state)
{
  static const struct {
    const char *text;
    size_t len;
  } rows[] = { { "1\0", 2 }, { "\0", 1 }, { "\"a\0b\"", 5 }, { "[1,\0", 4 } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai__tree *t;
    assert_int_equal(
      pai__json_parse(&t, rows[i].text, rows[i].len, NULL, &err), PAI_EINVAL);
    test_expect_error(err, PAI_EINVAL, "U+0000");
  }
}

static void late_duplicates_are_found_in_large_objects(void **state)
{
  (void)state;
  for (unsigned n = 2; n < 80; n += 3) {
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&b, "%s\n\"key%u\":1", i == 0 ? "{" : ",", i);
    pai__buf_printf(&b, ",\n\"key%u\":2}", n / 2);
    test_json_fails(b.data, PAI_EINVAL, n + 2, 1, "is there already");
    pai__buf_dispose(&b);
  }
}

static void comments_are_an_option(void **state)
{
  static const char text[] = "// c\n{ /* a */ \"a\" /**/ : // b\n [ /* */ 1 /*"
                             "\n*/, 2 ] //x\r }// end";
  pai__json_options opts = { .flags = PAI__JSON_COMMENTS };
  pai_error *err = NULL;
  pai__tree *t;

  (void)state;
  t = test_json_parse(text, &opts);
  assert_int_equal(pai__tree_where(t, 3).line, 3);
  assert_int_equal(pai__tree_where(t, 3).column, 10);
  pai__tree_free(t);
  assert_int_equal(pai__json_parse(&t, "[1, /* x", 8, &opts, &err),
                   PAI_EINVAL);
  assert_int_equal(pai_error_column(err), 5);
  test_expect_error(err, PAI_EINVAL, "the comment has no end");
  assert_int_equal(pai__json_parse(&t, "1 /* \0 */", 10, &opts, &err),
                   PAI_EINVAL);
  assert_int_equal(pai_error_column(err), 6);
  test_expect_error(err, PAI_EINVAL, "a NUL byte is in a comment");
  assert_int_equal(pai__json_parse(&t, "1 // \0", 6, &opts, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "a NUL byte is in a comment");
  assert_int_equal(test_json_try("1 / 2", &opts, "not '/'"), PAI_EINVAL);
}

static void commas_before_brackets_are_an_option(void **state)
{
  pai__json_options opts = { .flags = PAI__JSON_COMMAS };
  pai__tree *t =
    test_json_parse("{\"a\": [1, [2,],\n], \"b\": {\"c\": 3 , } ,}", &opts);

  (void)state;
  test_shows(t, "{a: [1, [2]], b: {c: 3}}");
  pai__tree_free(t);
  assert_int_equal(test_json_try("[,]", &opts, "not ','"), PAI_EINVAL);
  assert_int_equal(test_json_try("{,}", &opts, "not ','"), PAI_EINVAL);
  assert_int_equal(test_json_try("[1,,]", &opts, "not ','"), PAI_EINVAL);
  assert_int_equal(test_json_try("[1,}", &opts, "not '}'"), PAI_EINVAL);
  assert_int_equal(test_json_try("1,", &opts, "nothing more"), PAI_EINVAL);
  assert_int_equal(test_json_try("[1,", &opts, "the end"), PAI_EINVAL);
}

/* Every node's source is what it was read from. */
static void nodes_know_their_source(void **state)
{
  static const char text[] =
    "{ \"k\\n\" : [ 1 , \"\\u00e9\" ] ,\r\n \"日本\": { } }";
  static const char *const want[] = {
    text,       "\"k\\n\"", "[ 1 , \"\\u00e9\" ]", "1", "\"\\u00e9\"",
    "\"日本\"", "{ }"
  };
  pai__tree *t = test_json_parse(text, NULL);

  (void)state;
  test_sources(t, want, PAI__LEN(want));
  assert_int_equal(pai__tree_where(t, 6).line, 2);
  assert_int_equal(pai__tree_where(t, 6).column, 8);
  pai__tree_free(t);
}

/* Values nested n deep. */
static int parse_nested(unsigned n, uint32_t max_depth)
{
  pai__json_options opts = { .max_depth = max_depth };
  char part[40];
  pai__buf b;
  int rc;

  (void)snprintf(part, sizeof(part), "nested more than %u deep",
                 max_depth != 0 ? max_depth : 64);
  pai__buf_init(&b, &pai__libc_alloc);
  for (unsigned i = 0; i < n; i++)
    pai__buf_str(&b, i % 2 ? "[" : "{\"k\":");
  pai__buf_str(&b, "0");
  for (unsigned i = n; i-- > 0;)
    pai__buf_char(&b, i % 2 ? ']' : '}');
  rc = test_json_try(b.data, &opts, part);
  pai__buf_dispose(&b);
  return rc;
}

static void limits_hold_at_the_limit_and_one_over(void **state)
{
  pai__json_options opts = { .max_bytes = 4 };
  pai__tree *t;

  (void)state;
  assert_int_equal(parse_nested(64, 0), PAI_OK);
  assert_int_equal(parse_nested(65, 0), PAI_ELIMIT);
  assert_int_equal(parse_nested(1, 1), PAI_OK);
  assert_int_equal(parse_nested(2, 1), PAI_ELIMIT);
  assert_int_equal(parse_nested(100000, 0), PAI_ELIMIT);
  assert_int_equal(parse_nested(100000, 100000), PAI_OK);
  assert_int_equal(test_json_try("[12]", &opts, ""), PAI_OK);
  assert_int_equal(test_json_try("[123]", &opts, "more than 4 bytes"),
                   PAI_ELIMIT);
  assert_int_equal(pai__json_parse(&t, "[123]", 5, &opts, NULL), PAI_ELIMIT);
  assert_null(t);
}

static int parse_body(const pai_alloc *alloc, void *user_data)
{
  pai__json_options opts = { .alloc = alloc };

  return test_json_try(user_data, &opts, "out of memory");
}

static void reader_survives_failing_memory(void **state)
{
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "{\"x\":1.7976931348623157e308");
  for (int i = 0; i < 100; i++)
    pai__buf_printf(&b, ",\"k%d\":[%d,\"\\u00e9\"]", i, i);
  pai__buf_char(&b, '}');
  test_faults(parse_body, b.data);
  pai__buf_dispose(&b);
}

/* --- jansson as a witness ----------------------------------------------- */

#ifdef HAVE_JANSSON
static bool same_as(const pai__tree *t, pai__node n, const json_t *v)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  size_t len, i = 0;
  pai__node c;

  switch (json_typeof(v)) {
  case JSON_OBJECT:
    if (pai__tree_type(t, n) != PAI__MAPPING ||
        pai__tree_count(t, n) != json_object_size(v))
      return false;
    while ((c = pai__tree_next(&w)) != PAI__NO_NODE) {
      const json_t *m = json_object_get(v, pai__tree_str(t, c, NULL));
      if (m == NULL || !same_as(t, pai__tree_value(t, c), m))
        return false;
    }
    return true;
  case JSON_ARRAY:
    if (pai__tree_type(t, n) != PAI__SEQUENCE ||
        pai__tree_count(t, n) != json_array_size(v))
      return false;
    while ((c = pai__tree_next(&w)) != PAI__NO_NODE)
      if (!same_as(t, c, json_array_get(v, i++)))
        return false;
    return true;
  case JSON_STRING:
    return pai__tree_type(t, n) == PAI__STRING &&
           strcmp(pai__tree_str(t, n, &len), json_string_value(v)) == 0 &&
           len == json_string_length(v);
  case JSON_INTEGER:
    return pai__tree_type(t, n) == PAI__INT &&
           pai__tree_int(t, n) == json_integer_value(v);
  case JSON_REAL:
    return pai__tree_type(t, n) == PAI__FLOAT &&
           pai__tree_float(t, n) == json_real_value(v);
  case JSON_NULL: return pai__tree_type(t, n) == PAI__NULL;
  default:
    return pai__tree_type(t, n) == PAI__BOOL &&
           pai__tree_bool(t, n) == json_is_true(v);
  }
}

/* jansson refuses what we accept for its own reasons only. */
static bool has_reason(const char *text, const json_error_t *e)
{
  enum json_error_code code = json_error_code(e);

  return code == json_error_null_character ||
         code == json_error_null_byte_in_key ||
         code == json_error_numeric_overflow || strstr(text, "\\u0000") ||
         strncmp(text, "\xef\xbb\xbf", 3) == 0;
}

/* Documents that are nearly JSON. */
static void mutate(pai__prng *r, pai__buf *b)
{
  static const char bytes[] =
    "{}[]:,\"\\ \n0123456789.eE+-truefalsn/u\xc3\xa9";
  size_t n = pai__prng_below(r, 3);

  for (size_t i = 0; i < n && b->len != 0; i++)
    b->data[pai__prng_below(r, b->len)] =
      bytes[pai__prng_below(r, sizeof(bytes) - 1)];
}

static void agrees_with_jansson(void **state)
{
  static const char *const seeds[] = {
    "{\"a\":[1,-2.5e3,true,null],\"b\":{\"c\":\"x\\u00e9\\n\"},\"d\":\"\"}",
    "[0,10,-0.5,1e5,\"\\ud83d\\ude00\",[],{},[[{}]],false]",
    " { \"key\" : \"a long text without escapes\" , \"k2\" : 12345678 } ",
  };
  pai__prng r = { 11 };

  (void)state;
  for (int i = 0; i < 30000; i++) {
    json_error_t e;
    pai__tree *t = NULL;
    json_t *v;
    pai__buf b;
    int rc;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__buf_str(&b, seeds[i % 3]);
    mutate(&r, &b);
    v =
      json_loadb(b.data, b.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);
    rc = pai__json_parse(&t, b.data, b.len, NULL, NULL);
    if ((rc == PAI_OK) != (v != NULL) &&
        !(rc == PAI_OK && has_reason(b.data, &e)))
      fail_msg("%s: we say %d, jansson says %s", b.data, rc,
               v != NULL ? "yes" : e.text);
    if (rc == PAI_OK && v != NULL && !same_as(t, 0, v))
      fail_msg("%s: read differently", b.data);
    json_decref(v);
    pai__tree_free(t);
    pai__buf_dispose(&b);
  }
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_read),
    cmocka_unit_test(errors_name_the_place_and_the_thing),
    cmocka_unit_test(help_says_how_to_mend_it),
    cmocka_unit_test(embedded_nul_is_refused),
    cmocka_unit_test(late_duplicates_are_found_in_large_objects),
    cmocka_unit_test(comments_are_an_option),
    cmocka_unit_test(commas_before_brackets_are_an_option),
    cmocka_unit_test(nodes_know_their_source),
    cmocka_unit_test(limits_hold_at_the_limit_and_one_over),
    cmocka_unit_test(reader_survives_failing_memory),
#ifdef HAVE_JANSSON
    cmocka_unit_test(agrees_with_jansson),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
