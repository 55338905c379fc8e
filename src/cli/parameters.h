/* parameters.h - parameters that stand on the command line */
#ifndef PAI_SRC_CLI_PARAMETERS_H
#define PAI_SRC_CLI_PARAMETERS_H

#include "cli.h"

/* Puts all of cli_parameters into the draft.  PAI_OK; PAI_ENOTSUP: a place that
 * others share; or another code. */
int cli_parameters_set(pai_draft *draft, pai_error **err);

/* The names of those that the file has, with commas between them, for free();
 * NULL for none. */
char *cli_parameters_names(const pai_draft *draft);
/* Tells on stderr which of the command line's nothing uses. */
void cli_parameters_tell(const pai_report *report, const char *names);

#endif
