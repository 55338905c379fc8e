/*
 * Shelves of equal nodes are a short cut: whoever goes the long way, and asks
 * each node, decides the same and tells the same reasons.
 */
#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"
#include "sched/shelf.h"

#include <stdio.h>

enum { STEPS = 400, NODES = 24 };

static const char *const clusters[] = {
  "skus:\n"
  "  box: {gpu: t4, gpus: 8}\n"
  "nodes:\n"
  "  - {name: \"n[01-24]\", sku: box}\n",

  "skus:\n"
  "  near: {gpu: h, gpus: 8, near: {switch: 4}, cpus: 16, memory: 16G}\n"
  "  old: {gpu: v, gpus: 4, cpus: 8, memory: 8G}\n"
  "nodes:\n"
  "  - {name: \"n[01-10]\", sku: near, rack: a}\n"
  "  - {name: \"n[11-15]\", sku: old, rack: b}\n"
  "  - {name: n16, sku: old, rack: b, pin: desk}\n"
  "  - {name: \"n[17-24]\", sku: near, rack: b}\n",
};

static const char *const policies[][2] = {
  { "fifo", "{\"greedy\":true,\"place\":\"pack\"}" },
  { "fifo", "{\"greedy\":true,\"place\":\"spread\"}" },
  { "fifo", "{\"greedy\":true,\"place\":\"topo\"}" },
  { "fifo", "{\"place\":\"first\"}" },
  { "fifo", "{\"greedy\":true,\"place\":\"score\"}" },
  { "priority", NULL },
  { "backfill", NULL },
};

typedef struct pair {
  pai_sched *quick, *slow;
  pai__prng random;
  uint64_t ids;
  size_t refused; /* with a reason */
} pair;

static pai_sched *make(const char *text, const char *const *policy)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *cluster;
  pai_sched *s;

  o.policy = policy[0];
  o.policy_options = policy[1];
  assert_int_equal(pai_cluster_parse(&cluster, text, strlen(text), NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_sched_new(&s, cluster, &o, NULL), PAI_OK);
  pai_cluster_free(cluster);
  return s;
}

static void tell_both(pair *p, pai_sched_event e)
{
  int rc = scene_event(p->quick, e, NULL);

  assert_int_equal(scene_event(p->slow, e, NULL), rc);
}

static uint32_t below(pair *p, uint32_t n)
{
  return (uint32_t)pai__prng_below(&p->random, n);
}

static void submit(pair *p)
{
  static const char *const within[] = { NULL, NULL, NULL, "node", "rack" };
  pai_want want =
    scene_want(1 + below(p, below(p, 4) == 0 ? 12 : 2), below(p, 9));
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++p->ids,
                    .wants = &want,
                    .nwants = 1,
                    .priority = (int)below(p, 3),
                    .duration = (1 + below(p, 5)) * 100,
                    .within = within[below(p, PAI__LEN(within))] };

  want.cpus = below(p, 3);
  want.memory = (uint64_t)below(p, 2) << 30;
  want.ports = below(p, 2);
  tell_both(p, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q });
}

static void disturb(pair *p)
{
  char name[8];
  const char *const nodes[] = { name };
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = name,
                        .from = scene_now(p->quick),
                        .to = scene_now(p->quick) + 300,
                        .nodes = nodes,
                        .nnodes = 1 };
  pai_sched_event e = { .kind = PAI_SCHED_NODE, .node = name, .gpu = -1 };

  (void)snprintf(name, sizeof(name), "n%02u", 1 + below(p, NODES));
  e.number = below(p, 3) == 0 ? PAI_NODE_SICK : PAI_NODE_UP;
  switch (below(p, 4)) {
  case 0: e.gpu = (int32_t)below(p, 4); break;
  case 1:
    e = (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r };
    break;
  case 2:
    e = (pai_sched_event){ .kind = PAI_SCHED_LOSE_PORT,
                           .node = name,
                           .number = 15000 + below(p, 9) };
    break;
  default: break;
  }
  tell_both(p, e);
}

static void end_some(pair *p)
{
  uint64_t id = p->ids != 0 ? 1 + below(p, (uint32_t)p->ids) : 1;

  tell_both(p, (pai_sched_event){ .kind = PAI_SCHED_FINISHED, .id = id });
}

static int keep(void *buf, const char *bytes, size_t len)
{
  pai__buf_add(buf, bytes, len);
  return PAI_OK;
}

static void write_all(pai_sched *s, int n, pai__buf *out)
{
  pai__buf_clear(out);
  for (int i = 0; i < n; i++)
    assert_int_equal(pai_sched_write_decision(s, (size_t)i, keep, out, NULL),
                     PAI_OK);
  assert_int_equal(pai_sched_save(s, keep, out, NULL), PAI_OK);
}

/* Snapshots have the reasons. */
static void decide_both(pair *p)
{
  pai__buf quick, slow;
  pai_time now = scene_now(p->quick) + 10;
  int n = pai_sched_decide(p->quick, now, NULL);
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  assert_true(n >= 0);
  assert_int_equal(pai_sched_decide(p->slow, now, NULL), n);
  pai__buf_init(&quick, pai__alloc_or_libc(NULL));
  pai__buf_init(&slow, pai__alloc_or_libc(NULL));
  write_all(p->quick, n, &quick);
  write_all(p->slow, n, &slow);
  assert_string_equal(pai__buf_text(&quick), pai__buf_text(&slow));
  pai__buf_dispose(&quick);
  pai__buf_dispose(&slow);
  assert_int_equal(pai_sched_view_sums(p->quick, &sums), PAI_OK);
  p->refused += sums.waiting;
}

static void drive(const char *cluster, const char *const *policy,
                  uint64_t seed)
{
  pair p = { .quick = make(cluster, policy),
             .slow = make(cluster, policy),
             .random = { seed } };

  p.slow->shelves.away = 1;
  for (int i = 0; i < STEPS; i++) {
    switch (below(&p, 10)) {
    case 0: disturb(&p); break;
    case 1:
    case 2:
    case 3: end_some(&p); break;
    default: submit(&p); break;
    }
    decide_both(&p);
  }
  assert_true(p.quick->shelves.built);
  assert_true(p.refused > STEPS);
  pai_sched_free(p.quick);
  pai_sched_free(p.slow);
}

static void decide_alike(void **state)
{
  (void)state;
  for (size_t c = 0; c < PAI__LEN(clusters); c++)
    for (size_t i = 0; i < PAI__LEN(policies); i++)
      drive(clusters[c], policies[i], 1 + c);
}

/* What is on the shelves is what there is. */
static void count_all_nodes(void **state)
{
  static const char *const fifo[] = { "fifo", NULL };
  pai_sched *s = make(clusters[0], fifo);
  uint32_t n = 0;

  (void)state;
  assert_int_equal(scene_submit(s, 1, 3, 5), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_true(pai__shelves_ready(s));
  for (uint32_t i = s->shelves.first; i != PAI__NONE;
       i = pai__shelf_at(s, i)->next)
    n += pai__shelf_at(s, i)->count;
  assert_int_equal(n, NODES);
  assert_int_equal(s->shelves.live, 2);
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(decide_alike),
    cmocka_unit_test(count_all_nodes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
