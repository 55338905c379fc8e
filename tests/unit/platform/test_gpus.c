/* Two platforms on a machine that seems to have two GPUs, some of which others
 * use. */
#include "gpu_box.h"

#include <stdio.h>

/* What a role names is what there is, or it is refused. */
static void types_that_are_named(void **state)
{
#define NAMED(type) \
  "extras: {hivedScheduler: {taskRoles: {a: {skuType: " type "}}}},"
  static const char *const policies[] = { NULL, "backfill", "hived" };
  static const char *const names[] = { "typed", "typed2", "typed3" };
  durable d;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_job_id id;

    durable_policy = policies[i];
    durable_open(&d, box_root(names[i]));
    assert_int_equal(box_submit_with(&d, "k80", 1, NAMED("K80"), 1), 0);
    assert_non_null(strstr(d.code, "role a asks for the SKU type 'K80'"));
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

static void two_jobs_share_a_box_of_two(void **state)
{
  pai_job_id one, two, three;
  durable d;

  (void)state;
  durable_open(&d, box_root("two"));
  one = box_submit(&d, "one", 1);
  two = box_submit(&d, "two", 1);
  three = box_submit(&d, "three", 1);
  assert_int_equal(durable_wait(&d, two, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, three),
                   PAI_STATE_WAITING);
  (void)box_why(&d, three);
  durable_has(&d, "waits for 1 GPUs, 0 are free");
  box_end_job(&d, one, "one");
  assert_int_equal(durable_wait(&d, three, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, two, "two");
  box_end_job(&d, three, "three");
  assert_string_equal(durable_log(&d, one, NULL), "0\n");
  assert_string_equal(durable_log(&d, two, NULL), "1\n");
  assert_string_equal(durable_log(&d, three, NULL), "0\n");
  durable_close(&d);
}

/* Platforms of two users: neither gets what the other one has. */
static void two_platforms_never_share_one(void **state)
{
  pai_job_id mine, yours;
  durable a, b;

  (void)state;
  durable_open(&a, box_root("mine"));
  mine = box_submit(&a, "mine", 1);
  assert_int_equal(durable_wait(&a, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  durable_open(&b, box_root("yours"));
  yours = box_submit(&b, "yours", 2);
  for (int i = 0; i < 10; i++)
    durable_turn(&b);
  assert_int_equal(pai_platform_job_state(NULL, b.platform, yours),
                   PAI_STATE_WAITING);
  assert_non_null(strstr(b.log, "another platform uses it"));
  box_end_job(&a, mine, "mine");
  assert_int_equal(durable_wait(&b, yours, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&b, yours, "yours");
  durable_close(&a);
  durable_close(&b);
}

static void what_others_use_is_not_given_out(void **state)
{
  pai_job_id id;
  durable d;

  (void)state;
  box_driver_tells("2");
  durable_open(&d, box_root("crowd"));
  id = box_submit(&d, "crowd", 1);
  for (int i = 0; i < 5; i++)
    durable_turn(&d);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  assert_non_null(strstr(d.log, "processes of others use it"));
  (void)box_why(&d, id);
  durable_has(&d, "GPU 1: a process of somebody else uses it");
  durable_leave(&d);
  box_driver_tells("0"); /* seen by the next one */
  durable_open(&d, box_root("crowd"));
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, id, "crowd");
  durable_close(&d);
}

/* Somebody came since the last look: it is seen before a GPU is given out; a
 * job without GPUs needs no look, nor does one that stands behind. */
static void who_came_meanwhile_is_seen_first(void **state)
{
  pai_job_id id, none, behind;
  durable d;
  int before;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("meanwhile"));
  before = box_looks();
  box_later += LONG_AGO;
  box_shut_gate();
  none = box_submit(&d, "none", 0);
  assert_int_equal(durable_wait(&d, none, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(box_looks(), before);
  id = box_submit(&d, "meanwhile", 1);
  box_wait_looks(&d, id, before + 1);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  behind = box_submit(&d, "behind", 0);
  assert_int_equal(durable_wait(&d, behind, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, behind, "behind");
  assert_int_equal(box_looks(), before + 1);
  (void)box_why(&d, id);
  durable_has(&d, "its GPUs are looked at: others may use them");
  assert_null(strstr(d.log, "GPU ")); /* nothing is known that could be told */
  box_let_look("2");
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  box_end_job(&d, none, "none");
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  (void)box_why(&d, id);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  assert_int_equal(box_looks(), before + 1);
  box_open_gate();
  durable_close(&d);
  box_driver_tells("0");
}

/* One look is for all that is placed for a while; of a machine whose driver
 * knows of no GPU, nobody asks. */
static void drivers_are_asked_once(void **state)
{
  const char *const machines[] = { "2 idle", "0" };
  int before;
  pai_job_id id;
  durable d;

  (void)state;
  for (int i = 0; i < 2; i++) {
    char name[2][32];

    box_driver_tells(machines[i]);
    durable_open(&d, box_root(machines[i]));
    before = box_looks();
    for (int k = 0; k < 2; k++) {
      (void)snprintf(name[k], sizeof(name[k]), "once%d%d", i, k);
      id = box_submit(&d, name[k], 2);
      assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING),
                       PAI_STATE_RUNNING);
      box_end_job(&d, id, name[k]);
      assert_int_equal(box_looks(), before + (i == 0 && k == 1));
      if (k == 0)
        box_later += LONG_AGO;
    }
    id = box_submit(&d, "more", 2); /* the one before had them when it ended */
    assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING),
                     PAI_STATE_RUNNING);
    box_end_job(&d, id, "more");
    assert_int_equal(box_looks(), before + (i == 0));
    assert_null(strstr(d.log, "GPU "));
    durable_close(&d);
  }
}

/* A look that began while a job had a GPU may have seen that job. */
static void what_was_ours_is_looked_at_again(void **state)
{
  pai_job_id mine, next;
  durable d;
  int before;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("again"));
  before = box_looks();
  mine = box_submit(&d, "first", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_later += LONG_AGO;
  box_shut_gate();
  next = box_submit(&d, "next", 1);
  box_wait_looks(&d, next, before + 1);
  box_end_job(&d, mine, "first");
  box_let_look("2"); /* as it was before the end */
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  box_wait_looks(&d, next, before + 2);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  box_let_look("2 idle");
  assert_int_equal(durable_wait(&d, next, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_null(strstr(d.log, "GPU 0: "));
  box_open_gate();
  box_end_job(&d, next, "next");
  durable_close(&d);
  box_driver_tells("0");
}

/* What was decided and has not begun, while GPUs are looked at, is stopped, or
 * waits again in the next platform, whose first look is another one. */
static void not_begun(void **state)
{
  pai_job_id id, next;
  durable d;
  int before;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("begun"));
  before = box_looks();
  box_later += LONG_AGO;
  box_shut_gate();
  id = box_submit(&d, "stopped", 2);
  box_wait_looks(&d, id, before + 1);
  assert_int_equal(pai_platform_stop(d.platform, id), PAI_OK);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_STOPPED), PAI_STATE_STOPPED);
  box_let_look("2 idle");
  id = box_submit(&d, "freed", 2); /* it holds nothing */
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, id, "freed");
  box_later += LONG_AGO;
  before = box_looks();
  id =
    box_share(&d, "shares1", 20000, 2); /* a GPU that is to be shared, too */
  box_wait_looks(&d, id, before + 1);
  box_let_look("2 idle");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, id, "shares1");
  box_later += LONG_AGO;
  next = box_submit_with(&d, "left", 1, "extras: {gangAllocation: false},", 2);
  assert_int_not_equal(next, 0);
  id = box_share(&d, "shares", 20000, 2);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  box_let_pass(); /* but for the one that waits there */
  box_let_look("2 idle");
  durable_leave(&d);
  box_open_gate();
  box_driver_tells("2");
  durable_open(&d, box_root("begun"));
  (void)box_why(&d, next);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  durable_leave(&d);
  box_driver_tells("2 idle");
  durable_open(&d, box_root("begun"));
  assert_int_equal(durable_wait(&d, next, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, next, "left");
  box_end_job(&d, id, "shares");
  durable_close(&d);
  box_driver_tells("0");
}

/* What the driver knows of is the job of the platform before. */
static void adopted_jobs_are_ours(void **state)
{
  pai_job_id mine, next;
  durable d;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("adopted"));
  mine = box_submit(&d, "adopted", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  next = box_submit(&d, "after", 2);
  durable_leave(&d);
  box_driver_tells("2");
  durable_open(&d, box_root("adopted"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, mine),
                   PAI_STATE_RUNNING);
  box_wait_log(&d, "GPU 1: a process of somebody else uses it");
  assert_null(strstr(d.log, "GPU 0: "));
  (void)box_why(&d, next);
  assert_null(strstr(d.text, "GPU 0: "));
  box_end_job(&d, mine, "adopted");
  durable_close(&d);
  box_driver_tells("0");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_jobs_share_a_box_of_two),
    cmocka_unit_test(types_that_are_named),
    cmocka_unit_test(two_platforms_never_share_one),
    cmocka_unit_test(what_others_use_is_not_given_out),
    cmocka_unit_test(who_came_meanwhile_is_seen_first),
    cmocka_unit_test(drivers_are_asked_once),
    cmocka_unit_test(what_was_ours_is_looked_at_again),
    cmocka_unit_test(not_begun),
    cmocka_unit_test(adopted_jobs_are_ours),
  };

  box_driver_tells("0");
  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
