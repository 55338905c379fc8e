/* job_options.h - options of a command line that override a job file */
#ifndef PAI_SRC_CLI_JOB_OPTIONS_H
#define PAI_SRC_CLI_JOB_OPTIONS_H

#include "remote.h"

/* Checks the values.  Returns false after printing an error. */
bool cli_job_options_good(void);
/* Returns the CPUs of a job of one task role in thousandths; 1000 without
 * --cpus. */
long long cli_job_cpu_millis(void);
/* Returns whether an option changes the job file. */
bool cli_job_options_given(void);
/* Returns whether an option needs a job protocol v2: a job config v1 has no
 * place for it. */
bool cli_job_options_need_v2(void);
/* Writes the options into the job file.  Returns PAI_OK; PAI_EUSER after
 * printing an error; PAI_ENOTSUP if a place in the file is shared with another
 * one; or an error code with *err. */
int cli_job_options_set(pai_draft *draft, pai_error **err);
/* Adds the tags of the command line to a submitted job (submit.c).  Returns
 * false after printing an error. */
bool cli_job_tag(cli_remote *r, const char *job);

#endif
