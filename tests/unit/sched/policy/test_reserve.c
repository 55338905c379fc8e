/*
 * Nobody waits for ever: a request that needs the whole cluster starts though
 * small ones come without end, under each policy and within a bound.
 */
#include "sched/script.h"

#include "base/prng.h"

#include <stdio.h>

#define HOUR INT64_C(3600000000)

enum { NODES = 4, GPUS = 8, HOURS = 20 * 24, LONGEST = 10, LARGE = 1 };

static const char cluster[] = "skus: {box: {gpu: a100, gpus: 8, cpus: 64}}\n"
                              "nodes: [{name: \"n[1-4]\", sku: box}]\n";

/* Small requests, of which nobody knows how long they take. */
typedef struct world {
  pai_sched *s;
  pai__prng random;
  pai_time now;
  uint64_t ids;
  pai_time ends[HOURS * 64]; /* of each id; 0: it does not run */
  int priority;              /* of the small ones */
  const char *vc;            /* likewise */
  uint32_t wanted;           /* GPUs of what waits */
  uint8_t gpus[HOURS * 64];
} world;

static uint32_t any(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->random, n);
}

static void submit_small(world *w)
{
  pai_want want = scene_want(1, 1 + any(w, 4));
  pai_request q = { .id = ++w->ids,
                    .wants = &want,
                    .nwants = 1,
                    .user = w->ids % 2 != 0 ? "ann" : "bob",
                    .vc = w->vc,
                    .priority = w->priority };

  w->gpus[q.id] = (uint8_t)want.gpus;
  w->wanted += want.gpus;
  assert_ok(scene_request(w->s, &q, NULL));
}

static void end_some(world *w)
{
  for (uint64_t id = 2; id <= w->ids; id++) {
    if (w->ends[id] == 0 || w->ends[id] > w->now)
      continue;
    assert_ok(scene_finish(w->s, id));
    w->ends[id] = 0;
  }
}

/* What was decided is done; how much that was.  *started: the large one is. */
static int decide_once(world *w, bool *started)
{
  static pai_decision all[HOURS];
  int n = pai_sched_decide(w->s, w->now, NULL);

  assert_in_range(n, 0, HOURS);
  for (int i = 0; i < n; i++) {
    all[i].struct_size = sizeof(all[i]);
    assert_ok(pai_sched_decision(w->s, (size_t)i, &all[i]));
  }
  for (int i = 0; i < n; i++) {
    uint64_t id = all[i].id;

    if (all[i].kind == PAI_DECISION_STOP) {
      assert_ok(scene_returned(w->s, id));
      w->ends[id] = 0;
      w->wanted += w->gpus[id];
    } else if (id == LARGE) {
      *started = true;
    } else {
      w->ends[id] = w->now + (1 + any(w, LONGEST)) * HOUR;
      w->wanted -= w->gpus[id];
    }
  }
  return n;
}

/* True: the large one has started. */
static bool decide(world *w)
{
  bool started = false;

  while (decide_once(w, &started) != 0) {
  }
  return started;
}

/* The hours after which the large one starts; -1: it does not. */
static int play_world(world *w, const char *text, const char *policy,
                      const char *options, const pai_request *large)
{
  int hours = -1;

  w->ids = LARGE;
  w->s = scene_new(text, policy, options, NULL);
  assert_non_null(w->s);
  for (int h = 0; h < HOURS && hours < 0; h++) {
    w->now = (h + 1) * HOUR;
    assert_ok(scene_event(
      w->s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = w->now },
      NULL));
    end_some(w);
    while (w->wanted < NODES * GPUS)
      submit_small(w);
    if (h == LONGEST)
      assert_ok(scene_request(w->s, large, NULL));
    if (decide(w))
      hours = h - LONGEST;
  }
  pai_sched_free(w->s);
  return hours;
}

static int play(const char *policy, const char *options, int priority)
{
  static world w;
  pai_want whole = scene_want(NODES, GPUS);
  pai_request large = { .id = LARGE, .wants = &whole, .nwants = 1 };

  w = (world){ .random = { 7 }, .priority = priority };
  return play_world(&w, cluster, policy, options, &large);
}

static const char *const policies[][2] = {
  { "fifo", "\"greedy\":true" },      { "backfill", "\"depth\":0" },
  { "priority", "\"strict\":false" }, { "fair", "\"greedy\":false" },
  { "fair", "\"greedy\":true" },      { "k8s", "\"shares\":true" },
  { "capacity", "\"greedy\":true" }
};

static int play_with(size_t i, const char *more, int priority)
{
  char options[100];

  (void)snprintf(options, sizeof(options), "{%s%s}", policies[i][1], more);
  return play(policies[i][0], options, priority);
}

TEST(who_is_old_gets_nodes)
{
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    int hours = play_with(i, "", 0);
    int sooner = play_with(i, ",\"reserve_after\":43200", 0);

    /* By default after a week, and then as long as what runs. */
    assert_in_range(hours, 1, 168 + LONGEST);
    assert_in_range(sooner, 1, 12 + LONGEST);
    /* That is what starves it. */
    assert_int_equal(play_with(i, ",\"reserve_after\":0", 0), -1);
  }
}

/* HiveD keeps nothing for anybody, and neither does the policy unless it is told
 * to. */
TEST(hived_does_so_if_it_is_told_to)
{
  assert_int_equal(play("hived", "{}", 0), -1);
  assert_in_range(play("hived", "{\"reserve_after\":86400}", 0), 1,
                  24 + LONGEST);
}

/* More important requests go first all the same, where importance counts. */
TEST(importance_goes_before_age)
{
  assert_int_equal(play("priority", NULL, 1), -1);
  assert_int_equal(play("k8s", NULL, 1), -1);
  assert_in_range(play("fair", NULL, 1), 1, 168 + LONGEST);
}

/* Half of the cluster is guaranteed to one virtual cluster, and another one
 * borrows it with small requests that come without end. */
static const char borrowed[] = "skus: {box: {gpu: a100, gpus: 8, cpus: 64}}\n"
                               "nodes: [{name: \"n[1-4]\", sku: box}]\n"
                               "virtualClusters:\n"
                               "  default: {part: rest}\n"
                               "  owner: {part: 50%, max: 100%}\n"
                               "  other: {part: 50%, max: 100%}\n";

/* Of what runs nobody knows the end, and a guess of it changes: what is kept for
 * who is owed two whole nodes does not change with it. */
TEST(the_choice_of_nodes_is_steady)
{
  static const char *const all[] = { "fifo", "backfill", "priority", "fair",
                                     "k8s" };
  static world w;
  pai_want half = scene_want(NODES / 2, GPUS);
  pai_request large = {
    .id = LARGE, .vc = "owner", .wants = &half, .nwants = 1
  };

  for (size_t i = 0; i < PAI__LEN(all); i++)
    for (uint64_t seed = 1; seed <= 60; seed++) {
      w = (world){ .random = { seed }, .vc = "other" };
      assert_in_range(play_world(&w, borrowed, all[i], NULL, &large), 0,
                      3 * LONGEST);
    }
}

/* --- one after the other -------------------------------------------------- */

#define TWO_NODES                                              \
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n" \
  "nodes: [{name: \"n[1-2]\", sku: box}]\n"                    \
  "virtualClusters:\n"                                         \
  "  default: {part: rest}\n"                                  \
  "  left: {part: 50%}\n"

static const char lent[] = TWO_NODES "  right: {part: 25%, max: 100%}\n";

#define SPREAD "{\"place\":\"spread\"}"
static const scene_policy lending[] = { { "fifo", SPREAD },
                                        { "priority", SPREAD },
                                        { "fair", SPREAD },
                                        { "k8s", SPREAD },
                                        { NULL, NULL } };

static const scene_case cases[] = {
  /* A part is a number of GPUs, and a request may need them on one node: small
   * ones that come later do not take what becomes free there. */
  { "a_part_is_found_on_one_node", TWO_NODES, "fifo", SPREAD,
    .script = "submit 1-4 gpus=2 => start 1, start 2, start 3, start 4\n"
              "submit 5 vc=left gpus=8 => nothing\n"
              /* One of its two ends, a new one comes, and then the other
               * ends. */
              "finish 1; submit 6 gpus=2 => start 6; places 6 1:30\n"
              "finish 3 => start 5\n" },
  /* 1 and 2 are guaranteed and have half of a node each; 3 has borrowed the
   * other half beside 1, for long.  It can be stopped: so the node of 1, which
   * ends first, is kept for 4, and 5 does not take what becomes free there. */
  { "whole_nodes_are_made_of_what_is_borrowed", lent, .under = lending,
    .script = "submit 1 gpus=4 duration=1h\n"
              "submit 2 vc=right gpus=4 duration=2h => start 1, start 2\n"
              "submit 3 vc=right gpus=4 duration=10h => start 3\n"
              "places 3 0:f0\n"
              "submit 4 vc=left gpus=8 duration=1h => nothing; finish 1\n"
              "submit 5 gpus=4 duration=10h => start 5, stop 3 preempted\n"
              "places 5 1:f0; finish 3 => start 4\n" },
  /* One runs, a large one waits, and becomes old. */
  { "no_memory_is_survived", cluster, "priority", "{\"reserve_after\":60}",
    .script = "submit 1 gpus=8; time 61s => any\n"
              "submit 2 tasks=4 gpus=8; time 122s => any\n"
              "submit 3 gpus=8; time 183s => nothing; lack 3 reservation\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);
