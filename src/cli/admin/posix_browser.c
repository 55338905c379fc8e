/*
 * posix_browser.c - opening the desktop's browser, and the port it returns to
 *
 * Other users of this machine can connect to the port and can see the
 * browser's command line.  So the first page redirects only once, and a
 * connection that sends nothing delays no other.
 */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID, accept4() */
#include "browser.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { GUESTS = 16, MOST_HEAD = 16384 };

bool cli_secret_draw(char out[CLI_PKCE_TEXT])
{
  unsigned char bytes[CLI_SECRET];
  bool good = getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);

  if (good)
    cli_secret_text(out, bytes);
  else
    cli_fail("no random numbers are available");
  explicit_bzero(bytes, sizeof(bytes));
  return good;
}

/* --- browser ------------------------------------------------------------- */

bool cli_browser_is_here(void)
{
  static const char *const variables[] = { "DISPLAY", "WAYLAND_DISPLAY",
                                           "BROWSER" };

  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
    const char *value = getenv(variables[i]);
    if (value != NULL && value[0] != '\0')
      return true;
  }
  return false;
}

/* Starts the browser in a session of its own, so that it survives this
 * process. */
bool cli_browser_open(const char *url)
{
  extern char **environ;
  char *words[] = { (char *)"xdg-open", (char *)url, NULL };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  pid_t pid;
  int rc;

  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawnattr_init(&attributes);
  rc = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  for (int fd = 0; rc == 0 && fd <= STDERR_FILENO; fd++)
    rc = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawnp(&pid, words[0], &files, &attributes, words, environ);
  (void)posix_spawnattr_destroy(&attributes);
  (void)posix_spawn_file_actions_destroy(&files);
  return rc == 0;
}

/* --- port ---------------------------------------------------------------- */

/* A connection. */
typedef struct guest {
  int fd; /* -1: unused */
  size_t len;
  char head[MOST_HEAD + 1];
} guest;

bool cli_landing_open(cli_landing *l)
{
  struct sockaddr_in at = { .sin_family = AF_INET };
  socklen_t size = sizeof(at);

  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (l->fd >= 0 && bind(l->fd, (struct sockaddr *)&at, size) == 0 &&
      listen(l->fd, GUESTS) == 0 &&
      getsockname(l->fd, (struct sockaddr *)&at, &size) == 0) {
    l->port = ntohs(at.sin_port);
    return true;
  }
  cli_fail("cannot listen at a port of this machine: %s", strerror(errno));
  cli_landing_close(l);
  return false;
}

void cli_landing_close(cli_landing *l)
{
  if (l->fd >= 0)
    (void)close(l->fd);
  l->fd = -1;
}

static void hang_up(guest *g)
{
  if (g->fd >= 0)
    (void)close(g->fd);
  explicit_bzero(g->head, g->len);
  g->fd = -1;
  g->len = 0;
}

/* The answer is so short that it fits into the socket's buffer. */
static void answer(guest *g, const char *status, const char *more,
                   const char *text)
{
  char out[4096];
  int n = snprintf(
    out, sizeof(out),
    "HTTP/1.1 %s\r\n%sContent-Type: text/html; charset=utf-8\r\n"
    "Content-Length: %zu\r\nCache-Control: no-store\r\n"
    "Referrer-Policy: no-referrer\r\nConnection: close\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
    "\r\n%s",
    status, more, strlen(text), text);

  if (n > 0 && (size_t)n < sizeof(out))
    (void)!send(g->fd, out, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)shutdown(g->fd, SHUT_WR);
}

/* Returns the path of a GET request and sets *query to the part after its
 * '?'. */
static char *find_path(guest *g, char **query)
{
  char *path = g->head + 4, *end;

  if (strncmp(g->head, "GET /", 5) != 0)
    return NULL;
  end = path + strcspn(path, " \r\n");
  if (strncmp(end, " HTTP/1.", 8) != 0)
    return NULL;
  *end = '\0';
  *query = strchr(path, '?');
  if (*query != NULL)
    *(*query)++ = '\0';
  else
    *query = end;
  return path;
}

static void lead(cli_landing *l, guest *g)
{
  char more[2048];
  int n = snprintf(more, sizeof(more), "Location: %s\r\n", l->leads_to);

  if (l->begun) {
    answer(g, "410 Gone", "",
           "This page was opened already. If that was not you, somebody else "
           "is at work on this machine: end openpai login, and begin again.");
    return;
  }
  if (n < 0 || (size_t)n >= sizeof(more)) {
    answer(g, "500 Internal Server Error", "", "too long");
    return;
  }
  l->begun = true;
  answer(g, "302 Found", more, "");
}

/* Answers a complete request.  Returns the query of the final request, for
 * free(). */
static char *hear(cli_landing *l, guest *g)
{
  char *path, *query = NULL, *told = NULL;

  if (strstr(g->head, "\r\n\r\n") == NULL && g->len < MOST_HEAD)
    return NULL;
  path = find_path(g, &query);
  if (path != NULL && strcmp(path, l->back) == 0) {
    told = strdup(query);
    answer(g, "200 OK", "", "openpai has been told. This page can be closed.");
  } else if (path != NULL && strcmp(path, l->begin) == 0) {
    lead(l, g);
  } else {
    answer(g, "404 Not Found", "", "There is nothing here.");
  }
  hang_up(g);
  return told;
}

static char *listen_to(cli_landing *l, guest *g)
{
  ssize_t n = recv(g->fd, g->head + g->len, MOST_HEAD - g->len, MSG_DONTWAIT);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return NULL;
  if (n <= 0) {
    hang_up(g);
    return NULL;
  }
  g->len += (size_t)n;
  g->head[g->len] = '\0';
  return hear(l, g);
}

/* Accepts a connection; if all slots are used, closes the oldest
 * connection. */
static void let_in(const cli_landing *l, guest *guests, size_t *next)
{
  int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  guest *g;

  if (fd < 0)
    return;
  g = &guests[(*next)++ % GUESTS];
  hang_up(g);
  g->fd = fd;
}

static long long now_ms(void)
{
  struct timespec t = { 0 };

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *serve(cli_landing *l, guest *guests, long long end)
{
  struct pollfd in[GUESTS + 1];
  char *told = NULL;
  size_t next = 0;

  for (long long left; told == NULL && (left = end - now_ms()) > 0;) {
    for (size_t i = 0; i < GUESTS; i++)
      in[i] = (struct pollfd){ .fd = guests[i].fd, .events = POLLIN };
    in[GUESTS] = (struct pollfd){ .fd = l->fd, .events = POLLIN };
    if (poll(in, GUESTS + 1, (int)left) <= 0)
      continue;
    for (size_t i = 0; told == NULL && i < GUESTS; i++)
      if (in[i].revents != 0)
        told = listen_to(l, &guests[i]);
    if (told == NULL && in[GUESTS].revents != 0)
      let_in(l, guests, &next);
  }
  return told;
}

char *cli_landing_wait(cli_landing *l, int seconds)
{
  guest *guests = calloc(GUESTS, sizeof(*guests));
  char *told = NULL;

  if (guests == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  for (size_t i = 0; i < GUESTS; i++)
    guests[i].fd = -1;
  told = serve(l, guests, now_ms() + (long long)seconds * 1000);
  for (size_t i = 0; i < GUESTS; i++)
    hang_up(&guests[i]);
  free(guests);
  if (told == NULL) {
    cli_fail("the login was not completed in the browser within %d minutes",
             seconds / 60);
    cli_help(stderr, "--no-browser logs in with a browser anywhere");
  }
  return told;
}
