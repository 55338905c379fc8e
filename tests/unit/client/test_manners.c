/* Tries, limits and options of a client that asks a URL. */
#define _GNU_SOURCE
#include "client/played.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct stage {
  played p;
  pai_loop *loop;
  pai_client *client;
  outcome o;
  pai_op *op;
  /* the server */
  int refusals; /* requests that are refused first */
  const char *refusal;
  char big[8192];
  /* what was told of tries */
  int retries;
  pai_time wait, most_wait;
  char path[128], why[256];
  bool cancel;
} stage;

static void answer(played *p, const char *request, pai__buf *out)
{
  stage *s = p->user_data;

  (void)request;
  if ((int)p->requests <= s->refusals)
    pai__buf_str(out, s->refusal);
  else
    say(out, "200 OK", s->big[0] != '\0' ? s->big : "{}");
}

static void on_retry(void *user_data, const pai_client_retry *retry)
{
  stage *s = user_data;

  s->retries++;
  assert_int_equal(retry->tries, s->retries);
  assert_true(retry->err != NULL);
  s->wait = retry->wait;
  (void)snprintf(s->path, sizeof(s->path), "%s %s", retry->method,
                 retry->path);
  (void)snprintf(s->why, sizeof(s->why), "%s", pai_error_message(retry->err));
  if (s->cancel)
    pai_op_cancel(s->op);
}

static pai_client_options defaults(void)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  options.first_wait = 1;
  options.most_wait = 1000;
  options.seed = 1;
  options.on_retry = on_retry;
  return options;
}

static void begin(stage *s, pai_client_options options)
{
  memset(s, 0, sizeof(*s));
  s->loop = open_loop();
  played_open(&s->p, s->loop, answer);
  s->p.user_data = s;
  options.url = s->p.url;
  options.user_data = s;
  assert_ok(pai_client_new(&s->client, s->loop, &options, NULL));
}

static void end(stage *s)
{
  close_client(s->loop, s->client);
  played_close(&s->p);
  close_loop(s->loop);
}

static void ask(stage *s, const char *method, const char *path)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  int calls = s->o.calls;

  q.method = method;
  q.path = path;
  assert_ok(pai_client_ask(&s->op, s->client, &q, on_outcome, &s->o, NULL));
  assert_int_equal(s->o.calls, calls); /* not from inside */
  wait_for(s->loop, &s->o, calls + 1);
}

/* --- tries -------------------------------------------------------------------------- */

ON_LOOPS(refusals_for_the_moment)
{
  static const char *const methods[] = { "GET", "POST" };
  static stage s;

  for (size_t i = 0; i < PAI__LEN(methods); i++) {
    begin(&s, defaults());
    s.refusals = 2;
    s.refusal = "HTTP/1.1 503 Busy\r\nContent-Length: 18\r\n\r\n"
                "{\"message\":\"full\"}";
    ask(&s, methods[i], "/api/v2/x?token=secret");
    assert_ok(s.o.status);
    assert_string_equal(s.o.body, "{}"); /* nothing of the refusals */
    assert_int_equal(s.o.tries, 3);
    assert_int_equal(s.retries, 2);
    assert_string_equal(s.why, "full");
    assert_null(strstr(s.path, "secret"));
    assert_has(s.path, "/api/v2/x");
    end(&s);
  }
}

ON_LOOPS(at_most_so_many)
{
  pai_client_options options = defaults();
  static stage s;

  options.most_tries = 3;
  begin(&s, options);
  s.refusals = 99;
  s.refusal = "HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n";
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_EBUSY);
  assert_int_equal(s.o.http_status, 429);
  assert_true(s.o.retriable);
  assert_int_equal(s.o.tries, 3);
  assert_int_equal(s.p.requests, 3);
  end(&s);
}

ON_LOOPS(the_server_says_when)
{
  pai_client_options options = defaults();
  static stage s;

  begin(&s, options);
  s.refusals = 1;
  s.refusal = "HTTP/1.1 429 Slow\r\nRetry-After: 500\r\n"
              "Content-Length: 0\r\n\r\n";
  s.cancel = true; /* nobody waits for that */
  ask(&s, "POST", "/x");
  assert_int_equal(s.o.status, PAI_ECANCELED);
  assert_int_equal(s.wait, (pai_time)500 * 1000 * 1000);
  end(&s);

  begin(&s, options); /* and not at all for longer */
  s.refusals = 1;
  s.refusal = "HTTP/1.1 503 Slow\r\nRetry-After: 601\r\n"
              "Content-Length: 0\r\n\r\n";
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_EBUSY);
  assert_int_equal(s.retries, 0);
  end(&s);

  options.total_time = 1000 * 1000; /* and here there is no use in it */
  begin(&s, options);
  s.refusals = 1;
  s.refusal = "HTTP/1.1 429 Slow\r\nRetry-After: 500\r\n"
              "Content-Length: 0\r\n\r\n";
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_EBUSY);
  assert_int_equal(s.retries, 0);
  end(&s);
}

ON_LOOPS(closed_while_it_waits)
{
  pai_client_options options = defaults();
  static stage s;

  options.first_wait = options.most_wait = (pai_time)3600 * 1000 * 1000;
  begin(&s, options);
  s.refusals = 1;
  s.refusal = "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n";
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  q.path = "/x";
  assert_ok(pai_client_ask(&s.op, s.client, &q, on_outcome, &s.o, NULL));
  while (s.retries == 0)
    assert_true(turn_loop(s.loop));
  assert_int_equal(s.o.calls, 0);
  end(&s);
  assert_int_equal(s.o.calls, 1);
  assert_int_equal(s.o.status, PAI_ECANCELED);
}

ON_LOOPS(nobody_listens)
{
  pai_client_options options = defaults();
  static stage s;

  options.most_tries = 2;
  begin(&s, options);
  played_close(&s.p); /* and so its port is nobody's */
  ask(&s, "POST", "/x");
  assert_int_equal(s.o.status, PAI_ENOTFOUND);
  assert_int_equal(s.o.tries, 2); /* nothing was sent: even a POST */
  assert_has(s.o.message, "cannot connect to http://127.0.0.1");
  close_client(s.loop, s.client);
  close_loop(s.loop);
}

/* --- limits --------------------------------------------------------------------------- */

ON_LOOPS(answers_have_a_limit)
{
  pai_client_options options = defaults();
  static stage s;

  options.most_answer = 4096;
  begin(&s, options);
  memset(s.big, 'x', 4096);
  ask(&s, NULL, "/x");
  assert_ok(s.o.status);
  memset(s.big, 'x', 4097);
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_ELIMIT);
  assert_int_equal(s.o.tries, 1);
  end(&s);
}

ON_LOOPS(nothing_comes)
{
  pai_client_options options = defaults();
  static stage s;

  options.total_time = 20 * 1000;
  begin(&s, options);
  s.refusals = 99;
  s.refusal = ""; /* no answer at all */
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_EIO);
  end(&s);

  options.total_time = 0;
  options.idle_time = 1000 * 1000;
  options.most_tries = 1;
  begin(&s, options);
  s.refusals = 99;
  s.refusal = "";
  ask(&s, NULL, "/x");
  assert_int_equal(s.o.status, PAI_EIO);
  assert_true(s.o.retriable);
  end(&s);
}

ON_LOOPS(heads_and_no_content)
{
  static stage s;

  begin(&s, defaults());
  s.refusals = 1;
  s.refusal = "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n";
  ask(&s, "HEAD", "/x");
  assert_ok(s.o.status);
  ask(&s, "GET", "/x"); /* and what was set for it is not for this */
  assert_ok(s.o.status);
  assert_string_equal(s.o.body, "{}");
  ask(&s, "PUT", "/x");
  ask(&s, "GET", "/x");
  assert_string_equal(s.o.body, "{}");
  assert_int_equal(s.p.connections, 1);
  assert_null(strstr(strstr(s.p.seen.data, "PUT ") + 4, "PUT "));
  end(&s);
}

/* A callback may do what it likes. */
static void ask_on(void *user_data, int status, const pai_client_answer *a)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  stage *s = user_data;

  (void)a;
  assert_ok(status);
  q.path = "/x";
  s->retries++;
  if (s->retries < 100)
    assert_ok(pai_client_ask(NULL, s->client, &q, ask_on, s, NULL));
  else
    pai_client_close(s->client, NULL, NULL);
}

ON_LOOPS(asked_in_callbacks)
{
  static stage s;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  begin(&s, defaults());
  q.path = "/x";
  assert_ok(pai_client_ask(NULL, s.client, &q, ask_on, &s, NULL));
  while (s.retries < 100)
    assert_true(turn_loop(s.loop));
  assert_int_equal(s.p.connections, 1);
  played_close(&s.p);
  close_loop(s.loop);
}

/* A proxy is asked for the whole URL, and is not told who asks by itself. */
ON_LOOPS(through_a_proxy)
{
  pai_client_options options = defaults();
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  static stage s;
  pai_client *client;

  begin(&s, options);
  options.url = "http://pai.invalid/rest-server/";
  options.proxy = s.p.url;
  options.user_data = &s;
  assert_ok(pai_client_new(&client, s.loop, &options, NULL));
  q.path = "/api/v2/info";
  assert_ok(pai_client_ask(NULL, client, &q, on_outcome, &s.o, NULL));
  wait_for(s.loop, &s.o, 1);
  assert_ok(s.o.status);
  assert_has(s.p.seen.data,
             "GET http://pai.invalid/rest-server/api/v2/info HTTP/1.1");
  close_client(s.loop, client);
  end(&s);
}

/* --- options ---------------------------------------------------------------------------- */

ON_LOOPS(wrong_options)
{
  static const char *const urls[] = {
    "",
    "pai.example.org",
    "ftp://a",
    "http://",
    "http:///x",
    "http://a b",
    "http://a:99999",
    "http://a:x",
    "http://[::1",
    "http://::1]",
    "http://u:secret@a",
    "http://a?x=1",
    "http://a/#x",
    "http://a\r\nX: y",
    "http://[::1]x",
    "https://a:",
  };
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_loop *loop = open_loop();
  pai_client *client;
  pai_error *err;

  for (size_t i = 0; i < PAI__LEN(urls); i++) {
    options.url = urls[i];
    assert_int_equal(pai_client_new(&client, loop, &options, &err),
                     PAI_EINVAL);
    assert_null(client);
    assert_null(strstr(pai_error_message(err), "secret"));
    pai_error_free(err);
  }
  options.url = "https://a";
  options.socket = "/x";
  assert_int_equal(pai_client_new(&client, loop, &options, NULL), PAI_EINVAL);
  options.socket = NULL;
  options.user = "ann";
  assert_int_equal(pai_client_new(&client, loop, &options, NULL), PAI_EINVAL);
  options.user = NULL;
  options.key_file = "/x";
  assert_int_equal(pai_client_new(&client, loop, &options, NULL), PAI_EINVAL);
  options.key_file = NULL;
  options.token = "a\r\nX: y";
  assert_int_equal(pai_client_new(&client, loop, &options, NULL), PAI_EINVAL);
  options.token = NULL;
  options.first_wait = -1;
  assert_int_equal(pai_client_new(&client, loop, &options, NULL), PAI_EINVAL);
  /* Whoever knows the first version says nothing behind it. */
  options.struct_size = offsetof(pai_client_options, url);
  options.socket = "/nowhere";
  assert_ok(pai_client_new(&client, loop, &options, NULL));
  close_client(loop, client);
  close_loop(loop);
}
