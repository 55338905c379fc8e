/* Sessions in a task that is played; frames; heads of answers. */
#include "cases.h"

#include "base/buf.h"
#include "base/os/posix_socket.h"
#include "base/prng.h"
#include "http/http.h"
#include "loop/loop.h"
#include "task/frame.h"

#include <openpai/client.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct scene {
  pai_loop *loop;
  pai_session *session;
  int fd; /* the task's end */
  int started, terminal, ends, status, rooms;
  bool close_in_output, pause_in_output;
  pai_session_end end;
  char text[256];
  pai__buf out[2];
} scene;

static void on_started(void *user_data, int terminal)
{
  scene *s = user_data;

  s->started++;
  s->terminal = terminal;
}

static void on_output(void *user_data, int stream, const char *bytes,
                      size_t len)
{
  scene *s = user_data;

  pai__buf_add(&s->out[stream - 1], bytes, len);
  if (s->close_in_output) {
    pai_session_close(s->session);
    s->session = NULL;
  }
  if (s->pause_in_output)
    pai_session_pause(s->session, 1);
}

static void on_room(void *user_data)
{
  ((scene *)user_data)->rooms++;
}

static void on_end(void *user_data, int status, const pai_session_end *end)
{
  scene *s = user_data;

  s->ends++;
  s->status = status;
  s->end = *end;
  (void)snprintf(s->text, sizeof(s->text), "%s", end->text);
  s->session = NULL;
}

static pai_session_options options_of(scene *s)
{
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;

  o.user_data = s;
  o.on_started = on_started;
  o.on_output = on_output;
  o.on_room = on_room;
  o.on_end = on_end;
  return o;
}

static int begin_with(scene *s, const pai_alloc *alloc,
                      const pai_session_options *o)
{
  int pair[2];

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  s->fd = pair[1];
  return pai_session_new(&s->session, s->loop, alloc, pair[0], o, NULL);
}

static void open_scene(scene *s)
{
  *s = (scene){ .fd = -1 };
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  for (int i = 0; i < 2; i++)
    pai__buf_init(&s->out[i], &pai__libc_alloc);
}

static void end(scene *s)
{
  pai_session_close(s->session);
  while (pai_loop_run_once(s->loop) > 0)
    ;
  pai_loop_free(s->loop);
  if (s->fd >= 0)
    (void)close(s->fd);
  for (int i = 0; i < 2; i++)
    pai__buf_dispose(&s->out[i]);
}

static void say(scene *s, int type, const char *bytes, size_t len)
{
  char head[PAI_FRAME_HEAD];

  pai_frame_head(head, type, len);
  assert_int_equal(write(s->fd, head, sizeof(head)), sizeof(head));
  assert_int_equal(write(s->fd, bytes, len), len);
}

/* The next frame that comes to the task. */
static pai_frame hear(scene *s, char *bytes, size_t size)
{
  pai_frame f = { 0 };
  size_t have = 0, want = PAI_FRAME_HEAD;

  (void)fcntl(s->fd, F_SETFL, O_NONBLOCK);
  while (have < want) {
    ssize_t n = read(s->fd, bytes + have, want - have);
    if (n > 0)
      have += (size_t)n;
    else
      (void)!pai_loop_run_once(s->loop);
    if (have == PAI_FRAME_HEAD)
      want = PAI_FRAME_HEAD + pai_frame_pair(bytes + 2);
    assert_true(want <= size);
  }
  assert_int_equal(pai_frame_read(&f, bytes, have), (long)have);
  return f;
}

static void await_end(scene *s)
{
  while (s->ends == 0)
    (void)!pai_loop_run_once(s->loop);
}

TEST(a_session)
{
  static const char *const words[] = { "echo", "a b", "", NULL };
  static char bytes[PAI_FRAME_HEAD + PAI_FRAME_MOST];
  pai_session_options o;
  pai_begin b;
  pai_frame f;
  scene s;

  open_scene(&s);
  o = options_of(&s);
  o.command = words;
  o.terminal = "xterm";
  o.tty = 1;
  o.columns = 300;
  o.rows = 7;
  assert_ok(begin_with(&s, NULL, &o));
  f = hear(&s, bytes, sizeof(bytes));
  assert_true(pai_begin_read(&b, &f));
  assert_int_equal(b.flags, PAI_BEGIN_TTY);
  assert_int_equal(b.columns, 300);
  assert_int_equal(b.rows, 7);
  assert_string_equal(b.terminal, "xterm");
  assert_int_equal(b.nwords, 3);
  assert_memory_equal(b.words, "echo\0a b\0\0", 10);
  assert_ok(pai_session_write(s.session, "in", 2));
  assert_ok(pai_session_resize(s.session, 80, 24));
  assert_ok(pai_session_signal(s.session, 15));
  assert_int_equal(pai_session_signal(s.session, 65), PAI_EINVAL);
  assert_int_equal(pai_session_resize(s.session, 65536, 24), PAI_EINVAL);
  assert_ok(pai_session_end_input(s.session));
  f = hear(&s, bytes, sizeof(bytes));
  assert_int_equal(f.type, PAI_FRAME_INPUT);
  assert_memory_equal(f.bytes, "in", 2);
  f = hear(&s, bytes, sizeof(bytes));
  assert_int_equal(f.type, PAI_FRAME_SIZE);
  assert_memory_equal(f.bytes, "\0P\0\x18", 4);
  f = hear(&s, bytes, sizeof(bytes));
  assert_int_equal(f.type, PAI_FRAME_SIGNAL);
  assert_int_equal(f.bytes[0], 15);
  assert_int_equal(hear(&s, bytes, sizeof(bytes)).type, PAI_FRAME_INPUT_END);
  assert_true(s.rooms > 0);
  say(&s, PAI_FRAME_STARTED, "\1", 1);
  say(&s, PAI_FRAME_OUTPUT, "out", 3);
  say(&s, PAI_FRAME_ERRORS, "err", 3);
  say(&s, PAI_FRAME_END, "\2\xf", 2);
  await_end(&s);
  assert_int_equal(s.started, 1);
  assert_int_equal(s.terminal, 1);
  assert_string_equal(pai__buf_text(&s.out[0]), "out");
  assert_string_equal(pai__buf_text(&s.out[1]), "err");
  assert_int_equal(s.end.how, PAI_SESSION_SIGNAL);
  assert_int_equal(s.end.code, 143);
  end(&s);
}

/* What the task says last, or instead. */
TEST(ends)
{
  static const struct {
    const char *said;
    size_t len;
    int status, how, code;
    const char *text;
  } rows[] = {
    { "\x13\0\0\2\1\7", 6, PAI_OK, PAI_SESSION_EXIT, 7, "" },
    { "\x13\0\0\4\3\x7fno", 8, PAI_OK, PAI_SESSION_FAILED, 127, "no" },
    { "\x13\0\0\0", 4, PAI_OK, PAI_SESSION_FAILED, 0, "" },
    { "", 0, PAI_OK, PAI_SESSION_LOST, 137, "the task has ended" },
    { "\x11\0\0\5ab", 6, PAI_OK, PAI_SESSION_LOST, 137, "the task has ended" },
    { "HTTP/1.1 200 OK", 15, PAI_EIO, 0, 0,
      "the stream contains an invalid frame" },
    { "\x14\0\0\0", 4, PAI_EIO, 0, 0, "the stream contains an invalid frame" },
    { "\0\0\0\0", 4, PAI_EIO, 0, 0, "the stream contains an invalid frame" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_session_options o;
    scene s;

    open_scene(&s);
    o = options_of(&s);
    assert_ok(begin_with(&s, NULL, &o));
    assert_int_equal(write(s.fd, rows[i].said, rows[i].len), rows[i].len);
    (void)shutdown(s.fd, SHUT_WR);
    await_end(&s);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.status, rows[i].status);
    assert_int_equal(s.end.how, rows[i].how);
    assert_int_equal(s.end.code, rows[i].code);
    assert_string_equal(s.text, rows[i].text);
    end(&s);
  }
}

TEST_IN(who_is_slow_makes_it_wait, scene, s, open_scene, end)
{
  static char some[4 << 20];
  pai_session_options o;
  size_t seen = 0, input = 0, all;
  char head[PAI_FRAME_HEAD + PAI_FRAME_MOST];

  o = options_of(s);
  assert_ok(begin_with(s, NULL, &o));
  assert_ok(pai_session_write(s->session, some, sizeof(some)));
  all = pai_session_pending(s->session);
  while (pai_session_pending(s->session) == all)
    (void)!pai_loop_run_once(s->loop);
  assert_true(pai_session_pending(s->session) > sizeof(some) / 2);
  assert_int_equal(s->rooms, 0);
  while (input < sizeof(some)) {
    pai_frame f = hear(s, head, sizeof(head));
    input += f.type == PAI_FRAME_INPUT ? f.len : 0;
    seen++;
  }
  assert_int_equal(input, sizeof(some));
  assert_true(seen > 60);
  assert_int_equal(pai_session_pending(s->session), 0);
}

static void *counted(void *user_data, void *ptr, size_t old_size,
                     size_t new_size)
{
  size_t *held = user_data;

  *held += new_size - old_size;
  return pai__libc_alloc.realloc_fn(NULL, ptr, old_size, new_size);
}

/* Who always has some more to write, for one who reads slowly. */
TEST(what_has_left_is_not_kept)
{
  enum { PENDING = 256 << 10, ALL = 64 << 20 };
  static char some[16 << 10];
  size_t held = 0;
  const pai_alloc alloc = { &held, counted };
  pai_session_options o;
  scene s;

  open_scene(&s);
  o = options_of(&s);
  assert_ok(begin_with(&s, &alloc, &o));
  (void)fcntl(s.fd, F_SETFL, O_NONBLOCK);
  for (size_t wrote = 0; wrote < ALL;) {
    while (pai_session_pending(s.session) < PENDING) {
      assert_ok(pai_session_write(s.session, some, sizeof(some)));
      wrote += sizeof(some);
    }
    (void)!pai_loop_dispatch(s.loop);
    (void)!read(s.fd, some, sizeof(some));
    assert_true(held < 4 * PENDING);
  }
  end(&s);
  assert_int_equal(held, 0);
}

/* As much as its socket takes. */
static size_t say_all(scene *s)
{
  static char frame[PAI_FRAME_HEAD + 1];
  size_t said = 0;
  ssize_t n;

  (void)fcntl(s->fd, F_SETFL, O_NONBLOCK);
  pai_frame_head(frame, PAI_FRAME_OUTPUT, 1);
  while ((n = write(s->fd, frame, sizeof(frame))) > 0)
    said += (size_t)n;
  return said / sizeof(frame);
}

TEST(who_pauses_makes_it_wait)
{
  static char bytes[PAI_FRAME_HEAD + PAI_FRAME_MOST];
  pai_session_options o;
  size_t said = 0, more;
  scene s;

  open_scene(&s);
  s.pause_in_output = true;
  o = options_of(&s);
  assert_ok(begin_with(&s, NULL, &o));
  (void)hear(&s, bytes, sizeof(bytes));
  say(&s, PAI_FRAME_OUTPUT, "a", 1);
  say(&s, PAI_FRAME_OUTPUT, "b", 1);
  while (s.out[0].len == 0)
    (void)!pai_loop_run_once(s.loop);
  do { /* until nobody takes it */
    more = say_all(&s);
    said += more;
    for (int i = 0; i < 9; i++)
      (void)!pai_loop_dispatch(s.loop);
  } while (more > 0);
  assert_int_equal(s.out[0].len, 1);
  assert_ok(pai_session_write(s.session, "in", 2));
  assert_memory_equal(hear(&s, bytes, sizeof(bytes)).bytes, "in", 2);
  pai_session_pause(s.session, 0);
  while (s.out[0].len < 2)
    (void)!pai_loop_run_once(s.loop);
  assert_string_equal(pai__buf_text(&s.out[0]), "ab");
  (void)shutdown(s.fd, SHUT_WR); /* it is over, which waits, too */
  for (int i = 0; i < 9; i++)
    (void)!pai_loop_dispatch(s.loop);
  assert_int_equal(s.ends, 0);
  s.pause_in_output = false;
  pai_session_pause(s.session, 0);
  await_end(&s);
  assert_int_equal(s.out[0].len, 2 + said);
  end(&s);
}

/* Of one who has gone with input that he has not read everything is taken
 * that he has said. */
TEST_IN(who_has_gone_is_heard, scene, s, open_scene, end)
{
  static char bytes[20000];
  pai_session_options o;

  o = options_of(s);
  assert_ok(begin_with(s, NULL, &o));
  for (int i = 0; i < 9; i++) /* its beginning is there */
    (void)!pai_loop_dispatch(s->loop);
  for (int i = 0; i < 7; i++)
    say(s, PAI_FRAME_OUTPUT, bytes, sizeof(bytes));
  say(s, PAI_FRAME_END, "\1\7", 2);
  (void)close(s->fd);
  s->fd = -1;
  for (int i = 0; i < 99 && s->ends == 0; i++)
    (void)!pai_loop_dispatch(s->loop);
  assert_int_equal(s->ends, 1);
  assert_int_equal(s->end.code, 7);
  assert_int_equal(s->out[0].len, 7 * sizeof(bytes));
}

TEST_IN(it_is_closed_in_its_callback, scene, s, open_scene, end)
{
  pai_session_options o;
  char byte;

  s->close_in_output = true;
  o = options_of(s);
  assert_ok(begin_with(s, NULL, &o));
  say(s, PAI_FRAME_OUTPUT, "a", 1);
  say(s, PAI_FRAME_OUTPUT, "b", 1);
  while (s->session != NULL)
    (void)!pai_loop_run_once(s->loop);
  assert_string_equal(pai__buf_text(&s->out[0]), "a");
  assert_int_equal(s->ends, 0);
  while (read(s->fd, &byte, 1) > 0) /* BEGIN, and then its end */
    ;
}

TEST(wrong_options)
{
  static char longest[70000];
  const char *const words[] = { longest, NULL };
  pai_session_options o;
  scene s;

  memset(longest, 'x', sizeof(longest) - 1);
  open_scene(&s);
  o = options_of(&s);
  o.on_end = NULL;
  assert_int_equal(begin_with(&s, NULL, &o), PAI_EINVAL);
  (void)close(s.fd);
  o = options_of(&s);
  o.command = words;
  assert_int_equal(begin_with(&s, NULL, &o), PAI_ELIMIT);
  (void)close(s.fd);
  o.attach = 1;
  assert_int_equal(begin_with(&s, NULL, &o), PAI_EINVAL);
  (void)close(s.fd);
  o = options_of(&s);
  o.rows = 65536;
  assert_int_equal(begin_with(&s, NULL, &o), PAI_EINVAL);
  (void)close(s.fd);
  o.struct_size = 3;
  assert_int_equal(begin_with(&s, NULL, &o), PAI_EINVAL);
  end(&s);
}

/* Each allocation fails: it cannot be made, or ends, or goes on. */
TEST_FAULTS(no_memory_is_survived)
{
  static const char *const words[] = { "a", NULL };
  pai_session_options o;
  scene s;
  int rc;

  open_scene(&s);
  o = options_of(&s);
  o.command = words;
  rc = begin_with(&s, alloc, &o);
  if (rc == PAI_OK) {
    rc = pai_session_write(s.session, "abc", 3);
    say(&s, PAI_FRAME_OUTPUT, "out", 3);
    say(&s, PAI_FRAME_END, "\1\0", 2);
    await_end(&s);
    if (rc == PAI_OK)
      rc = s.status;
    if (rc == PAI_OK)
      assert_string_equal(pai__buf_text(&s.out[0]), "out");
  }
  end(&s);
  return rc;
}

/* --- what is read ------------------------------------------------------------- */

TEST(heads)
{
  static const struct {
    const char *text;
    long n;
    int status, length;
    bool upgraded;
  } rows[] = {
    { "HTTP/1.1 101 Switching\r\nUpgrade: P\r\n\r\nrest", 38, 101, -1, true },
    { "HTTP/1.1 101\r\nuPGRADE:\t p \r\n\r\n", 30, 101, -1, true },
    { "HTTP/1.1 101 S\r\nUpgrade: pp\r\n\r\n", 31, 101, -1, false },
    { "HTTP/1.1 200 OK\r\nUpgrade: p\r\n\r\n", 31, 200, -1, false },
    { "HTTP/1.0 404 No\nContent-Length: 12\n\n", 36, 404, 12, false },
    { "HTTP/1.1 200 OK\r\n", 0, 0, 0, false },
    { "HTTP/1.1 200 OK\r\n\r", 0, 0, 0, false },
    { "", 0, 0, 0, false },
    { "\r\n\r\n", -1, 0, 0, false },
    { "HTTP/2 200\r\n\r\n", -1, 0, 0, false },
    { "HTTP/1.1 20x OK\r\n\r\n", -1, 0, 0, false },
    { "HTTP/1.1 2000 OK\r\n\r\n", -1, 0, 0, false },
    { "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", -1, 0, 0, false },
    { "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", -1, 0, 0,
      false },
    { "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", -1, 0, 0, false },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__http_head head;
    long n =
      pai__http_read_head(&head, rows[i].text, strlen(rows[i].text), "p");
    print_message("%s\n", rows[i].text);
    assert_int_equal(n, rows[i].n);
    if (n <= 0)
      continue;
    assert_int_equal(head.status, rows[i].status);
    assert_int_equal(head.length, rows[i].length);
    assert_int_equal(head.upgraded, rows[i].upgraded);
  }
}

/* Whatever comes, what is taken lies in it. */
TEST(garbage_is_no_frame)
{
  pai__prng prng = { 5 };

  for (int round = 0; round < 200000; round++) {
    size_t len = pai__prng_below(&prng, 64);
    char *bytes = malloc(len + 1); /* of just that size, for the sanitizer */
    pai_begin b;
    pai_frame f;
    long n;

    for (size_t i = 0; i < len; i++)
      bytes[i] = (char)pai__prng_below(&prng, i < 2 ? 3 : 256);
    if (len > 3 && round % 2 == 0) {
      bytes[0] = PAI_FRAME_BEGIN;
      bytes[1] = bytes[2] = 0;
      bytes[3] = (char)(len - 4);
      if (len > 4)
        bytes[4] = 1;
      bytes[len - 1] = 0;
    }
    n = pai_frame_read(&f, bytes, len);
    assert_true(n >= -1 && n <= (long)len);
    if (n > 0) {
      assert_int_equal(f.len + PAI_FRAME_HEAD, n);
      if (pai_begin_read(&b, &f)) {
        const char *at = b.words;

        for (size_t i = 0; i < b.nwords; i++)
          at += strlen(at) + 1;
        assert_true(at == bytes + n);
      }
    }
    free(bytes);
  }
}
