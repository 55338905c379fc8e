/* edit_parts.h - internal to edit*.c: state and parts of an edit */
#ifndef PAI_SRC_SPEC_EDIT_EDIT_PARTS_H
#define PAI_SRC_SPEC_EDIT_EDIT_PARTS_H

#include "spec/edit/edit.h"
#include "spec/edit/gap.h"
#include "spec/edit/path.h"
#include "spec/format/write.h"

typedef struct pai__edit {
  const pai__tree *t;
  const pai__tree *value; /* NULL: remove */
  pai__path path;
  pai__buf *out;
  size_t base;      /* bytes that were in out before */
  size_t done;      /* bytes of the text that are copied or dropped */
  const char *eol;  /* the text's line break */
  bool one_line;    /* write the new value on one line */
  pai__tree **made; /* receives the new text's tree; or NULL */

  /* The current place: the steps before `step` lead to `node`. */
  size_t step;
  pai__node node;
  pai__node parent; /* the collection of node, or PAI__NO_NODE */
  pai__node key;    /* the key of node, or PAI__NO_NODE */
  pai__node before; /* the item or value before node, or PAI__NO_NODE */
  pai__node before_key;
  bool in_flow; /* in brackets, where no block may be */
} pai__edit;

static inline bool pai__edit_json(const pai__edit *e)
{
  return e->t->syntax == PAI__SYNTAX_JSON;
}

/* --- finding (edit_find.c) ---------------------------------------------- */

/* Follows the path as far as it exists. */
int pai__edit_find(pai__edit *e, pai_error **err);

/* Fails with "'a.b' WHAT" at a node; 'a.b' is the path up to e->step. */
int pai__edit_fail(const pai__edit *e, int code, pai__node n, pai_error **err,
                   const char *what, ...) PAI__PRINTF(5, 6);
/* Fails because the next step does not exist. */
int pai__edit_fail_step(const pai__edit *e, int code, pai_error **err);

/* --- checking (edit_check.c) -------------------------------------------- */

/* Parses the new text.  *good says that it means what was asked for.  If so,
 * e->made receives its tree. */
int pai__edit_check(const pai__edit *e, bool *good, pai_error **err);
/* Fails with the reason why the edit is not possible. */
int pai__edit_explain(const pai__edit *e, pai_error **err);

/* --- copying (edit.c) --------------------------------------------------- */

/* Copy the text up to a byte, or leave it out. */
void pai__edit_keep(pai__edit *e, size_t to);
void pai__edit_drop(pai__edit *e, size_t to);
/* Writes a line break and `column` spaces. */
void pai__edit_line(pai__edit *e, size_t column);

/* Returns where a mark (':', '-', ',') is, if only space and comments are
 * between it and `from`; else the end of the text. */
size_t pai__edit_mark(const pai__edit *e, size_t from, char mark);

/* Returns the end of an entry or item whose value is n, including a ':'
 * without a value. */
size_t pai__edit_end(const pai__edit *e, pai__node key, pai__node n);

/* Returns the last value or item in the order of the text, and its key;
 * PAI__NO_NODE if there is none. */
pai__node pai__edit_last(const pai__tree *t, pai__node n, pai__node *key);

/* --- new text in block style (edit_piece.c) ------------------------------ */

typedef struct pai__edit_piece {
  pai__buf text;
  bool below; /* a collection on lines of its own; else the first line goes
                 after "key:" and the others below it */
} pai__edit_piece;

/* Renders the missing steps from `step` on with the value, or the text `fixed`
 * if it is not NULL. */
void pai__edit_make_piece(const pai__edit *e, size_t step, const char *fixed,
                          pai__edit_piece *p);
/* Writes one line.  Returns the lines after it, or NULL. */
const char *pai__edit_put_line(pai__edit *e, const char *line);
/* Writes lines, each on a new line and indented to a column. */
void pai__edit_put_lines(pai__edit *e, const char *line, size_t column);

/* --- the edits, in block style and in brackets -------------------------- */

/* Replaces e->node by the value, with the missing mappings around it; by the
 * text `fixed` if it is not NULL. */
void pai__edit_block_replace(pai__edit *e, const char *fixed);
void pai__edit_flow_replace(pai__edit *e, const char *fixed);
/* Adds an entry or item to e->node, which must not be empty. */
void pai__edit_block_add(pai__edit *e);
void pai__edit_flow_add(pai__edit *e);
/* Removes e->node and its key.  In block style it must not be the only entry
 * of e->parent. */
void pai__edit_block_remove(pai__edit *e);
void pai__edit_flow_remove(pai__edit *e);

/* Writes the missing steps from `step` on and the value, on one line. */
void pai__edit_put_flow(const pai__edit *e, pai__buf *out, size_t step,
                        pai__flow how);

#endif
