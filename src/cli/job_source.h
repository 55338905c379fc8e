/* job_source.h - a job that `run` or `submit` is given: a file, or a command */
#ifndef PAI_SRC_CLI_JOB_SOURCE_H
#define PAI_SRC_CLI_JOB_SOURCE_H

#include "environment.h"
#include "job_options.h"
#include "jobs.h"

typedef struct cli_job_source {
  const char *file;    /* or NULL, */
  char **command;      /* and the words behind "--" */
  int words;           /* of the command */
  const char *secrets; /* --secrets, or NULL */
  bool copied;         /* --code: commands begin in a copy of that */
  cli_environment env;
} cli_job_source;

/* Cuts the command off the words of a verb, before its options are read. */
void cli_job_source_cut(cli_job_source *s, int *argc, char **argv);
/* Takes the words that are left, and checks what was given.  False, and told. */
bool cli_job_source_take(cli_job_source *s, const cli_verb *verb, int words,
                         char **argv);
/* The job, with what the command line says of it.  CLI_OK; CLI_NO, CLI_USAGE,
 * and told.  Goes with cli_job_file_close() whatever came of it. */
int cli_job_source_open(cli_job_file *out, const cli_job_source *s,
                        bool quiet);

/* Submits it and prints its name (cmd_submit.c): the exit code. */
int cli_submit_source(const cli_job_source *source, cli_submission *s,
                      bool json);

#endif
