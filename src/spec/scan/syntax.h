/* syntax.h - internal to the room: diagnoses a text that cannot be parsed */
#ifndef PAI_SRC_SPEC_SCAN_SYNTAX_H
#define PAI_SRC_SPEC_SCAN_SYNTAX_H

#include "spec/read.h"

/* Parses a text as pai__spec_tree() parses YAML. */
typedef int (*pai__reread)(pai__tree **out, const char *text, size_t len,
                           const pai_spec_options *o, pai_error **err);

/* Replaces *err by a better error, at another place, if a tab, a no-break
 * space or an unclosed quote is certainly the cause: the text without it can
 * be parsed further.  *mended then receives the correction, whose text the
 * caller must dispose of.  Returns PAI_EINVAL, or PAI_ENOMEM without *err. */
int pai__syntax_cause(pai_error **err, pai__mended *mended, const char *text,
                      size_t len, const pai_spec_options *o,
                      pai__reread reread);

/* Returns whether tabs indent the line of a byte, outside of brackets.
 * js-yaml counts only spaces, so the line may belong to another collection
 * than it seems. */
bool pai__syntax_is_tabbed(const char *text, size_t len, size_t at);

/* Returns whether a line, counted from 1, may be shown.  It may not if the
 * beginning of a secret seems to precede it, as the end of the secret is
 * unknown. */
bool pai__syntax_may_show(const char *text, size_t len, uint32_t line);

#endif
