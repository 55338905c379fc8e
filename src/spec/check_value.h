/* check_value.h - internal to check.c: one value against its rule */
#ifndef PAI_SRC_SPEC_CHECK_VALUE_H
#define PAI_SRC_SPEC_CHECK_VALUE_H

#include "base/findings.h"
#include "spec/rules.h"

/* What the place is called: its key, or what the rule calls it. */
void pai__check_name(pai__findings *f, const pai__rule *rule, pai__node n,
                     pai__node key, char out[PAI__VALUE_TEXT]);

bool pai__has_type(const pai__tree *t, pai__node n, const pai__rule *rule);
void pai__wrong_type(pai__findings *f, const pai__rule *rule, pai__node n,
                     pai__node key);

/* Is it one of the rule's words? */
bool pai__is_word(const pai__tree *t, pai__node n, const pai__rule *rule);
void pai__not_a_word(pai__findings *f, const pai__rule *rule, pai__node n,
                     pai__node key);

/* Finds what is wrong with a text, and a number that is too small. */
void pai__check_text(pai__findings *f, const pai__rule *rule, pai__node n,
                     pai__node key);
void pai__check_min(pai__findings *f, const pai__rule *rule, pai__node n,
                    pai__node key);

#endif
