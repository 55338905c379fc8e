/* Frames of a WebSocket: those that a server takes, answers and refuses,
 * however their bytes are cut. */
#include "cases.h"

#include "server/http/websocket.h"

#include <string.h>

enum { MOST = 70000 };

/* --- frames ---------------------------------------------------------------------- */

typedef struct wire {
  char bytes[2 * MOST];
  size_t len;
} wire;

static void put(wire *w, const void *bytes, size_t len)
{
  memcpy(w->bytes + w->len, bytes, len);
  w->len += len;
}

/* A frame as a client sends it; `size` bytes have the length. */
static void put_frame_as(wire *w, unsigned first, const char *data, size_t len,
                         size_t size)
{
  static const unsigned char mask[] = { 0x37, 0, 0xff, 0x21 };
  unsigned char head[10] = { (unsigned char)first,
                             (unsigned char)(0x80 | (size == 0   ? len
                                                     : size == 2 ? 126
                                                                 : 127)) };

  for (size_t i = 0; i < size; i++)
    head[2 + i] = (unsigned char)((uint64_t)len >> 8 * (size - 1 - i));
  put(w, head, 2 + size);
  put(w, mask, sizeof(mask));
  for (size_t i = 0; i < len; i++)
    put(w, (char[]){ (char)((unsigned char)data[i] ^ mask[i % 4]) }, 1);
}

static void put_frame(wire *w, unsigned first, const char *data, size_t len)
{
  put_frame_as(w, first, data, len, len < 126 ? 0 : len <= 65535 ? 2 : 8);
}

/* Reads all, in pieces of `step` bytes; returns the data. */
static size_t read_by(pai__ws_reader *r, const wire *w, size_t step, char *out)
{
  static char piece[2 * MOST];
  size_t n = 0;

  memset(r, 0, sizeof(*r));
  for (size_t at = 0; at < w->len; at += step) {
    size_t len = w->len - at < step ? w->len - at : step, got;

    memcpy(piece, w->bytes + at, len);
    got = pai__ws_read(r, piece, len);
    assert_true(got <= len);
    memcpy(out + n, piece, got);
    n += got;
  }
  return n;
}

/* What the bytes say, whole and in pieces. */
static void expect(const wire *w, unsigned closed, const char *data,
                   size_t len)
{
  static const size_t steps[] = { 2 * MOST, 1, 2, 3, 7, 126, 4096 };
  static char out[2 * MOST];
  pai__ws_reader r;

  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    assert_int_equal(read_by(&r, w, steps[i], out), len);
    assert_memory_equal(out, data, len);
    assert_int_equal(r.closed, closed);
  }
}

/* --- what is taken --------------------------------------------------------------- */

TEST(the_handshake_of_the_standard)
{
  static const char *const wrong[] = {
    "",
    "dGhlIHNhbXBsZSBub25jZQ",
    "dGhlIHNhbXBsZSBub25jZQ=",
    "dGhlIHNhbXBsZSBub25jZQ===",
    "dGhlIHNhbXBsZSBub25jZQ==\r\nX: y",
    "dGhlIHNhbXBsZSBub25jZQaa",
    "dGhlIHNhbXBsZSBub25 ZQ==",
    "dGhlIHNhbXBsZSBub25jZTEyMzQ1Njc4OTA=="
  };
  char accept[PAI__WS_ACCEPT];

  assert_true(pai__ws_accept(accept, "dGhlIHNhbXBsZSBub25jZQ=="));
  assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    assert_false(pai__ws_accept(accept, wrong[i]));
}

TEST(data_of_all_lengths)
{
  static const size_t lengths[] = { 0, 1, 4, 125, 126, 127, 65535, 65536 };
  static char data[MOST];
  static wire w;

  for (size_t i = 0; i < MOST; i++)
    data[i] = (char)(i * 7 >> 3);
  for (size_t i = 0; i < PAI__LEN(lengths); i++) {
    w.len = 0;
    put_frame(&w, 0x82, data, lengths[i]);
    put_frame(&w, 0x82, data + lengths[i], 3);
    expect(&w, 0, data, lengths[i] + 3);
  }
}

TEST(fragments_with_a_ping_between)
{
  static char out[2 * MOST];
  static wire w;
  pai__ws_reader r;

  w.len = 0;
  put_frame(&w, 0x02, "ab", 2);
  put_frame(&w, 0x89, "are you there", 13);
  put_frame(&w, 0x00, "", 0);
  put_frame(&w, 0x8a, "unasked", 7);
  put_frame(&w, 0x80, "cd", 2);
  put_frame(&w, 0x82, "e", 1);
  expect(&w, 0, "abcde", 5);
  (void)read_by(&r, &w, 1, out);
  assert_true(r.pinged);
  assert_int_equal(r.ping_len, 13);
  assert_memory_equal(r.ping, "are you there", 13);
  put_frame(&w, 0x89, "last", 4);
  (void)read_by(&r, &w, 5, out);
  assert_memory_equal(r.ping, "last", 4);
}

/* --- what ends it ---------------------------------------------------------------- */

TEST(a_close_and_nothing_after_it)
{
  static const struct {
    const char *data;
    size_t len;
    unsigned closed;
  } rows[] = {
    { "", 0, PAI__WS_NORMAL },
    { "\x03\xe8", 2, 1000 },
    { "\x03\xe9"
      "gone \xc3\xa9",
      9, 1001 },
    { "\x0f\xa0", 2, 4000 },
    { "\x03", 1, PAI__WS_PROTOCOL },
    { "\x00\x00", 2, PAI__WS_PROTOCOL },
    { "\x03\xe7", 2, PAI__WS_PROTOCOL },
    { "\x03\xec", 2, PAI__WS_PROTOCOL }, /* 1004 to 1006 are never sent */
    { "\x03\xed", 2, PAI__WS_PROTOCOL },
    { "\x03\xee", 2, PAI__WS_PROTOCOL },
    { "\x07\xd0", 2, PAI__WS_PROTOCOL },
    { "\x13\x88", 2, PAI__WS_PROTOCOL },
    { "\xff\xff", 2, PAI__WS_PROTOCOL },
    { "\x03\xe8"
      "\xc3",
      3, PAI__WS_INVALID },
    { "\x03\xe8"
      "a\xed\xa0\x80",
      6, PAI__WS_INVALID },
  };
  static wire w;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    w.len = 0;
    put_frame(&w, 0x82, "x", 1);
    put_frame(&w, 0x88, rows[i].data, rows[i].len);
    put_frame(&w, 0x82, "never", 5);
    expect(&w, rows[i].closed, "x", 1);
  }
}

TEST(frames_that_break_the_rules)
{
  static const struct {
    const char *bytes;
    size_t len;
    unsigned closed;
  } rows[] = {
    { "\x82\x01x", 3, PAI__WS_PROTOCOL }, /* not masked */
    { "\x88\x00", 2, PAI__WS_PROTOCOL },
    { "\xc2\x80\0\0\0\0", 6, PAI__WS_PROTOCOL }, /* reserved bits */
    { "\xa2\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x92\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x83\x80\0\0\0\0", 6, PAI__WS_PROTOCOL }, /* unknown kinds */
    { "\x87\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x8b\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x8f\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x80\x80\0\0\0\0", 6, PAI__WS_PROTOCOL }, /* nothing to continue */
    { "\x00\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x09\x80\0\0\0\0", 6, PAI__WS_PROTOCOL }, /* a ping in fragments */
    { "\x08\x80\0\0\0\0", 6, PAI__WS_PROTOCOL },
    { "\x89\xfe\0\x7e\0\0\0\0", 8, PAI__WS_PROTOCOL }, /* a long ping */
    { "\x88\xff\0\0\0\0\0\1\0\0\0\0\0\0", 14, PAI__WS_PROTOCOL },
    { "\x82\xfe\0\x7d\0\0\0\0", 8, PAI__WS_PROTOCOL }, /* lengths too long */
    { "\x82\xff\0\0\0\0\0\0\xff\xff\0\0\0\0", 14, PAI__WS_PROTOCOL },
    { "\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0", 14, PAI__WS_PROTOCOL },
    { "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14,
      PAI__WS_TOO_LARGE },
    { "\x82\xff\0\0\0\0\0\x10\0\1\0\0\0\0", 14, PAI__WS_TOO_LARGE },
    { "\x81\x81\0\0\0\0x", 7, PAI__WS_UNSUPPORTED }, /* text */
    { "\x01\x81\0\0\0\0x", 7, PAI__WS_UNSUPPORTED },
  };
  static wire w;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    w.len = 0;
    put_frame(&w, 0x82, "x", 1);
    put(&w, rows[i].bytes, rows[i].len);
    put_frame(&w, 0x82, "never", 5);
    expect(&w, rows[i].closed, "x", 1);
  }
  w.len = 0; /* a new message before the first one has ended */
  put_frame(&w, 0x02, "x", 1);
  put_frame(&w, 0x82, "never", 5);
  expect(&w, PAI__WS_PROTOCOL, "x", 1);
}

TEST(heads_that_are_written)
{
  unsigned char head[PAI__WS_HEAD];

  assert_int_equal(pai__ws_head(head, PAI__WS_BINARY, 125), 2);
  assert_memory_equal(head, "\x82\x7d", 2);
  assert_int_equal(pai__ws_head(head, PAI__WS_PONG, 0), 2);
  assert_memory_equal(head, "\x8a\0", 2);
  assert_int_equal(pai__ws_head(head, PAI__WS_BINARY, 126), 4);
  assert_memory_equal(head, "\x82\x7e\0\x7e", 4);
  assert_int_equal(pai__ws_head(head, PAI__WS_BINARY, 65535), 4);
  assert_memory_equal(head, "\x82\x7e\xff\xff", 4);
}
