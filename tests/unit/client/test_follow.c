/* What goes on for a while, with a server of this library and with OpenPAI's
 * own: jobs that are waited for, and logs. */
#define _GNU_SOURCE
#include "client/caller.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const text =
  "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

static void say_job(pai__buf *out, const char *state, int code)
{
  char body[512];

  (void)snprintf(body, sizeof(body),
                 "{\"name\":\"one\",\"jobStatus\":{\"username\":\"ann\","
                 "\"state\":\"%s\",\"attemptId\":2,\"appExitCode\":%d},"
                 "\"taskRoles\":{\"worka\":{\"taskStatuses\":[{\"taskIndex\":"
                 "0,\"attemptId\":3,\"taskState\":\"%s\"}]}}}",
                 state, code, state);
  say(out, "200 OK", body);
}

/* --- watching ---------------------------------------------------------------------------- */

static int on_change(void *user_data, const pai_client_change *change)
{
  caller *w = ((caller *)((char *)user_data - offsetof(caller, o)));
  size_t len = strlen(w->told);

  (void)snprintf(w->told + len, sizeof(w->told) - len, "%s%s %s%s",
                 len > 0 ? ", " : "", change->job, change->state,
                 change->final ? "!" : "");
  if (change->final)
    assert_int_equal(change->exit_code, 3);
  if (w->op != NULL)
    pai_op_cancel(w->op);
  if (w->close) {
    pai_client_close(w->client, NULL, NULL);
    w->client = NULL;
  }
  return w->enough > 0 && --w->enough == 0 ? PAI_EUSER : 0;
}

/* A job runs and fails; a stream of its states is cut in the middle. */
static void living(played *p, const char *request, pai__buf *out)
{
  static const char *const states[] = { "WAITING", "RUNNING", "RUNNING",
                                        "FAILED" };
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, states[w->step], 3);
    if (w->step < 3 && !w->ours)
      w->step++;
    return;
  }
  assert_true(
    asks_for(request, "GET /api/v2/jobs/ann~one/follow?output=false "));
  pai__buf_str(out, HEAD_OK "Transfer-Encoding: chunked\r\n\r\n");
  if (w->step == 0) {
    pai__buf_str(out, "40\r\n{\"event\":\"job\",\"state\":\"waiting\"}\n"
                      "{\"event\":\"job\",\"state\":\"running\"\r\n");
    w->step = 1;
    p->hang_up = true;
  } else {
    pai__buf_str(out, "22\r\n{\"event\":\"job\",\"state\":\"failed\"} \n\r\n"
                      "0\r\n\r\n");
    w->step = 3;
    p->hang_up = false;
  }
}

static void a_job_is_waited_for(void **state)
{
  static caller w;

  (void)state;
  for (int ours = 0; ours < 2; ours++) {
    caller_begin(&w, ours, living);
    assert_int_equal(pai_client_watch(NULL, w.client, "ann~one", on_change,
                                      on_outcome, &w.o, NULL),
                     PAI_OK);
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_OK);
    assert_string_equal(w.told,
                        "ann~one WAITING, ann~one RUNNING, ann~one FAILED!");
    assert_string_equal(w.o.state, "FAILED");
    assert_int_equal(w.o.exit_code, 3);
    assert_non_null(strstr(w.o.body, "\"name\":\"one\""));
    w.step = 0;
    assert_int_equal(
      pai_client_wait(NULL, w.client, "ann~one", on_outcome, &w.o, NULL),
      PAI_OK);
    wait_for(w.loop, &w.o, 2);
    assert_string_equal(w.o.state, "FAILED");
    assert_int_equal(
      pai_client_job(NULL, w.client, "ann~one", on_outcome, &w.o, NULL),
      PAI_OK);
    wait_for(w.loop, &w.o, 3);
    assert_string_equal(w.o.state, "FAILED");
    caller_end(&w);
  }
}

static void enough_of_it(void **state)
{
  static caller w;
  pai_op *op;

  (void)state;
  for (int ours = 0; ours < 2; ours++) {
    caller_begin(&w, ours, living);
    w.enough = 2;
    assert_int_equal(pai_client_watch(NULL, w.client, "ann~one", on_change,
                                      on_outcome, &w.o, NULL),
                     PAI_OK);
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_EUSER);
    w.step = 0;
    w.told[0] = '\0';
    assert_int_equal(pai_client_watch(&op, w.client, "ann~one", on_change,
                                      on_outcome, &w.o, NULL),
                     PAI_OK);
    while (w.told[0] == '\0')
      assert_true(turn_loop(w.loop));
    pai_op_cancel(op);
    wait_for(w.loop, &w.o, 2);
    assert_int_equal(w.o.status, PAI_ECANCELED);
    caller_end(&w);
  }
}

/* In its own callback, whatever it would have done next. */
static void cancelled_by_a_change(void **state)
{
  static caller w;

  (void)state;
  for (int how = 0; how < 8; how++) {
    caller_begin(&w, (how & 1) != 0, living);
    if ((how & 2) != 0)
      w.step = 3; /* it is over */
    w.close = (how & 4) != 0;
    assert_int_equal(pai_client_watch(&w.op, w.client, "ann~one", on_change,
                                      on_outcome, &w.o, NULL),
                     PAI_OK);
    if (w.close)
      w.op = NULL;
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_ECANCELED);
    caller_end(&w);
    assert_int_equal(w.o.calls, 1);
  }
}

/* Two jobs; the first ends, and is in the list no longer. */
static void crowd(played *p, const char *request, pai__buf *out)
{
  static const char *const lists[] = {
    "[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"}]",
    ("[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"},"
     "{\"username\":\"bob\",\"name\":\"two\",\"state\":\"WAITING\"}]"),
    "[{\"username\":\"bob\",\"name\":\"two\",\"state\":\"RUNNING\"}]",
  };
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, "SUCCEEDED", 3);
    return;
  }
  say(out, "200 OK", lists[w->step]);
  if (w->step < 2)
    w->step++;
}

static void all_are_watched(void **state)
{
  static caller w;

  (void)state;
  caller_begin(&w, false, crowd);
  w.enough = 4;
  assert_int_equal(
    pai_client_watch(NULL, w.client, NULL, on_change, on_outcome, &w.o, NULL),
    PAI_OK);
  wait_for(w.loop, &w.o, 1);
  assert_int_equal(w.o.status, PAI_EUSER);
  assert_string_equal(w.told, "ann~one RUNNING, bob~two WAITING, "
                              "bob~two RUNNING, ann~one SUCCEEDED!");
  caller_end(&w);
}

/* --- logs --------------------------------------------------------------------------------- */

static int on_data(void *user_data, const char *bytes, size_t len)
{
  caller *w = ((caller *)((char *)user_data - offsetof(caller, o)));

  assert_true(w->log_len + len < sizeof(w->log));
  memcpy(w->log + w->log_len, bytes, len);
  w->log_len += len;
  return w->enough > 0 && --w->enough == 0 ? PAI_EUSER : 0;
}

#define LOGS                                                          \
  "GET /api/v2/jobs/ann~one/attempts/2/taskRoles/work_A/taskIndex/0/" \
  "attempts/3/logs"

/* A server of ours, whose stream is cut after so many bytes. */
static void streaming(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;
  const char *offset = strstr(request, "?offset="), *from;
  size_t n;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, "RUNNING", 0);
    return;
  }
  assert_true(asks_for(request, LOGS "/stdout?offset="));
  from = text + strtoul(offset + 8, NULL, 10);
  n = strlen(from) < 7 ? strlen(from) : 7;
  p->hang_up = n == 7;
  pai__buf_printf(out,
                  HEAD_OK "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%.*s\r\n",
                  n, (int)n, from);
  if (n < 7)
    pai__buf_str(out, "0\r\n\r\n");
}

static void read_log(caller *w, const char *name, uint64_t offset, int follow)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  int calls = w->o.calls;

  w->log_len = 0;
  o.job = "ann~one";
  o.role = "work_A";
  o.name = name;
  o.offset = offset;
  o.follow = follow;
  o.on_data = on_data;
  assert_int_equal(
    pai_client_logs(NULL, w->client, &o, on_outcome, &w->o, NULL), PAI_OK);
  wait_for(w->loop, &w->o, calls + 1);
}

static void check_log(const caller *w, const char *want)
{
  assert_int_equal(w->o.status, PAI_OK);
  assert_int_equal(w->log_len, strlen(want));
  assert_memory_equal(w->log, want, w->log_len);
}

static void a_log_goes_on_after_a_cut(void **state)
{
  static caller w;

  (void)state;
  caller_begin(&w, true, streaming);
  read_log(&w, "stdout", 0, 1);
  check_log(&w, text);
  read_log(&w, "stdout", 10, 0);
  check_log(&w, text + 10);
  w.enough = 2;
  read_log(&w, "stdout", 0, 1);
  assert_int_equal(w.o.status, PAI_EUSER);
  caller_end(&w);
}

/* OpenPAI's: the log grows, and comes whole each time, or from where it is asked
 * for; the job runs for a while. */
static void locating(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;
  const char *range = strcasestr(request, "\r\nRange: bytes=");
  size_t len = (size_t)w->step * 9 < strlen(text) ? (size_t)w->step * 9
                                                  : strlen(text),
         from = range != NULL ? strtoul(range + 15, NULL, 10) : 0;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, len < strlen(text) ? "RUNNING" : "SUCCEEDED", 0);
    return;
  }
  if (asks_for(request, LOGS " ")) {
    w->step++;
    if (w->step == 1)
      say(out, "404 Not Found", "{\"code\":\"NoTaskLogError\"}");
    else
      say(out, "200 OK",
          "{\"locations\":[{\"name\":\"stdout\",\"uri\":"
          "\"/log-manager/10.0.0.1:9103/api/v1/logs/stdout?token=t\"},"
          "{\"name\":\"all\",\"uri\":\"/rest-server/api/v2/all\"},"
          "{\"name\":\"runtime\",\"uri\":\"/api/v2/all\"}]}");
    return;
  }
  if (asks_for(request, "GET /api/v2/all ")) {
    assert_non_null(strcasestr(request, "authorization"));
    say(out, "200 OK", "all");
    return;
  }
  assert_int_equal(
    strncmp(request, "GET /log-manager/10.0.0.1:9103/api/v1/logs/stdout?", 50),
    0);
  assert_null(strcasestr(request, "authorization"));
  if (w->posts == 1 && from > 0 && from >= len)
    say(out, "416 No", "");
  else if (w->posts == 1 && from > 0)
    pai__buf_printf(out,
                    "HTTP/1.1 206 Part\r\nContent-Length: %zu\r\n\r\n%.*s",
                    len - from, (int)(len - from), text + from);
  else
    pai__buf_printf(out, HEAD_OK "Content-Length: %zu\r\n\r\n%.*s", len,
                    (int)len, text);
}

static void a_log_of_another_server(void **state)
{
  static caller w;

  (void)state;
  for (int ranges = 0; ranges < 2; ranges++) {
    caller_begin(&w, false, locating);
    w.posts = ranges;
    read_log(&w, "stdout", 0, 1);
    check_log(&w, text);
    read_log(&w, "stdout", 30, 0);
    check_log(&w, text + 30);
    read_log(&w, "all", 0, 0);
    check_log(&w, "all");
    read_log(&w, "runtime", 0, 0);
    check_log(&w, "all");
    read_log(&w, "stderr", 0, 0);
    assert_int_equal(w.o.status, PAI_ENOTFOUND);
    assert_non_null(strstr(w.o.message, "no log named stderr"));
    caller_end(&w);
  }
}

static bool begins(const char *request, const char *with)
{
  return strncmp(request, with, strlen(with)) == 0;
}

/* As one that `ssh -L` leads to. */
static void locating_at_a_socket(played *p, const char *request, pai__buf *out)
{
  (void)p;
  if (begins(request, "GET /api/v2/info "))
    say(out, "200 OK", "{\"name\":\"PAI RESTful API\"}");
  else if (begins(request, "GET /api/v2/jobs/ann~one "))
    say_job(out, "SUCCEEDED", 0);
  else if (begins(request, "GET /api/v2/jobs/ann~one/attempts/"))
    say(out, "200 OK",
        "{\"locations\":[{\"name\":\"stdout\",\"uri\":\"/log-manager/x\"},"
        "{\"name\":\"all\",\"uri\":\"/api/v2/all\"}]}");
  else if (begins(request, "GET /log-manager/x "))
    say(out, "200 OK", "one");
  else if (begins(request, "GET /api/v2/all "))
    say(out, "200 OK", "all");
  else
    fail_msg("%s", request);
}

static void a_log_of_another_server_at_a_socket(void **state)
{
  static caller w;
  char dir[] = "/tmp/test-follow-XXXXXX", path[64];
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  (void)state;
  memset(&w, 0, sizeof(w));
  assert_non_null(mkdtemp(dir));
  (void)snprintf(path, sizeof(path), "%s/s", dir);
  w.loop = open_loop();
  played_open_socket(&w.p, w.loop, path, locating_at_a_socket);
  options.socket = path;
  assert_int_equal(pai_client_new(&w.client, w.loop, &options, NULL), PAI_OK);
  assert_int_equal(pai_client_info(NULL, w.client, on_outcome, &w.o, NULL),
                   PAI_OK);
  wait_for(w.loop, &w.o, 1);
  read_log(&w, "stdout", 0, 0);
  check_log(&w, "one");
  read_log(&w, "all", 0, 0);
  check_log(&w, "all");
  caller_end(&w);
  (void)unlink(path);
  (void)rmdir(dir);
}

/* A stream that ends well, and in which nothing came. */
static void silent(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one "))
    say_job(out, "RUNNING", 0);
  else
    say(out, "200 OK", "");
}

static void a_stream_without_a_word(void **state)
{
  static caller w;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  (void)state;
  if (loop_kind != OWN_LOOP) /* it is asked without waiting */
    return;
  caller_begin(&w, true, silent);
  close_client(w.loop, w.client);
  options.url = w.p.url;
  options.first_wait = options.most_wait = (pai_time)3600 * 1000000;
  assert_int_equal(pai_client_new(&w.client, w.loop, &options, NULL), PAI_OK);
  assert_int_equal(
    pai_client_wait(NULL, w.client, "ann~one", on_outcome, &w.o, NULL),
    PAI_OK);
  while (w.p.requests < 3) /* what it is, the job, the stream */
    assert_true(turn_loop(w.loop));
  for (int i = 0; i < 1000; i++)
    (void)!pai_loop_dispatch(w.loop);
  assert_int_equal(w.p.requests, 3);
  caller_end(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_is_waited_for),
    cmocka_unit_test(enough_of_it),
    cmocka_unit_test(cancelled_by_a_change),
    cmocka_unit_test(all_are_watched),
    cmocka_unit_test(a_log_goes_on_after_a_cut),
    cmocka_unit_test(a_log_of_another_server),
    cmocka_unit_test(a_log_of_another_server_at_a_socket),
    cmocka_unit_test(a_stream_without_a_word),
  };
  return run_on_all_loops(tests, PAI__LEN(tests));
}
