/* What plain and tagged scalars mean, and what keys become: rows written by
 * hand from js-yaml 3.13's rules and from YAML 1.2's core schema. */
#include "cases.h"
#include "documents.h"

#include "yaml/scalar.h"

#include <stdio.h>

typedef struct row {
  const char *text;
  const char *js;   /* NULL: refused */
  const char *core; /* NULL: as js */
} row;

/* What is text, in both modes. */
static const char *const as_written[] = {
  "nUll",  "tRue", "yes", "No",    "on",   "off",      "y",  "0b",  "0b2",
  "0x",    "0xg",  "_1",  "1_",    "1:60", "0:30",     "1e", "1._", ".iNf",
  "-.nan", ".",    "+",   "1.2.3", "1-2",  "2020-1-1", "<<", "=",   "a b",
};

static const row plain[] = {
  /* null and truth */
  { "", "null", NULL },
  { "~", "null", NULL },
  { "null", "null", NULL },
  { "Null", "null", NULL },
  { "NULL", "null", NULL },
  { "true", "true", NULL },
  { "True", "true", NULL },
  { "FALSE", "false", NULL },
  /* whole numbers */
  { "0", "0", NULL },
  { "-0", "0", NULL },
  { "+12", "12", NULL },
  { "-7", "-7", NULL },
  { "010", "8", "10" },
  { "-010", "-8", "-10" },
  { "0_7", "7", "\"0_7\"" },
  { "08", "\"08\"", "8" },
  { "0o10", "\"0o10\"", "8" },
  { "0b11", "3", "\"0b11\"" },
  { "-0b1_1", "-3", "\"-0b1_1\"" },
  { "0x1F", "31", NULL },
  { "-0x1f", "-31", "\"-0x1f\"" },
  { "1_000", "1000", "\"1_000\"" },
  { "1__0", "10", "\"1__0\"" },
  { "1:30", "90", "\"1:30\"" },
  { "-1:30", "-90", "\"-1:30\"" },
  { "1:2:3", "3723", "\"1:2:3\"" },
  { "190:20:30", "685230", "\"190:20:30\"" },
  { "9007199254740992", "9007199254740992", NULL },
  { "9007199254740993", "9007199254740992", "9007199254740993" },
  { "9007199254740994", "9007199254740994.0", "9007199254740994" },
  { "9223372036854775807", "9223372036854776000.0", "9223372036854775807" },
  { "-9223372036854775808", "-9223372036854776000.0", "-9223372036854775808" },
  { "9223372036854775808", "9223372036854776000.0", NULL },
  { "0x7fffffffffffffff", "9223372036854776000.0", "9223372036854775807" },
  { "0o777777777777777777777", "\"0o777777777777777777777\"",
    "9223372036854775807" },
  { "1e3", "1000.0", NULL },
  /* floats */
  { "1.5", "1.5", NULL },
  { "1.0", "1.0", NULL },
  { ".5", "0.5", NULL },
  { "5.", "5.0", NULL },
  { "-.5", "\"-.5\"", "-0.5" },
  { "+.5", "\"+.5\"", "0.5" },
  { "1.e3", "1000.0", NULL },
  { "01.5", "\"01.5\"", "1.5" },
  { "1_0.5_0", "10.5", "\"1_0.5_0\"" },
  { "._e1", "NaN", "\"._e1\"" },
  { "1:30.5", "90.5", "\"1:30.5\"" },
  { "0:0:1.5", "1.5", "\"0:0:1.5\"" },
  { "1e400", "Infinity", NULL },
  { ".inf", "Infinity", NULL },
  { "-.INF", "-Infinity", NULL },
  { "+.Inf", "Infinity", NULL },
  { ".nan", "NaN", NULL },
  { ".NaN", "NaN", NULL },
  { "-", NULL, NULL },
  /* dates */
  { "2020-01-01", "!1577836800000", "\"2020-01-01\"" },
  { "2020-01-01T00:00:00Z", "!1577836800000", "\"2020-01-01T00:00:00Z\"" },
  { "2020-1-1 0:00:00", "!1577836800000", "\"2020-1-1 0:00:00\"" },
  { "2001-12-14t21:59:43.1-05:00", "!1008385183100",
    "\"2001-12-14t21:59:43.1-05:00\"" },
  { "2001-12-14 21:59:43.1005 -5", "!1008385183100",
    "\"2001-12-14 21:59:43.1005 -5\"" },
  { "1969-12-31T23:59:59.5Z", "!-500", "\"1969-12-31T23:59:59.5Z\"" },
  { "2020-02-30", "!1583020800000", "\"2020-02-30\"" },
  { "0050-01-01", "!-631152000000", "\"0050-01-01\"" },
  { "2020-01-01T00:00", "\"2020-01-01T00:00\"", NULL },
  { "2020-01-01T00:00:00 +1:5", "\"2020-01-01T00:00:00 +1:5\"", NULL },
  { "20200-01-01", "\"20200-01-01\"", NULL },
  /* others */
  { "'1'", "\"1\"", NULL },
  { "\"true\"", "\"true\"", NULL },
  { "'it''s'", "\"it's\"", NULL },
  { "\"\\x41\\u00e9\\U0001F600\\n\\0\"", "\"Aé😀\\n\\x00\"", NULL },
  { "\"\\N\\_\\L\\P\\e\\/\"",
    "\"\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9"
    "\\x1b/\"",
    NULL },
  { "! 12", "\"12\"", NULL },
  { "!", "null", NULL },
};

static const row tagged[] = {
  { "!!str 12", "\"12\"", NULL },
  { "!!str", "\"\"", NULL },
  { "!!int '12'", "12", NULL },
  { "!!int 010", "8", "10" },
  { "!!float 1", "1.0", NULL },
  { "!!float 1.5", "1.5", NULL },
  { "!!bool 'true'", "true", NULL },
  { "!!null", "null", NULL },
  { "!!null ~", "null", NULL },
  { "!!seq [1]", "[1]", NULL },
  { "!!seq", "[]", NULL },
  { "!!map {a: 1}", "{a: 1}", NULL },
  { "!!map", "{}", NULL },
  { "!<tag:yaml.org,2002:str> 1", "\"1\"", NULL },
};

/* Tags that only js mode knows. */
static const row js_tagged[] = {
  { "!!binary aGVsbG8=", "!\"hello\"", NULL },
  { "!!binary 'aGk='", "!\"hi\"", NULL },
  { "!!timestamp 2020-01-01", "!1577836800000", NULL },
  { "!!set {a, b: }", "{a: null, b: null}", NULL },
  { "!!omap [a: 1, b: 2]", "[{a: 1}, {b: 2}]", NULL },
  { "!!pairs [a: 1, a: 2]", "[[\"a\", 1], [\"a\", 2]]", NULL },
  { "[&x {a: 1}, !!pairs [*x, {b: 2}]]", "[{a: 1}, [{a: 1}, [\"b\", 2]]]",
    NULL },
  { "!!omap", "[]", NULL },
  { "!!merge", "null", NULL },
};

static void expect_rows(const row *rows, size_t n, bool js_only)
{
  for (size_t i = 0; i < n; i++) {
    char text[200];

    (void)snprintf(text, sizeof(text), "- %s\n", rows[i].text);
    for (int mode = PAI__YAML_JS; mode <= PAI__YAML_CORE; mode++) {
      const char *want = mode == PAI__YAML_CORE && rows[i].core != NULL
                           ? rows[i].core
                           : rows[i].js;

      if (want == NULL || (js_only && mode == PAI__YAML_CORE))
        continue;
      test_yaml_shows(text, test_string("[%s]", want), mode);
    }
  }
}

TEST(scalars_have_their_types)
{
  for (size_t i = 0; i < PAI__LEN(as_written); i++) {
    char text[50];
    row r = { as_written[i], text, NULL };

    (void)snprintf(text, sizeof(text), "\"%s\"", as_written[i]);
    expect_rows(&r, 1, false);
  }
  expect_rows(plain, PAI__LEN(plain), false);
  expect_rows(tagged, PAI__LEN(tagged), false);
  expect_rows(js_tagged, PAI__LEN(js_tagged), true);
}

TEST(wrong_tags_are_refused)
{
  static const struct {
    const char *text, *part;
    uint32_t column;
  } rows[] = {
    { "!foo a", "unknown tag !foo", 1 },
    { "!!foo a", "unknown tag !!foo", 1 },
    { "!<tag:x> a", "unknown tag tag:x", 1 },
    { "!!int x", "cannot read this as !!int", 7 },
    { "!!int", "cannot read this as !!int", 6 },
    { "!!int 08", "cannot read this as !!int", 7 },
    { "!!float 1:30", "cannot read this as !!float", 9 },
    { "!!bool yes", "cannot read this as !!bool", 8 },
    { "!!null ''", "cannot read this as !!null", 8 },
    { "!!timestamp x", "cannot read this as !!timestamp", 13 },
    { "!!binary a", "cannot read this as !!binary", 10 },
    { "!!binary '?'", "cannot read this as !!binary", 10 },
    { "!!merge x", "cannot read this as !!merge", 9 },
    { "!!set {a: 1}", "cannot read this as !!set", 7 },
    { "!!omap [a: 1, a: 2]", "cannot read this as !!omap", 8 },
    { "!!omap [1]", "cannot read this as !!omap", 8 },
    { "!!omap [{}]", "cannot read this as !!omap", 8 },
    { "!!pairs [{a: 1, b: 2}]", "cannot read this as !!pairs", 9 },
    { "!!seq x", "tag !!seq is for a sequence, not for a scalar", 1 },
    { "!!str [x]", "tag !!str is for a scalar, not for a sequence", 7 },
    { "!!map [x]", "tag !!map is for a mapping, not for a sequence", 7 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    test_yaml_fails(rows[i].text, PAI_EINVAL, 1, rows[i].column, rows[i].part);
}

TEST(core_mode_knows_core_tags_only)
{
  static const char *const texts[] = { "!!binary aa==",
                                       "!!timestamp 2020-01-01", "!!set {}",
                                       "!!omap []", "!!merge <<" };
  pai__yaml_options opts = { .mode = PAI__YAML_CORE };

  for (size_t i = 0; i < PAI__LEN(texts); i++)
    assert_int_equal(test_yaml_try(texts[i], &opts, "unknown tag"),
                     PAI_EINVAL);
}

/* A text of many digits must not overrun anything, and takes memory. */
static int long_number_body(const pai_alloc *alloc, void *user_data)
{
  pai__yaml_options opts = { .alloc = alloc };

  return test_yaml_try(user_data, &opts, "out of memory");
}

TEST(long_numbers_are_numbers)
{
  pai__tree *t;
  pai__buf b = test_buf();

  pai__buf_str(&b, "- 1");
  for (int i = 0; i < 1000; i++)
    pai__buf_str(&b, "_0");
  pai__buf_str(&b, "\n- 1.");
  for (int i = 0; i < 1000; i++)
    pai__buf_str(&b, "_3");
  test_faults(long_number_body, b.data);
  t = test_yaml_parse(b.data, NULL);
  assert_int_equal(pai__tree_type(t, 1), PAI__FLOAT);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

TEST(dates_are_written_as_in_javascript)
{
  static const struct {
    int64_t ms;
    const char *iso, *text;
  } rows[] = {
    { 0, "1970-01-01T00:00:00.000Z", "Thu Jan 01 1970 00:00:00" },
    { -1, "1969-12-31T23:59:59.999Z", "Wed Dec 31 1969 23:59:59" },
    { 951782400000, "2000-02-29T00:00:00.000Z", "Tue Feb 29 2000 00:00:00" },
    { -62135596800000, "0001-01-01T00:00:00.000Z",
      "Mon Jan 01 0001 00:00:00" },
    { 253402300799999, "9999-12-31T23:59:59.999Z",
      "Fri Dec 31 9999 23:59:59" },
    { 253402300800000, "+010000-01-01T00:00:00.000Z",
      "Sat Jan 01 10000 00:00:00" },
  };
  pai__buf b = test_buf();

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__buf_clear(&b);
    pai__date_iso(&b, rows[i].ms);
    assert_string_equal(pai__buf_text(&b), rows[i].iso);
    pai__buf_clear(&b);
    pai__date_string(&b, rows[i].ms);
    assert_memory_equal(pai__buf_text(&b), rows[i].text, strlen(rows[i].text));
    assert_string_equal(pai__buf_text(&b) + strlen(rows[i].text),
                        " GMT+0000 (Coordinated Universal Time)");
  }
  pai__buf_dispose(&b);
}

/* --- keys --------------------------------------------------------------- */

TEST(keys_become_strings)
{
  static const struct {
    const char *text, *shown;
  } rows[] = {
    { "1: a", "{1: \"a\"}" },
    { "1.0: a", "{1: \"a\"}" },
    { "0x1F: a", "{31: \"a\"}" },
    { "1e21: a", "{1e+21: \"a\"}" },
    { "-0.0: a", "{0: \"a\"}" },
    { ".inf: a", "{Infinity: \"a\"}" },
    { ".nan: a", "{NaN: \"a\"}" },
    { "true: a", "{true: \"a\"}" },
    { "False: a", "{false: \"a\"}" },
    { "~: a", "{null: \"a\"}" },
    { "?\n: a", "{null: \"a\"}" },
    { "'': a", "{: \"a\"}" },
    { "? [1, [], ~]\n: a", NULL },
    { "[1, ~, x, {a: b}]: a", "{1,,x,[object Object]: \"a\"}" },
    { "{a: b}: c", "{[object Object]: \"c\"}" },
    { "? - x\n  - y\n: z", "{x,y: \"z\"}" },
    { "2020-01-01: a", "{Wed Jan 01 2020 00:00:00 GMT+0000 (Coordinated "
                       "Universal Time): \"a\"}" },
    { "? !!binary aGk=\n: a", "{hi: \"a\"}" },
    { "? !!binary //8=\n: a", "{\xef\xbf\xbd\xef\xbf\xbd: \"a\"}" },
    { "- &k x\n- *k : 1", "[\"x\", {x: 1}]" },
    { "- &k [p, q]\n- *k : 1", "[[\"p\", \"q\"], {p,q: 1}]" },
    { "k:\n  ? &n 7\n  : *n", "{k: {7: 7}}" },
    { "? &s [a]\n: *s", "{a: [\"a\"]}" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    if (rows[i].shown != NULL)
      test_yaml_shows(rows[i].text, rows[i].shown, PAI__YAML_JS);
    else
      test_yaml_fails(rows[i].text, PAI_EINVAL, 1, 3,
                      "a list inside a list cannot be a key");
  }
}

TEST(core_keys_are_scalars)
{
  pai__yaml_options opts = { .mode = PAI__YAML_CORE };
  static const char *const texts[] = { "[a]: 1", "? {}\n: 1",
                                       "- &a []\n- *a : 1" };

  test_yaml_shows("1: a\n2020-01-01: b\n<<: c",
                  "{1: \"a\", 2020-01-01: \"b\", <<: \"c\"}", PAI__YAML_CORE);
  for (size_t i = 0; i < PAI__LEN(texts); i++)
    assert_int_equal(test_yaml_try(texts[i], &opts, "a key must be a scalar"),
                     PAI_EINVAL);
}

TEST(keys_remember_what_they_were)
{
  pai__tree *t = test_yaml_parse("7: a\n[p, q]: b\n'c': d", NULL);
  pai__node key;

  key = pai__tree_find(t, 0, "7", 1);
  assert_true((t->nodes[key].flags & PAI__CONVERTED) != 0);
  assert_int_equal(t->nodes[pai__tree_written(t, key)].type, PAI__INT);
  key = pai__tree_find(t, 0, "p,q", 3);
  assert_int_equal(t->nodes[pai__tree_written(t, key)].type, PAI__SEQUENCE);
  assert_int_equal(t->nodes[key].end - t->nodes[key].start, 6);
  key = pai__tree_find(t, 0, "c", 1);
  assert_true((t->nodes[key].flags & PAI__CONVERTED) == 0);
  assert_int_equal(t->nodes[key].flags & PAI__STYLE, PAI__SINGLE);
  assert_int_equal(pai__tree_written(t, key), PAI__NO_NODE);
  pai__tree_free(t);
}
