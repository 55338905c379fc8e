/* A durable platform for which memory is short, at this moment or that, once or
 * for good: it ends in order, and the next one finds what was accepted, which
 * does not fail for that. */
#include "cases.h"
#include "durable.h"
#include "mirror.h"

#include <openpai/vc.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEP = 7, MOST = 4000 };

typedef struct short_of {
  test_tally tally;
  pai_loop *loop;
  pai_platform *platform;
  mirror follower;
  int synced;   /* 1: not yet */
  bool partial; /* its tasks are placed one by one, and become more */
  bool stopped; /* in the turn of its submission */
  bool tried;   /* it fails once, and is tried again */
  bool closed;
} short_of;

static void on_sync(void *user_data, int status, const pai_error *err)
{
  (void)err;
  ((short_of *)user_data)->synced = status;
}

static void on_closed(void *user_data)
{
  ((short_of *)user_data)->closed = true;
}

static void turn(short_of *s)
{
  durable d = { .loop = s->loop };

  durable_turn(&d);
}

static int submit(short_of *s, pai_job_id *id)
{
  pai_submit_options o = { .struct_size = sizeof(o) };
  char command[400];
  pai_spec *spec;
  int rc;

  (void)snprintf(command, sizeof(command),
                 s->tried ? "! mkdir %s/tried-$PAI_CURRENT_TASK_ROLE_CURRENT_"
                            "TASK_INDEX 2> /dev/null"
                          : "true",
                 story_root);
  spec = s->partial ? story_job("extras: {gangAllocation: false},",
                                "instances: 2, taskRetryCount: 1,", command)
                    : story_job("jobRetryCount: 1,", "", command);
  rc = pai_platform_submit_as(id, s->platform, spec, &o, NULL);

  pai_spec_unref(spec);
  if (rc == PAI_OK && s->partial) {
    int more = pai_platform_rescale(s->platform, *id, "a", 3, NULL);

    assert_true(more == PAI_OK || more == PAI_ENOMEM);
  }
  s->synced = 1;
  if (rc == PAI_OK && pai_platform_sync(s->platform, on_sync, s) < 0)
    s->synced = PAI_ENOMEM;
  return rc;
}

/* Made, changed and removed, or not. */
static void use_parts(const short_of *s)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  int rc;

  if (!s->partial)
    return;
  o.capacity = 2500;
  rc = pai_platform_put_vc(s->platform, "part", &o, NULL);
  assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  rc = pai_platform_stop_vc(s->platform, "part", 1, NULL);
  assert_true(rc == PAI_OK || rc == PAI_ENOMEM || rc == PAI_ENOTFOUND);
  rc = pai_platform_remove_vc(s->platform, "part", NULL);
  assert_true(rc == PAI_OK || rc == PAI_ENOMEM || rc == PAI_ENOTFOUND);
}

/* Lines are whole and none lacks between them, or it begins anew. */
static void look(short_of *s)
{
  int rc = s->follower.follower != NULL ? mirror_look(&s->follower) : PAI_OK;

  assert_true(rc >= 0 || rc == PAI_ENOMEM);
}

static bool is_over(const short_of *s, pai_job_id id)
{
  int state = pai_platform_job_state(NULL, s->platform, id);

  return s->synced != 1 && (state <= 0 || state >= PAI_STATE_SUCCEEDED);
}

/* PAI_OK, or PAI_ENOMEM: then the platform was not made, or has not taken the
 * job.  A job that is taken ends, however, unless memory is short for good. */
static int run(short_of *s, const char *root)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  time_t give_up = time(NULL) + 120;
  pai_job_id id;
  int rc;

  o.root = root;
  o.durable = 1;
  o.user = "ann";
  o.runtime = "process";
  o.alloc = &s->tally.alloc;
  rc = pai_platform_new(&s->platform, s->loop, &o, NULL);
  if (rc < 0)
    return rc;
  rc = mirror_follow(&s->follower, s->platform);
  assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  use_parts(s);
  rc = submit(s, &id);
  if (rc == PAI_OK && s->stopped)
    assert_ok(pai_platform_stop(s->platform, id));
  /* Whatever was short, it ends: closing would stop what runs. */
  for (int i = 0; rc == PAI_OK && !is_over(s, id); i++) {
    if (time(NULL) > give_up)
      fail_msg("allocation %zu: it does not end", s->tally.fail_at);
    turn(s);
    if (s->tally.for_ever && i > 20)
      s->tally.fail_at = 0; /* there is memory again */
  }
  look(s);
  if (rc == PAI_OK && !s->tally.for_ever &&
      s->tally.calls >= s->tally.fail_at &&
      pai_platform_job_state(NULL, s->platform, id) >= PAI_STATE_SUCCEEDED)
    while (durable_requests(s->platform) != 0) {
      if (time(NULL) > give_up)
        fail_msg("allocation %zu: requests are left", s->tally.fail_at);
      turn(s); /* where memory was short for that, it is tried again */
    }
  if (rc == PAI_OK && s->synced < 0)
    rc = s->synced;
  pai_platform_close(s->platform, on_closed, s);
  while (!s->closed)
    turn(s);
  look(s); /* as after it, what was missed is not there for good */
  return rc;
}

/* What was accepted is there, and over; it has failed for nothing that this
 * machine lacked. */
static void expect_rest(size_t at, const char *root, bool accepted,
                        bool stopped)
{
  int state;

  durable d;
  pai_job_id id;

  durable_open(&d, root);
  if (accepted || pai_platform_find(&id, d.platform, "ann~test", NULL) == 0) {
    assert_ok(pai_platform_find(&id, d.platform, "ann~test", NULL));
    state = durable_wait(&d, id, PAI_STATE_SUCCEEDED);
    if (!stopped && state != PAI_STATE_SUCCEEDED)
      fail_msg("allocation %zu: it %s", at, pai_state_name(state));
    assert_true(state >= PAI_STATE_SUCCEEDED);
  }
  durable_close(&d);
}

/* False when no allocation was made to fail. */
static bool fail_one(size_t at, bool for_ever)
{
  short_of s = { .synced = 1,
                 .partial = at / 2 % 2 == 1,
                 .stopped = at / 4 % 4 == 3,
                 .tried = at / 8 % 2 == 1 };
  char root[300];
  bool failed;
  int rc;

  (void)snprintf(root, sizeof(root), "%s/memory", story_root);
  test_tally_init(&s.tally);
  s.tally.fail_at = at;
  s.tally.for_ever = for_ever;
  assert_ok(pai_loop_new(&s.loop, NULL, NULL));
  rc = run(&s, root);
  failed = s.tally.calls >= at;
  mirror_leave(&s.follower);
  assert_ok(pai_loop_run(s.loop));
  pai_loop_free(s.loop);
  if (rc != PAI_OK && rc != PAI_ENOMEM)
    fail_msg("allocation %zu: %s", at, pai_code_name(rc));
  if (s.tally.live != 0)
    fail_msg("allocation %zu: %zu bytes are left", at, s.tally.live);
  expect_rest(at, root, rc == PAI_OK && s.synced == PAI_OK, s.stopped);
  test_shell("rm -rf '%s' %s/tried-*", root, story_root);
  return failed;
}

TEST(memory_may_be_short)
{
  bool all = getenv("OPENPAI_SOAK") != NULL;
  size_t n = 0, step = all ? 1 : STEP;

  for (size_t at = 1; at < MOST && fail_one(at, (at / step) % 2 == 1);
       at += step) {
    if (all)
      (void)fail_one(at, (at / step) % 2 == 0);
    n++;
  }
  print_message("%zu allocations were made to fail\n", n);
  assert_in_range(n, 20, MOST);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
