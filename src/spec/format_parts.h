/* format_parts.h - internal to format*.c: a file on its way */
#ifndef PAI_SRC_SPEC_FORMAT_PARTS_H
#define PAI_SRC_SPEC_FORMAT_PARTS_H

#include "spec/format.h"
#include "spec/gap.h"

/* A comment of the text, with its mark and without its line end. */
typedef struct pai__comment {
  uint32_t start, end;
} pai__comment;

typedef struct pai__format_state {
  const pai__tree *t;
  pai__buf *out;
  size_t base; /* bytes that out had before */
  pai__buf scratch;
  pai__comment *comments;
  size_t ncomments, cap;
  size_t next;    /* the first comment that is not in out */
  bool keeps;     /* the literal above ends with what looks like an empty line,
                     or would take one for its own */
  pai__node fail; /* a node without canonical layout, or PAI__NO_NODE */
} pai__format_state;

/* --- comments (comments.c) ---------------------------------------------- */

/* Finds all comments.  PAI_OK or PAI_ENOMEM. */
int pai__comments_find(pai__format_state *f);

/* Whether a comment is left that begins before a byte. */
static inline bool pai__comments_before(const pai__format_state *f,
                                        size_t limit)
{
  return f->next < f->ncomments && f->comments[f->next].start < limit;
}

/* Writes the comments that begin before a byte, each on its line. */
void pai__comments_above(pai__format_state *f, size_t limit, size_t column);
/* Writes those below the last entry of a collection in block style that are
 * indented as its entries are, or deeper. */
void pai__comments_below(pai__format_state *f, pai__node n, size_t column);
/* Ends a line of which the text goes on at a byte: with the comment that is on
 * the same line there, before node `next`. */
void pai__comments_end_line(pai__format_state *f, size_t from, pai__node next);

/* An empty line, if there are some above a byte that begins a line. */
void pai__comments_gap(pai__format_state *f, size_t at);
void pai__format_indent(pai__format_state *f, size_t column);

/* --- the two syntaxes ---------------------------------------------------- */

void pai__format_json(pai__format_state *f);
void pai__format_yaml(pai__format_state *f);

/* --- scalars, keys, anchors (format_scalar.c) ---------------------------- */

/* A scalar or alias that is no block: its text, with its anchor and tag. */
void pai__format_scalar(pai__format_state *f, size_t from, pai__node n);
/* Whether a scalar is written as a literal block. */
bool pai__format_is_literal(const pai__format_state *f, pai__node n,
                            bool *indicator);
/* Anchor and tag that stand behind a byte, each with a space before it if
 * `space`; returns whether there is a tag.  *end is where they end. */
bool pai__format_props(pai__format_state *f, size_t from, pai__node n,
                       bool space, size_t *end);
/* A key and its colon; `from` is a byte before it. */
void pai__format_key(pai__format_state *f, size_t from, pai__node key,
                     size_t column);
/* [a, b] into f->scratch; false when it shall not stay on one line. */
bool pai__format_flow(pai__format_state *f, pai__node n);

#endif
