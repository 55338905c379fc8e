/* Planning ahead: backfill, EASY and conservative. */
#include "scene.h"

#include "base/buf.h"
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

static void arrays_are_promised_place_by_place(void **state)
{
  pai_sched *s =
    scene_new(POOL, "backfill", "{\"mode\":\"conservative\"}", NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = {
    .id = 1, .wants = &want, .nwants = 1, .duration = 100, .instances = 5
  };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(job(s, 2, 2, 250), PAI_OK); /* beside them all */
  assert_int_equal(job(s, 3, 10, 100), PAI_OK);
  assert_int_equal(job(s, 4, 4, 100), PAI_OK); /* beside the last of them */
  assert_string_equal(scene_decide(s), "start 1, start 1.1, start 2");
  assert_int_equal(until(s, 1), 100);
  assert_int_equal(until(s, 3), 300); /* three times two of them */
  assert_int_equal(until(s, 4), 200);
  assert_int_equal(scene_change(s, 1, "at_once", 2), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 1), "throttle");
  pai_sched_free(s);
}

static void what_comes_after_another_is_planned_when_it_may(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);
  pai_want want = scene_want(1, 10);
  pai_after after = { 1, PAI_AFTER_OK };
  pai_request q = { .id = 2,
                    .wants = &want,
                    .nwants = 1,
                    .duration = 50,
                    .after = &after,
                    .nafter = 1 };

  (void)state;
  assert_int_equal(job(s, 1, 1, 100), PAI_OK);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(job(s, 3, 9, 200), PAI_OK); /* nothing is kept for it */
  assert_string_equal(scene_decide(s), "start 1, start 3");
  assert_string_equal(scene_lack(s, 2), "after");
  set_time(s, 100);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(until(s, 2), 200);
  pai_sched_free(s);
}

static void important_requests_are_planned_first(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);

  (void)state;
  assert_int_equal(job(s, 1, 10, 100), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 10, 100), PAI_OK);
  assert_int_equal(job(s, 3, 10, 100), PAI_OK);
  assert_int_equal(scene_change(s, 3, "priority", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(until(s, 3), 100);
  assert_int_equal(until(s, 2), 0);
  pai_sched_free(s);
}

static void what_is_not_known_to_end_is_waited_for_in_vain(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);

  (void)state;
  assert_int_equal(job(s, 1, 6, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 8, 100), PAI_OK); /* nobody knows when */
  assert_int_equal(job(s, 3, 4, 100), PAI_OK); /* so it delays nobody */
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(until(s, 2), 0);
  pai_sched_free(s);
  /* An hour is assumed: then the second is promised that. */
  s = scene_new(POOL, "backfill", "{\"assume\":3600}", NULL);
  assert_int_equal(job(s, 1, 6, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 8, 100), PAI_OK);
  assert_int_equal(job(s, 3, 4, INT64_C(7200000000)), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_true(until(s, 2) == INT64_C(3600000000));
  pai_sched_free(s);
}

static void what_runs_too_long_may_end_at_any_moment(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);

  (void)state;
  assert_int_equal(job(s, 1, 6, 100), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 8, 100), PAI_OK);
  set_time(s, 500);
  assert_int_equal(job(s, 3, 4, 100), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(until(s, 2), 501);
  assert_string_equal(scene_lack(s, 3), "later");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

/* A node is free; the share is not, before 100. */
static void a_share_is_waited_for(void **state)
{
  static const char text[] =
    "skus:\n"
    "  a: {gpu: v100, gpus: 4, cpus: 16, memory: 32G}\n"
    "nodes:\n"
    "  - {name: \"a[1-3]\", sku: a}\n"
    "virtualClusters:\n"
    "  default: {cells: {a: 1}}\n"
    "  other: {cells: {a: 2}}\n";
  pai_sched *s = scene_new(text, "backfill", NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = {
    .id = 3, .vc = "other", .wants = &want, .nwants = 1, .duration = 100
  };

  (void)state;
  assert_int_equal(job(s, 1, 3, 100), PAI_OK);
  assert_int_equal(job(s, 2, 2, 100), PAI_OK);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(job(s, 4, 1, 200), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 3, start 4");
  assert_string_equal(scene_lack(s, 2), "quota");
  assert_int_equal(until(s, 2), 100);
  pai_sched_free(s);
}

static void wrong_options_are_told(void **state)
{
  static const char *const wrong[] = {
    "{\"mode\":\"hard\"}", "\"mode\" is \"easy\" or \"conservative\"",
    "{\"depth\":-1}",      "\"depth\" is from 0",
    "{\"assume\":true}",   "\"assume\" is a whole number",
    "{\"speed\":1}",       "no option \"speed\"",
  };
  pai_cluster *c;

  (void)state;
  assert_int_equal(pai_cluster_synthetic(&c, POOL, NULL, NULL), PAI_OK);
  for (size_t i = 0; i < PAI__LEN(wrong); i += 2) {
    pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
    pai_sched *s;
    pai_error *err = NULL;

    o.policy = "backfill";
    o.policy_options = wrong[i];
    assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_EINVAL);
    test_expect_error(err, PAI_EINVAL, wrong[i + 1]);
  }
  pai_cluster_free(c);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new("nodes:3 gpu:4 cpus:8 mem:1G", "backfill",
                           "{\"mode\":\"conservative\"}", alloc);
  pai_sched *fork = NULL;
  pai_want want = scene_want(5, 2);
  pai_request q = { .id = 3, .wants = &want, .nwants = 1, .duration = 10 };
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  (void)user_data;
  if (rc == PAI_OK)
    rc = job(s, 1, 3, 100);
  if (rc == PAI_OK)
    rc = job(s, 2, 4, 50);
  if (rc == PAI_OK)
    rc = scene_request(s, &q, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = job(s, 4, 4, 30);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0)
    rc = pai_sched_fork(&fork, s, NULL);
  if (rc == PAI_OK) {
    rc = pai_sched_decide(fork, 51, NULL);
    pai_sched_free(fork);
  }
  if (s != NULL) {
    pai_sched_view v = { .struct_size = sizeof(v) };

    assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
    assert_true(v.running <= v.requests);
  }
  pai_sched_free(s);
  return rc < 0 ? rc : PAI_OK;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(story, NULL);
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

/* A copy decides just as the original did. */
static void compare(const world *w, const char *decisions, pai_sched *copy)
{
  assert_string_equal(scene_decide(copy), decisions);
  for (uint64_t id = 1; id <= w->ids; id++) {
    pai_reason a = { .struct_size = sizeof(a) };
    pai_reason b = { .struct_size = sizeof(b) };

    assert_int_equal(pai_sched_reason(w->s, id, &a),
                     pai_sched_reason(copy, id, &b));
    assert_int_equal(a.lack, b.lack);
    assert_int_equal(a.until, b.until);
  }
  pai_sched_free(copy);
}

static void decide_thrice(const world *w)
{
  pai_sched *fork, *loaded;
  char decisions[4096];
  pai__buf text;

  pai__buf_init(&text, &pai__libc_alloc);
  assert_int_equal(pai_sched_fork(&fork, w->s, NULL), PAI_OK);
  assert_int_equal(pai_sched_save(w->s, test_collect, &text, NULL), PAI_OK);
  assert_int_equal(pai_sched_load(&loaded, text.data, text.len, NULL, NULL),
                   PAI_OK);
  pai__buf_dispose(&text);
  (void)snprintf(decisions, sizeof(decisions), "%s", scene_decide(w->s));
  compare(w, decisions, fork);
  compare(w, decisions, loaded);
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
    if (w->now % 4 == 0)
      decide_thrice(w);
    else
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
    cmocka_unit_test(arrays_are_promised_place_by_place),
    cmocka_unit_test(what_comes_after_another_is_planned_when_it_may),
    cmocka_unit_test(important_requests_are_planned_first),
    cmocka_unit_test(what_is_not_known_to_end_is_waited_for_in_vain),
    cmocka_unit_test(what_runs_too_long_may_end_at_any_moment),
    cmocka_unit_test(a_share_is_waited_for),
    cmocka_unit_test(wrong_options_are_told),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(nobody_who_comes_later_delays_a_promise),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
