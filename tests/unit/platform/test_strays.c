/* No request is left in the scheduler without its job, whatever is asked of a
 * job and in whichever order, also within one turn. */
#include "cases.h"
#include "gang.h"

#include "base/prng.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <signal.h>
#include <stdio.h>

#define GANG ""
#define ALONE "extras: {gangAllocation: false},"

/* --- without a database ----------------------------------------------------- */

static void stopped_at_once(const char *fields, const char *role)
{
  story s = { 0 };
  pai_loop *loop = story_open(&s);
  pai_spec *spec = story_job(fields, role, "true");
  pai_job_id id;

  s.want = 2; /* the first is stopped, the second finds all CPUs free */
  assert_ok(pai_platform_submit(&id, s.platform, spec, NULL));
  assert_int_equal(durable_requests(s.platform) > 0, 1);
  assert_ok(pai_platform_stop(s.platform, id));
  while (s.finished == 0)
    assert_true(pai_loop_run_once(loop) >= 0);
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_int_equal(durable_requests(s.platform), 0);
  pai_spec_unref(spec);
  spec = story_job("", "instances: 2,", "true");
  assert_ok(pai_platform_submit(&id, s.platform, spec, NULL));
  pai_spec_unref(spec);
  story_close(loop);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
}

TEST(a_stop_in_the_turn_of_the_submission)
{
  stopped_at_once(GANG, "");
  stopped_at_once(GANG, "instances: 2,");
  stopped_at_once(ALONE, "");
  stopped_at_once(ALONE, "instances: 2,");
}

/* --- with one --------------------------------------------------------------- */

static pai_job_id submit(durable *d, const char *fields, int tasks, bool fails)
{
  static unsigned n;
  char name[32], role[64];

  (void)snprintf(name, sizeof(name), "job-%u", ++n);
  (void)snprintf(role, sizeof(role), "instances: %d, taskRetryCount: %d,",
                 tasks, n % 3 == 0);
  d->cpus = 1;
  return durable_submit(d, name, fields, role, fails ? "exit 3" : "true");
}

DURABLE(a_stop_before_the_commit)
{
  const char *fields[] = { GANG, ALONE };

  for (int i = 0; i < 2; i++) {
    pai_job_id id = submit(d, fields[i], 2, false);

    assert_ok(pai_platform_stop(d->platform, id));
    assert_ok(durable_sync(d));
    durable_reaches(d, id, PAI_STATE_STOPPED);
    assert_int_equal(durable_requests(d->platform), 0);
    id = submit(d, fields[i], 2, false);
    durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  }
}

DURABLE(fewer_tasks_in_the_turn_of_the_submission)
{
  pai_job_id id;

  id = submit(d, ALONE, 3, false);
  assert_int_equal(durable_requests(d->platform), 3);
  assert_ok(pai_platform_rescale(d->platform, id, "a", 1, NULL));
  durable_turn(d);
  assert_true(durable_requests(d->platform) <= 1);
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(durable_requests(d->platform), 0);
}

/* A database that cannot be written withdraws what was not in it before. */
TEST(a_commit_that_fails)
{
  const char *fields[] = { GANG, ALONE };
  struct rlimit before, limit;
  struct stat st;
  durable d;

  (void)signal(SIGXFSZ, SIG_IGN);
  durable_open(&d, story_in("full"));
  assert_ok(durable_sync(&d));
  assert_int_equal(
    stat(test_string("%s/openpai.db-wal", story_in("full")), &st), 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)st.st_size;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  for (int i = 0; i < 4; i++) {
    pai_job_id id = submit(&d, fields[i / 2], 2, false);

    if (id != 0 && i % 2 == 1)
      (void)!pai_platform_stop(d.platform, id);
  }
  assert_true(durable_sync(&d) < 0);
  for (int i = 0; i < 3; i++)
    durable_turn(&d);
  assert_int_equal(durable_requests(d.platform), 0);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  durable_close(&d);
}

/* --- any order -------------------------------------------------------------- */

enum { STEPS = 120, JOBS = 8 };

typedef struct world {
  durable d;
  pai__prng prng;
  pai_job_id jobs[JOBS];
  int n;
} world;

static void step(world *w)
{
  pai_job_id id =
    w->n > 0 ? w->jobs[pai__prng_below(&w->prng, (uint64_t)w->n)] : 0;

  switch (pai__prng_below(&w->prng, 8)) {
  case 0:
  case 1:
    if (w->n < JOBS)
      w->jobs[w->n++] =
        submit(&w->d,
               pai__prng_below(&w->prng, 2) == 0
                 ? "jobRetryCount: 1,"
                 : "jobRetryCount: 1, extras: {gangAllocation: false},",
               1 + (int)pai__prng_below(&w->prng, 2),
               pai__prng_below(&w->prng, 2) == 0);
    break;
  case 2: (void)!pai_platform_stop(w->d.platform, id); break;
  case 3:
  case 4:
    (void)!pai_platform_rescale(w->d.platform, id, "a",
                                1 + (uint32_t)pai__prng_below(&w->prng, 2),
                                NULL);
    break;
  case 5: (void)!pai_platform_forget(w->d.platform, id); break;
  default: durable_turn(&w->d); break;
  }
}

TEST(any_order)
{
  for (uint64_t seed = 1; seed <= 6; seed++) {
    static world w;

    memset(&w, 0, sizeof(w));
    w.prng = (pai__prng){ seed };
    durable_open(&w.d, story_in("any"));
    for (int i = 0; i < STEPS; i++)
      step(&w);
    for (int i = 0; i < w.n; i++) {
      (void)!pai_platform_stop(w.d.platform, w.jobs[i]);
      (void)durable_wait(&w.d, w.jobs[i], PAI_STATE_STOPPED);
    }
    if (durable_requests(w.d.platform) != 0)
      fail_msg("seed %d: %d requests are left", (int)seed,
               durable_requests(w.d.platform));
    durable_close(&w.d);
  }
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
