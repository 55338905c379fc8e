/* played.c - a server that answers what a test wants it to */
#define _GNU_SOURCE
#include "client/played.h"

#include <openpai/uv.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

/* --- loops ---------------------------------------------------------------------- */

enum loop_kind loop_kind;
static uv_loop_t hosts;

pai_loop *open_loop(void)
{
  pai_loop *loop;

  if (loop_kind == HOSTS_LOOP) {
    assert_int_equal(uv_loop_init(&hosts), 0);
    assert_ok(pai_loop_attach_uv(&loop, &hosts, NULL, NULL));
  } else {
    assert_ok(pai_loop_new(&loop, NULL, NULL));
  }
  return loop;
}

bool turn_loop(pai_loop *loop)
{
  struct pollfd fd;

  if (loop_kind == HOSTS_LOOP)
    return uv_run(&hosts, UV_RUN_ONCE) != 0;
  if (loop_kind == OWN_LOOP)
    return pai_loop_run_once(loop) > 0;
  fd = (struct pollfd){ .fd = pai_loop_fd(loop), .events = POLLIN };
  (void)poll(&fd, 1, pai_loop_timeout_ms(loop));
  return pai_loop_dispatch(loop) > 0;
}

void close_loop(pai_loop *loop)
{
  if (loop_kind != HOSTS_LOOP) {
    assert_ok(pai_loop_run(loop));
    pai_loop_free(loop);
    return;
  }
  pai_loop_free(loop);
  assert_int_equal(uv_run(&hosts, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(&hosts), 0);
}

void on_loop(enum loop_kind kind, void (*test)(void))
{
  (void)unsetenv("http_proxy");
  (void)unsetenv("https_proxy");
  (void)unsetenv("all_proxy");
  loop_kind = kind;
  test();
}

/* --- connections ------------------------------------------------------------------ */

static void end_connection(played_connection *c, bool reset)
{
  const struct linger none = { 1, 0 };

  if (c->watch == NULL)
    return;
  if (reset)
    (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  pai__poll_close(c->watch);
  pai__loop_step_close(c->turn);
  c->watch = NULL;
  c->turn = NULL;
  (void)close(c->fd);
  pai__buf_dispose(&c->in);
  pai__buf_dispose(&c->late);
}

static void put(const played_connection *c, const char *bytes, size_t len)
{
  if (len > 0) /* it may have hung up */
    (void)!send(c->fd, bytes, len, MSG_NOSIGNAL);
}

static void on_late(void *user_data)
{
  played_connection *c = user_data;

  put(c, c->late.data, c->late.len);
  pai__buf_cut(&c->late, 0);
  if (c->server->hang_up)
    end_connection(c, false);
}

static bool is_struck(const played_connection *c)
{
  const played *p = c->server;

  return (p->fault_connections == 0 || c - p->of < p->fault_connections) &&
         (p->fault_request == 0 ||
          p->fault_request == c->requests + (p->fault == CUT_REQUEST ? 1 : 0));
}

static void give(played_connection *c, const pai__buf *out)
{
  const played *p = c->server;
  const char *bytes = pai__buf_text(out);
  size_t at = p->at < out->len ? p->at : out->len;

  if (p->fault == NO_FAULT || p->fault == CUT_REQUEST || !is_struck(c)) {
    put(c, bytes, out->len);
    if (p->hang_up)
      end_connection(c, false);
    return;
  }
  put(c, bytes, at);
  if (p->fault == CUT || p->fault == RESET) {
    end_connection(c, p->fault == RESET);
  } else if (p->fault == STALL) {
    c->stalled = true;
  } else if (p->fault == DELAY) {
    pai__buf_add(&c->late, bytes + at, out->len - at);
    pai__loop_step_ask(c->turn);
  } else if (p->fault == DOUBLE && at < out->len) {
    put(c, bytes + at, 1);
    put(c, bytes + at, out->len - at);
    if (p->hang_up)
      end_connection(c, false);
  }
}

/* How long the first request is; 0: it is not whole. */
static size_t length_of(const pai__buf *in)
{
  const char *head = pai__buf_text(in), *end = strstr(head, "\r\n\r\n"),
             *length = strcasestr(head, "\r\nContent-Length: ");
  size_t len;

  if (end == NULL)
    return 0;
  len = (size_t)(end + 4 - head);
  if (length != NULL && length < end)
    len += strtoul(length + 18, NULL, 10);
  return len <= in->len ? len : 0;
}

static void take_request(played_connection *c, size_t len)
{
  played *p = c->server;
  char *request = strndup(c->in.data, len);
  pai__buf out = test_buf();

  memmove(c->in.data, c->in.data + len, c->in.len - len);
  pai__buf_cut(&c->in, c->in.len - len);
  p->requests++;
  c->requests++;
  p->answer(p, request, &out);
  free(request);
  give(c, &out);
  pai__buf_dispose(&out);
}

static void on_bytes(void *user_data, int fd, int events)
{
  played_connection *c = user_data;
  played *p = c->server;
  char bytes[4096];
  bool cut = p->fault == CUT_REQUEST && is_struck(c);
  size_t most = cut && p->at - c->received < sizeof(bytes)
                  ? p->at - c->received
                  : sizeof(bytes),
         len;
  ssize_t n = most > 0 ? read(fd, bytes, most) : 0;

  (void)events;
  if (n <= 0) {
    end_connection(c, n == 0 && most == 0);
    return;
  }
  c->received += (size_t)n;
  pai__buf_add(&p->seen, bytes, (size_t)n);
  pai__buf_add(&c->in, bytes, (size_t)n);
  if (cut && c->received == p->at) {
    end_connection(c, false);
    return;
  }
  while (c->watch != NULL && !c->stalled && (len = length_of(&c->in)) > 0)
    take_request(c, len);
}

static void on_connection(void *user_data, int fd, int events)
{
  played *p = user_data;
  played_connection *c = &p->of[p->connections];

  (void)events;
  assert_true(p->connections < PAI__LEN(p->of));
  c->fd = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (c->fd < 0)
    return;
  p->connections++;
  c->server = p;
  c->received = 0;
  c->requests = 0;
  c->stalled = false;
  pai__buf_init(&c->in, &pai__libc_alloc);
  pai__buf_init(&c->late, &pai__libc_alloc);
  assert_ok(
    pai__loop_step_new(&c->turn, &pai__libc_alloc, p->loop, on_late, c));
  assert_ok(pai__poll_new(&c->watch, &pai__libc_alloc, p->loop, c->fd,
                          on_bytes, c, NULL));
  pai__poll_set(c->watch, PAI__READABLE);
}

/* --- its life ----------------------------------------------------------------------- */

static void listen_at(played *p, int family, struct sockaddr *a, socklen_t len)
{
  p->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  assert_int_equal(bind(p->listener, a, len), 0);
  assert_int_equal(listen(p->listener, 512), 0);
  assert_int_equal(getsockname(p->listener, a, &len), 0);
  assert_ok(pai__poll_new(&p->watch, &pai__libc_alloc, p->loop, p->listener,
                          on_connection, p, NULL));
  pai__poll_set(p->watch, PAI__READABLE);
}

static void prepare(played *p, pai_loop *loop,
                    void (*answer)(played *p, const char *request,
                                   pai__buf *out))
{
  memset(p, 0, sizeof(*p));
  p->loop = loop;
  p->answer = answer;
  pai__buf_init(&p->seen, &pai__libc_alloc);
}

void played_open(played *p, pai_loop *loop,
                 void (*answer)(played *p, const char *request, pai__buf *out))
{
  struct sockaddr_in a = { .sin_family = AF_INET,
                           .sin_addr = { htonl(INADDR_LOOPBACK) } };

  prepare(p, loop, answer);
  listen_at(p, AF_INET, (struct sockaddr *)&a, sizeof(a));
  p->port = ntohs(a.sin_port);
  (void)snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%d/rest-server",
                 p->port);
}

void played_open_socket(played *p, pai_loop *loop, const char *path,
                        void (*answer)(played *p, const char *request,
                                       pai__buf *out))
{
  struct sockaddr_un a = { .sun_family = AF_UNIX };

  prepare(p, loop, answer);
  (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
  listen_at(p, AF_UNIX, (struct sockaddr *)&a, sizeof(a));
}

void played_close(played *p)
{
  for (size_t i = 0; i < p->connections; i++)
    end_connection(&p->of[i], false);
  pai__poll_close(p->watch);
  (void)close(p->listener);
  pai__buf_dispose(&p->seen);
}

bool asks_for(const char *request, const char *line)
{
  const char *slash = strchr(line, '/');
  size_t method = (size_t)(slash - line);

  return strncmp(request, line, method) == 0 &&
         strncmp(request + method, "/rest-server", 12) == 0 &&
         strncmp(request + method + 12, slash, strlen(slash)) == 0;
}

void say(pai__buf *out, const char *status, const char *body)
{
  pai__buf_printf(out,
                  "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                  "Content-Length: %zu\r\n\r\n%s",
                  status, strlen(body), body);
}

/* --- what a call comes to ------------------------------------------------------------ */

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

void on_outcome(void *user_data, int status, const pai_client_answer *a)
{
  outcome *o = user_data;

  o->calls++;
  o->status = status;
  o->http_status = a->http_status;
  o->exit_code = a->exit_code;
  o->tries = a->tries;
  o->body_len = a->body_len;
  o->retriable = pai_error_retriable(a->err) != 0;
  o->no_answer = pai_error_no_answer(a->err);
  keep(o->code, sizeof(o->code), a->code);
  keep(o->message, sizeof(o->message), pai_error_message(a->err));
  keep(o->help, sizeof(o->help), pai_error_help(a->err));
  keep(o->body, sizeof(o->body), a->body);
  keep(o->state, sizeof(o->state), a->state);
  assert_int_equal(a->body[a->body_len], '\0');
  assert_int_equal(pai_error_code(a->err), status);
}

void wait_for(pai_loop *loop, const outcome *o, int calls)
{
  while (o->calls < calls)
    assert_true(turn_loop(loop) || o->calls >= calls);
  assert_int_equal(o->calls, calls);
}

static void on_closed(void *user_data)
{
  *(bool *)user_data = true;
}

void close_client(pai_loop *loop, pai_client *client)
{
  bool closed = false;

  pai_client_close(client, on_closed, &closed);
  assert_false(closed);
  while (!closed)
    assert_true(turn_loop(loop) || closed);
}
