/*
 * http1.h - strict parser of HTTP/1.0 and HTTP/1.1 requests (RFC 9112)
 *
 * The caller passes bytes as they arrive.  The parser allocates nothing and
 * does no input or output.  It refuses what two parsers could read
 * differently: lines that do not end with CRLF, folded lines, control
 * characters, spaces before a colon, a missing or second Host, a second
 * Content-Length, a Content-Length with a chunked body.
 */
#ifndef PAI_SRC_HTTP1_HTTP1_H
#define PAI_SRC_HTTP1_HTTP1_H

#include "base/base.h"

enum {
  PAI__HTTP1_HEAD = 16 << 10,   /* largest head, in bytes */
  PAI__HTTP1_TARGET = 12 << 10, /* largest target in it */
  PAI__HTTP1_FIELDS = 100
};

/* Why a request is refused: the status to answer, and the end of a
 * sentence. */
typedef struct pai__http1_fault {
  int status; /* 0: no fault */
  const char *why;
} pai__http1_fault;

/* Offsets rather than pointers, as the bytes may move while a head grows. */
typedef struct pai__http1_field {
  uint16_t name, value;
} pai__http1_field;

typedef struct pai__http1_head {
  size_t line; /* start of the current line */
  size_t seen; /* the first byte that was not parsed yet */
  bool begun;  /* the first line was parsed */
  bool whole;  /* the head is complete and has `seen` bytes */
  uint16_t method, target, version;
  bool old;      /* HTTP/1.0 */
  bool chunked;  /* the body is chunked; else it has `length` bytes */
  bool measured; /* the head has a Content-Length */
  uint64_t length;
  size_t nfields;
  pai__http1_field fields[PAI__HTTP1_FIELDS];
  pai__http1_fault fault;
} pai__http1_head;

/* Continues to parse a head, which must be zeroed before the first call.
 * `bytes` has all `len` bytes so far, those of earlier calls too; the parser
 * ends names and values with NULs in place.  Returns false if more bytes are
 * needed, true if the head is complete or has a fault. */
bool pai__http1_read_head(pai__http1_head *head, char *bytes, size_t len);
/* Returns the value of the first field of that name at or after index *at, and
 * moves *at behind it.  Returns NULL if there is none. */
const char *pai__http1_find(const pai__http1_head *head, const char *bytes,
                            const char *name, size_t *at);
/* Returns whether the list in a field of that name has the word. */
bool pai__http1_has(const pai__http1_head *head, const char *bytes,
                    const char *name, const char *word);
/* Returns the path of a target, without scheme and host: "/..." or "*". */
const char *pai__http1_path(const char *target);

/* Returns whether a character may be in a token, as a field name is. */
bool pai__http1_is_token(char c);

/* State of a chunked body. */
typedef struct pai__http1_chunks {
  int state;
  uint64_t left; /* bytes left of the chunk */
  size_t line;   /* bytes of the line, or of all trailers */
  bool digits;   /* the chunk size has a digit */
  bool over;     /* the body is complete */
  pai__http1_fault fault;
} pai__http1_chunks;

/* Parses up to the end of the next piece of the body.  Returns how many bytes
 * were consumed.  *data and *size receive the body's bytes among them; *size
 * may be 0. */
size_t pai__http1_read_chunks(pai__http1_chunks *k, const char *bytes,
                              size_t len, const char **data, size_t *size);

#endif
