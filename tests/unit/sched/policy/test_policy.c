/* Policies of the caller's: what they may ask for, shadows, swapping. */
#include "orders.h"
#include "sched/scribe.h"

#define FOUR "nodes:1 gpu:4"
#define TWICE "nodes:2 gpu:4"
#define ORDERS(test, where) \
  .name = #test, .cluster = where, .table = &orders_policy, .own = orders_own

static const scene_case cases[] = {
  /* --- what it asks for is checked --------------------------------------- */
  { ORDERS(no_device_is_given_twice, FOUR),
    .script = "submit 1-2 gpus=2; both 0:0x3\n"
              "fails EBUSY ~ that place cannot be had by request 2\n"
              "places 1 0:3; places 2 -\n" /* what was right stays */ },
  { ORDERS(a_gang_is_not_started_in_part, FOUR),
    .script = "submit 1 tasks=2 gpus=2; at 1 0:0x3\n"
              "fails EINVAL ~ request 1\n"
              "places 1 -\n" },
  { ORDERS(what_is_not_there_is_refused, FOUR),
    .script = "start 7\n"
              "fails ENOTFOUND ~ there is no request 7\n"
              "give_up\n"
              "fails EUSER ~ I do not know\n" },
  { ORDERS(it_has_reasons_of_its_own, FOUR),
    .script = "submit 1 gpus=2; refuse => nothing\n"
              "reason 1 lack=policy ~ it is Sunday\n" },
  { ORDERS(it_cannot_send_events, FOUR), .script =
                                           "send\n"
                                           "fails EBUSY ~ PAI_EBUSY\n" },

  /* --- preempting -------------------------------------------------------- */
  { ORDERS(the_least_important_and_youngest_make_room, TWICE),
    .script =
      "submit 1 gpus=4 priority=5; submit 2-3 gpus=2 priority=1; over\n"
      "=> start 1, start 2, start 3\n"
      "submit 4 gpus=2 priority=3 => stop 3 preempted; lack 4 victims\n"
      "submit 5 gpus=1 => nothing\n" /* 3 is not stopped twice */
      "returned 3 => start 4\n"      /* and not 3 or 5 */
      "places 4 1:c; lack 3 gpu\n"
      /* Nobody goes for one that is as important. */
      "submit 6 gpus=4 priority=5 => stop 2 preempted, stop 4 preempted\n"
      "returned 2 => nothing; returned 4 => start 6\n" },
  { ORDERS(a_claim_that_is_cancelled_sets_free, FOUR),
    .script = "submit 1 gpus=2; over => start 1\n"
              "submit 2 gpus=4 priority=1 => stop 1 preempted; cancel 2\n"
              "node 0 free_gpus=2; returned 1 => start 1\n" },

  /* --- shadows and swaps ------------------------------------------------- */
  { "a_shadow_is_counted_and_changes_nothing", TWICE, "fifo", NULL,
    .script = "shadow fifo {\"greedy\":true}\n"
              "submit 1-2 gpus=3; submit 3 gpus=4; submit 4 gpus=1\n"
              "=> start 1, start 2\n" /* not 4 */
              "sums shadow=fifo live_decisions=2 shadow_decisions=3\n"
              "sums shadow_agreed=2; places 4 -\n"
              "shadow nobody !ENOTFOUND; shadow fifo {\"greedy\":3} !EINVAL\n"
              "shadow; sums shadow=-\n" },
  { "a_swap_keeps_what_runs", TWICE, "fifo", NULL,
    .script = "submit 1 gpus=3; submit 2 tasks=2 gpus=4; submit 3 gpus=1\n"
              "=> start 1; policy fifo {\"greedy\":true} => start 3\n"
              "places 1 0:7\n" },
};

TEST_TABLE(scene_run, cases);

/* What it would have done, where, and where they differ. */
TEST(a_shadow_shows_its_decisions)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);
  pai_decision d = { .struct_size = sizeof(d) };
  pai_task_place place = { .struct_size = sizeof(place) };
  pai_sched_view v = { .struct_size = sizeof(v) };
  const pai_sched *beside;

  assert_null(pai_sched_shadow(NULL));
  scene_script(s, "submit 9 gpus=4 => start 9");
  assert_null(pai_sched_shadow(s));
  assert_ok(pai_sched_decision(s, 0, &d));
  assert_int_equal(d.agreed, 0); /* with nobody */
  scene_script(s, "shadow fifo {\"greedy\":true}; submit 1 gpus=3\n"
                  "submit 2 gpus=4; submit 3 gpus=1; cancel 9\n"
                  "=> stop 9 cancelled, start 1\n");
  for (size_t i = 0; i < 2; i++) { /* it is none of a policy; both did it */
    assert_ok(pai_sched_decision(s, i, &d));
    assert_int_equal(d.agreed, 1);
  }
  beside = pai_sched_shadow(s);
  assert_non_null(beside);
  assert_ok(pai_sched_decision(beside, 0, &d));
  assert_int_equal(d.id, 1);
  assert_int_equal(d.agreed, 1);
  assert_ok(pai_sched_decision(beside, 1, &d));
  assert_int_equal(d.id, 3);
  assert_int_equal(d.kind, PAI_DECISION_START);
  assert_int_equal(d.agreed, 0);
  assert_int_equal(pai_sched_decision(beside, 2, &d), PAI_ENOTFOUND);
  assert_ok(pai_sched_task(beside, 3, 0, 0, &place));
  assert_int_equal(pai_sched_task(s, 3, 0, 0, &place), PAI_ENOTFOUND);
  assert_ok(pai_sched_view_sums(beside, &v));
  assert_int_equal(v.now, scene_now(s));
  assert_ok(scene_submit(s, 4, 1, 1));
  assert_null(pai_sched_shadow(s)); /* that is the past */
  (void)scene_decide(s);
  assert_non_null(pai_sched_shadow(s));
  scene_script(s, "shadow");
  assert_null(pai_sched_shadow(s));
  pai_sched_free(s);
}

static int refuse_events(void *state, void *data, const pai_policy_host *host,
                         const pai_sched_event *event)
{
  (void)state;
  (void)data;
  (void)event;
  return host->give_up(host, PAI_EINVAL, "no news, please");
}

/* One of the caller's decides beside another, or instead of it; and what a log
 * tells of that is done again by whoever knows it. */
TEST(a_table_may_be_a_shadow_and_be_swapped_in)
{
  pai_policy deaf = orders_policy;
  pai_policy bad = orders_policy;
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL), *again;
  pai_sched_event beside = { .kind = PAI_SCHED_SHADOW, .table = &deaf };
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  const pai_policy *known[] = { &deaf };
  pai__buf text = test_buf(), copy, said = test_buf();
  pai_error *err;
  size_t line;

  deaf.event = refuse_events;
  bad.version = 99;
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_SHADOW, .table = &bad }, NULL),
    PAI_ENOTSUP);
  scene_script(s, "shadow orders !ENOTFOUND"); /* not known */
  assert_ok(pai_sched_set_log(s, scribe_write, &text, NULL));
  assert_ok(scene_event(s, beside, NULL));
  orders_script(s, "start; submit 1 gpus=3; submit 2 tasks=2 gpus=4\n"
                   "submit 3 gpus=4 => start 1\n"
                   "sums shadow=orders shadow_decisions=2 shadow_agreed=1\n"
                   "sums shadow_failed=4\n" /* and no event has failed */);
  beside.kind = PAI_SCHED_POLICY;
  beside.table = NULL;
  beside.text = "orders"; /* now it is known */
  deaf.event = NULL;
  assert_ok(scene_event(s, beside, NULL));
  assert_string_equal(scene_decide(s), "start 3");
  scribe_save(s, &copy);
  pai_sched_free(s);

  assert_null(scribe_replay(pai__buf_text(&text), NULL, &said, &line, &err));
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'orders'");
  again = scribe_replay(pai__buf_text(&text), &deaf, &said, &line, NULL);
  assert_non_null(again);
  pai_sched_free(again);
  o.ntables = 1;
  assert_fails(
    pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, &err), err,
    PAI_EINVAL, "no tables");
  o.tables = known;
  assert_ok(pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, NULL));
  pai__buf_dispose(&text);
  scribe_save(again, &text);
  scribe_same(&text, &copy);
  pai_sched_free(again);
  /* Another may go on with what was saved. */
  o.policy = "backfill";
  assert_ok(pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, NULL));
  scene_script(again, "sums policy=backfill");
  pai_sched_free(again);
  pai__buf_dispose(&said);
  pai__buf_dispose(&text);
  pai__buf_dispose(&copy);
}

static int open_nothing(void **state, void *data, const pai_policy_host *host,
                        const pai_cluster *cluster, const char *options)
{
  (void)data;
  (void)host;
  (void)cluster;
  (void)options;
  *state = NULL;
  return PAI_OK;
}

TEST(without_clone_there_is_no_fork)
{
  pai_policy p = orders_policy;
  pai_error *err = NULL;
  pai_sched *s, *fork;

  p.open = open_nothing;
  s = scene_make(&(scene_case){ .cluster = FOUR, .table = &p }, NULL);
  assert_int_equal(pai_sched_fork(&fork, s, &err), PAI_ENOTSUP);
  assert_null(fork);
  test_expect_error(err, PAI_ENOTSUP, "'orders' cannot be copied");
  pai_sched_free(s);
}

TEST(a_bad_table_is_refused)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_policy p = orders_policy;
  pai_error *err = NULL;
  pai_cluster *c;
  pai_sched *s;

  assert_ok(pai_cluster_synthetic(&c, "nodes:1", NULL, NULL));
  o.table = &p;
  p.version = 2;
  assert_fails(pai_sched_new(&s, c, &o, &err), err, PAI_ENOTSUP, "version 2");
  p.version = PAI_POLICY_VERSION;
  p.decide = NULL;
  assert_fails(pai_sched_new(&s, c, &o, &err), err, PAI_EINVAL, "decide()");
  o.table = NULL;
  o.policy = "magic";
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_ENOTFOUND);
  assert_has(pai_error_help(err), "backfill");
  test_expect_error(err, PAI_ENOTFOUND, "'magic'");
  o.policy = "fifo";
  o.policy_options = "{\"colour\": 1}";
  assert_fails(pai_sched_new(&s, c, &o, &err), err, PAI_EINVAL, "\"colour\"");
  o.policy_options = "{";
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_EINVAL);
  pai_error_free(err);
  pai_cluster_free(c);
}

/* --- shared objects -------------------------------------------------------- */

TEST(a_policy_comes_from_a_shared_object)
{
  scene_case c = {
    .cluster = "nodes:1 gpu:2",
    .script = "submit 1-3 gpus=1 => start 3, start 2; lack 1 gpu\n"
              "finish 3; fork => start 1\n" /* it has no state */
  };
  pai_sched *s;

  assert_ok(pai_policy_load(&c.table, PLUGIN_LIFO, NULL));
  assert_string_equal(c.table->name, "lifo");
  s = scene_make(&c, NULL);
  scene_script_of(s, &c);
  pai_sched_free(s);
}

TEST(what_is_no_policy_is_refused)
{
  static const struct {
    const char *file;
    int code;
    const char *part;
  } rows[] = { { "/nowhere/p.so", PAI_ENOTFOUND, "/nowhere/p.so" },
               { PLUGIN_FUTURE, PAI_ENOTSUP, "ABI 99" },
               { "libm.so.6", PAI_EINVAL, "no pai_plugin" } };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const pai_policy *p;
    pai_error *err = NULL;

    assert_int_equal(pai_policy_load(&p, rows[i].file, &err), rows[i].code);
    assert_null(p);
    test_expect_error(err, rows[i].code, rows[i].part);
  }
}
