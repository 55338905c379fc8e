/* Edits: the bytes around the place stay, and so does what they mean. */
#include "cases.h"
#include "documents.h"
#include "styled.h"

#include "spec/edit/edit.h"
#include "spec/format/write.h"

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
    assert_ok(pai__yaml_parse(&v, value, strlen(value), NULL, NULL));
  pai__buf_init(out, &pai__libc_alloc);
  rc = v != NULL ? pai__edit_set(out, t, path, v, err)
                 : pai__edit_unset(out, t, path, err);
  pai__tree_free(v);
  pai__tree_free(t);
  return rc;
}

typedef struct example {
  const char *text, *path, *value, *want; /* value NULL: unset */
} example;

static void expect(const example *e, bool json)
{
  pai_error *err = NULL;
  pai__buf out;

  if (edit(&out, e->text, e->path, e->value, json, &err) < 0)
    fail_msg("%s = %s: %s\n%s", e->path, e->value, pai_error_message(err),
             e->text);
  assert_null(err);
  if (strcmp(pai__buf_text(&out), e->want) != 0)
    fail_msg("%s = %s\n%s\ngives\n%s\nwant\n%s", e->path, e->value, e->text,
             pai__buf_text(&out), e->want);
  pai__buf_dispose(&out);
}

/* An edit that fails, with a part of the message; JSON begins with a brace. */
static void expect_failure(const char *text, const char *path,
                           const char *value, int code, const char *part)
{
  pai_error *err = NULL;
  pai__buf out;
  int rc = edit(&out, text, path, value, *text == '{', &err);

  if (rc == PAI_OK)
    fail_msg("%s = %s\n%s\ngives\n%s", path, value, text, pai__buf_text(&out));
  assert_int_equal(out.len, 0);
  assert_true(pai__buf_ok(&out));
  pai__buf_dispose(&out);
  test_expect_error(err, code, part);
}

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
  { "{a: 1}\n", "b", "[a, 'b,c', 'd: e', 'f]', 'g:h', \"i\\nj\", {k l: ~}]",
    "{a: 1, b: [a, 'b,c', 'd: e', 'f]', 'g:h', \"i\\nj\", {k l: null}]}\n" },
  { "{\"a\":1}\n", "b", "[a, 'd: e', \"i\\nj\", 1, {k l: '{}'}, []]",
    "{\"a\":1,\"b\":[\"a\",\"d: e\",\"i\\nj\",1,{\"k l\":\"{}\"},[]]}\n" },
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

TEST(texts_change_in_one_place)
{
  for (size_t i = 0; i < PAI__LEN(in_yaml); i++)
    expect(&in_yaml[i], false);
  for (size_t i = 0; i < PAI__LEN(in_json); i++)
    expect(&in_json[i], true);
}

static const struct {
  const char *text, *path, *value;
  int code;
  const char *part;
} failures[] = {
  { "a: 1\n", "a.b", "1", PAI_EINVAL, "'a' is a number: it has no 'b'" },
  { "a: [1, 2]\n", "a.b.c", "1", PAI_EINVAL,
    "'a' is a list of 2: it has no 'b'" },
  { "a: [1, 2]\n", "a[2]", "1", PAI_ENOTFOUND,
    "'a' is a list of 2: it has no '[2]'" },
  { "a: [1, 2]\n", "a[-3]", "1", PAI_ENOTFOUND, "'[-3]'" },
  { "a: [1, 2]\n", "/a/02", "1", PAI_EINVAL, "'02'" },
  { "a: {x: 1}\n", "a[0]", "1", PAI_EINVAL,
    "'a' is a mapping of 1: it has no '[0]'" },
  { "a: {x: 1}\n", "a[+]", "1", PAI_EINVAL, "'[+]'" },
  { "a: 1\n", "b[0]", "1", PAI_ENOTFOUND, "nothing exists yet at 'b[0]'" },
  { "a: 1\n", "b", NULL, PAI_ENOTFOUND,
    "the document is a mapping of 1: it has no 'b'" },
  { "a: 1\n", "", NULL, PAI_EINVAL, "cannot be removed" },
  { "a: [1]\n", "a[+]", NULL, PAI_ENOTFOUND, "'[+]'" },
  { "a: 1\n", "a..b", "1", PAI_EINVAL, "a key is missing at '.b'" },
  { "a: 1\n", "a.", "1", PAI_EINVAL, "a key is missing at its end" },
  { "a: 1\n", "a[x]", "1", PAI_EINVAL, "at '[x]'" },
  { "a: 1\n", "a[]", "1", PAI_EINVAL, "at '[]'" },
  { "a: 1\n", "a[-0]", "1", PAI_EINVAL, "[-1]" },
  { "a: 1\n", "a[1]b", "1", PAI_EINVAL, "expected '.'" },
  { "a: 1\n", "\"a", "1", PAI_EINVAL, "is not closed" },
  { "a: 1\n", "\"\\n\"", "1", PAI_EINVAL, "backslash" },
  { "a: 1\n", "/a~2", "1", PAI_EINVAL, "~" },
  { "a: 1\n", "\xff", "1", PAI_EINVAL, "UTF-8" },
  { "a: &x {p: 1}\nb: *x\n", "b.p", "2", PAI_ENOTSUP, "'b' is an alias" },
  { "a: &x {p: 1}\nb: *x\n", "a.p", "2", PAI_ENOTSUP,
    "'a.p' cannot be changed alone: the alias at line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a", "2", PAI_ENOTSUP, "line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a", NULL, PAI_ENOTSUP, "line 2" },
  { "a: &x {p: 1}\nb: *x\n", "a.q", "1", PAI_ENOTSUP, "line 2" },
  { "a: &x {p: {q: 1}}\nb: {<<: *x}\n", "b.p.q", "2", PAI_ENOTSUP,
    "merge key" },
  { "a: &x {p: 1}\nb: {<<: *x, q: 1}\n", "b.p", NULL, PAI_ENOTSUP,
    "merge key" },
  { "a: &x {p: 1}\nb: {<<: *x, p: 2}\n", "b.p", NULL, PAI_ENOTSUP,
    "cannot be changed" },
  /* A line of its own for the key would be part of what is merged. */
  { "\t<<:\r b:", "n", "3", PAI_ENOTSUP, "cannot be changed" },
  { "a: &x\n  p: 0\nc:\n \t<<:\r  <<: *x\n  q: 1\n", "c.p", "3", PAI_ENOTSUP,
    "cannot be changed" },
  /* The key is b as long as the second anchor is there. */
  { "- &k a\n- &k b\n- {*k : 1}\n", "[1]", "c", PAI_ENOTSUP,
    "'[1]' cannot be changed" },
  { "!!set {a, b}\n", "a", "1", PAI_ENOTSUP, "'a'" },
  { "{\"a\": 1}", "a", "2020-01-01", PAI_ENOTSUP, "JSON has no" },
  { "{\"a\": 1}", "a", "[.inf]", PAI_ENOTSUP, "JSON has no" },
};

TEST(what_cannot_be_done_is_told)
{
  for (size_t i = 0; i < PAI__LEN(failures); i++)
    expect_failure(failures[i].text, failures[i].path, failures[i].value,
                   failures[i].code, failures[i].part);
}

TEST(nesting_has_its_limits)
{
  char path[1024] = "a";

  for (size_t i = 0; i < 100; i++)
    memcpy(path + 2 * i + 1, ".a", 3);
  expect_failure("a:\n", path, "1", PAI_ELIMIT, "deep");
  for (size_t i = 0; i < 300; i++)
    memcpy(path + 2 * i + 1, ".a", 3);
  expect_failure("a:\n", path, "1", PAI_ELIMIT, "256 steps");
}

/* --- at random ---------------------------------------------------------- */

/* An edit as this test sees it, without a look at how it is made. */
typedef struct change {
  const pai__tree *t, *value; /* value NULL: unset */
  pai__node at;               /* is replaced, or loses its last step */
  bool add;                   /* at gets one more */
  const char *key;            /* its name, in a mapping */
} change;

/* Whether tree `b` below `m` is the old one below `n` with the change made. */
static bool is_changed(const change *c, pai__node n, const pai__tree *b,
                       pai__node m)
{
  bool mapping = pai__tree_type(c->t, n) == PAI__MAPPING;
  bool adds = c->add && n == c->at;
  pai__tree_walk old = pai__tree_iter(c->t, n), now = pai__tree_iter(b, m);
  pai__node from, to;

  if (!c->add && c->value != NULL && n == c->at)
    return test_same(c->value, 0, b, m);
  if (pai__tree_type(c->t, n) < PAI__SEQUENCE)
    return test_same(c->t, n, b, m);
  if (pai__tree_type(b, m) != pai__tree_type(c->t, n))
    return false;
  while ((from = pai__tree_next(&old)) != PAI__NO_NODE) {
    pai__node value = mapping ? pai__tree_value(c->t, from) : from;
    if (!c->add && c->value == NULL && value == c->at)
      continue;
    to = pai__tree_next(&now);
    if (to == PAI__NO_NODE || (mapping && !test_same(c->t, from, b, to)) ||
        !is_changed(c, value, b, mapping ? pai__tree_value(b, to) : to))
      return false;
  }
  to = pai__tree_next(&now);
  if (!adds || to == PAI__NO_NODE)
    return !adds && to == PAI__NO_NODE;
  if (mapping && strcmp(pai__tree_str(b, to, NULL), c->key) != 0)
    return false;
  return test_same(c->value, 0, b, mapping ? pai__tree_value(b, to) : to) &&
         pai__tree_next(&now) == PAI__NO_NODE;
}

typedef struct counts {
  unsigned made, refused, unread;
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
  pai__buf pointer = test_buf();
  bool same;

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
  pai__buf out = test_buf(), path = test_buf();
  pai_error *err = NULL;
  int rc;

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

    if (t == NULL || !is_changed(c, 0, t, 0))
      fail_msg("%s = %s\n%s\nbecomes\n%s", pai__buf_text(&path),
               c->value != NULL ? c->value->text : "nothing", c->t->text,
               pai__buf_text(&out));
    check_comments(&out, how, c);
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
  pai__buf text = test_buf();

  if (!is_own(t, c.at))
    return;
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
    pai__buf text = test_buf();

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

TEST(any_change_changes_nothing_else)
{
  static const char *const names[] = { "YAML", "JSON", "YAML with aliases" };

  for (int i = 0; i < 3; i++) {
    counts n = { 0 };
    many_changes(i == 1, i == 2, 1000, &n);
    printf("%s: %u changes, %u refused, %u documents not read\n", names[i],
           n.made, n.refused, n.unread);
    assert_true(n.made > 3 * n.refused && n.unread < 200);
  }
}

/* What an edit takes for no change. */
TEST(sameness_is_of_values)
{
  static const struct {
    const char *a, *b;
    bool same;
  } rows[] = {
    { "ab", "'ab'", true },
    { "ab", "ac", false },
    { "ab", "abc", false },
    { "1", "1.0", true },
    { "1", "'1'", false },
    { ".nan", ".NaN", true },
    { "9007199254740993", "9007199254740992", true }, /* doubles, in js */
    { "true", "false", false },
    { "2020-01-01", "2020-01-01T00:00:00Z", true },
    { "2020-01-01", "2020-01-02", false },
    { "!!binary aGk=", "hi", false },
    { "[1, 2]", "- 1\n- 2\n", true },
    { "[1, 2]", "[1]", false },
    { "[1]", "[1, 2]", false },
    { "{a: 1, b: 2}", "{b: 2, a: 1}", false },
    { "{a: &x {b: 1}, c: *x}", "{a: {b: 1}, c: {b: 1}}", true },
    { "{a: 1}", "{a: 2}", false },
    { "[]", "{}", false },
    { "", "null", true },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__tree *a = test_yaml_parse(rows[i].a, NULL),
              *b = test_yaml_parse(rows[i].b, NULL);

    if (pai__tree_same(a, 0, b, 0) != rows[i].same)
      fail_msg("%s and %s", rows[i].a, rows[i].b);
    pai__tree_free(a);
    pai__tree_free(b);
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
    assert_has(pai__buf_text(&out), "e:\n  f:\n    x:\n");
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

static int write_numbers(const pai_alloc *alloc, void *user_data)
{
  pai__buf out;
  int rc;

  pai__buf_init(&out, alloc);
  pai__write_flow(&out, user_data, 0, (pai__flow){ 0 });
  rc = pai__buf_ok(&out) ? PAI_OK : PAI_ENOMEM;
  pai__buf_dispose(&out);
  return rc;
}

TEST(no_memory_is_survived)
{
  pai__tree *t = test_yaml_parse(
    "[1234567890123456, 1234567890123456, 1234567890123456, 1234567890123456, "
    "1234567890123456, 1234567890123456, 1234567890123456, 1234567890123456]",
    NULL);

  test_faults(write_numbers, t);
  pai__tree_free(t);
  test_faults(set_and_unset, NULL);
}
