/* node.h - a value that was read, written again */
#ifndef PAI_SRC_JSON_NODE_H
#define PAI_SRC_JSON_NODE_H

#include "base/tree.h"
#include "json/writer.h"

/* Of a tree that was read as JSON; what JSON has no word for becomes null. */
void pai__json_node(pai__json_writer *w, const pai__tree *t, pai__node n);

#endif
