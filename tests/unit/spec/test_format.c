/* The canonical layout: same meaning, all comments, and it stays as it is. */
#include "cases.h"
#include "documents.h"
#include "rows.h"
#include "styled.h"

#include "json/writer.h"
#include "spec/format/format.h"
#include "yaml/writer.h"

#include <stdio.h>

/* Comments are allowed in JSON, and equal keys, as in files of version 1. */
static pai__tree *parse(const char *text, size_t len, bool json)
{
  pai__json_options opts = { .flags =
                               PAI__JSON_COMMENTS | PAI__JSON_DUPLICATES };
  pai__tree *t = NULL;

  if (json)
    (void)pai__json_parse(&t, text, len, &opts, NULL);
  else
    (void)pai__yaml_parse(&t, text, len, NULL, NULL);
  if (t != NULL)
    test_check_tree(t);
  return t;
}

/* --- by example --------------------------------------------------------- */

static void expect(const char *text, const char *want, bool json)
{
  pai__tree *t = parse(text, strlen(text), json);
  pai_error *err = NULL;
  pai__buf out = test_buf();

  if (t == NULL)
    fail_msg("cannot be read:\n%s", text);
  if (pai__format(&out, t, &err) < 0)
    fail_msg("%s\n%s", pai_error_message(err), text);
  if (strcmp(pai__buf_text(&out), want) != 0)
    fail_msg("%s\ngives\n%s\nwant\n%s", text, pai__buf_text(&out), want);
  pai__buf_dispose(&out);
  pai__tree_free(t);
}

static const struct {
  const char *text, *want;
} in_yaml[] = {
  { "", "" },
  { "# c  \n\n\n# d", "# c\n\n# d\n" },
  { "---\n", "" },
  { "--- 5 # c\n...\n# d\n", "5 # c\n# d\n" },
  { "%YAML 1.1 # c\n---\na: 1\n", "# c\na: 1\n" },
  { "%TAG !y! tag:yaml.org,2002:\n--- # c\na: !y!str 1\n",
    "%TAG !y! tag:yaml.org,2002:\n---\n# c\na: !y!str '1'\n" },
  { "a:    1   #  c\n\n\n\nb:   'x'\n", "a: 1 #  c\n\nb: x\n" },
  { "a:\n    b: 1\n    c:\n    - 2\n", "a:\n  b: 1\n  c:\n    - 2\n" },
  { "a: \"x\\ny\\n\"\n", "a: |\n  x\n  y\n" },
  { "a: >-\n  x\n  y\n", "a: |-\n  x y\n" },
  { "a: >2-\n    x\n    y\n", "a: |2-\n    x\n    y\n" },
  { "a: |+ # c\n  x\n\n\nb: 1\n", "a: |+ # c\n  x\n\n\nb: 1\n" },
  { "a: |\n  x\n\n\nb: 1\n", "a: |\n  x\n\nb: 1\n" },
  { "a: x\n  y\n\n  z\n", "a: |-\n  x y\n  z\n" },
  { "- ~\n-\n- True\n- 0x1F\n- 1e3\n- 010\n- 2020-01-01\n",
    "- null\n- null\n- true\n- 0x1F\n- 1e3\n- 010\n- 2020-01-01\n" },
  { "a: [ 1,  'b', {} ]\n", "a:\n  - 1\n  - b\n  - {}\n" },
  { "a: [ 1,  'b c', \"d: e\" ] # c\n", "a: [1, b c, 'd: e'] # c\n" },
  { "a: { }\nb: [\n]\n", "a: {}\nb: []\n" },
  { "a: [ # c\n ]\nb: 1\n", "# c\na: []\nb: 1\n" },
  { "a: [ # c\n  1, # d\n  # e\n  2 ] # f\n",
    "a: # c\n  - 1 # d\n  # e\n  - 2 # f\n" },
  { "a: [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb]\n",
    "a:\n  - aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
    "  - bbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n" },
  { "a:\n  b: 1\n  # about the end of a\n# about c\nc: 1\n# end\n",
    "a:\n  b: 1\n  # about the end of a\n# about c\nc: 1\n# end\n" },
  { "a:\n      b: 1\n   # shallow\n      # deep\nc: 1\n",
    "a:\n  b: 1\n# shallow\n# deep\nc: 1\n" },
  { "a: # one\n  # two\n  'x' # three\n", "# one\n# two\na: x # three\n" },
  { "-   # c\n  a: 1\n-\n  - 2\n", "# c\n- a: 1\n- - 2\n" },
  { "- - 1\n-   # c\n  - 2\n", "- - 1\n# c\n- - 2\n" },
  { "\"  x\\ny\\n\" # c\n", "\"  x\\ny\\n\" # c\n" },
  { "- - - 1 # c\n    - 2\n", "- - - 1 # c\n    - 2\n" },
  { "a: &x\n  b: 1\nc: *x\nd:\n  <<: [*x]\n",
    "a: &x\n  b: 1\nc: *x\nd:\n  <<: [*x]\n" },
  { "- &x # c\n  a: 1\n- !!map &y {b: [2]}\n- &z 1\n- &n\n- *n\n",
    "- &x # c\n  a: 1\n- !!map &y\n  b: [2]\n- &z 1\n- &n null\n- *n\n" },
  { "&a # c\nx: 1\n", "&a # c\nx: 1\n" },
  { "a: &k x\n*k : 1\n? &l b\n: 2\n~: 3\n1.0: 4\n? [p, q]\n: 5\n",
    "a: &k x\n*k : 1\n? &l b\n: 2\n~: 3\n1.0: 4\n? [p, q]\n: 5\n" },
  { "a: !!str\nb: !!binary |\n  aGVs\n  bG8=\nc: !!int '5'\nd: !!map\n",
    "a: !!str ''\nb: !!binary aGVsbG8=\nc: !!int '5'\nd: !!map\n" },
  { "a: 1\r\nb: |\r\n  x\r\n\r\n# c \r\n", "a: 1\nb: |\n  x\n\n# c\n" },
  { "\xef\xbb\xbf# c\na: 1\n", "# c\na: 1\n" },
};

static const struct {
  const char *text, *want;
} in_json[] = {
  { "{\"a\":[1,{}, [ ]],\"b\":1.50}",
    "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": 1.5\n}\n" },
  { "// a\n{ // b\n\"c\": 1, // d\n/* e */ \"f\": /* g */ 2 /* h */ // i\n"
    "// j\n} // k\n// l",
    "// a\n{ // b\n  \"c\": 1, // d\n  /* e */\n  /* g */\n"
    "  \"f\": 2 /* h */ // i\n  // j\n} // k\n// l\n" },
  { "[ /* a\n  b */ ]", "[\n  /* a\n  b */\n]\n" },
  { "[1, /* two */ 2]", "[\n  1,\n  /* two */\n  2\n]\n" },
  { "\"\\u00e9\\/\"", "\"é/\"\n" },
};

TEST(layouts_are_canonical)
{
  for (size_t i = 0; i < PAI__LEN(in_yaml); i++)
    expect(in_yaml[i].text, in_yaml[i].want, false);
  for (size_t i = 0; i < PAI__LEN(in_json); i++)
    expect(in_json[i].text, in_json[i].want, true);
}

TEST(odd_keys_are_refused)
{
  static const char text[] = "a: 1\n? - b\n  - c\n: 2\n";
  pai__tree *t = parse(text, strlen(text), false);
  pai_error *err = NULL;
  pai__buf out = test_buf();

  pai__buf_str(&out, "before");
  assert_int_equal(pai__format(&out, t, &err), PAI_ENOTSUP);
  assert_int_equal(pai_error_line(err), 2);
  test_expect_error(err, PAI_ENOTSUP, "this key");
  assert_string_equal(pai__buf_text(&out), "before");
  pai__buf_dispose(&out);
  pai__tree_free(t);
}

/* --- at random, and job files -------------------------------------------- */

typedef struct counts {
  unsigned formatted, unread, comments, unchanged;
} counts;

/* Formats a text twice and compares; gives the result or NULL. */
static char *format(const char *text, size_t len, bool json, counts *n)
{
  pai__tree *t = parse(text, len, json), *back;
  pai_error *err = NULL;
  pai__buf out = test_buf(), again = test_buf();

  if (t == NULL) {
    n->unread++;
    return NULL;
  }
  if (pai__format(&out, t, &err) < 0)
    fail_msg("%s\n%s", pai_error_message(err), text);
  back = parse(pai__buf_text(&out), out.len, json);
  if (back == NULL || !test_same(t, 0, back, 0))
    fail_msg("%s\nbecomes\n%s", text, pai__buf_text(&out));
  assert_ok(pai__format(&again, back, NULL));
  if (strcmp(pai__buf_text(&out), pai__buf_text(&again)) != 0)
    fail_msg("%s\nbecomes\n%s\nthen\n%s", text, pai__buf_text(&out),
             pai__buf_text(&again));
  assert_true(out.len == 0 || out.data[out.len - 1] == '\n');
  n->formatted++;
  n->unchanged += out.len == len && memcmp(out.data, text, len) == 0;
  pai__tree_free(back);
  pai__tree_free(t);
  pai__buf_dispose(&again);
  return pai__buf_take(&out);
}

static void format_styled(bool json, bool shared, uint64_t seed, counts *n)
{
  test_styled how = { .json = json, .shared = shared };
  char mark[32], *text, *made;
  pai__buf out = test_buf();
  size_t len;

  test_write_styled(&out, &how, seed);
  len = out.len;
  text = pai__buf_take(&out);
  made = format(text, len, json, n);
  for (unsigned i = 1; made != NULL && i <= how.comments; i++) {
    const char *found;

    (void)snprintf(mark, sizeof(mark), "<%u>", i);
    found = strstr(made, mark);
    if (found == NULL || strstr(found + 1, mark) != NULL)
      fail_msg("comment %s\n%s\nbecomes\n%s", mark, text, made);
    n->comments++;
  }
  pai__strfree(&pai__libc_alloc, made);
  pai__strfree(&pai__libc_alloc, text);
}

TEST(any_text_keeps_meaning_and_comments)
{
  static const char *const names[] = { "YAML", "JSON", "YAML with aliases" };

  for (int i = 0; i < 3; i++) {
    counts n = { 0 };
    for (uint64_t seed = 1; seed <= 4000; seed++)
      format_styled(i == 1, i == 2, seed, &n);
    printf("%s: %u formatted, %u comments, %u not read\n", names[i],
           n.formatted, n.comments, n.unread);
    assert_true(n.formatted > 3000 && (i == 2 || n.unread == 0));
  }
}

static counts in_files;
static bool files_are_json;

/* How often a part is there. */
static unsigned count(const char *text, const char *part)
{
  unsigned n = 0;

  for (; (text = strstr(text, part)) != NULL; text += strlen(part))
    n++;
  return n;
}

/* Comments stay, and so does what looks like them in a text. */
static void format_file(const pai__tree *row)
{
  static const char *const marks[][2] = { { "#", "# " }, { "//", "/*" } };
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  char *made = format(text, len, files_are_json, &in_files);

  for (int i = 0; made != NULL && i < 2; i++) {
    const char *mark = marks[files_are_json][i];
    if (count(text, mark) != count(made, mark))
      fail_msg("%u %s become %u\n%s\nbecomes\n%s", count(text, mark), mark,
               count(made, mark), text, made);
    in_files.comments += count(text, mark);
  }
  pai__strfree(&pai__libc_alloc, made);
}

TEST(job_files_keep_meaning_and_comments)
{
  static const char *const files[] = { "v2-cases.jsonl", "v1-cases.jsonl" };

  for (int i = 0; i < 2; i++) {
    in_files = (counts){ 0 };
    files_are_json = i == 1;
    if (test_each_row(files[i], format_file) < 0)
      skip();
    printf("%s: %u formatted, %u of them as they were, %u comments\n",
           files[i], in_files.formatted, in_files.unchanged,
           in_files.comments);
    assert_true(in_files.formatted > 100);
  }
}

TEST(what_the_writers_make_is_canonical)
{
  for (uint64_t seed = 1; seed <= 600; seed++) {
    bool json = seed % 2 == 0;
    pai__json_writer w;
    pai__yaml_writer yaml;
    pai__buf text = test_buf(), want = test_buf();
    counts n = { 0 };
    char *made;

    if (json) {
      pai__json_writer_init(&w, &text, false);
      test_write_random(&test_json_table, &w, seed / 2);
      assert_ok(pai__json_finish(&w));
      pai__json_writer_init(&w, &want, true);
      test_write_random(&test_json_table, &w, seed / 2);
      assert_ok(pai__json_finish(&w));
    } else {
      pai__yaml_writer_init(&yaml, &text);
      test_write_random(&test_yaml_table, &yaml, seed / 2 + 1);
      assert_ok(pai__yaml_finish(&yaml));
      pai__buf_add(&want, text.data, text.len);
    }
    made = format(pai__buf_text(&text), text.len, json, &n);
    assert_string_equal(made, pai__buf_text(&want));
    pai__strfree(&pai__libc_alloc, made);
    pai__buf_dispose(&text);
    pai__buf_dispose(&want);
  }
}

/* --- memory ------------------------------------------------------------- */

TEST_FAULTS(no_memory_is_survived)
{
  static const char text[] = "# c\na: &x # d\n  b: [1, x, \"a\\nb\"]\nc: |+ # "
                             "e\n  y\n\n? [p, q]\n: *x\n";
  static const char json[] = "{\"a\": [1, /* c */ \"x\"]}";
  pai__yaml_options yaml_opts = { .alloc = alloc };
  pai__json_options opts = { .alloc = alloc, .flags = PAI__JSON_COMMENTS };
  pai__tree *t = NULL, *u = NULL;
  pai__buf out;
  int rc;

  pai__buf_init(&out, alloc);
  rc = pai__yaml_parse(&t, text, strlen(text), &yaml_opts, NULL);
  if (rc == PAI_OK)
    rc = pai__json_parse(&u, json, strlen(json), &opts, NULL);
  if (rc == PAI_OK)
    rc = pai__format(&out, t, NULL);
  if (rc == PAI_OK)
    rc = pai__format(&out, u, NULL);
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&out), "/* c */");
  pai__buf_dispose(&out);
  pai__tree_free(t);
  pai__tree_free(u);
  return rc;
}
