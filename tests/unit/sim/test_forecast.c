/* test_forecast.c - when what waits will start */
#include "testing.h"

#include "base/buf.h"
#include "sched/scene.h"
#include "sim/calibrate.h"
#include "sim/future.h"

#include <openpai/forecast.h>

#define SECOND INT64_C(1000000)
#define NODES "nodes:1 gpu:4 cpus:8 mem:1G"

static int request(pai_sched *s, uint64_t id, const char *user, uint32_t gpus,
                   int64_t duration)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(s,
                       &(pai_request){ .struct_size = sizeof(pai_request),
                                       .id = id,
                                       .user = user,
                                       .name = "train-1",
                                       .duration = duration * SECOND,
                                       .wants = &want,
                                       .nwants = 1 },
                       NULL);
}

/* One has all GPUs since 0, two wait behind it. */
static pai_sched *queue(const pai_alloc *alloc)
{
  pai_sched *s = scene_new(NODES, "fifo", NULL, alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc == PAI_OK)
    rc = request(s, 1, "ann", 4, 100);
  if (rc == PAI_OK)
    rc = request(s, 2, "bob", 4, 50);
  if (rc == PAI_OK)
    rc = request(s, 3, "ann", 2, 10);
  if (rc == PAI_OK && pai_sched_decide(s, 0, NULL) < 0)
    rc = PAI_ENOMEM;
  if (rc == PAI_OK)
    rc = scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = 1 }, NULL);
  if (rc == PAI_OK)
    return s;
  pai_sched_free(s);
  return NULL;
}

static void go_to(pai_sched *s, int64_t seconds)
{
  const pai_sched_event e = { .struct_size = sizeof(e),
                              .kind = PAI_SCHED_TIME,
                              .time = seconds * SECOND };

  assert_int_equal(pai_sched_send(s, &e, NULL), PAI_OK);
}

static pai_forecast *forecast(const pai_sched *s, const pai_history *h,
                              const pai_forecast_options *opts)
{
  pai_forecast *f;

  assert_int_equal(pai_forecast_new(&f, s, h, opts, NULL), PAI_OK);
  return f;
}

static pai_when when(const pai_forecast *f, uint64_t id)
{
  pai_when w = { .struct_size = sizeof(w) };

  assert_int_equal(pai_forecast_when(f, id, &w), PAI_OK);
  return w;
}

/* Of `n` jobs that took from `from` on, a second more each. */
static pai_history *seen(const char *user, int n, int64_t from)
{
  pai_history *h;
  pai_past p = {
    .struct_size = sizeof(p), .user = user, .name = "train-7", .gpus = 4
  };

  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  for (int i = 0; i < n; i++) {
    p.duration = (from + i) * SECOND;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
  return h;
}

/* --- when ----------------------------------------------------------------- */

static void owners_are_believed(void **state)
{
  pai_sched *s = queue(NULL);
  pai_forecast *f = forecast(s, NULL, NULL);
  pai_when w = when(f, 2);

  (void)state;
  assert_int_equal(w.p10, 100 * SECOND);
  assert_int_equal(w.p90, 100 * SECOND);
  assert_int_equal(w.runs, 100);
  assert_int_equal(w.started, 100);
  assert_int_equal(w.guessed, 0);
  assert_int_equal(when(f, 3).p50, 150 * SECOND);
  assert_int_equal(pai_forecast_next(f, 0), 2);
  assert_int_equal(pai_forecast_next(f, 2), 3);
  assert_int_equal(pai_forecast_next(f, 3), 0);
  assert_int_equal(pai_forecast_when(f, 1, &w), PAI_ENOTFOUND);
  assert_int_equal(pai_forecast_when(f, 9, &w), PAI_ENOTFOUND);
  pai_forecast_free(f);
  pai_sched_free(s);
}

static void who_has_run_for_longer_runs_on(void **state)
{
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_when w;

  (void)state;
  go_to(s, 1000);
  f = forecast(s, NULL, NULL);
  w = when(f, 2);
  assert_true(w.p10 > 1000 * SECOND && w.p10 < 1300 * SECOND);
  assert_true(w.p50 > 1500 * SECOND && w.p50 < 2700 * SECOND);
  assert_true(w.p90 > 5000 * SECOND);
  assert_int_equal(w.guessed, 1);
  assert_int_equal(w.alike, PAI_ALIKE_NONE);
  pai_forecast_free(f);
  pai_sched_free(s);
}

static void jobs_take_as_long_as_those_alike(void **state)
{
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 41, 200);
  pai_forecast *f;
  pai_when w;

  (void)state;
  /* Its owner's guess is another one: that class has no history. */
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  f = forecast(s, h,
               &(pai_forecast_options){
                 .struct_size = sizeof(pai_forecast_options), .runs = 1000 });
  w = when(f, 2);
  assert_in_range(w.p50, 217 * SECOND, 223 * SECOND);
  assert_in_range(w.p10, 202 * SECOND, 206 * SECOND);
  assert_in_range(w.p90, 234 * SECOND, 239 * SECOND);
  assert_int_equal(w.alike, PAI_ALIKE_NAME);
  assert_int_equal(w.guessed, 1);
  pai_forecast_free(f);
  /* It has run for some time. */
  go_to(s, 230);
  f = forecast(s, h, NULL);
  w = when(f, 2);
  assert_in_range(w.p10, 231 * SECOND, 233 * SECOND);
  assert_in_range(w.p50, 234 * SECOND, 238 * SECOND);
  pai_forecast_free(f);
  pai_history_free(h);
  pai_sched_free(s);
}

static void the_worst_guess_is_told(void **state)
{
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 20, 200);
  pai_forecast *f;

  (void)state;
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  assert_int_equal(scene_change(s, 2, "duration", 0), PAI_OK);
  f = forecast(s, h, NULL);
  assert_int_equal(when(f, 2).alike, PAI_ALIKE_NAME);
  assert_int_equal(when(f, 2).guessed, 1);
  assert_int_equal(when(f, 3).alike, PAI_ALIKE_VC_SIZE);
  assert_int_equal(when(f, 3).guessed, 2);
  pai_forecast_free(f);
  pai_history_free(h);
  pai_sched_free(s);
}

static void the_same_seed_gives_the_same(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 41, 200);
  pai_forecast *a, *b, *c;

  (void)state;
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  o.seed = 7;
  a = forecast(s, h, &o);
  b = forecast(s, h, &o);
  o.seed = 8;
  c = forecast(s, h, &o);
  assert_memory_equal(a->block, b->block,
                      (size_t)a->nwaits * a->runs * sizeof(*a->block));
  assert_memory_not_equal(a->block, c->block,
                          (size_t)a->nwaits * a->runs * sizeof(*a->block));
  pai_forecast_free(a);
  pai_forecast_free(b);
  pai_forecast_free(c);
  pai_history_free(h);
  pai_sched_free(s);
}

static int stop_at(void *user_data)
{
  return --*(int *)user_data == 0;
}

static void it_can_be_given_up(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_error *err;
  int left = 3;

  (void)state;
  o.stop = stop_at;
  o.user_data = &left;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, &err), PAI_ECANCELED);
  assert_null(f);
  test_expect_error(err, PAI_ECANCELED, "nobody");
  assert_int_equal(left, 0); /* it is not asked again */
  o.struct_size = offsetof(pai_forecast_options, stop); /* an older caller's */
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, NULL), PAI_OK);
  pai_forecast_free(f);
  pai_sched_free(s);
}

static void one_alone_is_the_same_as_among_all(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 41, 200);
  pai_forecast *all, *one;
  pai_when w;

  (void)state;
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  all = forecast(s, h, &o);
  o.only = 2;
  one = forecast(s, h, &o);
  assert_int_equal(when(all, 2).p50, when(one, 2).p50);
  assert_int_equal(when(all, 2).p90, when(one, 2).p90);
  assert_int_equal(pai_forecast_next(one, 2), 0);
  assert_int_equal(pai_forecast_when(one, 3, &w), PAI_ENOTFOUND);
  pai_forecast_free(all);
  pai_forecast_free(one);
  pai_history_free(h);
  pai_sched_free(s);
}

static void some_never_start(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;

  (void)state;
  assert_int_equal(scene_change(s, 2, "held", 1), PAI_OK);
  f = forecast(s, NULL, &o);
  assert_true(when(f, 2).p50 == INT64_MAX);
  assert_int_equal(when(f, 2).started, 0);
  assert_int_equal(when(f, 3).p50, 100 * SECOND);
  pai_forecast_free(f);
  /* And some not soon enough. */
  o.horizon = 60 * SECOND;
  f = forecast(s, NULL, &o);
  assert_true(when(f, 3).p10 == INT64_MAX);
  pai_forecast_free(f);
  pai_sched_free(s);
}

/* --- jobs that come ------------------------------------------------------- */

/* With a policy that lets what is small go first, those that come delay. */
static void jobs_that_come_count(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = scene_new(NODES, "fifo", "{\"greedy\":true}", NULL);
  pai_history *h = seen("cid", 20, 30);
  pai_want want = scene_want(1, 1);
  pai_request small = { .struct_size = sizeof(small),
                        .id = 1,
                        .user = "cid",
                        .name = "train-8",
                        .wants = &want,
                        .nwants = 1 };
  pai_forecast *without, *with, *few;

  (void)state;
  assert_int_equal(request(s, 1, "ann", 1, 100), PAI_OK);
  assert_int_equal(request(s, 2, "ann", 4, 100), PAI_OK);
  assert_true(pai_sched_decide(s, 0, NULL) > 0);
  for (int i = 0; i < 20; i++)
    assert_int_equal(pai_history_came(h, &small, 10 * i * SECOND, NULL),
                     PAI_OK);
  without = forecast(s, h, &o);
  o.arrivals = PAI_ARRIVALS_ALL;
  with = forecast(s, h, &o);
  o.arrivals = PAI_ARRIVALS_NONE;
  few = forecast(s, h, &o);
  assert_int_equal(when(few, 2).p90, when(without, 2).p90);
  pai_forecast_free(few);
  assert_int_equal(when(without, 2).p50, 100 * SECOND);
  assert_true(when(with, 2).p50 > 120 * SECOND);
  pai_forecast_free(without);
  pai_forecast_free(with);
  pai_history_free(h);
  pai_sched_free(s);
}

/* --- what has come true --------------------------------------------------- */

/* 3,000 wait: then a dozen futures do, unless somebody says how many. */
static void long_queues_get_fewer_futures(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = scene_new(NODES, "fifo", NULL, NULL);
  pai_forecast *f;

  (void)state;
  for (uint64_t id = 1; id <= 3000; id++)
    assert_int_equal(request(s, id, "ann", 4, 10), PAI_OK);
  assert_int_equal(pai_sched_decide(s, 0, NULL), 1);
  f = forecast(s, NULL, NULL);
  assert_in_range(when(f, 3000).runs, 12, 20);
  assert_int_equal(when(f, 3000).started, when(f, 3000).runs);
  assert_true(when(f, 3000).p90 == 29990 * SECOND);
  pai_forecast_free(f);
  o.runs = 25;
  f = forecast(s, NULL, &o);
  assert_int_equal(when(f, 3000).runs, 25);
  pai_forecast_free(f);
  pai_sched_free(s);
}

static void forecasts_learn(void **state)
{
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 41, 200);
  pai_forecast *f;
  pai_when before, after;

  (void)state;
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  f = forecast(s, h, NULL);
  before = when(f, 2);
  assert_int_equal(pai_forecast_met(f, 9, 0, h), PAI_ENOTFOUND);
  assert_int_equal(pai_forecast_met(f, 2, -1, h), PAI_EINVAL);
  for (int i = 0; i < 50; i++)
    assert_int_equal(pai_forecast_met(f, 2, (150 + 5 * i) * SECOND, h),
                     PAI_OK);
  pai_forecast_free(f);
  f = forecast(s, h, NULL);
  after = when(f, 2);
  assert_true(after.p10 < before.p10 - 20 * SECOND);
  assert_true(after.p90 > before.p90 + 100 * SECOND);
  pai_forecast_free(f);
  pai_history_free(h);
  pai_sched_free(s);
}

/* --- text ----------------------------------------------------------------- */

static void texts_tell_what_was_assumed(void **state)
{
  pai_sched *s = queue(NULL);
  pai_history *h = seen("ann", 41, 200);
  pai_forecast *f = forecast(s, NULL, NULL);
  pai__buf out;

  (void)state;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  assert_string_equal(
    out.data,
    "train-1 (request 2) of bob: in 100 s\n"
    "train-1 (request 3) of ann: in 150 s\n"
    "Assumed: that jobs take as long as their owners told; that no new jobs "
    "come (100 futures). Eight of ten start within the times told.\n");
  pai__buf_clear(&out);
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_JSON, test_collect, &out, NULL), PAI_OK);
  assert_string_equal(
    out.data,
    "{\"now\":0,\"runs\":100,\"horizon\":7776000000000,\"arrivals\":false,"
    "\"calibrated\":0,\"running\":0,\"outlasting\":0,\"unlike\":false,"
    "\"requests\":[{\"id\":2,\"name\":\"train-1\","
    "\"user\":\"bob\",\"vc\":\"default\",\"p10\":100000000,"
    "\"p50\":100000000,\"p90\":100000000,\"started\":100,"
    "\"alike\":\"name\",\"guessed\":0},{\"id\":3,\"name\":\"train-1\","
    "\"user\":\"ann\",\"vc\":\"default\",\"p10\":150000000,"
    "\"p50\":150000000,\"p90\":150000000,\"started\":100,"
    "\"alike\":\"name\",\"guessed\":0}]}\n");
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_SVG, test_collect, &out, NULL),
    PAI_EINVAL);
  pai_forecast_free(f);
  assert_int_equal(scene_change(s, 1, "duration", 0), PAI_OK);
  f = forecast(s, h,
               &(pai_forecast_options){
                 .struct_size = sizeof(pai_forecast_options), .only = 2 });
  pai__buf_clear(&out);
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  assert_non_null(
    strstr(out.data, "in 3 min to 4 min, most likely in about 4 min"));
  assert_non_null(strstr(out.data, "that 1 job before it takes as long as the "
                                   "last ones of their names did"));
  pai_forecast_free(f);
  pai__buf_dispose(&out);
  pai_history_free(h);
  pai_sched_free(s);
}

/* Six of ann's have run for a while, on a GPU each; 7 waits. */
static pai_sched *crowd(void)
{
  pai_sched *s = scene_new("nodes:6 gpu:4 cpus:8 mem:1G", "fifo", NULL, NULL);

  for (uint64_t id = 1; id <= 7; id++)
    assert_int_equal(request(s, id, "ann", 4, 0), PAI_OK);
  assert_int_equal(pai_sched_decide(s, 0, NULL), 6);
  for (uint64_t id = 1; id <= 6; id++)
    assert_int_equal(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = id },
                  NULL),
      PAI_OK);
  return s;
}

static void expect_unlike(const pai_sched *s, const pai_history *h, int unlike)
{
  pai_what_if_view v = { .struct_size = sizeof(v) };
  pai_forecast *f = forecast(s, h, NULL);
  pai_shapes *shapes;
  pai_what_if *w;
  pai__buf out;

  assert_int_equal(when(f, 7).unlike, unlike);
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  assert_int_equal(strstr(out.data, "unlike the past: 6 of 6 jobs") != NULL,
                   unlike);
  pai_forecast_free(f);
  assert_int_equal(pai_what_if_new(&w, s, h, NULL, 0, NULL, NULL), PAI_OK);
  assert_int_equal(pai_what_if_look(w, &v), PAI_OK);
  assert_int_equal(v.unlike, unlike);
  pai_what_if_free(w);
  assert_int_equal(pai_shapes_new(&shapes, s, h, 7, NULL, 0, NULL, NULL),
                   PAI_OK);
  pai__buf_clear(&out);
  assert_int_equal(
    pai_shapes_write(shapes, PAI_FORMAT_JSON, test_collect, &out, NULL),
    PAI_OK);
  assert_int_equal(strstr(out.data, "\"unlike\":true") != NULL, unlike);
  pai_shapes_free(shapes);
  pai__buf_dispose(&out);
}

/* Ten of ann's took 10 to 19 s. */
static void a_present_unlike_the_past_is_told(void **state)
{
  pai_sched *s = crowd();
  pai_history *h = seen("ann", 10, 10);

  (void)state;
  go_to(s, 15);
  expect_unlike(s, h, 0);
  go_to(s, 30);
  expect_unlike(s, h, 1);
  expect_unlike(s, NULL, 0);
  pai_history_free(h);
  pai_sched_free(s);
}

static void names_do_nothing_to_terminals(void **state)
{
  pai_sched *s = scene_new(NODES, "fifo", NULL, NULL);
  pai_forecast *f;
  pai__buf out;

  (void)state;
  assert_int_equal(request(s, 1, "\033[31mann", 1, 10), PAI_OK);
  f = forecast(s, NULL, NULL);
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  assert_non_null(strstr(out.data, "train-1 (request 1) of ?[31mann: now\n"));
  pai__buf_dispose(&out);
  pai_forecast_free(f);
  pai_sched_free(s);
}

static void bad_arguments_are_refused(void **state)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_error *err;

  (void)state;
  o.runs = 100001;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "futures");
  o.arrivals = 3;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, NULL), PAI_EINVAL);
  o.arrivals = -1;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, NULL), PAI_EINVAL);
  o.arrivals = 0;
  o.runs = 1;
  o.struct_size = 4;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_forecast_new(&f, NULL, NULL, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_forecast_next(NULL, 0), 0);
  pai_forecast_free(NULL);
  pai_sched_free(s);
}

/* --- faults --------------------------------------------------------------- */

static int foresee(const pai_alloc *alloc, void *user_data)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(alloc);
  pai_forecast *f = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc = PAI_ENOMEM;

  pai__buf_init(&out, alloc);
  o.runs = 3;
  o.arrivals = 1;
  if (s != NULL)
    rc = pai_forecast_new(&f, s, user_data, &o, &err);
  if (rc == PAI_OK)
    rc = pai_forecast_write(f, PAI_FORMAT_TEXT, test_collect, &out, &err);
  if (rc == PAI_OK)
    rc = pai_forecast_write(f, PAI_FORMAT_JSON, test_collect, &out, &err);
  pai_error_free(err);
  pai_forecast_free(f);
  pai__buf_dispose(&out);
  pai_sched_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  pai_history *h = seen("ann", 20, 200);
  pai_want want = scene_want(1, 1);

  (void)state;
  for (int i = 0; i < 20; i++)
    assert_int_equal(
      pai_history_came(h,
                       &(pai_request){ .struct_size = sizeof(pai_request),
                                       .id = 1,
                                       .wants = &want,
                                       .nwants = 1 },
                       i * SECOND, NULL),
      PAI_OK);
  test_faults(foresee, h);
  pai_history_free(h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(owners_are_believed),
    cmocka_unit_test(who_has_run_for_longer_runs_on),
    cmocka_unit_test(jobs_take_as_long_as_those_alike),
    cmocka_unit_test(the_worst_guess_is_told),
    cmocka_unit_test(the_same_seed_gives_the_same),
    cmocka_unit_test(it_can_be_given_up),
    cmocka_unit_test(one_alone_is_the_same_as_among_all),
    cmocka_unit_test(some_never_start),
    cmocka_unit_test(jobs_that_come_count),
    cmocka_unit_test(long_queues_get_fewer_futures),
    cmocka_unit_test(forecasts_learn),
    cmocka_unit_test(texts_tell_what_was_assumed),
    cmocka_unit_test(a_present_unlike_the_past_is_told),
    cmocka_unit_test(names_do_nothing_to_terminals),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
