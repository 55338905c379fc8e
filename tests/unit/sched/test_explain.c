/* Why something waits, and what would help, in words. */
#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"
#include "sched/remedy.h"

#include <stdio.h>
#include <stdlib.h>

static char said[8192];

static int keep(void *user_data, const char *bytes, size_t len)
{
  size_t *at = user_data;

  assert_true(*at + len < sizeof(said));
  memcpy(said + *at, bytes, len);
  *at += len;
  said[*at] = '\0';
  return PAI_OK;
}

static const char *explain(const pai_sched *s, uint64_t id, int format)
{
  size_t at = 0;

  assert_int_equal(pai_sched_explain(s, id, format, keep, &at, NULL), PAI_OK);
  return said;
}

/* The least importance with which it would go first, and no more. */
static void as_much_importance_is_told_as_is_needed(void **state)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:4", "priority", "{\"preempt\":false}", NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_change(s, 2, "priority", 3), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_non_null(strstr(explain(s, 3, 0),
                         "It would start now if it had priority 4, or if "
                         "request 2 was held."));
  pai_sched_free(s);
}

/* Where no one change is enough, nothing is said of how small it is. */
static void several_changes_are_told_as_what_they_are(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 2, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_non_null(strstr(explain(s, 3, 0),
                         "finished (these changes work together; others "
                         "may be smaller)."));
  pai_sched_free(s);
}

static void a_paragraph_tells_why_and_what_would_help(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 4, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(
    explain(s, 3, 0),
    "Request 3 waits: no node has 4 GPUs free; node0002 comes nearest, "
    "with 2 GPUs. 2 of 2 nodes have too few free GPUs. It "
    "would start now if a task asked for 2 GPUs, or if request 2 "
    "finished.\n");
  assert_string_equal(
    explain(s, 4, 0),
    "Request 4 waits: it is not its turn: request 3 goes first. It would "
    "start now if request 3 was held.\n");
  assert_string_equal(explain(s, 1, 0), "Request 1 does not wait.\n");
  pai_sched_free(s);
}

static void shares_of_a_policys_own_are_told_as_such(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", "fair",
                           "{\"user_max_gpus\": 5}", NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_non_null(strstr(explain(s, 2, 0),
                         "Request 2 waits: a user has at most 5 GPUs at a "
                         "time: it asks for 2 and 1 may be had. It would "
                         "start now if a task asked for 1 GPU"));
  pai_sched_free(s);
}

static void what_is_held_is_told_so(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_change(s, 1, "held", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(explain(s, 1, 0),
                      "Request 1 waits: it is held until it is released. It "
                      "would start now if it was released.\n");
  pai_sched_free(s);
}

/* Of an array that is cancelled, with what waits of it. */
static void what_is_cancelled_does_not_wait(void **state)
{
  for (size_t i = 0; pai_policy_builtin(i) != NULL; i++) {
    pai_sched *s =
      scene_new("nodes:1 gpu:4", pai_policy_builtin(i)->name, NULL, NULL);
    pai_want want = scene_want(1, 3);
    pai_request q = { .id = 1, .wants = &want, .nwants = 1, .instances = 4 };
    pai_request_view view = { .struct_size = sizeof(view) };
    pai_reason reason = { .struct_size = sizeof(reason) };
    pai_sched_event cancel = { .kind = PAI_SCHED_CANCEL,
                               .id = 1,
                               .instance = PAI_SCHED_ALL };

    (void)state;
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(scene_event(s, cancel, NULL), PAI_OK);
    assert_string_equal(explain(s, 1, 0), "Request 1 does not wait.\n");
    assert_string_equal(explain(s, 1, PAI_FORMAT_JSON), "{\"id\":1}\n");
    assert_int_equal(pai_sched_reason(s, 1, &reason), PAI_ENOTFOUND);
    assert_int_equal(pai_sched_view_request(s, 1, &view), PAI_OK);
    assert_int_equal(view.state, PAI_REQUEST_STOPPING);
    assert_int_equal(view.waiting, 0);
    pai_sched_free(s);
  }
}

/* Its place is chosen, and those who are there have not stopped yet. */
static void who_has_claimed_a_place_waits_for_it(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", "priority", NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_change(s, 2, "priority", 5), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: those that make room for it have not "
                      "stopped yet. It would start now if request 1 "
                      "finished.\n");
  pai_sched_free(s);
}

static void what_is_not_considered_any_more_has_no_counts(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_GPU), 2);
  assert_int_equal(scene_change(s, 2, "held", 1), PAI_OK);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_GPU), 0);
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: it is held until it is released. It "
                      "would start now if it was released.\n");
  pai_sched_free(s);
}

static void what_starts_with_the_next_decision_is_told_so(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_string_equal(
    explain(s, 1, 0),
    "Request 1 waits: the scheduler has not considered it yet. It "
    "starts at the next decision.\n");
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: something has changed since it was "
                      "considered, and it starts at the next decision.\n");
  assert_non_null(strstr(explain(s, 2, PAI_FORMAT_JSON), "\"starts\":true"));
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

static void plans_and_instances_are_told(void **state)
{
  pai_sched *s = scene_new("nodes:3 gpu:4", "backfill", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request sweep = {
    .id = 1, .duration = 90000000, .instances = 3, .wants = &want, .nwants = 1
  };

  (void)state;
  assert_int_equal(scene_request(s, &sweep, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 3, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 1.1, start 1.2");
  assert_non_null(
    strstr(explain(s, 2, 0),
           " As planned, it starts in 90 seconds. It would start now if "
           "instance 0 of request 1, instance 2 of request 1 and instance 1 "
           "of request 1 finished (these changes work together; "
           "others may be smaller)."));
  pai_sched_free(s);
}

static void who_would_delay_others_may_be_short(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "backfill", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = {
    .id = 1, .duration = 90000000, .wants = &want, .nwants = 1
  };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 4), PAI_OK);
  q.id = 3;
  q.duration = 91000000;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_non_null(
    strstr(explain(s, 3, 0), "it would delay what is planned before it."));
  assert_non_null(strstr(explain(s, 3, 0),
                         "It would start now if it was limited to 90 "
                         "seconds"));
  pai_sched_free(s);
}

/* --- without memory ------------------------------------------------------- */

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", NULL, NULL, alloc);
  size_t at = 0;
  int rc = PAI_ENOMEM;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  if (scene_submit(s, 1, 1, 3) == PAI_OK &&
      scene_submit(s, 2, 1, 4) == PAI_OK &&
      scene_submit(s, 3, 1, 4) == PAI_OK && pai_sched_decide(s, 0, NULL) >= 0)
    rc = pai_sched_explain(s, 3, PAI_FORMAT_JSON, keep, &at, NULL);
  pai_sched_free(s);
  return rc;
}

static void failing_memory_is_told(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_paragraph_tells_why_and_what_would_help),
    cmocka_unit_test(shares_of_a_policys_own_are_told_as_such),
    cmocka_unit_test(what_is_held_is_told_so),
    cmocka_unit_test(what_is_cancelled_does_not_wait),
    cmocka_unit_test(who_has_claimed_a_place_waits_for_it),
    cmocka_unit_test(what_is_not_considered_any_more_has_no_counts),
    cmocka_unit_test(what_starts_with_the_next_decision_is_told_so),
    cmocka_unit_test(plans_and_instances_are_told),
    cmocka_unit_test(who_would_delay_others_may_be_short),
    cmocka_unit_test(as_much_importance_is_told_as_is_needed),
    cmocka_unit_test(several_changes_are_told_as_what_they_are),
    cmocka_unit_test(failing_memory_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
