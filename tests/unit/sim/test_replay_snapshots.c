/* Snapshots in the middle of a log. */
#include "busy.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define SNAPSHOT "{\"snapshot\":"

static void snapshots_come_when_they_are_worth_it(void **state)
{
  pai__buf log;
  size_t since = 0, last = 0;
  int n = 0;

  (void)state;
  busy_log(&log, "fifo", 300, 0, 2000);
  for (const char *at = pai__buf_text(&log); *at != '\0';) {
    size_t len = (size_t)(strchr(at, '\n') + 1 - at);

    if (strncmp(at, SNAPSHOT, strlen(SNAPSHOT)) == 0) {
      if (n++ != 0)
        assert_true(since >= 2000 && since >= 2 * last);
      last = len;
      since = 0;
    } else {
      assert_true(since < 2000 || since / 2 < last);
      since += len;
    }
    at += len;
  }
  assert_true(n > 5);
  pai__buf_dispose(&log);
  busy_log(&log, "fifo", 300, 0, 0);
  assert_int_equal(busy_count(&log, SNAPSHOT), 1);
  pai__buf_dispose(&log);
}

static void every_64_kib_if_nobody_says(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4 cpus:8 mem:1G", NULL, NULL, NULL);
  pai_sched_log_options o = { .struct_size = sizeof(o), .snapshots = 1 };
  pai_error *err;
  pai__buf log;

  (void)state;
  assert_non_null(s);
  pai__buf_init(&log, &pai__libc_alloc);
  assert_int_equal(pai_sched_set_log_options(s, &o, NULL), PAI_OK);
  assert_int_equal(pai_sched_set_log(s, scribe_write, &log, NULL), PAI_OK);
  while (log.len < 65000)
    assert_int_equal(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME }, NULL),
      PAI_OK);
  assert_int_equal(busy_count(&log, SNAPSHOT), 1);
  while (log.len < 67000)
    assert_int_equal(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME }, NULL),
      PAI_OK);
  assert_int_equal(busy_count(&log, SNAPSHOT), 2);
  o.struct_size = 3;
  assert_int_equal(pai_sched_set_log_options(s, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_int_equal(pai_sched_set_log_options(s, NULL, NULL), PAI_EINVAL);
  pai_sched_free(s);
  pai__buf_dispose(&log);
}

static void who_reads_all_skips_them(void **state)
{
  static const char *const policies[] = { "priority", "backfill", "fair",
                                          "hived" };
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;

  (void)state;
  o.check = 1;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai__buf with, without, a, b, c, d, e, f;

    busy_log(&with, policies[i], 200, 5, 1000);
    busy_log(&without, policies[i], 200, 5, 0);
    assert_true(busy_count(&with, SNAPSHOT) > 3);
    busy_read_all(&with, NULL, &a, &b);
    busy_read_all(&without, NULL, &c, &d);
    busy_read_all(&with, &o, &e, &f);
    scribe_same(&a, &c);
    scribe_same(&b, &d);
    scribe_same(&a, &e);
    scribe_same(&b, &f);
    pai__buf_dispose(&with);
    pai__buf_dispose(&without);
    pai__buf_dispose(&a);
    pai__buf_dispose(&b);
    pai__buf_dispose(&c);
    pai__buf_dispose(&d);
    pai__buf_dispose(&e);
    pai__buf_dispose(&f);
  }
}

/* As they were before there were rows: with each request as an object. */
static void older_ones_are_read_and_compared(void **state)
{
  pai_replay_options o = { .struct_size = sizeof(o), .check = 1 };
  pai__buf log, older, saved, decisions, end, same;
  pai_replay *r;

  (void)state;
  busy_log(&log, "backfill", 300, 0, 3000);
  pai__buf_init(&older, &pai__libc_alloc);
  r = busy_open(&log, NULL);
  for (const char *at = pai__buf_text(&log), *next; *at != '\0'; at = next) {
    next = strchr(at, '\n') + 1;
    assert_int_equal(pai_replay_step(r, NULL), 1);
    if (strncmp(at, SNAPSHOT, sizeof(SNAPSHOT) - 1) == 0) {
      scribe_save(pai_replay_sched(r), &saved);
      pai__buf_add(&older, saved.data, saved.len);
      pai__buf_dispose(&saved);
    } else {
      pai__buf_add(&older, at, (size_t)(next - at));
    }
  }
  pai_replay_free(r);
  assert_true(busy_count(&log, "\"alike\":") > 3);
  assert_int_equal(busy_count(&older, "\"alike\":"), 0);
  assert_true(busy_count(&older, SNAPSHOT) > 3);
  busy_read_all(&older, &o, &decisions, &end);
  pai__buf_dispose(&decisions);
  r = busy_open(&older, NULL);
  assert_int_equal(pai_replay_to(r, 300 * SECOND, NULL), PAI_OK);
  scribe_save(pai_replay_sched(r), &same);
  scribe_same(&end, &same);
  pai_replay_free(r);
  pai__buf_dispose(&same);
  pai__buf_dispose(&end);
  pai__buf_dispose(&older);
  pai__buf_dispose(&log);
}

static void a_wrong_one_is_found_by_who_checks(void **state)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai__buf log, decisions, saved;
  pai_error *err = NULL;
  pai_replay *r;
  char *second, *digit;
  uint32_t line = 1;
  int rc;

  (void)state;
  o.check = 1;
  busy_log(&log, "fifo", 60, 0, 1000);
  second = strstr(log.data + 1, "\n" SNAPSHOT) + 1;
  for (const char *at = log.data; at < second; at++)
    line += *at == '\n';
  digit = strstr(second, "\"orders\":") + 9;
  *digit = *digit == '9' ? '8' : '9';
  busy_read_all(&log, NULL, &decisions, &saved); /* nobody looks at it */
  r = busy_open(&log, &o);
  while ((rc = pai_replay_step(r, &err)) == 1)
    ;
  assert_int_equal(rc, PAI_EINVAL);
  assert_int_equal(pai_error_line(err), line);
  assert_int_equal(pai_error_column(err), digit - second + 1);
  assert_non_null(strstr(pai_error_help(err), "would have"));
  test_expect_error(err, PAI_EINVAL, "is not what the lines before it make");
  assert_int_equal(pai_replay_line(r), line - 1);
  pai_replay_free(r);
  pai__buf_dispose(&log);
  pai__buf_dispose(&decisions);
  pai__buf_dispose(&saved);
}

static int moody;

static int decide_moody(void *state, void *data, const pai_policy_host *host)
{
  uint64_t id = 0;
  pai_place how = { .struct_size = sizeof(how) };

  (void)state;
  (void)data;
  if (moody)
    return host->give_up(host, PAI_EUSER, "not today");
  while ((id = host->next_waiting(host, id)) != 0)
    if (host->start(host, id, &how) < 0)
      return PAI_ENOMEM;
  return PAI_OK;
}

static const pai_policy moody_policy = { .struct_size = sizeof(pai_policy),
                                         .version = PAI_POLICY_VERSION,
                                         .name = "moody",
                                         .decide = decide_moody };

/* It does not fail again, and starts what was not started then. */
static void behind_a_failure_the_snapshot_counts(void **state)
{
  pai_cluster *c;
  pai_sched_options so = PAI_SCHED_OPTIONS_INIT;
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_sched *s;
  pai__buf log, live, decisions, again;

  (void)state;
  so.table = o.table = &moody_policy;
  o.check = 1;
  assert_int_equal(
    pai_cluster_synthetic(&c, "nodes:1 gpu:4 cpus:8 mem:1G", NULL, NULL),
    PAI_OK);
  assert_int_equal(pai_sched_new(&s, c, &so, NULL), PAI_OK);
  pai_cluster_free(c);
  pai__buf_init(&log, &pai__libc_alloc);
  assert_int_equal(pai_sched_set_log(s, scribe_write, &log, NULL), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 1), PAI_OK);
  moody = 1;
  assert_int_equal(pai_sched_decide(s, 0, NULL), PAI_EUSER);
  moody = 0;
  assert_int_equal(scene_submit(s, 2, 1, 1), PAI_OK);
  scribe_save(s, &live);
  pai_sched_free(s);
  assert_non_null(strstr(pai__buf_text(&log), "\"failed\":true"));
  busy_read_all(&log, &o, &decisions, &again);
  scribe_same(&live, &again);
  pai__buf_dispose(&log);
  pai__buf_dispose(&live);
  pai__buf_dispose(&decisions);
  pai__buf_dispose(&again);
}

/* Of the log before nothing is left but its end. */
static void another_log_may_stand_behind_one(void **state)
{
  pai__buf log, gap, a, b, c, d;
  const char *second;

  (void)state;
  busy_log(&log, "fifo", 100, 0, 1000);
  second = strstr(log.data + 1, "\n" SNAPSHOT) + 1;
  pai__buf_init(&gap, &pai__libc_alloc);
  pai__buf_add(&gap, log.data, (size_t)(busy_line(&log, 4) - log.data));
  pai__buf_str(&gap, second);
  busy_read_all(&log, NULL, &a, &b);
  busy_read_all(&gap, NULL, &c, &d);
  scribe_same(&b, &d);
  pai__buf_dispose(&log);
  pai__buf_dispose(&gap);
  pai__buf_dispose(&a);
  pai__buf_dispose(&b);
  pai__buf_dispose(&c);
  pai__buf_dispose(&d);
}

static int go_somewhere(const pai_alloc *alloc, void *user_data)
{
  pai__buf *log = user_data;
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_replay *r;
  int rc;

  o.alloc = alloc;
  o.check = 1;
  rc = pai_replay_new(&r, busy_read, log, log->len, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_replay_to(r, 15 * SECOND, NULL);
  if (rc == PAI_OK)
    rc = pai_replay_to(r, 3 * SECOND, NULL);
  if (rc == PAI_OK)
    do
      rc = pai_replay_step(r, NULL);
    while (rc == 1);
  if (rc == PAI_OK)
    assert_int_equal(scene_now(pai_replay_sched(r)), 20 * SECOND);
  pai_replay_free(r);
  return rc;
}

static int write_snapshots(const pai_alloc *alloc, void *user_data)
{
  pai_sched_log_options o = { .struct_size = sizeof(o),
                              .snapshots = 1,
                              .every = 1 };
  pai_sched *s = scene_new("nodes:1 gpu:4 cpus:8 mem:1G", NULL, NULL, alloc);
  pai__buf log, decisions, saved, live;
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  (void)user_data;
  pai__buf_init(&log, &pai__libc_alloc);
  if (rc == PAI_OK)
    rc = pai_sched_set_log_options(s, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_set_log(s, scribe_write, &log, NULL);
  for (uint64_t id = 1; id <= 20 && rc == PAI_OK; id++) {
    rc = scene_submit(s, id, 1, 1);
    if (rc == PAI_OK)
      rc = pai_sched_decide(s, 0, NULL);
    rc = rc < 0 ? rc : PAI_OK;
  }
  if (rc == PAI_OK && alloc->ctx != NULL) {
    /* Also where a snapshot was left out. */
    busy_read_all(&log, NULL, &decisions, &saved);
    pai__buf_init(&live, &pai__libc_alloc);
    if (pai_sched_save(s, scribe_write, &live, NULL) == PAI_OK)
      scribe_same(&live, &saved);
    pai__buf_dispose(&live);
    pai__buf_dispose(&decisions);
    pai__buf_dispose(&saved);
  }
  pai_sched_free(s);
  pai__buf_dispose(&log);
  return rc;
}

/* Each snapshot is what the lines before it make, whoever decides. */
static void those_of_hived_are_right(void **state)
{
  pai_replay_options o = { .struct_size = sizeof(o), .check = 1 };
  pai__buf log;
  pai_replay *r;
  const char *at;
  int n = 0, rc;

  (void)state;
  busy_log(&log, "hived", 500, 0, 1000);
  for (at = pai__buf_text(&log); (at = strstr(at, "{\"snapshot\"")) != NULL;
       at++)
    n++;
  assert_true(n > 5);
  r = busy_open(&log, &o);
  do
    rc = pai_replay_step(r, NULL);
  while (rc == 1);
  assert_int_equal(rc, 0);
  assert_int_equal(scene_now(pai_replay_sched(r)), 500 * SECOND);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void no_memory_is_survived(void **state)
{
  pai__buf log;

  (void)state;
  busy_log(&log, "fifo", 20, 0, 1000);
  test_faults(go_somewhere, &log);
  test_faults(write_snapshots, NULL);
  pai__buf_dispose(&log);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(snapshots_come_when_they_are_worth_it),
    cmocka_unit_test(every_64_kib_if_nobody_says),
    cmocka_unit_test(who_reads_all_skips_them),
    cmocka_unit_test(older_ones_are_read_and_compared),
    cmocka_unit_test(a_wrong_one_is_found_by_who_checks),
    cmocka_unit_test(behind_a_failure_the_snapshot_counts),
    cmocka_unit_test(another_log_may_stand_behind_one),
    cmocka_unit_test(those_of_hived_are_right),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
