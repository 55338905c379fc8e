/* job_file.h - job files, read and checked for the verbs */
#ifndef PAI_SRC_CLI_JOB_FILE_H
#define PAI_SRC_CLI_JOB_FILE_H

#include "file.h"

typedef struct cli_job_file {
  cli_file file;
  pai_spec *spec; /* NULL if the file is invalid */
  char *text;     /* of the file with its parameters; NULL if `spec` is NULL */
  size_t len;
} cli_job_file;

/* Reads and checks the file `name`, or standard input for "-".  With want_spec
 * also makes a spec of a valid file.  The caller calls cli_job_file_close() in
 * any case. */
void cli_job_file_open(cli_job_file *job, const char *name,
                       const pai_spec_options *options, bool want_spec);
/* The same for a text in memory. */
void cli_job_file_take(cli_job_file *job, const char *name, const char *text,
                       size_t len, const pai_spec_options *options,
                       bool want_spec);
void cli_job_file_close(cli_job_file *job);
/* Replaces the text by that of a draft.  Returns false after printing an
 * error. */
bool cli_job_file_set(cli_job_file *job, const pai_draft *draft);

/* The same for a verb that needs a valid file: prints errors to stderr.
 * Returns CLI_OK; CLI_NO: invalid; CLI_USAGE: could not be read. */
int cli_job_file_need(cli_job_file *job, const char *name);
/* Reports the errors of an opened file and returns the exit code as
 * cli_job_file_need() does. */
int cli_job_file_judge(const cli_job_file *job, const char *name);

#endif
