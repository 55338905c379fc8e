/*
 * edit.h - internal: changes the value of one place of a text
 *
 * All other bytes stay: comments, quotes, order, blank lines.  The result is
 * parsed again and compared with the old tree.  An edit that changes the
 * meaning of anything but its place fails with the reason.
 *
 * path.h defines the paths that name places.
 */
#ifndef PAI_SRC_SPEC_EDIT_EDIT_H
#define PAI_SRC_SPEC_EDIT_EDIT_H

#include "base/tree.h"

/*
 * Appends the edited text to out.  A missing key is added at the end of its
 * mapping, together with the missing mappings above it.  A null on the way
 * counts as missing.  The value may be a tree of any syntax.  A short list or
 * mapping in brackets stays in brackets.
 *
 * After a failure out is unchanged.  Returns PAI_OK; PAI_EINVAL for a path
 * through a scalar, PAI_ENOTFOUND for an item that does not exist, PAI_ENOTSUP
 * if the edit needs a change elsewhere (aliases, merge keys) or the syntax
 * cannot express the value, PAI_ELIMIT or PAI_ENOMEM.
 */
int pai__edit_set(pai__buf *out, const pai__tree *tree, const char *path,
                  const pai__tree *value, pai_error **err);

/* Removes a place.  A collection that loses its last entry becomes {} or [].
 * Returns as pai__edit_set() does, and PAI_ENOTFOUND if there is nothing to
 * remove. */
int pai__edit_unset(pai__buf *out, const pai__tree *tree, const char *path,
                    pai_error **err);

/* Sets a place, or removes it if value is NULL.  If `made` is not NULL, *made
 * receives the tree of the new text.  out must then be empty.  The new text is
 * parsed with the same syntax and mode as the old one, but with the readers'
 * default limits. */
int pai__edit_read(pai__buf *out, pai__tree **made, const pai__tree *tree,
                   const char *path, const pai__tree *value, pai_error **err);

#endif
