/* The scheduler core with fifo: gangs, reasons, what is given back. */
#include "scene.h"

#include "sched/flat.h"

#include "sched/queue.h"

#define BOX "nodes:1 gpu:4 cpus:8 mem:1G"
#define TWO "nodes:2 gpu:4 cpus:8 mem:1G"

static void a_gang_is_placed_whole_or_not_at_all(void **state)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 3, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 2), PAI_OK); /* one task fits now */
  assert_int_equal(scene_submit(s, 3, 1, 2), PAI_OK); /* fits, but behind 2 */
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:3 0:c 1:3");
  assert_int_equal(pai_sched_reason(s, 1, &r), PAI_ENOTFOUND);
  assert_int_equal(pai_sched_reason(s, 2, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_GANG);
  assert_int_equal(r.of, PAI_LACK_GPU);
  assert_int_equal(r.wanted, 2);
  assert_int_equal(r.placed, 1);
  assert_int_equal(r.tasks, 2);
  assert_int_equal(r.found, 0);
  assert_int_equal(pai_sched_reason(s, 3, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_TURN);
  assert_int_equal(r.behind, 2);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 3");
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 4, 8, 1), PAI_OK); /* all there is */
  assert_string_equal(scene_decide(s), "start 4");
  pai_sched_free(s);
}

static void the_impossible_is_refused_with_its_reason(void **state)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);
  pai_want want = scene_want(1, 5);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  assert_string_equal(pai_error_help(err), "ask for less per task");
  test_expect_error(err, PAI_ENOROOM,
                    "a task asks for 5 GPUs, and no machine has more than 4");
  want = scene_want(3, 3);
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "beside 2 others of it");
  want = scene_want(1, 1);
  want.memory = UINT64_C(2) << 30;
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "2048 MiB of memory");
  want = scene_want(1, 1);
  want.type = "v100";
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "'v100'");
  want.type = NULL;
  want.ports = 11;
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "11 ports");
  want.ports = 0;
  q.within = "node";
  want = scene_want(5, 1);
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "within one node");
  want = scene_want(1, 1);
  q = (pai_request){ .wants = &want, .nwants = 1 };
  assert_int_equal(scene_request(s, &q, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "the id of a request is not 0");
  q = (pai_request){ .id = 1 };
  assert_int_equal(scene_request(s, &q, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "it has no wants");
  q = (pai_request){ .id = 1, .vc = "defualt", .wants = &want, .nwants = 1 };
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err), "did you mean 'default'?");
  test_expect_error(err, PAI_ENOTFOUND, "'defualt'");
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK); /* nothing is left */
  pai_sched_free(s);
}

static void ports_are_given_once_and_rest_before_they_return(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want want = scene_want(2, 0);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };
  pai_task_place p = { .struct_size = sizeof(p) };

  (void)state;
  want.ports = 3;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_task(s, 1, 0, 1, &p), PAI_OK);
  assert_int_equal(p.nports, 3);
  assert_int_equal(p.ports[0], 20003);
  assert_int_equal(p.ports[2], 20005);
  assert_int_equal(p.want, 0);
  assert_int_equal(p.index, 1);
  q.id = 2;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "gang"); /* 4 are left, 3 + 3 wanted */
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(pai_sched_task(s, 2, 0, 0, &p), PAI_OK);
  assert_int_equal(p.ports[0], 20006);
  assert_int_equal(pai_sched_task(s, 2, 0, 1, &p), PAI_OK);
  assert_int_equal(p.ports[0], 20009);
  assert_int_equal(p.ports[1], 20000);
  pai_sched_free(s);
}

static int lose(pai_sched *s, const char *node, int64_t port)
{
  return scene_event(s,
                     (pai_sched_event){ .kind = PAI_SCHED_LOSE_PORT,
                                        .node = node,
                                        .number = port },
                     NULL);
}

static void a_lost_port_is_missed_until_it_is_regained(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want want = scene_want(1, 0);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };
  pai_task_place p = { .struct_size = sizeof(p) };

  (void)state;
  want.ports = 10;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(lose(s, "node0001", 20004), PAI_OK); /* the holder's */
  assert_int_equal(lose(s, "node0001", 20004), PAI_OK);
  assert_int_equal(lose(s, "node0002", 20004), PAI_ENOTFOUND);
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = 1 },
                NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 1), "port");
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS }, NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_task(s, 1, 0, 0, &p), PAI_OK);
  assert_int_equal(p.nports, 10);
  pai_sched_free(s);
}

static void what_is_returned_keeps_its_place(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = 1 },
                NULL),
    PAI_OK);
  assert_int_equal(pai_sched_next(s, 0), 1);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

static void misuse_changes_nothing(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_error *err = NULL;
  pai_sched_event e = { .struct_size = sizeof(e), .kind = 99 };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_EEXISTS);
  assert_int_equal(scene_submit(s, 0, 1, 1), PAI_EINVAL);
  assert_int_equal(scene_submit(s, 2, 0, 1), PAI_EINVAL);
  assert_int_equal(scene_finish(s, 1), PAI_ENOTFOUND); /* not started */
  assert_int_equal(scene_finish(s, 7), PAI_ENOTFOUND);
  assert_int_equal(pai_sched_send(s, &e, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "event 2: 99 is no kind of event");
  e.kind = PAI_SCHED_TIME;
  e.time = 1000;
  assert_int_equal(pai_sched_send(s, &e, NULL), PAI_OK);
  e.time = 999;
  assert_int_equal(pai_sched_send(s, &e, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "the one before of 1000");
  assert_int_equal(pai_sched_decide(s, 999, NULL), PAI_EINVAL);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 1), PAI_ENOTFOUND);
  pai_sched_free(s);
}

static void instances_are_throttled_and_counted(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want want = scene_want(1, 1);
  pai_request q = {
    .id = 1, .wants = &want, .nwants = 1, .instances = 4, .at_once = 2
  };
  pai_request_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 1.1");
  assert_string_equal(scene_lack(s, 1), "throttle");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1.2");
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                                  .id = 1,
                                                  .instance = PAI_SCHED_ALL },
                               NULL),
                   PAI_OK);
  assert_int_equal(pai_sched_view_request(s, 1, &v), PAI_OK);
  assert_int_equal(v.state, PAI_REQUEST_STOPPING);
  assert_int_equal(v.finished, 1);
  assert_string_equal(scene_decide(s),
                      "stop 1.1 cancelled, stop 1.2 cancelled");
  for (uint32_t i = 1; i < 3; i++)
    assert_int_equal(scene_event(s,
                                 (pai_sched_event){ .kind = PAI_SCHED_FINISHED,
                                                    .id = 1,
                                                    .instance = i,
                                                    .number = 1 },
                                 NULL),
                     PAI_OK);
  assert_int_equal(pai_sched_view_request(s, 1, &v), PAI_ENOTFOUND);
  pai_sched_free(s);
}

static void one_comes_after_another(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want want = scene_want(1, 1);
  pai_after after = { 1, PAI_AFTER_OK };
  pai_request q = {
    .id = 2, .wants = &want, .nwants = 1, .after = &after, .nafter = 1
  };
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOTFOUND);
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK);
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  after.kind = PAI_AFTER_FAILED;
  q.id = 3;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_reason(s, 2, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_AFTER);
  assert_int_equal(r.behind, 1);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_lack(s, 3), "after"); /* and it never can */
  assert_int_equal(scene_change(s, 3, "after", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

static void what_is_held_waits_for_its_release(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 1), PAI_OK);
  assert_int_equal(scene_change(s, 1, "held", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_lack(s, 1), "release");
  assert_int_equal(scene_change(s, 1, "held", 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

static void changes_are_checked_as_requests_are(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want w = { .struct_size = sizeof(w) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK);
  assert_int_equal(scene_change(s, 1, "gpus", 5), PAI_ENOROOM);
  assert_int_equal(pai_sched_view_want(s, 1, 0, &w), PAI_OK);
  assert_int_equal(w.gpus, 1);
  assert_int_equal(scene_change(s, 1, "gpus", 3), PAI_OK);
  assert_int_equal(scene_change(s, 1, "speed", 3), PAI_EINVAL);
  assert_int_equal(scene_change(s, 2, "gpus", 3), PAI_ENOTFOUND);
  assert_int_equal(scene_change(s, 1, "priority", 1001), PAI_EINVAL);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:7");
  assert_int_equal(scene_change(s, 1, "gpus", 1), PAI_EBUSY);
  assert_int_equal(scene_change(s, 1, "instances", 2), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1.1");
  pai_sched_free(s);
}

static uint32_t gpus_of(const pai_sched *s, uint64_t id)
{
  pai_want w = { .struct_size = sizeof(w) };

  assert_int_equal(pai_sched_view_want(s, id, 0, &w), PAI_OK);
  return w.gpus;
}

static void equal_wants_are_kept_once_and_changed_apart(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL), *fork;
  uint32_t at;

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(scene_submit(s, id, 1, 1), PAI_OK);
  at = pai__req_at(s, pai__req_find(s, 1))->wants;
  assert_int_equal(pai__req_at(s, pai__req_find(s, 4))->wants, at);
  assert_int_equal(scene_change(s, 2, "gpus", 3), PAI_OK);
  assert_int_equal(scene_change(s, 3, "gpus", 5), PAI_ENOROOM);
  assert_int_equal(gpus_of(s, 1), 1);
  assert_int_equal(gpus_of(s, 2), 3);
  assert_int_equal(gpus_of(s, 3), 1);
  assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK);
  assert_int_equal(scene_change(fork, 4, "gpus", 2), PAI_OK);
  assert_int_equal(gpus_of(s, 4), 1);
  assert_int_equal(gpus_of(fork, 1), 1);
  pai_sched_free(fork);
  /* What was changed is its own also when another one comes to want that. */
  assert_int_equal(scene_submit(s, 5, 1, 3), PAI_OK);
  assert_int_equal(scene_change(s, 2, "gpus", 2), PAI_OK);
  assert_int_equal(gpus_of(s, 5), 3);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_int_equal(pai__req_at(s, pai__req_find(s, 4))->wants, at);
  assert_int_equal(gpus_of(s, 4), 1);
  pai_sched_free(s);
}

static void limits_stop_what_runs_too_long(void **state)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1, .limit = 100 };
  pai_sched_event e = { .kind = PAI_SCHED_STARTED, .id = 1, .time = 50 };

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_true(pai_sched_next_time(s) == INT64_MAX);
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  assert_int_equal(pai_sched_next_time(s), 150);
  assert_int_equal(pai_sched_decide(s, 149, NULL), 0);
  assert_int_equal(pai_sched_decide(s, 150, NULL), 1);
  assert_string_equal(scene_decide(s), ""); /* told once */
  pai_sched_free(s);
}

static void some_begin_with_fewer_tasks(void **state)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);
  pai_want want = scene_want(4, 2);
  pai_request q = { .id = 2, .wants = &want, .nwants = 1 };
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  want.min_tasks = 2;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_places(s, 2, 0), "1:3 1:c");
  /* What lacks is told of as few as may be. */
  q.id = 3;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_reason(s, 3, &r), PAI_OK);
  assert_int_equal(r.tasks, 2);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 3, 0), "0:3 0:c");
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  /* One that could never have all of them. */
  want.tasks = 9;
  q.id = 4;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_string_equal(scene_places(s, 4, 0), "0:3 0:c 1:3 1:c");
  pai_sched_free(s);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  static const char four[] = "nodes:4 gpu:4 cpus:8 mem:1G racks:2";
  pai_sched *s = scene_new(four, NULL, NULL, alloc), *fork = NULL;
  pai_want want = scene_want(2, 2);
  pai_request q = {
    .id = 1, .name = "first", .user = "ann", .wants = &want, .nwants = 1
  };
  int rc, known = 0;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  want.ports = 2;
  rc = scene_request(s, &q, NULL);
  known += rc == PAI_OK;
  q.id = 2;
  q.within = "rack";
  if (rc == PAI_OK)
    rc = scene_request(s, &q, NULL);
  known += rc == PAI_OK;
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 5, NULL);
  if (rc >= 0) {
    assert_int_equal(rc, 2);
    rc = pai_sched_fork(&fork, s, NULL);
  }
  if (rc == PAI_OK)
    rc = scene_finish(fork, 1);
  pai_sched_free(fork);
  /* What could not be done is done later. */
  if (rc == PAI_ENOMEM) {
    pai_sched_view v = { .struct_size = sizeof(v) };

    assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
    assert_int_equal(v.requests, known);
    assert_true(v.running <= v.requests);
  }
  pai_sched_free(s);
  return rc;
}

static void failing_memory_leaves_it_usable(void **state)
{
  (void)state;
  test_faults(story, NULL);
}

/* --- hashes ---------------------------------------------------------------- */

/* As possible.c begins to hash a request of the first virtual cluster, up to
 * its memory: a test may know how, as anybody may. */
static uint64_t hash_before_memory(const pai_want *w)
{
  uint64_t h = pai__mix(pai__mix(1, 0), 0);

  h = pai__mix(pai__mix(h, 0), 0);
  h = pai__mix(pai__mix(h, w->tasks), w->gpus);
  return pai__mix(pai__mix(h, w->cpus), w->ports);
}

/* One that never fits, with the hash of one that does. */
static void equal_hashes_are_no_equal_requests(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8 mem:16G", NULL, NULL, NULL);
  pai_want small = scene_want(1, 1), large = scene_want(1, 1);
  pai_request q = { .id = 1, .wants = &small, .nwants = 1 };
  pai_error *err = NULL;

  (void)state;
  small.memory = UINT64_C(1) << 30;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  do {
    large.cpus += large.ports == 30000;
    large.ports = large.ports == 30000 ? 1 : large.ports + 1;
    large.memory =
      small.memory ^ hash_before_memory(&small) ^ hash_before_memory(&large);
  } while (large.memory > PAI_ALLOCATION_MAX_MEMORY);
  q.id = 2;
  q.wants = &large;
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  pai_error_free(err);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_gang_is_placed_whole_or_not_at_all),
    cmocka_unit_test(the_impossible_is_refused_with_its_reason),
    cmocka_unit_test(ports_are_given_once_and_rest_before_they_return),
    cmocka_unit_test(a_lost_port_is_missed_until_it_is_regained),
    cmocka_unit_test(what_is_returned_keeps_its_place),
    cmocka_unit_test(misuse_changes_nothing),
    cmocka_unit_test(instances_are_throttled_and_counted),
    cmocka_unit_test(one_comes_after_another),
    cmocka_unit_test(what_is_held_waits_for_its_release),
    cmocka_unit_test(changes_are_checked_as_requests_are),
    cmocka_unit_test(equal_wants_are_kept_once_and_changed_apart),
    cmocka_unit_test(limits_stop_what_runs_too_long),
    cmocka_unit_test(some_begin_with_fewer_tasks),
    cmocka_unit_test(failing_memory_leaves_it_usable),
    cmocka_unit_test(equal_hashes_are_no_equal_requests),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
