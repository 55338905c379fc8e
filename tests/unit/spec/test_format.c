/* The canonical layout: same meaning, all comments, and it stays as it is. */
#include "documents.h"
#include "styled.h"

#include "json/writer.h"
#include "spec/format.h"
#include "spec/write.h"

#include <stdio.h>
#include <stdlib.h>

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
  return t;
}

/* --- by example --------------------------------------------------------- */

static void expect(const char *text, const char *want, bool json)
{
  pai__tree *t = parse(text, strlen(text), json);
  pai_error *err = NULL;
  pai__buf out;

  if (t == NULL)
    fail_msg("cannot be read:\n%s", text);
  pai__buf_init(&out, &pai__libc_alloc);
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

static void layouts_are_canonical(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(in_yaml); i++)
    expect(in_yaml[i].text, in_yaml[i].want, false);
  for (size_t i = 0; i < PAI__LEN(in_json); i++)
    expect(in_json[i].text, in_json[i].want, true);
}

static void odd_keys_are_refused(void **state)
{
  static const char text[] = "a: 1\n? - b\n  - c\n: 2\n";
  pai__tree *t = parse(text, strlen(text), false);
  pai_error *err = NULL;
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_str(&out, "before");
  assert_int_equal(pai__format(&out, t, &err), PAI_ENOTSUP);
  assert_int_equal(pai_error_line(err), 2);
  test_expect_error(err, PAI_ENOTSUP, "this key");
  assert_string_equal(pai__buf_text(&out), "before");
  pai__buf_dispose(&out);
  pai__tree_free(t);
}

/* --- comments, by a scanner of this test's own --------------------------- */

/* Moves over quotes; text is at the opening one. */
static const char *skip_quotes(const char *p, bool json)
{
  char quote = *p++;

  for (; *p != '\0' && *p != quote; p++)
    if (*p == '\\' && (quote == '"' || json) && p[1] != '\0')
      p++;
  return *p != '\0' ? p + 1 : p;
}

static unsigned count_in_json(const char *p)
{
  unsigned n = 0;

  while (*p != '\0') {
    if (*p == '"') {
      p = skip_quotes(p, true);
    } else if (p[0] == '/') {
      const char *end = p[1] == '/' ? strchr(p, '\n') : strstr(p + 2, "*/");
      n++;
      p = end != NULL ? end + 1 : p + strlen(p);
    } else {
      p++;
    }
  }
  return n;
}

/* The indentation of a line. */
static size_t indentation(const char *p)
{
  return strspn(p, " ");
}

/* Whether a line ends with the header of a block scalar; *column is that of
 * what it belongs to. */
static bool opens_block(const char *line, const char *end, size_t *column)
{
  const char *p = end, *first = line + indentation(line);

  while (p > line && strchr(" \r+-0123456789", p[-1]) != NULL)
    p--;
  if (p == line || (p[-1] != '|' && p[-1] != '>'))
    return false;
  p--;
  if (p > line && p[-1] != ' ')
    return false;
  *column = (size_t)(first - line);
  while (first[0] == '-' && first[1] == ' ') { /* "- - a: |" */
    const char *next = first + 1 + indentation(first + 1);
    if (next >= p)
      break;
    first = next;
    *column = (size_t)(first - line);
  }
  return true;
}

/* Counts the comments of YAML that has quoted text on one line only. */
static unsigned count_in_yaml(const char *p)
{
  unsigned n = 0;

  while (*p != '\0') {
    const char *line = p, *end = p + strcspn(p, "\n"), *stop = end;
    size_t column;

    while (p < end && *p != '#') {
      if ((*p == '"' || *p == '\'') &&
          (p == line || strchr(" [{,:", p[-1]) != NULL))
        p = skip_quotes(p, false);
      else
        p++;
      while (p < end && *p == '#' && p > line && p[-1] != ' ')
        p++;
    }
    if (p > end)
      end = p + strcspn(p, "\n");
    if (p < end) {
      stop = p;
      n++;
    }
    p = *end != '\0' ? end + 1 : end;
    if (!opens_block(line, stop, &column))
      continue;
    while (*p != '\0' && (indentation(p) > column || *p == '\n' ||
                          p[indentation(p)] == '\n' || *p == '\r')) {
      p += strcspn(p, "\n");
      p += *p == '\n';
    }
  }
  return n;
}

/* --- at random, and job files -------------------------------------------- */

typedef struct counts {
  unsigned formatted, refused, unread, comments, unchanged;
} counts;

/* Formats a text twice and compares; gives the result or NULL. */
static char *format(const char *text, size_t len, bool json, bool may_refuse,
                    counts *n)
{
  pai__tree *t = parse(text, len, json), *back;
  pai_error *err = NULL;
  pai__buf out, again;

  if (t == NULL) {
    n->unread++;
    return NULL;
  }
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  if (pai__format(&out, t, &err) < 0) {
    if (!may_refuse)
      fail_msg("%s\n%s", pai_error_message(err), text);
    pai_error_free(err);
    n->refused++;
  } else {
    back = parse(pai__buf_text(&out), out.len, json);
    if (back == NULL || !test_same(t, 0, back, 0))
      fail_msg("%s\nbecomes\n%s", text, pai__buf_text(&out));
    assert_int_equal(pai__format(&again, back, NULL), PAI_OK);
    if (strcmp(pai__buf_text(&out), pai__buf_text(&again)) != 0)
      fail_msg("%s\nbecomes\n%s\nthen\n%s", text, pai__buf_text(&out),
               pai__buf_text(&again));
    assert_true(out.len == 0 || out.data[out.len - 1] == '\n');
    n->formatted++;
    n->unchanged += out.len == len && memcmp(out.data, text, len) == 0;
    pai__tree_free(back);
  }
  pai__tree_free(t);
  pai__buf_dispose(&again);
  return pai__buf_take(&out);
}

static void format_styled(bool json, bool shared, uint64_t seed, counts *n)
{
  test_styled how = { .json = json, .shared = shared };
  char mark[32], *text, *made;
  pai__buf out;
  size_t len;

  pai__buf_init(&out, &pai__libc_alloc);
  test_write_styled(&out, &how, seed);
  len = out.len;
  text = pai__buf_take(&out);
  made = format(text, len, json, false, n);
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

static void any_text_keeps_meaning_and_comments(void **state)
{
  static const char *const names[] = { "YAML", "JSON", "YAML with aliases" };

  (void)state;
  for (int i = 0; i < 3; i++) {
    counts n = { 0 };
    for (uint64_t seed = 1; seed <= 4000; seed++)
      format_styled(i == 1, i == 2, seed, &n);
    printf("%s: %u formatted, %u comments, %u not read\n", names[i],
           n.formatted, n.comments, n.unread);
    assert_true(n.formatted > 3000 && (i == 2 || n.unread == 0));
  }
}

/* All job files of a list, if it is there. */
static void format_files(const char *name, bool json)
{
  const char *shared = getenv("OPENPAI_SHARED");
  char path[1024], *line = NULL;
  size_t cap = 0;
  counts n = { 0 };
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/data/specs/%s",
                 shared != NULL ? shared : SOURCE_DIR "/../shared", name);
  f = fopen(path, "rb");
  if (f == NULL) {
    printf("cannot open %s\n", path);
    skip();
  }
  for (ssize_t got; (got = getline(&line, &cap, f)) > 0;) {
    pai__tree *row = parse(line, (size_t)got, true);
    size_t len;
    const char *text;
    char *made;

    assert_non_null(row);
    text = pai__tree_str(row, pai__tree_get(row, 0, "text"), &len);
    made = format(text, len, json, false, &n);
    if (made != NULL) {
      unsigned before = json ? count_in_json(text) : count_in_yaml(text);
      unsigned after = json ? count_in_json(made) : count_in_yaml(made);
      if (before != after)
        fail_msg("%u comments become %u\n%s\nbecomes\n%s", before, after, text,
                 made);
      n.comments += before;
    }
    pai__strfree(&pai__libc_alloc, made);
    pai__tree_free(row);
  }
  free(line);
  (void)fclose(f);
  printf("%s: %u formatted, %u of them as they were, %u comments\n", name,
         n.formatted, n.unchanged, n.comments);
  assert_true(n.formatted > 100);
}

static void job_files_keep_meaning_and_comments(void **state)
{
  (void)state;
  format_files("v2-cases.jsonl", false);
  format_files("v1-cases.jsonl", true);
}

static void json_is_what_the_writer_makes(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    pai__json_writer w;
    pai__buf text, want;
    counts n = { 0 };
    pai__tree *t;
    char *made;

    pai__buf_init(&text, &pai__libc_alloc);
    pai__buf_init(&want, &pai__libc_alloc);
    pai__json_writer_init(&w, &text, false);
    test_write_random(&test_json_table, &w, seed);
    t = parse(pai__buf_text(&text), text.len, true);
    assert_non_null(t);
    pai__json_writer_init(&w, &want, true);
    pai__write_json(&w, t, 0);
    assert_int_equal(pai__json_finish(&w), PAI_OK);
    made = format(pai__buf_text(&text), text.len, true, false, &n);
    assert_string_equal(made, pai__buf_text(&want));
    pai__strfree(&pai__libc_alloc, made);
    pai__tree_free(t);
    pai__buf_dispose(&text);
    pai__buf_dispose(&want);
  }
}

/* What the YAML writer makes is canonical already. */
static void written_yaml_stays(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    pai__yaml_writer w;
    pai__buf text;
    counts n = { 0 };
    char *made;

    pai__buf_init(&text, &pai__libc_alloc);
    pai__yaml_writer_init(&w, &text);
    test_write_random(&test_yaml_table, &w, seed);
    assert_int_equal(pai__yaml_finish(&w), PAI_OK);
    made = format(pai__buf_text(&text), text.len, false, false, &n);
    assert_string_equal(made, pai__buf_text(&text));
    pai__strfree(&pai__libc_alloc, made);
    pai__buf_dispose(&text);
  }
}

/* --- memory ------------------------------------------------------------- */

static int format_all(const pai_alloc *alloc, void *user_data)
{
  static const char text[] = "# c\na: &x # d\n  b: [1, x, \"a\\nb\"]\nc: |+ # "
                             "e\n  y\n\n? [p, q]\n: *x\n";
  static const char json[] = "{\"a\": [1, /* c */ \"x\"]}";
  pai__yaml_options yaml_opts = { .alloc = alloc };
  pai__json_options opts = { .alloc = alloc, .flags = PAI__JSON_COMMENTS };
  pai__tree *t = NULL, *u = NULL;
  pai__buf out;
  int rc;

  (void)user_data;
  pai__buf_init(&out, alloc);
  rc = pai__yaml_parse(&t, text, strlen(text), &yaml_opts, NULL);
  if (rc == PAI_OK)
    rc = pai__json_parse(&u, json, strlen(json), &opts, NULL);
  if (rc == PAI_OK)
    rc = pai__format(&out, t, NULL);
  if (rc == PAI_OK)
    rc = pai__format(&out, u, NULL);
  if (rc == PAI_OK)
    assert_non_null(strstr(pai__buf_text(&out), "/* c */"));
  pai__buf_dispose(&out);
  pai__tree_free(t);
  pai__tree_free(u);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(format_all, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(layouts_are_canonical),
    cmocka_unit_test(odd_keys_are_refused),
    cmocka_unit_test(any_text_keeps_meaning_and_comments),
    cmocka_unit_test(json_is_what_the_writer_makes),
    cmocka_unit_test(written_yaml_stays),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(job_files_keep_meaning_and_comments),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
