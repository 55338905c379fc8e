/*
 * anchors.h - map from anchor names to the nodes they were last given to
 *
 * A crit-bit tree: the cost of a look-up is bounded by the bits of the name,
 * so no choice of names makes it slow.
 */
#ifndef PAI_SRC_YAML_ANCHORS_H
#define PAI_SRC_YAML_ANCHORS_H

#include "base/tree.h"

typedef struct pai__anchor {
  char *name;
  size_t len;
  pai__node node;
  uint32_t height;   /* depth of the node's subtree, aliases followed */
  uint64_t expanded; /* nodes of the subtree, aliases followed */
  uint64_t repeated; /* bytes that aliases in the subtree stand for */
  bool open;         /* its end has not been read yet */
} pai__anchor;

/* A branch on one bit.  Its children are anchors (>= 0) or branches
 * (~index). */
typedef struct pai__anchor_branch {
  size_t byte;
  uint8_t mask; /* all bits but the one tested */
  int32_t child[2];
} pai__anchor_branch;

typedef struct pai__anchors {
  const pai_alloc *alloc; /* borrowed */
  pai__anchor *all;
  size_t len, cap;
  pai__anchor_branch *branches; /* branches[i] was made for anchor i + 1 */
  size_t nbranches, branch_cap;
  int32_t root;
} pai__anchors;

void pai__anchors_init(pai__anchors *a, const pai_alloc *alloc);
void pai__anchors_dispose(pai__anchors *a);

/* Returns the index of a name, or -1. */
int32_t pai__anchors_find(const pai__anchors *a, const char *name, size_t len);

/* Returns the index of a name, which is added if it is new; -1 without
 * memory. */
int32_t pai__anchors_add(pai__anchors *a, const char *name, size_t len);

#endif
