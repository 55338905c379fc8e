/* one_command.h - a job of one command, without a file */
#ifndef PAI_SRC_CLI_ONE_COMMAND_H
#define PAI_SRC_CLI_ONE_COMMAND_H

#include "cli.h"

/* Its job file, for free(), with so many MiB, one CPU and no GPU, called after
 * the script or module that an interpreter runs, else after the program.  NULL,
 * and told. */
char *cli_one_command_job(char *const *words, int count, long long memory);

#endif
