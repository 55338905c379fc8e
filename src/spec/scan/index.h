/*
 * index.h - internal to the room: looks up prerequisites and deployments by
 * name
 */
#ifndef PAI_SRC_SPEC_SCAN_INDEX_H
#define PAI_SRC_SPEC_SCAN_INDEX_H

#include "base/map.h"
#include "base/tree.h"

typedef struct pai__index {
  const pai__tree *tree;
  pai__map named;       /* prerequisites by "TYPE/NAME", deployments by
                           "deployment/NAME" */
  pai__node deployment; /* taskRoles of the deployment in use, or
                           PAI__NO_NODE */
} pai__index;

/* Indexes a tree.  Values of a wrong type are skipped.  If two things have one
 * name, the first counts, and `twice` gets the name node of the other; it may
 * be NULL.  Returns PAI_OK or PAI_ENOMEM. */
typedef void (*pai__twice_cb)(void *user_data, pai__node name,
                              const char *type);
int pai__index_init(pai__index *index, const pai__tree *tree,
                    const pai_alloc *alloc, pai__twice_cb twice,
                    void *user_data);
void pai__index_dispose(pai__index *index);

/* Returns the prerequisite or deployment, or PAI__NO_NODE. */
pai__node pai__index_find(const pai__index *index, const char *type,
                          const char *name, size_t len);

/* Returns a string and its length, or NULL if the node is not a string. */
const char *pai__text_at(const pai__tree *tree, pai__node n, size_t *len);

#endif
