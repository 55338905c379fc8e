/* Logs that are read again, from any time on; from when to when one goes, what is
 * none, and times as people write them. */
#include "cases.h"
#include "busy.h"

#include "base/prng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define MAY INT64_C(1777593600000000) /* 2026-05-01 */

/* --- any time ------------------------------------------------------------- */

/* What reading from the beginning gives, second by second. */
static void states(const pai__buf *log, pai__buf *list, int n, pai_time begin)
{
  pai_replay *r = busy_open(log, NULL);
  int rc = pai_replay_step(r, NULL);

  for (int i = 0; i < n; i++) {
    while (rc == 1 && scene_now(pai_replay_sched(r)) <= begin + i * SECOND) {
      if (list[i].len != 0)
        pai__buf_dispose(&list[i]);
      scribe_save(pai_replay_sched(r), &list[i]);
      rc = pai_replay_step(r, NULL);
    }
  }
}

static void is_at(pai_replay *r, pai_time time, const pai__buf *expected)
{
  pai__buf got;

  assert_ok(pai_replay_to(r, time, NULL));
  scribe_save(pai_replay_sched(r), &got);
  scribe_same(expected, &got);
  pai__buf_dispose(&got);
}

static void check_any_time(const char *policy, uint64_t every, pai_time begin)
{
  enum { N = 1000, JUMPS = 150 };
  pai__buf *list = calloc(N + 1, sizeof(*list)), *log;
  pai__prng random = { 3 };
  pai_replay *r;

  assert_non_null(list);
  log = busy_log(policy, N, begin, every);
  assert_true(log->len > 250000);
  states(log, list, N + 1, begin);
  r = busy_open(log, NULL);
  for (int i = 0; i < JUMPS; i++) {
    int to = (int)pai__prng_below(&random, N);

    if (i % 50 == 49)
      r = busy_open(log, NULL);
    is_at(r, begin + to * SECOND, &list[to]);
    is_at(r, begin + to * SECOND + SECOND / 2, &list[to]);
  }
  is_at(r, begin, &list[0]);
  is_at(r, begin + N * SECOND, &list[N]);
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  for (int i = 0; i <= N; i++)
    pai__buf_dispose(&list[i]);
  free(list);
}

TEST(any_time_is_as_if_read_from_the_beginning)
{
  static const char *const policies[] = { "fifo",     "backfill", "priority",
                                          "capacity", "fair",     "k8s",
                                          "hived" };

  for (size_t i = 0; i < PAI__LEN(policies); i++)
    check_any_time(policies[i], 3000, MAY);
  check_any_time("priority", 0, 0);
}

static int bytes;

static ptrdiff_t counted_read(void *log, uint64_t offset, char *buffer,
                              size_t size)
{
  bytes += (int)size;
  return busy_read(log, offset, buffer, size);
}

TEST(little_is_read_for_it)
{
  pai__buf *log = busy_log("fifo", 5000, 0, 1);
  pai_replay *r;

  assert_true(log->len > 1500000);
  bytes = 0;
  assert_ok(pai_replay_new(&r, counted_read, log, log->len, NULL, NULL));
  assert_ok(pai_replay_to(r, 3456 * SECOND, NULL));
  assert_true((size_t)bytes < log->len / 2);
  pai_replay_free(r);
}

static int soon(void *user_data)
{
  int *left = user_data;

  return --*left < 0;
}

/* Where it came to it stands, and goes on from there. */
TEST(a_replay_is_given_up)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_replay *r;
  pai__buf *log = busy_log("fifo", 200, MAY, 0);
  uint64_t line;
  int left = 3;

  o.stop = soon;
  o.stop_data = &left;
  r = busy_open(log, &o);
  assert_fails(pai_replay_to(r, MAY + 190 * SECOND, &err), err, PAI_ECANCELED,
               "the replay was stopped");
  line = pai_replay_line(r);
  assert_in_range(line, 16, 100);
  left = 1000;
  assert_ok(pai_replay_to(r, MAY + 190 * SECOND, NULL));
  assert_true(pai_replay_line(r) > line);
}

TEST(line_numbers_are_those_of_the_log)
{
  pai__buf *log = busy_log("fifo", 100, 0, 1000);
  pai_replay *r;
  uint64_t n;

  pai__buf_str(log, "\n\n{\"time\":200000000,\"event\":\"tim\"}\n");
  r = busy_open(log, NULL);
  assert_int_equal(pai_replay_line(r), 0);
  assert_ok(pai_replay_to(r, 99 * SECOND, NULL));
  n = pai_replay_line(r);
  assert_memory_equal(busy_line(log, (int)n + 1), "{\"time\":100000000,", 18);
  assert_int_equal(pai_replay_step(r, NULL), 1);
  assert_int_equal(pai_replay_line(r), n + 1);
  for (pai_error *err = NULL;;) {
    int rc = pai_replay_step(r, &err);

    if (rc == 1)
      continue;
    assert_int_equal(pai_error_line(err), pai_replay_line(r) + 1);
    assert_int_equal(pai_error_column(err), 27);
    assert_string_equal(pai_error_pointer(err), "/event");
    test_expect_error(err, PAI_EINVAL, "cannot be \"tim\"");
    break;
  }
}

TEST(another_policy_decides)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai__buf *log, *decisions, *saved;
  pai_error *err;
  pai_replay *r;
  int rc;

  log = busy_log("priority", 200, 0, 1000);
  o.policy = "fifo";
  r = busy_open(log, &o);
  while ((rc = pai_replay_step(r, NULL)) == 1)
    ;
  assert_int_equal(rc, 0);
  assert_true(pai_replay_skipped(r) > 0);
  saved = busy_save(pai_replay_sched(r));
  assert_has(pai__buf_text(saved), "\"name\":\"fifo\"");
  assert_ok(pai_replay_to(r, 50 * SECOND, NULL));
  assert_ok(pai_replay_to(r, 200 * SECOND, NULL));
  decisions = busy_text();
  assert_ok(
    pai_sched_save(pai_replay_sched(r), scribe_write, decisions, NULL));
  scribe_same(saved, decisions);
  o.policy = "best";
  r = busy_open(log, &o);
  assert_int_equal(pai_replay_step(r, &err), PAI_ENOTFOUND);
  assert_int_equal(pai_error_line(err), 1);
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'best'");
}

/* --- the rest ------------------------------------------------------------- */

TEST(a_broken_contract_is_told)
{
  pai_replay_options o = { .struct_size = 4 };
  pai_replay *r;
  pai_time t;

  assert_int_equal(pai_replay_new(&r, NULL, NULL, 0, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_new(NULL, busy_read, NULL, 0, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_replay_new(&r, busy_read, NULL, 0, &o, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_replay_open(&r, NULL, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_open(&r, "x", &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_step(NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_to(NULL, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_range(NULL, &t, &t, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_time(NULL, "x", &t, NULL), PAI_EINVAL);
  assert_null(pai_replay_sched(NULL));
  assert_int_equal(pai_replay_decisions(NULL), 0);
  assert_int_equal(pai_replay_skipped(NULL), 0);
  assert_int_equal(pai_replay_line(NULL), 0);
  pai_replay_free(NULL);
}

/* --- ranges --------------------------------------------------------------- */

TEST(the_range_is_told)
{
  pai__buf *log = busy_log("fifo", 20, MAY, 0);
  pai_replay *r = busy_open(log, NULL);
  pai_error *err;
  pai_time begin, end;

  assert_ok(pai_replay_range(r, &begin, &end, NULL));
  assert_int_equal(begin, MAY);
  assert_int_equal(end, MAY + 20 * SECOND);
  assert_int_equal(pai_replay_to(r, MAY - 1, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err),
                      "the log covers 2026-05-01 00:00:00 "
                      "to 2026-05-01 00:00:20");
  test_expect_error(err, PAI_ENOTFOUND, "before the beginning");
  assert_null(pai_replay_sched(r));
  assert_fails(pai_replay_to(r, MAY + 20 * SECOND + 1, &err), err,
               PAI_ENOTFOUND, "after the end");
}

/* Somebody is writing it. */
TEST(a_line_that_is_cut_off_does_not_count)
{
  pai__buf *log = busy_log("fifo", 20, 0, 0);
  pai_replay *r;
  pai_time begin, end;
  pai_error *err = NULL;
  int rc;

  pai__buf_str(log, "{\"time\":99000000,\"event\":\"ti");
  r = busy_open(log, NULL);
  assert_ok(pai_replay_range(r, &begin, &end, NULL));
  assert_int_equal(end, 20 * SECOND);
  assert_ok(pai_replay_to(r, end, NULL));
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  while ((rc = pai_replay_step(r, &err)) == 1)
    ;
  test_expect_error(err, rc, "");
  log->len -= 10; /* it is whole but for its newline */
  pai__buf_str(log, "\":0}");
  log->len = (size_t)(strstr(log->data, "{\"time\":99") - log->data);
  pai__buf_str(log, "{\"time\":99000000,\"event\":\"time\"}");
  r = busy_open(log, NULL);
  assert_ok(pai_replay_range(r, &begin, &end, NULL));
  assert_int_equal(end, 99 * SECOND);
}

static const struct {
  const char *text, *part;
  uint32_t line;
} no_logs[] = {
  { "", "is empty", 0 },
  { "\n\n", "is empty", 0 },
  { "{\"time\":1,\"event\":\"time\"}\n", "must begin with a snapshot", 1 },
  { "\n[]\n", "not a line of a scheduler log", 2 },
  { "\n\n{\"snapshot\":1}\n", "not a line of a scheduler log", 3 },
  { "{\"snapshot\":1,\"time\":0.5}", "has no time", 1 },
  { "{\"snapshot\"", "", 1 },
};

TEST(what_is_no_log_is_told)
{
  for (size_t i = 0; i < PAI__LEN(no_logs); i++) {
    pai__buf *log;
    pai_replay *r;
    pai_time begin = 1, end = 1;
    pai_error *err = NULL;

    log = busy_text();
    pai__buf_str(log, no_logs[i].text);
    r = busy_open(log, NULL);
    assert_int_equal(pai_replay_range(r, &begin, &end, &err), PAI_EINVAL);
    assert_int_equal(pai_error_line(err), no_logs[i].line);
    test_expect_error(err, PAI_EINVAL, no_logs[i].part);
    assert_int_equal(begin, 0);
    assert_int_equal(pai_replay_to(r, 0, NULL), PAI_EINVAL);
    assert_int_equal(pai_replay_step_until(r, 0, NULL), PAI_EINVAL);
  }
}

static ptrdiff_t never(void *data, uint64_t offset, char *buffer, size_t size)
{
  (void)offset;
  (void)buffer;
  (void)size;
  return *(ptrdiff_t *)data;
}

TEST(what_cannot_be_read_is_told)
{
  static const struct {
    ptrdiff_t answer;
    int code;
  } answers[] = { { PAI_EPERM, PAI_EPERM },
                  { 0, PAI_EIO },
                  { 1 << 20, PAI_EIO } };

  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    ptrdiff_t answer = answers[i].answer;
    pai_replay *r;
    pai_error *err;

    assert_ok(pai_replay_new(&r, never, &answer, 100, NULL, NULL));
    assert_fails(pai_replay_step(r, &err), err, answers[i].code,
                 "cannot be read at byte 0");
    pai_replay_free(r);
  }
}

TEST(files_are_read)
{
  char path[] = "/tmp/pai-replay-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
  pai__buf *log;
  pai_replay *r;
  pai_error *err;

  assert_non_null(f);
  log = busy_log("fifo", 20, 0, 1000);
  assert_int_equal(fwrite(log->data, 1, log->len, f), log->len);
  (void)fclose(f);
  assert_ok(pai_replay_open(&r, path, NULL, NULL));
  assert_ok(pai_replay_to(r, 10 * SECOND, NULL));
  assert_int_equal(scene_now(pai_replay_sched(r)), 10 * SECOND);
  pai_replay_free(r);
  (void)remove(path);
  assert_int_equal(pai_replay_open(&r, path, NULL, &err), PAI_ENOTFOUND);
  assert_null(r);
  test_expect_error(err, PAI_ENOTFOUND, "cannot read /tmp/pai-replay");
  assert_fails(pai_replay_open(&r, "/", NULL, &err), err, PAI_EIO,
               "cannot read /");
}

/* --- times ---------------------------------------------------------------- */

static const struct {
  const char *text;
  pai_time time;
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
};

/* What is none, with a bar behind each. */
static const char no_times[] =
  "|2026-05|2026-13-01|2026-00-01|2026-02-29|2100-02-29|2026-04-31|"
  "2026-05-01 24:00|2026-05-01 14:60|2026-05-01 14|2026-05-01 14:05:6|"
  "2026-05-01 14:05:066|2026-05-01 14:05:61|2026-05-01 14:05 +25:00|"
  "2026-05-01 14:05 CET|2026-05-01x|@|@12.|@12s|+|+2y|"
  "+99999999999999999999h|+999999999999w|now|";

TEST(times_are_read)
{
  pai_replay *r = busy_open(busy_log("fifo", 20, MAY, 0), NULL);
  pai_time time = 7;
  char text[40];

  for (size_t i = 0; i < PAI__LEN(times); i++)
    if (pai_replay_time(r, times[i].text, &time, NULL) != PAI_OK ||
        time != times[i].time)
      fail_msg("'%s' is %" PRId64, times[i].text, time);
  for (const char *at = no_times; *at != '\0'; at = strchr(at, '|') + 1) {
    pai_error *err = NULL;

    (void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, "|"), at);
    time = 7;
    if (pai_replay_time(r, text, &time, &err) != PAI_EINVAL || time != 0)
      fail_msg("'%s' was read: %" PRId64, text, time);
    test_expect_error(err, PAI_EINVAL, "is not a time");
  }
}

TEST(times_are_shown_as_they_are_read)
{
  static const pai_time list[] = { 0,
                                   INT64_C(951782400) * SECOND,
                                   INT64_C(1709164800) * SECOND,
                                   INT64_C(4102444799) * SECOND,
                                   -86400 * SECOND,
                                   -1 * SECOND };
  pai__buf *logs[] = { busy_log("fifo", 5, MAY, 0),
                       busy_log("fifo", 5, 0, 0) };

  for (int k = 0; k < 2; k++) {
    pai_replay *r = busy_open(logs[k], NULL);
    char text[PAI_REPLAY_TIME];

    for (size_t i = 0; i < PAI__LEN(list); i++) {
      pai_time back;

      (void)pai_replay_show_time(r, list[i], text);
      assert_ok(pai_replay_time(r, text, &back, NULL));
      assert_int_equal(back, list[i]);
    }
    assert_string_equal(pai_replay_show_time(r, 3 * SECOND + 1, text),
                        k == 0 ? "1970-01-01 00:00:03" : "@3.000001");
    (void)pai_replay_show_time(r, INT64_MIN, text);
    (void)pai_replay_show_time(r, INT64_MAX, text);
  }
}

TEST_AROUND_ALL(NULL, busy_free);
