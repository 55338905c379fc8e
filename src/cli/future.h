/* future.h - what the verbs that look ahead have in common: a log or snapshot,
 * what its jobs took, and how far is looked */
#ifndef PAI_SRC_CLI_FUTURE_H
#define PAI_SRC_CLI_FUTURE_H

#include "file.h"
#include "sched_log.h"

typedef struct future {
  const char *log;                   /* a log, or a snapshot alone; "-" */
  const char *history, *runs, *seed; /* as they were given, or NULL */
  bool json, arrivals, no_arrivals, quick;
  sched_log read;
  char *text;             /* of it */
  const pai_sched *sched; /* as it is at the end of the log */
  pai_history *learned;
  pai_forecast_options options;
} future;

/* Its options, behind a verb's own. */
#define FUTURE_OPTIONS(f)                                                   \
  { "json", 0, &(f).json, NULL }, { "arrivals", 0, &(f).arrivals, NULL },   \
    { "no-arrivals", 0, &(f).no_arrivals, NULL },                           \
    { "quick", 0, &(f).quick, NULL }, { "history", 0, NULL, &(f).history }, \
    { "runs", 0, NULL, &(f).runs },                                         \
  {                                                                         \
    "seed", 0, NULL, &(f).seed                                              \
  }

/* The end of their help. */
#define FUTURE_HELP                                                          \
  "  --history TRACE  learn how long jobs take from a trace, too, of any\n"  \
  "                   form; else only from those that end in the log\n"      \
  "  --arrivals       jobs go on coming as the last ones did, however few\n" \
  "                   came; else if 64 did in a day or more\n"               \
  "  --no-arrivals    no new jobs come\n"                                    \
  "  --runs N         so many futures; 100 without it\n"                     \
  "  --seed N         of what is drawn; 0 without it\n"                      \
  "  --quick          do not compare forecasts within the log with what\n"   \
  "                   came true\n"                                           \
  "  --json           one JSON object; times are the log's, microseconds\n"

/* Reads it all.  CLI_OK; CLI_NO: a line is wrong; CLI_USAGE; and told why.  Goes
 * with future_close() whatever came of it. */
int future_open(const cli_verb *verb, future *f);
void future_close(future *f);

/* The request of that number, or the only one of that name.  CLI_OK; CLI_NO,
 * and told why. */
int future_find(const future *f, const char *word, uint64_t *id);

/* What is wrong with a question.  CLI_NO. */
int future_fail(pai_error *err);

#endif
