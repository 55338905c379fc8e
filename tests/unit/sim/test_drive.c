/* test_drive.c - a drive that takes over a scheduler, and the parts of which
 * reports are made */
#include "../sched/scene.h"
#include "sim/distribution.h"
#include "sim/drive.h"
#include "sim/ids.h"
#include "sim/ledger.h"
#include "sim/series.h"
#include "sim/tally.h"

#include <stdio.h>
#include <stdlib.h>

/* --- adopting -------------------------------------------------------------- */

typedef struct story {
  char text[512];
  size_t len;
  pai__drive *drive;
} story;

static void tell(story *s, const char *what, const pai__djob *job)
{
  s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
                             "%s %d.%u at %d, ", what, (int)job->id,
                             job->instance, (int)s->drive->now);
}

static int lasts(void *data, pai__djob *job)
{
  (void)data;
  job->lasts = 10 * (pai_time)job->id;
  job->code = 0;
  return PAI_OK;
}

static int started(void *data, pai__djob *job)
{
  tell(data, "start", job);
  return PAI_OK;
}

static int ended(void *data, pai__djob *job)
{
  tell(data, "end", job);
  return PAI_OK;
}

static const pai__drive_ops ops = { .lasts = lasts,
                                    .started = started,
                                    .ended = ended };

/* 4 GPUs: 3 and 4 run since 0; two instances of 5, and 6, wait. */
static pai_sched *make_scene(const pai_alloc *alloc)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:4 cpus:64 mem:64G", "fifo", NULL, alloc);
  pai_want want = scene_want(1, 2);
  pai_request five = { .id = 5, .wants = &want, .nwants = 1, .instances = 2 };

  if (s == NULL || scene_submit(s, 3, 1, 2) < 0 ||
      scene_submit(s, 4, 1, 2) < 0 || pai_sched_decide(s, 0, NULL) < 0 ||
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = 3 },
                  NULL) < 0 ||
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = 4 },
                  NULL) < 0 ||
      scene_request(s, &five, NULL) < 0 || scene_submit(s, 6, 1, 4) < 0 ||
      pai_sched_decide(s, 5, NULL) < 0) {
    pai_sched_free(s);
    return NULL;
  }
  return s;
}

static int drive_on(pai_sched *fork, const pai_alloc *alloc, story *s)
{
  pai__drive_options o = { .ops = &ops,
                           .data = s,
                           .job_size = sizeof(pai__djob) };
  pai__drive d;
  int rc = pai__drive_init(&d, alloc, fork, &o);

  *s = (story){ .drive = &d };
  if (rc == PAI_OK)
    rc = pai__drive_adopt(&d, NULL);
  while (rc == PAI_OK && pai__drive_next(&d) != INT64_MAX) {
    rc = pai__drive_begin(&d, pai__drive_next(&d), NULL);
    if (rc == PAI_OK)
      rc = pai__drive_end(&d, NULL);
  }
  if (rc == PAI_OK)
    assert_int_equal(d.njobs, 0);
  pai__drive_dispose(&d);
  return rc;
}

static void a_fork_of_a_live_scheduler_is_driven_on(void **state)
{
  pai_sched *live = make_scene(&pai__libc_alloc), *fork;
  story s;

  (void)state;
  assert_non_null(live);
  assert_int_equal(pai_sched_fork(&fork, live, NULL), PAI_OK);
  assert_int_equal(drive_on(fork, &pai__libc_alloc, &s), PAI_OK);
  assert_string_equal(s.text, "end 3.0 at 30, start 5.0 at 30, end 4.0 at 40, "
                              "start 5.1 at 40, end 5.0 at 80, end 5.1 at 90, "
                              "start 6.0 at 90, end 6.0 at 150, ");
  assert_string_equal(scene_lack(live, 6), "turn");
  pai_sched_free(fork);
  pai_sched_free(live);
}

static int adopt_with(const pai_alloc *alloc, void *data)
{
  pai_sched *s = make_scene(alloc);
  story told;
  int rc = s != NULL ? drive_on(s, alloc, &told) : PAI_ENOMEM;

  (void)data;
  pai_sched_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(adopt_with, NULL);
}

/* --- timers ---------------------------------------------------------------- */

static void timers_come_in_their_order(void **state)
{
  enum { N = 500 };
  static uint32_t at[N];
  static pai_time time[N];
  pai__timers t = { 0 };
  pai__prng r = { 1 };
  pai_time last = -1;
  size_t left = 0;

  (void)state;
  for (uint32_t i = 0; i < N; i++)
    at[i] = PAI__NO_TIMER;
  for (int i = 0; i < 5 * N; i++) {
    uint32_t k = (uint32_t)pai__prng_below(&r, N);

    if (pai__prng_below(&r, 3) == 0) {
      pai__timer_drop(&t, &at[k]);
      assert_int_equal(at[k], PAI__NO_TIMER);
      continue;
    }
    time[k] = (pai_time)pai__prng_below(&r, 100);
    assert_int_equal(
      pai__timer_set(&t, &pai__libc_alloc, &at[k], PAI__TIMER_END, k, time[k]),
      PAI_OK);
  }
  for (uint32_t i = 0; i < N; i++)
    left += at[i] != PAI__NO_TIMER;
  assert_int_equal(left, t.len);
  while (t.len != 0) {
    pai__timer x = t.heap[0];

    assert_ptr_equal(x.at, &at[x.who]);
    assert_true(x.time >= last && x.time == time[x.who]);
    last = x.time;
    pai__timer_drop(&t, x.at);
  }
  pai__timers_dispose(&t, &pai__libc_alloc);
}

/* --- ids ------------------------------------------------------------------- */

static uint64_t keys[1000];

static uint64_t key_of(const void *data, uint32_t number)
{
  (void)data;
  return keys[number];
}

/* Of eight keys each the halves that the table has are equal. */
static void ids_are_told_apart_by_all_of_their_keys(void **state)
{
  const pai_alloc *alloc = &pai__libc_alloc;
  pai__ids ids;

  (void)state;
  pai__ids_init(&ids, key_of, NULL);
  assert_int_equal(pai__ids_find(&ids, 7), PAI__NONE);
  for (uint32_t i = 1; i < 1000; i++) {
    keys[i] = (uint64_t)(i % 8 + 1) << 32 | (i / 8 + 1);
    assert_int_equal(pai__ids_add(&ids, alloc, keys[i], i), PAI_OK);
  }
  for (uint32_t i = 2; i < 1000; i += 3)
    assert_int_equal(pai__ids_end(&ids, alloc, keys[i], i, i % 2 == 0),
                     PAI_OK);
  for (uint32_t i = 1; i < 1000; i++) {
    assert_int_equal(pai__ids_find(&ids, keys[i]), i % 3 == 2 ? PAI__NONE : i);
    assert_int_equal(pai__lookup_get(&ids.bad, keys[i]) != PAI__NONE,
                     i % 3 == 2 && i % 2 == 0);
  }
  /* A later one takes the place of an earlier one, and keeps it. */
  keys[998] = keys[1];
  assert_int_equal(pai__ids_add(&ids, alloc, keys[1], 998), PAI_OK);
  assert_int_equal(pai__ids_end(&ids, alloc, keys[1], 1, false), PAI_OK);
  assert_int_equal(pai__ids_find(&ids, keys[1]), 998);
  pai__ids_dispose(&ids, alloc);
}

/* --- numbers --------------------------------------------------------------- */

static void wide_products_are_exact(void **state)
{
  pai__wide w = pai__wide_product(UINT64_MAX, UINT64_MAX);

  (void)state;
  assert_true(w.high == UINT64_MAX - 1 && w.low == 1);
  assert_true(pai__wide_quotient(w, UINT64_MAX) == UINT64_MAX);
  assert_true(pai__wide_quotient(pai__wide_product(UINT64_MAX / 3, 9), 27) ==
              UINT64_MAX / 9);
  assert_int_equal(pai__scale(INT64_MAX, 1000, 1000), INT64_MAX);
  assert_int_equal(pai__scale(INT64_MAX, 2, 1), INT64_MAX);
  assert_int_equal(pai__scale(INT64_C(1) << 60, 3, 4), INT64_C(3) << 58);
  assert_int_equal(pai__scale(7, 1, 0), INT64_MAX);
  assert_int_equal(pai__scale(-7, 1, 2), 0);
}

/* A mean of 1,000 s: of 100,000 that were drawn the mean is near, and so many
 * are below a mean as ought to be. */
static void drawn_times_are_exponential(void **state)
{
  pai__prng r = pai__draw(7, PAI__DRAW_NODE, 3);
  int64_t sum = 0;
  int below = 0, half = 0;

  (void)state;
  for (int i = 0; i < 100000; i++) {
    pai_time t = pai__draw_time(&r, 1000000000);

    assert_true(t > 0);
    sum += t;
    below += t < 1000000000;
    half += t < 693147180;
  }
  assert_in_range(sum / 100000, 990000000, 1010000000);
  assert_in_range(below, 62700, 63700); /* 63,212 */
  assert_in_range(half, 49500, 50500);
  assert_true(pai__draw_time(&r, INT64_MAX) > 0);
  assert_int_equal(pai__draw_time(&r, 0), 1);
}

static int by_value(const void *a, const void *b)
{
  const int64_t *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static void count_all(uint32_t most, bool exact)
{
  enum { N = 20000 };
  static const uint32_t at[] = { 0, 1, 100, 500, 900, 990, 999, 1000 };
  static int64_t values[N];
  int64_t found[PAI__LEN(at)], sum = 0;
  pai__tally t;
  pai__prng r = { 5 };

  pai__tally_init(&t, most, 0);
  for (int i = 0; i < N; i++) {
    values[i] =
      pai__prng_below(&r, 4) == 0 ? 0 : pai__draw_time(&r, INT64_C(1) << 35);
    sum += values[i];
    assert_int_equal(pai__tally_add(&t, &pai__libc_alloc, values[i]), PAI_OK);
  }
  qsort(values, N, sizeof(*values), by_value);
  assert_int_equal(
    pai__tally_at(&t, &pai__libc_alloc, at, PAI__LEN(at), found), PAI_OK);
  for (size_t i = 0; i < PAI__LEN(at); i++) {
    int64_t rank = (at[i] * N + 999) / 1000, is;

    is = values[rank > 0 ? rank - 1 : 0];
    if (exact)
      assert_int_equal(found[i], is);
    else
      assert_true(found[i] <= is && found[i] >= is - is / 512);
  }
  assert_int_equal(found[7], values[N - 1]);
  assert_int_equal(pai__tally_mean(&t), sum / N);
  assert_true(t.live <= (exact ? (uint32_t)N : 40000u));
  pai__tally_dispose(&t, &pai__libc_alloc);
}

static void percentiles_are_exact_or_near(void **state)
{
  (void)state;
  count_all(1 << 17, true);
  count_all(1 << 12, false);
}

/* --- series and ledger ----------------------------------------------------- */

static void bins_become_wider_and_lose_nothing(void **state)
{
  static pai__series s;
  pai__levels level = { .busy = 3, .up = 5, .waiting = 1 };
  int64_t busy = 0;

  (void)state;
  pai__series_begin(&s, 1000);
  pai__series_bin(&s)->came++;
  pai__series_pass(&s, 2500000, &level);
  assert_int_equal(pai__series_count(&s), 3);
  assert_int_equal(s.bins[1].busy, 3000000);
  level.busy = 7;
  pai__series_pass(&s, 1000 + INT64_C(1000000000), &level);
  assert_int_equal(s.width, 4000000);
  assert_int_equal(pai__series_count(&s), 251);
  for (int i = 0; i < PAI__BINS; i++)
    busy += s.bins[i].busy;
  assert_int_equal(busy, 3 * INT64_C(2499000) + 7 * INT64_C(997501000));
  assert_int_equal(s.bins[0].came, 1);
}

static void what_is_lent_is_borrowed(void **state)
{
  const int64_t own[] = { 4, 8, 3, -1 };
  pai__ledger l;
  pai__account_vc a;

  (void)state;
  /* 15 are owned, and one more is nobody's. */
  assert_int_equal(pai__ledger_init(&l, &pai__libc_alloc, own, 4, 16), PAI_OK);
  pai__ledger_use(&l, 0, 11, 0); /* 7 over, of which 6 are others' */
  pai__ledger_use(&l, 1, 2, 0);  /* 6 idle; 3 of the third */
  pai__ledger_settle(&l, 0);
  a = pai__ledger_vc(&l, 0, 100);
  assert_int_equal(a.time_borrowed, 600);
  assert_int_equal(a.time_used, 1100);
  assert_int_equal(pai__ledger_vc(&l, 1, 100).time_lent, 400);
  assert_int_equal(pai__ledger_vc(&l, 2, 100).time_lent, 200);
  pai__ledger_use(&l, 0, -9, 100);
  pai__ledger_settle(&l, 100);
  assert_int_equal(pai__ledger_vc(&l, 0, 200).time_borrowed, 600);
  assert_int_equal(pai__ledger_vc(&l, 1, 200).time_lent, 400);
  pai__ledger_dispose(&l);
}

static void users_are_entitled_to_equal_parts(void **state)
{
  const int64_t own[] = { 8 };
  uint32_t ann, bob, again;
  pai__ledger l;

  (void)state;
  assert_int_equal(pai__ledger_init(&l, &pai__libc_alloc, own, 1, 8), PAI_OK);
  assert_int_equal(pai__ledger_come(&l, 0, 0, 0, &ann), PAI_OK);
  pai__ledger_use(&l, 0, 6, 0);
  assert_int_equal(pai__ledger_come(&l, 0, 1, 10, &bob), PAI_OK);
  assert_int_equal(pai__ledger_come(&l, 0, 1, 15, &again), PAI_OK);
  assert_int_equal(again, bob);
  pai__ledger_leave(&l, ann, 20);
  assert_int_equal(pai__ledger_user(&l, ann, 99).entitled, 60 + 30);
  assert_int_equal(pai__ledger_user(&l, bob, 30).entitled, 30 + 60);
  pai__ledger_leave(&l, bob, 30);
  assert_int_equal(pai__ledger_user(&l, bob, 40).entitled, 30 + 60 + 60);
  pai__ledger_dispose(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_fork_of_a_live_scheduler_is_driven_on),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(timers_come_in_their_order),
    cmocka_unit_test(ids_are_told_apart_by_all_of_their_keys),
    cmocka_unit_test(wide_products_are_exact),
    cmocka_unit_test(drawn_times_are_exponential),
    cmocka_unit_test(percentiles_are_exact_or_near),
    cmocka_unit_test(bins_become_wider_and_lose_nothing),
    cmocka_unit_test(what_is_lent_is_borrowed),
    cmocka_unit_test(users_are_entitled_to_equal_parts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
