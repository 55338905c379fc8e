/* test_forecast.c - when what waits will start */
#include "cases.h"
#include "learned.h"

#include <openpai/forecast.h>

#define NODES "nodes:1 gpu:4 cpus:8 mem:1G"

/* 1 has all GPUs since 0, 2 and 3 wait behind it. */
static pai_sched *queue(const pai_alloc *alloc)
{
  return learned_queue(NODES, "fifo", NULL, alloc,
                       "1 ann 1x4 100 name=train-1\n"
                       "2 bob 1x4 50 name=train-1\n"
                       "3 ann 1x2 10 name=train-1\n"
                       "go");
}

/* The same, of which nobody told how long 1 takes. */
static pai_sched *unknown_queue(void)
{
  pai_sched *s = queue(NULL);

  assert_ok(scene_change(s, 1, "duration", 0));
  return s;
}

static const char *text_of(const pai_forecast *f, int format)
{
  pai__buf out = test_buf();

  assert_ok(pai_forecast_write(f, format, test_collect, &out, NULL));
  return learned_text(&out);
}

/* --- when ----------------------------------------------------------------- */

TEST(owners_are_believed)
{
  pai_sched *s = queue(NULL);
  pai_forecast *f = learned_forecast(s, NULL, NULL);
  pai_when w = learned_when(f, 2);

  assert_int_equal(w.p10, 100 * SECOND);
  assert_int_equal(w.p90, 100 * SECOND);
  assert_int_equal(w.runs, 100);
  assert_int_equal(w.started, 100);
  assert_int_equal(w.guessed, 0);
  assert_int_equal(learned_when(f, 3).p50, 150 * SECOND);
  assert_int_equal(pai_forecast_next(f, 0), 2);
  assert_int_equal(pai_forecast_next(f, 2), 3);
  assert_int_equal(pai_forecast_next(f, 3), 0);
  assert_int_equal(pai_forecast_when(f, 1, &w), PAI_ENOTFOUND);
  assert_int_equal(pai_forecast_when(f, 9, &w), PAI_ENOTFOUND);
}

/* Two that run end at 30 s and 40 s, and an instance of 5 takes the place of
 * each; or both instances run. */
TEST(instances_begin_and_end_alone)
{
  pai_sched *s = learned_queue(NODES, "fifo", NULL, NULL,
                               "3 - 1x2 30\n4 - 1x2 40\ngo\n"
                               "5 - 1x2 50 instances=2\n6 - 1x4 60\ngo");

  assert_int_equal(learned_when(learned_forecast(s, NULL, NULL), 6).p50,
                   90 * SECOND);
  s = learned_queue(NODES, "fifo", NULL, NULL,
                    "5 - 1x2 50 instances=2\ngo\n6 - 1x4 60\ngo");
  assert_int_equal(learned_when(learned_forecast(s, NULL, NULL), 6).p50,
                   50 * SECOND);
}

TEST(who_has_run_for_longer_runs_on)
{
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_when w;

  learned_go_to(s, 1000);
  f = learned_forecast(s, NULL, NULL);
  w = learned_when(f, 2);
  assert_true(w.p10 > 1000 * SECOND && w.p10 < 1300 * SECOND);
  assert_true(w.p50 > 1500 * SECOND && w.p50 < 2700 * SECOND);
  assert_true(w.p90 > 5000 * SECOND);
  assert_int_equal(w.guessed, 1);
  assert_int_equal(w.alike, PAI_ALIKE_NONE);
}

TEST(jobs_take_as_long_as_those_alike)
{
  pai_sched *s = unknown_queue();
  pai_history *h = learned_range("ann", 41, 200);
  pai_forecast *f;
  pai_when w;

  /* Its owner's guess is another one: that class has no history. */
  f = learned_forecast(
    s, h,
    &(pai_forecast_options){ .struct_size = sizeof(pai_forecast_options),
                             .runs = 1000 });
  w = learned_when(f, 2);
  assert_in_range(w.p50, 217 * SECOND, 223 * SECOND);
  assert_in_range(w.p10, 202 * SECOND, 206 * SECOND);
  assert_in_range(w.p90, 234 * SECOND, 239 * SECOND);
  assert_int_equal(w.alike, PAI_ALIKE_NAME);
  assert_int_equal(w.guessed, 1);
  /* It has run for some time. */
  learned_go_to(s, 230);
  f = learned_forecast(s, h, NULL);
  w = learned_when(f, 2);
  assert_in_range(w.p10, 231 * SECOND, 233 * SECOND);
  assert_in_range(w.p50, 234 * SECOND, 238 * SECOND);
}

TEST(the_worst_guess_is_told)
{
  pai_sched *s = unknown_queue();
  pai_history *h = learned_range("ann", 20, 200);
  pai_forecast *f;

  assert_ok(scene_change(s, 2, "duration", 0));
  f = learned_forecast(s, h, NULL);
  assert_int_equal(learned_when(f, 2).alike, PAI_ALIKE_NAME);
  assert_int_equal(learned_when(f, 2).guessed, 1);
  assert_int_equal(learned_when(f, 3).alike, PAI_ALIKE_VC_SIZE);
  assert_int_equal(learned_when(f, 3).guessed, 2);
}

TEST(the_same_seed_gives_the_same)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = unknown_queue();
  pai_history *h = learned_range("ann", 41, 200);
  pai_forecast *a, *b, *c;

  o.seed = 7;
  a = learned_forecast(s, h, &o);
  b = learned_forecast(s, h, &o);
  o.seed = 8;
  c = learned_forecast(s, h, &o);
  assert_memory_equal(a->block, b->block,
                      (size_t)a->nwaits * a->runs * sizeof(*a->block));
  assert_memory_not_equal(a->block, c->block,
                          (size_t)a->nwaits * a->runs * sizeof(*a->block));
}

static int stop_at(void *user_data)
{
  return --*(int *)user_data == 0;
}

TEST(it_can_be_given_up)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_error *err;
  int left = 3;

  o.stop = stop_at;
  o.user_data = &left;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, &err), PAI_ECANCELED);
  assert_null(f);
  test_expect_error(err, PAI_ECANCELED, "the forecast was stopped");
  assert_int_equal(left, 0); /* it is not asked again */
  o.struct_size = offsetof(pai_forecast_options, stop); /* an older caller's */
  assert_ok(pai_forecast_new(&f, s, NULL, &o, NULL));
  pai_forecast_free(f);
}

static int count_calls(void *user_data)
{
  ++*(int *)user_data;
  return 0;
}

/* Long futures ask several times, not only before they begin. */
TEST(a_long_future_can_be_given_up)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s;
  pai_forecast *f;
  pai__buf jobs = test_buf();
  int calls = 0, left = 2;

  for (int i = 1; i <= 800; i++)
    pai__buf_printf(&jobs, "%d ann 1x4 100 name=train-1\n", i);
  pai__buf_str(&jobs, "go");
  s = learned_queue(NODES, "fifo", NULL, NULL, pai__buf_text(&jobs));
  pai__buf_dispose(&jobs);
  o.runs = 2;
  o.stop = count_calls;
  o.user_data = &calls;
  assert_ok(pai_forecast_new(&f, s, NULL, &o, NULL));
  assert_true(calls >= 2 + 2 * 3);
  pai_forecast_free(f);
  o.runs = 1;
  o.stop = stop_at;
  o.user_data = &left;
  assert_int_equal(pai_forecast_new(&f, s, NULL, &o, NULL), PAI_ECANCELED);
}

TEST(one_alone_is_the_same_as_among_all)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = unknown_queue();
  pai_history *h = learned_range("ann", 41, 200);
  pai_forecast *all, *one;
  pai_when w;

  all = learned_forecast(s, h, &o);
  o.only = 2;
  one = learned_forecast(s, h, &o);
  assert_int_equal(learned_when(all, 2).p50, learned_when(one, 2).p50);
  assert_int_equal(learned_when(all, 2).p90, learned_when(one, 2).p90);
  assert_int_equal(pai_forecast_next(one, 2), 0);
  assert_int_equal(pai_forecast_when(one, 3, &w), PAI_ENOTFOUND);
}

TEST(some_never_start)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;

  assert_ok(scene_change(s, 2, "held", 1));
  f = learned_forecast(s, NULL, &o);
  assert_true(learned_when(f, 2).p50 == INT64_MAX);
  assert_int_equal(learned_when(f, 2).started, 0);
  assert_int_equal(learned_when(f, 3).p50, 100 * SECOND);
  /* And some not soon enough. */
  o.horizon = 60 * SECOND;
  f = learned_forecast(s, NULL, &o);
  assert_true(learned_when(f, 3).p10 == INT64_MAX);
}

/* --- jobs that come ------------------------------------------------------- */

/* With a policy that lets what is small go first, those that come delay. */
TEST(jobs_that_come_count)
{
  static const int arrivals[] = { 0, PAI_ARRIVALS_ALL, PAI_ARRIVALS_NONE };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = learned_queue(NODES, "fifo", "{\"greedy\":true}", NULL,
                               "1 ann 1x1 100\n2 ann 1x4 100\ngo");
  pai_history *h = learned_range("cid", 20, 30);
  pai_time p50[3], p90[3];

  for (int i = 0; i < 20; i++)
    learned_request(h, &(pai_request){ .user = "cid", .name = "train-8" }, 1,
                    10 * i * SECOND);
  for (size_t i = 0; i < 3; i++) {
    pai_forecast *f;

    o.arrivals = arrivals[i];
    f = learned_forecast(s, h, &o);
    p50[i] = learned_when(f, 2).p50;
    p90[i] = learned_when(f, 2).p90;
  }
  assert_int_equal(p90[2], p90[0]);
  assert_int_equal(p50[0], 100 * SECOND);
  assert_true(p50[1] > 120 * SECOND);
}

/* --- what has come true --------------------------------------------------- */

/* 3,000 wait: then a dozen futures do, unless somebody says how many. */
TEST(long_queues_get_fewer_futures)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = scene_new(NODES, "fifo", NULL, NULL);
  const pai_want want = scene_want(1, 4);
  pai_forecast *f;

  for (uint64_t id = 1; id <= 3000; id++)
    assert_ok(scene_request(
      s,
      &(pai_request){
        .id = id, .duration = 10 * SECOND, .wants = &want, .nwants = 1 },
      NULL));
  assert_int_equal(pai_sched_decide(s, 0, NULL), 1);
  f = learned_forecast(s, NULL, NULL);
  assert_in_range(learned_when(f, 3000).runs, 12, 20);
  assert_int_equal(learned_when(f, 3000).started, learned_when(f, 3000).runs);
  assert_true(learned_when(f, 3000).p90 == 29990 * SECOND);
  o.runs = 25;
  f = learned_forecast(s, NULL, &o);
  assert_int_equal(learned_when(f, 3000).runs, 25);
  pai_sched_free(s);
}

TEST(forecasts_learn)
{
  pai_sched *s = unknown_queue();
  pai_history *h = learned_range("ann", 41, 200);
  pai_forecast *f;
  pai_when before, after;

  f = learned_forecast(s, h, NULL);
  before = learned_when(f, 2);
  assert_int_equal(pai_forecast_met(f, 9, 0, h), PAI_ENOTFOUND);
  assert_int_equal(pai_forecast_met(f, 2, -1, h), PAI_EINVAL);
  for (int i = 0; i < 50; i++)
    assert_ok(pai_forecast_met(f, 2, (150 + 5 * i) * SECOND, h));
  f = learned_forecast(s, h, NULL);
  after = learned_when(f, 2);
  assert_true(after.p10 < before.p10 - 20 * SECOND);
  assert_true(after.p90 > before.p90 + 100 * SECOND);
}

/* --- text ----------------------------------------------------------------- */

TEST(texts_tell_what_was_assumed)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_history *h = learned_range("ann", 41, 200);
  pai_forecast *f = learned_forecast(s, NULL, NULL);
  const char *out = text_of(f, PAI_FORMAT_TEXT);

  assert_string_equal(
    out,
    "train-1 (request 2) of bob: in 100 s\n"
    "train-1 (request 3) of ann: in 150 s\n"
    "Assumptions: jobs run until their estimates or time limits; no new jobs "
    "arrive (100 futures). 8 of 10 jobs start within these times.\n");
  out = text_of(f, PAI_FORMAT_JSON);
  assert_string_equal(
    out,
    "{\"now\":0,\"runs\":100,\"horizon\":7776000000000,\"arrivals\":false,"
    "\"calibrated\":0,\"running\":0,\"outlasting\":0,\"unlike\":false,"
    "\"requests\":[{\"id\":2,\"name\":\"train-1\","
    "\"user\":\"bob\",\"vc\":\"default\",\"p10\":100000000,"
    "\"p50\":100000000,\"p90\":100000000,\"started\":100,"
    "\"alike\":\"none\",\"guessed\":0},{\"id\":3,\"name\":\"train-1\","
    "\"user\":\"ann\",\"vc\":\"default\",\"p10\":150000000,"
    "\"p50\":150000000,\"p90\":150000000,\"started\":100,"
    "\"alike\":\"none\",\"guessed\":0}]}\n");
  assert_int_equal(
    pai_forecast_write(f, PAI_FORMAT_SVG, test_collect, &out, NULL),
    PAI_EINVAL);
  assert_ok(scene_change(s, 1, "duration", 0));
  o.only = 2;
  f = learned_forecast(s, h, &o);
  out = text_of(f, PAI_FORMAT_TEXT);
  learned_says(out, "in 3 min to 4 min, most likely in about 4 min");
  learned_says(
    out, "1 job before it runs as long as recent jobs with the same name");
}

/* What waits is told so by each way to ask. */
static void expect_unlike(const pai_sched *s, const pai_history *h, int unlike)
{
  pai_what_if_view v = { .struct_size = sizeof(v) };
  pai_forecast *f = learned_forecast(s, h, NULL);
  const char *text = text_of(f, PAI_FORMAT_TEXT);
  pai_shapes *shapes;
  pai_what_if *w;
  pai__buf out = test_buf();

  assert_int_equal(learned_when(f, 7).unlike, unlike);
  assert_int_equal(strstr(text, "6 of 6 running jobs have run longer") != NULL,
                   unlike);
  assert_ok(pai_what_if_new(&w, s, h, NULL, 0, NULL, NULL));
  assert_ok(pai_what_if_look(w, &v));
  assert_int_equal(v.unlike, unlike);
  pai_what_if_free(w);
  assert_ok(pai_shapes_new(&shapes, s, h, 7, NULL, 0, NULL, NULL));
  assert_ok(
    pai_shapes_write(shapes, PAI_FORMAT_JSON, test_collect, &out, NULL));
  assert_int_equal(strstr(learned_text(&out), "\"unlike\":true") != NULL,
                   unlike);
  pai_shapes_free(shapes);
}

/* Six of ann's run on a node each, 7 waits; ten took 10 to 19 s. */
TEST(a_present_unlike_the_past_is_told)
{
  pai_sched *s =
    learned_queue("nodes:6 gpu:4 cpus:8 mem:1G", "fifo", NULL, NULL,
                  "1 ann 1x4 0 name=train-1\n"
                  "2 ann 1x4 0 name=train-1\n"
                  "3 ann 1x4 0 name=train-1\n"
                  "4 ann 1x4 0 name=train-1\n"
                  "5 ann 1x4 0 name=train-1\n"
                  "6 ann 1x4 0 name=train-1\n"
                  "7 ann 1x4 0 name=train-1\n"
                  "go");
  pai_history *h = learned_range("ann", 10, 10);

  learned_go_to(s, 15);
  expect_unlike(s, h, 0);
  learned_go_to(s, 30);
  expect_unlike(s, h, 1);
  expect_unlike(s, NULL, 0);
}

TEST(names_do_nothing_to_terminals)
{
  pai_sched *s = learned_queue(NODES, "fifo", NULL, NULL,
                               "1 \033[31mann 1x1 10 name=train-1");
  pai_forecast *f = learned_forecast(s, NULL, NULL);
  const char *out = text_of(f, PAI_FORMAT_TEXT);

  learned_says(out, "train-1 (request 1) of ?[31mann: now\n");
}

TEST(bad_arguments_are_refused)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue(NULL);
  pai_forecast *f;
  pai_error *err;

  o.runs = 100001;
  assert_fails(pai_forecast_new(&f, s, NULL, &o, &err), err, PAI_EINVAL,
               "futures");
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

TEST(no_memory_is_survived)
{
  pai_history *h = learned_range("ann", 20, 200);

  for (int i = 0; i < 20; i++)
    learned_came(h, NULL, 1, i * SECOND);
  test_faults(foresee, h);
}

TEST_AROUND_ALL(NULL, learned_free);
