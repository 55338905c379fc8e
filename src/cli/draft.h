/* draft.h - edits of a job file's text that keep the rest, comments
 * included */
#ifndef PAI_SRC_CLI_DRAFT_H
#define PAI_SRC_CLI_DRAFT_H

#include "cli.h"

/* Returns the value at a JSON pointer as JSON, for free(); NULL: no such
 * value, or no memory. */
char *cli_draft_value(const pai_draft *draft, const char *pointer);

/* Makes a draft of a text and calls `change` to edit it.  If the edited place
 * is shared with another one (a YAML alias), the text is replaced by the JSON
 * of its meaning and `change` is called again.  Returns PAI_OK or an error.
 * The caller frees *out with pai_draft_free() in any case. */
typedef int (*cli_draft_cb)(pai_draft *draft, void *data, pai_error **err);
int cli_draft_change(pai_draft **out, const char *text, size_t len,
                     const pai_spec_options *options, cli_draft_cb change,
                     void *data, pai_error **err);

#endif
