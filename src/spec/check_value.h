/* check_value.h - internal to the checks: one value against its rule */
#ifndef PAI_SRC_SPEC_CHECK_VALUE_H
#define PAI_SRC_SPEC_CHECK_VALUE_H

#include "base/findings.h"
#include "spec/rules.h"

/* Names a place in messages: its key, or what the rule calls the value. */
void pai__check_name(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key, char out[PAI__VALUE_TEXT]);

bool pai__has_type(const pai__tree *t, pai__node n,
                   const pai__spec_rule *rule);
void pai__wrong_type(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key);

/* Returns whether a value is one of the rule's words. */
bool pai__is_word(const pai__tree *t, pai__node n, const pai__spec_rule *rule);
void pai__not_a_word(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key);

/* Check a text's form and length, a number's decimals, and a number's
 * minimum. */
void pai__check_text(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key);
void pai__check_fine(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key);
void pai__check_min(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                    pai__node key);

#endif
