/* Who is important goes first, and who is less important makes room. */
#include "scene.h"

#include "base/prng.h"

#define BOX "nodes:1 gpu:4 cpus:16 mem:1G"
#define TWO "nodes:2 gpu:4 cpus:16 mem:1G"

static int job(pai_sched *s, uint64_t id, int priority, uint32_t tasks,
               uint32_t gpus)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .wants = &want, .nwants = 1, .priority = priority },
    NULL);
}

/* Tasks of one GPU each, and as few as `least` will do. */
static int elastic(pai_sched *s, uint64_t id, int priority, uint32_t tasks,
                   uint32_t least)
{
  pai_want want = scene_want(tasks, 1);

  want.min_tasks = least;
  return scene_request(
    s,
    &(pai_request){
      .id = id, .wants = &want, .nwants = 1, .priority = priority },
    NULL);
}

static int returned(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

static int resized(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RESIZED, .id = id }, NULL);
}

static void the_important_go_first(void **state)
{
  pai_sched *s = scene_new(BOX, "priority", NULL, NULL);

  (void)state;
  assert_int_equal(job(s, 1, 0, 1, 2), PAI_OK);
  assert_int_equal(job(s, 2, 5, 1, 2), PAI_OK);
  assert_int_equal(job(s, 3, 5, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 3");
  assert_string_equal(scene_lack(s, 1), "gpu");
  pai_sched_free(s);
}

static void fewest_and_least_important_stop(void **state)
{
  pai_sched *s = scene_new(TWO, "priority", NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(job(s, 1, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 2, 1, 2), PAI_OK);
  assert_int_equal(job(s, 3, 1, 1, 1), PAI_OK);
  assert_int_equal(job(s, 4, 1, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 3, start 4");
  /* The youngest of the least important, and it alone. */
  assert_int_equal(job(s, 5, 9, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 4 preempted");
  assert_int_equal(pai_sched_reason(s, 5, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_VICTIMS);
  assert_int_equal(r.found, 1);
  /* Of equal importance nobody stops. */
  assert_int_equal(job(s, 6, 1, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 6), "gpu");
  /* What is made room for one is not another's, also if that comes first. */
  assert_int_equal(job(s, 7, 1, 1, 1), PAI_OK);
  assert_int_equal(returned(s, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  assert_string_equal(scene_lack(s, 4), "gpu");
  /* A whole node: two of three are enough, and they are not touched twice. */
  assert_int_equal(job(s, 8, 9, 1, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted, stop 2 preempted");
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(returned(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(returned(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 8");
  pai_sched_free(s);
}

static void without_preemption_it_waits(void **state)
{
  static const char *const options[] = {
    "{\"preempt\":false}", "{\"preempt\":false,\"strict\":true}"
  };

  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    pai_sched *s = scene_new(BOX, "priority", options[strict], NULL);
    pai_reason r = { .struct_size = sizeof(r) };

    assert_int_equal(job(s, 1, 0, 1, 2), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(job(s, 2, 1, 1, 2), PAI_OK);
    assert_int_equal(job(s, 3, 9, 1, 4), PAI_OK);
    assert_string_equal(scene_decide(s), strict ? "" : "start 2");
    assert_string_equal(scene_lack(s, 3), "gpu");
    if (strict) {
      assert_int_equal(pai_sched_reason(s, 2, &r), PAI_OK);
      assert_int_equal(r.lack, PAI_LACK_TURN);
      assert_int_equal(r.behind, 3);
    }
    pai_sched_free(s);
  }
}

static void gangs_give_up_what_they_can_do_without(void **state)
{
  pai_sched *s = scene_new(BOX, "priority", NULL, NULL);

  (void)state;
  assert_int_equal(elastic(s, 1, 1, 4, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 1, 1, 1), PAI_OK); /* no more than is needed */
  assert_string_equal(scene_decide(s), "shrink 1 to 3");
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(resized(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(job(s, 3, 2, 1, 1), PAI_OK);
  assert_int_equal(job(s, 4, 0, 1, 1),
                   PAI_OK); /* less important: not for it */
  assert_string_equal(scene_decide(s), "shrink 1 to 2");
  assert_int_equal(resized(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  /* All have what they need at least: now somebody has to stop. */
  assert_int_equal(job(s, 5, 9, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  assert_int_equal(returned(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  pai_sched_free(s);
}

static void what_nobody_wants_makes_gangs_grow(void **state)
{
  pai_sched *s = scene_new(BOX, "priority", NULL, NULL);

  (void)state;
  assert_int_equal(job(s, 1, 1, 1, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(elastic(s, 2, 0, 4, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:8");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "grow 2 to 4");
  assert_string_equal(scene_places(s, 2, 0), "0:8 0:1 0:2 0:4");
  pai_sched_free(s);
}

static void a_share_is_made_room_in_by_its_own(void **state)
{
  static const char text[] =
    "skus:\n"
    "  a: {gpu: v100, gpus: 4, cpus: 16, memory: 32G}\n"
    "nodes:\n"
    "  - {name: \"a[1-3]\", sku: a}\n"
    "virtualClusters:\n"
    "  default: {cells: {a: 1}}\n"
    "  other: {cells: {a: 2}}\n";
  pai_sched *s = scene_new(text, "priority", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = { .id = 2, .vc = "other", .wants = &want, .nwants = 1 };

  (void)state;
  assert_int_equal(job(s, 1, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(job(s, 3, 9, 1, 4), PAI_OK); /* a node is free, no share */
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_int_equal(returned(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_important_go_first),
    cmocka_unit_test(fewest_and_least_important_stop),
    cmocka_unit_test(without_preemption_it_waits),
    cmocka_unit_test(gangs_give_up_what_they_can_do_without),
    cmocka_unit_test(what_nobody_wants_makes_gangs_grow),
    cmocka_unit_test(a_share_is_made_room_in_by_its_own),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
