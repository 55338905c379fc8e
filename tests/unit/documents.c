/* documents.c - trees in tests */
#include "documents.h"

#include "base/number.h"
#include "json/writer.h"
#include "yaml/writer.h"

#include <stdio.h>

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

char *test_show(const pai__tree *t)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  show(t, 0, &out);
  return pai__buf_take(&out);
}

static void expect_shown(pai__tree *t, int rc, pai_error *err,
                         const char *text, const char *want)
{
  char *shown;

  if (rc < 0)
    fail_msg("%s\n%u:%u: %s", text, pai_error_line(err), pai_error_column(err),
             pai_error_message(err));
  assert_null(err);
  test_check_tree(t);
  shown = test_show(t);
  if (strcmp(shown, want) != 0)
    fail_msg("%s\nshows %s\nwant  %s", text, shown, want);
  pai__strfree(&pai__libc_alloc, shown);
  pai__tree_free(t);
}

static void expect_failed(pai__tree *t, int rc, pai_error *err,
                          const char *text, int code, pai__pos at,
                          const char *part)
{
  if (rc != code)
    fail_msg("%s\nwant %s, got %s: %s", text, pai_code_name(code),
             pai_code_name(rc), pai_error_message(err));
  assert_null(t);
  if (pai_error_line(err) != at.line || pai_error_column(err) != at.column)
    fail_msg("%s\nwant %u:%u, got %u:%u: %s", text, at.line, at.column,
             pai_error_line(err), pai_error_column(err),
             pai_error_message(err));
  assert_null(strchr(pai_error_message(err), '\n'));
  test_expect_error(err, code, part);
}

void test_json_shows(const char *text, const char *want)
{
  pai_error *err = NULL;
  pai__tree *t = NULL;
  int rc = pai__json_parse(&t, text, strlen(text), NULL, &err);

  expect_shown(t, rc, err, text, want);
}

void test_yaml_shows(const char *text, const char *want, int mode)
{
  pai__yaml_options opts = { .mode = mode };
  pai_error *err = NULL;
  pai__tree *t = NULL;
  int rc = pai__yaml_parse(&t, text, strlen(text), &opts, &err);

  expect_shown(t, rc, err, text, want);
}

void test_json_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part)
{
  pai_error *err = NULL;
  pai__tree *t = NULL;
  int rc = pai__json_parse(&t, text, strlen(text), NULL, &err);

  expect_failed(t, rc, err, text, code, (pai__pos){ line, column }, part);
}

void test_yaml_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part)
{
  pai_error *err = NULL;
  pai__tree *t = NULL;
  int rc = pai__yaml_parse(&t, text, strlen(text), NULL, &err);

  expect_failed(t, rc, err, text, code, (pai__pos){ line, column }, part);
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

/* --- invariants --------------------------------------------------------- */

static void check_written(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = &t->nodes[n];
  uint32_t at = p->start;

  assert_in_range(p->start, 0, t->len);
  assert_in_range(p->end, p->start, t->len);
  assert_in_range(p->skip, n + 1, t->count);
  for (pai__node c = pai__tree_written(t, n); c != PAI__NO_NODE && c < p->skip;
       c = t->nodes[c].skip) {
    assert_in_range(t->nodes[c].start, at, p->end);
    assert_in_range(t->nodes[c].end, t->nodes[c].start, p->end);
    at = t->nodes[c].end;
  }
  if (p->type == PAI__ALIAS) {
    assert_true(p->u.target < t->count);
    assert_int_not_equal(t->nodes[p->u.target].type, PAI__ALIAS);
  }
}

static void check_entries(const pai__tree *t, pai__node n)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  uint32_t count = 0;
  pai__node key;

  for (; (key = pai__tree_next(&w)) != PAI__NO_NODE; count++) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);

    assert_int_equal(t->nodes[key].type, PAI__STRING);
    assert_true((t->nodes[key].flags & PAI__IS_KEY) != 0);
    assert_int_equal(pai__tree_find(t, n, s, len), key);
  }
  assert_int_equal(count, pai__tree_count(t, n));
}

void test_check_tree(const pai__tree *t)
{
  assert_true(t->count > 0);
  assert_int_equal(t->nodes[0].skip, t->count);
  for (pai__node n = 0; n < t->count; n++) {
    check_written(t, n);
    if (t->nodes[n].type == PAI__MAPPING)
      check_entries(t, n);
  }
}

/* --- both writers as tables --------------------------------------------- */

static void json_begin(void *w, bool mapping)
{
  if (mapping)
    pai__json_begin_object(w);
  else
    pai__json_begin_array(w);
}

static void json_end(void *w, bool mapping)
{
  if (mapping)
    pai__json_end_object(w);
  else
    pai__json_end_array(w);
}

static void json_key(void *w, const char *s, size_t len)
{
  pai__json_key(w, s, len);
}

static void json_text(void *w, const char *s, size_t len)
{
  pai__json_text(w, s, len);
}

static void json_int(void *w, int64_t v)
{
  pai__json_int(w, v);
}

static void json_double(void *w, double v)
{
  pai__json_double(w, v);
}

static void json_bool(void *w, bool v)
{
  pai__json_bool(w, v);
}

static void json_null(void *w)
{
  pai__json_null(w);
}

const test_writer test_json_table = { json_begin, json_end, json_key,
                                      json_text,  json_int, json_double,
                                      json_bool,  json_null };

static void yaml_begin(void *w, bool mapping)
{
  if (mapping)
    pai__yaml_begin_mapping(w);
  else
    pai__yaml_begin_sequence(w);
}

static void yaml_end(void *w, bool mapping)
{
  if (mapping)
    pai__yaml_end_mapping(w);
  else
    pai__yaml_end_sequence(w);
}

static void yaml_key(void *w, const char *s, size_t len)
{
  pai__yaml_key(w, s, len);
}

static void yaml_text(void *w, const char *s, size_t len)
{
  pai__yaml_text(w, s, len);
}

static void yaml_int(void *w, int64_t v)
{
  pai__yaml_int(w, v);
}

static void yaml_double(void *w, double v)
{
  pai__yaml_double(w, v);
}

static void yaml_bool(void *w, bool v)
{
  pai__yaml_boolean(w, v);
}

static void yaml_null(void *w)
{
  pai__yaml_nothing(w);
}

const test_writer test_yaml_table = { yaml_begin, yaml_end, yaml_key,
                                      yaml_text,  yaml_int, yaml_double,
                                      yaml_bool,  yaml_null };

/* --- documents at random ------------------------------------------------ */

/* Pieces that have gone wrong in some YAML writer. */
static const char *const pieces[] = {
  "a",
  "b",
  "word",
  " ",
  "  ",
  "\n",
  "\n\n",
  "\t",
  ": ",
  ":",
  " #",
  "#",
  "- ",
  "-",
  "'",
  "\"",
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  "&a",
  "*a",
  "!",
  "!!",
  "|",
  ">",
  "%",
  "@",
  "`",
  "?",
  "? ",
  "=",
  "<<",
  "~",
  "0",
  "1",
  "1.5",
  "e3",
  "0x",
  "0o",
  "_",
  "+",
  ".",
  "...",
  "---",
  "null",
  "true",
  "No",
  "on",
  "y",
  ".inf",
  "1:30",
  "\r",
  "\x01",
  "\x7f",
  "é",
  "日本",
  "😀",
  "\xc2\x85",
  "\xc2\xa0",
  "\xe2\x80\xa8",
  "\xef\xbb\xbf",
  "\xef\xbf\xbf",
  "2020-01-01",
  "$HOME/x",
  "./run.sh",
  "http://h/p?q=1",
};

static size_t random_text(pai__prng *r, char *out, size_t max)
{
  size_t len = 0;
  uint64_t n = pai__prng_below(r, 8);

  if (pai__prng_below(r, 50) == 0)
    n = 200;
  while (n-- > 0) {
    const char *p = pieces[pai__prng_below(r, PAI__LEN(pieces))];
    if (len + strlen(p) > max)
      break;
    memcpy(out + len, p, strlen(p));
    len += strlen(p);
  }
  return len;
}

static double random_double(pai__prng *r)
{
  uint64_t bits = pai__prng_next(r);
  double v;

  if (pai__prng_below(r, 2) == 0)
    return (double)(int64_t)pai__prng_below(r, 2000000) / 1000 - 1000;
  memcpy(&v, &bits, sizeof(v));
  return v - v == 0 ? v : 0.5;
}

static void write_random(const test_writer *t, void *w, pai__prng *r,
                         int depth)
{
  char text[600];
  uint64_t n = pai__prng_below(r, 4);

  switch (pai__prng_below(r, depth < 5 ? 10 : 6)) {
  case 0: t->nothing(w); break;
  case 1: t->boolean(w, n % 2 != 0); break;
  case 2:
    t->integer(w, (int64_t)pai__prng_next(r) >> (11 + pai__prng_below(r, 50)));
    break;
  case 3: t->real(w, random_double(r)); break;
  case 4:
  case 5: t->text(w, text, random_text(r, text, sizeof(text))); break;
  case 6:
  case 7:
    t->begin(w, false);
    while (n-- > 0)
      write_random(t, w, r, depth + 1);
    t->end(w, false);
    break;
  default:
    t->begin(w, true);
    while (n-- > 0) {
      size_t len = random_text(r, text, sizeof(text) - 1);
      text[len++] = (char)('A' + n); /* no key twice */
      t->key(w, text, len);
      write_random(t, w, r, depth + 1);
    }
    t->end(w, true);
  }
}

void test_write_random(const test_writer *table, void *w, uint64_t seed)
{
  pai__prng r = { seed };

  write_random(table, w, &r, 0);
}

static void write_scalar(const test_writer *table, void *w, const pai__tree *t,
                         pai__node n)
{
  size_t len = 0;
  const char *s;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: table->nothing(w); break;
  case PAI__BOOL: table->boolean(w, pai__tree_bool(t, n)); break;
  case PAI__TIMESTAMP:
  case PAI__INT: table->integer(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: table->real(w, pai__tree_float(t, n)); break;
  default:
    s = pai__tree_str(t, n, &len);
    table->text(w, s, len);
    break;
  }
}

void test_write_tree(const test_writer *table, void *w, const pai__tree *t,
                     pai__node n)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;
  size_t len;

  if (pai__tree_type(t, n) < PAI__SEQUENCE) {
    write_scalar(table, w, t, n);
    return;
  }
  table->begin(w, mapping);
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (mapping) {
      const char *s = pai__tree_str(t, child, &len);
      table->key(w, s, len);
      child = pai__tree_value(t, child);
    }
    test_write_tree(table, w, t, child);
  }
  table->end(w, mapping);
}
