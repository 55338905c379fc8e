/* HiveD's decisions on large workloads, by the policy of a whole scheduler. */
#include "sched/scene.h"

#include "rows.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_GANGS = 4096 };

typedef struct play {
  pai_sched *s;
  bool running[MOST_GANGS];
  char made[MOST_GANGS]; /* b: bound, p: after preempting, w: not */
  uint64_t gpus[MOST_GANGS][16];
  uint32_t nodes[MOST_GANGS][16], pods[MOST_GANGS];
  uint32_t ngangs, compared;
} play;

static play *p;

static int64_t number(const pai__tree *t, const char *key)
{
  pai__node n = pai__tree_get(t, 0, key);

  return n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__INT
           ? pai__tree_int(t, n)
           : 0;
}

static uint32_t gang_of(const pai__tree *t)
{
  uint32_t g = (uint32_t)strtoul(test_row_text(t, "g", NULL) + 1, NULL, 10);

  assert_true(g < MOST_GANGS);
  return g;
}

/* Those that are to stop are gone. */
static bool drop_victims(int n)
{
  pai_decision d = { .struct_size = sizeof(d) };
  uint64_t gone[64];
  size_t many = 0;

  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(p->s, (size_t)i, &d));
    if (d.kind == PAI_DECISION_STOP && many < 64)
      gone[many++] = d.id;
  }
  for (size_t i = 0; i < many; i++) {
    pai_sched_event e = { .kind = PAI_SCHED_RETURNED, .id = gone[i] };

    assert_ok(scene_event(p->s, e, NULL));
    e = (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                           .id = gone[i],
                           .instance = PAI_SCHED_ALL };
    assert_ok(scene_event(p->s, e, NULL));
    p->running[gone[i] - 1] = false;
  }
  return many > 0;
}

static void place(uint32_t g, uint32_t pods)
{
  pai_task_place at = { .struct_size = sizeof(at) };
  bool stopped = true;

  p->made[g] = 'b';
  while (stopped) {
    int n = pai_sched_decide(p->s, scene_now(p->s), NULL);

    assert_true(n >= 0);
    if (pai_sched_task(p->s, g + 1, 0, 0, &at) == PAI_OK)
      break;
    stopped = drop_victims(n);
    p->made[g] = stopped ? 'p' : 'w';
  }
  p->running[g] = p->made[g] != 'w';
  p->pods[g] = p->running[g] ? pods : 0;
  if (!p->running[g]) {
    assert_ok(scene_event(p->s,
                          (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                             .id = g + 1,
                                             .instance = PAI_SCHED_ALL },
                          NULL));
    return;
  }
  for (uint32_t i = 0; i < pods; i++) {
    assert_ok(pai_sched_task(p->s, g + 1, 0, i, &at));
    p->nodes[g][i] = at.node;
    p->gpus[g][i] = at.gpus;
  }
}

static void do_step(const pai__tree *t)
{
  const char *op = test_row_text(t, "op", NULL);
  pai__node lazy = pai__tree_get(t, 0, "lazy");
  uint32_t g;

  if (strcmp(op, "mark") == 0)
    return;
  g = gang_of(t);
  if (strcmp(op, "submit") == 0) {
    pai_want want =
      scene_want((uint32_t)number(t, "pods"), (uint32_t)number(t, "gpus"));

    want.cpus = 0;
    assert_ok(scene_request(
      p->s,
      &(pai_request){ .id = g + 1,
                      .vc = test_row_text(t, "vc", NULL),
                      .priority = (int)number(t, "prio"),
                      .lazy = lazy != PAI__NO_NODE && pai__tree_bool(t, lazy),
                      .wants = &want,
                      .nwants = 1 },
      NULL));
    place(g, want.tasks);
    p->ngangs++;
  } else if (p->running[g]) {
    assert_ok(scene_finish(p->s, g + 1));
    p->running[g] = false;
  }
}

/* A pod as "n0008:0,1,2,3". */
static void compare_pod(const char *g, const char *want, uint32_t node,
                        uint64_t gpus)
{
  uint64_t mask = 0;
  unsigned number_of_node;

  assert_int_equal(sscanf(want, "n%u", &number_of_node), 1);
  want = strchr(want, ':');
  assert_non_null(want);
  while (*want != '\0')
    mask |= UINT64_C(1) << strtoul(want + 1, (char **)&want, 10);
  if (number_of_node != node || mask != gpus)
    fail_msg("%s: node %u, GPUs %llx; want node %u, GPUs %llx", g, node,
             (unsigned long long)gpus, number_of_node,
             (unsigned long long)mask);
}

static void compare(const pai__tree *t)
{
  const char *result = test_row_text(t, "r", NULL);
  pai__node list = pai__tree_get(t, 0, "p"), item;
  uint32_t g = gang_of(t), i = 0;
  pai__tree_walk walk;

  assert_int_equal(p->made[g], result[0]);
  p->compared++;
  if (list == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    assert_true(i < p->pods[g]);
    compare_pod(test_row_text(t, "g", NULL), pai__tree_str(t, item, NULL),
                p->nodes[g][i], p->gpus[g][i]);
    i++;
  }
  assert_int_equal(i, p->pods[g]);
}

/* False where there is no such workload. */
static bool repeat(const char *kind, int nodes)
{
  char path[128], *text;
  size_t len;

  (void)snprintf(path, sizeof(path), "hived/bench/cluster-%d.yaml", nodes);
  text = test_shared_text(path, &len);
  if (text == NULL)
    return false;
  p = calloc(1, sizeof(*p));
  assert_non_null(p);
  p->s = scene_new(text, "hived", NULL, NULL);
  free(text);
  assert_non_null(p->s);
  (void)snprintf(path, sizeof(path), "hived/bench/workload-%s-%d.jsonl", kind,
                 nodes);
  assert_true(test_each_line(path, do_step) > 0);
  (void)snprintf(path, sizeof(path), "hived/bench/decisions-%s-%d.jsonl", kind,
                 nodes);
  assert_true(test_each_line(path, compare) > 0);
  assert_int_equal(p->compared, p->ngangs);
  pai_sched_free(p->s);
  free(p);
  return true;
}

TEST(guaranteed_gangs_are_placed_as_by_hived)
{
  if (!repeat("guaranteed", 16))
    skip();
  assert_true(repeat("guaranteed", 128));
  assert_true(repeat("guaranteed", 1024));
}

TEST(and_those_that_preempt)
{
  if (!repeat("mixed", 16))
    skip();
  assert_true(repeat("mixed", 128));
  assert_true(repeat("mixed", 1024));
}
