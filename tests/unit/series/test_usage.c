/*
 * What jobs held and used: added up by day, kept over a restart, and bounded
 * however many jobs there are.
 */
#include "cases.h"
#include "files.h"

#include "series/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000)
#define DAY (86400 * SECOND)
#define START (INT64_C(20454) * DAY + 3600 * SECOND) /* 2026-01-01 */

static char folder[64];

static pai__series_usage *open_usage(int64_t now)
{
  pai__series_usage *u;

  assert_ok(pai__series_use_open(&u, &pai__libc_alloc, folder, now));
  return u;
}

/* A job held two GPUs for a second, and used one of them. */
static int add(pai__series_usage *u, uint64_t job, const char *user,
               int64_t now)
{
  pai__series_use_record r = { .job = job, .from = now - SECOND, .to = now };

  r.sum.gpus = (pai__series_use_amount){ 2000, 2000, 1000 };
  r.sum.last_gpu = 500;
  r.sum.last_cpu = r.sum.last_memory = -1;
  pai__series_use_name_it(&r, user, "default", "train");
  return pai__series_use_add(u, &r);
}

typedef struct found {
  pai__series_use_record sum;
  size_t n, others;
} found;

static int on_record(void *user_data, const pai__series_use_record *r)
{
  found *f = user_data;

  pai__series_use_merge(&f->sum, r);
  f->n++;
  f->others += r->job == 0;
  return PAI_OK;
}

static found read_all(pai__series_usage *u, int64_t from, int64_t to)
{
  found f = { .n = 0 };

  assert_ok(pai__series_use_read(u, from, to, on_record, &f));
  return f;
}

static int begin(void **state)
{
  (void)state;
  return test_make_folder(folder) ? 0 : -1;
}

static int end(void **state)
{
  (void)state;
  return test_remove(folder);
}

TEST(added_up_and_kept)
{
  pai__series_usage *u = open_usage(START);
  found f;

  for (int i = 0; i < 10; i++)
    assert_ok(add(u, 7, "ada", START + i * SECOND));
  assert_ok(add(u, 8, "bob", START));
  assert_int_equal(pai__series_use_seen(u, 7), START + 9 * SECOND);
  assert_int_equal(pai__series_use_seen(u, 9), 0);
  pai__series_use_close(u);
  u = open_usage(START + 20 * SECOND);
  assert_int_equal(pai__series_use_seen(u, 7), START + 9 * SECOND);
  assert_ok(add(u, 7, "ada", START + 20 * SECOND));
  f = read_all(u, START, START + DAY / 2);
  assert_int_equal(f.n, 2);
  assert_int_equal(f.sum.sum.gpus.held, 24000);
  assert_int_equal(f.sum.sum.gpus.used, 12000);
  assert_int_equal(f.sum.sum.last_gpu, 500);
  pai__series_use_close(u);
}

TEST(days_begin_and_are_forgotten)
{
  pai__series_usage *u = open_usage(START);

  for (int i = 0; i < 40; i++)
    assert_ok(add(u, 7, "ada", START + i * DAY));
  assert_int_equal(read_all(u, 0, INT64_MAX).n, PAI__USAGE_DAYS);
  assert_int_equal(read_all(u, START + 38 * DAY, START + 38 * DAY).n, 1);
  assert_int_equal(read_all(u, START, START + 2 * DAY).n, 0);
  pai__series_use_close(u);
}

/* Sums stay right when there are more jobs than records. */
TEST(more_jobs_than_records)
{
  pai__series_usage *u = open_usage(START);
  found f;

  for (uint64_t job = 1; job <= 5000; job++)
    assert_ok(add(u, job, job % 2 == 0 ? "ada" : "bob", START));
  f = read_all(u, START, START);
  assert_int_equal(f.n, PAI__USAGE_JOBS + 2);
  assert_int_equal(f.others, 2);
  assert_int_equal(f.sum.sum.gpus.held, 5000 * 2000);
  /* as many users as there are records */
  for (uint64_t job = 1; job <= 1000; job++)
    (void)!add(u, 10000 + job, test_string("u%llu", (unsigned long long)job),
               START);
  assert_int_equal(read_all(u, START, START).n, PAI__USAGE_RECORDS);
  pai__series_use_close(u);
}

TEST(long_and_hostile_texts)
{
  pai__series_use_record r;
  char text[4000];

  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  pai__series_use_name_it(&r, text, text, text);
  assert_int_equal(strlen(pai__series_use_user(&r)), 70);
  assert_int_equal(strlen(pai__series_use_vc(&r)), 70);
  assert_true(strlen(pai__series_use_name(&r)) > 0);
  assert_true(pai__series_use_name(&r) + strlen(pai__series_use_name(&r)) <
              r.texts + sizeof(r.texts));
}

/* Whatever is in a file, reading it ends, and what is written is kept. */
TEST(damaged_files)
{
  const char *file = test_string("%s/usage-%02d", folder, 20454 % 31);
  pai__series_usage *u = open_usage(START);

  assert_ok(add(u, 7, "ada", START));
  pai__series_use_close(u);
  for (int byte = 24; byte < 24 + 296; byte += 8) {
    test_shell(
      "printf '\\377\\377\\377\\377\\377\\377\\377\\377' | dd of=%s bs=1 "
      "seek=%d conv=notrunc status=none",
      file, byte);
    u = open_usage(START);
    assert_int_equal(read_all(u, START, START).n, 1);
    assert_ok(add(u, 7, "ada", START));
    pai__series_use_close(u);
    assert_int_equal(test_remove(file), 0);
    u = open_usage(START);
    assert_ok(add(u, 7, "ada", START));
    pai__series_use_close(u);
  }
}

TEST_FAULTS(memory_is_short)
{
  pai__series_usage *u;
  int rc = pai__series_use_open(&u, alloc, folder, START);

  for (uint64_t i = 1; rc == PAI_OK && i < 20; i++)
    rc = add(u, i, "ada", START);
  if (rc == PAI_OK)
    assert_int_equal(read_all(u, START, START).n, 19);
  pai__series_use_close(u);
  return rc;
}

TEST_AROUND_EACH(begin, end);
