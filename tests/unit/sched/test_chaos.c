/*
 * Random events and a policy that asks for random things: whatever they do, no
 * device is held twice, no gang in part, and all comes back in the end; and a
 * copy goes the same way.
 *
 * OPENPAI_SEED begins with another number, OPENPAI_ROUNDS does more of it.
 */
#include "scene.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 8, MOST_PORTS = 10, MOST_IDS = 400 };

static const char *const clusters[] = {
  "skus:\n"
  "  big: {gpu: h, gpus: 8, near: {switch: 4}, cpus: 16, memory: 16G}\n"
  "  old: {gpu: v, gpus: 4, cpus: 8, memory: 8G}\n"
  "nodes:\n"
  "  - {name: \"a[1-2]\", sku: big, rack: a}\n"
  "  - {name: b1, sku: old, rack: b, pin: desk}\n"
  "  - {name: b2, sku: old, rack: b}\n"
  "virtualClusters:\n"
  "  l: {cells: {big: 1, old: 1}}\n"
  "  default: {cells: {big: 1, old: 1}}\n",

  "skus:\n"
  "  old: {gpu: v, gpus: 4, cpus: 8, memory: 8G}\n"
  "  big: {gpu: h, gpus: 8, near: {switch: 4}, cpus: 16, memory: 16G}\n"
  "nodes:\n"
  "  - {name: c1, sku: old, rack: b}\n"
  "  - {name: b1, sku: old, rack: b, pin: desk}\n"
  "  - {name: b2, sku: old, rack: b}\n"
  "  - {name: \"a[1-3]\", sku: big, rack: a}\n"
  "virtualClusters:\n"
  "  default: {cells: {big: 2, old: 1}}\n"
  "  l: {cells: {big: 1, old: 2}}\n",
};

static size_t claimed, decided[5]; /* by kind */

/* --- the policy ----------------------------------------------------------- */

static int open_chaos(void **state, void *data, const pai_policy_host *host,
                      const pai_cluster *cluster, const char *options)
{
  pai__prng *r = calloc(1, sizeof(*r));

  (void)data;
  (void)host;
  (void)cluster;
  (void)options;
  assert_non_null(r);
  r->state = 7;
  *state = r;
  return PAI_OK;
}

static void close_chaos(void *state)
{
  free(state);
}

static int clone_chaos(void **copy, const void *state, void *data,
                       const pai_policy_host *host)
{
  const pai__prng *from = state;

  (void)open_chaos(copy, data, host, NULL, NULL);
  *(pai__prng *)*copy = *from;
  return PAI_OK;
}

/* Any places at all, and now and then just what it wants. */
static size_t any_places(const pai_policy_host *host, pai__prng *r,
                         uint64_t id, pai_task_place *places, size_t most)
{
  pai_request_view q = { .struct_size = sizeof(q) };
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  size_t n = 0;

  assert_int_equal(host->view_request(host, id, &q), PAI_OK);
  assert_int_equal(host->view_sums(host, &sums), PAI_OK);
  for (uint32_t w = 0; w < q.wants; w++) {
    pai_want want = { .struct_size = sizeof(want) };

    assert_int_equal(host->view_want(host, id, w, &want), PAI_OK);
    for (uint32_t t = 0; t < want.tasks && n < most; t++, n++) {
      uint64_t gpus = ((UINT64_C(1) << want.gpus) - 1)
                      << pai__prng_below(r, 6);

      places[n] =
        (pai_task_place){ .struct_size = sizeof(*places),
                          .node = (uint32_t)pai__prng_below(r, sums.nodes + 1),
                          .gpus = gpus };
    }
  }
  return n;
}

static int do_something(const pai_policy_host *host, pai__prng *r, uint64_t id)
{
  pai_place how = { .struct_size = sizeof(how) };
  pai_reason why = { .struct_size = sizeof(why), .lack = PAI_LACK_POLICY };
  pai_task_place places[16];
  size_t n;
  int rc;

  how.strategy = (int)pai__prng_below(r, PAI_PLACE_SCORE + 1);
  switch (pai__prng_below(r, 8)) {
  case 0: return PAI_OK;
  case 1: return host->start_over(host, id, &how);
  case 2:
    n = any_places(host, r, id, places, PAI__LEN(places));
    return host->start_at(host, id, places, n);
  case 3:
  case 4:
    n = any_places(host, r, id, places, PAI__LEN(places));
    rc = host->claim_at(host, id, places, n);
    claimed += rc == 0;
    return rc;
  case 5: why.text = "no"; return host->refuse(host, id, &why);
  default: return host->start(host, id, &how);
  }
}

static int decide_chaos(void *state, void *data, const pai_policy_host *host)
{
  pai__prng *r = state;
  uint64_t id, next, running = 0;
  uint32_t instance = 0;
  int rc;

  (void)data;
  for (id = host->next_waiting(host, 0); id != 0; id = next) {
    next = host->next_waiting(host, id);
    rc = do_something(host, r, id);
    assert_true(rc >= 0 || rc == PAI_EINVAL || rc == PAI_EBUSY ||
                rc == PAI_ENOTFOUND || rc == PAI_EINTERNAL);
  }
  while (host->next_placed(host, &running, &instance)) {
    if (pai__prng_below(r, 40) == 0)
      (void)host->preempt(host, running, instance, 0);
    if (pai__prng_below(r, 3) == 0)
      (void)host->resize(host, running, instance,
                         (uint32_t)pai__prng_below(r, 2),
                         1 + (uint32_t)pai__prng_below(r, 3));
  }
  return PAI_OK;
}

static const pai_policy chaos = { .struct_size = sizeof(chaos),
                                  .version = PAI_POLICY_VERSION,
                                  .name = "chaos",
                                  .open = open_chaos,
                                  .close = close_chaos,
                                  .clone = clone_chaos,
                                  .decide = decide_chaos };

/* --- what must hold ------------------------------------------------------- */

typedef struct held {
  uint64_t gpus[NODES], cpus[NODES], memory[NODES];
  uint64_t ports[NODES]; /* bit i: 20000 + i */
  uint64_t used[2];      /* GPUs of each virtual cluster's guaranteed runs */
  uint32_t running;
} held;

static uint32_t ones(uint64_t x)
{
  uint32_t n = 0;

  for (; x != 0; x &= x - 1)
    n++;
  return n;
}

static void add_task(held *h, const pai_task_place *p, const pai_want *w)
{
  assert_true(p->node < NODES);
  assert_int_equal(ones(p->gpus), w->gpus);
  assert_true((h->gpus[p->node] & p->gpus) == 0);
  h->gpus[p->node] |= p->gpus;
  if (w->cpus != 0) {
    assert_int_equal(p->cpu_words, 1);
    assert_int_equal(ones(p->cpus[0]), w->cpus);
    assert_true((h->cpus[p->node] & p->cpus[0]) == 0);
    h->cpus[p->node] |= p->cpus[0];
  }
  h->memory[p->node] += w->memory;
  assert_int_equal(p->nports, w->ports);
  for (size_t i = 0; i < p->nports; i++) {
    uint64_t bit = UINT64_C(1) << (p->ports[i] - 20000);

    assert_in_range(p->ports[i], 20000, 20000 + MOST_PORTS - 1);
    assert_true((h->ports[p->node] & bit) == 0);
    h->ports[p->node] |= bit;
  }
}

/* All tasks of an instance: of each want as many as it may have. */
static void add_run(held *h, const pai_sched *s, const pai_request_view *q,
                    uint32_t instance)
{
  pai_task_place p = { .struct_size = sizeof(p) };
  uint32_t of_want[2] = { 0, 0 };

  for (uint32_t t = 0; pai_sched_task(s, q->id, instance, t, &p) == PAI_OK;
       t++) {
    pai_want w = { .struct_size = sizeof(w) };

    assert_true(p.want < q->wants);
    assert_int_equal(pai_sched_view_want(s, q->id, p.want, &w), PAI_OK);
    assert_int_equal(p.index, of_want[p.want]);
    of_want[p.want]++;
    add_task(h, &p, &w);
    if (q->priority >= 0 && strcmp(q->vc, "l") == 0)
      h->used[0] += w.gpus;
  }
  for (uint32_t i = 0; i < q->wants; i++) {
    pai_want w = { .struct_size = sizeof(w) };

    assert_int_equal(pai_sched_view_want(s, q->id, i, &w), PAI_OK);
    assert_in_range(of_want[i], w.min_tasks, w.tasks);
  }
  h->running++;
}

static void check(const pai_sched *s, held *h)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  memset(h, 0, sizeof(*h));
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;) {
    pai_request_view q = { .struct_size = sizeof(q) };
    uint32_t instance = PAI_SCHED_ALL;

    assert_int_equal(pai_sched_view_request(s, id, &q), PAI_OK);
    assert_true(q.at_once == 0 || q.running <= q.instances);
    while (pai_sched_next_running(s, id, &instance, NULL) == PAI_OK)
      add_run(h, s, &q, instance);
  }
  assert_int_equal(pai_sched_view_sums(s, &sums), PAI_OK);
  assert_int_equal(sums.running, h->running);
  for (size_t n = 0; n < sums.nodes; n++) {
    pai_sched_node_view v = { .struct_size = sizeof(v) };

    assert_int_equal(pai_sched_view_node(s, n, &v), PAI_OK);
    assert_true((v.free_mask & (h->gpus[n] | v.sick_mask)) == 0);
    assert_true(h->memory[n] <= v.memory);
    assert_true(v.free_memory + h->memory[n] <= v.memory);
    assert_true(v.free_cpus + ones(h->cpus[n]) <= v.cpus);
  }
  for (size_t i = 0; i < sums.virtual_clusters; i++) {
    pai_sched_vc_view v = { .struct_size = sizeof(v) };

    assert_int_equal(pai_sched_view_vc(s, i, &v), PAI_OK);
    /* What is claimed may be held by others, still. */
    assert_true(v.used + v.lent <= 2 * sums.gpus);
  }
}

/* --- events --------------------------------------------------------------- */

typedef struct world {
  pai_sched *s;
  pai__prng r;
  uint64_t ids;
  pai_time now;
  size_t taken, refused;
} world;

static uint32_t below(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->r, n);
}

/* An answer that tells of something broken is none. */
static void send(world *w, pai_sched_event e)
{
  int rc;

  e.struct_size = sizeof(e);
  e.time = w->now;
  rc = pai_sched_send(w->s, &e, NULL);
  assert_true(rc != PAI_ENOMEM && rc != PAI_EINTERNAL);
  w->taken += rc == PAI_OK;
  w->refused += rc < 0;
}

/* One of those that are there, or nearly any number. */
static uint64_t any_id(world *w)
{
  uint64_t id = 0;

  for (uint32_t i = below(w, 12); i > 0; i--)
    id = pai_sched_next(w->s, id);
  return id != 0 ? id : below(w, MOST_IDS);
}

static void submit(world *w)
{
  static const char *const vcs[] = { "l", NULL, "default", "x" };
  static const char *const within[] = { NULL, NULL, "node", "rack", "switch" };
  static const char *const types[] = { NULL, NULL, "h", "v", "big" };
  pai_after after = { any_id(w), 1 + (int)below(w, 3) };
  pai_want wants[2];
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++w->ids,
                    .vc = vcs[below(w, 20) != 0 ? below(w, 3) : 3],
                    .user = below(w, 2) != 0 ? "ann" : "bob",
                    .within = within[below(w, 5)],
                    .pin = below(w, 8) == 0 ? "desk" : NULL,
                    .priority = (int)below(w, 4) - 1,
                    .limit = below(w, 3) != 0 ? 0 : 1 + below(w, 60),
                    .instances = below(w, 4),
                    .at_once = below(w, 3),
                    .held = below(w, 10) == 0,
                    .wants = wants,
                    .nwants = 1 + below(w, 2),
                    .after = &after,
                    .nafter = below(w, 8) == 0 };

  for (size_t i = 0; i < 2; i++)
    wants[i] = (pai_want){ .struct_size = sizeof(pai_want),
                           .type = types[below(w, 5)],
                           .tasks = 1 + below(w, 3),
                           .gpus = below(w, 4),
                           .cpus = below(w, 4),
                           .ports = below(w, 3),
                           .memory = (uint64_t)below(w, 4) << 30 };
  for (size_t i = 0; i < 2; i++)
    wants[i].min_tasks = below(w, wants[i].tasks + 1);
  send(w, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q });
}

static void change(world *w)
{
  static const char *const keys[] = { "priority",  "held",  "limit", "at_once",
                                      "instances", "tasks", "gpus",  "cpus",
                                      "min_tasks", "after", "ports" };
  static const char *const texts[] = { "vc", "within", "pin", "type", "name" };
  static const char *const values[] = { "l", "node", "h", NULL, "desk" };
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE,
                        .id = any_id(w),
                        .want = below(w, 2) };

  if (below(w, 3) == 0) {
    e.key = texts[below(w, PAI__LEN(texts))];
    e.text = values[below(w, PAI__LEN(values))];
  } else {
    e.key = keys[below(w, PAI__LEN(keys))];
    e.number = (int64_t)below(w, 6) - 1;
  }
  send(w, e);
}

static void reserve(world *w)
{
  static const char *const nodes[] = { "a1", "b2" };
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = below(w, 2) != 0 ? "one" : "two",
                        .from = w->now + below(w, 20),
                        .vc = below(w, 3) == 0 ? "l" : NULL,
                        .user = below(w, 3) == 0 ? "ann" : NULL,
                        .nodes = below(w, 3) != 0 ? nodes : NULL,
                        .nnodes = 1 + below(w, 2) };

  r.to = r.from + 1 + below(w, 30);
  send(w, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r });
}

static void set_cluster(world *w)
{
  const char *text = clusters[below(w, PAI__LEN(clusters))];
  pai_cluster *c;

  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                   PAI_OK);
  if (below(w, 2) == 0)
    assert_int_equal(pai_cluster_set_sick(c, below(w, 4), -1, "dust"), PAI_OK);
  send(w, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  pai_cluster_free(c);
}

static const char *any_node(world *w)
{
  static const char *const names[] = { "a1", "a2", "a3", "b1", "b2", "c1" };

  return names[below(w, PAI__LEN(names))];
}

/* What happens to runs happens mostly, or they would all stand still. */
static void happen(world *w)
{
  static const int ends[] = { PAI_SCHED_STARTED, PAI_SCHED_FINISHED,
                              PAI_SCHED_RETURNED, PAI_SCHED_RESIZED };

  w->now += below(w, 3);
  switch (below(w, 24)) {
  case 0: reserve(w); break;
  case 1: set_cluster(w); break;
  case 2:
    send(w, (pai_sched_event){ .kind = PAI_SCHED_UNRESERVE, .text = "one" });
    break;
  case 3:
    send(w, (pai_sched_event){ .kind = PAI_SCHED_NODE,
                               .node = any_node(w),
                               .gpu = (int32_t)below(w, 5) - 1,
                               .number = below(w, 4) != 0 ? 0 : below(w, 3),
                               .text = "why" });
    break;
  case 4:
    send(w, (pai_sched_event){ .kind = PAI_SCHED_LOSE_PORT,
                               .node = any_node(w),
                               .number = 20000 + below(w, MOST_PORTS) });
    break;
  case 5: send(w, (pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS }); break;
  case 6:
    send(w, (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                               .id = any_id(w),
                               .instance = below(w, 2) != 0 ? PAI_SCHED_ALL
                                                            : below(w, 3) });
    break;
  case 7:
  case 8: change(w); break;
  case 9:
  case 10:
  case 11: submit(w); break;
  default:
    send(w, (pai_sched_event){ .kind = ends[below(w, PAI__LEN(ends))],
                               .id = any_id(w),
                               .instance = below(w, 3),
                               .number = below(w, 2) });
  }
}

/* --- the whole ------------------------------------------------------------ */

/* All that can be seen of it, in a number. */
static uint64_t look(const pai_sched *s)
{
  uint64_t h = 1;

#define MIX(x) (h = (h ^ (uint64_t)(x)) * UINT64_C(0x9e3779b97f4a7c15) + 1)
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;) {
    pai_reason why = { .struct_size = sizeof(why) };
    pai_task_place p = { .struct_size = sizeof(p) };
    uint32_t instance = PAI_SCHED_ALL;

    MIX(id);
    if (pai_sched_reason(s, id, &why) == PAI_OK) {
      MIX(why.lack);
      MIX(why.wanted);
      MIX(why.found);
    }
    while (pai_sched_next_running(s, id, &instance, NULL) == PAI_OK)
      for (uint32_t t = 0; pai_sched_task(s, id, instance, t, &p) == PAI_OK;
           t++) {
        MIX(p.node);
        MIX(p.gpus);
        for (size_t i = 0; i < p.nports; i++)
          MIX(p.ports[i]);
      }
  }
#undef MIX
  return h;
}

static uint64_t go_on(world *w, int events)
{
  pai_error *err = NULL;
  pai_decision decision = { .struct_size = sizeof(decision) };
  uint64_t seen = 0;
  held h;

  for (int i = 0; i < events; i++) {
    happen(w);
    check(w->s, &h);
    if (below(w, 2) == 0)
      continue;
    if (pai_sched_decide(w->s, w->now, &err) < 0)
      fail_msg("%s", pai_error_message(err));
    check(w->s, &h);
    for (size_t d = 0; pai_sched_decision(w->s, d, &decision) == PAI_OK; d++)
      decided[decision.kind]++;
    seen = seen * 31 + look(w->s);
  }
  return seen;
}

static void end_all(world *w)
{
  pai_sched_view v = { .struct_size = sizeof(v) };
  uint64_t id;
  held h;

  while ((id = pai_sched_next(w->s, 0)) != 0) {
    uint32_t instance = PAI_SCHED_ALL;

    send(w, (pai_sched_event){
              .kind = PAI_SCHED_CANCEL, .id = id, .instance = PAI_SCHED_ALL });
    while (pai_sched_next_running(w->s, id, &instance, NULL) == PAI_OK) {
      send(w, (pai_sched_event){
                .kind = PAI_SCHED_FINISHED, .id = id, .instance = instance });
      instance = PAI_SCHED_ALL;
    }
  }
  check(w->s, &h);
  assert_int_equal(pai_sched_view_sums(w->s, &v), PAI_OK);
  assert_int_equal(v.requests + v.waiting + v.running, 0);
  for (size_t n = 0; n < v.nodes; n++) {
    pai_sched_node_view node = { .struct_size = sizeof(node) };

    assert_int_equal(pai_sched_view_node(w->s, n, &node), PAI_OK);
    assert_int_equal(node.free_gpus + node.sick_gpus, node.gpus);
    assert_int_equal(node.free_cpus, node.cpus);
    assert_int_equal(node.free_memory, node.memory);
  }
  for (size_t i = 0; i < v.virtual_clusters; i++) {
    pai_sched_vc_view vc = { .struct_size = sizeof(vc) };

    assert_int_equal(pai_sched_view_vc(w->s, i, &vc), PAI_OK);
    assert_int_equal(vc.used + vc.lent, 0);
  }
}

static pai_sched *begin(void)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c;
  pai_sched *s;

  o.table = &chaos;
  o.first_port = 20000;
  o.last_port = 20000 + MOST_PORTS - 1;
  assert_int_equal(
    pai_cluster_parse(&c, clusters[0], strlen(clusters[0]), NULL, NULL),
    PAI_OK);
  assert_int_equal(pai_sched_new(&s, c, &o, NULL), PAI_OK);
  pai_cluster_free(c);
  return s;
}

static void one_round(uint64_t seed, size_t *taken, size_t *refused)
{
  world w = { .s = begin(), .r = { seed }, .now = 1 };

  (void)go_on(&w, 100);
  for (int i = 0; i < 8; i++) {
    world copy = w;
    uint64_t before = look(w.s), seen;

    assert_int_equal(pai_sched_fork(&copy.s, w.s, NULL), PAI_OK);
    seen = go_on(&copy, 25);
    assert_true(look(w.s) == before); /* unharmed */
    assert_true(go_on(&w, 25) == seen);
    pai_sched_free(copy.s);
  }
  end_all(&w);
  *taken += w.taken;
  *refused += w.refused;
  pai_sched_free(w.s);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);

  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void whatever_happens(void **state)
{
  uint64_t seed = number_of("OPENPAI_SEED", 1);
  uint64_t rounds = number_of("OPENPAI_ROUNDS", 60);
  size_t taken = 0, refused = 0;

  (void)state;
  for (uint64_t i = 0; i < rounds; i++) {
    print_message("seed %llu\r", (unsigned long long)(seed + i));
    one_round(seed + i, &taken, &refused);
  }
  print_message("%zu events taken, %zu refused\n", taken, refused);
  print_message("%zu starts, %zu stops, %zu times grown, %zu shrunk, %zu "
                "claims\n",
                decided[PAI_DECISION_START], decided[PAI_DECISION_STOP],
                decided[PAI_DECISION_GROW], decided[PAI_DECISION_SHRINK],
                claimed);
  assert_true(taken > 80 * rounds && refused > 20 * rounds);
  for (int kind = PAI_DECISION_START; kind <= PAI_DECISION_SHRINK; kind++)
    assert_true(decided[kind] > rounds / 4);
  assert_true(claimed > rounds / 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(whatever_happens),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
