/*
 * ask.c - another process asks, ours or bare libmicrohttpd
 *
 * Bare means a thread and epoll of its own, and as many bytes as we answer,
 * from memory and without looking at what was asked.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include "base/os/posix_socket.h"
#include "loop/loop.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5 };

/* --- the other process ------------------------------------------------------------ */

static void on_told(void *user_data, int fd, int events)
{
  double *rate = user_data;

  (void)events;
  if (read(fd, rate, sizeof(*rate)) != (ssize_t)sizeof(*rate))
    *rate = -1;
}

double api_ask(pai_loop *loop, const char *path, int connections,
               api_request request)
{
  double rate = 0;
  pai__poll *poll;
  int fds[2];
  pid_t pid;

  if (pipe(fds) < 0 || pai__poll_new(&poll, &pai__libc_alloc, loop, fds[0],
                                     on_told, &rate, NULL) < 0)
    return -1;
  pid = fork();
  if (pid == 0) {
    rate = api_load(path, connections, api.seconds, request);
    _exit(write(fds[1], &rate, sizeof(rate)) < 0);
  }
  (void)close(fds[1]);
  pai__poll_set(poll, PAI__READABLE);
  while (pid > 0 && rate == 0 && pai_loop_run_once(loop) > 0)
    ;
  (void)waitpid(pid, NULL, 0);
  pai__poll_close(poll);
  (void)close(fds[0]);
  return rate;
}

/* --- the baseline ------------------------------------------------------------------ */

typedef struct bare_answer {
  char bytes[1 << 20];
  size_t len;
  unsigned status;
} bare_answer;

static enum MHD_Result answer(void *data, struct MHD_Connection *c,
                              const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *len, void **request)
{
  bare_answer *a = data;
  struct MHD_Response *r;
  enum MHD_Result rc;

  (void)url;
  (void)method;
  (void)version;
  (void)upload;
  if (*request == NULL || *len > 0) {
    *request = data;
    *len = 0;
    return MHD_YES;
  }
  r =
    MHD_create_response_from_buffer(a->len, a->bytes, MHD_RESPMEM_PERSISTENT);
  rc = MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
                               "application/json; charset=utf-8");
  if (rc == MHD_YES)
    rc = MHD_queue_response(c, a->status, r);
  MHD_destroy_response(r);
  return rc;
}

double api_ask_bare(int status, size_t len, int connections,
                    api_request request)
{
  static bare_answer a;
  struct MHD_Daemon *http;
  char path[BENCH_FOLDER + 8];
  double rate = -1;
  pai_loop *loop;
  int fd;

  if (len > sizeof(a.bytes))
    return -1;
  memset(a.bytes, 'x', len);
  a.len = len;
  a.status = (unsigned)status;
  (void)snprintf(path, sizeof(path), "%s/bare", api.root);
  if (pai__socket_listen(&fd, path, 4096) < 0 ||
      pai_loop_new(&loop, NULL, NULL) < 0)
    return -1;
  http = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer,
                          &a, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END);
  if (http != NULL) {
    rate = api_ask(loop, path, connections, request);
    MHD_stop_daemon(http);
  }
  pai_loop_free(loop);
  (void)unlink(path);
  return rate;
}

/* --- in turn ---------------------------------------------------------------------- */

typedef struct turn {
  double ours, bare; /* seconds an answer */
  double cpu, bare_cpu;
  double ratio;
} turn;

static int by_ratio(const void *a, const void *b)
{
  double x = ((const turn *)a)->ratio, y = ((const turn *)b)->ratio;

  return (x > y) - (x < y);
}

static int take_turn(turn *t, int connections, int status, size_t len,
                     api_request request)
{
  double cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), rate;

  rate = api_ask_bare(status, len, connections, request);
  if (rate <= 0)
    return -1;
  t->bare = 1 / rate;
  t->bare_cpu =
    (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (rate * api.seconds);
  cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  rate = api_ask(api.loop, api.socket, connections, request);
  if (rate <= 0)
    return -1;
  t->ours = 1 / rate;
  t->cpu =
    (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (rate * api.seconds);
  t->ratio = t->bare / t->ours;
  return 0;
}

int api_compare(const char *name, int connections, int status, size_t len,
                api_request request, double goal)
{
  turn turns[TURNS], *t = &turns[TURNS / 2];
  char whole[64];

  for (int i = 0; i < TURNS; i++)
    if (take_turn(&turns[i], connections, status, len, request) < 0)
      return -1;
  qsort(turns, TURNS, sizeof(turns[0]), by_ratio);
  (void)snprintf(whole, sizeof(whole), "%s-%d", name, connections);
  bench_print(&(bench){ .name = whole, .unit = "request", .goal = goal },
              1e9 * t->ours, 1e9 * t->bare, api.json);
  (void)snprintf(whole, sizeof(whole), "%s-%d-cpu", name, connections);
  bench_print(&(bench){ .name = whole, .unit = "request", .goal = goal },
              1e9 * t->cpu, 1e9 * t->bare_cpu, api.json);
  return 0;
}
