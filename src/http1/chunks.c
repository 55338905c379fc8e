/* chunks.c - parser of a chunked body */
#include "http1/http1.h"

enum {
  MOST_LINE = 256,      /* bytes of a chunk size and its extensions */
  MOST_TRAILERS = 4096, /* bytes after the last chunk */
  MOST_DIGITS = 15
};

enum state {
  SIZE = 0,
  EXTENSION,
  SIZE_END, /* LF, after the chunk size and CR */
  DATA,
  DATA_CR,
  DATA_LF,
  TRAILER, /* at the start of a line */
  IN_NAME, /* of a trailer */
  IN_TRAILER,
  TRAILER_END,
  LAST_END,
  OVER
};

static int digit(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static bool is_text(char c)
{
  return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static bool read_size(pai__http1_chunks *k, char c)
{
  int d = digit(c);

  if (d >= 0) {
    k->left = k->left << 4 | (uint64_t)d;
    k->digits = true;
    return k->line <= MOST_DIGITS;
  }
  k->state = c == '\r' ? SIZE_END : EXTENSION;
  return k->digits && (c == '\r' || c == ';');
}

/* Ends the line of a chunk size. */
static void begin_chunk(pai__http1_chunks *k)
{
  k->state = k->left > 0 ? DATA : TRAILER;
  k->line = 0;
  k->digits = false;
}

/* Takes a byte outside of chunk data.  Returns false if it is not allowed
 * there. */
static bool step(pai__http1_chunks *k, char c)
{
  if (++k->line > (k->state < TRAILER ? MOST_LINE : MOST_TRAILERS))
    return false;
  switch ((enum state)k->state) {
  case SIZE: return read_size(k, c);
  case EXTENSION:
    if (c == '\r')
      k->state = SIZE_END;
    return c == '\r' || is_text(c);
  case SIZE_END: begin_chunk(k); return c == '\n';
  case DATA_CR: k->state = DATA_LF; return c == '\r';
  case DATA_LF:
    k->state = SIZE;
    k->line = 0;
    return c == '\n';
  case TRAILER:
    k->state = c == '\r' ? LAST_END : IN_NAME;
    return c == '\r' || pai__http1_is_token(c);
  case IN_NAME:
    if (c == ':')
      k->state = IN_TRAILER;
    return c == ':' || pai__http1_is_token(c);
  case IN_TRAILER:
    if (c == '\r')
      k->state = TRAILER_END;
    return c == '\r' || is_text(c);
  case TRAILER_END: k->state = TRAILER; return c == '\n';
  case LAST_END:
    k->state = OVER;
    k->over = true;
    return c == '\n';
  case DATA:
  case OVER: break;
  }
  return false;
}

size_t pai__http1_read_chunks(pai__http1_chunks *k, const char *bytes,
                              size_t len, const char **data, size_t *size)
{
  size_t at = 0;

  *data = bytes;
  *size = 0;
  while (at < len && !k->over && k->fault.status == 0) {
    if (k->state == DATA) {
      *data = bytes + at;
      *size = len - at < k->left ? len - at : (size_t)k->left;
      k->left -= *size;
      if (k->left == 0)
        k->state = DATA_CR;
      k->line = 0;
      return at + *size;
    }
    if (!step(k, bytes[at++]))
      k->fault = (pai__http1_fault){ 400, "its body is not in sound chunks" };
  }
  if (k->fault.status != 0)
    k->over = false;
  return at;
}
