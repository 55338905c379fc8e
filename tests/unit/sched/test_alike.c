/* What is known of a request holds for those alike, and not for those that only
 * have the same hash: anybody may make some of these. */
#include "scene.h"

#include "sched/core.h"

/* All memory of the node. */
#define LARGE (UINT64_C(1) << 46)

static const char box[] =
  "skus: {box: {gpu: a100, gpus: 4, cpus: 512, memory: 64Ti}}\n"
  "nodes: [{name: n1, sku: box}]\n";

/* And what it says lacks where GPUs do, and where memory does. */
static const struct rules {
  const char *policy, *options;
  const char *gpu, *memory;
} policies[] = {
  { "fifo", "{\"greedy\":true}", "gpu", "memory" },
  { "backfill", "{\"mode\":\"easy\"}", "gpu", "memory" },
  { "backfill", "{\"mode\":\"conservative\"}", "gpu", "memory" },
  { "priority", NULL, "gpu", "memory" },
  { "k8s", NULL, "gpu", "memory" },
  { "fair", "{\"greedy\":true}", "gpu", "memory" },
  { "capacity", "{\"greedy\":true}", "gpu", "preemption" },
  { "hived", NULL, "quota", "policy" },
};

static int submit(pai_sched *s, uint64_t id, pai_want want, pai_time length)
{
  pai_request q = { .id = id,
                    .user = id % 2 != 0 ? "ann" : "bob",
                    .duration = length,
                    .wants = &want,
                    .nwants = 1 };

  return scene_request(s, &q, NULL);
}

/* As possible.c begins to hash a request of the first virtual cluster, up to
 * its memory. */
static uint64_t hash_before_memory(const pai_want *w)
{
  uint64_t h = pai__mix(pai__mix(1, 0), 0);

  h = pai__mix(pai__mix(h, 0), 0);
  h = pai__mix(pai__mix(h, w->tasks), w->gpus);
  return pai__mix(pai__mix(h, w->cpus), w->ports);
}

/* CPUs, ports and memory of two such that they have one hash, and one of them
 * wants from a 64th up to all memory of the node. */
static void make_equal(pai_want *small, pai_want *large)
{
  for (uint32_t i = 0; i < 200 * 200 * 100; i++) {
    small->cpus = 1 + i % 200;
    large->cpus = 1 + i / 200 % 200;
    small->ports = i / 40000 % 10;
    large->ports = i / 400000;
    small->memory = 1 << 20;
    large->memory =
      small->memory ^ hash_before_memory(small) ^ hash_before_memory(large);
    if (large->memory < LARGE && large->memory > LARGE >> 6)
      return;
  }
  fail();
}

/* 1 runs beside which so many GPUs and so much memory are free. */
static pai_sched *with_one(const struct rules *x, uint32_t gpus,
                           uint64_t memory, pai_time length)
{
  pai_sched *s = scene_new(box, x->policy, x->options, NULL);
  pai_want first = scene_want(1, 4 - gpus);

  assert_non_null(s);
  first.memory = LARGE - memory;
  assert_int_equal(submit(s, 1, first, length), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  return s;
}

/* 2 finds no GPUs, and 3, which has its hash, no memory. */
static void reasons_are_of_those_alike(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_want small = scene_want(1, 2), large = scene_want(1, 1);
    pai_sched *s = with_one(&policies[i], 1, LARGE >> 6, 100);

    make_equal(&small, &large);
    assert_int_equal(submit(s, 2, small, 50), PAI_OK);
    assert_int_equal(submit(s, 3, large, 50), PAI_OK);
    assert_int_equal(submit(s, 4, small, 50), PAI_OK);
    assert_int_equal(submit(s, 5, large, 50), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_string_equal(scene_lack(s, 2), policies[i].gpu);
    assert_string_equal(scene_lack(s, 3), policies[i].memory);
    assert_string_equal(scene_lack(s, 4), policies[i].gpu);
    assert_string_equal(scene_lack(s, 5), policies[i].memory);
    /* Also when the one that was looked at is gone, and when they are said of
     * each request. */
    assert_int_equal(
      scene_event(s,
                  (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                     .id = 2,
                                     .instance = PAI_SCHED_ALL },
                  NULL),
      PAI_OK);
    assert_string_equal(scene_lack(s, 4), policies[i].gpu);
    assert_string_equal(scene_lack(s, 5), policies[i].memory);
    assert_int_equal(scene_change(s, 1, "priority", 1), PAI_OK);
    assert_string_equal(scene_lack(s, 4), policies[i].gpu);
    assert_string_equal(scene_lack(s, 5), policies[i].memory);
    pai_sched_free(s);
  }
}

/* 2 finds no GPUs, and 3, which has its hash, finds room. */
static void who_has_room_starts(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_want small = scene_want(1, 2), large = scene_want(1, 1);
    pai_sched *s = with_one(&policies[i], 1, LARGE, 100);

    make_equal(&small, &large);
    assert_int_equal(submit(s, 2, small, 50), PAI_OK);
    assert_int_equal(submit(s, 3, large, 50), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    pai_sched_free(s);
  }
}

/* Nodes are kept for 3, which has waited for long; 2 came before and has its
 * hash, but is not like it. */
static void what_is_kept_is_for_those_alike(void **state)
{
  static const struct rules rules = {
    .policy = "fifo", .options = "{\"greedy\":true,\"reserve_after\":100}"
  };
  pai_want small = scene_want(1, 1), large = scene_want(1, 4);
  pai_request held = { .id = 2, .wants = &small, .nwants = 1, .held = 1 };
  pai_sched *s = with_one(&rules, 1, LARGE, 0);

  (void)state;
  make_equal(&small, &large);
  assert_int_equal(scene_request(s, &held, NULL), PAI_OK);
  assert_int_equal(submit(s, 3, large, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(
    scene_event(s,
                (pai_sched_event){ .kind = PAI_SCHED_TIME,
                                   .time = scene_now(s) + 200000000 },
                NULL),
    PAI_OK);
  assert_int_equal(scene_change(s, 2, "held", 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "reservation");
  pai_sched_free(s);
}

/* 2 waits though there is room, since it would delay 1's successor; for 3, which
 * has its hash, there is none. */
static void room_is_of_those_alike(void **state)
{
  pai_want small = scene_want(1, 1), large = scene_want(1, 1);
  pai_sched *s = with_one(&policies[2], 2, LARGE >> 6, 100);

  (void)state;
  make_equal(&small, &large);
  assert_int_equal(submit(s, 4, scene_want(1, 4), 100), PAI_OK);
  assert_int_equal(submit(s, 2, small, 1000), PAI_OK);
  assert_int_equal(submit(s, 3, large, 1000), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "later");
  assert_string_equal(scene_lack(s, 3), "memory");
  pai_sched_free(s);
}

static void cancel(pai_sched *s, uint64_t id)
{
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                                  .id = id,
                                                  .instance = PAI_SCHED_ALL },
                               NULL),
                   PAI_OK);
}

/* 2 was promised a GPU.  Then it is another request with the same hash, which
 * wants four. */
static void promises_are_of_the_request_as_it_is(void **state)
{
  (void)state;
  for (int resubmitted = 0; resubmitted < 2; resubmitted++) {
    pai_want small = scene_want(1, 1), large = scene_want(1, 4);
    pai_sched *s = with_one(&policies[2], 0, LARGE, 100);

    make_equal(&small, &large);
    assert_int_equal(submit(s, 2, small, 50), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    if (resubmitted != 0) {
      cancel(s, 2);
      assert_int_equal(submit(s, 2, large, 50), PAI_OK);
    } else {
      assert_int_equal(scene_change(s, 2, "gpus", large.gpus), PAI_OK);
      assert_int_equal(scene_change(s, 2, "cpus", large.cpus), PAI_OK);
      assert_int_equal(scene_change(s, 2, "ports", large.ports), PAI_OK);
      assert_int_equal(scene_change(s, 2, "memory", (int64_t)large.memory),
                       PAI_OK);
    }
    assert_int_equal(
      scene_event(s,
                  (pai_sched_event){ .kind = PAI_SCHED_FINISHED,
                                     .id = 1,
                                     .time = scene_now(s) + 100 },
                  NULL),
      PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    assert_string_equal(scene_places(s, 2, 0), "0:f");
    pai_sched_free(s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reasons_are_of_those_alike),
    cmocka_unit_test(who_has_room_starts),
    cmocka_unit_test(what_is_kept_is_for_those_alike),
    cmocka_unit_test(room_is_of_those_alike),
    cmocka_unit_test(promises_are_of_the_request_as_it_is),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
