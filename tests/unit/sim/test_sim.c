/* Simulations: the lives of jobs, what they cost, nodes, and what is not taken. */
#include "simulated.h"

#include <openpai/platform.h>

#define SECOND INT64_C(1000000)
#define ONE "nodes:1 gpu:4 cpus:64 mem:512G"

static test_sim t;

/* Seconds, of which there are no parts. */
static void expect(size_t job, int64_t started, int64_t ended, int state)
{
  const test_fate *f = &t.fates[job];

  if (f->started != (started < 0 ? -1 : started * SECOND) ||
      f->ended != (ended < 0 ? -1 : ended * SECOND) || f->state != state)
    fail_msg("job %zu: from %lld to %lld us, state %d", job,
             (long long)f->started, (long long)f->ended, f->state);
}

/* --- lives ---------------------------------------------------------------- */

static void jobs_start_in_their_turn_and_end(void **state)
{
  const test_job jobs[] = {
    { .time = 10, .tasks = 1, .gpus = 3, .duration = 100 },
    { .time = 10, .tasks = 2, .gpus = 2, .duration = 50 },
    { .time = 20, .tasks = 1, .gpus = 1, .duration = 5, .code = 7 },
    { .time = 30, .tasks = 1, .gpus = 5, .duration = 5 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = test_sim_all(&t, ONE, jobs, 4, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  expect(0, 10, 110, PAI_STATE_SUCCEEDED);
  expect(1, 110, 160, PAI_STATE_SUCCEEDED);
  expect(2, 160, 165, PAI_STATE_FAILED);
  expect(3, -1, -1, 0);
  assert_int_equal(t.fates[2].code, 7);
  assert_int_equal(t.told, 1);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_string_equal(v.policy, "fifo");
  assert_int_equal(v.jobs, 4);
  assert_int_equal(v.rejected, 1);
  assert_int_equal(v.started, 3);
  assert_int_equal(v.finished, 3);
  assert_int_equal(v.failed, 1);
  assert_int_equal(v.makespan, 155 * SECOND);
  assert_int_equal(v.wait_mean, 80 * SECOND);
  assert_int_equal(v.wait_p50, 100 * SECOND);
  assert_int_equal(v.wait_max, 140 * SECOND);
  /* 300 + 200 + 5 of 620 GPU seconds. */
  assert_int_equal(v.utilization, 814516);
  test_sim_done(&t, r);
}

static void what_fails_is_tried_again(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 4, .duration = 10, .code = 1, .retries = 2 },
    { .time = 100,
      .tasks = 1,
      .gpus = 4,
      .duration = 10,
      .code = 1,
      .then = 20 },
    { .time = 100, .tasks = 1, .gpus = 4, .duration = 5 },
    /* For the platform's sake: it does not go on for ever. */
    { .time = 200, .tasks = 1, .gpus = 4, .duration = 100, .code = 200 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = test_sim_all(&t, ONE, jobs, 4, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  expect(0, 0, 30, PAI_STATE_FAILED);
  assert_int_equal(t.fates[0].attempts, 3);
  expect(1, 100, 130, PAI_STATE_SUCCEEDED); /* it keeps its turn */
  expect(2, 130, 135, PAI_STATE_SUCCEEDED);
  expect(3, 200, 400, PAI_STATE_FAILED);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.retries, 4);
  /* What was done anew: 2 x 10, 10 and 100 seconds of 4 GPUs. */
  assert_int_equal(v.lost, 130 * 4 * SECOND);
  test_sim_done(&t, r);
}

static void owners_kill_and_lose_patience(void **state)
{
  const test_job jobs[] = {
    { .id = "a", .tasks = 1, .gpus = 4, .duration = 100 },
    { .time = 1, .id = "b", .tasks = 1, .gpus = 4, .duration = 10 },
    { .time = 2, .tasks = 1, .gpus = 4, .duration = 10, .patience = 30 },
    { .time = 3, .tasks = 1, .gpus = 4, .duration = 99, .limit = 20 },
    { .time = 20, .kind = PAI_RECORD_KILL, .id = "b" },
    { .time = 50, .kind = PAI_RECORD_KILL, .id = "a" },
    { .time = 60, .kind = PAI_RECORD_KILL, .id = "nobody" },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.stop_cost = 5 * SECOND;
  r = test_sim_all(&t, ONE, jobs, 7, &o);
  expect(0, 0, 55, PAI_STATE_STOPPED);
  expect(1, -1, 20, PAI_STATE_STOPPED);
  expect(2, -1, 32, PAI_STATE_STOPPED);
  expect(3, 55, 80, PAI_STATE_STOPPED);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.killed, 4);
  assert_int_equal(v.finished, 0);
  test_sim_done(&t, r);
}

static void what_is_to_come_after_waits(void **state)
{
  const test_job jobs[] = {
    { .id = "a", .tasks = 1, .gpus = 1, .duration = 50 },
    { .id = "b", .tasks = 1, .gpus = 1, .duration = 20, .code = 1 },
    { .tasks = 1, .gpus = 1, .duration = 5, .after = "a" },
    { .tasks = 1, .gpus = 1, .duration = 5, .after = "b" },
    { .time = 60, .tasks = 1, .gpus = 1, .duration = 5, .after = "a" },
    { .time = 60, .tasks = 1, .gpus = 1, .duration = 5, .after = "b" },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.policy_options = "{\"greedy\":true}";
  r = test_sim_all(&t, ONE, jobs, 6, &o);
  expect(2, 50, 55, PAI_STATE_SUCCEEDED);
  expect(3, -1, -1, PAI_STATE_WAITING); /* for ever */
  expect(4, 60, 65, PAI_STATE_SUCCEEDED);
  expect(5, -1, -1, 0);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.left, 1);
  assert_int_equal(v.rejected, 1);
  test_sim_done(&t, r);
}

/* --- costs ---------------------------------------------------------------- */

static void what_is_preempted_goes_on_from_its_checkpoint(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 4, .duration = 100 },
    { .time = 40, .tasks = 1, .gpus = 4, .duration = 10, .priority = 9 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.policy = "priority";
  o.start_cost = 3 * SECOND;
  o.restart_cost = 7 * SECOND;
  o.stop_cost = 5 * SECOND;
  o.checkpoint = 20 * SECOND;
  r = test_sim_all(&t, ONE, jobs, 2, &o);
  /* It works from 3 to 45, of which 40 are saved; the other one from 45 on,
   * with 3 to begin; then 7 to begin again, and 60 of work are left. */
  expect(1, 45, 58, PAI_STATE_SUCCEEDED);
  expect(0, 0, 125, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].preemptions, 1);
  assert_int_equal(t.fates[0].lost, 2 * 4 * SECOND);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.preemptions, 1);
  assert_int_equal(v.lost, 8 * SECOND);
  assert_int_equal(v.retries, 0);
  test_sim_done(&t, r);
  o.checkpoint = 0; /* it begins anew */
  r = test_sim_all(&t, ONE, jobs, 2, &o);
  expect(0, 0, 165, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].lost, 42 * 4 * SECOND);
  test_sim_done(&t, r);
}

static void who_would_be_done_anyway_is_not_stopped(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 4, .duration = 42 },
    { .time = 40, .tasks = 1, .gpus = 4, .duration = 10, .priority = 9 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;

  (void)state;
  o.policy = "priority";
  o.stop_cost = 5 * SECOND;
  r = test_sim_all(&t, ONE, jobs, 2, &o);
  expect(0, 0, 42, PAI_STATE_SUCCEEDED);
  expect(1, 42, 52, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].preemptions, 0);
  test_sim_done(&t, r);
}

/* --- nodes ---------------------------------------------------------------- */

static void nodes_that_fail_disturb_and_come_back(void **state)
{
  const test_job jobs[] = {
    { .tasks = 2, .gpus = 4, .duration = 100 },
    { .time = 30,
      .kind = PAI_RECORD_NODE,
      .node = "node0001",
      .code = PAI_NODE_SICK },
    { .time = 80,
      .kind = PAI_RECORD_NODE,
      .node = "node0001",
      .code = PAI_NODE_UP },
    { .time = 90,
      .kind = PAI_RECORD_NODE,
      .node = "moon",
      .code = PAI_NODE_UP },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.checkpoint = 25 * SECOND;
  r = test_sim_all(&t, "nodes:2 gpu:4 cpus:64 mem:512G", jobs, 4, &o);
  expect(0, 0, 155, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].attempts, 2);
  assert_int_equal(t.told, 1);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.retries, 1);
  assert_int_equal(v.lost, 5 * 8 * SECOND);
  /* Half of it was down for 50 of 155 seconds. */
  assert_int_equal(r->outside, 50 * 4 * SECOND);
  test_sim_done(&t, r);
}

static void outages_are_drawn(void **state)
{
  static test_job jobs[200];
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  for (size_t i = 0; i < 200; i++)
    jobs[i] = (test_job){
      .time = (int64_t)i * 100, .tasks = 1, .gpus = 2, .duration = 1000
    };
  o.node_up = 10000 * SECOND;
  o.node_down = 500 * SECOND;
  o.seed = 5;
  r = test_sim_all(&t, "nodes:8 gpu:4 cpus:64 mem:512G", jobs, 200, &o);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.finished, 200);
  assert_true(v.retries > 5 && v.retries < 100);
  assert_true(r->outside > 0);
  test_sim_done(&t, r);
}

/* A job is tried again so many times, and no more. */
static void nodes_that_fail_all_the_time_end_the_job(void **state)
{
  const test_job job = { .tasks = 1, .gpus = 4, .duration = 100000 };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.node_up = SECOND;
  o.node_down = SECOND;
  r = test_sim_all(&t, ONE, &job, 1, &o);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.retries, PAI_JOB_MAX_RETRIES);
  assert_int_equal(v.failed, 1);
  test_sim_done(&t, r);
}

static void what_is_to_come_after_itself_is_rejected(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 1, .duration = 5, .id = "a", .after = "a" },
    { .tasks = 1, .gpus = 1, .duration = 5, .id = "b", .after = "moon" },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = test_sim_all(&t, ONE, jobs, 2, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.rejected, 1);
  assert_int_equal(v.finished, 1);
  expect(1, 0, 5, PAI_STATE_SUCCEEDED);
  test_sim_done(&t, r);
}

/* --- what is not taken as it is ------------------------------------------- */

static void unknown_virtual_clusters_are_mapped_or_refused(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "ours" },
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "theirs" },
    { .tasks = 1, .gpus = 1, .duration = 5 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = test_sim_all(&t, TEST_TWO_VCS, jobs, 3, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.mapped_vcs, 2);
  assert_int_equal(v.finished, 3);
  assert_int_equal(t.told, 2);
  assert_int_equal(t.lines_used, 2);
  test_sim_done(&t, r);
  o.strict = 1;
  assert_int_equal(test_sim_new(&t, TEST_TWO_VCS, jobs, 3, &o, NULL), PAI_OK);
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  test_expect_error(err, PAI_EINVAL,
                    "there is no virtual cluster "
                    "'theirs'");
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "has failed before");
  test_sim_done(&t, NULL);
}

static void options_are_checked(void **state)
{
  const test_job job = { .tasks = 1, .gpus = 1, .duration = 5 };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_error *err = NULL;

  (void)state;
  o.policy = "lottery";
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "lottery");
  test_sim_done(&t, NULL);
  o.policy = NULL;
  o.fail = 1001;
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "of a thousand");
  test_sim_done(&t, NULL);
  o.fail = 0;
  o.stop_cost = -1;
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "stop_cost is negative");
  test_sim_done(&t, NULL);
}

static void it_ends_when_it_is_told_to(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 4, .duration = 100 },
    { .time = 10, .tasks = 1, .gpus = 4, .duration = 100 },
    { .time = 200, .tasks = 1, .gpus = 4, .duration = 100 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  o.until = 150 * SECOND;
  r = test_sim_all(&t, ONE, jobs, 3, &o);
  expect(0, 0, 100, PAI_STATE_SUCCEEDED);
  expect(1, 100, -1, PAI_STATE_RUNNING);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.jobs, 2);
  assert_int_equal(v.left, 1);
  assert_int_equal(v.utilization, 1000000);
  assert_int_equal(r->users.list[0].used, 600 * SECOND);
  assert_int_equal(r->nbars, 2);
  assert_int_equal(r->bars[1].end, PAI_STATE_RUNNING);
  assert_int_equal(r->bars[1].gpus, 0xf);
  test_sim_done(&t, r);
}

/* --- a policy without an end ----------------------------------------------- */

/* Whoever has a place loses it as long as somebody waits. */
static int swap_all(void *state, void *data, const pai_policy_host *host)
{
  uint64_t id = 0;
  uint32_t instance = 0;

  (void)state;
  (void)data;
  if (host->next_waiting(host, 0) != 0)
    (void)host->start(host, host->next_waiting(host, 0), NULL);
  if (host->next_waiting(host, 0) != 0 &&
      host->next_placed(host, &id, &instance) == 1)
    (void)host->preempt(host, id, instance, 0);
  return PAI_OK;
}

static void preemptions_without_an_end_are_an_error(void **state)
{
  static const pai_policy swapping = { .struct_size = sizeof(swapping),
                                       .version = PAI_POLICY_VERSION,
                                       .name = "swapping",
                                       .decide = swap_all };
  static const test_job jobs[] = { { .tasks = 1, .gpus = 4, .duration = 9 },
                                   { .tasks = 1, .gpus = 4, .duration = 9 } };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *report = NULL;
  pai_error *err = NULL;

  (void)state;
  o.table = &swapping;
  assert_int_equal(test_sim_new(&t, ONE, jobs, PAI__LEN(jobs), &o, NULL),
                   PAI_OK);
  assert_int_equal(test_sim_run(&t, &report, &err), PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "policy 'swapping' preempted");
  test_sim_done(&t, report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(jobs_start_in_their_turn_and_end),
    cmocka_unit_test(what_fails_is_tried_again),
    cmocka_unit_test(owners_kill_and_lose_patience),
    cmocka_unit_test(what_is_to_come_after_waits),
    cmocka_unit_test(what_is_preempted_goes_on_from_its_checkpoint),
    cmocka_unit_test(who_would_be_done_anyway_is_not_stopped),
    cmocka_unit_test(nodes_that_fail_disturb_and_come_back),
    cmocka_unit_test(outages_are_drawn),
    cmocka_unit_test(nodes_that_fail_all_the_time_end_the_job),
    cmocka_unit_test(what_is_to_come_after_itself_is_rejected),
    cmocka_unit_test(unknown_virtual_clusters_are_mapped_or_refused),
    cmocka_unit_test(options_are_checked),
    cmocka_unit_test(it_ends_when_it_is_told_to),
    cmocka_unit_test(preemptions_without_an_end_are_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
