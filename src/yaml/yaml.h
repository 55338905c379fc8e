/*
 * yaml.h - parses one YAML document into a tree
 *
 * In js mode a text means what it means to js-yaml 3.13's safeLoad(), with
 * which OpenPAI's server reads job files; docs/internals/yaml.md lists the
 * remaining differences.  In core mode it follows YAML 1.2's core schema: no
 * merge keys, no dates, no binary.
 *
 * In both modes keys become strings, as JavaScript's String() makes them.
 */
#ifndef PAI_SRC_YAML_YAML_H
#define PAI_SRC_YAML_YAML_H

#include "base/tree.h"

enum { PAI__YAML_JS, PAI__YAML_CORE };

typedef struct pai__yaml_options {
  int mode;               /* PAI__YAML_* */
  int duplicates;         /* equal keys: PAI__REFUSE_DUPLICATES (0) or
                             PAI__LAST_DUPLICATE */
  uint32_t max_depth;     /* with aliases followed; 0: 64 */
  size_t max_bytes;       /* 0: 64 MiB; at most 1 GiB */
  uint32_t alias_factor;  /* how many times aliases may multiply the nodes, or
                             the bytes beyond a mebibyte; 0: 10 */
  uint32_t alias_floor;   /* expanded nodes that are always allowed; 0:
                             10,000 */
  const pai_alloc *alloc; /* NULL: libc */
} pai__yaml_options;

/* Parses a text.  opts may be NULL: js mode.  An empty text is a null.
 * Returns PAI_OK, PAI_EINVAL for invalid YAML, PAI_ELIMIT or PAI_ENOMEM.  Free
 * the tree with pai__tree_free(). */
int pai__yaml_parse(pai__tree **out, const char *text, size_t len,
                    const pai__yaml_options *opts, pai_error **err);

#endif
