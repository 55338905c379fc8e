/* test_arrivals.c - jobs that might come, and the hours in which they do */
#include "cases.h"
#include "learned.h"

#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)

/* From 8 to 20 o'clock ann comes every ten minutes, with 1 GPU, and every
 * fourth time bob instead of her, with 8. */
static pai_history *by_day(int from, int days)
{
  pai_history *h = learned_new();

  for (int d = from; d < from + days; d++)
    for (int i = 0; i < 12 * 6; i++)
      learned_came(h, i % 4 == 3 ? "bob" : "ann", i % 4 == 3 ? 8 : 1,
                   d * DAY + 8 * HOUR + i * 600 * SECOND);
  return h;
}

/* --- hours ---------------------------------------------------------------- */

TEST(nights_are_quiet)
{
  pai_history *h = by_day(0, 14);
  pai__rhythm r;

  assert_int_equal(pai__hours_seen(&h->hours),
                   13 * 24 * 3600 + 11 * 3600 + 3000);
  pai__hours_rhythm(&h->hours, &r);
  assert_in_range(r.weights[12], 3 * PAI__USUAL / 2, 2 * PAI__USUAL);
  assert_in_range(r.weights[24 + 3], 1, PAI__USUAL / 2);
  /* At night time goes slowly, and an hour of the day is as two. */
  assert_true(pai__rhythm_even(&r, 2 * HOUR, 3 * HOUR) < HOUR / 2);
  assert_true(pai__rhythm_even(&r, 12 * HOUR, 13 * HOUR) > 3 * HOUR / 2);
  assert_true(pai__rhythm_after(&r, 19 * HOUR, 4 * HOUR) > 26 * HOUR);
}

/* Weekdays, too: nobody came on the last two of seven. */
TEST(weekends_are_quiet)
{
  pai_history *h = learned_new();
  pai__rhythm r;

  for (int d = 0; d < 40; d++)
    for (int i = 0; d % 7 < 5 && i < 48; i++)
      learned_came(h, "ann", 1, d * DAY + i * HOUR / 2);
  pai__hours_rhythm(&h->hours, &r);
  assert_true(r.weights[24 + 9] > PAI__USUAL);
  assert_true(r.weights[6 * 24 + 9] < PAI__USUAL / 4);
}

TEST(both_ways_are_one)
{
  static const pai_time from[] = { 0, 5 * HOUR + 17, 100 * DAY + HOUR - 1,
                                   -3 * DAY - 1 };
  static const pai_time spans[] = { 0,        1,       59 * SECOND,
                                    3 * HOUR, 6 * DAY, 29 * DAY + 11 };
  pai_history *h = by_day(0, 10);
  pai__rhythm r;

  pai__hours_rhythm(&h->hours, &r);
  for (size_t i = 0; i < PAI__LEN(from); i++)
    for (size_t k = 0; k < PAI__LEN(spans); k++) {
      pai_time even = pai__rhythm_even(&r, from[i], from[i] + spans[k]);
      pai_time there = pai__rhythm_after(&r, from[i], even);

      /* A part of a microsecond is lost in each hour. */
      assert_in_range(from[i] + spans[k] - there + 40, 0, 40 * 24 * 40);
      assert_in_range(even - pai__rhythm_even(&r, from[i], there) + 1000, 0,
                      2000);
    }
  assert_int_equal(pai__rhythm_even(&r, 5, 4), 0);
  assert_int_equal(pai__rhythm_even(&r, INT64_MIN / 2, INT64_MAX / 2 - 1),
                   INT64_MAX);
  assert_int_equal(pai__rhythm_after(&r, INT64_MAX / 2, 1), INT64_MAX);
  assert_int_equal(pai__rhythm_after(&r, 0, INT64_MAX), INT64_MAX);
}

TEST(little_is_no_habit)
{
  pai__hours hours = { .arrivals = { 0 } };
  pai__rhythm r;

  for (int i = 1; i < 200; i++)
    pai__hours_note(&hours, (i - 1) * SECOND, i * SECOND);
  pai__hours_note(&hours, 300 * SECOND, 300 * SECOND); /* at once */
  pai__hours_note(&hours, 300 * SECOND, 200 * SECOND); /* and too late */
  assert_int_equal(pai__hours_seen(&hours), 199);
  pai__hours_rhythm(&hours, &r);
  for (int i = 0; i < PAI__HOURS; i++)
    assert_int_equal(r.weights[i], PAI__USUAL);
}

/* Years of silence do not count for ever. */
TEST(what_was_is_forgotten)
{
  pai__hours hours = { .arrivals = { 0 } };
  pai__rhythm r;

  pai__hours_note(&hours, INT64_MIN, 0);
  assert_int_equal(pai__hours_seen(&hours), 0);
  pai__hours_note(&hours, 0, INT64_MAX / 4);
  assert_in_range(pai__hours_seen(&hours), 1, 16 * 7 * 24 * 3600);
  pai__hours_rhythm(&hours, &r);
  for (int i = 0; i < PAI__HOURS; i++)
    assert_in_range(r.weights[i], 1, 32 * PAI__USUAL);
  /* Parts of seconds count. */
  hours = (pai__hours){ .arrivals = { 0 } };
  for (int i = 0; i < 1000; i++)
    pai__hours_note(&hours, i * SECOND / 10, (i + 1) * SECOND / 10);
  assert_int_equal(pai__hours_seen(&hours), 100);
}

/* --- arrivals ------------------------------------------------------------- */

TEST(a_day_of_many_is_enough)
{
  pai_history *h = learned_new();

  assert_false(pai__arrivals_known(NULL));
  for (int i = 0; i < 300; i++)
    learned_came(h, "ann", 1, i * SECOND);
  assert_false(pai__arrivals_known(h)); /* a crowd of five minutes */
  h = learned_new();
  for (int i = 0; i < 63; i++)
    learned_came(h, "ann", 1, i * HOUR);
  assert_false(pai__arrivals_known(h));
  learned_came(h, "ann", 1, 63 * HOUR);
  assert_true(pai__arrivals_known(h));
}

/* How many come within a span, and how many of them are bob's. */
static uint64_t count(const pai__arrival_pattern *c, pai_time now,
                      pai_time span, uint64_t seed, uint64_t *bobs)
{
  pai__arrivals a;
  pai_request q;
  uint64_t n = 0;

  pai__arrivals_init(&a, c, now, seed);
  *bobs = 0;
  for (; a.next < now + span; n++) {
    pai_time last = a.next;

    pai__arrivals_take(&a, &q);
    assert_true(q.id >= PAI__UNBORN);
    assert_true(a.next >= last);
    assert_int_equal(q.wants[0].gpus, strcmp(q.user, "bob") == 0 ? 8 : 1);
    *bobs += strcmp(q.user, "bob") == 0;
  }
  return n;
}

TEST(as_many_come_as_came)
{
  pai_history *h = by_day(0, 14);
  pai_time now = 14 * DAY - 4 * HOUR;
  pai__arrival_pattern c;
  uint64_t n, day = 0, night = 0, bobs, again;

  pai__arrival_pattern_init(&c, h, now);
  assert_int_equal(c.like, PAI__RECORDED_ARRIVALS);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    n = count(&c, now, 7 * DAY, seed, &bobs);
    assert_in_range(n, 7 * 72 * 85 / 100, 7 * 72 * 115 / 100);
    assert_in_range(bobs, n * 18 / 100, n * 32 / 100);
    assert_int_equal(count(&c, now, 7 * DAY, seed, &again), n);
    assert_int_equal(again, bobs);
    night += count(&c, 14 * DAY, 7 * HOUR, seed, &bobs);
    day += count(&c, 14 * DAY + 9 * HOUR, 7 * HOUR, seed, &bobs);
  }
  assert_true(day > 4 * night);
}

/* Futures end, even if a crowd comes in each moment. */
TEST(no_more_than_enough_come)
{
  pai_history *h = learned_new();
  pai__arrival_pattern c;
  pai__arrivals a;
  pai_request q;
  int n = 0;

  pai__arrival_pattern_init(&c, NULL, 0);
  assert_int_equal(c.n, 0);
  pai__arrivals_init(&a, &c, 0, 1);
  assert_int_equal(a.next, INT64_MAX);
  for (int i = 0; i < 7; i++)
    learned_came(h, "ann", 1, 5 * SECOND);
  pai__arrival_pattern_init(&c, h, 5 * SECOND);
  assert_int_equal(c.n, 0); /* too few */
  learned_came(h, "ann", 1, 5 * SECOND);
  pai__arrival_pattern_init(&c, h, 5 * SECOND);
  pai__arrivals_init(&a, &c, 5 * SECOND, 1);
  for (; a.next != INT64_MAX; n++) {
    assert_int_equal(a.next, 5 * SECOND);
    pai__arrivals_take(&a, &q);
  }
  assert_int_equal(n, PAI__MOST_ARRIVALS);
  /* Nothing has come for a day: such gaps come, too. */
  pai__arrival_pattern_init(&c, h, DAY);
  assert_int_equal(c.n, 8);
  pai__arrivals_init(&a, &c, DAY, 1);
  for (n = 0; a.next < 9 * DAY; n++)
    pai__arrivals_take(&a, &q);
  assert_in_range(n, 10, 300);
}

/* --- written -------------------------------------------------------------- */

TEST(hours_are_kept)
{
  pai_history *h = by_day(3, 12), *again;
  pai_error *err = NULL;
  pai__buf out = test_buf();

  assert_ok(pai_history_write(h, test_collect, &out, NULL));
  assert_ok(
    pai_history_read(&again, pai__buf_text(&out), out.len, NULL, NULL));
  assert_memory_equal(&again->hours, &h->hours, sizeof(h->hours));
  pai_history_free(again);
  pai__buf_dispose(&out);
  assert_int_equal(
    pai_history_read(&again, "{\"history\":1,\"hours\":[1]}", 25, NULL, &err),
    PAI_EINVAL);
  assert_has(pai_error_message(err), "\"hours\" has 336 numbers");
  pai_error_free(err);
}

TEST_AROUND_ALL(NULL, learned_free);
