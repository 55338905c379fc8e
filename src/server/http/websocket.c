/* websocket.c - the frames of a WebSocket: read strictly, and written */
#include "server/http/websocket.h"

#include "base/text/encode.h"
#include "base/text/utf8.h"

#include <gnutls/crypto.h>

enum {
  FINAL = 0x80,
  RESERVED = 0x70,
  OPCODE = 0x0f,
  MASKED = 0x80,
  LENGTH = 0x7f,
  TWO_BYTES = 126, /* the length is in the next two bytes */
  EIGHT_BYTES = 127,
  MASK = 4,
  KEY = 24, /* a Sec-WebSocket-Key: base64 of 16 bytes */
  SHA1 = 20
};

/* --- handshake ----------------------------------------------------------- */

bool pai__ws_accept(char out[PAI__WS_ACCEPT], const char *key)
{
  static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                               "uvwxyz0123456789+/";
  static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char hash[SHA1];
  char text[KEY + sizeof(magic)];
  pai__buf b;
  bool ok;

  if (strspn(key, base64) != KEY - 2 || strcmp(key + KEY - 2, "==") != 0)
    return false;
  memcpy(text, key, KEY);
  memcpy(text + KEY, magic, sizeof(magic));
  if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, KEY + sizeof(magic) - 1, hash) <
      0)
    return false;
  pai__buf_init(&b, &pai__libc_alloc);
  pai__put_base64(&b, hash, SHA1);
  ok = pai__buf_ok(&b) && b.len == PAI__WS_ACCEPT - 1;
  if (ok)
    memcpy(out, pai__buf_text(&b), PAI__WS_ACCEPT);
  pai__buf_dispose(&b);
  return ok;
}

/* --- heads --------------------------------------------------------------- */

static bool is_control(unsigned opcode)
{
  return opcode >= PAI__WS_CLOSE;
}

/* Returns the code to close with if a frame may not begin like this, or 0. */
static unsigned check_start(const pai__ws_reader *w)
{
  unsigned opcode = w->head[0] & OPCODE, len = w->head[1] & LENGTH;
  bool final = (w->head[0] & FINAL) != 0;

  if ((w->head[0] & RESERVED) != 0 || (w->head[1] & MASKED) == 0)
    return PAI__WS_PROTOCOL;
  if (is_control(opcode))
    return opcode > PAI__WS_PONG || !final || len > PAI__WS_CONTROL
             ? PAI__WS_PROTOCOL
             : 0;
  if (opcode > PAI__WS_BINARY ||
      (opcode == PAI__WS_CONTINUED) != w->in_message)
    return PAI__WS_PROTOCOL;
  return opcode == PAI__WS_TEXT ? PAI__WS_UNSUPPORTED : 0;
}

static size_t length_size(const pai__ws_reader *w)
{
  unsigned len = w->head[1] & LENGTH;

  return len == TWO_BYTES ? 2 : len == EIGHT_BYTES ? 8 : 0;
}

/* Lengths take as few bytes as they can. */
static unsigned read_length(pai__ws_reader *w)
{
  size_t size = length_size(w);

  w->left = size == 0 ? w->head[1] & LENGTH : 0;
  for (size_t i = 0; i < size; i++)
    w->left = w->left << 8 | w->head[2 + i];
  if ((size == 2 && w->left < TWO_BYTES) ||
      (size == 8 && (w->left <= UINT16_MAX || w->left >> 63 != 0)))
    return PAI__WS_PROTOCOL;
  return w->left > PAI__WS_FRAME ? PAI__WS_TOO_LARGE : 0;
}

/* Takes a byte of a head. */
static void take_head(pai__ws_reader *w, char byte)
{
  w->head[w->have++] = (unsigned char)byte;
  if (w->have == 2)
    w->closed = check_start(w);
  if (w->closed != 0 || w->have < 2 || w->have < 2 + length_size(w) + MASK)
    return;
  w->closed = read_length(w);
  memmove(w->head + 2, w->head + w->have - MASK, MASK);
  w->in_frame = true;
  w->turn = 0;
  w->control_len = 0;
}

/* --- frames -------------------------------------------------------------- */

/* Codes that an endpoint may send. */
static bool is_code(unsigned code)
{
  return (code >= 1000 && code <= 1014 && code != 1004 &&
          code != PAI__WS_NO_CODE && code != 1006) ||
         (code >= 3000 && code <= 4999);
}

static bool is_utf8(const char *text, size_t len)
{
  size_t n = 1;

  for (size_t i = 0; i < len && n > 0; i += n)
    n = pai__utf8_len(text + i, len - i);
  return n > 0;
}

static unsigned read_close(const pai__ws_reader *w)
{
  const char *text = (const char *)w->control;
  unsigned code = (unsigned)w->control[0] << 8 | w->control[1];

  if (w->control_len == 0)
    return PAI__WS_NORMAL;
  if (w->control_len == 1 || !is_code(code))
    return PAI__WS_PROTOCOL;
  return is_utf8(text + 2, w->control_len - 2) ? code : PAI__WS_INVALID;
}

static void end_frame(pai__ws_reader *w)
{
  unsigned opcode = w->head[0] & OPCODE;

  w->in_frame = false;
  w->have = 0;
  if (!is_control(opcode))
    w->in_message = (w->head[0] & FINAL) == 0;
  else if (opcode == PAI__WS_CLOSE)
    w->closed = read_close(w);
  if (opcode != PAI__WS_PING)
    return;
  w->pinged = true;
  memcpy(w->ping, w->control, w->control_len);
  w->ping_len = w->control_len;
}

/* Unmasks bytes of a payload to `to`, which may be before them. */
static void unmask(pai__ws_reader *w, char *to, const char *from, size_t len)
{
  const unsigned char *mask = w->head + 2;

  for (size_t i = 0; i < len; i++)
    to[i] = (char)((unsigned char)from[i] ^ mask[(w->turn + i) % MASK]);
  w->turn = (unsigned)((w->turn + len) % MASK);
  w->left -= len;
}

size_t pai__ws_read(pai__ws_reader *w, char *bytes, size_t len)
{
  size_t data = 0, at = 0;

  while (at < len && w->closed == 0) {
    size_t n = len - at < w->left ? len - at : (size_t)w->left;

    if (!w->in_frame) {
      take_head(w, bytes[at++]);
      n = 0;
    } else if (is_control(w->head[0] & OPCODE)) {
      unmask(w, (char *)w->control + w->control_len, bytes + at, n);
      w->control_len += n;
    } else {
      unmask(w, bytes + data, bytes + at, n);
      data += n;
    }
    at += n;
    if (w->in_frame && w->left == 0 && w->closed == 0)
      end_frame(w);
  }
  return data;
}

size_t pai__ws_head(unsigned char out[PAI__WS_HEAD],
                    enum pai__ws_opcode opcode, size_t len)
{
  out[0] = (unsigned char)(FINAL | opcode);
  out[1] = (unsigned char)(len < TWO_BYTES ? len : TWO_BYTES);
  out[2] = (unsigned char)(len >> 8);
  out[3] = (unsigned char)len;
  return len < TWO_BYTES ? 2 : 4;
}
