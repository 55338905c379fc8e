/*
 * mend.h - internal to the room: fixes of what was found last
 *
 * None is offered where it could not be made of the text as it is written.
 */
#ifndef PAI_SRC_SPEC_MEND_H
#define PAI_SRC_SPEC_MEND_H

#include "base/fixes.h"
#include "spec/rules.h"

/* Whether a mapping is all of an item, on one line: `- echo a: b`. */
bool pai__mend_is_line(const pai__tree *t, pai__node n);

/* A scalar, or such an item, becomes a text. */
void pai__mend_quote(pai__findings *f, pai__node n);

/* A text becomes a list of that one. */
void pai__mend_list(pai__findings *f, pai__node n);

/* A mapping that stands where a list belongs becomes its only item. */
void pai__mend_item(pai__findings *f, pai__node n);

/* A name, or a key, becomes one of that form: it may be called so only here. */
void pai__mend_name(pai__findings *f, pai__node n, enum pai__form form);

/* A key becomes another one, if nothing else has either name. */
void pai__mend_key(pai__findings *f, pai__node key, const char *name);

/* The mapping gets one more entry; the value is as it is written. */
void pai__mend_add(pai__findings *f, pai__node mapping, const char *key,
                   const char *value, bool quoted);

/* Whether comments would go with an entry. */
bool pai__mend_has_comment(const pai__tree *t, pai__node mapping,
                           pai__node key);

/* An entry of the mapping goes; surely only without comments. */
void pai__mend_remove(pai__findings *f, bool sure, pai__node mapping,
                      pai__node key, const char *title);

/* An entry goes into the mapping of another key beside it. */
void pai__mend_move(pai__findings *f, pai__node mapping, pai__node key,
                    const char *name);

#endif
