/* index.h - internal to the room: what the names of a job file stand for */
#ifndef PAI_SRC_SPEC_INDEX_H
#define PAI_SRC_SPEC_INDEX_H

#include "base/map.h"
#include "base/tree.h"

typedef struct pai__index {
  const pai__tree *tree;
  pai__map named; /* "type/name" to a prerequisite, or "deployment/name" */
  pai__node deployment; /* roles of the one that is used, or PAI__NO_NODE */
} pai__index;

/* What is of a wrong type is passed over.  Of two of one name the first
 * counts; `twice` is told of the name node of the other, and may be NULL.
 * PAI_OK or PAI_ENOMEM. */
typedef void (*pai__twice_cb)(void *user_data, pai__node name,
                              const char *type);
int pai__index_init(pai__index *index, const pai__tree *tree,
                    const pai_alloc *alloc, pai__twice_cb twice,
                    void *user_data);
void pai__index_dispose(pai__index *index);

/* The prerequisite or deployment, or PAI__NO_NODE. */
pai__node pai__index_find(const pai__index *index, const char *type,
                          const char *name, size_t len);

/* A string and its length, or NULL for anything else. */
const char *pai__text_at(const pai__tree *tree, pai__node n, size_t *len);

#endif
