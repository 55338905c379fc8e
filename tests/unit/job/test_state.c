/* The states as the API says them, row by row, and why a job was decided. */
#include "by_hand.h"

/* rest-api 4.1: for -210, -220, another code below 0, 0 and one above. */
static void the_table(void **state)
{
  static const int codes[] = { -210, -220, -230, 0, 255 };
  static const struct {
    const char *state, *job[5], *attempt[5];
  } rows[] = {
#define ALL(x) { x, x, x, x, x }
#define ENDS                                                \
  {                                                         \
    "STOPPING", "STOPPING", "RUNNING", "RUNNING", "RUNNING" \
  }
#define IS_OVER                                           \
  {                                                       \
    "STOPPED", "STOPPED", "FAILED", "SUCCEEDED", "FAILED" \
  }
    { "AttemptCreationPending", ALL("WAITING"), ALL("WAITING") },
    { "AttemptCreationRequested", ALL("WAITING"), ALL("WAITING") },
    { "AttemptPreparing", ALL("WAITING"), ALL("WAITING") },
    { "AttemptRunning", ALL("RUNNING"), ALL("RUNNING") },
    { "AttemptDeletionPending", ENDS, ENDS },
    { "AttemptDeletionRequested", ENDS, ENDS },
    { "AttemptDeleting", ENDS, ENDS },
    { "AttemptCompleted", ENDS, IS_OVER },
    { "Completed", IS_OVER, IS_OVER },
    { "", ALL("UNKNOWN"), ALL("UNKNOWN") },
    { "completed", ALL("UNKNOWN"), ALL("UNKNOWN") },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    for (size_t k = 0; k < PAI__LEN(codes); k++) {
      assert_string_equal(pai__api_state(rows[i].state, codes[k]),
                          rows[i].job[k]);
      assert_string_equal(pai__api_attempt_state(rows[i].state, codes[k]),
                          rows[i].attempt[k]);
    }
}

static void expect_message(const by_hand *h, const char *wanted)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__job_trigger_message(&b, &h->job);
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

/* A job of two tasks with these minima, which end so. */
static void decide(int32_t failed, int32_t succeeded, int first, int second,
                   const char *wanted)
{
  by_hand h;

  hand_form(&h, 2, 0, 0);
  h.roles[0].min_failed = failed;
  h.roles[0].min_succeeded = succeeded;
  hand_begin(&h);
  hand_bring_up(&h);
  expect_message(&h, "");
  hand_end(&h, 0, first);
  hand_end(&h, 1, second);
  expect_message(&h, wanted);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

static void why_it_was_decided(void **state)
{
  (void)state;
  decide(2, 2, 1, 1,
         "FailedTaskCount 2 has reached MinFailedTaskCount 2 in the TaskRole");
  decide(-1, 2, 0, 0,
         "SucceededTaskCount 2 has reached MinSucceededTaskCount 2 in the "
         "TaskRole");
  decide(-1, -1, 0, 0,
         "CompletedTaskCount 2 has reached TotalTaskCount 2 in the Framework");
  decide(-1, 2, 0, 7,
         "CompletedTaskCount 2 has reached TotalTaskCount 2 in the Framework");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table),
    cmocka_unit_test(why_it_was_decided),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
