/* The YAML writer: golden bytes, forms of text, misuse, round trips. */
#include "documents.h"

#include "json/writer.h"
#include "yaml/writer.h"

#include <math.h>
#include <stdio.h>

static void write_sample(pai__yaml_writer *w)
{
  pai__yaml_begin_mapping(w);
  pai__yaml_key(w, "name", 4);
  pai__yaml_text(w, "job_1", 5);
  pai__yaml_key(w, "empty", 5);
  pai__yaml_begin_mapping(w);
  pai__yaml_end_mapping(w);
  pai__yaml_key(w, "roles", 5);
  pai__yaml_begin_sequence(w);
  pai__yaml_begin_mapping(w);
  pai__yaml_key(w, "a", 1);
  pai__yaml_int(w, -1);
  pai__yaml_key(w, "b", 1);
  pai__yaml_begin_sequence(w);
  pai__yaml_double(w, 2);
  pai__yaml_begin_sequence(w);
  pai__yaml_end_sequence(w);
  pai__yaml_end_sequence(w);
  pai__yaml_end_mapping(w);
  pai__yaml_begin_sequence(w);
  pai__yaml_begin_sequence(w);
  pai__yaml_nothing(w);
  pai__yaml_end_sequence(w);
  pai__yaml_boolean(w, true);
  pai__yaml_end_sequence(w);
  pai__yaml_text(w, "line 1\n  line 2\n", 16);
  pai__yaml_end_sequence(w);
  pai__yaml_key(w, "yes", 3);
  pai__yaml_text(w, "\n x\n\n", 5);
  pai__yaml_end_mapping(w);
}

static const char sample[] = "name: job_1\n"
                             "empty: {}\n"
                             "roles:\n"
                             "  - a: -1\n"
                             "    b:\n"
                             "      - 2.0\n"
                             "      - []\n"
                             "  - - - null\n"
                             "    - true\n"
                             "  - |\n"
                             "    line 1\n"
                             "      line 2\n"
                             "'yes': |2+\n"
                             "\n"
                             "   x\n"
                             "\n";

static void bytes_are_as_promised(void **state)
{
  pai__yaml_writer w;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__yaml_writer_init(&w, &b);
  write_sample(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_OK);
  assert_string_equal(pai__buf_text(&b), sample);
  pai__buf_dispose(&b);
}

static void expect_text(const char *s, size_t len, const char *want)
{
  pai__yaml_writer w;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__yaml_writer_init(&w, &b);
  pai__yaml_begin_sequence(&w);
  pai__yaml_text(&w, s, len);
  pai__yaml_end_sequence(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_OK);
  if (strcmp(pai__buf_text(&b) + 2, want) != 0)
    fail_msg("\"%s\" is written as\n%swant\n%s", s, pai__buf_text(&b) + 2,
             want);
  pai__buf_dispose(&b);
}

static void text_is_plain_only_where_all_readers_agree(void **state)
{
  static const char *const plain[] = {
    "a",
    "openpai/standard:python_3.6",
    "http://h/p?q=1&r=[2]",
    "$HOME/x",
    "./run.sh --all",
    "../x",
    "<% $data.uri[0] %>",
    "a'b\"c",
    "x#y",
    "日本",
    "/mnt/data",
    "1st",
    "10 gpus",
    "true story",
    "nullable",
    "a:b",

  };
  static const char *const quoted[] = {
    "",      "1",        "-1",   "1.5",  "1e3",   "0x10", "0o7",
    "0b1",   "1_0",      "1:30", ".5",   "+1",    ".inf", ".NaN",
    "~",     "null",     "Null", "TRUE", "false", "yes",  "No",
    "ON",    "off",      "y",    "N",    "<<",    "=",    "2020-01-01",
    "a: b",  "a:",       "a #b", "#a",   " a",    "a ",   "- a",
    "-",     "--x",      "? a",  ": a",  ":a",    "[a]",  "{a}",
    "&a",    "*a",       "!a",   "|",    ">",     "%a",   "@a",
    "`a`",   "\"a\"",    "'a'",  ",a",   "]",     "...",  "12abc",
    "1.2.3", "10.0.0.1",
  };
  char want[100];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(plain); i++) {
    if (plain[i][0] == '\0')
      continue;
    (void)snprintf(want, sizeof(want), "%s\n", plain[i]);
    expect_text(plain[i], strlen(plain[i]), want);
  }
  for (size_t i = 0; i < PAI__LEN(quoted); i++) {
    if (strchr(quoted[i], '\'') != NULL)
      continue;
    (void)snprintf(want, sizeof(want), "'%s'\n", quoted[i]);
    expect_text(quoted[i], strlen(quoted[i]), want);
  }
  expect_text("'a'", 3, "'''a'''\n");
}

static void text_takes_the_form_it_needs(void **state)
{
  (void)state;
  expect_text("a\tb", 3, "\"a\\tb\"\n");
  expect_text("a\x01\x7f\"\\", 5, "\"a\\x01\\x7F\\\"\\\\\"\n");
  expect_text("\0", 1, "\"\\x00\"\n");
  expect_text("\xc2\x85\xe2\x80\xa8\xef\xbb\xbf", 8,
              "\"\\x85\\u2028\\uFEFF\"\n");
  expect_text("\xff", 1, "\"\xef\xbf\xbd\"\n");
  expect_text("a\r\nb", 4, "\"a\\r\\nb\"\n");
  expect_text("\n", 1, "\"\\n\"\n");
  expect_text("a\nb", 3, "|-\n  a\n  b\n");
  expect_text("a\n\n\nb\n", 6, "|\n  a\n\n\n  b\n");
  expect_text("a\n\n", 3, "|+\n  a\n\n");
  expect_text("  a\nb", 5, "|2-\n    a\n  b\n");
  expect_text("\n\ta\n", 4, "|2\n\n  \ta\n");
  expect_text("a\n\tb ", 5, "|-\n  a\n  \tb \n");
}

static void long_keys_are_announced(void **state)
{
  pai__yaml_writer w;
  char key[2001];
  pai__tree *t;
  pai__buf b;

  (void)state;
  memset(key, 'k', sizeof(key));
  pai__buf_init(&b, &pai__libc_alloc);
  pai__yaml_writer_init(&w, &b);
  pai__yaml_begin_sequence(&w);
  pai__yaml_begin_mapping(&w);
  pai__yaml_key(&w, key, 2000);
  pai__yaml_begin_mapping(&w);
  pai__yaml_key(&w, "a", 1);
  pai__yaml_int(&w, 1);
  pai__yaml_key(&w, key, 129);
  pai__yaml_text(&w, "x\ny", 3);
  pai__yaml_end_mapping(&w);
  pai__yaml_end_mapping(&w);
  pai__yaml_end_sequence(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_OK);
  assert_memory_equal(b.data, "- ? kkk", 7);
  t = test_yaml_parse(b.data, NULL);
  assert_int_equal(pai__tree_find(t, 1, key, 2000), 2);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

static void numbers_stay_what_they_are(void **state)
{
  static const struct {
    double v;
    const char *text;
  } rows[] = {
    { 1, "1.0\n" },
    { -0.0, "-0.0\n" },
    { 0.5, "0.5\n" },
    { 1e21, "1.0e+21\n" },
    { 1.5e-9, "1.5e-9\n" },
    { 5e-324, "5.0e-324\n" },
    { 1e20, "100000000000000000000.0\n" },
    { NAN, ".nan\n" },
    { INFINITY, ".inf\n" },
    { -INFINITY, "-.inf\n" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__yaml_writer w;
    pai__tree *t;
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__yaml_writer_init(&w, &b);
    pai__yaml_double(&w, rows[i].v);
    assert_int_equal(pai__yaml_finish(&w), PAI_OK);
    assert_string_equal(pai__buf_text(&b), rows[i].text);
    for (int mode = PAI__YAML_JS; mode <= PAI__YAML_CORE; mode++) {
      pai__yaml_options opts = { .mode = mode };
      double back;
      assert_int_equal(pai__yaml_parse(&t, b.data, b.len, &opts, NULL),
                       PAI_OK);
      assert_int_equal(pai__tree_type(t, 0), PAI__FLOAT);
      back = pai__tree_float(t, 0);
      assert_true(back == rows[i].v ||
                  (back != back && rows[i].v != rows[i].v));
      pai__tree_free(t);
    }
    pai__buf_dispose(&b);
  }
}

static void misuse_is_refused(void **state)
{
  pai__yaml_writer w;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__yaml_writer_init(&w, &b);
  assert_int_equal(pai__yaml_finish(&w), PAI_EINVAL);
  pai__yaml_begin_mapping(&w);
  pai__yaml_int(&w, 1);
  pai__yaml_end_mapping(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_EINVAL);
  pai__yaml_writer_init(&w, &b);
  pai__yaml_key(&w, "a", 1);
  assert_int_equal(pai__yaml_finish(&w), PAI_EINVAL);
  pai__yaml_writer_init(&w, &b);
  pai__yaml_int(&w, 1);
  pai__yaml_int(&w, 2);
  assert_int_equal(pai__yaml_finish(&w), PAI_EINVAL);
  pai__yaml_writer_init(&w, &b);
  pai__yaml_begin_sequence(&w);
  pai__yaml_end_mapping(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_EINVAL);
  pai__yaml_writer_init(&w, &b);
  for (int i = 0; i <= PAI__NEST_MAX; i++)
    pai__yaml_begin_sequence(&w);
  assert_int_equal(pai__yaml_finish(&w), PAI_ELIMIT);
  pai__buf_dispose(&b);
}

/* The same document as JSON and as YAML reads as the same values. */
static void what_is_written_is_read_back(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 6000; seed++) {
    pai__json_writer jw;
    pai__yaml_writer yw;
    pai__buf json, yaml;
    pai__tree *want, *got;

    pai__buf_init(&json, &pai__libc_alloc);
    pai__buf_init(&yaml, &pai__libc_alloc);
    pai__json_writer_init(&jw, &json, false);
    pai__yaml_writer_init(&yw, &yaml);
    test_write_random(&test_json_table, &jw, seed);
    test_write_random(&test_yaml_table, &yw, seed);
    assert_int_equal(pai__json_finish(&jw), PAI_OK);
    assert_int_equal(pai__yaml_finish(&yw), PAI_OK);
    assert_int_equal(pai__json_parse(&want, json.data, json.len, NULL, NULL),
                     PAI_OK);
    for (int mode = PAI__YAML_JS; mode <= PAI__YAML_CORE; mode++) {
      pai__yaml_options opts = { .mode = mode };
      pai_error *err = NULL;

      if (pai__yaml_parse(&got, yaml.data, yaml.len, &opts, &err) < 0)
        fail_msg("seed %llu: %u:%u %s\n%s", (unsigned long long)seed,
                 pai_error_line(err), pai_error_column(err),
                 pai_error_message(err), yaml.data);
      test_check_tree(got);
      if (!test_same(want, 0, got, 0))
        fail_msg("seed %llu: mode %d\n%s\n%s", (unsigned long long)seed, mode,
                 json.data, yaml.data);
      pai__tree_free(got);
    }
    pai__tree_free(want);
    pai__buf_dispose(&yaml);
    pai__buf_dispose(&json);
  }
}

static int write_body(const pai_alloc *alloc, void *user_data)
{
  pai__yaml_writer w;
  pai__buf b;
  int rc;

  (void)user_data;
  pai__buf_init(&b, alloc);
  pai__yaml_writer_init(&w, &b);
  write_sample(&w);
  rc = pai__yaml_finish(&w);
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&b), sample);
  pai__buf_dispose(&b);
  return rc;
}

static void writer_survives_failing_memory(void **state)
{
  (void)state;
  test_faults(write_body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_as_promised),
    cmocka_unit_test(text_is_plain_only_where_all_readers_agree),
    cmocka_unit_test(text_takes_the_form_it_needs),
    cmocka_unit_test(long_keys_are_announced),
    cmocka_unit_test(numbers_stay_what_they_are),
    cmocka_unit_test(misuse_is_refused),
    cmocka_unit_test(what_is_written_is_read_back),
    cmocka_unit_test(writer_survives_failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
