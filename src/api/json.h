/* json.h - internal to the room: a JSON text that was read */
#ifndef PAI_SRC_API_JSON_H
#define PAI_SRC_API_JSON_H

#include "base/tree.h"

#include <openpai/json.h>

struct pai_json {
  pai_alloc alloc;
  pai__tree *tree;
  /* Entries of all lists, and keys of all objects, each collection's together;
   * of a node that is one, where its own begin. */
  uint32_t *entries, *begin;
  size_t nentries;
};

/* PAI__NO_NODE for a value that is none. */
pai__node pai__json_node_of(const pai_json *json, size_t value);
static inline size_t pai__json_value_of(pai__node n)
{
  return n != PAI__NO_NODE ? (size_t)n : PAI_JSON_NONE;
}

#endif
