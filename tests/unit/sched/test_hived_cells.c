/* HiveD as a policy: which cells what runs is in, and what it needs besides. */
#include "scene.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

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

static int request(pai_sched *s, uint64_t id, const char *vc, int priority,
                   uint32_t tasks, uint32_t gpus, uint32_t cpus)
{
  pai_want want = scene_want(tasks, gpus);

  want.cpus = cpus;
  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .priority = priority, .wants = &want, .nwants = 1 },
    NULL);
}

/* A node of its own, another's, and then the whole rack that is owned. */
static void a_rack_stays_whole(pai_sched *s)
{
  assert_int_equal(request(s, 3, "a", 0, 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(request(s, 4, "a", 0, 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 4), "quota");
  pai_sched_free(s);
}

static void each_start_is_in_the_cell_that_was_decided(void **state)
{
  pai_sched *s = scene_new(BOTH, "hived", NULL, NULL);

  (void)state;
  assert_int_equal(request(s, 1, "a", 0, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(request(s, 2, "b", 0, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  a_rack_stays_whole(s);
}

static void what_ran_before_gets_the_smallest_cells(void **state)
{
  pai_sched *s = scene_new(BOTH, "fifo", "{\"place\": \"pack\"}", NULL);

  (void)state;
  assert_int_equal(request(s, 1, "a", 0, 1, 4, 0), PAI_OK);
  assert_int_equal(request(s, 2, "b", 0, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_places(s, 2, 0), "1:f");
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "hived" }, NULL),
    PAI_OK);
  a_rack_stays_whole(s);
}

static void gangs_that_ran_before_get_cells_for_all(void **state)
{
  pai_sched *s = scene_new(BOTH, "fifo", NULL, NULL);

  (void)state;
  assert_int_equal(request(s, 1, "a", 0, 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:f 1:f");
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "hived" }, NULL),
    PAI_OK);
  assert_int_equal(request(s, 2, "b", 0, 1, 4, 0), PAI_OK);
  assert_int_equal(request(s, 3, "a", 0, 1, 4, 0), PAI_OK);
  assert_int_equal(request(s, 4, "a", 0, 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 3");
  assert_string_equal(scene_lack(s, 4), "quota");
  pai_sched_free(s);
}

static int reconfigure(pai_sched *s, const char *text)
{
  pai_cluster *c;
  int rc = pai_cluster_parse(&c, text, strlen(text), NULL, NULL);

  assert_int_equal(rc, PAI_OK);
  rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL);
  pai_cluster_free(c);
  return rc;
}

static void a_new_configuration_takes_no_cells_away(void **state)
{
  pai_sched *s = scene_new(BOTH, "hived", NULL, NULL);

  (void)state;
  assert_int_equal(request(s, 1, "a", 0, 1, 4, 0), PAI_OK);
  assert_int_equal(request(s, 3, "a", 0, 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 3");
  assert_int_equal(reconfigure(s, BOTH), PAI_OK);
  /* Nothing is left to anybody but b: who is promised a cell stays. */
  assert_int_equal(request(s, 2, "b", 0, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(request(s, 4, "a", 0, 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 4), "quota");
  pai_sched_free(s);
}

static void smaller_gangs_are_where_their_tasks_are(void **state)
{
  pai_sched *s = scene_new(BOTH, "fifo", NULL, NULL);
  pai_want want = scene_want(64, 1);

  (void)state;
  want.cpus = 0;
  want.min_tasks = 4;
  assert_int_equal(
    scene_request(
      s, &(pai_request){ .id = 1, .vc = "b", .wants = &want, .nwants = 1 },
      NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:1 0:2 0:4 0:8");
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "hived" }, NULL),
    PAI_OK);
  assert_int_equal(request(s, 2, "a", 0, 3, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(request(s, 3, "b", 0, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

/* --- what is beside GPUs -------------------------------------------------- */

static int mixed_gang(pai_sched *s, uint64_t id, uint32_t cpus)
{
  pai_want wants[] = { scene_want(2, 0), scene_want(1, 4) };

  wants[0].cpus = cpus;
  return scene_request(
    s, &(pai_request){ .id = id, .vc = "b", .wants = wants, .nwants = 2 },
    NULL);
}

static void tasks_without_gpus_go_beside_the_cells(void **state)
{
  pai_sched *s = scene_new(BOTH, "hived", NULL, NULL);

  (void)state;
  assert_int_equal(mixed_gang(s, 1, 20), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:0 1:0 0:f");
  /* Its GPUs are those of b's one cell. */
  assert_int_equal(request(s, 2, "b", 0, 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "quota");
  pai_sched_free(s);
}

static void and_where_there_is_room(void **state)
{
  pai_sched *s = scene_new(BOTH, "hived", NULL, NULL);

  (void)state;
  for (uint64_t id = 1; id <= 3; id++)
    assert_int_equal(request(s, id, "a", 0, 1, 0, 31), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_int_equal(mixed_gang(s, 4, 20), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 4), "policy");
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_int_equal(scene_finish(s, 4), PAI_OK);
  /* Not where the one with GPUs is, which needs less besides. */
  assert_int_equal(request(s, 5, "a", 0, 1, 0, 31), PAI_OK);
  assert_int_equal(mixed_gang(s, 6, 16), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5, start 6");
  assert_string_equal(scene_places(s, 6, 0), "3:0 3:0 2:f");
  pai_sched_free(s);
}

static void who_is_less_important_gives_cpus_back(void **state)
{
  pai_sched *s = scene_new(BOTH, "hived", NULL, NULL);

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(request(s, id, "b", -1, 1, 4, 32), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  assert_int_equal(request(s, 5, "b", 0, 1, 4, 32), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_string_equal(scene_lack(s, 5), "victims");
  assert_string_equal(scene_decide(s), ""); /* it stays with its choice */
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = 1 },
                NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 5");
  pai_sched_free(s);
}

/* A place that another policy had claimed: who gets it is in its cells. */
static void what_was_claimed_is_known(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8", "priority", NULL, NULL);

  (void)state;
  assert_int_equal(request(s, 1, NULL, -1, 1, 4, 0), PAI_OK);
  assert_int_equal(request(s, 2, NULL, -1, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(request(s, 3, NULL, 5, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "hived" }, NULL),
    PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(request(s, 4, NULL, 5, 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  pai_sched_free(s);
}

/* --- what never can be ---------------------------------------------------- */

static int submit_to(pai_sched *s, const char *vc, const char *pin,
                     int priority, pai_error **err)
{
  pai_want want = scene_want(1, 1);

  return scene_request(s,
                       &(pai_request){ .id = 1,
                                       .vc = vc,
                                       .pin = pin,
                                       .priority = priority,
                                       .wants = &want,
                                       .nwants = 1 },
                       err);
}

/* Told at once; and one that was there before the policy waits, and is told
 * the same. */
static void assert_never(const char *vc, const char *pin, int priority,
                         const char *why)
{
  pai_sched *s = scene_new(PINNED, "hived", NULL, NULL);
  pai_sched *before = scene_new(PINNED, "priority", NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };
  pai_error *err = NULL;

  assert_int_equal(submit_to(s, vc, pin, priority, &err), PAI_ENOROOM);
  assert_non_null(strstr(pai_error_message(pai_error_cause(err)),
                         "it does not fit the cluster: "));
  assert_non_null(strstr(pai_error_message(pai_error_cause(err)), why));
  pai_error_free(err);
  assert_int_equal(pai_sched_next(s, 0), 0);
  pai_sched_free(s);

  assert_int_equal(submit_to(before, vc, pin, priority, NULL), PAI_OK);
  assert_int_equal(
    scene_event(before,
                (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "hived" },
                NULL),
    PAI_OK);
  assert_string_equal(scene_decide(before), "");
  assert_int_equal(pai_sched_reason(before, 1, &r), PAI_OK);
  assert_non_null(r.text);
  assert_non_null(strstr(r.text, why));
  pai_sched_free(before);
}

static void what_never_can_run_says_so(void **state)
{
  pai_sched *s = scene_new(PINNED, "hived", NULL, NULL);
  pai_want wants[] = { scene_want(1, 1), scene_want(1, 1) };
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(submit_to(s, "b", "P", 0, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_never("b", NULL, 0, "pinned ones, which are");
  assert_never("a", "P", 0, "not one of its own");
  assert_never("b", "P", -1, "opportunistic");
  wants[1].type = "GPU";
  assert_int_equal(
    scene_request(
      s, &(pai_request){ .id = 2, .vc = "a", .wants = wants, .nwants = 2 },
      &err),
    PAI_ENOROOM);
  assert_non_null(
    strstr(pai_error_message(pai_error_cause(err)), "GPUs of several types"));
  pai_error_free(err);
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
  assert_int_equal(
    scene_request(
      c->s,
      &(pai_request){ .id = id,
                      .vc = b ? "b" : "a",
                      .priority = c->all[id].priority,
                      .lazy = c->all[id].lazy,
                      .wants = wants,
                      .nwants = 1 + pai__prng_below(&c->random, 2) },
      NULL),
    PAI_OK);
}

/* Who has a right to his cells, and does not give it up lazily, is stopped only
 * by more important ones of his own virtual cluster. */
static void look(crowd *c)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(c->s, scene_now(c->s), NULL);

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    assert_int_equal(pai_sched_decision(c->s, (size_t)i, &d), PAI_OK);
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
      assert_int_equal(scene_finish(c->s, d.id), PAI_OK);
      break;
    }
}

static void nobody_loses_what_he_owns(void **state)
{
  (void)state;
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_start_is_in_the_cell_that_was_decided),
    cmocka_unit_test(what_ran_before_gets_the_smallest_cells),
    cmocka_unit_test(gangs_that_ran_before_get_cells_for_all),
    cmocka_unit_test(a_new_configuration_takes_no_cells_away),
    cmocka_unit_test(smaller_gangs_are_where_their_tasks_are),
    cmocka_unit_test(tasks_without_gpus_go_beside_the_cells),
    cmocka_unit_test(and_where_there_is_room),
    cmocka_unit_test(who_is_less_important_gives_cpus_back),
    cmocka_unit_test(what_never_can_run_says_so),
    cmocka_unit_test(what_was_claimed_is_known),
    cmocka_unit_test(nobody_loses_what_he_owns),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
