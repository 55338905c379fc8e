/*
 * template.h - internal: renders templates of commands, <% $parameters.key[0]
 * %>
 *
 * Gives the result of OpenPAI's server.  The syntax is that of Mustache 2.3
 * with the delimiters <% and %>.  Only text and plain names produce output,
 * and a value is written as by JavaScript's String().  docs/internals/spec.md
 * has the rules.  This code knows trees, but not job files.
 */
#ifndef PAI_SRC_SPEC_TEMPLATE_TEMPLATE_H
#define PAI_SRC_SPEC_TEMPLATE_TEMPLATE_H

#include "base/tree.h"

enum { PAI__TEMPLATE_MAX_BYTES = 16 << 20 }; /* default limit */

/* The values of names that begin with a word. */
typedef struct pai__template_scope {
  const char *root; /* the word, with its $ */
  const pai__tree *tree;
  pai__node node; /* PAI__NO_NODE: no value */
} pai__template_scope;

/* Called for each tag without a value, in order, with its name and the byte of
 * the text where it begins.  A result other than PAI_OK ends the rendering. */
typedef int (*pai__template_cb)(void *user_data, const char *name, size_t len,
                                size_t at);

typedef struct pai__template {
  const pai__template_scope *scopes;
  size_t nscopes;
  size_t max_bytes;            /* limit of the result; 0:
                                  PAI__TEMPLATE_MAX_BYTES */
  pai__template_cb unresolved; /* or NULL */
  void *user_data;
} pai__template;

/* Why a text was refused. */
typedef struct pai__template_fault {
  size_t at;        /* byte of the text */
  const char *what; /* static; a sentence without its full stop */
} pai__template_fault;

/* Appends the text to out, with tags replaced by values; values are not
 * rendered again.  Returns PAI_EINVAL if Mustache refuses the text, PAI_ELIMIT
 * (both fill *fault, which may be NULL), PAI_ENOMEM, or what the callback
 * returned.  After a failure out is unchanged. */
int pai__template_render(pai__buf *out, const char *text, size_t len,
                         const pai__template *t, pai__template_fault *fault);

/* Trims white space at both ends, as JavaScript's trim() does. */
void pai__template_trim(const char **text, size_t *len);

#endif
