/*
 * A virtual cluster with a part of the whole gets it, also when others have
 * borrowed it; and nobody is stopped for others who has what he is guaranteed.
 */
#include "scribe.h"

#include "base/buf.h"

#include <stdio.h>

/* One node, so that what is free is one place: 16 GPUs, of which left and right
 * are guaranteed 4 each, and default 8. */
static const char box[] =
  "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: n1, sku: box}]\n"
  "virtualClusters:\n"
  "  default: {part: rest}\n"
  "  left: {part: 25%, max: 100%}\n"
  "  right: {part: 25%, max: 100%}\n";

/* Three nodes, of which left owns two. */
static const char cells[] =
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: \"n[1-3]\", sku: box}]\n"
  "virtualClusters:\n"
  "  left: {cells: {box: 2}}\n"
  "  right: {cells: {box: 1}}\n";

static int submit(pai_sched *s, uint64_t id, const char *vc, uint32_t gpus,
                  int priority)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .priority = priority, .wants = &want, .nwants = 1 },
    NULL);
}

static int returned(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

/* --- two that would stop each other --------------------------------------- */

/* One node with GPUs of two kinds, of which `left` has a half of each. */
static const char two_kinds[] =
  "skus: {mixed: {gpu: {v: 2, t: 2}, cpus: 8, memory: 8G}}\n"
  "nodes: [{name: n1, sku: mixed}]\n"
  "virtualClusters: {left: {part: 50%, max: 100%}, default: {part: rest}}\n";

/* All that was decided is done at once; the number of decisions. */
static int obey(pai_sched *s)
{
  pai_decision all[8] = { { 0 } };
  int n = pai_sched_decide(s, scene_now(s), NULL);

  assert_in_range(n, 0, (int)PAI__LEN(all));
  for (int i = 0; i < n; i++) {
    all[i].struct_size = sizeof(all[i]);
    assert_int_equal(pai_sched_decision(s, (size_t)i, &all[i]), PAI_OK);
  }
  for (int i = 0; i < n; i++)
    assert_int_equal(
      scene_event(s,
                  (pai_sched_event){ .kind = all[i].kind == PAI_DECISION_START
                                               ? PAI_SCHED_STARTED
                                               : PAI_SCHED_RETURNED,
                                     .id = all[i].id },
                  NULL),
      PAI_OK);
  return n;
}

/* 1 keeps to the part; 2 is more important, and has to borrow. */
static void two_do_not_stop_each_other_for_ever(void **state)
{
  static const char *const policies[] = { "priority", "k8s" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies) * 2; i++) {
    pai_sched *s = scene_new(two_kinds, policies[i / 2], NULL, NULL);
    pai_want small = scene_want(1, 1);
    pai_want large[] = { scene_want(1, 2), scene_want(1, 2) };
    pai_request one = { .id = 1, .vc = "left", .wants = &small, .nwants = 1 };
    pai_request two = {
      .id = 2, .vc = "left", .priority = 9, .wants = large, .nwants = 2
    };
    int n = 0;

    large[1].type = "t";
    large[0].type = "v";
    assert_non_null(s);
    assert_int_equal(scene_request(s, i % 2 ? &two : &one, NULL), PAI_OK);
    assert_int_equal(obey(s), 1);
    assert_int_equal(scene_request(s, i % 2 ? &one : &two, NULL), PAI_OK);
    while (obey(s) != 0)
      assert_true(++n < 8);
    /* The part is for who keeps to it, and who borrows waits. */
    assert_string_equal(scene_lack(s, 1), "");
    assert_string_not_equal(scene_lack(s, 2), "");
    assert_int_equal(scene_finish(s, 1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    pai_sched_free(s);
  }
}

/* Who is guaranteed himself goes before those who are less important. */
static void who_keeps_to_the_part_goes_by_importance(void **state)
{
  pai_sched *s = scene_new(two_kinds, "priority", NULL, NULL);
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = 1, .vc = "left", .wants = &want, .nwants = 1 };

  (void)state;
  want.type = "v";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  q.id = 2;
  q.vc = "default";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(obey(s), 2);
  q.id = 3;
  q.vc = "left";
  q.priority = 9;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  pai_sched_free(s);
}

/* --- one after the other -------------------------------------------------- */

static const char *const asking[] = { "fifo", "backfill", "priority", "fair",
                                      "k8s" };

static void what_is_borrowed_is_asked_back(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 4, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "left", 6, 0), PAI_OK);
    assert_int_equal(submit(s, 3, "left", 6, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
    assert_int_equal(submit(s, 4, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 3 preempted");
    assert_string_equal(scene_lack(s, 4), "victims");
    /* It stops once, and nobody gets its place before. */
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(returned(s, 3), PAI_OK);
    assert_string_equal(scene_decide(s), "start 4");
    /* What is left is no place for 3, and it has nothing to ask back. */
    assert_string_equal(scene_decide(s), "");
    /* Beyond a part importance decides, as far as the policy goes by that. */
    assert_int_equal(submit(s, 5, "right", 4, 100), PAI_OK);
    assert_string_equal(scene_decide(s), strcmp(asking[i], "priority") == 0 ||
                                             strcmp(asking[i], "k8s") == 0
                                           ? "stop 4 preempted"
                                           : "");
    pai_sched_free(s);
  }
}

/* Where virtual clusters own cells, opportunistic requests have what others
 * leave: who keeps to its cells does not wait for them. */
static void opportunistic_requests_leave_cells(void **state)
{
  static const char *const policies[] = { "fifo", "backfill", "fair",
                                          "priority", "k8s" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_sched *s = scene_new(cells, policies[i], NULL, NULL);
    pai_want gang = scene_want(2, 8);
    pai_request q = { .id = 5, .vc = "left", .wants = &gang, .nwants = 1 };

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "right", 8, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "left", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 3 preempted, stop 2 preempted");
    assert_int_equal(returned(s, 2), PAI_OK);
    assert_int_equal(returned(s, 3), PAI_OK);
    assert_string_equal(scene_decide(s), "start 5");
    /* Not of its cells: it is content with what is left, too. */
    assert_int_equal(submit(s, 6, "left", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    pai_sched_free(s);
    s = scene_new(cells, policies[i], "{\"reclaim\":false}", NULL);
    assert_int_equal(submit(s, 1, "right", 8, -1), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), i < 3 ? "" : "stop 2 preempted");
    pai_sched_free(s);
  }
}

/* Under `fifo` opportunistic requests that wait keep each other in line, and
 * those that are guaranteed their cells do not stand in it.  Where virtual
 * clusters own nothing all stand in one. */
static void who_owns_cells_does_not_wait_in_line(void **state)
{
  pai_want gang = scene_want(2, 8);
  pai_request q = { .id = 5, .vc = "left", .wants = &gang, .nwants = 1 };
  pai_sched *s = scene_new(cells, "fifo", NULL, NULL), *loaded;
  pai__buf saved;

  (void)state;
  assert_non_null(s);
  for (uint64_t id = 1; id <= 3; id++)
    assert_int_equal(submit(s, id, "left", 8, PAI_SCHED_OPPORTUNISTIC),
                     PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_int_equal(submit(s, 4, "left", 8, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(submit(s, 6, "left", 1, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_int_equal(submit(s, 7, "left", 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted, stop 2 preempted");
  assert_string_equal(scene_lack(s, 4), "gpu");
  assert_string_equal(scene_lack(s, 6), "turn");
  scribe_save(s, &saved);
  assert_int_equal(
    pai_sched_load(&loaded, pai__buf_text(&saved), saved.len, NULL, NULL),
    PAI_OK);
  assert_string_equal(scene_lack(loaded, 4), "gpu");
  assert_string_equal(scene_lack(loaded, 6), "turn");
  assert_string_equal(scene_lack(loaded, 7), scene_lack(s, 7));
  pai_sched_free(loaded);
  pai__buf_dispose(&saved);
  assert_int_equal(returned(s, 2), PAI_OK);
  assert_int_equal(returned(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  pai_sched_free(s);
  s = scene_new("nodes:1 gpu:8 cpus:64 mem:64G", "fifo", NULL, NULL);
  for (uint64_t id = 1; id <= 2; id++)
    assert_int_equal(submit(s, id, NULL, 6, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_int_equal(submit(s, 3, NULL, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_lack(s, 3), "turn");
  pai_sched_free(s);
}

static void it_can_be_left_to_them(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], "{\"reclaim\": false}", NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_string_equal(scene_lack(s, 2), "gpu");
    pai_sched_free(s);
  }
}

/* Who borrows does not take what is free from those who are guaranteed it,
 * though he came before: nobody starts to be stopped at once. */
static void what_is_guaranteed_goes_first(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    assert_string_equal(scene_lack(s, 1), "gpu");
    pai_sched_free(s);
  }
}

/* Opportunistic ones are guaranteed nothing, in their own part neither. */
static void opportunistic_ones_make_room(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 8, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
    assert_int_equal(submit(s, 2, NULL, 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2, start 1");
    assert_int_equal(submit(s, 3, "left", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 1 preempted");
    assert_int_equal(returned(s, 1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    pai_sched_free(s);
  }
}

/* Under `capacity`, which has guarantees of its own, they do so likewise: they
 * use nothing of what is guaranteed, though they may have all of it. */
static void opportunistic_ones_use_no_guarantee(void **state)
{
  static const char *const options[] = { NULL, "{\"greedy\":true}" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(options); i++) {
    pai_sched *s = scene_new(box, "capacity", options[i], NULL);

    assert_non_null(s);
    for (uint64_t id = 1; id <= 2; id++)
      assert_int_equal(submit(s, id, "left", 8, PAI_SCHED_OPPORTUNISTIC),
                       PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "left", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 2 preempted");
    assert_int_equal(returned(s, 2), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    pai_sched_free(s);
  }
}

/* Nobody is so important that others lose what they are guaranteed. */
static void importance_ends_at_the_part(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 4, 0), PAI_OK);
    assert_int_equal(submit(s, 2, NULL, 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "right", 8, 100), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(submit(s, 4, "right", 4, 0), PAI_OK);
    /* Strictly, nobody overtakes in a virtual cluster. */
    assert_string_equal(scene_decide(s), strcmp(asking[i], "fifo") == 0 ||
                                             strcmp(asking[i], "fair") == 0
                                           ? ""
                                           : "start 4");
    pai_sched_free(s);
  }
}

static void a_shadow_and_a_copy_ask_back_too(void **state)
{
  pai_sched *s = scene_new(box, "fifo", "{\"reclaim\": false}", NULL), *copy;
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_SHADOW, .text = "fifo" }, NULL),
    PAI_OK);
  assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.shadow_decisions, 2);
  assert_int_equal(v.shadow_agreed, 1);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "fifo" }, NULL),
    PAI_OK);
  assert_int_equal(pai_sched_fork(&copy, s, NULL), PAI_OK);
  assert_string_equal(scene_decide(copy), "stop 1 preempted");
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  pai_sched_free(copy);
  pai_sched_free(s);
}

/* Who wanted more than his part is looked at again when he wants less, and when
 * the part is larger. */
static void wishes_and_parts_change(void **state)
{
  static const char larger[] =
    "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
    "nodes: [{name: n1, sku: box}]\n"
    "virtualClusters: {default: {part: rest}, also: {part: 1%},\n"
    "  left: {part: 25%}, right: {part: 50%}}\n";
  pai_cluster *c;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(submit(s, 2, "right", 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(scene_change(s, 2, "gpus", 6), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    if (i % 2 == 0) {
      assert_int_equal(scene_change(s, 2, "gpus", 4), PAI_OK);
    } else {
      assert_int_equal(
        pai_cluster_parse(&c, larger, strlen(larger), NULL, NULL), PAI_OK);
      assert_int_equal(
        scene_event(
          s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c },
          NULL),
        PAI_OK);
      pai_cluster_free(c);
    }
    assert_string_equal(scene_decide(s), "stop 1 preempted");
    pai_sched_free(s);
  }
}

/* --- without memory ------------------------------------------------------- */

static int ask_back(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(box, user_data, NULL, alloc);
  int rc = PAI_ENOMEM;

  if (s == NULL)
    return PAI_ENOMEM;
  rc = submit(s, 1, "left", 8, 0);
  if (rc == PAI_OK)
    rc = submit(s, 2, "left", 8, PAI_SCHED_OPPORTUNISTIC);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = submit(s, 3, "right", 4, 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0) {
    assert_string_equal(scene_lack(s, 3), "victims");
    rc = PAI_OK;
  }
  pai_sched_free(s);
  return rc;
}

static void memory_may_lack(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++)
    test_faults(ask_back, (void *)asking[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_do_not_stop_each_other_for_ever),
    cmocka_unit_test(who_keeps_to_the_part_goes_by_importance),
    cmocka_unit_test(what_is_borrowed_is_asked_back),
    cmocka_unit_test(opportunistic_requests_leave_cells),
    cmocka_unit_test(who_owns_cells_does_not_wait_in_line),
    cmocka_unit_test(it_can_be_left_to_them),
    cmocka_unit_test(what_is_guaranteed_goes_first),
    cmocka_unit_test(opportunistic_ones_make_room),
    cmocka_unit_test(opportunistic_ones_use_no_guarantee),
    cmocka_unit_test(importance_ends_at_the_part),
    cmocka_unit_test(a_shadow_and_a_copy_ask_back_too),
    cmocka_unit_test(wishes_and_parts_change),
    cmocka_unit_test(memory_may_lack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
