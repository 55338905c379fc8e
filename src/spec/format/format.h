/*
 * format.h - internal: formats a file in canonical layout, with its comments
 *
 * YAML: block style, two spaces a level.  Scalars are written as by
 * yaml/writer.h, but numbers and dates stay as written.  Short brackets that
 * hold only scalars stay.  So do anchors, aliases, tags, the order of keys,
 * and block scalars (as literals).  Several empty lines become one.  JSON: as
 * pai__write_json() writes it, on several lines.
 *
 * The result means the same as the text.  Formatting it again does not change
 * it.
 */
#ifndef PAI_SRC_SPEC_FORMAT_FORMAT_H
#define PAI_SRC_SPEC_FORMAT_FORMAT_H

#include "base/tree.h"

/* Appends to out; after a failure out is unchanged.  Returns PAI_OK,
 * PAI_ENOMEM, or PAI_ENOTSUP for a text without canonical layout, as one whose
 * key is a list of several lines. */
int pai__format(pai__buf *out, const pai__tree *tree, pai_error **err);

#endif
