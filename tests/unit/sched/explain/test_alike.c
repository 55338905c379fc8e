/* What is known of a request holds for those alike, and not for those that only
 * have the same hash: anybody may make some of these. */
#include "sched/script.h"

#include "sched/core.h"

/* All memory of the node. */
#define LARGE (UINT64_C(1) << 46)

static const char box[] =
  "skus: {box: {gpu: a100, gpus: 4, cpus: 512, memory: 64Ti}}\n"
  "nodes: [{name: n1, sku: box}]\n";

/* And what it says lacks where GPUs do, and where memory does. */
static const struct rules {
  const char *policy, *options;
  const char *lacks;
} policies[] = {
  { "fifo", "{\"greedy\":true}", "lack 4 gpu 5 memory\n" },
  { "backfill", "{\"mode\":\"easy\"}", "lack 4 gpu 5 memory\n" },
  { "backfill", "{\"mode\":\"conservative\"}", "lack 4 gpu 5 memory\n" },
  { "priority", NULL, "lack 4 gpu 5 memory\n" },
  { "k8s", NULL, "lack 4 gpu 5 memory\n" },
  { "fair", "{\"greedy\":true}", "lack 4 gpu 5 memory\n" },
  { "capacity", "{\"greedy\":true}", "lack 4 gpu 5 preemption\n" },
  { "hived", NULL, "lack 4 quota 5 policy\n" },
};
static const struct rules *const conservative = &policies[2];

static void submit(pai_sched *s, uint64_t id, pai_want want, pai_time length)
{
  pai_request q = { .id = id,
                    .user = id % 2 != 0 ? "ann" : "bob",
                    .duration = length,
                    .wants = &want,
                    .nwants = 1 };

  assert_ok(scene_request(s, &q, NULL));
}

/* As possible.c begins to hash a request of the first virtual cluster, up to
 * its memory. */
static uint64_t request_hash(const pai_want *w)
{
  uint64_t h = pai__mix(pai__mix(1, 0), 0);

  h = pai__mix(pai__mix(h, 0), 0);
  h = pai__mix(pai__mix(h, w->tasks), w->gpus);
  return pai__mix(pai__mix(h, w->cpus * 1000), w->ports);
}

/* As a plan would hash what a task takes, up to its memory. */
static uint64_t task_hash(const pai_want *w)
{
  return pai__mix(pai__mix(pai__mix(1, w->gpus), w->cpus), w->ports);
}

/* CPUs, ports and memory of two such that they have one hash, and one of them
 * wants from a 64th up to all memory of the node. */
static void make_equal(pai_want *small, pai_want *large,
                       uint64_t (*hash)(const pai_want *w))
{
  for (uint32_t i = 0; i < 200 * 200 * 100; i++) {
    small->cpus = 1 + i % 200;
    large->cpus = 1 + i / 200 % 200;
    small->ports = i / 40000 % 10;
    large->ports = i / 400000;
    small->memory = 1 << 20;
    large->memory = small->memory ^ hash(small) ^ hash(large);
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
  submit(s, 1, first, length);
  assert_string_equal(scene_decide(s), "start 1");
  return s;
}

/* 2 and 4 find no GPUs, and 3 and 5, which have their hash, no memory. */
TEST(reasons_are_of_those_alike)
{
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_want small = scene_want(1, 2), large = scene_want(1, 1);
    pai_sched *s = with_one(&policies[i], 1, LARGE >> 6, 100);

    make_equal(&small, &large, request_hash);
    for (uint64_t id = 2; id <= 5; id++)
      submit(s, id, id % 2 == 0 ? small : large, 50);
    scene_script(s, "=> nothing");
    assert_string_equal(scene_lack(s, 2), scene_lack(s, 4));
    assert_string_equal(scene_lack(s, 3), scene_lack(s, 5));
    scene_script(s, policies[i].lacks);
    /* Also when the one that was looked at is gone, and when they are said of
     * each request. */
    scene_script(s, "cancel 2");
    scene_script(s, policies[i].lacks);
    scene_script(s, "change 1 priority 1");
    scene_script(s, policies[i].lacks);
    pai_sched_free(s);
  }
}

/* 2 finds no GPUs, and 3, which has its hash, finds room. */
TEST(who_has_room_starts)
{
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_want small = scene_want(1, 2), large = scene_want(1, 1);
    pai_sched *s = with_one(&policies[i], 1, LARGE, 100);

    make_equal(&small, &large, request_hash);
    submit(s, 2, small, 50);
    submit(s, 3, large, 50);
    scene_script(s, "=> start 3");
    pai_sched_free(s);
  }
}

/* Nodes are kept for 3, which has waited long; 2 came before and has its
 * hash, but is not like it. */
TEST(what_is_kept_is_for_those_alike)
{
  static const struct rules rules = {
    .policy = "fifo", .options = "{\"greedy\":true,\"reserve_after\":100}"
  };
  pai_want small = scene_want(1, 1), large = scene_want(1, 4);
  pai_request held = { .id = 2, .wants = &small, .nwants = 1, .held = 1 };
  pai_sched *s = with_one(&rules, 1, LARGE, 0);

  make_equal(&small, &large, request_hash);
  assert_ok(scene_request(s, &held, NULL));
  submit(s, 3, large, 0);
  scene_script(s, "=> nothing; time 200s; change 2 held 0 => nothing\n"
                  "lack 2 reservation\n");
  pai_sched_free(s);
}

/* 2 waits though there is room, since it would delay 1's successor; for 3, which
 * has its hash, there is none. */
TEST(room_is_of_those_alike)
{
  pai_want small = scene_want(1, 1), large = scene_want(1, 1);
  pai_sched *s = with_one(conservative, 2, LARGE >> 6, 100);

  make_equal(&small, &large, request_hash);
  submit(s, 4, scene_want(1, 4), 100);
  submit(s, 2, small, 1000);
  submit(s, 3, large, 1000);
  scene_script(s, "=> nothing; lack 2 later 3 memory");
  pai_sched_free(s);
}

/* 2 was promised a GPU.  Then it is another request with the same hash, which
 * wants four. */
TEST(promises_are_of_the_request_as_it_is)
{
  for (int resubmitted = 0; resubmitted < 2; resubmitted++) {
    pai_want small = scene_want(1, 1), large = scene_want(1, 4);
    pai_sched *s = with_one(conservative, 0, LARGE, 100);

    make_equal(&small, &large, request_hash);
    submit(s, 2, small, 50);
    scene_script(s, "=> nothing");
    if (resubmitted != 0) {
      scene_script(s, "cancel 2");
      submit(s, 2, large, 50);
    } else {
      assert_ok(scene_change(s, 2, "gpus", large.gpus));
      assert_ok(scene_change(s, 2, "cpus", large.cpus));
      assert_ok(scene_change(s, 2, "ports", large.ports));
      assert_ok(scene_change(s, 2, "memory", (int64_t)large.memory));
    }
    scene_script(s, "time 100; finish 1 => start 2; places 2 0:f");
    pai_sched_free(s);
  }
}

/* 2 needs more memory than is free beside 1, and is planned behind it.  3 needs
 * little, and starts, though a task of it has the hash of one of 2. */
TEST(times_are_of_what_tasks_take)
{
  pai_want large = scene_want(1, 1), small = large;
  pai_sched *s = with_one(conservative, 3, LARGE >> 6, 100);

  make_equal(&small, &large, task_hash);
  submit(s, 2, large, 50);
  submit(s, 3, small, 50);
  scene_script(s, "=> start 3");
  pai_sched_free(s);
}

/* 1 fits, and 2, which never does, has its hash. */
TEST(equal_hashes_are_no_equal_requests)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8 mem:16G", NULL, NULL, NULL);
  pai_want small = scene_want(1, 1), large = scene_want(1, 1);
  pai_request q = { .id = 2, .wants = &large, .nwants = 1 };

  small.memory = UINT64_C(1) << 30;
  submit(s, 1, small, 0);
  do {
    large.cpus += large.ports == 30000;
    large.ports = large.ports == 30000 ? 1 : large.ports + 1;
    large.memory = small.memory ^ request_hash(&small) ^ request_hash(&large);
  } while (large.memory > PAI_ALLOCATION_MAX_MEMORY);
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOROOM);
  scene_script(s, "=> start 1");
  pai_sched_free(s);
}
