/*
 * gap.h - internal to the room: what stands between the nodes of a text
 *
 * Space, comments, and the marks of the syntax: a tree knows where its nodes
 * are and not these.  All take a byte that is in no node.
 */
#ifndef PAI_SRC_SPEC_GAP_H
#define PAI_SRC_SPEC_GAP_H

#include "base/tree.h"

/* The first byte of the text behind a byte-order mark. */
size_t pai__gap_text(const pai__tree *t);
/* The first byte of the line, and the end of it, where its break stands. */
size_t pai__gap_line(const pai__tree *t, size_t at);
size_t pai__gap_eol(const pai__tree *t, size_t at);
/* The first byte of the next line, or the end of the text. */
size_t pai__gap_next(const pai__tree *t, size_t at);

/* Moves over spaces and tabs; forwards, and backwards. */
size_t pai__gap_blanks(const pai__tree *t, size_t at);
size_t pai__gap_back(const pai__tree *t, size_t at);
/* Whether nothing but blanks stands before it on its line. */
bool pai__gap_leads(const pai__tree *t, size_t at);

/* Whether a comment begins here, and the end of that comment. */
bool pai__gap_is_comment(const pai__tree *t, size_t at);
size_t pai__gap_comment_end(const pai__tree *t, size_t at);
/* Moves over space, breaks and comments. */
size_t pai__gap_skip(const pai__tree *t, size_t at);
/* Whether nothing but space and comments follows on the line. */
bool pai__gap_ends(const pai__tree *t, size_t at);

/* The end of the anchor or tag at a byte. */
size_t pai__gap_prop_end(const pai__tree *t, size_t at);
/* Where the anchor and the tag of a node begin that stand behind `from`, with
 * nothing but marks and comments before them; the node's start if it has none.
 */
size_t pai__gap_props(const pai__tree *t, size_t from, pai__node n);

/* The byte behind the header of a block scalar: | or > and indicators. */
size_t pai__gap_header_end(const pai__tree *t, pai__node n);

#endif
