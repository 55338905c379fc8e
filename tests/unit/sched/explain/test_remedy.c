/* Every change that is told to who waits works, and is one change where there is
 * one: in many made states.
 *
 * TELL shows what is told where nothing would help.
 */
#include "sched/scene.h"

#include "base/buf.h"
#include "base/prng.h"
#include "sched/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>

static bool aloud;

static int tell(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  if (aloud)
    print_message("%.*s", (int)len, bytes);
  return PAI_OK;
}

static void explain(const pai_sched *s, uint64_t id, int format)
{
  assert_ok(pai_sched_explain(s, id, format, tell, NULL, NULL));
  aloud = false;
}

/* --- every change works --------------------------------------------------- */

typedef struct world {
  pai__prng random;
  pai_sched *s;
  uint64_t ids;
  unsigned waiting, helped;
} world;

static uint32_t below(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->random, n);
}

static const char *const clusters[] = {
  "nodes:4 gpu:4:h100 cpus:16 mem:64G",
  "nodes:6 gpu:8:h100 racks:2 switch:4 cpus:32 mem:256G numa:2",
  "skus:\n"
  "  a: {gpu: v100, gpus: 4, cpus: 8, memory: 32G}\n"
  "  b: {gpu: a100, gpus: 8, cpus: 16, memory: 64G}\n"
  "nodes:\n"
  "  - {name: \"a[1-3]\", sku: a, rack: r1}\n"
  "  - {name: b1, sku: b, rack: r2, pin: build}\n"
  "  - {name: b2, sku: b, rack: r2}\n"
  "virtualClusters:\n"
  "  default: {cells: {a: 2, b: 1}}\n"
  "  other: {cells: {a: 1}, pins: [build]}\n"
};

static void submit_one(world *w)
{
  pai_want wants[2] = { scene_want(1 + below(w, 4), below(w, 5)),
                        scene_want(1, below(w, 9)) };
  pai_request q = { .id = ++w->ids, .wants = wants, .nwants = 1 };
  pai_after after = { 1 + below(w, (uint32_t)w->ids), PAI_AFTER_ANY };

  wants[0].cpus = below(w, 6);
  wants[0].memory = (uint64_t)below(w, 20) << 30;
  wants[0].ports = below(w, 3);
  if (below(w, 4) == 0)
    wants[0].type = below(w, 2) ? "v100" : "h100";
  if (below(w, 5) == 0)
    q.nwants = 2;
  if (below(w, 6) == 0)
    q.within = below(w, 2) ? "node" : "rack";
  if (below(w, 8) == 0)
    q.vc = below(w, 2) ? "other" : "default";
  if (below(w, 8) == 0)
    q.held = 1;
  if (below(w, 8) == 0)
    q.priority = (int)below(w, 5) - 1;
  if (below(w, 8) == 0) {
    q.instances = 4;
    q.at_once = 1 + below(w, 2);
  }
  if (below(w, 8) == 0) {
    q.after = &after;
    q.nafter = 1;
  }
  (void)scene_request(w->s, &q, NULL); /* may well be impossible */
}

static void happen(world *w)
{
  uint32_t node = below(w, 4);
  pai_sched_node_view v = { .struct_size = sizeof(v) };
  pai_sched_event e = { .kind = PAI_SCHED_NODE, .gpu = -1 };

  if (below(w, 3) != 0) {
    submit_one(w);
    return;
  }
  if (below(w, 2) == 0) {
    (void)scene_finish(w->s, 1 + below(w, (uint32_t)w->ids + 1));
    return;
  }
  assert_ok(pai_sched_view_node(w->s, node, &v));
  e.node = v.name;
  e.number = below(w, 3) == 0 ? PAI_NODE_DRAIN : PAI_NODE_UP;
  if (below(w, 3) == 0) {
    e.gpu = (int32_t)below(w, v.gpus);
    e.number = below(w, 2) ? PAI_NODE_SICK : PAI_NODE_UP;
  }
  assert_ok(scene_event(w->s, e, NULL));
}

static bool starts_with(const world *w, uint64_t id,
                        const pai__suggested_change *m)
{
  pai_decision d = { .struct_size = sizeof(d) };
  pai_sched *fork;
  bool starts = false;
  int n;

  assert_ok(pai_sched_fork(&fork, w->s, NULL));
  for (uint32_t i = 0; i < m->n; i++)
    assert_ok(pai_sched_send(fork, &m->list[i], NULL));
  n = pai_sched_decide(fork, scene_now(fork), NULL);
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(fork, (size_t)i, &d));
    starts |= d.kind == PAI_DECISION_START && d.id == id;
  }
  pai_sched_free(fork);
  return starts;
}

static void check_all(world *w)
{
  pai__suggested_change *m = malloc(sizeof(*m));

  assert_non_null(m);
  for (uint64_t id = pai_sched_next(w->s, 0); id != 0;
       id = pai_sched_next(w->s, id)) {
    bool helped = false;

    if (scene_lack(w->s, id)[0] == '\0')
      continue;
    for (int side = PAI__SUGGEST_OWN; side <= PAI__SUGGEST_OTHERS; side++) {
      assert_ok(
        pai__suggest_find(w->s, id, (enum pai__suggest_side)side, m, NULL));
      if (m->n == 0)
        continue;
      helped = true;
      assert_true(starts_with(w, id, m));
    }
    aloud = !helped && getenv("TELL") != NULL;
    explain(w->s, id, 0);
    w->waiting++;
    w->helped += helped;
    explain(w->s, id, PAI_FORMAT_JSON);
  }
  free(m);
}

static const struct {
  const char *name, *options;
} policies[] = { { "fifo", "{}" },
                 { "fifo", "{\"greedy\": true}" },
                 { "backfill", "{}" },
                 { "backfill", "{\"mode\": \"conservative\"}" },
                 { "priority", "{}" },
                 { "capacity", "{}" },
                 { "fair", "{}" },
                 { "fair", "{\"mode\": \"decay\", \"user_max_gpus\": 8}" },
                 { "k8s", "{}" },
                 { "hived", "{}" } };

static void play(world *w, unsigned round, void (*check)(world *))
{
  size_t p = round / PAI__LEN(clusters) % PAI__LEN(policies);

  w->s = scene_new(clusters[round % PAI__LEN(clusters)], policies[p].name,
                   policies[p].options, NULL);
  assert_non_null(w->s);
  w->ids = 0;
  for (unsigned i = 0; i < 40; i++) {
    happen(w);
    if (below(w, 2) == 0)
      (void)scene_decide(w->s);
  }
  (void)scene_decide(w->s);
  check(w);
  if (getenv("TELL") != NULL)
    print_message("%s %s: %u of %u\n", policies[p].name, policies[p].options,
                  w->helped, w->waiting);
  pai_sched_free(w->s);
}

TEST(each_change_that_is_told_works)
{
  world w = { .random = { 1 } };

  for (unsigned round = 0; round < 180; round++)
    play(&w, round, check_all);
  /* Nearly always something is found. */
  print_message("%u wait, %u were helped\n", w.waiting, w.helped);
  assert_true(w.waiting > 300 && w.helped * 100 > w.waiting * 95);
}

/* --- by brute force ------------------------------------------------------- */

/* Does the request start with one event? */
static bool starts_by(const world *w, uint64_t id, pai_sched_event e)
{
  pai_decision d = { .struct_size = sizeof(d) };
  pai_sched *fork;
  bool starts = false;
  int n;

  assert_ok(pai_sched_fork(&fork, w->s, NULL));
  e.struct_size = sizeof(e);
  e.time = scene_now(fork);
  if (pai_sched_send(fork, &e, NULL) == PAI_OK) {
    n = pai_sched_decide(fork, e.time, NULL);
    for (int i = 0; i < n; i++) {
      assert_ok(pai_sched_decision(fork, (size_t)i, &d));
      starts |= d.kind == PAI_DECISION_START && d.id == id;
    }
  }
  pai_sched_free(fork);
  return starts;
}

static bool starts_changed(const world *w, uint64_t id, const char *key,
                           uint32_t want, int64_t number)
{
  return starts_by(w, id,
                   (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                                      .id = id,
                                      .key = key,
                                      .want = want,
                                      .number = number });
}

/* What a request asks for, of the keys that are amounts. */
static int64_t asked(const world *w, uint64_t id, const char *key,
                     uint32_t want)
{
  const pai__req *r = pai__req_at(w->s, pai__req_find(w->s, id));
  const pai__want *x = pai__wants_of(w->s, r) + want;

  return strcmp(key, "gpus") == 0     ? x->gpus
         : strcmp(key, "cpus") == 0   ? x->cpu_millis / 1000
         : strcmp(key, "ports") == 0  ? x->ports
         : strcmp(key, "tasks") == 0  ? x->tasks
         : strcmp(key, "memory") == 0 ? (int64_t)(x->memory >> 30)
                                      : r->priority;
}

/* Is there a change of one thing of the request? */
static bool has_own_single(const world *w, uint64_t id)
{
  static const char *const amounts[] = { "gpus", "cpus", "ports", "tasks",
                                         "memory" };
  static const char *const texts[] = { "within", "pin", "type" };
  uint32_t nwants = pai__req_at(w->s, pai__req_find(w->s, id))->nwants;

  for (int p = -1; p <= 8; p++)
    if (p != asked(w, id, "priority", 0) &&
        starts_changed(w, id, "priority", 0, p))
      return true;
  if (starts_changed(w, id, "held", 0, 0))
    return true;
  for (uint64_t other = 1; other <= w->ids; other++)
    if (starts_changed(w, id, "after", 0, (int64_t)other))
      return true;
  for (int n = 1; n <= 4; n++)
    if (starts_changed(w, id, "at_once", 0, n))
      return true;
  for (uint32_t i = 0; i < nwants; i++) {
    for (size_t k = 0; k < PAI__LEN(amounts); k++)
      for (int64_t n = asked(w, id, amounts[k], i) - 1;
           n >= (strcmp(amounts[k], "ports") == 0 ? 0 : 1); n--)
        if (starts_changed(w, id, amounts[k], i,
                           strcmp(amounts[k], "memory") == 0 ? n << 30 : n))
          return true;
    for (size_t k = 0; k < PAI__LEN(texts); k++)
      if ((strcmp(texts[k], "type") == 0 || i == 0) &&
          starts_changed(w, id, texts[k], i, 0))
        return true;
  }
  return false;
}

/* Of others, or of a node? */
static bool has_other_single(const world *w, uint64_t id)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  for (uint64_t other = 1; other <= w->ids; other++) {
    pai_sched_event e = { .kind = PAI_SCHED_FINISHED, .id = other };

    for (e.instance = 0; other != id && e.instance < 4; e.instance++)
      if (starts_by(w, id, e))
        return true;
    if (other != id && starts_by(w, id,
                                 (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                                                    .id = other,
                                                    .key = "held",
                                                    .number = 1 }))
      return true;
  }
  for (uint32_t i = 0; pai_sched_view_node(w->s, i, &v) == PAI_OK; i++) {
    pai_sched_event e = { .kind = PAI_SCHED_NODE,
                          .node = v.name,
                          .number = PAI_NODE_UP };

    for (e.gpu = -1; e.gpu < 8; e.gpu++)
      if (starts_by(w, id, e))
        return true;
  }
  return false;
}

/* No smaller change of the same thing would do. */
static void check_least(const world *w, uint64_t id, const pai_sched_event *e)
{
  static const char *const amounts[] = { "gpus", "cpus", "ports", "tasks" };
  int64_t is;

  if (e->kind != PAI_SCHED_CHANGE || e->id != id)
    return;
  is = asked(w, id, e->key, e->want);
  for (int64_t n = is + 1; strcmp(e->key, "priority") == 0 && n < e->number;
       n++)
    assert_false(starts_changed(w, id, e->key, 0, n));
  for (size_t k = 0; k < PAI__LEN(amounts); k++)
    for (int64_t n = is - 1; strcmp(e->key, amounts[k]) == 0 && n > e->number;
         n--)
      assert_false(starts_changed(w, id, e->key, e->want, n));
  if (strcmp(e->key, "memory") == 0)
    assert_false(
      starts_changed(w, id, "memory", e->want, e->number + (1 << 20)) &&
      (e->number >> 20) + 1 < is << 10);
}

/* What is told is one change where there is one, and the least of its kind. */
static void check_singles(world *w)
{
  pai__suggested_change *m = malloc(sizeof(*m));

  assert_non_null(m);
  for (uint64_t id = pai_sched_next(w->s, 0); id != 0;
       id = pai_sched_next(w->s, id)) {
    if (scene_lack(w->s, id)[0] == '\0')
      continue;
    for (int side = PAI__SUGGEST_OWN; side <= PAI__SUGGEST_OTHERS; side++) {
      bool single = side == PAI__SUGGEST_OWN ? has_own_single(w, id)
                                             : has_other_single(w, id);

      assert_ok(
        pai__suggest_find(w->s, id, (enum pai__suggest_side)side, m, NULL));
      if (m->anyway)
        break;
      w->waiting++;
      w->helped += m->n != 0;
      if (single)
        assert_true(m->n == 1 && m->least);
      if (m->n == 0)
        continue;
      assert_true(starts_with(w, id, m));
      if (m->least)
        check_least(w, id, &m->list[0]);
    }
  }
  free(m);
}

TEST(the_smallest_change_is_told)
{
  world w = { .random = { 5 } };

  /* Each policy on each cluster. */
  for (unsigned round = 0; round < 30; round++)
    play(&w, round, check_singles);
  print_message("%u of %u\n", w.helped, w.waiting);
}
