/*
 * respace.h - internal to the room: changes the space of a text that cannot be
 * parsed
 *
 * Scans YAML line by line, without a tree, and changes only separating space.
 * Comments, quoted texts and the indentation inside brackets stay.  Lines of a
 * block scalar are changed only as far as they need it to belong to the
 * scalar.
 */
#ifndef PAI_SRC_SPEC_FIX_RESPACE_H
#define PAI_SRC_SPEC_FIX_RESPACE_H

#include "base/buf.h"

enum { PAI__RESPACE_DEEPEST = 64 };

typedef struct pai__spacing {
  /* input: */
  size_t tab;    /* spaces for each tab that indents; 0: tabs stay */
  uint32_t only; /* changes only this line, which gets `column` spaces; 0: all
                    lines */
  size_t column;
  bool no_break;  /* makes spaces of separating no-break spaces */
  uint32_t until; /* last line to search for `first` and `last` */
  /* result: */
  uint32_t tabs;        /* lines that tabs indent */
  pai__pos first, last; /* tab of the first and last of them; line 0: none */
  size_t columns[PAI__RESPACE_DEEPEST]; /* columns of keys and dashes to which
                                           the line of `last` may belong */
  size_t depth;                         /* number of columns */
  size_t before, after;                 /* columns of the lines before and
                                           after it */
  pai__pos space; /* the first no-break space; line 0: none */
  bool lost;      /* nested too deep for `columns` */
} pai__spacing;

/* Appends the changed text to out.  All of `r` but its input must be
 * zeroed. */
void pai__respace(pai__buf *out, const char *text, size_t len,
                  pai__spacing *r);

#endif
