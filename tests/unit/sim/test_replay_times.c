/* From when to when a log goes, what is none, and times as people write them. */
#include "busy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define MAY INT64_C(1777593600000000) /* 2026-05-01 */

/* --- ranges --------------------------------------------------------------- */

static void the_range_is_told(void **state)
{
  pai__buf log;
  pai_replay *r;
  pai_error *err;
  pai_time begin, end;

  (void)state;
  busy_log(&log, "fifo", 20, MAY, 0);
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(begin, MAY);
  assert_int_equal(end, MAY + 20 * SECOND);
  assert_int_equal(pai_replay_to(r, MAY - 1, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err), "it goes from 2026-05-01 00:00:00 "
                                           "to 2026-05-01 00:00:20");
  test_expect_error(err, PAI_ENOTFOUND, "before the beginning");
  assert_null(pai_replay_sched(r));
  assert_int_equal(pai_replay_to(r, MAY + 20 * SECOND + 1, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "behind the end");
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

/* Somebody is writing it. */
static void a_line_that_is_cut_off_does_not_count(void **state)
{
  pai__buf log;
  pai_replay *r;
  pai_time begin, end;
  pai_error *err = NULL;
  int rc;

  (void)state;
  busy_log(&log, "fifo", 20, 0, 0);
  pai__buf_str(&log, "{\"time\":99000000,\"event\":\"ti");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(end, 20 * SECOND);
  assert_int_equal(pai_replay_to(r, end, NULL), PAI_OK);
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  while ((rc = pai_replay_step(r, &err)) == 1)
    ;
  test_expect_error(err, rc, "");
  pai_replay_free(r);
  log.len -= 10; /* it is whole but for its newline */
  pai__buf_str(&log, "\":0}");
  log.len = (size_t)(strstr(log.data, "{\"time\":99") - log.data);
  pai__buf_str(&log, "{\"time\":99000000,\"event\":\"time\"}");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(end, 99 * SECOND);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static const struct {
  const char *text, *part;
  uint32_t line;
} no_logs[] = {
  { "", "is empty", 0 },
  { "\n\n", "is empty", 0 },
  { "{\"time\":1,\"event\":\"time\"}\n", "no snapshot", 1 },
  { "\n[]\n", "no line of a scheduler's log", 2 },
  { "\n\n{\"snapshot\":1}\n", "no line of a scheduler's log", 3 },
  { "{\"snapshot\":1,\"time\":0.5}", "has no time", 1 },
  { "{\"snapshot\"", "", 1 },
};

static void what_is_no_log_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(no_logs); i++) {
    pai__buf log;
    pai_replay *r;
    pai_time begin = 1, end = 1;
    pai_error *err = NULL;

    pai__buf_init(&log, &pai__libc_alloc);
    pai__buf_str(&log, no_logs[i].text);
    r = busy_open(&log, NULL);
    assert_int_equal(pai_replay_range(r, &begin, &end, &err), PAI_EINVAL);
    assert_int_equal(pai_error_line(err), no_logs[i].line);
    test_expect_error(err, PAI_EINVAL, no_logs[i].part);
    assert_int_equal(begin, 0);
    assert_int_equal(pai_replay_to(r, 0, NULL), PAI_EINVAL);
    assert_int_equal(pai_replay_step_until(r, 0, NULL), PAI_EINVAL);
    pai_replay_free(r);
    pai__buf_dispose(&log);
  }
}

static ptrdiff_t never(void *data, uint64_t offset, char *buffer, size_t size)
{
  (void)offset;
  (void)buffer;
  (void)size;
  return *(ptrdiff_t *)data;
}

static void what_cannot_be_read_is_told(void **state)
{
  static const struct {
    ptrdiff_t answer;
    int code;
  } answers[] = { { PAI_EPERM, PAI_EPERM },
                  { 0, PAI_EIO },
                  { 1 << 20, PAI_EIO } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    ptrdiff_t answer = answers[i].answer;
    pai_replay *r;
    pai_error *err;

    assert_int_equal(pai_replay_new(&r, never, &answer, 100, NULL, NULL),
                     PAI_OK);
    assert_int_equal(pai_replay_step(r, &err), answers[i].code);
    test_expect_error(err, answers[i].code, "cannot be read at byte 0");
    pai_replay_free(r);
  }
}

static void files_are_read(void **state)
{
  char path[] = "/tmp/pai-replay-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
  pai__buf log;
  pai_replay *r;
  pai_error *err;

  (void)state;
  assert_non_null(f);
  busy_log(&log, "fifo", 20, 0, 1000);
  assert_int_equal(fwrite(log.data, 1, log.len, f), log.len);
  (void)fclose(f);
  assert_int_equal(pai_replay_open(&r, path, NULL, NULL), PAI_OK);
  assert_int_equal(pai_replay_to(r, 10 * SECOND, NULL), PAI_OK);
  assert_int_equal(scene_now(pai_replay_sched(r)), 10 * SECOND);
  pai_replay_free(r);
  (void)remove(path);
  assert_int_equal(pai_replay_open(&r, path, NULL, &err), PAI_ENOTFOUND);
  assert_null(r);
  test_expect_error(err, PAI_ENOTFOUND, "cannot read /tmp/pai-replay");
  assert_int_equal(pai_replay_open(&r, "/", NULL, &err), PAI_EIO);
  test_expect_error(err, PAI_EIO, "cannot read /");
  pai__buf_dispose(&log);
}

/* --- times ---------------------------------------------------------------- */

static const struct {
  const char *text;
  pai_time time; /* -1: it is none */
} times[] = {
  { "2026-05-01", MAY },
  { "2026-05-01 14:05", MAY + (14 * 60 + 5) * 60 * SECOND },
  { "2026-05-01 14:05:06", MAY + ((14 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01T14:05:06Z", MAY + ((14 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01T14:05:06.25Z",
    MAY + ((14 * 60 + 5) * 60 + 6) * SECOND + SECOND / 4 },
  { "2026-05-01T14:05:06+02:00", MAY + ((12 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01 14:05 +0200", MAY + (12 * 60 + 5) * 60 * SECOND },
  { "2026-05-01 14:05-01", MAY + (15 * 60 + 5) * 60 * SECOND },
  { "1970-01-01", 0 },
  { "2024-02-29", INT64_C(1709164800) * SECOND },
  { "2000-02-29", INT64_C(951782400) * SECOND },
  { "@12", 12 * SECOND },
  { "@12.5", 12 * SECOND + SECOND / 2 },
  { "@-3.000001", -3 * SECOND - 1 },
  { "+2h", MAY + 7200 * SECOND },
  { "+1d12h", MAY + 129600 * SECOND },
  { "+1.5h", MAY + 5400 * SECOND },
  { "+90", MAY + 90 * SECOND },
  { "-30s", MAY - 10 * SECOND },
  { "-0", MAY + 20 * SECOND },
  { "begin", MAY },
  { "end", MAY + 20 * SECOND },
  { "", -1 },
  { "2026-05", -1 },
  { "2026-13-01", -1 },
  { "2026-00-01", -1 },
  { "2026-02-29", -1 },
  { "2100-02-29", -1 },
  { "2026-04-31", -1 },
  { "2026-05-01 24:00", -1 },
  { "2026-05-01 14:60", -1 },
  { "2026-05-01 14", -1 },
  { "2026-05-01 14:05:6", -1 },
  { "2026-05-01 14:05:066", -1 },
  { "2026-05-01 14:05:61", -1 },
  { "2026-05-01 14:05 +25:00", -1 },
  { "2026-05-01 14:05 CET", -1 },
  { "2026-05-01x", -1 },
  { "@", -1 },
  { "@12.", -1 },
  { "@12s", -1 },
  { "+", -1 },
  { "+2y", -1 },
  { "+99999999999999999999h", -1 },
  { "+999999999999w", -1 },
  { "now", -1 },
};

static void times_are_read(void **state)
{
  pai__buf log;
  pai_replay *r;

  (void)state;
  busy_log(&log, "fifo", 20, MAY, 0);
  r = busy_open(&log, NULL);
  for (size_t i = 0; i < PAI__LEN(times); i++) {
    pai_error *err = NULL;
    pai_time time = 7;
    int rc = pai_replay_time(r, times[i].text, &time, &err);

    if (times[i].time != -1) {
      if (rc != PAI_OK || time != times[i].time)
        fail_msg("'%s' is %" PRId64, times[i].text, time);
      continue;
    }
    if (rc != PAI_EINVAL || time != 0)
      fail_msg("'%s' was read: %" PRId64, times[i].text, time);
    test_expect_error(err, PAI_EINVAL, "is no time");
  }
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void times_are_shown_as_they_are_read(void **state)
{
  static const pai_time list[] = { 0,
                                   INT64_C(951782400) * SECOND,
                                   INT64_C(1709164800) * SECOND,
                                   INT64_C(4102444799) * SECOND,
                                   -86400 * SECOND,
                                   -1 * SECOND };
  pai__buf logs[2];

  (void)state;
  busy_log(&logs[0], "fifo", 5, MAY, 0);
  busy_log(&logs[1], "fifo", 5, 0, 0);
  for (int k = 0; k < 2; k++) {
    pai_replay *r = busy_open(&logs[k], NULL);
    char text[PAI_REPLAY_TIME];

    for (size_t i = 0; i < PAI__LEN(list); i++) {
      pai_time back;

      (void)pai_replay_show_time(r, list[i], text);
      assert_int_equal(pai_replay_time(r, text, &back, NULL), PAI_OK);
      assert_int_equal(back, list[i]);
    }
    assert_string_equal(pai_replay_show_time(r, 3 * SECOND + 1, text),
                        k == 0 ? "1970-01-01 00:00:03" : "@3.000001");
    (void)pai_replay_show_time(r, INT64_MIN, text);
    (void)pai_replay_show_time(r, INT64_MAX, text);
    pai_replay_free(r);
    pai__buf_dispose(&logs[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_range_is_told),
    cmocka_unit_test(a_line_that_is_cut_off_does_not_count),
    cmocka_unit_test(what_is_no_log_is_told),
    cmocka_unit_test(what_cannot_be_read_is_told),
    cmocka_unit_test(files_are_read),
    cmocka_unit_test(times_are_read),
    cmocka_unit_test(times_are_shown_as_they_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
