/* line_diff.h - internal to the room: the edits that make one text another */
#ifndef PAI_SRC_LANGUAGE_LINE_DIFF_H
#define PAI_SRC_LANGUAGE_LINE_DIFF_H

#include "language/facts/facts.h"

/* Replaces a span of the old text by bytes of the new text. */
typedef struct pai__line_edit {
  pai__span span;
  const char *text;
  size_t len;
} pai__line_edit;

typedef struct pai__line_diff {
  const pai_alloc *alloc;
  pai__line_edit *edits; /* in the order of the text, without overlaps */
  size_t count, cap;
} pai__line_diff;

/* Compares two texts line by line, and within changed lines.  Returns PAI_OK or
 * PAI_ENOMEM; dispose of *out in either case. */
int pai__line_diff_read(pai__line_diff *out, const pai_alloc *alloc,
                        pai__bytes before, pai__bytes after);
void pai__line_diff_dispose(pai__line_diff *d);

#endif
