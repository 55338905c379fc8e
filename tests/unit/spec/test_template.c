/* Templates: what a text becomes, what is refused and where. */
#include "spec/rendered.h"

#include <stdio.h>

/* --- values ------------------------------------------------------------- */

#define UTC " GMT+0000 (Coordinated Universal Time)"

/* What stands between the delimiters, and what comes of it. */
static const struct {
  const char *name, *want;
} values[] = {
  { P "s", "text" },
  { P "empty", "" },
  { P "zero", "0" },
  { P "negative", "0" },
  { P "one", "1" },
  { P "hex", "31" },
  { P "large", "1e+21" },
  { P "small", "1e-7" },
  { P "inf", "Infinity" },
  { P "no", "false" },
  { P "html", "<&>\"'/`=" },
  { P "tagged", "<% $parameters.s %> <% $secrets.k %>" },
  { P "lines", "one\ntwo\n" },
  { P "list",
    "1,two,3,,4,[object Object],,,Thu Jan 02 2020 00:00:00" UTC ",hi" },
  { P "nothing", "" },
  { P "hollow", "," },
  { P "map", "[object Object]" },
  { P "date", "Sat Dec 15 2001 02:59:43" UTC },
  { P "bytes", "hi\xef\xbf\xbd" },
  { "$parameters", "[object Object]" },
  { "$data.name", "d" },
  { "$data.uri[1]", "http://b" },
  { "$output", "root" },
  { ".", "[object Object]" },
  /* keys */
  { P "map.a b", "space" },
  { P "map.c-d", "dash" },
  { P "map.", "blank" },
  { P "map[0]", "key" },
  { P "map.length", "own" },
  { P "merged.m", "merged" },
  { P "toString", "own" },
  /* indices */
  { P "list[0]", "1" },
  { P "list.1", "two" },
  { P "list[2][1][1]", "4" },
  { P "list[2].1[2].a", "1" },
  { P "deep.x[0].y[0]", "z" },
  { P "bytes[2]", "255" },
  /* strings have UTF-16 units; half of a pair becomes U+FFFD */
  { P "s[0]", "t" },
  { P "s[3]", "t" },
  { P "s[3].length", "1" },
  { P "s[1][0][0]", "e" },
  { P "wide[1]", "\u00e9" },
  { P "wide[2]", "\u4f60" },
  { P "wide[3]", "\ufffd" },
  { P "wide[4]", "\ufffd" },
  { P "wide[5]", "z" },
  { "$output[3]", "t" },
  /* lengths */
  { P "s.length", "4" },
  { P "wide.length", "6" },
  { P "wide[3].length", "1" },
  { P "empty.length", "0" },
  { P "list.length", "6" },
  { P "nothing.length", "0" },
  { P "bytes.length", "3" },
  { P "tagged.length", "36" },
  /* white space around the name */
  { "  " P "s\t", "text" },
  { "\n" P "s\r\n", "text" },
  { "\u00a0\u1680\u2000\u200a" P "s\u2028\u2029\u202f\u205f\u3000\ufeff",
    "text" },
};

static void values_are_javascripts(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(values); i++) {
    char text[256], want[256];

    (void)snprintf(text, sizeof(text), "a <%%%s%%>b", values[i].name);
    (void)snprintf(want, sizeof(want), "a %sb", values[i].want);
    shows(command_template(), text, want);
  }
}

/* What stands between the delimiters, and the name that is written back. */
static const struct {
  const char *name, *want;
} unresolved[] = {
  { P "missing", P "missing" },
  { P "missing.x[1]", P "missing.x.1" },
  { P "nul", P "nul" },
  { P "nul.x", P "nul.x" },
  { P "map.n", P "map.n" },
  { P "list[3]", P "list.3" },
  { "  " P "missing  ", P "missing" },
  { P "list[6]", P "list.6" },
  { P "list[00]", P "list.00" },
  { P "list[01]", P "list.01" },
  { P "list[4294967296]", P "list.4294967296" },
  { P "list[18446744073709551617]", P "list.18446744073709551617" },
  { P "list[-1]", P "list[-1]" },
  { P "list[ 1]", P "list[ 1]" },
  { P "list['1']", P "list['1']" },
  { P "list[]", P "list[]" },
  { P "list[1", P "list[1" },
  { P "list[1 ]", P "list[1 ]" },
  { P "list[[1]]", P "list[.1]" },
  { P "list.1a", P "list.1a" },
  { P "s[4]", P "s.4" },
  { P "wide[6]", P "wide.6" },
  { P "empty[0]", P "empty.0" },
  { P "bytes[3]", P "bytes.3" },
  { P "one.length", P "one.length" },
  { P "no.length", P "no.length" },
  { P "date.length", P "date.length" },
  { P "deep.length", P "deep.length" },
  { P "s.length.length", P "s.length.length" },
  { P ".s", P ".s" },
  { P "merged.<<", P "merged.<<" },
  /* other roots */
  { "parameters.s", "parameters.s" },
  { "$foo", "$foo" },
  { "$param", "$param" },
  { "$parameters2.s", "$parameters2.s" },
  { "$parameters .s", "$parameters .s" },
  { "$secrets.list[0]", "$secrets.list.0" },
  { "$script", "$script" },
  { "$script.name", "$script.name" },
  { ".$parameters", ".$parameters" },
  { "..", ".." },
  { "", "" },
  { " \n ", "" },
  { "a <% b", "a <% b" },
  { "\u200b" P "s", "\u200b" P "s" }, /* no white space to JavaScript */
  { "\xc2\x85" P "s", "\xc2\x85" P "s" },
  /* what JavaScript's objects inherit */
  { "toString", "toString" },
  { "__proto__", "__proto__" },
  { P "map.constructor", P "map.constructor" },
  { P "list.join", P "list.join" },
  { P "s.big", P "s.big" },
  { P "one.toFixed", P "one.toFixed" },
};

static void what_has_no_value_stays(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(unresolved); i++) {
    char text[256], want[256];
    heard h = { .count = 0 };
    pai__template t = *command_template();

    t.unresolved = hear;
    t.user_data = &h;
    (void)snprintf(text, sizeof(text), "\u00e9 <%%%s%%>b", unresolved[i].name);
    (void)snprintf(want, sizeof(want), "\u00e9 <%% %s %%>b",
                   unresolved[i].want);
    shows(&t, text, want);
    assert_string_equal(h.name, unresolved[i].want);
    assert_int_equal(h.at, 3);
    assert_int_equal(h.count, 1);
  }
}

static void only_tags_that_stay_are_told(void **state)
{
  heard h = { .count = 0 };
  pai__template t = *command_template();

  (void)state;
  t.unresolved = hear;
  t.user_data = &h;
  shows(&t, "<%! x %><%& x %><%> x %><%# x %><% x %><%/ x %><% " P "s %>",
        "text");
  assert_int_equal(h.count, 0);
  shows(&t, "<% x %><% y %>", "<% x %><% y %>");
  assert_string_equal(h.name, "y");
  assert_int_equal(h.at, 7);
  assert_int_equal(h.count, 2);
}

static void a_callback_that_fails_ends_it(void **state)
{
  heard h = { .answer = PAI_EUSER };
  pai__template t = *command_template();
  pai__buf out;

  (void)state;
  t.unresolved = hear;
  t.user_data = &h;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai__template_render(&out, "a<% x %><% y %>", 15, &t, NULL),
                   PAI_EUSER);
  assert_int_equal(h.count, 1);
  assert_int_equal(out.len, 0);
  h.answer = 1;
  assert_int_equal(pai__template_render(&out, "a<% x %><% y %>", 15, &t, NULL),
                   1);
  assert_int_equal(h.count, 2);
  assert_int_equal(out.len, 0);
  pai__buf_dispose(&out);
}

/* --- syntax ------------------------------------------------------------- */

static const struct {
  const char *text, *want;
} texts[] = {
  { "", "" },
  { "no tags $x {{ y }} %> < %", "no tags $x {{ y }} %> < %" },
  { S S, "texttext" },
  { "<%" S, "<% <% $parameters.s %>" },
  { S "%>", "text%>" },
  { "<% a <% b %> c %>", "<% a <% b %> c %>" },
  { "<% " P "tagged[0] %>", "<" },
  { " \u00a0" S "\t\n\n", " \u00a0text\t\n\n" }, /* trimming is the caller's */
  /* kinds of tags that give nothing */
  { "a<%& " P "s %>b", "ab" },
  { "a<%{ " P "s }%>b", "ab" },
  { "a<%{ " P "s }%>%>b", "a%>b" },
  { "a<%{ x %> y }%>b", "ab" },
  { "a<%{ x }}%>b", "ab" },
  { "a<%! any <% thing %>b", "ab" },
  { "a<%> s %>b", "ab" },
  { "a <%  !  x %> b", "a  b" },
  { "a<%# " P "s %> " S " <%/ " P "s %>b", "ab" },
  { "a<%^ " P "missing %> x <%/ " P "missing %>b", "ab" },
  { "a<%#x%>b<%^y%>c<%/y%>d<%/x%>e", "ae" },
  { "a<%#x%><%/ x%>" S, "atext" },
  { "a<%#%>b<%/%>c", "ac" },
  /* lines with nothing but such tags vanish */
  { "a\n  <%! c %>  \nb", "a\nb" },
  { "<%! c %>\nb", "b" },
  { "a\n<%! c %>", "a\n" },
  { "a\n  <%! c %> ", "a\n   " }, /* the last line has no end */
  { "a\r\n <%! c %>\u00a0\r\nb", "a\r\nb" },
  { "a\n<%! one\ntwo %>\nb", "a\nb" },
  { "a\n<%! c %> <%> p %>\n\nb", "a\n\nb" },
  { "a\n <%# x %> \nb\n <%/ x %> \nc\n", "a\nc\n" },
  { "a\n <%# x %> \nb <%/ x %> \nc\n", "a\n \nc\n" },
  { "a <%# x %>\nb\n<%/ x %>\nc", "a c" },
  { "a\n <%# x %> b <%/ x %> \nc", "a\n  \nc" },
  { "a\n <%= {{ }} =%> \nb", "a\nb" },
  { "a\n <%! c %> x\nb", "a\n  x\nb" },
  { "a\n <%! c %>\u200b\nb", "a\n \u200b\nb" },
  /* but those with a value do not, even an empty one */
  { "a\n <% " P "empty %> \nb", "a\n  \nb" },
  { "a\n <%& x %> \nb", "a\n  \nb" },
  { "a\n <%{ x }%> \nb", "a\n  \nb" },
  { "a\n <%! c %><% " P "empty %> \nb", "a\n  \nb" },
  { "a\n <%#x%><%y%><%/x%> \nb", "a\n  \nb" },
  { " \n\n" S "\n \n<%!%>\n ", " \n\ntext\n \n " },
  /* other delimiters */
  { "<%={{ }}=%>{{" P "s}} " S " {{x}}", "text " S " <% x %>" },
  { "<%= {{ }} =%>{{{ x }}} {{= <% %> =}}" S, " text" },
  { "<%=\n| \u3000|\t= more %>|" P "s|" S, "text" S },
  { "<%= [ ] third =%>[" P "s]", "text" },
  { "<%= \u4f60 \u597d =%>\u4f60" P "s\u597d", "text" },
  { "<%= ( %> ) x = y %>(" P "s%>", "text" },
  { "<%= .* +? =%>.*" P "s+?", "text" },
  { "<%= } } =%>} a }b}{ c }}d", "<% a %>bd" },
  { "a<%={{ }}=%>{{! c }}b", "ab" },
};

static void texts_are_read_as_mustache_does(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(texts); i++)
    shows(command_template(), texts[i].text, texts[i].want);
}

static const struct {
  const char *text;
  size_t at;
  const char *part;
} refused[] = {
  { "a <%", 2, "never closed" },
  { "a <% b % >", 2, "never closed" },
  { "\u00e9 <% b %> <% c", 11, "never closed" },
  { "x <%! c", 2, "never closed" },
  { "x <%{ c %>", 2, "never closed" },
  { "x <%{ c } %>", 2, "never closed" },
  { "x <%= a b %>", 2, "never closed" },
  { "x <%= a b =", 2, "never closed" },
  { "<%={{ }}=%>{{ x %>", 11, "never closed" },
  { "a <%#x%> <%#y%> <%/y%>", 2, "section is never closed" },
  { "a <%^x%>", 2, "section is never closed" },
  { "a <%/x%>", 2, "no section is open" },
  { "<%#x%><%/x%><%/x%>", 12, "no section is open" },
  { "<%#x%> <%/y%>", 7, "another section" },
  { "<%#x%> <%/xx%>", 7, "another section" },
  { "<%#xx%> <%/x%>", 8, "another section" },
  { "<%#x%> <%/y%> <%", 7, "another section" },
  { "<%#x%><%^y%><%/x%><%/y%>", 12, "another section" },
  { "a <%==%>", 2, "two delimiters" },
  { "a <%= [ =%>", 2, "two delimiters" },
};

static void broken_texts_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(refused); i++)
    expect_refusal(command_template(), refused[i].text, PAI_EINVAL,
                   refused[i].at, refused[i].part);
}

/* --- two passes --------------------------------------------------------- */

static void secrets_come_second(void **state)
{
  static const char text[] = "<% $parameters.tagged%> <%$secrets.list[0] %> "
                             "<%$secrets.none%> <% $parameters.none %>";
  pai__buf first;

  (void)state;
  pai__buf_init(&first, &pai__libc_alloc);
  assert_int_equal(
    pai__template_render(&first, text, strlen(text), command_template(), NULL),
    PAI_OK);
  assert_string_equal(pai__buf_text(&first),
                      "<% $parameters.s %> <% $secrets.k %> "
                      "<% $secrets.list.0 %> <% $secrets.none %> "
                      "<% $parameters.none %>");
  shows(secrets_template(), pai__buf_text(&first),
        "<% $parameters.s %> <% $secrets.k %> x <% $secrets.none %> "
        "<% $parameters.none %>");
  pai__buf_dispose(&first);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_javascripts),
    cmocka_unit_test(what_has_no_value_stays),
    cmocka_unit_test(only_tags_that_stay_are_told),
    cmocka_unit_test(a_callback_that_fails_ends_it),
    cmocka_unit_test(texts_are_read_as_mustache_does),
    cmocka_unit_test(broken_texts_are_refused),
    cmocka_unit_test(secrets_come_second),
  };

  return cmocka_run_group_tests(tests, read_document, free_document);
}
