/* The platform around its jobs: who waits for what, what is refused and what
 * forgotten, the loops of hosts. */
#include "cases.h"
#include "story.h"

#include <openpai/uv.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A job that needs all CPUs, so that there is only one at a time. */
static pai_spec *wide_job(const char *fields, const char *command)
{
  return story_parse(
    test_string("{protocolVersion: 2, name: wide, type: job, %s" STORY_IMAGE
                ", taskRoles: {a: {dockerImage: x, resourcePerInstance: "
                "{cpu: %ld, memoryMB: 64, gpu: 0}, commands: [\"%s\"]}}}",
                fields, sysconf(_SC_NPROCESSORS_ONLN), command));
}

/* Two wide jobs, of which the first ends with `code` until it was started
 * `times` times; their output. */
static void expect_order(const char *fields, int code, int times,
                         const char *want)
{
  story s = { .runtime = "process" };
  pai_loop *loop = story_open(&s);
  pai_spec *specs[2];

  specs[0] =
    wide_job(fields, test_string("cd %s; echo >> tried-%d; echo first; "
                                 "test $(wc -l < tried-%d) -ge %d || exit %d",
                                 story_root, code, code, times, code));
  specs[1] = wide_job("", "echo second");
  for (int i = 0; i < 2; i++) {
    (void)story_submit(&s, specs[i]);
    pai_spec_unref(specs[i]);
  }
  story_close(loop);
  assert_int_equal(s.finished, 2);
  assert_string_equal(s.output, want);
  assert_string_equal(s.log, "");
}

TEST(a_job_that_is_tried_again_keeps_its_turn)
{
  expect_order("jobRetryCount: 1, ", 3, 2, "first\nfirst\nsecond\n");
}

/* The third attempt is made after a second. */
TEST(one_that_waits_for_its_time_lets_others_go)
{
  expect_order("", 200, 3, "first\nfirst\nsecond\nfirst\n");
}

TEST(jobs_wait_their_turn_and_say_why)
{
  story s = { 0 };
  pai_loop *loop = story_open(&s);
  pai_spec *spec;
  int code;

  spec = wide_job("", "echo x");
  assert_int_equal(story_submit(&s, spec), 1);
  assert_int_equal(story_submit(&s, spec), 2);
  assert_int_equal(story_submit(&s, spec), 3);
  assert_string_not_equal(pai_platform_job_dir(s.platform, 1),
                          pai_platform_job_dir(s.platform, 2));
  assert_int_equal(pai_platform_job_state(NULL, s.platform, 2),
                   PAI_STATE_WAITING);
  assert_int_equal(pai_platform_job_state(&code, s.platform, 4),
                   PAI_ENOTFOUND);
  assert_int_equal(pai_platform_forget(s.platform, 2), PAI_EBUSY);
  assert_int_equal(pai_platform_forget(s.platform, 4), PAI_ENOTFOUND);
  assert_int_equal(pai_platform_stop(s.platform, 4), PAI_ENOTFOUND);
  assert_null(pai_platform_job_dir(s.platform, 4));
  pai_spec_unref(spec);
  story_close(loop);
  assert_int_equal(s.finished, 3);
  assert_string_equal(s.why, "waits behind job wide");
  assert_string_equal(s.output, "x\nx\nx\n");
}

/* A socket that listens on `port`, or -1. */
static int listen_on(uint16_t port)
{
  struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
  int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0 &&
      listen(fd, 1) == 0)
    return fd;
  (void)close(fd);
  return -1;
}

/* The port a job is given when `taken` is in use (0: none is). */
static uint16_t port_beside(uint16_t taken)
{
  int fd = taken != 0 ? listen_on(taken) : -1;
  story s = { 0 };

  assert_true(taken == 0 || fd >= 0);
  story_run(&s, story_job("", "", "echo $PAI_CONTAINER_SSH_PORT"));
  (void)close(fd);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  return (uint16_t)strtol(s.output, NULL, 10);
}

TEST(ports_in_use_are_not_given_out)
{
  uint16_t port = port_beside(0);

  assert_in_range(port, 15000, 39999);
  assert_int_not_equal(port_beside(port), port);
  assert_int_equal(port_beside(0), port); /* it was not mere chance */
}

/* A job that needs all ports there are waits while another program has one of
 * them: it is told so, and the platform looks again and again. */
TEST(a_port_in_use_for_good_holds_a_job_up)
{
  story s = { 0 };
  pai_spec *all = story_parse(
    "{protocolVersion: 2, name: greedy, type: job, " STORY_IMAGE
    ", taskRoles: {a: {instances: 5, dockerImage: x, resourcePerInstance: "
    "{cpu: 0, memoryMB: 64, gpu: 0, ports: {many: 4998}}, commands: "
    "['true']}}}");
  pai_loop *loop = story_open(&s);
  uint16_t port = 20000;
  pai_job_id id;
  int fd;

  while ((fd = listen_on(port)) < 0)
    port++;
  id = story_submit(&s, all);
  while (story_logged(&s, "other programs use port") < 2)
    assert_int_equal(pai_loop_run_once(loop), 1);
  assert_has(s.why, "waits for 5000 ports");
  (void)close(fd);
  assert_ok(pai_platform_stop(s.platform, id));
  story_close(loop);
  story_expect_end(&s, PAI_STATE_STOPPED, -210);
  pai_spec_unref(all);
}

TEST(what_is_forgotten_is_gone)
{
  story s = { .forget = true };
  char dir[512];
  pai_loop *loop = story_open(&s);
  pai_spec *spec = story_job("", "", "true");
  pai_job_id id;

  for (int i = 0; i < 3; i++)
    id = story_submit(&s, spec);
  pai_spec_unref(spec);
  (void)snprintf(dir, sizeof(dir), "%s", pai_platform_job_dir(s.platform, id));
  s.want = 4; /* so that we close it */
  assert_ok(pai_loop_run(loop));
  assert_int_equal(s.finished, 3);
  assert_null(pai_platform_job_dir(s.platform, id));
  assert_int_equal(pai_platform_job_state(NULL, s.platform, id),
                   PAI_ENOTFOUND);
  assert_int_equal(access(dir, F_OK), 0);
  pai_platform_close(s.platform, NULL, NULL);
  story_close(loop);
}

/* The host changes its folder, and the root's name begins like an option. */
TEST(the_root_stays_where_it_was)
{
  story s = { .want = 1 };
  pai_platform_options o = story_options(&s);
  pai_spec *spec = story_job("", "", "true");
  char before[4096], want[300];
  pai_loop *loop;
  pai_job_id id;

  assert_non_null(getcwd(before, sizeof(before)));
  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_int_equal(chdir(story_root), 0);
  o.root = "-x";
  assert_ok(pai_platform_new(&s.platform, loop, &o, NULL));
  assert_int_equal(chdir(before), 0);
  assert_ok(pai_platform_submit(&id, s.platform, spec, NULL));
  (void)snprintf(want, sizeof(want), "%s/-x/jobs/test", story_root);
  assert_string_equal(pai_platform_job_dir(s.platform, id), want);
  pai_spec_unref(spec);
  story_close(loop);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
}

TEST(refusals)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *huge = story_parse(
    "{protocolVersion: 2, name: huge, type: job, " STORY_IMAGE
    ", taskRoles: {a: {dockerImage: x, resourcePerInstance: {cpu: 1000000, "
    "memoryMB: 1, gpu: 0}, commands: [x]}}}");
  char path[300];
  pai_platform *p;
  pai_job_id id = 99;
  pai_loop *loop;
  pai_error *err;
  story s = { 0 };

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  (void)snprintf(path, sizeof(path), "%s/file", story_root);
  close(creat(path, 0600));
  o.root = path;
  assert_int_equal(pai_platform_new(&p, loop, &o, &err), PAI_EEXISTS);
  assert_null(p);
  test_expect_error(err, PAI_EEXISTS, path);
  o.root = "";
  assert_fails(pai_platform_new(&p, loop, &o, &err), err, PAI_EINVAL, "root");
  o.struct_size = 1;
  assert_int_equal(pai_platform_new(&p, loop, &o, NULL), PAI_EINVAL);
  assert_fails(pai_platform_new(&p, NULL, NULL, &err), err, PAI_EINVAL,
               "without loop");
  story_begin(&s, loop);
  assert_fails(pai_platform_submit(&id, s.platform, huge, &err), err,
               PAI_ENOROOM, "1000000 CPUs");
  assert_int_equal(id, 0);
  pai_platform_close(s.platform, NULL, NULL);
  assert_fails(pai_platform_submit(&id, s.platform, huge, &err), err,
               PAI_EBUSY, "closing");
  pai_spec_unref(huge);
  story_close(loop);
}

/* Nothing of ours is left on the host's loop. */
static void leave_host(uv_loop_t *uv, pai_loop *loop)
{
  pai_loop_free(loop);
  assert_int_equal(uv_run(uv, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(uv), 0);
}

static void on_closed(void *user_data)
{
  story *s = user_data;

  assert_false(s->closed);
  s->closed = true;
}

TEST(it_lives_on_the_hosts_loop)
{
  pai_spec *spec = story_job("", "", "echo hi");
  story s = { 0 };
  pai_loop *loop;
  uv_loop_t uv;

  assert_int_equal(uv_loop_init(&uv), 0);
  assert_ok(pai_loop_attach_uv(&loop, &uv, NULL, NULL));
  story_begin(&s, loop);
  (void)story_submit(&s, spec);
  s.want = 2; /* so that we close it, below */
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  pai_platform_close(s.platform, on_closed, &s);
  pai_platform_close(s.platform, on_closed, &s); /* once is enough */
  assert_false(s.closed);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_true(s.closed);
  leave_host(&uv, loop);
  pai_spec_unref(spec);
}

static void keep_quiet(int number)
{
  (void)number;
}

/* Ends of tasks are told by descriptors: whatever a host does with SIGCHLD, jobs
 * end.  libuv takes the signal when a loop is made, so this comes after that. */
TEST(jobs_end_without_signals)
{
  void (*const handlers[])(int) = { SIG_IGN, SIG_DFL, keep_quiet };
  pai_spec *spec = story_job("", "", "exit 3");
  struct sigaction before;
  sigset_t shut, open;

  (void)sigaction(SIGCHLD, NULL, &before);
  (void)sigemptyset(&shut);
  (void)sigaddset(&shut, SIGCHLD);
  for (size_t i = 0; i <= PAI__LEN(handlers); i++) {
    story s = { 0 };
    pai_loop *loop;

    assert_ok(pai_loop_new(&loop, NULL, NULL));
    if (i < PAI__LEN(handlers))
      (void)signal(SIGCHLD, handlers[i]);
    else
      (void)sigprocmask(SIG_BLOCK, &shut, &open);
    story_begin(&s, loop);
    (void)story_submit(&s, spec);
    assert_ok(pai_loop_run(loop));
    story_expect_end(&s, PAI_STATE_FAILED, 3);
    pai_loop_free(loop);
  }
  (void)sigprocmask(SIG_SETMASK, &open, NULL);
  (void)sigaction(SIGCHLD, &before, NULL);
  pai_spec_unref(spec);
}

/* Waits for all children where the host ignores SIGCHLD: so a task has ended
 * before its start returns. */
static void *await_children(void *ctx, void *old, size_t old_size, size_t size)
{
  (void)ctx;
  while (size == 0 && (waitpid(-1, NULL, 0) > 0 || errno == EINTR))
    ;
  return pai__libc_alloc.realloc_fn(NULL, old, old_size, size);
}

TEST(a_task_that_ends_at_once_has_its_code)
{
  story s = { .alloc = { NULL, await_children } };
  pai_spec *spec = story_job("", "", "exit 3");
  struct sigaction before;
  pai_loop *loop;

  (void)sigaction(SIGCHLD, NULL, &before);
  assert_ok(pai_loop_new(&loop, NULL, NULL));
  (void)signal(SIGCHLD, SIG_IGN);
  story_begin(&s, loop);
  (void)story_submit(&s, spec);
  assert_ok(pai_loop_run(loop));
  story_expect_end(&s, PAI_STATE_FAILED, 3);
  pai_loop_free(loop);
  (void)sigaction(SIGCHLD, &before, NULL);
  pai_spec_unref(spec);
}

/* Has libuv look after its children in this turn, too; and after the one in
 * which the task was seen to have ended, the host does something long. */
static void on_check(uv_check_t *check)
{
  story *s = check->data;

  (void)raise(SIGCHLD);
  if (s->slow && s->output_len > 0) {
    s->slow = false;
    uv_sleep(1200); /* longer than output is waited for */
  }
}

TEST(a_busy_host_misses_no_output)
{
  char command[512];
  story s = { .slow = true, .runtime = "process" };
  pai_loop *loop;
  uv_check_t check;
  pai_spec *spec;
  uv_loop_t uv;

  (void)snprintf(command, sizeof(command),
                 "echo $$; read line < %s/go; head -c 50000 /dev/zero",
                 story_root);
  spec = story_job("", "", command);
  (void)snprintf(command, sizeof(command), "%s/go", story_root);
  assert_int_equal(mkfifo(command, 0600), 0);
  assert_int_equal(uv_loop_init(&uv), 0);
  (void)uv_check_init(&uv, &check);
  check.data = &s;
  (void)uv_check_start(&check, on_check);
  uv_unref((uv_handle_t *)&check);
  assert_ok(pai_loop_attach_uv(&loop, &uv, NULL, NULL));
  story_begin(&s, loop);
  (void)story_submit(&s, spec);
  pai_spec_unref(spec);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_false(s.slow);
  assert_true(s.output_len > 50000);
  uv_close((uv_handle_t *)&check, NULL);
  leave_host(&uv, loop);
}

TEST(blocking_form)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *good = story_job("", "", "true"),
           *bad = story_job("", "", "exit 9");
  pai_error *err;
  int code = -1;

  o.root = story_root;
  assert_int_equal(pai_run(&code, good, &o, &err), PAI_STATE_SUCCEEDED);
  assert_int_equal(code, 0);
  assert_int_equal(pai_run(&code, bad, &o, NULL), PAI_STATE_FAILED);
  assert_int_equal(code, 9);
  o.root = "";
  assert_int_equal(pai_run(&code, good, &o, &err), PAI_EINVAL);
  pai_error_free(err);
  pai_spec_unref(good);
  pai_spec_unref(bad);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  int code, rc;

  o.root = story_root;
  o.alloc = alloc;
  rc = pai_run(&code, user_data, &o, NULL);
  if (rc == PAI_STATE_FAILED) { /* told as such: the task had no memory */
    assert_int_equal(code, -200);
    return PAI_ENOMEM;
  }
  return rc < 0 ? rc : PAI_OK;
}

TEST(failing_memory)
{
  pai_spec *spec = story_job("", "", "true");

  test_faults(body, spec);
  pai_spec_unref(spec);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
