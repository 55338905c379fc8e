/* HiveD as a policy: which cells what runs is in, and what it needs besides. */
#include "scene.h"

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

/* --- what never can be ---------------------------------------------------- */

static const char *why_not(const char *vc, const char *pin, int priority)
{
  static char words[512];
  pai_sched *s = scene_new(PINNED, "hived", NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };
  pai_want want = scene_want(1, 1);

  assert_int_equal(scene_request(s,
                                 &(pai_request){ .id = 1,
                                                 .vc = vc,
                                                 .pin = pin,
                                                 .priority = priority,
                                                 .wants = &want,
                                                 .nwants = 1 },
                                 NULL),
                   PAI_OK);
  (void)scene_decide(s);
  words[0] = '\0';
  if (pai_sched_reason(s, 1, &r) == PAI_OK && r.text != NULL)
    (void)snprintf(words, sizeof(words), "%s", r.text);
  pai_sched_free(s);
  return words;
}

static void what_never_can_run_says_so(void **state)
{
  pai_sched *s = scene_new(PINNED, "hived", NULL, NULL);
  pai_want wants[] = { scene_want(1, 1), scene_want(1, 1) };

  (void)state;
  assert_string_equal(why_not("b", "P", 0), "");
  assert_non_null(strstr(why_not("b", NULL, 0), "pinned ones, which are"));
  assert_non_null(strstr(why_not("a", "P", 0), "not one of its own"));
  assert_non_null(strstr(why_not("b", "P", -1), "opportunistic"));
  wants[1].type = "GPU";
  assert_int_equal(
    scene_request(
      s, &(pai_request){ .id = 1, .vc = "a", .wants = wants, .nwants = 2 },
      NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 1), "policy");
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_start_is_in_the_cell_that_was_decided),
    cmocka_unit_test(what_ran_before_gets_the_smallest_cells),
    cmocka_unit_test(a_new_configuration_takes_no_cells_away),
    cmocka_unit_test(smaller_gangs_are_where_their_tasks_are),
    cmocka_unit_test(tasks_without_gpus_go_beside_the_cells),
    cmocka_unit_test(and_where_there_is_room),
    cmocka_unit_test(who_is_less_important_gives_cpus_back),
    cmocka_unit_test(what_never_can_run_says_so),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
