/* What a task is started with in a sandbox and in a container, word by word. */
#define _XOPEN_SOURCE 700

#include "cases.h"
#include "backend/tree.h"
#include "backend/local/enter_env.h"
#include "backend/words.h"

#include <stdio.h>
#include <stdlib.h>

TEST(the_sandbox)
{
  pai__surroundings around = { .root = "/tmp/root", .here = "/tmp/here" };
  pai_launch_plan plan = { .dir = "/tmp/root/jobs/1",
                           .workdir = "/tmp/code",
                           .mounts = mounts,
                           .nmounts = 1 };
  pai__backend_words w;

  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(
    joined(&w),
    "/bin/bwrap --die-with-parent --dev-bind / / --tmpfs /dev/shm "
    "--unshare-pid --proc /proc "
    "--bind /tmp/root/jobs/1/tmp /tmp --bind /tmp/root /tmp/root --bind "
    "/tmp/here /tmp/here --bind /tmp/code /tmp/code --ro-bind /data/a /mnt/a "
    "--chdir /tmp/code");
  pai__words_dispose(&w);
  /* Places for mounts are made before them. */
  around.points = (const char *const[]){ "--tmpfs", "/mnt", NULL };
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_has(joined(&w), "/tmp/code --tmpfs /mnt --ro-bind "
                         "/data/a /mnt/a --chdir");
  pai__words_dispose(&w);
  /* Each once; a name that only begins alike is another's. */
  around = (pai__surroundings){ .root = "/tmp/a", .here = "/tmp/a" };
  plan = (pai_launch_plan){ .dir = "/tmp/ab/1", .workdir = "/tmp/a/b" };
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(
    joined(&w),
    "/bin/bwrap --die-with-parent --dev-bind / / "
    "--tmpfs /dev/shm --unshare-pid --proc /proc --bind /tmp/ab/1/tmp /tmp "
    "--bind /tmp/a /tmp/a --bind /tmp/ab/1 /tmp/ab/1 "
    "--chdir /tmp/a/b");
  pai__words_dispose(&w);
  /* What does not lie under /tmp is there anyway. */
  around = (pai__surroundings){ .root = "/var/root", .here = "/tmp" };
  plan = (pai_launch_plan){ .dir = "/var/root/1", .workdir = "/tmpfoo" };
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(
    joined(&w),
    "/bin/bwrap --die-with-parent --dev-bind / / "
    "--tmpfs /dev/shm --unshare-pid --proc /proc --bind /var/root/1/tmp /tmp "
    "--chdir /tmpfoo");
  pai__words_dispose(&w);
  plan.flags = PAI_LAUNCH_SHARE_PIDS | PAI_LAUNCH_SHARE_TMP;
  plan.workdir = NULL;
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(joined(&w),
                      "/bin/bwrap --die-with-parent --dev-bind / / "
                      "--tmpfs /dev/shm --unshare-pid --proc /proc");
  pai__words_dispose(&w);
  around.join = true; /* root's; of others also who its users are */
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(joined(&w), "/bin/bwrap --dev-bind / / "
                                  "--tmpfs /dev/shm --pidns 7 --proc /proc");
  pai__words_dispose(&w);
  around.join_user = around.join_told = true;
  around.shm = "/dev/shm/own";
  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, &plan, &around);
  assert_string_equal(joined(&w),
                      "/bin/bwrap --die-with-parent --dev-bind / / "
                      "--bind /dev/shm/own /dev/shm --userns 6 --pidns 7 "
                      "--info-fd 8 --block-fd 9 "
                      "--proc /proc");
  pai__words_dispose(&w);
}

static void expect_sandbox(const pai_launch_plan *plan,
                           const pai__surroundings *around, const char *text)
{
  static const char first[] = "/bin/bwrap --die-with-parent --dev-bind / / "
                              "--tmpfs /dev/shm ";
  pai__backend_words w;

  pai__words_init(&w, &pai__libc_alloc);
  pai__bwrap_words(&w, bwrap, plan, around);
  assert_memory_equal(joined(&w), first, strlen(first));
  assert_string_equal(joined(&w) + strlen(first), text);
  pai__words_dispose(&w);
}

/* Of the root nothing but what is the task's own, wherever it would be seen. */
TEST(the_root_is_hidden)
{
  static const pai_launch_mount wide[] = { { "/var", "/mnt/a", 1 },
                                           { "/var/root", "/mnt/b", 0 },
                                           { "/", "/mnt/c", 0 },
                                           { "/var/roots", "/mnt/d", 0 } };
  static const pai_launch_mount over[] = { { "/data", "/var", 0 } };
  static const pai_launch_mount same[] = { { "/var", "/var", 0 } };
  pai__surroundings around = { .root = "/tmp/root",
                               .hide = true,
                               .here = "/tmp/here" };
  pai_launch_plan plan = { .dir = "/tmp/root/jobs/1/0/a-0",
                           .job_dir = "/tmp/root/jobs/1/0",
                           .workdir = "/tmp/root/code/1" };

  expect_sandbox(
    &plan, &around,
    "--unshare-pid --proc /proc --bind /tmp/root/own/jobs/1/0/a-0/tmp /tmp "
    "--bind /tmp/here /tmp/here --tmpfs /tmp/root --bind /tmp/root/code/1 "
    "/tmp/root/code/1 --bind /tmp/root/jobs/1/0 /tmp/root/jobs/1/0 "
    "--remount-ro /tmp/root --chdir /tmp/root/code/1");
  /* A task that begins in the root, or above, sees no more. */
  around.root = "/var/root";
  plan =
    (pai_launch_plan){ .dir = "/var/root/1",
                       .workdir = "/var/root",
                       .flags = PAI_LAUNCH_SHARE_PIDS | PAI_LAUNCH_SHARE_TMP,
                       .mounts = wide,
                       .nmounts = 4 };
  expect_sandbox(&plan, &around,
                 "--unshare-pid --proc /proc --tmpfs /var/root --bind "
                 "/var/root/1 /var/root/1 --ro-bind /var /mnt/a --tmpfs "
                 "/mnt/a/root --bind /var/root /mnt/b "
                 "--tmpfs /mnt/b --bind / /mnt/c --tmpfs /mnt/c/var/root "
                 "--bind /var/roots /mnt/d --remount-ro /var/root --chdir "
                 "/var/root");
  /* Where something else is in its place, that is. */
  plan.mounts = over;
  plan.nmounts = 1;
  plan.workdir = NULL;
  expect_sandbox(&plan, &around,
                 "--unshare-pid --proc /proc --tmpfs /var/root --bind "
                 "/var/root/1 /var/root/1 --bind /data /var");
  /* What has it in its own place is hidden there, and the rest shown, again. */
  plan.mounts = same;
  expect_sandbox(&plan, &around,
                 "--unshare-pid --proc /proc --tmpfs /var/root --bind "
                 "/var/root/1 /var/root/1 --bind /var /var --tmpfs /var/root "
                 "--bind /var/root/1 /var/root/1 "
                 "--remount-ro /var/root");
  around.root = "/tmp"; /* as the task's own /tmp does */
  plan.nmounts = 0;
  plan.workdir = "/";
  expect_sandbox(&plan, &around, "--unshare-pid --proc /proc --chdir /");
}

/* A container sees of the machine what it is shown, and there no root. */
TEST(containers_see_no_root)
{
  static const struct {
    const char *workdir, *source, *sees;
    int runtime;
  } rows[] = {
    { "/box", "/data",
      "target=/box\" --mount type=tmpfs,\"target=/box/r\",notmpcopyup "
      "--workdir /box",
      PAI_RUNTIME_PODMAN },
    { "/box", "/data",
      "target=/box\" --mount type=tmpfs,\"target=/box/r\" --workdir /box",
      PAI_RUNTIME_DOCKER },
    { "/box/r", "/data", "target=/mnt\" --workdir /box/r",
      PAI_RUNTIME_DOCKER },
    { "/box/rest", "/data", "target=/box/rest\" --workdir /box/rest",
      PAI_RUNTIME_DOCKER },
    { "/box/r/code/1", "/data",
      "target=/box/r/code/1\" --workdir /box/r/code/1", PAI_RUNTIME_DOCKER },
    { NULL, "/box", "target=/mnt\" --mount type=tmpfs,\"target=/mnt/r\" --env",
      PAI_RUNTIME_DOCKER },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const pai_launch_mount mount = { rows[i].source, "/mnt", 0 };
    pai__surroundings around = { .root = "/box/r", .hide = true };
    pai__tool tool = { .path = podman, .works = true };
    pai_launch_plan plan = { .dir = "/box/r/jobs/1/a-0",
                             .job_dir = "/box/r/jobs/1",
                             .workdir = rows[i].workdir,
                             .image = "img",
                             .mounts = &mount,
                             .nmounts = 1 };
    pai__start s;

    pai__start_init(&s, &pai__libc_alloc);
    s.runtime = rows[i].runtime;
    pai__container_words(&s, &tool, &plan, &around);
    if (strstr(joined(&s.argv), rows[i].sees) == NULL)
      fail_msg("%zu: %s", i, joined(&s.argv));
    assert_has(joined(&s.argv), "source=/box/r/jobs/1\"");
    pai__start_dispose(&s);
  }
}

static void expect_words(const pai__tool *tool, const pai_launch_plan *plan,
                         const pai__surroundings *around, const char *part)
{
  pai__start s;

  pai__start_init(&s, &pai__libc_alloc);
  s.runtime = PAI_RUNTIME_DOCKER;
  pai__container_words(&s, tool, plan, around);
  if (strstr(joined(&s.argv), part) == NULL)
    fail_msg("no '%s' in: %s", part, joined(&s.argv));
  pai__start_dispose(&s);
}

TEST(containers)
{
  static const char *const cuda[] = { "CUDA_VISIBLE_DEVICES=0,2",
                                      "NVIDIA_VISIBLE_DEVICES=0,2", NULL };
  static const char *const own[] = { "LD_PRELOAD=it's", NULL };
  static const char *const devices[] = { "/dev/nvidia0", "/dev/nvidiactl",
                                         NULL };
  pai__surroundings around = { .root = "/r", .devices = devices };
  pai__tool tool = { .path = docker, .works = true, .nvidia = true };
  pai__backend_words entered;
  pai_launch_plan plan = { .dir = "/jobs/1",
                           .workdir = "/work",
                           .env = env,
                           .gpus = 0x5,
                           .cpus = 2,
                           .memory = 1 << 30,
                           .shm = 64,
                           .runtime = PAI_RUNTIME_DOCKER,
                           .image = "repo/img:1",
                           .user = "1000:100",
                           .mounts = mounts,
                           .nmounts = 2 };
  pai__start s;

  pai__start_init(&s, &pai__libc_alloc);
  s.runtime = PAI_RUNTIME_DOCKER;
  pai__container_words(&s, &tool, &plan, &around);
  s.argv.at[s.argv.len - 3] = "INSIDE";
  assert_string_equal(
    joined(&s.argv),
    "/bin/docker run --rm --interactive --name=openpai-1c8e0c019d01e42e "
    "--cidfile=/jobs/1/container.docker --network=host --log-driver=none "
    "--security-opt=label=disable --init --shm-size=64 --memory=1073741824 "
    "--cpus=2 "
    "--env=CUDA_VISIBLE_DEVICES=0,1 --gpus \"device=0,2\" --user=1000:100 "
    "--mount "
    "type=bind,\"source=/jobs/1\",\"target=/jobs/1\" --mount "
    "type=bind,\"source=/data/a\",\"target=/mnt/a\",readonly --mount "
    "type=bind,\"source=/odd,\"\"name\",\"target=/mnt/b\" --mount "
    "type=bind,\"source=/work\",\"target=/work\" --workdir /work --env PAI_A "
    "--env B --env=OPENPAI_CONTAINER=docker --entrypoint=bash -- repo/img:1 "
    "-c INSIDE openpai /jobs/1");
  assert_null(strstr(joined(&s.argv), "secret"));
  assert_string_equal(joined(&s.cleanup),
                      "/bin/docker rm --force openpai-1c8e0c019d01e42e");
  assert_string_equal(joined(&s.enter), "/bin/docker exec --interactive "
                                        "openpai-1c8e0c019d01e42e");
  assert_string_equal(joined(&s.enter_tty),
                      "/bin/docker exec --interactive --tty "
                      "openpai-1c8e0c019d01e42e");
  assert_true(s.script_stdin);
  pai__start_dispose(&s);
  /* The job's own variables are set inside, and never by name: the engine's
   * program would obey LD_PRELOAD. */
  plan.own_env = own;
  pai__start_init(&s, &pai__libc_alloc);
  s.runtime = PAI_RUNTIME_DOCKER;
  pai__container_words(&s, &tool, &plan, &around);
  assert_null(strstr(joined(&s.argv), "LD_PRELOAD"));
  assert_string_equal(
    joined(&s.enter),
    "/bin/docker exec --interactive --env=OPENPAI_VARIABLES "
    "openpai-1c8e0c019d01e42e bash -c eval \"$OPENPAI_VARIABLES\"; unset "
    "OPENPAI_VARIABLES; exec \"$@\" openpai");
  pai__start_dispose(&s);
  pai__words_init(&entered, &pai__libc_alloc);
  pai__enter_env(&entered, env, &plan, true);
  assert_string_equal(entered.at[entered.len - 1],
                      "OPENPAI_VARIABLES=export LD_PRELOAD='it'\\''s'\n");
  pai__words_dispose(&entered);
  plan.cpus = 2; /* as 1.5 is rounded, and as it is */
  plan.milli_cpus = 1500;
  expect_words(&tool, &plan, &around, " --cpus=1.5 ");
  plan.cpus = 1;
  plan.milli_cpus = 1;
  expect_words(&tool, &plan, &around, " --cpus=0.01 "); /* its least */
  /* podman names GPUs one by one, and inside they count from 0; without
   * NVIDIA's part the files are given.  Nor do tasks of a job with several
   * see other processes of the machine. */
  tool = (pai__tool){ .path = podman, .works = true, .nvidia = true };
  plan = (pai_launch_plan){ .dir = "/jobs/1/0/a-0",
                            .job_dir = "/jobs/1/0",
                            .workdir = "/usr/share",
                            .env = cuda,
                            .gpus = 0x5,
                            .cpu_list = "0-3",
                            .flags = PAI_LAUNCH_SHARE_PIDS,
                            .runtime = PAI_RUNTIME_PODMAN,
                            .image = "img" };
  pai__start_init(&s, &pai__libc_alloc);
  s.runtime = PAI_RUNTIME_PODMAN;
  pai__container_words(&s, &tool, &plan, &around);
  assert_has(
    joined(&s.argv),
    "--init --cpuset-cpus=0-3 --env=CUDA_VISIBLE_DEVICES=0,1 --device "
    "nvidia.com/gpu=0 --device nvidia.com/gpu=2 --user=0:0 --mount "
    "type=bind,\"source=/jobs/1/0\",\"target=/jobs/1/0\" --workdir "
    "/usr/share --env NVIDIA_VISIBLE_DEVICES "
    "--env=OPENPAI_CONTAINER=podman ");
  assert_string_equal(joined(&s.cleanup),
                      "/bin/podman rm --force --time=0 --ignore "
                      "openpai-926578d3aa64f6e4");
  pai__start_dispose(&s);
  tool.nvidia = false;
  pai__start_init(&s, &pai__libc_alloc);
  pai__container_words(&s, &tool, &plan, &around);
  assert_has(joined(&s.argv),
             " --device /dev/nvidia0 --device /dev/nvidiactl --user=0:0");
  pai__start_dispose(&s);
}

/* Where commands begin: nothing that a task could put a link in the place of, and
 * of the machine one apart writes to /tmp alone. */
TEST(containers_begin_in)
{
#define AT(path) "source=" path "\",\"target=" path "\""
  static const struct {
    const char *workdir, *has, *has_not;
    uint32_t flags;
  } rows[] = {
    { "/r/storages/team/a/b",
      AT("/r/storages/team") " --workdir "
                             "/r/storages/team/a/b ",
      "team/a\",", 0 },
    { "/r/storages/team", AT("/r/storages/team") " --workdir ", "x", 0 },
    { "/r/jobs/1/0/deep", "--workdir /r/jobs/1/0/deep ", "deep\",", 0 },
    { "/srv/a", AT("/srv/a") " --workdir /srv/a ", "readonly", 0 },
    { "/srv/a", AT("/srv/a") ",readonly --workdir /srv/a ", "x",
      PAI_LAUNCH_APART },
    { "/tmp/a", AT("/tmp/a") " --workdir /tmp/a ", "readonly",
      PAI_LAUNCH_APART },
    { "/r/storages/t/a", AT("/r/storages/t") " --workdir ", "readonly",
      PAI_LAUNCH_APART },
  };
#undef AT
  const pai__surroundings around = { .root = "/r", .hide = true };
  pai__tool tool = { .path = podman, .works = true };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_launch_plan plan = { .dir = "/r/jobs/1/0/a-0",
                             .job_dir = "/r/jobs/1",
                             .workdir = rows[i].workdir,
                             .env = env,
                             .flags = rows[i].flags,
                             .runtime = PAI_RUNTIME_PODMAN,
                             .image = "img" };
    pai__start s;

    pai__start_init(&s, &pai__libc_alloc);
    s.runtime = PAI_RUNTIME_PODMAN;
    pai__container_words(&s, &tool, &plan, &around);
    print_message("%s\n", joined(&s.argv));
    assert_has(joined(&s.argv), rows[i].has);
    if (strcmp(rows[i].has_not, "x") != 0)
      assert_null(strstr(joined(&s.argv), rows[i].has_not));
    pai__start_dispose(&s);
  }
}

/* --- the inside of a container --------------------------------------------- */

static void say(const char *command, char *out, size_t size)
{
  FILE *f = popen(command, "r");
  size_t n;

  assert_non_null(f);
  n = fread(out, 1, size - 1, f);
  out[n] = '\0';
  assert_int_equal(pclose(f), 0);
}

/* Runs the piece of shell that a container begins with, here: with this
 * script, and its task folder /tmp/... */
static void run_inside(const char *script, const char *dir, char *out,
                       size_t size)
{
  pai__surroundings around = { .root = NULL };
  pai__tool tool = { .path = docker, .works = true };
  pai_launch_plan plan = { .dir = dir, .image = "img" };
  pai__start s;

  pai__start_init(&s, &pai__libc_alloc);
  pai__container_words(&s, &tool, &plan, &around);
  assert_int_equal(setenv("INSIDE", s.argv.at[s.argv.len - 3], 1), 0);
  assert_int_equal(setenv("SCRIPT", script, 1), 0);
  say(test_string("printf '%%s\n' \"$SCRIPT\" | "
                  "bash -c \"$INSIDE\" openpai %s 3<&- 2>&1; echo code $?",
                  dir),
      out, size);
  pai__start_dispose(&s);
}

/* The script's input is empty, and it has no descriptor more than others. */
TEST(the_inside_of_a_container)
{
  char out[256], plain[128];

  say("bash -c 'ls /proc/self/fd </dev/null; true' 3<&-", plain,
      sizeof(plain));
  run_inside("ls /proc/self/fd\nread x; echo $? $LINENO; exit 7", root, out,
             sizeof(out));
  assert_string_equal(out, test_string("%s1 2\ncode 7\n", plain));
  assert_string_not_equal(content("/" PAI__BEGUN_FILE), "missing");
  run_inside("kill -SEGV $$", root, out, sizeof(out));
  assert_string_equal(out, "code 139\n"); /* and nobody else says a word */
}

#define FIND_OUTER "read -r _ _ _ outer _ </proc/$PPID/stat; "

/* What is asked to end is that shell: all of the script's group hears of it, and
 * it ends with the script's own code. */
TEST(it_is_asked_to_end)
{
  char out[256];

  run_inside("trap 'echo heard; exit 9' TERM; " FIND_OUTER "kill $outer; "
             "sleep 1000 & wait $!; exit 1",
             root, out, sizeof(out));
  assert_string_equal(out, "heard\ncode 9\n");
  run_inside("trap '' TERM; " FIND_OUTER "kill $outer; kill -HUP $outer; "
             "exit 3",
             root, out, sizeof(out));
  assert_string_equal(out, "code 3\n");
}

TEST_AROUND_EACH(make_tree, remove_tree);
