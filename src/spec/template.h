/*
 * template.h - internal: the templates of commands, <% $parameters.key[0] %>
 *
 * What OpenPAI's server makes of them when a job is submitted: the syntax is
 * that of Mustache 2.3 with <% and %>, of which only text and plain names
 * give anything, and a value is what JavaScript's String() makes of it.
 * docs/internals/spec.md has the rules.  Knows trees, not job files.
 */
#ifndef PAI_SRC_SPEC_TEMPLATE_H
#define PAI_SRC_SPEC_TEMPLATE_H

#include "base/tree.h"

enum { PAI__TEMPLATE_MAX_BYTES = 16 << 20 }; /* unless told otherwise */

/* What names that begin with a word stand for. */
typedef struct pai__template_scope {
  const char *root; /* with its $ */
  const pai__tree *tree;
  pai__node node; /* PAI__NO_NODE: there is nothing of that name */
} pai__template_scope;

/* Told of each tag that stays, in order: its name as it is written back, and
 * the byte of the text it begins at.  All but PAI_OK ends the rendering. */
typedef int (*pai__template_cb)(void *user_data, const char *name, size_t len,
                                size_t at);

typedef struct pai__template {
  const pai__template_scope *scopes;
  size_t nscopes;
  size_t max_bytes;            /* of the result; 0: PAI__TEMPLATE_MAX_BYTES */
  pai__template_cb unresolved; /* may be NULL */
  void *user_data;
} pai__template;

/* Why a text was refused. */
typedef struct pai__template_fault {
  size_t at;        /* byte of the text */
  const char *what; /* a static sentence without its full stop */
} pai__template_fault;

/* Adds the text to out, its tags replaced by values; those are not rendered
 * again.  PAI_EINVAL when the original refuses the text, PAI_ELIMIT (both
 * fill *fault, which may be NULL), PAI_ENOMEM, or what the callback gave; out
 * then holds what it did before. */
int pai__template_render(pai__buf *out, const char *text, size_t len,
                         const pai__template *t, pai__template_fault *fault);

/* Leaves out what JavaScript's trim() does, at both ends. */
void pai__template_trim(const char **text, size_t *len);

#endif
