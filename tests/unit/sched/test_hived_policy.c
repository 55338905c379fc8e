/* HiveD as a policy: shares that are cells, preemption, what is remembered. */
#include "scene.h"

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

static int give_back(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

static void shares_are_cells(void **state)
{
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL);

  (void)state;
  assert_non_null(s);
  assert_int_equal(submit(s, 1, "b", 1, 2, 0), PAI_OK);
  assert_int_equal(submit(s, 2, "b", 1, 4, 0), PAI_OK);
  assert_int_equal(submit(s, 3, "b", 1, 5, 0), PAI_ENOROOM);
  assert_int_equal(submit(s, 4, "b", 2, 4, 0), PAI_ENOROOM);
  assert_int_equal(submit(s, 5, "a", 2, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 5");
  assert_string_equal(scene_lack(s, 2), "quota");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

static void who_borrows_gives_way(void **state)
{
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL);

  (void)state;
  /* All four nodes, of which three belong to somebody. */
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(submit(s, id, "b", 1, 4, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  assert_int_equal(submit(s, 5, "a", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_string_equal(scene_lack(s, 5), "victims");
  assert_int_equal(submit(s, 6, "b", 1, 4, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(give_back(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 5"); /* not 1, nor 6 */
  pai_sched_free(s);
}

static void a_claim_that_is_cancelled_is_forgotten(void **state)
{
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL);
  pai_sched_event e = { .kind = PAI_SCHED_CANCEL,
                        .id = 5,
                        .instance = PAI_SCHED_ALL };

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(submit(s, id, "b", 1, 4, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3, start 4");
  assert_int_equal(submit(s, 5, "a", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  assert_int_equal(give_back(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

/* HiveD has no cells for tasks without GPUs: these go where what they name is,
 * and nobody else is held up. */
static void tasks_without_gpus_may_name_a_kind(void **state)
{
  static const char text[] = "skus:\n"
                             "  plain: {cpus: 8, memory: 8G}\n"
                             "  old: {gpu: v, gpus: 4, cpus: 8, memory: 8G}\n"
                             "  big: {gpu: h, gpus: 4, cpus: 8, memory: 8G}\n"
                             "nodes:\n"
                             "  - {name: p1, sku: plain}\n"
                             "  - {name: o1, sku: old}\n"
                             "  - {name: b1, sku: big}\n";
  pai_want wants[] = { scene_want(1, 1), scene_want(2, 0), scene_want(1, 0) };
  pai_request q = { .id = 1, .wants = wants, .nwants = 3 };
  pai_sched *s = scene_new(text, "hived", NULL, NULL);

  (void)state;
  assert_non_null(s);
  wants[1].type = "h";
  wants[2].type = "old";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  q.id = 2;
  wants[1].cpus = 6; /* of 8, there is room for one of them */
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOROOM);
  wants[1].tasks = 1;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 3");
  assert_string_equal(scene_places(s, 1, 0), "2:1 2:0 2:0 1:0");
  assert_string_equal(scene_lack(s, 2), "policy");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "2:1 2:0 1:0");
  pai_sched_free(s);
}

/* Half of it is a's. */
static int set_parts(pai_sched *s, const char *more)
{
  char text[512];
  pai_cluster *c;
  int rc;

  (void)snprintf(text, sizeof(text),
                 "skus: {box: {gpu: a100, gpus: 4}}\n"
                 "nodes: [{name: \"n[0-1]\", sku: box}]\n"
                 "virtualClusters: {default: {part: rest}, "
                 "a: {part: 50%%, max: 100%%%s}, "
                 "b: {part: 50%%, max: 100%%}}\n",
                 more);
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                   PAI_OK);
  rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL);
  pai_cluster_free(c);
  return rc;
}

/* The important ones of a virtual cluster have its part, wherever the others
 * are. */
static void a_part_is_for_the_important(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:a100", "hived", NULL, NULL);

  (void)state;
  assert_int_equal(set_parts(s, ""), PAI_OK);
  /* All that a may have: opportunistic ones, on cells of others, too. */
  assert_int_equal(submit(s, 1, "a", 1, 4, -1), PAI_OK);
  assert_int_equal(submit(s, 2, "a", 1, 4, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(submit(s, 3, "a", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_int_equal(give_back(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(submit(s, 4, "a", 1, 4, 10), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted");
  assert_int_equal(give_back(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_string_equal(scene_lack(s, 3), "quota");
  pai_sched_free(s);
}

/* There is a free cell, and no more of the part: as many stop as it takes. */
static void a_part_is_asked_back(void **state)
{
  pai_sched *s = scene_new("nodes:4 gpu:1:a100", "hived", NULL, NULL);
  pai_cluster *c;
  static const char text[] =
    "skus: {box: {gpu: a100, gpus: 1}}\n"
    "nodes: [{name: \"n[0-3]\", sku: box}]\n"
    "virtualClusters: {default: {part: rest}, a: {part: 50%}}\n";

  (void)state;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL),
    PAI_OK);
  pai_cluster_free(c);
  assert_int_equal(submit(s, 1, "a", 1, 1, -1), PAI_OK);
  assert_int_equal(submit(s, 2, "a", 1, 1, -1), PAI_OK);
  assert_int_equal(submit(s, 3, "a", 1, 1, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_lack(s, 3), "quota");
  assert_int_equal(submit(s, 4, "a", 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  assert_string_equal(scene_lack(s, 4), "victims");
  assert_string_equal(scene_decide(s), ""); /* no other one */
  assert_int_equal(give_back(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  pai_sched_free(s);
}

/* Less important ones that have nothing of what is short go on. */
static void who_frees_nothing_goes_on(void **state)
{
  pai_sched *s = scene_new("nodes:4 gpu:1:a100 cpus:8", "hived", NULL, NULL);
  pai_want want = scene_want(1, 0);
  pai_cluster *c;
  static const char text[] =
    "skus: {box: {gpu: a100, gpus: 1, cpus: 8}}\n"
    "nodes: [{name: \"n[0-3]\", sku: box}]\n"
    "virtualClusters: {default: {part: rest}, a: {part: 50%}}\n";

  (void)state;
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL),
    PAI_OK);
  pai_cluster_free(c);
  assert_int_equal(submit(s, 1, "a", 1, 1, -1), PAI_OK);
  assert_int_equal(submit(s, 2, "a", 1, 1, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  want.cpus = 1; /* no GPU; the youngest, so it would be the first to go */
  assert_int_equal(
    scene_request(
      s,
      &(pai_request){
        .id = 3, .vc = "a", .priority = -1, .wants = &want, .nwants = 1 },
      NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(submit(s, 4, "a", 1, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted");
  assert_string_equal(scene_lack(s, 4), "victims");
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(give_back(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  pai_sched_free(s);
}

/* Cells that are reserved are free again when the virtual cluster is stopped. */
static void a_claim_ends_with_its_virtual_cluster(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4:a100", "hived", NULL, NULL);

  (void)state;
  assert_int_equal(set_parts(s, ""), PAI_OK);
  assert_int_equal(submit(s, 1, "b", 1, 4, -1), PAI_OK);
  assert_int_equal(submit(s, 2, "b", 1, 4, -1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(submit(s, 3, "a", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_int_equal(set_parts(s, ", stopped: true"), PAI_OK);
  assert_int_equal(give_back(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_lack(s, 3), "stopped");
  pai_sched_free(s);
}

static void sick_nodes_are_left_out(void **state)
{
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL);
  pai_sched_event e = { .kind = PAI_SCHED_NODE, .gpu = -1 };
  static const char *const nodes[] = { "n0", "n1", "n3" };

  (void)state;
  for (size_t i = 0; i < 3; i++) {
    e.node = nodes[i];
    e.number = PAI_NODE_SICK;
    assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  }
  assert_int_equal(submit(s, 1, "a", 1, 4, 0), PAI_OK);
  assert_int_equal(submit(s, 2, "a", 1, 4, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "2:f");
  assert_string_equal(scene_lack(s, 2), "health");
  e.number = PAI_NODE_UP;
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

static void machines_without_cells_get_them(void **state)
{
  pai_sched *s =
    scene_new("nodes:2 gpu:8:h100 switch:4 cpus:16", "hived", NULL, NULL);
  pai_want want = scene_want(2, 3);

  (void)state;
  assert_non_null(s);
  assert_int_equal(scene_submit(s, 1, 2, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:7 0:70"); /* by switch */
  want.cpus = 15; /* more than the node has left beside them */
  assert_int_equal(
    scene_request(s, &(pai_request){ .id = 2, .wants = &want, .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_submit(s, 3, 1, 0), PAI_OK); /* without GPUs */
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

static void who_comes_in_between_keeps_what_runs(void **state)
{
  pai_sched *s = scene_new(CELLS, "fifo", NULL, NULL);
  pai_sched_event e = { .kind = PAI_SCHED_POLICY, .text = "hived" };

  (void)state;
  assert_int_equal(submit(s, 1, "a", 2, 4, 0), PAI_OK);
  assert_int_equal(submit(s, 2, "b", 1, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  assert_int_equal(submit(s, 3, "a", 1, 1, 0), PAI_OK);
  assert_int_equal(submit(s, 4, "b", 1, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_string_equal(scene_lack(s, 3), "quota");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
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
      (void)give_back(s, one);
  } else {
    e.node = nodes[pai__prng_below(random, 4)];
    e.number = pai__prng_below(random, 2) ? PAI_NODE_SICK : PAI_NODE_UP;
    assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  }
}

/* What was asked to stop stops. */
static void obey(pai_sched *s, const char *decisions)
{
  unsigned long long id;

  while ((decisions = strstr(decisions, "stop ")) != NULL) {
    decisions += 5;
    id = strtoull(decisions, NULL, 10);
    assert_int_equal(give_back(s, id), PAI_OK);
  }
}

static void a_fork_goes_the_same_way(void **state)
{
  pai__prng random = { 7 }, again;
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL), *fork;
  char first[4096], copy[4096];

  (void)state;
  for (uint64_t id = 1; id < 400; id++) {
    happen(s, &random, id);
    assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK);
    again = random;
    (void)snprintf(first, sizeof(first), "%s", scene_decide(s));
    assert_string_equal(scene_decide(fork), first);
    (void)snprintf(copy, sizeof(copy), "%s", first);
    obey(s, copy);
    obey(fork, copy);
    happen(s, &random, id + 1000);
    happen(fork, &again, id + 1000);
    (void)snprintf(first, sizeof(first), "%s", scene_decide(s));
    assert_string_equal(scene_decide(fork), first);
    obey(s, first);
    pai_sched_free(fork);
  }
  pai_sched_free(s);
}

static char saved[2][1 << 20];

static int keep(void *user_data, const char *bytes, size_t len)
{
  char *text = user_data;
  size_t at = strlen(text);

  assert_true(at + len < sizeof(saved[0]));
  memcpy(text + at, bytes, len);
  text[at + len] = '\0';
  return PAI_OK;
}

static const char *save(const pai_sched *s, int which)
{
  saved[which][0] = '\0';
  assert_int_equal(pai_sched_save(s, keep, saved[which], NULL), PAI_OK);
  return saved[which];
}

static void what_was_saved_goes_the_same_way(void **state)
{
  pai__prng random = { 11 }, again;
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL), *other;
  pai_error *err = NULL;
  char first[4096];

  (void)state;
  for (uint64_t id = 1; id < 300; id++) {
    happen(s, &random, id);
    (void)save(s, 0);
    if (pai_sched_load(&other, saved[0], strlen(saved[0]), NULL, &err) < 0)
      fail_msg("%s", pai_error_message(err));
    assert_string_equal(save(other, 1), saved[0]);
    again = random;
    (void)snprintf(first, sizeof(first), "%s", scene_decide(s));
    assert_string_equal(scene_decide(other), first);
    obey(s, first);
    obey(other, first);
    for (uint64_t i = 1; i < 4; i++) {
      happen(s, &random, id + 1000 * i);
      happen(other, &again, id + 1000 * i);
      (void)snprintf(first, sizeof(first), "%s", scene_decide(s));
      assert_string_equal(scene_decide(other), first);
      obey(s, first);
      obey(other, first);
    }
    (void)save(s, 0);
    assert_string_equal(save(other, 1), saved[0]);
    pai_sched_free(other);
  }
  pai_sched_free(s);
}

/* Whatever number is changed: it is refused, or it can be lived with. */
static void a_state_that_was_changed_does_no_harm(void **state)
{
  static const char *const numbers[] = { "-1",    "0",          "1", "7",
                                         "99999", "4294967295", "-3" };
  pai__prng random = { 5 };
  pai_sched *s = scene_new(CELLS, "hived", NULL, NULL), *other;
  const char *cells;
  unsigned refused = 0;

  (void)state;
  for (uint64_t id = 1; id < 60; id++) {
    happen(s, &random, id);
    obey(s, strcpy(saved[1], scene_decide(s)));
  }
  cells = strstr(save(s, 0), "\"cells\"");
  assert_non_null(cells);
  for (unsigned round = 0; round < 3000; round++) {
    size_t at = (size_t)(cells - saved[0]) +
                pai__prng_below(&random, strlen(cells)),
           end;

    while (saved[0][at] != '\0' && (saved[0][at] < '0' || saved[0][at] > '9' ||
                                    strchr("[,-", saved[0][at - 1]) == NULL))
      at++;
    for (end = at; saved[0][end] >= '0' && saved[0][end] <= '9';)
      end++;
    (void)snprintf(saved[1], sizeof(saved[1]), "%.*s%s%s", (int)at, saved[0],
                   numbers[pai__prng_below(&random, PAI__LEN(numbers))],
                   saved[0] + end);
    if (pai_sched_load(&other, saved[1], strlen(saved[1]), NULL, NULL) < 0) {
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
  pai_sched_free(s);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(CELLS, "hived", NULL, alloc), *fork = NULL;
  int rc = PAI_ENOMEM;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  if (submit(s, 1, "b", 2, 4, -1) == PAI_OK &&
      submit(s, 2, "b", 2, 4, -1) == PAI_OK)
    rc = pai_sched_decide(s, 0, NULL);
  if (rc >= 0)
    rc = submit(s, 3, "a", 2, 4, 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 0, NULL);
  if (rc >= 0)
    rc = pai_sched_fork(&fork, s, NULL);
  pai_sched_free(fork);
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
    cmocka_unit_test(shares_are_cells),
    cmocka_unit_test(who_borrows_gives_way),
    cmocka_unit_test(a_claim_that_is_cancelled_is_forgotten),
    cmocka_unit_test(tasks_without_gpus_may_name_a_kind),
    cmocka_unit_test(a_part_is_for_the_important),
    cmocka_unit_test(a_part_is_asked_back),
    cmocka_unit_test(who_frees_nothing_goes_on),
    cmocka_unit_test(a_claim_ends_with_its_virtual_cluster),
    cmocka_unit_test(sick_nodes_are_left_out),
    cmocka_unit_test(machines_without_cells_get_them),
    cmocka_unit_test(who_comes_in_between_keeps_what_runs),
    cmocka_unit_test(a_fork_goes_the_same_way),
    cmocka_unit_test(what_was_saved_goes_the_same_way),
    cmocka_unit_test(a_state_that_was_changed_does_no_harm),
    cmocka_unit_test(failing_memory_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
