/* test_history.c - how long jobs took, and guesses from it */
#include "learned.h"

#include "sim/censored.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)

/* --- levels --------------------------------------------------------------- */

static void the_most_alike_are_asked_first(void **state)
{
  pai_history *h = learned_new();
  pai_guess g;

  (void)state;
  for (int i = 0; i < 8; i++) {
    char name[32];

    (void)snprintf(name, sizeof(name), "train-%d", i);
    assert_int_equal(learned_add(h, "ann", name, 1, 100), PAI_OK);
    assert_int_equal(learned_add(h, "ann", "eval", 1, 10), PAI_OK);
    assert_int_equal(learned_add(h, "bob", "x", 16, 5000), PAI_OK);
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
  pai_history_free(h);
}

static void few_are_not_believed(void **state)
{
  pai_history *h = learned_new();
  pai_guess g;

  (void)state;
  g = learned_guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_NONE);
  assert_int_equal(g.p50, 3600 * SECOND);
  for (int i = 0; i < 7; i++)
    assert_int_equal(learned_add(h, "ann", "a", 1, 7), PAI_OK);
  /* All there is, as nothing else is known. */
  g = learned_guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 7);
  assert_int_equal(learned_add(h, "ann", "a", 1, 7), PAI_OK);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 0).alike, PAI_ALIKE_NAME);
  pai_history_free(h);
}

static void estimates_tell_jobs_apart(void **state)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann", .name = "a" };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  for (int i = 0; i < 16; i++) {
    p.estimate = (i % 2 != 0 ? 100 : 10000) * SECOND;
    p.duration = p.estimate / 2;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
  p.estimate = 110 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.alike, PAI_ALIKE_NAME);
  assert_int_equal(g.p50, 50 * SECOND);
  p.estimate = 9000 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p50, 5000 * SECOND);
  pai_history_free(h);
}

/* All of them told four times too much. */
static void owners_are_wrong_alike(void **state)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p) };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  for (int i = 1; i <= 9; i++) {
    p.estimate = SECOND << (2 * i);
    p.duration = p.estimate / 4;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
    assert_int_equal(learned_add(h, NULL, NULL, 0, 5), PAI_OK);
  }
  p.estimate = 100000 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 9);
  assert_int_equal(g.p50, 25000 * SECOND);
  assert_int_equal(pai_history_guess(h, &p, 1000 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 25000 * SECOND);
  /* Now it is as they told. */
  assert_int_equal(pai_history_guess(h, &p, 30000 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 100000 * SECOND);
  p.estimate = PAI__LONGEST;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_in_range(g.p50, PAI__LONGEST / 4 - 65536, PAI__LONGEST / 4);
  p.estimate = 0;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p50, 5 * SECOND);
  pai_history_free(h);
}

static void owners_are_believed_without_a_history(void **state)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p),
                 .estimate = 50 * SECOND,
                 .limit = 80 * SECOND };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p10, 50 * SECOND);
  assert_int_equal(g.p90, 50 * SECOND);
  /* That was wrong: now it is the limit. */
  assert_int_equal(pai_history_guess(h, &p, 60 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 80 * SECOND);
  pai_history_free(h);
}

/* --- how long still ------------------------------------------------------- */

static void what_has_run_for_long_runs_longer(void **state)
{
  pai_history *h = learned_new();
  pai_guess g;

  (void)state;
  for (int i = 1; i <= 32; i++)
    assert_int_equal(learned_add(h, "ann", "a", 1, i), PAI_OK);
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
  pai_history_free(h);
}

/* Of a name's jobs only three were longer, of its user's some more. */
static void few_that_are_longer_are_not_believed(void **state)
{
  pai_history *h = learned_new();

  (void)state;
  for (int i = 1; i <= 20; i++)
    assert_int_equal(learned_add(h, "ann", "a", 1, i), PAI_OK);
  for (int i = 1; i <= 8; i++)
    assert_int_equal(learned_add(h, "ann", "b", 1, 100 + i), PAI_OK);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 16).alike, PAI_ALIKE_NAME);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 17).alike,
                   PAI_ALIKE_USER_SIZE);
  pai_history_free(h);
}

static void limits_are_kept(void **state)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__source source;

  (void)state;
  for (int i = 1; i <= 16; i++)
    assert_int_equal(learned_add(h, "ann", NULL, 0, 100 * i), PAI_OK);
  p.limit = 900 * SECOND;
  pai__history_levels(h, &p, &levels);
  pai__history_source(&levels, 300 * SECOND, &source);
  for (uint64_t i = 0; i < 1000; i++) {
    pai_time t = pai__source_draw(&source, pai__draw_random(1, i, 2, 0));

    assert_true(t > 300 * SECOND && t <= 900 * SECOND);
  }
  pai_history_free(h);
}

/* Half of all draws are below the median, and so on: of other numbers than the
 * list's own. */
static void draws_are_like_what_was_seen(void **state)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__source source;
  unsigned below = 0, more = 0, n = 20000;

  (void)state;
  for (int i = 1; i <= 19; i++)
    assert_int_equal(learned_add(h, "ann", NULL, 0, 100 * i), PAI_OK);
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
  pai_history_free(h);
}

static void draws_depend_on_who_and_which_alone(void **state)
{
  uint64_t a = pai__draw_random(1, 2, 3, 4);

  (void)state;
  assert_true(a == pai__draw_random(1, 2, 3, 4));
  assert_true(a != pai__draw_random(2, 2, 3, 4));
  assert_true(a != pai__draw_random(1, 3, 3, 4));
  assert_true(a != pai__draw_random(1, 2, 4, 4));
  assert_true(a != pai__draw_random(1, 2, 3, 5));
  assert_true(a != pai__draw_random(2, 1, 3, 4));
}

/* --- memory --------------------------------------------------------------- */

static void only_the_last_ones_are_kept(void **state)
{
  test_tally tally;
  pai_history *h;
  size_t live;

  (void)state;
  test_tally_init(&tally);
  assert_int_equal(pai_history_new(&h, &tally.alloc, NULL), PAI_OK);
  for (int i = 0; i < 64; i++)
    assert_int_equal(learned_add(h, "ann", "a-1", 1, 5000), PAI_OK);
  live = tally.live;
  for (int i = 0; i < 64; i++)
    assert_int_equal(learned_add(h, "ann", "a-2", 1, i + 1), PAI_OK);
  assert_int_equal(tally.live, live);
  assert_int_equal(learned_guess(h, "ann", "a", 1, 0).p90, 58 * SECOND);
  pai_history_free(h);
  assert_int_equal(tally.live, 0);
}

/* Against a plain list of the last 64. */
static void rings_keep_order(void **state)
{
  pai__ring r = { 0 };
  pai_time all[1000], sorted[64];

  (void)state;
  for (uint32_t i = 0; i < 1000; i++) {
    uint32_t n = i < 63 ? i + 1 : 64;

    all[i] = (pai_time)(pai__draw_random(5, i, 0, 0) % 50);
    assert_int_equal(pai__ring_room(&r, &pai__libc_alloc), PAI_OK);
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
  pai__source source;
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
    assert_int_equal(pai__curves_add(c, &levels, since, now), PAI_OK);
  pai__curves_make(c);
}

/* The short ones of a crowd end first. */
static void those_that_run_count(void **state)
{
  pai_history *h = learned_new();
  pai__curves c;

  (void)state;
  for (int i = 0; i < 16; i++)
    assert_int_equal(learned_add(h, "ann", NULL, 1, 10), PAI_OK);
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
  pai_history_free(h);
}

/* Of a crowd of which the short ones are forgotten, the long ones are none. */
static void those_that_are_left_of_the_forgotten_do_not_count(void **state)
{
  pai_history *h = learned_new();
  pai_past p = {
    .struct_size = sizeof(p), .user = "ann", .gpus = 1, .duration = 10 * SECOND
  };
  pai__curves c;

  (void)state;
  for (int i = 1; i <= 100; i++) {
    p.ended = i * 100 * SECOND;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
  run_some(&c, h, 48, 3600 * SECOND, 10000 * SECOND);
  assert_in_range(longer(h, &c, 10 * SECOND), 0, 3);
  pai__curves_dispose(&c);
  run_some(&c, h, 48, 3800 * SECOND, 10000 * SECOND);
  assert_in_range(longer(h, &c, 10 * SECOND), 30, 50);
  pai__curves_dispose(&c);
  pai_history_free(h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_most_alike_are_asked_first),
    cmocka_unit_test(few_are_not_believed),
    cmocka_unit_test(estimates_tell_jobs_apart),
    cmocka_unit_test(owners_are_wrong_alike),
    cmocka_unit_test(owners_are_believed_without_a_history),
    cmocka_unit_test(what_has_run_for_long_runs_longer),
    cmocka_unit_test(few_that_are_longer_are_not_believed),
    cmocka_unit_test(limits_are_kept),
    cmocka_unit_test(draws_are_like_what_was_seen),
    cmocka_unit_test(draws_depend_on_who_and_which_alone),
    cmocka_unit_test(only_the_last_ones_are_kept),
    cmocka_unit_test(rings_keep_order),
    cmocka_unit_test(those_that_run_count),
    cmocka_unit_test(those_that_are_left_of_the_forgotten_do_not_count),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
