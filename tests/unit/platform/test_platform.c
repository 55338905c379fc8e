/*
 * The platform through its public header: jobs that really run, fail, are
 * stopped, tried again, queued; and what is told of them.
 */
#include "testing.h"

#include <openpai/openpai.h>
#include <openpai/uv.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
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

static void on_event(void *user_data, const pai_event *event)
{
  story *s = user_data;
  int state = pai_event_state(event);
  size_t len;
  const char *text = pai_event_text(event, &len);

  assert_true(pai_event_time(event) > 0);
  if (pai_event_type(event) == PAI_EVENT_OUTPUT) {
    assert_in_range(pai_event_stream(event), 1, 2);
    on_output(s, text, len);
    return;
  }
  note_event(s, event);
  if (pai_event_type(event) == PAI_EVENT_TASK && state == s->stop_at) {
    s->stop_at = 0;
    if (s->close_then)
      pai_platform_close(s->platform, NULL, NULL);
    for (int i = 0; i < s->stops; i++)
      assert_int_equal(pai_platform_stop(s->platform, pai_event_job(event)),
                       PAI_OK);
  }
  if (pai_event_type(event) != PAI_EVENT_JOB)
    return;
  if (len > 0)
    (void)snprintf(s->why, sizeof(s->why), "%s", text);
  if (state >= PAI_STATE_SUCCEEDED) {
    s->state = state;
    s->code = pai_event_code(event);
    if (++s->finished == s->want)
      pai_platform_close(s->platform, NULL, NULL);
  }
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
  o.user_data = s;
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

/* The port a job is given when `taken` is in use (0: none is). */
static uint16_t port_beside(uint16_t taken)
{
  struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(taken) };
  int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  story s = { 0 };

  if (taken != 0) {
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof(any)), 0);
    assert_int_equal(listen(fd, 1), 0);
  }
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

static void jobs_wait_their_turn_and_say_why(void **state)
{
  char text[512];
  story s = { 0 };
  pai_loop *loop;
  pai_spec *spec;

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
  assert_int_equal(pai_platform_job_state(s.platform, 2), PAI_STATE_WAITING);
  assert_int_equal(pai_platform_job_state(s.platform, 4), PAI_ENOTFOUND);
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
  pai_platform *p;
  pai_job_id id = 99;
  pai_loop *loop;
  pai_error *err;
  story s = { 0 };

  (void)state;
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  o.root = "/dev/null/there";
  assert_true(pai_platform_new(&p, loop, &o, &err) < 0);
  assert_null(p);
  assert_non_null(strstr(pai_error_message(err), "/dev/null"));
  pai_error_free(err);
  o.struct_size = 1;
  assert_int_equal(pai_platform_new(&p, loop, &o, NULL), PAI_EINVAL);
  assert_int_equal(pai_platform_new(&p, NULL, NULL, NULL), PAI_EINVAL);
  begin(&s, loop);
  assert_int_equal(pai_platform_submit(&id, s.platform, huge, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "1000000 CPUs");
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
  o.root = "/dev/null/there";
  assert_true(pai_run(&code, good, &o, &err) < 0);
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
    cmocka_unit_test(jobs_wait_their_turn_and_say_why),
    cmocka_unit_test(refusals),
    cmocka_unit_test(without_bash_the_reason_is_told),
    cmocka_unit_test(it_lives_on_the_hosts_loop),
    cmocka_unit_test(blocking_form),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, make_root, remove_root);
}
