/* test_drive.c - a drive that takes over a scheduler, identifiers of jobs, and the
 * numbers of which reports are made */
#include "cases.h"
#include "learned.h"

#include "sim/drive.h"
#include "sim/ids.h"
#include "sim/report/counters.h"
#include "sim/scale.h"

#include <stdio.h>
#include <stdlib.h>

/* --- adopting -------------------------------------------------------------- */

static pai__drive drive;

static int lasts(void *data, pai__driven_job *job)
{
  (void)data;
  job->lasts = 10 * (pai_time)job->id;
  return PAI_OK;
}

static int started(void *story, pai__driven_job *job)
{
  pai__buf_printf(story, "start %d.%u at %d, ", (int)job->id, job->instance,
                  (int)drive.now);
  return PAI_OK;
}

static int ended(void *story, pai__driven_job *job)
{
  pai__buf_printf(story, "end %d.%u at %d, ", (int)job->id, job->instance,
                  (int)drive.now);
  return PAI_OK;
}

/* 4 GPUs: 3 and 4 run since 0; two instances of 5, and 6, wait. */
static int drive_on(const pai_alloc *alloc, void *story)
{
  static const pai__drive_ops ops = { .lasts = lasts,
                                      .started = started,
                                      .ended = ended };
  const pai__drive_options o = { .ops = &ops,
                                 .data = story,
                                 .job_size = sizeof(pai__driven_job) };
  pai_sched *s =
    learned_queue("nodes:1 gpu:4 cpus:64 mem:64G", "fifo", NULL, alloc,
                  "3 - 1x2 0\n4 - 1x2 0\ngo\n"
                  "5 - 1x2 0 instances=2\n6 - 1x4 0\ngo");
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  pai__buf_clear(story);
  if (rc == PAI_OK)
    rc = pai__drive_init(&drive, alloc, s, &o);
  if (rc == PAI_OK)
    rc = pai__drive_adopt(&drive, NULL);
  while (rc == PAI_OK && pai__drive_next(&drive) != INT64_MAX) {
    rc = pai__drive_begin(&drive, pai__drive_next(&drive), NULL);
    if (rc == PAI_OK)
      rc = pai__drive_end(&drive, NULL);
  }
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(story),
                        "end 3.0 at 30, start 5.0 at 30, end 4.0 at 40, "
                        "start 5.1 at 40, end 5.0 at 80, end 5.1 at 90, "
                        "start 6.0 at 90, end 6.0 at 150, ");
  pai__drive_dispose(&drive);
  pai_sched_free(s);
  return rc;
}

TEST(a_scheduler_is_driven_on)
{
  pai__buf story = test_buf();

  test_faults(drive_on, &story);
  pai__buf_dispose(&story);
}

/* --- ids ------------------------------------------------------------------- */

static char names[1000][16];

static const char *name_of(const void *data, uint32_t number)
{
  (void)data;
  return names[number];
}

TEST(ids_are_found_until_their_jobs_end)
{
  pai__ids ids;

  pai__ids_init(&ids, &pai__libc_alloc, name_of, NULL);
  assert_int_equal(pai__ids_find(&ids, "7"), PAI__NONE);
  for (uint32_t i = 1; i < 1000; i++) {
    (void)snprintf(names[i], sizeof(names[i]), "job-%u", i);
    assert_ok(pai__ids_add(&ids, names[i], i));
  }
  for (uint32_t i = 2; i < 1000; i += 3)
    assert_ok(pai__ids_end(&ids, names[i], i, i % 2 == 0));
  for (uint32_t i = 1; i < 1000; i++) {
    assert_int_equal(pai__ids_find(&ids, names[i]),
                     i % 3 == 2 ? PAI__NONE : i);
    assert_int_equal(pai__ids_failed(&ids, names[i]),
                     i % 3 == 2 && i % 2 == 0);
  }
  /* A later one takes the place of an earlier one, and keeps it. */
  (void)snprintf(names[998], sizeof(names[998]), "%s", names[1]);
  assert_ok(pai__ids_add(&ids, names[1], 998));
  assert_ok(pai__ids_end(&ids, names[1], 1, false));
  assert_int_equal(pai__ids_find(&ids, names[1]), 998);
  pai__ids_dispose(&ids);
}

/* --- numbers --------------------------------------------------------------- */

TEST(wide_products_are_exact)
{
  pai__wide w = pai__wide_product(UINT64_MAX, UINT64_MAX);

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
TEST(drawn_times_are_exponential)
{
  pai__prng r = pai__draw(7, PAI__DRAW_NODE, 3);
  int64_t sum = 0;
  int below = 0, half = 0;

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
  pai__histogram t;
  pai__prng r = { 5 };

  pai__histogram_init(&t, most, 0);
  for (int i = 0; i < N; i++) {
    values[i] =
      pai__prng_below(&r, 4) == 0 ? 0 : pai__draw_time(&r, INT64_C(1) << 35);
    sum += values[i];
    assert_ok(pai__histogram_add(&t, &pai__libc_alloc, values[i]));
  }
  qsort(values, N, sizeof(*values), by_value);
  assert_ok(pai__histogram_at(&t, &pai__libc_alloc, at, PAI__LEN(at), found));
  for (size_t i = 0; i < PAI__LEN(at); i++) {
    int64_t rank = (at[i] * N + 999) / 1000, is;

    is = values[rank > 0 ? rank - 1 : 0];
    if (exact)
      assert_int_equal(found[i], is);
    else
      assert_true(found[i] <= is && found[i] >= is - is / 512);
  }
  assert_int_equal(found[7], values[N - 1]);
  assert_int_equal(pai__histogram_mean(&t), sum / N);
  assert_true(t.live <= (exact ? (uint32_t)N : 40000u));
  pai__histogram_dispose(&t, &pai__libc_alloc);
}

TEST(percentiles_are_exact_or_near)
{
  count_all(1 << 17, true);
  count_all(1 << 12, false);
}

/* --- series and ledger ----------------------------------------------------- */

TEST(bins_become_wider_and_lose_nothing)
{
  static pai__series s;
  pai__series_levels level = { .busy = 3, .up = 5, .waiting = 1 };
  int64_t busy = 0;

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

TEST(what_is_lent_is_borrowed)
{
  const int64_t own[] = { 4, 8, 3, -1 };
  pai__ledger l;
  pai__account_vc a;

  /* 15 are owned, and one more is nobody's. */
  assert_ok(pai__ledger_init(&l, &pai__libc_alloc, own, 4, 16));
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

TEST(users_are_entitled_to_equal_parts)
{
  const int64_t own[] = { 8 };
  uint32_t ann, bob, again;
  pai__ledger l;

  assert_ok(pai__ledger_init(&l, &pai__libc_alloc, own, 1, 8));
  assert_ok(pai__ledger_come(&l, 0, 0, 0, &ann));
  pai__ledger_use(&l, 0, 6, 0);
  assert_ok(pai__ledger_come(&l, 0, 1, 10, &bob));
  assert_ok(pai__ledger_come(&l, 0, 1, 15, &again));
  assert_int_equal(again, bob);
  pai__ledger_leave(&l, ann, 20);
  assert_int_equal(pai__ledger_user(&l, ann, 99).entitled, 60 + 30);
  assert_int_equal(pai__ledger_user(&l, bob, 30).entitled, 30 + 60);
  pai__ledger_leave(&l, bob, 30);
  assert_int_equal(pai__ledger_user(&l, bob, 40).entitled, 30 + 60 + 60);
  pai__ledger_dispose(&l);
}
