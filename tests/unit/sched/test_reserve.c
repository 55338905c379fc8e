/*
 * Nobody waits for ever: a request that needs the whole cluster starts though
 * small ones come without end, under each policy and within a bound.
 */
#include "scene.h"

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
  assert_int_equal(scene_request(w->s, &q, NULL), PAI_OK);
}

static void end_some(world *w)
{
  for (uint64_t id = 2; id <= w->ids; id++) {
    if (w->ends[id] == 0 || w->ends[id] > w->now)
      continue;
    assert_int_equal(scene_finish(w->s, id), PAI_OK);
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
    assert_int_equal(pai_sched_decision(w->s, (size_t)i, &all[i]), PAI_OK);
  }
  for (int i = 0; i < n; i++) {
    uint64_t id = all[i].id;

    if (all[i].kind == PAI_DECISION_STOP) {
      assert_int_equal(
        scene_event(w->s,
                    (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id },
                    NULL),
        PAI_OK);
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
    assert_int_equal(
      scene_event(w->s,
                  (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = w->now },
                  NULL),
      PAI_OK);
    end_some(w);
    while (w->wanted < NODES * GPUS)
      submit_small(w);
    if (h == LONGEST)
      assert_int_equal(scene_request(w->s, large, NULL), PAI_OK);
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

static void who_is_old_gets_nodes(void **state)
{
  (void)state;
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
static void hived_does_so_if_it_is_told_to(void **state)
{
  (void)state;
  assert_int_equal(play("hived", "{}", 0), -1);
  assert_in_range(play("hived", "{\"reserve_after\":86400}", 0), 1,
                  24 + LONGEST);
}

/* More important requests go first all the same, where importance counts. */
static void importance_goes_before_age(void **state)
{
  (void)state;
  assert_int_equal(play("priority", NULL, 1), -1);
  assert_int_equal(play("k8s", NULL, 1), -1);
  assert_in_range(play("fair", NULL, 1), 1, 168 + LONGEST);
}

static const char halves[] =
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: \"n[1-2]\", sku: box}]\n"
  "virtualClusters:\n"
  "  default: {part: rest}\n"
  "  left: {part: 50%}\n";

static const char lent[] =
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: \"n[1-2]\", sku: box}]\n"
  "virtualClusters:\n"
  "  default: {part: rest}\n"
  "  left: {part: 50%}\n"
  "  right: {part: 25%, max: 100%}\n";

static void submit_to(pai_sched *s, uint64_t id, const char *vc, uint32_t gpus)
{
  pai_want want = scene_want(1, gpus);

  assert_int_equal(
    scene_request(
      s, &(pai_request){ .id = id, .vc = vc, .wants = &want, .nwants = 1 },
      NULL),
    PAI_OK);
}

/* A part is a number of GPUs, and a request may need them on one node: small
 * ones that come later do not take what becomes free there. */
static void a_part_is_found_on_one_node(void **state)
{
  pai_sched *s = scene_new(halves, "fifo", "{\"place\":\"spread\"}", NULL);

  (void)state;
  assert_non_null(s);
  for (uint64_t i = 1; i <= 4; i++)
    submit_to(s, i, "default", 2);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  submit_to(s, 5, "left", 8);
  assert_string_equal(scene_decide(s), "");
  /* One of its two ends, a new one comes, and then the other ends. */
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  submit_to(s, 6, "default", 2);
  assert_string_equal(scene_decide(s), "start 6");
  assert_string_equal(scene_places(s, 6, 0), "1:30");
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  pai_sched_free(s);
}

static void submit_long(pai_sched *s, uint64_t id, const char *vc,
                        uint32_t gpus, pai_time hours)
{
  pai_want want = scene_want(1, gpus);

  assert_int_equal(scene_request(s,
                                 &(pai_request){ .id = id,
                                                 .vc = vc,
                                                 .duration = hours * HOUR,
                                                 .wants = &want,
                                                 .nwants = 1 },
                                 NULL),
                   PAI_OK);
}

/* 1 and 2 are guaranteed and have half of a node each; 3 has borrowed the other
 * half beside 1, for long.  It can be stopped: so the node of 1, which ends
 * first, is kept for 4, and 5 does not take what becomes free there. */
static void find_whole_node(const char *policy)
{
  pai_sched *s = scene_new(lent, policy, "{\"place\":\"spread\"}", NULL);

  assert_non_null(s);
  submit_long(s, 1, "default", 4, 1);
  submit_long(s, 2, "right", 4, 2);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  submit_long(s, 3, "right", 4, 10);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 3, 0), "0:f0");
  submit_long(s, 4, "left", 8, 1);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  submit_long(s, 5, "default", 4, 10);
  assert_string_equal(scene_decide(s), "start 5, stop 3 preempted");
  assert_string_equal(scene_places(s, 5, 0), "1:f0");
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  pai_sched_free(s);
}

static void whole_nodes_are_made_of_what_is_borrowed(void **state)
{
  static const char *const all[] = { "fifo", "priority", "fair", "k8s" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(all); i++)
    find_whole_node(all[i]);
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
static void the_choice_of_nodes_is_steady(void **state)
{
  static const char *const all[] = { "fifo", "backfill", "priority", "fair",
                                     "k8s" };
  static world w;
  pai_want half = scene_want(NODES / 2, GPUS);
  pai_request large = {
    .id = LARGE, .vc = "owner", .wants = &half, .nwants = 1
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(all); i++)
    for (uint64_t seed = 1; seed <= 60; seed++) {
      w = (world){ .random = { seed }, .vc = "other" };
      assert_in_range(play_world(&w, borrowed, all[i], NULL, &large), 0,
                      3 * LONGEST);
    }
}

/* One runs, a large one waits, and becomes old. */
static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s =
    scene_new(cluster, "priority", "{\"reserve_after\":60}", alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  (void)user_data;
  for (uint64_t id = 1; rc >= 0 && id <= 3; id++) {
    pai_time now = (pai_time)id * 61 * 1000000;

    rc = scene_submit(s, id, id == 2 ? NODES : 1, GPUS);
    if (rc == PAI_OK)
      rc = scene_event(
        s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = now }, NULL);
    if (rc == PAI_OK)
      rc = pai_sched_decide(s, now, NULL);
  }
  if (rc >= 0) {
    assert_int_equal(rc, 0);
    assert_string_equal(scene_lack(s, 3), "reservation");
  }
  pai_sched_free(s);
  return rc < 0 ? rc : PAI_OK;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(who_is_old_gets_nodes),
    cmocka_unit_test(hived_does_so_if_it_is_told_to),
    cmocka_unit_test(importance_goes_before_age),
    cmocka_unit_test(a_part_is_found_on_one_node),
    cmocka_unit_test(whole_nodes_are_made_of_what_is_borrowed),
    cmocka_unit_test(the_choice_of_nodes_is_steady),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
