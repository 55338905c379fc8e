/* read.h - internal to the room: from a text to a tree, a verdict, a spec */
#ifndef PAI_SRC_SPEC_READ_H
#define PAI_SRC_SPEC_READ_H

#include "base/report.h"
#include "spec/spec.h"

/* The options of a caller over the defaults. */
int pai__spec_options(pai_spec_options *out, const pai_spec_options *opts,
                      pai_error **err);

/* Whether no options would read the same. */
bool pai__spec_is_usual(const pai_spec_options *o);

/* Does it begin like JSON, with a { or a comment of that? */
bool pai__spec_braced(const char *text, size_t len);

/* How a text that cannot be read would have to be; of as many lines. */
typedef struct pai__mended {
  const char *title; /* of that fix; NULL: nobody knows one */
  bool sure;
  pai__buf text;
} pai__mended;

/* The tree of a text, and which version of job files it is: 1, 2, or what the
 * options insist on.  `mended` may be NULL, or be filled with zeros; its text is
 * to be disposed of if there is a title. */
int pai__spec_tree(pai__tree **out, int *version, pai__mended *mended,
                   const char *text, size_t len, const pai_spec_options *o,
                   pai_error **err);

/* Of a text that cannot be read: if that is only since keys are there twice, so
 * that they can be told of with all else.  PAI_OK; PAI_EINVAL: it is not;
 * PAI_ENOMEM. */
int pai__spec_tree_again(pai__tree **tree, int *version, const char *text,
                         size_t len, const pai_spec_options *o);

/* limits.c: finds what is more than the options allow. */
void pai__check_limits(pai__findings *f, int version,
                       const pai_spec_options *o);

/* model.c: a spec of a valid v2 tree, which it takes, also when it fails. */
int pai__spec_make(pai_spec **out, pai__tree *tree, bool was_v1,
                   const pai_alloc *alloc);

#endif
