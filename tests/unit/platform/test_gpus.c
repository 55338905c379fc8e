/* Two platforms on a machine that seems to have two GPUs, some of which others
 * use. */
#include "cases.h"
#include "gpu_box.h"

#include <openpai/vc.h>
#include <stdio.h>

/* What a role names is what there is, or it is refused. */
TEST(types_that_are_named)
{
#define NAMED(type) \
  "extras: {hivedScheduler: {taskRoles: {a: {skuType: " type "}}}},"
  static const char *const policies[] = { NULL, "backfill", "hived" };
  static const char *const names[] = { "typed", "typed2", "typed3" };
  durable d;

  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_job_id id;

    durable_policy = policies[i];
    durable_open(&d, story_in(names[i]));
    assert_int_equal(box_submit_with(&d, "k80", 1, NAMED("K80"), 1), 0);
    assert_has(d.code, "role a asks for the SKU type 'K80'");
    assert_int_equal(box_submit_with(&d, "cpu", 0, NAMED("cpu"), 1), 0);
    id = box_submit_with(&d, "none", 0, NAMED("gpu"), 1);
    assert_int_not_equal(id, 0);
    box_end_job(&d, id, "none");
    id = box_submit_with(&d, "some", 2, NAMED("gpu"), 1);
    assert_int_not_equal(id, 0);
    box_end_job(&d, id, "some");
    id = box_submit_with(&d, "empty", 1, NAMED("''"), 1);
    assert_int_not_equal(id, 0);
    box_end_job(&d, id, "empty");
    durable_close(&d);
  }
  durable_policy = NULL;
}

DURABLE(two_jobs_share_a_box_of_two)
{
  pai_job_id one, two, three;

  one = box_submit(d, "one", 1);
  two = box_submit(d, "two", 1);
  three = box_submit(d, "three", 1);
  durable_reaches(d, two, PAI_STATE_RUNNING);
  durable_is(d, three, PAI_STATE_WAITING);
  (void)box_why(d, three);
  durable_has(d, "waits for 1 GPUs, 0 are free");
  box_end_job(d, one, "one");
  durable_reaches(d, three, PAI_STATE_RUNNING);
  box_end_job(d, two, "two");
  box_end_job(d, three, "three");
  assert_string_equal(durable_log(d, one, NULL), "0\n");
  assert_string_equal(durable_log(d, two, NULL), "1\n");
  assert_string_equal(durable_log(d, three, NULL), "0\n");
}

/* Platforms of two users: neither gets what the other one has. */
TEST(two_platforms_never_share_one)
{
  pai_job_id mine, yours;
  durable a, b;

  durable_open(&a, story_in("mine"));
  mine = box_submit(&a, "mine", 1);
  durable_reaches(&a, mine, PAI_STATE_RUNNING);
  durable_open(&b, story_in("yours"));
  yours = box_submit(&b, "yours", 2);
  for (int i = 0; i < 10; i++)
    durable_turn(&b);
  durable_is(&b, yours, PAI_STATE_WAITING);
  assert_has(b.log, "another platform uses it");
  box_end_job(&a, mine, "mine");
  durable_reaches(&b, yours, PAI_STATE_RUNNING);
  box_end_job(&b, yours, "yours");
  durable_close(&a);
  durable_close(&b);
}

TEST(what_others_use_is_not_given_out)
{
  pai_job_id id;
  durable d;

  box_driver_tells("2");
  durable_open(&d, story_in("crowd"));
  id = box_submit(&d, "crowd", 1);
  for (int i = 0; i < 5; i++)
    durable_turn(&d);
  durable_is(&d, id, PAI_STATE_WAITING);
  assert_has(d.log, "processes of others use it");
  (void)box_why(&d, id);
  durable_has(&d, "GPU 1: a process of somebody else uses it");
  durable_leave(&d);
  box_driver_tells("0"); /* seen by the next one */
  durable_open(&d, story_in("crowd"));
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  box_end_job(&d, id, "crowd");
  durable_close(&d);
}

/* Somebody came since the last look: it is seen before a GPU is given out; a
 * job without GPUs needs no look, nor does one that stands behind. */
TEST(who_came_meanwhile_is_seen_first)
{
  pai_job_id id, none, behind;
  durable d;
  int before;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("meanwhile"));
  before = box_looks();
  box_later += LONG_AGO;
  box_shut_gate();
  none = box_submit(&d, "none", 0);
  durable_reaches(&d, none, PAI_STATE_RUNNING);
  assert_int_equal(box_looks(), before);
  id = box_submit(&d, "meanwhile", 1);
  box_wait_looks(&d, id, before + 1);
  durable_is(&d, id, PAI_STATE_WAITING);
  behind = box_submit(&d, "behind", 0);
  durable_reaches(&d, behind, PAI_STATE_RUNNING);
  box_end_job(&d, behind, "behind");
  assert_int_equal(box_looks(), before + 1);
  (void)box_why(&d, id);
  durable_has(&d, "its GPUs are looked at: others may use them");
  assert_null(strstr(d.log, "GPU ")); /* nothing is known that could be told */
  box_let_look("2");
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  box_end_job(&d, none, "none");
  durable_is(&d, id, PAI_STATE_WAITING);
  (void)box_why(&d, id);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  assert_int_equal(box_looks(), before + 1);
  box_open_gate();
  durable_close(&d);
  box_driver_tells("0");
}

/* One look is for all that is placed for a while; of a machine whose driver
 * knows of no GPU, nobody asks. */
TEST(drivers_are_asked_once)
{
  const char *const machines[] = { "2 idle", "0" };
  int before;
  pai_job_id id;
  durable d;

  for (int i = 0; i < 2; i++) {
    char name[2][32];

    box_driver_tells(machines[i]);
    durable_open(&d, story_in(machines[i]));
    before = box_looks();
    for (int k = 0; k < 2; k++) {
      (void)snprintf(name[k], sizeof(name[k]), "once%d%d", i, k);
      id = box_submit(&d, name[k], 2);
      durable_reaches(&d, id, PAI_STATE_RUNNING);
      box_end_job(&d, id, name[k]);
      assert_int_equal(box_looks(), before + (i == 0 && k == 1));
      if (k == 0)
        box_later += LONG_AGO;
    }
    id = box_submit(&d, "more", 2); /* the one before had them when it ended */
    durable_reaches(&d, id, PAI_STATE_RUNNING);
    box_end_job(&d, id, "more");
    assert_int_equal(box_looks(), before + (i == 0));
    assert_null(strstr(d.log, "GPU "));
    durable_close(&d);
  }
}

/* A look that began while a job had a GPU may have seen that job. */
TEST(what_was_ours_is_looked_at_again)
{
  pai_job_id mine, next;
  durable d;
  int before;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("again"));
  before = box_looks();
  mine = box_submit(&d, "first", 1);
  durable_reaches(&d, mine, PAI_STATE_RUNNING);
  box_later += LONG_AGO;
  box_shut_gate();
  next = box_submit(&d, "next", 1);
  box_wait_looks(&d, next, before + 1);
  box_end_job(&d, mine, "first");
  box_let_look("2"); /* as it was before the end */
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  box_wait_looks(&d, next, before + 2);
  durable_is(&d, next, PAI_STATE_WAITING);
  box_let_look("2 idle");
  durable_reaches(&d, next, PAI_STATE_RUNNING);
  assert_null(strstr(d.log, "GPU 0: "));
  box_open_gate();
  box_end_job(&d, next, "next");
  durable_close(&d);
  box_driver_tells("0");
}

/* What was decided and has not begun, while GPUs are looked at, is stopped, or
 * waits again in the next platform, whose first look is another one. */
TEST(not_begun)
{
  pai_job_id id, next;
  durable d;
  int before;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("begun"));
  before = box_looks();
  box_later += LONG_AGO;
  box_shut_gate();
  id = box_submit(&d, "stopped", 2);
  box_wait_looks(&d, id, before + 1);
  assert_ok(pai_platform_stop(d.platform, id));
  durable_reaches(&d, id, PAI_STATE_STOPPED);
  box_let_look("2 idle");
  id = box_submit(&d, "freed", 2); /* it holds nothing */
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  box_end_job(&d, id, "freed");
  box_later += LONG_AGO;
  before = box_looks();
  id =
    box_share(&d, "shares1", 20000, 2); /* a GPU that is to be shared, too */
  box_wait_looks(&d, id, before + 1);
  box_let_look("2 idle");
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  box_end_job(&d, id, "shares1");
  box_later += LONG_AGO;
  next = box_submit_with(&d, "left", 1, "extras: {gangAllocation: false},", 2);
  assert_int_not_equal(next, 0);
  id = box_share(&d, "shares", 20000, 2);
  durable_is(&d, next, PAI_STATE_WAITING);
  box_let_pass(); /* but for the one that waits there */
  box_let_look("2 idle");
  durable_leave(&d);
  box_open_gate();
  box_driver_tells("2");
  durable_open(&d, story_in("begun"));
  (void)box_why(&d, next);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  durable_is(&d, next, PAI_STATE_WAITING);
  durable_leave(&d);
  box_driver_tells("2 idle");
  durable_open(&d, story_in("begun"));
  durable_reaches(&d, next, PAI_STATE_RUNNING);
  box_end_job(&d, next, "left");
  box_end_job(&d, id, "shares");
  durable_close(&d);
  box_driver_tells("0");
}

/* What the driver knows of is the job of the platform before. */
TEST(adopted_jobs_are_ours)
{
  pai_job_id mine, next;
  durable d;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("adopted"));
  mine = box_submit(&d, "adopted", 1);
  durable_reaches(&d, mine, PAI_STATE_RUNNING);
  next = box_submit(&d, "after", 2);
  durable_leave(&d);
  box_driver_tells("2");
  durable_open(&d, story_in("adopted"));
  durable_is(&d, mine, PAI_STATE_RUNNING);
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  assert_null(strstr(d.log, "GPU 0: "));
  (void)box_why(&d, next);
  assert_null(strstr(d.text, "GPU 0: "));
  box_end_job(&d, mine, "adopted");
  durable_close(&d);
  box_driver_tells("0");
}

/* --- parts of GPUs ------------------------------------------------------------- */

/* Each of them has a share as soon as there is one. */
TEST(tasks_share_gpus_one_by_one)
{
  pai_job_id id, whole;
  durable d;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("parts"));
  whole = box_submit(&d, "whole2", 1);
  durable_reaches(&d, whole, PAI_STATE_RUNNING);
  id =
    box_submit_with(&d, "parts", 1,
                    "extras: {gangAllocation: false, openpai: {gpuMemoryMB: "
                    "20000}},",
                    4); /* of which one GPU has two */
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  while (strstr(box_why(&d, id),
                "2 of 4 tasks have room, 2 wait: waits for 20000 "
                "MiB of a GPU") == NULL)
    durable_turn(&d);
  durable_again(&d);
  (void)box_why(&d, id);
  durable_has(&d, "2 of 4 tasks have room");
  box_end_job(&d, whole, "whole2"); /* whose GPU is shared by the others */
  while (strstr(box_why(&d, id), "tasksWaiting") != NULL)
    durable_turn(&d);
  box_end_job(&d, id, "parts");
  whole = box_submit(&d, "all2", 2);
  durable_reaches(&d, whole, PAI_STATE_RUNNING);
  box_end_job(&d, whole, "all2");
  durable_close(&d);
  box_driver_tells("0");
}

static pai_job_id share_in(durable *d, const char *vc, const char *name,
                           int mb)
{
  pai_job_id id;

  id = box_submit_with(
    d, name, 1,
    test_string("defaults: {virtualCluster: %s}, extras: {openpai: "
                "{gpuMemoryMB: %d}},",
                vc, mb),
    1);
  assert_int_not_equal(id, 0);
  return id;
}

/* A GPU that is shared is one virtual cluster's, and nobody waits for another
 * one's. */
TEST(virtual_clusters_share_their_own)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id x, y, z, w;
  durable d;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("vcs"));
  o.capacity = PAI_VC_WHOLE / 2;
  assert_ok(pai_platform_put_vc(d.platform, "a", &o, NULL));
  x = share_in(&d, "a", "x", 15000);
  y = share_in(&d, "default", "y", 15000);
  durable_reaches(&d, x, PAI_STATE_RUNNING);
  durable_reaches(&d, y, PAI_STATE_RUNNING);
  d.len = 0;
  assert_ok(pai_platform_write_vcs(d.platform, "a", durable_write, &d, NULL));
  durable_has(&d, "\"usedCapacity\":50,");
  z = share_in(&d, "a", "z", 30000);
  w = share_in(&d, "default", "w", 100);
  durable_reaches(&d, w, PAI_STATE_RUNNING);
  durable_is(&d, z, PAI_STATE_WAITING);
  durable_again(&d);
  durable_is(&d, z, PAI_STATE_WAITING);
  box_end_job(&d, x, "x");
  durable_reaches(&d, z, PAI_STATE_RUNNING);
  box_end_job(&d, z, "z");
  box_end_job(&d, y, "y");
  box_end_job(&d, w, "w");
  assert_ok(pai_platform_remove_vc(d.platform, "a", NULL));
  x = box_submit(&d, "all3", 2);
  durable_reaches(&d, x, PAI_STATE_RUNNING);
  box_end_job(&d, x, "all3");
  durable_close(&d);
  box_driver_tells("0");
}

/* A shared GPU that was borrowed is given back: who shares it stops, and nobody
 * else gets a share of it meanwhile. */
TEST(shared_gpus_are_given_back)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id x, y, mine;
  durable d;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("guests"));
  o.capacity = 0;
  o.max_capacity = PAI_VC_WHOLE;
  assert_ok(pai_platform_put_vc(d.platform, "a", &o, NULL));
  x = share_in(&d, "a", "gx", 30000);
  y = share_in(&d, "a", "gy", 30000);
  durable_reaches(&d, x, PAI_STATE_RUNNING);
  durable_reaches(&d, y, PAI_STATE_RUNNING);
  mine = box_submit(&d, "owner", 1);
  durable_reaches(&d, mine, PAI_STATE_RUNNING);
  /* The youngest was stopped, and waits for a share. */
  durable_is(&d, y, PAI_STATE_WAITING);
  durable_is(&d, x, PAI_STATE_RUNNING);
  box_end_job(&d, mine, "owner");
  durable_reaches(&d, y, PAI_STATE_RUNNING);
  box_end_job(&d, x, "gx");
  box_end_job(&d, y, "gy");
  durable_close(&d);
  box_driver_tells("0");
}

/* The GPUs that the driver plays have 40 GiB each. */
TEST(jobs_share_gpus)
{
  pai_job_id a, b, c, whole, late;
  durable d;

  box_driver_tells("2 idle");
  durable_open(&d, story_in("share"));
  assert_int_equal(box_share(&d, "large", 100000, 1), 0);
  if (strstr(d.code, "the largest one has 40") == NULL)
    fail_msg("%s", d.code);
  assert_int_equal(
    box_submit_with(&d, "odd", 2, "extras: {openpai: {gpuMemoryMB: 5}},", 1),
    0);
  assert_has(d.code, "with one GPU each");
  a = box_share(&d, "a", 15000, 2); /* both on one */
  durable_reaches(&d, a, PAI_STATE_RUNNING);
  b = box_share(&d, "b", 10000, 1); /* beside them */
  durable_reaches(&d, b, PAI_STATE_RUNNING);
  whole = box_submit(&d, "whole", 1);
  durable_reaches(&d, whole, PAI_STATE_RUNNING);
  c = box_share(&d, "c", 20000, 1); /* there is no room on the shared one */
  late = box_share(&d, "late", 100, 1); /* nobody overtakes */
  durable_is(&d, c, PAI_STATE_WAITING);
  (void)box_why(&d, c);
  durable_has(&d, "waits for 20000 MiB of a GPU");
  durable_again(&d);
  durable_is(&d, b, PAI_STATE_RUNNING);
  durable_is(&d, c, PAI_STATE_WAITING);
  box_end_job(&d, a, "a");
  durable_reaches(&d, c, PAI_STATE_RUNNING);
  durable_reaches(&d, late, PAI_STATE_RUNNING);
  box_end_job(&d, b, "b");
  box_end_job(&d, c, "c");
  box_end_job(&d, late, "late");
  box_end_job(&d, whole, "whole");
  assert_string_equal(durable_log(&d, a, NULL), "0\n");
  assert_string_equal(durable_log(&d, b, NULL), "0\n");
  assert_string_equal(durable_log(&d, c, NULL), "0\n");
  assert_string_equal(durable_log(&d, whole, NULL), "1\n");
  whole = box_submit(&d, "both", 2); /* what nobody shares any more is free */
  durable_reaches(&d, whole, PAI_STATE_RUNNING);
  box_end_job(&d, whole, "both");
  durable_close(&d);
  box_driver_tells("0");
}

TEST_AROUND_ALL(story_make_root, story_remove_root);

int main(void)
{
  box_driver_tells("0");
  return test_main(NULL);
}
