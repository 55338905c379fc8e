/* The lives of tasks: how they end, what they say, who stops them. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */

#include "stage.h"

#include "backend/local/posix_launch.h"
#include "task/streams.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

STAGE_TEST(ends)
{
  static const struct {
    const char *script;
    int how, code, signal;
  } rows[] = {
    { "true", PAI_END_EXIT, 0, 0 },
    { "exit 255", PAI_END_EXIT, 255, 0 },
    { "exit 7", PAI_END_EXIT, 7, 0 },
    { "set -e; false; echo no", PAI_END_EXIT, 1, 0 },
    { "no-such-program", PAI_END_EXIT, 127, 0 },
    { "kill -KILL $$", PAI_END_SIGNAL, 137, 9 },
    { "kill -SEGV $$", PAI_END_SIGNAL, 139, 11 },
    { "kill -KILL 0; sleep 1000", PAI_END_SIGNAL, 137, 9 }, /* its own group */
    { "bash -c 'kill -TERM $$'; exit $?", PAI_END_EXIT, 143, 0 },
    { "exec sleep 0", PAI_END_EXIT, 0, 0 },
    { "exec >&- 2>&- <&-; exit 4", PAI_END_EXIT, 4, 0 },
    { "", PAI_END_EXIT, 0, 0 },
    { "case $- in *i*) exit 1;; esac; [ -t 0 ] && exit 2; read x; exit $?",
      PAI_END_EXIT, 1, 0 }, /* nothing to read */
    { "[ \"$(ulimit -c)\" = \"$(ulimit -c)\" ]", PAI_END_EXIT, 0, 0 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    stage_task *t = stage_run(s, i, rows[i].script);
    print_message("%s\n", rows[i].script);
    assert_int_equal(t->ended, 1);
    assert_int_equal(t->end.how, rows[i].how);
    assert_int_equal(t->end.code, rows[i].code);
    assert_int_equal(t->end.signal, rows[i].signal);
    assert_int_equal(t->end.oom, 0);
    assert_int_equal(t->end.stopped, 0);
    assert_true(t->end.started > 1500000000000000);
    assert_true(t->end.ended >= t->end.started);
    assert_true(t->end.max_rss > 100000);
    assert_string_equal(t->text, "");
  }
  assert_string_equal(s->said, "");
}

/* The script's lines have their numbers, and nobody inherits it. */
STAGE_TEST(the_script_is_a_file_of_its_own)
{
  stage_task *t;

  t = stage_run(s, 1, "ls /proc/self/fd | tr '\\n' ' '\n(exit $LINENO)");
  assert_string_equal(stage_out(s, 1), "0 1 2 3 "); /* 3: of ls itself */
  assert_int_equal(t->end.code, 2);
  /* A secret stands in no list of processes and in no file. */
  t = stage_run(s, 2,
                ": s3cr3t; tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' ' ' < "
                "/proc/$$/cmdline; grep -rl s3cr[3]t $HERE; true");
  assert_null(strstr(stage_out(s, 2), "s3cr3t"));
  assert_has(stage_out(s, 2), "openpai-task");
  assert_int_equal(t->end.code, 0);
}

STAGE_TEST(output_is_exact_and_in_order)
{
  char line[16];
  stage_task *t;
  const char *at;

  t = stage_run(s, 1,
                "seq 1 200000; seq 1 3 >&2; printf 'a\\0b\\n' >&2; exit 5");
  at = pai__buf_text(&t->out[0]);
  for (int i = 1; i <= 200000; i++) {
    size_t n = (size_t)snprintf(line, sizeof(line), "%d\n", i);
    assert_memory_equal(at, line, n);
    at += n;
  }
  assert_int_equal(at - pai__buf_text(&t->out[0]), t->out[0].len);
  assert_int_equal(t->out[1].len, 6 + 4);
  assert_memory_equal(pai__buf_text(&t->out[1]), "1\n2\n3\na\0b\n", 10);
  assert_string_equal(stage_file(s, 1, "stderr"), ""); /* stored once */
  assert_has(t->end.code == 5 ? "5" : "", "5");
  assert_int_equal(t->end.log_len, 65536); /* its last bytes */
}

/* What both streams got is in `all` in the order of the writing, if that is
 * slow enough to be seen. */
STAGE_TEST(all_has_both)
{
  (void)stage_run(s, 1,
                  "for i in 1 2 3; do echo o$i; sleep 0.05; echo e$i >&2; "
                  "sleep 0.05; done");
  assert_string_equal(stage_file(s, 1, "all"), "o1\ne1\no2\ne2\no3\ne3\n");
}

/* What is in the pipe when the task has ended is still read, however much. */
STAGE_TEST(the_last_words)
{
  char script[256], path[128];
  pai_launch_plan plan;
  pid_t supervisor;
  long pid;
  int fd;

  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  (void)snprintf(script, sizeof(script),
                 "echo $$; read x < %s; head -c 300000 /dev/zero", path);
  plan = stage_plan(s, 1, script);
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait_for(s, 1, "\n");
  pid = strtol(stage_out(s, 1), NULL, 10);
  (void)snprintf(script, sizeof(script), "/proc/%ld/fd/1", pid);
  fd = open(script, O_WRONLY | O_CLOEXEC);
  assert_true(fcntl(fd, F_SETPIPE_SZ, 1 << 20) >= 1 << 20);
  (void)close(fd);
  supervisor = (pid_t)stage_status(s, 1, "supervisor", 1);
  assert_int_equal(kill(supervisor, SIGSTOP), 0);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_int_equal(write(fd, "\n", 1), 1);
  (void)close(fd);
  while (stage_lives(pid))
    stage_pause(1000);
  assert_int_equal(kill(supervisor, SIGCONT), 0);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.code, 0);
  assert_int_equal(s->tasks[1].out[0].len - 300000,
                   strcspn(stage_out(s, 1), "\n") + 1);
}

/* The next round is asked for when this one was told. */
static void ask_for_more(stage *s, uint64_t task)
{
  static int go = -1;

  if (s->tasks[task].out[0].len % 3000 != 0)
    return;
  if (s->tasks[task].out[0].len == 3000) {
    go = open(test_string("%s/go", s->root), O_RDWR | O_CLOEXEC);
  }
  assert_int_equal(write(go, "\n", 1), 1);
  if (s->tasks[task].out[0].len == 60000)
    (void)close(go);
}

/* Which byte of all a file of the log begins with, and of which file that is
 * said. */
static void expect_begin(const char *streams, uint64_t inode, uint64_t begin)
{
  unsigned char head[PAI_STREAMS_HEAD];
  FILE *file = fopen(streams, "r");

  assert_non_null(file);
  assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
  (void)fclose(file);
  assert_true(pai_streams_get(head) == PAI_STREAMS_MAGIC);
  assert_int_equal(pai_streams_get(head + 8), inode);
  assert_int_equal(pai_streams_get(head + 16), begin);
  assert_int_equal(pai_streams_get(head + 24), begin);
}

STAGE_TEST(full_logs_make_room)
{
  char path[128];
  pai_launch_plan plan;
  struct stat info;

  s->on_output = ask_for_more;
  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  plan = stage_plan(
    s, 1,
    test_string("for i in {10..29}; do printf %%03000d $i; read x; done <> "
                "%s/go",
                s->root));
  plan.log_limit = 4096;
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].out[0].len, 60000);
  for (int i = 0; i < 20; i++) {
    assert_memory_equal(stage_out(s, 1) + i * 3000 + 2998,
                        test_string("%d", i + 10), 2);
  }
  for (int i = 0; i < 2; i++) {
    (void)snprintf(path, sizeof(path), "%s/1/all%s", s->root,
                   i == 0 ? "" : ".1");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, i == 0 ? 60000 % 4096 : 4096);
    (void)snprintf(path, sizeof(path), "%s/1/streams%s", s->root,
                   i == 0 ? "" : ".1");
    expect_begin(path, (uint64_t)info.st_ino,
                 (uint64_t)(60000 - 60000 % 4096 - 4096 * i));
  }
  assert_string_equal(s->said, "");
}

/* Faster than it is told: what is kept is its end, and that is said. */
STAGE_TEST(what_is_lost_is_said)
{
  pai_launch_plan plan;

  plan = stage_plan(s, 1, "head -c 100000 /dev/zero | tr '\\0' x; echo end");
  plan.log_limit = 5000;
  stage_start(s, 1, &plan);
  while (stage_status(s, 1, "exit 0 ", 0) != 0)
    ; /* it is over before anything is told */
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait(s, 1);
  assert_true(s->tasks[1].out[0].len >= 5000);
  assert_true(s->tasks[1].out[0].len <= 10000);
  assert_has(stage_out(s, 1), "xend\n");
}

STAGE_TEST(much_output_is_told_later)
{
  enum { BYTES = 30000000 };
  pai_launch_plan plan;

  plan = stage_plan(s, 1, "yes | head -c 30000000; sleep 1000");
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_follow(s, 1, PAI_FOLLOW_OFF);
  plan = stage_plan(s, 2, "echo quick");
  stage_start(s, 2, &plan);
  stage_wait(s, 1);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  while (s->tasks[1].out[0].len < BYTES)
    assert_true(pai_loop_run_once(s->loop) >= 0);
  pai__backend_local.stop(s->backend, 1, PAI_STOP_NOW);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[1].out[0].len, BYTES);
  assert_int_equal(s->tasks[1].end.stopped, 1);
  assert_int_equal(s->tasks[1].end.signal, SIGKILL);
}

STAGE_TEST(only_new_output)
{
  char path[128];
  pai_launch_plan plan;
  int go;

  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  plan =
    stage_plan(s, 1, test_string("echo old; read x < %s; echo new", path));
  stage_start(s, 1, &plan);
  while (strcmp(stage_file(s, 1, "all"), "old\n") != 0)
    stage_pause(1000);
  stage_follow(s, 1, PAI_FOLLOW_NEW);
  go = open(path, O_WRONLY | O_CLOEXEC);
  assert_int_equal(write(go, "\n", 1), 1);
  (void)close(go);
  stage_wait(s, 1);
  assert_string_equal(stage_out(s, 1), "new\n");
}

/* What is installed meanwhile is of another version, and for another platform. */
TEST_IN(an_upgrade_leaves_the_platform_its_supervisor, stage, s, stage_init,
        stage_close)
{
  char program[128];
  char *own;

  assert_ok(pai__local_find_program(&own, NULL, &pai__libc_alloc, NULL));
  (void)snprintf(program, sizeof(program), "%s/openpai-task", s->root);
  test_shell("cp '%s' '%s'", own, program);
  s->host.program = program;
  stage_open(s);
  assert_int_equal(stage_run(s, 1, "exit 3")->end.code, 3);
  test_shell("printf '#!/bin/sh\\nexit 22\\n' > '%s->new' && chmod 755 "
             "'%s->new' && mv '%s->new' '%s'",
             program, program, program, program);
  assert_int_equal(stage_run(s, 2, "exit 4")->end.code, 4);
  assert_int_equal(unlink(program), 0); /* as between two steps of one */
  assert_int_equal(stage_run(s, 3, "exit 5")->end.code, 5);
  pai__strfree(&pai__libc_alloc, own);
}

static void start_another(stage *s, uint64_t task)
{
  pai_launch_plan plan;

  if (task + 20 >= 1000)
    return;
  plan = stage_plan(s, task + 20, "true");
  stage_start(s, task + 20, &plan);
}

STAGE_TEST(a_thousand_tasks)
{
  s->on_ended = start_another;
  for (uint64_t i = 0; i < 20; i++) {
    pai_launch_plan plan = stage_plan(s, i, "true");
    stage_start(s, i, &plan);
  }
  stage_wait(s, 1000);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(s->tasks[i].ended, 1);
    assert_int_equal(s->tasks[i].end.how, PAI_END_EXIT);
    assert_int_equal(s->tasks[i].end.code, 0);
  }
}

/* --- stops -------------------------------------------------------------------- */

/* Two that left its session and its parents, and one that did not. */
static const char *const family =
  "echo $$; sleep 1000 & echo $!; (setsid sleep 1001 & echo $!);"
  "echo $(setsid bash -c '(sleep 1002 >&2 & echo $!)'); echo up; ";

static void expect_dead(stage *s, uint64_t task, int count)
{
  char *at = s->tasks[task].out[0].data;

  for (int i = 0; i < count; i++) {
    long pid = strtol(at, &at, 10);
    assert_true(pid > 1);
    assert_false(stage_lives(pid));
  }
}

STAGE_TEST(nothing_survives)
{
  assert_int_equal(stage_run(s, 1, test_string("%sexit 3", family))->end.code,
                   3);
  expect_dead(s, 1, 4);
}

static void stopping(stage *s, uint64_t task, const char *begin,
                     const char *end, int how)
{
  pai_launch_plan plan;

  plan = stage_plan(s, task, test_string("%s%s%s", begin, family, end));
  stage_start(s, task, &plan);
  stage_follow(s, task, PAI_FOLLOW_ALL);
  stage_wait_for(s, task, "up\n");
  pai__backend_local.stop(s->backend, task, how);
}

STAGE_TEST(stops)
{
  /* All are asked, so those that wait for others come to an end too. */
  stopping(s, 1, "trap 'echo bye; exit 9' TERM;", "wait; sleep 1000",
           PAI_STOP_ASK);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.code, 9);
  assert_has(stage_out(s, 1), "bye\n");
  assert_int_equal(s->tasks[1].end.stopped, 1);
  expect_dead(s, 1, 4);
  stopping(s, 2, "", "sleep 1000", PAI_STOP_ASK);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[2].end.signal, SIGTERM);
  expect_dead(s, 2, 4);
  /* Whoever does not listen is killed. */
  stopping(s, 3, "trap '' TERM;", "echo deaf; while :; do sleep 1000; done",
           PAI_STOP_ASK);
  stage_wait_for(s, 3, "deaf\n");
  pai__backend_local.stop(s->backend, 3, PAI_STOP_NOW);
  stage_wait(s, 3);
  assert_int_equal(s->tasks[3].end.signal, SIGKILL);
  expect_dead(s, 3, 4);
  /* One that is stopped already hears it, too. */
  stopping(s, 4, "", "kill -STOP $$", PAI_STOP_ASK);
  stage_wait(s, 4);
  assert_int_equal(s->tasks[4].end.signal, SIGTERM);
  pai__backend_local.stop(s->backend, 4, PAI_STOP_NOW); /* too late */
  pai__backend_local.stop(s->backend, 77, PAI_STOP_NOW);
}

/* Whenever it comes: before the first process is there, too. */
STAGE_TEST(a_stop_is_never_too_early)
{
  for (uint64_t i = 0; i < 60; i++) {
    pai_launch_plan plan = stage_plan(s, i, "sleep 1000");
    stage_start(s, i, &plan);
    stage_pause((long)(i / 2 * 100));
    pai__backend_local.stop(s->backend, i,
                            i % 2 ? PAI_STOP_ASK : PAI_STOP_NOW);
    stage_wait(s, (int)i + 1);
    assert_int_equal(s->tasks[i].end.how, PAI_END_SIGNAL);
    assert_int_equal(s->tasks[i].end.signal, i % 2 ? SIGTERM : SIGKILL);
  }
}

STAGE_TEST(closing_ends_all)
{
  stopping(s, 1, "trap '' TERM;", "while :; do sleep 1000; done",
           PAI_STOP_ASK);
  stage_leave(s, PAI_CLOSE_STOP);
  assert_int_equal(s->tasks[1].ended, 1);
  assert_int_equal(s->tasks[1].end.signal, SIGKILL);
  expect_dead(s, 1, 4);
  stage_open(s);
}

/* --- a supervisor that is killed ----------------------------------------------- */

STAGE_TEST(lost)
{
  stopping(s, 1, "", "sleep 1000", 0);
  assert_int_equal(kill((pid_t)stage_status(s, 1, "supervisor", 1), SIGKILL),
                   0);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.how, PAI_END_LOST);
  assert_int_equal(s->tasks[1].end.code, PAI_CODE_LOST);
  assert_has(s->tasks[1].text, "supervisor was killed");
  assert_has(s->tasks[1].log, "up\n");
  expect_dead(s, 1, 4);
  /* Of the keeper the end is nothing but a kill. */
  stopping(s, 2, "", "sleep 1000", 0);
  assert_int_equal(kill((pid_t)stage_status(s, 2, "started", 3), SIGKILL), 0);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[2].end.how, PAI_END_SIGNAL);
  assert_int_equal(s->tasks[2].end.signal, SIGKILL);
  expect_dead(s, 2, 4);
}

TEST(the_table)
{
  const pai_backend_ops *ops = pai_backend_builtin(0);

  assert_string_equal(ops->name, "local");
  assert_int_equal(ops->version, PAI_BACKEND_VERSION);
  assert_int_equal(ops->struct_size, sizeof(*ops));
  assert_null(pai_backend_builtin(1));
}

TEST_AROUND_ALL(NULL, stage_clean);
