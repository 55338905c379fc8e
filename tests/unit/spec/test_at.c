/*
 * What is at a position of a text, and where a pointer leads: in files that are
 * right, and while somebody types.
 */
#include "cases.h"
#include "rows.h"
#include "spec/found.h"

#include "base/buf.h"
#include "base/prng.h"

#include <stdio.h>

/* A text with a ^ where the cursor is; what is there: k a key, v a value, s
 * space; what may be typed; the pointer, and ranges of key and value. */
typedef struct cursor {
  const char *text, *want;
} cursor;

static const cursor in_yaml[] = {
  /* on something */
  { "na^me: n\n", "k K /name 1:1-1:5 1:7-1:8" },
  { "^name: n\n", "k K /name 1:1-1:5 1:7-1:8" },
  { "name^: n\n", "k K /name 1:1-1:5 1:7-1:8" },
  { "name: ^n\n", "v V /name 1:1-1:5 1:7-1:8" },
  { "name: n^\n", "v V /name 1:1-1:5 1:7-1:8" },
  { "a:\n  b^\n", "v KV /a 1:1-1:2 2:3-2:4" },
  { "a:\n- b^: 1\n", "k K /a/0/b 2:3-2:4 2:6-2:7" },
  { "a:\n- b: 1\n- ^c\n", "v KV /a/1 - 3:3-3:4" },
  { "a: |\n  one\n  t^wo\nb: 1\n", "v V /a 1:1-1:2 1:4-3:6" },
  { "a: |\n  one\n^b: 1\n", "k K /b 3:1-3:2 3:4-3:5" },
  { "a: \xc3\xa9\xc3\xa9^\n", "v V /a 1:1-1:2 1:4-1:6" },
  { "a/b~: {c: ^1}\n", "v V /a~1b~0/c 1:8-1:9 1:11-1:12" },
  { "a: &x 1\nb: *x^\n", "v V /b 2:1-2:2 2:4-2:6" },
  /* on nothing: columns tell */
  { "^", "s KVI  - -" },
  { "# c^\n", "s -  - -" },
  { "a: 1\n^\nb: 2\n", "s K  - 1:1-3:5" },
  { "a: 1\n^", "s K  - 1:1-1:5" },
  { "a: 1\n  ^\nb: 2\n", "s - /a 1:1-1:2 1:4-1:5" },
  { "a:\n  b: 1\n  ^\n", "s K /a 1:1-1:2 2:3-2:7" },
  { "a:\n  b: 1\n^\n", "s K  - 1:1-2:7" },
  { "a:\n  ^\n  b: 1\n", "s K /a 1:1-1:2 3:3-3:7" },
  { "a:\n    ^\n  b: 1\n", "s - /a 1:1-1:2 3:3-3:7" },
  { "a:\n  ^\n", "s KVI /a 1:1-1:2 -" },
  { "a: ^\n", "s V /a 1:1-1:2 -" },
  { "a:^\nb: 1\n", "s V /a 1:1-1:2 -" },
  { "a: # ^\n", "s - /a 1:1-1:2 -" },
  { "a: 1 ^\n", "s - /a 1:1-1:2 1:4-1:5" },
  { "a:\n- b: 1\n  ^\n", "s K /a/0 - 2:3-2:7" },
  { "a:\n  - b: 1\n  ^\n", "s I /a 1:1-1:2 2:3-2:9" },
  { "a:\n- b\n- ^\n", "s KVI /a/1 - -" },
  { "a:\n- b\n^\n", "s KI  - 1:1-2:4" },
  { "a:\n- b\n^\nc: 1\n", "s K  - 1:1-4:5" },
  { "a:\n- b\n^\n# c\n- c\n", "s I /a 1:1-1:2 2:1-5:4" },
  { "a:\n- b: 1\n\n^\n- c: 1\n", "s I /a 1:1-1:2 2:1-5:7" },
  { "a: |\n  one\n  ^\n", "v V /a 1:1-1:2 1:4-2:6" },
  { "a: |\n  one\n^\nb: 1\n", "s K  - 1:1-4:5" },
  { "a: {b: 1, ^}\n", "s K /a 1:1-1:2 1:4-1:12" },
  { "a: {b: ^}\n", "s V /a/b 1:5-1:6 -" },
  { "a: [^]\n", "s I /a 1:1-1:2 1:4-1:6" },
  { "a: [1, ^]\n", "s I /a 1:1-1:2 1:4-1:9" },
  { "a: [1 ^]\n", "s - /a 1:1-1:2 1:4-1:8" },
  { "a: {b: 1}^\n", "s - /a 1:1-1:2 1:4-1:10" },
};

static const cursor while_typing[] = {
  { "a: 1\nin^\nb: 2\n", "k K /in! 2:1-2:3 -" },
  { "a:\n  b: 1\n  in^st\n", "k K /a/inst! 3:3-3:7 -" },
  { "a:\n  - b: 1\n    in^\n", "k K /a/0/in! 3:5-3:7 -" },
  { "a:\n  b: 1\n  c:^\nd: @\n", "s V /a/c! 3:3-3:4 -" },
  { "d: @\na:\n  b: 1\n  ^\n", "s K /a! - -" },
  { "d: @\na:\n- b\n- ^\n", "s KVI /a/1! - -" },
  { "a: 'it^\n", "v V /a! 1:1-1:2 1:4-1:7" },
  { "a: 'it''s ^x'\nb: [", "v V /a! 1:1-1:2 1:4-1:13" },
  { "a: ['it''s', ^", "s I /a! - -" },
  { "a:\n- b\n^\n- c: [", "s I /a! - -" },
  { "a:\n- b: [\n]\n^", "s KI  - 1:1-3:2" },
  { "a: '\nb:\n  ^c\n", "v KV /b! 2:1-2:2 3:3-3:4" },
  { "a: {b: 1, c^", "k K /a/c! 1:11-1:12 -" },
  { "a: {b: 1, c: ^", "s V /a/c! 1:11-1:12 -" },
  { "a: [{b: 1}, {^", "s K /a/1! - -" },
  { "a: [b, c^", "v V /a/1! - 1:8-1:9" },
  { "@: 1\na: |\n  x\n  ^y\nb: 1\n", "v V /a! 2:1-2:2 2:4-4:4" },
  { "a: @\nb: # ^\n", "s - /b! 2:1-2:2 -" },
  { "{\"a\": 1, \"b^", "k K /b! 1:10-1:12 -" },
  { "{\"a\": {\"b\": [1, ^", "s I /a/b! - -" },
  { "{\"a\": {\"b\\\"c\": ^", "s V /a/b\"c! 1:8-1:14 -" },
  { "{\"a\": 1,^\n", "s K ! - -" },
  { "// c\n{\"a\": /* ^ */", "s - ! - -" },
  { "{\"a\"^", "k K /a! 1:2-1:5 -" },
  { "{\"a\" ^", "s - ! - -" },
  { "\xef\xbb\xbfin^\n@: 1", "v KV ! - 1:1-1:3" },
};

/* Job config v1: JSON with comments. */
static const cursor in_json[] = {
  { "// c\n{\"jobName\": \"a\", /* ^ */ \"image\": \"i\"}",
    "s -  - 2:1-2:38" },
  { "// c\n{\"jobName\": ^\"a\"}", "v V /jobName 2:2-2:11 2:13-2:16" },
  { "{\"jobName\": \"a\",^ \"image\": \"i\"}", "s K  - 1:1-1:31" },
  { "{\"taskRoles\": [{}, ^{}], \"image\": 1}",
    "s I /taskRoles 1:2-1:13 1:15-1:23" },
  { "^{}", "s -  - 1:1-1:3" },
};

static void show_range(pai__buf *b, const pai_text_range *r)
{
  if (r->line == 0)
    pai__buf_str(b, " -");
  else
    pai__buf_printf(b, " %u:%u-%u:%u", r->line, r->column, r->end_line,
                    r->end_column);
}

static void show_place(pai__buf *b, const pai_place_view *v)
{
  pai__buf_printf(b, "%c %s%s%s%s %s%s", "skv"[v->on],
                  (v->may & PAI_MAY_KEY) != 0 ? "K" : "",
                  (v->may & PAI_MAY_VALUE) != 0 ? "V" : "",
                  (v->may & PAI_MAY_ITEM) != 0 ? "I" : "",
                  v->may == 0 ? "-" : "", v->pointer, v->valid ? "" : "!");
  show_range(b, &v->key);
  show_range(b, &v->value);
}

/* What is at an offset, of which a whole file has the range around it; NULL
 * in a byte-order mark or a line's end. */
static pai_spec_place *place_at(const char *text, size_t len, size_t offset,
                                bool whole, pai_place_view *v)
{
  uint32_t line = 1, column = 1;
  pai_spec_place *place;
  size_t i = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  for (; i < offset; i++)
    if (text[i] == '\n') {
      line++;
      column = 1;
    } else {
      column += (text[i] & 0xc0) != 0x80;
    }
  if (pai_spec_at(&place, text, len, line, column, NULL, NULL) < 0)
    return NULL;
  *v = (pai_place_view){ .struct_size = sizeof(*v) };
  assert_ok(pai_spec_view_place(place, v));
  if (whole && v->valid && v->on != PAI_ON_SPACE) {
    const pai_text_range *r = v->on == PAI_ON_KEY ? &v->key : &v->value;
    assert_true(r->line < line || (r->line == line && r->column <= column));
    assert_true(r->end_line > line ||
                (r->end_line == line && r->end_column >= column));
  }
  return place;
}

static void check_cursor(const cursor *c)
{
  size_t offset = strcspn(c->text, "^");
  pai_spec_place *place;
  pai_place_view v;
  pai__buf text = test_buf(), b = test_buf();

  pai__buf_add(&text, c->text, offset);
  pai__buf_str(&text, c->text + offset + 1);
  place = place_at(pai__buf_text(&text), text.len, offset, false, &v);
  assert_non_null(place);
  show_place(&b, &v);
  if (strcmp(pai__buf_text(&b), c->want) != 0)
    fail_msg("%s\nis \"%s\", not \"%s\"", c->text, pai__buf_text(&b), c->want);
  pai_spec_place_free(place);
  pai__buf_dispose(&b);
  pai__buf_dispose(&text);
}

/* One line with very many marks costs no more than one with few, for each: else
 * this would not end. */
TEST(long_lines)
{
  static const char *const marks[] = {
    "? ", "- ? ", "!a ", "? !a ", "{", "a: "
  };
  pai_spec_place *place;
  pai__buf text;

  for (size_t i = 0; i < PAI__LEN(marks); i++) {
    pai__buf_init(&text, &pai__libc_alloc);
    while (text.len < 2 << 20)
      pai__buf_str(&text, marks[i]);
    assert_ok(pai_spec_at(&place, pai__buf_text(&text), text.len, 1,
                          (uint32_t)text.len + 1, NULL, NULL));
    pai_spec_place_free(place);
    pai__buf_dispose(&text);
  }
}

TEST(each_position)
{
  for (size_t i = 0; i < PAI__LEN(in_yaml); i++)
    check_cursor(&in_yaml[i]);
  for (size_t i = 0; i < PAI__LEN(in_json); i++)
    check_cursor(&in_json[i]);
  for (size_t i = 0; i < PAI__LEN(while_typing); i++)
    check_cursor(&while_typing[i]);
}

/* --- ranges ---------------------------------------------------------------- */

static const struct {
  const char *text, *pointer, *want;
} ranges[] = {
  { "a: 1\n", "", "1:1-1:5" },
  { "a:\n  b~/: [1, \xc3\xa9]\n", "/a/b~0~1/1", "2:12-2:13" },
  { "a: &x {b: 1}\nc: *x\n", "/c/b", "1:8-1:9 1:11-1:12" },
  { "a: &x {b: 1}\nc: *x\n", "/c", "2:1-2:2 2:4-2:6" },
  { "a: &x {b: 1}\nc: {<<: *x}\n", "/c/b", "1:8-1:9 1:11-1:12" },
  { "a:\nb: 1\n", "/a", "1:1-1:2 -" },
  { "1: x\n", "/1", "1:1-1:2 1:4-1:5" },
  { "// c\n{\"jobName\": \"a\"}", "/jobName", "2:2-2:11 2:13-2:16" },
  { "a: 1\na: 2\n", "/a", "2:1-2:2 2:4-2:5" },
};

TEST(each_range)
{
  for (size_t i = 0; i < PAI__LEN(ranges); i++) {
    pai_place_view v = { .struct_size = sizeof(v) };
    pai_spec_place *place;
    pai__buf b = test_buf();

    assert_ok(pai_spec_range(&place, ranges[i].text, strlen(ranges[i].text),
                             ranges[i].pointer, NULL, NULL));
    assert_ok(pai_spec_view_place(place, &v));
    assert_string_equal(v.pointer, ranges[i].pointer);
    assert_int_equal(v.on, PAI_ON_VALUE);
    if (v.key.line != 0)
      show_range(&b, &v.key);
    show_range(&b, &v.value);
    assert_string_equal(pai__buf_text(&b) + 1, ranges[i].want);
    pai__buf_dispose(&b);
    pai_spec_place_free(place);
  }
}

TEST(errors)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_place_view small = { .struct_size = 1 };
  pai_spec_place *place;
  pai_error *err;

  assert_fails(pai_spec_at(&place, "a: 1\n", 5, 3, 1, NULL, &err), err,
               PAI_ENOTFOUND, "no line 3 with a column 1");
  assert_null(place);
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 1, 6, NULL, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 0, 1, NULL, NULL),
                   PAI_ENOTFOUND);
  assert_fails(pai_spec_range(&place, "a: 1\n", 5, "/b", NULL, &err), err,
               PAI_ENOTFOUND, "nothing exists at '/b'");
  assert_int_equal(pai_spec_range(&place, "a: 1\n", 5, "a", NULL, NULL),
                   PAI_ENOTFOUND);
  assert_fails(pai_spec_range(&place, "a: @", 4, "/a", NULL, &err), err,
               PAI_EINVAL, "cannot start");
  assert_int_equal(pai_spec_at(&place, NULL, 0, 1, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_at(NULL, "", 0, 1, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_range(&place, "", 0, NULL, NULL, NULL),
                   PAI_EINVAL);
  o.max_bytes = 3;
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 1, 1, &o, NULL),
                   PAI_ELIMIT);
  assert_int_equal(pai_spec_view_place(NULL, &small), PAI_EINVAL);
  assert_ok(pai_spec_at(&place, "a: 1\n", 5, 1, 1, NULL, NULL));
  assert_int_equal(pai_spec_view_place(place, &small), PAI_EINVAL);
  pai_spec_place_free(place);
  pai_spec_place_free(NULL);
}

/* --- files that people wrote ------------------------------------------------ */

static pai__prng seeded;
static size_t leaves, spaces, cut_short;

/* Whatever is in a whole file is found again. */
static void look_at(const char *text, size_t len, size_t at, bool whole)
{
  pai_place_view v, again = { .struct_size = sizeof(again) };
  bool plain =
    whole && strstr(text, "<<") == NULL && strchr(text, '*') == NULL;
  pai_spec_place *place = place_at(text, len, at, plain, &v), *range;

  if (place == NULL)
    return;
  if (plain && v.valid && v.on != PAI_ON_SPACE) {
    assert_ok(pai_spec_range(&range, text, len, v.pointer, NULL, NULL));
    assert_ok(pai_spec_view_place(range, &again));
    assert_memory_equal(&again.value, &v.value, sizeof(v.value));
    pai_spec_place_free(range);
  }
  leaves += v.on != PAI_ON_SPACE;
  spaces += v.on == PAI_ON_SPACE;
  cut_short += !v.valid;
  pai_spec_place_free(place);
}

static void check_case(const pai__tree *t)
{
  size_t len;
  const char *text = test_row_text(t, "text", &len);

  for (int i = 0; i < 6; i++) {
    size_t at = (size_t)pai__prng_below(&seeded, len + 1);

    look_at(text, len, at, true);
    look_at(text, at, at, false); /* as if no more was typed yet */
  }
}

TEST(files_of_people)
{
  seeded.state = 24;
  if (test_each_row("v2-cases.jsonl", check_case) < 0)
    return; /* it says so */
  (void)test_each_row("v1-cases.jsonl", check_case);
  printf("%zu keys and values, %zu spaces; %zu texts cut short\n", leaves,
         spaces, cut_short);
}

/* In a valid file that somebody goes on to write, the scan knows of a key as
 * much as the tree did. */
static void check_key(const char *text, size_t len, size_t at,
                      const pai__buf *broken)
{
  pai_place_view whole, cut;
  pai_spec_place *a = place_at(text, len, at, true, &whole), *b = NULL;

  if (a != NULL && whole.on == PAI_ON_KEY && whole.valid) {
    b = place_at(pai__buf_text(broken), broken->len, at, false, &cut);
    assert_non_null(b);
    if (cut.on != PAI_ON_KEY || strcmp(cut.pointer, whole.pointer) != 0)
      fail_msg("%s\nat %zu is %s, not %s", text, at, cut.pointer,
               whole.pointer);
  }
  pai_spec_place_free(a);
  pai_spec_place_free(b);
}

static void check_cut(const pai__tree *t)
{
  size_t len, at;
  const char *text = test_row_text(t, "text", &len);
  pai__buf broken = test_buf();

  if (strcmp(test_row_text(t, "verdict", NULL), "valid") != 0 ||
      strpbrk(text, "&*\r") != NULL)
    return;
  pai__buf_add(&broken, text, len);
  pai__buf_str(&broken, "\n@: [\n");
  for (int i = 0; i < 20; i++) {
    at = (size_t)pai__prng_below(&seeded, len);
    while (at > 0 && text[at - 1] != '\n')
      at--;
    at += strspn(text + at, " ");
    if (at < len && strchr("\n#", text[at]) == NULL)
      check_key(text, len, at, &broken);
  }
  pai__buf_dispose(&broken);
}

TEST(the_scan_agrees_with_the_tree)
{
  seeded.state = 25;
  (void)test_each_row("v2-cases.jsonl", check_cut);
}

/* --- failing memory --------------------------------------------------------- */

static int body(const pai_alloc *alloc, void *user_data)
{
  const char *text = user_data;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec_place *place;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_at(&place, text, strlen(text), 2, 4, &o, NULL);
  pai_spec_place_free(place);
  if (rc < 0)
    return rc;
  rc = pai_spec_range(&place, "a: {b: 1}", 9, "/a/b", &o, NULL);
  pai_spec_place_free(place);
  return rc;
}

TEST(failing_memory)
{
  test_faults(body, (void *)(uintptr_t) "a:\n   \n");
  test_faults(body, (void *)(uintptr_t) "a:\n  b: [{c: 1, 'd': '\n");
  test_faults(body, (void *)(uintptr_t) "{\"a\":\n[1, {\n");
}
