/* Tasks of a job that join one pid namespace: also on a slow machine, and where
 * signals interrupt. */
#define _XOPEN_SOURCE 700

#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- tasks of a job ------------------------------------------------------- */

static bool has_sandbox(stage *s)
{
  const char *said = pai__backend_local.runtime(s->backend);

  if (strncmp(said, "bwrap: ", 7) == 0)
    return true;
  print_message("skipped: %s\n", said);
  return false;
}

static void start_of_job(stage *s, uint64_t task, const char *script)
{
  pai_launch_plan plan = stage_plan(s, task, script);
  char job[96];

  (void)snprintf(job, sizeof(job), "%s/job", s->root);
  (void)mkdir(job, 0700);
  plan.runtime = PAI_RUNTIME_BWRAP;
  plan.flags = PAI_LAUNCH_SHARE_PIDS;
  plan.job_dir = job;
  stage_start(s, task, &plan);
  stage_follow(s, task, PAI_FOLLOW_ALL);
}

/* --- what a task leaves --------------------------------------------------- */

/* An orphan whose first thread has ended ends with its task, not with the job.
 * /proc tells the mounts of such a process only for its other threads. */
STAGE_TEST(an_orphan_without_its_first_thread_ends)
{
  if (has_sandbox(s)) {
    start_of_job(s, 1,
                 test_string("echo up; while [ ! -e %s/job/over ]; do "
                             "sleep .01; done; "
                             "! grep -l leaderless /proc/[0-9]*/comm",
                             s->root));
    stage_wait_for(s, 1, "up\n");
    start_of_job(s, 2,
                 "(setsid " LEADERLESS " > /dev/null 2>&1 < /dev/null &); "
                 "until grep -q 'State:.Z' $(grep -l Name:.leaderless "
                 "/proc/[0-9]*/status); do sleep .01; done 2> /dev/null");
    stage_wait(s, 1);
    assert_int_equal(s->tasks[2].end.code, 0);
    start_of_job(s, 3, test_string(": > %s/job/over", s->root));
    stage_wait(s, 3);
    assert_string_equal(stage_out(s, 1), "up\n");
    assert_int_equal(s->tasks[1].end.code, 0);
  }
}

/* A supervisor that looks late for what its task has left: another task has its
 * mounts then where that one's had their number. */
STAGE_TEST(a_late_supervisor_ends_nobody_elses)
{
  const char *go = test_string("%s/job/go", s->root);
  pid_t supervisor;
  long first;
  int fd;

  if (has_sandbox(s)) {
    assert_int_equal(mkdir(test_string("%s/job", s->root), 0700), 0);
    assert_int_equal(mkfifo(go, 0600), 0);
    start_of_job(s, 1, test_string("echo up; read x < %s", go));
    stage_wait_for(s, 1, "up\n");
    supervisor = (pid_t)stage_status(s, 1, "supervisor", 1);
    first = stage_status(s, 1, "started", 1);
    assert_int_equal(kill(supervisor, SIGSTOP), 0);
    fd = open(go, O_RDWR | O_CLOEXEC);
    assert_int_equal(write(fd, "\n", 1), 1);
    while (stage_lives(first))
      stage_pause(1000);
    (void)close(fd);
    start_of_job(s, 2, "echo up; exec sleep 1000");
    stage_wait_for(s, 2, "up\n");
    assert_int_equal(kill(supervisor, SIGCONT), 0);
    stage_wait(s, 1);
    assert_int_equal(s->tasks[1].ended, 1);
    pai__backend_local.stop(s->backend, 2, PAI_STOP_ASK);
    stage_wait(s, 2);
    assert_int_equal(s->tasks[2].end.code, 128 + SIGTERM);
  }
}

/* --- one namespace -------------------------------------------------------- */

/* Two tasks at the same time say the same namespace. */
static void expect_one_space(stage *s)
{
  static const char says[] = "readlink /proc/self/ns/pid; ";

  start_of_job(s, 1,
               test_string("%s while [ ! -e %s/job/over ]; do sleep .01; done",
                           says, s->root));
  start_of_job(s, 2, test_string("%s : > %s/job/over", says, s->root));
  stage_wait(s, 2);
  assert_has(stage_out(s, 1), "pid:[");
  assert_string_equal(stage_out(s, 2), stage_out(s, 1));
}

/* --- signals -------------------------------------------------------------- */

int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

static bool interrupts;

/* A signal comes in each second call. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
  static unsigned calls;

  if (!interrupts || calls++ % 2 != 0)
    return __real_poll(fds, n, ms);
  errno = EINTR;
  return -1;
}

STAGE_TEST(signals_do_not_part_them)
{
  if (has_sandbox(s)) {
    interrupts = true;
    expect_one_space(s);
    interrupts = false;
  }
}

/* --- a slow machine ------------------------------------------------------- */

/* bubblewrap, of which late_parent.c is part where it is only tried. */
static void make_late_bwrap(const stage *s)
{
  FILE *f;

  assert_int_equal(mkdir(test_string("%s/bin", s->root), 0700), 0);
  f = fopen(test_string("%s/bin/bwrap", s->root), "w");
  assert_non_null(f);
  (void)fputs("#!/bin/sh\nPATH=${PATH#*:}\ncase \" $* \" in\n"
              "*\" --block-fd \"*) ;;\n"
              "*\" --pidns \"*) export LD_PRELOAD=" LATE_PARENT " ;;\n"
              "esac\nexec bwrap \"$@\"\n",
              f);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(chmod(test_string("%s/bin/bwrap", s->root), 0700), 0);
}

/* Whether namespaces can be joined is found out by a sandbox whose creator ends
 * late, after the process inside would die with it. */
TEST(a_late_end_does_not_part_them)
{
  char *before = getenv("PATH");
  stage s;

  assert_non_null(before);
  before = strdup(before);
  stage_init(&s);
  make_late_bwrap(&s);
  assert_int_equal(setenv("PATH", test_string("%s/bin:%s", s.root, before), 1),
                   0);
  stage_open(&s);
  if (has_sandbox(&s))
    expect_one_space(&s);
  stage_close(&s);
  assert_int_equal(setenv("PATH", before, 1), 0);
  free(before);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static bool is_slow;

/* Once it was asked for the time, six seconds pass. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
  static bool asked;
  int rc = __real_clock_gettime(clock, now);

  if (is_slow && clock == CLOCK_MONOTONIC) {
    now->tv_sec += asked ? 6 : 0;
    asked = true;
  }
  return rc;
}

/* It is tried once whether there are sandboxes. */
TEST(a_slow_machine_has_sandboxes)
{
  bool has;
  stage s;

  stage_begin(&s);
  has = has_sandbox(&s);
  stage_close(&s);
  stage_begin(&s);
  is_slow = true;
  assert_int_equal(has_sandbox(&s), has);
  is_slow = false;
  stage_close(&s);
}

TEST_AROUND_ALL(NULL, stage_clean);
