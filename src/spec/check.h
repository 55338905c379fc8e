/* check.h - internal to the room: checks of a job file's tree */
#ifndef PAI_SRC_SPEC_CHECK_H
#define PAI_SRC_SPEC_CHECK_H

#include "base/findings.h"
#include "spec/rules.h"

/* Finds all that breaks `rule` in `n` and below it.  `key` is n's key, or n if
 * it has none.  f->place is the path to n; NULL: n is the root. */
void pai__check(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                pai__node key);

/* Reads a whole number.  With `coerced` also a text that v1 takes for one. */
bool pai__whole(const pai__tree *t, pai__node n, bool coerced, int64_t *value);

/* Checks beyond the tables.  The tree may break its tables. */
struct pai__index;
/* template/refs.c; makes the index, which the caller must dispose of */
void pai__check_refs(pai__findings *f, struct pai__index *index);
/* template/templates.c */
void pai__check_templates(pai__findings *f, const struct pai__index *index);
/* lint/duplicates.c; finds the equal keys that the tree's reader accepted */
void pai__check_duplicates(pai__findings *f, int severity);
void pai__check_v1(pai__findings *f);    /* check_v1.c */
void pai__check_hived(pai__findings *f); /* hived.c */

/* extras.c: checks extras.NAME against a rule.  Returns its node, and leaves
 * its path in `places` and f->place.  Returns PAI__NO_NODE if it is absent. */
enum { PAI__EXTRAS_PLACES = 3 };
pai__node pai__check_extras(pai__findings *f, pai__place *places,
                            const char *name, const pai__spec_rule *rule);
void pai__check_openpai(pai__findings *f);

#endif
