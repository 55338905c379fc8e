/*
 * The completion policy (job-spec 5.5): what decides an attempt, and which task;
 * and the states as the API says them.
 */
#include "cases.h"
#include "by_hand.h"

typedef struct end {
  uint32_t task, count;
  int code;
  pai_time time;
} end;

/* Two roles of three and two tasks; their minima; what ends, an event each;
 * after how many of them it is decided, by whom, and with what. */
static const struct {
  int32_t a_failed, a_succeeded, b_failed, b_succeeded;
  end ends[5];
  int decided_after;
  uint32_t trigger;
  int code;
} rows[] = {
  /* minFailed: the status of the task that reached it */
  { 1, 3, 1, 2, { { 1, 1, 5, 1 } }, 1, 1, 5 },
  { 2, 3, 1, 2, { { 2, 1, 4, 1 }, { 0, 1, 6, 2 } }, 2, 0, 6 },
  { 1, 3, 1, 2, { { 0, 3, 0, 1 } }, 1, 2, 0 }, /* all of a: b is stopped */
  /* by completion time, also when that is told late */
  { 2, 3, 1, 2, { { 2, 1, 4, 9 }, { 0, 1, 6, 2 } }, 2, 2, 4 },
  { 2, -1, 1, 2, { { 0, 3, 3, 1 } }, 1, 1, 3 }, /* the second of three */
  { 3, -1, -1, -1, { { 2, 1, 7, 4 }, { 0, 2, 8, 4 } }, 2, 2, 7 },
  /* minSucceeded */
  { -1, 1, 1, -1, { { 2, 1, 0, 1 } }, 1, 2, 0 },
  { -1,
    2,
    1,
    -1,
    { { 2, 1, 9, 1 }, { 1, 1, 0, 2 }, { 0, 1, 0, 3 } },
    3,
    0,
    0 },
  { -1, 2, 1, -1, { { 1, 1, 0, 8 }, { 0, 1, 0, 3 } }, 2, 1, 0 },
  /* several rules at one time: the first found, in the order of roles */
  { 1, 3, 1, 2, { { 2, 2, 1, 5 } }, 1, 2, 1 },
  { 3, 3, 2, 2, { { 0, 5, 1, 5 } }, 1, 2, 1 },
  { -1, 3, -1, 2, { { 0, 5, 0, 5 } }, 1, 2, 0 },
  /* a rule that nothing came true of does not speak */
  { -1, -1, 1, 2, { { 0, 3, 9, 1 }, { 4, 1, 3, 2 } }, 2, 4, 3 },
  /* none: when all have completed, well, even if all failed */
  { -1, -1, -1, -1, { { 0, 3, 9, 1 }, { 3, 2, 8, 2 } }, 2, 4, 0 },
  { 0, 0, 0, 0, { { 3, 2, 8, 1 }, { 0, 3, 9, 2 } }, 2, 2, 0 },
  { -1, -1, -1, -1, { { 0, 4, 9, 7 }, { 4, 1, 0, 2 } }, 2, 3, 0 },
  { 4, 4, 3, 3, { { 0, 4, 0, 1 }, { 4, 1, 1, 2 } }, 2, 4, 0 },
};

static void check_row(size_t i)
{
  int after = 0;
  by_hand h;

  hand_form(&h, 3, 2, 0);
  h.roles[0].min_failed = rows[i].a_failed;
  h.roles[0].min_succeeded = rows[i].a_succeeded;
  h.roles[1].min_failed = rows[i].b_failed;
  h.roles[1].min_succeeded = rows[i].b_succeeded;
  hand_begin(&h);
  hand_play(&h, "up");
  for (; !h.job.decided && after < 5 && rows[i].ends[after].count > 0;
       after++) {
    const end *e = &rows[i].ends[after];

    h.now = e->time;
    assert_ok(hand_event(&h, PAI__EV_TASK_ENDED, e->task, e->count, e->code));
  }
  if (!h.job.decided || after != rows[i].decided_after ||
      h.job.code != rows[i].code || h.job.trigger != rows[i].trigger)
    fail_msg("row %zu: decided %d after %d, by %u with %d", i, h.job.decided,
             after, h.job.trigger, h.job.code);
  pai__job_dispose(&h.job);
}

TEST(what_ends_decides_by_the_rules)
{
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    check_row(i);
}

/* Tasks of any order and times: the n-th of them is who a sort finds. */
TEST(the_nth_by_time_decides)
{
  pai__prng r = { 5 };

  for (int run = 0; run < 500; run++) {
    pai_time times[20], got;
    uint32_t before = 0, same = 0, n = 1 + (uint32_t)pai__prng_below(&r, 20);
    by_hand h;

    hand_form(&h, 20, 0, 0);
    h.roles[0].min_failed = -1;
    h.roles[0].min_succeeded = -1;
    hand_begin(&h);
    hand_play(&h, "up");
    h.roles[0].min_failed = (int32_t)n; /* asked of all of them at once */
    for (uint32_t t = 0; t < 20; t++)
      times[t] = (pai_time)pai__prng_below(&r, 12);
    for (uint32_t t = 0; t < 19; t++) {
      pai__task *task = &h.job.at.many.tasks[t];

      task->state = PAI__TASK_DONE; /* as though no rule had been looked at */
      task->code = 1;
      task->time = times[t];
      h.job.role.badly++;
      h.job.done++;
      h.job.alive--;
    }
    h.now = times[19];
    hand_play(&h, "end 19 1 -> ...");
    got = times[h.job.trigger];
    for (uint32_t t = 0; t < 20; t++) {
      before += times[t] < got;
      same += times[t] == got && t <= h.job.trigger;
    }
    assert_int_equal(before + same, n);
    pai__job_dispose(&h.job);
  }
}

/* rest-api 4.1: for -210, -220, another code below 0, 0 and one above. */
TEST(states_as_the_api_says_them)
{
  static const int codes[] = { -210, -220, -230, 0, 255 };
  static const struct {
    const char *state, *job[5], *attempt[5];
  } states[] = {
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

  for (size_t i = 0; i < PAI__LEN(states); i++)
    for (size_t k = 0; k < PAI__LEN(codes); k++) {
      assert_string_equal(pai__api_state(states[i].state, codes[k]),
                          states[i].job[k]);
      assert_string_equal(pai__api_attempt_state(states[i].state, codes[k]),
                          states[i].attempt[k]);
    }
}

static void expect_message(const by_hand *h, const char *wanted)
{
  pai__buf b = test_buf();

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
  hand_play(&h, "up");
  expect_message(&h, "");
  (void)hand_event(&h, PAI__EV_TASK_ENDED, 0, 1, first);
  (void)hand_event(&h, PAI__EV_TASK_ENDED, 1, 1, second);
  expect_message(&h, wanted);
  hand_play(&h, " -> release, finish");
  hand_dispose(&h);
}

TEST(why_it_was_decided)
{
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
