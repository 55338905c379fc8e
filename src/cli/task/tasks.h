/* tasks.h - the tasks of one job as a table, and as JSON */
#ifndef PAI_SRC_CLI_TASKS_H
#define PAI_SRC_CLI_TASKS_H

#include "progress.h"
#include "usage.h"

/* The data about a job to show. */
typedef struct cli_job_view {
  const char *name;
  const pai_json *job; /* answer of GET /jobs/NAME; may be empty */
  cli_known known;
  const cli_usage *usage;
  int64_t now_ms;
  int64_t age_ms; /* of `known` */
  unsigned first; /* tasks to skip if not all have a row */
} cli_job_view;

/* Prints the state of the job, its progress and its tasks, failed and running
 * ones first.  Prints at most `rows` lines, and the columns that fit.
 * Pure. */
void cli_print_tasks(FILE *to, const cli_job_view *v, unsigned width,
                     unsigned rows);
/* Returns the number of tasks. */
unsigned cli_count_tasks(const cli_job_view *v);
/* Prints one line with a JSON object (tasks.c). */
void cli_print_tasks_json(FILE *to, const cli_job_view *v);

/* An iterator over the tasks: for (cli_task_row r = cli_rows_of(v);
 * cli_next_row(&r);). */
typedef struct cli_task_row {
  const cli_job_view *v;
  cli_each_task each;
  size_t task; /* value in the job's JSON */
  const char *role, *state;
  uint32_t index;
  cli_task_use use; /* from cli_task_find_use() */
} cli_task_row;

#endif
