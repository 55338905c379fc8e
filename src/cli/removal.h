/* removal.h - removing finished jobs, and telling what that deletes (cmd_rm.c) */
#ifndef PAI_SRC_CLI_REMOVAL_H
#define PAI_SRC_CLI_REMOVAL_H

#include "job_select.h"

typedef struct cli_removal {
  bool keep, dry, json;
  const char *comma; /* before the next one, as JSON */
} cli_removal;

/* Removes them, or with `dry` tells what that would delete.  An exit code. */
int cli_remove_jobs(cli_remote *r, const cli_job_names *jobs, cli_removal *m);

#endif
