/*
 * Exchanges that break at every byte: each call ends exactly once, with the
 * right error, and nothing is left.
 *
 * The suite takes some of the bytes where it must wait; with OPENPAI_SOAK it is
 * all of them.
 */
#include "client/played.h"

#include <stdlib.h>

/* Ways to say where an answer ends. */
typedef struct shape {
  const char *text;
  int status; /* of the call, when it came whole */
  const char *body;
  bool to_the_end; /* of the connection */
  size_t spare;    /* bytes at its end that nobody misses */
} shape;

static const shape shapes[] = {
  { HEAD_OK "Content-Length: 12\r\n\r\n{\"a\": \"bcd\"}", PAI_OK,
    "{\"a\": \"bcd\"}", false, 0 },
  { HEAD_OK "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"
            "7;x=y\r\n \"bcd\"}\r\n0\r\nX: y\r\n\r\n",
    PAI_OK, "{\"a\": \"bcd\"}", false, 1 }, /* the last newline */
  { HEAD_OK "\r\n{\"a\": \"bcd\"}", PAI_OK, "{\"a\": \"bcd\"}", true, 0 },
  { "HTTP/1.1 404 Not Found\r\nContent-Length: 39\r\n\r\n"
    "{\"code\":\"NoJobError\",\"message\":\"gone\"}\n",
    PAI_ENOTFOUND, "{\"code\":\"NoJobError\",\"message\":\"gone\"}\n", false,
    0 },
  { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", PAI_OK, "",
    false, 0 },
};

static const shape *played_shape;

static void answer(played *p, const char *request, pai__buf *out)
{
  (void)p;
  (void)request;
  pai__buf_str(out, played_shape->text);
}

static size_t stride(size_t fast)
{
  return getenv("OPENPAI_SOAK") != NULL ? 1 : fast;
}

/* --- one exchange ----------------------------------------------------------------- */

typedef struct exchange {
  const char *method;
  enum fault fault;
  size_t at;
  int request;    /* the one of its connection that is struck */
  uint32_t tries; /* that are allowed; the fault strikes but the first */
  pai_time time;  /* 0: no limit */
} exchange;

static void set_up(played *p, const exchange *x)
{
  p->hang_up = played_shape->to_the_end;
  p->fault = x->fault;
  p->at = x->at;
  p->fault_connections = x->tries > 1 ? 1 : 0;
  p->fault_request = x->request;
}

static void ask(pai_client *client, const exchange *x, outcome *o)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  q.method = x->method;
  q.path = "/api/v2/x";
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, o, NULL));
}

/* The number of requests that the server took. */
static size_t run(outcome *o, const exchange *x)
{
  static played p;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_loop *loop = open_loop();
  pai_client *client;
  test_tally tally;

  test_tally_init(&tally);
  memset(o, 0, sizeof(*o));
  played_open(&p, loop, answer);
  set_up(&p, x);
  options.alloc = &tally.alloc;
  options.url = p.url;
  options.most_tries = x->tries;
  options.total_time = x->time;
  options.first_wait = 1;
  options.seed = 7;
  assert_ok(pai_client_new(&client, loop, &options, NULL));
  for (int i = 1; i <= x->request; i++) {
    ask(client, x, o);
    wait_for(loop, o, i);
  }
  close_client(loop, client);
  assert_int_equal(o->calls, x->request); /* and not again */
  played_close(&p);
  close_loop(loop);
  assert_int_equal(tally.live, 0);
  return p.requests;
}

static void check_whole(const outcome *o)
{
  assert_int_equal(o->status, played_shape->status);
  assert_string_equal(o->body, played_shape->body);
}

/* Where a head ends whose body ends with the connection. */
static size_t head_len(void)
{
  return (size_t)(strstr(played_shape->text, "\r\n\r\n") + 4 -
                  played_shape->text);
}

static void check(const outcome *o, const exchange *x)
{
  size_t len = strlen(played_shape->text);
  bool whole = x->at >= len;

  if (!whole && x->at + played_shape->spare >= len &&
      o->status == played_shape->status)
    whole = true;

  if (x->tries > 1 || x->fault == DELAY) {
    check_whole(o);
  } else if (x->request == 2 && (x->fault == CUT || x->fault == RESET) &&
             x->at < strcspn(played_shape->text, "\n") + 1) {
    /* An old connection that has died: a new one is taken at once. */
    check_whole(o);
  } else if (x->fault == DOUBLE || (x->fault == RESET && whole)) {
    /* What it has become is a matter of chance; that it ended, is not. */
    assert_true(o->status <= PAI_OK);
  } else if (x->fault == CUT_REQUEST) {
    assert_int_equal(o->status, PAI_EIO);
  } else if (played_shape->to_the_end) {
    bool headed = x->at >= head_len();
    if (x->fault == CUT && headed)
      assert_ok(o->status); /* who can tell */
    else if (x->fault != RESET || !headed)
      assert_int_equal(o->status, PAI_EIO);
  } else if (whole) {
    check_whole(o);
  } else {
    if (o->status != PAI_EIO)
      print_message("fault %d at byte %zu of request %d: \"%.9s\"...\n",
                    (int)x->fault, x->at, x->request,
                    played_shape->text + x->at);
    assert_int_equal(o->status, PAI_EIO);
  }
  if (o->status == PAI_EIO) {
    assert_int_equal(o->http_status, 0);
    assert_true(o->retriable);
  }
}

static void break_everywhere(enum fault fault, uint32_t tries, pai_time time,
                             size_t step)
{
  for (size_t i = 0; i < PAI__LEN(shapes); i++) {
    size_t len = strlen(shapes[i].text);

    played_shape = &shapes[i];
    for (int request = 1; request <= (shapes[i].to_the_end ? 1 : 2); request++)
      for (size_t at = 0; at <= len; at += step) {
        exchange x = { "GET", fault, at, request, tries, time };
        outcome o;
        (void)run(&o, &x);
        check(&o, &x);
      }
  }
}

/* --- the tests --------------------------------------------------------------------- */

ON_LOOPS(cuts)
{
  break_everywhere(CUT, 1, 0, stride(3));
}

ON_LOOPS(resets)
{
  break_everywhere(RESET, 1, 0, stride(5));
}

ON_LOOPS(delays)
{
  break_everywhere(DELAY, 1, 0, stride(5));
}

ON_LOOPS(doubles)
{
  break_everywhere(DOUBLE, 1, 50 * 1000, stride(11));
}

ON_LOOPS(stalls)
{
  break_everywhere(STALL, 1, 30 * 1000, stride(37));
}

ON_LOOPS(cuts_that_are_mended)
{
  for (size_t i = 0; i < PAI__LEN(shapes); i++) {
    size_t len = strlen(shapes[i].text);
    played_shape = &shapes[i];
    if (shapes[i].to_the_end)
      continue; /* nobody can see that */
    len -= shapes[i].spare;
    for (size_t at = 0; at < len; at += stride(5)) {
      exchange x = { "GET", at % 2 == 0 ? CUT : RESET, at, 1, 3, 0 };
      outcome o;
      assert_int_equal(run(&o, &x), 2);
      check_whole(&o);
      assert_int_equal(o.tries, 2);
    }
  }
}

ON_LOOPS(cuts_of_requests)
{
  played_shape = &shapes[0];
  for (size_t at = 1; at < 60; at += stride(7)) {
    exchange x = { "GET", CUT_REQUEST, at, 1, 1, 0 };
    outcome o;
    assert_int_equal(run(&o, &x), 0);
    check(&o, &x);
  }
}

/* A POST may have done what it is for. */
ON_LOOPS(a_post_is_not_sent_twice)
{
  played_shape = &shapes[0];
  for (int request = 1; request <= 2; request++)
    for (size_t at = 0; at < strlen(shapes[0].text); at += stride(5)) {
      exchange x = { "POST", CUT, at, request, 3, 0 };
      outcome o;
      assert_int_equal(run(&o, &x), request);
      assert_int_equal(o.status, PAI_EIO);
      assert_int_equal(o.tries, 1);
    }
}

ON_LOOPS(cancelled_everywhere)
{
  played_shape = &shapes[1];
  for (size_t at = 0; at < strlen(shapes[1].text); at += stride(9)) {
    static played p;
    pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
    pai_client_request q = PAI_CLIENT_REQUEST_INIT;
    pai_loop *loop = open_loop();
    pai_client *client;
    outcome o = { 0 };
    pai_op *op;

    played_open(&p, loop, answer);
    p.fault = STALL;
    p.at = at;
    options.url = p.url;
    q.path = "/x";
    assert_ok(pai_client_new(&client, loop, &options, NULL));
    assert_ok(pai_client_ask(&op, client, &q, on_outcome, &o, NULL));
    while (p.requests == 0)
      assert_true(turn_loop(loop));
    pai_op_cancel(op);
    pai_op_cancel(op);
    wait_for(loop, &o, 1);
    assert_int_equal(o.status, PAI_ECANCELED);
    close_client(loop, client);
    played_close(&p);
    close_loop(loop);
  }
}
