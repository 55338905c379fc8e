/* Logs that are read again, from any time on. */
#include "busy.h"

#include "base/prng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define MAY INT64_C(1777593600000000) /* 2026-05-01 */
#define SNAPSHOT "{\"snapshot\":"

/* All of it, decisions too. */
static void read_all(const pai__buf *log, const pai_replay_options *o,
                     pai__buf *decisions, pai__buf *state)
{
  pai_replay *r = busy_open(log, o);
  int rc;

  pai__buf_init(decisions, &pai__libc_alloc);
  while ((rc = pai_replay_step(r, NULL)) == 1)
    for (size_t i = 0; i < pai_replay_decisions(r); i++)
      assert_int_equal(pai_sched_write_decision(pai_replay_sched(r), i,
                                                scribe_write, decisions, NULL),
                       PAI_OK);
  assert_int_equal(rc, 0);
  scribe_save(pai_replay_sched(r), state);
  pai_replay_free(r);
}

/* --- snapshots in the middle ---------------------------------------------- */

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
    read_all(&with, NULL, &a, &b);
    read_all(&without, NULL, &c, &d);
    read_all(&with, &o, &e, &f);
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
  read_all(&log, NULL, &decisions, &saved); /* nobody looks at it */
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
  read_all(&log, &o, &decisions, &again);
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
  read_all(&log, NULL, &a, &b);
  read_all(&gap, NULL, &c, &d);
  scribe_same(&b, &d);
  pai__buf_dispose(&log);
  pai__buf_dispose(&gap);
  pai__buf_dispose(&a);
  pai__buf_dispose(&b);
  pai__buf_dispose(&c);
  pai__buf_dispose(&d);
}

/* --- any time ------------------------------------------------------------- */

/* What reading from the beginning gives, second by second. */
static void states(const pai__buf *log, pai__buf *list, int n, pai_time begin)
{
  pai_replay *r = busy_open(log, NULL);
  int rc = pai_replay_step(r, NULL);

  for (int i = 0; i < n; i++) {
    while (rc == 1 && scene_now(pai_replay_sched(r)) <= begin + i * SECOND) {
      if (list[i].len != 0)
        pai__buf_dispose(&list[i]);
      scribe_save(pai_replay_sched(r), &list[i]);
      rc = pai_replay_step(r, NULL);
    }
  }
  pai_replay_free(r);
}

static void is_at(pai_replay *r, pai_time time, const pai__buf *expected)
{
  pai__buf got;

  assert_int_equal(pai_replay_to(r, time, NULL), PAI_OK);
  scribe_save(pai_replay_sched(r), &got);
  scribe_same(expected, &got);
  pai__buf_dispose(&got);
}

static void check_any_time(const char *policy, uint64_t every, pai_time begin)
{
  enum { N = 1000, JUMPS = 150 };
  pai__buf *list = calloc(N + 1, sizeof(*list)), log;
  pai__prng random = { 3 };
  pai_replay *r;

  assert_non_null(list);
  busy_log(&log, policy, N, begin, every);
  assert_true(log.len > 250000);
  states(&log, list, N + 1, begin);
  r = busy_open(&log, NULL);
  for (int i = 0; i < JUMPS; i++) {
    int to = (int)pai__prng_below(&random, N);

    if (i % 50 == 49) {
      pai_replay_free(r);
      r = busy_open(&log, NULL);
    }
    is_at(r, begin + to * SECOND, &list[to]);
    is_at(r, begin + to * SECOND + SECOND / 2, &list[to]);
  }
  is_at(r, begin, &list[0]);
  is_at(r, begin + N * SECOND, &list[N]);
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  pai_replay_free(r);
  for (int i = 0; i <= N; i++)
    pai__buf_dispose(&list[i]);
  free(list);
  pai__buf_dispose(&log);
}

static void any_time_is_as_if_read_from_the_beginning(void **state)
{
  (void)state;
  static const char *const policies[] = { "fifo",     "backfill", "priority",
                                          "capacity", "fair",     "k8s",
                                          "hived" };

  for (size_t i = 0; i < PAI__LEN(policies); i++)
    check_any_time(policies[i], 3000, MAY);
  check_any_time("priority", 0, 0);
}

static int bytes;

static ptrdiff_t counted_read(void *log, uint64_t offset, char *buffer,
                              size_t size)
{
  bytes += (int)size;
  return busy_read(log, offset, buffer, size);
}

static void little_is_read_for_it(void **state)
{
  pai__buf log;
  pai_replay *r;

  (void)state;
  busy_log(&log, "fifo", 5000, 0, 1);
  assert_true(log.len > 1500000);
  bytes = 0;
  assert_int_equal(pai_replay_new(&r, counted_read, &log, log.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_replay_to(r, 3456 * SECOND, NULL), PAI_OK);
  assert_true((size_t)bytes < log.len / 2);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void line_numbers_are_those_of_the_log(void **state)
{
  pai__buf log;
  pai_replay *r;
  uint64_t n;

  (void)state;
  busy_log(&log, "fifo", 100, 0, 1000);
  pai__buf_str(&log, "\n\n{\"time\":200000000,\"event\":\"tim\"}\n");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_line(r), 0);
  assert_int_equal(pai_replay_to(r, 99 * SECOND, NULL), PAI_OK);
  n = pai_replay_line(r);
  assert_memory_equal(busy_line(&log, (int)n + 1), "{\"time\":100000000,", 18);
  assert_int_equal(pai_replay_step(r, NULL), 1);
  assert_int_equal(pai_replay_line(r), n + 1);
  for (pai_error *err = NULL;;) {
    int rc = pai_replay_step(r, &err);

    if (rc == 1)
      continue;
    assert_int_equal(pai_error_line(err), pai_replay_line(r) + 1);
    assert_int_equal(pai_error_column(err), 27);
    assert_string_equal(pai_error_pointer(err), "/event");
    test_expect_error(err, PAI_EINVAL, "cannot be \"tim\"");
    break;
  }
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

/* --- ranges --------------------------------------------------------------- */

static void the_range_is_told(void **state)
{
  pai__buf log;
  pai_replay *r;
  pai_error *err;
  pai_time begin, end;

  (void)state;
  busy_log(&log, "fifo", 20, MAY, 0);
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(begin, MAY);
  assert_int_equal(end, MAY + 20 * SECOND);
  assert_int_equal(pai_replay_to(r, MAY - 1, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err), "it goes from 2026-05-01 00:00:00 "
                                           "to 2026-05-01 00:00:20");
  test_expect_error(err, PAI_ENOTFOUND, "before the beginning");
  assert_null(pai_replay_sched(r));
  assert_int_equal(pai_replay_to(r, MAY + 20 * SECOND + 1, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "behind the end");
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

/* Somebody is writing it. */
static void a_line_that_is_cut_off_does_not_count(void **state)
{
  pai__buf log;
  pai_replay *r;
  pai_time begin, end;
  pai_error *err = NULL;
  int rc;

  (void)state;
  busy_log(&log, "fifo", 20, 0, 0);
  pai__buf_str(&log, "{\"time\":99000000,\"event\":\"ti");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(end, 20 * SECOND);
  assert_int_equal(pai_replay_to(r, end, NULL), PAI_OK);
  assert_int_equal(pai_replay_step_until(r, INT64_MAX, NULL), 0);
  while ((rc = pai_replay_step(r, &err)) == 1)
    ;
  test_expect_error(err, rc, "");
  pai_replay_free(r);
  log.len -= 10; /* it is whole but for its newline */
  pai__buf_str(&log, "\":0}");
  log.len = (size_t)(strstr(log.data, "{\"time\":99") - log.data);
  pai__buf_str(&log, "{\"time\":99000000,\"event\":\"time\"}");
  r = busy_open(&log, NULL);
  assert_int_equal(pai_replay_range(r, &begin, &end, NULL), PAI_OK);
  assert_int_equal(end, 99 * SECOND);
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static const struct {
  const char *text, *part;
  uint32_t line;
} no_logs[] = {
  { "", "is empty", 0 },
  { "\n\n", "is empty", 0 },
  { "{\"time\":1,\"event\":\"time\"}\n", "no snapshot", 1 },
  { "\n[]\n", "no line of a scheduler's log", 2 },
  { "\n\n{\"snapshot\":1}\n", "no line of a scheduler's log", 3 },
  { "{\"snapshot\":1,\"time\":0.5}", "has no time", 1 },
  { "{\"snapshot\"", "", 1 },
};

static void what_is_no_log_is_told(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(no_logs); i++) {
    pai__buf log;
    pai_replay *r;
    pai_time begin = 1, end = 1;
    pai_error *err = NULL;

    pai__buf_init(&log, &pai__libc_alloc);
    pai__buf_str(&log, no_logs[i].text);
    r = busy_open(&log, NULL);
    assert_int_equal(pai_replay_range(r, &begin, &end, &err), PAI_EINVAL);
    assert_int_equal(pai_error_line(err), no_logs[i].line);
    test_expect_error(err, PAI_EINVAL, no_logs[i].part);
    assert_int_equal(begin, 0);
    assert_int_equal(pai_replay_to(r, 0, NULL), PAI_EINVAL);
    assert_int_equal(pai_replay_step_until(r, 0, NULL), PAI_EINVAL);
    pai_replay_free(r);
    pai__buf_dispose(&log);
  }
}

static ptrdiff_t never(void *data, uint64_t offset, char *buffer, size_t size)
{
  (void)offset;
  (void)buffer;
  (void)size;
  return *(ptrdiff_t *)data;
}

static void what_cannot_be_read_is_told(void **state)
{
  static const struct {
    ptrdiff_t answer;
    int code;
  } answers[] = { { PAI_EPERM, PAI_EPERM },
                  { 0, PAI_EIO },
                  { 1 << 20, PAI_EIO } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    ptrdiff_t answer = answers[i].answer;
    pai_replay *r;
    pai_error *err;

    assert_int_equal(pai_replay_new(&r, never, &answer, 100, NULL, NULL),
                     PAI_OK);
    assert_int_equal(pai_replay_step(r, &err), answers[i].code);
    test_expect_error(err, answers[i].code, "cannot be read at byte 0");
    pai_replay_free(r);
  }
}

static void files_are_read(void **state)
{
  char path[] = "/tmp/pai-replay-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
  pai__buf log;
  pai_replay *r;
  pai_error *err;

  (void)state;
  assert_non_null(f);
  busy_log(&log, "fifo", 20, 0, 1000);
  assert_int_equal(fwrite(log.data, 1, log.len, f), log.len);
  (void)fclose(f);
  assert_int_equal(pai_replay_open(&r, path, NULL, NULL), PAI_OK);
  assert_int_equal(pai_replay_to(r, 10 * SECOND, NULL), PAI_OK);
  assert_int_equal(scene_now(pai_replay_sched(r)), 10 * SECOND);
  pai_replay_free(r);
  (void)remove(path);
  assert_int_equal(pai_replay_open(&r, path, NULL, &err), PAI_ENOTFOUND);
  assert_null(r);
  test_expect_error(err, PAI_ENOTFOUND, "cannot read /tmp/pai-replay");
  assert_int_equal(pai_replay_open(&r, "/", NULL, &err), PAI_EIO);
  test_expect_error(err, PAI_EIO, "cannot read /");
  pai__buf_dispose(&log);
}

static void another_policy_decides(void **state)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai__buf log, decisions, saved;
  pai_error *err;
  pai_replay *r;
  int rc;

  (void)state;
  busy_log(&log, "priority", 200, 0, 1000);
  o.policy = "fifo";
  r = busy_open(&log, &o);
  while ((rc = pai_replay_step(r, NULL)) == 1)
    ;
  assert_int_equal(rc, 0);
  assert_true(pai_replay_skipped(r) > 0);
  scribe_save(pai_replay_sched(r), &saved);
  assert_non_null(strstr(pai__buf_text(&saved), "\"name\":\"fifo\""));
  assert_int_equal(pai_replay_to(r, 50 * SECOND, NULL), PAI_OK);
  assert_int_equal(pai_replay_to(r, 200 * SECOND, NULL), PAI_OK);
  pai__buf_init(&decisions, &pai__libc_alloc);
  assert_int_equal(
    pai_sched_save(pai_replay_sched(r), scribe_write, &decisions, NULL),
    PAI_OK);
  scribe_same(&saved, &decisions);
  pai_replay_free(r);
  o.policy = "best";
  r = busy_open(&log, &o);
  assert_int_equal(pai_replay_step(r, &err), PAI_ENOTFOUND);
  assert_int_equal(pai_error_line(err), 1);
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'best'");
  pai_replay_free(r);
  pai__buf_dispose(&log);
  pai__buf_dispose(&decisions);
  pai__buf_dispose(&saved);
}

/* --- times ---------------------------------------------------------------- */

static const struct {
  const char *text;
  pai_time time; /* -1: it is none */
} times[] = {
  { "2026-05-01", MAY },
  { "2026-05-01 14:05", MAY + (14 * 60 + 5) * 60 * SECOND },
  { "2026-05-01 14:05:06", MAY + ((14 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01T14:05:06Z", MAY + ((14 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01T14:05:06.25Z",
    MAY + ((14 * 60 + 5) * 60 + 6) * SECOND + SECOND / 4 },
  { "2026-05-01T14:05:06+02:00", MAY + ((12 * 60 + 5) * 60 + 6) * SECOND },
  { "2026-05-01 14:05 +0200", MAY + (12 * 60 + 5) * 60 * SECOND },
  { "2026-05-01 14:05-01", MAY + (15 * 60 + 5) * 60 * SECOND },
  { "1970-01-01", 0 },
  { "2024-02-29", INT64_C(1709164800) * SECOND },
  { "2000-02-29", INT64_C(951782400) * SECOND },
  { "@12", 12 * SECOND },
  { "@12.5", 12 * SECOND + SECOND / 2 },
  { "@-3.000001", -3 * SECOND - 1 },
  { "+2h", MAY + 7200 * SECOND },
  { "+1d12h", MAY + 129600 * SECOND },
  { "+1.5h", MAY + 5400 * SECOND },
  { "+90", MAY + 90 * SECOND },
  { "-30s", MAY - 10 * SECOND },
  { "-0", MAY + 20 * SECOND },
  { "begin", MAY },
  { "end", MAY + 20 * SECOND },
  { "", -1 },
  { "2026-05", -1 },
  { "2026-13-01", -1 },
  { "2026-00-01", -1 },
  { "2026-02-29", -1 },
  { "2100-02-29", -1 },
  { "2026-04-31", -1 },
  { "2026-05-01 24:00", -1 },
  { "2026-05-01 14:60", -1 },
  { "2026-05-01 14", -1 },
  { "2026-05-01 14:05:6", -1 },
  { "2026-05-01 14:05:066", -1 },
  { "2026-05-01 14:05:61", -1 },
  { "2026-05-01 14:05 +25:00", -1 },
  { "2026-05-01 14:05 CET", -1 },
  { "2026-05-01x", -1 },
  { "@", -1 },
  { "@12.", -1 },
  { "@12s", -1 },
  { "+", -1 },
  { "+2y", -1 },
  { "+99999999999999999999h", -1 },
  { "+999999999999w", -1 },
  { "now", -1 },
};

static void times_are_read(void **state)
{
  pai__buf log;
  pai_replay *r;

  (void)state;
  busy_log(&log, "fifo", 20, MAY, 0);
  r = busy_open(&log, NULL);
  for (size_t i = 0; i < PAI__LEN(times); i++) {
    pai_error *err = NULL;
    pai_time time = 7;
    int rc = pai_replay_time(r, times[i].text, &time, &err);

    if (times[i].time != -1) {
      if (rc != PAI_OK || time != times[i].time)
        fail_msg("'%s' is %" PRId64, times[i].text, time);
      continue;
    }
    if (rc != PAI_EINVAL || time != 0)
      fail_msg("'%s' was read: %" PRId64, times[i].text, time);
    test_expect_error(err, PAI_EINVAL, "is no time");
  }
  pai_replay_free(r);
  pai__buf_dispose(&log);
}

static void times_are_shown_as_they_are_read(void **state)
{
  static const pai_time list[] = { 0,
                                   INT64_C(951782400) * SECOND,
                                   INT64_C(1709164800) * SECOND,
                                   INT64_C(4102444799) * SECOND,
                                   -86400 * SECOND,
                                   -1 * SECOND };
  pai__buf logs[2];

  (void)state;
  busy_log(&logs[0], "fifo", 5, MAY, 0);
  busy_log(&logs[1], "fifo", 5, 0, 0);
  for (int k = 0; k < 2; k++) {
    pai_replay *r = busy_open(&logs[k], NULL);
    char text[PAI_REPLAY_TIME];

    for (size_t i = 0; i < PAI__LEN(list); i++) {
      pai_time back;

      (void)pai_replay_show_time(r, list[i], text);
      assert_int_equal(pai_replay_time(r, text, &back, NULL), PAI_OK);
      assert_int_equal(back, list[i]);
    }
    assert_string_equal(pai_replay_show_time(r, 3 * SECOND + 1, text),
                        k == 0 ? "1970-01-01 00:00:03" : "@3.000001");
    (void)pai_replay_show_time(r, INT64_MIN, text);
    (void)pai_replay_show_time(r, INT64_MAX, text);
    pai_replay_free(r);
    pai__buf_dispose(&logs[k]);
  }
}

/* --- the rest ------------------------------------------------------------- */

static void a_broken_contract_is_told(void **state)
{
  pai_replay_options o = { .struct_size = 4 };
  pai_replay *r;
  pai_time t;

  (void)state;
  assert_int_equal(pai_replay_new(&r, NULL, NULL, 0, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_new(NULL, busy_read, NULL, 0, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_replay_new(&r, busy_read, NULL, 0, &o, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_replay_open(&r, NULL, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_open(&r, "x", &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_step(NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_to(NULL, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_range(NULL, &t, &t, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_time(NULL, "x", &t, NULL), PAI_EINVAL);
  assert_null(pai_replay_sched(NULL));
  assert_int_equal(pai_replay_decisions(NULL), 0);
  assert_int_equal(pai_replay_skipped(NULL), 0);
  assert_int_equal(pai_replay_line(NULL), 0);
  pai_replay_free(NULL);
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
    read_all(&log, NULL, &decisions, &saved);
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
    cmocka_unit_test(a_wrong_one_is_found_by_who_checks),
    cmocka_unit_test(behind_a_failure_the_snapshot_counts),
    cmocka_unit_test(another_log_may_stand_behind_one),
    cmocka_unit_test(any_time_is_as_if_read_from_the_beginning),
    cmocka_unit_test(those_of_hived_are_right),
    cmocka_unit_test(little_is_read_for_it),
    cmocka_unit_test(line_numbers_are_those_of_the_log),
    cmocka_unit_test(the_range_is_told),
    cmocka_unit_test(a_line_that_is_cut_off_does_not_count),
    cmocka_unit_test(what_is_no_log_is_told),
    cmocka_unit_test(what_cannot_be_read_is_told),
    cmocka_unit_test(files_are_read),
    cmocka_unit_test(another_policy_decides),
    cmocka_unit_test(times_are_read),
    cmocka_unit_test(times_are_shown_as_they_are_read),
    cmocka_unit_test(a_broken_contract_is_told),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
