/* Patterns of the exit spec and of failures: what RE2 finds, and no more work
 * than that. */
#include "testing.h"

#include "job/exit.h"
#include "job/pattern.h"

#include <stdlib.h>
#include <time.h>

static void expect(const char *pattern, const char *text, const char *found)
{
  pai__pattern p;
  pai__span s;
  bool is;

  assert_true(pai__pattern_make(&p, pattern));
  is = pai__pattern_find(&s, &p, text, strlen(text));
  if (is != (found != NULL))
    fail_msg("%s in \"%s\"", pattern, text);
  if (found == NULL)
    return;
  if (s.end - s.start != strlen(found) ||
      memcmp(text + s.start, found, strlen(found)) != 0)
    fail_msg("%s in \"%s\" found %zu to %zu", pattern, text, s.start, s.end);
}

/* As Go's regexp answers. */
static void what_is_found(void **state)
{
  static const struct {
    const char *pattern, *text, *found;
  } rows[] = {
    { "abc", "xabcabc", "abc" },
    { "abc", "ABC", NULL },
    { "(?i)aBc", "xAbC", "AbC" },
    { "", "abc", "" },
    { "a.c", "a\nc abc", "abc" },
    { "a.c",
      "a\xc3\xa9"
      "c",
      "a\xc3\xa9"
      "c" }, /* one character */
    { "a.c",
      "a\xff"
      "c",
      "a\xff"
      "c" }, /* or a byte of none */
    { "a..c",
      "a\xc3\xa9"
      "c",
      NULL },
    { "a.*c", "xabcbcb\nc", "abcbc" },
    { "a.*", "xaby\nz", "aby" },
    { ".*b", "aabab a\nb", "aabab" },
    { "a*", "baa", "" },
    { "a+", "baab", "aa" },
    { "ab?c", "abbc ac", "ac" },
    { "ab*c", "abbbc", "abbbc" },
    { "x(a|ab)(c|bcd)", "xabcd", "xabcd" }, /* the first that fits */
    { "x(a|ab)", "xab", "xa" },
    { "x(ab|a)", "xab", "xab" },
    { "(a|b|c)+d", "xabcabcd", "abcabcd" },
    { "(a*)*b", "aaaaab", "aaaaab" },
    { "()a", "ba", "a" },
    { "[abc]x", "axbx", "ax" },
    { "(?i)[ABC]x", "dxbX", "bX" },
    { "\\Sx", " x\tx!x", "!x" },
    { "^a", "ba\na", NULL },
    { "(?m)^a", "ba\nab", "a" },
    { "a$", "a\nb", NULL },
    { "(?m)a$", "ab\na\nb", "a" },
    { "a$", "ba", "a" },
    { "^$", "", "" },
    { "a\\.b\\(c", "a.b(c", "a.b(c" },
    { "\\$x", "$x", "$x" },
    { "(ab)+c", "ababc", "ababc" },
    { "a(b(c|d)e|f)+g", "abcefbdeg", "abcefbdeg" },
    { "a(?:b|c)+d", "abcbd", "abcbd" },
    { "(?:a)b", "ab", "ab" },
    { "[a-c]+", "xabcd", "abc" },
    { "[a-c0-9_.-]+", "xd_1.b-c!", "_1.b-c" },
    { "[^a-c]+", "abxyc", "xy" },
    { "[^\\]\\d]+", "1]a\xc3\xa9]", "a\xc3\xa9" },
    { "(?i)[A-C]+", "xAbCd", "AbC" },
    { "(?i)[^A-C]+", "AbXyC", "Xy" },
    { "\\d+\\s\\w+", "a 12\tb_3!", "12\tb_3" },
    { "[\\w-]+", "!a-b_1!", "a-b_1" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(rows[i].pattern, rows[i].text, rows[i].found);
}

/* What the groups found, with spaces between. */
static void what_groups_find(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__span spans[1 + PAI__PATTERN_GROUPS];
    pai__pattern p;
    pai__buf b;

    assert_true(pai__pattern_make(&p, rows[i].pattern));
    if (!pai__pattern_match(spans, &p, rows[i].text, strlen(rows[i].text)))
      fail_msg("%s", rows[i].pattern);
    pai__buf_init(&b, &pai__libc_alloc);
    for (int g = 1; g <= p.ngroups; g++)
      pai__buf_printf(&b, "%s%.*s", g > 1 ? " " : "",
                      (int)(spans[g].end - spans[g].start),
                      rows[i].text + spans[g].start);
    assert_string_equal(pai__buf_text(&b), rows[i].found);
    pai__buf_dispose(&b);
  }
}

static void where_a_mistake_is(void **state)
{
  static const struct {
    const char *pattern;
    size_t stop;
  } rows[] = { { "abc)", 3 }, { "a*b**", 4 }, { "ab\\bc", 2 }, { "x(ab", 1 } };
  pai__pattern p;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_false(pai__pattern_make(&p, rows[i].pattern));
    assert_int_equal(p.stop, rows[i].stop);
  }
}

static void what_is_no_pattern(void **state)
{
  static const char *const rows[] = {
    "a|b",        "(a",
    "a)",         "[a",
    "[]",         "[^]",
    "[z-a]",      "*a",
    "a**",        "(?x)a",
    "(?i",        "\\b",
    "a\\",        "[\\b]",
    "[\xc3\xa9]", "[a-",
    "\xc3\xa9",   "((((((a))))))",
    "(*)",        "a{2}|b",
    "(?=a)b",     "[a][b][c][d][e][f][g][h][i]",
  };
  char longer[400];
  pai__pattern p;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (pai__pattern_make(&p, rows[i]))
      fail_msg("%s is one", rows[i]);
  memset(longer, 'a', sizeof(longer) - 1);
  longer[sizeof(longer) - 1] = '\0';
  assert_false(pai__pattern_make(&p, longer));
}

/* --- those of the exit spec -------------------------------------------------- */

/* For each of them a text that it finds something in, and what; NULL: a text
 * that people would expect it to find, and it does not, for they forgot to
 * escape what has a meaning. */
static const struct {
  int code;
  const char *text, *found;
} logs[] = {
  { -1000, "evicted", "evicted" },
  { -1000, "Evicted by", NULL },
  { -1001, "NODELOST", "NODELOST" },
  { -1002, "OutOfcpu", "OutOfcpu" },
  { -1002, "OutOf cpu", NULL },
  { -1003, "Preempting", "Preempting" },
  { -1004, "DeadlineExceeded", "DeadlineExceeded" },
  { -1005, "Forbidden", "Forbidden" },
  { -1006, "UnexpectedAdmissionError", "UnexpectedAdmissionError" },
  { -1006, "UnknownReason", "UnknownReason" },
  { -1006, "InvalidNodeInfo", "InvalidNodeInfo" },
  { -1006, "UnexpectedPredicateFailureType",
    "UnexpectedPredicateFailureType" },
  { 220, "bash: line 3: frob: Command not found\n", "Command not found" },
  { 221,
    "x\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM "
    "when allocating\ny",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when "
    "allocating" },
  { 221, "tensorflow: ResourceExhaustedError:\nOOM", NULL },
  { 221, "W: Ran out of memory trying to allocate 2G",
    "Ran out of memory trying to allocate" },
  { 222, "[n1] Signal code: Address not mapped (1)\n",
    "Signal code: Address not mapped (1)" },
  { 223, "failed: CUDA_ERROR_ECC_UNCORRECTABLE: x",
    "CUDA_ERROR_ECC_UNCORRECTABLE: x" },
  { 224, "CUDA driver version is insufficient for CUDA runtime version",
    "CUDA driver version is insufficient for CUDA runtime version" },
  { 225, "Dropout supported only in cuDNN v5.1",
    "Dropout supported only in cuDNN v" },
  { 226, "cuda runtime error (2) : out of memory", NULL },
  { 226, "cuda runtime error 2 : out of memory",
    "cuda runtime error 2 : out of memory" },
  { 228, "ls: Unknown option -- y", "Unknown option" },
  { 228,
    "TypeError: dynamic_rnn() got multiple values for keyword argument 'x'",
    NULL },
  { 228, "TypeError: dynamic_rnn got multiple values for keyword argument",
    "TypeError: dynamic_rnn got multiple values for keyword argument" },
  { 228, "bad argument #2 to 'fill' (a)\n", "bad argument #2 to 'fill' (a)" },
  { 228, "Invalid argument: shape", "Invalid argument:" },
  { 228, "option -start_symbol has no default value",
    "option -start_symbol has no default value" },
  { 229, "Perhaps your file is in a different file format",
    "Perhaps your file is in a different file format" },
  { 229, "bash: bd5/bd5_bar-train.ids: No", "bash: bd5/bd5_bar-train.ids" },
  { 229, "EXCEPTION occurred: Error opening file",
    "EXCEPTION occurred: Error opening file" },
  { 229, "FileNotFoundError: [Errno 2] No such file or directory: 'x'", NULL },
  { 229, "FileNotFoundError: 2 No such file or directory",
    "FileNotFoundError: 2 No such file or directory" },
  { 229, "UnicodeEncodeError: x", "UnicodeEncodeError:" },
  { 229, "UnicodeDecodeError", "UnicodeDecodeError" },
  { 229, "Exception: Unknown text header name",
    "Exception: Unknown text header name" },
  { 229, "Exception: Unknown label header name",
    "Exception: Unknown label header name" },
  { 229, "EOFError: Ran out of input", "EOFError: Ran out of input" },
  { 229, "utils.lua:31: Input/output error at",
    "utils.lua:31: Input/output error" },
  { 229,
    "tensorflow.python.framework.errors.UnknownError: a; Input/output error",
    "tensorflow.python.framework.errors.UnknownError: a; Input/output error" },
  { 229, "cp: failed to close 'x': Input/output error",
    "cp: failed to close 'x': Input/output error" },
  { 229, "Exception occurred: a: b Input/output error",
    "Exception occurred: a: b Input/output error" },
  { 230, "ValueError: Restore called with invalid save path x",
    "ValueError: Restore called with invalid save path" },
  { 231, "SyntaxError: invalid syntax", "SyntaxError: invalid syntax" },
  { 231, "_pickle.UnpicklingError: x", "UnpicklingError" },
  { 231, "Assign requires shapes of both tensors to match",
    "Assign requires shapes of both tensors to match" },
  { 231, "/root/torch/install/share/lua/5.1/a.cpp: an exception",
    "torch/install/share/lua/5.1/a.cpp: an exception" },
  { 231, "AttributeError: 'A' object has no attribute 'b'",
    "AttributeError: 'A' object has no attribute" },
  { 231, "NameError: name 'x' is not defined",
    "NameError: name 'x' is not defined" },
  { 232, "ImportError: No module named x\n",
    "ImportError: No module named x" },
  { 233, "IndexError: list index out of range",
    "IndexError: list index out of range" },
  { 234, "Segmentation fault (core dumped)", "Segmentation fault" },
  { 235, "Aborted (core dumped)", "core dumped" },
  { 249, "2020 SSH barrier reaches max retry count, 3",
    "SSH barrier reaches max retry count" },
  { 249, "ssh barrier reaches max retry count", NULL },
  { -1203, "exec: \"x\": executable file NOT FOUND in $PATH",
    "exec: \"x\": executable file NOT FOUND in $PATH" },
  { -1203, "a\ncannot find b\nc", "cannot find b" },
  { -1203, "no such file", "no such file" },
  { -1203, "found", NULL },
  { -1205, "nvidia-container-cli: device error: unknown device id: GPU-1",
    "nvidia-container-cli: device error: unknown device id: GPU-1" },
  { -1300, "init", "init" },
  { -1200, "OOMKilled", "OOMKilled" },
  { -1201, "ContainerCannotRun", "ContainerCannotRun" },
  { -1202, "ContainerCannotRun", "ContainerCannotRun" },
  { -1204, "ContainerCannotRun", "ContainerCannotRun" },
};

enum { MOST = 7 }; /* texts of a pattern */

static void texts_of(const char *texts[MOST], const pai__exit_pattern *p)
{
  const char *all[MOST] = { p->pod,     p->name, p->reason,
                            p->message, p->user, p->platform };

  memcpy(texts, all, sizeof(all));
}

/* Does any pattern of the code find this? */
static bool finds(int code, const char *text, const char *found)
{
  const pai__exit_pattern *e = pai__exit_find(code)->patterns;
  const char *texts[MOST];
  pai__pattern p;
  pai__span s;

  for (; e->exit >= 0; e++) {
    texts_of(texts, e);
    for (int i = 0; i < MOST; i++) {
      if (texts[i] == NULL)
        continue;
      assert_true(pai__pattern_make(&p, texts[i]));
      if (pai__pattern_find(&s, &p, text, strlen(text)) &&
          (found == NULL ||
           (s.end - s.start == strlen(found) &&
            memcmp(text + s.start, found, strlen(found)) == 0)))
        return true;
    }
  }
  return false;
}

static void each_of_them_finds_its_text(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(logs); i++)
    if (finds(logs[i].code, logs[i].text, logs[i].found) !=
        (logs[i].found != NULL))
      fail_msg("%d in \"%s\"", logs[i].code, logs[i].text);
}

static bool is_tried(const char *pattern)
{
  pai__pattern p;
  pai__span s;

  assert_true(pai__pattern_make(&p, pattern));
  for (size_t i = 0; i < PAI__LEN(logs); i++)
    if (logs[i].found != NULL &&
        pai__pattern_find(&s, &p, logs[i].text, strlen(logs[i].text)))
      return true;
  return false;
}

static void none_of_them_is_left_out(void **state)
{
  const char *texts[MOST];

  (void)state;
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

/* Texts that make a searcher that goes back and forth take for ever. */
static void time_grows_with_the_text(void **state)
{
  enum { LEN = 1 << 20 };
  char *text = malloc(LEN);
  clock_t before = clock();
  pai__pattern p;
  pai__span s;

  (void)state;
  assert_non_null(text);
  memset(text, 'a', LEN);
  assert_true(pai__pattern_make(&p, "(a*)*b"));
  assert_false(pai__pattern_find(&s, &p, text, LEN));
  assert_true(pai__pattern_make(&p, "a.*a.*a.*b"));
  assert_false(pai__pattern_find(&s, &p, text, LEN));
  text[LEN - 1] = 'b';
  assert_true(pai__pattern_find(&s, &p, text, LEN));
  assert_int_equal(s.start, 0);
  assert_int_equal(s.end, LEN);
  memset(text, '\n', LEN);
  assert_true(pai__pattern_make(&p, "(a|b)"));
  assert_false(pai__pattern_find(&s, &p, text, LEN));
  assert_true((clock() - before) / CLOCKS_PER_SEC < 60);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_found),
    cmocka_unit_test(what_groups_find),
    cmocka_unit_test(where_a_mistake_is),
    cmocka_unit_test(what_is_no_pattern),
    cmocka_unit_test(each_of_them_finds_its_text),
    cmocka_unit_test(none_of_them_is_left_out),
    cmocka_unit_test(time_grows_with_the_text),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
