/*
 * Whatever comes, nobody who keeps to his part waits for what is borrowed, under
 * each policy that asks back; and nobody is stopped for others who has what he is
 * guaranteed.
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nobody_within_his_part_waits_for_what_is_borrowed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
