/*
 * client_rate.c - requests of a client by the clock, against bare libcurl
 *
 *   openpai-bench client-rate [--json] [SECONDS]
 *
 * Over TCP on this machine, with 1, 16 and 256 in flight, asked of a process
 * that answers the same 300 bytes to everything.  The baseline is libcurl's
 * multi interface on libuv as its manual says, with handles that are made once
 * and a callback that keeps the answer.  Both take turns.  client-cpu-N is the
 * same in processor time, which other work on the machine changes less.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <openpai/client.h>

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

enum { MOST = 256, BODY = 200, ROUNDS = 9 };

#define TOKEN "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VybmFtZSI6ImFubiJ9.c2lnbmF0dXJl"

static char url[64];
static double seconds = 0.3;

/* What a request costs. */
typedef struct cost {
  double wall, cpu; /* ns */
} cost;

static double cpu_now(void)
{
  return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9;
}

static double wall_now(void)
{
  return (double)uv_hrtime();
}

static cost cost_since(cost begin, long done)
{
  return (cost){ (wall_now() - begin.wall) / (double)done,
                 (cpu_now() - begin.cpu) / (double)done };
}

/* --- the other process ------------------------------------------------------------ */

static void answer(int fd, char *text, size_t len)
{
  char bytes[8192];
  ssize_t n = read(fd, bytes, sizeof(bytes));

  if (n <= 0) {
    (void)close(fd);
    return;
  }
  for (char *at = bytes, *end;
       (end = memmem(at, (size_t)(bytes + n - at), "\r\n\r\n", 4)) != NULL;
       at = end + 4)
    (void)!send(fd, text, len, MSG_NOSIGNAL);
}

static void serve(int listener)
{
  char text[512];
  int len = snprintf(text, sizeof(text),
                     "HTTP/1.1 200 OK\r\nContent-Type: application/json; "
                     "charset=utf-8\r\nContent-Length: %d\r\n\r\n%0*d",
                     BODY, BODY, 0),
      poll = epoll_create1(0);
  struct epoll_event event = { .events = EPOLLIN, .data.fd = listener },
                     seen[MOST];

  (void)epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int n = epoll_wait(poll, seen, MOST, -1);
    for (int i = 0; i < n; i++) {
      if (seen[i].data.fd != listener) {
        answer(seen[i].data.fd, text, (size_t)len);
        continue;
      }
      event.data.fd = accept(listener, NULL, NULL);
      if (event.data.fd >= 0)
        (void)epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
    }
  }
}

static pid_t start_server(void)
{
  struct sockaddr_in a = { .sin_family = AF_INET,
                           .sin_addr = { htonl(INADDR_LOOPBACK) } };
  socklen_t len = sizeof(a);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  pid_t pid;

  if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1024) < 0 ||
      getsockname(fd, (struct sockaddr *)&a, &len) < 0)
    return -1;
  (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(a.sin_port));
  pid = fork();
  if (pid == 0)
    serve(fd);
  (void)close(fd);
  return pid;
}

/* --- the baseline ------------------------------------------------------------------ */

typedef struct bare_request {
  CURL *easy;
  char *bytes;
  size_t len, cap;
} bare_request;

static struct {
  uv_loop_t loop;
  uv_timer_t timer;
  CURLM *multi;
  bare_request of[MOST];
  long done;
  bool over;
} bare;

static size_t on_bytes(char *bytes, size_t size, size_t n, void *data)
{
  bare_request *r = data;

  if (r->len + n > r->cap) {
    r->cap = (r->len + n) * 2;
    r->bytes = realloc(r->bytes, r->cap);
  }
  memcpy(r->bytes + r->len, bytes, n);
  r->len += n;
  return size * n;
}

static void reap(void)
{
  CURLMsg *m;
  int left;

  while ((m = curl_multi_info_read(bare.multi, &left)) != NULL) {
    CURL *easy = m->easy_handle;
    bare_request *r = NULL;
    if (m->msg != CURLMSG_DONE)
      continue;
    if (m->data.result != CURLE_OK)
      abort();
    bare.done++;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&r);
    (void)curl_multi_remove_handle(bare.multi, easy);
    free(r->bytes); /* whoever asked has had it */
    r->bytes = NULL;
    r->len = r->cap = 0;
    if (!bare.over)
      (void)curl_multi_add_handle(bare.multi, easy);
  }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
  int fd, running;

  (void)uv_fileno((uv_handle_t *)poll, &fd);
  (void)curl_multi_socket_action(
    bare.multi, fd,
    status < 0 ? CURL_CSELECT_ERR
               : ((events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                   ((events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0),
    &running);
  reap();
}

static void on_timer(uv_timer_t *timer)
{
  int running;

  (void)timer;
  (void)curl_multi_socket_action(bare.multi, CURL_SOCKET_TIMEOUT, 0, &running);
  reap();
}

static int on_time(CURLM *multi, long ms, void *data)
{
  (void)multi;
  (void)data;
  if (ms < 0)
    (void)uv_timer_stop(&bare.timer);
  else
    (void)uv_timer_start(&bare.timer, on_timer, (uint64_t)ms, 0);
  return 0;
}

static void on_closed(uv_handle_t *handle)
{
  free(handle);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data,
                     void *of_socket)
{
  uv_poll_t *poll = of_socket;

  (void)easy;
  (void)data;
  if (what == CURL_POLL_REMOVE) {
    (void)uv_poll_stop(poll);
    uv_close((uv_handle_t *)poll, on_closed);
    (void)curl_multi_assign(bare.multi, fd, NULL);
    return 0;
  }
  if (poll == NULL) {
    poll = malloc(sizeof(*poll));
    (void)uv_poll_init_socket(&bare.loop, poll, fd);
    (void)curl_multi_assign(bare.multi, fd, poll);
  }
  return uv_poll_start(poll,
                       (what != CURL_POLL_OUT ? UV_READABLE : 0) |
                         (what != CURL_POLL_IN ? UV_WRITABLE : 0),
                       on_poll);
}

static void on_bare_end(uv_timer_t *timer)
{
  (void)timer;
  bare.over = true;
  uv_stop(&bare.loop);
}

static cost ask_bare(int count)
{
  struct curl_slist *headers =
    curl_slist_append(NULL, "Authorization: Bearer " TOKEN);
  uv_timer_t end;
  char path[128];
  cost begin, spent;

  memset(&bare, 0, sizeof(bare));
  headers = curl_slist_append(headers, "Accept: application/json");
  (void)snprintf(path, sizeof(path), "%s/api/v2/jobs/ann~one", url);
  (void)uv_loop_init(&bare.loop);
  (void)uv_timer_init(&bare.loop, &bare.timer);
  (void)uv_timer_init(&bare.loop, &end);
  bare.multi = curl_multi_init();
  (void)curl_multi_setopt(bare.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  (void)curl_multi_setopt(bare.multi, CURLMOPT_TIMERFUNCTION, on_time);
  for (int i = 0; i < count; i++) {
    CURL *easy = bare.of[i].easy = curl_easy_init();
    (void)curl_easy_setopt(easy, CURLOPT_URL, path);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, &bare.of[i]);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bare.of[i]);
    (void)curl_multi_add_handle(bare.multi, easy);
  }
  begin = (cost){ wall_now(), cpu_now() };
  (void)uv_timer_start(&end, on_bare_end, (uint64_t)(seconds * 1000), 0);
  (void)uv_run(&bare.loop, UV_RUN_DEFAULT);
  spent = cost_since(begin, bare.done);
  for (int i = 0; i < count; i++) {
    (void)curl_multi_remove_handle(bare.multi, bare.of[i].easy);
    curl_easy_cleanup(bare.of[i].easy);
    free(bare.of[i].bytes);
  }
  (void)curl_multi_cleanup(bare.multi);
  curl_slist_free_all(headers);
  uv_close((uv_handle_t *)&bare.timer, NULL);
  uv_close((uv_handle_t *)&end, NULL);
  (void)uv_run(&bare.loop, UV_RUN_DEFAULT);
  (void)uv_loop_close(&bare.loop);
  return spent;
}

/* --- ours ---------------------------------------------------------------------------- */

static struct {
  pai_loop *loop;
  pai_client *client;
  long done;
  bool over;
} ours;

static void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;

  (void)user_data;
  if (ours.over)
    return;
  if (status != PAI_OK || a->body_len != BODY)
    abort();
  ours.done++;
  q.path = "/api/v2/jobs/ann~one";
  if (pai_client_ask(NULL, ours.client, &q, on_answer, NULL, NULL) < 0)
    abort();
}

static cost ask_ours(int count)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  cost begin, spent;

  memset(&ours, 0, sizeof(ours));
  options.url = url;
  options.token = TOKEN;
  if (pai_loop_new(&ours.loop, NULL, NULL) < 0 ||
      pai_client_new(&ours.client, ours.loop, &options, NULL) < 0)
    abort();
  q.path = "/api/v2/jobs/ann~one";
  for (int i = 0; i < count; i++)
    if (pai_client_ask(NULL, ours.client, &q, on_answer, NULL, NULL) < 0)
      abort();
  begin = (cost){ wall_now(), cpu_now() };
  do
    (void)!pai_loop_run_once(ours.loop);
  while (wall_now() - begin.wall < seconds * 1e9);
  spent = cost_since(begin, ours.done);
  ours.over = true;
  pai_client_close(ours.client, NULL, NULL);
  (void)!pai_loop_run(ours.loop);
  pai_loop_free(ours.loop);
  return spent;
}

static void keep_best(cost *best, cost one)
{
  if (best->wall == 0 || one.wall < best->wall)
    best->wall = one.wall;
  if (best->cpu == 0 || one.cpu < best->cpu)
    best->cpu = one.cpu;
}

/* The best of each: what else the machine does comes and goes. */
static void compare(int count, bool json)
{
  cost base = { 0, 0 }, best = { 0, 0 };
  char name[32];
  bench b = { .name = name, .unit = "request", .goal = 0.9 };

  for (int i = 0; i < ROUNDS; i++) {
    keep_best(&base, ask_bare(count));
    keep_best(&best, ask_ours(count));
  }
  (void)snprintf(name, sizeof(name), "client-rate-%d", count);
  bench_print(&b, best.wall, base.wall, json);
  (void)snprintf(name, sizeof(name), "client-cpu-%d", count);
  bench_print(&b, best.cpu, base.cpu, json);
}

int main(int argc, char **argv)
{
  static const int counts[] = { 1, 16, 256 };
  bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
  pid_t server;

  argc -= json;
  argv += json;
  if (argc > 1)
    seconds = strtod(argv[1], NULL);
  (void)curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)unsetenv("http_proxy");
  server = start_server();
  if (server < 0) {
    (void)fprintf(stderr, "openpai-bench: no server to ask\n");
    return 1;
  }
  for (size_t i = 0; i < PAI__LEN(counts); i++)
    compare(counts[i], json);
  (void)kill(server, SIGKILL);
  (void)waitpid(server, NULL, 0);
  return 0;
}
