/* The completion policy (job-spec 5.5): what decides an attempt, and who. */
#include "by_hand.h"

#include <openpai/platform.h>

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
  hand_bring_up(&h);
  for (; !h.job.decided && after < 5 && rows[i].ends[after].count > 0;
       after++) {
    const end *e = &rows[i].ends[after];

    h.now = e->time;
    assert_int_equal(
      hand_event(&h, PAI__EV_TASK_ENDED, e->task, e->count, e->code), PAI_OK);
  }
  if (!h.job.decided || after != rows[i].decided_after ||
      h.job.code != rows[i].code || h.job.trigger != rows[i].trigger)
    fail_msg("row %zu: decided %d after %d, by %u with %d", i, h.job.decided,
             after, h.job.trigger, h.job.code);
  pai__job_dispose(&h.job);
}

static void the_table(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    check_row(i);
}

/* Tasks of any order and times: the n-th of them is who a sort finds. */
static void the_nth_by_time(void **state)
{
  pai__prng r = { 5 };

  (void)state;
  for (int run = 0; run < 500; run++) {
    pai_time times[20], got;
    uint32_t before = 0, same = 0, n = 1 + (uint32_t)pai__prng_below(&r, 20);
    by_hand h;

    hand_form(&h, 20, 0, 0);
    h.roles[0].min_failed = -1;
    h.roles[0].min_succeeded = -1;
    hand_begin(&h);
    hand_bring_up(&h);
    h.roles[0].min_failed = (int32_t)n; /* asked of all of them at once */
    for (uint32_t t = 0; t < 20; t++)
      times[t] = (pai_time)pai__prng_below(&r, 12);
    for (uint32_t t = 0; t < 20; t++) {
      pai__task *task = &h.job.at.many.tasks[t];

      if (t == 19)
        break;
      task->state = PAI__TASK_DONE; /* as though no rule had been looked at */
      task->code = 1;
      task->time = times[t];
      h.job.role.badly++;
      h.job.done++;
      h.job.alive--;
    }
    h.now = times[19];
    hand_end(&h, 19, 1);
    got = times[h.job.trigger];
    for (uint32_t t = 0; t < 20; t++) {
      before += times[t] < got;
      same += times[t] == got && t <= h.job.trigger;
    }
    assert_int_equal(before + same, n);
    pai__job_dispose(&h.job);
  }
}

/* It is over when its owner says so. */
static void without_tasks_it_never_completes(void **state)
{
  by_hand h;

  (void)state;
  hand_start(&h, 0, 0, 0);
  hand_expect_whole(&h, PAI__DO_QUEUE);
  hand_take(&h, PAI__EV_PLACED, 0, 0);
  hand_expect_nothing(&h);
  assert_false(h.job.decided);
  hand_take(&h, PAI__EV_STOP, 0, 0);
  hand_expect_finish(&h);
  hand_dispose(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table),
    cmocka_unit_test(the_nth_by_time),
    cmocka_unit_test(without_tasks_it_never_completes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
