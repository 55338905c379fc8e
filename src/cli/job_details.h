/* job_details.h - what a list of jobs lacks, asked for each of them */
#ifndef PAI_SRC_CLI_JOB_DETAILS_H
#define PAI_SRC_CLI_JOB_DETAILS_H

#include "remote.h"

typedef struct cli_job_detail {
  char command[300]; /* the first task role's, on one line; "": unknown */
  char node[300];    /* names of nodes with commas between them, or "" */
  int64_t code;      /* as cli_told_code(); INT64_MIN: not asked */
} cli_job_detail;

/* What columns need of it. */
enum { CLI_DETAIL_COMMAND = 1, CLI_DETAIL_NODE = 2, CLI_DETAIL_CODE = 4 };

/* Of each item of a list of jobs, for free(); NULL: nothing is needed, or
 * memory is short. */
cli_job_detail *cli_job_details_ask(cli_remote *r, const cli_json *list,
                                    const size_t *items, size_t count,
                                    unsigned needs);
/* Visits the lines of commands of GET /config, without those that only set the
 * variables of whoever submitted the job; `role` is "" if there is one alone. */
void cli_each_command(const cli_json *config,
                      void (*visit)(void *user_data, const char *role,
                                    const char *line),
                      void *user_data);

#endif
