/* diff.h - internal to the room: parts of the comparison of two specs */
#ifndef PAI_SRC_SPEC_DIFF_DIFF_H
#define PAI_SRC_SPEC_DIFF_DIFF_H

#include "base/tree.h"
#include "spec/values.h"

#include <openpai/spec.h>

/* --- diff_list.c: matches the items of two lists ------------------------ */

/* An item of a list, or a line of a command. */
typedef struct pai__spec_piece {
  const pai__tree *tree;
  pai__node node; /* the item; of a line, its command */
  const char *s;  /* the line; NULL for an item */
  size_t len;
  uint32_t index; /* index of the item in its list */
  uint64_t hash;
  uint32_t id;   /* the same for equal pieces */
  uint32_t mate; /* 1 + index of the equal piece in the other list, or 0 */
} pai__spec_piece;

typedef struct pai__pieces {
  const pai_alloc *alloc;
  pai__spec_piece *list;
  size_t len, cap;
} pai__pieces;

int pai__pieces_add(pai__pieces *p, pai__spec_piece piece); /* or PAI_ENOMEM */
void pai__pieces_dispose(pai__pieces *p);

/* Matches equal pieces along a longest common subsequence.  The time grows
 * with the product of the lengths, which is taken from *budget.  If the budget
 * is too small, only equal beginnings and ends are matched.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__pieces_match(pai__pieces *a, pai__pieces *b, size_t *budget);

/* Finds a longest increasing subsequence; keep[i] says that list[i] is part of
 * it. */
int pai__longest_rise(const pai_alloc *alloc, const uint32_t *list, size_t n,
                      bool *keep);

/* Returns whether two values mean the same: 2 equals 2.0, and mappings may
 * have any order. */
bool pai__value_same(const pai__tree *t, pai__node m, const pai__tree *u,
                     pai__node n);

/* --- diff_tell.c: reports differences to the callback ------------------- */

typedef struct pai__teller {
  pai_spec_diff_cb cb;
  void *user_data;
  pai__buf pointer, old_text, new_text;
  int count;
  int rc; /* the first failure */
} pai__teller;

void pai__teller_init(pai__teller *teller, const pai_alloc *alloc,
                      pai_spec_diff_cb cb, void *user_data);
void pai__teller_dispose(pai__teller *teller);

/* Records a failure, unless there was one before. */
void pai__tell_rc(pai__teller *teller, int rc);

/* Step down to a key or an item.  pai__tell_up() steps back; it takes what
 * these returned. */
size_t pai__tell_key(pai__teller *teller, const char *key, size_t len);
size_t pai__tell_item(pai__teller *teller, uint32_t index);
void pai__tell_up(pai__teller *teller, size_t before);

/* Reports a difference at the current place; a or b may be PAI__NO_NODE. */
void pai__tell_values(pai__teller *teller, const pai__secrets *p, pai__node a,
                      const pai__secrets *q, pai__node b);
/* Reports a difference of lines, one of which may be NULL. */
void pai__tell_lines(pai__teller *teller, const pai__secrets *p,
                     const pai__spec_piece *a, const pai__secrets *q,
                     const pai__spec_piece *b);
/* Reports a task role that moved. */
void pai__tell_move(pai__teller *teller, size_t from, size_t to);

#endif
