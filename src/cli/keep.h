/* keep.h - how long finished jobs are kept: options of `up`, `serve` and
 * `prune` */
#ifndef PAI_SRC_CLI_KEEP_H
#define PAI_SRC_CLI_KEEP_H

#include "cli.h"

#include <openpai/platform.h>

/* Parses a time such as "30d" into ms; NULL gives 0.  Returns false after
 * printing an error. */
bool cli_keep_time(int64_t *ms, const char *word);
/* Parses the three options into a platform's options.  Returns false after
 * printing an error. */
bool cli_keep_read(pai_platform_options *out, const cli_keep_options *k);
/* Returns whether the options are valid. */
bool cli_keep_good(const cli_keep_options *k);

#endif
