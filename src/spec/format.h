/*
 * format.h - internal: the canonical layout of a file, its comments kept
 *
 * YAML: block style, two spaces a level, scalars as yaml/writer.h writes them
 * but numbers, dates and truth values as they are written; short brackets
 * that hold only scalars stay, and so do anchors, aliases, tags, the order of
 * keys, block scalars (as literals), and one empty line where there were some.
 * JSON: as pai__write_json() writes it, in lines.
 *
 * The result means the same as the text; formatted again it stays as it is.
 */
#ifndef PAI_SRC_SPEC_FORMAT_H
#define PAI_SRC_SPEC_FORMAT_H

#include "base/tree.h"

/* Adds to out; after a failure out is as it was.  PAI_ENOMEM; PAI_ENOTSUP for
 * what has no canonical layout, as a key that is a list of several lines. */
int pai__format(pai__buf *out, const pai__tree *tree, pai_error **err);

#endif
