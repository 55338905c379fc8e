/* What the machine refuses, and what a supervisor costs. */
#define _XOPEN_SOURCE 700

#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- refusals ------------------------------------------------------------------ */

TEST(the_supervisor_is_missing)
{
  static const pai_backend_ops *const ops = &pai__backend_local;
  const char *before = getenv("OPENPAI_TASK");
  char kept[512];
  pai_error *err;
  stage s;

  (void)snprintf(kept, sizeof(kept), "%s", before != NULL ? before : "");
  stage_init(&s);
  s.host.program = "/nowhere/openpai-task";
  assert_int_equal(ops->open(&s.backend, NULL, &s.host, &err), PAI_ENOTFOUND);
  assert_has(pai_error_message(err), "/nowhere/openpai-task");
  assert_has(pai_error_help(err), "OPENPAI_TASK");
  pai_error_free(err);
  assert_int_equal(setenv("OPENPAI_TASK", "/elsewhere/task", 1), 0);
  s.host.program = NULL;
  assert_int_equal(ops->open(&s.backend, NULL, &s.host, &err), PAI_ENOTFOUND);
  assert_has(pai_error_message(err), "/elsewhere/task");
  pai_error_free(err);
  assert_int_equal(setenv("OPENPAI_TASK", TASK_PROGRAM, 1), 0);
  stage_open(&s);
  assert_int_equal(stage_run(&s, 1, "exit 3")->end.code, 3);
  stage_leave(&s, PAI_CLOSE_STOP);
  assert_int_equal(unsetenv("OPENPAI_TASK"), 0);
  stage_open(&s); /* and it finds it by itself */
  stage_close(&s);
  if (before != NULL)
    assert_int_equal(setenv("OPENPAI_TASK", kept, 1), 0);
}

/* It is no program, so there is no status. */
TEST_IN(the_supervisor_cannot_begin, stage, s, stage_init, stage_close)
{
  pai_launch_plan plan;
  pai_error *err;

  s->host.program = "/bin/false";
  stage_open(s);
  plan = stage_plan(s, 1, "true");
  stage_start(s, 1, &plan);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.how, PAI_END_FAILED);
  assert_int_equal(s->tasks[1].end.code, 126);
  assert_has(s->tasks[1].text, "supervisor could not start");
  stage_leave(s, PAI_CLOSE_STOP);
  s->host.program = "/etc"; /* which may be "executed" */
  stage_open(s);
  assert_true(pai__backend_local.start(s->backend, 2, &plan, &err) < 0);
  assert_has(pai_error_message(err), "cannot start the superv");
  assert_has(pai_error_message(err), "Permission denied");
  pai_error_free(err);
}

STAGE_TEST(bad_plans)
{
  const pai_backend_ops *ops = &pai__backend_local;
  char big[140000], deep[5000];
  const char *env[] = { big, NULL };
  const char *many[40];
  pai_launch_plan plan, good;
  pai_error *err;

  good = stage_plan(s, 1, "true");
  plan = good;
  plan.dir = "relative";
  assert_fails(ops->start(s->backend, 1, &plan, &err), err, PAI_EINVAL,
               "absolute folder");
  plan = good;
  plan.script = NULL;
  assert_int_equal(ops->start(s->backend, 1, &plan, NULL), PAI_EINVAL);
  plan = good;
  plan.nice = 20;
  assert_fails(ops->start(s->backend, 1, &plan, &err), err, PAI_EINVAL,
               "0 to 19");
  plan = good;
  plan.cpu_list = "all";
  assert_fails(ops->start(s->backend, 1, &plan, &err), err, PAI_EINVAL,
               "\"all\"");
  plan = good;
  plan.struct_size = 8;
  assert_true(ops->start(s->backend, 1, &plan, NULL) < 0);
  memset(deep, 'x', sizeof(deep));
  deep[0] = '/';
  deep[sizeof(deep) - 1] = '\0';
  plan = good;
  plan.dir = deep;
  assert_fails(ops->start(s->backend, 1, &plan, &err), err, PAI_ELIMIT,
               "too long");
  memset(big, 'x', sizeof(big));
  memcpy(big, "BIG=", 4);
  big[sizeof(big) - 1] = '\0';
  for (size_t i = 0; i + 1 < PAI__LEN(many); i++)
    many[i] = big;
  many[PAI__LEN(many) - 1] = NULL;
  plan = good;
  plan.env = many;
  assert_fails(ops->start(s->backend, 1, &plan, &err), err, PAI_ELIMIT,
               "exceed the size limit of the environment");
  assert_int_equal(access(good.dir, F_OK), -1); /* nothing was made */
  /* One variable that is too long is found out by the kernel. */
  plan.env = env;
  stage_start(s, 1, &plan);
  assert_int_equal(ops->start(s->backend, 1, &good, NULL), PAI_EEXISTS);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.how, PAI_END_FAILED);
  assert_int_equal(s->tasks[1].end.code, 126);
  assert_has(s->tasks[1].text, "Argument list too long");
  /* No folder to begin in. */
  plan = stage_plan(s, 2, "true");
  plan.workdir = "/nowhere/at/all";
  stage_start(s, 2, &plan);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[2].end.code, 126);
  assert_string_equal(
    s->tasks[2].text,
    "cannot change to the folder /nowhere/at/all: No such file or directory");
  assert_has(s->tasks[2].runtime, "/nowhere/at/all");
  assert_fails(ops->follow(s->backend, 77, PAI_FOLLOW_ALL, &err), err,
               PAI_ENOTFOUND, "no task 77");
}

/* Every call of the system that takes a descriptor, failing; then none. */
STAGE_TEST(descriptors_run_out)
{
  struct rlimit before, small;
  pai_launch_plan plan;
  uint64_t task = 1;
  int refused = 0;

  (void)stage_run(s, 0, "true"); /* libuv's inotify is open from now on */
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (int room = 0; room < 10; room++, task++) {
    pai_error *err = NULL;
    int rc, top = open("/dev/null", O_RDONLY);
    (void)close(top);
    small = before;
    small.rlim_cur = (rlim_t)(room < 8 ? top + room : 32 + room);
    plan = stage_plan(s, task, "exit 3");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    rc = pai__backend_local.start(s->backend, task, &plan, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (rc < 0) {
      assert_int_equal(rc, PAI_EIO);
      refused++;
      pai_error_free(err);
      continue;
    }
    while (s->tasks[task].ended == 0)
      assert_true(pai_loop_run_once(s->loop) >= 0);
    assert_int_equal(s->tasks[task].end.code, 3);
  }
  assert_in_range(refused, 3, 9);
}

/* From now on this call of the system fails, here and in all that is started
 * from here.  False: that cannot be had. */
static bool forbid(int call, int number)
{
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)number),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { PAI__LEN(code), code };

  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* A task where `call` fails: how it ended, 100 + the code of the error if it
 * did not start, 200 + that if the back end could not be opened. */
static int try_without(int call, int number)
{
  pai_launch_plan plan;
  pai_error *err = NULL;
  int rc;
  stage s;

  stage_init(&s);
  if (!forbid(call, number))
    return 99;
  rc = pai__backend_local.open(&s.backend, NULL, &s.host, &err);
  if (rc < 0)
    return 200 - rc;
  plan = stage_plan(&s, 1, "sleep 1000 & echo out; exit 3");
  plan.cpu_list = plan.numa_nodes = "0";
  rc = pai__backend_local.start(s.backend, 1, &plan, &err);
  if (rc < 0) {
    assert_true(strlen(pai_error_message(err)) > 10);
    return 100 - rc;
  }
  stage_follow(&s, 1, PAI_FOLLOW_ALL);
  stage_wait(&s, 1);
  if (s.tasks[1].end.how != PAI_END_EXIT)
    return s.tasks[1].end.code == 126 ? s.tasks[1].end.how : 98;
  return s.tasks[1].end.code == 3 && strcmp(stage_out(&s, 1), "out\n") == 0
           ? PAI_END_EXIT
           : 97;
}

/* Each in a process of its own, for it is for good. */
TEST(calls_of_the_system_fail)
{
  static const struct {
    const char *name;
    int call, number, result;
  } rows[] = {
    { "pidfd_open", 434, ENOSYS, PAI_END_EXIT },
    { "memfd_create", SYS_memfd_create, EMFILE, 100 - PAI_EIO },
    { "signalfd4", SYS_signalfd4, EMFILE, PAI_END_SHORT },
    { "pipe2", SYS_pipe2, ENFILE, PAI_END_SHORT },
    { "mkdir", SYS_mkdir, ENOSPC, 100 - PAI_EIO },
    { "close_range", 436, ENOSYS, PAI_END_EXIT },
    { "fallocate", SYS_fallocate, EOPNOTSUPP, PAI_END_EXIT },
    { "set_mempolicy", SYS_set_mempolicy, ENOSYS, PAI_END_EXIT },
    { "sched_setaffinity", SYS_sched_setaffinity, EPERM, PAI_END_EXIT },
    { "inotify_add_watch", SYS_inotify_add_watch, ENOSPC, PAI_END_EXIT },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
      int result = try_without(rows[i].call, rows[i].number);
      (void)stage_clean(NULL);
      _exit(result);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    print_message("%s\n", rows[i].name);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 99)
      print_message("skipped: there is no seccomp here\n");
    else
      assert_int_equal(WEXITSTATUS(status), rows[i].result);
  }
}

static void on_closed(void *user_data)
{
  (void)user_data;
}

/* Open, start, wait, close; then the same with what the other left. */
static int life_body(const pai_alloc *alloc, void *user_data)
{
  static uint64_t task;
  pai_error *err = NULL;
  pai_launch_plan plan;
  stage *s = user_data;
  int before = s->ended, rc;

  s->host.alloc = alloc;
  rc = pai__backend_local.open(&s->backend, NULL, &s->host, &err);
  if (rc < 0) {
    pai_error_free(err);
    return rc;
  }
  plan = stage_plan(s, ++task, "echo x; exit 3");
  plan.runtime = PAI_RUNTIME_AUTO;
  plan.memory = 1u << 30;
  rc = pai__backend_local.start(s->backend, task, &plan, &err);
  pai_error_free(err);
  if (rc == PAI_OK) {
    rc = pai__backend_local.follow(s->backend, task, PAI_FOLLOW_ALL, NULL);
    stage_wait(s, before + 1);
    assert_int_equal(s->tasks[task].end.code, 3);
  }
  pai__backend_local.close(s->backend, PAI_CLOSE_STOP, on_closed);
  assert_ok(pai_loop_run(s->loop));
  return rc;
}

TEST_IN(failing_memory, stage, s, stage_init, stage_close)
{
  test_faults(life_body, s);
  s->host.alloc = &s->tally.alloc;
  stage_open(s);
}

/* --- what it costs ----------------------------------------------------------------- */

static long private_kb(long pid)
{
  char line[256];
  long sum = 0, kb;
  FILE *f;

  f = fopen(test_string("/proc/%ld/smaps_rollup", pid), "r");
  assert_non_null(f);
  while (fgets(line, sizeof(line), f) != NULL)
    if (strncmp(line, "Private_", 8) == 0) {
      kb = strtol(strchr(line, ':') + 1, NULL, 10);
      sum += kb;
    }
  (void)fclose(f);
  return sum;
}

TEST(the_supervisor_is_small)
{
  pai_launch_plan plan;
  struct stat info;
  long both;
  stage s;

  assert_int_equal(stat(TASK_PROGRAM, &info), 0);
  print_message("openpai-task: %ld bytes\n", (long)info.st_size);
  assert_true(info.st_size <= TASK_MOST);
  stage_begin(&s);
  plan = stage_plan(&s, 1, "yes | head -c 1000000; echo; echo up; sleep 1000");
  stage_start(&s, 1, &plan);
  stage_follow(&s, 1, PAI_FOLLOW_ALL);
  stage_wait_for(&s, 1, "up\n");
  both = private_kb(stage_status(&s, 1, "supervisor", 1)) +
         private_kb(stage_status(&s, 1, "started", 3));
  print_message("supervisor and keeper: %ld KiB private\n", both);
  assert_true(both < 1024);
  stage_close(&s);
}

/* --- limits ------------------------------------------------------------------------- */

STAGE_TEST(too_much_memory_ends_it)
{
  pai_launch_plan plan;

  print_message("%s\n", pai__backend_local.limits(s->backend));
  plan = stage_plan(s, 1,
                    "sleep 1000 & x=$(head -c 90000000 /dev/zero | tr '\\0' "
                    "x); echo $x | (read y; sleep 100); sleep 1000");
  plan.memory = 60 << 20;
  stage_start(s, 1, &plan);
  stage_wait(s, 1);
  assert_int_equal(s->tasks[1].end.oom, 1);
  assert_int_equal(s->tasks[1].end.code, 137);
  assert_has(s->tasks[1].text, "more memory");
  plan = stage_plan(s, 2, "exit 0");
  plan.memory = 60 << 20;
  stage_start(s, 2, &plan);
  stage_wait(s, 2);
  assert_int_equal(s->tasks[2].end.oom, 0);
  assert_int_equal(s->tasks[2].end.code, 0);
}

STAGE_TEST(cpus_and_nice)
{
  pai_launch_plan plan;

  plan =
    stage_plan(s, 1, "grep -o 'Cpus_allowed_list:.*' /proc/self/status; nice");
  plan.cpu_list = "0";
  plan.numa_nodes = "0";
  plan.nice = 7;
  stage_start(s, 1, &plan);
  stage_follow(s, 1, PAI_FOLLOW_ALL);
  stage_wait(s, 1);
  assert_string_equal(stage_out(s, 1), "Cpus_allowed_list:\t0\n7\n");
}

/* Tasks of one owner take their processes from one limit. */
TEST(an_owner_has_one_limit)
{
  static const char few[] =
    "grep -o 'openpai-of-[0-9a-f]*' /proc/self/cgroup | head -n 1; "
    "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; echo up; read x";
  static const char more[] =
    "sh -c 'for i in 1 2 3 4 5 6; do sleep 1000 & done; echo all'";
  char owner[80], other[80], above[96];
  stage s;

  stage_begin(&s);
  (void)snprintf(owner, sizeof(owner), "%s~ann", s.root);
  (void)snprintf(other, sizeof(other), "%s~bob", s.root);
  if (strstr(pai__backend_local.limits(s.backend), "pids") == NULL) {
    print_message("skipped: %s\n", pai__backend_local.limits(s.backend));
    stage_close(&s);
    return;
  }
  for (uint64_t i = 1; i <= 3; i++) {
    pai_launch_plan plan = stage_plan(&s, i, i == 1 ? few : more);

    plan.owner = i < 3 ? owner : other;
    plan.owner_processes = plan.processes = 14;
    plan.flags = i == 1 ? PAI_LAUNCH_INPUT : 0;
    stage_start(&s, i, &plan);
    stage_follow(&s, i, PAI_FOLLOW_ALL);
    if (i == 1)
      stage_wait_for(&s, i, "up\n");
    else
      stage_wait(&s, (int)i - 1);
  }
  assert_string_equal(stage_out(&s, 2), "");
  assert_int_not_equal(s.tasks[2].end.code, 0);
  assert_string_equal(stage_out(&s, 3), "all\n");
  (void)snprintf(above, sizeof(above), "/sys/fs/cgroup/pids/%.*s",
                 (int)strcspn(stage_out(&s, 1), "\n"), stage_out(&s, 1));
  pai__backend_local.stop(s.backend, 1, PAI_STOP_NOW);
  stage_wait(&s, 3);
  assert_int_equal(access(above, F_OK), -1); /* where version 1 has it */
  stage_close(&s);
}

TEST_AROUND_ALL(NULL, stage_clean);
