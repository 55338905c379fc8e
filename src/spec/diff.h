/* diff.h - internal to the room: the parts of a comparison of two specs */
#ifndef PAI_SRC_SPEC_DIFF_H
#define PAI_SRC_SPEC_DIFF_H

#include "base/tree.h"
#include "spec/values.h"

#include <openpai/spec.h>

/* --- diff_list.c: which items of two lists belong together ---------------- */

/* An item of a list, or a line of a text. */
typedef struct pai__piece {
  const pai__tree *tree;
  pai__node node; /* the item */
  const char *s;  /* the line, or NULL */
  size_t len;
  uint32_t index; /* of the item in its list */
  uint64_t hash;
  uint32_t id;   /* equal ones have the same */
  uint32_t mate; /* 1 + place of the equal one in the other list, or 0 */
} pai__piece;

typedef struct pai__pieces {
  const pai_alloc *alloc;
  pai__piece *list;
  size_t len, cap;
} pai__pieces;

int pai__pieces_add(pai__pieces *p, pai__piece piece); /* or PAI_ENOMEM */
void pai__pieces_dispose(pai__pieces *p);

/* Finds a longest common subsequence and fills in the mates.  That takes time
 * by the product of the lengths, which is taken from *budget; beyond it only
 * equal beginnings and ends are mates.  PAI_OK or PAI_ENOMEM. */
int pai__pieces_match(pai__pieces *a, pai__pieces *b, size_t *budget);

/* The longest rising subsequence: keep[i] tells whether list[i] is of it. */
int pai__longest_rise(const pai_alloc *alloc, const uint32_t *list, size_t n,
                      bool *keep);

/* Whether two values mean the same, as 2 and 2.0 and mappings in any order. */
bool pai__value_same(const pai__tree *t, pai__node m, const pai__tree *u,
                     pai__node n);

/* --- diff_tell.c: hands differences to the caller -------------------------- */

typedef struct pai__teller {
  pai_spec_diff_cb cb;
  void *user_data;
  pai__buf pointer, old_text, new_text;
  int count;
  int rc; /* sticky */
} pai__teller;

void pai__teller_init(pai__teller *teller, const pai_alloc *alloc,
                      pai_spec_diff_cb cb, void *user_data);
void pai__teller_dispose(pai__teller *teller);

/* Remembers the first failure. */
void pai__tell_rc(pai__teller *teller, int rc);

/* Goes one step down; pai__tell_up() with what it returned comes back. */
size_t pai__tell_key(pai__teller *teller, const char *key, size_t len);
size_t pai__tell_item(pai__teller *teller, uint32_t index);
void pai__tell_up(pai__teller *teller, size_t before);

/* A difference where the steps have led; a or b may be PAI__NO_NODE. */
void pai__tell_values(pai__teller *teller, const pai__secrets *p, pai__node a,
                      const pai__secrets *q, pai__node b);
/* Of lines, one of which may be NULL. */
void pai__tell_lines(pai__teller *teller, const pai__secrets *p,
                     const pai__piece *a, const pai__secrets *q,
                     const pai__piece *b);
/* Of places. */
void pai__tell_move(pai__teller *teller, size_t from, size_t to);

#endif
