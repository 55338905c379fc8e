/* lint.h - internal to the room: finds legal mistakes in a job file */
#ifndef PAI_SRC_SPEC_LINT_LINT_H
#define PAI_SRC_SPEC_LINT_LINT_H

#include "base/findings.h"
#include "spec/scan/index.h"

/* lint.c: finds all of them in a v2 file, which may break its tables. */
void pai__lint(pai__findings *f, const pai__index *index);
/* lint_fields.c: finds fields that no program reads. */
void pai__lint_fields(pai__findings *f);
/* lint_names.c: finds template names without a value, and unused
 * parameters. */
void pai__lint_names(pai__findings *f, const pai__index *index);

/* lint_suggest.c: for "$parameters.NAME..." or "$secrets.NAME..." of the last
 * finding, suggests similar names of that section.  Returns false if there are
 * none. */
bool pai__lint_suggest(pai__findings *f, const char *section, const char *name,
                       size_t len);

#endif
