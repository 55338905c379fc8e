/* Jobs that really run: what comes of them, their output, what they leave; how
 * they are tried again and stopped. */
#include "cases.h"
#include "story.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(a_job_runs_and_tells_its_story)
{
  story s = { 0 };

  story_run(&s, story_job("", "", "echo out $PAI_TASK_INDEX; echo err >&2"));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.events, "job running; a[0] running; a[0] succeeded; "
                                "job succeeded; ");
  assert_int_equal(s.output_len, strlen("out 0\nerr\n"));
  assert_has(s.output, "out 0\n");
  assert_has(s.output, "err\n");
}

/* What a command does to the job's result. */
TEST(results)
{
  static const struct {
    const char *command;
    int code;
  } rows[] = {
    { "true", 0 },
    { "false\\necho not reached", 1 },
    { "exit 7", 7 },
    { "false | true", 1 },                /* pipefail */
    { "echo $NO_SUCH_VARIABLE_HERE", 1 }, /* nounset */
    { "no-such-command-here", 127 },
    { "kill -9 $$", 137 },
    { "kill -TERM $$", 143 },
    { "cd /tmp\\nexport X=1\\ntest $PWD-$X = /tmp-1", 0 }, /* one shell */
    { "echo x > /dev/stdout", 0 }, /* a pipe, which can be opened anew */
    { "read line", 1 },            /* there is no input */
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    story s = { 0 };
    story_run(&s, story_job("", "", rows[i].command));
    story_expect_end(
      &s, rows[i].code == 0 ? PAI_STATE_SUCCEEDED : PAI_STATE_FAILED,
      rows[i].code);
    assert_null(strstr(s.output, "not reached"));
    if (rows[i].code != 0)
      assert_has(s.why, "task a[0] exited with code");
  }
}

TEST(output_is_complete_and_kept)
{
  enum { BYTES = 3000000 };
  char path[512];
  story s = { 0 };
  pai_loop *loop = story_open(&s);
  pai_job_id id;
  pai_spec *spec;
  FILE *log;

  spec = story_job("", "",
                   test_string("head -c %d /dev/zero | tr '\\\\0' x", BYTES));
  id = story_submit(&s, spec);
  (void)snprintf(path, sizeof(path), "%s/0/a-0/all",
                 pai_platform_job_dir(s.platform, id));
  pai_spec_unref(spec);
  story_close(loop);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_int_equal(s.output_len, BYTES);
  log = fopen(path, "r");
  assert_non_null(log);
  assert_int_equal(fseek(log, 0, SEEK_END), 0);
  assert_int_equal(ftell(log), BYTES);
  (void)fclose(log);
}

/* As a full disk would, a limit on files' sizes makes writes fail. */
TEST(a_log_that_is_cut_is_told_of)
{
  struct rlimit before, small;
  char path[512], text[256] = "";
  story s = { 0 };
  pai_loop *loop = story_open(&s);
  pai_spec *spec = story_job("", "", "head -c 100000 /dev/zero; echo end >&2");
  pai_job_id id = story_submit(&s, spec);
  FILE *log;

  (void)snprintf(path, sizeof(path), "%s/0/a-0/runtime",
                 pai_platform_job_dir(s.platform, id));
  pai_spec_unref(spec);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 65536;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  story_close(loop);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_int_equal(s.output_len, 65536);
  log = fopen(path, "r");
  assert_non_null(log);
  (void)!fread(text, 1, sizeof(text) - 1, log);
  (void)fclose(log);
  assert_has(text, "output is missing in the log: File ");
  assert_int_equal(story_logged(&s, "output is missing in a log"), 1);
  assert_has(s.log, "/0/a-0");
}

TEST(what_a_task_leaves_behind_is_killed)
{
  story s = { 0 };
  int ends[2];
  char byte;

  assert_int_equal(pipe(ends), 0); /* which the task inherits */
  story_run(&s, story_job("", "", "sleep 1000 & echo done"));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.output, "done\n");
  (void)close(ends[1]);
  assert_int_equal(read(ends[0], &byte, 1), 0); /* nobody holds it open */
  (void)close(ends[0]);
}

/* From a group of processes, that is: not from a sandbox, whose process numbers
 * are others, nor from a control group, where there is one. */
TEST(what_escapes_holds_nothing_up)
{
  story s = { 0 };
  char name[16] = "";
  FILE *comm;
  long pid;

  /* It has left the group, and says so, and keeps stderr open. */
  story_run(&s, story_job("extras: {openpai: {runtime: process}},", "",
                          "coproc setsid sh -c 'echo $$; exec sleep 1000'; "
                          "read -u ${COPROC[0]} pid; "
                          "until grep -qs sleep /proc/$pid/comm; do :; done; "
                          "echo $pid"));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  pid = strtol(s.output, NULL, 10);
  assert_true(pid > 1);
  comm = fopen(test_string("/proc/%ld/comm", pid), "r");
  if (comm == NULL)
    return;
  (void)!fgets(name, sizeof(name), comm);
  (void)fclose(comm);
  if (strcmp(name, "sleep\n") == 0)
    (void)kill((pid_t)pid, SIGKILL);
}

TEST(tasks_find_each_other)
{
  story s = { 0 };
  pai_spec *spec;

  assert_ok(pai_spec_load(&spec, HELLO_YAML, NULL, NULL));
  story_run(&s, spec);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_has(s.output, "heard: Hello, server!");
  assert_has(s.output, "heard: Hello, client!");
}

TEST(without_bash_the_reason_is_told)
{
  const char *now = getenv("PATH");
  char *path = strdup(now != NULL ? now : "");
  story s = { 0 };

  (void)setenv("PATH", story_root, 1);
  story_run(&s, story_job("", "", "true"));
  (void)setenv("PATH", path, 1);
  free(path);
  story_expect_end(&s, PAI_STATE_FAILED, -200);
  assert_has(s.why, "cannot start bash: no such file");
}

TEST(a_failed_job_is_tried_again)
{
  story s = { .runtime = "process" };

  story_run(
    &s,
    story_job("jobRetryCount: 1,", "",
              test_string("test -e %s/marker || { touch %s/marker; exit 3; }",
                          story_root, story_root)));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.events,
                      "job running; a[0] running; a[0] failed; job waiting; "
                      "job running; a[0] running; a[0] succeeded; "
                      "job succeeded; ");
  assert_has(s.why, "code 3; retry 1 of at most 1");
}

TEST(stopping_is_graceful_first)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .stops = 1 };
  story hard = { .stop_at = PAI_STATE_RUNNING, .stops = 2 };

  story_run(&s, story_job("jobRetryCount: 5,", "instances: 2,",
                          "trap 'echo bye; exit 0' TERM; sleep 1000 & wait"));
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_null(strstr(s.events, "succeeded"));
  story_run(&hard, story_job("", "", "trap '' TERM; sleep 1000"));
  story_expect_end(&hard, PAI_STATE_STOPPED, -210);
}

TEST(closing_ends_everything)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .close_then = true };

  story_run(&s, story_job("", "instances: 2,", "trap '' TERM; sleep 1000"));
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
}

/* Tasks start one by one, and what happens meanwhile counts. */
TEST(a_large_job_can_be_stopped_while_it_starts)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .stops = 1 };
  pai_spec *spec = story_parse(
    "{protocolVersion: 2, name: large, type: job, " STORY_IMAGE
    ", taskRoles: {a: {instances: 500, dockerImage: x, resourcePerInstance: "
    "{cpu: 0, memoryMB: 8, gpu: 0}, commands: ['sleep 1000']}}}");

  story_run(&s, spec);
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_in_range(s.stopped, 1, 2);
}

TEST(a_listener_can_stop_its_job)
{
  story s = { .answer = PAI_EUSER };
  pai_platform_options o;
  pai_spec *spec = story_job(
    "", "", "trap 'echo cleaned; exit' TERM; echo up; sleep 1000 & wait");
  pai_error *err;
  int code;

  (void)pai_spec_ref(spec);
  story_run(&s, spec);
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_string_equal(s.output, "up\ncleaned\n"); /* one stop, however often */
  s = (story){ .answer = -77 };
  o = story_options(&s);
  assert_fails(pai_run(&code, spec, &o, &err), err, -77, "on_event");
  assert_int_equal(code, -210);
  pai_spec_unref(spec);
}

/* A job that would be tried again in a minute or more. */
TEST(a_stopped_job_waits_for_no_retry)
{
  story s = { .no_retry = true };

  story_run(&s, story_job("", "", "exit 201"));
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_string_equal(s.log, "");
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
