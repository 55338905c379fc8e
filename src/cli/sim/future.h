/* future.h - shared by the verbs that forecast: the log or snapshot, learned
 * durations, options */
#ifndef PAI_SRC_CLI_FUTURE_H
#define PAI_SRC_CLI_FUTURE_H

#include "file.h"
#include "remote.h"
#include "sched_log.h"

typedef struct future {
  const cli_future_options *said;
  bool json;  /* print JSON */
  bool asked; /* the running platform was asked */
  /* a log or a snapshot; without a name: the scheduler of the running
   * platform */
  sched_log log;
  char *text;             /* of the log */
  const pai_sched *sched; /* at the end of the log */
  pai_history *learned;
  pai_forecast_options options;
} future;

/* Reads the log and learns from it.  Returns CLI_OK; CLI_NO: a line is wrong;
 * CLI_USAGE; after printing an error.  The caller calls future_close() in any
 * case. */
int future_open(future *f);
void future_close(future *f);

/* Finds a request by its number, or by a name that only one request has.
 * Returns CLI_OK, or CLI_NO after printing an error. */
int future_find(const future *f, const char *word, uint64_t *id);

/* Arguments of jobs.list for the jobs of which is learned, and learning from
 * its answer; no jobs are no error. */
extern const char future_jobs[];
int future_learn(pai_history *h, const char *text, size_t len,
                 pai_error **err);

#endif
