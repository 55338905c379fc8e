/* The life of a gang: it ends well or badly, is tried again, loses its room. */
#include "by_hand.h"

#include <openpai/platform.h>

static int task_state(const by_hand *h, uint32_t task)
{
  return pai__job_task_state(&h->job, task);
}

static void all_succeed(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_WAITING);
  hand_bring_up(&h);
  hand_end(&h, 1, 0);
  hand_expect_nothing(&h);
  assert_int_equal(task_state(&h, 1), PAI_STATE_SUCCEEDED);
  hand_end(&h, 0, 0);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_SUCCEEDED);
  assert_int_equal(h.job.code, 0);
  hand_dispose(&h);
}

static void first_failure_decides_and_stops_the_rest(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 2, 0);
  hand_bring_up(&h);
  hand_end(&h, 2, 7);
  hand_expect(&h, PAI__DO_STOP, 0, 2);
  hand_expect(&h, PAI__DO_STOP, 3, 1);
  hand_expect_nothing(&h);
  assert_int_equal(task_state(&h, 0), PAI_STATE_STOPPING);
  hand_end(&h, 0, 143); /* how it died says nothing about it */
  hand_end(&h, 3, 1);
  hand_end(&h, 1, 0);
  assert_int_equal(pai__job_tasks(&h.job)[0].code, PAI__CODE_JOB_OVER);
  assert_int_equal(pai__job_tasks(&h.job)[1].code, PAI__CODE_JOB_OVER);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_FAILED);
  assert_int_equal(h.job.code, 7);
  assert_ptr_equal(pai__job_trigger(&h.job), &pai__job_tasks(&h.job)[2]);
  hand_dispose(&h);
}

/* The host starts tasks one by one; what was decided meanwhile counts. */
static void a_task_whose_turn_has_not_come_is_not_started(void **state)
{
  pai__action a;
  by_hand h;

  (void)state;
  hand_start(&h, 3, 0, 0);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  hand_take(&h, PAI__EV_PLACED, 0, 3);
  assert_true(pai__job_next(&h.job, 1, &a));
  assert_int_equal(a.count, 1);
  hand_take(&h, PAI__EV_TASK_STARTED, 0, 1);
  assert_true(pai__job_next(&h.job, 1, &a));
  assert_int_equal(a.task, 1); /* it comes up while the user stops it */
  assert_true(pai__job_has_next(&h.job));
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 0, 2);
  hand_expect_nothing(&h);
  assert_int_equal(task_state(&h, 2), PAI_STATE_STOPPED);
  hand_take(&h, PAI__EV_TASK_STARTED, 1, 1);
  hand_end(&h, 0, 143);
  hand_end(&h, 1, 143);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

/* Its host starts it again by itself. */
static void a_start_that_was_none(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  hand_bring_up(&h);
  hand_take(&h, PAI__EV_TASK_UNDONE, 0, 1);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_RUNNING);
  assert_int_equal(task_state(&h, 0), PAI_STATE_WAITING);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_UNDONE, 0, 1, 0), PAI_EINVAL);
  hand_take(&h, PAI__EV_TASK_UNDONE, 1, 1);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_WAITING);
  hand_expect_nothing(&h);
  hand_take(&h, PAI__EV_TASK_STARTED, 0, 2);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_RUNNING);
  hand_end(&h, 0, 0);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_SUCCEEDED);
  hand_dispose(&h);
}

static void stop_once_then_at_once(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 5);
  hand_bring_up(&h);
  hand_end(&h, 0, 0);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_STOPPING);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect(&h, PAI__DO_KILL, 1, 1);
  hand_take(&h, PAI__EV_STOP, 0, 0); /* it is killed only once */
  hand_take(&h, PAI__EV_IMPATIENT, 0, 0);
  hand_expect_nothing(&h);
  hand_end(&h, 1, 137);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_STOPPED);
  assert_int_equal(h.job.code, PAI__CODE_STOPPED);
  assert_int_equal(pai__job_tasks(&h.job)[1].code, PAI__CODE_STOPPED);
  assert_int_equal(pai__job_tasks(&h.job)[0].code, 0); /* it was before */
  assert_int_equal(hand_event(&h, PAI__EV_STOP, 0, 0, 0), PAI_EINVAL);
  hand_dispose(&h);
}

static void who_does_not_end_in_time_is_killed(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 1);
  hand_take(&h, PAI__EV_IMPATIENT, 0, 0); /* it was not asked yet */
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  hand_take(&h, PAI__EV_IMPATIENT, 0, 0);
  hand_expect(&h, PAI__DO_KILL, 1, 1);
  hand_end(&h, 1, 137);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 1);
  assert_false(h.job.stop_asked);
  hand_dispose(&h);
}

/* As a limit of time does. */
static void stopped_with_a_code(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, PAI__RETRY_FAILED);
  hand_bring_up(&h);
  assert_int_equal(hand_event(&h, PAI__EV_STOP, 0, 0, -1000), PAI_OK);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  hand_end(&h, 0, 0);
  hand_expect_finish(&h); /* although such an end would be tried again */
  assert_int_equal(h.job.code, -1000);
  assert_int_equal(pai__job_tasks(&h.job)[0].code, PAI__CODE_JOB_OVER);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_FAILED);
  hand_dispose(&h);
}

static void stop_before_it_started(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 5);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_STOPPED);
  hand_dispose(&h);
  hand_start(&h, 1, 0, 5); /* before anybody was asked for room */
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_whole(&h, PAI__DO_FINISH);
  hand_dispose(&h);
}

static void events_out_of_place_change_nothing(void **state)
{
  static const struct {
    enum pai__event_kind kind;
    uint32_t task, count;
  } rows[] = {
    { PAI__EV_TASK_STARTED, 0, 1 }, { PAI__EV_TASK_ENDED, 0, 1 },
    { PAI__EV_TASK_ENDED, 2, 1 },   { PAI__EV_TASK_ENDED, 1, UINT32_MAX },
    { PAI__EV_DUE, 0, 0 },          { PAI__EV_PREEMPTED, 0, 0 },
    { PAI__EV_PLACED, 0, 1 }, /* not a whole gang */
  };
  by_hand h, before;

  (void)state;
  hand_start(&h, 2, 0, 0);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 0, 0), PAI_EINVAL);
  hand_expect_whole(&h, PAI__DO_QUEUE); /* it was not asked for before */
  before = h;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_int_equal(
      hand_event(&h, rows[i].kind, rows[i].task, rows[i].count, 0),
      PAI_EINVAL);
    assert_memory_equal(&h, &before, sizeof(h));
  }
  hand_place(&h);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_STARTED, 0, 2, 0), PAI_EINVAL);
  hand_end(&h, 0, 0);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 0, 2, 0), PAI_EINVAL);
  assert_int_equal(pai__job_tasks(&h.job)[1].state, PAI__TASK_RUNNING);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 1, 0, 0), PAI_EINVAL);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

/* It keeps its turn, and who waits for its end is told of the last one. */
static void a_retry_returns_the_room_and_waits_for_it(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 2);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  for (uint32_t attempt = 0; attempt < 3; attempt++) {
    hand_place(&h);
    assert_int_equal(h.job.attempt, attempt);
    hand_end(&h, 0, 1);
    if (attempt == 2)
      break;
    assert_int_equal(hand_expect_whole(&h, PAI__DO_RETURN), 0);
    hand_expect_nothing(&h);
    assert_int_equal(task_state(&h, 0), PAI_STATE_FAILED); /* to be seen */
  }
  hand_expect_finish(&h);
  assert_int_equal(h.job.retries, 2);
  assert_int_equal(h.job.counted, 2);
  assert_int_equal(pai__job_public_state(&h.job), PAI_STATE_FAILED);
  hand_dispose(&h);
}

static void a_delay_holds_it_until_it_is_due(void **state)
{
  pai_time until;
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 201);
  until = hand_expect_whole(&h, PAI__DO_RETURN);
  assert_in_range(until - h.now, 60000000, 900000000);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), until);
  assert_int_equal(h.job.state, PAI__JOB_BACKOFF);
  hand_expect_nothing(&h);
  h.now = until - 1; /* a clock that is early */
  hand_take(&h, PAI__EV_DUE, 0, 0);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), until);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 0, 0), PAI_EINVAL);
  h.now = until;
  hand_take(&h, PAI__EV_DUE, 0, 0);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 0, 0), PAI_EINVAL);
  hand_expect_whole(&h, PAI__DO_RESUME);
  hand_place(&h);
  hand_end(&h, 0, 0);
  hand_expect_finish(&h);
  assert_int_equal(h.job.attempt, 1);
  assert_int_equal(h.job.counted, 0);
  hand_dispose(&h);
}

/* It is over before the room is even given back: then nothing is held. */
static void what_is_due_at_once_is_not_held(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 201);
  h.now = h.job.due;
  hand_take(&h, PAI__EV_DUE, 0, 0);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_RETURN), 0);
  hand_expect_nothing(&h);
  hand_place(&h);
  hand_end(&h, 0, 0);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

/* As a new attempt that is stopped at once. */
static void stopped_during_a_delay(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 201);
  hand_expect_whole(&h, PAI__DO_RETURN);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_finish(&h); /* and nothing is waited for */
  assert_int_equal(h.job.code, PAI__CODE_STOPPED);
  assert_int_equal(h.job.attempt, 1);
  assert_int_equal(h.job.retries, 1);
  assert_int_equal(pai__job_tasks(&h.job)[0].code, PAI__CODE_JOB_OVER);
  assert_null(pai__job_trigger(&h.job));
  assert_int_equal(hand_event(&h, PAI__EV_DUE, 0, 0, 0), PAI_EINVAL);
  hand_dispose(&h);
}

/* Then it goes at once, and does not wait for room first. */
static void stopped_before_it_returned_its_room(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 1);
  hand_bring_up(&h);
  hand_end(&h, 0, 1);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_finish(&h);
  hand_dispose(&h);
  hand_start(&h, 1, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 201);
  hand_expect_whole(&h, PAI__DO_RETURN);
  h.now = hand_expect_whole(&h, PAI__DO_WAIT);
  hand_take(&h, PAI__EV_DUE, 0, 0);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

static void a_stop_ends_retries_but_not_a_result(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 9);
  hand_bring_up(&h);
  hand_end(&h, 0, 5);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 5);
  assert_int_equal(h.job.retries, 0);
  hand_dispose(&h);
}

static void preemption_costs_no_retry(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 3, 0, 0);
  h.roles[0].min_succeeded = 3;
  hand_bring_up(&h);
  hand_end(&h, 2, 0);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0);
  assert_int_equal(hand_event(&h, PAI__EV_PREEMPTED, 0, 0, 0), PAI_EINVAL);
  hand_expect(&h, PAI__DO_STOP, 0, 2);
  hand_end(&h, 1, 143);
  hand_expect_nothing(&h);
  hand_end(&h, 0, 1); /* being stopped, not failing */
  assert_int_equal(hand_expect_whole(&h, PAI__DO_RETURN), 0);
  hand_expect_nothing(&h);
  assert_int_equal(h.job.state, PAI__JOB_QUEUED);
  hand_place(&h); /* all of it, also who had ended well */
  assert_int_equal(h.job.attempt, 1);
  assert_int_equal(h.job.preempted, 1);
  assert_int_equal(h.job.retries, 0);
  assert_int_equal(h.job.done, 0);
  assert_int_equal(
    pai__job_handle(&h.job,
                    &(pai__job_event){ PAI__EV_TASK_ENDED, 0, 3, 0, h.now }),
    PAI_OK);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 0);
  hand_dispose(&h);
}

/* What ends by itself before it is asked to has ended by itself. */
static void a_result_goes_before_preemption(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  hand_bring_up(&h);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 2);
  hand_end(&h, 1, 9);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0); /* it is on its way */
  hand_end(&h, 0, 143);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 9);
  assert_int_equal(h.job.preempted, 0);
  hand_dispose(&h);
}

static void preempted_before_it_starts_or_while_it_is_stopped(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  hand_take(&h, PAI__EV_PLACED, 0, 0);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0);
  hand_expect_whole(&h, PAI__DO_RETURN);
  hand_place(&h);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 0, 2);
  hand_take(&h, PAI__EV_STOP, 0, 0); /* now it does not come back */
  hand_expect_nothing(&h);
  assert_string_equal(pai__job_task_contract_state(&h.job, 0),
                      "AttemptDeletionRequested");
  hand_end(&h, 0, 0);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, PAI__CODE_STOPPED);
  hand_dispose(&h);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai__job job;
  by_hand h;
  pai__action a;
  int rc;

  (void)user_data;
  hand_form(&h, 3, 1, 0);
  rc = pai__job_init(&job, alloc, &h.form, 1);
  if (rc == PAI_OK) {
    assert_true(pai__job_next(&job, 9, &a));
    assert_int_equal(a.count, 4);
  }
  pai__job_dispose(&job);
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

/* A million jobs are alive in a simulation. */
static void a_job_of_one_task_is_small(void **state)
{
  test_tally tally;
  by_hand h;

  (void)state;
  test_tally_init(&tally);
  hand_form(&h, 1, 0, 0);
  assert_int_equal(pai__job_init(&h.job, &tally.alloc, &h.form, 1), PAI_OK);
  assert_int_equal(tally.calls, 0);
  assert_true(sizeof(h.job) <= 136);
  pai__job_dispose(&h.job);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_succeed),
    cmocka_unit_test(first_failure_decides_and_stops_the_rest),
    cmocka_unit_test(a_task_whose_turn_has_not_come_is_not_started),
    cmocka_unit_test(a_start_that_was_none),
    cmocka_unit_test(stop_once_then_at_once),
    cmocka_unit_test(who_does_not_end_in_time_is_killed),
    cmocka_unit_test(stopped_with_a_code),
    cmocka_unit_test(stop_before_it_started),
    cmocka_unit_test(events_out_of_place_change_nothing),
    cmocka_unit_test(a_retry_returns_the_room_and_waits_for_it),
    cmocka_unit_test(a_delay_holds_it_until_it_is_due),
    cmocka_unit_test(what_is_due_at_once_is_not_held),
    cmocka_unit_test(stopped_during_a_delay),
    cmocka_unit_test(stopped_before_it_returned_its_room),
    cmocka_unit_test(a_stop_ends_retries_but_not_a_result),
    cmocka_unit_test(preemption_costs_no_retry),
    cmocka_unit_test(a_result_goes_before_preemption),
    cmocka_unit_test(preempted_before_it_starts_or_while_it_is_stopped),
    cmocka_unit_test(failing_memory),
    cmocka_unit_test(a_job_of_one_task_is_small),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
