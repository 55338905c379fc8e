/* inside.h - internal to the room: where a part of a text is written */
#ifndef PAI_SRC_SPEC_INSIDE_H
#define PAI_SRC_SPEC_INSIDE_H

#include "base/tree.h"

/* The template tag that begins at a byte of a text's value, as it is written, in
 * a block scalar or behind escapes and folded lines, too: to its end, or to that
 * of its line if it has none.  False: it cannot be told (the node is no text, an
 * alias, or holds what no reader here makes of it). */
bool pai__inside_tag(const pai__tree *t, pai__node n, size_t at,
                     uint32_t *start, uint32_t *end);

#endif
