/* What completion codes mean: the exit spec, row by row. */
#include "rows.h"

#include "job/exit.h"
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>

/* A few rows by heart: each class, each sign, the first and the last. */
static void rows_by_heart(void **state)
{
  static const struct {
    int code;
    const char *phrase, *causer, *behavior, *reaction;
  } rows[] = {
    { 0, "Succeeded", "USER_CONTAINER", "UNKNOWN", "NEVER_RETRY" },
    { -8000, "ContainerUndefinedNegativeExitCode", "UNKNOWN", "UNKNOWN",
      "RETRY_TO_MAX" },
    { -210, "StopFrameworkRequested", "USER_STOP", "PERMANENT",
      "NEVER_RETRY" },
    { -1002, "PodScheduledToInsufficientResourceNode", "PAI_K8S", "TRANSIENT",
      "ALWAYS_RETRY" },
    { 137, "ContainerSigKillReceived", "PAI_OS", "TRANSIENT", "ALWAYS_RETRY" },
    { 251, "JobGangAllocationTimeout", "RESOURCE_ALLOCATION_TIMEOUT",
      "TRANSIENT_CONFLICT", "ALWAYS_BACKOFF_RETRY" },
    { 256, "PAIRuntimeExitAbnormally", "PAI_RUNTIME", "UNKNOWN",
      "RETRY_TO_MAX" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const pai__exit *e = pai__exit_find(rows[i].code);

    assert_int_equal(e->code, rows[i].code);
    assert_string_equal(e->phrase, rows[i].phrase);
    assert_string_equal(e->causer, rows[i].causer);
    assert_string_equal(pai__exit_behavior(e), rows[i].behavior);
    assert_string_equal(pai__exit_reaction(e), rows[i].reaction);
  }
}

static void unknown_codes(void **state)
{
  static const int positive[] = { 1, 2, 127, 129, 200, 257, INT32_MAX };
  static const int negative[] = { -1, -999, -1100000, -7999, INT32_MIN };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(positive); i++)
    assert_int_equal(pai__exit_find(positive[i])->code, 256);
  for (size_t i = 0; i < PAI__LEN(negative); i++)
    assert_int_equal(pai__exit_find(negative[i])->code, -8000);
}

/* What nobody has looked into means nothing, but for what the contract has. */
static void classes(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_int_equal(pai__exit_class(rows[i].code, false), rows[i].class);
    assert_int_equal(pai__exit_class(rows[i].code, true), rows[i].raw);
  }
}

/* --- against the reference ------------------------------------------------ */

enum { CELLS = 6 };

/* Cuts "| a | b | ..." into its first cells. */
static bool cut(char *line, char *cells[CELLS])
{
  char *p = line;

  for (int i = 0; i < CELLS; i++) {
    char *end;

    if (*p != '|')
      return false;
    p++;
    end = strchr(p, '|');
    if (end == NULL || end - p < 3 || p[0] != ' ')
      return false;
    cells[i] = p + 1;
    end[-1] = '\0';
    p = end;
    *p = '|';
  }
  return true;
}

static void check_line(char *cells[CELLS], int row)
{
  static const char *const classes_of[] = { "U", "T", "TC", "P" };
  int code = (int)strtol(cells[0], NULL, 10);
  size_t n;
  const pai__exit *e = &pai__exit_rows(&n)[row];
  char both[200];

  assert_true((size_t)row < n);
  assert_int_equal(e->code, code);
  assert_ptr_equal(pai__exit_find(code), e);
  assert_string_equal(e->phrase, cells[1]);
  (void)snprintf(both, sizeof(both), "%s / %s", e->issuer, e->causer);
  assert_string_equal(both, cells[2]);
  assert_string_equal(e->type, cells[3]);
  assert_string_equal(e->stage, cells[4]);
  assert_string_equal(classes_of[e->class], cells[5]);
}

static void every_row_of_the_reference(void **state)
{
  size_t len;
  char *text = test_shared_text("../reference/job-spec.md", &len);
  char *line = text, *end, *cells[CELLS];
  bool there = false;
  int found = 0;

  (void)state;
  if (text == NULL) {
    skip();
    return;
  }
  for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    there |= strncmp(line, "| code | phrase |", 17) == 0;
    if (there && line[0] != '|')
      break;
    if (there && line[2] != 'c' && cut(line, cells))
      check_line(cells, found++);
  }
  pai__strfree(&pai__libc_alloc, text);
  (void)pai__exit_rows(&len);
  assert_int_equal(found, len);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_by_heart),
    cmocka_unit_test(unknown_codes),
    cmocka_unit_test(classes),
    cmocka_unit_test(every_row_of_the_reference),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
