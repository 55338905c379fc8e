/* scene.c - a client, and a server that answers what a test wants it to */
#define _GNU_SOURCE
#include "client/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- a server of the test ------------------------------------------------------ */

static void end_connection(connection *c)
{
  if (c->watch == NULL)
    return;
  pai__poll_close(c->watch);
  c->watch = NULL;
  (void)close(c->fd);
  c->scene->closed++;
}

static void on_request(void *user_data, int fd, int events)
{
  connection *c = user_data;
  scene *s = c->scene;
  char bytes[4096];
  ssize_t n = read(fd, bytes, sizeof(bytes));

  (void)events;
  if (n <= 0) {
    end_connection(c);
    return;
  }
  pai__buf_add(&s->seen, bytes, (size_t)n);
  if (memmem(bytes, (size_t)n, "\r\n\r\n", 4) == NULL)
    return;
  if (s->answer != NULL) /* it may have hung up */
    (void)!send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL);
  if (s->hang_up)
    end_connection(c);
}

void on_connection(void *user_data, int fd, int events)
{
  scene *s = user_data;
  connection *c = &s->of[s->connections];

  (void)events;
  if (pai__socket_accept(&c->fd, fd) < 0)
    return;
  s->connections++;
  c->scene = s;
  assert_ok(pai__poll_new(&c->watch, &pai__libc_alloc, s->loop, c->fd,
                          on_request, c, NULL));
  pai__poll_set(c->watch, PAI__READABLE);
}

void new_client(scene *s)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  options.socket = s->path;
  assert_ok(pai_client_new(&s->client, s->loop, &options, NULL));
}

void begin_empty(scene *s)
{
  *s = (scene){ .listener = -1 };
  (void)snprintf(s->dir, sizeof(s->dir), "/tmp/test-client-XXXXXX");
  assert_non_null(mkdtemp(s->dir));
  (void)snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
  pai__buf_init(&s->seen, &pai__libc_alloc);
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  new_client(s);
}

void begin(scene *s, const char *answer)
{
  begin_empty(s);
  s->answer = answer;
  assert_int_equal(pai__socket_listen(&s->listener, s->path, 256), 0);
  assert_ok(pai__poll_new(&s->listen_watch, &pai__libc_alloc, s->loop,
                          s->listener, on_connection, s, NULL));
  pai__poll_set(s->listen_watch, PAI__READABLE);
}

void turn(scene *s, const int *done, int want)
{
  int more = pai_loop_run_once(s->loop);

  assert_true(more == 1 || *done >= want);
}

void wait_closed(scene *s)
{
  while (!s->client_closed)
    turn(s, &s->client_closed, 1);
}

void on_closed(void *user_data)
{
  ((scene *)user_data)->client_closed = 1;
}

void end(scene *s)
{
  if (s->client != NULL)
    pai_client_close(s->client, on_closed, s);
  if (s->client != NULL)
    wait_closed(s);
  pai__poll_close(s->listen_watch);
  for (size_t i = 0; i < s->connections; i++)
    end_connection(&s->of[i]);
  if (s->listener >= 0)
    (void)close(s->listener);
  assert_ok(pai_loop_run(s->loop));
  pai_loop_free(s->loop);
  pai__buf_dispose(&s->seen);
  (void)unlink(s->path);
  assert_int_equal(rmdir(s->dir), 0);
}

/* --- asking ----------------------------------------------------------------------- */

void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  scene *s = user_data;

  s->calls++;
  s->status = status;
  s->http_status = a->http_status;
  s->body_len = a->body_len;
  assert_int_equal(a->body[a->body_len], '\0');
  (void)snprintf(s->code, sizeof(s->code), "%s", a->code);
  (void)snprintf(s->message, sizeof(s->message), "%s",
                 pai_error_message(a->err));
  (void)snprintf(s->body, sizeof(s->body), "%s", a->body);
  assert_int_equal(pai_error_code(a->err), status);
}

int on_stream(void *user_data, const char *bytes, size_t len)
{
  scene *s = user_data;

  assert_true(strlen(s->streamed) + len < sizeof(s->streamed));
  (void)strncat(s->streamed, bytes, len);
  if (s->cancel_in_stream)
    pai_op_cancel(s->op);
  return s->stream_answer;
}

void ask(scene *s, const pai_client_request *request)
{
  int calls = s->calls;

  assert_ok(pai_client_ask(&s->op, s->client, request, on_answer, s, NULL));
  assert_int_equal(s->calls, calls); /* not from inside */
}

void wait_for(scene *s, int calls)
{
  while (s->calls < calls)
    turn(s, &s->calls, calls);
  assert_int_equal(s->calls, calls);
}

void get(scene *s, const char *path)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  q.path = path;
  ask(s, &q);
  wait_for(s, s->calls + 1);
}
