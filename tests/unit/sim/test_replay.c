/* Logs that are read again, from any time on. */
#include "busy.h"

#include "base/prng.h"

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
  pai_replay_free(r);
}

static void is_at(pai_replay *r, pai_time time, const pai__buf *expected)
{
  pai__buf got;

  assert_int_equal(pai_replay_to(r, time, NULL), PAI_OK);
  scribe_save(pai_replay_sched(r), &got);
  scribe_same(expected, &got);
  pai__buf_dispose(&got);
}

static void check_any_time(const char *policy, uint64_t every, pai_time begin)
{
  enum { N = 1000, JUMPS = 150 };
  pai__buf *list = calloc(N + 1, sizeof(*list)), log;
  pai__prng random = { 3 };
  pai_replay *r;

  assert_non_null(list);
  busy_log(&log, policy, N, begin, every);
  assert_true(log.len > 250000);
  states(&log, list, N + 1, begin);
  r = busy_open(&log, NULL);
  for (int i = 0; i < JUMPS; i++) {
    int to = (int)pai__prng_below(&random, N);

    if (i % 50 == 49) {
      pai_replay_free(r);
      r = busy_open(&log, NULL);
    }
    is_at(r, begin + to * SECOND, &list[to]);
    is_at(r, begin + to * SECOND + SECOND / 2, &list[to]);
  }
  is_at(r, begin, &list[0]);
  is_at(r, begin + N * SECOND, &list[N]);
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  pai_replay_free(r);
  for (int i = 0; i <= N; i++)
    pai__buf_dispose(&list[i]);
  free(list);
  pai__buf_dispose(&log);
}

static void any_time_is_as_if_read_from_the_beginning(void **state)
{
  (void)state;
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

static void little_is_read_for_it(void **state)
{
  pai__buf log;
  pai_replay *r;

  (void)state;
  busy_log(&log, "fifo", 5000, 0, 1);
  assert_true(log.len > 1500000);
  bytes = 0;
  assert_int_equal(pai_replay_new(&r, counted_read, &log, log.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_replay_to(r, 3456 * SECOND, NULL), PAI_OK);
  assert_true((size_t)bytes < log.len / 2);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static int soon(void *user_data)
{
  int *left = user_data;

  return --*left < 0;
}

/* Where it came to it stands, and goes on from there. */
static void a_replay_is_given_up(void **state)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_replay *r;
  pai__buf log;
  uint64_t line;
  int left = 3;

  (void)state;
  busy_log(&log, "fifo", 200, MAY, 0);
  o.stop = soon;
  o.stop_data = &left;
  r = busy_open(&log, &o);
  assert_int_equal(pai_replay_to(r, MAY + 190 * SECOND, &err), PAI_ECANCELED);
  test_expect_error(err, PAI_ECANCELED, "given up");
  line = pai_replay_line(r);
  assert_in_range(line, 16, 100);
  left = 1000;
  assert_int_equal(pai_replay_to(r, MAY + 190 * SECOND, NULL), PAI_OK);
  assert_true(pai_replay_line(r) > line);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void line_numbers_are_those_of_the_log(void **state)
{
  pai__buf log;
  pai_replay *r;
  uint64_t n;

  (void)state;
  busy_log(&log, "fifo", 100, 0, 1000);
  pai__buf_str(&log, "\n\n{\"time\":200000000,\"event\":\"tim\"}\n");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_line(r), 0);
  assert_int_equal(pai_replay_to(r, 99 * SECOND, NULL), PAI_OK);
  n = pai_replay_line(r);
  assert_memory_equal(busy_line(&log, (int)n + 1), "{\"time\":100000000,", 18);
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
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void another_policy_decides(void **state)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai__buf log, decisions, saved;
  pai_error *err;
  pai_replay *r;
  int rc;

  (void)state;
  busy_log(&log, "priority", 200, 0, 1000);
  o.policy = "fifo";
  r = busy_open(&log, &o);
  while ((rc = pai_replay_step(r, NULL)) == 1)
    ;
  assert_int_equal(rc, 0);
  assert_true(pai_replay_skipped(r) > 0);
  scribe_save(pai_replay_sched(r), &saved);
  assert_non_null(strstr(pai__buf_text(&saved), "\"name\":\"fifo\""));
  assert_int_equal(pai_replay_to(r, 50 * SECOND, NULL), PAI_OK);
  assert_int_equal(pai_replay_to(r, 200 * SECOND, NULL), PAI_OK);
  pai__buf_init(&decisions, &pai__libc_alloc);
  assert_int_equal(
    pai_sched_save(pai_replay_sched(r), scribe_write, &decisions, NULL),
    PAI_OK);
  scribe_same(&saved, &decisions);
  pai_replay_free(r);
  o.policy = "best";
  r = busy_open(&log, &o);
  assert_int_equal(pai_replay_step(r, &err), PAI_ENOTFOUND);
  assert_int_equal(pai_error_line(err), 1);
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'best'");
  pai_replay_free(r);
  pai__buf_dispose(&log);
  pai__buf_dispose(&decisions);
  pai__buf_dispose(&saved);
}

/* --- the rest ------------------------------------------------------------- */

static void a_broken_contract_is_told(void **state)
{
  pai_replay_options o = { .struct_size = 4 };
  pai_replay *r;
  pai_time t;

  (void)state;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_time_is_as_if_read_from_the_beginning),
    cmocka_unit_test(little_is_read_for_it),
    cmocka_unit_test(a_replay_is_given_up),
    cmocka_unit_test(line_numbers_are_those_of_the_log),
    cmocka_unit_test(another_policy_decides),
    cmocka_unit_test(a_broken_contract_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
