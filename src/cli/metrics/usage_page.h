/* usage_page.h - the use of what jobs hold as a page of HTML */
#ifndef PAI_SRC_CLI_METRICS_USAGE_PAGE_H
#define PAI_SRC_CLI_METRICS_USAGE_PAGE_H

#include "json.h"

/* Writes the answer of usage.show as a page without scripts. */
void cli_usage_page(FILE *out, const pai_json *j);

#endif
