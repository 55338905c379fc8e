/* asked.c - see asked.h */
#define _GNU_SOURCE
#include "answers.h"
#include "files.h"

#include "server/streams/feed.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the scene ------------------------------------------------------------------ */

static void on_shutdown(void *user_data, int kill)
{
  ((scene *)user_data)->shutdown = kill;
}

int new_server(scene *s, pai_error **err)
{
  pai_server_options o = s->options;

  o.struct_size = sizeof(o);
  o.socket = s->path;
  o.on_shutdown = on_shutdown;
  o.user_data = s;
  o.tokens = s->tokens;
  o.system = s->system;
  return pai_server_new(&s->server, s->loop, &s->platform, &o, err);
}

void begin_empty(scene *s)
{
  *s = (scene){ .shutdown = -1 };
  s->platform = (pai_platform){
    .state = PAI_STATE_RUNNING,
    .show = "{\"name\":\"mnist\",\"jobStatus\":{\"username\":\"alice\","
            "\"state\":\"RUNNING\",\"attemptId\":0,\"submissionTime\":5},"
            "\"taskRoles\":{\"w\":{\"taskStatuses\":[{\"taskIndex\":0,"
            "\"taskState\":\"RUNNING\",\"launchedTime\":6},"
            "{\"taskIndex\":1,\"taskState\":\"WAITING\"}]}}}",
  };
  (void)snprintf(s->dir, sizeof(s->dir), "/tmp/test-server-XXXXXX");
  assert_non_null(mkdtemp(s->dir));
  (void)snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  s->platform.loop = s->loop;
}

void begin_with_tokens(scene *s)
{
  begin_empty(s);
  s->obliging = true;
  s->tokens = true;
  assert_ok(new_server(s, NULL));
}

void begin(scene *s)
{
  begin_empty(s);
  assert_ok(new_server(s, NULL));
}

void on_closed(void *user_data)
{
  ((scene *)user_data)->closed = 1;
}

void turn(scene *s)
{
  int more;

  if (s->obliging && s->platform.accounts.nwaiting > 0)
    fake_accounts_done(&s->platform);
  if (s->obliging && s->platform.nsyncs > 0)
    fake_synced(&s->platform, PAI_OK);
  if (s->obliging && s->platform.ncopies > 0)
    fake_copied(&s->platform, PAI_OK, "copied");
  more = pai_loop_run_once(s->loop);

  assert_true(more == 1 || s->closed);
}

void close_server(scene *s)
{
  s->closed = 0;
  pai_server_close(s->server, on_closed, s);
  while (!s->closed)
    turn(s);
  s->server = NULL;
}

void end(scene *s)
{
  if (s->server != NULL)
    close_server(s);
  assert_ok(pai_loop_run(s->loop));
  pai_loop_free(s->loop);
  free(s->platform.kept_text);
  assert_null(s->platform.readers);
  assert_null(s->platform.listeners);
  assert_int_equal(access(s->path, F_OK), -1);         /* it was taken away */
  (void)test_remove(test_string("%s/series", s->dir)); /* what was sampled */
  assert_int_equal(rmdir(s->dir), 0);
}

void end_with_code(scene *s)
{
  char code[128];

  (void)snprintf(code, sizeof(code), "%s/code", s->dir);
  close_server(s);
  (void)rmdir(code);
  end(s);
}

/* The server listens itself from the first one who watches all on. */
bool is_heard(const scene *s)
{
  const pai__feed *feed = s->server != NULL ? s->server->feed : NULL;

  for (const pai_listener *l = s->platform.listeners; l != NULL; l = l->next)
    if (feed == NULL || l != feed->listener || feed->readers != NULL)
      return true;
  return s->platform.readers != NULL;
}

/* --- asking ------------------------------------------------------------------------ */

static void on_bytes(void *user_data, int fd, int events)
{
  peer *p = user_data;
  char bytes[65536];
  ssize_t n = read(fd, bytes, sizeof(bytes));

  (void)events;
  if (n > 0)
    pai__buf_add(&p->seen, bytes, (size_t)n);
  else if (n == 0 || errno != EAGAIN) {
    p->over = true;
    pai__poll_set(p->watch, 0);
  }
}

static void watch(peer *p, scene *s)
{
  assert_ok(pai__poll_new(&p->watch, &pai__libc_alloc, s->loop, p->fd,
                          on_bytes, p, NULL));
  pai__poll_set(p->watch, PAI__READABLE);
}

void come(peer *p, scene *s)
{
  *p = (peer){ .s = s };
  pai__buf_init(&p->seen, &pai__libc_alloc);
  while (pai__socket_connect(&p->fd, s->path) < 0) {
    assert_int_equal(errno, EAGAIN); /* as the line moves */
    turn(s);
  }
  watch(p, s);
}

void come_far(peer *p, scene *s)
{
  struct sockaddr_in a = { .sin_family = AF_INET };

  *p = (peer){ .s = s };
  pai__buf_init(&p->seen, &pai__libc_alloc);
  a.sin_port = htons((uint16_t)pai_server_port(s->server, 0));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(p->fd >= 0);
  assert_int_equal(connect(p->fd, (struct sockaddr *)&a, sizeof(a)), 0);
  watch(p, s); /* which lets it not block */
}

void leave(peer *p)
{
  pai__poll_close(p->watch);
  (void)close(p->fd);
  pai__buf_dispose(&p->seen);
}

void say(peer *p, const char *text)
{
  size_t len = strlen(text), sent = 0;

  while (sent < len) {
    ssize_t n = send(p->fd, text + sent, len - sent, MSG_NOSIGNAL);
    if (n > 0)
      sent += (size_t)n;
    else if (errno == EAGAIN)
      turn(p->s);
    else
      return; /* it was refused in the middle */
  }
}

void hear(peer *p, const char *part)
{
  /* There may be NULs among it. */
  while (memmem(pai__buf_text(&p->seen), p->seen.len, part, strlen(part)) ==
         NULL) {
    if (p->over)
      print_error("the server said: %s\n", pai__buf_text(&p->seen));
    assert_false(p->over);
    turn(p->s);
  }
}

void hear_body(peer *p)
{
  const char *length, *end;

  hear(p, "\r\n\r\n");
  length = strstr(pai__buf_text(&p->seen), "\r\nContent-Length: ");
  end = strstr(pai__buf_text(&p->seen), "\r\n\r\n");
  if (length != NULL && length < end) {
    size_t want = (size_t)(end + 4 - pai__buf_text(&p->seen)) +
                  strtoul(length + 18, NULL, 10);
    while (p->seen.len < want && !p->over)
      turn(p->s);
  }
}

void hear_all(peer *p)
{
  while (!p->over)
    turn(p->s);
}

static const char *ask_by(void (*by)(peer *, scene *), scene *s,
                          const char *fmt, va_list ap)
{
  static char answer[1 << 20];
  char *request = NULL;
  peer p;

  assert_true(vasprintf(&request, fmt, ap) > 0);
  by(&p, s);
  say(&p, request);
  hear_all(&p);
  assert_true(p.seen.len < sizeof(answer));
  memcpy(answer, pai__buf_text(&p.seen), p.seen.len + 1);
  leave(&p);
  check_answer(s, request, answer);
  free(request);
  return answer;
}

const char *ask(scene *s, const char *fmt, ...)
{
  const char *answer;
  va_list ap;

  va_start(ap, fmt);
  answer = ask_by(come, s, fmt, ap);
  va_end(ap);
  return answer;
}

const char *ask_far(scene *s, const char *fmt, ...)
{
  const char *answer;
  va_list ap;

  va_start(ap, fmt);
  answer = ask_by(come_far, s, fmt, ap);
  va_end(ap);
  return answer;
}

void expect(const char *answer, int status, const char *body)
{
  char line[64];
  const char *start = strstr(answer, "\r\n\r\n");

  (void)snprintf(line, sizeof(line), "HTTP/1.1 %d ", status);
  if (strncmp(answer, line, strlen(line)) != 0 || start == NULL ||
      strstr(start, body) == NULL)
    print_error("want %d %s, have: %s\n", status, body, answer);
  assert_int_equal(strncmp(answer, line, strlen(line)), 0);
  assert_non_null(start);
  assert_has(start != NULL ? start : "", body);
}

/* --- without memory --------------------------------------------------------------- */

typedef struct asked {
  scene *s;
  bool (*is_told)(scene *s);
} asked;

static int serve_once(const pai_alloc *alloc, void *user_data)
{
  asked *a = user_data;
  int rc;

  a->s->options.alloc = alloc;
  rc = new_server(a->s, NULL);
  if (rc == PAI_OK) {
    rc = a->is_told(a->s) ? PAI_OK : PAI_ENOMEM;
    close_server(a->s);
  }
  for (int i = 0; i < 3; i++)
    if (pai_loop_dispatch(a->s->loop) == 0)
      break;
  return rc;
}

void serve_faults(scene *s, bool (*is_told)(scene *s))
{
  asked a = { s, is_told };

  test_faults(serve_once, &a);
  s->options.alloc = NULL;
}
