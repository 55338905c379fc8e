/*
 * Rows of seconds become rows of minutes and hours; rings overwrite their
 * oldest rows; a killed process loses what was not flushed, a full disk
 * nothing of the last minutes; 100 nodes and 30 days fit into 50 MB.
 */
#include "cases.h"
#include "files.h"

#include "series/series.h"
#include "series/usage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START INT64_C(1767229200) /* 2026-01-01T01:00:00Z */
#define HOUR 3600
#define DAY (24 * HOUR)

static char folder[64];
static char said[256];

static void on_log(void *user_data, int level, const char *text)
{
  (void)user_data;
  (void)level;
  (void)snprintf(said, sizeof(said), "%s", text);
}

static pai__series_store *open_series(void)
{
  const pai__log log = { on_log, NULL, PAI_LOG_DEBUG };
  pai__series_store *s;

  said[0] = '\0';
  assert_ok(
    pai__series_open(&s, &pai__libc_alloc, &log, test_string("%s/s", folder)));
  return s;
}

static void put(pai__series_store *s, const char *name, int64_t now,
                int64_t cpu)
{
  const int64_t values[PAI__SERIES_METRICS] = {
    cpu, -1, -1, -1, -1, -1, -1, -1
  };

  assert_ok(pai__series_put(s, PAI__SERIES_MACHINE, name, now, values));
}

/* The points of a machine's CPUs, as a text. */
static const char *points(pai__series_store *s, const char *name, int64_t from,
                          int64_t to, uint32_t step, int64_t now)
{
  static char text[16 * PAI__SERIES_POINTS];
  static int64_t out[PAI__SERIES_POINTS][PAI__SERIES_METRICS];
  pai__series_range r =
    pai__series_plan(PAI__SERIES_MACHINE, from, to, step, now);
  size_t n = pai__series_points(&r), len = 0;

  assert_true(n <= PAI__SERIES_POINTS);
  assert_ok(pai__series_read(s, PAI__SERIES_MACHINE, name, &r, out));
  len = (size_t)snprintf(text, sizeof(text), "%u:", (unsigned)r.step);
  for (size_t i = 0; i < n; i++)
    len += (size_t)snprintf(text + len, sizeof(text) - len, " %lld",
                            (long long)out[i][0]);
  return text;
}

static int begin(void **state)
{
  (void)state;
  return test_make_folder(folder) ? 0 : -1;
}

static int end(void **state)
{
  (void)state;
  return test_remove(folder);
}

/* --- values --------------------------------------------------------------- */

TEST(values_are_packed)
{
  assert_int_equal(pai__series_unpack(pai__series_pack(-1)), -1);
  assert_int_equal(pai__series_unpack(pai__series_pack(INT64_MIN)), -1);
  for (int64_t v = 0; v < 4096; v++)
    assert_int_equal(pai__series_unpack(pai__series_pack(v)), v);
  for (int64_t v = 4096; v < INT64_C(4) << 40; v += v / 3 + 1) {
    int64_t back = pai__series_unpack(pai__series_pack(v));

    assert_true((back > v ? back - v : v - back) * 4096 <= v);
  }
  assert_true(pai__series_unpack(pai__series_pack(INT64_MAX)) >
              INT64_C(4000000000000));
}

/* --- levels --------------------------------------------------------------- */

TEST(seconds_minutes_hours)
{
  pai__series_store *s = open_series();

  for (int64_t t = START; t < START + 2 * HOUR + 30; t++) {
    put(s, "box", t, (t - START) / 60 * 100); /* a hundred more each minute */
    if (t % 10 == 0)
      pai__series_flush(s, 0, 1);
  }
  assert_string_equal(points(s, "box", START + 2 * HOUR, START + 2 * HOUR + 4,
                             1, START + 2 * HOUR + 29),
                      "1: 12000 12000 12000 12000");
  assert_string_equal(
    points(s, "box", START, START + 240, 60, START + 2 * HOUR + 29),
    "60: 0 100 200 300");
  /* the minute that is not over, too */
  assert_string_equal(points(s, "box", START + 2 * HOUR - 60,
                             START + 2 * HOUR + 30, 60, START + 2 * HOUR + 29),
                      "60: 11900 12000");
  assert_string_equal(
    points(s, "box", START, START + 3 * HOUR, HOUR, START + 2 * HOUR + 29),
    "3600: 2950 8952 12000");
  /* means of several steps, and what is not known */
  assert_string_equal(
    points(s, "box", START - 120, START + 240, 120, START + 2 * HOUR + 29),
    "120: -1 50 250");
  assert_string_equal(
    points(s, "other", START, START + 120, 60, START + 2 * HOUR + 29),
    "60: -1 -1");
  assert_int_equal(pai__series_last(s, PAI__SERIES_MACHINE, "box", 0, START),
                   12000);
  assert_int_equal(
    pai__series_last(s, PAI__SERIES_MACHINE, "box", 0, START + 3 * HOUR), -1);
  pai__series_close(s);
}

/* What a ring no longer has is not shown as if it were old. */
TEST(rings_overwrite)
{
  pai__series_store *s = open_series();
  int64_t now = START;

  for (; now < START + 3 * DAY; now += 60) {
    put(s, "box", now, (now - START) / DAY * 1000 + 5);
    if (now % 1000 == 0)
      pai__series_flush(s, 0, 1);
  }
  now -= 60;
  /* a gap: the machine was away for a day */
  put(s, "box", now + DAY, 7000);
  now += DAY;
  assert_string_equal(points(s, "box", START, START + 3 * HOUR, HOUR, now),
                      "3600: 5 5 5");
  assert_string_equal(points(s, "box", now - 120, now + 1, 60, now),
                      "60: -1 -1 7000");
  assert_string_equal(points(s, "box", now - 2 * HOUR, now - HOUR, 1800, now),
                      "1800: -1 -1 -1");
  pai__series_close(s);
}

TEST(a_range_has_a_limit)
{
  pai__series_range r =
    pai__series_plan(PAI__SERIES_MACHINE, 0, INT64_MAX, 1, START);

  assert_int_equal(r.level, 2);
  assert_true(pai__series_points(&r) <= 744);
  r = pai__series_plan(PAI__SERIES_MACHINE, START - 86000, START, 1, START);
  assert_int_equal(r.step, 60);
  r = pai__series_plan(PAI__SERIES_MACHINE, START, START - 5, 1, START);
  assert_int_equal(pai__series_points(&r), 0);
  r = pai__series_plan(PAI__SERIES_MACHINE, INT64_MIN, INT64_MIN + 1, 0, 1);
  assert_int_equal(pai__series_points(&r), 0);
}

/* --- places --------------------------------------------------------------- */

TEST(an_ended_task_gives_its_place)
{
  uint32_t slots = pai__series_forms[PAI__SERIES_TASK].slots;
  const int64_t values[PAI__SERIES_METRICS] = { 1000 };
  pai__series_store *s = open_series();
  size_t i = 0;
  static int64_t out[PAI__SERIES_POINTS][PAI__SERIES_METRICS];
  pai__series_range r;

  for (uint32_t k = 0; k < slots; k++)
    assert_ok(pai__series_put(s, PAI__SERIES_TASK, test_string("%u/w/0", k),
                              START + k, values));
  assert_int_equal(
    pai__series_put(s, PAI__SERIES_TASK, "new/w/0", START + 60, values),
    PAI_ELIMIT); /* all may still run */
  assert_ok(
    pai__series_put(s, PAI__SERIES_TASK, "new/w/0", START + 4 * HOUR, values));
  assert_null(pai__series_next(s, PAI__SERIES_TASK, "0/w/", &i));
  i = 0;
  assert_string_equal(pai__series_next(s, PAI__SERIES_TASK, "new/", &i),
                      "new/w/0");
  /* and nothing of the earlier task is the new one's */
  pai__series_flush(s, 0, 1);
  r = pai__series_plan(PAI__SERIES_TASK, START, START + 60, 60,
                       START + 4 * HOUR);
  assert_ok(pai__series_read(s, PAI__SERIES_TASK, "new/w/0", &r, out));
  assert_int_equal(out[0][0], -1);
  assert_int_equal(pai__series_put(s, PAI__SERIES_TASK,
                                   test_string("%0*d", PAI__SERIES_NAME, 0),
                                   START, values),
                   PAI_ELIMIT);
  pai__series_close(s);
}

/* --- a killed process, a full disk, a damaged file ------------------------ */

static void write_until_killed(int told)
{
  pai__series_store *s = open_series();

  for (int64_t t = START;; t++) {
    put(s, "box", t, 500);
    if (t % 5 != 4)
      continue;
    pai__series_flush(s, 0, 1);
    if (write(told, &t, sizeof(t)) != sizeof(t))
      _exit(1);
  }
}

TEST(a_killed_process)
{
  int64_t flushed = 0;

  for (int round = 0; round < 8; round++) {
    int pipes[2];
    pid_t child;
    pai__series_store *s;
    int64_t t;

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
      write_until_killed(pipes[1]);
    (void)close(pipes[1]);
    for (int i = 0; i < 150 + 37 * round; i++)
      assert_int_equal(read(pipes[0], &t, sizeof(t)), sizeof(t));
    (void)kill(child, SIGKILL);
    while (read(pipes[0], &t, sizeof(t)) == sizeof(t))
      ;
    (void)close(pipes[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    flushed = t;
    s = open_series();
    assert_string_equal(said, "");
    assert_string_equal(points(s, "box", flushed - 2, flushed + 1, 1, flushed),
                        "1: 500 500 500");
    /* the minute in which it was killed is made of its seconds */
    put(s, "box", flushed + 60, 500);
    assert_string_equal(points(s, "box", flushed - flushed % 60,
                               flushed - flushed % 60 + 60, 60, flushed + 60),
                        "60: 500");
    pai__series_close(s);
    assert_int_equal(test_remove(test_string("%s/s", folder)), 0);
  }
}

TEST(a_full_disk)
{
  struct rlimit before, none;
  pai__series_store *s = open_series();

  put(s, "box", START, 500);
  pai__series_flush(s, 0, 1);
  assert_null(pai__series_trouble(s));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  none = before;
  none.rlim_cur = 1;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  for (int64_t t = START + 1; t < START + 600; t++) {
    put(s, "box", t, 500);
    pai__series_flush(s, 0, 1);
  }
  assert_non_null(pai__series_trouble(s));
  assert_has(said, "cannot be written");
  /* the last seconds and all minutes are there, in memory */
  assert_string_equal(
    points(s, "box", START + 597, START + 600, 1, START + 599),
    "1: 500 500 500");
  assert_string_equal(points(s, "box", START, START + 180, 60, START + 599),
                      "60: 500 500 500");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  put(s, "box", START + 600, 500);
  pai__series_flush(s, 0, 1);
  assert_null(pai__series_trouble(s));
  assert_has(said, "written again");
  pai__series_close(s);
  s = open_series();
  assert_string_equal(points(s, "box", START, START + 180, 60, START + 600),
                      "60: 500 500 500");
  pai__series_close(s);
}

static void write_bytes(const char *path, off_t at, const char *bytes,
                        size_t len)
{
  int fd = open(path, O_RDWR);

  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, bytes, len, at), len);
  (void)close(fd);
}

TEST(damaged_files)
{
  const char *file = test_string("%s/s/machines", folder);
  pai__series_store *s = open_series();

  put(s, "box", START, 500);
  pai__series_close(s);
  /* entries that make no sense are empty places */
  for (int i = 0; i < 3; i++) {
    char bytes[512];

    memset(bytes, i == 0 ? 0xff : i == 1 ? 'x' : 1, sizeof(bytes));
    write_bytes(file, 4096, bytes, sizeof(bytes));
    s = open_series();
    assert_string_equal(points(s, "box", START, START + 1, 1, START), "1: -1");
    put(s, "box", START + 1, 500);
    pai__series_close(s);
  }
  write_bytes(file, 8, "rubbish", 7);
  s = open_series();
  assert_has(said, "begin anew");
  put(s, "box", START, 500);
  pai__series_close(s);
  /* no file at all: a folder, a link, nothing to write to */
  assert_int_equal(test_remove(file), 0);
  assert_int_equal(symlink("/etc/passwd", file), 0);
  s = open_series();
  assert_non_null(pai__series_trouble(s));
  put(s, "box", START, 500);
  assert_string_equal(points(s, "box", START, START + 1, 1, START), "1: 500");
  pai__series_close(s);
}

/* --- the size ------------------------------------------------------------- */

static uint64_t size_of(const char *name)
{
  struct stat st;

  return stat(test_string("%s/s/%s", folder, name), &st) == 0
           ? (uint64_t)st.st_blocks * 512
           : 0;
}

/* Fills all rings of a subject: 30 days as hours, a day as minutes. */
static void fill(pai__series_store *s, enum pai__series_kind kind,
                 const char *name)
{
  const int64_t values[PAI__SERIES_METRICS] = { 1000, 1 << 30, 1 << 30, 500,
                                                500,  500,     500,     500 };
  int64_t at = START;

  for (; at < START + 29 * DAY; at += HOUR)
    assert_ok(pai__series_put(s, kind, name, at, values));
  for (; at < START + 30 * DAY; at += 60)
    assert_ok(pai__series_put(s, kind, name, at, values));
  for (; at < START + 30 * DAY + 600; at++) {
    assert_ok(pai__series_put(s, kind, name, at, values));
    if (at % 10 == 0)
      pai__series_flush(s, 0, 1);
  }
}

static void fill_day(pai__series_usage *u, int64_t day)
{
  for (uint64_t job = 1; job <= 2000; job++) {
    pai__series_use_record r = { .job = job + (uint64_t)day * 10000,
                                 .from = (START + day * DAY) * 1000,
                                 .to = (START + day * DAY + 60) * 1000 };

    pai__series_use_name_it(&r,
                            test_string("user%llu", (unsigned long long)job),
                            "default", "a-job");
    (void)!pai__series_use_add(u, &r);
  }
}

/* A tenth of 100 nodes with 8 GPUs each, and of the tasks that are kept: the
 * rings of each are alike, so the whole is ten times that. */
TEST(a_hundred_nodes)
{
  pai__series_store *s = open_series();
  uint64_t size = 0;
  pai__series_usage *u;

  for (int i = 0; i < 10; i++)
    fill(s, PAI__SERIES_MACHINE, test_string("node%d", i));
  for (int i = 0; i < 80; i++)
    fill(s, PAI__SERIES_GPU, test_string("node%d/%d", i / 8, i % 8));
  for (uint32_t i = 0; i < pai__series_forms[PAI__SERIES_TASK].slots / 10; i++)
    fill(s, PAI__SERIES_TASK, test_string("%u/worker/0", i));
  fill(s, PAI__SERIES_VC, "default");
  fill(s, PAI__SERIES_QUEUE, "queue");
  pai__series_close(s);
  for (int i = 0; i < PAI__SERIES_KINDS; i++)
    size += 10 * size_of(pai__series_forms[i].file);
  assert_ok(pai__series_use_open(&u, &pai__libc_alloc,
                                 test_string("%s/s", folder), START * 1000));
  for (int64_t day = 0; day < 31; day++)
    fill_day(u, day);
  pai__series_use_close(u);
  for (int i = 0; i < PAI__USAGE_DAYS; i++)
    size += size_of(test_string("usage-%02d", i));
  print_message("100 nodes, 800 GPUs, 30 days: %.1f MB\n",
                (double)size / 1000000);
  assert_true(size > 20 * 1000000);
  assert_true(size <= 50 * 1000000);
}

/* --- memory --------------------------------------------------------------- */

TEST_FAULTS(memory_is_short)
{
  const int64_t values[PAI__SERIES_METRICS] = { 1 };
  static int64_t out[PAI__SERIES_POINTS][PAI__SERIES_METRICS];
  pai__series_range r;
  pai__series_store *s;
  int rc = pai__series_open(&s, alloc, NULL, test_string("%s/s", folder));

  if (rc < 0)
    return rc;
  for (int64_t t = START; rc == PAI_OK && t < START + 130; t += 10)
    rc = pai__series_put(s, PAI__SERIES_QUEUE, "queue", t, values);
  r = pai__series_plan(PAI__SERIES_QUEUE, START, START + 120, 60, START + 130);
  if (rc == PAI_OK)
    rc = pai__series_read(s, PAI__SERIES_QUEUE, "queue", &r, out);
  if (rc == PAI_OK)
    assert_int_equal(out[0][0], 1);
  pai__series_close(s);
  return rc;
}

TEST_AROUND_EACH(begin, end);
