/*
 * anchors.h - from an anchor's name to the node it was last given to
 *
 * A crit-bit tree: a look-up costs no more than the name has bits, whatever
 * names an attacker thinks up.
 */
#ifndef PAI_SRC_YAML_ANCHORS_H
#define PAI_SRC_YAML_ANCHORS_H

#include "base/tree.h"

typedef struct pai__anchor {
  char *name;
  size_t len;
  pai__node node;
  uint32_t height;   /* collections below and including it, through aliases */
  uint64_t expanded; /* nodes below and including it, through aliases */
  uint64_t repeated; /* bytes that aliases below it stand for */
  bool open;         /* its end has not been read yet */
} pai__anchor;

/* A branch: on the bit, to two anchors (>= 0) or branches (~index). */
typedef struct pai__anchor_branch {
  size_t byte;
  uint8_t mask; /* all bits but the one that tells */
  int32_t child[2];
} pai__anchor_branch;

typedef struct pai__anchors {
  const pai_alloc *alloc; /* borrowed */
  pai__anchor *all;
  size_t len, cap;
  pai__anchor_branch *branches; /* [i] came with anchor i + 1 */
  size_t nbranches, branch_cap;
  int32_t root;
} pai__anchors;

void pai__anchors_init(pai__anchors *a, const pai_alloc *alloc);
void pai__anchors_dispose(pai__anchors *a);

/* The index of a name, or -1. */
int32_t pai__anchors_find(const pai__anchors *a, const char *name, size_t len);

/* The index of a name, added if it is new; -1 when memory is short. */
int32_t pai__anchors_add(pai__anchors *a, const char *name, size_t len);

#endif
