/* job_source.h - the job given to `run` or `submit`: a file or a command */
#ifndef PAI_SRC_CLI_JOB_SOURCE_H
#define PAI_SRC_CLI_JOB_SOURCE_H

#include "environment.h"
#include "job_options.h"
#include "jobs.h"

/* The arguments that say which job to submit. */
typedef struct cli_job_source {
  const char *file;    /* a job file, or NULL: a command */
  const char *text;    /* the content of `file`, or NULL: it is read */
  size_t len;          /* of the content */
  char **command;      /* the command after "--" */
  int words;           /* of the command */
  const char *secrets; /* --secrets, or NULL */
  bool copied;         /* --code: commands begin in a copy of that folder */
  const cli_environment_options *env;
} cli_job_source;

/* Checks the positional words, `count` job files.  Returns false after
 * printing an error. */
bool cli_job_source_check(cli_job_source *s, int count, char **words);
/* Opens the job and applies the options of the command line.  Returns CLI_OK;
 * CLI_NO or CLI_USAGE after printing an error.  The caller calls
 * cli_job_file_close() in any case. */
int cli_job_source_open(cli_job_file *out, const cli_job_source *s,
                        bool quiet);

/* Submits the job and prints its name (submit.c).  Returns an exit code. */
int cli_submit_source(const cli_job_source *source, cli_submission *s,
                      bool json);

#endif
