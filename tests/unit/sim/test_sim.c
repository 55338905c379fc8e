/* test_sim.c - simulations: lives of jobs, what options change, what reports
 * add up to */
#include "simulated.h"

#include "base/prng.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define ONE "nodes:1 gpu:4 cpus:64 mem:512G"

static test_sim t;

static pai_sim_report *run(const char *cluster, const test_job *jobs, size_t n,
                           const pai_sim_options *o)
{
  pai_sim_report *report = NULL;
  pai_error *err = NULL;

  if (test_sim_new(&t, cluster, jobs, n, o, &err) < 0 ||
      test_sim_run(&t, &report, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return report;
}

static void done(pai_sim_report *report)
{
  pai_sim_report_free(report);
  test_sim_dispose(&t);
}

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
  pai_sim_report *r = run(ONE, jobs, 4, &o);
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
  done(r);
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
  pai_sim_report *r = run(ONE, jobs, 4, &o);
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
  done(r);
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
  r = run(ONE, jobs, 7, &o);
  expect(0, 0, 55, PAI_STATE_STOPPED);
  expect(1, -1, 20, PAI_STATE_STOPPED);
  expect(2, -1, 32, PAI_STATE_STOPPED);
  expect(3, 55, 80, PAI_STATE_STOPPED);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.killed, 4);
  assert_int_equal(v.finished, 0);
  done(r);
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
  r = run(ONE, jobs, 6, &o);
  expect(2, 50, 55, PAI_STATE_SUCCEEDED);
  expect(3, -1, -1, PAI_STATE_WAITING); /* for ever */
  expect(4, 60, 65, PAI_STATE_SUCCEEDED);
  expect(5, -1, -1, 0);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.left, 1);
  assert_int_equal(v.rejected, 1);
  done(r);
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
  r = run(ONE, jobs, 2, &o);
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
  done(r);
  o.checkpoint = 0; /* it begins anew */
  r = run(ONE, jobs, 2, &o);
  expect(0, 0, 165, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].lost, 42 * 4 * SECOND);
  done(r);
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
  r = run(ONE, jobs, 2, &o);
  expect(0, 0, 42, PAI_STATE_SUCCEEDED);
  expect(1, 42, 52, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].preemptions, 0);
  done(r);
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
  r = run("nodes:2 gpu:4 cpus:64 mem:512G", jobs, 4, &o);
  expect(0, 0, 155, PAI_STATE_SUCCEEDED);
  assert_int_equal(t.fates[0].attempts, 2);
  assert_int_equal(t.told, 1);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.retries, 1);
  assert_int_equal(v.lost, 5 * 8 * SECOND);
  /* Half of it was down for 50 of 155 seconds. */
  assert_int_equal(r->outside, 50 * 4 * SECOND);
  done(r);
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
  r = run("nodes:8 gpu:4 cpus:64 mem:512G", jobs, 200, &o);
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.finished, 200);
  assert_true(v.retries > 5 && v.retries < 100);
  assert_true(r->outside > 0);
  done(r);
}

static void nodes_that_fail_all_the_time_end_it(void **state)
{
  const test_job job = { .tasks = 1, .gpus = 4, .duration = 100000 };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_error *err = NULL;

  (void)state;
  o.node_up = SECOND;
  o.node_down = SECOND;
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, NULL), PAI_OK);
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_ELIMIT);
  assert_non_null(strstr(pai_error_help(err), "--checkpoint"));
  test_expect_error(err, PAI_ELIMIT, "each node has failed 4000 times");
  done(NULL);
}

static void what_is_to_come_after_itself_is_rejected(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 1, .duration = 5, .id = "a", .after = "a" },
    { .tasks = 1, .gpus = 1, .duration = 5, .id = "b", .after = "moon" },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = run(ONE, jobs, 2, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.rejected, 1);
  assert_int_equal(v.finished, 1);
  expect(1, 0, 5, PAI_STATE_SUCCEEDED);
  done(r);
}

/* --- what is not taken as it is ------------------------------------------- */

static const char two_vcs[] =
  "skus: {box: {gpu: h100, gpus: 4, cpus: 64, memory: 1T}}\n"
  "nodes: [{name: \"n[1-4]\", sku: box}]\n"
  "virtualClusters: {ours: {cells: {box: 3}}, yours: {cells: {box: 1}}}\n";

static void unknown_virtual_clusters_are_mapped_or_refused(void **state)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "ours" },
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "theirs" },
    { .tasks = 1, .gpus = 1, .duration = 5 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = run(two_vcs, jobs, 3, &o);
  pai_sim_view v = { .struct_size = sizeof(v) };
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai_sim_look(r, &v), PAI_OK);
  assert_int_equal(v.mapped_vcs, 2);
  assert_int_equal(v.finished, 3);
  assert_int_equal(t.told, 2);
  assert_int_equal(t.lines_used, 2);
  done(r);
  o.strict = 1;
  assert_int_equal(test_sim_new(&t, two_vcs, jobs, 3, &o, NULL), PAI_OK);
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  test_expect_error(err, PAI_EINVAL,
                    "line 2 of the trace: there is no virtual cluster "
                    "'theirs'");
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "has failed before");
  done(NULL);
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
  done(NULL);
  o.policy = NULL;
  o.fail = 1001;
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "of a thousand");
  done(NULL);
  o.fail = 0;
  o.stop_cost = -1;
  assert_int_equal(test_sim_new(&t, ONE, &job, 1, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "stop_cost is negative");
  done(NULL);
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
  r = run(ONE, jobs, 3, &o);
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
  done(r);
}

/* --- what adds up --------------------------------------------------------- */

enum { MANY = 1500 };

static void make_many(test_job *jobs, uint64_t seed)
{
  static const char *const names[] = { "ann", "bob", "cyd", "dan", NULL };
  static const char *const vcs[] = { "ours", "yours", "theirs" };
  static char ids[MANY][8];
  pai__prng r = { seed };
  int64_t time = 0;

  for (size_t i = 0; i < MANY; i++) {
    bool kills = i > 10 && pai__prng_below(&r, 20) == 0;

    time += (int64_t)pai__prng_below(&r, 40);
    (void)snprintf(ids[i], sizeof(ids[i]), "j%zu", i);
    jobs[i] = (test_job){
      .time = time,
      .id = kills ? ids[i - 1 - pai__prng_below(&r, 10)] : ids[i],
      .kind = kills ? PAI_RECORD_KILL : 0,
      .tasks = 1 + (uint32_t)pai__prng_below(&r, 3),
      .gpus = (uint32_t)pai__prng_below(&r, 6),
      .duration = (int64_t)pai__prng_below(&r, 300),
      .priority = (int)pai__prng_below(&r, 4) - 1,
      .vc = vcs[pai__prng_below(&r, 3)],
      .user = names[pai__prng_below(&r, 5)],
      .code = pai__prng_below(&r, 4) == 0,
      .retries = (uint32_t)pai__prng_below(&r, 3),
      .patience = pai__prng_below(&r, 5) == 0 ? 200 : 0,
      .limit = pai__prng_below(&r, 6) == 0 ? 150 : 0,
    };
  }
}

/* Where somebody is to listen; the test keeps it. */
static int listen(void *data, const char *bytes, size_t len)
{
  (void)data;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

static pai_sim_options wild(const char *policy)
{
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;

  o.policy = policy;
  o.start_cost = 2 * SECOND;
  o.stop_cost = 3 * SECOND;
  o.checkpoint = 30 * SECOND;
  o.node_up = 9000 * SECOND;
  o.node_down = 600 * SECOND;
  o.fail = 50;
  o.spread = 200;
  o.patience = 40000 * SECOND;
  o.seed = 11;
  o.estimates = 1;
  o.log = listen;
  o.events = listen;
  return o;
}

static void expect_sums(const pai_sim_report *r, const pai__groups *g)
{
  int64_t used = 0, busy = 0, lent = 0, borrowed = 0, lost = 0;
  uint64_t jobs = 0, finished = 0, left = 0;

  for (size_t i = 0; i < g->count; i++) {
    const pai__group *x = &g->list[i];

    used += x->used;
    lent += x->lent;
    borrowed += x->borrowed;
    lost += x->lost;
    jobs += x->jobs;
    finished += x->finished;
    left += x->left;
    assert_int_equal(x->jobs, x->finished + x->killed + x->rejected + x->left);
  }
  for (size_t i = 0; i < r->nbins; i++)
    busy += r->bins[i].busy;
  assert_int_equal(used, busy);
  assert_int_equal(lent, borrowed);
  assert_int_equal(lost, r->view.lost);
  assert_int_equal(jobs, r->view.jobs);
  assert_int_equal(finished, r->view.finished);
  assert_int_equal(left, r->view.left);
}

static void nothing_is_lost(void **state)
{
  static const char *const policies[] = { "fifo",     "backfill", "priority",
                                          "capacity", "fair",     "k8s" };
  static test_job jobs[MANY];

  (void)state;
  make_many(jobs, 3);
  for (size_t i = 0; i < PAI__LEN(policies); i++)
    for (int cut = 0; cut < 2; cut++) {
      pai_sim_options o = wild(policies[i]);
      pai_sim_report *r;
      uint64_t came = 0, ended = 0;

      o.until = cut ? 9000 * SECOND : 0;
      r = run(two_vcs, jobs, MANY, &o);
      expect_sums(r, &r->vcs);
      expect_sums(r, &r->users);
      expect_sums(r, &r->sizes);
      for (size_t k = 0; k < r->nbins; k++) {
        came += r->bins[k].came;
        ended += r->bins[k].ended;
        assert_true(r->bins[k].busy <= 16 * r->bin);
        assert_true(r->bins[k].up >= 0 && r->bins[k].fragmented >= 0);
      }
      assert_int_equal(came, r->view.jobs);
      assert_int_equal(ended, r->view.finished + r->view.killed);
      assert_true(r->view.jobs > 400 && r->view.killed > 10 &&
                  r->view.retries > 10 && r->view.mapped_vcs > 100);
      done(r);
    }
}

/* --- the same again ------------------------------------------------------- */

static int keep(void *out, const char *bytes, size_t len)
{
  pai__buf_add(out, bytes, len);
  return PAI_OK;
}

static void write_report(pai__buf *out, const pai_sim_report *r)
{
  pai__buf_init(out, &pai__libc_alloc);
  assert_int_equal(pai_sim_write(&r, 1, PAI_FORMAT_JSON, keep, out, NULL),
                   PAI_OK);
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
  static test_job jobs[MANY];
  pai_sim_options o = wild("priority");
  pai__buf log, events, report, again;
  pai_sim_report *r;
  pai_time at = 0;

  (void)state;
  make_many(jobs, 4);
  r = run(two_vcs, jobs, MANY, &o);
  write_report(&report, r);
  log = t.log;
  events = t.events;
  t.log.data = t.events.data = NULL;
  t.log.cap = t.events.cap = 0;
  done(r);
  /* Step by step. */
  assert_int_equal(test_sim_new(&t, two_vcs, jobs, MANY, &o, NULL), PAI_OK);
  while (pai_sim_step(t.sim, at, NULL) == 1)
    at += 777 * SECOND;
  assert_int_equal(pai_sim_report_of(&r, t.sim, NULL), PAI_OK);
  write_report(&again, r);
  assert_string_equal(again.data, report.data);
  assert_string_equal(t.log.data, log.data);
  assert_string_equal(t.events.data, events.data);
  assert_true(strstr(events.data, "\"why\":\"preempted\"") != NULL);
  pai__buf_dispose(&again);
  done(r);
  o.seed = 12;
  r = run(two_vcs, jobs, MANY, &o);
  write_report(&again, r);
  assert_true(strcmp(again.data, report.data) != 0);
  pai__buf_dispose(&again);
  pai__buf_dispose(&report);
  pai__buf_dispose(&log);
  pai__buf_dispose(&events);
  done(r);
}

static void a_report_is_read_as_it_was_written(void **state)
{
  static test_job jobs[MANY];
  pai_sim_options o = wild("fifo");
  pai_sim_report *r, *back;
  pai__buf text, again;

  (void)state;
  make_many(jobs, 5);
  o.until = 8000 * SECOND;
  o.seed = UINT64_MAX;
  o.policy_options = "{\"greedy\": false}";
  r = run(two_vcs, jobs, MANY, &o);
  write_report(&text, r);
  assert_non_null(
    strstr(text.data, "\"options\":\"{\\\"greedy\\\": false}\""));
  assert_int_equal(
    pai_sim_read(&back, text.data, text.len, &pai__libc_alloc, NULL), PAI_OK);
  write_report(&again, back);
  assert_string_equal(again.data, text.data);
  pai__buf_dispose(&text);
  pai__buf_dispose(&again);
  pai_sim_report_free(back);
  done(r);
  /* One of nothing, too. */
  o.until = 0;
  r = run(two_vcs, jobs, 0, &o);
  write_report(&text, r);
  assert_int_equal(
    pai_sim_read(&back, text.data, text.len, &pai__libc_alloc, NULL), PAI_OK);
  pai__buf_dispose(&text);
  pai_sim_report_free(back);
  done(r);
}

static void broken_reports_are_refused(void **state)
{
  const test_job job = { .tasks = 1, .gpus = 1, .duration = 5 };
  static const char *const changes[][2] = {
    { "\"policy\":\"fifo\"", "\"policy\":1" },
    { "\"seed\":0", "\"seed\":-1" },
    { "\"begin_s\":0", "\"begin_s\":0.1234567" },
    { "\"utilization\"", "\"utilisation\"" },
    { "\"came\":[1", "\"came\":[1,1" },
    { "\"at\":[", "\"at\":[7," },
    { "\"1\",\"succeeded\"]", "\"x\",\"succeeded\"]" },
    { "\"1\",\"succeeded\"]", "\"1\",\"great\"]" },
    { "[1,0,5,0,0,", "[1,0,5,0,9," },
    { "[1,0,5,0,0,", "[1,0,5,0," },
    { "\"vcs\":[", "\"vcs\":[7," },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r = run(ONE, &job, 1, &o), *back;
  pai__buf text, other;

  (void)state;
  write_report(&text, r);
  pai__buf_init(&other, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(changes); i++) {
    char *at = strstr(text.data, changes[i][0]);
    pai_error *err = NULL;

    if (at == NULL)
      fail_msg("there is no %s in %s", changes[i][0], text.data);
    pai__buf_clear(&other);
    pai__buf_add(&other, text.data, (size_t)(at - text.data));
    pai__buf_str(&other, changes[i][1]);
    pai__buf_str(&other, at + strlen(changes[i][0]));
    if (pai_sim_read(&back, other.data, other.len, NULL, &err) != PAI_EINVAL)
      fail_msg("%s was taken", changes[i][1]);
    assert_null(back);
    pai_error_free(err);
  }
  pai__buf_dispose(&other);
  pai__buf_dispose(&text);
  done(r);
}

/* --- memory --------------------------------------------------------------- */

static int whole(const pai_alloc *alloc, void *data)
{
  static const test_job jobs[] = {
    { .id = "a", .tasks = 2, .gpus = 4, .duration = 100, .user = "ann" },
    { .time = 5,
      .tasks = 1,
      .gpus = 2,
      .duration = 10,
      .code = 1,
      .then = 20,
      .priority = 5,
      .after = "a",
      .user = "bob" },
    { .time = 9,
      .tasks = 1,
      .gpus = 4,
      .duration = 10,
      .priority = 9,
      .vc = "theirs" },
    { .time = 9, .tasks = 1, .gpus = 99, .duration = 10 },
    { .time = 20, .kind = PAI_RECORD_KILL, .id = "a" },
  };
  pai_sim_options o = wild("priority");
  pai_sim_report *r = NULL, *back = NULL;
  pai__buf text;
  int rc;

  (void)data;
  o.alloc = alloc;
  rc = test_sim_new(&t, two_vcs, jobs, 5, &o, NULL);
  if (rc == PAI_OK)
    rc = test_sim_run(&t, &r, NULL);
  pai__buf_init(&text, &pai__libc_alloc);
  if (rc == PAI_OK)
    rc = pai_sim_write((const pai_sim_report *const *)&r, 1, PAI_FORMAT_JSON,
                       keep, &text, NULL);
  if (rc == PAI_OK)
    rc = pai_sim_read(&back, text.data, text.len, alloc, NULL);
  pai__buf_dispose(&text);
  pai_sim_report_free(back);
  done(r);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(whole, NULL);
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
    cmocka_unit_test(nodes_that_fail_all_the_time_end_it),
    cmocka_unit_test(what_is_to_come_after_itself_is_rejected),
    cmocka_unit_test(unknown_virtual_clusters_are_mapped_or_refused),
    cmocka_unit_test(options_are_checked),
    cmocka_unit_test(it_ends_when_it_is_told_to),
    cmocka_unit_test(nothing_is_lost),
    cmocka_unit_test(the_same_seed_gives_the_same_bytes),
    cmocka_unit_test(a_report_is_read_as_it_was_written),
    cmocka_unit_test(broken_reports_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
