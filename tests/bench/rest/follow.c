/*
 * follow.c - 1,000 readers of the log of a task that runs
 *
 * The baseline is a loop that has the bytes in memory and send()s them to as
 * many sockets, as they are written.  Processor time of the whole process, but
 * not of those who read.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 1000, PIECE = 4096, PIECES = 100, TURNS = 3 };

/* Says when all are there, waits for a file of that name, and writes. */
#define SCRIPT                                                          \
  "while [ ! -e %s/go ]; do sleep 0.05; done; x=$(head -c %d "          \
  "/dev/zero | tr '\\\\0' x); for i in $(seq %d); do echo \\\"$x\\\"; " \
  "sleep 0.02; done; rm %s/go"

/* --- who reads: another process ------------------------------------------------------ */

static int connect_to(const char *path)
{
  struct sockaddr_un to = { .sun_family = AF_UNIX };
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  (void)snprintf(to.sun_path, sizeof(to.sun_path), "%.107s", path);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
    (void)close(fd);
    return -1;
  }
  return fd;
}

/* Until each has had so many bytes, or an end. */
static int read_all(const char *path, const char *request, int told)
{
  static struct pollfd at[READERS];
  static size_t seen[READERS];
  static char bytes[1 << 16];
  int open_ones = READERS, begun = 0;

  for (int i = 0; i < READERS; i++) {
    at[i] = (struct pollfd){ connect_to(path), POLLIN, 0 };
    if (at[i].fd < 0 ||
        send(at[i].fd, request, strlen(request), MSG_NOSIGNAL) < 0)
      return 1;
  }
  while (open_ones > 0) {
    if (poll(at, READERS, 30000) <= 0)
      return 1;
    for (int i = 0; i < READERS; i++) {
      ssize_t n;

      if (at[i].revents == 0)
        continue;
      n = read(at[i].fd, bytes, sizeof(bytes));
      if (n > 0 && seen[i] == 0 && ++begun == READERS &&
          write(told, "", 1) != 1)
        return 1;
      seen[i] += n > 0 ? (size_t)n : 0;
      if (n <= 0 || seen[i] >= (size_t)PIECE * PIECES) {
        (void)close(at[i].fd);
        at[i].fd = -1;
        open_ones--;
      }
    }
  }
  return 0;
}

typedef struct readers {
  pid_t pid;
  int told; /* readable when the first bytes are there */
} readers;

static int readers_begin(readers *r, const char *path, const char *request)
{
  int fds[2];

  if (pipe(fds) < 0)
    return -1;
  r->pid = fork();
  if (r->pid == 0)
    _exit(read_all(path, request, fds[1]));
  (void)close(fds[1]);
  r->told = fds[0];
  return r->pid > 0 ? 0 : -1;
}

static bool readers_are_done(const readers *r)
{
  siginfo_t info = { 0 };

  return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
         info.si_pid != 0;
}

static int readers_end(readers *r)
{
  int status;

  (void)close(r->told);
  return waitpid(r->pid, &status, 0) == r->pid && status == 0 ? 0 : -1;
}

/* --- the baseline ---------------------------------------------------------------------- */

static int send_piece(const int *fds, const char *bytes, size_t len)
{
  for (int i = 0; i < READERS; i++)
    for (size_t sent = 0; sent < len;) {
      ssize_t n = send(fds[i], bytes + sent, len - sent, MSG_NOSIGNAL);

      if (n < 0 && errno == EPIPE)
        return 1; /* it has had all */
      if (n < 0)
        return -1;
      sent += (size_t)n;
    }
  return 0;
}

static double send_plainly(void)
{
  static char bytes[PIECE + 8];
  static int fds[READERS];
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;
  double cpu;
  readers r;

  memset(bytes, 'x', sizeof(bytes));
  (void)snprintf(at.sun_path, sizeof(at.sun_path), "%.99s/bare", api.root);
  if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
      listen(listener, READERS) < 0 || readers_begin(&r, at.sun_path, "x") < 0)
    return -1;
  for (int i = 0; i < READERS; i++)
    fds[i] = accept(listener, NULL, NULL);
  cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i <= PIECES && rc == 0; i++) {
    struct timespec pause = { 0, 20000000 };

    rc = send_piece(fds, bytes, PIECE + 1 + 8); /* and a chunk's frame */
    (void)nanosleep(&pause, NULL);
  }
  cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  for (int i = 0; i < READERS; i++)
    (void)close(fds[i]);
  (void)close(listener);
  (void)unlink(at.sun_path);
  return readers_end(&r) < 0 || rc < 0 ? -1 : cpu;
}

/* --- ours ------------------------------------------------------------------------------- */

static int turn_number;

/* The loop, until something has happened. */
static int go_round(bool (*done)(const readers *r), const readers *r)
{
  while (!done(r))
    if (pai_loop_run_once(api.loop) <= 0)
      return -1;
  return 0;
}

static bool job_runs(const readers *r)
{
  (void)r;
  return api.running > 0;
}

static bool job_is_over(const readers *r)
{
  (void)r;
  return api.ended > turn_number;
}

static bool told;

static void on_told(void *user_data, int fd, int events)
{
  (void)user_data;
  (void)fd;
  (void)events;
  told = true;
}

static bool all_follow(const readers *r)
{
  (void)r;
  return told;
}

/* The loop is woken when the last one has begun to read. */
static int wait_for_readers(const readers *r)
{
  pai__poll *poll;
  int rc;

  told = false;
  if (pai__poll_new(&poll, &pai__libc_alloc, api.loop, r->told, on_told, NULL,
                    NULL) < 0)
    return -1;
  pai__poll_set(poll, PAI__READABLE);
  rc = go_round(all_follow, r);
  pai__poll_close(poll);
  return rc;
}

static double ours(void)
{
  char script[1024], name[32], request[512], go[BENCH_FOLDER + 8];
  double cpu = -1;
  readers r;
  int fd;

  (void)snprintf(script, sizeof(script), SCRIPT, api.root, PIECE, PIECES + 2,
                 api.root);
  (void)snprintf(name, sizeof(name), "f%d", turn_number);
  (void)snprintf(go, sizeof(go), "%s/go", api.root);
  (void)snprintf(request, sizeof(request),
                 "GET /api/v2/jobs/bench~%s/attempts/0/taskRoles/a/taskIndex/"
                 "0/attempts/0/logs/stdout?follow=true HTTP/1.1\r\nHost: "
                 "x\r\n\r\n",
                 name);
  api.running = 0;
  if (api_submit(name, 0, script) < 0 || go_round(job_runs, NULL) < 0 ||
      readers_begin(&r, api.socket, request) < 0 || wait_for_readers(&r) < 0)
    return -1;
  fd = open(go, O_CREAT | O_WRONLY, 0600);
  (void)close(fd);
  cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (go_round(readers_are_done, &r) < 0)
    return -1;
  cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  if (go_round(job_is_over, NULL) < 0)
    return -1;
  turn_number++;
  return readers_end(&r) < 0 ? -1 : cpu;
}

int api_follow(void)
{
  double mine[TURNS], plain[TURNS], ratio[TURNS];
  int rc = api_open(0, NULL, NULL);

  for (int i = 0; i < TURNS && rc == 0; i++) {
    plain[i] = send_plainly();
    mine[i] = plain[i] > 0 ? ours() : -1;
    ratio[i] = mine[i] / plain[i];
    rc = mine[i] > 0 ? 0 : -1;
  }
  if (rc == 0) {
    qsort(mine, TURNS, sizeof(double), bench_by_size);
    qsort(plain, TURNS, sizeof(double), bench_by_size);
    qsort(ratio, TURNS, sizeof(double), bench_by_size);
    bench_print(
      &(bench){ .name = "api-follow-1000", .unit = "piece", .goal = 1.0 / 3 },
      1e9 * mine[TURNS / 2] / PIECES / READERS,
      1e9 * plain[TURNS / 2] / PIECES / READERS, api.json);
  }
  api_close(0);
  return rc;
}
