/* api_load.c - HTTP/1.1 over UNIX sockets, with as little as there can be */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include "base/os/posix_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000, ROOM = 1 << 21 };

typedef struct asker {
  char *seen; /* of its answer */
  size_t len;
} asker;

static struct load {
  struct pollfd at[MOST];
  asker askers[MOST];
  api_request request;
  long asked, answered;
} load;

static int send_next(int fd)
{
  char text[4096];
  size_t len = load.request(text, sizeof(text), load.asked++);

  return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

/* How long the answer is; 0: its head is not there yet, or it has no length. */
static size_t length_of(const asker *a)
{
  static const char name[] = "Content-Length:";
  const char *end = memmem(a->seen, a->len, "\r\n\r\n", 4), *at;

  if (end == NULL)
    return 0;
  at = strcasestr(a->seen, name);
  if (at == NULL || at > end)
    return 0;
  return (size_t)(end + 4 - a->seen) +
         strtoul(at + sizeof(name) - 1, NULL, 10);
}

/* What is neither 200 nor 202 ends it all. */
static int take(int i)
{
  asker *a = &load.askers[i];
  ssize_t n = read(load.at[i].fd, a->seen + a->len, ROOM - 1 - a->len);
  size_t whole;

  if (n < 0 && errno == EAGAIN)
    return 0;
  if (n <= 0)
    return -1;
  a->len += (size_t)n;
  a->seen[a->len] = '\0';
  whole = length_of(a);
  if (whole == 0 || a->len < whole)
    return a->len < ROOM - 1 ? 0 : -1;
  if (strncmp(a->seen, "HTTP/1.1 20", 11) != 0) {
    (void)fprintf(stderr, "%s\n", a->seen);
    return -1;
  }
  a->len = 0;
  load.answered++;
  return send_next(load.at[i].fd);
}

static int come(int i, const char *path)
{
  load.at[i].events = POLLIN;
  load.askers[i] = (asker){ .seen = malloc(ROOM) };
  if (load.askers[i].seen == NULL ||
      pai__socket_connect(&load.at[i].fd, path) < 0)
    return -1;
  return send_next(load.at[i].fd);
}

double api_load(const char *path, int connections, double seconds,
                api_request request)
{
  double begin = bench_seconds(CLOCK_MONOTONIC), end = begin + seconds,
         done = begin;

  memset(&load, 0, sizeof(load));
  load.request = request;
  for (int i = 0; i < connections; i++)
    if (come(i, path) < 0)
      return -1;
  for (; done < end; done = bench_seconds(CLOCK_MONOTONIC)) {
    if (poll(load.at, (nfds_t)connections, 1000) <= 0)
      return -1;
    for (int i = 0; i < connections; i++)
      if (load.at[i].revents != 0 && take(i) < 0)
        return -1;
  }
  return (double)load.answered / (done - begin);
}
