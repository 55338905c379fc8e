/*
 * lines.h - internal: the lines of a text that is read piece by piece
 *
 * It may be longer than memory; one line of it must not.
 */
#ifndef PAI_SRC_SIM_LINES_H
#define PAI_SRC_SIM_LINES_H

#include "base/buf.h"

#include <openpai/replay.h>

typedef struct pai__lines {
  pai_read_at_cb read;
  void *user_data;
  uint64_t size;
  uint64_t from; /* where in the text the bytes that are here begin */
  pai__buf here;
} pai__lines;

typedef struct pai__line_text {
  const char *text; /* without its newline; until the next call */
  size_t len;
  uint64_t at, next; /* where it begins, and where the one behind it does */
  bool whole;        /* it has its newline */
} pai__line_text;

void pai__lines_init(pai__lines *l, const pai_alloc *alloc,
                     pai_read_at_cb read, void *user_data, uint64_t size);
void pai__lines_dispose(pai__lines *l);

/* The line that begins at `at`.  1; 0: there is none; or a code. */
int pai__lines_next(pai__lines *l, uint64_t at, pai__line_text *line,
                    pai_error **err);
/* The first line that is not empty, of those that begin at `at`, where one
 * does, or behind it.  1; 0: there is none; or a code. */
int pai__lines_get(pai__lines *l, uint64_t at, pai__line_text *line,
                   pai_error **err);
/* Where the first line begins that does so behind `at`; the end for none.
 * PAI_OK or a code. */
int pai__lines_behind(pai__lines *l, uint64_t at, uint64_t *begin,
                      pai_error **err);
/* Where the last line begins that does so before `before`, and is not the first
 * one, and begins with `word`; 0 for none.  PAI_OK or a code. */
int pai__lines_last(pai__lines *l, uint64_t before, const char *word,
                    uint64_t *begin, pai_error **err);
/* How many newlines are before `at`.  PAI_OK or a code. */
int pai__lines_count(pai__lines *l, uint64_t at, uint64_t *count,
                     pai_error **err);

#endif
