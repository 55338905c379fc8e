/* trees.c - what must hold for a tree, and documents for writers */
#include "trees.h"

#include "base/prng.h"
#include "json/writer.h"
#include "yaml/writer.h"

/* --- invariants --------------------------------------------------------- */

static void check_written(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = &t->nodes[n];
  pai__pos start = pai__tree_pos(t, p->start), end = pai__tree_pos(t, p->end);
  uint32_t at = p->start;

  CHECK(p->start <= p->end && p->end <= t->len);
  CHECK(p->skip > n && p->skip <= t->count);
  CHECK(start.line >= 1 && start.column >= 1 && start.line <= end.line);
  for (pai__node c = n + 1; c < p->skip; c = t->nodes[c].skip) {
    CHECK(t->nodes[c].start >= at && t->nodes[c].end <= p->end);
    CHECK(t->nodes[c].start <= t->nodes[c].end);
    at = t->nodes[c].end;
  }
  if (p->type == PAI__ALIAS) {
    CHECK(p->u.target < t->count);
    CHECK(t->nodes[p->u.target].type != PAI__ALIAS);
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

    CHECK(t->nodes[key].type == PAI__STRING && s[len] == '\0');
    CHECK((t->nodes[key].flags & PAI__IS_KEY) != 0);
    CHECK(pai__tree_find(t, n, s, len) == key);
  }
  CHECK(count == pai__tree_count(t, n));
}

/* A pointer that goes on from another one is the same as one from the start. */
static void check_pointers(const pai__tree *t)
{
  const pai_alloc *alloc = pai__alloc_or_libc(NULL);
  pai__trail trail = { .depth = 0 };
  uint32_t step = t->count > 2000 ? (uint32_t)t->count / 1000 : 1;

  for (uint32_t i = 0; i < 2 * t->count; i += step) { /* there and back */
    pai__node n = (pai__node)(i < t->count ? i : 2 * t->count - 1 - i);
    pai__buf a, b;

    pai__buf_init(&a, alloc);
    pai__buf_init(&b, alloc);
    pai__tree_pointer(t, n, &a);
    pai__tree_pointer_along(t, n, &b, &trail);
    CHECK(strcmp(pai__buf_text(&a), pai__buf_text(&b)) == 0);
    pai__buf_dispose(&a);
    pai__buf_dispose(&b);
  }
}

void test_check_tree(const pai__tree *t)
{
  CHECK(t->count > 0 && t->nodes[0].skip == t->count);
  for (pai__node n = 0; n < t->count; n++) {
    check_written(t, n);
    if (t->nodes[n].type == PAI__MAPPING)
      check_entries(t, n);
  }
  check_pointers(t);
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

/* --- a tree through a table --------------------------------------------- */

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
