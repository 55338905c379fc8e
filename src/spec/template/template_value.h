/* template_value.h - internal to templates: values of names */
#ifndef PAI_SRC_SPEC_TEMPLATE_TEMPLATE_VALUE_H
#define PAI_SRC_SPEC_TEMPLATE_TEMPLATE_VALUE_H

#include "spec/template/template.h"

/* Limit of the work of one rendering: bytes of strings and items of lists that
 * indices and lengths pass over.  Without it, few tags could take a long
 * time. */
enum { PAI__TEMPLATE_WORK = 64 << 20 };

typedef struct pai__template_value {
  enum {
    PAI__TEMPLATE_NOTHING,
    PAI__TEMPLATE_NODE,
    PAI__TEMPLATE_TEXT,
    PAI__TEMPLATE_NUMBER
  } kind;
  const pai__tree *tree;
  pai__node node;
  const char *text; /* borrowed from a tree, or static */
  size_t len;
  uint64_t number;
} pai__template_value;

/* Looks up "$root.key.0.length", and adds its work to *work.  Returns false if
 * *work exceeds PAI__TEMPLATE_WORK. */
bool pai__template_find(pai__template_value *out, const pai__template *t,
                        const char *name, size_t len, uint64_t *work);

/* Appends JavaScript's String(v).  Stops soon after out is longer than
 * max_len. */
void pai__template_put(pai__buf *out, const pai__template_value *v,
                       size_t max_len);

#endif
