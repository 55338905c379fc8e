/* The YAML reader: structure, places, aliases and merges. */
#include "documents.h"

#include <stdio.h>

static void documents_are_read(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_CORE);
  }
}

/* js-yaml skips tabs where libyaml stops. */
static void tabs_are_read_as_js_yaml_does(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
  t = test_yaml_parse("a:\n\t \tb: 1\n-: 2", NULL);
  assert_memory_equal(t->text + t->nodes[pai__tree_get(t, 0, "b")].start, "1",
                      1);
  assert_int_equal(pai__tree_where(t, pai__tree_get(t, 0, "b")).column, 7);
  pai__tree_free(t);
}

static void many_tabs_take_linear_time(void **state)
{
  pai__tree *t;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "k: 1\n");
  for (int i = 0; i < 50000; i++)
    pai__buf_printf(&b, "\t\n \t\nk%d: 1\n", i);
  for (int i = 0; i < 200000; i++)
    pai__buf_char(&b, '\t');
  assert_int_equal(pai__yaml_parse(&t, b.data, b.len, NULL, NULL), PAI_OK);
  assert_int_equal(pai__tree_count(t, 0), 50001);
  assert_int_equal(pai__tree_where(t, pai__tree_get(t, 0, "k49999")).line,
                   150001);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* Characters that libyaml takes for line ends or refuses. */
static void odd_characters_are_content(void **state)
{
  (void)state;
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
static void odd_characters_may_be_too_much(void **state)
{
  pai__buf b;

  (void)state;
  test_yaml_fails("\xef\xbb\xbf- \"\\U0001F600\"\n- 'x\x7f'", PAI_EINVAL, 2, 5,
                  "control characters are not allowed");
  pai__buf_init(&b, &pai__libc_alloc);
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

static void nodes_know_their_source(void **state)
{
  (void)state;
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

static void places_count_characters(void **state)
{
  pai__tree *t =
    test_yaml_parse("\xef\xbb\xbfk: 日本\n\"é\": [ü, x]\r\nz: !!str  y", NULL);
  pai__node n = pai__tree_resolve(t, "/é/1");

  (void)state;
  assert_int_equal(pai__tree_where(t, 0).column, 1);
  assert_int_equal(pai__tree_where(t, n).line, 2);
  assert_int_equal(pai__tree_where(t, n).column, 10);
  n = pai__tree_resolve(t, "/z");
  assert_int_equal(pai__tree_where(t, n).line, 3);
  assert_int_equal(pai__tree_where(t, n).column, 11);
  assert_true((t->nodes[n].flags & PAI__HAS_PROPS) != 0);
  pai__tree_free(t);
}

static void styles_are_kept(void **state)
{
  static const char *const keys[] = { "p", "s", "d", "l", "f", "q", "b" };
  static const int styles[] = { PAI__PLAIN,   PAI__SINGLE, PAI__DOUBLE,
                                PAI__LITERAL, PAI__FOLDED, PAI__FLOW,
                                PAI__PLAIN };
  pai__tree *t = test_yaml_parse("p: x\ns: 'x'\nd: \"x\"\nl: |\n x\nf: >\n x\n"
                                 "q: []\nb:\n- 1\n",
                                 NULL);

  (void)state;
  for (size_t i = 0; i < PAI__LEN(keys); i++)
    assert_int_equal(t->nodes[pai__tree_get(t, 0, keys[i])].flags & PAI__STYLE,
                     styles[i]);
  pai__tree_free(t);
}

/* --- aliases and merges ------------------------------------------------- */

static void aliases_lead_to_their_targets(void **state)
{
  pai__tree *t = test_yaml_parse("a: &x [1, 2]\nb: *x\nc: &y z\nd: [*y, *x]\n"
                                 "e: &x 3\nf: *x",
                                 NULL);
  pai__node b = pai__tree_get(t, 0, "b");

  (void)state;
  test_shows(
    t, "{a: [1, 2], b: [1, 2], c: \"z\", d: [\"z\", [1, 2]], e: 3, f: 3}");
  assert_int_equal(t->nodes[b].type, PAI__ALIAS);
  assert_int_equal(pai__tree_where(t, b).line, 2);
  assert_int_equal(pai__tree_where(t, pai__tree_real(t, b)).line, 1);
  pai__tree_free(t);
}

static void merges_follow_js_yaml(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    if (rows[i].shown != NULL)
      test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
    else
      test_yaml_fails(rows[i].text, PAI_EINVAL, 1, 1,
                      "the first key of a mapping has an anchor or a tag");
  }
}

static void merged_mappings_keep_both_views(void **state)
{
  pai__tree *t = test_yaml_parse("base: &b {p: 1}\nx: {<<: *b, q: 2}\n"
                                 "y: {<<: {r: 1}}\nz: {<<: [{s: 1}]}",
                                 NULL);
  pai__node x = pai__tree_get(t, 0, "x"), key = pai__tree_written(t, x);

  (void)state;
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
static void large_merges_are_right(void **state)
{
  pai__tree *t;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "base: &b\n");
  for (int i = 0; i < 500; i++)
    pai__buf_printf(&b, "  k%d: %d\n", i, i);
  pai__buf_str(&b, "x:\n  <<: *b\n");
  for (int i = 250; i < 750; i++)
    pai__buf_printf(&b, "  k%d: %d\n", i, -i);
  t = test_yaml_parse(b.data, NULL);
  assert_int_equal(pai__tree_count(t, pai__tree_get(t, 0, "x")), 750);
  for (int i = 0; i < 750; i++) {
    char pointer[20];
    (void)snprintf(pointer, sizeof(pointer), "/x/k%d", i);
    assert_int_equal(pai__tree_int(t, pai__tree_resolve(t, pointer)),
                     i < 250 ? i : -i);
  }
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* Many anchors whose names share long beginnings. */
static void anchors_are_found_among_many(void **state)
{
  pai__tree *t;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- &anchor-with-a-long-name-%d %d\n", i * 7919 % 20000,
                    i);
  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "- *anchor-with-a-long-name-%d\n", i * 7919 % 20000);
  assert_int_equal(pai__yaml_parse(&t, b.data, b.len, NULL, NULL), PAI_OK);
  for (pai__node n = 1; n <= 20000; n++)
    assert_int_equal(pai__tree_int(t, n + 20000), n - 1);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(documents_are_read),
    cmocka_unit_test(tabs_are_read_as_js_yaml_does),
    cmocka_unit_test(many_tabs_take_linear_time),
    cmocka_unit_test(odd_characters_are_content),
    cmocka_unit_test(odd_characters_may_be_too_much),
    cmocka_unit_test(nodes_know_their_source),
    cmocka_unit_test(places_count_characters),
    cmocka_unit_test(styles_are_kept),
    cmocka_unit_test(aliases_lead_to_their_targets),
    cmocka_unit_test(merges_follow_js_yaml),
    cmocka_unit_test(merged_mappings_keep_both_views),
    cmocka_unit_test(large_merges_are_right),
    cmocka_unit_test(anchors_are_found_among_many),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
