/* node.h - writes a node of a parsed tree as JSON */
#ifndef PAI_SRC_JSON_NODE_H
#define PAI_SRC_JSON_NODE_H

#include "base/tree.h"
#include "json/writer.h"

/* Writes a node of a tree that was parsed as JSON.  Types that JSON lacks
 * become null. */
void pai__json_node(pai__json_writer *w, const pai__tree *t, pai__node n);

#endif
