/* format_parts.h - internal to format*.c: state and parts of the formatter */
#ifndef PAI_SRC_SPEC_FORMAT_FORMAT_PARTS_H
#define PAI_SRC_SPEC_FORMAT_FORMAT_PARTS_H

#include "spec/format/format.h"
#include "spec/edit/gap.h"

/* A comment of the text, from its mark to its line end. */
typedef struct pai__comment {
  uint32_t start, end;
} pai__comment;

typedef struct pai__format_state {
  const pai__tree *t;
  pai__buf *out;
  size_t base; /* bytes that were in out before */
  pai__buf scratch;
  pai__comment *comments;
  size_t ncomments, cap;
  size_t next;    /* the first comment that is not in out yet */
  bool keeps;     /* the literal block above ends with a blank line, so an
                     empty line after it would become part of it */
  pai__node fail; /* a node without canonical layout, or PAI__NO_NODE */
} pai__format_state;

/* --- comments (edit/comments.c) ----------------------------------------- */

/* Finds all comments.  Returns PAI_OK or PAI_ENOMEM. */
int pai__comments_find(pai__format_state *f);

/* Returns whether a comment before a byte is still to be written. */
static inline bool pai__comments_before(const pai__format_state *f,
                                        size_t limit)
{
  return f->next < f->ncomments && f->comments[f->next].start < limit;
}

/* Writes the comments that begin before a byte, each on its own line. */
void pai__comments_above(pai__format_state *f, size_t limit, size_t column);
/* Writes the comments below the last entry of a block-style collection that
 * are indented as its entries or further. */
void pai__comments_below(pai__format_state *f, pai__node n, size_t column);
/* Ends a line whose text continues at a byte, with the comment that follows on
 * that line before node `next`. */
void pai__comments_end_line(pai__format_state *f, size_t from, pai__node next);

/* Writes an empty line if there are some above a byte that begins a line. */
void pai__comments_gap(pai__format_state *f, size_t at);
void pai__format_indent(pai__format_state *f, size_t column);

/* --- the two syntaxes ---------------------------------------------------- */

void pai__format_json(pai__format_state *f);
void pai__format_yaml(pai__format_state *f);

/* --- scalars, keys, anchors (format_scalar.c) ---------------------------- */

/* Writes a scalar or alias that is not a block scalar, with its anchor and
 * tag. */
void pai__format_scalar(pai__format_state *f, size_t from, pai__node n);
/* Returns whether a scalar is written as a literal block. */
bool pai__format_is_literal(const pai__format_state *f, pai__node n,
                            bool *indicator);
/* Writes the anchor and tag of a node after byte `from`, each with a space
 * before it if `space` is true.  Returns whether there is a tag.  *end is
 * where they end. */
bool pai__format_props(pai__format_state *f, size_t from, pai__node n,
                       bool space, size_t *end);
/* Writes a key and its colon; `from` is a byte before the key. */
void pai__format_key(pai__format_state *f, size_t from, pai__node key,
                     size_t column);
/* Writes [a, b] into f->scratch.  Returns false if the collection must not
 * stay on one line. */
bool pai__format_flow(pai__format_state *f, pai__node n);

#endif
