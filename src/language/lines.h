/*
 * lines.h - internal to the room: where lines begin, and positions of the
 * protocol
 *
 * Lines end with LF, CR LF or CR, as in the reports of checks.  A position is
 * a line from 0, and a number of units before it in that line: bytes, UTF-16
 * code units or characters, as the client and the server have agreed.
 */
#ifndef PAI_SRC_LANGUAGE_LINES_H
#define PAI_SRC_LANGUAGE_LINES_H

#include "base/buf.h"

enum pai__language_unit {
  PAI__UNIT_UTF8,
  PAI__UNIT_UTF16,
  PAI__UNIT_UTF32,
  PAI__UNITS
};

typedef struct pai__language_position {
  uint32_t line, character;
} pai__language_position;

/* A place that was converted before.  Places are mostly asked for in the order
 * of the text, so the next one is not far from it: a line may be a megabyte. */
typedef struct pai__language_cursor {
  size_t line, offset, units;
} pai__language_cursor;

typedef struct pai__language_lines {
  size_t *starts; /* byte at which each line begins; the first is 0 */
  size_t count, cap;
  pai__language_cursor cursors[PAI__UNITS];
} pai__language_lines;

void pai__language_lines_dispose(pai__language_lines *lines,
                                 const pai_alloc *alloc);

/* Finds the lines of a text.  Returns PAI_OK or PAI_ENOMEM. */
int pai__language_lines_read(pai__language_lines *lines,
                             const pai_alloc *alloc, const char *text,
                             size_t len);

/* Corrects the lines after bytes [start, end) of a text of `old_len` bytes were
 * replaced; `text` is the new text.  Returns PAI_OK; after PAI_ENOMEM the
 * lines must be read again. */
int pai__language_lines_replace(pai__language_lines *lines,
                                const pai_alloc *alloc, const char *text,
                                size_t len, size_t old_len, size_t start,
                                size_t end);

/* Returns the byte at a position, or the nearest one: the end of a shorter
 * line, the end of the text. */
size_t pai__language_lines_offset(pai__language_lines *lines, const char *text,
                                  size_t len, enum pai__language_unit unit,
                                  pai__language_position at);

/* Returns the position of byte `offset`, at most `len`. */
pai__language_position pai__language_lines_position(
  pai__language_lines *lines, const char *text, size_t len,
  enum pai__language_unit unit, size_t offset);

/* Returns the end of a line, before its line end. */
size_t pai__language_lines_end(const pai__language_lines *lines,
                               const char *text, size_t len, size_t line);

/* Returns the line, from 0, that has a byte. */
size_t pai__language_lines_find(const pai__language_lines *lines,
                                size_t offset);

#endif
