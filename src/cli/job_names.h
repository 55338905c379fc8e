/* job_names.h - names of jobs from words of a command line, which may be globs */
#ifndef PAI_SRC_CLI_JOB_NAMES_H
#define PAI_SRC_CLI_JOB_NAMES_H

#include "remote.h"

/* Names of jobs: NAME of this user's, USER~NAME of others'. */
typedef struct cli_job_names {
  char **list;
  size_t count, cap;
} cli_job_names;

/* Only jobs in one of these states, with one of these tags: lists as the API
 * takes them, or NULL. */
typedef struct cli_job_filter {
  const char *states, *tags;
  bool may_be_none; /* it is no error that there are none */
} cli_job_filter;

/* Whether a word stands for any number of jobs: it has "*", "?" or "[". */
bool cli_is_glob(const char *word);

/* Adds the jobs that words name.  A word with "*", "?" or "[" is a glob: it
 * stands for this user's jobs, USER~GLOB for those of another one, in the order
 * of their submission.  A job that is named twice is added once.  A word that is
 * no glob is not looked up, unless there is a filter.  `filter` may be NULL.
 * False, and told: a glob matches nothing, or the
 * platform cannot be asked. */
bool cli_job_names_add(cli_job_names *names, cli_remote *r, char *const *words,
                       int count, const cli_job_filter *filter);
/* Adds a name that is not there yet.  False without memory, and told. */
bool cli_job_names_put(cli_job_names *names, const char *name);
void cli_job_names_free(cli_job_names *names);

#endif
