/* syntax.h - internal to the room: a text that is no document at all */
#ifndef PAI_SRC_SPEC_SYNTAX_H
#define PAI_SRC_SPEC_SYNTAX_H

#include "spec/read.h"

/* Reads a text as pai__spec_tree() does YAML. */
typedef int (*pai__reread)(pai__tree **out, const char *text, size_t len,
                           const pai_spec_options *o, pai_error **err);

/* Makes another error of *err, at another place, where it is certain that a
 * tab, a no-break space or a quote without end is the cause: a text without
 * that can be read further.  PAI_EINVAL, or PAI_ENOMEM without *err.  *mended
 * then says how; its text is to be disposed of in any case. */
int pai__syntax_cause(pai_error **err, pai__mended *mended, const char *text,
                      size_t len, const pai_spec_options *o,
                      pai__reread reread);

/* Whether tabs indent the line of a byte, outside of brackets.  js-yaml counts
 * only spaces: such a line belongs to something else than it seems to. */
bool pai__syntax_is_tabbed(const char *text, size_t len, size_t at);

/* May a line, from 1, be shown?  Only if nothing before it looks like the
 * beginning of what is secret, for nobody knows where that ends. */
bool pai__syntax_may_show(const char *text, size_t len, uint32_t line);

#endif
