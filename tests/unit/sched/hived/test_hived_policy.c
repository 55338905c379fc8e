/* HiveD as a policy: shares that are cells, preemption, what is remembered, which
 * cells what runs is in, and what it needs besides. */
#include "sched/script.h"
#include "sched/scribe.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

#define CELLS                                                               \
  "physicalCluster:\n"                                                      \
  "  cellTypes:\n"                                                          \
  "    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}\n" \
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"                   \
  "  physicalCells:\n"                                                      \
  "  - {cellType: RACK, cellChildren: [{cellAddress: n0}, {cellAddress: "   \
  "n1}]}\n"                                                                 \
  "  - {cellType: RACK, cellChildren: [{cellAddress: n2}, {cellAddress: "   \
  "n3}]}\n"                                                                 \
  "virtualClusters:\n"                                                      \
  "  a: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n"           \
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 1}]}\n"

#define HALVES(vcs)                                               \
  "skus: {box: {gpu: a100, gpus: 4}}\n"                           \
  "nodes: [{name: \"n[0-1]\", sku: box}]\n"                       \
  "virtualClusters: {default: {part: rest}, a: {part: 50%, max: " \
  "100%" vcs "}, b: {part: 50%, max: 100%}}\n"
static const char halves[] = HALVES("");
static const char stopped[] = HALVES(", stopped: true");

#define QUARTERS(cpus)                          \
  "skus: {box: {gpu: a100, gpus: 1" cpus "}}\n" \
  "nodes: [{name: \"n[0-3]\", sku: box}]\n"     \
  "virtualClusters: {default: {part: rest}, a: {part: 50%}}\n"
static const char quarters[] = QUARTERS("");
static const char quarters_with_cpus[] = QUARTERS(", cpus: 8");

static const char kinds[] = "skus:\n"
                            "  plain: {cpus: 8, memory: 8G}\n"
                            "  old: {gpu: v, gpus: 4, cpus: 8, memory: 8G}\n"
                            "  big: {gpu: h, gpus: 4, cpus: 8, memory: 8G}\n"
                            "nodes:\n"
                            "  - {name: p1, sku: plain}\n"
                            "  - {name: o1, sku: old}\n"
                            "  - {name: b1, sku: big}\n";

#define HIVED(test, where) .name = #test, .cluster = where, .policy = "hived"

/* All four nodes, of which three belong to somebody. */
#define ALL_BORROWED                                                      \
  "submit 1-4 vc=b gpus=4 priority=-1 cpus=0 => start 1, start 2, start " \
  "3, start 4\n"                                                          \
  "submit 5 vc=a gpus=4 cpus=0 => stop 1 preempted\n"

#define TYPES                                                               \
  "physicalCluster:\n"                                                      \
  "  skuTypes: {GPU: {cpu: 8, memory: 8192Mi, gpu: 1}}\n"                   \
  "  cellTypes:\n"                                                          \
  "    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}\n" \
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"                   \
  "  physicalCells:\n"

/* A rack, then nodes: two kinds of cells of one chain. */
#define BOTH                                                        \
  TYPES                                                             \
  "  - {cellType: RACK, cellChildren: [{cellAddress: n0}, "         \
  "{cellAddress: n1}]}\n"                                           \
  "  - {cellType: RACK, cellChildren: [{cellAddress: n2}, "         \
  "{cellAddress: n3}]}\n"                                           \
  "virtualClusters:\n"                                              \
  "  a:\n"                                                          \
  "    virtualCells: [{cellType: RACK, cellNumber: 1}, {cellType: " \
  "RACK.NODE, cellNumber: 1}]\n"                                    \
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 1}]}\n"

#define PINNED                                                            \
  TYPES                                                                   \
  "  - {cellType: RACK, cellChildren: [{cellAddress: n0}, {cellAddress: " \
  "n1}]}\n"                                                               \
  "  - {cellType: RACK, pinnedCellId: P, cellChildren: [{cellAddress: "   \
  "n2}, {cellAddress: n3}]}\n"                                            \
  "virtualClusters:\n"                                                    \
  "  a: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n"         \
  "  b: {virtualCells: [], pinnedCells: [{pinnedCellId: P}]}\n"

/* Then a has its rack whole, and no more. */
#define WHOLE_RACK                            \
  "submit 3 vc=a tasks=2 gpus=4 => start 3\n" \
  "submit 4 vc=a gpus=1 => nothing; lack 4 quota\n"

#define FIFO(test) .name = #test, .cluster = BOTH, .policy = "fifo"

static const scene_case cases[] = {
  { HIVED(shares_are_cells, CELLS),
    .script = "submit 1 vc=b gpus=2 cpus=0; submit 2 vc=b gpus=4 cpus=0\n"
              "submit 3 vc=b gpus=5 !ENOROOM\n"
              "submit 4 vc=b tasks=2 gpus=4 !ENOROOM\n"
              "submit 5 vc=a tasks=2 gpus=4 cpus=0 => start 1, start 5\n"
              "lack 2 quota; finish 1 => start 2\n" },
  { HIVED(who_borrows_gives_way, CELLS),
    .script = ALL_BORROWED "lack 5 victims\n"
                           "submit 6 vc=b gpus=4 priority=-1 => nothing\n"
                           "returned 1 => start 5\n" /* not 1, nor 6 */ },
  { HIVED(a_claim_that_is_cancelled_is_forgotten, CELLS),
    .script = ALL_BORROWED "cancel 5; returned 1 => start 1\n" },
  /* HiveD has no cells for tasks without GPUs: these go where what they name
   * is, and nobody else is held up. */
  { HIVED(tasks_without_gpus_may_name_a_kind, kinds),
    .script = "submit 1 gpus=1 + tasks=2 type=h + type=old\n"
              /* Of 8 CPUs there is room for one of them. */
              "submit 2 gpus=1 + tasks=2 type=h cpus=6 + type=old !ENOROOM\n"
              "submit 2 gpus=1 + type=h cpus=6 + type=old; submit 3 gpus=1\n"
              "=> start 1, start 3; places 1 2:1 2:0 2:0 1:0\n"
              "lack 2 policy; finish 1 => start 2; places 2 2:1 2:0 1:0\n" },
  /* The important ones of a virtual cluster have its part, wherever the others
   * are. */
  { HIVED(a_part_is_for_the_important, "nodes:2 gpu:4:a100"), .other = halves,
    /* All that a may have: opportunistic ones, on cells of others, too. */
    .script = "cluster; submit 1-2 vc=a gpus=4 priority=-1\n"
              "=> start 1, start 2\n"
              "submit 3 vc=a gpus=4 => stop 1 preempted\n"
              "returned 1 => start 3\n"
              "submit 4 vc=a gpus=4 priority=10 => stop 3 preempted\n"
              "returned 3 => start 4; lack 3 quota\n" },
  /* There is a free cell, and no more of the part: as many stop as it takes. */
  { HIVED(a_part_is_asked_back, "nodes:4 gpu:1:a100"), .other = quarters,
    .script = "cluster; submit 1-3 vc=a gpus=1 priority=-1\n"
              "=> start 1, start 2; lack 3 quota\n"
              "submit 4 vc=a gpus=1 => stop 2 preempted; lack 4 victims\n"
              "=> nothing; returned 2 => start 4\n" /* no other one */ },
  /* Less important ones that have nothing of what is short go on. */
  { HIVED(who_frees_nothing_goes_on, "nodes:4 gpu:1:a100 cpus:8"),
    .other = quarters_with_cpus,
    .script = "cluster; submit 1-2 vc=a gpus=1 cpus=0 priority=-1\n"
              "=> start 1, start 2\n"
              /* No GPU; the youngest, so it would be the first to go. */
              "submit 3 vc=a priority=-1 => start 3\n"
              "submit 4 vc=a gpus=1 cpus=0 => stop 2 preempted\n"
              "lack 4 victims => nothing; returned 2 => start 4\n" },
  /* Cells that are reserved are free again when the virtual cluster is
   * stopped. */
  { HIVED(a_claim_ends_with_its_virtual_cluster, halves), .other = stopped,
    .script = "submit 1-2 vc=b gpus=4 priority=-1 => start 1, start 2\n"
              "submit 3 vc=a gpus=4 => stop 1 preempted\n"
              "cluster; returned 1 => start 1; lack 3 stopped\n" },
  { HIVED(sick_nodes_are_left_out, CELLS),
    .script = "sick n0; sick n1; sick n3; submit 1-2 vc=a gpus=4 cpus=0\n"
              "=> start 1; places 1 2:f; lack 2 health; up n3 => start 2\n" },
  { HIVED(machines_without_cells_get_them,
          "nodes:2 gpu:8:h100 switch:4 cpus:16"),
    .script = "submit 1 tasks=2 gpus=3 => start 1\n"
              "places 1 0:7 0:70\n" /* by switch */
              /* More than the node has left beside them. */
              "submit 2 tasks=2 gpus=3 cpus=15 => nothing\n"
              "submit 3 => start 3\n" /* without GPUs */ },
  { "who_comes_in_between_keeps_what_runs", CELLS, "fifo", NULL,
    .script = "submit 1 vc=a tasks=2 gpus=4; submit 2 vc=b gpus=2\n"
              "=> start 1, start 2; policy hived\n"
              "submit 3 vc=a gpus=1; submit 4 vc=b gpus=2 => start 4\n"
              "lack 3 quota; finish 1 => start 3\n" },
  { HIVED(failing_memory_is_told, CELLS),
    .script = "submit 1-2 vc=b tasks=2 gpus=4 priority=-1 cpus=0 => any\n"
              "submit 3 vc=a tasks=2 gpus=4 cpus=0 => any; fork\n",
    .faults = true },

  /* --- cells that were had before ----------------------------------------- */
  /* A node of its own, another's, and then the whole rack that is owned. */
  { HIVED(each_start_is_in_the_cell_that_was_decided, BOTH),
    .script = "submit 1 vc=a gpus=4 => start 1\n"
              "submit 2 vc=b gpus=4 => start 2\n" WHOLE_RACK },
  { "what_ran_before_gets_the_smallest_cells", BOTH, "fifo",
    "{\"place\": \"pack\"}",
    .script = "submit 1 vc=a gpus=4; submit 2 vc=b gpus=4\n"
              "=> start 1, start 2; places 2 1:f; policy hived\n" WHOLE_RACK },
  { FIFO(gangs_that_ran_before_get_cells_for_all),
    .script = "submit 1 vc=a tasks=2 gpus=4 => start 1; places 1 0:f 1:f\n"
              "policy hived; submit 2 vc=b gpus=4; submit 3 vc=a gpus=4\n"
              "submit 4 vc=a tasks=2 gpus=4 => start 2, start 3\n"
              "lack 4 quota\n" },
  { HIVED(a_new_configuration_takes_no_cells_away, BOTH), .other = BOTH,
    .script = "submit 1 vc=a gpus=4; submit 3 vc=a tasks=2 gpus=4\n"
              "=> start 1, start 3; cluster\n"
              /* Nothing is left to anybody but b: who is promised a cell
               * stays. */
              "submit 2 vc=b gpus=4 => start 2\n"
              "submit 4 vc=a gpus=1 => nothing; lack 4 quota\n" },
  { FIFO(smaller_gangs_are_where_their_tasks_are),
    .script = "submit 1 vc=b tasks=64 min_tasks=4 gpus=1 cpus=0 => start 1\n"
              "places 1 0:1 0:2 0:4 0:8; policy hived\n"
              "submit 2 vc=a tasks=3 gpus=4 => start 2; finish 1\n"
              "submit 3 vc=b gpus=4 => start 3\n" },

  /* --- what is beside GPUs ------------------------------------------------ */
  { HIVED(tasks_without_gpus_go_beside_the_cells, BOTH),
    .script = "submit 1 vc=b tasks=2 cpus=20 + gpus=4 => start 1\n"
              "places 1 0:0 1:0 0:f\n"
              /* Its GPUs are those of b's one cell. */
              "submit 2 vc=b gpus=1 cpus=0 => nothing; lack 2 quota\n" },
  { HIVED(and_where_there_is_room, BOTH),
    .script = "submit 1-3 vc=a cpus=31 => start 1, start 2, start 3\n"
              "submit 4 vc=b tasks=2 cpus=20 + gpus=4 => nothing\n"
              "lack 4 policy; finish 2 => start 4; finish 4\n"
              /* Not where the one with GPUs is, which needs less besides. */
              "submit 5 vc=a cpus=31; submit 6 vc=b tasks=2 cpus=16 + gpus=4\n"
              "=> start 5, start 6; places 6 3:0 3:0 2:f\n" },
  { HIVED(who_is_less_important_gives_cpus_back, BOTH),
    .script = "submit 1-4 vc=b gpus=4 cpus=32 priority=-1\n"
              "=> start 1, start 2, start 3, start 4\n"
              "submit 5 vc=b gpus=4 cpus=32 => stop 1 preempted\n"
              "lack 5 victims => nothing\n" /* it stays with its choice */
              "returned 1 => start 5\n" },
  /* A place that another policy had claimed: who gets it is in its cells. */
  { "what_was_claimed_is_known", "nodes:2 gpu:4 cpus:8", "priority", NULL,
    .script = "submit 1-2 gpus=4 cpus=0 priority=-1 => start 1, start 2\n"
              "submit 3 gpus=4 cpus=0 priority=5 => stop 2 preempted\n"
              "policy hived; finish 2 => start 3\n"
              "submit 4 gpus=4 cpus=0 priority=5 => stop 1 preempted\n" },
};

TEST_TABLE(scene_run, cases);

static int submit(pai_sched *s, uint64_t id, const char *vc, uint32_t tasks,
                  uint32_t gpus, int priority)
{
  pai_want want = scene_want(tasks, gpus);

  want.cpus = 0;
  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .wants = &want, .nwants = 1, .priority = priority },
    NULL);
}

/* --- forks ---------------------------------------------------------------- */

static void happen(pai_sched *s, pai__prng *random, uint64_t id)
{
  static const char *const vcs[] = { "a", "b" };
  static const char *const nodes[] = { "n0", "n1", "n2", "n3" };
  uint32_t what = (uint32_t)pai__prng_below(random, 10);
  pai_sched_event e = { .kind = PAI_SCHED_NODE, .gpu = -1 };

  if (what < 5) {
    (void)submit(s, id, vcs[pai__prng_below(random, 2)],
                 1 + (uint32_t)pai__prng_below(random, 2),
                 1 + (uint32_t)pai__prng_below(random, 4),
                 (int)pai__prng_below(random, 4) - 1);
  } else if (what < 9) {
    uint64_t one = 1 + pai__prng_below(random, id);

    if (scene_finish(s, one) < 0)
      (void)scene_returned(s, one);
  } else {
    e.node = nodes[pai__prng_below(random, 4)];
    e.number = pai__prng_below(random, 2) ? PAI_NODE_SICK : PAI_NODE_UP;
    assert_ok(scene_event(s, e, NULL));
  }
}

/* What was asked to stop stops. */
static void obey(pai_sched *s, const char *decisions)
{
  unsigned long long id;

  while ((decisions = strstr(decisions, "stop ")) != NULL) {
    decisions += 5;
    id = strtoull(decisions, NULL, 10);
    assert_ok(scene_returned(s, id));
  }
}

/* Another goes on as this one does: one decision, then some more. */
static void go_on_alike(pai_sched *s, pai_sched *other, pai__prng *random,
                        uint64_t id, uint64_t more)
{
  pai__prng again = *random;
  char decisions[4096];

  for (uint64_t i = 0; i <= more; i++) {
    if (i != 0) {
      happen(s, random, id + 1000 * i);
      happen(other, &again, id + 1000 * i);
    }
    (void)snprintf(decisions, sizeof(decisions), "%s", scene_decide(s));
    assert_string_equal(scene_decide(other), decisions);
    obey(s, decisions);
    obey(other, decisions);
  }
}

static pai_sched *load_alike(const pai_sched *s)
{
  pai_sched *other;
  pai__buf saved, again;

  scribe_save(s, &saved);
  assert_ok(pai_sched_load(&other, saved.data, saved.len, NULL, NULL));
  scribe_save(other, &again);
  scribe_same(&saved, &again);
  pai__buf_dispose(&saved);
  pai__buf_dispose(&again);
  return other;
}

/* A fork, and one that was saved and loaded. */
TEST(copies_go_the_same_way)
{
  pai__prng random = { 7 };
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL), *other;

  for (uint64_t id = 1; id < 600; id++) {
    happen(s, &random, id);
    if (id % 2 == 0)
      assert_ok(pai_sched_fork(&other, s, NULL));
    else
      other = load_alike(s);
    go_on_alike(s, other, &random, id, 3);
    pai_sched_free(other);
  }
  pai_sched_free(s);
}

/* Whatever number is changed: it is refused, or it can be lived with. */
TEST(a_state_that_was_changed_does_no_harm)
{
  static const char *const numbers[] = { "-1",    "0",          "1", "7",
                                         "99999", "4294967295", "-3" };
  pai__prng random = { 5 };
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL), *other;
  const char *text, *cells;
  unsigned refused = 0;
  pai__buf saved, wrong = test_buf();

  for (uint64_t id = 1; id < 60; id++) {
    char decisions[4096];

    happen(s, &random, id);
    (void)snprintf(decisions, sizeof(decisions), "%s", scene_decide(s));
    obey(s, decisions);
  }
  scribe_save(s, &saved);
  text = pai__buf_text(&saved);
  cells = strstr(text, "\"cells\"");
  assert_non_null(cells);
  for (unsigned round = 0; round < 3000; round++) {
    const char *at = cells + pai__prng_below(&random, strlen(cells));

    while (*at != '\0' &&
           (*at < '0' || *at > '9' || strchr("[,-", at[-1]) == NULL))
      at++;
    pai__buf_clear(&wrong);
    pai__buf_add(&wrong, text, (size_t)(at - text));
    pai__buf_str(&wrong, numbers[pai__prng_below(&random, PAI__LEN(numbers))]);
    pai__buf_str(&wrong, at + strspn(at, "0123456789"));
    if (pai_sched_load(&other, wrong.data, wrong.len, NULL, NULL) < 0) {
      refused++;
      continue;
    }
    for (uint64_t id = 100; id < 110; id++) {
      happen(other, &random, id);
      (void)scene_decide(other);
    }
    pai_sched_free(other);
  }
  print_message("%u of 3000 were refused\n", refused);
  pai__buf_dispose(&saved);
  pai__buf_dispose(&wrong);
  pai_sched_free(s);
}

/* --- what never can be ---------------------------------------------------- */

/* Told at once; and one that was there before the policy waits, and is told
 * the same. */
TEST(what_never_can_run_says_so)
{
  static const struct {
    const char *request, *why;
  } rows[] = {
    { "submit 1 gpus=1 vc=b", "pinned ones, which are" },
    { "submit 1 gpus=1 vc=a pin=P", "not one of its own" },
    { "submit 1 gpus=1 vc=b pin=P priority=-1", "opportunistic" },
    { "submit 1 vc=a gpus=1 + gpus=1 type=GPU", "GPUs of several types" },
  };
  pai_sched *s = scene_new(PINNED, "hived", NULL, NULL);
  char script[200];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_sched *before = scene_new(PINNED, "priority", NULL, NULL);

    (void)snprintf(script, sizeof(script), "%s !ENOROOM ~ %s%s",
                   rows[i].request, "it does not fit the cluster: | ",
                   rows[i].why);
    scene_script(s, script);
    assert_int_equal(pai_sched_next(s, 0), 0);
    if (strstr(rows[i].request, "+") == NULL) {
      (void)snprintf(script, sizeof(script),
                     "%s; policy hived => nothing\nreason 1 ~ %s",
                     rows[i].request, rows[i].why);
      scene_script(before, script);
    }
    pai_sched_free(before);
  }
  scene_script(s, "submit 1 gpus=1 vc=b pin=P => start 1");
  pai_sched_free(s);
}

/* --- safety --------------------------------------------------------------- */

enum { REQUESTS = 400 };

typedef struct crowd {
  pai_sched *s;
  pai__prng random;
  struct {
    bool b; /* its virtual cluster: a or b */
    int priority;
    bool lazy, runs;
  } all[REQUESTS + 1];
} crowd;

/* A gang that its virtual cluster may have, or anybody's. */
static void arrive(crowd *c, uint64_t id)
{
  pai_want wants[2] = { scene_want(1, 1), scene_want(1, 0) };
  bool b = pai__prng_below(&c->random, 3) == 0;

  c->all[id].b = b;
  c->all[id].priority = (int)pai__prng_below(&c->random, 4) - 1;
  c->all[id].lazy = pai__prng_below(&c->random, 3) == 0;
  wants[0].gpus = 1 + (uint32_t)pai__prng_below(&c->random, 4);
  wants[0].tasks = b ? 1 : 1 + (uint32_t)pai__prng_below(&c->random, 3);
  wants[0].cpus = (uint32_t)pai__prng_below(&c->random, 12);
  assert_ok(scene_request(
    c->s,
    &(pai_request){ .id = id,
                    .vc = b ? "b" : "a",
                    .priority = c->all[id].priority,
                    .lazy = c->all[id].lazy,
                    .wants = wants,
                    .nwants = 1 + pai__prng_below(&c->random, 2) },
    NULL));
}

/* Who has a right to his cells, and does not give it up lazily, is stopped only
 * by more important ones of his own virtual cluster. */
static void look(crowd *c)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(c->s, scene_now(c->s), NULL);

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(c->s, (size_t)i, &d));
    if (d.kind != PAI_DECISION_STOP) {
      c->all[d.id].runs = true;
      continue;
    }
    if (c->all[d.id].priority >= 0 && !c->all[d.id].lazy &&
        (c->all[d.by].b != c->all[d.id].b ||
         c->all[d.by].priority <= c->all[d.id].priority))
      fail_msg("%d of %s, of priority %d, is stopped for %d", (int)d.id,
               c->all[d.id].b ? "b" : "a", c->all[d.id].priority, (int)d.by);
  }
  for (int i = n; i > 0; i--)
    if (pai_sched_decision(c->s, (size_t)i - 1, &d) == PAI_OK &&
        d.kind == PAI_DECISION_STOP && pai__prng_below(&c->random, 2) == 0) {
      c->all[d.id].runs = false;
      assert_ok(scene_finish(c->s, d.id));
      break;
    }
}

TEST(nobody_loses_what_he_owns)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    crowd c = { .s = scene_new(BOTH, "hived", NULL, NULL) };

    c.random.state = seed;
    for (uint64_t id = 1; id <= REQUESTS; id++) {
      arrive(&c, id);
      look(&c);
      for (uint64_t i = id > 8 ? id - 8 : 1; i < id; i++)
        if (c.all[i].runs && pai__prng_below(&c.random, 4) == 0 &&
            scene_finish(c.s, i) == PAI_OK)
          c.all[i].runs = false;
      look(&c);
    }
    pai_sched_free(c.s);
  }
}
