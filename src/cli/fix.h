/* fix.h - job files corrected by what is sure */
#ifndef PAI_SRC_CLI_FIX_H
#define PAI_SRC_CLI_FIX_H

#include "job_file.h"

/* Opens a job file as cli_job_file_open() does, once it is corrected and
 * written.  `tell`: lines on stdout say what was changed.  Of standard input the
 * text goes to standard output instead, changed or not, unless it is longer than
 * job files may be. */
void cli_fix_open(cli_job_file *job, const char *name,
                  const pai_spec_options *options, bool tell);

#endif
