/*
 * Gangs that borrow beyond their virtual cluster's part and could do with fewer
 * tasks give back their last ones, and are not stopped, when somebody is to
 * have what he is guaranteed.
 */
#include "scene.h"

static const char box[] =
  "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: n1, sku: box}]\n"
  "virtualClusters:\n"
  "  default: {part: rest}\n"
  "  left: {part: 25%, max: 100%}\n"
  "  right: {part: 25%, max: 100%}\n";

static const char *const asking[] = { "fifo", "backfill", "priority", "fair",
                                      "k8s" };

static int submit(pai_sched *s, uint64_t id, const char *vc, uint32_t gpus)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s, &(pai_request){ .id = id, .vc = vc, .wants = &want, .nwants = 1 },
    NULL);
}

/* A gang of one GPU a task. */
static int submit_gang(pai_sched *s, uint64_t id, const char *vc,
                       uint32_t tasks, uint32_t min_tasks)
{
  pai_want want = scene_want(tasks, 1);

  want.min_tasks = min_tasks;
  return scene_request(
    s, &(pai_request){ .id = id, .vc = vc, .wants = &want, .nwants = 1 },
    NULL);
}

static int resized(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RESIZED, .id = id }, NULL);
}

/* A gang that borrows gives back its last tasks, as many as need be; it is
 * stopped when that is not enough. */
static void a_gang_gives_back_what_it_can_do_without(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit_gang(s, 1, "left", 16, 10), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(submit(s, 2, "right", 3), PAI_OK);
    assert_string_equal(scene_decide(s), "shrink 1 to 13");
    assert_string_equal(scene_lack(s, 2), "victims");
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(resized(s, 1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    /* It can do without three more. */
    assert_int_equal(submit(s, 3, NULL, 4), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 1 preempted");
    pai_sched_free(s);
  }
}

/* Who asks while tasks of it leave is next: nobody is stopped for him. */
static void many_ask_one_gang(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);
    pai_want want = scene_want(1, 1);

    assert_int_equal(submit_gang(s, 1, "left", 16, 10), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(scene_request(s,
                                   &(pai_request){ .id = 2,
                                                   .vc = "right",
                                                   .wants = &want,
                                                   .nwants = 1,
                                                   .instances = 2 },
                                   NULL),
                     PAI_OK);
    assert_string_equal(scene_decide(s), "shrink 1 to 15");
    assert_int_equal(submit(s, 3, "right", 1), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    for (int left = 14; left >= 13; left--) {
      assert_int_equal(resized(s, 1), PAI_OK);
      assert_non_null(strstr(scene_decide(s), left == 14 ? "shrink 1 to 14"
                                                         : "shrink 1 to 13"));
    }
    assert_int_equal(resized(s, 1), PAI_OK);
    assert_null(strstr(scene_decide(s), "stop"));
    pai_sched_free(s);
  }
}

static void who_stops_already_may_be_enough(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit_gang(s, 1, "left", 8, 5), PAI_OK);
    assert_int_equal(submit(s, 2, "left", 8), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "right", 4), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 2 preempted");
    assert_int_equal(submit(s, 4, NULL, 3), PAI_OK);
    /* Under `priority` gangs give to anybody, before he is owed it. */
    assert_string_equal(scene_decide(s), strcmp(asking[i], "priority") == 0
                                           ? "shrink 1 to 5"
                                           : "");
    assert_string_equal(scene_lack(s, 4), "victims");
    pai_sched_free(s);
  }
}

/* Gangs on nodes of eight GPUs, one behind the other; right wants three. */
static void others_keep(const char *policy, const char *cluster, uint32_t most,
                        uint32_t least)
{
  pai_sched *s = scene_new(cluster, policy, "{\"place\": \"pack\"}", NULL);

  assert_non_null(s);
  assert_int_equal(submit_gang(s, 1, "left", 8, 5), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(submit_gang(s, 2, "more", most, least), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(submit(s, 3, "right", 3), PAI_OK);
  assert_string_equal(scene_decide(s), "shrink 1 to 5");
  assert_int_equal(resized(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

#define NODES(list)                                            \
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n" \
  "nodes: [" list "]\n"                                        \
  "virtualClusters:\n"

static void only_what_borrows_and_is_in_the_way_gives(void **state)
{
  static const char two[] =
    NODES("{name: n1, sku: box}, {name: n2, sku: box}") //
    "  {default: {part: rest}, left: {part: 25%, max: 100%},"
    "   right: {part: 20%}, more: {part: 50%}}\n";
  static const char three[] =
    NODES("{name: n1, sku: box}, {name: n2, sku: box}, {name: n3, sku: "
          "box}") "  {default: {part: rest}, left: {part: 12.5%, max: "
                  "100%},"
                  "   right: {part: 50%}, more: {part: 25%, max: 100%}}\n";

  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    /* What more is guaranteed. */
    others_keep(asking[i], two, 8, 2);
    /* It borrows, but what it could give is too little where it is. */
    if (strcmp(asking[i], "priority") != 0)
      others_keep(asking[i], three, 16, 14);
  }
}

/* --- without memory ------------------------------------------------------- */

static int ask_for_tasks(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(box, user_data, NULL, alloc);
  int rc = PAI_ENOMEM;

  if (s == NULL)
    return PAI_ENOMEM;
  rc = submit_gang(s, 1, "left", 16, 10);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = submit(s, 2, "right", 4);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0)
    rc = resized(s, 1);
  pai_sched_free(s);
  return rc;
}

static void memory_may_lack(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++)
    test_faults(ask_for_tasks, (void *)asking[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_gang_gives_back_what_it_can_do_without),
    cmocka_unit_test(many_ask_one_gang),
    cmocka_unit_test(who_stops_already_may_be_enough),
    cmocka_unit_test(only_what_borrows_and_is_in_the_way_gives),
    cmocka_unit_test(memory_may_lack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
