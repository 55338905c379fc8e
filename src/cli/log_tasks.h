/* log_tasks.h - the tasks whose logs are printed (log_tasks.c), and printing
 * them (log_print.c) */
#ifndef PAI_SRC_CLI_LOG_TASKS_H
#define PAI_SRC_CLI_LOG_TASKS_H

#include "remote.h"

/* How `logs` was called; texts are checked, NULL where nothing was said. */
typedef struct cli_log_options {
  const char *task; /* ROLE or ROLE/INDEX */
  const char *log, *attempt, *retry;
  const char *tail; /* lines */
  char since[32];   /* "": all; as the route has it */
  bool follow, timestamps, no_prefix;
} cli_log_options;

typedef struct cli_log_task {
  char *job, *role; /* for free() */
  uint32_t index;
  char *label; /* before each line; NULL: nothing is */
} cli_log_task;

typedef struct cli_log_tasks {
  cli_log_task *list;
  size_t count, cap;
  int width; /* of the longest label */
} cli_log_tasks;

/* Adds the tasks of a job that are meant.  False, and told: there are none. */
bool cli_log_tasks_add(cli_log_tasks *tasks, cli_remote *r, const char *job,
                       const cli_log_options *o);
/* Names them all, if there are several; `jobs`: with their job, too. */
bool cli_log_tasks_label(cli_log_tasks *tasks, bool jobs);
/* Of a job that is there, which tasks and attempts there are. */
void cli_log_tasks_tell(cli_remote *r, const char *job);
void cli_log_tasks_free(cli_log_tasks *tasks);

/* Prints their logs: one after the other, or with `follow` as they come.  The
 * exit code. */
int cli_logs_print(cli_remote *r, const cli_log_tasks *tasks,
                   const cli_log_options *o);

#endif
