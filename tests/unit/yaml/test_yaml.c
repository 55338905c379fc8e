/* The YAML reader: structure, places, aliases and merges; errors, limits,
 * memory. */
#include "cases.h"
#include "documents.h"

#include <stdio.h>

TEST(documents_are_read)
{
  static const struct {
    const char *text, *shown;
  } rows[] = {
    { "", "null" },
    { "# only a comment", "null" },
    { "---\n", "null" },
    { "a", "\"a\"" },
    { "--- a\n...\n# end\n", "\"a\"" },
    { "%YAML 1.2\n---\na: 1", "{a: 1}" },
    { "%TAG !y! tag:yaml.org,2002:\n---\n- !y!str 1", "[\"1\"]" },
    { "a: 1\nb:\n- x\n- y: z\n  w: ~\n", "{a: 1, b: [\"x\", {y: \"z\", w: "
                                         "null}]}" },
    { "- - a\n  - b\n- \n-\n  c: d", "[[\"a\", \"b\"], null, {c: \"d\"}]" },
    { "{a: [1, {b: c}], d: }", "{a: [1, {b: \"c\"}], d: null}" },
    { "[a: 1, {b}]", "[{a: 1}, {b: null}]" },
    { "a: |\n  x\n   y\n\n  z\nb: >-\n  p\n  q\n\n  r\n",
      "{a: \"x\\n y\\n\\nz\\n\", b: \"p q\\nr\"}" },
    { "a: |+\n  x\n\nb: |2-\n   y", "{a: \"x\\n\\n\", b: \" y\"}" },
    { "y: >\n x", "{y: \"x\\n\"}" }, /* as if a line feed were there */
    { "a: b\n  c\n\n  d", "{a: \"b c\\nd\"}" },
    { "\xef\xbb\xbf- a\n- b", "[\"a\", \"b\"]" },
    { "a: 1\r\nb: 2\r\n", "{a: 1, b: 2}" },
    { "a: 1\rb: 2", "{a: 1, b: 2}" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_CORE);
  }
}

/* js-yaml skips tabs where libyaml stops. */
TEST(tabs_are_read_as_js_yaml_does)
{
  static const struct {
    const char *text, *shown;
  } rows[] = {
    { "a:\n\tb: 1\n", "{a: null, b: 1}" },
    { "a: 1\n\t\nb: 2", "{a: 1, b: 2}" },
    { "a: 1\n  \t \nb: 2\n\t\t", "{a: 1, b: 2}" },
    { "\t# c\na: 1", "{a: 1}" },
    { "a: 1\t# c", "{a: 1}" },
    { "-\tx\n-\t\ty", "[\"x\", \"y\"]" },
    { "?\ta\n:\tb", "{a: \"b\"}" },
    { "a: b\n\tc: d", "{a: \"b\", c: \"d\"}" },
    { "a: |\n  x\n\t\nb: 1", "{a: \"x\\n\", b: 1}" },
    { "a: |\n  x\ty\n  \tz\n\t\nb:\n\tc: 1", "{a: \"x\\ty\\n\\tz\\n\", "
                                             "b: null, c: 1}" },
    { "a: |+\n  x\n\t\nb: >+\n \t\n\t", "{a: \"x\\n\", b: \"\\t\\n\"}" },
    /* a block scalar that begins with one keeps it */
    { "a: | # 1\n  \tx\n  y\nb:\n\tc: 1", "{a: \"\\tx\\ny\\n\", b: null, "
                                          "c: 1}" },
    { "- >\n\n   \t\n- |-\n \t\tz", "[\"\\n\\t\\n\", \"\\t\\tz\"]" },
    { "a: |1\n \tx\n\tb: y", "{a: \"\\tx\\n\", b: \"y\"}" },
    { "a: \"x\n\ty\"\nb:\n\tc: [\t1,\t2\t]", "{a: \"x y\", b: null, "
                                             "c: [1, 2]}" },
  };
  pai__tree *t;

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
  t = test_yaml_parse("a:\n\t \tb: 1\n-: 2", NULL);
  assert_memory_equal(t->text + t->nodes[pai__tree_get(t, 0, "b")].start, "1",
                      1);
  assert_int_equal(pai__tree_where(t, pai__tree_get(t, 0, "b")).column, 7);
  pai__tree_free(t);
}

TEST(many_tabs_take_linear_time)
{
  pai__tree *t;
  pai__buf b = test_buf();

  pai__buf_str(&b, "k: 1\n");
  for (int i = 0; i < 50000; i++)
    pai__buf_printf(&b, "\t\n \t\nk%d: 1\n", i);
  for (int i = 0; i < 200000; i++)
    pai__buf_char(&b, '\t');
  assert_ok(pai__yaml_parse(&t, b.data, b.len, NULL, NULL));
  assert_int_equal(pai__tree_count(t, 0), 50001);
  assert_int_equal(pai__tree_where(t, pai__tree_get(t, 0, "k49999")).line,
                   150001);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* Characters that libyaml takes for line ends or refuses. */
TEST(odd_characters_are_content)
{
  test_yaml_shows("a: x\xe2\x80\xa8y\nb: \"p\xc2\x85q\"",
                  "{a: \"x\xe2\x80\xa8y\", b: \"p\xc2\x85q\"}", PAI__YAML_JS);
  test_yaml_shows("- \xef\xbb\xbfz\n- 'q\x7f'\n- |\n  r\xef\xbb\xbf",
                  "[\"\xef\xbb\xbfz\", \"q\\x7f\", \"r\xef\xbb\xbf\\n\"]",
                  PAI__YAML_JS);
  test_yaml_shows("# \x7f\xc2\x80\na: 1", "{a: 1}", PAI__YAML_JS);
  test_yaml_fails("a: 1\nb: x\x7fy", PAI_EINVAL, 2, 5,
                  "U+007F is not allowed outside quotes");
  test_yaml_fails("a: x\xef\xbf\xbf", PAI_EINVAL, 1, 5,
                  "U+FFFF is not allowed outside quotes");
}

/* Where no stand-ins can be had, libyaml's own refusal comes through. */
TEST(odd_characters_may_be_too_much)
{
  pai__buf b = test_buf();

  test_yaml_fails("\xef\xbb\xbf- \"\\U0001F600\"\n- 'x\x7f'", PAI_EINVAL, 2, 5,
                  "control characters are not allowed");
  for (int i = 0; i < 8; i++)
    pai__buf_printf(&b, "- \xf3\xb0%c\xbf\n", 0x80 + i);
  pai__buf_str(&b, "- 'x\x7f'");
  test_yaml_fails(b.data, PAI_EINVAL, 9, 5,
                  "control characters are not allowed");
  b.data[2 + 2] = '\x90'; /* now the first are free */
  test_yaml_shows(b.data,
                  "[\"\xf3\xb0\x90\xbf\", \"\xf3\xb0\x81\xbf\", "
                  "\"\xf3\xb0\x82\xbf\", \"\xf3\xb0\x83\xbf\", "
                  "\"\xf3\xb0\x84\xbf\", \"\xf3\xb0\x85\xbf\", "
                  "\"\xf3\xb0\x86\xbf\", \"\xf3\xb0\x87\xbf\", \"x\\x7f\"]",
                  PAI__YAML_JS);
  pai__buf_dispose(&b);
}

/* --- places ------------------------------------------------------------- */

static void expect_sources(const char *text, const char *const *want, size_t n)
{
  pai__tree *t = test_yaml_parse(text, NULL);

  test_sources(t, want, n);
  pai__tree_free(t);
}

#define EXPECT_SOURCES(text, ...)                            \
  expect_sources(text, (const char *const[]){ __VA_ARGS__ }, \
                 PAI__LEN(((const char *const[]){ __VA_ARGS__ })))

TEST(nodes_know_their_source)
{
  EXPECT_SOURCES("a: b # c\n", "a: b", "a", "b");
  EXPECT_SOURCES("a:\nb: ", "a:\nb:", "a", "", "b", "");
  EXPECT_SOURCES("- x  \n-\n- 'y' \n", "- x  \n-\n- 'y'", "x", "", "'y'");
  EXPECT_SOURCES("a: { b: [1 , 2 ] } # c", "a: { b: [1 , 2 ] }", "a",
                 "{ b: [1 , 2 ] }", "b", "[1 , 2 ]", "1", "2");
  EXPECT_SOURCES("[é: 日, {a: b}: c]", "[é: 日, {a: b}: c]", "é: 日", "é",
                 "日", "{a: b}: c", "{a: b}", "{a: b}", "a", "b", "c");
  EXPECT_SOURCES("a: |\n  x\n  y\n\nb: >-\n  z\n",
                 "a: |\n  x\n  y\n\nb: >-\n  z", "a", "|\n  x\n  y", "b",
                 ">-\n  z");
  EXPECT_SOURCES("a: &x !!str  12\nb: *x", "a: &x !!str  12\nb: *x", "a", "12",
                 "b", "*x");
  EXPECT_SOURCES("- &a\n- !!str\n- &b # c\n  - d",
                 "- &a\n- !!str\n- &b # c\n  - d", "", "", "- d", "d");
  EXPECT_SOURCES("\r\nk: \"v\r\n  w\"\r\n", "k: \"v\r\n  w\"", "k",
                 "\"v\r\n  w\"");
  EXPECT_SOURCES("? a\n: b", "? a\n: b", "a", "b");
  EXPECT_SOURCES("x: p\n  q\ny: r", "x: p\n  q\ny: r", "x", "p\n  q", "y",
                 "r");
  EXPECT_SOURCES("a:\n\tb: 1", "a:\n\tb: 1", "a", "", "b", "1");
  EXPECT_SOURCES("a: x\xe2\x80\xa8y\nb: z", "a: x\xe2\x80\xa8y\nb: z", "a",
                 "x\xe2\x80\xa8y", "b", "z");
  EXPECT_SOURCES("a: |\n  \tx\nb: y", "a: |\n  \tx\nb: y", "a", "|\n  \tx",
                 "b", "y");
  EXPECT_SOURCES("# c\n", "");
}

TEST(places_count_characters)
{
  pai__tree *t =
    test_yaml_parse("\xef\xbb\xbfk: 日本\n\"é\": [ü, x]\r\nz: !!str  y", NULL);
  pai__node n = pai__tree_resolve(t, "/é/1");

  assert_int_equal(pai__tree_where(t, 0).column, 1);
  assert_int_equal(pai__tree_where(t, n).line, 2);
  assert_int_equal(pai__tree_where(t, n).column, 10);
  n = pai__tree_resolve(t, "/z");
  assert_int_equal(pai__tree_where(t, n).line, 3);
  assert_int_equal(pai__tree_where(t, n).column, 11);
  assert_true((t->nodes[n].flags & PAI__HAS_PROPS) != 0);
  pai__tree_free(t);
}

TEST(styles_are_kept)
{
  static const char *const keys[] = { "p", "s", "d", "l", "f", "q", "b" };
  static const int styles[] = { PAI__PLAIN,   PAI__SINGLE, PAI__DOUBLE,
                                PAI__LITERAL, PAI__FOLDED, PAI__FLOW,
                                PAI__PLAIN };
  pai__tree *t = test_yaml_parse("p: x\ns: 'x'\nd: \"x\"\nl: |\n x\nf: >\n x\n"
                                 "q: []\nb:\n- 1\n",
                                 NULL);

  for (size_t i = 0; i < PAI__LEN(keys); i++)
    assert_int_equal(t->nodes[pai__tree_get(t, 0, keys[i])].flags & PAI__STYLE,
                     styles[i]);
  pai__tree_free(t);
}

/* --- aliases and merges ------------------------------------------------- */

TEST(aliases_lead_to_their_targets)
{
  pai__tree *t = test_yaml_parse("a: &x [1, 2]\nb: *x\nc: &y z\nd: [*y, *x]\n"
                                 "e: &x 3\nf: *x",
                                 NULL);
  pai__node b = pai__tree_get(t, 0, "b");

  test_shows(
    t, "{a: [1, 2], b: [1, 2], c: \"z\", d: [\"z\", [1, 2]], e: 3, f: 3}");
  assert_int_equal(t->nodes[b].type, PAI__ALIAS);
  assert_int_equal(pai__tree_where(t, b).line, 2);
  assert_int_equal(pai__tree_where(t, pai__tree_real(t, b)).line, 1);
  pai__tree_free(t);
}

TEST(merges_follow_js_yaml)
{
  static const struct {
    const char *text, *shown;
  } rows[] = {
    { "a: &a {x: 1, y: 2}\nb: {<<: *a, z: 3}",
      "{a: {x: 1, y: 2}, b: {x: 1, y: 2, z: 3}}" },
    { "- &a {x: 1, y: 2}\n- {<<: *a, x: 9}", "[{x: 1, y: 2}, {x: 9, y: 2}]" },
    { "- &a {x: 1, y: 2}\n- {x: 9, <<: *a}", "[{x: 1, y: 2}, {x: 9, y: 2}]" },
    { "- &a {y: 2}\n- {x: 9, <<: *a, w: 1}", "[{y: 2}, {x: 9, y: 2, w: 1}]" },
    { "- &a {x: 1}\n- &b {x: 2, y: 2}\n- {<<: [*a, *b]}",
      "[{x: 1}, {x: 2, y: 2}, {x: 1, y: 2}]" },
    { "<<: {x: 1}\n<<: {x: 2, y: 2}\ny: 3", "{x: 1, y: 3}" },
    { "<<: [{x: 1}, {y: 2}]", "{x: 1, y: 2}" },
    { "<<: {}", "{}" },
    { "<<: []", "{}" },
    { "<<: 2020-01-01\na: 1", "{a: 1}" },
    { "&m <<: {x: 1}", NULL },
    { "a: 1\n&m <<: {x: 1}", "{a: 1, x: 1}" },
    { "'<<': {x: 1}", "{<<: {x: 1}}" },
    { "? <<\n: {x: 1}", "{<<: {x: 1}}" },
    { "a: <<", "{a: \"<<\"}" },
    { "!!str <<: 1", NULL },
    { "a: 1\n!!merge <<: {b: 2}", "{a: 1, b: 2}" },
    { "- &a {<<: {p: 1}, q: 2}\n- {<<: *a, r: 3}",
      "[{p: 1, q: 2}, {p: 1, q: 2, r: 3}]" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    if (rows[i].shown != NULL)
      test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
    else
      test_yaml_fails(rows[i].text, PAI_EINVAL, 1, 1,
                      "the first key of a mapping has an anchor or a tag");
  }
}

TEST(merged_mappings_keep_both_views)
{
  pai__tree *t = test_yaml_parse("base: &b {p: 1}\nx: {<<: *b, q: 2}\n"
                                 "y: {<<: {r: 1}}\nz: {<<: [{s: 1}]}",
                                 NULL);
  pai__node x = pai__tree_get(t, 0, "x"), key = pai__tree_written(t, x);

  assert_true((t->nodes[key].flags & PAI__IS_MERGE) != 0);
  assert_int_equal(t->nodes[pai__tree_value(t, key)].type, PAI__ALIAS);
  assert_int_equal(pai__tree_resolve(t, "/x/p"),
                   pai__tree_resolve(t, "/base/p"));
  assert_int_equal(pai__tree_find(t, x, "<<", 2), PAI__NO_NODE);
  test_pointer(t, pai__tree_resolve(t, "/x/p"), "/base/p");
  test_pointer(t, pai__tree_resolve(t, "/y/r"), "/y/r");
  test_pointer(t, pai__tree_resolve(t, "/z/s"), "/z/s");
  pai__tree_free(t);
}

/* Many keys merged, overridden and added, against a plain count. */
TEST(large_merges_are_right)
{
  pai__tree *t;
  pai__buf b = test_buf();

  pai__buf_str(&b, "base: &b\n");
  for (int i = 0; i < 500; i++)
    pai__buf_printf(&b, "  k%d: %d\n", i, i);
  pai__buf_str(&b, "x:\n  <<: *b\n");
  for (int i = 250; i < 750; i++)
    pai__buf_printf(&b, "  k%d: %d\n", i, -i);
  t = test_yaml_parse(b.data, NULL);
  assert_int_equal(pai__tree_count(t, pai__tree_get(t, 0, "x")), 750);
  for (int i = 0; i < 750; i++) {
    assert_int_equal(
      pai__tree_int(t, pai__tree_resolve(t, test_string("/x/k%d", i))),
      i < 250 ? i : -i);
  }
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* Many anchors whose names share long beginnings. */
TEST(anchors_are_found_among_many)
{
  pai__tree *t;
  pai__buf b = test_buf();

  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- &anchor-with-a-long-name-%d %d\n", i * 7919 % 20000,
                    i);
  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- *anchor-with-a-long-name-%d\n", i * 7919 % 20000);
  assert_ok(pai__yaml_parse(&t, b.data, b.len, NULL, NULL));
  for (pai__node n = 1; n <= 20000; n++)
    assert_int_equal(pai__tree_int(t, n + 20000), n - 1);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* --- errors ------------------------------------------------------------- */

TEST(errors_name_the_place_and_the_thing)
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
      "key \"a\" already exists at line 1, column 1" },
    { "1: x\n'1': y", 2, 1, "key \"1\" already exists" },
    { "{a: 1, é: 2, a: 3}", 1, 14, "at line 1, column 2" },
    { "<<: {a: 1}\na: 2\n<<: {a: 3}\na: 4", 4, 1,
      "key \"a\" already exists at line 2" },
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

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_yaml_fails(rows[i].text, PAI_EINVAL, rows[i].line, rows[i].column,
                    rows[i].part);
}

TEST(help_says_how_to_mend_it)
{
  static const char *const rows[][2] = {
    { "a: b: c", "quotes" },
    { "a: @x", "put the text in quotes" },
    { "a: \"\\q\"", "write a backslash as \\\\" },
    { "x: *nope", "quote a text that begins with *" },
    { "a: 1\na: 2", "remove one of the two" },
    { "a: \"x", "add the closing quote" },
    { "!foo a", "remove the tag" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai__tree *t;

    assert_true(
      pai__yaml_parse(&t, rows[i][0], strlen(rows[i][0]), NULL, &err) < 0);
    assert_non_null(pai_error_help(err));
    assert_has(pai_error_help(err), rows[i][1]);
    pai_error_free(err);
  }
}

TEST(long_names_make_short_messages)
{
  pai_error *err = NULL;
  pai__tree *t;
  pai__buf b = test_buf();

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
  pai__buf b = test_buf();
  int rc;

  for (unsigned i = 0; i < n; i++)
    pai__buf_str(&b, block ? "- " : "[");
  for (unsigned i = 0; i < n && !block; i++)
    pai__buf_char(&b, ']');
  rc = test_yaml_try(b.data, &opts, "nested more than");
  pai__buf_dispose(&b);
  return rc;
}

TEST(depth_is_limited)
{
  pai__yaml_options opts = { .max_depth = 4 };

  for (int block = 0; block <= 1; block++) {
    assert_ok(parse_nested(64, block != 0, 0));
    assert_int_equal(parse_nested(65, block != 0, 0), PAI_ELIMIT);
    assert_ok(parse_nested(3, block != 0, 3));
    assert_int_equal(parse_nested(4, block != 0, 3), PAI_ELIMIT);
    assert_int_equal(parse_nested(100000, block != 0, 0), PAI_ELIMIT);
  }
  /* through aliases: 1 + 1 + 2, and one more */
  assert_ok(test_yaml_try("- &a [[]]\n- [*a]", &opts, ""));
  assert_int_equal(
    test_yaml_try("- &a [[]]\n- &b [*a]\n- [*b]", &opts, "nested too deep"),
    PAI_ELIMIT);
}

static void repeat(pai__buf *b, const char *text, int times)
{
  while (times-- > 0)
    pai__buf_str(b, text);
}

static void try_and_clear(pai__buf *b, int code, const char *says)
{
  assert_int_equal(test_yaml_try(b->data, NULL, says), code);
  pai__buf_clear(b);
}

TEST(alias_expansion_is_limited)
{
  pai__yaml_options small = { .alias_floor = 16, .alias_factor = 2 };
  pai__buf b = test_buf();

  /* 1 + 4 + 4 aliases of 1 + 2: 17 nodes in 9; then 20 in 10, and 23 in 11 */
  assert_ok(test_yaml_try("- &a [1, 2]\n- *a\n- *a\n- *a\n", &small, ""));
  assert_int_equal(test_yaml_try("- &a [1, 2]\n- *a\n- *a\n- *a\n- *a\n- *a\n"
                                 "- *a\n- *a\n",
                                 &small, "*a the document grows too much"),
                   PAI_ELIMIT);
  pai__buf_str(&b, "- &a0 [x, x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 40; i++)
    pai__buf_printf(&b, "- &a%d [*a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1);
  try_and_clear(&b, PAI_ELIMIT, "the document grows too much");
  /* a small document may repeat itself a lot: under 10,000 nodes */
  pai__buf_str(&b, "- &a\n");
  repeat(&b, "  - x\n", 90);
  repeat(&b, "- *a\n", 100);
  try_and_clear(&b, PAI_OK, "");
  /* a text ten times, if it is a mebibyte */
  for (int times = 10; times <= 12; times += 2) {
    pai__buf_str(&b, "- &a [");
    repeat(&b, "x", 1 << 20);
    pai__buf_str(&b, "]\n- &b [*a]\n");
    repeat(&b, "- *b\n", times - 1);
    try_and_clear(&b, times == 10 ? PAI_OK : PAI_ELIMIT,
                  times == 10 ? "" : "*b the document grows too much");
  }
  pai__buf_dispose(&b);
}

TEST(other_sizes_are_limited)
{
  pai__yaml_options opts = { .max_bytes = 6 };
  pai__buf b = test_buf();

  assert_ok(test_yaml_try("a: 123", &opts, ""));
  assert_int_equal(test_yaml_try("a: 1234", &opts, "more than 6 bytes"),
                   PAI_ELIMIT);
  for (int i = 1000; i <= 1001; i++) {
    for (int k = 0; k < i; k++)
      pai__buf_printf(&b, "%%TAG !t%d! tag:x\n", k);
    pai__buf_str(&b, "---\na");
    try_and_clear(&b, i == 1000 ? PAI_OK : PAI_ELIMIT, "more than 1000 %TAG");
  }
  for (int i = 256; i <= 257; i++) {
    pai__buf_str(&b, "!!omap\n");
    for (int k = 0; k < i; k++)
      pai__buf_printf(&b, "- k%d: 1\n", k);
    try_and_clear(&b, i == 256 ? PAI_OK : PAI_ELIMIT, "more than 256 entries");
  }
  pai__buf_str(&b, "- &a ");
  repeat(&b, "x", 5000);
  pai__buf_char(&b, '\n');
  repeat(&b, "- ? [*a, *a, *a, *a]\n  : 1\n", 100);
  try_and_clear(&b, PAI_ELIMIT, "keys that are no scalars");
  pai__buf_dispose(&b);
}

/* --- memory ------------------------------------------------------------- */

static int parse_body(const pai_alloc *alloc, void *user_data)
{
  pai__yaml_options opts = { .alloc = alloc };

  return test_yaml_try(user_data, &opts, "out of memory");
}

TEST(reader_survives_failing_memory)
{
  pai__buf b = test_buf();

  pai__buf_str(&b, "a: &a {x: 1}\nb: &b [!!binary aGk=, 2020-01-01, 1.5]\n"
                   "c:\n\t? [*a, y]\n\t: {<<: *a, z: *b}\n"
                   "d: \"x\xe2\x80\xa8y\"\ne: |\n  \tx\n\t\n");
  for (int i = 0; i < 60; i++)
    pai__buf_printf(&b, "k%d: &n%d [v%d]\n", i, i, i);
  test_faults(parse_body, b.data);
  pai__buf_dispose(&b);
}

TEST(memory_is_bounded)
{
  test_tally tally;
  pai__yaml_options opts = { .alloc = &tally.alloc };
  pai__tree *t;
  pai__buf b = test_buf();

  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- name: job_%d\n  gpus: %d\n", i, i % 8);
  test_tally_init(&tally);
  assert_ok(pai__yaml_parse(&t, b.data, b.len, &opts, NULL));
  assert_in_range(tally.peak, 1, b.len * 12 + 256 * 1024);
  pai__tree_free(t);
  assert_int_equal(tally.live, 0);
  pai__buf_dispose(&b);
}
