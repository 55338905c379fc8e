/* Why something waits, and what would help, in words. */
#include "sched/script.h"

#include "base/buf.h"

#define FIFO(name, cluster) #name, cluster, "fifo", NULL

static const scene_case cases[] = {
  { FIFO(a_paragraph_tells_why_and_what_would_help,
         "nodes:2 gpu:4:h100 cpus:8"),
    .script =
      "submit 1 gpus=3; submit 2 gpus=2; submit 3 gpus=4; submit 4 gpus=1\n"
      "=> start 1, start 2\n"
      "explains 3 ~ Request 3 waits: no node has 4 GPUs free; node0002 comes "
      "nearest, with 2 GPUs. 2 of 2 nodes have too few free GPUs. It would "
      "start now if a task asked for 2 GPUs, or if request 2 finished.\n"
      "explains 4 ~ Request 4 waits: it is not its turn: request 3 goes "
      "first. It would start now if request 3 was held.\n"
      "explains 1 ~ Request 1 does not wait.\n" },
  { "shares_of_a_policys_own_are_told_as_such", "nodes:2 gpu:4:h100 cpus:8",
    "fair", "{\"user_max_gpus\": 5}",
    .script = "submit 1 gpus=4; submit 2 gpus=2 => start 1\n"
              "explain 2 ~ Request 2 waits: a user has at most 5 GPUs at a "
              "time: it asks for 2, and 1 are left. It would start now "
              "if a task asked for "
              "1 GPU\n" },
  { FIFO(what_is_held_is_told_so, "nodes:1 gpu:4"),
    .script = "submit 1 gpus=3; change 1 held 1 => nothing\n"
              "explains 1 ~ Request 1 waits: it is held until it is released. "
              "It would start now if it was released.\n" },
  /* The least importance with which it would go first, and no more. */
  { "as_much_importance_is_told_as_is_needed", "nodes:1 gpu:4", "priority",
    "{\"preempt\":false}",
    .script = "submit 1 gpus=4 => start 1\n"
              "submit 2 gpus=4 priority=3; submit 3 gpus=4 => nothing\n"
              "finish 1\n"
              "explain 3 ~ It would start now if it had priority 4, or if "
              "request 2 was held.\n" },
  /* Where no one change is enough, nothing is said of how small it is. */
  { FIFO(several_changes_are_told_as_what_they_are, "nodes:2 gpu:4"),
    .script = "submit 1-2 gpus=4; submit 3 tasks=2 gpus=4\n"
              "=> start 1, start 2\n"
              "explain 3 ~ finished (these changes work together; others may "
              "be smaller).\n" },
  /* Its place is chosen, and those who are there have not stopped yet. */
  { "who_has_claimed_a_place_waits_for_it", "nodes:1 gpu:4", "priority", NULL,
    .script =
      "submit 1 gpus=4 => start 1\n"
      "submit 2 gpus=4 priority=5 => stop 1 preempted\n"
      "explains 2 ~ Request 2 waits: the jobs that are stopped for it have "
      "not ended yet. It would start now if request 1 finished.\n" },
  { FIFO(what_is_not_considered_any_more_has_no_counts, "nodes:2 gpu:4"),
    .script = "submit 1 tasks=2 gpus=4; submit 2 gpus=4 => start 1\n"
              "failed 2 gpu 2; change 2 held 1; finish 1 => nothing\n"
              "failed 2 gpu 0\n"
              "explains 2 ~ Request 2 waits: it is held until it is released. "
              "It would start now if it was released.\n" },
  { FIFO(what_starts_with_the_next_decision_is_told_so, "nodes:2 gpu:4"),
    .script = "submit 1 tasks=2 gpus=4; submit 2 gpus=4\n"
              "explains 1 ~ Request 1 waits: the scheduler has not considered "
              "it yet. It starts at the next decision.\n"
              "=> start 1; finish 1\n"
              "explains 2 ~ Request 2 waits: something has changed since it "
              "was considered, and it starts at the next decision.\n"
              "explain 2 json ~ \"starts\":true\n"
              "=> start 2\n" },
  { "plans_and_instances_are_told", "nodes:3 gpu:4", "backfill", NULL,
    .script = "submit 1 duration=90s instances=3 gpus=4\n"
              "submit 2 tasks=3 gpus=4 => start 1, start 1.1, start 1.2\n"
              "explain 2 ~  As planned, it starts in 90 seconds. It would "
              "start now if instance 0 of request 1, instance 2 of request 1 "
              "and instance 1 of request 1 finished (these changes work "
              "together; others may be smaller).\n" },
  { "who_would_delay_others_may_be_short", "nodes:2 gpu:4", "backfill", NULL,
    .script =
      "submit 1 gpus=4 duration=90s; submit 2 tasks=2 gpus=4\n"
      "submit 3 gpus=4 duration=91s => start 1\n"
      "explain 3 ~ it would delay requests that are planned before it. | It "
      "would start now if it was limited to 90 seconds\n" },
  { FIFO(failing_memory_is_told, "nodes:2 gpu:4:h100 cpus:8"),
    .script = "submit 1 gpus=3; submit 2-3 gpus=4 => any; explain 3 json\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

/* Of an array that is cancelled, with what waits of it. */
TEST(what_is_cancelled_does_not_wait)
{
  for (size_t i = 0; pai_policy_builtin(i) != NULL; i++) {
    pai_sched *s =
      scene_new("nodes:1 gpu:4", pai_policy_builtin(i)->name, NULL, NULL);

    scene_script(s, "submit 1 gpus=3 instances=4 => start 1; cancel 1\n"
                    "explains 1 ~ Request 1 does not wait.\n"
                    "explains 1 json ~ {\"id\":1}\n"
                    "reason 1 !ENOTFOUND\n"
                    "request 1 state=stopping waiting=0\n");
    pai_sched_free(s);
  }
}

/* --- once ------------------------------------------------------------------ */

enum { WAITING = 20 };

/* Twenty requests, of which few run. */
static pai_sched *make(const char *policy, const pai_alloc *alloc,
                       uint64_t requests)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8", policy, NULL, alloc);

  for (uint64_t id = 1; id <= requests; id++)
    assert_ok(scene_submit(s, id, 1, 1 + (uint32_t)(id % 4)));
  (void)scene_decide(s);
  return s;
}

/* How many allocations it took; the answer is in `out`. */
static size_t ask(test_tally *memory, const pai_sched *s, uint64_t id,
                  int format, pai__buf *out)
{
  size_t before = memory->calls;

  pai__buf_clear(out);
  assert_ok(pai_sched_explain(s, id, format, test_collect, out, NULL));
  return memory->calls - before;
}

/* What was told of requests is told again while nothing has happened, and is
 * looked for once, whoever asks and in whichever form. */
TEST(who_asks_at_the_same_state_shares_the_answer)
{
  for (size_t p = 0; pai_policy_builtin(p) != NULL; p++) {
    test_tally memory;
    pai_sched *s;
    pai__buf text = test_buf(), again = test_buf();

    test_tally_init(&memory);
    s = make(pai_policy_builtin(p)->name, &memory.alloc, WAITING);
    assert_true(ask(&memory, s, WAITING, PAI_FORMAT_TEXT, &text) != 0);
    assert_int_equal(ask(&memory, s, WAITING, PAI_FORMAT_JSON, &again), 0);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(ask(&memory, s, WAITING, 0, &again), 0);
      assert_string_equal(pai__buf_text(&text), pai__buf_text(&again));
    }
    /* Another one, and another state. */
    assert_true(ask(&memory, s, WAITING - 1, 0, &again) != 0);
    assert_ok(scene_change(s, WAITING, "held", 1));
    assert_true(ask(&memory, s, WAITING, PAI_FORMAT_TEXT, &again) != 0);
    assert_has(pai__buf_text(&again), "held until it is released");
    pai__buf_dispose(&again);
    pai__buf_dispose(&text);
    pai_sched_free(s);
  }
}

/* --- where many wait ------------------------------------------------------- */

enum { MANY = 2000, LARGE = 1 << 14 };

/* Counts large blocks that are taken. */
static void *count_large(void *ctx, void *block, size_t old_size,
                         size_t new_size)
{
  size_t *large = ctx;

  *large += block == NULL && new_size >= LARGE;
  return pai__libc_alloc.realloc_fn(pai__libc_alloc.ctx, block, old_size,
                                    new_size);
}

/* Many changes are tried, each on a fork: each takes the memory of the one
 * before. */
TEST(forks_use_memory_again)
{
  static const char *const all[] = { "fifo", "backfill", "priority",
                                     "fair", "k8s",      "capacity" };

  for (size_t i = 0; i < PAI__LEN(all); i++) {
    size_t large = 0;
    const pai_alloc alloc = { &large, count_large };
    pai_sched *s = make(all[i], &alloc, MANY);
    pai__buf text = test_buf();

    large = 0;
    assert_ok(
      pai_sched_explain(s, MANY, PAI_FORMAT_TEXT, test_collect, &text, NULL));
    assert_in_range(large, 1, 40);
    pai__buf_dispose(&text);
    pai_sched_free(s);
  }
}
