/* What completion codes mean: the exit spec, row by row. */
#include "cases.h"
#include "rows.h"

#include "job/end/exit.h"
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>

TEST(unknown_codes)
{
  static const int positive[] = { 1, 2, 127, 129, 200, 257, INT32_MAX };
  static const int negative[] = { -1, -999, -1100000, -7999, INT32_MIN };

  for (size_t i = 0; i < PAI__LEN(positive); i++)
    assert_int_equal(pai__exit_find(positive[i])->code, 256);
  for (size_t i = 0; i < PAI__LEN(negative); i++)
    assert_int_equal(pai__exit_find(negative[i])->code, -8000);
}

/* What nobody has looked into means nothing, but for what the contract has. */
TEST(classes)
{
  static const struct {
    int code;
    enum pai__exit_class class, raw;
  } rows[] = {
    { 200, PAI__EXIT_TRANSIENT, PAI__EXIT_TRANSIENT },
    { 201, PAI__EXIT_CONFLICT, PAI__EXIT_CONFLICT },
    { 210, PAI__EXIT_PERMANENT, PAI__EXIT_PERMANENT },
    { 1, PAI__EXIT_UNKNOWN, PAI__EXIT_UNKNOWN },
    { 137, PAI__EXIT_TRANSIENT, PAI__EXIT_UNKNOWN },
    { 251, PAI__EXIT_CONFLICT, PAI__EXIT_UNKNOWN },
    { 226, PAI__EXIT_PERMANENT, PAI__EXIT_UNKNOWN },
    { -200, PAI__EXIT_PERMANENT, PAI__EXIT_PERMANENT },
    { -101, PAI__EXIT_TRANSIENT, PAI__EXIT_TRANSIENT },
    { -300, PAI__EXIT_UNKNOWN, PAI__EXIT_UNKNOWN },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_int_equal(pai__exit_class(rows[i].code, false, false),
                     rows[i].class);
    assert_int_equal(pai__exit_class(rows[i].code, true, false), rows[i].raw);
  }
  assert_string_equal(pai__exit_behavior(pai__exit_find(251)),
                      "TRANSIENT_CONFLICT");
  assert_string_equal(pai__exit_reaction(pai__exit_find(251)),
                      "ALWAYS_BACKOFF_RETRY");
}

/* --- against the reference ------------------------------------------------ */

enum { CELLS = 7 };

/* Cuts "| a | b | ... |" into its cells; bars in them are escaped. */
static bool cut(char *line, char *cells[CELLS])
{
  char *p = line;

  for (int i = 0; i < CELLS; i++) {
    char *end = p + 1;

    if (*p != '|')
      return false;
    while (*end != '\0' && (*end != '|' || end[-1] == '\\'))
      end++;
    if (*end == '\0')
      return false;
    cells[i] = p[1] == ' ' ? p + 2 : p + 1;
    p = end;
  }
  for (int i = 0; i < CELLS; i++) {
    char *end = i + 1 < CELLS ? cells[i + 1] - 3 : p - 1;

    *(end < cells[i] ? cells[i] : end) = '\0';
  }
  return true;
}

/* One part of a pattern as the reference writes it. */
static void put(pai__buf *b, const char *before, const char *what,
                const char *text)
{
  if (text == NULL)
    return;
  pai__buf_printf(
    b, "%s%s`", b->len > 0 && b->data[b->len - 1] != ' ' ? before : "", what);
  for (; *text != '\0'; text++)
    pai__buf_printf(b, "%s%c", *text == '|' ? "\\" : "", *text);
  pai__buf_char(b, '`');
}

static void put_exit(pai__buf *b, const char *before, int exit)
{
  if (exit > 0)
    pai__buf_printf(b, "%sexit %d", b->data[b->len - 1] != ' ' ? before : "",
                    exit);
}

static void put_patterns(pai__buf *b, const pai__exit *e)
{
  const pai__exit_pattern *p = e->patterns;

  if (p != NULL)
    pai__buf_str(b, e->code < 0 ? "C: " : "R: ");
  for (; p != NULL && p->exit >= 0; p++) {
    if (p != e->patterns)
      pai__buf_str(b, " ; ");
    put(b, ", ", "pod ", p->pod);
    if (e->code < 0 && p->pod == NULL)
      pai__buf_str(b, "cont. ");
    put(b, ", ", "name ", p->name);
    put(b, ", ", "", p->reason);
    put_exit(b, e->code < 0 ? ", " : " & ", p->exit);
    put(b, ", ", "msg ", p->message);
    put(b, " & ", "user ", p->user);
    put(b, " & ", "plat ", p->platform);
    if (p->ecc)
      pai__buf_str(b, "gpu ECC");
  }
}

static void check_line(char *cells[CELLS])
{
  static const char *const classes_of[] = { "U", "T", "TC", "P" };
  int code = (int)strtol(cells[0], NULL, 10);
  const pai__exit *e = pai__exit_find(code);
  pai__buf b = test_buf();

  assert_int_equal(e->code, code);
  assert_string_equal(e->phrase, cells[1]);
  assert_string_equal(test_string("%s / %s", e->issuer, e->causer), cells[2]);
  assert_string_equal(e->type, cells[3]);
  assert_string_equal(e->stage, cells[4]);
  assert_string_equal(classes_of[e->class], cells[5]);
  put_patterns(&b, e);
  assert_string_equal(pai__buf_text(&b), cells[6]);
  pai__buf_dispose(&b);
}

/* In the same order, but for one that would never come to its turn. */
static void check_order(const int *codes, int n)
{
  int at = 0;

  for (size_t i = 0; i < pai__exit_count; i++) {
    const pai__exit *e = &pai__exit_rows[i];

    if (e->code == -1205) {
      assert_int_equal(e[1].code, -1203);
      continue;
    }
    at += codes[at] == -1205;
    assert_true(at < n);
    assert_int_equal(e->code, codes[at++]);
  }
}

TEST(every_row_of_the_reference)
{
  size_t len;
  char *text = test_shared_text("../reference/job-spec.md", &len);
  char *line = text, *end, *cells[CELLS];
  bool there = false;
  int codes[100] = { 0 }, found = 0;

  if (text == NULL) {
    skip();
    return;
  }
  for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    there |= strncmp(line, "| code | phrase |", 17) == 0;
    if (there && line[0] != '|')
      break;
    if (there && line[2] != 'c' && line[1] == ' ' && cut(line, cells)) {
      codes[found++] = (int)strtol(cells[0], NULL, 10);
      check_line(cells);
    }
  }
  pai__strfree(&pai__libc_alloc, text);
  assert_int_equal(found, pai__exit_count);
  check_order(codes, found);
}

/* --- as JSON ----------------------------------------------------------------- */

static void expect_json(int code, const char *wanted)
{
  pai__json_writer w;
  pai__buf b = test_buf();

  pai__json_writer_init(&w, &b, false);
  pai__exit_write(&w, pai__exit_find(code), code);
  assert_ok(pai__json_finish(&w));
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

TEST(entries_as_json)
{
  expect_json(
    220, "{\"code\":220,\"phrase\":\"UserCommandExitWithError\","
         "\"issuer\":\"USER_CONTAINER\",\"causer\":\"USER_CONTAINER\","
         "\"type\":\"USER_FAILURE\",\"stage\":\"RUNNING\","
         "\"behavior\":\"PERMANENT\",\"reaction\":\"NEVER_RETRY\","
         "\"reason\":\"A command was not found.\",\"solution\":[\"Install the "
         "command in the image or on the machine, or use its full path.\"],"
         "\"pattern\":{\"runtimeContainerPatterns\":[{\"exitCode\":127,"
         "\"userLogRegex\":\"(?i)command not found\"}]}}");
  expect_json(
    -1201,
    "{\"code\":-1201,\"phrase\":\"ContainerDockerCreationError\","
    "\"issuer\":\"PAI_DOCKER\",\"causer\":\"UNKNOWN\","
    "\"type\":\"UNKNOWN_FAILURE\",\"stage\":\"LAUNCHING\","
    "\"behavior\":\"UNKNOWN\",\"reaction\":\"RETRY_TO_MAX\","
    "\"reason\":\"The container could not be created.\",\"solution\":[\"Check "
    "that the image exists and that the job may pull it: dockerimage.uri and "
    "dockerimage.auth.\"],"
    "\"pattern\":{\"controllerPodPatterns\":[{\"containers\":[{"
    "\"reasonRegex\":\"(?i)^ContainerCannotRun$\",\"exitCode\":125}]}]}}");
  expect_json(0, "{\"code\":0,\"phrase\":\"Succeeded\","
                 "\"issuer\":\"USER_CONTAINER\","
                 "\"causer\":\"USER_CONTAINER\",\"type\":\"USER_SUCCESS\","
                 "\"stage\":\"COMPLETING\",\"behavior\":\"UNKNOWN\","
                 "\"reaction\":\"NEVER_RETRY\","
                 "\"reason\":\"The command exited with code 0.\"}");
  /* Codes that are in no row keep their number (rest-api 10). */
  expect_json(
    -5, "{\"code\":-5,"
        "\"phrase\":\"ContainerUndefinedNegativeExitCode\","
        "\"issuer\":\"UNKNOWN\",\"causer\":\"UNKNOWN\","
        "\"type\":\"UNKNOWN_FAILURE\",\"stage\":\"UNKNOWN\","
        "\"behavior\":\"UNKNOWN\",\"reaction\":\"RETRY_TO_MAX\","
        "\"reason\":\"The platform ended the task with an unknown "
        "code.\",\"solution\":[\"Report the message to an administrator.\"]}");
}

TEST(every_entry_is_json)
{
  for (size_t i = 0; i < pai__exit_count; i++) {
    pai__json_writer w;
    pai__buf b = test_buf();

    pai__json_writer_init(&w, &b, false);
    pai__exit_write(&w, &pai__exit_rows[i], pai__exit_rows[i].code);
    assert_ok(pai__json_finish(&w));
    assert_true(pai__exit_rows[i].why[0] != '\0');
    assert_int_equal(strstr(b.data, "controllerPodPatterns") != NULL,
                     pai__exit_rows[i].patterns != NULL &&
                       pai__exit_rows[i].code < 0);
    assert_int_equal(strstr(b.data, "runtimeContainerPatterns") != NULL,
                     pai__exit_rows[i].patterns != NULL &&
                       pai__exit_rows[i].code > 0);
    pai__buf_dispose(&b);
  }
}
