/* From how a task ended to its code, and to what people are told of it. */
#include "testing.h"

#include "job/end.h"
#include "job/exit.h"
#include "json/json.h"
#include "yaml/yaml.h"

#include <stdlib.h>

static pai__log_tail tail(const char *text)
{
  return (pai__log_tail){ text, text != NULL ? strlen(text) : 0 };
}

static int judge(const pai__end_facts *facts)
{
  pai__buf b;
  int code;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__end_judge(&code, &b, facts), PAI_OK);
  assert_int_equal(b.len == 0, code == 0);
  pai__buf_dispose(&b);
  return code;
}

/* --- codes ---------------------------------------------------------------------- */

static void codes(void **state)
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
    { PAI__END_EXITED, 1, false, "", "", 255 },
    { PAI__END_EXITED, 1, false, NULL, NULL, 255 },
    { PAI__END_EXITED, 77, false, "all is well", "", 255 },
    { PAI__END_EXITED, 200, false, "", "", 255 }, /* they are containers' */
    { PAI__END_EXITED, 255, false, "", "", 255 },
    { PAI__END_EXITED, 1, true, "", "", 128 },
    { PAI__END_EXITED, 137, true, "", "", 128 }, /* it is the first */
    { PAI__END_EXITED, 130, false, "", "", 130 },
    { PAI__END_EXITED, 131, false, "", "", 131 },
    { PAI__END_EXITED, 132, false, "", "", 132 },
    { PAI__END_EXITED, 133, false, "", "", 255 },
    { PAI__END_EXITED, 134, false, "", "", 134 },
    { PAI__END_EXITED, 135, false, "", "", 135 },
    { PAI__END_EXITED, 136, false, "", "", 136 },
    { PAI__END_EXITED, 137, false, "", "", 137 },
    { PAI__END_EXITED, 139, false, "Segmentation fault", "", 139 },
    { PAI__END_EXITED, 141, false, "", "", 141 },
    { PAI__END_EXITED, 143, false, "", "", 143 },
    { PAI__END_EXITED, 127, false, "x: command not found", "", 220 },
    { PAI__END_EXITED, 1, false, "x: command not found", "", 255 },
    { PAI__END_EXITED, 127, false, "", "", 255 },
    { PAI__END_EXITED, 1, false, "tensorflow ResourceExhaustedError OOM", "",
      221 },
    { PAI__END_EXITED, 1, false, "Signal code: Address not mapped", "", 222 },
    { PAI__END_EXITED, 1, false, "CUDA_ERROR_ECC_UNCORRECTABLE", "", 223 },
    { PAI__END_EXITED, 1, false,
      "CUDA driver version is insufficient for CUDA runtime version", "",
      224 },
    { PAI__END_EXITED, 1, false, "dropout supported only in cudnn v5", "",
      225 },
    { PAI__END_EXITED, 1, false, "cuda runtime error 2 : out of memory", "",
      226 },
    { PAI__END_EXITED, 1, false, "unknown option", "", 228 },
    { PAI__END_EXITED, 1, false, "UnicodeDecodeError", "", 229 },
    { PAI__END_EXITED, 1, false,
      "ValueError: Restore called with invalid "
      "save path",
      "", 230 },
    { PAI__END_EXITED, 1, false, "SyntaxError: invalid syntax", "", 231 },
    { PAI__END_EXITED, 1, false, "ImportError: x", "", 232 },
    { PAI__END_EXITED, 1, false, "IndexError: list index out of range", "",
      233 },
    { PAI__END_EXITED, 1, false, "segmentation fault", "", 234 },
    { PAI__END_EXITED, 1, false, "core dumped", "", 235 },
    { PAI__END_EXITED, 1, false, "ImportError: x\nSyntaxError: invalid syntax",
      "", 231 }, /* by the order of the spec, not of the log */
    { PAI__END_EXITED, 10, false, "", "SSH barrier reaches max retry count",
      249 },
    { PAI__END_EXITED, 10, false, "SSH barrier reaches max retry count", "",
      255 },
    { PAI__END_EXITED, 11, false, "", "SSH barrier reaches max retry count",
      255 },
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts f = { .how = rows[i].how,
                         .code = rows[i].code,
                         .ecc = rows[i].ecc,
                         .user = tail(rows[i].user),
                         .runtime = tail(rows[i].runtime) };
    int code = judge(&f);

    if (code != rows[i].wanted)
      fail_msg("row %zu: %d, not %d", i, code, rows[i].wanted);
  }
}

/* What Docker says of a container that it could not start. */
static void what_could_not_be_started(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(judge(&(pai__end_facts){ .how = PAI__END_FAILED,
                                              .code = 128,
                                              .why = rows[i].why }),
                     rows[i].wanted);
}

/* The same from a back end's own words. */
static void what_a_back_end_tells(void **state)
{
  static const struct {
    int how, code, oom, wanted;
  } rows[] = {
    { PAI_END_EXIT, 0, 0, 0 },
    { PAI_END_EXIT, 1, 0, 232 },
    { PAI_END_SIGNAL, 139, 0, 139 },
    { PAI_END_SIGNAL, 137, 1, -1200 },
    { PAI_END_EXIT, 0, 1, -1200 },
    { PAI_END_LOST, PAI_CODE_LOST, 0, 256 },
    { PAI_END_FAILED, 126, 0, -1202 },
    { PAI_END_FAILED, 127, 0, -1203 },
    { PAI_END_SIGNAL, 137, 2, 137 }, /* nobody knows who killed it */
    { 77, 0, 0, 256 },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_task_end end = { .struct_size = sizeof(end),
                         .how = rows[i].how,
                         .code = rows[i].code,
                         .oom = rows[i].oom,
                         .log = "ImportError: x",
                         .log_len = 14,
                         .runtime = "",
                         .text = "" };
    pai__end_facts f = pai__end_told(&end);

    assert_int_equal(judge(&f), rows[i].wanted);
  }
}

/* Of what the platform ended itself a back end says Kubernetes' reason. */
static void ends_by_the_platform(void **state)
{
  static const struct {
    const char *reason;
    int code;
  } rows[] = { { "Evicted", -1000 },
               { "NodeLost", -1001 },
               { "Preempting", -1003 },
               { "DeadlineExceeded", -1004 },
               { "Unheard", 256 } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_task_end end = { .struct_size = sizeof(end),
                         .how = PAI_END_PLATFORM,
                         .code = 137,
                         .log = "",
                         .runtime = "",
                         .text = rows[i].reason };
    pai__end_facts f = pai__end_told(&end);

    assert_int_equal(judge(&f), rows[i].code);
  }
}

/* --- excerpts ------------------------------------------------------------------- */

/* The text that is left for the user's log, or the platform's. */
static void expect_excerpt(const pai__error_facts *f, const char *key,
                           const char *wanted)
{
  pai__tree *t;
  pai__node n;
  pai__buf b;
  const char *text;
  size_t len;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__end_excerpt(&b, f), PAI_OK);
  text = pai__buf_text(&b);
  assert_int_equal(strncmp(text, PAI__ERROR_START "\n", 26), 0);
  assert_string_equal(text + b.len - 24, "\n" PAI__ERROR_END);
  len = b.len - 26 - 24;
  assert_true(len <= 4048);
  assert_int_equal(pai__yaml_parse(&t, text + 26, len, NULL, NULL), PAI_OK);
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
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = first; i <= last; i++)
    pai__buf_printf(&b, "%d\n", i);
  return pai__buf_take(&b);
}

static void the_last_lines_are_shown(void **state)
{
  char *text = lines(1, 30);
  pai__error_facts f = {
    .code = 255, .user_code = 1, .user = tail(text), .platform = tail(text)
  };

  (void)state;
  expect_excerpt(&f, "user",
                 "16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30");
  expect_excerpt(&f, "platform", "21\n22\n23\n24\n25\n26\n27\n28\n29\n30");
  f.user = tail("one\r\ntwo\rtwo\r\n\r\n");
  f.platform = tail("");
  expect_excerpt(&f, "user", "one\ntwo\rtwo");
  expect_excerpt(&f, "platform", NULL);
  f.user = tail(NULL);
  expect_excerpt(&f, "errorLogs", NULL);
  free(text);
}

static void what_was_found_is_shown_with_its_surroundings(void **state)
{
  char *text = lines(10, 60); /* each of three bytes */
  pai__error_facts f = { .code = 220, .user_code = 127, .user = tail(text) };

  (void)state;
  f.in_user = (pai__log_match){ true, 30, 32 }; /* "20" */
  expect_excerpt(&f, "matchedUserLogString", "20");
  expect_excerpt(&f, "user",
                 "18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30");
  f.in_user = (pai__log_match){ true, 144, 146 }; /* "58": little follows */
  expect_excerpt(&f, "user",
                 "48\n49\n50\n51\n52\n53\n54\n55\n56\n57\n58\n59\n60");
  f.in_user = (pai__log_match){ true, 0, 2 };
  expect_excerpt(&f, "user",
                 "10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22");
  f.in_user = (pai__log_match){ true, 0, 89 }; /* longer than may be shown */
  expect_excerpt(&f, "user",
                 "25\n26\n27\n28\n29\n30\n31\n32\n33\n34\n35\n36\n37\n38\n39");
  free(text);
}

static void too_much_is_cut_in_its_order(void **state)
{
  char *text = malloc(9001);
  pai__error_facts f = { .code = 255, .user_code = 1 };
  pai__buf b;

  (void)state;
  assert_non_null(text);
  memset(text, 'u', 9000);
  text[9000] = '\0';
  /* The platform's log goes first, in front. */
  f.user = (pai__log_tail){ text, 2000 };
  f.platform = (pai__log_tail){ text, 4000 };
  pai__buf_init(&b, &pai__libc_alloc);
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
static void what_was_found_is_cut_last(void **state)
{
  enum { LINE = 701, LINES = 9 };
  static char text[LINE * LINES];

  (void)state;
  for (int at = 0; at < LINES; at++) {
    pai__error_facts f = { .user = { text, sizeof(text) } };
    pai__buf b;

    memset(text, 'x', sizeof(text));
    for (int i = 1; i <= LINES; i++)
      text[i * LINE - 1] = '\n';
    memcpy(text + at * LINE + 300, "NEEDLE", 6);
    f.in_user.found = true;
    f.in_user.start = (size_t)at * LINE + 300;
    f.in_user.end = f.in_user.start + 6;
    pai__buf_init(&b, &pai__libc_alloc);
    assert_int_equal(pai__end_excerpt(&b, &f), PAI_OK);
    assert_non_null(strstr(b.data, "matchedUserLogString: NEEDLE"));
    assert_non_null(strstr(strstr(b.data, "errorLogs"), "xNEEDLEx"));
    assert_in_range(b.len, 4096 - 100, 4096 + 2);
    pai__buf_dispose(&b);
  }
}

/* Any text, anywhere found: the YAML can be read and is not too long. */
static void any_text_fits(void **state)
{
  static const char *const bits[] = { "a",    "\n",       "\r\n", "\xc3\xa9",
                                      "\xff", "\"",       "'",    ": ",
                                      "\t",   "#",        "--- ", "\x01",
                                      " ",    "\xe2\x82", "-" };
  unsigned seed = 1;
  char *text = malloc(16384);

  (void)state;
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

static int texts_body(const pai_alloc *alloc, void *user_data)
{
  pai__end_facts f = { .how = PAI__END_EXITED,
                       .code = 127,
                       .user = tail(log_text) };
  pai__buf diagnostics, summary, messages;
  pai__json_writer w;
  int code, rc;

  (void)user_data;
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

static void a_failed_command_is_told_of(void **state)
{
  (void)state;
  test_faults(texts_body, NULL);
}

/* Where nobody knows more, what the command ended with. */
static void the_code_that_is_told(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__end_facts f = { .how = rows[i].how,
                         .code = rows[i].code,
                         .user = tail(rows[i].user) };
    pai__buf b;
    int code;

    pai__buf_init(&b, &pai__libc_alloc);
    assert_int_equal(pai__end_judge(&code, &b, &f), PAI_OK);
    assert_int_equal(code, rows[i].judged);
    assert_int_equal(pai__told_code(code, pai__end_user_code(&f)),
                     rows[i].told);
    assert_int_equal(pai__told_code(code, 0), code);
    pai__buf_dispose(&b);
  }
}

static void expect_messages(const char *diagnostics, const char *wanted)
{
  pai__json_writer w;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__json_writer_init(&w, &b, false);
  assert_int_equal(pai__end_messages(&w, diagnostics), PAI_OK);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

static void expect_diagnostics(pai__end_facts f, const char *wanted)
{
  pai__buf b;
  int code;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__end_judge(&code, &b, &f), PAI_OK);
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

/* Diagnostics of all sorts, also others'. */
static void texts_without_a_report(void **state)
{
  pai__buf b;

  (void)state;
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
  assert_int_equal(pai__end_summary(&b, "stopped"), PAI_OK);
  assert_string_equal(pai__buf_text(&b), "stopped");
  pai__buf_dispose(&b);
  expect_diagnostics(
    (pai__end_facts){ .how = PAI__END_NODE_LOST, .why = "restarted" },
    "PodPattern matched: {\"reason\":\"NodeLost\","
    "\"message\":\"restarted\"}");
  expect_diagnostics((pai__end_facts){ .how = PAI__END_LOST },
                     "PodPattern unmatched: {}");
  expect_diagnostics(
    (pai__end_facts){ .how = PAI__END_FAILED, .code = 126, .why = "no" },
    "PodPattern matched: {\"containers\":[{\"name\":\"app\","
    "\"reason\":\"ContainerCannotRun\",\"message\":\"no\","
    "\"code\":126}]}");
}

/* What Python would read of a report with everything in it. */
static void all_of_a_report(void **state)
{
  pai__error_facts f = { .code = 128,
                         .user_code = 139,
                         .ecc = true,
                         .user = tail("a\nb\n"),
                         .platform = tail("c\n"),
                         .in_platform = { true, 0, 1 } };
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai__end_excerpt(&b, &f), PAI_OK);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(codes),
    cmocka_unit_test(ends_by_the_platform),
    cmocka_unit_test(what_could_not_be_started),
    cmocka_unit_test(what_a_back_end_tells),
    cmocka_unit_test(the_last_lines_are_shown),
    cmocka_unit_test(what_was_found_is_shown_with_its_surroundings),
    cmocka_unit_test(too_much_is_cut_in_its_order),
    cmocka_unit_test(what_was_found_is_cut_last),
    cmocka_unit_test(any_text_fits),
    cmocka_unit_test(a_failed_command_is_told_of),
    cmocka_unit_test(the_code_that_is_told),
    cmocka_unit_test(texts_without_a_report),
    cmocka_unit_test(all_of_a_report),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
