/* calls.h - calls of the REST API */
#ifndef PAI_SRC_CLI_CALLS_H
#define PAI_SRC_CLI_CALLS_H

#include "remote.h"

/* Makes the calls that a verb declares.  Returns an exit code. */
int cli_make_calls(const cli_api *api, const cli_given *given);

#endif
