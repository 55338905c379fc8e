/* The scheduler core with fifo: gangs, reasons, what is given back. */
#include "script.h"

#include "sched/queue.h"

#define BOX "nodes:1 gpu:4 cpus:8 mem:1G"
#define TWO "nodes:2 gpu:4 cpus:8 mem:1G"

#define ONE(name) #name, BOX, "fifo", NULL
#define BOTH(name) #name, TWO, "fifo", NULL

static const scene_case cases[] = {
  { BOTH(a_gang_is_placed_whole_or_not_at_all),
    .script =
      "submit 1 tasks=3 gpus=2\n"
      "submit 2 tasks=2 gpus=2\n" /* one task fits now */
      "submit 3 gpus=2\n"         /* fits, but behind 2 */
      "=> start 1; places 1 0:3 0:c 1:3; reason 1 !ENOTFOUND\n"
      "reason 2 lack=gang of=gpu wanted=2 placed=1 tasks=2 found=0\n"
      "reason 3 lack=turn behind=2; finish 1 => start 2, start 3\n"
      "finish 2-3; submit 4 tasks=8 gpus=1 => start 4\n" /* all there is */ },
  { BOTH(the_impossible_is_refused_with_its_reason),
    .script =
      "submit 1 gpus=5 !ENOROOM ~ a task asks for 5 GPUs, and no machine has "
      "more than 4 | ask for less per task\n"
      "submit 1 tasks=3 gpus=3 !ENOROOM ~ beside 2 others of it\n"
      "submit 1 gpus=1 memory=2G !ENOROOM ~ 2048 MiB of memory\n"
      "submit 1 gpus=1 type=v100 !ENOTFOUND ~ 'v100'\n"
      "submit 1 gpus=1 ports=11 !ENOROOM ~ 11 ports\n"
      "submit 1 tasks=5 gpus=1 within=node !ENOROOM ~ within one node\n"
      "submit 0 gpus=1 !EINVAL ~ the id of a request is not 0\n"
      "submit 1 gpus=1 vc=defualt !ENOTFOUND ~ 'defualt' | did you mean "
      "'default'?\n"
      "submit 1 gpus=1\n" /* nothing is left */ },
  { ONE(a_lost_port_is_missed_until_it_is_regained),
    .script = "submit 1 ports=10 => start 1\n"
              "lose node0001 20004\n" /* the holder's */
              "lose node0001 20004; lose node0002 20004 !ENOTFOUND\n"
              "returned 1 => nothing; lack 1 port; regain => start 1\n" },
  { ONE(what_is_returned_keeps_its_place),
    .script = "submit 1-3 gpus=4 => start 1; returned 1 => start 1\n"
              "finish 1 => start 2\n" },
  { ONE(instances_are_throttled_and_counted),
    .script = "submit 1 gpus=1 instances=4 at_once=2 => start 1, start 1.1\n"
              "lack 1 throttle; finish 1 => start 1.2; cancel 1\n"
              "request 1 state=stopping finished=1\n"
              "=> stop 1.1 cancelled, stop 1.2 cancelled\n"
              "finish 1.1 failed; finish 1.2 failed; request 1 !ENOTFOUND\n" },
  { ONE(one_comes_after_another),
    .script = "submit 2 gpus=1 after=1:ok !ENOTFOUND; submit 1 gpus=1\n"
              "submit 2 gpus=1 after=1:ok; submit 3 gpus=1 after=1:failed\n"
              "=> start 1; reason 2 lack=after behind=1; finish 1\n"
              "=> start 2; lack 3 after\n" /* and it never can */
              "change 3 after 1 => start 3\n" },
  { ONE(what_is_held_waits_for_its_release),
    .script = "submit 1-2 gpus=1; change 1 held 1 => start 2\n"
              "lack 1 release; change 1 held 0 => start 1\n" },
  { ONE(changes_are_checked_as_requests_are),
    .script = "submit 1 gpus=1; change 1 gpus 5 !ENOROOM; want 1 0 gpus=1\n"
              "change 1 gpus 3; change 1 speed 3 !EINVAL\n"
              "change 2 gpus 3 !ENOTFOUND; change 1 priority 1001 !EINVAL\n"
              "=> start 1; places 1 0:7; change 1 gpus 1 !EBUSY\n"
              "change 1 instances 2 => nothing; finish 1 => start 1.1\n" },
  { ONE(limits_stop_what_runs_too_long),
    .script = "submit 1 gpus=1 limit=100 => start 1; next never\n"
              "time 50; started 1; next 150; time 149 => nothing\n"
              "time 150 => stop 1 limit\n"
              "=> nothing\n" /* told once */ },
  { BOTH(some_begin_with_fewer_tasks),
    .script = "submit 1 gpus=3 => start 1\n"
              "submit 2 tasks=4 min_tasks=2 gpus=2 => start 2\n"
              "places 2 1:3 1:c\n"
              /* What lacks is told of as few as may be. */
              "submit 3 tasks=4 min_tasks=2 gpus=2 => nothing\n"
              "reason 3 tasks=2; finish 1 => start 3; places 3 0:3 0:c\n"
              "finish 2-3\n"
              /* One that could never have all of them. */
              "submit 4 tasks=9 min_tasks=2 gpus=2 => start 4\n"
              "places 4 0:3 0:c 1:3 1:c\n" },
  { "failing_memory_leaves_it_usable", "nodes:4 gpu:4 cpus:8 mem:1G racks:2",
    NULL, NULL,
    .script = "submit 1 user=ann tasks=2 gpus=2 ports=2\n"
              "submit 2 user=ann tasks=2 gpus=2 ports=2 within=rack; time 5\n"
              "=> start 1, start 2; fork => nothing; finish 1\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

/* Ports of a task, which has so many. */
static void expect_ports(const pai_sched *s, uint64_t id, uint32_t task,
                         size_t n, const uint32_t *ports)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  assert_ok(pai_sched_task(s, id, 0, task, &p));
  assert_int_equal(p.want, 0);
  assert_int_equal(p.index, task);
  assert_int_equal(p.nports, n);
  assert_memory_equal(p.ports, ports, n * sizeof(*ports));
}

TEST(ports_are_given_once_and_rest_before_they_return)
{
  static const uint32_t first[] = { 20003, 20004, 20005 };
  static const uint32_t second[] = { 20006, 20007, 20008 };
  static const uint32_t third[] = { 20009, 20000, 20001 };
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);

  scene_script(s, "submit 1 tasks=2 ports=3 => start 1");
  expect_ports(s, 1, 1, 3, first);
  /* 4 are left, 3 + 3 wanted. */
  scene_script(s, "submit 2 tasks=2 ports=3 => nothing; lack 2 gang\n"
                  "finish 1 => start 2\n");
  expect_ports(s, 2, 0, 3, second);
  expect_ports(s, 2, 1, 3, third);
  pai_sched_free(s);
}

TEST(misuse_changes_nothing)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);
  pai_request empty = { .id = 1 };
  pai_error *err = NULL;
  pai_sched_event e = { .struct_size = sizeof(e), .kind = 99 };

  assert_fails(scene_request(s, &empty, &err), err, PAI_EINVAL,
               "it has no wants");
  scene_script(s, "submit 1 gpus=1; submit 1 gpus=1 !EEXISTS\n"
                  "submit 2 tasks=0 gpus=1 !EINVAL\n"
                  "finish 1 !ENOTFOUND\n" /* not started */
                  "finish 7 !ENOTFOUND\n");
  assert_fails(pai_sched_send(s, &e, &err), err, PAI_EINVAL,
               "event 2: 99 is no kind of event");
  scene_script(s, "time 1000\n"
                  "time 999 !EINVAL ~ the one before of 1000\n");
  assert_int_equal(pai_sched_decide(s, 999, NULL), PAI_EINVAL);
  scene_script(s, "=> start 1; finish 1; finish 1 !ENOTFOUND");
  pai_sched_free(s);
}

static uint32_t gpus_of(const pai_sched *s, uint64_t id)
{
  pai_want w = { .struct_size = sizeof(w) };

  assert_ok(pai_sched_view_want(s, id, 0, &w));
  return w.gpus;
}

TEST(equal_wants_are_kept_once_and_changed_apart)
{
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL), *fork;
  uint32_t at;

  for (uint64_t id = 1; id <= 4; id++)
    assert_ok(scene_submit(s, id, 1, 1));
  at = pai__req_at(s, pai__req_find(s, 1))->wants;
  assert_int_equal(pai__req_at(s, pai__req_find(s, 4))->wants, at);
  assert_ok(scene_change(s, 2, "gpus", 3));
  assert_int_equal(scene_change(s, 3, "gpus", 5), PAI_ENOROOM);
  assert_int_equal(gpus_of(s, 1), 1);
  assert_int_equal(gpus_of(s, 2), 3);
  assert_int_equal(gpus_of(s, 3), 1);
  assert_ok(pai_sched_fork(&fork, s, NULL));
  assert_ok(scene_change(fork, 4, "gpus", 2));
  assert_int_equal(gpus_of(s, 4), 1);
  assert_int_equal(gpus_of(fork, 1), 1);
  pai_sched_free(fork);
  /* What was changed is its own also when another one comes to want that. */
  assert_ok(scene_submit(s, 5, 1, 3));
  assert_ok(scene_change(s, 2, "gpus", 2));
  assert_int_equal(gpus_of(s, 5), 3);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_ok(scene_finish(s, 1));
  assert_ok(scene_finish(s, 3));
  assert_int_equal(pai__req_at(s, pai__req_find(s, 4))->wants, at);
  assert_int_equal(gpus_of(s, 4), 1);
  pai_sched_free(s);
}

TEST(names_of_wants_differ_in_one_class)
{
  static const char *const names[][3] = { { "a", NULL, NULL },
                                          { NULL, "a", "b" },
                                          { NULL, NULL, NULL },
                                          { "a", "a", "b" } };
  pai_sched *s = scene_new(BOX, NULL, NULL, NULL);

  for (uint64_t id = 1; id <= PAI__LEN(names); id++) {
    pai_want wants[] = { scene_want(1, 0), scene_want(1, 0),
                         scene_want(1, 0) };
    pai_request q = { .id = id, .wants = wants, .nwants = PAI__LEN(wants) };

    for (size_t i = 0; i < q.nwants; i++)
      wants[i].name = names[id - 1][i];
    assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
    assert_int_equal(pai__req_at(s, pai__req_find(s, id))->class,
                     pai__req_at(s, pai__req_find(s, 1))->class);
  }
  for (uint64_t id = 1; id <= PAI__LEN(names); id++)
    for (uint32_t i = 0; i < 3; i++) {
      pai_want w = { .struct_size = sizeof(w) };

      assert_int_equal(pai_sched_view_want(s, id, i, &w), PAI_OK);
      assert_true((w.name == NULL) == (names[id - 1][i] == NULL));
      if (w.name != NULL)
        assert_string_equal(w.name, names[id - 1][i]);
    }
  pai_sched_free(s);
}
