/* From how a task ended to its code, and to what people are told of it. */
#include "cases.h"

#include "job/end/end.h"
#include "job/end/exit.h"
#include "json/json.h"
#include "yaml/yaml.h"

#include <stdlib.h>

#define BARRIER "SSH barrier reaches max retry count"

static pai__log_tail tail(const char *text)
{
  return (pai__log_tail){ text, text != NULL ? strlen(text) : 0 };
}

/* The code that is told of an end, and its diagnostics, unless NULL. */
static int judge(const pai__end_facts *facts, const char *diagnostics)
{
  pai__buf b = test_buf();
  int code;

  assert_ok(pai__end_judge(&code, &b, facts));
  assert_int_equal(b.len == 0, code == 0);
  if (diagnostics != NULL)
    assert_string_equal(pai__buf_text(&b), diagnostics);
  pai__buf_dispose(&b);
  return code;
}

/* --- codes ---------------------------------------------------------------------- */

/* Of a command that exited, with nothing in its log. */
TEST(exit_codes_of_signals_are_kept)
{
  static const uint8_t kept[] = { 0,   130, 131, 132, 134, 135,
                                  136, 137, 139, 141, 143 };

  for (int code = 0; code < 256; code++) {
    pai__end_facts f = { .how = PAI__END_EXITED,
                         .code = code,
                         .user = tail("") };
    bool is_kept = memchr(kept, code, sizeof(kept)) != NULL;

    assert_int_equal(judge(&f, NULL), is_kept ? code : 255);
  }
}

TEST(codes)
{
  static const struct {
    enum pai__end_how how;
    int code;
    bool ecc;
    const char *user, *runtime;
    int wanted;
  } rows[] = {
    { PAI__END_EXITED, 0, false, "Segmentation fault", NULL, 0 },
    { PAI__END_EXITED, 0, true, "", "", 0 },
    { PAI__END_EXITED, 1, false, NULL, NULL, 255 },
    { PAI__END_EXITED, 77, false, "all is well", "", 255 },
    { PAI__END_EXITED, 1, true, "", "", 128 },
    { PAI__END_EXITED, 137, true, "", "", 128 }, /* it is the first */
    { PAI__END_EXITED, 139, false, "Segmentation fault", "", 139 },
    { PAI__END_EXITED, 127, false, "x: command not found", "", 220 },
    { PAI__END_EXITED, 1, false, "x: command not found", "", 255 },
    { PAI__END_EXITED, 10, false, "", BARRIER, 249 },
    { PAI__END_EXITED, 10, false, BARRIER, "", 255 },
    { PAI__END_EXITED, 11, false, "", BARRIER, 255 },
    { PAI__END_OOM, 137, false, "ImportError: x", "", -1200 },
    { PAI__END_OOM, 137, true, "", "", -1200 },
    { PAI__END_FAILED, 125, false, NULL, NULL, -1201 },
    { PAI__END_FAILED, 126, false, NULL, NULL, -1202 },
    { PAI__END_FAILED, 127, false, NULL, NULL, -1203 },
    { PAI__END_FAILED, 128, false, NULL, NULL, -1204 },
    { PAI__END_FAILED, 1, false, NULL, NULL, 256 },
    { PAI__END_LOST, 0, false, "ImportError: x", NULL, 256 },
    { PAI__END_NODE_LOST, 0, false, NULL, NULL, -1001 },
    { PAI__END_NEVER, 0, false, NULL, NULL, -111 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts f = { .how = rows[i].how,
                         .code = rows[i].code,
                         .ecc = rows[i].ecc,
                         .user = tail(rows[i].user),
                         .runtime = tail(rows[i].runtime) };
    int code = judge(&f, NULL);

    if (code != rows[i].wanted)
      fail_msg("row %zu: %d, not %d", i, code, rows[i].wanted);
  }
}

/* Of a command that exited with 1. */
TEST(what_the_log_tells_is_the_code)
{
  static const struct {
    int code;
    const char *log;
  } rows[] = {
    { 221, "tensorflow ResourceExhaustedError OOM" },
    { 222, "Signal code: Address not mapped" },
    { 223, "CUDA_ERROR_ECC_UNCORRECTABLE" },
    { 224, "CUDA driver version is insufficient for CUDA runtime version" },
    { 225, "dropout supported only in cudnn v5" },
    { 226, "cuda runtime error 2 : out of memory" },
    { 228, "unknown option" },
    { 229, "UnicodeDecodeError" },
    { 230, "ValueError: Restore called with invalid save path" },
    { 231, "SyntaxError: invalid syntax" },
    /* By the order of the spec, not of the log. */
    { 231, "ImportError: x\nSyntaxError: invalid syntax" },
    { 232, "ImportError: x" },
    { 233, "IndexError: list index out of range" },
    { 234, "segmentation fault" },
    { 235, "core dumped" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts f = { .how = PAI__END_EXITED,
                         .code = 1,
                         .user = tail(rows[i].log) };

    assert_int_equal(judge(&f, NULL), rows[i].code);
  }
}

/* What Docker says of a container that it could not start. */
TEST(what_could_not_be_started)
{
  static const struct {
    const char *why;
    int wanted;
  } rows[] = {
    { "exec: \"frob\": executable file not found in $PATH", -1203 },
    { "stat /x: no such file or directory", -1203 },
    { "cannot find it", -1203 },
    { "nvidia-container-cli: device error: unknown device id: 7", -1205 },
    { "something else", -1204 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(judge(&(pai__end_facts){ .how = PAI__END_FAILED,
                                              .code = 128,
                                              .why = rows[i].why },
                           NULL),
                     rows[i].wanted);
}

/* The same from a back end's own words; of what the platform ended itself it says
 * Kubernetes' reason. */
TEST(what_a_back_end_tells)
{
  static const struct {
    int how, code, oom;
    const char *reason;
    int wanted;
  } rows[] = {
    { PAI_END_EXIT, 0, 0, "", 0 },
    { PAI_END_EXIT, 1, 0, "", 232 },
    { PAI_END_SIGNAL, 139, 0, "", 139 },
    { PAI_END_SIGNAL, 137, 1, "", -1200 },
    { PAI_END_EXIT, 0, 1, "", -1200 },
    { PAI_END_LOST, PAI_CODE_LOST, 0, "", 256 },
    { PAI_END_FAILED, 126, 0, "", -1202 },
    { PAI_END_FAILED, 127, 0, "", -1203 },
    { PAI_END_SIGNAL, 137, 2, "", 137 }, /* nobody knows who killed it */
    { 77, 0, 0, "", 256 },
    { PAI_END_PLATFORM, 137, 0, "Evicted", -1000 },
    { PAI_END_PLATFORM, 137, 0, "NodeLost", -1001 },
    { PAI_END_PLATFORM, 137, 0, "Preempting", -1003 },
    { PAI_END_PLATFORM, 137, 0, "DeadlineExceeded", -1004 },
    { PAI_END_PLATFORM, 137, 0, "Unheard", 256 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_task_end end = { .struct_size = sizeof(end),
                         .how = rows[i].how,
                         .code = rows[i].code,
                         .oom = rows[i].oom,
                         .log = "ImportError: x",
                         .log_len = 14,
                         .runtime = "",
                         .text = rows[i].reason };
    pai__end_facts f = pai__end_told(&end);

    assert_int_equal(judge(&f, NULL), rows[i].wanted);
  }
}

/* --- excerpts ------------------------------------------------------------------- */

/* The text that is left for the user's log, or the platform's. */
static void expect_excerpt(const pai__error_facts *f, const char *key,
                           const char *wanted)
{
  pai__tree *t;
  pai__node n;
  pai__buf b = test_buf();
  const char *text;
  size_t len;

  assert_ok(pai__end_excerpt(&b, f));
  text = pai__buf_text(&b);
  assert_int_equal(strncmp(text, PAI__ERROR_START "\n", 26), 0);
  assert_string_equal(text + b.len - 24, "\n" PAI__ERROR_END);
  len = b.len - 26 - 24;
  assert_true(len <= 4048);
  assert_ok(pai__yaml_parse(&t, text + 26, len, NULL, NULL));
  n = pai__tree_get(t, 0, key);
  if (n == PAI__NO_NODE && pai__tree_get(t, 0, "errorLogs") != PAI__NO_NODE)
    n = pai__tree_get(t, pai__tree_get(t, 0, "errorLogs"), key);
  if (wanted == NULL)
    assert_true(n == PAI__NO_NODE);
  else
    assert_string_equal(pai__tree_str(t, n, NULL), wanted);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}

/* Lines "FIRST\n" to "LAST\n". */
static char *lines(int first, int last)
{
  pai__buf b = test_buf();

  for (int i = first; i <= last; i++)
    pai__buf_printf(&b, "%d\n", i);
  return pai__buf_take(&b);
}

/* Lines that are numbers; the last one without its end. */
static void expect_lines(const pai__error_facts *f, const char *key, int first,
                         int last)
{
  char *wanted = lines(first, last);

  wanted[strlen(wanted) - 1] = '\0';
  expect_excerpt(f, key, wanted);
  free(wanted);
}

TEST(the_last_lines_are_shown)
{
  char *text = lines(1, 30);
  pai__error_facts f = {
    .code = 255, .user_code = 1, .user = tail(text), .platform = tail(text)
  };

  expect_lines(&f, "user", 16, 30);
  expect_lines(&f, "platform", 21, 30);
  f.user = tail("one\r\ntwo\rtwo\r\n\r\n");
  f.platform = tail("");
  expect_excerpt(&f, "user", "one\ntwo\rtwo");
  expect_excerpt(&f, "platform", NULL);
  f.user = tail(NULL);
  expect_excerpt(&f, "errorLogs", NULL);
  free(text);
}

TEST(what_was_found_is_shown_with_its_surroundings)
{
  static const struct {
    size_t start, end; /* of what was found */
    int first, last;   /* the lines that are shown */
  } rows[] = {
    { 144, 146, 48, 60 }, /* "58": little follows */
    { 0, 2, 10, 22 },
    { 0, 89, 25, 39 },  /* longer than may be shown */
    { 30, 32, 18, 30 }, /* "20" */
  };
  char *text = lines(10, 60); /* each of three bytes */
  pai__error_facts f = { .code = 220, .user_code = 127, .user = tail(text) };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    f.in_user = (pai__log_match){ true, rows[i].start, rows[i].end };
    expect_lines(&f, "user", rows[i].first, rows[i].last);
  }
  expect_excerpt(&f, "matchedUserLogString", "20");
  free(text);
}

TEST(too_much_is_cut_in_its_order)
{
  char *text = malloc(9001);
  pai__error_facts f = { .code = 255, .user_code = 1 };
  pai__buf b = test_buf();

  assert_non_null(text);
  memset(text, 'u', 9000);
  text[9000] = '\0';
  /* The platform's log goes first, in front. */
  f.user = (pai__log_tail){ text, 2000 };
  f.platform = (pai__log_tail){ text, 4000 };
  for (size_t i = 0; i < 2000; i++)
    pai__buf_char(&b, 'u');
  expect_excerpt(&f, "user", pai__buf_text(&b));
  /* Then the user's, and all that is left of it is its end. */
  f.user = (pai__log_tail){ text, 9000 };
  expect_excerpt(&f, "platform", NULL);
  /* What was found stays, up to 2048 bytes. */
  f.in_user = (pai__log_match){ true, 100, 8900 };
  for (size_t i = 0; i < 48; i++)
    pai__buf_char(&b, 'u');
  expect_excerpt(&f, "matchedUserLogString", pai__buf_text(&b));
  /* Of two that are too long the platform's is cut. */
  f.platform = f.user;
  f.in_platform = f.in_user;
  expect_excerpt(&f, "matchedUserLogString", pai__buf_text(&b));
  expect_excerpt(&f, "platform", NULL);
  pai__buf_dispose(&b);
  /* Bytes that YAML writes as many: the two codes alone are left of it. */
  memset(text, '\x01', 9000);
  expect_excerpt(&f, "errorLogs", NULL);
  free(text);
}

/* What was found stays in the excerpt, wherever it is in the log. */
TEST(what_was_found_is_cut_last)
{
  enum { LINE = 701, LINES = 9 };
  static char text[LINE * LINES];

  for (int at = 0; at < LINES; at++) {
    pai__error_facts f = { .user = { text, sizeof(text) } };
    pai__buf b = test_buf();

    memset(text, 'x', sizeof(text));
    for (int i = 1; i <= LINES; i++)
      text[i * LINE - 1] = '\n';
    memcpy(text + at * LINE + 300, "NEEDLE", 6);
    f.in_user.found = true;
    f.in_user.start = (size_t)at * LINE + 300;
    f.in_user.end = f.in_user.start + 6;
    assert_ok(pai__end_excerpt(&b, &f));
    assert_has(b.data, "matchedUserLogString: NEEDLE");
    assert_has(strstr(b.data, "errorLogs"), "xNEEDLEx");
    assert_in_range(b.len, 4096 - 100, 4096 + 2);
    pai__buf_dispose(&b);
  }
}

/* Any text, anywhere found: the YAML can be read and is not too long. */
TEST(any_text_fits)
{
  static const char *const bits[] = { "a",    "\n",       "\r\n", "\xc3\xa9",
                                      "\xff", "\"",       "'",    ": ",
                                      "\t",   "#",        "--- ", "\x01",
                                      " ",    "\xe2\x82", "-" };
  unsigned seed = 1;
  char *text = malloc(16384);

  assert_non_null(text);
  for (int run = 0; run < 400; run++) {
    size_t len = 0, most = (size_t)(run * 29 % 12000);
    pai__error_facts f = { .code = 1, .user_code = 1, .ecc = run % 2 == 0 };

    while (len < most) {
      const char *bit =
        bits[(seed = seed * 1103515245 + 12345) / 65536 % PAI__LEN(bits)];

      memcpy(text + len, bit, strlen(bit));
      len += strlen(bit);
    }
    f.user = f.platform = (pai__log_tail){ text, len };
    f.in_user.found = run % 3 != 0;
    f.in_user.start = len / 3;
    f.in_user.end = len / 3 + len / (size_t)(run % 7 + 2);
    f.in_platform = f.in_user;
    expect_excerpt(&f, "no such key", NULL);
  }
  free(text);
}

/* --- what the API shows ------------------------------------------------------------ */

static const char log_text[] = "starting\nbash: frob: command not found\n";

TEST_FAULTS(a_failed_command_is_told_of)
{
  pai__end_facts f = { .how = PAI__END_EXITED,
                       .code = 127,
                       .user = tail(log_text) };
  pai__buf diagnostics, summary, messages;
  pai__json_writer w;
  int code, rc;

  pai__buf_init(&diagnostics, alloc);
  pai__buf_init(&summary, alloc);
  pai__buf_init(&messages, alloc);
  pai__json_writer_init(&w, &messages, false);
  rc = pai__end_judge(&code, &diagnostics, &f);
  if (rc == PAI_OK)
    rc = pai__end_summary(&summary, pai__buf_text(&diagnostics));
  if (rc == PAI_OK)
    rc = pai__end_messages(&w, pai__buf_text(&diagnostics));
  if (rc == PAI_OK)
    rc = pai__json_finish(&w);
  if (rc == PAI_OK) {
    assert_int_equal(code, 220);
    assert_string_equal(
      pai__buf_text(&diagnostics),
      "PodPattern matched: {\"containers\":[{\"name\":\"app\",\"reason\":"
      "\"Error\",\"message\":\"[PAI_RUNTIME_ERROR_START]\\nexitCode: "
      "220\\noriginUserExitCode: 127\\nmatchedUserLogString: command not "
      "found\\nerrorLogs:\\n  user: |-\\n    starting\\n    bash: frob: "
      "command not found\\n\\n[PAI_RUNTIME_ERROR_END]\",\"code\":220}]}");
    assert_string_equal(pai__buf_text(&summary),
                        "PodPattern matched:\n"
                        "containers:\n"
                        "  - name: app\n"
                        "    reason: Error\n"
                        "    message: |-\n"
                        "      [PAI_RUNTIME_ERROR_START]\n"
                        "      exitCode: 220\n"
                        "      originUserExitCode: 127\n"
                        "      matchedUserLogString: command not found\n"
                        "      errorLogs:\n"
                        "        user: |-\n"
                        "          starting\n"
                        "          bash: frob: command not found\n"
                        "\n"
                        "      [PAI_RUNTIME_ERROR_END]\n"
                        "    code: 220\n");
    assert_string_equal(
      pai__buf_text(&messages),
      "{\"container\":null,\"runtime\":{\"exitCode\":220,"
      "\"originUserExitCode\":127,\"matchedUserLogString\":\"command not "
      "found\",\"errorLogs\":{\"user\":\"starting\\nbash: frob: command not "
      "found\"},\"name\":\"app\"},\"launcher\":null}");
  }
  pai__buf_dispose(&messages);
  pai__buf_dispose(&summary);
  pai__buf_dispose(&diagnostics);
  return rc;
}

/* Where nobody knows more, what the command ended with. */
TEST(the_code_that_is_told)
{
  static const struct {
    enum pai__end_how how;
    int code;
    const char *user;
    int judged, told;
  } rows[] = {
    { PAI__END_EXITED, 0, "", 0, 0 },
    { PAI__END_EXITED, 42, "", 255, 42 },
    { PAI__END_EXITED, 42, "originUserExitCode: 7\n", 255, 42 },
    { PAI__END_EXITED, 1, "[PAI_RUNTIME_ERROR_START]\n", 255, 1 },
    { PAI__END_EXITED, 255, "", 255, 255 },
    { PAI__END_EXITED, 127, "x: command not found", 220, 220 },
    { PAI__END_OOM, 137, "", -1200, -1200 },
    { PAI__END_LOST, 0, NULL, 256, 256 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts f = { .how = rows[i].how,
                         .code = rows[i].code,
                         .user = tail(rows[i].user) };
    int code = judge(&f, NULL);

    assert_int_equal(code, rows[i].judged);
    assert_int_equal(pai__result_code(code, pai__end_user_code(&f)),
                     rows[i].told);
    assert_int_equal(pai__result_code(code, 0), code);
  }
}

static void expect_messages(const char *diagnostics, const char *wanted)
{
  pai__json_writer w;
  pai__buf b = test_buf();

  pai__json_writer_init(&w, &b, false);
  assert_ok(pai__end_messages(&w, diagnostics));
  assert_ok(pai__json_finish(&w));
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

/* Diagnostics of all sorts, also others'. */
TEST(texts_without_a_report)
{
  pai__buf b;

  expect_messages(NULL, "null");
  expect_messages("", "null");
  expect_messages("stopped", "{\"container\":null,\"runtime\":null,"
                             "\"launcher\":\"stopped\"}");
  expect_messages("x matched: {no", "{\"container\":null,\"runtime\":null,"
                                    "\"launcher\":\"x matched: {no\"}");
  expect_messages("x unmatched: {\"a\":1}\nand more",
                  "{\"container\":null,\"runtime\":null,"
                  "\"launcher\":\"x unmatched:\\na: 1\\n\"}");
  expect_messages("x matched: {\"containers\":[1,{\"code\":0,\"name\":\"a\","
                  "\"message\":\"[PAI_RUNTIME_ERROR_START]a: 1"
                  "[PAI_RUNTIME_ERROR_END]\"}]}",
                  "{\"container\":null,\"runtime\":null,\"launcher\":\"x "
                  "matched:\\ncontainers:\\n  - 1\\n  - code: 0\\n    name: "
                  "a\\n    message: '[PAI_RUNTIME_ERROR_START]a: "
                  "1[PAI_RUNTIME_ERROR_END]'\\n\"}");
  expect_messages("x matched: {\"containers\":[{\"code\":9,\"name\":\"a\","
                  "\"message\":\"[PAI_RUNTIME_ERROR_START]name: b"
                  "\\nc: [d][PAI_RUNTIME_ERROR_END]\"}]}",
                  "{\"container\":null,\"runtime\":{\"c\":[\"d\"],"
                  "\"name\":\"a\"},\"launcher\":null}");
  pai__buf_init(&b, &pai__libc_alloc);
  assert_ok(pai__end_summary(&b, "stopped"));
  assert_string_equal(pai__buf_text(&b), "stopped");
  pai__buf_dispose(&b);
  judge(&(pai__end_facts){ .how = PAI__END_NODE_LOST, .why = "restarted" },
        "PodPattern matched: {\"reason\":\"NodeLost\","
        "\"message\":\"restarted\"}");
  judge(&(pai__end_facts){ .how = PAI__END_LOST }, "PodPattern unmatched: {}");
  judge(&(pai__end_facts){ .how = PAI__END_FAILED, .code = 126, .why = "no" },
        "PodPattern matched: {\"containers\":[{\"name\":\"app\","
        "\"reason\":\"ContainerCannotRun\",\"message\":\"no\","
        "\"code\":126}]}");
}

/* What Python would read of a report with everything in it. */
TEST(all_of_a_report)
{
  pai__error_facts f = { .code = 128,
                         .user_code = 139,
                         .ecc = true,
                         .user = tail("a\nb\n"),
                         .platform = tail("c\n"),
                         .in_platform = { true, 0, 1 } };
  pai__buf b = test_buf();

  assert_ok(pai__end_excerpt(&b, &f));
  assert_string_equal(pai__buf_text(&b), "[PAI_RUNTIME_ERROR_START]\n"
                                         "exitCode: 128\n"
                                         "originUserExitCode: 139\n"
                                         "matchedPlatformLogString: c\n"
                                         "matchedGpuInfo:\n"
                                         "  nvidiaDoubleEccError: true\n"
                                         "errorLogs:\n"
                                         "  user: |-\n"
                                         "    a\n"
                                         "    b\n"
                                         "  platform: c\n"
                                         "\n"
                                         "[PAI_RUNTIME_ERROR_END]");
  pai__buf_dispose(&b);
}
