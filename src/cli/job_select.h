/* job_select.h - which jobs a verb is for: names, globs, states, tags, all */
#ifndef PAI_SRC_CLI_JOB_SELECT_H
#define PAI_SRC_CLI_JOB_SELECT_H

#include "job_names.h"
#include "jobs.h"

typedef struct cli_selection {
  const char *state, *tag; /* as they were given, or NULL */
  bool all, yes;           /* `yes` is not for verbs that change nothing */
} cli_selection;

/* Options of a verb; `s` is a cli_selection. */
#define FILTER_OPTIONS(s)                                         \
  { "state", 0, NULL, &(s).state }, { "tag", 0, NULL, &(s).tag }, \
  {                                                               \
    "all", 'a', &(s).all, NULL                                    \
  }
/* The same of a verb that changes the jobs. */
#define SELECTION_OPTIONS(s)   \
  FILTER_OPTIONS(s),           \
  {                            \
    "yes", 'y', &(s).yes, NULL \
  }

#define FILTER_USAGE "[--state STATES] [--tag TAGS] [--all]"
#define SELECTION_USAGE FILTER_USAGE " [--yes]"

#define FILTER_HELP                                                     \
  "JOB is the name of one of your jobs, USER~NAME, or a glob such as\n" \
  "'train_*'.\n"                                                        \
  "\n"                                                                  \
  "  --state STATES   only jobs in one of these states, as "            \
  "running,waiting;\n"                                                  \
  "                   without JOB: all such jobs of yours\n"            \
  "  --tag TAGS       only jobs with one of these tags, likewise\n"     \
  "  -a, --all        all jobs of yours that the verb is for\n"
#define SELECTION_HELP                                                  \
  FILTER_HELP                                                           \
  "  -y, --yes        do not ask before jobs that were not named, but " \
  "found\n"                                                             \
  "                   by a glob, a state, a tag or --all, are changed\n"

/* The jobs that were selected.  `fit` is the states that the verb is for, as the
 * API's list has them; `does` what it does with them, for the question ("stop"),
 * or NULL: nothing has to be asked.  CLI_OK; CLI_NO: told, also that there are
 * none; CLI_USAGE: told. */
int cli_jobs_select(cli_job_names *out, cli_remote *r, const cli_verb *verb,
                    const cli_selection *s, const char *fit, const char *does,
                    int words, char **argv);

/* Asks whether jobs that nobody has named are changed, as `does` says; without a
 * terminal `yes` must have been said: `option` has found them.  CLI_OK; CLI_NO:
 * they are not; CLI_USAGE: told. */
int cli_jobs_confirm(const cli_job_names *names, const cli_verb *verb,
                     const char *does, const char *option, bool yes);

/* A list of states in any case, as the API writes them, for free(); NULL, and
 * told. */
char *cli_job_states(const char *list);
#endif
