/*
 * api_drive.c - bare libmicrohttpd, run by itself and run by our loop
 *
 *   openpai-bench-drive [--json] [SECONDS]
 *
 * Both answer 1,000 bytes without looking at what was asked, over a UNIX
 * socket at 1, 64, 128, 256 and 1,000 connections, asked by another process.
 * One is run by libmicrohttpd's own thread and epoll; the other as the server
 * does it: its epoll descriptor is one that our loop waits for.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bare.h"
#include "bench.h"

#include "base/posix_socket.h"
#include "loop/loop.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 2000, BYTES = 1000 };

static char body[BYTES];

typedef struct driven {
  struct MHD_Daemon *http;
  pai_loop *loop;
  pai__turn *turn;
  int listener;
} driven;

static enum MHD_Result answer(void *data, struct MHD_Connection *c,
                              const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *len, void **request)
{
  struct MHD_Response *r;
  enum MHD_Result rc;

  (void)data;
  (void)url;
  (void)method;
  (void)version;
  (void)upload;
  if (*request == NULL || *len > 0) {
    *request = body;
    *len = 0;
    return MHD_YES;
  }
  r = MHD_create_response_from_buffer(BYTES, body, MHD_RESPMEM_PERSISTENT);
  rc = MHD_queue_response(c, 200, r);
  MHD_destroy_response(r);
  return rc;
}

static size_t ask(char *to, size_t size, long n)
{
  (void)n;
  return (size_t)snprintf(to, size, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
}

/* --- who asks ------------------------------------------------------------------ */

static pid_t start_asking(const char *path, int connections, double seconds,
                          int *told)
{
  double rate;
  int fds[2];
  pid_t pid;

  if (pipe(fds) < 0)
    return -1;
  pid = fork();
  if (pid == 0) {
    rate = api_load(path, connections, seconds, ask);
    _exit(write(fds[1], &rate, sizeof(rate)) < 0);
  }
  (void)close(fds[1]);
  *told = fds[0];
  return pid;
}

static double end_asking(pid_t pid, int told)
{
  double rate = -1;

  if (read(told, &rate, sizeof(rate)) != (ssize_t)sizeof(rate))
    rate = -1;
  (void)close(told);
  (void)waitpid(pid, NULL, 0);
  return rate;
}

/* --- its own loop ---------------------------------------------------------------- */

static double ask_own(const char *path, int connections, double seconds)
{
  struct MHD_Daemon *http;
  double rate = -1;
  int fd, told;
  pid_t pid;

  if (pai__socket_listen(&fd, path, 4096) < 0)
    return -1;
  http = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer,
                          NULL, MHD_OPTION_LISTEN_SOCKET, fd,
                          MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST,
                          MHD_OPTION_END);
  if (http != NULL) {
    pid = start_asking(path, connections, seconds, &told);
    rate = pid > 0 ? end_asking(pid, told) : -1;
    MHD_stop_daemon(http);
  }
  (void)unlink(path);
  return rate;
}

/* --- our loop ---------------------------------------------------------------------- */

static void run(void *user_data)
{
  MHD_UNSIGNED_LONG_LONG ms = 0;
  driven *d = user_data;

  (void)MHD_run(d->http);
  if (MHD_get_timeout(d->http, &ms) == MHD_YES && ms == 0)
    pai__turn_ask(d->turn);
}

static void on_ready(void *user_data, int fd, int events)
{
  (void)fd;
  (void)events;
  run(user_data);
}

static void on_connection(void *user_data, int fd, int events)
{
  static const struct sockaddr_un address = { .sun_family = AF_UNIX };
  driven *d = user_data;
  int peer;

  (void)events;
  while (pai__socket_accept(&peer, fd) == 0)
    (void)MHD_add_connection(d->http, peer, (const void *)&address,
                             sizeof(address));
  pai__turn_ask(d->turn);
}

static void on_told(void *user_data, int fd, int events)
{
  (void)fd;
  (void)events;
  *(bool *)user_data = true;
}

/* Until who asks has told how it was. */
static double drive(driven *d, const char *path, int connections,
                    double seconds)
{
  const union MHD_DaemonInfo *info =
    MHD_get_daemon_info(d->http, MHD_DAEMON_INFO_EPOLL_FD);
  pai__poll *ready, *listening, *end;
  bool over = false;
  double rate = -1;
  int told;
  pid_t pid = start_asking(path, connections, seconds, &told);

  if (pid < 0 ||
      pai__turn_new(&d->turn, &pai__libc_alloc, d->loop, run, d) < 0 ||
      pai__poll_new(&ready, &pai__libc_alloc, d->loop, info->epoll_fd,
                    on_ready, d, NULL) < 0 ||
      pai__poll_new(&listening, &pai__libc_alloc, d->loop, d->listener,
                    on_connection, d, NULL) < 0 ||
      pai__poll_new(&end, &pai__libc_alloc, d->loop, told, on_told, &over,
                    NULL) < 0)
    return -1;
  pai__poll_set(ready, PAI__READABLE);
  pai__poll_set(listening, PAI__READABLE);
  pai__poll_set(end, PAI__READABLE);
  while (!over && pai_loop_run_once(d->loop) > 0)
    ;
  pai__poll_close(ready);
  pai__poll_close(listening);
  pai__poll_close(end);
  pai__turn_close(d->turn);
  rate = end_asking(pid, told);
  return rate;
}

static double ask_driven(const char *path, int connections, double seconds)
{
  driven d = { .listener = -1 };
  double rate = -1;

  if (pai__socket_listen(&d.listener, path, 4096) < 0 ||
      pai_loop_new(&d.loop, NULL, NULL) < 0)
    return -1;
  d.http = MHD_start_daemon(
    MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0,
    NULL, NULL, answer, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST,
    MHD_OPTION_END);
  if (d.http != NULL)
    rate = drive(&d, path, connections, seconds);
  if (d.http != NULL)
    MHD_stop_daemon(d.http);
  (void)!pai_loop_run(d.loop);
  pai_loop_free(d.loop);
  (void)close(d.listener);
  (void)unlink(path);
  return rate;
}

/* --- both ---------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
  static const int connections[] = { 1, 64, 127, 128, 129, 256, 1000 };
  bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
  double seconds = argc > 1 + json ? strtod(argv[1 + json], NULL) : 1;
  char folder[BENCH_FOLDER], path[BENCH_FOLDER + 8], name[64];
  int rc = 0;

  memset(body, 'x', sizeof(body));
  if (bench_make_folder(folder) < 0)
    return 1;
  (void)snprintf(path, sizeof(path), "%s/bare", folder);
  for (size_t i = 0; i < PAI__LEN(connections) && rc == 0; i++) {
    double own = ask_own(path, connections[i], seconds);
    double ours = ask_driven(path, connections[i], seconds);
    rc = ours <= 0;
    (void)snprintf(name, sizeof(name), "api-drive-%d", connections[i]);
    if (own <= 0 && rc == 0) /* the trap; ours against nothing */
      bench_print(&(bench){ .name = name, .unit = "request" }, 1e9 / ours, 1e9,
                  json);
    if (own <= 0) /* it waits, although there is work */
      (void)fprintf(stderr, "%s: its own loop stopped for a second\n", name);
    else if (rc == 0)
      bench_print(&(bench){ .name = name, .unit = "request" }, 1e9 / ours,
                  1e9 / own, json);
  }
  bench_remove(folder);
  return rc;
}
