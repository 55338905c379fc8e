/* environment.h - variables that a verb gives to a job's commands */
#ifndef PAI_SRC_CLI_ENVIRONMENT_H
#define PAI_SRC_CLI_ENVIRONMENT_H

#include "job_file.h"

typedef struct cli_environment {
  const char *file; /* of --env-file, or NULL */
  bool clean;       /* --clean-env: nothing of this process's */
} cli_environment;

/* Options of a verb; `e` is a cli_environment. */
#define ENVIRONMENT_OPTIONS(e)               \
  { "env", 'e', NULL, cli_env_words.words }, \
  {                                          \
    "env-file", 0, NULL, &(e).file           \
  }

/* Their help. */
#define ENVIRONMENT_HELP                                                \
  "  -e, --env NAME[=VALUE]\n"                                          \
  "                   variable for the commands; NAME alone takes its " \
  "value\n"                                                             \
  "                   from this environment; repeatable\n"              \
  "  --env-file FILE  file of such variables, one a line; # begins a "  \
  "comment\n"

/* Puts the variables into a job's text: extras.openpai.environment.  With
 * `inherit` those of this process, too, but for what is its session's.  A value
 * that looks like a secret, by its name or as a URL with a password, becomes one
 * of the job's secrets.  CLI_OK; CLI_NO, CLI_USAGE, and told. */
int cli_environment_fill(cli_job_file *job, const cli_environment *e,
                         bool inherit);

/* The value of a secret that cli_environment_fill() made of a variable, as this
 * process has that, for free(); NULL: the job has no such secret, or the variable
 * is not set here. */
char *cli_environment_secret(const pai_draft *draft, const char *name);

/* Makes a job's variables lines in front of the commands of each role, for a
 * server that knows no others (environment_lines.c).  PAI_OK, also without any;
 * else an error, or PAI_ENOMEM without one. */
int cli_environment_lines(pai_draft *draft, pai_error **err);

/* For bash, in single quotes where it needs them; what would begin a template is
 * cut in two. */
void cli_quote(FILE *out, const char *text);

#endif
