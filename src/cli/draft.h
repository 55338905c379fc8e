/* draft.h - changes of a job's text that keep all else as it was written */
#ifndef PAI_SRC_CLI_DRAFT_H
#define PAI_SRC_CLI_DRAFT_H

#include "cli.h"

/* The value at a place, as JSON, for free(); NULL: none, or no memory. */
char *cli_draft_value(const pai_draft *draft, const char *pointer);

/* Makes a draft of a text and changes it.  Where the text shares a place with
 * another one (an alias), what it means takes its place, as JSON, and `change` is
 * called again.  PAI_OK, or what failed; *out goes to pai_draft_free() whatever
 * came of it. */
typedef int (*cli_draft_cb)(pai_draft *draft, void *data, pai_error **err);
int cli_draft_change(pai_draft **out, const char *text, size_t len,
                     const pai_spec_options *options, cli_draft_cb change,
                     void *data, pai_error **err);

#endif
