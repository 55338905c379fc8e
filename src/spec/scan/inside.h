/* inside.h - internal to the room: maps bytes of a value to the source text */
#ifndef PAI_SRC_SPEC_SCAN_INSIDE_H
#define PAI_SRC_SPEC_SCAN_INSIDE_H

#include "base/tree.h"

/* Finds where the template tag at byte `at` of a text's value is written, also
 * in block scalars, folded lines and with escapes.  The range ends with the
 * tag, or with its line if the tag is not closed.  Returns false if the place
 * is unknown: the node is not a text, is an alias, or is written in a way that
 * is not supported. */
bool pai__inside_tag(const pai__tree *t, pai__node n, size_t at,
                     uint32_t *start, uint32_t *end);

#endif
