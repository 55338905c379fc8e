/* Policies of the caller's: what they may ask for, shadows, swapping. */
#include "scribe.h"

typedef struct asking {
  int (*decide)(const pai_policy_host *host);
  int said; /* what it answered last */
} asking;

static asking ask;

static int decide(void *state, void *data, const pai_policy_host *host)
{
  (void)state;
  (void)data;
  ask.said = ask.decide(host);
  return ask.said;
}

static const pai_policy table = { .struct_size = sizeof(table),
                                  .version = PAI_POLICY_VERSION,
                                  .name = "asking",
                                  .decide = decide };

static pai_sched *with_policy(const char *description, const pai_policy *p,
                              int (*how)(const pai_policy_host *host))
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c;
  pai_sched *s;

  ask.decide = how;
  o.table = p;
  assert_int_equal(pai_cluster_synthetic(&c, description, NULL, NULL), PAI_OK);
  assert_int_equal(pai_sched_new(&s, c, &o, NULL), PAI_OK);
  pai_cluster_free(c);
  return s;
}

static int failure(pai_sched *s, const char *part)
{
  pai_error *err = NULL;
  int rc = pai_sched_decide(s, scene_now(s), &err);

  assert_true(rc < 0);
  test_expect_error(err, rc, part);
  return rc;
}

/* --- what it asks for is checked ------------------------------------------ */

static int start_twice_there(const pai_policy_host *host)
{
  pai_task_place p = { .struct_size = sizeof(p), .node = 0, .gpus = 0x3 };
  int rc = host->start_at(host, 1, &p, 1);

  return rc < 0 ? rc : host->start_at(host, 2, &p, 1);
}

static void no_device_is_given_twice(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, start_twice_there);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_int_equal(failure(s, "that place cannot be had by request 2"),
                   PAI_EBUSY);
  assert_string_equal(scene_places(s, 1, 0), "0:3"); /* what was right stays */
  assert_string_equal(scene_places(s, 2, 0), "");
  pai_sched_free(s);
}

static int start_in_part(const pai_policy_host *host)
{
  pai_task_place p = { .struct_size = sizeof(p), .node = 0, .gpus = 0x3 };

  return host->start_at(host, 1, &p, 1);
}

static void a_gang_is_not_started_in_part(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, start_in_part);

  (void)state;
  assert_int_equal(scene_submit(s, 1, 2, 2), PAI_OK);
  assert_int_equal(failure(s, "request 1"), PAI_EINVAL);
  assert_string_equal(scene_places(s, 1, 0), "");
  pai_sched_free(s);
}

static int start_unknown(const pai_policy_host *host)
{
  return host->start(host, 7, NULL);
}

static int give_up(const pai_policy_host *host)
{
  return host->give_up(host, PAI_EUSER, "I do not know");
}

static void what_is_not_there_is_refused(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, start_unknown);

  (void)state;
  assert_int_equal(failure(s, "there is no request 7"), PAI_ENOTFOUND);
  ask.decide = give_up;
  assert_int_equal(failure(s, "I do not know"), PAI_EUSER);
  pai_sched_free(s);
}

static int refuse_all(const pai_policy_host *host)
{
  pai_reason r = { .struct_size = sizeof(r),
                   .lack = PAI_LACK_POLICY,
                   .text = "it is Sunday" };
  int rc = PAI_OK;

  for (uint64_t id = host->next_waiting(host, 0); id != 0 && rc == PAI_OK;
       id = host->next_waiting(host, id))
    rc = host->refuse(host, id, &r);
  return rc;
}

static void it_has_reasons_of_its_own(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, refuse_all);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(pai_sched_reason(s, 1, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_POLICY);
  assert_string_equal(r.text, "it is Sunday");
  pai_sched_free(s);
}

static int try_to_send(const pai_policy_host *host)
{
  pai_sched_event e = { .struct_size = sizeof(e), .kind = PAI_SCHED_TIME };

  return pai_sched_send(host->sched, &e, NULL);
}

static void it_cannot_send_events(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, try_to_send);

  (void)state;
  assert_int_equal(failure(s, "PAI_EBUSY"), PAI_EBUSY);
  pai_sched_free(s);
}

/* --- preempting ----------------------------------------------------------- */

static int start_over_others(const pai_policy_host *host)
{
  uint64_t next;
  int rc = 0;

  for (uint64_t id = host->next_waiting(host, 0); id != 0 && rc >= 0;
       id = next) {
    next = host->next_waiting(host, id);
    rc = host->start_over(host, id, NULL);
  }
  return rc < 0 ? rc : PAI_OK;
}

static int submit_with(pai_sched *s, uint64_t id, uint32_t gpus, int priority)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .wants = &want, .nwants = 1, .priority = priority },
    NULL);
}

static int give_back(pai_sched *s, uint64_t id)
{
  return scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL);
}

static void the_least_important_and_youngest_make_room(void **state)
{
  pai_sched *s = with_policy("nodes:2 gpu:4", &table, start_over_others);

  (void)state;
  assert_int_equal(submit_with(s, 1, 4, 5), PAI_OK);
  assert_int_equal(submit_with(s, 2, 2, 1), PAI_OK);
  assert_int_equal(submit_with(s, 3, 2, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2, start 3");
  assert_int_equal(submit_with(s, 4, 2, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 3 preempted");
  assert_string_equal(scene_lack(s, 4), "victims");
  assert_int_equal(submit_with(s, 5, 1, 0), PAI_OK);
  assert_string_equal(scene_decide(s), ""); /* 3 is not stopped twice */
  assert_int_equal(give_back(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4"); /* and not 3 or 5 */
  assert_string_equal(scene_places(s, 4, 0), "1:c");
  assert_string_equal(scene_lack(s, 3), "gpu");
  /* Nobody goes for one that is as important. */
  assert_int_equal(submit_with(s, 6, 4, 5), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 2 preempted, stop 4 preempted");
  assert_int_equal(give_back(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(give_back(s, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 6");
  pai_sched_free(s);
}

static void a_claim_that_is_cancelled_sets_free(void **state)
{
  pai_sched *s = with_policy("nodes:1 gpu:4", &table, start_over_others);
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(submit_with(s, 1, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(submit_with(s, 2, 4, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "stop 1 preempted");
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                                  .id = 2,
                                                  .instance = PAI_SCHED_ALL },
                               NULL),
                   PAI_OK);
  assert_int_equal(pai_sched_view_node(s, 0, &v), PAI_OK);
  assert_int_equal(v.free_gpus, 2);
  assert_int_equal(give_back(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

/* --- shadows and swaps ---------------------------------------------------- */

static int shadow(pai_sched *s, const char *policy, const char *options)
{
  return scene_event(s,
                     (pai_sched_event){ .kind = PAI_SCHED_SHADOW,
                                        .text = policy,
                                        .options = options },
                     NULL);
}

static void a_shadow_is_counted_and_changes_nothing(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);
  pai_sched_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(shadow(s, "fifo", "{\"greedy\": true}"), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 4, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2"); /* not 4 */
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_string_equal(v.shadow, "fifo");
  assert_int_equal(v.live_decisions, 2);
  assert_int_equal(v.shadow_decisions, 3);
  assert_int_equal(v.shadow_agreed, 2);
  assert_string_equal(scene_places(s, 4, 0), "");
  assert_int_equal(shadow(s, "nobody", NULL), PAI_ENOTFOUND);
  assert_int_equal(shadow(s, "fifo", "{\"greedy\": 3}"), PAI_EINVAL);
  assert_int_equal(shadow(s, NULL, NULL), PAI_OK);
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_null(v.shadow);
  pai_sched_free(s);
}

/* What it would have done, where, and where they differ. */
static void a_shadow_shows_its_decisions(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);
  pai_decision d = { .struct_size = sizeof(d) };
  pai_task_place place = { .struct_size = sizeof(place) };
  pai_sched_view v = { .struct_size = sizeof(v) };
  const pai_sched *beside;

  (void)state;
  assert_null(pai_sched_shadow(NULL));
  assert_int_equal(scene_submit(s, 9, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 9");
  assert_null(pai_sched_shadow(s));
  assert_int_equal(pai_sched_decision(s, 0, &d), PAI_OK);
  assert_int_equal(d.agreed, 0); /* with nobody */
  assert_int_equal(shadow(s, "fifo", "{\"greedy\": true}"), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 1), PAI_OK);
  assert_int_equal(scene_event(s,
                               (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                                  .id = 9,
                                                  .instance = PAI_SCHED_ALL },
                               NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "stop 9 cancelled, start 1");
  for (size_t i = 0; i < 2; i++) { /* it is none of a policy; both did it */
    assert_int_equal(pai_sched_decision(s, i, &d), PAI_OK);
    assert_int_equal(d.agreed, 1);
  }
  beside = pai_sched_shadow(s);
  assert_non_null(beside);
  assert_int_equal(pai_sched_decision(beside, 0, &d), PAI_OK);
  assert_int_equal(d.id, 1);
  assert_int_equal(d.agreed, 1);
  assert_int_equal(pai_sched_decision(beside, 1, &d), PAI_OK);
  assert_int_equal(d.id, 3);
  assert_int_equal(d.kind, PAI_DECISION_START);
  assert_int_equal(d.agreed, 0);
  assert_int_equal(pai_sched_decision(beside, 2, &d), PAI_ENOTFOUND);
  assert_int_equal(pai_sched_task(beside, 3, 0, 0, &place), PAI_OK);
  assert_int_equal(pai_sched_task(s, 3, 0, 0, &place), PAI_ENOTFOUND);
  assert_int_equal(pai_sched_view_sums(beside, &v), PAI_OK);
  assert_int_equal(v.now, scene_now(s));
  assert_int_equal(scene_submit(s, 4, 1, 1), PAI_OK);
  assert_null(pai_sched_shadow(s)); /* that is the past */
  (void)scene_decide(s);
  assert_non_null(pai_sched_shadow(s));
  assert_int_equal(shadow(s, NULL, NULL), PAI_OK);
  assert_null(pai_sched_shadow(s));
  pai_sched_free(s);
}

static int start_all(const pai_policy_host *host)
{
  uint64_t id = 0;
  int rc = 0;

  while (rc >= 0 && (id = host->next_waiting(host, id)) != 0)
    rc = host->start(host, id, NULL);
  return rc < 0 ? rc : PAI_OK;
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
static void a_table_may_be_a_shadow_and_be_swapped_in(void **state)
{
  pai_policy deaf = table;
  pai_policy bad = table;
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL), *again;
  pai_sched_event beside = { .kind = PAI_SCHED_SHADOW, .table = &deaf };
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  const pai_policy *known[] = { &deaf };
  pai_sched_view v = { .struct_size = sizeof(v) };
  pai__buf text, copy, said;
  pai_error *err;
  size_t line;

  (void)state;
  ask.decide = start_all;
  deaf.event = refuse_events;
  bad.version = 99;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&said, &pai__libc_alloc);
  assert_int_equal(
    scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_SHADOW, .table = &bad }, NULL),
    PAI_ENOTSUP);
  assert_int_equal(shadow(s, "asking", NULL), PAI_ENOTFOUND); /* not known */
  assert_int_equal(pai_sched_set_log(s, scribe_write, &text, NULL), PAI_OK);
  assert_int_equal(scene_event(s, beside, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_string_equal(v.shadow, "asking");
  assert_int_equal(v.shadow_decisions, 2);
  assert_int_equal(v.shadow_agreed, 1);
  assert_int_equal(v.shadow_failed, 4); /* and no event has failed */
  beside.kind = PAI_SCHED_POLICY;
  beside.table = NULL;
  beside.text = "asking"; /* now it is known */
  deaf.event = NULL;
  assert_int_equal(scene_event(s, beside, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  scribe_save(s, &copy);
  pai_sched_free(s);

  assert_null(scribe_replay(pai__buf_text(&text), NULL, &said, &line, &err));
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'asking'");
  again = scribe_replay(pai__buf_text(&text), &deaf, &said, &line, NULL);
  assert_non_null(again);
  pai_sched_free(again);
  o.ntables = 1;
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, &err),
    PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "no tables");
  o.tables = known;
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, NULL), PAI_OK);
  pai__buf_dispose(&text);
  scribe_save(again, &text);
  scribe_same(&text, &copy);
  pai_sched_free(again);
  /* Another may go on with what was saved. */
  o.policy = "backfill";
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&copy), copy.len, &o, NULL), PAI_OK);
  assert_int_equal(pai_sched_view_sums(again, &v), PAI_OK);
  assert_string_equal(v.policy, "backfill");
  pai_sched_free(again);
  pai__buf_dispose(&said);
  pai__buf_dispose(&text);
  pai__buf_dispose(&copy);
}

static void a_swap_keeps_what_runs(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);
  pai_sched_event e = { .kind = PAI_SCHED_POLICY,
                        .text = "fifo",
                        .options = "{\"greedy\": true}" };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_event(s, e, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 1, 0), "0:7");
  pai_sched_free(s);
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

static void without_clone_there_is_no_fork(void **state)
{
  pai_policy p = table;
  pai_error *err = NULL;
  pai_sched *s, *fork;

  (void)state;
  p.open = open_nothing;
  s = with_policy("nodes:1 gpu:4", &p, refuse_all);
  assert_int_equal(pai_sched_fork(&fork, s, &err), PAI_ENOTSUP);
  assert_null(fork);
  test_expect_error(err, PAI_ENOTSUP, "'asking' cannot be copied");
  pai_sched_free(s);
}

static void a_bad_table_is_refused(void **state)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_policy p = table;
  pai_error *err = NULL;
  pai_cluster *c;
  pai_sched *s;

  (void)state;
  assert_int_equal(pai_cluster_synthetic(&c, "nodes:1", NULL, NULL), PAI_OK);
  o.table = &p;
  p.version = 2;
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_ENOTSUP);
  test_expect_error(err, PAI_ENOTSUP, "version 2");
  p.version = PAI_POLICY_VERSION;
  p.decide = NULL;
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "decide()");
  o.table = NULL;
  o.policy = "magic";
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_ENOTFOUND);
  assert_non_null(strstr(pai_error_help(err), "backfill"));
  test_expect_error(err, PAI_ENOTFOUND, "'magic'");
  o.policy = "fifo";
  o.policy_options = "{\"colour\": 1}";
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "\"colour\"");
  o.policy_options = "{";
  assert_int_equal(pai_sched_new(&s, c, &o, &err), PAI_EINVAL);
  pai_error_free(err);
  pai_cluster_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_device_is_given_twice),
    cmocka_unit_test(a_gang_is_not_started_in_part),
    cmocka_unit_test(what_is_not_there_is_refused),
    cmocka_unit_test(it_has_reasons_of_its_own),
    cmocka_unit_test(it_cannot_send_events),
    cmocka_unit_test(the_least_important_and_youngest_make_room),
    cmocka_unit_test(a_claim_that_is_cancelled_sets_free),
    cmocka_unit_test(a_shadow_shows_its_decisions),
    cmocka_unit_test(a_shadow_is_counted_and_changes_nothing),
    cmocka_unit_test(a_table_may_be_a_shadow_and_be_swapped_in),
    cmocka_unit_test(a_swap_keeps_what_runs),
    cmocka_unit_test(without_clone_there_is_no_fork),
    cmocka_unit_test(a_bad_table_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
