/*
 * worst.c - how long the worst requests hold the loop
 *
 * Another process sends one request after the other over the UNIX socket; the
 * loop is driven here, turn by turn, and the longest turn by this thread's
 * processor clock is what all other requests would have waited.  When it was
 * answered is told, too: a thread of libuv's was busy for so long.
 *
 * That process is made before the server: after a fork() each page that the
 * server writes to would be copied first, in the time that is measured.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  LIMIT_MS = 50,
  ANSWER_MS = 5000,
  HEAD = 8 << 10,
  FIELDS = 90, /* of a head */
  BLOCK = 512  /* of an archive */
};

/* An empty file in an archive. */
static void add_entry(pai__buf *out, const char *name)
{
  char block[BLOCK] = "";
  unsigned sum = 0;

  (void)snprintf(block, 100, "%s", name);
  memcpy(block + 100, "0000644", 8);
  memcpy(block + 124, "00000000000", 12);
  memset(block + 148, ' ', 8);
  block[156] = '0';
  memcpy(block + 257, "ustar", 6);
  for (size_t i = 0; i < sizeof(block); i++)
    sum += (unsigned char)block[i];
  (void)snprintf(block + 148, 8, "%06o", sum);
  pai__buf_add(out, block, sizeof(block));
}

static void add_archive(pai__buf *out, const api_worst_row *w)
{
  const char *number = strstr(w->unit, "%ld");
  char name[100];

  for (long n = 0; out->len + 3 * BLOCK < w->size; n++) {
    (void)snprintf(name, sizeof(name), "%.*s%ld%s", (int)(number - w->unit),
                   w->unit, n, number + 3);
    add_entry(out, name);
  }
  for (int i = 0; i < 2 * BLOCK; i++)
    pai__buf_char(out, '\0');
}

static void add_units(pai__buf *out, const api_worst_row *w)
{
  size_t rest = strlen(w->before) + strlen(w->after);
  bool numbered = strstr(w->unit, "%ld") != NULL;
  bool format = strchr(w->unit, '%') != NULL;

  pai__buf_str(out, w->before);
  for (long n = 0; w->unit[0] != '\0' && out->len + 400 + rest < w->size; n++)
    if (!format)
      pai__buf_str(out, w->unit);
    else if (numbered)
      pai__buf_printf(out, w->unit, n);
    else /* "%%" alone */
      for (const char *c = w->unit; *c != '\0'; c += c[0] == '%' ? 2 : 1)
        pai__buf_char(out, *c);
  pai__buf_str(out, w->after);
}

/* A query of as many names as a head has room for, or a path of as many
 * parts. */
static void add_target(pai__buf *out, const api_worst_row *w)
{
  char last = w->path[strlen(w->path) - 1];

  pai__buf_str(out, w->path);
  for (int i = 0; last == '?' && out->len < HEAD; i++)
    pai__buf_printf(out, "%%6beyword%d=%%2b&", i);
  while (last == '/' && out->len < HEAD)
    pai__buf_str(out, strstr(w->path, "//") != NULL ? "/" : "%61/");
}

static void add_head(pai__buf *out, const api_worst_row *w, size_t body)
{
  pai__buf_printf(out, "%s ", w->method);
  add_target(out, w);
  pai__buf_printf(out,
                  " HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
                  "Content-Length: %zu\r\nConnection: close\r\n",
                  w->type, body);
  for (int i = 0; w->size == 0 && w->unit[0] != '\0' && i < FIELDS; i++)
    pai__buf_printf(out, "%s\r\n", w->unit);
  pai__buf_str(out, "\r\n");
}

static int say(int fd, const char *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

    if (n <= 0)
      return -1;
    bytes += n;
    len -= (size_t)n;
  }
  return 0;
}

/* The status of the answer, or 0. */
static int ask(const api_worst_row *w, const char *path)
{
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  pai__buf body, head;
  char answer[16] = "";
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);

  pai__buf_init(&body, &pai__libc_alloc);
  pai__buf_init(&head, &pai__libc_alloc);
  if (strcmp(w->type, API_TAR) == 0)
    add_archive(&body, w);
  else
    add_units(&body, w);
  add_head(&head, w, body.len);
  (void)snprintf(at.sun_path, sizeof(at.sun_path), "%.99s", path);
  if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
    return 0;
  if (say(fd, pai__buf_text(&head), head.len) == 0)
    (void)say(fd, pai__buf_text(&body), body.len);
  for (size_t have = 0; have < 12;) {
    ssize_t n = recv(fd, answer + have, 12 - have, 0);

    if (n <= 0)
      return 0;
    have += (size_t)n;
  }
  return atoi(answer + 9);
}

/* Turns of the loop until the other process has ended, and a few more; the
 * longest in milliseconds, and those until it ended. */
static double watch(int told, double *answered)
{
  struct pollfd fds[2] = { { pai_loop_fd(api.loop), POLLIN, 0 },
                           { told, POLLIN, 0 } };
  double longest = 0, begin, end = 0, first = bench_seconds(CLOCK_MONOTONIC);

  do {
    int left = pai_loop_timeout_ms(api.loop);

    (void)poll(fds, 2, left < 0 || left > 50 ? 50 : left);
    if (end == 0 && fds[1].revents != 0) {
      *answered = (bench_seconds(CLOCK_MONOTONIC) - first) * 1e3;
      end = bench_seconds(CLOCK_MONOTONIC) + 0.3;
      fds[1].fd = -1;
      fds[1].revents = 0;
    }
    begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (pai_loop_dispatch(api.loop) < 0)
      return -1;
    begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    longest = longest < begin ? begin : longest;
  } while (end == 0 || bench_seconds(CLOCK_MONOTONIC) < end);
  return longest * 1e3;
}

/* --- who asks ---------------------------------------------------------------------- */

typedef struct order {
  char socket[sizeof(api.socket)];
  long row;
} order;

static struct {
  pid_t pid;
  int orders, answers; /* to it, and a status from it */
} asker;

static void answer_orders(const api_worst_row *rows, int orders, int answers)
{
  order o;

  while (read(orders, &o, sizeof(o)) == sizeof(o)) {
    int status = ask(&rows[o.row], o.socket);

    if (write(answers, &status, sizeof(status)) < 0)
      break;
  }
}

static int start_asker(const api_worst_row *rows)
{
  int orders[2], answers[2];

  if (pipe(orders) < 0 || pipe(answers) < 0)
    return -1;
  asker.pid = fork();
  if (asker.pid == 0) {
    (void)close(orders[1]);
    (void)close(answers[0]);
    answer_orders(rows, orders[0], answers[1]);
    _exit(0);
  }
  (void)close(orders[0]);
  (void)close(answers[1]);
  asker.orders = orders[1];
  asker.answers = answers[0];
  return asker.pid > 0 ? 0 : -1;
}

static void stop_asker(void)
{
  (void)close(asker.orders);
  (void)close(asker.answers);
  if (asker.pid > 0)
    (void)waitpid(asker.pid, NULL, 0);
}

/* --- what is measured --------------------------------------------------------------- */

/* What could not be asked, or was hung up on, is told with the status 0. */
static int measure(const api_worst_row *w, long row)
{
  order o = { .row = row };
  int status = 0;
  double longest, answered = 0;
  char name[64];

  memcpy(o.socket, api.socket, sizeof(o.socket));
  longest = write(asker.orders, &o, sizeof(o)) == sizeof(o)
              ? watch(asker.answers, &answered)
              : -1;
  if (longest >= 0 &&
      read(asker.answers, &status, sizeof(status)) != sizeof(status))
    longest = -1;
  (void)snprintf(name, sizeof(name), "api-worst-%s-%d", w->name, status);
  bench_print_limit(name, longest, LIMIT_MS, "ms", api.json);
  (void)snprintf(name, sizeof(name), "api-worst-%s-answer", w->name);
  bench_print_limit(name, answered, ANSWER_MS, "ms", api.json);
  return longest < 0 ? -1 : 0;
}

static int measure_all(const api_worst_row *rows)
{
  const char *row = getenv("OPENPAI_BENCH_ROW"); /* only this one */
  int rc = 0;

  for (long i = 0; rows[i].name != NULL && rc == 0; i++)
    if (row == NULL || strcmp(row, rows[i].name) == 0)
      rc = measure(&rows[i], i);
  return rc;
}

int api_worst(void)
{
  int rc = start_asker(api_worst_rows);

  if (rc == 0)
    rc = api_open(0, NULL, NULL);
  if (rc == 0)
    rc = api_submit("all", api.cpus, "sleep 1000") < 0 ? -1 : 0;
  while (rc == 0 && api.running == 0)
    rc = pai_loop_run_once(api.loop) > 0 ? 0 : -1;
  if (rc == 0)
    rc = measure_all(api_worst_rows);
  stop_asker();
  if (api.platform != NULL)
    api_close(1);
  return rc;
}

int api_extender(void)
{
  int rc = start_asker(api_extender_rows);

  if (rc == 0)
    rc = api_extender_open();
  if (rc == 0)
    rc = measure_all(api_extender_rows);
  stop_asker();
  api_extender_close();
  return rc;
}
