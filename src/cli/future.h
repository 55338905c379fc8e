/* future.h - what the verbs that look ahead have in common: a log or snapshot,
 * what its jobs took, and how far is looked */
#ifndef PAI_SRC_CLI_FUTURE_H
#define PAI_SRC_CLI_FUTURE_H

#include "file.h"
#include "remote.h"
#include "sched_log.h"

typedef struct future {
  const char *log; /* a log, or a snapshot alone; "-"; NULL: the platform's
                      scheduler as it is now */
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
    { "runs", 0, NULL, &(f).runs }, { "root", 0, NULL, &cli_root },         \
  {                                                                         \
    "seed", 0, NULL, &(f).seed                                              \
  }

/* The end of their help. */
#define FUTURE_HELP                                                           \
  "  --root DIR       the platform's root (default: $OPENPAI_ROOT, or\n"      \
  "                   $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"  \
  "  --history TRACE  trace, of any format, from which to learn durations "   \
  "of\n"                                                                      \
  "                   jobs, in addition to the jobs that ended in the log, "  \
  "or\n"                                                                      \
  "                   to the last 1,000 that ended on the platform\n"         \
  "  --arrivals       simulate further jobs, similar to the last ones,\n"     \
  "                   however few there are (default: only if 64 jobs came\n" \
  "                   in a day or more)\n"                                    \
  "  --no-arrivals    simulate no further jobs\n"                             \
  "  --runs N         number of simulated futures (default: 100)\n"           \
  "  --seed N         seed of random numbers (default: 0)\n"                  \
  "  --quick          do not compare forecasts for earlier times of the "     \
  "log\n"                                                                     \
  "                   with what happened then\n"                              \
  "  --json           print one JSON object; times are those of the log, "    \
  "in\n"                                                                      \
  "                   microseconds\n"

/* Whether a job is among a verb's words. */
typedef enum future_job {
  FUTURE_NO_JOB,
  FUTURE_MAY_JOB,
  FUTURE_NEEDS_JOB
} future_job;

/* Takes the words [LOG] and JOB, which is NULL where there is none.  CLI_OK;
 * CLI_USAGE, and told why. */
int future_words(const cli_verb *verb, future *f, int words, char **argv,
                 future_job takes, const char **job);

/* Asks the platform for its scheduler, as text for free(), and learns from its
 * jobs.  CLI_OK; CLI_NO, and told why. */
int future_fetch(future *f, char **text, size_t *len);
/* Learns from all of a trace. */
int future_learn(future *f, pai_trace *trace, pai_error **err);

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
