/* job_progress.h - the progress of a job that a verb waits for or shows */
#ifndef PAI_SRC_CLI_JOB_JOB_PROGRESS_H
#define PAI_SRC_CLI_JOB_JOB_PROGRESS_H

#include "tasks.h"

/* Milliseconds between two prints of an unchanged job. */
enum { CLI_JOB_PROGRESS_EVERY = 1000 };

typedef struct cli_job_progress {
  cli_remote *r;
  const char *name;
  pai_json *job;            /* as last read */
  bool changed;             /* since it was last read */
  pai_json *estimate, *why; /* may be empty */
  cli_usage usage;          /* of its tasks */
  int64_t looked, guessed, used;
  /* ms until the next read; longer for a slow server */
  int64_t pause, usage_pause;
} cli_job_progress;

/* Redraws the progress line, and reads what has changed, but not too often. */
void cli_job_progress_tell(cli_job_progress *s);
/* Reads what has changed, but not too often; with `usage` also what the tasks
 * use.  A failed call keeps the old value.  Returns whether anything may have
 * changed. */
bool cli_job_progress_look(cli_job_progress *s, bool usage);
/* Reads the job at once.  Returns false after printing an error. */
bool cli_job_progress_ask(cli_job_progress *s);
cli_job_view cli_job_progress_view(const cli_job_progress *s);
void cli_job_progress_free(cli_job_progress *s);

#endif
