/* What the plan of backfill knows of a request holds for those alike, and not
 * for those that only have the same hash: anybody may make some of these. */
#include "scene.h"

#include "sched/core.h"

/* All memory of the node. */
#define LARGE (UINT64_C(1) << 46)

static const char box[] =
  "skus: {box: {gpu: a100, gpus: 4, cpus: 512, memory: 64Ti}}\n"
  "nodes: [{name: n1, sku: box}]\n";
static const char plan[] = "{\"mode\":\"conservative\"}";

static void submit(pai_sched *s, uint64_t id, pai_want want, pai_time length)
{
  pai_request q = {
    .id = id, .duration = length, .wants = &want, .nwants = 1
  };

  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
}

/* As a plan would hash what a task takes, up to its memory. */
static uint64_t task_hash(const pai_want *w)
{
  return pai__mix(pai__mix(pai__mix(1, w->gpus), w->cpus), w->ports);
}

/* CPUs, ports and memory of two such that they have one hash, and a node has so
 * much: none of them is counted by it before. */
static void make_equal(pai_want *a, pai_want *b)
{
  for (uint32_t i = 0; i < 200 * 200 * 100; i++) {
    a->cpus = 1 + i % 200;
    b->cpus = 1 + i / 200 % 200;
    a->ports = i / 40000 % 10;
    b->ports = i / 400000;
    a->memory = 1 << 20;
    b->memory = a->memory ^ task_hash(a) ^ task_hash(b);
    if (b->memory < LARGE && b->memory > LARGE >> 6)
      return;
  }
  fail();
}

/* 2 needs more memory than is free beside 1, and is planned behind it.  3 needs
 * little, and starts. */
static void times_are_of_what_tasks_take(void **state)
{
  pai_sched *s = scene_new(box, "backfill", plan, NULL);
  pai_want most = scene_want(1, 1), large = scene_want(1, 1), small = large;

  (void)state;
  assert_non_null(s);
  make_equal(&small, &large);
  most.memory = LARGE - (LARGE >> 6);
  submit(s, 1, most, 100);
  assert_string_equal(scene_decide(s), "start 1");
  submit(s, 2, large, 50);
  submit(s, 3, small, 50);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(times_are_of_what_tasks_take),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
