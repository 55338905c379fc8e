/* Policy capacity: what is guaranteed, what is lent, and what is asked back. */
#include "sched/script.h"
#include "sched/scribe.h"

#include "base/prng.h"

#include <stdio.h>

/* Four nodes of four GPUs: 8 are ann's, 4 bob's, 4 nobody's but eve's. */
#define SHARED                                           \
  "skus:\n"                                              \
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n" \
  "nodes:\n"                                             \
  "  - {name: 'n[1-4]', sku: box}\n"                     \
  "virtualClusters:\n"                                   \
  "  ann: {cells: {box: 2}}\n"                           \
  "  bob: {cells: {box: 1}}\n"                           \
  "  eve: {cells: {box: 1}}\n"

static pai_sched *shared(const char *options)
{
  return scene_new(SHARED, "capacity", options, NULL);
}

static const char twice[] =
  "skus:\n"
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n"
  "nodes:\n"
  "  - {name: 'n[1-8]', sku: box}\n"
  "virtualClusters:\n"
  "  bob: {cells: {box: 2}}\n"
  "  zoe: {cells: {box: 1}}\n";

#define CAPACITY(name) #name, SHARED, "capacity"

static const scene_case cases[] = {
  { CAPACITY(what_is_idle_is_lent_and_asked_back), NULL,
    .script =
      "submit 1-5 vc=bob gpus=4 => start 1, start 2, start 3, start 4\n"
      "lack 5 gpu\n"
      /* The youngest goes first, and bob keeps what is his. */
      "submit 6 vc=ann gpus=4 => stop 4 preempted; lack 6 victims\n"
      "=> nothing; returned 4 => start 6\n"
      "submit 7 vc=ann gpus=4\n"
      "submit 8 vc=eve gpus=4 => stop 3 preempted, stop 2 preempted\n"
      "returned 3; returned 2 => start 8, start 7\n"
      /* All have theirs: nobody is stopped for more. */
      "submit 9 vc=ann gpus=4 priority=1000 => nothing; lack 9 gpu\n" },
  /* Of nothing the first in the cluster; 1/4 of ann's; then 2/4 of eve's,
   * equal to it; eve has all of hers before ann, and then ann is entitled. */
  { CAPACITY(who_uses_least_of_his_own_goes_first), NULL,
    .script =
      "submit 1-4 vc=eve gpus=2; submit 11-14 vc=ann gpus=2 => start 11, "
      "start 1, start 12, start 13, start 2, start 14, start 3, start 4\n" },
  { CAPACITY(more_than_the_greatest_share_is_refused),
    "{\"queues\": {\"bob\": {\"max\": 8}}}",
    .script =
      "submit 1 vc=bob gpus=4; submit 2 vc=bob tasks=2 gpus=4\n"
      "policy capacity {\"queues\":{\"bob\":{\"max\":6}}}\n"
      "submit 9 vc=bob tasks=2 gpus=4 !ENOROOM ~ it does not fit the cluster: "
      "it asks for 8 GPUs, and queue \"bob\" has at most 6\n"
      "change 1 tasks 2 !ENOROOM; change 2 name -\n" /* as it was */
      "submit 3 vc=bob gpus=3; submit 4 vc=bob gpus=1 => start 1\n"
      "reason 2 lack=quota wanted=8 found=6 ~ queue \"bob\" has at most 6 GPUs"
      "\n"
      "reason 3 lack=quota found=2; reason 4 lack=turn behind=3\n" },
  { CAPACITY(greedily_smaller_ones_pass),
    "{\"queues\": {\"bob\": {\"max\": 6}}, \"greedy\": true}",
    .script = "submit 1 vc=bob gpus=4; submit 3 vc=bob gpus=3\n"
              "submit 4 vc=bob gpus=1 => start 1, start 4\n" },
  { CAPACITY(without_reclaim_nobody_is_stopped), "{\"reclaim\": false}",
    .script =
      "submit 1-4 vc=bob gpus=4 => start 1, start 2, start 3, start 4\n"
      "submit 5 vc=ann gpus=4 => nothing; lack 5 preemption\n"
      "submit 6 vc=ann tasks=2 gpus=4; finish 1 => start 5\n" },
  /* ann and bob are research, which has no more than what is theirs. */
  { CAPACITY(queues_lend_to_those_beside_them),
    "{\"queues\": {\"research\": {\"guaranteed\": 12, \"max\": 12},"
    " \"ann\": {\"parent\": \"research\"},"
    " \"bob\": {\"parent\": \"research\", \"guaranteed\": \"25%\"},"
    " \"more\": {\"guaranteed\": 4},"
    " \"eve\": {\"parent\": \"more\", \"guaranteed\": \"100%\"}}}",
    .script = "submit 1-4 vc=bob gpus=4 => start 1, start 2, start 3\n"
              "lack 4 quota\n" /* research has 12 */
              /* A node is free, but not for research. */
              "submit 5 vc=ann gpus=3 => stop 3 preempted; lack 5 victims\n"
              "=> nothing; returned 3 => start 5\n"
              "submit 6 vc=eve gpus=4 => start 6\n" },
  { CAPACITY(the_most_over_its_share_gives_first), NULL,
    .script =
      "submit 1-2 vc=bob gpus=4 => start 1, start 2\n"
      "submit 3-6 vc=eve gpus=2 => start 3, start 4, start 5, start 6\n"
      /* Both have twice theirs, of equals the first; then eve. */
      "submit 7 vc=ann gpus=4 => stop 2 preempted\n"
      "submit 8 vc=ann gpus=2 => stop 6 preempted\n" },
  { CAPACITY(the_opportunistic_go_first_of_all), NULL,
    .script =
      "submit 1-2 vc=ann gpus=4 priority=-1 => start 1, start 2\n"
      "submit 3-4 vc=bob gpus=4 => start 3, start 4\n"
      "submit 5 vc=ann gpus=4 => stop 2 preempted\n"
      "returned 2 => start 5\n"
      /* More than is guaranteed, but before one's own opportunistic ones. */
      "submit 6 vc=ann tasks=2 gpus=2 => stop 1 preempted\n"
      "returned 1 => start 6; lack 1 gpu\n" },
  /* What opportunistic ones of a queue have is not counted against it. */
  { CAPACITY(the_opportunistic_do_not_use_up_what_is_guaranteed), NULL,
    .script = "submit 1 vc=ann gpus=4 priority=-1 => start 1\n"
              "submit 2-4 vc=bob gpus=4 => start 2, start 3, start 4\n"
              "submit 5 vc=ann tasks=2 gpus=4 => stop 1 preempted, stop 4 "
              "preempted\n" },
  /* A node is lost: what others have of what is guaranteed to them they keep.
   */
  { CAPACITY(nobody_is_stopped_who_has_no_more_than_his_own), NULL,
    .script = "sick n4; submit 1 vc=bob gpus=4\n"
              "submit 2 vc=ann tasks=2 gpus=4 => start 2, start 1\n"
              "submit 3 vc=eve gpus=4 => nothing; lack 3 preemption\n" },
  { CAPACITY(the_head_of_a_queue_does_not_stop_what_is_content),
    "{\"queues\": {\"bob\": {\"max\": 8}}}",
    .script =
      "submit 1 vc=bob gpus=4\n"
      "submit 2 vc=ann tasks=3 gpus=4 => start 1, start 2\n"
      "finish 1; submit 3 vc=ann tasks=2 gpus=4; submit 4 vc=ann gpus=1\n"
      "submit 5 vc=ann gpus=1 priority=-1 => start 5; lack 3 gang 4 turn\n" },
  { CAPACITY(forks_and_new_clusters_keep_the_queues),
    "{\"queues\": {\"bob\": {\"guaranteed\": \"25%\", \"max\": \"50%\"}}}",
    .script = "submit 1-5 vc=bob gpus=4; fork => start 1, start 2\n"
              "=> start 1, start 2; cluster\n"
              "fork => start 3, start 4\n" /* half of 32 */
              "=> start 3, start 4\n",
    .other = twice },
  { CAPACITY(failing_memory_leaves_it_usable),
    "{\"queues\": {\"lab\": {\"max\": \"75%\"}, \"ann\": {\"parent\": "
    "\"lab\"}, \"bob\": {\"parent\": \"lab\"}}}",
    .script = "submit 1-4 vc=bob gpus=4 => any; submit 5 vc=ann gpus=4\n"
              "submit 6 vc=eve gpus=4 => any; fork; lack 5 victims\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

/* A snapshot may have been changed by hand. */
TEST(options_of_a_snapshot_are_looked_at)
{
  pai_sched *s = shared("{\"queues\": {\"bob\": {\"max\": 8}}}"), *again;
  pai_error *err;
  pai__buf text;
  char *max;

  scribe_save(s, &text);
  pai_sched_free(s);
  assert_ok(
    pai_sched_load(&again, pai__buf_text(&text), text.len, NULL, NULL));
  pai_sched_free(again);
  max = strstr(text.data, "\"max\":8");
  assert_non_null(max);
  memcpy(max, "\"mix\"", 5);
  assert_fails(
    pai_sched_load(&again, pai__buf_text(&text), text.len, NULL, &err), err,
    PAI_EINVAL, "queue \"bob\" has \"mix\"");
  pai__buf_dispose(&text);
}

/* --- options that cannot be ------------------------------------------------ */

TEST(wrong_options_are_refused_by_name)
{
  static const scene_wrong wrong[] = {
    { "{\"queues\": {\"zoe\": {\"guaranteed\": 1}}}",
      "there is no virtual cluster \"zoe\"" },
    { "{\"queues\": {\"ann\": {\"guaranteed\": 9}}}",
      "queues below \"root\" are guaranteed 17 GPUs in sum, and it has 16" },
    { "{\"queues\": {\"lab\": {\"guaranteed\": 7}, \"ann\": {\"parent\": "
      "\"lab\"}}}",
      "queues below \"lab\" are guaranteed 8 GPUs in sum, and it has 7" },
    { "{\"queues\": {\"a\": {\"parent\": \"b\"}, \"b\": {\"parent\": "
      "\"a\"}}}",
      "queue \"a\" is below itself" },
    { "{\"queues\": {\"ann\": {\"parent\": \"bob\"}}}",
      "which is a virtual cluster" },
    { "{\"queues\": {\"ann\": {\"parent\": \"lab\"}}}",
      "queue \"ann\" is below \"lab\", which is no queue" },
    { "{\"queues\": {\"ann\": {\"max\": 7}}}",
      "at most 7 GPUs, which is less than the 8" },
    { "{\"queues\": {\"ann\": {\"max\": 17}}}", "its parent \"root\"" },
    { "{\"queues\": {\"ann\": {\"guaranteed\": \"101%\"}}}",
      "\"guaranteed\" of queue \"ann\"" },
    { "{\"queues\": {\"ann\": {\"guaranteed\": -1}}}", "of queue \"ann\"" },
    { "{\"queues\": {\"ann\": {\"guaranteed\": \"1/2\"}}}",
      "of queue \"ann\"" },
    { "{\"queues\": {\"ann\": {\"share\": 1}}}", "has \"share\"" },
    { "{\"queues\": {\"ann\": 4}}", "queue \"ann\" is an object" },
    { "{\"queues\": [4]}", "\"queues\" is an object" },
    { "{\"queues\": {\"root\": {}}}", "is the whole cluster" },
    { "{\"queues\": {\"lab\": {}, \"ann\": {\"parent\": \"lab\","
      " \"guaranteed\": \"50%\"}}}",
      "depends on itself" },
    { "{\"reclaim\": 1}", "\"reclaim\" is true or false" },
    { "{\"recall\": true}", "no option \"recall\"" },
  };

  scene_refuses(SHARED, "capacity", wrong, PAI__LEN(wrong));
}

/* --- properties ------------------------------------------------------------ */

enum { VCS = 3, JOBS = 400 };
static const char *const vcs[VCS] = { "ann", "bob", "eve" };

typedef struct world {
  pai_sched *s;
  pai__prng random;
  uint64_t next;
  uint64_t max[VCS];
} world;

static uint64_t used_by(const world *w, size_t vc)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_sched_view_vc(w->s, vc, &v));
  return v.used + v.lent;
}

/* By the tasks that hold places: no VC has too many, and all are counted. */
static void check_world(const world *w)
{
  uint64_t of_vc[VCS] = { 0 };

  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;) {
    pai_request_view v = { .struct_size = sizeof(v) };
    pai_task_place p = { .struct_size = sizeof(p) };

    assert_ok(pai_sched_view_request(w->s, id, &v));
    for (uint32_t t = 0; pai_sched_task(w->s, id, 0, t, &p) == PAI_OK; t++)
      for (size_t i = 0; i < VCS; i++)
        if (strcmp(v.vc, vcs[i]) == 0)
          of_vc[i] += (uint64_t)__builtin_popcountll(p.gpus);
  }
  for (size_t i = 0; i < VCS; i++)
    if (of_vc[i] > w->max[i] || of_vc[i] > used_by(w, i))
      fail_msg("%s has %d of %d, and %d are counted", vcs[i], (int)of_vc[i],
               (int)w->max[i], (int)used_by(w, i));
}

/* What was asked to stop stops, some of the rest finishes. */
static void carry_out(world *w)
{
  pai_decision d = { .struct_size = sizeof(d) };
  uint64_t stop[64];
  size_t n = 0;
  int made = pai_sched_decide(w->s, scene_now(w->s), NULL);

  assert_true(made >= 0);
  for (size_t i = 0; pai_sched_decision(w->s, i, &d) == PAI_OK; i++)
    if (d.kind == PAI_DECISION_STOP)
      stop[n++] = d.id;
  check_world(w);
  for (size_t i = 0; i < n; i++)
    assert_ok(scene_returned(w->s, stop[i]));
}

static void random_event(world *w, uint64_t ends)
{
  uint64_t id = w->next;

  if (pai__prng_below(&w->random, 100) < ends) {
    pai_task_place p = { .struct_size = sizeof(p) };

    id = pai__prng_below(&w->random, w->next) + 1;
    if (pai_sched_task(w->s, id, 0, 0, &p) == PAI_OK)
      assert_ok(scene_finish(w->s, id));
    return;
  }
  (void)scene_submit_to(w->s, id, vcs[pai__prng_below(&w->random, VCS)],
                        1 + (uint32_t)pai__prng_below(&w->random, 3),
                        (uint32_t)pai__prng_below(&w->random, 5),
                        (int)pai__prng_below(&w->random, 4) -
                          1); /* or it is too much */
  w->next++;
}

TEST(nobody_is_ever_above_the_greatest_share)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    world w = { .random = { seed }, .next = 1, .max = { 12, 6, 16 } };

    w.s =
      shared("{\"queues\": {\"ann\": {\"max\": 12}, \"bob\": {\"max\": 6}}}");
    while (w.next < JOBS) {
      random_event(&w, 60);
      carry_out(&w);
    }
    pai_sched_free(w.s);
  }
}

/* Whoever asks for one GPU of what is guaranteed to it has it after as many
 * rounds as it takes to stop those who must. */
TEST(what_is_guaranteed_is_had_soon)
{
  static const uint64_t own[VCS] = { 8, 4, 4 };

  for (uint64_t seed = 1; seed <= 40; seed++) {
    world w = { .random = { seed }, .next = 1, .max = { 16, 16, 16 } };
    uint64_t last;
    size_t vc = seed % VCS;

    w.s = shared("{\"greedy\": true}");
    while (w.next < 40) {
      random_event(&w, 30);
      carry_out(&w);
    }
    last = w.next;
    for (uint32_t i = 0; i < own[vc]; i++)
      assert_ok(scene_submit_to(w.s, w.next++, vcs[vc], 1, 1, 1000));
    for (int i = 0; i < 4; i++)
      carry_out(&w);
    /* It had some of its own already, in gangs that run or go first. */
    if (used_by(&w, vc) < own[vc])
      fail_msg("seed %d: %s has %d of %d", (int)seed, vcs[vc],
               (int)used_by(&w, vc), (int)own[vc]);
    assert_true(last < w.next);
    pai_sched_free(w.s);
  }
}
