/* Policy capacity: what is guaranteed, what is lent, and what is asked back. */
#include "scribe.h"

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

static int ask(pai_sched *s, uint64_t id, const char *vc, uint32_t tasks,
               uint32_t gpus, int priority)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .priority = priority, .wants = &want, .nwants = 1 },
    NULL);
}

static void give_back(pai_sched *s, uint64_t id)
{
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id },
                NULL),
    PAI_OK);
}

static void what_is_idle_is_lent_and_asked_back(void **state)
{
  pai_sched *s = shared(NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  for (uint64_t id = 1; id <= 5; id++)
    assert_int_equal(ask(s, id, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  assert_string_equal(scene_lack(s, 5), "gpu");
  /* The youngest goes first, and bob keeps what is his. */
  assert_int_equal(ask(s, 6, "ann", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 4 preempted");
  assert_int_equal(pai_sched_reason(s, 6, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_VICTIMS);
  assert_string_equal(scene_decide(s), "");
  give_back(s, 4);
  assert_string_equal(scene_decide(s), "start 6");
  assert_int_equal(ask(s, 7, "ann", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 8, "eve", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted, stop 2 preempted");
  give_back(s, 3);
  give_back(s, 2);
  assert_string_equal(scene_decide(s), "start 8, start 7");
  /* All have theirs: nobody is stopped for more. */
  assert_int_equal(ask(s, 9, "ann", 1, 4, 1000), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 9), "gpu");
  pai_sched_free(s);
}

static void who_uses_least_of_his_own_goes_first(void **state)
{
  pai_sched *s = shared(NULL);

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(ask(s, id, "eve", 1, 2, 0), PAI_OK);
  for (uint64_t id = 11; id <= 14; id++)
    assert_int_equal(ask(s, id, "ann", 1, 2, 0), PAI_OK);
  /* Of nothing the first in the cluster; 1/4 of ann's; then 2/4 of eve's,
   * equal to it; eve has all of hers before ann, and then ann is entitled. */
  assert_string_equal(scene_decide(s),
                      "start 11, start 1, start 12, start 13, start 2, "
                      "start 14, start 3, start 4");
  pai_sched_free(s);
}

/* A snapshot may have been changed by hand. */
static void options_of_a_snapshot_are_looked_at(void **state)
{
  pai_sched *s = shared("{\"queues\": {\"bob\": {\"max\": 8}}}"), *again;
  pai_error *err;
  pai__buf text;
  char *max;

  (void)state;
  scribe_save(s, &text);
  pai_sched_free(s);
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&text), text.len, NULL, NULL),
    PAI_OK);
  pai_sched_free(again);
  max = strstr(text.data, "\"max\":8");
  assert_non_null(max);
  memcpy(max, "\"mix\"", 5);
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&text), text.len, NULL, &err),
    PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "queue \"bob\" has \"mix\"");
  pai__buf_dispose(&text);
}

static void more_than_the_greatest_share_is_refused(void **state)
{
  pai_sched *s = shared("{\"queues\": {\"bob\": {\"max\": 8}}}");
  pai_sched_event less = { .kind = PAI_SCHED_POLICY,
                           .text = "capacity",
                           .options =
                             "{\"queues\": {\"bob\": {\"max\": 6}}}" };
  pai_want want = scene_want(2, 4);
  pai_request q = { .id = 9, .vc = "bob", .wants = &want, .nwants = 1 };
  pai_error *err;
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(ask(s, 1, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 2, "bob", 2, 4, 0), PAI_OK);
  assert_int_equal(scene_event(s, less, NULL), PAI_OK);
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM); /* at once */
  test_expect_error(
    err, PAI_ENOROOM,
    "it does not fit the cluster: it asks for 8 GPUs, and queue "
    "\"bob\" has at most 6");
  assert_int_equal(scene_change(s, 1, "tasks", 2), PAI_ENOROOM);
  assert_int_equal(scene_change(s, 2, "name", 0), PAI_OK); /* as it was */
  assert_int_equal(ask(s, 3, "bob", 1, 3, 0), PAI_OK);
  assert_int_equal(ask(s, 4, "bob", 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_reason(s, 2, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.wanted, 8);
  assert_int_equal(r.found, 6);
  assert_string_equal(r.text, "queue \"bob\" has at most 6 GPUs");
  assert_int_equal(pai_sched_reason(s, 3, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.found, 2);
  assert_int_equal(pai_sched_reason(s, 4, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_TURN);
  assert_int_equal(r.behind, 3);
  pai_sched_free(s);
  s = shared("{\"queues\": {\"bob\": {\"max\": 6}}, \"greedy\": true}");
  assert_int_equal(ask(s, 1, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 3, "bob", 1, 3, 0), PAI_OK);
  assert_int_equal(ask(s, 4, "bob", 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 4");
  pai_sched_free(s);
}

static void without_reclaim_nobody_is_stopped(void **state)
{
  pai_sched *s = shared("{\"reclaim\": false}");

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(ask(s, id, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  assert_int_equal(ask(s, 5, "ann", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 5), "preemption");
  assert_int_equal(ask(s, 6, "ann", 2, 4, 0), PAI_OK);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  pai_sched_free(s);
}

/* ann and bob are research, which has no more than what is theirs. */
static void queues_lend_to_those_beside_them(void **state)
{
  pai_sched *s =
    shared("{\"queues\": {\"research\": {\"guaranteed\": 12, \"max\": 12},"
           " \"ann\": {\"parent\": \"research\"},"
           " \"bob\": {\"parent\": \"research\", \"guaranteed\": \"25%\"},"
           " \"more\": {\"guaranteed\": 4},"
           " \"eve\": {\"parent\": \"more\", \"guaranteed\": \"100%\"}}}");

  (void)state;
  assert_non_null(s);
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(ask(s, id, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_string_equal(scene_lack(s, 4), "quota"); /* research has 12 */
  /* A node is free, but not for research. */
  assert_int_equal(ask(s, 5, "ann", 1, 3, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted");
  assert_string_equal(scene_lack(s, 5), "victims");
  assert_string_equal(scene_decide(s), "");
  give_back(s, 3);
  assert_string_equal(scene_decide(s), "start 5");
  assert_int_equal(ask(s, 6, "eve", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 6");
  pai_sched_free(s);
}

static void the_most_over_its_share_gives_first(void **state)
{
  pai_sched *s = shared(NULL);

  (void)state;
  assert_int_equal(ask(s, 1, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 2, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  for (uint64_t id = 3; id <= 6; id++)
    assert_int_equal(ask(s, id, "eve", 1, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 4, start 5, start 6");
  /* Both have twice theirs, of equals the first; then eve. */
  assert_int_equal(ask(s, 7, "ann", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  assert_int_equal(ask(s, 8, "ann", 1, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 6 preempted");
  pai_sched_free(s);
}

static void the_opportunistic_go_first_of_all(void **state)
{
  pai_sched *s = shared(NULL);

  (void)state;
  assert_int_equal(ask(s, 1, "ann", 1, 4, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_int_equal(ask(s, 2, "ann", 1, 4, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(ask(s, 3, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 4, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 4");
  assert_int_equal(ask(s, 5, "ann", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  give_back(s, 2);
  assert_string_equal(scene_decide(s), "start 5");
  /* More than is guaranteed, but before one's own opportunistic ones. */
  assert_int_equal(ask(s, 6, "ann", 2, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  give_back(s, 1);
  assert_string_equal(scene_decide(s), "start 6");
  assert_string_equal(scene_lack(s, 1), "gpu");
  pai_sched_free(s);
}

/* What opportunistic ones of a queue have is not counted against it. */
static void the_opportunistic_do_not_use_up_what_is_guaranteed(void **state)
{
  pai_sched *s = shared(NULL);

  (void)state;
  assert_int_equal(ask(s, 1, "ann", 1, 4, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  for (uint64_t id = 2; id <= 4; id++)
    assert_int_equal(ask(s, id, "bob", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 3, start 4");
  assert_int_equal(ask(s, 5, "ann", 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted, stop 4 preempted");
  pai_sched_free(s);
}

/* A node is lost: what others have of what is guaranteed to them they keep. */
static void nobody_is_stopped_who_has_no_more_than_his_own(void **state)
{
  pai_sched *s = shared(NULL);

  (void)state;
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                                  .node = "n4",
                                                  .gpu = -1,
                                                  .number = PAI_NODE_SICK },
                               NULL),
                   PAI_OK);
  assert_int_equal(ask(s, 1, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 2, "ann", 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 1");
  assert_int_equal(ask(s, 3, "eve", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 3), "preemption");
  pai_sched_free(s);
}

static void the_head_of_a_queue_does_not_stop_what_is_content(void **state)
{
  pai_sched *s = shared("{\"queues\": {\"bob\": {\"max\": 8}}}");

  (void)state;
  assert_int_equal(ask(s, 1, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 2, "ann", 3, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(ask(s, 3, "ann", 2, 4, 0), PAI_OK);
  assert_int_equal(ask(s, 4, "ann", 1, 1, 0), PAI_OK);
  assert_int_equal(ask(s, 5, "ann", 1, 1, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  assert_string_equal(scene_lack(s, 3), "gang");
  assert_string_equal(scene_lack(s, 4), "turn");
  pai_sched_free(s);
}

/* --- options that cannot be ------------------------------------------------ */

static void refused(const char *options, const char *why)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *cluster;
  pai_sched *s;
  pai_error *err = NULL;

  assert_int_equal(
    pai_cluster_parse(&cluster, SHARED, strlen(SHARED), NULL, NULL), PAI_OK);
  o.policy = "capacity";
  o.policy_options = options;
  assert_int_equal(pai_sched_new(&s, cluster, &o, &err), PAI_EINVAL);
  assert_null(s);
  test_expect_error(err, PAI_EINVAL, why);
  pai_cluster_free(cluster);
}

static void wrong_options_are_refused_by_name(void **state)
{
  (void)state;
  refused("{\"queues\": {\"zoe\": {\"guaranteed\": 1}}}",
          "there is no virtual cluster \"zoe\"");
  refused(
    "{\"queues\": {\"ann\": {\"guaranteed\": 9}}}",
    "queues below \"root\" are guaranteed 17 GPUs in sum, and it has 16");
  refused("{\"queues\": {\"lab\": {\"guaranteed\": 7},"
          " \"ann\": {\"parent\": \"lab\"}}}",
          "queues below \"lab\" are guaranteed 8 GPUs in sum, and it has 7");
  refused("{\"queues\": {\"a\": {\"parent\": \"b\"}, \"b\": {\"parent\": "
          "\"a\"}}}",
          "queue \"a\" is below itself");
  refused("{\"queues\": {\"ann\": {\"parent\": \"bob\"}}}",
          "which is a virtual cluster");
  refused("{\"queues\": {\"ann\": {\"parent\": \"lab\"}}}",
          "queue \"ann\" is below \"lab\", which is no queue");
  refused("{\"queues\": {\"ann\": {\"max\": 7}}}",
          "at most 7 GPUs, which is less than the 8");
  refused("{\"queues\": {\"ann\": {\"max\": 17}}}", "its parent \"root\"");
  refused("{\"queues\": {\"ann\": {\"guaranteed\": \"101%\"}}}",
          "\"guaranteed\" of queue \"ann\"");
  refused("{\"queues\": {\"ann\": {\"guaranteed\": -1}}}", "of queue \"ann\"");
  refused("{\"queues\": {\"ann\": {\"guaranteed\": \"1/2\"}}}",
          "of queue \"ann\"");
  refused("{\"queues\": {\"ann\": {\"share\": 1}}}", "has \"share\"");
  refused("{\"queues\": {\"ann\": 4}}", "queue \"ann\" is an object");
  refused("{\"queues\": [4]}", "\"queues\" is an object");
  refused("{\"queues\": {\"root\": {}}}", "is the whole cluster");
  refused("{\"queues\": {\"lab\": {}, \"ann\": {\"parent\": \"lab\","
          " \"guaranteed\": \"50%\"}}}",
          "depends on itself");
  refused("{\"reclaim\": 1}", "\"reclaim\" is true or false");
  refused("{\"recall\": true}", "no option \"recall\"");
}

/* --- a fork, a new cluster ------------------------------------------------- */

static void forks_and_new_clusters_keep_the_queues(void **state)
{
  pai_sched *s = shared("{\"queues\": {\"bob\": {\"guaranteed\": \"25%\","
                        " \"max\": \"50%\"}}}");
  pai_sched *fork;
  pai_cluster *cluster;
  pai_cluster_options co = PAI_CLUSTER_OPTIONS_INIT;
  static const char twice[] =
    "skus:\n"
    "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n"
    "nodes:\n"
    "  - {name: 'n[1-8]', sku: box}\n"
    "virtualClusters:\n"
    "  bob: {cells: {box: 2}}\n"
    "  zoe: {cells: {box: 1}}\n";

  (void)state;
  for (uint64_t id = 1; id <= 5; id++)
    assert_int_equal(ask(s, id, "bob", 1, 4, 0), PAI_OK);
  assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK);
  assert_string_equal(scene_decide(fork), "start 1, start 2");
  pai_sched_free(fork);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(
    pai_cluster_parse(&cluster, twice, strlen(twice), &co, NULL), PAI_OK);
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_CLUSTER,
                                                  .cluster = cluster },
                               NULL),
                   PAI_OK);
  pai_cluster_free(cluster);
  assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 4"); /* half of 32 */
  assert_string_equal(scene_decide(fork), "start 3, start 4");
  pai_sched_free(fork);
  pai_sched_free(s);
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

  assert_int_equal(pai_sched_view_vc(w->s, vc, &v), PAI_OK);
  return v.used + v.lent;
}

/* Of what holds places, by the tasks: each GPU once, and no VC too many. */
static void check_world(const world *w)
{
  uint64_t taken[4] = { 0 }, of_vc[VCS] = { 0 };
  pai_sched_node_view n = { .struct_size = sizeof(n) };
  pai_request_view v = { .struct_size = sizeof(v) };
  pai_task_place p = { .struct_size = sizeof(p) };

  for (uint64_t id = pai_sched_next(w->s, 0); id != 0;
       id = pai_sched_next(w->s, id)) {
    if (pai_sched_task(w->s, id, 0, 0, &p) != PAI_OK)
      continue;
    assert_int_equal(pai_sched_view_request(w->s, id, &v), PAI_OK);
    for (uint32_t t = 0; pai_sched_task(w->s, id, 0, t, &p) == PAI_OK; t++) {
      assert_true((taken[p.node] & p.gpus) == 0);
      taken[p.node] |= p.gpus;
      for (size_t i = 0; i < VCS; i++)
        of_vc[i] += strcmp(v.vc, vcs[i]) == 0
                      ? (uint64_t)__builtin_popcountll(p.gpus)
                      : 0;
    }
  }
  for (size_t i = 0; i < VCS; i++)
    if (of_vc[i] > w->max[i] || of_vc[i] > used_by(w, i))
      fail_msg("%s has %d of %d, and %d are counted", vcs[i], (int)of_vc[i],
               (int)w->max[i], (int)used_by(w, i));
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pai_sched_view_node(w->s, i, &n), PAI_OK);
    assert_true((n.free_mask & taken[i]) == 0);
  }
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
    give_back(w->s, stop[i]);
}

static void random_event(world *w, uint64_t ends)
{
  uint64_t id = w->next;

  if (pai__prng_below(&w->random, 100) < ends) {
    pai_task_place p = { .struct_size = sizeof(p) };

    id = pai__prng_below(&w->random, w->next) + 1;
    if (pai_sched_task(w->s, id, 0, 0, &p) == PAI_OK)
      assert_int_equal(scene_finish(w->s, id), PAI_OK);
    return;
  }
  (void)ask(w->s, id, vcs[pai__prng_below(&w->random, VCS)],
            1 + (uint32_t)pai__prng_below(&w->random, 3),
            (uint32_t)pai__prng_below(&w->random, 5),
            (int)pai__prng_below(&w->random, 4) - 1); /* or it is too much */
  w->next++;
}

static void nobody_is_ever_above_the_greatest_share(void **state)
{
  (void)state;
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
static void what_is_guaranteed_is_had_soon(void **state)
{
  static const uint64_t own[VCS] = { 8, 4, 4 };

  (void)state;
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
      assert_int_equal(ask(w.s, w.next++, vcs[vc], 1, 1, 1000), PAI_OK);
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

/* --- failing memory -------------------------------------------------------- */

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(SHARED, "capacity",
                           "{\"queues\": {\"lab\": {\"max\": \"75%\"}, "
                           "\"ann\": {\"parent\": \"lab\"}, \"bob\": "
                           "{\"parent\": \"lab\"}}}",
                           alloc);
  pai_sched *fork = NULL;
  int rc = PAI_OK;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  for (uint64_t id = 1; id <= 4 && rc == PAI_OK; id++)
    rc = ask(s, id, "bob", 1, 4, 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = ask(s, 5, "ann", 1, 4, 0);
  if (rc == PAI_OK)
    rc = ask(s, 6, "eve", 1, 4, 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0)
    rc = pai_sched_fork(&fork, s, NULL);
  if (rc == PAI_OK)
    assert_string_equal(scene_lack(fork, 5), "victims");
  if (rc < 0)
    assert_int_equal(rc, PAI_ENOMEM);
  pai_sched_free(fork);
  pai_sched_free(s);
  return rc;
}

static void failing_memory_leaves_it_usable(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_idle_is_lent_and_asked_back),
    cmocka_unit_test(who_uses_least_of_his_own_goes_first),
    cmocka_unit_test(options_of_a_snapshot_are_looked_at),
    cmocka_unit_test(more_than_the_greatest_share_is_refused),
    cmocka_unit_test(without_reclaim_nobody_is_stopped),
    cmocka_unit_test(queues_lend_to_those_beside_them),
    cmocka_unit_test(the_most_over_its_share_gives_first),
    cmocka_unit_test(the_opportunistic_go_first_of_all),
    cmocka_unit_test(the_opportunistic_do_not_use_up_what_is_guaranteed),
    cmocka_unit_test(nobody_is_stopped_who_has_no_more_than_his_own),
    cmocka_unit_test(the_head_of_a_queue_does_not_stop_what_is_content),
    cmocka_unit_test(wrong_options_are_refused_by_name),
    cmocka_unit_test(forks_and_new_clusters_keep_the_queues),
    cmocka_unit_test(nobody_is_ever_above_the_greatest_share),
    cmocka_unit_test(what_is_guaranteed_is_had_soon),
    cmocka_unit_test(failing_memory_leaves_it_usable),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
