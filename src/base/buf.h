/*
 * buf.h - growable byte buffer and string builder
 *
 * Failure is sticky: once out of memory, every later call does nothing, and
 * one check of pai__buf_ok() at the end is enough.
 */
#ifndef PAI_SRC_BASE_BUF_H
#define PAI_SRC_BASE_BUF_H

#include "base/base.h"

typedef struct pai__buf {
  const pai_alloc *alloc; /* borrowed */
  char *data;             /* NULL or NUL-terminated */
  size_t len;             /* without the NUL */
  size_t cap;
  bool failed;
} pai__buf;

void pai__buf_init(pai__buf *b, const pai_alloc *alloc);
void pai__buf_dispose(pai__buf *b);
void pai__buf_wipe(pai__buf *b);  /* overwrites the content, then disposes */
void pai__buf_clear(pai__buf *b); /* empties it, keeps the memory, resets
                                     failure */
void pai__buf_cut(pai__buf *b, size_t len); /* shortens it, resets failure */

/* Ensures space for `more` bytes and a NUL at data + len; false when out of
 * memory. */
bool pai__buf_grow(pai__buf *b, size_t more);

static inline bool pai__buf_reserve(pai__buf *b, size_t more)
{
  /* cap > len once there is memory */
  return (!b->failed && b->cap - b->len > more) || pai__buf_grow(b, more);
}

void pai__buf_add(pai__buf *b, const void *bytes, size_t n);
/* As pai__buf_add(), as a pai_write_cb whose user_data is the buffer. */
int pai__buf_write(void *user_data, const char *bytes, size_t len);
void pai__buf_str(pai__buf *b, const char *s);
void pai__buf_char(pai__buf *b, char c);
void pai__buf_printf(pai__buf *b, const char *fmt, ...) PAI__PRINTF(2, 3);
void pai__buf_vprintf(pai__buf *b, const char *fmt, va_list ap)
  PAI__PRINTF(2, 0);

static inline bool pai__buf_ok(const pai__buf *b)
{
  return !b->failed;
}

/* Returns the text, never NULL; valid until the next call. */
const char *pai__buf_text(const pai__buf *b);

/* Moves the text out as a string of its allocator (pai__strfree); NULL when
 * out of memory.  The buffer is empty afterwards. */
char *pai__buf_take(pai__buf *b);

#endif
