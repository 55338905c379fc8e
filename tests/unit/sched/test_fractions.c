/* Tasks that ask for fractions of CPUs: what fits together, which CPUs are
 * nobody's own, and what is written and told of them. */
#include "sched/policy/parted.h"
#include "script.h"
#include "scribe.h"

#include "resource/bits.h"

#include <stdio.h>

#define ONE(name) #name, "nodes:1 gpu:1 cpus:1", "fifo", NULL

static const scene_case cases[] = {
  { ONE(two_halves_share_a_cpu),
    .script =
      "submit 1-3 cpus=0 cpu_millis=500 => start 1, start 2\n"
      "reason 3 lack=cpu wanted=0 wanted_millis=500 found=0 found_millis=0\n"
      "explain 3 ~ no node has 0.5 CPUs free\n"
      "explain 3 json ~ \"wanted\":0.5,\"found\":0,\n"
      "finish 1; node 0 free_cpus=0 free_cpu_millis=500 => start 3\n" },
  /* Nothing is rounded: ten tenths are one. */
  { ONE(tenths_add_up),
    .script = "submit 1-11 cpus=0 cpu_millis=100 => start 1, start 2, start 3,"
              " start 4, start 5, start 6, start 7, start 8, start 9, start 10"
              "\nlack 11 cpu\n" },
  { "who_is_more_important_takes_parts_back", "nodes:1 gpu:1 cpus:2",
    "priority", NULL,
    .script = "submit 1-2 cpus=0 cpu_millis=750 => start 1, start 2\n"
              "submit 3 cpus=1 cpu_millis=250 priority=5 => stop 2 preempted\n"
              "returned 2 => start 3\n" },
  /* Plans count them, too: half of what ends in time is free then. */
  { "plans_know_parts", "nodes:1 gpu:1 cpus:2", "backfill",
    "{\"mode\":\"conservative\"}",
    .script = "submit 1-2 duration=100 limit=100 cpus=1 cpu_millis=500\n"
              "submit 3 duration=100 limit=100 cpus=0 cpu_millis=500\n"
              "=> start 1, start 3; until 2 100\n" },
  /* left has up to half of 32. */
  { "shares_count_parts", parts_box, "fifo", NULL,
    .script = "vc 1 name=left most_cpus=16\n"
              "submit 1 vc=left cpus=15 cpu_millis=500\n"
              "submit 2 vc=left cpus=0 cpu_millis=600\n"
              "submit 3 vc=left cpus=0 cpu_millis=500 => start 1\n"
              "lack 2 quota\n"
              "explain 2 ~ it takes 0.6 CPUs, and its virtual cluster 'left' "
              "has 0.5 left\n"
              "cancel 2 => start 3; vc 1 used_cpus=16 used_cpu_millis=0\n"
              "finish 3; vc 1 used_cpus=15 used_cpu_millis=500\n" },
  { "suggestions_are_as_fine_as_the_request", "nodes:1 gpu:1 cpus:4", "fifo",
    NULL,
    .script = "submit 1 cpus=2 cpu_millis=750 => start 1\n"
              "submit 2 cpus=1 cpu_millis=500; submit 3 cpus=2 => nothing\n"
              "explain 2 ~ if a task asked for 1.2 CPUs\n"
              "explain 2 json ~ \"key\":\"cpus\",\"value\":1.2}\n"
              "cancel 2 => nothing\n"
              "explain 3 ~ 1.25 CPUs | if a task asked for 1 CPU\n" },
  { ONE(a_node_without_room_is_told_with_the_part),
    .script = "submit 1 cpus=1 cpu_millis=1 !ENOROOM ~ a task asks for 1.001 "
              "CPUs, and no machine has more than 1\n" },
};

TEST_TABLE(scene_run, cases);

static pai_want part_of_cpus(uint32_t cpus, uint32_t millis)
{
  return (pai_want){ .struct_size = sizeof(pai_want),
                     .tasks = 1,
                     .cpus = cpus,
                     .cpu_millis = millis };
}

static int ask(pai_sched *s, uint64_t id, uint32_t cpus, uint32_t millis)
{
  pai_want want = part_of_cpus(cpus, millis);

  return scene_request(
    s, &(pai_request){ .id = id, .wants = &want, .nwants = 1 }, NULL);
}

/* The CPUs of a request's only task. */
static uint64_t own_cpus(const pai_sched *s, uint64_t id)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  assert_ok(pai_sched_task(s, id, 0, 0, &p));
  return p.cpu_words != 0 ? p.cpus[0] : 0;
}

TEST(whole_ones_have_their_own)
{
  pai_sched *s = scene_new("nodes:1 gpu:1 cpus:4", NULL, NULL, NULL);

  scene_script(s, "submit 1 cpus=1 cpu_millis=500; submit 2 cpus=1\n"
                  "submit 3 cpus=0 cpu_millis=500; submit 4-5 cpus=1\n"
                  "=> start 1, start 2, start 3, start 4\n");
  assert_int_equal(own_cpus(s, 1), 0);
  assert_int_equal(own_cpus(s, 3), 0);
  assert_int_equal(pai__bits_ones(own_cpus(s, 2)), 1);
  assert_int_equal(pai__bits_ones(own_cpus(s, 4)), 1);
  assert_int_equal(own_cpus(s, 2) & own_cpus(s, 4), 0);
  scene_script(s, "finish 3 => nothing; finish 1 => start 5");
  assert_int_equal(own_cpus(s, 5) & (own_cpus(s, 2) | own_cpus(s, 4)), 0);
  pai_sched_free(s);
}

TEST(amounts_have_limits)
{
  pai_sched *s = scene_new("nodes:1 gpu:1", NULL, NULL, NULL);
  pai_sched_event whole = {
    .kind = PAI_SCHED_CHANGE, .id = 2, .key = "cpus", .cpu_millis = 1000
  };

  assert_int_equal(ask(s, 1, 0, 1000), PAI_EINVAL);
  assert_int_equal(ask(s, 1, PAI_SCHED_CPUS + 1, 0), PAI_EINVAL);
  assert_ok(ask(s, 1, PAI_SCHED_CPUS, 999)); /* not counted */
  scene_script(s, "=> start 1; change 1 cpus 1 !EBUSY");
  assert_ok(ask(s, 2, 0, 1));
  assert_int_equal(scene_event(s, whole, NULL), PAI_EINVAL);
  pai_sched_free(s);
}

/* Who was compiled before there were fractions. */
TEST(older_callers_ask_for_whole_ones)
{
  pai_want want = part_of_cpus(1, 999), view = { .struct_size = sizeof(view) };
  pai_sched *s = scene_new("nodes:1 gpu:1 cpus:1", NULL, NULL, NULL);
  pai_sched_node_view node = { .struct_size =
                                 offsetof(pai_sched_node_view, free_memory) +
                                 sizeof(node.free_memory),
                               .free_cpu_millis = 7 };

  want.struct_size = offsetof(pai_want, cpu_millis);
  assert_ok(scene_request(
    s, &(pai_request){ .id = 1, .wants = &want, .nwants = 1 }, NULL));
  assert_ok(pai_sched_view_want(s, 1, 0, &view));
  assert_int_equal(view.cpus, 1);
  assert_int_equal(view.cpu_millis, 0);
  assert_string_equal(scene_decide(s), "start 1");
  assert_ok(pai_sched_view_node(s, 0, &node));
  assert_int_equal(node.free_cpus, 0);
  assert_int_equal(node.free_cpu_millis, 7); /* it is not theirs */
  pai_sched_free(s);
}

/* --- what is written ------------------------------------------------------ */

TEST(logs_and_snapshots_have_decimals)
{
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE,
                        .id = 2,
                        .key = "cpus",
                        .number = 1,
                        .cpu_millis = 250 };
  pai_sched *s =
    scene_new("nodes:1 gpu:1 cpus:2", "fifo", "{\"greedy\":true}", NULL);
  pai_sched *again;
  pai__buf log = test_buf(), said = test_buf(), replayed = test_buf(), saved,
           twice;
  size_t line;

  assert_ok(pai_sched_set_log(s, scribe_write, &log, NULL));
  scribe_save(s, &saved);
  assert_ok(ask(s, 1, 1, 0));
  assert_ok(ask(s, 2, 0, 5));
  assert_ok(ask(s, 3, 0, 500));
  assert_ok(scene_event(s, e, NULL));
  assert_string_equal(scene_decide(s), "start 1, start 3");
  scribe_decisions(s, &said);
  assert_has(pai__buf_text(&log), "\"cpus\":1}");
  assert_has(pai__buf_text(&log), "\"cpus\":0.005}");
  assert_has(pai__buf_text(&log), "\"cpus\":0.5}");
  assert_has(pai__buf_text(&log), "\"value\":1.25}");
  pai__buf_add(&saved, pai__buf_text(&log), log.len);
  again = scribe_replay(pai__buf_text(&saved), NULL, &replayed, &line, NULL);
  assert_non_null(again);
  scribe_same(&said, &replayed);
  pai__buf_dispose(&saved);
  scribe_save(s, &saved);
  assert_has(pai__buf_text(&saved), "\"wanted_millis\":250");
  scribe_save(again, &twice);
  scribe_same(&saved, &twice);
  pai_sched_free(again);
  scene_script(s, "load"); /* which is saved alike */
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&said);
  pai__buf_dispose(&replayed);
  pai__buf_dispose(&saved);
  pai__buf_dispose(&twice);
}

static int send_want(pai_sched *s, const char *cpus, pai_error **err)
{
  char line[200];

  (void)snprintf(line, sizeof(line),
                 "{\"time\":0,\"event\":\"submit\",\"request\":{\"id\":9,"
                 "\"wants\":[{\"cpus\":%s}]}}",
                 cpus);
  return pai_sched_send_json(s, line, strlen(line), err);
}

TEST(decimals_are_read_exactly)
{
  static const char *const wrong[] = { "0.0001", "1.2345",  "5e-4", "1.0005e0",
                                       "-0.5",   "\"0.5\"", "5e9" };
  pai_want want = { .struct_size = sizeof(want) };
  pai_sched *s = scene_new("nodes:1 gpu:1 cpus:2", NULL, NULL, NULL);

  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    pai_error *err = NULL;

    if (send_want(s, wrong[i], &err) != PAI_EINVAL)
      fail_msg("taken: %s", wrong[i]);
    assert_string_equal(pai_error_pointer(err), "/request/wants/0/cpus");
    pai_error_free(err);
  }
  assert_true(send_want(s, "1.125", NULL) >= 0);
  assert_int_equal(send_want(s, "1.001e0", NULL), PAI_EEXISTS);
  assert_ok(pai_sched_view_want(s, 9, 0, &want));
  assert_int_equal(want.cpus, 1);
  assert_int_equal(want.cpu_millis, 125);
  pai_sched_free(s);
}
