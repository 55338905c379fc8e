/* keep.h - how long finished jobs are kept: options of `up` and `serve`, and of
 * `prune` */
#ifndef PAI_SRC_CLI_KEEP_H
#define PAI_SRC_CLI_KEEP_H

#include "cli.h"

#include <openpai/platform.h>

/* As they were given, or NULL. */
typedef struct cli_keep {
  const char *time, *jobs, *size;
} cli_keep;

/* Options of a verb; `k` is a cli_keep. */
#define KEEP_OPTIONS(k)                                                \
  { "keep", 0, NULL, &(k).time }, { "keep-jobs", 0, NULL, &(k).jobs }, \
  {                                                                    \
    "keep-size", 0, NULL, &(k).size                                    \
  }

/* Reads "30d" in ms, and a number of jobs; NULL: 0.  False, and told. */
bool cli_keep_time(int64_t *ms, const cli_verb *verb, const char *word);
bool cli_keep_jobs(uint64_t *jobs, const cli_verb *verb, const char *word);
/* All three, into a platform's options.  False, and told. */
bool cli_keep_read(pai_platform_options *out, const cli_verb *verb,
                   const cli_keep *k);
/* Whether they can be. */
bool cli_keep_good(const cli_verb *verb, const cli_keep *k);

#endif
