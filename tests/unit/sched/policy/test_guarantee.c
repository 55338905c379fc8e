/*
 * A virtual cluster with a part of the whole gets it, also when others have
 * borrowed it; and nobody is stopped for others who has what he is guaranteed.
 *
 * OPENPAI_SEED begins with another number.
 */
#include "sched/random_world.h"
#include "sched/script.h"

#include "base/prng.h"

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
    assert_ok(pai_sched_decision(s, (size_t)i, &all[i]));
  }
  for (int i = 0; i < n; i++)
    assert_ok(
      scene_event(s,
                  (pai_sched_event){ .kind = all[i].kind == PAI_DECISION_START
                                               ? PAI_SCHED_STARTED
                                               : PAI_SCHED_RETURNED,
                                     .id = all[i].id },
                  NULL));
  return n;
}

/* 1 keeps to the part; 2 is more important, and has to borrow. */
TEST(two_do_not_stop_each_other_for_ever)
{
  static const char *const policies[] = { "priority", "k8s" };

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
    assert_ok(scene_request(s, i % 2 ? &two : &one, NULL));
    assert_int_equal(obey(s), 1);
    assert_ok(scene_request(s, i % 2 ? &one : &two, NULL));
    while (obey(s) != 0)
      assert_true(++n < 8);
    /* The part is for who keeps to it, and who borrows waits. */
    assert_string_equal(scene_lack(s, 1), "");
    assert_string_not_equal(scene_lack(s, 2), "");
    assert_ok(scene_finish(s, 1));
    assert_string_equal(scene_decide(s), "start 2");
    pai_sched_free(s);
  }
}

/* Who wanted more than his part is looked at again when the part is larger. */
static const char larger[] =
  "skus: {box: {gpu: a100, gpus: 16, cpus: 64, memory: 64G}}\n"
  "nodes: [{name: n1, sku: box}]\n"
  "virtualClusters: {default: {part: rest}, also: {part: 1%},\n"
  "  left: {part: 25%}, right: {part: 50%}}\n";

#define NONE   \
  {            \
    NULL, NULL \
  }
static const scene_policy asking[] = {
  { "fifo", NULL }, { "backfill", NULL }, { "priority", NULL },
  { "fair", NULL }, { "k8s", NULL },      NONE
};
/* Of these, who does, and who does not: stop others of less importance; */
static const scene_policy by_importance[] = { { "priority", NULL },
                                              { "k8s", NULL },
                                              NONE };
static const scene_policy by_age[] = {
  { "fifo", NULL }, { "backfill", NULL }, { "fair", NULL }, NONE
};
/* let nobody overtake in a virtual cluster. */
static const scene_policy strict[] = { { "fifo", NULL },
                                       { "fair", NULL },
                                       NONE };
static const scene_policy passing[] = {
  { "backfill", NULL }, { "priority", NULL }, { "k8s", NULL }, NONE
};
#define LEFT "{\"reclaim\":false}"
static const scene_policy left_to_them[] = {
  { "fifo", LEFT }, { "backfill", LEFT }, { "priority", LEFT },
  { "fair", LEFT }, { "k8s", LEFT },      NONE
};
static const scene_policy left_by_age[] = {
  { "fifo", LEFT }, { "backfill", LEFT }, { "fair", LEFT }, NONE
};
static const scene_policy left_by_importance[] = { { "priority", LEFT },
                                                   { "k8s", LEFT },
                                                   NONE };
static const scene_policy capacity[] = { { "capacity", NULL },
                                         { "capacity", "{\"greedy\":true}" },
                                         NONE };

/* 3 has borrowed what 4 is guaranteed. */
#define BORROWED                                                                                                          \
  "submit 1 vc=left gpus=4; submit 2-3 vc=left gpus=6 => start 1, "                                                       \
  "start 2, start 3\n"                                                                                                    \
  "submit 4 vc=right gpus=4 => stop 3 preempted; lack 4 victims\n" /* It stops once, and nobody gets its place before. */ \
  "=> nothing; returned 3 => start 4\n" /* What is left is no place for 3, and it has nothing to ask back. */             \
  "=> nothing; submit 5 vc=right gpus=4 priority=100 => "

/* Two of another virtual cluster, and a gang for which left owns the nodes. */
#define TWO_IDLE                                                 \
  "submit 1-2 vc=right gpus=8 priority=-1 => start 1, start 2\n" \
  "submit 5 vc=left tasks=2 gpus=8 => "

/* Both have what they are guaranteed: nobody is so important that others lose
 * it. */
#define ALL_HAVE_THEIRS                                            \
  "submit 1 vc=left gpus=4; submit 2 gpus=8 => start 1, start 2\n" \
  "submit 3 vc=right gpus=8 priority=100 => nothing\n"             \
  "submit 4 vc=right gpus=4 => "

#define WANTS_TOO_MUCH                    \
  "submit 1 vc=left gpus=16 => start 1\n" \
  "submit 2 vc=right gpus=8 => nothing\n" \
  "change 2 gpus 6 => nothing\n"

/* --- gangs that give back some tasks --------------------------------------- */

#define NODES(list)                                            \
  "skus: {box: {gpu: a100, gpus: 8, cpus: 64, memory: 64G}}\n" \
  "nodes: [" list "]\n"                                        \
  "virtualClusters:\n"

static const char two_nodes[] =
  NODES("{name: n1, sku: box}, {name: n2, sku: box}") //
  "  {default: {part: rest}, left: {part: 25%, max: 100%},"
  "   right: {part: 20%}, more: {part: 50%}}\n";
static const char three_nodes[] =
  NODES("{name: n1, sku: box}, {name: n2, sku: box}, {name: n3, sku: box}") //
  "  {default: {part: rest}, left: {part: 12.5%, max: 100%},"
  "   right: {part: 50%}, more: {part: 25%, max: 100%}}\n";

/* Under `priority` gangs give to anybody, before he is owed it. */
static const scene_policy priority[] = { { "priority", NULL }, NONE };
#define PACK "{\"place\": \"pack\"}"
static const scene_policy owing[] = { { "fifo", PACK },
                                      { "backfill", PACK },
                                      { "fair", PACK },
                                      { "k8s", PACK },
                                      NONE };
static const scene_policy packing[] = {
  { "fifo", PACK }, { "backfill", PACK }, { "priority", PACK },
  { "fair", PACK }, { "k8s", PACK },      NONE
};

/* A gang that borrows, of one GPU a task. */
#define GANG "submit 1 vc=left tasks=16 min_tasks=10 gpus=1 => start 1\n"

/* 2 stops for 3, and is enough for 4, too. */
#define ONE_STOPS                                  \
  "submit 1 vc=left tasks=8 min_tasks=5 gpus=1\n"  \
  "submit 2 vc=left gpus=8 => start 1, start 2\n"  \
  "submit 3 vc=right gpus=4 => stop 2 preempted\n" \
  "submit 4 gpus=3 => "

/* Gangs on nodes of eight GPUs, one behind the other; right wants three. */
#define OTHERS_KEEP(most, least)                                            \
  "submit 1 vc=left tasks=8 min_tasks=5 gpus=1 => start 1\n"                \
  "submit 2 vc=more tasks=" most " min_tasks=" least " gpus=1 => start 2\n" \
  "submit 3 vc=right gpus=3 => shrink 1 to 5; resized 1 => start 3\n"

static const scene_case cases[] = {
  /* Who is guaranteed himself goes before those who are less important. */
  { "who_keeps_to_the_part_goes_by_importance", two_kinds, "priority", NULL,
    .script = "submit 1 vc=left gpus=1 type=v; submit 2 gpus=1 type=v\n"
              "=> start 1, start 2\n"
              "submit 3 vc=left gpus=1 type=v priority=9\n"
              "=> stop 1 preempted\n" },
  /* Beyond a part importance decides, as far as the policy goes by that. */
  { "what_is_borrowed_is_asked_back", box, .under = by_age,
    .script = BORROWED "nothing\n" },
  { "what_is_borrowed_is_asked_back_by_importance", box,
    .under = by_importance, .script = BORROWED "stop 4 preempted\n" },
  /* Where virtual clusters own cells, opportunistic requests have what others
   * leave: who keeps to its cells does not wait for them. */
  { "opportunistic_requests_leave_cells", cells, .under = asking,
    .script = "submit 1 vc=right gpus=8; submit 2 vc=right gpus=8 priority=-1"
              " => start 1, start 2\n"
              "submit 3 vc=left gpus=8 priority=-1 => start 3\n"
              "submit 5 vc=left tasks=2 gpus=8\n"
              "=> stop 3 preempted, stop 2 preempted\n"
              "returned 2; returned 3 => start 5\n"
              /* Not of its cells: it is content with what is left, too. */
              "submit 6 vc=left gpus=8 priority=-1 => nothing\n" },
  { "they_keep_them_if_told_to", cells, .under = left_by_age,
    .script = TWO_IDLE "nothing\n" },
  { "they_leave_them_to_the_important", cells, .under = left_by_importance,
    .script = TWO_IDLE "stop 2 preempted\n" },
  /* Under `fifo` opportunistic requests that wait keep each other in line, and
   * those that are guaranteed their cells do not stand in it. */
  { "who_owns_cells_does_not_wait_in_line", cells, "fifo", NULL,
    .script = "submit 1-3 vc=left gpus=8 priority=-1\n"
              "=> start 1, start 2, start 3\n"
              "submit 4 vc=left gpus=8 priority=-1\n"
              "submit 5 vc=left tasks=2 gpus=8\n"
              "submit 6 vc=left gpus=1 priority=-1; submit 7 vc=left gpus=1\n"
              "=> stop 3 preempted, stop 2 preempted\n"
              "lack 4 gpu 6 turn; load\n" /* which has the same reasons */
              "returned 2; returned 3 => start 5\n" },
  { "where_nobody_owns_anything_all_wait_in_line",
    "nodes:1 gpu:8 cpus:64 mem:64G", "fifo", NULL,
    .script = "submit 1-2 gpus=6 priority=-1; submit 3 gpus=2 => start 1\n"
              "lack 3 turn\n" },
  { "it_can_be_left_to_them", box, .under = left_to_them,
    .script = "submit 1 vc=left gpus=16 => start 1\n"
              "submit 2 vc=right gpus=4 => nothing; lack 2 gpu\n" },
  /* Who borrows does not take what is free from those who are guaranteed it,
   * though he came before: nobody starts to be stopped at once. */
  { "what_is_guaranteed_goes_first", box, .under = asking,
    .script = "submit 1 vc=left gpus=16\n"
              "submit 2 vc=right gpus=4 => start 2; lack 1 gpu\n" },
  /* Opportunistic ones are guaranteed nothing, in their own part neither. */
  { "opportunistic_ones_make_room", box, .under = asking,
    .script = "submit 1 vc=left gpus=8 priority=-1\n"
              "submit 2 gpus=8 => start 2, start 1\n"
              "submit 3 vc=left gpus=4 => stop 1 preempted\n"
              "returned 1 => start 3\n" },
  /* Under `capacity`, which has guarantees of its own, they do so likewise:
   * they use nothing of what is guaranteed, though they may have all of it. */
  { "opportunistic_ones_use_no_guarantee", box, .under = capacity,
    .script = "submit 1-2 vc=left gpus=8 priority=-1 => start 1, start 2\n"
              "submit 3 vc=left gpus=4 => stop 2 preempted\n"
              "returned 2 => start 3\n" },
  { "importance_ends_at_the_part", box, .under = passing,
    .script = ALL_HAVE_THEIRS "start 4\n" },
  { "importance_ends_at_the_part_in_line", box, .under = strict,
    .script = ALL_HAVE_THEIRS "nothing\n" },
  { "a_shadow_and_a_copy_ask_back_too", box, "fifo", LEFT,
    .script = "shadow fifo; submit 1 vc=left gpus=16 => start 1\n"
              "submit 2 vc=right gpus=4 => nothing\n"
              "sums shadow_decisions=2 shadow_agreed=1\n"
              "policy fifo; fork => stop 1 preempted\n"
              "=> stop 1 preempted\n" },
  { "wishes_change", box, .under = asking,
    .script = WANTS_TOO_MUCH "change 2 gpus 4 => stop 1 preempted\n" },
  { "parts_change", box, .under = asking, .other = larger,
    .script = WANTS_TOO_MUCH "cluster => stop 1 preempted\n" },
  { "memory_may_lack", box, .under = asking, .faults = true,
    .script = "submit 1 vc=left gpus=8; submit 2 vc=left gpus=8 priority=-1\n"
              "=> any; submit 3 vc=right gpus=4 => any; lack 3 victims\n" },

  /* Gangs that borrow beyond their virtual cluster's part and could do with
   * fewer tasks give back their last ones, and are not stopped. */
  /* A gang that borrows gives back its last tasks, as many as need be; it is
   * stopped when that is not enough. */
  { "a_gang_gives_back_what_it_can_do_without", box, .under = asking,
    .script = GANG "submit 2 vc=right gpus=3 => shrink 1 to 13\n"
                   "lack 2 victims => nothing; resized 1 => start 2\n"
                   /* It can do without three more. */
                   "submit 3 gpus=4 => stop 1 preempted\n" },
  { "who_stops_already_may_be_enough", box, .under = owing,
    .script = ONE_STOPS "nothing; lack 4 victims\n" },
  { "or_a_gang_gives_before_it_is_owed", box, .under = priority,
    .script = ONE_STOPS "shrink 1 to 5; lack 4 victims\n" },
  /* What more is guaranteed it keeps. */
  { "only_what_borrows_gives", two_nodes, .under = packing,
    .script = OTHERS_KEEP("8", "2") },
  /* It borrows, but what it could give is too little where it is. */
  { "only_what_is_in_the_way_gives", three_nodes, .under = owing,
    .script = OTHERS_KEEP("16", "14") },
  { "memory_for_gangs_may_lack", box, .under = asking, .faults = true,
    .script = "submit 1 vc=left tasks=16 min_tasks=10 gpus=1 => any\n"
              "submit 2 vc=right gpus=4 => any; resized 1\n" },
};

TEST_TABLE(scene_run, cases);

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
  if (scene_submit_to(p->s, p->last, names[p->jobs[p->n].vc], 1,
                      p->jobs[p->n].gpus, p->jobs[p->n].priority) == PAI_OK)
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
    assert_ok(pai_sched_decision(p->s, (size_t)i, &d));
    if (d.kind == PAI_DECISION_START)
      p->jobs[find(p, d.id)].state = RUNS;
  }
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(p->s, (size_t)i, &d));
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
    assert_ok(scene_returned(p->s, p->jobs[i].id));
    p->jobs[i].state = WAITS;
    return;
  }
  assert_ok(scene_finish(p->s, p->jobs[i].id));
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

TEST(nobody_within_his_part_waits_for_what_is_borrowed)
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
  uint64_t first = random_number_of("OPENPAI_SEED", 1) * 1000;

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

/* Who asks while tasks of it leave is next: nobody is stopped for him. */
TEST(many_ask_one_gang)
{
  for (size_t i = 0; asking[i].name != NULL; i++) {
    pai_sched *s = scene_new(box, asking[i].name, NULL, NULL);

    scene_script(s, GANG
                 "submit 2 vc=right gpus=1 instances=2 => shrink 1 to 15\n"
                 "submit 3 vc=right gpus=1 => nothing; resized 1\n");
    assert_has(scene_decide(s), "shrink 1 to 14");
    scene_script(s, "resized 1");
    assert_has(scene_decide(s), "shrink 1 to 13");
    scene_script(s, "resized 1");
    assert_null(strstr(scene_decide(s), "stop"));
    pai_sched_free(s);
  }
}
