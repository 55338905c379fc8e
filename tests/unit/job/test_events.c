/* Events at any time: while tasks start, to stop, out of place, at random. */
#include "by_hand.h"

#include "base/prng.h"

#include <openpai/platform.h>

/* The host starts tasks one by one; what was decided meanwhile counts. */
static void a_task_whose_turn_has_not_come_is_not_started(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 3, 0, 0);

  (void)state;
  job_expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(job_event(job, PAI__EV_PLACED, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_START, 0);
  assert_int_equal(job_event(job, PAI__EV_TASK_STARTED, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_START, 1); /* it comes up while the user stops it */
  assert_true(pai__job_has_next(job));
  assert_int_equal(job_event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_STOP, 0);
  job_expect(job, PAI__DO_STOP, 1);
  job_expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 2), PAI_STATE_STOPPED);
  assert_int_equal(job_event(job, PAI__EV_TASK_STARTED, 1, 0), PAI_OK);
  job_end(job, 0, 143);
  job_end(job, 1, 143);
  job_expect(job, PAI__DO_RELEASE, 0);
  job_expect(job, PAI__DO_FINISH, 0);
  assert_false(pai__job_has_next(job));
  pai__job_free(job);
}

static void stop_once_then_at_once(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 2, 0, 5);

  (void)state;
  job_bring_up(job);
  job_end(job, 0, 0);
  assert_int_equal(job_event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_STOP, 1);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPING);
  assert_int_equal(job_event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_KILL, 1);
  job_end(job, 1, 137);
  job_expect(job, PAI__DO_RELEASE, 0);
  job_expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPED);
  assert_int_equal(job->code, PAI__CODE_STOPPED);
  assert_int_equal(job->tasks[1].code, PAI__CODE_STOPPED);
  assert_int_equal(job->tasks[0].code, 0); /* it had ended well before */
  assert_int_equal(job_event(job, PAI__EV_STOP, 0, 0), PAI_EINVAL);
  pai__job_free(job);
}

static void stop_before_it_started(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 1, 0, 5);

  (void)state;
  job_expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(job_event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  job_expect(job, PAI__DO_RELEASE, 0);
  job_expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPED);
  pai__job_free(job);
}

static void events_out_of_place_change_nothing(void **state)
{
  made_spec m;
  pai__job *job = job_start(&m, 1, 0, 0);

  (void)state;
  job_expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(job_event(job, PAI__EV_TASK_STARTED, 0, 0), PAI_EINVAL);
  assert_int_equal(job_event(job, PAI__EV_TASK_ENDED, 0, 0), PAI_EINVAL);
  assert_int_equal(job_event(job, PAI__EV_TASK_ENDED, 1, 0), PAI_EINVAL);
  assert_int_equal(job_event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_EINVAL);
  job_expect_nothing(job);
  assert_int_equal(job->state, PAI__JOB_QUEUED);
  pai__job_free(job);
}

/* Counts tasks the host would have running, to hold the fold to account. */
static void random_events_never_confuse_it(void **state)
{
  pai__prng r = { 20260101 };

  (void)state;
  for (int run = 0; run < 2000; run++) {
    bool running[4] = { false };
    bool placed = false;
    made_spec m;
    pai__job *job = job_start(&m, 2, 2, (uint32_t)pai__prng_below(&r, 3));
    pai__action a;
    int steps = 0;

    for (size_t i = 0; i < 2; i++) {
      m.roles[i].min_failed = (int32_t)pai__prng_below(&r, 4) - 1;
      m.roles[i].min_succeeded = (int32_t)pai__prng_below(&r, 4) - 1;
    }
    while (job->state != PAI__JOB_DONE && steps++ < 500) {
      enum pai__event_kind kind =
        (enum pai__event_kind)pai__prng_below(&r, PAI__EV_RETRY_DUE + 1);
      uint32_t task = (uint32_t)pai__prng_below(&r, 4);
      static const int codes[] = { 0, 0, 1, 200, 201, 210 };
      bool waiting = job->state == PAI__JOB_BACKOFF;
      int rc;

      /* The host lies in no way but one: events may come out of place. */
      if (kind == PAI__EV_STOP && pai__prng_below(&r, 20) != 0)
        continue;
      if (kind == PAI__EV_PLACED && pai__job_has_next(job))
        continue; /* it was not asked yet */
      rc = job_event(job, kind, task, codes[pai__prng_below(&r, 6)]);
      if (kind == PAI__EV_TASK_ENDED) {
        assert_int_equal(rc == PAI_OK, running[task]);
        running[task] = false;
      }
      if (kind == PAI__EV_RETRY_DUE)
        assert_int_equal(rc == PAI_OK, waiting);
      if (rc == PAI_OK && kind == PAI__EV_PLACED)
        placed = true;
      /* It may leave tasks for later, as a loop that has more to do. */
      for (bool go_on = true; go_on && pai__job_next(job, &a);) {
        switch (a.kind) {
        case PAI__DO_START:
          assert_true(placed && !running[a.task]);
          running[a.task] = true;
          go_on = pai__prng_below(&r, 2) != 0;
          break;
        case PAI__DO_STOP:
        case PAI__DO_KILL: assert_true(running[a.task]); break;
        case PAI__DO_RELEASE:
          assert_false(running[0] || running[1] || running[2] || running[3]);
          placed = false;
          break;
        default: break;
        }
      }
    }
    assert_int_equal(job->state, PAI__JOB_DONE); /* never stuck */
    assert_false(placed || pai__job_has_next(job));
    assert_true(job->counted <= m.spec.retry_count);
    pai__job_free(job);
  }
}

static int body(const pai_alloc *alloc, void *user_data)
{
  made_spec m;
  pai__job *job;
  pai__action a;
  int rc = pai__job_new(&job, alloc, job_spec(&m, 3, 0, 0), 1);

  (void)user_data;
  if (rc < 0) {
    assert_int_equal(atomic_load(&m.spec.refs), 1);
    return rc;
  }
  for (int kind = 0; rc == PAI_OK && kind < 2; kind++)
    rc = job_event(job, kind == 0 ? PAI__EV_PLACED : PAI__EV_STOP, 0, 0);
  while (rc == PAI_OK && job->state != PAI__JOB_DONE && pai__job_next(job, &a))
    if (a.kind == PAI__DO_STOP)
      rc = job_event(job, PAI__EV_TASK_ENDED, a.task, 0);
  pai__job_free(job);
  return rc;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_task_whose_turn_has_not_come_is_not_started),
    cmocka_unit_test(stop_once_then_at_once),
    cmocka_unit_test(stop_before_it_started),
    cmocka_unit_test(events_out_of_place_change_nothing),
    cmocka_unit_test(random_events_never_confuse_it),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
