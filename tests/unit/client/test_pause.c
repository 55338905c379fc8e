/* Calls that are paused by whoever takes what comes; and what is told of what
 * is sent. */
#define _GNU_SOURCE
#include "client/played.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { SIZE = 32 << 20, MOST_IN_FLIGHT = 16 << 20, PIECE = 64 << 10 };

typedef struct stage {
  played p;
  pai_loop *loop;
  pai_client *client;
  pai_op *op;
  outcome o;
  /* the server */
  size_t sent; /* of a body of SIZE */
  const char *server;
  int rest; /* how often the log is whole only after a cut */
  /* who takes it */
  size_t taken;
  int pieces, changes;
  int pause_after; /* so many pieces, or changes; 0: never */
  bool resume;     /* at once */
  char log[64];
} stage;

/* Each byte of a body says where it is. */
static char byte_at(size_t at)
{
  return (char)(at * 2654435761u >> 24);
}

static void answer_large(played *p, const char *request, pai__buf *out)
{
  (void)p;
  (void)request;
  pai__buf_printf(out, HEAD_OK "Content-Length: %d\r\n\r\n", SIZE);
}

/* Sends on until the client's side takes no more, or all is sent. */
static void pump(stage *s)
{
  static char bytes[PIECE];
  played_connection *c = &s->p.of[s->p.connections - 1];
  ssize_t n = 1;

  while (n > 0 && s->sent < SIZE && c->requests > 0 && c->watch != NULL) {
    size_t len = SIZE - s->sent < PIECE ? SIZE - s->sent : PIECE;
    for (size_t i = 0; i < len; i++)
      bytes[i] = byte_at(s->sent + i);
    n = send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      s->sent += (size_t)n;
  }
}

static void pause_where_wanted(stage *s, int count)
{
  if (s->pause_after == 0 || count < s->pause_after)
    return;
  pai_op_pause(s->op);
  pai_op_pause(s->op); /* as if once */
  if (s->resume)
    pai_op_resume(s->op);
}

static int on_body(void *user_data, const char *bytes, size_t len)
{
  stage *s = user_data;

  for (size_t i = 0; i < len; i++)
    assert_int_equal(bytes[i], byte_at(s->taken + i));
  s->taken += len;
  pause_where_wanted(s, ++s->pieces);
  return 0;
}

static int on_log(void *user_data, const char *bytes, size_t len)
{
  stage *s = user_data;

  assert_true(s->taken + len < sizeof(s->log));
  memcpy(s->log + s->taken, bytes, len);
  s->taken += len;
  pause_where_wanted(s, ++s->pieces);
  return 0;
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  stage *s = user_data;

  on_outcome(&s->o, status, a);
}

static void begin(stage *s, void (*answer)(played *p, const char *request,
                                           pai__buf *out))
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  memset(s, 0, sizeof(*s));
  s->loop = open_loop();
  played_open(&s->p, s->loop, answer);
  s->p.user_data = s;
  options.url = s->p.url;
  options.first_wait = 1;
  options.most_wait = 1000;
  options.seed = 1;
  assert_ok(pai_client_new(&s->client, s->loop, &options, NULL));
}

static void end(stage *s)
{
  if (s->client != NULL)
    close_client(s->loop, s->client);
  played_close(&s->p);
  close_loop(s->loop);
}

static void ask(stage *s, pai_time idle_time, pai_time total_time)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  q.path = "/x";
  q.on_body = on_body;
  q.idle_time = idle_time;
  q.total_time = total_time;
  q.most_tries = 1;
  assert_ok(pai_client_ask(&s->op, s->client, &q, on_end, s, NULL));
}

/* Something else is asked of the same client, so that the loop has turns. */
static void go_round(stage *s)
{
  outcome other = { 0 };

  assert_ok(pai_client_info(NULL, s->client, on_outcome, &other, NULL));
  wait_for(s->loop, &other, 1);
  assert_ok(other.status);
}

/* Until it is paused, and the server cannot send any more. */
static void fill(stage *s)
{
  while (s->pieces < s->pause_after) {
    assert_true(turn_loop(s->loop));
    pump(s);
  }
  pump(s);
}

/* --- bodies ------------------------------------------------------------------------ */

ON_LOOPS(the_server_waits)
{
  static stage s;
  size_t sent;

  begin(&s, answer_large);
  s.pause_after = 1;
  ask(&s, 0, 0);
  fill(&s);
  sent = s.sent;
  assert_in_range(sent, 1, MOST_IN_FLIGHT);
  for (int times = 1; times <= 3; times++) { /* one piece each time */
    int pieces = s.pieces;
    pai_op_resume(s.op);
    assert_int_equal(s.pieces, pieces); /* not from inside */
    while (s.pieces == pieces)
      assert_true(turn_loop(s.loop));
    assert_int_equal(s.pieces, pieces + 1);
  }
  assert_true(s.taken < 1 << 20);
  s.pause_after = 0;
  pai_op_resume(s.op);
  while (s.o.calls == 0) {
    assert_true(turn_loop(s.loop) || s.o.calls > 0);
    pump(&s);
  }
  assert_ok(s.o.status);
  assert_int_equal(s.taken, SIZE);
  end(&s);
}

ON_LOOPS(paused_and_resumed_at_once)
{
  static stage s;

  begin(&s, answer_large);
  s.pause_after = 1;
  s.resume = true;
  ask(&s, 0, 0);
  while (s.o.calls == 0) {
    assert_true(turn_loop(s.loop) || s.o.calls > 0);
    if (s.p.connections > 0)
      pump(&s);
  }
  assert_ok(s.o.status);
  assert_int_equal(s.taken, SIZE);
  end(&s);
}

ON_LOOPS(paused_before_it_begins)
{
  static stage s;

  begin(&s, answer_large);
  ask(&s, 0, 0);
  pai_op_pause(s.op);
  while (s.p.requests == 0)
    assert_true(turn_loop(s.loop));
  pump(&s);
  assert_int_equal(s.pieces, 0);
  assert_in_range(s.sent, 1, MOST_IN_FLIGHT);
  s.pause_after = 1;
  pai_op_resume(s.op);
  fill(&s);
  pai_op_resume(NULL);
  pai_op_pause(NULL);
  end(&s); /* it is closed while it is paused */
  assert_int_equal(s.o.calls, 1);
  assert_int_equal(s.o.status, PAI_ECANCELED);
}

ON_LOOPS(cancelled_while_it_is_paused)
{
  static stage s;
  size_t taken;

  for (int resumed = 0; resumed < 2; resumed++) {
    begin(&s, answer_large);
    s.pause_after = 1;
    ask(&s, 0, 0);
    fill(&s);
    taken = s.taken;
    if (resumed)
      pai_op_resume(s.op);
    pai_op_cancel(s.op);
    wait_for(s.loop, &s.o, 1);
    assert_int_equal(s.o.status, PAI_ECANCELED);
    assert_int_equal(s.taken, taken); /* nothing came after that */
    end(&s);
  }
}

/* What is refused as it goes on ends it with that. */
static int refuse_second(void *user_data, const char *bytes, size_t len)
{
  stage *s = user_data;

  (void)bytes;
  (void)len;
  if (s->pieces > 0)
    return PAI_EUSER;
  pause_where_wanted(s, ++s->pieces);
  return 0;
}

ON_LOOPS(refused_as_it_goes_on)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  static stage s;

  begin(&s, answer_large);
  s.pause_after = 1;
  q.path = "/x";
  q.on_body = refuse_second;
  assert_ok(pai_client_ask(&s.op, s.client, &q, on_end, &s, NULL));
  fill(&s);
  pai_op_resume(s.op);
  wait_for(s.loop, &s.o, 1);
  assert_int_equal(s.o.status, PAI_EUSER);
  end(&s);
}

/* --- what is sent ------------------------------------------------------------------- */

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  stage *s = user_data;

  assert_int_equal(total, SIZE);
  assert_in_range(sent, s->sent, SIZE);
  s->sent = sent;
  s->changes++;
}

static void answer_put(played *p, const char *request, pai__buf *out)
{
  (void)p;
  assert_has(request, "PUT ");
  say(out, "200 OK", "{}");
}

/* How much has left is told, with and without a body that is streamed back. */
ON_LOOPS(told_what_is_sent)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  char *body = calloc(1, SIZE);
  static stage s;

  assert_non_null(body);
  for (int streamed = 0; streamed < 2; streamed++) {
    begin(&s, answer_put);
    q.method = "PUT";
    q.path = "/x";
    q.body = body;
    q.body_len = SIZE;
    q.on_sent = on_sent;
    q.on_body = streamed ? on_log : NULL;
    assert_ok(pai_client_ask(NULL, s.client, &q, on_end, &s, NULL));
    wait_for(s.loop, &s.o, 1);
    assert_ok(s.o.status);
    assert_int_equal(s.sent, SIZE);
    assert_true(s.changes > 1);
    assert_string_equal(streamed ? s.log : s.o.body, "{}");
    end(&s);
  }
  free(body);
}

/* --- times ------------------------------------------------------------------------- */

ON_LOOPS(idle_time_stands_still)
{
  static stage s;
  pai_time began;

  if (loop_kind != OWN_LOOP) /* it takes its time */
    return;
  begin(&s, answer_large);
  s.pause_after = 1;
  began = pai__loop_time();
  ask(&s, 1000 * 1000, 3500 * 1000);
  fill(&s);
  wait_for(s.loop, &s.o, 1);
  assert_int_equal(s.o.status, PAI_EIO); /* for total_time does not */
  assert_true(pai__loop_time() - began >= 3500 * 1000);
  end(&s);
}

/* --- logs --------------------------------------------------------------------------- */

#define JOB_RUNS                                              \
  "{\"jobStatus\":{\"state\":\"RUNNING\",\"attemptId\":0},"   \
  "\"taskRoles\":{\"w\":{\"taskStatuses\":[{\"taskIndex\":0," \
  "\"taskState\":\"RUNNING\",\"attemptId\":0}]}}}"

/* A log of two parts; the first connection breaks off between them. */
static void answer_log(played *p, const char *request, pai__buf *out)
{
  stage *s = p->user_data;

  p->hang_up = false;
  if (strstr(request, "/info ") != NULL) {
    say(out, "200 OK", s->server);
  } else if (strstr(request, "?offset=0&") != NULL) {
    pai__buf_str(out, HEAD_OK "Content-Length: 99\r\n\r\nfirst ");
    p->hang_up = true;
  } else if (strstr(request, "?offset=6&") != NULL) {
    pai__buf_str(out, HEAD_OK "Content-Length: 6\r\n\r\nsecond");
  } else if (strstr(request, "/jobs/u~j ") != NULL) {
    say(out, "200 OK", JOB_RUNS);
  } else {
    say(out, "404 Not Found", "{}");
  }
}

ON_LOOPS(a_log_that_breaks_while_it_is_paused)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  static stage s;
  size_t asked;

  begin(&s, answer_log);
  s.server = "{\"server\":\"libopenpai\"}";
  s.pause_after = 1;
  o.job = "u~j";
  o.role = "w";
  o.follow = 1;
  o.on_data = on_log;
  assert_ok(pai_client_logs(&s.op, s.client, &o, on_end, &s, NULL));
  while (s.pieces == 0)
    assert_true(turn_loop(s.loop));
  go_round(&s);
  asked = s.p.requests;
  go_round(&s);
  go_round(&s);
  assert_int_equal(s.p.requests, asked + 2); /* nothing was asked for it */
  s.pause_after = 0;
  pai_op_resume(s.op);
  wait_for(s.loop, &s.o, 1);
  assert_ok(s.o.status);
  assert_string_equal(s.log, "first second");
  end(&s);
}

/* --- changes ------------------------------------------------------------------------- */

static void answer_states(played *p, const char *request, pai__buf *out)
{
  stage *s = p->user_data;

  if (strstr(request, "/info ") != NULL) {
    say(out, "200 OK", s->server);
    return;
  }
  say(out, "200 OK",
      ++s->rest % 2 != 0 ? "{\"jobStatus\":{\"state\":\"RUNNING\"}}"
                         : "{\"jobStatus\":{\"state\":\"WAITING\"}}");
}

static int on_change(void *user_data, const pai_client_change *change)
{
  stage *s = user_data;

  (void)change;
  pause_where_wanted(s, ++s->changes);
  return 0;
}

ON_LOOPS(nobody_is_asked_again_and_again)
{
  static stage s;
  size_t asked;

  begin(&s, answer_states);
  s.server = "{}";
  s.pause_after = 3;
  assert_ok(
    pai_client_watch(&s.op, s.client, "u~j", on_change, on_end, &s, NULL));
  while (s.changes < 3)
    assert_true(turn_loop(s.loop));
  asked = s.p.requests;
  for (int i = 0; i < 20; i++)
    go_round(&s);
  assert_int_equal(s.p.requests, asked + 20);
  assert_int_equal(s.changes, 3);
  pai_op_resume(s.op);
  while (s.changes < 4)
    assert_true(turn_loop(s.loop));
  pai_op_cancel(s.op);
  wait_for(s.loop, &s.o, 1);
  assert_int_equal(s.o.status, PAI_ECANCELED);
  end(&s);
}
