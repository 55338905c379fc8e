/* Requests of HTTP are read alike however they are cut, or refused. */
#include "cases.h"

#include "http1/http1.h"

#include <stdio.h>
#include <string.h>

#define GET "GET /a HTTP/1.1\r\n"
#define HOST "Host: x\r\n"
#define END "\r\n"

typedef struct row {
  const char *text;
  int status; /* 0: it is sound */
} row;

static const row heads[] = {
  { GET HOST END, 0 },
  { END END GET HOST END, 0 },
  { "GET /a?b=%20c&d HTTP/1.0\r\n" END, 0 },
  { GET "Host:\r\nX-A: \t b c \t\r\nX-B:\r\n" END, 0 },
  { GET HOST "Content-Length: 0\r\n" END, 0 },
  { GET HOST "Content-Length: 2\r\n" END, 0 },
  { GET HOST "transfer-ENCODING: Chunked\r\n" END, 0 },
  { GET HOST "X: \xc3\xa4\r\n" END, 0 },
  { GET "Host: [::1]:80\r\n" END, 0 },
  { GET "Host: my_host-1.x%20:\r\n" END, 0 },
  { "GET http://x/a HTTP/1.1\r\n" HOST END, 0 },
  { "GET HTTPS://x HTTP/1.1\r\n" HOST END, 0 },
  { "OPTIONS * HTTP/1.1\r\n" HOST END, 0 },
  /* the first line */
  { "\n", 400 },
  { "GET /a\r\n", 400 },
  { "GET  /a HTTP/1.1\r\n", 400 },
  { "GET /a  HTTP/1.1\r\n", 400 },
  { "GET /a b HTTP/1.1\r\n", 400 },
  { " GET /a HTTP/1.1\r\n", 400 },
  { "GET /a HTTP/1.1 \r\n", 400 },
  { "GET /a http/1.1\r\n", 400 },
  { "GET /a HTTP/1\r\n", 400 },
  { "G(T /a HTTP/1.1\r\n", 400 },
  { "GET /\ta HTTP/1.1\r\n", 400 },
  { "GET /\x7f", 400 },
  { "GET a HTTP/1.1\r\n", 400 },
  { "GET x:80 HTTP/1.1\r\n", 400 },
  { "GET ftp://x/a HTTP/1.1\r\n", 400 },
  { "GET http:/a HTTP/1.1\r\n", 400 },
  { "GET http:///a HTTP/1.1\r\n", 400 },
  { "GET /a#b HTTP/1.1\r\n", 400 },
  { "GET  HTTP/1.1\r\n", 400 },
  { "GET /a HTTP/01.1\r\n", 400 },
  { "CONNECT x:80 HTTP/1.1\r\n", 501 },
  { "PRI * HTTP/2.0\r\n", 505 },
  { "GET /a HTTP/2.0\r\n", 505 },
  { "GET /a HTTP/1.2\r\n", 505 },
  { "GET /a HTTP/1.1\n", 400 },
  { "GET /a HTTP/1.1\rX", 400 },
  /* lines */
  { GET " Host: x\r\n", 400 },
  { GET HOST "X: a\r\n b\r\n", 400 },
  { GET HOST "X: a\n", 400 },
  { GET HOST "X: a\rb", 400 },
  { GET HOST "X: a\r\r", 400 },
  { GET HOST "X: a\x01", 400 },
  { GET HOST "foo\r\n", 400 },
  { GET HOST ": a\r\n", 400 },
  { GET HOST "X : a\r\n", 400 },
  { GET HOST "\n", 400 },
  /* fields */
  { GET END, 400 },
  { GET HOST HOST END, 400 },
  { GET "Host: x y\r\n" END, 400 },
  { GET "Host: x,y\r\n" END, 400 },
  { GET "Host: x/y\r\n" END, 400 },
  { GET "Host: x:y\r\n" END, 400 },
  { GET "Host: x:1:2\r\n" END, 400 },
  { GET "Host: [::1\r\n" END, 400 },
  { GET "Host: [::1]x\r\n" END, 400 },
  { GET "Host: a@b\r\n" END, 400 },
  { GET HOST "Content-Length:\r\n" END, 400 },
  { GET HOST "Content-Length: +2\r\n" END, 400 },
  { GET HOST "Content-Length: -2\r\n" END, 400 },
  { GET HOST "Content-Length: 0x2\r\n" END, 400 },
  { GET HOST "Content-Length: 2, 2\r\n" END, 400 },
  { GET HOST "Content-Length: 2 2\r\n" END, 400 },
  { GET HOST "Content-Length: 2_0\r\n" END, 400 },
  { GET HOST "Content-Length: 2\r\nContent-Length: 2\r\n" END, 400 },
  { GET HOST "Content-Length: 99999999999999999999\r\n" END, 413 },
  { GET HOST "Content-Length: 18446744073709551616\r\n" END, 413 },
  { GET HOST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n" END, 400 },
  { GET HOST "Transfer-Encoding: gzip, chunked\r\n" END, 501 },
  { GET HOST "Transfer-Encoding: chunked, identity\r\n" END, 501 },
  { GET HOST "Transfer-Encoding: \"chunked\"\r\n" END, 501 },
  { GET HOST "Transfer-Encoding: identity\r\n" END, 501 },
  { GET HOST "Transfer-Encoding:\x0b"
             "chunked\r\n" END,
    400 },
  { GET HOST "Transfer-Encoding:\r\n chunked\r\n" END, 400 },
  { GET HOST "Transfer-Encoding: xchunked\r\n" END, 501 },
  { GET HOST
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END,
    400 },
  { "GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" END, 400 },
};

/* In pieces of `step` bytes behind the first `first`; the head is told at the
 * same byte, however it comes. */
static size_t read_in_pieces(pai__http1_head *h, char *bytes, const char *text,
                             size_t len, size_t first, size_t step)
{
  size_t have = first;

  memset(h, 0, sizeof(*h));
  memcpy(bytes, text, len);
  bytes[len] = '\0';
  while (!pai__http1_read_head(h, bytes, have) && have < len)
    have = have + step < len ? have + step : len;
  return h->seen;
}

TEST(heads_however_they_are_cut)
{
  char bytes[512];

  for (size_t i = 0; i < PAI__LEN(heads); i++) {
    size_t len = strlen(heads[i].text);
    pai__http1_head all, h;

    (void)read_in_pieces(&all, bytes, heads[i].text, len, len, 1);
    if (all.fault.status != heads[i].status)
      print_error("'%s': %d\n", heads[i].text, all.fault.status);
    assert_int_equal(all.fault.status, heads[i].status);
    assert_int_equal(all.whole && all.fault.status == 0, heads[i].status == 0);
    for (size_t first = 0; first <= len; first++)
      for (size_t step = 1; step < 10; step += 6) {
        (void)read_in_pieces(&h, bytes, heads[i].text, len, first, step);
        assert_memory_equal(&h, &all, sizeof(h));
      }
  }
}

TEST(what_a_head_says)
{
  char bytes[256];
  const char *text = "PUT /a?b HTTP/1.1\r\nHost: x:1\r\nX-A: \t b c \t\r\n"
                     "content-length: 12\r\nx-a:d\r\n"
                     "Connection: a, Close\r\n\r\nbody";
  pai__http1_head h;
  size_t at = 0;

  assert_int_equal(
    read_in_pieces(&h, bytes, text, strlen(text), strlen(text), 1),
    strlen(text) - 4);
  assert_string_equal(bytes + h.method, "PUT");
  assert_string_equal(bytes + h.target, "/a?b");
  assert_string_equal(bytes + h.version, "HTTP/1.1");
  assert_true(h.measured && !h.chunked && !h.old && h.length == 12);
  assert_string_equal(pai__http1_find(&h, bytes, "x-A", &at), "b c");
  assert_string_equal(pai__http1_find(&h, bytes, "x-A", &at), "d");
  assert_null(pai__http1_find(&h, bytes, "x-A", &at));
  assert_true(pai__http1_has(&h, bytes, "connection", "close"));
  assert_false(pai__http1_has(&h, bytes, "connection", "clos"));
  assert_false(pai__http1_has(&h, bytes, "connectio", "close"));
}

TEST(paths_of_targets)
{
  static const char *const rows[][2] = {
    { "/", "/" },
    { "/a?b=http://x", "/a?b=http://x" },
    { "*", "*" },
    { "http://x", "/" },
    { "http://x:80/a?b", "/a?b" },
    { "HttpS://x?b", "?b" },
    { "//http://x", "//http://x" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_string_equal(pai__http1_path(rows[i][0]), rows[i][1]);
}

static int status_of_long(const char *begin, size_t n, const char *piece,
                          const char *end)
{
  static char text[64 << 10], bytes[(64 << 10) + 1];
  size_t len = (size_t)snprintf(text, sizeof(text), "%s", begin);
  pai__http1_head h;

  for (size_t i = 0; i < n; i++)
    len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", piece);
  len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", end);
  (void)read_in_pieces(&h, bytes, text, len, 1000, 1000);
  return h.fault.status;
}

TEST(heads_that_are_too_long)
{
  assert_int_equal(status_of_long(GET HOST, 98, "X: y\r\n", END), 0);
  assert_int_equal(status_of_long(GET HOST, 100, "X: y\r\n", END), 431);
  assert_int_equal(status_of_long(GET HOST "X: ", 16000, "x", "\r\n" END), 0);
  assert_int_equal(status_of_long(GET HOST "X: ", 20000, "x", "\r\n" END),
                   431);
  assert_int_equal(
    status_of_long("GET /", 12000, "x", " HTTP/1.1\r\n" HOST END), 0);
  assert_int_equal(
    status_of_long("GET /", 13000, "x", " HTTP/1.1\r\n" HOST END), 414);
  assert_int_equal(status_of_long("GET /", 20000, "x", ""), 414);
}

static const row chunks[] = {
  { "2\r\n{}\r\n0\r\n\r\n", 0 },
  { "1\r\n{\r\n01\r\n}\r\n000\r\n\r\n", 0 },
  { "2;a=\"b\"\r\n{}\r\n0;c\r\n\r\n", 0 },
  { "2\r\n{}\r\n0\r\nX: y\r\nZ:\r\n\r\n", 0 },
  { "2\n", 400 },
  { "2\r\n{}\n", 400 },
  { "2\r\n{}}", 400 },
  { "2\r\n{}\r\n0\n", 400 },
  { "2\r\n{}\r\n0\r\n\n", 400 },
  { "2\r\n{}\r\n0\r\n x", 400 },
  { "2\r\n{}\r\n0\r\nx\r\n\r\n", 400 },
  { "2\r\n{}\r\n0\r\nx : y\r\n\r\n", 400 },
  { "2;a\nb", 400 },
  { "2;a\rb", 400 },
  { "2 \r\n", 400 },
  { " 2\r\n", 400 },
  { "\r\n", 400 },
  { ";a", 400 },
  { "0x2", 400 },
  { "-2", 400 },
  { "1111111111111111", 400 },
};

/* All data, in pieces of `step` bytes; behind the end nothing is read. */
static void read_all(pai__http1_chunks *k, char *to, const char *text,
                     size_t step)
{
  size_t len = strlen(text), at = 0, n = 0;

  *k = (pai__http1_chunks){ .over = false };
  while (at < len && !k->over && k->fault.status == 0) {
    const char *data;
    size_t size, left = len - at < step ? len - at : step;
    size_t used = pai__http1_read_chunks(k, text + at, left, &data, &size);

    assert_in_range(used, 1, left);
    memcpy(to + n, data, size);
    n += size;
    at += used;
  }
  to[n] = '\0';
}

TEST(chunks_however_they_are_cut)
{
  char data[64];
  pai__http1_chunks k;

  for (size_t i = 0; i < PAI__LEN(chunks); i++)
    for (size_t step = 1; step <= strlen(chunks[i].text); step++) {
      read_all(&k, data, chunks[i].text, step);
      if (k.fault.status != chunks[i].status)
        print_error("'%s': %d\n", chunks[i].text, k.fault.status);
      assert_int_equal(k.fault.status, chunks[i].status);
      assert_int_equal(k.over, chunks[i].status == 0);
      if (chunks[i].status == 0)
        assert_string_equal(data, "{}");
    }
}
