/*
 * fix.h - internal to the room: adds fixes to the last finding
 *
 * No fix is added if the text as written does not allow it.
 */
#ifndef PAI_SRC_SPEC_FIX_FIX_H
#define PAI_SRC_SPEC_FIX_FIX_H

#include "base/fixes.h"
#include "spec/rules.h"

/* Returns whether a mapping is all of an item, on one line: `- echo a: b`. */
bool pai__mend_is_line(const pai__tree *t, pai__node n);

/* Offers to quote a scalar or such an item, so that it becomes a text. */
void pai__mend_quote(pai__findings *f, pai__node n);

/* Offers to make a list of a text, with the text as its only item. */
void pai__mend_list(pai__findings *f, pai__node n);

/* Offers to make a mapping the only item of a list. */
void pai__mend_item(pai__findings *f, pai__node n);

/* Offers to change a name or key to one of that form, if no other text of the
 * file is the old or the new name. */
void pai__mend_name(pai__findings *f, pai__node n, enum pai__spec_form form);

/* Offers to rename a key, if no other text of the file is the old or the new
 * name. */
void pai__mend_key(pai__findings *f, pai__node key, const char *name);

/* Offers to add an entry to the mapping; `value` is written as given. */
void pai__mend_add(pai__findings *f, pai__node mapping, const char *key,
                   const char *value, bool quoted);

/* Returns whether removing an entry would also remove comments. */
bool pai__mend_has_comment(const pai__tree *t, pai__node mapping,
                           pai__node key);

/* Offers to remove an entry of the mapping.  The fix is not sure if comments
 * go with it. */
void pai__mend_remove(pai__findings *f, bool sure, pai__node mapping,
                      pai__node key, const char *title);

/* Offers to move an entry into the mapping of another key beside it. */
void pai__mend_move(pai__findings *f, pai__node mapping, pai__node key,
                    const char *name);

#endif
