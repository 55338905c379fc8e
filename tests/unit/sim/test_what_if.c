/* test_what_if.c - what changes would do */
#include "cases.h"
#include "learned.h"

#include <openpai/forecast.h>

#define TWO "nodes:2 gpu:4 cpus:8 mem:1G"

/* 1 and 2 run, on a node each; 3 and 4 wait. */
static pai_sched *queue(const char *policy, const pai_alloc *alloc)
{
  return learned_queue(TWO, policy, NULL, alloc,
                       "1 ann 1x4 100\n"
                       "2 ann 1x4 200\n"
                       "3 ann 1x4 50\n"
                       "4 ann 1x4 50\n"
                       "go");
}

static pai_what_if *what_if(const pai_sched *s, const pai_history *h,
                            pai_sched_event event,
                            const pai_forecast_options *opts)
{
  pai_what_if *w;

  event.struct_size = sizeof(event);
  assert_ok(pai_what_if_new(&w, s, h, &event, 1, opts, NULL));
  learned_keep(LEARNED_WHAT_IF, w);
  return w;
}

static pai_what_if_view look(const pai_what_if *w)
{
  pai_what_if_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_what_if_look(w, &v));
  return v;
}

static int64_t p50(const pai_forecast *f, uint64_t id)
{
  pai_when when = learned_when(f, id);

  return when.p50 == INT64_MAX ? -1 : when.p50 / SECOND;
}

/* As text or JSON, to be disposed of. */
static const char *text_of(const pai_what_if *w, int format)
{
  pai__buf out = test_buf();

  assert_ok(pai_what_if_write(w, format, test_collect, &out, NULL));
  return learned_text(&out);
}

static void expect_text(const pai_what_if *w, const char *part)
{
  const char *out = text_of(w, PAI_FORMAT_TEXT);

  learned_says(out, part);
}

/* A node drained, or sick. */
static pai_sched_event node(const char *name, int state)
{
  return (pai_sched_event){
    .kind = PAI_SCHED_NODE, .node = name, .number = state, .gpu = -1
  };
}

static pai_sched_event cancel(uint64_t id)
{
  return (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                            .id = id,
                            .instance = PAI_SCHED_ALL };
}

/* --- what is yet to come -------------------------------------------------- */

/* By how much a drained node makes those wait longer that wait. */
static pai_time cost_of_drain(const pai_sched *s, const pai_history *h,
                              int arrivals, const char *said)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if_view v;
  pai_what_if *w;

  o.arrivals = arrivals;
  w = what_if(s, h, node("node0001", PAI_NODE_DRAIN), &o);
  v = look(w);
  expect_text(w, said);
  return v.wait_after - v.wait_before;
}

/* An urgent one comes every minute, for half of it: 25 hours long. */
TEST(what_comes_makes_changes_dearer)
{
  pai_sched *s = queue("priority", NULL);
  pai_history *h = learned_new();
  pai_time without, with;

  for (int64_t i = -1500; i <= 0; i++)
    learned_request(
      h,
      &(pai_request){ .user = "eve", .priority = 10, .duration = 30 * SECOND },
      4, i * 60 * SECOND);
  without = cost_of_drain(s, h, PAI_ARRIVALS_NONE, "; no new jobs arrive (");
  with = cost_of_drain(s, h, PAI_ARRIVALS_KNOWN,
                       "; jobs arrive as the last 512 did, at most 2000 (");
  assert_true(without >= 50 * SECOND);
  assert_true(with > without * 3 / 2);
  assert_int_equal(cost_of_drain(s, h, PAI_ARRIVALS_ALL, "; jobs arrive as"),
                   with);
}

/* --- futures of which some are long --------------------------------------- */

enum { SHORT = 100, LONG = 10000 };

/* So many of ten jobs of ann and of bob were short, the others long. */
static pai_history *some_short(int of_ann, int of_bob)
{
  pai_history *h = learned_new();

  for (int i = 0; i < 10; i++) {
    (void)learned_add(h, "ann", NULL, 4, i < of_ann ? SHORT : LONG);
    (void)learned_add(h, "bob", NULL, 4, i < of_bob ? SHORT : LONG);
  }
  return h;
}

/* 1, of ann, and 2, of bob, run on a node each; 3 waits for either. */
static pai_sched *either(void)
{
  return learned_queue(TWO, "fifo", "{\"place\":\"first\"}", NULL,
                       "1 ann 1x4 0\n"
                       "2 bob 1x4 0\n"
                       "3 eve 1x4 0\n"
                       "go");
}

/* With ann's node drained 3 waits for bob alone, who mostly takes long; but only
 * where ann is short, too, does that make a difference, in a fifth of the futures.
 * The median without the change is short, and the median with it long. */
TEST(what_differs_in_few_futures_is_no_difference)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = either();
  pai_history *h = some_short(3, 4);
  pai_what_if_view v;
  pai_what_if *w;

  o.runs = 1000;
  w = what_if(s, h, node("node0001", PAI_NODE_DRAIN), &o);
  v = look(w);
  assert_int_equal(p50(pai_what_if_before(w), 3), SHORT);
  assert_int_equal(p50(pai_what_if_after(w), 3), LONG);
  assert_int_equal(v.same, 1);
  assert_int_equal(v.later, 0);
  assert_int_equal(v.wait_before, SHORT * SECOND);
  assert_int_equal(v.wait_after, SHORT * SECOND);
  expect_text(w, "0 start sooner, 0 later, 1 unchanged");
}

/* In most futures 3 does not start before the horizon; without ann's job it
 * starts at once. */
TEST(what_lies_beyond_the_horizon_counts_in_both)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_sched *s = either();
  pai_history *h = some_short(0, 1);
  pai_what_if_view v;
  pai_what_if *w;

  o.horizon = 1000 * SECOND;
  w = what_if(s, h, cancel(1), &o);
  v = look(w);
  assert_int_equal(p50(pai_what_if_before(w), 3), -1);
  assert_int_equal(v.sooner, 1);
  assert_int_equal(v.wait_before, 1000 * SECOND);
  assert_int_equal(v.wait_after, 0);
}

/* The changes alone make a difference, for the same numbers are drawn. */
TEST(jobs_take_as_long_in_both)
{
  pai_sched *s = queue("fifo", NULL);
  pai_history *h = learned_new();
  pai_what_if *w;

  for (int i = 1; i < 40; i++)
    assert_ok(learned_add(h, "ann", NULL, 4, i * i));
  for (uint64_t id = 1; id <= 4; id++)
    assert_ok(scene_change(s, id, "duration", 0));
  w = what_if(s, h, cancel(4), NULL);
  assert_int_equal(look(w).same, 1);
  assert_int_equal(p50(pai_what_if_before(w), 3),
                   p50(pai_what_if_after(w), 3));
}

/* --- changes -------------------------------------------------------------- */

/* What the view tells is what programs read. */
static void expect_view(const pai_what_if *w)
{
  const char *json = text_of(w, PAI_FORMAT_JSON);
  pai_what_if_view v = look(w);
  pai__buf part = test_buf();

  pai__buf_printf(&part,
                  "\"start_now\":%u,\"stop_now\":%u,\"move\":%u,\"sooner\":%u,"
                  "\"later\":%u,\"same\":%u,\"never\":%u,\"wait_before\":%lld,"
                  "\"wait_after\":%lld,",
                  v.start_now, v.stop_now, v.move, v.sooner, v.later, v.same,
                  v.never, (long long)v.wait_before, (long long)v.wait_after);
  learned_says(json, learned_text(&part));
  learned_says(json, v.unsafe != 0 ? "\"unsafe\":true" : "\"unsafe\":false");
}

/* What is said of a change; where nothing is said of a queue, it is that of
 * queue(). */
typedef struct change_case {
  const char *name, *nodes, *policy, *options, *queue;
  pai_sched_event event;
  const char *cluster; /* of PAI_SCHED_CLUSTER */
  const char *text;
} change_case;

static const pai_want whole = {
  .struct_size = sizeof(whole), .tasks = 2, .gpus = 4, .cpus = 1
};
static const pai_request urgent = { .struct_size = sizeof(urgent),
                                    .id = 9,
                                    .name = "urgent",
                                    .duration = 1000 * SECOND,
                                    .priority = 100,
                                    .wants = &whole,
                                    .nwants = 1 };

static const change_case changes[] = {
  { "nothing changes nothing", .event = { .kind = PAI_SCHED_TIME },
    .text = "At once nothing starts, stops or moves.\n"
            "Waiting jobs: 0 start sooner, 0 later, 2 unchanged; mean of "
            "their median waits: 125 s.\n"
            "Preemptions: 0.00 rather than 0.00; GPUs in use until then: "
            "100.00 % rather than 100.00 %.\n" },
  { "a request that is killed makes room",
    .event = { .kind = PAI_SCHED_CANCEL, .id = 2, .instance = PAI_SCHED_ALL },
    .text =
      "At once 1 start, 1 stop, 0 move.\n"
      "  stops at once: request 2 of ann\n"
      "  starts at once: request 3 of ann\n"
      "Waiting jobs: 2 start sooner, 0 later, 0 unchanged; mean of their "
      "median waits: "
      "25 s rather than 125 s.\n"
      "  request 3 of ann: now rather than in 100 s, 100 s sooner\n"
      "  request 4 of ann: in 50 s rather than in 150 s, 100 s sooner\n" },
  { "an urgent one delays", .policy = "priority",
    .event = { .kind = PAI_SCHED_SUBMIT, .request = &urgent },
    .text =
      "Not safe: running jobs are stopped or moved.\n"
      "At once 1 start, 2 stop, 0 move.\n"
      "  stops at once: request 2 of ann\n"
      "  stops at once: request 1 of ann\n"
      "  starts at once: urgent (request 9)\n"
      "Waiting jobs: 0 start sooner, 2 later, 0 unchanged; mean of their "
      "median waits: "
      "19 min rather than 125 s.\n"
      "  request 3 of ann: in 18 min rather than in 100 s, 17 min later\n"
      "  request 4 of ann: in 19 min rather than in 150 s, 17 min later\n"
      "  urgent (request 9): now\n"
      "Preemptions: 2.00 rather than 0.00; GPUs in use until then: 100.00 % "
      "rather than 100.00 %.\n" },
  { "a drained node takes no more",
    .event = { .kind = PAI_SCHED_NODE,
               .node = "node0001",
               .number = PAI_NODE_DRAIN,
               .gpu = -1 },
    .text =
      "At once nothing starts, stops or moves.\n"
      "Waiting jobs: 0 start sooner, 2 later, 0 unchanged; mean of their "
      "median waits: "
      "4 min rather than 125 s.\n"
      "  request 3 of ann: in 3 min rather than in 100 s, 100 s later\n"
      "  request 4 of ann: in 4 min rather than in 150 s, 100 s later\n" },
  { "a sick node loses what it has",
    .event = { .kind = PAI_SCHED_NODE,
               .node = "node0002",
               .number = PAI_NODE_SICK,
               .gpu = -1 },
    .text =
      "Not safe: running jobs are stopped or moved.\n"
      "At once 0 start, 1 stop, 0 move.\n"
      "  stops at once: request 2 of ann\n"
      "Waiting jobs: 0 start sooner, 2 later, 0 unchanged; mean of their "
      "median waits: "
      "5 min rather than 125 s.\n"
      "  request 3 of ann: in 5 min rather than in 100 s, 3 min later\n"
      "  request 4 of ann: in 6 min rather than in 150 s, 3 min later\n" },
  { "a larger cluster starts more", .event = { .kind = PAI_SCHED_CLUSTER },
    .cluster = "nodes:4 gpu:4 cpus:8 mem:1G",
    .text = "At once 2 start, 0 stop, 0 move.\n"
            "  starts at once: request 3 of ann\n"
            "  starts at once: request 4 of ann\n"
            "Waiting jobs: 2 start sooner, 0 later, 0 unchanged; mean of "
            "their median waits: 0 s rather than 125 s.\n"
            "  request 3 of ann: now rather than in 100 s, 100 s sooner\n"
            "  request 4 of ann: now rather than in 150 s, 150 s sooner\n" },
  { "a smaller cluster is not safe: what ran waits again, and goes first",
    .event = { .kind = PAI_SCHED_CLUSTER },
    .cluster = "nodes:1 gpu:4 cpus:8 mem:1G",
    .text =
      "Not safe: running jobs are stopped or moved.\n"
      "At once 0 start, 1 stop, 0 move.\n"
      "  stops at once: request 2 of ann, as its node is lost\n"
      "Waiting jobs: 0 start sooner, 2 later, 0 unchanged; mean of their "
      "median waits: "
      "5 min rather than 125 s.\n"
      "  request 2 of ann: in 100 s\n"
      "  request 3 of ann: in 5 min rather than in 100 s, 3 min later\n"
      "  request 4 of ann: in 6 min rather than in 150 s, 3 min later\n" },
  { "what loses its node begins anew on another",
    .nodes = "nodes:3 gpu:4 cpus:8 mem:1G", .policy = "fifo",
    .options = "{\"place\":\"first\"}", .queue = "1 ann 1x4 100\ngo",
    .event = { .kind = PAI_SCHED_CLUSTER },
    .cluster =
      "skus: {box: {gpu: gpu, gpus: 4, cpus: 8, memory: 1G}}\n"
      "nodes: [{name: node0002, sku: box}, {name: node0003, sku: box}]\n",
    .text = "Not safe: running jobs are stopped or moved.\n"
            "At once 0 start, 0 stop, 1 move.\n"
            "  moves at once: request 1 of ann, as its node is lost\n"
            "Waiting jobs: 0 start sooner, 0 later, 0 unchanged; mean of "
            "their median waits: 0 s.\n"
            "  request 1 of ann: now\n" },
  { "another policy decides otherwise", .nodes = TWO, .policy = "fifo",
    .queue = "1 ann 1x3 100\n2 ann 1x3 100\n3 ann 1x4 100\n4 ann 1x1 50\ngo",
    .event = { .kind = PAI_SCHED_POLICY, .text = "backfill" },
    .text = "At once 1 start, 0 stop, 0 move.\n"
            "  starts at once: request 4 of ann\n"
            "Waiting jobs: 1 start sooner, 0 later, 1 unchanged; mean of "
            "their median waits: 50 s rather than 100 s.\n"
            "  request 4 of ann: now rather than in 100 s, 100 s sooner\n" },
};

static pai_cluster *cluster(const char *description)
{
  pai_cluster *c;

  assert_ok(
    strchr(description, '\n') == NULL
      ? pai_cluster_synthetic(&c, description, NULL, NULL)
      : pai_cluster_parse(&c, description, strlen(description), NULL, NULL));
  return c;
}

TEST(changes_do_as_told)
{
  for (size_t i = 0; i < PAI__LEN(changes); i++) {
    const change_case *c = &changes[i];
    pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
    pai_sched *s =
      c->queue == NULL
        ? queue(c->policy != NULL ? c->policy : "fifo", NULL)
        : learned_queue(c->nodes, c->policy, c->options, NULL, c->queue);
    pai_sched_event event = c->event;
    pai_cluster *other = NULL;
    pai_what_if *w;
    const char *out;

    if (c->cluster != NULL)
      event.cluster = other = cluster(c->cluster);
    o.runs = 5;
    w = what_if(s, NULL, event, &o);
    out = text_of(w, PAI_FORMAT_TEXT);
    expect_view(w);
    if (strncmp(out, c->text, strlen(c->text)) != 0)
      fail_msg("%s: %s", c->name, out);
    pai_cluster_free(other);
  }
}

TEST(programs_read_each_start)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if *w;

  o.runs = 5;
  w = what_if(queue("fifo", NULL), NULL, cancel(2), &o);
  learned_says(text_of(w, PAI_FORMAT_JSON),
               "\"waits\":["
               "{\"id\":3,\"change\":\"sooner\",\"longer\":-100000000},"
               "{\"id\":4,\"change\":\"sooner\",\"longer\":-100000000}]");
  w = what_if(queue("priority", NULL), NULL, changes[2].event, &o);
  learned_says(text_of(w, PAI_FORMAT_JSON),
               "{\"id\":9,\"change\":\"new\",\"longer\":null}");
  w = what_if(queue("fifo", NULL), NULL, changes[0].event, &o);
  learned_says(text_of(w, PAI_FORMAT_JSON),
               "\"waits\":[{\"id\":3,\"change\":\"same\",\"longer\":0},");
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
    assert_ok(pai_forecast_when(pai_what_if_after(w), 9, &when));
  pai_what_if_free(w);
  pai_sched_free(s);
  return rc;
}

TEST(requests_may_be_texts)
{
  assert_int_equal(submit_text(&pai__libc_alloc, (char *)"{\"id\":9"),
                   PAI_EINVAL);
  assert_int_equal(submit_text(&pai__libc_alloc, (char *)"{\"id\":9}"),
                   PAI_EINVAL);
  test_faults(submit_text, (char *)"{\"id\": 9,\n\"wants\": [{\"gpus\": 1}]}");
}

TEST(wrong_changes_are_told)
{
  pai_sched *s = queue("fifo", NULL);
  const pai_sched_event e[] = {
    { .struct_size = sizeof(e[0]), .kind = PAI_SCHED_TIME },
    { .struct_size = sizeof(e[0]), .kind = PAI_SCHED_CANCEL, .id = 77 }
  };
  const pai_sched_event bad = { .struct_size = 3 };
  pai_what_if *w;
  pai_error *err;

  assert_int_equal(pai_what_if_new(&w, s, NULL, e, 2, NULL, &err),
                   PAI_ENOTFOUND);
  assert_null(w);
  test_expect_error(err, PAI_ENOTFOUND, "change 2: ");
  assert_fails(pai_what_if_new(&w, s, NULL, &e[1], 1, NULL, &err), err,
               PAI_ENOTFOUND, "77");
  assert_int_equal(pai_what_if_new(&w, s, NULL, &bad, 1, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_what_if_new(&w, s, NULL, NULL, 1, NULL, NULL),
                   PAI_EINVAL);
  assert_null(pai_what_if_before(NULL));
  pai_what_if_free(NULL);
}

/* --- lines ---------------------------------------------------------------- */

static const char two_lines[] =
  "{\"time\":0,\"event\":\"cancel\",\"id\":1}\n\n"
  "{\"time\":99,\"event\":\"node\",\"node\":\"node0002\","
  "\"state\":\"drain\"}\n";

/* The same as events, as JSON. */
TEST(changes_may_be_lines)
{
  pai_sched_event e[] = { cancel(1), node("node0002", PAI_NODE_DRAIN) };
  pai_sched *s = queue("fifo", NULL);
  const char *told;
  pai_what_if *w;

  e[0].struct_size = e[1].struct_size = sizeof(e[0]);
  assert_ok(
    pai_what_if_json(&w, s, NULL, two_lines, strlen(two_lines), NULL, NULL));
  told = text_of(w, PAI_FORMAT_JSON);
  pai_what_if_free(w);
  assert_ok(pai_what_if_new(&w, s, NULL, e, 2, NULL, NULL));
  assert_string_equal(told, text_of(w, PAI_FORMAT_JSON));
  pai_what_if_free(w);
  learned_says(told, "\"stop_now\":1");
  assert_ok(pai_what_if_json(&w, s, NULL, NULL, 0, NULL, NULL));
  pai_what_if_free(w);
}

TEST(wrong_lines_are_told)
{
  static const struct {
    const char *text;
    int code;
    const char *message;
  } rows[] = {
    { "{", PAI_EINVAL, "" },
    { "{\"time\":0,\"event\":\"time\"}\n{\"time\":0,\"event\":\"tame\"}",
      PAI_EINVAL, "change 2: " },
    { "{\"time\":0,\"event\":\"decide\"}", PAI_EINVAL, "" },
    { "{\"time\":0,\"event\":\"cancel\",\"id\":77}", PAI_ENOTFOUND, "77" },
    { "{\"time\":0,\"event\":\"cancel\",\"id\":1}\n{}", PAI_EINVAL,
      "change 2: " },
  };
  pai_sched *s = queue("fifo", NULL);

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_what_if *w;
    pai_error *err;

    assert_int_equal(pai_what_if_json(&w, s, NULL, rows[i].text,
                                      strlen(rows[i].text), NULL, &err),
                     rows[i].code);
    assert_null(w);
    test_expect_error(err, rows[i].code, rows[i].message);
  }
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
    assert_has(out.data, "\"unsafe\":true");
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

TEST(no_memory_is_survived)
{
  pai_cluster *c = cluster("nodes:1 gpu:4 cpus:8 mem:1G");

  test_faults(ask, c);
  pai_cluster_free(c);
}

TEST_AROUND_ALL(NULL, learned_free);
