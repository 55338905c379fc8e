/* job_table.h - a list of jobs as a table */
#ifndef PAI_SRC_CLI_JOB_TABLE_H
#define PAI_SRC_CLI_JOB_TABLE_H

#include "remote.h"
#include "table.h"

/* The columns of a usual table, and of a wide one, for cli_table_choose(). */
extern const char cli_job_columns_usual[], cli_job_columns_wide[];

/* What columns show of a job that a list of jobs lacks. */
typedef struct cli_job_detail cli_job_detail;

/* Returns which details these columns show; 0: none. */
unsigned cli_job_columns_need(const cli_column *columns);
/* Asks for these details of an item of a list of jobs.  For free(); NULL if
 * memory is short. */
cli_job_detail *cli_job_detail_ask(cli_remote *r, const cli_each *item,
                                   unsigned needs);
/* Returns what a column shows of an item, for free(); NULL if memory is short.
 * `detail` NULL: only what the list has. */
char *cli_job_cell(const cli_column *column, const cli_each *item,
                   const cli_job_detail *detail);
/* Adds the row of an item to a table. */
void cli_job_table_add(cli_table *t, const cli_each *item,
                       const cli_job_detail *detail);
/* Calls `visit` for each command line in the answer of GET /config, except
 * lines that only set variables of the submitter.  `role` is "" if the job has
 * one role. */
void cli_each_command(const pai_json *config,
                      void (*visit)(void *user_data, const char *role,
                                    const char *line),
                      void *user_data);

#endif
