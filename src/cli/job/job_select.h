/* job_select.h - selection of the jobs for a verb: names, globs, states, tags,
 * --all */
#ifndef PAI_SRC_CLI_JOB_SELECT_H
#define PAI_SRC_CLI_JOB_SELECT_H

#include "job_names.h"
#include "jobs.h"

/* Finds the selected jobs.  `fit` lists the states that the verb accepts, as
 * the API takes them.  `does` is the verb in the question to the user
 * ("stop"), or NULL to ask nothing.  Returns CLI_OK; CLI_NO after an error or
 * a refusal, also if no job matches; CLI_USAGE after a usage error. */
int cli_jobs_select(cli_job_names *out, cli_remote *r,
                    const cli_selection_options *s, const char *fit,
                    const char *does, int words, char **argv);

/* Asks the user to confirm a change of jobs that were not named.  Without a
 * terminal `yes` is required; `option` is the option that selected the jobs.
 * Returns CLI_OK; CLI_NO: refused; CLI_USAGE after printing an error. */
int cli_jobs_confirm(const cli_job_names *names, const char *does,
                     const char *option, bool yes);

/* Converts a list of states in any case to the API's spelling, for free();
 * NULL after printing an error. */
char *cli_job_states(const char *list);
#endif
