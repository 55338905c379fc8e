/* Edits: the bytes around the place stay, and so does what they mean. */
#include "documents.h"
#include "styled.h"

#include "base/number.h"
#include "json/writer.h"
#include "spec/edit.h"

#include <stdio.h>

/* NULL when it cannot be read. */
static pai__tree *parse(const char *text, size_t len, bool json)
{
  pai__json_options opts = { .flags = PAI__JSON_COMMENTS };
  pai__tree *t = NULL;

  if (json)
    (void)pai__json_parse(&t, text, len, &opts, NULL);
  else
    (void)pai__yaml_parse(&t, text, len, NULL, NULL);
  return t;
}

/* --- by example --------------------------------------------------------- */

/* value NULL: unset. */
static int edit(pai__buf *out, const char *text, const char *path,
                const char *value, bool json, pai_error **err)
{
  pai__tree *t = parse(text, strlen(text), json), *v = NULL;
  int rc;

  if (t == NULL)
    fail_msg("cannot be read:\n%s", text);
  if (value != NULL)
    assert_int_equal(pai__yaml_parse(&v, value, strlen(value), NULL, NULL),
                     PAI_OK);
  pai__buf_init(out, &pai__libc_alloc);
  rc = v != NULL ? pai__edit_set(out, t, path, v, err)
                 : pai__edit_unset(out, t, path, err);
  pai__tree_free(v);
  pai__tree_free(t);
  return rc;
}

static void expect(const char *text, const char *path, const char *value,
                   const char *want, bool json)
{
  pai_error *err = NULL;
  pai__buf out;

  if (edit(&out, text, path, value, json, &err) < 0)
    fail_msg("%s = %s: %s\n%s", path, value, pai_error_message(err), text);
  assert_null(err);
  if (strcmp(pai__buf_text(&out), want) != 0)
    fail_msg("%s = %s\n%s\ngives\n%s\nwant\n%s", path, value, text,
             pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

static void expect_failure(const char *text, const char *path,
                           const char *value, bool json, int code,
                           const char *part)
{
  pai_error *err = NULL;
  pai__buf out;
  int rc = edit(&out, text, path, value, json, &err);

  if (rc == PAI_OK)
    fail_msg("%s = %s\n%s\ngives\n%s", path, value, text, pai__buf_text(&out));
  assert_int_equal(out.len, 0);
  assert_true(pai__buf_ok(&out));
  pai__buf_dispose(&out);
  test_expect_error(err, code, part);
}

typedef struct example {
  const char *text, *path, *value, *want;
} example;

static const example in_yaml[] = {
  { "a: 1 # one\nb: 2\n", "a", "3", "a: 3 # one\nb: 2\n" },
  { "a: 1\nb: 2\n", "c", "3", "a: 1\nb: 2\nc: 3\n" },
  { "a: 1\nb: 2", "c", "3", "a: 1\nb: 2\nc: 3" },
  { "a: 1\nb: 2\n", "c.d.e", "3", "a: 1\nb: 2\nc:\n  d:\n    e: 3\n" },
  { "a:\n    b: 1\n    # end\nc: 2\n", "a.x", "3",
    "a:\n    b: 1\n    x: 3\n    # end\nc: 2\n" },
  { "a: # c\nb: 1\n", "a", "5", "a: 5 # c\nb: 1\n" },
  { "a: # c\nb: 1\n", "a.x", "5", "a: # c\n  x: 5\nb: 1\n" },
  { "a: 'x' # c\n", "a", "{p: {q: 1}}", "a: # c\n  p:\n    q: 1\n" },
  { "a: # c\n  b: 1\n  c: 2 # d\ne: 1\n", "a", "7", "a: 7 # c\ne: 1\n" },
  { "a:\n  # above\n  5 # c\nb: 1\n", "a", "7",
    "a:\n  # above\n  7 # c\nb: 1\n" },
  { "a: | # c\n  x\n  y\n\nb: 1\n", "a", "7", "a: 7 # c\n\nb: 1\n" },
  { "a: 1 # c\nb: 1\n", "a", "|\n x\n y\n", "a: | # c\n  x\n  y\nb: 1\n" },
  { "- a\n- - b\n  - c\n- d\n", "[1]", "x", "- a\n- x\n- d\n" },
  { "- a\n- b\n", "[+]", "{x: {y: 1}}", "- a\n- b\n- x:\n    'y': 1\n" },
  { "- a # c\n- b\n", "[0]", "{x: [{}]}", "- # c\n  x:\n    - {}\n- b\n" },
  { "- a\n- b\n", "[-1]", "|\n x\n y\n", "- a\n- |\n  x\n  y\n" },
  { "-\n- b\n", "[0]", "x", "- x\n- b\n" },
  { "k:\n- a\n", "k[+]", "b", "k:\n- a\n- b\n" },
  { "a: {b: 1}\n", "a.c", "[1, x]", "a: {b: 1, c: [1, x]}\n" },
  { "a: {b: 1,}\n", "a.c", "2", "a: {b: 1, c: 2}\n" },
  { "a: {\"b\": 1}\n", "a.c", "x", "a: {\"b\": 1, \"c\": \"x\"}\n" },
  { "a: [\n  b, # c\n  d # e\n]\n", "a[+]", "x",
    "a: [\n  b, # c\n  d, # e\n  x\n]\n" },
  { "a: [\n  b,\n  d,\n]\n", "a[+]", "x", "a: [\n  b,\n  d,\n  x,\n]\n" },
  { "a: {}\nb: 1\n", "a.x.y", "1", "a:\n  x:\n    'y': 1\nb: 1\n" },
  { "a: [] # c\n", "a[+]", "1", "a: # c\n  - 1\n" },
  { "a: [x: 1]\n", "a[0].y", "1", "a: [{x: 1, 'y': 1}]\n" },
  { "a: {b}\n", "a.b", "1", "a: {b: 1}\n" },
  { "a: 1\n", "\"x.y\".z", "1", "a: 1\nx.y:\n  z: 1\n" },
  { "a: 1\n", "/x.y/a~1b", "1", "a: 1\nx.y:\n  a/b: 1\n" },
  { "a:\n  b: [1]\n", "/a/b/0", "2", "a:\n  b: [2]\n" },
  { "a:\n  b: [1]\n", "/a/b/-", "2", "a:\n  b: [1, 2]\n" },
  { "a: 1\n", "l[+].x", "2", "a: 1\nl:\n  - x: 2\n" },
  { "a: 1\n", "b", "[x, 'a: b', 'p,q']", "a: 1\nb: [x, 'a: b', 'p,q']\n" },
  { "a: 1\r\nb: 2\r\n", "c.d", "3", "a: 1\r\nb: 2\r\nc:\r\n  d: 3\r\n" },
  { "a: |+\n  x\n\n\n", "b", "3", "a: |+\n  x\n\n\nb: 3\n" },
  { "a: |\n  x\n\n\n", "b", "3", "a: |\n  x\nb: 3\n\n\n" },
  { "a: !!str 5\n", "a", "6", "a: 6\n" },
  { "a: &x 5 # c\n", "a", "6", "a: 6 # c\n" },
  { "a: &x # c\n  b: 1\nd: 2\n", "a", "6", "a: 6 # c\nd: 2\n" },
  { "a: 1\n...\n", "b", "2", "a: 1\nb: 2\n...\n" },
  { "", "a.b", "1", "a:\n  b: 1\n" },
  { "# c\n", "a", "1", "# c\na: 1\n" },
  { "# c", "a", "1", "# c\na: 1\n" },
  { "---\n", "a", "1", "---\na: 1\n" },
  { "--- # c\n# d\n", "a", "1", "--- # c\na: 1\n# d\n" },
  { "null\n", "a", "1", "a: 1\n" },
  { "", "", "x", "x\n" },
  { "--- 5 # c\n", "", "6", "--- 6 # c\n" },
  { "--- 5 # c\n", "", "{a: {b: 1}}", "--- # c\na:\n  b: 1\n" },
  { "# c\na: 1\n# d\n", "", "{b: {}}", "# c\nb: {}\n# d\n" },
  { "&a\nx: 1\n", "x", "2", "&a\nx: 2\n" },
  { "a: 2020-01-01\n", "a", "2021-02-03", "a: 2021-02-03T00:00:00.000Z\n" },
  { "a: 1\n", "a", "!!binary aGk=", "a: !!binary aGk=\n" },
  /* What aliases and merge keys allow. */
  { "a: &x {p: 1}\nb: *x\n", "b", "2", "a: &x {p: 1}\nb: 2\n" },
  { "a: &x\n  p: 1\nb:\n  <<: *x\n  q: 2\n", "b.p", "3",
    "a: &x\n  p: 1\nb:\n  <<: *x\n  q: 2\n  p: 3\n" },
  { "a: &x\n  p: 1\nb:\n  <<: *x\n  p: 2\n", "a.p", "3",
    "a: &x\n  p: 3\nb:\n  <<: *x\n  p: 2\n" },
  /* Unset. */
  { "a: 1 # c\nb: 2\n", "a", NULL, "b: 2\n" },
  { "a: 1\n\n# about b\nb:\n  c: 1\n# d\n", "b", NULL,
    "a: 1\n\n# about b\n# d\n" },
  { "a: 1\nb: 2", "b", NULL, "a: 1\n" },
  { "a:\n  b: 1\nc: 2\n", "a.b", NULL, "a: {}\nc: 2\n" },
  { "a: # c\n  - 1\n", "a[0]", NULL, "a: [] # c\n" },
  { "a: 1 # c\n", "a", NULL, "{} # c\n" },
  { "- a: 1\n  b: 2\n", "[0].a", NULL, "- b: 2\n" },
  { "- a: 1 # c\n  # about b\n  b: 2\n", "[0].a", NULL,
    "-\n  # about b\n  b: 2\n" },
  { "- a\n- b\n- c\n", "[1]", NULL, "- a\n- c\n" },
  { "-\n-\n- c\n", "[1]", NULL, "-\n- c\n" },
  { "a: |+\n  x\n\nb: 1\n", "a", NULL, "b: 1\n" },
  { "a: |+\n  x\nb: 1\n\nc: 2\n", "b", NULL, "a: |+\n  x\nc: 2\n" },
  { "{a: 1, b: 2, c: 3}\n", "b", NULL, "{a: 1, c: 3}\n" },
  { "{a: 1, b: 2, c: 3}\n", "c", NULL, "{a: 1, b: 2}\n" },
  { "{a: 1, b: 2, c: 3}\n", "a", NULL, "{b: 2, c: 3}\n" },
  { "[ a ]\n", "[0]", NULL, "[]\n" },
  { "[a, # c\n b]\n", "[1]", NULL, "[a # c\n ]\n" },
  { "[\n  a, # c\n  b, # d\n]\n", "[1]", NULL, "[\n  a, # c\n]\n" },
  { "[x: 1]\n", "[0].x", NULL, "[{}]\n" },
  { "{a, b: 1}\n", "a", NULL, "{b: 1}\n" },
  { "? a\n: 1\nb: 2\n", "a", NULL, "b: 2\n" },
};

static const example in_json[] = {
  { "{\"a\": 1}", "a", "x", "{\"a\": \"x\"}" },
  { "{\"a\":1}", "b", "[1, x]", "{\"a\":1,\"b\":[1,\"x\"]}" },
  { "{\n  \"a\": 1\n}\n", "b", "[1, {c: x}]",
    "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    {\n      \"c\": \"x\"\n    }\n"
    "  ]\n}\n" },
  { "{\n    \"a\": 1 // c\n    // d\n}\n", "b.c", "1",
    "{\n    \"a\": 1, // c\n    \"b\": {\n        \"c\": 1\n    }\n"
    "    // d\n}\n" },
  { "{\n\t\"a\": [ /* c */ ]\n}", "a[+]", "1", "{\n\t\"a\": [ /* c */ 1]\n}" },
  { "{}", "a", "1", "{\n  \"a\": 1\n}" },
  { "null", "a[+]", "1", "{\n  \"a\": [\n    1\n  ]\n}" },
  { "{\"a\": 1, \"b\": 2}", "a", NULL, "{\"b\": 2}" },
  { "{\n  \"a\": 1, // c\n  \"b\": 2 /* d */\n}", "b", NULL,
    "{\n  \"a\": 1 // c\n}" },
  { "{\n  \"a\": 1, // c\n  \"b\": 2 /* d */\n}", "a", NULL,
    "{\n  \"b\": 2 /* d */\n}" },
  { "{\"a\": [1]}", "a[0]", NULL, "{\"a\": []}" },
  { "[1, 2]", "[0]", "'2020-01-01'", "[\"2020-01-01\", 2]" },
};

static void texts_change_in_one_place(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(in_yaml); i++)
    expect(in_yaml[i].text, in_yaml[i].path, in_yaml[i].value, in_yaml[i].want,
           false);
  for (size_t i = 0; i < PAI__LEN(in_json); i++)
    expect(in_json[i].text, in_json[i].path, in_json[i].value, in_json[i].want,
           true);
}

static const struct {
  const char *text, *path, *value;
  bool json;
  int code;
  const char *part;
} failures[] = {
  { "a: 1\n", "a.b", "1", false, PAI_EINVAL,
    "'a' is a number: it has no 'b'" },
  { "a: [1, 2]\n", "a.b.c", "1", false, PAI_EINVAL,
    "'a' is a list of 2: it has no 'b'" },
  { "a: [1, 2]\n", "a[2]", "1", false, PAI_ENOTFOUND,
    "'a' is a list of 2: it has no '[2]'" },
  { "a: [1, 2]\n", "a[-3]", "1", false, PAI_ENOTFOUND, "'[-3]'" },
  { "a: [1, 2]\n", "/a/02", "1", false, PAI_EINVAL, "'02'" },
  { "a: {x: 1}\n", "a[0]", "1", false, PAI_EINVAL,
    "'a' is a mapping of 1: it has no '[0]'" },
  { "a: {x: 1}\n", "a[+]", "1", false, PAI_EINVAL, "'[+]'" },
  { "a: 1\n", "b[0]", "1", false, PAI_ENOTFOUND, "nothing yet at 'b[0]'" },
  { "a: 1\n", "b", NULL, false, PAI_ENOTFOUND,
    "the document is a mapping of 1: it has no 'b'" },
  { "a: 1\n", "", NULL, false, PAI_EINVAL, "cannot be removed" },
  { "a: [1]\n", "a[+]", NULL, false, PAI_ENOTFOUND, "'[+]'" },
  { "a: 1\n", "a..b", "1", false, PAI_EINVAL, "a key is missing at '.b'" },
  { "a: 1\n", "a.", "1", false, PAI_EINVAL, "a key is missing at its end" },
  { "a: 1\n", "a[x]", "1", false, PAI_EINVAL, "at '[x]'" },
  { "a: 1\n", "a[]", "1", false, PAI_EINVAL, "at '[]'" },
  { "a: 1\n", "a[-0]", "1", false, PAI_EINVAL, "[-1]" },
  { "a: 1\n", "a[1]b", "1", false, PAI_EINVAL, "expected '.'" },
  { "a: 1\n", "\"a", "1", false, PAI_EINVAL, "without its end" },
  { "a: 1\n", "\"\\n\"", "1", false, PAI_EINVAL, "backslash" },
  { "a: 1\n", "/a~2", "1", false, PAI_EINVAL, "~" },
  { "a: 1\n", "\xff", "1", false, PAI_EINVAL, "UTF-8" },
  { "a: &x {p: 1}\nb: *x\n", "b.p", "2", false, PAI_ENOTSUP,
    "'b' is an alias" },
  { "a: &x {p: 1}\nb: *x\n", "a.p", "2", false, PAI_ENOTSUP,
    "'a.p' cannot be changed alone: the alias at line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a", "2", false, PAI_ENOTSUP, "line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a", NULL, false, PAI_ENOTSUP, "line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a.q", "1", false, PAI_ENOTSUP, "line 2" },
  { "a: &x {p: {q: 1}}\nb: {<<: *x}\n", "b.p.q", "2", false, PAI_ENOTSUP,
    "merge key" },
  { "a: &x {p: 1}\nb: {<<: *x, q: 1}\n", "b.p", NULL, false, PAI_ENOTSUP,
    "merge key" },
  { "a: &x {p: 1}\nb: {<<: *x, p: 2}\n", "b.p", NULL, false, PAI_ENOTSUP,
    "cannot be changed" },
  /* A line of its own for the key would be part of what is merged. */
  { "\t<<:\r b:", "n", "3", false, PAI_ENOTSUP, "cannot be changed" },
  { "a: &x\n  p: 0\nc:\n \t<<:\r  <<: *x\n  q: 1\n", "c.p", "3", false,
    PAI_ENOTSUP, "cannot be changed" },
  /* The key is b as long as the second anchor is there. */
  { "- &k a\n- &k b\n- {*k : 1}\n", "[1]", "c", false, PAI_ENOTSUP,
    "'[1]' cannot be changed" },
  { "!!set {a, b}\n", "a", "1", false, PAI_ENOTSUP, "'a'" },
  { "{\"a\": 1}", "a", "2020-01-01", true, PAI_ENOTSUP, "JSON knows no" },
  { "{\"a\": 1}", "a", "[.inf]", true, PAI_ENOTSUP, "JSON knows no" },
};

static void what_cannot_be_done_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(failures); i++)
    expect_failure(failures[i].text, failures[i].path, failures[i].value,
                   failures[i].json, failures[i].code, failures[i].part);
}

static void nesting_has_its_limits(void **state)
{
  char path[1024] = "a";

  (void)state;
  for (size_t i = 0; i < 100; i++)
    memcpy(path + 2 * i + 1, ".a", 3);
  expect_failure("a:\n", path, "1", false, PAI_ELIMIT, "deep");
  for (size_t i = 0; i < 300; i++)
    memcpy(path + 2 * i + 1, ".a", 3);
  expect_failure("a:\n", path, "1", false, PAI_ELIMIT, "256 steps");
}

/* --- at random ---------------------------------------------------------- */

/* An edit as this test sees it, without a look at how it is made. */
typedef struct change {
  const pai__tree *t, *value; /* value NULL: unset */
  pai__node at;               /* is replaced, or loses its last step */
  bool add;                   /* at gets one more */
  const char *key;            /* its name, in a mapping */
} change;

static void show(pai__json_writer *w, const change *c, const pai__tree *t,
                 pai__node n);

static void show_items(pai__json_writer *w, const change *c,
                       const pai__tree *t, pai__node n)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child, value;
  size_t len;

  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    value = mapping ? pai__tree_value(t, child) : child;
    if (c != NULL && !c->add && c->value == NULL && value == c->at)
      continue;
    if (mapping) {
      const char *key = pai__tree_str(t, child, &len);
      pai__json_key(w, key, len);
    }
    show(w, c, t, value);
  }
  if (c == NULL || !c->add || n != c->at)
    return;
  if (mapping)
    pai__json_key(w, c->key, strlen(c->key));
  show(w, NULL, c->value, 0);
}

/* A tree as JSON, with the change made, types that JSON lacks as lists. */
static void show(pai__json_writer *w, const change *c, const pai__tree *t,
                 pai__node n)
{
  int type = pai__tree_type(t, n);
  size_t len;
  const char *s;

  if (c != NULL && !c->add && c->value != NULL && n == c->at) {
    show(w, NULL, c->value, 0);
    return;
  }
  switch (type) {
  case PAI__NULL: pai__json_null(w); break;
  case PAI__BOOL: pai__json_bool(w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__json_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(w, pai__tree_float(t, n)); break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__json_text(w, s, len);
    break;
  case PAI__TIMESTAMP:
    pai__json_begin_array(w);
    pai__json_text(w, "date", 4);
    pai__json_int(w, pai__tree_int(t, n));
    pai__json_end_array(w);
    break;
  case PAI__SEQUENCE:
    pai__json_begin_array(w);
    show_items(w, c, t, n);
    pai__json_end_array(w);
    break;
  default:
    pai__json_begin_object(w);
    show_items(w, c, t, n);
    pai__json_end_object(w);
    break;
  }
}

static char *shown(const change *c, const pai__tree *t)
{
  pai__json_writer w;
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  pai__json_writer_init(&w, &out, false);
  show(&w, c, t, 0);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  return pai__buf_take(&out);
}

typedef struct counts {
  unsigned made, refused, unread, odd;
} counts;

/* A node that is no key and in none, at random. */
static pai__node pick(const pai__tree *t, pai__prng *r)
{
  pai__node n = 0;

  for (;;) {
    pai__tree_walk w = pai__tree_iter(t, n);
    bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
    uint64_t steps;
    pai__node child = PAI__NO_NODE;

    if (pai__tree_type(t, n) < PAI__SEQUENCE || w.left == 0 ||
        pai__prng_below(r, 5) == 0)
      return n;
    for (steps = 1 + pai__prng_below(r, w.left); steps > 0; steps--)
      child = pai__tree_next(&w);
    n = mapping ? pai__tree_value(t, child) : child;
  }
}

/* Whether a node is reached as it is written, through no alias or merge. */
static bool is_own(const pai__tree *t, pai__node n)
{
  pai__buf pointer;
  bool same;

  pai__buf_init(&pointer, &pai__libc_alloc);
  pai__tree_pointer(t, n, &pointer);
  same = pai__tree_resolve(t, pai__buf_text(&pointer)) == n;
  pai__buf_dispose(&pointer);
  return same;
}

/* Where that begins and ends which goes with a node: comments between it and
 * its key, and behind it on its line. */
static void find_extent(const pai__tree *t, pai__node n, size_t *from,
                        size_t *to)
{
  const pai__tree_node *p = &t->nodes[n];

  *from = n == 0 ? 0 : p[-1].skip > n ? p[-1].start : p[-1].end;
  *to = p->end + strcspn(t->text + p->end, "\r\n");
}

/* All other comments are there. */
static void check_comments(const pai__buf *out, const test_styled *how,
                           const change *c)
{
  size_t from, to;
  char mark[32];

  find_extent(c->t, c->at, &from, &to);
  for (unsigned i = 1; i <= how->comments; i++) {
    size_t at;

    (void)snprintf(mark, sizeof(mark), "<%u>", i);
    at = (size_t)(strstr(c->t->text, mark) - c->t->text);
    if ((c->add || at < from || at > to) &&
        strstr(pai__buf_text(out), mark) == NULL)
      fail_msg("comment %s is lost\n%s\nbecomes\n%s", mark, c->t->text,
               pai__buf_text(out));
  }
}

static void check_change(const change *c, const test_styled *how, counts *n)
{
  pai__buf out, path;
  pai_error *err = NULL;
  int rc;

  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_init(&path, &pai__libc_alloc);
  pai__tree_pointer(c->t, c->at, &path);
  if (c->add && pai__tree_type(c->t, c->at) == PAI__MAPPING)
    pai__pointer_add(&path, c->key, strlen(c->key));
  else if (c->add)
    pai__buf_str(&path, "/-");
  rc = c->value != NULL
         ? pai__edit_set(&out, c->t, pai__buf_text(&path), c->value, &err)
         : pai__edit_unset(&out, c->t, pai__buf_text(&path), &err);
  if (rc == PAI_OK) {
    pai__tree *t = parse(pai__buf_text(&out), out.len, how->json);
    char *want = shown(c, c->t), *have = t != NULL ? shown(NULL, t) : NULL;

    if (have == NULL || strcmp(want, have) != 0)
      fail_msg("%s\n%s\nbecomes\n%s\nwant %s", pai__buf_text(&path),
               c->t->text, pai__buf_text(&out), want);
    check_comments(&out, how, c);
    pai__strfree(&pai__libc_alloc, want);
    pai__strfree(&pai__libc_alloc, have);
    pai__tree_free(t);
    n->made++;
  } else {
    if (rc != PAI_ENOTSUP || !how->shared)
      fail_msg("%s = %s: %s\n%s", pai__buf_text(&path),
               c->value != NULL ? c->value->text : "nothing",
               pai_error_message(err), c->t->text);
    n->refused++;
  }
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai__buf_dispose(&path);
}

static void change_at_random(const pai__tree *t, const test_styled *how,
                             pai__prng *r, counts *n)
{
  static const char key[] = "new.key";
  change c = { .t = t, .at = pick(t, r), .key = key };
  uint64_t kind = pai__prng_below(r, 3);
  pai__tree *value = NULL;
  pai__buf text;

  if (!is_own(t, c.at))
    return;
  pai__buf_init(&text, &pai__libc_alloc);
  test_write_value(&text, r, how->json, 0);
  if (kind != 0 || c.at == 0) {
    value = parse(pai__buf_text(&text), text.len, false);
    assert_non_null(value);
    c.add = kind == 1 && t->nodes[c.at].type >= PAI__SEQUENCE &&
            t->nodes[c.at].type != PAI__ALIAS;
  }
  c.value = value;
  check_change(&c, how, n);
  pai__tree_free(value);
  pai__buf_dispose(&text);
}

static void many_changes(bool json, bool shared, unsigned documents, counts *n)
{
  for (uint64_t seed = 1; seed <= documents; seed++) {
    test_styled how = { .json = json, .shared = shared };
    pai__prng r = { seed + 77 };
    pai__tree *t;
    pai__buf text;

    pai__buf_init(&text, &pai__libc_alloc);
    test_write_styled(&text, &how, seed);
    t = parse(pai__buf_text(&text), text.len, json);
    if (t == NULL && !shared)
      fail_msg("cannot be read:\n%s", pai__buf_text(&text));
    for (int i = 0; t != NULL && i < 10; i++)
      change_at_random(t, &how, &r, n);
    n->unread += t == NULL;
    pai__tree_free(t);
    pai__buf_dispose(&text);
  }
}

static void any_change_changes_nothing_else(void **state)
{
  static const char *const names[] = { "YAML", "JSON", "YAML with aliases" };

  (void)state;
  for (int i = 0; i < 3; i++) {
    counts n = { 0 };
    many_changes(i == 1, i == 2, 1000, &n);
    printf("%s: %u changes, %u refused, %u documents not read\n", names[i],
           n.made, n.refused, n.unread);
    assert_true(n.made > 3 * n.refused && n.unread < 200);
  }
}

/* --- memory ------------------------------------------------------------- */

static int set_and_unset(const pai_alloc *alloc, void *user_data)
{
  static const char text[] = "a: &x {p: 1} # c\nb:\n  - c\nd: *x\n";
  pai__yaml_options opts = { .alloc = alloc };
  pai__tree *t = NULL, *v = NULL;
  pai__buf out;
  int rc;

  (void)user_data;
  pai__buf_init(&out, alloc);
  rc = pai__yaml_parse(&t, text, strlen(text), &opts, NULL);
  if (rc == PAI_OK)
    rc = pai__yaml_parse(&v, "{x: [1, {y: z}]}", 16, &opts, NULL);
  if (rc == PAI_OK)
    rc = pai__edit_set(&out, t, "b[0].e", v, NULL) == PAI_EINVAL
           ? pai__edit_set(&out, t, "e.f", v, NULL)
           : PAI_ENOMEM;
  if (rc == PAI_OK) {
    pai_error *err = NULL;
    assert_non_null(strstr(pai__buf_text(&out), "e:\n  f:\n    x:\n"));
    pai__buf_clear(&out);
    rc = pai__edit_set(&out, t, "a.p", v, &err);
    assert_true(rc == PAI_ENOMEM || rc == PAI_ENOTSUP);
    rc = rc == PAI_ENOTSUP ? PAI_OK : rc;
    pai_error_free(err);
  }
  if (rc == PAI_OK)
    rc = pai__edit_unset(&out, t, "b[0]", NULL);
  pai__buf_dispose(&out);
  pai__tree_free(v);
  pai__tree_free(t);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(set_and_unset, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_change_in_one_place),
    cmocka_unit_test(what_cannot_be_done_is_told),
    cmocka_unit_test(nesting_has_its_limits),
    cmocka_unit_test(any_change_changes_nothing_else),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
