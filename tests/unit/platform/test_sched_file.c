/* ROOT/scheduler.log: what was decided can be read again, whatever happened to
 * the file or to the platform. */
#define _GNU_SOURCE
#include "cases.h"
#include "durable.h"

#include <openpai/replay.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path(const char *name)
{
  static char text[400];

  (void)snprintf(text, sizeof(text), "%s/history/%s", story_root, name);
  return text;
}

static void run_job(durable *d, const char *name)
{
  pai_job_id job = durable_accept(d, name, "true");

  durable_reaches(d, job, PAI_STATE_SUCCEEDED);
  assert_ok(durable_sync(d));
}

/* Reads all of it; the requests that were started last, as "1 2 3 ". */
static void expect_starts(const char *wanted)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_decision decision = { .struct_size = sizeof(decision) };
  char seen[64] = "";
  pai_error *err = NULL;
  pai_replay *replay;
  int rc;

  assert_ok(pai_replay_open(&replay, path("scheduler.log"), &o, NULL));
  while ((rc = pai_replay_step(replay, &err)) == 1)
    for (size_t i = 0;
         pai_sched_decision(pai_replay_sched(replay), i, &decision) == PAI_OK;
         i++)
      if (i < pai_replay_decisions(replay) &&
          decision.kind == PAI_DECISION_START)
        (void)snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%d ",
                       (int)decision.id);
  if (rc < 0)
    fail_msg("%u: %s", pai_error_line(err), pai_error_message(err));
  pai_replay_free(replay);
  assert_string_equal(strlen(seen) > strlen(wanted)
                        ? seen + strlen(seen) - strlen(wanted)
                        : seen,
                      wanted);
}

static off_t size_of(const char *name)
{
  struct stat st;

  return stat(path(name), &st) == 0 ? st.st_size : -1;
}

static void put(const char *text, off_t at)
{
  int fd = open(path("scheduler.log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
  (void)close(fd);
}

static int clean(void **state)
{
  (void)state;
  return system(test_string("rm -rf '%s'", path("")));
}

TEST(platforms_go_on_with_it)
{
  durable d;
  struct stat st;

  durable_open(&d, path(""));
  run_job(&d, "one");
  run_job(&d, "two");
  durable_close(&d);
  expect_starts("1 2 ");
  assert_int_equal(stat(path("scheduler.log"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  durable_open(&d, path(""));
  run_job(&d, "three");
  durable_close(&d);
  expect_starts("1 2 3 ");
}

/* Of a line that was being written when a platform was killed nothing stays,
 * however long it was. */
TEST(a_line_in_the_middle)
{
  char half[10000];
  durable d;

  durable_open(&d, path(""));
  run_job(&d, "one");
  durable_close(&d);
  memset(half, 'x', sizeof(half) - 1);
  half[sizeof(half) - 1] = '\0';
  put(half, size_of("scheduler.log"));
  durable_open(&d, path(""));
  run_job(&d, "two");
  durable_close(&d);
  expect_starts("1 2 ");
}

TEST(a_large_one_is_turned_over)
{
  enum { LARGE = 64 << 20 };
  durable d;

  durable_open(&d, path(""));
  run_job(&d, "one");
  durable_close(&d);
  put("\n", LARGE);
  durable_open(&d, path(""));
  run_job(&d, "two"); /* in this one or in that one */
  run_job(&d, "three");
  durable_close(&d);
  assert_true(size_of("scheduler.log.1") > LARGE);
  assert_true(size_of("scheduler.log") < LARGE);
  expect_starts("3 ");
}

/* Jobs do not care. */
TEST(what_cannot_be_written)
{
  struct rlimit before, small;
  durable d;

  assert_int_equal(mkdir(path(""), 0700), 0);
  assert_int_equal(mkdir(path("scheduler.log"), 0700), 0);
  durable_open(&d, path(""));
  run_job(&d, "one");
  assert_has(d.log, "cannot open ");
  assert_has(d.log, "/scheduler.log: Is a directory; the present "
                    "decisions will be missing");
  durable_close(&d);
  assert_int_equal(rmdir(path("scheduler.log")), 0);
  put("\n", 30 << 20);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  small = before;
  small.rlim_cur = 30 << 20; /* the database is smaller */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  durable_open(&d, path(""));
  run_job(&d, "two");
  run_job(&d, "three");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_has(d.log, "cannot write ");
  assert_null(strstr(strstr(d.log, "cannot write ") + 1, "cannot write "));
  durable_close(&d);
  assert_int_equal(size_of("scheduler.log"), (30 << 20) + 1);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
TEST_AROUND_EACH(NULL, clean);
