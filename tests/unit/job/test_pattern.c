/* Regular expressions of the exit spec and of known failures. */
#include "cases.h"

#include "job/end/exit.h"
#include "job/end/pattern.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bool find(pai__pattern_span *out, const pai__pattern *p,
                 const char *text, size_t len)
{
  pai__pattern_span found[1 + PAI__PATTERN_GROUPS];
  int rc = pai__pattern_find(found, p, text, len, false);

  assert_true(rc >= 0);
  *out = found[0];
  return rc > 0;
}

/* A text in which "<" and ">" stand around what is to be found; without them
 * nothing is. */
typedef struct marked {
  char text[256];
  pai__pattern_span span;
  bool found;
} marked;

static marked read_marked(const char *from)
{
  marked m = { .found = strchr(from, '<') != NULL };
  size_t n = 0;

  assert_true(strlen(from) < sizeof(m.text));
  for (; *from != '\0'; from++) {
    if (*from == '<')
      m.span.start = n;
    else if (*from == '>')
      m.span.end = n;
    else
      m.text[n++] = *from;
  }
  return m;
}

static bool finds_marked(const char *pattern, const marked *m)
{
  pai__pattern p;
  pai__pattern_span s;

  assert_true(pai__pattern_make(&p, pattern));
  return find(&s, &p, m->text, strlen(m->text)) == m->found &&
         (!m->found || (s.start == m->span.start && s.end == m->span.end));
}

/* As Go's regexp answers, but for the longest of several matches. */
TEST(what_is_found)
{
  static const char *const rows[][2] = {
    { "abc", "x<abc>abc" },
    { "abc", "ABC" },
    { "(?i)aBc", "x<AbC>" },
    { "", "<>abc" },
    { "a.c", "a\nc <abc>" },
    { "a.c", "<a\xc3\251c>" },
    { "a.c", "<a\377c>" }, /* one character, or a byte of none */
    { "a..c", "a\xc3\251c" },
    { "a.*c", "x<abcbc>b\nc" },
    { "a.*", "x<aby>\nz" },
    { ".*b", "<aabab> a\nb" },
    { "a*", "<>baa" },
    { "a+", "b<aa>b" },
    { "ab?c", "abbc <ac>" },
    { "ab*c", "<abbbc>" },
    { "x(a|ab)(c|bcd)", "<xabcd>" },
    { "x(a|ab)", "<xab>" },
    /* the longest */
    { "x(ab|a)", "<xab>" },
    { "(a|b|c)+d", "x<abcabcd>" },
    { "(a*)*b", "<aaaaab>" },
    { "()a", "b<a>" },
    { "[abc]x", "<ax>bx" },
    { "(?i)[ABC]x", "dx<bX>" },
    { "\\Sx", " x\tx<!x>" },
    { "^a", "ba\na" },
    { "(?m)^a", "ba\n<a>b" },
    { "a$", "a\nb" },
    { "(?m)a$", "ab\n<a>\nb" },
    { "a$", "b<a>" },
    { "^$", "<>" },
    { "a\\.b\\(c", "<a.b(c>" },
    { "\\$x", "<$x>" },
    { "(ab)+c", "<ababc>" },
    { "a(b(c|d)e|f)+g", "<abcefbdeg>" },
    { "a(?:b|c)+d", "<abcbd>" },
    { "(?:a)b", "<ab>" },
    { "[a-c]+", "x<abc>d" },
    { "[a-c0-9_.-]+", "xd<_1.b-c>!" },
    { "[^a-c]+", "ab<xy>c" },
    { "[^\\]\\d]+", "1]<a\xc3\xa9>]" },
    { "(?i)[A-C]+", "x<AbC>d" },
    { "(?i)[^A-C]+", "Ab<Xy>C" },
    { "\\d+\\s\\w+", "a <12\tb_3>!" },
    { "[\\w-]+", "!<a-b_1>!" },
    { "a|b", "x<b>" },
    { "ab|cd$", "cda" },
    { "\\D+\\W", "12<ab >3" },
    /* lazy or not */
    { "a.*?b", "x<abb>" },
    { "[\\]x]+", "a<]x>[" },
    { "[\\^a-]+", "b<^-a>c" },
    { "[^\\]-]+", "]-<ab>]" },
    { "[+-\\]]+", "a<-]>~" },
    { "a{2}", "aa <a{2}>" },
    { "'.'", "<'\xe2\x80\x98'>" },
    { "'\\S'", "<'\xe2\x80\x98'>" },
    { "'[^a]?'", "<'\xe2\x80\x98'>" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    marked m = read_marked(rows[i][1]);

    if (!finds_marked(rows[i][0], &m))
      fail_msg("%s in \"%s\"", rows[i][0], rows[i][1]);
  }
}

/* Python, for one, sets that of its user. */
TEST(the_locale_changes_nothing)
{
  if (setlocale(LC_ALL, "C.UTF-8") == NULL)
    skip();
  what_is_found();
  assert_string_equal(setlocale(LC_ALL, NULL), "C.UTF-8");
  (void)setlocale(LC_ALL, "C");
}

TEST(any_byte_may_be_in_a_text)
{
  static const char text[] = "a\0b\nc\0\xff"
                             "d\n";
  pai__pattern p;
  pai__pattern_span s;

  assert_true(pai__pattern_make(&p, "a.b"));
  assert_true(find(&s, &p, text, sizeof(text) - 1));
  assert_true(pai__pattern_make(&p, "c.*d$"));
  assert_false(find(&s, &p, text, sizeof(text) - 1));
  assert_true(pai__pattern_make(&p, "(?m)^c..d$"));
  assert_true(find(&s, &p, text, sizeof(text) - 1));
  assert_int_equal(s.start, 4);
  assert_int_equal(s.end, 8);
  assert_true(pai__pattern_make(&p, "error"));
  assert_true(find(&s, &p, "x\0y error\n", 10));
  assert_int_equal(s.start, 4);
}

TEST(the_last_line_is_found)
{
  static const char text[] = "a1 a2\nb\na3 a4\nb";
  pai__pattern_span found[1 + PAI__PATTERN_GROUPS];
  pai__pattern p;

  assert_true(pai__pattern_make(&p, "a(\\d)"));
  assert_int_equal(pai__pattern_find(found, &p, text, sizeof(text) - 1, true),
                   1);
  assert_int_equal(text[found[1].start], '3');
}

/* What the groups found, with spaces between. */
TEST(what_groups_find)
{
  static const struct {
    const char *pattern, *text, *found;
  } rows[] = {
    { "a(b)c", "xabc", "b" },
    { "(a+)(b*)(c?)", "xaabb", "aa bb " },
    { "(a(b(c)))d", "abcd", "abc bc c" },
    { "(?:x(y))?z", "z", "" },
    { "(?:x(y))?z", "xyz", "y" },
    { "x(?:(a)|(b))", "xb", " b" },
    { "(?:([ab]);)+", "a;b;", "b" },
    { "'([^'.]+)([^']*)'", "no 'os.path'", "os .path" },
    { "(a)(b)(c)(d)(e)", "abcde", "a b c d" },
    { "(?m)^(?:\\[\\S+ ?)?E: (.*) of (\\d+)$", "E: no\n[r0]: E: 1 of 2 of 3\n",
      "1 of 2 3" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__pattern_span spans[1 + PAI__PATTERN_GROUPS];
    pai__pattern p;
    pai__buf b = test_buf();

    assert_true(pai__pattern_make(&p, rows[i].pattern));
    if (pai__pattern_find(spans, &p, rows[i].text, strlen(rows[i].text),
                          false) != 1)
      fail_msg("%s", rows[i].pattern);
    for (int g = 1; g <= p.ngroups; g++)
      pai__buf_printf(&b, "%s%.*s", g > 1 ? " " : "",
                      (int)(spans[g].end - spans[g].start),
                      rows[i].text + spans[g].start);
    assert_string_equal(pai__buf_text(&b), rows[i].found);
    pai__buf_dispose(&b);
  }
}

/* And where the mistake is, if that is told. */
TEST(what_is_no_pattern)
{
  static const struct {
    const char *pattern;
    size_t stop;
  } places[] = {
    { "abc)", 3 }, { "a*b**", 4 }, { "ab\\bc", 2 }, { "x(ab", 1 }
  };
  /* With a space behind each. */
  static const char rows[] =
    "(a a) [a [] [^] [z-a] *a a** (?x)a (?i \\b a\\ [\\b] [\xc3\xa9] [a- "
    "\xc3\xa9 (*) ((((((a)))))) (?=a)b (a)\\1 a(|*b) ^* (?P<n>a) [\\S] "
    "........................ ";
  char longer[PAI__PATTERN_BYTES + 1];
  pai__pattern p;

  for (size_t i = 0; i < PAI__LEN(places); i++) {
    assert_false(pai__pattern_make(&p, places[i].pattern));
    assert_int_equal(p.stop, places[i].stop);
  }
  for (const char *at = rows; *at != '\0'; at = strchr(at, ' ') + 1) {
    (void)snprintf(longer, sizeof(longer), "%.*s", (int)strcspn(at, " "), at);
    if (pai__pattern_make(&p, longer))
      fail_msg("%s is one", longer);
  }
  memset(longer, 'a', sizeof(longer) - 1);
  longer[sizeof(longer) - 1] = '\0';
  assert_false(pai__pattern_make(&p, longer));
}

/* --- those of the exit spec -------------------------------------------------- */

/* For each of them a text that it finds something in, marked; not marked: a text
 * that people would expect it to find, and it does not, for they forgot to
 * escape what has a meaning. */
static const struct {
  int code;
  const char *text;
} logs[] = {
  { -1000, "<evicted>" },
  { -1000, "Evicted by" },
  { -1001, "<NODELOST>" },
  { -1002, "<OutOfcpu>" },
  { -1002, "OutOf cpu" },
  { -1003, "<Preempting>" },
  { -1004, "<DeadlineExceeded>" },
  { -1005, "<Forbidden>" },
  { -1006, "<UnexpectedAdmissionError>" },
  { -1006, "<UnknownReason>" },
  { -1006, "<InvalidNodeInfo>" },
  { -1006, "<UnexpectedPredicateFailureType>" },
  { 220, "bash: line 3: frob: <Command not found>\n" },
  { 221, "x\n<tensorflow.python.framework.errors_impl.ResourceExhaustedError: "
         "OOM when allocating>\ny" },
  { 221, "tensorflow: ResourceExhaustedError:\nOOM" },
  { 221, "W: <Ran out of memory trying to allocate> 2G" },
  { 222, "[n1] <Signal code: Address not mapped (1)>\n" },
  { 223, "failed: <CUDA_ERROR_ECC_UNCORRECTABLE: x>" },
  { 224, "<CUDA driver version is insufficient for CUDA runtime version>" },
  { 225, "<Dropout supported only in cuDNN v>5.1" },
  { 226, "cuda runtime error (2) : out of memory" },
  { 226, "<cuda runtime error 2 : out of memory>" },
  { 228, "ls: <Unknown option> -- y" },
  { 228,
    "TypeError: dynamic_rnn() got multiple values for keyword argument 'x'" },
  { 228, "<TypeError: dynamic_rnn got multiple values for keyword argument>" },
  { 228, "<bad argument #2 to 'fill' (a)>\n" },
  { 228, "<Invalid argument:> shape" },
  { 228, "<option -start_symbol has no default value>" },
  { 229, "<Perhaps your file is in a different file format>" },
  { 229, "<bash: bd5/bd5_bar-train.ids>: No" },
  { 229, "<EXCEPTION occurred: Error opening file>" },
  { 229, "FileNotFoundError: [Errno 2] No such file or directory: 'x'" },
  { 229, "<FileNotFoundError: 2 No such file or directory>" },
  { 229, "<UnicodeEncodeError:> x" },
  { 229, "<UnicodeDecodeError>" },
  { 229, "<Exception: Unknown text header name>" },
  { 229, "<Exception: Unknown label header name>" },
  { 229, "<EOFError: Ran out of input>" },
  { 229, "<utils.lua:31: Input/output error> at" },
  { 229, "<tensorflow.python.framework.errors.UnknownError: a; Input/output "
         "error>" },
  { 229, "<cp: failed to close 'x': Input/output error>" },
  { 229, "<Exception occurred: a: b Input/output error>" },
  { 230, "<ValueError: Restore called with invalid save path> x" },
  { 231, "<SyntaxError: invalid syntax>" },
  { 231, "_pickle.<UnpicklingError>: x" },
  { 231, "<Assign requires shapes of both tensors to match>" },
  { 231, "/root/<torch/install/share/lua/5.1/a.cpp: an exception>" },
  { 231, "<AttributeError: 'A' object has no attribute> 'b'" },
  { 231, "<NameError: name 'x' is not defined>" },
  { 232, "<ImportError: No module named x>\n" },
  { 233, "<IndexError: list index out of range>" },
  { 234, "<Segmentation fault> (core dumped)" },
  { 235, "Aborted (<core dumped>)" },
  { 249, "2020 <SSH barrier reaches max retry count>, 3" },
  { 249, "ssh barrier reaches max retry count" },
  { -1203, "<exec: \"x\": executable file NOT FOUND in $PATH>" },
  { -1203, "a\n<cannot find b>\nc" },
  { -1203, "<no such file>" },
  { -1203, "found" },
  { -1205, "<nvidia-container-cli: device error: unknown device id: GPU-1>" },
  { -1300, "<init>" },
  { -1200, "<OOMKilled>" },
  { -1201, "<ContainerCannotRun>" },
  { -1202, "<ContainerCannotRun>" },
  { -1204, "<ContainerCannotRun>" },
};

enum { MOST = 6 }; /* texts of a pattern */

static void texts_of(const char *texts[MOST], const pai__exit_pattern *p)
{
  const char *all[MOST] = { p->pod,     p->name, p->reason,
                            p->message, p->user, p->platform };

  memcpy(texts, all, sizeof(all));
}

/* Does any pattern of the code find what is marked, or anything? */
static bool any_finds(const pai__exit_pattern *e, const marked *m)
{
  marked any = *m;
  const char *texts[MOST];

  any.found = false;
  for (; e->exit >= 0; e++) {
    texts_of(texts, e);
    for (int i = 0; i < MOST; i++)
      if (texts[i] != NULL && (m->found ? finds_marked(texts[i], m)
                                        : !finds_marked(texts[i], &any)))
        return true;
  }
  return false;
}

TEST(each_of_them_finds_its_text)
{
  for (size_t i = 0; i < PAI__LEN(logs); i++) {
    marked m = read_marked(logs[i].text);

    if (any_finds(pai__exit_find(logs[i].code)->patterns, &m) != m.found)
      fail_msg("%d in \"%s\"", logs[i].code, logs[i].text);
  }
}

static bool is_tried(const char *pattern)
{
  for (size_t i = 0; i < PAI__LEN(logs); i++) {
    marked m = read_marked(logs[i].text);

    if (m.found && finds_marked(pattern, &m))
      return true;
  }
  return false;
}

TEST(none_of_them_is_left_out)
{
  const char *texts[MOST];

  for (size_t i = 0; i < pai__exit_count; i++) {
    const pai__exit_pattern *e = pai__exit_rows[i].patterns;

    for (; e != NULL && e->exit >= 0; e++) {
      texts_of(texts, e);
      for (int k = 0; k < MOST; k++)
        if (texts[k] != NULL && !is_tried(texts[k]))
          fail_msg("%s", texts[k]);
    }
  }
}

/* --- texts that make a searcher that goes back and forth take for ever --------- */

#ifdef __SANITIZE_ADDRESS__ /* its regexec() reads to a NUL in each call */
enum { LEN = 1 << 14 };
#else
enum { LEN = 1 << 20 };
#endif

static void expect_long(const char *pattern, const char *text, bool found)
{
  pai__pattern p;
  pai__pattern_span s;

  assert_true(pai__pattern_make(&p, pattern));
  assert_int_equal(find(&s, &p, text, LEN), found);
  if (found)
    assert_int_equal(s.end, LEN);
}

TEST(time_grows_with_the_text)
{
  char *text = malloc(LEN + 1);
  clock_t before = clock();

  assert_non_null(text);
  memset(text, 'a', LEN);
  text[LEN] = '\0';
  expect_long("(a*)*b", text, false);
  expect_long("a.*a.*a.*b", text, false);
  text[LEN - 1] = 'b';
  expect_long("(a*)*b", text, true);
  expect_long("a[^x]*b", text, true);
  memset(text, '\n', LEN);
  expect_long("(a|b)", text, false);
  assert_true((clock() - before) / CLOCKS_PER_SEC < 60);
  free(text);
}

/* It would have a state for nearly each byte. */
TEST(what_is_learned_of_a_text_is_forgotten)
{
  char *text = malloc(LEN / 8 + 1);
  clock_t before = clock();
  pai__pattern p;
  pai__pattern_span s;

  assert_non_null(text);
  text[LEN / 8] = '\0';
  for (size_t i = 0, x = 1; i < LEN / 8; i++, x = x * 1103515245 + 12345)
    text[i] = (x >> 16 & 1) != 0 ? 'a' : 'b';
  assert_true(pai__pattern_make(&p, "(a|b)*a[ab][ab][ab][ab][ab][ab][ab][ab]"
                                    "[ab][ab][ab][ab][ab][ab][ab][ab]c"));
  assert_false(find(&s, &p, text, LEN / 8));
  assert_true((clock() - before) / CLOCKS_PER_SEC < 60);
  free(text);
}

/* Of a line that is longer than any a part is found, and where. */
TEST(a_long_line_is_looked_at_in_parts)
{
  char *text = malloc(LEN + 1);
  pai__pattern p;
  pai__pattern_span s;

  assert_non_null(text);
  text[LEN] = '\0';
  memset(text, ' ', LEN);
  memcpy(text + 10000, "x: error", 8);
  assert_true(pai__pattern_make(&p, "(?m)^ *x"));
  assert_false(find(&s, &p, text, LEN));
  assert_true(pai__pattern_make(&p, "x: error"));
  assert_true(find(&s, &p, text, LEN));
  assert_int_equal(s.start, 10000);
  assert_true(pai__pattern_make(&p, "error$"));
  assert_false(find(&s, &p, text, LEN));
  free(text);
}
