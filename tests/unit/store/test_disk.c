/*
 * Each call to the disk fails once, or from then on; and the power goes at
 * any of them, so that what was not synced never happened.  `./dev soak` cuts
 * the power more often, OPENPAI_SEED sets the seed.
 */
#include "cases.h"
#include "disk.h"
#include "folder.h"
#include "writer.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CUTS = 60, SOAK_CUTS = 5000, MOST_CALLS = 3000 };

static void expect_jobs(uint64_t to)
{
  pai__store *store = open_folder();
  found jobs = { .n = 0 };

  for (uint64_t id = 1; id <= to; id++)
    assert_ok(pai__store_job(store, id, find_job, &jobs, NULL));
  pai__store_close(store);
}

/* --- calls that fail ---------------------------------------------------------------- */

/* Everything that writes, with the n-th call failing; true: there was one. */
static bool commit_with_fault(uint64_t id, unsigned n)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store), *drop = new_batch(store);
  pai__job_row row = job_of(id);
  bool fired;
  pai_error *err;
  int rc;

  assert_ok(pai__batch_put_job(batch, &row));
  assert_ok(pai__batch_drop_secrets(drop, id));
  disk_fail_at = disk_calls + n;
  rc = pai__store_commit(store, batch, &err);
  assert_true(rc == PAI_OK || rc == PAI_EIO);
  assert_int_equal(pai_error_code(err), rc);
  pai_error_free(err);
  if (rc < 0) {
    disk_fail_at = 0;
    rc = pai__store_commit(store, batch, &err); /* the same again */
    if (rc < 0)
      fail_msg("call %u: %s", n, pai_error_message(err));
  }
  fired = disk_fail_at == 0;
  if (!fired) {
    rc = pai__store_commit(store, drop, NULL);
    assert_true(rc == PAI_OK || rc == PAI_EIO);
    rc = pai__store_tidy(store, NULL);
    assert_true(rc == PAI_OK || rc == PAI_EIO);
    fired = disk_calls >= disk_fail_at;
  }
  disk_fail_at = 0;
  pai__batch_free(batch);
  pai__batch_free(drop);
  pai__store_close(store);
  return fired;
}

TEST(a_call_that_fails_loses_nothing)
{
  uint64_t id = 0;

  disk_install();
  for (int for_ever = 0; for_ever <= 1; for_ever++) {
    unsigned n = 1;
    disk_for_ever = for_ever != 0;
    while (commit_with_fault(++id, n))
      n++;
    assert_true(n > 5);
    expect_jobs(id);
  }
  disk_for_ever = false;
}

TEST(an_opening_that_fails_changes_nothing)
{
  disk_install();
  leave_open(1, 3);
  for (int for_ever = 0; for_ever <= 1; for_ever++) {
    for (unsigned n = 1;; n++) {
      pai__store *store;
      pai_error *err;
      int rc;
      disk_for_ever = for_ever != 0;
      disk_fail_at = disk_calls + n;
      rc = pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err);
      assert_int_equal(pai_error_code(err), rc);
      pai_error_free(err);
      pai__store_close(store);
      if (rc == PAI_OK && disk_calls < disk_fail_at)
        break;
      disk_fail_at = 0;
      disk_for_ever = false;
      expect_jobs(3);
    }
    disk_fail_at = 0;
  }
  disk_for_ever = false;
}

TEST(a_full_disk_is_told)
{
  pai__store *store;
  pai__batch *batch;
  pai__job_row row = job_of(1);
  pai_error *err;

  disk_install();
  store = open_folder();
  batch = new_batch(store);
  assert_ok(pai__batch_put_job(batch, &row));
  disk_full = true;
  assert_int_equal(pai__store_commit(store, batch, &err), PAI_EIO);
  assert_true(pai_error_retriable(err));
  test_expect_error(err, PAI_EIO, "the disk is full");
  disk_full = false;
  commit_all(store, batch);
  pai__store_close(store);
  expect_jobs(1);
}

/* --- the power ------------------------------------------------------------------------ */

/* Returns the last id that was told before the power went. */
static uint64_t cut_one(pai__prng *prng, uint64_t told)
{
  unsigned at = (unsigned)pai__prng_below(prng, MOST_CALLS) + 1;
  uint64_t seed = pai__prng_next(prng);
  int fds[2], status;
  pid_t child;

  assert_int_equal(pipe(fds), 0);
  child = fork();
  if (child == 0) {
    (void)close(fds[0]);
    disk_cut_power_at(at, seed);
    write_for_ever(fds[1]);
  }
  (void)close(fds[1]);
  while (read(fds[0], &told, sizeof(told)) == sizeof(told))
    continue;
  (void)close(fds[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  return told;
}

TEST(power_cuts_lose_nothing_acknowledged)
{
  const char *from = getenv("OPENPAI_SEED");
  int cuts = getenv("OPENPAI_SOAK") != NULL ? SOAK_CUTS : CUTS;
  pai__prng prng = { from != NULL ? strtoull(from, NULL, 10) : 1 };
  uint64_t last = 0;

  disk_install();
  pai__store_close(open_folder());
  for (int i = 0; i < cuts; i++) {
    uint64_t told = cut_one(&prng, last);
    last = check_folder(last, told);
    if (i % 200 == 199) { /* not ever larger */
      assert_int_equal(folder_tear_down(NULL), 0);
      assert_int_equal(folder_set_up(NULL), 0);
      pai__store_close(open_folder());
      last = 0;
    }
  }
  print_message("%d power cuts\n", cuts);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
