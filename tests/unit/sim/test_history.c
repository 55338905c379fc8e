/* test_history.c - how long jobs took, guesses from it, and forecasts that came
 * true, with bands that learn from it */
#include "cases.h"
#include "learned.h"

#include <stdio.h>

/* --- levels --------------------------------------------------------------- */

TEST(the_most_alike_are_asked_first)
{
  pai_history *h = learned_new();
  pai_guess g;

  for (int i = 0; i < 8; i++) {
    assert_ok(learned_add(h, "ann", test_string("train-%d", i), 1, 100));
    assert_ok(learned_add(h, "ann", "eval", 1, 10));
    assert_ok(learned_add(h, "bob", "x", 16, 5000));
  }
  g = learned_guess(h, "ann", "train-99", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_NAME);
  assert_int_equal(g.samples, 8);
  assert_int_equal(g.p50, 100 * SECOND);
  g = learned_guess(h, "ann", "other", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_USER_SIZE);
  assert_int_equal(g.samples, 16);
  g = learned_guess(h, "ann", "other", 4, 0);
  assert_int_equal(g.alike, PAI_ALIKE_USER);
  g = learned_guess(h, "cid", "train-1", 12, 0);
  assert_int_equal(g.alike, PAI_ALIKE_VC_SIZE);
  assert_int_equal(g.p50, 5000 * SECOND);
  g = learned_guess(h, NULL, NULL, 2, 0);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 24);
}

TEST(few_are_not_believed)
{
  pai_history *h = learned_new();
  pai_guess g;

  g = learned_guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_NONE);
  assert_int_equal(g.p50, 3600 * SECOND);
  for (int i = 0; i < 7; i++)
    assert_ok(learned_add(h, "ann", "a", 1, 7));
  /* All there is, as nothing else is known. */
  g = learned_guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 7);
  assert_ok(learned_add(h, "ann", "a", 1, 7));
  assert_int_equal(learned_guess(h, "ann", "a", 1, 0).alike, PAI_ALIKE_NAME);
}

TEST(estimates_tell_jobs_apart)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann", .name = "a" };
  pai_guess g = { .struct_size = sizeof(g) };

  for (int i = 0; i < 16; i++) {
    p.estimate = (i % 2 != 0 ? 100 : 10000) * SECOND;
    p.duration = p.estimate / 2;
    assert_ok(pai_history_add(h, &p, NULL));
  }
  p.estimate = 110 * SECOND;
  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_int_equal(g.alike, PAI_ALIKE_NAME);
  assert_int_equal(g.p50, 50 * SECOND);
  p.estimate = 9000 * SECOND;
  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_int_equal(g.p50, 5000 * SECOND);
}

/* All of them told four times too much. */
TEST(owners_are_wrong_alike)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p) };
  pai_guess g = { .struct_size = sizeof(g) };

  for (int i = 1; i <= 9; i++) {
    p.estimate = SECOND << (2 * i);
    p.duration = p.estimate / 4;
    assert_ok(pai_history_add(h, &p, NULL));
    assert_ok(learned_add(h, NULL, NULL, 0, 5));
  }
  p.estimate = 100000 * SECOND;
  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 9);
  assert_int_equal(g.p50, 25000 * SECOND);
  assert_ok(pai_history_guess(h, &p, 1000 * SECOND, &g));
  assert_int_equal(g.p50, 25000 * SECOND);
  /* Now it is as they told. */
  assert_ok(pai_history_guess(h, &p, 30000 * SECOND, &g));
  assert_int_equal(g.p50, 100000 * SECOND);
  p.estimate = PAI__LONGEST;
  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_in_range(g.p50, PAI__LONGEST / 4 - 65536, PAI__LONGEST / 4);
  p.estimate = 0;
  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_int_equal(g.p50, 5 * SECOND);
}

TEST(owners_are_believed_without_a_history)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p),
                 .estimate = 50 * SECOND,
                 .limit = 80 * SECOND };
  pai_guess g = { .struct_size = sizeof(g) };

  assert_ok(pai_history_guess(h, &p, 0, &g));
  assert_int_equal(g.p10, 50 * SECOND);
  assert_int_equal(g.p90, 50 * SECOND);
  /* That was wrong: now it is the limit. */
  assert_ok(pai_history_guess(h, &p, 60 * SECOND, &g));
  assert_int_equal(g.p50, 80 * SECOND);
}

/* --- how long still ------------------------------------------------------- */

TEST(what_has_run_for_long_runs_longer)
{
  pai_history *h = learned_new();
  pai_guess g;

  for (int i = 1; i <= 32; i++)
    assert_ok(learned_add(h, "ann", "a", 1, i));
  g = learned_guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.p10, 3 * SECOND);
  assert_int_equal(g.p50, 16 * SECOND);
  assert_int_equal(g.p90, 30 * SECOND);
  g = learned_guess(h, "ann", "a", 1, 16);
  assert_int_equal(g.p50, 24 * SECOND);
  assert_true(g.p10 > 16 * SECOND);
  /* Longer than all of them: as long again, or so. */
  g = learned_guess(h, "ann", "a", 1, 100);
  assert_int_equal(g.alike, PAI_ALIKE_NONE);
  assert_true(g.p10 > 100 * SECOND && g.p10 < 115 * SECOND);
  assert_true(g.p50 > 195 * SECOND && g.p50 < 205 * SECOND);
  assert_true(g.p90 > 900 * SECOND && g.p90 < 1100 * SECOND);
}

/* Of a name's jobs only three were longer, of its user's some more. */
TEST(few_that_are_longer_are_not_believed)
{
  pai_history *h = learned_new();

  for (int i = 1; i <= 20; i++)
    assert_ok(learned_add(h, "ann", "a", 1, i));
  for (int i = 1; i <= 8; i++)
    assert_ok(learned_add(h, "ann", "b", 1, 100 + i));
  assert_int_equal(learned_guess(h, "ann", "a", 1, 16).alike, PAI_ALIKE_NAME);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 17).alike,
                   PAI_ALIKE_USER_SIZE);
}

TEST(limits_are_kept)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__draw_source source;

  for (int i = 1; i <= 16; i++)
    assert_ok(learned_add(h, "ann", NULL, 0, 100 * i));
  p.limit = 900 * SECOND;
  pai__history_levels(h, &p, &levels);
  pai__history_source(&levels, 300 * SECOND, &source);
  for (uint64_t i = 0; i < 1000; i++) {
    pai_time t = pai__source_draw(&source, pai__draw_random(1, i, 2, 0));

    assert_true(t > 300 * SECOND && t <= 900 * SECOND);
  }
}

/* Half of all draws are below the median, and so on: of other numbers than the
 * list's own. */
TEST(draws_are_like_what_was_seen)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__draw_source source;
  unsigned below = 0, more = 0, n = 20000;

  for (int i = 1; i <= 19; i++)
    assert_ok(learned_add(h, "ann", NULL, 0, 100 * i));
  pai__history_levels(h, &p, &levels);
  pai__history_source(&levels, 0, &source);
  for (uint64_t i = 0; i < n; i++) {
    pai_time t = pai__source_draw(&source, pai__draw_random(7, i, 2, 0));

    assert_true(t > 0 && t < 40000 * SECOND);
    below += t < 1000 * SECOND;
    more += t > 1900 * SECOND;
  }
  /* 9.5 of 20, and half of one of 20. */
  assert_true(below > n * 46 / 100 && below < n * 49 / 100);
  assert_true(more > n * 2 / 100 && more < n * 3 / 100);
}

/* --- memory --------------------------------------------------------------- */

TEST(only_the_last_ones_are_kept)
{
  test_tally tally;
  pai_history *h;
  size_t live;

  test_tally_init(&tally);
  assert_ok(pai_history_new(&h, &tally.alloc, NULL));
  for (int i = 0; i < 64; i++)
    assert_ok(learned_add(h, "ann", "a-1", 1, 5000));
  live = tally.live;
  for (int i = 0; i < 64; i++)
    assert_ok(learned_add(h, "ann", "a-2", 1, i + 1));
  assert_int_equal(tally.live, live);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 0).p90, 58 * SECOND);
  pai_history_free(h);
  assert_int_equal(tally.live, 0);
}

/* Against a plain list of the last 64. */
TEST(rings_keep_order)
{
  pai__ring r = { 0 };
  pai_time all[1000], sorted[64];

  for (uint32_t i = 0; i < 1000; i++) {
    uint32_t n = i < 63 ? i + 1 : 64;

    all[i] = (pai_time)(pai__draw_random(5, i, 0, 0) % 50);
    assert_ok(pai__ring_room(&r, &pai__libc_alloc));
    pai__ring_push(&r, all[i], 0);
    assert_int_equal(r.count, n);
    for (uint32_t k = 0; k < n; k++) {
      pai_time t = all[i + 1 - n + k];
      uint32_t at = k;

      assert_int_equal(pai__ring_at(&r, k), t);
      for (; at > 0 && sorted[at - 1] > t; at--)
        sorted[at] = sorted[at - 1];
      sorted[at] = t;
    }
    assert_memory_equal(sorted, r.sorted, n * sizeof(*sorted));
  }
  pai__free(&pai__libc_alloc, r.took, 3 * (size_t)r.cap * sizeof(*r.took));
}

/* --- those that run --------------------------------------------------------- */

/* How many of a hundred draws for a job of ann's that has not begun are longer. */
static int longer(const pai_history *h, const pai__curves *c, pai_time than)
{
  pai_past like = { .struct_size = sizeof(like), .user = "ann", .gpus = 1 };
  pai__levels levels;
  pai__draw_source source;
  int n = 0;

  pai__history_levels(h, &like, &levels);
  if (c != NULL)
    pai__curves_find(c, &levels);
  pai__history_source(&levels, 0, &source);
  for (uint64_t i = 0; i < 100; i++)
    n += pai__source_draw(&source, (2 * i + 1) * (UINT64_MAX / 200)) > than;
  return n;
}

/* So many of ann's run since a time. */
static void run_some(pai__curves *c, const pai_history *h, int count,
                     pai_time since, pai_time now)
{
  pai_past like = { .struct_size = sizeof(like), .user = "ann", .gpus = 1 };
  pai__levels levels;

  pai__history_levels(h, &like, &levels);
  pai__curves_init(c, &pai__libc_alloc);
  for (int i = 0; i < count; i++)
    assert_ok(pai__curves_add(c, &levels, since, now));
  pai__curves_make(c);
}

/* The short ones of a crowd end first. */
TEST(those_that_run_count)
{
  pai_history *h = learned_new();
  pai__curves c;

  for (int i = 0; i < 16; i++)
    assert_ok(learned_add(h, "ann", NULL, 1, 10));
  assert_in_range(longer(h, NULL, 10 * SECOND), 1, 6);
  /* Of 64 that began, 48 have run for 1,000 s: of 65, 48 take longer. */
  run_some(&c, h, 48, 0, 1000 * SECOND);
  assert_in_range(longer(h, &c, 1000 * SECOND), 70, 78);
  assert_int_equal(c.outlast, 48);
  assert_true(pai__curves_unlike(&c));
  pai__curves_dispose(&c);
  /* Younger than all that ended they tell nothing. */
  run_some(&c, h, 48, 0, 5 * SECOND);
  assert_in_range(longer(h, &c, 10 * SECOND), 1, 6);
  assert_int_equal(c.outlast, 0);
  assert_false(pai__curves_unlike(&c));
  pai__curves_dispose(&c);
}

/* Of a crowd of which the short ones are forgotten, the long ones are none. */
TEST(those_that_are_left_of_the_forgotten_do_not_count)
{
  pai_history *h = learned_new();
  pai_past p = {
    .struct_size = sizeof(p), .user = "ann", .gpus = 1, .duration = 10 * SECOND
  };
  pai__curves c;

  for (int i = 1; i <= 100; i++) {
    p.ended = i * 100 * SECOND;
    assert_ok(pai_history_add(h, &p, NULL));
  }
  run_some(&c, h, 48, 3600 * SECOND, 10000 * SECOND);
  assert_in_range(longer(h, &c, 10 * SECOND), 0, 3);
  pai__curves_dispose(&c);
  run_some(&c, h, 48, 3800 * SECOND, 10000 * SECOND);
  assert_in_range(longer(h, &c, 10 * SECOND), 30, 50);
  pai__curves_dispose(&c);
}

/* --- scores --------------------------------------------------------------- */

TEST(scores_and_waits_are_two_ways)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, 40 * SECOND, 80 * SECOND,
                       160 * SECOND };

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

TEST(scores_know_what_never_starts)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, INT64_MAX };

  assert_int_equal(pai__score_of(waits, 3, 50 * SECOND), 500);
  assert_true(pai__score_wait(waits, 3, 501) == INT64_MAX);
  assert_true(pai__score_wait(waits, 3, 2000) == INT64_MAX);
  assert_int_equal(pai__score_wait(waits, 3, 500), 20 * SECOND);
  assert_true(pai__score_wait(waits, 0, 500) == INT64_MAX);
  assert_true(pai__score_wait(waits + 2, 1, -500) == INT64_MAX);
  assert_int_equal(pai__score_of(waits, 1, 10 * SECOND), 0);
}

/* Of forecasts that were too narrow: nine of ten are wider then. */
TEST(bands_learn)
{
  pai_history *h = learned_new();

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
}

/* What always comes later is told later, and in the end beyond all that was
 * seen; what comes as often as it should stays. */
TEST(bands_follow_the_times)
{
  pai_history *h = learned_new();
  int32_t before;

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
}

TEST_AROUND_ALL(NULL, learned_free);
