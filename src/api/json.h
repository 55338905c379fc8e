/*
 * json.h - internal to the room: a parsed JSON text with an index of its items
 */
#ifndef PAI_SRC_API_JSON_H
#define PAI_SRC_API_JSON_H

#include "base/tree.h"

#include <openpai/json.h>

struct pai_json {
  pai_alloc alloc;
  pai__tree *tree;
  /* The items of all lists and the keys of all objects, grouped by collection.
   * begin[n] is where those of node n begin. */
  uint32_t *entries, *begin;
  size_t nentries;
};

/* Returns the node of a value, or PAI__NO_NODE if there is none. */
pai__node pai__json_node_of(const pai_json *json, size_t value);
static inline size_t pai__json_value_of(pai__node n)
{
  return n != PAI__NO_NODE ? (size_t)n : PAI_JSON_NONE;
}

#endif
