/* read.h - internal to the room: from a text to its tree and spec */
#ifndef PAI_SRC_SPEC_READ_H
#define PAI_SRC_SPEC_READ_H

#include "base/report.h"
#include "spec/spec.h"

/* Fills in defaults for options that the caller did not give. */
int pai__spec_options(pai_spec_options *out, const pai_spec_options *opts,
                      pai_error **err);

/* Returns whether the options equal the defaults. */
bool pai__spec_is_usual(const pai_spec_options *o);

/* Returns whether a text begins like JSON, with a { or a comment. */
bool pai__spec_braced(const char *text, size_t len);

/* A corrected form of a text that cannot be parsed, with as many lines. */
typedef struct pai__mended {
  const char *title; /* title of the fix; NULL: no correction is known */
  bool sure;
  pai__buf text;
} pai__mended;

/* Parses a text into a tree.  *version is the version of the job file: 1, 2,
 * or the one that the options demand.  `mended` may be NULL, else it must be
 * zeroed; the caller must dispose of its text if it has a title. */
int pai__spec_tree(pai__tree **out, int *version, pai__mended *mended,
                   const char *text, size_t len, const pai_spec_options *o,
                   pai_error **err);

/* Parses a text again that failed, if equal keys are its only error, so that
 * they can be reported with all other findings.  Returns PAI_OK, PAI_EINVAL if
 * there is another error, or PAI_ENOMEM. */
int pai__spec_tree_again(pai__tree **tree, int *version, const char *text,
                         size_t len, const pai_spec_options *o);

/* Returns whether a text with braces may be JSON of a supported kind. */
bool pai__spec_is_json(const char *text, size_t len);
/* Detects the version by fields that only one version has: 1, 2, or 0 for a
 * text that is not a mapping. */
int pai__spec_version_of(const pai__tree *t);

/* broken.c: parses a text of which some lines are wrong, without these lines;
 * equal keys and comments in JSON are allowed.  All bytes keep their places.
 * If the cursor is at byte `at`, its line is suspected first; SIZE_MAX: there
 * is none.  Returns PAI_OK, PAI_ELIMIT if too much is wrong, or PAI_ENOMEM. */
int pai__spec_tree_broken(pai__tree **out, int *version, bool *whole,
                          const char *text, size_t len, size_t at,
                          const pai_spec_options *o);

/* limits.c: finds what exceeds the limits of the options. */
void pai__check_limits(pai__findings *f, int version,
                       const pai_spec_options *o);

/* model.c: makes a spec of a valid v2 tree.  It owns the tree then, also after
 * a failure. */
int pai__spec_make(pai_spec **out, pai__tree *tree, bool was_v1,
                   const pai_alloc *alloc);

#endif
