/* Simulations: what adds up, the same again, and reports that are read. */
#include "cases.h"
#include "simulated.h"

#include "base/prng.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define ONE "nodes:1 gpu:4 cpus:64 mem:512G"

static test_sim t;

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
    const pai__sim_group *x = &g->list[i];

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

TEST(nothing_is_lost)
{
  static const char *const policies[] = { "fifo",     "backfill", "priority",
                                          "capacity", "fair",     "k8s" };
  static test_job jobs[MANY];

  make_many(jobs, 3);
  for (size_t i = 0; i < PAI__LEN(policies); i++)
    for (int cut = 0; cut < 2; cut++) {
      pai_sim_options o = wild(policies[i]);
      pai_sim_report *r;
      uint64_t came = 0, ended = 0;

      o.until = cut ? 9000 * SECOND : 0;
      r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
      expect_sums(r, &r->groups[PAI__BY_VC]);
      expect_sums(r, &r->groups[PAI__BY_USER]);
      expect_sums(r, &r->groups[PAI__BY_SIZE]);
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
      test_sim_done(&t, r);
    }
}

/* --- the same again ------------------------------------------------------- */

static void write_report(pai__buf *out, const pai_sim_report *r)
{
  pai__buf_init(out, &pai__libc_alloc);
  assert_ok(pai_sim_write(&r, 1, PAI_FORMAT_JSON, test_collect, out, NULL));
}

TEST(the_same_seed_gives_the_same_bytes)
{
  static test_job jobs[MANY];
  pai_sim_options o = wild("priority");
  pai__buf log, events, report, again;
  pai_sim_report *r;
  pai_time at = 0;

  make_many(jobs, 4);
  r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
  write_report(&report, r);
  log = t.log;
  events = t.events;
  t.log.data = t.events.data = NULL;
  t.log.cap = t.events.cap = 0;
  test_sim_done(&t, r);
  /* Step by step. */
  assert_ok(test_sim_new(&t, TEST_TWO_VCS, jobs, MANY, &o, NULL));
  while (pai_sim_step(t.sim, at, NULL) == 1)
    at += 777 * SECOND;
  assert_ok(pai_sim_report_of(&r, t.sim, NULL));
  write_report(&again, r);
  assert_string_equal(again.data, report.data);
  assert_string_equal(t.log.data, log.data);
  assert_string_equal(t.events.data, events.data);
  assert_true(strstr(events.data, "\"why\":\"preempted\"") != NULL);
  pai__buf_dispose(&again);
  test_sim_done(&t, r);
  o.seed = 12;
  r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
  write_report(&again, r);
  assert_true(strcmp(again.data, report.data) != 0);
  pai__buf_dispose(&again);
  pai__buf_dispose(&report);
  pai__buf_dispose(&log);
  pai__buf_dispose(&events);
  test_sim_done(&t, r);
}

/* Of many jobs, and of none. */
TEST(a_report_is_read_as_it_was_written)
{
  static test_job jobs[MANY];
  pai_sim_options o = wild("fifo");

  make_many(jobs, 5);
  o.seed = UINT64_MAX;
  o.policy_options = "{\"greedy\": false}";
  for (size_t count = 0; count <= MANY; count += MANY) {
    pai_sim_report *r, *back;
    pai__buf text, again;

    o.until = count != 0 ? 8000 * SECOND : 0;
    r = test_sim_all(&t, TEST_TWO_VCS, jobs, count, &o);
    write_report(&text, r);
    assert_has(text.data, "\"options\":\"{\\\"greedy\\\": false}\"");
    assert_ok(
      pai_sim_read(&back, text.data, text.len, &pai__libc_alloc, NULL));
    write_report(&again, back);
    assert_string_equal(again.data, text.data);
    pai__buf_dispose(&text);
    pai__buf_dispose(&again);
    pai_sim_report_free(back);
    test_sim_done(&t, r);
  }
}

TEST(broken_reports_are_refused)
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
  pai_sim_report *r = test_sim_all(&t, ONE, &job, 1, &o), *back;
  pai__buf text, other = test_buf();

  write_report(&text, r);
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
  test_sim_done(&t, r);
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
  pai__buf text = test_buf();
  int rc;

  (void)data;
  o.alloc = alloc;
  rc = test_sim_new(&t, TEST_TWO_VCS, jobs, 5, &o, NULL);
  if (rc == PAI_OK)
    rc = test_sim_run(&t, &r, NULL);
  if (rc == PAI_OK)
    rc = pai_sim_write((const pai_sim_report *const *)&r, 1, PAI_FORMAT_JSON,
                       test_collect, &text, NULL);
  if (rc == PAI_OK)
    rc = pai_sim_read(&back, text.data, text.len, alloc, NULL);
  pai__buf_dispose(&text);
  pai_sim_report_free(back);
  test_sim_done(&t, r);
  return rc;
}

TEST(no_memory_is_survived)
{
  test_faults(whole, NULL);
}
