/* Templates that are long or odd. */
#include "spec/rendered.h"

#include "yaml/yaml.h"

#include <stdio.h>

/* --- limits ------------------------------------------------------------- */

static void the_result_is_bounded(void **state)
{
  heard h = { .count = 0 };
  pai__template t = *command_template();

  (void)state;
  t.unresolved = hear;
  t.user_data = &h;
  t.max_bytes = 9;
  shows(&t, "12345" S, "12345text");
  expect_refusal(&t, "123456" S, PAI_ELIMIT, 6, "too long");
  expect_refusal(&t, S "123456", PAI_ELIMIT, 19, "too long");
  expect_refusal(&t, "<% 1234 %>", PAI_ELIMIT, 0, "too long");
  assert_int_equal(h.count, 0);
  shows(&t, "<%#x%>1234567890<%/x%>", ""); /* what is dropped costs nothing */
  t.max_bytes = SIZE_MAX;
  shows(&t, S, "text");
}

/* A list that a short text makes long, and a string, of some kilobytes. */
static pai__tree *large_tree(void)
{
  pai__tree *t;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__buf_str(&b, "s: &s ");
  for (int i = 0; i < 1 << 16; i++)
    pai__buf_char(&b, 'x');
  pai__buf_str(&b, "\nlist: [*s");
  for (int i = 0; i < 999; i++)
    pai__buf_str(&b, ", *s");
  pai__buf_str(&b, "]\n");
  assert_int_equal(
    pai__yaml_parse(&t, pai__buf_text(&b), b.len,
                    &(pai__yaml_options){ .alias_factor = 2000 }, NULL),
    PAI_OK);
  pai__buf_dispose(&b);
  return t;
}

static void aliases_do_not_explode(void **state)
{
  pai__tree *large = large_tree();
  pai__template_scope scope = { "$x", large, 0 };
  pai__template t = { .scopes = &scope, .nscopes = 1 };
  test_tally tally;
  pai__buf out;

  (void)state;
  test_tally_init(&tally);
  pai__buf_init(&out, &tally.alloc);
  assert_int_equal(pai__template_render(&out, "<%$x.list%>", 11, &t, NULL),
                   PAI_ELIMIT);
  assert_true(tally.peak < 4 * (size_t)PAI__TEMPLATE_MAX_BYTES);
  pai__buf_dispose(&out);
  pai__tree_free(large);
}

static void indices_cost(void **state)
{
  static const char tag[] = "<%$x.s.length%>";
  pai__tree *large = large_tree();
  pai__template_scope scope = { "$x", large, 0 };
  pai__template t = { .scopes = &scope, .nscopes = 1 };
  pai__template_fault fault;
  pai__buf out, text;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_init(&text, &pai__libc_alloc);
  for (int i = 0; i < 1024; i++) /* 64 MiB looked at, just what is allowed */
    pai__buf_str(&text, tag);
  assert_int_equal(
    pai__template_render(&out, pai__buf_text(&text), text.len, &t, &fault),
    PAI_OK);
  assert_int_equal(out.len, 1024 * 5);
  pai__buf_str(&text, "<%$x.list[1]%>");
  assert_int_equal(
    pai__template_render(&out, pai__buf_text(&text), text.len, &t, &fault),
    PAI_ELIMIT);
  assert_int_equal(fault.at, 1024 * strlen(tag));
  assert_int_equal(out.len, 1024 * 5);
  pai__buf_dispose(&text);
  pai__buf_dispose(&out);
  pai__tree_free(large);
}

static void delimiters_are_short(void **state)
{
  char text[2048], word[258];

  (void)state;
  memset(word, 'x', sizeof(word));
  word[256] = '\0';
  (void)snprintf(text, sizeof(text), "<%%= %s %s =%%>%s %ss %s", word, word,
                 word, P, word);
  shows(command_template(), text, "text");
  word[256] = 'x';
  word[257] = '\0';
  (void)snprintf(text, sizeof(text), "a<%%= %s b =%%>", word);
  expect_refusal(command_template(), text, PAI_ELIMIT, 1, "too long");
  (void)snprintf(text, sizeof(text), "a<%%= b %s =%%>", word);
  expect_refusal(command_template(), text, PAI_ELIMIT, 1, "too long");
}

static void sections_may_be_many(void **state)
{
  enum { MANY = 100000 };
  pai__buf text, out;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&out, &pai__libc_alloc);
  for (int i = 0; i < MANY; i++)
    pai__buf_str(&text, "<%#x%>");
  for (int i = 0; i < MANY; i++)
    pai__buf_str(&text, "<%/x%>");
  pai__buf_str(&text, "end");
  assert_int_equal(pai__template_render(&out, pai__buf_text(&text), text.len,
                                        command_template(), NULL),
                   PAI_OK);
  assert_string_equal(pai__buf_text(&out), "end");
  pai__buf_dispose(&text);
  pai__buf_dispose(&out);
}

/* --- the rest ----------------------------------------------------------- */

static void text_may_hold_anything(void **state)
{
  static const char text[] = "a\0<%\0x\0%>\xff\xc2" S;
  static const char want[] = "a\0<% \0x\0 %>\xff\xc2text";
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai__template_render(&out, text, sizeof(text) - 1,
                                        command_template(), NULL),
                   PAI_OK);
  assert_int_equal(out.len, sizeof(want) - 1);
  assert_memory_equal(pai__buf_text(&out), want, sizeof(want));
  assert_int_equal(
    pai__template_render(&out, NULL, 0, command_template(), NULL), PAI_OK);
  assert_int_equal(out.len, sizeof(want) - 1);
  pai__buf_dispose(&out);
}

static const struct {
  const char *text, *want;
} trimmed[] = {
  { "", "" },
  { " \t\n\v\f\r", "" },
  { "a", "a" },
  { " a b ", "a b" },
  { "\ufeff\u00a0\u1680\u2000\u2005\u200a\u2028a\u2029\u202f\u205f\u3000 ",
    "a" },
  { "\u200b \xc2\x85", "\u200b \xc2\x85" },
  { "\u00e0", "\u00e0" }, /* ends like U+00A0 */
  { "\u2010\u200b", "\u2010\u200b" },
  { "\xa0\x80", "\xa0\x80" },
  { "\u180e", "\u180e" },
};

static void trimming_is_javascripts(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(trimmed); i++) {
    const char *s = trimmed[i].text;
    size_t len = strlen(s);

    pai__template_trim(&s, &len);
    assert_int_equal(len, strlen(trimmed[i].want));
    assert_memory_equal(s, trimmed[i].want, len);
  }
}

static int render_all(const pai_alloc *alloc, void *user_data)
{
  static const char text[] =
    "<%#x%><%#y%><%/y%><%/x%><% $parameters.list[2][1] %> "
    "<% $parameters.none[1] %> a text that takes more than the first block";
  pai__buf out;
  int rc;

  (void)user_data;
  pai__buf_init(&out, alloc);
  rc =
    pai__template_render(&out, text, strlen(text), command_template(), NULL);
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&out),
                        ",4,[object Object] <% $parameters.none.1 %> "
                        "a text that takes more than the first block");
  else
    assert_int_equal(out.len, 0);
  pai__buf_dispose(&out);
  return rc;
}

static void memory_may_fail(void **state)
{
  (void)state;
  test_faults(render_all, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_result_is_bounded),
    cmocka_unit_test(aliases_do_not_explode),
    cmocka_unit_test(indices_cost),
    cmocka_unit_test(delimiters_are_short),
    cmocka_unit_test(sections_may_be_many),
    cmocka_unit_test(text_may_hold_anything),
    cmocka_unit_test(trimming_is_javascripts),
    cmocka_unit_test(memory_may_fail),
  };

  return cmocka_run_group_tests(tests, read_document, free_document);
}
