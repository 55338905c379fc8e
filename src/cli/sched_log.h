/* sched_log.h - logs of schedulers as the verbs of `sched` read them */
#ifndef PAI_SRC_CLI_SCHED_LOG_H
#define PAI_SRC_CLI_SCHED_LOG_H

#include "cli.h"

typedef struct sched_log {
  const char *name;    /* of the file, "-" for standard input */
  const char *policy;  /* to decide with instead, or NULL */
  const char *options; /* of that, as JSON, or NULL */
  unsigned long until; /* the last line to be read; 0: all */
  /* Told of the decisions of a line, which are the scheduler's; or NULL. */
  void (*decided)(const pai_sched *s, int n);
  pai_sched *sched; /* as it is at the end */
  unsigned long line;
  unsigned long skipped; /* events of what another policy has not done */
} sched_log;

/* Options of all that read a log: name is the only word.  CLI_OK, or CLI_USAGE
 * and told why. */
int sched_log_words(const cli_verb *verb, int words, char **argv, int want,
                    const char *until, sched_log *log);
/* Reads it.  CLI_OK; CLI_NO: a line is wrong; CLI_USAGE: it cannot be read; and
 * told why.  The scheduler is there as soon as the first line was read. */
int sched_log_read(sched_log *log);
/* What is wrong with the last line; CLI_NO. */
int sched_log_fail(const sched_log *log, pai_error *err);
void sched_log_close(sched_log *log);

#endif
