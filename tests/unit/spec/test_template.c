/* Templates: what a text becomes, what is refused and where, limits. */
#include "cases.h"
#include "documents.h"

#include "spec/template/template.h"

#include <stdio.h>

#define P "$parameters."
#define S "<% $parameters.s %>"

static const char document[] =
  "parameters:\n"
  "  s: text\n"
  "  empty: ''\n"
  "  zero: 0\n"
  "  negative: -0.0\n"
  "  one: 1.0\n"
  "  hex: 0x1F\n"
  "  large: 1e21\n"
  "  small: 1e-7\n"
  "  inf: .inf\n"
  "  no: false\n"
  "  nul: ~\n"
  "  html: <&>\"'/`=\n"
  "  tagged: <% $parameters.s %> <% $secrets.k %>\n"
  "  lines: \"one\\ntwo\\n\"\n"
  "  wide: \"a\\u00e9\\u4f60\\U0001F600z\"\n"
  "  list: [1, two, [3, [~, 4, {a: 1}], []], ~, 2020-01-02, !!binary aGk=]\n"
  "  nothing: []\n"
  "  hollow: [[[]], []]\n"
  "  map: {a b: space, c-d: dash, '': blank, '0': key, length: own, n: ~}\n"
  "  deep: {x: [{y: [z]}]}\n"
  "  merged: {<<: {m: merged}}\n"
  "  date: 2001-12-14t21:59:43.10-05:00\n"
  "  bytes: !!binary aGn/\n"
  "  toString: own\n"
  "data: {uri: [http://a, http://b], name: d}\n"
  "secrets: {k: <% $secrets.k %>, list: [x]}\n"
  "string: root\n";

static pai__tree *tree;

static int read_document(void **state)
{
  (void)state;
  return pai__yaml_parse(&tree, document, strlen(document), NULL, NULL);
}

static int free_document(void **state)
{
  (void)state;
  pai__tree_free(tree);
  return 0;
}

TEST_AROUND_ALL(read_document, free_document);

/* The scopes of a command. */
static pai__template_scope scopes[4];

static const pai__template *command_template(void)
{
  static pai__template t = { .scopes = scopes, .nscopes = 4 };

  scopes[0] = (pai__template_scope){ "$parameters", tree,
                                     pai__tree_get(tree, 0, "parameters") };
  scopes[1] =
    (pai__template_scope){ "$data", tree, pai__tree_get(tree, 0, "data") };
  scopes[2] = (pai__template_scope){ "$script", tree, PAI__NO_NODE };
  scopes[3] =
    (pai__template_scope){ "$output", tree, pai__tree_get(tree, 0, "string") };
  return &t;
}

static void shows(const pai__template *t, const char *text, const char *want)
{
  pai__template_fault fault = { 0, "" };
  pai__buf out = test_buf();
  int rc;

  pai__buf_str(&out, " "); /* what is there stays */
  rc = pai__template_render(&out, text, strlen(text), t, &fault);
  if (rc != PAI_OK)
    fail_msg("%s: %s at %zu", text, fault.what, fault.at);
  assert_int_equal(pai__buf_text(&out)[0], ' ');
  if (strcmp(pai__buf_text(&out) + 1, want) != 0)
    fail_msg("%s\nbecame %s\nnot    %s", text, pai__buf_text(&out) + 1, want);
  pai__buf_dispose(&out);
}

static void expect_refusal(const pai__template *t, const char *text, int code,
                           size_t at, const char *part)
{
  pai__template_fault fault = { 0, "" };
  pai__buf out = test_buf();

  pai__buf_str(&out, "before");
  assert_int_equal(pai__template_render(&out, text, strlen(text), t, &fault),
                   code);
  if (strstr(fault.what, part) == NULL || fault.at != at)
    fail_msg("%.80s: %s at %zu", text, fault.what, fault.at);
  assert_string_equal(pai__buf_text(&out), "before");
  assert_int_equal(out.len, 6);
  assert_int_equal(pai__template_render(&out, text, strlen(text), t, NULL),
                   code);
  pai__buf_dispose(&out);
}

/* What a callback was told. */
typedef struct heard {
  char name[256];
  size_t at;
  int count, answer;
} heard;

static int hear(void *user_data, const char *name, size_t len, size_t at)
{
  heard *h = user_data;

  assert_true(len < sizeof(h->name));
  memcpy(h->name, name, len);
  h->name[len] = '\0';
  h->at = at;
  h->count++;
  return h->answer;
}

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

TEST(values_are_javascripts)
{
  for (size_t i = 0; i < PAI__LEN(values); i++) {
    char text[256], want[256];

    (void)snprintf(text, sizeof(text), "a <%%%s%%>b", values[i].name);
    (void)snprintf(want, sizeof(want), "a %sb", values[i].want);
    shows(command_template(), text, want);
  }
}

/* What has no value, below $parameters, */
static const char *const no_parameters[] = {
  "missing",   "nul",         "nul.x",           "map.n",
  "list[-1]",  "list[ 1]",    "list['1']",       "list[]",
  "list[1",    "list[1 ]",    "list.1a",         "one.length",
  "no.length", "date.length", "deep.length",     "s.length.length",
  ".s",        "merged.<<",   "map.constructor", "list.join",
  "s.big",     "one.toFixed"
};

/* and elsewhere; it is written back as it is, */
static const char *const no_values[] = {
  "parameters.s",
  "$foo",
  "$param",
  "$parameters2.s",
  "$parameters .s",
  "$script",
  "$script.name",
  ".$parameters",
  "..",
  "",
  "a <% b",
  "toString",
  "__proto__",
};

/* or with an index as a key, and without white space. */
static const struct {
  const char *name, *want;
} respelt[] = {
  { P "missing.x[1]", P "missing.x.1" },
  { P "list[3]", P "list.3" },
  { "  " P "missing  ", P "missing" },
  { P "list[6]", P "list.6" },
  { P "list[00]", P "list.00" },
  { P "list[01]", P "list.01" },
  { P "list[4294967296]", P "list.4294967296" },
  { P "list[18446744073709551617]", P "list.18446744073709551617" },
  { P "list[[1]]", P "list[.1]" },
  { P "s[4]", P "s.4" },
  { P "wide[6]", P "wide.6" },
  { P "empty[0]", P "empty.0" },
  { P "bytes[3]", P "bytes.3" },
  { "$secrets.list[0]", "$secrets.list.0" },
  { " \n ", "" },
  { "\u200b" P "s", "\u200b" P "s" }, /* no white space to JavaScript */
  { "\xc2\x85" P "s", "\xc2\x85" P "s" },
};

static void stays(const char *name, const char *written)
{
  char text[256], want[256];
  heard h = { .count = 0 };
  pai__template t = *command_template();

  t.unresolved = hear;
  t.user_data = &h;
  (void)snprintf(text, sizeof(text), "\u00e9 <%%%s%%>b", name);
  (void)snprintf(want, sizeof(want), "\u00e9 <%% %s %%>b", written);
  shows(&t, text, want);
  assert_string_equal(h.name, written);
  assert_int_equal(h.at, 3);
  assert_int_equal(h.count, 1);
}

TEST(what_has_no_value_stays)
{
  char name[256];

  for (size_t i = 0; i < PAI__LEN(no_parameters); i++) {
    (void)snprintf(name, sizeof(name), P "%s", no_parameters[i]);
    stays(name, name);
  }
  for (size_t i = 0; i < PAI__LEN(no_values); i++)
    stays(no_values[i], no_values[i]);
  for (size_t i = 0; i < PAI__LEN(respelt); i++)
    stays(respelt[i].name, respelt[i].want);
}

TEST(only_tags_that_stay_are_told)
{
  heard h = { .count = 0 };
  pai__template t = *command_template();

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

TEST(a_callback_that_fails_ends_it)
{
  static const int answers[] = { PAI_EUSER, 1 };
  pai__template t = *command_template();
  pai__buf out = test_buf();

  t.unresolved = hear;
  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    heard h = { .answer = answers[i] };

    t.user_data = &h;
    assert_int_equal(
      pai__template_render(&out, "a<% x %><% y %>", 15, &t, NULL), answers[i]);
    assert_int_equal(h.count, 1);
    assert_int_equal(out.len, 0);
  }
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
  { "a<%{ x %> y }%>b", "ab" },
  { "a<%{ x }}%>b", "ab" },
  { "a<%! any <% thing %>b", "ab" },
  { "a<%> s %>b", "ab" },
  { "a<%# " P "s %> " S " <%/ " P "s %>b", "ab" },
  { "a<%^ " P "missing %> x <%/ " P "missing %>b", "ab" },
  { "a<%{ " P "s }%>%>b", "a%>b" },
  { "a <%  !  x %> b", "a  b" },
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

TEST(texts_are_read_as_mustache_does)
{
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

TEST(broken_texts_are_refused)
{
  for (size_t i = 0; i < PAI__LEN(refused); i++)
    expect_refusal(command_template(), refused[i].text, PAI_EINVAL,
                   refused[i].at, refused[i].part);
}

/* --- limits ------------------------------------------------------------- */

TEST(the_result_is_bounded)
{
  heard h = { .count = 0 };
  pai__template t = *command_template();

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
  pai__yaml_options opts = { .alias_factor = 2000 };
  pai__tree *t;
  pai__buf b = test_buf();

  pai__buf_str(&b, "s: &s ");
  for (int i = 0; i < 1 << 16; i++)
    pai__buf_char(&b, 'x');
  pai__buf_str(&b, "\nlist: [*s");
  for (int i = 0; i < 999; i++)
    pai__buf_str(&b, ", *s");
  pai__buf_str(&b, "]\n");
  t = test_yaml_parse(pai__buf_text(&b), &opts);
  pai__buf_dispose(&b);
  return t;
}

/* Appends what a long text becomes; *at is where it is refused. */
static int render_to(pai__buf *out, const pai__buf *text,
                     const pai__template *t, size_t *at)
{
  pai__template_fault fault = { 0, "" };
  int rc =
    pai__template_render(out, pai__buf_text(text), text->len, t, &fault);

  *at = fault.at;
  return rc;
}

TEST(values_have_a_price)
{
  static const char tag[] = "<%$x.s.length%>";
  pai__tree *large = large_tree();
  pai__template_scope scope = { "$x", large, 0 };
  pai__template t = { .scopes = &scope, .nscopes = 1 };
  test_tally tally;
  pai__buf out, text = test_buf();
  size_t at;

  test_tally_init(&tally);
  pai__buf_init(&out, &tally.alloc);
  pai__buf_str(&text, "<%$x.list%>"); /* that aliases make much of */
  assert_int_equal(render_to(&out, &text, &t, &at), PAI_ELIMIT);
  assert_true(tally.peak < 4 * (size_t)PAI__TEMPLATE_MAX_BYTES);
  pai__buf_clear(&text);
  for (int i = 0; i < 1024; i++) /* 64 MiB looked at, just what is allowed */
    pai__buf_str(&text, tag);
  assert_ok(render_to(&out, &text, &t, &at));
  pai__buf_str(&text, "<%$x.list[1]%>");
  assert_int_equal(render_to(&out, &text, &t, &at), PAI_ELIMIT);
  assert_int_equal(at, 1024 * strlen(tag));
  assert_int_equal(out.len, 1024 * 5);
  pai__buf_dispose(&text);
  pai__buf_dispose(&out);
  pai__tree_free(large);
}

TEST(delimiters_are_short)
{
  char text[2048], word[258];

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

TEST(sections_may_be_many)
{
  pai__buf text = test_buf();

  for (int i = 0; i < 200000; i++)
    pai__buf_str(&text, i < 100000 ? "<%#x%>" : "<%/x%>");
  pai__buf_str(&text, "end");
  shows(command_template(), pai__buf_text(&text), "end");
  pai__buf_dispose(&text);
}

/* --- the rest ----------------------------------------------------------- */

TEST(text_may_hold_anything)
{
  static const char text[] = "a\0<%\0x\0%>\xff\xc2" S;
  static const char want[] = "a\0<% \0x\0 %>\xff\xc2text";
  const pai__template *t = command_template();
  pai__buf out = test_buf();

  assert_ok(pai__template_render(&out, text, sizeof(text) - 1, t, NULL));
  assert_ok(pai__template_render(&out, NULL, 0, t, NULL));
  assert_int_equal(out.len, sizeof(want) - 1);
  assert_memory_equal(pai__buf_text(&out), want, sizeof(want));
  pai__buf_dispose(&out);
}

TEST_FAULTS(memory_may_fail)
{
  static const char text[] =
    "<%#x%><%#y%><%/y%><%/x%><% $parameters.list[2][1] %> "
    "<% $parameters.none[1] %> a text that takes more than the first block";
  pai__buf out;
  int rc;

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
