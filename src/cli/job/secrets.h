/* secrets.h - secrets that a job file lacks, from files or a prompt */
#ifndef PAI_SRC_CLI_SECRETS_H
#define PAI_SRC_CLI_SECRETS_H

#include "job_file.h"

/* Puts the secrets of the file and of --secret-file into the job's text.  Asks
 * at the terminal, if there is one, for secrets that are only "******" in the
 * text.  `kept`: the platform may have them, so they may be missing.  Returns
 * CLI_OK; CLI_NO or CLI_USAGE after printing an error. */
int cli_secrets_fill(cli_job_file *job, const char *file, bool kept);

/* Asks at the terminal for a line, without echo, for free(); NULL if there is
 * no terminal (posix_prompt.c). */
char *cli_prompt(const char *what);
/* The same with echo; without a terminal, returns the next line of standard
 * input. */
char *cli_prompt_shown(const char *what);

#endif
