/* Why something waits, and what would help: every change that is told works. */
#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"
#include "sched/remedy.h"

#include <stdio.h>
#include <stdlib.h>

static char said[8192];

static int keep(void *user_data, const char *bytes, size_t len)
{
  size_t *at = user_data;

  assert_true(*at + len < sizeof(said));
  memcpy(said + *at, bytes, len);
  *at += len;
  said[*at] = '\0';
  return PAI_OK;
}

static const char *explain(const pai_sched *s, uint64_t id, int format)
{
  size_t at = 0;

  assert_int_equal(pai_sched_explain(s, id, format, keep, &at, NULL), PAI_OK);
  return said;
}

/* The least importance with which it would go first, and no more. */
static void as_much_importance_is_told_as_is_needed(void **state)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:4", "priority", "{\"preempt\":false}", NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_change(s, 2, "priority", 3), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_non_null(strstr(explain(s, 3, 0),
                         "It would start now if it had priority 4, or if "
                         "request 2 was held."));
  pai_sched_free(s);
}

/* Where no one change is enough, nothing is said of how small it is. */
static void several_changes_are_told_as_what_they_are(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 2, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_non_null(strstr(explain(s, 3, 0),
                         "had finished (these changes work together; others "
                         "may be smaller)."));
  pai_sched_free(s);
}

static void a_paragraph_tells_why_and_what_would_help(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 4, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(
    explain(s, 3, 0),
    "Request 3 waits: no node has 4 GPUs free for it; node0002 comes nearest, "
    "with 2 GPUs. Of 2 nodes, 2 have too few free GPUs. It "
    "would start now if a task asked for 2 GPUs, or if request 2 had "
    "finished.\n");
  assert_string_equal(
    explain(s, 4, 0),
    "Request 4 waits: it is not its turn: request 3 goes first. It would "
    "start now if request 3 was held.\n");
  assert_string_equal(explain(s, 1, 0), "Request 1 does not wait.\n");
  pai_sched_free(s);
}

static void shares_of_a_policys_own_are_told_as_such(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", "fair",
                           "{\"user_max_gpus\": 5}", NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_non_null(strstr(explain(s, 2, 0),
                         "Request 2 waits: a user has at most 5 GPUs at a "
                         "time: it asks for 2 and 1 may be had. It would "
                         "start now if a task asked for 1 GPU"));
  pai_sched_free(s);
}

static void what_is_held_is_told_so(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_change(s, 1, "held", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(explain(s, 1, 0),
                      "Request 1 waits: it is held until it is released. It "
                      "would start now if it was released.\n");
  pai_sched_free(s);
}

/* Of an array that is cancelled, with what waits of it. */
static void what_is_cancelled_does_not_wait(void **state)
{
  for (size_t i = 0; pai_policy_builtin(i) != NULL; i++) {
    pai_sched *s =
      scene_new("nodes:1 gpu:4", pai_policy_builtin(i)->name, NULL, NULL);
    pai_want want = scene_want(1, 3);
    pai_request q = { .id = 1, .wants = &want, .nwants = 1, .instances = 4 };
    pai_request_view view = { .struct_size = sizeof(view) };
    pai_reason reason = { .struct_size = sizeof(reason) };
    pai_sched_event cancel = { .kind = PAI_SCHED_CANCEL,
                               .id = 1,
                               .instance = PAI_SCHED_ALL };

    (void)state;
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(scene_event(s, cancel, NULL), PAI_OK);
    assert_string_equal(explain(s, 1, 0), "Request 1 does not wait.\n");
    assert_string_equal(explain(s, 1, PAI_FORMAT_JSON), "{\"id\":1}\n");
    assert_int_equal(pai_sched_reason(s, 1, &reason), PAI_ENOTFOUND);
    assert_int_equal(pai_sched_view_request(s, 1, &view), PAI_OK);
    assert_int_equal(view.state, PAI_REQUEST_STOPPING);
    assert_int_equal(view.waiting, 0);
    pai_sched_free(s);
  }
}

/* Its place is chosen, and those who are there have not stopped yet. */
static void who_has_claimed_a_place_waits_for_it(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", "priority", NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_change(s, 2, "priority", 5), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: those that make room for it have not "
                      "stopped yet. It would start now if request 1 had "
                      "finished.\n");
  pai_sched_free(s);
}

static void what_is_not_considered_any_more_has_no_counts(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_GPU), 2);
  assert_int_equal(scene_change(s, 2, "held", 1), PAI_OK);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_GPU), 0);
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: it is held until it is released. It "
                      "would start now if it was released.\n");
  pai_sched_free(s);
}

static void what_starts_with_the_next_decision_is_told_so(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_string_equal(explain(s, 1, 0),
                      "Request 1 waits: nobody has considered it yet. It "
                      "starts at the next decision.\n");
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(explain(s, 2, 0),
                      "Request 2 waits: something has changed since it was "
                      "considered, and it starts at the next decision.\n");
  assert_non_null(strstr(explain(s, 2, PAI_FORMAT_JSON), "\"starts\":true"));
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

static void plans_and_instances_are_told(void **state)
{
  pai_sched *s = scene_new("nodes:3 gpu:4", "backfill", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request sweep = {
    .id = 1, .duration = 90000000, .instances = 3, .wants = &want, .nwants = 1
  };

  (void)state;
  assert_int_equal(scene_request(s, &sweep, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 3, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 1.1, start 1.2");
  assert_non_null(
    strstr(explain(s, 2, 0),
           " As planned, it starts in 90 seconds. It would start now if "
           "instance 0 of request 1, instance 2 of request 1 and instance 1 "
           "of request 1 had finished (these changes work together; "
           "others may be smaller)."));
  pai_sched_free(s);
}

static void who_would_delay_others_may_be_short(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "backfill", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = {
    .id = 1, .duration = 90000000, .wants = &want, .nwants = 1
  };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 4), PAI_OK);
  q.id = 3;
  q.duration = 91000000;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_non_null(
    strstr(explain(s, 3, 0), "it would delay what is planned before it."));
  assert_non_null(strstr(explain(s, 3, 0),
                         "It would start now if it was limited to 90 "
                         "seconds"));
  pai_sched_free(s);
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
  assert_int_equal(pai_sched_view_node(w->s, node, &v), PAI_OK);
  e.node = v.name;
  e.number = below(w, 3) == 0 ? PAI_NODE_DRAIN : PAI_NODE_UP;
  if (below(w, 3) == 0) {
    e.gpu = (int32_t)below(w, v.gpus);
    e.number = below(w, 2) ? PAI_NODE_SICK : PAI_NODE_UP;
  }
  assert_int_equal(scene_event(w->s, e, NULL), PAI_OK);
}

static bool starts_with(const world *w, uint64_t id, const pai__remedy *m)
{
  pai_decision d = { .struct_size = sizeof(d) };
  pai_sched *fork;
  bool starts = false;
  int n;

  assert_int_equal(pai_sched_fork(&fork, w->s, NULL), PAI_OK);
  for (uint32_t i = 0; i < m->n; i++)
    assert_int_equal(pai_sched_send(fork, &m->list[i], NULL), PAI_OK);
  n = pai_sched_decide(fork, scene_now(fork), NULL);
  for (int i = 0; i < n; i++) {
    assert_int_equal(pai_sched_decision(fork, (size_t)i, &d), PAI_OK);
    starts |= d.kind == PAI_DECISION_START && d.id == id;
  }
  pai_sched_free(fork);
  return starts;
}

static void check_all(world *w)
{
  pai__remedy *m = malloc(sizeof(*m));

  assert_non_null(m);
  for (uint64_t id = pai_sched_next(w->s, 0); id != 0;
       id = pai_sched_next(w->s, id)) {
    bool helped = false;

    if (scene_lack(w->s, id)[0] == '\0')
      continue;
    for (int side = PAI__REMEDY_OWN; side <= PAI__REMEDY_OTHERS; side++) {
      assert_int_equal(
        pai__remedy_find(w->s, id, (enum pai__remedy_side)side, m, NULL),
        PAI_OK);
      if (m->n == 0)
        continue;
      helped = true;
      assert_true(starts_with(w, id, m));
    }
    if (!helped && getenv("TELL") != NULL)
      print_message("%s", explain(w->s, id, 0));
    w->waiting++;
    w->helped += helped;
    (void)explain(w->s, id, PAI_FORMAT_JSON);
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

static void each_change_that_is_told_works(void **state)
{
  world w = { .random = { 1 } };

  (void)state;
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

  assert_int_equal(pai_sched_fork(&fork, w->s, NULL), PAI_OK);
  e.struct_size = sizeof(e);
  e.time = scene_now(fork);
  if (pai_sched_send(fork, &e, NULL) == PAI_OK) {
    n = pai_sched_decide(fork, e.time, NULL);
    for (int i = 0; i < n; i++) {
      assert_int_equal(pai_sched_decision(fork, (size_t)i, &d), PAI_OK);
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
         : strcmp(key, "cpus") == 0   ? x->cpus
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
  pai__remedy *m = malloc(sizeof(*m));

  assert_non_null(m);
  for (uint64_t id = pai_sched_next(w->s, 0); id != 0;
       id = pai_sched_next(w->s, id)) {
    if (scene_lack(w->s, id)[0] == '\0')
      continue;
    for (int side = PAI__REMEDY_OWN; side <= PAI__REMEDY_OTHERS; side++) {
      bool single = side == PAI__REMEDY_OWN ? has_own_single(w, id)
                                            : has_other_single(w, id);

      assert_int_equal(
        pai__remedy_find(w->s, id, (enum pai__remedy_side)side, m, NULL),
        PAI_OK);
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

static void the_smallest_change_is_told(void **state)
{
  world w = { .random = { 5 } };

  (void)state;
  /* Each policy on each cluster. */
  for (unsigned round = 0; round < 30; round++)
    play(&w, round, check_singles);
  print_message("%u of %u\n", w.helped, w.waiting);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:h100 cpus:8", NULL, NULL, alloc);
  size_t at = 0;
  int rc = PAI_ENOMEM;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  if (scene_submit(s, 1, 1, 3) == PAI_OK &&
      scene_submit(s, 2, 1, 4) == PAI_OK &&
      scene_submit(s, 3, 1, 4) == PAI_OK && pai_sched_decide(s, 0, NULL) >= 0)
    rc = pai_sched_explain(s, 3, PAI_FORMAT_JSON, keep, &at, NULL);
  pai_sched_free(s);
  return rc;
}

static void failing_memory_is_told(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_paragraph_tells_why_and_what_would_help),
    cmocka_unit_test(shares_of_a_policys_own_are_told_as_such),
    cmocka_unit_test(what_is_held_is_told_so),
    cmocka_unit_test(what_is_cancelled_does_not_wait),
    cmocka_unit_test(who_has_claimed_a_place_waits_for_it),
    cmocka_unit_test(what_is_not_considered_any_more_has_no_counts),
    cmocka_unit_test(what_starts_with_the_next_decision_is_told_so),
    cmocka_unit_test(plans_and_instances_are_told),
    cmocka_unit_test(who_would_delay_others_may_be_short),
    cmocka_unit_test(each_change_that_is_told_works),
    cmocka_unit_test(the_smallest_change_is_told),
    cmocka_unit_test(as_much_importance_is_told_as_is_needed),
    cmocka_unit_test(several_changes_are_told_as_what_they_are),
    cmocka_unit_test(failing_memory_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
