/* The retry table, row by row, and its delays. */
#include "by_hand.h"

#include "job/inside.h"

#include <openpai/job.h>
#include <openpai/platform.h>

enum { AT_ONCE, SOME_TIME, DRAWN }; /* the delay of a second retry */

/* job-spec 5.4, by the numbers of its rows: a policy, what has ended with what
 * code after how many retries that counted, and what comes of it. */
static const struct {
  int row;
  bool fancy;
  int32_t max;
  int code;
  uint32_t counted;
  bool again, counts;
  int delay;
} rows[] = {
  { 0, true, PAI__RETRY_ALWAYS, -210, 0, false, false, AT_ONCE },
  { 0, true, PAI__RETRY_ALWAYS, -220, 0, false, false, AT_ONCE },
  { 0, false, PAI__RETRY_ALWAYS, -230, 0, false, false, AT_ONCE },
  { 1, true, 0, 201, 0, true, false, DRAWN },
  { 1, true, 3, 251, 3, true, false, DRAWN }, /* the gang was not complete */
  { 2, true, 0, 200, 0, true, false, SOME_TIME },
  { 2, true, 0, -101, 0, true, false, SOME_TIME },
  { 2, true, 3, 137, 3, true, false, SOME_TIME },
  { 2, true, PAI__RETRY_ALWAYS, -1000, 0, true, false, SOME_TIME },
  { 3, true, 9, 210, 0, false, false, AT_ONCE },
  { 3, true, PAI__RETRY_ALWAYS, 226, 0, false, false, AT_ONCE },
  { 3, true, PAI__RETRY_FAILED, -200, 0, false, false, AT_ONCE },
  { 4, false, PAI__RETRY_ALWAYS, 0, 7, true, true, SOME_TIME },
  { 4, true, PAI__RETRY_ALWAYS, 0, 7, true, true, SOME_TIME },
  { 4, true, PAI__RETRY_ALWAYS, 1, 7, true, true, SOME_TIME },
  { 4, false, PAI__RETRY_ALWAYS, 201, 0, true, true, SOME_TIME },
  { 5, false, PAI__RETRY_FAILED, 200, 9, true, true, SOME_TIME },
  { 5, true, PAI__RETRY_FAILED, 255, 9, true, true, SOME_TIME },
  { 6, false, 2, 1, 0, true, true, AT_ONCE },
  { 6, true, 2, 1, 1, true, true, AT_ONCE },
  { 6, false, 1, 210, 0, true, true, AT_ONCE },
  { 6, true, 1, -300, 0, true, true, AT_ONCE },
  { 7, true, 2, 1, 2, false, false, AT_ONCE },
  { 7, false, 0, 1, 0, false, false, AT_ONCE },
  { 7, true, PAI__RETRY_FAILED, 0, 0, false, false, AT_ONCE },
  { 7, true, 5, 0, 0, false, false, AT_ONCE },
  { 7, false, 0, 200, 0, false, false, AT_ONCE },
};

static void check_row(size_t i, pai__prng *prng)
{
  pai__retry_policy policy = { rows[i].fancy, rows[i].max };
  uint8_t hasty = 1; /* it was tried again at once before */
  pai__tries tries = { rows[i].counted, 0, &hasty, 0 };
  pai__job_form form = { .roles = NULL };
  pai__retry r = pai__retry_decide(policy, &form, rows[i].code, &tries, prng);
  int delay =
    rows[i].delay == DRAWN && prng == NULL ? SOME_TIME : rows[i].delay;

  if (r.again != rows[i].again || r.counts != rows[i].counts)
    fail_msg("line %zu, row %d: again %d, counts %d", i, rows[i].row, r.again,
             r.counts);
  if ((delay == AT_ONCE && r.delay != 0) ||
      (delay == SOME_TIME && r.delay != 1000000) ||
      (delay == DRAWN && (r.delay < 60000000 || r.delay > 900000000)))
    fail_msg("line %zu, row %d: after %lld", i, rows[i].row,
             (long long)r.delay);
}

static void the_table(void **state)
{
  pai__prng prng = { 1 };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    check_row(i, &prng); /* of a job */
    check_row(i, NULL);  /* of a task */
  }
}

/* The same rows, through a job. */
static void the_table_of_jobs(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    by_hand h;

    if (rows[i].row == 0)
      continue; /* no task says so itself */
    hand_form(&h, 1, 0, rows[i].max);
    h.form.retry.fancy = rows[i].fancy;
    hand_begin(&h);
    h.job.retries = h.job.counted = rows[i].counted;
    hand_bring_up(&h);
    hand_end(&h, 0, rows[i].code);
    if (!rows[i].again) {
      hand_expect_finish(&h);
      assert_int_equal(h.job.code, rows[i].code);
    } else {
      hand_expect_whole(&h, PAI__DO_RETURN);
      if (rows[i].delay == DRAWN)
        hand_expect_whole(&h, PAI__DO_WAIT);
    }
    assert_int_equal(h.job.retries, rows[i].counted + rows[i].again);
    assert_int_equal(h.job.counted, rows[i].counted + rows[i].counts);
    hand_dispose(&h);
  }
}

/* And through a task of a gang, which keeps its room meanwhile. */
static void the_table_of_tasks(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const pai__task *t;
    by_hand h;

    if (rows[i].row == 0)
      continue;
    hand_form(&h, 2, 0, 0);
    h.roles[0].retry = (pai__retry_policy){ rows[i].fancy, rows[i].max };
    hand_begin(&h);
    hand_bring_up(&h);
    h.job.at.many.tasks[1].counted = rows[i].counted;
    h.job.at.many.tasks[1].retries = rows[i].counted;
    hand_end(&h, 1, rows[i].code);
    t = &pai__job_tasks(&h.job)[1];
    assert_int_equal(t->retries, rows[i].counted + rows[i].again);
    assert_int_equal(t->counted, rows[i].counted + rows[i].counts);
    if (rows[i].again) {
      hand_expect(&h, PAI__DO_START, 1, 1);
      assert_int_equal(h.job.state, PAI__JOB_RUNNING);
      hand_take(&h, PAI__EV_TASK_STARTED, 1, 1);
    } else if (rows[i].code != 0) {
      hand_expect(&h, PAI__DO_STOP, 0, 1);
      assert_int_equal(h.job.code, rows[i].code);
    }
    hand_dispose(&h);
  }
}

/* A job that says "transient" for ever does not spin; one that ran for long
 * was not hasty. */
static void endless_retries_come_ever_later(void **state)
{
  static const int seconds[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0, 0, 1 };
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  for (size_t i = 0; i < PAI__LEN(seconds); i++) {
    pai_time delay = (pai_time)seconds[i] * 1000000, until;

    hand_place(&h);
    h.now += i == 10 ? 60000000 : 1;
    hand_end(&h, 0, 200);
    until = hand_expect_whole(&h, PAI__DO_RETURN);
    if (delay == 0) {
      assert_int_equal(until, 0);
      continue;
    }
    assert_int_equal(until, h.now + delay);
    assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), until);
    h.now = until;
    hand_take(&h, PAI__EV_DUE, 0, 0);
    hand_expect_whole(&h, PAI__DO_RESUME);
  }
  assert_int_equal(h.job.counted, 0);
  assert_int_equal(h.job.retries, PAI__LEN(seconds));
  hand_dispose(&h);
}

/* Two tasks wait; each has its time. */
static void tasks_wait_for_their_own_times(void **state)
{
  by_hand h;

  (void)state;
  hand_form(&h, 2, 0, 0);
  h.roles[0].retry = (pai__retry_policy){ true, 0 };
  hand_begin(&h);
  hand_bring_up(&h);
  for (uint32_t t = 0; t < 2; t++) { /* the first time it is at once */
    hand_end(&h, t, 200);
    hand_expect(&h, PAI__DO_START, t, 1);
    hand_take(&h, PAI__EV_TASK_STARTED, t, 1);
  }
  hand_end(&h, 1, 200);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), 1001000);
  h.now = 501000;
  hand_end(&h, 0, 200);
  hand_expect_nothing(&h); /* it waits for the earlier one */
  h.now = 1001000;
  hand_take(&h, PAI__EV_DUE, 0, 0);
  hand_expect(&h, PAI__DO_START, 1, 1);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), 1501000);
  hand_take(&h, PAI__EV_STOP, 0, 0); /* which goes before */
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_tasks(&h.job)[0].code, PAI__CODE_JOB_OVER);
  hand_dispose(&h);
}

/* One that is due before what was waited for. */
static void the_earlier_time_is_waited_for(void **state)
{
  by_hand h;

  (void)state;
  hand_form(&h, 2, 0, 0);
  h.roles[0].retry = (pai__retry_policy){ true, 0 };
  hand_begin(&h);
  hand_bring_up(&h);
  h.job.at.many.tasks[0].hasty = 7;
  h.job.at.many.tasks[1].hasty = 1;
  hand_end(&h, 0, 200);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), h.now + 60000000);
  hand_end(&h, 1, 200);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), h.now + 1000000);
  hand_dispose(&h);
}

/* --- bounds --------------------------------------------------------------------- */

/* Retries that no count of the job limits end after a number. */
static void no_retry_is_without_a_limit(void **state)
{
  static const struct {
    bool fancy;
    int32_t max;
    int code;
  } kinds[] = { { true, 0, 200 },
                { true, 3, -1000 },
                { true, 0, 201 },
                { false, PAI__RETRY_ALWAYS, 0 },
                { false, PAI__RETRY_FAILED, 1 } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(kinds); i++) {
    int n = 0;
    by_hand h;

    hand_form(&h, 1, 0, kinds[i].max);
    h.form.retry.fancy = kinds[i].fancy;
    hand_begin(&h);
    hand_expect_whole(&h, PAI__DO_QUEUE);
    for (;; n++) {
      hand_place(&h);
      h.now += 3600000000;
      hand_end(&h, 0, kinds[i].code);
      if (h.job.state == PAI__JOB_DONE)
        break;
      hand_expect_whole(&h, PAI__DO_RETURN);
      assert_int_equal(n + 1, pai__job_retries(&h.job).done);
      assert_int_equal(pai__job_retries(&h.job).most, PAI_JOB_MAX_RETRIES);
      if (h.job.state != PAI__JOB_BACKOFF)
        continue;
      h.now = hand_expect_whole(&h, PAI__DO_WAIT);
      hand_take(&h, PAI__EV_DUE, 0, 0);
      hand_expect_whole(&h, PAI__DO_RESUME);
    }
    assert_int_equal(n, PAI_JOB_MAX_RETRIES);
    assert_int_equal(h.job.code, kinds[i].code);
    hand_expect_finish(&h);
    hand_dispose(&h);
  }
}

/* What a task used up its job does not have once more. */
static void a_task_and_its_job_have_one_limit(void **state)
{
  by_hand h;

  (void)state;
  hand_form(&h, 2, 0, 0);
  h.roles[0].retry = (pai__retry_policy){ true, 0 };
  hand_begin(&h);
  hand_bring_up(&h);
  h.job.at.many.tasks[1].retries = PAI_JOB_MAX_RETRIES;
  hand_end(&h, 1, 200);
  assert_int_equal(h.job.state, PAI__JOB_ENDING);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  hand_end(&h, 0, 0);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 200);
  assert_int_equal(h.job.retries, 0);
  hand_dispose(&h);
}

/* A signal that the platform did not send is a failure as any other; what it
 * ended itself is tried again. */
static void own_signals_are_failures(void **state)
{
  static const int codes[] = { 130, 131, 137, 143 };
  pai__job_form own = { .own_signals = true }, not_own = { .raw = false };
  pai__retry_policy none = { true, 0 }, once = { true, 1 };
  uint8_t hasty = 0;
  pai__tries tries = { 0, 0, &hasty, 0 };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(codes); i++) {
    assert_false(pai__retry_decide(none, &own, codes[i], &tries, NULL).again);
    assert_true(pai__retry_decide(once, &own, codes[i], &tries, NULL).counts);
    assert_true(
      pai__retry_decide(none, &not_own, codes[i], &tries, NULL).again);
  }
  assert_true(pai__retry_decide(none, &own, -1000, &tries, NULL).again);
  assert_true(pai__retry_decide(none, &own, -1001, &tries, NULL).again);
}

/* Delays are drawn, from one end to the other, the same for the same seed. */
static void conflicts_wait_for_a_drawn_time(void **state)
{
  pai__prng prng = { 7 }, same = { 7 };
  pai_time least = INT64_MAX, most = 0;
  uint8_t hasty = 0;
  pai__tries tries = { 0, 0, &hasty, 0 };
  pai__retry_policy policy = { true, 0 };
  pai__job_form form = { .roles = NULL };

  (void)state;
  for (int i = 0; i < 20000; i++) {
    pai__retry r = pai__retry_decide(policy, &form, 201, &tries, &prng);

    assert_int_equal(
      r.delay, pai__retry_decide(policy, &form, 201, &tries, &same).delay);
    least = r.delay < least ? r.delay : least;
    most = r.delay > most ? r.delay : most;
  }
  assert_int_equal(least, 60000000);
  assert_int_equal(most, 900000000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table),
    cmocka_unit_test(the_table_of_jobs),
    cmocka_unit_test(the_table_of_tasks),
    cmocka_unit_test(endless_retries_come_ever_later),
    cmocka_unit_test(tasks_wait_for_their_own_times),
    cmocka_unit_test(the_earlier_time_is_waited_for),
    cmocka_unit_test(no_retry_is_without_a_limit),
    cmocka_unit_test(a_task_and_its_job_have_one_limit),
    cmocka_unit_test(own_signals_are_failures),
    cmocka_unit_test(conflicts_wait_for_a_drawn_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
