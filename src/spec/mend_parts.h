/* mend_parts.h - internal to mend*.c */
#ifndef PAI_SRC_SPEC_MEND_PARTS_H
#define PAI_SRC_SPEC_MEND_PARTS_H

#include "spec/gap.h"
#include "spec/mend.h"

/* Findings: for each that is mended the whole file may be looked through. */
enum { PAI__MOST_MENDED = 100 };

/* A list or mapping without brackets. */
static inline bool pai__mend_is_block(const pai__tree *t, pai__node n)
{
  return t->syntax == PAI__SYNTAX_YAML &&
         (t->nodes[n].flags & PAI__STYLE) != PAI__FLOW;
}

/* Characters before a byte on its line; SIZE_MAX: tabs are among them. */
size_t pai__mend_column(const pai__tree *t, size_t at);

/* A line break, so many spaces, and a text of that length. */
void pai__mend_change_to_line(pai__findings *f, pai__fix *fix, size_t start,
                              size_t end, size_t column, const char *text,
                              size_t len);

#endif
