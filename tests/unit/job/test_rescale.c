/* A role gets more tasks or fewer; and what states are called elsewhere. */
#include "by_hand.h"

#include <openpai/platform.h>

static const pai__task *task(const by_hand *h, uint32_t i)
{
  return &pai__job_tasks(&h->job)[i];
}

static void rescale(by_hand *h, uint32_t role, uint32_t tasks)
{
  assert_int_equal(pai__job_rescale(&h->job, role, tasks, h->now), PAI_OK);
}

/* A job of one task, which begins without memory of its own. */
static void a_running_gang_grows(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  h.roles[0].min_succeeded = -1;
  hand_bring_up(&h);
  rescale(&h, 0, 3);
  hand_expect(&h, PAI__DO_QUEUE, 1, 2); /* these alone */
  hand_end(&h, 0, 0);
  hand_expect_nothing(&h); /* it goes on */
  hand_take(&h, PAI__EV_PLACED, 1, 2);
  hand_expect(&h, PAI__DO_START, 1, 2);
  assert_int_equal(task(&h, 2)->index, 2);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 1, 2, 0), PAI_OK);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

/* Numbers of tasks stay what they are. */
static void new_tasks_stand_behind_all_others(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 1, 0);
  rescale(&h, 0, 2); /* before it is queued: nothing but more to be placed */
  hand_expect_whole(&h, PAI__DO_QUEUE);
  rescale(&h, 1, 2);
  hand_expect_nothing(&h);
  hand_place(&h);
  assert_int_equal(h.job.ntasks, 4);
  assert_int_equal(task(&h, 1)->role, 1);
  assert_int_equal(task(&h, 2)->role, 0);
  assert_int_equal(task(&h, 2)->index, 1);
  assert_int_equal(task(&h, 3)->role, 1);
  hand_end(&h, 3, 6);
  hand_expect(&h, PAI__DO_STOP, 0, 3);
  assert_int_equal(pai__job_rescale(&h.job, 0, 5, 0), PAI_EBUSY);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 0, 3, 0), PAI_OK);
  hand_expect_finish(&h);
  assert_int_equal(pai__job_rescale(&h.job, 0, 5, 0), PAI_EINVAL);
  assert_int_equal(pai__job_rescale(&h.job, 2, 5, 0), PAI_EINVAL);
  hand_dispose(&h);
}

static void a_running_gang_shrinks(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 4, 0, 0);
  h.roles[0].min_succeeded = -1;
  hand_bring_up(&h);
  hand_end(&h, 3, 0);
  rescale(&h, 0, 2);
  hand_expect(&h, PAI__DO_STOP, 2, 1);
  hand_expect(&h, PAI__DO_RELEASE, 3, 1); /* it had completed */
  assert_int_equal(h.job.done, 0);        /* and that counts no more */
  assert_int_equal(task(&h, 3)->code, PAI__CODE_REMOVED);
  hand_end(&h, 2, 1); /* as it was asked to */
  hand_expect(&h, PAI__DO_RELEASE, 2, 1);
  assert_false(h.job.decided);
  assert_int_equal(task(&h, 2)->state, PAI__TASK_GONE);
  hand_end(&h, 0, 0);
  rescale(&h, 0, 1); /* with which all have completed */
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  assert_true(h.job.decided);
  hand_end(&h, 1, 0);
  hand_expect_finish(&h);
  assert_int_equal(h.job.code, 0);
  hand_dispose(&h);
}

/* An index that is wanted again is another instance. */
static void what_was_removed_is_wanted_again(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 3, 0, 0);
  hand_bring_up(&h);
  rescale(&h, 0, 1);
  hand_expect(&h, PAI__DO_STOP, 1, 2);
  hand_end(&h, 1, 143);
  hand_expect(&h, PAI__DO_RELEASE, 1, 1);
  rescale(&h, 0, 3);
  hand_expect(&h, PAI__DO_QUEUE, 1, 1);
  hand_end(&h, 2, 143); /* it was still there, and so is its room */
  hand_expect(&h, PAI__DO_START, 2, 1);
  assert_int_equal(task(&h, 2)->retries, 0);
  assert_int_equal(h.job.ntasks, 3);
  rescale(&h, 0, 2);
  hand_expect(&h, PAI__DO_STOP, 2, 1);
  hand_end(&h, 2, 0);
  rescale(&h, 0, 3); /* before its room was given back: it waits in its turn */
  hand_expect(&h, PAI__DO_RETURN, 2, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  assert_int_equal(pai__job_rescale(&h.job, 0, 9, 0), PAI_EBUSY);
  hand_end(&h, 0, 1);
  hand_expect_whole(&h, PAI__DO_RETURN);
  hand_place(&h);
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 0, 3, 0), PAI_OK);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

/* Nobody has completed then. */
static void a_gang_that_shrinks_to_nothing_goes_on(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 2, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 1, 0);
  rescale(&h, 0, 0);
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  hand_expect(&h, PAI__DO_RELEASE, 1, 1);
  hand_end(&h, 0, 0);
  hand_expect(&h, PAI__DO_RELEASE, 0, 1);
  hand_expect_nothing(&h);
  assert_false(h.job.decided);
  rescale(&h, 0, 1);
  hand_expect(&h, PAI__DO_QUEUE, 0, 1);
  hand_dispose(&h);
}

/* Its room is wanted back before it is wanted again. */
static void removed_preempted_and_wanted_again(void **state)
{
  by_hand h;

  (void)state;
  hand_form(&h, 2, 0, 0);
  h.form.partial = true;
  hand_begin(&h);
  hand_expect(&h, PAI__DO_QUEUE, 0, 2);
  hand_take(&h, PAI__EV_PLACED, 0, 0);
  hand_expect(&h, PAI__DO_START, 0, 2);
  rescale(&h, 0, 1);
  hand_expect(&h, PAI__DO_STOP, 1, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 1, 1);
  rescale(&h, 0, 2);
  hand_end(&h, 1, 143);
  hand_expect(&h, PAI__DO_RETURN, 1, 1);
  hand_take(&h, PAI__EV_PLACED, 1, 1);
  hand_expect(&h, PAI__DO_START, 1, 1);
  hand_dispose(&h);
}

static void decided_before_what_was_removed_has_ended(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 3, 0, 0);
  hand_bring_up(&h);
  rescale(&h, 0, 2);
  hand_expect(&h, PAI__DO_STOP, 2, 1);
  hand_end(&h, 0, 4);
  hand_expect(&h, PAI__DO_STOP, 1, 1); /* the other one knows already */
  hand_end(&h, 2, 143);
  assert_int_equal(task(&h, 2)->state, PAI__TASK_GONE);
  assert_int_equal(task(&h, 2)->code, PAI__CODE_REMOVED);
  hand_end(&h, 1, 143);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai__job job;
  by_hand h;
  int rc;

  hand_form(&h, *(const uint32_t *)user_data, 0, 0);
  rc = pai__job_init(&job, alloc, &h.form, 1);
  if (rc == PAI_OK)
    rc = pai__job_rescale(&job, 0, 5, 0);
  if (rc < 0 && job.ntasks == h.roles[0].tasks)
    assert_int_equal(job.wanted, job.ntasks); /* nothing has changed */
  pai__job_dispose(&job);
  return rc;
}

static void failing_memory(void **state)
{
  uint32_t tasks[] = { 0, 1, 2 };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(tasks); i++)
    test_faults(body, &tasks[i]);
}

/* --- the nine states -------------------------------------------------------- */

static void expect_states(const by_hand *h, const char *job, const char *first)
{
  assert_string_equal(pai__job_contract_state(&h->job), job);
  assert_string_equal(pai__job_task_contract_state(&h->job, 0), first);
}

static void states_in_the_contract_s_words(void **state)
{
  by_hand h;

  (void)state;
  hand_form(&h, 2, 0, 0);
  h.roles[0].retry = (pai__retry_policy){ true, 0 };
  hand_begin(&h);
  expect_states(&h, "AttemptCreationPending", "AttemptCreationPending");
  hand_expect_whole(&h, PAI__DO_QUEUE);
  expect_states(&h, "AttemptPreparing", "AttemptPreparing");
  hand_take(&h, PAI__EV_PLACED, 0, 0);
  expect_states(&h, "AttemptPreparing", "AttemptPreparing");
  hand_expect(&h, PAI__DO_START, 0, 2);
  hand_take(&h, PAI__EV_TASK_STARTED, 0, 2);
  expect_states(&h, "AttemptRunning", "AttemptRunning");
  hand_end(&h, 0, 200);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_end(&h, 0, 200);
  expect_states(&h, "AttemptRunning", "AttemptCompleted");
  h.now = hand_expect_whole(&h, PAI__DO_WAIT);
  hand_take(&h, PAI__EV_DUE, 0, 0);
  hand_expect(&h, PAI__DO_START, 0, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 0);
  expect_states(&h, "AttemptDeleting", "AttemptDeleting");
  hand_expect(&h, PAI__DO_STOP, 0, 2);
  hand_event(&h, PAI__EV_TASK_ENDED, 0, 2, 1);
  expect_states(&h, "AttemptCompleted", "AttemptPreparing");
  hand_expect_whole(&h, PAI__DO_RETURN);
  expect_states(&h, "AttemptPreparing", "AttemptPreparing");
  hand_place(&h);
  hand_end(&h, 1, 201); /* a task does not wait for conflicts */
  hand_expect(&h, PAI__DO_START, 1, 1);
  hand_end(&h, 1, 210);
  expect_states(&h, "AttemptDeletionPending", "AttemptDeletionPending");
  hand_expect(&h, PAI__DO_STOP, 0, 1);
  expect_states(&h, "AttemptDeletionRequested", "AttemptDeletionRequested");
  hand_take(&h, PAI__EV_IMPATIENT, 0, 0);
  hand_expect(&h, PAI__DO_KILL, 0, 1);
  expect_states(&h, "AttemptDeletionRequested", "AttemptDeleting");
  hand_end(&h, 0, 137);
  expect_states(&h, "AttemptCompleted", "Completed");
  hand_expect_finish(&h);
  expect_states(&h, "Completed", "Completed");
  hand_dispose(&h);
}

static void states_while_a_job_waits_to_be_tried_again(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 1, 0, 0);
  hand_bring_up(&h);
  hand_end(&h, 0, 201);
  expect_states(&h, "AttemptCompleted", "Completed");
  hand_expect_whole(&h, PAI__DO_RETURN);
  h.now = hand_expect_whole(&h, PAI__DO_WAIT);
  expect_states(&h, "AttemptCompleted", "Completed");
  hand_take(&h, PAI__EV_DUE, 0, 0);
  expect_states(&h, "AttemptPreparing", "Completed");
  hand_expect_whole(&h, PAI__DO_RESUME);
  hand_dispose(&h);
  hand_form(&h, 2, 0, 0);
  h.form.partial = true;
  hand_begin(&h);
  expect_states(&h, "AttemptCreationPending", "AttemptCreationPending");
  hand_expect(&h, PAI__DO_QUEUE, 0, 2);
  expect_states(&h, "AttemptPreparing", "AttemptPreparing");
  hand_take(&h, PAI__EV_PLACED, 0, 1);
  hand_take(&h, PAI__EV_PREEMPTED, 0, 1);
  expect_states(&h, "AttemptPreparing", "AttemptCompleted");
  hand_expect(&h, PAI__DO_RETURN, 0, 1);
  hand_dispose(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_running_gang_grows),
    cmocka_unit_test(new_tasks_stand_behind_all_others),
    cmocka_unit_test(a_running_gang_shrinks),
    cmocka_unit_test(what_was_removed_is_wanted_again),
    cmocka_unit_test(removed_preempted_and_wanted_again),
    cmocka_unit_test(decided_before_what_was_removed_has_ended),
    cmocka_unit_test(a_gang_that_shrinks_to_nothing_goes_on),
    cmocka_unit_test(failing_memory),
    cmocka_unit_test(states_in_the_contract_s_words),
    cmocka_unit_test(states_while_a_job_waits_to_be_tried_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
