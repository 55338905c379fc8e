/* Tasks that outlive the process that started them, and are found again. */
#define _XOPEN_SOURCE 700

#include "stage.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int adopt(stage *s, uint64_t task)
{
  pai_launch_plan plan = stage_plan(s, task, "");
  pai_error *err;
  int rc = pai__backend_local.adopt(s->backend, task, plan.dir, &err);

  if (rc < 0)
    fail_msg("%s", pai_error_message(err));
  return rc;
}

/* Another process with a back end starts tasks, and is killed. */
static void start_elsewhere(stage *s, const char *const *scripts, size_t count)
{
  pid_t pid = fork();
  int status;

  if (pid == 0) {
    assert_ok(pai_loop_new(&s->loop, NULL, NULL));
    s->host.loop = s->loop;
    stage_open(s);
    for (size_t i = 0; i < count; i++) {
      pai_launch_plan plan = stage_plan(s, i, scripts[i]);
      stage_start(s, i, &plan);
    }
    for (size_t i = 0; i < count; i++)
      (void)stage_status(s, i, "started", 1);
    (void)kill(getpid(), SIGKILL);
  }
  assert_true(pid > 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
}

TEST_IN(tasks_outlive_the_platform, stage, s, stage_init, stage_close)
{
  static const char *const scripts[] = {
    "echo one; echo two >&2; exit 3",
    "echo begun; read x < ../go; seq 1 1000; exit 4",
    "trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 0.01; done",
    "sleep 1000",
  };
  char path[128], cwd[512];
  int go;

  assert_non_null(getcwd(cwd, sizeof(cwd)));
  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  (void)snprintf(path, sizeof(path), "%s/here", s->root);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(chdir(path), 0);
  start_elsewhere(s, scripts, PAI__LEN(scripts));
  assert_int_equal(chdir(cwd), 0);
  while (stage_status(s, 0, "exit", 1) != 3)
    ;
  stage_open(s);
  assert_int_equal(adopt(s, 0), PAI_ADOPT_ENDED);
  for (uint64_t i = 1; i < 4; i++)
    assert_int_equal(adopt(s, i), PAI_ADOPT_RUNNING);
  for (uint64_t i = 0; i < 3; i++)
    stage_follow(s, i, PAI_FOLLOW_ALL);
  assert_int_equal(s->ended, 0); /* nothing is told from inside a call */
  stage_wait_for(s, 1, "begun\n");
  stage_wait_for(s, 2, "up\n");
  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  go = open(path, O_WRONLY | O_CLOEXEC);
  assert_int_equal(write(go, "\n", 1), 1);
  (void)close(go);
  pai__backend_local.stop(s->backend, 2, PAI_STOP_ASK);
  pai__backend_local.stop(s->backend, 3, PAI_STOP_NOW);
  stage_wait(s, 4);
  assert_int_equal(s->tasks[0].end.code, 3);
  assert_string_equal(stage_out(s, 0), "one\n");
  assert_string_equal(pai__buf_text(&s->tasks[0].out[1]), "two\n");
  assert_string_equal(s->tasks[0].log, "one\ntwo\n");
  assert_int_equal(s->tasks[1].end.code, 4);
  assert_int_equal(s->tasks[1].out[0].len, 6 + 3893);
  assert_int_equal(s->tasks[2].end.code, 5);
  assert_string_equal(stage_out(s, 2), "up\nasked\n");
  assert_int_equal(s->tasks[3].end.signal, SIGKILL);
  for (int i = 0; i < 4; i++)
    assert_int_equal(s->tasks[i].ended, 1);
}

/* Let go and found again in the same process, told of once. */
STAGE_TEST(detached)
{
  pai_launch_plan plan;

  plan = stage_plan(s, 1, "echo $$; exec sleep 1000");
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait_for(s, 1, "\n");
  stage_leave(s, PAI_CLOSE_DETACH);
  assert_int_equal(s->ended, 0);
  assert_true(stage_lives(strtol(stage_out(s, 1), NULL, 10)));
  stage_open(s);
  assert_int_equal(adopt(s, 1), PAI_ADOPT_RUNNING);
  assert_int_equal(pai__backend_local.adopt(s->backend, 1, plan.dir, NULL),
                   PAI_EEXISTS);
  pai__backend_local.stop(s->backend, 1, PAI_STOP_NOW);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.signal, SIGKILL);
}

/* Whoever is second does nothing. */
STAGE_TEST(a_tombstone_is_for_ever)
{
  pai_launch_plan plan;
  struct stat info;

  assert_int_equal(adopt(s, 1), PAI_ADOPT_NEVER);
  assert_int_equal(adopt(s, 1), PAI_ADOPT_NEVER);
  assert_string_equal(stage_file(s, 1, "status"), "never\n");
  plan = stage_plan(s, 1, "echo ran");
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.how, PAI_END_LOST);
  assert_has(s->tasks[1].text, "never started");
  assert_string_equal(stage_out(s, 1), "");
  /* And a folder in which a task ran is not run in again. */
  (void)stage_run(s, 2, "echo ran; exit 6");
  plan = stage_plan(s, 2, "echo again");
  stage_start(s, 2, &plan);
  stage_wait(s, 3);
  assert_int_equal(s->tasks[2].end.code, 6);
  assert_string_equal(stage_file(s, 2, "all"), "ran\n");
  assert_int_equal(stat(plan.dir, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
}

static void write_status(stage *s, uint64_t task, const char *text)
{
  char path[128];

  (void)snprintf(path, sizeof(path), "%s/%d", s->root, (int)task);
  (void)mkdir(path, 0700);
  (void)snprintf(path, sizeof(path), "%s/%d/status", s->root, (int)task);
  test_write_file(path, text);
}

/* When a process began, and the boot of its machine. */
static long began(int pid, char boot[64])
{
  const char *at = test_file("/proc/sys/kernel/random/boot_id");

  assert_non_null(at);
  assert_int_equal(sscanf(at, "%63s", boot), 1);
  at = test_file(test_string("/proc/%d/stat", pid));
  assert_non_null(at);
  at = strrchr(at, ')');
  for (int i = 0; i < 20; i++)
    at = strchr(at + 1, ' ');
  return strtol(at + 1, NULL, 10);
}

/* Number, beginning and boot must all be right; else others are meant. */
STAGE_TEST(who_is_somebody_else_is_not_adopted)
{
  static const char no_boot[] = "00000000-0000-0000-0000-000000000000";
  char boot[64] = "", text[256];
  long since = began(getpid(), boot);

  (void)snprintf(text, sizeof(text), "supervisor %d %ld %s\nstarted 1 2 3\n",
                 (int)getpid(), since + 1, boot);
  write_status(s, 1, text); /* of one that had this number before */
  (void)snprintf(text, sizeof(text), "supervisor %d %ld %s\nstarted 1 2 3\n",
                 (int)getpid(), since, no_boot);
  write_status(s, 2, text);
  write_status(s, 3, "supervisor 4194303 1 ");
  write_status(s, 4, "");
  write_status(s, 5, "supervisor 9 9 x\nexit 12 1 2 3 4 0\n");
  for (uint64_t i = 1; i <= 5; i++)
    assert_int_equal(adopt(s, i), PAI_ADOPT_ENDED);
  stage_wait(s, 5);
  for (int i = 1; i <= 4; i++) {
    assert_int_equal(s->tasks[i].end.how, PAI_END_LOST);
    assert_int_equal(s->tasks[i].end.code, 256);
  }
  assert_has(s->tasks[1].text, "supervisor was killed");
  assert_has(s->tasks[2].text, "machine was restarted");
  assert_int_equal(s->tasks[5].end.code, 12);
}

/* "supervisor ..." as that process would write it. */
static void write_name(char *out, size_t size, int pid)
{
  char boot[64] = "";
  long since = began(pid, boot);

  (void)snprintf(out, size, "supervisor %d %ld %s\nstarted %d 2 %d\n", pid,
                 since, boot, pid, pid);
}

/* What a task writes into its folder is not what its supervisor says. */
TEST_IN(a_task_cannot_tell_its_end, stage, s, stage_init, stage_close)
{
  char script[256], path[128];
  const char *const scripts[] = { script };
  int go;

  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  (void)snprintf(script, sizeof(script),
                 "cd %s/0; rm -f status; printf 'supervisor 1 1 x\\nstarted 1 "
                 "1 1\\nexit 0 1 1 1 1 0 0\\n' > status; echo up; "
                 "read x < ../go; exit 7",
                 s->root);
  start_elsewhere(s, scripts, 1);
  while (strcmp(stage_file(s, 0, "all"), "up\n") != 0)
    stage_pause(1000);
  stage_open(s);
  assert_int_equal(adopt(s, 0), PAI_ADOPT_RUNNING);
  go = open(path, O_WRONLY | O_CLOEXEC);
  assert_int_equal(write(go, "\n", 1), 1);
  (void)close(go);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[0].end.how, PAI_END_EXIT);
  assert_int_equal(s->tasks[0].end.code, 7);
}

/* Nor can it name a process that is to be stopped in its place, be it by what an
 * older supervisor would have written. */
TEST(another_process_is_no_supervisor)
{
  pid_t victim = fork();
  char text[256];
  stage s;

  if (victim == 0) {
    (void)pause();
    _exit(0);
  }
  assert_true(victim > 0);
  stage_begin(&s);
  write_name(text, sizeof(text), victim);
  write_status(&s, 1, text);
  assert_int_equal(adopt(&s, 1), PAI_ADOPT_ENDED);
  pai__backend_local.stop(s.backend, 1, PAI_STOP_NOW);
  stage_wait(&s, 1);
  assert_int_equal(s.tasks[1].end.how, PAI_END_LOST);
  assert_true(stage_lives(victim));
  assert_int_equal(kill(victim, SIGKILL), 0);
  assert_int_equal(waitpid(victim, NULL, 0), victim);
  stage_close(&s);
}

/* It wrote into the task's folder, and writes on. */
TEST_IN(an_older_supervisor_is_found, stage, s, stage_init, stage_close)
{
  static const char *const scripts[] = { "read x < ../go; exit 9",
                                         "echo ran; exit 6" };
  char path[128], from[128], to[128], cwd[512];
  int go;

  (void)snprintf(path, sizeof(path), "%s/go", s->root);
  assert_int_equal(mkfifo(path, 0600), 0);
  (void)snprintf(to, sizeof(to), "%s/here", s->root);
  assert_int_equal(mkdir(to, 0700), 0);
  assert_non_null(getcwd(cwd, sizeof(cwd)));
  assert_int_equal(chdir(to), 0);
  start_elsewhere(s, scripts, PAI__LEN(scripts));
  assert_int_equal(chdir(cwd), 0);
  while (stage_status(s, 1, "exit", 1) != 6)
    ;
  for (int i = 0; i < 2; i++) {
    (void)snprintf(from, sizeof(from), "%s/own/%d/status", s->root, i);
    (void)snprintf(to, sizeof(to), "%s/%d/status", s->root, i);
    assert_int_equal(rename(from, to), 0);
  }
  stage_open(s);
  assert_int_equal(adopt(s, 0), PAI_ADOPT_RUNNING);
  assert_int_equal(adopt(s, 1), PAI_ADOPT_ENDED);
  go = open(path, O_WRONLY | O_CLOEXEC);
  assert_int_equal(write(go, "\n", 1), 1);
  (void)close(go);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[0].end.code, 9);
  assert_int_equal(s->tasks[1].end.code, 6);
}

/* The one that found it dies too; a third finds out how it ended. */
TEST_IN(one_after_the_other, stage, s, stage_init, stage_close)
{
  static const char *const scripts[] = { "sleep 0.3; echo late; exit 8" };
  pid_t pid;

  start_elsewhere(s, scripts, 1);
  pid = fork();
  if (pid == 0) {
    assert_ok(pai_loop_new(&s->loop, NULL, NULL));
    s->host.loop = s->loop;
    stage_open(s);
    assert_int_equal(adopt(s, 0), PAI_ADOPT_RUNNING);
    (void)kill(getpid(), SIGKILL);
  }
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  stage_open(s);
  assert_true(adopt(s, 0) != PAI_ADOPT_NEVER);
  stage_follow(s, 0, PAI_FOLLOW_ALL);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[0].end.code, 8);
  assert_string_equal(stage_out(s, 0), "late\n");
}

TEST_AROUND_ALL(NULL, stage_clean);
