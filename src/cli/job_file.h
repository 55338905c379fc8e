/* job_file.h - job files as the verbs read them */
#ifndef PAI_SRC_CLI_JOB_FILE_H
#define PAI_SRC_CLI_JOB_FILE_H

#include "file.h"

typedef struct cli_job_file {
  cli_file file;
  pai_spec *spec; /* NULL unless it is valid */
  char *text;     /* of the file, with the parameters; NULL as the spec */
  size_t len;
} cli_job_file;

/* Reads the file at `name`, or standard input for "-", and checks it; makes a
 * spec of a valid one if that is wanted.  Goes with cli_job_file_close()
 * whatever came of it. */
void cli_job_file_open(cli_job_file *job, const char *name,
                       const pai_spec_options *options, bool want_spec);
/* The same of a text that is there already. */
void cli_job_file_take(cli_job_file *job, const char *name, const char *text,
                       size_t len, const pai_spec_options *options,
                       bool want_spec);
void cli_job_file_close(cli_job_file *job);

/* The same for a verb that can only go on with a valid file: tells on stderr
 * what is wrong.  Returns CLI_OK; CLI_NO: it is invalid; CLI_USAGE: it could
 * not be read. */
int cli_job_file_need(cli_job_file *job, const char *name);
/* What cli_job_file_need() makes of one that was opened or taken. */
int cli_job_file_judge(const cli_job_file *job, const char *name);

/* The bytes of a file, or of standard input for "-", for free(): CLI_OK, or
 * CLI_USAGE and told why.  What is longer than any job file is cut. */
int cli_read(char **text, size_t *len, const char *name);

/* 1 for "v1", 2 for "v2", 0 for anything else, NULL too. */
int cli_version(const char *word);

#endif
