/* check.h - internal to the room: is a tree what a table says? */
#ifndef PAI_SRC_SPEC_CHECK_H
#define PAI_SRC_SPEC_CHECK_H

#include "base/findings.h"
#include "spec/rules.h"

/* Everything below `n` that breaks `rule`; `key` is n's key, or n.  f->place is
 * the way to n; NULL: it is the root. */
void pai__check(pai__findings *f, const pai__rule *rule, pai__node n,
                pai__node key);

/* A whole number, or a text that v1 takes for one. */
bool pai__whole(const pai__tree *t, pai__node n, bool coerced, int64_t *value);

/* What the tables cannot say, of a mapping that may break them. */
struct pai__index;
/* refs.c; makes the index, which is to be disposed of. */
void pai__check_refs(pai__findings *f, struct pai__index *index);
/* templates.c */
void pai__check_templates(pai__findings *f, const struct pai__index *index);
/* duplicates.c; those that the tree's reader let through */
void pai__check_duplicates(pai__findings *f, int severity);
void pai__check_v1(pai__findings *f);    /* check_v1.c */
void pai__check_hived(pai__findings *f); /* hived.c */

/* extras.c: the part of extras of that name is what `rule` says; PAI__NO_NODE:
 * there is none.  Else f->place is the way to it, in `places`. */
enum { PAI__EXTRAS_PLACES = 3 };
pai__node pai__check_extras(pai__findings *f, pai__place *places,
                            const char *name, const pai__rule *rule);
void pai__check_openpai(pai__findings *f);

#endif
