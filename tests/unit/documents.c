/* documents.c - JSON and YAML in tests */
#include "documents.h"

#include "base/text/number.h"

#include <stdio.h>

void test_does_not_hold(const char *file, int line, const char *what)
{
  fail_msg("%s:%d: %s does not hold", file, line, what);
}

/* --- reading ------------------------------------------------------------ */

/* What a reader gave. */
typedef struct outcome {
  const char *text;
  int rc;
  pai__tree *tree;
  pai_error *err;
} outcome;

static outcome read_json(const char *text, const pai__json_options *opts)
{
  outcome o = { .text = text };

  o.rc = pai__json_parse(&o.tree, text, strlen(text), opts, &o.err);
  return o;
}

static outcome read_yaml(const char *text, const pai__yaml_options *opts)
{
  outcome o = { .text = text };

  o.rc = pai__yaml_parse(&o.tree, text, strlen(text), opts, &o.err);
  return o;
}

static pai__tree *tree_of(outcome o)
{
  if (o.rc < 0)
    fail_msg("%s\n%u:%u: %s", o.text, pai_error_line(o.err),
             pai_error_column(o.err), pai_error_message(o.err));
  assert_null(o.err);
  assert_string_equal(o.tree->text, o.text);
  test_check_tree(o.tree);
  return o.tree;
}

pai__tree *test_json_parse(const char *text, const pai__json_options *opts)
{
  return tree_of(read_json(text, opts));
}

pai__tree *test_yaml_parse(const char *text, const pai__yaml_options *opts)
{
  return tree_of(read_yaml(text, opts));
}

static int tree_or_error(outcome o, const char *part)
{
  if (o.rc < 0) {
    assert_null(o.tree);
    test_expect_error(o.err, o.rc, part);
  } else {
    pai__tree_free(tree_of(o));
  }
  return o.rc;
}

int test_json_try(const char *text, const pai__json_options *opts,
                  const char *part)
{
  return tree_or_error(read_json(text, opts), part);
}

int test_yaml_try(const char *text, const pai__yaml_options *opts,
                  const char *part)
{
  return tree_or_error(read_yaml(text, opts), part);
}

static void error_at(outcome o, int code, pai__pos at, const char *part)
{
  if (o.rc != code)
    fail_msg("%s\nwant %s, got %s: %s", o.text, pai_code_name(code),
             pai_code_name(o.rc), pai_error_message(o.err));
  assert_null(o.tree);
  if (pai_error_line(o.err) != at.line || pai_error_column(o.err) != at.column)
    fail_msg("%s\nwant %u:%u, got %u:%u: %s", o.text, at.line, at.column,
             pai_error_line(o.err), pai_error_column(o.err),
             pai_error_message(o.err));
  assert_null(strchr(pai_error_message(o.err), '\n'));
  test_expect_error(o.err, code, part);
}

void test_json_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part)
{
  error_at(read_json(text, NULL), code, (pai__pos){ line, column }, part);
}

void test_yaml_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part)
{
  error_at(read_yaml(text, NULL), code, (pai__pos){ line, column }, part);
}

/* --- showing ------------------------------------------------------------ */

static void show_string(const char *s, size_t len, pai__buf *out)
{
  pai__buf_char(out, '"');
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\n')
      pai__buf_str(out, "\\n");
    else if (c == '\t')
      pai__buf_str(out, "\\t");
    else if (c < ' ' || c == 0x7f)
      pai__buf_printf(out, "\\x%02x", c);
    else if (c == '"' || c == '\\')
      pai__buf_printf(out, "\\%c", c);
    else
      pai__buf_char(out, (char)c);
  }
  pai__buf_char(out, '"');
}

static void show_scalar(const pai__tree *t, pai__node n, pai__buf *out)
{
  char number[PAI__DOUBLE_TEXT];
  size_t len;
  const char *s;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__buf_str(out, "null"); break;
  case PAI__BOOL:
    pai__buf_str(out, pai__tree_bool(t, n) ? "true" : "false");
    break;
  case PAI__INT:
    (void)pai__format_int(number, pai__tree_int(t, n));
    pai__buf_str(out, number);
    break;
  case PAI__TIMESTAMP:
    pai__buf_printf(out, "!%lld", (long long)pai__tree_int(t, n));
    break;
  case PAI__FLOAT:
    (void)pai__format_double(number, pai__tree_float(t, n));
    pai__buf_str(out, number);
    if (strpbrk(number, ".eIN") == NULL)
      pai__buf_str(out, ".0");
    break;
  default:
    if (pai__tree_type(t, n) == PAI__BINARY)
      pai__buf_char(out, '!');
    s = pai__tree_str(t, n, &len);
    assert_int_equal(s[len], '\0');
    show_string(s, len, out);
    break;
  }
}

static void show(const pai__tree *t, pai__node n, pai__buf *out)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk w = pai__tree_iter(t, n);
  const char *comma = "";
  pai__node child;

  if (pai__tree_type(t, n) < PAI__SEQUENCE) {
    show_scalar(t, n, out);
    return;
  }
  pai__buf_char(out, mapping ? '{' : '[');
  while ((child = pai__tree_next(&w)) != PAI__NO_NODE) {
    pai__buf_str(out, comma);
    comma = ", ";
    if (mapping) {
      pai__buf_str(out, pai__tree_str(t, child, NULL));
      pai__buf_str(out, ": ");
      child = pai__tree_value(t, child);
    }
    show(t, child, out);
  }
  pai__buf_char(out, mapping ? '}' : ']');
}

void test_shows(const pai__tree *t, const char *want)
{
  pai__buf out = test_buf();

  show(t, 0, &out);
  if (strcmp(pai__buf_text(&out), want) != 0)
    fail_msg("%s\nshows %s\nwant  %s", t->text, pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

void test_json_shows(const char *text, const char *want)
{
  pai__tree *t = test_json_parse(text, NULL);

  test_shows(t, want);
  pai__tree_free(t);
}

void test_yaml_shows(const char *text, const char *want, int mode)
{
  pai__yaml_options opts = { .mode = mode };
  pai__tree *t = test_yaml_parse(text, &opts);

  test_shows(t, want);
  pai__tree_free(t);
}

void test_sources(const pai__tree *t, const char *const *want, size_t n)
{
  if (t->count != n)
    fail_msg("%s\nhas %zu nodes, not %zu", t->text, t->count, n);
  for (size_t i = 0; i < n; i++) {
    const char *source = t->text + t->nodes[i].start;
    size_t len = t->nodes[i].end - t->nodes[i].start;
    if (len != strlen(want[i]) || memcmp(source, want[i], len) != 0)
      fail_msg("%s\nnode %zu is \"%.*s\", not \"%s\"", t->text, i, (int)len,
               source, want[i]);
  }
}

void test_pointer(const pai__tree *t, pai__node n, const char *want)
{
  pai__buf b = test_buf();

  pai__tree_pointer(t, n, &b);
  assert_string_equal(pai__buf_text(&b), want);
  pai__buf_dispose(&b);
}

/* --- comparing ---------------------------------------------------------- */

static bool same_number(const pai__tree *a, pai__node m, const pai__tree *b,
                        pai__node n)
{
  double x = pai__tree_float(a, m), y = pai__tree_float(b, n);

  return x == y || (x != x && y != y);
}

static bool same_string(const pai__tree *a, pai__node m, const pai__tree *b,
                        pai__node n)
{
  size_t x, y;
  const char *s = pai__tree_str(a, m, &x), *t = pai__tree_str(b, n, &y);

  return x == y && memcmp(s, t, x) == 0;
}

static bool same_entries(const pai__tree *a, pai__node m, const pai__tree *b,
                         pai__node n)
{
  bool mapping = pai__tree_type(a, m) == PAI__MAPPING;
  pai__tree_walk v = pai__tree_iter(a, m), w = pai__tree_iter(b, n);
  pai__node x, y;

  if (pai__tree_count(a, m) != pai__tree_count(b, n))
    return false;
  while ((x = pai__tree_next(&v)) != PAI__NO_NODE) {
    y = pai__tree_next(&w);
    if (mapping && !same_string(a, x, b, y))
      return false;
    if (mapping) {
      x = pai__tree_value(a, x);
      y = pai__tree_value(b, y);
    }
    if (!test_same(a, x, b, y))
      return false;
  }
  return true;
}

bool test_same(const pai__tree *a, pai__node m, const pai__tree *b,
               pai__node n)
{
  int x = pai__tree_type(a, m), y = pai__tree_type(b, n);

  if ((x == PAI__INT || x == PAI__FLOAT) && (y == PAI__INT || y == PAI__FLOAT))
    return same_number(a, m, b, n);
  if (x != y)
    return false;
  if (x == PAI__BOOL)
    return pai__tree_bool(a, m) == pai__tree_bool(b, n);
  if (x == PAI__TIMESTAMP)
    return pai__tree_int(a, m) == pai__tree_int(b, n);
  if (x == PAI__STRING || x == PAI__BINARY)
    return same_string(a, m, b, n);
  return x < PAI__SEQUENCE || same_entries(a, m, b, n);
}
