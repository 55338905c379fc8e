/* one_command.h - a job of one command, without a file */
#ifndef PAI_SRC_CLI_ONE_COMMAND_H
#define PAI_SRC_CLI_ONE_COMMAND_H

#include "cli.h"

typedef struct cli_one_command {
  const char *gpus, *cpus, *memory, *time; /* as they were given, or NULL */
  const char *image;                       /* of a container, or NULL */
  char **words;
  int nwords;
} cli_one_command;

/* Its job file, for free(); NULL, and told. */
char *cli_one_command_job(const cli_one_command *c);

#endif
