/* Snapshots in the middle of a log. */
#include "cases.h"
#include "busy.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define SNAPSHOT "{\"snapshot\":"

TEST(snapshots_come_when_they_are_worth_it)
{
  pai__buf *log = busy_log("fifo", 300, 0, 2000);
  size_t since = 0, last = 0;
  int n = 0;

  for (const char *at = pai__buf_text(log); *at != '\0';) {
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
  log = busy_log("fifo", 300, 0, 0);
  assert_int_equal(busy_count(log, SNAPSHOT), 1);
}

TEST(every_64_kib_if_nobody_says)
{
  pai_sched *s = scene_new("nodes:1 gpu:4 cpus:8 mem:1G", NULL, NULL, NULL);
  pai_sched_log_options o = { .struct_size = sizeof(o), .snapshots = 1 };
  pai_error *err;
  pai__buf *log;

  assert_non_null(s);
  log = busy_text();
  assert_ok(pai_sched_set_log_options(s, &o, NULL));
  assert_ok(pai_sched_set_log(s, scribe_write, log, NULL));
  while (log->len < 65000)
    assert_ok(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME }, NULL));
  assert_int_equal(busy_count(log, SNAPSHOT), 1);
  while (log->len < 67000)
    assert_ok(
      scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME }, NULL));
  assert_int_equal(busy_count(log, SNAPSHOT), 2);
  o.struct_size = 3;
  assert_fails(pai_sched_set_log_options(s, &o, &err), err, PAI_EINVAL,
               "struct_size");
  assert_int_equal(pai_sched_set_log_options(s, NULL, NULL), PAI_EINVAL);
  pai_sched_free(s);
}

TEST(who_reads_all_skips_them)
{
  static const char *const policies[] = { "priority", "backfill", "fair",
                                          "hived" };
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;

  o.check = 1;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    const pai__buf *with = busy_log(policies[i], 200, 5, 1000);
    pai__buf *skipped = busy_text(), *none = busy_text(), *all = busy_text();
    const pai__buf *end = busy_read_all(with, NULL, skipped);

    assert_true(busy_count(with, SNAPSHOT) > 3);
    scribe_same(end,
                busy_read_all(busy_log(policies[i], 200, 5, 0), NULL, none));
    scribe_same(end, busy_read_all(with, &o, all));
    scribe_same(skipped, none);
    scribe_same(skipped, all);
  }
}

/* As they were before there were rows: with each request as an object. */
TEST(older_ones_are_read_and_compared)
{
  pai_replay_options o = { .struct_size = sizeof(o), .check = 1 };
  pai__buf *log, *older, *saved, *end;
  pai_replay *r;

  log = busy_log("backfill", 300, 0, 3000);
  older = busy_text();
  r = busy_open(log, NULL);
  for (const char *at = pai__buf_text(log), *next; *at != '\0'; at = next) {
    next = strchr(at, '\n') + 1;
    assert_int_equal(pai_replay_step(r, NULL), 1);
    if (strncmp(at, SNAPSHOT, sizeof(SNAPSHOT) - 1) == 0) {
      saved = busy_save(pai_replay_sched(r));
      pai__buf_add(older, saved->data, saved->len);
    } else {
      pai__buf_add(older, at, (size_t)(next - at));
    }
  }
  assert_true(busy_count(log, "\"alike\":") > 3);
  assert_int_equal(busy_count(older, "\"alike\":"), 0);
  assert_true(busy_count(older, SNAPSHOT) > 3);
  end = busy_read_all(older, &o, busy_text());
  r = busy_open(older, NULL);
  assert_ok(pai_replay_to(r, 300 * SECOND, NULL));
  scribe_same(end, busy_save(pai_replay_sched(r)));
}

TEST(a_wrong_one_is_found_by_who_checks)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai__buf *log;
  pai_error *err = NULL;
  pai_replay *r;
  char *second, *digit;
  uint32_t line = 1;
  int rc;

  o.check = 1;
  log = busy_log("fifo", 60, 0, 1000);
  second = strstr(log->data + 1, "\n" SNAPSHOT) + 1;
  for (const char *at = log->data; at < second; at++)
    line += *at == '\n';
  digit = strstr(second, "\"orders\":") + 9;
  *digit = *digit == '9' ? '8' : '9';
  (void)busy_read_all(log, NULL, busy_text()); /* nobody looks at it */
  r = busy_open(log, &o);
  while ((rc = pai_replay_step(r, &err)) == 1)
    ;
  assert_int_equal(rc, PAI_EINVAL);
  assert_int_equal(pai_error_line(err), line);
  assert_int_equal(pai_error_column(err), digit - second + 1);
  assert_has(pai_error_help(err), "instead of");
  test_expect_error(err, PAI_EINVAL, "differs from the state after the lines");
  assert_int_equal(pai_replay_line(r), line - 1);
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
TEST(behind_a_failure_the_snapshot_counts)
{
  pai_cluster *c;
  pai_sched_options so = PAI_SCHED_OPTIONS_INIT;
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_sched *s;
  pai__buf *log, *live;

  so.table = o.table = &moody_policy;
  o.check = 1;
  assert_ok(
    pai_cluster_synthetic(&c, "nodes:1 gpu:4 cpus:8 mem:1G", NULL, NULL));
  assert_ok(pai_sched_new(&s, c, &so, NULL));
  pai_cluster_free(c);
  log = busy_text();
  assert_ok(pai_sched_set_log(s, scribe_write, log, NULL));
  assert_ok(scene_submit(s, 1, 1, 1));
  moody = 1;
  assert_int_equal(pai_sched_decide(s, 0, NULL), PAI_EUSER);
  moody = 0;
  assert_ok(scene_submit(s, 2, 1, 1));
  live = busy_save(s);
  pai_sched_free(s);
  assert_has(pai__buf_text(log), "\"failed\":true");
  scribe_same(live, busy_read_all(log, &o, busy_text()));
}

/* Of the log before nothing is left but its end. */
TEST(another_log_may_stand_behind_one)
{
  pai__buf *log, *gap;
  const char *second;

  log = busy_log("fifo", 100, 0, 1000);
  second = strstr(log->data + 1, "\n" SNAPSHOT) + 1;
  gap = busy_text();
  pai__buf_add(gap, log->data, (size_t)(busy_line(log, 4) - log->data));
  pai__buf_str(gap, second);
  scribe_same(busy_read_all(log, NULL, busy_text()),
              busy_read_all(gap, NULL, busy_text()));
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
  pai__buf log = test_buf(), live;
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  (void)user_data;
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
    pai__buf_init(&live, &pai__libc_alloc);
    if (pai_sched_save(s, scribe_write, &live, NULL) == PAI_OK)
      scribe_same(&live, busy_read_all(&log, NULL, busy_text()));
    pai__buf_dispose(&live);
  }
  pai_sched_free(s);
  pai__buf_dispose(&log);
  return rc;
}

/* Each snapshot is what the lines before it make, whoever decides. */
TEST(those_of_hived_are_right)
{
  pai_replay_options o = { .struct_size = sizeof(o), .check = 1 };
  pai__buf *log = busy_log("hived", 500, 0, 1000);
  pai_replay *r;
  const char *at;
  int n = 0, rc;

  for (at = pai__buf_text(log); (at = strstr(at, "{\"snapshot\"")) != NULL;
       at++)
    n++;
  assert_true(n > 5);
  r = busy_open(log, &o);
  do
    rc = pai_replay_step(r, NULL);
  while (rc == 1);
  assert_int_equal(rc, 0);
  assert_int_equal(scene_now(pai_replay_sched(r)), 500 * SECOND);
}

TEST(no_memory_is_survived)
{
  pai__buf *log = busy_log("fifo", 20, 0, 1000);

  test_faults(go_somewhere, log);
  test_faults(write_snapshots, NULL);
}

TEST_AROUND_ALL(NULL, busy_free);
