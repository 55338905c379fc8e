/* job_names.h - names and globs of jobs on the command line */
#ifndef PAI_SRC_CLI_JOB_NAMES_H
#define PAI_SRC_CLI_JOB_NAMES_H

#include "remote.h"

/* Names of jobs: NAME for this user's jobs, USER~NAME for others'. */
typedef struct cli_job_names {
  char **list;
  size_t count, cap;
} cli_job_names;

/* Selects jobs in one of these states and with one of these tags: lists as the
 * API takes them, or NULL. */
typedef struct cli_job_filter {
  const char *states, *tags;
  bool may_be_none; /* no match is not an error */
} cli_job_filter;

/* Returns whether a word is a glob: it has "*", "?" or "[". */
bool cli_is_glob(const char *word);

/* Adds the jobs that words name.  A word with "*", "?" or "[" is a glob for
 * this user's jobs, USER~GLOB for another user's, in the order of submission.
 * A job named twice is added once.  A word that is not a glob is looked up
 * only if there is a filter.  `filter` may be NULL.  Returns false, after
 * printing an error, if a glob matches nothing or the call fails. */
bool cli_job_names_add(cli_job_names *names, cli_remote *r, char *const *words,
                       int count, const cli_job_filter *filter);
/* Adds a name unless it is there.  Returns false, after printing an error, if
 * memory is short. */
bool cli_job_names_put(cli_job_names *names, const char *name);
void cli_job_names_free(cli_job_names *names);

#endif
