/* Connections that cost something: slow ones, silent ones, too many. */
#define _GNU_SOURCE
#include "asked.h"

#include "server/http/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Microseconds: what is said at once is heard before, also on a busy machine. */
enum { SOON = 500 * 1000 };

static void begin_far(scene *s)
{
  begin_empty(s);
  s->options.listen = "127.0.0.1:0";
}

static void start(scene *s)
{
  assert_ok(new_server(s, NULL));
}

static void is_well(scene *s)
{
  expect(GET(s, "/api/v2/info"), 200, "");
  expect(ask_far(s, "GET /healthz HTTP/1.1\r\nHost: x\r\n"
                    "Connection: close\r\n\r\n"),
         200, "");
}

/* --- slow ones ---------------------------------------------------------------------- */

/* Each of these says nothing more, and is hung up on. */
IN_SCENE(begin_far, who_does_not_go_on)
{
  static const char *const rows[] = {
    "",
    "G",
    "GET /healthz HTTP/1.1\r\n",
    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", /* once, and then nothing */
    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /heal",
    "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    ("POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
     "\r\n\r\n3\r\nabc\r\n"),
  };

  s->options.idle_timeout = s->options.request_timeout = SOON;
  start(s);
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    peer near, far;
    come(&near, s);
    come_far(&far, s);
    say(&near, rows[i]);
    say(&far, rows[i]);
    hear_all(&near);
    hear_all(&far);
    leave(&near);
    leave(&far);
  }
  is_well(s);
}

typedef struct drip {
  peer p;
  pai__timer *timer;
  size_t at;
} drip;

static void on_drop(void *user_data)
{
  static const char head[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: a";
  drip *d = user_data;
  char c[2] = { d->at < sizeof(head) - 1 ? head[d->at++] : 'a', '\0' };

  say(&d->p, c);
  pai__timer_start(d->timer, SOON / 20);
}

/* Who sends a byte now and then is no better: libmicrohttpd itself would wait
 * for as long as any come. */
IN_SCENE(begin_far, a_head_that_drips)
{
  drip d = { .at = 0 };

  s->options.idle_timeout = s->options.request_timeout = SOON;
  start(s);
  come_far(&d.p, s);
  assert_ok(pai__timer_new(&d.timer, &pai__libc_alloc, s->loop, on_drop, &d));
  on_drop(&d);
  hear_all(&d.p);
  assert_int_equal(d.p.seen.len, 0);
  pai__timer_close(d.timer);
  leave(&d.p);
  is_well(s);
}

static void on_hung_up(void *user_data, int fd, int events)
{
  (void)fd;
  *(bool *)user_data = *(bool *)user_data || events != 0;
}

/* He asks and asks, and reads no answer: what is on its way to him goes, too,
 * or he would not see that he was hung up on. */
IN_SCENE(begin_far, a_reader_that_does_not_read)
{
  struct sockaddr_in a = { .sin_family = AF_INET };
  const int little = 4096;
  char text[8192];
  pai__poll *poll;
  bool over = false;
  int fd, len, at = 0;

  s->options.request_timeout = SOON;
  start(s);
  a.sin_port = htons((uint16_t)pai_server_port(s->server, 0));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  len = snprintf(text, sizeof(text),
                 "GET /%08000d HTTP/1.1\r\nHost: x\r\n\r\n", 0);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
  assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
  assert_ok(pai__poll_new(&poll, &pai__libc_alloc, s->loop, fd, on_hung_up,
                          &over, NULL));
  pai__poll_set(poll, PAI__HUNG_UP);
  while (!over) {
    ssize_t n =
      send(fd, text + at, (size_t)(len - at), MSG_DONTWAIT | MSG_NOSIGNAL);
    over = over || (n < 0 && errno != EAGAIN);
    at = n > 0 ? (at + (int)n) % len : at;
    if (!over)
      turn(s);
  }
  pai__poll_close(poll);
  (void)close(fd);
  is_well(s);
}

/* A slow body is taken for as long as enough of it comes, and one that waits
 * for us has no limit. */
IN_SCENE(begin_far, who_waits_for_us)
{
  peer p;

  s->options.idle_timeout = s->options.request_timeout = SOON;
  start(s);
  come(&p, s);
  say(&p, "DELETE /api/v2/jobs/alice~mnist HTTP/1.1\r\nHost: x\r\n\r\n");
  while (s->platform.nsyncs == 0)
    turn(s);
  for (int i = 0; i < 3; i++) { /* others come and go meanwhile */
    peer silent;
    come_far(&silent, s);
    hear_all(&silent);
    leave(&silent);
  }
  assert_false(p.over);
  fake_synced(&s->platform, PAI_OK);
  hear(&p, "HTTP/1.1 200 ");
  leave(&p);
  come(&p, s);
  say(&p, "GET /api/v2/events HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, ": begins");
  for (int i = 0; i < 3; i++) {
    peer silent;
    come_far(&silent, s);
    hear_all(&silent);
    leave(&silent);
  }
  assert_false(p.over);
  leave(&p);
}

/* --- too many ---------------------------------------------------------------------------- */

IN_SCENE(begin_far, the_idle_make_room)
{
  peer peers[4], late;

  s->options.most_connections = PAI__LEN(peers);
  start(s);
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    come_far(&peers[i], s);
    say(&peers[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(&peers[i], "ok\n");
  }
  come_far(&late, s);
  say(&late, "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&late, "launcherType");
  assert_true(peers[0].over); /* who was idle for longest */
  leave(&late);
  for (size_t i = 0; i < PAI__LEN(peers); i++)
    leave(&peers[i]);
  is_well(s);
}

/* Lines on which the first line of a request has come. */
static size_t count_begun(const pai_server *server)
{
  size_t n = 0;

  for (const pai__server_listener *d = server->listeners; d != NULL;
       d = d->next)
    for (const pai__server_deadline *l = d->phases[PAI__HEAD].first; l != NULL;
         l = l->after)
      n++;
  return n;
}

/* Who never ends the first lines of a request keeps nobody out. */
IN_SCENE(begin_far, the_unfinished_make_room)
{
  peer peers[4], late;

  s->options.most_connections = PAI__LEN(peers);
  start(s);
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    come_far(&peers[i], s);
    say(&peers[i], "GET / HTTP/1.1\r\n");
    while (count_begun(s->server) < i + 1)
      turn(s);
  }
  come_far(&late, s);
  say(&late, "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&late, "launcherType");
  assert_true(peers[0].over);  /* who began first, */
  assert_false(peers[3].over); /* and not all, when their time was over */
  leave(&late);
  for (size_t i = 0; i < PAI__LEN(peers); i++)
    leave(&peers[i]);
  is_well(s);
}

IN_SCENE(begin_far, one_address_has_so_many)
{
  peer peers[3], late;

  s->options.most_per_address = PAI__LEN(peers);
  start(s);
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    come_far(&peers[i], s);
    say(&peers[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(&peers[i], "ok\n");
  }
  come_far(&late, s);
  hear_all(&late);
  assert_int_equal(late.seen.len, 0);
  leave(&late);
  expect(GET(s, "/api/v2/info"), 200, ""); /* that is another door */
  leave(&peers[0]);
  for (bool good = false; !good;) { /* it may not have been seen yet */
    come_far(&late, s);
    say(&late, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    while (!late.over && late.seen.len == 0)
      turn(s);
    good = late.seen.len > 0;
    leave(&late);
  }
  leave(&peers[1]);
  leave(&peers[2]);
}

static const char *played; /* the address of whoever comes; NULL: as it is */

const char *__real_inet_ntop(int family, const void *address, char *text,
                             socklen_t size);
const char *__wrap_inet_ntop(int family, const void *address, char *text,
                             socklen_t size);
const char *__wrap_inet_ntop(int family, const void *address, char *text,
                             socklen_t size)
{
  if (played == NULL)
    return __real_inet_ntop(family, address, text, size);
  (void)snprintf(text, size, "%s", played);
  return text;
}

/* Who has one address of IPv6 has 2^64 of them. */
IN_SCENE(begin_far, one_network_has_so_many)
{
  static const char *const addresses[] = { "2001:db8:0:1::1",
                                           "2001:db8:0:1::2",
                                           "2001:db8:0:2::1" };
  peer peers[3], late;

  s->options.most_per_address = 2;
  start(s);
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    played = addresses[i];
    come_far(&peers[i], s);
    say(&peers[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(&peers[i], "ok\n");
  }
  played = "2001:db8:0:1:ffff::3";
  come_far(&late, s);
  say(&late, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  hear_all(&late);
  assert_int_equal(late.seen.len, 0);
  played = NULL;
  leave(&late);
  for (size_t i = 0; i < PAI__LEN(peers); i++)
    leave(&peers[i]);
}

/* The process has no descriptor left: who comes waits until it has. */
TEST(no_descriptors)
{
  struct rlimit before, few;
  peer p;
  scene s;
  int spare;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  begin_far(&s);
  start(&s);
  come_far(&p, &s); /* it is in the backlog */
  say(&p, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  spare = dup(0);
  assert_true(spare >= 0);
  (void)close(spare);
  few = before;
  few.rlim_cur = (rlim_t)spare;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int i = 0; i < 20; i++)
    assert_int_equal(pai_loop_dispatch(s.loop), 1);
  assert_int_equal(p.seen.len, 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  hear(&p, "ok\n");
  leave(&p);
  end(&s);
}

/* --- ten thousand ---------------------------------------------------------------------------- */

static size_t memory_kb(void)
{
  FILE *f = fopen("/proc/self/statm", "r");
  unsigned long all = 0, here = 0;

  assert_non_null(f);
  assert_int_equal(fscanf(f, "%lu %lu", &all, &here), 2);
  (void)fclose(f);
  return here * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* Another process has them, as both ends are more than a process may have; it
 * keeps them until `end` is closed.  Half of them have asked once. */
static void come_often(int port, int n, int tell, int end)
{
  static const char text[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  struct sockaddr_in a = { .sin_family = AF_INET };
  char bytes[1024];

  a.sin_port = htons((uint16_t)port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < n; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
      _exit(1);
    if (i % 2 == 0 && (send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0 ||
                       recv(fd, bytes, sizeof(bytes), 0) < 100))
      _exit(2);
  }
  if (write(tell, "x", 1) != 1)
    _exit(3);
  (void)!read(end, bytes, 1);
  _exit(0);
}

static void on_told(void *user_data, int fd, int events)
{
  char c;

  (void)events;
  *(int *)user_data = read(fd, &c, 1) == 1 ? 1 : -1;
}

static void hold(scene *s, int n, size_t most_kb)
{
  int tell[2], end[2], told = 0, status = -1;
  size_t before = memory_kb(), each;
  pai__poll *poll;
  pid_t pid;

  assert_int_equal(pipe(tell), 0);
  assert_int_equal(pipe(end), 0);
  pid = fork();
  if (pid == 0) {
    (void)close(end[1]);
    come_often(pai_server_port(s->server, 0), n, tell[1], end[0]);
  }
  (void)close(tell[1]);
  (void)close(end[0]);
  assert_ok(pai__poll_new(&poll, &pai__libc_alloc, s->loop, tell[0], on_told,
                          &told, NULL));
  pai__poll_set(poll, PAI__READABLE);
  while (told == 0)
    turn(s);
  assert_int_equal(told, 1);
  each = (memory_kb() - before) / (size_t)n;
  print_message("%d connections: %zu KB each\n", n, each);
  assert_true(each <= most_kb);
  is_well(s);
  pai__poll_close(poll);
  (void)close(end[1]);
  (void)close(tell[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  is_well(s);
}

TEST(ten_thousand_idle)
{
  struct rlimit files;
  int n = 10000;
  scene s;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_cur < 4000) { /* the server keeps a part free */
    print_message("skipped: it needs 4,000 descriptors\n");
    skip();
  }
  if (files.rlim_cur < 14000)
    n = (int)files.rlim_cur / 2;
  begin_far(&s);
  start(&s);
#if defined(__SANITIZE_THREAD__)
  n = 2000;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  hold(&s, 1100, 200); /* what is watched has shadows */
  hold(&s, n, 200);
#else
  hold(&s, 1100, 40);
  hold(&s, n, 16);
#endif
  end(&s);
}
