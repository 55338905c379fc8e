/* Logs that are read through cuts, of a server of this library and of OpenPAI's
 * own. */
#define _GNU_SOURCE
#include "cases.h"
#include "client/caller.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const text =
  "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

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
  assert_ok(pai_client_logs(NULL, w->client, &o, on_outcome, &w->o, NULL));
  wait_for(w->loop, &w->o, calls + 1);
}

static void check_log(const caller *w, const char *want)
{
  assert_ok(w->o.status);
  assert_int_equal(w->log_len, strlen(want));
  assert_memory_equal(w->log, want, w->log_len);
}

CALLING(streaming, a_log_goes_on_after_a_cut)
{
  read_log(w, "stdout", 0, 1);
  check_log(w, text);
  read_log(w, "stdout", 10, 0);
  check_log(w, text + 10);
  w->enough = 2;
  read_log(w, "stdout", 0, 1);
  assert_int_equal(w->o.status, PAI_EUSER);
}

/* The same; where the wanted part begins is said in the head of the answer, or,
 * by an older server, is not. */
static void streaming_a_part(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;
  const char *offset = strstr(request, "?offset="), *from, *part;
  size_t n;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, "RUNNING", 0);
    return;
  }
  part = w->step++ == 0 ? "GET /api/v2/jobs/ann~one/attempts/2/taskRoles/"
                          "work_A/taskIndex/0/attempts/3/logs/stdout?offset=0"
                          "&follow=true&tail=4&since=-600000 "
                        : LOGS "/stdout?offset=";
  assert_true(asks_for(request, part));
  assert_true(w->step == 1 || strstr(request, "tail=") == NULL);
  from = text + (w->step == 1 ? 19 : strtoul(offset + 8, NULL, 10));
  n = strlen(from) < 7 ? strlen(from) : 7;
  n = w->step == 1 ? (size_t)w->posts : n; /* cut, or before a byte has come */
  p->hang_up = n == 7 || w->step == 1;
  pai__buf_str(out, HEAD_OK);
  if (w->ours && w->config == NULL)
    pai__buf_printf(out, "X-Log-Offset: %zu\r\n", (size_t)(from - text));
  pai__buf_str(out, "Transfer-Encoding: chunked\r\n\r\n");
  if (n > 0)
    pai__buf_printf(out, "%zx\r\n%.*s\r\n", n, (int)n, from);
  if (!p->hang_up)
    pai__buf_str(out, "0\r\n\r\n");
}

static void read_part(caller *w, pai_client_log_options o)
{
  int calls = w->o.calls;

  w->log_len = 0;
  w->step = 0;
  o.job = "ann~one";
  o.role = "work_A";
  o.name = "stdout";
  o.follow = 1;
  o.on_data = on_data;
  assert_ok(pai_client_logs(NULL, w->client, &o, on_outcome, &w->o, NULL));
  wait_for(w->loop, &w->o, calls + 1);
}

ON_LOOPS(the_last_lines_go_on_after_a_cut)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  static caller w;

  o.tail = 4;
  o.since = -600000000;
  for (int first = 0; first <= 7; first += 7) {
    caller_begin(&w, true, streaming_a_part);
    w.posts = first;
    read_part(&w, o);
    check_log(&w, text + 19);
    o.attempt = "2"; /* then the job need not be asked for */
    o.retry = "3";
    read_part(&w, o);
    check_log(&w, text + 19);
    caller_end(&w);
  }
  caller_begin(&w, true, streaming_a_part);
  w.config = "older";
  w.posts = 7;
  read_part(&w, o);
  assert_int_equal(w.o.status,
                   PAI_EIO); /* nobody knows where it would go on */
  assert_int_equal(w.log_len, 7);
  caller_end(&w);
}

/* A server, or a proxy before it, that ignores where it should begin: the first
 * answer is cut, and of those behind it as many as `posts` bring nothing. */
static void ignoring(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;
  size_t n = strlen(text);

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    if (w->step == 1 && w->config != NULL) { /* not now, but later */
      w->config = NULL;
      say(out, "429 Too Many Requests", "{\"message\":\"later\"}");
    } else {
      say_job(out, "RUNNING", 0);
    }
    return;
  }
  if (w->step++ == 0 || w->step <= w->posts)
    n = 7;
  p->hang_up = n == 7;
  pai__buf_printf(out,
                  HEAD_OK "X-Log-Offset: 0\r\nTransfer-Encoding: chunked\r\n"
                          "Trailer: X-Log-Offset\r\n\r\n%zx\r\n%.*s\r\n",
                  n, (int)n, text);
  if (n != 7)
    pai__buf_str(out, "0\r\nX-Log-Offset: 3\r\n\r\n");
}

ON_LOOPS(each_byte_comes_once)
{
  static caller w;

  for (int busy = 0; busy < 2; busy++) {
    caller_begin(&w, true, ignoring);
    w.posts = 3;
    w.config = busy ? "busy" : NULL;
    read_log(&w, "stdout", 0, 1);
    check_log(&w, text);
    assert_int_equal(w.step, 4);
    w.step = 0;
    w.config = busy ? "busy" : NULL;
    w.posts = 1000; /* it goes on so for ever */
    read_log(&w, "stdout", 0, 0);
    assert_int_equal(w.o.status, PAI_EIO);
    assert_int_equal(w.log_len, 7);
    assert_true(w.step < 12);
    caller_end(&w);
  }
}

/* A stream that comes after its time. */
static void late(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, "RUNNING", 0);
    return;
  }
  w->step++;
  (void)usleep(5000);
  pai__buf_printf(out,
                  HEAD_OK "X-Log-Offset: 0\r\nContent-Length: %zu\r\n"
                          "\r\n%s",
                  strlen(text), text);
}

/* A cut could not be made good: there is none. */
CALLING(late, a_log_with_times_is_not_cut_by_its_reader)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  close_client(w->loop, w->client);
  options.url = w->p.url;
  options.first_wait = options.most_wait = 1;
  options.stream_time = 1000;
  assert_ok(pai_client_new(&w->client, w->loop, &options, NULL));
  o.timestamps = 1;
  read_part(w, o);
  check_log(w, text);
  assert_int_equal(w->step, 1);
}

/* A server that allows no more streams. */
static void refusing(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one "))
    say_job(out, "RUNNING", 0);
  else
    say(out, w->posts == 0 ? "429 Too Many Requests" : "503 Short",
        "{\"code\":\"UnknownError\",\"message\":\"There are too many\"}");
}

CALLING(refusing, there_are_too_many_streams)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;

  for (w->posts = 0; w->posts < 2; w->posts++) {
    read_part(w, o);
    assert_int_equal(w->o.status, PAI_EBUSY);
    assert_has(w->o.message, "too many");
  }
  o.job = "ann~one";
  o.role = "work_A";
  o.on_data = on_data;
  o.attempt = "first";
  assert_int_equal(
    pai_client_logs(NULL, w->client, &o, on_outcome, &w->o, NULL), PAI_EINVAL);
  o.attempt = NULL;
  o.tail = -2;
  assert_int_equal(
    pai_client_logs(NULL, w->client, &o, on_outcome, &w->o, NULL), PAI_EINVAL);
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

ON_LOOPS(a_log_of_another_server)
{
  static caller w;

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
    assert_has(w.o.message, "no log named stderr");
    caller_end(&w);
  }
}

ON_LOOPS(the_last_lines_of_another_server)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  pai_error *err = NULL;
  static caller w;

  caller_begin(&w, false, locating);
  w.step = 9; /* it is over */
  o.job = "ann~one";
  o.role = "work_A";
  o.name = "stdout";
  o.on_data = on_data;
  for (o.tail = -1; o.tail < 100; o.tail = o.tail < 0 ? 2 : 99) {
    int calls = w.o.calls;

    w.log_len = 0;
    assert_ok(pai_client_logs(NULL, w.client, &o, on_outcome, &w.o, NULL));
    wait_for(w.loop, &w.o, calls + 1);
    check_log(&w, o.tail < 0 ? "" : o.tail == 2 ? "seven\neight\n" : text);
    if (o.tail == 99)
      break;
  }
  o.follow = 1;
  assert_int_equal(pai_client_logs(NULL, w.client, &o, on_outcome, &w.o, &err),
                   PAI_ENOTSUP);
  assert_has(pai_error_message(err), "an original OpenPAI");
  pai_error_free(err);
  o.tail = 0;
  o.since = 5;
  assert_int_equal(pai_client_logs(NULL, w.client, &o, on_outcome, &w.o, NULL),
                   PAI_ENOTSUP);
  caller_end(&w);
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

ON_LOOPS(a_log_of_another_server_at_a_socket)
{
  static caller w;
  char dir[] = "/tmp/test-follow-XXXXXX", path[64];
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  memset(&w, 0, sizeof(w));
  assert_non_null(mkdtemp(dir));
  (void)snprintf(path, sizeof(path), "%s/s", dir);
  w.loop = open_loop();
  played_open_socket(&w.p, w.loop, path, locating_at_a_socket);
  options.socket = path;
  assert_ok(pai_client_new(&w.client, w.loop, &options, NULL));
  assert_ok(pai_client_info(NULL, w.client, on_outcome, &w.o, NULL));
  wait_for(w.loop, &w.o, 1);
  read_log(&w, "stdout", 0, 0);
  check_log(&w, "one");
  read_log(&w, "all", 0, 0);
  check_log(&w, "all");
  caller_end(&w);
  (void)unlink(path);
  (void)rmdir(dir);
}
