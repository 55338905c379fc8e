/*
 * The platform through its public header: jobs that really run, fail, are
 * stopped, tried again, queued; and what is told of them.
 */
#include "testing.h"

#include <openpai/openpai.h>
#include <openpai/uv.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What was told of all jobs of one platform. */
typedef struct story {
  pai_platform *platform;
  pai_alloc alloc;
  char events[4096];  /* "job running; a[0] running; ..." without output */
  char output[8192];  /* the first bytes of it */
  size_t output_len;  /* all of it */
  char why[512];      /* text of the last job event that had one */
  int finished, want; /* the platform is closed after so many jobs */
  int state, code;    /* of the last job to finish */
  int stop_at;        /* stop the job when a task is in this state, */
  int stops;          /* so many times */
  bool close_then;    /* or close the platform instead */
  int answer;         /* what on_event answers to a running task */
  bool slow;          /* the host is busy once the task has ended */
  bool forget;        /* the job, when it is over */
  char log[2048];     /* all lines */
  int stopped;        /* tasks that ran and were asked to end */
  bool closed;
} story;

static char root[256];

static void on_output(story *s, const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (s->output_len + i + 1 < sizeof(s->output))
      s->output[s->output_len + i] = text[i];
  s->output_len += len;
}

static void note_event(story *s, const pai_event *event)
{
  size_t used = strlen(s->events);
  const char *role = pai_event_role(event);

  if (role != NULL)
    (void)snprintf(s->events + used, sizeof(s->events) - used, "%s[%u] %s; ",
                   role, pai_event_index(event),
                   pai_state_name(pai_event_state(event)));
  else
    (void)snprintf(s->events + used, sizeof(s->events) - used, "job %s; ",
                   pai_state_name(pai_event_state(event)));
}

static void on_job(story *s, const pai_event *event)
{
  int state = pai_event_state(event);
  pai_job_id id = pai_event_job(event);
  size_t len;
  const char *text = pai_event_text(event, &len);

  if (len > 0)
    (void)snprintf(s->why, sizeof(s->why), "%s", text);
  if (state < PAI_STATE_SUCCEEDED)
    return;
  s->state = state;
  s->code = pai_event_code(event);
  if (s->forget) {
    assert_int_equal(pai_platform_forget(s->platform, id), PAI_OK);
    assert_int_equal(pai_platform_forget(s->platform, id), PAI_ENOTFOUND);
  }
  if (++s->finished == s->want)
    pai_platform_close(s->platform, NULL, NULL);
}

/* Lets the task go on, and returns when its output is in the pipe and it has
 * ended, which nobody was told yet. */
static void wait_for_exit(pid_t pid)
{
  char path[300];
  siginfo_t info;
  FILE *go;

  (void)snprintf(path, sizeof(path), "%s/go", root);
  go = fopen(path, "w");
  assert_non_null(go);
  (void)fputs("on\n", go);
  (void)fclose(go);
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
    assert_int_equal(errno, EINTR);
}

static int on_event(void *user_data, const pai_event *event)
{
  story *s = user_data;
  int state = pai_event_state(event);
  size_t len;
  const char *text = pai_event_text(event, &len);

  assert_true(pai_event_time(event) > 0);
  if (pai_event_type(event) == PAI_EVENT_OUTPUT) {
    assert_in_range(pai_event_stream(event), 1, 2);
    if (s->slow && s->output_len == 0)
      wait_for_exit((pid_t)strtol(text, NULL, 10));
    on_output(s, text, len);
    return 0;
  }
  note_event(s, event);
  if (pai_event_type(event) == PAI_EVENT_JOB) {
    on_job(s, event);
    return 0;
  }
  s->stopped += pai_event_code(event) == -210;
  if (state == s->stop_at) {
    s->stop_at = 0;
    if (s->close_then)
      pai_platform_close(s->platform, NULL, NULL);
    for (int i = 0; i < s->stops; i++)
      assert_int_equal(pai_platform_stop(s->platform, pai_event_job(event)),
                       PAI_OK);
  }
  return state == PAI_STATE_RUNNING ? s->answer : 0;
}

static void on_log(void *user_data, int level, const char *line)
{
  story *s = user_data;
  size_t used = strlen(s->log);

  (void)snprintf(s->log + used, sizeof(s->log) - used, "%d %s\n", level, line);
}

static pai_spec *parse(const char *text)
{
  pai_error *err;
  pai_spec *spec;

  if (pai_spec_parse(&spec, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return spec;
}

/* A job of one role `a` with one command; more fields may be given. */
static pai_spec *job(const char *fields, const char *role, const char *command)
{
  char text[4096];

  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: test, type: job, %s taskRoles: "
                 "{a: {dockerImage: x, %s resourcePerInstance: {cpu: 1, "
                 "memoryMB: 1, gpu: 0}, commands: [\"%s\"]}}}",
                 fields, role, command);
  return parse(text);
}

static void begin(story *s, pai_loop *loop)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;

  if (s->alloc.realloc_fn == NULL)
    s->alloc = pai__libc_alloc;
  o.alloc = &s->alloc;
  o.root = root;
  o.on_event = on_event;
  o.on_log = on_log;
  o.user_data = s;
  o.seed = 1;
  assert_int_equal(pai_platform_new(&s->platform, loop, &o, NULL), PAI_OK);
}

static pai_job_id submit(story *s, pai_spec *spec)
{
  pai_job_id id;

  assert_int_equal(pai_platform_submit(&id, s->platform, spec, NULL), PAI_OK);
  assert_true(id != 0);
  s->want++;
  return id;
}

/* Runs one job to its end on a loop of its own. */
static void run(story *s, pai_spec *spec)
{
  pai_loop *loop;

  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  begin(s, loop);
  (void)submit(s, spec);
  pai_spec_unref(spec);
  assert_string_equal(s->events, ""); /* nothing from inside the calls */
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
}

static void expect_end(const story *s, int state, int code)
{
  if (s->state != state || s->code != code)
    fail_msg("want %s %d, got %s %d: %s%s", pai_state_name(state), code,
             pai_state_name(s->state), s->code, s->events, s->output);
}

static void a_job_runs_and_tells_its_story(void **state)
{
  story s = { 0 };

  (void)state;
  run(&s, job("", "", "echo out $PAI_TASK_INDEX; echo err >&2"));
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.events, "job running; a[0] running; a[0] succeeded; "
                                "job succeeded; ");
  assert_int_equal(s.output_len, strlen("out 0\nerr\n"));
  assert_non_null(strstr(s.output, "out 0\n"));
  assert_non_null(strstr(s.output, "err\n"));
}

/* What a command does to the job's result. */
static void results(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    story s = { 0 };
    run(&s, job("", "", rows[i].command));
    expect_end(&s, rows[i].code == 0 ? PAI_STATE_SUCCEEDED : PAI_STATE_FAILED,
               rows[i].code);
    assert_null(strstr(s.output, "not reached"));
    if (rows[i].code != 0)
      assert_non_null(strstr(s.why, "task a[0] ended with code"));
  }
}

static void output_is_complete_and_kept(void **state)
{
  enum { BYTES = 3000000 };
  char path[512], command[128];
  story s = { 0 };
  pai_loop *loop;
  pai_job_id id;
  pai_spec *spec;
  FILE *log;

  (void)state;
  (void)snprintf(command, sizeof(command),
                 "head -c %d /dev/zero | tr '\\\\0' x", BYTES);
  spec = job("", "", command);
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  begin(&s, loop);
  id = submit(&s, spec);
  (void)snprintf(path, sizeof(path), "%s/0/a-0/stdout",
                 pai_platform_job_dir(s.platform, id));
  pai_spec_unref(spec);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_int_equal(s.output_len, BYTES);
  log = fopen(path, "r");
  assert_non_null(log);
  assert_int_equal(fseek(log, 0, SEEK_END), 0);
  assert_int_equal(ftell(log), BYTES);
  (void)fclose(log);
}

static void a_failed_job_is_tried_again(void **state)
{
  char command[1024];
  story s = { 0 };

  (void)state;
  (void)snprintf(command, sizeof(command),
                 "test -e %s/marker || { touch %s/marker; exit 3; }", root,
                 root);
  run(&s, job("jobRetryCount: 1,", "", command));
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.events,
                      "job running; a[0] running; a[0] failed; job waiting; "
                      "job running; a[0] running; a[0] succeeded; "
                      "job succeeded; ");
  assert_non_null(strstr(s.why, "code 3; trying again"));
}

static void stopping_is_graceful_first(void **state)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .stops = 1 };
  story hard = { .stop_at = PAI_STATE_RUNNING, .stops = 2 };

  (void)state;
  run(&s, job("jobRetryCount: 5,", "instances: 2,",
              "trap 'echo bye; exit 0' TERM; sleep 1000 & wait"));
  expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_null(strstr(s.events, "succeeded"));
  run(&hard, job("", "", "trap '' TERM; sleep 1000"));
  expect_end(&hard, PAI_STATE_STOPPED, -210);
}

static void closing_ends_everything(void **state)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .close_then = true };

  (void)state;
  run(&s, job("", "instances: 2,", "trap '' TERM; sleep 1000"));
  expect_end(&s, PAI_STATE_STOPPED, -210);
}

static void what_a_task_leaves_behind_is_killed(void **state)
{
  story s = { 0 };
  int ends[2];
  char byte;

  (void)state;
  assert_int_equal(pipe(ends), 0); /* which the task inherits */
  run(&s, job("", "", "sleep 1000 & echo done"));
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.output, "done\n");
  (void)close(ends[1]);
  assert_int_equal(read(ends[0], &byte, 1), 0); /* nobody holds it open */
  (void)close(ends[0]);
}

static void what_escapes_holds_nothing_up(void **state)
{
  story s = { 0 };
  long pid;

  (void)state;
  /* It has left the group, and says so, and keeps stderr open. */
  run(&s, job("", "",
              "coproc setsid sh -c 'echo $$; exec sleep 1000'; "
              "read -u ${COPROC[0]} pid; echo $pid"));
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  pid = strtol(s.output, NULL, 10);
  assert_true(pid > 1);
  assert_int_equal(kill((pid_t)pid, SIGKILL), 0); /* it did escape */
}

static void tasks_find_each_other(void **state)
{
  story s = { 0 };
  pai_spec *spec;

  (void)state;
  assert_int_equal(pai_spec_load(&spec, HELLO_YAML, NULL, NULL), PAI_OK);
  run(&s, spec);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_non_null(strstr(s.output, "heard: Hello, server!"));
  assert_non_null(strstr(s.output, "heard: Hello, client!"));
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
  run(&s, job("", "", "echo $PAI_CONTAINER_SSH_PORT"));
  (void)close(fd);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  return (uint16_t)strtol(s.output, NULL, 10);
}

static void ports_in_use_are_not_given_out(void **state)
{
  uint16_t port = port_beside(0);

  (void)state;
  assert_in_range(port, 15000, 39999);
  assert_int_not_equal(port_beside(port), port);
  assert_int_equal(port_beside(0), port); /* it was not mere chance */
}

static int count(const char *text, const char *part)
{
  int n = 0;

  while ((text = strstr(text, part)) != NULL) {
    n++;
    text++;
  }
  return n;
}

/* A job that needs all ports there are waits while another program has one of
 * them: it is told so, and the platform looks again and again. */
static void a_port_in_use_for_good_holds_a_job_up(void **state)
{
  story s = { 0 };
  pai_spec *all = parse(
    "{protocolVersion: 2, name: greedy, type: job, taskRoles: {a: {instances: "
    "5, dockerImage: x, resourcePerInstance: {cpu: 0, memoryMB: 1, gpu: 0, "
    "ports: {many: 4998}}, commands: ['true']}}}");
  uint16_t port = 20000;
  pai_loop *loop;
  pai_job_id id;
  int fd;

  (void)state;
  while ((fd = listen_on(port)) < 0)
    port++;
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  begin(&s, loop);
  id = submit(&s, all);
  while (count(s.log, "other programs use port") < 2)
    assert_int_equal(pai_loop_run_once(loop), 1);
  assert_non_null(strstr(s.why, "waits for 5000 ports"));
  (void)close(fd);
  assert_int_equal(pai_platform_stop(s.platform, id), PAI_OK);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  expect_end(&s, PAI_STATE_STOPPED, -210);
  pai_loop_free(loop);
  pai_spec_unref(all);
}

/* Tasks start one by one, and what happens meanwhile counts. */
static void a_large_job_can_be_stopped_while_it_starts(void **state)
{
  story s = { .stop_at = PAI_STATE_RUNNING, .stops = 1 };
  pai_spec *spec = parse(
    "{protocolVersion: 2, name: large, type: job, taskRoles: {a: {instances: "
    "500, dockerImage: x, resourcePerInstance: {cpu: 0, memoryMB: 1, gpu: 0}, "
    "commands: ['sleep 1000']}}}");

  (void)state;
  run(&s, spec);
  expect_end(&s, PAI_STATE_STOPPED, -210);
  assert_in_range(s.stopped, 1, 2);
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

static void a_busy_host_misses_no_output(void **state)
{
  char command[512];
  story s = { .slow = true };
  pai_loop *loop;
  uv_check_t check;
  pai_spec *spec;
  uv_loop_t uv;

  (void)state;
  (void)snprintf(command, sizeof(command),
                 "echo $$; read line < %s/go; head -c 50000 /dev/zero", root);
  spec = job("", "", command);
  (void)snprintf(command, sizeof(command), "%s/go", root);
  assert_int_equal(mkfifo(command, 0600), 0);
  assert_int_equal(uv_loop_init(&uv), 0);
  (void)uv_check_init(&uv, &check);
  check.data = &s;
  (void)uv_check_start(&check, on_check);
  uv_unref((uv_handle_t *)&check);
  assert_int_equal(pai_loop_attach_uv(&loop, &uv, NULL, NULL), PAI_OK);
  begin(&s, loop);
  (void)submit(&s, spec);
  pai_spec_unref(spec);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_false(s.slow);
  assert_true(s.output_len > 50000);
  uv_close((uv_handle_t *)&check, NULL);
  pai_loop_free(loop);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(&uv), 0);
}

static void a_listener_can_stop_its_job(void **state)
{
  story s = { .answer = PAI_EUSER };
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *spec = job("", "", "sleep 1000");
  pai_error *err;
  int code;

  (void)state;
  (void)pai_spec_ref(spec);
  run(&s, spec);
  expect_end(&s, PAI_STATE_STOPPED, -210);
  o.root = root;
  o.on_event = on_event;
  o.user_data = &s;
  s = (story){ .answer = -77 };
  assert_int_equal(pai_run(&code, spec, &o, &err), -77);
  test_expect_error(err, -77, "on_event");
  assert_int_equal(code, -210);
  pai_spec_unref(spec);
}

static void what_is_forgotten_is_gone(void **state)
{
  story s = { .forget = true };
  char dir[512];
  pai_loop *loop;
  pai_spec *spec = job("", "", "true");
  pai_job_id id;

  (void)state;
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  begin(&s, loop);
  for (int i = 0; i < 3; i++)
    id = submit(&s, spec);
  pai_spec_unref(spec);
  (void)snprintf(dir, sizeof(dir), "%s", pai_platform_job_dir(s.platform, id));
  s.want = 4; /* so that we close it */
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  assert_int_equal(s.finished, 3);
  assert_null(pai_platform_job_dir(s.platform, id));
  assert_int_equal(pai_platform_job_state(NULL, s.platform, id),
                   PAI_ENOTFOUND);
  assert_int_equal(access(dir, F_OK), 0);
  pai_platform_close(s.platform, NULL, NULL);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
}

/* The host changes its folder, and the root's name begins like an option. */
static void the_root_stays_where_it_was(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  story s = { .want = 1 };
  pai_spec *spec = job("", "", "true");
  char before[4096], want[300];
  pai_loop *loop;
  pai_job_id id;

  (void)state;
  assert_non_null(getcwd(before, sizeof(before)));
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  assert_int_equal(chdir(root), 0);
  o.root = "-x";
  o.on_event = on_event;
  o.user_data = &s;
  assert_int_equal(pai_platform_new(&s.platform, loop, &o, NULL), PAI_OK);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(pai_platform_submit(&id, s.platform, spec, NULL), PAI_OK);
  (void)snprintf(want, sizeof(want), "%s/-x/jobs/test", root);
  assert_string_equal(pai_platform_job_dir(s.platform, id), want);
  pai_spec_unref(spec);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
}

/* As a full disk would, a limit on files' sizes makes writes fail. */
static void a_log_that_is_cut_is_told_of(void **state)
{
  struct rlimit before, small;
  story s = { 0 };

  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 4096;
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  run(&s, job("", "", "head -c 10000 /dev/zero; echo end >&2"));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, SIG_DFL);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_int_equal(s.output_len, 10004);
  assert_int_equal(count(s.log, "output is missing in a log"), 1);
  assert_non_null(strstr(s.log, "/0/a-0"));
}

static void jobs_wait_their_turn_and_say_why(void **state)
{
  char text[512];
  story s = { 0 };
  pai_loop *loop;
  pai_spec *spec;
  int code;

  (void)state;
  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: wide, type: job, taskRoles: {a: "
                 "{dockerImage: x, resourcePerInstance: {cpu: %ld, memoryMB: "
                 "1, gpu: 0}, commands: [echo x]}}}",
                 sysconf(_SC_NPROCESSORS_ONLN));
  spec = parse(text);
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  begin(&s, loop);
  assert_int_equal(submit(&s, spec), 1);
  assert_int_equal(submit(&s, spec), 2);
  assert_int_equal(submit(&s, spec), 3);
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
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
  assert_int_equal(s.finished, 3);
  assert_string_equal(s.why, "waits behind job 2");
  assert_string_equal(s.output, "x\nx\nx\n");
}

static void refusals(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *huge = parse(
    "{protocolVersion: 2, name: huge, type: job, taskRoles: {a: {dockerImage: "
    "x, resourcePerInstance: {cpu: 1000000, memoryMB: 1, gpu: 0}, commands: "
    "[x]}}}");
  char path[300];
  pai_platform *p;
  pai_job_id id = 99;
  pai_loop *loop;
  pai_error *err;
  story s = { 0 };

  (void)state;
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  (void)snprintf(path, sizeof(path), "%s/file", root);
  close(creat(path, 0600));
  o.root = path;
  assert_int_equal(pai_platform_new(&p, loop, &o, &err), PAI_EEXISTS);
  assert_null(p);
  test_expect_error(err, PAI_EEXISTS, path);
  o.root = "";
  assert_int_equal(pai_platform_new(&p, loop, &o, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "root");
  o.struct_size = 1;
  assert_int_equal(pai_platform_new(&p, loop, &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_platform_new(&p, NULL, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "without loop");
  begin(&s, loop);
  assert_int_equal(pai_platform_submit(&id, s.platform, huge, &err),
                   PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "1000000 CPUs");
  assert_int_equal(id, 0);
  pai_platform_close(s.platform, NULL, NULL);
  assert_int_equal(pai_platform_submit(&id, s.platform, huge, &err),
                   PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "closing");
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_spec_unref(huge);
  pai_loop_free(loop);
}

static void without_bash_the_reason_is_told(void **state)
{
  char *path = strdup(getenv("PATH"));
  story s = { 0 };

  (void)state;
  (void)setenv("PATH", root, 1);
  run(&s, job("", "", "true"));
  (void)setenv("PATH", path, 1);
  free(path);
  expect_end(&s, PAI_STATE_FAILED, -200);
  assert_non_null(strstr(s.why, "cannot start bash: no such file"));
}

static void on_closed(void *user_data)
{
  story *s = user_data;

  assert_false(s->closed);
  s->closed = true;
}

static void it_lives_on_the_hosts_loop(void **state)
{
  pai_spec *spec = job("", "", "echo hi");
  story s = { 0 };
  pai_loop *loop;
  uv_loop_t uv;

  (void)state;
  assert_int_equal(uv_loop_init(&uv), 0);
  assert_int_equal(pai_loop_attach_uv(&loop, &uv, NULL, NULL), PAI_OK);
  begin(&s, loop);
  (void)submit(&s, spec);
  s.want = 2; /* so that we close it, below */
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  pai_platform_close(s.platform, on_closed, &s);
  pai_platform_close(s.platform, on_closed, &s); /* once is enough */
  assert_false(s.closed);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_true(s.closed);
  pai_loop_free(loop);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(&uv), 0);
  pai_spec_unref(spec);
}

static void blocking_form(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_spec *good = job("", "", "true"), *bad = job("", "", "exit 9");
  pai_error *err;
  int code = -1;

  (void)state;
  o.root = root;
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

  o.root = root;
  o.alloc = alloc;
  rc = pai_run(&code, user_data, &o, NULL);
  if (rc == PAI_STATE_FAILED) { /* told as such: the task had no memory */
    assert_int_equal(code, -200);
    return PAI_ENOMEM;
  }
  return rc < 0 ? rc : PAI_OK;
}

static void failing_memory(void **state)
{
  pai_spec *spec = job("", "", "true");

  (void)state;
  test_faults(body, spec);
  pai_spec_unref(spec);
}

static int make_root(void **state)
{
  const char *tmp = getenv("TMPDIR");

  (void)state;
  (void)snprintf(root, sizeof(root), "%s/openpai-test-XXXXXX",
                 tmp != NULL ? tmp : "/tmp");
  return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state)
{
  char command[300];

  (void)state;
  (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
  return system(command);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_runs_and_tells_its_story),
    cmocka_unit_test(results),
    cmocka_unit_test(output_is_complete_and_kept),
    cmocka_unit_test(a_failed_job_is_tried_again),
    cmocka_unit_test(stopping_is_graceful_first),
    cmocka_unit_test(closing_ends_everything),
    cmocka_unit_test(what_a_task_leaves_behind_is_killed),
    cmocka_unit_test(what_escapes_holds_nothing_up),
    cmocka_unit_test(tasks_find_each_other),
    cmocka_unit_test(ports_in_use_are_not_given_out),
    cmocka_unit_test(a_port_in_use_for_good_holds_a_job_up),
    cmocka_unit_test(a_large_job_can_be_stopped_while_it_starts),
    cmocka_unit_test(a_busy_host_misses_no_output),
    cmocka_unit_test(a_listener_can_stop_its_job),
    cmocka_unit_test(what_is_forgotten_is_gone),
    cmocka_unit_test(the_root_stays_where_it_was),
    cmocka_unit_test(a_log_that_is_cut_is_told_of),
    cmocka_unit_test(jobs_wait_their_turn_and_say_why),
    cmocka_unit_test(refusals),
    cmocka_unit_test(without_bash_the_reason_is_told),
    cmocka_unit_test(it_lives_on_the_hosts_loop),
    cmocka_unit_test(blocking_form),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, make_root, remove_root);
}
