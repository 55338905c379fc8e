/* A server that is asked badly: garbage, too much, too slowly, by too many. */
#define _GNU_SOURCE
#include "asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* As many descriptors as this process may have; some tests need thousands. */
static bool have_files(rlim_t wanted)
{
  struct rlimit files;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_cur < wanted)
    print_message("skipped: it needs %d descriptors\n", (int)wanted);
  return files.rlim_cur >= wanted;
}

/* --- bad manners ------------------------------------------------------------------------------ */

IN_SCENE(begin, garbage)
{
  static const struct {
    const char *text;
    bool whole; /* it is answered, or hung up on */
  } rows[] = {
    { "\r\n\r\n\r\n", false },
    { "\x16\x03\x01\x02", false },
    { "GET\r\n\r\n", true },
    { "GET / HTTP/9.9\r\n\r\n", true },
    { "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      true },
    { "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
      true },
    { "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
      "\r\n\r\nzz\r\n",
      true },
    { "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n no header\r\n\r\n", false },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    peer p;
    come(&p, s);
    say(&p, rows[i].text);
    while (rows[i].whole && !p.over && p.seen.len == 0)
      turn(s);
    assert_null(strstr(pai__buf_text(&p.seen), "HTTP/1.1 2"));
    leave(&p);
    expect(GET(s, "/api/v2/info"), 200, ""); /* it is well */
  }
}

/* What two who read it may read differently is read by none, nor is what comes
 * behind it: a proxy may have passed it on as a body. */
IN_SCENE(begin, heads_of_two_meanings)
{
  static const char *const heads[] = {
    "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    "Content-Length : 2\r\n\r\n{}",
    "Content\x01: 2\r\n\r\n{}",
    /* of encodings that are not known */
    "Transfer-Encoding: gzip\r\n\r\n{}",
    "Transfer-Encoding: gzip, chunked\r\n\r\n{}",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n{}",
  };
  enum { UNKNOWN = 3 };
  char text[512];

  for (size_t i = 0; i < PAI__LEN(heads); i++) {
    const char *first;
    peer p;

    come(&p, s);
    (void)snprintf(text, sizeof(text),
                   "PUT /api/v2/jobs/alice~mnist/executionType HTTP/1.1\r\n"
                   "Host: x\r\n%sGET /api/v2/info HTTP/1.1\r\nHost: x\r\n"
                   "\r\n",
                   heads[i]);
    say(&p, text);
    hear_all(&p);
    expect(pai__buf_text(&p.seen), i < PAI__LEN(heads) - UNKNOWN ? 400 : 501,
           "Invalid HTTP request: ");
    first = strstr(pai__buf_text(&p.seen), "HTTP/1.1");
    assert_null(strstr(first + 1, "HTTP/1.1"));
    leave(&p);
  }
  assert_int_equal(s->platform.stops, 0);
}

/* Each is refused in JSON, and the connection ends with that: what comes behind
 * it is no request, whoever sent it. */
static const struct {
  const char *text;
  int status;
} refused[] = {
#define GET_INFO "GET /api/v2/info HTTP/1.1\r\n"
#define STOP                                            \
  "PUT /api/v2/jobs/alice~mnist/executionType HTTP/1.1" \
  "\r\nHost: x\r\nAuthorization: Bearer alice\r\n"
#define CHUNKED STOP "Transfer-Encoding: chunked\r\n\r\n"
  { GET_INFO "\r\n", 400 },
  { GET_INFO "Host: x\r\nHost: x\r\n\r\n", 400 },
  { GET_INFO "Host: x:1:2\r\n\r\n", 400 },
  { GET_INFO "Host: x\nX: y\r\n\r\n", 400 },
  { GET_INFO "Host: x\r\nX: a\rContent-Length: 9\r\n\r\n", 400 },
  { GET_INFO "Host: x\r\nX: a\r\n b\r\n\r\n", 400 },
  { "GET /api/v2/info\r\n", 400 },
  { "GET /\r\n\r\n", 400 },
  { "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
  { "GET api/v2/info HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
  { "GET /api/v2/info#a HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
  { "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", 501 },
  { "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505 },
  { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505 },
  { STOP "Content-Length: 2, 2\r\n\r\n{}", 400 },
  { STOP "Content-Length: +2\r\n\r\n{}", 400 },
  { STOP "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400 },
  { STOP "Content-Length: 18446744073709551618\r\n\r\n{}", 413 },
  { STOP "Content-Length: 9223372036854775807\r\n\r\n{}", 413 },
  { STOP "Content-Length : 2\r\n\r\n{}", 400 },
  { STOP "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400 },
  { STOP "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501 },
  { STOP "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501 },
  { STOP "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
         "0\r\n\r\n",
    400 },
  { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
  { CHUNKED "fffffffffffffffff\r\n", 400 },
  { CHUNKED "0x0\r\n\r\n", 400 },
  { CHUNKED "-1\r\n\r\n", 400 },
  { CHUNKED "0 \r\n\r\n", 400 },
  { CHUNKED "0\n\n", 400 },
  { CHUNKED "0;a\nb\r\n\r\n", 400 },
  { CHUNKED "2\r\n{}xx0\r\n\r\n", 400 },
  { CHUNKED "2\r\n{}\r\n0\r\n X: y\r\n\r\n", 400 },
  { CHUNKED "2\r\n{}\r\n0\r\nx\r\n\r\n", 400 },
  /* No such route, and the body is not read. */
  { "POST /none HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", 404 },
};

/* In pieces of so many bytes, or, with 0, all at once. */
static void is_refused(void (*by)(peer *, scene *), scene *s, size_t row,
                       size_t step)
{
  static const char more[] = GET_INFO "Host: x\r\n\r\n";
  const char *text = refused[row].text, *seen;
  char piece[8];
  peer p;

  by(&p, s);
  for (size_t at = 0; step > 0 && at < strlen(text); at += step) {
    (void)snprintf(piece, sizeof(piece), "%.*s", (int)step, text + at);
    say(&p, piece);
    turn(s);
  }
  if (step == 0)
    say(&p, text);
  say(&p, more);
  hear_all(&p);
  seen = pai__buf_text(&p.seen);
  expect(seen, refused[row].status, "{\"code\":\"");
  assert_has(seen, "\r\nConnection: close\r\n");
  assert_has(seen, "\r\nContent-Type: application/json");
  assert_null(strstr(seen, "HTTP/1.1 2"));
  leave(&p);
}

IN_SCENE(begin_empty, what_is_no_request)
{
  s->options.listen = "127.0.0.1:0";
  assert_ok(new_server(s, NULL));
  for (size_t i = 0; i < PAI__LEN(refused); i++)
    for (size_t step = 0; step < 3; step++) {
      is_refused(come, s, i, step);
      is_refused(come_far, s, i, step);
    }
  assert_int_equal(s->platform.stops, 0);
}

IN_SCENE(begin, what_is_too_large)
{
  size_t size = (4 << 20) + 1;
  char *body = malloc(size + 1), *head = malloc(200000);
  const char *answer;
  peer p;

  /* Said in the head: refused without the body. */
  come(&p, s);
  say(&p,
      "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n"
      "\r\n");
  hear(&p, "HTTP/1.1 413 ");
  leave(&p);
  expect(ask(s, "PUT /api/v2/jobs/a/tag HTTP/1.1\r\nHost: x\r\n"
                "Content-Length: 99999999999999999999\r\n\r\n"),
         413, "");
  /* In chunks: refused when it is too much. */
  memset(body, 'a', size);
  body[size] = '\0';
  come(&p, s);
  say(&p, "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
          "Transfer-Encoding: chunked\r\n\r\n400001\r\n");
  say(&p, body);
  say(&p, "\r\n0\r\n\r\n");
  hear(&p, "HTTP/1.1 413 ");
  leave(&p);
  /* At once, however long the chunk is to be. */
  come(&p, s);
  say(&p, "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\n"
          "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n");
  say(&p, body);
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 413, "");
  assert_has(pai__buf_text(&p.seen), "\r\nConnection: close\r\n");
  leave(&p);
  /* A head without end. */
  memset(head, 'a', 199999);
  head[199999] = '\0';
  answer = ask(s, "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n", head);
  assert_null(strstr(answer, "HTTP/1.1 200"));
  expect(GET(s, "/api/v2/info"), 200, "");
  free(body);
  free(head);
}

IN_SCENE(begin, pipelined)
{
  const char *seen;
  peer p;

  come(&p, s);
  say(&p,
      "GET /api/v2/status HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
      "{}GET /api/v2/info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  hear_all(&p);
  seen = pai__buf_text(&p.seen);
  assert_has(seen, "pid");
  assert_has(strstr(seen, "pid"), "HTTP/1.1 400");
  assert_has(strstr(seen, "HTTP/1.1 400"), "launcherType");
  leave(&p);
}

IN_SCENE(begin, a_byte_at_a_time)
{
  const char *text = "POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\n"
                     "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
  peer p;

  come(&p, s);
  for (size_t i = 0; i < strlen(text); i++) {
    char c[2] = { text[i], '\0' };
    say(&p, c);
    turn(s);
    if (i % 10 == 0)
      expect(GET(s, "/api/v2/info"), 200, ""); /* others do not wait */
  }
  hear(&p, "HTTP/1.1 400 ");
  leave(&p);
}

/* At 128 and 256 busy connections libmicrohttpd's own loop is known to stop. */
IN_SCENE(begin, many_connections)
{
  static peer peers[1100];
  static const size_t counts[] = { 127, 128, 129, 255, 256, 257, 1100 };

  if (!have_files(2400))
    skip();
  for (size_t k = 0; k < PAI__LEN(counts); k++) {
    for (size_t i = 0; i < counts[k]; i++) {
      come(&peers[i], s);
      say(&peers[i], "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n"
                     "Connection: close\r\n\r\n");
    }
    for (size_t i = 0; i < counts[k]; i++) {
      hear_all(&peers[i]);
      assert_has(pai__buf_text(&peers[i].seen), "launcherType");
      leave(&peers[i]);
    }
  }
}

/* More than are taken wait, and are served when others leave. */
IN_SCENE(begin, too_many_connections)
{
  static peer peers[1010];

  if (!have_files(2400))
    skip();
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    come(&peers[i], s);
    say(&peers[i], "GET " LOG "/all?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  while (s->platform.opened < 1000)
    turn(s);
  for (int i = 0; i < 100; i++)
    assert_int_equal(pai_loop_dispatch(s->loop), 1);
  assert_int_equal(s->platform.opened, 1000);
  for (size_t i = 0; i < 20; i++)
    leave(&peers[i]);
  while (s->platform.opened < PAI__LEN(peers))
    turn(s);
  for (size_t i = 20; i < PAI__LEN(peers); i++)
    leave(&peers[i]);
}
