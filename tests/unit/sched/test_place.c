/* Where tasks are placed: strategies, topologies, Kubernetes' scores. */
#include "scene.h"

#include "base/prng.h"

#include <stdio.h>

#define DGX \
  "nodes:8 gpu:8:h100 cpus:128 mem:512G switch:4 link:8 racks:2 numa:2"

static int ask(pai_sched *s, uint64_t id, uint32_t tasks, uint32_t gpus)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s, &(pai_request){ .id = id, .wants = &want, .nwants = 1 }, NULL);
}

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

    assert_int_equal(ask(s, 1000 + i, 1, 8), PAI_OK);
    assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 1);
    assert_int_equal(scene_finish(s, 1000 + i), PAI_OK);
    if (taken[i] != 0)
      assert_int_equal(ask(s, 2000 + i, 1, taken[i]), PAI_OK);
    if (left != 0)
      assert_int_equal(ask(s, 3000 + i, 1, left), PAI_OK);
    assert_true(pai_sched_decide(s, scene_now(s), NULL) > 0);
  }
  for (size_t i = 0; i < n; i++)
    if (taken[i] != 8)
      assert_int_equal(scene_finish(s, 3000 + i), PAI_OK);
  (void)snprintf(options, sizeof(options), "{\"place\": \"%s\"}", place);
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  return s;
}

static void expect(const char *place, const uint32_t *taken, uint32_t tasks,
                   uint32_t gpus, const char *where)
{
  pai_sched *s = filled(DGX, place, taken, 8);

  assert_int_equal(ask(s, 1, tasks, gpus), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), where);
  pai_sched_free(s);
}

static void strategies_take_the_node_they_promise(void **state)
{
  static const uint32_t taken[8] = { 2, 4, 0, 5, 8, 3, 0, 7 };

  (void)state;
  expect("pack", taken, 1, 1, "7:80");
  expect("pack", taken, 1, 2, "3:60"); /* 3 are left there */
  expect("pack", taken, 1, 4, "1:f0");
  expect("pack", taken, 1, 8, "2:ff");
  expect("spread", taken, 1, 2, "2:3");
  expect("spread", taken, 3, 2, "2:3 6:3 0:c"); /* 8, 8, and then 6 are free */
  expect("first", taken, 1, 2, "0:c");
  expect("first", taken, 4, 2, "0:c 0:30 0:c0 1:30");
  expect("topo", taken, 1, 1, "7:80");
}

static void pack_leaves_the_largest_gaps(void **state)
{
  static const uint32_t taken[8] = { 0, 4, 0, 6, 8, 8, 8, 8 };
  pai_sched *s = filled(DGX, "pack", taken, 8);

  (void)state;
  for (uint64_t id = 1; id <= 6; id++)
    assert_int_equal(ask(s, id, 1, 1), PAI_OK);
  assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 6);
  /* Both empty nodes are still that. */
  assert_int_equal(ask(s, 7, 2, 8), PAI_OK);
  assert_string_equal(scene_decide(s), "start 7");
  pai_sched_free(s);
}

static void topo_takes_gpus_of_one_switch(void **state)
{
  /* Node 0 has 6 free in 2 + 4, node 1 has 3 + 4. */
  static const uint32_t taken[8] = { 2, 1, 8, 8, 8, 8, 8, 8 };
  /* 3 are free, 1 of them of another switch; and 4 of one. */
  static const uint32_t one[8] = { 5, 4, 8, 8, 8, 8, 8, 8 };

  (void)state;
  expect("topo", taken, 1, 2, "0:c");
  expect("topo", taken, 1, 3, "0:70");
  expect("topo", taken, 1, 4, "0:f0");
  expect("topo", taken, 1, 5, "0:7c"); /* no switch has so many */
  expect("topo", one, 1, 3, "0:e0");
}

/* A hole in both halves of one node, and all of a switch on another, emptier
 * one: pack takes the fuller node, topo the switch. */
static void topo_would_rather_break_a_gap_than_cross_a_switch(void **state)
{
  static const char *const places[] = { "pack", "topo" };
  static const char *const where[] = { "0:18", "1:3" };

  (void)state;
  for (size_t i = 0; i < 2; i++) {
    pai_sched *s =
      scene_new("nodes:2 gpu:8:h100 cpus:128 mem:512G switch:4 link:8", "fifo",
                "{\"place\": \"first\"}", NULL);
    pai_sched_event e = { .kind = PAI_SCHED_POLICY, .text = "fifo" };
    char options[64];

    assert_int_equal(ask(s, 10, 1, 3), PAI_OK); /* 0, 1, 2 */
    assert_int_equal(ask(s, 11, 1, 1), PAI_OK); /* 3 */
    assert_int_equal(ask(s, 12, 1, 1), PAI_OK); /* 4 */
    assert_int_equal(ask(s, 13, 1, 3), PAI_OK); /* 5, 6, 7 */
    assert_int_equal(pai_sched_decide(s, 0, NULL), 4);
    assert_int_equal(scene_finish(s, 11), PAI_OK);
    assert_int_equal(scene_finish(s, 12), PAI_OK);
    (void)snprintf(options, sizeof(options), "{\"place\": \"%s\"}", places[i]);
    e.options = options;
    assert_int_equal(scene_event(s, e, NULL), PAI_OK);
    assert_int_equal(ask(s, 1, 1, 2), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_string_equal(scene_places(s, 1, 0), where[i]);
    pai_sched_free(s);
  }
}

static void topo_takes_fewest_nodes_then_one_rack(void **state)
{
  /* Racks are nodes 0 to 3 and 4 to 7. */
  static const uint32_t one_node[8] = { 6, 6, 6, 6, 8, 8, 0, 8 };
  static const uint32_t one_rack[8] = { 4, 8, 8, 8, 8, 4, 4, 8 };
  static const uint32_t fewer[8] = { 7, 7, 7, 7, 4, 4, 8, 8 };
  static const uint32_t across[8] = { 0, 6, 6, 8, 0, 6, 6, 8 };

  (void)state;
  expect("topo", one_node, 4, 2, "6:3 6:c 6:30 6:c0");
  expect("topo", one_rack, 4, 2, "5:30 5:c0 6:30 6:c0");
  expect("topo", fewer, 4, 1, "4:10 4:20 4:40 4:80");
  /* In a rack it needs three nodes, without one two. */
  expect("topo", across, 6, 2, "0:3 0:c 0:30 0:c0 4:3 4:c");
}

static void numa_nodes_are_groups_too(void **state)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:8 cpus:64 mem:64G numa:2", "fifo", NULL, NULL);
  pai_want want = scene_want(2, 2);

  (void)state;
  assert_int_equal(ask(s, 1, 1, 3), PAI_OK);
  assert_int_equal(ask(s, 2, 1, 2), PAI_OK); /* not over the border */
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:30");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(
    scene_request(
      s,
      &(pai_request){ .id = 3, .within = "numa", .wants = &want, .nwants = 1 },
      NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 3, 0), "0:3 0:c");
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
    assert_int_equal(pai_sched_view_node(s, i, &v), PAI_OK);
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

static void gangs_are_placed_as_a_model_places_them(void **state)
{
  (void)state;
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

      if (ask(s, id, tasks, gpus) != PAI_OK)
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
        assert_int_equal(
          scene_event(s,
                      (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                         .id = id,
                                         .instance = PAI_SCHED_ALL },
                      NULL),
          PAI_OK);
      if (pai__prng_below(&random, 3) == 0)
        (void)scene_finish(s, 1 + pai__prng_below(&random, id));
    }
    pai_sched_free(s);
  }
}

/* --- Kubernetes' scores ----------------------------------------------------- */

static int ask_cpus(pai_sched *s, uint64_t id, uint32_t cpus, uint64_t gib)
{
  pai_want want = scene_want(1, 0);

  want.cpus = cpus;
  want.memory = gib << 30;
  return scene_request(
    s, &(pai_request){ .id = id, .wants = &want, .nwants = 1 }, NULL);
}

/* Two nodes of 10 CPUs and 10 GiB each.  Scores by Kubernetes' formulas, with
 * the next one on the node: LeastAllocated is the mean of what is left in
 * hundredths, BalancedAllocation 100 less half of the difference. */
static void nodes_are_scored_as_by_kubernetes(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:1 cpus:10 mem:10G", "k8s", NULL, NULL);

  (void)state;
  assert_int_equal(ask_cpus(s, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1"); /* equal: the first */
  assert_string_equal(scene_places(s, 1, 0), "0:0");
  /* On 0 40 % of the CPUs and 50 % of memory: 55 + 95; on 1 0 % and 50 %:
   * 75 + 75.  Equal again. */
  assert_int_equal(ask_cpus(s, 2, 0, 5), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:0");
  /* On 0: 60 % and 60 %: 40 + 100; on 1: 20 % and 10 %: 85 + 95. */
  assert_int_equal(ask_cpus(s, 3, 2, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 3, 0), "1:0");
  pai_sched_free(s);
}

/* Thirds are rounded down, each part by itself: of 3 CPUs one is 33 %. */
static void scores_are_rounded_as_by_kubernetes(void **state)
{
  static const char two[] = "skus:\n"
                            "  a: {cpus: 3, memory: 3G}\n"
                            "  b: {cpus: 100, memory: 100G}\n"
                            "nodes:\n"
                            "  - {name: one, sku: b}\n"
                            "  - {name: two, sku: a}\n";
  pai_sched *s = scene_new(two, "k8s", NULL, NULL);

  (void)state;
  assert_non_null(s);
  /* one: 67 CPUs and 67 GiB of 100 are used, so 33 + 100 with them; two: of 3
   * each 2: 33.3 is 33, and 100: equal, so the first. */
  assert_int_equal(ask_cpus(s, 1, 65, 65), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(ask_cpus(s, 2, 2, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "0:0");
  pai_sched_free(s);
}

/* A third of the CPUs and no memory: 83 and 83.3, which is 83.  33 and 1 %: 83
 * and 84. */
static void balance_is_rounded_down(void **state)
{
  static const char two[] = "skus:\n"
                            "  a: {cpus: 3, memory: 100G}\n"
                            "  b: {cpus: 100, memory: 100G}\n"
                            "nodes:\n"
                            "  - {name: one, sku: a}\n"
                            "  - {name: two, sku: b}\n";
  pai_sched *s = scene_new(two, "k8s", NULL, NULL);

  (void)state;
  assert_int_equal(ask_cpus(s, 1, 32, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(ask_cpus(s, 2, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "1:0");
  pai_sched_free(s);
}

static void k8s_stops_the_fewest_of_less_importance(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8 mem:8G", "k8s", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = { .id = 10, .priority = 5, .wants = &want, .nwants = 1 };

  (void)state;
  assert_int_equal(ask(s, 1, 1, 4), PAI_OK);
  assert_int_equal(ask(s, 2, 1, 2), PAI_OK);
  assert_int_equal(ask(s, 3, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  q.id = 11;
  q.priority = 0;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(scene_change(s, 1, "priority", 1), PAI_OK);
  (void)scene_decide(s);
  assert_string_equal(scene_lack(s, 10), "victims");
  assert_string_equal(scene_lack(s, 11), "gpu");
  pai_sched_free(s);
  s = scene_new("nodes:2 gpu:4 cpus:8 mem:8G", "k8s", "{\"preempt\": false}",
                NULL);
  assert_int_equal(ask(s, 1, 2, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  q.priority = 5;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 11), "gpu");
  pai_sched_free(s);
}

#define SHARED                                           \
  "skus:\n"                                              \
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n" \
  "nodes:\n"                                             \
  "  - {name: 'n[1-2]', sku: box}\n"                     \
  "virtualClusters:\n"                                   \
  "  lab: {cells: {box: 1}}\n"                           \
  "  shop: {cells: {box: 1}}\n"

static void k8s_keeps_shares_unless_told_otherwise(void **state)
{
  pai_want want = scene_want(2, 4);
  pai_request q = { .id = 1, .vc = "lab", .wants = &want, .nwants = 1 };
  pai_sched *s = scene_new(SHARED, "k8s", NULL, NULL);

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOROOM);
  pai_sched_free(s);
  s = scene_new(SHARED, "k8s", "{\"shares\": false}", NULL);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(DGX, "k8s", user_data, alloc), *fork = NULL;
  pai_want want = scene_want(8, 8);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };
  int rc;

  if (s == NULL)
    return PAI_ENOMEM;
  rc = scene_request(s, &q, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  q.id = 2;
  q.priority = 7;
  want.tasks = 2;
  if (rc >= 0)
    rc = scene_request(s, &q, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0)
    rc = pai_sched_fork(&fork, s, NULL);
  pai_sched_free(fork);
  pai_sched_free(s);
  return rc;
}

static void failing_memory_leaves_it_usable(void **state)
{
  (void)state;
  test_faults(story, NULL);
  test_faults(story, "{\"place\": \"topo\"}");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(strategies_take_the_node_they_promise),
    cmocka_unit_test(pack_leaves_the_largest_gaps),
    cmocka_unit_test(topo_takes_gpus_of_one_switch),
    cmocka_unit_test(topo_would_rather_break_a_gap_than_cross_a_switch),
    cmocka_unit_test(topo_takes_fewest_nodes_then_one_rack),
    cmocka_unit_test(numa_nodes_are_groups_too),
    cmocka_unit_test(gangs_are_placed_as_a_model_places_them),
    cmocka_unit_test(nodes_are_scored_as_by_kubernetes),
    cmocka_unit_test(scores_are_rounded_as_by_kubernetes),
    cmocka_unit_test(balance_is_rounded_down),
    cmocka_unit_test(k8s_stops_the_fewest_of_less_importance),
    cmocka_unit_test(k8s_keeps_shares_unless_told_otherwise),
    cmocka_unit_test(failing_memory_leaves_it_usable),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
