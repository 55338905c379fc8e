/*
 * gap.h - internal to the room: finds space, comments and marks between nodes
 *
 * A tree knows the places of its nodes, but not of the text between them.  All
 * functions take a byte outside of nodes.
 */
#ifndef PAI_SRC_SPEC_EDIT_GAP_H
#define PAI_SRC_SPEC_EDIT_GAP_H

#include "base/tree.h"

/* Returns the first byte of the text, after a byte-order mark. */
size_t pai__gap_text(const pai__tree *t);
/* Return the first byte of a line, and its end, where its line break is. */
size_t pai__gap_line(const pai__tree *t, size_t at);
size_t pai__gap_eol(const pai__tree *t, size_t at);
/* Returns the first byte of the next line, or the end of the text. */
size_t pai__gap_next(const pai__tree *t, size_t at);

/* Skip spaces and tabs, forwards and backwards. */
size_t pai__gap_blanks(const pai__tree *t, size_t at);
size_t pai__gap_back(const pai__tree *t, size_t at);
/* Returns whether only blanks precede a byte on its line. */
bool pai__gap_leads(const pai__tree *t, size_t at);

/* Return whether a comment begins at a byte, and where it ends. */
bool pai__gap_is_comment(const pai__tree *t, size_t at);
size_t pai__gap_comment_end(const pai__tree *t, size_t at);
/* Skips space, line breaks and comments. */
size_t pai__gap_skip(const pai__tree *t, size_t at);
/* Returns whether only space and comments follow on the line. */
bool pai__gap_ends(const pai__tree *t, size_t at);

/* Returns the end of the anchor or tag at a byte. */
size_t pai__gap_prop_end(const pai__tree *t, size_t at);
/* Returns where the anchor and tag of a node begin, or its start if it has
 * none.  Only marks and comments may precede them after `from`. */
size_t pai__gap_props(const pai__tree *t, size_t from, pai__node n);

/* Returns the byte after the header of a block scalar: | or > and
 * indicators. */
size_t pai__gap_header_end(const pai__tree *t, pai__node n);

#endif
