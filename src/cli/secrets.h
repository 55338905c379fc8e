/* secrets.h - secrets that a job's file lacks, given to a verb */
#ifndef PAI_SRC_CLI_SECRETS_H
#define PAI_SRC_CLI_SECRETS_H

#include "job_file.h"

/* Options of a verb; `file` is a const char *. */
#define SECRETS_OPTIONS(file)                      \
  { "secrets", 0, NULL, &(file) },                 \
  {                                                \
    "secret-file", 0, NULL, cli_secret_files.words \
  }

/* Their help. */
#define SECRETS_HELP                                                         \
  "  --secrets FILE   file of secrets by name, YAML or JSON, in place of "   \
  "the\n"                                                                    \
  "                   job's; - reads standard input\n"                       \
  "  --secret-file NAME=FILE\n"                                              \
  "                   file with the value of one secret; a newline at its\n" \
  "                   end is dropped; repeatable\n"

/* Puts the secrets of the file and of --secret-file into the job's text; those
 * that are only "******" there and that nobody gives are asked for, if there is
 * somebody to ask.  `kept`: the platform may have them, so they may be missing.
 * CLI_OK; CLI_NO, CLI_USAGE, and told. */
int cli_secrets_fill(cli_job_file *job, const char *file, bool kept);

/* Asks for a line that is not shown, at the terminal, for free(); NULL: there is
 * nobody (posix_prompt.c). */
char *cli_prompt(const char *what);
/* The same for what may be seen, or the next line of standard input where that
 * is no terminal. */
char *cli_prompt_shown(const char *what);

#endif
