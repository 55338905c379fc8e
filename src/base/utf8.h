/* utf8.h - UTF-8, one character at a time */
#ifndef PAI_SRC_BASE_UTF8_H
#define PAI_SRC_BASE_UTF8_H

#include "base/base.h"

/* Bytes of the well-formed character at s, 1 to 4, or 0 when there is none
 * (cut off, overlong, a surrogate, beyond U+10FFFF).  left > 0. */
size_t pai__utf8_len(const char *s, size_t left);

/* Bytes to replace by one U+FFFD where there is none: as many as a character
 * could have begun with, at least 1. */
size_t pai__utf8_bad(const char *s, size_t left);

/* The character at s, of which pai__utf8_len() gave n bytes. */
uint32_t pai__utf8_get(const char *s, size_t n);

/* Writes a scalar value; returns its 1 to 4 bytes. */
size_t pai__utf8_put(char *dst, uint32_t c);

/* Would a terminal act on the character of n bytes: C0, DEL, C1? */
static inline bool pai__is_control(const char *s, size_t n)
{
  return n == 1 ? (unsigned char)*s < ' ' || *s == 0x7f
                : n == 2 && *s == '\xc2' && (unsigned char)s[1] < 0xa0;
}

/* Makes one line of a message, and a question mark of each byte that a
 * terminal would act on. */
void pai__defuse(char *text);

/* A piece of a text for a message: on one line, well-formed, cut if long.
 * Returns out. */
enum { PAI__EXCERPT = 80 };
const char *pai__excerpt(char out[PAI__EXCERPT], const char *s, size_t len);

/* Bytes that begin a character: all but 10xxxxxx. */
static inline bool pai__utf8_first(char byte)
{
  return ((unsigned char)byte & 0xc0) != 0x80;
}

#endif
