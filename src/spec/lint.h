/* lint.h - internal to the room: what is legal and surely not meant */
#ifndef PAI_SRC_SPEC_LINT_H
#define PAI_SRC_SPEC_LINT_H

#include "base/findings.h"
#include "spec/index.h"

/* lint.c: all of it, for a v2 file that may break its tables. */
void pai__lint(pai__findings *f, const pai__index *index);
/* lint_fields.c: fields that nobody reads. */
void pai__lint_fields(pai__findings *f);
/* lint_names.c: names in templates that stand for nothing, parameters that no
 * template names. */
void pai__lint_names(pai__findings *f, const pai__index *index);

/* lint_suggest.c: of "$parameters.NAME..." or "$secrets.NAME...", found last, tells
 * which name of that section was meant.  False: none is like it. */
bool pai__lint_suggest(pai__findings *f, const char *section, const char *name,
                       size_t len);

#endif
