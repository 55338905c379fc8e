/*
 * edit.h - internal: changes one place of a text, and nothing else
 *
 * All other bytes stay: comments, quotes, order, blank lines.  What comes out
 * is read again and compared before it is handed over: it means what the text
 * meant, but for that one place, or the edit fails and says why.
 *
 * path.h says how a place is named.
 */
#ifndef PAI_SRC_SPEC_EDIT_H
#define PAI_SRC_SPEC_EDIT_H

#include "base/tree.h"

/*
 * Adds the whole new text to out.  A missing key is added at the end of its
 * mapping, with the mappings above it that are missing too; null counts as
 * missing where something is to go below it.  The value may have been read
 * from anything; a list or mapping that it has in brackets stays in brackets
 * if it is short.
 *
 * After a failure out is as it was.  PAI_EINVAL for a path that leads through
 * what is no mapping or sequence, PAI_ENOTFOUND for an item that is not there,
 * PAI_ENOTSUP where it cannot be done without a change elsewhere (aliases,
 * merge keys) or the syntax cannot say the value, PAI_ELIMIT, PAI_ENOMEM.
 */
int pai__edit_set(pai__buf *out, const pai__tree *tree, const char *path,
                  const pai__tree *value, pai_error **err);

/* Likewise; PAI_ENOTFOUND when there is nothing there.  Of what loses its last
 * entry, {} or [] stays. */
int pai__edit_unset(pai__buf *out, const pai__tree *tree, const char *path,
                    pai_error **err);

/* Either, without a value the latter.  *made, if not NULL, becomes the tree of
 * all of out, which must have been empty, read as the old one was and within
 * the readers' own limits. */
int pai__edit_read(pai__buf *out, pai__tree **made, const pai__tree *tree,
                   const char *path, const pai__tree *value, pai_error **err);

#endif
