/* The retry table, row by row, and its delays. */
#include "cases.h"
#include "by_hand.h"

#include "job/inside.h"

#include <openpai/job.h>

#include <stdio.h>

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

/* Of a job, which has been tried again at once before. */
TEST(the_retry_table_of_jobs)
{
  static const char *const waits[] = { " -> return", " -> return +1, wait +1",
                                       " -> return +?, wait +?" };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    char name[40];
    by_hand h;

    (void)snprintf(name, sizeof(name), "line %zu, row %d", i, rows[i].row);
    hand_form(&h, 1, 0, rows[i].max);
    h.name = name;
    h.form.retry.fancy = rows[i].fancy;
    hand_begin(&h);
    h.job.retries = h.job.counted = rows[i].counted;
    h.job.hasty = 1;
    hand_play(&h, "up");
    (void)hand_event(&h, PAI__EV_TASK_ENDED, 0, 1, rows[i].code);
    hand_play(&h,
              rows[i].again ? waits[rows[i].delay] : " -> release, finish");
    if (!rows[i].again)
      assert_int_equal(h.job.code, rows[i].code);
    assert_int_equal(h.job.retries, rows[i].counted + rows[i].again);
    assert_int_equal(h.job.counted, rows[i].counted + rows[i].counts);
    hand_dispose(&h);
  }
}

/* And through a task of a gang, which keeps its room meanwhile. */
TEST(the_retry_table_of_tasks)
{
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__task *t;
    by_hand h;

    hand_form(&h, 2, 0, 0);
    h.roles[0].retry = (pai__retry_policy){ rows[i].fancy, rows[i].max };
    hand_begin(&h);
    hand_play(&h, "up");
    t = &h.job.at.many.tasks[1];
    t->counted = t->retries = rows[i].counted;
    t->hasty = 1;
    (void)hand_event(&h, PAI__EV_TASK_ENDED, 1, 1, rows[i].code);
    assert_int_equal(t->retries, rows[i].counted + rows[i].again);
    assert_int_equal(t->counted, rows[i].counted + rows[i].counts);
    if (rows[i].again)
      hand_play(&h, rows[i].delay == AT_ONCE
                      ? " -> start 1 | inner=running"
                      : " -> wait +1\ndue -> start 1 | inner=running");
    else if (rows[i].code != 0)
      hand_play(&h, " -> stop 0");
    if (!rows[i].again && rows[i].code != 0)
      assert_int_equal(h.job.code, rows[i].code);
    hand_dispose(&h);
  }
}

/* A job that says "transient" for ever does not spin; one that ran for long
 * was not hasty. */
TEST(endless_retries_come_ever_later)
{
  static const int seconds[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0, 0, 1 };
  char text[64];
  by_hand h;

  hand_start(&h, 1, 0, 0);
  for (size_t i = 0; i < PAI__LEN(seconds); i++) {
    hand_play(&h, "up");
    h.now += i == 10 ? 60000000 : 1;
    (void)snprintf(text, sizeof(text),
                   "end 0 200 -> return +%d, wait +%d\ndue -> resume",
                   seconds[i], seconds[i]);
    hand_play(&h, seconds[i] == 0 ? "end 0 200 -> return" : text);
  }
  assert_int_equal(h.job.counted, 0);
  assert_int_equal(h.job.retries, PAI__LEN(seconds));
  hand_dispose(&h);
}

static const hand_case waits[] = {
  { "two tasks wait, each for its own time",
    { .tasks = 2, .retry = { true, 0 } },
    "up\n"
    "end 0 200 -> start 0\n" /* the first time it is at once */
    "started 0\n"
    "end 1 200 -> start 1\n"
    "started 1\n"
    "end 1 200 -> wait +1\n"
    "pass 0.5\n"
    "end 0 200\n" /* it waits for the earlier one */
    "due -> start 1, wait +0.5\n"
    "stop -> stop 1\n" /* which goes before */
    "end 1 0 -> release, finish | 0.code=-220" },
  { "the earlier time is waited for",
    { .tasks = 2, .retry = { true, 0 } },
    "up\n"
    "end 0 200 -> start 0\n"
    "started 0\n"
    "end 0 200 -> wait +1\n"
    "due -> start 0\n"
    "started 0\n"
    "end 0 200 -> wait +2\n"
    "end 1 200 -> start 1\n"
    "started 1\n"
    "end 1 200 -> wait +1" }, /* due before what was waited for */
};

TEST(tasks_wait_for_their_own_times)
{
  hand_play_all(waits, PAI__LEN(waits));
}

/* --- bounds --------------------------------------------------------------------- */

/* Retries that no count of the job limits end after a number. */
TEST(no_retry_is_without_a_limit)
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

  for (size_t i = 0; i < PAI__LEN(kinds); i++) {
    int n = 0;
    by_hand h;

    hand_form(&h, 1, 0, kinds[i].max);
    h.form.retry.fancy = kinds[i].fancy;
    hand_begin(&h);
    for (;; n++) {
      hand_play(&h, "up");
      h.now += 3600000000;
      (void)hand_event(&h, PAI__EV_TASK_ENDED, 0, 1, kinds[i].code);
      if (h.job.state == PAI__JOB_DONE)
        break;
      assert_int_equal(n + 1, pai__job_retries(&h.job).done);
      assert_int_equal(pai__job_retries(&h.job).most, PAI_JOB_MAX_RETRIES);
      hand_play(&h, h.job.state == PAI__JOB_BACKOFF
                      ? " -> return +?, wait +?\ndue -> resume"
                      : " -> return");
    }
    assert_int_equal(n, PAI_JOB_MAX_RETRIES);
    assert_int_equal(h.job.code, kinds[i].code);
    hand_play(&h, " -> release, finish");
    hand_dispose(&h);
  }
}

/* What a task used up its job does not have once more. */
TEST(a_task_and_its_job_have_one_limit)
{
  by_hand h;

  hand_form(&h, 2, 0, 0);
  h.roles[0].retry = (pai__retry_policy){ true, 0 };
  hand_begin(&h);
  hand_play(&h, "up");
  h.job.at.many.tasks[1].retries = PAI_JOB_MAX_RETRIES;
  hand_play(&h, "end 1 200 -> stop 0 | inner=ending\n"
                "end 0 0 -> release, finish | code=200 retries=0");
  hand_dispose(&h);
}

/* A signal that the platform did not send is a failure as any other; what it
 * ended itself is tried again. */
TEST(own_signals_are_failures)
{
  static const int codes[] = { 130, 131, 137, 143 };
  pai__job_form own = { .own_signals = true }, not_own = { .raw = false };
  pai__retry_policy none = { true, 0 }, once = { true, 1 };
  uint8_t hasty = 0;
  pai__tries tries = { 0, 0, &hasty, 0 };

  for (size_t i = 0; i < PAI__LEN(codes); i++) {
    assert_false(pai__retry_decide(none, &own, codes[i], &tries, NULL).again);
    assert_true(pai__retry_decide(once, &own, codes[i], &tries, NULL).counts);
    assert_true(
      pai__retry_decide(none, &not_own, codes[i], &tries, NULL).again);
  }
  assert_true(pai__retry_decide(none, &own, -1000, &tries, NULL).again);
  assert_true(pai__retry_decide(none, &own, -1001, &tries, NULL).again);
}

/* Row 0: what the platform decided is final; no task ends so by itself. */
TEST(what_was_stopped_is_not_tried_again)
{
  static const int codes[] = { -210, -220, -230 };
  pai__job_form form = { .roles = NULL };
  uint8_t hasty = 0;
  pai__tries tries = { 0, 0, &hasty, 0 };

  for (size_t i = 0; i < PAI__LEN(codes); i++)
    for (int fancy = 0; fancy < 2; fancy++)
      assert_false(
        pai__retry_decide((pai__retry_policy){ fancy != 0, PAI__RETRY_ALWAYS },
                          &form, codes[i], &tries, NULL)
          .again);
}

/* Delays are drawn, from one end to the other, the same for the same seed. */
TEST(conflicts_wait_for_a_drawn_time)
{
  pai__prng prng = { 7 }, same = { 7 };
  pai_time least = INT64_MAX, most = 0;
  uint8_t hasty = 0;
  pai__tries tries = { 0, 0, &hasty, 0 };
  pai__retry_policy policy = { true, 0 };
  pai__job_form form = { .roles = NULL };

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
