/* Tasks that have rooms of their own: gangAllocation is false. */
#include "by_hand.h"

#include <openpai/platform.h>

static void start_partial(by_hand *h, uint32_t tasks, int32_t retries)
{
  hand_form(h, tasks, 0, retries);
  h->form.partial = true;
  h->roles[0].retry = (pai__retry_policy){ true, 1 };
  hand_begin(h);
}

static const pai__task *task(const by_hand *h, uint32_t i)
{
  return &pai__job_tasks(&h->job)[i];
}

static void tasks_come_up_as_there_is_room(void **state)
{
  by_hand h;

  (void)state;
  start_partial(&h, 4, 0);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 1, 0), PAI_EINVAL);
  hand_expect(&h, PAI__DO_QUEUE, 0, 4);
  hand_expect_nothing(&h);
  hand_take(&h, PAI__EV_PLACED, 1, 2);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 2, 0), PAI_EINVAL);
  hand_expect(&h, PAI__DO_START, 1, 2);
  assert_int_equal(h.job.state, PAI__JOB_STARTING);
  hand_take(&h, PAI__EV_TASK_STARTED, 2, 1);
  assert_int_equal(h.job.state, PAI__JOB_RUNNING);
  hand_end(&h, 2, 0);
  hand_expect(&h, PAI__DO_RELEASE, 2, 1); /* it needs its room no more */
  hand_take(&h, PAI__EV_PLACED, 0, 0);    /* the rest */
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_expect(&h, PAI__DO_START, 3, 1);
  assert_int_equal(hand_event(&h, PAI__EV_PLACED, 0, 0, 0), PAI_EINVAL);
  hand_end(&h, 0, 0);
  hand_end(&h, 1, 0);
  hand_end(&h, 3, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 2);
  hand_expect(&h, PAI__DO_RELEASE, 3, 1);
  hand_expect_whole(&h, PAI__DO_FINISH);
  assert_int_equal(h.job.code, 0);
  hand_dispose(&h);
}

static void a_retried_task_may_go_elsewhere(void **state)
{
  by_hand h;

  (void)state;
  start_partial(&h, 2, 0);
  hand_expect(&h, PAI__DO_QUEUE, 0, 2);
  hand_take(&h, PAI__EV_PLACED, 0, 2);
  hand_expect(&h, PAI__DO_START, 0, 2);
  hand_take(&h, PAI__EV_TASK_STARTED, 0, 2);
  hand_end(&h, 1, 1);
  assert_int_equal(hand_expect(&h, PAI__DO_RETURN, 1, 1), 0);
  hand_take(&h, PAI__EV_PLACED, 1, 1);
  hand_expect(&h, PAI__DO_START, 1, 1);
  hand_end(&h, 1, 200);
  hand_expect(&h, PAI__DO_RETURN, 1, 1);
  hand_take(&h, PAI__EV_PLACED, 1, 1);
  hand_expect(&h, PAI__DO_START, 1, 1);
  hand_end(&h, 1, 200); /* again so soon: it is held */
  assert_int_equal(hand_expect(&h, PAI__DO_RETURN, 1, 1), h.now + 1000000);
  assert_int_equal(hand_expect_whole(&h, PAI__DO_WAIT), h.now + 1000000);
  h.now += 1000000;
  hand_take(&h, PAI__EV_DUE, 0, 0);
  hand_expect(&h, PAI__DO_RESUME, 1, 1);
  hand_take(&h, PAI__EV_PLACED, 1, 1);
  hand_expect(&h, PAI__DO_START, 1, 1);
  assert_int_equal(task(&h, 1)->retries, 3);
  assert_int_equal(task(&h, 1)->counted, 1);
  hand_end(&h, 1, 5);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  hand_expect(&h, PAI__DO_RELEASE, 1, 1);
  hand_end(&h, 0, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 1);
  hand_expect_whole(&h, PAI__DO_FINISH);
  assert_int_equal(h.job.code, 5);
  hand_dispose(&h);
}

static void a_retried_job_asks_for_each_task_anew(void **state)
{
  by_hand h;

  (void)state;
  start_partial(&h, 3, 1);
  h.roles[0].retry = (pai__retry_policy){ false, 0 };
  hand_expect(&h, PAI__DO_QUEUE, 0, 3);
  hand_take(&h, PAI__EV_PLACED, 0, 1);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_end(&h, 0, 1);
  assert_int_equal(h.job.state, PAI__JOB_QUEUED);
  assert_int_equal(task(&h, 0)->code, 1); /* stays to be seen until here */
  assert_int_equal(h.job.attempt, 0);
  hand_expect_whole(&h, PAI__DO_RETURN);
  /* Whose room was not given back yet wait in their old turn. */
  hand_expect(&h, PAI__DO_RETURN, 0, 3);
  assert_int_equal(h.job.state, PAI__JOB_QUEUED);
  assert_int_equal(task(&h, 0)->code, 0);
  assert_int_equal(h.job.attempt, 1);
  hand_take(&h, PAI__EV_PLACED, 0, 1);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_end(&h, 0, 201);
  hand_expect(&h, PAI__DO_RELEASE, 0, 3);
  h.now = hand_expect_whole(&h, PAI__DO_WAIT);
  assert_int_equal(h.job.state, PAI__JOB_BACKOFF);
  hand_take(&h, PAI__EV_DUE, 0, 0);
  hand_expect_whole(&h, PAI__DO_RETURN);
  hand_expect(&h, PAI__DO_QUEUE, 0, 3);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 3);
  hand_expect_whole(&h, PAI__DO_FINISH);
  assert_int_equal(h.job.retries, 2);
  assert_int_equal(h.job.code, PAI__CODE_STOPPED);
  hand_dispose(&h);
}

static void tasks_are_preempted_one_by_one(void **state)
{
  by_hand h;

  (void)state;
  start_partial(&h, 3, 0);
  hand_expect(&h, PAI__DO_QUEUE, 0, 3);
  hand_take(&h, PAI__EV_PLACED, 0, 3);
  hand_expect(&h, PAI__DO_START, 0, 3);
  hand_take(&h, PAI__EV_TASK_STARTED, 0, 3);
  hand_take(&h, PAI__EV_PREEMPTED, 1, 2);
  hand_expect(&h, PAI__DO_STOP, 1, 2);
  hand_end(&h, 2, 143);
  hand_expect(&h, PAI__DO_RETURN, 2, 1);
  assert_int_equal(hand_event(&h, PAI__EV_PREEMPTED, 2, 1, 0), PAI_EINVAL);
  hand_take(&h, PAI__EV_PLACED, 2, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 2, 1); /* before it has started */
  hand_expect(&h, PAI__DO_RETURN, 2, 1);
  hand_end(&h, 1, 0);
  hand_expect(&h, PAI__DO_RETURN, 1, 1);
  hand_end(&h, 0, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 1);
  assert_int_equal(hand_event(&h, PAI__EV_PREEMPTED, 0, 0, 0), PAI_EINVAL);
  assert_int_equal(h.job.state, PAI__JOB_RUNNING);
  hand_take(&h, PAI__EV_PLACED, 1, 2);
  hand_expect(&h, PAI__DO_START, 1, 2);
  assert_int_equal(task(&h, 1)->retries, 0);
  assert_int_equal(h.job.preempted, 2);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 1, 2, 0), PAI_OK);
  hand_expect(&h, PAI__DO_RELEASE, 1, 2);
  hand_expect_whole(&h, PAI__DO_FINISH);
  assert_int_equal(h.job.code, 0);
  hand_dispose(&h);
}

/* A failure that came before the stop is one; the room goes all the same. */
static void a_failure_goes_before_preemption(void **state)
{
  by_hand h;

  (void)state;
  start_partial(&h, 1, 0);
  hand_expect(&h, PAI__DO_QUEUE, 0, 1);
  hand_take(&h, PAI__EV_PLACED, 0, 1);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 1);
  hand_end(&h, 0, 1);
  hand_expect(&h, PAI__DO_RETURN, 0, 1);
  assert_int_equal(task(&h, 0)->counted, 1);
  hand_take(&h, PAI__EV_PLACED, 0, 1);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_end(&h, 0, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 1);
  hand_expect_whole(&h, PAI__DO_FINISH);
  hand_dispose(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tasks_come_up_as_there_is_room),
    cmocka_unit_test(a_retried_task_may_go_elsewhere),
    cmocka_unit_test(a_retried_job_asks_for_each_task_anew),
    cmocka_unit_test(tasks_are_preempted_one_by_one),
    cmocka_unit_test(a_failure_goes_before_preemption),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
