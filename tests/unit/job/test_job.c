/* The life of a job: completion policy, retries, stopping, random events. */
#include "testing.h"

#include "job/job.h"

#include <openpai/platform.h>

/* A spec of up to two roles, made without a file. */
typedef struct made_spec {
  pai_spec spec;
  pai__role roles[2];
} made_spec;

static pai_spec *make_spec(made_spec *m, uint32_t first, uint32_t second,
                           uint32_t retries)
{
  *m = (made_spec){ .spec = { .alloc = pai__libc_alloc,
                              .name = "job",
                              .retry_count = retries,
                              .roles = m->roles,
                              .nroles = second > 0 ? 2 : 1,
                              .ntasks = first + second } };
  m->roles[0] = (pai__role){ .name = "a",
                             .instances = first,
                             .min_failed = 1,
                             .min_succeeded = (int32_t)first };
  m->roles[1] = (pai__role){ .name = "b",
                             .instances = second,
                             .min_failed = 1,
                             .min_succeeded = (int32_t)second };
  atomic_init(&m->spec.refs, 1);
  return &m->spec;
}

static int event(pai__job *job, enum pai__event_kind kind, uint32_t task,
                 int code)
{
  return pai__job_handle(job, &(pai__job_event){ kind, task, code });
}

/* The next action must be this one. */
static pai_time expect(pai__job *job, enum pai__action_kind kind,
                       uint32_t task)
{
  pai__action a;

  assert_true(pai__job_next(job, &a));
  assert_int_equal(a.kind, kind);
  assert_int_equal(a.task, task);
  return a.delay;
}

static void expect_nothing(pai__job *job)
{
  pai__action a;

  assert_false(pai__job_next(job, &a));
}

static pai__job *start(made_spec *m, uint32_t first, uint32_t second,
                       uint32_t retries)
{
  pai__job *job;

  assert_int_equal(pai__job_new(&job, &pai__libc_alloc,
                                make_spec(m, first, second, retries), 1),
                   PAI_OK);
  return job;
}

/* Placed, and all tasks up. */
static void bring_up(pai__job *job)
{
  expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(event(job, PAI__EV_PLACED, 0, 0), PAI_OK);
  for (uint32_t i = 0; i < job->ntasks; i++) {
    expect(job, PAI__DO_START, i);
    assert_int_equal(event(job, PAI__EV_TASK_STARTED, i, 0), PAI_OK);
  }
  expect_nothing(job);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_RUNNING);
}

static void end(pai__job *job, uint32_t task, int code)
{
  assert_int_equal(event(job, PAI__EV_TASK_ENDED, task, code), PAI_OK);
}

static void all_succeed(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 2, 0, 0);

  (void)state;
  assert_int_equal(pai__job_public_state(job), PAI_STATE_WAITING);
  bring_up(job);
  end(job, 1, 0);
  expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 1), PAI_STATE_SUCCEEDED);
  end(job, 0, 0);
  expect(job, PAI__DO_RELEASE, 0);
  expect(job, PAI__DO_FINISH, 0);
  expect_nothing(job);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_SUCCEEDED);
  assert_int_equal(job->code, 0);
  assert_ptr_equal(job->trigger, &job->tasks[0]);
  pai__job_free(job);
}

static void first_failure_decides_and_stops_the_rest(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 2, 1, 0);

  (void)state;
  bring_up(job);
  end(job, 2, 7);
  expect(job, PAI__DO_STOP, 0);
  expect(job, PAI__DO_STOP, 1);
  expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 0), PAI_STATE_STOPPING);
  end(job, 0, 143); /* how it died says nothing about it */
  end(job, 1, 0);
  assert_int_equal(job->tasks[0].code, PAI__CODE_JOB_OVER);
  assert_int_equal(job->tasks[1].code, PAI__CODE_JOB_OVER);
  expect(job, PAI__DO_RELEASE, 0);
  expect(job, PAI__DO_FINISH, 0);
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
    pai__job *job = start(&m, 3, 0, 0);
    int after = 0;

    m.roles[0].min_failed = rows[i].min_failed;
    m.roles[0].min_succeeded = rows[i].min_succeeded;
    bring_up(job);
    while (!job->decided && job->state != PAI__JOB_DONE) {
      end(job, (uint32_t)after, rows[i].codes[after]);
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
  pai__job *job = start(&m, 1, 1, 0);

  (void)state;
  m.roles[1].min_failed = -1;
  m.roles[0].min_succeeded = -1;
  bring_up(job);
  end(job, 1, 3); /* no rule of b looks at failures */
  expect_nothing(job);
  end(job, 0, 4);
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
    pai__job *job = start(&m, 1, 0, 1);

    bring_up(job);
    end(job, 0, rows[i].code);
    expect(job, PAI__DO_RELEASE, 0);
    if (!rows[i].again) {
      expect(job, PAI__DO_FINISH, 0);
    } else if (rows[i].delayed) {
      pai_time delay = expect(job, PAI__DO_WAIT, 0);
      assert_in_range(delay, 60000000, 900000000);
      assert_int_equal(job->state, PAI__JOB_BACKOFF);
      assert_int_equal(event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_OK);
      expect(job, PAI__DO_QUEUE, 0);
    } else {
      expect(job, PAI__DO_QUEUE, 0);
    }
    assert_int_equal(job->retries, rows[i].again);
    assert_int_equal(job->counted, rows[i].counts);
    pai__job_free(job);
  }
}

static void retries_end(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 1, 0, 2);

  (void)state;
  for (int attempt = 0; attempt < 3; attempt++) {
    bring_up(job);
    end(job, 0, 1);
    expect(job, PAI__DO_RELEASE, 0);
  }
  expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(job->attempt, 2);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_FAILED);
  pai__job_free(job);
}

/* A job that says "transient" for ever does not spin. */
static void transient_retries_come_ever_later(void **state)
{
  static const int seconds[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60, 60 };
  made_spec m;
  pai__job *job = start(&m, 1, 0, 0);

  (void)state;
  for (size_t i = 0; i < PAI__LEN(seconds); i++) {
    bring_up(job);
    end(job, 0, 200);
    expect(job, PAI__DO_RELEASE, 0);
    if (seconds[i] == 0)
      continue;
    assert_int_equal(expect(job, PAI__DO_WAIT, 0),
                     (pai_time)seconds[i] * 1000000);
    assert_int_equal(event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_OK);
  }
  assert_int_equal(job->counted, 0);
  pai__job_free(job);
}

/* The host starts tasks one by one; what was decided meanwhile counts. */
static void a_task_whose_turn_has_not_come_is_not_started(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 3, 0, 0);

  (void)state;
  expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(event(job, PAI__EV_PLACED, 0, 0), PAI_OK);
  expect(job, PAI__DO_START, 0);
  assert_int_equal(event(job, PAI__EV_TASK_STARTED, 0, 0), PAI_OK);
  expect(job, PAI__DO_START, 1); /* and it comes up while the user stops it */
  assert_true(pai__job_has_next(job));
  assert_int_equal(event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  expect(job, PAI__DO_STOP, 0);
  expect(job, PAI__DO_STOP, 1);
  expect_nothing(job);
  assert_int_equal(pai__job_task_state(job, 2), PAI_STATE_STOPPED);
  assert_int_equal(event(job, PAI__EV_TASK_STARTED, 1, 0), PAI_OK);
  end(job, 0, 143);
  end(job, 1, 143);
  expect(job, PAI__DO_RELEASE, 0);
  expect(job, PAI__DO_FINISH, 0);
  assert_false(pai__job_has_next(job));
  pai__job_free(job);
}

static void stop_once_then_at_once(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 2, 0, 5);

  (void)state;
  bring_up(job);
  end(job, 0, 0);
  assert_int_equal(event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  expect(job, PAI__DO_STOP, 1);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPING);
  assert_int_equal(event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  expect(job, PAI__DO_KILL, 1);
  end(job, 1, 137);
  expect(job, PAI__DO_RELEASE, 0);
  expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPED);
  assert_int_equal(job->code, PAI__CODE_STOPPED);
  assert_int_equal(job->tasks[1].code, PAI__CODE_STOPPED);
  assert_int_equal(job->tasks[0].code, 0); /* it had ended well before */
  assert_int_equal(event(job, PAI__EV_STOP, 0, 0), PAI_EINVAL);
  pai__job_free(job);
}

static void stop_before_it_started(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 1, 0, 5);

  (void)state;
  expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(event(job, PAI__EV_STOP, 0, 0), PAI_OK);
  expect(job, PAI__DO_RELEASE, 0);
  expect(job, PAI__DO_FINISH, 0);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_STOPPED);
  pai__job_free(job);
}

static void events_out_of_place_change_nothing(void **state)
{
  made_spec m;
  pai__job *job = start(&m, 1, 0, 0);

  (void)state;
  expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(event(job, PAI__EV_TASK_STARTED, 0, 0), PAI_EINVAL);
  assert_int_equal(event(job, PAI__EV_TASK_ENDED, 0, 0), PAI_EINVAL);
  assert_int_equal(event(job, PAI__EV_TASK_ENDED, 1, 0), PAI_EINVAL);
  assert_int_equal(event(job, PAI__EV_RETRY_DUE, 0, 0), PAI_EINVAL);
  expect_nothing(job);
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
    pai__job *job = start(&m, 2, 2, (uint32_t)pai__prng_below(&r, 3));
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
      rc = event(job, kind, task, codes[pai__prng_below(&r, 6)]);
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
  int rc = pai__job_new(&job, alloc, make_spec(&m, 3, 0, 0), 1);

  (void)user_data;
  if (rc < 0) {
    assert_int_equal(atomic_load(&m.spec.refs), 1);
    return rc;
  }
  for (int kind = 0; rc == PAI_OK && kind < 2; kind++)
    rc = event(job, kind == 0 ? PAI__EV_PLACED : PAI__EV_STOP, 0, 0);
  while (rc == PAI_OK && job->state != PAI__JOB_DONE && pai__job_next(job, &a))
    if (a.kind == PAI__DO_STOP)
      rc = event(job, PAI__EV_TASK_ENDED, a.task, 0);
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
    cmocka_unit_test(all_succeed),
    cmocka_unit_test(first_failure_decides_and_stops_the_rest),
    cmocka_unit_test(completion_policy),
    cmocka_unit_test(the_earlier_trigger_wins),
    cmocka_unit_test(retry_table),
    cmocka_unit_test(retries_end),
    cmocka_unit_test(transient_retries_come_ever_later),
    cmocka_unit_test(a_task_whose_turn_has_not_come_is_not_started),
    cmocka_unit_test(stop_once_then_at_once),
    cmocka_unit_test(stop_before_it_started),
    cmocka_unit_test(events_out_of_place_change_nothing),
    cmocka_unit_test(random_events_never_confuse_it),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
