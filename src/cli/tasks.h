/* tasks.h - the tasks of one job as a table, and as JSON */
#ifndef PAI_SRC_CLI_TASKS_H
#define PAI_SRC_CLI_TASKS_H

#include "progress.h"
#include "usage.h"

/* What is known of a job. */
typedef struct cli_job_view {
  const char *name;
  const cli_json *job; /* as GET /jobs/NAME has it; may be empty */
  cli_known known;
  const cli_usage *usage;
  int64_t now_ms;
  int64_t age_ms; /* of what is known */
  unsigned first; /* so many tasks are passed over, if not all have a row */
} cli_job_view;

/* Lines: how the job stands, how far it is, and its tasks, those first that
 * failed or run.  `rows` lines at most; of columns those that fit.  Pure. */
void cli_print_tasks(FILE *to, const cli_job_view *v, unsigned width,
                     unsigned rows);
/* How many tasks there are. */
unsigned cli_count_tasks(const cli_job_view *v);
/* One line, an object (tasks_json.c). */
void cli_print_tasks_json(FILE *to, const cli_job_view *v);

/* A walk over the tasks: for (cli_task_row r = { .v = v };
 * cli_next_task(&r);). */
typedef struct cli_task_row {
  const cli_job_view *v;
  size_t roles, at, list; /* where it is in the job's JSON */
  size_t task;            /* the task there */
  const char *role, *state;
  uint32_t index;
  cli_task_use use; /* as cli_task_find_use() found it */
} cli_task_row;

bool cli_next_task(cli_task_row *r);
void cli_task_find_use(cli_task_row *r);

#endif
