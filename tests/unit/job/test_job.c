/* What a job comes to: completion policy, retries. */
#include "by_hand.h"

#include <openpai/platform.h>

static void all_succeed(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 2, 0, 0);

  (void)state;
  assert_int_equal(pai__job_public_state(job), PAI_STATE_WAITING);
  job_bring_up(job);
  job_end(job, 1, 0);
  job_expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 1), PAI_STATE_SUCCEEDED);
  job_end(job, 0, 0);
  job_expect(job, PAI__DO_RELEASE, 0);
  job_expect(job, PAI__DO_FINISH, 0);
  job_expect_nothing(job);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_SUCCEEDED);
  assert_int_equal(job->code, 0);
  assert_ptr_equal(job->trigger, &job->tasks[0]);
  pai__job_free(job);
}

static void first_failure_decides_and_stops_the_rest(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 2, 1, 0);

  (void)state;
  job_bring_up(job);
  job_end(job, 2, 7);
  job_expect(job, PAI__DO_STOP, 0);
  job_expect(job, PAI__DO_STOP, 1);
  job_expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 0), PAI_STATE_STOPPING);
  job_end(job, 0, 143); /* how it died says nothing about it */
  job_end(job, 1, 0);
  assert_int_equal(job->tasks[0].code, PAI__CODE_JOB_OVER);
  assert_int_equal(job->tasks[1].code, PAI__CODE_JOB_OVER);
  job_expect(job, PAI__DO_RELEASE, 0);
  job_expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_FAILED);
  assert_int_equal(job->code, 7);
  pai__job_free(job);
}

/* Rows of the completion policy: minima of role a (3 tasks), then the codes
 * tasks end with, in that order; what the job's code must be and after how
 * many of them it is decided. */
static void completion_policy(void **state)
{
  static const struct {
    int32_t min_failed, min_succeeded;
    int codes[3];
    int decided_after;
    int code;
  } rows[] = {
    { 1, 3, { 0, 0, 0 }, 3, 0 },  { 1, 3, { 0, 5, 0 }, 2, 5 },
    { 2, 3, { 4, 0, 6 }, 3, 6 },  /* the second failure's code */
    { 2, 3, { 4, 0, 0 }, 3, 0 },  /* all done, no rule: succeeded */
    { -1, 3, { 4, 5, 6 }, 3, 0 }, /* even if all failed */
    { 1, 1, { 0, 1, 1 }, 1, 0 },  { -1, 2, { 9, 0, 0 }, 3, 0 },
    { 3, -1, { 0, 0, 0 }, 3, 0 },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    made_spec m;
    pai__job *job = job_start(&m, 3, 0, 0);
    int after = 0;

    m.roles[0].min_failed = rows[i].min_failed;
    m.roles[0].min_succeeded = rows[i].min_succeeded;
    job_bring_up(job);
    while (!job->decided && job->state != PAI__JOB_DONE) {
      job_end(job, (uint32_t)after, rows[i].codes[after]);
      after++;
    }
    if (after != rows[i].decided_after || job->code != rows[i].code)
      fail_msg("row %zu: decided after %d with %d", i, after, job->code);
    pai__job_free(job);
  }
}

static void the_earlier_trigger_wins(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 1, 1, 0);

  (void)state;
  m.roles[1].min_failed = -1;
  m.roles[0].min_succeeded = -1;
  job_bring_up(job);
  job_end(job, 1, 3); /* no rule of b looks at failures */
  job_expect_nothing(job);
  job_end(job, 0, 4);
  assert_int_equal(job->code, 4);
  pai__job_free(job);
}

/* Rows of the retry table: what an attempt ended with, and whether it is
 * tried again with one retry allowed. */
static void retry_table(void **state)
{
  static const struct {
    int code;
    bool again, counts, delayed;
  } rows[] = {
    { 1, true, true, false },     { 137, true, true, false },
    { 200, true, false, false },  { 201, true, false, true },
    { 210, false, false, false }, { -200, false, false, false },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    made_spec m;
    pai__job *job = job_start(&m, 1, 0, 1);

    job_bring_up(job);
    job_end(job, 0, rows[i].code);
    job_expect(job, PAI__DO_RELEASE, 0);
    if (!rows[i].again) {
      job_expect(job, PAI__DO_FINISH, 0);
    } else if (rows[i].delayed) {
      pai_time delay = job_expect(job, PAI__DO_WAIT, 0);
      assert_in_range(delay, 60000000, 900000000);
      assert_int_equal(job->state, PAI__JOB_BACKOFF);
      assert_int_equal(job_event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_OK);
      job_expect(job, PAI__DO_QUEUE, 0);
    } else {
      job_expect(job, PAI__DO_QUEUE, 0);
    }
    assert_int_equal(job->retries, rows[i].again);
    assert_int_equal(job->counted, rows[i].counts);
    pai__job_free(job);
  }
}

static void retries_end(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 1, 0, 2);

  (void)state;
  for (int attempt = 0; attempt < 3; attempt++) {
    job_bring_up(job);
    job_end(job, 0, 1);
    job_expect(job, PAI__DO_RELEASE, 0);
  }
  job_expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(job->attempt, 2);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_FAILED);
  pai__job_free(job);
}

/* A job that says "transient" for ever does not spin. */
static void transient_retries_come_ever_later(void **state)
{
  static const int seconds[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60, 60 };
  made_spec m;
  pai__job *job = job_start(&m, 1, 0, 0);

  (void)state;
  for (size_t i = 0; i < PAI__LEN(seconds); i++) {
    job_bring_up(job);
    job_end(job, 0, 200);
    job_expect(job, PAI__DO_RELEASE, 0);
    if (seconds[i] == 0)
      continue;
    assert_int_equal(job_expect(job, PAI__DO_WAIT, 0),
                     (pai_time)seconds[i] * 1000000);
    assert_int_equal(job_event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_OK);
  }
  assert_int_equal(job->counted, 0);
  pai__job_free(job);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_succeed),
    cmocka_unit_test(first_failure_decides_and_stops_the_rest),
    cmocka_unit_test(completion_policy),
    cmocka_unit_test(the_earlier_trigger_wins),
    cmocka_unit_test(retry_table),
    cmocka_unit_test(retries_end),
    cmocka_unit_test(transient_retries_come_ever_later),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
