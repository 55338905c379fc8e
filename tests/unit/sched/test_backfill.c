/* Planning ahead: backfill, EASY and conservative. */
#include "scene.h"

#include "base/prng.h"

#include <stdio.h>

#define POOL "nodes:1 gpu:10 cpus:64 mem:1G"

/* A job of one task that takes so long; 0: not known. */
static int job(pai_sched *s, uint64_t id, uint32_t gpus, pai_time duration)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .wants = &want, .nwants = 1, .duration = duration },
    NULL);
}

static pai_time until(const pai_sched *s, uint64_t id)
{
  pai_reason r = { .struct_size = sizeof(r) };

  assert_int_equal(pai_sched_reason(s, id, &r), PAI_OK);
  return r.until;
}

static void set_time(pai_sched *s, pai_time time)
{
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = time },
                NULL),
    PAI_OK);
}

/* 6 of 10 GPUs until 100.  Job 2 wants 8 and waits for them; job 3, short,
 * fits before; job 4, long, only beside it; job 5 neither. */
static void easy_lets_pass_who_does_not_delay_the_first(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(job(s, 1, 6, 100), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 8, 100), PAI_OK);
  assert_int_equal(job(s, 5, 3, 101), PAI_OK);
  assert_int_equal(job(s, 3, 2, 100), PAI_OK);
  assert_int_equal(job(s, 4, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 4");
  assert_int_equal(until(s, 2), 100);
  assert_int_equal(pai_sched_reason(s, 5, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_LATER);
  assert_int_equal(r.behind, 2);
  set_time(s, 100);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

/* Job 3 is promised 100 to 200 only if all are: then job 4 would delay it. */
static void conservative_delays_nobody(void **state)
{
  static const char *const modes[] = {
    "{\"mode\":\"easy\"}", "{\"mode\":\"conservative\"}",
    "{\"mode\":\"conservative\",\"depth\":1}"
  };

  (void)state;
  for (int i = 0; i < 3; i++) {
    pai_sched *s = scene_new(POOL, "backfill", modes[i], NULL);
    bool all = i == 1;
    pai_reason r = { .struct_size = sizeof(r) };

    assert_int_equal(job(s, 1, 6, 100), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(job(s, 2, 5, 100), PAI_OK); /* 100 to 200 */
    assert_int_equal(job(s, 3, 5, 100), PAI_OK); /* likewise, beside it */
    assert_int_equal(job(s, 4, 4, 150), PAI_OK); /* now, or at 200 */
    assert_string_equal(scene_decide(s), all ? "" : "start 4");
    assert_int_equal(until(s, 2), 100);
    assert_int_equal(until(s, 3), all ? 100 : 0);
    if (all) {
      assert_int_equal(pai_sched_reason(s, 4, &r), PAI_OK);
      assert_int_equal(r.lack, PAI_LACK_LATER);
      assert_int_equal(r.until, 200);
    }
    pai_sched_free(s);
  }
}

/* --- what was promised is kept -------------------------------------------- */

static const char *const clusters[] = {
  "nodes:3 gpu:4 cpus:16 mem:64G racks:1",
  "nodes:4 gpu:8:h100 racks:2 switch:4 link:4 cpus:32 mem:256G numa:2",
  "skus:\n"
  "  a: {gpu: v100, gpus: 4, cpus: 8, memory: 32G}\n"
  "  b: {gpu: a100, gpus: 8, cpus: 16, memory: 64G}\n"
  "nodes:\n"
  "  - {name: \"a[1-3]\", sku: a, rack: r1}\n"
  "  - {name: b1, sku: b, rack: r2, pin: build}\n"
  "  - {name: b2, sku: b, rack: r2}\n"
  "virtualClusters:\n"
  "  default: {cells: {a: 2, b: 1}}\n"
  "  other: {cells: {a: 1}, pins: [build]}\n"
};

enum { MOST = 64, TICKS = 120 };

typedef struct world {
  pai_sched *s;
  pai__prng random;
  uint64_t ids;
  uint64_t first; /* that is promised anything */
  pai_time now;
  pai_time promised[MOST]; /* of each id; 0: nothing */
  uint32_t waiting[MOST];
  pai_time takes[MOST];
} world;

static uint32_t any(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->random, n);
}

/* It takes as long as it says. */
static void submit_any(world *w)
{
  pai_want wants[2] = { scene_want(1, any(w, 9)), scene_want(1, any(w, 3)) };
  pai_request q = { .id = ++w->ids, .wants = wants, .nwants = 1 };

  if (any(w, 4) == 0)
    wants[0].tasks = 1 + any(w, 6);
  wants[0].cpus = any(w, 6);
  wants[0].ports = any(w, 3);
  if (any(w, 4) == 0)
    wants[0].type = any(w, 2) != 0 ? "v100" : "h100";
  if (any(w, 6) == 0)
    q.nwants = 2;
  if (any(w, 8) == 0)
    q.within = any(w, 3) != 0 ? "switch" : "rack";
  if (any(w, 3) == 0)
    q.vc = "other";
  if (any(w, 8) == 0)
    q.pin = "build";
  if (any(w, 5) == 0)
    q.instances = 1 + any(w, 5);
  if (any(w, 10) == 0)
    wants[0].min_tasks = 1;
  w->takes[q.id] = 1 + any(w, 30);
  *(any(w, 2) != 0 ? &q.duration : &q.limit) = w->takes[q.id];
  (void)scene_request(w->s, &q, NULL); /* may well be impossible */
}

static void end_some(world *w)
{
  pai_sched_event e = { .kind = PAI_SCHED_FINISHED };

  for (e.id = 1; e.id <= w->ids; e.id++) {
    pai_time started;

    e.instance = PAI_SCHED_ALL;
    while (pai_sched_next_running(w->s, e.id, &e.instance, &started) == PAI_OK)
      if (started + w->takes[e.id] <= w->now) {
        assert_int_equal(scene_event(w->s, e, NULL), PAI_OK);
        e.instance = PAI_SCHED_ALL;
      }
  }
}

static void keep_any(world *w)
{
  const char *node = any(w, 2) != 0 ? "node0001" : "a1";
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = "works",
                        .from = w->now + 5,
                        .to = w->now + 25,
                        .nodes = &node,
                        .nnodes = 1 };

  (void)scene_event(
    w->s, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r },
    NULL);
}

/* With EASY that of the one that was the first of all: when another starts, the
 * next one of its virtual cluster comes before the first of the others. */
static void check_promises(world *w, bool easy)
{
  uint64_t first = 0;

  for (uint64_t id = 1; id <= w->ids; id++) {
    pai_reason r = { .struct_size = sizeof(r) };
    pai_request_view v = { .struct_size = sizeof(v) };
    bool waits = pai_sched_reason(w->s, id, &r) == PAI_OK;

    if (pai_sched_view_request(w->s, id, &v) != PAI_OK || !waits)
      v.waiting = 0;
    if (w->promised[id] != 0 && v.waiting == w->waiting[id] &&
        (id == w->first || !easy)) {
      assert_true(w->promised[id] > w->now);
      assert_true(r.until != 0 && r.until <= w->promised[id]);
    }
    w->promised[id] = v.waiting != 0 ? r.until : 0;
    first = first == 0 && w->promised[id] != 0 ? id : first;
    w->waiting[id] = v.waiting;
  }
  w->first = first;
}

/* From the first request that asks for it on, GPUs of a switch are told from
 * those of another, and all is planned anew. */
static void ask_for_a_switch(world *w)
{
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = ++w->ids,
                    .within = "switch",
                    .wants = &want,
                    .nwants = 1,
                    .duration = 1 };

  w->takes[q.id] = 1;
  (void)scene_request(w->s, &q, NULL);
}

static void live(world *w, bool easy, bool reserve)
{
  ask_for_a_switch(w);
  for (w->now = 1; w->now < TICKS; w->now++) {
    bool late = w->now > TICKS / 2 || w->ids + 4 >= MOST;

    set_time(w->s, w->now);
    end_some(w);
    for (uint32_t n = late ? 0 : any(w, 4); n > 1; n--)
      submit_any(w);
    /* A reservation delays whom it likes. */
    if (reserve && w->now == 1)
      keep_any(w);
    assert_true(pai_sched_decide(w->s, w->now, NULL) >= 0);
    check_promises(w, easy);
  }
}

static void nobody_who_comes_later_delays_a_promise(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 120; round++) {
    world w = { .random = { round } };
    bool easy = round % 2 != 0;

    w.s = scene_new(clusters[round / 2 % 3], "backfill",
                    easy ? "{\"mode\":\"easy\"}"
                         : "{\"mode\":\"conservative\",\"place\":\"pack\"}",
                    NULL);
    assert_non_null(w.s);
    live(&w, easy, round % 5 == 0);
    pai_sched_free(w.s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(easy_lets_pass_who_does_not_delay_the_first),
    cmocka_unit_test(conservative_delays_nobody),
    cmocka_unit_test(nobody_who_comes_later_delays_a_promise),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
