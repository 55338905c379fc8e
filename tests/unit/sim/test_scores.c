/* test_scores.c - forecasts that came true, and bands that learn from it */
#include "learned.h"

#define SECOND INT64_C(1000000)

/* --- scores --------------------------------------------------------------- */

static void scores_and_waits_are_two_ways(void **state)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, 40 * SECOND, 80 * SECOND,
                       160 * SECOND };

  (void)state;
  assert_int_equal(pai__score_of(waits, 5, 0), -1000);
  assert_int_equal(pai__score_of(waits, 5, 5 * SECOND), -500);
  assert_int_equal(pai__score_of(waits, 5, 10 * SECOND), 0);
  assert_int_equal(pai__score_of(waits, 5, 30 * SECOND), 375);
  assert_int_equal(pai__score_of(waits, 5, 160 * SECOND), 1000);
  assert_int_equal(pai__score_of(waits, 5, 320 * SECOND), 2000);
  for (int32_t i = -1000; i < 5000; i += 125) {
    pai_time wait = pai__score_wait(waits, 5, i);

    assert_int_equal(pai__score_of(waits, 5, wait), i);
  }
}

static void scores_know_what_never_starts(void **state)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, INT64_MAX };

  (void)state;
  assert_int_equal(pai__score_of(waits, 3, 50 * SECOND), 500);
  assert_true(pai__score_wait(waits, 3, 501) == INT64_MAX);
  assert_true(pai__score_wait(waits, 3, 2000) == INT64_MAX);
  assert_int_equal(pai__score_wait(waits, 3, 500), 20 * SECOND);
  assert_true(pai__score_wait(waits, 0, 500) == INT64_MAX);
  assert_true(pai__score_wait(waits + 2, 1, -500) == INT64_MAX);
  assert_int_equal(pai__score_of(waits, 1, 10 * SECOND), 0);
}

/* Of forecasts that were too narrow: nine of ten are wider then. */
static void bands_learn(void **state)
{
  pai_history *h = learned_new();

  (void)state;
  assert_int_equal(pai__score_for(NULL, PAI__P90), 900);
  assert_in_range(pai__score_for(h, PAI__P90), 890, 910);
  assert_in_range(pai__score_for(h, PAI__P10), 90, 110);
  /* A few do not change much. */
  for (int i = 0; i < 4; i++)
    pai__history_score(h, 5000);
  assert_in_range(pai__score_for(h, PAI__P90), 950, 990);
  for (int i = 0; i < PAI__SCORES; i++)
    pai__history_score(h, i % 100 * 20);
  assert_in_range(pai__score_for(h, PAI__P90), 1720, 1820);
  assert_in_range(pai__score_for(h, PAI__P50), 860, 1000);
  assert_in_range(pai__score_for(h, PAI__P10), 130, 220);
  pai_history_free(h);
}

/* What always comes later is told later, and in the end beyond all that was
 * seen; what comes as often as it should stays. */
static void bands_follow_the_times(void **state)
{
  pai_history *h = learned_new();
  int32_t before;

  (void)state;
  for (int i = 0; i < 200; i++)
    pai__history_score(h, 500);
  before = pai__score_for(h, PAI__P90);
  for (int i = 0; i < 10; i++)
    pai__history_level(h, PAI__P90, i == 5);
  assert_int_equal(h->levels[PAI__P90], 0);
  for (int i = 0; i < 5; i++)
    pai__history_level(h, PAI__P90, true);
  assert_true(pai__score_for(h, PAI__P90) > before);
  for (int i = 0; i < 20; i++)
    pai__history_level(h, PAI__P90, true);
  assert_true(pai__score_for(h, PAI__P90) > 1000);
  for (int i = 0; i < 2000; i++) {
    pai__history_level(h, PAI__P10, false);
    pai__history_level(h, PAI__P90, true);
  }
  assert_int_equal(h->levels[PAI__P10], -10000);
  assert_int_equal(h->levels[PAI__P90], 100000);
  pai_history_free(h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(scores_and_waits_are_two_ways),
    cmocka_unit_test(scores_know_what_never_starts),
    cmocka_unit_test(bands_learn),
    cmocka_unit_test(bands_follow_the_times),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
