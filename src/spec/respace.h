/*
 * respace.h - internal to the room: a text that cannot be read, with other space
 *
 * Goes over YAML line by line, without a tree, and changes only what separates:
 * nothing in comments, in quotes or in brackets, and of the lines of a block
 * scalar only what they need to belong to it.
 */
#ifndef PAI_SRC_SPEC_RESPACE_H
#define PAI_SRC_SPEC_RESPACE_H

#include "base/buf.h"

enum { PAI__RESPACE_DEEPEST = 64 };

typedef struct pai__spacing {
  /* asked for */
  size_t tab;    /* spaces for each tab that indents; 0: tabs stay */
  uint32_t only; /* this line alone is changed: it is indented by `column` */
  size_t column;
  bool no_break;  /* no-break spaces that separate become spaces */
  uint32_t until; /* lines that `first` and `last` are looked for in */
  /* told */
  uint32_t tabs;        /* lines that tabs indent */
  pai__pos first, last; /* of those, where their tabs stand; line 0: none */
  size_t columns[PAI__RESPACE_DEEPEST]; /* where keys and dashes stand that the
                                           last of them may belong to */
  size_t depth;                         /* of them */
  size_t before, after;                 /* columns of the lines around it */
  pai__pos space; /* of the first no-break space; line 0: none */
  bool lost;      /* too deep to tell */
} pai__spacing;

/* Adds the text as it is asked for; `r` is zeroed but for that. */
void pai__respace(pai__buf *out, const char *text, size_t len,
                  pai__spacing *r);

#endif
