/* job_table.h - jobs of the list route as a table */
#ifndef PAI_SRC_CLI_JOB_TABLE_H
#define PAI_SRC_CLI_JOB_TABLE_H

#include "job_details.h"
#include "json.h"

/* Columns that people ask for, with their names, and "wide" for most of them. */
#define CLI_JOB_COLUMNS                                    \
  "name,user,state,code,vc,priority,tags,submitted,age,\n" \
  "                   ran,gpus,tasks,retries,node,command"

/* Items of a list of jobs, with these columns: names with commas between them;
 * NULL: the usual ones.  `details`: of each item, or NULL.  The item at `chosen`
 * is highlighted: SIZE_MAX: none. */
void cli_print_jobs(FILE *out, const cli_json *list, const size_t *items,
                    size_t count, const cli_job_detail *details,
                    const char *asked, size_t chosen);
/* CLI_DETAIL_*: what these columns need of each job. */
unsigned cli_job_columns_need(const char *list);
/* NULL: all of them are columns; else the first that is none. */
const char *cli_job_columns_wrong(const char *list);
/* All that is worth a wide terminal. */
extern const char cli_job_columns_wide[];

#endif
