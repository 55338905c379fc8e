/* utf8.h - reads, writes and checks UTF-8 characters */
#ifndef PAI_SRC_BASE_TEXT_UTF8_H
#define PAI_SRC_BASE_TEXT_UTF8_H

#include "base/base.h"

/* Returns the length of the well-formed character at s, 1 to 4, or 0 if it is
 * invalid (cut off, overlong, a surrogate, beyond U+10FFFF). left > 0. */
size_t pai__utf8_len(const char *s, size_t left);

/* Returns the length of an invalid sequence to replace by one U+FFFD: the
 * longest valid beginning of a character, at least 1. */
size_t pai__utf8_bad(const char *s, size_t left);

/* Returns the character at s, whose length is n by pai__utf8_len(). */
uint32_t pai__utf8_get(const char *s, size_t n);

/* Writes a scalar value; returns its 1 to 4 bytes. */
size_t pai__utf8_put(char *dst, uint32_t c);

/* Returns whether a terminal may interpret the character of n bytes: C0, DEL,
 * C1. */
static inline bool pai__is_control(const char *s, size_t n)
{
  return n == 1 ? (unsigned char)*s < ' ' || *s == 0x7f
                : n == 2 && *s == '\xc2' && (unsigned char)s[1] < 0xa0;
}

/* Replaces characters that a terminal may interpret, line ends included, by
 * question marks. */
void pai__defuse(char *text);

/* Writes an excerpt of a text for a message: one line, well-formed, cut if
 * long.  Returns out. */
enum { PAI__EXCERPT = 80 };
const char *pai__excerpt(char out[PAI__EXCERPT], const char *s, size_t len);

/* Returns whether a byte begins a character: all but 10xxxxxx do. */
static inline bool pai__utf8_first(char byte)
{
  return ((unsigned char)byte & 0xc0) != 0x80;
}

#endif
