/* Tasks in the sandbox: what they see, and that nothing of them is left. */
#define _XOPEN_SOURCE 700

#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_sandbox(stage *s)
{
  const char *said = pai__backend_local.runtime(s->backend);

  print_message("%s\n", said);
  if (strncmp(said, "bwrap: ", 7) == 0)
    return true;
  print_message("skipped: %s\n", said);
  return false;
}

/* In ROOT/work. */
static void sandboxed(stage *s, uint64_t task, const char *script, int flags)
{
  pai_launch_plan plan = stage_plan(s, task, script);
  char work[96];

  (void)snprintf(work, sizeof(work), "%s/work", s->root);
  (void)mkdir(work, 0700);
  plan.runtime = PAI_RUNTIME_BWRAP;
  plan.flags = (uint32_t)flags;
  plan.workdir = work;
  stage_start(s, task, &plan);
  stage_follow(s, task, PAI_FOLLOW_ALL);
}

STAGE_TEST(facts_of_the_sandbox)
{
  char script[4096];
  struct stat info;

  if (has_sandbox(s)) {
    (void)snprintf(
      script, sizeof(script),
      "pwd; ls /tmp; echo mine > /tmp/file; ls -d /tmp/file; "
      "[ $$ -lt 10 -a $(ls /proc | grep -c '^[0-9]') -lt 10 ] && "
      "echo few; "
      "echo kept > %s/work/kept; [ -w /dev/null ] && [ -e /dev/shm ] "
      "&& echo devices; echo x > /dev/shm/%s; stat -c %%a /tmp; "
      "ls -l /proc/self/fd | wc -l; exit 3",
      s->root, s->root + 5);
    sandboxed(s, 1, script, 0);
    stage_wait(s, 1);
    (void)snprintf(script, sizeof(script),
                   "%s/work\n%s\n/tmp/file\nfew\ndevices\n1777\n5\n", s->root,
                   s->root + 5);
    assert_string_equal(stage_out(s, 1), script);
    assert_int_equal(s->tasks[1].end.code, 3);
    assert_int_equal(access("/tmp/file", F_OK), -1);
    (void)snprintf(script, sizeof(script), "%s/work/kept", s->root);
    assert_int_equal(stat(script, &info), 0);
    (void)snprintf(script, sizeof(script), "%s/own/1/tmp", s->root);
    while (access(script, F_OK) == 0) /* removed after the end was told */
      stage_pause(1000);
    /* Nobody else has its /dev/shm. */
    sandboxed(s, 2, "ls -A /dev/shm; echo all",
              PAI_LAUNCH_SHARE_PIDS | PAI_LAUNCH_SHARE_TMP);
    stage_wait(s, 2);
    assert_string_equal(stage_out(s, 2), "all\n");
    (void)snprintf(script, sizeof(script), "/dev/shm/%s", s->root + 5);
    assert_int_equal(access(script, F_OK), -1);
  }
}

/* --- the root ------------------------------------------------------------------ */

static void put_file(const stage *s, const char *name)
{
  int fd;

  fd = open(test_string("%s/%s", s->root, name),
            O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(close(fd), 0);
}

static void make_folder(const stage *s, const char *name)
{
  assert_int_equal(mkdir(test_string("%s/%s", s->root, name), 0700), 0);
}

/* What a task finds out: each line is a way that leads to something. */
static const char look[] =
  "cd ROOT; for f in key other/log work/all/NAME/key data/key; do "
  "! cat $f || echo \"sees $f\"; done 2> /dev/null; "
  "! { : > ROOT/new; } 2> /dev/null || echo writes; "
  "[ $UID = 0 ] || ! unshare -Urm umount ROOT 2> /dev/null || echo uncovers; "
  "[ $UID = 0 ] || ! unshare -Urm mount --bind / /mnt 2> /dev/null || "
  "echo turns; "
  "echo x > ROOT/work/made && echo y > ROOT/data/made && echo z > 1/made && "
  "echo *";

/* The text with ROOT and NAME of the stage's. */
static const char *of_root(const stage *s, const char *text)
{
  static char out[4096];
  size_t n = 0;

  while (*text != '\0') {
    bool root = strncmp(text, "ROOT", 4) == 0;

    if (root || strncmp(text, "NAME", 4) == 0) {
      n += (size_t)snprintf(out + n, sizeof(out) - n, "%s",
                            root ? s->root : s->root + 5);
      text += 4;
    } else {
      out[n++] = *text++;
    }
    assert_true(n < sizeof(out));
  }
  out[n] = '\0';
  return out;
}

/* Only what is the task's own: its folder, where it begins, what is mounted;
 * also where the root comes with another folder. */
STAGE_TEST(the_root_is_hidden)
{
  char work[96], all[128], data[96];
  const pai_launch_mount mounts[] = { { "/tmp", all, 0 }, { data, data, 0 } };
  pai_launch_plan plan;

  if (has_sandbox(s)) {
    (void)snprintf(work, sizeof(work), "%s/work", s->root);
    (void)snprintf(all, sizeof(all), "%s/all", work);
    (void)snprintf(data, sizeof(data), "%s/data", s->root);
    make_folder(s, "work");
    make_folder(s, "work/all");
    make_folder(s, "data");
    make_folder(s, "other");
    put_file(s, "key");
    put_file(s, "other/log");
    plan = stage_plan(s, 1, of_root(s, look));
    plan.runtime = PAI_RUNTIME_BWRAP;
    plan.workdir = work;
    plan.mounts = mounts;
    plan.nmounts = 2;
    stage_start(s, 1, &plan);
    stage_follow(s, 1, PAI_FOLLOW_ALL);
    stage_wait(s, 1);
    assert_string_equal(stage_out(s, 1), "1 data work\n");
    assert_string_equal(stage_file(s, 1, "made"), "z\n");
  }
}

/* With the stage's root in a folder of the test's own, whose path is in `above`. */
static void nest(stage *s, char above[64])
{
  stage_init(s);
  (void)snprintf(above, 64, "%s", s->root);
  (void)strcat(s->root, "/in");
  assert_int_equal(mkdir(s->root, 0700), 0);
}

/* Where the folder that has the root in it is shown in its own place. */
TEST(the_root_is_hidden_in_what_is_shown)
{
  char above[64], work[96], file[128];
  const pai_launch_mount mount = { above, above, 0 };
  pai_launch_plan plan;
  stage s;

  nest(&s, above);
  stage_open(&s);
  if (has_sandbox(&s)) {
    (void)snprintf(work, sizeof(work), "%s/work", s.root);
    (void)snprintf(file, sizeof(file), "%s/beside", above);
    make_folder(&s, "work");
    put_file(&s, "key");
    plan = stage_plan(&s, 1,
                      "echo y > ../../beside; echo z > ../1/made; pwd; "
                      "! { : > ../new; } 2> /dev/null || echo writes; "
                      "cd ..; echo *");
    plan.runtime = PAI_RUNTIME_BWRAP;
    plan.workdir = work;
    plan.mounts = &mount;
    plan.nmounts = 1;
    stage_start(&s, 1, &plan);
    stage_follow(&s, 1, PAI_FOLLOW_ALL);
    stage_wait(&s, 1);
    assert_string_equal(stage_out(&s, 1), of_root(&s, "ROOT/work\n1 work\n"));
    assert_string_equal(stage_file(&s, 1, "made"), "z\n");
    assert_int_equal(unlink(file), 0);
  }
  stage_close(&s);
  assert_int_equal(rmdir(above), 0);
}

/* A task that is asked for by a link that it, or another, has put there leads
 * into another task. */
STAGE_TEST(no_link_is_entered)
{
  char own[96], other[96], moved[104];
  pai_error *err;
  pai_launch_plan plan;
  int fd;

  for (uint64_t i = 1; i <= 2; i++) {
    plan = stage_plan(s, i, "echo up; read x");
    plan.flags = PAI_LAUNCH_INPUT;
    stage_start(s, i, &plan);
    stage_follow(s, i, PAI_FOLLOW_ALL);
    stage_wait_for(s, i, "up\n");
  }
  (void)snprintf(own, sizeof(own), "%s/1", s->root);
  (void)snprintf(moved, sizeof(moved), "%s->moved", own);
  (void)snprintf(other, sizeof(other), "%s/2", s->root);
  assert_ok(pai__backend_local.enter(s->backend, 1, &fd, &err));
  assert_int_equal(close(fd), 0);
  assert_int_equal(rename(own, moved), 0);
  assert_int_equal(symlink(other, own), 0);
  assert_fails(pai__backend_local.enter(s->backend, 1, &fd, &err), err,
               PAI_EPERM, "with a link");
  assert_int_equal(unlink(own), 0);
  assert_int_equal(rename(moved, own), 0);
  (void)strcat(own, "/enter");
  (void)strcat(other, "/enter");
  assert_int_equal(unlink(own), 0);
  assert_int_equal(symlink(other, own), 0);
  assert_fails(pai__backend_local.enter(s->backend, 1, &fd, &err), err,
               PAI_EPERM, "with a link");
  for (uint64_t i = 1; i <= 2; i++)
    pai__backend_local.stop(s->backend, i, PAI_STOP_NOW);
  stage_wait(s, 2);
}

/* A link that was put in the place of what is shown: to what is hidden, or to
 * what has it in it. */
TEST(no_link_leads_to_the_root)
{
  char above[64], link[96], wide[96], key[96];
  const pai_launch_mount mounts[] = { { link, "/mnt", 0 },
                                      { wide, "/mnt", 0 } };
  pai_error *err = NULL;
  stage s;

  nest(&s, above);
  stage_open(&s);
  (void)snprintf(link, sizeof(link), "%s-link", s.root);
  (void)snprintf(wide, sizeof(wide), "%s-wide", s.root);
  (void)snprintf(key, sizeof(key), "%s/other", s.root);
  make_folder(&s, "other");
  assert_int_equal(symlink(above, wide), 0);
  assert_int_equal(symlink(key, link), 0);
  for (uint64_t i = 1; i <= 5 && has_sandbox(&s); i++) {
    pai_launch_plan plan = stage_plan(&s, i, "ls");

    plan.runtime = PAI_RUNTIME_BWRAP;
    if (i == 1 || i == 4) {
      plan.workdir = i == 1 ? link : wide;
    } else if (i == 2 || i == 5) {
      plan.mounts = i == 2 ? &mounts[0] : &mounts[1];
      plan.nmounts = 1;
    } else {
      make_folder(&s, "own");
      make_folder(&s, "own/3");
      (void)snprintf(key, sizeof(key), "%s/own/3/tmp", s.root);
      assert_int_equal(symlink(s.root, key), 0);
    }
    assert_true(pai__backend_local.start(s.backend, i, &plan, &err) < 0);
    test_expect_error(err, i == 3 ? PAI_EIO : PAI_EPERM,
                      i == 3 ? "cannot create folder" : " is a link to ");
  }
  assert_int_equal(unlink(link), 0);
  assert_int_equal(unlink(wide), 0);
  stage_close(&s);
  assert_int_equal(rmdir(above), 0);
}

/* A bubblewrap that first puts a link to `to` in the place of `from`, where there
 * is a file `swap`. */
static void make_swapper(const stage *s, const char *from, const char *to)
{
  char path[128];
  FILE *f;

  make_folder(s, "bin");
  (void)snprintf(path, sizeof(path), "%s/bin/bwrap", s->root);
  f = fopen(path, "w");
  assert_non_null(f);
  (void)fprintf(f,
                "#!/bin/sh\nif [ -e %s/swap ]; then mv %s %s.was && "
                "ln -s %s %s; fi\nPATH=${PATH#*:} exec bwrap \"$@\"\n",
                s->root, from, from, to, from);
  assert_int_equal(fclose(f), 0);
  assert_int_equal(chmod(path, 0700), 0);
}

/* What is shown is what was looked at, whoever changes the path meanwhile: where
 * commands begin, in a storage of the root or below /tmp, and what is mounted. */
TEST(nothing_is_exchanged_before_it_is_shown)
{
  char above[96], from[112], was[128], swap[96];
  char *before = getenv("PATH");
  const pai_launch_mount mount = { from, "/mnt", 0 };

  assert_non_null(before);
  before = strdup(before);
  for (int i = 0; i < 3; i++) {
    stage s;

    stage_init(&s);
    put_file(&s, "key");
    make_folder(&s, "storages");
    (void)snprintf(above, sizeof(above),
                   i == 0 ? "%s/storages/team" : "%s-team", s.root);
    (void)snprintf(from, sizeof(from), "%s/data", above);
    (void)snprintf(was, sizeof(was), "%s.was", from);
    (void)snprintf(swap, sizeof(swap), "%s/swap", s.root);
    assert_int_equal(mkdir(above, 0700), 0);
    assert_int_equal(mkdir(from, 0700), 0);
    make_swapper(&s, from, s.root);
    assert_int_equal(
      setenv("PATH", test_string("%s/bin:%s", s.root, before), 1), 0);
    stage_open(&s);
    for (uint64_t k = 0; k < 2 && has_sandbox(&s); k++) {
      pai_launch_plan plan = stage_plan(&s, k, "ls -A . /mnt; echo ran");

      plan.runtime = PAI_RUNTIME_BWRAP;
      if (i < 2) {
        plan.workdir = from;
      } else {
        plan.mounts = &mount;
        plan.nmounts = 1;
      }
      if (k == 1)
        put_file(&s, "swap");
      stage_start(&s, k, &plan);
      stage_follow(&s, k, PAI_FOLLOW_ALL);
      stage_wait(&s, (int)k + 1);
      assert_null(strstr(stage_out(&s, k), "key"));
      if (k == 0) {
        assert_has(stage_out(&s, k), "ran\n");
        assert_int_equal(s.tasks[k].end.code, 0);
        continue;
      }
      assert_int_equal(s.tasks[k].end.how, PAI_END_FAILED);
      assert_int_equal(s.tasks[k].end.code, 126);
      assert_string_equal(stage_out(&s, k), "");
      assert_has(s.tasks[k].text, "was replaced by another folder");
      assert_int_equal(unlink(from), 0);
      assert_int_equal(rename(was, from), 0);
    }
    assert_int_equal(rmdir(from), 0);
    assert_int_equal(rmdir(above), 0);
    stage_close(&s);
  }
  assert_int_equal(setenv("PATH", before, 1), 0);
  free(before);
}

/* A task of that job, which has several. */
static void start_of(stage *s, uint64_t task, const char *name,
                     const char *script)
{
  pai_launch_plan plan = stage_plan(s, task, script);
  char job[96];

  (void)snprintf(job, sizeof(job), "%s/%s", s->root, name);
  (void)mkdir(job, 0700);
  plan.runtime = PAI_RUNTIME_BWRAP;
  plan.flags = PAI_LAUNCH_SHARE_PIDS;
  plan.job_dir = job;
  stage_start(s, task, &plan);
  stage_follow(s, task, PAI_FOLLOW_ALL);
}

/* Tasks of a job with several see each other's processes, and may look into
 * them; of no other job's and of the machine's anything is seen. */
STAGE_TEST(a_job_sees_its_own_processes)
{
  static const char none[] =
    "kill -0 %d 2> /dev/null && grep -q test_ /proc/%d/cmdline && echo host; "
    "[ $(ls /proc | grep -c '^[0-9]') -lt 20 ] && echo few; ";
  char script[1024];

  if (has_sandbox(s)) {
    start_of(s, 1, "job",
             of_root(s, "echo $$ > ROOT/job/number; echo up; "
                        "while [ ! -e ROOT/job/over ]; do sleep .01; done"));
    stage_wait_for(s, 1, "up\n");
    (void)snprintf(script, sizeof(script), none, (int)getpid(), (int)getpid());
    (void)strcat(
      script,
      of_root(s, "n=$(cat ROOT/job/number); kill -0 $n && "
                 "readlink /proc/$n/root; [ $UID = 0 ] || "
                 "! ls -d /proc/1/root/[a-z]* 2> /dev/null; kill -9 1; "
                 "[ -e /proc/1 ] && : > ROOT/job/over"));
    start_of(s, 2, "job", script);
    (void)snprintf(script, sizeof(script), none, (int)getpid(), (int)getpid());
    (void)strcat(script, "cat /proc/*/cmdline | tr '\\0' ' ' | grep "
                         "'sleep [.]01' || echo others");
    start_of(s, 3, "other", script);
    stage_wait(s, 3);
    assert_string_equal(stage_out(s, 2), "few\n/\n");
    assert_string_equal(stage_out(s, 3), "few\nothers\n");
  }
}

/* What lost its parents ends with its own task, not with another of the job. */
STAGE_TEST(orphans_end_with_their_task)
{
  static const char leave[] =
    "(setsid bash -c 'exec > /dev/null < /dev/null; echo $$ > ROOT/job/new; "
    "mv ROOT/job/new ROOT/job/number; exec sleep 1000' &); "
    "while [ ! -e ROOT/job/number ]; do sleep .01; done; echo up; "
    "exec sleep 1000";

  if (has_sandbox(s)) {
    start_of(s, 1, "job", of_root(s, leave));
    stage_wait_for(s, 1, "up\n");
    start_of(s, 2, "job",
             of_root(s, "for i in {1..50}; do (setsid bash -c 'exec > "
                        "/dev/null < /dev/null; exec -a other sleep 1000' &); "
                        "done; "
                        "kill -0 $(cat ROOT/job/number) && echo there"));
    stage_wait(s, 1);
    start_of(s, 3, "job",
             of_root(s, "kill -0 $(cat ROOT/job/number) && echo there; "
                        "! grep -l ^other /proc/[0-9]*/cmdline"));
    stage_wait(s, 2);
    pai__backend_local.stop(s->backend, 1, PAI_STOP_ASK);
    stage_wait(s, 3);
    assert_string_equal(stage_out(s, 2), "there\n");
    assert_string_equal(stage_out(s, 3), "there\n");
    assert_int_equal(s->tasks[3].end.code, 0);
    assert_int_equal(s->tasks[1].end.code, 128 + SIGTERM);
  }
}

/* --- its end ------------------------------------------------------------------- */

/* A task that leaves folders so deep in its /tmp; removed after its end. */
static void leave_folders(stage *s, uint64_t task, int deep)
{
  char script[4096];

  (void)snprintf(script, sizeof(script),
                 "echo kept > %s/work/kept; ln -s %s/work /tmp/link; cd /tmp; "
                 "mkdir -p empty d/d d/e; touch file d/d/.hidden d/e/'a b'; "
                 "mkfifo d/pipe; for i in {1..300}; do : > d/e/$i-%0100d; "
                 "done; for ((i = 0; i < %d; i++)); do mkdir deep; cd deep; "
                 "done",
                 s->root, s->root, 0, deep);
  sandboxed(s, task, script, 0);
  stage_wait(s, (int)task);
  assert_int_equal(s->tasks[task].end.code, 0);
  (void)snprintf(script, sizeof(script), "%s/own/%d/tmp", s->root, (int)task);
  while (access(script, F_OK) == 0)
    stage_pause(1000);
  (void)snprintf(script, sizeof(script), "%s/work/kept", s->root);
  assert_int_equal(access(script, F_OK), 0);
}

/* What was left in it goes with it, but nothing that a link there leads to. */
STAGE_TEST(the_sandbox_leaves_nothing)
{
  if (has_sandbox(s)) {
    leave_folders(s, 1, 5);
    leave_folders(s, 2, 50);
  }
}

/* There is no engine where PATH has none: what only would like to be in its image
 * runs here, and each task's log says so; who asks for one is refused. */
TEST(without_an_engine)
{
  char path[4096], bin[128], bash[160];
  pai_launch_plan plan;
  pai_error *err;
  stage s;

  (void)snprintf(path, sizeof(path), "%s", getenv("PATH"));
  stage_init(&s);
  (void)snprintf(bin, sizeof(bin), "%s/bin", s.root);
  (void)snprintf(bash, sizeof(bash), "%s/bash", bin);
  assert_int_equal(mkdir(bin, 0700), 0);
  assert_int_equal(symlink("/bin/bash", bash), 0);
  assert_int_equal(setenv("PATH", bin, 1), 0);
  stage_open(&s);
  for (uint64_t i = 1; i <= 2; i++) {
    plan = stage_plan(&s, i, "exit 3");
    plan.runtime = PAI_RUNTIME_AUTO;
    plan.image = "img";
    stage_start(&s, i, &plan);
    assert_has(pai__backend_local.task_runtime(s.backend, i),
               "not in its image img: podman is not installed");
  }
  assert_null(pai__backend_local.task_runtime(s.backend, 3));
  plan = stage_plan(&s, 3, "exit 3");
  plan.runtime = PAI_RUNTIME_PODMAN;
  plan.image = "img";
  assert_int_equal(pai__backend_local.start(s.backend, 3, &plan, &err),
                   PAI_ENOTSUP);
  assert_has(pai_error_help(err), "the runtime auto");
  test_expect_error(err, PAI_ENOTSUP, "podman is not installed");
  stage_wait(&s, 2);
  assert_int_equal(setenv("PATH", path, 1), 0);
  for (int i = 1; i <= 2; i++) {
    assert_int_equal(s.tasks[i].end.code, 3);
    assert_has(s.tasks[i].runtime, "docker is not installed\n");
  }
  stage_close(&s);
}

/* Numbers as this process sees them, of a sandbox with other numbers. */
static void expect_none_left(const char *mark)
{
  test_shell("for i in $(seq 1000); do grep -lsz '^%s$' "
             "/proc/[0-9]*/cmdline | grep -q . || exit 0; sleep 0.05; "
             "done; exit 1",
             mark);
}

TEST(stops_in_the_sandbox)
{
  char script[256], mark[32]; /* for how long nobody else sleeps */
  stage s;

  (void)snprintf(mark, sizeof(mark), "7000.%d", (int)getpid());
  stage_begin(&s);
  if (has_sandbox(&s)) {
    (void)snprintf(script, sizeof(script),
                   "trap 'echo bye; exit 9' TERM; (setsid sleep %s &); echo "
                   "up; while :; do sleep %s & wait; done",
                   mark, mark);
    sandboxed(&s, 1, script, 0);
    stage_wait_for(&s, 1, "up\n");
    pai__backend_local.stop(s.backend, 1, PAI_STOP_ASK);
    stage_wait(&s, 1);
    assert_string_equal(stage_out(&s, 1), "up\nbye\n");
    assert_int_equal(s.tasks[1].end.code, 9);
    expect_none_left(mark);
    (void)snprintf(script, sizeof(script),
                   "(setsid sleep %s &); echo up; sleep %s", mark, mark);
    sandboxed(&s, 2, script, 0);
    stage_wait_for(&s, 2, "up\n");
    assert_int_equal(
      kill((pid_t)stage_status(&s, 2, "supervisor", 1), SIGKILL), 0);
    stage_wait(&s, 2);
    assert_int_equal(s.tasks[2].end.how, PAI_END_LOST);
    expect_none_left(mark);
    for (uint64_t i = 3; i < 23; i++) { /* whenever it comes */
      (void)snprintf(script, sizeof(script), "sleep %s", mark);
      sandboxed(&s, i, script, 0);
      stage_pause((long)i * 500);
      pai__backend_local.stop(s.backend, i,
                              i % 2 ? PAI_STOP_ASK : PAI_STOP_NOW);
      stage_wait(&s, (int)i);
      assert_in_range(s.tasks[i].end.code, 137, 143);
    }
    expect_none_left(mark);
  }
  stage_close(&s);
}

TEST_AROUND_ALL(NULL, stage_clean);
