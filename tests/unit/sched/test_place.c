/* Where tasks are placed: strategies, topologies, Kubernetes' scores. */
#include "script.h"

#include "base/prng.h"

#include <stdio.h>

#define DGX \
  "nodes:8 gpu:8:h100 cpus:128 mem:512G switch:4 link:8 racks:2 numa:2"

/* With so many GPUs taken of each node, one task after the other. */
static pai_sched *filled(const char *cluster, const char *place,
                         const uint32_t *taken, size_t n)
{
  char options[64];
  pai_sched *s = scene_new(cluster, "fifo", "{\"place\": \"first\"}", NULL);
  pai_sched_event e = { .kind = PAI_SCHED_POLICY,
                        .text = "fifo",
                        .options = options };

  for (size_t i = 0; i < n; i++) {
    uint32_t left = 8 - taken[i];

    assert_ok(scene_submit(s, 1000 + i, 1, 8));
    assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 1);
    assert_ok(scene_finish(s, 1000 + i));
    if (taken[i] != 0)
      assert_ok(scene_submit(s, 2000 + i, 1, taken[i]));
    if (left != 0)
      assert_ok(scene_submit(s, 3000 + i, 1, left));
    assert_true(pai_sched_decide(s, scene_now(s), NULL) > 0);
  }
  for (size_t i = 0; i < n; i++)
    if (taken[i] != 8)
      assert_ok(scene_finish(s, 3000 + i));
  (void)snprintf(options, sizeof(options), "{\"place\": \"%s\"}", place);
  assert_ok(scene_event(s, e, NULL));
  return s;
}

TEST(strategies_take_the_node_they_promise)
{
  /* Racks are nodes 0 to 3 and 4 to 7, switches four GPUs. */
  static const uint32_t taken[][8] = {
    { 2, 4, 0, 5, 8, 3, 0, 7 },
    { 2, 1, 8, 8, 8, 8, 8, 8 }, /* free: 2 + 4 and 3 + 4 of a switch */
    { 5, 4, 8, 8, 8, 8, 8, 8 }, /* 1 + 2 and 4 */
    { 6, 6, 6, 6, 8, 8, 0, 8 },
    { 4, 8, 8, 8, 8, 4, 4, 8 },
    { 7, 7, 7, 7, 4, 4, 8, 8 },
    { 0, 6, 6, 8, 0, 6, 6, 8 },
  };
  static const struct {
    const char *place;
    size_t taken;
    uint32_t tasks, gpus;
    const char *where;
  } rows[] = {
    { "pack", 0, 1, 1, "7:80" },
    { "pack", 0, 1, 2, "3:60" }, /* 3 are left there */
    { "pack", 0, 1, 4, "1:f0" },
    { "pack", 0, 1, 8, "2:ff" },
    { "spread", 0, 1, 2, "2:3" },
    { "spread", 0, 3, 2, "2:3 6:3 0:c" }, /* 8, 8, and then 6 are free */
    { "first", 0, 1, 2, "0:c" },
    { "first", 0, 4, 2, "0:c 0:30 0:c0 1:30" },
    { "topo", 0, 1, 1, "7:80" },
    /* GPUs of one switch. */
    { "topo", 1, 1, 2, "0:c" },
    { "topo", 1, 1, 3, "0:70" },
    { "topo", 1, 1, 4, "0:f0" },
    { "topo", 1, 1, 5, "0:7c" }, /* no switch has so many */
    { "topo", 2, 1, 3, "0:e0" },
    /* The fewest nodes, then one rack. */
    { "topo", 3, 4, 2, "6:3 6:c 6:30 6:c0" },
    { "topo", 4, 4, 2, "5:30 5:c0 6:30 6:c0" },
    { "topo", 5, 4, 1, "4:10 4:20 4:40 4:80" },
    /* In a rack it needs three nodes, without one two. */
    { "topo", 6, 6, 2, "0:3 0:c 0:30 0:c0 4:3 4:c" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_sched *s = filled(DGX, rows[i].place, taken[rows[i].taken], 8);

    assert_ok(scene_submit(s, 1, rows[i].tasks, rows[i].gpus));
    assert_string_equal(scene_decide(s), "start 1");
    if (strcmp(scene_places(s, 1, 0), rows[i].where) != 0)
      fail_msg("row %zu: %s, not %s", i, scene_places(s, 1, 0), rows[i].where);
    pai_sched_free(s);
  }
}

TEST(pack_leaves_the_largest_gaps)
{
  static const uint32_t taken[8] = { 0, 4, 0, 6, 8, 8, 8, 8 };
  pai_sched *s = filled(DGX, "pack", taken, 8);

  for (uint64_t id = 1; id <= 6; id++)
    assert_ok(scene_submit(s, id, 1, 1));
  assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 6);
  /* Both empty nodes are still that. */
  assert_ok(scene_submit(s, 7, 2, 8));
  assert_string_equal(scene_decide(s), "start 7");
  pai_sched_free(s);
}

/* --- many tasks, as if each was looked for by itself ------------------------ */

enum { NODES = 24 };

typedef struct model {
  uint32_t gpus[NODES], cpus[NODES]; /* free */
  uint32_t tasks[NODES];             /* of the gang */
} model;

static void look(model *m, const pai_sched *s)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  for (size_t i = 0; i < NODES; i++) {
    assert_ok(pai_sched_view_node(s, i, &v));
    m->gpus[i] = v.free_gpus;
    m->cpus[i] = v.free_cpus;
    m->tasks[i] = 0;
  }
}

static uint32_t room(const model *m, size_t i, uint32_t gpus)
{
  uint32_t n = m->gpus[i] / gpus;

  return n < m->cpus[i] ? n : m->cpus[i];
}

/* Is node a rather taken than b for so many tasks? */
static bool is_rather(const model *m, size_t a, size_t b, uint32_t gpus,
                      uint32_t tasks, bool pack)
{
  uint32_t ra = room(m, a, gpus), rb = room(m, b, gpus);

  if (!pack)
    return m->gpus[a] != m->gpus[b] ? m->gpus[a] > m->gpus[b]
                                    : m->cpus[a] > m->cpus[b];
  ra = ra < tasks ? ra : tasks;
  rb = rb < tasks ? rb : tasks;
  if (ra != rb)
    return ra > rb;
  return m->gpus[a] != m->gpus[b] ? m->gpus[a] < m->gpus[b]
                                  : m->cpus[a] < m->cpus[b];
}

static bool place(model *m, uint32_t tasks, uint32_t gpus, bool pack)
{
  while (tasks > 0) {
    size_t best = NODES;
    uint32_t n;

    for (size_t i = 0; i < NODES; i++)
      if (room(m, i, gpus) != 0 &&
          (best == NODES || is_rather(m, i, best, gpus, tasks, pack)))
        best = i;
    if (best == NODES)
      return false;
    n = pack ? room(m, best, gpus) : 1;
    n = n < tasks ? n : tasks;
    m->tasks[best] += n;
    m->gpus[best] -= n * gpus;
    m->cpus[best] -= n;
    tasks -= n;
  }
  return true;
}

TEST(gangs_are_placed_as_a_model_places_them)
{
  for (uint64_t seed = 1; seed <= 60; seed++) {
    bool pack = seed % 2 == 0;
    pai_sched *s =
      scene_new("nodes:24 gpu:8 cpus:10 mem:64G", "fifo",
                pack ? "{\"place\": \"pack\", \"greedy\": true}"
                     : "{\"place\": \"spread\", \"greedy\": true}",
                NULL);
    pai__prng random = { seed };
    pai_task_place p = { .struct_size = sizeof(p) };

    for (uint64_t id = 1; id < 60; id++) {
      uint32_t tasks = 1 + (uint32_t)pai__prng_below(&random, 12);
      uint32_t gpus = 1 + (uint32_t)pai__prng_below(&random, 4);
      model m, after;
      bool fits;

      if (scene_submit(s, id, tasks, gpus) != PAI_OK)
        continue;
      look(&m, s);
      fits = place(&m, tasks, gpus, pack);
      assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), fits);
      look(&after, s);
      for (uint32_t t = 0; pai_sched_task(s, id, 0, t, &p) == PAI_OK; t++)
        after.tasks[p.node]++;
      if (fits)
        assert_memory_equal(&m, &after, sizeof(m));
      else
        assert_ok(scene_cancel(s, id));
      if (pai__prng_below(&random, 3) == 0)
        (void)scene_finish(s, 1 + pai__prng_below(&random, id));
    }
    pai_sched_free(s);
  }
}

/* --- scripts --------------------------------------------------------------- */

/* A hole in both halves of one node, and all of a switch on another, emptier
 * one. */
#define HOLES                                                        \
  "submit 10 gpus=3; submit 11-12 gpus=1; submit 13 gpus=3 => any\n" \
  "finish 11-12; policy fifo "
#define SWITCHES "nodes:2 gpu:8:h100 cpus:128 mem:512G switch:4 link:8"

static const char thirds[] = "skus:\n"
                             "  a: {cpus: 3, memory: 3G}\n"
                             "  b: {cpus: 100, memory: 100G}\n"
                             "nodes:\n"
                             "  - {name: one, sku: b}\n"
                             "  - {name: two, sku: a}\n";
static const char third_of_cpus[] = "skus:\n"
                                    "  a: {cpus: 3, memory: 100G}\n"
                                    "  b: {cpus: 100, memory: 100G}\n"
                                    "nodes:\n"
                                    "  - {name: one, sku: a}\n"
                                    "  - {name: two, sku: b}\n";
static const char shared[] =
  "skus:\n"
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n"
  "nodes:\n"
  "  - {name: 'n[1-2]', sku: box}\n"
  "virtualClusters:\n"
  "  lab: {cells: {box: 1}}\n"
  "  shop: {cells: {box: 1}}\n";

static const scene_policy k8s_and_topo[] = {
  { "k8s", NULL }, { "k8s", "{\"place\": \"topo\"}" }, { NULL, NULL }
};

static const scene_case cases[] = {
  { "pack_takes_the_fuller_node", SWITCHES, "fifo", "{\"place\": \"first\"}",
    .script = HOLES "{\"place\":\"pack\"}\n"
                    "submit 1 gpus=2 => start 1; places 1 0:18\n" },
  { "topo_would_rather_break_a_gap_than_cross_a_switch", SWITCHES, "fifo",
    "{\"place\": \"first\"}",
    .script = HOLES "{\"place\":\"topo\"}\n"
                    "submit 1 gpus=2 => start 1; places 1 1:3\n" },
  { "numa_nodes_are_groups_too", "nodes:1 gpu:8 cpus:64 mem:64G numa:2",
    "fifo", NULL,
    .script = "submit 1 gpus=3\n"
              "submit 2 gpus=2\n" /* not over the border */
              "=> start 1, start 2; places 2 0:30; finish 1\n"
              "submit 3 within=numa tasks=2 gpus=2 => start 3\n"
              "places 3 0:3 0:c\n" },
  /* Two nodes of 10 CPUs and 10 GiB each.  Scores by Kubernetes' formulas, with
   * the next one on the node: LeastAllocated is the mean of what is left in
   * hundredths, BalancedAllocation 100 less half of the difference. */
  { "nodes_are_scored_as_by_kubernetes", "nodes:2 gpu:1 cpus:10 mem:10G",
    "k8s", NULL,
    .script =
      "submit 1 cpus=4 => start 1; places 1 0:0\n" /* the first */
      /* On 0 40 % of the CPUs and 50 % of memory: 55 + 95; on 1 0 % and
               * 50 %: 75 + 75.  Equal again. */
      "submit 2 cpus=0 memory=5G => start 2; places 2 0:0\n"
      /* On 0: 60 % and 60 %: 40 + 100; on 1: 20 % and 10 %: 85 + 95. */
      "submit 3 cpus=2 memory=1G => start 3; places 3 1:0\n" },
  /* Thirds are rounded down, each part by itself: of 3 CPUs one is 33 %.  one:
   * 67 CPUs and 67 GiB of 100 are used, so 33 + 100 with them; two: of 3 each
   * 2: 33.3 is 33, and 100: equal, so the first. */
  { "scores_are_rounded_as_by_kubernetes", thirds, "k8s", NULL,
    .script = "submit 1 cpus=65 memory=65G => start 1\n"
              "submit 2 cpus=2 memory=2G => start 2; places 2 0:0\n" },
  /* A third of the CPUs and no memory: 83 and 83.3, which is 83.  33 and 1 %:
   * 83 and 84. */
  { "balance_is_rounded_down", third_of_cpus, "k8s", NULL,
    .script = "submit 1 cpus=32 memory=1G => start 1\n"
              "submit 2 cpus=1 => start 2; places 2 1:0\n" },
  { "k8s_stops_the_fewest_of_less_importance", "nodes:2 gpu:4 cpus:8 mem:8G",
    "k8s", NULL,
    .script = "submit 1 gpus=4; submit 2-3 gpus=2\n"
              "=> start 1, start 2, start 3\n"
              "submit 10 gpus=4 priority=5; submit 11 gpus=4\n"
              "change 1 priority 1 => any; lack 10 victims 11 gpu\n" },
  { "k8s_stops_nobody_if_told_so", "nodes:2 gpu:4 cpus:8 mem:8G", "k8s",
    "{\"preempt\": false}",
    .script = "submit 1 tasks=2 gpus=4 => start 1\n"
              "submit 11 gpus=4 priority=5 => nothing; lack 11 gpu\n" },
  { "k8s_keeps_shares", shared, "k8s", NULL,
    .script = "submit 1 vc=lab tasks=2 gpus=4 !ENOROOM\n" },
  { "k8s_keeps_no_shares_if_told_so", shared, "k8s", "{\"shares\": false}",
    .script = "submit 1 vc=lab tasks=2 gpus=4 => start 1\n" },
  { "failing_memory_leaves_it_usable", DGX, .under = k8s_and_topo,
    .script = "submit 1 tasks=8 gpus=8 => any\n"
              "submit 2 tasks=2 gpus=8 priority=7 => any; fork\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);
