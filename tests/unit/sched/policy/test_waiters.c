/* Many who wait: of those who are alike not each is looked at, and nobody can
 * tell, under whatever policy. */
#include "sched/scribe.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef SEEDS /* CMake has fewer for builds with sanitizers, which take long */
#define SEEDS 10
#endif

/* A request that is held makes that each of them is looked at. */
enum {
  SOAK_SEEDS = 500,
  HELD = 100000,
  SIDES = 4,
  STEPS = 400,
  MOST = 4 * STEPS
};

/* [0] passes those who are alike; [1] looks at each; [2] is one that was saved
 * and loaded, [3] a fork. */
typedef struct rules {
  const char *policy, *options;
  const char *shares; /* NULL: all are one virtual cluster's */
} rules;

typedef struct world {
  const rules *rules;
  pai__prng prng;
  pai_sched *side[SIDES];
  pai_time now;
  uint64_t last;
  size_t passed; /* answers that were the shape's */
} world;

static uint32_t below(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->prng, n);
}

static int send(world *w, pai_sched_event e)
{
  int rc = PAI_OK;

  e.struct_size = sizeof(e);
  e.time = w->now;
  for (int i = 0; i < SIDES; i++)
    if (w->side[i] != NULL) {
      int of_side = pai_sched_send(w->side[i], &e, NULL);

      if (i != 0)
        assert_int_equal(of_side, rc);
      rc = of_side;
    }
  return rc;
}

static void submit(world *w)
{
  static const char *const types[] = { "t4", "v100", NULL };
  static const char *const users[] = { "ann", "bob", "cyd", NULL };
  static const char *const vcs[] = { "x", "y" };
  pai_want want = scene_want(1 + below(w, 3), below(w, 5));
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++w->last,
                    .user = users[below(w, 4)],
                    .vc = w->rules->shares ? vcs[below(w, 2)] : NULL,
                    .priority = below(w, 6) == 0 ? (int)below(w, 4) - 1 : 0,
                    .duration = below(w, 4) == 0 ? 0 : 1 + below(w, 60),
                    .wants = &want,
                    .nwants = 1 };

  want.type = types[below(w, 3)];
  want.cpus = below(w, 3);
  if (send(w, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q }) <
      0)
    w->last--;
}

static uint64_t any_running(world *w)
{
  uint64_t list[MOST], id = 0;
  uint32_t n = 0;

  while ((id = pai_sched_next(w->side[0], id)) != 0) {
    uint32_t instance = PAI_SCHED_ALL;

    if (pai_sched_next_running(w->side[0], id, &instance, NULL) == PAI_OK)
      list[n++] = id;
  }
  return n != 0 ? list[below(w, n)] : 1;
}

static void happen(world *w)
{
  pai_sched_event e = { .id = any_running(w) };
  uint32_t what = below(w, 40);

  w->now += below(w, 3);
  if (what < 18) {
    submit(w);
    return;
  }
  e.kind = what < 24   ? PAI_SCHED_STARTED
           : what < 36 ? PAI_SCHED_FINISHED
           : what < 37 ? PAI_SCHED_RETURNED
           : what < 38 ? PAI_SCHED_CANCEL
           : what < 39 ? PAI_SCHED_CHANGE
                       : PAI_SCHED_TIME;
  if (e.kind == PAI_SCHED_CANCEL || e.kind == PAI_SCHED_CHANGE)
    e.id = 1 + below(w, (uint32_t)w->last + 1);
  if (e.kind == PAI_SCHED_CANCEL)
    e.instance = PAI_SCHED_ALL;
  e.key = e.kind == PAI_SCHED_CHANGE ? "duration" : NULL;
  e.number = e.kind == PAI_SCHED_CHANGE ? 30 : 0;
  (void)send(w, e);
}

static void check_reasons(world *w, const pai_sched *s)
{
  const pai_sched *a = w->side[0];

  for (uint64_t id = 0; (id = pai_sched_next(a, id)) != 0;) {
    pai_reason x = { .struct_size = sizeof(x) }, y = x;

    assert_int_equal(pai_sched_reason(a, id, &x), pai_sched_reason(s, id, &y));
    w->passed += x.lack != PAI_LACK_NOTHING;
    /* Names lie in the memory of each. */
    assert_true((x.node == NULL) == (y.node == NULL));
    if (x.node != NULL)
      assert_string_equal(x.node, y.node);
    x.node = y.node = x.text = y.text = NULL;
    assert_memory_equal(&x, &y, sizeof(x));
    for (int lack = 0; lack < PAI_LACKS; lack++)
      assert_int_equal(pai_sched_failed(a, id, lack),
                       pai_sched_failed(s, id, lack));
  }
}

static void decide(world *w)
{
  pai__buf first = test_buf(), other;

  for (int i = 0; i < SIDES; i++)
    if (w->side[i] != NULL)
      assert_true(pai_sched_decide(w->side[i], w->now, NULL) >= 0);
  scribe_decisions(w->side[0], &first);
  for (int i = 1; i < SIDES; i++)
    if (w->side[i] != NULL) {
      pai__buf_init(&other, &pai__libc_alloc);
      scribe_decisions(w->side[i], &other);
      scribe_same(&first, &other);
      pai__buf_dispose(&other);
    }
  pai__buf_dispose(&first);
}

static void check(world *w)
{
  pai__buf saved, other;

  for (int i = 1; i < SIDES; i++)
    if (w->side[i] != NULL)
      check_reasons(w, w->side[i]);
  scribe_save(w->side[0], &saved);
  for (int i = 2; i < SIDES; i++)
    if (w->side[i] != NULL) {
      scribe_save(w->side[i], &other);
      scribe_same(&saved, &other);
      pai__buf_dispose(&other);
    }
  pai__buf_dispose(&saved);
}

static void part(world *w)
{
  pai__buf saved;

  pai_sched_free(w->side[2]);
  pai_sched_free(w->side[3]);
  w->side[2] = w->side[3] = NULL;
  scribe_save(w->side[0], &saved);
  assert_ok(
    pai_sched_load(&w->side[2], pai__buf_text(&saved), saved.len, NULL, NULL));
  pai__buf_dispose(&saved);
  assert_ok(pai_sched_fork(&w->side[3], w->side[0], NULL));
}

static void make(world *w, const rules *x, uint64_t seed)
{
  char all[600];
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = HELD, .wants = &want, .nwants = 1, .held = 1 };
  static const char text[] =
    "gpus: {v100: {memory: 16Gi}}\n"
    "skus:\n"
    "  one: {gpu: t4, gpus: 4, cpus: 8, memory: 1Gi}\n"
    "  two: {gpu: v100, gpus: 8, cpus: 16, memory: 4Gi}\n"
    "nodes:\n"
    "  - {name: \"a[1-3]\", sku: one, rack: r1}\n"
    "  - {name: \"b[1-2]\", sku: two, rack: r2}\n";
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c;

  *w = (world){ .rules = x, .prng = { seed } };
  o.policy = x->policy;
  o.policy_options = x->options;
  (void)snprintf(all, sizeof(all), "%s%s", text,
                 x->shares != NULL ? x->shares : "");
  assert_ok(pai_cluster_parse(&c, all, strlen(all), NULL, NULL));
  for (int i = 0; i < 2; i++)
    assert_ok(pai_sched_new(&w->side[i], c, &o, NULL));
  pai_cluster_free(c);
  q.vc = x->shares != NULL ? "x" : NULL;
  assert_ok(scene_request(w->side[1], &q, NULL));
}

static void live(const rules *x, uint64_t seed)
{
  world w;

  make(&w, x, seed);
  for (int i = 0; i < STEPS; i++) {
    happen(&w);
    if (below(&w, 3) != 0)
      decide(&w);
    check(&w);
    if (i % 40 == 39)
      part(&w);
  }
  assert_true(w.passed > 200 && w.last > 50);
  for (int i = 0; i < SIDES; i++)
    pai_sched_free(w.side[i]);
}

TEST(who_is_passed_cannot_tell)
{
  static const char shares[] = "virtualClusters:\n"
                               "  x: {cells: {one: 2, two: 1}}\n"
                               "  y: {cells: {one: 1, two: 1}}\n";
  static const rules all[] = {
    { "backfill", NULL, NULL },
    { "hived", NULL, shares },
    { "fair", NULL, shares },
    { "fair", "{\"mode\":\"decay\",\"half_life\":20}", shares },
    { "fair", "{\"shares\":false,\"user_max_gpus\":9}", shares },
    { "priority", NULL, shares },
    { "priority", "{\"preempt\":false}", NULL },
    { "priority", "{\"strict\":true}", shares },
    { "k8s", NULL, shares },
    { "k8s", "{\"preempt\":false,\"shares\":false}", shares },
    { "capacity", NULL, shares },
    { "capacity", "{\"reclaim\":false}", NULL },
    { "capacity", "{\"greedy\":true}", shares },
  };
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
  uint64_t seeds = soak != NULL ? SOAK_SEEDS : SEEDS;

  for (size_t i = 0; i < PAI__LEN(all); i++)
    for (uint64_t seed = 0; seed < seeds; seed++)
      live(&all[i], first + seed);
}

/* 2 has claimed the GPU of 1, and 3, which is more important, takes the claim
 * back: so 2 waits again, without an event that says so. */
static void who_lost_a_claim_waits_again(const char *policy)
{
  pai_sched *s = scene_new("nodes:1 gpu:1 cpus:8 mem:1G", policy, NULL, NULL);
  pai_want want = scene_want(1, 1);

  for (uint64_t id = 1; id <= 3; id++) {
    pai_request q = {
      .id = id, .priority = (int)id, .wants = &want, .nwants = 1
    };

    assert_ok(scene_request(s, &q, NULL));
    (void)scene_decide(s);
  }
  for (uint64_t id = 1; id <= 3; id += 2) {
    assert_ok(scene_finish(s, id));
    assert_string_equal(scene_decide(s), id == 1 ? "start 3" : "start 2");
  }
  pai_sched_free(s);
}

TEST(lost_claims)
{
  who_lost_a_claim_waits_again("priority");
  who_lost_a_claim_waits_again("k8s");
}
