/* The YAML writer: golden bytes, forms of text, misuse, round trips. */
#include "cases.h"
#include "documents.h"

#include "json/writer.h"
#include "yaml/writer.h"

#include <math.h>
#include <stdio.h>

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

static int write_sample(pai__yaml_writer *w)
{
  pai__tree *t = test_json_parse("{\"name\": \"job_1\", \"empty\": {}, "
                                 "\"roles\": [{\"a\": -1, \"b\": [2.0, "
                                 "[]]}, [[null], true], \"line 1\\n  line "
                                 "2\\n\"], \"yes\": \"\\n x\\n\\n\"}",
                                 NULL);

  test_write_tree(&test_yaml_table, w, t, 0);
  pai__tree_free(t);
  return pai__yaml_finish(w);
}

/* With each allocation failing, and with none. */
TEST_FAULTS(bytes_are_as_promised)
{
  pai__yaml_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  pai__yaml_writer_init(&w, &b);
  rc = write_sample(&w);
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&b), sample);
  pai__buf_dispose(&b);
  return rc;
}

static void expect_text(const char *s, size_t len, const char *want)
{
  pai__yaml_writer w;
  pai__buf b = test_buf();

  pai__yaml_writer_init(&w, &b);
  pai__yaml_begin_sequence(&w);
  pai__yaml_text(&w, s, len);
  pai__yaml_end_sequence(&w);
  assert_ok(pai__yaml_finish(&w));
  if (strcmp(pai__buf_text(&b) + 2, want) != 0)
    fail_msg("\"%s\" is written as\n%swant\n%s", s, pai__buf_text(&b) + 2,
             want);
  pai__buf_dispose(&b);
}

TEST(text_is_plain_only_where_all_readers_agree)
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
    "",         "1",     "-1",   "1.5",  "1e3",   "0x10",  "0o7",
    "0b1",      "1_0",   "1:30", ".5",   "+1",    ".inf",  ".NaN",
    "~",        "null",  "Null", "TRUE", "false", "yes",   "No",
    "ON",       "off",   "y",    "N",    "<<",    "=",     "2020-01-01",
    "a: b",     "a:",    "a #b", "#a",   " a",    "a ",    "- a",
    "-",        "--x",   "? a",  ": a",  ":a",    "[a]",   "{a}",
    "&a",       "*a",    "!a",   "|",    ">",     "%a",    "@a",
    "`a`",      "\"a\"", ",a",   "]",    "...",   "12abc", "1.2.3",
    "10.0.0.1",
  };
  char want[100];

  for (size_t i = 0; i < PAI__LEN(plain); i++) {
    (void)snprintf(want, sizeof(want), "%s\n", plain[i]);
    expect_text(plain[i], strlen(plain[i]), want);
  }
  for (size_t i = 0; i < PAI__LEN(quoted); i++) {
    (void)snprintf(want, sizeof(want), "'%s'\n", quoted[i]);
    expect_text(quoted[i], strlen(quoted[i]), want);
  }
  expect_text("'a'", 3, "'''a'''\n");
}

TEST(text_takes_the_form_it_needs)
{
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

TEST(long_keys_are_announced)
{
  pai__yaml_writer w;
  char key[2001];
  pai__tree *t;
  pai__buf b = test_buf();

  memset(key, 'k', sizeof(key));
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
  assert_ok(pai__yaml_finish(&w));
  assert_memory_equal(b.data, "- ? kkk", 7);
  t = test_yaml_parse(b.data, NULL);
  assert_int_equal(pai__tree_find(t, 1, key, 2000), 2);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

TEST(numbers_stay_what_they_are)
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

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__yaml_writer w;
    pai__tree *t;
    pai__buf b = test_buf();

    pai__yaml_writer_init(&w, &b);
    pai__yaml_double(&w, rows[i].v);
    assert_ok(pai__yaml_finish(&w));
    assert_string_equal(pai__buf_text(&b), rows[i].text);
    for (int mode = PAI__YAML_JS; mode <= PAI__YAML_CORE; mode++) {
      pai__yaml_options opts = { .mode = mode };
      double back;
      assert_ok(pai__yaml_parse(&t, b.data, b.len, &opts, NULL));
      assert_int_equal(pai__tree_type(t, 0), PAI__FLOAT);
      back = pai__tree_float(t, 0);
      assert_true(back == rows[i].v ||
                  (back != back && rows[i].v != rows[i].v));
      pai__tree_free(t);
    }
    pai__buf_dispose(&b);
  }
}

/* Each letter is a call: m and s begin, M and S end, k key, v value. */
static int drive(const char *calls)
{
  pai__yaml_writer w;
  pai__buf b = test_buf();
  int rc;

  pai__yaml_writer_init(&w, &b);
  for (; *calls != '\0'; calls++)
    switch (*calls) {
    case 'm': pai__yaml_begin_mapping(&w); break;
    case 'M': pai__yaml_end_mapping(&w); break;
    case 's': pai__yaml_begin_sequence(&w); break;
    case 'S': pai__yaml_end_sequence(&w); break;
    case 'k': pai__yaml_key(&w, "k", 1); break;
    default: pai__yaml_int(&w, 1); break;
    }
  rc = pai__yaml_finish(&w);
  pai__buf_dispose(&b);
  return rc;
}

TEST(misuse_is_refused)
{
  static const char *const wrong[] = { "", "mvM", "k", "vv", "sM" };
  char deep[PAI__NEST_MAX + 2] = "";

  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    if (drive(wrong[i]) != PAI_EINVAL)
      fail_msg("\"%s\" was accepted", wrong[i]);
  assert_ok(drive("mkvkssSvSM"));
  memset(deep, 's', PAI__NEST_MAX + 1);
  assert_int_equal(drive(deep), PAI_ELIMIT);
}

/* The same document as JSON and as YAML reads as the same values. */
TEST(what_is_written_is_read_back)
{
  for (uint64_t seed = 0; seed < 6000; seed++) {
    pai__json_writer jw;
    pai__yaml_writer yw;
    pai__buf json = test_buf(), yaml = test_buf();
    pai__tree *want, *got;

    pai__json_writer_init(&jw, &json, false);
    pai__yaml_writer_init(&yw, &yaml);
    test_write_random(&test_json_table, &jw, seed);
    test_write_random(&test_yaml_table, &yw, seed);
    assert_ok(pai__json_finish(&jw));
    assert_ok(pai__yaml_finish(&yw));
    assert_ok(pai__json_parse(&want, json.data, json.len, NULL, NULL));
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
