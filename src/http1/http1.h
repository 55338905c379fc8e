/*
 * http1.h - reads requests of HTTP/1.0 and HTTP/1.1 strictly (RFC 9112)
 *
 * Bytes go in as they come; nothing is allocated and nothing is read or sent
 * here.  What two readers may read differently is refused: lines that end
 * without CRLF, folded lines, control characters, spaces before a colon, no
 * Host or two, two lengths, a length beside chunks.
 */
#ifndef PAI_SRC_HTTP1_HTTP1_H
#define PAI_SRC_HTTP1_HTTP1_H

#include "base/base.h"

enum {
  PAI__HTTP1_HEAD = 16 << 10,   /* most bytes of a head */
  PAI__HTTP1_TARGET = 12 << 10, /* of which the target */
  PAI__HTTP1_FIELDS = 100
};

/* What is wrong with a request: the status to answer, and a sentence's end. */
typedef struct pai__http1_fault {
  int status; /* 0: nothing */
  const char *why;
} pai__http1_fault;

/* Offsets, as the bytes may move while a head grows. */
typedef struct pai__http1_field {
  uint16_t name, value;
} pai__http1_field;

typedef struct pai__http1_head {
  size_t line; /* where the current line begins, */
  size_t seen; /* and the first byte that was not looked at */
  bool begun;  /* the first line was read */
  bool whole;  /* the head is whole, of `seen` bytes */
  uint16_t method, target, version;
  bool old;      /* HTTP/1.0 */
  bool chunked;  /* a body in chunks, or of `length` bytes */
  bool measured; /* there is a Content-Length */
  uint64_t length;
  size_t nfields;
  pai__http1_field fields[PAI__HTTP1_FIELDS];
  pai__http1_fault fault;
} pai__http1_head;

/* Goes on with a head, of which `len` bytes are at `bytes`, those of the calls
 * before among them; names and values become texts there.  It is zeroed at
 * first.  False: more bytes are needed; else it is whole, or has a fault. */
bool pai__http1_read_head(pai__http1_head *head, char *bytes, size_t len);
/* The value of the first field of that name at or behind *at, which goes on
 * behind it; NULL: there is none. */
const char *pai__http1_find(const pai__http1_head *head, const char *bytes,
                            const char *name, size_t *at);
/* Whether a field of that name has the word in its list. */
bool pai__http1_has(const pai__http1_head *head, const char *bytes,
                    const char *name, const char *word);
/* What a target asks for, without the scheme and the host that may stand
 * before it: "/..." or "*". */
const char *pai__http1_path(const char *target);

/* A character of a name or a word. */
bool pai__http1_is_token(char c);

/* A body in chunks. */
typedef struct pai__http1_chunks {
  int state;
  uint64_t left; /* of the chunk */
  size_t line;   /* bytes of a line, or of all trailers */
  bool digits;   /* the size has one */
  bool over;     /* nothing of the body follows */
  pai__http1_fault fault;
} pai__http1_chunks;

/* Reads up to the end of the next piece of the body.  Returns how many bytes of
 * `bytes` were read, of which *data has *size, which may be none. */
size_t pai__http1_read_chunks(pai__http1_chunks *k, const char *bytes,
                              size_t len, const char **data, size_t *size);

#endif
