/* test_what_if.c - what changes would do */
#include "testing.h"

#include "base/buf.h"
#include "sched/scene.h"

#include <openpai/forecast.h>

#define SECOND INT64_C(1000000)
#define TWO "nodes:2 gpu:4 cpus:8 mem:1G"

static int request(pai_sched *s, uint64_t id, uint32_t gpus, int64_t duration,
                   int priority)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(s,
                       &(pai_request){ .struct_size = sizeof(pai_request),
                                       .id = id,
                                       .user = "ann",
                                       .duration = duration * SECOND,
                                       .priority = priority,
                                       .wants = &want,
                                       .nwants = 1 },
                       NULL);
}

/* 1 and 2 run, on a node each; 3 and 4 wait. */
static pai_sched *queue(const char *policy, const pai_alloc *alloc)
{
  pai_sched *s = scene_new(TWO, policy, NULL, alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  if (rc == PAI_OK)
    rc = request(s, 1, 4, 100, 0);
  if (rc == PAI_OK)
    rc = request(s, 2, 4, 200, 0);
  if (rc == PAI_OK)
    rc = request(s, 3, 4, 50, 0);
  if (rc == PAI_OK)
    rc = request(s, 4, 4, 50, 0);
  if (rc == PAI_OK && pai_sched_decide(s, 0, NULL) < 0)
    rc = PAI_ENOMEM;
  for (uint64_t id = 1; id <= 2 && rc == PAI_OK; id++)
    rc = scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = id }, NULL);
  if (rc == PAI_OK)
    return s;
  pai_sched_free(s);
  return NULL;
}

static pai_what_if *what_if(const pai_sched *s, pai_sched_event event)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if *w;

  event.struct_size = sizeof(event);
  o.runs = 5;
  assert_int_equal(pai_what_if_new(&w, s, NULL, &event, 1, &o, NULL), PAI_OK);
  return w;
}

static pai_what_if_view look(const pai_what_if *w)
{
  pai_what_if_view v = { .struct_size = sizeof(v) };

  assert_int_equal(pai_what_if_look(w, &v), PAI_OK);
  return v;
}

static int64_t p50(const pai_forecast *f, uint64_t id)
{
  pai_when when = { .struct_size = sizeof(when) };

  assert_int_equal(pai_forecast_when(f, id, &when), PAI_OK);
  return when.p50 == INT64_MAX ? -1 : when.p50 / SECOND;
}

static void expect_text(const pai_what_if *w, const char *part)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_what_if_write(w, PAI_FORMAT_TEXT, test_collect, &out, NULL), PAI_OK);
  if (strstr(out.data, part) == NULL)
    fail_msg("no \"%s\" in:\n%s", part, out.data);
  pai__buf_dispose(&out);
}

/* --- what is yet to come -------------------------------------------------- */

/* Somebody urgent comes every minute, for half of it: 25 hours long. */
static pai_history *urgent_ones(void)
{
  pai_history *h;
  pai_want want = scene_want(1, 4);
  const pai_request q = { .struct_size = sizeof(q),
                          .id = 1,
                          .user = "eve",
                          .priority = 10,
                          .duration = 30 * SECOND,
                          .wants = &want,
                          .nwants = 1 };

  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  for (int64_t i = -1500; i <= 0; i++)
    assert_int_equal(pai_history_came(h, &q, i * 60 * SECOND, NULL), PAI_OK);
  return h;
}

/* By how much a drained node makes those wait longer that wait. */
static pai_time cost_of_drain(const pai_sched *s, const pai_history *h,
                              int arrivals, const char *said)
{
  const pai_sched_event drain = { .struct_size = sizeof(drain),
                                  .kind = PAI_SCHED_NODE,
                                  .node = "node0001",
                                  .gpu = -1,
                                  .number = PAI_NODE_DRAIN };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if_view v;
  pai_what_if *w;

  o.arrivals = arrivals;
  assert_int_equal(pai_what_if_new(&w, s, h, &drain, 1, &o, NULL), PAI_OK);
  v = look(w);
  expect_text(w, said);
  pai_what_if_free(w);
  return v.wait_after - v.wait_before;
}

static void what_comes_makes_changes_dearer(void **state)
{
  pai_sched *s = queue("priority", NULL);
  pai_history *h = urgent_ones();
  pai_time without, with;

  (void)state;
  without =
    cost_of_drain(s, h, PAI_ARRIVALS_NONE, "; that no new jobs come (");
  with = cost_of_drain(s, h, PAI_ARRIVALS_KNOWN,
                       "; that jobs go on coming as the last 512 did, 2000 at "
                       "most (");
  assert_true(without >= 50 * SECOND);
  assert_true(with > without * 3 / 2);
  assert_int_equal(cost_of_drain(s, h, PAI_ARRIVALS_ALL, "go on coming"),
                   with);
  pai_history_free(h);
  pai_sched_free(s);
}

/* --- futures of which some are long --------------------------------------- */

enum { SHORT = 100, LONG = 10000 };

/* So many of ten jobs of a user were short, the others long. */
static void add_past(pai_history *h, const char *user, int brief)
{
  pai_past p = { .struct_size = sizeof(p), .user = user, .gpus = 4 };

  for (int i = 0; i < 10; i++) {
    p.duration = (i < brief ? SHORT : LONG) * SECOND;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
}

static void submit_of(pai_sched *s, uint64_t id, const char *user)
{
  pai_want want = scene_want(1, 4);

  assert_int_equal(
    scene_request(s,
                  &(pai_request){ .struct_size = sizeof(pai_request),
                                  .id = id,
                                  .user = user,
                                  .wants = &want,
                                  .nwants = 1 },
                  NULL),
    PAI_OK);
}

/* 1, of ann, and 2, of bob, run on a node each; 3 waits for either. */
static pai_sched *either(void)
{
  pai_sched *s = scene_new(TWO, "fifo", "{\"place\":\"first\"}", NULL);

  submit_of(s, 1, "ann");
  submit_of(s, 2, "bob");
  submit_of(s, 3, "eve");
  assert_int_equal(pai_sched_decide(s, 0, NULL), 2);
  for (uint64_t id = 1; id <= 2; id++)
    assert_int_equal(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_STARTED, .id = id },
                  NULL),
      PAI_OK);
  return s;
}

/* With ann's node drained 3 waits for bob alone, who mostly takes long; but only
 * where ann is short, too, does that make a difference, in a fifth of the futures.
 * The median without the change is short, and the median with it long. */
static void what_differs_in_few_futures_is_no_difference(void **state)
{
  const pai_sched_event drain = { .struct_size = sizeof(drain),
                                  .kind = PAI_SCHED_NODE,
                                  .node = "node0001",
                                  .gpu = -1,
                                  .number = PAI_NODE_DRAIN };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = either();
  pai_what_if_view v;
  pai_history *h;
  pai_what_if *w;

  (void)state;
  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  add_past(h, "ann", 3);
  add_past(h, "bob", 4);
  o.runs = 1000;
  assert_int_equal(pai_what_if_new(&w, s, h, &drain, 1, &o, NULL), PAI_OK);
  v = look(w);
  assert_int_equal(p50(pai_what_if_before(w), 3), SHORT);
  assert_int_equal(p50(pai_what_if_after(w), 3), LONG);
  assert_int_equal(v.same, 1);
  assert_int_equal(v.later, 0);
  assert_int_equal(v.wait_before, SHORT * SECOND);
  assert_int_equal(v.wait_after, SHORT * SECOND);
  expect_text(w, "0 start sooner, 0 later, 1 as before");
  pai_what_if_free(w);
  pai_history_free(h);
  pai_sched_free(s);
}

/* In most futures 3 does not start before the horizon; without ann's job it
 * starts at once. */
static void what_lies_beyond_the_horizon_counts_in_both(void **state)
{
  const pai_sched_event kill = { .struct_size = sizeof(kill),
                                 .kind = PAI_SCHED_CANCEL,
                                 .id = 1,
                                 .instance = PAI_SCHED_ALL };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = either();
  pai_what_if_view v;
  pai_history *h;
  pai_what_if *w;

  (void)state;
  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  add_past(h, "ann", 0);
  add_past(h, "bob", 1);
  o.horizon = 1000 * SECOND;
  assert_int_equal(pai_what_if_new(&w, s, h, &kill, 1, &o, NULL), PAI_OK);
  v = look(w);
  assert_int_equal(p50(pai_what_if_before(w), 3), -1);
  assert_int_equal(v.sooner, 1);
  assert_int_equal(v.wait_before, 1000 * SECOND);
  assert_int_equal(v.wait_after, 0);
  pai_what_if_free(w);
  pai_history_free(h);
  pai_sched_free(s);
}

/* --- changes -------------------------------------------------------------- */

static void nothing_changes_nothing(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_what_if *w = what_if(s, (pai_sched_event){ .kind = PAI_SCHED_TIME });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.start_now + v.stop_now + v.move, 0);
  assert_int_equal(v.same, 2);
  assert_int_equal(v.sooner + v.later + v.never, 0);
  assert_int_equal(v.wait_before, 125 * SECOND);
  assert_int_equal(v.wait_after, 125 * SECOND);
  assert_int_equal(v.unsafe, 0);
  assert_int_equal(v.used_before, v.used_after);
  expect_text(w, "At once nothing starts, stops or moves.\n");
  pai_what_if_free(w);
  pai_sched_free(s);
}

static void who_is_killed_makes_room(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_what_if *w = what_if(s, (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                                 .id = 2,
                                                 .instance = PAI_SCHED_ALL });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.start_now, 1);
  assert_int_equal(v.stop_now, 1);
  assert_int_equal(v.unsafe, 0);
  assert_int_equal(v.sooner, 2);
  assert_int_equal(p50(pai_what_if_before(w), 3), 100);
  assert_int_equal(p50(pai_what_if_after(w), 3), 0);
  assert_int_equal(p50(pai_what_if_after(w), 4), 50);
  expect_text(w, "  starts at once: request 3 of ann\n");
  expect_text(w, "  request 4 of ann: in 50 s rather than in 150 s, 100 s "
                 "sooner\n");
  pai_what_if_free(w);
  pai_sched_free(s);
}

static void another_one_delays(void **state)
{
  pai_sched *s = queue("priority", NULL);
  pai_want want = scene_want(2, 4);
  pai_request q = { .struct_size = sizeof(q),
                    .id = 9,
                    .name = "urgent",
                    .duration = 1000 * SECOND,
                    .priority = 100,
                    .wants = &want,
                    .nwants = 1 };
  pai_what_if *w =
    what_if(s, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q });
  pai_what_if_view v = look(w);
  pai_when when = { .struct_size = sizeof(when) };

  (void)state;
  assert_int_equal(v.later, 2);
  assert_int_equal(pai_forecast_when(pai_what_if_before(w), 9, &when),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_forecast_when(pai_what_if_after(w), 9, &when), PAI_OK);
  assert_true(v.wait_after > v.wait_before);
  pai_what_if_free(w);
  pai_sched_free(s);
}

static void drained_nodes_take_no_more(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_what_if *w = what_if(s, (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                                 .node = "node0001",
                                                 .number = PAI_NODE_DRAIN,
                                                 .gpu = -1 });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.unsafe, 0);
  assert_int_equal(v.stop_now, 0);
  assert_int_equal(v.later, 2);
  assert_int_equal(p50(pai_what_if_after(w), 3), 200);
  assert_int_equal(p50(pai_what_if_after(w), 4), 250);
  pai_what_if_free(w);
  pai_sched_free(s);
}

static void sick_nodes_lose_what_they_have(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_what_if *w = what_if(s, (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                                 .node = "node0002",
                                                 .number = PAI_NODE_SICK,
                                                 .gpu = -1 });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.unsafe, 1);
  assert_int_equal(v.stop_now, 1);
  assert_int_equal(v.move, 0);
  expect_text(w, "Not safe: something that runs is lost.\n");
  expect_text(w, "  stops at once: request 2 of ann\n");
  pai_what_if_free(w);
  pai_sched_free(s);
}

static pai_cluster *cluster(const char *description)
{
  pai_cluster *c;

  assert_int_equal(pai_cluster_synthetic(&c, description, NULL, NULL), PAI_OK);
  return c;
}

static void a_larger_cluster_starts_more(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_cluster *c = cluster("nodes:4 gpu:4 cpus:8 mem:1G");
  pai_what_if *w =
    what_if(s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.start_now, 2);
  assert_int_equal(v.stop_now, 0);
  assert_int_equal(v.unsafe, 0);
  assert_int_equal(v.sooner, 2);
  assert_int_equal(v.wait_after, 0);
  pai_what_if_free(w);
  pai_cluster_free(c);
  pai_sched_free(s);
}

static void a_smaller_cluster_is_not_safe(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_cluster *c = cluster("nodes:1 gpu:4 cpus:8 mem:1G");
  pai_what_if *w =
    what_if(s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  pai_what_if_view v = look(w);

  (void)state;
  assert_int_equal(v.unsafe, 1);
  assert_int_equal(v.stop_now, 1);
  expect_text(w, "  stops at once: request 2 of ann, for it loses its node\n");
  /* It waits again, and goes first, as it came first. */
  assert_int_equal(p50(pai_what_if_after(w), 2), 100);
  assert_int_equal(p50(pai_what_if_after(w), 3), 300);
  pai_what_if_free(w);
  pai_cluster_free(c);
  pai_sched_free(s);
}

/* One of three nodes goes, and what ran on it begins anew on the third. */
static void what_loses_its_node_moves(void **state)
{
  pai_sched *s = scene_new("nodes:3 gpu:4 cpus:8 mem:1G", "fifo",
                           "{\"place\":\"first\"}", NULL);
  pai_cluster *c;
  pai_what_if *w;
  static const char text[] =
    "skus: {box: {gpu: gpu, gpus: 4, cpus: 8, memory: 1G}}\n"
    "nodes: [{name: node0002, sku: box}, {name: node0003, sku: box}]\n";
  pai_task_place place = { .struct_size = sizeof(place) };

  (void)state;
  assert_int_equal(request(s, 1, 4, 100, 0), PAI_OK);
  assert_true(pai_sched_decide(s, 0, NULL) > 0);
  assert_int_equal(pai_sched_task(s, 1, 0, 0, &place), PAI_OK);
  assert_int_equal(place.node, 0);
  assert_int_equal(pai_cluster_parse(&c, text, sizeof(text) - 1, NULL, NULL),
                   PAI_OK);
  w = what_if(s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c });
  assert_int_equal(look(w).move, 1);
  assert_int_equal(look(w).stop_now, 0);
  assert_int_equal(look(w).unsafe, 1);
  pai_what_if_free(w);
  pai_cluster_free(c);
  pai_sched_free(s);
}

static void another_policy_decides_otherwise(void **state)
{
  pai_sched *s = scene_new(TWO, "fifo", NULL, NULL);
  pai_what_if *w;

  (void)state;
  assert_int_equal(request(s, 1, 3, 100, 0), PAI_OK);
  assert_int_equal(request(s, 2, 3, 100, 0), PAI_OK);
  assert_int_equal(request(s, 3, 4, 100, 0), PAI_OK);
  assert_int_equal(request(s, 4, 1, 50, 0), PAI_OK);
  assert_true(pai_sched_decide(s, 0, NULL) > 0);
  w = what_if(
    s, (pai_sched_event){ .kind = PAI_SCHED_POLICY, .text = "backfill" });
  assert_int_equal(look(w).start_now, 1);
  assert_int_equal(look(w).sooner, 1);
  expect_text(w, "  request 4 of ann: now rather than in 100 s, 100 s "
                 "sooner\n");
  pai_what_if_free(w);
  pai_sched_free(s);
}

/* The changes alone make a difference, for the same numbers are drawn. */
static void jobs_take_as_long_in_both(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  pai_history *h;
  pai_past p = { .struct_size = sizeof(p), .user = "ann", .gpus = 4 };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  const pai_sched_event e = { .struct_size = sizeof(e),
                              .kind = PAI_SCHED_CANCEL,
                              .id = 4,
                              .instance = PAI_SCHED_ALL };
  pai_what_if *w;

  (void)state;
  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  for (int i = 1; i < 40; i++) {
    p.duration = i * i * SECOND;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(scene_change(s, id, "duration", 0), PAI_OK);
  assert_int_equal(pai_what_if_new(&w, s, h, &e, 1, &o, NULL), PAI_OK);
  assert_int_equal(look(w).same, 1);
  assert_int_equal(p50(pai_what_if_before(w), 3),
                   p50(pai_what_if_after(w), 3));
  pai_what_if_free(w);
  pai_history_free(h);
  pai_sched_free(s);
}

static int submit_text(const pai_alloc *alloc, void *user_data)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue("fifo", alloc);
  const pai_sched_event e = { .struct_size = sizeof(e),
                              .kind = PAI_SCHED_SUBMIT,
                              .text = user_data };
  pai_when when = { .struct_size = sizeof(when) };
  pai_what_if *w = NULL;
  int rc = PAI_ENOMEM;

  o.runs = 1;
  if (s != NULL)
    rc = pai_what_if_new(&w, s, NULL, &e, 1, &o, NULL);
  if (rc == PAI_OK)
    assert_int_equal(pai_forecast_when(pai_what_if_after(w), 9, &when),
                     PAI_OK);
  pai_what_if_free(w);
  pai_sched_free(s);
  return rc;
}

static void requests_may_be_texts(void **state)
{
  (void)state;
  assert_int_equal(submit_text(NULL, (char *)"{\"id\":9"), PAI_EINVAL);
  assert_int_equal(submit_text(NULL, (char *)"{\"id\":9}"), PAI_EINVAL);
  test_faults(submit_text, (char *)"{\"id\": 9,\n\"wants\": [{\"gpus\": 1}]}");
}

static void wrong_changes_are_told(void **state)
{
  pai_sched *s = queue("fifo", NULL);
  const pai_sched_event e[] = {
    { .struct_size = sizeof(e[0]), .kind = PAI_SCHED_TIME },
    { .struct_size = sizeof(e[0]), .kind = PAI_SCHED_CANCEL, .id = 77 }
  };
  const pai_sched_event bad = { .struct_size = 3 };
  pai_what_if *w;
  pai_error *err;

  (void)state;
  assert_int_equal(pai_what_if_new(&w, s, NULL, e, 2, NULL, &err),
                   PAI_ENOTFOUND);
  assert_null(w);
  test_expect_error(err, PAI_ENOTFOUND, "change 2: ");
  assert_int_equal(pai_what_if_new(&w, s, NULL, &e[1], 1, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "77");
  assert_int_equal(pai_what_if_new(&w, s, NULL, &bad, 1, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_what_if_new(&w, s, NULL, NULL, 1, NULL, NULL),
                   PAI_EINVAL);
  assert_null(pai_what_if_before(NULL));
  pai_what_if_free(NULL);
  pai_sched_free(s);
}

/* --- lines ---------------------------------------------------------------- */

static const char two_lines[] =
  "{\"time\":0,\"event\":\"cancel\",\"id\":1}\n\n"
  "{\"time\":99,\"event\":\"node\",\"node\":\"node0002\","
  "\"state\":\"drain\"}\n";

/* The same as events, as JSON. */
static void changes_may_be_lines(void **state)
{
  const pai_sched_event e[] = {
    { .struct_size = sizeof(e[0]),
      .kind = PAI_SCHED_CANCEL,
      .id = 1,
      .instance = PAI_SCHED_ALL },
    { .struct_size = sizeof(e[0]),
      .kind = PAI_SCHED_NODE,
      .node = "node0002",
      .number = PAI_NODE_DRAIN,
      .gpu = -1 },
  };
  pai_sched *s = queue("fifo", NULL);
  pai__buf told, made;
  pai_what_if *w;

  (void)state;
  pai__buf_init(&told, &pai__libc_alloc);
  pai__buf_init(&made, &pai__libc_alloc);
  assert_int_equal(
    pai_what_if_json(&w, s, NULL, two_lines, strlen(two_lines), NULL, NULL),
    PAI_OK);
  assert_int_equal(
    pai_what_if_write(w, PAI_FORMAT_JSON, test_collect, &told, NULL), PAI_OK);
  pai_what_if_free(w);
  assert_int_equal(pai_what_if_new(&w, s, NULL, e, 2, NULL, NULL), PAI_OK);
  assert_int_equal(
    pai_what_if_write(w, PAI_FORMAT_JSON, test_collect, &made, NULL), PAI_OK);
  pai_what_if_free(w);
  assert_string_equal(told.data, made.data);
  assert_non_null(strstr(told.data, "\"stop_now\":1"));
  assert_int_equal(pai_what_if_json(&w, s, NULL, NULL, 0, NULL, NULL), PAI_OK);
  pai_what_if_free(w);
  pai__buf_dispose(&told);
  pai__buf_dispose(&made);
  pai_sched_free(s);
}

static void wrong_line(const pai_sched *s, const char *text, int code,
                       const char *message)
{
  pai_what_if *w;
  pai_error *err;

  assert_int_equal(
    pai_what_if_json(&w, s, NULL, text, strlen(text), NULL, &err), code);
  assert_null(w);
  test_expect_error(err, code, message);
}

static void wrong_lines_are_told(void **state)
{
  pai_sched *s = queue("fifo", NULL);

  (void)state;
  wrong_line(s, "{", PAI_EINVAL, "");
  wrong_line(
    s, "{\"time\":0,\"event\":\"time\"}\n{\"time\":0,\"event\":\"tame\"}",
    PAI_EINVAL, "change 2: ");
  wrong_line(s, "{\"time\":0,\"event\":\"decide\"}", PAI_EINVAL, "");
  wrong_line(s, "{\"time\":0,\"event\":\"cancel\",\"id\":77}", PAI_ENOTFOUND,
             "77");
  wrong_line(s, "{\"time\":0,\"event\":\"cancel\",\"id\":1}\n{}", PAI_EINVAL,
             "change 2: ");
  pai_sched_free(s);
}

/* --- faults --------------------------------------------------------------- */

static int ask(const pai_alloc *alloc, void *user_data)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = queue("fifo", alloc);
  const pai_sched_event e = { .struct_size = sizeof(e),
                              .kind = PAI_SCHED_CLUSTER,
                              .cluster = user_data };
  pai_what_if *w = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc = PAI_ENOMEM;

  pai__buf_init(&out, alloc);
  o.runs = 2;
  if (s != NULL)
    rc = pai_what_if_new(&w, s, NULL, &e, 1, &o, &err);
  if (rc == PAI_OK)
    rc = pai_what_if_write(w, PAI_FORMAT_TEXT, test_collect, &out, &err);
  if (rc == PAI_OK)
    rc = pai_what_if_write(w, PAI_FORMAT_JSON, test_collect, &out, &err);
  if (rc == PAI_OK)
    assert_non_null(strstr(out.data, "\"unsafe\":true"));
  pai_what_if_free(w);
  w = NULL;
  if (rc == PAI_OK)
    rc = pai_what_if_json(&w, s, NULL, two_lines, strlen(two_lines), &o, &err);
  pai_error_free(err);
  pai_what_if_free(w);
  pai__buf_dispose(&out);
  pai_sched_free(s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  pai_cluster *c = cluster("nodes:1 gpu:4 cpus:8 mem:1G");

  (void)state;
  test_faults(ask, c);
  pai_cluster_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_comes_makes_changes_dearer),
    cmocka_unit_test(what_differs_in_few_futures_is_no_difference),
    cmocka_unit_test(what_lies_beyond_the_horizon_counts_in_both),
    cmocka_unit_test(nothing_changes_nothing),
    cmocka_unit_test(who_is_killed_makes_room),
    cmocka_unit_test(another_one_delays),
    cmocka_unit_test(drained_nodes_take_no_more),
    cmocka_unit_test(sick_nodes_lose_what_they_have),
    cmocka_unit_test(a_larger_cluster_starts_more),
    cmocka_unit_test(a_smaller_cluster_is_not_safe),
    cmocka_unit_test(what_loses_its_node_moves),
    cmocka_unit_test(another_policy_decides_otherwise),
    cmocka_unit_test(jobs_take_as_long_in_both),
    cmocka_unit_test(requests_may_be_texts),
    cmocka_unit_test(wrong_changes_are_told),
    cmocka_unit_test(changes_may_be_lines),
    cmocka_unit_test(wrong_lines_are_told),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
