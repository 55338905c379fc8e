/* HiveD's routes over a host that is played: whatever becomes of who asks. */
#include "asked.h"

#include <stdio.h>

/* It takes the place of the library's. */
struct pai_hived_host {
  struct {
    pai_hived_host_cb cb;
    void *user_data;
    const char *body; /* lent */
    void (*release)(void *body_data);
    void *body_data;
  } waiting[16];
  size_t n;
  char method[16], target[64];
  size_t body_len;
  int ready, fail;
};

static struct pai_hived_host host;

int pai_hived_host_ready(const pai_hived_host *h)
{
  return h->ready;
}

int pai_hived_host_ask(pai_hived_host *h, const pai_hived_request *request,
                       pai_hived_host_cb cb, void *user_data, pai_error **err)
{
  if (h->fail < 0)
    return pai__fail(err, h->fail, "it does not");
  assert_true(h->n < PAI__LEN(h->waiting));
  (void)snprintf(h->method, sizeof(h->method), "%s", request->method);
  (void)snprintf(h->target, sizeof(h->target), "%s", request->target);
  h->body_len = request->body_len;
  h->waiting[h->n].body = request->body;
  h->waiting[h->n].release = request->release;
  h->waiting[h->n].body_data = request->body_data;
  h->waiting[h->n].cb = cb;
  h->waiting[h->n++].user_data = user_data;
  return PAI_OK;
}

static void answer(int status, const char *type, const char *body,
                   const char *location)
{
  pai_hived_answer a = { .struct_size = sizeof(a),
                         .status = status,
                         .content_type = type,
                         .body = body,
                         .body_len = strlen(body),
                         .location = location };

  assert_true(host.n > 0);
  host.n--;
  host.waiting[host.n].release(host.waiting[host.n].body_data);
  host.waiting[host.n].cb(host.waiting[host.n].user_data, PAI_OK, &a, NULL);
}

static void begin_extender(scene *s)
{
  pai_server_options o = PAI_SERVER_OPTIONS_INIT;

  host = (struct pai_hived_host){ .ready = 1 };
  begin_empty(s);
  o.socket = s->path;
  o.hived = &host;
  assert_ok(pai_server_new(&s->server, s->loop, NULL, &o, NULL));
}

static void until_asked(scene *s, size_t n)
{
  while (host.n < n)
    turn(s);
}

/* Asks, without waiting. */
static void start(peer *p, scene *s, const char *request)
{
  size_t n = host.n;

  come(p, s);
  say(p, request);
  until_asked(s, n + 1);
}

#define FILTER                                                              \
  "POST /v1/extender/filter?x=%41 HTTP/1.1\r\nHost: x\r\nContent-Length: 2" \
  "\r\n\r\n{}"

IN_SCENE(begin_extender, answers_are_the_hosts)
{
  peer p;

  start(&p, s, FILTER);
  assert_string_equal(host.method, "POST");
  assert_string_equal(host.target, "/v1/extender/filter?x=%41"); /* as sent */
  assert_int_equal(host.body_len, 2);
  assert_string_equal(host.waiting[0].body, "{}");
  answer(200, "application/json", "{\"Error\":\"\"}", NULL);
  hear(&p, "{\"Error\":\"\"}");
  assert_has(pai__buf_text(&p.seen), "HTTP/1.1 200 ");
  assert_has(pai__buf_text(&p.seen), "Content-Type: application/json\r\n");
  say(&p, "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"); /* what it says itself */
  until_asked(s, 1);
  assert_string_equal(host.target, "/%zz");
  answer(301, NULL, "", "/to/there");
  hear(&p, "Location: /to/there\r\n");
  leave(&p);
}

IN_SCENE(begin_extender, it_has_nothing_else)
{
  peer p;

  start(&p, s, "PUT /api/v2/jobs HTTP/1.1\r\nHost: x\r\n\r\n");
  answer(404, "text/html; charset=utf-8", "none", NULL);
  hear(&p, "none");
  leave(&p);
  expect(GET(s, "/healthz"), 200, "ok\n");
  host.ready = 0;
  expect(GET(s, "/healthz"), 503, "not all nodes");
}

IN_SCENE(begin_extender, who_goes_away_is_forgotten)
{
  peer p, q;

  start(&p, s, FILTER);
  leave(&p);
  start(&q, s, FILTER); /* so that it was seen */
  answer(200, "application/json", "{\"a\":1}", NULL);
  hear(&q, "{\"a\":1}");
  answer(200, "application/json", "{\"b\":1}", "/gone");
  leave(&q);
}

IN_SCENE(begin_extender, what_fails_is_told)
{
  pai_error *err = NULL;
  peer p;

  start(&p, s, FILTER);
  host.n--;
  host.waiting[0].release(host.waiting[0].body_data);
  (void)pai__fail(&err, PAI_ENOMEM, "no memory");
  host.waiting[0].cb(host.waiting[0].user_data, PAI_ENOMEM, NULL, err);
  pai_error_free(err);
  hear(&p, "\"hivedscheduler: Platform Error: no memory\"");
  leave(&p);
  host.fail = PAI_EBUSY;
  expect(GET(s, "/"), 500, "\"hivedscheduler: Platform Error: it does not\"");
}

IN_SCENE(begin_extender, large_bodies)
{
  static char many[(1 << 18) + 2];
  peer p;

  come(&p, s);
  say(&p, "POST /v1/extender/filter HTTP/1.1\r\nHost: x\r\n"
          "Content-Length: 4194305\r\n\r\n");
  hear(&p, "HTTP/1.1 413 ");
  assert_int_equal(host.n, 0);
  leave(&p);
  /* Short enough, but the loop would be held for long. */
  memset(many, ',', sizeof(many) - 1);
  many[0] = '[';
  expect(SEND(s, "POST", "/v1/extender/filter", many), 413,
         "\"hivedscheduler: User Error: The body has too many values\"");
  assert_int_equal(host.n, 0);
}

/* What is under way is answered, and then it is closed. */
IN_SCENE(begin_extender, it_ends)
{
  peer p;

  start(&p, s, FILTER);
  s->closed = 0;
  pai_server_close(s->server, on_closed, s);
  (void)!pai_loop_dispatch(s->loop);
  assert_int_equal(s->closed, 0);
  answer(200, "application/json", "{\"last\":1}", NULL);
  while (!s->closed)
    turn(s);
  s->server = NULL;
  hear(&p, "{\"last\":1}");
  leave(&p);
}

IN_SCENE(begin_empty, options_that_are_wrong)
{
  pai_server_options o = PAI_SERVER_OPTIONS_INIT;
  pai_server *server;
  pai_error *err;

  o.socket = s->path;
  assert_fails(pai_server_new(&server, s->loop, NULL, &o, &err), err,
               PAI_EINVAL, "requires either");
  o.hived = &host;
  assert_fails(pai_server_new(&server, s->loop, &s->platform, &o, &err), err,
               PAI_EINVAL, "requires either");
}
