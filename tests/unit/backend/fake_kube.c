/* fake_kube.c - an API server that answers what a test wants it to */
#define _GNU_SOURCE
#include "backend/fake_kube.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void end_line(fake_line *l)
{
  if (l->watch == NULL)
    return;
  pai__poll_close(l->watch);
  l->watch = NULL;
  (void)close(l->fd);
}

static void put(fake_line *l, const char *bytes, size_t len)
{
  (void)!send(l->fd, bytes, len, MSG_NOSIGNAL);
}

static void put_body(fake_line *l, int status, const char *body)
{
  char head[128];
  int n = snprintf(head, sizeof(head),
                   "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   status, strlen(body));

  put(l, head, (size_t)n);
  put(l, body, strlen(body));
}

static void put_watch(fake_line *l, const char *text, bool pods)
{
  fake_kube *k = l->kube;
  size_t len = strlen(text);

  k->watches++;
  if (pods && k->cut > 0) {
    len = k->cut < len ? k->cut : len;
    k->cut = 0;
    put(l, text, len);
    end_line(l);
  } else if (pods && k->split > 0 && k->split < len) {
    put(l, text, k->split);
    k->rest_of = l;
    k->rest = text + k->split;
    k->turns = 2; /* then the first one was read */
    pai__loop_step_ask(k->turn);
  } else {
    put(l, text, len);
  }
}

static void on_turn(void *user_data)
{
  fake_kube *k = user_data;

  if (--k->turns > 0)
    pai__loop_step_ask(k->turn);
  else
    put(k->rest_of, k->rest, strlen(k->rest));
}

static void answer(fake_line *l)
{
  fake_kube *k = l->kube;
  bool pods = strstr(l->head, "/api/v1/pods") != NULL;

  pai__buf_add(&k->asked, l->head, strcspn(l->head, "\r"));
  pai__buf_char(&k->asked, '\n');
  if (k->on_ask != NULL)
    k->on_ask(k, l->head);
  if (strncmp(l->head, "POST", 4) == 0) {
    put(l, k->post, strlen(k->post));
  } else if (strstr(l->head, "watch=1") != NULL) {
    put_watch(l, pods ? k->pods_watch : k->nodes_watch, pods);
  } else {
    k->lists++;
    put_body(l, k->lists_status != 0 ? k->lists_status : 200,
             pods ? k->pods : k->nodes);
  }
}

static void on_bytes(void *user_data, int fd, int events)
{
  fake_line *l = user_data;
  ssize_t n =
    recv(fd, l->head + l->len, sizeof(l->head) - 1 - l->len, MSG_DONTWAIT);
  const char *end, *length;

  (void)events;
  if (n < 0 && errno == EAGAIN)
    return;
  if (n <= 0) {
    end_line(l);
    return;
  }
  l->len += (size_t)n;
  l->head[l->len] = '\0';
  end = strstr(l->head, "\r\n\r\n");
  if (end == NULL)
    return;
  length = strcasestr(l->head, "content-length:");
  if (length != NULL && strlen(end + 4) < strtoul(length + 15, NULL, 10))
    return;
  answer(l);
  l->len = 0;
}

static void on_connection(void *user_data, int fd, int events)
{
  fake_kube *k = user_data;
  int one = 1, accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
  fake_line *l;

  (void)events;
  if (accepted < 0)
    return;
  assert_true(k->lines < PAI__LEN(k->of));
  l = k->of[k->lines++] = calloc(1, sizeof(*l));
  assert_non_null(l);
  l->fd = accepted;
  (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  l->kube = k;
  assert_ok(pai__poll_new(&l->watch, &pai__libc_alloc, k->loop, l->fd,
                          on_bytes, l, NULL));
  pai__poll_set(l->watch, PAI__READABLE);
}

void fake_begin(fake_kube *k, pai_loop *loop)
{
  struct sockaddr_in at = { .sin_family = AF_INET };
  socklen_t len = sizeof(at);

  *k = (fake_kube){ .loop = loop,
                    .nodes = NODES,
                    .pods = NO_PODS,
                    .nodes_watch = WATCH_HEAD,
                    .pods_watch = WATCH_HEAD,
                    .post = "HTTP/1.1 201 Created\r\nContent-Length: 2"
                            "\r\n\r\n{}" };
  pai__buf_init(&k->asked, &pai__libc_alloc);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  k->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(k->listener, (struct sockaddr *)&at, sizeof(at)), 0);
  assert_int_equal(listen(k->listener, 64), 0);
  assert_int_equal(getsockname(k->listener, (struct sockaddr *)&at, &len), 0);
  (void)snprintf(k->url, sizeof(k->url), "http://127.0.0.1:%d",
                 ntohs(at.sin_port));
  assert_ok(pai__poll_new(&k->listening, &pai__libc_alloc, loop, k->listener,
                          on_connection, k, NULL));
  pai__poll_set(k->listening, PAI__READABLE);
  assert_ok(pai__loop_step_new(&k->turn, &pai__libc_alloc, loop, on_turn, k));
}

void fake_end(fake_kube *k)
{
  pai__poll_close(k->listening);
  pai__loop_step_close(k->turn);
  (void)close(k->listener);
  for (size_t i = 0; i < k->lines; i++) {
    end_line(k->of[i]);
    free(k->of[i]);
  }
  pai__buf_dispose(&k->asked);
}

const char *fake_watch(const char *lines)
{
  static char text[16384];

  (void)snprintf(text, sizeof(text), "%s%zx\r\n%s\r\n", WATCH_HEAD,
                 strlen(lines), lines);
  return text;
}
