/* Documents: positions, changes, and that a changed text is checked as a new
 * one. */
#include "client.h"

#include "base/prng.h"
#include "language/lines.h"

#include <stdio.h>
#include <stdlib.h>

static const char job[] =
  "protocolVersion: 2\nname: made\ntype: job\nprerequisites:\n"
  "  - {type: dockerimage, uri: x, name: i}\ntaskRoles:\n  worker:\n"
  "    instances: 1\n    dockerImage: i\n    resourcePerInstance: {cpu: 1, "
  "memoryMB: 1, gpu: 0}\n    commands:\n      - echo\n";

/* --- lines -------------------------------------------------------------------- */

typedef struct place {
  const char *name, *text;
  size_t offset;
  uint32_t line, utf8, utf16, utf32;
} place;

static const place places[] = {
  { "the first", "ab\ncd", 0, 0, 0, 0, 0 },
  { "an end of a line", "ab\ncd", 2, 0, 2, 2, 2 },
  { "a second line", "ab\ncd", 4, 1, 1, 1, 1 },
  { "the end", "ab\ncd", 5, 1, 2, 2, 2 },
  { "behind the last newline", "ab\n", 3, 1, 0, 0, 0 },
  { "CR LF", "ab\r\ncd", 4, 1, 0, 0, 0 },
  { "CR", "ab\rcd", 3, 1, 0, 0, 0 },
  { "two bytes", "\xc3\xa4x", 2, 0, 2, 1, 1 },
  { "four bytes", "\xf0\x9f\x98\x80x", 4, 0, 4, 2, 1 },
  { "invalid", "\xffx", 1, 0, 1, 1, 1 },
};

static void place_is_converted(const void *row)
{
  const place *p = row;
  const uint32_t want[] = { p->utf8, p->utf16, p->utf32 };
  pai__language_lines lines = { 0 };
  size_t len = strlen(p->text);

  assert_ok(pai__language_lines_read(&lines, &pai__libc_alloc, p->text, len));
  for (int unit = 0; unit < PAI__UNITS; unit++) {
    pai__language_position at = pai__language_lines_position(
      &lines, p->text, len, (enum pai__language_unit)unit, p->offset);

    assert_int_equal(at.line, p->line);
    assert_int_equal(at.character, want[unit]);
    assert_int_equal(pai__language_lines_offset(&lines, p->text, len,
                                                (enum pai__language_unit)unit,
                                                at),
                     p->offset);
  }
  pai__language_lines_dispose(&lines, &pai__libc_alloc);
}
TEST_TABLE(place_is_converted, places);

TEST(places_beyond_are_the_nearest)
{
  static const char text[] = "ab\r\n\xf0\x9f\x98\x80z\n";
  static const struct {
    uint32_t line, character;
    size_t offset;
  } rows[] = {
    { 0, 9, 2 }, { 9, 0, 10 }, { 1, 1, 4 },
    { 1, 2, 8 }, { 1, 9, 9 },  { 2, 5, 10 },
  };
  pai__language_lines lines = { 0 };

  assert_ok(pai__language_lines_read(&lines, &pai__libc_alloc, text,
                                     sizeof(text) - 1));
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(
      pai__language_lines_offset(
        &lines, text, sizeof(text) - 1, PAI__UNIT_UTF16,
        (pai__language_position){ rows[i].line, rows[i].character }),
      rows[i].offset);
  pai__language_lines_dispose(&lines, &pai__libc_alloc);
}

/* After each of many edits the lines are those of a new text. */
TEST(lines_follow_edits)
{
  static const char *const pieces[] = { "",  "\n",   "\r",   "\r\n",
                                        "a", "b\nc", "\n\r", "\r\r\n\n" };
  pai__language_lines lines = { 0 }, fresh = { 0 };
  pai__prng prng;
  char text[512] = "";
  size_t len = 0;

  prng.state = 7;
  assert_ok(pai__language_lines_read(&lines, &pai__libc_alloc, text, 0));
  for (int i = 0; i < 100000; i++) {
    const char *piece = pieces[pai__prng_below(&prng, PAI__LEN(pieces))];
    size_t n = strlen(piece), old = len;
    size_t start = pai__prng_below(&prng, len + 1);
    size_t most = len - start < 6 ? len - start : 6;
    size_t end = start + pai__prng_below(&prng, most + 1);

    if (len + n > 200)
      end = len, start = len / 2;
    memmove(text + start + n, text + end, len - end);
    memcpy(text + start, piece, n);
    len = len - (end - start) + n;
    assert_ok(pai__language_lines_replace(&lines, &pai__libc_alloc, text, len,
                                          old, start, end));
    assert_ok(pai__language_lines_read(&fresh, &pai__libc_alloc, text, len));
    assert_int_equal(lines.count, fresh.count);
    assert_memory_equal(lines.starts, fresh.starts,
                        fresh.count * sizeof(*fresh.starts));
  }
  pai__language_lines_dispose(&lines, &pai__libc_alloc);
  pai__language_lines_dispose(&fresh, &pai__libc_alloc);
}

/* --- random edits --------------------------------------------------------------- */

typedef struct editing {
  client c;
  pai__prng prng;
  pai__buf text; /* what the client has */
} editing;

static const char *const typed[] = {
  "\n",
  " ",
  "x",
  ":",
  "- ",
  "  gpu: 8\n",
  "'",
  "\"",
  "{",
  "}",
  "\xc3\xa4",
  "\xf0\x9f\x98\x80",
  "\r\n",
  "#",
  "<% $parameters.a %>",
  "retryPolicy",
  "taskRoles:\n",
  "*a",
  "&a ",
  "\t",
  "1",
  "[",
  "]",
  "|\n",
};

/* Line and character in UTF-16 units, counted in the simplest way. */
static void put_place(pai__buf *out, const char *text, size_t at)
{
  int line = 0, units = 0;

  for (size_t i = 0; i < at; i++) {
    unsigned char c = (unsigned char)text[i];

    if (c == '\n' || (c == '\r' && text[i + 1] != '\n')) {
      line++;
      units = 0;
    } else if (c != '\r' || text[i + 1] != '\n') {
      units += c >= 0xf0 ? 2 : (c & 0xc0) != 0x80;
    }
  }
  pai__buf_printf(out, "{\"line\":%d,\"character\":%d}", line, units);
}

/* A place in the text that a client can name. */
static size_t any_place(editing *e)
{
  const char *text = pai__buf_text(&e->text);
  size_t at = pai__prng_below(&e->prng, e->text.len + 1);

  while (at > 0 && (((unsigned char)text[at] & 0xc0) == 0x80 ||
                    (text[at] == '\n' && text[at - 1] == '\r')))
    at--;
  return at;
}

static void put_change(editing *e, pai__buf *out)
{
  size_t a = any_place(e), b = any_place(e);
  const char *piece = typed[pai__prng_below(&e->prng, PAI__LEN(typed))];
  pai__buf next = test_buf();

  if (b < a || b - a > 12) /* mostly typing, some cutting */
    b = a;
  pai__buf_str(out, "{\"range\":{\"start\":");
  put_place(out, pai__buf_text(&e->text), a);
  pai__buf_str(out, ",\"end\":");
  put_place(out, pai__buf_text(&e->text), b);
  pai__buf_str(out, "},\"text\":");
  client_quote(out, piece, strlen(piece));
  pai__buf_char(out, '}');
  pai__buf_add(&next, pai__buf_text(&e->text), a);
  pai__buf_str(&next, piece);
  pai__buf_add(&next, pai__buf_text(&e->text) + b, e->text.len - b);
  pai__buf_dispose(&e->text);
  e->text = next;
}

static void change(editing *e)
{
  int n = pai__prng_below(&e->prng, 8) == 0 ? 2 : 1;
  pai__buf message = test_buf();

  pai__buf_str(&message, "{\"method\":\"textDocument/didChange\",\"params\":"
                         "{\"textDocument\":{\"uri\":\"file:///a\"},"
                         "\"contentChanges\":[");
  for (int i = 0; i < n; i++) {
    pai__buf_str(&message, i > 0 ? "," : "");
    put_change(e, &message);
  }
  pai__buf_str(&message, "]}}");
  assert_ok(client_pass(&e->c, message.data));
  pai__buf_dispose(&message);
}

static const char *diagnostics_of(const char *heard)
{
  const char *list = strstr(heard, "\"diagnostics\":");

  assert_non_null(list);
  return list;
}

/* The same text in a server of its own. */
static void expect_as_new(editing *e, client *fresh)
{
  client_work(&e->c);
  client_open(fresh, "file:///a", pai__buf_text(&e->text));
  assert_string_equal(diagnostics_of(pai__buf_text(&e->c.heard)),
                      diagnostics_of(pai__buf_text(&fresh->heard)));
  client_forget(&e->c);
  client_forget(fresh);
}

TEST(a_changed_text_is_checked_as_a_new_one)
{
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  int edits = soak != NULL ? 100000 : 3000;
  editing e = { .text = test_buf() };
  client fresh;

  e.prng.state = from != NULL ? strtoull(from, NULL, 10) : 1;
  client_begin(&e.c, NULL);
  client_initialize(&e.c, "{}");
  client_begin(&fresh, NULL);
  client_initialize(&fresh, "{}");
  for (int i = 0; i < edits; i++) {
    if (i % 50 == 0) {
      pai__buf_clear(&e.text);
      pai__buf_str(&e.text, job);
      client_open(&e.c, "file:///a", job);
      client_forget(&e.c);
    }
    change(&e);
    if (i % 3 > 0 || soak == NULL)
      expect_as_new(&e, &fresh);
  }
  pai__buf_dispose(&e.text);
  client_end(&e.c);
  client_end(&fresh);
}

/* --- many documents ----------------------------------------------------------------- */

TEST(two_thousand_documents_are_open)
{
  enum { MANY = 2000 };
  client c;
  size_t items = 0;

  client_begin(&c, NULL);
  client_initialize(&c, "{'textDocument':{'diagnostic':{}}}");
  for (int i = 0; i < MANY; i++)
    client_open(&c, test_string("file:///%d", i), i % 2 == 0 ? job : "a: 1");
  client_hears(&c, ""); /* this client asks */
  client_say(&c, "{'id':1,'method':'workspace/diagnostic','params':{"
                 "'workDoneToken':'w','partialResultToken':7,"
                 "'previousResultIds':[]}}");
  for (const char *at = pai__buf_text(&c.heard);
       (at = strstr(at, "\"uri\":")) != NULL; at++)
    items++;
  assert_int_equal(items, MANY);
  assert_has(pai__buf_text(&c.heard), "\"kind\":\"begin\"");
  assert_has(pai__buf_text(&c.heard), "\"percentage\":49");
  client_hears_part(&c, "'kind':'end'");
  for (int i = 0; i < MANY; i++)
    client_say(&c,
               "{'method':'textDocument/didClose','params':{"
               "'textDocument':{'uri':'file:///%d'}}}",
               i);
  client_say(&c, "{'id':2,'method':'workspace/diagnostic','params':{}}");
  client_hears(&c, "{'jsonrpc':'2.0','id':2,'result':{'items':[]}}\n");
  client_end(&c);
}

TEST(a_long_check_is_cancelled_in_between)
{
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{'textDocument':{'diagnostic':{}}}");
  for (int i = 0; i < 200; i++)
    client_open(&c, test_string("file:///%d", i), job);
  assert_ok(client_pass(&c, "{\"id\":1,\"method\":\"workspace/diagnostic\","
                            "\"params\":{\"partialResultToken\":7}}"));
  assert_int_equal(client_step(&c), 1);
  client_hears_part(&c, "$/progress");
  assert_ok(client_pass(&c, "{\"method\":\"$/cancelRequest\",\"params\":"
                            "{\"id\":1}}"));
  client_work(&c);
  client_hears(&c, "{'jsonrpc':'2.0','id':1,'error':{'code':-32800,"
                   "'message':'cancelled'}}\n");
  client_end(&c);
}

TEST(a_lost_document_is_found_again)
{
  client c;

  client_begin(&c, NULL);
  client_initialize(&c, "{}");
  client_open(&c, "file:///a", "protocolVersion: 2\nx: 1\n");
  client_hears_part(&c, "unknown-key");
  client_say(&c, "{'method':'textDocument/didChange','params':{"
                 "'textDocument':{'uri':'file:///a'},'contentChanges':[7]}}");
  client_hears_part(&c, "'diagnostics':[]");
  client_say(&c, "{'method':'textDocument/didChange','params':{"
                 "'textDocument':{'uri':'file:///a'},'contentChanges':"
                 "[{'text':'protocolVersion: 2\\ny: 1\\n'}]}}");
  client_hears_part(&c, "`y`");
  client_end(&c);
}
