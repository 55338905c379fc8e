/*
 * What is at a position of a text, and where a pointer leads: in files that are
 * right, and while somebody types.
 */
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

static void show_place(pai__buf *b, const pai_spec_place *place)
{
  pai_place_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_spec_view_place(place, &v), PAI_OK);
  pai__buf_printf(b, "%c %s%s%s%s %s%s", "skv"[v.on],
                  (v.may & PAI_MAY_KEY) != 0 ? "K" : "",
                  (v.may & PAI_MAY_VALUE) != 0 ? "V" : "",
                  (v.may & PAI_MAY_ITEM) != 0 ? "I" : "",
                  v.may == 0 ? "-" : "", v.pointer, v.valid ? "" : "!");
  show_range(b, &v.key);
  show_range(b, &v.value);
}

/* Takes the ^ out and tells where it was. */
static void find_cursor(pai__buf *text, const char *marked, uint32_t *line,
                        uint32_t *column)
{
  const char *at = strchr(marked, '^');

  *line = *column = 1;
  for (const char *p = marked; p < at; p++)
    if (*p == '\n') {
      ++*line;
      *column = 1;
    } else if ((*p & 0xc0) != 0x80 &&
               !(strncmp(p, "\xef\xbb\xbf", 3) == 0 && p == marked)) {
      ++*column;
    }
  pai__buf_add(text, marked, (size_t)(at - marked));
  pai__buf_str(text, at + 1);
}

static void check_cursor(const cursor *c)
{
  uint32_t line, column;
  pai_spec_place *place;
  pai__buf text, b;

  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&b, &pai__libc_alloc);
  find_cursor(&text, c->text, &line, &column);
  assert_int_equal(pai_spec_at(&place, pai__buf_text(&text), text.len, line,
                               column, NULL, NULL),
                   PAI_OK);
  show_place(&b, place);
  if (strcmp(pai__buf_text(&b), c->want) != 0)
    fail_msg("%s\nis \"%s\", not \"%s\"", c->text, pai__buf_text(&b), c->want);
  pai_spec_place_free(place);
  pai__buf_dispose(&b);
  pai__buf_dispose(&text);
}

/* One line with very many marks costs no more than one with few, for each: else
 * this would not end. */
static void long_lines(void **state)
{
  static const char *const marks[] = {
    "? ", "- ? ", "!a ", "? !a ", "{", "a: "
  };
  pai_spec_place *place;
  pai__buf text;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(marks); i++) {
    pai__buf_init(&text, &pai__libc_alloc);
    while (text.len < 2 << 20)
      pai__buf_str(&text, marks[i]);
    assert_int_equal(pai_spec_at(&place, pai__buf_text(&text), text.len, 1,
                                 (uint32_t)text.len + 1, NULL, NULL),
                     PAI_OK);
    pai_spec_place_free(place);
    pai__buf_dispose(&text);
  }
}

static void each_position(void **state)
{
  (void)state;
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

static void each_range(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(ranges); i++) {
    pai_place_view v = { .struct_size = sizeof(v) };
    pai_spec_place *place;
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    assert_int_equal(pai_spec_range(&place, ranges[i].text,
                                    strlen(ranges[i].text), ranges[i].pointer,
                                    NULL, NULL),
                     PAI_OK);
    assert_int_equal(pai_spec_view_place(place, &v), PAI_OK);
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

static void errors(void **state)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_place_view small = { .struct_size = 1 };
  pai_spec_place *place;
  pai_error *err;

  (void)state;
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 3, 1, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no line 3 with a column 1");
  assert_null(place);
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 1, 6, NULL, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 0, 1, NULL, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_spec_range(&place, "a: 1\n", 5, "/b", NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "there is nothing at '/b'");
  assert_int_equal(pai_spec_range(&place, "a: 1\n", 5, "a", NULL, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_spec_range(&place, "a: @", 4, "/a", NULL, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "cannot start");
  assert_int_equal(pai_spec_at(&place, NULL, 0, 1, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_at(NULL, "", 0, 1, 1, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_spec_range(&place, "", 0, NULL, NULL, NULL),
                   PAI_EINVAL);
  o.max_bytes = 3;
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 1, 1, &o, NULL),
                   PAI_ELIMIT);
  assert_int_equal(pai_spec_view_place(NULL, &small), PAI_EINVAL);
  assert_int_equal(pai_spec_at(&place, "a: 1\n", 5, 1, 1, NULL, NULL), PAI_OK);
  assert_int_equal(pai_spec_view_place(place, &small), PAI_EINVAL);
  pai_spec_place_free(place);
  pai_spec_place_free(NULL);
}

/* --- files that people wrote ------------------------------------------------ */

static pai__prng seeded;
static size_t leaves, spaces, cut_short;

/* Whatever is there has its range around the position, and is found again. */
static void check_there(const char *text, size_t len, const pai_place_view *v,
                        uint32_t line, uint32_t column)
{
  pai_place_view again = { .struct_size = sizeof(again) };
  const pai_text_range *r = v->on == PAI_ON_KEY ? &v->key : &v->value;
  pai_spec_place *place;

  assert_true(r->line < line || (r->line == line && r->column <= column));
  assert_true(r->end_line > line ||
              (r->end_line == line && r->end_column >= column));
  assert_int_equal(pai_spec_range(&place, text, len, v->pointer, NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_spec_view_place(place, &again), PAI_OK);
  assert_memory_equal(&again.value, &v->value, sizeof(v->value));
  pai_spec_place_free(place);
}

static void look_at(const char *text, size_t len, size_t at, bool whole)
{
  uint32_t line = 1, column = 1;
  pai_place_view v = { .struct_size = sizeof(v) };
  pai_spec_place *place;

  for (size_t i = 0; i < at; i++)
    if (text[i] == '\n') {
      line++;
      column = 1;
    } else {
      column += (text[i] & 0xc0) != 0x80;
    }
  if (pai_spec_at(&place, text, len, line, column, NULL, NULL) < 0)
    return; /* in a byte-order mark, or a carriage return */
  assert_int_equal(pai_spec_view_place(place, &v), PAI_OK);
  if (whole && v.valid && v.on != PAI_ON_SPACE && strstr(text, "<<") == NULL &&
      strchr(text, '*') == NULL)
    check_there(text, len, &v, line, column);
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

static void files_of_people(void **state)
{
  (void)state;
  seeded.state = 24;
  if (test_each_row("v2-cases.jsonl", check_case) < 0)
    return; /* it says so */
  (void)test_each_row("v1-cases.jsonl", check_case);
  printf("%zu keys and values, %zu spaces; %zu texts cut short\n", leaves,
         spaces, cut_short);
}

/* Of a valid file cut at a key that is being typed, the scan knows as much as
 * the tree did. */
static void check_cut(const pai__tree *t)
{
  size_t len, at;
  const char *text = test_row_text(t, "text", &len);
  pai_place_view whole = { .struct_size = sizeof(whole) }, cut = whole;
  pai_spec_place *a, *b;
  uint32_t line;

  if (strcmp(test_row_text(t, "verdict", NULL), "valid") != 0 ||
      strpbrk(text, "&*\r") != NULL)
    return;
  for (int i = 0; i < 20; i++) {
    line = 1 + (uint32_t)pai__prng_below(&seeded, 60);
    at = 0;
    for (uint32_t n = 1; n < line && at < len; at++)
      n += text[at] == '\n';
    while (at < len && text[at] == ' ')
      at++;
    if (at == len || strchr("\n#", text[at]) != NULL)
      continue;
    for (uint32_t column = 1; column < 3; column++) {
      size_t from = at;

      while (from > 0 && text[from - 1] != '\n')
        from--;
      if (pai_spec_at(&a, text, len, line, (uint32_t)(at - from) + 1, NULL,
                      NULL) < 0)
        break;
      assert_int_equal(pai_spec_view_place(a, &whole), PAI_OK);
      if (whole.on == PAI_ON_KEY && whole.valid) {
        pai__buf broken;
        pai__buf_init(&broken, &pai__libc_alloc);
        pai__buf_add(&broken, text, len);
        pai__buf_str(&broken, "\n@: [\n");
        assert_int_equal(pai_spec_at(&b, pai__buf_text(&broken), broken.len,
                                     line, (uint32_t)(at - from) + 1, NULL,
                                     NULL),
                         PAI_OK);
        assert_int_equal(pai_spec_view_place(b, &cut), PAI_OK);
        if (cut.on != PAI_ON_KEY || strcmp(cut.pointer, whole.pointer) != 0)
          fail_msg("%s\nline %u is %s, not %s", text, line, cut.pointer,
                   whole.pointer);
        pai_spec_place_free(b);
        pai__buf_dispose(&broken);
      }
      pai_spec_place_free(a);
      break;
    }
  }
}

static void the_scan_agrees_with_the_tree(void **state)
{
  (void)state;
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

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, (void *)(uintptr_t) "a:\n   \n");
  test_faults(body, (void *)(uintptr_t) "a:\n  b: [{c: 1, 'd': '\n");
  test_faults(body, (void *)(uintptr_t) "{\"a\":\n[1, {\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_position),
    cmocka_unit_test(long_lines),
    cmocka_unit_test(each_range),
    cmocka_unit_test(errors),
    cmocka_unit_test(files_of_people),
    cmocka_unit_test(the_scan_agrees_with_the_tree),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
