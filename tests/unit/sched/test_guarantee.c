/*
 * A virtual cluster with a part of the whole gets it, also when others have
 * borrowed it: whatever comes, nobody who keeps to his part waits for what is
 * borrowed, under each policy that asks back; and nobody is stopped for others
 * who has what he is guaranteed.
 *
 * OPENPAI_SEED begins with another number.
 */
#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

/* One node, so that what is free is one place: 16 GPUs, of which left and right
 * are guaranteed 4 each, and default 8. */
static const char box[] =
  "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: n1, sku: box}]\n"
  "virtualClusters:\n"
  "  default: {part: rest}\n"
  "  left: {part: 25%, max: 100%}\n"
  "  right: {part: 25%, max: 100%}\n";

/* Three nodes, of which left owns two. */
static const char cells[] =
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: \"n[1-3]\", sku: box}]\n"
  "virtualClusters:\n"
  "  left: {cells: {box: 2}}\n"
  "  right: {cells: {box: 1}}\n";

static int submit(pai_sched *s, uint64_t id, const char *vc, uint32_t gpus,
                  int priority)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .priority = priority, .wants = &want, .nwants = 1 },
    NULL);
}

static int returned(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

/* --- two that would stop each other --------------------------------------- */

/* One node with GPUs of two kinds, of which `left` has a half of each. */
static const char two_kinds[] =
  "skus: {mixed: {gpu: {v: 2, t: 2}, cpus: 8, memory: 8G}}\n"
  "nodes: [{name: n1, sku: mixed}]\n"
  "virtualClusters: {left: {part: 50%, max: 100%}, default: {part: rest}}\n";

/* All that was decided is done at once; the number of decisions. */
static int obey(pai_sched *s)
{
  pai_decision all[8] = { { 0 } };
  int n = pai_sched_decide(s, scene_now(s), NULL);

  assert_in_range(n, 0, (int)PAI__LEN(all));
  for (int i = 0; i < n; i++) {
    all[i].struct_size = sizeof(all[i]);
    assert_int_equal(pai_sched_decision(s, (size_t)i, &all[i]), PAI_OK);
  }
  for (int i = 0; i < n; i++)
    assert_int_equal(
      scene_event(s,
                  (pai_sched_event){ .kind = all[i].kind == PAI_DECISION_START
                                               ? PAI_SCHED_STARTED
                                               : PAI_SCHED_RETURNED,
                                     .id = all[i].id },
                  NULL),
      PAI_OK);
  return n;
}

/* 1 keeps to the part; 2 is more important, and has to borrow. */
static void two_do_not_stop_each_other_for_ever(void **state)
{
  static const char *const policies[] = { "priority", "k8s" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies) * 2; i++) {
    pai_sched *s = scene_new(two_kinds, policies[i / 2], NULL, NULL);
    pai_want small = scene_want(1, 1);
    pai_want large[] = { scene_want(1, 2), scene_want(1, 2) };
    pai_request one = { .id = 1, .vc = "left", .wants = &small, .nwants = 1 };
    pai_request two = {
      .id = 2, .vc = "left", .priority = 9, .wants = large, .nwants = 2
    };
    int n = 0;

    large[1].type = "t";
    large[0].type = "v";
    assert_non_null(s);
    assert_int_equal(scene_request(s, i % 2 ? &two : &one, NULL), PAI_OK);
    assert_int_equal(obey(s), 1);
    assert_int_equal(scene_request(s, i % 2 ? &one : &two, NULL), PAI_OK);
    while (obey(s) != 0)
      assert_true(++n < 8);
    /* The part is for who keeps to it, and who borrows waits. */
    assert_string_equal(scene_lack(s, 1), "");
    assert_string_not_equal(scene_lack(s, 2), "");
    assert_int_equal(scene_finish(s, 1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    pai_sched_free(s);
  }
}

/* Who is guaranteed himself goes before those who are less important. */
static void who_keeps_to_the_part_goes_by_importance(void **state)
{
  pai_sched *s = scene_new(two_kinds, "priority", NULL, NULL);
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = 1, .vc = "left", .wants = &want, .nwants = 1 };

  (void)state;
  want.type = "v";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  q.id = 2;
  q.vc = "default";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(obey(s), 2);
  q.id = 3;
  q.vc = "left";
  q.priority = 9;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  pai_sched_free(s);
}

/* --- one after the other -------------------------------------------------- */

static const char *const asking[] = { "fifo", "backfill", "priority", "fair",
                                      "k8s" };

static void what_is_borrowed_is_asked_back(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 4, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "left", 6, 0), PAI_OK);
    assert_int_equal(submit(s, 3, "left", 6, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
    assert_int_equal(submit(s, 4, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 3 preempted");
    assert_string_equal(scene_lack(s, 4), "victims");
    /* It stops once, and nobody gets its place before. */
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(returned(s, 3), PAI_OK);
    assert_string_equal(scene_decide(s), "start 4");
    /* What is left is no place for 3, and it has nothing to ask back. */
    assert_string_equal(scene_decide(s), "");
    /* Beyond a part importance decides, as far as the policy goes by that. */
    assert_int_equal(submit(s, 5, "right", 4, 100), PAI_OK);
    assert_string_equal(scene_decide(s), strcmp(asking[i], "priority") == 0 ||
                                             strcmp(asking[i], "k8s") == 0
                                           ? "stop 4 preempted"
                                           : "");
    pai_sched_free(s);
  }
}

/* Where virtual clusters own cells, opportunistic requests have what others
 * leave: who keeps to its cells does not wait for them. */
static void opportunistic_requests_leave_cells(void **state)
{
  static const char *const policies[] = { "fifo", "backfill", "fair",
                                          "priority", "k8s" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_sched *s = scene_new(cells, policies[i], NULL, NULL);
    pai_want gang = scene_want(2, 8);
    pai_request q = { .id = 5, .vc = "left", .wants = &gang, .nwants = 1 };

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "right", 8, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "left", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 3 preempted, stop 2 preempted");
    assert_int_equal(returned(s, 2), PAI_OK);
    assert_int_equal(returned(s, 3), PAI_OK);
    assert_string_equal(scene_decide(s), "start 5");
    /* Not of its cells: it is content with what is left, too. */
    assert_int_equal(submit(s, 6, "left", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    pai_sched_free(s);
    s = scene_new(cells, policies[i], "{\"reclaim\":false}", NULL);
    assert_int_equal(submit(s, 1, "right", 8, -1), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 8, -1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_string_equal(scene_decide(s), i < 3 ? "" : "stop 2 preempted");
    pai_sched_free(s);
  }
}

static void it_can_be_left_to_them(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], "{\"reclaim\": false}", NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_string_equal(scene_lack(s, 2), "gpu");
    pai_sched_free(s);
  }
}

/* Who borrows does not take what is free from those who are guaranteed it,
 * though he came before: nobody starts to be stopped at once. */
static void what_is_guaranteed_goes_first(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2");
    assert_string_equal(scene_lack(s, 1), "gpu");
    pai_sched_free(s);
  }
}

/* Opportunistic ones are guaranteed nothing, in their own part neither. */
static void opportunistic_ones_make_room(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 8, PAI_SCHED_OPPORTUNISTIC), PAI_OK);
    assert_int_equal(submit(s, 2, NULL, 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 2, start 1");
    assert_int_equal(submit(s, 3, "left", 4, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "stop 1 preempted");
    assert_int_equal(returned(s, 1), PAI_OK);
    assert_string_equal(scene_decide(s), "start 3");
    pai_sched_free(s);
  }
}

/* Nobody is so important that others lose what they are guaranteed. */
static void importance_ends_at_the_part(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 4, 0), PAI_OK);
    assert_int_equal(submit(s, 2, NULL, 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1, start 2");
    assert_int_equal(submit(s, 3, "right", 8, 100), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(submit(s, 4, "right", 4, 0), PAI_OK);
    /* Strictly, nobody overtakes in a virtual cluster. */
    assert_string_equal(scene_decide(s), strcmp(asking[i], "fifo") == 0 ||
                                             strcmp(asking[i], "fair") == 0
                                           ? ""
                                           : "start 4");
    pai_sched_free(s);
  }
}

static void a_shadow_and_a_copy_ask_back_too(void **state)
{
  pai_sched *s = scene_new(box, "fifo", "{\"reclaim\": false}", NULL), *copy;
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_SHADOW, .text = "fifo" }, NULL),
    PAI_OK);
  assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(submit(s, 2, "right", 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.shadow_decisions, 2);
  assert_int_equal(v.shadow_agreed, 1);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "fifo" }, NULL),
    PAI_OK);
  assert_int_equal(pai_sched_fork(&copy, s, NULL), PAI_OK);
  assert_string_equal(scene_decide(copy), "stop 1 preempted");
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  pai_sched_free(copy);
  pai_sched_free(s);
}

/* Who wanted more than his part is looked at again when he wants less, and when
 * the part is larger. */
static void wishes_and_parts_change(void **state)
{
  static const char larger[] =
    "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
    "nodes: [{name: n1, sku: box}]\n"
    "virtualClusters: {default: {part: rest}, also: {part: 1%},\n"
    "  left: {part: 25%}, right: {part: 50%}}\n";
  pai_cluster *c;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++) {
    pai_sched *s = scene_new(box, asking[i], NULL, NULL);

    assert_non_null(s);
    assert_int_equal(submit(s, 1, "left", 16, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(submit(s, 2, "right", 8, 0), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    assert_int_equal(scene_change(s, 2, "gpus", 6), PAI_OK);
    assert_string_equal(scene_decide(s), "");
    if (i % 2 == 0) {
      assert_int_equal(scene_change(s, 2, "gpus", 4), PAI_OK);
    } else {
      assert_int_equal(
        pai_cluster_parse(&c, larger, strlen(larger), NULL, NULL), PAI_OK);
      assert_int_equal(
        scene_event(
          s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c },
          NULL),
        PAI_OK);
      pai_cluster_free(c);
    }
    assert_string_equal(scene_decide(s), "stop 1 preempted");
    pai_sched_free(s);
  }
}

/* --- whatever comes ------------------------------------------------------- */

enum { VCS = 3, MOST = 48, STEPS = 300 };
enum state { WAITS, RUNS, STOPS };

static const char *const names[VCS] = { "default", "left", "right" };
static const uint64_t own[VCS] = { 8, 4, 4 };

typedef struct play {
  pai_sched *s;
  pai__prng r;
  const char *policy;
  uint64_t last, violations;
  bool asks;
  struct {
    uint64_t id;
    int vc, priority;
    uint32_t gpus;
    enum state state;
  } jobs[MOST];
  size_t n;
} play;

static uint64_t below(play *p, uint64_t n)
{
  return pai__prng_below(&p->r, n);
}

static void any_job(play *p)
{
  static const int priorities[] = { 0, 0, 10, PAI_SCHED_OPPORTUNISTIC };

  if (p->n == MOST)
    return;
  p->jobs[p->n].id = ++p->last;
  p->jobs[p->n].vc = (int)below(p, VCS);
  p->jobs[p->n].priority = priorities[below(p, 4)];
  p->jobs[p->n].gpus = 1 + (uint32_t)below(p, 6);
  p->jobs[p->n].state = WAITS;
  if (submit(p->s, p->last, names[p->jobs[p->n].vc], p->jobs[p->n].gpus,
             p->jobs[p->n].priority) == PAI_OK)
    p->n++;
}

static size_t find(const play *p, uint64_t id)
{
  size_t i = 0;

  while (i < p->n && p->jobs[i].id != id)
    i++;
  assert_true(i < p->n);
  return i;
}

/* GPUs of those that are not opportunistic and hold, or have claimed, a place. */
static uint64_t held(const play *p, int vc, bool stopping)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < p->n; i++)
    if (p->jobs[i].vc == vc && p->jobs[i].priority >= 0 &&
        (p->jobs[i].state == RUNS || (stopping && p->jobs[i].state == STOPS) ||
         (p->jobs[i].state == WAITS &&
          strcmp(scene_lack(p->s, p->jobs[i].id), "victims") == 0)))
      sum += p->jobs[i].gpus;
  return sum;
}

/* Nobody loses to another virtual cluster what his own is guaranteed. */
static void stop(play *p, const pai_decision *d)
{
  size_t i = find(p, d->id), by = find(p, d->by);
  int vc = p->jobs[i].vc;

  if (p->jobs[by].vc != vc && p->jobs[i].priority >= 0 &&
      held(p, vc, false) <= own[vc])
    fail_msg("%s: %d of %s has to stop for %d of %s", p->policy, (int)d->id,
             names[vc], (int)d->by, names[p->jobs[by].vc]);
  p->jobs[i].state = STOPS;
}

/* In his own virtual cluster others go first: who is more important, where that
 * counts; and what is planned for those before him he does not delay. */
static bool has_to_wait(const play *p, size_t i)
{
  bool plans = strcmp(p->policy, "backfill") == 0;

  if (!plans && strcmp(p->policy, "priority") != 0 &&
      strcmp(p->policy, "k8s") != 0)
    return false;
  for (size_t k = 0; k < p->n; k++)
    if (p->jobs[k].vc == p->jobs[i].vc && p->jobs[k].state == WAITS &&
        (p->jobs[k].priority > p->jobs[i].priority ||
         (plans && p->jobs[k].priority == p->jobs[i].priority &&
          p->jobs[k].id < p->jobs[i].id)))
      return true;
  return false;
}

/* Nobody who keeps to his part waits, but for those who stop for him. */
static void nobody_waits_for_his_own(play *p)
{
  for (size_t i = 0; i < p->n; i++) {
    int vc = p->jobs[i].vc;

    if (p->jobs[i].state != WAITS || p->jobs[i].priority < 0 ||
        strcmp(scene_lack(p->s, p->jobs[i].id), "victims") == 0 ||
        held(p, vc, true) + p->jobs[i].gpus > own[vc] || has_to_wait(p, i))
      continue;
    p->violations++;
    if (p->asks)
      fail_msg("%s: %d of %s waits for %s", p->policy, (int)p->jobs[i].id,
               names[vc], scene_lack(p->s, p->jobs[i].id));
  }
}

static int decide_once(play *p)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(p->s, scene_now(p->s) + 1000000, NULL);

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    assert_int_equal(pai_sched_decision(p->s, (size_t)i, &d), PAI_OK);
    if (d.kind == PAI_DECISION_START)
      p->jobs[find(p, d.id)].state = RUNS;
  }
  for (int i = 0; i < n; i++) {
    assert_int_equal(pai_sched_decision(p->s, (size_t)i, &d), PAI_OK);
    if (d.kind == PAI_DECISION_STOP)
      stop(p, &d);
  }
  return n;
}

/* Who is more important in a virtual cluster may take another's place there, who
 * looks for one the next time: that comes to an end. */
static void decide(play *p)
{
  int rounds = 0;

  while (decide_once(p) != 0)
    if (++rounds == 8)
      fail_msg("%s: it does not settle", p->policy);
  nobody_waits_for_his_own(p);
}

/* Somebody ends, or has stopped. */
static void leave(play *p)
{
  size_t i = p->n != 0 ? (size_t)below(p, p->n) : 0;

  if (p->n == 0 || p->jobs[i].state == WAITS)
    return;
  if (p->jobs[i].state == STOPS) {
    assert_int_equal(returned(p->s, p->jobs[i].id), PAI_OK);
    p->jobs[i].state = WAITS;
    return;
  }
  assert_int_equal(scene_finish(p->s, p->jobs[i].id), PAI_OK);
  p->jobs[i] = p->jobs[--p->n];
}

static uint64_t play_with(const char *policy, const char *options, bool asks,
                          uint64_t seed)
{
  play p = { .policy = policy, .asks = asks };

  p.r.state = seed;
  p.s = scene_new(box, policy, options, NULL);
  assert_non_null(p.s);
  for (int i = 0; i < STEPS; i++)
    switch (below(&p, 5)) {
    case 0:
    case 1: leave(&p); break;
    case 2: any_job(&p); break;
    default: decide(&p); break;
    }
  pai_sched_free(p.s);
  return p.violations;
}

static void nobody_within_his_part_waits_for_what_is_borrowed(void **state)
{
  static const struct {
    const char *policy, *options, *without;
  } all[] = {
    { "fifo", "{\"greedy\": true}", "{\"greedy\": true, \"reclaim\": false}" },
    { "backfill", "{}", "{\"reclaim\": false}" },
    { "backfill", "{\"mode\": \"conservative\"}",
      "{\"mode\": \"conservative\", \"reclaim\": false}" },
    { "priority", "{}", "{\"reclaim\": false}" },
    { "fair", "{\"greedy\": true}", "{\"greedy\": true, \"reclaim\": false}" },
    { "k8s", "{}", "{\"reclaim\": false}" },
  };
  const char *seed = getenv("OPENPAI_SEED");
  uint64_t first = (seed != NULL ? strtoull(seed, NULL, 10) : 1) * 1000;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(all); i++) {
    uint64_t violations = 0;

    for (uint64_t k = 0; k < 60; k++)
      (void)play_with(all[i].policy, all[i].options, true, first + k);
    if (strcmp(all[i].policy, "priority") == 0 ||
        strcmp(all[i].policy, "k8s") == 0)
      continue; /* without it they stop what is guaranteed, too */
    for (uint64_t k = 0; k < 60; k++)
      violations += play_with(all[i].policy, all[i].without, false, first + k);
    assert_true(violations > 0);
  }
}

/* --- without memory ------------------------------------------------------- */

static int ask_back(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(box, user_data, NULL, alloc);
  int rc = PAI_ENOMEM;

  if (s == NULL)
    return PAI_ENOMEM;
  rc = submit(s, 1, "left", 8, 0);
  if (rc == PAI_OK)
    rc = submit(s, 2, "left", 8, PAI_SCHED_OPPORTUNISTIC);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = submit(s, 3, "right", 4, 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0) {
    assert_string_equal(scene_lack(s, 3), "victims");
    rc = PAI_OK;
  }
  pai_sched_free(s);
  return rc;
}

static void memory_may_lack(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(asking); i++)
    test_faults(ask_back, (void *)asking[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_do_not_stop_each_other_for_ever),
    cmocka_unit_test(who_keeps_to_the_part_goes_by_importance),
    cmocka_unit_test(what_is_borrowed_is_asked_back),
    cmocka_unit_test(opportunistic_requests_leave_cells),
    cmocka_unit_test(it_can_be_left_to_them),
    cmocka_unit_test(what_is_guaranteed_goes_first),
    cmocka_unit_test(opportunistic_ones_make_room),
    cmocka_unit_test(importance_ends_at_the_part),
    cmocka_unit_test(a_shadow_and_a_copy_ask_back_too),
    cmocka_unit_test(wishes_and_parts_change),
    cmocka_unit_test(nobody_within_his_part_waits_for_what_is_borrowed),
    cmocka_unit_test(memory_may_lack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
