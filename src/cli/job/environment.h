/* environment.h - environment variables that a verb adds to a job */
#ifndef PAI_SRC_CLI_ENVIRONMENT_H
#define PAI_SRC_CLI_ENVIRONMENT_H

#include "job_file.h"

/* Adds the variables to extras.openpai.environment of the job's text.  With
 * `inherit` also adds this process's variables, except those of its session.
 * A value that looks like a secret, by its name or as a URL with a password,
 * becomes a secret of the job.  Returns CLI_OK; CLI_NO or CLI_USAGE after
 * printing an error. */
int cli_environment_fill(cli_job_file *job, const cli_environment_options *e,
                         bool inherit);

/* Returns this process's value of the variable from which
 * cli_environment_fill() made a secret, for free().  NULL: the job has no such
 * secret, or the variable is not set. */
char *cli_environment_secret(const pai_draft *draft, const char *name);

/* Writes a job's variables as lines before the commands of each role, for a
 * server that ignores extras.openpai (environment_lines.c).  Returns PAI_OK,
 * also if there are no variables, or an error code; PAI_ENOMEM comes without
 * *err. */
int cli_environment_lines(pai_draft *draft, pai_error **err);

/* Prints a word for bash, in single quotes where needed.  The text that would
 * begin a template is split in two. */
void cli_quote(FILE *out, const char *text);

#endif
