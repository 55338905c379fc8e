/* Who follows a platform's scheduler has one that does the same, of its own. */
#include "cases.h"
#include "durable.h"
#include "mirror.h"

#include <stdio.h>
#include <unistd.h>

static int drop(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EUSER;
}

/* --- tests --------------------------------------------------------------------- */

TEST(it_decides_as_the_platform_does)
{
  pai_job_id large, wide, small;
  mirror m, early;
  durable d;

  durable_open(&d, story_in("same"));
  assert_ok(mirror_follow(&early, d.platform));
  assert_ok(mirror_follow(&m, d.platform));
  d.cpus = 1;
  large = durable_accept(&d, "large", "sleep 600");
  (void)durable_wait(&d, large, PAI_STATE_RUNNING);
  d.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  wide = durable_accept(&d, "wide", "true"); /* waits for all of them */
  d.cpus = 1;
  small = durable_accept(&d, "small", "true"); /* and this one behind it */
  durable_turn(&d);
  assert_int_equal(mirror_look(&m), 1);
  assert_int_equal(m.snapshots, 1);
  assert_int_equal(m.starts, 1);
  if (d.cpus < (int)sysconf(_SC_NPROCESSORS_ONLN))
    assert_true(m.differ > 0); /* a greedy one begins it */
  mirror_expect_same(&m, d.platform);
  assert_ok(pai_platform_stop(d.platform, large));
  (void)durable_wait(&d, wide, PAI_STATE_SUCCEEDED);
  (void)durable_wait(&d, small, PAI_STATE_SUCCEEDED);
  assert_int_equal(mirror_look(&m), 1);
  assert_int_equal(m.snapshots, 1);
  assert_int_equal(m.starts, 3);
  mirror_expect_same(&m, d.platform);
  /* Who reads seldom reads the same. */
  assert_int_equal(mirror_look(&early), 1);
  assert_int_equal(early.snapshots, 1);
  assert_int_equal(early.starts, 3);
  mirror_expect_same(&early, d.platform);
  mirror_leave(&early);
  assert_int_equal(mirror_look(&m), 1);
  durable_close(&d);
  assert_int_equal(mirror_look(&m), 0); /* its last lines; it is gone */
  assert_int_equal(mirror_look(&m), 0);
  mirror_leave(&m);
}

/* Its own log begins anew with a snapshot now and then: nothing to a follower,
 * who misses no line. */
DURABLE(the_log_begins_anew)
{
  mirror m;

  assert_ok(mirror_follow(&m, d->platform));
  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  (void)durable_accept(d, "first", "sleep 600");
  for (int i = 0; i < 700; i++) {
    (void)durable_submit(d, test_string("waits-%d", i), "", "", "true");
    if (i % 50 == 0)
      assert_ok(durable_sync(d));
  }
  assert_ok(durable_sync(d));
  assert_int_equal(mirror_look(&m), 1);
  assert_int_equal(m.snapshots, 1);
  assert_int_equal(m.starts, 1);
  mirror_expect_same(&m, d->platform);
  mirror_leave(&m);
}

/* Lines that could not be handed over are not half there. */
TEST(lines_are_missed)
{
  pai_error *err;
  mirror m;
  durable d;

  durable_open(&d, story_in("missed"));
  assert_ok(mirror_follow(&m, d.platform));
  (void)durable_accept(&d, "one", "true");
  assert_fails(pai_follower_read(m.follower, drop, NULL, &err), err, PAI_EUSER,
               "the lines could not be written");
  (void)durable_wait(&d, durable_accept(&d, "two", "true"),
                     PAI_STATE_SUCCEEDED);
  assert_int_equal(mirror_look(&m), 1);
  assert_int_equal(m.snapshots, 1); /* and no line before it */
  mirror_expect_same(&m, d.platform);
  (void)durable_wait(&d, durable_accept(&d, "three", "true"),
                     PAI_STATE_SUCCEEDED);
  assert_int_equal(mirror_look(&m), 1);
  assert_int_equal(m.snapshots, 1);
  mirror_expect_same(&m, d.platform);
  assert_int_equal(pai_platform_follow(NULL, d.platform, NULL), PAI_EINVAL);
  assert_int_equal(pai_follower_read(NULL, drop, &m, NULL), PAI_EINVAL);
  assert_int_equal(pai_follower_read(m.follower, NULL, NULL, NULL),
                   PAI_EINVAL);
  pai_platform_unfollow(NULL);
  durable_close(&d);
  mirror_leave(&m);
}

static void submit(story *s, const char *command)
{
  pai_spec *spec = story_job("", "", command);

  (void)story_submit(s, spec);
  pai_spec_unref(spec);
}

/* Without a database there is a log as long as somebody follows. */
TEST(without_a_database)
{
  story s = { .runtime = "process" };
  mirror one, two;
  pai_loop *loop;

  loop = story_open(&s);
  assert_ok(mirror_follow(&one, s.platform));
  submit(&s, "true");
  assert_ok(mirror_follow(&two, s.platform));
  submit(&s, "exit 3");
  assert_int_equal(mirror_look(&two), 1);
  mirror_expect_same(&two, s.platform);
  mirror_leave(&two);
  assert_int_equal(mirror_look(&one), 1);
  mirror_expect_same(&one, s.platform);
  story_close(loop);
  assert_int_equal(mirror_look(&one), 0);
  assert_int_equal(one.snapshots, 1);
  assert_int_equal(one.starts, 2);
  mirror_leave(&one);
}

/* Memory is short once, while it is followed or while the job runs: the follower
 * has all lines, or begins anew.  False when nothing was made to fail. */
static bool fail_one(size_t at, bool in_follow)
{
  story s = { .runtime = "process", .want = 1 };
  test_tally tally;
  mirror m = { 0 };
  pai_loop *loop;
  pai_spec *spec = story_job("", "", "true");
  pai_job_id id;
  int rc;

  test_tally_init(&tally);
  s.alloc = tally.alloc;
  loop = story_open(&s);
  tally.calls = 0;
  tally.fail_at = in_follow ? at : 0;
  rc = mirror_follow(&m, s.platform);
  assert_int_equal(rc, tally.calls < at || !in_follow ? PAI_OK : PAI_ENOMEM);
  tally.calls = 0;
  tally.fail_at = in_follow ? 0 : at;
  if (pai_platform_submit(&id, s.platform, spec, NULL) < 0)
    assert_ok(pai_platform_submit(&id, s.platform, spec, NULL));
  story_close(loop);
  pai_spec_unref(spec);
  if (rc == PAI_OK) {
    assert_int_equal(mirror_look(&m), 0);
    assert_true(m.snapshots == 1 ? m.starts == 1 : m.starts <= 1);
  }
  mirror_leave(&m);
  assert_int_equal(tally.live, 0);
  return rc < 0 || (!in_follow && tally.calls >= at);
}

TEST(memory_may_be_short)
{
  size_t at = 1;

  while (fail_one(at, true))
    at++;
  assert_in_range(at, 3, 100);
  for (at = 1; at < 1000 && fail_one(at, false); at += 13) {
  }
  assert_in_range(at, 30, 999);
}

/* Lends memory, but once does not let a large text grow. */
typedef struct miser {
  int grown, fail_at;
} miser;

static void *lend(void *ctx, void *block, size_t old_size, size_t new_size)
{
  miser *m = ctx;

  if (block != NULL && old_size >= 2048 && new_size == 2 * old_size &&
      ++m->grown == m->fail_at)
    return NULL;
  return pai__libc_alloc.realloc_fn(pai__libc_alloc.ctx, block, old_size,
                                    new_size);
}

/* The platform's own log breaks off, and begins anew; or a follower's lines do
 * not fit.  Who reads then has what the platform has. */
static bool grow(int fail_at)
{
  miser memory = { .fail_at = fail_at };
  pai_alloc alloc = { .ctx = &memory, .realloc_fn = lend };
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *spec = story_job("", "", "sleep 600");
  durable d = { 0 };
  mirror often, seldom;

  o.root = story_in("grow");
  o.durable = 1;
  o.user = "ann";
  o.runtime = "process";
  o.alloc = &alloc;
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
  assert_ok(mirror_follow(&seldom, d.platform));
  assert_ok(mirror_follow(&often, d.platform));
  for (int i = 0; i < 40; i++) {
    pai_submit_options so = { .struct_size = sizeof(so) };
    char name[32];
    pai_job_id id;

    (void)snprintf(name, sizeof(name), "%d-%d", fail_at, i);
    so.name = name;
    (void)!pai_platform_submit_as(&id, d.platform, spec, &so, NULL);
    assert_true(mirror_look(&often) >= 0);
  }
  memory.fail_at = 0;
  (void)durable_sync(&d);
  assert_true(mirror_look(&often) >= 0);
  mirror_expect_same(&often, d.platform);
  assert_true(mirror_look(&seldom) >= 0);
  mirror_expect_same(&seldom, d.platform);
  durable_close(&d);
  mirror_leave(&often);
  mirror_leave(&seldom);
  pai_spec_unref(spec);
  return memory.grown >= fail_at;
}

TEST(texts_do_not_grow)
{
  int at = 1;

  while (at < 40 && grow(at))
    at++;
  print_message("%d texts did not grow\n", at - 1);
  assert_in_range(at, 4, 39);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
