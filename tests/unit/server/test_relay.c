/* A stream into a task over TLS, and who hangs up on whom. */
#include "cases.h"
#include "asked.h"
#include "client/certificates.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ASK                                                              \
  "GET /api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream HTTP/1.1" \
  "\r\nHost: x\r\nAuthorization: Bearer alice\r\n"                       \
  "Connection: Upgrade\r\nUpgrade: openpai-stream\r\n\r\n"
#define ANSWER                                                  \
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
  "Upgrade: openpai-stream\r\n\r\n"
#define ASK_WEB                                                          \
  "GET /api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream HTTP/1.1" \
  "\r\nHost: x\r\nAuthorization: Bearer alice\r\n"                       \
  "Connection: Upgrade\r\nUpgrade: websocket\r\n"                        \
  "Sec-WebSocket-Version: 13\r\n"                                        \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"                      \
  "Sec-WebSocket-Protocol: openpai-stream\r\n\r\n"
#define ANSWER_WEB                                              \
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
  "Upgrade: websocket\r\n"                                      \
  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"      \
  "Sec-WebSocket-Protocol: openpai-stream\r\n\r\n"
#define LOST "\x13\0\0\x14\4\0the task has ended"

enum { HOUR = 3600, MUCH = 3 << 20 };

typedef struct play {
  scene s;
  certificate cert;
  char cert_file[96], key_file[96];
  int task; /* the task's end */
  int fd;   /* the client's */
  pai__poll *watch;
  gnutls_session_t tls;
  gnutls_certificate_credentials_t papers;
  pai__buf seen; /* by the client */
  bool over;
} play;

/* --- both ends ------------------------------------------------------------------- */

static void on_ready(void *user_data, int fd, int events)
{
  (void)user_data;
  (void)fd;
  (void)events;
}

/* The client takes what has come. */
static void take(play *p)
{
  char bytes[20000];
  ssize_t n;

  while (!p->over && (n = gnutls_record_recv(p->tls, bytes, sizeof(bytes))) !=
                       GNUTLS_E_AGAIN) {
    if (n > 0)
      pai__buf_add(&p->seen, bytes, (size_t)n);
    else if (n == 0 || gnutls_error_is_fatal((int)n) != 0)
      p->over = true;
  }
  if (p->over)
    pai__poll_set(p->watch, 0);
}

static void step(play *p)
{
  turn(&p->s);
  take(p);
}

static void hear_bytes(play *p, const char *bytes, size_t len)
{
  while (p->seen.len < len && !p->over)
    step(p);
  assert_true(p->seen.len >= len);
  assert_memory_equal(p->seen.data, bytes, len);
  memmove(p->seen.data, p->seen.data + len, p->seen.len - len);
  pai__buf_cut(&p->seen, p->seen.len - len);
}

static void say_bytes(play *p, const char *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = gnutls_record_send(p->tls, bytes, len);

    if (n == GNUTLS_E_AGAIN) {
      turn(&p->s);
      continue;
    }
    assert_true(n > 0);
    bytes += n;
    len -= (size_t)n;
  }
}

static void hang_up(play *p)
{
  pai__poll_close(p->watch);
  p->watch = NULL;
  (void)close(p->fd);
  p->fd = -1;
}

/* What the task hears; 0: that is the end. */
static size_t task_hears(play *p, char *bytes, size_t size)
{
  ssize_t n;

  while ((n = read(p->task, bytes, size)) < 0) {
    if (errno == ECONNRESET) /* nobody read what it said last */
      return 0;
    assert_int_equal(errno, EAGAIN);
    turn(&p->s);
  }
  return (size_t)n;
}

/* Whether it is over in both directions, whatever is left to be read. */
static bool is_cut(int fd)
{
  struct pollfd at = { fd, 0, 0 };

  return poll(&at, 1, 0) == 1 && (at.revents & POLLHUP) != 0;
}

/* Whether there is something to be read. */
static bool has_words(int fd)
{
  struct pollfd at = { fd, POLLIN, 0 };

  return poll(&at, 1, 0) == 1;
}

static void await_task_end(play *p)
{
  char bytes[4096];

  while (task_hears(p, bytes, sizeof(bytes)) > 0)
    ;
}

static void task_says(play *p, const char *bytes, size_t len)
{
  assert_int_equal(write(p->task, bytes, len), len);
}

/* --- the play -------------------------------------------------------------------- */

static void serve(play *p)
{
  const int small = 4096;
  int pair[2];

  begin_empty(&p->s);
  certificate_make(&p->cert, NULL, "127.0.0.1", -HOUR, HOUR);
  certificate_save(p->cert_file, p->s.dir, "cert.pem", p->cert.pem);
  certificate_save(p->key_file, p->s.dir, "key.pem", p->cert.key_pem);
  p->s.options.listen = "127.0.0.1:0";
  p->s.options.tls_cert = p->cert_file;
  p->s.options.tls_key = p->key_file;
  p->s.options.request_timeout = 2000 * 1000; /* handshakes take their time */
  assert_ok(new_server(&p->s, NULL));
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
  p->s.platform.entrance = pair[0];
  p->task = pair[1];
  (void)fcntl(p->task, F_SETFL, O_NONBLOCK);
}

static const char *versions = "NORMAL"; /* of TLS */

static void come_by_tls(play *p)
{
  struct sockaddr_in a = { .sin_family = AF_INET };
  int rc;

  a.sin_port = htons((uint16_t)pai_server_port(p->s.server, 0));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(p->fd, (struct sockaddr *)&a, sizeof(a)), 0);
  assert_ok(pai__poll_new(&p->watch, &pai__libc_alloc, p->s.loop, p->fd,
                          on_ready, p, NULL));
  pai__poll_set(p->watch, PAI__READABLE);
  assert_int_equal(
    gnutls_init(&p->tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL),
    0);
  assert_int_equal(gnutls_priority_set_direct(p->tls, versions, NULL), 0);
  assert_int_equal(gnutls_certificate_allocate_credentials(&p->papers), 0);
  assert_int_equal(
    gnutls_credentials_set(p->tls, GNUTLS_CRD_CERTIFICATE, p->papers), 0);
  gnutls_transport_set_int(p->tls, p->fd);
  while ((rc = gnutls_handshake(p->tls)) == GNUTLS_E_AGAIN)
    turn(&p->s);
  assert_int_equal(rc, 0);
}

static void begin_play(play *p)
{
  memset(p, 0, sizeof(*p));
  pai__buf_init(&p->seen, &pai__libc_alloc);
  serve(p);
  come_by_tls(p);
}

static void enter(play *p)
{
  begin_play(p);
  say_bytes(p, ASK, strlen(ASK));
  hear_bytes(p, ANSWER, strlen(ANSWER));
}

static void enter_web(play *p)
{
  begin_play(p);
  say_bytes(p, ASK_WEB, strlen(ASK_WEB));
  hear_bytes(p, ANSWER_WEB, strlen(ANSWER_WEB));
}

static void leave_all(play *p)
{
  if (p->fd >= 0)
    hang_up(p);
  gnutls_deinit(p->tls);
  gnutls_certificate_free_credentials(p->papers);
  pai__buf_dispose(&p->seen);
  if (p->task >= 0)
    (void)close(p->task);
  (void)unlink(p->cert_file);
  (void)unlink(p->key_file);
  certificate_free(&p->cert);
  end(&p->s);
}

/* --- the tests -------------------------------------------------------------------- */

TEST_IN(words_both_ways, play, p, enter, leave_all)
{
  char bytes[64];

  task_says(p, "\x10\0\0\1\0", 5);
  hear_bytes(p, "\x10\0\0\1\0", 5);
  say_bytes(p, "words", 5);
  assert_int_equal(task_hears(p, bytes, sizeof(bytes)), 5);
  assert_memory_equal(bytes, "words", 5);
  /* Its last word, and its end: nothing is added, and all is over when the
   * client hangs up. */
  task_says(p, "\x13\0\0\2\1\7", 6);
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x13\0\0\2\1\7", 6);
  while (!p->over)
    step(p);
  assert_int_equal(p->seen.len, 0);
}

/* What the client says before it has heard the answer reaches the task, also
 * where one record of TLS has the head and more than is read of it at a time. */
TEST(words_before_the_answer)
{
  static const size_t sizes[] = { 5, 3000, 4096, 12000, 16000, 40000 };
  static char text[sizeof(ASK) + 40000], heard[40000];

  for (size_t i = 0; i < PAI__LEN(sizes); i++) {
    const size_t len = strlen(ASK);
    size_t n = 0;
    play p;

    memcpy(text, ASK, len);
    for (size_t k = 0; k < sizes[i]; k++)
      text[len + k] = (char)(k * 7 >> 3);
    begin_play(&p);
    say_bytes(&p, text, len + sizes[i]);
    while (n < sizes[i])
      n += task_hears(&p, heard + n, sizeof(heard) - n);
    assert_int_equal(n, sizes[i]);
    assert_memory_equal(heard, text + len, n);
    hear_bytes(&p, ANSWER, strlen(ANSWER));
    leave_all(&p);
  }
}

/* More than anybody holds, in both directions at once. */
TEST_IN(much_both_ways, play, p, enter, leave_all)
{
  static char much[MUCH], back[MUCH];
  static const char head[] = { 0x11, 0, (char)0xff, (char)0xff };
  size_t said = 0, heard = 0, sent = 0;

  for (size_t i = 0; i < MUCH; i++)
    much[i] = (char)(i * 7 >> 3);
  for (size_t i = 0; i + 4 + 65535 <= MUCH; i += 4 + 65535)
    memcpy(much + i, head, sizeof(head)); /* frames */
  while (p->seen.len < MUCH || heard < MUCH) {
    ssize_t n = said < MUCH ? write(p->task, much + said, MUCH - said) : 0;

    said += n > 0 ? (size_t)n : 0;
    n = sent < MUCH ? gnutls_record_send(p->tls, much + sent, MUCH - sent) : 0;
    sent += n > 0 ? (size_t)n : 0;
    n = heard < MUCH ? read(p->task, back + heard, MUCH - heard) : 0;
    heard += n > 0 ? (size_t)n : 0;
    (void)!pai_loop_dispatch(p->s.loop);
    take(p);
  }
  assert_memory_equal(back, much, MUCH);
  assert_memory_equal(p->seen.data, much, MUCH);
}

TEST_IN(a_task_that_goes_without_a_word, play, p, enter, leave_all)
{
  task_says(p, "\x11\0\0\3abc", 7);
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x11\0\0\3abc", 7);
  hear_bytes(p, LOST, sizeof(LOST) - 1);
  while (!p->over)
    step(p);
}

/* It did not read all: its socket has an error then, which is not the end of
 * what it said. */
TEST(a_task_that_leaves_words_unread)
{
  enum { FRAME = 50 << 10 };
  static char much[2 * (4 + FRAME) + 6];
  play p;

  for (int i = 0; i < 2; i++) {
    char *frame = much + (size_t)i * (4 + FRAME);
    memcpy(frame, (char[]){ 0x11, 0, (char)(FRAME >> 8), 0 }, 4);
    memset(frame + 4, 'a' + i, FRAME);
  }
  memcpy(much + sizeof(much) - 6, "\x13\0\0\2\1\7", 6);
  enter(&p);
  say_bytes(&p, "unread", 6);
  while (!has_words(p.task))
    turn(&p.s);
  task_says(&p, much, sizeof(much));
  (void)close(p.task);
  p.task = -1;
  hear_bytes(&p, much, sizeof(much));
  while (!p.over)
    step(&p);
  assert_int_equal(p.seen.len, 0);
  leave_all(&p);
}

/* Half a frame is no place for another one. */
TEST_IN(a_task_that_breaks_off, play, p, enter, leave_all)
{
  task_says(p, "\x11\0\0\5ab", 6);
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x11\0\0\5ab", 6);
  while (!p->over)
    step(p);
  assert_int_equal(p->seen.len, 0);
}

/* What he said before is heard; then that is the end. */
TEST(a_client_who_hangs_up)
{
  for (int polite = 0; polite < 2; polite++) {
    char bytes[16] = "";
    size_t n = 0;
    play p;

    enter(&p);
    say_bytes(&p, "last words", 10);
    if (polite)
      (void)gnutls_bye(p.tls, GNUTLS_SHUT_WR); /* the connection stays */
    else
      hang_up(&p);
    while (n < 10)
      n += task_hears(&p, bytes + n, sizeof(bytes) - n);
    assert_string_equal(bytes, "last words");
    await_task_end(&p);
    leave_all(&p);
  }
}

/* He is not waited for when the task takes nothing of it. */
TEST_IN(a_client_who_hangs_up_unheard, play, p, enter, leave_all)
{
  static char some[12000];

  for (int i = 0; i < 4; i++) /* more than the task takes */
    say_bytes(p, some, sizeof(some));
  for (int i = 0; i < 100; i++)
    (void)!pai_loop_dispatch(p->s.loop);
  hang_up(p);
  while (!is_cut(p->task)) /* the task has read nothing */
    turn(&p->s);
}

/* The task waits then, and so no memory is filled; when he is gone it ends. */
TEST_IN(a_client_who_does_not_read, play, p, enter, leave_all)
{
  static char much[MUCH];
  size_t said = 0;

  for (int still = 0; still < 200; still++) {
    ssize_t n = write(p->task, much, sizeof(much));
    if (n > 0) {
      said += (size_t)n;
      still = 0;
    }
    assert_true(said < (size_t)64 << 20);
    (void)!pai_loop_dispatch(p->s.loop);
  }
  hang_up(p);
  await_task_end(p);
}

/* He has heard the end and stays: not for ever. */
TEST_IN(a_client_who_stays, play, p, enter, leave_all)
{
  task_says(p, "\x13\0\0\2\1\0", 6);
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x13\0\0\2\1\0", 6);
  while (!p->over)
    step(p);
  assert_false(is_cut(p->fd)); /* only nothing more is said */
  while (!is_cut(p->fd))
    turn(&p->s);
}

TEST_IN(a_server_that_ends, play, p, enter, leave_all)
{
  static const char why[] =
    "the server that passes on the stream is shutting down";
  char last[HOUR];

  task_says(p, "\x10\0\0\1\0", 5);
  hear_bytes(p, "\x10\0\0\1\0", 5);
  memcpy(last, "\x13\0\0\0\4\0", 6);
  last[3] = (char)(sizeof(why) + 1);
  memcpy(last + 6, why, sizeof(why));
  close_server(&p->s);
  while (!p->over) {
    ssize_t n = gnutls_record_recv(p->tls, last + 100, 100);
    if (n > 0)
      pai__buf_add(&p->seen, last + 100, (size_t)n);
    else if (n != GNUTLS_E_AGAIN)
      p->over = true;
  }
  assert_int_equal(p->seen.len, 6 + sizeof(why) - 1);
  assert_memory_equal(p->seen.data, last, p->seen.len);
  assert_int_equal(read(p->task, last, 1), 0);
}

/* Warnings of TLS, more than anybody needs: who sends them is served, in turn
 * with others. */
/* --- as a WebSocket -------------------------------------------------------------- */

/* Frames with a mask of zeros are as they look. */
#define MASK "\0\0\0\0"

TEST_IN(frames_both_ways, play, p, enter_web, leave_all)
{
  char bytes[64];

  task_says(p, "\x10\0\0\1\0", 5);
  hear_bytes(p, "\x82\5\x10\0\0\1\0", 7);
  say_bytes(p, "\x02\x82" MASK "wo\x89\x81" MASK "?\x80\x83" MASK "rds", 24);
  for (size_t n = 0; n < 5;)
    n += task_hears(p, bytes + n, sizeof(bytes) - n);
  assert_memory_equal(bytes, "words", 5);
  hear_bytes(p, "\x8a\1?", 3);
  task_says(p, "\x13\0\0\2\1\7", 6);
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x82\6\x13\0\0\2\1\7\x88\2\x03\xe8", 12);
  while (!p->over)
    step(p);
  assert_int_equal(p->seen.len, 0);
}

TEST_IN(a_task_that_goes_is_told_as_a_frame, play, p, enter_web, leave_all)
{
  (void)close(p->task);
  p->task = -1;
  hear_bytes(p, "\x82\x18", 2);
  hear_bytes(p, LOST, sizeof(LOST) - 1);
  hear_bytes(p, "\x88\2\x03\xe8", 4);
}

/* By its own wish, or because it breaks the rules: the task has its end at
 * once, and the client may still hear the close. */
TEST(a_client_who_closes)
{
  static const struct {
    const char *said, *heard;
    size_t len;
  } rows[] = {
    { "\x88\x80" MASK, "\x88\2\x03\xe8", 6 },
    { "\x88\x82" MASK "\x0f\xa1", "\x88\2\x0f\xa1", 8 },
    { "\x82\1x", "\x88\2\x03\xea", 3 },
    { "\x81\x80" MASK, "\x88\2\x03\xeb", 6 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    play p;

    enter_web(&p);
    task_says(&p, "\x10\0\0\1\0", 5);
    hear_bytes(&p, "\x82\5\x10\0\0\1\0", 7);
    say_bytes(&p, rows[i].said, rows[i].len);
    say_bytes(&p, "\x82\x81" MASK "x", 7); /* after the end: not heard */
    hear_bytes(&p, rows[i].heard, 4);
    await_task_end(&p);
    while (!p.over)
      step(&p);
    leave_all(&p);
  }
}

/* It neither reads nor goes: it has its time. */
TEST_IN(a_client_who_closes_and_stays, play, p, enter_web, leave_all)
{
  say_bytes(p, "\x88\x80" MASK, 6);
  hear_bytes(p, "\x88\2\x03\xe8", 4);
  while (!is_cut(p->fd))
    turn(&p->s);
}

TEST_IN(a_server_that_ends_closes, play, p, enter_web, leave_all)
{
  char bytes[200];
  ssize_t n;

  close_server(&p->s);
  while ((n = gnutls_record_recv(p->tls, bytes, sizeof(bytes))) ==
         GNUTLS_E_AGAIN)
    ;
  assert_memory_equal(bytes, "\x82", 1); /* that it ends, as a frame */
  n = gnutls_record_recv(p->tls, bytes, sizeof(bytes));
  assert_int_equal(n, 4);
  assert_memory_equal(bytes, "\x88\2\x03\xe9", 4);
}

TEST(many_warnings)
{
  static const char get[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  play p;

  versions = "NORMAL:-VERS-ALL:+VERS-TLS1.2";
  begin_play(&p);
  versions = "NORMAL";
  for (int i = 0; i < 1000;) {
    int rc =
      gnutls_alert_send(p.tls, GNUTLS_AL_WARNING, GNUTLS_A_UNRECOGNIZED_NAME);
    if (rc == GNUTLS_E_AGAIN)
      turn(&p.s);
    else
      i++;
    assert_true(rc == 0 || rc == GNUTLS_E_AGAIN);
  }
  say_bytes(&p, get, sizeof(get) - 1);
  while (strstr(pai__buf_text(&p.seen), "ok\n") == NULL) {
    assert_false(p.over);
    step(&p);
  }
  (void)close(p.s.platform.entrance);
  leave_all(&p);
}

/* Who may not is told so, as everywhere, and the connection goes on. */
TEST(refusals)
{
  static const char bob[] =
    "GET /api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream HTTP/1.1"
    "\r\nHost: x\r\nAuthorization: Bearer bob\r\n"
    "Connection: Upgrade\r\nUpgrade: openpai-stream\r\n\r\n";
  play p;

  begin_play(&p);
  say_bytes(&p, bob, strlen(bob));
  while (strstr(pai__buf_text(&p.seen), "ForbiddenUserError") == NULL)
    step(&p);
  assert_int_equal(strncmp(pai__buf_text(&p.seen), "HTTP/1.1 403", 12), 0);
  assert_true(p.s.platform.entrance >= 0); /* nobody went in */
  (void)close(p.s.platform.entrance);
  leave_all(&p);
}
