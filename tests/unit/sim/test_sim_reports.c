/* Simulations: what adds up, the same again, and reports that are read. */
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
      r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
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
      test_sim_done(&t, r);
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
  r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
  write_report(&report, r);
  log = t.log;
  events = t.events;
  t.log.data = t.events.data = NULL;
  t.log.cap = t.events.cap = 0;
  test_sim_done(&t, r);
  /* Step by step. */
  assert_int_equal(test_sim_new(&t, TEST_TWO_VCS, jobs, MANY, &o, NULL),
                   PAI_OK);
  while (pai_sim_step(t.sim, at, NULL) == 1)
    at += 777 * SECOND;
  assert_int_equal(pai_sim_report_of(&r, t.sim, NULL), PAI_OK);
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
  r = test_sim_all(&t, TEST_TWO_VCS, jobs, MANY, &o);
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
  test_sim_done(&t, r);
  /* One of nothing, too. */
  o.until = 0;
  r = test_sim_all(&t, TEST_TWO_VCS, jobs, 0, &o);
  write_report(&text, r);
  assert_int_equal(
    pai_sim_read(&back, text.data, text.len, &pai__libc_alloc, NULL), PAI_OK);
  pai__buf_dispose(&text);
  pai_sim_report_free(back);
  test_sim_done(&t, r);
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
  pai_sim_report *r = test_sim_all(&t, ONE, &job, 1, &o), *back;
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
  pai__buf text;
  int rc;

  (void)data;
  o.alloc = alloc;
  rc = test_sim_new(&t, TEST_TWO_VCS, jobs, 5, &o, NULL);
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
  test_sim_done(&t, r);
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
    cmocka_unit_test(nothing_is_lost),
    cmocka_unit_test(the_same_seed_gives_the_same_bytes),
    cmocka_unit_test(a_report_is_read_as_it_was_written),
    cmocka_unit_test(broken_reports_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
