/*
 * yaml.h - reads one YAML document into a tree
 *
 * In js mode a text means what it means to js-yaml 3.13's safeLoad(), which
 * is what OpenPAI's server reads job files with; docs/internals/yaml.md lists
 * what little remains different.  In core mode it means what YAML 1.2's core
 * schema says: no merge keys, no dates, no binary.
 *
 * In both, keys become strings as JavaScript's String() makes them.
 */
#ifndef PAI_SRC_YAML_YAML_H
#define PAI_SRC_YAML_YAML_H

#include "base/tree.h"

enum { PAI__YAML_JS, PAI__YAML_CORE };

typedef struct pai__yaml_options {
  int mode;               /* PAI__YAML_* */
  int duplicates;         /* keys: PAI__REFUSE_DUPLICATES (0) or the last */
  uint32_t max_depth;     /* through aliases too; 0: 64 */
  size_t max_bytes;       /* 0: 64 MiB; at most 1 GiB */
  uint32_t alias_factor;  /* nodes that aliases may make of one, and bytes
                             past a mebibyte; 0: 10 */
  uint32_t alias_floor;   /* nodes that are always allowed; 0: 10,000 */
  const pai_alloc *alloc; /* NULL: libc */
} pai__yaml_options;

/* opts may be NULL: js mode.  An empty text is a null.  PAI_EINVAL for what
 * is no YAML, PAI_ELIMIT, PAI_ENOMEM; free with pai__tree_free(). */
int pai__yaml_parse(pai__tree **out, const char *text, size_t len,
                    const pai__yaml_options *opts, pai_error **err);

#endif
