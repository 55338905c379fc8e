/* edit_parts.h - internal to edit*.c: an edit under way */
#ifndef PAI_SRC_SPEC_EDIT_PARTS_H
#define PAI_SRC_SPEC_EDIT_PARTS_H

#include "spec/edit.h"
#include "spec/gap.h"
#include "spec/path.h"
#include "spec/write.h"

typedef struct pai__edit {
  const pai__tree *t;
  const pai__tree *value; /* NULL: unset */
  pai__path path;
  pai__buf *out;
  size_t base;      /* bytes that out had before */
  size_t done;      /* bytes of the text that are in out, or dropped */
  const char *eol;  /* the text's line break */
  bool one_line;    /* the new value shall stand on one line */
  pai__tree **made; /* NULL, or receives the new text's tree */

  /* Where it is: the steps before `step` lead to `node`. */
  size_t step;
  pai__node node;
  pai__node parent; /* the collection that node is in, or PAI__NO_NODE */
  pai__node key;    /* node's, in a mapping; or PAI__NO_NODE */
  pai__node before; /* the item or value before it; or PAI__NO_NODE */
  pai__node before_key;
  bool in_flow; /* in brackets: no block may stand there */
} pai__edit;

static inline bool pai__edit_json(const pai__edit *e)
{
  return e->t->syntax == PAI__SYNTAX_JSON;
}

/* --- finding (edit_find.c) ---------------------------------------------- */

/* Follows the path as far as there is something. */
int pai__edit_find(pai__edit *e, pai_error **err);

/* "'a.b' WHAT", with the place of a node; the path as far as e->step. */
int pai__edit_fail(const pai__edit *e, int code, pai__node n, pai_error **err,
                   const char *what, ...) PAI__PRINTF(5, 6);
/* There is no such thing as the next step names. */
int pai__edit_fail_step(const pai__edit *e, int code, pai_error **err);

/* --- checking (edit_check.c) -------------------------------------------- */

/* Reads what was written.  *good says that it means what it should; then that
 * is e->made. */
int pai__edit_check(const pai__edit *e, bool *good, pai_error **err);
/* Fails with the reason why it cannot. */
int pai__edit_explain(const pai__edit *e, pai_error **err);

/* --- copying (edit.c) --------------------------------------------------- */

/* Copies the text up to a byte, or leaves it out. */
void pai__edit_keep(pai__edit *e, size_t to);
void pai__edit_drop(pai__edit *e, size_t to);
/* A line break and so many spaces. */
void pai__edit_line(pai__edit *e, size_t column);

/* Where a mark (':', '-', ',') stands if it is the next thing behind a byte,
 * else the end of the text. */
size_t pai__edit_mark(const pai__edit *e, size_t from, char mark);

/* The end of an entry or item whose value is n, with the ':' that stands
 * before nothing. */
size_t pai__edit_end(const pai__edit *e, pai__node key, pai__node n);

/* The last value or item as written, and its key; PAI__NO_NODE for none. */
pai__node pai__edit_last(const pai__tree *t, pai__node n, pai__node *key);

/* --- new text in block style (edit_piece.c) ------------------------------ */

typedef struct pai__edit_piece {
  pai__buf text;
  bool below; /* a collection: all of it belongs on lines of its own; else
                 the first line goes behind "key:", the others below it */
} pai__edit_piece;

/* Writes what is missing from a step on, and the value; or `fixed`. */
void pai__edit_make_piece(const pai__edit *e, size_t step, const char *fixed,
                          pai__edit_piece *p);
/* Adds one line to out; returns what comes behind it, or NULL. */
const char *pai__edit_put_line(pai__edit *e, const char *line);
/* Adds lines, each below what is there and from a column on. */
void pai__edit_put_lines(pai__edit *e, const char *line, size_t column);

/* --- each of them: in block style, in brackets --------------------------- */

/* e->node becomes the value, below the mappings that are missing; with
 * `fixed`, that text. */
void pai__edit_block_replace(pai__edit *e, const char *fixed);
void pai__edit_flow_replace(pai__edit *e, const char *fixed);
/* e->node, which has entries or items, gets one more. */
void pai__edit_block_add(pai__edit *e);
void pai__edit_flow_add(pai__edit *e);
/* e->node goes, with its key; it is not the only one in e->parent. */
void pai__edit_block_remove(pai__edit *e);
void pai__edit_flow_remove(pai__edit *e);

/* What is missing from a step on, and the value, on one line. */
void pai__edit_put_flow(const pai__edit *e, pai__buf *out, size_t step,
                        pai__flow how);

#endif
