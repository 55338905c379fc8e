/* The JSON reader: values, places, errors, limits; the writer: golden bytes,
 * misuse, sinks, round trips; jansson as a witness. */
#include "cases.h"
#include "documents.h"

#include "base/prng.h"
#include "json/node.h"
#include "json/writer.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TEST(values_are_read)
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

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_json_shows(rows[i].text, rows[i].shown);
}

TEST(errors_name_the_place_and_the_thing)
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
      "key \"a\" already exists at line 1, column 2" },
    { "{\"\\u0061\":1,\"a\":3}", 1, 13, "key \"a\" already exists" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_json_fails(rows[i].text, PAI_EINVAL, rows[i].line, rows[i].column,
                    rows[i].part);
}

TEST(help_says_how_to_mend_it)
{
  pai_error *err = NULL;
  pai__tree *t;

  assert_int_equal(pai__json_parse(&t, "[1,]", 4, NULL, &err), PAI_EINVAL);
  assert_string_equal(pai_error_help(err),
                      "remove the comma before it, or add a value");
  pai_error_free(err);
}

TEST(late_duplicates_are_found_in_large_objects)
{
  for (unsigned n = 2; n < 80; n += 3) {
    pai__buf b = test_buf();

    for (unsigned i = 0; i < n; i++)
      pai__buf_printf(&b, "%s\n\"key%u\":1", i == 0 ? "{" : ",", i);
    pai__buf_printf(&b, ",\n\"key%u\":2}", n / 2);
    test_json_fails(b.data, PAI_EINVAL, n + 2, 1, "already exists");
    pai__buf_dispose(&b);
  }
}

TEST(comments_and_commas_are_options)
{
  static const char text[] = "// c\n{ /* a */ \"a\" /**/ : // b\n [ /* */ 1 /*"
                             "\n*/, 2 ] //x\r }// end";
  static const struct {
    const char *text, *part;
    size_t len;
    unsigned flags;
    uint32_t column;
  } rows[] = {
    { "[1, /* x", "the comment has no end", 8, PAI__JSON_COMMENTS, 5 },
    { "1 /* \0 */", "a NUL byte is in a comment", 10, PAI__JSON_COMMENTS, 6 },
    { "1 // \0", "a NUL byte is in a comment", 6, PAI__JSON_COMMENTS, 6 },
    { "1 / 2", "not '/'", 5, PAI__JSON_COMMENTS, 3 },
    { "[,]", "not ','", 3, PAI__JSON_COMMAS, 2 },
    { "{,}", "not ','", 3, PAI__JSON_COMMAS, 2 },
    { "[1,,]", "not ','", 5, PAI__JSON_COMMAS, 4 },
    { "[1,}", "not '}'", 4, PAI__JSON_COMMAS, 4 },
    { "1,", "nothing more", 2, PAI__JSON_COMMAS, 2 },
    { "[1,", "the end", 3, PAI__JSON_COMMAS, 4 },
    /* a NUL in none */
    { "1\0", "U+0000", 2, 0, 2 },
    { "\0", "U+0000", 1, 0, 1 },
    { "\"a\0b\"", "U+0000", 5, 0, 3 },
    { "[1,\0", "U+0000", 4, 0, 4 },
  };
  pai__json_options opts = { .flags = PAI__JSON_COMMENTS };
  pai__tree *t = test_json_parse(text, &opts);

  assert_int_equal(pai__tree_where(t, 3).line, 3);
  assert_int_equal(pai__tree_where(t, 3).column, 10);
  pai__tree_free(t);
  opts.flags = PAI__JSON_COMMAS;
  t = test_json_parse("{\"a\": [1, [2,],\n], \"b\": {\"c\": 3 , } ,}", &opts);
  test_shows(t, "{a: [1, [2]], b: {c: 3}}");
  pai__tree_free(t);
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;

    opts.flags = rows[i].flags;
    assert_int_equal(
      pai__json_parse(&t, rows[i].text, rows[i].len, &opts, &err), PAI_EINVAL);
    assert_int_equal(pai_error_column(err), rows[i].column);
    test_expect_error(err, PAI_EINVAL, rows[i].part);
  }
}

/* Every node's source is what it was read from. */
TEST(nodes_know_their_source)
{
  static const char text[] =
    "{ \"k\\n\" : [ 1 , \"\\u00e9\" ] ,\r\n \"日本\": { } }";
  static const char *const want[] = {
    text,       "\"k\\n\"", "[ 1 , \"\\u00e9\" ]", "1", "\"\\u00e9\"",
    "\"日本\"", "{ }"
  };
  pai__tree *t = test_json_parse(text, NULL);

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
  pai__buf b = test_buf();
  int rc;

  (void)snprintf(part, sizeof(part), "nested more than %u deep",
                 max_depth != 0 ? max_depth : 64);
  for (unsigned i = 0; i < n; i++)
    pai__buf_str(&b, i % 2 ? "[" : "{\"k\":");
  pai__buf_str(&b, "0");
  for (unsigned i = n; i-- > 0;)
    pai__buf_char(&b, i % 2 ? ']' : '}');
  rc = test_json_try(b.data, &opts, part);
  pai__buf_dispose(&b);
  return rc;
}

TEST(limits_hold_at_the_limit_and_one_over)
{
  pai__json_options opts = { .max_bytes = 4 };
  pai__tree *t;

  assert_ok(parse_nested(64, 0));
  assert_int_equal(parse_nested(65, 0), PAI_ELIMIT);
  assert_ok(parse_nested(1, 1));
  assert_int_equal(parse_nested(2, 1), PAI_ELIMIT);
  assert_int_equal(parse_nested(100000, 0), PAI_ELIMIT);
  assert_ok(parse_nested(100000, 100000));
  assert_ok(test_json_try("[12]", &opts, ""));
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

TEST(reader_survives_failing_memory)
{
  pai__buf b = test_buf();

  pai__buf_str(&b, "{\"x\":1.7976931348623157e308");
  for (int i = 0; i < 100; i++)
    pai__buf_printf(&b, ",\"k%d\":[%d,\"\\u00e9\"]", i, i);
  pai__buf_char(&b, '}');
  test_faults(parse_body, b.data);
  pai__buf_dispose(&b);
}

/* --- the writer ---------------------------------------------------------- */

/* A small document with everything in it, in both layouts. */
static const char compact[] =
  "{\"text\":\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7fé\xf0\x9f\x98\x80/\","
  "\"numbers\":[-9223372036854775808,0.1,1e+21,3],"
  "\"\":{},\"empty\":[],\"words\":[true,false,null]}";

static const char pretty[] =
  "{\n"
  "  \"text\": \"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7fé\xf0\x9f\x98\x80/\",\n"
  "  \"numbers\": [\n"
  "    -9223372036854775808,\n"
  "    0.1,\n"
  "    1e+21,\n"
  "    3\n"
  "  ],\n"
  "  \"\": {},\n"
  "  \"empty\": [],\n"
  "  \"words\": [\n"
  "    true,\n"
  "    false,\n"
  "    null\n"
  "  ]\n"
  "}\n";

static int write_sample(pai__json_writer *w)
{
  pai__tree *t = test_json_parse(compact, NULL);

  test_write_tree(&test_json_table, w, t, 0);
  pai__tree_free(t);
  return pai__json_finish(w);
}

TEST(bytes_are_as_promised)
{
  pai__json_writer w;
  pai__buf b = test_buf();

  for (int p = 0; p <= 1; p++) {
    pai__buf_clear(&b);
    pai__json_writer_init(&w, &b, p != 0);
    assert_ok(write_sample(&w));
    assert_string_equal(pai__buf_text(&b), p != 0 ? pretty : compact);
  }
  pai__buf_clear(&b);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_array(&w); /* what JSON cannot say */
  pai__json_double(&w, (double)INFINITY);
  pai__json_double(&w, (double)NAN);
  pai__json_text(&w, "\xff\xf0\x9f\x98/", 5);
  pai__json_end_array(&w);
  assert_ok(pai__json_finish(&w));
  assert_string_equal(pai__buf_text(&b),
                      "[null,null,\"\xef\xbf\xbd\xef\xbf\xbd/\"]");
  pai__buf_dispose(&b);
}

/* Each letter is a call: o and a begin, O and A end, k key, v value. */
static int drive(const char *calls)
{
  pai__json_writer w;
  pai__buf b = test_buf();
  int rc;

  pai__json_writer_init(&w, &b, false);
  for (; *calls != '\0'; calls++) {
    switch (*calls) {
    case 'o': pai__json_begin_object(&w); break;
    case 'O': pai__json_end_object(&w); break;
    case 'a': pai__json_begin_array(&w); break;
    case 'A': pai__json_end_array(&w); break;
    case 'k': pai__json_member(&w, "k"); break;
    default: pai__json_int(&w, 1); break;
    }
  }
  rc = pai__json_finish(&w);
  pai__buf_dispose(&b);
  return rc;
}

TEST(misuse_is_refused)
{
  static const char *const wrong[] = { "",    "o",   "a",    "ok",  "okO",
                                       "ov",  "k",   "ak",   "akv", "okk",
                                       "A",   "O",   "oA",   "aO",  "vv",
                                       "aAv", "aAA", "okvv", "vk",  "okvOO" };
  static const char *const right[] = { "v", "aA", "oO", "okvO", "aavAoOvA" };
  char deep[2 * PAI__NEST_MAX + 3];

  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    if (drive(wrong[i]) != PAI_EINVAL)
      fail_msg("\"%s\" was accepted", wrong[i]);
  for (size_t i = 0; i < PAI__LEN(right); i++)
    if (drive(right[i]) != PAI_OK)
      fail_msg("\"%s\" was refused", right[i]);
  memset(deep, 'a', sizeof(deep));
  memset(deep + PAI__NEST_MAX, 'A', PAI__NEST_MAX);
  deep[2 * PAI__NEST_MAX] = '\0';
  assert_ok(drive(deep));
  memset(deep, 'a', PAI__NEST_MAX + 1);
  assert_int_equal(drive(deep), PAI_ELIMIT);
}

typedef struct sink {
  pai__buf all;
  size_t fail_after, calls;
} sink;

static int take(void *user_data, const char *bytes, size_t len)
{
  sink *s = user_data;

  if (s->fail_after != 0 && ++s->calls >= s->fail_after)
    return PAI_ECANCELED;
  pai__buf_add(&s->all, bytes, len);
  return PAI_OK;
}

static int write_to(sink *s, const pai_alloc *alloc, size_t *peak)
{
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_writer_to(&w, take, s);
  pai__json_begin_array(&w);
  for (int i = 0; i < 20000; i++)
    pai__json_int(&w, i);
  pai__json_end_array(&w);
  rc = pai__json_finish(&w);
  *peak = b.cap;
  pai__buf_dispose(&b);
  return rc;
}

TEST(sinks_get_all_of_it_in_pieces)
{
  sink s = { .fail_after = 0 };
  pai__tree *t;
  size_t peak;

  pai__buf_init(&s.all, &pai__libc_alloc);
  assert_ok(write_to(&s, &pai__libc_alloc, &peak));
  assert_in_range(peak, 1, 20000);
  assert_ok(pai__json_parse(&t, s.all.data, s.all.len, NULL, NULL));
  assert_int_equal(pai__tree_count(t, 0), 20000);
  pai__tree_free(t);
  s.fail_after = 2;
  assert_int_equal(write_to(&s, &pai__libc_alloc, &peak), PAI_ECANCELED);
  pai__buf_dispose(&s.all);
}

TEST(what_is_written_is_read_back)
{
  for (uint64_t seed = 0; seed < 4000; seed++) {
    pai__json_writer w;
    pai_error *err = NULL;
    pai__buf b = test_buf(), again = test_buf();
    pai__tree *t;

    pai__json_writer_init(&w, &b, seed % 2 != 0);
    test_write_random(&test_json_table, &w, seed);
    assert_ok(pai__json_finish(&w));
    if (pai__json_parse(&t, b.data, b.len, NULL, &err) < 0)
      fail_msg("seed %llu: %s\n%s", (unsigned long long)seed,
               pai_error_message(err), b.data);
    test_check_tree(t);
    pai__json_writer_init(&w, &again, seed % 2 != 0);
    if (seed % 4 < 2)
      test_write_tree(&test_json_table, &w, t, 0);
    else
      pai__json_node(&w, t, 0);
    assert_ok(pai__json_finish(&w));
    assert_string_equal(pai__buf_text(&again), pai__buf_text(&b));
    pai__tree_free(t);
    pai__buf_dispose(&again);
    pai__buf_dispose(&b);
  }
}

static int write_body(const pai_alloc *alloc, void *user_data)
{
  sink s = { .fail_after = 0 };
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&s.all, alloc);
  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, true);
  if (user_data != NULL)
    pai__json_writer_to(&w, take, &s);
  rc = write_sample(&w);
  if (user_data != NULL && rc == PAI_OK && !pai__buf_ok(&s.all))
    rc = PAI_ENOMEM;
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(user_data != NULL ? &s.all : &b),
                        pretty);
  pai__buf_dispose(&b);
  pai__buf_dispose(&s.all);
  return rc;
}

TEST(writer_survives_failing_memory)
{
  int yes;

  test_faults(write_body, NULL);
  test_faults(write_body, &yes);
}

/* --- jansson as a witness ----------------------------------------------- */

#ifdef HAVE_JANSSON
/* What jansson read and wrote again says the same. */
static bool same_as(const pai__tree *t, const json_t *v)
{
  char *text =
    json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
  pai__tree *back = test_json_parse(text, NULL);
  bool same = test_same(t, 0, back, 0);

  pai__tree_free(back);
  free(text);
  return same;
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

TEST(agrees_with_jansson)
{
  static const char *const seeds[] = {
    "{\"a\":[1,-2.5e3,true,null],\"b\":{\"c\":\"x\\u00e9\\n\"},\"d\":\"\"}",
    "[0,10,-0.5,1e5,\"\\ud83d\\ude00\",[],{},[[{}]],false]",
    " { \"key\" : \"a long text without escapes\" , \"k2\" : 12345678 } ",
  };
  pai__prng r = { 11 };

  for (int i = 0; i < 30000; i++) {
    json_error_t e;
    pai__tree *t = NULL;
    json_t *v;
    pai__buf b = test_buf();
    int rc;

    pai__buf_str(&b, seeds[i % 3]);
    mutate(&r, &b);
    v =
      json_loadb(b.data, b.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);
    rc = pai__json_parse(&t, b.data, b.len, NULL, NULL);
    if ((rc == PAI_OK) != (v != NULL) &&
        !(rc == PAI_OK && has_reason(b.data, &e)))
      fail_msg("%s: we say %d, jansson says %s", b.data, rc,
               v != NULL ? "yes" : e.text);
    if (rc == PAI_OK && v != NULL && !same_as(t, v))
      fail_msg("%s: read differently", b.data);
    json_decref(v);
    pai__tree_free(t);
    pai__buf_dispose(&b);
  }
}
#endif
