/* fix_parts.h - internal to fix*.c */
#ifndef PAI_SRC_SPEC_FIX_FIX_PARTS_H
#define PAI_SRC_SPEC_FIX_FIX_PARTS_H

#include "spec/edit/gap.h"
#include "spec/fix/fix.h"

/* No name or removal is offered beyond so many findings, as each may search
 * the whole file. */
enum { PAI__MOST_MENDED = 100 };

/* Returns whether a list or mapping is written without brackets. */
static inline bool pai__mend_is_block(const pai__tree *t, pai__node n)
{
  return t->syntax == PAI__SYNTAX_YAML &&
         (t->nodes[n].flags & PAI__STYLE) != PAI__FLOW;
}

/* Returns the characters before a byte on its line; SIZE_MAX if there are tabs
 * among them. */
size_t pai__mend_column(const pai__tree *t, size_t at);

/* Replaces [start, end) by a line break, `column` spaces and a text. */
void pai__mend_change_to_line(pai__findings *f, pai__fix *fix, size_t start,
                              size_t end, size_t column, const char *text,
                              size_t len);

#endif
